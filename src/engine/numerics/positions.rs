//! The positions of words: encodings added to the static vectors, distances added to the scores, and rotary positions,
//! which turn queries and keys.

use crate::numerics::attention::config::AttentionConfig;
use crate::numerics::attention::rows::BatchRows;
use crate::numerics::simd::{add, vectorized};
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

// Distances in scores: `S_ij += B_h[j − i] / τ`, a learned number for each head and each distance from a query to a key
// (Raffel et al. 2020, *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, arXiv
// 1910.10683, section 2.1, without its buckets).
//
// Positions then affect only the attention weights. They add nothing to the words' vectors, and so move no point by
// themselves.

/// `B / τ` of a layer, stored in both orders: rows of scores read one, columns the other.
#[derive(Clone, Debug)]
pub struct Distances<S> {
    /// Length of the longest sentence; 0 if the layer does not use distances.
    tokens: usize,
    /// One row for each head, from the furthest key before the query to the furthest after it.
    rows: Vec<S>,
    /// The numbers of `rows`, each row reversed.
    columns: Vec<S>,
}

impl<S: Scalar> Distances<S> {
    pub fn new(config: &AttentionConfig) -> Self {
        let entries = vec![S::zero(); config.heads * config.distance_count()];
        Self { tokens: config.distances.unwrap_or(0), rows: entries.clone(), columns: entries }
    }

    /// Sets the numbers to `B / τ`, where `B` is the parameter (H · distances).
    ///
    /// # Panics
    /// If it has another size.
    pub fn set(&mut self, bias: &[S], config: &AttentionConfig) {
        let (found, wanted) = (bias.len(), self.rows.len());
        assert_eq!(found, wanted, "attention: B of {found} entries, {wanted} distances");
        let share = S::from_f64(1.0 / config.temperature);
        self.rows.iter_mut().zip(bias).for_each(|(to, &x)| *to = share * x);
        let count = config.distance_count().max(1);
        for (to, row) in self.columns.chunks_exact_mut(count).zip(self.rows.chunks_exact(count)) {
            to.iter_mut().zip(row.iter().rev()).for_each(|(to, &x)| *to = x);
        }
    }

    #[inline(always)]
    pub fn of_head(&self, head: usize) -> HeadDistances<'_, S> {
        let count = (2 * self.tokens).saturating_sub(1);
        let range = head * count..(head + 1) * count;
        HeadDistances { tokens: self.tokens, row: &self.rows[range.clone()], column: &self.columns[range] }
    }
}

/// [`Distances`] of one head.
#[derive(Clone, Copy)]
pub struct HeadDistances<'a, S> {
    tokens: usize,
    row: &'a [S],
    column: &'a [S],
}

impl<S: Scalar> HeadDistances<'_, S> {
    /// Adds the distances to a query's scores, which are those of the first keys.
    #[inline(always)]
    pub fn add_to_row(&self, query: usize, scores: &mut [S]) {
        if self.tokens > 0 {
            add(scores, &self.row[self.tokens - 1 - query..][..scores.len()]);
        }
    }

    /// Adds the distances to a key's scores, which are those of the first queries.
    #[inline(always)]
    pub fn add_to_column(&self, key: usize, scores: &mut [S]) {
        if self.tokens > 0 {
            add(scores, &self.column[self.tokens - 1 - key..][..scores.len()]);
        }
    }
}

/// Adds the gradient of [`HeadDistances::add_to_row`] to `d_bias`.
#[inline(always)]
pub fn distance_gradient<S: Scalar>(query: usize, d_scores: &[S], d_bias: &mut [S]) {
    if !d_bias.is_empty() {
        let tokens = d_bias.len().div_ceil(2);
        add(&mut d_bias[tokens - 1 - query..][..d_scores.len()], d_scores);
    }
}

/// Adds the gradient of [`HeadDistances::add_to_column`] to `d_bias`.
#[inline(always)]
pub fn distance_column_gradient<S: Scalar>(key: usize, d_scores: &[S], d_bias: &mut [S]) {
    if !d_bias.is_empty() {
        let tokens = d_bias.len().div_ceil(2);
        for (query, &d) in d_scores.iter().enumerate() {
            d_bias[tokens - 1 + key - query] += d;
        }
    }
}

// Rotary positions: queries and keys are turned by an angle that grows with their position (Su et al. 2021, *RoFormer*,
// arXiv 2104.09864, section 3.2.2).
//
// ```text
// ω_i = θ^(−2i/r)          i < r/2, where r is the number of columns of a head that are turned
// y_i       = x_i cos tω_i − x_{i+r/2} sin tω_i          positions t count from 0
// y_{i+r/2} = x_{i+r/2} cos tω_i + x_i sin tω_i          columns from r on are unchanged
// ```
//
// `(R_i q) · (R_j k)` depends on the positions only through the distance `j − i`. Column `i` is paired with `i + r/2`,
// as in the files of today's models. There is nothing to learn, and the gradient is turned back: `d_x = R_{−t} d_y`.

/// The rotary positions of a layer's queries and keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotary {
    /// `θ`
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
        /// `f`
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

/// The direction of a turn: that of the forward pass or of its gradient.
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
    /// wide. The first token has position `before`.
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
