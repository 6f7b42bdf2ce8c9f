//! The positions of words, as encodings that are added to the static vectors. Attention has two more forms:
//! [`distances`](super::attention::distances), which are added to scores, and [`rotary`](super::attention::rotary)
//! positions, which turn queries and keys.

use crate::numerics::{Matrix, Scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// No positions: attention sees a bag of words.
    None,
    /// Fixed sines and cosines (Vaswani et al. 2017, section 3.5).
    Sinusoidal,
    /// A learned vector for each position.
    Learned,
}

/// The rows of a learned `P` that tokens use, in models that do not count them from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PositionRows {
    /// Row of a sentence's first token; the rows before it have other uses.
    pub first: usize,
    /// Padding word, as in RoBERTa. It is not counted, and it uses the row before the first.
    pub filler: Option<usize>,
}

impl PositionRows {
    /// Returns the row of `P` for each token of one sentence, whose positions are `places`.
    pub fn rows(self, words: &[Option<usize>], places: &[usize]) -> Vec<usize> {
        let mut fillers = 0;
        let row = |(word, &place): (&Option<usize>, &usize)| match self.filler.filter(|&filler| *word == Some(filler)) {
            None => self.first + place - fillers,
            Some(_) => {
                fillers += 1;
                self.first - 1
            }
        };
        words.iter().zip(places).map(row).collect()
    }
}

/// Computes `P[t, 2i] = sin(t / 10000^(2i/D))`, `P[t, 2i+1] = cos(t / 10000^(2i/D))`.
pub fn sinusoidal<S: Scalar>(max_tokens: usize, width: usize) -> Matrix<S> {
    const BASE: f64 = 10_000.0;
    Matrix::from_fn(max_tokens, width, |t, j| {
        let angle = t as f64 / BASE.powf((j / 2 * 2) as f64 / width as f64);
        S::from_f64(if j % 2 == 0 { angle.sin() } else { angle.cos() })
    })
}
