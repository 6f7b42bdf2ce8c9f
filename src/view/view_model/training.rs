//! The Training panel: the loss curve and the state of training.

use attune_core::kernel::snapshot::{CheckpointsSnapshot, Progress, Snapshot, TrainingSnapshot};
use attune_core::kernel::training::log::TrainingLog;
use attune_core::kernel::training::stop::{Diverged, Overflow, Stopped};
use attune_core::lesson::schema::StopRule;
use attune_engine::messages::counted;
use attune_engine::numerics::model::DistanceCosts;

#[derive(Clone, Debug, PartialEq)]
pub struct TrainingModel {
    pub stage: TrainingStage,
    /// A text on the stage of training, with the reason if training stopped by itself.
    pub status: String,
    /// The latest step.
    pub step: usize,
    pub steps: usize,
    /// The past step that is shown; `None` if the latest one is.
    pub shown: Option<usize>,
    /// The requested step, which is being recomputed while another one is shown.
    pub sought: usize,
    /// The learning rate of the step after the shown one.
    pub learning_rate: f64,
    /// The loss, in nats, and the gradient norms of each step.
    pub log: TrainingLog,
    /// The tensors whose norms are in the log.
    pub tensors: Vec<String>,
    /// The loss of a model that only guesses.
    pub chance: Option<f32>,
    /// A text on how many steps can be recalled.
    pub checkpoints: String,
    /// A line about the model, such as `toy model · 4736 parameters · 1200 sentences · 96 words`.
    pub honest_label: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainingStage {
    /// The static vectors are being trained; progress is in epochs.
    Embedding {
        done: usize,
        of: usize,
    },
    /// A pretrained model is being loaded; progress is in megabytes.
    Loading {
        done: usize,
        of: usize,
    },
    Playing,
    Paused,
    /// Training was stopped by a rule of the lesson before the last step, and can be continued.
    Stopped,
    Finished,
    Diverged,
}

impl TrainingModel {
    pub fn of(snapshot: &Snapshot) -> TrainingModel {
        let lesson = &snapshot.lesson;
        let words = snapshot.space.as_ref().map_or(0, |space| space.vocabulary.len());
        let label = |parameters: usize| {
            let sentences = lesson.corpus.sentences;
            let loss = loss_words(&lesson.model.costs);
            format!("toy model · {parameters} parameters · {sentences} sentences · {words} words{loss}")
        };
        let Some(model) = &snapshot.model else {
            return TrainingModel {
                stage: TrainingStage::of(snapshot),
                status: match lesson.static_embedding.is_pretrained() {
                    true => "reading the model's files".to_owned(),
                    false => "training the static vectors".to_owned(),
                },
                step: 0,
                steps: lesson.model.schedule.steps,
                shown: None,
                sought: 0,
                checkpoints: String::new(),
                learning_rate: lesson.model.schedule.learning_rate,
                log: TrainingLog::new(0),
                tensors: Vec::new(),
                chance: None,
                honest_label: label(0),
            };
        };
        let training = &model.training;
        TrainingModel {
            stage: stage(training.stopped),
            status: status(training),
            step: training.progress.done,
            steps: training.progress.of,
            shown: training.look.map(|look| look.step),
            sought: training.look.map_or(training.progress.done, |look| look.target),
            checkpoints: checkpoints_words(&training.checkpoints),
            learning_rate: training.learning_rate,
            log: training.log.clone(),
            tensors: model.parameters.specs().iter().map(|spec| spec.id.to_string()).collect(),
            chance: Some(training.chance),
            honest_label: label(model.parameters.len()),
        }
    }
}

/// Returns what the loss is made of, such as ` · loss: cross-entropy + 0.5 keep`; empty if it is the cross-entropy
/// alone, to which a guess is compared.
fn loss_words(costs: &DistanceCosts) -> String {
    let costs = [(costs.arrive, "arrive"), (costs.keep, "keep")];
    let terms: String =
        costs.iter().filter(|(cost, _)| *cost != 0.0).map(|(cost, name)| format!(" + {cost} {name}")).collect();
    if terms.is_empty() { terms } else { format!(" · loss: cross-entropy{terms}") }
}

/// Returns a text such as `76 steps kept in 1.2 MB, one in every 8; when needed, the steps in between are trained
/// again, bit for bit`.
fn checkpoints_words(checkpoints: &CheckpointsSnapshot) -> String {
    const MEGABYTE: f64 = 1e6;
    let CheckpointsSnapshot { steps, bytes } = checkpoints;
    let megabytes = *bytes as f64 / MEGABYTE;
    let count = counted(steps.len(), "step");
    let kept = format!("{count} kept in {megabytes:.1} MB");
    match steps[..] {
        [first, second, ..] if second - first > 1 => {
            format!(
                "{kept}, one in every {}; when needed, the steps in between are trained again, bit for bit",
                second - first
            )
        }
        _ => kept,
    }
}

impl TrainingStage {
    pub fn of(snapshot: &Snapshot) -> Self {
        let Progress { done, of } = snapshot.embedding_progress;
        match &snapshot.model {
            Some(model) => stage(model.training.stopped),
            None if snapshot.lesson.static_embedding.is_pretrained() => Self::Loading { done, of },
            None => Self::Embedding { done, of },
        }
    }

    /// Returns whether training is paused or stopped before the last step.
    pub fn can_go_on(self) -> bool {
        matches!(self, Self::Paused | Self::Stopped)
    }

    /// Returns whether there is no model yet.
    pub fn is_before_model(self) -> bool {
        matches!(self, Self::Embedding { .. } | Self::Loading { .. })
    }
}

/// Returns a text for a panel that has nothing to show yet: what it waits for, or the fault that prevents it.
pub fn waiting_words(snapshot: &Snapshot) -> String {
    if let Some(fault) = &snapshot.fault {
        return fault.words.clone();
    }
    match TrainingStage::of(snapshot) {
        TrainingStage::Loading { of: 0, .. } => "The model's files are being read …".to_owned(),
        TrainingStage::Loading { done, of } => format!("The model's files are being read: {done} of {of} MB …"),
        _ if snapshot.lesson.static_embedding.recording().is_some() => "The recording is being read …".to_owned(),
        TrainingStage::Embedding { of: 0, .. } => "The vectors are being prepared …".to_owned(),
        _ => "The static vectors are being trained …".to_owned(),
    }
}

fn stage(stopped: Option<Stopped>) -> TrainingStage {
    match stopped {
        None => TrainingStage::Playing,
        Some(Stopped::Paused) => TrainingStage::Paused,
        Some(Stopped::LastStep) => TrainingStage::Finished,
        Some(Stopped::Rule(_)) => TrainingStage::Stopped,
        Some(Stopped::Diverged(_)) => TrainingStage::Diverged,
    }
}

fn status(training: &TrainingSnapshot) -> String {
    if let Some(look) = training.look {
        let latest = training.progress.done;
        let step = if look.step == look.target {
            format!("step {}", look.step)
        } else {
            format!("step {}, on the way to {}", look.step, look.target)
        };
        return format!("looking back at {step}; training is at step {latest}");
    }
    match training.stopped {
        None => "training".to_owned(),
        Some(Stopped::Paused) => "paused".to_owned(),
        Some(Stopped::LastStep) => "finished".to_owned(),
        Some(Stopped::Rule(rule)) => format!("stopped: {}", rule_words(rule)),
        Some(Stopped::Diverged(diverged)) => format!("{}; the last good step is kept", diverged_words(&diverged)),
    }
}

/// Describes the rule that stopped training.
fn rule_words(rule: StopRule) -> String {
    match rule {
        StopRule::LossBelow(limit) => format!("the loss is below {limit}"),
        StopRule::GradientBelow(limit) => format!("the norm of the gradient is below {limit}"),
        StopRule::Plateau { steps, by } => {
            format!("over the last {steps} steps the loss has not fallen by {by}")
        }
    }
}

/// Describes how training diverged, and where.
pub fn diverged_words(diverged: &Diverged) -> String {
    let what = match diverged.overflow {
        Overflow::Loss => "the loss is no longer finite".to_owned(),
        Overflow::Gradient(tensor) => format!("the gradient of {tensor} overflows"),
        Overflow::Parameter(tensor) => format!("an entry of {tensor} is no longer finite"),
    };
    format!("training diverged at step {}: {what}", diverged.step)
}
