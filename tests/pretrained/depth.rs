//! The model that comes with the course: what its lesson says of it holds for sentences that training never saw.

#[path = "../../examples/depth/evaluation.rs"]
mod evaluation;
#[path = "../../examples/depth/grammar.rs"]
mod grammar;

use std::path::PathBuf;

use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::{Pretrained, load};
use evaluation::{Asked, sentences};
use grammar::Kind;

use crate::common::top::at;

fn folder() -> PathBuf {
    at("lessons/depth")
}

fn read() -> (ModelFolder, Pretrained) {
    let open = ModelFolder::open(&folder()).expect("a folder");
    (open, load(&folder(), &mut |_| true).expect("a model"))
}

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const SENTENCES: usize = 60;

#[test]
fn what_needs_the_whole_sentence_comes_in_the_last_layers() {
    let (open, read) = read();
    let asked = Asked {
        model: &read.model(),
        parameters: &read.parameters,
        tokenizer: open.tokenizer.as_ref().expect("a tokenizer"),
    };
    for seed in SEEDS {
        for kind in [Kind::Referent, Kind::Agreement, Kind::Negation] {
            let shares = asked.accuracy(&sentences(kind, SENTENCES, seed));
            let (early, last) = (shares[2], *shares.last().expect("layers"));
            assert!(shares.len() == 7 && last > 0.95 && early < 0.75, "{kind:?}, seed {seed}: {shares:?}");
        }
    }
}

#[test]
fn senses_part_in_the_second_half_of_the_layers() {
    let (open, read) = read();
    let asked = Asked {
        model: &read.model(),
        parameters: &read.parameters,
        tokenizer: open.tokenizer.as_ref().expect("a tokenizer"),
    };
    for seed in SEEDS {
        let shares = asked.senses(&sentences(Kind::Sense, 8 * SENTENCES, seed));
        let (middle, last) = (shares[3], shares[6]);
        assert!(shares.len() == 7 && middle < 0.8 && last > 0.9, "seed {seed}: {shares:?}");
    }
}

#[test]
fn the_model_is_small_enough_to_travel() {
    const BYTES_MAX: u64 = 4_000_000;
    let entries = std::fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("an entry"));
    let bytes: u64 = entries.map(|entry| entry.metadata().expect("a file").len()).sum();
    assert!(bytes < BYTES_MAX, "{bytes} bytes");
}
