//! Models in several files that are one file under many names, or have more than the index gives them.

use std::fs;

use attune_engine::pretrained::load;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::models::OVER_FILES_MAX;
use super::{Attack, Outcome, drawn, in_folder};

/// Tensors of one file, each without an entry.
#[derive(Clone, Debug)]
pub struct Shard {
    tensors: usize,
    /// Another name of the first file.
    is_link: bool,
}

#[derive(Clone, Debug)]
pub struct Shards(Vec<Shard>);

impl Attack for Shards {
    type Part = Shard;

    fn of(seed: u64) -> Self {
        let tensors = prop::sample::select(vec![0, 1, 100, 20_000]);
        let shard = (tensors, prop::bool::weighted(0.7)).prop_map(|(tensors, is_link)| Shard { tensors, is_link });
        Self(drawn(seed, prop::collection::vec(shard, 1..200)))
    }

    fn run(&self) -> Outcome {
        in_folder("shards", |folder| {
            let written =
                |result: std::io::Result<()>| result.map_err(|error| format!("it cannot be written: {error}"));
            written(fs::create_dir_all(folder))?;
            let mut places = Map::new();
            for (number, shard) in self.0.iter().enumerate() {
                let (name, first) = (format!("{number}.safetensors"), folder.join("0.safetensors"));
                if shard.is_link && number > 0 {
                    written(fs::hard_link(first, folder.join(&name)))?;
                } else {
                    let entry = json!({ "dtype": "F32", "shape": [0], "data_offsets": [0, 0] });
                    let tensors = (0..shard.tensors).map(|i| (format!("{number} {i}"), entry.clone()));
                    let header = Value::Object(tensors.collect()).to_string();
                    let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
                    written(fs::write(folder.join(&name), bytes))?;
                }
                places.insert(format!("{number} 0"), json!(name));
            }
            let index = json!({ "weight_map": places }).to_string();
            written(fs::write(folder.join("model.safetensors.index.json"), index))?;
            let config = include_str!("../../fixtures/pretrained/bert-wild/config.json");
            written(fs::write(folder.join("config.json"), config))?;
            match load(folder, &mut |_| true) {
                Ok(_) => Err("it opened, and has no weights".to_owned()),
                Err(stopped) if (20..6000).contains(&stopped.to_string().len()) => Ok("refused"),
                Err(stopped) => Err(format!("it says {stopped:?}")),
            }
        })
    }

    fn parts(&mut self) -> &mut Vec<Shard> {
        &mut self.0
    }

    fn told(&self) -> String {
        format!("{:?}", self.0)
    }

    /// One head at a time, as it is written and as it is read.
    fn bytes_max(&self) -> usize {
        OVER_FILES_MAX
    }
}
