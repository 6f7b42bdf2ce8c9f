//! Job C: one sentence through an encoder or decoder of a real model's shape, with every tensor kept; random weights,
//! packed.
//!
//!     cargo bench --package attune-engine --bench job_c -- --threads 1 --tokens 16 --shape minilm
//!
//! `--shape` is `minilm` (6 x 384), `bert` or `gpt2` (12 x 768), `smollm2` (30 x 576) or `qwen3` (28 x 1024). `--plain`
//! uses weights that are not packed, `--bf16` weights of two bytes. `--model FOLDER` takes a model with its weights in
//! the place of a shape. With an encoder and a decoder, source and target have as many tokens each, the logits count,
//! and one more word is timed with kept keys and values. `job_c_transformers.py` in this folder runs the same job with
//! transformers.

use std::hint::black_box;
use std::path::Path;
use std::process::exit;
use std::sync::Arc;
use std::time::Instant;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Mask, QueryKeyNorm, Rotary, RotaryScaling, Tokens};
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::{Architecture, AttentionModel, Candidates, Classes, Readout, Sequences};
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::packed::NumberType;
use attune_engine::numerics::params::{Parameters, Start};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::load;
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
    today: Option<Today>,
}

/// The additional features of a decoder of Llama's family.
#[derive(Clone, Copy)]
struct Today {
    group_size: usize,
    key_width: usize,
    norms_queries: bool,
    theta: f64,
}

const MINILM: Shape = Shape {
    layers: 6,
    width: 384,
    heads: 12,
    hidden: 1536,
    vocabulary: 30_522,
    places: 512,
    is_decoder: false,
    today: None,
};
const BERT: Shape = Shape { layers: 12, width: 768, heads: 12, hidden: 3072, ..MINILM };
const GPT2: Shape = Shape { vocabulary: 50_257, places: 1024, is_decoder: true, ..BERT };

const SMOLLM2: Shape = Shape {
    layers: 30,
    width: 576,
    heads: 9,
    hidden: 1536,
    vocabulary: 49_152,
    places: 8192,
    is_decoder: true,
    today: Some(Today { group_size: 3, key_width: 64, norms_queries: false, theta: 1e5 }),
};
const QWEN3: Shape = Shape {
    layers: 28,
    width: 1024,
    heads: 16,
    hidden: 3072,
    vocabulary: 151_936,
    places: 40_960,
    today: Some(Today { group_size: 2, key_width: 128, norms_queries: true, theta: 1e6 }),
    ..SMOLLM2
};

/// The standard deviation of weights before training, as in real models.
const DEVIATION: f32 = 0.02;
const SEED: u64 = 7;
/// The bits of an `f32` that bfloat16 keeps.
const BFLOAT16: u32 = 0xffff_0000;

impl Shape {
    fn model(&self) -> AttentionModel<f32> {
        let (norm, activation, epsilon, mask) = match self.is_decoder {
            true => (Norm::Pre, Activation::GeluTanh, 1e-5, Mask::Causal),
            false => (Norm::Post, Activation::Gelu, 1e-12, Mask::None),
        };
        let mut attention = AttentionConfig { mask, ..AttentionConfig::multi_head(self.width, self.heads) };
        let mut block = BlockConfig::plain(attention.clone());
        let mut norm_form = NormForm::layer(epsilon);
        if let Some(Today { group_size, key_width, norms_queries, theta }) = self.today {
            norm_form = NormForm::rms(epsilon);
            (attention.group_size, attention.key_width, attention.value_width) = (group_size, key_width, key_width);
            (attention.bias, attention.output_bias) = (false, false);
            attention.rotary = Some(Rotary { theta, width: key_width, scaling: RotaryScaling::None });
            attention.query_key_norm = norms_queries.then_some(QueryKeyNorm { each_head: true, form: norm_form });
            (block.gated, block.forward_bias) = (true, false);
        }
        let activation = if self.today.is_some() { Activation::Silu } else { activation };
        block = BlockConfig { attention: attention.clone(), norm, norm_form, activation, ..block };
        block.feed_forward = Some(self.hidden);
        let positions = if self.today.is_some() { Positions::None } else { Positions::Learned };
        let architecture = Architecture {
            segments: (!self.is_decoder).then_some(2),
            embedding_norm: !self.is_decoder,
            final_norm: self.is_decoder,
            norm_form,
            blocks: vec![block; self.layers],
            readout: if self.is_decoder { Readout::Tied } else { Readout::Transformed(activation) },
            readout_bias: self.today.is_none(),
            ..Architecture::of_attention(attention, positions, self.places)
        };
        let mut rng = stream(SEED, Stream::StaticInit);
        let bound = DEVIATION * 3f32.sqrt();
        let embedding = Matrix::from_fn(self.vocabulary, self.width, |_, _| rng.random_range(-bound..bound));
        AttentionModel::new(architecture, Arc::new(embedding.into()), Classes::Words(Candidates::all(self.vocabulary)))
    }
}

fn main() {
    let arguments = jobs::Arguments::read(50, &["--plain", "--bf16"], &["--tokens", "--shape", "--model"]);
    let name = arguments.value("--model").or(arguments.value("--shape")).unwrap_or("minilm");
    let Job { model, parameters, seconds_packing } = match arguments.value("--model") {
        Some(folder) => Job::of_folder(Path::new(folder)),
        None => Job::drawn(name, &arguments),
    };
    let places = model.architecture.max_tokens;
    let tokens: usize = match arguments.value("--tokens").unwrap_or("16").parse() {
        Ok(tokens) if (1..=places).contains(&tokens) => tokens,
        _ => fail(&format!("--tokens is a number from 1 to {places}")),
    };
    let mut rng = stream(SEED, Stream::Corpus);
    let words: Vec<usize> = (0..tokens).map(|_| rng.random_range(0..model.classes.count())).collect();
    let (sentence, interventions) = (Sequences::one(&words), Interventions::default());
    let source = model.architecture.has_source().then(|| Sequences::one(&words));
    // With a source the logits count, too: those of transformers' translators are a part of their pass.
    let (seconds, _) = jobs::timed(arguments.repeat, || {
        let pass = Activations::of(&model, &parameters, black_box(&sentence), source.as_ref(), &interventions);
        let logits = source.as_ref().map(|_| model.logits_of(&parameters, &pass.output));
        (pass, logits)
    });
    let run = Activations::of(&model, &parameters, &sentence, source.as_ref(), &interventions);
    let last = run.blocks.len() - 1;
    let (from_last, _) = jobs::timed(arguments.repeat, || {
        run.again(last, &model, &parameters, black_box(&sentence), source.as_ref(), &interventions)
    });
    let mut more = json!({
        "shape": name,
        "tokens": tokens,
        "seconds_last_layer_min": from_last[0],
        "seconds_last_layer_median": jobs::median(&from_last),
        "seconds_packing": seconds_packing,
    });
    if let Some(memory) = &run.source {
        let rows = source.as_ref().map(|source| source.rows.clone()).unwrap_or_default();
        let memory = Tokens::new(memory.memory.flat(), &rows);
        let [written, read, megabytes] = one_more(&model, &parameters, &words, memory, arguments.repeat);
        more["seconds_one_more_word_median"] = json!(written);
        more["seconds_reading_decoder_median"] = json!(read);
        more["decoder_megabytes"] = json!(megabytes);
    }
    jobs::report("C", arguments.threads, &seconds, more);
}

/// A model with its parameters.
struct Job {
    model: AttentionModel<f32>,
    parameters: Arc<Parameters<f32>>,
    seconds_packing: Option<f64>,
}

impl Job {
    fn of_folder(folder: &Path) -> Self {
        let read = load(folder, &mut |_| true).unwrap_or_else(|why| fail(&format!("{}: {why}", folder.display())));
        Self { model: read.model(), parameters: read.parameters, seconds_packing: None }
    }

    fn drawn(name: &str, arguments: &jobs::Arguments) -> Self {
        let shape = match name {
            "minilm" => MINILM,
            "bert" => BERT,
            "gpt2" => GPT2,
            "smollm2" => SMOLLM2,
            "qwen3" => QWEN3,
            _ => fail(&format!("--shape is minilm, bert, gpt2, smollm2 or qwen3, not {name}")),
        };
        let model = shape.model();
        let mut flat = model.zeros();
        let mut rng = stream(SEED, Stream::ModelInit);
        let bound = DEVIATION * 3f32.sqrt();
        for spec in flat.specs().to_vec() {
            let is_gain = spec.id.name.start() == Start::One;
            // Drawn with the precision of bfloat16, so that both number types have the same values.
            let mut drawn = || f32::from_bits(rng.random_range(-bound..bound).to_bits() & BFLOAT16);
            flat.values_of_mut(spec.id).fill_with(|| if is_gain { 1.0 } else { drawn() });
        }
        let start = Instant::now();
        let number_type = if arguments.has("--bf16") { NumberType::Bf16 } else { NumberType::Whole };
        let packed = flat.with_packed(|id| id.name.multiplies().then_some(number_type));
        let seconds_packing = Some(start.elapsed().as_secs_f64());
        let parameters = Arc::new(if arguments.has("--plain") { flat } else { packed });
        Self { model, parameters, seconds_packing }
    }
}

/// Times one more word of a target with kept keys and values, and reading the numbers of the decoder once, of which an
/// array of as many bytes stands in for those that are packed. Returns both medians, and the megabytes.
fn one_more(
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
    words: &[usize],
    memory: Tokens<'_, f32>,
    repeat: usize,
) -> [f64; 3] {
    let words: Vec<Option<usize>> = words.iter().copied().map(Some).collect();
    let (kept, _) = model.begin(parameters, &words, Some(memory), words.len() + 1);
    let (seconds, _) = jobs::timed_after(
        repeat,
        || kept.clone(),
        |mut kept| {
            let output = model.one_more(parameters, &mut kept, words[0]);
            model.logits_at_end(parameters, &output)
        },
    );
    let is_of_decoder = |block: usize| block >= model.architecture.source_blocks.len();
    let blocks = parameters.specs().iter().filter(|spec| spec.id.name.multiplies() && is_of_decoder(spec.id.block));
    // The readout reads the table of words.
    let numbers =
        blocks.map(|spec| spec.rows * spec.cols).sum::<usize>() + model.classes.count() * model.architecture.width;
    let weights = vec![1.0f32; numbers];
    let (read, _) = jobs::timed(repeat, || {
        const LANES: usize = 64;
        let mut sums = [0.0f32; LANES];
        for chunk in black_box(&weights).chunks_exact(LANES) {
            sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
        }
        sums.iter().sum::<f32>()
    });
    [jobs::median(&seconds), jobs::median(&read), (numbers * size_of::<f32>()) as f64 / f64::from(1 << 20)]
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(2)
}
