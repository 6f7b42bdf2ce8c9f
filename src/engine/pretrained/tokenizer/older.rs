//! The files of older models: `vocab.txt` of BERT's family, `vocab.json` and `merges.txt` of GPT-2's and similar ones.
//! They are converted to the `tokenizer.json` of such a model, as in `transformers`.
//!
//! The settings are in other files: `tokenizer_config.json`, and in even older folders `special_tokens_map.json` and
//! `added_tokens.json`, which are used only if the former lists no added tokens.

use std::collections::{HashMap, HashSet};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::json::{
    AddedIdsJson, AddedTokenJson, ConfigJson, ID_END, JsonEntries, List, MERGES_MAX, ModelJson, NameJson, Pair,
    PiecesJson, PostProcessorJson, SpecialJson, TemplatePartJson, TokenizerJson, bad_json,
};
use super::read::{IDS_EXPECTED, check_merges, check_piece, check_size, of_json};
use super::refuse::{Read, SAVE_AGAIN};
use super::{OlderFiles, Tokenizer};
use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};
use crate::pretrained::texts::{ADDED, CONFIG, IDS, MERGES, PIECES, SPECIAL, TOKENIZER_CONFIG};

/// A piece and its id.
pub type Entry = (String, u32);

/// The special pieces that a class of tokenizers adds around a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// A piece at the start, if the config asks for one.
    Start,
    /// A piece at the end.
    End,
    Bert,
    Roberta,
}

/// A class of tokenizers of `transformers`.
pub struct Class {
    /// Endings of the names of the class, without `Fast`.
    names: &'static [&'static str],
    /// Types of models that use this class if their folder does not name one.
    model_types: &'static [&'static str],
    around: Around,
    /// Default special tokens.
    usual: &'static [(SpecialToken, &'static str)],
    /// Function that returns the steps before the model, and the model's own fields.
    steps: fn(&ConfigJson) -> (Value, Value),
    model: fn() -> ModelJson,
}

/// The role of a special token, in the order in which the tokens are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialToken {
    Begin,
    End,
    Unknown,
    Separator,
    Filler,
    Start,
    Mask,
}

impl SpecialToken {
    const ALL: [Self; 7] =
        [Self::Begin, Self::End, Self::Unknown, Self::Separator, Self::Filler, Self::Start, Self::Mask];

    fn of(self, config: &ConfigJson) -> Option<&NameJson> {
        match self {
            Self::Begin => config.bos_token.as_ref(),
            Self::End => config.eos_token.as_ref(),
            Self::Unknown => config.unk_token.as_ref(),
            Self::Separator => config.sep_token.as_ref(),
            Self::Filler => config.pad_token.as_ref(),
            Self::Start => config.cls_token.as_ref(),
            Self::Mask => config.mask_token.as_ref(),
        }
    }
}

const BERT: Class = Class {
    names: &["BertTokenizer", "ElectraTokenizer", "LxmertTokenizer", "LayoutLMTokenizer", "RealmTokenizer"],
    model_types: &[],
    around: Around::Bert,
    usual: &[
        (SpecialToken::Unknown, "[UNK]"),
        (SpecialToken::Separator, "[SEP]"),
        (SpecialToken::Filler, "[PAD]"),
        (SpecialToken::Start, "[CLS]"),
        (SpecialToken::Mask, "[MASK]"),
    ],
    steps: |config| {
        let normaliser = json!({
            "type": "BertNormalizer", "handle_chinese_chars": config.tokenize_chinese_chars,
            "strip_accents": config.strip_accents, "lowercase": config.do_lower_case,
        });
        (normaliser, json!({ "type": "BertPreTokenizer" }))
    },
    model: || model("WordPiece"),
};

const END_OF_TEXT: &str = "<|endoftext|>";

const GPT2: Class = Class {
    names: &["GPT2Tokenizer", "CodeGenTokenizer"],
    model_types: &[],
    around: Around::Start,
    usual: &[
        (SpecialToken::Begin, END_OF_TEXT),
        (SpecialToken::End, END_OF_TEXT),
        (SpecialToken::Unknown, END_OF_TEXT),
    ],
    steps: |config| (Value::Null, byte_level(config, true)),
    model: || model("BPE"),
};

const ROBERTA: Class = Class {
    names: &["RobertaTokenizer", "LongformerTokenizer", "BartTokenizer", "LEDTokenizer"],
    model_types: &["roberta", "bart"],
    around: Around::Roberta,
    usual: &[
        (SpecialToken::Begin, "<s>"),
        (SpecialToken::End, "</s>"),
        (SpecialToken::Unknown, "<unk>"),
        (SpecialToken::Separator, "</s>"),
        (SpecialToken::Filler, "<pad>"),
        (SpecialToken::Start, "<s>"),
        (SpecialToken::Mask, "<mask>"),
    ],
    ..GPT2
};

const QWEN: Class = Class {
    names: &["Qwen2Tokenizer"],
    model_types: &["qwen2", "qwen3"],
    usual: &[
        (SpecialToken::End, END_OF_TEXT),
        (SpecialToken::Unknown, END_OF_TEXT),
        (SpecialToken::Filler, END_OF_TEXT),
    ],
    steps: |config| {
        const WORDS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        let split = json!({ "type": "Split", "pattern": { "Regex": WORDS }, "behavior": "Isolated" });
        let words = json!({ "type": "Sequence", "pretokenizers": [split, byte_level(config, false)] });
        (json!({ "type": "NFC" }), words)
    },
    ..GPT2
};

const HERBERT: Class = Class {
    names: &["HerbertTokenizer"],
    model_types: &[],
    around: Around::Bert,
    usual: &[
        (SpecialToken::Unknown, "<unk>"),
        (SpecialToken::Separator, "</s>"),
        (SpecialToken::Filler, "<pad>"),
        (SpecialToken::Start, "<s>"),
        (SpecialToken::Mask, "<mask>"),
    ],
    steps: |_| {
        let normaliser = json!({ "type": "BertNormalizer", "strip_accents": false, "lowercase": false });
        (normaliser, json!({ "type": "BertPreTokenizer" }))
    },
    model: || ModelJson { end_of_word_suffix: Some(WORD_END.to_owned()), ..model("BPE") },
};

/// Marian's tokenizer, whose pieces and steps are in SentencePiece's own files.
pub const MARIAN: Class = Class {
    names: &["MarianTokenizer"],
    model_types: &["marian"],
    around: Around::End,
    usual: &[(SpecialToken::End, "</s>"), (SpecialToken::Unknown, "<unk>"), (SpecialToken::Filler, "<pad>")],
    steps: |_| (Value::Null, Value::Null),
    model: || model("Unigram"),
};

/// T5's tokenizer, whose pieces and steps are in one file of SentencePiece.
pub const T5: Class = Class { names: &["T5Tokenizer"], model_types: &["t5", "mt5"], ..MARIAN };

/// Ending of pieces that end a word, in vocabularies of XLM, HerBERT and CLIP.
const WORD_END: &str = "</w>";

fn byte_level(config: &ConfigJson, use_regex: bool) -> Value {
    json!({
        "type": "ByteLevel", "add_prefix_space": config.add_prefix_space.unwrap_or(false), "use_regex": use_regex,
    })
}

fn model(kind: &str) -> ModelJson {
    ModelJson { kind: Some(kind.to_owned()), ..ModelJson::default() }
}

/// Reads the tokenizer of BERT's family.
pub fn word_piece(vocab: &str, beside: OlderFiles<'_>) -> Read<Tokenizer> {
    let config = Config::read(beside, &[&BERT])?;
    if config.json.do_basic_tokenize == Some(false) {
        let refusal = Refusal::new("`do_basic_tokenize` false", "true", SAVE_AGAIN);
        return Err(refusal.in_file(TOKENIZER_CONFIG));
    }
    let ids = read_lines(vocab).map_err(|refusal| refusal.in_file(PIECES))?;
    config.tokenizer(ids, None).map_err(|refusal| refusal.in_file(PIECES))
}

/// Reads the pieces of `vocab.txt`, one in each line.
fn read_lines(vocab: &str) -> Read<Vec<Entry>> {
    check_size(vocab)?;
    let lines = vocab.strip_suffix('\n').unwrap_or(vocab).split('\n');
    // One line more than allowed is read, so that a longer file is refused for its last id.
    let lines = lines.take(ID_END as usize + 1).map(|line| line.trim_end_matches('\r').to_owned());
    Ok(lines.zip(0..).collect())
}

/// Reads the tokenizer of GPT-2's family.
pub fn byte_pair(vocab: &str, merges: &str, beside: OlderFiles<'_>) -> Read<Tokenizer> {
    let config = Config::read(beside, &[&GPT2, &ROBERTA, &QWEN, &HERBERT])?;
    let ids = read_pieces(vocab).map_err(|refusal| refusal.in_file(IDS))?;
    let is_suffixed = (config.class.model)().end_of_word_suffix.is_some();
    if !is_suffixed && ids.iter().any(|(piece, _)| piece.ends_with(WORD_END)) {
        let found = format!("pieces that end words with `{WORD_END}`, as those of XLM and CLIP");
        return Err(Refusal::new(found, "pieces of GPT-2's form", SAVE_AGAIN).in_file(IDS));
    }
    let merges = read_merge_lines(merges, &ids).map_err(|refusal| refusal.in_file(MERGES))?;
    config.tokenizer(ids, Some(merges)).map_err(|refusal| refusal.in_file(IDS))
}

/// Reads the pieces of `vocab.json`.
pub fn read_pieces(vocab: &str) -> Read<Vec<Entry>> {
    check_size(vocab)?;
    match serde_json::from_str(vocab).map_err(|error| bad_json(&error))? {
        PiecesJson::Ids(JsonEntries(entries)) => Ok(entries),
        PiecesJson::Scores(_) => Err(Refusal::new("a list", IDS_EXPECTED, FETCH_AGAIN)),
    }
}

/// Reads the merges of `merges.txt`, one in each line.
fn read_merge_lines(merges: &str, ids: &[Entry]) -> Read<Vec<Pair>> {
    check_size(merges)?;
    let line_of = |number: usize| format!("line {}", number + 1);
    let mut numbers = Vec::new();
    let mut pairs = Vec::new();
    for (number, line) in merges.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        if line.is_empty() || line.starts_with("#version") {
            continue;
        }
        if pairs.len() == MERGES_MAX {
            return Err(Refusal::new(format!("more than {MERGES_MAX} merges"), "fewer", FETCH_AGAIN));
        }
        let Some(pair) = Pair::read(line) else {
            let found = format!("{} in {}", quoted(line), line_of(number));
            return Err(Refusal::new(found, "two pieces with a space between them", FETCH_AGAIN));
        };
        pairs.push(pair);
        numbers.push(number);
    }
    let pieces: HashSet<&str> = ids.iter().map(|(piece, _)| piece.as_str()).collect();
    check_merges(&pairs, 0, |piece| pieces.contains(piece), |pair| line_of(numbers[pair]))?;
    Ok(pairs)
}

/// The settings in the files next to a vocabulary.
pub struct Config {
    class: &'static Class,
    pub json: ConfigJson,
    /// Tokens of `added_tokens.json`.
    added: Vec<Entry>,
}

impl Config {
    /// Reads the settings from the files, and refuses tokenizers of other classes, some of which have files with the
    /// same names.
    pub fn read(beside: OlderFiles<'_>, classes: &[&'static Class]) -> Read<Self> {
        let mut json: ConfigJson =
            beside.config.map_or(Ok(ConfigJson::default()), |text| read(text, TOKENIZER_CONFIG))?;
        let class = class(&json, beside, classes)?;
        let mut added = Vec::new();
        if json.added_tokens_decoder.is_none() {
            if let Some(special) = beside.special {
                json.name_anew(read(special, SPECIAL)?);
            }
            if let Some(text) = beside.added {
                added = read::<AddedIdsJson>(text, ADDED)?.0;
            }
        }
        Ok(Self { class, json, added })
    }

    /// Returns the content of a special token: that in the files, or else the default of the class; `None` if there is
    /// neither.
    fn name(&self, token: SpecialToken) -> Option<String> {
        let usual = || self.class.usual.iter().find(|(role, _)| *role == token).map(|(_, name)| (*name).to_owned());
        token.of(&self.json).map(|name| name.content().to_owned()).or_else(usual)
    }

    /// Makes the tokenizer with these pieces.
    fn tokenizer(self, ids: Vec<Entry>, merges: Option<Vec<Pair>>) -> Read<Tokenizer> {
        let (added, post_processor) = self.around(&ids)?;
        let unknown = self.name(SpecialToken::Unknown);
        let (normalizer, pre_tokenizer) = (self.class.steps)(&self.json);
        let model = (self.class.model)();
        let has_unknown = model.kind.as_deref() == Some("WordPiece") || model.end_of_word_suffix.is_some();
        of_json(TokenizerJson {
            added_tokens: Some(List(added)),
            normalizer: Some(normalizer).filter(|step| !step.is_null()),
            pre_tokenizer: Some(pre_tokenizer),
            post_processor,
            model: ModelJson {
                unk_token: unknown.filter(|_| has_unknown),
                vocab: PiecesJson::Ids(JsonEntries(ids)),
                merges: merges.map(List),
                ..model
            },
        })
    }

    /// Returns the tokens that are never split, and the step that adds special pieces around a text.
    pub fn around(&self, ids: &[Entry]) -> Read<(Vec<AddedTokenJson>, Option<PostProcessorJson>)> {
        let listed = self.listed_tokens()?;
        // If a piece is repeated, its last id is used.
        let mut id_of: HashMap<&str, u32> =
            listed.iter().filter_map(|token| Some((token.content.as_str(), token.id?))).collect();
        id_of.extend(ids.iter().map(|(piece, id)| (piece.as_str(), *id)));
        let post_processor = self.post_processor(&id_of)?;
        Ok((self.with_named(listed, ids), post_processor))
    }

    /// Returns the content and the id of a special token.
    pub fn special(&self, token: SpecialToken, id_of: &HashMap<&str, u32>) -> Read<Entry> {
        let name = self.name(token).unwrap_or_default();
        let Some(id) = id_of.get(name.as_str()) else {
            let expected = format!("the piece {}", quoted(&name));
            return Err(Refusal::new("no such piece", expected, "check that the files belong to one model"));
        };
        Ok((name, *id))
    }

    /// Returns the step that adds special pieces around a text; `None` if the class adds none.
    fn post_processor(&self, id_of: &HashMap<&str, u32>) -> Read<Option<PostProcessorJson>> {
        let ends = |kind: &str| {
            let id = |token| self.special(token, id_of);
            // A vocabulary without a piece for unknown words belongs to another class.
            if self.class.around == Around::Bert {
                id(SpecialToken::Unknown)?;
            }
            let (cls, sep) = (Some(id(SpecialToken::Start)?), Some(id(SpecialToken::Separator)?));
            Ok(Some(PostProcessorJson { kind: kind.to_owned(), cls, sep, ..PostProcessorJson::default() }))
        };
        match self.class.around {
            Around::Bert => ends("BertProcessing"),
            Around::Roberta => ends("RobertaProcessing"),
            Around::End => {
                let (end, id) = self.special(SpecialToken::End, id_of)?;
                Ok(Some(with_one(&end, id, false)))
            }
            Around::Start if self.json.add_bos_token == Some(true) => {
                let start = self.name(SpecialToken::Begin).unwrap_or_default();
                let Some(id) = id_of.get(start.as_str()) else {
                    let found = format!("{} at `bos_token`", quoted(&start));
                    let refusal = Refusal::new(found, "a piece of the vocabulary", FETCH_AGAIN);
                    return Err(refusal.in_file(TOKENIZER_CONFIG));
                };
                Ok(Some(with_one(&start, *id, true)))
            }
            Around::Start => Ok(None),
        }
    }

    /// Returns the tokens that the files list together with their ids.
    fn listed_tokens(&self) -> Read<Vec<AddedTokenJson>> {
        let mut listed = Vec::new();
        for (id, token) in self.json.added_tokens_decoder.iter().flat_map(|JsonEntries(entries)| entries) {
            let unfit = || Refusal::new(quoted(id), "an id at `added_tokens_decoder`", FETCH_AGAIN);
            let read = id.parse().map_err(|_| unfit()).and_then(|id| check_piece(&token.content, id).map(|()| id));
            let id = read.map_err(|refusal| refusal.in_file(TOKENIZER_CONFIG))?;
            listed.push(AddedTokenJson { id: Some(id), ..token.clone() });
        }
        let named = self.special_tokens();
        for (content, id) in &self.added {
            check_piece(content, *id).map_err(|refusal| refusal.in_file(ADDED))?;
            // A token that is not special is searched for in the normalized text.
            let special = named.iter().any(|token| token.content == *content);
            let (content, normalized) = (content.clone(), !special);
            listed.push(AddedTokenJson { id: Some(*id), content, normalized, special, ..Default::default() });
        }
        Ok(listed)
    }

    /// Adds the tokens that the files name without an id. Those that are not in the vocabulary get the next ids after
    /// all others.
    fn with_named(&self, mut added: Vec<AddedTokenJson>, ids: &[Entry]) -> Vec<AddedTokenJson> {
        let last = ids.iter().map(|(_, id)| *id).chain(added.iter().filter_map(|token| token.id)).max();
        let mut next = last.map_or(0, |last| last.saturating_add(1));
        let in_vocabulary: HashMap<&str, u32> = ids.iter().map(|(piece, id)| (piece.as_str(), *id)).collect();
        let mut contents: HashSet<String> = added.iter().map(|token| token.content.clone()).collect();
        for token in self.special_tokens().into_iter().filter(|token| !token.content.is_empty()) {
            if !contents.insert(token.content.clone()) {
                continue;
            }
            let own = in_vocabulary.get(token.content.as_str()).copied();
            added.push(AddedTokenJson { id: own.or(Some(next)), ..token });
            next = next.saturating_add(own.is_none().into());
        }
        added
    }

    /// Returns the special tokens of all roles, as the files name them or with the default names of the class, and the
    /// tokens that the files name without a role.
    fn special_tokens(&self) -> Vec<AddedTokenJson> {
        let of_role = |token: SpecialToken| match token.of(&self.json) {
            Some(name) => Some(name.clone().into_token()),
            None => self.name(token).map(|content| NameJson::Content(content).into_token()),
        };
        let others = self.json.additional_special_tokens.iter().flat_map(|List(names)| names);
        let others = others.map(|name| name.clone().into_token());
        SpecialToken::ALL.into_iter().filter_map(of_role).chain(others).collect()
    }
}

impl ConfigJson {
    /// Replaces the names of special tokens by those that another file has.
    fn name_anew(&mut self, other: Self) {
        let names = [
            (&mut self.bos_token, other.bos_token),
            (&mut self.eos_token, other.eos_token),
            (&mut self.unk_token, other.unk_token),
            (&mut self.sep_token, other.sep_token),
            (&mut self.pad_token, other.pad_token),
            (&mut self.cls_token, other.cls_token),
            (&mut self.mask_token, other.mask_token),
        ];
        for (name, other) in names {
            *name = other.or_else(|| name.take());
        }
        self.additional_special_tokens =
            other.additional_special_tokens.or_else(|| self.additional_special_tokens.take());
    }
}

/// Returns the step that adds one piece: before the text, such as the start in some models of GPT-2's family, or after
/// it.
fn with_one(name: &str, id: u32, is_first: bool) -> PostProcessorJson {
    let [kind, name, sequence] = ["TemplateProcessing", name, "A"].map(str::to_owned);
    let mut single = vec![
        TemplatePartJson::SpecialToken { id: name.clone(), type_id: 0 },
        TemplatePartJson::Sequence { id: sequence, type_id: 0 },
    ];
    if !is_first {
        single.reverse();
    }
    let special_tokens = Some(JsonEntries(vec![(name, SpecialJson { ids: List(vec![id]) })]));
    PostProcessorJson { kind, single: Some(List(single)), special_tokens, ..PostProcessorJson::default() }
}

/// Reads a file of settings.
fn read<T: DeserializeOwned>(text: &str, file: &str) -> Read<T> {
    /// Largest size of such a file in bytes. Parts of the list of names in it are parsed twice.
    const BYTES_MAX: usize = 4 << 20;
    if text.len() > BYTES_MAX {
        let expected = format!("at most {} MiB", BYTES_MAX >> 20);
        return Err(Refusal::new(format!("{} MiB", text.len() >> 20), expected, FETCH_AGAIN).in_file(file));
    }
    serde_json::from_str(text).map_err(|error| bad_json(&error).in_file(file))
}

/// Returns the class that the files name, or else that of the model's type, or else the first of `classes`.
/// `DistilBertTokenizerFast` counts as `BertTokenizer`. Refuses a class that is not one of `classes`.
fn class(config: &ConfigJson, beside: OlderFiles<'_>, classes: &[&'static Class]) -> Read<&'static Class> {
    let other = |found: String, file| {
        let expected: Vec<&str> = classes.iter().flat_map(|class| class.names).copied().collect();
        Err(Refusal::new(found, expected.join(" or "), SAVE_AGAIN).in_file(file))
    };
    let own = config.tokenizer_class.as_deref().map(|class| (class, TOKENIZER_CONFIG));
    match own.or_else(|| Some((beside.class?, CONFIG))) {
        Some((name, file)) => {
            let end = name.strip_suffix("Fast").unwrap_or(name);
            let of_name = |class: &&&Class| class.names.iter().any(|name| end.ends_with(name));
            classes.iter().find(of_name).copied().map_or_else(|| other(format!("the class {}", quoted(name)), file), Ok)
        }
        None if config.word_tokenizer_type.is_some() => {
            other("`word_tokenizer_type`, which BertJapaneseTokenizer has".to_owned(), TOKENIZER_CONFIG)
        }
        None => {
            let of_model = |class: &&&Class| beside.model_type.is_some_and(|of| class.model_types.contains(&of));
            Ok(classes.iter().find(of_model).copied().unwrap_or(classes[0]))
        }
    }
}
