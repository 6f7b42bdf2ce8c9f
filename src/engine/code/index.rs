//! `A["bank", 1..3]`: which entries of a tensor an index in brackets names, to read and to write.

use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};

use rhai::{Array, Dynamic, INT, ImmutableString};

use super::budget::Budget;
use super::fault::Fault;
use super::tensor::{Axis, Tensor, cost};
use super::value::type_name;

/// The whole of an axis, `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole;

/// In the place of the largest number where a range ends with it: that itself is Rhai's sign for a range without an end.
pub const LARGEST_END: INT = INT::MIN;

/// The entries that an index takes from one axis.
enum Pick {
    /// One entry: the axis is gone afterwards.
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

/// Offsets of the entries that an index names, in order, and their axes. The budget is charged for them.
fn resolve(tensor: &Tensor, index: &Dynamic, budget: &Budget) -> Result<(Vec<Axis>, Vec<usize>), Fault> {
    let mut given = match index.clone().try_cast::<Array>() {
        Some(several) => several,
        None => vec![index.clone()],
    };
    // Of a single head, the head need not be said.
    if tensor.rank() == 3 && tensor.axes()[0].len == 1 && (given.len() == 3 - 1 || given[0].is_string()) {
        given.insert(0, Dynamic::from(0 as INT));
    }
    if given.len() > tensor.rank() {
        let message = format!("{} indices for a tensor of the shape {}", given.len(), tensor.shape());
        return Err(Fault::new(message).hint(format!("give at most {}", tensor.rank())));
    }
    given.resize(tensor.rank(), Dynamic::from(Whole));
    let picks = tensor.axes().iter().zip(&given).map(|(axis, index)| pick(axis, index));
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
            // `2..` has no end.
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

/// The entries from one place up to another.
fn within(len: usize, start: INT, end: Option<INT>) -> Option<Pick> {
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end?).ok()?);
    (start <= end && end <= len).then_some(Pick::Some(start..end))
}

fn outside(range: &dyn Debug, len: usize) -> Fault {
    Fault::new(format!("the range {range:?} is not within 0..{len}"))
}

/// A number counts from the front, a negative one from the back.
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

/// `tensor[index]`: a number where every axis has one index.
pub fn get(tensor: &Tensor, index: &Dynamic, budget: &Budget) -> Result<Dynamic, Fault> {
    let (axes, places) = resolve(tensor, index, budget)?;
    let entries: Vec<f64> = places.iter().map(|&place| tensor.entries()[place]).collect();
    Ok(value(axes, entries))
}

/// The value of a tensor; a number if no axes remain.
pub fn value(axes: Vec<Axis>, entries: Vec<f64>) -> Dynamic {
    if axes.is_empty() { Dynamic::from(entries[0]) } else { Dynamic::from(Tensor::new(axes, entries)) }
}

/// `tensor[index] = x`: one number for all, or as many as there are places.
pub fn set(tensor: &mut Tensor, index: &Dynamic, x: &Dynamic, budget: &Budget) -> Result<(), Fault> {
    let (axes, places) = resolve(tensor, index, budget)?;
    if tensor.is_shared() {
        budget.pay(tensor.len())?;
    }
    let number = x.as_float().ok().or_else(|| x.as_int().ok().map(|i| i as f64));
    if let Some(x) = number {
        places.iter().for_each(|&place| tensor.entries_mut()[place] = x);
        return Ok(());
    }
    let Some(from) = x.read_lock::<Tensor>() else {
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
        tensor.entries_mut()[place] = x;
    }
    Ok(())
}
