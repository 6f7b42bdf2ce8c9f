//! The training of a lesson from scratch with a recipe, in pieces of a few milliseconds, and the transfer of the
//! replaced model's state to the new one.
//!
//! ```text
//! recipe ─► static vectors ─► rotated to match the lesson's own picture ─► model, to its last step
//!           (reused if only the model differs)
//! ```
//!
//! Every space is rotated towards the lesson's own space, and never towards the previous one. A recipe therefore has
//! the same picture however the learner reached it, and saved work opens with the picture that it had.

use std::collections::BTreeMap;
use std::sync::Arc;

use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;

use crate::kernel::command::Reference;
use crate::kernel::model::corpus::EmbeddedCorpus;
use crate::kernel::model::snapshot::RetrainingSnapshot;
use crate::kernel::model::{LessonModel, ModelOrigin};
use crate::kernel::sentence_pass::interventions;
use crate::kernel::static_embedding::{LessonFault, SpaceTrainer};
use crate::kernel::training::weights::Comparison;
use crate::kernel::values::Progress;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::Recipe;
use crate::lesson::recipe::Measured;
use crate::lesson::schema::Lesson;

/// A retraining in progress.
pub struct Retraining {
    recipe: Arc<Recipe>,
    /// The lesson with the recipe applied.
    lesson: Arc<Lesson>,
    stage: Stage,
    /// Whether the model is trained to its end; otherwise it stays at its initialisation.
    trains: bool,
}

enum Stage {
    Space(Box<SpaceTrainer>),
    Corpus(EmbeddedCorpus),
    Model(Box<LessonModel>),
}

impl Retraining {
    /// Starts a retraining. `grounds` are embeddings that exist already, of which one is used if it fits the recipe.
    ///
    /// # Errors
    /// A message for the learner if the lesson would not be valid with this recipe.
    pub fn new(lesson: &Arc<Lesson>, recipe: Recipe, grounds: &[EmbeddedCorpus], trains: bool) -> Result<Self, String> {
        let applied = match recipe.is_default() {
            true => lesson.clone(),
            false => Arc::new(Measured::of(lesson).apply(&recipe)?),
        };
        let stage = match grounds.iter().find(|ground| ground.recipe.has_space_of(&recipe)) {
            Some(ground) => Stage::Corpus(ground.clone()),
            None => Stage::Space(Box::new(SpaceTrainer::new(&applied))),
        };
        Ok(Self { recipe: Arc::new(recipe), lesson: applied, stage, trains })
    }

    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Does the next piece. Returns the model once it is trained, or at its initialisation if it is not to be trained.
    /// `own` is the lesson's own space.
    ///
    /// # Errors
    /// If this recipe leaves nothing to train on.
    pub fn advance(&mut self, own: &Arc<StaticSpace>) -> Result<Option<Box<LessonModel>>, LessonFault> {
        let next = match &mut self.stage {
            Stage::Space(trainer) => {
                if !trainer.advance(&self.lesson) {
                    return Ok(None);
                }
                let recipe = self.recipe.clone();
                Stage::Corpus(EmbeddedCorpus::trained(&self.lesson, recipe, trainer, Some(own))?)
            }
            Stage::Corpus(ground) => {
                let origin = ModelOrigin { lesson: self.lesson.clone(), recipe: self.recipe.clone(), replaced: None };
                let mut model = Box::new(LessonModel::new(origin, ground)?);
                if !self.trains {
                    return Ok(Some(model));
                }
                model.play_at_opening();
                Stage::Model(model)
            }
            Stage::Model(model) => {
                model.advance();
                if model.training.is_busy() {
                    return Ok(None);
                }
                Stage::Corpus(model.corpus())
            }
        };
        Ok(match std::mem::replace(&mut self.stage, next) {
            Stage::Model(model) => Some(model),
            Stage::Space(_) | Stage::Corpus(_) => None,
        })
    }

    pub fn snapshot(&self) -> RetrainingSnapshot {
        let epochs = self.lesson.static_embedding.epochs();
        let all = Progress { done: epochs, of: epochs };
        let (embedding, done) = match &self.stage {
            Stage::Space(trainer) => (trainer.progress(), 0),
            Stage::Corpus(_) => (all, 0),
            Stage::Model(model) => (all, model.training.steps_done()),
        };
        let steps = Progress { done, of: self.lesson.model.schedule.steps };
        RetrainingSnapshot { recipe: self.recipe.clone(), embedding, steps }
    }
}

impl LessonModel {
    /// Returns the model on a copy of its lesson. Nothing is read or trained again, because parameters and checkpoints
    /// are shared; words that the model has generated are not copied.
    #[must_use]
    pub fn copy(&self, lesson: &Arc<Lesson>) -> LessonModel {
        let made_of = if self.origin.recipe.is_default() { lesson } else { &self.origin.lesson };
        let mut copy = LessonModel { pass: self.pass.without_written(made_of), ..self.clone() };
        copy.origin.lesson = made_of.clone();
        copy.cache.steps = self.cache.steps.shared();
        copy
    }

    /// Transfers the state of another model, as far as this one supports it: sentences, axes, interventions and the
    /// comparison. Axes that were fitted to the other space are dropped. Returns a clause for the learner about each
    /// other loss.
    pub fn take_over(&mut self, other: &LessonModel) -> Vec<String> {
        // The vocabulary is the same for all recipes.
        self.pass.show(other.pass.sentence().clone());
        self.pass.set_second(other.pass.second().cloned());
        self.asked = other.asked.clone();
        let senses = other.pass.senses();
        self.pass.set_senses((senses.list().clone(), senses.is_on()));
        self.pass.read_senses(&self.origin.lesson);
        let mut lost = Vec::new();
        if self.space.basis != other.space.basis {
            let lesson = self.origin.lesson.clone();
            lost = self.keep_axes(&other.space.basis, &lesson);
        }
        let (old, new) = (&other.origin.lesson.model.architecture, &self.origin.lesson.model.architecture);
        let (kept, ended) = kept(other.pass.interventions(), old, new);
        self.pass.set_interventions(Arc::new(kept));
        if !ended.is_empty() {
            lost.push(format!("these changes end, because the new model has no such layer: {}", ended.join(", ")));
        }
        let with = other.training.comparison().map(Comparison::reference);
        // A step of the other training does not exist in this one.
        if let Some(with @ (Reference::Trained | Reference::Start)) = with {
            let _ = self.training.compare(Some(with), &mut self.cache.steps);
        }
        lost
    }
}

/// Transfers the interventions of one model to another: the temperature, the scale and the mask, and the modes and
/// removed edges of the heads that still exist. Frozen weights and a patch are not transferred. Also returns the names
/// of the changes in layers that the new model does not have.
fn kept(before: &Interventions<f32>, old: &Architecture, new: &Architecture) -> (Interventions<f32>, Vec<String>) {
    let mut now = interventions::none(new);
    (now.temperature, now.scale, now.mask) = (before.temperature, before.scale, before.mask.clone());
    let mut ended = Vec::new();
    let blocks: BTreeMap<usize, usize> = same_blocks(old, new).into_iter().collect();
    for (b, _) in old.numbered_blocks() {
        let heads = old.heads_of(b);
        let modes = heads.clone().map(|head| (head, before.heads.get(head).cloned().unwrap_or_default()));
        let changed = modes.filter(|(_, mode)| *mode != HeadMode::Live && !mode.is_of_sentence());
        let removed = before.edges.iter().filter(|edge| heads.contains(&edge.head));
        let Some(&same) = blocks.get(&b) else {
            ended.extend(changed.map(|(head, mode)| format!("{} {}", old.head_name(head), mode.words().name)));
            ended.extend(removed.map(|edge| format!("a removed edge of {}", old.head_name(edge.head))));
            continue;
        };
        let to = new.heads_of(same);
        let place = |head: usize| to.clone().nth(head - heads.start);
        changed.filter_map(|(head, mode)| Some((place(head)?, mode))).for_each(|(head, mode)| now.heads[head] = mode);
        now.edges.extend(removed.filter_map(|edge| Some(Edge { head: place(edge.head)?, ..*edge })));
    }
    now.edges.sort_unstable();
    ended.dedup();
    (now, ended)
}

/// Returns the layers that two models have in common: those of the encoder, of self-attention and of cross-attention,
/// matched by their order within each kind. Their numbers among all layers would not match if only one of the models
/// had an encoder.
fn same_blocks(old: &Architecture, new: &Architecture) -> Vec<(usize, usize)> {
    let of_kind = |of: &Architecture, (is_source, attends): (bool, Attends)| -> Vec<usize> {
        let sources = of.source_blocks.len();
        let is_it = |&(b, block): &(usize, &BlockConfig)| (b < sources) == is_source && block.attends == attends;
        of.numbered_blocks().filter(is_it).map(|(b, _)| b).collect()
    };
    let kinds = [(true, Attends::OwnSentence), (false, Attends::OwnSentence), (false, Attends::Source)];
    kinds.into_iter().flat_map(|kind| of_kind(old, kind).into_iter().zip(of_kind(new, kind))).collect()
}
