//! Every motion of the stage, interrupted by every input at every tenth of its way: what is said is what is drawn, and
//! but for an input on the stage the motion comes to its end.

use std::time::Duration;

use attune::app::actions::WindowAction;
use attune::app::stage::frame;
use attune::app::stage::pass::StageFrame;
use attune::app::stage::state::StageState;
use attune::app::ui_state::Walk;
use attune_core::kernel::Command;
use attune_core::kernel::command::{Axis, AxisCommand};
use attune_core::lesson::Recipe;
use attune_engine::numerics::params::TensorName;
use attune_view::explain::walk::Step;
use attune_view::view_model::stage::StageModel;
use bevy::ecs::system::RunSystemOnce;
use egui::{Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2, pos2, vec2};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::commands::{REFIT, retraining, set};
use crate::keys::{Bench, SIZE};

const TENTHS: usize = 10;
/// More than any test has to take back, where each is asked for until it is done.
const UNDOS_MAX: usize = 2000;
/// More than any motion takes, in seconds.
const LONG: f32 = 60.0;
const STEPS: usize = Step::ALL.len();

/// All that the stage says and draws of the walk.
struct Seen {
    /// The knob of the time line, and the words for it.
    knob: f32,
    heading: String,
    /// The line over the time line.
    result: Option<String>,
    /// The time of the points that the graphics card draws.
    time: f32,
}

impl Bench {
    fn see(&mut self) -> Seen {
        self.world.init_resource::<StageFrame>();
        self.world.run_system_once(frame::build).expect("it runs");
        let (heading, knob) = self.slider("Walk: ").expect("a time line");
        let walk = self.view().walk.clone();
        let result = self.world.resource::<StageState>().result(&walk).map(str::to_owned);
        let time = self.world.resource::<StageFrame>().uniform.range.x;
        Seen { knob: knob as f32, heading, result, time }
    }

    /// Compares all that is said with what is drawn. Returns the place of the knob.
    #[track_caller]
    fn agrees(&mut self, about: &str) -> f32 {
        let Seen { knob, heading, result, time } = self.see();
        let (step, share) = (knob as usize % STEPS, knob.fract());
        let about = format!("{about}: knob at {knob}, points at {time}, “{heading}”, {result:?}");
        let moved = (knob % STEPS as f32 - (STEPS - 2) as f32).clamp(0.0, 1.0);
        assert_close_beside(1.0, format!("the points; {about}"), time, moved, Tolerance::SINGLE_SUMS);
        let is_moved = time > 0.0 && time < 1.0;
        let come = if is_moved { time } else { share };
        let percent = format!("{:.0} %", (come * 100.0).clamp(1.0, 99.0));
        let is_between = is_moved || share > 0.0;
        assert_eq!(heading.contains(&percent), is_between, "the share of the way; {about}");
        if heading.contains("step ") {
            let number = if is_between { step + 2 } else { step + 1 };
            assert!(heading.contains(&format!("step {number} of {STEPS}")), "the step; {about}");
        }
        assert!(!is_between || result.is_none(), "a result before there is one; {about}");
        if let Some(result) = result {
            assert!(self.named().any(|(name, _)| name == result), "the result is not drawn; {about}");
        }
        let parts: Vec<&str> = heading.trim_start_matches("Walk: ").split(": ").collect();
        let is_told = |name: &str| parts.iter().all(|part| name.replace('\u{a0}', " ").contains(part));
        assert!(self.named().any(|(name, _)| name.len() > heading.len() && is_told(name)), "the words; {about}");
        knob
    }

    /// Lets time pass before a frame, and none in those that follow.
    fn pass(&mut self, seconds: f32) {
        self.pace = Some(seconds);
        self.frame(Vec::new());
        self.pace = Some(0.0);
    }

    fn stage(&self) -> Pos2 {
        let at = self.named().find(|(name, _)| name.starts_with("Stage: the words")).map(|(_, at)| at);
        at.expect("a stage")
    }

    fn drag(&mut self, at: Pos2, to: Pos2) {
        for (pos, pressed) in [(at, true), (at.lerp(to, 0.5), true), (to, false)] {
            let mut events = vec![Event::PointerMoved(pos)];
            if pos == at || !pressed {
                let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
                events.push(Event::PointerButton { pos, button, pressed, modifiers });
            }
            self.frame(events);
        }
    }

    fn wheel(&mut self, at: Pos2) {
        let (unit, phase, modifiers) = (MouseWheelUnit::Line, TouchPhase::Move, Modifiers::NONE);
        let wheel = Event::MouseWheel { unit, phase, delta: vec2(0.0, -3.0), modifiers };
        self.frame(vec![Event::PointerMoved(at), wheel]);
    }

    fn key(&mut self, key: Key) {
        for pressed in [true, false] {
            let modifiers = Modifiers::NONE;
            self.frame(vec![Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }]);
        }
    }
}

/// A motion of the walk, with its seconds.
struct Motion {
    name: &'static str,
    begin: fn(&mut Walk),
    seconds: f32,
}

const OF_ONE_LAYER: [Motion; 8] = [
    Motion { name: "the opening", begin: |walk| walk.play(2, 1.0), seconds: 9.1 },
    Motion { name: "a play that rests on the way", begin: |walk| walk.play(1, 0.6), seconds: 4.4 },
    Motion { name: "a play that rests where it began", begin: |walk| walk.play(1, 0.0), seconds: 4.4 },
    Motion { name: "a link to a time", begin: |walk| walk.glide_to(0.3), seconds: 0.5 },
    Motion { name: "a step", begin: |walk| walk.walk_to(3.0), seconds: 0.5 },
    Motion {
        name: "the step in which the points move",
        begin: |walk| {
            walk.set(6.0);
            walk.step_on();
        },
        seconds: 0.5,
    },
    Motion {
        name: "a step back",
        begin: |walk| {
            walk.set(7.0);
            walk.step_back();
        },
        seconds: 0.5,
    },
    Motion {
        name: "the beginning again",
        begin: |walk| {
            walk.set_time(1.0);
            walk.step_on();
        },
        seconds: 0.5,
    },
];

const OF_LAYERS: [Motion; 3] = [
    Motion { name: "through all layers", begin: |walk| walk.pass_to(3), seconds: 1.5 },
    Motion { name: "a layer", begin: |walk| walk.pass_by(1), seconds: 0.5 },
    Motion {
        name: "the last step of a layer",
        begin: |walk| {
            walk.set(14.0);
            walk.step_on();
        },
        seconds: 0.5,
    },
];

/// A place in the notebook, in its margin: there is no control that would set the stage.
const NOTEBOOK: Pos2 = pos2(6.0, 520.0);
const BELOW: Vec2 = vec2(0.0, 60.0);

/// An input with its name.
type Input = (&'static str, fn(&mut Bench));

/// A command with its name.
type Change = (&'static str, fn() -> Command);

/// Inputs that must leave a motion alone.
const ELSEWHERE: [Input; 13] = [
    ("the wheel over the notebook", |bench| bench.wheel(NOTEBOOK)),
    ("a click in the notebook", |bench| bench.drag(NOTEBOOK, NOTEBOOK)),
    ("another cell", |bench| bench.drag(NOTEBOOK + BELOW, NOTEBOOK + BELOW)),
    ("a drag in the notebook", |bench| bench.drag(NOTEBOOK, NOTEBOOK + BELOW)),
    ("a key", |bench| bench.key(Key::ArrowDown)),
    ("typing", |bench| bench.frame(vec![Event::Text("a".to_owned())])),
    ("a new size", |bench| bench.size = if bench.size == SIZE { SIZE * 0.9 } else { SIZE }),
    ("the focus elsewhere", |bench| {
        bench.is_focused = !bench.is_focused;
        let focus = Event::WindowFocused(bench.is_focused);
        bench.frame(vec![focus]);
    }),
    ("the other theme", |bench| bench.ask(WindowAction::Theme)),
    ("a panel", |bench| bench.show_panel(5)),
    ("a weight", |bench| bench.send(set(TensorName::QueryWeights, 0, 1, 0.5))),
    ("the pointer over the stage", |bench| {
        let stage = bench.stage();
        bench.frame(vec![Event::PointerMoved(stage)]);
    }),
    ("the wheel over the stage", |bench| {
        let stage = bench.stage();
        bench.wheel(stage);
    }),
];

/// Inputs on the stage: the motion ends at its end or elsewhere, and what is said is true all the same.
const ON_STAGE: [Input; 4] = [
    ("a click on the stage", |bench| {
        let stage = bench.stage();
        bench.drag(stage, stage);
    }),
    ("Space", |bench| bench.ask(WindowAction::StepOn)),
    ("a step back", |bench| bench.ask(WindowAction::StepBack)),
    ("a drag of the knob", |bench| {
        let at = bench.named().find(|(name, _)| name.starts_with("Walk: ")).map(|(_, at)| at).expect("a time line");
        bench.drag(at, at + vec2(37.0, 0.0));
    }),
];

/// Goes to a tenth of a motion. Returns where it leads.
fn begin(bench: &mut Bench, motion: &Motion, tenth: usize) -> f32 {
    let mut view = bench.view();
    view.walk.set_time(0.0);
    (motion.begin)(&mut view.walk);
    let goal = view.walk.at_rest().place();
    bench.pass(motion.seconds * tenth as f32 / TENTHS as f32);
    goal
}

fn interrupt(bench: &mut Bench, motions: &[Motion]) {
    for motion in motions {
        for (input, act) in ELSEWHERE.iter().chain(&ON_STAGE) {
            let is_elsewhere = ELSEWHERE.iter().any(|(name, _)| name == input);
            for tenth in 0..TENTHS {
                let about = format!("{}, {input} at {tenth} tenths", motion.name);
                let goal = begin(bench, motion, tenth);
                bench.agrees(&about);
                act(bench);
                bench.pass(0.0);
                bench.agrees(&about);
                bench.pass(motion.seconds / TENTHS as f32);
                bench.agrees(&about);
                bench.pass(LONG);
                let place = bench.agrees(&about);
                assert!(!bench.view().walk.is_gliding(), "{about}");
                assert!(!is_elsewhere || place == goal, "{about}: it ends at {place}, not at {goal}");
            }
        }
        let goal = begin(bench, motion, 3);
        bench.view().preferences.reduced_motion = true;
        bench.pass(0.0);
        assert_eq!(bench.agrees("reduced motion"), goal, "{}", motion.name);
        bench.view().preferences.reduced_motion = false;
    }
}

#[test]
fn what_is_said_is_what_is_drawn_at_every_tenth_of_every_motion_of_a_layer() {
    let mut bench = Bench::open("motions-layer");
    bench.view().selection.choose_query(Some(1));
    bench.rest();
    interrupt(&mut bench, &OF_ONE_LAYER);
}

#[test]
fn what_is_said_is_what_is_drawn_at_every_tenth_of_every_motion_through_layers() {
    let mut bench = Bench::of_model("motions-model");
    bench.view().selection.choose_query(Some(1));
    bench.rest();
    interrupt(&mut bench, &OF_LAYERS);
}

/// Points on their way to another picture.
const OF_PICTURES: [Change; 3] = [
    ("trained again", || retraining(Recipe { seed: Some(9), ..Recipe::default() })),
    ("other axes", || {
        let (from, to) = ("mineral".to_owned(), "animal".to_owned());
        Command::Axes(AxisCommand::Set { axis: Axis::X, from, to })
    }),
    ("fitted axes", || REFIT),
];

#[test]
fn points_on_their_way_to_another_picture_have_no_result_until_they_are_there() {
    let mut bench = Bench::open("motions-picture");
    bench.view().selection.choose_query(Some(1));
    bench.view().walk.set_time(1.0);
    bench.rest();
    let arrived = |bench: &Bench| bench.world.resource::<StageState>().glide.is_none();
    for (name, command) in OF_PICTURES {
        for (input, act) in ELSEWHERE {
            for tenth in [1, 5, 9] {
                let about = format!("{name}, {input} at {tenth} tenths");
                bench.pace = Some(0.0);
                bench.send(command());
                bench.until(name, |bench| !arrived(bench));
                bench.pass(0.5 * tenth as f32 / TENTHS as f32);
                let seen = bench.see();
                assert!(arrived(&bench) || seen.result.is_none(), "{about}: {:?}", seen.result);
                act(&mut bench);
                bench.pass(LONG);
                bench.agrees(&about);
                assert!(arrived(&bench) && bench.see().result.is_some(), "{about}");
                let points = bench.world.resource::<StageState>().points.clone().expect("points");
                let snapshot = std::sync::Arc::new(bench.snapshot().clone());
                let model = StageModel::of(&snapshot).expect("points");
                let ends = |model: &StageModel| model.tokens.iter().map(|token| token.end).collect::<Vec<_>>();
                assert_eq!(ends(&points), ends(&model), "{about}");
                // Some of the inputs are steps of their own.
                for _ in 0..UNDOS_MAX {
                    if bench.snapshot().history.undo.is_none() {
                        break;
                    }
                    bench.send(Command::Undo);
                    std::thread::sleep(Duration::from_millis(5));
                }
                bench.pass(LONG);
            }
        }
    }
}
