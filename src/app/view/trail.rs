//! The numbers whose provenance was opened, each from within the one before.

use attune_engine::quantity::Entry;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail(Vec<Entry>);

impl Trail {
    /// Opens the provenance of a number.
    pub fn open(&mut self, entry: Entry) {
        self.0 = vec![entry];
    }

    /// Opens the provenance of an operand of the number that is shown.
    pub fn follow(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Goes back to the number before.
    pub fn back(&mut self) {
        self.0.pop();
    }

    pub fn close(&mut self) {
        self.0.clear();
    }

    /// The number whose provenance is shown.
    pub fn entry(&self) -> Option<Entry> {
        self.0.last().copied()
    }

    pub fn depth(&self) -> usize {
        self.0.len()
    }
}
