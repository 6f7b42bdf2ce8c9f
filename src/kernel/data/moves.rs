//! The moves of the points, in the basis: each block's contributions as arrows that lead, tip to tail, from
//! what goes in to the sum.

use crate::numerics::Matrix;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::BlockActivations;
use crate::numerics::projection::{AXES, Projection};
use crate::numerics::vectors::{add_scaled, dot, norm};

/// A point or an arrow in the basis.
pub type Point = [f32; AXES];

/// The moves of one block.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    queries: usize,
    keys: usize,
    /// Row `(h · T + i) · T_k + j` is `α_hij · V_hj W_O^h`; (H·T·T_k, 3)
    terms: Matrix<f32>,
    /// `b_O`
    pub bias: Point,
    /// The input of each query, before anything moves it; (T, 3)
    pub at_rest: Matrix<f32>,
    /// The beginning of each query's arrows: its input, or, without a residual, the zero vector; (T, 3)
    pub from: Matrix<f32>,
    /// Their end: `X + Σ … + b_O`; (T, 3)
    pub to: Matrix<f32>,
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

impl Moves {
    pub fn of(
        projection: &Projection,
        block: &BlockActivations<f32>,
        contributions: &Contributions<f32>,
        has_residual: bool,
    ) -> Self {
        let (queries, keys, heads) = (block.input.rows(), contributions.keys(), block.heads.len());
        let width = block.input.cols();
        let at_rest = projection.points(&block.input);
        let from = if has_residual { at_rest.clone() } else { projection.points(&Matrix::zeros(queries, width)) };
        let mut moves = Self {
            queries,
            keys,
            terms: Matrix::zeros(heads * queries * keys, AXES),
            bias: projection.direction(&contributions.bias),
            at_rest,
            from,
            to: projection.points(&block.summed),
            term_lengths: Matrix::zeros(heads * queries, keys),
            word_lengths: Matrix::zeros(queries, keys),
            lengths: vec![0.0; queries],
            word_shares: Matrix::zeros(queries, keys),
            bias_shares: vec![0.0; queries],
            bias_length: norm(&contributions.bias),
        };
        // What each word adds to one query, (T_k, D), and all of them together.
        let (mut words, mut whole) = (Matrix::zeros(keys, width), vec![0.0; width]);
        for query in 0..queries {
            words.flat_mut().fill(0.0);
            for (head, key) in (0..heads).flat_map(|head| (0..keys).map(move |key| (head, key))) {
                let (term, row) = (contributions.term(head, query, key), head * queries + query);
                moves.terms.row_mut(row * keys + key).copy_from_slice(&projection.direction(term));
                moves.term_lengths.row_mut(row)[key] = norm(term);
                add_scaled(words.row_mut(key), 1.0, term);
            }
            whole.copy_from_slice(&contributions.bias);
            (0..keys).for_each(|key| add_scaled(&mut whole, 1.0, words.row(key)));
            let square = dot(&whole, &whole);
            // A token that does not move has no shares.
            let share = |part: &[f32]| if square > 0.0 { dot(part, &whole) / square } else { 0.0 };
            for key in 0..keys {
                moves.word_lengths.row_mut(query)[key] = norm(words.row(key));
                moves.word_shares.row_mut(query)[key] = share(words.row(key));
            }
            (moves.lengths[query], moves.bias_shares[query]) = (square.sqrt(), share(&contributions.bias));
        }
        moves
    }

    /// `α_hij · V_hj W_O^h` as an arrow.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term(&self, head: usize, query: usize, key: usize) -> Point {
        point(self.terms.row((head * self.queries + query) * self.keys + key))
    }

    /// Its length in the true space.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term_length(&self, head: usize, query: usize, key: usize) -> f32 {
        self.term_lengths.get(head * self.queries + query, key)
    }

    /// `Σ_j α_hij · V_hj W_O^h`: what a head adds to a query, as an arrow.
    ///
    /// # Panics
    /// If there is no such head or query.
    pub fn head(&self, head: usize, query: usize) -> Point {
        sum((0..self.keys).map(|key| self.term(head, query, key)))
    }

    /// The place of a query before anything moves it.
    pub fn rest(&self, query: usize) -> Point {
        point(self.at_rest.row(query))
    }

    /// The beginning of a query's arrows.
    pub fn start(&self, query: usize) -> Point {
        point(self.from.row(query))
    }

    /// The end of a query's arrows.
    pub fn end(&self, query: usize) -> Point {
        point(self.to.row(query))
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

/// Arrows tip to tail.
pub fn sum(arrows: impl Iterator<Item = Point>) -> Point {
    arrows.fold([0.0; AXES], |sum, arrow| std::array::from_fn(|axis| sum[axis] + arrow[axis]))
}

fn point(row: &[f32]) -> Point {
    std::array::from_fn(|axis| row[axis])
}
