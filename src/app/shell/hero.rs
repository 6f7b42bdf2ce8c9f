//! The picture with which the course page begins: a sentence whose word has two meanings, and how attention separates
//! them. The whole picture is the button that continues the course.

use attune_engine::messages::counted;
use attune_view::view_model::course::{CardPicture, HomeModel, HomeNext};
use attune_view::view_model::pictures::Sketch;
use egui::{
    Button, CornerRadius, CursorIcon, Label, Rect, RichText, Sense, Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo,
    WidgetType, vec2,
};

use super::course::HomeUiState;
use crate::app::actions::Action;
use crate::app::theme::{self, Palette, size};
use crate::app::ui_state::walk::ease;
use crate::app::widgets::plot::{sentence_ui, sketch_ui};

/// Shows the name of the course and the button that continues it. If there is room, they are part of the picture.
pub fn hero_ui(ui: &mut Ui, model: &HomeModel, state: &mut HomeUiState, is_still: bool) -> Option<Action> {
    /// The height of the picture.
    const HEIGHT: f32 = 380.0;
    /// The height of the upper part of the picture, which holds the sentence.
    const SENTENCE: f32 = 112.0;
    /// The least width of the picture.
    const WIDTH: f32 = 820.0;
    /// The share of the width beside the points, for the words.
    const WORDS: f32 = 0.4;
    let palette = Palette::on(ui);
    let split = model.lessons.iter().find_map(|row| match &row.picture {
        Some(CardPicture::Sketch(sketch)) if sketch.splits() => Some(sketch),
        _ => None,
    });
    let Some(split) = split.filter(|_| ui.available_width() >= WIDTH) else { return words_ui(ui, model, state) };
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    // The button in the picture has the keyboard, so the picture itself does not take it.
    let picture = ui.interact(rect, ui.id().with("hero"), Sense::CLICK);
    picture.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, split.sentence.join(" ")));
    let round = CornerRadius::same(size::RADIUS);
    ui.painter().rect_filled(rect, round, palette.stage);
    let (above, below) = rect.shrink(size::GAP_WIDE).split_top_bottom_at_y(rect.top() + SENTENCE);
    let (left, right) = below.split_left_right_at_x(below.left() + below.width() * WORDS);
    sentence_ui(ui, split, above);
    split_ui(ui, split, right, picture.hovered(), state, is_still);
    let inner = left.with_min_y(left.top() + left.height() / 4.0).with_max_x(left.right() - size::GAP_WIDE);
    // The child takes no space, because the picture has already taken it.
    let action = words_ui(&mut ui.new_child(UiBuilder::new().max_rect(inner)), model, state);
    ui.add_space(size::GAP_WIDE);
    let Some(next) = &model.next else { return action };
    if picture.hovered() {
        ui.painter().rect_stroke(rect, round, Stroke::new(size::OUTLINE, palette.accent), StrokeKind::Inside);
    }
    let is_clicked = picture.on_hover_cursor(CursorIcon::PointingHand).clicked();
    action.or(is_clicked.then(|| Action::open(&next.path)))
}

/// Shows how the word splits, once when the page opens and again under the pointer.
fn split_ui(ui: &Ui, split: &Sketch, rect: Rect, is_pointed: bool, state: &mut HomeUiState, is_still: bool) {
    let now = ui.input(|input| input.time);
    let since = *state.split_since.get_or_insert(now);
    if !is_pointed {
        state.is_pointed = false;
    } else if now - since > theme::motion::SPLIT.into() && !state.is_pointed {
        state.is_pointed = true;
        state.split_since = Some(now);
    }
    let share = ((now - since) as f32 / theme::motion::SPLIT).clamp(0.0, 1.0);
    let time = if is_still { 1.0 } else { ease(share) };
    if time < 1.0 {
        ui.ctx().request_repaint();
    }
    sketch_ui(ui, split, rect, time);
}

fn words_ui(ui: &mut Ui, model: &HomeModel, state: &mut HomeUiState) -> Option<Action> {
    // The words cannot be selected, so that a click on them is one on the picture.
    let title = RichText::new("Learn self-attention by running it").font(theme::strong(size::TITLE));
    ui.add(Label::new(title).selectable(false));
    ui.add_space(size::GAP_TIGHT);
    ui.add(Label::new(RichText::new(standing(model)).color(Palette::on(ui).ink_soft)).selectable(false));
    ui.add_space(size::GAP_WIDE);
    model.next.as_ref().and_then(|next| next_ui(ui, next, state))
}

/// Shows the button that continues the course. It has the keyboard when the page opens.
fn next_ui(ui: &mut Ui, next: &HomeNext, state: &mut HomeUiState) -> Option<Action> {
    let palette = Palette::on(ui);
    let verb = if next.is_begun { "Continue" } else { "Begin" };
    let words = format!("{verb}: {}", next.title);
    let words = RichText::new(words).font(theme::strong(size::READING)).color(palette.on_accent);
    let button = ui.add(Button::new(words).fill(palette.accent).min_size(vec2(0.0, size::CELL_MAX)).truncate());
    if !state.is_greeted {
        state.is_greeted = true;
        button.request_focus();
    }
    if button.has_focus() {
        let ring = Stroke::new(size::OUTLINE, palette.accent);
        let corner = CornerRadius::same(size::RADIUS + size::RADIUS_SMALL);
        ui.painter().rect_stroke(button.rect.expand(size::RING), corner, ring, StrokeKind::Outside);
    }
    let is_clicked = button.on_hover_text("Enter").clicked();
    ui.add_space(size::GAP_WIDE);
    is_clicked.then(|| Action::open(&next.path))
}

/// Returns a sentence about the learner's progress.
fn standing(model: &HomeModel) -> String {
    let count = model.lessons.len();
    let folder = model.folder.as_ref().map(|folder| folder.display().to_string());
    match (count, folder) {
        (0, Some(folder)) => format!("There is no lesson in {folder}. Open a file, or drop one here."),
        (0, None) => "There is no `lessons` folder here. Open a lesson's file, or drop one on this window.".to_owned(),
        _ => {
            let lessons = counted(count, "lesson");
            let minutes: usize = model.lessons.iter().filter_map(|row| row.minutes).sum();
            const HOUR: usize = 60;
            let time = match minutes {
                0 => String::new(),
                minutes if minutes < 2 * HOUR => format!(", about {minutes} minutes"),
                minutes => format!(", about {} hours", (minutes + HOUR / 2) / HOUR),
            };
            let done = match model.tasks.of {
                0 => String::new(),
                of => format!(" · {} of {of} tasks done", model.tasks.done),
            };
            format!("{lessons}{time}{done}")
        }
    }
}
