//! Snapshots: what a viewer may see. Immutable, complete, and cheap to clone.

use std::sync::Arc;

use super::basis::Basis;
use super::command::Reference;
use super::line_changes::Interventions;
use super::model_state::EditedParameters;
use super::moves::Moves;
use super::notebook::Notebook;
use super::notebook::snapshot::NotebookSnapshot;
use super::saved::SavedModel;
use super::second::SecondSentence;
use super::space::LessonFault;
use super::stop::{Diverged, Stopped};
use super::training_log::TrainingLog;
use crate::lesson::{Lesson, Recipe};
use crate::numerics::Matrix;
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::attention::HeadMode;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::Interventions as ForwardInterventions;
use crate::numerics::model::generate::Choice;
use crate::numerics::model::{Activations, Architecture};
use crate::numerics::params::Parameters;
use crate::numerics::projection::Projection;
use crate::numerics::tensor_norms::TensorNorms;

/// The state of a running lesson at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub lesson: Arc<Lesson>,
    /// Grows by at least one with every change.
    pub revision: u64,
    /// The static vectors, once they are trained.
    pub space: Option<Arc<StaticSpace>>,
    /// How far the static vectors are, in epochs.
    pub embedding_progress: Progress,
    /// The attention model, from its initialisation on.
    pub model: Option<ModelSnapshot>,
    /// The learner's cells.
    pub notebook: Arc<NotebookSnapshot>,
    pub history: HistorySnapshot,
    /// The lesson is being trained again; what is shown is what there was before.
    pub retraining: Option<RetrainingSnapshot>,
    /// What was saved of the model and is yet to be put back; training is on its way there.
    pub awaited: Option<Arc<SavedModel>>,
    /// What was saved and did not fit the lesson, in sentences for the learner.
    pub report: Arc<[String]>,
    /// What the last command could not do, in words for the learner.
    pub notice: Option<Arc<str>>,
    /// Why there will be no model.
    pub fault: Option<LessonFault>,
}

impl Snapshot {
    /// Before anything is trained.
    pub fn before(lesson: Arc<Lesson>) -> Self {
        let notebook = Notebook::new(&lesson).snapshot();
        Self { notebook, ..Self::empty(lesson) }
    }

    pub(super) fn empty(lesson: Arc<Lesson>) -> Self {
        let embedding_progress = Progress { done: 0, of: lesson.static_embedding.epochs() };
        Self {
            lesson,
            revision: 0,
            space: None,
            embedding_progress,
            model: None,
            notebook: Arc::default(),
            history: HistorySnapshot::default(),
            retraining: None,
            awaited: None,
            report: Arc::from([]),
            notice: None,
            fault: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: usize,
    pub of: usize,
}

/// The vocabulary with its static vectors and the one basis of all pictures.
#[derive(Clone, Debug)]
pub struct StaticSpace {
    /// Row order of `vectors`.
    pub vocabulary: Vec<String>,
    /// `E` (V, D)
    pub vectors: Matrix<f32>,
    /// Fixed when the static vectors are trained, and changed by the learner's choice alone.
    pub projection: Projection,
    /// What chose the projection.
    pub basis: Basis,
    /// The projection of the beginning, which a reset brings back.
    pub own_projection: Projection,
    /// `E` in the basis, (V, 3)
    pub points: Matrix<f32>,
    /// Index into [`Lesson::groups`] of each word that belongs to one.
    pub group_of: Vec<Option<usize>>,
}

/// The attention model: parameters, training and the current sentence; at the latest step of the
/// training, or at the past one that is shown.
#[derive(Clone, Debug)]
pub struct ModelSnapshot {
    pub architecture: Architecture,
    /// In use now.
    pub parameters: Arc<Parameters<f32>>,
    /// As training left them: the ghost of every slider.
    pub trained: Arc<Parameters<f32>>,
    /// The initialisation.
    pub start: Arc<Parameters<f32>>,
    /// What `parameters` are compared with, if anything.
    pub comparison: Option<ComparisonSnapshot>,
    pub training: TrainingSnapshot,
    /// What the learner changed about the forward pass; every head has its mode.
    pub interventions: Arc<ForwardInterventions<f32>>,
    /// What the model chooses among: words, or labels.
    pub classes: Arc<[String]>,
    /// `P` (T_max, D) of a model whose positions are not learned.
    pub fixed_positions: Option<Arc<Matrix<f32>>>,
    /// What it wrote when it was asked to go on.
    pub generated: Option<Arc<Generated>>,
    /// The forward pass of the current sentence with `parameters`.
    pub sentence: Arc<SentenceSnapshot>,
    /// The sentence beside it, if there is one.
    pub second: Option<Arc<SecondSentence>>,
    /// What the learner changed of the lesson before it was trained, and the lesson with that.
    pub recipe: Arc<Recipe>,
    pub made_of: Arc<Lesson>,
    /// What stood here before the lesson was trained again.
    pub replaced: Option<Arc<Replaced>>,
}

/// A model that another one, trained by another recipe, has replaced.
#[derive(Clone, Debug)]
pub struct Replaced {
    pub recipe: Arc<Recipe>,
    pub space: Arc<StaticSpace>,
    /// The sentence that was shown, through that model.
    pub sentence: Arc<SentenceSnapshot>,
}

/// How far a training from scratch is.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrainingSnapshot {
    pub recipe: Arc<Recipe>,
    /// Epochs of the static vectors.
    pub embedding: Progress,
    /// Steps of the model.
    pub steps: Progress,
}

impl ModelSnapshot {
    /// The head takes part in the sum.
    pub fn is_enabled(&self, head: usize) -> bool {
        self.interventions.heads.get(head) != Some(&HeadMode::Off)
    }
}

#[derive(Clone, Debug)]
pub struct TrainingSnapshot {
    pub playing: bool,
    /// Steps done, which is the latest, and steps the lesson asks for.
    pub progress: Progress,
    /// Set while a past step is shown.
    pub look: Option<LookSnapshot>,
    /// Of the step after the one that is shown.
    pub learning_rate: f64,
    /// The loss of a model that knows nothing, `ln C` for C candidates.
    pub chance: f32,
    /// Loss and gradient norms of each step, up to the latest.
    pub log: TrainingLog,
    /// Why training stands still; `None` while it plays.
    pub stopped: Option<Stopped>,
    /// What the learner changed on its way.
    pub changes: Interventions,
    /// While a past step is shown: the weights that are turned at the latest one, if they are.
    pub edited_latest: Option<EditedParameters>,
    pub checkpoints: CheckpointsSnapshot,
}

impl TrainingSnapshot {
    /// The step whose parameters are shown.
    pub fn step_shown(&self) -> usize {
        self.look.map_or(self.progress.done, |look| look.step)
    }

    pub fn diverged(&self) -> Option<Diverged> {
        match self.stopped {
            Some(Stopped::Diverged(diverged)) => Some(diverged),
            _ => None,
        }
    }
}

/// A look at a past step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookSnapshot {
    /// The step that is shown.
    pub step: usize,
    /// The step that was asked for; it is being recalled while `step` is less.
    pub target: usize,
}

/// What is remembered of a training besides its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointsSnapshot {
    /// Steps that are shown at once; the others are run again from the one before.
    pub steps: Vec<usize>,
    /// What they cost in memory.
    pub bytes: usize,
}

/// Two sets of parameters side by side.
#[derive(Clone, Debug)]
pub struct ComparisonSnapshot {
    /// What the parameters in use are compared with. A step that is still being recalled is the one
    /// that the recall has come to.
    pub with: Reference,
    pub reference: Arc<Parameters<f32>>,
    /// Those in use less those of the reference.
    pub difference: Arc<Parameters<f32>>,
    /// Of the difference.
    pub norms: Arc<TensorNorms>,
}

/// What undo and redo would change, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistorySnapshot {
    pub undo: Option<String>,
    pub redo: Option<String>,
}

/// One sentence through the model.
#[derive(Clone, Debug)]
pub struct SentenceSnapshot {
    /// Index into [`Lesson::sentences`], if it is one of them.
    pub index: Option<usize>,
    /// What the model reads, and the stage shows. With a source it is the target, made by the lesson's
    /// rule: each position knows the words before it, and the first one none.
    pub tokens: Vec<Token>,
    /// The learner's sentence, where it is the source.
    pub source: Option<Vec<Token>>,
    /// `X`, and of every block `Q`, `K`, `V`, scores, weights, mix, output.
    pub activations: Activations<f32>,
    /// What the model says of it.
    pub answers: Answers,
    /// Of each head of each block, the source's first: what lies between its projections and its weights.
    pub arithmetic: Vec<Arithmetic<f32>>,
    /// Of each block, per head and source token.
    pub contributions: Vec<Contributions<f32>>,
    /// The same in the basis, of each block.
    pub moves: Vec<Moves>,
    /// Static vectors of the tokens in the basis, (T, 3): where the points start.
    pub start: Matrix<f32>,
    /// Outputs in the basis, (T, 3): where the points end.
    pub end: Matrix<f32>,
    /// Outputs with the trained parameters and no intervention, (T, 3): the ghost while weights are turned.
    pub trained_end: Matrix<f32>,
    /// What would be without the learner's changes; `None` where nothing is changed.
    pub unchanged: Option<Unchanged>,
    /// Of each token's static vector.
    pub static_neighbours: Vec<Neighbours>,
    /// Of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

/// The same sentence with the trained parameters and no intervention, beside what is shown.
#[derive(Clone, Debug)]
pub struct Unchanged {
    /// The same `Arc` as long as the sentence and the trained parameters are the same.
    pub result: Arc<UnchangedResult>,
    /// `‖y_i − y_i'‖` in the true space: how far the changes moved each output.
    pub moved: Vec<f32>,
}

#[derive(Clone, Debug)]
pub struct UnchangedResult {
    pub activations: Activations<f32>,
    /// Of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

impl SentenceSnapshot {
    /// The learner's sentence, whether it is read or looked at.
    pub fn chosen(&self) -> &[Token] {
        self.source.as_ref().unwrap_or(&self.tokens)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    /// Row of the vocabulary; `None` at the start of a sentence that is yet to be written.
    pub word: Option<usize>,
}

/// What the model answers about a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// `Z`, a row for each token, or one where the sentence is read as a whole; (R, C)
    pub logits: Matrix<f32>,
    /// Of each row, best first.
    pub likeliest: Vec<Vec<Answer>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Index into [`ModelSnapshot::classes`].
    pub class: usize,
    pub probability: f32,
}

/// Words that the model wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    pub words: Vec<Token>,
    pub choice: Choice,
    /// It would still write them: the weights are those it wrote them with.
    pub is_current: bool,
}

/// Words near a vector in the true space, the nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    pub by_cosine: Vec<Neighbour>,
    /// By the Euclidean distance.
    pub by_distance: Vec<Neighbour>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Row of the vocabulary.
    pub word: usize,
    pub cosine: f32,
    /// `‖a − b‖`
    pub distance: f32,
}
