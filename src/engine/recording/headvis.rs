//! One head on many texts, as HeadVis shows it: a file `heads/L5H1.json` of Neuronpedia's pipeline, read as a
//! recording.
//!
//! A file has sampled sequences, each with its tokens and the largest weights of each row, at `query · tokens + key`.
//! Each becomes a text with one attention of one head. Only the file's name says which layer and head it is, counted
//! from 0.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use super::about::{About, Precision};
use super::parts::{LAYERS_MAX, Part, Side, TEXTS_MAX, TOKENS_MAX};
use super::{Attention, Numbers, RecordedText, Recording, TOKEN_CHARS_MAX};
use crate::messages::counted;
use crate::pretrained::Refusal;
use crate::pretrained::safetensors::{Dtype, FileTensor};
use crate::{files, json};

/// Largest size of a head's file in bytes; the pipeline's files have one or two million.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Number of bytes at the start of a file in which [`MARK`] is searched for, more than the tokens of the first sequence
/// take.
const BEGINNING_BYTES: u64 = 1 << 16;
/// The key of an entry that only files of heads have.
const MARK: &[u8] = b"\"attention_indices\"";
/// Largest number of tokens that are read of a sequence: one more than it may have, so that a longer one is noticed.
const TOKENS_READ: usize = TOKENS_MAX + 1;
/// Number of bytes that each weight counts for in the offsets of the tensors: those of an `f32`.
const NUMBER_BYTES: u64 = 4;
/// Name of the file about the model in the folder.
const CONFIG: &str = "config.json";
const CONFIG_BYTES_MAX: u64 = 4 << 20;

/// Advice if a file is not in the format of HeadVis.
const AS_THE_PIPELINE: &str = "take a file of the folder heads as Neuronpedia's pipeline writes it";

#[derive(Deserialize)]
struct Head {
    sequences: Vec<Sequence>,
}

#[derive(Deserialize)]
struct Sequence {
    #[serde(deserialize_with = "json::beginning::<TOKENS_READ, _, _>")]
    tokens: Vec<String>,
    /// Number of tokens, which must be that of `tokens`; `None` if the file does not have it.
    seq_len: Option<usize>,
    attention_indices: Vec<u64>,
    attention_values: Vec<f32>,
}

#[derive(Deserialize)]
struct Config {
    model_name: String,
}

/// Returns whether a file is that of a head, complete or damaged, by its name or its beginning.
pub(super) fn is_head(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let begins = || {
        let head = files::head(path, BEGINNING_BYTES).unwrap_or_default();
        head.trim_ascii_start().starts_with(b"{") && head.windows(MARK.len()).any(|part| part == MARK)
    };
    is_json && (layer_and_head(path).is_some() || begins())
}

/// Returns the digits of the layer and of the head with which a name such as `L5H1.json` begins; `None` for a name
/// that begins otherwise. The rest of the name is ignored, such as the ` (1)` of a second download.
fn layer_and_head(path: &Path) -> Option<(&str, &str)> {
    let rest = path.file_stem()?.to_str()?.strip_prefix('L')?;
    let (layer, rest) = digits(rest)?;
    let (head, _) = digits(rest.strip_prefix('H')?)?;
    Some((layer, head))
}

fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Opens a head's file as a recording of one text for each sequence.
///
/// # Errors
/// All faults. Those of a sequence name its number.
pub(super) fn open(path: &Path) -> Result<Recording, Vec<Refusal>> {
    let one = |refusal: Refusal| vec![refusal];
    let layer = layer_of(path).map_err(one)?;
    let bytes = files::read(path, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            one(Refusal::new(error.to_string(), format!("at most {FILE_BYTES_MAX} bytes"), AS_THE_PIPELINE))
        }
        _ => one(Refusal::unreadable(&error)),
    })?;
    let Head { sequences } = serde_json::from_slice(&bytes)
        .map_err(|error| one(Refusal::bad_json(&error, "sequences of a head in JSON", AS_THE_PIPELINE)))?;
    if sequences.is_empty() {
        return Err(one(Refusal::new("no sequences", "1 or more", AS_THE_PIPELINE)));
    }
    let count = sequences.len();
    let mut opened = Opened { title: title(path), layer, ..Opened::default() };
    sequences.into_iter().take(TEXTS_MAX).for_each(|sequence| opened.add(sequence));
    let unused = (count > TEXTS_MAX).then(|| format!("sequences {} to {count}", TEXTS_MAX + 1));
    if !opened.faults.is_empty() {
        return Err(opened.faults);
    }
    Ok(Recording {
        numbers: Numbers::Sparse(opened.weights),
        texts: opened.texts,
        unused: unused.into_iter().collect(),
    })
}

fn layer_of(path: &Path) -> Result<usize, Refusal> {
    let Some((layer, _)) = layer_and_head(path) else {
        let advice = "name the file as HeadVis does, L5H1.json for layer 5 and head 1, counted from 0";
        return Err(Refusal::new("a name without a layer and a head", "a name such as L5H1.json", advice));
    };
    layer.parse().ok().filter(|layer| *layer < LAYERS_MAX).ok_or_else(|| {
        let expected = format!("numbers from 0 to {}", LAYERS_MAX - 1);
        Refusal::new(format!("the layer {layer} in the file's name"), expected, AS_THE_PIPELINE)
    })
}

/// Returns the names of the model and of the head: `gpt2, L5H1`. The model's name comes from a config in the file's
/// folder or the one above; without a config it is left out.
fn title(path: &Path) -> String {
    let head = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folders = path.ancestors().skip(1).take(2);
    let config = folders.filter_map(|folder| {
        let bytes = files::read(&folder.join(CONFIG), CONFIG_BYTES_MAX).ok()?;
        serde_json::from_slice::<Config>(&bytes).ok()
    });
    let model = config.map(|config| config.model_name).next();
    model.map_or_else(|| head.clone(), |model| format!("{model}, {head}"))
}

/// The texts of a file that have been read so far.
#[derive(Default)]
struct Opened {
    title: String,
    layer: usize,
    texts: Vec<RecordedText>,
    /// The weights that are not 0, each with its index in the sequence of all weights of all texts.
    weights: Vec<(u64, f32)>,
    /// Number of all weights of the texts so far, zeros included.
    places: u64,
    faults: Vec<Refusal>,
}

impl Opened {
    fn add(&mut self, sequence: Sequence) {
        let number = self.texts.len();
        if let Err(refusal) = check(&sequence) {
            self.faults.push(refusal.of_tensor(&format!("sequences[{}]", number + self.faults.len())));
            return;
        }
        let tokens = sequence.tokens.len();
        let places = (tokens * tokens) as u64;
        let mut weights: Vec<(u64, f32)> = sequence
            .attention_indices
            .iter()
            .zip(sequence.attention_values)
            .map(|(index, value)| (self.places + index, value))
            .collect();
        weights.sort_unstable_by_key(|(place, _)| *place);
        self.weights.append(&mut weights);
        let tensor = FileTensor {
            name: format!("{number}/{}.{}", Part::Attentions.name(), self.layer),
            dtype: Dtype::F32,
            shape: vec![1, tokens, tokens],
            begin: self.places * NUMBER_BYTES,
            end: (self.places + places) * NUMBER_BYTES,
        };
        self.places += places;
        let attention =
            Attention { side: Side::Own, layer: self.layer, heads: 1, parts: [(Part::Attentions, tensor)].into() };
        let about = About {
            tokens: sequence.tokens,
            model: Some(self.title.clone()),
            // By default the pipeline runs models in BF16, and it rounds each weight to four decimals.
            computed: Some(Precision::BF16),
            is_partial: true,
            ..About::default()
        };
        self.texts.push(RecordedText { about, attentions: vec![attention], ..RecordedText::default() });
    }
}

/// Checks that the parts of a sequence fit together, and that its weights are finite and not negative.
fn check(sequence: &Sequence) -> Result<(), Refusal> {
    let Sequence { tokens, seq_len, attention_indices: indices, attention_values: values } = sequence;
    let refused = |found: String, expected: String| Err(Refusal::new(found, expected, AS_THE_PIPELINE));
    if tokens.is_empty() || tokens.len() > TOKENS_MAX {
        let found = if tokens.is_empty() { "no tokens".to_owned() } else { format!("more than {TOKENS_MAX} tokens") };
        return refused(found, format!("1 to {TOKENS_MAX} tokens"));
    }
    if tokens.iter().any(|token| token.chars().nth(TOKEN_CHARS_MAX).is_some()) {
        let found = format!("a token of more than {TOKEN_CHARS_MAX} characters");
        return refused(found, format!("at most {TOKEN_CHARS_MAX} in each"));
    }
    if let Some(length) = seq_len.filter(|length| *length != tokens.len()) {
        return refused(format!("a seq_len of {length}"), format!("{}, as many as it has tokens", tokens.len()));
    }
    if indices.len() != values.len() {
        let found = format!("{} in attention_indices", counted(indices.len(), "number"));
        return refused(found, format!("as many as in attention_values, which has {}", values.len()));
    }
    let pairs = (tokens.len() * tokens.len()) as u64;
    if let Some(outside) = indices.iter().find(|index| **index >= pairs) {
        let expected = format!("numbers below {pairs}: query · {} + key", tokens.len());
        return refused(format!("{outside} in attention_indices"), expected);
    }
    if indices.iter().collect::<BTreeSet<_>>().len() < indices.len() {
        return refused("a number twice in attention_indices".to_owned(), "each pair of tokens once".to_owned());
    }
    match values.iter().find(|value| !value.is_finite() || **value < 0.0) {
        Some(wrong) => refused(format!("{wrong} in attention_values"), "finite weights of 0 or more".to_owned()),
        None => Ok(()),
    }
}
