//! The model that comes with the course: what its lessons say of it holds for sentences that training never saw.

#[path = "../../examples/depth/evaluation.rs"]
mod evaluation;
#[path = "../../examples/depth/grammar.rs"]
mod grammar;

use std::collections::{BTreeMap, BTreeSet};

use attune_engine::numerics::model::AttentionModel;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::write::UNKNOWN;
use attune_engine::pretrained::{Pretrained, load};
use evaluation::{Asked, sentences, table};
use grammar::{Cell, Kind};

use crate::common::top::at;

const MODEL: &str = "lessons/depth";

/// A model with its tokenizer.
struct Shipped {
    open: ModelFolder,
    read: Pretrained,
    model: AttentionModel<f32>,
}

impl Shipped {
    fn new() -> Self {
        let folder = at(MODEL);
        let open = ModelFolder::open(&folder).expect("a folder");
        let read = load(&folder, &mut |_| true).expect("a model");
        let model = read.model();
        Self { open, read, model }
    }

    fn asked(&self) -> Asked<'_> {
        let tokenizer = self.open.tokenizer.as_ref().expect("a tokenizer");
        Asked { model: &self.model, parameters: &self.read.parameters, tokenizer }
    }
}

/// Sentences of a cell, where they are counted cell by cell: with 20, one may be wrong.
const OF_A_CELL: usize = 20;

#[track_caller]
fn check_cells(cells: &BTreeMap<Cell, (f64, usize)>, rows: usize) {
    const LEAST: f64 = 0.95;
    let found = cells.keys().map(|cell| &cell.row).collect::<BTreeSet<_>>().len();
    assert_eq!(found, rows, "{}", table(cells));
    assert!(cells.values().all(|(share, count)| *share >= LEAST && *count > 0), "{}", table(cells));
}

#[test]
fn roles_alone_decide_whatever_the_classes_and_the_order_of_the_nouns() {
    let shipped = Shipped::new();
    for (kind, rows) in Kind::ALL.into_iter().zip([44, 10, 6, 6]) {
        check_cells(&shipped.asked().cells(kind, OF_A_CELL, *SEEDS.end()), rows);
    }
}

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const SENTENCES: usize = 60;

#[test]
fn what_needs_the_whole_sentence_comes_in_the_last_layers() {
    let shipped = Shipped::new();
    let asked = shipped.asked();
    for seed in SEEDS {
        for kind in [Kind::Referent, Kind::Agreement, Kind::Negation] {
            let shares = asked.accuracy(&sentences(kind, SENTENCES, seed));
            let (early, last) = (shares[2], *shares.last().expect("layers"));
            assert!(shares.len() == 7 && last > 0.98 && early < 0.7, "{kind:?}, seed {seed}: {shares:?}");
        }
    }
}

#[test]
fn senses_part_in_the_second_half_of_the_layers() {
    let shipped = Shipped::new();
    let asked = shipped.asked();
    for seed in SEEDS {
        let shares = asked.senses(&sentences(Kind::Sense, 8 * SENTENCES, seed));
        let (middle, last) = (shares[3], shares[6]);
        assert!(shares.len() == 7 && middle < 0.65 && last > 0.9, "seed {seed}: {shares:?}");
    }
}

#[test]
fn the_model_is_small_enough_to_travel() {
    const BYTES_MAX: u64 = 4_000_000;
    let entries = std::fs::read_dir(at(MODEL)).expect("a folder").map(|entry| entry.expect("an entry"));
    let bytes: u64 = entries.map(|entry| entry.metadata().expect("a file").len()).sum();
    assert!(bytes < BYTES_MAX, "{bytes} bytes");
}

#[test]
fn whatever_a_keyboard_writes_is_pieces() {
    let shipped = Shipped::new();
    let tokenizer = shipped.asked().tokenizer;
    let unknown = tokenizer.id_of(UNKNOWN).expect("a piece for the rest");
    let keys: String = (' '..='~').chain("éÜñ“”‘’–—…".chars()).collect();
    for text in [keys.as_str(), "It's 7 o'clock: \"who's there?\" - nobody; not a soul!"] {
        let pieces = tokenizer.encode(text).pieces;
        assert!(pieces.iter().all(|piece| piece.id != unknown), "{text}: {pieces:?}");
    }
}
