//! The training of a model: it plays, pauses, shows past steps and branches.

pub mod cache;
pub mod changes;
pub mod log;
pub mod run;
pub mod stop;
pub mod trainer;
pub mod weights;

use std::sync::Arc;

use attune_engine::numerics::model::AttentionModel;
use attune_engine::numerics::params::Parameters;

use self::run::Replay;
use self::stop::Stopped;
use self::trainer::Trainer;
use self::weights::{Comparison, WeightState};
use crate::kernel::training::cache::StepCache;
use crate::kernel::training::weights::Reference;
use crate::lesson::limits::LEARNING_RATE_MAX;

/// The training of a model. A clone shares everything large.
#[derive(Clone)]
pub struct Training {
    trainer: Arc<Trainer>,
    model: WeightState,
    comparison: Option<Comparison>,
    playing: bool,
    /// The step at which training pauses.
    goal: usize,
    /// Whether stop rules are ignored on the way to the goal.
    passes_rules: bool,
}

impl Training {
    /// Creates a training that is paused at the initialisation.
    pub fn new(trainer: Trainer) -> Self {
        let model = WeightState::new(&Arc::new(trainer.start()));
        Self { trainer: Arc::new(trainer), model, comparison: None, playing: false, goal: 0, passes_rules: false }
    }

    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// Returns the model without its parameters.
    pub fn network(&self) -> &AttentionModel<f32> {
        &self.trainer.model
    }

    pub fn model(&self) -> &WeightState {
        &self.model
    }

    /// Returns the parameters in use.
    pub fn live(&self) -> &Arc<Parameters<f32>> {
        self.model.live()
    }

    /// Returns the parameters at the initialisation.
    pub fn start(&self) -> &Arc<Parameters<f32>> {
        &self.model.run.start().parameters
    }

    pub fn comparison(&self) -> Option<&Comparison> {
        self.comparison.as_ref()
    }

    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Returns whether training plays to the lesson's last step.
    pub fn plays_to_the_end(&self) -> bool {
        self.playing && self.goal == self.trainer.steps()
    }

    pub fn is_busy(&self) -> bool {
        self.playing || self.model.run.is_recovering() || self.replays().any(|replay| !replay.has_arrived())
    }

    fn replays(&self) -> impl Iterator<Item = &Replay> {
        let compared = match &self.comparison {
            Some(Comparison::Step(replay)) => Some(replay),
            _ => None,
        };
        self.model.replay().into_iter().chain(compared)
    }

    pub fn steps_done(&self) -> usize {
        self.model.run.steps_done()
    }

    /// Returns the steps that can be shown at once: the start, and those with a checkpoint.
    pub fn checkpoint_steps(&self, cache: &StepCache) -> Vec<usize> {
        let kept = cache.steps(self.model.run.changes(), self.steps_done());
        if kept.is_empty() { vec![0] } else { kept }
    }

    /// Returns whether training has ended as the lesson's own training does: at its last step, its first stop rule or
    /// an overflow, and without changes by the learner on the way.
    pub fn ends_as_given(&self) -> bool {
        let run = &self.model.run;
        let has_stopped = run.first_rule_step().is_some() || run.diverged.is_some();
        self.is_on_given_way() && (has_stopped || run.steps_done() == self.trainer.steps())
    }

    /// Returns whether the latest step is one of the lesson's own training: no stop rule has been passed, and the
    /// learner has changed nothing on the way.
    pub fn is_on_given_way(&self) -> bool {
        let run = &self.model.run;
        let is_on_way = run.first_rule_step().is_none_or(|step| step == run.steps_done());
        is_on_way && run.changes().last().is_none() && !run.is_recovering()
    }

    /// Returns this training at its latest step, paused and without edits of the weights.
    pub fn untouched(&self) -> Self {
        Self { model: self.model.untouched(), comparison: None, playing: false, ..self.clone() }
    }

    /// Returns the reason why training is not running, or `None` while it plays.
    pub fn stopped(&self) -> Option<Stopped> {
        let at_end = self.steps_done() >= self.trainer.steps();
        let asked = if at_end { Stopped::LastStep } else { Stopped::Paused };
        (!self.playing).then(|| self.model.run.stopped().unwrap_or(asked))
    }

    /// Does a few steps. Past steps that are being computed come first, because the learner waits for them.
    pub fn advance(&mut self, cache: &mut StepCache) {
        let steps = self.trainer.steps_at_once();
        if !self.replays().all(Replay::has_arrived) {
            self.recall(cache);
        } else if self.model.run.is_recovering() {
            self.model.run.recover(&self.trainer, cache, steps);
        } else {
            self.train(cache, steps);
        }
    }

    /// Returns whether training plays and no past step has to be computed first.
    pub fn is_training(&self) -> bool {
        self.playing && !self.model.run.is_recovering() && self.replays().all(Replay::has_arrived)
    }

    /// Does `steps` optimiser steps, or as many as are left before training pauses.
    pub fn train(&mut self, cache: &mut StepCache, steps: usize) {
        let run = &mut self.model.run;
        for _ in 0..steps {
            if !self.playing {
                return;
            }
            if run.steps_done() < self.goal {
                run.step(&self.trainer, cache);
            }
            let goes_on = match run.stopped() {
                Some(Stopped::Rule(_)) => self.passes_rules,
                stopped => stopped.is_none(),
            };
            self.playing = run.steps_done() < self.goal && goes_on;
        }
    }

    /// Does a few steps towards the past step that was requested.
    fn recall(&mut self, cache: &mut StepCache) {
        let steps = self.trainer.steps_at_once();
        if self.model.replay().is_some_and(|replay| !replay.has_arrived()) {
            self.model.advance_look(&self.trainer, cache, steps);
        } else if let Some(Comparison::Step(replay)) = &mut self.comparison {
            self.model.run.advance(replay, &self.trainer, cache, steps);
        }
    }

    /// Starts to train to a step, from the weights in use at the latest step, including the learner's edits. The latest
    /// step is shown again.
    ///
    /// # Errors
    /// A message for the learner if the change is refused. Nothing is changed in that case.
    pub fn play_to(&mut self, goal: usize) -> Result<(), String> {
        if goal == 0 {
            return Err("the lesson asks for no training, because its steps are 0".to_owned());
        }
        if self.steps_done() >= goal {
            return Err(format!(
                "training is at its last step, {goal}; to train again, reset training or branch from an earlier step"
            ));
        }
        self.check_recovered()?;
        self.model.commit_edits()?;
        self.model.end_look();
        self.model.run.diverged = None;
        (self.goal, self.passes_rules) = (goal, false);
        self.playing = true;
        Ok(())
    }

    /// Starts to train to a step, and ignores all stop rules. If that step has been reached, training pauses, and the
    /// learner's edits become the weights from which it continues.
    ///
    /// # Errors
    /// The error of [`Self::play_to`].
    pub fn train_to(&mut self, step: usize) -> Result<(), String> {
        if self.steps_done() < step {
            self.play_to(step)?;
            self.passes_rules = true;
            return Ok(());
        }
        self.check_recovered()?;
        self.model.commit_edits()?;
        self.model.end_look();
        self.pause();
        Ok(())
    }

    /// Returns whether training is paused at this step or a later one, with the latest step shown and no edits.
    pub fn stands_at(&self, step: usize) -> bool {
        !self.playing && self.steps_done() >= step && self.model.replay().is_none() && !self.model.is_edited()
    }

    pub fn pause(&mut self) {
        self.playing = false;
    }

    /// Replaces the weights and their training, which pauses, and returns the earlier ones.
    pub fn replace(&mut self, model: WeightState) -> WeightState {
        self.playing = false;
        if let Some(comparison) = &mut self.comparison {
            comparison.settle();
        }
        std::mem::replace(&mut self.model, model)
    }

    /// Returns whether training is paused at the initialisation and nothing has been changed.
    pub fn is_at_start(&self) -> bool {
        !self.playing && self.model.is_at_start()
    }

    /// Resets the training to the initialisation.
    pub fn reset(&mut self) {
        self.replace(WeightState::new(&self.model.run.start().clone()));
    }

    /// Shows the model as it was after a step, and pauses training.
    ///
    /// # Errors
    /// A message for the learner if there is no such step.
    pub fn scrub(&mut self, step: usize, cache: &mut StepCache) -> Result<(), String> {
        self.check_step(step)?;
        self.playing = false;
        if step == self.steps_done() {
            self.model.end_look();
        } else {
            self.model.look(step, cache);
            self.recall(cache);
        }
        Ok(())
    }

    /// Returns the step that is shown or that is being computed to be shown.
    pub fn step_in_sight(&self) -> usize {
        self.model.replay().map_or(self.steps_done(), |replay| replay.target)
    }

    fn check_step(&self, step: usize) -> Result<(), String> {
        let done = self.steps_done();
        if step <= done { Ok(()) } else { Err(format!("there is no step {step} yet; training has done {done} so far")) }
    }

    /// Makes the step that is shown the latest step of a new run, from which training can continue.
    ///
    /// # Errors
    /// A message for the learner if the latest step is shown.
    pub fn branch(&mut self) -> Result<(), String> {
        if self.model.replay().is_none() {
            return Err("this is already the latest step".to_owned());
        }
        let branch = self.model.branch();
        self.replace(branch);
        Ok(())
    }

    /// Sets the learning rate from the next step on; the optimiser keeps its moments.
    ///
    /// # Errors
    /// A message for the learner if the change is refused. Nothing is changed in that case.
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<(), String> {
        if !(rate > 0.0 && rate <= LEARNING_RATE_MAX) {
            return Err(format!("a learning rate must be above 0 and at most {LEARNING_RATE_MAX}, not {rate}"));
        }
        if self.model.replay().is_some() {
            return Err(
                "the learning rate of a past step is fixed; branch from that step, or go to the latest step".to_owned()
            );
        }
        self.check_recovered()?;
        self.model.run.set_learning_rate(rate)
    }

    /// Checks that the latest step has been restored after an overflow, because changes apply at the latest step.
    fn check_recovered(&self) -> Result<(), String> {
        let is_recovering = self.model.run.is_recovering();
        if is_recovering { Err("wait until the last good step is restored".to_owned()) } else { Ok(()) }
    }

    pub fn learning_rate(&self) -> f64 {
        self.model.shown().optimiser.learning_rate()
    }

    /// Replaces the weights in use. While training plays, it continues from them; otherwise they are edits, which can
    /// be reset to the trained weights.
    ///
    /// # Errors
    /// A message for the learner if the change is refused. Nothing is changed in that case.
    pub fn edit(&mut self, live: Parameters<f32>) -> Result<(), String> {
        if self.model.replay().is_none() {
            self.check_recovered()?;
        }
        if self.playing {
            return self.model.run.set_parameters(Arc::new(live));
        }
        self.model.edit(Arc::new(live));
        Ok(())
    }

    pub fn discard_edits(&mut self) {
        self.model.discard_edits();
    }

    /// Compares the weights in use with others.
    ///
    /// # Errors
    /// A message for the learner if there is no such step.
    pub fn compare(&mut self, with: Option<Reference>, cache: &mut StepCache) -> Result<(), String> {
        let comparison = match with {
            None => None,
            Some(Reference::Trained) => Some(Comparison::Trained),
            Some(Reference::Start) => Some(Comparison::Start(self.start().clone())),
            Some(Reference::Step(step)) => {
                self.check_step(step)?;
                let near = self.model.replay();
                Some(Comparison::Step(self.model.run.look_at(step, near, cache)))
            }
        };
        self.set_comparison(comparison);
        self.recall(cache);
        Ok(())
    }

    /// Sets the comparison, and returns the earlier one in a form that can be kept.
    pub fn set_comparison(&mut self, comparison: Option<Comparison>) -> Option<Comparison> {
        let mut before = std::mem::replace(&mut self.comparison, comparison);
        if let Some(before) = &mut before {
            before.settle();
        }
        before
    }
}
