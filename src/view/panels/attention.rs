//! *Attention*: a map for each head, whose rows are queries and whose columns are keys; or lines between them.

use crate::sheet::control::{Aside, Button, Copied, Copy, Menu, Shared};
use crate::sheet::{Cells, Choice, Chosen, Control, Grid, Grids, Item, Mark, Scale, Tone};
use crate::view_model::Models;
use crate::view_model::attention::{AttentionMaps, HeadMap, Reading, Sinks};
use crate::view_model::needs::Needs;
use crate::view_model::pieces::WordAttention;

/// The largest number of heads that have a button each; more heads are in a list.
const BUTTONS: usize = 4;
/// The explanation of the rows of cross-attention. Without it, the first row seems to translate the word that it looks
/// at.
const OF_THE_NEXT_WORD: &str =
    "Each row is a word that the decoder has read. What it looks at serves to predict the next word.";

pub fn items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    match models.get::<WordAttention>().filter(|_| !chosen.pieces) {
        Some(words) => Some(of_maps(&words.0, chosen)),
        None => Some(of_maps(&*models.get::<AttentionMaps>()?, chosen)),
    }
}

fn of_maps(maps: &AttentionMaps, chosen: &Chosen) -> Vec<Item> {
    let reading = chosen.reading;
    let shown = shown(maps, chosen);
    let mut items = vec![Item::Controls(controls(maps, &shown, chosen))];
    let lacks_lengths = reading.is_added && !shown.iter().all(|map| map.cells.has_lengths());
    let caution = if lacks_lengths { Some(Needs::Terms.words()) } else { reading.said() };
    items.extend(caution.map(Item::warning));
    items.extend(maps.note.map(Item::text));
    if shown.iter().any(|map| map.keys_are_source && !map.is_of_source) {
        items.push(Item::text(OF_THE_NEXT_WORD));
    }
    items.push(Item::Scrolls);
    if !shown.is_empty() {
        let grids = shown.iter().map(|map| grid(maps, map, reading)).collect();
        items.push(Item::Grids(Grids { grids, legend: legend(reading), as_lines: chosen.as_lines }));
    }
    items.extend(sinks(&maps.sinks));
    items
}

/// Returns the maps that are shown: that of the chosen head, or those of all heads. During a walk through the layers,
/// only the heads of its layer are shown.
pub fn shown<'a>(maps: &'a AttentionMaps, chosen: &Chosen) -> Vec<&'a HeadMap> {
    if let Some(map) = chosen.head.and_then(|head| maps.heads.get(head)) {
        return vec![map];
    }
    let walked = chosen.walked.and_then(|head| maps.heads.get(head));
    maps.heads.iter().filter(|map| walked.is_none_or(|walked| walked.block == map.block)).collect()
}

/// Returns the controls for maps or lines, for the reading, the heads and the size of cells, and the one that copies
/// the numbers for a spreadsheet.
fn controls(maps: &AttentionMaps, shown: &[&HeadMap], chosen: &Chosen) -> Vec<Control> {
    const LINES: &str = "Lines from each query on the left to its keys on the right; the thicker the line, the larger \
        the weight";
    let way = |label, hint, as_lines| {
        Control::Button(Button::option(label, hint, chosen.as_lines == as_lines, Choice::Lines(as_lines)))
    };
    let aside = |controls| {
        let hint = "Weights, or what they add; with or without sinks; the size of cells; copy everything";
        Control::Aside(Aside { label: "Options", hint, controls })
    };
    let sum = if maps.rows_are_whole { " and sums to 1" } else { "" };
    let map_hint = format!("Each row is a query{sum}; each column is a key");
    let reading = Control::Shared(Shared::Reading(maps.sinks.clone()));
    let mut controls = vec![
        way("Map", map_hint.as_str(), false),
        way("Lines", LINES, true),
        aside(vec![Control::Separator, reading, Control::Separator]),
    ];
    controls.extend(heads(maps, chosen));
    let copy = Control::Copy(Copy {
        what: format!("{}, for a spreadsheet (Ctrl+C over the panel)", shown_words(maps, shown)),
        numbers: Copied::Attention { maps: shown.iter().map(|map| (*map).clone()).collect(), reading: chosen.reading },
    });
    let zoom = (!chosen.as_lines).then_some(Control::Zoom);
    controls.push(aside(zoom.into_iter().chain([copy]).collect()));
    controls
}

/// Returns the controls that choose a head; empty if there is only one.
fn heads(maps: &AttentionMaps, chosen: &Chosen) -> Vec<Control> {
    if maps.heads.len() < 2 {
        return Vec::new();
    }
    let only = chosen.head.filter(|head| *head < maps.heads.len());
    let option = |label: String, hint: &str, head: Option<usize>| {
        Button::option(label, hint, only == head, Choice::Head(head)).named(hint)
    };
    let of_head = |map: &HeadMap| {
        let hint = format!("Show only {}", map.title.to_lowercase());
        Button { hue: Some(map.own), ..option(label(maps, map), &hint, Some(map.head)) }
    };
    let all = option("All".to_owned(), "Show all heads", None);
    let controls = [all].into_iter().chain(maps.heads.iter().map(of_head)).map(Control::Button).collect();
    if maps.heads.len() <= BUTTONS {
        return controls;
    }
    vec![Control::Menu(Menu::button("Heads", "Which heads are shown", controls))]
}

/// Returns the label of a head, numbered as in *All heads*: by its layer, if there are several, and its place in the
/// layer. In a list, it is the title of the head.
fn label(maps: &AttentionMaps, map: &HeadMap) -> String {
    if maps.heads.len() > BUTTONS {
        map.title.clone()
    } else if maps.heads.iter().any(|other| other.block != map.block) {
        format!("{}·{}", map.layer, map.own + 1)
    } else {
        (map.own + 1).to_string()
    }
}

fn shown_words(maps: &AttentionMaps, shown: &[&HeadMap]) -> String {
    match shown {
        [map] if maps.heads.len() > 1 => format!("the weights of {}", map.title.to_lowercase()),
        _ if shown.len() < maps.heads.len() => "the weights of the layer's heads".to_owned(),
        _ => "the weights of all heads".to_owned(),
    }
}

fn grid(maps: &AttentionMaps, map: &HeadMap, reading: Reading) -> Grid {
    let off = if map.enabled { "" } else { " · switched off" };
    let mark = |col: usize| {
        let sink = maps.sinks.at(col).filter(|_| !map.keys_are_source)?;
        Some(Mark { col, about: sink.about() })
    };
    Grid {
        title: format!("{}{off}", map.title),
        rows: map.queries.clone(),
        cols: map.keys.clone(),
        scale: Scale::Share { hue: map.own, full: maps.full(map, reading) },
        marked: (0..map.keys.len()).filter_map(mark).collect(),
        cells: Cells::Head { map: map.clone(), reading },
    }
}

/// Returns a sentence on the meaning of rows, columns and colours.
pub(super) fn legend(reading: Reading) -> String {
    let value = if reading.is_added {
        "the length ‖α V W_O‖ of what the key adds to the query's word, from 0 to the longest of the head"
    } else {
        "the weight α of a key for a query, from 0 to 1"
    };
    format!("Rows are queries and columns are keys. The colour is {value}.")
}

/// Returns a sentence about each sink; the window shows it at the sink's mark instead.
pub(super) fn sinks(sinks: &Sinks) -> impl Iterator<Item = Item> {
    sinks.sinks.iter().map(|sink| Item::toned(sink.about(), Tone::Tooltip))
}
