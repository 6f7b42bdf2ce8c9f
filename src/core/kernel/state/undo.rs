//! Undo: the states that a kernel remembers, and the way back over them.

use std::mem::{replace, size_of_val};

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;

use crate::kernel::command::Command;
use crate::kernel::data::senses::SenseList;
use crate::kernel::data::space::Basis;
use crate::kernel::model::{LessonModel, ScenePart, UndoPart};
use crate::kernel::notebook::Document;
use crate::kernel::state::{Kernel, Phase};
use crate::kernel::training::comparison::Comparison;
use crate::kernel::training::run::Replay;

/// A state that undo restores; it shares with the present one all that is the same in both.
pub enum Undoable {
    Model(UndoPart),
    /// The model that another one, trained by another recipe, replaced.
    Retrained(Box<LessonModel>),
    Notebook(Document),
}

impl Undoable {
    /// Size of what is large in it, in bytes, as if it shared nothing; the history's count bounds the rest.
    fn bytes(&self) -> usize {
        match self {
            Self::Model(UndoPart::Model(weights)) => weights.bytes(),
            Self::Model(UndoPart::Comparison(Some(Comparison::Step(Replay { state, .. })))) => state.bytes(),
            Self::Model(UndoPart::Scene(part)) => part.bytes(),
            Self::Retrained(model) => model.bytes(),
            Self::Model(UndoPart::Comparison(_)) | Self::Notebook(_) => 0,
        }
    }
}

impl LessonModel {
    fn bytes(&self) -> usize {
        let examples = self.examples.iter().map(|example| size_of_val(example.words()));
        let spaces = std::iter::once(&self.space).chain(&self.given);
        let vectors: usize = spaces.map(|space| space.vectors.bytes()).sum();
        self.training.model().bytes() + vectors + examples.sum::<usize>() + of_interventions(self.scene.interventions())
    }
}

impl ScenePart {
    fn bytes(&self) -> usize {
        match self {
            Self::Interventions(interventions)
            | Self::Sentence((_, interventions))
            | Self::Second((_, interventions)) => of_interventions(interventions),
            Self::Senses((list, _)) => of_list(list),
            Self::Basis(basis) => of_basis(&basis.0),
        }
    }
}

/// Frozen weights.
fn of_interventions(interventions: &Interventions<f32>) -> usize {
    let frozen = interventions.heads.iter().map(|mode| match mode {
        HeadMode::Frozen(Some(weights)) => size_of_val(weights.flat()),
        _ => 0,
    });
    frozen.sum()
}

fn of_list(list: &SenseList) -> usize {
    list.sentences.iter().map(|sentence| sentence.text.len()).sum()
}

/// The covariance that axes were fitted to.
fn of_basis(basis: &Basis) -> usize {
    basis.fitted.as_ref().map_or(0, |spread| spread.width() * (spread.width() + 1) / 2 * size_of::<f64>())
}

impl Kernel {
    /// False where the last command changed nothing of the model.
    pub(in crate::kernel) fn remember_changes(&mut self) -> bool {
        let Phase::Ready(ready) = &mut self.phase else { return false };
        let (changes, has_changed) = ready.take_changes();
        for (label, part) in changes {
            // What was changed of this model is undone before it is.
            self.retrained = None;
            self.remember(label, Undoable::Model(part));
        }
        has_changed
    }

    pub(in crate::kernel) fn remember(&mut self, label: String, before: Undoable) {
        let bytes = before.bytes();
        self.history.push(label, before, bytes);
    }

    /// Undoes and redoes, step after step.
    pub(in crate::kernel) fn travel(&mut self, steps: impl Iterator<Item = Command>) -> Result<(), String> {
        let Self { history, phase, retraining, notebook, has_changed, .. } = self;
        if let Phase::Ready(ready) = phase {
            ready.end_move();
        }
        let mut swap = |undoable| {
            let now = match (undoable, &mut *phase) {
                (Undoable::Model(part), Phase::Ready(ready)) => Undoable::Model(ready.swap(part)),
                (Undoable::Retrained(before), Phase::Ready(ready)) => {
                    ready.training.pause();
                    // Its cache goes: what undo remembers is small.
                    Undoable::Retrained(Box::new(replace(&mut **ready, *before).clone()))
                }
                (Undoable::Notebook(document), _) => Undoable::Notebook(notebook.replace(document)),
                // A lesson without a model has no changes of one.
                (undoable, _) => undoable,
            };
            let bytes = now.bytes();
            (now, bytes)
        };
        let mut result = Ok(());
        for step in steps {
            let gave_up = retraining.take().is_some();
            let (verb, is_done) = match step {
                Command::Redo => ("redo", history.redo(&mut swap)),
                // What is under way is what would be undone first.
                _ => ("undo", gave_up || history.undo(&mut swap)),
            };
            *has_changed |= is_done;
            result = if is_done { Ok(()) } else { Err(format!("there is nothing to {verb}")) };
        }
        result
    }
}
