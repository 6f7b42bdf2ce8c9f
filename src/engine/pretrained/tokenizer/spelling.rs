//! The spelling of a vocabulary's pieces, and their readable form.

use std::collections::HashMap;
use std::sync::LazyLock;

use tokenizers::ModelWrapper;

use super::steps::{Normaliser, Splitters};

/// The way in which pieces are written in a vocabulary.
#[derive(Clone, Debug, Default)]
pub struct Spelling {
    letters: Letters,
    /// Prefix of pieces that continue a word: `##`.
    prefix: Option<String>,
    /// Suffix of pieces that end a word: `</w>`.
    suffix: Option<String>,
    /// Whether no piece contains spaces, so that words are joined with a space between them.
    drops_blanks: bool,
    /// Whether the tokenizer puts a space before the text, which is dropped again when pieces become a text.
    adds_blank: bool,
}

/// The meaning of the characters of a piece.
#[derive(Clone, Copy, Debug, Default)]
enum Letters {
    #[default]
    Themselves,
    /// Each character stands for a byte. If `begin_words` is set, the whole text is converted before it is split, and
    /// words begin with the character of a space.
    Bytes { begin_words: bool },
    /// SentencePiece's spelling: this character stands for a space, with which words begin, and `<0x41>` for a byte.
    Blank(char),
}

/// SentencePiece's character for a space.
pub const BLANK: char = '▁';
/// Character that stands for a space in GPT-2's pieces.
const BYTES_BLANK: char = 'Ġ';

/// Byte of each character of GPT-2's pieces, as in `bytes_to_unicode` of its `encoder.py`. Most bytes are their own
/// character; invisible ones have characters after all others, such as `Ġ` for a space.
static BYTES: LazyLock<HashMap<char, u8>> = LazyLock::new(|| {
    let (own, others): (Vec<u8>, Vec<u8>) =
        (0..=u8::MAX).partition(|byte| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF));
    own.into_iter().map(|byte| (char::from(byte), byte)).chain(('\u{100}'..).zip(others)).collect()
});

impl Spelling {
    /// Returns the spelling that the parts of a tokenizer imply.
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
        let adds_blank = matches!(letters, Letters::Blank(_)) && (splitters.prepend() || normaliser.prepends());
        Self { letters, prefix, suffix, drops_blanks, adds_blank }
    }

    /// Returns the spelling of SentencePiece's own files.
    pub fn of_sentence_piece() -> Self {
        Self { letters: Letters::Blank(BLANK), adds_blank: true, ..Self::default() }
    }

    /// Guesses the spelling of pieces without their tokenizer, by characters that only one spelling uses.
    pub fn guessed(pieces: &[String]) -> Self {
        let has = |sign: char| pieces.iter().any(|piece| piece.contains(sign));
        let letters = if has(BYTES_BLANK) {
            Letters::Bytes { begin_words: true }
        } else if has(BLANK) {
            Letters::Blank(BLANK)
        } else {
            Letters::Themselves
        };
        Self { letters, ..Self::default() }
    }

    /// Returns a piece in readable form: control characters are escaped, and bytes that are not text are written as
    /// `\xE2`.
    pub fn shown(&self, piece: &str) -> String {
        let bytes = self.spelled_out(piece);
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

    /// Returns the bytes of a piece's text.
    pub fn spelled_out(&self, piece: &str) -> Vec<u8> {
        let whole = piece;
        let piece = self.prefix.as_deref().and_then(|prefix| piece.strip_prefix(prefix)).unwrap_or(piece);
        let piece = self.suffix.as_deref().and_then(|suffix| piece.strip_suffix(suffix)).unwrap_or(piece);
        let spelled = match self.letters {
            // A piece with any other character stands for itself.
            Letters::Bytes { .. } => piece.chars().map(|sign| BYTES.get(&sign).copied()).collect(),
            Letters::Blank(blank) => match fallback(piece) {
                Some(byte) => Some(vec![byte]),
                None => Some(piece.replace(blank, " ").into()),
            },
            Letters::Themselves => fallback(piece).map(|byte| vec![byte]),
        };
        // A piece may be the suffix only.
        spelled.unwrap_or_else(|| if piece.is_empty() { whole.into() } else { piece.into() })
    }

    /// Returns whether a word begins with this piece, in a text that was not split into words before.
    pub fn begins_word(&self, piece: &str) -> bool {
        match self.letters {
            Letters::Blank(blank) => piece.starts_with(blank),
            Letters::Bytes { begin_words } => begin_words && piece.starts_with(BYTES_BLANK),
            Letters::Themselves => false,
        }
    }

    /// Returns whether a piece is the last of its word.
    pub fn ends_word(&self, piece: &str) -> bool {
        self.suffix.as_deref().is_some_and(|suffix| piece.ends_with(suffix))
    }

    /// Returns whether decoding puts a space between the piece `before` and this one.
    pub fn has_blank_before(&self, piece: &str, before: Option<&str>) -> bool {
        match (&self.prefix, &self.suffix) {
            (Some(prefix), _) => !piece.starts_with(prefix.as_str()),
            (None, Some(_)) => before.is_some_and(|before| self.ends_word(before)),
            (None, None) => self.drops_blanks,
        }
    }

    /// Returns the bytes of the first piece of a text, without the space that the tokenizer put before the text.
    pub fn spelled_first(&self, piece: &str) -> Vec<u8> {
        let mut bytes = self.spelled_out(piece);
        if self.adds_blank && bytes.first() == Some(&b' ') {
            bytes.remove(0);
        }
        bytes
    }

    /// Returns whether a character is white space or the one that stands for a space.
    pub fn is_blank(&self, sign: char) -> bool {
        sign.is_whitespace() || matches!(self.letters, Letters::Blank(blank) if blank == sign)
    }
}

/// Returns the byte of a piece such as `<0x41>`; `None` for any other piece.
fn fallback(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2)
}
