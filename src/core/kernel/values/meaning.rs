//! The axis with a meaning, along which the picture of a pretrained model or of a recording is first shown: from one
//! word of its sentence to another, by their vectors after all layers.

use serde::{Deserialize, Serialize};

/// An axis with a meaning: the direction from one word of a sentence to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meaning {
    pub ends: [MeaningEnd; 2],
}

/// An end of the axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeaningEnd {
    /// Name of the end, such as `river`, or `bank₁ · river` if both ends are occurrences of one word.
    pub name: String,
    /// The word at the end, and the words of the sentence that are nearest to it, as vectors after all layers.
    pub words: Vec<MeaningWord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeaningWord {
    /// The word, such as `bank₁`.
    pub label: String,
    /// Vector of the word after all layers, with the picture's norm applied; for a word of several pieces, the mean of
    /// their vectors.
    pub seen: Vec<f32>,
}

impl MeaningEnd {
    /// Returns the vector of the word at the end.
    pub fn vector(&self) -> &[f32] {
        self.words.first().map_or(&[], |word| &word.seen)
    }
}

impl Meaning {
    /// Returns the names of both ends.
    pub fn names(&self) -> [&str; 2] {
        self.ends.each_ref().map(|end| end.name.as_str())
    }

    /// Returns the direction from the first end to the second.
    pub fn direction(&self) -> Vec<f32> {
        let [from, to] = self.ends.each_ref().map(MeaningEnd::vector);
        to.iter().zip(from).map(|(to, from)| to - from).collect()
    }

    /// Returns whether the axis is defined in a space of this width.
    pub fn fits(&self, width: usize) -> bool {
        let words = || self.ends.iter().flat_map(|end| &end.words);
        let has_words = self.ends.iter().all(|end| !end.words.is_empty());
        let fits = |word: &MeaningWord| word.seen.len() == width && word.seen.iter().all(|x| x.is_finite());
        has_words && words().all(fits) && self.direction().iter().any(|x| *x != 0.0)
    }
}
