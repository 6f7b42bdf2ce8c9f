//! Named tensors in one flat vector. Gradients and optimiser moments have the same type.
//!
//! Large weights of a model that is only looked at may stand beside the vector, packed for their products
//! ([`Packed`]): clones share them, and a change of an entry copies the one tensor. Such a model is not trained:
//! what wants a packed tensor as a slice or a gradient panics.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use faer::{MatMut, MatRef};

use super::packed::{Packed, Weights};
use super::{Matrix, Scalar};

/// Declares the learned tensors: a symbol, the layer that each belongs to, what it starts from, and its purpose.
macro_rules! tensors {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal, $layer:ident, $start:ident, $purpose:literal;)*) => {
        /// The learned tensors, those of a block and those of the whole model, in the order of the literature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TensorName {
            $($(#[$doc])* $name,)*
        }

        impl TensorName {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The symbol of the literature.
            pub fn symbol(self) -> &'static str {
                match self {
                    $(Self::$name => $symbol,)*
                }
            }

            pub fn layer(self) -> Layer {
                match self {
                    $(Self::$name => Layer::$layer,)*
                }
            }

            /// The values before training.
            pub fn start(self) -> Start {
                match self {
                    $(Self::$name => Start::$start,)*
                }
            }

            /// The purpose of the tensor, in a few words.
            pub fn purpose(self) -> &'static str {
                match self {
                    $(Self::$name => $purpose,)*
                }
            }
        }
    };
}

tensors! {
    /// `E` (V, D), where the static vectors are trained with the model.
    Embedding = "E", Input, StaticVectors,
        "the static vectors, trained with the model";
    /// `P` (T_max, D), added to the embeddings.
    Positions = "P", Input, Positions,
        "what a word's place adds to its static vector";
    /// `E_S` (segments, D), added to the embeddings: a row for each sentence of a pair.
    Segments = "E_S", Input, Positions,
        "what the sentence of a pair that a word stands in adds to its static vector";
    /// `γ_E` (1, D), of the norm behind the sum of the embeddings.
    EmbeddingNormGain = "γ_E", Input, One,
        "stretches and shifts the norm behind the embeddings";
    /// `β_E` (1, D)
    EmbeddingNormBias = "β_E", Input, Zero,
        "stretches and shifts the norm behind the embeddings";
    /// `W_Q` (D, H·d_k)
    QueryWeights = "W_Q", Attention, Glorot,
        "from a word to its query, what it looks for";
    /// `b_Q` (1, H·d_k)
    QueryBias = "b_Q", Attention, Zero,
        "from a word to its query, what it looks for";
    /// `W_K` (D, H·d_k)
    KeyWeights = "W_K", Attention, Glorot,
        "from a word to its key, what it is found by";
    /// `b_K` (1, H·d_k)
    KeyBias = "b_K", Attention, Zero,
        "from a word to its key, what it is found by";
    /// `B` (H, 2 T_max − 1), added to the scores: a number for each head and distance, from the key that
    /// stands furthest before its query to the one furthest behind it.
    DistanceBias = "B", Distances, Zero,
        "how much a head favours words at each distance, a row for each head";
    /// `W_V` (D, H·d_v)
    ValueWeights = "W_V", Attention, Glorot,
        "from a word to its value, what it hands over";
    /// `b_V` (1, H·d_v)
    ValueBias = "b_V", Attention, Zero,
        "from a word to its value, what it hands over";
    /// `W_O` (H·d_v, D)
    OutputWeights = "W_O", Attention, Glorot,
        "from the heads' mixes to what is added to the word";
    /// `b_O` (1, D)
    OutputBias = "b_O", Attention, Zero,
        "from the heads' mixes to what is added to the word";
    /// `γ_A` (1, D), of the norm at the attention.
    AttentionNormGain = "γ_A", AttentionNorm, One,
        "stretches and shifts the norm at the attention";
    /// `β_A` (1, D)
    AttentionNormBias = "β_A", AttentionNorm, Zero,
        "stretches and shifts the norm at the attention";
    /// `W_1` (D, hidden), of the feed-forward layer.
    HiddenWeights = "W_1", FeedForward, Glorot,
        "from a word to the feed-forward layer's hidden units";
    /// `b_1` (1, hidden)
    HiddenBias = "b_1", FeedForward, Zero,
        "from a word to the feed-forward layer's hidden units";
    /// `W_2` (hidden, D)
    ForwardWeights = "W_2", FeedForward, Glorot,
        "from the hidden units to what is added to the word";
    /// `b_2` (1, D)
    ForwardBias = "b_2", FeedForward, Zero,
        "from the hidden units to what is added to the word";
    /// `γ_F` (1, D), of the norm at the feed-forward layer.
    ForwardNormGain = "γ_F", ForwardNorm, One,
        "stretches and shifts the norm at the feed-forward layer";
    /// `β_F` (1, D)
    ForwardNormBias = "β_F", ForwardNorm, Zero,
        "stretches and shifts the norm at the feed-forward layer";
    /// `γ_Y` (1, D), of the norm behind all blocks.
    FinalNormGain = "γ_Y", Readout, One,
        "stretches and shifts the norm behind all blocks";
    /// `β_Y` (1, D)
    FinalNormBias = "β_Y", Readout, Zero,
        "stretches and shifts the norm behind all blocks";
    /// `W_T` (D, D), of the readout's own layer.
    TransformWeights = "W_T", Readout, Glorot,
        "from an output to the vector that the guesses are read from";
    /// `b_T` (1, D)
    TransformBias = "b_T", Readout, Zero,
        "from an output to the vector that the guesses are read from";
    /// `γ_T` (1, D), of the norm in the readout.
    TransformNormGain = "γ_T", Readout, One,
        "stretches and shifts the norm in the readout";
    /// `β_T` (1, D)
    TransformNormBias = "β_T", Readout, Zero,
        "stretches and shifts the norm in the readout";
    /// `W_logits` (D, C), where the readout is not tied to the embeddings; C classes
    LogitWeights = "W_logits", Readout, Glorot,
        "for the guesses in training only: it moves no point";
    /// `b_logits` (1, C)
    LogitBias = "b_logits", Readout, Zero,
        "for the guesses in training only: it moves no point";
}

/// Layers, in the order in which their tensors lie in a model or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Vectors of words and places, before all blocks.
    Input,
    Attention,
    Distances,
    AttentionNorm,
    FeedForward,
    ForwardNorm,
    /// Behind all blocks.
    Readout,
}

/// Contents of a tensor before training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The vectors that word2vec left.
    StaticVectors,
    /// Uniform, as wide as places need to be told apart.
    Positions,
    /// Uniform in `±√(6 / (rows + cols))` (Glorot & Bengio 2010, Eq. 16).
    Glorot,
    One,
    Zero,
}

impl TensorName {
    /// Whether it belongs to a block, of which a model may have several.
    pub fn is_of_a_block(self) -> bool {
        !matches!(self.layer(), Layer::Input | Layer::Readout)
    }

    /// Whether vectors are multiplied by it, which is where the work is: all matrices but the tables.
    pub fn multiplies(self) -> bool {
        self.start() == Start::Glorot
    }

    /// The tensors of a block in the order of the flat vector: layer by layer.
    pub fn of_blocks() -> impl Iterator<Item = Self> {
        let mut names: Vec<Self> = Self::ALL.iter().copied().filter(|name| name.is_of_a_block()).collect();
        names.sort_by_key(|name| name.layer());
        names.into_iter()
    }

    /// The tensor of this name in a block, from 0.
    pub const fn of_block(self, block: usize) -> TensorId {
        TensorId { block, name: self }
    }
}

/// One tensor of a model: its name, and the block it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId {
    /// From 0; 0 for the tensors of the whole model.
    pub block: usize,
    pub name: TensorName,
}

impl From<TensorName> for TensorId {
    /// The tensor of the whole model, or of its first block.
    fn from(name: TensorName) -> Self {
        name.of_block(0)
    }
}

impl TensorId {
    /// The symbol as code can write it: `W_Q`, `gamma_A`, and `W_Q_2` in the second block.
    pub fn code_name(self) -> String {
        let mut name = self.name.symbol().replace('γ', "gamma").replace('β', "beta");
        if self.name.is_of_a_block() {
            name.push_str(&code_suffix(self.block));
        }
        name
    }
}

/// The end of a symbol's name in code, that says its block: `_2`, and nothing for the first.
pub fn code_suffix(block: usize) -> String {
    if block > 0 { format!("_{}", block.saturating_add(1)) } else { String::new() }
}

/// The end of a symbol that says its block: `⁽²⁾`, and nothing for the first.
pub fn superscript(block: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if block == 0 {
        return String::new();
    }
    let digits: String =
        block.saturating_add(1).to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect();
    format!("⁽{digits}⁾")
}

impl fmt::Display for TensorId {
    /// The symbol: `W_Q`, and `W_Q⁽²⁾` in the second block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.symbol())?;
        if self.name.is_of_a_block() {
            f.write_str(&superscript(self.block))?;
        }
        Ok(())
    }
}

/// One tensor of a layout: its shape, and where its entries are. Row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    pub id: TensorId,
    pub rows: usize,
    pub cols: usize,
    /// The index of its first entry among those of all tensors.
    first: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the flat vector, from there on.
    Flat(usize),
    /// Beside it.
    Packed(usize),
}

impl TensorSpec {
    /// The number of its entries.
    pub fn entries(&self) -> usize {
        self.rows * self.cols
    }

    /// The indices of its entries among those of all tensors: see [`Parameters::index`].
    pub fn indices(&self) -> Range<usize> {
        self.first..self.first + self.entries()
    }

    pub fn is_packed(&self) -> bool {
        matches!(self.place, Place::Packed(_))
    }

    /// Its place in the flat vector.
    ///
    /// # Panics
    /// If it is packed.
    fn range(&self) -> Range<usize> {
        match self.place {
            Place::Flat(offset) => offset..offset + self.entries(),
            Place::Packed(_) => panic!("parameters: {} is packed, to look at and not to train", self.id),
        }
    }
}

/// All learned tensors, one after the other.
#[derive(Clone, Debug)]
pub struct Parameters<S> {
    layout: Arc<[TensorSpec]>,
    values: Vec<S>,
    packed: Vec<Arc<Packed<S>>>,
}

impl<S: PartialEq> PartialEq for Parameters<S> {
    /// Shared tensors are not looked into.
    fn eq(&self, other: &Self) -> bool {
        let has_layout = Arc::ptr_eq(&self.layout, &other.layout) || self.layout == other.layout;
        let mut packed = self.packed.iter().zip(&other.packed);
        has_layout && self.values == other.values && packed.all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
    }
}

impl<S: Scalar> Parameters<S> {
    /// Zeros of the given shapes, in the given order.
    ///
    /// # Panics
    /// If a name stands twice.
    pub fn zeros(shapes: &[(TensorId, usize, usize)]) -> Self {
        Self::zeros_with_packed(shapes, |_| false)
    }

    /// As [`Self::zeros`], some of the tensors packed.
    ///
    /// # Panics
    /// If a name stands twice.
    pub fn zeros_with_packed(shapes: &[(TensorId, usize, usize)], is_packed: impl Fn(TensorId) -> bool) -> Self {
        let (mut first, mut offset) = (0, 0);
        let (mut layout, mut packed): (Vec<TensorSpec>, Vec<_>) = (Vec::with_capacity(shapes.len()), Vec::new());
        for &(id, rows, cols) in shapes {
            assert!(layout.iter().all(|spec| spec.id != id), "parameters: {id} stands twice");
            let place = if is_packed(id) { Place::Packed(packed.len()) } else { Place::Flat(offset) };
            layout.push(TensorSpec { id, rows, cols, first, place });
            first += rows * cols;
            match place {
                Place::Flat(_) => offset += rows * cols,
                Place::Packed(_) => packed.push(Arc::new(Packed::zeros(rows, cols))),
            }
        }
        Self { layout: layout.into(), values: vec![S::zero(); offset], packed }
    }

    /// Zeros in the shapes of the tensors that are trained, all but the packed ones: a gradient, or a moment of Adam.
    pub fn zeros_like(&self) -> Self {
        if self.packed.is_empty() {
            return Self {
                layout: self.layout.clone(),
                values: vec![S::zero(); self.values.len()],
                packed: Vec::new(),
            };
        }
        let trained = self.layout.iter().filter(|spec| !spec.is_packed());
        Self::zeros(&trained.map(|spec| (spec.id, spec.rows, spec.cols)).collect::<Vec<_>>())
    }

    /// The number of entries in all tensors together.
    pub fn len(&self) -> usize {
        self.layout.last().map_or(0, |last| last.indices().end)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether some tensors are packed, so that there is nothing to train.
    pub fn is_packed(&self) -> bool {
        !self.packed.is_empty()
    }

    /// Every entry of the tensors that are not packed, in layout order.
    pub fn flat(&self) -> &[S] {
        &self.values
    }

    pub fn flat_mut(&mut self) -> &mut [S] {
        &mut self.values
    }

    /// All tensors, in order.
    pub fn specs(&self) -> &[TensorSpec] {
        &self.layout
    }

    pub fn spec(&self, id: impl Into<TensorId>) -> Option<&TensorSpec> {
        let id = id.into();
        self.layout.iter().find(|spec| spec.id == id)
    }

    /// The tensors with their values, row-major; those of packed ones are copied as they come.
    pub fn tensors(&self) -> impl Iterator<Item = (&TensorSpec, Cow<'_, [S]>)> {
        self.layout.iter().map(|spec| (spec, self.row_major_of(spec)))
    }

    /// The values of one tensor, row-major; empty if the model does not have it. A packed one is copied.
    pub fn row_major(&self, id: impl Into<TensorId>) -> Cow<'_, [S]> {
        self.spec(id).map_or(Cow::Borrowed(&[]), |spec| self.row_major_of(spec))
    }

    fn row_major_of(&self, spec: &TensorSpec) -> Cow<'_, [S]> {
        match spec.place {
            Place::Flat(_) => Cow::Borrowed(&self.values[spec.range()]),
            Place::Packed(at) => Cow::Owned(self.packed[at].to_row_major()),
        }
    }

    /// Some rows of a tensor; none if the model does not have it. Nothing else is copied.
    pub fn rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Cow<'_, [S]> {
        let Some(spec) = self.spec(id).filter(|spec| rows.start <= rows.end && rows.end <= spec.rows) else {
            return Cow::Borrowed(&[]);
        };
        match spec.place {
            Place::Flat(_) => Cow::Borrowed(&self.values[spec.range()][rows.start * spec.cols..rows.end * spec.cols]),
            Place::Packed(at) => {
                let entries = rows.flat_map(|row| (0..spec.cols).map(move |col| (row, col)));
                entries.map(|(row, col)| self.packed[at].get(row, col)).collect()
            }
        }
    }

    /// The values of one tensor, row-major; empty if the model does not have it.
    ///
    /// # Panics
    /// If it is packed: [`Self::row_major`] reads any.
    pub fn values_of(&self, id: impl Into<TensorId>) -> &[S] {
        self.spec(id).map_or(&[], |spec| &self.values[spec.range()])
    }

    /// As [`Self::values_of`].
    ///
    /// # Panics
    /// If it is packed: [`Self::set_row_major`] writes any.
    pub fn values_of_mut(&mut self, id: impl Into<TensorId>) -> &mut [S] {
        match self.spec(id).map(TensorSpec::range) {
            Some(range) => &mut self.values[range],
            None => &mut [],
        }
    }

    /// Writes all values of a tensor.
    ///
    /// # Panics
    /// If the model does not have it, or it has another number of entries.
    pub fn set_row_major(&mut self, id: impl Into<TensorId>, values: &[S]) {
        let spec = *self.expect(id.into());
        match spec.place {
            Place::Flat(_) => self.values[spec.range()].copy_from_slice(values),
            Place::Packed(at) => {
                self.packed[at] = Arc::new(Packed::from_row_major(spec.rows, spec.cols, values));
            }
        }
    }

    /// Writes a part of a tensor, from an entry on, where it will stay.
    ///
    /// # Panics
    /// If the model does not have the tensor, or the part reaches beyond it.
    pub fn set_part(&mut self, id: impl Into<TensorId>, at: (usize, usize), from: MatRef<'_, S>) {
        let spec = *self.expect(id.into());
        match spec.place {
            Place::Flat(_) => {
                let whole = MatMut::from_row_major_slice_mut(&mut self.values[spec.range()], spec.rows, spec.cols);
                whole.submatrix_mut(at.0, at.1, from.nrows(), from.ncols()).copy_from(from);
            }
            Place::Packed(packed) => Arc::make_mut(&mut self.packed[packed]).set_part(at, from),
        }
    }

    /// One tensor becomes that of others, which share it where it is packed.
    ///
    /// # Panics
    /// If either does not have it, or in another shape.
    pub fn take(&mut self, id: impl Into<TensorId>, from: &Self) {
        let id = id.into();
        let (own, other) = (*self.expect(id), *from.expect(id));
        match (own.place, other.place) {
            (Place::Packed(at), Place::Packed(other)) => self.packed[at] = from.packed[other].clone(),
            _ => self.set_row_major(id, &from.row_major_of(&other)),
        }
    }

    /// Writes a tensor, entry by entry, whatever order its source is in.
    ///
    /// # Panics
    /// If the model does not have it.
    pub fn fill_with(&mut self, id: impl Into<TensorId>, mut entry: impl FnMut(usize, usize) -> S) {
        let spec = *self.expect(id.into());
        match spec.place {
            Place::Flat(_) => {
                let values = self.values[spec.range()].iter_mut().enumerate();
                values.for_each(|(i, to)| *to = entry(i / spec.cols, i % spec.cols));
            }
            Place::Packed(at) => self.packed[at] = Arc::new(Packed::from_fn(spec.rows, spec.cols, entry)),
        }
    }

    /// The same with some tensors packed, to be looked at and no longer trained.
    #[must_use]
    pub fn with_packed(&self, is_packed: impl Fn(TensorId) -> bool) -> Self {
        let shapes: Vec<_> = self.layout.iter().map(|spec| (spec.id, spec.rows, spec.cols)).collect();
        let mut packed = Self::zeros_with_packed(&shapes, is_packed);
        self.tensors().for_each(|(spec, values)| packed.set_row_major(spec.id, &values));
        packed
    }

    /// Some of the tensors, none of them packed: to be read as slices.
    #[must_use]
    pub fn plain(&self, ids: &[TensorId]) -> Self {
        let some: Vec<&TensorSpec> = self.layout.iter().filter(|spec| ids.contains(&spec.id)).collect();
        let mut plain = Self::zeros(&some.iter().map(|spec| (spec.id, spec.rows, spec.cols)).collect::<Vec<_>>());
        some.into_iter().for_each(|spec| plain.set_row_major(spec.id, &self.row_major_of(spec)));
        plain
    }

    /// One tensor as a matrix.
    ///
    /// # Panics
    /// If the model does not have it, or it is packed: [`Self::weights`] multiplies by any.
    pub fn matrix(&self, id: impl Into<TensorId>) -> MatRef<'_, S> {
        let spec = self.expect(id.into());
        MatRef::from_row_major_slice(&self.values[spec.range()], spec.rows, spec.cols)
    }

    /// One tensor to multiply by.
    ///
    /// # Panics
    /// If the model does not have it.
    pub fn weights(&self, id: impl Into<TensorId>) -> Weights<'_, S> {
        let spec = self.expect(id.into());
        match spec.place {
            Place::Flat(_) => Weights::Plain(self.matrix(spec.id)),
            Place::Packed(at) => Weights::from(&*self.packed[at]),
        }
    }

    /// One tensor as a matrix of its own.
    ///
    /// # Panics
    /// If the model does not have it.
    pub fn to_matrix(&self, id: impl Into<TensorId>) -> Matrix<S> {
        let spec = self.expect(id.into());
        Matrix::from_row_major(spec.rows, spec.cols, self.row_major_of(spec).into_owned())
    }

    /// Two tensors at once, of which the second lies behind the first; one that the model does not
    /// have is empty.
    ///
    /// # Panics
    /// If the second does not lie behind the first.
    pub fn pair_mut(&mut self, first: impl Into<TensorId>, second: impl Into<TensorId>) -> (&mut [S], &mut [S]) {
        let first = self.spec(first).map_or(0..0, TensorSpec::range);
        let second = self.spec(second).map_or(first.end..first.end, TensorSpec::range);
        assert!(first.end <= second.start, "parameters: the second of a pair lies before the first");
        let (front, back) = self.values.split_at_mut(first.end);
        (&mut front[first.clone()], &mut back[second.start - first.end..second.end - first.end])
    }

    /// A weight tensor as a matrix, and its bias, which is empty if the model does not have it.
    ///
    /// # Panics
    /// If the model does not have the weights, or the bias does not lie behind them.
    pub fn matrix_and_row_mut(
        &mut self,
        weights: impl Into<TensorId>,
        bias: impl Into<TensorId>,
    ) -> (MatMut<'_, S>, &mut [S]) {
        let weights = *self.expect(weights.into());
        let (values, bias) = self.pair_mut(weights.id, bias);
        (MatMut::from_row_major_slice_mut(values, weights.rows, weights.cols), bias)
    }

    fn expect(&self, id: TensorId) -> &TensorSpec {
        self.spec(id).unwrap_or_else(|| panic!("parameters: the model has no {id}"))
    }

    /// Index of one entry among those of all tensors, if the tensor exists and has it; where none is packed, that is
    /// the index into [`Self::flat`].
    pub fn index(&self, id: impl Into<TensorId>, row: usize, col: usize) -> Option<usize> {
        let spec = self.spec(id)?;
        (row < spec.rows && col < spec.cols).then(|| spec.first + row * spec.cols + col)
    }

    /// One entry, if the tensor exists and has it.
    pub fn entry(&self, id: impl Into<TensorId>, row: usize, col: usize) -> Option<S> {
        self.index(id, row, col).map(|index| self.at(index))
    }

    /// Changes one entry; of a packed tensor that others share, a copy is made.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn set(&mut self, id: impl Into<TensorId>, row: usize, col: usize, value: S) {
        let id = id.into();
        let index = self.index(id, row, col).unwrap_or_else(|| panic!("parameters: no entry {id}[{row}, {col}]"));
        self.set_at(index, value);
    }

    /// The entry of an [`index`](Self::index).
    ///
    /// # Panics
    /// If there are fewer entries.
    pub fn at(&self, index: usize) -> S {
        if self.packed.is_empty() {
            return self.values[index];
        }
        let (spec, own) = self.tensor_at(index);
        match spec.place {
            Place::Flat(offset) => self.values[offset + own],
            Place::Packed(at) => self.packed[at].get(own / spec.cols, own % spec.cols),
        }
    }

    /// As [`Self::set`].
    ///
    /// # Panics
    /// If there are fewer entries.
    pub fn set_at(&mut self, index: usize, value: S) {
        if self.packed.is_empty() {
            self.values[index] = value;
            return;
        }
        let (spec, own) = self.tensor_at(index);
        match spec.place {
            Place::Flat(offset) => self.values[offset + own] = value,
            Place::Packed(at) => Arc::make_mut(&mut self.packed[at]).set(own / spec.cols, own % spec.cols, value),
        }
    }

    /// The tensor of an index, and the index in the tensor.
    fn tensor_at(&self, index: usize) -> (TensorSpec, usize) {
        let behind = self.layout.partition_point(|spec| spec.indices().end <= index);
        let spec = self.layout.get(behind).unwrap_or_else(|| panic!("parameters: no entry {index} of {}", self.len()));
        (*spec, index - spec.first)
    }

    /// Tensors in which others of the same shapes differ by their bits; a packed one that both do not share counts,
    /// without a look into it.
    pub fn differing(&self, others: &Self) -> impl Iterator<Item = TensorId> {
        let differ = |(old, new): (&S, &S)| old.to_f64().to_bits() != new.to_f64().to_bits();
        let is_same = std::ptr::eq(self, others);
        let pairs = self.layout.iter().zip(others.specs()).filter(move |_| !is_same);
        let differing = pairs.filter(move |(spec, other)| match spec.place {
            Place::Flat(_) => self.values[spec.range()].iter().zip(&others.values[other.range()]).any(differ),
            Place::Packed(_) => !self.shares(spec, others, other),
        });
        differing.map(|(spec, _)| spec.id)
    }

    /// The entries in which others of the same shapes differ by their bits (−0 is not 0), with the values there; packed
    /// tensors that both share are not looked into.
    pub fn changed_to(&self, others: &Self) -> Vec<(usize, S)> {
        let mut changed = Vec::new();
        for (spec, other) in self.layout.iter().zip(others.specs()) {
            if self.shares(spec, others, other) {
                continue;
            }
            let (old, new) = (self.row_major_of(spec), others.row_major_of(other));
            let pairs = spec.indices().zip(old.iter().zip(new.iter()));
            let differ = pairs.filter(|(_, (old, new))| old.to_f64().to_bits() != new.to_f64().to_bits());
            changed.extend(differ.map(|(index, (_, new))| (index, *new)));
        }
        changed
    }

    /// These less others of the same shapes. Packed tensors that both share have one tensor of zeros of each shape.
    #[must_use]
    pub fn less(&self, others: &Self) -> Self {
        let values = self.values.iter().zip(&others.values).map(|(&x, &y)| x - y).collect();
        let mut zeros: Vec<Arc<Packed<S>>> = Vec::new();
        let packed = self.packed.iter().zip(&others.packed).map(|(own, other)| {
            if !Arc::ptr_eq(own, other) {
                return Arc::new(Packed::from_fn(own.rows(), own.cols(), |i, j| own.get(i, j) - other.get(i, j)));
            }
            let has_shape = |zero: &&Arc<Packed<S>>| (zero.rows(), zero.cols()) == (own.rows(), own.cols());
            let known = zeros.iter().find(has_shape).cloned();
            known.unwrap_or_else(|| {
                let zero = Arc::new(Packed::zeros(own.rows(), own.cols()));
                zeros.push(zero.clone());
                zero
            })
        });
        Self { layout: self.layout.clone(), values, packed: packed.collect() }
    }

    /// The memory of the numbers, without packed tensors that others share with these; in bytes.
    pub fn bytes_beside(&self, others: &Self) -> usize {
        let own = self.layout.iter().zip(others.specs()).filter(|(spec, other)| !self.shares(spec, others, other));
        own.map(|(spec, _)| spec.entries() * size_of::<S>()).sum()
    }

    /// Whether a tensor is packed here and there, and the same.
    fn shares(&self, spec: &TensorSpec, others: &Self, other: &TensorSpec) -> bool {
        match (spec.place, other.place) {
            (Place::Packed(own), Place::Packed(at)) => Arc::ptr_eq(&self.packed[own], &others.packed[at]),
            _ => false,
        }
    }

    /// Whether one tensor is the same in others, without a look into packed ones that both share.
    pub fn has_same(&self, id: impl Into<TensorId>, others: &Self) -> bool {
        let id = id.into();
        match (self.spec(id), others.spec(id)) {
            (Some(own), Some(other)) if self.shares(own, others, other) => true,
            (Some(own), Some(other)) => match (own.place, other.place) {
                (Place::Packed(own), Place::Packed(other)) => self.packed[own] == others.packed[other],
                _ => self.row_major_of(own) == others.row_major_of(other),
            },
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}
