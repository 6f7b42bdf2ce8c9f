//! The time line under the stage: the steps of the walk through attention, from static to contextual.

use egui::text::{LayoutJob, TextFormat};
use egui::{EventFilter, Key, Label, Rect, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::view::walk::LAST;
use crate::view_model::walk::{Step, WalkModel};

pub fn timeline_ui(ui: &mut Ui, walk: Option<&WalkModel>, view: &mut PanelView) {
    const ENDS: f32 = 92.0;
    const TRACK_HEIGHT: f32 = 26.0;
    let area = ui.available_rect_before_wrap().shrink2(vec2(size::GAP, size::GAP_TIGHT));
    let (upper, lower) = area.split_top_bottom_at_y(area.top() + TRACK_HEIGHT);
    let (left, rest) = upper.split_left_right_at_x(upper.left() + ENDS);
    let (middle, right) = rest.split_left_right_at_x(rest.right() - ENDS);
    for (place, words, time, hint) in [
        (left, "static", 0.0, "Where the dictionary puts each word"),
        (right, "contextual", 1.0, "Where attention puts each token"),
    ] {
        ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
            ui.horizontal_centered(|ui| {
                let is_there = view.walk.at() == LAST * time;
                if ui.selectable_label(is_there, words).on_hover_text(hint).clicked() {
                    view.walk.glide_to(time);
                }
            });
        });
    }
    track_ui(ui, middle.shrink2(vec2(size::GAP_WIDE, 0.0)), view);
    ui.scope_builder(UiBuilder::new().max_rect(lower), |ui| said_ui(ui, walk, view));
}

/// A line with a stop for each step; it can be dragged both ways.
fn track_ui(ui: &mut Ui, rect: Rect, view: &mut PanelView) {
    const STOP: f32 = 4.0;
    const HANDLE: f32 = 7.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let response = ui.interact(rect.expand2(vec2(HANDLE, 0.0)), ui.id().with("walk"), Sense::click_and_drag());
    let said =
        format!("Walk: step {} of {}, {}", view.walk.step().index() + 1, Step::ALL.len(), view.walk.step().name());
    response.widget_info(|| WidgetInfo::slider(true, f64::from(view.walk.at()), &said));
    let at = |walk: f32| pos2(rect.left() + rect.width() * walk / LAST, rect.center().y);
    if let Some(pointer) = response.interact_pointer_pos() {
        let walk = ((pointer.x - rect.left()) / rect.width() * LAST).clamp(0.0, LAST);
        if response.dragged() {
            view.walk.set(walk);
        } else if response.clicked() {
            view.walk.go_to(walk.round());
        }
    }
    if response.has_focus() {
        // Else they would lead to another control.
        let arrows = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let turned = |key| ui.input_mut(|input| input.count_and_consume_key(egui::Modifiers::NONE, key)) as isize;
        let steps = turned(Key::ArrowRight) - turned(Key::ArrowLeft);
        if steps != 0 {
            view.walk.step_by(steps);
        }
    }
    let painter = ui.painter();
    let line = Stroke::new(size::OUTLINE, palette.line);
    painter.line_segment([at(0.0), at(LAST)], line);
    painter.line_segment([at(0.0), at(view.walk.at())], Stroke::new(size::OUTLINE, palette.accent));
    for step in Step::ALL {
        let stop = at(step.index() as f32);
        let is_passed = view.walk.at() >= step.index() as f32;
        painter.circle_filled(stop, STOP, if is_passed { palette.accent } else { palette.line });
    }
    let handle = at(view.walk.at());
    let ring = if response.has_focus() || response.hovered() { palette.accent } else { palette.ink_soft };
    painter.circle(handle, HANDLE, palette.surface, Stroke::new(size::OUTLINE, ring));
    let named = response.hover_pos().map(|pointer| ((pointer.x - rect.left()) / rect.width() * LAST).round());
    let named = named.map(|index| Step::ALL[(index.max(0.0) as usize).min(Step::ALL.len() - 1)]);
    if let Some(step) = named {
        response.on_hover_text_at_pointer(format!("{} {}", step.index() + 1, step.name()));
    }
}

/// Lines for the words on a step.
const LINES: usize = 2;

/// Words on what happens in this step.
fn said_ui(ui: &mut Ui, walk: Option<&WalkModel>, view: &PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let step = view.walk.step();
    let [on, back] = [WindowAction::StepOn, WindowAction::StepBack].map(|action| action.row().keys_text());
    let hint = format!("Click a word to follow it. {on}: next step; {back}: back.");
    let said = walk.map_or(&*hint, |walk| &walk.step(step).said);
    let title = format!("{} {}", step.index() + 1, step.name());
    let mut job = LayoutJob::default();
    job.wrap.max_rows = LINES;
    job.append(&title, 0.0, TextFormat::simple(theme::strong(size::BODY), palette.accent));
    job.append(said, size::GAP, TextFormat::simple(theme::plain(size::BODY), palette.ink_soft));
    // What does not fit is said under the pointer.
    ui.add(Label::new(job).wrap());
}
