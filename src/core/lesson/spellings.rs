//! Finds spellings, such as the terms of a glossary, in plain text: whole words, whatever their capitals,
//! the longest spelling first.

use std::collections::HashMap;
use std::ops::Range;

use super::text::words_at;

/// Words that spellings consist of, as a tree: a search goes over a text once, and from each word as deep as
/// the longest spelling at most.
#[derive(Clone, Debug, Default)]
pub struct Spellings(Node);

#[derive(Clone, Debug, Default)]
struct Node {
    /// The entry that the words down to this node spell.
    of: Option<usize>,
    next: HashMap<String, Node>,
}

/// An occurrence of a spelling, in bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub at: Range<usize>,
    pub of: usize,
}

impl Spellings {
    /// Adds a spelling of the entry `of`. Returns the entry that has this spelling already, if any.
    ///
    /// # Errors
    /// If it has anything but words with one hyphen or spaces between them: such a spelling would never be found.
    pub fn add(&mut self, spelling: &str, of: usize) -> Result<Option<usize>, NotWords> {
        let words: Vec<(Range<usize>, String)> = words_at(spelling).collect();
        let (Some((first, _)), Some((last, _))) = (words.first(), words.last()) else { return Err(NotWords) };
        let whole = first.start == 0 && last.end == spelling.len();
        if !whole || words.windows(2).any(|pair| !is_gap(&spelling[pair[0].0.end..pair[1].0.start])) {
            return Err(NotWords);
        }
        let node = words.into_iter().fold(&mut self.0, |node, (_, word)| node.next.entry(word).or_default());
        if node.of.is_none() {
            node.of = Some(of);
            return Ok(None);
        }
        Ok(node.of)
    }

    /// All occurrences in `text`, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let words: Vec<(Range<usize>, String)> = words_at(text).collect();
        let mut found = Vec::new();
        let mut from = 0;
        while from < words.len() {
            match self.longest(text, &words[from..]) {
                Some((count, end, of)) => {
                    found.push(Found { at: words[from].0.start..end, of });
                    from += count;
                }
                None => from += 1,
            }
        }
        found
    }

    /// The entry that the whole of `text` spells, ignoring punctuation around it.
    pub fn whole(&self, text: &str) -> Option<usize> {
        let words: Vec<(Range<usize>, String)> = words_at(text).collect();
        self.longest(text, &words).filter(|(count, ..)| *count == words.len()).map(|(.., of)| of)
    }

    /// The longest spelling that begins with the first word: its number of words, its end, and its entry.
    fn longest(&self, text: &str, words: &[(Range<usize>, String)]) -> Option<(usize, usize, usize)> {
        let mut node = &self.0;
        let mut longest = None;
        for (i, (at, word)) in words.iter().enumerate() {
            if i > 0 && !is_gap(&text[words[i - 1].0.end..at.start]) {
                break;
            }
            // "the query's vector" is about the query.
            let owner = word.strip_suffix("'s").and_then(|owner| node.next.get(owner)?.of);
            if let Some(of) = owner {
                let end = text[at.clone()].char_indices().rev().nth(1).map_or(at.end, |(mark, _)| at.start + mark);
                longest = Some((i + 1, end, of));
            }
            let Some(next) = node.next.get(word) else { break };
            node = next;
            if let Some(of) = node.of {
                longest = Some((i + 1, at.end, of));
            }
        }
        longest
    }
}

/// The error for a spelling with anything but words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWords;

/// Whether these characters may separate two words of a spelling: spaces, or a hyphen.
fn is_gap(between: &str) -> bool {
    matches!(between, "-" | "\u{2010}" | "\u{2011}") || between.chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(all: &[&str]) -> Spellings {
        let mut spellings = Spellings::default();
        for (of, spelling) in all.iter().enumerate() {
            assert_eq!(spellings.add(spelling, of), Ok(None), "{spelling}");
        }
        spellings
    }

    #[track_caller]
    fn check(all: &[&str], text: &str, expected: &[(&str, usize)]) {
        let found = spellings(all).find(text);
        let found: Vec<(&str, usize)> = found.iter().map(|found| (&text[found.at.clone()], found.of)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn whole_words_whatever_their_capitals() {
        check(&["key"], "A key, KEYS and monkey; Key.", &[("key", 0), ("Key", 0)]);
        check(&["key", "keys"], "keys' key", &[("keys", 1), ("key", 0)]);
        check(&[], "a key", &[]);
        check(&["key"], "", &[]);
    }

    #[test]
    fn the_longest_comes_first_and_none_overlaps() {
        let all = ["attention", "attention weight", "weight", "weight of a head", "self-attention"];
        check(&all, "an attention weight of it", &[("attention weight", 1)]);
        check(&all, "attention weight of a head", &[("attention weight", 1)]);
        check(&all, "the weight of a head, the weight of a", &[("weight of a head", 3), ("weight", 2)]);
        check(
            &all,
            "self attention, Self-Attention\nweight",
            &[("self attention", 4), ("Self-Attention", 4), ("weight", 2)],
        );
    }

    #[test]
    fn only_spaces_or_a_hyphen_join_words() {
        let all = ["dot product"];
        check(
            &all,
            "dot\u{a0}product dot\n product dot-product",
            &[("dot\u{a0}product", 0), ("dot\n product", 0), ("dot-product", 0)],
        );
        check(&all, "dot, product dot. Product dot – product dot/product (dot) product", &[]);
    }

    #[test]
    fn an_owner_is_found_without_its_apostrophe() {
        check(&["key", "word"], "the key's word’s KEY'S", &[("key", 0), ("word", 1), ("KEY", 0)]);
        check(&["bayes's rule", "bayes"], "Bayes's rule, Bayes's", &[("Bayes's rule", 0), ("Bayes", 1)]);
        check(&["don't"], "Don’t 'don't'", &[("Don’t", 0), ("don't", 0)]);
    }

    #[test]
    fn any_language_is_found_where_it_stands() {
        check(
            &["größe", "注意", "école normale"],
            "→ Große GRÖSSE Größe, 注意。Ecole E\u{301}COLE  NORMALE",
            &[("Größe", 0), ("注意", 1), ("E\u{301}COLE  NORMALE", 2)],
        );
    }

    #[test]
    fn a_spelling_is_words_and_not_there_yet() {
        let mut spellings = spellings(&["dot product"]);
        assert_eq!(spellings.add("Dot-Product", 7), Ok(Some(0)));
        for none in ["", "−∞", "a, b", "[start]", " key", "key."] {
            assert_eq!(spellings.add(none, 7), Err(NotWords), "{none:?}");
        }
        assert_eq!(spellings.whole("dot product:"), Some(0));
        assert_eq!(spellings.whole("a dot product"), None);
        assert_eq!(spellings.whole("dot product it"), None);
        assert_eq!(spellings.whole("…"), None);
    }

    /// As long as a cell may be, and each word begins a spelling.
    #[test]
    fn a_long_text_is_gone_over_once() {
        let spellings = spellings(&["a a a a a b", "a"]);
        let text = "a ".repeat(32 * 1024);
        let start = std::time::Instant::now();
        assert_eq!(spellings.find(&text).len(), 32 * 1024);
        assert!(start.elapsed().as_secs() < 2);
    }
}
