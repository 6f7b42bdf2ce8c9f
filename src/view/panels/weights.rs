//! *Weights*: every tensor of the model as a map or, if the weights are compared with others, a map of the differences.

use crate::sheet::grid::numbered;
use crate::sheet::{Cells, Chosen, Grid, Item, Scale};
use crate::view_model::Models;
use crate::view_model::tensors::{TensorModel, WeightsModel};

const LEGEND: &str = "Rows and columns are counted from 0. Numbers below 0 have one colour, those above 0 the other; the \
    darkest is the largest of its tensor.";

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<WeightsModel>()?;
    let mut items = Vec::new();
    if let Some(comparison) = &model.comparison {
        let words =
            format!("The weights minus those {}: ‖Δ‖ = {:.3} for all tensors.", comparison.name, comparison.overall);
        items.push(Item::warning(words));
    }
    for group in model.groups() {
        if !group.title.is_empty() {
            items.push(Item::Heading(group.title.clone()));
        }
        let is_shown = |tensor: &&&TensorModel| tensor.entries() > 0;
        let grids = group.tensors.iter().filter(is_shown).map(|tensor| grid(tensor)).collect();
        items.push(Item::maps(grids, LEGEND));
    }
    Some(items)
}

fn grid(tensor: &TensorModel) -> Grid {
    let changed = match tensor.changed {
        0 => String::new(),
        changed => format!(", entries changed: {changed}"),
    };
    Grid {
        title: format!("{} · {} × {}{changed}", tensor.id, tensor.rows, tensor.cols),
        rows: numbered(tensor.rows),
        cols: numbered(tensor.cols),
        scale: Scale::Signed { full: tensor.largest_shown() },
        marked: Vec::new(),
        cells: Cells::Tensor(tensor.clone()),
    }
}
