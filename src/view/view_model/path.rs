//! Why a token moved: what each word, or each head, adds to it, as arrows that lead tip to tail from where
//! it was to where it came.

use std::sync::Arc;

use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::moves::{Moves, PartMoves, Point, sum};
use attune_engine::numerics::vectors::norm;
use attune_engine::quantity::{Entry, Quantity};

use super::head_labels::HeadLabels;
use super::heads::strongest;
use super::models::Model;
use super::parts::{self, Part};
use super::quoted;

/// Parts that an arrow stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A word, through all heads.
    Word,
    /// A head, with all its words.
    Head,
    /// A word in a head.
    Both,
}

impl By {
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
    pub part: Option<Part>,
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
    pub by: By,
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
    type Choice = (usize, usize, Option<By>);

    fn make(snapshot: &Arc<Snapshot>, (query, head, by): &Self::Choice, _: Option<&Self>) -> Option<Self> {
        let architecture = &snapshot.model.as_ref()?.architecture;
        let by = by.or_else(|| (*head < architecture.heads()).then(|| By::of_head(architecture, *head)))?;
        Self::of(snapshot, *query, *head, by)
    }
}

impl PathModel {
    /// Path of a token in the block of a head; `None` until there is a model, and where it lacks the head or token.
    pub fn of(snapshot: &Snapshot, query: usize, head: usize, by: By) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        if head >= model.architecture.heads() {
            return None;
        }
        let (block, ..) = model.architecture.head(head);
        let moves = model.sentence.moves.get(block)?;
        if query >= moves.queries() {
            return None;
        }
        let writer = Writer { labels: HeadLabels::of(model), model, moves, block, query, head };
        let from = moves.start(query);
        let mut parts = writer.parts(by);
        parts.sort_by(|a, b| b.length.total_cmp(&a.length));
        let others = moves.parts.iter().filter_map(|part| writer.part(part));
        let others = writer.seen_through().into_iter().chain(others);
        let (first, last): (Vec<_>, Vec<_>) = others.partition(|segment| segment.part == Some(Part::Rescaled));
        let mut tip = from;
        let mut lay = |part: Segment| {
            let start = tip;
            tip = std::array::from_fn(|axis| start[axis] + part.arrow[axis]);
            let Segment { label, part, head, key, weight, length, entry, .. } = part;
            let own = head.map(|head| head - writer.first_head());
            PathArrow { label, part, head, own, key, weight, length, entry, from: start, to: tip }
        };
        let arrows = first.into_iter().chain(parts).chain(last).map(&mut lay).collect();
        Some(Self { query, by, arrows, from, to: moves.end(query), why: writer.why() })
    }
}

impl PathModel {
    /// Arrows of the words in one head, tip to tail: the head's mix, through `W_O`.
    pub fn of_mix(snapshot: &Snapshot, query: usize, head: usize) -> Option<Self> {
        let whole = Self::of(snapshot, query, head, By::Both)?;
        let mut tip = whole.from;
        let laid = |arrow: PathArrow| {
            let from = tip;
            tip = std::array::from_fn(|axis| from[axis] + arrow.to[axis] - arrow.from[axis]);
            PathArrow { from, to: tip, ..arrow }
        };
        let arrows: Vec<PathArrow> =
            whole.arrows.into_iter().filter(|arrow| arrow.head == Some(head)).map(laid).collect();
        let to = arrows.last().map_or(whole.from, |arrow| arrow.to);
        Some(Self { arrows, to, ..whole })
    }
}

struct Writer<'a> {
    labels: HeadLabels<'a>,
    model: &'a ModelSnapshot,
    moves: &'a Moves,
    block: usize,
    query: usize,
    /// One of the block.
    head: usize,
}

struct Segment {
    label: String,
    part: Option<Part>,
    head: Option<usize>,
    key: Option<usize>,
    weight: Option<f32>,
    length: f32,
    entry: Option<Entry>,
    arrow: Point,
}

impl Writer<'_> {
    /// The first head of the block, counted over all.
    fn first_head(&self) -> usize {
        let (_, _, own) = self.model.architecture.head(self.head);
        self.head - own
    }

    fn term(&self, own: usize, key: usize) -> Point {
        self.moves.term(own, self.query, key)
    }

    fn parts(&self, by: By) -> Vec<Segment> {
        let (heads, keys) = (self.moves.heads(), self.moves.keys());
        let names = self.labels.keys(self.head);
        match by {
            By::Word => (0..keys)
                .map(|key| Segment {
                    label: names[key].clone(),
                    part: None,
                    head: None,
                    key: Some(key),
                    weight: None,
                    length: self.moves.word_lengths.get(self.query, key),
                    entry: Some(Quantity::WordLength.of_block(self.block, [self.query, key])),
                    arrow: sum((0..heads).map(|own| self.term(own, key))),
                })
                .collect(),
            By::Head => (0..heads)
                .map(|own| Segment {
                    label: self.labels.title(self.first_head() + own).to_lowercase(),
                    part: None,
                    head: Some(self.first_head() + own),
                    key: None,
                    weight: None,
                    length: self.model.sentence.contributions[self.block].head_arrow_lengths[own][self.query],
                    entry: Some(self.head_length().of_head(self.first_head() + own, [self.query])),
                    arrow: self.moves.head(own, self.query),
                })
                .collect(),
            By::Both => (0..heads)
                .flat_map(|own| (0..keys).map(move |key| (own, key)))
                .map(|(own, key)| Segment {
                    label: format!("{} in {}", names[key], self.labels.title(self.first_head() + own).to_lowercase()),
                    part: None,
                    head: Some(self.first_head() + own),
                    key: Some(key),
                    weight: Some(self.weight(own, key)),
                    length: self.moves.term_length(own, self.query, key),
                    entry: Some(Quantity::TermLength.of_head(self.first_head() + own, [self.query, key])),
                    arrow: self.term(own, key),
                })
                .collect(),
        }
    }

    fn weight(&self, own: usize, key: usize) -> f32 {
        self.model.sentence.activations.blocks[self.block].heads[own].weights.get(self.query, key)
    }

    /// Norms between what the heads add and where the arrows end.
    fn norms(&self) -> usize {
        self.model.sentence.contributions[self.block].norms().len()
    }

    fn head_length(&self) -> Quantity {
        if self.norms() > 0 { Quantity::HeadArrowLength } else { Quantity::HeadLength }
    }

    /// `None` of one without length.
    fn part(&self, moves: &PartMoves) -> Option<Segment> {
        let length = moves.lengths[self.query];
        let segment = Segment {
            label: parts::name(moves.part, self.norms()).to_owned(),
            part: Some(moves.part),
            head: None,
            key: None,
            weight: None,
            length,
            entry: Some(Quantity::PartLength.of_block(self.block, [parts::index(moves.part), self.query])),
            arrow: moves.arrow(self.query),
        };
        (length > 0.0).then_some(segment)
    }

    /// The norm in front of the picture shrinks what there was as the whole grows.
    fn seen_through(&self) -> Option<Segment> {
        let rescaled = self.moves.rescaled.as_ref()?;
        Some(Segment {
            label: "rescaled by the last norm".to_owned(),
            part: Some(Part::Rescaled),
            head: None,
            key: None,
            weight: None,
            length: norm(rescaled.vectors.row(self.query)),
            entry: None,
            arrow: rescaled.arrow(self.query),
        })
    }

    fn why(&self) -> String {
        let name = quoted(&self.labels.queries(self.head)[self.query]);
        let length = self.moves.lengths[self.query];
        if length == 0.0 {
            return format!("Nothing is added to {name}.");
        }
        let shares = self.moves.word_shares.row(self.query);
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|a, b| shares[*b].abs().total_cmp(&shares[*a].abs()));
        let keys = self.labels.keys(self.head);
        // Less than half a percent is none, on either side.
        let percent = |share: f32| format!("{:.0} %", (share * 100.0).round() + 0.0).replace('-', "−");
        let named = order.iter().take(NAMED).filter(|key| shares[**key].abs() >= SHARE_MIN);
        let named: Vec<String> = named
            .map(|key| {
                let (own, weight) = self.strongest_head(*key);
                let title = self.labels.title(self.first_head() + own).to_lowercase();
                format!("{} {} (weight {weight:.2} in {title})", quoted(&keys[*key]), percent(shares[*key]))
            })
            .collect();
        let rest: f32 = order.iter().skip(named.len()).map(|key| shares[*key]).sum();
        let others =
            if keys.len() > named.len() { format!(", the other words {}", percent(rest)) } else { String::new() };
        let part = |moves: &PartMoves| {
            let share = moves.shares[self.query];
            let said = format!(", {} {}", parts::name(moves.part, self.norms()), percent(share));
            (share.abs() >= SHARE_MIN).then_some(said)
        };
        let parts: String = self.moves.parts.iter().filter_map(part).collect();
        let of_that = format!("{}{others}{parts}.", named.join(", "));
        if self.model.architecture.head(self.head).1.residual {
            format!("{name} moved by {length:.3}. Of that way: {of_that}")
        } else {
            format!(
                "Of its own vector nothing is kept: {name} is now the sum of these arrows, {length:.3} long. Of that: \
                 {of_that}"
            )
        }
    }

    fn strongest_head(&self, key: usize) -> (usize, f32) {
        strongest((0..self.moves.heads()).map(|own| self.weight(own, key)))
    }
}
