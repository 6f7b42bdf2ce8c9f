//! The model that code can run, and the passes that it returns.

use std::fmt;
use std::sync::Arc;

use super::fault::Fault;
use super::tensor::Tensor;
use crate::numerics::attention::HeadMode;
use crate::numerics::model::activations::Interventions;
use crate::vectors::Vectors;

/// The changes to a forward pass that code asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum PassChanges {
    /// The learner's changes that apply to any sentence, and these heads off as well.
    Without(Vec<usize>),
    /// These changes only, so that the result does not depend on the learner's changes.
    Only(Box<OnlyChanges>),
}

/// Changes to a forward pass that code lists in full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnlyChanges {
    /// Modes of heads, which are counted from 0 through all layers; all others are live.
    pub heads: Vec<(usize, HeadMode<f32>)>,
    /// All other changes. A patch has no vector here, because it is taken from the pass of `second`.
    pub others: Interventions<f32>,
    /// The sentence from whose pass a patch and heads are taken.
    pub second: Option<String>,
}

/// A model that code can run. Its results depend only on the arguments.
pub trait Forward: Send + Sync {
    /// Runs the model on a sentence with changes. `charge` is called with the number of multiplications before they are
    /// done.
    ///
    /// # Errors
    /// A message for the learner if the model cannot read the sentence or has no such head, or the error of `charge`.
    fn pass(&self, sentence: &str, changes: &PassChanges, charge: Charge<'_>) -> Result<CodePass, Fault>;

    /// Writes the continuation of a sentence, or the target of a source, until the model ends: the likeliest word each
    /// time, or with several beams the likeliest sentence that is found. `charge` is called with the number of
    /// multiplications before they are done.
    ///
    /// # Errors
    /// A message for the learner if the model cannot read the sentence or does not go on writing, or the error of
    /// `charge`.
    fn write(&self, sentence: &str, beams: usize, charge: Charge<'_>) -> Result<String, Fault>;

    /// Returns the model in the subfolder `name` of the lesson's folder.
    ///
    /// # Errors
    /// A message for the learner if there is no such model, or it is too large.
    fn beside(&self, name: &str) -> Result<Arc<dyn Forward>, Fault>;

    /// Returns the static vectors of some words, in rows that are labelled with the words.
    ///
    /// # Errors
    /// A message for the learner if a word has no vector.
    fn vectors(&self, words: &[String]) -> Result<Tensor, Fault>;

    /// Returns the vectors of a file in the lesson's folder.
    ///
    /// # Errors
    /// A message for the learner if there is no such file, it is too large, or it has no vectors.
    fn file(&self, name: &str) -> Result<Arc<Vectors>, Fault>;

    /// Returns the words nearest to an expression such as `king - man + woman`, by cosine and without the words of the
    /// expression. `charge` is called with the number of multiplications before they are done.
    ///
    /// # Errors
    /// A message for the learner if a word has no vector, or the error of `charge`.
    fn neighbours(&self, expression: &str, count: usize, charge: Charge<'_>) -> Result<Vec<(String, f64)>, Fault>;
}

/// A function that charges multiplications to a run's budget, or fails if there is none left.
pub type Charge<'a> = &'a dyn Fn(u64) -> Result<(), Fault>;

/// The tensors of one pass.
pub trait PassTensors: Send + Sync {
    /// Returns the tensor with this name in code.
    ///
    /// # Errors
    /// A message for the learner if there is no such tensor.
    fn tensor(&self, name: &str) -> Result<Tensor, Fault>;
}

/// A pass over a sentence. In code, `forward("the cat").A` is its tensor `A`.
#[derive(Clone)]
pub struct CodePass {
    pub sentence: Arc<str>,
    pub tensors: Arc<dyn PassTensors>,
}

impl fmt::Display for CodePass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass of {:?}", self.sentence)
    }
}

/// The model that a scope provides to its code.
#[derive(Clone)]
pub struct RunnableModel(pub Arc<dyn Forward>);

impl fmt::Debug for RunnableModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunnableModel")
    }
}
