//! One line of training, from the initialisation to its latest step, and every step of it to look at.
//!
//! ```text
//! start ──●────●────●────●──▲──●── latest       ● checkpoint   ▲ intervention
//!                     └──► a step looked at: the checkpoint before it, run again
//! ```
//!
//! Training is deterministic, so a step between two checkpoints is exact, bit for bit: the states are
//! run again from the checkpoint before it, and what the learner changed on the way, the
//! interventions, is done again at its step. What a sentence looked like at that step is then the
//! forward pass with those parameters in the one basis of all pictures; so no activation is kept.

use std::sync::Arc;

use super::checkpoints::{Checkpoints, RestingCheckpoints};
use super::line_changes::{Change, Intervention, Interventions};
use super::stop::{Overflow, Stopped, holds};
use super::trainer::{Trainer, TrainingState};
use super::training_log::TrainingLog;
use crate::lesson::schema::StopRule;
use crate::numerics::params::Parameters;

/// Entries of tensors that a line remembers to have been changed while it trained.
pub const CHANGED_ENTRIES_MAX: usize = 1 << 16;

#[derive(Clone, Debug)]
pub struct Line {
    /// At the latest step, after the interventions there.
    latest: Arc<TrainingState>,
    log: TrainingLog,
    /// Each as its step left it, before the interventions there.
    checkpoints: Checkpoints<TrainingState>,
    /// In the order of their steps.
    interventions: Interventions,
    /// Of all interventions together.
    changed_entries: usize,
    /// The rules that have stopped this line, with the step: each does so once.
    fired: Vec<(StopRule, usize)>,
    /// Why it came to stand, where that is no matter of asking.
    pub stopped: Option<Stopped>,
}

impl Line {
    /// At the initialisation.
    pub fn new(trainer: &Trainer) -> Self {
        let latest = Arc::new(trainer.start());
        let mut checkpoints = Checkpoints::new(latest.bytes());
        checkpoints.offer(0, &latest);
        let log = TrainingLog::new(latest.parameters.tensors().count());
        Self {
            latest,
            log,
            checkpoints,
            interventions: Interventions::default(),
            changed_entries: 0,
            fired: Vec::new(),
            stopped: None,
        }
    }

    pub fn latest(&self) -> &Arc<TrainingState> {
        &self.latest
    }

    /// The latest step.
    pub fn steps_done(&self) -> usize {
        self.log.len()
    }

    /// The state at the latest step was spoilt and is on its way there again.
    pub fn is_mending(&self) -> bool {
        self.latest.steps_done() < self.steps_done()
    }

    /// Brings the state nearer to the latest step, by at most so many.
    pub fn mend(&mut self, trainer: &mut Trainer, steps: usize) {
        let mut last_good = Lookback { state: self.latest.clone(), target: self.steps_done() };
        self.bring(&mut last_good, trainer, steps);
        self.latest = last_good.state;
    }

    pub fn log(&self) -> &TrainingLog {
        &self.log
    }

    /// What the learner changed on its way.
    pub fn changes(&self) -> &Interventions {
        &self.interventions
    }

    pub fn checkpoint_steps(&self) -> Vec<usize> {
        self.checkpoints.steps().collect()
    }

    /// One training step at the end of the line. If it overflows, the line stays as it was, and says so;
    /// a state that the step has spoilt is to be mended.
    pub fn step(&mut self, trainer: &mut Trainer, rules: &[StopRule]) {
        match trainer.step(Arc::make_mut(&mut self.latest)) {
            Ok(record) => {
                self.log.push(&record);
                self.checkpoints.offer(self.steps_done(), &self.latest);
                self.stopped = self.rule_that_holds(rules).map(Stopped::Rule);
            }
            Err(diverged) => {
                if matches!(diverged.overflow, Overflow::Parameter(_)) {
                    self.latest = self.begin_at_checkpoint(self.steps_done(), trainer).state;
                }
                self.stopped = Some(Stopped::Diverged(diverged));
            }
        }
    }

    fn rule_that_holds(&mut self, rules: &[StopRule]) -> Option<StopRule> {
        let fresh = |rule: &&StopRule| self.fired.iter().all(|(fired, _)| fired != *rule);
        let rule = *rules.iter().filter(fresh).find(|rule| holds(**rule, &self.log))?;
        self.fired.push((rule, self.steps_done()));
        Some(rule)
    }

    /// Training goes on from these parameters.
    ///
    /// # Errors
    /// In words for the learner, if the line would have to remember too much.
    pub fn set_parameters(&mut self, parameters: Arc<Parameters<f32>>) -> Result<(), String> {
        let pairs = self.latest.parameters.flat().iter().zip(parameters.flat()).enumerate();
        // By their bits: -0 is not 0 to a training that is to be the same.
        let differ = pairs.filter(|(_, (old, new))| old.to_bits() != new.to_bits());
        let entries: Arc<[(usize, f32)]> = differ.map(|(index, (_, new))| (index, *new)).collect();
        if !entries.is_empty() {
            self.intervene(Change::Entries(entries))?;
            Arc::make_mut(&mut self.latest).parameters = parameters;
        }
        Ok(())
    }

    /// # Errors
    /// As [`Self::set_parameters`].
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<(), String> {
        let change = Change::LearningRate(rate);
        self.intervene(change.clone())?;
        change.apply(Arc::make_mut(&mut self.latest));
        self.stopped = None;
        Ok(())
    }

    fn intervene(&mut self, change: Change) -> Result<(), String> {
        let step = self.steps_done();
        // Of two learning rates at one step the first was never used.
        let is_rate = |change: &Change| matches!(change, Change::LearningRate(_));
        let unused =
            self.interventions.last().filter(|last| is_rate(&change) && last.step == step && is_rate(&last.change));
        let unused = unused.map(|last| last.change.entries());
        let entries = self.changed_entries + change.entries() - unused.unwrap_or(0);
        if entries > CHANGED_ENTRIES_MAX {
            return Err(format!(
                "a training remembers at most {CHANGED_ENTRIES_MAX} changes made on its way; reset it to make more"
            ));
        }
        if unused.is_some() {
            self.interventions.pop();
        }
        self.changed_entries = entries;
        self.interventions.push(Intervention { step, change });
        Ok(())
    }

    /// Begins to look at a step of this line: from the nearest state at or before it, `near` among them.
    pub fn look_at(&self, step: usize, near: Option<&Lookback>, trainer: &Trainer) -> Lookback {
        if step >= self.steps_done() {
            return Lookback { state: self.latest.clone(), target: self.steps_done() };
        }
        let begun = self.begin_at_checkpoint(step, trainer);
        let is_nearer = |near: &&Lookback| (begun.state.steps_done()..=step).contains(&near.state.steps_done());
        match near.filter(is_nearer) {
            Some(near) => Lookback { state: near.state.clone(), target: step },
            None => begun,
        }
    }

    fn begin_at_checkpoint(&self, target: usize, trainer: &Trainer) -> Lookback {
        // Those of an undone line may be gone; its start is always at hand.
        let mut state = self.checkpoints.before(target).unwrap_or_else(|| Arc::new(trainer.start()));
        self.intervene_again(&mut state);
        Lookback { state, target }
    }

    /// Brings it nearer to its step, by at most so many. What it passes fills gaps between the checkpoints.
    pub fn bring(&mut self, lookback: &mut Lookback, trainer: &mut Trainer, steps: usize) {
        let steps = steps.min(lookback.target - lookback.state.steps_done());
        for _ in 0..steps {
            if trainer.step(Arc::make_mut(&mut lookback.state)).is_err() {
                unreachable!("a step that went well goes well again");
            }
            self.checkpoints.offer(lookback.state.steps_done(), &lookback.state);
            self.intervene_again(&mut lookback.state);
        }
    }

    /// What the learner changed at the step that `state` has come to.
    fn intervene_again(&self, state: &mut Arc<TrainingState>) {
        let step = state.steps_done();
        self.interventions.at(step).for_each(|done| done.change.apply(Arc::make_mut(state)));
    }

    /// A line of its own that shares this one's beginning, up to the state looked at.
    pub fn branch(&self, state: &Arc<TrainingState>) -> Line {
        let step = state.steps_done();
        let before = self.interventions.up_to(step);
        Line {
            latest: state.clone(),
            log: self.log.truncated(step),
            checkpoints: self.checkpoints.up_to(step),
            changed_entries: before.iter().map(|done| done.change.entries()).sum(),
            interventions: before,
            fired: self.fired.iter().copied().filter(|(_, at)| *at <= step).collect(),
            stopped: None,
        }
    }

    /// As undo remembers it, with [`RestingLine::wake`] to return.
    pub fn rest(&self) -> RestingLine {
        let none = self.checkpoints.none();
        RestingLine { line: Line { checkpoints: none, ..self.clone() }, checkpoints: self.checkpoints.rest() }
    }
}

/// A line that undo remembers.
pub struct RestingLine {
    line: Line,
    checkpoints: RestingCheckpoints<TrainingState>,
}

impl RestingLine {
    /// What it keeps in memory, in bytes.
    pub fn bytes(&self) -> usize {
        let Line { latest, log, interventions, changed_entries, .. } = &self.line;
        let changed = changed_entries * size_of::<(usize, f32)>();
        latest.bytes() + log.bytes() + interventions.bytes() + changed + self.checkpoints.bytes()
    }

    pub fn wake(self) -> Line {
        Line { checkpoints: self.checkpoints.wake(), ..self.line }
    }
}

/// A past state on its way to the step that is looked for. Each state on the way is a true one.
#[derive(Clone, Debug)]
pub struct Lookback {
    pub state: Arc<TrainingState>,
    pub target: usize,
}

impl Lookback {
    pub fn has_arrived(&self) -> bool {
        self.state.steps_done() == self.target
    }

    /// Where it is now is what it looks at.
    pub fn settle(&mut self) {
        self.target = self.state.steps_done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::space::SpaceTrainer;
    use crate::lesson::parse;

    fn trainer() -> Trainer {
        let lesson = parse("small.ron", include_str!("../../tests/fixtures/small.ron")).expect("no issues");
        let mut space = SpaceTrainer::new(&lesson);
        while !space.advance() {}
        let vectors = space.finish(&lesson).expect("finite vectors");
        Trainer::new(&lesson, &vectors, space.examples())
    }

    #[test]
    fn a_spoilt_state_is_mended_a_few_steps_at_a_time() {
        let mut trainer = trainer();
        let mut line = Line::new(&trainer);
        for step in 0..20 {
            if step == 7 {
                line.set_learning_rate(0.05).expect("one change");
            }
            line.step(&mut trainer, &[]);
        }
        let good = line.latest.clone();
        // As after a step that has spoilt the state, where only the start is at hand.
        line.checkpoints = line.checkpoints.none();
        line.latest = line.begin_at_checkpoint(line.steps_done(), &trainer).state;
        for brought in [6, 12, 18] {
            assert!(line.is_mending() && line.steps_done() == 20);
            line.mend(&mut trainer, 6);
            assert_eq!(line.latest.steps_done(), brought);
        }
        line.mend(&mut trainer, 6);
        assert!(!line.is_mending() && line.latest == good, "bit for bit");
    }
}
