//! The models that come with the course: what their lessons say of them holds for sentences that training never saw.

#[path = "../../examples/depth/evaluation.rs"]
mod evaluation;
#[path = "../../examples/depth/grammar.rs"]
mod grammar;
#[path = "../../examples/depth/insertions.rs"]
mod insertions;
#[path = "../../examples/depth/stories.rs"]
mod stories;
#[path = "../../examples/depth/writing.rs"]
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use attune_engine::numerics::model::AttentionModel;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::write::UNKNOWN;
use attune_engine::pretrained::{Pretrained, load};
use evaluation::{Asked, ByCell, by_cell, sentences, table, varied};
use grammar::{Cell, Kind, sentence_with_pronoun, varied_sentence};
use stories::Text;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::numerics::json::{list, parse, sizes, vector};
use crate::common::top::at;

const ENCODER: &str = "lessons/depth";
/// The encoder that read sentences of a fixed frame only.
const FRAME: &str = "lessons/frame";
const WRITER: &str = "lessons/writer";

/// A model with its tokenizer.
struct Shipped {
    open: ModelFolder,
    read: Pretrained,
    model: AttentionModel<f32>,
}

impl Shipped {
    fn new(folder: &str) -> Self {
        let folder = at(folder);
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

/// The sentences of every cell, which both models are asked.
static BY_CELL: LazyLock<[(Kind, ByCell); Kind::ALL.len()]> = LazyLock::new(|| by_cell(OF_A_CELL, *SEEDS.end()));

/// The least share of right answers in a cell.
const LEAST: f64 = 0.95;

#[track_caller]
fn check_cells(cells: &BTreeMap<Cell, (f64, usize)>, rows: usize) {
    let found = cells.keys().map(|cell| &cell.row).collect::<BTreeSet<_>>().len();
    assert_eq!(found, rows, "{}", table(cells));
    assert!(cells.values().all(|(share, count)| *share >= LEAST && *count > 0), "{}", table(cells));
}

#[test]
fn roles_alone_decide_whatever_the_classes_and_the_order_of_the_nouns() {
    let shipped = Shipped::new(FRAME);
    for ((_, sentences), rows) in BY_CELL.iter().zip([44, 10, 6, 6]) {
        check_cells(&shipped.asked().cells(sentences), rows);
    }
}

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const SENTENCES: usize = 60;

#[test]
fn what_needs_the_whole_sentence_comes_in_the_last_layers() {
    let shipped = Shipped::new(FRAME);
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
    let shipped = Shipped::new(FRAME);
    let asked = shipped.asked();
    for seed in SEEDS {
        let shares = asked.senses(&sentences(Kind::Sense, 8 * SENTENCES, seed));
        let (middle, last) = (shares[3], shares[6]);
        assert!(shares.len() == 7 && middle < 0.65 && last > 0.9, "seed {seed}: {shares:?}");
    }
}

/// A frame has the same words with and without insertions, and every inserted word has a piece of its own in a recipe that
/// adds [`insertions::words`].
#[test]
fn insertions_leave_the_question_and_its_answer() {
    let rng = &mut stream(1, Stream::Corpus);
    let own: BTreeSet<String> = insertions::words().into_iter().collect();
    assert!(["yesterday", "noon", "monday", "village"].iter().all(|word| own.contains(*word)));
    for _ in 0..1000 {
        for sentence in [varied_sentence(rng), sentence_with_pronoun(rng)] {
            let Some(question) = &sentence.question else { continue };
            let asked = &sentence.words[question.at];
            assert!(*asked == question.right || question.sense.is_some_and(|(word, _)| word == asked), "{sentence:?}");
            assert!(!sentence.is_new_combination || !sentence.inserted.is_empty(), "{sentence:?}");
        }
    }
}

#[test]
fn combinations_of_insertions_are_kept_for_the_evaluation() {
    for (kind, cells) in varied(4000, 1) {
        let columns: BTreeSet<&str> = cells.keys().map(|cell| &*cell.column).collect();
        assert_eq!(columns, BTreeSet::from(["one insertion", "two insertions"]), "{kind:?}");
        assert!(cells.values().flatten().all(|sentence| sentence.is_kept_from_training()), "{kind:?}");
    }
}

#[test]
fn the_models_are_small_enough_to_travel() {
    const BYTES_MAX: u64 = 4_000_000;
    for folder in [ENCODER, FRAME, WRITER] {
        let entries = std::fs::read_dir(at(folder)).expect("a folder").map(|entry| entry.expect("an entry"));
        let bytes: u64 = entries.map(|entry| entry.metadata().expect("a file").len()).sum();
        assert!(bytes < BYTES_MAX, "{folder}: {bytes} bytes");
    }
}

#[test]
fn whatever_a_keyboard_writes_is_pieces() {
    for folder in [ENCODER, FRAME, WRITER] {
        let shipped = Shipped::new(folder);
        let tokenizer = shipped.asked().tokenizer;
        let unknown = tokenizer.id_of(UNKNOWN).expect("a piece for the rest");
        let keys: String = (' '..='~').chain("éÜñ“”‘’–—…".chars()).collect();
        let rng = &mut stream(1, Stream::Perturbation);
        let texts = std::iter::repeat_with(|| stories::text(rng).text()).take(SENTENCES);
        for text in [keys, "It's 7 o'clock: \"who's there?\" - nobody; not a soul!".to_owned()].into_iter().chain(texts)
        {
            let pieces = tokenizer.encode(&text).expect("words of the vocabulary").pieces;
            assert!(pieces.iter().all(|piece| piece.id != unknown), "{folder}: {text}: {pieces:?}");
        }
    }
}

/// `oracle/writer.py`.
#[test]
fn the_writer_has_the_pieces_logits_and_weights_of_transformers() {
    let shipped = Shipped::new(WRITER);
    let asked = shipped.asked();
    for text in list(&parse(include_str!("oracle/writer.json"))) {
        let written = text["text"].as_str().expect("a text");
        let ids: Vec<usize> = asked
            .tokenizer
            .encode(written)
            .expect("words of the vocabulary")
            .pieces
            .iter()
            .map(|piece| piece.id as usize)
            .collect();
        assert_eq!(ids, sizes(&text["ids"]), "{written}");
        let pass = asked.pass(&ids);
        let logits = shipped.model.logits_of(asked.parameters, &pass.output);
        let largest = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("pieces");
        let next: Vec<usize> = (0..ids.len()).map(|at| largest(logits.row(at))).collect();
        assert_eq!(next, sizes(&text["next"]), "{written}");
        check_near(logits.row(ids.len() - 1), &vector(&text["logits"]));
        let heads = &pass.blocks.last().expect("layers").heads;
        for (head, expected) in heads.iter().zip(list(&text["weights"])) {
            check_near(head.weights.row(ids.len() - 1), &vector(expected));
        }
    }
}

#[track_caller]
fn check_near(found: &[f32], expected: &[f64]) {
    // The oracle has the first logits of each row.
    assert_close_beside(1.0, "the numbers", &found[..expected.len()], expected, Tolerance::LIBRARY);
}

#[test]
fn the_writer_names_the_word_that_those_before_it_decide() {
    let shipped = Shipped::new(WRITER);
    // But of senses, which no next word has.
    for ((kind, sentences), rows) in BY_CELL.iter().zip([44, 10, 6]) {
        assert_ne!(*kind, Kind::Sense);
        let cells = shipped.asked().next_cells(sentences);
        assert_eq!(cells.keys().map(|cell| &cell.row).collect::<BTreeSet<_>>().len(), rows, "{}", table(&cells));
        // What breaks under what is the one pattern that it has not learned for every new noun.
        let weak = cells.values().filter(|(share, _)| *share < LEAST).count();
        assert!(weak <= cells.len() / 20, "{weak} weak cells:\n{}", table(&cells));
    }
}

#[test]
fn the_writer_spells_a_name_that_training_never_saw_once_it_comes_again() {
    let shipped = Shipped::new(WRITER);
    for seed in SEEDS {
        let names = shipped.asked().repeated(&writing::texts(stories::story, SENTENCES, seed));
        let (first, again, begun) = (names.spelled_first, names.spelled_again, names.begun_again);
        assert!(first.of_one() < 0.4 && again.of_one() > 0.95 && begun.of_one() > 0.9, "seed {seed}: {names}");
        assert!(first.all.min(again.all).min(begun.all) > SENTENCES / 2, "seed {seed}: {names}");
    }
}

#[test]
fn the_writer_repeats_names_that_a_reader_makes_up() {
    const AT: usize = 13;
    let shipped = Shipped::new(WRITER);
    let pairs = [("xo", "yu"), ("gwilth", "obrask"), ("umpelo", "strivvy"), ("ohm", "ugwane"), ("hjalti", "wrenna")];
    for (a, b) in pairs {
        let words = format!("{a} met {b} . {b} gave {a} the lamp . then {a} met {b} .");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(words[AT], b);
        let text = Text { words, again: vec![AT], decided: vec![AT], is_kept_from_training: true };
        let said = shipped.asked().repeated(&[text]);
        assert_eq!((said.spelled_again.of_one(), said.begun_again.of_one()), (1.0, 1.0), "{a}, {b}: {said}");
    }
}

#[test]
fn the_writer_repeats_lists_that_training_never_saw() {
    let shipped = Shipped::new(WRITER);
    for seed in SEEDS {
        let words = shipped.asked().repeated(&writing::texts(stories::list, SENTENCES, seed));
        assert!(words.begun_again.of_one() > 0.95 && words.begun_again.all > SENTENCES, "seed {seed}: {words}");
    }
}

/// A head with nothing to look for gives its weights to the first token, which no rule of the training asks for.
#[test]
fn the_writer_has_grown_a_sink() {
    let shipped = Shipped::new(WRITER);
    let (heads, even) = shipped.asked().first_token(&writing::texts(stories::story, SENTENCES, *SEEDS.end()));
    let most = heads.into_iter().flatten().fold(0.0, f64::max);
    assert!(most > 0.3 && even < 0.1, "{most}, where even attention would give {even}");
}
