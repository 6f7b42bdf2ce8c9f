//! Typing in a code cell of 200 lines while training runs on the kernel's thread: times frames with and without a key,
//! and checks that every key appears in the text in its own frame.
//!
//!     cargo bench --profile dev --bench typing

mod clock;
mod frames;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Snapshot, Worker};
use attune_core::lesson::cells::{Cell, CellKind};
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::stage::StageModel;
use attune_view::view_model::tensors::WeightsModel;
use attune_view::view_model::training::TrainingModel;
use attune_view::view_model::what_if::WhatIfModel;
use clock::{tell, timed};
use egui::{Event, Key, Modifiers};
use frames::Panel;

const LINES: usize = 200;
const FRAMES: usize = 1200;
/// The number of frames for each key, which gives 20 keys a second.
const FRAMES_PER_KEY: usize = 3;
const FRAME: Duration = Duration::from_millis(16);
/// The number of keys between openings of the completion list, which stays open for the next few letters.
const KEYS_PER_OFFER: usize = 20;
const TYPED: &str = "let sums = soft + A ";
const LONGEST: Duration = Duration::from_secs(30);

fn key(key: Key, modifiers: Modifiers) -> Event {
    Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
}

/// Builds everything that the window derives from a snapshot.
fn models(snapshot: &Snapshot, before: Option<&NotebookModel>) -> NotebookModel {
    let notebook = NotebookModel::of(snapshot, before);
    std::hint::black_box((StageModel::of(snapshot), AttentionMaps::of(snapshot), WhatIfModel::of(snapshot)));
    std::hint::black_box((WeightsModel::of(snapshot), TrainingModel::of(snapshot)));
    notebook
}

fn main() {
    let source: String =
        (0..LINES).map(|i| format!("let a{i} = softmax(Q[0] @ K[0].T / sqrt(4.0 + {i}.0)); // line {i}\n")).collect();
    let mut lesson = attune_core::lesson::read(Path::new("lessons/apple.ron")).expect("the lesson is valid");
    lesson.model.schedule.steps = 5_000_000;
    lesson.cells.insert(
        0,
        Cell {
            id: "long".to_owned(),
            kind: CellKind::Code { source: source.clone(), fails: false, asserts: String::new() },
            opens: Vec::new(),
        },
    );
    let worker = Worker::spawn(Arc::new(lesson), || {});
    worker.send(Command::Training(TrainingCommand::Play));
    let begun = Instant::now();
    while worker.latest().model.as_ref().is_none_or(|model| model.training.progress.done == 0) {
        assert!(begun.elapsed() < LONGEST, "it does not train");
        std::thread::sleep(FRAME);
    }

    let mut panel = Panel::new();
    let mut shown = worker.latest();
    let mut model = models(&shown, None);
    panel.settle(&model);
    for press in [key(Key::ArrowDown, Modifiers::NONE), key(Key::Enter, Modifiers::NONE)] {
        panel.frame(&model, vec![press]);
        panel.settle(&model);
    }

    let (mut idle, mut keys, mut offered, mut rebuilt) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut letters = TYPED.chars().cycle();
    let (mut expected, mut count) = (source, 0);
    let steps = |snapshot: &Snapshot| snapshot.model.as_ref().map_or(0, |model| model.training.progress.done);
    let begun = steps(&shown);
    for i in 0..FRAMES {
        let frame = Instant::now();
        let latest = worker.latest();
        if !Arc::ptr_eq(&latest, &shown) {
            model = timed(&mut rebuilt, || models(&latest, Some(&model)));
            shown = latest;
        }
        if i % FRAMES_PER_KEY != 0 {
            let commands = timed(&mut idle, || panel.frame(&model, Vec::new()));
            commands.into_iter().for_each(|command| worker.send(command));
        } else {
            if count % KEYS_PER_OFFER == KEYS_PER_OFFER / 2 {
                panel.frame(&model, vec![key(Key::Space, Modifiers::CTRL)]);
            }
            let letter = letters.next().unwrap_or(' ');
            expected.push(letter);
            count += 1;
            let is_offering =
                count % KEYS_PER_OFFER > KEYS_PER_OFFER / 2 && count % KEYS_PER_OFFER < KEYS_PER_OFFER - 4;
            let times = if is_offering { &mut offered } else { &mut keys };
            let commands = timed(times, || panel.frame(&model, vec![Event::Text(letter.to_string())]));
            let told = commands.iter().any(|command| {
                let Command::Notebook(NotebookCommand::Cell(_, CellCommand::SetText(text))) = command else {
                    return false;
                };
                **text == *expected
            });
            assert!(told, "key {count} is in the text in its own frame");
            commands.into_iter().for_each(|command| worker.send(command));
        }
        std::thread::sleep(FRAME.saturating_sub(frame.elapsed()));
    }
    let trained = steps(&worker.latest()) - begun;
    let begun = Instant::now();
    while *worker.latest().notebook.cells[0].cell.text != *expected {
        assert!(begun.elapsed() < LONGEST, "a key was lost");
        std::thread::sleep(FRAME);
    }
    println!("{count} keys typed, none lost or late, during {trained} steps and {} snapshots", rebuilt.len());
    tell("frame without a key", idle);
    tell("frame with a key", keys);
    tell("frame with a key while names are offered", offered);
    tell("snapshot to the models of all panels", rebuilt);
}
