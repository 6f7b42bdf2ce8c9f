//! The words of the vocabulary at rest, made once for a space: snapshots share them.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::snapshot::StaticSpace;

use super::stage::reach;

#[derive(Clone, Debug, PartialEq)]
pub struct WordPoint {
    pub text: String,
    /// Colour of its group, as an index into the lesson's groups.
    pub group: Option<usize>,
    pub at: [f32; 3],
}

/// The vocabulary at its static positions. A clone shares all of it.
#[derive(Clone, Debug)]
pub struct WordTable(Arc<Table>);

#[derive(Debug)]
struct Table {
    words: Vec<WordPoint>,
    /// Words that have a group, in the order of the vocabulary.
    grouped: Vec<usize>,
    /// Words whose place is not finite.
    lost: Vec<usize>,
    /// How far the farthest word is from the origin.
    reach: f32,
    /// The places of each text.
    index: OnceLock<HashMap<String, Vec<usize>>>,
    /// The space that they are of.
    space: Option<Arc<StaticSpace>>,
}

impl WordTable {
    pub fn of(space: &Arc<StaticSpace>) -> Self {
        let word = |(word, text): (usize, &String)| {
            let at = space.points.row(word);
            WordPoint { text: text.clone(), group: space.group_of[word], at: [at[0], at[1], at[2]] }
        };
        Self::new(space.vocabulary.iter().enumerate().map(word).collect(), Some(space.clone()))
    }

    fn new(words: Vec<WordPoint>, space: Option<Arc<StaticSpace>>) -> Self {
        let grouped = (0..words.len()).filter(|&word| words[word].group.is_some()).collect();
        let is_lost = |word: &usize| !words[*word].at.iter().all(|x| x.is_finite());
        let lost = (0..words.len()).filter(is_lost).collect();
        let reach = reach(words.iter().map(|word| word.at));
        Self(Arc::new(Table { words, grouped, lost, reach, index: OnceLock::new(), space }))
    }

    pub fn is_of(&self, space: &Arc<StaticSpace>) -> bool {
        self.0.space.as_ref().is_some_and(|own| Arc::ptr_eq(own, space))
    }

    /// One table is a clone of the other.
    pub fn is_shared(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Words that have a group, in the order of the vocabulary.
    pub fn grouped(&self) -> &[usize] {
        &self.0.grouped
    }

    /// Words whose place is not finite.
    pub fn lost(&self) -> &[usize] {
        &self.0.lost
    }

    /// How far the farthest word is from the origin.
    pub fn reach(&self) -> f32 {
        self.0.reach
    }

    /// The words of a text.
    pub fn find(&self, text: &str) -> &[usize] {
        let index = self.0.index.get_or_init(|| {
            let mut index: HashMap<String, Vec<usize>> = HashMap::new();
            self.iter().enumerate().for_each(|(at, word)| index.entry(word.text.clone()).or_default().push(at));
            index
        });
        index.get(text).map_or(&[], Vec::as_slice)
    }
}

impl Deref for WordTable {
    type Target = [WordPoint];

    fn deref(&self) -> &[WordPoint] {
        &self.0.words
    }
}

impl From<Vec<WordPoint>> for WordTable {
    fn from(words: Vec<WordPoint>) -> Self {
        Self::new(words, None)
    }
}

impl PartialEq for WordTable {
    /// A table that both share is not looked into.
    fn eq(&self, other: &Self) -> bool {
        self.is_shared(other) || self[..] == other[..]
    }
}
