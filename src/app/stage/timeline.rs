//! The time line under the stage: the steps of the walk through attention, from static to contextual.

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Button, EventFilter, Key, Label, Rect, Sense, Stroke, TextStyle, Ui, UiBuilder, Widget, WidgetInfo, WidgetType,
    pos2, vec2,
};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};
use crate::app::view::walk::STEPS;
use crate::app::view::{PanelView, Walk};
use crate::view_model::walk::route::RouteModel;
use crate::view_model::walk::{Step, WalkModel};

/// How high the time line is under a stage of this width: what is said takes more lines on a narrow one.
pub fn height(width: f32) -> f32 {
    if width < size::TIMELINE_WIDE_FROM { size::TIMELINE_NARROW } else { size::TIMELINE }
}

pub fn timeline_ui(ui: &mut Ui, route: Option<&RouteModel>, walk: Option<&WalkModel>, view: &mut PanelView) {
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
                let is_there = view.walk.place() == view.walk.end() * time;
                if ui.selectable_label(is_there, words).on_hover_text(hint).clicked() {
                    view.walk.glide_to(time);
                }
            });
        });
    }
    track_ui(ui, middle.shrink2(vec2(size::GAP_WIDE, 0.0)), route, view);
    ui.scope_builder(UiBuilder::new().max_rect(lower), |ui| said_ui(ui, route, walk, view));
}

/// `layer 2 of 2, step 3 of 8`
fn place_said(route: Option<&RouteModel>, layer: usize, step: Step) -> String {
    let step = format!("step {} of {STEPS}", step.index() + 1);
    match route.and_then(|route| route.layers.get(layer)).filter(|layer| !layer.title.is_empty()) {
        Some(layer) => format!("{}, {step}", layer.title),
        None => step,
    }
}

/// A line with a stop for each step, larger where a layer begins; it can be dragged both ways.
fn track_ui(ui: &mut Ui, rect: Rect, route: Option<&RouteModel>, view: &mut PanelView) {
    const STOP: f32 = 4.0;
    const FIRST_STOP: f32 = 5.5;
    const HANDLE: f32 = 7.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let response = ui.interact(rect.expand2(vec2(HANDLE, 0.0)), ui.id().with("walk"), Sense::click_and_drag());
    let said = |layer: usize, step: Step| format!("{}: {}", place_said(route, layer, step), step.name());
    let name = format!("Walk: {}", said(view.walk.layer(), view.walk.step()));
    response.widget_info(|| WidgetInfo::slider(true, f64::from(view.walk.place()), &name));
    let end = view.walk.end();
    let at = |place: f32| pos2(rect.left() + rect.width() * place / end, rect.center().y);
    let under = |x: f32| ((x - rect.left()) / rect.width() * end).clamp(0.0, end);
    if let Some(pointer) = response.interact_pointer_pos() {
        if response.dragged() {
            view.walk.set(under(pointer.x));
        } else if response.clicked() {
            view.walk.walk_to(under(pointer.x).round());
        }
    }
    if response.has_focus() {
        // Else they would lead to another control.
        let arrows = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let turned = |key| ui.input_mut(|input| input.count_and_consume_key(egui::Modifiers::NONE, key));
        (0..turned(Key::ArrowRight)).for_each(|_| view.walk.step_on());
        (0..turned(Key::ArrowLeft)).for_each(|_| view.walk.step_back());
    }
    let painter = ui.painter();
    let place = view.walk.place();
    painter.line_segment([at(0.0), at(end)], Stroke::new(size::OUTLINE, palette.line));
    painter.line_segment([at(0.0), at(place)], Stroke::new(size::OUTLINE, palette.accent));
    for stop in 0..=end as usize {
        let ink = palette.stop(place >= stop as f32);
        let begins_layer = end as usize >= STEPS && stop.is_multiple_of(STEPS);
        painter.circle_filled(at(stop as f32), if begins_layer { FIRST_STOP } else { STOP }, ink);
    }
    let ring = if response.has_focus() || response.hovered() { palette.accent } else { palette.ink_soft };
    painter.circle(at(place), HANDLE, palette.surface, Stroke::new(size::OUTLINE, ring));
    if let Some(pointer) = response.hover_pos() {
        let stop = under(pointer.x).round() as usize;
        response.on_hover_text_at_pointer(said(stop / STEPS, Step::ALL[stop % STEPS]));
    }
}

/// Words on what happens in this step, and what the next key does.
fn said_ui(ui: &mut Ui, route: Option<&RouteModel>, walk: Option<&WalkModel>, view: &mut PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let next = next_ui(view.walk);
    let step = view.walk.step();
    // A line ends after a comma, not within `step 8 of 8`.
    let place = place_said(route, view.walk.layer(), step).replace(' ', "\u{a0}").replace(",\u{a0}", ", ");
    let hint = "Click a word to follow it. Otherwise Space follows the word that the lesson is about.";
    let said = walk.map_or(hint, |walk| &walk.step(step).said);
    let mut job = LayoutJob::default();
    job.wrap.max_rows = ((ui.available_height() / ui.text_style_height(&TextStyle::Body)) as usize).max(1);
    // A space after each part, so that a line may end there.
    job.append(&format!("{} ", step.name()), 0.0, TextFormat::simple(theme::strong(size::BODY), palette.accent));
    job.append(&format!("{place} "), size::GAP_TIGHT, TextFormat::simple(theme::plain(size::SMALL), palette.ink_soft));
    job.append(said, size::GAP_TIGHT, TextFormat::simple(theme::plain(size::BODY), palette.ink));
    ui.horizontal_top(|ui| {
        if next(ui) {
            view.walk.step_on();
        }
        // What does not fit is said under the pointer.
        ui.add(Label::new(job).wrap());
    });
}

/// The key that goes on, as a button that says what it does.
fn next_ui(walk: &Walk) -> impl FnOnce(&mut Ui) -> bool + use<> {
    let (words, name) =
        if walk.is_at_end() { ("begin again", "Begin the walk again") } else { ("next", "Next step of the walk") };
    let [on, back] = [WindowAction::StepOn, WindowAction::StepBack].map(|action| action.row().keys_text());
    move |ui: &mut Ui| {
        let button = Button::new(format!("{on}: {words}")).small().ui(ui);
        button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, name));
        button.on_hover_text(format!("{name} ({on}; back: {back})")).clicked()
    }
}
