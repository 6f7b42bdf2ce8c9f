//! The JSON forms of tokenizer files.
//!
//! The crate's own reader, `Tokenizer::from_str`, is not used: it accepts a million steps and more memory than there
//! is, refuses older files that lack a field, and cannot say where an error is. Here, reading ends when a list is
//! longer than any tokenizer's, so that no file takes much more memory than its size, and an error has a line number.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::pretrained::Refusal;
use crate::pretrained::refusal::FETCH_AGAIN;

/// Upper bound of ids. A table of word vectors with more rows does not belong to a model that attune opens.
pub const ID_END: u32 = 1 << 20;

/// A list of at most `MOST` items.
pub struct List<T, const MOST: usize>(pub Vec<T>);

/// The entries of an object in order, at most `MOST`.
pub struct JsonEntries<T, const MOST: usize>(pub Vec<(String, T)>);

/// The pieces of a vocabulary.
pub enum PiecesJson {
    /// Pieces with their ids.
    Ids(JsonEntries<u32, { ID_END as usize }>),
    /// Pieces in the order of their ids, with their log-probabilities.
    Scores(List<(String, f64), { ID_END as usize }>),
}

impl Default for PiecesJson {
    fn default() -> Self {
        Self::Ids(JsonEntries(Vec::new()))
    }
}

/// A pair of pieces, written as `"a b"` or `["a", "b"]`.
pub struct Pair(pub String, pub String);

/// Largest number of merges; known models have fewer than 300,000.
pub const MERGES_MAX: usize = 1 << 20;
/// Largest number of steps in a list, and in all nested lists together.
pub const STEPS_MAX: usize = 16;
/// Largest number of values in all steps of a pipeline; known models have up to 200.
const VALUES_MAX: usize = 1 << 12;
const TEMPLATE_PARTS_MAX: usize = 64;
const ADDED_TOKENS_MAX: usize = 1 << 16;

/// The content of `tokenizer.json`.
#[derive(Deserialize)]
pub struct TokenizerJson {
    #[serde(default)]
    pub added_tokens: Option<List<AddedTokenJson, ADDED_TOKENS_MAX>>,
    #[serde(default, deserialize_with = "pipeline")]
    pub normalizer: Option<Value>,
    #[serde(default, deserialize_with = "pipeline")]
    pub pre_tokenizer: Option<Value>,
    #[serde(default)]
    pub post_processor: Option<PostProcessorJson>,
    pub model: ModelJson,
}

/// A token that is never split.
#[derive(Clone, Default, Deserialize)]
pub struct AddedTokenJson {
    /// Id; in `tokenizer_config.json` it is the name of the entry instead.
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
    /// Whether it is left out of decoded texts.
    #[serde(default)]
    pub special: bool,
}

/// A step that adds pieces to a text, with the fields of all kinds.
#[derive(Default, Deserialize)]
pub struct PostProcessorJson {
    #[serde(rename = "type")]
    pub kind: String,
    pub processors: Option<List<PostProcessorJson, STEPS_MAX>>,
    pub single: Option<List<TemplatePartJson, TEMPLATE_PARTS_MAX>>,
    pub pair: Option<List<TemplatePartJson, TEMPLATE_PARTS_MAX>>,
    pub special_tokens: Option<JsonEntries<SpecialJson, TEMPLATE_PARTS_MAX>>,
    pub sep: Option<(String, u32)>,
    pub cls: Option<(String, u32)>,
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

/// The model, with the fields of all kinds.
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
}

/// The fields of `tokenizer_config.json` and `special_tokens_map.json` that older files need.
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
    pub additional_special_tokens: Option<List<NameJson, ADDED_TOKENS_MAX>>,
    pub added_tokens_decoder: Option<JsonEntries<AddedTokenJson, ADDED_TOKENS_MAX>>,
    /// Field of tokenizer classes that leave the splitting into words to another program.
    pub word_tokenizer_type: Option<IgnoredAny>,
    /// Number of T5's tokens that stand for words that are left out.
    pub extra_ids: Option<u32>,
    /// Whether each side of a translator has a vocabulary of its own.
    pub separate_vocabs: Option<bool>,
}

/// The content of `added_tokens.json`.
pub type AddedIdsJson = JsonEntries<u32, ADDED_TOKENS_MAX>;

/// A special token, given by its content or by all fields of an added token.
#[derive(Clone, Deserialize)]
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

    /// Returns the token. One that is given by its content is searched for in the text unchanged.
    pub fn into_token(self) -> AddedTokenJson {
        match self {
            Self::Content(content) => AddedTokenJson { content, special: true, ..AddedTokenJson::default() },
            Self::Token(token) => AddedTokenJson { special: true, ..token },
        }
    }
}

/// A visitor that reads the type `T`.
struct Reads<T>(PhantomData<T>);

/// Collects all items, or fails if there are more than `most`.
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

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Reads<JsonEntries<T, MOST>> {
    type Value = JsonEntries<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        at_most(MOST, || map.next_entry()).map(JsonEntries)
    }
}

impl<'de> Visitor<'de> for Reads<PiecesJson> {
    type Value = PiecesJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of pieces and their ids, or a list of pieces and their scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Reads::<JsonEntries<_, _>>(PhantomData).visit_map(map).map(PiecesJson::Ids)
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
    /// Reads two pieces separated by a space.
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

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for JsonEntries<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Reads::<Self>(PhantomData))
    }
}

impl<'de> Deserialize<'de> for PiecesJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reads::<Self>(PhantomData))
    }
}

/// Reads the steps of a pipeline with any fields.
fn pipeline<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let mut left = VALUES_MAX;
    FewValues(&mut left).deserialize(from).map(|value| Some(value).filter(|value| !value.is_null()))
}

/// A reader of any value. The number counts how many values may still be read, including this one and those inside it.
struct FewValues<'a>(&'a mut usize);

impl<'de> DeserializeSeed<'de> for FewValues<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        match self.0.checked_sub(1) {
            Some(left) => *self.0 = left,
            None => return Err(D::Error::custom(format_args!("more than {VALUES_MAX} values in the steps"))),
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FewValues<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a step")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, is: bool) -> Result<Value, E> {
        Ok(is.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = seq.next_element_seed(FewValues(self.0))? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            all.insert(name, map.next_value_seed(FewValues(self.0))?);
        }
        Ok(Value::Object(all))
    }
}

/// Returns the refusal of text that is not the expected JSON.
pub fn bad_json(error: &serde_json::Error) -> Refusal {
    Refusal::bad_json(error, "the JSON of a tokenizer", FETCH_AGAIN)
}

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reads::<Self>(PhantomData))
    }
}
