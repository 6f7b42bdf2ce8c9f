//! The walk through attention: one query in one head, in eight steps, each with its numbers and in words.

mod outputs;
pub mod route;
mod scores;
mod writer;

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::moves::Point;
use attune_engine::quantity::{Entry, Quantity};

use self::writer::Writer;
use crate::view_model::head_labels::Side;
use crate::view_model::models::Model;

/// The steps of the walk, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Embed,
    Project,
    Score,
    Scale,
    Softmax,
    Mix,
    Output,
    Contextual,
}

impl Step {
    pub const ALL: [Self; 8] = [
        Self::Embed,
        Self::Project,
        Self::Score,
        Self::Scale,
        Self::Softmax,
        Self::Mix,
        Self::Output,
        Self::Contextual,
    ];

    pub fn index(self) -> usize {
        self as usize
    }

    /// How much of it is there, from 0 to 1, on the way to it; a walk is at a whole number at each step.
    pub fn share(self, walk: f32) -> f32 {
        (walk - self.index() as f32 + 1.0).clamp(0.0, 1.0)
    }

    /// As the time line names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embed => "embed",
            Self::Project => "Q K V",
            Self::Score => "scores",
            Self::Scale => "scale, mask",
            Self::Softmax => "softmax",
            Self::Mix => "mix",
            Self::Output => "W_O",
            Self::Contextual => "contextual",
        }
    }
}

/// The word and the head whose way is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Position of the query in its sentence.
    pub query: usize,
    /// Counted over all blocks, the source's first.
    pub head: usize,
    /// The key of the worked product; none: the one that weighs most.
    pub key: Option<usize>,
}

/// Meaning of a row's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    Entries,
    Keys,
    /// Heads of one block.
    Heads,
}

/// The numbers of a row of a tensor, or of one column of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRow {
    /// Such as `q(apple₁)`.
    pub label: String,
    /// Such as `Q[0]`, as code calls it; with the row that is shown, where it has several.
    pub tensor: String,
    pub values: Vec<f32>,
    pub columns: Columns,
    /// The first of them, as it can be asked where it comes from.
    pub first: Entry,
}

impl NumberRow {
    pub fn entry(&self, column: usize) -> Entry {
        match self.columns {
            Columns::Heads => self.first.of_later_head(column),
            Columns::Entries | Columns::Keys => self.first.along(column),
        }
    }
}

/// A product that is summed, entry by entry: a row times a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Such as `q(apple₁) entry 3 = x(apple₁) · W_Q column 3`.
    pub title: String,
    /// The products that count most first.
    pub terms: Vec<DotTerm>,
    /// A term added to their sum, and its name.
    pub bias: Option<(Entry, f32)>,
    pub total: (Entry, f32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct DotTerm {
    /// A word, or the number of an entry.
    pub name: String,
    pub left: (Entry, f32),
    pub right: (Entry, f32),
}

impl DotTerm {
    pub fn product(&self) -> f32 {
        self.left.1 * self.right.1
    }
}

/// Each key's number before a step and after it, as bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub before: Option<Quantity>,
    pub after: Quantity,
}

/// The bar beside a key's word, along a track from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Where the bar begins: in the middle for scores, which may be negative, at the left for weights.
    pub zero: f32,
    pub end: f32,
}

/// A word of the source: where the walked layer finds it, and where it leaves it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceWord {
    pub label: String,
    pub group: Option<usize>,
    pub from: Point,
    pub to: Point,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepModel {
    pub step: Step,
    /// In LaTeX, with the sizes of this model.
    pub equation: String,
    /// The step in words, with the numbers.
    pub said: String,
    /// One entry of the step's result, worked out.
    pub dot: Option<Dot>,
    pub bars: Option<Bars>,
    pub rows: Vec<NumberRow>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkModel {
    pub focus: Focus,
    /// `Head 1`
    pub head: String,
    /// The head's place in its layer: its hue.
    pub own: usize,
    /// Words of the head's sentence.
    pub queries: Vec<String>,
    pub keys: Vec<String>,
    pub query_side: Side,
    pub key_side: Side,
    /// Words of the source, where the head's queries or keys are of it.
    pub source: Vec<SourceWord>,
    /// The key of the worked product.
    pub key: usize,
    pub steps: Vec<StepModel>,
}

impl Model for WalkModel {
    type Choice = Focus;

    fn make(snapshot: &Arc<Snapshot>, focus: &Focus, _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, *focus)
    }
}

/// Whether a head is switched off, so that nothing flows through it.
pub fn is_silent(snapshot: &Snapshot, head: usize) -> bool {
    let modes = snapshot.model.as_ref().map(|model| &model.interventions.heads);
    modes.and_then(|modes| modes.get(head)).is_some_and(|mode| *mode == HeadMode::Off)
}

impl WalkModel {
    /// The query, where it is a word of the source.
    pub fn source_query(&self) -> Option<usize> {
        (self.query_side == Side::Source).then_some(self.focus.query)
    }

    /// `None` until there is a model, and where it has no such head or query.
    pub fn of(snapshot: &Snapshot, focus: Focus) -> Option<Self> {
        let writer = Writer::of(snapshot, focus)?;
        let steps = Step::ALL.iter().map(|step| writer.step(*step)).collect();
        let (query_side, key_side) = writer.sides();
        let source = if key_side == Side::Source { writer.source() } else { Vec::new() };
        let Writer { reader, queries, keys, key, own, .. } = writer;
        let head = reader.labels.title(focus.head);
        Some(Self { focus, head, own, key, steps, queries, keys, query_side, key_side, source })
    }

    pub fn step(&self, step: Step) -> &StepModel {
        &self.steps[step.index()]
    }

    /// The words that it shares with a stage of these tokens are the same ones.
    pub fn fits(&self, labels: impl Iterator<Item = String> + Clone) -> bool {
        let fits =
            |side: Side, words: &[String]| side == Side::Source || labels.clone().eq(words.iter().map(String::as_str));
        fits(self.query_side, &self.queries) && fits(self.key_side, &self.keys)
    }

    /// Whether a key has a part in a step: what is hidden or weighs next to nothing has none.
    pub fn takes_part(&self, step: Step, key: usize) -> bool {
        /// Weights below this draw no line.
        const WEIGHT_MIN: f32 = 0.02;
        let is_query = self.query_side == self.key_side && key == self.focus.query;
        let is_seen = || self.by_key(Step::Scale, Quantity::Score).get(key) != Some(&f32::NEG_INFINITY);
        let weighs = || self.by_key(Step::Softmax, Quantity::Weight).get(key).is_some_and(|x| *x >= WEIGHT_MIN);
        match step {
            Step::Embed => is_query,
            Step::Project | Step::Score | Step::Contextual => true,
            Step::Scale => is_query || is_seen(),
            Step::Softmax | Step::Mix | Step::Output => is_query || weighs(),
        }
    }

    /// A key's bar beside its word at a place of the walk through the layer: its score, scaled, then its weight; what is
    /// between two steps is on its way.
    pub fn bar(&self, at: f32, key: usize) -> Option<Bar> {
        const MIDDLE: f32 = 0.5;
        let number = |step: Step, quantity| self.by_key(step, quantity).get(key).copied().filter(|x| x.is_finite());
        let products = self.by_key(Step::Score, Quantity::Product);
        let largest = products.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let score = |step, quantity| (number(step, quantity).unwrap_or(0.0) / largest).clamp(-1.0, 1.0);
        let (begun, ended) = (Step::Score.share(at), Step::Output.share(at));
        let product = score(Step::Score, Quantity::Product) * begun;
        let scaled = lerp(product, score(Step::Scale, Quantity::Score), Step::Scale.share(at));
        let weight = number(Step::Softmax, Quantity::Weight).unwrap_or(0.0);
        let weighed = Step::Softmax.share(at);
        let length = lerp(scaled, weight, weighed) * (1.0 - ended);
        let zero = MIDDLE * (1.0 - weighed);
        (begun > 0.0 && ended < 1.0).then_some(Bar { zero, end: zero + length * (1.0 - zero) })
    }

    /// A number for each key: a step's row of a quantity.
    pub fn by_key(&self, step: Step, quantity: Quantity) -> &[f32] {
        self.step(step).rows.iter().find(|row| row.first.quantity == quantity).map_or(&[], |row| &row.values)
    }

    /// Number that a step gives a key, as it stands beside the key's point.
    pub fn beside(&self, step: Step, key: usize) -> Option<String> {
        let number = |quantity| self.by_key(step, quantity).get(key).copied();
        let written = |x: f32| format!("{x:.2}").replace("inf", "∞").replace('-', "−");
        match step {
            Step::Project if key == self.focus.query && self.query_side == self.key_side => Some("q".to_owned()),
            Step::Project => Some("k v".to_owned()),
            Step::Score => number(Quantity::Product).map(written),
            Step::Scale => number(Quantity::Score).map(written),
            Step::Softmax => number(Quantity::Weight).map(written),
            Step::Mix => number(Quantity::Weight).map(|weight| format!("{} v", written(weight))),
            Step::Embed | Step::Output | Step::Contextual => None,
        }
    }
}

fn lerp(from: f32, to: f32, share: f32) -> f32 {
    // Not `from + share (to − from)`, which need not round to the end itself.
    (1.0 - share) * from + share * to
}
