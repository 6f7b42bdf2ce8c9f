//! The splitting of sentences into words, and the form of Markdown that lessons may use.

use std::ops::Range;

use pulldown_cmark::Options;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns the extensions of Markdown that lessons may use, wherever their texts are shown, checked or exported.
pub fn markdown_options() -> Options {
    Options::ENABLE_MATH | Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Returns the lowercase words of a sentence, each character in its composed form (NFC). A word consists of letters
/// with their marks, digits, and apostrophes and joiners between them; everything else separates words and is dropped.
pub fn tokenize(sentence: &str) -> Vec<String> {
    written_words(sentence).map(normal).collect()
}

/// Returns the words of a sentence as [`tokenize`] does, each with its byte range in the sentence.
pub fn words_at(sentence: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    written_words(sentence).map(move |written| {
        let begin = written.as_ptr() as usize - sentence.as_ptr() as usize;
        (begin..begin + written.len(), normal(written))
    })
}

/// Returns the words of a sentence as they are written.
pub(crate) fn written_words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split(|c: char| !is_word_char(c))
        // A mark without a letter before it belongs to no word.
        .map(|run| run.trim_start_matches(|c| is_combining_mark(c) || is_inner(c)).trim_end_matches(is_inner))
        .filter(|run| !run.is_empty())
}

/// Normalises a written word for [`tokenize`].
pub(crate) fn normal(written: &str) -> String {
    written.to_lowercase().replace('’', "'").nfc().collect()
}

pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || is_inner(c)
}

/// Returns whether a character belongs to a word only between letters: a straight or a typographic apostrophe, and the
/// zero-width joiners with which words of Persian and Hindi are spelt.
fn is_inner(c: char) -> bool {
    matches!(c, '\'' | '’' | ZERO_WIDTH_NON_JOINER | ZERO_WIDTH_JOINER)
}

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';

#[cfg(test)]
mod tests {
    use super::{tokenize, words_at};

    #[track_caller]
    fn check(sentence: &str, words: &[&str]) {
        assert_eq!(tokenize(sentence), words, "{sentence:?}");
    }

    #[test]
    fn words_of_a_sentence() {
        check("The apple, was sweet!", &["the", "apple", "was", "sweet"]);
        check("don't can’t 'quoted' it's", &["don't", "can't", "quoted", "it's"]);
        check("well-known e-mail 42 3.5", &["well", "known", "e", "mail", "42", "3", "5"]);
        check("ÉCOLE Straße 林檎", &["école", "straße", "林檎"]);
        check("", &[]);
        check(" \t\n--- ''' …", &[]);
    }

    #[test]
    fn words_are_where_they_are_written() {
        let sentence = "  The “Äpfel”, don’t …\u{301}x";
        let found: Vec<(&str, String)> = words_at(sentence).map(|(at, word)| (&sentence[at], word)).collect();
        let expected = [("The", "the"), ("Äpfel", "äpfel"), ("don’t", "don't"), ("x", "x")];
        assert_eq!(found, expected.map(|(written, word)| (written, word.to_owned())));
    }

    #[test]
    fn marks_belong_to_their_letters() {
        check("cafe\u{301} CAFE\u{301} caf\u{e9}", &["caf\u{e9}", "caf\u{e9}", "caf\u{e9}"]);
        check("हिन्दी भाषा", &["हिन्दी", "भाषा"]);
        check("தமிழ் বাংলা שָׁלוֹם", &["தமிழ்", "বাংলা", "שָׁלוֹם"]);
        // Joiners occur within a word, to spell a half letter or a break, and never at its ends.
        check("क\u{94d}\u{200d}ष می\u{200c}خواهم \u{200d}a\u{200c}", &["क\u{94d}\u{200d}ष", "می\u{200c}خواهم", "a"]);
        check("\u{301}\u{301} one \u{94d} \u{301}two", &["one", "two"]);
        for word in tokenize("İstanbul ΟΔΟΣ ﬁn A\u{30a} \u{212b}") {
            check(&word, &[&word]);
        }
    }
}
