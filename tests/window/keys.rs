//! Every key of the tables of actions, pressed in the whole window over a running kernel: each does what its row says.
//! And the key sheet, as it is printed from them.

use std::path::Path;
use std::time::Duration;

use attune::app::actions::{
    Action, ActionRow, ActionTable, KeyLine, NotebookAction, Pressed, SentenceAction, SheetLine, Shortcut, StageAction,
    WindowAction, keys,
};
use attune::app::link::{LatestModels, Outbox};
use attune::app::panels::meaning::SECOND_SENTENCE;
use attune::app::panels::senses::SENSE_WORD;
use attune::app::shell::course::CoursePage;
use attune::app::shell::dialogs::parts;
use attune::app::shell::state::WindowState;
use attune::app::shell::still_map::StillState;
use attune::app::stage;
use attune::app::stage::canvas::stage_id;
use attune::app::stage::frame::StageTab;
use attune::app::stage::sentence::strip_id;
use attune::app::stage::view::Pose;
use attune::app::theme::{self, fonts};
use attune::app::ui_state::{Preferences, ViewState};
use attune::app::work::session::Session;
use attune::app::work::source::OtherModel;
use attune::app::workspace::WorkspaceState;
use attune::app::workspace::top_bar::SENTENCE;
use attune_core::kernel::command::{AxisCommand, SentenceCommand, TrainingCommand};
use attune_core::kernel::notebook::NotebookCommand;
use attune_core::kernel::notebook::document::{Answer, DocumentCell};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Snapshot};
use attune_core::store::Home;
use attune_engine::quantity::Quantity;
use attune_view::explain::walk::Step;
use attune_view::view_model::saved_view::{PanelLayout, SavedView};
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy_egui::{EguiContext, EguiPrimaryContextPass, EguiUserTextures, PrimaryEguiContext};
use egui::accesskit::{Node, NodeId, TreeUpdate};
use egui::epaint::ClippedShape;
use egui::{Context, Event, Id, LayerId, Modifiers, Order, Popup, Pos2, RawInput, Rect, Shape, TextureId};

use crate::common::folder::Folder;
use crate::common::lessons::NOTEBOOK;
use crate::common::recorded::{recording, tokens};
use crate::common::snapshots::assert_kept;
use crate::{home, open, sentence, wait};

pub const SIZE: egui::Vec2 = egui::vec2(1600.0, 1000.0);
/// Away from the stage: over the bar on top.
const ELSEWHERE: Pos2 = egui::pos2(800.0, 2.0);
/// Steps that its training has.
const STEPS: usize = 20;
/// In the order of their keys.
const PANELS: [&str; 11] = [
    "Notebook",
    "Stage",
    "Attention",
    "Step",
    "Intervene",
    "Meaning",
    "Weights",
    "Train",
    "Answers",
    "Variables",
    "All heads",
];
/// With the panels that have no key.
const PANEL_COUNT: usize = 12;

/// A window on a lesson with every kind of cell, whose frames are drawn one by one.
pub struct Bench {
    pub world: World,
    pub ctx: Context,
    /// Size of the window, in points.
    pub size: egui::Vec2,
    /// Everything that a screen reader is told of the last frame, and everything that was painted.
    told: Option<TreeUpdate>,
    painted: Vec<ClippedShape>,
    /// Removed when the window is gone, which comes first.
    _folder: Folder,
    time: f64,
    /// Seconds that pass for what moves in each frame; none: it is at its end after each.
    pub pace: Option<f32>,
    /// The window has the keyboard's focus.
    pub is_focused: bool,
    /// All that was asked of the kernel.
    sent: Vec<Command>,
}

impl Bench {
    pub fn open(name: &str) -> Bench {
        Self::beside(name, &[])
    }

    /// A window on the lesson with files of the course beside it.
    pub fn beside(name: &str, files: &[&str]) -> Bench {
        let (folder, home) = home(name);
        // An answer for each of the keys.
        let answers: Vec<String> = (1..=8).map(|answer| format!("\"{answer}\"")).collect();
        let lesson = NOTEBOOK.replace(r#"["one", "two"]"#, &format!("[{}]", answers.join(", ")));
        let path = folder.join("own.ron");
        std::fs::write(&path, lesson).expect("a lesson");
        for file in files {
            let of_course = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons").join(file);
            std::fs::copy(of_course, folder.join(file)).expect("a copy");
        }
        let mut bench = Self::over(&path, (folder, home));
        bench.until("a trained model", |bench| bench.training().stage == TrainingStage::Finished);
        bench
    }

    /// A window on a pretrained model, with its tokenizer.
    pub fn of_model(name: &str) -> Bench {
        let (folder, home) = home(name);
        let model = folder.join("model");
        std::fs::create_dir_all(&model).expect("a folder");
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pretrained");
        for file in ["config.json", "model.safetensors"] {
            std::fs::copy(fixture.join("gpt2-wild").join(file), model.join(file)).expect("a copy");
        }
        std::fs::copy(fixture.join("gpt2_tokenizer.json"), model.join("tokenizer.json")).expect("a copy");
        let mut bench = Self::over(&model, (folder, home));
        bench.until("a model", |bench| {
            bench.world.resource::<LatestModels>().snapshot().is_some_and(|snapshot| snapshot.model.is_some())
        });
        bench
    }

    pub fn over(path: &Path, (folder, home): (Folder, Home)) -> Bench {
        let mut world = open(&home, path);
        world.init_resource::<EguiUserTextures>();
        world.resource_mut::<StageTab>().texture = Some(TextureId::User(0));
        world.spawn((EguiContext::default(), PrimaryEguiContext));
        let ctx = world.query::<&mut EguiContext>().single_mut(&mut world).expect("one").get_mut().clone();
        ctx.set_fonts(fonts::definitions());
        theme::apply(&ctx);
        ctx.enable_accesskit();
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut bench = Bench {
            world,
            ctx,
            size: SIZE,
            told: None,
            painted: Vec::new(),
            _folder: folder,
            time: 0.0,
            pace: None,
            is_focused: true,
            sent: Vec::new(),
        };
        bench.point_at(ELSEWHERE);
        bench
    }

    /// A frame of the window, but for what needs a graphics card.
    pub fn frame(&mut self, events: Vec<Event>) {
        self.time += 0.05;
        let world = &mut self.world;
        world.resource_mut::<Time>().advance_by(Duration::from_secs_f32(self.pace.unwrap_or(0.0)));
        world.run_schedule(Update);
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, self.size));
        let (time, focused) = (Some(self.time), self.is_focused);
        let input = RawInput { screen_rect, time, focused, events, ..RawInput::default() };
        self.ctx.begin_pass(input);
        world.run_schedule(EguiPrimaryContextPass);
        let mut output = self.ctx.end_pass();
        output.textures_delta.clear();
        self.told = output.platform_output.accesskit_update.take();
        self.painted = output.shapes;
        self.sent.extend(world.resource::<Outbox>().commands.iter().cloned());
        world.run_schedule(Last);
        if self.pace.is_none() {
            world.resource_mut::<StageTab>().controls.rig.advance(f32::INFINITY);
            world.resource_mut::<ViewState>().walk.advance(f32::INFINITY);
        }
    }

    /// Texts that are painted, each with its place.
    pub fn texts(&self) -> Vec<(&str, Rect)> {
        fn collect<'a>(shape: &'a Shape, texts: &mut Vec<(&'a str, Rect)>) {
            match shape {
                Shape::Text(text) => texts.push((text.galley.text(), text.visual_bounding_rect())),
                Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
                _ => {}
            }
        }
        let mut texts = Vec::new();
        self.painted.iter().for_each(|clipped| collect(&clipped.shape, &mut texts));
        texts
    }

    /// The place of what a screen reader is told of, by its name.
    pub fn bounds(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Rect> {
        let nodes = self.told.iter().flat_map(|told| &told.nodes);
        let mut found = nodes.filter(|(_, node)| node.label().or(node.value()).is_some_and(&is_wanted));
        let at = found.find_map(|(_, node)| node.bounds())?;
        Some(Rect::from_min_max(egui::pos2(at.x0 as f32, at.y0 as f32), egui::pos2(at.x1 as f32, at.y1 as f32)))
    }

    /// The name and the number of a slider, by the beginning of its name.
    pub fn slider(&self, name: &str) -> Option<(String, f64)> {
        let nodes = self.told.iter().flat_map(|told| &told.nodes);
        let slider =
            nodes.map(|(_, node)| node).find(|node| node.label().is_some_and(|label| label.starts_with(name)))?;
        Some((slider.label()?.to_owned(), slider.numeric_value()?))
    }

    /// All that a screen reader is told.
    pub fn told(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.told.iter().flat_map(|told| &told.nodes).map(|(id, node)| (*id, node))
    }

    /// Names and places of what a screen reader is told.
    pub fn named(&self) -> impl Iterator<Item = (&str, Pos2)> {
        self.told().filter_map(|(_, node)| {
            let at = node.bounds()?;
            let name = node.label().or(node.value()).unwrap_or_default();
            Some((name, egui::pos2((at.x0 + at.x1) as f32 / 2.0, (at.y0 + at.y1) as f32 / 2.0)))
        })
    }

    pub fn rest(&mut self) {
        for _ in 0..4 {
            self.frame(Vec::new());
        }
    }

    pub fn until(&mut self, what: &str, is_done: impl Fn(&Bench) -> bool) {
        wait(what, || {
            self.frame(Vec::new());
            is_done(self)
        });
    }

    pub fn point_at(&mut self, at: Pos2) {
        self.frame(vec![Event::PointerMoved(at)]);
        self.rest();
    }

    /// Clicks with the left button, which gives the keyboard to what is there.
    pub fn click_at(&mut self, at: Pos2) {
        self.point_at(at);
        for pressed in [true, false] {
            let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
            self.frame(vec![Event::PointerButton { pos: at, button, pressed, modifiers }]);
        }
        self.rest();
    }

    /// Presses the key, or the button of an action that has none.
    pub fn press(&mut self, shortcut: Shortcut) {
        let Modifiers { alt, shift, command, .. } = shortcut.modifiers;
        let modifiers = Modifiers { alt, shift, command, ctrl: command, ..Modifiers::NONE };
        let press = |pressed| Event::Key { key: shortcut.key, physical_key: None, pressed, repeat: false, modifiers };
        for _ in 0..if shortcut.is_twice { 2 } else { 1 } {
            self.frame(vec![press(true)]);
            self.frame(vec![press(false)]);
        }
        self.rest();
    }

    pub fn ask(&mut self, action: impl Into<Action>) {
        self.world.resource_mut::<WindowState>().asked.push(action.into());
        self.rest();
    }

    pub fn send(&mut self, command: Command) {
        self.world.resource_mut::<Outbox>().commands.push(command);
        self.rest();
    }

    pub fn snapshot(&self) -> &Snapshot {
        self.world.resource::<LatestModels>().snapshot().expect("a snapshot")
    }

    fn model(&self) -> Option<&ModelSnapshot> {
        self.snapshot().model.as_ref()
    }

    fn training(&self) -> TrainingModel {
        let shown = self.world.resource::<LatestModels>().snapshot();
        TrainingModel::of(shown.expect("a kernel publishes at once"))
    }

    pub fn view(&mut self) -> Mut<'_, ViewState> {
        self.world.resource_mut::<ViewState>()
    }

    fn window(&self) -> &WindowState {
        self.world.resource::<WindowState>()
    }

    /// Closes all that [`OPENS`] opens.
    fn close_opened(&mut self) {
        if self.world.resource::<CoursePage>().is_open {
            self.ask(Action::Back);
        }
        self.ask(Action::CloseMap);
        let mut state = self.state();
        state.files = Default::default();
        (state.hand_in, state.picture, state.is_sharing) = (None, None, false);
        self.world.resource_mut::<WorkspaceState>().0.checkpoints = None;
        self.leave_field();
    }

    fn preferences(&self) -> Preferences {
        self.world.resource::<ViewState>().preferences
    }

    pub fn state(&mut self) -> Mut<'_, WindowState> {
        self.world.resource_mut::<WindowState>()
    }

    fn pose(&self) -> Pose {
        self.world.resource::<StageTab>().controls.rig.pose
    }

    pub fn focused(&self) -> Option<Id> {
        self.ctx.memory(|memory| memory.focused())
    }

    fn leave_field(&mut self) {
        self.ctx.memory_mut(|memory| memory.stop_text_input());
        self.rest();
        assert_eq!(self.focused(), None);
    }

    pub fn is_visible(&self, window: &str) -> bool {
        // The name of a window is a text that may be missing.
        let layer = LayerId::new(Order::Middle, Id::new(Some(window)));
        self.ctx.memory(|memory| memory.areas().is_visible(&layer))
    }

    fn fronts(&self) -> Vec<String> {
        fn fronts(layout: &PanelLayout) -> Vec<String> {
            match layout {
                PanelLayout::Tabs { panels, front } => vec![panels[*front].clone()],
                PanelLayout::Split { parts, .. } => [fronts(&parts.0), fronts(&parts.1)].concat(),
            }
        }
        fronts(&self.world.resource::<WorkspaceState>().0.layout().expect("a layout"))
    }

    pub fn show_panel(&mut self, which: usize) {
        self.ask(Action::Row(Pressed { which, ..Pressed::once(WindowAction::Panel) }));
    }

    fn step_shown(&self) -> usize {
        self.training().shown.unwrap_or(self.training().step)
    }

    pub fn ids(&self) -> Vec<String> {
        self.snapshot().notebook.cells.iter().map(|cell| cell.cell.id.to_string()).collect()
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.ids().iter().position(|other| other == id)
    }

    fn are_neighbours(&self, first: &str, second: &str) -> bool {
        self.place(first).map(|at| at + 1) == self.place(second)
    }

    fn cell(&self, id: &str) -> &DocumentCell {
        &self.snapshot().notebook.cells[self.place(id).expect("a cell")].cell
    }

    /// How often code has run, so far.
    fn runs(&self, id: &str) -> Option<u64> {
        self.snapshot().notebook.cells[self.place(id).expect("a cell")].run.as_ref().and_then(|run| run.number)
    }

    pub fn select(&mut self, id: &str) {
        self.world.resource_scope(|world, mut view: Mut<ViewState>| {
            let workspace = &mut world.resource_mut::<WorkspaceState>().0;
            let saved = SavedView { selected: Some(id.to_owned()), ..workspace.saved(&view) };
            workspace.restore(&saved, &mut view);
        });
        self.rest();
    }

    /// Letters are commands of a cell that was come to by keys.
    pub fn select_by_keys(&mut self, id: &str) {
        self.select(id);
        self.press(NotebookAction::Leave.row().keys[0]);
    }

    fn selected(&self) -> Option<String> {
        self.world.resource::<WorkspaceState>().0.saved(self.world.resource::<ViewState>()).selected
    }

    fn has_asked(&self, wanted: &NotebookCommand) -> bool {
        self.sent.iter().any(|command| matches!(command, Command::Notebook(command) if command == wanted))
    }
}

/// All keys of a row, each with its place.
fn keys(row: &ActionRow) -> Vec<(usize, Shortcut)> {
    [row.keys, row.or, row.aliases].into_iter().flat_map(|keys| keys.iter().copied().enumerate()).collect()
}

#[test]
fn every_key_of_the_window_does_what_its_row_says() {
    let mut bench = Bench::open("keys-window");
    for (action, row) in WindowAction::ROWS {
        let keys = keys(row);
        for &(which, key) in &keys {
            check_window(&mut bench, *action, which, &|bench| bench.press(key));
        }
        if keys.is_empty() {
            check_window(&mut bench, *action, 0, &|bench| bench.ask(*action));
        }
    }
}

#[test]
fn the_keys_of_a_model_lead_through_its_layers() {
    let mut bench = Bench::of_model("keys-model");
    let press = |bench: &mut Bench, action: WindowAction| bench.press(action.row().keys[0]);
    // A model opens behind its last layer.
    for passed in [0.0, 1.0, 2.0, 3.0, 0.0, 1.0] {
        press(&mut bench, WindowAction::NextLayer);
        assert_eq!(bench.view().walk.passed_layers(), Some(passed));
    }
    press(&mut bench, WindowAction::LayerBefore);
    assert_eq!(bench.view().walk.passed_layers(), Some(0.0));
    for pieces in [true, false] {
        press(&mut bench, WindowAction::Pieces);
        assert_eq!(bench.view().highlight.pieces, pieces);
    }
    press(&mut bench, WindowAction::RawStates);
    bench.until("raw vectors", |bench| {
        let space = bench.world.resource::<LatestModels>().snapshot().and_then(|snapshot| snapshot.space.clone());
        space.is_some_and(|space| space.basis.raw)
    });
}

#[test]
fn keys_show_other_tokens_of_a_long_text() {
    const TOKENS: usize = 300;
    let (folder, home) = home("keys-recording");
    let attention = ("attentions.0", &[1, TOKENS, TOKENS][..], 1.0 / TOKENS as f32);
    let path = recording(&folder, &[("tokens", &tokens(TOKENS))], &[attention]);
    let mut bench = Bench::over(&path, (folder, home));
    let first = |bench: &Bench| {
        let snapshot = bench.world.resource::<LatestModels>().snapshot()?.clone();
        Some(snapshot.model.as_ref()?.recorded.as_ref()?.place.first)
    };
    bench.until("a recording", |bench| first(bench) == Some(0));
    let (before, after) = (WindowAction::TokensBefore, WindowAction::TokensAfter);
    // The last stretch ends with the text, and behind it there is nothing.
    for (action, to) in [(after, 128), (after, 172), (after, 172), (before, 44), (before, 0), (before, 0)] {
        bench.press(action.row().keys[0]);
        bench.until(&format!("{action:?} to {to}"), |bench| first(bench) == Some(to));
    }
}

fn check_window(bench: &mut Bench, action: WindowAction, which: usize, act: &dyn Fn(&mut Bench)) {
    let said = format!("{action:?}, key {which}");
    if check_row(bench, action, act) {
        return;
    }
    let card = Quantity::Weight.of_head(0, [1, 0]);
    let first = "the seal sank while a duck swam";
    let later = "the seal sank";
    match action {
        WindowAction::StepOn | WindowAction::StepBack => {
            let (from, to) = if action == WindowAction::StepOn { (2.0, 3) } else { (2.0, 1) };
            bench.view().walk.set(from);
            act(bench);
            assert_eq!(bench.view().walk.step().index(), to, "{said}");
            bench.view().walk.set(0.0);
        }
        // A model has them: `the_keys_of_a_model_lead_through_its_layers`; and a long recorded text:
        // `keys_show_other_tokens_of_a_long_text`.
        WindowAction::NextLayer
        | WindowAction::LayerBefore
        | WindowAction::Pieces
        | WindowAction::RawStates
        | WindowAction::TokensBefore
        | WindowAction::TokensAfter => {
            let before = bench.view().clone();
            act(bench);
            assert_eq!(*bench.view(), before, "{said}: this lesson has no such thing");
        }
        WindowAction::Origin => {
            bench.view().selection.choose_query(Some(1));
            bench.rest();
            act(bench);
            assert!(
                bench
                    .view()
                    .trail
                    .entry()
                    .is_some_and(|entry| entry.quantity == Quantity::Weight && entry.index[0] == 1),
                "{said}"
            );
            bench.view().trail.close();
        }
        WindowAction::WhyThere => {
            bench.view().trail.open(Quantity::Weight.of_head(1, [2, 1]));
            bench.rest();
            act(bench);
            bench.rest();
            let view = bench.view();
            let pair = (view.selection.query, view.selection.head, view.selection.key);
            assert_eq!((pair, view.walk.step(), view.trail.depth()), ((Some(2), 1, Some(1)), Step::Score, 0), "{said}");
            assert!(bench.fronts().contains(&"Step".to_owned()), "{said}: {:?}", bench.fronts());
            bench.view().walk.set(0.0);
        }
        WindowAction::MapAnswer | WindowAction::MeasureWords | WindowAction::ComputeTables => {
            type IsAsked = fn(&Command) -> bool;
            let (panel, is_asked): (_, IsAsked) = match action {
                WindowAction::MapAnswer => ("Intervene", |sent| matches!(sent, Command::Map)),
                WindowAction::MeasureWords => ("Answers", |sent| matches!(sent, Command::Words(_))),
                _ => ("All heads", |sent| matches!(sent, Command::Tables(_))),
            };
            bench.sent.clear();
            act(bench);
            assert!(bench.fronts().contains(&panel.to_owned()), "{said}: {:?}", bench.fronts());
            assert_eq!(bench.sent.iter().filter(|sent| is_asked(sent)).count(), 1, "{said}: {:?}", bench.sent);
        }
        WindowAction::MeasureTexts => {
            act(bench);
            assert!(bench.fronts().contains(&"All heads".to_owned()) && FILES(bench), "{said}");
            bench.close_opened();
        }
        WindowAction::CloseOrigin => {
            bench.view().trail.open(card);
            bench.rest();
            assert_eq!(bench.view().trail.depth(), 1);
            act(bench);
            assert_eq!(bench.view().trail.depth(), 0, "{said}");
        }
        WindowAction::OriginBefore => {
            bench.view().trail.open(card);
            bench.view().trail.follow(Quantity::Weight.of_head(0, [1, 2]));
            bench.rest();
            act(bench);
            assert_eq!(bench.view().trail.entry(), Some(card), "{said}");
            bench.view().trail.close();
        }
        WindowAction::Play | WindowAction::TrainStep => {
            bench.send(Command::Training(TrainingCommand::Reset));
            bench.until("the beginning", |bench| bench.training().step == 0);
            act(bench);
            let to = if action == WindowAction::Play { STEPS } else { 1 };
            bench.until(&said, |bench| bench.training().step == to);
            bench.ask(WindowAction::Play);
            bench.until("the end", |bench| bench.training().stage == TrainingStage::Finished);
        }
        WindowAction::BrowseTraining | WindowAction::BrowseTrainingFar => {
            bench.send(Command::Training(TrainingCommand::Scrub(10)));
            bench.until("a look back", |bench| bench.step_shown() == 10);
            act(bench);
            let by = if action == WindowAction::BrowseTraining { 1 } else { 10 };
            let to = if which == 0 { 10 - by } else { 10 + by };
            bench.until(&said, |bench| bench.step_shown() == to);
            bench.send(Command::Training(TrainingCommand::ShowLatest));
            bench.until("the latest", |bench| bench.step_shown() == STEPS);
        }
        WindowAction::Undo => {
            bench.send(Command::Sentence(SentenceCommand::Set(later.to_owned())));
            bench.until("a sentence", |bench| sentence(&bench.world).as_deref() == Some(later));
            act(bench);
            bench.until(&said, |bench| sentence(&bench.world).as_deref() == Some(first));
        }
        WindowAction::Redo => {
            bench.send(Command::Sentence(SentenceCommand::Set(later.to_owned())));
            bench.until("a sentence", |bench| sentence(&bench.world).as_deref() == Some(later));
            bench.ask(WindowAction::Undo);
            bench.until("no sentence", |bench| sentence(&bench.world).as_deref() == Some(first));
            act(bench);
            bench.until(&said, |bench| sentence(&bench.world).as_deref() == Some(later));
            bench.ask(WindowAction::Undo);
            bench.until("no sentence", |bench| sentence(&bench.world).as_deref() == Some(first));
        }
        WindowAction::WriteSentence => {
            act(bench);
            assert_eq!(bench.focused(), Some(keys::sentence_field(SENTENCE)), "{said}");
            bench.leave_field();
        }
        WindowAction::Compare | WindowAction::Senses => {
            let (is_shown, field): (IsOn, _) = if action == WindowAction::Compare {
                (|bench| bench.model().is_some_and(|model| model.second.is_some()), SECOND_SENTENCE)
            } else {
                (|bench| bench.model().is_some_and(|model| model.senses.is_on), SENSE_WORD)
            };
            act(bench);
            bench.until(&said, is_shown);
            bench.rest();
            assert!(bench.fronts().contains(&"Meaning".to_owned()), "{said}: {:?}", bench.fronts());
            assert_eq!(bench.focused(), Some(keys::sentence_field(field)), "{said}");
            bench.leave_field();
            act(bench);
            bench.until(&said, |bench| !is_shown(bench));
            assert_eq!(bench.focused(), None);
            bench.show_panel(0);
        }
        // Without a sink there is none to hide; hidden ones come back.
        WindowAction::HideSinks => {
            act(bench);
            assert!(!bench.view().selection.reading.hides_sinks, "{said}");
            bench.view().selection.reading.hides_sinks = true;
            act(bench);
            assert!(!bench.view().selection.reading.hides_sinks, "{said}");
        }
        WindowAction::Panel => {
            (0..PANEL_COUNT).filter(|other| *other != which).for_each(|other| bench.show_panel(other));
            // Nothing lies before the notebook and the stage.
            assert!(which < 2 || !bench.fronts().contains(&PANELS[which].to_owned()));
            act(bench);
            assert!(bench.fronts().contains(&PANELS[which].to_owned()), "{said}: {:?}", bench.fronts());
            [0, 1].into_iter().for_each(|panel| bench.show_panel(panel));
        }
        WindowAction::Lab => {
            act(bench);
            assert!(Popup::is_any_open(&bench.ctx), "{said}");
            bench.rest();
            assert!(bench.focused().is_some(), "{said}: its first panel has the keyboard");
            act(bench);
            assert!(!Popup::is_any_open(&bench.ctx), "{said}");
            bench.leave_field();
        }
        WindowAction::TogglePanel => {
            const WHICH: usize = 6;
            let toggle = Action::Row(Pressed { which: WHICH, ..Pressed::once(action) });
            let is_open = |bench: &Bench| {
                let mut panels = bench.world.resource::<WorkspaceState>().0.open_panels.panels();
                panels.any(|(panel, is_open)| is_open && panel.title() == PANELS[WHICH])
            };
            let before = is_open(bench);
            bench.ask(toggle.clone());
            assert_eq!(is_open(bench), !before, "{said}");
            bench.ask(toggle);
            assert_eq!(is_open(bench), before, "{said}");
        }
        WindowAction::ClosePanel => {
            bench.show_panel(6);
            assert!(bench.fronts().contains(&PANELS[6].to_owned()));
            act(bench);
            assert!(!bench.fronts().contains(&PANELS[6].to_owned()), "{said}");
            bench.show_panel(1);
            act(bench);
            assert!(bench.fronts().contains(&PANELS[1].to_owned()), "{said}: the stage stays");
        }
        WindowAction::NextSlide | WindowAction::PreviousSlide | WindowAction::EndPresentation => {
            let at = |bench: &mut Bench| {
                bench.state().presentation.as_ref().map(|talk| (talk.at().0.to_owned(), talk.at().1))
            };
            bench.select("double");
            bench.ask(WindowAction::Present);
            let first = at(bench).expect("a talk");
            if action == WindowAction::PreviousSlide {
                bench.ask(WindowAction::NextSlide);
                assert_ne!(at(bench).as_ref(), Some(&first));
            }
            act(bench);
            match action {
                WindowAction::NextSlide => assert_eq!(at(bench), Some(("double".to_owned(), 1)), "{said}"),
                WindowAction::PreviousSlide => assert_eq!(at(bench), Some(first), "{said}"),
                _ => assert_eq!(at(bench), None, "{said}"),
            }
            bench.ask(WindowAction::EndPresentation);
            bench.rest();
        }
        WindowAction::BesideOwn => {
            act(bench);
            assert!(bench.world.contains_resource::<OtherModel>(), "{said}");
            bench.ask(WindowAction::EndBeside);
            assert!(!bench.world.contains_resource::<OtherModel>(), "it ends");
        }
        WindowAction::EndBeside => {
            bench.ask(WindowAction::BesideOwn);
            act(bench);
            let is_beside = bench.world.contains_resource::<OtherModel>();
            assert!(!is_beside && bench.world.resource::<LatestModels>().beside.is_none(), "{said}");
        }
        WindowAction::Theme => {
            let before = bench.preferences().theme;
            act(bench);
            assert_eq!(bench.preferences().theme, before.next(), "{said}");
        }
        WindowAction::Larger | WindowAction::Smaller | WindowAction::UsualSize => {
            bench.view().preferences.zoom = 1.2;
            bench.rest();
            act(bench);
            let zoom = bench.preferences().zoom;
            let is_done = match action {
                WindowAction::Larger => zoom > 1.21,
                WindowAction::Smaller => zoom < 1.19 && zoom > 1.0,
                _ => zoom == 1.0,
            };
            assert!(is_done, "{said}: {zoom}");
            bench.view().preferences.zoom = 1.0;
            bench.rest();
        }
        WindowAction::ResetLesson => {
            act(bench);
            bench.until(&said, |bench| bench.world.resource::<Session>().model.is_reset);
            bench.until("a model", |bench| bench.training().stage == TrainingStage::Finished);
        }
        WindowAction::Questions => {
            // They are a lesson, so a window of its own leaves for it.
            let bench = &mut Bench::beside("keys-questions", &["questions.ron"]);
            act(bench);
            let lesson = |bench: &Bench| Some(bench.world.resource::<LatestModels>().snapshot()?.lesson.id.clone());
            bench.until(&said, |bench| lesson(bench).as_deref() == Some("questions"));
        }
        _ => unreachable!("{said}: it is no row of a table, and nothing checks it here"),
    }
}

/// Whether something is open or on.
type IsOn = fn(&Bench) -> bool;

const GLOSSARY: IsOn = |bench| bench.is_visible("Glossary");
const KEY_SHEET: IsOn = |bench| bench.window().is_key_sheet_open && bench.is_visible("Keys and mouse");
const FILES: IsOn = |bench| bench.window().files.is_open();

/// Actions that turn something on, and off again.
const TOGGLES: &[(WindowAction, IsOn)] = &[
    (WindowAction::Glossary, GLOSSARY),
    (WindowAction::KeySheet, KEY_SHEET),
    (WindowAction::ReadAdded, |bench| bench.world.resource::<ViewState>().selection.reading.is_added),
    (WindowAction::Present, |bench| bench.window().presentation.is_some()),
];

/// Actions that close what another opens.
const CLOSES: &[(WindowAction, WindowAction, IsOn)] = &[
    (WindowAction::CloseGlossary, WindowAction::Glossary, GLOSSARY),
    (WindowAction::CloseKeySheet, WindowAction::KeySheet, KEY_SHEET),
];

/// Actions that open something, which [`Bench::close_opened`] closes.
const OPENS: &[(WindowAction, IsOn)] = &[
    (WindowAction::Beside, FILES),
    (WindowAction::NewLesson, FILES),
    (WindowAction::CopyLesson, FILES),
    (WindowAction::Browse, FILES),
    (WindowAction::Record, FILES),
    (WindowAction::Course, |bench| bench.world.resource::<CoursePage>().is_open),
    (WindowAction::Review, |bench| {
        let page = bench.world.resource::<CoursePage>();
        page.is_open && page.ui.shows_review
    }),
    (WindowAction::HandIn, |bench| bench.window().hand_in.is_some() && bench.is_visible("Hand in")),
    (WindowAction::Share, |bench| bench.window().is_sharing && bench.is_visible("Share")),
    (WindowAction::Picture, |bench| bench.window().picture.is_some()),
    (WindowAction::Checkpoints, |bench| bench.world.resource::<WorkspaceState>().0.checkpoints.is_some()),
    (WindowAction::Map, |bench| !matches!(bench.window().map, StillState::None)),
];

/// Checks an action that is a row of a table; `false` of any other.
fn check_row(bench: &mut Bench, action: WindowAction, act: &dyn Fn(&mut Bench)) -> bool {
    let expect = |bench: &Bench, is_on: IsOn, expected| assert_eq!(is_on(bench), expected, "{action:?}");
    if let Some((_, is_on)) = TOGGLES.iter().find(|(of, _)| *of == action) {
        expect(bench, *is_on, false);
        act(bench);
        expect(bench, *is_on, true);
        act(bench);
        expect(bench, *is_on, false);
    } else if let Some((_, opener, is_on)) = CLOSES.iter().find(|(of, ..)| *of == action) {
        bench.ask(*opener);
        expect(bench, *is_on, true);
        act(bench);
        expect(bench, *is_on, false);
    } else if let Some((_, is_open)) = OPENS.iter().find(|(of, ..)| *of == action) {
        expect(bench, *is_open, false);
        act(bench);
        expect(bench, *is_open, true);
        bench.close_opened();
        expect(bench, *is_open, false);
    } else {
        return false;
    }
    true
}

#[test]
fn every_key_of_the_stage_does_what_its_row_says() {
    let mut bench = Bench::open("keys-stage");
    let stage = bench.ctx.read_response(stage_id()).expect("the stage is shown").rect;
    for (action, row) in StageAction::ROWS {
        for (which, key) in keys(row) {
            // In a corner, where no word is.
            bench.click_at(stage.left_bottom() + egui::vec2(12.0, -12.0));
            check_stage(&mut bench, *action, which, key);
        }
    }
}

fn check_stage(bench: &mut Bench, action: StageAction, which: usize, key: Shortcut) {
    let said = format!("{action:?}, key {which}");
    let before = bench.pose();
    let query = |bench: &mut Bench| bench.view().selection.query;
    match action {
        StageAction::Orbit => {
            bench.press(key);
            let after = bench.pose();
            let turned = [
                after.pitch - before.pitch,
                before.pitch - after.pitch,
                before.yaw - after.yaw,
                after.yaw - before.yaw,
            ];
            assert!(turned[which] > 0.1 && after.target == before.target, "{said}: {turned:?}");
        }
        StageAction::Pan => {
            bench.press(key);
            let after = bench.pose();
            let moved = after.target - before.target;
            let right = bevy::math::Vec3::new(before.yaw.cos(), 0.0, -before.yaw.sin());
            let along = [moved.y, -moved.y, -moved.dot(right), moved.dot(right)];
            assert!(along[which] > 0.01 && after.yaw == before.yaw, "{said}: {along:?}");
        }
        StageAction::Nearer => {
            bench.press(key);
            assert!(bench.pose().distance < before.distance, "{said}");
        }
        StageAction::Farther => {
            bench.press(key);
            assert!(bench.pose().distance > before.distance, "{said}");
        }
        StageAction::Focus => {
            bench.view().selection.choose_query(Some(1));
            bench.press(key);
            let after = bench.pose();
            assert!(after.target != before.target && after.yaw == before.yaw, "{said}: {after:?}");
        }
        StageAction::LookAlong => {
            bench.press(key);
            let Pose { yaw, pitch, .. } = bench.pose();
            let to = bevy::math::Vec3::new(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos());
            assert!(to[which] > 0.99, "{said}: {to}");
        }
        StageAction::Flat => {
            bench.press(key);
            assert_eq!(bench.pose().perspective, 0.0, "{said}");
            bench.press(key);
            assert_eq!(bench.pose().perspective, 1.0, "{said}");
        }
        StageAction::Search => {
            bench.press(key);
            assert_eq!(bench.focused(), Some(keys::stage_search()), "{said}");
            bench.leave_field();
        }
        StageAction::Lasso => {
            bench.press(key);
            assert!(bench.view().highlight.draws_lasso, "{said}");
            bench.view().highlight.draws_lasso = false;
        }
        StageAction::Isolate => {
            bench.press(key);
            assert!(bench.view().highlight.isolated, "{said}");
            bench.view().highlight.isolated = false;
        }
        StageAction::NextQuery | StageAction::QueryBefore => {
            bench.view().selection.choose_query(Some(2));
            bench.press(key);
            let to = if action == StageAction::NextQuery { 3 } else { 1 };
            assert_eq!(query(bench), Some(to), "{said}");
        }
        StageAction::Clear => {
            bench.view().selection.choose_query(Some(2));
            bench.press(key);
            assert_eq!(query(bench), None, "{said}");
        }
        StageAction::Home => {
            let press_at = |bench: &mut Bench, at| {
                let rig = &mut bench.world.resource_mut::<StageTab>().controls.rig;
                rig.orbit(bevy::math::Vec2::new(40.0, 10.0));
                let mut home = rig.clone();
                home.home();
                home.advance(f32::INFINITY);
                let turned = bench.pose();
                bench.point_at(at);
                bench.press(key);
                assert!(bench.pose() != turned && bench.pose() == home.pose, "{said}");
            };
            let stage = bench.ctx.read_response(stage_id()).expect("the stage is shown").rect;
            press_at(bench, stage.left_bottom() + egui::vec2(12.0, -12.0));
            // The one that goes wherever the pointer is.
            press_at(bench, ELSEWHERE);
        }
    }
}

#[test]
fn every_key_of_the_sentence_does_what_its_row_says() {
    let mut bench = Bench::open("keys-sentence");
    let strip = bench.ctx.read_response(strip_id()).expect("the sentence is shown").rect;
    for (action, row) in SentenceAction::ROWS {
        for (_, key) in keys(row) {
            bench.click_at(strip.left_top() + egui::vec2(2.0, strip.height() / 2.0));
            check_sentence(&mut bench, *action, key);
        }
    }
}

#[test]
fn the_notebook_has_the_keys_while_the_mouse_is_put_aside_over_the_stage() {
    let mut bench = Bench::open("keys-aside");
    let stage = bench.ctx.read_response(stage_id()).expect("the stage is shown").rect;
    let down = NotebookAction::SelectBelow.row().keys[0];
    let ids = bench.ids();
    bench.select(&ids[0]);
    let check = |bench: &mut Bench, selected: usize, turns: bool| {
        let before = bench.pose();
        bench.press(down);
        assert_eq!((bench.selected().as_ref(), bench.pose() != before), (Some(&ids[selected]), turns));
    };
    bench.point_at(stage.center());
    check(&mut bench, 1, false);
    bench.click_at(stage.left_bottom() + egui::vec2(12.0, -12.0));
    bench.point_at(ELSEWHERE);
    check(&mut bench, 1, true);
    bench.click_at(ELSEWHERE);
    bench.point_at(stage.center());
    check(&mut bench, 2, false);
}

#[test]
fn other_axes_bring_the_camera_home() {
    let mut bench = Bench::open("keys-axes");
    let advance = |bench: &mut Bench| {
        bench.world.run_system_once(stage::frame::advance).expect("it runs");
        bench.rest();
    };
    advance(&mut bench);
    let home = bench.pose();
    let away = |bench: &mut Bench| {
        let rig = &mut bench.world.resource_mut::<StageTab>().controls.rig;
        rig.pan(bevy::math::Vec2::new(400.0, 300.0), bevy::math::Vec2::splat(500.0));
    };
    away(&mut bench);
    bench.send(Command::Sentence(SentenceCommand::Select(1)));
    bench.until("a sentence", |bench| {
        bench.snapshot().model.as_ref().is_some_and(|model| model.sentence.index == Some(1))
    });
    advance(&mut bench);
    assert!(bench.pose().target != home.target, "another sentence leaves a camera that was moved where it is");
    bench.send(Command::Axes(AxisCommand::Refit));
    bench.until("other axes", |bench| {
        bench.snapshot().space.as_ref().is_some_and(|space| space.basis != space.own_basis)
    });
    advance(&mut bench);
    assert!(!bench.world.resource::<StageTab>().controls.rig.is_touched());
}

fn check_sentence(bench: &mut Bench, action: SentenceAction, key: Shortcut) {
    let said = format!("{action:?}");
    let pose = bench.pose();
    bench.view().selection.choose_query(Some(2));
    bench.rest();
    let direction = |bench: &Bench| bench.world.resource::<StageTab>().strip.direction;
    let before = direction(bench);
    match action {
        SentenceAction::WordBefore | SentenceAction::WordAfter => {
            bench.press(key);
            let to = if action == SentenceAction::WordBefore { 1 } else { 3 };
            assert_eq!(bench.view().selection.query, Some(to), "{said}");
        }
        SentenceAction::HeadBefore | SentenceAction::HeadAfter => {
            bench.view().selection.show_head(Some(0));
            bench.press(key);
            let to = if action == SentenceAction::HeadBefore { None } else { Some(1) };
            assert_eq!(bench.view().selection.shown_head(), to, "{said}");
            bench.view().selection.show_head(None);
        }
        SentenceAction::Turn => {
            bench.press(key);
            assert_eq!(direction(bench), before.other(), "{said}");
        }
        SentenceAction::LetGo => {
            bench.press(key);
            assert_eq!(bench.view().selection.query, None, "{said}");
        }
    }
    assert_eq!(bench.pose(), pose, "the camera stays");
}

#[test]
fn every_key_of_the_notebook_does_what_its_row_says() {
    for (action, row) in NotebookAction::ROWS {
        for (which, key) in keys(row) {
            check_notebook(*action, which, key);
        }
    }
}

/// Actions of a cell that is selected, by its keys where they are letters, and what then holds.
const OF_CELLS: &[(NotebookAction, bool, &str, IsOn)] = &[
    (NotebookAction::Delete, true, "turn", |bench| bench.place("turn").is_none()),
    (NotebookAction::MakeText, true, "double", |bench| bench.cell("double").is_text()),
    (NotebookAction::MakeCode, true, "intro", |bench| bench.cell("intro").is_code()),
    (NotebookAction::MoveUp, false, "turn", |bench| bench.are_neighbours("turn", "double")),
    (NotebookAction::MoveDown, false, "turn", |bench| bench.are_neighbours("uses", "turn")),
    (NotebookAction::Merge, true, "uses", |bench| bench.place("reads").is_none()),
    (NotebookAction::Fold, true, "double", |bench| bench.cell("double").is_folded),
    (NotebookAction::Hint, false, "middle", |bench| bench.cell("middle").attempts().hints == 1),
    (NotebookAction::Solution, false, "middle", |bench| bench.cell("middle").attempts().is_revealed),
];

fn check_notebook(action: NotebookAction, which: usize, key: Shortcut) {
    use NotebookAction as Do;
    let said = format!("{action:?}, key {which}");
    let bench = &mut Bench::open("keys-notebook");
    if let Some((_, by_keys, cell, is_done)) = OF_CELLS.iter().find(|(of, ..)| *of == action) {
        if *by_keys {
            bench.select_by_keys(cell)
        } else {
            bench.select(cell)
        }
        bench.press(key);
        return bench.until(&said, is_done);
    }
    let is_writing = |bench: &Bench| bench.ctx.text_edit_focused();
    let own = |bench: &Bench| bench.ids().iter().position(|id| id.starts_with("own"));
    match action {
        Do::Write => {
            bench.select("double");
            bench.press(key);
            assert!(is_writing(bench), "{said}");
        }
        Do::Leave => {
            bench.select("double");
            bench.press(NotebookAction::Write.row().keys[0]);
            assert!(is_writing(bench));
            bench.press(key);
            assert!(!is_writing(bench), "{said}");
        }
        Do::SelectAbove | Do::SelectBelow => {
            bench.select("turn");
            bench.press(key);
            let to = if action == Do::SelectAbove { "double" } else { "uses" };
            assert_eq!(bench.selected().as_deref(), Some(to), "{said}");
        }
        Do::Run | Do::RunAndGoOn | Do::RunAndInsert => {
            for writes in [false, true] {
                bench.select("double");
                if writes {
                    bench.press(NotebookAction::Write.row().keys[0]);
                    assert!(is_writing(bench));
                }
                let (before, count) = (bench.runs("double"), bench.ids().len());
                bench.press(key);
                bench.until(&said, |bench| bench.runs("double") > before);
                bench.rest();
                let inserted = bench.ids().len() - count;
                let selected = bench.selected();
                match action {
                    Do::Run => {
                        assert_eq!((selected.as_deref(), inserted), (Some("double"), 0), "{said}");
                        assert_eq!(is_writing(bench), writes, "{said}");
                    }
                    Do::RunAndGoOn => assert!(
                        selected.as_deref() != Some("double") && inserted == 0 && !is_writing(bench),
                        "{said}: {selected:?}"
                    ),
                    _ => assert!(inserted == 1 && is_writing(bench), "{said}"),
                }
                if is_writing(bench) {
                    bench.press(NotebookAction::Leave.row().keys[0]);
                }
            }
        }
        Do::EditText => {
            bench.select("intro");
            bench.press(NotebookAction::Write.row().keys[0]);
            assert!(!is_writing(bench) && bench.selected().as_deref() == Some("double"), "Enter reads on");
            bench.select("intro");
            bench.press(key);
            assert!(is_writing(bench), "{said}");
        }
        Do::InsertAbove | Do::InsertBelow => {
            bench.select_by_keys("turn");
            let at = bench.place("turn").expect("a cell");
            bench.press(key);
            bench.until(&said, |bench| own(bench) == Some(at + usize::from(action == Do::InsertBelow)));
            assert!(!is_writing(bench));
        }
        Do::UndoDelete => {
            bench.select_by_keys("turn");
            bench.press(NotebookAction::Delete.row().keys[0]);
            bench.until("it is gone", |bench| bench.place("turn").is_none());
            bench.press(key);
            bench.until(&said, |bench| bench.place("turn").is_some());
        }
        Do::Split => {
            bench.select("double");
            bench.press(NotebookAction::Write.row().keys[0]);
            let count = bench.ids().len();
            bench.press(key);
            bench.until(&said, |bench| bench.ids().len() == count + 1);
        }
        Do::Interrupt => {
            bench.press(key);
            assert!(bench.has_asked(&NotebookCommand::Interrupt), "{said}");
        }
        Do::Restart => {
            bench.press(NotebookAction::Leave.row().keys[0]);
            bench.press(key);
            assert!(bench.has_asked(&NotebookCommand::Restart), "{said}");
        }
        Do::Answer => {
            bench.select("guess");
            bench.press(key);
            bench.until(&said, |bench| {
                bench.cell("guess").answer == Answer::Predict { chosen: Some(which), is_locked: false }
            });
            bench.press(NotebookAction::Write.row().keys[0]);
            bench.until("Enter locks it in", |bench| {
                bench.cell("guess").answer == Answer::Predict { chosen: Some(which), is_locked: true }
            });
        }
        Do::Turn | Do::TurnFinely => {
            bench.select("turn");
            bench.press(key);
            let step = if action == Do::Turn { 0.25 } else { 0.025 };
            let to = if which == 0 { 1.0 - step } else { 1.0 + step };
            bench.until(&said, |bench| bench.cell("turn").answer == Answer::Slider(to));
        }
        Do::Functions => {
            bench.press(key);
            assert!(bench.is_visible("Functions"), "{said}");
            assert_eq!(bench.focused(), Some(keys::function_search()), "{said}");
        }
        _ => unreachable!("{said}: it is no row of the table, and nothing checks it here"),
    }
}

#[test]
fn the_sentence_is_called_from_within_a_cell_by_a_key_that_writes_nothing() {
    let mut bench = Bench::open("keys-from-cell");
    bench.select("double");
    bench.press(NotebookAction::Write.row().keys[0]);
    assert!(bench.ctx.text_edit_focused());
    let (code, shown) = (bench.cell("double").text.clone(), sentence(&bench.world));
    let Shortcut { key, modifiers, .. } = WindowAction::WriteSentence.row().keys[0];
    let press = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    // As a keyboard sends it: with the text of the letter.
    bench.frame(vec![Event::Text("s".to_owned()), press]);
    bench.rest();
    assert_eq!(bench.focused(), Some(keys::sentence_field(SENTENCE)));
    bench.leave_field();
    assert_eq!((&bench.cell("double").text, sentence(&bench.world)), (&code, shown));
}

#[test]
fn a_stage_card_shown_again_shows_the_same_picture() {
    let mut bench = Bench::open("keys-card");
    let shown = |bench: &mut Bench| {
        bench.select("both");
        bench.press(NotebookAction::Write.row().keys[0]);
        bench.world.run_system_once(stage::frame::advance).expect("it runs");
        bench.rest();
        let (pose, view) = (bench.pose(), bench.view());
        (
            pose,
            view.walk.clone(),
            view.selection.chosen_query(),
            view.highlight.lit.clone(),
            view.highlight.is_narrowed(),
        )
    };
    let first = shown(&mut bench);
    let rig = &mut bench.world.resource_mut::<StageTab>().controls.rig;
    rig.toggle_flat();
    rig.pan(bevy::math::Vec2::new(40.0, 10.0), bevy::math::Vec2::splat(500.0));
    let mut view = bench.view();
    view.selection.choose_query(Some(0));
    view.walk.set(2.0);
    (view.highlight.search.text, view.highlight.isolated) = ("duck".to_owned(), true);
    bench.rest();
    assert!(bench.pose() != first.0 && bench.view().highlight.is_narrowed());
    assert_eq!(shown(&mut bench), first);
}

#[test]
fn every_key_stands_on_the_sheet_or_is_mentioned_there() {
    fn check<A: ActionTable>() {
        for (action, row) in A::ROWS {
            assert_eq!(row.keys.is_empty(), row.line == SheetLine::Unlisted, "{action:?}");
        }
    }
    check::<WindowAction>();
    check::<StageAction>();
    check::<SentenceAction>();
    check::<NotebookAction>();
}

#[test]
fn the_key_sheet_is_printed_from_the_tables() {
    let line = |KeyLine { keys, meaning }: &KeyLine| format!("{keys:24}{meaning}\n");
    let part =
        |(title, lines): &(&str, Vec<KeyLine>)| format!("{title}\n{}\n", lines.iter().map(line).collect::<String>());
    let printed: String = parts().iter().map(part).collect();
    assert_kept("tests/window/key_sheet.txt", &printed);
}
