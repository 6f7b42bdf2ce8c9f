//! The moves of the points, in the basis: each block's contributions as arrows that lead, tip to tail, from
//! what goes in to what comes out.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use crate::numerics::Matrix;
use crate::numerics::contributions::{BlockPart, Contributions};
use crate::numerics::model::activations::BlockActivations;
use crate::numerics::projection::AXES;
use crate::numerics::projection::LensProjection;
use crate::numerics::vectors::{add_scaled, dot, norm};

/// A point or an arrow in the basis.
pub type Point = [f32; AXES];

/// The moves of one block. `L` is what its norms make of a term; without a norm after the heads, the term itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    /// Row `(h · T + i) · T_k + j` is `α_hij · L(V_hj W_O^h)`; (H·T·T_k, 3)
    terms: Matrix<f32>,
    /// Arrows that no head adds, in the order of the forward pass.
    pub parts: Vec<PartMoves>,
    /// The first arrow where the picture is seen through a norm: its effect on the input, as the whole grows.
    pub rescaled: Option<Rescaled>,
    /// The input of each query, before anything moves it; (T, 3)
    pub at_rest: Matrix<f32>,
    /// The beginning of each query's arrows: its input, or, without a residual, the zero vector; (T, 3)
    pub from: Matrix<f32>,
    /// Their end, the block's output; (T, 3)
    pub to: Matrix<f32>,
    /// `‖α_hij · L(V_hj W_O^h)‖` in the true space, a row as in `terms`; (H·T, T_k)
    pub term_lengths: Matrix<f32>,
    /// `‖Σ_h α_hij · L(V_hj W_O^h)‖`: what a word adds through all heads; (T, T_k)
    pub word_lengths: Matrix<f32>,
    /// `‖Δ_i‖` of the whole move `Δ_i`, of all arrows together; (T)
    pub lengths: Vec<f32>,
    /// How much of the move is a word's: `Δ_i · Σ_h α_hij L(V_hj W_O^h) / ‖Δ_i‖²`. With those of the parts they
    /// sum to 1; one that pulls back is negative. (T, T_k)
    pub word_shares: Matrix<f32>,
}

/// `L x_i − norm(x_i)` of each query, where `L` is the norm in front of the picture with the `σ` of the block's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescaled {
    /// (T, 3)
    arrows: Matrix<f32>,
    /// Behind the norm, in the true space; (T, D)
    pub vectors: Matrix<f32>,
}

impl Rescaled {
    /// # Panics
    /// If there is no such query.
    pub fn arrow(&self, query: usize) -> Point {
        point(self.arrows.row(query))
    }
}

/// A part of each query's move that no head adds.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMoves {
    pub part: BlockPart,
    /// (T, 3)
    arrows: Matrix<f32>,
    /// In the true space; (T)
    pub lengths: Vec<f32>,
    /// As those of the words; (T)
    pub shares: Vec<f32>,
}

impl PartMoves {
    /// # Panics
    /// If there is no such query.
    pub fn arrow(&self, query: usize) -> Point {
        point(self.arrows.row(query))
    }
}

impl Moves {
    /// Places and arrows are as the picture has them; lengths and shares are of the vectors as they are.
    pub fn of(
        sight: &LensProjection,
        block: &BlockActivations<f32>,
        contributions: &Contributions<f32>,
        has_residual: bool,
    ) -> Self {
        let (queries, keys, heads) = (block.input.rows(), contributions.keys(), block.heads.len());
        let width = block.input.cols();
        let at_rest = sight.points(&block.input);
        let from = if has_residual { at_rest.clone() } else { sight.points(&Matrix::zeros(queries, width)) };
        // As the picture holds the `σ` of the whole: 1 where nothing is in front of it.
        let held = sight.shrinking(&block.output);
        let seen = |query: usize, arrow: Point| arrow.map(|x| x * held.as_ref().map_or(1.0, |held| held[query]));
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
        // The norm's σ belongs to the query, all else of a term but its weight to the key.
        let carried = contributions.carried();
        let shrinking: Vec<f32> = (0..queries).map(|query| contributions.shrinking(query)).collect();
        let by_key: Vec<(Point, f32)> =
            (0..heads * keys).map(|row| carried.row(row)).map(|row| (sight.direction(row), norm(row))).collect();
        let mut terms = Matrix::zeros(heads * queries * keys, AXES);
        let mut term_lengths = Matrix::zeros(heads * queries, keys);
        // `α_hij / σ_i`, a row as in `term_lengths`.
        let mut weights = Matrix::zeros(heads * queries, keys);
        let mut arrows = terms.flat_mut().as_chunks_mut().0.iter_mut();
        for row in 0..heads * queries {
            let (head, query) = (row / queries, row % queries);
            let lengths = weights.row_mut(row).iter_mut().zip(term_lengths.row_mut(row));
            let lengths = lengths.zip(&by_key[head * keys..]).zip(&mut arrows);
            for (key, (((weight, length), (direction, norm)), arrow)) in lengths.enumerate() {
                *weight = contributions.weight(block, head, query, key) * shrinking[query];
                *arrow = seen(query, direction.map(|x| *weight * x));
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
                moves.arrows.row_mut(query).copy_from_slice(&seen(query, sight.direction(vector)));
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
        // `Δ_i · L(V_hj W_O^h)` but for the σ, of all queries, heads and keys at once.
        let mut along = Matrix::zeros(queries, heads * keys);
        matmul(along.view_mut(), Accum::Replace, whole.view(), carried.view().transpose(), 1.0, Par::Seq);
        let mut word_shares = Matrix::zeros(queries, keys);
        for query in 0..queries {
            let shares = word_shares.row_mut(query);
            for (head, along) in along.row(query).chunks_exact(keys).enumerate() {
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

    /// `α_hij · L(V_hj W_O^h)` as an arrow.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term(&self, head: usize, query: usize, key: usize) -> Point {
        point(self.terms.row((head * self.queries() + query) * self.keys() + key))
    }

    /// Its length in the true space.
    ///
    /// # Panics
    /// If there is no such head, query or key.
    pub fn term_length(&self, head: usize, query: usize, key: usize) -> f32 {
        self.term_lengths.get(head * self.queries() + query, key)
    }

    /// `Σ_j α_hij · L(V_hj W_O^h)`: what a head adds to a query, as an arrow.
    ///
    /// # Panics
    /// If there is no such head or query.
    pub fn head(&self, head: usize, query: usize) -> Point {
        sum((0..self.keys()).map(|key| self.term(head, query, key)))
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
        self.term_lengths.rows() / self.queries()
    }

    pub fn keys(&self) -> usize {
        self.word_shares.cols()
    }

    pub fn queries(&self) -> usize {
        self.word_shares.rows()
    }
}

/// `‖Σ_h α_hij · L(V_hj W_O^h)‖` (T, T_k), of `weights` (H·T, T_k): for each key by the products of the heads' vectors
/// with each other, in double precision, as heads that pull against each other leave little.
fn word_lengths(carried: &Matrix<f32>, weights: &Matrix<f32>, queries: usize) -> Matrix<f32> {
    let keys = weights.cols();
    let heads = carried.rows() / keys;
    let mut lengths = Matrix::zeros(queries, keys);
    let (mut own, mut products) = (Matrix::<f64>::zeros(heads, carried.cols()), Matrix::<f64>::zeros(heads, heads));
    // Of one query and key: as many products follow as there are pairs of heads.
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
            // Rounding may leave less than nothing; NaN stays.
            lengths.row_mut(query)[key] = (if square < 0.0 { 0.0 } else { square }).sqrt() as f32;
        }
    }
    lengths
}

/// Arrows tip to tail.
pub fn sum(arrows: impl Iterator<Item = Point>) -> Point {
    arrows.fold([0.0; AXES], |sum, arrow| std::array::from_fn(|axis| sum[axis] + arrow[axis]))
}

/// The first entries of a row as a point.
pub fn point(row: &[f32]) -> Point {
    std::array::from_fn(|axis| row[axis])
}
