//! A talk on the screen: the sentence in large type, below it one slide on the left, and the gauge and the stage on the
//! right.

use std::sync::Arc;

use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_view::explain::walk::{RouteModel, WalkModel};
use attune_view::view_model::Models;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::slides::{Slide, SlideContent, SlidesModel, Stop};
use attune_view::view_model::stage::StageModel;
use egui::{Align, Label, Layout, Rect, RichText, ScrollArea, Ui, UiBuilder, Vec2, WidgetType};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::link::Link;
use crate::app::panels::notebook::{NotebookPanel, slide_ui};
use crate::app::panels::{Requests, StageUi};
use crate::app::stage::canvas::StageControls;
use crate::app::stage::sentence::StripState;
use crate::app::text::prose::{Prose, equation_ui};
use crate::app::theme::{self, Palette, size};
use crate::app::ui_state::{Highlight, PanelView, Selection, ViewState};
use crate::app::widgets::controls::named;

/// The slide's share of the width.
const SHARE: f32 = 0.45;

/// The height of the buttons and the slide's number, below the slide.
const FOOT: f32 = 28.0;

/// Largest overflow, in points, that is treated as rounding.
const ROUNDING: f32 = 2.0;

/// A height greater than that of any slide.
const LONG: f32 = 1e5;

/// The height that stays visible when a long slide is scrolled by a page.
const OVERLAP: f32 = 22.0;

/// A presentation in progress.
pub struct Presentation {
    /// The copy of the lesson on which the presentation runs.
    lesson: Arc<Lesson>,
    cell: CellId,
    part: usize,
    /// The slide for which the stage was last set.
    arrived: Option<(CellId, usize)>,
    /// The stage cell that was shown last, and the stop of its walk.
    pub staged: Option<(CellId, Option<Stop>)>,
    scroll: Scroll,
    /// The state of the editors and outputs of the cells on the slides.
    notebook: NotebookPanel,
    pub before: Before,
}

/// The state before the presentation, which is restored at its end.
pub struct Before {
    pub link: Link,
    pub view: ViewState,
    pub controls: StageControls,
    pub strip: StripState,
    pub fitted: Option<Arc<StageModel>>,
}

/// The scroll position of a slide.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Scroll {
    /// The scroll position that a key has requested, until it is set.
    to: Option<f32>,
    above: f32,
    below: f32,
    page: f32,
    /// Whether the coming reveal appears below the visible part, and must then be scrolled into view.
    awaits: bool,
}

impl Scroll {
    /// Returns the scroll state after a page forward or back; `None` if the slide has no more in that direction.
    fn turned(self, is_on: bool) -> Option<Scroll> {
        let Scroll { above, below, page, .. } = self;
        let by = if is_on { page.min(below) } else { -page.min(above) };
        let (to, above, below) = (Some(above + by), above + by, below - by);
        (by.abs() > ROUNDING).then_some(Scroll { to, above, below, page, awaits: false })
    }

    /// Returns the scroll state for the measured slide. An awaited reveal is followed by a page forward.
    fn seen(self, above: f32, below: f32, page: f32) -> Scroll {
        let awaits = self.awaits && below <= ROUNDING;
        let seen = Scroll { to: None, above, below, page, awaits };
        if self.awaits { seen.turned(true).unwrap_or(seen) } else { seen }
    }
}

impl Presentation {
    pub fn new(lesson: Arc<Lesson>, cell: CellId, before: Before) -> Self {
        let (notebook, scroll) = (NotebookPanel::default(), Scroll::default());
        Self { lesson, cell, part: 0, arrived: None, staged: None, scroll, notebook, before }
    }

    /// Returns whether the snapshot is from the presentation's own kernel.
    pub fn is_of(&self, snapshot: &Snapshot) -> bool {
        Arc::ptr_eq(&self.lesson, &snapshot.lesson)
    }

    /// Returns the slide's cell, and the slide's index among the slides of the cell.
    pub fn at(&self) -> (&str, usize) {
        (&self.cell, self.part)
    }

    fn index(&self, slides: &SlidesModel) -> usize {
        slides.index(&self.cell, self.part).unwrap_or(0)
    }

    /// Returns the current slide if it has changed since the last call, and `None` otherwise.
    pub fn come_to<'a>(&mut self, slides: &'a SlidesModel) -> Option<&'a Slide> {
        let slide = slides.0.get(self.index(slides))?;
        let here = (slide.cell.clone(), slide.part);
        (self.arrived.replace(here.clone()) != Some(here)).then_some(slide)
    }

    /// Turns to the rest of a slide that is too tall for the window, or to the next slide, or back.
    pub fn turn(&mut self, is_on: bool, slides: &SlidesModel) {
        if let Some(turned) = self.scroll.turned(is_on) {
            self.scroll = turned;
            return;
        }
        let index = self.index(slides);
        let to = if is_on { index + 1 } else { index.saturating_sub(1) };
        let (Some(from), Some(slide)) = (slides.0.get(index), slides.0.get(to)) else { return };
        let is_of_cell = |slide: &Slide| !matches!(slide.shows, SlideContent::Text(_) | SlideContent::Walk(_));
        if slide.cell == from.cell && is_of_cell(slide) && is_of_cell(from) {
            // The answer appears beside the choices, which are visible.
            self.scroll.awaits = is_on && slide.shows != SlideContent::Answered;
        } else {
            self.scroll = Scroll { to: Some(0.0), ..Scroll::default() };
        }
        (self.cell, self.part) = (slide.cell.clone(), slide.part);
    }
}

/// Returns the zoom for a presentation, which fits at least a fixed number of points into the window's width and
/// height.
pub fn zoom(window: Vec2) -> f32 {
    const POINTS: Vec2 = Vec2::new(704.0, 396.0);
    const MOST: f32 = 6.0;
    (window / POINTS).min_elem().clamp(1.0, MOST)
}

/// Shows the presentation, which fills the window.
pub fn presentation_ui(
    ui: &mut Ui,
    models: &Models,
    talk: &mut Presentation,
    view: &mut PanelView,
    stage: &mut dyn StageUi,
    prose: &mut Prose,
) -> Requests {
    let palette = Palette::on(ui);
    let mut requests = Requests::default();
    let area = stage.sentence_ui(ui, view);
    let (left, right) = area.split_left_right_at_x(area.left() + area.width() * SHARE);
    ui.painter().rect_filled(left, 0.0, palette.surface);
    ui.painter().rect_filled(right, 0.0, palette.stage);
    ui.scope_builder(UiBuilder::new().max_rect(right), |ui| stage.stage_ui(ui, view));
    let (Some(slides), Some(notebook)) = (models.get::<SlidesModel>(), models.get::<NotebookModel>()) else {
        return requests;
    };
    let index = talk.index(&slides);
    let inner = left.shrink(f32::from(size::PANEL_MARGIN));
    let (above, foot) = inner.split_top_bottom_at_y(inner.bottom() - FOOT);
    let Some(slide) = slides.0.get(index) else { return requests };
    ui.scope_builder(UiBuilder::new().max_rect(above), |ui| {
        if !slide.title.is_empty() {
            ui.add(Label::new(RichText::new(&slide.title).font(theme::strong(size::HEADING))).wrap());
        }
        let mut rest = ScrollArea::vertical().id_salt("slide").auto_shrink([false, false]);
        if let Some(to) = talk.scroll.to.take() {
            rest = rest.vertical_scroll_offset(to);
        }
        let shown = rest.show(ui, |ui| {
            // Lists of outputs get their full height, because only the slide as a whole scrolls.
            ui.set_max_height(LONG);
            match &slide.shows {
                SlideContent::Walk(stop) => walk_ui(ui, *stop, models, view.selection, view.highlight),
                _ => requests.commands = slide_ui(ui, slide, &notebook, &mut talk.notebook, view, prose),
            }
        });
        let (sight, above) = (shown.inner_rect.height(), shown.state.offset.y);
        let below = (shown.content_size.y - sight - above).max(0.0);
        talk.scroll = talk.scroll.seen(above, below, (sight - OVERLAP).max(OVERLAP));
    });
    if talk.scroll.to.is_some() {
        ui.ctx().request_repaint();
    }
    let place = format!("{} of {}", index + 1, slides.0.len());
    foot_ui(ui, foot, &place, talk.scroll.below > ROUNDING, &mut requests);
    requests
}

/// Shows the equation of a step, and what the step or a whole layer does to the query, with its numbers.
fn walk_ui(ui: &mut Ui, stop: Stop, models: &Models, selection: &Selection, highlight: &Highlight) {
    let Some(route) = models.get::<RouteModel>() else { return };
    if let Some(title) = stop.title(&route) {
        ui.label(RichText::new(title).size(size::READING));
    }
    let word = selection.query.or_else(|| route.word(&highlight.lit));
    let focus = word.and_then(|word| match stop {
        Stop::Step { .. } => Some(route.focus(word, selection.head, selection.key)),
        // The stage shows all heads of the layer, so the chosen head and key do not count. A focus needs a head, and
        // this is the one that moves the word most.
        Stop::Layer(layer) => Some(route.focus(word, route.head(layer, word)?, None)),
    });
    let Some(walk) = focus.and_then(|focus| models.of_choice::<WalkModel>(&focus)) else { return };
    // The equations are stacked, because side by side they would be too wide in large type.
    for equation in stop.equations(&walk) {
        equation_ui(ui, equation);
    }
    let (_, step) = stop.place();
    ui.add(Label::new(RichText::new(&walk.step(step).said).size(size::READING)).wrap());
}

/// Shows buttons for use without keys, and the slide's number.
fn foot_ui(ui: &mut Ui, area: Rect, place: &str, has_more: bool, requests: &mut Requests) {
    let ink = Palette::on(ui).ink_soft;
    let mut button = |ui: &mut Ui, words: &str, action: WindowAction| {
        let row = action.row();
        let response = named(ui.button(words), WidgetType::Button, row.text);
        if response.on_hover_text(row.hint()).clicked() {
            requests.actions.push(action.into());
        }
    };
    let layout = Layout::left_to_right(Align::Max);
    ui.scope_builder(UiBuilder::new().max_rect(area).layout(layout), |ui| {
        button(ui, "←", WindowAction::PreviousSlide);
        button(ui, "→", WindowAction::NextSlide);
        ui.label(RichText::new(place).color(ink));
        if has_more {
            ui.label(RichText::new("more ▾").color(ink));
        }
        ui.with_layout(Layout::right_to_left(Align::Max), |ui| {
            button(ui, WindowAction::EndPresentation.row().text, WindowAction::EndPresentation);
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slide_that_is_too_high_is_read_page_by_page_and_then_left() {
        let first = Scroll { above: 0.0, below: 250.0, page: 100.0, ..Scroll::default() };
        let pages = std::iter::successors(Some(first), |at| at.turned(true)).map(|at| at.above);
        assert_eq!(pages.collect::<Vec<_>>(), [0.0, 100.0, 200.0, 250.0]);
        assert_eq!(first.turned(false), None, "back from its beginning is the slide before");
    }

    #[test]
    fn what_is_revealed_below_the_window_is_brought_into_sight_once() {
        let waiting = Scroll { page: 100.0, awaits: true, ..Scroll::default() };
        let still = waiting.seen(0.0, 0.0, 100.0);
        assert_eq!((still.to, still.awaits), (None, true), "it is not there yet");
        let come = still.seen(0.0, 60.0, 100.0);
        assert_eq!((come.to, come.awaits), (Some(60.0), false));
        assert_eq!(come.seen(60.0, 40.0, 100.0).to, None, "what else grows is left where it is");
    }

    #[test]
    fn the_type_is_as_large_as_the_window_has_room_for() {
        let zooms = [(1280.0, 720.0), (900.0, 600.0), (1920.0, 1080.0), (640.0, 300.0)];
        assert_eq!(zooms.map(|(x, y)| zoom(Vec2::new(x, y))), [720.0 / 396.0, 900.0 / 704.0, 1080.0 / 396.0, 1.0]);
    }
}
