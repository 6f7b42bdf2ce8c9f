//! Parameters beside others of the same shapes. Packed tensors that both share are not looked into.
//!
//! Numbers are the same here if their bits are: −0 is not 0, and NaN is NaN. One that was set is an edit by that alone, and
//! so a training that goes on from it is the same.

use std::sync::Arc;

use super::{Parameters, Place, TensorId, TensorSpec};
use crate::numerics::packed::Packed;
use crate::numerics::{Scalar, are_same};

impl<S: Scalar> PartialEq for Parameters<S> {
    /// Shared tensors are not looked into.
    fn eq(&self, other: &Self) -> bool {
        let has_layout = Arc::ptr_eq(&self.layout, &other.layout) || self.layout == other.layout;
        let mut packed = self.packed.iter().zip(&other.packed);
        has_layout && are_same(&self.values, &other.values) && packed.all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
    }
}

/// Of parameters within one `Arc`, none is compared: those equal themselves.
impl<S: Scalar> Eq for Parameters<S> {}

impl<S: Scalar> Parameters<S> {
    /// Tensors in which others of the same shapes differ; a packed one that both do not share counts,
    /// without a look into it.
    pub fn differing(&self, others: &Self) -> impl Iterator<Item = TensorId> {
        let is_same = std::ptr::eq(self, others);
        let pairs = self.layout.iter().zip(others.specs()).filter(move |_| !is_same);
        let differing = pairs.filter(move |(spec, other)| match spec.place {
            Place::Flat(_) => !are_same(&self.values[spec.range()], &others.values[other.range()]),
            Place::Packed(_) => !self.shares(spec, others, other),
        });
        differing.map(|(spec, _)| spec.id)
    }

    /// The entries in which others of the same shapes differ, with the values there; packed tensors that both share are
    /// not looked into.
    pub fn changed_to(&self, others: &Self) -> Vec<(usize, S)> {
        let mut changed = Vec::new();
        for (spec, other) in self.layout.iter().zip(others.specs()) {
            if self.shares(spec, others, other) {
                continue;
            }
            let (old, new) = (self.row_major_of(spec), others.row_major_of(other));
            let pairs = spec.indices().zip(old.iter().zip(new.iter()));
            let differ = pairs.filter(|(_, (old, new))| !old.is_same(**new));
            changed.extend(differ.map(|(index, (_, new))| (index, *new)));
        }
        changed
    }

    /// How many entries of each tensor differ in others of the same shapes, of those in which one does.
    pub fn differences(&self, others: &Self) -> Vec<(TensorId, usize)> {
        let count = |a: &[S], b: &[S]| a.iter().zip(b).filter(|(a, b)| !a.is_same(**b)).count();
        let pairs = self.layout.iter().zip(others.specs()).filter(|(spec, other)| !self.shares(spec, others, other));
        let counts = pairs.map(|(spec, other)| {
            let entries = match (spec.place, other.place) {
                (Place::Packed(own), Place::Packed(other)) => self.packed[own].differences(&others.packed[other]),
                _ => count(&self.row_major_of(spec), &others.row_major_of(other)),
            };
            (spec.id, entries)
        });
        counts.filter(|(_, entries)| *entries > 0).collect()
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
        own.map(|(spec, _)| self.bytes_of(spec)).sum()
    }

    /// The memory of all numbers, in bytes.
    pub fn bytes(&self) -> usize {
        self.layout.iter().map(|spec| self.bytes_of(spec)).sum()
    }

    fn bytes_of(&self, spec: &TensorSpec) -> usize {
        match spec.place {
            Place::Flat(_) => spec.entries() * size_of::<S>(),
            Place::Packed(at) => self.packed[at].bytes(),
        }
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
                _ => are_same(&self.row_major_of(own), &others.row_major_of(other)),
            },
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}
