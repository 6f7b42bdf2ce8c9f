//! Maps of an answer over the tokens and heads of a sentence, as text and JSON.

use std::fmt::Write as _;

use attune_core::kernel::evidence::map::{Grid, Maps, NumberMaps};
use serde_json::{Map, Value, json};

use super::{counted_from_one, grid_text, number, number_or_null, numbered, token_name};

/// Returns the maps as a JSON object.
pub fn map_json(maps: &Maps) -> Value {
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("tokens", json!(maps.tokens));
    if let Some(second) = &maps.second_tokens {
        add("second_tokens", json!(second));
    }
    add("place", json!(maps.place));
    add("answer", json!(maps.answer));
    add("against", json!(maps.against));
    add("difference", of_number(&maps.difference));
    add("probability", of_number(&maps.probability));
    if let Some(paths) = &maps.paths {
        add("paths", grid(paths));
    }
    Value::Object(object)
}

fn of_number(maps: &NumberMaps) -> Value {
    let mut object = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    };
    add("sentence", Some(number(maps.sentence)));
    add("second", maps.second.map(number));
    add("words", maps.words.as_ref().map(grid));
    add("heads", maps.heads.as_ref().map(grid));
    add("off", Some(grid(&maps.off)));
    add("mean", Some(grid(&maps.mean)));
    Value::Object(object)
}

fn grid(grid: &Grid) -> Value {
    grid.iter().map(|row| row.iter().map(|value| number_or_null(*value)).collect::<Value>()).collect()
}

/// Returns the maps of the difference of logits as tables, after the differences and probabilities of the whole
/// sentences.
pub fn map_text(maps: &Maps) -> String {
    let Maps { tokens, place, answer, against, difference, probability, .. } = maps;
    let at = token_name(tokens, *place);
    let mut text = format!("{answer} against {against} at {at}: difference of logits, and probability of {answer}\n");
    let mut line = |name: &str, [difference, probability]: [Option<f64>; 2]| {
        if let (Some(difference), Some(probability)) = (difference, probability) {
            let _ = writeln!(text, "  {name:<9} {difference:>8.3} {probability:>8.4}");
        }
    };
    line("sentence", [Some(difference.sentence), Some(probability.sentence)]);
    line("second", [difference.second, probability.second]);
    let mut table = |title: &str, of: String| {
        let _ = write!(text, "\n{title}\n{of}");
    };
    if let Some(words) = &difference.words {
        let title = "A token's vector before a layer, from the second sentence (0: as the sentence, 1: as the second)";
        table(title, of_tokens(tokens, words));
    }
    if let Some(heads) = &difference.heads {
        table("A head's output is that of the second sentence, at all tokens", of_heads(heads));
    }
    table("Change of the difference when a head is off", of_heads(&difference.off));
    table(
        "Change of the difference when a head is at every token its mean over all tokens",
        of_heads(&difference.mean),
    );
    if let Some(paths) = maps.paths.as_ref().filter(|paths| !paths.is_empty()) {
        table("Paths: share of the way to the second sentence from each head, by this path alone", of_heads(paths));
    } else if maps.paths.is_some() {
        text.push_str("\nNo head comes before the first layer, so there are no paths.\n");
    }
    text
}

/// Returns a table with a row for each token and a column for each layer.
fn of_tokens(tokens: &[String], grid: &Grid) -> String {
    let row = |place: usize| grid.iter().map(|layer| layer.get(place).copied().flatten()).collect();
    let rows: Vec<_> = numbered(tokens).enumerate().map(|(place, name)| (name, row(place))).collect();
    grid_text("layer", &counted_from_one(grid.len()), &rows, 2)
}

/// Returns a table with a row for each layer and a column for each head.
fn of_heads(grid: &Grid) -> String {
    let heads = grid.iter().map(Vec::len).max().unwrap_or(0);
    let rows: Vec<_> = (1..).zip(grid).map(|(layer, row)| (format!("layer {layer}"), row.clone())).collect();
    grid_text("head", &counted_from_one(heads), &rows, 2)
}
