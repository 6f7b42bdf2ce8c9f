//! Ten measures of which word mattered, as text and JSON.

use std::fmt::Write as _;

use attune_core::kernel::evidence::words::Words;
use attune_engine::numerics::evidence::words::WordMeasure;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{grid_text, number, number_or_null, numbered, numbers, token_name};

/// The measures as a JSON object. They are in the order of their definition, as are the rows and columns of the
/// correlations.
#[derive(Serialize)]
struct WordsJson<'a> {
    tokens: &'a [String],
    place: usize,
    answer: &'a str,
    against: &'a str,
    difference: Value,
    nothing: Value,
    measures: Measures<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direct_rest: Option<Value>,
    ranked: &'a [usize],
    spearman: Value,
}

struct Measures<'a>(&'a [(WordMeasure, Vec<f64>)]);

impl Serialize for Measures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(measure, values)| (measure.name(), numbers(values))))
    }
}

/// Returns the measures as a JSON object.
pub fn words_json(words: &Words) -> impl Serialize {
    let Words { tokens, place, answer, against, table, ranked, spearman } = words;
    let row = |row: &Vec<Option<f64>>| row.iter().map(|value| number_or_null(*value)).collect::<Value>();
    WordsJson {
        tokens,
        place: *place,
        answer,
        against,
        difference: number(table.difference),
        nothing: number(table.nothing),
        measures: Measures(&table.measures),
        direct_rest: table.direct_rest.map(number),
        ranked,
        spearman: spearman.iter().map(row).collect(),
    }
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
    let Words { tokens, place, answer, against, table, spearman, .. } = words;
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
    text.push('\n');
    for (word, measures) in words.firsts() {
        let of: Vec<&str> = measures.into_iter().map(WordMeasure::name).collect();
        let _ = writeln!(text, "{} is first by {}", token_name(tokens, word), of.join(", "));
    }
    text
}
