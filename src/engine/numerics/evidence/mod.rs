//! Evidence for what a model does: why it gives an answer, why a query looks at a key, and what a head does over many
//! texts. Each file has one kind of evidence, with its equations and their sources.
//!
//! | file | question |
//! |---|---|
//! | [`maps`] | which vectors and heads carry the answer from one sentence to another, and along which paths |
//! | [`score`] | why a query looks at a key: its score as a sum of pairs of sources |
//! | [`words`] | which word mattered, by ten measures that need not agree |
//! | [`effects`] | what each weight does to a word |
//! | [`gradient`] | the gradient of an answer with respect to static vectors |
//! | [`tables`] | what a head compares and writes, from its weights alone; which heads compose |
//! | [`corpus`] | what a head does over many texts |
//!
//! Only [`corpus`] measures the heads of models with a source.

pub mod corpus;
pub mod effects;
pub mod gradient;
pub mod maps;
pub mod score;
pub mod tables;
pub mod words;

use crate::numerics::model::AttentionModel;
use crate::numerics::params::Parameters;
use crate::numerics::{Matrix, Scalar};

/// A question about an answer at a position, compared with another answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Position of the token at which the model answers.
    pub place: usize,
    /// Classes of the answer and of the other word.
    pub answer: usize,
    pub against: usize,
}

/// The answer of a pass to a [`Question`], as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// `z_p[a] − z_p[b]`
    pub difference: f64,
    /// `softmax(z_p)[a]`
    pub probability: f64,
}

impl Question {
    /// Reads the answer from the outputs of a sentence (T, D).
    pub fn ask<S: Scalar>(self, model: &AttentionModel<S>, parameters: &Parameters<S>, output: &Matrix<S>) -> Asked {
        self.answer(&model.logits_at(parameters, output, self.place))
    }

    /// Reads the answers from the vectors (R, D) of several passes at the question's place. The readout, which may be
    /// larger than all blocks, is then read from memory once for all of them.
    pub fn ask_together<S: Scalar>(
        self,
        model: &AttentionModel<S>,
        parameters: &Parameters<S>,
        read: &Matrix<S>,
    ) -> Vec<Asked> {
        let logits = model.logits_of(parameters, read);
        (0..logits.rows()).map(|pass| self.answer(logits.row(pass))).collect()
    }

    fn answer<S: Scalar>(self, logits: &[S]) -> Asked {
        let logits: Vec<f64> = logits.iter().map(|z| z.to_f64()).collect();
        let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logits.iter().map(|z| (z - largest).exp()).sum();
        Asked {
            difference: logits[self.answer] - logits[self.against],
            probability: (logits[self.answer] - largest).exp() / sum,
        }
    }
}

/// Type of a function that is told how many steps of the work are done, and returns whether the work goes on.
pub type Watch<'a> = &'a (dyn Fn(usize) -> bool + Sync);
