//! The parts of a recording that panels need, and how they are recorded: one table for the window and for exports.

use attune_core::kernel::Snapshot;
use attune_core::kernel::sentence_pass::recorded::{BlockParts, RecordedPass};
use attune_core::lesson::panels::{Content, PanelName};

/// A part that was not recorded, or that no recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Attention,
    States,
    /// Hidden states were recorded, but there are too few of them, or their widths differ.
    OtherStates,
    Scores,
    Terms,
    Logits,
    /// The model itself.
    Model,
}

impl Needs {
    /// Returns what a panel says in the place of its content: what is missing, and what records it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Attention => "This recording has no attention: record attentions.0, …",
            Self::States => "Points need hidden states: record them with output_hidden_states=True",
            Self::OtherStates => {
                "Points need two hidden states or more of each tower, of one width: record hidden_states.0, … of all layers"
            }
            Self::Scores => "The steps need queries and keys: record them with record.py (proof=True)",
            Self::Terms => "Lengths and arrows need values and output weights: record values.0, output_weight.0, …",
            Self::Logits => "Answers need logits: record logits",
            Self::Model => "A recording holds one pass, not the model",
        }
    }

    /// Returns whether a recording has it.
    fn is_met(self, pass: &RecordedPass) -> bool {
        let any = |has: fn(&BlockParts) -> bool| pass.blocks.iter().any(has);
        match self {
            Self::Attention => any(|parts| parts.attention),
            Self::States | Self::OtherStates => pass.has_states(),
            Self::Scores => any(|parts| parts.scores),
            Self::Terms => any(|parts| parts.terms),
            Self::Logits => pass.answers.logits.cols() > 0,
            Self::Model => false,
        }
    }
}

/// Returns the part of a recording that a panel shows.
const fn shown_by(panel: PanelName) -> Option<Needs> {
    match panel.content() {
        Content::Any => None,
        Content::States => Some(Needs::States),
        Content::Attention => Some(Needs::Attention),
        Content::Scores => Some(Needs::Scores),
        Content::Logits => Some(Needs::Logits),
        Content::Model => Some(Needs::Model),
    }
}

/// Returns what a panel lacks; `None` where it has all that it shows, and of everything that is no recording.
pub fn needs(panel: PanelName, snapshot: &Snapshot) -> Option<Needs> {
    let pass = snapshot.model.as_ref()?.recorded.as_deref()?;
    let needs = shown_by(panel).filter(|needs| !needs.is_met(pass))?;
    let text = &pass.place.model.recording.texts[pass.place.text];
    let has_some = !text.states.is_empty() || !text.source_states.is_empty();
    Some(if needs == Needs::States && has_some { Needs::OtherStates } else { needs })
}
