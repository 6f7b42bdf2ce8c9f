//! Pieces that are never cut, found in a text before anything else: `[MASK]`, `<|endoftext|>`.
//!
//! The rules are those of `added_vocabulary.rs` in `tokenizers` of Hugging Face: the leftmost match, and of several the
//! longest.

use unicode_general_category::GeneralCategory::{
    ConnectorPunctuation, DecimalNumber, EnclosingMark, NonspacingMark, SpacingMark,
};
use unicode_general_category::get_general_category;

use super::text_char::TextChar;
use super::trie::{ROOT, Trie};

/// A piece that is never cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    pub content: String,
    pub id: u32,
    /// Only where no letter or digit stands beside it.
    pub single_word: bool,
    /// Takes the space before it.
    pub lstrip: bool,
    /// Takes the space behind it.
    pub rstrip: bool,
    /// Looked for in the normalised text.
    pub normalized: bool,
}

impl AddedToken {
    /// A piece that is found as it is written, as those that models give a meaning.
    pub fn special(content: &str, id: u32) -> Self {
        let [single_word, lstrip, rstrip, normalized] = [false; 4];
        Self { content: content.to_owned(), id, single_word, lstrip, rstrip, normalized }
    }
}

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// An added token, and its bytes.
    Added {
        id: u32,
        start: usize,
        end: usize,
    },
    Text(Vec<TextChar>),
}

/// Finds added tokens.
#[derive(Clone, Debug, Default)]
pub struct AddedTokens {
    tokens: Vec<AddedToken>,
    trie: Trie,
}

impl AddedTokens {
    /// Adds a token that is found where `text` stands: its content, or that normalised. Nothing is found by an empty
    /// text.
    pub fn insert(&mut self, text: &str, token: AddedToken) {
        if !text.is_empty() {
            self.trie.insert(text, self.tokens.len() as u32);
            self.tokens.push(token);
        }
    }

    /// The text in stretches, none of them empty.
    pub fn split(&self, signs: Vec<TextChar>) -> Vec<Stretch> {
        if self.tokens.is_empty() {
            return if signs.is_empty() { Vec::new() } else { vec![Stretch::Text(signs)] };
        }
        let is_space = |sign: &&TextChar| sign.value.is_whitespace();
        let is_word = |sign: Option<&TextChar>| sign.is_some_and(|sign| is_word(sign.value));
        let mut stretches = Vec::new();
        let (mut done, mut at) = (0, 0);
        while at < signs.len() {
            let Some((length, token)) = self.trie.longest(ROOT, &signs[at..]) else {
                at += 1;
                continue;
            };
            let token = &self.tokens[token as usize];
            let (mut start, mut end) = (at, at + length);
            at = end;
            if token.single_word && (is_word(signs[..start].last()) || is_word(signs.get(end))) {
                continue;
            }
            if token.lstrip {
                start -= signs[..start].iter().rev().take_while(is_space).count();
            }
            if token.rstrip {
                end += signs[end..].iter().take_while(is_space).count();
            }
            // The token before may have taken the space already.
            start = start.max(done);
            end = end.max(done);
            if done < start {
                stretches.push(Stretch::Text(signs[done..start].to_vec()));
            }
            let to = signs[end - 1].end;
            let from = if start < end { signs[start].start } else { to };
            stretches.push(Stretch::Added { id: token.id, start: from, end: to });
            done = end;
        }
        if done < signs.len() {
            stretches.push(Stretch::Text(signs[done..].to_vec()));
        }
        stretches
    }
}

/// The `\w` of regular expressions.
fn is_word(sign: char) -> bool {
    const JOINERS: [char; 2] = ['\u{200C}', '\u{200D}'];
    let is_of_words = [NonspacingMark, SpacingMark, EnclosingMark, DecimalNumber, ConnectorPunctuation];
    sign.is_alphabetic() || JOINERS.contains(&sign) || is_of_words.contains(&get_general_category(sign))
}
