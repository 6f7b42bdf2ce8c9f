//! Texts into the pieces that a pretrained model reads, with the bytes and the word of each piece.
//!
//! Words are found and cut by Hugging Face's own crate, `tokenizers`, whose files these are: WordPiece of BERT, byte pairs of
//! GPT-2, Llama and their like, and SentencePiece's Unigram. Reading is here: a file is checked and bounded (`json`,
//! `read`, `steps`) before the crate is given its parts, and older files become such a file (`older`). So are places. The
//! crate's ranges go back where marks change their order, and have the first only of characters that became one; the
//! pieces that a tokenizer adds (`template`) have none. What the crate does besides is not done: texts are neither truncated
//! nor padded, whatever the file says of it.

mod json;
mod older;
mod read;
mod steps;
mod template;
pub mod write;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Serialize;
use steps::Normaliser;
use template::{Template, TemplatePart};
use tokenizers::{
    AddedVocabulary, Model, ModelWrapper, OffsetReferential, OffsetType, PreTokenizer, PreTokenizerWrapper,
};
use unicode_normalization::char::is_combining_mark;

use super::Refusal;

/// The texts of the files that make a tokenizer.
#[derive(Clone, Copy, Debug)]
pub enum TokenizerFiles<'a> {
    /// `tokenizer.json`, which has everything.
    Json(&'a str),
    /// `vocab.txt` of BERT's family, with `tokenizer_config.json` if there is one.
    WordPiece { vocab: &'a str, config: Option<&'a str> },
    /// `vocab.json` and `merges.txt` of GPT-2's, with `tokenizer_config.json` if there is one.
    BytePair { vocab: &'a str, merges: &'a str, config: Option<&'a str> },
}

/// A tokenizer of a pretrained model.
#[derive(Debug)]
pub struct Tokenizer {
    /// By their ids, which may have gaps.
    pieces: Vec<Option<Box<str>>>,
    /// Finds pieces that are never cut.
    added: AddedVocabulary,
    normaliser: Normaliser,
    splitters: Vec<PreTokenizerWrapper>,
    model: ModelWrapper,
    template: Template,
    spelling: Spelling,
}

/// How pieces are written in the vocabulary.
#[derive(Clone, Debug)]
enum Spelling {
    /// Pieces that continue a word begin with this.
    Prefixed(String),
    /// Each character is a byte.
    Bytes,
    /// SentencePiece's: this stands for a blank, with which words begin, and `<0x41>` for a byte.
    Blank(char),
    Plain,
}

/// The byte that a character of GPT-2's pieces stands for: `bytes_to_unicode` of its `encoder.py`. Most bytes have their
/// own character, those that cannot be seen one after all of them; a blank is `Ġ`.
static BYTES: LazyLock<HashMap<char, u8>> = LazyLock::new(|| {
    let (own, others): (Vec<u8>, Vec<u8>) =
        (0..=u8::MAX).partition(|byte| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF));
    own.into_iter().map(|byte| (char::from(byte), byte)).chain(('\u{100}'..).zip(others)).collect()
});

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
            TokenizerFiles::WordPiece { vocab, config } => older::word_piece(vocab, config),
            TokenizerFiles::BytePair { vocab, merges, config } => older::byte_pair(vocab, merges, config),
        }
    }

    /// The pieces of a text, with those that the tokenizer adds.
    pub fn encode(&self, text: &str) -> Encoding {
        self.assembled(&self.template.single, [text, ""])
    }

    /// The pieces of two texts, one after the other; none where the model has no pairs ([`Self::has_pairs`]).
    pub fn encode_pair(&self, first: &str, second: &str) -> Option<Encoding> {
        self.template.pair.as_deref().map(|parts| self.assembled(parts, [first, second]))
    }

    /// Says if two texts may be given at once.
    pub fn has_pairs(&self) -> bool {
        self.template.pair.is_some()
    }

    /// Token types that it gives: to a text, and to a pair of texts where the model reads pairs.
    pub fn segments(&self, reads_pairs: bool) -> usize {
        let pair = self.template.pair.iter().filter(|_| reads_pairs).flatten();
        let segment = |part: &TemplatePart| match part {
            TemplatePart::Added { segment, .. } | TemplatePart::Text { segment, .. } => *segment,
        };
        self.template.single.iter().chain(pair).map(segment).max().unwrap_or(0).saturating_add(1)
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
        let bytes = self.spelled_out(id);
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
        let begins = matches!(&self.spelling, Spelling::Prefixed(prefix) if !self.continues(id, prefix));
        format!("{}{}", if begins { " " } else { "" }, self.shown(id))
    }

    /// The text of these pieces: words of BERT's with a blank between them, GPT-2's bytes as they are. Bytes that are
    /// no text become `U+FFFD`.
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for id in ids {
            if let Spelling::Prefixed(prefix) = &self.spelling
                && !bytes.is_empty()
                && !self.continues(*id, prefix)
            {
                bytes.push(b' ');
            }
            bytes.extend(self.spelled_out(*id));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn continues(&self, id: u32, prefix: &str) -> bool {
        !prefix.is_empty() && self.piece(id).is_some_and(|piece| piece.starts_with(prefix))
    }

    /// The bytes of a piece's text.
    fn spelled_out(&self, id: u32) -> Vec<u8> {
        let piece = self.piece(id).unwrap_or_default();
        let spelled = match &self.spelling {
            // A piece that has other characters stands for itself.
            Spelling::Bytes => piece.chars().map(|sign| BYTES.get(&sign).copied()).collect(),
            Spelling::Prefixed(prefix) => piece.strip_prefix(prefix.as_str()).map(Into::into),
            Spelling::Blank(blank) => match fallback(piece) {
                Some(byte) => Some(vec![byte]),
                None => Some(piece.replace(*blank, " ").into()),
            },
            Spelling::Plain => None,
        };
        spelled.unwrap_or_else(|| piece.into())
    }

    fn assembled(&self, parts: &[TemplatePart], texts: [&str; 2]) -> Encoding {
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
                    self.cut_text(text, texts[text], *segment, &mut encoding);
                }
            }
        }
        encoding
    }

    /// The pieces of one text.
    fn cut_text(&self, number: usize, text: &str, segment: usize, encoding: &mut Encoding) {
        // Nothing that the file could ask for fails here: it was checked.
        let (cut, spelled) = self.cut(text).unwrap_or_default();
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
            left.0 == right.0 && !self.begins_word(right.1)
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
    }

    /// The text as the crate cuts it, and for each of its words if the text spells out a piece that is never cut.
    fn cut(&self, text: &str) -> tokenizers::Result<(tokenizers::Encoding, Vec<bool>)> {
        let mut words = self.added.extract_and_normalize(Some(&self.normaliser), text);
        self.splitters.iter().try_for_each(|splitter| splitter.pre_tokenize(&mut words))?;
        let spelled = words.get_splits(OffsetReferential::Original, OffsetType::None);
        let spelled = spelled.iter().map(|(.., pieces)| pieces.is_some()).collect();
        words.tokenize(|word| self.model.tokenize(word.get()))?;
        Ok((words.into_encoding(None, 0, OffsetType::Byte)?, spelled))
    }

    /// Gives a piece the characters after it that went into it, for the crate gives it the first only of those that became
    /// one: all up to a blank that no piece has.
    fn widen(&self, text: &str, pieces: &mut [(usize, u32, Range<usize>)]) {
        let is_blank =
            |sign: char| sign.is_whitespace() || matches!(self.spelling, Spelling::Blank(blank) if blank == sign);
        let mut next = text.len();
        for (.., bytes) in pieces.iter_mut().rev() {
            let behind = text.get(bytes.end..next).unwrap_or_default();
            let begin = bytes.start;
            bytes.end += behind.find(is_blank).unwrap_or(behind.len());
            next = begin;
        }
    }

    /// Says if a piece of SentencePiece's begins a word: there the whole text is one.
    fn begins_word(&self, id: u32) -> bool {
        matches!(self.spelling, Spelling::Blank(blank) if self.piece(id).is_some_and(|piece| piece.starts_with(blank)))
    }
}

/// The byte of a piece such as `<0x41>`.
fn fallback(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
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
            && matches!(self.splitters[..], [PreTokenizerWrapper::BertPreTokenizer(_)])
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
