//! The provenance of a number: its name, its formula, the same with its numbers, and the numbers before it.
//!
//! An [`Entry`] is any number that is shown; [`Provenance`] explains it. Every number in the explanation is an entry
//! of the snapshot too, and can be asked for in its turn, back to the static vectors and the weights. [`Reader`] reads
//! the numbers, [`names`] says how each is called and where it lies, [`explain`] how it is computed, and [`worked`] is
//! a formula with its numbers in.

mod arrows;
mod attention;
mod block;
mod explain;
mod names;
mod readings;
pub mod worked;

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_engine::quantity::{Entry, Quantity};

pub use self::worked::{Factor, Line, Operand, Piece, Term, Worked};
use crate::view_model::axes;
use crate::view_model::models::Model;
use crate::view_model::reader::Reader;

/// The explanation of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    pub entry: Entry,
    /// By words: `A₁["apple₁", "phone"]`.
    pub name: String,
    /// Meaning in a few words.
    pub meaning: String,
    /// Its place, by numbers: `A[0, 0, 4]`, as code reads it.
    pub place: String,
    pub value: f32,
    /// The formula, in LaTeX.
    pub symbols: String,
    /// The same with the numbers in.
    pub worked: Worked,
    /// Notes: why the number is exactly 0, what was changed.
    pub notes: Vec<String>,
    /// The way back: from each number to the one that counts most in it, as far as it goes.
    pub way: Vec<(Entry, String)>,
    /// Neighbouring entries: the other axes of a point.
    pub beside: Vec<(Entry, String)>,
}

impl Model for Provenance {
    type Choice = Entry;

    fn make(snapshot: &Arc<Snapshot>, entry: &Entry, _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, *entry)
    }
}

impl Provenance {
    /// `None` where the snapshot has no such entry.
    pub fn of(snapshot: &Snapshot, entry: Entry) -> Option<Self> {
        let reader = Reader::of(snapshot)?;
        let value = reader.value(entry)?;
        let (symbols, worked, notes) = reader.explain(entry)?;
        let mut beside = Vec::new();
        if let (Quantity::Coordinate, Some(point)) = (entry.quantity, entry.owner.point()) {
            let [own, ..] = entry.index;
            let names = axes::names(reader.space).into_iter().take(reader.space.projection.dimensions());
            let others = names.enumerate().filter(|(axis, _)| *axis != own);
            beside = others.map(|(axis, name)| (Quantity::Coordinate.of_point(point, axis), name)).collect();
        }
        Some(Self {
            entry,
            name: reader.name(entry),
            meaning: reader.meaning(entry),
            place: reader.place(entry),
            value,
            symbols,
            way: way_back(&reader, &worked),
            worked,
            notes,
            beside,
        })
    }

    /// Every digit of the number.
    pub fn exact(&self) -> String {
        worked::exact(self.value)
    }
}

fn way_back(reader: &Reader, worked: &Worked) -> Vec<(Entry, String)> {
    const STEPS_MAX: usize = 40;
    let mut way = Vec::new();
    let mut next = worked.leads_to();
    while let Some(entry) = next.filter(|_| way.len() < STEPS_MAX) {
        way.push((entry, reader.symbol(entry)));
        next = reader.explain(entry).and_then(|(_, worked, _)| worked.leads_to());
    }
    way
}
