//! The share of what is drawn that the axes show, as a plain computation gives it.

use attune_core::kernel::Snapshot;
use attune_core::kernel::snapshot::SentenceSnapshot;
use attune_view::view_model::axes::StageShares;

use super::close::{Tolerance, assert_close};

pub type Rows = Vec<Vec<f64>>;

pub fn row(row: &[f32]) -> Vec<f64> {
    row.iter().map(|x| f64::from(*x)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Directions of length 1 at right angles that span the same.
fn spanning(axes: &[Vec<f64>]) -> Rows {
    let mut basis: Rows = Vec::new();
    for axis in axes {
        let mut rest = axis.clone();
        for other in &basis {
            let along = dot(&rest, other);
            rest.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let length = dot(&rest, &rest).sqrt();
        /// Of an axis that lies in the span of the others, rounding is left.
        const ROUNDING: f64 = Tolerance::SINGLE_NORMS.part();
        if length > ROUNDING {
            basis.push(rest.iter().map(|x| x / length).collect());
        }
    }
    basis
}

/// The share of the squared lengths of some rows in the span of some axes.
pub fn share(rows: &Rows, axes: &[Vec<f64>]) -> f64 {
    let basis = spanning(axes);
    let whole: f64 = rows.iter().map(|row| dot(row, row)).sum();
    rows.iter().flat_map(|row| basis.iter().map(move |axis| dot(row, axis).powi(2))).sum::<f64>() / whole
}

pub fn centred(rows: &Rows) -> Rows {
    let mean: Vec<f64> =
        (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64).collect();
    rows.iter().map(|row| row.iter().zip(&mean).map(|(x, mean)| x - mean).collect()).collect()
}

/// The vocabulary, and the static vectors and outputs of the tokens of both sentences.
fn drawn(snapshot: &Snapshot) -> (Rows, Rows, Rows) {
    let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
    let words = (0..space.vectors.rows()).map(|word| row(&space.vectors.row(word))).collect();
    let nothing = vec![0.0; space.vectors.cols()];
    let sentences = || std::iter::once(&model.sentence).chain(model.second.as_ref().map(|second| &second.other));
    let tokens = sentences().flat_map(|sentence| sentence.tokens.iter());
    let from = tokens.map(|token| token.word.map_or(nothing.clone(), |word| row(&space.vectors.row(word)))).collect();
    let outputs = |sentence: &SentenceSnapshot| {
        let output = &sentence.activations.blocks.last().expect("a block").output;
        (0..output.rows()).map(|token| row(output.row(token))).collect::<Rows>()
    };
    (words, from, sentences().flat_map(|sentence| outputs(sentence)).collect())
}

/// Compares all shares of a sentence's stage, in space and in two planes.
#[track_caller]
pub fn check(name: &str, snapshot: &Snapshot) {
    let (words, from, to) = drawn(snapshot);
    let moves: Rows =
        from.iter().zip(&to).map(|(from, to)| to.iter().zip(from).map(|(to, from)| to - from).collect()).collect();
    let space = snapshot.space.as_ref().expect("a space");
    let axes = [0, 1, 2].map(|axis| row(space.projection.axis(axis)));
    let shares = StageShares::of(snapshot);
    for (flat_along, seen) in [(None, &axes[..]), (Some(2), &axes[..2]), (Some(0), &axes[1..])] {
        let expected = [share(&centred(&words), seen), share(&centred(&to), seen), share(&moves, seen)];
        let shown = shares.shown(1.0, flat_along);
        let names: Vec<&str> = shown.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["words", "outputs", "moves"], "{name}");
        let shown: Vec<f32> = shown.iter().map(|(_, share)| *share).collect();
        assert_close(format!("{name}: {names:?}"), shown, expected, Tolerance::SINGLE_SUMS);
        let at_rest = shares.shown(0.0, flat_along);
        assert_eq!(at_rest, shares.shown(1.0, flat_along)[..1], "{name}: nothing has moved");
    }
}
