//! Model folders that were damaged, or made to do harm: small files of large products, shards that are one file under
//! many names, and tokenizers whose steps nest, double and repeat.

use std::fmt::{self, Debug, Formatter};
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::load;
use attune_engine::pretrained::safetensors::TensorSource;
use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};
use attune_view::export::trace;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{Attack, HANGS, Outcome, at_least_a_fifth, attack, flip, hostile, lines, numbers, shares, watched};
use crate::common::folder::Folder;
use crate::common::models::{adding, fixture, shape, zeros};
use crate::peak::{alone, taken};

/// Memory over the size of the files.
const OVER_FILES_MAX: usize = 64 << 20;

/// Fixtures of every family, each with its config as transformers writes it today and, where there is one, as the hub's
/// older files have it.
const FIXTURES: [(&str, &[&str]); 23] = {
    const BOTH: &[&str] = &["config.json", "config_hub.json"];
    [
        ("bert-wild", &["config.json"]),
        ("gpt2-wild", &["config.json"]),
        ("llama-wild", BOTH),
        ("llama3-scaling", BOTH),
        ("qwen2-wild", BOTH),
        ("qwen3-wild", BOTH),
        ("mistral-window", BOTH),
        ("gemma2-wild", BOTH),
        ("gemma3-wild", BOTH),
        ("olmo2-wild", BOTH),
        ("opt-wild", BOTH),
        ("phi3-wild", BOTH),
        ("neox-wild", BOTH),
        ("neo-wild", BOTH),
        ("phi-wild", BOTH),
        ("roberta-wild", BOTH),
        ("modernbert-wild", BOTH),
        ("distilbert-wild", BOTH),
        ("t5-wild", BOTH),
        ("t5v11-wild", BOTH),
        ("marian-wild", BOTH),
        ("bart-wild", BOTH),
        ("mbart-wild", BOTH),
    ]
};

const WEIGHTS: &str = "model.safetensors";

/// The bytes that say how long a header is.
const LENGTH_BYTES: usize = 8;

/// A change of a model's files.
#[derive(Clone, Debug)]
enum Edit {
    /// Another value of one field of the config, or a field more.
    Config(usize, Value),
    /// A field of another family.
    Add(&'static str, Value),
    /// Another value in a field that stands within another, the first that has any.
    Within(usize, Value),
    /// Another value of one field of the settings of generation.
    Writing(usize, Value),
    /// One field of the config less.
    Unset(usize),
    /// Another value in a field of the header's entry of one tensor.
    Entry(usize, &'static str, Value),
    /// Another name of one tensor.
    Rename(usize, String),
    /// One tensor less.
    Remove(usize),
    /// A text within the header's, at a share of it.
    Insert(f64, String),
    /// The header's length is another.
    Length(u64),
    /// Another number in four bytes behind the header, at a share of them.
    Number(f64, f32),
    /// Another bit, at a share of the file.
    Flip(f64, u8),
    /// The file ends at a share of it.
    Cut(f64),
    /// More bytes.
    Grow(usize),
    /// An index gives all tensors to this file.
    Index(String),
}

/// A model's folder with some changes.
struct MutatedModel {
    fixture: &'static str,
    config: &'static str,
    edits: Vec<Edit>,
}

/// The bytes of a fixture's weights; none where they lie in several files, of which no header is edited.
fn weights_of(name: &str) -> Vec<u8> {
    fs::read(fixture(name).join(WEIGHTS)).unwrap_or_default()
}

#[test]
fn mutated_models_open_or_are_refused_in_words() {
    let outcomes = attack::<MutatedModel>(700, &["opened", "refused"]);
    at_least_a_fifth(outcomes["opened"], &outcomes);
}

impl Attack for MutatedModel {
    fn cases() -> impl Strategy<Value = Self> {
        let edits = prop_oneof![vec(slips(), 1..4), vec(edits(), 1..4)];
        let files = FIXTURES.iter().flat_map(|(name, configs)| configs.iter().map(|config| (*name, *config)));
        let files = select(files.collect::<Vec<_>>());
        (files, edits).prop_map(|((fixture, config), edits)| Self { fixture, config, edits })
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        self.write(&folder.0).map_err(|error| format!("it cannot be written: {error}"))?;
        match load(&folder.0, &mut |_| true) {
            Ok(model) => {
                let engine = model.model();
                let ids = vec![0; model.config.positions().min(3)];
                let sentence = Sequences::one(&ids);
                let source = model.architecture.has_source().then_some(&sentence);
                let run = Activations::of(&engine, &model.parameters, &sentence, source, &Interventions::default());
                if source.is_some() {
                    let (choice, mut rng) = (NextWordChoice::Greedy, stream(0, Stream::Generation));
                    // Logits that are not finite write nothing.
                    let _ = engine.generate(&model.parameters, &[], Some(&ids), ids.len(), choice, &mut rng);
                }
                let logits = engine.logits_of(&model.parameters, &run.output);
                if logits.cols() == model.config.vocabulary {
                    Ok("opened")
                } else {
                    Err("it has other logits".to_owned())
                }
            }
            Err(stopped) => refused(&stopped.to_string(), 6000),
        }
    }

    /// The files lie in memory here until they are written.
    fn bytes_max(&self) -> usize {
        let grown: usize = self.edits.iter().map(|edit| if let Edit::Grow(bytes) = edit { *bytes } else { 0 }).sum();
        OVER_FILES_MAX + weights_of(self.fixture).len() + grown
    }
}

impl Debug for MutatedModel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}{}", self.fixture, self.config, lines(&self.edits))
    }
}

/// A refusal has words that are read.
pub(super) fn refused(said: &str, chars_max: usize) -> Outcome {
    let is_readable = (20..chars_max).contains(&said.len()) && !said.chars().any(char::is_control);
    if is_readable { Ok("refused") } else { Err(format!("it says {said:?}")) }
}

impl MutatedModel {
    fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join("config.json"), self.config()?)?;
        self.write_settings(folder)?;
        let weights = &weights_of(self.fixture);
        if weights.is_empty() {
            for file in fs::read_dir(fixture(self.fixture))?.flatten() {
                if file.file_name().to_string_lossy().starts_with("model") {
                    fs::copy(file.path(), folder.join(file.file_name()))?;
                }
            }
            return Ok(());
        }
        let index = self.edits.iter().find_map(|edit| if let Edit::Index(file) = edit { Some(file) } else { None });
        if let Some(file) = index {
            let tensors = header(weights).0.into_iter().filter(|(name, _)| name != "__metadata__");
            let places: Map<String, Value> = tensors.map(|(name, _)| (name, json!(file))).collect();
            fs::write(folder.join("model.safetensors.index.json"), json!({ "weight_map": places }).to_string())?;
        }
        let name = if index.is_some() { "model-1.safetensors" } else { WEIGHTS };
        fs::write(folder.join(name), self.weights(weights))
    }

    /// Writes the settings of generation, of a fixture that has them.
    fn write_settings(&self, folder: &Path) -> io::Result<()> {
        const SETTINGS: &str = "generation_config.json";
        let Ok(settings) = fs::read(fixture(self.fixture).join(SETTINGS)) else { return Ok(()) };
        let mut fields: Map<String, Value> = serde_json::from_slice(&settings).unwrap_or_default();
        for edit in &self.edits {
            let Edit::Writing(field, value) = edit else { continue };
            let name = fields.keys().nth(field % fields.len().max(1)).cloned().unwrap_or_default();
            fields.insert(name, value.clone());
        }
        fs::write(folder.join(SETTINGS), Value::Object(fields).to_string())
    }

    fn config(&self) -> io::Result<String> {
        let config = fs::read(fixture(self.fixture).join(self.config))?;
        let mut fields: Map<String, Value> = serde_json::from_slice(&config).unwrap_or_default();
        for edit in &self.edits {
            let name = |field: usize| fields.keys().nth(field % fields.len().max(1)).cloned().unwrap_or_default();
            match edit {
                Edit::Config(field, value) => drop(fields.insert(name(*field), value.clone())),
                Edit::Add(name, value) => drop(fields.insert((*name).to_owned(), value.clone())),
                Edit::Unset(field) => drop(fields.remove(&name(*field))),
                Edit::Within(field, value) => {
                    let inner = fields.values_mut().find_map(|value| value.as_object_mut().filter(|it| !it.is_empty()));
                    if let Some(inner) = inner {
                        let name = inner.keys().nth(field % inner.len()).cloned().unwrap_or_default();
                        inner.insert(name, value.clone());
                    }
                }
                _ => {}
            }
        }
        Ok(Value::Object(fields).to_string())
    }

    fn weights(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut header, data) = header(bytes);
        for edit in &self.edits {
            let (Edit::Entry(tensor, ..) | Edit::Rename(tensor, _) | Edit::Remove(tensor)) = edit else { continue };
            let Some(name) = header.keys().nth(tensor % header.len().max(1)).cloned() else { continue };
            match edit {
                Edit::Entry(_, field, value) => header[&name][*field] = value.clone(),
                Edit::Rename(_, new) => {
                    let entry = header.remove(&name).unwrap_or_default();
                    header.insert(new.clone(), entry);
                }
                _ => drop(header.remove(&name)),
            }
        }
        let mut text = Value::Object(header).to_string();
        let mut data = data.to_vec();
        let at = |share: &f64, length: usize| ((length as f64 * share) as usize).min(length.saturating_sub(4));
        let mut length = None;
        for edit in &self.edits {
            match edit {
                Edit::Insert(share, more) => {
                    text.insert_str(text.floor_char_boundary(at(share, text.len())), more);
                }
                Edit::Length(other) => length = Some(*other),
                Edit::Number(share, number) => {
                    let place = at(share, data.len()) / 4 * 4;
                    data[place..place + 4].copy_from_slice(&number.to_le_bytes());
                }
                _ => {}
            }
        }
        let length = length.unwrap_or(text.len() as u64);
        let mut file = [&length.to_le_bytes(), text.as_bytes(), &data].concat();
        for edit in &self.edits {
            match edit {
                Edit::Flip(share, bit) => flip(&mut file, *share, *bit),
                Edit::Cut(share) => file.truncate(at(share, file.len())),
                Edit::Grow(bytes) => file.resize(file.len() + bytes, 0),
                _ => {}
            }
        }
        file
    }
}

/// The header of a file that is right, and the bytes behind it.
fn header(bytes: &[u8]) -> (Map<String, Value>, &[u8]) {
    let (length, rest) = bytes.split_at(LENGTH_BYTES);
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
    (serde_json::from_slice(&rest[..length]).unwrap_or_default(), &rest[length..])
}

/// Changes behind the header, which most models bear, and of fields of the config.
fn slips() -> impl Strategy<Value = Edit> {
    const BEHIND: f64 = 0.6;
    prop_oneof![
        4 => (shares(), select(&[0.0, 1e-40, -1.0, 1e30][..])).prop_map(|(share, number)| Edit::Number(share, number)),
        1 => (BEHIND..1.0, 0..8_u8).prop_map(|(share, bit)| Edit::Flip(share, bit)),
        1 => (0..40_usize, 0..64_u32).prop_map(|(field, value)| Edit::Config(field, json!(value))),
    ]
}

fn edits() -> impl Strategy<Value = Edit> {
    const TEXTS: &[&str] = &["[", "{\"a\":", "\"", "\\u0000", "\\", "9", ",", " ", "{}", "null", "\u{1f47e}"];
    const DTYPES: &[&str] = &["F16", "BF16", "F64", "I64", "F4", "F6_E2M3", "f32", "", "C64"];
    const FILES: &[&str] =
        &["model-1.safetensors", "../model-1.safetensors", "/etc/passwd", "config.json", "missing.safetensors"];
    const NUMBERS: &[f32] = &[f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 0.0, 1e-40];
    let tensor = || 0..100_usize;
    let entry = prop_oneof![
        2 => shapes().prop_map(|shape| ("shape", shape)),
        2 => [sizes(), sizes()].prop_map(|offsets| ("data_offsets", json!(offsets))),
        1 => select(DTYPES).prop_map(|dtype| ("dtype", json!(dtype))),
    ];
    prop_oneof![
        4 => (0..40_usize, values()).prop_map(|(field, value)| Edit::Config(field, value)),
        2 => (select(KEYS), values()).prop_map(|(name, value)| Edit::Add(name, value)),
        2 => (0..6_usize, values()).prop_map(|(field, value)| Edit::Within(field, value)),
        2 => (0..40_usize).prop_map(Edit::Unset),
        1 => (0..15_usize, values()).prop_map(|(field, value)| Edit::Writing(field, value)),
        5 => (tensor(), entry).prop_map(|(tensor, (field, value))| Edit::Entry(tensor, field, value)),
        1 => (tensor(), hostile(&[1, 30, 3000])).prop_map(|(tensor, name)| Edit::Rename(tensor, name)),
        1 => tensor().prop_map(Edit::Remove),
        2 => (shares(), select(TEXTS), select(&[1, 40, 100_000][..]))
            .prop_map(|(share, text, count)| Edit::Insert(share, text.repeat(count))),
        1 => sizes().prop_map(Edit::Length),
        1 => (shares(), select(NUMBERS)).prop_map(|(share, number)| Edit::Number(share, number)),
        2 => (shares(), select(&[1.0, 0.05, 1e-4][..]), 0..8_u8)
            .prop_map(|(share, of, bit)| Edit::Flip(share * of, bit)),
        1 => shares().prop_map(Edit::Cut),
        1 => select(&[1, 8, 1_000_000][..]).prop_map(Edit::Grow),
        1 => select(FILES).prop_map(|file| Edit::Index(file.to_owned())),
    ]
}

/// A size at which something ends, or any.
fn sizes() -> impl Strategy<Value = u64> {
    const EDGES: &[u64] = &[0, 1, 7, 96, 1 << 20, 100_000_000, 1 << 32, u64::MAX - 7, u64::MAX];
    prop_oneof![select(EDGES), 0..200_000_u64]
}

fn shapes() -> impl Strategy<Value = Value> {
    let rank = select(&[0_usize, 1, 2, 2, 3, 9, 5000][..]);
    rank.prop_flat_map(|rank| vec(sizes(), rank)).prop_map(|shape| json!(shape))
}

/// Fields that not every family has.
const KEYS: &[&str] = &[
    "num_key_value_heads",
    "head_dim",
    "sliding_window",
    "layer_types",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "attention_bias",
    "mlp_bias",
    "tie_word_embeddings",
    "partial_rotary_factor",
    "position_embedding_type",
    "query_pre_attn_scalar",
    "pad_token_id",
    "use_sliding_window",
    "local_attention",
    "num_experts",
    "relative_attention_num_buckets",
    "relative_attention_max_distance",
    "num_decoder_layers",
    "encoder_layers",
    "decoder_layers",
    "encoder_attention_heads",
    "decoder_attention_heads",
    "d_kv",
    "decoder_start_token_id",
    "is_encoder_decoder",
    "scale_embedding",
    "scale_decoder_outputs",
    "dense_act_fn",
    "normalize_before",
];

fn values() -> impl Strategy<Value = Value> {
    const WORDS: &[&str] = &["gelu", "relu", "gelu_pytorch_tanh", "bert", "gpt2", "distilbert", "sliding_attention"];
    let lists = vec![
        json!([]),
        json!({}),
        json!([1, "x"]),
        json!(["full_attention", "sliding_attention"]),
        json!({ "rope_type": "linear", "factor": 2 }),
        json!({ "rope_type": "yarn" }),
        json!({ "full_attention": {}, "sliding_attention": { "rope_theta": 7 } }),
        json!([[["global", "local"], 2]]),
    ];
    prop_oneof![
        select(lists),
        Just(Value::Null),
        any::<bool>().prop_map(|is| json!(is)),
        numbers().prop_map(|number| json!(number)),
        sizes().prop_map(|size| json!([size])),
        hostile(&[1, 3000]).prop_map(|text| json!(text)),
        select(WORDS).prop_map(|word| json!(word)),
        (0..64_u32).prop_map(|number| json!(number)),
        sizes().prop_map(|size| json!(size)),
    ]
}

/// Numbers of a model: larger ones take long to write, and may take long to read.
const PARAMETERS_MAX: usize = 4_000_000;
/// Memory over that of the weights, as they are written and as they are read.
const OVER_SHAPE_MAX: usize = 1_200_000_000;

/// A model, and how many pieces it is to read.
#[derive(Clone, Debug)]
struct Shape {
    /// Width, layers, heads, hidden units, positions and pieces.
    sizes: [usize; 6],
    /// Pieces that its tokenizer adds; none: it has no tokenizer.
    added: Option<usize>,
    ids: Vec<usize>,
}

impl Shape {
    fn parameters(&self) -> usize {
        let [width, layers, _, hidden, positions, vocabulary] = self.sizes;
        layers * (4 * width * width + 2 * width * hidden) + (positions + vocabulary) * width
    }

    fn run_in(&self, folder: &Path) -> Outcome {
        let lesson = match lesson::read(folder) {
            Ok(lesson) => Arc::new(lesson),
            Err(issues) => return if issues.is_empty() { Err("no issue".to_owned()) } else { Ok("refused") },
        };
        let mut kernel = Kernel::embedded(lesson);
        if let Some(fault) = kernel.snapshot().fault {
            return Err(fault.words);
        }
        let asked = SentenceCommand::Ids(self.ids.iter().map(|id| id % self.sizes[5]).collect());
        kernel.apply(Command::Sentence(asked));
        let snapshot = kernel.snapshot();
        trace::write(&snapshot, io::sink()).map_err(|error| error.to_string())?;
        match snapshot.notice {
            None => Ok("shown"),
            Some(said) if said.contains("at most") => Ok("too many pieces"),
            Some(said) => Err(format!("it says {said}")),
        }
    }
}

#[test]
fn products_of_shapes_are_bounded() {
    attack::<Shape>(25, &["shown", "too many pieces"]);
}

#[test]
fn a_tokenizer_that_spells_no_word_is_soon_known() {
    // Each of its pieces was cut with the 192 that it adds, to find one that is a word.
    let shape = Shape { sizes: [1, 16, 1, 1, 3, 1_000_000], added: Some(192), ids: vec![5; 40] };
    assert_eq!(watched(HANGS, &shape, || shape.run()), Ok("too many pieces"));
}

#[test]
fn a_tokenizer_whose_patterns_are_slow_is_soon_known() {
    // For each of two thousand pieces, the patterns took up to two seconds.
    const PIECES: usize = 2_000;
    let doubles = json!({ "type": "Replace", "pattern": { "Regex": ".*[^a-z]|[a-z]" }, "content": "aa" });
    let mut tokenizer = adding(2);
    tokenizer["normalizer"] = json!({ "type": "Sequence", "normalizers": vec![doubles; 16] });
    let pieces = (1..PIECES).map(|id| (format!("w{id}"), json!(id))).chain([("[UNK]".to_owned(), json!(0))]);
    tokenizer["model"]["vocab"] = Value::Object(pieces.collect());
    let folder = zeros(&shape([1, 1, 1, 1, 128, PIECES]), Some(&tokenizer));
    assert!(watched(HANGS, &tokenizer, || lesson::read(&folder.0)).is_ok());
}

impl Attack for Shape {
    fn cases() -> impl Strategy<Value = Self> {
        let size = |most: u32| (0..=most).prop_map(|exponent| 1_usize << exponent);
        let vocabulary = prop_oneof![6 => Just(20), 1 => Just(100_000), 1 => Just(1_000_000)];
        let sizes = (size(9), size(7), size(8), size(6), prop_oneof![Just(128), Just(512), Just(3)], vocabulary);
        let sizes = sizes.prop_map(|(width, layers, heads, hidden, positions, vocabulary)| {
            [width, layers, heads.min(width), hidden, positions, vocabulary]
        });
        let count = select(&[1_usize, 40, 100, 128, 129][..]);
        let ids = count.prop_flat_map(|count| vec(0..20_usize, count));
        let added = prop_oneof![2 => Just(None), 1 => Just(Some(2)), 1 => Just(Some(100)), 1 => Just(Some(192))];
        let shape = (sizes, added, ids).prop_map(|(sizes, added, ids)| Self { sizes, added, ids });
        shape.prop_filter("a model that is soon written", |shape| shape.parameters() <= PARAMETERS_MAX)
    }

    fn run(&self) -> Outcome {
        let folder = zeros(&shape(self.sizes), self.added.map(adding).as_ref());
        self.run_in(&folder.0)
    }

    fn bytes_max(&self) -> usize {
        // Numbers as they are written, in the file's bytes, as they are read, and packed.
        OVER_SHAPE_MAX + 5 * size_of::<f32>() * self.parameters()
    }
}

/// Tensors of one file, each without an entry.
#[derive(Clone, Debug)]
struct Shard {
    tensors: usize,
    /// Another name of the first file.
    is_link: bool,
}

/// Models in several files that are one file under many names, or have more than the index gives them.
#[derive(Debug)]
struct Shards(Vec<Shard>);

#[test]
fn shards_take_the_memory_of_one() {
    attack::<Shards>(6, &["refused"]);
}

impl Shards {
    fn write(&self, folder: &Path) -> io::Result<()> {
        let mut places = Map::new();
        for (number, shard) in self.0.iter().enumerate() {
            let (name, first) = (format!("{number}.safetensors"), folder.join("0.safetensors"));
            if shard.is_link && number > 0 {
                fs::hard_link(first, folder.join(&name))?;
            } else {
                let entry = json!({ "dtype": "F32", "shape": [0], "data_offsets": [0, 0] });
                let tensors = (0..shard.tensors).map(|i| (format!("{number} {i}"), entry.clone()));
                let header = Value::Object(tensors.collect()).to_string();
                let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
                fs::write(folder.join(&name), bytes)?;
            }
            places.insert(format!("{number} 0"), json!(name));
        }
        fs::write(folder.join("model.safetensors.index.json"), json!({ "weight_map": places }).to_string())?;
        fs::copy(fixture("bert-wild").join("config.json"), folder.join("config.json")).map(drop)
    }
}

impl Attack for Shards {
    fn cases() -> impl Strategy<Value = Self> {
        let tensors = select(&[0, 1, 100, 20_000][..]);
        let shard = (tensors, prop::bool::weighted(0.7)).prop_map(|(tensors, is_link)| Shard { tensors, is_link });
        vec(shard, 1..200).prop_map(Self)
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        self.write(&folder.0).map_err(|error| format!("it cannot be written: {error}"))?;
        match load(&folder.0, &mut |_| true) {
            Ok(_) => Err("it opened, and has no weights".to_owned()),
            Err(stopped) => refused(&stopped.to_string(), 6000),
        }
    }

    /// One head at a time, as it is written and as it is read.
    fn bytes_max(&self) -> usize {
        OVER_FILES_MAX
    }
}

/// Memory over the size of the file and of the text.
const OVER_TOKENIZER_MAX: usize = 256 << 20;

/// A step of a pipeline.
#[derive(Clone, Debug)]
enum Step {
    One(Value),
    /// So many times the same, in a list.
    List(Box<Step>, usize),
}

impl Step {
    fn json(&self, list: &str) -> Value {
        match self {
            Self::One(step) => step.clone(),
            Self::List(step, count) => json!({ "type": "Sequence", list: vec![step.json(list); *count] }),
        }
    }
}

/// A tokenizer, and a text that is so many times another.
#[derive(Debug)]
struct NestedTokenizer {
    normalisers: Vec<Step>,
    splitters: Vec<Step>,
    added: usize,
    text: (&'static str, usize),
}

/// Regular expressions that take long, that are large, and that are usual.
const PATTERNS: [&str; 14] = [
    "",
    ".",
    r"\s+(?!\S)|\s+",
    r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}",
    "(a+)+$",
    ".*[^a-z]|[a-z]",
    r"(a|aa)+\1b",
    r"(?:(?=a)(a|aa))+$b",
    "(?:(?!.*y).)++z|.",
    "(?=.*y)z|.",
    "(?<=a{1,900})b",
    "(?:a{1000}){1000}",
    r"\p{L}{500}",
    r"(?R)|(a(?1)?b)",
];

fn steps(of: Vec<Value>) -> impl Strategy<Value = Vec<Step>> {
    let one = select(of).prop_map(Step::One);
    // Few of each: a pipeline has at most 16 steps, those of all its lists together.
    let count = || prop_oneof![9 => 0..3_usize, 1 => 0..17_usize];
    let nested = one.prop_recursive(3, 4, 1, move |inner| {
        (inner, count()).prop_map(|(inner, count)| Step::List(Box::new(inner), count))
    });
    vec(nested, 0..4)
}

#[test]
fn nested_steps_of_tokenizers_end() {
    let outcomes = attack::<NestedTokenizer>(200, &["read", "refused"]);
    at_least_a_fifth(outcomes["read"], &outcomes);
}

impl Attack for NestedTokenizer {
    fn cases() -> impl Strategy<Value = Self> {
        let bert = |strip: bool| json!({ "type": "BertNormalizer", "strip_accents": strip });
        let byte_level = |regex: bool| json!({ "type": "ByteLevel", "use_regex": regex });
        let replace = |from: &str, to: &str, times: usize| json!({ "type": "Replace", "pattern": { "String": from }, "content": to.repeat(times) });
        let plain = |kind: &str| json!({ "type": kind });
        let kinds = ["NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "Strip", "StripAccents", "ByteLevel"].map(plain);
        let longer = [replace("a", "a", 64), replace("a", "ﷺ", 3), replace("", "a", 40), replace("a", "a", 5000)];
        let regexes =
            PATTERNS.map(|pattern| json!({ "type": "Replace", "pattern": { "Regex": pattern }, "content": "aa" }));
        let prepend = json!({ "type": "Prepend", "prepend": "▁▁" });
        let normalisers =
            [vec![bert(true), bert(false), prepend], kinds.to_vec(), longer.to_vec(), regexes.to_vec()].concat();
        let bytes = vec![plain("BertPreTokenizer"), byte_level(true), byte_level(false)];
        let kinds =
            ["Digits", "Metaspace", "Punctuation", "UnicodeScripts", "Whitespace", "WhitespaceSplit"].map(plain);
        let split = |pattern: &str| json!({ "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated" });
        let lengths = [0, 1, 5].map(|length| json!({ "type": "FixedLength", "length": length }));
        let splitters = [bytes, kinds.to_vec(), lengths.to_vec(), PATTERNS.map(split).to_vec()].concat();
        let texts = select(vec!["a", "é", "你", "a ", "👩‍👩‍👧‍👦", "\u{301}", " ", "a.", "ﷺ"]);
        let lengths = select(vec![0, 1, 100, 20_000]);
        let all = (steps(normalisers), steps(splitters), 0..70_usize, (texts, lengths));
        all.prop_map(|(normalisers, splitters, added, text)| Self { normalisers, splitters, added, text })
    }

    fn run(&self) -> Outcome {
        let list = |steps: &[Step], list: &str| {
            let all: Vec<Value> = steps.iter().map(|step| step.json(list)).collect();
            json!({ "type": "Sequence", list: all })
        };
        let parts = vec![json!({ "SpecialToken": { "id": "x", "type_id": 0 } }); self.added];
        let single = [parts, vec![json!({ "Sequence": { "id": "A", "type_id": 0 } })]].concat();
        let json = json!({
            "normalizer": list(&self.normalisers, "normalizers"),
            "pre_tokenizer": list(&self.splitters, "pretokenizers"),
            "post_processor": {
                "type": "TemplateProcessing", "single": single,
                "special_tokens": { "x": { "id": "x", "ids": vec![1; 64], "tokens": [] } },
            },
            "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": { "[UNK]": 0, "a": 1, "##a": 2 } },
        });
        match Tokenizer::read(TokenizerFiles::Json(&json.to_string())) {
            Ok(tokenizer) => {
                let text = self.text.0.repeat(self.text.1);
                let pieces = match tokenizer.encode(&text) {
                    Ok(encoding) => encoding.pieces,
                    Err(why) => return refused(&why, 1200),
                };
                let is_within = pieces.iter().all(|piece| text.get(piece.bytes.clone()).is_some());
                if is_within { Ok("read") } else { Err("a piece is no part of the text".to_owned()) }
            }
            Err(refusal) => refused(&refusal.to_string(), 1200),
        }
    }

    fn bytes_max(&self) -> usize {
        OVER_TOKENIZER_MAX
    }
}

#[test]
fn a_text_that_a_step_lengthens_takes_little_memory() {
    let _alone = alone();
    let step = json!({ "type": "Replace", "pattern": { "String": "" }, "content": "a".repeat(40) });
    let nested = || Step::List(Box::new(Step::List(Box::new(Step::One(step.clone())), 1)), 1);
    let case = |text| NestedTokenizer { normalisers: vec![nested()], splitters: Vec::new(), added: 0, text };
    for text in [("a", 65_000), ("👩‍👩‍👧‍👦", 20_000)] {
        let (outcome, taken) = case(text).tried();
        assert_eq!(outcome, Ok("refused"), "{taken}");
    }
}

/// Headers as large as a file can have them are refused, or passed, in the memory of the file and little more.
#[test]
fn huge_headers_take_little_memory() {
    let _alone = alone();
    const BYTES: usize = 40_000_000;
    const NAME: usize = 500;
    let entry = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let list = |of: &str| of.repeat(BYTES / of.len());
    let names = (0..BYTES / (NAME + entry.len())).map(|i| format!("\"{i:0>NAME$}\":{entry}"));
    let headers = [
        format!("{{\"{}\":{entry}}}", list("x")),
        format!("{{\"{}\":{entry}}}", list("\\n")),
        format!("{{\"a\":{}", list("[")),
        format!("{{\"__metadata__\":{}", list("{\"a\":")),
        format!("{{\"__metadata__\":{{\"a\":\"{}\"}}}}", list("\\n")),
        format!("{{\"__metadata__\":{{{}\"z\":\"\"}}}}", list("\"a\":\"b\",")),
        format!("{{\"a\":{{\"dtype\":\"U8\",\"shape\":[{}0]", list("0,")),
        format!("{{\"a\":{{\"dtype\":\"{}\"}}}}", list("\\n")),
        format!("{{{}}}", names.collect::<Vec<_>>().join(",")),
        format!("{{{}\"b\":{entry}}}", list(&format!("\"a\":{entry},"))),
        list(" "),
    ];
    for header in headers {
        let begin: String = header.chars().take(40).collect();
        let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        drop(header);
        let (opened, taken) =
            taken(|| TensorSource::open(&*file, file.len() as u64).err().map(|refusal| refusal.to_string()));
        assert!(taken.bytes <= file.len() + OVER_FILES_MAX, "{begin}: {taken}");
        let is_told = opened.as_ref().is_none_or(|said| said.len() < 1500);
        assert!(is_told, "{begin}: {opened:?}");
    }
}
