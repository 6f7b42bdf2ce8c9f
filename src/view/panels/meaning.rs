//! *Meaning*: the words near each word of the sentence, before attention and after it.

use attune_engine::vectors::answers::Measure;

use crate::sheet::{Chosen, Item, Table, TableCell};
use crate::view_model::Models;
use crate::view_model::meaning::{NearWord, NeighboursModel, TokenNeighbours};

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
