//! *All heads* over a file of texts in the window: it fills piece by piece, can be stopped, is that of the command
//! line, opens a head with its texts, and is kept with the work.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use attune_core::kernel::command::{Command, TextsCommand};
use attune_core::kernel::{Kernel, Saved};
use attune_core::lesson::panels::PanelName;
use attune_engine::numerics::evidence::corpus::TextMeasure;
use attune_view::panels::{sheet, sheets};
use attune_view::sheet::control::Ask;
use attune_view::sheet::{Chosen, Control, Item, text};
use attune_view::view_model::Models;

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::models::fixture;
use crate::common::top::at;
use crate::opened::{opened, running};

const WRITER: &str = "lessons/writer";

/// Lines of which every other one repeats its words.
fn lines(count: usize) -> String {
    let line = |at: usize| {
        if at.is_multiple_of(2) { "lamp fox green lamp fox green lamp fox" } else { "the fox saw the lamp" }
    };
    (0..count).map(|at| format!("{}\n", line(at))).collect()
}

/// Results in words, in which a measure that does not exist equals itself.
fn written(of: &impl std::fmt::Debug) -> String {
    format!("{of:?}")
}

fn measure(folder: &Folder, text: &str) -> Command {
    fs::write(folder.join("texts.txt"), text).expect("written");
    Command::Texts(TextsCommand::Measure(folder.join("texts.txt")))
}

#[test]
fn heads_over_texts_fill_and_are_those_of_the_command_line() {
    let folder = Folder::new("over-texts");
    let mut kernel = running(&opened(&at(WRITER)));
    let text = lines(200);
    kernel.apply(measure(&folder, &text));
    kernel.advance();
    let (file, progress) = kernel.snapshot().texts.running.expect("it is measured");
    assert_eq!((&*file, progress.of), ("texts.txt", 200));
    assert!((1..200).contains(&progress.done), "{progress:?}");
    kernel.settle();
    let kept = kernel.snapshot().texts.kept.expect("results");
    let expected = kernel.evidence().expect("a model").texts(&text, &|_, _| true).expect("texts");
    assert_eq!(written(&kept.texts.heads), written(&expected.heads));
    assert_eq!((kept.done, kept.of, kept.texts.texts), (200, 200, 200));

    kernel.apply(Command::Texts(TextsCommand::Open(5)));
    kernel.settle();
    let opened = kernel.snapshot().texts.opened.expect("a head");
    let of_head = &kept.texts.heads[5].measures;
    assert_eq!(opened.texts.len(), of_head.texts.len());
    for text in &opened.texts {
        let inner = (1..text.queries.len()).flat_map(|query| (1..text.keys.len()).map(move |key| (query, key)));
        let largest = inner.map(|(query, key)| text.weights.get(query, key)).fold(0.0, f32::max);
        assert_close(&text.line, f64::from(largest), text.ranked.largest, Tolerance::SINGLE_BITS);
    }
}

#[test]
fn texts_that_take_too_long_say_how_many_were_measured() {
    let kernel = running(&opened(&at(WRITER)));
    let evidence = kernel.evidence().expect("a model");
    let text = lines(200);
    assert!(evidence.texts_within(&text, Duration::MAX).is_ok_and(|found| found.texts == 200));
    let why = evidence.texts_within(&text, Duration::ZERO).expect_err("no time");
    let told =
        "after 0 s only 0 of 200 lines are measured; take a part of the file, or raise the limit with --within SECONDS";
    assert_eq!(why, told);
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_measured() {
    let folder = Folder::new("over-stopped");
    let mut kernel = running(&opened(&at(WRITER)));
    kernel.apply(measure(&folder, &lines(200)));
    kernel.advance();
    kernel.apply(Command::Texts(TextsCommand::Stop));
    let snapshot = kernel.snapshot();
    assert!(snapshot.texts.running.is_none());
    let kept = snapshot.texts.kept.clone().expect("what was measured");
    assert!(kept.done < kept.of && kept.texts.texts == kept.done, "{} of {}", kept.done, kept.of);
    let told = over_texts(&kernel);
    assert!(told.contains(&format!("Stopped after {} of 200 lines", kept.done)), "{told}");

    let reopened = Kernel::open(snapshot.lesson.clone(), Some(Saved::of(&snapshot)));
    let kept_by = |kernel: &Kernel| written(&kernel.snapshot().texts.kept);
    assert_eq!(kept_by(&reopened), written(&Some(kept.clone())), "before there is a model");
    let json = serde_json::to_string(&Saved::of(&snapshot)).expect("JSON");
    let read: Saved = serde_json::from_str(&json).expect("work");
    let mut reopened = Kernel::open(snapshot.lesson.clone(), Some(read));
    reopened.settle();
    assert_eq!(kept_by(&reopened), written(&Some(kept)));
    reopened.apply(Command::Texts(TextsCommand::Forget));
    assert_eq!(Saved::of(&reopened.snapshot()).texts, None);
}

#[test]
fn results_of_another_model_are_left_out() {
    let folder = Folder::new("over-other");
    let mut kernel = running(&opened(&at(WRITER)));
    kernel.apply(measure(&folder, &lines(4)));
    kernel.settle();
    let mut saved = Saved::of(&kernel.snapshot());
    let mut kept = (*saved.texts.take().expect("results")).clone();
    kept.texts.heads.pop();
    saved.texts = Some(Arc::new(kept));
    let mut reopened = Kernel::open(kernel.snapshot().lesson.clone(), Some(saved));
    reopened.settle();
    assert!(reopened.snapshot().texts.kept.is_none());
}

#[test]
fn files_that_cannot_be_measured_say_why() {
    let folder = Folder::new("over-refused");
    let mut kernel = running(&opened(&at(WRITER)));
    let mut told = |bytes: &[u8]| {
        let command = measure(&folder, "");
        fs::write(folder.join("texts.txt"), bytes).expect("written");
        kernel.apply(command);
        kernel.settle();
        let snapshot = kernel.snapshot();
        snapshot.notice.or(snapshot.texts.fault).expect("a reason").to_string()
    };
    assert_eq!(told(b"\xff\xfeh\0"), "texts.txt: the file is UTF-16 text; save it as UTF-8");
    assert!(told(b"a\xe9\n").contains("line 1 is not UTF-8"));
    assert!(told(b"a b\rc d\r\ne f\r\xe9\n").contains("line 4 is not UTF-8"), "a lone \\r ends a line");
    assert!(told(b"\n \n").contains("no sentence of two or more tokens"));
    kernel.apply(Command::Texts(TextsCommand::Measure(folder.join("none.txt"))));
    assert!(kernel.snapshot().notice.expect("a reason").contains("none.txt: the texts cannot be read"));
}

fn models(kernel: &Kernel) -> Models {
    Models::of(Arc::new(kernel.snapshot()))
}

fn over_texts(kernel: &Kernel) -> String {
    text::text(&sheet(PanelName::AllHeads, &models(kernel), &Chosen { over_texts: true, ..Chosen::default() }))
}

fn controls(items: &[Item]) -> Vec<&Control> {
    fn of_item(item: &Item) -> Vec<&Control> {
        match item {
            Item::Controls(row) => row.iter().collect(),
            Item::Details { items, .. } => controls(items),
            _ => Vec::new(),
        }
    }
    items.iter().flat_map(of_item).collect()
}

#[test]
fn the_sheet_has_the_plot_the_head_and_its_texts_and_so_do_exports() {
    let folder = Folder::new("over-sheet");
    let mut kernel = running(&opened(&at(WRITER)));
    assert!(over_texts(&kernel).contains("Choose a text file in UTF-8"));
    kernel.apply(measure(&folder, &lines(30)));
    kernel.settle();
    kernel.apply(Command::Texts(TextsCommand::Open(5)));
    kernel.settle();
    let chosen = Chosen { over_texts: true, ..Chosen::default() };
    let shown = sheet(PanelName::AllHeads, &models(&kernel), &chosen);
    let told = text::text(&shown);
    for words in [
        "texts.txt: 30 texts of",
        "layer 2, head 2",
        "Distributions over 30 texts",
        "Keys with most weight",
        "Strongest texts",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let on_stage = controls(&shown.items).into_iter().find_map(|control| match control {
        Control::Button(button) => match &button.asks {
            Ask::OpenText { text, head } => Some((text.clone(), *head)),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(on_stage, Some(("lamp fox green lamp fox green lamp fox".to_owned(), 5)));
    for control in controls(&shown.items) {
        if let Control::Button(button) = control {
            assert!(!button.hint.is_empty() && !button.spoken().is_empty(), "{button:?}");
        }
    }
    let exported = sheets(&[PanelName::AllHeads], &kernel.snapshot());
    assert!(text::text(&exported[0]).contains("texts.txt: 30 texts of"), "an export has it without a choice");
}

#[test]
fn a_translator_has_cross_attention_over_pairs_and_a_recording_says_what_it_is() {
    let folder = Folder::new("over-pairs");
    let mut kernel = running(&opened(&fixture("t5v11-wild")));
    kernel.apply(measure(&folder, "5 6 7 8 ||| 8 9 4\n9 9 5\n"));
    kernel.settle();
    let kept = kernel.snapshot().texts.kept.expect("results");
    let cross = kept.texts.heads.iter().position(|head| !head.towers.is_within()).expect("cross-attention");
    assert!(kept.texts.heads[cross].measures.measure(TextMeasure::Aligned).is_some());
    kernel.apply(Command::Texts(TextsCommand::Open(cross)));
    kernel.settle();
    let opened_head = kernel.snapshot().texts.opened.expect("a head");
    let pair = opened_head.texts.iter().find(|text| text.line.contains("|||")).expect("the pair");
    assert_eq!((pair.weights.rows(), pair.weights.cols()), (pair.queries.len(), pair.keys.len()));
    assert!(over_texts(&kernel).contains("cross-attention"));

    let mut recorded = running(&opened(&at("tests/fixtures/recordings/bert/run.safetensors")));
    recorded.apply(measure(&folder, "a b\n"));
    assert!(recorded.snapshot().notice.expect("a reason").contains("one pass, not the model"));
    assert!(over_texts(&recorded).contains("a recording holds one pass, not the model"));
}
