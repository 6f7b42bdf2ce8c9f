//! The Retrain panel: sliders behind which the whole lesson trains again.

use std::sync::Arc;

use attune_core::kernel::snapshot::{RetrainingSnapshot, Snapshot, StaticSpace};
use attune_core::lesson::recipe::{Knob, Offer, offers};
use attune_core::lesson::{Lesson, Recipe};

use super::models::Model;

#[derive(Clone, Debug)]
pub struct RetrainModel {
    pub sliders: Vec<SliderModel>,
    /// The state of training, in words.
    pub told: String,
    pub is_own: bool,
    pub has_ghosts: bool,
    /// While it trains: how far, from 0 to 1, and what it does.
    pub under_way: Option<(f32, String)>,
    /// Lesson and recipe that the sliders were made of.
    made_of: (Arc<Lesson>, Arc<Recipe>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SliderModel {
    pub name: String,
    pub tip: String,
    pub offer: Offer,
}

impl Model for RetrainModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), before: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, before)
    }
}

impl RetrainModel {
    /// `before` is the last one: its sliders are kept while nothing moves them. `None` until there is a model.
    pub fn of(snapshot: &Snapshot, before: Option<&RetrainModel>) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let under_way = snapshot.retraining.as_ref();
        // A slider is where it was dragged to, whatever is shown yet.
        let recipe = under_way.map_or(&model.recipe, |under_way| &under_way.recipe);
        let is_same =
            |before: &&RetrainModel| Arc::ptr_eq(&before.made_of.0, &snapshot.lesson) && before.made_of.1 == *recipe;
        let sliders = match before.filter(is_same) {
            Some(before) => before.sliders.clone(),
            None => offers(&snapshot.lesson, recipe).into_iter().map(|offer| slider(&snapshot.lesson, offer)).collect(),
        };
        let is_new_space = !model.recipe.has_space_of(&Recipe::default());
        let told = if model.recipe.is_default() {
            "Shown: the lesson as it is.".to_owned()
        } else {
            let picture = snapshot.space.as_deref().filter(|_| is_new_space).map(picture_of_retrained);
            let space =
                picture.map_or_else(|| "the lesson's own space".to_owned(), |at| format!("a retrained space, {at}"));
            format!("Shown: {}. It is {space}.", model.recipe.words(&snapshot.lesson))
        };
        Some(Self {
            sliders,
            told,
            is_own: recipe.is_default(),
            has_ghosts: model.replaced.is_some(),
            under_way: under_way.map(progress),
            made_of: (snapshot.lesson.clone(), recipe.clone()),
        })
    }
}

/// How the picture of a retrained space is chosen.
pub(super) fn picture_of_retrained(space: &StaticSpace) -> &'static str {
    let projection = &space.projection;
    match (projection.is_turned(), projection.is_chosen()) {
        (true, false) => "turned to match the lesson's picture",
        (true, true) => "along the same chosen axes, the others turned to match the lesson's picture",
        (false, _) if space.basis.fitted.is_some() => "along the axes that you fitted to it",
        (false, _) => "along the same axes",
    }
}

/// Epochs and steps take about as long, so each is a half.
fn progress(under_way: &RetrainingSnapshot) -> (f32, String) {
    let RetrainingSnapshot { embedding, steps, .. } = under_way;
    let share = |done: usize, of: usize| if of == 0 { 1.0 } else { done as f32 / of as f32 };
    let words = if embedding.done < embedding.of {
        format!("static vectors, epoch {} of {}", embedding.done, embedding.of)
    } else {
        format!("model, step {} of {}", steps.done, steps.of)
    };
    ((share(embedding.done, embedding.of) + share(steps.done, steps.of)) / 2.0, words)
}

fn slider(lesson: &Lesson, offer: Offer) -> SliderModel {
    let (name, tip) = match &offer.knob {
        Knob::Share { word, group } => {
            let ambiguous = lesson.corpus.ambiguous.iter().find(|ambiguous| ambiguous.word == *word);
            let others = ambiguous.into_iter().flat_map(|ambiguous| &ambiguous.shares);
            let others: Vec<&str> = others.map(|(other, _)| other.as_str()).filter(|other| other != group).collect();
            let tip = format!("How often “{word}” is {group} in the corpus; else it is {}", others.join(" or "));
            (format!("{word}: {group}"), tip)
        }
        Knob::Heads => ("Heads".to_owned(), "H: heads of every block".to_owned()),
        Knob::Width => ("Width".to_owned(), "D: numbers of every vector".to_owned()),
        Knob::StaticRate => ("Static rate".to_owned(), "Learning rate of the static vectors (word2vec)".to_owned()),
        Knob::ModelRate => ("Model rate".to_owned(), "Learning rate of the attention model".to_owned()),
        Knob::Seed => ("Seed".to_owned(), "Of every random draw: corpus, beginnings, batches".to_owned()),
    };
    let own = offer.choices.get(offer.own).map_or("", |choice| &choice.label);
    let tip = format!("{tip}.\nThe lesson has {own}, at the mark. Drag, or use the arrow keys.");
    SliderModel { name, tip, offer }
}
