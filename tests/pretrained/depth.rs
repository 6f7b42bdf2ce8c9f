//! The models that come with the course: what lessons and docs say of them holds for sentences that training never saw.

#[path = "../../examples/depth/evaluation.rs"]
mod evaluation;
#[path = "../../examples/depth/grammar.rs"]
mod grammar;
#[path = "../../examples/depth/insertions.rs"]
mod insertions;
#[path = "../../examples/depth/stories.rs"]
mod stories;
#[path = "../../examples/depth/translating.rs"]
mod translating;
#[path = "../../examples/depth/translation.rs"]
mod translation;
#[path = "../../examples/depth/writing.rs"]
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::model::{AttentionModel, Sequences, WritingRules};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::folder::{ModelFolder, files_with};
use attune_engine::pretrained::tokenizer::write::{MASK, NewTokenizer, PADDING, STOP, UNKNOWN};
use attune_engine::pretrained::{Pretrained, load};
use evaluation::{Asked, ByCell, INSERTED, by_cell, sentences, table, varied};
use grammar::{Cell, Kind, graded_sentence, varied_sentence};
use serde_json::Value;
use stories::Text;
use translating::Translated;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::numerics::json::{list, parse, sizes, vector};
use crate::common::top::at;

const ENCODER: &str = "lessons/depth";
/// The encoder that read sentences of a fixed frame only.
const FRAME: &str = "lessons/frame";
const WRITER: &str = "lessons/writer";
const TRANSLATOR: &str = "lessons/translator";

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

/// Checks each cell, or all but one in twenty.
#[track_caller]
fn check_cells(cells: &BTreeMap<Cell, (f64, usize)>, rows: usize, is_weak_in_a_few: bool) {
    let found = cells.keys().map(|cell| &cell.row).collect::<BTreeSet<_>>().len();
    assert_eq!(found, rows, "{}", table(cells));
    let weak = cells.values().filter(|(share, count)| *share < LEAST || *count == 0).count();
    let most = if is_weak_in_a_few { cells.len() / 20 } else { 0 };
    assert!(weak <= most, "{weak} weak cells:\n{}", table(cells));
}

#[test]
fn roles_alone_decide_whatever_the_classes_and_the_order_of_the_nouns() {
    for (folder, is_weak_in_a_few) in [(ENCODER, true), (FRAME, false)] {
        let shipped = Shipped::new(folder);
        for ((_, sentences), rows) in BY_CELL.iter().zip([44, 10, 6, 6]) {
            check_cells(&shipped.asked().cells(sentences), rows, is_weak_in_a_few);
        }
    }
}

/// Returns the share of right answers to sentences of this kind with one insertion, and with two.
fn with_insertions(shipped: &Shipped, kind: Kind, seed: u64) -> [f64; 2] {
    const DRAWS: usize = 4_000;
    let kinds = varied(DRAWS, seed);
    let (_, cells) = kinds.iter().find(|(other, _)| *other == kind).expect("every kind");
    INSERTED.map(|column| {
        let of_column = cells.iter().filter(|(cell, _)| cell.column == column);
        let sentences: Vec<_> = of_column.flat_map(|(_, sentences)| sentences.clone()).collect();
        *shipped.asked().accuracy(&sentences).last().expect("layers")
    })
}

/// The lesson on layers shows both models beside each other.
#[test]
fn insertions_that_training_never_had_change_nothing_for_the_encoder_that_read_others() {
    let (encoder, frame) = (Shipped::new(ENCODER), Shipped::new(FRAME));
    for kind in Kind::ALL {
        for seed in [2, 3] {
            let shares = with_insertions(&encoder, kind, seed);
            assert!(shares.iter().all(|share| *share >= LEAST), "{kind:?}, seed {seed}: {shares:?}");
        }
    }
    let shares = with_insertions(&frame, Kind::Referent, 2);
    assert!(shares.iter().all(|share| *share < 0.75), "{shares:?}: it learned places");
}

/// Forms that a reader thinks of, with words of the vocabulary.
const FORMS: [&str; 7] = [
    "yesterday the NOUN did not fit in the OTHER because it was too SIZE. we saw that the [MASK] was too SIZE.",
    "on monday the NOUN did not fit in the OTHER because it was too SIZE. the [MASK] was too SIZE.",
    "the red NOUN did not fit in the OTHER because it was too SIZE. they saw that the [MASK] was too SIZE.",
    "the NOUN in the kitchen did not fit in the OTHER because it was too SIZE, so it was the [MASK] that was too SIZE.",
    "the NOUN that the king saw did not fit in the green OTHER because it was too SIZE. the [MASK] was too SIZE.",
    "the NOUN did not fit in the OTHER at noon because it was too SIZE. the king saw that the [MASK] was too SIZE.",
    "we saw that the NOUN did not fit in the OTHER because it was too SIZE. mary said that the [MASK] was too SIZE.",
];

#[test]
fn a_word_a_phrase_a_clause_or_another_subject_is_no_matter_for_the_encoder() {
    let shipped = Shipped::new(ENCODER);
    let asked = shipped.asked();
    let pairs = [("trophy", "suitcase"), ("lamp", "box"), ("bag", "book"), ("clock", "drawer"), ("basket", "vase")];
    let mut wrong = Vec::new();
    for (form, (noun, other)) in FORMS.into_iter().flat_map(|form| pairs.map(|pair| (form, pair))) {
        for (size, right, wrong_one) in [("big", noun, other), ("small", other, noun)] {
            let text = form.replace("NOUN", noun).replace("OTHER", other).replace("SIZE", size);
            let ids = ids(&asked, &text);
            let at = ids.iter().position(|id| Some(*id) == asked.id(MASK)).expect("a hidden word");
            let logits = shipped.model.logits_of(asked.parameters, &asked.pass(&ids).output);
            let logit = |word: &str| logits.get(at, asked.id(word).expect("one piece"));
            if logit(right) <= logit(wrong_one) {
                wrong.push(text);
            }
        }
    }
    let most = (1.0 - LEAST) * (2 * FORMS.len() * pairs.len()) as f64;
    assert!(wrong.len() as f64 <= most, "{}: {wrong:#?}", wrong.len());
}

/// Returns the ids of a text's pieces.
fn ids(asked: &Asked<'_>, text: &str) -> Vec<usize> {
    let pieces = asked.tokenizer.encode(text).expect("words of the vocabulary").pieces;
    pieces.iter().map(|piece| piece.id as usize).collect()
}

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
const SENTENCES: usize = 60;

#[test]
fn what_needs_the_whole_sentence_comes_in_the_last_layers() {
    // Early is a third of the layers; the encoder finds a noun in its second layer, the rest in its third.
    for (folder, layers, early) in [(ENCODER, 4, 1), (FRAME, 6, 2)] {
        let shipped = Shipped::new(folder);
        let asked = shipped.asked();
        for (seed, kind) in
            SEEDS.flat_map(|seed| [Kind::Referent, Kind::Agreement, Kind::Negation].map(|kind| (seed, kind)))
        {
            let shares = asked.accuracy(&sentences(kind, SENTENCES, seed));
            let (early, last) = (shares[early], *shares.last().expect("layers"));
            assert!(shares.len() == layers + 1 && last > 0.96 && early < 0.75, "{kind:?}, seed {seed}: {shares:?}");
        }
    }
}

#[test]
fn senses_part_in_the_first_layer_of_the_encoder_and_in_the_last_of_the_frame() {
    let (encoder, frame) = (Shipped::new(ENCODER), Shipped::new(FRAME));
    for seed in SEEDS {
        let sentences = sentences(Kind::Sense, 8 * SENTENCES, seed);
        let shares = frame.asked().senses(&sentences);
        assert!(shares.len() == 7 && shares[3] < 0.65 && shares[6] > 0.9, "seed {seed}: {shares:?}");
        let shares = encoder.asked().senses(&sentences);
        assert!(shares.len() == 5 && shares[0] < 0.65 && shares[1] > 0.9, "seed {seed}: {shares:?}");
    }
}

/// A frame has the same words with and without insertions, and every inserted word has a piece of its own in a recipe
/// that adds [`insertions::words`].
#[test]
fn insertions_leave_the_question_and_its_answer() {
    let rng = &mut stream(1, Stream::Corpus);
    let own: BTreeSet<String> = insertions::words().into_iter().collect();
    assert!(["yesterday", "noon", "monday", "village"].iter().all(|word| own.contains(*word)));
    for _ in 0..1000 {
        for sentence in [varied_sentence(rng), graded_sentence(rng, 0.1), graded_sentence(rng, 1.0)] {
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
        assert_eq!(columns, BTreeSet::from(INSERTED), "{kind:?}");
        assert!(cells.values().flatten().all(|sentence| sentence.is_kept_from_training()), "{kind:?}");
    }
}

#[test]
fn the_models_are_small_enough_to_travel() {
    const BYTES_MAX: u64 = 4_000_000;
    for folder in [ENCODER, FRAME, WRITER, TRANSLATOR] {
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

/// `oracle/models.py`.
#[test]
fn the_encoder_and_the_writer_have_the_pieces_logits_and_weights_of_transformers() {
    for (folder, expected) in
        [(ENCODER, include_str!("oracle/encoder.json")), (WRITER, include_str!("oracle/writer.json"))]
    {
        let shipped = Shipped::new(folder);
        list(&parse(expected)).iter().for_each(|text| check_against(&shipped, text));
    }
}

fn check_against(shipped: &Shipped, text: &Value) {
    let asked = shipped.asked();
    let written = text["text"].as_str().expect("a text");
    let ids = ids(&asked, written);
    assert_eq!(ids, sizes(&text["ids"]), "{written}");
    let pass = asked.pass(&ids);
    let logits = shipped.model.logits_of(asked.parameters, &pass.output);
    let largest = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("pieces");
    let answers: Vec<usize> = (0..ids.len()).map(|at| largest(logits.row(at))).collect();
    assert_eq!(answers, sizes(&text["next"]), "{written}");
    let at = text["at"].as_u64().expect("a position") as usize;
    check_near(logits.row(at), &vector(&text["logits"]));
    let heads = &pass.blocks.last().expect("layers").heads;
    for (head, expected) in heads.iter().zip(list(&text["weights"])) {
        check_near(head.weights.row(at), &vector(expected));
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
        // What breaks under what is the one pattern that it has not learned for every new noun.
        check_cells(&shipped.asked().next_cells(sentences), rows, true);
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

/// The three kinds of sentences of which docs/real-models.md has a table, each with the least share of right ones.
#[test]
fn the_translator_keeps_its_rules_outside_its_templates() {
    let shipped = Shipped::new(TRANSLATOR);
    for seed in [2, 3] {
        let kinds = translating::kinds(SENTENCES, seed);
        assert_eq!(kinds.len(), 3);
        for (name, pairs) in kinds {
            let Translated { right, senses, agreement, examples } = shipped.asked().translated(&pairs);
            let least = [right, senses, agreement].map(writing::Share::of_one).into_iter().fold(1.0, f64::min);
            assert!(least > 0.93, "seed {seed}, {name}: {right}; {senses}; {agreement}; {examples:#?}");
            assert!(senses.all > SENTENCES / 3 && agreement.all > 5 * SENTENCES, "{name}: {senses}; {agreement}");
        }
    }
}

/// What docs/real-models.md says of the translator's limits, each with the least and the largest share of right
/// sentences.
#[test]
fn the_translator_fails_farther_outside_its_training() {
    let shipped = Shipped::new(TRANSLATOR);
    let expected = [(0.1, 0.4), (0.0, 0.05), (0.0, 0.05)];
    for ((name, pairs), (least, most)) in translating::farther(SENTENCES, 2).into_iter().zip(expected) {
        let Translated { right, senses, agreement, examples } = shipped.asked().translated(&pairs);
        let share = writing::Share::of_one(right);
        assert!((least..=most).contains(&share), "{name}: {right}; {senses}; {agreement}; {examples:#?}");
    }
}

#[test]
fn one_head_of_the_last_layer_aligns() {
    let shipped = Shipped::new(TRANSLATOR);
    let (_, pairs) = &translating::kinds(SENTENCES, 4)[0];
    let layers = shipped.asked().alignment(pairs);
    let best = |layer: usize| layers[layer].iter().map(|share| share.of_one()).fold(0.0, f64::max);
    assert_eq!(layers.len(), 2);
    assert!(best(1) > 0.9 && best(0) < 0.5, "{layers:?}");
}

#[test]
fn the_weights_are_those_whose_sha_256_the_docs_state() {
    let docs = std::fs::read_to_string(at("docs/real-models.md")).expect("a file");
    for folder in [ENCODER, FRAME, TRANSLATOR] {
        let shipped = Shipped::new(folder);
        let weights = shipped.read.files.iter().find(|file| file.name == "model.safetensors").expect("weights");
        assert!(docs.contains(&format!("`{}`", weights.sha256)), "{folder}: {weights}");
    }
}

#[test]
fn the_configs_are_those_that_the_commands_write() {
    for folder in [ENCODER, FRAME, WRITER] {
        let Pretrained { config, .. } = Shipped::new(folder).read;
        let written = std::fs::read_to_string(at(folder).join("config.json")).expect("a file");
        assert_eq!(written, config.to_json(), "{folder}");
    }
}

/// The pieces come from the words of the language alone.
#[test]
fn the_translator_s_files_are_those_that_its_command_writes() {
    let shipped = Shipped::new(TRANSLATOR);
    let words = translation::words();
    let tokenizer = NewTokenizer::of_translator(&words);
    let special = |piece| tokenizer.id_of(piece);
    let rules =
        WritingRules { start: special(PADDING), ends: special(STOP).into_iter().collect(), ..WritingRules::default() };
    let Pretrained { config, files, .. } = &shipped.read;
    let mut written = files_with(config, config.architecture.readout, &rules, |_, _, _| 0.0);
    written.extend(tokenizer.files(config.positions()));
    let mut names: Vec<String> = written.iter().map(|(name, _)| name.to_string()).collect();
    names.sort();
    let expected =
        ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
    assert_eq!(names, expected);
    let is_weights = |name: &str| files.iter().any(|file| file.name == name && name.ends_with(".safetensors"));
    for (name, bytes) in written.into_iter().filter(|(name, _)| !is_weights(name)) {
        assert_eq!(std::fs::read(at(TRANSLATOR).join(name)).expect("a file"), bytes, "{name}");
    }
}

#[test]
fn sentences_of_its_training_are_within_its_templates() {
    let rng = &mut stream(1, Stream::Corpus);
    let mut clauses = BTreeMap::new();
    for _ in 0..50 * SENTENCES {
        let pair = translation::sentence(rng);
        assert!(!pair.is_kept_from_training && pair.source.len() <= translation::WORDS_MAX, "{}", pair.text());
        assert!(pair.target.len() < translation::LONGEST && pair.from.len() == pair.target.len(), "{}", pair.text());
        let joints = pair.source.iter().filter(|word| ["and", "because", "but", "while"].contains(word)).count();
        *clauses.entry(1 + joints).or_insert(0) += 1;
    }
    assert_eq!(clauses.len(), translation::CLAUSES_MAX);
    assert!(clauses.values().all(|count| *count > 400), "as many long ones as short ones: {clauses:?}");
}

/// `oracle/translator.py`.
#[test]
fn the_translator_has_the_words_and_logits_of_transformers() {
    let shipped = Shipped::new(TRANSLATOR);
    let asked = shipped.asked();
    for text in list(&parse(include_str!("oracle/translator.json"))) {
        let written = text["text"].as_str().expect("a text");
        let ids = ids(&asked, written);
        assert_eq!(ids, sizes(&text["ids"]), "{written}");
        let rng = &mut stream(0, Stream::Generation);
        let (model, parameters) = (asked.model, asked.parameters);
        let search = |choice, rng: &mut _| model.generate(parameters, &[], Some(&ids), 60, choice, rng).expect("words");
        assert_eq!(search(NextWordChoice::Greedy, rng), sizes(&text["greedy"]), "{written}");
        for (width, expected) in [2, 4].into_iter().zip(list(&text["beams"])) {
            assert_eq!(search(NextWordChoice::Beams(width), rng), sizes(expected), "{written}, {width} beams");
        }
        let read = [sizes(&text["start"]), sizes(&text["greedy"])].concat();
        let logits = model.logits(parameters, &Sequences::one(&read), Some(&Sequences::one(&ids)));
        let expected = vector(&text["logits"]);
        let largest = expected.iter().fold(0.0, |largest: f64, z| largest.max(z.abs()));
        assert_close_beside(largest, written, &logits, &expected, Tolerance::LIBRARY);
    }
}
