//! Undo and redo over whole states, within a bounded memory.

/// States before and after the present one, each with what the change away from it was.
#[derive(Clone, Debug)]
pub struct History<T> {
    past: Vec<(String, T)>,
    future: Vec<(String, T)>,
    most: usize,
}

impl<T> History<T> {
    /// Keeps at most `most` states to go back to, at least one.
    pub fn new(most: usize) -> Self {
        Self { past: Vec::new(), future: Vec::new(), most: most.max(1) }
    }

    /// Remembers the state before a change. What was undone before can no longer be redone.
    pub fn push(&mut self, label: impl Into<String>, before: T) {
        self.future.clear();
        if self.past.len() == self.most {
            self.past.remove(0);
        }
        self.past.push((label.into(), before));
    }

    /// The state before the last change, in exchange for the present one.
    pub fn undo(&mut self, present: T) -> Result<T, T> {
        exchange(&mut self.past, &mut self.future, present)
    }

    /// The state after the last change undone, in exchange for the present one.
    pub fn redo(&mut self, present: T) -> Result<T, T> {
        exchange(&mut self.future, &mut self.past, present)
    }

    pub fn undo_label(&self) -> Option<&str> {
        self.past.last().map(|(label, _)| label.as_str())
    }

    pub fn redo_label(&self) -> Option<&str> {
        self.future.last().map(|(label, _)| label.as_str())
    }
}

/// Gives the present state back if there is nothing to exchange it for.
fn exchange<T>(from: &mut Vec<(String, T)>, to: &mut Vec<(String, T)>, present: T) -> Result<T, T> {
    match from.pop() {
        Some((label, state)) => {
            to.push((label, present));
            Ok(state)
        }
        None => Err(present),
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn undo_and_redo_walk_the_same_states() {
        let mut history = History::new(8);
        history.push("to b", 'a');
        history.push("to c", 'b');
        assert_eq!(history.undo('c'), Ok('b'));
        assert_eq!((history.undo_label(), history.redo_label()), (Some("to b"), Some("to c")));
        assert_eq!(history.undo('b'), Ok('a'));
        assert_eq!(history.undo('a'), Err('a'));
        assert_eq!(history.redo('a'), Ok('b'));
        history.push("to d", 'b');
        assert_eq!(history.redo('d'), Err('d'));
    }

    #[test]
    fn the_oldest_state_goes_first() {
        let mut history = History::new(2);
        for state in 0..5 {
            history.push("next", state);
        }
        assert_eq!(history.undo(5), Ok(4));
        assert_eq!(history.undo(4), Ok(3));
        assert_eq!(history.undo(3), Err(3));
    }
}
