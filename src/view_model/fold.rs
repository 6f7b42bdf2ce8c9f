//! The Fold panel: one block of attention, whole; how its matrices fold into heads and the heads join again.

use std::ops::Range;
use std::sync::Arc;

use super::head_labels::HeadLabels;
use super::models::Model;
use super::walk::Step;
use crate::kernel::data::moves::{Moves, Point};
use crate::kernel::data::token::subscript;
use crate::kernel::snapshot::{SentenceSnapshot, Snapshot};
use crate::numerics::Matrix;
use crate::numerics::model::activations::HeadActivations;
use crate::numerics::params::{Parameters, TensorName};
use crate::quantity::{Entry, Index, Quantity};

/// A matrix, or a head's slice of one. Heads are counted within the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sheet {
    /// `X` (T, D)
    Input,
    /// `Q_h` (T, d_k)
    Query(usize),
    /// `K_h` (T_k, d_k)
    Key(usize),
    /// `V_h` (T_k, d_v)
    Value(usize),
    /// `Q_h K_hᵀ` (T, T_k)
    Product(usize),
    /// `S_h` (T, T_k), scaled, with what distance adds; −∞ where masked
    Score(usize),
    /// `A_h` (T, T_k)
    Weight(usize),
    /// `M_h` (T, d_v)
    Mix(usize),
    /// The head's rows of `W_O`, (d_v, D)
    OutputWeights(usize),
    /// `Y` (T, D)
    Output,
}

impl Sheet {
    /// Quantity that the sheet shows, and its head.
    fn quantity(self) -> (Quantity, Option<usize>) {
        match self {
            Self::Input => (Quantity::Input, None),
            Self::Query(own) => (Quantity::Query, Some(own)),
            Self::Key(own) => (Quantity::Key, Some(own)),
            Self::Value(own) => (Quantity::Value, Some(own)),
            Self::Product(own) => (Quantity::Product, Some(own)),
            Self::Score(own) => (Quantity::Score, Some(own)),
            Self::Weight(own) => (Quantity::Weight, Some(own)),
            Self::Mix(own) => (Quantity::Mix, Some(own)),
            Self::OutputWeights(own) => (Quantity::Parameter(TensorName::OutputWeights), Some(own)),
            Self::Output => (Quantity::Output, None),
        }
    }

    fn counts(self, index: Index) -> bool {
        self.quantity().0.definition().counts(index)
    }
}

/// The entries of a sheet, row after row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entries<'a> {
    pub rows: usize,
    pub cols: usize,
    pub values: &'a [f32],
}

impl Entries<'_> {
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.cols..][..self.cols]
    }
}

impl<'a> From<&'a Matrix<f32>> for Entries<'a> {
    fn from(matrix: &'a Matrix<f32>) -> Self {
        Self { rows: matrix.rows(), cols: matrix.cols(), values: matrix.flat() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoldHead {
    /// Counted over all blocks: its hue.
    pub head: usize,
    /// `Head 1`
    pub title: String,
    pub is_on: bool,
}

#[derive(Clone, Debug)]
pub struct FoldModel {
    sentence: Arc<SentenceSnapshot>,
    parameters: Arc<Parameters<f32>>,
    block: usize,
    /// The blocks by name, each with its first head; one where there is nothing to choose.
    pub blocks: Vec<(String, usize)>,
    pub queries: Vec<String>,
    pub keys: Vec<String>,
    pub heads: Vec<FoldHead>,
    /// Columns of each head in `V` and rows in `W_O`.
    value_columns: Vec<Range<usize>>,
    has_output: bool,
    has_residual: bool,
    has_distances: bool,
    width: usize,
    /// Its queries are words of the source, not the stage's tokens.
    pub is_of_source: bool,
    /// The keys are the queries' own sentence.
    pub looks_at_itself: bool,
}

impl Model for FoldModel {
    type Choice = usize;

    fn make(snapshot: &Arc<Snapshot>, head: &usize, _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, *head)
    }
}

impl FoldModel {
    /// The block of a head; `None` until there is a model, and where it has no such head.
    pub fn of(snapshot: &Snapshot, head: usize) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let architecture = &model.architecture;
        if head >= architecture.heads() {
            return None;
        }
        let labels = HeadLabels::of(model);
        let (block, config, own) = architecture.head(head);
        let first = head - own;
        let heads = (first..first + config.attention.heads).map(|head| FoldHead {
            head,
            title: format!("Head {}", head - first + 1),
            is_on: model.is_enabled(head),
        });
        let first_heads = (0..architecture.heads()).filter(|head| architecture.head(*head).2 == 0);
        Some(Self {
            sentence: model.sentence.clone(),
            parameters: model.parameters.clone(),
            block,
            blocks: first_heads.map(|head| (labels.block(head), head)).collect(),
            queries: labels.queries(head).to_vec(),
            keys: labels.keys(head).to_vec(),
            heads: heads.collect(),
            value_columns: (0..config.attention.heads).map(|own| config.attention.value_columns(own)).collect(),
            has_output: config.attention.output,
            has_residual: config.residual,
            has_distances: config.attention.distances.is_some(),
            width: config.attention.width,
            is_of_source: labels.is_of_source(head),
            looks_at_itself: !config.attends_to_source(),
        })
    }

    fn head(&self, own: usize) -> &HeadActivations<f32> {
        &self.sentence.activations.blocks[self.block].heads[own]
    }

    pub fn has_output(&self) -> bool {
        self.has_output
    }

    /// # Panics
    /// If the block has no such head.
    pub fn entries(&self, sheet: Sheet) -> Entries<'_> {
        match sheet {
            Sheet::OutputWeights(own) => {
                let rows = self.value_columns[own].clone();
                let values = self.parameters.values_of(TensorName::OutputWeights.of_block(self.block));
                let values = values.get(rows.start * self.width..rows.end * self.width).unwrap_or_default();
                Entries { rows: values.len() / self.width.max(1), cols: self.width, values }
            }
            Sheet::Product(own) => (&self.sentence.arithmetic[self.heads[own].head].products).into(),
            _ => {
                let Entry { quantity, owner, .. } = self.entry(sheet, 0, 0);
                quantity.matrix(&self.sentence.activations, owner).expect("the forward pass keeps it").into()
            }
        }
    }

    /// `Q₁`; `Q` where the block has one head.
    pub fn symbol(&self, sheet: Sheet) -> String {
        let (quantity, own) = sheet.quantity();
        let letter = quantity.definition().letter().replace(' ', "");
        match own.filter(|_| self.heads.len() > 1) {
            Some(own) => format!("{letter}{}", subscript(own + 1)),
            None => letter,
        }
    }

    /// Name of a row or column: a word, or its number.
    fn label(&self, labels: Option<&[String]>, index: usize) -> String {
        labels.and_then(|labels| labels.get(index)).map_or_else(|| index.to_string(), Clone::clone)
    }

    fn row_labels(&self, sheet: Sheet) -> Option<&[String]> {
        match sheet {
            _ if sheet.counts(Index::Query) => Some(&self.queries),
            _ if sheet.counts(Index::Key) => Some(&self.keys),
            _ => None,
        }
    }

    /// Its rows are the queries.
    pub fn is_by_query(&self, sheet: Sheet) -> bool {
        sheet.counts(Index::Query) || (self.looks_at_itself && sheet.counts(Index::Key))
    }

    /// `Q₁[apple₁, 3] = 0.1234`
    pub fn say(&self, sheet: Sheet, row: usize, col: usize) -> String {
        let by_key = sheet.counts(Index::Query) && sheet.counts(Index::Key);
        let col_labels = by_key.then_some(&self.keys[..]);
        let value = self.entries(sheet).row(row)[col];
        let value = if value == f32::NEG_INFINITY { "−∞, masked".to_owned() } else { format!("{value:.4}") };
        format!(
            "{}[{}, {}] = {value}",
            self.symbol(sheet),
            self.label(self.row_labels(sheet), row),
            self.label(col_labels, col)
        )
    }

    /// The number as it can be asked where it comes from.
    pub fn entry(&self, sheet: Sheet, row: usize, col: usize) -> Entry {
        match sheet.quantity() {
            (Quantity::Parameter(name), own) => {
                let first = own.map_or(0, |own| self.value_columns[own].start);
                Entry::parameter(name.of_block(self.block), first + row, col)
            }
            (quantity, Some(own)) => quantity.of_head(self.heads[own].head, [row, col]),
            (quantity, None) => quantity.of_block(self.block, [row, col]),
        }
    }

    fn moves(&self) -> &Moves {
        &self.sentence.moves[self.block]
    }

    /// Where a query is before anything moves it.
    pub fn at_rest(&self, query: usize) -> Point {
        self.moves().rest(query)
    }

    /// Where the arrows of a query begin.
    pub fn from(&self, query: usize) -> Point {
        self.moves().start(query)
    }

    /// Where they end.
    pub fn to(&self, query: usize) -> Point {
        self.moves().end(query)
    }

    /// `Σ_j α_hij · V_hj W_O^h`: what a head adds to a query.
    pub fn arrow(&self, own: usize, query: usize) -> Point {
        self.moves().head(own, query)
    }

    pub fn weight(&self, own: usize, query: usize, key: usize) -> f32 {
        self.head(own).weights.get(query, key)
    }

    /// Says how a step changes the matrices.
    pub fn said(&self, step: Step) -> String {
        let (heads, tokens) = (self.heads.len(), self.queries.len());
        let (key_width, value_width) = (self.head(0).query.cols(), self.head(0).value.cols());
        let width = self.width;
        let each = if heads == 1 { "the one head".to_owned() } else { format!("each of the {heads} heads") };
        let columns = if heads == 1 {
            format!("One head keeps all {key_width} columns.")
        } else {
            format!("Fold: the {} columns of Q and K part into {heads} slices of {key_width}.", heads * key_width)
        };
        match step {
            Step::Embed => format!("X: {tokens} words, a row of {width} numbers for each."),
            Step::Project => format!("Q, K and V: {tokens} rows each, made from X for all heads at once."),
            Step::Score => format!("{columns} In {each}, every query meets every key: Q Kᵀ."),
            Step::Scale if self.has_distances => format!(
                "The products are scaled; {each} adds a number for the distance from query to key; what a query may not \
                 see is masked."
            ),
            Step::Scale => "The products are scaled; what a query may not see is masked.".to_owned(),
            Step::Softmax => "Each row becomes weights that sum to 1: a pattern of its own in every head.".to_owned(),
            Step::Mix => {
                format!("M = A V: {tokens} rows of {value_width} in {each}; the arrows show what it will add.")
            }
            Step::Output if self.has_output => {
                format!("Unfold: the mixes side by side are {} columns again, and W_O joins them.", heads * value_width)
            }
            Step::Output => format!("Unfold: the mixes side by side are {} columns again.", heads * value_width),
            Step::Contextual if self.has_residual => {
                "Y: each word's X and what its heads added, tip to tail.".to_owned()
            }
            Step::Contextual => "Y: what the heads added, tip to tail.".to_owned(),
        }
    }
}
