//! Sliders behind which the whole lesson trains again while they are dragged, and how far it is.

use std::sync::Arc;

use attune_core::kernel::command::{Command, TrainingCommand};
use attune_core::kernel::snapshot::{RetrainingSnapshot, Snapshot};
use attune_core::lesson::{
    Lesson, Recipe,
    recipe::{Knob, Offer, offers},
};
use attune_view::view_model::Model;
use attune_view::view_model::stage::picture_of_retrained;
use egui::{Button, Label, ProgressBar, RichText, ScrollArea, Slider, Ui, WidgetInfo};

use super::weights::ghost_mark;
use crate::app::theme::{Palette, size};
use crate::app::view::Highlight;
use crate::app::widgets::controls::{checkbox_ui, hint};

/// The sliders, and how training again goes.
pub fn retrain_ui(ui: &mut Ui, model: &RetrainModel, highlight: &mut Highlight) -> Vec<Command> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut commands = Vec::new();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let (switches, sliders): (Vec<_>, Vec<_>) = model.sliders.iter().partition(|slider| slider.switch().is_some());
        ui.horizontal_wrapped(|ui| commands.extend(switches.into_iter().filter_map(|switch| switch_ui(ui, switch))));
        commands.extend(sliders.into_iter().filter_map(|slider| slider_ui(ui, slider, palette)));
        ui.add_space(size::GAP_TIGHT);
        progress_ui(ui, model, palette);
        ui.horizontal_wrapped(|ui| {
            let own = ui.add_enabled(!model.is_own, Button::new("Lesson defaults"));
            if own.on_hover_text("Every slider back to its mark").clicked() {
                commands.push(Command::Retrain(Box::default()));
            }
            let stop = ui.add_enabled(model.under_way.is_some(), Button::new("Stop"));
            if stop.on_hover_text("Cancel the training under way; what is shown stays").clicked() {
                commands.push(Command::Training(TrainingCommand::Pause));
            }
            ui.add_enabled_ui(model.has_ghosts, |ui| {
                checkbox_ui(ui, &mut highlight.old_ghosts, "Ghosts")
                    .on_hover_text("Rings on the stage where the points were before the lesson was trained again");
            });
        });
        let said = match &model.under_way {
            Some((_, words)) => format!("Training again: {words}."),
            None => model.told.clone(),
        };
        ui.add(Label::new(RichText::new(said).color(palette.ink_soft)).wrap());
    });
    commands
}

/// The bar's place stays while nothing is under way, so that nothing jumps.
fn progress_ui(ui: &mut Ui, model: &RetrainModel, palette: &Palette) {
    match &model.under_way {
        Some((share, _)) => {
            let bar = ProgressBar::new(*share).desired_height(size::BAR / 2.0).fill(palette.accent);
            ui.add(bar).on_hover_text("Progress of training again");
        }
        None => {
            ui.allocate_space(egui::vec2(ui.available_width(), size::BAR / 2.0));
        }
    }
}

fn slider_ui(ui: &mut Ui, slider: &SliderModel, palette: &Palette) -> Option<Command> {
    const NAME: f32 = 104.0;
    const VALUE: f32 = 56.0;
    let offer = &slider.offer;
    let last = offer.choices.len().saturating_sub(1);
    let mut at = offer.at;
    ui.horizontal(|ui| {
        let name = |ui: &mut Ui| ui.add(Label::new(&slider.name).truncate()).on_hover_text(&slider.tip);
        ui.allocate_ui_with_layout(
            egui::vec2(NAME, size::SLIDER_ROW),
            egui::Layout::left_to_right(egui::Align::Center),
            |ui| {
                ui.set_min_width(NAME);
                name(ui);
            },
        );
        ui.spacing_mut().slider_width = (ui.available_width() - VALUE).max(size::CHART_MIN / 2.0);
        let response = ui.add(Slider::new(&mut at, 0..=last).show_value(false));
        response.widget_info(|| WidgetInfo::slider(true, at as f64, &slider.name));
        ghost_mark(ui, response.rect, place(offer.own, last), palette);
        hint(response, &slider.tip);
        ui.monospace(offer.choices.get(at).map_or("", |choice| &choice.label));
    });
    let chosen = offer.choices.get(at).filter(|_| at != offer.at)?;
    Some(Command::Retrain(Box::new(chosen.recipe.clone())))
}

fn switch_ui(ui: &mut Ui, switch: &SliderModel) -> Option<Command> {
    let (offer, name) = (&switch.offer, switch.switch()?);
    let is_on = offer.choices.get(offer.at)?.recipe.switches.contains(name);
    let other = offer.choices.iter().find(|choice| choice.recipe.switches.contains(name) != is_on);
    let mut wanted = is_on;
    ui.add_enabled_ui(other.is_some(), |ui| {
        let response = checkbox_ui(ui, &mut wanted, &switch.name);
        hint(response, &switch.tip);
    });
    let chosen = other.filter(|_| wanted != is_on)?;
    Some(Command::Retrain(Box::new(chosen.recipe.clone())))
}

/// Place of the mark, from -1 to 1.
fn place(own: usize, last: usize) -> f32 {
    own as f32 / last.max(1) as f32 * 2.0 - 1.0
}

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

impl SliderModel {
    /// The name of the lesson's switch that it is, if it is one.
    fn switch(&self) -> Option<&str> {
        match &self.offer.knob {
            Knob::Switch(name) => Some(name),
            _ => None,
        }
    }
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
        Knob::Switch(name) => {
            let known = lesson.switches.list.iter().find(|switch| switch.name == *name);
            let tip = known.map_or("", |switch| &switch.tip);
            return SliderModel {
                name: name.clone(),
                tip: format!("{tip}\nTrains the lesson again.").trim().to_owned(),
                offer,
            };
        }
        Knob::Seed => ("Seed".to_owned(), "Of every random draw: corpus, beginnings, batches".to_owned()),
    };
    let own = offer.choices.get(offer.own).map_or("", |choice| &choice.label);
    let tip = format!("{tip}.\nThe lesson has {own}, at the mark. Drag, or use the arrow keys.");
    SliderModel { name, tip, offer }
}
