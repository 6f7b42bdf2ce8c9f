//! Tokenizers, which split texts into the pieces that a pretrained model reads, with the bytes and the word of each
//! piece.
//!
//! Words are found and split by Hugging Face's crate `tokenizers`, which defines these files, with all of its models,
//! normalizers, pre-tokenizers and post-processors. Reading is implemented here: a file is checked and bounded (`json`,
//! `read`, `steps`, `pattern`) before its parts are passed to the crate, and older files are converted to such a file
//! (`older`). So are places in the text: the crate's ranges go back where combining marks change their order, and cover
//! only the first of several characters that become one; the pieces that a tokenizer adds (`template`) have no ranges
//! there. Other features of the crate are not used: texts are neither truncated nor padded, and nothing is random,
//! whatever the file says.

mod json;
mod older;
mod pattern;
mod read;
pub(in crate::pretrained) mod refuse;
pub mod spelling;
mod steps;
mod template;
pub mod write;

use std::ops::Range;

use refuse::WORD_CHARS_MAX;
use serde::Serialize;
use spelling::Spelling;
use steps::{Bounds, Normaliser, Splitters};
use template::{Template, TemplatePart};
use tokenizers::{AddedVocabulary, Model, ModelWrapper, OffsetReferential, OffsetType, Token};
use unicode_normalization::char::is_combining_mark;

use super::Refusal;
use super::refusal::quoted;
use crate::panics::quietly;

/// The texts of a tokenizer's files.
#[derive(Clone, Copy, Debug)]
pub enum TokenizerFiles<'a> {
    /// `tokenizer.json`, which is complete.
    Json(&'a str),
    /// `vocab.txt` of BERT's family.
    WordPiece { vocab: &'a str, beside: OlderFiles<'a> },
    /// `vocab.json` and `merges.txt` of the families of GPT-2 and RoBERTa.
    BytePair { vocab: &'a str, merges: &'a str, beside: OlderFiles<'a> },
}

/// The files that older tokenizers have in addition to the vocabulary.
#[derive(Clone, Copy, Debug, Default)]
pub struct OlderFiles<'a> {
    /// Text of `tokenizer_config.json`.
    pub config: Option<&'a str>,
    /// Text of `special_tokens_map.json`.
    pub special: Option<&'a str>,
    /// Text of `added_tokens.json`.
    pub added: Option<&'a str>,
    /// `tokenizer_class` and `model_type` of the model's `config.json`.
    pub class: Option<&'a str>,
    pub model_type: Option<&'a str>,
}

/// A tokenizer of a pretrained model.
#[derive(Debug)]
pub struct Tokenizer {
    /// Pieces by id; ids may have gaps.
    pieces: Vec<Option<Box<str>>>,
    /// Search for the pieces that are never split.
    added: AddedVocabulary,
    normaliser: Normaliser,
    splitters: Splitters,
    model: ModelWrapper,
    template: Template,
    spelling: Spelling,
}

/// Pieces that stand for a hidden word, BERT's and RoBERTa's.
pub const HIDDEN: [&str; 2] = ["[MASK]", "<mask>"];

impl Tokenizer {
    /// Reads a tokenizer from the texts of its files.
    ///
    /// # Errors
    /// If a file is not of this kind or uses something unsupported; the refusal names the file.
    pub fn read(files: TokenizerFiles<'_>) -> Result<Self, Refusal> {
        match files {
            TokenizerFiles::Json(text) => read::tokenizer(text),
            TokenizerFiles::WordPiece { vocab, beside } => older::word_piece(vocab, beside),
            TokenizerFiles::BytePair { vocab, merges, beside } => older::byte_pair(vocab, merges, beside),
        }
    }

    /// Splits a text into pieces, including those that the tokenizer adds.
    ///
    /// # Errors
    /// A message for the learner, if the tokenizer has no piece for a part of the text, or takes too much time or
    /// memory.
    pub fn encode(&self, text: &str) -> Result<Encoding, String> {
        self.assembled(&self.template.single, [text, ""])
    }

    /// Splits two texts into pieces, those of one text after those of the other.
    ///
    /// # Errors
    /// As [`Self::encode`], and if the tokenizer does not support pairs ([`Self::has_pairs`]).
    pub fn encode_pair(&self, first: &str, second: &str) -> Result<Encoding, String> {
        match &self.template.pair {
            Some(parts) => self.assembled(parts, [first, second]),
            None => Err("the model's tokenizer has no form for a pair of sentences; write one sentence".to_owned()),
        }
    }

    /// Splits a text of the target's side into pieces, including those that the tokenizer adds, such as the language of
    /// mBART's targets. A tokenizer of one side splits it as any other.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_target(&self, text: &str) -> Result<Encoding, String> {
        self.encode(text)
    }

    /// Returns whether two texts can be given at once.
    pub fn has_pairs(&self) -> bool {
        self.template.pair.is_some()
    }

    /// Returns the number of rows that a table needs for all ids: the highest id plus one.
    #[expect(clippy::len_without_is_empty, reason = "no tokenizer is empty")]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the id of a piece in the spelling of the file: `##ing`, `Ġbank`, `[MASK]`.
    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.added.token_to_id(piece, &self.model)
    }

    /// Returns the piece that stands for a hidden word, and its id; `None` if the model does not predict hidden words.
    pub fn hidden(&self) -> Option<(&'static str, u32)> {
        HIDDEN.into_iter().find_map(|piece| Some((piece, self.id_of(piece)?)))
    }

    /// Returns a piece in the spelling of the file; `None` if the id has no piece.
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.pieces.get(id as usize)?.as_deref()
    }

    /// Returns a piece in readable form: `ing`, ` bank`. Control characters are escaped, and bytes that are not text
    /// are written as `\xE2`. An id without a piece gives an empty text.
    pub fn shown(&self, id: u32) -> String {
        self.spelling.shown(self.piece(id).unwrap_or_default())
    }

    /// Returns a piece in the form in which it follows others: a word of BERT's has a space before it.
    pub fn shown_behind_others(&self, id: u32) -> String {
        let has_blank = self.piece(id).is_some_and(|piece| self.spelling.has_blank_before(piece, None));
        format!("{}{}", if has_blank { " " } else { "" }, self.shown(id))
    }

    /// Returns the text of pieces: BERT's words with spaces between them, GPT-2's bytes unchanged. Bytes that are not
    /// text become `U+FFFD`.
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

    /// Adds the pieces of one text.
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

    /// Splits a text with the crate. Also returns, for each of its words, whether it is a piece that is never split.
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

    /// Splits one word into pieces.
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

    /// Extends each piece's range by the characters that became part of it. The crate's range covers only the first of
    /// several characters that became one; it is extended up to the next space or piece.
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

/// Moves a range of the crate's to character boundaries, and its start to `before` or later.
fn place_within(text: &str, (start, end): (usize, usize), before: usize) -> Range<usize> {
    let start = text.floor_char_boundary(start.max(before).min(text.len()));
    start..text.ceil_char_boundary(end.clamp(start, text.len()))
}

/// The pieces of one text, or of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    pub pieces: Vec<ModelPiece>,
    /// Words, in the order in which pieces number them.
    pub words: Vec<Word>,
}

/// A piece: one token of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPiece {
    pub id: u32,
    /// Number of its text: 0, or 1 for the second of a pair.
    pub text: usize,
    /// Range of bytes of the text that it stands for, including a leading space of GPT-2's pieces. They are at
    /// character boundaries and never go back; a piece that is a part of a character has the whole character. For a
    /// piece that the tokenizer added they are an empty range at its place.
    pub bytes: Range<usize>,
    /// Number of its word; `None` for a piece that the tokenizer added.
    pub word: Option<usize>,
    /// Token type that the model is given.
    pub segment: usize,
    pub origin: Origin,
}

/// The origin of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A part of the text.
    Text,
    /// A piece that is never split, such as `[MASK]` or `<|endoftext|>`, written out in the text.
    Spelled,
    /// A piece that the tokenizer added: `[CLS]`, `[SEP]`.
    Added,
}

/// A word as the tokenizer finds it before it is split into pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Number of its text.
    pub text: usize,
    /// Bytes to show: without surrounding spaces, and with all combining marks of its last letter.
    pub bytes: Range<usize>,
}

impl Word {
    /// Makes the word within a range of a text.
    fn within(text: usize, whole: &str, bytes: Range<usize>) -> Self {
        let found = &whole[bytes.clone()];
        let trimmed = found.trim();
        if trimmed.is_empty() {
            return Self { text, bytes };
        }
        let start = bytes.start + (found.len() - found.trim_start().len());
        let end = start + trimmed.len();
        // Combining marks that a normalizer strips belong to no piece, but to the word.
        let marks = whole[end..].chars().take_while(|sign| is_combining_mark(*sign));
        Self { text, bytes: start..end + marks.map(char::len_utf8).sum::<usize>() }
    }
}

/// The prefix of pieces that continue a word.
const PREFIX: &str = "##";

/// The tokenizer of uncased BERT as data: a text without capitals and accents is split into words and punctuation, and
/// each word into the longest pieces in the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WordPieces {
    prefix: &'static str,
    /// Piece of a word that cannot be split.
    unknown: u32,
    /// Largest number of characters of a word; longer words are unknown.
    longest: usize,
    /// Pieces that are never split if a text writes them out.
    spelled: Vec<String>,
    /// Templates of a single text, and of a pair if the model reads pairs.
    single: Vec<TemplatePart>,
    pair: Option<Vec<TemplatePart>>,
}

impl Tokenizer {
    /// Returns the data of a tokenizer that works like that of uncased BERT, and `None` for any other.
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
