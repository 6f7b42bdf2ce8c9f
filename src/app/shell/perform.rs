//! Performs the requests that keys, buttons and dialogs make of the window. Nothing else does.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use attune_core::kernel::Saved;
use attune_core::kernel::command::{AxisCommand, Command, SenseCommand, SenseList, TrainingCommand};
use attune_core::kernel::snapshot::{Progress, Snapshot};
use attune_core::lesson::Lesson;
use attune_core::lesson::course::is_lesson;
use attune_core::lesson::starter;
use attune_core::store::Home;
use attune_engine::quantity::Quantity;
use attune_view::export::shared::{Shared, is_shared};
use attune_view::export::work_file::{LessonMark, WorkFile};
use attune_view::export::{self, Format};
use attune_view::view_model::attention::AttentionModel;
use attune_view::view_model::pictures::nearest;
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::senses::{SensesModel, written_at};
use attune_view::view_model::sentences::SentencesModel;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use bevy::prelude::*;
use bevy_egui::{EguiContext, PrimaryEguiContext};
use egui::Id;

use super::course::CoursePage;
use super::dock::WorkspaceState;
use super::exported::ExportModel;
use super::follow::follow;
use super::hand_in::HandInUiState;
use super::opening::{Opening, Setup, close, name_window, unsaved};
use super::presenting;
use super::saving::SavingChoice;
use super::state::WindowState;
use super::still_map::StillState;
use super::top_bar::SENTENCE;
use crate::app::actions::window::{PictureChoice, WorkChoice};
use crate::app::actions::{Action, ListChoice, Pressed, WindowAction, focus};
use crate::app::link::{Outbox, send_now};
use crate::app::panels;
use crate::app::panels::compare::{SECOND_SENTENCE, toggle};
use crate::app::panels::meaning::MeaningPanel;
use crate::app::panels::senses::{SENSE_WORD, toggle_senses};
use crate::app::panels::training::curve::{FAR_STEPS, look_at};
use crate::app::panels::training::play_or_pause;
use crate::app::render::picture::{PictureOptions, StageView};
use crate::app::scene::Scene;
use crate::app::stage::frame::StageTab;
use crate::app::stage::scene::StageScene;
use crate::app::view::ViewState;
use crate::app::work::beside::OtherModel;
use crate::app::work::exporting::Export;
use crate::app::work::job::Job;
use crate::app::work::profile::Profile;
use crate::app::work::session::Session;
use crate::app::work::still_map::Drawing;
use crate::built_in;

/// Pixels a point of a picture: beyond, its letters would be no letters, or nothing but letters.
const ZOOM: (f32, f32) = (0.25, 12.0);

/// The work beside the window.
#[derive(Resource, Default)]
pub struct Jobs {
    export: Option<Mutex<Export>>,
    editor: Option<Mutex<Export>>,
    map: Option<Mutex<Drawing>>,
    opening: Option<Mutex<Job<Shared>>>,
}

/// Shows how the export goes, and whether the editor has opened.
pub fn follow_export(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>) {
    if let Some(job) = &mut jobs.editor
        && let Some(told) = job.get_mut().unwrap_or_else(PoisonError::into_inner).poll()
    {
        state.export = ExportModel::Said(told);
        jobs.editor = None;
    }
    let Some(job) = &mut jobs.export else { return };
    let job = job.get_mut().unwrap_or_else(PoisonError::into_inner);
    let (end, Progress { done, of }) = (job.poll(), job.progress());
    state.export = match end {
        None => ExportModel::Writing { done, of },
        Some(Ok(what)) => ExportModel::Written(what),
        Some(Err(why)) => ExportModel::Failed(why),
    };
    if !state.is_exporting() {
        jobs.export = None;
    }
}

/// Shows how the still map goes.
pub fn follow_map(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>) {
    let Some(drawing) = &mut jobs.map else { return };
    let drawing = drawing.get_mut().unwrap_or_else(PoisonError::into_inner);
    let (end, progress) = (drawing.poll(), drawing.progress());
    state.map = match end {
        None => StillState::Drawing(progress),
        Some(Ok(model)) => StillState::Drawn(model),
        Some(Err(why)) => StillState::Failed(why),
    };
    if !matches!(state.map, StillState::Drawing(_)) {
        jobs.map = None;
    }
}

/// Does what was asked for in this frame.
pub fn perform(world: &mut World) {
    open_shared(world);
    let Some(mut state) = world.get_resource_mut::<WindowState>() else { return };
    for action in std::mem::take(&mut state.asked) {
        match action {
            Action::Row(pressed) => perform_row(world, pressed),
            Action::Back => world.resource_mut::<CoursePage>().close(),
            Action::Open(path) => open(world, path),
            // One at a time.
            Action::Export(_) | Action::Save(..) | Action::SavePicture(..) | Action::SaveWork(..)
                if world.resource::<WindowState>().is_exporting() => {}
            Action::Export(format) => {
                if let Some(path) = opened_path(world) {
                    world.resource_mut::<WindowState>().files.save(format, &path);
                }
            }
            Action::Save(format, file) => export(world, format, file),
            Action::WriteLesson { to, is_copy } => write_lesson(world, &to, is_copy),
            Action::PlacePicture(choice) => {
                if let Some(path) = opened_path(world) {
                    world.resource_mut::<WindowState>().files.save_picture(choice, &path);
                }
            }
            Action::SavePicture(choice, file) => save_picture(world, choice, file),
            Action::PlaceWork(choice) => {
                if let Some(path) = opened_path(world) {
                    world.resource_mut::<WindowState>().files.save_work(choice, &path);
                }
            }
            Action::SaveWork(choice, file) => save_work(world, choice, file),
            Action::PlaceSenses(choice) => {
                if let Some(path) = opened_path(world) {
                    world.resource_mut::<WindowState>().files.senses(choice, &path);
                }
            }
            Action::Senses(choice, file) => senses_file(world, choice, &file),
            Action::OpenBeside(file) => open_beside(world, &file),
            Action::CloseMap => {
                world.resource_mut::<WindowState>().map = StillState::None;
                world.resource_mut::<Jobs>().map = None;
            }
            Action::GoBack(place) => choose(world, SavingChoice::GoBack(place)),
            Action::ResetCourse => reset_course(world, true),
            Action::UndoResetCourse => reset_course(world, false),
            Action::Follow(link) => follow(world, link),
        }
        // What comes next may open another lesson: commands are for this one.
        send_now(world);
    }
    presenting::follow(world);
}

fn perform_row(world: &mut World, pressed: Pressed<WindowAction>) {
    let Pressed { action, which, count } = pressed;
    let ask = |world: &mut World, command: Command| {
        world.resource_mut::<Outbox>().commands.extend(std::iter::repeat_n(command, count));
    };
    match action {
        // Where no word looks at another, there is nothing to walk through but the way from static to contextual.
        WindowAction::StepOn if is_each_word_alone(world) => {
            let walk = &mut world.resource_mut::<ViewState>().walk;
            walk.glide_to(if walk.time() < 1.0 { 1.0 } else { 0.0 });
        }
        WindowAction::StepOn => (0..count).for_each(|_| world.resource_mut::<ViewState>().walk.step_on()),
        WindowAction::StepBack => (0..count).for_each(|_| world.resource_mut::<ViewState>().walk.step_back()),
        WindowAction::Origin => {
            let walk = world.resource::<StageScene>().walk.as_deref();
            let entry = walk.map(|walk| Quantity::Weight.of_head(walk.focus.head, [walk.focus.query, walk.key]));
            if let Some(entry) = entry {
                world.resource_mut::<ViewState>().trail.open(entry);
            }
        }
        WindowAction::ReadAdded => world.resource_mut::<ViewState>().selection.reading.turn_added(),
        WindowAction::HideSinks => {
            let has_sinks = world.resource::<Scene>().get::<AttentionModel>().is_some_and(|it| !it.sinks.is_empty());
            world.resource_mut::<ViewState>().selection.reading.turn_sinks(has_sinks);
        }
        WindowAction::CloseOrigin => world.resource_mut::<ViewState>().trail.close(),
        WindowAction::OriginBefore => world.resource_mut::<ViewState>().trail.back(),
        WindowAction::Play
        | WindowAction::TrainStep
        | WindowAction::BrowseTraining
        | WindowAction::BrowseTrainingFar => {
            let training = world.resource::<Scene>().get::<TrainingModel>();
            let command = training.and_then(|training| training_command(pressed, &training));
            world.resource_mut::<Outbox>().commands.extend(command);
        }
        WindowAction::NextLayer => world.resource_mut::<ViewState>().walk.pass_by(count as isize),
        WindowAction::LayerBefore => world.resource_mut::<ViewState>().walk.pass_by(-(count as isize)),
        WindowAction::Pieces => {
            let highlight = &mut world.resource_mut::<ViewState>().highlight;
            highlight.pieces = !highlight.pieces;
        }
        WindowAction::RawStates => {
            let space = world.resource::<Scene>().snapshot().and_then(|snapshot| snapshot.space.as_ref());
            let is_raw = space.is_some_and(|space| space.basis.raw);
            world.resource_mut::<Outbox>().commands.push(Command::Axes(AxisCommand::SetRaw(!is_raw)));
        }
        WindowAction::Undo => ask(world, Command::Undo),
        WindowAction::Redo => ask(world, Command::Redo),
        WindowAction::WriteSentence => ask_for_keyboard(world, focus::sentence_field(SENTENCE)),
        WindowAction::Compare => compare(world),
        WindowAction::Senses => senses(world),
        WindowAction::Glossary => {
            if world.resource_mut::<WorkspaceState>().0.glossary.toggle() {
                ask_for_keyboard(world, focus::glossary_search());
            }
        }
        WindowAction::CloseGlossary => world.resource_mut::<WorkspaceState>().0.glossary.is_open = false,
        WindowAction::Panel => {
            if let Some(panel) = panels::ids().get(which) {
                world.resource_mut::<WorkspaceState>().0.places.show(*panel);
            }
        }
        WindowAction::Lab => {
            let top_bar = &mut world.resource_mut::<WorkspaceState>().0.top_bar;
            top_bar.toggles_lab = !top_bar.toggles_lab;
        }
        WindowAction::TogglePanel => {
            if let Some(panel) = panels::ids().get(which) {
                world.resource_mut::<WorkspaceState>().0.places.toggle(*panel);
            }
        }
        WindowAction::ClosePanel => {
            let places = &mut world.resource_mut::<WorkspaceState>().0.places;
            if let Some(panel) = places.current() {
                places.close(panel);
            }
        }
        WindowAction::Present => presenting::toggle(world),
        WindowAction::NextSlide => presenting::turn(world, count as isize),
        WindowAction::PreviousSlide => presenting::turn(world, -(count as isize)),
        WindowAction::EndPresentation => presenting::end(world),
        WindowAction::Course => show_course(world),
        WindowAction::Browse => {
            let folder = browsed(world);
            world.resource_mut::<WindowState>().files.browse(folder.as_deref());
        }
        WindowAction::Beside => {
            let folder = browsed(world);
            world.resource_mut::<WindowState>().files.browse_beside(folder.as_deref());
        }
        WindowAction::NewLesson => place_lesson(world, false),
        WindowAction::CopyLesson => place_lesson(world, true),
        WindowAction::Theme => {
            let preferences = &mut world.resource_mut::<ViewState>().preferences;
            preferences.theme = preferences.theme.next();
        }
        WindowAction::Larger => world.resource_mut::<ViewState>().preferences.zoom_by(count as f32),
        WindowAction::Smaller => world.resource_mut::<ViewState>().preferences.zoom_by(-(count as f32)),
        WindowAction::UsualSize => world.resource_mut::<ViewState>().preferences.zoom = 1.0,
        WindowAction::KeySheet => {
            let state = &mut *world.resource_mut::<WindowState>();
            state.is_key_sheet_open = !state.is_key_sheet_open;
        }
        WindowAction::CloseKeySheet => world.resource_mut::<WindowState>().is_key_sheet_open = false,
        WindowAction::Picture if world.resource::<WindowState>().is_exporting() => {}
        WindowAction::Picture => {
            let choice = picture_of(world.resource::<StageTab>());
            world.resource_mut::<WindowState>().picture = Some(choice);
        }
        WindowAction::HandIn | WindowAction::Share if world.resource::<WindowState>().is_exporting() => {}
        WindowAction::Share => world.resource_mut::<WindowState>().is_sharing = true,
        WindowAction::HandIn => world.resource_mut::<WindowState>().hand_in = Some(HandInUiState::default()),
        WindowAction::Checkpoints => {
            let rows = world.get_resource_mut::<Session>().map(|mut session| session.list_checkpoints());
            world.resource_mut::<WorkspaceState>().0.checkpoints = rows;
        }
        WindowAction::ResetLesson => choose(world, SavingChoice::Reset),
        WindowAction::Map => draw_map(world),
    }
}

fn is_each_word_alone(world: &World) -> bool {
    world.resource::<Scene>().get::<AttentionModel>().is_some_and(|attention| attention.is_each_word_alone())
}

/// Plays or pauses, takes a step, or looks at another step.
pub fn training_command(pressed: Pressed<WindowAction>, training: &TrainingModel) -> Option<Command> {
    let Pressed { action, which, count } = pressed;
    let look = |by: usize| {
        let to = if which == 0 { training.sought.saturating_sub(by) } else { training.sought + by };
        look_at(training, to)
    };
    match action {
        // At the last step the button cannot be pressed, but the key can: the kernel's notice says why nothing happens.
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

/// Begins a comparison, with its panel in front and the keyboard for the second sentence; or ends it.
fn compare(world: &mut World) {
    let Some(sentences) = world.resource::<Scene>().get::<SentencesModel>() else { return };
    let (begins, command) = (sentences.second.is_none(), toggle(&sentences));
    world.resource_mut::<Outbox>().commands.push(command);
    if begins {
        world.resource_mut::<WorkspaceState>().0.places.show(MeaningPanel::ID);
        ask_for_keyboard(world, focus::sentence_field(SECOND_SENTENCE));
    }
}

/// Shows the senses of a word, with their panel in front; or ends that.
fn senses(world: &mut World) {
    let Some(senses) = world.resource::<Scene>().get::<SensesModel>() else { return };
    let query = world.resource::<ViewState>().selection.query;
    let commands = toggle_senses(&senses, world.resource::<Scene>().snapshot().and_then(|of| written_at(of, query)));
    world.resource_mut::<Outbox>().commands.extend(commands);
    if !senses.is_on {
        world.resource_mut::<WorkspaceState>().0.places.show(MeaningPanel::ID);
        ask_for_keyboard(world, focus::sentence_field(SENSE_WORD));
    }
}

/// Reads the sentences of a list from a file, or writes them there.
fn senses_file(world: &mut World, choice: ListChoice, file: &Path) {
    let Some(senses) = world.resource::<Scene>().snapshot().and_then(|snapshot| snapshot.model.as_ref()) else {
        return;
    };
    let list = senses.senses.list.clone();
    let said = match choice {
        ListChoice::Export => export::senses::write(&list, file).map(|()| format!("Written: {}", file.display())),
        ListChoice::Import => export::senses::read(file).map(|sentences| {
            let said = format!("{} sentences were read from {}", sentences.len(), file.display());
            let list = SenseList { word: list.word.clone(), sentences };
            world.resource_mut::<Outbox>().commands.push(Command::Senses(SenseCommand::Replace(list)));
            said
        }),
    };
    world.resource_mut::<WindowState>().export = ExportModel::Said(said);
}

fn ask_for_keyboard(world: &mut World, to: Id) {
    let mut contexts = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
    for mut context in contexts.iter_mut(world) {
        focus::ask(context.get_mut(), to);
    }
}

fn lesson_path(world: &World) -> Option<PathBuf> {
    world.get_resource::<Session>().map(|session| session.path().to_owned())
}

/// The file that was opened, beside which exports are proposed.
fn opened_path(world: &World) -> Option<PathBuf> {
    world.get_resource::<Session>().map(|session| session.opened().to_owned())
}

/// Writes what the window shows, beside it.
fn export(world: &mut World, format: Format, file: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let snapshot = world.resource::<Scene>().snapshot().cloned();
    let (Some(lesson), Some(snapshot)) = (lesson_path(world), snapshot) else { return };
    let job = Export::start(snapshot, lesson, format, file, move || setup.waker.wake());
    begin(world, job);
}

/// Writes the work as it is now, beside the window.
fn save_work(world: &mut World, choice: WorkChoice, file: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let snapshot = world.resource::<Scene>().snapshot().cloned();
    let (Some(lesson), Some(snapshot)) = (lesson_path(world), snapshot) else { return };
    let model = snapshot.model.as_ref().and_then(|model| model.pretrained.as_ref());
    let of_model = || model.map(|model| LessonMark::of_model(&snapshot.lesson, model));
    let Some(mark) = world.resource::<Session>().mark.clone().or_else(of_model) else {
        let wait = "Nothing was written: wait until the model has been read".to_owned();
        world.resource_mut::<WindowState>().export = ExportModel::Said(Err(wait));
        return;
    };
    let mut work = WorkFile::new(mark, Saved::of(&snapshot));
    match choice {
        WorkChoice::HandIn { name, minutes } => (work.name, work.minutes) = (name, minutes),
        WorkChoice::Share => {
            // What is seen is this step, and not where training goes.
            if let Some(model) = work.work.model.as_mut().filter(|_| is_playing(&snapshot)) {
                model.training.is_playing = false;
            }
            work.view = Some(seen(world));
        }
    }
    begin(world, Export::work(work, lesson, file, move || setup.waker.wake()));
}

fn is_playing(snapshot: &Snapshot) -> bool {
    snapshot.model.as_ref().is_some_and(|model| model.training.playing)
}

/// The screen as it is: the view that is kept with the work, the camera, and the size of the stage.
fn seen(world: &World) -> SavedView {
    let tab = world.resource::<StageTab>();
    let view = world.resource::<WorkspaceState>().0.saved(world.resource::<ViewState>());
    let stage = (tab.points.round() != Vec2::ZERO).then(|| (tab.points.x.round() as u32, tab.points.y.round() as u32));
    SavedView { camera: tab.controls.rig.saved(), stage, ..view }
}

/// Shows that an export is being written.
fn begin(world: &mut World, job: Export) {
    let Progress { done, of } = job.progress();
    world.resource_mut::<WindowState>().export = ExportModel::Writing { done, of };
    world.resource_mut::<Jobs>().export = Some(Mutex::new(job));
}

fn draw_map(world: &mut World) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let space = world.resource::<Scene>().snapshot().and_then(|snapshot| snapshot.space.clone());
    let Some(space) = space else { return };
    let drawing = Drawing::start(space, move || setup.waker.wake());
    world.resource_mut::<WindowState>().map = StillState::Drawing(drawing.progress());
    world.resource_mut::<Jobs>().map = Some(Mutex::new(drawing));
}

/// As large as the stage is on the screen.
fn picture_of(tab: &StageTab) -> PictureChoice {
    let side = |points: f32| (points * tab.pixels_per_point).round() as u32;
    let size = nearest((side(tab.points.x), side(tab.points.y)));
    PictureChoice { size, is_transparent: false, has_caption: false }
}

/// Draws the stage as the window shows it, beside the window.
fn save_picture(world: &mut World, choice: PictureChoice, file: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let Some(snapshot) = world.resource::<Scene>().snapshot().cloned() else { return };
    let tab = world.resource::<StageTab>();
    let mut view = world.resource::<ViewState>().clone();
    view.figure.bare = !choice.has_caption;
    let seen = StageView { view, rig: tab.controls.rig.clone() };
    // What is written is as large, beside the points, as it is on the screen.
    let scale = |pixels: u32, points: f32| pixels as f32 / points.max(1.0);
    let zoom = scale(choice.size.0, tab.points.x).min(scale(choice.size.1, tab.points.y));
    let options = PictureOptions {
        size: choice.size,
        zoom: zoom.clamp(ZOOM.0, ZOOM.1),
        dark: tab.dark,
        transparent: choice.is_transparent,
        seen: Some(Arc::new(seen)),
        ..PictureOptions::of(snapshot)
    };
    let job = Export::picture(options, file, move || setup.waker.wake());
    begin(world, job);
}

fn choose(world: &mut World, choice: SavingChoice) {
    if let Some(mut session) = world.get_resource_mut::<Session>() {
        session.choice = Some(choice);
    }
}

/// The page of the course, over the lesson; from there back to the lesson.
pub fn show_course(world: &mut World) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let behind = world.resource::<Scene>().snapshot().map(|snapshot| snapshot.lesson.title.clone());
    let page = world.resource::<CoursePage>();
    if page.is_open && behind.is_some() && page.frame.fault.is_none() {
        world.resource_mut::<CoursePage>().close();
        return;
    }
    // What the page is about to read.
    if let Some(mut profile) = world.get_resource_mut::<Profile>() {
        profile.flush();
    }
    let mut page = world.resource_mut::<CoursePage>();
    page.frame.behind = behind;
    page.open(setup.home.as_ref(), &setup.waker);
}

/// Lets the learner choose a file for a new lesson: beside this one or, where this one is the program's own, where attune
/// was started.
fn place_lesson(world: &mut World, is_copy: bool) {
    let lesson = lesson_path(world);
    let built_in = world.get_resource::<Setup>().and_then(|setup| setup.home.as_ref().map(Home::built_in));
    let is_own = |folder: &&Path| !built_in.as_ref().is_some_and(|built_in| folder.starts_with(built_in));
    let beside = lesson.as_deref().and_then(Path::parent).filter(is_own).map(Path::to_owned);
    let folder = beside.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let of = lesson.as_deref().and_then(Path::file_stem).filter(|_| is_copy);
    let of = of.map_or_else(|| "lesson".to_owned(), |of| of.to_string_lossy().into_owned());
    let file = starter::free_name(&folder, &of);
    world.resource_mut::<WindowState>().files.new_lesson(&file, is_copy);
}

/// Writes the lesson, opens it, and hands it to the learner's editor.
fn write_lesson(world: &mut World, to: &Path, is_copy: bool) {
    let from = lesson_path(world).filter(|_| is_copy);
    if let Err(why) = starter::write_new(to, from.as_deref()) {
        world.resource_mut::<WindowState>().export = ExportModel::Said(Err(why.to_string()));
        return;
    }
    open(world, to.to_owned());
    let setup = world.get_resource::<Setup>().filter(|setup| setup.has_editor);
    let Some(waker) = setup.map(|setup| setup.waker.clone()) else { return };
    let job = Export::editor(to.to_owned(), move || waker.wake());
    world.resource_mut::<Jobs>().editor = Some(Mutex::new(job));
}

/// Begins where the learner is: in the folder of the lesson, or of the course.
/// The folder that a dialog begins in.
fn browsed(world: &World) -> Option<PathBuf> {
    let of_lesson = opened_path(world).and_then(|path| path.parent().map(Path::to_owned));
    let of_course = world.resource::<CoursePage>().model.as_ref().and_then(|model| model.folder.clone());
    of_lesson.filter(|folder| !folder.as_os_str().is_empty()).or(of_course)
}

/// Opens another lesson, once the work on this one is safe.
pub fn open(world: &mut World, path: PathBuf) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    give_up_opening(world);
    if is_shared(&path) {
        let waker = setup.waker;
        let home = setup.home.clone();
        let of_program = move || built_in::put_into(&home?.built_in()).ok();
        let job = Job::run(0, move || waker.wake(), move |_| Shared::open(&path, None, of_program));
        world.resource_mut::<Jobs>().opening = Some(Mutex::new(job));
        let mut state = world.resource_mut::<WindowState>();
        // What is being written is shown on.
        if !state.is_exporting() {
            state.export = ExportModel::Opening;
        }
        return;
    }
    if !is_lesson(&path) {
        let shown = attune_core::lesson::issue::printable(&path.display().to_string());
        say(world, format!("{shown} is no lesson: a lesson is a file whose name ends in .ron"));
        return;
    };
    show(world, || Opening::of(&path, &setup));
}

/// Nobody waits any more for a file that is read.
fn give_up_opening(world: &mut World) {
    world.resource_mut::<Jobs>().opening = None;
    let mut state = world.resource_mut::<WindowState>();
    if state.export == ExportModel::Opening {
        state.export = ExportModel::None;
    }
}

/// Opens what somebody shared or handed in, once it is read.
fn open_shared(world: &mut World) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let Some(job) = &mut world.resource_mut::<Jobs>().opening else { return };
    let Some(read) = job.get_mut().unwrap_or_else(PoisonError::into_inner).poll() else { return };
    give_up_opening(world);
    send_now(world);
    match read {
        Ok(shared) => show(world, || Opening::of_copy(shared, &setup)),
        Err(why) => say(world, format!("Nothing was opened: {why}")),
    }
}

/// Shows another lesson, once the work on this one is safe.
fn show(world: &mut World, opening: impl FnOnce() -> Opening) {
    if let Some(why) = unsaved(world) {
        say(world, format!("No other lesson is opened, as the work on this one cannot be saved yet: {why}"));
        return;
    }
    close(world);
    world.resource_mut::<WindowState>().is_key_sheet_open = false;
    opening().show(world);
    world.resource_mut::<CoursePage>().close();
}

/// Puts another model beside the one that is open, with the comparison in front.
pub fn put_beside(world: &mut World, lesson: Arc<Lesson>) {
    let Some(waker) = world.get_resource::<Setup>().map(|setup| setup.waker.clone()) else { return };
    world.insert_resource(OtherModel::open(lesson, &waker));
    world.resource_mut::<WorkspaceState>().0.places.show(MeaningPanel::ID);
}

/// Reads the model that is put beside; the last one stays where it cannot be read.
fn open_beside(world: &mut World, path: &Path) {
    match attune_core::lesson::read(path) {
        Ok(lesson) => put_beside(world, Arc::new(lesson)),
        Err(issues) => {
            let why = issues.first().map_or_else(String::new, ToString::to_string);
            world.resource_mut::<WindowState>().export = ExportModel::Said(Err(format!("Nothing was opened: {why}")));
        }
    }
}

/// On the page of the course, which is where other lessons are opened from.
pub fn say(world: &mut World, fault: String) {
    if !world.resource::<CoursePage>().is_open {
        show_course(world);
    }
    world.resource_mut::<CoursePage>().frame.fault = Some(fault);
}

fn reset_course(world: &mut World, forward: bool) {
    let Some(setup) = world.get_resource::<Setup>().cloned() else { return };
    let Some(home) = &setup.home else { return };
    if let Some(why) = unsaved(world) {
        say(world, format!("The course was not reset, as the work on the open lesson cannot be saved yet: {why}"));
        return;
    }
    // The lesson that is open may be among them.
    close(world);
    name_window(world, None);
    let mut page = world.resource_mut::<CoursePage>();
    let progress = if forward { page.reset(home) } else { page.undo_reset(home) };
    page.frame.behind = None;
    page.is_open = true;
    if let Some(mut profile) = world.get_resource_mut::<Profile>() {
        profile.add(progress);
        profile.flush();
    }
    world.resource_mut::<CoursePage>().open(Some(home), &setup.waker);
}
