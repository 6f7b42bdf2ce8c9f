//! Recordings that were damaged, or made to do harm: entries of the metadata that say something else, tensors of other
//! names, kinds and shapes, numbers that no weight can be, and files that are changed anywhere or end early.

use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::io;

use attune_engine::recording::Recording;
use attune_view::export::recording::trace::{self, NoTrace};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::models::refused;
use super::vectors::{Edit, edits};
use super::{Attack, Outcome, at_least_a_fifth, attack, lines, shares};
use crate::common::folder::Folder;
use crate::common::top::at;

/// Memory for any of these small files.
const BYTES_MAX: usize = 64 << 20;
/// Characters of a message.
const CHARS_MAX: usize = 1000;

const FIXTURES: [&str; 8] = ["attention-only", "bert", "llama-gqa", "senses", "sinks", "t5", "vit", "with-proof"];

/// A change of a recording; a share picks the tensor that is changed.
#[derive(Clone, Debug)]
enum Change {
    /// Another value of an entry of the metadata, or one more entry.
    Entry(&'static str, String),
    NoEntry(&'static str),
    Rename(f64, &'static str),
    Kind(f64, &'static str),
    /// Another size of an axis; the bytes stay.
    Size(f64, usize, u64),
    /// Other bytes in place of some numbers.
    Numbers(f64, &'static [u8]),
    Raw(Edit),
}

/// A recording with some changes.
struct MutatedRecording {
    fixture: &'static str,
    changes: Vec<Change>,
}

#[test]
fn mutated_recordings_are_read_or_refused_in_words() {
    let outcomes = attack::<MutatedRecording>(1000, &["read", "wrong", "refused"]);
    at_least_a_fifth(outcomes["read"] + outcomes["wrong"], &outcomes);
}

impl Attack for MutatedRecording {
    fn cases() -> impl Strategy<Value = Self> {
        (select(&FIXTURES[..]), vec(changes(), 1..4)).prop_map(|(fixture, changes)| Self { fixture, changes })
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        let file = folder.join("run.safetensors");
        fs::write(&file, self.bytes().map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        let recording = match Recording::open(&file) {
            Ok(recording) => recording,
            Err(faults) if faults.is_empty() => return Err("it is refused without a word".to_owned()),
            Err(faults) => {
                faults.iter().try_for_each(|fault| refused(&fault.to_string(), CHARS_MAX).map(|_| ()))?;
                return Ok("refused");
            }
        };
        let mut outcome = "read";
        for text in &recording.texts {
            for attention in &text.attentions {
                let faults = recording.check(text, attention).map_or_else(|fault| vec![fault], |found| found.faults);
                for fault in faults {
                    refused(&fault.to_string(), CHARS_MAX)?;
                    outcome = "wrong";
                }
            }
            match trace::write(&recording, text, "run", io::sink()) {
                Err(NoTrace::Refused(fault)) => _ = refused(&fault.to_string(), CHARS_MAX)?,
                Err(NoTrace::Unwritten(error)) => return Err(error.to_string()),
                Ok(()) => {}
            }
        }
        Ok(outcome)
    }

    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }
}

impl Debug for MutatedRecording {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.fixture, lines(&self.changes))
    }
}

impl MutatedRecording {
    fn bytes(&self) -> io::Result<Vec<u8>> {
        let whole = fs::read(at(format!("tests/fixtures/recordings/{}/run.safetensors", self.fixture)))?;
        let (length, rest) = whole.split_at(8);
        let length = u64::from_le_bytes(length.try_into().map_err(io::Error::other)?);
        let (header, numbers) = rest.split_at(usize::try_from(length).map_err(io::Error::other)?);
        let mut header: Map<String, Value> = serde_json::from_slice(header)?;
        let mut numbers = numbers.to_vec();
        self.changes.iter().for_each(|change| change.apply(&mut header, &mut numbers));
        let text = Value::Object(header).to_string();
        let mut bytes = [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &numbers].concat();
        for change in &self.changes {
            if let Change::Raw(edit) = change {
                edit.apply(&mut bytes);
            }
        }
        Ok(bytes)
    }
}

const METADATA: &str = "__metadata__";

impl Change {
    fn apply(&self, header: &mut Map<String, Value>, numbers: &mut [u8]) {
        let names: Vec<String> = header.keys().filter(|name| *name != METADATA).cloned().collect();
        let picked = |share: f64| names[((names.len() as f64 * share) as usize).min(names.len() - 1)].clone();
        match self {
            Self::Entry(key, value) => header[METADATA][*key] = json!(value),
            Self::NoEntry(key) => _ = header[METADATA].as_object_mut().and_then(|entries| entries.remove(*key)),
            Self::Rename(share, name) => {
                let tensor = header.remove(&picked(*share)).unwrap_or_default();
                header.insert((*name).to_owned(), tensor);
            }
            Self::Kind(share, kind) => header[&picked(*share)]["dtype"] = json!(kind),
            Self::Size(share, axis, size) => {
                if let Some(shape) = header[&picked(*share)]["shape"].as_array_mut() {
                    let axis = *axis % shape.len().max(1);
                    shape.get_mut(axis).into_iter().for_each(|old| *old = json!(size));
                }
            }
            Self::Numbers(share, bytes) => {
                let from = (numbers.len() as f64 * share) as usize / 4 * 4;
                numbers.iter_mut().skip(from).zip(*bytes).for_each(|(byte, new)| *byte = *new);
            }
            Self::Raw(_) => {}
        }
    }
}

fn changes() -> impl Strategy<Value = Change> {
    const KEYS: &[&str] = &[
        "attune",
        "tokens",
        "source_tokens",
        "special",
        "source_special",
        "words",
        "grid",
        "classes",
        "computed",
        "rows",
        "final_norm",
        "0/tokens",
        "1/special",
        "model",
        "text",
    ];
    const VALUES: &[&str] = &[
        "",
        "[]",
        "[1]",
        "[[]]",
        "[\"a\"]",
        "[null]",
        "{}",
        "null",
        "recording 1",
        "recording 2",
        "14x14",
        "0x0",
        "5x5",
        "99999999999999999999x2",
        "BF16",
        "F16",
        "F64",
        "partial",
        "applied",
        "[0]",
        "[99]",
        "[-1]",
        "[1e9]",
        "\u{202e}",
        "[\"\u{0}\u{1b}[31m\"]",
    ];
    const NAMES: &[&str] = &[
        "attentions.0",
        "attentions.511",
        "attentions.512",
        "attentions.00",
        "0/attentions.0",
        "3/attentions.0",
        "20/attentions.0",
        "keys.0",
        "values.1",
        "mask",
        "mask.0",
        "logits",
        "picture",
        "score_cap.0",
        "score_bias.0",
        "cross_attentions.0",
        "hidden_states.7",
        "sinks.0",
        "attentions.",
        "attentions.x",
        "",
    ];
    const KINDS: &[&str] = &["F32", "F16", "BF16", "F64", "I64", "U8", "BOOL", "F8_E4M3", "x"];
    const SIZES: &[u64] = &[0, 1, 2, 3, 7, 12, 4096, 65_537, 1 << 40, u64::MAX];
    const NUMBERS: &[&[u8]] = &[
        b"\0\0\xc0\x7f",
        b"\0\0\x80\x7f",
        b"\0\0\x80\xff",
        b"\0\0\0\x80",
        b"\x01\0\0\0",
        b"\xff\xff\x7f\x7f\xff\xff\x7f\x7f",
        b"\0\0\0\xbf",
    ];
    let many = (1..5000_usize).prop_map(|count| format!("[{}]", vec!["\"a\""; count].join(",")));
    let value = prop_oneof![8 => select(VALUES).prop_map(str::to_owned), 1 => many];
    prop_oneof![
        4 => (select(KEYS), value).prop_map(|(key, value)| Change::Entry(key, value)),
        1 => select(KEYS).prop_map(Change::NoEntry),
        2 => (shares(), select(NAMES)).prop_map(|(share, name)| Change::Rename(share, name)),
        1 => (shares(), select(KINDS)).prop_map(|(share, kind)| Change::Kind(share, kind)),
        2 => (shares(), 0..3_usize, select(SIZES)).prop_map(|(share, axis, size)| Change::Size(share, axis, size)),
        6 => (shares(), select(NUMBERS)).prop_map(|(share, bytes)| Change::Numbers(share, bytes)),
        2 => edits().prop_map(Change::Raw),
    ]
}
