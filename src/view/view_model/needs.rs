//! The parts of a recording that panels and steps need, and how they are recorded: one table for the window, for
//! exports and for the command line.

use attune_core::kernel::Snapshot;
use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_core::lesson::panels::{Content, PanelName};
use attune_core::lesson::recorded::Towers;
use attune_engine::quantity::Quantity;
use attune_engine::recording::parts::Part;
use attune_engine::recording::{Attention, RecordedText};

/// A part that was not recorded, or that no recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Attention,
    States,
    /// Hidden states in sufficient number and of one width; some were recorded, but not enough.
    OtherStates,
    /// The hidden states between the two attentions of a decoder's layer.
    StatesWithin,
    /// A point directly after a layer. In a hybrid model, the next recorded point comes after further layers, which
    /// have no attention.
    NextPoint,
    Scores,
    Values,
    Terms,
    Logits,
    /// The model itself, which no recording has.
    Model,
}

impl Needs {
    /// The parts that each open further views, beginning with the ones that the others need.
    pub const PARTS: [Self; 5] = [Self::Attention, Self::States, Self::Scores, Self::Terms, Self::Logits];

    /// Returns a sentence on what is missing, and on how to record it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Attention => "This recording has no attention: record attentions.0, …",
            Self::States => "Points need hidden states: record them with output_hidden_states=True",
            Self::OtherStates => {
                "Points need two hidden states or more of each tower, of one width: record hidden_states.0, … of all layers"
            }
            Self::StatesWithin => "No hidden state is recorded between the two attentions of a decoder's layer",
            Self::NextPoint => {
                "Layers without attention follow, and the next point is behind them: the move is theirs, too"
            }
            Self::Scores => "The steps need queries and keys: record them with record.py (proof=True)",
            Self::Values => "A mix needs values: record values.0, …",
            Self::Terms => "Lengths and arrows need values and output weights: record values.0, output_weight.0, …",
            Self::Logits => "Answers need logits: record logits",
            Self::Model => "A recording holds one pass, not the model",
        }
    }

    /// Returns the views that a recording with the part opens, in words.
    pub const fn opens(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::States | Self::OtherStates | Self::StatesWithin | Self::NextPoint => "points through the layers",
            Self::Scores => "scores and their proof",
            Self::Values => "mixes",
            Self::Terms => "lengths and arrows",
            Self::Logits => "answers",
            Self::Model => "changes and other sentences",
        }
    }

    /// Returns whether a recorded text has the part.
    pub fn is_in(self, text: &RecordedText) -> bool {
        let towers = Towers::of(text);
        let any = |has: &dyn Fn(&Attention) -> bool| text.attentions.iter().any(has);
        let has_values = |attention: &Attention| attention.part(Part::Values).is_some();
        match self {
            Self::Attention => !text.attentions.is_empty(),
            Self::States | Self::OtherStates => towers.width().is_some(),
            Self::Scores => any(&Attention::has_scores),
            Self::Values => any(&has_values),
            Self::Terms => any(&|attention| has_values(attention) && attention.part(Part::OutputWeight).is_some()),
            Self::Logits => towers.logits().is_some(),
            Self::StatesWithin | Self::NextPoint | Self::Model => false,
        }
    }
}

/// Returns the part of a recording that a panel needs; `None` if it needs none.
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

/// Returns the part that a panel needs and the recording lacks; `None` if nothing is missing, or if the model is not a
/// recording.
pub fn needs(panel: PanelName, snapshot: &Snapshot) -> Option<Needs> {
    let text = text_of(snapshot.model.as_ref()?.recorded.as_deref()?);
    let needs = shown_by(panel).filter(|needs| !needs.is_in(text))?;
    Some(if needs == Needs::States { states_of(text) } else { needs })
}

/// Returns the part that is missing for a quantity of a block; `None` if the quantity is known.
pub fn missing(pass: &RecordedPass, quantity: Quantity, block: usize) -> Option<Needs> {
    use Quantity::*;
    if pass.has(quantity, block) {
        return None;
    }
    Some(match quantity {
        Weight => Needs::Attention,
        Query | Key | Product | Scale | DistanceBias | Score | Exponential | RowSum => Needs::Scores,
        Value | Mix => Needs::Values,
        Term | Arrow | TermLength | WordLength | HeadLength | HeadArrowLength => Needs::Terms,
        Logit | Probability => Needs::Logits,
        Input | Output | Final | Part | PartLength | MoveLength | Coordinate | Cosine | Distance | Static => {
            states_around(pass, quantity, block)
        }
        _ => Needs::Model,
    })
}

/// Returns the reason why the states before and after a block are not known.
fn states_around(pass: &RecordedPass, quantity: Quantity, block: usize) -> Needs {
    let (text, towers) = (text_of(pass), Towers::of(text_of(pass)));
    let blocks = towers.blocks();
    let Some((layer, attention)) = blocks.get(block).filter(|_| pass.has_states()) else { return states_of(text) };
    let states = towers.states(attention.is_some_and(|attention| towers.is_of_source(attention)));
    let [before, behind] = towers.around(block).map(|state| state.is_some());
    let (is_within, are_recorded) = match quantity {
        Quantity::Input => (!before, states.contains_key(layer)),
        Quantity::Output => (!behind, states.contains_key(&(layer + 1))),
        _ => (!before || !behind, states.contains_key(layer) && states.contains_key(&(layer + 1))),
    };
    match (is_within, are_recorded) {
        (true, _) => Needs::StatesWithin,
        (false, true) => Needs::NextPoint,
        (false, false) => Needs::OtherStates,
    }
}

fn text_of(pass: &RecordedPass) -> &RecordedText {
    &pass.place.model.recording.texts[pass.place.text]
}

/// Returns [`Needs::OtherStates`] if some hidden states were recorded, and [`Needs::States`] if none were.
fn states_of(text: &RecordedText) -> Needs {
    let has_some = !text.states.is_empty() || !text.source_states.is_empty();
    if has_some { Needs::OtherStates } else { Needs::States }
}
