//! The steps of the crate `tokenizers`, run on a text: normalizers, splitters into words, and a model that splits
//! words.

use std::ops::Range;

use tokenizers::{AddedVocabulary, Model, ModelWrapper, OffsetReferential, OffsetType, Token};

use super::cut::CutPiece;
use super::refuse::WORD_CHARS_MAX;
use super::spelling::Spelling;
use super::steps::{Bounds, Normaliser, Splitters};
use crate::pretrained::refusal::quoted;

/// All steps between a text and its pieces.
#[derive(Debug)]
pub struct Pipeline {
    pub normaliser: Normaliser,
    pub splitters: Splitters,
    pub model: ModelWrapper,
}

impl Pipeline {
    /// Splits a text into pieces with their places in it.
    ///
    /// # Errors
    /// A message, if a step fails, or the model has no piece for a part of the text.
    pub fn cut(&self, text: &str, added: &AddedVocabulary, spelling: &Spelling) -> Result<Vec<CutPiece>, String> {
        let (cut, spelled) = self.run(text, added)?;
        let mut before = 0;
        let mut pieces = Vec::with_capacity(cut.len());
        for ((word, id), place) in cut.get_word_ids().iter().zip(cut.get_ids()).zip(cut.get_offsets()) {
            let bytes = place_within(text, *place, before);
            before = bytes.start;
            let word = word.unwrap_or_default() as usize;
            let is_spelled = spelled.get(word).is_some_and(|spelled| *spelled);
            pieces.push(CutPiece { word, id: *id, bytes, is_spelled });
        }
        if self.normaliser.composes() {
            widen(text, spelling, &mut pieces);
        }
        Ok(pieces)
    }

    /// Splits a text with the crate. Also returns for each of its words whether the word is a piece that is never
    /// split.
    fn run(&self, text: &str, added: &AddedVocabulary) -> Result<(tokenizers::Encoding, Vec<bool>), String> {
        let bounds = Bounds::of(text.len());
        let normaliser = self.normaliser.within(&bounds);
        let mut words = added.extract_and_normalize(Some(&normaliser), text);
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
            // Some models fail at a single character, others only at a whole word.
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
}

/// Extends each piece's range by the characters that became part of the piece. If several characters became one, the
/// crate's range covers only the first of them; it is extended up to the next space or piece.
fn widen(text: &str, spelling: &Spelling, pieces: &mut [CutPiece]) {
    let mut next = text.len();
    for CutPiece { bytes, .. } in pieces.iter_mut().rev() {
        let behind = text.get(bytes.end..next).unwrap_or_default();
        let begin = bytes.start;
        bytes.end += behind.find(|sign| spelling.is_blank(sign)).unwrap_or(behind.len());
        next = begin;
    }
}

/// Moves the crate's range to character boundaries, and its start to `before` or later.
fn place_within(text: &str, (start, end): (usize, usize), before: usize) -> Range<usize> {
    let start = text.floor_char_boundary(start.max(before).min(text.len()));
    start..text.ceil_char_boundary(end.clamp(start, text.len()))
}
