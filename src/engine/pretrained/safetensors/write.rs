//! A file of tensors, written.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Dtype;
use super::header::METADATA;

/// The header ends where numbers may begin: the format wants a multiple of this.
const ALIGNMENT: usize = 8;

/// The bytes of a file with these tensors in the order of their names, each a shape and its numbers.
pub fn file<'a>(tensors: &BTreeMap<String, (&'a [usize], &'a [f32])>) -> Vec<u8> {
    // PyTorch is the origin that transformers looks for.
    let mut header = Map::from_iter([(METADATA.to_owned(), json!({ "format": "pt" }))]);
    let mut end = 0;
    for (name, (shape, numbers)) in tensors {
        let begin = end;
        end += size_of_val(*numbers);
        let tensor = json!({ "dtype": Dtype::F32.name(), "shape": shape, "data_offsets": [begin, end] });
        header.insert(name.clone(), tensor);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
    let mut bytes = Vec::with_capacity(size_of::<u64>() + header.len() + end);
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(header);
    bytes.extend(tensors.values().flat_map(|(_, numbers)| numbers.iter().flat_map(|number| number.to_le_bytes())));
    bytes
}
