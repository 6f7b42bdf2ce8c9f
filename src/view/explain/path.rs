//! Why a token moved: what each word, or each head, adds to it, as arrows that lead tip to tail from where
//! it was to where it came.

use std::sync::Arc;

use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::moves::{Moves, PartMoves, Point, sum};
use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::{Entry, Quantity};

use super::lines::by_size;
use super::reader::{part_index, part_name};
use crate::view_model::heads::{HeadLabels, strongest};
use crate::view_model::{Model, quoted};

/// Parts that an arrow stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowParts {
    /// A word, through all heads.
    Word,
    /// A head, with all its words.
    Head,
    /// A word in a head.
    Both,
}

impl ArrowParts {
    /// The arrows of the walk through a head where the learner chose none: of several heads one each, else one for each word.
    pub fn of_head(architecture: &Architecture, head: usize) -> Self {
        if architecture.head(head).1.attention.heads > 1 { Self::Head } else { Self::Word }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PathArrow {
    /// Such as `phone`, `head 1`, `phone in head 1`, `b_O` or `rescaled by the norm`.
    pub label: String,
    /// Its meaning, where no head adds it.
    pub part: Option<BlockPart>,
    /// Counted over all blocks.
    pub head: Option<usize>,
    /// The head's place in its layer: its hue.
    pub own: Option<usize>,
    pub key: Option<usize>,
    /// `α`, of a word in a head.
    pub weight: Option<f32>,
    /// In the true space.
    pub length: f32,
    /// The length, as it can be asked where it comes from; `None` of what the picture alone has.
    pub entry: Option<Entry>,
    pub from: Point,
    pub to: Point,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PathModel {
    pub query: usize,
    pub by: ArrowParts,
    /// Tip to tail: what the norm makes of the word itself, then what is added, the longest first, then `b_O` and what
    /// the rest of the layer adds.
    pub arrows: Vec<PathArrow>,
    pub from: Point,
    /// The end of the last arrow, but for rounding.
    pub to: Point,
    /// Why it moved, in a sentence with the numbers.
    pub why: String,
}

/// Words that the sentence names.
const NAMED: usize = 3;
/// A share of the way that is worth a word.
const SHARE_MIN: f32 = 0.01;

impl Model for PathModel {
    /// The query, the head, and what the arrows stand for where the learner chose that.
    type Choice = (usize, usize, Option<ArrowParts>);

    fn make(snapshot: &Arc<Snapshot>, (query, head, by): &Self::Choice, _: Option<&Self>) -> Option<Self> {
        let architecture = &snapshot.model.as_ref()?.architecture;
        let by = by.or_else(|| (*head < architecture.heads()).then(|| ArrowParts::of_head(architecture, *head)))?;
        Self::of(snapshot, *query, *head, by)
    }
}

impl PathModel {
    /// Path of a token in the block of a head; `None` until there is a model, and where it lacks the head or token.
    pub fn of(snapshot: &Snapshot, query: usize, head: usize, by: ArrowParts) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        if head >= model.architecture.heads() {
            return None;
        }
        let (block, _, own) = model.architecture.head(head);
        let moves = model.sentence.moves.get(block)?;
        if query >= moves.queries() {
            return None;
        }
        let writer = Writer { labels: HeadLabels::of(model), model, moves, block, query, head, first_head: head - own };
        let mut arrows = writer.arrows(by);
        arrows.sort_by(|a, b| b.length.total_cmp(&a.length));
        let others = moves.parts.iter().filter_map(|part| writer.part(part));
        let others = writer.seen_through().into_iter().chain(others);
        let (first, last): (Vec<_>, Vec<_>) = others.partition(|arrow| arrow.part == Some(BlockPart::Rescaled));
        let from = moves.start(query);
        let arrows = tip_to_tail(from, [first, arrows, last].concat());
        Some(Self { query, by, arrows, from, to: moves.end(query), why: writer.why() })
    }

    /// Arrows of the words in one head, tip to tail: the head's mix, through `W_O`.
    pub fn of_mix(snapshot: &Snapshot, query: usize, head: usize) -> Option<Self> {
        let whole = Self::of(snapshot, query, head, ArrowParts::Both)?;
        let of_head = whole.arrows.into_iter().filter(|arrow| arrow.head == Some(head)).collect();
        let arrows = tip_to_tail(whole.from, of_head);
        let to = arrows.last().map_or(whole.from, |arrow| arrow.to);
        Some(Self { arrows, to, ..whole })
    }
}

/// The same arrows, each from the end of the one before.
pub(crate) fn tip_to_tail(mut tip: Point, mut arrows: Vec<PathArrow>) -> Vec<PathArrow> {
    for arrow in &mut arrows {
        let from = tip;
        tip = std::array::from_fn(|axis| from[axis] + arrow.to[axis] - arrow.from[axis]);
        (arrow.from, arrow.to) = (from, tip);
    }
    arrows
}

struct Writer<'a> {
    labels: HeadLabels<'a>,
    model: &'a ModelSnapshot,
    moves: &'a Moves,
    block: usize,
    query: usize,
    /// One of the block.
    head: usize,
    /// The first head of the block, counted over all.
    first_head: usize,
}

impl Writer<'_> {
    /// An arrow from the origin.
    fn arrow(label: String, length: f32, entry: Option<Entry>, to: Point) -> PathArrow {
        PathArrow {
            label,
            part: None,
            head: None,
            own: None,
            key: None,
            weight: None,
            length,
            entry,
            from: [0.0; 3],
            to,
        }
    }

    fn arrows(&self, by: ArrowParts) -> Vec<PathArrow> {
        let (heads, keys) = (self.moves.heads(), self.moves.keys());
        match by {
            // What each key adds was not recorded.
            _ if heads == 0 => Vec::new(),
            ArrowParts::Word => (0..keys).map(|key| self.of_word(key)).collect(),
            ArrowParts::Head => (0..heads).map(|own| self.of_head(own)).collect(),
            ArrowParts::Both => {
                let both = (0..heads).flat_map(|own| (0..keys).map(move |key| (own, key)));
                both.map(|(own, key)| self.of_word_in_head(own, key)).collect()
            }
        }
    }

    /// The arrow of a word, through all heads.
    fn of_word(&self, key: usize) -> PathArrow {
        let label = self.labels.keys(self.head)[key].clone();
        let entry = Quantity::WordLength.of_block(self.block, [self.query, key]);
        let to = sum((0..self.moves.heads()).map(|own| self.moves.term(own, self.query, key)));
        let length = self.moves.word_lengths.get(self.query, key);
        PathArrow { key: Some(key), ..Self::arrow(label, length, Some(entry), to) }
    }

    fn of_head(&self, own: usize) -> PathArrow {
        let head = self.first_head + own;
        let quantity = if self.norms() > 0 { Quantity::HeadArrowLength } else { Quantity::HeadLength };
        let length = self.model.sentence.contributions[self.block].head_arrow_lengths[own][self.query];
        let (label, entry) = (self.head_label(own), quantity.of_head(head, [self.query]));
        let arrow = Self::arrow(label, length, Some(entry), self.moves.head(own, self.query));
        PathArrow { head: Some(head), own: Some(own), ..arrow }
    }

    fn of_word_in_head(&self, own: usize, key: usize) -> PathArrow {
        let label = format!("{} in {}", self.labels.keys(self.head)[key], self.head_label(own));
        let entry = Quantity::TermLength.of_head(self.first_head + own, [self.query, key]);
        let to = self.moves.term(own, self.query, key);
        let arrow = Self::arrow(label, self.moves.term_length(own, self.query, key), Some(entry), to);
        let weight = Some(self.weight(own, key));
        PathArrow { head: Some(self.first_head + own), own: Some(own), key: Some(key), weight, ..arrow }
    }

    fn head_label(&self, own: usize) -> String {
        self.model.architecture.head_name(self.first_head + own)
    }

    fn weight(&self, own: usize, key: usize) -> f32 {
        self.model.sentence.activations.blocks[self.block].heads[own].weights.get(self.query, key)
    }

    /// Norms between what the heads add and where the arrows end.
    fn norms(&self) -> usize {
        self.model.sentence.contributions[self.block].norms().len()
    }

    /// `None` of one without length.
    fn part(&self, moves: &PartMoves) -> Option<PathArrow> {
        let length = moves.lengths[self.query];
        let label = part_name(moves.part, self.norms()).to_owned();
        let entry = Quantity::PartLength.of_block(self.block, [part_index(moves.part), self.query]);
        let arrow = Self::arrow(label, length, Some(entry), moves.arrow(self.query));
        (length > 0.0).then_some(PathArrow { part: Some(moves.part), ..arrow })
    }

    /// The norm through which the picture is drawn shrinks what there was as the whole grows.
    fn seen_through(&self) -> Option<PathArrow> {
        let rescaled = self.moves.rescaled.as_ref()?;
        let label = "rescaled by the last norm".to_owned();
        let arrow = Self::arrow(label, norm(rescaled.vectors.row(self.query)), None, rescaled.arrow(self.query));
        Some(PathArrow { part: Some(BlockPart::Rescaled), ..arrow })
    }

    fn why(&self) -> String {
        let name = quoted(&self.labels.queries(self.head)[self.query]);
        let length = self.moves.lengths[self.query];
        if length == 0.0 {
            return format!("Nothing is added to {name}.");
        }
        let shares = self.moves.word_shares.row(self.query);
        let order = by_size(shares.len(), |key| shares[key].into());
        let keys = self.labels.keys(self.head);
        // Less than half a percent is none, on either side.
        let percent = |share: f32| format!("{:.0} %", (share * 100.0).round() + 0.0).replace('-', "−");
        let named = order.iter().take(NAMED).filter(|key| shares[**key].abs() >= SHARE_MIN);
        let named: Vec<String> = named
            .map(|key| {
                let (own, weight) = strongest((0..self.moves.heads()).map(|own| self.weight(own, *key)));
                let title = self.head_label(own);
                format!("{} {} (weight {weight:.2} in {title})", quoted(&keys[*key]), percent(shares[*key]))
            })
            .collect();
        let rest: f32 = order.iter().skip(named.len()).map(|key| shares[*key]).sum();
        let others =
            if keys.len() > named.len() { format!(", the other words {}", percent(rest)) } else { String::new() };
        let part = |moves: &PartMoves| {
            let share = moves.shares[self.query];
            let said = format!(", {} {}", part_name(moves.part, self.norms()), percent(share));
            (share.abs() >= SHARE_MIN).then_some(said)
        };
        let parts: String = self.moves.parts.iter().filter_map(part).collect();
        let of_that = format!("{}{others}{parts}.", named.join(", "));
        if self.model.architecture.head(self.head).1.residual {
            format!("{name} moved by {length:.3}. Shares of that move: {of_that}")
        } else {
            format!(
                "The layer has no residual connection, so {name} is now the sum of these arrows, a vector of length \
                 {length:.3}. Shares of that sum: {of_that}"
            )
        }
    }
}
