//! Numbers of a head's map: its weights, the lengths of what it adds, and what is left without the sinks. They are read from
//! the snapshot when they are asked for, between pieces as they are there, between words folded.
//!
//! In attention between words, a word that looks at a split word looks at all of its pieces, and a split word looks as its
//! pieces do in the mean (Clark et al. 2019, arXiv 1906.04341, section 4.1). Rows still sum to 1, and words of one piece keep
//! their numbers.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::vectors::{add_scaled, norm};

use super::head_labels::HeadLabels;
use super::sinks::{Reading, Sinks};
use super::words::Words;

/// Numbers of one head, by the places of queries and keys: words where words are shown, pieces elsewhere.
#[derive(Clone, Debug)]
pub struct HeadCells {
    sentence: Arc<SentenceSnapshot>,
    block: usize,
    /// Its place in the block.
    own: usize,
    /// The words, where some have several pieces and words are shown.
    words: Option<Arc<Words>>,
    /// Keys that are sinks; empty of a head that looks at another sentence.
    sinks: Arc<[usize]>,
    /// By query, the sum of the weights of all but the sinks.
    rests: OnceLock<Vec<f32>>,
    /// Between words, the lengths of what is added.
    lengths: OnceLock<Matrix<f32>>,
}

impl HeadCells {
    /// Those of all heads, counted over all blocks.
    pub fn all(model: &ModelSnapshot, labels: &HeadLabels, sinks: &Sinks, words: Option<&Arc<Words>>) -> Vec<Self> {
        let none: Arc<[usize]> = Arc::from([]);
        let mut positions: Vec<usize> = sinks.sinks.iter().map(|sink| sink.position).collect();
        if let Some(words) = words {
            positions.iter_mut().for_each(|position| *position = words.place(*position));
            positions.dedup();
        }
        let positions: Arc<[usize]> = positions.into();
        let blocks = model.sentence.activations.blocks.iter().enumerate();
        let heads = blocks.flat_map(|(block, activations)| (0..activations.heads.len()).map(move |own| (block, own)));
        let cells = |(head, (block, own)): (usize, (usize, usize))| Self {
            sentence: model.sentence.clone(),
            block,
            own,
            words: words.cloned(),
            sinks: if labels.keys_are_source(head) { none.clone() } else { positions.clone() },
            rests: OnceLock::new(),
            lengths: OnceLock::new(),
        };
        heads.enumerate().map(cells).collect()
    }

    fn activations(&self) -> &HeadActivations<f32> {
        &self.sentence.activations.blocks[self.block].heads[self.own]
    }

    /// How many queries there are.
    pub fn rows(&self) -> usize {
        self.words.as_ref().map_or_else(|| self.activations().weights.rows(), |words| words.pieces.len())
    }

    /// How many keys there are.
    pub fn cols(&self) -> usize {
        self.words.as_ref().map_or_else(|| self.activations().weights.cols(), |words| words.pieces.len())
    }

    /// `α` of a query and a key; each row sums to 1.
    ///
    /// # Panics
    /// If there is no such query or key, here and below.
    pub fn weight(&self, query: usize, key: usize) -> f32 {
        let weights = &self.activations().weights;
        let Some(words) = &self.words else { return weights.get(query, key) };
        let (queries, keys) = (&words.pieces[query], &words.pieces[key]);
        let sum: f32 = queries.clone().flat_map(|query| &weights.row(query)[keys.clone()]).sum();
        if queries.len() == 1 { sum } else { sum / queries.len() as f32 }
    }

    /// The weights of a query.
    pub fn weights(&self, query: usize) -> impl Iterator<Item = f32> {
        (0..self.cols()).map(move |key| self.weight(query, key))
    }

    /// `‖α v W_O‖` of a query and a key (Kobayashi et al. 2020, arXiv 2004.10102), at the block's output; of words, the length
    /// of what all pieces add together.
    pub fn length(&self, query: usize, key: usize) -> f32 {
        match &self.words {
            None => self.sentence.moves[self.block].term_length(self.own, query, key),
            Some(words) => self.lengths.get_or_init(|| self.lengths_of(words)).get(query, key),
        }
    }

    fn lengths_of(&self, words: &Words) -> Matrix<f32> {
        let Self { block, own, .. } = *self;
        let (contributions, moves) = (&self.sentence.contributions[block], &self.sentence.moves[block]);
        let activations = &self.sentence.activations.blocks[block];
        let carried: Vec<Vec<f32>> =
            (0..contributions.keys()).map(|key| contributions.carried_term(own, key)).collect();
        let mut sum = vec![0.0; activations.output.cols()];
        let mut length = |queries: &Range<usize>, keys: &Range<usize>| {
            if queries.len() == 1 && keys.len() == 1 {
                return moves.term_length(own, queries.start, keys.start);
            }
            sum.fill(0.0);
            for key in keys.clone() {
                let weight =
                    |query| contributions.weight(activations, own, query, key) * contributions.shrinking(query);
                let mean = queries.clone().map(weight).sum::<f32>() / queries.len() as f32;
                add_scaled(&mut sum, mean, &carried[key]);
            }
            norm(&sum)
        };
        let count = words.pieces.len();
        Matrix::from_fn(count, count, |query, key| length(&words.pieces[query], &words.pieces[key]))
    }

    /// `‖Σ_j α_ij v_j W_O‖`: the length of what the head adds to a piece, also where words are shown.
    pub fn head_length(&self, query: usize) -> f32 {
        self.sentence.contributions[self.block].head_lengths[self.own][query]
    }

    /// A mask hides this key from this query.
    pub fn is_hidden(&self, query: usize, key: usize) -> bool {
        let scores = &self.activations().scores;
        let is_hidden = |query, key| scores.get(query, key) == f32::NEG_INFINITY;
        match &self.words {
            None => is_hidden(query, key),
            Some(words) => {
                words.pieces[query].clone().all(|query| words.pieces[key].clone().all(|key| is_hidden(query, key)))
            }
        }
    }

    /// Whether no piece looks at another.
    pub fn is_diagonal(&self) -> bool {
        let weights = &self.activations().weights;
        let row = |query: usize| weights.row(query).iter().enumerate().all(|(key, w)| key == query || *w == 0.0);
        (0..weights.rows()).all(row)
    }

    /// Whether this key is a sink, hidden where they are hidden.
    pub fn is_sink(&self, key: usize) -> bool {
        self.sinks.contains(&key)
    }

    /// The reading of a pair: its weight or the length of what it adds; `None` of a hidden sink, and where nothing is left
    /// of a row without them.
    pub fn shown(&self, reading: Reading, query: usize, key: usize) -> Option<f32> {
        let value = || if reading.is_added { self.length(query, key) } else { self.weight(query, key) };
        if !reading.hides_sinks || self.sinks.is_empty() {
            return Some(value());
        }
        if self.is_sink(key) {
            return None;
        }
        match self.rests.get_or_init(|| (0..self.rows()).map(|query| self.rest(query)).collect())[query] {
            rest if rest <= 0.0 => None,
            rest if !reading.is_added => Some(value() / rest),
            _ => Some(value()),
        }
    }

    fn rest(&self, query: usize) -> f32 {
        self.weights(query).enumerate().filter(|(key, _)| !self.is_sink(*key)).map(|(_, weight)| weight).sum()
    }
}
