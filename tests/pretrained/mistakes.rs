//! Mistakes that are easily made with these models, made on purpose: the comparison with the oracle must see each.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::Pretrained;

use crate::common::models::{Mistaken, read};
use crate::values::{Sentence, TOLERANCE, difference, sentences, tensors};

type Mistake = fn(&mut Mistaken);

const BERT: [(&str, Mistake); 16] = [
    ("scores are not scaled", |model| model.blocks(|block| block.attention.scale = false)),
    ("scores are divided by the root of D", scaled_by_the_whole_width),
    ("heads in reverse order", heads_in_reverse),
    ("an epsilon of 1e-5", |model| model.norms(|form| form.epsilon = 1e-5)),
    ("square weights as they lie in the file", square_weights_turned),
    ("no bias of queries", |model| model.without(&[TensorName::QueryBias])),
    ("no bias of keys", |model| model.without(&[TensorName::KeyBias])),
    ("no bias of values", |model| model.without(&[TensorName::ValueBias])),
    ("no other biases", |model| {
        model.without(&[
            TensorName::OutputBias,
            TensorName::HiddenBias,
            TensorName::ForwardBias,
            TensorName::TransformBias,
        ]);
    }),
    ("a variance over n - 1", variance_over_one_less),
    ("GELU by a tanh", |model| model.activation(Activation::GeluTanh)),
    ("ReLU", |model| model.activation(Activation::Relu)),
    ("no positions", |model| model.without(&[TensorName::Positions])),
    ("positions from 2 on", |model| {
        let width = model.0.architecture.width;
        model.change(TensorName::Positions, |_, values| values.rotate_left(2 * width));
    }),
    ("no token types", |model| model.without(&[TensorName::Segments])),
    ("no norm of the embeddings", |model| model.0.architecture.embedding_norm = false),
];

const GPT2: [(&str, Mistake); 16] = [
    ("scores are not scaled", |model| model.blocks(|block| block.attention.scale = false)),
    ("scores are divided by the root of D", scaled_by_the_whole_width),
    ("no mask", |model| model.blocks(|block| block.attention.mask = Mask::None)),
    ("heads in reverse order", heads_in_reverse),
    ("an epsilon of 1e-12", |model| model.norms(|form| form.epsilon = 1e-12)),
    ("square weights turned", square_weights_turned),
    ("no bias of c_attn", |model| {
        model.without(&[TensorName::QueryBias, TensorName::KeyBias, TensorName::ValueBias]);
    }),
    ("no bias of c_proj", |model| model.without(&[TensorName::OutputBias, TensorName::ForwardBias])),
    ("no bias of c_fc", |model| model.without(&[TensorName::HiddenBias])),
    ("a variance over n - 1", variance_over_one_less),
    ("GELU by the error function", |model| model.activation(Activation::Gelu)),
    ("ReLU", |model| model.activation(Activation::Relu)),
    ("no positions", |model| model.without(&[TensorName::Positions])),
    ("no norms before the parts", |model| model.blocks(|block| block.norm = Norm::None)),
    ("keys and values swapped", |model| {
        model.swap([TensorName::KeyWeights, TensorName::ValueWeights]);
        model.swap([TensorName::KeyBias, TensorName::ValueBias]);
    }),
    ("no norm behind the last layer", |model| model.0.architecture.final_norm = false),
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
    for (fixture, mistakes) in [("bert-wild", BERT), ("gpt2-wild", GPT2)] {
        assert!(off(fixture, &read(fixture)) <= TOLERANCE, "{fixture}");
        for (mistake, make) in mistakes {
            let mut model = Mistaken(read(fixture));
            make(&mut model);
            let off = off(fixture, &model.0);
            assert!(off > 2.0 * TOLERANCE, "{fixture}, {mistake}: off by {off:e} only");
        }
    }
}
