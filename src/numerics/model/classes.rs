//! What a model chooses among.

use rand::RngExt;

use crate::numerics::rng::Generator;

#[derive(Clone, Debug)]
pub enum Classes {
    /// Words of the vocabulary.
    Words(Candidates),
    /// So many labels of whole sentences.
    Labels(usize),
}

impl Classes {
    /// The words, if it is words.
    pub fn candidates(&self) -> Option<&Candidates> {
        match self {
            Self::Words(candidates) => Some(candidates),
            Self::Labels(_) => None,
        }
    }

    /// `C`
    pub fn count(&self) -> usize {
        match self {
            Self::Words(candidates) => candidates.words.len(),
            Self::Labels(count) => *count,
        }
    }
}

/// The words that the objective chooses among. A candidate's number is its class.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// By word.
    class: Vec<Option<usize>>,
    words: Vec<usize>,
}

impl Candidates {
    /// # Panics
    /// If there are none, or one is not below `vocabulary`.
    pub fn new(vocabulary: usize, words: Vec<usize>) -> Self {
        assert!(!words.is_empty(), "candidates: none");
        let mut class = vec![None; vocabulary];
        for (i, &word) in words.iter().enumerate() {
            class[word] = Some(i);
        }
        Self { class, words }
    }

    /// Every word of the vocabulary.
    pub fn all(vocabulary: usize) -> Self {
        Self::new(vocabulary, (0..vocabulary).collect())
    }

    pub fn words(&self) -> &[usize] {
        &self.words
    }

    pub fn class(&self, word: usize) -> Option<usize> {
        self.class[word]
    }

    pub(super) fn draw(&self, rng: &mut Generator) -> usize {
        self.words[rng.random_range(0..self.words.len())]
    }
}
