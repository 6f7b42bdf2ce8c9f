//! The split of a score as text and JSON.

use std::fmt::Write as _;

use attune_core::kernel::evidence::score::Score;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::evidence::score::{Source, SourceValue, SplitScore};
use serde_json::{Value, json};

use super::{number, number_or_null, numbers, token_name};
use crate::view_model::score::{LISTED, largest, source_name};

fn source(source: Source) -> Vec<Value> {
    match source {
        Source::Word => vec![json!("word")],
        Source::Position => vec![json!("position")],
        Source::Head { block, head } => vec![json!("head"), json!(block), json!(head)],
        Source::FeedForward { block } => vec![json!("feed_forward"), json!(block)],
        Source::Bias => vec![json!("bias")],
    }
}

/// Returns the split of a score as a JSON object.
pub fn score_json(score: &Score) -> Value {
    let SplitScore { score: whole, weight, added, cap, sources, key_sources, pairs, relative, .. } = &score.split;
    let labels = |sources: &[Source]| sources.iter().map(|of| Value::Array(source(*of))).collect::<Value>();
    let rows = |table: &Matrix<f64>| (0..table.rows()).map(|row| numbers(table.row(row))).collect::<Value>();
    let values = |values: &[SourceValue]| {
        let of = |value: &SourceValue| {
            let label = source(value.source).into_iter().chain(value.word.map(|word| json!(word)));
            json!([label.collect::<Vec<_>>(), number(value.value)])
        };
        values.iter().map(of).collect::<Value>()
    };
    json!({
        "tokens": score.tokens,
        "score": number(*whole),
        "weight": number(*weight),
        "added": number_or_null(*added),
        "cap": number_or_null(*cap),
        "sources": labels(sources),
        "key_sources": labels(key_sources),
        "pairs": rows(pairs),
        "relative": rows(relative),
        "query_words": values(&score.split.query_words),
        "key_words": values(&score.split.key_words),
    })
}

/// Returns the split of a score as text: its largest pairs, first relative to the mean over all keys that the query
/// sees, then as they add up to the score; and the parts of the query and of the key.
pub fn score_text(score: &Score) -> String {
    let Score { tokens, at, split } = score;
    let (query, key) = (token_name(tokens, at.query), token_name(tokens, at.key));
    let mut text = format!(
        "head {}.{}: {query} looks at {key}\nscore {:.4}, weight {:.4}",
        at.block + 1,
        at.head + 1,
        split.score,
        split.weight
    );
    if let Some(cap) = split.cap {
        let _ = write!(text, ", behind the bound of {cap}: {:.4}", cap * (split.score / cap).tanh());
    }
    if let Some(added) = split.added {
        let _ = write!(text, ", and {added:.4} for the distance");
    }
    text.push('\n');
    let title = "Pairs, query x key, above their mean over all keys that the query sees";
    text.push_str(&pairs_text(title, split, &split.relative));
    text.push_str(&pairs_text("Pairs, which add up to the score", split, &split.pairs));
    for (title, values) in [("query", &split.query_words), ("key", &split.key_words)] {
        let _ = writeln!(text, "\nParts of the {title}, over all parts of the other side");
        for SourceValue { source, word, value } in values.iter().take(LISTED) {
            let from = word.map_or(String::new(), |word| format!(" from {}", token_name(tokens, word)));
            let _ = writeln!(text, "{value:>10.4}  {}{from}", source_name(*source));
        }
    }
    text
}

/// Returns the largest pairs of a table as text, with the sum of the others and the sum of all.
fn pairs_text(title: &str, split: &SplitScore, table: &Matrix<f64>) -> String {
    let mut text = format!("\n{title}\n");
    let all = largest(table);
    let (listed, others) = all.split_at(all.len().min(LISTED));
    for &(a, c) in listed {
        let (of_query, of_key) = (source_name(split.sources[a]), source_name(split.key_sources[c]));
        let _ = writeln!(text, "{:>10.4}  {of_query:<18} x  {of_key}", table.get(a, c));
    }
    if !others.is_empty() {
        let rest: f64 = others.iter().map(|&(a, c)| table.get(a, c)).sum();
        let _ = writeln!(text, "{rest:>10.4}  all {} other pairs", others.len());
    }
    let _ = writeln!(text, "{:>10.4}  together", table.flat().iter().sum::<f64>());
    text
}
