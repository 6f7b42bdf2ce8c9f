//! Indices of tensors in code: `A[i, j]`, `A[.., 1..3]` and `A["apple1"]`.

use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};

use rhai::{Array, Dynamic, INT, ImmutableString};

use super::budget::Budget;
use super::fault::Fault;
use super::tensor::{Axis, Tensor, cost};
use super::value::{number, type_name};

/// The index `..`, which selects a whole axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole;

/// Number that replaces the largest whole number at the end of a range, because Rhai uses that for a range without an
/// end.
pub const LARGEST_END: INT = INT::MIN;

/// The entries that an index selects on one axis.
enum Pick {
    /// One entry; the result does not have this axis.
    One(usize),
    Some(Range<usize>),
}

impl Pick {
    fn range(&self) -> Range<usize> {
        match self {
            Self::One(i) => *i..*i + 1,
            Self::Some(range) => range.clone(),
        }
    }
}

/// Returns the axes of the entries that an index selects, and their offsets in order. The budget is charged for them.
fn resolve(tensor: &Tensor, index: &Dynamic, budget: &Budget) -> Result<(Vec<Axis>, Vec<usize>), Fault> {
    let mut indices = match index.clone().try_cast::<Array>() {
        Some(several) => several,
        None => vec![index.clone()],
    };
    // If there is only one head, its index can be omitted.
    if tensor.rank() == 3 && tensor.axes()[0].len == 1 && (indices.len() == 3 - 1 || indices[0].is_string()) {
        indices.insert(0, Dynamic::from(0 as INT));
    }
    if indices.len() > tensor.rank() {
        let message = format!("{} indices for a tensor of the shape {}", indices.len(), tensor.shape());
        return Err(Fault::new(message).hint(format!("give at most {}", tensor.rank())));
    }
    indices.resize(tensor.rank(), Dynamic::from(Whole));
    let picks = tensor.axes().iter().zip(&indices).map(|(axis, index)| pick(axis, index));
    let picks = picks.collect::<Result<Vec<Pick>, Fault>>()?;

    budget.pay(cost(picks.iter().map(|pick| pick.range().len())))?;
    let mut axes = Vec::new();
    for (axis, pick) in tensor.axes().iter().zip(&picks) {
        if let Pick::Some(range) = pick {
            let labels = axis.labels.as_ref().map(|labels| labels[range.clone()].into());
            axes.push(Axis { len: range.len(), labels });
        }
    }
    let mut places = vec![0];
    for (axis, pick) in tensor.axes().iter().zip(&picks) {
        places = places.iter().flat_map(|place| pick.range().map(move |i| place * axis.len + i)).collect();
    }
    Ok((axes, places))
}

fn pick(axis: &Axis, index: &Dynamic) -> Result<Pick, Fault> {
    let len = axis.len;
    if index.is::<Whole>() {
        return Ok(Pick::Some(0..len));
    }
    if let Some(word) = index.clone().try_cast::<ImmutableString>() {
        return axis.find(&word).map(Pick::One);
    }
    if let Ok(i) = index.as_int() {
        return entry(len, i).map(Pick::One);
    }
    if let Some(Range { start, end }) = index.clone().try_cast::<Range<INT>>() {
        let end = match end {
            // `2..` runs to the end.
            INT::MAX => len as INT,
            LARGEST_END => INT::MAX,
            end => end,
        };
        return within(len, start, Some(end)).ok_or_else(|| outside(&(start..end), len));
    }
    if let Some(range) = index.clone().try_cast::<RangeInclusive<INT>>() {
        return within(len, *range.start(), range.end().checked_add(1)).ok_or_else(|| outside(&range, len));
    }
    Err(Fault::new(format!("{} cannot be an index", type_name(index)))
        .hint("use a number, a word in quotes, a range such as 0..2, or .. for all"))
}

/// Returns the entries from `start` up to `end`, or `None` if the axis does not have them.
fn within(len: usize, start: INT, end: Option<INT>) -> Option<Pick> {
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end?).ok()?);
    (start <= end && end <= len).then_some(Pick::Some(start..end))
}

fn outside(range: &dyn Debug, len: usize) -> Fault {
    Fault::new(format!("the range {range:?} is not within 0..{len}"))
}

/// Returns the index of the entry that a whole number names; a negative number counts from the end.
fn entry(len: usize, i: INT) -> Result<usize, Fault> {
    let at = if i < 0 { i + len as INT } else { i };
    if (0..len as INT).contains(&at) {
        return Ok(at as usize);
    }
    let hint = match len {
        0 => "it has no entries".into(),
        _ => format!("its entries are 0 to {}", len - 1),
    };
    Err(Fault::new(format!("there is no entry {i} on an axis of length {len}")).hint(hint))
}

impl Tensor {
    /// Returns `tensor[index]`: a number if the index selects a single entry on every axis, otherwise a tensor.
    ///
    /// # Errors
    /// If the tensor has no such entries, or too little of the budget is left.
    pub fn get(&self, index: &Dynamic, budget: &Budget) -> Result<Dynamic, Fault> {
        let (axes, places) = resolve(self, index, budget)?;
        Ok(Self::new(axes, places.iter().map(|&place| self.entries()[place]).collect()).into_dynamic())
    }

    /// Sets `tensor[index] = x`, where `x` is one number for all selected entries, or a tensor of their shape.
    ///
    /// # Errors
    /// If the tensor has no such entries, `x` is of another kind or shape, or too little of the budget is left.
    pub fn set(&mut self, index: &Dynamic, x: &Dynamic, budget: &Budget) -> Result<(), Fault> {
        let (axes, places) = resolve(self, index, budget)?;
        if self.is_shared() {
            budget.pay(self.len())?;
        }
        if let Some(x) = number(x) {
            places.iter().for_each(|&place| self.entries_mut()[place] = x);
            return Ok(());
        }
        let Some(from) = x.read_lock::<Self>() else {
            let message = format!("{} cannot be an entry of a tensor", type_name(x));
            return Err(Fault::new(message).hint("assign a number, or a tensor of the same shape"));
        };
        let wanted: Vec<usize> = axes.iter().map(|axis| axis.len).collect();
        let found: Vec<usize> = from.axes().iter().map(|axis| axis.len).collect();
        if wanted != found {
            let message = format!("a tensor of the shape {} does not fit into {wanted:?}", from.shape());
            return Err(Fault::new(message).hint("shapes must be the same"));
        }
        for (&place, &x) in places.iter().zip(from.entries()) {
            self.entries_mut()[place] = x;
        }
        Ok(())
    }
}
