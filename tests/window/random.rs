//! Random input to the whole window: keys, letters, clicks on controls and anywhere, drags, the wheel and new sizes.
//! A case that panics is printed at its smallest.
//!
//! `ATTUNE_RANDOM_INPUT=20000 cargo test --test window random` makes more of it than CI does.

use std::env;
use std::path::Path;

use attune::app::actions::{ActionTable, NotebookAction, SentenceAction, Shortcut, StageAction, WindowAction};
use egui::{Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2, vec2};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

use crate::home;
use crate::keys::Bench;

/// Inputs of one window, from its opening on.
const INPUTS: usize = 250;
/// Inputs in all, where the environment asks for no other count.
const ALL: usize = 1000;

/// One input. A place is a share of the window's width and height.
#[derive(Clone, Debug)]
enum Input {
    /// The key at this place of the tables of actions.
    Key(usize),
    Letters(String),
    /// A click on the control at this place of what a screen reader is told.
    Control(usize, bool),
    Click((f32, f32), u8),
    Drag((f32, f32), (f32, f32), u8),
    Wheel((f32, f32), (i8, i8)),
    Size(u16, u16),
    Rest,
}

fn any_input() -> impl Strategy<Value = Input> {
    let place = || (0.0..1.0_f32, 0.0..1.0_f32);
    prop_oneof![
        8 => any::<u16>().prop_map(|which| Input::Key(which.into())),
        1 => "[a-z0-9 ()*+=.$#\\[\\]\u{e9}\u{4e2d}\u{1f600}]{1,12}".prop_map(Input::Letters),
        6 => (any::<u16>(), prop::bool::weighted(0.1)).prop_map(|(which, is_menu)| Input::Control(which.into(), is_menu)),
        3 => (place(), 0..3_u8).prop_map(|(at, button)| Input::Click(at, button)),
        2 => (place(), place(), 0..3_u8).prop_map(|(from, to, button)| Input::Drag(from, to, button)),
        2 => (place(), any::<(i8, i8)>()).prop_map(|(at, by)| Input::Wheel(at, by)),
        1 => (1..2600_u16, 1..1500_u16).prop_map(|(width, height)| Input::Size(width, height)),
        1 => Just(Input::Rest),
    ]
}

/// Every key of the tables, and those of text fields. The flag: it is pressed twice.
fn all_keys() -> Vec<(Key, Modifiers, bool)> {
    fn of<A: ActionTable>() -> impl Iterator<Item = (Key, Modifiers, bool)> {
        let keys = A::ROWS.iter().flat_map(|(_, row)| [row.keys, row.or, row.aliases].concat());
        keys.map(|Shortcut { key, modifiers, is_twice, .. }| (key, modifiers, is_twice))
    }
    let plain = [Key::Tab, Key::Enter, Key::Escape, Key::Backspace, Key::Delete, Key::ArrowDown, Key::ArrowLeft];
    let plain = plain.into_iter().map(|key| (key, Modifiers::NONE, false));
    let tables = of::<WindowAction>().chain(of::<StageAction>()).chain(of::<SentenceAction>());
    tables.chain(of::<NotebookAction>()).chain(plain).collect()
}

impl Bench {
    fn take(&mut self, input: &Input, keys: &[(Key, Modifiers, bool)]) {
        let size = self.size;
        let at = |(x, y): (f32, f32)| Pos2::ZERO + vec2(x, y) * size;
        let button =
            |which| [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle][usize::from(which)];
        match input {
            Input::Key(which) => {
                let (key, modifiers, is_twice) = keys[which % keys.len()];
                for pressed in [true, false].repeat(if is_twice { 2 } else { 1 }) {
                    self.frame(vec![Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }]);
                }
            }
            Input::Letters(letters) => self.frame(vec![Event::Text(letters.clone())]),
            Input::Control(which, is_menu) => {
                let controls: Vec<Pos2> = self.named().map(|(_, at)| at).collect();
                if let Some(at) = controls.get(which % controls.len().max(1)) {
                    self.click(*at, button(u8::from(*is_menu)));
                }
            }
            Input::Click(place, which) => self.click(at(*place), button(*which)),
            Input::Drag(from, to, which) => {
                let (from, to, button) = (at(*from), at(*to), button(*which));
                self.press_at(from, button, true);
                for share in [0.1, 0.5, 1.0] {
                    self.frame(vec![Event::PointerMoved(from.lerp(to, share))]);
                }
                self.press_at(to, button, false);
            }
            Input::Wheel(place, (x, y)) => {
                let delta = vec2((*x).into(), (*y).into());
                let (unit, modifiers, phase) = (MouseWheelUnit::Point, Modifiers::NONE, TouchPhase::Move);
                self.frame(vec![Event::PointerMoved(at(*place)), Event::MouseWheel { unit, delta, modifiers, phase }]);
            }
            Input::Size(width, height) => {
                self.size = Vec2::new((*width).into(), (*height).into());
                self.frame(Vec::new());
            }
            Input::Rest => self.rest(),
        }
    }

    fn press_at(&mut self, pos: Pos2, button: PointerButton, pressed: bool) {
        let modifiers = Modifiers::NONE;
        self.frame(vec![Event::PointerMoved(pos), Event::PointerButton { pos, button, pressed, modifiers }]);
    }

    pub fn click(&mut self, at: Pos2, button: PointerButton) {
        self.press_at(at, button, true);
        self.press_at(at, button, false);
    }
}

fn random_input(name: &str, open: impl Fn(&str) -> Bench) {
    let asked = env::var("ATTUNE_RANDOM_INPUT").ok().map(|count| count.parse().expect("a count of inputs"));
    let cases = asked.unwrap_or(ALL).div_ceil(INPUTS) as u32;
    let keys = all_keys();
    let config = Config {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        max_shrink_iters: 100,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config.clone(), TestRunner::deterministic().new_rng());
    let inputs = prop::collection::vec(any_input(), INPUTS);
    let outcome = runner.run(&inputs, |inputs| {
        let mut bench = open(name);
        inputs.iter().for_each(|input| bench.take(input, &keys));
        Ok(())
    });
    if let Err(why) = outcome {
        panic!("{why}");
    }
}

#[test]
fn random_input_leaves_the_main_lesson_whole() {
    random_input("random-apple", |name| {
        let (folder, home) = home(name);
        let own = folder.join("apple.ron");
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/apple.ron"), &own).expect("a copy");
        let mut bench = Bench::over(&own, (folder, home));
        bench.until("a model", |bench| bench.snapshot().model.is_some());
        bench
    });
}

#[test]
fn random_input_leaves_every_kind_of_cell_whole() {
    random_input("random-cells", Bench::open);
}

#[test]
fn random_input_leaves_a_real_model_whole() {
    random_input("random-model", Bench::of_model);
}
