//! The kernel: one running lesson. [`Kernel::apply`] is the only way to change it.

use std::sync::Arc;

use super::command::Command;
use super::ready::Ready;
use super::snapshot::{Progress, Snapshot};
use super::space::{LessonFault, SpaceTrainer};
use crate::lesson::schema::Lesson;

/// One running lesson, without a thread or a clock: the same commands and advances, in the same
/// order, lead to the same snapshots, bit for bit.
pub struct Kernel {
    lesson: Arc<Lesson>,
    revision: u64,
    notice: Option<Arc<str>>,
    /// Asked to play before there was anything to train.
    play_when_ready: bool,
    phase: Phase,
}

enum Phase {
    Embedding(Box<SpaceTrainer>),
    Ready(Box<Ready>),
    /// There is nothing to train; the reason is the notice of every snapshot.
    Failed {
        progress: Progress,
        fault: LessonFault,
    },
}

impl Kernel {
    pub fn new(lesson: Arc<Lesson>) -> Self {
        let phase = Phase::Embedding(Box::new(SpaceTrainer::new(&lesson)));
        Self { lesson, revision: 0, notice: None, play_when_ready: false, phase }
    }

    /// A kernel whose static vectors are trained and whose model is at its initialisation.
    pub fn embedded(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::new(lesson);
        while matches!(kernel.phase, Phase::Embedding(_)) {
            kernel.advance();
        }
        kernel
    }

    /// A kernel that has trained to the lesson's last step.
    pub fn trained(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::embedded(lesson);
        kernel.apply(Command::Play);
        while kernel.is_busy() {
            kernel.advance();
        }
        kernel
    }

    /// There is work that nobody has to ask for.
    pub fn is_busy(&self) -> bool {
        match &self.phase {
            Phase::Embedding(_) => true,
            Phase::Ready(ready) => ready.is_busy(),
            Phase::Failed { .. } => false,
        }
    }

    /// Optimiser steps done.
    pub fn steps_done(&self) -> usize {
        match &self.phase {
            Phase::Ready(ready) => ready.steps_done(),
            Phase::Embedding(_) | Phase::Failed { .. } => 0,
        }
    }

    /// Does the next piece of that work, a few milliseconds long.
    pub fn advance(&mut self) {
        self.revision += 1;
        match &mut self.phase {
            Phase::Embedding(trainer) => {
                if trainer.advance() {
                    self.phase = embedded(&self.lesson, trainer, self.play_when_ready);
                }
            }
            Phase::Ready(ready) => ready.advance(),
            Phase::Failed { .. } => {}
        }
    }

    /// Applies one command. What cannot be done is said in the snapshot's notice.
    pub fn apply(&mut self, command: Command) {
        self.revision += 1;
        let result = match (&mut self.phase, command) {
            (Phase::Ready(ready), command) => ready.apply(command, &self.lesson),
            (Phase::Embedding(_), Command::Play) => {
                self.play_when_ready = true;
                Ok(())
            }
            (Phase::Embedding(_), Command::Pause) => {
                self.play_when_ready = false;
                Ok(())
            }
            (Phase::Embedding(_), _) => Err("wait until the static vectors are trained".to_owned()),
            (Phase::Failed { .. }, _) => Ok(()),
        };
        self.notice = result.err().map(Arc::from);
    }

    /// What a viewer may see now.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::before(self.lesson.clone());
        snapshot.revision = self.revision;
        snapshot.notice = self.notice.clone();
        match &self.phase {
            Phase::Embedding(trainer) => snapshot.embedding_progress = trainer.progress(),
            Phase::Ready(ready) => {
                snapshot.embedding_progress = ready.embedding_progress();
                snapshot.space = Some(ready.space());
                snapshot.model = Some(ready.snapshot(&self.lesson));
            }
            Phase::Failed { progress, fault } => {
                snapshot.embedding_progress = *progress;
                snapshot.notice = Some(fault.words.as_str().into());
                snapshot.fault = Some(fault.clone());
            }
        }
        snapshot
    }
}

fn embedded(lesson: &Lesson, trainer: &SpaceTrainer, play: bool) -> Phase {
    match trainer.finish(lesson).and_then(|space| Ready::new(lesson, space, trainer)) {
        Ok(mut ready) => {
            if play {
                ready.play_at_opening();
            }
            Phase::Ready(Box::new(ready))
        }
        Err(fault) => Phase::Failed { progress: trainer.progress(), fault },
    }
}
