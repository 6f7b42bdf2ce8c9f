//! Sinks of the sentence: words at which most heads look, why that need not mean much, and the weights without them.

use attune_core::kernel::data::sinks::SinkNumbers;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_engine::numerics::sinks::LEAST_WEIGHT;
use serde::{Deserialize, Serialize};

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
    /// Its place among the pieces; where words are shown, the word's: among the words, or that of its first piece.
    pub position: usize,
    pub label: String,
    pub numbers: SinkNumbers,
}

impl Sink {
    /// A description of the sink, and whether it means much, in words.
    pub fn about(&self) -> String {
        let Self { label, numbers: SinkNumbers { mean, heads: (some, all), of_weights, of_added, .. }, .. } = self;
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

/// The sinks of a sentence, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sinks {
    pub sinks: Vec<Sink>,
}

impl Sinks {
    /// None of a lesson's own small model: its few heads look where the lesson trained them to look.
    pub fn of(model: &ModelSnapshot, labels: &HeadLabels) -> Self {
        if !model.made_of.static_embedding.is_pretrained() {
            return Self::default();
        }
        let sink = |numbers: &SinkNumbers| Sink {
            position: numbers.position,
            label: labels.tokens[numbers.position].clone(),
            numbers: *numbers,
        };
        Self { sinks: model.sentence.sinks.iter().map(sink).collect() }
    }

    /// The same between words of several pieces; `word` is the place of a piece's word.
    #[must_use]
    pub fn of_words(mut self, word: impl Fn(usize) -> usize) -> Self {
        self.sinks.iter_mut().for_each(|sink| sink.position = word(sink.position));
        self.sinks.dedup_by_key(|sink| sink.position);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }

    /// The sink at this place of the sentence.
    pub fn at(&self, position: usize) -> Option<&Sink> {
        self.sinks.iter().find(|sink| sink.position == position)
    }
}
