//! Position encodings, added to the static vectors.

use super::{Matrix, Scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Attention sees a bag of words.
    None,
    /// Fixed waves (Vaswani et al. 2017, section 3.5).
    Sinusoidal,
    /// A learned vector for each position.
    Learned,
}

/// The rows of a learned `P` that tokens have, where those are not counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PositionRows {
    /// The row of a sentence's first token; those before it are for something else.
    pub first: usize,
    /// A word that only fills up a sentence, as in RoBERTa: it is not counted, and has the row before the first.
    pub filler: Option<usize>,
}

impl PositionRows {
    /// The row of `P` of each token of one sentence, with the places that they would have.
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

/// `P[t, 2i] = sin(t / 10000^(2i/D))`, `P[t, 2i+1] = cos(t / 10000^(2i/D))`
pub fn sinusoidal<S: Scalar>(max_tokens: usize, width: usize) -> Matrix<S> {
    const BASE: f64 = 10_000.0;
    Matrix::from_fn(max_tokens, width, |t, j| {
        let angle = t as f64 / BASE.powf((j / 2 * 2) as f64 / width as f64);
        S::from_f64(if j % 2 == 0 { angle.sin() } else { angle.cos() })
    })
}
