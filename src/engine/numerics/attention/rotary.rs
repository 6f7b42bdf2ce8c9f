//! Rotary positions: queries and keys are turned by an angle that grows with their position (Su et al. 2021,
//! *RoFormer*, arXiv 2104.09864, section 3.2.2).
//!
//! ```text
//! ω_i = θ^(−2i/r)          i < r/2, where r is the number of columns of a head that are turned
//! y_i       = x_i cos tω_i − x_{i+r/2} sin tω_i          positions t count from 0
//! y_{i+r/2} = x_{i+r/2} cos tω_i + x_i sin tω_i          columns from r on are unchanged
//! ```
//!
//! `(R_i q) · (R_j k)` depends on the positions only through the distance `j − i`. Column `i` is paired with `i + r/2`,
//! as in the files of today's models. There is nothing to learn, and the gradient is turned back: `d_x = R_{−t} d_y`.

use super::rows::BatchRows;
use crate::numerics::Scalar;
use crate::numerics::simd::vectorized;

/// The rotary positions of a layer's queries and keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotary {
    /// Base `θ` of the frequencies.
    pub theta: f64,
    /// `r`: the even number of leading columns of each head that are turned.
    pub width: usize,
    pub scaling: RotaryScaling,
}

/// Changes of the frequencies for sentences longer than those that a model was first trained on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RotaryScaling {
    None,
    /// Division of all frequencies by a factor: `ω / f`.
    Linear(f64),
    /// Division of the low frequencies only (Grattafiori et al. 2024, arXiv 2407.21783; `rope_type: llama3`).
    Llama3 {
        /// Divisor `f` of the low frequencies.
        factor: f64,
        /// Number of turns within the original length below which a frequency is divided by the factor.
        low: f64,
        /// Number of turns within the original length above which a frequency is unchanged.
        high: f64,
        /// Sentence length of the original training, in tokens.
        tokens: f64,
    },
}

impl RotaryScaling {
    /// Returns a frequency after scaling.
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
    /// Returns `ω_i`, in radians per position, of each pair of columns (r/2).
    pub fn frequencies(&self) -> Vec<f64> {
        let frequency = |pair: usize| self.theta.powf(-((2 * pair) as f64) / self.width as f64);
        (0..self.width / 2).map(|pair| self.scaling.scaled(frequency(pair))).collect()
    }
}

/// The direction of a turn, in the forward pass or in its gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnDirection {
    On,
    Back,
}

/// Cosines and sines of all positions up to the longest sentence, computed in double precision.
#[derive(Clone, Debug)]
pub struct Turns<S> {
    /// `r / 2`; 0 if nothing is turned.
    pairs: usize,
    /// Cosine and sine of each pair at each position, (T_max · r/2).
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

    /// Computes `R_t x` or `R_{−t} x` for the tokens of some sentences in place, head by head, each `width` columns
    /// wide. The first token of each sentence has position `before`.
    pub fn turn(&self, way: TurnDirection, sentences: &BatchRows, before: usize, width: usize, x: &mut [S]) {
        if self.pairs == 0 {
            return;
        }
        let columns = x.len() / sentences.total().max(1);
        let sign = if way == TurnDirection::On { S::one() } else { -S::one() };
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
