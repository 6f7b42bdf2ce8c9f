//! Safetensors as tests write them: anything that can be in such a file, right or wrong.

use serde_json::{Map, Value, json};

/// A file of tensors, as a test changes it.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// In the order of the bytes.
    pub tensors: Vec<WrittenTensor>,
}

#[derive(Clone, Debug)]
pub struct WrittenTensor {
    pub name: String,
    pub dtype: &'static str,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl WrittenTensor {
    pub fn f32(name: &str, shape: &[usize], numbers: &[f32]) -> Self {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { name: name.to_owned(), dtype: "F32", shape: shape.to_vec(), bytes }
    }
}

/// The bytes of a file with this header and these bytes behind it.
pub fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

impl Written {
    pub fn header(&self) -> Value {
        let mut begin = 0;
        let mut header = Map::new();
        header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
        for tensor in &self.tensors {
            let end = begin + tensor.bytes.len();
            let entry = json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [begin, end] });
            header.insert(tensor.name.clone(), entry);
            begin = end;
        }
        Value::Object(header)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let data: Vec<u8> = self.tensors.iter().flat_map(|tensor| tensor.bytes.iter().copied()).collect();
        file(&self.header().to_string(), &data)
    }
}
