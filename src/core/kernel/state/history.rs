//! Undo and redo over states, within a bounded memory.

use std::collections::VecDeque;

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
    /// Keeps at most so many states, of so many bytes together; but always the last one.
    pub fn new(states_max: usize, bytes_max: usize) -> Self {
        Self { past: VecDeque::new(), future: VecDeque::new(), bytes: 0, states_max, bytes_max }
    }

    /// Remembers the state before a change, of so many bytes. What was undone before can no longer be redone.
    pub fn push(&mut self, label: impl Into<String>, before: T, bytes: usize) {
        self.bytes -= self.future.drain(..).map(|entry| entry.bytes).sum::<usize>();
        self.past.push_back(Entry { label: label.into(), state: before, bytes });
        self.bytes += bytes;
        self.trim();
    }

    /// Goes back over the last change. False if there is nothing to undo.
    pub fn undo(&mut self, swap: Swap<T>) -> bool {
        let Some(entry) = self.past.pop_back() else { return false };
        let entry = self.exchange(entry, swap);
        self.future.push_back(entry);
        self.trim();
        true
    }

    /// Goes forward over the last change undone. False if there is nothing to redo.
    pub fn redo(&mut self, swap: Swap<T>) -> bool {
        let Some(entry) = self.future.pop_back() else { return false };
        let entry = self.exchange(entry, swap);
        self.past.push_back(entry);
        self.trim();
        true
    }

    fn exchange(&mut self, entry: Entry<T>, swap: Swap<T>) -> Entry<T> {
        let (state, bytes) = swap(entry.state);
        self.bytes = self.bytes - entry.bytes + bytes;
        Entry { label: entry.label, state, bytes }
    }

    /// Forgets what is farthest from the present, the past first.
    fn trim(&mut self) {
        while self.len() > 1 && (self.len() > self.states_max || self.bytes > self.bytes_max) {
            let gone = self.past.pop_front().or_else(|| self.future.pop_front());
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
        if undo { history.undo(&mut swap) } else { history.redo(&mut swap) }
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
    fn what_can_be_redone_counts_too() {
        let mut history = pushed("abcde", 9, 12);
        // Five small states are replaced by what they led to, one of them large.
        assert_eq!(undone(&mut history, 'F'), "edc", "the large one took the place of the oldest");
        assert_eq!(history.bytes, 12);
    }
}
