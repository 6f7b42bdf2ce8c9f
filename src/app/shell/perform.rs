//! The functions that perform the actions of keys, buttons, menus, dialogs and links. No other code performs them.
//!
//! Each action of the table is listed in [`effect`] with a function of the part of the window that it changes. A
//! missing action is a compile error.

use attune_core::kernel::command::{AxisCommand, Command, SentenceCommand, TrainingCommand};
use attune_core::lesson::course::QUESTIONS;
use attune_core::lesson::links::TextLink;
use attune_core::lesson::recorded::STRETCH;
use attune_engine::quantity::{Entry, Quantity};
use attune_view::explain::walk::{Focus, Step};
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::meaning::{SensesModel, written_at};
use attune_view::view_model::recorded::RecordingModel;
use attune_view::view_model::saved_view::MeaningView;
use attune_view::view_model::score::score_by_default;
use attune_view::view_model::sentences::SentencesModel;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use bevy::prelude::*;
use bevy_egui::{EguiContext, PrimaryEguiContext};
use egui::Id;

use super::beside::{self, show_meaning};
use super::course::{self, CoursePage};
use super::dialogs::HandInUiState;
use super::links::{follow_link, open_at};
use super::state::WindowState;
use super::{jobs, opening, presentation};
use crate::app::actions::{Action, FilePurpose, Pressed, WindowAction, keys};
use crate::app::link::{LatestModels, Outbox, send_now};
use crate::app::panels::meaning::{SECOND_SENTENCE, toggle};
use crate::app::panels::senses::{SENSE_WORD, toggle_senses};
use crate::app::panels::training::{FAR_STEPS, look_at, play_or_pause};
use crate::app::panels::{self, PanelId, PanelName};
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;
use crate::app::work::recall;
use crate::app::work::session::Session;
use crate::app::workspace::notices::SavingChoice;
use crate::app::workspace::top_bar::SENTENCE;
use crate::app::workspace::windows::is_of_score;
use crate::app::workspace::{Workspace, WorkspaceState};

/// Performs the actions that were requested in this frame.
pub fn perform(world: &mut World) {
    opening::open_shared(world);
    for action in std::mem::take(&mut world.resource_mut::<WindowState>().asked) {
        match action {
            Action::Row(pressed) => perform_row(world, pressed),
            Action::Back => world.resource_mut::<CoursePage>().close(),
            Action::ChooseFile(purpose) => jobs::choose_file(world, purpose),
            Action::UseFile(purpose, file) => jobs::use_file(world, purpose, file),
            Action::CloseMap => jobs::close_map(world),
            Action::GoBack(place) => choose(world, SavingChoice::GoBack(place)),
            Action::ResetCourse => course::reset(world, true),
            Action::UndoResetCourse => course::reset(world, false),
            Action::OpenCell(file, cell) => open_at(world, file, cell),
            Action::LeaveRecall => recall::leave(world),
            Action::Follow(link) => follow_link(world, link),
            Action::Reach(reached) => {
                let lesson = world.resource::<LatestModels>().snapshot().map(|snapshot| snapshot.lesson.clone());
                lesson.inspect(|lesson| world.resource_mut::<WorkspaceState>().0.reach(lesson, &reached));
            }
            Action::SetPace(pace) => world.resource_mut::<Outbox>().pace = pace,
        }
        // The next action may open another lesson, but the commands belong to this one.
        send_now(world);
    }
    presentation::follow(world);
}

/// The effect of an action, as a function of the part on which it acts. It is called once for each press of the key.
enum Effect {
    View(fn(&mut ViewState)),
    /// Called with the index of the key within its row, which is the index of the panel.
    Workspace(fn(&mut Workspace, usize)),
    Window(fn(&mut WindowState)),
    World(fn(&mut World)),
    /// Returns commands for the kernel, given the current models. It is called once for all presses.
    Kernel(fn(&LatestModels, Pressed<WindowAction>) -> Vec<Command>),
}

fn effect(action: WindowAction) -> Effect {
    use Effect::{Kernel, View, Window, Workspace, World};
    use WindowAction as Do;
    match action {
        Do::StepOn => World(step_on),
        Do::StepBack => View(|view| view.walk.step_back()),
        Do::NextLayer => View(|view| view.walk.pass_by(1)),
        Do::LayerBefore => View(|view| view.walk.pass_by(-1)),
        Do::Origin => World(open_origin),
        Do::WhyThere => World(why_there),
        Do::MapAnswer => World(|world| press_in(world, PanelName::Intervene, Do::MapAnswer)),
        Do::MeasureWords => World(|world| press_in(world, PanelName::Answers, Do::MeasureWords)),
        Do::ComputeTables => World(|world| press_in(world, PanelName::AllHeads, Do::ComputeTables)),
        Do::MeasureTexts => World(|world| press_in(world, PanelName::AllHeads, Do::MeasureTexts)),
        Do::CloseOrigin => View(|view| view.trail.close()),
        Do::OriginBefore => View(|view| view.trail.back()),
        Do::ReadAdded => View(|view| view.selection.reading.turn_added()),
        Do::HideSinks => World(hide_sinks),
        Do::Pieces => View(|view| view.highlight.pieces ^= true),
        Do::Theme => View(|view| view.preferences.theme = view.preferences.theme.next()),
        Do::Larger => View(|view| view.preferences.zoom_by(1.0)),
        Do::Smaller => View(|view| view.preferences.zoom_by(-1.0)),
        Do::UsualSize => View(|view| view.preferences.zoom = 1.0),

        Do::Play | Do::TrainStep | Do::BrowseTraining | Do::BrowseTrainingFar => Kernel(|models, pressed| {
            models
                .get::<TrainingModel>()
                .and_then(|training| training_command(pressed, &training))
                .into_iter()
                .collect()
        }),
        Do::RawStates => Kernel(|models, _| {
            let space = models.snapshot().and_then(|snapshot| snapshot.space.as_ref());
            vec![Command::Axes(AxisCommand::SetRaw(!space.is_some_and(|space| space.basis.raw)))]
        }),
        Do::TokensBefore | Do::TokensAfter => Kernel(turn_tokens),
        Do::Undo => Kernel(|_, pressed| vec![Command::Undo; pressed.count]),
        Do::Redo => Kernel(|_, pressed| vec![Command::Redo; pressed.count]),

        Do::WriteSentence => World(|world| ask_for_keyboard(world, keys::sentence_field(SENTENCE))),
        Do::Compare => World(compare),
        Do::Senses => World(compare_senses),
        Do::Glossary => World(toggle_glossary),
        Do::Questions => World(|world| follow_link(world, TextLink::Lesson(QUESTIONS.to_owned()))),
        Do::CloseGlossary => Workspace(|workspace, _| workspace.glossary.is_open = false),
        Do::Panel => Workspace(|workspace, which| {
            if let Some(panel) = panels::ids().get(which) {
                workspace.open_panels.show(*panel);
            }
        }),
        Do::TogglePanel => Workspace(|workspace, which| {
            if let Some(panel) = panels::ids().get(which) {
                workspace.open_panels.toggle(*panel);
            }
        }),
        Do::ClosePanel => Workspace(|workspace, _| {
            if let Some(panel) = workspace.open_panels.current() {
                workspace.open_panels.close(panel);
            }
        }),
        Do::Lab => Workspace(|workspace, _| workspace.top_bar.toggles_lab ^= true),

        Do::Present => World(presentation::toggle),
        Do::NextSlide => World(|world| presentation::turn(world, true)),
        Do::PreviousSlide => World(|world| presentation::turn(world, false)),
        Do::EndPresentation => World(presentation::end),

        Do::Course => World(course::show),
        Do::Review => World(course::show_review),
        Do::Browse => World(|world| jobs::choose_file(world, FilePurpose::Open)),
        Do::Beside => World(|world| jobs::choose_file(world, FilePurpose::OpenBeside)),
        Do::EndBeside => World(beside::end_beside),
        Do::BesideOwn => World(beside::open_own_beside),
        Do::NewLesson => World(|world| jobs::choose_file(world, FilePurpose::NewLesson { is_copy: false })),
        Do::CopyLesson => World(|world| jobs::choose_file(world, FilePurpose::NewLesson { is_copy: true })),
        Do::Picture => World(jobs::choose_picture),
        Do::Record => World(|world| jobs::choose_file(world, FilePurpose::Recording)),
        Do::HandIn => Window(|window| window.hand_in = (!window.is_exporting()).then(HandInUiState::default)),
        Do::Share => Window(|window| window.is_sharing = !window.is_exporting()),
        Do::Map => World(jobs::draw_map),
        Do::KeySheet => Window(|window| window.is_key_sheet_open ^= true),
        Do::CloseKeySheet => Window(|window| window.is_key_sheet_open = false),
        Do::Checkpoints => World(|world| {
            let rows = world.get_resource_mut::<Session>().map(|mut session| session.list_checkpoints());
            world.resource_mut::<WorkspaceState>().0.checkpoints = rows;
        }),
        Do::ResetLesson => World(|world| choose(world, SavingChoice::Reset)),
    }
}

fn perform_row(world: &mut World, pressed: Pressed<WindowAction>) {
    let Pressed { action, which, count } = pressed;
    let presses = 0..count;
    match effect(action) {
        Effect::View(act) => presses.for_each(|_| act(&mut world.resource_mut::<ViewState>())),
        Effect::Workspace(act) => presses.for_each(|_| act(&mut world.resource_mut::<WorkspaceState>().0, which)),
        Effect::Window(act) => presses.for_each(|_| act(&mut world.resource_mut::<WindowState>())),
        Effect::World(act) => presses.for_each(|_| act(world)),
        Effect::Kernel(act) => {
            let commands = act(world.resource::<LatestModels>(), pressed);
            world.resource_mut::<Outbox>().commands.extend(commands);
        }
    }
}

/// Takes a step on the walk. If no word attends to another, there are no steps, and the points move from static to
/// contextual, or back.
fn step_on(world: &mut World) {
    let attention = world.resource::<LatestModels>().get::<AttentionMaps>();
    let walk = &mut world.resource_mut::<ViewState>().walk;
    match attention {
        Some(attention) if attention.is_each_word_alone() => walk.glide_to(if walk.time() < 1.0 { 1.0 } else { 0.0 }),
        _ => walk.step_on(),
    }
}

/// Returns the command that shows other tokens of a long text, if there are some before or after those that are shown.
fn turn_tokens(models: &LatestModels, pressed: Pressed<WindowAction>) -> Vec<Command> {
    let Some(stretch) = models.get::<RecordingModel>().and_then(|model| model.stretch.clone()) else {
        return Vec::new();
    };
    let further = pressed.count.saturating_sub(1) * STRETCH;
    let first = match pressed.action {
        WindowAction::TokensBefore => stretch.before.map(|first| first.saturating_sub(further)),
        _ => stretch.behind.map(|first| first + further),
    };
    first.map(|first| Command::Sentence(SentenceCommand::Stretch(first))).into_iter().collect()
}

fn open_origin(world: &mut World) {
    let walk = world.resource::<StageState>().walk.as_deref();
    let entry = walk.map(|walk| Quantity::Weight.of_head(walk.focus.head, [walk.focus.query, walk.key]));
    if let Some(entry) = entry {
        world.resource_mut::<ViewState>().trail.open(entry);
    }
}

/// Opens *Step* at the score of a pair: the pair whose number's provenance is open, or else the pair of the walk, or
/// else the default pair.
fn why_there(world: &mut World) {
    let asked = world.resource::<ViewState>().trail.entry().filter(|entry| is_of_score(entry.quantity));
    let stage = world.resource::<StageState>();
    let walked = stage.walk.as_deref().map(|walk| (walk.focus.head, [walk.focus.query, walk.key]));
    let of_entry = |entry: Entry| (entry.owner.number(), [entry.index[0], entry.index[1]]);
    let pair = asked.map(of_entry).or(walked).or_else(|| pair_by_default(world));
    let layer = pair.and_then(|(head, _)| stage.route.as_ref()?.layer_of(head));
    world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(PanelName::Step));
    let ViewState { selection, trail, walk, .. } = &mut *world.resource_mut::<ViewState>();
    trail.close();
    if let (Some((head, [query, key])), Some(layer)) = (pair, layer) {
        selection.choose_query(Some(query));
        selection.choose_head(head);
        selection.key = Some(key);
        walk.show_step(layer, Step::Score);
    }
}

/// Brings a panel to the front, where the next frame presses the button of the action.
fn press_in(world: &mut World, panel: PanelName, action: WindowAction) {
    world.resource_mut::<WorkspaceState>().0.open_panels.show(PanelId::of(panel));
    world.resource_mut::<ViewState>().asked.button = Some(action);
}

/// Returns the head and the pair whose score is explained while no word is chosen.
fn pair_by_default(world: &World) -> Option<(usize, [usize; 2])> {
    let word = world.resource::<StageState>().route.as_ref()?.word(&world.resource::<ViewState>().highlight.lit)?;
    let Focus { query, head, key } = score_by_default(world.resource::<LatestModels>().snapshot()?, word)?;
    Some((head, [query, key?]))
}

fn hide_sinks(world: &mut World) {
    let has_sinks = world.resource::<LatestModels>().get::<AttentionMaps>().is_some_and(|it| !it.sinks.is_empty());
    world.resource_mut::<ViewState>().selection.reading.turn_sinks(has_sinks);
}

/// Returns the command that plays or pauses training, trains one step, or shows another step.
pub fn training_command(pressed: Pressed<WindowAction>, training: &TrainingModel) -> Option<Command> {
    let Pressed { action, which, count } = pressed;
    let look = |by: usize| {
        let to = if which == 0 { training.sought.saturating_sub(by) } else { training.sought + by };
        look_at(training, to)
    };
    match action {
        // At the last step the button is disabled, but the key is not: the kernel's notice explains why nothing
        // happens.
        WindowAction::Play if training.stage == TrainingStage::Finished => {
            Some(Command::Training(TrainingCommand::Play))
        }
        WindowAction::Play => play_or_pause(training),
        WindowAction::TrainStep => Some(Command::Training(TrainingCommand::Step(count))),
        WindowAction::BrowseTraining => look(count),
        WindowAction::BrowseTrainingFar => look(count * FAR_STEPS),
        _ => None,
    }
}

/// Starts a comparison, with its panel in front and the keyboard in the field of the second sentence, or ends it.
fn compare(world: &mut World) {
    let Some(sentences) = world.resource::<LatestModels>().get::<SentencesModel>() else { return };
    world.resource_mut::<Outbox>().commands.push(toggle(&sentences));
    if sentences.second.is_none() {
        show_meaning(world, MeaningView::Sentences);
        ask_for_keyboard(world, keys::sentence_field(SECOND_SENTENCE));
    }
}

/// Shows the senses of a word, with their panel in front, or hides them.
fn compare_senses(world: &mut World) {
    let Some(senses) = world.resource::<LatestModels>().get::<SensesModel>() else { return };
    let query = world.resource::<ViewState>().selection.query;
    let commands =
        toggle_senses(&senses, world.resource::<LatestModels>().snapshot().and_then(|of| written_at(of, query)));
    world.resource_mut::<Outbox>().commands.extend(commands);
    if !senses.is_on {
        show_meaning(world, MeaningView::Senses);
        ask_for_keyboard(world, keys::sentence_field(SENSE_WORD));
    }
}

fn toggle_glossary(world: &mut World) {
    if world.resource_mut::<WorkspaceState>().0.glossary.toggle() {
        ask_for_keyboard(world, keys::glossary_search());
    }
}

fn ask_for_keyboard(world: &mut World, to: Id) {
    let mut contexts = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
    for mut context in contexts.iter_mut(world) {
        keys::ask(context.get_mut(), to);
    }
}

/// Passes the learner's choice about saving to the session.
fn choose(world: &mut World, choice: SavingChoice) {
    if let Some(mut session) = world.get_resource_mut::<Session>() {
        session.choice = Some(choice);
    }
}
