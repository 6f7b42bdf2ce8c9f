//! Model folders that were damaged, or made to do harm.

use std::fs;
use std::path::Path;

use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::pretrained::load;
use serde_json::{Map, Value, json};

use super::{Attack, Dice, HOSTILE, Outcome, in_folder};

/// Memory over the size of the files.
pub const OVER_FILES_MAX: usize = 64 << 20;

/// `config.json` and `model.safetensors`.
const FIXTURES: [(&str, &[u8]); 2] = [
    (
        include_str!("../../fixtures/pretrained/bert-wild/config.json"),
        include_bytes!("../../fixtures/pretrained/bert-wild/model.safetensors"),
    ),
    (
        include_str!("../../fixtures/pretrained/gpt2-wild/config.json"),
        include_bytes!("../../fixtures/pretrained/gpt2-wild/model.safetensors"),
    ),
];

/// The bytes that say how long a header is.
const LENGTH_BYTES: usize = 8;

/// A change of a model's files.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Another value of one field of the config, or one field more.
    Config {
        field: usize,
        value: Value,
    },
    /// Another value in the header's entry of one tensor.
    Entry {
        tensor: usize,
        field: &'static str,
        value: Value,
    },
    Rename {
        tensor: usize,
        name: String,
    },
    Remove {
        tensor: usize,
    },
    /// A text within the header's.
    Insert {
        share: f64,
        text: String,
    },
    /// The header's length is another.
    Length(u64),
    /// Another number in four bytes behind the header.
    Number {
        share: f64,
        number: f32,
    },
    Flip {
        share: f64,
        bit: u8,
    },
    Cut {
        share: f64,
    },
    Grow {
        bytes: usize,
    },
    /// An index gives all tensors to this file.
    Index {
        file: String,
    },
}

/// A model's folder with some changes.
#[derive(Clone, Debug)]
pub struct MutatedModel {
    fixture: usize,
    edits: Vec<Edit>,
}

impl Attack for MutatedModel {
    type Part = Edit;

    fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let edits = (0..1 + dice.below(3)).map(|_| edit(&mut dice)).collect();
        Self { fixture: dice.below(FIXTURES.len()), edits }
    }

    fn run(&self) -> Outcome {
        in_folder("model", |folder| self.run_in(folder))
    }

    fn parts(&mut self) -> &mut Vec<Edit> {
        &mut self.edits
    }

    fn told(&self) -> String {
        let edits: Vec<String> = self.edits.iter().map(|edit| format!("  {edit:.2000?}\n")).collect();
        format!("fixture {}\n{}", self.fixture, edits.concat())
    }

    /// The files lie in memory here until they are written.
    fn bytes_max(&self) -> usize {
        let (config, weights) = FIXTURES[self.fixture];
        let grown: usize = self.edits.iter().map(|edit| if let Edit::Grow { bytes } = edit { *bytes } else { 0 }).sum();
        OVER_FILES_MAX + config.len() + weights.len() + grown
    }
}

impl MutatedModel {
    fn run_in(&self, folder: &Path) -> Outcome {
        let (config, weights) = FIXTURES[self.fixture];
        let written = |result: std::io::Result<()>| result.map_err(|error| format!("it cannot be written: {error}"));
        written(fs::create_dir_all(folder))?;
        let mut name = "model.safetensors".to_owned();
        let weights = self.weights(weights);
        if let Some(file) =
            self.edits.iter().find_map(|edit| if let Edit::Index { file } = edit { Some(file) } else { None })
        {
            let names = tensors(FIXTURES[self.fixture].1);
            let places: Map<String, Value> = names.into_iter().map(|name| (name, json!(file))).collect();
            written(fs::write(
                folder.join("model.safetensors.index.json"),
                json!({ "weight_map": places }).to_string(),
            ))?;
            name = "model-1.safetensors".to_owned();
        }
        written(fs::write(folder.join(name), weights))?;
        written(fs::write(folder.join("config.json"), self.config(config)))?;

        match load(folder, &mut |_| true) {
            Ok(model) => {
                let engine = model.model();
                let sentence = Sequences::one(&[0]);
                let run = Activations::of(&engine, &model.parameters, &sentence, None, &Interventions::default());
                let logits = engine.logits_of(&model.parameters, &run.output);
                if logits.cols() == model.config.vocabulary {
                    Ok("opened")
                } else {
                    Err("it has other logits".to_owned())
                }
            }
            Err(stopped) => {
                let said = stopped.to_string();
                let is_readable = (20..6000).contains(&said.len()) && !said.chars().any(char::is_control);
                if is_readable { Ok("refused") } else { Err(format!("it says {said:?}")) }
            }
        }
    }

    fn config(&self, text: &str) -> String {
        let mut fields: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        for edit in &self.edits {
            if let Edit::Config { field, value } = edit {
                let at = field % (fields.len() + 1);
                let name = fields.keys().nth(at).cloned().unwrap_or_else(|| "position_embedding_type".to_owned());
                fields.insert(name, value.clone());
            }
        }
        Value::Object(fields).to_string()
    }

    fn weights(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut header, data) = header(bytes);
        for edit in &self.edits {
            let (Edit::Entry { tensor, .. } | Edit::Rename { tensor, .. } | Edit::Remove { tensor }) = edit else {
                continue;
            };
            let Some(name) = header.keys().nth(tensor % header.len().max(1)).cloned() else { continue };
            match edit {
                Edit::Entry { field, value, .. } => header[&name][*field] = value.clone(),
                Edit::Rename { name: new, .. } => {
                    let entry = header.remove(&name).unwrap_or_default();
                    header.insert(new.clone(), entry);
                }
                _ => drop(header.remove(&name)),
            }
        }
        let mut text = Value::Object(header).to_string();
        let mut data = data.to_vec();
        let at = |share: &f64, length: usize| ((length as f64 * share) as usize).min(length.saturating_sub(4));
        let mut length = None;
        for edit in &self.edits {
            match edit {
                Edit::Insert { share, text: more } => {
                    let mut place = at(share, text.len());
                    while !text.is_char_boundary(place) {
                        place -= 1;
                    }
                    text.insert_str(place, more);
                }
                Edit::Length(other) => length = Some(*other),
                Edit::Number { share, number } => {
                    let place = at(share, data.len()) / 4 * 4;
                    data[place..place + 4].copy_from_slice(&number.to_le_bytes());
                }
                _ => {}
            }
        }
        let length = length.unwrap_or(text.len() as u64);
        let mut file = [&length.to_le_bytes(), text.as_bytes(), &data].concat();
        for edit in &self.edits {
            match edit {
                Edit::Flip { share, bit } => {
                    let place = at(share, file.len());
                    if let Some(byte) = file.get_mut(place) {
                        *byte ^= 1 << bit;
                    }
                }
                Edit::Cut { share } => file.truncate(at(share, file.len())),
                Edit::Grow { bytes } => file.resize(file.len() + bytes, 0),
                _ => {}
            }
        }
        file
    }
}

/// The header of a file that is right, and the bytes behind it.
fn header(bytes: &[u8]) -> (Map<String, Value>, &[u8]) {
    let (length, rest) = bytes.split_at(LENGTH_BYTES);
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
    (serde_json::from_slice(&rest[..length]).unwrap_or_default(), &rest[length..])
}

fn tensors(bytes: &[u8]) -> Vec<String> {
    header(bytes).0.into_iter().map(|(name, _)| name).filter(|name| name != "__metadata__").collect()
}

fn edit(dice: &mut Dice) -> Edit {
    let share = dice.number().abs().min(1.0);
    let tensor = dice.below(100);
    match dice.below(20) {
        0..4 => Edit::Config { field: dice.below(40), value: value(dice) },
        4..6 => Edit::Entry { tensor, field: "shape", value: shape(dice) },
        6 | 7 => Edit::Entry { tensor, field: "data_offsets", value: json!([size(dice), size(dice)]) },
        8 => {
            let dtypes = ["F16", "BF16", "F64", "I64", "F4", "F6_E2M3", "f32", "", "C64"];
            Edit::Entry { tensor, field: "dtype", value: json!(dice.pick(&dtypes)) }
        }
        9 => Edit::Rename { tensor, name: dice.pick(HOSTILE).repeat(*dice.pick(&[1, 30, 3000])) },
        10 => Edit::Remove { tensor },
        11 | 12 => {
            let count = *dice.pick(&[1, 40, 100_000]);
            let texts = ["[", "{\"a\":", "\"", "\\u0000", "\\", "9", ",", " ", "{}", "null", "\u{1f47e}"];
            Edit::Insert { share, text: dice.pick(&texts).repeat(count) }
        }
        13 => Edit::Length(size(dice)),
        14 => Edit::Number { share, number: *dice.pick(&[f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 0.0, 1e-40]) },
        15 | 16 => Edit::Flip { share: share * *dice.pick(&[1.0, 0.05, 1e-4]), bit: dice.below(8) as u8 },
        17 => Edit::Cut { share },
        18 => Edit::Grow { bytes: *dice.pick(&[1, 8, 1_000_000]) },
        _ => {
            let files =
                ["model-1.safetensors", "../model-1.safetensors", "/etc/passwd", "config.json", "missing.safetensors"];
            Edit::Index { file: (*dice.pick(&files)).to_owned() }
        }
    }
}

/// A size at which something ends, or any.
fn size(dice: &mut Dice) -> u64 {
    const EDGES: [u64; 9] = [0, 1, 7, 96, 1 << 20, 100_000_000, 1 << 32, u64::MAX - 7, u64::MAX];
    if dice.once_in(2) { *dice.pick(&EDGES) } else { dice.below(200_000) as u64 }
}

fn shape(dice: &mut Dice) -> Value {
    let rank = *dice.pick(&[0, 1, 2, 2, 3, 9, 5000]);
    (0..rank).map(|_| json!(size(dice))).collect()
}

fn value(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(dice.number()),
        3 => json!([size(dice)]),
        4 => json!(dice.pick(HOSTILE).repeat(*dice.pick(&[1, 3000]))),
        5 => json!(dice.pick(&["gelu", "relu", "gelu_pytorch_tanh", "bert", "gpt2", "distilbert"])),
        6 => json!(dice.below(64)),
        _ => json!(size(dice)),
    }
}
