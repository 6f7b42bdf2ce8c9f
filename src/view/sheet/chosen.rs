//! The choices of a viewer that decide what a sheet shows, and the changes of them that controls ask for.

use attune_core::kernel::evidence::words::ShownAnswer;
use attune_engine::numerics::evidence::corpus::TextMeasure;
use attune_engine::numerics::evidence::words::WordMeasure;

use crate::explain::walk::Focus;
use crate::view_model::attention::Reading;
use crate::view_model::heads::HeadMeasure;

/// The choices of a viewer, which are not part of the snapshot. Exports use the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// The reading of attention.
    pub reading: Reading,
    /// Whether pieces of words are shown instead of whole words.
    pub pieces: bool,
    /// The only head that is shown; `None` if all are.
    pub head: Option<usize>,
    /// A head of the layer through which a walk goes.
    pub walked: Option<usize>,
    /// The word and the head that *Step* works through; `None` for those that are chosen by default.
    pub focus: Option<Focus>,
    /// Whether attention is shown as lines instead of maps.
    pub as_lines: bool,
    /// The measure by which heads are marked and ordered; `None` for the usual one of the model.
    pub measure: Option<HeadMeasure>,
    pub order: HeadOrder,
    /// Whether *All heads* measures a file of texts instead of the sentence.
    pub over_texts: bool,
    /// The measures over texts on the horizontal and the vertical axis of the plot; `None` for the usual one.
    pub plotted: [Option<TextMeasure>; 2],
    /// The measure of how much each word mattered, shown by the arcs of the sentence; `None` for attention weights.
    pub word_measure: Option<WordMeasure>,
    /// The answer for which the measures of each word are computed.
    pub answer: ShownAnswer,
}

/// The order of the heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadOrder {
    /// The order of the model, with a row for each layer.
    #[default]
    Layers,
    LargestFirst,
    SmallestFirst,
}

/// A change of what the viewer has chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// The only head that is shown, in the panel and in the sentence; `None` for all heads.
    Head(Option<usize>),
    Lines(bool),
    Measure(HeadMeasure),
    Order(HeadOrder),
    OverTexts(bool),
    /// A measure over texts for the horizontal axis of the plot (0) or the vertical one (1).
    Plotted {
        axis: usize,
        measure: TextMeasure,
    },
    WordMeasure(Option<WordMeasure>),
}

impl Chosen {
    /// Changes a choice.
    pub fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::Head(head) => self.head = head,
            Choice::Lines(as_lines) => self.as_lines = as_lines,
            Choice::Measure(measure) => self.measure = Some(measure),
            Choice::Order(order) => self.order = order,
            Choice::OverTexts(over_texts) => self.over_texts = over_texts,
            Choice::Plotted { axis, measure } => self.plotted[axis] = Some(measure),
            Choice::WordMeasure(measure) => self.word_measure = measure,
        }
    }
}
