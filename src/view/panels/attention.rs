//! *Attention*: a map for each head, whose rows are queries and whose columns are keys.

use crate::sheet::{Cells, Chosen, Grid, Grids, Item, Scale};
use crate::view_model::Models;
use crate::view_model::attention::{AttentionMaps, HeadMap, Reading, Sinks};
use crate::view_model::pieces::WordAttention;

pub fn items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    match models.get::<WordAttention>().filter(|_| !chosen.pieces) {
        Some(words) => Some(of_maps(&words.0, chosen.reading)),
        None => Some(of_maps(&*models.get::<AttentionMaps>()?, chosen.reading)),
    }
}

fn of_maps(maps: &AttentionMaps, reading: Reading) -> Vec<Item> {
    let mut items: Vec<Item> = reading.said().map(Item::warning).into_iter().collect();
    items.extend(maps.note.map(Item::text));
    if !maps.heads.is_empty() {
        let grids = maps.heads.iter().map(|map| grid(maps, map, reading)).collect();
        items.push(Item::Grids(Grids { grids, legend: legend(reading) }));
    }
    items.extend(sinks(&maps.sinks));
    items
}

fn grid(maps: &AttentionMaps, map: &HeadMap, reading: Reading) -> Grid {
    let off = if map.enabled { "" } else { " · switched off" };
    let is_marked = |col: &usize| !map.keys_are_source && maps.sinks.at(*col).is_some();
    Grid {
        title: format!("{}{off}", map.title),
        rows: map.queries.clone(),
        cols: map.keys.clone(),
        scale: Scale::Share { hue: map.own, full: maps.full(map, reading) },
        marked: (0..map.keys.len()).filter(is_marked).collect(),
        cells: Cells::Head { map: map.clone(), reading },
    }
}

/// The meaning of rows, columns and colours.
pub(super) fn legend(reading: Reading) -> String {
    let value = if reading.is_added {
        "the length ‖α V W_O‖ of what the key adds to the query's word, from 0 to the longest of the head"
    } else {
        "the weight α of a key for a query, from 0 to 1"
    };
    format!("Rows are queries and columns are keys. The colour is {value}.")
}

/// A sentence on each sink.
pub(super) fn sinks(sinks: &Sinks) -> impl Iterator<Item = Item> {
    sinks.sinks.iter().map(|sink| Item::soft(sink.about()))
}
