//! Commands of the training: play, step, reset, scrub, branch and compare.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::params::TensorName;

use crate::kernel::command::TrainingCommand;
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::training::weights::Comparison;

impl LessonModel {
    pub(crate) fn apply_to_training(&mut self, command: TrainingCommand) -> Result<(), String> {
        match command {
            TrainingCommand::Play if self.training.plays_to_the_end() => Ok(()),
            TrainingCommand::Play => {
                let goal = self.training.trainer().steps();
                self.change_model("training", |training, _| training.play_to(goal))
            }
            TrainingCommand::Step(0) => Err("training must go forward by at least one step".to_owned()),
            TrainingCommand::Step(steps) => {
                let goal = self.training.steps_done().saturating_add(steps).min(self.training.trainer().steps());
                self.change_model(&format!("training by {steps}"), |training, _| training.play_to(goal))
            }
            TrainingCommand::TrainTo(step) => self.train_to(step),
            TrainingCommand::Pause => {
                self.training.pause();
                Ok(())
            }
            TrainingCommand::Reset if self.training.is_at_start() => Ok(()),
            TrainingCommand::Reset => self.change_model("reset of the training", |training, _| {
                training.reset();
                Ok(())
            }),
            TrainingCommand::Scrub(step) => self.scrub(step),
            TrainingCommand::ShowLatest => self.scrub(self.training.steps_done()),
            TrainingCommand::Branch => {
                let label = format!("branch from step {}", self.training.model().shown().steps_done());
                self.change_model(&label, |training, _| training.branch())
            }
            TrainingCommand::SetLearningRate(rate) if rate == self.training.learning_rate() => Ok(()),
            TrainingCommand::SetLearningRate(rate) => {
                let label = format!("learning rate {rate}");
                self.change_model(&label, |training, _| training.set_learning_rate(rate))
            }
            TrainingCommand::Compare(with) => {
                let before = self.training.comparison().cloned();
                if before.as_ref().map(Comparison::reference) != with {
                    self.training.compare(with, &mut self.cache.steps)?;
                    self.remember("choice of a comparison", UndoPart::Comparison(before));
                }
                Ok(())
            }
        }
    }

    /// Moves the words of the stage to their present vectors. If the model trains the embedding table, the words move
    /// with each step and each change of it, along axes that stay.
    pub(crate) fn follow_table(&mut self) {
        if !self.trains_table() || (self.ground.pretrained.is_some() && self.training.is_playing()) {
            // The table of a model that was read from files is too large to be shown at each step.
            return;
        }
        let live = self.training.live();
        if self.followed.as_ref().is_some_and(|followed| Arc::ptr_eq(followed, live)) {
            return;
        }
        self.followed = Some(live.clone());
        let table = live.values_of(TensorName::Embedding);
        let vectors = &self.space.vectors;
        if table != vectors.widened().flat() {
            let table = Matrix::from_row_major(vectors.rows(), vectors.cols(), table.to_vec());
            Arc::make_mut(&mut self.space).set_table(table.into());
            self.pass.set_space(&self.space);
        }
    }

    /// Trains to a step, or to the last one if it is `None`. Nothing happens if the model is there already.
    fn train_to(&mut self, step: Option<usize>) -> Result<(), String> {
        let last = self.training.trainer().steps();
        let step = step.map_or(last, |step| step.min(last));
        if self.training.stands_at(step) {
            return Ok(());
        }
        self.change_model(&format!("training to step {step}"), |training, _| training.train_to(step))
    }

    fn scrub(&mut self, step: usize) -> Result<(), String> {
        if step == self.training.step_in_sight() {
            return Ok(());
        }
        // Weights that were edited at a past step are left behind when another step is shown; undo restores them.
        self.change_model("look at another step", |training, cache| training.scrub(step, cache))
    }
}
