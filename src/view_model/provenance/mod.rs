//! Where a number comes from: its name, its formula, the same with its numbers, and the numbers before it.
//!
//! [`Entry`] names any number that is shown; [`Provenance`] tells it. Every number in it is an entry of the
//! snapshot too, and can be asked for in its turn, back to the static vectors and the weights. [`worked`] is
//! the formula with its numbers in, [`names`] how each entry is called and where it lies, [`forward`] tells the way
//! through a head, and [`readings`] what is read off the vectors.

mod forward;
mod names;
mod readings;
mod teller;
pub mod worked;

use self::teller::Teller;
pub use self::worked::{Factor, Line, Operand, Piece, Term, Worked};
use crate::kernel::snapshot::Snapshot;
use crate::numerics::params::TensorId;
use crate::view_model::axes;

/// One number of a snapshot. Heads are counted over all blocks, the source's first; a `token` is one of the
/// block's own sentence, a `dim` an entry of its vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// Of `E`, by the row of the vocabulary.
    Static {
        word: usize,
        dim: usize,
    },
    /// Of `P`, where it is not learned.
    Position {
        place: usize,
        dim: usize,
    },
    Parameter {
        tensor: TensorId,
        row: usize,
        col: usize,
    },
    /// What goes into a block.
    Input {
        block: usize,
        token: usize,
        dim: usize,
    },
    /// The same behind the norm of a block that norms first.
    Normed {
        block: usize,
        token: usize,
        dim: usize,
    },
    Query {
        head: usize,
        token: usize,
        dim: usize,
    },
    Key {
        head: usize,
        token: usize,
        dim: usize,
    },
    Value {
        head: usize,
        token: usize,
        dim: usize,
    },
    /// `q · k`
    Product {
        head: usize,
        query: usize,
        key: usize,
    },
    /// What products are multiplied with.
    Scale {
        head: usize,
    },
    /// `B[h, j − i] / τ`, added to a score for the distance from query to key.
    DistanceBias {
        head: usize,
        query: usize,
        key: usize,
    },
    /// Scaled, with what distance adds, and −∞ where masked.
    Score {
        head: usize,
        query: usize,
        key: usize,
    },
    /// `exp(s − max s)`
    Exponential {
        head: usize,
        query: usize,
        key: usize,
    },
    /// `Σ exp(s − max s)`
    RowSum {
        head: usize,
        query: usize,
    },
    Weight {
        head: usize,
        query: usize,
        key: usize,
    },
    Mix {
        head: usize,
        token: usize,
        dim: usize,
    },
    /// How often the learner lets a head's mix count.
    Gain {
        head: usize,
    },
    /// `α v W_O`: what a key adds to a query through a head.
    Term {
        head: usize,
        query: usize,
        key: usize,
        dim: usize,
    },
    /// The lengths of what a key adds through a head, through all heads of a block, and of what a head adds.
    TermLength {
        head: usize,
        query: usize,
        key: usize,
    },
    WordLength {
        block: usize,
        query: usize,
        key: usize,
    },
    HeadLength {
        head: usize,
        query: usize,
    },
    /// The length of `b_O`.
    BiasLength {
        block: usize,
    },
    /// The length of the whole move in a block.
    MoveLength {
        block: usize,
        query: usize,
    },
    /// `x + Σ α v W_O + b_O`
    Summed {
        block: usize,
        token: usize,
        dim: usize,
    },
    /// What comes out of a block.
    Output {
        block: usize,
        token: usize,
        dim: usize,
    },
    /// Of a point on the stage.
    Coordinate {
        of: Place,
        axis: usize,
    },
    /// Between a token, before attention or after it, and a word of the vocabulary.
    Cosine {
        of: Place,
        word: usize,
    },
    Distance {
        of: Place,
        word: usize,
    },
    Logit {
        row: usize,
        class: usize,
    },
    /// Of one of the likeliest answers.
    Probability {
        row: usize,
        class: usize,
    },
}

/// A vector that has a point on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Of the vocabulary.
    Word(usize),
    /// A token of the sentence before attention, and after it.
    Static(usize),
    Contextual(usize),
}

impl Entry {
    /// The same kind of entry, further along its row: another key, another place in a vector, another head.
    #[must_use]
    pub fn along(mut self, index: usize) -> Self {
        match &mut self {
            Self::Static { dim, .. }
            | Self::Position { dim, .. }
            | Self::Input { dim, .. }
            | Self::Normed { dim, .. }
            | Self::Query { dim, .. }
            | Self::Key { dim, .. }
            | Self::Value { dim, .. }
            | Self::Mix { dim, .. }
            | Self::Term { dim, .. }
            | Self::Summed { dim, .. }
            | Self::Output { dim, .. } => *dim += index,
            Self::Parameter { col, .. } => *col += index,
            Self::Product { key, .. }
            | Self::DistanceBias { key, .. }
            | Self::Score { key, .. }
            | Self::Exponential { key, .. }
            | Self::Weight { key, .. }
            | Self::TermLength { key, .. }
            | Self::WordLength { key, .. } => *key += index,
            Self::HeadLength { head, .. } | Self::Scale { head } | Self::Gain { head } => *head += index,
            Self::RowSum { query, .. } | Self::MoveLength { query, .. } => *query += index,
            Self::BiasLength { block } => *block += index,
            Self::Coordinate { axis, .. } => *axis += index,
            Self::Cosine { word, .. } | Self::Distance { word, .. } => *word += index,
            Self::Logit { class, .. } | Self::Probability { class, .. } => *class += index,
        }
        self
    }
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    pub entry: Entry,
    /// By words: `A₁["apple₁", "phone"]`.
    pub name: String,
    /// What it is, in a few words.
    pub meaning: String,
    /// Where it lies, by numbers: `A[0, 0, 4]`, as code reads it.
    pub place: String,
    pub value: f32,
    /// The formula, in LaTeX.
    pub symbols: String,
    /// The same with the numbers in.
    pub worked: Worked,
    /// What else is to be said: why it is exactly 0, what was changed.
    pub notes: Vec<String>,
    /// What it leads back to: from one number to the one that counts most in it, as far as it goes.
    pub way: Vec<(Entry, String)>,
    /// What stands beside it: the other axes of a point.
    pub beside: Vec<(Entry, String)>,
}

impl Provenance {
    /// `None` where the snapshot has no such entry.
    pub fn of(snapshot: &Snapshot, entry: Entry) -> Option<Self> {
        let teller = Teller::of(snapshot)?;
        let mut told = teller.tell(entry)?;
        told.way = way_back(&teller, &told);
        if let Entry::Coordinate { of, axis } = entry {
            let names = axes::names(teller.space).into_iter().take(teller.space.projection.dimensions());
            let others = names.enumerate().filter(|(other, _)| *other != axis);
            told.beside = others.map(|(axis, name)| (Entry::Coordinate { of, axis }, name)).collect();
        }
        Some(told)
    }

    /// Every digit of the number.
    pub fn exact(&self) -> String {
        worked::exact(self.value)
    }
}

fn way_back(teller: &Teller, told: &Provenance) -> Vec<(Entry, String)> {
    const STEPS_MAX: usize = 40;
    let mut way = Vec::new();
    let mut next = told.worked.leads_to();
    while let Some(entry) = next.filter(|_| way.len() < STEPS_MAX) {
        way.push((entry, teller.symbol(entry)));
        next = teller.tell(entry).and_then(|told| told.worked.leads_to());
    }
    way
}
