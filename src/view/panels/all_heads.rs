//! *All heads*: every head of every layer as a small map, with a measure of it.

use super::attention::{legend, sinks};
use crate::sheet::grid::numbered;
use crate::sheet::{Cells, Chosen, Grid, Item, Scale, Tile, Tiles};
use crate::view_model::Models;
use crate::view_model::attention::Reading;
use crate::view_model::heads::{AllHeads, AllHeadsModel, HeadSummary};

/// Heads that are numbered as the strongest.
const RANKED: usize = 5;
/// Rows and columns of a map, at most: more are not told apart at its size.
const SIDE: usize = 24;

pub fn items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    let heads = models.get::<AllHeadsModel>()?.content.clone();
    if heads.heads.is_empty() {
        return Some(Vec::new());
    }
    let words = chosen.measure.words();
    let mut items = vec![Item::text(format!("{}. {} ({}).", words.meaning, words.formula, words.source))];
    items.extend(chosen.reading.said().map(Item::warning));
    let strongest = heads.strongest(chosen.measure, RANKED);
    let named: Vec<String> = strongest.iter().map(|head| heads.heads[*head].say(chosen.measure)).collect();
    if !named.is_empty() {
        items.push(Item::text(format!("Strongest: {}.", named.join("; "))));
    }
    let full = heads.full(chosen.measure);
    let tile = |head: &HeadSummary| {
        let number = head.measure(chosen.measure);
        let share = number.map_or(0.0, |found| if full > 0.0 { (found / full).clamp(0.0, 1.0) } else { 0.0 });
        let rank = strongest.iter().position(|other| *other == head.head).map(|rank| rank + 1);
        Tile { at: [head.layer, head.own], grid: grid(&heads, head, chosen.reading), number, share, rank }
    };
    items.push(Item::Tiles(Tiles {
        rows: heads.layers.iter().map(|layer| layer.title.clone()).collect(),
        cols: (1..=heads.columns()).map(|head| format!("Head {head}")).collect(),
        tiles: heads.heads.iter().map(tile).collect(),
        legend: format!(
            "{} The number under a map and its bar: {}; the {RANKED} largest are numbered.",
            legend(chosen.reading),
            words.title
        ),
    }));
    items.extend(sinks(&heads.sinks));
    Some(items)
}

/// A head's map with the largest number of each cell.
fn grid(heads: &AllHeads, head: &HeadSummary, reading: Reading) -> Grid {
    let map = heads.thumbnail(head.head, SIDE, reading);
    Grid {
        title: head.title.clone(),
        rows: numbered(map.rows),
        cols: numbered(map.cols),
        cells: Cells::Numbers { values: map.shares, entries: Vec::new() },
        scale: Scale::Share { hue: head.own, full: 1.0 },
        marked: Vec::new(),
    }
}
