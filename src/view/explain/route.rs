//! The way of a walk through a whole model: its layers one after the other, the source's first, and by default which
//! word and head it follows.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot};
use attune_core::lesson::cells::CellKind;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::moves::Point;
use attune_engine::numerics::vectors::Similarity;

use super::walk::Focus;
use crate::view_model::head_labels::HeadLabels;
use crate::view_model::models::Model;

/// One block of attention on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// `layer 2 of 2`, `cross-attention (3 of 3)`; empty where there is one.
    pub title: String,
    /// Counted over all blocks.
    pub heads: Range<usize>,
    /// Its queries are words of the source, not the stage's tokens.
    pub is_of_source: bool,
    /// Its keys are words of the source.
    pub looks_at_source: bool,
    contributions: Arc<Contributions<f32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RouteModel {
    pub layers: Vec<Layer>,
    words: Vec<String>,
    /// The places of each token: static, after each layer, contextual.
    stops: Vec<Vec<Point>>,
    /// The same of the sentence beside it.
    second_stops: Vec<Vec<Point>>,
    /// How far each token moves through all layers, in the true space.
    lengths: Vec<f32>,
    /// The source's word that counts most for each token.
    counted_most: Vec<usize>,
    /// Words that the lesson speaks of where it first shows this sentence.
    spoken_of: Vec<String>,
}

impl Model for RouteModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl RouteModel {
    /// `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.space.as_ref().and(snapshot.model.as_ref())?;
        let (labels, sentence) = (HeadLabels::of(model), &model.sentence);
        let architecture = &model.architecture;
        let sources = architecture.source_blocks.len();
        let blocks = sentence.activations.blocks.len();
        let layer = |(block, config): (usize, &attune_engine::numerics::block::BlockConfig)| {
            let heads = architecture.heads_of(block);
            Layer {
                title: title(&labels.block(heads.start), block, blocks, architecture.has_source()),
                is_of_source: block < sources,
                looks_at_source: block < sources || config.attends_to_source(),
                contributions: sentence.contributions[block].clone(),
                heads,
            }
        };
        let point = |row: &[f32]| std::array::from_fn(|axis| row[axis]);
        let stops = |sentence: &SentenceSnapshot| {
            let before = |token: usize, block: usize| match block {
                _ if block <= sources => point(sentence.start.row(token)),
                _ if block == blocks => point(sentence.end.row(token)),
                _ => sentence.moves[block].rest(token),
            };
            let of_token = |token| (0..=blocks).map(|block| before(token, block)).collect();
            (0..sentence.tokens.len()).map(of_token).collect()
        };
        let tokens = sentence.tokens.len();
        let mut route = Self {
            layers: architecture.numbered_blocks().map(layer).collect(),
            words: sentence.tokens.iter().map(|token| token.text.clone()).collect(),
            stops: stops(sentence),
            second_stops: model.second.as_ref().map_or_else(Vec::new, |second| stops(&second.other)),
            lengths: lengths(model)?,
            counted_most: Vec::new(),
            spoken_of: spoken_of(snapshot),
        };
        route.counted_most = (0..tokens).map(|token| route.most_looked_at(model, token)).collect();
        Some(route)
    }

    /// The places of a token of the stage before a layer and after it.
    pub fn way(&self, token: usize, layer: usize) -> Option<(Point, Point)> {
        let stops = self.stops.get(token)?;
        Some((*stops.get(layer)?, *stops.get(layer + 1)?))
    }

    /// The same of a token of the sentence beside it.
    pub fn second_way(&self, token: usize, layer: usize) -> Option<(Point, Point)> {
        let stops = self.second_stops.get(token)?;
        Some((*stops.get(layer)?, *stops.get(layer + 1)?))
    }

    /// The layer of a head.
    pub fn layer_of(&self, head: usize) -> Option<usize> {
        self.layers.iter().position(|layer| layer.heads.contains(&head))
    }

    /// The word that is followed where nobody chose one: the first of the lit words, or of those that the lesson speaks
    /// of; of several occurrences, or where none is in the sentence, the one that moves most.
    pub fn word(&self, lit: &[String]) -> Option<usize> {
        let words = || self.words.iter().map(String::as_str);
        let spoken_of = || first_of(lit, words(), &self.lengths).or(first_of(&self.spoken_of, words(), &self.lengths));
        spoken_of().or_else(|| furthest(0..self.words.len(), |position| self.lengths[position]))
    }

    /// The head of a layer that moves its query most; `token` is the word of the stage that is followed.
    pub fn head(&self, layer: usize, token: usize) -> Option<usize> {
        let query = self.query(layer, token);
        let Layer { heads, contributions, .. } = self.layers.get(layer)?;
        let length = |head: usize| contributions.head_lengths[head - heads.start].get(query).copied().unwrap_or(0.0);
        furthest(heads.clone(), length)
    }

    /// The query of a layer: the word of the stage that is followed or, in the source, the word that counts most for
    /// it.
    pub fn query(&self, layer: usize, token: usize) -> usize {
        let is_of_source = self.layers.get(layer).is_some_and(|layer| layer.is_of_source);
        if is_of_source { self.counted_most.get(token).copied().unwrap_or(0) } else { token }
    }

    /// The focus of the walk through a head.
    pub fn focus(&self, token: usize, head: usize, key: Option<usize>) -> Focus {
        let layer = self.layer_of(head).unwrap_or(0);
        Focus { query: self.query(layer, token), head, key }
    }

    /// In the last layer that looks at the source, and its head that moves the token most.
    fn most_looked_at(&self, model: &ModelSnapshot, token: usize) -> usize {
        let looks = |layer: &Layer| layer.looks_at_source && !layer.is_of_source;
        let Some(layer) = self.layers.iter().rposition(looks) else { return 0 };
        let Some(head) = self.head(layer, token) else { return 0 };
        let (block, _, own) = model.architecture.head(head);
        let weights = model.sentence.activations.blocks[block].heads[own].weights.row(token);
        furthest(0..weights.len(), |key| weights[key]).unwrap_or(0)
    }
}

/// How far each token moves through all layers, in the true space.
pub fn lengths(model: &ModelSnapshot) -> Option<Vec<f32>> {
    let activations = &model.sentence.activations;
    let first = &activations.blocks.get(model.architecture.source_blocks.len())?.input;
    let length = |token| distance(first.row(token), activations.output.row(token));
    Some((0..model.sentence.tokens.len()).map(length).collect())
}

/// The way between two vectors.
pub(super) fn distance(from: &[f32], to: &[f32]) -> f32 {
    -Similarity::Euclidean.of(from, to)
}

/// Position of the first of the `wanted` words that is there; of several occurrences, of the one that moves most.
pub fn first_of<'a>(wanted: &[String], words: impl Iterator<Item = &'a str> + Clone, lengths: &[f32]) -> Option<usize> {
    let word = wanted.iter().find(|word| words.clone().any(|other| other == **word))?;
    let occurrences = words.enumerate().filter(|(_, other)| other == word).map(|(position, _)| position);
    furthest(occurrences, |position| lengths[position])
}

/// The first of the largest.
fn furthest(of: impl Iterator<Item = usize>, length: impl Fn(usize) -> f32) -> Option<usize> {
    of.reduce(|best, one| if length(one) > length(best) { one } else { best })
}

fn title(block: &str, number: usize, blocks: usize, has_source: bool) -> String {
    match (blocks, has_source) {
        (1, _) => String::new(),
        (_, false) => format!("{} of {blocks}", block.to_lowercase()),
        (_, true) => format!("{} ({} of {blocks})", block.to_lowercase(), number + 1),
    }
}

/// The words of the first stage cell that lights some in this sentence, or else in any.
fn spoken_of(snapshot: &Snapshot) -> Vec<String> {
    let index = snapshot.model.as_ref().and_then(|model| model.sentence.index);
    let cells = || {
        snapshot.lesson.cells.iter().filter_map(|cell| match &cell.kind {
            CellKind::Stage { sentence, words, .. } if !words.is_empty() => Some((*sentence, words)),
            _ => None,
        })
    };
    let first = cells().find(|(sentence, _)| Some(*sentence) == index).or_else(|| cells().next());
    first.map_or_else(Vec::new, |(_, words)| words.clone())
}
