//! Rows of a batch: its sentences one below the other, without padding.

use std::ops::Range;

use faer::MatRef;

use super::look_up::LookUp;
use crate::numerics::Scalar;

#[derive(Clone, Debug, PartialEq)]
pub struct BatchRows {
    /// First row of each sentence, followed by the end of the last one.
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

    /// Makes the rows of one sentence.
    ///
    /// # Panics
    /// See [`Self::push`].
    pub fn one(tokens: usize) -> Self {
        let mut rows = Self::with_capacity(1);
        rows.push(tokens);
        rows
    }

    pub fn clear(&mut self) {
        self.bounds.truncate(1);
    }

    /// Adds a sentence.
    ///
    /// # Panics
    /// If the sentence is empty, as it would have nothing to attend to.
    pub fn push(&mut self, tokens: usize) {
        assert!(tokens > 0, "rows: an empty sentence");
        self.bounds.push(self.total() + tokens);
    }

    /// Returns the number of tokens of the longest sentence.
    pub fn longest(&self) -> usize {
        self.sentences().map(|sentence| sentence.len()).max().unwrap_or(0)
    }

    /// Returns `N`, the number of tokens.
    pub fn total(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }

    /// Returns the number of sentences.
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
    /// Embedding of the tokens, if it is less work to project it; `vectors` may then be empty.
    pub look_up: Option<LookUp<'a, S>>,
}

impl<'a, S: Scalar> Tokens<'a, S> {
    pub fn new(vectors: &'a [S], rows: &'a BatchRows) -> Self {
        Self { vectors, rows, look_up: None }
    }

    /// Returns the vectors as a matrix.
    ///
    /// # Panics
    /// If the number of vectors of this width is not the number of tokens.
    pub fn view(&self, width: usize) -> MatRef<'a, S> {
        let n = self.rows.total();
        assert_eq!(self.vectors.len(), n * width, "tokens: {} entries for ({n}, {width})", self.vectors.len());
        MatRef::from_row_major_slice(self.vectors, n, width)
    }
}
