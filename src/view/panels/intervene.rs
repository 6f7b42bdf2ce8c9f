//! *Intervene*: the changes to the pass, what each head adds to each word, and which words each word sees.

use std::sync::Arc;

use attune_core::kernel::evidence::AskedAnswer;

use crate::sheet::control::{Field, Filled, Form};
use crate::sheet::{Chosen, Grid, Item, Scale, Table, TableCell};
use crate::view_model::Models;
use crate::view_model::asked::AnswerChoice;
use crate::view_model::heads::HeadRow;
use crate::view_model::what_if::{MapKind, WhatIfModel};

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<WhatIfModel>()?;
    let mut items: Vec<Item> = model.said.iter().map(Item::warning).collect();
    if items.is_empty() {
        items.push(Item::text("Nothing is changed."));
    }
    let divided = if model.scale.now { format!(" and by √{}", model.key_width) } else { String::new() };
    items.push(Item::text(format!("Scores are divided by the temperature ({}){divided}.", model.temperature.now)));
    items.push(Item::Table(heads(&model)));
    let legend = "Rows are queries and columns are keys. A dark cell is a key that the query sees.";
    items.push(Item::maps(vec![mask(&model)], legend));
    if let Some(title) = model.map_title() {
        items.push(Item::text(title));
        items.push(Item::maps(maps(&model).into_iter().map(|(_, grid)| grid).collect(), MAP_LEGEND));
    }
    Some(items)
}

/// Returns the fields for the answer and the foil of evidence.
pub fn answers_form(choice: &AnswerChoice) -> Form {
    const ANSWER: &str = "The answer that maps and measures of words are about; if the field is empty, the likeliest \
        answer, of the second sentence if there is one";
    const FOIL: &str = "The word with which the answer is compared, by the difference of their logits; if the field is \
        empty, the likeliest other answer of the sentence";
    let field = |name: &str, placeholder, hint, text: &Option<String>| Field {
        name: name.to_owned(),
        placeholder,
        hint,
        text: text.clone().unwrap_or_default(),
        offers: choice.offers.clone(),
        about_offers: "The likeliest answers",
    };
    let AskedAnswer { answer, against, .. } = &choice.chosen;
    Form {
        fields: vec![field("Answer", "answer", ANSWER, answer), field("Foil", "foil", FOIL, against)],
        between: "vs.",
        button: ["Set", "Set answer and foil", "Compares these two words in maps and measures of words (Enter)"]
            .map(str::to_owned),
        fills: Filled::Answers,
    }
}

const MAP_LEGEND: &str = "Rows are layers. With a second sentence: how far the answer goes towards that of the second, when one \
     vector or one head is the second's, 0 and 1 being the two sentences. Without one: the change of the answer's difference \
     of logits when a head is off. Paths: how far a head before it gets through this part of the head alone.";

/// Returns the maps of the sentence that have been computed so far.
pub fn maps(model: &WhatIfModel) -> Vec<(MapKind, Grid)> {
    let Some(map) = &model.map else { return Vec::new() };
    let heads = map.heads.iter().map(Vec::len).max().unwrap_or(0);
    let heads: Arc<[String]> = (1..=heads).map(|head| head.to_string()).collect();
    let title = if map.second.is_some() { "Heads of the second sentence" } else { "Heads that are off" };
    let words = map.words.as_ref().map(|words| {
        let layers = (1..=words.len()).map(|layer| format!("before layer {layer}")).collect();
        (MapKind::Words, map_grid("Vectors of the second sentence", layers, words, model.tokens.as_slice().into()))
    });
    let through = map.paths.iter().flat_map(|paths| {
        let head = model.head_name(paths.head);
        let into = ["queries", "keys", "values"].map(|part| format!("Paths into the {part} of {head}"));
        into.into_iter().zip(&paths.through).filter(|(_, shares)| !shares.is_empty())
    });
    let paths: Vec<(MapKind, Grid)> = through
        .map(|(title, shares)| (MapKind::Paths, map_grid(&title, layers(shares), shares, heads.clone())))
        .collect();
    let of_heads = (MapKind::Heads, map_grid(title, layers(&map.heads), &map.heads, heads));
    words.into_iter().chain([of_heads]).chain(paths).collect()
}

/// Returns the cell with the largest magnitude of a map in words, once the map is complete.
pub fn largest(model: &WhatIfModel, kind: MapKind, grid: &Grid) -> Option<String> {
    let map = model.map.as_ref().filter(|map| map.progress.done >= map.progress.of)?;
    let cells = (0..grid.rows.len()).flat_map(|row| (0..grid.cols.len()).map(move |col| (row, col)));
    let numbers = cells.filter_map(|(row, col)| Some((grid.value(row, col)?.abs(), (row, col))));
    let (_, (row, col)) = numbers.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("Largest: {}.", cell(kind, map.second.is_some(), grid, row, col)))
}

/// Returns a cell of a map in words, such as `layer 1, head 3: 0.92 of the way to the answer of the second sentence`.
pub fn cell(kind: MapKind, of_two: bool, grid: &Grid, row: usize, col: usize) -> String {
    let (layer, name) = (&grid.rows[row], &grid.cols[col]);
    let place = match kind {
        MapKind::Words => format!("“{name}” {layer}"),
        MapKind::Heads | MapKind::Paths => format!("{layer}, head {name}"),
    };
    match grid.value(row, col) {
        Some(value) if of_two => format!("{place}: {value:.2} of the way to the answer of the second sentence"),
        Some(value) => format!("{place}: {value:.2}"),
        None => format!("{place}: not computed"),
    }
}

/// Returns a name for each row of a map of heads.
fn layers(rows: &[Vec<Option<f64>>]) -> Arc<[String]> {
    (1..=rows.len()).map(|layer| format!("layer {layer}")).collect()
}

fn map_grid(title: &str, layers: Arc<[String]>, rows: &[Vec<Option<f64>>], cols: Arc<[String]>) -> Grid {
    let value = |row: &Vec<Option<f64>>, col: usize| row.get(col).copied().flatten().map(|value| value as f32);
    let values: Vec<Option<f32>> =
        rows.iter().flat_map(|row| (0..cols.len()).map(move |col| value(row, col))).collect();
    let full = values.iter().flatten().fold(1.0, |most: f32, value| most.max(value.abs()));
    Grid::of_numbers(title, [layers, cols], values, Scale::Signed { full })
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
    let title = if model.layers_see_differently { "Mask of layer 1" } else { "Mask" };
    let names: Arc<[String]> = model.tokens.as_slice().into();
    Grid::of_numbers(title, [names.clone(), names], values, Scale::Share { hue: 0, full: 1.0 })
}
