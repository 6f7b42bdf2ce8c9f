//! Named tensors in one flat vector. Gradients and optimiser moments have the same type.

use std::sync::Arc;

use faer::{MatMut, MatRef};

use super::Scalar;

/// The learned tensors of the attention model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TensorName {
    /// `P` (T_max, D), added to the embeddings.
    Positions,
    /// `W_Q` (D, H·d_k)
    QueryWeights,
    /// `b_Q` (1, H·d_k)
    QueryBias,
    /// `W_K` (D, H·d_k)
    KeyWeights,
    /// `b_K` (1, H·d_k)
    KeyBias,
    /// `W_V` (D, H·d_v)
    ValueWeights,
    /// `b_V` (1, H·d_v)
    ValueBias,
    /// `W_O` (H·d_v, D)
    OutputWeights,
    /// `b_O` (1, D)
    OutputBias,
    /// `b_logits` (1, C), beside the tied `Y E_Cᵀ`; C candidates
    LogitBias,
}

impl TensorName {
    /// What it does, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Positions => "what a word's place adds to its static vector",
            Self::QueryWeights | Self::QueryBias => "from a word to its query, what it looks for",
            Self::KeyWeights | Self::KeyBias => "from a word to its key, what it is found by",
            Self::ValueWeights | Self::ValueBias => "from a word to its value, what it hands over",
            Self::OutputWeights | Self::OutputBias => "from the heads' mixes to what is added to the word",
            Self::LogitBias => "for the guesses in training only: it moves no point",
        }
    }

    /// The symbol of the literature.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Positions => "P",
            Self::QueryWeights => "W_Q",
            Self::QueryBias => "b_Q",
            Self::KeyWeights => "W_K",
            Self::KeyBias => "b_K",
            Self::ValueWeights => "W_V",
            Self::ValueBias => "b_V",
            Self::OutputWeights => "W_O",
            Self::OutputBias => "b_O",
            Self::LogitBias => "b_logits",
        }
    }
}

/// Where one tensor lies in the flat vector. Row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    pub name: TensorName,
    pub rows: usize,
    pub cols: usize,
    offset: usize,
}

impl TensorSpec {
    fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.rows * self.cols
    }
}

/// All learned tensors, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters<S> {
    layout: Arc<[TensorSpec]>,
    values: Vec<S>,
}

impl<S: Scalar> Parameters<S> {
    /// Zeros of the given shapes, in the given order.
    ///
    /// # Panics
    /// If a name stands twice.
    pub fn zeros(shapes: &[(TensorName, usize, usize)]) -> Self {
        let mut offset = 0;
        let mut layout: Vec<TensorSpec> = Vec::with_capacity(shapes.len());
        for &(name, rows, cols) in shapes {
            assert!(layout.iter().all(|spec| spec.name != name), "parameters: {} stands twice", name.symbol());
            layout.push(TensorSpec { name, rows, cols, offset });
            offset += rows * cols;
        }
        Self { layout: layout.into(), values: vec![S::zero(); offset] }
    }

    /// Zeros of the same shapes: a gradient, or a moment of Adam.
    pub fn zeros_like(&self) -> Self {
        Self { layout: self.layout.clone(), values: vec![S::zero(); self.values.len()] }
    }

    /// The number of entries in all tensors together.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every entry, in layout order.
    pub fn flat(&self) -> &[S] {
        &self.values
    }

    pub fn flat_mut(&mut self) -> &mut [S] {
        &mut self.values
    }

    pub fn spec(&self, name: TensorName) -> Option<&TensorSpec> {
        self.layout.iter().find(|spec| spec.name == name)
    }

    /// The tensors with their values, row-major.
    pub fn tensors(&self) -> impl Iterator<Item = (&TensorSpec, &[S])> {
        self.layout.iter().map(|spec| (spec, &self.values[spec.range()]))
    }

    /// The values of one tensor, row-major; empty if the model does not have it.
    pub fn values_of(&self, name: TensorName) -> &[S] {
        self.spec(name).map_or(&[], |spec| &self.values[spec.range()])
    }

    /// As [`Self::values_of`].
    pub fn values_of_mut(&mut self, name: TensorName) -> &mut [S] {
        match self.spec(name).map(TensorSpec::range) {
            Some(range) => &mut self.values[range],
            None => &mut [],
        }
    }

    /// One tensor as a matrix.
    ///
    /// # Panics
    /// If the model does not have it.
    pub fn matrix(&self, name: TensorName) -> MatRef<'_, S> {
        let spec = self.expect(name);
        MatRef::from_row_major_slice(&self.values[spec.range()], spec.rows, spec.cols)
    }

    /// A weight tensor and its bias at once, which is empty if the model does not have it.
    ///
    /// # Panics
    /// If the model does not have the weights, or the bias does not lie behind them.
    pub fn matrix_and_row_mut(&mut self, weights: TensorName, bias: TensorName) -> (MatMut<'_, S>, &mut [S]) {
        let weights = *self.expect(weights);
        let bias = self.spec(bias).map_or(0..0, TensorSpec::range);
        let (front, back) = self.values.split_at_mut(weights.range().end);
        let row = if bias.is_empty() {
            &mut []
        } else {
            assert!(bias.start >= front.len(), "parameters: the bias of {} lies before it", weights.name.symbol());
            &mut back[bias.start - front.len()..bias.end - front.len()]
        };
        (MatMut::from_row_major_slice_mut(&mut front[weights.range()], weights.rows, weights.cols), row)
    }

    fn expect(&self, name: TensorName) -> &TensorSpec {
        self.spec(name).unwrap_or_else(|| panic!("parameters: the model has no {}", name.symbol()))
    }

    /// Index into [`Self::flat`] of one entry, if the tensor exists and has it.
    pub fn index(&self, name: TensorName, row: usize, col: usize) -> Option<usize> {
        let spec = self.spec(name)?;
        (row < spec.rows && col < spec.cols).then_some(spec.offset + row * spec.cols + col)
    }
}
