//! What provenance is told from, and the number of every entry.

use super::worked::{Operand, Worked};
use super::{Entry, Place, Provenance};
use crate::kernel::snapshot::{ModelSnapshot, Neighbours, SentenceSnapshot, Snapshot, StaticSpace};
use crate::numerics::Matrix;
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::attention::HeadMode;
use crate::numerics::block::BlockConfig;
use crate::numerics::model::activations::{BlockActivations, HeadActivations};
use crate::numerics::params::{TensorId, TensorName};
use crate::numerics::projection::AXES;
use crate::view_model::head_labels::HeadLabels;

pub struct Teller<'a> {
    pub snapshot: &'a Snapshot,
    pub space: &'a StaticSpace,
    pub model: &'a ModelSnapshot,
    pub sentence: &'a SentenceSnapshot,
    pub labels: HeadLabels<'a>,
}

/// A head and what the snapshot has of it.
pub struct HeadParts<'a> {
    pub block: usize,
    pub own: usize,
    pub config: &'a BlockConfig,
    pub activations: &'a HeadActivations<f32>,
    pub arithmetic: &'a Arithmetic<f32>,
    pub mode: &'a HeadMode<f32>,
}

impl<'a> Teller<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        Some(Self { snapshot, space, model, sentence: &model.sentence, labels: HeadLabels::of(model) })
    }

    /// Without the way back and what stands beside.
    pub fn tell(&self, entry: Entry) -> Option<Provenance> {
        let value = self.value(entry)?;
        let (symbols, worked, notes) = self.work(entry)?;
        let (name, place, meaning) = (self.name(entry), self.place(entry), self.meaning(entry));
        let (way, beside) = (Vec::new(), Vec::new());
        Some(Provenance { entry, name, meaning, place, value, symbols, worked, notes, way, beside })
    }

    fn work(&self, entry: Entry) -> Option<(String, Worked, Vec<String>)> {
        use Entry::*;
        match entry {
            Static { .. }
            | Position { .. }
            | Parameter { .. }
            | Coordinate { .. }
            | Cosine { .. }
            | Distance { .. }
            | Logit { .. }
            | Probability { .. } => self.reading(entry),
            _ => self.forward(entry),
        }
    }

    /// The number itself, if there is such an entry.
    pub fn value(&self, entry: Entry) -> Option<f32> {
        use Entry::*;
        let head = |head| self.head(head);
        Some(match entry {
            Static { word, dim } => at(&self.space.vectors, word, dim)?,
            Position { place, dim } => at(self.model.fixed_positions.as_ref()?, place, dim)?,
            Parameter { tensor, row, col } => {
                let spec = self.model.parameters.spec(tensor).filter(|spec| row < spec.rows && col < spec.cols)?;
                self.model.parameters.values_of(tensor)[row * spec.cols + col]
            }
            Input { block, token, dim } => at(&self.block(block)?.input, token, dim)?,
            Normed { block, token, dim } => at(self.block(block)?.normed.as_ref()?, token, dim)?,
            Query { head: h, token, dim } => at(&head(h)?.activations.query, token, dim)?,
            Key { head: h, token, dim } => at(&head(h)?.activations.key, token, dim)?,
            Value { head: h, token, dim } => at(&head(h)?.activations.value, token, dim)?,
            Product { head: h, query, key } => at(&head(h)?.arithmetic.products, query, key)?,
            Scale { head: h } => head(h)?.arithmetic.scale,
            DistanceBias { head: h, query, key } => at(head(h)?.arithmetic.distances.as_ref()?, query, key)?,
            Score { head: h, query, key } => at(&head(h)?.activations.scores, query, key)?,
            Exponential { head: h, query, key } => at(&head(h)?.arithmetic.exponentials, query, key)?,
            RowSum { head: h, query } => *head(h)?.arithmetic.sums.get(query)?,
            Weight { head: h, query, key } => at(&head(h)?.activations.weights, query, key)?,
            Mix { head: h, token, dim } => at(&head(h)?.activations.mix, token, dim)?,
            Gain { head: h } => head(h)?.mode.gain(),
            Term { head: h, query, key, dim } => {
                let parts = head(h).filter(|parts| parts.has(query, key))?;
                *self.sentence.contributions[parts.block].term(parts.own, query, key).get(dim)?
            }
            TermLength { head: h, query, key } => {
                let parts = head(h).filter(|parts| parts.has(query, key))?;
                self.sentence.moves.get(parts.block)?.term_length(parts.own, query, key)
            }
            WordLength { block, query, key } => at(&self.sentence.moves.get(block)?.word_lengths, query, key)?,
            HeadLength { head: h, query } => {
                let parts = head(h)?;
                *self.sentence.contributions[parts.block].head_lengths.get(parts.own)?.get(query)?
            }
            BiasLength { block } => self.sentence.moves.get(block)?.bias_length,
            MoveLength { block, query } => *self.sentence.moves.get(block)?.lengths.get(query)?,
            Summed { block, token, dim } => at(&self.block(block)?.summed, token, dim)?,
            Output { block, token, dim } => at(&self.block(block)?.output, token, dim)?,
            Coordinate { of, axis } if axis < AXES => match of {
                Place::Word(word) => at(&self.space.points, word, axis)?,
                Place::Static(token) => at(&self.sentence.start, token, axis)?,
                Place::Contextual(token) => at(&self.sentence.end, token, axis)?,
            },
            Coordinate { .. } => return None,
            Cosine { of, word } => self.neighbour(of, word)?.0,
            Distance { of, word } => self.neighbour(of, word)?.1,
            Logit { row, class } => at(&self.sentence.answers.logits, row, class)?,
            Probability { row, class } => {
                let best = self.sentence.answers.likeliest.get(row)?;
                best.iter().find(|answer| answer.class == class)?.probability
            }
        })
    }

    /// Cosine and distance, of a word that is on one of the two lists.
    fn neighbour(&self, of: Place, word: usize) -> Option<(f32, f32)> {
        let Neighbours { by_cosine, by_distance } = match of {
            Place::Word(_) => return None,
            Place::Static(token) => self.sentence.static_neighbours.get(token)?,
            Place::Contextual(token) => self.sentence.contextual_neighbours.get(token)?,
        };
        let found = by_cosine.iter().chain(by_distance).find(|near| near.word == word)?;
        Some((found.cosine, found.distance))
    }

    pub fn block(&self, block: usize) -> Option<&'a BlockActivations<f32>> {
        self.sentence.activations.blocks.get(block)
    }

    pub fn config(&self, block: usize) -> Option<&'a BlockConfig> {
        self.model.architecture.numbered_blocks().nth(block).map(|(_, config)| config)
    }

    pub fn head(&self, head: usize) -> Option<HeadParts<'a>> {
        let model = self.model;
        if head >= model.architecture.heads() {
            return None;
        }
        let (block, config, own) = model.architecture.head(head);
        Some(HeadParts {
            block,
            own,
            config,
            activations: self.block(block)?.heads.get(own)?,
            arithmetic: self.sentence.arithmetic.get(head)?,
            mode: model.interventions.heads.get(head).unwrap_or(&HeadMode::Live),
        })
    }

    /// The first head of a block, counted over all.
    pub fn first_head(&self, block: usize) -> usize {
        self.model.architecture.numbered_blocks().take(block).map(|(_, config)| config.attention.heads).sum()
    }

    pub fn is_of_source(&self, block: usize) -> bool {
        block < self.model.architecture.source_blocks.len()
    }

    /// What goes in comes from the static vectors, not from a block below.
    pub fn is_first(&self, block: usize) -> bool {
        block == 0 || block == self.model.architecture.source_blocks.len()
    }

    pub fn last_block(&self) -> usize {
        self.sentence.activations.blocks.len().saturating_sub(1)
    }

    /// The vocabulary's row of a token of a block's sentence; `None` where there is none.
    pub fn word(&self, block: usize, token: usize) -> Option<usize> {
        let tokens = if self.is_of_source(block) { self.sentence.source.as_deref()? } else { &self.sentence.tokens };
        tokens.get(token)?.word
    }

    /// `E[word]`, frozen or trained.
    pub fn static_entry(&self, word: usize, dim: usize) -> Entry {
        let tensor = TensorId::from(TensorName::Embedding);
        match self.model.parameters.spec(tensor) {
            Some(_) => Entry::Parameter { tensor, row: word, col: dim },
            None => Entry::Static { word, dim },
        }
    }

    /// `None` if there is no such entry.
    pub fn operand(&self, entry: Entry) -> Option<Operand> {
        Some(Operand { label: self.short(entry), value: self.value(entry)?, entry: Some(entry) })
    }

    /// Each of so many; `None` if one is missing.
    pub fn operands(&self, count: usize, entry: impl Fn(usize) -> Entry) -> Option<Vec<Operand>> {
        (0..count).map(|i| self.operand(entry(i))).collect()
    }
}

impl HeadParts<'_> {
    pub fn has(&self, query: usize, key: usize) -> bool {
        query < self.activations.weights.rows() && key < self.activations.weights.cols()
    }
}

pub fn constant(label: &str, value: f32) -> Operand {
    Operand { label: label.to_owned(), value, entry: None }
}

fn at(matrix: &Matrix<f32>, row: usize, col: usize) -> Option<f32> {
    (row < matrix.rows() && col < matrix.cols()).then(|| matrix.get(row, col))
}
