//! *Meaning*: the words near each word of the sentence, before attention and after it.

use attune_engine::vectors::answers::Measure;

use crate::sheet::{Chosen, Grid, Item, Scale, Table, TableCell};
use crate::view_model::Models;
use crate::view_model::meaning::{NearWord, NeighboursModel, TokenNeighbours};
use crate::view_model::two_models::{SideOfBoth, TwoModels};

/// The number of neighbours that are listed for each word.
const NEAREST: usize = 3;

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<NeighboursModel>()?;
    let mut items: Vec<Item> = model.words.iter().filter_map(|word| word.note(&model.tokens)).map(Item::soft).collect();
    if !model.tokens.is_empty() {
        items.push(Item::Table(Table {
            caption: "The nearest words by cosine, before attention and after it".to_owned(),
            columns: ["word", "before", "cosine", "after", "cosine"].map(str::to_owned).into(),
            rows: model.tokens.iter().flat_map(rows).collect(),
        }));
    }
    Some(items)
}

/// Returns the map of how similar the layers of two models are; empty if there are too few words.
pub fn layer_items(side: &SideOfBoth, [here, beside]: &[String; 2]) -> Vec<Item> {
    let Some(first) = side.similarity.first() else { return Vec::new() };
    let layers = |count: usize| (0..count).map(|layer| format!("layer {layer}")).collect();
    let names = [side.similarity.len(), first.len()].map(layers);
    let values = side.similarity.iter().flatten().map(|alike| alike.map(|alike| alike as f32)).collect();
    let grid = Grid::of_numbers("Similarity of the layers", names, values, Scale::Share { hue: 0, full: 1.0 });
    let legend =
        format!("Rows are layers of {here}, and columns are layers of {beside}; layer 0 stands for the embeddings.");
    let notes = side.said.iter().map(String::as_str).chain([TwoModels::SIMILARITY]);
    [Item::maps(vec![grid], legend)].into_iter().chain(notes.map(Item::soft)).collect()
}

fn rows(token: &TokenNeighbours) -> Vec<Vec<TableCell>> {
    let [before, after] = [&token.before, &token.after].map(|near| near.by(Measure::Cosine));
    let cells = |near: Option<&NearWord>| match near {
        Some(near) => [TableCell::words(&*near.word), TableCell::number(near.cosine)],
        None => Default::default(),
    };
    let row = |rank: usize| {
        let name = if rank == 0 { TableCell::words(&*token.label) } else { TableCell::default() };
        [name].into_iter().chain(cells(before.get(rank))).chain(cells(after.get(rank))).collect()
    };
    (0..NEAREST.min(before.len().max(after.len()))).map(row).collect()
}
