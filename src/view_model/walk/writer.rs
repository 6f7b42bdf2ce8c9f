//! Numbers of one query in one head, from which all steps of a walk are written.

use super::{Columns, Focus, NumberRow, Step, StepModel};
use crate::kernel::snapshot::Snapshot;
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::block::BlockConfig;
use crate::numerics::model::activations::HeadActivations;
use crate::quantity::{Index, Owner, OwnerKind, Quantity};
use crate::view_model::heads::strongest;
use crate::view_model::quoted;
use crate::view_model::reader::Reader;

/// A step's equation, what happens in words, and the numbers.
pub(super) type StepText = (String, String, Vec<NumberRow>);

/// Writes the steps of a walk.
pub(super) struct Writer<'a> {
    pub reader: Reader<'a>,
    pub queries: Vec<String>,
    pub keys: Vec<String>,
    pub query: usize,
    pub key: usize,
    pub head: usize,
    /// The block of the head, and its number within it.
    pub block: usize,
    pub own: usize,
}

impl<'a> Writer<'a> {
    /// `None` until there is a model, and where it has no such head or query.
    pub fn of(snapshot: &'a Snapshot, focus: Focus) -> Option<Self> {
        let reader = Reader::of(snapshot)?;
        let Focus { query, head, .. } = focus;
        let parts = reader.head(head)?;
        let weights = &parts.activations.weights;
        if query >= weights.rows() {
            return None;
        }
        let (strongest, _) = strongest(weights.row(query));
        let (block, own) = (parts.block, parts.own);
        let (queries, keys) = (reader.labels.queries(head).to_vec(), reader.labels.keys(head).to_vec());
        let key = focus.key.filter(|key| *key < keys.len()).unwrap_or(strongest);
        Some(Self { reader, queries, keys, query, key, head, block, own })
    }

    pub fn step(&self, step: Step) -> StepModel {
        let (equation, said, rows) = match step {
            Step::Embed => self.embed(),
            Step::Project => self.project(),
            Step::Score => self.score(),
            Step::Scale => self.scale(),
            Step::Softmax => self.softmax(),
            Step::Mix => self.mix(),
            Step::Output => self.output(),
            Step::Contextual => self.contextual(),
        };
        StepModel { step, equation, said, rows }
    }

    /// The query's row of a quantity, or the key's of one that keys have.
    pub fn row(&self, label: impl Into<String>, quantity: Quantity) -> NumberRow {
        let definition = quantity.definition();
        let letter = definition.letter();
        let (owner, tensor) = match definition.owner {
            OwnerKind::Head => (Owner::Head(self.head), format!("{letter}[{}]", self.head)),
            _ => (Owner::Block(self.block), letter),
        };
        let row = if definition.counts(Index::Query) { self.query } else { self.key };
        let is_by_key = definition.counts(Index::Query) && definition.counts(Index::Key);
        NumberRow {
            label: label.into(),
            tensor,
            values: self.reader.matrix(quantity, owner).map_or(Vec::new(), |matrix| matrix.row(row).to_vec()),
            columns: if is_by_key { Columns::Keys } else { Columns::Entries },
            first: quantity.of(owner, [row, 0]),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.queries[self.query]
    }

    /// The query, as a sentence names it.
    pub(super) fn said_query(&self) -> String {
        quoted(self.name())
    }

    pub(super) fn said_key(&self) -> String {
        quoted(&self.keys[self.key])
    }

    pub(super) fn config(&self) -> &'a BlockConfig {
        self.reader.model.architecture.head(self.head).1
    }

    pub(super) fn activations(&self) -> &'a HeadActivations<f32> {
        &self.reader.sentence.activations.blocks[self.block].heads[self.own]
    }

    pub(super) fn arithmetic(&self) -> &'a Arithmetic<f32> {
        &self.reader.sentence.arithmetic[self.head]
    }

    pub(super) fn weights(&self) -> &'a [f32] {
        self.activations().weights.row(self.query)
    }
}

/// A number as a sentence has it.
pub(super) fn number(x: f32) -> String {
    format!("{x:.3}").replace('-', "−")
}
