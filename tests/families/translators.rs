//! Models of an encoder and a decoder: every tensor of both towers against transformers', and greedy writing.

use std::collections::BTreeMap;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::attention::distances::DistanceBuckets;
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::{BlockActivations, HeadActivations, Interventions};
use attune_engine::numerics::model::generate::{NextWordChoice, choose};
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::norm::NormKind;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::{Pretrained, load};
use serde::Deserialize;

use crate::values::{TOLERANCE, Tensors, check_arrows, check_spellings, examined, worst};
use crate::{CONFIGS, fixture, read, tensors, text, with_config};

/// The models of `tests/fixtures/pretrained` with two towers.
const TRANSLATORS: [&str; 5] = ["t5-wild", "t5v11-wild", "marian-wild", "bart-wild", "mbart-wild"];

/// Ids of a source and of a target.
#[derive(Deserialize)]
struct PairIds {
    source: Vec<usize>,
    target: Vec<usize>,
}

fn pairs(name: &str) -> BTreeMap<String, PairIds> {
    serde_json::from_str(&text(name, "ids.json")).expect("pairs of ids")
}

fn expected(name: &str) -> Tensors {
    tensors(&fixture(name).join("expected.safetensors")).into_iter().map(|(key, (_, numbers))| (key, numbers)).collect()
}

fn pass(model: &Pretrained, source: &[usize], target: &[usize]) -> Activations<f32> {
    let (source, target) = (Sequences::one(source), Sequences::one(target));
    Activations::of(&model.model(), &model.parameters, &target, Some(&source), &Interventions::default())
}

/// The tensors of a pass by the names of the oracle.
fn found(name: &str, model: &Pretrained) -> Tensors {
    let mut found = Tensors::new();
    for (pair, ids) in pairs(name) {
        let run = pass(model, &ids.source, &ids.target);
        let mut put = |name: String, matrix: &Matrix<f32>| {
            found.insert(format!("{pair}.{name}"), matrix.flat().to_vec());
        };
        let source = run.source.as_ref().expect("a source");
        put("encoder.hidden.0".to_owned(), &source.input);
        put("memory".to_owned(), &source.memory);
        put("decoder.hidden.0".to_owned(), &run.input);
        put("final".to_owned(), &run.output);
        put("logits".to_owned(), &model.model().logits_of(&model.parameters, &run.output));
        let (encoder, decoder) = run.blocks.split_at(model.architecture.source_blocks.len());
        for (layer, block) in encoder.iter().enumerate() {
            put(format!("encoder.hidden.{}", layer + 1), &block.output);
        }
        for (layer, parts) in decoder.chunks_exact(2).enumerate() {
            put(format!("decoder.middle.{layer}"), &parts[0].output);
            put(format!("decoder.hidden.{}", layer + 1), &parts[1].output);
        }
        let mut heads = |of: &str, layer: usize, block: &BlockActivations<f32>| {
            let all = |pick: fn(&HeadActivations<f32>) -> &Matrix<f32>| {
                block.heads.iter().flat_map(|head| pick(head).flat()).copied().collect()
            };
            found.insert(format!("{pair}.{of}.scores.{layer}"), all(|head| &head.scores));
            found.insert(format!("{pair}.{of}.weights.{layer}"), all(|head| &head.weights));
        };
        encoder.iter().enumerate().for_each(|(layer, block)| heads("encoder", layer, block));
        for (layer, parts) in decoder.chunks_exact(2).enumerate() {
            heads("decoder", layer, &parts[0]);
            heads("cross", layer, &parts[1]);
        }
    }
    found
}

#[test]
fn every_tensor_of_both_towers_is_transformers_by_both_spellings() {
    for name in TRANSLATORS {
        let expected = expected(name);
        assert!(expected.len() >= 50, "{name}: {} tensors", expected.len());
        check_spellings(name, &expected, found);
    }
}

/// Cross-attention is a part of the move: what the words of the source add to a word of the target, with all else, is
/// the move.
#[test]
fn the_arrows_of_both_towers_add_up() {
    for name in TRANSLATORS {
        let model = read(name);
        for (pair, ids) in pairs(name) {
            check_arrows(&format!("{name}, {pair}"), &model, &pass(&model, &ids.source, &ids.target));
        }
    }
}

#[test]
fn a_translator_examines_itself() {
    for name in TRANSLATORS {
        let findings = examined(name);
        assert!(findings.good.iter().any(|line| line.starts_with("self-test: ")), "{name}: {findings:?}");
    }
}

/// The decoder's layers are counted by themselves, each with two blocks, however deep the encoder is.
#[test]
fn blocks_are_named_by_their_own_tower() {
    let names = |name: &str| {
        let architecture = read(name).architecture;
        let blocks = architecture.source_blocks.len() + architecture.blocks.len();
        (0..blocks).map(|block| architecture.block_name(block)).collect::<Vec<_>>()
    };
    let layer = |layer: usize, kind: &str| format!("layer {layer}, {kind}");
    let decoder = |layers: usize| {
        (1..=layers).flat_map(|at| [layer(at, "self-attention"), layer(at, "cross-attention")]).collect::<Vec<_>>()
    };
    let encoder = |layers: usize| (1..=layers).map(|at| layer(at, "source")).collect::<Vec<_>>();
    assert_eq!(names("t5-wild"), [encoder(2), decoder(3)].concat());
    assert_eq!(names("bart-wild"), [encoder(3), decoder(2)].concat());
}

/// What a model wrote greedily, by the pair whose source it read.
#[derive(Deserialize)]
struct Greedy {
    start: usize,
    end: usize,
    never: Vec<usize>,
    sources: BTreeMap<String, GreedyTokens>,
}

#[derive(Deserialize)]
struct GreedyTokens {
    tokens: Vec<usize>,
}

#[test]
fn greedy_writing_is_transformers_with_kept_keys_and_without() {
    for name in TRANSLATORS {
        let greedy: Greedy = serde_json::from_str(&text(name, "greedy.json")).expect("lists");
        let pairs = pairs(name);
        for config in CONFIGS {
            let folder = with_config(name, &text(name, config));
            if config == CONFIGS[0] {
                std::fs::copy(fixture(name).join("generation_config.json"), folder.join("generation_config.json"))
                    .expect("a copy");
            }
            let model = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{name}, {config}: {said}"));
            let engine = model.model();
            for (pair, GreedyTokens { tokens }) in &greedy.sources {
                let source = &pairs[pair].source;
                let mut rng = stream(1, Stream::ModelInit);
                let written = engine
                    .generate(&model.parameters, &[], Some(source), tokens.len(), NextWordChoice::Greedy, &mut rng)
                    .expect("words");
                let ended = tokens.last() == Some(&greedy.end);
                let wanted = if ended { &tokens[..tokens.len() - 1] } else { &tokens[..] };
                assert_eq!(written, wanted, "{name}, {config}, {pair}");
                // The same, from a whole pass for each word.
                let mut target = vec![greedy.start];
                for (at, &token) in wanted.iter().enumerate() {
                    let run = pass(&model, source, &target);
                    let mut logits = engine.logits_at_end(&model.parameters, &run.output);
                    greedy.never.iter().for_each(|&id| logits[id] = f32::MIN);
                    let likeliest = choose(&mut logits, NextWordChoice::Greedy, &mut rng).expect("a word");
                    assert!(likeliest == token || (at == 0 && engine.rules().first == Some(token)), "{name}, {pair}");
                    target.push(token);
                }
            }
        }
    }
}

/// A mistake that is easily made, as a change of the shape that was read.
type Mistake = (&'static str, fn(&mut Architecture));

fn blocks(model: &mut Architecture, change: impl FnMut(&mut BlockConfig)) {
    model.source_blocks.iter_mut().chain(&mut model.blocks).for_each(change);
}

fn buckets(model: &mut Architecture, change: impl Fn(&mut DistanceBuckets)) {
    let distances = |block: &mut BlockConfig| {
        let form = block.attention.distances.as_mut().and_then(|form| form.buckets.as_mut());
        form.into_iter().for_each(&change);
    };
    blocks(model, distances);
}

const OF_ALL: [Mistake; 3] = [
    ("the decoder sees later words", |model| blocks(model, |block| block.attention.mask = Mask::None)),
    ("another activation", |model| {
        blocks(model, |block| {
            let is_tanh = block.activation == Activation::GeluTanh;
            block.activation = if is_tanh { Activation::Gelu } else { Activation::GeluTanh };
        });
    }),
    ("another epsilon", |model| {
        blocks(model, |block| block.norm_form.epsilon = 1e-12);
        model.norm_form.epsilon = 1e-12;
    }),
];
const OF_T5: [Mistake; 8] = [
    ("no norm behind the source", |model| model.source.final_norm = false),
    ("no norm behind the decoder", |model| model.final_norm = false),
    ("scaled scores", |model| blocks(model, |block| block.attention.scale = true)),
    ("distances in the first block only", |model| {
        blocks(model, |block| {
            block.attention.distances = block.attention.distances.filter(|form| form.table.is_none())
        });
    }),
    ("causal buckets everywhere", |model| buckets(model, |buckets| buckets.both_directions = false)),
    ("both directions everywhere", |model| buckets(model, |buckets| buckets.both_directions = true)),
    ("layer norms", |model| blocks(model, |block| block.norm_form.kind = NormKind::Layer)),
    ("another factor of the logits", |model| {
        model.logit_scale = if model.logit_scale.is_some() { None } else { Some(28f64.sqrt().recip()) };
    }),
];
const OF_BART: [Mistake; 7] = [
    ("positions from 0", |model| model.position_rows.first = 0),
    ("positions from 1", |model| model.position_rows.first = 1),
    ("one table of positions", |model| model.source.positions = false),
    ("one norm of embeddings", |model| model.source.embedding_norm = false),
    ("no norm of embeddings", |model| (model.embedding_norm, model.source.embedding_norm) = (false, false)),
    ("another scale of embeddings", |model| {
        model.embedding_scale = if model.embedding_scale.is_some() { None } else { Some(28f64.sqrt()) };
    }),
    ("norms at another place", |model| {
        blocks(model, |block| block.norm = if block.norm == Norm::Pre { Norm::Post } else { Norm::Pre });
    }),
];
const OF_MARIAN: [Mistake; 2] = [
    ("sines and cosines in turn", |model| model.positions = Positions::Sinusoidal),
    ("unscaled embeddings", |model| model.embedding_scale = None),
];

#[test]
fn mistakes_that_are_easily_made_are_seen() {
    for name in TRANSLATORS {
        let folder = with_config(name, &text(name, CONFIGS[0]));
        let model = load(&folder.0, &mut |_| true).expect("a model");
        let expected = expected(name);
        let own: &[Mistake] = match &name[..2] {
            "t5" => &OF_T5,
            "ma" => &OF_MARIAN,
            _ => &OF_BART,
        };
        for (mistake, change) in OF_ALL.iter().chain(own) {
            let mut changed = model.clone();
            change(&mut changed.architecture);
            // Not all positions have rows where they are counted from later ones.
            changed.architecture.max_tokens -= changed.architecture.position_rows.first;
            let off = worst(&found(name, &changed), &expected).0;
            assert!(off > 2.0 * TOLERANCE, "{name}, {mistake}: off by {off:e} only");
        }
    }
}
