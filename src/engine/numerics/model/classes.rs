//! The classes that a model chooses among.

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
    /// Words that take the place of a hidden one where it is not left empty.
    stand_ins: Vec<usize>,
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
        let stand_ins = words.clone();
        Self { class, words, stand_ins }
    }

    /// Other words than the candidates themselves stand in for hidden ones.
    ///
    /// # Panics
    /// If there are none, or one is not below the size of the vocabulary.
    pub fn with_stand_ins(self, stand_ins: Vec<usize>) -> Self {
        assert!(!stand_ins.is_empty(), "candidates: no word stands in");
        assert!(stand_ins.iter().all(|&word| word < self.class.len()), "candidates: a stand-in beyond the vocabulary");
        Self { stand_ins, ..self }
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

    pub(super) fn draw_stand_in(&self, rng: &mut Generator) -> usize {
        self.stand_ins[rng.random_range(0..self.stand_ins.len())]
    }
}
