//! The stage of a model with many layers: one basis for all of them, arrows that lead from layer to layer, and points
//! where the arrows end.

use attune_core::kernel::command::{AxisCommand, SentenceCommand};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::shares::Shares;
use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::{Quantity, StagePoint};
use attune_view::explain::Explanation;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::axes::AxesModel;

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::opened::{ALL, opened, running};
use crate::written::fixture;

fn kernels() -> impl Iterator<Item = (&'static str, Kernel)> {
    ALL.into_iter().flat_map(|name| {
        let lesson = opened(&fixture(name));
        [false, true].map(|raw| {
            let mut kernel = running(&lesson);
            if raw {
                kernel.apply(Command::Axes(AxisCommand::SetRaw(true)));
                assert_eq!(kernel.snapshot().notice, None, "{name}");
            }
            (name, kernel)
        })
    })
}

/// The largest coordinate among some points: what is close is close beside it.
fn size(points: &[[f32; 3]]) -> f32 {
    points.iter().flatten().fold(f32::MIN_POSITIVE, |most: f32, x| most.max(x.abs()))
}

#[track_caller]
fn assert_meet(a: [f32; 3], b: [f32; 3], size: f32, what: &str) {
    assert_close_beside(size, what, a, b, Tolerance::SINGLE_SUMS);
}

#[test]
fn the_arrows_of_every_layer_lead_from_its_points_to_those_of_the_next() {
    for (name, kernel) in kernels() {
        let snapshot = kernel.snapshot();
        let (model, route) = (snapshot.model.as_ref().expect("a model"), RouteModel::of(&snapshot).expect("a route"));
        let blocks = model.architecture.blocks.len();
        for query in 0..model.sentence.tokens.len() {
            for block in 0..blocks {
                let (before, after) = route.way(query, block).expect("a way");
                for by in [ArrowParts::Word, ArrowParts::Head, ArrowParts::Both] {
                    let path = PathModel::of(&snapshot, query, model.architecture.heads_of(block).start, by);
                    let path = path.expect("a path");
                    let size = size(&[path.from, path.to, before, after]);
                    let what = format!("{name}, token {query}, block {block}, {by:?}");
                    assert_meet(path.arrows.last().expect("arrows").to, path.to, size, &what);
                    assert_meet(path.to, after, size, &what);
                    if block > 0 {
                        assert_meet(path.from, before, size, &what);
                    }
                }
            }
            let end = model.sentence.end.row(query);
            assert_eq!(route.way(query, blocks - 1).map(|(_, after)| after.to_vec()), Some(end.to_vec()));
        }
    }
}

/// `γ ⊙ (x − mean x) / σ + β` as it is written, in double precision.
fn normed(x: &[f32], snapshot: &Snapshot, names: [TensorName; 2]) -> Vec<f64> {
    let model = snapshot.model.as_ref().expect("a model");
    let [gain, shift] = names.map(|name| model.parameters.values_of(name));
    let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / x.len() as f64;
    let variance = x.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / x.len() as f64;
    let deviation = (variance + model.architecture.norm_form.epsilon).sqrt();
    x.iter()
        .zip(gain.iter().zip(shift))
        .map(|(x, (gain, shift))| f64::from(*gain) * (f64::from(*x) - mean) / deviation + f64::from(*shift))
        .collect()
}

#[test]
fn all_layers_are_seen_along_the_same_axes() {
    const LAST: [TensorName; 2] = [TensorName::FinalNormGain, TensorName::FinalNormBias];
    const EMBEDDING: [TensorName; 2] = [TensorName::EmbeddingNormGain, TensorName::EmbeddingNormBias];
    for (name, kernel) in kernels() {
        let snapshot = kernel.snapshot();
        let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
        let (projection, is_raw) = (&space.projection, space.basis.raw);
        let is_gpt2 = name.starts_with("gpt2");
        let plain = |x: &[f32]| x.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        let seen = |x: &[f32], is_word: bool| match (is_raw, is_gpt2) {
            (true, _) => plain(x),
            (false, true) => normed(x, &snapshot, LAST),
            (false, false) if is_word => normed(x, &snapshot, EMBEDDING),
            (false, false) => plain(x),
        };
        let check = |found: &[f32], x: &[f32], is_word: bool, what: &str| {
            let x = seen(x, is_word);
            for (axis, found) in found.iter().enumerate() {
                let along = x.iter().zip(projection.mean()).zip(projection.axis(axis));
                let wanted: f64 = along.map(|((x, mean), u)| (x - f64::from(*mean)) * f64::from(*u)).sum();
                let size = x.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
                assert_close_beside(size, format!("{name}, {what}"), *found, wanted, Tolerance::SINGLE_SUMS);
            }
        };
        let (sentence, route) = (&model.sentence, RouteModel::of(&snapshot).expect("a route"));
        for word in [0, 7, space.vocabulary.len() - 1] {
            check(space.points.row(word), &space.vectors.row(word), true, "a word");
        }
        for token in 0..sentence.tokens.len() {
            for (number, block) in sentence.activations.blocks.iter().enumerate() {
                let (_, after) = route.way(token, number).expect("a way");
                check(&after, block.output.row(token), false, "a layer");
                check(&sentence.moves[number].rest(token), block.input.row(token), false, "what goes in");
            }
        }
        // Behind the norm, the last points are those of the contextual vectors themselves.
        if !is_raw {
            for token in 0..sentence.tokens.len() {
                let output = plain(sentence.activations.output.row(token));
                let along = output.iter().zip(projection.mean()).zip(projection.axis(0));
                let wanted: f64 = along.map(|((x, mean), u)| (x - f64::from(*mean)) * f64::from(*u)).sum();
                let size = 1.0 + wanted.abs();
                assert_close_beside(size, token, sentence.end.get(token, 0), wanted, Tolerance::SINGLE_SUMS);
            }
        }
    }
}

/// The mean of the rows, and how they vary along a direction.
fn mean_and_variance(rows: &[Vec<f64>], along: &[f32]) -> (Vec<f64>, f64, f64) {
    let (count, width) = (rows.len() as f64, along.len());
    let mean: Vec<f64> = (0..width).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / count).collect();
    let less = |row: &Vec<f64>| row.iter().zip(&mean).map(|(x, mean)| x - mean).collect::<Vec<f64>>();
    let centred: Vec<Vec<f64>> = rows.iter().map(less).collect();
    let on = |row: &Vec<f64>| row.iter().zip(along).map(|(x, u)| x * f64::from(*u)).sum::<f64>().powi(2);
    let total = centred.iter().flatten().map(|x| x * x).sum::<f64>();
    (mean, centred.iter().map(on).sum(), total)
}

#[test]
fn the_axes_are_fitted_to_every_layer_and_to_no_first_token() {
    for name in ALL {
        let mut kernel = running(&opened(&fixture(name)));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![3, 45, 311, 9, 270, 45, 88])));
        kernel.apply(Command::Axes(AxisCommand::SetRaw(true)));
        kernel.apply(Command::Axes(AxisCommand::Refit));
        let snapshot = kernel.snapshot();
        assert_eq!(snapshot.notice, None, "{name}");
        let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
        let (sentence, row) =
            (&model.sentence, |of: &Matrix<f32>, i: usize| of.row(i).iter().map(|x| f64::from(*x)).collect());
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (i, token) in sentence.tokens.iter().enumerate().skip(1) {
            rows.push(row(&space.vectors.widened(), token.word.expect("a word")));
            rows.push(row(&sentence.activations.input, i));
            rows.extend(sentence.activations.blocks.iter().map(|block| row(&block.output, i)));
        }
        // The first axis may be one with a meaning; the next is the one on which the vectors vary most of all others.
        let fitted = usize::from(space.basis.meaning().is_some());
        let (mean, along, total) = mean_and_variance(&rows, space.projection.axis(fitted));
        assert_close(name, space.projection.mean(), &mean, Tolerance::SINGLE_SUMS);
        let width = mean.len();
        let all = Matrix::from_fn(rows.len(), width, |i, j| rows[i][j] as f32);
        let share = Shares::of_variance(&space.projection, &all).expect("they vary").along(fitted);
        assert_close(name, share, along / total, Tolerance::SINGLE_SUMS);
        // No other direction shows more: the axis is where they vary most.
        for other in 0..mean.len() {
            let mut unit: Vec<f32> = (0..mean.len()).map(|j| f32::from(u8::from(j == other))).collect();
            for meaning in (0..fitted).map(|axis| space.projection.axis(axis)) {
                let inside = meaning[other];
                unit.iter_mut().zip(meaning).for_each(|(unit, &axis)| *unit -= inside * axis);
            }
            let length = norm(&unit);
            unit.iter_mut().for_each(|unit| *unit /= length);
            assert!(mean_and_variance(&rows, &unit).1 <= along * 1.000_1, "{name}: dimension {other}");
        }
        let said = AxesModel::of(&snapshot).expect("axes").about;
        assert!(said.contains("in all layers and without first tokens"), "{said}");
    }
}

#[test]
fn the_norm_in_front_of_the_picture_can_be_taken_away_undone_and_kept() {
    let lesson = opened(&fixture("gpt2-wild"));
    let mut kernel = running(&lesson);
    let points = |kernel: &Kernel| kernel.snapshot().space.expect("a space").points.clone();
    let behind = points(&kernel);
    kernel.apply(Command::Axes(AxisCommand::SetRaw(true)));
    let raw = points(&kernel);
    assert_ne!(behind, raw);
    let saved = Saved::of(&kernel.snapshot());
    kernel.apply(Command::Undo);
    assert_eq!(points(&kernel), behind);
    kernel.apply(Command::Redo);
    assert_eq!(points(&kernel), raw);
    kernel.apply(Command::Axes(AxisCommand::ResetAll));
    assert_eq!(points(&kernel), behind);
    let mut again = Kernel::open(lesson, Some(saved));
    again.settle();
    assert_eq!(points(&again), raw);
}

#[test]
fn a_point_of_any_layer_says_where_its_place_comes_from() {
    for (name, kernel) in kernels() {
        let snapshot = kernel.snapshot();
        for of in [StagePoint::Word(5), StagePoint::Static(1), StagePoint::After(1, 1), StagePoint::Contextual(1)] {
            let told = Explanation::of(&snapshot, Quantity::Coordinate.of_point(of, 0)).expect("an entry");
            let (sum, value) = (told.worked.value.expect("a rule"), f64::from(told.value));
            assert_close_beside(1.0 + value.abs(), format!("{name}, {of:?}"), sum, value, Tolerance::SINGLE_SUMS);
        }
    }
}
