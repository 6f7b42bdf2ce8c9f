//! Projections of embedded tokens, `X_row = E[word] + P[position]`.
//!
//! The projection of a sum is the sum of the projections. If a batch has more tokens than there are words and
//! positions, it is less work to compute `E W` and `P W + b` once and to add their rows.

use faer::MatRef;

use crate::numerics::linear::{linear_backward_input, linear_backward_weights, linear_forward};
use crate::numerics::params::{Parameters, TensorId, TensorName};
use crate::numerics::simd::{add, vectorized};
use crate::numerics::table::TableRef;
use crate::numerics::{Matrix, Scalar};

/// The words and positions of a batch's tokens, with the tables that embed them.
#[derive(Clone, Copy)]
pub struct LookUp<'a, S> {
    /// Static vectors `E` (V, D).
    pub embedding: TableRef<'a, S>,
    /// Word of each token; `None` is the zero vector.
    pub words: &'a [Option<usize>],
    /// `P` (T_max, D), without rows if the model has none.
    pub places: MatRef<'a, S>,
    /// Position of each token.
    pub positions: &'a [usize],
}

/// Room for the projected tables and their gradients.
#[derive(Clone, Debug)]
pub struct LookUpCache<S> {
    words: Matrix<S>,
    places: Matrix<S>,
}

impl<S: Scalar> LookUpCache<S> {
    /// Allocates room for projections to at most `width` columns.
    pub fn new(words: usize, places: usize, width: usize) -> Self {
        Self { words: Matrix::zeros(words, width), places: Matrix::zeros(places, width) }
    }
}

fn rows_of<'a, S: Scalar>(numbers: &'a [S], of: TableRef<'_, S>) -> MatRef<'a, S> {
    MatRef::from_row_major_slice(numbers, of.rows(), of.cols())
}

/// Computes `to_row = E[word] W + P[position] W + b`.
#[inline(always)]
pub fn look_up_forward<S: Scalar>(
    from: LookUp<'_, S>,
    [weights, bias]: [TensorId; 2],
    parameters: &Parameters<S>,
    cache: &mut LookUpCache<S>,
    to: &mut [S],
) {
    let (w, b) = (parameters.weights(weights), parameters.values_of(bias));
    let (outputs, table) = (w.ncols(), from.embedding.widened());
    let words = &mut cache.words.flat_mut()[..from.embedding.rows() * outputs];
    let places = &mut cache.places.flat_mut()[..from.places.nrows() * outputs];
    // The bias is added in one table only: that of the positions if there is one.
    let (word_bias, place_bias) = if places.is_empty() { (b, &[][..]) } else { (&[][..], b) };
    linear_forward(rows_of(&table, from.embedding), w, word_bias, words);
    linear_forward(from.places, w, place_bias, places);
    let row = |word: usize| &words[word * outputs..][..outputs];
    let tokens = from.words.iter().zip(from.positions);
    vectorized!(for (to, (&word, &position)) in to.chunks_exact_mut(outputs).zip(tokens) {
        match word {
            Some(word) => to.copy_from_slice(row(word)),
            None if word_bias.is_empty() => to.fill(S::zero()),
            None => to.copy_from_slice(word_bias),
        }
        if !places.is_empty() {
            add(to, &places[position * outputs..][..outputs]);
        }
    });
}

/// Adds the gradients of [`look_up_forward`] to the given ones: those of the weights and the bias, and those of `E` and
/// `P` if the model learns them.
pub fn look_up_backward<S: Scalar>(
    from: LookUp<'_, S>,
    [weights, bias]: [TensorId; 2],
    parameters: &Parameters<S>,
    d: &[S],
    cache: &mut LookUpCache<S>,
    gradient: &mut Parameters<S>,
) {
    let w = parameters.matrix(weights);
    let outputs = w.ncols();
    let d_words = &mut cache.words.flat_mut()[..from.embedding.rows() * outputs];
    let d_places = &mut cache.places.flat_mut()[..from.places.nrows() * outputs];
    let d_bias = gradient.values_of_mut(bias);
    let has_places = !d_places.is_empty();
    let tokens = from.words.iter().zip(from.positions);
    vectorized!({
        d_words.fill(S::zero());
        d_places.fill(S::zero());
        for (d, (&word, &position)) in d.chunks_exact(outputs).zip(tokens) {
            if has_places {
                add(&mut d_places[position * outputs..][..outputs], d);
            }
            match word {
                Some(word) => add(&mut d_words[word * outputs..][..outputs], d),
                // For tokens with a word, the bias gets its gradient through the word's table.
                None if !has_places && !d_bias.is_empty() => add(d_bias, d),
                None => {}
            }
        }
    });

    let (d_w, d_b) = gradient.matrix_and_row_mut(weights, bias);
    let table = from.embedding.widened();
    linear_backward_weights(rows_of(&table, from.embedding), d_words, d_w, if has_places { &mut [] } else { d_b });
    if has_places {
        let (d_w, d_b) = gradient.matrix_and_row_mut(weights, bias);
        linear_backward_weights(from.places, d_places, d_w, d_b);
    }
    for (table, d) in [(TensorName::Embedding, d_words), (TensorName::Positions, d_places)] {
        let d_table = gradient.values_of_mut(table);
        if !d_table.is_empty() {
            linear_backward_input(w, d, d_table);
        }
    }
}
