//! Numbers of one query in one head, from which all steps of a walk are written.

use attune_core::kernel::snapshot::{Snapshot, Token};
use attune_engine::numerics::arithmetic::Arithmetic;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Index, Owner, OwnerKind, Quantity};

use super::{Bars, Columns, Dot, DotTerm, Focus, NumberRow, SourceWord, Step, StepModel};
use crate::view_model::head_labels::Side;
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
        let (strongest, _) = strongest(weights.row(query).iter().copied());
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
        let bars = match step {
            Step::Score => Some(Bars { before: None, after: Quantity::Product }),
            Step::Scale => Some(Bars { before: Some(Quantity::Product), after: Quantity::Score }),
            Step::Softmax => Some(Bars { before: Some(Quantity::Score), after: Quantity::Weight }),
            _ => None,
        };
        StepModel { step, equation, said, dot: self.dot(step), bars, rows }
    }

    /// The largest entry of the step's result, worked out; of the scores, that of the key.
    fn dot(&self, step: Step) -> Option<Dot> {
        let attention = &self.config().attention;
        let (block, owner) = (self.block, Owner::Head(self.head));
        let name = self.name();
        let largest = |row: &[f32]| (0..row.len()).max_by(|a, b| row[*a].abs().total_cmp(&row[*b].abs()));
        let own = |quantity: Quantity, row, col| quantity.of(owner, [row, col]);
        let parameter = |tensor: TensorName, row, col| Entry::parameter(tensor.of_block(block), row, col);
        let numbered = |count: usize, pair: &dyn Fn(usize) -> [Entry; 2]| {
            (0..count).map(|i| (i.to_string(), pair(i))).collect::<Vec<_>>()
        };
        let (title, pairs, bias, total) = match step {
            Step::Project if attention.projected => {
                let query = self.activations().query.row(self.query);
                let entry = largest(query)?;
                let column = attention.key_columns(self.own).start + entry;
                let pairs = numbered(attention.width, &|i| {
                    [
                        Quantity::Input.of(Owner::Block(block), [self.query, i]),
                        parameter(TensorName::QueryWeights, i, column),
                    ]
                });
                let bias = attention.bias.then(|| parameter(TensorName::QueryBias, 0, column));
                let title = format!("q({name}), entry {entry}: x({name}) times column {column} of W_Q");
                (title, pairs, bias, own(Quantity::Query, self.query, entry))
            }
            Step::Score => {
                let count = self.activations().query.cols();
                let pairs =
                    numbered(count, &|i| [own(Quantity::Query, self.query, i), own(Quantity::Key, self.key, i)]);
                let title = format!("q({name}) · k({})", self.keys[self.key]);
                (title, pairs, None, own(Quantity::Product, self.query, self.key))
            }
            Step::Mix => {
                let entry = largest(self.activations().mix.row(self.query))?;
                let pair = |key| [own(Quantity::Weight, self.query, key), own(Quantity::Value, key, entry)];
                let pairs = self.keys.iter().enumerate().map(|(key, word)| (word.clone(), pair(key))).collect();
                let title = format!("mix({name}), entry {entry}: the weights times entry {entry} of each value");
                (title, pairs, None, own(Quantity::Mix, self.query, entry))
            }
            _ => return None,
        };
        let valued = |entry: Entry| Some((entry, self.reader.value(entry)?));
        let term = |(name, [left, right]): (String, [Entry; 2])| {
            Some(DotTerm { name, left: valued(left)?, right: valued(right)? })
        };
        let mut terms = pairs.into_iter().map(term).collect::<Option<Vec<DotTerm>>>()?;
        terms.sort_by(|a, b| b.product().abs().total_cmp(&a.product().abs()));
        Some(Dot { title, terms, bias: bias.and_then(valued), total: valued(total)? })
    }

    /// The sentences of the queries and of the keys.
    pub fn sides(&self) -> (Side, Side) {
        let is_of_source = self.reader.is_of_source(self.block);
        (Side::of_source(is_of_source), Side::of_source(is_of_source || self.config().attends_to_source()))
    }

    pub fn source(&self) -> Vec<SourceWord> {
        let sentence = self.reader.sentence;
        let stops = &sentence.source_points;
        let at = |stop: usize, row| {
            let points = &stops[stop.min(stops.len() - 1)];
            std::array::from_fn(|axis| points.row(row)[axis])
        };
        let word = |(row, token): (usize, &Token)| SourceWord {
            label: self.keys[row].clone(),
            group: token.word.and_then(|word| self.reader.space.group_of[word]),
            from: at(self.block, row),
            to: at(self.block + 1, row),
        };
        sentence.source.iter().flatten().enumerate().map(word).collect()
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
