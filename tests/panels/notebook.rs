//! The notebook's panel over a live kernel, driven by the keyboard alone.

use attune::app::actions::Action;
use attune::app::panels::notebook::NotebookPanel;
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_engine::code::Output;
use attune_view::view_model::course::{AroundLesson, LessonsAround};
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{NOTEBOOK, SMALL, kernel};
use crate::live::PanelHarness;

const SIZE: Vec2 = Vec2::new(420.0, 700.0);

/// A notebook and the kernel behind it.
struct Bench {
    harness: PanelHarness<NotebookPanel>,
}

impl Bench {
    fn open(lesson: &str) -> Self {
        Self { harness: PanelHarness::at_60_hz(kernel(lesson), SIZE, NotebookPanel::default()) }
    }

    fn press(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.harness.run_steps(6);
    }

    fn key(&mut self, key: Key) {
        self.press(Modifiers::NONE, key);
    }

    /// Until the list has come to rest.
    fn glide(&mut self) {
        self.harness.run_steps(60);
    }

    fn typed(&mut self, text: &str) {
        for c in text.chars() {
            self.harness.event(egui::Event::Text(c.to_string()));
        }
        self.harness.run_steps(6);
    }

    fn has(&self, label: &str) -> bool {
        self.harness.query_all_by_label(label).next().is_some()
    }

    fn cells(&self) -> Vec<CellSnapshot> {
        self.harness.snapshot().notebook.cells.clone()
    }

    fn ids(&self) -> Vec<String> {
        self.cells().iter().map(|cell| cell.cell.id.to_string()).collect()
    }

    fn outputs(&self, id: &str) -> Vec<Output> {
        let cells = self.cells();
        let cell = cells.iter().find(|cell| *cell.cell.id == *id).unwrap_or_else(|| panic!("no cell {id}"));
        cell.run.as_ref().map(|run| run.outputs.to_vec()).unwrap_or_default()
    }
}

fn bench() -> Bench {
    Bench::open(NOTEBOOK)
}

#[test]
fn a_wrong_answer_is_shown_with_its_own_reason() {
    let reasons = r#"choices: ["one", "two"], reasons: ["One head too few.", "Two heads."],"#;
    let mut bench = Bench::open(&NOTEBOOK.replace(r#"choices: ["one", "two"],"#, reasons));
    bench.harness.apply(Command::Notebook(NotebookCommand::Cell("guess".into(), CellCommand::Choose(0))));
    bench.go_to("guess");
    assert!(!bench.has("One head too few."), "before the answer");
    bench.harness.apply(Command::Notebook(NotebookCommand::Cell("guess".into(), CellCommand::Reveal)));
    bench.glide();
    assert!(bench.has("One head too few.") && !bench.has("Two heads."));
}

#[test]
fn cells_are_selected_run_and_left_by_keys() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::J);
    bench.press(Modifiers::COMMAND, Key::Enter);
    assert_eq!(bench.outputs("double"), [Output::Number(4.0)]);
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.press(Modifiers::SHIFT, Key::Enter);
    assert_eq!(bench.outputs("uses"), [Output::Number(2.0)]);
    // Writing: the keys are letters now.
    bench.key(Key::K);
    bench.key(Key::Enter);
    bench.typed("dd + 1");
    bench.key(Key::Escape);
    let written = bench.cells()[3].cell.text.to_string();
    assert!(written.contains("dd + 1"), "{written}");
}

#[test]
fn cells_are_inserted_deleted_and_brought_back_by_keys() {
    let mut bench = bench();
    let lesson = bench.ids();
    bench.key(Key::ArrowDown);
    bench.key(Key::B);
    assert_eq!(bench.ids()[1], "own 1");
    bench.key(Key::Enter);
    bench.typed("6 * 7");
    bench.press(Modifiers::COMMAND, Key::Enter);
    assert_eq!(bench.outputs("own 1"), [Output::Number(42.0)]);
    bench.key(Key::Escape);
    bench.key(Key::D);
    bench.key(Key::D);
    assert_eq!(bench.ids(), lesson);
    bench.key(Key::Z);
    assert_eq!(bench.ids()[1], "own 1");
}

#[test]
fn a_run_button_runs_its_cell() {
    let mut bench = bench();
    bench.harness.get_by_label("Run cell double").click();
    bench.harness.run_steps(4);
    assert_eq!(bench.outputs("double"), [Output::Number(4.0)]);
    assert!(bench.has("[1]"));
}

#[test]
fn a_lesson_ends_at_its_closed_gate() {
    let mut bench = bench();
    let weights = bench.harness.snapshot().model.expect("a model").parameters;
    for _ in 0..30 {
        bench.key(Key::ArrowDown);
    }
    bench.glide();
    let after = bench.harness.snapshot().model.expect("a model").parameters;
    assert_eq!(weights, after, "looking at a slider turns nothing");
    assert!(!bench.has("Done."));
    assert!(bench.has("First the task"));
    bench.harness.get_by_label("Go on anyway: gate").click();
    bench.harness.run_steps(6);
    for _ in 0..3 {
        bench.key(Key::ArrowDown);
    }
    bench.glide();
    assert!(bench.has("Done."));
}

/// Only what is in sight is laid out.
#[test]
fn a_thousand_cells_are_as_few_widgets_as_ten() {
    let lesson = |count: usize| {
        let start = SMALL.find("    cells: [").expect("cells");
        let end = SMALL.find("    claims:").expect("claims");
        let cells: String = (0..count).map(|i| format!("Code(id: \"c{i}\", src: \"{i}\"),\n")).collect();
        format!("{}    cells: [{cells}],\n{}", &SMALL[..start], &SMALL[end..])
    };
    let widgets = |count: usize| {
        let bench = Bench::open(&lesson(count));
        let shown = (0..count).filter(|i| bench.has(&format!("Code of cell c{i}"))).count();
        (shown, bench.has("Code of cell c0"))
    };
    let (few, _) = widgets(30);
    let (many, first) = widgets(1000);
    assert!(first && many <= few, "{many} of a thousand cells are laid out, {few} of thirty");
}

#[test]
fn undo_of_a_cells_text_shows_in_its_editor() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::J);
    bench.key(Key::Enter);
    bench.typed("1");
    bench.key(Key::Escape);
    let written = bench.cells()[1].cell.text.clone();
    bench.key(Key::Z);
    assert_ne!(bench.cells()[1].cell.text, written);
    bench.harness.apply(Command::Redo);
    bench.harness.run_steps(4);
    assert_eq!(bench.cells()[1].cell.text, written);
}

#[test]
fn an_example_of_the_reference_becomes_a_cell() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::F);
    bench.glide();
    bench.harness.get_by_label("Insert the example of matrix").click();
    bench.glide();
    assert_eq!(bench.ids()[1], "own 1");
    assert_eq!(&*bench.cells()[1].cell.text, "matrix([[1, 2], [3, 4]])");
}

/// As in JupyterLab: out of a text's end into the code beside it; anything else is selected.
#[test]
fn arrows_lead_from_one_code_cell_to_the_next() {
    let mut bench = bench();
    let text = |bench: &Bench, id: &str| {
        bench.cells().iter().find(|cell| *cell.cell.id == *id).map(|cell| cell.cell.text.to_string()).unwrap()
    };
    for _ in 0..4 {
        bench.key(Key::ArrowDown);
    }
    bench.key(Key::Enter);
    let (uses, reads) = (text(&bench, "uses"), text(&bench, "reads"));
    bench.key(Key::ArrowDown);
    bench.typed("1;");
    assert_eq!(text(&bench, "reads"), format!("1;{reads}"), "written at the start of the cell below");
    bench.key(Key::ArrowUp);
    bench.key(Key::ArrowUp);
    bench.typed("2;");
    assert_eq!(text(&bench, "uses"), format!("2;{uses}"), "and at the last line of the one above");
    bench.key(Key::ArrowUp);
    bench.key(Key::ArrowUp);
    // A slider is selected, not written in: letters are commands.
    bench.key(Key::B);
    assert_eq!(text(&bench, "uses"), format!("2;{uses}"));
    assert_eq!(bench.ids()[3], "own 1");
}

#[test]
fn at_the_ends_of_the_notebook_arrows_stay_in_the_text() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::F2);
    assert!(bench.has("Markdown of cell intro"));
    for _ in 0..5 {
        bench.key(Key::ArrowUp);
    }
    bench.typed("!");
    assert!(bench.cells()[0].cell.text.starts_with('!'));
    bench.key(Key::Escape);
    assert!(!bench.has("Markdown of cell intro"));
}

#[test]
fn a_text_is_split_and_undone_by_keys() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::F2);
    bench.key(Key::ArrowUp);
    for _ in 0..4 {
        bench.key(Key::ArrowUp);
    }
    bench.key(Key::ArrowDown);
    bench.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Minus);
    let cells = bench.cells();
    assert_eq!(cells[0].cell.text.trim(), "# Sinking and swimming");
    assert!(cells[1].cell.is_text());
    bench.key(Key::Z);
    assert_eq!(bench.ids()[1], "double");
    bench.key(Key::F2);
    bench.typed("?");
    bench.key(Key::Escape);
    assert!(bench.cells()[0].cell.text.contains('?'), "{}", bench.cells()[0].cell.text);
}

#[test]
fn a_whole_lesson_is_walked_by_keys_alone() {
    let mut bench = bench();
    let answer = |bench: &Bench, id: &str| {
        let cells = bench.cells();
        let cell = cells.iter().find(|cell| *cell.cell.id == *id).expect("the cell");
        (cell.cell.answer.clone(), cell.cell.is_done())
    };
    bench.key(Key::ArrowDown);
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.press(Modifiers::SHIFT, Key::Enter);
    // The slider `turn`, from 1: two coarse steps of its fortieth, back by one.
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowLeft] {
        bench.key(key);
    }
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.press(Modifiers::SHIFT, Key::Enter);
    assert_eq!(bench.outputs("uses"), [Output::Number(2.5)]);
    // reads, writes, broken, curve, sharp, weight
    for _ in 0..6 {
        bench.press(Modifiers::SHIFT, Key::Enter);
    }
    bench.key(Key::ArrowRight);
    let mask = bench.harness.snapshot().model.and_then(|model| model.interventions.mask.clone());
    assert!(mask.is_some(), "no word sees those after it");
    bench.press(Modifiers::SHIFT, Key::Enter);
    // The stage is set, and the next cell is the prediction.
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.key(Key::Enter);
    assert!(!answer(&bench, "guess").1, "there is nothing to lock in yet");
    bench.key(Key::Num2);
    assert_eq!(answer(&bench, "guess").0, Answer::Predict { chosen: Some(1), is_locked: false });
    bench.key(Key::Enter);
    assert_eq!(answer(&bench, "guess").0, Answer::Predict { chosen: Some(1), is_locked: true });
    bench.key(Key::Num1);
    assert_eq!(answer(&bench, "guess").0, Answer::Predict { chosen: Some(1), is_locked: true });
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.key(Key::H);
    bench.glide();
    assert!(bench.has("Add them.") && !bench.has("Divide by two."));
    bench.key(Key::Enter);
    bench.press(Modifiers::COMMAND, Key::A);
    bench.typed("fn middle(a, b) { (a + b) / 2 }");
    bench.press(Modifiers::COMMAND, Key::Enter);
    bench.key(Key::Escape);
    assert!(answer(&bench, "middle").1);
    for _ in 0..3 {
        bench.key(Key::ArrowDown);
    }
    bench.glide();
    assert!(bench.has("Done."));
}

/// The learner checks, and goes on writing: a second click meets the editor, and nothing has moved away.
#[test]
fn a_check_says_what_it_finds_without_moving_what_is_written() {
    let mut bench = bench();
    let at = bench.ids().iter().position(|id| id == "middle").expect("the exercise");
    for _ in 0..=at {
        bench.key(Key::ArrowDown);
    }
    bench.glide();
    let place = |bench: &Bench, label: &str| bench.harness.get_by_label(label).rect();
    let labels = ["Code of cell middle", "Check: middle"];
    let before = labels.map(|label| place(&bench, label));
    bench.harness.get_by_label("Check: middle").click();
    bench.glide();
    assert!(bench.has("✗  Not yet. Case 1 of 2 differs."));
    assert_eq!(labels.map(|label| place(&bench, label)), before);
}

#[test]
fn a_deletion_is_said_and_undone_by_its_button() {
    let mut bench = bench();
    let lesson = bench.ids();
    bench.key(Key::ArrowDown);
    assert!(!bench.has("Cell deleted"));
    bench.key(Key::D);
    bench.key(Key::D);
    assert_eq!(bench.ids().len(), lesson.len() - 1);
    assert!(bench.has("Cell deleted"));
    bench.harness.get_by_label("Undo (Ctrl+Z)").click();
    bench.harness.run_steps(6);
    assert_eq!(bench.ids(), lesson);
    assert!(!bench.has("Cell deleted"));
}

/// *Check* takes the keyboard from the editor for the click alone: what is typed on is written.
#[test]
fn an_editor_has_the_keyboard_again_after_its_check() {
    let mut bench = bench();
    let at = bench.ids().iter().position(|id| id == "middle").expect("the exercise");
    for _ in 0..=at {
        bench.key(Key::ArrowDown);
    }
    bench.key(Key::Enter);
    bench.press(Modifiers::COMMAND, Key::A);
    bench.typed("fn middle(a, b) { b }");
    bench.harness.get_by_label("Check: middle").click();
    bench.glide();
    bench.press(Modifiers::COMMAND, Key::A);
    bench.typed("fn middle(a, b) { (a + b) / 2 }");
    assert_eq!(&*bench.cells()[at].cell.text, "fn middle(a, b) { (a + b) / 2 }");
}

/// The outline opens on a lesson with a gate: what is behind it is listed, and cannot be gone to yet.
#[test]
fn the_outline_lists_sections_and_tasks() {
    let mut bench = bench();
    bench.harness.get_by_label("Outline").click();
    bench.harness.run_steps(6);
    assert!(bench.has("Exercise: The middle of two vectors, as a function.: task, open"));
}

#[test]
fn the_last_cell_leads_to_the_next_lesson() {
    let mut bench = Bench::open(SMALL);
    let lesson = |name: &str| Some(AroundLesson { path: format!("{name}.ron").into(), title: name.to_owned() });
    bench.harness.set_around(LessonsAround { before: lesson("first"), after: lesson("third") });
    bench.glide();
    for _ in 0..=bench.ids().len() {
        bench.key(Key::ArrowDown);
    }
    bench.glide();
    bench.key(Key::Enter);
    let opened = bench.harness.take_actions();
    assert_eq!(opened, [Action::open("third.ron")]);
    bench.harness.get_by_label("Previous lesson: first").click();
    bench.harness.run_steps(6);
    assert_eq!(bench.harness.take_actions(), [Action::open("first.ron")]);
}

/// Several keys come in one frame when frames are slow.
#[test]
fn keys_of_one_frame_all_count() {
    let mut bench = bench();
    let guess = bench.ids().iter().position(|id| id == "guess").expect("the prediction");
    let tap = |key| {
        [true, false].map(|pressed| egui::Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        })
    };
    let mut in_one_frame = |keys: &[Key]| {
        bench.harness.input_mut().events.extend(keys.iter().copied().flat_map(tap));
        bench.harness.run_steps(6);
        bench.cells()[guess].cell.answer.clone()
    };
    // From no cell to the first, and on.
    in_one_frame(&vec![Key::ArrowDown; guess + 1]);
    let answer = in_one_frame(&[Key::Num2, Key::Enter]);
    assert_eq!(answer, Answer::Predict { chosen: Some(1), is_locked: true });
}

#[test]
fn a_text_too_long_to_keep_says_so_and_is_not_run() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::J);
    bench.key(Key::Enter);
    bench.press(Modifiers::COMMAND, Key::A);
    bench.harness.event(egui::Event::Paste(format!("7 // {}", "x".repeat(100_000))));
    bench.harness.run_steps(6);
    assert!(bench.harness.query_by_label_contains("This text is not kept").is_some());
    bench.press(Modifiers::COMMAND, Key::Enter);
    assert_eq!(bench.outputs("double"), []);
    bench.press(Modifiers::COMMAND, Key::A);
    bench.harness.event(egui::Event::Paste("7".to_owned()));
    bench.harness.run_steps(6);
    assert!(bench.harness.query_by_label_contains("This text is not kept").is_none());
    bench.press(Modifiers::COMMAND, Key::Enter);
    assert_eq!(bench.outputs("double"), [Output::Number(7.0)]);
}

#[test]
fn keys_that_come_in_one_frame_all_count() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    for _ in 0..2 {
        bench.harness.key_press(Key::J);
    }
    bench.harness.run_steps(6);
    // The third cell is a slider; a key of its own turns it.
    bench.key(Key::ArrowRight);
    let turned = bench.cells().iter().find(|cell| *cell.cell.id == *"turn").map(|cell| cell.cell.answer.clone());
    assert_eq!(turned, Some(Answer::Slider(1.25)));
    bench.key(Key::B);
    assert_eq!(bench.ids()[3], "own 1");
    bench.harness.key_press(Key::D);
    bench.harness.key_press(Key::D);
    bench.harness.run_steps(6);
    assert_ne!(bench.ids()[3], "own 1");
}

#[test]
fn where_the_selected_cell_is_gone_its_neighbour_is_selected() {
    let mut bench = bench();
    let lesson = bench.ids();
    bench.key(Key::ArrowDown);
    bench.key(Key::B);
    bench.press(Modifiers::COMMAND, Key::Enter);
    bench.key(Key::Z);
    assert_eq!(bench.ids(), lesson);
    bench.key(Key::B);
    assert_eq!(bench.ids()[2], "own 1", "below the cell that stands there now");
}

#[test]
fn the_functions_are_searched_at_once_and_left_by_esc() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    let cells = bench.ids();
    bench.key(Key::F);
    bench.typed("softmax");
    assert_eq!(bench.ids(), cells);
    assert!(bench.harness.query_by_label("softmax(S)").is_some());
    bench.key(Key::Escape);
    assert!(bench.harness.query_by_label("softmax(S)").is_none());
}

impl Bench {
    /// Selects a cell of the lesson by keys.
    fn go_to(&mut self, id: &str) {
        let at = self.ids().iter().position(|other| other == id).expect("a cell");
        for _ in 0..=at {
            self.key(Key::ArrowDown);
        }
        self.glide();
        assert_eq!(self.selected().as_deref(), Some(id));
    }

    fn selected(&self) -> Option<String> {
        self.harness.panel().selected_cell().map(str::to_owned)
    }

    fn place(&self, label: &str) -> egui::Rect {
        self.harness.get_by_label(label).rect()
    }

    /// Whether all of it is between the edges of the list, below the toolbar.
    fn is_in_sight(&self, label: &str) -> bool {
        let list = egui::Rect::from_min_max(egui::pos2(0.0, self.place("Outline").bottom()), SIZE.to_pos2());
        list.contains_rect(self.place(label))
    }

    /// Writes an answer to the selected exercise.
    fn answer(&mut self, answer: &str) {
        self.key(Key::Enter);
        self.press(Modifiers::COMMAND, Key::A);
        self.typed(answer);
    }
}

#[test]
fn shift_enter_shows_what_is_wrong_and_goes_on_from_what_is_right() {
    let mut bench = bench();
    bench.go_to("middle");
    bench.answer("fn middle(a, b) { a }");
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.glide();
    assert_eq!(bench.selected().as_deref(), Some("middle"));
    assert!(bench.is_in_sight("✗  Not yet. Case 1 of 2 differs.") && bench.is_in_sight("This is the first one."));
    // The keyboard is still in the answer.
    bench.press(Modifiers::COMMAND, Key::A);
    bench.typed("fn middle(a, b) { (a + b) / 2 }");
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.glide();
    assert_ne!(bench.selected().as_deref(), Some("middle"));
    assert!(bench.is_in_sight("✓  Right."));
}

#[test]
fn shift_enter_goes_on_from_a_right_prediction_alone() {
    for (choice, is_right) in [(Key::Num2, true), (Key::Num1, false)] {
        let mut bench = bench();
        bench.go_to("guess");
        bench.key(choice);
        bench.press(Modifiers::SHIFT, Key::Enter);
        bench.glide();
        assert_eq!(bench.selected().as_deref() != Some("guess"), is_right);
        let said = if is_right { "The model agrees." } else { "The model says otherwise." };
        assert!(bench.is_in_sight(said), "{said}");
        bench.press(Modifiers::SHIFT, Key::Enter);
        assert_ne!(bench.selected().as_deref(), Some("guess"), "what is locked is gone past");
    }
}

#[test]
fn what_is_clicked_keeps_its_place() {
    let mut bench = bench();
    bench.go_to("middle");
    for label in ["Hint: middle", "Hint: middle", "Solution: middle", "Check: middle"] {
        let before = bench.place(label);
        bench.harness.get_by_label(label).click();
        bench.glide();
        assert_eq!(bench.place(label), before, "{label}");
    }
    assert!(bench.has("Divide by two.") && bench.has("✗  Not yet. Case 1 of 2 differs."));
}

#[test]
fn what_is_clicked_keeps_its_place_when_the_cells_above_grow() {
    let mut bench = bench();
    bench.go_to("reads");
    let before = bench.place("Code of cell reads");
    bench.harness.get_by_label("Run cell reads").click();
    bench.harness.run_steps(1);
    // As if the click had done it.
    let command = CellCommand::SetText("1;\n2;\n3;\n4;\n5;".into());
    bench.harness.apply(Command::Notebook(NotebookCommand::Cell("double".into(), command)));
    bench.glide();
    assert_eq!(bench.place("Code of cell reads").top(), before.top());
}

#[test]
fn letters_are_commands_only_of_a_cell_that_keys_led_to() {
    let mut bench = bench();
    let lesson = bench.ids();
    bench.harness.get_by_label("Run cell double").click();
    bench.harness.run_steps(6);
    for letter in [Key::A, Key::B, Key::M, Key::O, Key::D, Key::D] {
        bench.key(letter);
    }
    assert_eq!(bench.ids(), lesson);
    assert!(!bench.cells()[1].cell.is_folded && !bench.cells()[1].cell.is_text());
    assert!(bench.has("Press Enter to write, or Esc to use the keys of the notebook"));
    bench.key(Key::Escape);
    bench.key(Key::B);
    assert_eq!(bench.ids().len(), lesson.len() + 1);
}

#[test]
fn enter_reads_on_from_a_text_of_the_lesson() {
    let mut bench = bench();
    bench.key(Key::ArrowDown);
    bench.key(Key::Enter);
    assert_eq!(bench.selected().as_deref(), Some("double"));
    assert!(!bench.has("Markdown of cell intro"));
}

#[test]
fn the_check_is_shown_when_nothing_is_left_to_find() {
    let check = "norm(middle(a, b) - (a + b) / 2) < 0.000001";
    let mut bench = bench();
    bench.go_to("middle");
    bench.harness.get_by_label("Check: middle").click();
    bench.glide();
    assert!(!bench.has(check), "it has the solution in it");
    bench.harness.get_by_label("Solution: middle").click();
    bench.glide();
    assert!(bench.has(check));
}

#[test]
fn the_outline_leads_to_the_upper_edge() {
    let sections =
        (0..30).map(|i| format!("Text(id: \"s{i}\", md: \"# Section {i}\\n\\nA line.\"),")).collect::<String>();
    let mut bench = Bench::open(&SMALL.replacen("cells: [", &format!("cells: [{sections}"), 1));
    bench.harness.get_by_label("Outline").click();
    bench.harness.run_steps(6);
    bench.harness.get_by_label("Section 9: section").click();
    bench.glide();
    let gap = bench.place("Section 9").top() - bench.place("Outline").bottom();
    assert!((0.0..60.0).contains(&gap), "{gap}");
}

/// A prediction is about the sentence of the last Stage cell above it, whichever is on the stage.
#[test]
fn a_prediction_brings_its_sentence_to_the_stage() {
    let mut bench = bench();
    bench.harness.apply(Command::Sentence(SentenceCommand::Select(1)));
    let guess = bench.ids().iter().position(|id| id == "guess").expect("it is there");
    (0..=guess).for_each(|_| bench.key(Key::ArrowDown));
    bench.key(Key::Num2);
    bench.key(Key::Enter);
    let model = bench.harness.snapshot().model.expect("a model");
    assert_eq!(model.sentence.index, Some(0));
    assert_eq!(bench.cells()[guess].cell.answer, Answer::Predict { chosen: Some(1), is_locked: true });
}
