//! Tensors, the arrays of numbers in code cells: one to three axes whose entries may be named by words.

use std::fmt;
use std::sync::Arc;

use rhai::Dynamic;
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::json;
use crate::messages::{counted, nearest};

/// Names of the entries of an axis, such as the words of a sentence.
pub type Labels = Arc<[String]>;

/// A row-major tensor in double precision, which holds every number of the model exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    axes: Vec<Axis>,
    entries: Arc<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    pub len: usize,
    #[serde(default, with = "json::maybe_shared", skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
}

/// Largest number of words of an axis that a fault lists.
const LISTED: usize = 16;

impl Axis {
    pub fn plain(len: usize) -> Self {
        Self { len, labels: None }
    }

    pub fn labelled(labels: Labels) -> Self {
        Self { len: labels.len(), labels: Some(labels) }
    }

    /// Returns the index of the entry that a word names. If a word occurs more than once, its occurrences are numbered:
    /// `apple₁`, which can be written `apple1`.
    ///
    /// # Errors
    /// If the axis has no names, or the word names no entry or several.
    pub fn find(&self, word: &str) -> Result<usize, Fault> {
        let Some(labels) = &self.labels else {
            return Err(Fault::new(format!("the entries on this axis have no names, so {word:?} cannot be found"))
                .hint(format!("use a number from 0 to {}", self.len.saturating_sub(1))));
        };
        if let Some(i) = labels.iter().position(|label| label == word) {
            return Ok(i);
        }
        let is_subscript = |c: char| ('₀'..='₉').contains(&c);
        let plain = |label: &str| -> String {
            let digit = |c: char| char::from_u32(c as u32 - '₀' as u32 + '0' as u32).unwrap_or(c);
            label.chars().map(|c| if is_subscript(c) { digit(c) } else { c }).collect()
        };
        if let Some(i) = labels.iter().position(|label| label.ends_with(is_subscript) && plain(label) == word) {
            return Ok(i);
        }
        let several: Vec<String> = labels
            .iter()
            .filter(|label| label.ends_with(is_subscript) && label.trim_end_matches(is_subscript) == word)
            .map(|label| format!("{:?}", plain(label)))
            .collect();
        if !several.is_empty() {
            let fault = Fault::new(format!("{word:?} occurs {} times here", several.len()));
            return Err(fault.hint(format!("write {}", several.join(" or "))));
        }
        let fault = Fault::new(format!("{word:?} is not among the words here"));
        Err(match nearest(word, labels.iter().map(String::as_str)) {
            Some(near) => fault.hint(format!("did you mean {near:?}?")),
            None if labels.len() <= LISTED => fault.hint(format!("the words are {}", labels.join(", "))),
            None => fault,
        })
    }

    /// Returns the name of an entry, or its number.
    pub fn name(&self, i: usize) -> String {
        self.labels.as_ref().and_then(|labels| labels.get(i)).cloned().unwrap_or_else(|| i.to_string())
    }
}

/// Returns the labels that two axes of the same length have in common: those of one if the other has none, or those of
/// both if they are equal. Otherwise returns `None`.
fn common_labels(a: &Axis, b: &Axis) -> Option<Labels> {
    match (&a.labels, &b.labels) {
        (Some(a), Some(b)) => (a == b).then(|| a.clone()),
        (a, b) => a.as_ref().or(b.as_ref()).cloned(),
    }
}

/// Returns the number of entries of a tensor with these axes.
fn entries_of(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.len).fold(1, usize::saturating_mul)
}

/// Returns the cost of a tensor with axes of these lengths, in entries. An axis of length 0 counts as 1, because even
/// an empty row takes time and has a name.
pub fn cost(lens: impl IntoIterator<Item = usize>) -> usize {
    lens.into_iter().fold(1, |cost, len| cost.saturating_mul(len.max(1)))
}

/// The lengths of axes, written as `(3, 4)`.
pub struct Shape<'a>(pub &'a [Axis]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lens: Vec<String> = self.0.iter().map(|axis| axis.len.to_string()).collect();
        write!(f, "({})", lens.join(", "))
    }
}

impl Tensor {
    /// Makes a tensor.
    ///
    /// # Panics
    /// If the number of entries does not fit the axes.
    pub fn new(axes: Vec<Axis>, entries: Vec<f64>) -> Self {
        assert_eq!(entries.len(), entries_of(&axes), "tensor: {} entries for {}", entries.len(), Shape(&axes));
        Self { axes, entries: Arc::new(entries) }
    }

    /// Makes a tensor as it was read from a file, where the lengths of the axes may not fit the number of entries; see
    /// [`Output::is_sound`](super::Output::is_sound).
    pub(super) fn unchecked(axes: Vec<Axis>, entries: Vec<f64>) -> Self {
        Self { axes, entries: Arc::new(entries) }
    }

    pub fn vector(entries: Vec<f64>) -> Self {
        Self::new(vec![Axis::plain(entries.len())], entries)
    }

    pub fn matrix(rows: usize, cols: usize, entries: Vec<f64>) -> Self {
        Self::new(vec![Axis::plain(rows), Axis::plain(cols)], entries)
    }

    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub fn entries_mut(&mut self) -> &mut [f64] {
        Arc::make_mut(&mut self.entries).as_mut_slice()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn cost(&self) -> usize {
        cost(self.axes.iter().map(|axis| axis.len))
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    pub fn shape(&self) -> Shape<'_> {
        Shape(&self.axes)
    }

    /// Returns the last axis, along which functions of rows work.
    ///
    /// # Panics
    /// If the tensor has no axis.
    pub fn last_axis(&self) -> &Axis {
        self.axes.last().expect("a tensor has an axis")
    }

    /// Returns the rows along the last axis, including empty ones.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let len = self.last_axis().len;
        (0..entries_of(&self.axes[..self.rank() - 1])).map(move |row| &self.entries[row * len..][..len])
    }

    /// Returns whether another tensor shares the entries, so that a change copies them.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.entries) > 1
    }

    /// Returns whether another tensor has the same entries, bit for bit.
    pub fn has_entries_of(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let all_same = || self.len() == other.len() && self.entries.iter().zip(&*other.entries).all(same);
        Arc::ptr_eq(&self.entries, &other.entries) || all_same()
    }

    /// Returns a tensor with the same axes and other entries.
    pub fn with(&self, entries: Vec<f64>) -> Self {
        Self::new(self.axes.clone(), entries)
    }

    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        self.with(self.entries.iter().map(|&x| f(x)).collect())
    }

    /// Computes one number for each row along the last axis.
    pub fn reduce(&self, f: impl Fn(&[f64]) -> f64) -> Self {
        let axes = self.axes[..self.rank() - 1].to_vec();
        Self::new(axes, self.rows().map(f).collect())
    }

    /// Returns the axes of an operation on two tensors entry by entry. Missing first axes, and axes of length 1, are
    /// repeated (broadcasting).
    ///
    /// # Errors
    /// If the lengths differ otherwise.
    pub fn common_axes(&self, op: &str, other: &Self) -> Result<Vec<Axis>, Fault> {
        let rank = self.rank().max(other.rank());
        let mut axes = Vec::with_capacity(rank);
        for i in 0..rank {
            let axis = |tensor: &Self| (i + tensor.rank()).checked_sub(rank).map(|i| tensor.axes[i].clone());
            let (a, b) = (axis(self).unwrap_or(Axis::plain(1)), axis(other).unwrap_or(Axis::plain(1)));
            axes.push(match (a.len, b.len) {
                (n, m) if n == m => Axis { len: n, labels: common_labels(&a, &b) },
                (1, _) => b,
                (_, 1) => a,
                _ => {
                    let message = format!("cannot {op} {} and {} entry by entry", self.shape(), other.shape());
                    let turned = other.rank() == 2 && self.rank() == 2 && {
                        let [rows, cols] = [other.axes[0].len, other.axes[1].len];
                        self.axes[0].len == cols && self.axes[1].len == rows
                    };
                    let hint = if turned {
                        format!("transposed with .T, the second one has the shape {}", self.shape())
                    } else {
                        "wherever the shapes differ, one of the two sizes must be 1".into()
                    };
                    return Err(Fault::new(message).hint(hint));
                }
            });
        }
        Ok(axes)
    }

    /// Combines two tensors entry by entry, along their [common axes](Self::common_axes).
    pub fn zip(&self, other: &Self, axes: Vec<Axis>, f: impl Fn(f64, f64) -> f64) -> Self {
        let rank = axes.len();
        let strides = |tensor: &Self| -> Vec<usize> {
            let mut strides = vec![0; rank];
            let mut stride = 1;
            for (i, axis) in tensor.axes.iter().enumerate().rev() {
                strides[i + rank - tensor.rank()] = if axis.len == 1 { 0 } else { stride };
                stride *= axis.len;
            }
            strides
        };
        let (a_strides, b_strides) = (strides(self), strides(other));
        let entries = (0..entries_of(&axes)).map(|flat| {
            let (mut rest, mut a, mut b) = (flat, 0, 0);
            for i in (0..rank).rev() {
                let at = rest % axes[i].len;
                rest /= axes[i].len;
                (a, b) = (a + at * a_strides[i], b + at * b_strides[i]);
            }
            f(self.entries[a], other.entries[b])
        });
        let entries = entries.collect();
        Self::new(axes, entries)
    }

    /// Returns the transpose: rows become columns, and a vector stays the same. With three axes, the last two are
    /// exchanged.
    pub fn transposed(&self) -> Self {
        let rank = self.rank();
        if rank < 2 {
            return self.clone();
        }
        let mut axes = self.axes.clone();
        axes.swap(rank - 1, rank - 2);
        let [rows, cols] = [self.axes[rank - 2].len, self.axes[rank - 1].len];
        let mut entries = Vec::with_capacity(self.len());
        for matrix in self.entries.chunks((rows * cols).max(1)) {
            entries.extend((0..cols).flat_map(|col| (0..rows).map(move |row| matrix[row * cols + col])));
        }
        Self::new(axes, entries)
    }

    /// Returns the number of multiplications that [`Self::product`] takes.
    pub fn product_work(&self, other: &Self) -> u64 {
        let cols = if other.rank() == 1 { 1 } else { other.last_axis().len };
        self.len() as u64 * cols as u64
    }

    /// Returns the axes of the matrix product `self @ other`. A vector is a row on the left and a column on the right.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn product_axes(&self, other: &Self) -> Result<Vec<Axis>, Fault> {
        let shapes = || format!("{} by {} with @", self.shape(), other.shape());
        if self.rank() > 2 || other.rank() > 2 {
            let message = format!("cannot multiply {}", shapes());
            return Err(Fault::new(message).hint("@ multiplies vectors and matrices: choose a head first, as in A[0]"));
        }
        let inner = self.last_axis().len;
        let found = other.axes[0].len;
        if inner != found {
            let (cols, rows) = (counted(inner, "column"), counted(found, "row"));
            let message = format!("cannot multiply {}: {cols} on the left, {rows} on the right", shapes());
            let fault = Fault::new(message);
            let fits = |a: &Axis, b: &Axis| a.len == b.len;
            return Err(match (self.rank(), other.rank()) {
                (2, 2) if fits(&self.axes[1], &other.axes[1]) => {
                    fault.hint("the right one fits when transposed: @ ….T")
                }
                (2, 2) if fits(&self.axes[0], &other.axes[0]) => fault.hint("the left one fits when transposed: ….T @"),
                (2, 1) if self.axes[0].len == found => fault.hint("the left one fits when transposed: ….T @"),
                (1, 2) if inner == other.axes[1].len => fault.hint("the right one fits when transposed: @ ….T"),
                _ => fault.hint("the left one must have as many columns as the right one has rows"),
            });
        }
        let mut axes = self.axes[..self.rank() - 1].to_vec();
        axes.extend_from_slice(&other.axes[1..]);
        Ok(axes)
    }

    /// Computes the entries of the matrix product; `check` is called before each row.
    ///
    /// # Errors
    /// The first error of `check`.
    pub fn product(&self, other: &Self, check: impl Fn() -> Result<(), Fault>) -> Result<Vec<f64>, Fault> {
        let right = if other.rank() == 1 { other.clone() } else { other.transposed() };
        let dot = crate::numerics::vectors::dot;
        let mut entries = Vec::with_capacity(self.rows().count() * right.rows().count());
        for row in self.rows() {
            check()?;
            entries.extend(right.rows().map(|col| dot(row, col)));
        }
        Ok(entries)
    }

    /// Converts the tensor to a value in code; a number if there are no axes.
    pub fn into_dynamic(self) -> Dynamic {
        if self.axes.is_empty() { Dynamic::from(self.entries[0]) } else { Dynamic::from(self) }
    }
}
