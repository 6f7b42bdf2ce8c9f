//! The moves of the tokens' points in the 3D picture: each block's contributions as arrows, tip to tail, from the
//! block's input to its output.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use crate::numerics::Matrix;
use crate::numerics::contributions::{BlockPart, Contributions};
use crate::numerics::model::activations::BlockActivations;
use crate::numerics::projection::AXES;
use crate::numerics::projection::LensProjection;
use crate::numerics::vectors::{add_scaled, dot, norm};

/// A point or an arrow in the coordinates of the picture.
pub type Point = [f32; AXES];

/// The moves of one block. `L` stands for the block's norms, each with `σ` held; without norms after the heads, `L t =
/// t`.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    /// `α_hij · L(V_hj W_O^h)` in row `(h · T + i) · T_k + j`; (H·T·T_k, 3)
    terms: Matrix<f32>,
    /// Arrows that do not come from a head, in the order of the forward pass.
    pub parts: Vec<PartMoves>,
    /// The first arrow if the picture is seen through a norm: the move of the input's point when the norm's `σ` changes
    /// from that of the input to that of the block's output. `None` without such a norm.
    pub rescaled: Option<Rescaled>,
    /// Point of each query's input; (T, 3)
    pub at_rest: Matrix<f32>,
    /// Start of each query's arrows: the point of its input, or of the zero vector without a residual; (T, 3)
    pub from: Matrix<f32>,
    /// End of each query's arrows: the point of the block's output; (T, 3)
    pub to: Matrix<f32>,
    /// `‖α_hij · L(V_hj W_O^h)‖` in all `D` dimensions; (H·T, T_k)
    pub term_lengths: Matrix<f32>,
    /// `‖Σ_h α_hij · L(V_hj W_O^h)‖`: the length of what a word adds through all heads; (T, T_k)
    pub word_lengths: Matrix<f32>,
    /// `‖Δ_i‖`, where `Δ_i` is a query's whole move, the sum of all its arrows; (T)
    pub lengths: Vec<f32>,
    /// A word's share of the move, `Δ_i · Σ_h α_hij L(V_hj W_O^h) / ‖Δ_i‖²`; (T, T_k). With the shares of the parts
    /// they sum to 1. The share of a word that pulls against the move is negative.
    pub word_shares: Matrix<f32>,
}

/// `L x_i − norm(x_i)` of each query, where `norm` is the norm that the picture is seen through and `L` the same norm
/// with the `σ` of the block's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescaled {
    /// Arrows in the picture; (T, 3)
    arrows: Matrix<f32>,
    /// The arrows in all `D` dimensions; (T, D)
    pub vectors: Matrix<f32>,
}

impl Rescaled {
    /// Returns a query's arrow.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn arrow(&self, query: usize) -> Point {
        point(self.arrows.row(query))
    }
}

/// A part of each query's move that does not come from a head.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMoves {
    pub part: BlockPart,
    /// Arrow of each query; (T, 3)
    arrows: Matrix<f32>,
    /// Length for each query in all `D` dimensions; (T)
    pub lengths: Vec<f32>,
    /// Share of each query's move, as in [`Moves::word_shares`]; (T)
    pub shares: Vec<f32>,
}

impl PartMoves {
    /// Returns a query's arrow.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn arrow(&self, query: usize) -> Point {
        point(self.arrows.row(query))
    }
}

impl Moves {
    /// Computes the moves of a block. Points and arrows are projected through `sight`; lengths and shares are of the
    /// unprojected vectors.
    pub fn of(
        sight: &LensProjection,
        block: &BlockActivations<f32>,
        contributions: &Contributions<f32>,
        has_residual: bool,
    ) -> Self {
        let heads = if contributions.has_terms() { block.heads.len() } else { 0 };
        let (queries, keys) = (block.input.rows(), contributions.keys());
        let width = block.input.cols();
        let at_rest = sight.points(&block.input);
        let from = if has_residual { at_rest.clone() } else { sight.points(&Matrix::zeros(queries, width)) };
        // The `1 / σ` that the picture's norm holds, and 1 without such a norm.
        let held = sight.shrinking(&block.output);
        let scaled = |query: usize, arrow: Point| arrow.map(|x| x * held.as_ref().map_or(1.0, |held| held[query]));
        let own = sight.shrinking(&block.input).filter(|_| has_residual);
        let rescaled = own.zip(held.as_ref()).map(|(own, held)| {
            let (mut arrows, mut vectors) = (Matrix::zeros(queries, AXES), Matrix::zeros(queries, width));
            for query in 0..queries {
                let (input, factor) = (block.input.row(query), held[query] - own[query]);
                arrows.row_mut(query).copy_from_slice(&sight.direction(input).map(|x| x * factor));
                sight.carry(input, factor, vectors.row_mut(query));
            }
            Rescaled { arrows, vectors }
        });
        // The factor `1 / σ` of a term depends only on the query, and its vector only on the head and the key.
        let carried = contributions.carried();
        let shrinking: Vec<f32> = (0..queries).map(|query| contributions.shrinking(query)).collect();
        let by_key: Vec<(Point, f32)> =
            (0..heads * keys).map(|row| carried.row(row)).map(|row| (sight.direction(row), norm(row))).collect();
        let mut terms = Matrix::zeros(heads * queries * keys, AXES);
        let mut term_lengths = Matrix::zeros(heads * queries, keys);
        // `α_hij / σ_i`, in rows as in `term_lengths`.
        let mut weights = Matrix::zeros(heads * queries, keys);
        let mut arrows = terms.flat_mut().as_chunks_mut().0.iter_mut();
        for row in 0..heads * queries {
            let (head, query) = (row / queries, row % queries);
            let lengths = weights.row_mut(row).iter_mut().zip(term_lengths.row_mut(row));
            let lengths = lengths.zip(&by_key[head * keys..]).zip(&mut arrows);
            for (key, (((weight, length), (direction, norm)), arrow)) in lengths.enumerate() {
                *weight = contributions.weight(block, head, query, key) * shrinking[query];
                *arrow = scaled(query, direction.map(|x| *weight * x));
                *length = weight.abs() * norm;
            }
        }
        let word_lengths = if heads == 1 { term_lengths.clone() } else { word_lengths(&carried, &weights, queries) };

        let mut whole = contributions.added.clone();
        (0..queries).for_each(|query| contributions.carry(query, whole.row_mut(query)));
        let parts = contributions.parts().iter().map(|&part| {
            let mut moves = PartMoves {
                part,
                arrows: Matrix::zeros(queries, AXES),
                lengths: vec![0.0; queries],
                shares: vec![0.0; queries],
            };
            let vectors = (0..queries).map(|query| contributions.part(part, block, query)).collect::<Vec<_>>();
            for (query, vector) in vectors.iter().enumerate() {
                moves.arrows.row_mut(query).copy_from_slice(&scaled(query, sight.direction(vector)));
                moves.lengths[query] = norm(vector);
                add_scaled(whole.row_mut(query), 1.0, vector);
            }
            (moves, vectors)
        });
        let parts: Vec<_> = parts.collect();
        let squares: Vec<f32> = (0..queries).map(|query| dot(whole.row(query), whole.row(query))).collect();
        // A token that does not move has no shares.
        let share = |query: usize, along: f32| if squares[query] > 0.0 { along / squares[query] } else { 0.0 };
        let parts = parts.into_iter().map(|(mut moves, vectors)| {
            let along = |query: usize| share(query, dot(&vectors[query], whole.row(query)));
            moves.shares = (0..queries).map(along).collect();
            moves
        });
        let parts = parts.collect();
        // `Δ_i · L(V_hj W_O^h)` without the factor 1 / σ, of all queries, heads and keys at once.
        let mut along = Matrix::zeros(queries, heads * keys);
        matmul(along.view_mut(), Accum::Replace, whole.view(), carried.view().transpose(), 1.0, Par::Seq);
        let mut word_shares = Matrix::zeros(queries, keys);
        for query in 0..queries {
            let shares = word_shares.row_mut(query);
            for (head, along) in along.row(query).chunks_exact(keys.max(1)).enumerate() {
                let terms = along.iter().zip(weights.row(head * queries + query));
                shares.iter_mut().zip(terms).for_each(|(share, (along, weight))| *share += weight * along);
            }
            shares.iter_mut().for_each(|along| *along = share(query, *along));
        }
        Self {
            terms,
            parts,
            rescaled,
            at_rest,
            from,
            to: sight.points(&block.output),
            term_lengths,
            word_lengths,
            lengths: squares.iter().map(|square| square.sqrt()).collect(),
            word_shares,
        }
    }

    /// Returns `α_hij · L(V_hj W_O^h)` as an arrow.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term(&self, head: usize, query: usize, key: usize) -> Point {
        point(self.terms.row((head * self.queries() + query) * self.keys() + key))
    }

    /// Returns `‖α_hij · L(V_hj W_O^h)‖` in all `D` dimensions.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term_length(&self, head: usize, query: usize, key: usize) -> f32 {
        self.term_lengths.get(head * self.queries() + query, key)
    }

    /// Returns what a head adds to a query, `Σ_j α_hij · L(V_hj W_O^h)`, as an arrow.
    ///
    /// # Panics
    /// If there is no such head or query.
    pub fn head(&self, head: usize, query: usize) -> Point {
        sum((0..self.keys()).map(|key| self.term(head, query, key)))
    }

    /// Returns the point of a query's input.
    pub fn rest(&self, query: usize) -> Point {
        point(self.at_rest.row(query))
    }

    /// Returns the start of a query's arrows.
    pub fn start(&self, query: usize) -> Point {
        point(self.from.row(query))
    }

    /// Returns the end of a query's arrows.
    pub fn end(&self, query: usize) -> Point {
        point(self.to.row(query))
    }

    /// Returns the number of heads whose terms are known: none in a recorded block without its output map.
    pub fn heads(&self) -> usize {
        self.term_lengths.rows() / self.queries().max(1)
    }

    pub fn keys(&self) -> usize {
        self.word_shares.cols()
    }

    pub fn queries(&self) -> usize {
        self.word_shares.rows()
    }
}

/// Computes `‖Σ_h α_hij · L(V_hj W_O^h)‖` (T, T_k) from `weights` (H·T, T_k). For each key it uses the products of the
/// heads' vectors with each other, in double precision, because heads that pull against each other nearly cancel.
fn word_lengths(carried: &Matrix<f32>, weights: &Matrix<f32>, queries: usize) -> Matrix<f32> {
    let keys = weights.cols();
    let heads = carried.rows() / keys.max(1);
    let mut lengths = Matrix::zeros(queries, keys);
    let (mut own, mut products) = (Matrix::<f64>::zeros(heads, carried.cols()), Matrix::<f64>::zeros(heads, heads));
    // Weights of one query and key; each key costs as many products as there are pairs of heads.
    let mut of_heads = vec![0.0; heads];
    for key in 0..keys {
        for head in 0..heads {
            let row = own.row_mut(head).iter_mut().zip(carried.row(head * keys + key));
            row.for_each(|(to, &x)| *to = f64::from(x));
        }
        matmul(products.view_mut(), Accum::Replace, own.view(), own.view().transpose(), 1.0, Par::Seq);
        for query in 0..queries {
            for (head, weight) in of_heads.iter_mut().enumerate() {
                *weight = f64::from(weights.get(head * queries + query, key));
            }
            let row = |a: usize| products.row(a).iter().zip(&of_heads).map(|(x, weight)| weight * x).sum::<f64>();
            let square: f64 = of_heads.iter().enumerate().map(|(a, weight)| weight * row(a)).sum();
            // Rounding may leave a negative square; NaN stays.
            lengths.row_mut(query)[key] = (if square < 0.0 { 0.0 } else { square }).sqrt() as f32;
        }
    }
    lengths
}

/// Adds arrows tip to tail.
pub fn sum(arrows: impl Iterator<Item = Point>) -> Point {
    arrows.fold([0.0; AXES], |sum, arrow| std::array::from_fn(|axis| sum[axis] + arrow[axis]))
}

/// Returns the first three entries of a row as a point.
pub fn point(row: &[f32]) -> Point {
    std::array::from_fn(|axis| row[axis])
}
