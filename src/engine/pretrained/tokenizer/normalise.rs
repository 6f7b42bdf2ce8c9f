//! BERT's way to make texts alike: `BasicTokenizer` of its `tokenization.py`, in the form that `tokenizers` of Hugging
//! Face has as `BertNormalizer`, whose ids the models' files go by.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

use super::text_char::TextChar;

/// Which of BERT's steps are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BertNormaliser {
    /// Drops control characters; every space becomes a blank.
    pub clean_text: bool,
    /// Puts spaces around Chinese characters, so that each is a word.
    pub handle_chinese_chars: bool,
    /// Takes accents off their letters; where nothing is said, if it lower-cases.
    pub strip_accents: Option<bool>,
    pub lowercase: bool,
}

impl BertNormaliser {
    pub fn apply(&self, mut signs: Vec<TextChar>) -> Vec<TextChar> {
        if self.clean_text {
            signs.retain(|sign| !is_dropped(sign.value));
            for sign in signs.iter_mut().filter(|sign| sign.value.is_whitespace()) {
                sign.value = ' ';
            }
        }
        if self.handle_chinese_chars {
            signs = signs.into_iter().flat_map(with_space_around_chinese).flatten().collect();
        }
        if self.strip_accents.unwrap_or(self.lowercase) {
            signs = decomposed(&signs);
            signs.retain(|sign| get_general_category(sign.value) != GeneralCategory::NonspacingMark);
            put_places_in_order(&mut signs);
        }
        if self.lowercase {
            // Character by character: a sigma at a word's end is like any other.
            signs =
                signs.into_iter().flat_map(|sign| sign.value.to_lowercase().map(move |low| sign.with(low))).collect();
        }
        signs
    }
}

/// Controls, formats and private characters; unassigned ones stay, though the library's own comment says that they go.
fn is_dropped(sign: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    match sign {
        '\t' | '\n' | '\r' => false,
        '\0' | char::REPLACEMENT_CHARACTER => true,
        _ => matches!(get_general_category(sign), Control | Format | PrivateUse),
    }
}

fn with_space_around_chinese(sign: TextChar) -> [Option<TextChar>; 3] {
    let space = is_chinese(sign.value).then(|| sign.with(' '));
    [space, Some(sign), space]
}

/// BERT's blocks of Chinese characters. One of them begins at 2B820 in BERT's own code, and at 2B920 in the library.
fn is_chinese(sign: char) -> bool {
    matches!(u32::from(sign),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

/// Unicode's canonical decomposition, with the marks on a letter in their canonical order.
fn decomposed(signs: &[TextChar]) -> Vec<TextChar> {
    let mut parts = Vec::with_capacity(signs.len());
    for sign in signs {
        decompose_canonical(sign.value, |part| parts.push(sign.with(part)));
    }
    let is_starter = |sign: &TextChar| canonical_combining_class(sign.value) == 0;
    for marks in parts.chunk_by_mut(|left, right| is_starter(left) == is_starter(right)) {
        if !is_starter(&marks[0]) {
            marks.sort_by_key(|mark| canonical_combining_class(mark.value));
        }
    }
    parts
}

/// Gives the places to the characters in the order of the text: marks that have changed places may have left it.
fn put_places_in_order(signs: &mut [TextChar]) {
    let mut places: Vec<(usize, usize)> = signs.iter().map(|sign| (sign.start, sign.end)).collect();
    places.sort_unstable();
    for (sign, place) in signs.iter_mut().zip(places) {
        (sign.start, sign.end) = place;
    }
}
