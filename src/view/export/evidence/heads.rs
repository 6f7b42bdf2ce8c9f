//! Heads over texts, and tables of heads, as text and JSON.

use std::fmt::Write as _;

use attune_core::kernel::evidence::Evidence;
use attune_core::kernel::evidence::tables::{Row, Tables};
use attune_core::kernel::evidence::texts::{HeadTexts, Texts};
use attune_engine::messages::cut;
use attune_engine::numerics::evidence::corpus::{
    DISTANCE_EDGES, INTERVALS, ListedWord, RankedText, Spread, TextMeasure,
};
use attune_engine::numerics::evidence::tables::Composition;
use serde_json::{Map, Value, json};

use super::{grid_text, number, number_or_null, numbers};

/// The number of words, and of pairs of heads, that a text lists.
const LISTED: usize = 5;
const PAIRS: usize = 4;

/// Returns the measures of all heads over texts as a JSON object.
pub fn texts_json(texts: &Texts, evidence: &Evidence<'_>) -> Value {
    let head = |head: &HeadTexts| {
        let mut object = head_json(head, evidence);
        if texts.even.is_some() {
            object.insert("name".to_owned(), json!(head.name));
        }
        Value::Object(object)
    };
    let mut object = json!({
        "n_sequences": texts.texts,
        "n_tokens": texts.tokens,
        "n_cut": texts.cut,
        "n_unread": texts.unread,
        "n_left_out": texts.left_out,
        "n_intervals": INTERVALS,
        "qk_distance_edges": DISTANCE_EDGES,
        "heads": texts.heads.iter().map(head).collect::<Value>(),
    });
    if let Some(even) = texts.even {
        object["aligned_even"] = number(even);
    }
    object
}

/// Returns the measures of a head with their names; those for cross-attention only if the head is one of
/// cross-attention.
pub(super) fn metrics(of: &HeadTexts) -> impl Iterator<Item = (String, Value)> {
    let is_within = of.towers.is_within();
    let is_given = move |measure: &TextMeasure| measure.is_of(true) || !is_within;
    let value = |measure: TextMeasure| (measure.name().to_owned(), number_or_null(of.measures.measure(measure)));
    TextMeasure::ALL.into_iter().filter(is_given).map(value)
}

pub(super) fn head_json(head: &HeadTexts, evidence: &Evidence<'_>) -> Map<String, Value> {
    let of = &head.measures;
    let listed = |words: &[ListedWord]| {
        let word = |word: &ListedWord| {
            let (text, weight, mean) = (evidence.word(word.word), number(word.weight), number(word.mean));
            json!({ "token": text, "weight": weight, "mean": mean, "count": word.count })
        };
        words.iter().map(word).collect::<Value>()
    };
    let text = |text: &RankedText| json!({ "sequence_id": text.text, "interval": text.interval, "max_activation": number(text.largest) });
    let distribution = |Spread { of, values }: &Spread| (of.name().to_owned(), numbers(values));
    let distributions: Map<String, Value> = of.distributions.iter().map(distribution).collect();
    let mut object = Map::new();
    object.insert("layer".to_owned(), json!(head.layer));
    object.insert("head".to_owned(), json!(head.head));
    object.extend(metrics(head));
    let rest = [
        ("histogram", json!(of.histogram)),
        ("qk_distance_histogram", numbers(&of.distance_histogram)),
        ("top_key_tokens", listed(&of.key_words)),
        ("top_query_tokens", listed(&of.query_words)),
        ("distributions", Value::Object(distributions)),
        ("sequences", of.texts.iter().map(text).collect()),
    ];
    object.extend(rest.map(|(name, value)| (name.to_owned(), value)));
    object
}

/// Returns the measures of all heads over texts as tables: one for heads within a sentence, and one for
/// cross-attention.
pub fn texts_text(texts: &Texts, evidence: &Evidence<'_>) -> String {
    const WORDS_CHARS: usize = 22;
    let mut text = texts.about();
    text.push_str(&blocks_text(texts));
    text.push('\n');
    for is_within in [true, false] {
        let mut heads = texts.heads.iter().filter(|head| head.towers.is_within() == is_within).peekable();
        if heads.peek().is_none() {
            continue;
        }
        let columns: Vec<TextMeasure> =
            TextMeasure::ALL.into_iter().filter(|measure| measure.is_of(is_within)).collect();
        let titles: String = columns.iter().map(|measure| format!("{:>10}", column(*measure))).collect();
        let _ = writeln!(text, "\n{:<6}{titles}  keys with most weight", "head");
        for HeadTexts { layer, head, measures: of, .. } in heads {
            let value = |measure: &TextMeasure| match of.measure(*measure) {
                Some(value) => format!("{value:>10.3}"),
                None => format!("{:>10}", "-"),
            };
            let values: String = columns.iter().map(value).collect();
            let words: Vec<String> = of.key_words.iter().take(LISTED).map(|word| evidence.word(word.word)).collect();
            let words = cut(&words.join(" "), WORDS_CHARS);
            let _ = writeln!(text, "{:<6}{values}  {words}", format!("{}.{}", layer + 1, head + 1));
        }
    }
    text.push_str(&alignment_text(texts));
    text
}

/// Returns the numbers and names of the blocks of a model with a source, whose heads are numbered by block; empty for
/// any other model.
fn blocks_text(texts: &Texts) -> String {
    let mut text = String::new();
    for head in texts.heads.iter().filter(|head| head.head == 0 && texts.even.is_some()) {
        let name = head.name.strip_suffix(", head 1").unwrap_or(&head.name);
        let _ = write!(text, "\n{:>3}  {name}", head.layer + 1);
    }
    if text.is_empty() { text } else { format!("\n{text}\n") }
}

/// Returns a sentence about the head of cross-attention that looks most at the aligned word; empty for a model without
/// a source.
fn alignment_text(texts: &Texts) -> String {
    let aligned = |head: &HeadTexts| head.measures.measure(TextMeasure::Aligned);
    let heads = texts.heads.iter().filter_map(|head| Some((head, aligned(head)?)));
    let (Some((best, share)), Some(even)) = (heads.max_by(|a, b| a.1.total_cmp(&b.1)), texts.even) else {
        return String::new();
    };
    let (place, name) = (format!("{}.{}", best.layer + 1, best.head + 1), &best.name);
    format!(
        "\nhead {place} ({name}) has the largest share on the aligned word: {share:.3}\nif all words of the source \
         had the same weight, it would be {even:.3}\n"
    )
}

/// Returns a measure's name for a narrow column.
fn column(measure: TextMeasure) -> &'static str {
    match measure {
        TextMeasure::Own => "self",
        TextMeasure::Previous => "previous",
        TextMeasure::Entropy => "entropy",
        TextMeasure::Distance => "distance",
        TextMeasure::DistanceVariance => "variance",
        TextMeasure::Induction => "induction",
        TextMeasure::Aligned => "aligned",
        TextMeasure::Monotony => "monotony",
        TextMeasure::MeanLargest => "largest",
    }
}

/// Returns tables of heads as a JSON object.
pub fn tables_json(tables: &Tables) -> Value {
    let rows = |rows: &[Row]| {
        let row = |(word, listed): &Row| {
            let listed = listed.iter().map(|(name, value)| json!([name, number(*value)])).collect::<Value>();
            (word.clone(), listed)
        };
        Value::Object(rows.iter().map(row).collect())
    };
    let composed = |of: &Composition| {
        let Composition { first, second, query, key, value } = *of;
        json!([first.0, first.1, second.0, second.1, number(query), number(key), number(value)])
    };
    let table = |of: &attune_core::kernel::evidence::tables::HeadTable| {
        let head = format!("{}.{}", of.layer + 1, of.head + 1);
        json!({ "head": head, "looks_at": rows(&of.looks_at), "writes": rows(&of.writes) })
    };
    json!({
        "chance": number(tables.chance),
        "composition": tables.composition.iter().map(composed).collect::<Value>(),
        "copying": tables.copying.as_ref().map(|rows| rows.iter().map(|row| numbers(row)).collect::<Value>()),
        "tables": tables.tables.iter().map(table).collect::<Value>(),
    })
}

/// Returns tables of heads as text.
pub fn tables_text(tables: &Tables) -> String {
    let mut text = String::new();
    for of in &tables.tables {
        let _ = writeln!(text, "head {}.{}", of.layer + 1, of.head + 1);
        let writes = if tables.are_logits { "writes" } else { "writes what is similar to" };
        for (title, rows) in [("looks at", &of.looks_at), (writes, &of.writes)] {
            for (word, listed) in rows {
                let listed: Vec<String> = listed.iter().map(|(name, value)| format!("{name} {value:.2}")).collect();
                let _ = writeln!(text, "  {word} {title}: {}", listed.join(", "));
            }
        }
        if of.layer > 0 {
            text.push_str("  (of static words; above layer 1 this is one of many ways into the head)\n");
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&composition_text(tables));
    if let Some(copying) = &tables.copying {
        let heads = copying.iter().map(Vec::len).max().unwrap_or(0);
        let row =
            |(layer, row): (usize, &Vec<f64>)| (format!("layer {layer}"), row.iter().copied().map(Some).collect());
        let rows: Vec<_> = (1..).zip(copying).map(row).collect();
        text.push_str("\nCopying (1: what is read is written, -1: it is avoided)\n");
        text.push_str(&grid_text("head", &super::counted_from_one(heads), &rows, 2));
    }
    text
}

/// Returns the pairs of heads that compose most, by queries, keys and values.
fn composition_text(tables: &Tables) -> String {
    let mut text = String::new();
    let _ = write!(text, "Composition of heads; unrelated ones have {:.3}", tables.chance);
    text.push_str(if tables.is_whole {
        "\n"
    } else {
        "; of pairs with these heads only, because the model has many\n"
    });
    for (part, name) in ["queries", "keys", "values"].into_iter().enumerate() {
        let value = |of: &Composition| [of.query, of.key, of.value][part];
        let mut all: Vec<&Composition> = tables.composition.iter().collect();
        all.sort_by(|a, b| value(b).total_cmp(&value(a)));
        let pair = |of: &&Composition| {
            let Composition { first, second, .. } = of;
            format!("{}.{} -> {}.{} {:.3}", first.0 + 1, first.1 + 1, second.0 + 1, second.1 + 1, value(of))
        };
        let listed: Vec<String> = all.iter().take(PAIRS).map(pair).collect();
        let _ = writeln!(text, "  {name:<8} {}", listed.join(", "));
    }
    text
}
