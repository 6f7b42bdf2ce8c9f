//! The still map: a window over the others, with the words as t-SNE lays them.

use attune_core::kernel::snapshot::Progress;
use attune_view::view_model::pictures::{StillModel, StillPoint};
use egui::{Align2, Context, Key, Modifiers, Pos2, ProgressBar, Rect, RichText, Sense, Ui, Vec2};

use crate::app::actions::Action;
use crate::app::theme::{self, Palette, TEXT_CONTRAST, size};
use crate::app::widgets::tool_window::tool_window;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum StillState {
    #[default]
    None,
    Drawing(Progress),
    Drawn(StillModel),
    /// Why there is none.
    Failed(String),
}

/// A square below three lines.
const SIZE: [f32; 2] = [460.0, 520.0];
const POINT: f32 = 3.5;
/// Between two looks at how far the drawing is, in seconds.
const LOOK: f32 = 0.1;

/// Returns the action to close it.
pub fn still_ui(ctx: &Context, state: &StillState) -> Option<Action> {
    if *state == StillState::None {
        return None;
    }
    let mut is_open = true;
    let mut is_closed = false;
    let window = tool_window("A still map of the words").open(&mut is_open);
    let middle = ctx.content_rect().center();
    let window = window.pivot(Align2::CENTER_CENTER).default_pos(middle).default_size(SIZE);
    window.show(ctx, |ui| match state {
        StillState::None => {}
        StillState::Drawing(Progress { done, of }) => {
            ui.label(format!("t-SNE: round {done} of {of}"));
            ui.add(ProgressBar::new(*done as f32 / (*of).max(1) as f32));
            is_closed = ui.button("Cancel").on_hover_text("No map is drawn").clicked();
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
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Image, true, "The words as t-SNE lays them"));
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

/// Words of groups first; each where no other is written.
fn names_ui(ui: &Ui, model: &StillModel, rect: Rect, seen: &dyn Fn(&StillPoint) -> Pos2, palette: &Palette) {
    // No dot covers a letter.
    let dot = |point: &StillPoint| Rect::from_center_size(seen(point), Vec2::splat(2.0 * POINT));
    let mut written: Vec<Rect> = model.points.iter().map(dot).collect();
    let (grouped, others): (Vec<_>, Vec<_>) = model.points.iter().partition(|point| point.group.is_some());
    for point in grouped.into_iter().chain(others) {
        let ink = palette.legible(palette.word_of(point.group), TEXT_CONTRAST);
        let galley = ui.painter().layout_no_wrap(point.text.clone(), theme::plain(size::SMALL), ink);
        let half = galley.size() / 2.0;
        let (x, y) = (POINT + size::GAP_TIGHT / 2.0 + half.x, POINT + half.y);
        let places = [(x, 0.0), (-x, 0.0), (0.0, -y), (0.0, y)]
            .map(|(x, y)| Rect::from_center_size(seen(point) + Vec2::new(x, y), galley.size()));
        let is_free =
            |place: &&Rect| rect.contains_rect(**place) && !written.iter().any(|other| other.intersects(**place));
        if let Some(place) = places.iter().find(is_free) {
            written.push(*place);
            ui.painter().galley(place.min, galley, ink);
        }
    }
}
