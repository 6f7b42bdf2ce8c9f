//! The ten measures of which word mattered for an answer, as far as they are computed.

use attune_core::kernel::command::Command;
use attune_core::kernel::evidence::words::{MEAN_ANSWER, ShownAnswer, Words};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_engine::numerics::evidence::words::WordMeasure;
use attune_engine::numerics::model::Pooling;

use super::asked::{AnswerChoice, AskedState};
use super::sentence_arcs::MeasuredWords;
use super::{quoted, sentence};

/// The measures of which word mattered in the sentence on the stage.
#[derive(Clone, Debug)]
pub struct WordMeasures {
    /// The words of the sentence.
    pub labels: Vec<String>,
    pub choice: AnswerChoice,
    pub state: AskedState<Words>,
}

impl WordMeasures {
    /// Returns the labels and the state of the measures; `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let state = match AskedState::of(model, model.words.as_ref()) {
            AskedState::Refused(why) => AskedState::Refused(why),
            _ if model.architecture.pooling == Pooling::Mean => AskedState::Refused(sentence(MEAN_ANSWER)),
            state => state,
        };
        Some(Self { labels: token_labels(&model.sentence.tokens), choice: AnswerChoice::of(model), state })
    }

    /// Returns the command of the button, which starts the measurement or, while it is running, stops it.
    pub fn command(&self, asked: ShownAnswer) -> Command {
        match self.state {
            AskedState::Running(_) => Command::EndWords,
            _ => Command::Words(asked),
        }
    }

    pub fn label(&self, place: usize) -> &str {
        self.labels.get(place).map_or("", String::as_str)
    }

    /// Returns a sentence on which word each measure ranks first.
    pub fn parting(&self, words: &Words) -> String {
        let firsts = words.firsts();
        if let [(word, _)] = firsts[..] {
            return format!("All measures put {} first.", quoted(self.label(word)));
        }
        let first = |(word, measures): &(usize, Vec<WordMeasure>)| {
            let names: Vec<String> = measures.iter().map(|measure| measure.title()).collect();
            format!("{} is first by {}", quoted(self.label(*word)), names.join(", "))
        };
        let all: Vec<String> = firsts.iter().map(first).collect();
        format!("The measures part: {}.", all.join("; "))
    }

    /// Returns a measure for the arcs of the sentence: each word's magnitude relative to the largest. `None` until the
    /// measure is computed.
    pub fn arcs(&self, measure: WordMeasure) -> Option<MeasuredWords> {
        let AskedState::Found(words) = &self.state else { return None };
        let (_, values) = words.table.measures.iter().find(|(of, _)| *of == measure)?;
        let most = values.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        let shares = values.iter().map(|value| (value.abs() / most) as f32).collect();
        Some(MeasuredWords { title: measure.title(), place: words.place, shares, values: values.clone() })
    }
}
