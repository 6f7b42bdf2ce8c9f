//! The content of each panel and of the stage, derived from a snapshot: plain data, tested as text, without a window.
//!
//! No forward pass runs here: every number is an entry of a [`attune_core::kernel::Snapshot`] or is computed from its
//! entries. Each [`Model`] of a snapshot is made when it is first requested, so models that are not shown are never
//! made.

pub mod answers;
pub mod as_code;
pub mod asked;
pub mod attention;
pub mod axes;
pub mod chains;
pub mod compare;
pub mod course;
pub mod effects;
pub mod ellipse;
pub mod features;
pub mod fold;
pub mod gauge;
pub mod glossary;
pub mod grid;
pub mod head_tables;
pub mod heads;
pub mod labels;
pub mod meaning;
pub mod needs;
pub mod notebook;
pub mod output;
pub mod pictures;
pub mod pieces;
pub mod recall;
pub mod recorded;
pub mod saved_view;
pub mod score;
pub mod sentence_arcs;
pub mod sentences;
pub mod slides;
pub mod spaces;
pub mod stage;
pub mod tensors;
pub mod training;
pub mod two_models;
pub mod what_if;
pub mod word_measures;
mod wording;
pub mod words;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use attune_core::kernel::snapshot::Snapshot;

use self::recall::RecallModel;
use self::spaces::TwoSpaces;
pub use self::wording::{capitalised, number, sentence};
pub(crate) use self::wording::{quoted, quoted_token};

/// The content of a panel, made from a snapshot.
pub trait Model: Sized + Send + Sync + 'static {
    /// The choice on which the model depends besides the snapshot: a word, a head, a number; `()` if there is none.
    type Choice: Clone + PartialEq + Send + Sync + 'static;

    /// Makes the model; returns `None` until the kernel has what it needs. `before` is the last one made, whose
    /// unchanged parts are reused.
    fn make(snapshot: &Arc<Snapshot>, choice: &Self::Choice, before: Option<&Self>) -> Option<Self>;
}

/// Implements [`Model`] for types by the function that makes them: from a snapshot alone, with a choice, or with the
/// last one made.
macro_rules! models {
    (of(snapshot): $($model:ty),*) => {
        $(impl Model for $model {
            type Choice = ();

            fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
                Self::of(snapshot).into()
            }
        })*
    };
    (of(snapshot, choice): $($model:ty => $choice:ty),*) => {
        $(impl Model for $model {
            type Choice = $choice;

            fn make(snapshot: &Arc<Snapshot>, choice: &$choice, _: Option<&Self>) -> Option<Self> {
                Self::of(snapshot, *choice)
            }
        })*
    };
    ($make:ident(snapshot, before): $($model:ty),*) => {
        $(impl Model for $model {
            type Choice = ();

            fn make(snapshot: &Arc<Snapshot>, _: &(), before: Option<&Self>) -> Option<Self> {
                Self::$make(snapshot, before).into()
            }
        })*
    };
}
pub(crate) use models;

models!(of(snapshot): attention::AttentionMaps, axes::AxesModel, compare::CompareModel);
models!(of(snapshot): meaning::NeighboursModel, meaning::SensesModel, pieces::WordArcs, pieces::WordAttention);
models!(of(snapshot): gauge::GaugeModel, recorded::RecordingModel);
models!(of(snapshot): sentence_arcs::SentenceArcs, slides::SlidesModel, tensors::VariablesModel);
models!(of(snapshot): training::TrainingModel, what_if::WhatIfModel, word_measures::WordMeasures);
models!(of(snapshot): head_tables::TablesModel);
models!(of(snapshot, choice): answers::AnswerShifts => Option<usize>, effects::WeightEffects => usize);
models!(of(snapshot, choice): fold::FoldModel => usize);
models!(of(snapshot, choice): grid::PatchMap => (usize, usize));
models!(after(snapshot, before): grid::PatchPicture);
models!(of(snapshot, choice): meaning::LayerNeighbours => (usize, usize));
models!(after(snapshot, before): axes::AxisOrders, features::Features, heads::AllHeadsModel);
models!(after(snapshot, before): stage::StageModel, tensors::WeightsModel);
models!(of(snapshot, before): answers::AnswersModel, notebook::NotebookModel, sentences::SentencesModel);

/// The latest snapshot of another model, which is compared with the open one.
#[derive(Clone, Debug)]
pub struct ModelBeside(pub Arc<Snapshot>);

impl PartialEq for ModelBeside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The latest snapshot, and the models made from it so far.
#[derive(Default)]
pub struct Models {
    snapshot: Option<Arc<Snapshot>>,
    /// The other model in a comparison of two models, if one is open.
    pub beside: Option<ModelBeside>,
    /// The comparison with another file of vectors, if one is open.
    pub spaces: Option<Arc<TwoSpaces>>,
    /// The questions from earlier lessons that are asked at the beginning of this one; `None` if there are none.
    pub recall: Option<Arc<RecallModel>>,
    /// The number of the current snapshot, which tells whether a model is up to date.
    shown: u64,
    /// The models that were requested last, by type, each list ending with the latest.
    made: Mutex<HashMap<TypeId, Vec<Made>>>,
}

/// The number of models of one type that are kept for different choices: as many as panels and the stage use in a
/// frame.
const CHOICES_MAX: usize = 8;

struct Made {
    shown: u64,
    choice: Arc<dyn Any + Send + Sync>,
    model: Option<Arc<dyn Any + Send + Sync>>,
}

impl Made {
    fn model<M: Send + Sync + 'static>(&self) -> Option<Arc<M>> {
        self.model.clone()?.downcast::<M>().ok()
    }
}

impl Models {
    /// Returns the models of `snapshot`, none of which is made yet.
    pub fn of(snapshot: Arc<Snapshot>) -> Self {
        let mut models = Self::default();
        models.show(snapshot);
        models
    }

    /// Replaces the current snapshot.
    pub fn show(&mut self, snapshot: Arc<Snapshot>) {
        let is_of = |spaces: &Arc<TwoSpaces>| snapshot.space.as_ref().is_some_and(|space| spaces.is_of(space));
        self.spaces = self.spaces.take().filter(is_of);
        self.snapshot = Some(snapshot);
        self.shown += 1;
        // Old models would keep old snapshots in memory. Only the latest of each type is kept for reuse, and only if it
        // belongs to the previous snapshot.
        let shown = self.shown;
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner);
        made.values_mut().for_each(|made| _ = made.drain(..made.len().saturating_sub(1)));
        made.retain(|_, made| made.iter().any(|made| made.shown + 1 >= shown));
    }

    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// Returns the model that depends on no choice; `None` if the kernel does not have what it needs.
    pub fn get<M: Model<Choice = ()>>(&self) -> Option<Arc<M>> {
        self.of_choice(&())
    }

    /// Returns the model for a choice; `None` if the kernel does not have what it needs.
    pub fn of_choice<M: Model>(&self, choice: &M::Choice) -> Option<Arc<M>> {
        let snapshot = self.snapshot.as_ref()?;
        self.once(choice, |before| M::make(snapshot, choice, before))
    }

    /// Returns the result of `make` for a choice, which is computed once for each snapshot. `make` gets the last result
    /// of the same type.
    pub fn once<M, C>(&self, choice: &C, make: impl FnOnce(Option<&M>) -> Option<M>) -> Option<Arc<M>>
    where
        M: Send + Sync + 'static,
        C: Clone + PartialEq + Send + Sync + 'static,
    {
        let before = {
            let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            let all = all.entry(TypeId::of::<M>()).or_default();
            let is_wanted = |made: &Made| made.shown == self.shown && made.choice.downcast_ref::<C>() == Some(choice);
            if let Some(at) = all.iter().position(is_wanted) {
                let made = all.remove(at);
                let model = made.model::<M>();
                all.push(made);
                return model;
            }
            all.last().and_then(Made::model::<M>)
        };
        // The lock is not held, because `make` may request other models.
        let model = make(before.as_deref()).map(Arc::new);
        let made = Made {
            shown: self.shown,
            choice: Arc::new(choice.clone()),
            model: model.clone().map(|model| model as Arc<dyn Any + Send + Sync>),
        };
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.entry(TypeId::of::<M>()).or_default();
        all.retain(|before| before.shown == self.shown);
        if all.len() == CHOICES_MAX {
            all.remove(0);
        }
        all.push(made);
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static MADE: AtomicUsize = AtomicUsize::new(0);

    struct Title(String);

    impl Model for Title {
        type Choice = usize;

        fn make(snapshot: &Arc<Snapshot>, letters: &usize, _: Option<&Self>) -> Option<Self> {
            MADE.fetch_add(1, Ordering::Relaxed);
            Some(Self(snapshot.lesson.title.chars().take(*letters).collect()))
        }
    }

    #[test]
    fn a_model_is_made_once_for_a_snapshot_and_a_choice() {
        let text = include_str!("../../../tests/fixtures/small.ron");
        let lesson = attune_core::lesson::parse("small.ron", text).expect("no issues");
        let snapshot = Arc::new(attune_core::kernel::Kernel::trained(Arc::new(lesson)).snapshot());
        let mut models = Models::default();
        assert!(models.of_choice::<Title>(&3).is_none() && MADE.load(Ordering::Relaxed) == 0, "nothing to make it of");
        models.show(snapshot.clone());
        let (first, again) = (models.of_choice::<Title>(&3).unwrap(), models.of_choice::<Title>(&3).unwrap());
        assert!(Arc::ptr_eq(&first, &again) && MADE.load(Ordering::Relaxed) == 1);
        assert_eq!((first.0.len(), models.of_choice::<Title>(&2).unwrap().0.len()), (3, 2));
        for _ in 0..3 {
            assert!(Arc::ptr_eq(&first, &models.of_choice::<Title>(&3).unwrap()), "two choices in each frame");
            models.of_choice::<Title>(&2);
        }
        assert_eq!(MADE.load(Ordering::Relaxed), 2);
        models.show(snapshot);
        models.of_choice::<Title>(&2);
        assert_eq!(MADE.load(Ordering::Relaxed), 3);
        (0..9 * CHOICES_MAX).for_each(|letters| _ = models.of_choice::<Title>(&letters));
        assert_eq!(models.made.lock().unwrap().values().map(Vec::len).sum::<usize>(), CHOICES_MAX, "and no more");
    }
}
