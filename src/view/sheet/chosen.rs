//! The choices of a viewer that decide what a sheet shows, and the changes of them that controls ask for.

use attune_core::kernel::evidence::words::ShownAnswer;
use attune_engine::numerics::evidence::corpus::TextMeasure;
use attune_engine::numerics::evidence::words::WordMeasure;

use crate::explain::walk::Focus;
use crate::view_model::attention::Reading;
use crate::view_model::heads::HeadMeasure;

/// The choices of a viewer, beside the snapshot; in an export, none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// How attention is read.
    pub reading: Reading,
    /// Pieces of words, and not whole words.
    pub pieces: bool,
    /// The one head that is shown; `None`: all.
    pub head: Option<usize>,
    /// A head of the layer that is walked through.
    pub walked: Option<usize>,
    /// The word and the head that are worked through; `None` to choose them.
    pub focus: Option<Focus>,
    /// Attention as lines, and not as maps.
    pub as_lines: bool,
    /// Heads by this measure, in this order.
    pub measure: HeadMeasure,
    pub order: HeadOrder,
    /// All heads over a file of texts, and not in the sentence.
    pub over_texts: bool,
    /// The measures over texts that are plotted, from left to right and upwards; `None`: the usual ones.
    pub plotted: [Option<TextMeasure>; 2],
    /// The measure of which word mattered that the sentence shows; `None`: weights.
    pub word_measure: Option<WordMeasure>,
    /// The answer on the stage about which questions are asked.
    pub answer: ShownAnswer,
}

/// The order of the heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadOrder {
    /// A row for each layer.
    #[default]
    Layers,
    LargestFirst,
    SmallestFirst,
}

/// A change of what the viewer has chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// The one head that is shown, here and in the sentence.
    Head(Option<usize>),
    Lines(bool),
    Measure(HeadMeasure),
    Order(HeadOrder),
    OverTexts(bool),
    /// A measure over texts, from left to right (0) or upwards (1).
    Plotted {
        axis: usize,
        measure: TextMeasure,
    },
    WordMeasure(Option<WordMeasure>),
}

impl Chosen {
    /// Follows a change of a choice that the panel has for itself.
    pub fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::Head(head) => self.head = head,
            Choice::Lines(as_lines) => self.as_lines = as_lines,
            Choice::Measure(measure) => self.measure = measure,
            Choice::Order(order) => self.order = order,
            Choice::OverTexts(over_texts) => self.over_texts = over_texts,
            Choice::Plotted { axis, measure } => self.plotted[axis] = Some(measure),
            Choice::WordMeasure(measure) => self.word_measure = measure,
        }
    }
}
