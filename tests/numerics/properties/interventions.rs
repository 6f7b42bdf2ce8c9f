//! A learner's changes to a head or a layer while looking at it.

use std::sync::Arc;

use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable, SecondHead};
use attune_engine::numerics::block::Attends;
use attune_engine::numerics::model::activations::{HeadActivations, Interventions, Patch};
use attune_engine::numerics::model::{Activations, Architecture};
use attune_engine::numerics::{Matrix, model};
use proptest::prelude::*;

use super::{cases, masks};
use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::numerics::{Net, architecture, block, holes, layer, sees, sentence, words};

const SENTENCE: [usize; 5] = [1, 5, 0, 8, 2];
const TOKENS: usize = SENTENCE.len();

fn net(mask: Mask, seed: u64) -> Net {
    let masked = block(|b| b.attention.mask = mask);
    Net::new(architecture(|a| a.blocks = vec![masked.clone(), masked]), words(), seed)
}

fn shown(net: &Net, interventions: &Interventions<f64>) -> Activations<f64> {
    Activations::of(&net.model, &net.parameters, &sentence(&SENTENCE), None, interventions)
}

fn with_modes(heads: Vec<HeadMode<f64>>) -> Interventions<f64> {
    Interventions { heads, ..Interventions::default() }
}

/// `A V`, by hand.
fn mix(head: &HeadActivations<f64>) -> Vec<f64> {
    let (rows, value) = (head.weights.rows(), &head.value);
    let entry = |i: usize, c: usize| (0..value.rows()).map(|j| head.weights.get(i, j) * value.get(j, c)).sum();
    (0..rows).flat_map(|i| (0..value.cols()).map(move |c| (i, c))).map(|(i, c)| entry(i, c)).collect()
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn uniform_weights_share_among_the_keys_that_are_seen(mask in masks(TOKENS, TOKENS), seed: u64) {
        let net = net(mask.clone(), seed);
        let found = shown(&net, &with_modes(vec![HeadMode::Uniform; 4]));
        for head in found.heads() {
            for i in 0..TOKENS {
                let seen: Vec<usize> = (0..TOKENS).filter(|&j| sees(&mask, i, j)).collect();
                for j in 0..TOKENS {
                    let share = if seen.contains(&j) { 1.0 / seen.len() as f64 } else { 0.0 };
                    prop_assert_eq!(head.weights.get(i, j), share);
                }
            }
            assert_close("the mix", head.mix.flat(), mix(head), Tolerance::DOUBLE);
        }
    }

    #[test]
    fn frozen_weights_are_used_as_they_are(mask in masks(TOKENS, TOKENS), seed: u64) {
        let net = net(mask, seed);
        // Those of another sentence, in one head alone; the keys' own would have been others.
        let frozen = Arc::new(Matrix::from_fn(TOKENS, TOKENS, |i, j| (i + 2 * j) as f64 / 10.0));
        let mut modes = vec![HeadMode::Live; 4];
        modes[1] = HeadMode::Frozen(Some(frozen.clone()));
        let (found, live) = (shown(&net, &with_modes(modes)), shown(&net, &Interventions::default()));
        let head = &found.blocks[0].heads[1];
        prop_assert_eq!(&head.weights, &*frozen);
        assert_close("the mix", head.mix.flat(), mix(head), Tolerance::DOUBLE);
        prop_assert_eq!(&head.scores, &live.blocks[0].heads[1].scores, "what the head would have said stays to be seen");
        prop_assert_eq!(&found.blocks[0].heads[0], &live.blocks[0].heads[0], "the other head is its own");
    }

    #[test]
    fn freezing_what_is_changes_nothing(mask in masks(TOKENS, TOKENS), seed: u64) {
        let net = net(mask, seed);
        let live = shown(&net, &Interventions::default());
        let modes = live.heads().map(|head| HeadMode::Frozen(Some(Arc::new(head.weights.clone())))).collect();
        let frozen = shown(&net, &with_modes(modes));
        assert_close("the output", frozen.output.flat(), live.output.flat(), Tolerance::DOUBLE);
    }

    #[test]
    fn a_head_of_a_second_sentence_mixes_as_it_does_there(mask in masks(TOKENS, TOKENS), seed: u64, other: u64) {
        let second = shown(&net(mask.clone(), other), &Interventions::default());
        let net = net(mask, seed);
        let mut modes = vec![HeadMode::Live; 4];
        modes[1] = HeadMode::Second(second.heads().nth(1).map(|head| Arc::new(SecondHead::of(head))));
        let (found, live) = (shown(&net, &with_modes(modes)), shown(&net, &Interventions::default()));
        let (head, there) = (&found.blocks[0].heads[1], &second.blocks[0].heads[1]);
        prop_assert_eq!((&head.weights, &head.value, &head.mix), (&there.weights, &there.value, &there.mix));
        prop_assert_eq!(&found.blocks[0].heads[0], &live.blocks[0].heads[0], "the other head is its own");
    }

    #[test]
    fn a_head_that_is_off_mixes_nothing(mask in masks(TOKENS, TOKENS), seed: u64, off in 0..2usize) {
        let net = net(mask, seed);
        let mut modes = vec![HeadMode::Live; 4];
        modes[off] = HeadMode::Off;
        let (found, live) = (shown(&net, &with_modes(modes)), shown(&net, &Interventions::default()));
        let (found, live) = (&found.blocks[0], &live.blocks[0]);
        prop_assert!(found.heads[off].mix.flat().iter().all(|&m| m == 0.0));
        prop_assert_eq!(&found.heads[off].weights, &live.heads[off].weights);
        prop_assert_eq!(&found.heads[1 - off], &live.heads[1 - off]);
    }

    #[test]
    fn a_removed_edge_weighs_nothing_and_the_rest_of_its_row_sums_to_1(
        mask in masks(TOKENS, TOKENS), seed: u64, head in 0..2usize,
        gone in proptest::collection::btree_set((0..TOKENS, 0..TOKENS), 1..TOKENS),
    ) {
        let net = net(mask, seed);
        let edges = gone.iter().map(|&(query, key)| Edge { head, query, key }).collect();
        let found = shown(&net, &Interventions { edges, ..Interventions::default() });
        let live = shown(&net, &Interventions::default());
        let (now, before) = (&found.blocks[0].heads[head], &live.blocks[0].heads[head]);
        for i in 0..TOKENS {
            // By hand: α_ij / Σ of those that are left.
            let kept = |j: usize| if gone.contains(&(i, j)) { 0.0 } else { before.weights.get(i, j) };
            let rest: f64 = (0..TOKENS).map(kept).sum();
            for j in 0..TOKENS {
                let expected = if rest > 0.0 { kept(j) / rest } else { 0.0 };
                assert_close_beside(1.0, format!("{i}, {j}"), now.weights.get(i, j), expected, Tolerance::DOUBLE_PASS);
                prop_assert!(!gone.contains(&(i, j)) || now.scores.get(i, j) == f64::NEG_INFINITY);
            }
        }
        assert_close("the mix", now.mix.flat(), mix(now), Tolerance::DOUBLE);
        prop_assert_eq!(&found.blocks[0].heads[1 - head], &live.blocks[0].heads[1 - head]);
    }

    #[test]
    fn removed_edges_count_in_uniform_and_in_frozen_heads(mask in masks(TOKENS, TOKENS), seed: u64) {
        let net = net(mask.clone(), seed);
        let frozen = Arc::new(Matrix::from_fn(TOKENS, TOKENS, |_, j| [0.1, 0.2, 0.3, 0.15, 0.25][j]));
        let mut heads = vec![HeadMode::Live; 4];
        (heads[0], heads[1]) = (HeadMode::Uniform, HeadMode::Frozen(Some(frozen)));
        let edges = vec![Edge { head: 0, query: 3, key: 1 }, Edge { head: 1, query: 3, key: 2 }];
        let found = shown(&net, &Interventions { heads, edges, ..Interventions::default() });
        let seen: Vec<usize> = (0..TOKENS).filter(|&j| sees(&mask, 3, j) && j != 1).collect();
        for j in 0..TOKENS {
            let share = if seen.contains(&j) { 1.0 / seen.len() as f64 } else { 0.0 };
            prop_assert_eq!(found.blocks[0].heads[0].weights.get(3, j), share);
            let rest = if j == 2 { 0.0 } else { [0.1, 0.2, 0.3, 0.15, 0.25][j] / 0.7 };
            assert_close(j, found.blocks[0].heads[1].weights.get(3, j), rest, Tolerance::DOUBLE_PASS);
        }
    }

    #[test]
    fn a_head_s_mean_is_the_mean_of_its_outputs_everywhere(mask in masks(TOKENS, TOKENS), seed: u64, head in 0..2usize) {
        let net = net(mask, seed);
        let mut heads = vec![HeadMode::Live; 4];
        heads[head] = HeadMode::Mean;
        let (found, live) = (shown(&net, &with_modes(heads)), shown(&net, &Interventions::default()));
        let (now, before) = (&found.blocks[0].heads[head], &live.blocks[0].heads[head]);
        for i in 0..TOKENS {
            for c in 0..before.mix.cols() {
                let mean = (0..TOKENS).map(|l| before.mix.get(l, c)).sum::<f64>() / TOKENS as f64;
                assert_close_beside(1.0, format!("{i}, {c}"), now.mix.get(i, c), mean, Tolerance::DOUBLE_PASS);
            }
        }
        assert_close("its weights are those of its mix", now.mix.flat(), mix(now), Tolerance::DOUBLE);
        prop_assert_eq!(&now.scores, &before.scores);
    }

    #[test]
    fn a_patched_vector_is_what_the_block_works_with(seed: u64, block in 0..2usize, position in 0..TOKENS) {
        let net = net(Mask::None, seed);
        let live = shown(&net, &Interventions::default());
        let vector: Arc<[f64]> = (0..live.input.cols()).map(|j| 0.25 * j as f64 - 1.0).collect();
        let patch = Some(Patch { block, position, from: 0, vector: Some(vector.clone()) });
        let changed = Interventions { patch, ..Interventions::default() };
        let found = shown(&net, &changed);
        for i in 0..TOKENS {
            let expected = if i == position { &vector[..] } else { live.blocks[block].input.row(i) };
            prop_assert_eq!(found.blocks[block].input.row(i), expected);
        }
        prop_assert_eq!(&live.blocks[..block], &found.blocks[..block]);
        prop_assert_ne!(&live.output, &found.output);
        let (input, changed) = (sentence(&SENTENCE), &changed);
        prop_assert_eq!(live.again(block, &net.model, &net.parameters, &input, None, changed), found);
    }

    #[test]
    fn a_tiny_temperature_picks_the_highest_score(seed: u64) {
        let net = net(Mask::Causal, seed);
        let plain = shown(&net, &Interventions::default());
        let sharp = shown(&net, &Interventions { temperature: Some(1e-6), ..Interventions::default() });
        for (plain, sharp) in plain.blocks[0].heads.iter().zip(&sharp.blocks[0].heads) {
            for i in 0..TOKENS {
                let highest = (0..=i).fold(0, |best, j| if plain.scores.get(i, j) > plain.scores.get(i, best) { j } else { best });
                let expected: [f64; TOKENS] = std::array::from_fn(|j| f64::from(u8::from(j == highest)));
                assert_close(i, sharp.weights.row(i), expected, Tolerance::DOUBLE_SUMS);
            }
        }
    }

    #[test]
    fn a_huge_temperature_looks_at_all_alike(seed: u64) {
        let net = net(Mask::None, seed);
        let even = shown(&net, &Interventions { temperature: Some(1e9), ..Interventions::default() });
        for head in &even.blocks[0].heads {
            assert_close("each", head.weights.flat(), [1.0 / TOKENS as f64; TOKENS * TOKENS], Tolerance::DIFFERENCES);
        }
    }
}

#[test]
fn a_changed_layer_is_a_layer_built_so() {
    let plain = net(Mask::None, 11);
    let interventions = Interventions {
        temperature: Some(0.4),
        scale: Some(false),
        mask: Some(Mask::Causal),
        ..Interventions::default()
    };
    let built = |a: &mut Architecture| {
        let causal = layer(|l| (l.temperature, l.scale, l.mask) = (0.4, false, Mask::Causal));
        a.blocks = vec![block(|b| b.attention = causal.clone()), block(|b| b.attention = causal)];
    };
    let model = model::AttentionModel::new(architecture(built), plain.model.embedding.clone(), words());
    let other = Net { model, parameters: plain.parameters.clone() };
    assert_eq!(shown(&plain, &interventions), shown(&other, &Interventions::default()));
    assert_ne!(shown(&plain, &interventions), shown(&plain, &Interventions::default()));
}

/// The causal triangle of the sentence says nothing about the source.
#[test]
fn a_mask_is_for_self_attention_in_the_sentence() {
    let built = architecture(|a| {
        a.source_blocks = vec![block(|_| ())];
        a.blocks = vec![block(|_| ()), block(|b| b.attends = Attends::Source)];
    });
    let net = Net::new(built, words(), 11);
    let nothing = Mask::custom(MaskTable::from_fn(TOKENS, TOKENS, |_, _| false));
    let interventions = Interventions { mask: Some(nothing), ..Interventions::default() };
    let source = sentence(&[3, 3, 1]);
    let found = Activations::of(&net.model, &net.parameters, &sentence(&SENTENCE), Some(&source), &interventions);
    let seen = |block: usize| found.blocks[block].heads[0].weights.flat().iter().any(|&w| w > 0.0);
    assert_eq!([seen(0), seen(1), seen(2)], [true, false, true]);
}

#[test]
fn a_custom_mask_of_the_layer_holds_for_uniform_weights_of_long_sentences() {
    // More tokens than go through tiles.
    let tokens = 70;
    let mask = holes(tokens, tokens);
    let built = architecture(|a| (a.max_tokens, a.blocks) = (tokens, vec![block(|b| b.attention.mask = mask.clone())]));
    let net = Net::new(built, words(), 11);
    let long: Vec<usize> = (0..tokens).map(|t| t % 9).collect();
    for mode in [HeadMode::Uniform, HeadMode::Live] {
        let interventions = with_modes(vec![mode; 2]);
        let found = Activations::of(&net.model, &net.parameters, &sentence(&long), None, &interventions);
        let head = &found.blocks[0].heads[0];
        for (i, j) in (0..tokens).flat_map(|i| (0..tokens).map(move |j| (i, j))) {
            assert_eq!(head.weights.get(i, j) > 0.0, sees(&mask, i, j), "({i}, {j})");
        }
        assert_close("the mix", head.mix.flat(), mix(head), Tolerance::DOUBLE_PASS);
    }
}

/// Texts of modes are what options and traces have; the JSON is that of saved work and of pages.
#[test]
fn every_change_is_read_as_it_is_written() {
    let weights = Matrix::from_fn(2, 3, |row, col| (3 * row + col) as f64 / 16.0);
    let frozen = HeadMode::Frozen(Some(Arc::new(weights)));
    let modes = [
        (HeadMode::Live, "live", r#""Live""#),
        (HeadMode::Off, "off", r#""Off""#),
        (HeadMode::Mean, "mean", r#""Mean""#),
        (HeadMode::Uniform, "uniform", r#""Uniform""#),
        (HeadMode::Frozen(None), "frozen", r#"{"Frozen":null}"#),
        (HeadMode::Gain(0.5), "0.5", r#"{"Gain":0.5}"#),
    ];
    assert!(HeadMode::<f64>::NAMED.iter().all(|mode| modes.iter().any(|(known, ..)| known == mode)));
    for (mode, text, json) in &modes {
        assert_eq!((mode.to_string(), text.parse::<HeadMode<f64>>().as_ref()), ((*text).to_owned(), Ok(mode)));
        assert_eq!(serde_json::to_string(mode).expect("JSON"), *json);
    }
    assert!("on".parse::<HeadMode<f64>>().is_err());

    let holes = MaskTable::from_fn(2, 3, |query, key| (query, key) != (1, 0));
    let patch = Patch { block: 1, position: 0, from: 2, vector: Some(Arc::from([0.25, -1.0])) };
    let changes = Interventions {
        temperature: Some(0.5),
        scale: Some(false),
        heads: modes.into_iter().map(|(mode, ..)| mode).chain([frozen]).collect(),
        mask: Some(Mask::custom(holes)),
        edges: vec![Edge { head: 0, query: 1, key: 2 }],
        patch: Some(patch),
    };
    let json = serde_json::to_string(&changes).expect("JSON");
    for part in [
        r#"{"Frozen":{"rows":2,"weights":[0.0,0.0625,0.125,0.1875,0.25,0.3125]}}"#,
        r#""mask":{"Custom":["111","011"]}"#,
        r#""edges":[[0,1,2]]"#,
        r#""patch":{"block":1,"position":0,"from":2,"vector":[0.25,-1.0]}"#,
    ] {
        assert!(json.contains(part), "{part}: {json}");
    }
    let head = SecondHead { weights: Matrix::zeros(1, 2), values: Matrix::zeros(2, 1) };
    let second = HeadMode::Second(Some(Arc::new(head)));
    let written = serde_json::to_string(&second).expect("JSON");
    let [weights, values] = [r#"{"rows":1,"weights":[0.0,0.0]}"#, r#"{"rows":2,"weights":[0.0,0.0]}"#];
    assert_eq!(written, format!(r#"{{"Second":{{"weights":{weights},"values":{values}}}}}"#));
    assert_eq!(serde_json::from_str::<HeadMode<f64>>(&written).expect("the same"), second);
    assert_eq!(serde_json::from_str::<Interventions<f64>>(&json).expect("the same"), changes);
    assert_eq!(serde_json::from_str::<Interventions<f64>>("{}").expect("none"), Interventions::default());
}
