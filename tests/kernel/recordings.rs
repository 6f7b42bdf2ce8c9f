//! Recordings as lessons: the snapshot has the file's numbers, and nothing that was not recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, TrainingCommand, WeightCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel, Saved, Snapshot};
use attune_core::lesson;
use attune_core::lesson::schema::Objective;
use attune_engine::numerics::Matrix;
use attune_engine::quantity::Quantity;
use attune_engine::recording::parts::Part;
use attune_engine::recording::{RecordedText, Recording, mixes};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::folder::Folder;
use crate::common::recorded::{Even, recording, recording_of, tokens};
use crate::common::top::at;

const FOLDERS: [&str; 10] =
    ["attention-only", "bert", "llama-gqa", "picture", "senses", "sinks", "t5", "vit", "with-proof", "wrong-proof"];

fn path(folder: &str) -> PathBuf {
    at("tests/fixtures/recordings").join(folder).join("run.safetensors")
}

fn opened(folder: &str) -> Kernel {
    opened_at(&path(folder))
}

fn opened_at(path: &Path) -> Kernel {
    let lesson = lesson::read(path).unwrap_or_else(|issues| panic!("{}: {issues:?}", path.display()));
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    assert_eq!(kernel.notice(), None, "{}", path.display());
    kernel.settle();
    kernel
}

fn model(snapshot: &Snapshot) -> &ModelSnapshot {
    snapshot.model.as_ref().expect("a recording opens")
}

/// The weights of all heads of a text, in the order of the blocks.
fn weights(recording: &Recording, text: &RecordedText) -> Vec<Matrix<f32>> {
    let of = |attention: &attune_engine::recording::Attention| {
        let matrix =
            |head| recording.matrix(attention.part(Part::Attentions).expect("weights"), head).expect("numbers");
        (0..attention.heads).map(matrix).collect::<Vec<_>>()
    };
    text.attentions.iter().flat_map(of).collect()
}

#[test]
fn the_weights_are_those_of_the_file_bit_for_bit() {
    for folder in FOLDERS {
        let recording = Recording::open(&path(folder)).expect("a recording");
        let mut kernel = opened(folder);
        for (number, text) in recording.texts.iter().enumerate() {
            kernel.apply(Command::Sentence(SentenceCommand::Select(number)));
            assert_eq!(kernel.notice(), None, "{folder}");
            let snapshot = kernel.snapshot();
            let shown: Vec<&Matrix<f32>> =
                model(&snapshot).sentence.activations.heads().map(|head| &head.weights).collect();
            let expected = weights(&recording, text);
            assert_eq!(shown.len(), expected.len(), "{folder}");
            for (shown, expected) in shown.iter().zip(&expected) {
                let bits = |matrix: &Matrix<f32>| matrix.flat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(shown), bits(expected), "{folder}");
            }
        }
    }
}

#[test]
fn no_number_is_made_up_for_a_part_that_was_not_recorded() {
    for folder in FOLDERS {
        let snapshot = opened(folder).snapshot();
        let model = model(&snapshot);
        let pass = model.recorded.as_ref().expect("what was recorded");
        assert_eq!(pass.trouble, None, "{folder}");
        let mut heads = model.sentence.activations.blocks.iter().zip(&pass.blocks);
        for (block, parts) in &mut heads {
            for head in &block.heads {
                for matrix in [&head.query, &head.key, &head.value, &head.weights, &head.mix] {
                    assert!(matrix.flat().iter().all(|x| x.is_finite()), "{folder}");
                }
                assert!(head.scores.flat().iter().all(|x| !x.is_nan()), "{folder}");
                assert_eq!(parts.values, head.mix.cols() > 0, "{folder}");
                assert_eq!(parts.scores, head.query.cols() > 0, "{folder}");
            }
            assert!(block.output.cols() > 0 || !(parts.input || parts.output), "{folder}");
            assert!(block.output.flat().iter().all(|x| x.is_finite()), "{folder}");
        }
        assert_eq!(model.sentence.arithmetic.len(), model.architecture.heads(), "{folder}");
    }
}

#[test]
fn arrows_meet_the_hidden_states() {
    for folder in ["bert", "llama-gqa", "senses", "sinks", "t5", "vit", "with-proof"] {
        let snapshot = opened(folder).snapshot();
        let model = model(&snapshot);
        let blocks = model.architecture.numbered_blocks().zip(&model.sentence.activations.blocks);
        for (((_, config), block), contributions) in blocks.zip(&model.sentence.contributions) {
            let error = contributions.error(config, block);
            assert_close_beside(1.0, folder, error, 0.0, Tolerance::SINGLE_SUMS);
        }
    }
}

#[test]
fn what_would_need_the_model_is_refused_and_changes_nothing() {
    let mut kernel = opened("bert");
    let before = kernel.snapshot();
    let commands = [
        Command::Weights(WeightCommand::ResetAll),
        Command::Interventions(InterventionCommand::SetTemperature(Some(2.0))),
        Command::Training(TrainingCommand::Step(1)),
        Command::Training(TrainingCommand::SetLearningRate(0.5)),
        Command::Sentence(SentenceCommand::Set("another text".to_owned())),
        Command::Sentence(SentenceCommand::Words(vec!["the".to_owned()])),
        Command::Retrain(Box::default()),
    ];
    for command in commands {
        kernel.apply(command.clone());
        let notice = kernel.notice().unwrap_or_default().to_owned();
        assert!(notice.contains("a recording holds one pass"), "{command:?}: {notice}");
        let after = kernel.snapshot();
        assert_eq!(after.history, before.history);
        assert!(Arc::ptr_eq(&model(&after).sentence, &model(&before).sentence), "{command:?}");
    }
}

#[test]
fn saved_work_on_a_recording_comes_back() {
    let mut kernel = opened("senses");
    kernel.apply(Command::Sentence(SentenceCommand::Select(2)));
    let second = kernel.snapshot().lesson.sentences[1][0].clone();
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(second))));
    assert_eq!(kernel.notice(), None);
    let snapshot = kernel.snapshot();
    let mut again = Kernel::open(snapshot.lesson.clone(), Some(Saved::of(&snapshot)));
    again.settle();
    let again = again.snapshot();
    assert_eq!(again.report, Arc::from([]));
    assert_eq!(model(&again).sentence.index, Some(2));
    assert_eq!(model(&again).second.as_ref().and_then(|second| second.other.index), Some(1));
    assert!(!model(&again).second.as_ref().expect("a second text").words.is_empty(), "words that both have");
}

#[test]
fn logits_of_tokens_that_are_not_shown_are_no_answers() {
    let folder = Folder::new("encoder-alone");
    let (target, source) = (tokens(3), tokens(5));
    let path = recording(
        &folder,
        &[("tokens", &target), ("source_tokens", &source)],
        &[("encoder_attentions.0", &[1, 5, 5], 0.2), ("logits", &[3, 4], 1.0)],
    );
    let snapshot = opened_at(&path).snapshot();
    assert_eq!(model(&snapshot).sentence.tokens.len(), 5);
    assert_eq!(model(&snapshot).sentence.answers.logits.cols(), 0);
}

/// A tensor's name and its shape.
type Shaped<'a> = (&'a str, &'a [usize]);

#[test]
fn a_text_of_another_form_is_named_and_not_shown() {
    let folder = Folder::new("other-form");
    let few = tokens(2);
    let first: [Even<'_>; 8] = [
        ("0/attentions.0", &[2, 2, 2], 0.5),
        ("0/queries.0", &[2, 2, 3], 1.0),
        ("0/keys.0", &[2, 2, 3], 1.0),
        ("0/values.0", &[2, 2, 3], 1.0),
        ("0/output_weight.0", &[6, 4], 1.0),
        ("0/hidden_states.0", &[2, 4], 1.0),
        ("0/hidden_states.1", &[2, 4], 1.0),
        ("0/logits", &[2, 4], 1.0),
    ];
    let same: Vec<(String, Vec<usize>)> =
        first.iter().map(|(name, shape, _)| (name.replacen('0', "1", 1), shape.to_vec())).collect();
    let cases: [(&str, &[Shaped<'_>]); 6] = [
        ("", &[]),
        ("rows of logits", &[("1/logits", &[1, 4])]),
        ("logits or classes", &[("1/logits", &[2, 3])]),
        ("queries, keys or values", &[("1/queries.0", &[2, 2, 5]), ("1/keys.0", &[2, 2, 5])]),
        ("queries, keys or values", &[("1/keys.0", &[1, 2, 3]), ("1/values.0", &[1, 2, 3])]),
        ("queries, keys or values", &[("1/values.0", &[2, 2, 1]), ("1/output_weight.0", &[2, 4])]),
    ];
    for (words, changes) in cases {
        let of = |name: &str, shape: &[usize]| {
            changes.iter().find(|(other, _)| *other == name).map_or(shape.to_vec(), |(_, shape)| shape.to_vec())
        };
        let second: Vec<(&str, Vec<usize>)> = same.iter().map(|(name, shape)| (&name[..], of(name, shape))).collect();
        let second =
            second.iter().map(|(name, shape)| (*name, &shape[..], if name.contains("att") { 0.5 } else { 1.0 }));
        let all: Vec<Even<'_>> = first.iter().copied().chain(second).collect();
        for choice in [SentenceCommand::Set("w0 w1 (2)".to_owned()), SentenceCommand::Select(1)] {
            let mut kernel = opened_at(&recording(&folder, &[("tokens", &few)], &all));
            kernel.apply(Command::Sentence(choice.clone()));
            let notice = kernel.notice().unwrap_or_default();
            assert!(notice.contains(words) && notice.is_empty() == words.is_empty(), "{choice:?}, {words}: {notice}");
        }
    }
}

#[test]
fn a_small_file_takes_little_memory() {
    let folder = Folder::new("small-file");
    let few = tokens(5);
    // Between two states that are far apart nothing is known of a block.
    let states: [Even<'_>; 2] = [("hidden_states.0", &[5, 8], 1.0), ("hidden_states.511", &[5, 8], 2.0)];
    let snapshot = opened_at(&recording(&folder, &[("tokens", &few)], &states)).snapshot();
    let pass = model(&snapshot).recorded.as_ref().expect("what was recorded");
    assert_eq!(
        pass.blocks.iter().map(|parts| [parts.input, parts.output]).collect::<Vec<_>>(),
        [[true, false], [false, true]]
    );
    assert!(Arc::ptr_eq(&pass.activations.blocks[0].input, &pass.activations.blocks[0].output), "nothing was added");
    // A thousand heads that share their values would mix them a thousand times.
    let shared: [Even<'_>; 2] = [("attentions.0", &[1024, 5, 5], 0.2), ("values.0", &[1, 5, 65_536], 1.0)];
    let issues = lesson::read(&recording(&folder, &[("tokens", &few)], &shared)).expect_err("too much");
    let said = format!("{issues:?}");
    assert!(said.contains("attentions.0") && said.contains("record fewer layers"), "{said}");
}

#[test]
fn hidden_states_between_the_two_attentions_of_a_decoder_are_not_known() {
    let snapshot = opened("t5").snapshot();
    let pass = model(&snapshot).recorded.as_ref().expect("what was recorded");
    let known = |block: usize| [Quantity::Input, Quantity::Output, Quantity::MoveLength].map(|of| pass.has(of, block));
    assert_eq!(known(2), [true, false, false], "the decoder's own");
    assert_eq!(known(3), [false, true, false], "to the source");
    assert_eq!(known(0), [true, true, true], "the encoder's");
}

#[test]
fn sums_of_a_stretch_are_those_of_all_keys() {
    let folder = Folder::new("stretch");
    let many = tokens(256);
    let path = recording(
        &folder,
        &[("tokens", &many)],
        &[
            ("attentions.0", &[1, 256, 256], 1.0 / 256.0),
            ("values.0", &[1, 256, 2], 3.0),
            ("output_weight.0", &[2, 2], 0.5),
            ("hidden_states.0", &[256, 2], 1.0),
            ("hidden_states.1", &[256, 2], 5.0),
        ],
    );
    let snapshot = opened_at(&path).snapshot();
    let model = model(&snapshot);
    let block = &model.sentence.activations.blocks[0];
    assert_eq!(block.summed.rows(), 128);
    // 1 + 256 · (1 / 256) · 3 · (0.5 + 0.5)
    assert_close_beside(1.0, "summed", block.summed.get(7, 1), 4.0, Tolerance::SINGLE_SUMS);
    let config = &model.architecture.blocks[0];
    let error = model.sentence.contributions[0].error(config, block);
    assert_close_beside(1.0, "arrows", error, 0.0, Tolerance::SINGLE_SUMS);
}

#[test]
fn a_stretch_has_the_weights_of_its_own_keys_and_sees_what_was_seen() {
    const TOKENS: usize = 300;
    const FIRST: usize = 100;
    /// The first key that the mask hides.
    const MASKED: usize = 160;
    let shape: [usize; 3] = [2, TOKENS, TOKENS];
    // Each number is another, and none is 0 but those of the keys that follow.
    let weight = |at: usize| {
        let (query, key) = (at / TOKENS % TOKENS, at % TOKENS);
        if key > query { 0.0 } else { (1 + at) as f32 / (2 * TOKENS * TOKENS) as f32 }
    };
    let weights: Vec<f32> = (0..shape.iter().product()).map(weight).collect();
    let mask: Vec<f32> = (0..TOKENS * TOKENS).map(|at| f32::from(at % TOKENS < MASKED)).collect();
    for has_mask in [false, true] {
        let mut tensors = vec![("attentions.0", &shape[..], weights.clone())];
        tensors.extend(has_mask.then(|| ("mask", &shape[1..], mask.clone())));
        let (_folder, path) = recording_of(TOKENS, &[], &tensors);
        let mut kernel = opened_at(&path);
        kernel.apply(Command::Sentence(SentenceCommand::Stretch(FIRST)));
        let snapshot = kernel.snapshot();
        for (head, read) in model(&snapshot).sentence.activations.heads().enumerate() {
            assert_eq!([read.weights.rows(), read.weights.cols()], [128; 2]);
            for (query, key) in (0..128).flat_map(|query| (0..128).map(move |key| (query, key))) {
                let expected = weight((head * TOKENS + FIRST + query) * TOKENS + FIRST + key);
                assert_eq!(read.weights.get(query, key).to_bits(), expected.to_bits(), "{head}, {query}, {key}");
                let is_seen = if has_mask { FIRST + key < MASKED } else { key <= query };
                assert_eq!(read.scores.get(query, key) == 0.0, is_seen, "{has_mask}: {head}, {query}, {key}");
            }
        }
    }
}

#[test]
fn a_mix_is_a_sum_in_double_precision_and_never_minus_zero() {
    let values = Matrix::from_row_major(3, 2, vec![1e8, -1.0, 1.0, -2.0, -1e8, -3.0]);
    let weights = Matrix::from_row_major(2, 3, vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let mixes = mixes(&weights, &values);
    let bits: Vec<u32> = mixes.flat().iter().map(|x| x.to_bits()).collect();
    assert_eq!(bits, [1.0f32, -6.0, 0.0, 0.0].map(f32::to_bits), "{mixes:?}");
}

#[test]
fn tokens_in_no_word_are_no_part_of_the_text() {
    let folder = Folder::new("no-word");
    let tokens = format!("{:?}", ["[CLS]", "Bank", "##s", "[SEP]"]);
    let about = [("tokens", &tokens[..]), ("text", "banks"), ("words", "[null, 0, 0, null]")];
    let snapshot = opened_at(&recording(&folder, &about, &[("attentions.0", &[1, 4, 4], 0.25)])).snapshot();
    let sentence = &model(&snapshot).sentence;
    assert_eq!(sentence.written(), "banks");
    assert_eq!(sentence.written_word(&(1..3)), Some("banks"));
    assert_eq!([0, 3].map(|at| sentence.written_word(&(at..at + 1))), [None, None]);
    // Where no token is in a word, nothing is known of words.
    let none = [("tokens", r#"["a", "b"]"#), ("words", "[null, null]")];
    let snapshot = opened_at(&recording(&folder, &none, &[("attentions.0", &[1, 2, 2], 0.5)])).snapshot();
    assert_eq!(model(&snapshot).sentence.written(), "a b");
}

#[test]
fn texts_with_one_title_are_told_apart() {
    let folder = Folder::new("one-title");
    let few = tokens(2);
    let path = recording(
        &folder,
        &[("tokens", &few), ("text", "w0 w1")],
        &[
            ("0/attentions.0", &[1, 2, 2], 0.5),
            ("1/attentions.0", &[1, 2, 2], 0.5),
            ("0/logits", &[1, 3], 1.0),
            ("1/logits", &[1, 3], 1.0),
        ],
    );
    let mut kernel = opened_at(&path);
    assert_eq!(kernel.snapshot().lesson.sentences, [["w0 w1"], ["w0 w1 (2)"]]);
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some("w0 w1 (2)".to_owned()))));
    assert_eq!(kernel.notice(), None);
    let snapshot = kernel.snapshot();
    assert_eq!(model(&snapshot).second.as_ref().and_then(|second| second.other.index), Some(1));
    // One row of logits answers for the whole text.
    assert_eq!(model(&snapshot).made_of.model.objective, Objective::Label);
}
