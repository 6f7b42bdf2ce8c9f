//! The Intervene panel by its labels.

use attune::app::panels::intervene::IntervenePanel;
use attune_core::kernel::Command;
use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::evidence::AskedAnswer;
use attune_core::kernel::sentence_pass::interventions::GAIN_MAX;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Patch;
use attune_view::view_model::answers::AnswerShifts;
use attune_view::view_model::what_if::WhatIfModel;
use egui::{Event, Key, PointerButton, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{form, formed, kernel, small};
use crate::live::PanelHarness;
use crate::pointer::{button, click};

const SIZE: Vec2 = Vec2::new(420.0, 900.0);
/// The box that shows mean, uniform, frozen and gain.
const ALL_SETTINGS: &str = "all settings of a head";

#[test]
fn every_intervention_is_a_control() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    click(&mut panel, ALL_SETTINGS);
    for label in ["Head 1 uniform", "Head 2 off", "Head 1 solo", "Mask: causal", "Mask: only itself"] {
        click(&mut panel, label);
    }
    click(&mut panel, "divide by √d_k");
    click(&mut panel, "Reset scale");
    click(&mut panel, "Mask: lesson's");
    click(&mut panel, "Head 2 frozen");
    click(&mut panel, "Reset all");
    let commands = panel.commands();
    assert_eq!(
        commands[..3],
        [
            Command::Interventions(InterventionCommand::SetHead { head: 0, mode: HeadMode::Uniform }),
            Command::Interventions(InterventionCommand::SetHead { head: 1, mode: HeadMode::Off }),
            Command::Interventions(InterventionCommand::Solo(None)),
        ],
        "a head that is alone already is alone no more"
    );
    assert!(
        matches!(
            &commands[3..5],
            [
                Command::Interventions(InterventionCommand::SetMask(Some(_))),
                Command::Interventions(InterventionCommand::SetMask(Some(_)))
            ]
        ),
        "{commands:?}"
    );
    let rest = [
        Command::Interventions(InterventionCommand::SetScale(Some(false))),
        Command::Interventions(InterventionCommand::SetScale(None)),
        Command::Interventions(InterventionCommand::ResetMask),
    ];
    assert_eq!(commands[5..8], rest);
    let frozen = Command::Interventions(InterventionCommand::SetHead { head: 1, mode: HeadMode::Frozen(None) });
    assert_eq!(commands[8..], [frozen, Command::Interventions(InterventionCommand::Reset)]);
    assert!(panel.query_by_label("Reset all").is_none(), "nothing is left to reset");
}

#[test]
fn a_stroke_over_the_mask_is_one_change_and_one_undo() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    let before = panel.snapshot().history.undo;
    let grid = panel.get_by_label("Mask: which word sees which").rect();
    let cell = grid.width() / 7.0;
    let at = |row: f32, col: f32| grid.min + Vec2::new((col + 0.5) * cell, (row + 0.5) * cell);
    panel.event(Event::PointerMoved(at(2.0, 1.0)));
    panel.run_steps(1);
    button(&mut panel, at(2.0, 1.0), PointerButton::Primary, true);
    // So fast that it leaps over two cells.
    for col in [2.0, 5.0] {
        panel.event(Event::PointerMoved(at(2.0, col)));
        panel.run_steps(1);
    }
    assert_eq!(panel.commands(), [], "nothing is given while it is painted");
    button(&mut panel, at(2.0, 5.0), PointerButton::Primary, false);
    panel.run_steps(3);
    assert_eq!(panel.commands().len(), 1, "{:?}", panel.commands());
    let hidden = |panel: &PanelHarness<IntervenePanel>| -> Vec<usize> {
        let mask = &panel.model::<WhatIfModel>().mask;
        mask.now.iter().enumerate().filter(|(_, sees)| !**sees).map(|(at, _)| at).collect()
    };
    assert_eq!(hidden(&panel), [15, 16, 17, 18, 19], "row 2, columns 1 to 5");
    panel.apply(Command::Undo);
    assert_eq!((hidden(&panel), panel.snapshot().history.undo), (vec![], before));
}

#[test]
fn the_changes_are_told_with_the_unchanged_beside_them() {
    let mut kernel = small();
    kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.1))));
    let mut panel = PanelHarness::new(kernel, SIZE, IntervenePanel::default());
    assert!(panel.query_by_label_contains("The temperature is 0.1 instead of 1.").is_some());
    assert!(panel.query_by_label_contains(" moved most, by ").is_some());
    panel.get_all_by_label("seal").next().expect("the word").click();
    panel.run_steps(3);
    assert_eq!(panel.view().selection.query, Some(1));
    assert!(panel.query_by_label_contains(" moved by ").is_some());
    click(&mut panel, "Reset temperature");
    assert!(panel.query_by_label_contains("Change a setting").is_some());
}

fn set(head: usize, mode: HeadMode<f32>) -> Command {
    Command::Interventions(InterventionCommand::SetHead { head, mode })
}

#[test]
fn a_head_is_taken_out_of_the_sum_or_left_alone_in_it() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    let enabled = |panel: &PanelHarness<IntervenePanel>| {
        let model = panel.snapshot().model.expect("a model");
        [0, 1].map(|head| model.is_enabled(head))
    };
    click(&mut panel, "Head 2 off");
    assert_eq!(enabled(&panel), [true, false]);
    click(&mut panel, "Head 2 live");
    assert_eq!(enabled(&panel), [true, true]);
    click(&mut panel, "Head 1 solo");
    assert_eq!(enabled(&panel), [true, false]);
    let alone = Command::Interventions(InterventionCommand::Solo(Some(0)));
    assert_eq!(panel.commands(), [set(1, HeadMode::Off), set(1, HeadMode::Live), alone]);
}

#[test]
fn a_head_is_followed_from_its_name_and_counts_as_often_as_its_gain_says() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    click(&mut panel, "Follow head 2");
    assert_eq!(panel.view().selection.head, 1);
    click(&mut panel, ALL_SETTINGS);
    // A slider's middle: half of the largest gain.
    click(&mut panel, "Gain of head 1");
    let commands = panel.commands();
    let Some(Command::Interventions(InterventionCommand::SetHead { head: 0, mode: HeadMode::Gain(gain) })) =
        commands.last()
    else {
        panic!("no gain among {commands:?}")
    };
    assert!((GAIN_MAX / 2.0 - 0.1..GAIN_MAX / 2.0 + 0.1).contains(gain), "{gain}");
}

#[test]
fn an_edge_is_taken_out_and_put_back_by_its_box() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    panel.get_all_by_label("seal").next().expect("the word").click();
    panel.run_steps(3);
    let tokens = panel.snapshot().model.expect("a model").sentence.tokens.clone();
    let name = format!("Head 1: {} looks at {}", tokens[1].text, tokens[2].text);
    let edges =
        |panel: &PanelHarness<IntervenePanel>| panel.snapshot().model.expect("a model").interventions.edges.len();
    panel.view_mut().selection.choose_head(0);
    panel.run_steps(3);
    click(&mut panel, &name);
    assert_eq!(edges(&panel), 1);
    assert!(panel.query_by_label_contains("no longer looks at").is_some());
    click(&mut panel, &name);
    assert_eq!(edges(&panel), 0);
}

#[test]
fn a_vector_of_the_second_sentence_is_put_in_and_taken_out() {
    let mut kernel = small();
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    assert!(panel.query_by_label_contains("Patching needs a second sentence").is_some());
    let first = kernel.snapshot().model.expect("a model").sentence;
    let words: Vec<String> = first.tokens.iter().rev().map(|token| token.text.clone()).collect();
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(words.join(" ")))));
    panel = PanelHarness::new(kernel, SIZE, IntervenePanel::default());
    panel.view_mut().selection.choose_query(Some(1));
    panel.run_steps(3);
    click(&mut panel, "Patch");
    // Until another one is chosen, that of the same word.
    let from = words.iter().position(|word| *word == first.tokens[1].text).expect("it is there too");
    assert_ne!(from, 0);
    let place = Patch { block: 0, position: 1, from, vector: None };
    assert_eq!(panel.take_commands(), [Command::Interventions(InterventionCommand::SetPatch(Some(place)))]);
    assert!(panel.query_by_label_contains("in the second sentence, as it was when you copied it").is_some());
    click(&mut panel, "Remove patch");
    assert!(panel.snapshot().model.expect("a model").interventions.patch.is_none());
}

#[test]
fn a_head_has_its_mean_and_answers_are_said() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    panel.view_mut().selection.choose_query(Some(1));
    panel.run_steps(3);
    assert!(panel.query_by_label("Head 1 mean").is_none(), "first lessons need live, off and solo");
    click(&mut panel, ALL_SETTINGS);
    click(&mut panel, "Head 1 mean");
    let set = InterventionCommand::SetHead { head: 0, mode: HeadMode::Mean };
    assert_eq!(panel.take_commands(), [Command::Interventions(set)]);
    click(&mut panel, ALL_SETTINGS);
    assert!(panel.query_by_label("Head 1 mean").is_some(), "a setting that is in use stays in sight");
    click(&mut panel, "Head 2 off");
    let shifts = AnswerShifts::of(&panel.snapshot(), Some(1)).expect("answers");
    for shift in shifts.gained.iter().chain(&shifts.lost) {
        assert!(panel.query_all_by_label(&shift.name).count() > 0, "{}", shift.name);
        let numbers = format!("{:.3} → {:.3}", shift.before, shift.now);
        assert!(panel.query_all_by_label(&numbers).count() > 0, "{numbers}");
    }
    assert!(!shifts.gained.is_empty(), "{shifts:?}");
}

/// A layer is one change, and one undo.
#[test]
fn all_heads_of_a_layer_are_switched_at_once() {
    let mut panel = PanelHarness::new(kernel(&formed("layers: 2")), SIZE, IntervenePanel::default());
    let off = |panel: &PanelHarness<IntervenePanel>| {
        let model = panel.snapshot().model.expect("a model");
        [0, 1, 2, 3].map(|head| !model.is_enabled(head))
    };
    click(&mut panel, "Layer 2: all 2 heads");
    assert_eq!(off(&panel), [false, false, true, true]);
    click(&mut panel, "Layer 2: all 2 heads");
    assert_eq!(off(&panel), [false; 4]);
    click(&mut panel, "Layer 1: all 2 heads");
    panel.apply(Command::Undo);
    assert_eq!(off(&panel), [false; 4]);
}

#[test]
fn a_button_starts_the_maps_and_a_cell_makes_its_change() {
    let mut panel = PanelHarness::new(kernel(&formed("layers: 2")), SIZE, IntervenePanel::default());
    click(&mut panel, "Map");
    let map = panel.get_by_label("Map of Heads that are off").rect();
    // Layer 2 is the second row, head 1 the first column.
    let cell = egui::pos2(map.left() + map.width() / 4.0, map.top() + map.height() * 3.0 / 4.0);
    button(&mut panel, cell, PointerButton::Primary, true);
    button(&mut panel, cell, PointerButton::Primary, false);
    let off = InterventionCommand::SetHead { head: 2, mode: HeadMode::Off };
    assert_eq!(panel.commands(), [Command::Map, Command::Interventions(off)]);
    assert!(panel.query_by_label("Map of Heads that are off").is_some(), "the map stays");

    // The same by the keyboard: from the clicked cell one to the right and one up.
    panel.run_steps(2);
    for key in [Key::ArrowRight, Key::ArrowUp, Key::Enter] {
        panel.key_press(key);
        panel.run_steps(2);
    }
    let off = InterventionCommand::SetHead { head: 1, mode: HeadMode::Off };
    assert_eq!(panel.commands().last(), Some(&Command::Interventions(off)));
    click(&mut panel, "Remove maps");
    assert!(panel.query_by_label("Map of Heads that are off").is_none());
}

#[test]
fn the_answer_and_its_foil_are_typed_or_chosen() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, IntervenePanel::default());
    let pair = |answer: &str, against: &str| {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Command::Answers(AskedAnswer { answer: named(answer), against: named(against), at: None })
    };
    let offered = panel.model::<WhatIfModel>().choice.offers.clone();
    let (first, other) = (&offered[0], &offered[1]);
    panel.get_by_label("Foil: the likeliest answers").click();
    panel.run_steps(3);
    click(&mut panel, other);
    assert_eq!(panel.take_commands(), [pair("", other)]);
    panel.get_by_label("Answer").focus();
    panel.run_steps(2);
    panel.event(Event::Text(first.clone()));
    panel.run_steps(2);
    panel.key_press(Key::Enter);
    panel.run_steps(3);
    assert_eq!(panel.take_commands(), [pair(first, other)]);
    click(&mut panel, "Map");
    let title = panel.model::<WhatIfModel>().map_title().expect("a map");
    assert!(title.starts_with(&format!("{first} against {other} at ")), "{title}");
}

#[test]
fn a_head_is_exchanged_for_that_of_the_second_sentence() {
    let mut panel = PanelHarness::new(small(), SIZE, IntervenePanel::default());
    assert!(panel.query_by_label("Head 2 second").is_none(), "there is no second sentence");
    let own = panel.snapshot().model.expect("a model").sentence.written();
    let reversed = own.split(' ').rev().collect::<Vec<_>>().join(" ");
    panel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(reversed))));
    panel.run_steps(3);
    click(&mut panel, "Head 2 second");
    let exchange = InterventionCommand::SetHead { head: 1, mode: HeadMode::Second(None) };
    assert_eq!(panel.commands().last(), Some(&Command::Interventions(exchange)));
    assert!(panel.query_by_label(ALL_SETTINGS).is_some());
    assert!(panel.query_by_label("Head 1 uniform").is_none(), "it is a setting of its own");
}
