//! Rotary positions: queries and keys turned by an angle that grows with their place (Su et al. 2021, *RoFormer*,
//! arXiv 2104.09864, section 3.2.2).
//!
//! ```text
//! ω_i = θ^(−2i/r)          i < r/2, with r the columns of a head that are turned
//! y_i       = x_i cos tω_i − x_{i+r/2} sin tω_i          the place t counts from 0
//! y_{i+r/2} = x_{i+r/2} cos tω_i + x_i sin tω_i          columns from r on stay as they are
//! ```
//!
//! `(R_i q) · (R_j k)` knows the distance `j − i` and nothing else of the places. The pairs are column `i` and `i + r/2`, as in
//! the files of today's models. There is nothing to learn, and the gradient is turned back: `d_x = R_{−t} d_y`.

use super::rows::Rows;
use crate::numerics::Scalar;
use crate::numerics::simd::vectorized;

/// The turn of a layer's queries and keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotary {
    /// `θ`
    pub theta: f64,
    /// `r`: an even number of columns of each head, its first.
    pub width: usize,
    pub scaling: RotaryScaling,
}

/// Frequencies for sentences longer than a model was first trained on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RotaryScaling {
    None,
    /// All turn slower by a factor: `ω / f`.
    Linear(f64),
    /// Slow ones turn slower still, fast ones as before (Grattafiori et al. 2024, arXiv 2407.21783; `rope_type: llama3`).
    Llama3 {
        /// `f`
        factor: f64,
        /// Turns within the first length, below which a frequency is divided by the factor ...
        low: f64,
        /// ... and above which it stays as it is.
        high: f64,
        /// The length of the first training, in tokens.
        tokens: f64,
    },
}

impl RotaryScaling {
    /// A frequency as it is scaled.
    fn scaled(self, frequency: f64) -> f64 {
        match self {
            Self::None => frequency,
            Self::Linear(factor) => frequency / factor,
            Self::Llama3 { factor, low, high, tokens } => {
                let turns = tokens * frequency / std::f64::consts::TAU;
                let share = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - share) * frequency / factor + share * frequency
            }
        }
    }
}

impl Rotary {
    /// `ω_i` in radians a place, of each pair of columns (r/2).
    pub fn frequencies(&self) -> Vec<f64> {
        let frequency = |pair: usize| self.theta.powf(-((2 * pair) as f64) / self.width as f64);
        (0..self.width / 2).map(|pair| self.scaling.scaled(frequency(pair))).collect()
    }
}

/// The way of a turn: that of the forward pass, or that of its gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    On,
    Back,
}

/// Cosines and sines of all places of the longest sentence, computed in double precision.
#[derive(Clone, Debug)]
pub struct Turns<S> {
    /// `r / 2`; 0 where nothing is turned.
    pairs: usize,
    /// For each place the cosine and the sine of each pair, (T_max · r/2).
    turns: Vec<(S, S)>,
}

impl<S: Scalar> Turns<S> {
    pub fn new(rotary: Option<&Rotary>, places: usize) -> Self {
        let frequencies = rotary.map_or_else(Vec::new, Rotary::frequencies);
        let turn = |place: usize, frequency: f64| {
            let (sine, cosine) = (place as f64 * frequency).sin_cos();
            (S::from_f64(cosine), S::from_f64(sine))
        };
        let turns = (0..places).flat_map(|place| frequencies.iter().map(move |&frequency| turn(place, frequency)));
        Self { pairs: frequencies.len(), turns: turns.collect() }
    }

    /// `R_t x` of the tokens of some sentences, or `R_{−t} x`, head by head, each `width` columns wide. `before` tokens went
    /// before the first.
    pub fn turn(&self, way: Way, sentences: &Rows, before: usize, width: usize, x: &mut [S]) {
        if self.pairs == 0 {
            return;
        }
        let columns = x.len() / sentences.total().max(1);
        let sign = if way == Way::On { S::one() } else { -S::one() };
        vectorized!(for sentence in sentences.sentences() {
            let own = x[sentence.start * columns..sentence.end * columns].chunks_exact_mut(columns);
            own.enumerate().for_each(|(t, row)| self.turn_row(before + t, sign, width, row));
        });
    }

    #[inline(always)]
    fn turn_row(&self, place: usize, sign: S, width: usize, row: &mut [S]) {
        let turns = &self.turns[place * self.pairs..][..self.pairs];
        for head in row.chunks_exact_mut(width) {
            let (first, second) = head.split_at_mut(self.pairs);
            for ((x, y), &(cosine, sine)) in first.iter_mut().zip(second).zip(turns) {
                let sine = sign * sine;
                (*x, *y) = (*x * cosine - *y * sine, *y * cosine + *x * sine);
            }
        }
    }
}
