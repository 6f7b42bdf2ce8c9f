//! Background jobs and the files that they write: exports, pictures, the learner's work, lists of senses, new lessons;
//! also the still map.
//!
//! The still map shows the vocabulary by t-SNE (van der Maaten & Hinton 2008). It is drawn only on request, in a window
//! of its own. It never moves and nothing is measured in it: motion belongs on the stage, in one linear basis.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use attune_core::kernel::Saved;
use attune_core::kernel::command::{Command, SenseCommand, SenseList, TrainingCommand};
use attune_core::kernel::snapshot::{Progress, Snapshot, StaticSpace};
use attune_core::lesson::starter;
use attune_core::store::Home;
use attune_engine::numerics::vectors::distance;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::work_file::{LessonMark, SharedWork, WorkFile};
use attune_view::export::{self, Format};
use attune_view::view_model::pictures::{StillModel, StillPoint, nearest};
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::spaces::TwoSpaces;
use bevy::prelude::*;
use bhtsne::tSNE;
use egui::{Align2, Context, Key, Modifiers, Pos2, ProgressBar, Rect, RichText, Sense, Ui, Vec2};

use super::course::CoursePage;
use super::opening::{self, Setup};
use super::ui::WindowState;
use crate::app::actions::table::{PictureChoice, WorkChoice};
use crate::app::actions::{Action, FilePurpose};
use crate::app::link::{LatestModels, Outbox};
use crate::app::moving::MovingOptions;
use crate::app::moving::Play;
use crate::app::moving::encode::Form;
use crate::app::picture::{PictureOptions, StageView};
use crate::app::stage::frame::StageTab;
use crate::app::stage::state::StageState;
use crate::app::theme::{self, Palette, TEXT_CONTRAST, size};
use crate::app::ui_state::ViewState;
use crate::app::ui_state::search::Hit;
use crate::app::widgets::popup::tool_window;
use crate::app::work::job::{Export, Job};
use crate::app::work::session::Session;
use crate::app::workspace::WorkspaceState;
use crate::app::workspace::notices::ExportModel;

/// The range of pixels per point in a picture. Outside this range the text would be unreadable or would fill the
/// picture.
const ZOOM: (f32, f32) = (0.25, 12.0);

/// The background jobs.
#[derive(Resource, Default)]
pub struct Jobs {
    export: Option<Export>,
    editor: Option<Export>,
    map: Option<Drawing>,
    pub(super) opening: Option<Job<SharedWork>>,
    /// The job that reads another file of vectors and rotates it onto the open one.
    pub(super) spaces: Option<Job<TwoSpaces>>,
    /// Another file of vectors, which waits until the first one is read.
    pub(super) awaited: Option<PathBuf>,
}

/// Shows another file of vectors once it is rotated onto the open one.
pub fn follow_spaces(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>, mut models: ResMut<LatestModels>) {
    let Some(end) = jobs.spaces.as_mut().and_then(Job::poll) else { return };
    jobs.spaces = None;
    state.export = match end {
        Ok(spaces) => {
            let space = models.snapshot().and_then(|snapshot| snapshot.space.as_ref());
            models.spaces = Some(spaces).filter(|spaces| space.is_some_and(|space| spaces.is_of(space))).map(Arc::new);
            ExportModel::None
        }
        Err(why) => ExportModel::Said(Err(format!("Nothing was opened: {why}"))),
    };
}

/// Shows the progress of an export, and whether the editor has opened.
pub fn follow_export(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>) {
    if let Some(told) = jobs.editor.as_mut().and_then(Job::poll) {
        state.export = ExportModel::Said(told);
        jobs.editor = None;
    }
    let Some(job) = &mut jobs.export else { return };
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

/// Shows the progress of the still map.
pub fn follow_map(mut jobs: ResMut<Jobs>, mut state: ResMut<WindowState>) {
    let Some(drawing) = &mut jobs.map else { return };
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

/// Opens the dialog for a file, beside the open one or in the learner's current folder.
pub fn choose_file(world: &mut World, purpose: FilePurpose) {
    let near = match purpose {
        FilePurpose::Open | FilePurpose::Dropped | FilePurpose::OpenBeside => Some(browsed(world)),
        FilePurpose::NewLesson { is_copy } => Some(new_lesson(world, is_copy)),
        _ => opened_path(world),
    };
    let mut state = world.resource_mut::<WindowState>();
    if let Some(near) = near.filter(|_| !(purpose.is_export() && state.is_exporting())) {
        state.files.choose(purpose, &near);
    }
}

/// Uses the file that was chosen.
pub fn use_file(world: &mut World, purpose: FilePurpose, file: PathBuf) {
    // Only one export runs at a time.
    if purpose.is_export() && world.resource::<WindowState>().is_exporting() {
        return;
    }
    match purpose {
        FilePurpose::Open => opening::open(world, file),
        FilePurpose::OpenBeside => opening::open_beside(world, &file),
        FilePurpose::Dropped if opening::is_second_space(world, &file) => opening::open_beside(world, &file),
        FilePurpose::Dropped => opening::open(world, file),
        FilePurpose::Export(format) => export(world, format, file),
        FilePurpose::ExportFound(format) => export_found(world, format, file),
        FilePurpose::Picture(choice) => save_picture(world, choice, file),
        FilePurpose::Recording => record(world, file),
        FilePurpose::Work(choice) => save_work(world, choice, file),
        FilePurpose::NewLesson { is_copy } => write_lesson(world, &file, is_copy),
        FilePurpose::ImportSenses => import_senses(world, &file),
        FilePurpose::ExportSenses => export_senses(world, &file),
    }
}

/// Tells the learner the result for a file.
pub fn say(world: &mut World, told: Result<String, String>) {
    world.resource_mut::<WindowState>().export = ExportModel::Said(told);
}

/// Returns the file that was opened, beside which exports are proposed.
fn opened_path(world: &World) -> Option<PathBuf> {
    world.get_resource::<Session>().map(|session| session.opened().to_owned())
}

/// Returns the folder in which a dialog begins: that of the lesson or of the course, or the one in which attune was
/// started.
fn browsed(world: &World) -> PathBuf {
    let of_lesson = opened_path(world).and_then(|path| path.parent().map(Path::to_owned));
    let of_course = world.resource::<CoursePage>().model.as_ref().and_then(|model| model.folder.clone());
    of_lesson.filter(|folder| !folder.as_os_str().is_empty()).or(of_course).unwrap_or_else(|| ".".into())
}

/// Returns the proposed file for a new lesson: beside the open lesson or, if that is built in, in the folder in which
/// attune was started.
fn new_lesson(world: &World, is_copy: bool) -> PathBuf {
    let lesson = world.get_resource::<Session>().map(Session::path);
    let built_in = world.resource::<Setup>().home.as_ref().map(Home::built_in);
    let is_own = |folder: &&Path| !built_in.as_ref().is_some_and(|built_in| folder.starts_with(built_in));
    let beside = lesson.and_then(Path::parent).filter(is_own).map(Path::to_owned);
    let folder = beside.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let of = lesson.and_then(Path::file_stem).filter(|_| is_copy);
    starter::free_name(&folder, &of.map_or_else(|| "lesson".into(), |of| of.to_string_lossy()))
}

/// Writes a new lesson, opens it, and opens it in the learner's editor.
fn write_lesson(world: &mut World, to: &Path, is_copy: bool) {
    let from = world.get_resource::<Session>().map(Session::path).filter(|_| is_copy);
    if let Err(why) = starter::write_new(to, from) {
        return say(world, Err(why.to_string()));
    }
    opening::open(world, to.to_owned());
    let setup = world.resource::<Setup>();
    if setup.has_editor {
        let job = Export::editor(to.to_owned(), setup.waker.hook());
        world.resource_mut::<Jobs>().editor = Some(job);
    }
}

/// Returns the snapshot to export, and the lesson's file.
fn shown(world: &World) -> Option<(Arc<Snapshot>, PathBuf)> {
    let snapshot = world.resource::<LatestModels>().snapshot()?.clone();
    Some((snapshot, world.get_resource::<Session>()?.path().to_owned()))
}

/// Shows that an export is being written.
fn begin(world: &mut World, job: Export) {
    let Progress { done, of } = job.progress();
    world.resource_mut::<WindowState>().export = ExportModel::Writing { done, of };
    world.resource_mut::<Jobs>().export = Some(job);
}

/// Starts an export of what the window shows.
fn export(world: &mut World, format: Format, file: PathBuf) {
    let Some((snapshot, lesson)) = shown(world) else { return };
    let job = Export::start(snapshot, lesson, format, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Starts writing the vectors of the words found on the stage.
fn export_found(world: &mut World, format: VectorFormat, file: PathBuf) {
    let Some((snapshot, lesson)) = shown(world) else { return };
    let stage = world.resource::<StageState>();
    let Some(points) = &stage.points else { return };
    let word = |hit: &Hit| match hit {
        Hit::Word(word) => Some(*word),
        Hit::Token(token) => points.tokens.get(*token)?.word,
    };
    let mut words: Vec<usize> = stage.emphasis.matches().iter().filter_map(word).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        let why = "No words have been found on the stage. Search for words, or draw a lasso around points (Shift and \
            drag)";
        return say(world, Err(why.to_owned()));
    }
    let job = Export::words(snapshot, lesson, words, format, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Starts writing the current work.
fn save_work(world: &mut World, choice: WorkChoice, file: PathBuf) {
    let Some((snapshot, lesson)) = shown(world) else { return };
    let model = snapshot.model.as_ref().and_then(|model| model.pretrained.as_ref());
    let of_model = || model.map(|model| LessonMark::of_model(&snapshot.lesson, model));
    let Some(mark) = world.resource::<Session>().mark.clone().or_else(of_model) else {
        return say(
            world,
            Err("Nothing was written, because the model is still being read. Try again in a moment".to_owned()),
        );
    };
    let mut work = WorkFile::new(mark, Saved::of(&snapshot));
    match choice {
        WorkChoice::HandIn { name, minutes } => (work.name, work.minutes) = (name, minutes),
        WorkChoice::Share => {
            // The file shows the current step, so training must not continue in it.
            work.work.commands.pop_if(|last| *last == Command::Training(TrainingCommand::Play));
            work.view = Some(seen(world));
        }
    }
    let job = Export::work(work, lesson, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Returns the current view: the part that is saved with the work, the camera, and the size of the stage.
fn seen(world: &World) -> SavedView {
    let tab = world.resource::<StageTab>();
    let view = world.resource::<WorkspaceState>().0.saved(world.resource::<ViewState>());
    let stage = (tab.controls.size.round() != bevy::math::Vec2::ZERO)
        .then(|| (tab.controls.size.x.round() as u32, tab.controls.size.y.round() as u32));
    SavedView { camera: tab.controls.rig.saved(), stage, ..view }
}

/// Opens the dialog for a picture, with the size that the stage has on the screen.
pub fn choose_picture(world: &mut World) {
    let tab = world.resource::<StageTab>();
    let side = |points: f32| (points * tab.pixels_per_point).round() as u32;
    let size = nearest((side(tab.controls.size.x), side(tab.controls.size.y)));
    let mut state = world.resource_mut::<WindowState>();
    if !state.is_exporting() {
        state.picture = Some(PictureChoice { size, is_transparent: false, has_caption: false });
    }
}

/// Starts drawing the stage as the window shows it.
fn save_picture(world: &mut World, choice: PictureChoice, file: PathBuf) {
    let Some(snapshot) = world.resource::<LatestModels>().snapshot().cloned() else { return };
    let mut options = on_screen(world, snapshot, choice.size, !choice.has_caption);
    options.transparent = choice.is_transparent;
    let job = Export::picture(options, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Returns options for drawing the stage as the window shows it, in another size. Text keeps its size relative to the
/// picture.
fn on_screen(world: &World, snapshot: Arc<Snapshot>, size: (u32, u32), bare: bool) -> PictureOptions {
    let tab = world.resource::<StageTab>();
    let mut view = world.resource::<ViewState>().clone();
    view.figure.bare = bare;
    let seen = StageView { view, rig: tab.controls.rig.clone() };
    let scale = |pixels: u32, points: f32| pixels as f32 / points.max(1.0);
    let zoom = scale(size.0, tab.controls.size.x).min(scale(size.1, tab.controls.size.y));
    PictureOptions {
        size,
        zoom: zoom.clamp(ZOOM.0, ZOOM.1),
        dark: tab.dark,
        seen: Some(Arc::new(seen)),
        ..PictureOptions::of(snapshot)
    }
}

/// Starts recording the stage: the steps of the walk if a walk is on, or else the movement of the words. If no word
/// moves, the camera turns once.
fn record(world: &mut World, file: PathBuf) {
    /// The width in pixels. Files of wider animations are too large to attach to messages.
    const WIDTH: f32 = 800.0;
    let Some(snapshot) = world.resource::<LatestModels>().snapshot().cloned() else { return };
    let stage = world.resource::<StageTab>().controls.size;
    let scale = (WIDTH / stage.x.max(1.0)).min(1.0);
    let size = nearest(((stage.x * scale).round() as u32, (stage.y * scale).round() as u32));
    let walk = &world.resource::<ViewState>().walk;
    let play = match world.resource::<StageState>().has_walk(walk) {
        true if walk.is_walking() => Play::Walk,
        true => Play::Split,
        false => Play::Orbit,
    };
    let frames = play.schedule(None, walk.end()).len();
    let picture = on_screen(world, snapshot, size, false);
    let options = MovingOptions { picture, play, seconds: None, form: Form::Gif };
    let job = Export::recording(options, frames, file, world.resource::<Setup>().waker.hook());
    begin(world, job);
}

/// Returns the list of senses that is shown.
fn senses(world: &World) -> Option<Arc<SenseList>> {
    Some(world.resource::<LatestModels>().snapshot()?.model.as_ref()?.senses.list.clone())
}

/// Reads the sentences of a list from a file.
fn import_senses(world: &mut World, file: &Path) {
    let Some(list) = senses(world) else { return };
    let read = export::work_file::read_senses(file).map(|sentences| {
        let told = match sentences.len() {
            1 => format!("1 sentence was read from {}", file.display()),
            count => format!("{count} sentences were read from {}", file.display()),
        };
        let list = SenseList { word: list.word.clone(), sentences };
        world.resource_mut::<Outbox>().commands.push(Command::Senses(SenseCommand::Replace(list)));
        told
    });
    say(world, read);
}

/// Writes the sentences of a list to a file.
fn export_senses(world: &mut World, file: &Path) {
    let Some(list) = senses(world) else { return };
    say(world, export::work_file::write_senses(&list, file).map(|()| format!("Written: {}", file.display())));
}

/// Starts drawing the still map.
pub fn draw_map(world: &mut World) {
    let space = world.resource::<LatestModels>().snapshot().and_then(|snapshot| snapshot.space.clone());
    let Some(space) = space else { return };
    let drawing = Drawing::start(space, world.resource::<Setup>().waker.hook());
    world.resource_mut::<WindowState>().map = StillState::Drawing(drawing.progress());
    world.resource_mut::<Jobs>().map = Some(drawing);
}

/// Closes the still map; a drawing in progress is dropped.
pub fn close_map(world: &mut World) {
    world.resource_mut::<WindowState>().map = StillState::None;
    world.resource_mut::<Jobs>().map = None;
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum StillState {
    #[default]
    None,
    Drawing(Progress),
    Drawn(StillModel),
    /// The reason why there is no map.
    Failed(String),
}

/// The size of the window: a square below three lines of text.
const SIZE: [f32; 2] = [460.0, 520.0];
const POINT: f32 = 3.5;
/// The interval between two checks of the progress, in seconds.
const LOOK: f32 = 0.1;

/// Shows the still map; returns the action that closes it.
pub fn still_ui(ctx: &Context, state: &StillState) -> Option<Action> {
    if *state == StillState::None {
        return None;
    }
    let mut is_open = true;
    let mut is_closed = false;
    let window = tool_window("A map of the words").open(&mut is_open);
    let middle = ctx.content_rect().center();
    let window = window.pivot(Align2::CENTER_CENTER).default_pos(middle).default_size(SIZE);
    window.show(ctx, |ui| match state {
        StillState::None => {}
        StillState::Drawing(Progress { done, of }) => {
            ui.label(format!("t-SNE: round {done} of {of}"));
            ui.add(ProgressBar::new(*done as f32 / (*of).max(1) as f32));
            is_closed = ui.button("Cancel").on_hover_text("Stops without drawing the map").clicked();
            ui.ctx().request_repaint_after_secs(LOOK);
        }
        StillState::Drawn(model) => map_ui(ui, model),
        StillState::Failed(why) => {
            ui.label(why);
        }
    });
    let is_left = !ctx.text_edit_focused() && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    (is_closed || is_left || !is_open).then_some(Action::CloseMap)
}

fn map_ui(ui: &mut Ui, model: &StillModel) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.add(egui::Label::new(RichText::new(model.about).font(theme::plain(size::SMALL)).color(palette.ink_soft)).wrap());
    let side = ui.available_size().min_elem().max(size::CHART_MIN);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Image, true, "The words as t-SNE arranges them"));
    ui.painter().rect_filled(rect, f32::from(size::RADIUS_SMALL), palette.stage);
    let inner = rect.shrink(size::GAP_WIDE);
    let seen = |point: &StillPoint| inner.lerp_inside(Vec2::from(point.at));
    for point in &model.points {
        ui.painter().circle_filled(seen(point), POINT, palette.word_of(point.group));
    }
    names_ui(ui, model, rect, &seen, palette);
    let near = |pointer: Pos2| {
        let away = |point: &&StillPoint| seen(point).distance(pointer);
        model.points.iter().min_by(|a, b| away(a).total_cmp(&away(b))).filter(|point| away(point) <= size::GAP)
    };
    if let Some(point) = response.hover_pos().and_then(near) {
        ui.painter().circle_stroke(seen(point), POINT + size::RING_GAP, egui::Stroke::new(size::RING, palette.accent));
        response.on_hover_text_at_pointer(&point.text);
    }
}

/// Writes the names of words where there is room, those with a group first.
fn names_ui(ui: &Ui, model: &StillModel, rect: Rect, seen: &dyn Fn(&StillPoint) -> Pos2, palette: &Palette) {
    // Names must not cover dots.
    let dot = |point: &StillPoint| Rect::from_center_size(seen(point), Vec2::splat(2.0 * POINT));
    let mut taken = TakenPlaces::default();
    model.points.iter().for_each(|point| taken.add(dot(point)));
    let (grouped, others): (Vec<_>, Vec<_>) = model.points.iter().partition(|point| point.group.is_some());
    for point in grouped.into_iter().chain(others) {
        let ink = palette.legible(palette.word_of(point.group), TEXT_CONTRAST);
        let galley = ui.painter().layout_no_wrap(point.text.clone(), theme::plain(size::SMALL), ink);
        let half = galley.size() / 2.0;
        let (x, y) = (POINT + size::GAP_TIGHT / 2.0 + half.x, POINT + half.y);
        let places = [(x, 0.0), (-x, 0.0), (0.0, -y), (0.0, y)]
            .map(|(x, y)| Rect::from_center_size(seen(point) + Vec2::new(x, y), galley.size()));
        let is_free = |place: &&Rect| rect.contains_rect(**place) && taken.is_free(**place);
        if let Some(place) = places.iter().find(is_free) {
            taken.add(*place);
            ui.painter().galley(place.min, galley, ink);
        }
    }
}

/// The rectangles that are taken, by the grid squares that they touch, so that a name is compared only with those near
/// it and not with all 2000 in every frame.
#[derive(Default)]
struct TakenPlaces(HashMap<(i32, i32), Vec<Rect>>);

impl TakenPlaces {
    /// The side of a square in points: about the width of a name.
    const SIDE: f32 = 48.0;

    fn squares(rect: Rect) -> impl Iterator<Item = (i32, i32)> {
        let square = |at: f32| (at / Self::SIDE).floor() as i32;
        let (rows, columns) = (square(rect.min.y)..=square(rect.max.y), square(rect.min.x)..=square(rect.max.x));
        rows.flat_map(move |row| columns.clone().map(move |column| (row, column)))
    }

    fn add(&mut self, rect: Rect) {
        Self::squares(rect).for_each(|square| self.0.entry(square).or_default().push(rect));
    }

    fn is_free(&self, rect: Rect) -> bool {
        let near = Self::squares(rect).filter_map(|square| self.0.get(&square));
        !near.flatten().any(|other| other.intersects(rect))
    }
}

/// The least and the largest number of words. Fewer words have no neighbourhoods, and more would take minutes.
const WORDS: (usize, usize) = (8, 2000);
/// The largest number of words with exact forces. For more words, distant ones are grouped (Barnes-Hut).
const EXACT_MAX: usize = 500;
const THETA: f32 = 0.5;
const EPOCHS: usize = 1000;
/// The perplexity, which is roughly the number of neighbours that count; at most a third of the number of words.
const PERPLEXITY: f32 = 15.0;
/// The scale of the initial positions, which are the first two axes of the stage, as in the authors' code.
const START: f32 = 1e-4;

/// A map that is being drawn. Its thread ends within seconds, even if its result is no longer needed.
pub type Drawing = Job<StillModel>;

impl Drawing {
    /// Starts drawing the map. `waker` is as in [`Job::run`].
    pub fn start(space: Arc<StaticSpace>, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(EPOCHS, waker, move |count| draw(&space, count.done))
    }
}

/// Draws the map. The same space always gives the same map, because one thread adds in a fixed order and the start is
/// not random.
fn draw(space: &StaticSpace, done: &AtomicUsize) -> Result<StillModel, String> {
    let words = space.vocabulary.len();
    let (least, most) = WORDS;
    if words < least || words > most {
        return Err(format!("a map can show {least} to {most} words, not {words}"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|why| format!("the operating system could not start a thread to draw the map: {why}"))?;
    Ok(StillModel::of(space, &pool.install(|| fit(space, done))))
}

/// Returns two coordinates for each word.
fn fit(space: &StaticSpace, done: &AtomicUsize) -> Vec<f32> {
    let vectors = space.vectors.widened();
    let rows: Vec<&[f32]> = (0..vectors.rows()).map(|row| vectors.row(row)).collect();
    let mut map: tSNE<f32, &[f32], 2> = tSNE::new(&rows);
    map.perplexity(PERPLEXITY.min((rows.len() - 1) as f32 / 3.0)).epochs(EPOCHS).initial_embedding(beginning(space));
    map.epoch_callback(|epoch, _| done.store(epoch + 1, Ordering::Relaxed));
    if rows.len() <= EXACT_MAX {
        map.exact(|a, b| distance(a, b));
    } else {
        map.barnes_hut(THETA, |a, b| distance(a, b));
    }
    map.embedding()
}

fn beginning(space: &StaticSpace) -> Vec<f32> {
    let flat = || (0..space.points.rows()).flat_map(|row| space.points.row(row)[..2].to_vec());
    let count = (2 * space.points.rows()).max(1) as f32;
    let size = (flat().map(|x| x * x).sum::<f32>() / count).sqrt().max(f32::MIN_POSITIVE);
    flat().map(|x| x / size * START).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Arc<StaticSpace> {
        let lesson = attune_core::lesson::parse("small.ron", include_str!("../../../tests/fixtures/small.ron"))
            .expect("no issues");
        attune_core::kernel::Kernel::trained(Arc::new(lesson)).snapshot().space.expect("a space")
    }

    #[test]
    fn a_map_is_the_same_each_time_and_lies_in_the_unit_square() {
        let space = space();
        let (first, second) = (draw(&space, &AtomicUsize::new(0)), draw(&space, &AtomicUsize::new(0)));
        assert_eq!(first, second);
        let model = first.expect("a map");
        assert_eq!(model.points.len(), space.vocabulary.len());
        assert!(model.points.iter().flat_map(|point| point.at).all(|x| (-1e-3..=1.001).contains(&x)));
    }

    #[test]
    fn two_crowds_stay_two_crowds() {
        let mut two = StaticSpace::clone(&space());
        let words = two.vocabulary.len();
        let side = |row: usize| if row < words / 2 { 10.0 } else { -10.0 };
        let noise = |row: usize, col: usize| ((row * 7 + col * 13) % 10) as f32 / 10.0;
        let vectors = attune_engine::numerics::Matrix::from_fn(words, 4, |row, col| side(row) + noise(row, col));
        two.vectors = Arc::new(vectors.into());
        let model = draw(&two, &AtomicUsize::new(0)).expect("a map");
        let apart = |a: usize, b: usize| distance(&model.points[a].at, &model.points[b].at);
        for row in 0..words {
            let nearest =
                (0..words).filter(|other| *other != row).min_by(|a, b| apart(row, *a).total_cmp(&apart(row, *b)));
            assert_eq!(nearest.map(side), Some(side(row)));
        }
    }
}
