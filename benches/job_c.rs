//! Job C: one sentence through an encoder or decoder of a real shape, every tensor kept; random weights, packed.
//!
//!     cargo bench --no-default-features --bench job_c -- --threads 1 --tokens 16 --shape minilm
//!
//! `--shape minilm` (6 x 384), `bert` or `gpt2` (12 x 768); `--plain` multiplies by weights that are not packed.

use std::hint::black_box;
use std::process::exit;
use std::sync::Arc;
use std::time::Instant;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Mask};
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::{Architecture, AttentionModel, Candidates, Classes, Readout, Sequences};
use attune_engine::numerics::params::Start;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::rng::{Stream, stream};
use rand::RngExt;
use serde_json::json;

mod jobs;

struct Shape {
    layers: usize,
    width: usize,
    heads: usize,
    hidden: usize,
    vocabulary: usize,
    places: usize,
    is_decoder: bool,
}

const MINILM: Shape =
    Shape { layers: 6, width: 384, heads: 12, hidden: 1536, vocabulary: 30_522, places: 512, is_decoder: false };
const BERT: Shape = Shape { layers: 12, width: 768, heads: 12, hidden: 3072, ..MINILM };
const GPT2: Shape = Shape { vocabulary: 50_257, places: 1024, is_decoder: true, ..BERT };

/// As real models are drawn before training.
const DEVIATION: f32 = 0.02;
const SEED: u64 = 7;

impl Shape {
    fn model(&self) -> AttentionModel<f32> {
        let (norm, activation, norm_epsilon, mask) = match self.is_decoder {
            true => (Norm::Pre, Activation::GeluTanh, 1e-5, Mask::Causal),
            false => (Norm::Post, Activation::Gelu, 1e-12, Mask::None),
        };
        let attention = AttentionConfig { mask, ..AttentionConfig::multi_head(self.width, self.heads) };
        let plain = BlockConfig::plain(attention.clone());
        let block = BlockConfig { norm, norm_epsilon, feed_forward: Some(self.hidden), activation, ..plain };
        let architecture = Architecture {
            segments: (!self.is_decoder).then_some(2),
            embedding_norm: !self.is_decoder,
            final_norm: self.is_decoder,
            norm_epsilon,
            blocks: vec![block; self.layers],
            readout: if self.is_decoder { Readout::Tied } else { Readout::Transformed(activation) },
            ..Architecture::of_attention(attention, Positions::Learned, self.places)
        };
        let mut rng = stream(SEED, Stream::StaticInit);
        let bound = DEVIATION * 3f32.sqrt();
        let embedding = Matrix::from_fn(self.vocabulary, self.width, |_, _| rng.random_range(-bound..bound));
        AttentionModel::new(architecture, Arc::new(embedding), Classes::Words(Candidates::all(self.vocabulary)))
    }
}

fn main() {
    let arguments = jobs::Arguments::read(50, &["--plain"], &["--tokens", "--shape"]);
    let name = arguments.value("--shape").unwrap_or("minilm");
    let shape = match name {
        "minilm" => MINILM,
        "bert" => BERT,
        "gpt2" => GPT2,
        _ => fail(&format!("--shape is minilm, bert or gpt2, not {name}")),
    };
    let tokens: usize = match arguments.value("--tokens").unwrap_or("16").parse() {
        Ok(tokens) if (1..=shape.places).contains(&tokens) => tokens,
        _ => fail(&format!("--tokens is a number from 1 to {}", shape.places)),
    };
    let model = shape.model();
    let mut flat = model.zeros();
    let mut rng = stream(SEED, Stream::ModelInit);
    let bound = DEVIATION * 3f32.sqrt();
    for spec in flat.specs().to_vec() {
        let is_gain = spec.id.name.start() == Start::One;
        flat.fill_with(spec.id, |_, _| if is_gain { 1.0 } else { rng.random_range(-bound..bound) });
    }
    let start = Instant::now();
    let packed = flat.with_packed(|id| id.name.multiplies());
    let seconds_packing = start.elapsed().as_secs_f64();
    let parameters = if arguments.has("--plain") { flat } else { packed };

    let words: Vec<usize> = (0..tokens).map(|_| rng.random_range(0..shape.vocabulary)).collect();
    let (sentence, interventions) = (Sequences::one(&words), Interventions::default());
    let (seconds, _) = jobs::timed(arguments.repeat, || {
        Activations::of(&model, &parameters, black_box(&sentence), None, &interventions)
    });
    let run = Activations::of(&model, &parameters, &sentence, None, &interventions);
    let last = shape.layers - 1;
    let (from_last, _) = jobs::timed(arguments.repeat, || {
        run.again(last, &model, &parameters, black_box(&sentence), None, &interventions)
    });
    let more = json!({
        "shape": name,
        "tokens": tokens,
        "seconds_last_layer_min": from_last[0],
        "seconds_last_layer_median": jobs::median(&from_last),
        "seconds_packing": seconds_packing,
    });
    jobs::report("C", arguments.threads, &seconds, more);
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(2)
}
