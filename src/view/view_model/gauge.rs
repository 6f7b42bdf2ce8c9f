//! The gauge: where each word of the sentence stands between the two ends of the picture's first chosen axis, in the
//! true space.

use std::sync::Arc;

use attune_core::kernel::data::space::ChosenAxis;
use attune_core::kernel::data::token::token_labels;
use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::vectors::centroid;

use super::axes::short;
use super::models::Model;

/// A scale from the centre of some words, at 0, to that of others, at 1. Words may stand beyond both.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeModel {
    /// As the axis names its ends, such as `fruit` and `company`.
    pub from: String,
    pub to: String,
    /// Groups of the ends, for their colours.
    pub groups: [Option<usize>; 2],
    /// One for each word of the sentence.
    pub marks: Vec<GaugeMark>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GaugeMark {
    /// Position in the sentence, from 0.
    pub position: usize,
    pub text: String,
    /// `apple` or, where the sentence has more than one, `apple₂`.
    pub label: String,
    pub group: Option<usize>,
    /// Place of the static vector: `(v − from)·(to − from) / |to − from|²`.
    pub fixed: f32,
    /// Place of the contextual vector, with the weights in use.
    pub now: f32,
}

impl GaugeMark {
    /// Place at `time` in [0, 1], from static to contextual.
    pub fn at(&self, time: f32) -> f32 {
        (1.0 - time) * self.fixed + time * self.now
    }
}

impl Model for GaugeModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl GaugeModel {
    /// `None` until there is a model, and where no axis is chosen.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let space = snapshot.space.as_deref()?;
        let sentence = &snapshot.model.as_ref()?.sentence;
        let axis = space.basis.chosen.iter().flatten().next()?;
        let scale = Scale::of(axis, &space.vectors)?;
        // A word that does not exist yet begins at the origin.
        let nothing = vec![0.0; space.vectors.cols()];
        let of_token = |(position, label): (usize, String)| {
            let token = &sentence.tokens[position];
            GaugeMark {
                position,
                text: token.text.clone(),
                label,
                group: token.word.and_then(|word| space.group_of[word]),
                fixed: scale.place(token.word.map_or(&nothing[..], |word| space.vectors.row(word))),
                now: scale.place(sentence.activations.output.row(position)),
            }
        };
        let marks = token_labels(&sentence.tokens).into_iter().enumerate().map(of_token);
        let group = |name: &str| snapshot.lesson.groups.iter().position(|group| group.name == name);
        Some(Self {
            from: short(&axis.from.text),
            to: short(&axis.to.text),
            groups: [group(&axis.from.text), group(&axis.to.text)],
            marks: marks.collect(),
        })
    }

    /// The marks to show: of the chosen words, else of the query.
    pub fn chosen(&self, lit: &[String], query: Option<usize>) -> Vec<&GaugeMark> {
        let of_words: Vec<&GaugeMark> = self.marks.iter().filter(|mark| lit.contains(&mark.text)).collect();
        if of_words.is_empty() { query.and_then(|query| self.marks.get(query)).into_iter().collect() } else { of_words }
    }

    /// A word of the sentence moves along the axis.
    pub fn has_moves(&self) -> bool {
        self.marks.iter().any(|mark| mark.now != mark.fixed)
    }

    /// The place of a mark in words, for screen readers.
    pub fn said(&self, mark: &GaugeMark) -> String {
        let Self { from, to, .. } = self;
        let GaugeMark { label, fixed, now, .. } = mark;
        format!("{label}: from {fixed:.2} to {now:.2}, where 0 is {from} and 1 is {to}")
    }
}

/// The line from one centre to another, in double precision.
struct Scale {
    from: Vec<f32>,
    way: Vec<f64>,
    /// `|to − from|²`
    square: f64,
}

impl Scale {
    fn of(axis: &ChosenAxis, vectors: &Matrix<f32>) -> Option<Self> {
        let [from, to] = [&axis.from, &axis.to].map(|group| centroid(vectors, &group.words));
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
