//! Words of several pieces shown as one. A word's vector is the mean of its pieces' vectors, and so are its arrows,
//! which therefore still add up. [`HeadCells`] describes how weights are combined.
//!
//! [`HeadCells`]: super::attention::HeadCells

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::snapshot::sentence::occurrence;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::moves::Point;
use attune_engine::numerics::projection::AXES;
use attune_engine::numerics::vectors::{add_scaled, norm};

use super::Model;
use super::attention::AttentionMaps;
use super::sentence_arcs::SentenceArcs;
use super::stage::{StageModel, TokenPoint};
pub use super::words::Words;
use crate::explain::path::{ArrowParts, PathArrow, PathModel, tip_to_tail};

/// The attention maps between words of several pieces. There is no such model if each word is one piece.
#[derive(Clone, Debug)]
pub struct WordAttention(pub AttentionMaps);

impl WordAttention {
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        AttentionMaps::by_words(snapshot).map(Self)
    }
}

/// The arcs between words of several pieces. There is no such model if each word is one piece.
#[derive(Clone, Debug)]
pub struct WordArcs(pub Arc<SentenceArcs>);

impl WordArcs {
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        SentenceArcs::by_words(snapshot).map(|arcs| Self(Arc::new(arcs)))
    }
}

impl StageModel {
    /// Returns the stage with one point for each word, even if it has several pieces; `None` until the static vectors
    /// are trained.
    pub fn by_words(snapshot: &Snapshot) -> Option<Self> {
        let stage = Self::of(snapshot)?;
        let words = snapshot.model.as_ref().and_then(|model| Words::of(&model.sentence));
        Some(match words {
            Some(words) => stage.of_words(&words),
            None => stage,
        })
    }

    /// Returns the stage with one point for each word, in the middle of its pieces.
    #[must_use]
    pub fn of_words(mut self, words: &Words) -> Self {
        let texts: Vec<&str> = words.texts.iter().map(String::as_str).collect();
        let count = self.tokens.len();
        for (at, range) in words.pieces.iter().enumerate().filter(|(_, range)| range.end <= count) {
            let pieces = &self.tokens[range.clone()];
            let middle = |of: fn(&TokenPoint) -> [f32; 3]| -> [f32; 3] {
                let sum = |axis: usize| pieces.iter().map(|piece| of(piece)[axis]).sum::<f32>();
                std::array::from_fn(|axis| sum(axis) / pieces.len() as f32)
            };
            let (static_at, start) = (middle(|piece| piece.static_at), middle(|piece| piece.start));
            let (end, trained_end) = (middle(|piece| piece.end), middle(|piece| piece.trained_end));
            let first = &mut self.tokens[range.start];
            first.occurrence = occurrence(&texts, at);
            if range.len() == 1 {
                continue;
            }
            first.first_piece = Some(std::mem::replace(&mut first.text, texts[at].to_owned()));
            (first.static_at, first.start, first.end, first.trained_end) = (static_at, start, end, trained_end);
            // Neighbours are words of the table, which does not contain a split word.
            (first.static_nearest, first.contextual_nearest) = (None, None);
            first.pieces = range.len();
            self.tokens[range.clone()].iter_mut().skip(1).for_each(|piece| piece.is_part = true);
        }
        // The static position of a piece is that of a word only if the piece is the whole word.
        let wholes = self.tokens.iter().filter(|token| token.pieces == 1 && !token.is_part).chain(&self.second);
        let wholes: BTreeSet<usize> = wholes.filter_map(|token| token.word).collect();
        self.in_sentence.retain(|row| wholes.contains(row));
        self.is_of_words = true;
        self.shares = self.shares.by_words();
        self
    }
}

impl PathModel {
    /// Returns the path of a word. Each arrow is the mean over the word's pieces, and the pieces of an attended word
    /// share an arrow.
    pub fn of_word(
        snapshot: &Arc<Snapshot>,
        words: &Words,
        query: usize,
        head: usize,
        by: Option<ArrowParts>,
    ) -> Option<Self> {
        let own = words.pieces.iter().find(|range| range.contains(&query))?.clone();
        let (model, labels) = (snapshot.model.as_ref()?, words.labels());
        let (block, ..) = model.architecture.head(head);
        let summer = Summer { model, block };
        let paths = own.map(|piece| Self::make(snapshot, &(piece, head, by), None)).collect::<Option<Vec<_>>>()?;
        let share = 1.0 / paths.len() as f32;
        let mut sums: Vec<ArrowSum> = Vec::new();
        for (path, arrow) in paths.iter().flat_map(|path| path.arrows.iter().map(move |arrow| (path, arrow))) {
            let key = arrow.key.map(|key| words.first(key));
            let vector = summer.vector(path.query, arrow);
            let known = sums.iter().position(|sum| sum.is_of(arrow, key));
            let known = known.unwrap_or_else(|| {
                let at = key.and_then(|key| words.pieces.iter().position(|range| range.start == key));
                let label = match (at, arrow.head) {
                    (Some(at), None) => labels[at].clone(),
                    (Some(at), Some(_)) => {
                        let head = arrow.label.rsplit_once(" in ").map_or("", |(_, head)| head);
                        format!("{} in {head}", labels[at])
                    }
                    (None, _) => arrow.label.clone(),
                };
                sums.push(ArrowSum::empty(PathArrow { key, label, ..arrow.clone() }, vector.len()));
                sums.len() - 1
            });
            sums[known].add(arrow, &vector, share);
        }
        let middle = |of: fn(&Self) -> Point| -> Point {
            std::array::from_fn(|axis| share * paths.iter().map(|path| of(path)[axis]).sum::<f32>())
        };
        let from = middle(|path| path.from);
        Some(Self {
            query: words.first(query),
            by: paths[0].by,
            arrows: tip_to_tail(from, in_order(sums)),
            from,
            to: middle(|path| path.to),
            why: paths[0].why.clone(),
        })
    }
}

/// The arrows of a word's pieces, combined into one.
struct ArrowSum {
    /// The combined arrow, which begins at the origin, in the stage's basis.
    arrow: PathArrow,
    /// The combined vector, in the space of all dimensions.
    vector: Vec<f32>,
}

impl ArrowSum {
    /// Returns an empty sum for arrows like `arrow`.
    fn empty(arrow: PathArrow, width: usize) -> Self {
        let weight = arrow.weight.map(|_| 0.0);
        Self { arrow: PathArrow { weight, from: [0.0; AXES], to: [0.0; AXES], ..arrow }, vector: vec![0.0; width] }
    }

    /// Returns whether an arrow is part of the sum; `key` is the first piece of the word that is attended to.
    fn is_of(&self, arrow: &PathArrow, key: Option<usize>) -> bool {
        let own = &self.arrow;
        let is_same_part = own.part == arrow.part && own.label == arrow.label;
        own.key == key && own.head == arrow.head && (key.is_some() || is_same_part)
    }

    fn add(&mut self, arrow: &PathArrow, vector: &[f32], share: f32) {
        let sum = &mut self.arrow;
        sum.weight = sum.weight.zip(arrow.weight).map(|(sum, weight)| sum + share * weight);
        // The length of a combined arrow is not an entry of a tensor.
        sum.entry = sum.entry.filter(|_| share == 1.0 && sum.entry == arrow.entry);
        sum.to = std::array::from_fn(|axis| sum.to[axis] + share * (arrow.to[axis] - arrow.from[axis]));
        add_scaled(&mut self.vector, share, vector);
    }

    /// Returns the rank of the arrow's kind in a path: first the change of the word itself by a norm, then
    /// contributions of words and heads, then the other terms.
    fn rank(&self) -> usize {
        match self.arrow.part {
            Some(BlockPart::Rescaled) => 0,
            None => 1,
            Some(_) => 2,
        }
    }
}

/// Returns the arrows in the order of a piece's path, with contributions from the longest to the shortest.
fn in_order(mut sums: Vec<ArrowSum>) -> Vec<PathArrow> {
    sums.iter_mut().for_each(|sum| sum.arrow.length = norm(&sum.vector));
    let length = |sum: &ArrowSum| if sum.arrow.part.is_none() { sum.arrow.length } else { 0.0 };
    sums.sort_by(|a, b| a.rank().cmp(&b.rank()).then(length(b).total_cmp(&length(a))));
    sums.into_iter().map(|sum| sum.arrow).collect()
}

/// A source of the vectors that a block's arrows show.
struct Summer<'a> {
    model: &'a ModelSnapshot,
    block: usize,
}

impl Summer<'_> {
    /// Returns the vector of a piece's arrow, in the true space.
    fn vector(&self, query: usize, arrow: &PathArrow) -> Vec<f32> {
        let Self { model, block } = *self;
        let (contributions, activations) =
            (&model.sentence.contributions[block], &model.sentence.activations.blocks[block]);
        match (arrow.part, arrow.entry) {
            (Some(_), None) => {
                let rescaled = model.sentence.moves[block].rescaled.as_ref();
                rescaled.map_or_else(Vec::new, |rescaled| rescaled.vectors.row(query).to_vec())
            }
            (Some(part), Some(_)) => contributions.part(part, activations, query),
            (None, _) => {
                let of_block = model.architecture.heads_of(block);
                let heads = arrow.head.map_or(of_block.clone(), |head| head..head + 1);
                let keys = arrow.key.map_or(0..contributions.keys(), |key| key..key + 1);
                let mut sum = vec![0.0; activations.output.cols()];
                for (head, key) in heads.flat_map(|head| keys.clone().map(move |key| (head - of_block.start, key))) {
                    add_scaled(&mut sum, 1.0, &contributions.arrow(activations, head, query, key));
                }
                sum
            }
        }
    }
}
