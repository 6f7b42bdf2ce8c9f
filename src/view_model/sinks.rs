//! Sinks of the sentence: words at which most heads look, why that need not mean much, and the weights without them.

use serde::{Deserialize, Serialize};

use crate::kernel::snapshot::ModelSnapshot;
use crate::numerics::sinks::{LEAST_WEIGHT, key_weights};

use super::head_labels::HeadLabels;

/// How attention is read: as its weights or as what they add, and with sinks or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// The length of what a key adds, `‖α V W_O‖`, and not its weight `α`.
    pub is_added: bool,
    /// Without the sinks; the weights of the others then sum to 1.
    pub hides_sinks: bool,
}

impl Reading {
    pub fn turn_added(&mut self) {
        self.is_added = !self.is_added;
    }

    /// Hides the sinks, if there are any, or shows them again.
    pub fn turn_sinks(&mut self, has_sinks: bool) {
        self.hides_sinks = !self.hides_sinks && has_sinks;
    }

    /// The view other than the weights as they are, in words: said wherever that is so.
    pub fn said(self) -> Option<&'static str> {
        match (self.is_added, self.hides_sinks) {
            (false, false) => None,
            (true, false) => Some("Shown: the length of what is added, ‖α V W_O‖"),
            (false, true) => Some("Shown: weights without the sinks, rows made to sum to 1 again"),
            (true, true) => Some("Shown: the length of what is added, ‖α V W_O‖, without the sinks"),
        }
    }
}

/// A word that gets much of the attention, averaged over all heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    /// Its place in the sentence.
    pub position: usize,
    pub label: String,
    /// Mean of its weight over all heads and the words that see it.
    pub mean: f32,
    /// Heads in which that mean alone is above the threshold, and all.
    pub heads: (usize, usize),
    /// Its share of all weights, and of the lengths of all that is added.
    pub of_weights: f32,
    pub of_added: f32,
}

impl Sink {
    /// A description of the sink, and whether it means much, in words.
    pub fn about(&self) -> String {
        let Self { label, mean, heads: (some, all), of_weights, of_added, .. } = self;
        let percent = |share: f32| format!("{:.0} %", share * 100.0);
        let head = format!(
            "{label} is a sink: the words that can see it give it {} of their attention on average, and more than {} in \
             {some} of {all} heads.",
            percent(*mean),
            percent(LEAST_WEIGHT as f32)
        );
        // Less by more than rounding would say.
        const SHORTER: f32 = 0.9;
        let meaning = if *of_added < SHORTER * of_weights {
            format!(
                " It has {} of all weights, but makes only {} of the lengths that are added: its value vectors are \
                short. The \
                 usual explanation is that a head with nothing to look for still has to spend its weights, which sum to 1, \
                 and spends them where they add little.",
                percent(*of_weights),
                percent(*of_added)
            )
        } else {
            format!(
                " Its value vectors are not short here: it has {} of all weights, and makes {} of the lengths that \
                are added.",
                percent(*of_weights),
                percent(*of_added)
            )
        };
        head + meaning.as_str()
    }
}

/// The sinks of a sentence, and what is left without them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sinks {
    pub sinks: Vec<Sink>,
    /// By head and query, the sum of the weights of all but the sinks; empty of a head that looks elsewhere, and where
    /// there is no sink.
    rests: Vec<Vec<f32>>,
}

impl Sinks {
    /// None of a lesson's own small model: its few heads look where the lesson trained them to look.
    pub fn of(model: &ModelSnapshot) -> Self {
        if !model.made_of.static_embedding.is_pretrained() {
            return Self::default();
        }
        let (labels, sentence) = (HeadLabels::of(model), &model.sentence);
        let heads: Vec<_> = sentence.activations.heads().enumerate().collect();
        let of_sentence = |head: usize| !labels.keys_are_source(head);
        let own = || heads.iter().filter(|(head, _)| of_sentence(*head));
        let keys = labels.tokens.len();
        let weights = key_weights(own().map(|(_, head)| (&head.weights, &head.scores)), keys);
        let positions: Vec<usize> = (0..keys).filter(|key| weights[*key].is_sink()).collect();
        if positions.is_empty() {
            return Self::default();
        }
        let pairs = || own().flat_map(|(head, it)| (0..it.weights.rows()).map(move |query| (*head, query)));
        let all_weights = pairs().count() as f32;
        let length = |head: usize, query: usize, key: usize| {
            let (block, _, own) = model.architecture.head(head);
            sentence.moves[block].term_length(own, query, key)
        };
        let added = |key: usize| pairs().map(|(head, query)| length(head, query, key)).sum::<f32>();
        let all_added: f32 = (0..keys).map(added).sum();
        let sink = |position: usize| Sink {
            position,
            label: labels.tokens[position].clone(),
            mean: weights[position].mean as f32,
            heads: (weights[position].heads, own().count()),
            of_weights: pairs().map(|(head, query)| heads[head].1.weights.get(query, position)).sum::<f32>()
                / all_weights,
            of_added: if all_added > 0.0 { added(position) / all_added } else { 0.0 },
        };
        let rest = |head: usize, query: usize| {
            let row = heads[head].1.weights.row(query).iter().enumerate();
            row.filter(|(key, _)| !positions.contains(key)).map(|(_, weight)| weight).sum()
        };
        let rests = |head: usize| {
            let rows = if of_sentence(head) { heads[head].1.weights.rows() } else { 0 };
            (0..rows).map(|query| rest(head, query)).collect()
        };
        Self {
            sinks: positions.iter().map(|position| sink(*position)).collect(),
            rests: (0..heads.len()).map(rests).collect(),
        }
    }

    /// The same between words of several pieces: `word` is the place of a piece's word, and `weights` are a head's
    /// between words.
    pub fn of_words<'a>(&self, word: impl Fn(usize) -> usize, weights: impl Fn(usize) -> &'a [Vec<f32>]) -> Self {
        let mut sinks: Vec<Sink> = Vec::new();
        for sink in &self.sinks {
            let position = word(sink.position);
            if sinks.iter().all(|other| other.position != position) {
                sinks.push(Sink { position, ..sink.clone() });
            }
        }
        let is_sink = |key: usize| sinks.iter().any(|sink| sink.position == key);
        let rest = |row: &Vec<f32>| {
            row.iter().enumerate().filter(|(key, _)| !is_sink(*key)).map(|(_, weight)| weight).sum::<f32>()
        };
        let of_head = |(head, rows): (usize, &Vec<f32>)| {
            if rows.is_empty() { Vec::new() } else { weights(head).iter().map(rest).collect() }
        };
        Self { rests: self.rests.iter().enumerate().map(of_head).collect(), sinks }
    }

    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }

    /// The sink at this place of the sentence.
    pub fn at(&self, position: usize) -> Option<&Sink> {
        self.sinks.iter().find(|sink| sink.position == position)
    }

    /// Whether this key of a head is a sink, hidden where they are hidden.
    pub fn is_of(&self, head: usize, key: usize) -> bool {
        self.rests.get(head).is_some_and(|rows| !rows.is_empty()) && self.at(key).is_some()
    }

    /// The reading of a pair: its weight or the length of what it adds; `None` of a hidden sink, and where nothing is left
    /// of a row without them.
    pub fn shown(&self, reading: Reading, pair: (usize, usize, usize), weight: f32, length: f32) -> Option<f32> {
        let (head, query, key) = pair;
        let value = if reading.is_added { length } else { weight };
        if !reading.hides_sinks {
            return Some(value);
        }
        if self.is_of(head, key) {
            return None;
        }
        match self.rests.get(head).and_then(|rows| rows.get(query)) {
            Some(rest) if *rest <= 0.0 => None,
            Some(rest) if !reading.is_added => Some(value / rest),
            _ => Some(value),
        }
    }
}
