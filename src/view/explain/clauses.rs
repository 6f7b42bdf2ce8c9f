//! Sentences as data, each with the conditions under which it is said and with the contents of its slots.
//!
//! The program fills them with the numbers of a snapshot, and a live page with those of its own pass, so that both say
//! the same about an entry.

use serde::Serialize;

use super::lines::exact;
use super::reader::EntryReader;
use super::rule::{Bound, Expr, Over};

/// The sentences about an entry, in the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Telling {
    pub happens: Vec<Clause>,
    /// The result, in one line without a full stop.
    pub result: Vec<Clause>,
    /// Sentences on what is special about this entry.
    pub notes: Vec<Clause>,
}

/// A sentence, or a part of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clause {
    /// The conditions, all of which must hold for the clause to be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    when: Vec<Test>,
    /// The text, in which a name in braces stands for one of the slots, or else for a word of the sentence such as
    /// `{query}`.
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slots: Vec<(&'static str, Slot)>,
}

/// A condition of a clause or a rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    Fact(Fact),
    Equal(Expr, f64),
    Below(Expr, f64),
    Not(Box<Test>),
}

/// A fact that is not a comparison of numbers: how the learner changed a head, or what is known about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    /// The score of the key is −∞.
    Hidden,
    /// The learner removed the edge from the query to the key.
    Removed,
    /// The learner removed at least one edge of the query.
    LacksEdges,
    Uniform,
    Mean,
    /// The weights are copied from another pass.
    Frozen,
    /// Weights and values are copied from the pass of the second sentence.
    Second,
    /// The weights are a softmax, and the query sees no key.
    SeesNothing,
    /// The model gives an answer at the word, and the lesson allows showing it.
    Answers,
    /// The words nearest to the vector are known, both before and after attention.
    Neighbours,
    NearBefore,
    NearNow,
    /// The nearest word is the same before attention and after it.
    SameNearest,
    OwnNearest,
}

/// The content that replaces a name in the text of a clause.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// A number with three decimals.
    Rounded(Expr),
    /// A number with all its digits.
    Exact(Expr),
    /// The largest instances of a fold, each described by a clause.
    Largest(Box<Largest>),
}

/// A clause for each of the largest instances of a fold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Largest {
    pub over: Over,
    pub most: usize,
    pub each: Clause,
    pub between: &'static str,
    /// The text that follows if there are more than `most` instances.
    pub rest: &'static str,
}

impl Clause {
    pub fn new(text: impl Into<String>) -> Self {
        Self { when: Vec::new(), text: text.into(), slots: Vec::new() }
    }

    #[must_use]
    pub fn when(mut self, test: impl Into<Test>) -> Self {
        self.when.push(test.into());
        self
    }

    #[must_use]
    pub fn unless(self, test: impl Into<Test>) -> Self {
        self.when(test.into().negated())
    }

    #[must_use]
    pub fn slot(mut self, name: &'static str, slot: Slot) -> Self {
        self.slots.push((name, slot));
        self
    }

    /// Adds a full stop at the end.
    #[must_use]
    pub fn ended(mut self) -> Self {
        self.text.push('.');
        self
    }
}

impl Test {
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }
}

impl From<Fact> for Test {
    fn from(fact: Fact) -> Self {
        Self::Fact(fact)
    }
}

impl EntryReader<'_> {
    /// Returns the clauses whose conditions hold for an entry of a head, with their slots filled; a clause is left out
    /// if one of its numbers is missing.
    pub fn spoken(&self, clauses: &[Clause], head: usize, bound: &Bound) -> Vec<String> {
        let holds = clauses.iter().filter(|clause| self.hold(&clause.when, head, bound));
        holds.filter_map(|clause| self.filled_clause(clause, head, bound)).collect()
    }

    /// Returns whether all of the tests hold.
    pub fn hold(&self, tests: &[Test], head: usize, bound: &Bound) -> bool {
        tests.iter().all(|test| match test {
            Test::Fact(fact) => self.is_fact(*fact, head, bound),
            Test::Equal(of, number) => self.evaluate(of, bound) == Some(*number),
            Test::Below(of, number) => self.evaluate(of, bound).is_some_and(|value| value < *number),
            Test::Not(test) => !self.hold(std::slice::from_ref(test), head, bound),
        })
    }

    /// Fills all slots in one pass, so that a brace in a word of the lesson is not read as a slot.
    fn filled_clause(&self, Clause { text, slots, .. }: &Clause, head: usize, bound: &Bound) -> Option<String> {
        let mut parts = text.split('{');
        let mut filled = parts.next()?.to_owned();
        for part in parts {
            let (name, after) = part.split_once('}')?;
            filled += &match slots.iter().find(|(own, _)| *own == name) {
                Some((_, slot)) => self.filled_slot(slot, head, bound)?,
                None => self.word_of(name, head, bound)?,
            };
            filled += after;
        }
        Some(filled)
    }

    fn filled_slot(&self, slot: &Slot, head: usize, bound: &Bound) -> Option<String> {
        let Largest { over, most, each, between, rest } = match slot {
            Slot::Rounded(of) => return Some(rounded(self.evaluate(of, bound)?)),
            Slot::Exact(of) => return Some(exact(self.evaluate(of, bound)? as f32)),
            Slot::Largest(largest) => &**largest,
        };
        let instances: Vec<Bound> = over.instances(bound).collect();
        let values = instances.iter().map(|at| self.evaluate(&over.of, at));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        let named = order.into_iter().take(*most).map(|at| self.filled_clause(each, head, &instances[at]));
        let named = named.collect::<Option<Vec<_>>>()?.join(between);
        Some(if values.len() > *most { named + *rest } else { named })
    }
}

/// Writes a number with three decimals, for use in a sentence.
pub fn rounded(x: f64) -> String {
    format!("{x:.3}").replace('-', "−")
}
