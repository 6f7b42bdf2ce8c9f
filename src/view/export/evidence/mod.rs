//! Evidence about a model, as text for a terminal and as JSON for programs: maps, the split of a score, measures of
//! which word mattered, and heads over texts.
//!
#![doc = include_str!("evidence.md")]

mod heads;
mod headvis;
mod map;
mod score;
mod words;

pub use heads::{tables_json, tables_text, texts_json, texts_text};
pub use headvis::write_headvis;
pub use map::{map_json, map_text};
pub use score::{score_json, score_text};
pub use words::{words_json, words_text};

use std::fmt::Write as _;

use attune_engine::messages::cut;
use serde_json::Value;

/// The width in characters that tables may have, to fit into a terminal.
const COLUMNS: usize = 100;
/// The largest number of characters of a name at the beginning of a row.
const NAME_CHARS: usize = 14;

/// Returns a number with nine significant digits; `null` if it is not finite.
fn number(x: f64) -> Value {
    format!("{x:.8e}").parse::<f64>().ok().and_then(serde_json::Number::from_f64).map_or(Value::Null, Value::Number)
}

fn number_or_null(x: Option<f64>) -> Value {
    x.map_or(Value::Null, number)
}

fn numbers(row: &[f64]) -> Value {
    row.iter().map(|x| number(*x)).collect()
}

/// Returns a table of numbers with a name before each row. Columns that do not fit into a terminal are continued below.
fn grid_text(corner: &str, columns: &[String], rows: &[(String, Vec<Option<f64>>)], digits: usize) -> String {
    let shown = |value: &Option<f64>| value.map_or("-".to_owned(), |value| without_sign_of_zero(value, digits));
    let cells: Vec<Vec<String>> = rows.iter().map(|(_, row)| row.iter().map(shown).collect()).collect();
    let names: Vec<String> = rows.iter().map(|(name, _)| cut(name, NAME_CHARS)).collect();
    let heads: Vec<String> = columns.iter().map(|name| cut(name, NAME_CHARS)).collect();
    let length = |text: &String| text.chars().count();
    let first = names.iter().map(length).chain([corner.chars().count()]).max().unwrap_or(0);
    let widest = cells.iter().flatten().chain(&heads).map(length).max().unwrap_or(0);
    // Columns move closer together if the table would not fit otherwise.
    let width = if first + heads.len() * (widest + 2) > COLUMNS { widest + 1 } else { widest + 2 };
    let at_once = ((COLUMNS - first) / width.max(1)).max(1);
    let mut text = String::new();
    for start in (0..heads.len()).step_by(at_once) {
        let part = start..heads.len().min(start + at_once);
        let mut line = |name: &str, cells: &[String]| {
            let mut row = format!("{name}{}", " ".repeat(first.saturating_sub(name.chars().count())));
            cells.iter().for_each(|cell| {
                row.push_str(&" ".repeat(width.saturating_sub(cell.chars().count())));
                row.push_str(cell);
            });
            let _ = writeln!(text, "{}", row.trim_end());
        };
        line(corner, &heads[part.clone()]);
        names.iter().zip(&cells).for_each(|(name, row)| line(name, &row[part.clone()]));
    }
    text
}

/// Writes a number without a minus sign if it rounds to 0.
fn without_sign_of_zero(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-').to_owned() } else { text }
}

/// Returns each token after its number, which is counted from 1 as on the command line.
fn numbered(tokens: &[String]) -> impl Iterator<Item = String> {
    (1..).zip(tokens).map(|(number, token)| format!("{number:>2} {token}"))
}

/// Returns the numbers from 1 to `count`, which name layers or heads.
fn counted_from_one(count: usize) -> Vec<String> {
    (1..=count).map(|number| number.to_string()).collect()
}

/// Returns a token with its number in brackets, which is counted from 1 as on the command line.
fn token_name(tokens: &[String], place: usize) -> String {
    format!("{} ({})", tokens.get(place).map_or("", String::as_str), place + 1)
}
