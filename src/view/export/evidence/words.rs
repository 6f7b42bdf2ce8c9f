//! Ten measures of which word mattered, as text and JSON.

use std::fmt::Write as _;

use attune_core::kernel::evidence::words::Words;
use attune_engine::numerics::evidence::words::WordMeasure;
use serde_json::{Map, Value, json};

use super::{grid_text, number, number_or_null, numbered, numbers, token_name};

/// Returns the measures as a JSON object.
pub fn words_json(words: &Words) -> Value {
    let table = &words.table;
    let measures: Map<String, Value> =
        table.measures.iter().map(|(measure, values)| (measure.name().to_owned(), numbers(values))).collect();
    let row = |row: &Vec<Option<f64>>| row.iter().map(|value| number_or_null(*value)).collect::<Value>();
    let mut object = json!({
        "tokens": words.tokens,
        "place": words.place,
        "answer": words.answer,
        "against": words.against,
        "difference": number(table.difference),
        "nothing": number(table.nothing),
        "measures": measures,
        "ranked": words.ranked,
        "spearman": words.spearman.iter().map(row).collect::<Value>(),
    });
    if let (Some(rest), Some(object)) = (table.direct_rest, object.as_object_mut()) {
        object.insert("direct_rest".to_owned(), number(rest));
    }
    object
}

/// Returns a measure's name for a narrow column.
fn column(measure: WordMeasure) -> &'static str {
    match measure {
        WordMeasure::AttentionLast => "lastatt",
        WordMeasure::Attention => "att",
        WordMeasure::ValueZeroing => "zeroing",
        WordMeasure::GradientInput => "grad.x",
        WordMeasure::Integrated => "integr.",
        other => other.name(),
    }
}

/// Returns the measures as tables.
pub fn words_text(words: &Words) -> String {
    let Words { tokens, place, answer, against, table, ranked, spearman } = words;
    let at = token_name(tokens, *place);
    let mut text = format!(
        "{answer} against {against} at {at}: {:.3}; without any word {:.3}\n\n",
        table.difference, table.nothing
    );
    let names: Vec<String> = table.measures.iter().map(|(measure, _)| column(*measure).to_owned()).collect();
    let row = |place: usize| table.measures.iter().map(|(_, values)| values.get(place).copied()).collect();
    let rows: Vec<_> = numbered(tokens).enumerate().map(|(place, name)| (name, row(place))).collect();
    text.push_str(&grid_text("", &names, &rows, 3));
    if let Some(rest) = table.direct_rest {
        let _ = writeln!(text, "direct: all other terms of the difference add {rest:.3}");
    }
    let _ = write!(text, "\nCorrelation of the ranks (Spearman) over the words of the text\n");
    let rows: Vec<_> = names.iter().cloned().zip(spearman.iter().cloned()).collect();
    text.push_str(&grid_text("", &names, &rows, 2));
    let first = |values: &[f64]| ranked.iter().copied().max_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs()));
    let firsts: Vec<(&str, usize)> =
        table.measures.iter().filter_map(|(measure, values)| Some((measure.name(), first(values)?))).collect();
    text.push('\n');
    let mut named: Vec<usize> = firsts.iter().map(|(_, word)| *word).collect();
    named.sort_unstable();
    named.dedup();
    for word in named {
        let of: Vec<&str> = firsts.iter().filter(|(_, first)| *first == word).map(|(name, _)| *name).collect();
        let _ = writeln!(text, "{} is first by {}", token_name(tokens, word), of.join(", "));
    }
    text
}
