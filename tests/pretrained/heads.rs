//! Measures of heads, sinks and the lengths of what is added, against NumPy's in float64: `oracle/heads.py`.

use std::collections::HashSet;
use std::sync::Arc;

use attune_core::kernel::command::{SentenceCommand, WeightCommand};
use attune_core::kernel::{Command, Snapshot};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::head_measures::key_weights;
use attune_engine::numerics::head_measures::{HeadMeasure, HeadPatterns, MeasuredToken};
use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::{Entry, Quantity};
use attune_view::explain::Explanation;
use attune_view::explain::lines::LinePiece;
use attune_view::view_model::attention::{AttentionMaps, Reading};
use attune_view::view_model::sentence_arcs::{Direction, SentenceArcs, ShownArcs, WordAt};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::models::{pass, read};
use crate::common::numerics::json::{list, number, parse, sizes, vector};
use crate::opened::{ALL, opened, running};
use crate::values::sentences;
use crate::written::fixture;

/// `[CLS]` and `[SEP]` of the fixtures.
const ADDED: [usize; 2] = [2, 3];

fn tokens(ids: &[usize]) -> Vec<MeasuredToken> {
    ids.iter().map(|id| MeasuredToken { word: Some(*id), is_added: ADDED.contains(id) }).collect()
}

#[track_caller]
fn check(said: &str, ids: &[usize], weights: &Matrix<f32>, expected: &Value, tolerance: Tolerance) {
    let patterns = HeadPatterns::within(&tokens(ids));
    for (measure, expected) in HeadMeasure::ALL.into_iter().zip(list(expected)) {
        let (found, expected) = (patterns.measure(measure, weights), expected.as_f64());
        assert_eq!(found.is_some(), expected.is_some(), "{said}, {measure:?} of {ids:?}");
        if let (Some(found), Some(expected)) = (found, expected) {
            let size = expected.abs().max(1.0);
            assert_close_beside(size, format!("{said}, {measure:?} of {ids:?}"), found, expected, tolerance);
        }
    }
}

#[test]
fn every_measure_of_every_head_is_that_of_numpy() {
    let oracle = parse(include_str!("oracle/heads.json"));
    for name in ALL {
        let model = read(name);
        for (place, expected) in list(&oracle[name]).iter().enumerate() {
            let (ids, types) = (sizes(&expected["ids"]), sizes(&expected["types"]));
            let run = pass(&model, &Sequences::one(&ids).with_segments(types));
            let given = sentences(name);
            for (layer, block) in run.blocks.iter().enumerate() {
                let of_layer = list(&list(&expected["measures"])[layer]);
                for (head, activations) in block.heads.iter().enumerate() {
                    let said = format!("{name}, layer {layer}, head {head}");
                    check(&said, &ids, &activations.weights, &of_layer[head], Tolerance::LIBRARY);
                    if let Some(given) = given.get(place) {
                        let size = ids.len();
                        let weights = &given.tensors[&format!("weights.{layer}")][head * size * size..];
                        let weights = Matrix::from_fn(size, size, |i, j| weights[i * size + j]);
                        check(&said, &ids, &weights, &of_layer[head], Tolerance::SINGLE);
                    }
                }
            }
            let heads = run.heads().map(|head| (&head.weights, &head.scores));
            let weights = key_weights(heads, ids.len());
            let means: Vec<f64> = weights.iter().map(|weight| weight.mean).collect();
            assert_close(format!("{name}: {ids:?}"), means, vector(&expected["mean_weights"]), Tolerance::LIBRARY);
        }
    }
}

/// `‖α_ij · L(V_j W_O)‖` at the block's output.
#[test]
fn the_lengths_of_what_is_added_are_those_of_numpy() {
    let oracle = parse(include_str!("oracle/heads.json"));
    for name in ALL {
        let model = read(name);
        for expected in list(&oracle[name]) {
            let (ids, types) = (sizes(&expected["ids"]), sizes(&expected["types"]));
            let run = pass(&model, &Sequences::one(&ids).with_segments(types));
            for ((layer, config), block) in model.architecture.numbered_blocks().zip(&run.blocks) {
                let found = Contributions::of(config, layer, &model.parameters, block, &[]);
                for (head, by_query) in list(&list(&expected["lengths"])[layer]).iter().enumerate() {
                    for (query, by_key) in list(by_query).iter().enumerate() {
                        for (key, length) in list(by_key).iter().enumerate() {
                            let (found, length) = (norm(&found.arrow(block, head, query, key)), number(length));
                            let said = format!("{name}, layer {layer}, head {head}, {query} to {key}");
                            assert_close_beside(length.max(1.0), said, found, length, Tolerance::SINGLE_SUMS);
                        }
                    }
                }
            }
        }
    }
}

/// From a cell of a head's map, number by number of each formula, to the head's own columns in the file.
#[test]
fn a_cell_leads_to_the_tensor_s_own_name_and_index_in_the_file() {
    /// Formulas on the way: weight, exponential, score, product, query.
    const STEPS: usize = 6;
    for (name, wanted) in [
        ("bert-wild", "of `bert.encoder.layer.1.attention.self.query.weight` in model.safetensors"),
        ("gpt2-wild", "of `transformer.h.1.attn.c_attn.weight` in model.safetensors"),
    ] {
        let mut kernel = running(&opened(&fixture(name)));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![2, 45, 311, 7])));
        let snapshot = kernel.snapshot();
        // The second head of the second layer: columns 8 to 15.
        let mut known: HashSet<String> = HashSet::new();
        let mut next: Vec<Entry> = vec![Quantity::Weight.of_head(4, [2, 1])];
        let mut notes = Vec::new();
        for _ in 0..STEPS {
            let mut found = Vec::new();
            for entry in std::mem::take(&mut next) {
                let Some(explained) = Explanation::of(&snapshot, entry) else { continue };
                notes.extend(explained.sentences.clone());
                let pieces = explained.worked.lines(usize::MAX).lines.into_iter().flatten();
                found.extend(pieces.filter_map(|piece| match piece {
                    LinePiece::Number(operand) => operand.entry,
                    LinePiece::Text(_) | LinePiece::Product { .. } => None,
                }));
            }
            next = found.into_iter().filter(|entry| known.insert(format!("{entry:?}"))).collect();
        }
        let of_tensor: Vec<&String> = notes.iter().filter(|note| note.contains(wanted)).collect();
        let columns = if name == "bert-wild" { "entry [8, " } else { ", 8] " };
        assert!(of_tensor.iter().any(|note| note.contains(columns)), "{name}: {} notes, {of_tensor:?}", notes.len());
    }
}

const HIDING: Reading = Reading { is_added: false, hides_sinks: true };

/// A pretrained model whose queries all look for the same, so that most heads find most of it in one word.
fn with_a_sink() -> Arc<Snapshot> {
    let lesson = opened(&fixture("gpt2-wild"));
    let with_biases = |seed: u64| {
        let mut kernel = running(&lesson);
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![2, 45, 311, 7])));
        let architecture = kernel.snapshot().model.expect("a model").architecture;
        let mut rng = StdRng::seed_from_u64(seed);
        for (block, col) in
            (0..architecture.blocks.len()).flat_map(|block| (0..architecture.width).map(move |col| (block, col)))
        {
            let value = if rng.random() { 60.0 } else { -60.0 };
            let tensor = TensorName::QueryBias.of_block(block);
            kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col, value }));
        }
        kernel.settle();
        Arc::new(kernel.snapshot())
    };
    let has_sinks = |snapshot: &Arc<Snapshot>| !AttentionMaps::of(snapshot).expect("a model").sinks.is_empty();
    (0..40).map(with_biases).find(has_sinks).expect("a direction in which most heads find one word")
}

#[test]
fn without_the_sinks_every_row_sums_to_one_and_that_is_said() {
    let snapshot = with_a_sink();
    let model = AttentionMaps::of(&snapshot).expect("a model");
    let sinks = &model.sinks.sinks;
    assert!(!sinks.is_empty(), "each head finds most in one word");
    for sink in sinks {
        assert!(
            sink.numbers.mean > 0.3
                && sink.numbers.heads.1 == model.heads.len()
                && sink.about().starts_with(&format!("{} is a sink", sink.label))
        );
        assert!(sink.about().contains(
            if sink.numbers.of_added.is_some_and(|added| added < 0.9 * sink.numbers.of_weights) {
                "are short"
            } else {
                "are not short"
            }
        ));
    }
    let mut left = 0;
    for map in &model.heads {
        for query in 0..map.queries.len() {
            let row: Vec<Option<f32>> = (0..map.keys.len()).map(|key| map.cells.shown(HIDING, query, key)).collect();
            assert!(sinks.iter().all(|sink| row[sink.position].is_none()));
            let sum: f32 = row.iter().flatten().sum();
            let whole = if row.iter().all(Option::is_none) { 0.0 } else { 1.0 };
            assert_close(&map.title, sum, whole, Tolerance::SINGLE_PASS);
            left += row.iter().flatten().count();
            let plain = |key| map.cells.shown(Reading::default(), query, key);
            assert!((0..map.keys.len()).all(|key| plain(key) == Some(map.cells.weight(query, key))), "as they are");
        }
    }
    assert!(left > 0, "some rows have more than the sinks");
    let said = HIDING.said().expect("said");
    assert!(model.tsv(&[0], HIDING).starts_with(&format!("{said}\n")) && Reading::default().said().is_none());
    assert_eq!(model.heads[0].say_shown(1, sinks[0].position, HIDING).as_deref(), Some("Hidden as a sink."));
    // So do the arcs over the sentence.
    let arcs = SentenceArcs::of(&snapshot).expect("a model");
    assert_eq!(arcs.sinks, model.sinks);
    // The last word sees all others.
    let last = model.tokens.len() - 1;
    let shown = |head| ShownArcs {
        word: WordAt::in_sentence(last),
        direction: Direction::LooksAt,
        layer: arcs.layer_of(head).expect("its layer"),
        head: Some(head),
        reading: HIDING,
    };
    for (head, map) in model.heads.iter().enumerate() {
        let found: Vec<(usize, f32)> =
            arcs.arcs(&shown(head)).iter().map(|arc| (arc.to.position, arc.weight)).collect();
        let row = (0..map.keys.len()).filter_map(|key| Some((key, map.cells.shown(HIDING, last, key)?)));
        assert_eq!(found, row.collect::<Vec<_>>());
    }
}
