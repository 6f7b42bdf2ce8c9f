//! Expressions of words such as `king - man + woman`: their parsing, and the vector that they stand for.

use super::{Vectors, unknown};
use crate::numerics::table::TableRef;
use crate::pretrained::refusal::quoted;

/// Largest number of words of an expression.
const TERMS_MAX: usize = 64;
const WRITE_WORDS: &str = "write words with + or - between them, as in king - man + woman";

/// A sum of words, some of which are subtracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Row of each word, and whether it is subtracted.
    pub terms: Vec<(usize, bool)>,
}

impl Expression {
    /// Reads an expression. `+` and `-` are signs only between spaces, so that words may contain hyphens and spaces. If
    /// the whole text is one word of the vectors, the expression is that word.
    ///
    /// # Errors
    /// If there is no word, a word is unknown, or a sign has no word.
    pub fn parse(text: &str, vectors: &Vectors) -> Result<Self, String> {
        Self::read(text, |word| vectors.row_of(word), |word| unknown(word, vectors))
    }

    /// Reads an expression over any words. `row_of` returns the row of a known word, and `unknown` the message for an
    /// unknown one.
    ///
    /// # Errors
    /// See [`Self::parse`].
    pub fn read(
        text: &str,
        row_of: impl Fn(&str) -> Option<usize>,
        unknown: impl Fn(&str) -> String,
    ) -> Result<Self, String> {
        let text = text.trim();
        if let Some(row) = row_of(text) {
            return Ok(Self { terms: vec![(row, false)] });
        }
        if text.is_empty() {
            return Err(format!("an empty text; {WRITE_WORDS}"));
        }
        let mut terms = Vec::new();
        let (mut word, mut is_subtracted, mut has_sign) = (String::new(), false, false);
        for part in text.split_whitespace().map(Some).chain([None]) {
            let sign = match part {
                Some("+") => Some(false),
                Some("-" | "−") => Some(true),
                None => Some(false),
                Some(part) => {
                    word += if word.is_empty() { "" } else { " " };
                    word += part;
                    None
                }
            };
            let Some(next) = sign else { continue };
            if !word.is_empty() {
                terms.push((row_of(&word).ok_or_else(|| unknown(&word))?, is_subtracted));
                word.clear();
            } else if has_sign || part.is_none() {
                let found = quoted(text);
                return Err(format!("{found} has a sign without a word; {WRITE_WORDS}"));
            }
            (is_subtracted, has_sign) = (next, true);
        }
        match terms.len() {
            1..=TERMS_MAX => Ok(Self { terms }),
            count => Err(format!("{count} words; expected 1 to {TERMS_MAX}")),
        }
    }

    /// Returns the rows of the words.
    pub fn rows(&self) -> Vec<usize> {
        self.terms.iter().map(|(row, _)| *row).collect()
    }

    /// Computes the sum of the words' vectors.
    pub fn sum(&self, vectors: &Vectors) -> Vec<f32> {
        self.summed(TableRef::from(&vectors.rows), false)
    }

    /// Computes the sum of the words' directions, which are their vectors scaled to length 1, so that a longer vector
    /// does not count more. Analogies are defined this way (Mikolov et al. 2013).
    pub fn direction(&self, vectors: &Vectors) -> Vec<f32> {
        self.summed(TableRef::from(&vectors.rows), true)
    }

    /// Computes the sum of the words' rows in a table, or of their directions if `of_length_one` is set: see
    /// [`Self::direction`].
    pub fn summed(&self, table: TableRef<'_, f32>, of_length_one: bool) -> Vec<f32> {
        let mut sum = vec![0.0; table.cols()];
        for &(row, is_subtracted) in &self.terms {
            let row = table.row(row);
            let length = if of_length_one { length(&row) } else { 1.0 };
            let scale = if is_subtracted { -1.0 } else { 1.0 } / if length > 0.0 { length } else { 1.0 };
            sum.iter_mut().zip(&*row).for_each(|(sum, x)| *sum += scale * f64::from(*x));
        }
        sum.into_iter().map(|x| x as f32).collect()
    }
}

/// Computes `‖x‖`.
pub fn length(x: &[f32]) -> f64 {
    x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}
