//! A model's folder as a running lesson: sentences in pieces, every tensor in the snapshot, and work that is kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, WeightCommand};
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::static_embedding::network;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::{self, Lesson};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Quantity, StagePoint};
use attune_view::explain::Explanation;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::model;
pub use crate::common::models::with_tokenizer;
use crate::values::sentences;
use crate::written::fixture;

pub const ALL: [&str; 4] = ["bert-wild", "bert-default", "gpt2-wild", "gpt2-default"];

pub fn opened(folder: &Path) -> Arc<Lesson> {
    let lesson = lesson::read(folder).unwrap_or_else(|issues| panic!("{}: {issues:?}", folder.display()));
    Arc::new(lesson)
}

/// A kernel whose model is read.
pub fn running(lesson: &Arc<Lesson>) -> Kernel {
    Kernel::embedded(lesson.clone())
}

fn ask(kernel: &mut Kernel, command: SentenceCommand) -> Option<String> {
    kernel.apply(Command::Sentence(command));
    kernel.snapshot().notice.map(|notice| notice.to_string())
}

#[test]
fn the_snapshot_has_the_oracle_s_numbers() {
    for name in ALL {
        let mut kernel = running(&opened(&fixture(name)));
        for sentence in sentences(name).iter().filter(|sentence| sentence.types.iter().all(|kind| *kind == 0)) {
            assert_eq!(ask(&mut kernel, SentenceCommand::Ids(sentence.ids.clone())), None);
            let shown = model(&kernel).sentence;
            let wanted = &sentence.tensors["logits"];
            assert_close_beside(
                1.0,
                format!("{name}: logits"),
                shown.answers.logits.flat(),
                wanted,
                Tolerance::LIBRARY,
            );
        }
    }
}

/// The forward pass of a snapshot's sentence from its beginning to its end.
fn whole_pass(kernel: &Kernel) -> Activations<f32> {
    let snapshot = kernel.snapshot();
    let (space, model) = (snapshot.space.expect("a space"), snapshot.model.expect("a model"));
    let words: Vec<usize> = model.sentence.tokens.iter().filter_map(|token| token.word).collect();
    let network = network(&snapshot.lesson, &space);
    Activations::of(&network, &model.parameters, &Sequences::one(&words), None, &model.interventions)
}

#[test]
fn a_change_computes_its_block_and_those_behind_it() {
    for name in ["bert-wild", "gpt2-wild"] {
        let mut kernel = running(&opened(&fixture(name)));
        assert_eq!(ask(&mut kernel, SentenceCommand::Ids(sentences(name)[0].ids.clone())), None);
        let first = model(&kernel);
        let (blocks, heads) = (first.architecture.blocks.len(), first.architecture.heads());
        let set = |name: TensorName, block: usize| {
            Command::Weights(WeightCommand::Set { tensor: name.of_block(block), row: 0, col: 1, value: 0.25 })
        };
        let of_block = |block: usize| {
            let gain = HeadMode::Gain(0.5);
            let head = first.architecture.heads_of(block).start;
            [
                set(TensorName::KeyWeights, block),
                set(TensorName::HiddenBias, block),
                set(TensorName::ForwardNormGain, block),
                Command::Interventions(InterventionCommand::SetHead { head, mode: gain }),
            ]
        };
        let mut changes: Vec<(Command, usize)> =
            (0..blocks).rev().flat_map(|block| of_block(block).map(|command| (command, block))).collect();
        changes.push((Command::Interventions(InterventionCommand::SetTemperature(Some(0.7))), 0));
        changes.push((set(TensorName::Positions, 0), 0));
        changes.push((Command::Undo, 0));
        for (command, block) in changes {
            let (before, what) = (model(&kernel).sentence, format!("{name}: {command:?}"));
            kernel.apply(command);
            let after = model(&kernel).sentence;
            assert_eq!(after.activations, whole_pass(&kernel), "{what}: bit for bit");
            for at in 0..blocks {
                let shared = [
                    Arc::ptr_eq(&before.activations.blocks[at], &after.activations.blocks[at]),
                    Arc::ptr_eq(&before.contributions[at], &after.contributions[at]),
                    Arc::ptr_eq(&before.moves[at], &after.moves[at]),
                ];
                assert_eq!(shared, [at < block; 3], "{what}: block {at}");
            }
            let looked_at_again = model(&kernel).sentence;
            assert!(Arc::ptr_eq(&after, &looked_at_again), "{what}: nothing is computed where nothing changed");
        }
        kernel.apply(Command::Interventions(InterventionCommand::Reset));
        kernel.apply(Command::Weights(WeightCommand::ResetAll));
        let last = model(&kernel);
        assert_eq!(last.interventions.heads.len(), heads);
        assert_eq!(last.sentence.activations, first.sentence.activations, "{name}: all is as it was");
        assert!(last.sentence.unchanged.is_none());
    }
}

#[test]
fn a_text_stands_on_the_stage_in_its_pieces() {
    let folder = with_tokenizer("bert-wild");
    let mut kernel = running(&opened(&folder.0));
    let text = "The bank of the river";
    assert_eq!(ask(&mut kernel, SentenceCommand::Set(text.to_owned())), None);
    let shown = model(&kernel).sentence;
    let words: Vec<&str> = shown.tokens.iter().map(|token| token.text.as_str()).collect();
    assert_eq!(words, ["[CLS]", "the", "bank", "of", "the", "river", "[SEP]"]);
    let pieces: Vec<_> = shown.tokens.iter().map(|token| token.piece.as_ref().expect("a piece")).collect();
    assert!(pieces[0].is_added && pieces[6].is_added && pieces[1..6].iter().all(|piece| !piece.is_added));
    assert_eq!(&text[pieces[2].bytes.clone()], "bank");
    assert_eq!(shown.written(), text);
}

#[test]
fn a_pair_is_read_as_two_sentences() {
    let folder = with_tokenizer("bert-wild");
    let mut kernel = running(&opened(&folder.0));
    let text = "the bank ||| the river";
    assert_eq!(ask(&mut kernel, SentenceCommand::Set(text.to_owned())), None);
    let tokens = model(&kernel).sentence.tokens.clone();
    let pieces: Vec<_> = tokens.iter().map(|token| token.piece.as_ref().expect("a piece")).collect();
    let segments: Vec<usize> = pieces.iter().map(|piece| piece.segment).collect();
    assert_eq!(segments, [0, 0, 0, 0, 1, 1, 1], "[CLS] the bank [SEP] the river [SEP]");
    assert_eq!(&text[pieces[5].bytes.clone()], "river");
}

#[test]
fn what_cannot_be_read_is_said_and_the_sentence_stays() {
    let folder = with_tokenizer("gpt2-wild");
    let mut kernel = running(&opened(&folder.0));
    let long = "word ".repeat(20_000);
    for (text, said) in [
        ("   ", "the sentence has no words"),
        (&*"apple ".repeat(200), "pieces, but the model reads at most 40"),
        (&long, "bytes; at most 65536 are read"),
    ] {
        let before = model(&kernel).sentence.written();
        let notice = ask(&mut kernel, SentenceCommand::Set(text.to_owned())).unwrap_or_default();
        // GPT-2 has pieces for space, and so three spaces are a sentence.
        let is_read = notice.is_empty() && text.trim().is_empty();
        assert!(is_read || notice.contains(said), "{notice:?}, not {said:?}");
        if !is_read {
            assert_eq!(model(&kernel).sentence.written(), before);
        }
    }
    let notice = ask(&mut kernel, SentenceCommand::Ids(vec![3, 600])).unwrap_or_default();
    assert!(notice.contains("there is no token 600"), "{notice}");
}

#[test]
fn without_a_tokenizer_ids_are_words() {
    let mut kernel = running(&opened(&fixture("gpt2-wild")));
    assert_eq!(ask(&mut kernel, SentenceCommand::Set("7, 12 599".to_owned())), None);
    let tokens = model(&kernel).sentence.tokens.clone();
    assert_eq!(tokens.iter().filter_map(|token| token.word).collect::<Vec<_>>(), [7, 12, 599]);
    let notice = ask(&mut kernel, SentenceCommand::Set("apple".to_owned())).unwrap_or_default();
    assert!(notice.contains("the folder has no tokenizer"), "{notice}");
}

#[test]
fn a_turned_weight_moves_the_words_and_is_kept() {
    let folder = with_tokenizer("bert-wild");
    let lesson = opened(&folder.0);
    let mut kernel = running(&lesson);
    assert_eq!(ask(&mut kernel, SentenceCommand::Set("an apple by the river".to_owned())), None);
    let before = model(&kernel);
    let tensor = TensorName::QueryWeights.of_block(1);
    kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 3, col: 5, value: 2.5 }));
    let turned = model(&kernel);
    assert_ne!(before.sentence.end, turned.sentence.end);
    assert_eq!(before.sentence.activations.blocks[0], turned.sentence.activations.blocks[0], "below the weight");

    let saved = Saved::of(&kernel.snapshot());
    let mut again = Kernel::open(lesson, Some(saved));
    again.settle();
    let reopened = model(&again);
    assert_eq!(reopened.sentence.written(), "an apple by the river");
    assert_eq!(reopened.sentence.activations, turned.sentence.activations, "bit for bit");

    kernel.apply(Command::Undo);
    assert_eq!(model(&kernel).sentence.activations, before.sentence.activations);
}

#[test]
fn a_model_that_cannot_be_read_says_why() {
    let folder = with_tokenizer("bert-wild");
    let lesson = opened(&folder.0);
    // It is cut off after it was opened, and before its weights are read.
    let file = folder.join("model.safetensors");
    let bytes = std::fs::read(&file).expect("the weights");
    std::fs::write(&file, &bytes[..bytes.len() / 2]).expect("half of them");
    let kernel = running(&lesson);
    let fault = kernel.snapshot().fault.expect("a fault").words;
    assert!(fault.contains("model.safetensors"), "{fault}");

    let nowhere: PathBuf = folder.join("nowhere");
    std::fs::create_dir(&nowhere).expect("a folder");
    std::fs::write(nowhere.join("model.safetensors"), []).expect("a file");
    let issues = lesson::read(&nowhere).expect_err("no model");
    assert!(issues[0].to_string().contains("no config.json"), "{issues:?}");
}

#[test]
fn work_on_files_that_changed_says_so() {
    let folder = with_tokenizer("bert-wild");
    let mut kernel = running(&opened(&folder.0));
    let tensor = TensorName::ValueWeights.of_block(0);
    kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col: 0, value: 2.5 }));
    let saved = Saved::of(&kernel.snapshot());

    let reopened = |saved: &Saved| {
        let mut again = Kernel::open(opened(&folder.0), Some(saved.clone()));
        again.settle();
        (again.snapshot().report.to_vec(), model(&again))
    };
    assert!(reopened(&saved).0.is_empty(), "the same files");

    // One number of the file is another.
    let file = folder.join("model.safetensors");
    let mut bytes = std::fs::read(&file).expect("the weights");
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&0.125f32.to_le_bytes());
    std::fs::write(&file, bytes).expect("the same length");
    let (report, now) = reopened(&saved);
    assert!(report.iter().any(|words| words.contains("files have changed")), "{report:?}");
    assert_eq!(now.parameters.row_major(tensor)[0], 2.5, "the change is kept");
}

/// A cell with code of the learner's own below the others, and what it showed.
fn code(kernel: &mut Kernel, source: &str) -> String {
    let mut cell = |id: &str, command| kernel.apply(Command::Notebook(NotebookCommand::Cell(id.into(), command)));
    cell("about", CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    let id = kernel.snapshot().notebook.cells[1].cell.id.clone();
    let mut cell = |command| kernel.apply(Command::Notebook(NotebookCommand::Cell(id.clone(), command)));
    cell(CellCommand::SetText(source.into()));
    cell(CellCommand::Run);
    kernel.settle();
    let notebook = kernel.snapshot().notebook;
    format!("{:?}", notebook.cells[1].run.as_ref().expect("it ran"))
}

#[test]
fn code_reads_and_writes_the_tensors_of_every_layer() {
    let folder = with_tokenizer("bert-wild");
    let mut kernel = running(&opened(&folder.0));
    ask(&mut kernel, SentenceCommand::Set("the bank of the river".to_owned()));
    let weight = model(&kernel).sentence.activations.blocks[2].heads[1].weights.get(2, 5);
    let shown = code(&mut kernel, r#"A_3[1]["bank", "river"]"#);
    assert!(shown.contains(&format!("{:.3}", weight)), "{weight}: {shown}");

    let tensor = TensorName::KeyWeights.of_block(1);
    code(&mut kernel, "W_K_2[3, 7] = 0.625;");
    let now = model(&kernel);
    let at = now.parameters.index(tensor, 3, 7).expect("an entry");
    assert_eq!(now.parameters.at(at), 0.625);
}

#[test]
fn numbers_say_where_they_come_from_down_to_the_file() {
    for name in ["bert-wild", "gpt2-wild"] {
        let folder = with_tokenizer(name);
        let mut kernel = running(&opened(&folder.0));
        ask(&mut kernel, SentenceCommand::Set("the bank of the river".to_owned()));
        let snapshot = kernel.snapshot();
        let of = |entry| Explanation::of(&snapshot, entry).unwrap_or_else(|| panic!("{name}: {entry:?}"));

        let weight = of(Entry::parameter(TensorName::QueryWeights.of_block(1), 3, 5));
        let tensor = match name {
            "bert-wild" => "entry [5, 3] of `bert.encoder.layer.1.attention.self.query.weight` in model.safetensors",
            _ => "entry [3, 5] of `transformer.h.1.attn.c_attn.weight` in model.safetensors",
        };
        assert!(weight.sentences.iter().any(|note| note.contains(tensor)), "{:?}", weight.sentences);

        // What goes in, and what comes out behind the last norm, come to what is shown.
        let input = of(Quantity::Input.of_block(0, [2, 7]));
        let place = of(Quantity::Coordinate.of_point(StagePoint::Contextual(2), 0));
        for (what, found) in [("input", &input), ("place", &place)] {
            let worked = found.worked.value.expect("a rule");
            assert_close_beside(1.0, format!("{name}, {what}"), found.value, worked, Tolerance::LIBRARY);
        }
    }
}

/// A second kernel beside an open model, as of a talk, needs none of its files.
#[test]
fn a_copy_of_a_kernel_reads_no_file_again() {
    let folder = with_tokenizer("bert-default");
    let mut kernel = running(&opened(&folder.0));
    assert_eq!(ask(&mut kernel, SentenceCommand::Select(0)), None);
    std::fs::remove_file(folder.join("model.safetensors")).expect("it goes");
    let twin = Arc::new(Lesson::clone(&kernel.snapshot().lesson));
    let mut copy = kernel.copy(twin);
    copy.settle();
    let (own, same) = (model(&kernel), model(&copy));
    assert!(Arc::ptr_eq(&own.parameters, &same.parameters) && copy.snapshot().fault.is_none());
    assert_eq!(own.sentence.activations.output, same.sentence.activations.output);
}
