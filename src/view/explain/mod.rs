//! Explanations: how a number comes about, in a formula, in the same formula with its numbers, and in words.
//!
//! An [`Entry`] is any number that is shown, and an [`Explanation`] is a node of a tree: the numbers in it are entries
//! too, each with its own explanation, back to the static vectors and the weights. Nodes are made when they are asked
//! for.
//!
//! Each quantity has one rule ([`rules`]): an expression over other entries. The formula, the numbers in the formula
//! and the way back to other entries come from the rule; the engine stays the source of each stored number, which the
//! rule only explains, and a number that is not stored is computed by its rule.
//!
//! | module | of an entry |
//! |---|---|
//! | [`reader`] | its number, its names, and its place |
//! | [`rule`] | what a rule is made of, and its value in double precision |
//! | [`rules`] | the rule of each quantity, as this model computes it |
//! | [`print`] | a rule's formula, in LaTeX |
//! | [`lines`] | a rule with its numbers in: the lines of a card |
//! | [`clauses`] | sentences as data: when each is said, and what fills its slots |
//! | [`tellings`] | what is said of a query and a key in a head, as clauses |
//! | [`sentences`] | the words of all sentences, such as [`sentences::softmax`], and what is said of other entries |
//! | [`cards`] | rules, formulas and clauses of a head for all settings, which a live page reads |
//! | [`result`] | the result of all steps, in one line over the stage |
//! | [`walk`] | its step in the walk, and the route of a walk through all layers |
//! | [`path`] | why a token moved, arrow by arrow |
//!
//! The walk and the Step panel, the card of a number ([`Provenance`]) and the live page are written from these.

pub mod cards;
pub mod clauses;
pub mod lines;
pub mod path;
pub mod print;
pub mod reader;
pub mod result;
pub mod rule;
pub mod rules;
pub mod sentences;
pub mod tellings;
pub mod walk;

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_engine::quantity::{Entry, Quantity};

use self::lines::Worked;
use self::print::print;
use self::reader::EntryReader;
use self::rule::{Rule, at};
use crate::view_model::{Model, axes, models};

models!(of(snapshot): walk::RouteModel);
models!(of(snapshot, choice): Explanation => Entry, Provenance => Entry, walk::WalkModel => walk::Focus);
models!(of(snapshot, choice): result::StageResult => (result::Moment, usize, bool));

/// An explanation of how a number is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub entry: Entry,
    pub value: f32,
    /// The meaning in a few words, such as "entry 3 of the contextual vector of …".
    pub meaning: String,
    /// The formula, in LaTeX.
    pub symbols: String,
    /// The rule with its numbers.
    pub worked: Worked,
    /// Sentences on the step, and on anything special about this number, such as a change by the learner.
    pub sentences: Vec<String>,
}

impl Explanation {
    /// Explains an entry; `None` if there is no model, or if the snapshot has no such entry.
    pub fn of(snapshot: &Snapshot, entry: Entry) -> Option<Self> {
        EntryReader::of(snapshot)?.explain(entry)
    }
}

impl EntryReader<'_> {
    /// Explains an entry; `None` if the snapshot has no such entry. A number whose rule lacks an operand is shown as
    /// given.
    pub fn explain(&self, entry: Entry) -> Option<Explanation> {
        let value = self.value(entry)?;
        let rule = self.rule_of(entry).unwrap_or_else(|| Rule::given(print(&at(entry, ""))));
        let (meaning, worked) = (self.meaning(entry), self.worked(&rule));
        Some(Explanation { entry, value, meaning, symbols: rule.formula(), worked, sentences: self.sentences(entry) })
    }
}

/// The card of a number: its explanation, its names, and the numbers before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    pub explanation: Explanation,
    /// The name with words as indices: `A₁["apple₁", "phone"]`.
    pub name: String,
    /// The name in code, with numbers as indices: `A[0, 0, 4]`; empty if code cells cannot read the entry.
    pub place: String,
    /// The way back: at each step the entry that contributes most to the one before, with its symbol.
    pub way: Vec<(Entry, String)>,
    /// The coordinates of the same point on the other axes, with the names of the axes; empty for an entry that is no
    /// coordinate.
    pub beside: Vec<(Entry, String)>,
}

impl Provenance {
    /// Explains an entry; `None` if there is no model, or if the snapshot has no such entry.
    pub fn of(snapshot: &Snapshot, entry: Entry) -> Option<Self> {
        let reader = EntryReader::of(snapshot)?;
        let explanation = reader.explain(entry)?;
        let mut beside = Vec::new();
        if let (Quantity::Coordinate, Some(point)) = (entry.quantity, entry.owner.point()) {
            let [own, ..] = entry.index;
            let names = axes::names(reader.space).into_iter().take(reader.space.projection.dimensions());
            let others = names.enumerate().filter(|(axis, _)| *axis != own);
            beside = others.map(|(axis, name)| (Quantity::Coordinate.of_point(point, axis), name)).collect();
        }
        let (name, place) = (reader.name(entry), reader.place(entry));
        Some(Self { name, place, way: trace_back(&reader, &explanation.worked), explanation, beside })
    }
}

/// Follows the way back from a number, for at most 40 steps: at each step to the entry that contributes most.
fn trace_back(reader: &EntryReader, worked: &Worked) -> Vec<(Entry, String)> {
    const STEPS_MAX: usize = 40;
    let mut way = Vec::new();
    let mut next = worked.leads_to;
    while let Some(entry) = next.filter(|_| way.len() < STEPS_MAX) {
        way.push((entry, reader.symbol(entry)));
        let rule = reader.rule_of(entry);
        next = rule.and_then(|rule| reader.leads_to(&rule.expression, &rule.bound));
    }
    way
}
