//! Mistakes that are easily made with these models, made on purpose: the comparison with the oracle must see each.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::Pretrained;

use crate::common::models::{Mistaken, read};
use crate::values::{Sentence, TOLERANCE, difference, sentences, tensors};

type Mistake = fn(&mut Mistaken);

const BOTH: &[&str] = &["bert-wild", "gpt2-wild"];
const BERT: &[&str] = &["bert-wild"];
const GPT2: &[&str] = &["gpt2-wild"];

/// Mistakes, each with the fixtures in which it is made.
const MISTAKES: &[(&str, &[&str], Mistake)] = &[
    ("scores are not scaled", BOTH, |model| model.blocks(|block| block.attention.scale = false)),
    ("scores are divided by the root of D", BOTH, scaled_by_the_whole_width),
    ("heads in reverse order", BOTH, heads_in_reverse),
    ("square weights turned", BOTH, square_weights_turned),
    ("a variance over n - 1", BOTH, variance_over_one_less),
    ("ReLU", BOTH, |model| model.activation(Activation::Relu)),
    ("no positions", BOTH, |model| model.without(&[TensorName::Positions])),
    ("an epsilon of 1e-5", BERT, |model| model.norms(|form| form.epsilon = 1e-5)),
    ("no bias of queries", BERT, |model| model.without(&[TensorName::QueryBias])),
    ("no bias of keys", BERT, |model| model.without(&[TensorName::KeyBias])),
    ("no bias of values", BERT, |model| model.without(&[TensorName::ValueBias])),
    ("no other biases", BERT, |model| {
        model.without(&[
            TensorName::OutputBias,
            TensorName::HiddenBias,
            TensorName::ForwardBias,
            TensorName::TransformBias,
        ]);
    }),
    ("GELU by a tanh", BERT, |model| model.activation(Activation::GeluTanh)),
    ("positions from 2 on", BERT, |model| {
        let width = model.0.architecture.width;
        model.change(TensorName::Positions, |_, values| values.rotate_left(2 * width));
    }),
    ("no token types", BERT, |model| model.without(&[TensorName::Segments])),
    ("no norm of the embeddings", BERT, |model| model.0.architecture.embedding_norm = false),
    ("no mask", GPT2, |model| model.blocks(|block| block.attention.mask = Mask::None)),
    ("an epsilon of 1e-12", GPT2, |model| model.norms(|form| form.epsilon = 1e-12)),
    ("no bias of c_attn", GPT2, |model| {
        model.without(&[TensorName::QueryBias, TensorName::KeyBias, TensorName::ValueBias]);
    }),
    ("no bias of c_proj", GPT2, |model| model.without(&[TensorName::OutputBias, TensorName::ForwardBias])),
    ("no bias of c_fc", GPT2, |model| model.without(&[TensorName::HiddenBias])),
    ("GELU by the error function", GPT2, |model| model.activation(Activation::Gelu)),
    ("no norms before the parts", GPT2, |model| model.blocks(|block| block.norm = Norm::None)),
    ("keys and values swapped", GPT2, |model| {
        model.swap([TensorName::KeyWeights, TensorName::ValueWeights]);
        model.swap([TensorName::KeyBias, TensorName::ValueBias]);
    }),
    ("no norm behind the last layer", GPT2, |model| model.0.architecture.final_norm = false),
];

fn scaled_by_the_whole_width(model: &mut Mistaken) {
    model.blocks(|block| block.attention.score_divisor *= (block.attention.heads as f64).sqrt());
}

/// Each head has the weights of another, and its own values.
fn heads_in_reverse(model: &mut Mistaken) {
    let attention = &model.0.architecture.blocks[0].attention;
    let (width, all) = (attention.key_width, attention.keys_width());
    let reversed = |row: &[f32]| row.chunks_exact(width).rev().flatten().copied().collect::<Vec<_>>();
    let reverse = |_, values: &mut Vec<f32>| *values = values.chunks_exact(all).flat_map(reversed).collect();
    for name in [TensorName::QueryWeights, TensorName::KeyWeights, TensorName::QueryBias, TensorName::KeyBias] {
        model.change(name, reverse);
    }
}

fn square_weights_turned(model: &mut Mistaken) {
    let width = model.0.architecture.width;
    let turn = move |_, values: &mut Vec<f32>| {
        *values = (0..width * width).map(|at| values[at % width * width + at / width]).collect();
    };
    for name in [TensorName::QueryWeights, TensorName::KeyWeights, TensorName::ValueWeights, TensorName::OutputWeights]
    {
        model.change(name, turn);
    }
}

/// The deviation is larger by a factor, as if all gains were smaller.
fn variance_over_one_less(model: &mut Mistaken) {
    let width = model.0.architecture.width as f32;
    let factor = ((width - 1.0) / width).sqrt();
    use TensorName::*;
    for name in [EmbeddingNormGain, AttentionNormGain, ForwardNormGain, FinalNormGain, TransformNormGain] {
        if model.has(name) {
            model.change(name, |_, values| values.iter_mut().for_each(|x| *x *= factor));
        }
    }
}

/// The largest difference from the oracle.
fn off(name: &str, model: &Pretrained) -> f32 {
    let of_sentence = |Sentence { ids, types, tensors: expected }: Sentence| {
        let found = tensors(model, &ids, &types);
        let of_tensor = |(key, expected): (&String, &Vec<f32>)| {
            found.get(key).map_or(f32::INFINITY, |found| difference(key, found, expected))
        };
        expected.iter().map(of_tensor).fold(0.0, f32::max)
    };
    sentences(name).into_iter().map(of_sentence).fold(0.0, f32::max)
}

#[test]
fn every_mistake_is_seen() {
    BOTH.iter().for_each(|fixture| assert!(off(fixture, &read(fixture)) <= TOLERANCE, "{fixture}"));
    for (mistake, fixtures, make) in MISTAKES {
        for fixture in *fixtures {
            let mut model = Mistaken(read(fixture));
            make(&mut model);
            let off = off(fixture, &model.0);
            assert!(off > 2.0 * TOLERANCE, "{fixture}, {mistake}: off by {off:e} only");
        }
    }
}
