//! A model's folder, opened: its shape and its tokenizer. The weights are read later, by [`super::load`].
//!
//! Its files may be anything: no folder is read as a file, no pipe waited for, and no more read than a file of its kind may
//! have.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::files;
use crate::foreign;
use crate::messages::counted;
use crate::numerics::model::{Architecture, Readout};
use crate::numerics::params::TensorId;
use crate::pretrained::cache::{Absent, CONFIG, WEIGHTS};
use crate::pretrained::config::{CONFIG_BYTES_MAX, Config, Family};
use crate::pretrained::contents::without_config;
use crate::pretrained::load::{ModelFile, architecture, shape, wanted};
use crate::pretrained::refusal::{Refusal, quoted};
use crate::pretrained::safetensors;
use crate::pretrained::tokenizer::read::SAVE_AGAIN;
use crate::pretrained::tokenizer::write::{Cut, MASK, NewTokenizer, UNKNOWN};
use crate::pretrained::tokenizer::{Encoding, ModelPiece, OlderFiles, Origin, Tokenizer, TokenizerFiles};

/// Bytes of each file of a tokenizer; those of the largest vocabularies have some 35 MB.
pub const TOKENIZER_BYTES_MAX: u64 = 64 << 20;

/// Files of a tokenizer: all of it, and what is beside an older one.
pub const TOKENIZER: &str = "tokenizer.json";
pub const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// Files of older tokenizers: of BERT's family, and of GPT-2's.
pub const PIECES: &str = "vocab.txt";
pub(super) const IDS: &str = "vocab.json";
pub(super) const MERGES: &str = "merges.txt";
pub(super) const SPECIAL: &str = "special_tokens_map.json";
pub(super) const ADDED: &str = "added_tokens.json";
/// Files of tokenizers that are not read.
const OTHER_TOKENIZERS: [&str; 6] =
    ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model", "bpe.codes", "tekken.json"];

/// Stands between the sentences of a pair.
pub const PAIR: &str = "|||";

/// A model that can be loaded.
#[derive(Debug)]
pub struct ModelFolder {
    /// The name that people know it by.
    pub name: String,
    pub path: PathBuf,
    pub config: Config,
    pub architecture: Architecture,
    /// Whether the guesses are the model's own: without a head, a word is likely where the output is like its vector.
    pub has_head: bool,
    /// Without one, token ids stand for words.
    pub tokenizer: Result<Tokenizer, NoTokenizer>,
    /// A model that is not on this computer: only its shape is known.
    pub absent: Option<Absent>,
}

/// Why token ids stand for words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTokenizer {
    /// The folder has none.
    Missing,
    /// The tokenizer is damaged, or of a kind that is not read.
    Unusable(Refusal),
}

impl fmt::Display for NoTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "the folder has no tokenizer"),
            Self::Unusable(why) => write!(f, "the tokenizer cannot be used ({why})"),
        }
    }
}

impl PartialEq for ModelFolder {
    /// The same folder with a model of the same shape.
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.architecture) == (&other.path, &other.architecture)
    }
}

impl ModelFolder {
    /// # Errors
    /// If the folder is no model's, or of a kind that is not known.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let text = text_if_there(path, CONFIG, CONFIG_BYTES_MAX)?;
        let text = text.ok_or_else(|| without_config(path))?;
        let config = Config::parse(&text).map_err(|refusal| refusal.in_file(CONFIG))?;
        let tokenizer = tokenizer(path, &text);
        let (architecture, has_head) = shape(path, &config)?;
        let (name, path, absent) = (name(path), path.to_owned(), None);
        Ok(Self { name, path, config, architecture, has_head, tokenizer, absent })
    }

    /// A model that is not on this computer, if its shape is well known: what a lesson about it says can be read.
    pub fn absent(absent: Absent) -> Option<Self> {
        let config = absent.config()?;
        Some(Self {
            name: absent.name.as_str().to_owned(),
            path: absent.looked_in.clone().unwrap_or_default(),
            architecture: architecture(&config, Readout::Tied),
            config,
            has_head: true,
            tokenizer: Err(NoTokenizer::Missing),
            absent: Some(absent),
        })
    }

    /// Whether two sentences can be read as a pair.
    pub fn reads_pairs(&self) -> bool {
        self.tokenizer.as_ref().is_ok_and(Tokenizer::has_pairs)
    }

    /// The piece that stands for a hidden word, and its id; `None` where the model hides none.
    pub fn hidden(&self) -> Option<(&'static str, u32)> {
        let hidden = self.tokenizer.as_ref().ok()?.hidden();
        hidden.filter(|(_, id)| (*id as usize) < self.config.vocabulary)
    }

    /// The pieces of a learner's text, with places in it: as the tokenizer cuts it, or token ids with spaces or commas
    /// between them where there is none.
    ///
    /// # Errors
    /// In words for the learner, if a word is no token id, the tokenizer cannot cut the text, or the model has no row for
    /// a piece of it.
    pub fn pieces(&self, text: &str) -> Result<Vec<ModelPiece>, String> {
        let tokenizer = match &self.tokenizer {
            Ok(tokenizer) => tokenizer,
            Err(why) => return self.ids(text, why),
        };
        let parts: Vec<&str> = text.split(PAIR).collect();
        let encoding = match parts[..] {
            [_] => tokenizer.encode(text),
            [first, second] => tokenizer.encode_pair(first, second),
            _ => {
                let count = parts.len();
                Err(format!("{count} sentences with {PAIR} between them; a pair has two, such as `a {PAIR} b`"))
            }
        };
        let Encoding { mut pieces, .. } = encoding?;
        let second_begins = if parts.len() > 1 { parts[0].len() + PAIR.len() } else { 0 };
        for piece in &mut pieces {
            self.check(piece, tokenizer)?;
            // Models of one kind of sentence give it to all, whatever their tokenizer says.
            piece.segment = if self.config.types() > 1 { piece.segment } else { 0 };
            if piece.text == 1 {
                piece.bytes = piece.bytes.start + second_begins..piece.bytes.end + second_begins;
            }
        }
        Ok(pieces)
    }

    /// Refuses a piece for which the model has no numbers: tokens may be added to a tokenizer alone.
    fn check(&self, piece: &ModelPiece, tokenizer: &Tokenizer) -> Result<(), String> {
        let (rows, types) = (self.config.vocabulary, self.config.types());
        let (id, name) = (piece.id, quoted(tokenizer.piece(piece.id).unwrap_or_default()));
        if id as usize >= rows {
            let cause = match piece.origin {
                Origin::Added => "the tokenizer adds it to every text, so write token ids",
                Origin::Text | Origin::Spelled => "leave it out",
            };
            let last = rows - 1;
            return Err(format!(
                "{name} is token {id} of the tokenizer, but the model's embedding table has rows 0 to {last}; {cause}"
            ));
        }
        if types > 1 && piece.segment >= types {
            let (segment, last) = (piece.segment, types - 1);
            return Err(format!(
                "the tokenizer gives {name} the token type {segment}, but the model has types 0 to {last}; write one \
                 sentence, or token ids"
            ));
        }
        Ok(())
    }

    fn ids(&self, text: &str, why: &NoTokenizer) -> Result<Vec<ModelPiece>, String> {
        let last = self.config.vocabulary - 1;
        let begin = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let words = text.split(|sign: char| sign.is_whitespace() || sign == ',').filter(|word| !word.is_empty());
        let piece = |(number, word): (usize, &str)| {
            let id = word.parse().ok().filter(|id| *id as usize <= last).ok_or_else(|| {
                let shown = quoted(word);
                format!("{shown} is not a token id; {why}, so write ids from 0 to {last}")
            })?;
            let bytes = begin(word)..begin(word) + word.len();
            Ok(ModelPiece { id, bytes, text: 0, word: Some(number), segment: 0, origin: Origin::Text })
        };
        words.enumerate().map(piece).collect()
    }

    /// The files of its tokenizer, as they are now.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn tokenizer_files(&self) -> Result<Vec<ModelFile>, Refusal> {
        let texts = self.tokenizer_texts()?;
        Ok(texts.iter().map(|(name, text)| ModelFile::of_text(name, text)).collect())
    }

    /// The files of its tokenizer with their texts.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn tokenizer_texts(&self) -> Result<Vec<(&'static str, String)>, Refusal> {
        let all = [TOKENIZER, TOKENIZER_CONFIG, PIECES, IDS, MERGES, SPECIAL, ADDED];
        let texts = all.map(|name| Ok(text_if_there(&self.path, name, TOKENIZER_BYTES_MAX)?.map(|text| (name, text))));
        texts.into_iter().filter_map(Result::transpose).collect()
    }

    /// A line on what it is.
    pub fn about(&self) -> String {
        let (config, vocabulary) = (&self.config, self.config.vocabulary);
        let (name, layers, heads, width) = (config.family.name(), config.layers(), config.heads(), config.width());
        let kind = if config.is_causal() {
            "each word sees itself and the words before it"
        } else {
            "each word sees \
            all words"
        };
        let (layers, heads) = (counted(layers, "layer"), counted(heads, "head"));
        format!("{name}: {layers} of {heads}, vectors of {width}, {vocabulary} pieces; {kind}")
    }

    /// Every piece of the vocabulary as a person reads it, by its id.
    pub fn vocabulary(&self) -> Vec<String> {
        (0..self.config.vocabulary as u32).map(|id| self.shown(id)).collect()
    }

    /// A piece as a person reads it.
    pub fn shown(&self, id: u32) -> String {
        self.tokenizer.as_ref().map_or_else(|_| id.to_string(), |tokenizer| shown(tokenizer, id))
    }
}

/// A piece that begins a word reads as the word, one that goes on with a word begins with `##`.
fn shown(tokenizer: &Tokenizer, id: u32) -> String {
    let Some(piece) = tokenizer.piece(id) else { return format!("[{id}]") };
    let shown = tokenizer.shown(id);
    let text = if piece.starts_with("##") { piece } else { shown.strip_prefix(' ').unwrap_or(&shown) };
    if text.is_empty() { piece.to_owned() } else { text.to_owned() }
}

/// `ORG/NAME` of a folder in the cache, else the name of the folder, or of the one that it is in where its own name would
/// fit any model.
fn name(path: &Path) -> String {
    const OF_ANY: [&str; 5] = ["model", "models", "checkpoint", "weights", "onnx"];
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parts = || whole.ancestors().filter_map(|folder| folder.file_name());
    let in_cache = parts().filter_map(|part| part.to_str()?.strip_prefix("models--")).next();
    let of_any = |part: &OsStr| OF_ANY.iter().any(|name| part.eq_ignore_ascii_case(name));
    let own = || parts().find(|part| !of_any(part)).map_or("model".into(), OsStr::to_string_lossy);
    in_cache.map_or_else(|| own().into_owned(), |name| name.replace("--", "/"))
}

/// Reads the tokenizer of a folder, whose `config.json` has this text.
fn tokenizer(folder: &Path, config: &str) -> Result<Tokenizer, NoTokenizer> {
    match read_tokenizer(folder, config) {
        Ok(Some(tokenizer)) => Ok(tokenizer),
        Ok(None) => Err(NoTokenizer::Missing),
        Err(why) => Err(NoTokenizer::Unusable(why)),
    }
}

fn read_tokenizer(folder: &Path, config: &str) -> Result<Option<Tokenizer>, Refusal> {
    let read = |name| text_if_there(folder, name, TOKENIZER_BYTES_MAX);
    if let Some(json) = read(TOKENIZER)? {
        return Tokenizer::read(TokenizerFiles::Json(&json)).map(Some);
    }
    let [own, special, added] = [read(TOKENIZER_CONFIG)?, read(SPECIAL)?, read(ADDED)?];
    let [class, model_type] = ["tokenizer_class", "model_type"].map(|field| text_of(config, field));
    let beside = OlderFiles {
        config: own.as_deref(),
        special: special.as_deref(),
        added: added.as_deref(),
        class: class.as_deref(),
        model_type: model_type.as_deref(),
    };
    let [vocab, ids, merges] = [read(PIECES)?, read(IDS)?, read(MERGES)?];
    if let Some(vocab) = vocab {
        return Tokenizer::read(TokenizerFiles::WordPiece { vocab: &vocab, beside }).map(Some);
    }
    if let (Some(vocab), Some(merges)) = (&ids, &merges) {
        return Tokenizer::read(TokenizerFiles::BytePair { vocab, merges, beside }).map(Some);
    }
    let others = OTHER_TOKENIZERS.iter().copied().filter(|name| folder.join(name).exists());
    let halves = [(IDS, &ids), (MERGES, &merges)].into_iter().filter_map(|(name, text)| text.as_ref().map(|_| name));
    let found: Vec<&str> = halves.chain(others).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let expected = format!("{TOKENIZER}, {PIECES}, or {IDS} with {MERGES}");
    Err(Refusal::new(found.join(" and "), expected, SAVE_AGAIN))
}

/// The text of a field of `config.json`.
fn text_of(config: &str, field: &str) -> Option<String> {
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    config.get(field)?.as_str().map(str::to_owned)
}

/// A plain file and its length.
///
/// # Errors
/// If it is missing, no plain file, or cannot be opened.
pub fn plain(folder: &Path, name: &str) -> Result<(File, u64), Refusal> {
    let other = |found| Refusal::new(found, "a regular file", "download the whole folder").in_file(name);
    let unreadable = |error: Error| match error.kind() {
        ErrorKind::NotFound => {
            Refusal::new("no such file", "a file of this name in the model's folder", "download the whole folder")
                .in_file(name)
        }
        ErrorKind::IsADirectory => other("a folder"),
        ErrorKind::InvalidInput => other("a pipe or a device"),
        _ => Refusal::unreadable(&error).in_file(name),
    };
    files::open(&folder.join(name)).map_err(unreadable)
}

/// The text of a file of at most the given number of bytes.
///
/// # Errors
/// If it is missing, no plain file, larger, or no UTF-8.
pub fn text(folder: &Path, name: &str, most: u64) -> Result<String, Refusal> {
    let (file, bytes) = plain(folder, name)?;
    let refusal = |found: String| {
        let expected = format!("a text of at most {most} bytes");
        Refusal::new(found, expected, "download the file again").in_file(name)
    };
    if bytes > most {
        return Err(refusal(format!("{bytes} bytes")));
    }
    let head = files::head(&folder.join(name), foreign::HEAD_BYTES as u64).unwrap_or_default();
    if let Some(kind) = foreign::recognise(&head) {
        return Err(kind.refusal("text of a model").in_file(name));
    }
    let mut text = String::new();
    match file.take(most).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(refusal("bytes that are not UTF-8".to_owned())),
        Err(error) => Err(Refusal::unreadable(&error).in_file(name)),
    }
}

/// The text of a file that need not be there.
///
/// # Errors
/// As [`text`], but for a file that is missing.
pub fn text_if_there(folder: &Path, name: &str, most: u64) -> Result<Option<String>, Refusal> {
    match fs::metadata(folder.join(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => text(folder, name, most).map(Some),
    }
}

// A model written as the folder of a pretrained one: what [`load`](super::load) reads, and what
// transformers opens. Names and layouts are those of the [reader](super::names).

/// A file of a folder, by its name.
pub type NewFile = (&'static str, Vec<u8>);

impl Family {
    /// The pieces after the words of a vocabulary: one for a word that is none of it, and one that hides a word, where
    /// the family guesses hidden words.
    pub fn special_pieces(self) -> &'static [&'static str] {
        match self {
            Self::Bert | Self::DistilBert => &[UNKNOWN, MASK],
            _ => &[UNKNOWN],
        }
    }
}

/// The tokenizer of a lesson's words.
pub fn of_words(words: &[String], family: Family) -> NewTokenizer<'_> {
    NewTokenizer { own: words, special: family.special_pieces(), cut: Cut::Words }
}

impl NewTokenizer<'_> {
    /// Its files, beside a model that reads the given number of tokens.
    pub fn files(&self, tokens_max: usize) -> Vec<NewFile> {
        vec![(TOKENIZER, self.to_json().into_bytes()), (TOKENIZER_CONFIG, self.config(tokens_max).into_bytes())]
    }
}

/// The files of a folder with a model, but for its tokenizer's. `entry` is an entry of a tensor in the shapes of the
/// config.
pub fn files(config: &Config, readout: Readout, entry: impl Fn(TensorId, usize, usize) -> f32) -> Vec<NewFile> {
    let tensors = config.tensors(&wanted(config, &architecture(config, readout)), entry);
    let tensors = tensors.iter().map(|(name, tensor)| (name.clone(), (&tensor.shape[..], &tensor.numbers[..])));
    let mut weights = Vec::new();
    // Writing to memory cannot fail.
    let _ = safetensors::write(&tensors.collect(), &mut weights);
    vec![(CONFIG, config.to_json().into_bytes()), (WEIGHTS, weights)]
}
