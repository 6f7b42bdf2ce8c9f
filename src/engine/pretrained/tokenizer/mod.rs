//! Tokenizers, which split texts into the pieces that a pretrained model reads, with the bytes and the word of each
//! piece.
//!
//! Words are found and split by Hugging Face's crate `tokenizers`, which defines these files, with all of its models,
//! normalizers, pre-tokenizers and post-processors (`pipeline`). Reading is implemented here: a file is checked and
//! bounded (`json`, `read`, `steps`, `pattern`) before its parts are passed to the crate, and older files are converted
//! to such a file (`older`). Places in the text are determined here as well: the crate's ranges go back where combining
//! marks change their order, and cover only the first of several characters that become one; the pieces that a
//! tokenizer adds (`template`) have no ranges there. SentencePiece's own files, which the crate does not read, are read
//! by `spm` and applied by `sentencepiece`. Other features of the crate are not used: texts are neither truncated nor
//! padded, and nothing is random, whatever the file says.

mod cut;
mod json;
mod older;
mod pattern;
mod pipeline;
mod read;
pub(in crate::pretrained) mod refuse;
pub(in crate::pretrained) mod sentencepiece;
pub mod spelling;
mod spm;
mod steps;
mod template;
pub mod write;

use std::collections::HashSet;
use std::ops::Range;

use cut::{CutPiece, Side};
use pipeline::Pipeline;
use sentencepiece::SentencePiece;
use serde::Serialize;
use spelling::Spelling;
use template::{Template, TemplatePart};
use tokenizers::{AddedVocabulary, Model, ModelWrapper};
use unicode_normalization::char::is_combining_mark;

use super::Refusal;
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
    /// `source.spm`, `target.spm` and `vocab.json`, the files of Marian.
    Marian { sides: [&'a [u8]; 2], vocab: &'a str, beside: OlderFiles<'a> },
    /// `spiece.model` of T5.
    T5 { spiece: &'a [u8], beside: OlderFiles<'a> },
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
    /// The search for pieces that are never split.
    added: AddedVocabulary,
    /// Ids of the added pieces that have a meaning for the model and are not text.
    special: HashSet<u32>,
    model: PieceModel,
    template: Template,
    /// Template of targets; `None` if targets have the template of all texts.
    target_template: Option<Template>,
    spelling: Spelling,
}

/// The method by which a text is cut into pieces.
#[derive(Debug)]
enum PieceModel {
    Pipeline(Pipeline),
    SentencePiece(SentencePiece),
}

impl PieceModel {
    fn id_of(&self, piece: &str) -> Option<u32> {
        match self {
            Self::Pipeline(pipeline) => pipeline.model.token_to_id(piece),
            Self::SentencePiece(model) => model.id_of(piece),
        }
    }
}

/// Whether special tokens are a part of a decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialTokens {
    Kept,
    LeftOut,
}

/// Pieces that stand for a hidden word: BERT's and RoBERTa's.
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
            TokenizerFiles::Marian { sides, vocab, beside } => spm::marian(sides, vocab, beside),
            TokenizerFiles::T5 { spiece, beside } => spm::t5(spiece, beside),
        }
    }

    /// Splits a text into pieces, including those that the tokenizer adds.
    ///
    /// # Errors
    /// A message for the learner, if the tokenizer has no piece for a part of the text, or takes too much time or
    /// memory.
    pub fn encode(&self, text: &str) -> Result<Encoding, String> {
        self.assembled(&self.template.single, [text, ""], Side::Source)
    }

    /// Splits two texts into pieces, those of one text after those of the other.
    ///
    /// # Errors
    /// See [`Self::encode`]; also if the tokenizer does not support pairs ([`Self::has_pairs`]).
    pub fn encode_pair(&self, first: &str, second: &str) -> Result<Encoding, String> {
        match &self.template.pair {
            Some(parts) => self.assembled(parts, [first, second], Side::Source),
            None => Err("the model's tokenizer has no form for a pair of sentences; write one sentence".to_owned()),
        }
    }

    /// Splits a target of a translator into pieces, including those that the tokenizer adds. Marian has another table
    /// for targets, and mBART adds another language.
    ///
    /// # Errors
    /// See [`Self::encode`].
    pub fn encode_target(&self, text: &str) -> Result<Encoding, String> {
        self.assembled(&self.target_template().single, [text, ""], Side::Target)
    }

    /// Splits a target into the pieces that a decoder reads after its start token, without those that the tokenizer
    /// adds after the text.
    ///
    /// # Errors
    /// See [`Self::encode`].
    pub fn encode_begun_target(&self, text: &str) -> Result<Encoding, String> {
        self.assembled(self.target_template().until_text(), [text, ""], Side::Target)
    }

    fn target_template(&self) -> &Template {
        self.target_template.as_ref().unwrap_or(&self.template)
    }

    /// Sets the language of targets, which the tokenizer adds in place of the source's language.
    pub fn set_target_language(&mut self, id: u32) {
        /// Piece at the end of a text, in all models that add languages.
        const END: &str = "</s>";
        self.target_template = Some(self.template.with_language(id, self.id_of(END)));
    }

    /// Returns whether two texts can be encoded together as a pair.
    pub fn has_pairs(&self) -> bool {
        self.template.pair.is_some()
    }

    /// Returns the number of rows that a table needs for all ids: the highest id plus one.
    #[expect(clippy::len_without_is_empty, reason = "no tokenizer is empty")]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the id of a piece in the spelling of the file, such as `##ing`, `Ġbank` or `[MASK]`; `None` if there is
    /// no such piece.
    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.added.get_vocab().get(piece).copied().or_else(|| self.model.id_of(piece))
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

    /// Returns a piece in the form that it has after others: a word of BERT's has a space before it.
    pub fn shown_behind_others(&self, id: u32) -> String {
        let has_blank = self.piece(id).is_some_and(|piece| self.spelling.has_blank_before(piece, None));
        format!("{}{}", if has_blank { " " } else { "" }, self.shown(id))
    }

    /// Returns whether a piece is special, such as the one that ends a sentence.
    pub fn is_special(&self, id: u32) -> bool {
        self.special.contains(&id)
    }

    /// Returns the text of pieces: BERT's words with spaces between them, GPT-2's bytes unchanged. Bytes that are not
    /// text become `U+FFFD`.
    pub fn decode(&self, ids: &[u32], special: SpecialTokens) -> String {
        let is_special = |id: &u32| self.is_special(*id);
        let kept: Vec<u32> =
            ids.iter().filter(|id| special == SpecialTokens::Kept || !is_special(id)).copied().collect();
        if !matches!(&self.model, PieceModel::SentencePiece(model) if model.has_languages) {
            return self.joined(&kept);
        }
        // Marian's stretches between special tokens are decoded as separate texts.
        let stretches = kept.chunk_by(|id, next| !is_special(id) && !is_special(next));
        let text = |stretch: &[u32]| match stretch {
            [id] if is_special(id) => format!("{} ", self.piece(*id).unwrap_or_default()),
            _ => self.joined(stretch),
        };
        stretches.map(text).collect::<String>().trim().to_owned()
    }

    fn joined(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        let mut before = None;
        for id in ids {
            let piece = self.piece(*id).unwrap_or_default();
            if before.is_some() && self.spelling.has_blank_before(piece, before) {
                bytes.push(b' ');
            }
            match before {
                None => bytes.extend(self.spelling.spelled_first(piece)),
                Some(_) => bytes.extend(self.spelling.spelled_out(piece)),
            }
            before = Some(piece);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn assembled(&self, parts: &[TemplatePart], texts: [&str; 2], side: Side) -> Result<Encoding, String> {
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
                    let cut = self.cut(texts[text], side)?;
                    self.add_words(text, texts[text], *segment, &cut, &mut encoding);
                }
            }
        }
        Ok(encoding)
    }

    /// Adds the pieces of one text, grouped into words, to an encoding.
    fn add_words(&self, number: usize, text: &str, segment: usize, cut: &[CutPiece], encoding: &mut Encoding) {
        let goes_on = |left: &CutPiece, right: &CutPiece| {
            let [left_piece, right_piece] = [left.id, right.id].map(|id| self.piece(id).unwrap_or_default());
            left.word == right.word && !self.spelling.ends_word(left_piece) && !self.spelling.begins_word(right_piece)
        };
        for word in cut.chunk_by(goes_on) {
            let end = word.iter().map(|piece| piece.bytes.end).max().unwrap_or_default();
            let at = Some(encoding.words.len());
            encoding.words.push(Word::within(number, text, word[0].bytes.start..end));
            encoding.pieces.extend(word.iter().map(|piece| ModelPiece {
                id: piece.id,
                text: number,
                bytes: piece.bytes.clone(),
                word: at,
                segment,
                origin: if word[0].is_spelled { Origin::Spelled } else { Origin::Text },
            }));
        }
    }

    /// Splits a text into pieces, without those that the tokenizer adds.
    ///
    /// # Errors
    /// A message for the learner, if the tokenizer fails on the text.
    fn cut(&self, text: &str, side: Side) -> Result<Vec<CutPiece>, String> {
        let cut = quietly(|| match &self.model {
            PieceModel::Pipeline(pipeline) => pipeline.cut(text, &self.added, &self.spelling),
            PieceModel::SentencePiece(model) => model.cut(text, &self.added, side),
        });
        cut.unwrap_or_else(|panic| Err(format!("the tokenizer fails on this text ({panic})")))
    }
}

/// The pieces of one text, or of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    pub pieces: Vec<ModelPiece>,
    /// Words; a piece refers to its word by the index in this list.
    pub words: Vec<Word>,
}

/// A piece: one token of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPiece {
    pub id: u32,
    /// Number of the piece's text: 0, or 1 for the second of a pair.
    pub text: usize,
    /// Bytes of the text that the piece stands for, including the leading space of GPT-2's pieces. The range is at
    /// character boundaries and never goes back; a piece that is a part of a character has the whole character. A piece
    /// that the tokenizer added has an empty range at its position.
    pub bytes: Range<usize>,
    /// Index of the piece's word; `None` for a piece that the tokenizer added.
    pub word: Option<usize>,
    /// Token type of the piece, which the model reads.
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
    /// Number of the word's text.
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
        // Combining marks that a normalizer removes do not belong to any piece, but they belong to the word.
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
    /// Id of the piece for words that cannot be split into pieces.
    unknown: u32,
    /// Largest number of characters of a word; longer words are unknown.
    longest: usize,
    /// Pieces that are never split if a text writes them out.
    spelled: Vec<String>,
    /// Template of a single text; the next field is the template of a pair, if the model reads pairs.
    single: Vec<TemplatePart>,
    pair: Option<Vec<TemplatePart>>,
}

impl Tokenizer {
    /// Returns the data of the tokenizer if it works like that of uncased BERT, and `None` otherwise.
    pub fn word_pieces(&self, reads_pairs: bool) -> Option<WordPieces> {
        let PieceModel::Pipeline(Pipeline { normaliser, splitters, model }) = &self.model else { return None };
        let ModelWrapper::WordPiece(model) = model else { return None };
        let added = self.added.get_added_tokens_decoder().values();
        let is_plain =
            added.clone().all(|piece| !(piece.single_word || piece.lstrip || piece.rstrip || piece.normalized));
        let is_bert = normaliser.is_uncased_bert()
            && splitters.are_bert()
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
