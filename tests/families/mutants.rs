//! Folders of today's families that were damaged: each opens and computes, or is refused in words. `PROPTEST_CASES` says how
//! many are tried.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use attune_engine::numerics::model::Sequences;
use attune_engine::pretrained::load;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::models::pass;
use crate::{CONFIGS, FIXTURES, text, with_config};

/// A change of a folder.
#[derive(Clone, Debug)]
enum Edit {
    /// Another value of one field of the config.
    Field {
        field: usize,
        value: Value,
    },
    /// The same of a field that stands within another, the first that has any.
    Within {
        inner: usize,
        value: Value,
    },
    Remove {
        field: usize,
    },
    /// A field of another family.
    Add {
        key: &'static str,
        value: Value,
    },
    /// Another byte in a file of weights.
    Byte {
        share: f64,
        byte: u8,
    },
    Cut {
        share: f64,
    },
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u64..80).prop_map(Value::from),
        select(vec![
            json!(null),
            json!(true),
            json!(false),
            json!(-1),
            json!(0.5),
            json!(1e-9),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("sliding_attention"),
            json!("gelu"),
            json!([]),
            json!({}),
            json!([1, "x"]),
            json!(["full_attention", "sliding_attention"]),
            json!({ "rope_type": "linear", "factor": 2 }),
            json!({ "rope_type": "yarn" }),
            json!({ "full_attention": {}, "sliding_attention": { "rope_theta": 7 } }),
            json!([[["global", "local"], 2]]),
        ]),
    ]
}

const KEYS: [&str; 16] = [
    "num_key_value_heads",
    "head_dim",
    "sliding_window",
    "layer_types",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "attention_bias",
    "mlp_bias",
    "tie_word_embeddings",
    "partial_rotary_factor",
    "query_pre_attn_scalar",
    "pad_token_id",
    "use_sliding_window",
    "local_attention",
    "num_experts",
];

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (0usize..40, values()).prop_map(|(field, value)| Edit::Field { field, value }),
        2 => (0usize..6, values()).prop_map(|(inner, value)| Edit::Within { inner, value }),
        2 => (0usize..40).prop_map(|field| Edit::Remove { field }),
        2 => (select(KEYS.to_vec()), values()).prop_map(|(key, value)| Edit::Add { key, value }),
        1 => (0.0..0.1, any::<u8>()).prop_map(|(share, byte)| Edit::Byte { share, byte }),
        1 => (0.0..1.0).prop_map(|share| Edit::Cut { share }),
    ]
}

impl Edit {
    fn of_config(&self, config: &mut Map<String, Value>) {
        let key = |field: usize| config.keys().nth(field % config.len().max(1)).cloned().unwrap_or_default();
        match self {
            Self::Field { field, value } => drop(config.insert(key(*field), value.clone())),
            Self::Remove { field } => drop(config.remove(&key(*field))),
            Self::Add { key, value } => drop(config.insert((*key).to_owned(), value.clone())),
            Self::Within { inner, value } => {
                let inside = config.values_mut().find_map(|value| value.as_object_mut().filter(|it| !it.is_empty()));
                if let Some(inside) = inside {
                    let key = inside.keys().nth(inner % inside.len()).cloned().unwrap_or_default();
                    inside.insert(key, value.clone());
                }
            }
            Self::Byte { .. } | Self::Cut { .. } => {}
        }
    }

    fn of_weights(&self, bytes: &mut Vec<u8>) {
        let at = |share: f64| (bytes.len() as f64 * share) as usize;
        match *self {
            Self::Byte { share, byte } => {
                let at = at(share);
                bytes.get_mut(at).into_iter().for_each(|to| *to = byte);
            }
            Self::Cut { share } => bytes.truncate(at(share)),
            _ => {}
        }
    }
}

/// What becomes of a folder: the refusal, or a pass's logits.
fn outcome(name: &str, config: &str, edits: &[Edit]) -> Result<(), String> {
    let mut fields: Map<String, Value> = serde_json::from_str(&text(name, config)).expect("JSON");
    edits.iter().for_each(|edit| edit.of_config(&mut fields));
    let folder = with_config(name, &Value::Object(fields).to_string());
    let weights = folder.join("model.safetensors");
    if let Ok(mut bytes) = fs::read(&weights) {
        edits.iter().for_each(|edit| edit.of_weights(&mut bytes));
        fs::write(&weights, bytes).expect("written");
    }
    let model = load(&folder.0, &mut |_| true).map_err(|stopped| stopped.to_string())?;
    let tokens = model.config.positions().min(3);
    let run = pass(&model, &Sequences::one(&vec![0; tokens]));
    assert_eq!(model.model().logits_of(&model.parameters, &run.output).cols(), model.config.vocabulary);
    Ok(())
}

proptest! {
    #[test]
    fn damaged_folders_open_or_are_refused_in_words(
        name in select(FIXTURES.to_vec()),
        config in select(CONFIGS.to_vec()),
        edits in vec(edits(), 1..4),
    ) {
        match catch_unwind(AssertUnwindSafe(|| outcome(name, config, &edits))) {
            Ok(Ok(())) => {}
            Ok(Err(said)) => prop_assert!(said.contains("expected") && said.len() < 8000, "{said}"),
            Err(_) => prop_assert!(false, "{name}, {config}: a panic"),
        }
    }
}
