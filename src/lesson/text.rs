//! Sentences as words.

/// The lowercase words of a sentence. Letters, digits and apostrophes within a word belong to it;
/// everything else separates words and is dropped.
pub fn tokenize(sentence: &str) -> Vec<String> {
    sentence
        .split(|c: char| !is_word_char(c))
        .map(|run| run.trim_matches(is_apostrophe))
        .filter(|run| !run.is_empty())
        .map(|run| run.to_lowercase().replace('’', "'"))
        .collect()
}

/// Marks that combine with the letter before them stay in the word, as `é` may be two characters.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_apostrophe(c) || matches!(c, '\u{300}'..='\u{36f}')
}

/// A typed apostrophe and a typeset one are the same word character.
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

#[cfg(test)]
mod tests {
    use super::tokenize;

    #[test]
    fn words_of_a_sentence() {
        let check = |sentence: &str, words: &[&str]| assert_eq!(tokenize(sentence), words, "{sentence:?}");
        check("The apple, was sweet!", &["the", "apple", "was", "sweet"]);
        check("don't can’t 'quoted' it's", &["don't", "can't", "quoted", "it's"]);
        check("well-known e-mail 42 3.5", &["well", "known", "e", "mail", "42", "3", "5"]);
        check("ÉCOLE Straße 林檎 cafe\u{301}", &["école", "straße", "林檎", "cafe\u{301}"]);
        check("", &[]);
        check(" \t\n--- ''' …", &[]);
    }
}
