//! The model's answers: logits, the likeliest classes, and words that go on with a sentence.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::highest::highest;
use attune_engine::numerics::model::generate::CannotGenerate;
use attune_engine::numerics::model::{AttentionModel, Classes, Pooling};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::softmax::softmax_forward;
use attune_engine::numerics::vectors::centroid;

use crate::lesson::schema::{Lesson, Objective};

/// How many of the likeliest answers are listed.
pub const ANSWERS: usize = 5;

/// The model's answers about a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// `Z`, a row for each token, or one where the sentence is read as a whole; (R, C)
    pub logits: Matrix<f32>,
    /// The likeliest answers of each row, best first.
    pub likeliest: Vec<Vec<Answer>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Index into [`ModelSnapshot::classes`].
    pub class: usize,
    pub probability: f32,
}

impl Answers {
    /// `softmax(Z)` of one class.
    ///
    /// # Panics
    /// If there is no such row or class.
    pub fn probability(&self, row: usize, class: usize) -> f32 {
        if let Some(listed) = self.likeliest[row].iter().find(|answer| answer.class == class) {
            return listed.probability;
        }
        let (highest, probability) = self.best(row);
        probability * (self.logits.get(row, class) - highest).exp()
    }

    /// The logit from which on a class of a row has at least this probability.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn logit_of(&self, row: usize, probability: f32) -> f32 {
        let (highest, of_highest) = self.best(row);
        highest + (probability / of_highest).ln()
    }

    /// Logit and probability of the likeliest class of a row.
    fn best(&self, row: usize) -> (f32, f32) {
        let best = self.likeliest[row].first();
        best.map_or((f32::NAN, f32::NAN), |best| (self.logits.get(row, best.class), best.probability))
    }
}

/// Reads the answers off the outputs of a sentence.
pub fn answers(model: &AttentionModel<f32>, parameters: &Parameters<f32>, output: &Matrix<f32>) -> Answers {
    let rows = output.rows();
    let read = match model.architecture.pooling {
        Pooling::Every => output.clone(),
        Pooling::Last => Matrix::from_row_major(1, output.cols(), output.row(rows - 1).to_vec()),
        Pooling::Mean => Matrix::from_row_major(1, output.cols(), centroid(output, &(0..rows).collect::<Vec<_>>())),
    };
    let logits = model.logits_of(parameters, &read);
    let likeliest = (0..logits.rows()).map(|row| likeliest(logits.row(row))).collect();
    Answers { logits, likeliest }
}

/// `softmax(Z)` of one row.
pub fn probabilities(logits: &[f32]) -> Vec<f32> {
    let mut probabilities = logits.to_vec();
    softmax_forward(&mut probabilities);
    probabilities
}

/// The likeliest classes of one row of logits, best first.
pub fn likeliest(logits: &[f32]) -> Vec<Answer> {
    let probabilities = probabilities(logits);
    let answer = |class| Answer { class, probability: probabilities[class] };
    highest(&probabilities, ANSWERS).into_iter().map(answer).collect()
}

/// Names of the classes: labels, or words.
pub fn class_names(lesson: &Lesson, classes: &Classes, vocabulary: &[String]) -> Vec<String> {
    match classes {
        Classes::Words(candidates) => candidates.words().iter().map(|&word| vocabulary[word].clone()).collect(),
        Classes::Labels(_) => lesson.corpus.topics.iter().map(|topic| topic.name.clone()).collect(),
    }
}

/// # Errors
/// In words for the learner, if the model does not go on with sentences.
pub fn check_generates(objective: &Objective) -> Result<(), String> {
    match objective {
        Objective::NextWord | Objective::Sequence(_) => Ok(()),
        Objective::MaskedWord { .. } => {
            Err("the model writes nothing after a sentence: it was trained to fill in hidden words".to_owned())
        }
        Objective::Label => {
            Err("the model writes nothing after a sentence: it was trained to give one answer to the whole of it"
                .to_owned())
        }
    }
}

/// Why there is no next word.
pub fn cannot_generate_words(why: CannotGenerate) -> String {
    match why {
        CannotGenerate::NoWords => "there are no words to go on from".to_owned(),
        CannotGenerate::NotWords => "the model names labels, not words".to_owned(),
        CannotGenerate::NotFinite => {
            "the model's answer is no finite number: a weight is far too large; reset it".to_owned()
        }
        CannotGenerate::Temperature => "a temperature is above 0".to_owned(),
        CannotGenerate::TopK => "a word is drawn among 1 or more".to_owned(),
        CannotGenerate::TopP => "a word is drawn among a share above 0, and at most 1".to_owned(),
    }
}
