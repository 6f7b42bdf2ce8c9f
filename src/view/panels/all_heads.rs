//! *All heads*: every head of every layer as a small map, marked and sorted by a measure; clicking one opens it in
//! *Attention*.

use std::sync::Arc;

use super::attention::{legend, sinks};
use super::head_tables;
use super::over_texts;
use crate::sheet::control::{Button, Copied, Copy, Look, Menu, Shared};
use crate::sheet::grid::short;
use crate::sheet::{Ask, Choice, Chosen, Control, HeadOrder, Item, Text, Tile, Tiles, Tone};
use crate::view_model::Models;
use crate::view_model::heads::{AllHeads, AllHeadsModel, HeadMeasure, HeadSummary, unmeasured};
use crate::view_model::needs::Needs;

/// The number of heads that are marked as the strongest.
const MARKED: usize = 5;
/// The number of heads that are listed for each measure.
const LISTED: usize = 3;

pub fn items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    if chosen.over_texts {
        return over_texts::items(models, chosen);
    }
    let heads = models.get::<AllHeadsModel>()?.content.clone();
    if heads.heads.is_empty() {
        return Some(Vec::new());
    }
    let measure = heads.chosen_measure(chosen.measure);
    let words = heads.words(measure);
    let mut items =
        vec![Item::Controls(over_texts::choice(false).into()), Item::Controls(controls(&heads, chosen)), Item::Scrolls];
    let even = heads.even(measure).map(|even| format!(" With equal weights, the strongest would have {even:.2}."));
    let even = even.unwrap_or_default();
    items.push(Item::soft(format!("{}. {} ({}).{even}", words.meaning, words.formula, words.source)));
    let lacks_lengths = chosen.reading.is_added && !heads.heads.iter().all(|head| head.cells.has_lengths());
    if lacks_lengths {
        items.push(Item::warning(Needs::Terms.words()));
    } else {
        items.extend(chosen.reading.said().map(|said| {
            Item::warning(format!(
                "{said}. The measures are computed from the weights themselves, including all sinks."
            ))
        }));
    }
    if !heads.sinks.is_empty() {
        items.push(Item::Controls(vec![Control::Sinks(heads.sinks.clone())]));
    }
    items.push(Item::Controls(strongest(&heads, measure, MARKED, "Strongest:")));
    let named: Vec<String> =
        heads.strongest(measure, MARKED).iter().map(|head| heads.heads[*head].say(measure)).collect();
    if !named.is_empty() {
        items.push(Item::toned(format!("Strongest: {}.", named.join("; ")), Tone::Tooltip));
    }
    items.push(Item::Tiles(tiles(&heads, chosen)));
    let of_each = |measure: HeadMeasure| {
        Item::Controls(strongest(&heads, measure, LISTED, &format!("{}:", measure.words().title)))
    };
    let summary = "Strongest heads by each measure";
    items.push(Item::Details { summary, items: HeadMeasure::ALL.into_iter().map(of_each).collect() });
    let head = chosen.head.or_else(|| heads.strongest(measure, 1).first().copied());
    items.extend(head.and_then(|head| head_tables::items(models, head)).unwrap_or_default());
    items.extend(sinks(&heads.sinks));
    items.extend(over_texts::details(models, chosen));
    Some(items)
}

/// Returns the controls for the measure, the order and the reading, and the one that copies all measures for a
/// spreadsheet.
fn controls(heads: &Arc<AllHeads>, chosen: &Chosen) -> Vec<Control> {
    const WIDTH: f32 = 122.0;
    let chosen_measure = heads.chosen_measure(chosen.measure);
    let measure = |measure: HeadMeasure| {
        let words = heads.words(measure);
        let is_chosen = chosen_measure == measure;
        Control::Button(Button::option(words.title, words.meaning, is_chosen, Choice::Measure(measure)))
    };
    let mut controls = vec![Control::Menu(Menu {
        label: chosen_measure.words().title.to_owned(),
        name: "Measure of the heads".to_owned(),
        hint: "The measure that marks and sorts the heads (in the grid, M chooses the next measure)".to_owned(),
        width: Some(WIDTH),
        controls: HeadMeasure::ALL.into_iter().map(measure).collect(),
    })];
    let orders = [
        (HeadOrder::Layers, "layers", "A row for each layer, a column for each head"),
        (HeadOrder::LargestFirst, "largest", "The heads with the largest value of the measure first"),
        (HeadOrder::SmallestFirst, "smallest", "The heads with the smallest value of the measure first"),
    ];
    controls.extend(orders.map(|(order, words, hint)| {
        Control::Button(Button::option(words, hint, chosen.order == order, Choice::Order(order)))
    }));
    controls.push(Control::Shared(Shared::Reading(heads.sinks.clone())));
    let what = "all measures of all heads, for a spreadsheet".to_owned();
    controls.push(Control::Copy(Copy { what, numbers: Copied::Heads(heads.clone()) }));
    controls
}

/// Returns the heads with the largest values of a measure, as buttons that open them.
fn strongest(heads: &AllHeads, measure: HeadMeasure, count: usize, title: &str) -> Vec<Control> {
    let strongest = heads.strongest(measure, count);
    let mut controls = vec![Control::Words(Text::toned(title, Tone::Plain))];
    if strongest.is_empty() {
        controls.push(Control::Words(Text::toned(unmeasured(heads.is_measured), Tone::Soft)));
    }
    controls.extend(strongest.into_iter().map(|head| {
        let head = &heads.heads[head];
        let number = head.measure(measure).map_or_else(String::new, short);
        let said = head.say(measure);
        let hint = format!("{said}. Click to open the head in Attention");
        let button = Button::new(format!("{} {number}", place(heads, head)), hint, Ask::OpenHead(head.head));
        Control::Button(Button { look: Look::Small { is_enabled: true }, ..button.named(format!("Open {said}")) })
    }));
    controls
}

/// Returns the numbers of a layer and of a head in it, such as `2·1`; only the head's number if there is one layer.
fn place(heads: &AllHeads, head: &HeadSummary) -> String {
    let own = head.own + 1;
    if heads.layers.len() > 1 { format!("{}·{own}", heads.layers[head.layer].sign) } else { own.to_string() }
}

fn tiles(heads: &Arc<AllHeads>, chosen: &Chosen) -> Tiles {
    let Chosen { reading, order, .. } = *chosen;
    let measure = heads.chosen_measure(chosen.measure);
    let (marked, full) = (heads.strongest(measure, MARKED), heads.full(measure));
    let tile = |head: usize, at: [usize; 2]| {
        let head = &heads.heads[head];
        let number = head.measure(measure);
        let share = number.map_or(0.0, |found| if full > 0.0 { (found / full).clamp(0.0, 1.0) } else { 0.0 });
        let rank = marked.iter().position(|other| *other == head.head).map(|rank| rank + 1);
        Tile { at, head: head.head, spoken: head.say(measure), number, share, rank }
    };
    let is_by_layer = order == HeadOrder::Layers;
    let tiles = if is_by_layer {
        heads.heads.iter().map(|head| tile(head.head, [head.layer, head.own])).collect()
    } else {
        let ranked = heads.ranked(measure, order == HeadOrder::LargestFirst);
        ranked.into_iter().enumerate().map(|(place, head)| tile(head, [0, place])).collect()
    };
    let named = |is_named: bool, names: Vec<String>| if is_named { names } else { Vec::new() };
    Tiles {
        rows: named(is_by_layer, heads.layers.iter().map(|layer| layer.title.clone()).collect()),
        cols: named(is_by_layer, (1..=heads.columns()).map(|head| format!("Head {head}")).collect()),
        tiles,
        next: Choice::Measure(HeadMeasure::ALL[(measure.place() + 1) % HeadMeasure::ALL.len()]),
        legend: format!(
            "{} The number under a map and its bar: {}; the {MARKED} largest are numbered.",
            legend(reading),
            measure.words().title
        ),
        heads: heads.clone(),
        reading,
    }
}
