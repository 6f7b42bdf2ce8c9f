//! Undo and redo: earlier and later states of a kernel, within bounded memory. Successive changes by one control are a
//! stroke, which undoes as one change.

use std::collections::VecDeque;
use std::mem::swap;

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorId;

use crate::kernel::command::{
    Command, InterventionCommand, SenseCommand, SentenceCommand, TrainingCommand, WeightCommand,
};
use crate::kernel::model::cache::Cache;
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::notebook::{CellCommand, CellId, Document, Notebook, NotebookCommand};

/// The control that a command moves, if its successive moves undo as one.
#[derive(Clone, Debug, PartialEq)]
pub enum Stroke {
    /// The slider of an entry, given by its tensor, row and column.
    Entry(TensorId, usize, usize),
    /// A stroke of the brush, by its number.
    Brush(u64),
    /// The gain of a head.
    Gain(usize),
    Temperature,
    LearningRate,
    /// The choice of the past step that is shown.
    Look,
    Sentence,
    SecondSentence,
    /// The word whose senses are compared.
    SenseWord,
    SenseText(usize),
    CellText(CellId),
    CellSlider(CellId),
    /// The settings of a retraining, by the names of those that change.
    Recipe(Vec<String>),
}

impl Stroke {
    /// Returns the stroke to which a command belongs, given the present model, or `None` if the command is undone on
    /// its own.
    pub fn of(command: &Command, model: Option<&LessonModel>) -> Option<Self> {
        match command {
            Command::Weights(WeightCommand::Set { tensor, row, col, .. }) => Some(Self::Entry(*tensor, *row, *col)),
            Command::Weights(WeightCommand::Paint { stroke, .. }) => Some(Self::Brush(*stroke)),
            Command::Interventions(InterventionCommand::SetHead { head, mode: HeadMode::Gain(_) }) => {
                Some(Self::Gain(*head))
            }
            Command::Interventions(InterventionCommand::SetTemperature(_)) => Some(Self::Temperature),
            Command::Sentence(SentenceCommand::Type(_)) => Some(Self::Sentence),
            // Starting or ending the comparison is undone on its own.
            Command::Sentence(SentenceCommand::SetSecond(Some(_))) => {
                model?.pass.second().map(|_| Self::SecondSentence)
            }
            Command::Senses(SenseCommand::SetWord(_)) => Some(Self::SenseWord),
            Command::Senses(SenseCommand::SetText { index, .. }) => Some(Self::SenseText(*index)),
            Command::Training(TrainingCommand::SetLearningRate(_)) => Some(Self::LearningRate),
            Command::Training(TrainingCommand::Scrub(_) | TrainingCommand::ShowLatest) => Some(Self::Look),
            Command::Notebook(NotebookCommand::Cell(id, CellCommand::SetText(_))) => Some(Self::CellText(id.clone())),
            Command::Notebook(NotebookCommand::Cell(id, CellCommand::Slide(_))) => Some(Self::CellSlider(id.clone())),
            // The return to the lesson's own settings is undone on its own.
            Command::Retrain(recipe) if !recipe.is_default() => {
                Some(Self::Recipe(recipe.changes_from(&model?.origin.recipe)))
            }
            _ => None,
        }
    }

    /// Returns whether a move belongs to the stroke `last`.
    fn continues(&self, last: &Self) -> bool {
        match (self, last) {
            // If the slider was moved back to the present model's setting, moving it on continues the stroke.
            (Self::Recipe(changes), Self::Recipe(_)) if changes.is_empty() => true,
            _ => self == last,
        }
    }
}

/// A state that undo restores. It shares all equal parts with the present state.
pub enum Undoable {
    Model(UndoPart),
    /// The model that was replaced by one with another recipe.
    Retrained(Box<LessonModel>),
    Notebook(Document),
}

impl Undoable {
    /// Returns the size of the large parts, in bytes. Parts that are shared with other states are counted too. The
    /// small parts are not; they are bounded by the number of states.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Model(part) => part.bytes(),
            Self::Retrained(model) => model.bytes(),
            Self::Notebook(_) => 0,
        }
    }

    /// Restores the state and returns the one that it replaces. A state of a model is returned as it is if there is no
    /// model.
    pub fn exchange(self, model: Option<&mut LessonModel>, notebook: &mut Notebook) -> Self {
        match (self, model) {
            (Self::Model(part), Some(model)) => Self::Model(model.swap(part)),
            (Self::Retrained(mut other), Some(model)) => {
                model.training.pause();
                swap(model, &mut *other);
                // A model in the history is kept without its caches to save memory.
                other.cache = Cache::default();
                Self::Retrained(other)
            }
            (Self::Notebook(document), _) => Self::Notebook(notebook.replace(document)),
            // A lesson without a model has no changes of a model.
            (state, None) => state,
        }
    }
}

/// States before and after the present one, each with the label of the change that undo or redo reverses or repeats.
#[derive(Clone, Debug)]
pub struct History<T> {
    past: VecDeque<Entry<T>>,
    future: VecDeque<Entry<T>>,
    /// The stroke of the last change; a command outside the stroke ends it.
    stroke: Option<Stroke>,
    /// Memory of all entries, in bytes.
    bytes: usize,
    states_max: usize,
    bytes_max: usize,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    label: String,
    state: T,
    bytes: usize,
}

/// A function that restores a state and returns the replaced one, with its size in bytes.
pub type Swap<'s, T> = &'s mut dyn FnMut(T) -> (T, usize);

impl<T> History<T> {
    /// Creates a history with at most the given number of states and bytes in total. The last state is kept whatever
    /// its size.
    pub fn new(states_max: usize, bytes_max: usize) -> Self {
        Self { past: VecDeque::new(), future: VecDeque::new(), stroke: None, bytes: 0, states_max, bytes_max }
    }

    /// Ends the stroke of the last change, unless the next change belongs to it.
    pub fn begin(&mut self, stroke: Option<&Stroke>) {
        if !self.continues(stroke) {
            self.stroke = None;
        }
    }

    /// Returns whether a change of this stroke undoes together with the last change.
    pub fn continues(&self, stroke: Option<&Stroke>) -> bool {
        stroke.zip(self.stroke.as_ref()).is_some_and(|(now, last)| now.continues(last))
    }

    /// Adds the state before a change, of the given number of bytes, unless the change belongs to the last stroke,
    /// whose first state is in the history already. Undone changes can no longer be redone.
    pub fn push(&mut self, label: impl Into<String>, before: T, bytes: usize, stroke: Option<&Stroke>) {
        if self.continues(stroke) {
            return;
        }
        self.stroke = stroke.cloned();
        self.bytes -= self.future.drain(..).map(|entry| entry.bytes).sum::<usize>();
        self.past.push_back(Entry { label: label.into(), state: before, bytes });
        self.bytes += bytes;
        self.trim(false);
    }

    /// Undoes the last change. Returns false if there is none.
    pub fn undo(&mut self, swap: Swap<T>) -> bool {
        self.step(true, swap)
    }

    /// Redoes the last undone change. Returns false if there is none.
    pub fn redo(&mut self, swap: Swap<T>) -> bool {
        self.step(false, swap)
    }

    fn step(&mut self, is_back: bool, swap: Swap<T>) -> bool {
        self.stroke = None;
        let Self { past, future, .. } = self;
        let (from, to) = if is_back { (past, future) } else { (future, past) };
        let Some(entry) = from.pop_back() else { return false };
        let (state, bytes) = swap(entry.state);
        self.bytes = self.bytes - entry.bytes + bytes;
        to.push_back(Entry { label: entry.label, state, bytes });
        self.trim(is_back);
        true
    }

    /// Removes the states that are farthest from the present. If past and future are equally long, `is_back`, the
    /// direction of the last step, decides which is cut, so that the last step can always be reversed.
    fn trim(&mut self, is_back: bool) {
        while self.len() > 1 && (self.len() > self.states_max || self.bytes > self.bytes_max) {
            let (past, future) = (self.past.len(), self.future.len());
            let is_past = past > future || (past == future && is_back);
            let gone = if is_past { self.past.pop_front() } else { self.future.pop_front() };
            self.bytes -= gone.map_or(0, |entry| entry.bytes);
        }
    }

    fn len(&self) -> usize {
        self.past.len() + self.future.len()
    }

    pub fn undo_label(&self) -> Option<&str> {
        self.past.back().map(|entry| entry.label.as_str())
    }

    pub fn redo_label(&self) -> Option<&str> {
        self.future.back().map(|entry| entry.label.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Stroke};

    /// Undoes or redoes a step. States are letters, of which capitals have ten times the size.
    fn step(history: &mut History<char>, present: &mut char, undo: bool) -> bool {
        let mut swap = |state| {
            let before = std::mem::replace(present, state);
            (before, cost(before))
        };
        history.step(undo, &mut swap)
    }

    fn cost(state: char) -> usize {
        if state.is_uppercase() { 10 } else { 1 }
    }

    fn pushed(states: &str, states_max: usize, bytes_max: usize) -> History<char> {
        let mut history = History::new(states_max, bytes_max);
        states.chars().for_each(|state| history.push("next", state, cost(state), None));
        history
    }

    /// Undoes until there is nothing left to undo, and returns the states that this restored, one after the other.
    fn undone(history: &mut History<char>, present: char) -> String {
        let mut present = present;
        std::iter::from_fn(|| step(history, &mut present, true).then_some(present)).collect()
    }

    #[test]
    fn undo_and_redo_walk_the_same_states() {
        let mut history = History::new(8, 100);
        history.push("to b", 'a', 1, None);
        history.push("to c", 'b', 1, None);
        let mut present = 'c';
        assert!(step(&mut history, &mut present, true) && present == 'b');
        assert_eq!((history.undo_label(), history.redo_label()), (Some("to b"), Some("to c")));
        assert!(step(&mut history, &mut present, true) && present == 'a');
        assert!(!step(&mut history, &mut present, true) && present == 'a');
        assert!(step(&mut history, &mut present, false) && present == 'b');
        history.push("to d", 'b', 1, None);
        assert!(!step(&mut history, &mut present, false), "a new change ends what could be redone");
        assert_eq!(history.bytes, 2);
    }

    #[test]
    fn moves_of_one_stroke_are_one_change() {
        let mut history = History::new(8, 100);
        let (heat, rate) = (Some(&Stroke::Temperature), Some(&Stroke::LearningRate));
        // The first two are one change. Each of the others is a separate one, because another control or command came
        // between.
        for (before, stroke, something_else) in
            [('a', heat, false), ('b', heat, false), ('c', rate, false), ('d', rate, true), ('e', None, false)]
        {
            history.begin(stroke);
            if something_else {
                history.begin(None);
            }
            history.push("next", before, 1, stroke);
        }
        assert_eq!(undone(&mut history, 'f'), "edca");
        // After an undo, the same control begins a new change.
        let mut history = History::new(8, 100);
        history.push("next", 'a', 1, heat);
        let mut present = 'b';
        assert!(step(&mut history, &mut present, true));
        history.push("next", 'a', 1, heat);
        assert_eq!((history.past.len(), history.future.len()), (1, 0));
    }

    #[test]
    fn settings_that_are_moved_back_and_on_are_one_stroke() {
        let (moved, back) = (Stroke::Recipe(vec!["seed".to_owned()]), Stroke::Recipe(Vec::new()));
        let mut history = History::new(8, 100);
        history.push("next", 'a', 1, Some(&moved));
        history.begin(Some(&back));
        assert!(history.continues(Some(&moved)));
        history.begin(Some(&Stroke::Recipe(vec!["width".to_owned()])));
        assert!(!history.continues(Some(&moved)));
    }

    #[test]
    fn the_oldest_state_goes_first() {
        assert_eq!(undone(&mut pushed("abcde", 2, 100), 'f'), "ed");
        assert_eq!(undone(&mut pushed("abcde", 9, 3), 'f'), "edc");
        assert_eq!(undone(&mut pushed("abCde", 9, 12), 'f'), "edC");
        assert_eq!(undone(&mut pushed("abCde", 9, 11), 'f'), "ed");
        assert_eq!(undone(&mut pushed("abC", 9, 5), 'f'), "C", "the last stays, whatever it costs");
    }

    #[test]
    fn a_step_that_was_just_taken_can_be_taken_back() {
        // Redo restores a large state, for which there is room beside two small ones.
        let mut history = pushed("abcde", 9, 12);
        let mut present = 'f';
        while step(&mut history, &mut present, true) {}
        assert_eq!((present, history.future.len()), ('a', 5));
        present = 'A';
        assert!(step(&mut history, &mut present, false) && present == 'b');
        assert_eq!((history.past.len(), history.future.len(), history.bytes), (1, 2, 12), "the far future went");
        assert!(step(&mut history, &mut present, true) && present == 'A', "what was redone is undone");
        // There is room for this state alone, and past and future are equally long.
        for (undone, is_back) in [(0, true), (2, false)] {
            let (mut history, mut present) = (pushed("ab", 9, 10), 'c');
            (0..undone).for_each(|_| assert!(step(&mut history, &mut present, true)));
            present = present.to_ascii_uppercase();
            let large = present;
            assert!(step(&mut history, &mut present, is_back) && step(&mut history, &mut present, !is_back));
            assert_eq!(present, large);
        }
    }

    #[test]
    fn what_can_be_redone_counts_too() {
        let mut history = pushed("abcde", 9, 12);
        // Five small states are exchanged for the later states, one of which is large.
        assert_eq!(undone(&mut history, 'F'), "edc", "the large one took the place of the oldest");
        assert_eq!(history.bytes, 12);
    }
}
