//! The positions of words, as encodings that are added to the static vectors. Attention has two more forms:
//! [`distances`](super::attention::distances), which are added to scores, and [`rotary`](super::attention::rotary)
//! positions, which turn queries and keys.

use crate::numerics::{Matrix, Scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// No positions: attention sees a bag of words.
    None,
    /// Fixed sines and cosines, which alternate (Vaswani et al. 2017, section 3.5).
    Sinusoidal,
    /// The same sines and cosines, but with all sines before all cosines, as in Marian.
    SinusoidalInHalves,
    /// A learned vector for each position.
    Learned,
}

/// The rows of a learned `P` that tokens use. By default they are counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PositionRows {
    /// Row of a sentence's first token; the rows before it have other uses.
    pub first: usize,
    /// Padding word, as in RoBERTa. Such words are not counted, and use the row before the first.
    pub filler: Option<usize>,
}

impl PositionRows {
    /// Returns the row of `P` for each token of one sentence; `places` are the positions of its tokens.
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

impl Positions {
    /// Returns the number of the wave in a column of `P`, and whether it is the sine; `None` if positions are learned
    /// or missing.
    ///
    /// ```text
    /// P[t, 2i] = sin(t / 10000^(2i/D))     P[t, 2i + 1]   = cos(t / 10000^(2i/D))     alternating
    /// P[t, i]  = sin(t / 10000^(2i/D))     P[t, ⌈D/2⌉ + i] = cos(t / 10000^(2i/D))     in halves
    /// ```
    pub fn wave(self, column: usize, width: usize) -> Option<(usize, bool)> {
        match self {
            Self::None | Self::Learned => None,
            Self::Sinusoidal => Some((column / 2, column.is_multiple_of(2))),
            Self::SinusoidalInHalves => {
                let sines = width.div_ceil(2);
                Some(if column < sines { (column, true) } else { (column - sines, false) })
            }
        }
    }

    /// Computes `P` (T_max, D) if it is not learned.
    pub fn fixed<S: Scalar>(self, max_tokens: usize, width: usize) -> Option<Matrix<S>> {
        const BASE: f64 = 10_000.0;
        let is_fixed = matches!(self, Self::Sinusoidal | Self::SinusoidalInHalves);
        let entry = |t: usize, j: usize| {
            let (wave, is_sine) = self.wave(j, width).unwrap_or_default();
            let angle = t as f64 / BASE.powf((2 * wave) as f64 / width as f64);
            S::from_f64(if is_sine { angle.sin() } else { angle.cos() })
        };
        is_fixed.then(|| Matrix::from_fn(max_tokens, width, entry))
    }
}
