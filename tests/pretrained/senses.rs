//! Scores of one word's senses by layer, and how alike the layers of two models are, against NumPy's in float64:
//! `oracle/senses.py`.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::alignment::CentredGram;
use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::senses::{SenseScores, baseline, cosines};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::models::{pass, read};
use crate::common::numerics::json::{list, parse, size, sizes};
use crate::opened::ALL;

/// `[CLS]` and `[SEP]` of the fixtures.
const ADDED: [usize; 2] = [2, 3];

#[test]
fn every_score_of_every_layer_is_that_of_numpy() {
    let oracle = parse(include_str!("oracle/senses.json"));
    for name in ALL {
        let model = read(name);
        let expected = &oracle[name];
        let senses: Vec<Option<&str>> = list(&expected["senses"]).iter().map(|sense| sense.as_str()).collect();
        let places = sizes(&expected["places"]);
        let sentences: Vec<Vec<usize>> = list(&expected["sentences"]).iter().map(sizes).collect();
        let passes: Vec<_> = sentences.iter().map(|ids| pass(&model, &Sequences::one(ids))).collect();
        for (layer, expected) in list(&expected["layers"]).iter().enumerate() {
            let state = |sentence: usize| match layer {
                0 => Matrix::from_fn(sentences[sentence].len(), model.architecture.width, |i, j| {
                    model.embedding.get(sentences[sentence][i], j)
                }),
                _ => Matrix::clone(&passes[sentence].blocks[layer - 1].output),
            };
            let states: Vec<Matrix<f32>> = (0..sentences.len()).map(state).collect();
            let is_kept = |id: usize| !(name.starts_with("bert") && ADDED.contains(&id));
            let rows = sentences.iter().zip(&states).flat_map(|(ids, state)| {
                let later = ids.iter().enumerate().skip(1).filter(move |(_, id)| is_kept(**id));
                later.map(move |(i, id)| (Some(*id), state.row(i)))
            });
            let own = Matrix::from_fn(states.len(), states[0].cols(), |i, j| states[i].get(places[i], j));
            let between = cosines(&own);
            let scores = SenseScores::of(&between, &senses, baseline(rows));
            let found = [scores.all, scores.within, scores.between, scores.nearest, scores.baseline];
            let check = |what: &str, found: f64, expected: f64| {
                assert_close_beside(1.0, format!("{name}, layer {layer}, {what}"), found, expected, Tolerance::LIBRARY);
            };
            for (place, (found, expected)) in found.into_iter().zip(list(&expected["scores"])).enumerate() {
                check(&format!("score {place}"), found.unwrap_or(f64::NAN), expected.as_f64().unwrap_or(f64::INFINITY));
            }
            for (i, row) in list(&expected["cosines"]).iter().enumerate() {
                for (j, expected) in list(row).iter().enumerate() {
                    check(&format!("cosine {i}, {j}"), between.get(i, j), expected.as_f64().unwrap_or(f64::INFINITY));
                }
            }
        }
        assert_eq!(size(&expected["word"]), 45);
    }
}

#[test]
fn layers_of_two_models_are_as_alike_as_numpy_says() {
    let oracle = parse(include_str!("oracle/senses.json"));
    let ids = sizes(&list(&oracle["bert-wild"]["sentences"])[3]);
    let [first, second] = ["bert-wild", "gpt2-wild"].map(|name| {
        let model = read(name);
        let run = pass(&model, &Sequences::one(&ids));
        let layers = std::iter::once(&*run.input).chain(run.blocks.iter().map(|block| &*block.output));
        layers.map(CentredGram::of).collect::<Vec<_>>()
    });
    for (row, expected) in list(&oracle["cka"]).iter().enumerate() {
        for (col, expected) in list(expected).iter().enumerate() {
            let (found, expected) = (first[row].alignment(&second[col]), expected.as_f64().expect("a number"));
            let (found, of) = (found.expect("a number"), format!("layers {row} and {col}"));
            assert_close_beside(1.0, of, found, expected, Tolerance::LIBRARY);
        }
    }
}
