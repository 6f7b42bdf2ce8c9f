//! Why a token moved: what each word, or each head, adds to it, as arrows that lead tip to tail from its place before
//! the layer to its place after it.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::moves::{Moves, PartMoves, Point, sum};
use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::{Entry, Quantity};

use super::lines::by_size;
use super::reader::{EntryReader, part_index, part_name};
use crate::view_model::labels::strongest;
use crate::view_model::{Model, quoted};

/// The words and heads that each arrow of a path stands for.
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
    /// Returns the parts with which the walk through a head begins: an arrow for each head of the layer, or for each
    /// word if the layer has only this head.
    pub fn of_head(architecture: &Architecture, head: usize) -> Self {
        if architecture.head(head).1.attention.heads > 1 { Self::Head } else { Self::Word }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PathArrow {
    /// The name beside the arrow, such as `phone`, `head 1`, `phone in head 1`, `b_O` or `rescaled by the norm`.
    pub label: String,
    /// The term that the arrow stands for, if no head adds it.
    pub part: Option<BlockPart>,
    /// The head, counted over all blocks; `None` if the arrow stands for no single head.
    pub head: Option<usize>,
    /// The number of the head within its layer, which determines its hue.
    pub own: Option<usize>,
    pub key: Option<usize>,
    /// The attention weight `α`, if the arrow stands for one word in one head.
    pub weight: Option<f32>,
    /// The length of the whole vector, not of its projection.
    pub length: f32,
    /// The entry that explains the length; `None` for an arrow that only the picture has.
    pub entry: Option<Entry>,
    pub from: Point,
    pub to: Point,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PathModel {
    pub query: usize,
    pub by: ArrowParts,
    /// The arrows, each beginning at the end of the one before: the change of the word itself by a norm, then what
    /// words and heads add, the longest first, then `b_O` and what the rest of the layer adds.
    pub arrows: Vec<PathArrow>,
    pub from: Point,
    /// The point of the token after the block: the end of the last arrow, except for rounding.
    pub to: Point,
    /// The explanation of the move, in sentences with the shares of words.
    pub why: String,
}

impl PathArrow {
    /// Creates an arrow that begins at the origin and stands for no word, head or term.
    fn plain(label: String, to: Point) -> Self {
        let (part, head, own, key, weight, entry) = (None, None, None, None, None, None);
        Self { label, part, head, own, key, weight, length: 0.0, entry, from: [0.0; 3], to }
    }
}

/// The largest number of words that the explanation names.
const NAMED: usize = 3;
/// The least share of the move, in magnitude, that the explanation mentions.
const SHARE_MIN: f32 = 0.01;

impl Model for PathModel {
    /// The query, the head, and the learner's choice of what each arrow stands for; `None` for the default of the
    /// head's layer.
    type Choice = (usize, usize, Option<ArrowParts>);

    fn make(snapshot: &Arc<Snapshot>, (query, head, by): &Self::Choice, _: Option<&Self>) -> Option<Self> {
        let architecture = &snapshot.model.as_ref()?.architecture;
        let by = by.or_else(|| (*head < architecture.heads()).then(|| ArrowParts::of_head(architecture, *head)))?;
        Self::of(snapshot, *query, *head, by)
    }
}

impl PathModel {
    /// Builds the path of a token through the block that contains a head; `None` if there is no model, or no such head
    /// or token.
    pub fn of(snapshot: &Snapshot, query: usize, head: usize, by: ArrowParts) -> Option<Self> {
        let reader = EntryReader::of(snapshot)?;
        let model = reader.model;
        if head >= model.architecture.heads() {
            return None;
        }
        let (block, _, own) = model.architecture.head(head);
        let moves = model.sentence.moves.get(block)?;
        if query >= moves.queries() {
            return None;
        }
        let writer = Writer { reader: &reader, moves, block, query, head, first_head: head - own };
        let mut arrows = writer.arrows(by);
        arrows.sort_by(|a, b| b.length.total_cmp(&a.length));
        let others = moves.parts.iter().filter_map(|part| writer.part(part));
        let others = writer.seen_through().into_iter().chain(others);
        let (first, last): (Vec<_>, Vec<_>) = others.partition(|arrow| arrow.part == Some(BlockPart::Rescaled));
        let from = moves.start(query);
        let arrows = tip_to_tail(from, [first, arrows, last].concat());
        Some(Self { query, by, arrows, from, to: moves.end(query), why: writer.why() })
    }

    /// Builds the part of a path that one head adds: an arrow for each word, of its weighted value after `W_O`.
    pub fn of_mix(snapshot: &Snapshot, query: usize, head: usize) -> Option<Self> {
        let whole = Self::of(snapshot, query, head, ArrowParts::Both)?;
        let of_head = whole.arrows.into_iter().filter(|arrow| arrow.head == Some(head)).collect();
        let arrows = tip_to_tail(whole.from, of_head);
        let to = arrows.last().map_or(whole.from, |arrow| arrow.to);
        Some(Self { arrows, to, ..whole })
    }
}

/// Moves each arrow so that it begins at the end of the one before.
pub(crate) fn tip_to_tail(mut tip: Point, mut arrows: Vec<PathArrow>) -> Vec<PathArrow> {
    for arrow in &mut arrows {
        let from = tip;
        tip = std::array::from_fn(|axis| from[axis] + arrow.to[axis] - arrow.from[axis]);
        (arrow.from, arrow.to) = (from, tip);
    }
    arrows
}

struct Writer<'a> {
    reader: &'a EntryReader<'a>,
    moves: &'a Moves,
    block: usize,
    query: usize,
    /// A head of the block; all heads of a block have the same labels of words.
    head: usize,
    /// The number of the block's first head, counted over all blocks.
    first_head: usize,
}

impl Writer<'_> {
    /// Creates an arrow that begins at the origin. Its length is the value of an entry, or 0 if there is none.
    fn arrow(&self, label: String, entry: Entry, to: Point) -> PathArrow {
        let length = self.reader.value(entry).unwrap_or_default();
        PathArrow { entry: Some(entry), length, ..PathArrow::plain(label, to) }
    }

    fn arrows(&self, by: ArrowParts) -> Vec<PathArrow> {
        let (heads, keys) = (self.moves.heads(), self.moves.keys());
        match by {
            // A recording may lack what each key adds.
            _ if heads == 0 => Vec::new(),
            ArrowParts::Word => (0..keys).map(|key| self.of_word(key)).collect(),
            ArrowParts::Head => (0..heads).map(|own| self.of_head(own)).collect(),
            ArrowParts::Both => {
                let both = (0..heads).flat_map(|own| (0..keys).map(move |key| (own, key)));
                both.map(|(own, key)| self.of_word_in_head(own, key)).collect()
            }
        }
    }

    /// Builds the arrow of a word, through all heads.
    fn of_word(&self, key: usize) -> PathArrow {
        let label = self.reader.key_word(self.head, key);
        let entry = Quantity::WordLength.of_block(self.block, [self.query, key]);
        let to = sum((0..self.moves.heads()).map(|own| self.moves.term(own, self.query, key)));
        PathArrow { key: Some(key), ..self.arrow(label, entry, to) }
    }

    fn of_head(&self, own: usize) -> PathArrow {
        let head = self.first_head + own;
        let quantity =
            if self.reader.norms_after(self.block) > 0 { Quantity::HeadArrowLength } else { Quantity::HeadLength };
        let (label, entry) = (self.head_label(own), quantity.of_head(head, [self.query]));
        let to = self.moves.head(own, self.query);
        PathArrow { head: Some(head), own: Some(own), ..self.arrow(label, entry, to) }
    }

    fn of_word_in_head(&self, own: usize, key: usize) -> PathArrow {
        let label = format!("{} in {}", self.reader.key_word(self.head, key), self.head_label(own));
        let entry = Quantity::TermLength.of_head(self.first_head + own, [self.query, key]);
        let to = self.moves.term(own, self.query, key);
        let weight = Some(self.weight(own, key));
        let arrow = self.arrow(label, entry, to);
        PathArrow { head: Some(self.first_head + own), own: Some(own), key: Some(key), weight, ..arrow }
    }

    fn head_label(&self, own: usize) -> String {
        self.reader.model.architecture.head_name(self.first_head + own)
    }

    fn weight(&self, own: usize, key: usize) -> f32 {
        self.reader.sentence.activations.blocks[self.block].heads[own].weights.get(self.query, key)
    }

    /// Builds the arrow of a term that no head adds; `None` if its length is 0.
    fn part(&self, moves: &PartMoves) -> Option<PathArrow> {
        let label = part_name(moves.part, self.reader.norms_after(self.block)).to_owned();
        let entry = Quantity::PartLength.of_block(self.block, [part_index(moves.part), self.query]);
        let arrow = self.arrow(label, entry, moves.arrow(self.query));
        (arrow.length > 0.0).then_some(PathArrow { part: Some(moves.part), ..arrow })
    }

    /// Builds the arrow of the last norm, through which the picture is drawn: the norm rescales the token's own vector.
    /// `None` if the picture is drawn without it.
    fn seen_through(&self) -> Option<PathArrow> {
        let rescaled = self.moves.rescaled.as_ref()?;
        let label = "rescaled by the last norm".to_owned();
        let length = norm(rescaled.vectors.row(self.query));
        let arrow = PathArrow::plain(label, rescaled.arrow(self.query));
        Some(PathArrow { part: Some(BlockPart::Rescaled), length, ..arrow })
    }

    fn why(&self) -> String {
        let name = quoted(&self.reader.query_word(self.head, self.query));
        let length = self.moves.lengths[self.query];
        if length == 0.0 {
            return format!("Nothing is added to {name}.");
        }
        let shares = self.moves.word_shares.row(self.query);
        let order = by_size(shares.len(), |key| shares[key].into());
        let keys = self.reader.labels.keys(self.head);
        // Adding 0.0 turns −0 into 0, so that a share below half a percent has no minus sign.
        let percent = |share: f32| format!("{:.0} %", (share * 100.0).round() + 0.0).replace('-', "−");
        let named = order.iter().take(NAMED).filter(|key| shares[**key].abs() >= SHARE_MIN);
        let mut shared: Vec<String> = named
            .map(|key| {
                let (own, weight) = strongest((0..self.moves.heads()).map(|own| self.weight(own, *key)));
                let title = self.head_label(own);
                format!("{} {} (weight {weight:.2} in {title})", quoted(&keys[*key]), percent(shares[*key]))
            })
            .collect();
        let rest: f32 = order.iter().skip(shared.len()).map(|key| shares[*key]).sum();
        // A recording may lack the terms of words.
        if keys.len() > shared.len() && self.moves.heads() > 0 {
            shared.push(format!("the other words {}", percent(rest)));
        }
        let part = |moves: &PartMoves| {
            let share = moves.shares[self.query];
            let said = format!("{} {}", part_name(moves.part, self.reader.norms_after(self.block)), percent(share));
            (share.abs() >= SHARE_MIN).then_some(said)
        };
        shared.extend(self.moves.parts.iter().filter_map(part));
        let of_that = format!("{}.", shared.join(", "));
        if self.reader.model.architecture.head(self.head).1.residual {
            format!("{name} moved by {length:.3}. Shares of that move: {of_that}")
        } else {
            format!(
                "The layer has no residual connection, so {name} is now the sum of these arrows, a vector of length \
                 {length:.3}. Shares of that sum: {of_that}"
            )
        }
    }
}
