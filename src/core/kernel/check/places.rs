//! Places of words before attention and after it, measured in the true space.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::vectors::{cosine, distance, norm};

use crate::kernel::data::space::StaticSpace;
use crate::kernel::data::vocabulary::index_of;
use crate::kernel::vectors::examples::has_one_meaning;
use crate::lesson::schema::{Lesson, Probe};

/// The least cosine to the centroid of its sense of a word that has arrived there.
pub const ARRIVED_COSINE: f32 = 0.6;
/// The lengths of a word that has arrived, as multiples of the mean static vector's.
pub const ARRIVED_LENGTHS: RangeInclusive<f32> = 0.5..=2.0;

/// One vector among the centroids of the groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Cosine to the centroid of its own sense.
    pub own_cosine: f32,
    /// The largest cosine to that of another group.
    pub other_cosine: f32,
    /// Euclidean distance to the centroid of its own sense.
    pub own_distance: f32,
    /// The smallest distance to that of another group.
    pub other_distance: f32,
    /// `‖y‖`
    pub length: f32,
}

impl Place {
    /// How much nearer, by cosine, it lies to its own sense than to any other.
    pub fn margin(&self) -> f64 {
        f64::from(self.own_cosine - self.other_cosine)
    }
}

/// A word in a sentence that tells its sense: its place before attention, and after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    pub before: Place,
    pub after: Place,
    /// Another sense of the word is more frequent in the corpus, so that its static vector lies there.
    pub is_rarer_sense: bool,
    /// The mean length of the static vectors.
    pub mean_length: f32,
}

impl Arrival {
    /// The word ends where a word of its sense would lie: it is nearest to its own centroid, by cosine and by
    /// distance; its cosine is at least [`ARRIVED_COSINE`], and no lower than the static vector's; in the rarer
    /// sense it came nearer; and its length is within [`ARRIVED_LENGTHS`].
    pub fn has_arrived(&self) -> bool {
        let Self { before, after, .. } = self;
        after.own_cosine > after.other_cosine
            && after.own_cosine >= ARRIVED_COSINE.max(before.own_cosine)
            && after.own_distance < after.other_distance
            && (!self.is_rarer_sense || after.own_distance < before.own_distance)
            && ARRIVED_LENGTHS.contains(&(after.length / self.mean_length))
    }
}

/// The static vectors of a lesson as places to end at.
pub struct Places<'a> {
    lesson: &'a Lesson,
    space: &'a StaticSpace,
    /// The row of each word of the vocabulary.
    rows: HashMap<&'a str, usize>,
    /// One centroid for each group.
    centroids: Vec<Vec<f32>>,
    mean_length: f32,
}

impl<'a> Places<'a> {
    pub fn of(lesson: &'a Lesson, space: &'a StaticSpace) -> Self {
        let rows = index_of(&space.vocabulary);
        let centroid_of = |words: &[String]| {
            let rows: Vec<usize> = words.iter().filter_map(|word| rows.get(word.as_str()).copied()).collect();
            space.vectors.centroid(&rows)
        };
        let centroids = lesson.groups.iter().map(|group| centroid_of(&group.words)).collect();
        let count = space.vectors.rows();
        let lengths = (0..count).map(|row| norm(&space.vectors.row(row)));
        let mean_length = lengths.sum::<f32>() / count as f32;
        Self { lesson, space, rows, centroids, mean_length }
    }

    /// Rows of the vocabulary by word.
    pub fn rows(&self) -> &HashMap<&'a str, usize> {
        &self.rows
    }

    /// The static vector of a word.
    pub fn word(&self, word: &str) -> Option<Cow<'a, [f32]>> {
        Some(self.space.vectors.row(*self.rows.get(word)?))
    }

    /// The index of a group.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.lesson.groups.iter().position(|group| group.name == name)
    }

    /// The centroid of a group.
    pub fn centroid(&self, name: &str) -> Option<&[f32]> {
        Some(&self.centroids[self.group(name)?])
    }

    /// A place where a word may end: the centroid of a group, or the static vector of a word.
    pub fn goal(&self, name: &str) -> Option<Cow<'_, [f32]>> {
        self.centroid(name).map(Cow::Borrowed).or_else(|| self.word(name))
    }

    /// A vector among the centroids; `own` is an index into [`Lesson::groups`].
    pub fn place(&self, vector: &[f32], own: usize) -> Place {
        let others = || self.centroids.iter().enumerate().filter(|(group, _)| *group != own).map(|(_, other)| other);
        Place {
            own_cosine: cosine(vector, &self.centroids[own]),
            other_cosine: others().map(|other| cosine(vector, other)).fold(f32::NEG_INFINITY, f32::max),
            own_distance: distance(vector, &self.centroids[own]),
            other_distance: others().map(|other| distance(vector, other)).fold(f32::INFINITY, f32::min),
            length: norm(vector),
        }
    }

    /// The place of a probe's word before attention, and that of its output.
    pub fn arrival(&self, probe: &Probe, output: &[f32]) -> Option<Arrival> {
        let own = self.group(&probe.sense)?;
        Some(Arrival {
            before: self.place(&self.word(&probe.word)?, own),
            after: self.place(output, own),
            is_rarer_sense: self.is_rarer_sense(&probe.word, &probe.sense),
            mean_length: self.mean_length,
        })
    }

    fn is_rarer_sense(&self, word: &str, sense: &str) -> bool {
        let Some(known) = self.lesson.corpus.ambiguous.iter().find(|known| known.word == word) else { return false };
        let own = known.shares.iter().find(|(group, _)| group == sense).map_or(0.0, |(_, share)| *share);
        known.shares.iter().any(|(_, share)| *share > own)
    }

    /// The positions of a sentence from which no answer is read, and whose words mean the same everywhere:
    /// nothing asks these to move.
    pub fn resting(&self, sentence: &[String]) -> impl Iterator<Item = usize> {
        let model = &self.lesson.model;
        let first_read = match model.architecture.pooling {
            _ if model.reads_every_output() => 0,
            Pooling::Last => sentence.len() - 1,
            Pooling::Every | Pooling::Mean => sentence.len(),
        };
        let is_asked = |word: &String| self.lesson.probes.iter().any(|probe| probe.word == *word);
        (0..sentence.len()).filter(move |at| {
            *at < first_read && has_one_meaning(self.lesson, &sentence[*at]) && !is_asked(&sentence[*at])
        })
    }

    /// The mean length of the static vectors.
    pub fn mean_length(&self) -> f32 {
        self.mean_length
    }
}
