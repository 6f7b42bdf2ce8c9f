//! Undo and redo: the states that a kernel remembers, within a bounded memory, and the way back over them.

use std::collections::VecDeque;
use std::mem::{size_of_val, swap};

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;

use crate::kernel::cache::Cache;
use crate::kernel::command::Command;
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::notebook::Document;
use crate::kernel::running::{Kernel, Phase};
use crate::kernel::snapshot::space::Basis;
use crate::kernel::training::run::Replay;
use crate::kernel::training::weights::Comparison;

/// A state that undo restores; it shares with the present one all that is the same in both.
pub enum Undoable {
    Model(UndoPart),
    /// The model that another one, trained by another recipe, replaced.
    Retrained(Box<LessonModel>),
    Notebook(Document),
}

impl Undoable {
    /// Size of what is large in it, in bytes, as if it shared nothing; the history's count bounds the rest.
    fn bytes(&self) -> usize {
        match self {
            Self::Model(part) => part.bytes(),
            Self::Retrained(model) => model.bytes(),
            Self::Notebook(_) => 0,
        }
    }
}

impl LessonModel {
    fn bytes(&self) -> usize {
        let examples = self.examples.iter().map(|example| size_of_val(example.words()));
        let spaces = std::iter::once(&self.space).chain(&self.given);
        let vectors: usize = spaces.map(|space| space.vectors.bytes()).sum();
        self.training.model().bytes() + vectors + examples.sum::<usize>() + of_interventions(self.pass.interventions())
    }
}

impl UndoPart {
    fn bytes(&self) -> usize {
        match self {
            Self::Model(weights) => weights.bytes(),
            Self::Comparison(Some(Comparison::Step(Replay { state, .. }))) => state.bytes(),
            Self::Comparison(_) => 0,
            Self::Interventions(interventions)
            | Self::Sentence((_, interventions))
            | Self::Second((_, interventions)) => of_interventions(interventions),
            Self::Senses((list, _)) => list.sentences.iter().map(|sentence| sentence.text.len()).sum(),
            Self::Basis(basis) => of_basis(&basis.0),
            Self::Several(parts) => parts.iter().map(Self::bytes).sum(),
        }
    }
}

/// Frozen weights.
fn of_interventions(interventions: &Interventions<f32>) -> usize {
    let frozen = interventions.heads.iter().map(|mode| match mode {
        HeadMode::Frozen(Some(weights)) => size_of_val(weights.flat()),
        _ => 0,
    });
    frozen.sum()
}

/// The covariance that axes were fitted to.
fn of_basis(basis: &Basis) -> usize {
    basis.fitted.as_ref().map_or(0, |spread| spread.width() * (spread.width() + 1) / 2 * size_of::<f64>())
}

impl Kernel {
    /// False where the last command changed nothing of the model.
    pub(in crate::kernel) fn remember_changes(&mut self) -> bool {
        let Phase::Ready(model) = &mut self.phase else { return false };
        let (changes, has_changed) = model.take_changes();
        for (label, part) in changes {
            // What was changed of this model is undone before it is.
            self.retrained = None;
            self.remember(label, Undoable::Model(part));
        }
        has_changed
    }

    pub(in crate::kernel) fn remember(&mut self, label: String, before: Undoable) {
        let bytes = before.bytes();
        self.history.push(label, before, bytes);
    }

    /// Undoes and redoes, step after step.
    pub(in crate::kernel) fn travel(&mut self, steps: impl Iterator<Item = Command>) -> Result<(), String> {
        let Self { history, phase, retraining, notebook, has_changed, .. } = self;
        if let Phase::Ready(model) = phase {
            model.end_move();
        }
        let mut exchange = |undoable| {
            let now = match (undoable, &mut *phase) {
                (Undoable::Model(part), Phase::Ready(model)) => Undoable::Model(model.swap(part)),
                (Undoable::Retrained(mut other), Phase::Ready(model)) => {
                    model.training.pause();
                    swap(&mut **model, &mut *other);
                    // What undo remembers is small.
                    other.cache = Cache::default();
                    Undoable::Retrained(other)
                }
                (Undoable::Notebook(document), _) => Undoable::Notebook(notebook.replace(document)),
                // A lesson without a model has no changes of one.
                (undoable, _) => undoable,
            };
            let bytes = now.bytes();
            (now, bytes)
        };
        let mut result = Ok(());
        for step in steps {
            let gave_up = retraining.take().is_some();
            let (verb, is_done) = match step {
                Command::Redo => ("redo", history.redo(&mut exchange)),
                // What is under way is what would be undone first.
                _ => ("undo", gave_up || history.undo(&mut exchange)),
            };
            *has_changed |= is_done;
            result = if is_done { Ok(()) } else { Err(format!("there is nothing to {verb}")) };
        }
        result
    }
}

/// States before and after the present one, each with what the change away from it was.
#[derive(Clone, Debug)]
pub struct History<T> {
    past: VecDeque<Entry<T>>,
    future: VecDeque<Entry<T>>,
    /// Memory of all entries.
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

/// Takes a state and returns the one that it takes the place of, with what keeping that costs in bytes.
pub type Swap<'s, T> = &'s mut dyn FnMut(T) -> (T, usize);

impl<T> History<T> {
    /// Keeps at most the given number of states, of the given number of bytes together; but always the last one.
    pub fn new(states_max: usize, bytes_max: usize) -> Self {
        Self { past: VecDeque::new(), future: VecDeque::new(), bytes: 0, states_max, bytes_max }
    }

    /// Remembers the state before a change, of the given number of bytes. What was undone before can no longer be
    /// redone.
    pub fn push(&mut self, label: impl Into<String>, before: T, bytes: usize) {
        self.bytes -= self.future.drain(..).map(|entry| entry.bytes).sum::<usize>();
        self.past.push_back(Entry { label: label.into(), state: before, bytes });
        self.bytes += bytes;
        self.trim(false);
    }

    /// Goes back over the last change. False if there is none.
    pub fn undo(&mut self, swap: Swap<T>) -> bool {
        self.step(true, swap)
    }

    /// Goes forward over the last change that was undone. False if there is none.
    pub fn redo(&mut self, swap: Swap<T>) -> bool {
        self.step(false, swap)
    }

    fn step(&mut self, is_back: bool, swap: Swap<T>) -> bool {
        let Self { past, future, .. } = self;
        let (from, to) = if is_back { (past, future) } else { (future, past) };
        let Some(entry) = from.pop_back() else { return false };
        let (state, bytes) = swap(entry.state);
        self.bytes = self.bytes - entry.bytes + bytes;
        to.push_back(Entry { label: entry.label, state, bytes });
        self.trim(is_back);
        true
    }

    /// Forgets what is farthest from the present. Where the past reaches as far as the future, `is_back`, the direction
    /// of the last step, says which of them goes first: never the step that was just taken.
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
    use super::History;

    /// A state that undo and redo move about in; capitals cost ten times as much.
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
        states.chars().for_each(|state| history.push("next", state, cost(state)));
        history
    }

    /// How far undo goes back from a state.
    fn undone(history: &mut History<char>, present: char) -> String {
        let mut present = present;
        std::iter::from_fn(|| step(history, &mut present, true).then_some(present)).collect()
    }

    #[test]
    fn undo_and_redo_walk_the_same_states() {
        let mut history = History::new(8, 100);
        history.push("to b", 'a', 1);
        history.push("to c", 'b', 1);
        let mut present = 'c';
        assert!(step(&mut history, &mut present, true) && present == 'b');
        assert_eq!((history.undo_label(), history.redo_label()), (Some("to b"), Some("to c")));
        assert!(step(&mut history, &mut present, true) && present == 'a');
        assert!(!step(&mut history, &mut present, true) && present == 'a');
        assert!(step(&mut history, &mut present, false) && present == 'b');
        history.push("to d", 'b', 1);
        assert!(!step(&mut history, &mut present, false), "a new change ends what could be redone");
        assert_eq!(history.bytes, 2);
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
        // Redone into a large state, of which there is room for one beside two small ones.
        let mut history = pushed("abcde", 9, 12);
        let mut present = 'f';
        while step(&mut history, &mut present, true) {}
        assert_eq!((present, history.future.len()), ('a', 5));
        present = 'A';
        assert!(step(&mut history, &mut present, false) && present == 'b');
        assert_eq!((history.past.len(), history.future.len(), history.bytes), (1, 2, 12), "the far future went");
        assert!(step(&mut history, &mut present, true) && present == 'A', "what was redone is undone");
        // There is room for it and nothing else, and as much lies before as behind.
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
        // Five small states are replaced by what they led to, one of them large.
        assert_eq!(undone(&mut history, 'F'), "edc", "the large one took the place of the oldest");
        assert_eq!(history.bytes, 12);
    }
}
