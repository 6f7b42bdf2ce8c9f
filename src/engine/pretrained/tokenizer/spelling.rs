//! How the pieces of a vocabulary are written, and how a person reads them.

use std::collections::HashMap;
use std::sync::LazyLock;

use tokenizers::ModelWrapper;

use super::steps::{Normaliser, Splitters};

/// How pieces are written in a vocabulary.
#[derive(Clone, Debug, Default)]
pub struct Spelling {
    letters: Letters,
    /// Pieces that continue a word begin with this: `##`.
    prefix: Option<String>,
    /// Pieces that end a word end with this: `</w>`.
    suffix: Option<String>,
    /// Blanks are in no piece: where pieces become a text, words have one between them.
    drops_blanks: bool,
}

/// The meaning of the characters of a piece.
#[derive(Clone, Copy, Debug, Default)]
enum Letters {
    #[default]
    Themselves,
    /// Each for a byte. Where the whole text is spelled before it is split, words begin with the blank's.
    Bytes { begin_words: bool },
    /// SentencePiece's: this stands for a blank, with which words begin, and `<0x41>` for a byte.
    Blank(char),
}

/// The character of GPT-2's pieces that stands for a blank.
const BYTES_BLANK: char = 'Ġ';

/// The byte that a character of GPT-2's pieces stands for: `bytes_to_unicode` of its `encoder.py`. Most bytes have their
/// own character, those that cannot be seen one after all of them; a blank is `Ġ`.
static BYTES: LazyLock<HashMap<char, u8>> = LazyLock::new(|| {
    let (own, others): (Vec<u8>, Vec<u8>) =
        (0..=u8::MAX).partition(|byte| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF));
    own.into_iter().map(|byte| (char::from(byte), byte)).chain(('\u{100}'..).zip(others)).collect()
});

impl Spelling {
    /// The spelling that the parts of a tokenizer lead to.
    pub fn of(model: &ModelWrapper, normaliser: &Normaliser, splitters: &Splitters) -> Self {
        let letters = if splitters.spell_bytes() || normaliser.spells_bytes() {
            Letters::Bytes { begin_words: normaliser.spells_bytes() }
        } else {
            normaliser.blank().or_else(|| splitters.blank()).map_or(Letters::Themselves, Letters::Blank)
        };
        let (prefix, suffix) = match model {
            ModelWrapper::WordPiece(model) => (Some(model.continuing_subword_prefix.clone()), None),
            ModelWrapper::BPE(model) => (model.continuing_subword_prefix.clone(), model.end_of_word_suffix.clone()),
            ModelWrapper::WordLevel(_) | ModelWrapper::Unigram(_) => (None, None),
        };
        let [prefix, suffix] = [prefix, suffix].map(|part| part.filter(|part| !part.is_empty()));
        let drops_blanks = matches!(letters, Letters::Themselves) && splitters.drop_blanks();
        Self { letters, prefix, suffix, drops_blanks }
    }

    /// The bytes of a piece's text.
    pub fn spelled_out(&self, piece: &str) -> Vec<u8> {
        let whole = piece;
        let piece = self.prefix.as_deref().and_then(|prefix| piece.strip_prefix(prefix)).unwrap_or(piece);
        let piece = self.suffix.as_deref().and_then(|suffix| piece.strip_suffix(suffix)).unwrap_or(piece);
        let spelled = match self.letters {
            // A piece that has other characters stands for itself.
            Letters::Bytes { .. } => piece.chars().map(|sign| BYTES.get(&sign).copied()).collect(),
            Letters::Blank(blank) => match fallback(piece) {
                Some(byte) => Some(vec![byte]),
                None => Some(piece.replace(blank, " ").into()),
            },
            Letters::Themselves => fallback(piece).map(|byte| vec![byte]),
        };
        // The suffix alone is a piece too.
        spelled.unwrap_or_else(|| if piece.is_empty() { whole.into() } else { piece.into() })
    }

    /// Says if a word is cut before a piece of the whole text: there no other step found words.
    pub fn begins_word(&self, piece: &str) -> bool {
        match self.letters {
            Letters::Blank(blank) => piece.starts_with(blank),
            Letters::Bytes { begin_words } => begin_words && piece.starts_with(BYTES_BLANK),
            Letters::Themselves => false,
        }
    }

    /// Says if a piece is the last of its word.
    pub fn ends_word(&self, piece: &str) -> bool {
        self.suffix.as_deref().is_some_and(|suffix| piece.ends_with(suffix))
    }

    /// Says if a blank stands before a piece that comes after another, where pieces become a text.
    pub fn has_blank_before(&self, piece: &str, before: Option<&str>) -> bool {
        match (&self.prefix, &self.suffix) {
            (Some(prefix), _) => !piece.starts_with(prefix.as_str()),
            (None, Some(_)) => before.is_some_and(|before| self.ends_word(before)),
            (None, None) => self.drops_blanks,
        }
    }

    /// Says if a character is a blank of the text, or stands for one.
    pub fn is_blank(&self, sign: char) -> bool {
        sign.is_whitespace() || matches!(self.letters, Letters::Blank(blank) if blank == sign)
    }
}

/// The byte of a piece such as `<0x41>`.
fn fallback(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
}
