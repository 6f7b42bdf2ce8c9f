//! Sentences below one another: the rows of a batch, without padding.

use std::ops::Range;

use faer::MatRef;

use super::look_up::LookUp;
use crate::numerics::Scalar;

#[derive(Clone, Debug, PartialEq)]
pub struct BatchRows {
    /// The first row of each sentence, and the end of the last one.
    bounds: Vec<usize>,
}

impl Default for BatchRows {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl BatchRows {
    pub fn with_capacity(sentences: usize) -> Self {
        let mut bounds = Vec::with_capacity(sentences + 1);
        bounds.push(0);
        Self { bounds }
    }

    /// # Panics
    /// As [`Self::push`] does.
    pub fn one(tokens: usize) -> Self {
        let mut rows = Self::with_capacity(1);
        rows.push(tokens);
        rows
    }

    pub fn clear(&mut self) {
        self.bounds.truncate(1);
    }

    /// # Panics
    /// If the sentence is empty: it would have nothing to attend to.
    pub fn push(&mut self, tokens: usize) {
        assert!(tokens > 0, "rows: an empty sentence");
        self.bounds.push(self.total() + tokens);
    }

    /// Tokens of the longest sentence.
    pub fn longest(&self) -> usize {
        self.sentences().map(|sentence| sentence.len()).max().unwrap_or(0)
    }

    /// `N`
    pub fn total(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }

    /// How many sentences.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    pub fn sentence(&self, index: usize) -> Range<usize> {
        self.bounds[index]..self.bounds[index + 1]
    }

    pub fn sentences(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.bounds.windows(2).map(|w| w[0]..w[1])
    }
}

/// Vectors of a batch's tokens, (N, D) row-major.
#[derive(Clone, Copy)]
pub struct Tokens<'a, S> {
    pub vectors: &'a [S],
    pub rows: &'a BatchRows,
    /// The embedding that they come from, if it is less work to start there; `vectors` may then be missing.
    pub look_up: Option<LookUp<'a, S>>,
}

impl<'a, S: Scalar> Tokens<'a, S> {
    pub fn new(vectors: &'a [S], rows: &'a BatchRows) -> Self {
        Self { vectors, rows, look_up: None }
    }

    /// # Panics
    /// If there are not as many vectors of this width as tokens.
    pub fn view(&self, width: usize) -> MatRef<'a, S> {
        let n = self.rows.total();
        assert_eq!(self.vectors.len(), n * width, "tokens: {} entries for ({n}, {width})", self.vectors.len());
        MatRef::from_row_major_slice(self.vectors, n, width)
    }
}
