//! *Intervene*: what is changed about the pass, what each head adds to each word, and who sees whom.

use crate::sheet::{Cells, Chosen, Grid, Grids, Item, Scale, Table, TableCell};
use crate::view_model::Models;
use crate::view_model::heads::HeadRow;
use crate::view_model::what_if::WhatIfModel;

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<WhatIfModel>()?;
    let mut items: Vec<Item> = model.said.iter().map(Item::warning).collect();
    if items.is_empty() {
        items.push(Item::text("Nothing is changed."));
    }
    let divided = if model.scale.now { format!(" and by √{}", model.key_width) } else { String::new() };
    items.push(Item::text(format!("Scores are divided by the temperature ({}){divided}.", model.temperature.now)));
    items.push(Item::Table(heads(&model)));
    items.push(Item::Grids(Grids {
        grids: vec![mask(&model)],
        as_lines: false,
        legend: "Rows are queries and columns are keys. A dark cell is a key that the query sees.".to_owned(),
    }));
    Some(items)
}

fn heads(model: &WhatIfModel) -> Table {
    let row = |head: &HeadRow| {
        let words = [head.title.clone(), head.mode.effect()].map(TableCell::words);
        words.into_iter().chain(head.move_lengths().map(TableCell::number)).collect()
    };
    let columns = ["head", "how it takes part"].into_iter().map(str::to_owned);
    Table {
        caption: "Length of what each head adds to each word".to_owned(),
        columns: columns.chain(model.tokens.iter().cloned()).collect(),
        rows: model.heads.iter().map(row).collect(),
    }
}

fn mask(model: &WhatIfModel) -> Grid {
    let values = model.mask.now.iter().map(|sees| Some(f32::from(u8::from(*sees)))).collect();
    Grid {
        title: if model.layers_see_differently { "Mask of layer 1" } else { "Mask" }.to_owned(),
        rows: model.tokens.as_slice().into(),
        cols: model.tokens.as_slice().into(),
        cells: Cells::Numbers { values, entries: Vec::new() },
        scale: Scale::Share { hue: 0, full: 1.0 },
        marked: Vec::new(),
    }
}
