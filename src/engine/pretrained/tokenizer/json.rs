//! The files of tokenizers as JSON has them.
//!
//! Their own reader, `Tokenizer::from_str` of the crate, is not used: it takes a million steps and more memory than there
//! is, refuses older files that lack a field, and cannot say where a fault is. Here lists end the reading once they are
//! longer than any tokenizer's, so that no file takes much more memory than it has bytes, and an error has its line.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tokenizers::SplitDelimiterBehavior;
use tokenizers::pre_tokenizers::metaspace::PrependScheme;

/// Ids lie below this: a table of word vectors with more rows is no model that is opened here.
pub const ID_END: u32 = 1 << 20;

/// A list of at most `MOST`.
pub struct List<T, const MOST: usize>(pub Vec<T>);

/// The entries of an object in their order, at most `MOST`.
pub struct Entries<T, const MOST: usize>(pub Vec<(String, T)>);

/// The pieces of a vocabulary.
pub enum PiecesJson {
    /// Each with its id.
    Ids(Entries<u32, { ID_END as usize }>),
    /// In the order of their ids, each with its log-probability.
    Scores(List<(String, f64), { ID_END as usize }>),
}

impl Default for PiecesJson {
    fn default() -> Self {
        Self::Ids(Entries(Vec::new()))
    }
}

/// A pair of pieces, written as `"a b"` or `["a", "b"]`.
pub struct Pair(pub String, pub String);

/// Merges of known models are fewer than 300,000.
pub const MERGES_MAX: usize = 1 << 20;
/// Steps of a list, and of all lists within one another.
pub const STEPS_MAX: usize = 16;
const TEMPLATE_PARTS_MAX: usize = 64;
const ADDED_TOKENS_MAX: usize = 1 << 16;

/// `tokenizer.json`.
#[derive(Deserialize)]
pub struct TokenizerJson {
    #[serde(default)]
    pub added_tokens: Option<List<AddedTokenJson, ADDED_TOKENS_MAX>>,
    #[serde(default)]
    pub normalizer: Option<StepJson>,
    #[serde(default)]
    pub pre_tokenizer: Option<StepJson>,
    #[serde(default)]
    pub post_processor: Option<StepJson>,
    pub model: ModelJson,
}

/// A token that is never cut.
#[derive(Default, Deserialize)]
pub struct AddedTokenJson {
    /// In `tokenizer_config.json` the id is the entry's name instead.
    #[serde(default)]
    pub id: Option<u32>,
    pub content: String,
    #[serde(default)]
    pub single_word: bool,
    #[serde(default)]
    pub lstrip: bool,
    #[serde(default)]
    pub rstrip: bool,
    #[serde(default)]
    pub normalized: bool,
}

/// A normalizer, pre-tokenizer or post-processor: the fields of all that are supported.
#[derive(Default, Deserialize)]
pub struct StepJson {
    #[serde(rename = "type")]
    pub kind: String,
    pub normalizers: Option<List<StepJson, STEPS_MAX>>,
    pub pretokenizers: Option<List<StepJson, STEPS_MAX>>,
    pub processors: Option<List<StepJson, STEPS_MAX>>,
    pub clean_text: Option<bool>,
    pub handle_chinese_chars: Option<bool>,
    pub strip_accents: Option<bool>,
    pub lowercase: Option<bool>,
    pub strip_left: Option<bool>,
    pub strip_right: Option<bool>,
    pub content: Option<String>,
    pub prepend: Option<String>,
    pub precompiled_charsmap: Option<String>,
    pub add_prefix_space: Option<bool>,
    pub use_regex: Option<bool>,
    pub pattern: Option<PatternJson>,
    pub behavior: Option<SplitDelimiterBehavior>,
    pub invert: Option<bool>,
    pub individual_digits: Option<bool>,
    pub replacement: Option<char>,
    pub prepend_scheme: Option<PrependScheme>,
    pub split: Option<bool>,
    pub single: Option<List<TemplatePartJson, TEMPLATE_PARTS_MAX>>,
    pub pair: Option<List<TemplatePartJson, TEMPLATE_PARTS_MAX>>,
    pub special_tokens: Option<Entries<SpecialJson, TEMPLATE_PARTS_MAX>>,
    pub sep: Option<(String, u32)>,
    pub cls: Option<(String, u32)>,
}

/// The pattern that a step looks for.
#[derive(Deserialize)]
pub enum PatternJson {
    Regex(String),
    String(String),
}

/// A part of a template.
#[derive(Deserialize)]
pub enum TemplatePartJson {
    Sequence { id: String, type_id: u32 },
    SpecialToken { id: String, type_id: u32 },
}

/// The ids of a template's special token.
#[derive(Deserialize)]
pub struct SpecialJson {
    pub ids: List<u32, TEMPLATE_PARTS_MAX>,
}

/// The model: the fields of all that are supported.
#[derive(Default, Deserialize)]
pub struct ModelJson {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub vocab: PiecesJson,
    pub merges: Option<List<Pair, MERGES_MAX>>,
    pub unk_token: Option<String>,
    pub unk_id: Option<usize>,
    pub continuing_subword_prefix: Option<String>,
    pub end_of_word_suffix: Option<String>,
    pub max_input_chars_per_word: Option<u64>,
    pub fuse_unk: Option<bool>,
    pub byte_fallback: Option<bool>,
    pub ignore_merges: Option<bool>,
    pub dropout: Option<f64>,
}

/// `tokenizer_config.json`, as far as older files need it.
#[derive(Default, Deserialize)]
pub struct ConfigJson {
    pub tokenizer_class: Option<String>,
    pub do_lower_case: Option<bool>,
    pub do_basic_tokenize: Option<bool>,
    pub tokenize_chinese_chars: Option<bool>,
    pub strip_accents: Option<bool>,
    pub add_prefix_space: Option<bool>,
    pub add_bos_token: Option<bool>,
    pub unk_token: Option<NameJson>,
    pub sep_token: Option<NameJson>,
    pub pad_token: Option<NameJson>,
    pub cls_token: Option<NameJson>,
    pub mask_token: Option<NameJson>,
    pub bos_token: Option<NameJson>,
    pub eos_token: Option<NameJson>,
    pub added_tokens_decoder: Option<Entries<AddedTokenJson, ADDED_TOKENS_MAX>>,
}

/// A special token, by its content or with all that is said of an added token.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum NameJson {
    Content(String),
    Token(AddedTokenJson),
}

impl NameJson {
    pub fn content(&self) -> &str {
        match self {
            Self::Content(content) => content,
            Self::Token(token) => &token.content,
        }
    }
}

/// Reads what `T` says that it reads.
struct Reads<T>(PhantomData<T>);

/// Collects all items, at most the given number.
fn at_most<T, E: Error>(most: usize, mut next: impl FnMut() -> Result<Option<T>, E>) -> Result<Vec<T>, E> {
    let mut all = Vec::new();
    while let Some(item) = next()? {
        if all.len() == most {
            return Err(E::custom(format_args!("more than {most} entries")));
        }
        all.push(item);
    }
    Ok(all)
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Reads<List<T, MOST>> {
    type Value = List<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        at_most(MOST, || seq.next_element()).map(List)
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Reads<Entries<T, MOST>> {
    type Value = Entries<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        at_most(MOST, || map.next_entry()).map(Entries)
    }
}

impl<'de> Visitor<'de> for Reads<PiecesJson> {
    type Value = PiecesJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of pieces and their ids, or a list of pieces and their scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Reads::<Entries<_, _>>(PhantomData).visit_map(map).map(PiecesJson::Ids)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Reads::<List<_, _>>(PhantomData).visit_seq(seq).map(PiecesJson::Scores)
    }
}

impl<'de> Visitor<'de> for Reads<Pair> {
    type Value = Pair;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two pieces")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Pair, E> {
        Pair::read(text).ok_or_else(|| E::custom("a merge is two pieces with a space between them"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Pair, A::Error> {
        let left = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let right = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        Ok(Pair(left, right))
    }
}

impl Pair {
    /// Reads two pieces with a space between them.
    pub fn read(text: &str) -> Option<Self> {
        let (left, right) = text.split_once(' ')?;
        (!right.contains(' ')).then(|| Self(left.to_owned(), right.to_owned()))
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Reads::<Self>(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Entries<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Reads::<Self>(PhantomData))
    }
}

impl<'de> Deserialize<'de> for PiecesJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reads::<Self>(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reads::<Self>(PhantomData))
    }
}
