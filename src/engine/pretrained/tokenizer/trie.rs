//! Many strings at once, in a tree: which of them is the longest at a place is found in one walk.

use std::collections::HashMap;

use super::text_char::TextChar;

/// Strings with a value each. A walk costs no more steps than the longest of them has characters.
#[derive(Clone, Debug)]
pub struct Trie {
    children: HashMap<(u32, char), u32>,
    /// A value for each node at which a string ends.
    values: Vec<Option<u32>>,
}

/// The node of the empty string.
pub const ROOT: u32 = 0;

impl Default for Trie {
    fn default() -> Self {
        Self { children: HashMap::new(), values: vec![None] }
    }
}

impl Trie {
    /// Adds a string; an equal one gives way.
    pub fn insert(&mut self, text: &str, value: u32) {
        let mut node = ROOT;
        for sign in text.chars() {
            let next = self.values.len() as u32;
            node = *self.children.entry((node, sign)).or_insert(next);
            if node == next {
                self.values.push(None);
            }
        }
        self.values[node as usize] = Some(value);
    }

    /// The node that a string leads to, if one begins with it.
    pub fn node(&self, text: &str) -> Option<u32> {
        text.chars().try_fold(ROOT, |node, sign| self.children.get(&(node, sign)).copied())
    }

    /// The longest string below a node with which these characters begin: its length in characters, and its value.
    pub fn longest(&self, from: u32, signs: &[TextChar]) -> Option<(usize, u32)> {
        let mut node = from;
        let mut found = None;
        for (read, sign) in signs.iter().enumerate() {
            match self.children.get(&(node, sign.value)) {
                Some(next) => node = *next,
                None => break,
            }
            found = self.values[node as usize].map(|value| (read + 1, value)).or(found);
        }
        found
    }
}
