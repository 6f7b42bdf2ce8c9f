//! Fields of the window: what is typed into them, and what is not.

use attune::app::actions::{ActionTable, Keyboard, NotebookAction, WindowAction, keys};
use attune::app::panels::meaning::SECOND_SENTENCE;
use attune::app::panels::senses::SENSE_WORD;
use attune::app::shell::dialogs::HandInUiState;
use attune::app::workspace::WorkspaceState;
use attune::app::workspace::top_bar::SENTENCE;
use egui::accesskit::NodeId;
use egui::{Event, Id, Key, Modifiers};

use crate::keys::Bench;

/// Brings the keyboard to a field.
type Call = fn(&mut Bench);

const FIELDS: [(&str, Call); 9] = [
    ("the sentence", |bench| ask_for(bench, keys::sentence_field(SENTENCE))),
    ("the second sentence", |bench| {
        if bench.snapshot().model.as_ref().is_some_and(|model| model.second.is_none()) {
            bench.ask(WindowAction::Compare);
        }
        bench.until("a second sentence", |bench| {
            bench.snapshot().model.as_ref().is_some_and(|model| model.second.is_some())
        });
        ask_for(bench, keys::sentence_field(SECOND_SENTENCE));
    }),
    ("the word of the senses", |bench| {
        bench.ask(WindowAction::Senses);
        ask_for(bench, keys::sentence_field(SENSE_WORD));
    }),
    ("the search of the stage", |bench| ask_for(bench, keys::stage_search())),
    ("the search of the glossary", |bench| {
        bench.world.resource_mut::<WorkspaceState>().0.glossary.is_open = true;
        ask_for(bench, keys::glossary_search());
    }),
    ("the search of the functions", |bench| {
        if !bench.is_visible("Functions") {
            bench.press(NotebookAction::Functions.row().keys[0]);
        }
        ask_for(bench, keys::function_search());
    }),
    ("a cell of code", |bench| {
        bench.select("double");
        bench.press(NotebookAction::Write.row().keys[0]);
    }),
    ("a text", |bench| {
        bench.select("intro");
        bench.press(NotebookAction::EditText.row().keys[0]);
    }),
    ("the name on a work", |bench| {
        bench.state().hand_in = Some(HandInUiState::default());
        bench.rest();
    }),
];

fn ask_for(bench: &mut Bench, field: Id) {
    keys::ask(&bench.ctx, field);
    bench.rest();
}

/// Brings the keyboard to the field of this name; the field, and its text.
fn called(bench: &mut Bench, name: &str, call: Call) -> (NodeId, String) {
    call(bench);
    bench.until(name, |bench| bench.ctx.text_edit_focused());
    bench.rest();
    written(bench)
}

/// The field that has the keyboard, and its text.
fn written(bench: &Bench) -> (NodeId, String) {
    let field = bench.focused().expect("a field").accesskit_id();
    (field, value(bench, field).unwrap_or_default())
}

fn value(bench: &Bench, field: NodeId) -> Option<String> {
    bench.told().find(|(id, _)| *id == field).map(|(_, node)| node.value().unwrap_or_default().to_owned())
}

/// As a keyboard sends it: with the text of the letter before the key.
fn with_modifiers(key: Key, modifiers: Modifiers) -> Vec<Event> {
    let press = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    vec![Event::Text(key.name().to_lowercase()), press]
}

fn letters() -> impl Iterator<Item = Key> {
    ('A'..='Z').map(|letter| Key::from_name(&letter.to_string()).expect("a key"))
}

fn is_of_window(bench: &Bench, key: Key) -> bool {
    let live = keys::live_keys::<WindowAction>(&Keyboard::of(&bench.ctx));
    live.iter().any(|live| live.shortcut.matches(key, Modifiers::ALT))
}

fn has_press(bench: &Bench) -> bool {
    let is_press = |event: &Event| matches!(event, Event::Key { pressed: true, .. });
    bench.ctx.input(|input| input.events.iter().any(is_press))
}

#[test]
fn a_letter_with_alt_is_typed_into_no_field_and_its_action_happens() {
    let mut bench = Bench::beside("fields-alt", &["glossary.ron"]);
    for (name, call) in FIELDS {
        bench.close_all();
        called(&mut bench, name, call);
        let (mut of_window, others): (Vec<Key>, Vec<Key>) = letters().partition(|key| is_of_window(&bench, *key));
        assert!(of_window.len() >= 8, "{name}: {of_window:?}");
        // It closes a panel, perhaps the one with the field.
        of_window.retain(|key| *key != Key::W);
        for key in others.iter().chain(&of_window) {
            // An action may bring the keyboard to another field.
            let Some((field, before)) = bench.ctx.text_edit_focused().then(|| written(&bench)) else { break };
            let is_dialog = bench.state().is_dialog_open();
            bench.frame(with_modifiers(*key, Modifiers::ALT));
            assert!(others.contains(key) || is_dialog || !has_press(&bench), "{name}: nothing is done with {key:?}");
            bench.rest();
            assert!(value(&bench, field).is_none_or(|after| after == before), "{name}: {key:?} is typed");
        }
    }
}

#[test]
fn the_file_dialog_takes_a_path_from_its_first_sign_on() {
    let slash = || {
        let press = Event::Key {
            key: Key::Slash,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        vec![Event::Text("/".to_owned()), press]
    };
    let text = |text: &str| Event::Text(text.to_owned());
    // Slowly, and faster than frames are drawn.
    for (name, frames) in [
        ("fields-path", vec![slash(), vec![text("t")], vec![text("m"), text("p")]]),
        ("fields-fast-path", vec![[slash(), vec![text("t"), text("m")]].concat(), vec![text("p")]]),
    ] {
        let mut bench = Bench::open(name);
        bench.ask(WindowAction::Browse);
        bench.rest();
        assert!(bench.state().is_dialog_open());
        frames.into_iter().for_each(|events| bench.frame(events));
        bench.rest();
        assert_eq!(written(&bench).1, "/tmp", "{name}");
    }
}

#[test]
fn the_second_sentence_is_called_from_within_the_sentence() {
    let mut bench = Bench::open("fields-compare");
    bench.press(WindowAction::WriteSentence.row().keys[0]);
    let (field, before) = written(&bench);
    bench.frame(with_modifiers(Key::C, Modifiers::ALT));
    bench.until("a second sentence", |bench| {
        bench.snapshot().model.as_ref().is_some_and(|model| model.second.is_some())
    });
    bench.rest();
    assert_eq!(value(&bench, field), Some(before));
    assert_eq!(bench.focused(), Some(keys::sentence_field(SECOND_SENTENCE)));
}

#[test]
fn a_letter_with_control_is_typed_into_no_field() {
    // Those that egui's fields edit with, or that the window has.
    const EDITING: &str = "ACHKUVWXYZEONPBFD";
    let mut bench = Bench::beside("fields-control", &["glossary.ron"]);
    for (name, call) in FIELDS {
        bench.close_all();
        let (field, before) = called(&mut bench, name, call);
        let control = Modifiers::CTRL | Modifiers::COMMAND;
        for key in letters().filter(|key| !EDITING.contains(key.name())) {
            bench.frame(with_modifiers(key, control));
        }
        bench.rest();
        assert_eq!(value(&bench, field), Some(before), "{name}");
    }
}
