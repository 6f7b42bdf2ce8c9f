//! The Neighbours panel: which words are near a token, before attention and after it.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::passes::near;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::{Neighbour, Neighbours, Snapshot, StaticSpace};
use attune_engine::numerics::Matrix;

use super::head_labels::HeadLabels;
use super::models::Model;
use super::pieces::Words;
use crate::explain::reader::Reader;

/// How nearness is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// The angle alone counts.
    #[default]
    Cosine,
    /// The distance in the true space.
    Euclidean,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NeighboursModel {
    pub tokens: Vec<TokenNeighbours>,
    /// The words of the sentence, where some are cut into pieces.
    pub words: Vec<CutWord>,
}

/// A word by its pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct CutWord {
    pub label: String,
    /// The position of its first piece, whose neighbours are shown.
    pub first: usize,
    pub pieces: usize,
}

impl CutWord {
    /// Says whose neighbours are shown, where the word has several pieces.
    pub fn note(&self, tokens: &[TokenNeighbours]) -> Option<String> {
        let Self { label, first, pieces } = self;
        let piece = &tokens.get(*first)?.label;
        (*pieces > 1).then(|| {
            format!("“{label}” is cut into {pieces} pieces. These are the words near its first piece, “{piece}”.")
        })
    }
}

/// Neighbours of one token.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenNeighbours {
    pub label: String,
    pub before: NearWords,
    pub after: NearWords,
}

impl TokenNeighbours {
    /// All of them, by either measure.
    pub fn words(&self) -> Vec<&str> {
        let lists = [&self.before, &self.after].into_iter().flat_map(|near| [&near.by_cosine, &near.by_distance]);
        lists.flatten().map(|near| near.word.as_str()).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NearWords {
    by_cosine: Vec<NearWord>,
    by_distance: Vec<NearWord>,
}

impl NearWords {
    /// The nearest first.
    pub fn by(&self, measure: Measure) -> &[NearWord] {
        match measure {
            Measure::Cosine => &self.by_cosine,
            Measure::Euclidean => &self.by_distance,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NearWord {
    pub word: String,
    /// Row of the vocabulary.
    pub row: usize,
    /// Index into the lesson's groups.
    pub group: Option<usize>,
    pub cosine: f32,
    pub distance: f32,
    /// Missing from the other list.
    pub is_new: bool,
}

impl NearWord {
    pub fn value(&self, measure: Measure) -> f32 {
        match measure {
            Measure::Cosine => self.cosine,
            Measure::Euclidean => self.distance,
        }
    }
}

impl Model for NeighboursModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

/// Neighbours of a token behind a layer, measured when they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNeighbours {
    /// `after layer 2`
    pub title: String,
    pub words: NearWords,
}

impl Model for LayerNeighbours {
    /// The token, and the layer's number over all blocks.
    type Choice = (usize, usize);

    fn make(snapshot: &Arc<Snapshot>, (token, block): &(usize, usize), _: Option<&Self>) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let reader = Reader::of(snapshot)?;
        let state = reader.state(*token, *block)?;
        let found = near(space, &Matrix::from_row_major(1, state.len(), state), &[None]);
        let before = model.sentence.static_neighbours.get(*token)?;
        let words = near_words(space, found.first()?, before);
        let title =
            format!("After {}", HeadLabels::of(model).block(model.architecture.heads_of(*block).start).to_lowercase());
        Some(Self { title, words })
    }
}

impl NeighboursModel {
    /// `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, sentence) = (snapshot.space.as_ref()?, &snapshot.model.as_ref()?.sentence);
        let words = |own: &Neighbours, other: &Neighbours| near_words(space, own, other);
        let pairs = sentence.static_neighbours.iter().zip(&sentence.contextual_neighbours);
        let tokens = token_labels(&sentence.tokens).into_iter().zip(pairs);
        let tokens = tokens.map(|(label, (before, after))| TokenNeighbours {
            label,
            before: words(before, after),
            after: words(after, before),
        });
        Some(Self {
            tokens: tokens.collect(),
            words: Words::of(sentence).map_or_else(Vec::new, |words| cut_words(&words)),
        })
    }
}

fn cut_words(words: &Words) -> Vec<CutWord> {
    let word = |(label, pieces): (String, &Range<usize>)| CutWord { label, first: pieces.start, pieces: pieces.len() };
    words.labels().into_iter().zip(&words.pieces).map(word).collect()
}

fn near_words(space: &StaticSpace, own: &Neighbours, other: &Neighbours) -> NearWords {
    let list = |own: &[Neighbour], other: &[Neighbour]| {
        let near = own.iter().map(|neighbour| NearWord {
            row: neighbour.word,
            word: space.vocabulary[neighbour.word].clone(),
            group: space.group_of[neighbour.word],
            cosine: neighbour.cosine,
            distance: neighbour.distance,
            is_new: other.iter().all(|other| other.word != neighbour.word),
        });
        near.collect()
    };
    NearWords {
        by_cosine: list(&own.by_cosine, &other.by_cosine),
        by_distance: list(&own.by_distance, &other.by_distance),
    }
}
