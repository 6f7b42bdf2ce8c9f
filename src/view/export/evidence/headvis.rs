//! Heads over texts in the files that HeadVis reads: `config.json`, `scatter_data.json` and a file for each head,
//! `heads/L0H0.json`, with the shown texts and their largest weights. attune opens a head's file as a recording.

use std::collections::BTreeMap;
use std::path::Path;

use attune_core::kernel::evidence::Evidence;
use attune_core::kernel::evidence::texts::{HeadTexts, Texts};
use attune_core::whole_file::write_folder;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::evidence::corpus::{DISTANCE_EDGES, INTERVALS, RankedText};
use serde_json::{Map, Value, json};

use super::heads::{head_json, metrics};
use super::number;

/// The largest number of keys that are written for a query, and the least weight of a written key.
const KEYS_OF_A_ROW: usize = 8;
const LEAST_WEIGHT: f32 = 0.005;

/// Writes all files of a model that reads one sentence into a new folder, or none of them. Each shown text is run once
/// more for its weights.
///
/// # Errors
/// A message if a text cannot be run again, or a file cannot be written.
pub fn write_headvis(
    folder: &Path,
    (name, file): (&str, &str),
    texts: &Texts,
    evidence: &Evidence<'_>,
) -> Result<(), String> {
    let file_of = |path: String, value: Value| (path, value.to_string().into_bytes());
    let layers = texts.heads.iter().map(|head| head.layer + 1).max().unwrap_or(0);
    let heads = texts.heads.iter().map(|head| head.head + 1).max().unwrap_or(0);
    let config = json!({
        "model_name": name,
        "n_layers": layers,
        "n_heads": heads,
        "n_sequences": texts.texts,
        "n_tokens": texts.tokens,
        "n_intervals": INTERVALS,
        "qk_distance_edges": DISTANCE_EDGES,
    });
    let points = texts.heads.iter().map(|head| Value::Object(point(head))).collect();
    let mut files = vec![file_of("config.json".to_owned(), config), file_of("scatter_data.json".to_owned(), points)];
    let mut sequences = shown(texts, file, evidence)?;
    for (number, head) in texts.heads.iter().enumerate() {
        let mut object = head_json(head, evidence);
        object.insert("sequences".to_owned(), Value::Array(sequences.remove(&number).unwrap_or_default()));
        files.push(file_of(format!("heads/L{}H{}.json", head.layer, head.head), Value::Object(object)));
    }
    write_folder(folder, &files).map_err(|error| error.to_string())
}

/// Returns the measures and the place of a head, which HeadVis draws as a point.
fn point(head: &HeadTexts) -> Map<String, Value> {
    let mut point: Map<String, Value> = metrics(head).collect();
    point.insert("layer".to_owned(), json!(head.layer));
    point.insert("head".to_owned(), json!(head.head));
    point
}

/// Returns the sequences of each head, in the order in which the head ranks them.
fn shown(texts: &Texts, file: &str, evidence: &Evidence<'_>) -> Result<BTreeMap<usize, Vec<Value>>, String> {
    let mut wanted: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (number, head) in texts.heads.iter().enumerate() {
        for (place, text) in head.measures.texts.iter().enumerate() {
            wanted.entry(text.text).or_default().push((number, place));
        }
    }
    let mut found: BTreeMap<usize, Vec<(usize, Value)>> = BTreeMap::new();
    for (text, of_heads) in wanted {
        let ran = evidence.shown(file, texts, text)?;
        for (number, place) in of_heads {
            let ranked = &texts.heads[number].measures.texts[place];
            let value = sequence(ranked, &ran.tokens, &ran.weights[number]);
            found.entry(number).or_default().push((place, value));
        }
    }
    let in_order = |(number, mut values): (usize, Vec<(usize, Value)>)| {
        values.sort_by_key(|(place, _)| *place);
        (number, values.into_iter().map(|(_, value)| value).collect())
    };
    Ok(found.into_iter().map(in_order).collect())
}

fn sequence(of: &RankedText, tokens: &[String], weights: &Matrix<f32>) -> Value {
    /// The inverse of the rounding step: HeadVis has weights with four decimals.
    const PARTS: f64 = 1e4;
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for query in 0..weights.rows() {
        let row = weights.row(query);
        let mut keys: Vec<usize> = (0..row.len()).filter(|key| row[*key] >= LEAST_WEIGHT).collect();
        keys.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
        keys.truncate(KEYS_OF_A_ROW);
        keys.sort_unstable();
        indices.extend(keys.iter().map(|key| query * tokens.len() + key));
        values.extend(keys.iter().map(|key| (f64::from(row[*key]) * PARTS).round() / PARTS));
    }
    json!({
        "sequence_id": of.text,
        "interval": of.interval,
        "max_activation": number(of.largest),
        "tokens": tokens,
        "seq_len": tokens.len(),
        "attention_indices": indices,
        "attention_values": values,
    })
}
