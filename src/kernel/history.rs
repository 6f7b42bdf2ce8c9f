//! Undo and redo over states, within a bounded memory.

use std::collections::VecDeque;

/// States before and after the present one, each with what the change away from it was.
#[derive(Clone, Debug)]
pub struct History<T> {
    past: VecDeque<(String, T)>,
    future: VecDeque<(String, T)>,
    most: usize,
}

impl<T> History<T> {
    /// Keeps at most `most` states to go back to, at least one.
    pub fn new(most: usize) -> Self {
        Self { past: VecDeque::new(), future: VecDeque::new(), most: most.max(1) }
    }

    /// Keeps at most so many from now on.
    pub fn keep_at_most(&mut self, most: usize) {
        self.most = most.max(1);
        while self.past.len() > self.most {
            self.past.pop_front();
        }
    }

    /// Remembers the state before a change. What was undone before can no longer be redone.
    pub fn push(&mut self, label: impl Into<String>, before: T) {
        self.future.clear();
        if self.past.len() == self.most {
            self.past.pop_front();
        }
        self.past.push_back((label.into(), before));
    }

    /// Goes back over the last change: `swap` takes the state before it and returns the present one.
    /// False if there is nothing to undo.
    pub fn undo(&mut self, swap: &mut dyn FnMut(T) -> T) -> bool {
        exchange(&mut self.past, &mut self.future, swap)
    }

    /// Goes forward over the last change undone. False if there is nothing to redo.
    pub fn redo(&mut self, swap: &mut dyn FnMut(T) -> T) -> bool {
        exchange(&mut self.future, &mut self.past, swap)
    }

    pub fn undo_label(&self) -> Option<&str> {
        self.past.back().map(|(label, _)| label.as_str())
    }

    pub fn redo_label(&self) -> Option<&str> {
        self.future.back().map(|(label, _)| label.as_str())
    }
}

fn exchange<T>(from: &mut VecDeque<(String, T)>, to: &mut VecDeque<(String, T)>, swap: &mut dyn FnMut(T) -> T) -> bool {
    let Some((label, state)) = from.pop_back() else { return false };
    to.push_back((label, swap(state)));
    true
}

#[cfg(test)]
mod tests {
    use super::History;

    /// A state that undo and redo move about in.
    fn step(history: &mut History<char>, present: &mut char, undo: bool) -> bool {
        let mut swap = |state| std::mem::replace(present, state);
        if undo { history.undo(&mut swap) } else { history.redo(&mut swap) }
    }

    #[test]
    fn undo_and_redo_walk_the_same_states() {
        let mut history = History::new(8);
        history.push("to b", 'a');
        history.push("to c", 'b');
        let mut present = 'c';
        assert!(step(&mut history, &mut present, true) && present == 'b');
        assert_eq!((history.undo_label(), history.redo_label()), (Some("to b"), Some("to c")));
        assert!(step(&mut history, &mut present, true) && present == 'a');
        assert!(!step(&mut history, &mut present, true) && present == 'a');
        assert!(step(&mut history, &mut present, false) && present == 'b');
        history.push("to d", 'b');
        assert!(!step(&mut history, &mut present, false), "a new change ends what could be redone");
    }

    #[test]
    fn the_oldest_state_goes_first() {
        let mut history = History::new(2);
        "abcde".chars().for_each(|state| history.push("next", state));
        let mut present = 'f';
        assert!(step(&mut history, &mut present, true) && present == 'e');
        assert!(step(&mut history, &mut present, true) && present == 'd');
        assert!(!step(&mut history, &mut present, true));
    }
}
