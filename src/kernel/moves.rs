//! What moves the points, in the basis: each block's contributions as arrows that lead, tip to tail, from
//! what goes in to the sum.

use crate::numerics::Matrix;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::BlockActivations;
use crate::numerics::projection::{AXES, Projection};
use crate::numerics::vectors::{add_scaled, dot, norm};

/// A point or an arrow in the basis.
pub type Point = [f32; AXES];

/// Of one block.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    queries: usize,
    keys: usize,
    /// Row `(h · T + i) · T_k + j` is `α_hij · V_hj W_O^h`; (H·T·T_k, 3)
    terms: Matrix<f32>,
    /// `b_O`
    pub bias: Point,
    /// Where the arrows of each query begin: what goes in, or, without a residual, the zero vector; (T, 3)
    pub from: Matrix<f32>,
    /// Where they end: `X + Σ … + b_O`; (T, 3)
    pub to: Matrix<f32>,
    /// What comes out of the block, after a norm or a feed-forward layer where there is one; (T, 3)
    pub output: Matrix<f32>,
    /// `‖α_hij · V_hj W_O^h‖` in the true space, a row as in `terms`; (H·T, T_k)
    pub term_lengths: Matrix<f32>,
    /// `‖Σ_h α_hij · V_hj W_O^h‖`: what a word adds through all heads; (T, T_k)
    pub word_lengths: Matrix<f32>,
    /// `‖Δ_i‖` of the whole move `Δ_i = Σ_h Σ_j α_hij · V_hj W_O^h + b_O`; (T)
    pub lengths: Vec<f32>,
    /// How much of the move is a word's: `Δ_i · Σ_h α_hij V_hj W_O^h / ‖Δ_i‖²`. With the bias's share they
    /// sum to 1; one that pulls back is negative. (T, T_k)
    pub word_shares: Matrix<f32>,
    /// The same of `b_O`; (T)
    pub bias_shares: Vec<f32>,
    /// `‖b_O‖`
    pub bias_length: f32,
}

/// Lengths and shares of one query's move, in the true space.
struct Measured {
    terms: Vec<Vec<f32>>,
    words: Vec<f32>,
    shares: Vec<f32>,
    bias_share: f32,
    length: f32,
}

fn measure(contributions: &Contributions<f32>, (heads, keys): (usize, usize), query: usize) -> Measured {
    let word = |key: usize| {
        let mut sum = contributions.term(0, query, key).to_vec();
        (1..heads).for_each(|head| add_scaled(&mut sum, 1.0, contributions.term(head, query, key)));
        sum
    };
    let words: Vec<Vec<f32>> = (0..keys).map(word).collect();
    let mut whole = contributions.bias.clone();
    words.iter().for_each(|word| add_scaled(&mut whole, 1.0, word));
    let square = dot(&whole, &whole);
    // A token that does not move has no shares.
    let share = |part: &[f32]| if square > 0.0 { dot(part, &whole) / square } else { 0.0 };
    Measured {
        terms: (0..heads)
            .map(|head| (0..keys).map(|key| norm(contributions.term(head, query, key))).collect())
            .collect(),
        shares: words.iter().map(|word| share(word)).collect(),
        words: words.iter().map(|word| norm(word)).collect(),
        bias_share: share(&contributions.bias),
        length: square.sqrt(),
    }
}

impl Moves {
    pub fn of(
        projection: &Projection,
        block: &BlockActivations<f32>,
        contributions: &Contributions<f32>,
        has_residual: bool,
    ) -> Self {
        let (queries, keys, heads) = (block.input.rows(), contributions.keys(), block.heads.len());
        let mut terms = Matrix::zeros(heads * queries * keys, AXES);
        for row in 0..terms.rows() {
            let (head, query, key) = (row / (queries * keys), row / keys % queries, row % keys);
            terms.row_mut(row).copy_from_slice(&projection.direction(contributions.term(head, query, key)));
        }
        let nothing = || Matrix::zeros(queries, block.input.cols());
        let measured: Vec<Measured> = (0..queries).map(|query| measure(contributions, (heads, keys), query)).collect();
        Self {
            queries,
            keys,
            terms,
            bias: projection.direction(&contributions.bias),
            from: if has_residual { projection.points(&block.input) } else { projection.points(&nothing()) },
            to: projection.points(&block.summed),
            output: projection.points(&block.output),
            term_lengths: Matrix::from_fn(heads * queries, keys, |row, key| {
                measured[row % queries].terms[row / queries][key]
            }),
            word_lengths: Matrix::from_fn(queries, keys, |query, key| measured[query].words[key]),
            word_shares: Matrix::from_fn(queries, keys, |query, key| measured[query].shares[key]),
            bias_length: norm(&contributions.bias),
            bias_shares: measured.iter().map(|measured| measured.bias_share).collect(),
            lengths: measured.iter().map(|measured| measured.length).collect(),
        }
    }

    /// `α_hij · V_hj W_O^h` as an arrow.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term(&self, head: usize, query: usize, key: usize) -> Point {
        let row = self.terms.row((head * self.queries + query) * self.keys + key);
        std::array::from_fn(|axis| row[axis])
    }

    /// Its length in the true space.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term_length(&self, head: usize, query: usize, key: usize) -> f32 {
        self.term_lengths.get(head * self.queries + query, key)
    }

    pub fn heads(&self) -> usize {
        self.terms.rows() / (self.queries * self.keys)
    }

    pub fn keys(&self) -> usize {
        self.keys
    }

    pub fn queries(&self) -> usize {
        self.queries
    }
}
