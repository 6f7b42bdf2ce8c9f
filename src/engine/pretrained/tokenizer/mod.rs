//! Texts into the pieces that a pretrained model reads, with the bytes and the word of each piece.
//!
//! Words are found and cut by Hugging Face's own crate, `tokenizers`, whose files these are, with all of its models,
//! normalizers, pre-tokenizers and post-processors. Reading is here: a file is checked and bounded (`json`, `read`, `steps`,
//! `pattern`) before the crate is given its parts, and older files become such a file (`older`). So are places. The
//! crate's ranges go back where marks change their order, and have the first only of characters that became one; the
//! pieces that a tokenizer adds (`template`) have none. What the crate does besides is not done: texts are neither truncated
//! nor padded, and nothing is left to chance, whatever the file says of it.

mod json;
mod older;
mod pattern;
pub(in crate::pretrained) mod read;
mod spelling;
mod steps;
mod template;
pub mod write;

use std::ops::Range;

use read::WORD_CHARS_MAX;
use serde::Serialize;
use spelling::Spelling;
use steps::{Bounds, Normaliser, Splitters};
use template::{Template, TemplatePart};
use tokenizers::{AddedVocabulary, Model, ModelWrapper, OffsetReferential, OffsetType, Token};
use unicode_normalization::char::is_combining_mark;

use super::Refusal;
use super::refusal::quoted;
use crate::panics::quietly;

/// The texts of the files that make a tokenizer.
#[derive(Clone, Copy, Debug)]
pub enum TokenizerFiles<'a> {
    /// `tokenizer.json`, which has everything.
    Json(&'a str),
    /// `vocab.txt` of BERT's family.
    WordPiece { vocab: &'a str, beside: OlderFiles<'a> },
    /// `vocab.json` and `merges.txt` of GPT-2's and RoBERTa's.
    BytePair { vocab: &'a str, merges: &'a str, beside: OlderFiles<'a> },
}

/// The files beside the vocabulary of an older tokenizer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OlderFiles<'a> {
    /// `tokenizer_config.json`
    pub config: Option<&'a str>,
    /// `special_tokens_map.json`
    pub special: Option<&'a str>,
    /// `added_tokens.json`
    pub added: Option<&'a str>,
    /// `tokenizer_class` and `model_type` of the model's `config.json`.
    pub class: Option<&'a str>,
    pub model_type: Option<&'a str>,
}

/// A tokenizer of a pretrained model.
#[derive(Debug)]
pub struct Tokenizer {
    /// By their ids, which may have gaps.
    pieces: Vec<Option<Box<str>>>,
    /// Finds pieces that are never cut.
    added: AddedVocabulary,
    normaliser: Normaliser,
    splitters: Splitters,
    model: ModelWrapper,
    template: Template,
    spelling: Spelling,
}

/// Pieces that stand for a hidden word: BERT's and RoBERTa's.
pub const HIDDEN: [&str; 2] = ["[MASK]", "<mask>"];

impl Tokenizer {
    /// Reads a tokenizer from the texts of its files.
    ///
    /// # Errors
    /// If a file is no such file, or asks for what is not supported; its name is said.
    pub fn read(files: TokenizerFiles<'_>) -> Result<Self, Refusal> {
        match files {
            TokenizerFiles::Json(text) => read::tokenizer(text),
            TokenizerFiles::WordPiece { vocab, beside } => older::word_piece(vocab, beside),
            TokenizerFiles::BytePair { vocab, merges, beside } => older::byte_pair(vocab, merges, beside),
        }
    }

    /// The pieces of a text, with those that the tokenizer adds.
    ///
    /// # Errors
    /// In words for the learner, if the tokenizer has no piece for a part of the text, or takes too much for it.
    pub fn encode(&self, text: &str) -> Result<Encoding, String> {
        self.assembled(&self.template.single, [text, ""])
    }

    /// The pieces of two texts, one after the other.
    ///
    /// # Errors
    /// As [`Self::encode`], and if the tokenizer has no pairs ([`Self::has_pairs`]).
    pub fn encode_pair(&self, first: &str, second: &str) -> Result<Encoding, String> {
        match &self.template.pair {
            Some(parts) => self.assembled(parts, [first, second]),
            None => Err("the model's tokenizer has no form for a pair of sentences; write one sentence".to_owned()),
        }
    }

    /// Says if two texts may be given at once.
    pub fn has_pairs(&self) -> bool {
        self.template.pair.is_some()
    }

    /// The number of rows that a table needs for all ids: the highest of them and one.
    #[expect(clippy::len_without_is_empty, reason = "no tokenizer is empty")]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The id of a piece as the file writes it: `##ing`, `Ġbank`, `[MASK]`.
    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.added.token_to_id(piece, &self.model)
    }

    /// The piece that stands for a hidden word, and its id; `None` where the model hides none.
    pub fn hidden(&self) -> Option<(&'static str, u32)> {
        HIDDEN.into_iter().find_map(|piece| Some((piece, self.id_of(piece)?)))
    }

    /// A piece as the file writes it; none for an id that has no piece.
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.pieces.get(id as usize)?.as_deref()
    }

    /// A piece as a person reads it: `ing`, ` bank`. Control characters are escaped, and bytes that are no text are
    /// written as `\xE2`; an id that has no piece is empty.
    pub fn shown(&self, id: u32) -> String {
        let bytes = self.spelling.spelled_out(self.piece(id).unwrap_or_default());
        let mut shown = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            for sign in chunk.valid().chars() {
                match sign.is_control() {
                    true => shown.extend(sign.escape_default()),
                    false => shown.push(sign),
                }
            }
            shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
        }
        shown
    }

    /// The same after other pieces: a word of BERT's has a blank before it.
    pub fn shown_behind_others(&self, id: u32) -> String {
        let has_blank = self.piece(id).is_some_and(|piece| self.spelling.has_blank_before(piece, None));
        format!("{}{}", if has_blank { " " } else { "" }, self.shown(id))
    }

    /// The text of these pieces: words of BERT's with a blank between them, GPT-2's bytes as they are. Bytes that are
    /// no text become `U+FFFD`.
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        let mut before = None;
        for id in ids {
            let piece = self.piece(*id).unwrap_or_default();
            if before.is_some() && self.spelling.has_blank_before(piece, before) {
                bytes.push(b' ');
            }
            bytes.extend(self.spelling.spelled_out(piece));
            before = Some(piece);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn assembled(&self, parts: &[TemplatePart], texts: [&str; 2]) -> Result<Encoding, String> {
        let mut encoding = Encoding::default();
        let (mut text, mut at) = (0, 0);
        for part in parts {
            match part {
                TemplatePart::Added { ids, segment } => encoding.pieces.extend(ids.iter().map(|id| ModelPiece {
                    id: *id,
                    text,
                    bytes: at..at,
                    word: None,
                    segment: *segment,
                    origin: Origin::Added,
                })),
                TemplatePart::Text { text: next, segment } => {
                    (text, at) = (*next, texts[*next].len());
                    self.cut_text(text, texts[text], *segment, &mut encoding)?;
                }
            }
        }
        Ok(encoding)
    }

    /// The pieces of one text.
    fn cut_text(&self, number: usize, text: &str, segment: usize, encoding: &mut Encoding) -> Result<(), String> {
        let cut = quietly(|| self.cut(text));
        let (cut, spelled) = cut.unwrap_or_else(|panic| Err(format!("the tokenizer fails on this text ({panic})")))?;
        let mut before = 0;
        let mut pieces: Vec<(usize, u32, Range<usize>)> = Vec::with_capacity(cut.len());
        for ((word, id), place) in cut.get_word_ids().iter().zip(cut.get_ids()).zip(cut.get_offsets()) {
            let bytes = place_within(text, *place, before);
            before = bytes.start;
            pieces.push((word.unwrap_or_default() as usize, *id, bytes));
        }
        if self.normaliser.composes() {
            self.widen(text, &mut pieces);
        }
        let goes_on = |left: &(usize, u32, Range<usize>), right: &(usize, u32, Range<usize>)| {
            let [left_piece, right_piece] = [left.1, right.1].map(|id| self.piece(id).unwrap_or_default());
            left.0 == right.0 && !self.spelling.ends_word(left_piece) && !self.spelling.begins_word(right_piece)
        };
        for word in pieces.chunk_by(goes_on) {
            let end = word.iter().map(|(.., bytes)| bytes.end).max().unwrap_or_default();
            let is_spelled = spelled.get(word[0].0).is_some_and(|spelled| *spelled);
            let origin = if is_spelled { Origin::Spelled } else { Origin::Text };
            let at = Some(encoding.words.len());
            encoding.words.push(Word::within(number, text, word[0].2.start..end));
            encoding.pieces.extend(word.iter().map(|(_, id, bytes)| ModelPiece {
                id: *id,
                text: number,
                bytes: bytes.clone(),
                word: at,
                segment,
                origin,
            }));
        }
        Ok(())
    }

    /// The text as the crate cuts it, and for each of its words if the text spells out a piece that is never cut.
    fn cut(&self, text: &str) -> Result<(tokenizers::Encoding, Vec<bool>), String> {
        let bounds = Bounds::of(text.len());
        let normaliser = self.normaliser.within(&bounds);
        let mut words = self.added.extract_and_normalize(Some(&normaliser), text);
        normaliser.finish()?;
        self.splitters.run(&mut words, &bounds)?;
        let spelled = words.get_splits(OffsetReferential::Original, OffsetType::None);
        let spelled = spelled.iter().map(|(.., pieces)| pieces.is_some()).collect();
        let cut = words.tokenize(|word| Ok(self.cut_word(word.get())?));
        let encoding = cut.and_then(|()| words.into_encoding(None, 0, OffsetType::Byte));
        encoding.map(|encoding| (encoding, spelled)).map_err(|error| error.to_string())
    }

    /// The pieces of one word.
    fn cut_word(&self, word: &str) -> Result<Vec<Token>, String> {
        if let ModelWrapper::WordPiece(model) = &self.model
            && model.max_input_chars_per_word > WORD_CHARS_MAX
        {
            let letters = word.chars().count();
            if (WORD_CHARS_MAX + 1..=model.max_input_chars_per_word).contains(&letters) {
                return Err(format!("a word has {letters} characters; at most {WORD_CHARS_MAX} are read"));
            }
        }
        self.model.tokenize(word).map_err(|_| {
            // Some models fail at a character, others at a whole word.
            let letters = word.char_indices().map(|(at, letter)| &word[at..at + letter.len_utf8()]);
            let mut unknown = letters.filter(|letter| self.model.tokenize(letter).is_err());
            let of_letters = matches!(self.model, ModelWrapper::Unigram(_) | ModelWrapper::BPE(_));
            let unknown = if of_letters { unknown.next().unwrap_or(word) } else { word };
            format!(
                "the tokenizer has no piece for {}, and none that stands for what it does not know; write other words",
                quoted(unknown)
            )
        })
    }

    /// Gives a piece the characters after it that went into it, for the crate gives it the first only of those that became
    /// one: all up to a blank that no piece has.
    fn widen(&self, text: &str, pieces: &mut [(usize, u32, Range<usize>)]) {
        let mut next = text.len();
        for (.., bytes) in pieces.iter_mut().rev() {
            let behind = text.get(bytes.end..next).unwrap_or_default();
            let begin = bytes.start;
            bytes.end += behind.find(|sign| self.spelling.is_blank(sign)).unwrap_or(behind.len());
            next = begin;
        }
    }
}

/// A range of the crate's on bounds of characters, and not before the last one.
fn place_within(text: &str, (start, end): (usize, usize), before: usize) -> Range<usize> {
    let start = text.floor_char_boundary(start.max(before).min(text.len()));
    start..text.ceil_char_boundary(end.clamp(start, text.len()))
}

/// The pieces of one text, or of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    pub pieces: Vec<ModelPiece>,
    /// The words, by the numbers that pieces have.
    pub words: Vec<Word>,
}

/// A piece: one token of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPiece {
    pub id: u32,
    /// Which text it is of: 0, or 1 for the second of a pair.
    pub text: usize,
    /// The bytes of that text that it stands for, a leading space of GPT-2's pieces included. They lie on the bounds of
    /// characters and never go back; a piece of a part of a character has the whole character.
    /// Empty for a piece that the tokenizer added, at the place where it stands.
    pub bytes: Range<usize>,
    /// The number of the word that it belongs to; none for a piece that the tokenizer added.
    pub word: Option<usize>,
    /// The token type that the model is given.
    pub segment: usize,
    pub origin: Origin,
}

/// How a piece came to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Cut from the text.
    Text,
    /// The text spells it out: `[MASK]`, `<|endoftext|>` and others that are never cut.
    Spelled,
    /// The tokenizer added it: `[CLS]`, `[SEP]`.
    Added,
}

/// A word, as the tokenizer finds words before it cuts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Which text it is of.
    pub text: usize,
    /// The bytes to show: without space around it, and with all marks on its last letter.
    pub bytes: Range<usize>,
}

impl Word {
    /// The word within these bytes of a text.
    fn within(text: usize, whole: &str, bytes: Range<usize>) -> Self {
        let found = &whole[bytes.clone()];
        let trimmed = found.trim();
        if trimmed.is_empty() {
            return Self { text, bytes };
        }
        let start = bytes.start + (found.len() - found.trim_start().len());
        let end = start + trimmed.len();
        // Marks that a normaliser strips are no part of a piece, and yet of the word.
        let marks = whole[end..].chars().take_while(|sign| is_combining_mark(*sign));
        Self { text, bytes: start..end + marks.map(char::len_utf8).sum::<usize>() }
    }
}

/// The prefix of pieces that continue a word.
const PREFIX: &str = "##";

/// BERT's cut of a text without capitals and accents: into words and marks, and each word into the longest pieces that the
/// vocabulary has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WordPieces {
    prefix: &'static str,
    /// The piece of a word that cannot be cut.
    unknown: u32,
    /// Characters of a word; a longer word is unknown.
    longest: usize,
    /// Pieces that a text spells out, which are never cut.
    spelled: Vec<String>,
    /// Texts, and the pieces that the tokenizer adds: to one text, and to a pair, where the model reads one.
    single: Vec<TemplatePart>,
    pair: Option<Vec<TemplatePart>>,
}

impl Tokenizer {
    /// The parts of a tokenizer that cuts as BERT does without capitals, and `None` of any other.
    pub fn word_pieces(&self, reads_pairs: bool) -> Option<WordPieces> {
        let ModelWrapper::WordPiece(model) = &self.model else { return None };
        let added = self.added.get_added_tokens_decoder().values();
        let is_plain =
            added.clone().all(|piece| !(piece.single_word || piece.lstrip || piece.rstrip || piece.normalized));
        let is_bert = self.normaliser.is_uncased_bert()
            && self.splitters.are_bert()
            && model.continuing_subword_prefix == PREFIX
            && is_plain;
        let mut spelled: Vec<String> = added.map(|piece| piece.content.clone()).collect();
        spelled.sort();
        let unknown = self.id_of(&model.unk_token).filter(|_| is_bert)?;
        let longest = model.max_input_chars_per_word;
        let Template { single, pair } = self.template.clone();
        Some(WordPieces { prefix: PREFIX, unknown, longest, spelled, single, pair: pair.filter(|_| reads_pairs) })
    }
}
