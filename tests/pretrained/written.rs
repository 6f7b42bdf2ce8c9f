//! Safetensors as tests write them: anything that can be in such a file, right or wrong.

use std::fs;

use attune_engine::pretrained::{Pretrained, load};
use serde_json::{Map, Value, json};

use crate::common::folder::Folder;
pub use crate::common::models::fixture;

/// A model of tests/fixtures/pretrained, to be changed and written elsewhere.
#[derive(Clone, Debug)]
pub struct Model {
    pub config: Map<String, Value>,
    pub weights: Written,
}

impl Model {
    pub fn of(name: &str) -> Self {
        let read = |file: &str| fs::read(fixture(name).join(file)).expect("a file of the fixture");
        let config = serde_json::from_slice(&read("config.json")).expect("JSON");
        Self { config, weights: Written::read(&read("model.safetensors")) }
    }

    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.config.insert(field.to_owned(), value.into());
    }

    pub fn put(&self, folder: &Folder) {
        fs::write(folder.join("config.json"), json!(self.config).to_string()).expect("written");
        fs::write(folder.join("model.safetensors"), self.weights.bytes()).expect("written");
    }

    /// The model as it is read from a folder of its own.
    pub fn load(&self) -> Result<Pretrained, String> {
        let folder = Folder::new("model");
        self.put(&folder);
        load(&folder.0, &mut |_| true).map_err(|stopped| stopped.to_string())
    }

    #[track_caller]
    pub fn loaded(&self) -> Pretrained {
        self.load().unwrap_or_else(|said| panic!("{said}"))
    }
}

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

    /// The numbers of an F32 tensor.
    pub fn numbers(&self) -> Vec<f32> {
        self.bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }
}

/// The bytes of a file with this header and these bytes behind it.
pub fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

impl Written {
    /// The tensors of a file that is right.
    pub fn read(bytes: &[u8]) -> Self {
        let (length, rest) = bytes.split_at(8);
        let (header, data) = rest.split_at(u64::from_le_bytes(length.try_into().expect("8 bytes")) as usize);
        let header: Map<String, Value> = serde_json::from_slice(header).expect("JSON");
        let place = |value: &Value, i: usize| value["data_offsets"][i].as_u64().expect("an offset") as usize;
        let mut tensors: Vec<(usize, WrittenTensor)> = Vec::new();
        for (name, entry) in header.iter().filter(|(name, _)| *name != "__metadata__") {
            assert_eq!(entry["dtype"], "F32", "{name}");
            let shape = entry["shape"].as_array().expect("a list").iter().map(|n| n.as_u64().expect("a size") as usize);
            let bytes = data[place(entry, 0)..place(entry, 1)].to_vec();
            tensors.push((
                place(entry, 0),
                WrittenTensor { name: name.clone(), dtype: "F32", shape: shape.collect(), bytes },
            ));
        }
        tensors.sort_by_key(|(begin, _)| *begin);
        Self { tensors: tensors.into_iter().map(|(_, tensor)| tensor).collect() }
    }

    pub fn tensor(&self, name: &str) -> &WrittenTensor {
        self.tensors.iter().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub fn tensor_mut(&mut self, name: &str) -> &mut WrittenTensor {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// Every tensor under another name.
    pub fn rename(&mut self, new: impl Fn(&str) -> String) {
        self.tensors.iter_mut().for_each(|tensor| tensor.name = new(&tensor.name));
    }

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
