//! The walk through attention: one query in one head, in eight steps, each with its numbers and in words.

mod outputs;
pub mod route;
mod scores;
mod writer;

use std::sync::Arc;

use self::writer::Writer;
use crate::kernel::snapshot::Snapshot;
use crate::numerics::attention::HeadMode;
use crate::quantity::{Entry, Quantity};
use crate::view_model::models::Model;

/// Where the walk is; in this order.
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

/// Whose way is shown.
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

#[derive(Clone, Debug, PartialEq)]
pub struct StepModel {
    pub step: Step,
    /// In LaTeX, with the sizes of this model.
    pub equation: String,
    /// The step in words, with the numbers.
    pub said: String,
    pub rows: Vec<NumberRow>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkModel {
    pub focus: Focus,
    /// `Head 1`
    pub head: String,
    /// Words of the head's sentence.
    pub queries: Vec<String>,
    pub keys: Vec<String>,
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
    /// `None` until there is a model, and where it has no such head or query.
    pub fn of(snapshot: &Snapshot, focus: Focus) -> Option<Self> {
        let writer = Writer::of(snapshot, focus)?;
        let steps = Step::ALL.iter().map(|step| writer.step(*step)).collect();
        let Writer { reader, queries, keys, key, .. } = writer;
        Some(Self { focus, head: reader.labels.title(focus.head), key, steps, queries, keys })
    }

    pub fn step(&self, step: Step) -> &StepModel {
        &self.steps[step.index()]
    }

    /// Its queries and its keys are the words of this sentence.
    pub fn is_within(&self, labels: impl Iterator<Item = String> + Clone) -> bool {
        let are = |words: &[String]| labels.clone().eq(words.iter().map(String::as_str));
        are(&self.queries) && are(&self.keys)
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
            Step::Project if key == self.focus.query => Some("q".to_owned()),
            Step::Project => Some("k v".to_owned()),
            Step::Score => number(Quantity::Product).map(written),
            Step::Scale => number(Quantity::Score).map(written),
            Step::Softmax => number(Quantity::Weight).map(written),
            Step::Mix => number(Quantity::Weight).map(|weight| format!("{} v", written(weight))),
            Step::Embed | Step::Output | Step::Contextual => None,
        }
    }
}
