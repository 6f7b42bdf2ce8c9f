//! The scale under the sentence: the places of its words between the two ends of the axis with a meaning, or of the
//! first chosen axis.

use std::borrow::Cow;

use attune_core::kernel::snapshot::meaning::Meaning;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::space::ChosenAxis;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::table::Table;

use super::axes::{ends, short};

/// A scale from one point, at 0, to another, at 1, such as the centres of two groups of words. A word may lie beyond
/// either end.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeModel {
    /// Name of the first end as the axis states it, such as `fruit` or `company`.
    pub from: String,
    pub to: String,
    /// The groups of the two ends, which determine their colours; `None` for an end that is no group.
    pub groups: [Option<usize>; 2],
    /// The names of the vectors before and after the layers.
    pub ends: [&'static str; 2],
    /// A sentence on what 0 and 1 are.
    pub about: String,
    /// The marks, one for each word of the sentence.
    pub marks: Vec<GaugeMark>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GaugeMark {
    /// Position in the sentence, from 0.
    pub position: usize,
    pub text: String,
    /// Label of the word: `apple`, or `apple₂` if the sentence has the word more than once.
    pub label: String,
    pub group: Option<usize>,
    /// Place of the vector before the layers: `(v − from)·(to − from) / |to − from|²`.
    pub fixed: f32,
    /// The place of the vector after the layers, with the weights in use.
    pub now: f32,
}

impl GaugeMark {
    /// Returns the place at `time` in [0, 1], from static to contextual.
    pub fn at(&self, time: f32) -> f32 {
        (1.0 - time) * self.fixed + time * self.now
    }
}

impl GaugeModel {
    /// Returns the gauge of the axis with a meaning, or else of the first chosen axis; `None` if there is no model or
    /// no such axis.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let space = snapshot.space.as_deref()?;
        let model = snapshot.model.as_ref()?;
        match space.basis.meaning() {
            Some(meaning) => Self::of_meaning(space, model, meaning),
            None => Self::of_chosen(snapshot, space, model),
        }
    }

    /// Returns the gauge of the axis with a meaning, or `None` if its ends coincide. The axis is the first one of the
    /// picture, so places are those in the picture.
    fn of_meaning(space: &StaticSpace, model: &ModelSnapshot, meaning: &Meaning) -> Option<Self> {
        let width = space.vectors.cols();
        let vectors = meaning.ends.iter().flat_map(|end| end.vector().iter().copied()).collect();
        let ends = space.projection.points(&Matrix::from_row_major(2, width, vectors));
        let [from, to] = [ends.get(0, 0), ends.get(1, 0)];
        let place = |x: f32| (x - from) / (to - from);
        let (sentence, [first, last]) = (&model.sentence, meaning.names());
        let marks = marks(sentence, space, |position| {
            [place(sentence.start.get(position, 0)), place(sentence.end.get(position, 0))]
        });
        (to != from).then(|| Self {
            from: short(first),
            to: short(last),
            groups: [Some(0), Some(1)],
            ends: ends_of(model),
            about: format!(
                "Along the picture's first axis. 0 is the point where the layers left “{first}”, and 1 the point where \
                 they left “{last}”, when the axis was measured."
            ),
            marks,
        })
    }

    fn of_chosen(snapshot: &Snapshot, space: &StaticSpace, model: &ModelSnapshot) -> Option<Self> {
        let (sentence, is_recorded) = (&model.sentence, model.recorded.is_some());
        let axis = space.basis.chosen.iter().flatten().next()?;
        let scale = Scale::of(axis, &space.vectors)?;
        // A token that is not a word of the vocabulary, such as a start token, begins at the origin.
        let nothing = vec![0.0; space.vectors.cols()];
        let marks = marks(sentence, space, |position| {
            let token = &sentence.tokens[position];
            let of_word = || token.word.map_or(Cow::Borrowed(&nothing[..]), |word| space.vectors.row(word));
            let input = &sentence.activations.input;
            let first = if is_recorded { Cow::Borrowed(input.row(position)) } else { of_word() };
            [scale.place(&first), scale.place(sentence.activations.output.row(position))]
        });
        let group = |name: &str| snapshot.lesson.groups.iter().position(|group| group.name == name);
        let [from, to] = [short(&axis.from.text), short(&axis.to.text)];
        Some(Self {
            groups: [group(&axis.from.text), group(&axis.to.text)],
            ends: ends_of(model),
            about: format!("In the true space, 0 is the centre of {from} and 1 is the centre of {to}."),
            marks,
            from,
            to,
        })
    }

    /// Returns the group of the end towards which a word has moved, if the word is now on that end's half of the scale;
    /// `None` otherwise.
    pub fn reached(&self, mark: &GaugeMark) -> Option<usize> {
        /// The least move towards an end, as a share of the scale.
        const WAY: f32 = 0.1;
        const MIDDLE: f32 = 0.5;
        let way = mark.now - mark.fixed;
        match mark.now > MIDDLE {
            true if way >= WAY => self.groups[1],
            false if -way >= WAY => self.groups[0],
            _ => None,
        }
    }

    /// Returns the marks of the words in `lit` or, if the sentence has none of them, the mark of the query.
    pub fn chosen(&self, lit: &[String], query: Option<usize>) -> Vec<&GaugeMark> {
        let of_words: Vec<&GaugeMark> = self.marks.iter().filter(|mark| lit.contains(&mark.text)).collect();
        if of_words.is_empty() { query.and_then(|query| self.marks.get(query)).into_iter().collect() } else { of_words }
    }

    /// Returns whether attention moves any word of the sentence along the axis.
    pub fn has_moves(&self) -> bool {
        self.marks.iter().any(|mark| mark.now != mark.fixed)
    }

    /// Returns the place of a mark in words, for screen readers.
    pub fn said(&self, mark: &GaugeMark) -> String {
        let Self { from, to, .. } = self;
        let GaugeMark { label, fixed, now, .. } = mark;
        format!("{label}: from {fixed:.2} to {now:.2}, where 0 is {from} and 1 is {to}")
    }
}

fn ends_of(model: &ModelSnapshot) -> [&'static str; 2] {
    ends(model.recorded.is_some())
}

/// Returns a mark for each word of a sentence; `places` returns the places of a word before and after the layers.
fn marks(sentence: &SentenceSnapshot, space: &StaticSpace, places: impl Fn(usize) -> [f32; 2]) -> Vec<GaugeMark> {
    let mark = |(position, label): (usize, String)| {
        let (token, [fixed, now]) = (&sentence.tokens[position], places(position));
        let group = token.word.and_then(|word| space.group_of[word]);
        GaugeMark { position, text: token.text.clone(), label, group, fixed, now }
    };
    token_labels(&sentence.tokens).into_iter().enumerate().map(mark).collect()
}

/// The line from one centre to another, in double precision.
struct Scale {
    from: Vec<f32>,
    way: Vec<f64>,
    /// Squared length of the line, `|to − from|²`.
    square: f64,
}

impl Scale {
    fn of(axis: &ChosenAxis, vectors: &Table<f32>) -> Option<Self> {
        let [from, to] = [&axis.from, &axis.to].map(|group| vectors.centroid(&group.words));
        let way: Vec<f64> = from.iter().zip(&to).map(|(&from, &to)| f64::from(to) - f64::from(from)).collect();
        let square = way.iter().map(|x| x * x).sum::<f64>();
        (square.is_finite() && square > 0.0).then_some(Self { from, way, square })
    }

    fn place(&self, vector: &[f32]) -> f32 {
        let along = vector.iter().zip(&self.from).zip(&self.way);
        let dot: f64 = along.map(|((&x, &from), way)| (f64::from(x) - f64::from(from)) * way).sum();
        (dot / self.square) as f32
    }
}
