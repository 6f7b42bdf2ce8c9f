//! *Train*: the state of training, and its loss.

use crate::sheet::{Chosen, Item};
use crate::view_model::output::PlotModel;
use crate::view_model::training::TrainingModel;
use crate::view_model::{Models, sentence};
use attune_engine::code::{Plot, PlotLine};

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<TrainingModel>()?;
    let step = format!("step {} of {}, {}", model.step, model.steps, model.status);
    let mut items = vec![Item::text(sentence(&step)), Item::soft(&*model.honest_label)];
    if !model.log.is_empty() {
        items.push(Item::Plot(PlotModel::of(&losses(&model))));
    }
    Some(items)
}

/// Returns the loss of each step, and for comparison that of a model that guesses.
fn losses(model: &TrainingModel) -> Plot {
    let loss: Vec<f64> = model.log.losses().map(f64::from).collect();
    let steps = (1..=loss.len()).map(|step| step as f64).collect();
    let chance =
        model.chance.map(|chance| PlotLine { name: "guess".to_owned(), y: vec![f64::from(chance); loss.len()].into() });
    let lines = [PlotLine { name: "loss".to_owned(), y: loss.into() }].into_iter().chain(chance).collect();
    Plot { x: steps, lines, axes: ["step".to_owned(), "loss in nats".to_owned()] }
}
