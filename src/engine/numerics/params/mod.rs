//! Parameters: named tensors in one flat vector. Gradients and optimiser moments have the same type.
//!
//! A model that is only inspected may have large weights packed for products ([`Packed`]) and stored apart from the
//! vector. Clones share them, and changing an entry copies only its tensor. Such a model is not trained: functions that
//! return a packed tensor as a slice or a gradient panic.

mod names;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use faer::{MatMut, MatRef};
pub use names::{Layer, Start, TensorId, TensorName, code_suffix, pairs, superscript};

use crate::numerics::packed::{NumberType, Packed, Weights};
use crate::numerics::{Scalar, are_same};

/// One row-major tensor of a layout: its shape, and the location of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    pub id: TensorId,
    pub rows: usize,
    pub cols: usize,
    /// Index of the tensor's first entry in the sequence of the entries of all tensors.
    first: usize,
    storage: Storage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    /// Index of the first entry in the flat vector.
    Flat(usize),
    /// Index in the list of packed tensors.
    Packed(usize),
}

impl TensorSpec {
    /// Returns the number of entries.
    pub fn entries(&self) -> usize {
        self.rows * self.cols
    }

    /// Returns the indices of the tensor's entries in the sequence of the entries of all tensors: see
    /// [`Parameters::index`].
    pub fn indices(&self) -> Range<usize> {
        self.first..self.first + self.entries()
    }

    pub fn is_packed(&self) -> bool {
        matches!(self.storage, Storage::Packed(_))
    }

    /// Returns the range of the tensor's entries in the flat vector.
    ///
    /// # Panics
    /// If it is packed.
    fn range(&self) -> Range<usize> {
        match self.storage {
            Storage::Flat(offset) => offset..offset + self.entries(),
            Storage::Packed(_) => panic!("parameters: {} is packed, so it cannot be trained", self.id),
        }
    }
}

/// All learned tensors of a model, one after the other.
#[derive(Clone, Debug)]
pub struct Parameters<S> {
    layout: Arc<[TensorSpec]>,
    values: Vec<S>,
    packed: Vec<Arc<Packed<S>>>,
}

/// The configuration of a layer or block together with the parameters of the model.
#[derive(Debug)]
pub struct Learned<'a, C, S> {
    pub config: &'a C,
    pub parameters: &'a Parameters<S>,
    /// Number of the block that the tensors belong to.
    pub number: usize,
}

impl<C, S> Clone for Learned<'_, C, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C, S> Copy for Learned<'_, C, S> {}

impl<'a, C, S: Scalar> Learned<'a, C, S> {
    /// Returns a part of the layer or block: the same tensors with the part's own configuration.
    pub fn part<D>(self, config: &'a D) -> Learned<'a, D, S> {
        let Self { parameters, number, .. } = self;
        Learned { config, parameters, number }
    }

    /// Returns the values of a tensor; empty if the block does not have it.
    pub fn values(self, name: TensorName) -> &'a [S] {
        self.parameters.values_of(name.of_block(self.number))
    }
}

impl<S: Scalar> Parameters<S> {
    /// Returns zeros of the given shapes, in the given order.
    ///
    /// # Panics
    /// If an id occurs twice.
    pub fn zeros(shapes: &[(TensorId, usize, usize)]) -> Self {
        Self::zeros_with_packed(shapes, |_| None)
    }

    /// Returns [`Self::zeros`] with some of the tensors packed, in the given number types.
    ///
    /// # Panics
    /// If an id occurs twice.
    pub fn zeros_with_packed(
        shapes: &[(TensorId, usize, usize)],
        packed_as: impl Fn(TensorId) -> Option<NumberType>,
    ) -> Self {
        let (mut first, mut offset) = (0, 0);
        let (mut layout, mut packed): (Vec<TensorSpec>, Vec<_>) = (Vec::with_capacity(shapes.len()), Vec::new());
        for &(id, rows, cols) in shapes {
            assert!(layout.iter().all(|spec| spec.id != id), "parameters: {id} occurs twice");
            let kind = packed_as(id);
            let storage = if kind.is_some() { Storage::Packed(packed.len()) } else { Storage::Flat(offset) };
            layout.push(TensorSpec { id, rows, cols, first, storage });
            first += rows * cols;
            match storage {
                Storage::Flat(_) => offset += rows * cols,
                Storage::Packed(_) => packed.push(Arc::new(Packed::zeros_as(kind.unwrap_or_default(), rows, cols))),
            }
        }
        Self { layout: layout.into(), values: vec![S::zero(); offset], packed }
    }

    /// Returns zeros in the shapes of the tensors that are trained, which are all but the packed ones, for a gradient
    /// or a moment of Adam.
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

    /// Returns the number of entries of all tensors together, packed ones included.
    pub fn len(&self) -> usize {
        self.layout.last().map_or(0, |last| last.indices().end)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether some tensors are packed, so that the model cannot be trained.
    pub fn is_packed(&self) -> bool {
        !self.packed.is_empty()
    }

    /// Returns all entries of the tensors that are not packed, in layout order.
    pub fn flat(&self) -> &[S] {
        &self.values
    }

    pub fn flat_mut(&mut self) -> &mut [S] {
        &mut self.values
    }

    /// Returns the layout: all tensors, in order.
    pub fn specs(&self) -> &[TensorSpec] {
        &self.layout
    }

    pub fn spec(&self, id: impl Into<TensorId>) -> Option<&TensorSpec> {
        let id = id.into();
        self.layout.iter().find(|spec| spec.id == id)
    }

    /// Returns the tensors with their row-major values. Those of packed tensors are copied one by one.
    pub fn tensors(&self) -> impl Iterator<Item = (&TensorSpec, Cow<'_, [S]>)> {
        self.layout.iter().map(|spec| (spec, self.row_major_of(spec)))
    }

    /// Returns the row-major values of a tensor; empty if the model does not have it. Those of a packed tensor are
    /// copied.
    pub fn row_major(&self, id: impl Into<TensorId>) -> Cow<'_, [S]> {
        self.spec(id).map_or(Cow::Borrowed(&[]), |spec| self.row_major_of(spec))
    }

    fn row_major_of(&self, spec: &TensorSpec) -> Cow<'_, [S]> {
        match spec.storage {
            Storage::Flat(_) => Cow::Borrowed(&self.values[spec.range()]),
            Storage::Packed(at) => Cow::Owned(self.packed[at].to_row_major()),
        }
    }

    /// Returns some rows of a tensor; empty if the model does not have them. Rows of a packed tensor are copied.
    pub fn rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Cow<'_, [S]> {
        let Some(spec) = self.spec(id).filter(|spec| rows.start <= rows.end && rows.end <= spec.rows) else {
            return Cow::Borrowed(&[]);
        };
        match spec.storage {
            Storage::Flat(_) => Cow::Borrowed(&self.values[spec.range()][rows.start * spec.cols..rows.end * spec.cols]),
            Storage::Packed(at) => {
                let entries = rows.flat_map(|row| (0..spec.cols).map(move |col| (row, col)));
                entries.map(|(row, col)| self.packed[at].get(row, col)).collect()
            }
        }
    }

    /// Returns the row-major values of a tensor; empty if the model does not have it.
    ///
    /// # Panics
    /// If it is packed; [`Self::row_major`] reads packed tensors too.
    pub fn values_of(&self, id: impl Into<TensorId>) -> &[S] {
        self.spec(id).map_or(&[], |spec| &self.values[spec.range()])
    }

    /// Returns the row-major values of a tensor; empty if the model does not have it.
    ///
    /// # Panics
    /// If it is packed; [`Self::set_row_major`] writes packed tensors too.
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
        match spec.storage {
            Storage::Flat(_) => self.values[spec.range()].copy_from_slice(values),
            Storage::Packed(at) => {
                self.packed[at] = Arc::new(Packed::from_row_major(spec.rows, spec.cols, values));
            }
        }
    }

    /// Writes a part of a tensor, starting at the entry `at`.
    ///
    /// # Panics
    /// If the model does not have the tensor, or the part reaches beyond it.
    pub fn set_part(&mut self, id: impl Into<TensorId>, at: (usize, usize), from: MatRef<'_, S>) {
        let spec = *self.expect(id.into());
        match spec.storage {
            Storage::Flat(_) => {
                let whole = MatMut::from_row_major_slice_mut(&mut self.values[spec.range()], spec.rows, spec.cols);
                whole.submatrix_mut(at.0, at.1, from.nrows(), from.ncols()).copy_from(from);
            }
            Storage::Packed(packed) => Arc::make_mut(&mut self.packed[packed]).set_part(at, from),
        }
    }

    /// Replaces a tensor by that of other parameters; a packed one is then shared with them.
    ///
    /// # Panics
    /// If either model does not have it, or the shapes differ.
    pub fn take(&mut self, id: impl Into<TensorId>, from: &Self) {
        let id = id.into();
        let (own, other) = (*self.expect(id), *from.expect(id));
        match (own.storage, other.storage) {
            (Storage::Packed(at), Storage::Packed(other)) => self.packed[at] = from.packed[other].clone(),
            _ => self.set_row_major(id, &from.row_major_of(&other)),
        }
    }

    /// Returns a copy with some tensors packed in the given number types, to be inspected and no longer trained. A
    /// tensor with a number that does not fit in the given type is packed in the type of the arithmetic.
    #[must_use]
    pub fn with_packed(&self, packed_as: impl Fn(TensorId) -> Option<NumberType>) -> Self {
        let shapes: Vec<_> = self.layout.iter().map(|spec| (spec.id, spec.rows, spec.cols)).collect();
        let mut packed = Self::zeros_with_packed(&shapes, packed_as);
        for (spec, values) in self.tensors() {
            packed.set_part(spec.id, (0, 0), MatRef::from_row_major_slice(&values, spec.rows, spec.cols));
        }
        packed
    }

    /// Copies some of the tensors, unpacked, so that they can be read as slices.
    #[must_use]
    pub fn plain(&self, ids: &[TensorId]) -> Self {
        let some: Vec<&TensorSpec> = self.layout.iter().filter(|spec| ids.contains(&spec.id)).collect();
        let mut plain = Self::zeros(&some.iter().map(|spec| (spec.id, spec.rows, spec.cols)).collect::<Vec<_>>());
        some.into_iter().for_each(|spec| plain.set_row_major(spec.id, &self.row_major_of(spec)));
        plain
    }

    /// Returns a tensor as a matrix.
    ///
    /// # Panics
    /// If the model does not have it, or it is packed; [`Self::weights`] multiplies by packed tensors too.
    pub fn matrix(&self, id: impl Into<TensorId>) -> MatRef<'_, S> {
        let spec = self.expect(id.into());
        MatRef::from_row_major_slice(&self.values[spec.range()], spec.rows, spec.cols)
    }

    /// Returns a tensor, plain or packed, for products.
    ///
    /// # Panics
    /// If the model does not have it.
    pub fn weights(&self, id: impl Into<TensorId>) -> Weights<'_, S> {
        let spec = self.expect(id.into());
        match spec.storage {
            Storage::Flat(_) => Weights::Plain(self.matrix(spec.id)),
            Storage::Packed(at) => Weights::from(&*self.packed[at]),
        }
    }

    /// Returns two tensors at once, of which the second comes after the first; empty for one that the model does not
    /// have.
    ///
    /// # Panics
    /// If the second does not come after the first.
    pub fn pair_mut(&mut self, first: impl Into<TensorId>, second: impl Into<TensorId>) -> (&mut [S], &mut [S]) {
        let first = self.spec(first).map_or(0..0, TensorSpec::range);
        let second = self.spec(second).map_or(first.end..first.end, TensorSpec::range);
        assert!(first.end <= second.start, "parameters: the second of a pair comes before the first");
        let (front, back) = self.values.split_at_mut(first.end);
        (&mut front[first.clone()], &mut back[second.start - first.end..second.end - first.end])
    }

    /// Returns a weight tensor as a matrix, and its bias; the bias is empty if the model does not have it.
    ///
    /// # Panics
    /// If the model does not have the weights, or the bias does not come after them.
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

    /// Returns the index of an entry among those of all tensors, or `None` if there is no such tensor or entry. If no
    /// tensor is packed, it is the index into [`Self::flat`].
    pub fn index(&self, id: impl Into<TensorId>, row: usize, col: usize) -> Option<usize> {
        let spec = self.spec(id)?;
        (row < spec.rows && col < spec.cols).then(|| spec.first + row * spec.cols + col)
    }

    /// Returns an entry, or `None` if there is no such tensor or entry.
    pub fn entry(&self, id: impl Into<TensorId>, row: usize, col: usize) -> Option<S> {
        self.index(id, row, col).map(|index| self.at(index))
    }

    /// Changes an entry. A packed tensor that others share is copied first.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn set(&mut self, id: impl Into<TensorId>, row: usize, col: usize, value: S) {
        let id = id.into();
        let index = self.index(id, row, col).unwrap_or_else(|| panic!("parameters: no entry {id}[{row}, {col}]"));
        self.set_at(index, value);
    }

    /// Returns the entry of an [`index`](Self::index).
    ///
    /// # Panics
    /// If there are fewer entries.
    pub fn at(&self, index: usize) -> S {
        if self.packed.is_empty() {
            return self.values[index];
        }
        let (spec, own) = self.tensor_at(index);
        match spec.storage {
            Storage::Flat(offset) => self.values[offset + own],
            Storage::Packed(at) => self.packed[at].get(own / spec.cols, own % spec.cols),
        }
    }

    /// Changes the entry of an [`index`](Self::index). A packed tensor that others share is copied first.
    ///
    /// # Panics
    /// If there are fewer entries.
    pub fn set_at(&mut self, index: usize, value: S) {
        if self.packed.is_empty() {
            self.values[index] = value;
            return;
        }
        let (spec, own) = self.tensor_at(index);
        match spec.storage {
            Storage::Flat(offset) => self.values[offset + own] = value,
            Storage::Packed(at) => Arc::make_mut(&mut self.packed[at]).set(own / spec.cols, own % spec.cols, value),
        }
    }

    /// Returns the tensor of an index, and the index within the tensor.
    fn tensor_at(&self, index: usize) -> (TensorSpec, usize) {
        let behind = self.layout.partition_point(|spec| spec.indices().end <= index);
        let spec = self.layout.get(behind).unwrap_or_else(|| panic!("parameters: no entry {index} of {}", self.len()));
        (*spec, index - spec.first)
    }
}

// Comparison of parameters of the same shapes. Packed tensors that both share are not read.
//
// Numbers are the same if their bits are: −0 differs from 0, and NaN equals NaN. So every number that was set counts as
// an edit, and training that continues from equal parameters gives equal results.

impl<S: Scalar> PartialEq for Parameters<S> {
    /// Compares all tensors bit for bit, except shared ones, which are equal.
    fn eq(&self, other: &Self) -> bool {
        let has_layout = Arc::ptr_eq(&self.layout, &other.layout) || self.layout == other.layout;
        let mut packed = self.packed.iter().zip(&other.packed);
        has_layout && are_same(&self.values, &other.values) && packed.all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
    }
}

/// `Eq` holds because NaN equals NaN; so parameters within the same `Arc` need no comparison.
impl<S: Scalar> Eq for Parameters<S> {}

impl<S: Scalar> Parameters<S> {
    /// Returns the tensors that differ from those of other parameters of the same shapes. A packed tensor counts as
    /// different unless both share it; its entries are not compared.
    pub fn differing(&self, others: &Self) -> impl Iterator<Item = TensorId> {
        let is_same = std::ptr::eq(self, others);
        let pairs = self.layout.iter().zip(others.specs()).filter(move |_| !is_same);
        let differing = pairs.filter(move |(spec, other)| match spec.storage {
            Storage::Flat(_) => !are_same(&self.values[spec.range()], &others.values[other.range()]),
            Storage::Packed(_) => !self.shares(spec, others, other),
        });
        differing.map(|(spec, _)| spec.id)
    }

    /// Returns the indices and new values of the entries that differ in other parameters of the same shapes. Packed
    /// tensors that both share are not read.
    pub fn changed_to(&self, others: &Self) -> Vec<(usize, S)> {
        let mut changed = Vec::new();
        for (spec, other) in self.beside(others) {
            let (old, new) = (self.row_major_of(spec), others.row_major_of(other));
            let pairs = spec.indices().zip(old.iter().zip(new.iter()));
            let differ = pairs.filter(|(_, (old, new))| !old.is_same(**new));
            changed.extend(differ.map(|(index, (_, new))| (index, *new)));
        }
        changed
    }

    /// Returns the tensors that differ from those of other parameters of the same shapes, each with the number of
    /// entries that differ.
    pub fn differences(&self, others: &Self) -> Vec<(TensorId, usize)> {
        let counts = self.beside(others).map(|(own, other)| (own.id, self.entries_apart(own, others, other)));
        counts.filter(|(_, entries)| *entries > 0).collect()
    }

    /// Returns the number of entries that differ between two tensors of the same shape.
    fn entries_apart(&self, own: &TensorSpec, others: &Self, other: &TensorSpec) -> usize {
        match (own.storage, other.storage) {
            (Storage::Packed(own), Storage::Packed(other)) => self.packed[own].differences(&others.packed[other]),
            _ => {
                let (own, other) = (self.row_major_of(own), others.row_major_of(other));
                own.iter().zip(other.iter()).filter(|(own, other)| !own.is_same(**other)).count()
            }
        }
    }

    /// Subtracts other parameters of the same shapes. For packed tensors that both share, the result has one tensor of
    /// zeros for each shape.
    #[must_use]
    pub fn less(&self, others: &Self) -> Self {
        let values = self.values.iter().zip(&others.values).map(|(&x, &y)| x - y).collect();
        let mut zeros: Vec<Arc<Packed<S>>> = Vec::new();
        let packed = self.packed.iter().zip(&others.packed).map(|(own, other)| {
            if !Arc::ptr_eq(own, other) {
                return Arc::new(Packed::from_fn(own.rows(), own.cols(), |i, j| own.get(i, j) - other.get(i, j)));
            }
            let has_shape = |zero: &&Arc<Packed<S>>| (zero.rows(), zero.cols()) == (own.rows(), own.cols());
            let existing = zeros.iter().find(has_shape).cloned();
            existing.unwrap_or_else(|| {
                let zero = Arc::new(Packed::zeros_as(NumberType::Whole, own.rows(), own.cols()));
                zeros.push(zero.clone());
                zero
            })
        });
        Self { layout: self.layout.clone(), values, packed: packed.collect() }
    }

    /// Returns the size in bytes of all numbers, without packed tensors that `others` shares.
    pub fn bytes_beside(&self, others: &Self) -> usize {
        self.beside(others).map(|(spec, _)| self.bytes_of(spec)).sum()
    }

    /// Returns the size in bytes of all numbers.
    pub fn bytes(&self) -> usize {
        self.layout.iter().map(|spec| self.bytes_of(spec)).sum()
    }

    fn bytes_of(&self, spec: &TensorSpec) -> usize {
        match spec.storage {
            Storage::Flat(_) => spec.entries() * size_of::<S>(),
            Storage::Packed(at) => self.packed[at].bytes(),
        }
    }

    /// Returns each tensor with its counterpart in other parameters of the same shapes, without packed ones that both
    /// share.
    fn beside<'a>(&'a self, others: &'a Self) -> impl Iterator<Item = (&'a TensorSpec, &'a TensorSpec)> {
        self.layout.iter().zip(others.specs()).filter(|(own, other)| !self.shares(own, others, other))
    }

    /// Returns whether both parameters hold one and the same packed tensor.
    fn shares(&self, spec: &TensorSpec, others: &Self, other: &TensorSpec) -> bool {
        match (spec.storage, other.storage) {
            (Storage::Packed(own), Storage::Packed(at)) => Arc::ptr_eq(&self.packed[own], &others.packed[at]),
            _ => false,
        }
    }

    /// Returns whether a tensor is the same in other parameters. Packed tensors that both share are not read.
    pub fn has_same(&self, id: impl Into<TensorId>, others: &Self) -> bool {
        let id = id.into();
        match (self.spec(id), others.spec(id)) {
            (Some(own), Some(other)) => {
                let has_shape = (own.rows, own.cols) == (other.rows, other.cols);
                self.shares(own, others, other) || (has_shape && self.entries_apart(own, others, other) == 0)
            }
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}
