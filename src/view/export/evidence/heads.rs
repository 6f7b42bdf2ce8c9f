//! Heads over texts, and tables of heads, as text and JSON.

use std::fmt::Write as _;

use attune_core::kernel::evidence::Evidence;
use attune_core::kernel::evidence::tables::{Row, Tables};
use attune_core::kernel::evidence::texts::{HeadTexts, Texts};
use attune_engine::messages::{counted, cut};
use attune_engine::numerics::evidence::corpus::{DISTANCE_EDGES, HeadOverTexts, INTERVALS, ListedWord, RankedText};
use attune_engine::numerics::evidence::tables::Composition;
use serde_json::{Map, Value, json};

use super::{grid_text, number, number_or_null, numbers};

/// Words and pairs of heads that are listed in a text.
const LISTED: usize = 5;
const PAIRS: usize = 4;

/// Returns all heads over texts as a JSON object.
pub fn texts_json(texts: &Texts, evidence: &Evidence<'_>) -> Value {
    json!({
        "n_sequences": texts.texts,
        "n_tokens": texts.tokens,
        "n_cut": texts.cut,
        "n_unread": texts.unread,
        "n_left_out": texts.left_out,
        "n_intervals": INTERVALS,
        "qk_distance_edges": DISTANCE_EDGES,
        "heads": texts.heads.iter().map(|head| Value::Object(head_json(head, evidence))).collect::<Value>(),
    })
}

/// Returns the six measures of a head by their names.
pub(super) fn metrics(of: &HeadOverTexts) -> [(&'static str, Option<f64>); 6] {
    [
        ("self_attention_score", Some(of.own)),
        ("prev_token_score", Some(of.previous)),
        ("pattern_entropy", Some(of.entropy)),
        ("qk_distance", Some(of.distance)),
        ("qk_distance_variance", Some(of.distance_variance)),
        ("induction_score", of.induction),
    ]
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
    let distributions: Map<String, Value> =
        of.distributions.iter().map(|(name, values)| ((*name).to_owned(), numbers(values))).collect();
    let mut object = Map::new();
    object.insert("layer".to_owned(), json!(head.layer));
    object.insert("head".to_owned(), json!(head.head));
    object.extend(metrics(of).map(|(name, value)| (name.to_owned(), number_or_null(value))));
    let rest = [
        ("mean_max_activation", number(of.mean_largest)),
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

/// Returns what was read and what was not, as sentences.
pub(super) fn counts(texts: &Texts) -> String {
    let mut text = format!("{} of {}", counted(texts.texts, "text"), counted(texts.tokens, "token"));
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    };
    add(texts.cut, "cut, because the model reads no longer ones");
    add(texts.short, "left out, of one token");
    add(texts.unread, "left out, which the model cannot read");
    add(texts.left_out, "left out, for which there was no more memory");
    if let Some(why) = &texts.why_unread {
        let _ = write!(text, " ({why})");
    }
    text
}

/// Returns all heads over texts as a table.
pub fn texts_text(texts: &Texts, evidence: &Evidence<'_>) -> String {
    const WORDS_CHARS: usize = 24;
    let mut text = counts(texts);
    let _ = write!(
        text,
        "\n\n{:<6}{:>8}{:>9}{:>9}{:>10}{:>10}{:>11}{:>9}  keys with most weight\n",
        "head", "self", "previous", "entropy", "distance", "variance", "induction", "largest"
    );
    for HeadTexts { layer, head, measures: of } in &texts.heads {
        let induction = of.induction.map_or("-".to_owned(), |score| format!("{score:.3}"));
        let words: Vec<String> = of.key_words.iter().take(LISTED).map(|word| evidence.word(word.word)).collect();
        let _ = writeln!(
            text,
            "{:<6}{:>8.3}{:>9.3}{:>9.3}{:>10.3}{:>10.3}{induction:>11}{:>9.3}  {}",
            format!("{}.{}", layer + 1, head + 1),
            of.own,
            of.previous,
            of.entropy,
            of.distance,
            of.distance_variance,
            of.mean_largest,
            cut(&words.join(" "), WORDS_CHARS),
        );
    }
    text
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
        if of.layer > 0 && !of.looks_at.is_empty() {
            text.push_str("  (of static words; above layer 1 this is one of many ways into the head)\n");
        }
    }
    let _ = write!(text, "\nComposition of heads; unrelated ones have {:.3}", tables.chance);
    text.push_str(if tables.is_whole {
        "\n"
    } else {
        "; of pairs with these heads only, because the model has many\n"
    });
    let parts: [(&str, fn(&Composition) -> f64); 3] =
        [("queries", |of| of.query), ("keys", |of| of.key), ("values", |of| of.value)];
    for (name, value) in parts {
        let mut all: Vec<&Composition> = tables.composition.iter().collect();
        all.sort_by(|a, b| value(b).total_cmp(&value(a)));
        let pair = |of: &&Composition| {
            let Composition { first, second, .. } = of;
            format!("{}.{} -> {}.{} {:.3}", first.0 + 1, first.1 + 1, second.0 + 1, second.1 + 1, value(of))
        };
        let listed: Vec<String> = all.iter().take(PAIRS).map(pair).collect();
        let _ = writeln!(text, "  {name:<8} {}", listed.join(", "));
    }
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
