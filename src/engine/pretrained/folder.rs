//! A model's folder, opened: its shape and its tokenizer. The weights are read later, by [`super::load`].
//!
//! Its files may be anything. Only regular files are opened, and each is read up to the largest size of its kind.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::messages::counted;
use crate::numerics::model::{Architecture, Readout, WritingRules};
use crate::numerics::params::TensorId;
use crate::pretrained::cache::Absent;
use crate::pretrained::config::{CONFIG_BYTES_MAX, Config, Family, architecture, wanted};
use crate::pretrained::contents::without_config;
use crate::pretrained::load::{ModelFile, shape};
use crate::pretrained::refusal::{Refusal, quoted};
use crate::pretrained::safetensors;
use crate::pretrained::texts::{
    ADDED, CONFIG, IDS, MERGES, SOURCE_SPM, SPECIAL, SPIECE, TARGET_SPM, WEIGHTS, bytes_if_there, text_if_there,
};
pub use crate::pretrained::texts::{PIECES, TOKENIZER, TOKENIZER_CONFIG};
use crate::pretrained::tokenizer::refuse::SAVE_AGAIN;
use crate::pretrained::tokenizer::sentencepiece::file::BYTES_MAX as SPM_BYTES_MAX;
use crate::pretrained::tokenizer::write::{Cut, MASK, NewTokenizer, PADDING, UNKNOWN};
use crate::pretrained::tokenizer::{
    Encoding, ModelPiece, OlderFiles, Origin, SpecialTokens, Tokenizer, TokenizerFiles,
};
use crate::pretrained::writing::{self, GENERATION};

/// Largest size of each tokenizer file in bytes; the largest vocabularies take about 35 MB.
pub const TOKENIZER_BYTES_MAX: u64 = 64 << 20;

/// Tokenizer files that are named in the refusal if none of the files that are read is there.
const OTHER_TOKENIZERS: [&str; 6] =
    ["tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model", "bpe.codes", "tekken.json"];

/// Separator of the sentences of a pair, and of a source and a target.
pub const PAIR: &str = "|||";

/// The folder of a model that can be loaded, with all that is known of the model without its weights.
#[derive(Debug)]
pub struct ModelFolder {
    /// Name that people know it by.
    pub name: String,
    pub path: PathBuf,
    pub config: Config,
    pub architecture: Architecture,
    /// Whether the model's readout is trained. Without a head, a word is likely if the output is similar to its vector.
    pub has_head: bool,
    /// Rules about the words that the model writes from a source.
    pub rules: WritingRules,
    /// Tokenizer, or the reason why words are written as token ids.
    pub tokenizer: Result<Tokenizer, NoTokenizer>,
    /// Details of the missing model, if it is not on this computer and only its shape is known.
    pub absent: Option<Absent>,
}

/// The reason why words are written as token ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTokenizer {
    /// A folder without a tokenizer.
    Missing,
    /// A tokenizer that is damaged or not supported.
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
    /// Compares the folder and the shape of its model.
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.architecture) == (&other.path, &other.architecture)
    }
}

impl ModelFolder {
    /// Opens a model's folder.
    ///
    /// # Errors
    /// If the folder is not a model's, or the model is not supported.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let text = text_if_there(path, CONFIG, CONFIG_BYTES_MAX)?;
        let text = text.ok_or_else(|| without_config(path))?;
        let config = Config::parse(&text).map_err(|refusal| refusal.in_file(CONFIG))?;
        let rules = writing::rules(path, &config, &text)?;
        let language = rules.first.filter(|_| config.family == Family::MBart);
        let tokenizer = tokenizer(path, &text, language);
        let (architecture, has_head) = shape(path, &config)?;
        let (name, path, absent) = (name(path), path.to_owned(), None);
        Ok(Self { name, path, config, architecture, has_head, rules, tokenizer, absent })
    }

    /// Makes the folder of a model that is not on this computer, if its shape is well known, so that a lesson about it
    /// can be read.
    pub fn absent(absent: Absent) -> Option<Self> {
        let config = absent.config()?;
        Some(Self {
            name: absent.name.as_str().to_owned(),
            path: absent.looked_in.clone().unwrap_or_default(),
            architecture: architecture(&config, Readout::Tied),
            config,
            has_head: true,
            rules: WritingRules::default(),
            tokenizer: Err(NoTokenizer::Missing),
            absent: Some(absent),
        })
    }

    /// Returns whether the model writes a target from a source.
    pub fn reads_source(&self) -> bool {
        self.architecture.has_source()
    }

    /// Returns whether two sentences can be read as a pair: the model has no source, and its tokenizer supports pairs.
    pub fn reads_pairs(&self) -> bool {
        !self.reads_source() && self.tokenizer.as_ref().is_ok_and(Tokenizer::has_pairs)
    }

    /// Returns the piece that stands for a hidden word, and its id; `None` if the model does not predict hidden words.
    pub fn hidden(&self) -> Option<(&'static str, u32)> {
        let hidden = self.tokenizer.as_ref().ok()?.hidden();
        hidden.filter(|(_, id)| (*id as usize) < self.config.vocabulary)
    }

    /// Splits a text into a source and the target after [`PAIR`], if there is one; the blanks around the mark belong to
    /// neither. A text for a model without a source is not split.
    ///
    /// # Errors
    /// A message for the learner, if there are several targets.
    pub fn source_and_target<'t>(&self, text: &'t str) -> Result<(&'t str, Option<&'t str>), String> {
        let Some((source, target)) = text.split_once(PAIR).filter(|_| self.reads_source()) else {
            return Ok((text, None));
        };
        if target.contains(PAIR) {
            let count = text.split(PAIR).count();
            return Err(format!(
                "{count} texts with {PAIR} between them; a source has one target, such as `a {PAIR} b`"
            ));
        }
        Ok((source.trim_end(), Some(target.trim_start())))
    }

    /// Splits a learner's text into pieces with their places in it: by the tokenizer, or without one into token ids
    /// separated by spaces or commas.
    ///
    /// # Errors
    /// A message for the learner, if a word is not a token id, the tokenizer cannot split the text, or the model has no
    /// row for a piece.
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
            // A model with one segment type uses it for all pieces, whatever its tokenizer says.
            piece.segment = if self.config.types() > 1 { piece.segment } else { 0 };
            if piece.text == 1 {
                piece.bytes = piece.bytes.start + second_begins..piece.bytes.end + second_begins;
            }
        }
        Ok(pieces)
    }

    /// Splits a target into the pieces that the decoder reads after its start token: those of the text, and those that
    /// the tokenizer adds before it. Without a tokenizer, the text is ids.
    ///
    /// # Errors
    /// See [`Self::pieces`].
    pub fn target_pieces(&self, text: &str) -> Result<Vec<ModelPiece>, String> {
        let tokenizer = match &self.tokenizer {
            Ok(tokenizer) => tokenizer,
            Err(why) => return self.ids(text, why),
        };
        let pieces = tokenizer.encode_begun_target(text)?.pieces;
        pieces.iter().try_for_each(|piece| self.check(piece, tokenizer))?;
        Ok(pieces)
    }

    /// Returns the text of pieces, without special tokens; if there is no tokenizer, the ids.
    pub fn decoded(&self, ids: &[u32]) -> String {
        match &self.tokenizer {
            Ok(tokenizer) => tokenizer.decode(ids, SpecialTokens::LeftOut),
            Err(_) => ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
        }
    }

    /// Refuses a piece for which the model has no numbers. Tokens may have been added to the tokenizer only.
    fn check(&self, piece: &ModelPiece, tokenizer: &Tokenizer) -> Result<(), String> {
        let (rows, types) = (self.config.vocabulary, self.config.types());
        let id = piece.id;
        let name = || quoted(tokenizer.piece(id).unwrap_or_default());
        if id as usize >= rows {
            let cause = match piece.origin {
                Origin::Added => "the tokenizer adds it to every text, so write token ids",
                Origin::Text | Origin::Spelled => "leave it out",
            };
            let (name, last) = (name(), rows - 1);
            return Err(format!(
                "{name} is token {id} of the tokenizer, but the model's embedding table has rows 0 to {last}; {cause}"
            ));
        }
        if types > 1 && piece.segment >= types {
            let (name, segment, last) = (name(), piece.segment, types - 1);
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
                let word = quoted(word);
                format!("{word} is not a token id; {why}, so write ids from 0 to {last}")
            })?;
            let bytes = begin(word)..begin(word) + word.len();
            Ok(ModelPiece { id, bytes, text: 0, word: Some(number), segment: 0, origin: Origin::Text })
        };
        words.enumerate().map(piece).collect()
    }

    /// Returns the files of the tokenizer as they are now, with their hashes.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn tokenizer_files(&self) -> Result<Vec<ModelFile>, Refusal> {
        Ok(self.tokenizer_contents()?.iter().map(|(name, content)| ModelFile::new(name, content)).collect())
    }

    /// Returns the contents of the tokenizer's files.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn tokenizer_contents(&self) -> Result<Vec<NewFile>, Refusal> {
        let all = [TOKENIZER, TOKENIZER_CONFIG, PIECES, IDS, MERGES, SPECIAL, ADDED, SOURCE_SPM, TARGET_SPM, SPIECE];
        let read = |name| Ok(bytes_if_there(&self.path, name, TOKENIZER_BYTES_MAX)?.map(|content| (name, content)));
        all.into_iter().map(read).filter_map(Result::transpose).collect()
    }

    /// Returns a line that describes the model.
    pub fn about(&self) -> String {
        let (config, vocabulary) = (&self.config, self.config.vocabulary);
        let (name, layers, heads, width) = (config.family.name(), config.layers(), config.heads(), config.width());
        if self.reads_source() {
            let [encoder, decoder] = config.towers().map(|(layers, heads)| {
                let (layers, heads) = (counted(layers, "layer"), counted(heads, "head"));
                format!("{layers} of {heads}")
            });
            return format!(
                "{name}: an encoder of {encoder}, and a decoder of {decoder}, vectors of {width}, {vocabulary} pieces; each \
                 word of the target sees the source, itself and the words of the target before it"
            );
        }
        let kind = if config.is_causal() {
            "each word sees itself and the words before it"
        } else {
            "each word sees \
            all words"
        };
        let (layers, heads) = (counted(layers, "layer"), counted(heads, "head"));
        format!("{name}: {layers} of {heads}, vectors of {width}, {vocabulary} pieces; {kind}")
    }

    /// Returns every piece of the vocabulary in readable form, by id.
    pub fn vocabulary(&self) -> Vec<String> {
        (0..self.config.vocabulary as u32).map(|id| self.shown(id)).collect()
    }

    /// Returns a piece in readable form, or the id if there is no tokenizer.
    pub fn shown(&self, id: u32) -> String {
        self.tokenizer.as_ref().map_or_else(|_| id.to_string(), |tokenizer| readable(tokenizer, id))
    }
}

/// Writes a piece in readable form: one that begins a word as the word, one that continues a word with `##` before it.
fn readable(tokenizer: &Tokenizer, id: u32) -> String {
    let Some(piece) = tokenizer.piece(id) else { return format!("[{id}]") };
    let own = tokenizer.shown(id);
    let text = if piece.starts_with("##") { piece } else { own.strip_prefix(' ').unwrap_or(&own) };
    // The window's fonts do not have the sign that stands for a blank in many tokenizers.
    if text.is_empty() { piece.replace('▁', "_") } else { text.to_owned() }
}

/// Returns a model's name: `ORG/NAME` for a folder in the cache, otherwise the name of the folder, or of its parent if
/// its own name would fit any model.
fn name(path: &Path) -> String {
    const OF_ANY: [&str; 5] = ["model", "models", "checkpoint", "weights", "onnx"];
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parts = || whole.ancestors().filter_map(|folder| folder.file_name());
    let in_cache = parts().filter_map(|part| part.to_str()?.strip_prefix("models--")).next();
    let of_any = |part: &OsStr| OF_ANY.iter().any(|name| part.eq_ignore_ascii_case(name));
    let own = || parts().find(|part| !of_any(part)).map_or("model".into(), OsStr::to_string_lossy);
    in_cache.map_or_else(|| own().into_owned(), |name| name.replace("--", "/"))
}

/// Reads the tokenizer of a folder whose `config.json` has this text, and whose targets begin with this language.
fn tokenizer(folder: &Path, config: &str, language: Option<usize>) -> Result<Tokenizer, NoTokenizer> {
    match read_tokenizer(folder, config) {
        Ok(Some(mut tokenizer)) => {
            if let Some(language) = language {
                tokenizer.set_target_language(language as u32);
            }
            Ok(tokenizer)
        }
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
    if model_type.as_deref() == Some("marian") {
        return read_marian(folder, ids.as_deref(), beside);
    }
    if matches!(model_type.as_deref(), Some("t5" | "mt5"))
        && let Some(spiece) = bytes_if_there(folder, SPIECE, SPM_BYTES_MAX as u64)?
    {
        return Tokenizer::read(TokenizerFiles::T5 { spiece: &spiece, beside }).map(Some);
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

/// Reads the tokenizer of Marian, which is in three files.
fn read_marian(folder: &Path, vocab: Option<&str>, beside: OlderFiles<'_>) -> Result<Option<Tokenizer>, Refusal> {
    let read = |name| bytes_if_there(folder, name, SPM_BYTES_MAX as u64);
    let (source, target) = (read(SOURCE_SPM)?, read(TARGET_SPM)?);
    if let (Some(source), Some(target), Some(vocab)) = (&source, &target, vocab) {
        return Tokenizer::read(TokenizerFiles::Marian { sides: [source, target], vocab, beside }).map(Some);
    }
    let there = [(SOURCE_SPM, source.is_some()), (TARGET_SPM, target.is_some()), (IDS, vocab.is_some())];
    let found: Vec<&str> = there.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let expected = format!("{SOURCE_SPM}, {TARGET_SPM} and {IDS}");
    Err(Refusal::new(found.join(" and "), expected, "download the files that are missing"))
}

/// Returns the text of a field of `config.json`; `None` if there is no such field or it is not text.
fn text_of(config: &str, field: &str) -> Option<String> {
    let config: serde_json::Value = serde_json::from_str(config).ok()?;
    config.get(field)?.as_str().map(str::to_owned)
}

// A model that is written as a pretrained one's folder, which [`load`](super::load) reads and transformers opens. Names
// and layouts are those of the [reader](super::names).

/// The name and content of a file in a folder.
pub type NewFile = (&'static str, Vec<u8>);

impl Family {
    /// Returns whether a changed model of the family is written as a folder, and not only read.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Bert | Self::DistilBert | Self::EuroBert | Self::Gpt2 | Self::Llama)
    }

    /// Returns the special pieces that follow the words of a vocabulary: one for unknown words and, in some families, a
    /// mask or the padding with which a translation begins.
    pub fn special_pieces(self) -> &'static [&'static str] {
        match self {
            Self::Bert | Self::DistilBert => &[UNKNOWN, MASK],
            Self::T5 | Self::Bart | Self::MBart | Self::Marian => &[UNKNOWN, PADDING],
            _ => &[UNKNOWN],
        }
    }
}

/// Makes the tokenizer of a lesson's words.
pub fn of_words(words: &[String], family: Family) -> NewTokenizer<'_> {
    NewTokenizer { own: words, special: family.special_pieces(), cut: Cut::Words }
}

impl NewTokenizer<'_> {
    /// Returns the tokenizer's files, for a model that reads at most the given number of tokens.
    pub fn files(&self, tokens_max: usize) -> Vec<NewFile> {
        vec![(TOKENIZER, self.to_json().into_bytes()), (TOKENIZER_CONFIG, self.config(tokens_max).into_bytes())]
    }
}

/// Returns the files of a model's folder, without those of its tokenizer. `entry` returns one entry of a tensor; the
/// tensors have the shapes of the config.
pub fn files(config: &Config, readout: Readout, entry: impl Fn(TensorId, usize, usize) -> f32) -> Vec<NewFile> {
    files_with(config, readout, &WritingRules::default(), entry)
}

/// Returns the same files as [`files`]. For a model with a source, the config also has the rules by which the model
/// writes, and a file of these rules is added.
pub fn files_with(
    config: &Config,
    readout: Readout,
    rules: &WritingRules,
    entry: impl Fn(TensorId, usize, usize) -> f32,
) -> Vec<NewFile> {
    let tensors = config.tensors(&wanted(config, &architecture(config, readout)), entry);
    let tensors = tensors.iter().map(|(name, tensor)| (name.clone(), (&tensor.shape[..], &tensor.numbers[..])));
    let mut weights = Vec::new();
    // Writing to memory cannot fail.
    let _ = safetensors::write(&tensors.collect(), &mut weights);
    let mut files = vec![(CONFIG, config.to_json_with(rules).into_bytes()), (WEIGHTS, weights)];
    if config.architecture.has_source() {
        files.push((GENERATION, writing::to_json(rules).into_bytes()));
    }
    files
}
