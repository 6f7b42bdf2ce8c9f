//! The course page: continuing, choosing a lesson, opening another file, and resetting the course.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use attune_core::fnv1a;
use attune_core::lesson::course::{self, CourseFile};
use attune_core::lesson::load;
use attune_core::lesson::places::written;
use attune_core::store::{Checkpoint, Home, Key, Lock, NotSaved, Stored, open, read, update};
use attune_engine::messages::counted_as;
use attune_view::view_model::course::{CardPicture, Course, CourseFiles, HomeModel, HomeRow, RowState, name};
use attune_view::view_model::pictures::Sketch;
use attune_view::view_model::recall::Review;
use bevy::prelude::*;
use egui::{
    Align, Align2, Button, Color32, Context, CornerRadius, Frame, Label, Layout, Margin, Rect, RichText, ScrollArea,
    Sense, Stroke, StrokeKind, Ui, UiBuilder, Vec2, WidgetInfo, WidgetType, pos2, vec2,
};
use serde::{Deserialize, Serialize};

use super::hero::hero_ui;
use super::leaving::{close, name_window, unsaved};
use super::state::Setup;
use crate::app::actions::{Action, ActionTable, WindowAction};
use crate::app::link::LatestModels;
use crate::app::theme::{self, Palette, size};
use crate::app::ui_state::ThemeChoice;
use crate::app::widgets::controls::{action_ui, button_ui};
use crate::app::widgets::plot::sketch_ui;
use crate::app::work::profile::{Profile, kept_course};
use crate::app::work::recall::review;
use crate::app::work::session::SessionState;
use crate::app::work::waker::Waker;
use crate::app::workspace::top_bar::view_ui;
use crate::built_in;

/// Key of the cached pictures.
const PICTURES: &str = "pictures";
/// Label of checkpoints that are made before a reset.
const BEFORE_RESET: &str = "before the course was reset";
/// Label of checkpoints that are made before a reset is undone.
const BEFORE_UNDO: &str = "before the reset of the course was undone";

/// The course page; it is never open when a picture is rendered.
#[derive(Resource, Default)]
pub struct CoursePage {
    pub is_open: bool,
    pub frame: HomeFrame,
    pub ui: HomeUiState,
    pub model: Option<HomeModel>,
    found: CourseFiles,
    search: Option<Mutex<Receiver<CourseNews>>>,
    undo: Option<Undo>,
}

/// A result of the search for lessons.
enum CourseNews {
    Found(CourseFiles),
    /// A new picture, because none was cached or the cached one is of another version of the lesson.
    Picture(PathBuf, CardPicture),
}

/// Pictures of lessons, cached with the learner's progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct KeptPictures(BTreeMap<String, KeptPicture>);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptPicture {
    /// A hash of the lesson's text and the program's version.
    version: u64,
    sketch: Sketch,
}

impl Stored for KeptPictures {
    const VERSION: u32 = 1;
}

/// The state before a reset, which undo restores.
struct Undo {
    lessons: Vec<(Key, Checkpoint)>,
    progress: Course,
}

impl CoursePage {
    /// Opens the page and looks for lessons on another thread. The last list is shown until there is a new one.
    pub fn open(&mut self, home: Option<&Home>, waker: &Waker) {
        if !self.is_open {
            self.ui = HomeUiState::default();
        }
        self.is_open = true;
        let (sender, receiver) = channel();
        let (home, waker) = (home.cloned(), waker.clone());
        self.search = Some(Mutex::new(receiver));
        std::thread::spawn(move || {
            // When the page is closed, the receiver is gone and no more pictures are drawn.
            let send = |news| {
                let is_open = sender.send(news).is_ok();
                waker.wake();
                is_open
            };
            let kept = kept_pictures(home.as_ref());
            let found = find(home.as_ref(), &kept);
            let files: Vec<PathBuf> = found.files.iter().map(|file| file.path.clone()).collect();
            let missing: Vec<PathBuf> = files.into_iter().filter(|path| !found.pictures.contains_key(path)).collect();
            if send(CourseNews::Found(found)) {
                missing.into_iter().all(|path| {
                    let picture = draw(&path, home.as_ref());
                    send(CourseNews::Picture(path, picture))
                });
            }
        });
    }

    pub fn close(&mut self) {
        self.is_open = false;
        self.search = None;
        self.frame.fault = None;
    }

    /// Receives the lessons that were found, and then their pictures as they are drawn.
    pub fn receive(&mut self) {
        let Some(search) = &mut self.search else { return };
        let search = search.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut has_news = false;
        for news in search.try_iter() {
            has_news = true;
            match news {
                CourseNews::Found(found) => self.found = found,
                CourseNews::Picture(path, picture) => _ = self.found.pictures.insert(path, picture),
            }
        }
        if has_news {
            self.model = Some(HomeModel::of(&self.found));
        }
    }

    /// Resets every lesson of the course, after a checkpoint of each. Returns the remaining progress. A lesson that
    /// another window has open is not reset, and is reported.
    pub fn reset(&mut self, home: &Home) -> Course {
        let mut undo = Undo { lessons: Vec::new(), progress: Course::default() };
        let mut faults = Vec::new();
        for (file, name) in self.found.files.iter().filter_map(|file| Some((file, name(&file.path)?))) {
            let (Ok(heading), Some(progress)) = (&file.heading, self.found.course.lessons.get(&name)) else { continue };
            let key = Key::of_file(&heading.id, &file.path);
            match exchange(home, &key, BEFORE_RESET, SessionState::default()) {
                Ok(None) => {}
                Ok(Some(checkpoint)) => undo.lessons.push((key, checkpoint)),
                Err(why) => {
                    faults.push(format!("{} was not reset: {why}.", heading.title));
                    continue;
                }
            }
            undo.progress.lessons.insert(name, progress.clone());
        }
        self.frame.reset = Some(undo.progress.lessons.len()).filter(|count| *count > 0);
        self.frame.fault = (!faults.is_empty()).then(|| faults.join(" "));
        if !undo.progress.lessons.is_empty() {
            let of_course = |path: &String| self.found.files.iter().any(|file| name(&file.path).as_ref() == Some(path));
            undo.progress.answers.clone_from(&self.found.course.answers);
            undo.progress.answers.retain(|path, _| of_course(path));
        }
        let left = undo.progress.clone().reset();
        self.undo = Some(undo);
        left
    }

    /// Restores what the last reset removed, and returns the restored progress.
    pub fn undo_reset(&mut self, home: &Home) -> Course {
        let Some(undo) = self.undo.take() else { return Course::default() };
        let (mut faults, mut left) = (Vec::new(), Vec::new());
        for (key, checkpoint) in &undo.lessons {
            let brought = open::<SessionState>(home, key)
                .store
                .folder()
                .load(checkpoint)
                .map_err(|wrong| format!("its checkpoint {wrong}"));
            let brought =
                brought.and_then(|state| exchange(home, key, BEFORE_UNDO, state).map_err(|why| why.to_string()));
            if let Err(why) = brought {
                faults.push(format!("A lesson could not be brought back: {why}."));
                left.push((key.clone(), checkpoint.clone()));
            }
        }
        self.frame.reset = Some(left.len()).filter(|count| *count > 0);
        self.frame.fault = (!faults.is_empty()).then(|| faults.join(" "));
        if !left.is_empty() {
            // The remaining lessons can be tried again.
            self.undo = Some(Undo { lessons: left, progress: undo.progress.clone() });
        }
        undo.progress
    }
}

/// Keeps the current state as a checkpoint and saves another one. Returns the checkpoint, or `None` if nothing was
/// saved before.
fn exchange(home: &Home, key: &Key, label: &str, state: SessionState) -> Result<Option<Checkpoint>, NotSaved> {
    let opened = open::<SessionState>(home, key);
    let mut store = opened.store;
    if *store.lock() != Lock::Mine {
        return Err(NotSaved::Locked(store.lock().clone()));
    }
    if opened.loaded.value.is_none() {
        return Ok(None);
    }
    let checkpoint = store.checkpoint_now(label)?;
    store.save(&state)?;
    Ok(Some(checkpoint))
}

/// Returns the version of the picture for the lesson's current text; `None` if the file cannot be read.
fn version(file: &Path) -> Option<u64> {
    Some(fnv1a(written(file)?.as_bytes()) ^ fnv1a(concat!(env!("CARGO_PKG_VERSION"), "2").as_bytes()))
}

fn kept_pictures(home: Option<&Home>) -> KeptPictures {
    home.and_then(|home| read(home, &Key::named(PICTURES)).value).unwrap_or_default()
}

/// Returns the cached picture of a lesson, if it is of the current version.
fn present(file: &Path, kept: &KeptPictures) -> Option<CardPicture> {
    let kept = kept.0.get(&name(file)?)?;
    (version(file)? == kept.version).then(|| CardPicture::Sketch(Arc::new(kept.sketch.clone())))
}

/// Draws a lesson's picture and caches it.
fn draw(file: &Path, home: Option<&Home>) -> CardPicture {
    let (Some(version), Ok(lesson)) = (version(file), load::read(file)) else { return CardPicture::None };
    let picture = CardPicture::of(lesson);
    if let (CardPicture::Sketch(sketch), Some(home), Some(name)) = (&picture, home, name(file)) {
        let kept = KeptPicture { version, sketch: Sketch::clone(sketch) };
        // If it cannot be cached, it is drawn again next time.
        let _ = update(home, &Key::named(PICTURES), |pictures: &mut KeptPictures| _ = pictures.0.insert(name, kept));
    }
    picture
}

fn find(home: Option<&Home>, kept: &KeptPictures) -> CourseFiles {
    let of_program = || home.and_then(|home| built_in::put_into(&home.built_in()).ok());
    let folder = course::folder().or_else(of_program);
    let files: Vec<CourseFile> = folder.as_deref().map(course::list).unwrap_or_default();
    let course = kept_course(home);
    let missing: BTreeSet<String> = course.recent.iter().filter(|path| !Path::new(path).exists()).cloned().collect();
    let pictures = files.iter().filter_map(|file| Some((file.path.clone(), present(&file.path, kept)?))).collect();
    let review = review(&files, &course, SystemTime::now()).map_or_else(Review::default, |(review, _)| review);
    CourseFiles { folder, files, course, missing, pictures, review }
}

/// Receives the lessons that were found, once the search has ended.
pub fn receive(mut page: ResMut<CoursePage>) {
    page.receive();
}

/// The information on the page in addition to the course.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeFrame {
    /// The title of the lesson that is open behind the page; `None` if none is open.
    pub behind: Option<String>,
    /// The number of lessons that the last reset affected, if it can be undone.
    pub reset: Option<usize>,
    /// The reason why the last request failed.
    pub fault: Option<String>,
}

#[derive(Default)]
pub struct HomeUiState {
    /// Whether the button that continues the course has been given the keyboard.
    pub(super) is_greeted: bool,
    /// Whether the learner has clicked reset once; the second click resets the course.
    asks_reset: bool,
    /// Whether the page shows the questions that are due for review in place of the lessons.
    pub shows_review: bool,
    /// The time in seconds at which the animation began; `None` before it begins.
    pub(super) split_since: Option<f64>,
    /// Whether the pointer has been over the animation since it began.
    pub(super) is_pointed: bool,
}

const COLUMN: f32 = 1560.0;
const MARGIN: f32 = 28.0;

pub fn home_ui(
    ui: &mut Ui,
    model: Option<&HomeModel>,
    frame: &HomeFrame,
    state: &mut HomeUiState,
    theme: ThemeChoice,
    is_still: bool,
) -> Vec<Action> {
    let palette = Palette::on(ui);
    let mut actions = Vec::new();
    ui.painter().rect_filled(ui.max_rect(), CornerRadius::ZERO, palette.surface);
    let bar = Frame::new().fill(palette.ground).inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0));
    egui::Panel::top("home_bar").frame(bar).exact_size(size::BAR_HEIGHT).show_separator_line(false).show(ui, |ui| {
        bar_ui(ui, frame, theme, state.shows_review, &mut actions);
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let width = (ui.available_width() - 2.0 * MARGIN).clamp(0.0, COLUMN);
        let left = (ui.available_width() - width) / 2.0;
        let area = Rect::from_min_size(ui.cursor().min + vec2(left, MARGIN), vec2(width, f32::INFINITY));
        ui.scope_builder(UiBuilder::new().max_rect(area), |ui| {
            ui.set_width(width);
            match model {
                Some(model) => page_ui(ui, model, frame, state, is_still, &mut actions),
                None => _ = ui.weak("Looking for lessons …"),
            }
        });
        ui.add_space(MARGIN);
    });
    if frame.behind.is_some() && ui.input(|input| input.key_pressed(egui::Key::Escape)) {
        actions.push(Action::Back);
    }
    actions
}

fn bar_ui(ui: &mut Ui, frame: &HomeFrame, theme: ThemeChoice, shows_review: bool, actions: &mut Vec<Action>) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        actions.extend(view_ui(ui, theme).map(Action::from));
        ui.add_space(size::GAP_WIDE);
        let browse = WindowAction::Browse.row();
        let hint = browse.hint_with("Any lesson on this computer");
        actions.extend(button_ui(ui, browse.text, hint, WindowAction::Browse.into()));
        actions.extend(action_ui(ui, if shows_review { WindowAction::Course } else { WindowAction::Review }));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.label(RichText::new("attune").font(theme::strong(size::HEADING)));
            if let Some(title) = &frame.behind {
                ui.add_space(size::GAP_WIDE);
                let back = Button::new(format!("← Back to {title}")).truncate();
                if ui.add(back).on_hover_text("Goes back to the lesson as you left it (Esc)").clicked() {
                    actions.push(Action::Back);
                }
            }
        });
    });
}

fn page_ui(
    ui: &mut Ui,
    model: &HomeModel,
    frame: &HomeFrame,
    state: &mut HomeUiState,
    is_still: bool,
    actions: &mut Vec<Action>,
) {
    let palette = Palette::on(ui);
    if let Some(fault) = &frame.fault {
        ui.add(Label::new(RichText::new(fault).color(palette.error)).wrap());
        ui.add_space(size::GAP);
    }
    if state.shows_review {
        review_ui(ui, &model.review, actions);
        return;
    }
    actions.extend(hero_ui(ui, model, state, is_still));
    for (place, rows) in model.chapters().enumerate() {
        let hue = palette.group(place);
        chapter_ui(ui, rows, hue);
        cards_ui(ui, rows, hue, actions);
    }
    if !model.others.is_empty() {
        ui.add_space(size::GAP_WIDE);
        ui.label(RichText::new("Other files").font(theme::strong(size::READING)));
        ui.add_space(size::GAP_TIGHT);
        actions.extend(model.others.iter().filter_map(|row| row_ui(ui, row)));
    }
    ui.add_space(size::GAP_WIDE);
    ui.weak("Drop a lesson's file on this window to open it.");
    if model.is_begun() || frame.reset.is_some() {
        ui.add_space(size::GAP);
        reset_ui(ui, frame, state, actions);
    }
}

/// Shows the questions that are due for review, and then the others with their times.
fn review_ui(ui: &mut Ui, review: &Review, actions: &mut Vec<Action>) {
    let due = review.due().count();
    ui.label(RichText::new("Review").font(theme::strong(size::TITLE)));
    ui.add_space(size::GAP_TIGHT);
    let standing = match (review.questions.len(), due) {
        (0, _) => "No question is due. Open a lesson: a day later, its questions come up here.".to_owned(),
        (_, 0) => "No question is due today.".to_owned(),
        (_, 1) => "1 question is due.".to_owned(),
        (_, due) => format!("{due} questions are due."),
    };
    ui.label(RichText::new(standing).font(theme::strong(size::READING)));
    let about = "A question that was not right is due the next day; after one, two and three right answers in a row it is \
        due after 2, 7 and 30 days. Two of them are at the beginning of the next lesson that you open. Here each opens among \
        all the others, where Ask again asks it with other numbers.";
    ui.add(Label::new(RichText::new(about).color(Palette::on(ui).ink_soft)).wrap());
    ui.add_space(size::GAP_WIDE);
    for (place, question) in review.questions.iter().enumerate() {
        if place == due {
            ui.add_space(size::GAP_WIDE);
            ui.label(RichText::new("Later").font(theme::strong(size::READING)));
        }
        let words = format!("{} · {}", question.lesson_words(), question.words(review.now));
        let open = ui.add(Button::new(words).wrap()).on_hover_text("Opens the question");
        if let Some(file) = review.file.as_ref().filter(|_| open.clicked()) {
            actions.push(Action::OpenCell(file.clone(), question.cell.clone()));
        }
    }
}

fn reset_ui(ui: &mut Ui, frame: &HomeFrame, state: &mut HomeUiState, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        if let Some(count) = frame.reset {
            let lessons = counted_as(count, "lesson is", "lessons are");
            ui.weak(format!("{lessons} back at the start."));
            actions.extend(button_ui(ui, "Undo the reset", "Brings your work back", Action::UndoResetCourse));
        } else if state.asks_reset {
            ui.label("Every lesson goes back to its start. Your work on each is kept as a checkpoint.");
            if ui.button("Reset the course").clicked() {
                state.asks_reset = false;
                actions.push(Action::ResetCourse);
            }
            if ui.button("Cancel").clicked() {
                state.asks_reset = false;
            }
        } else {
            let reset = ui.button("Reset the course …").on_hover_text("Resets every lesson; you can undo this");
            state.asks_reset = reset.clicked();
        }
    });
}

/// Shows the name of a chapter, and the number of its completed lessons.
fn chapter_ui(ui: &mut Ui, rows: &[HomeRow], hue: Color32) {
    const MARK: Vec2 = Vec2::new(4.0, 20.0);
    let Some(chapter) = rows.first().and_then(|row| row.chapter.as_ref()) else { return };
    let done = rows.iter().filter(|row| row.state == RowState::Done).count();
    ui.horizontal(|ui| {
        let (mark, _) = ui.allocate_exact_size(MARK, Sense::hover());
        ui.painter().rect_filled(mark, f32::from(size::RADIUS_SMALL), hue);
        ui.label(RichText::new(chapter).font(theme::strong(size::HEADING)));
        ui.label(RichText::new(format!("{done} of {} done", rows.len())).color(Palette::on(ui).ink_soft));
    });
    ui.add_space(size::GAP);
}

/// Shows the lessons of a chapter as cards with pictures, as many in a row as fit.
fn cards_ui(ui: &mut Ui, rows: &[HomeRow], hue: Color32, actions: &mut Vec<Action>) {
    const LEAST: f32 = 236.0;
    const MOST: usize = 5;
    let gap = size::GAP_WIDE;
    let width = ui.available_width();
    let columns = (((width + gap) / (LEAST + gap)) as usize).clamp(1, MOST);
    let card = ((width - gap * (columns - 1) as f32) / columns as f32).max(0.0);
    for line in rows.chunks(columns) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            actions.extend(line.iter().filter_map(|row| card_ui(ui, row, card, hue)));
        });
        ui.add_space(gap);
    }
}

fn card_ui(ui: &mut Ui, row: &HomeRow, width: f32, hue: Color32) -> Option<Action> {
    /// The height of a picture, as a share of its width.
    const PICTURE: f32 = 0.56;
    const WORDS: f32 = 112.0;
    let palette = Palette::on(ui);
    let height = width * PICTURE + WORDS;
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, said(row)));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    let round = CornerRadius::same(size::RADIUS);
    ui.painter().rect_filled(rect, round, palette.raised);
    let edge = if response.has_focus() || response.hovered() {
        Stroke::new(size::OUTLINE, palette.accent)
    } else {
        Stroke::new(size::HAIRLINE, if row.state == RowState::Done { hue } else { palette.line })
    };
    let (picture, words) = rect.split_top_bottom_at_y(rect.top() + width * PICTURE);
    let is_done = row.state == RowState::Done;
    let ground = if is_done { palette.tinted(hue) } else { palette.stage };
    ui.painter().rect_filled(picture.shrink(size::HAIRLINE), round, ground);
    match &row.picture {
        Some(CardPicture::Sketch(sketch)) => sketch_ui(ui, sketch, picture, 1.0),
        Some(CardPicture::Absent { needs, layers, heads }) => absent_ui(ui, needs, (*layers, *heads), picture),
        Some(CardPicture::None) => {}
        None if matches!(row.state, RowState::Broken(_)) => {}
        None => {
            let font = theme::plain(size::SMALL);
            ui.painter().text(picture.center(), Align2::CENTER_CENTER, "drawing …", font, palette.ink_faint);
        }
    }
    let inner = words.shrink(size::GAP);
    words_ui(ui, row, words, inner);
    foot_ui(ui, row, inner, palette);
    ui.painter().rect_stroke(rect, round, edge, StrokeKind::Inside);
    let hint = if row.summary.is_empty() { row.title.clone() } else { row.summary.clone() };
    response.on_hover_text(hint).clicked().then(|| Action::open(&row.path))
}

/// Shows the title and the summary of a lesson, within `inner`.
fn words_ui(ui: &mut Ui, row: &HomeRow, words: Rect, inner: Rect) {
    let palette = Palette::on(ui);
    let ui = &mut ui.new_child(UiBuilder::new().max_rect(inner).layout(Layout::top_down(Align::Min)));
    // Clipped to the page, so that scrolled text does not cover the bar.
    ui.set_clip_rect(words.intersect(ui.clip_rect()));
    ui.spacing_mut().item_spacing.y = size::HAIRLINE;
    let number = row.number.map_or_else(String::new, |number| format!("{number}  "));
    let title = RichText::new(format!("{number}{}", row.title)).font(theme::strong(size::READING)).color(palette.ink);
    ui.add(Label::new(title).truncate().selectable(false));
    let (summary, ink) = summary(row, palette);
    ui.add(Label::new(RichText::new(summary).size(size::SMALL).color(ink)).wrap().selectable(false));
}

/// Draws a model that is not on this computer: a dot for each head, a row for each layer, and what it needs.
fn absent_ui(ui: &Ui, needs: &str, (layers, heads): (usize, usize), rect: Rect) {
    const DOT: f32 = 2.0;
    let palette = Palette::on(ui);
    let painter = ui.painter_at(rect);
    let (grid, line) = rect.shrink(size::GAP).split_top_bottom_at_y(rect.bottom() - size::GAP - size::SLIDER_ROW);
    let step = grid.height() / layers.max(1) as f32;
    let first = grid.center() - vec2(heads.saturating_sub(1) as f32, layers.saturating_sub(1) as f32) * step / 2.0;
    for (layer, head) in (0..layers).flat_map(|layer| (0..heads).map(move |head| (layer, head))) {
        painter.circle_filled(first + vec2(head as f32, layer as f32) * step, DOT, palette.ink_faint);
    }
    painter.text(line.center(), Align2::CENTER_CENTER, needs, theme::plain(size::SMALL), palette.ink_soft);
}

/// Shows the lower part of a card: prerequisites, minutes, and progress.
fn foot_ui(ui: &Ui, row: &HomeRow, inner: Rect, palette: &Palette) {
    const TRACK: f32 = 4.0;
    let font = theme::plain(size::SMALL);
    let line = inner.bottom() - TRACK - size::GAP_TIGHT;
    let minutes = row.minutes.map(|minutes| format!("{minutes} min"));
    let after = (!row.builds_on.is_empty()).then(|| format!("builds on {}", row.builds_on.join(", ")));
    let left: Vec<String> = minutes.into_iter().chain(after).collect();
    let painter = ui.painter();
    painter.text(pos2(inner.left(), line), Align2::LEFT_BOTTOM, left.join(" · "), font.clone(), palette.ink_soft);
    if let Some((words, ink)) = progress(row, palette) {
        painter.text(pos2(inner.right(), line), Align2::RIGHT_BOTTOM, words, font, ink);
        let track = Rect::from_min_max(pos2(inner.left(), inner.bottom() - TRACK), inner.right_bottom());
        track_ui(ui, row, track, palette);
    }
}

/// Returns a text on the progress in a lesson that was begun, and its colour; `None` for a lesson that is new, broken
/// or without tasks.
fn progress(row: &HomeRow, palette: &Palette) -> Option<(String, Color32)> {
    match row.state {
        _ if row.tasks.of == 0 => None,
        RowState::New | RowState::Broken(_) => None,
        RowState::Done => Some(("done".to_owned(), palette.accent)),
        _ => Some((format!("{} of {}", row.tasks.done, row.tasks.of), palette.ink_soft)),
    }
}

/// Draws the share of a lesson's completed tasks as a bar.
fn track_ui(ui: &Ui, row: &HomeRow, track: Rect, palette: &Palette) {
    let round = CornerRadius::same(size::RADIUS_SMALL);
    ui.painter().rect_filled(track, round, palette.line);
    let share = row.tasks.done.min(row.tasks.of) as f32 / row.tasks.of as f32;
    let done = Rect::from_min_size(track.min, vec2(track.width() * share, track.height()));
    ui.painter().rect_filled(done, round, palette.accent);
}

/// Returns the text below the title of a lesson, and its colour.
fn summary(row: &HomeRow, palette: &Palette) -> (String, Color32) {
    match row.state {
        RowState::Broken(1) => ("The file has an issue; open it to see where.".to_owned(), palette.error),
        RowState::Broken(count) => (format!("The file has {count} issues; open it to see where."), palette.error),
        RowState::Missing => (format!("{} is no longer there", row.summary), palette.ink_faint),
        _ => (row.summary.clone(), palette.ink_soft),
    }
}

fn row_ui(ui: &mut Ui, row: &HomeRow) -> Option<Action> {
    const HEIGHT: f32 = 45.0;
    const NUMBER: f32 = 34.0;
    const SIDE: f32 = 130.0;
    const PADDING: (f32, f32) = (8.0, 3.0);
    let palette = Palette::on(ui);
    let is_there = row.state != RowState::Missing;
    let sense = if is_there { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), sense);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, is_there, said(row)));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    if response.hovered() && is_there {
        ui.painter().rect_filled(rect, CornerRadius::same(size::RADIUS), palette.raised);
    }
    if response.has_focus() {
        let outline = Stroke::new(size::OUTLINE, palette.accent);
        ui.painter().rect_stroke(rect, CornerRadius::same(size::RADIUS), outline, StrokeKind::Inside);
    }
    let inner = rect.shrink2(PADDING.into());
    let (left, rest) = inner.split_left_right_at_x(inner.left() + NUMBER);
    let (text, side) = rest.split_left_right_at_x(rest.right() - SIDE);
    if let Some(number) = row.number {
        let font = theme::strong(size::HEADING);
        ui.painter().text(left.left_top(), Align2::LEFT_TOP, number, font, palette.ink_faint);
    }
    // The child takes no space, because the row has already allocated it.
    {
        let ui = &mut ui.new_child(UiBuilder::new().max_rect(text).layout(Layout::top_down(Align::Min)));
        ui.spacing_mut().item_spacing.y = size::HAIRLINE;
        let ink = if is_there { palette.ink } else { palette.ink_faint };
        ui.add(Label::new(RichText::new(&row.title).font(theme::strong(size::READING)).color(ink)).truncate());
        let (words, ink) = summary(row, palette);
        ui.add(Label::new(RichText::new(words).color(ink)).truncate());
    }
    side_ui(ui, row, side, palette);
    response.clicked().then(|| Action::open(&row.path))
}

/// Shows the minutes, and the progress below them.
fn side_ui(ui: &Ui, row: &HomeRow, side: Rect, palette: &Palette) {
    const TRACK: Vec2 = Vec2::new(64.0, 4.0);
    let line = |share: f32| pos2(side.right(), side.top() + side.height() * share);
    const UPPER: f32 = 0.27;
    const LOWER: f32 = 0.74;
    let font = theme::plain(size::SMALL);
    if let Some(minutes) = row.minutes {
        let words = format!("{minutes} min");
        ui.painter().text(line(UPPER), Align2::RIGHT_CENTER, words, font.clone(), palette.ink_soft);
    }
    if let Some((words, ink)) = progress(row, palette) {
        let written = ui.painter().text(line(LOWER), Align2::RIGHT_CENTER, words, font, ink);
        let middle = pos2(written.left() - size::GAP - TRACK.x / 2.0, written.center().y);
        track_ui(ui, row, Rect::from_center_size(middle, TRACK), palette);
    }
}

/// Describes a lesson for screen readers.
fn said(row: &HomeRow) -> String {
    let mut words = row.title.clone();
    if let Some(number) = row.number {
        words = format!("{number} {words}");
    }
    if let Some(minutes) = row.minutes {
        words += &format!(", {minutes} minutes");
    }
    match row.state {
        RowState::New => {}
        RowState::Begun => words += &format!(", {} of {} tasks done", row.tasks.done, row.tasks.of),
        RowState::Done => words += ", done",
        RowState::Broken(issues) => words += &format!(", issues: {issues}"),
        RowState::Missing => words += ", no longer there",
    }
    words
}

/// Shows a notice over everything while a file is dragged over the window.
pub fn drop_ui(ctx: &Context) {
    const SHADE: f32 = 0.86;
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let rect = ctx.viewport_rect();
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::new("drop"));
    let painter = ctx.layer_painter(layer);
    painter.rect_filled(rect, CornerRadius::ZERO, palette.surface.gamma_multiply(SHADE));
    let outline = Stroke::new(size::OUTLINE, palette.accent);
    painter.rect_stroke(rect.shrink(MARGIN / 2.0), CornerRadius::same(size::RADIUS), outline, StrokeKind::Inside);
    let font = theme::strong(size::HEADING);
    painter.text(rect.center(), Align2::CENTER_CENTER, "Drop it here to open it", font, palette.ink);
}

/// Opens the course page, which can lead back to the lesson, or closes it.
pub fn show(world: &mut World) {
    show_part(world, false);
}

/// Opens the course page at the questions that are due for review, or closes it.
pub fn show_review(world: &mut World) {
    show_part(world, true);
}

/// Opens the course page at the lessons or at the questions that are due for review. If this part is open, it is
/// closed.
fn show_part(world: &mut World, shows_review: bool) {
    let behind = world.resource::<LatestModels>().snapshot().map(|snapshot| snapshot.lesson.title.clone());
    let mut page = world.resource_mut::<CoursePage>();
    let is_shown = page.is_open && page.ui.shows_review == shows_review;
    if is_shown && behind.is_some() && page.frame.fault.is_none() {
        page.close();
        return;
    }
    // If the review is open already and there is no lesson to go back to, the page shows the lessons instead.
    let shows_review = shows_review && !is_shown;
    // The page reads the progress from the disk.
    world.resource_mut::<Profile>().flush();
    world.resource_mut::<CoursePage>().frame.behind = behind;
    open_page(world);
    world.resource_mut::<CoursePage>().ui.shows_review = shows_review;
}

fn open_page(world: &mut World) {
    let Setup { home, waker, .. } = world.resource::<Setup>().clone();
    world.resource_mut::<CoursePage>().open(home.as_ref(), &waker);
}

/// Reports a failure on the course page, from which other lessons can be opened.
pub fn say(world: &mut World, fault: String) {
    if !world.resource::<CoursePage>().is_open {
        show(world);
    }
    world.resource_mut::<CoursePage>().frame.fault = Some(fault);
}

/// Resets every lesson of the course or, if `forward` is false, undoes the last reset.
pub fn reset(world: &mut World, forward: bool) {
    let Some(home) = world.resource::<Setup>().home.clone() else { return };
    if let Some(why) = unsaved(world) {
        return say(
            world,
            format!("The course was not reset, because the work on the open lesson cannot be saved yet: {why}"),
        );
    }
    // The open lesson may be one of those that are reset.
    close(world);
    name_window(world, None);
    let mut page = world.resource_mut::<CoursePage>();
    let progress = if forward { page.reset(&home) } else { page.undo_reset(&home) };
    page.frame.behind = None;
    page.is_open = true;
    let mut profile = world.resource_mut::<Profile>();
    profile.add(progress);
    profile.flush();
    open_page(world);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_of_the_lesson_as_its_file_is_now() {
        let folder = std::env::temp_dir().join(format!("attune-course-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (file, home) = (folder.join("small.ron"), Home::at(folder.join("home")));
        let text = include_str!("../../../tests/fixtures/small.ron");
        std::fs::write(&file, text).expect("it is written");
        assert!(present(&file, &kept_pictures(Some(&home))).is_none(), "nothing is drawn yet");
        let drawn = draw(&file, Some(&home));
        assert!(matches!(drawn, CardPicture::Sketch(_)), "{drawn:?}");
        assert_eq!(present(&file, &kept_pictures(Some(&home))), Some(drawn.clone()));

        std::fs::write(&file, text.replacen("seed: 5", "seed: 6", 1)).expect("it is written");
        assert!(present(&file, &kept_pictures(Some(&home))).is_none(), "the file has changed");
        let other = draw(&file, Some(&home));
        assert_ne!(other, drawn, "another seed, another picture");
        assert_eq!(present(&file, &kept_pictures(Some(&home))), Some(other));

        std::fs::write(&file, "Lesson(").expect("it is written");
        assert_eq!(draw(&file, Some(&home)), CardPicture::None, "it does not wait for ever");
        std::fs::remove_dir_all(folder).expect("the temporary folder goes");
    }
}
