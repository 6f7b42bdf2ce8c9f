//! `tokenizer.json`, read step by step. A step that is not supported is refused by its name and place.

use super::added::{AddedToken, AddedTokens};
use super::byte_pair::BytePair;
use super::json::{
    AddedTokenJson, Entries, ModelJson, Pair, STEPS_MAX, SpecialJson, StepJson, TemplatePartJson, TokenizerJson,
};
use super::normalise::BertNormaliser;
use super::split::{Splitter, WORDS};
use super::template::{Template, TemplatePart};
use super::text_char::text_chars;
use super::vocabulary::Vocabulary;
use super::word_piece::WordPiece;
use super::{Model, Spelling, Tokenizer};
use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};

const FILE: &str = "tokenizer.json";

/// The largest file of a tokenizer that is read; those of known models have up to 35 MB.
const FILE_BYTES_MAX: usize = 64 << 20;

/// Words of BERT's that are longer are unknown, where the file says nothing of it.
pub const WORD_CHARS_MAX: usize = 100;

/// The prefix of BERT's pieces that continue words.
pub const PREFIX: &str = "##";

type Read<T> = Result<T, Refusal>;

/// Advice where a tokenizer is of another kind.
pub const OTHER_KIND: &str = "open a model of BERT's or GPT-2's family";

/// Refuses what is at a place of the file.
fn refuse<T>(place: &str, found: impl AsRef<str>, expected: impl Into<String>, advice: &str) -> Read<T> {
    Err(Refusal::new(format!("{} at {}", found.as_ref(), quoted(place)), expected, advice))
}

/// Refuses what a sound file does not have.
fn damaged<T>(place: &str, found: impl AsRef<str>, expected: impl Into<String>) -> Read<T> {
    refuse(place, found, expected, FETCH_AGAIN)
}

fn unsupported<T>(place: &str, kind: &str, supported: &[&str]) -> Read<T> {
    refuse(place, format!("the type {}", quoted(kind)), supported.join(" or "), OTHER_KIND)
}

fn missing<T>(place: &str, field: &str) -> Read<T> {
    damaged(place, format!("no {}", quoted(field)), "this field")
}

/// Refuses a file that is too large to be a tokenizer's.
pub fn check_size(text: &str) -> Read<()> {
    match text.len() {
        size if size <= FILE_BYTES_MAX => Ok(()),
        size => {
            let expected = format!("at most {} MiB, as a tokenizer's file has", FILE_BYTES_MAX >> 20);
            Err(Refusal::new(format!("{} MiB", size >> 20), expected, FETCH_AGAIN))
        }
    }
}

/// A refusal of text that is not the JSON that it should be.
pub fn bad_json(error: &serde_json::Error) -> Refusal {
    /// The file's own text may be among the words.
    const WORDS_MAX: usize = 300;
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let words = words.strip_suffix(&place).unwrap_or(&words).chars().filter(|sign| !sign.is_control());
    let found = words.take(WORDS_MAX).chain(place.chars()).collect::<String>();
    Refusal::new(found, "the JSON of a tokenizer", FETCH_AGAIN)
}

/// Reads `tokenizer.json`.
pub fn tokenizer(text: &str) -> Read<Tokenizer> {
    read(text).map_err(|refusal| refusal.in_file(FILE))
}

fn read(text: &str) -> Read<Tokenizer> {
    check_size(text)?;
    let json: TokenizerJson = serde_json::from_str(text).map_err(|error| bad_json(&error))?;
    let mut normalisers = Vec::new();
    if let Some(step) = &json.normalizer {
        read_normaliser(step, "normalizer", &mut normalisers)?;
    }
    let mut splitters = Vec::new();
    if let Some(step) = &json.pre_tokenizer {
        read_splitter(step, "pre_tokenizer", &mut splitters)?;
    }
    let (mut vocabulary, model, spelling) = read_model(json.model)?;
    let is_byte_level = splitters.iter().any(|splitter| matches!(splitter, Splitter::ByteLevel { .. }));
    let added = json.added_tokens.map(|list| list.0).unwrap_or_default();
    let added = added.into_iter().map(|token| read_added(token, &mut vocabulary)).collect::<Read<Vec<_>>>()?;
    let mut template = None;
    if let Some(step) = &json.post_processor {
        read_template(step, "post_processor", &vocabulary, &mut template)?;
    }
    Ok(Tokenizer {
        vocabulary,
        added: AddedTokens::default(),
        normalisers,
        added_normalised: AddedTokens::default(),
        splitters,
        model,
        template: template.unwrap_or_else(Template::plain),
        spelling: if is_byte_level { Spelling::Bytes } else { spelling },
    }
    .with_added(added))
}

impl Tokenizer {
    /// The tokenizer with these tokens that are never cut.
    pub(super) fn with_added(mut self, tokens: Vec<AddedToken>) -> Self {
        for token in tokens {
            if token.normalized {
                let normalised = self.normalised(text_chars(&token.content));
                let text: String = normalised.iter().map(|sign| sign.value).collect();
                self.added_normalised.insert(&text, token);
            } else {
                self.added.insert(&token.content.clone(), token);
            }
        }
        self
    }
}

/// Reads an added token. One that is in the vocabulary keeps the id that it has there.
pub fn read_added(token: AddedTokenJson, vocabulary: &mut Vocabulary) -> Read<AddedToken> {
    let AddedTokenJson { id, content, single_word, lstrip, rstrip, normalized } = token;
    let id = match (vocabulary.id_of(&content), id) {
        (Some(known), _) => known,
        (None, Some(id)) => {
            vocabulary.insert(&content, id)?;
            id
        }
        (None, None) => return missing(&format!("added_tokens: {content}"), "id"),
    };
    Ok(AddedToken { content, id, single_word, lstrip, rstrip, normalized })
}

/// Takes a step of a pipeline, which has few of them however its lists nest: each makes the text anew.
fn push_step<T>(step: T, place: &str, into: &mut Vec<T>) -> Read<()> {
    if into.len() == STEPS_MAX {
        return refuse(place, format!("step {}", STEPS_MAX + 1), format!("at most {STEPS_MAX} steps"), OTHER_KIND);
    }
    into.push(step);
    Ok(())
}

fn read_normaliser(step: &StepJson, place: &str, into: &mut Vec<BertNormaliser>) -> Read<()> {
    match step.kind.as_str() {
        "BertNormalizer" => {
            let normaliser = BertNormaliser {
                clean_text: step.clean_text.unwrap_or(true),
                handle_chinese_chars: step.handle_chinese_chars.unwrap_or(true),
                strip_accents: step.strip_accents,
                lowercase: step.lowercase.unwrap_or(true),
            };
            push_step(normaliser, place, into)
        }
        "Sequence" => {
            match &step.normalizers {
                Some(steps) => steps.0.iter().enumerate().try_for_each(|(number, step)| {
                    read_normaliser(step, &format!("{place}.normalizers[{number}]"), into)
                }),
                None => missing(place, "normalizers"),
            }
        }
        other => unsupported(place, other, &["BertNormalizer", "Sequence"]),
    }
}

fn read_splitter(step: &StepJson, place: &str, into: &mut Vec<Splitter>) -> Read<()> {
    match step.kind.as_str() {
        "BertPreTokenizer" => push_step(Splitter::Bert, place, into),
        "ByteLevel" if into.iter().any(|splitter| matches!(splitter, Splitter::ByteLevel { .. })) => {
            // It would spell the bytes of bytes, twice as many each time.
            refuse(place, "a second step that spells bytes", "one", OTHER_KIND)
        }
        "ByteLevel" => {
            let byte_level = Splitter::ByteLevel {
                add_prefix_space: step.add_prefix_space.unwrap_or(true),
                use_regex: step.use_regex.unwrap_or(true),
            };
            push_step(byte_level, place, into)
        }
        "Split" => {
            let pattern = step.pattern.as_ref().and_then(|pattern| pattern.regex.as_deref());
            let is_kept = step.behavior.as_deref() == Some("Removed") && step.invert == Some(true);
            if pattern != Some(WORDS) || !is_kept {
                let found = format!("another pattern than {}", quoted(WORDS));
                return refuse(place, found, "the words of a model that attune wrote", OTHER_KIND);
            }
            push_step(Splitter::Words, place, into)
        }
        "Sequence" => {
            match &step.pretokenizers {
                Some(steps) => steps.0.iter().enumerate().try_for_each(|(number, step)| {
                    read_splitter(step, &format!("{place}.pretokenizers[{number}]"), into)
                }),
                None => missing(place, "pretokenizers"),
            }
        }
        other => unsupported(place, other, &["BertPreTokenizer", "ByteLevel", "Split", "Sequence"]),
    }
}

fn read_template(step: &StepJson, place: &str, vocabulary: &Vocabulary, into: &mut Option<Template>) -> Read<()> {
    let ends = || match (&step.cls, &step.sep) {
        (Some((_, start)), Some((_, end))) => {
            check_id(*start, vocabulary, place)?;
            check_id(*end, vocabulary, place)?;
            Ok((*start, *end))
        }
        (None, _) => missing(place, "cls"),
        (_, None) => missing(place, "sep"),
    };
    let template = match step.kind.as_str() {
        // It only says where offsets end, which are defined here once for all.
        "ByteLevel" => return Ok(()),
        "BertProcessing" => ends().map(|(start, end)| Template::bert(start, end))?,
        "RobertaProcessing" => ends().map(|(start, end)| Template::roberta(start, end))?,
        "TemplateProcessing" => read_template_parts(step, place, vocabulary)?,
        "Sequence" => {
            let Some(steps) = &step.processors else { return missing(place, "processors") };
            return steps.0.iter().enumerate().try_for_each(|(number, step)| {
                read_template(step, &format!("{place}.processors[{number}]"), vocabulary, into)
            });
        }
        other => {
            let supported = ["TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel", "Sequence"];
            return unsupported(place, other, &supported);
        }
    };
    match into.replace(template) {
        None => Ok(()),
        Some(_) => refuse(place, "a second step that adds pieces", "one", OTHER_KIND),
    }
}

fn check_id(id: u32, vocabulary: &Vocabulary, place: &str) -> Read<()> {
    match vocabulary.piece(id) {
        Some(_) => Ok(()),
        None => damaged(place, format!("the id {id}"), "an id of the vocabulary"),
    }
}

fn read_template_parts(step: &StepJson, place: &str, vocabulary: &Vocabulary) -> Read<Template> {
    let specials = step.special_tokens.as_ref().map(|Entries(entries)| entries.as_slice()).unwrap_or_default();
    let Some(single) = &step.single else { return missing(place, "single") };
    let place = |field: &str| format!("{place}.{field}");
    let single = parts_of(&single.0, specials, &place("single"), vocabulary)?;
    if texts_of(&single) != [0] {
        return damaged(&place("single"), "other sequences", "the sequence A once");
    }
    let pair = step.pair.as_ref().filter(|pair| !pair.0.is_empty());
    let pair = pair.map(|pair| parts_of(&pair.0, specials, &place("pair"), vocabulary)).transpose()?;
    if pair.as_ref().is_some_and(|pair| texts_of(pair) != [0, 1]) {
        return damaged(&place("pair"), "other sequences", "the sequences A and B once, in this order");
    }
    Ok(Template { single, pair })
}

fn texts_of(parts: &[TemplatePart]) -> Vec<usize> {
    let text = |part: &TemplatePart| match part {
        TemplatePart::Text { text, .. } => Some(*text),
        TemplatePart::Added { .. } => None,
    };
    parts.iter().filter_map(text).collect()
}

fn parts_of(
    parts: &[TemplatePartJson],
    specials: &[(String, SpecialJson)],
    place: &str,
    vocabulary: &Vocabulary,
) -> Read<Vec<TemplatePart>> {
    let part = |part: &TemplatePartJson| match part {
        TemplatePartJson::Sequence { id, type_id } => {
            let segment = *type_id as usize;
            match id.as_str() {
                "A" => Ok(TemplatePart::Text { text: 0, segment }),
                "B" => Ok(TemplatePart::Text { text: 1, segment }),
                other => damaged(place, format!("the sequence {}", quoted(other)), "A or B"),
            }
        }
        TemplatePartJson::SpecialToken { id, type_id } => {
            let Some((_, special)) = specials.iter().find(|(name, _)| name == id) else {
                return damaged(place, format!("the special token {}", quoted(id)), "one of `special_tokens`");
            };
            special.ids.0.iter().try_for_each(|id| check_id(*id, vocabulary, place))?;
            Ok(TemplatePart::Added { ids: special.ids.0.clone(), segment: *type_id as usize })
        }
    };
    parts.iter().map(part).collect()
}

fn read_model(mut json: ModelJson) -> Read<(Vocabulary, Model, Spelling)> {
    const SUPPORTED: [&str; 2] = ["WordPiece", "BPE"];
    // Old files do not say what model they have.
    let kind = json.kind.take().unwrap_or_else(|| {
        let kind = if json.merges.is_some() { 1 } else { 0 };
        SUPPORTED[kind].to_owned()
    });
    if !SUPPORTED.contains(&kind.as_str()) {
        return unsupported("model", &kind, &SUPPORTED);
    }
    let Some(Entries(entries)) = json.vocab.0.take() else {
        return damaged("model.vocab", "a list", PIECES_EXPECTED);
    };
    let vocabulary = read_vocabulary(entries)?;
    if kind == SUPPORTED[0] {
        let prefix = json.continuing_subword_prefix.unwrap_or_else(|| PREFIX.to_owned());
        let unknown = json.unk_token.unwrap_or_else(|| "[UNK]".to_owned());
        let Some(unknown) = vocabulary.id_of(&unknown) else {
            return damaged("model.unk_token", quoted(&unknown), "a piece of the vocabulary");
        };
        let chars_max = json.max_input_chars_per_word.map_or(WORD_CHARS_MAX, |most| most as usize);
        let model = WordPiece::new(vocabulary.iter(), &prefix, unknown, chars_max);
        return Ok((vocabulary, Model::WordPiece(model), Spelling::Prefixed(prefix)));
    }
    let is_given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let refused = [
        ("continuing_subword_prefix", is_given(&json.continuing_subword_prefix)),
        ("end_of_word_suffix", is_given(&json.end_of_word_suffix)),
        ("byte_fallback", json.byte_fallback == Some(true)),
        ("dropout", json.dropout.is_some_and(|share| share != 0.0)),
    ];
    if let Some((field, _)) = refused.iter().find(|(_, is_set)| *is_set) {
        return refuse(&format!("model.{field}"), "a value that is not supported", "none", OTHER_KIND);
    }
    let unknown = json.unk_token.filter(|unknown| !unknown.is_empty());
    let unknown = unknown.map(|unknown| match vocabulary.id_of(&unknown) {
        Some(id) => Ok(id),
        None => damaged("model.unk_token", quoted(&unknown), "a piece of the vocabulary"),
    });
    let pairs = json.merges.map(|list| list.0).unwrap_or_default();
    let mut model = read_merges(&vocabulary, pairs, |number| format!("model.merges[{number}]"))?;
    model.unknown = unknown.transpose()?;
    model.fuse_unknown = json.fuse_unk == Some(true);
    if json.ignore_merges == Some(true) {
        model.whole = vocabulary.iter().map(|(piece, id)| (piece.to_owned(), id)).collect();
    }
    Ok((vocabulary, Model::BytePair(model), Spelling::Plain))
}

/// The words for a vocabulary in JSON.
pub const PIECES_EXPECTED: &str = "an object of pieces and their ids";

/// Pieces of a file with their ids.
pub fn read_vocabulary(entries: Vec<(String, u32)>) -> Read<Vocabulary> {
    let mut vocabulary = Vocabulary::default();
    entries.iter().try_for_each(|(piece, id)| vocabulary.insert(piece, *id))?;
    match vocabulary.len() {
        0 => Err(Refusal::new("no pieces", "some", FETCH_AGAIN)),
        _ => Ok(vocabulary),
    }
}

/// A model of a vocabulary and its merges, whose places in the file are said by number.
pub fn read_merges(vocabulary: &Vocabulary, pairs: Vec<Pair>, place: impl Fn(usize) -> String) -> Read<BytePair> {
    let mut model = BytePair::default();
    for (piece, id) in vocabulary.iter() {
        let mut signs = piece.chars();
        if let (Some(sign), None) = (signs.next(), signs.next()) {
            model.characters.insert(sign, id);
        }
    }
    for (number, Pair(left, right)) in pairs.into_iter().enumerate() {
        let id_of = |piece: &str| match vocabulary.id_of(piece) {
            Some(id) => Ok(id),
            None => damaged(&place(number), quoted(piece), "a piece of the vocabulary"),
        };
        let pair = (id_of(&left)?, id_of(&right)?);
        model.push_merge(pair, number as u32, id_of(&(left + right.as_str()))?);
    }
    Ok(model)
}
