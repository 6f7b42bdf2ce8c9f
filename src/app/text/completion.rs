//! The names that may be meant, below the caret.

use attune_engine::code::editor::completion::{Completion, completions};
use attune_engine::code::editor::scope::Scope;
use egui::{
    Align2, Area, Frame, Id, Label, Order, Rect, RichText, ScrollArea, Sense, TextWrapMode, Ui, Vec2, WidgetInfo,
    WidgetType,
};

use super::code_text::name_ink;
use super::prose::equation_ui;
use crate::app::theme::{self, Palette, size};

/// Names that are offered until one is taken.
pub struct Offer {
    pub items: Vec<Completion>,
    pub selected: usize,
    /// The text and the caret that they belong to.
    of: (u64, usize),
    start: usize,
    /// The selection moved by a key, so it must be in sight.
    moved: bool,
    /// The pointer is on the list, so that a press there does not close it.
    pub hovered: bool,
}

impl Offer {
    pub fn open(source: &str, caret: usize, scope: &Scope) -> Option<Offer> {
        let items = completions(source, caret, scope);
        let start = items.first()?.replaces.start;
        let of = (egui::util::hash(source), caret);
        Some(Offer { items, selected: 0, of, start, moved: true, hovered: false })
    }

    /// Filters the offer by the word as typed so far. `None` once another word is typed.
    pub fn follow(self, source: &str, caret: usize, scope: &Scope) -> Option<Offer> {
        let is_same = self.of == (egui::util::hash(source), caret);
        if is_same {
            return Some(self);
        }
        Offer::open(source, caret, scope).filter(|offer| offer.start == self.start)
    }

    pub fn go(&mut self, steps: isize) {
        let last = self.items.len() as isize - 1;
        let to = self.selected as isize + steps;
        // From either end to the other, a page only up to them.
        self.selected = match (to < 0, to > last, steps.abs() == 1) {
            (true, _, true) => last,
            (_, true, true) => 0,
            _ => to.clamp(0, last),
        } as usize;
        self.moved = true;
    }
}

/// Below `caret`, or above it where there is no room. The one that was clicked.
pub fn offer_ui(ui: &Ui, id: Id, caret: Rect, offer: &mut Offer) -> Option<usize> {
    let screen = ui.ctx().content_rect();
    let above = caret.bottom() + size::POPUP.y > screen.bottom();
    let (pivot, at) =
        if above { (Align2::LEFT_BOTTOM, caret.left_top()) } else { (Align2::LEFT_TOP, caret.left_bottom()) };
    let area = Area::new(id).order(Order::Foreground).pivot(pivot).fixed_pos(at).constrain_to(screen);
    let shown = area.show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).show(ui, |ui| {
            ui.set_width(size::POPUP.x);
            ui.spacing_mut().item_spacing.y = 0.0;
            let clicked = list_ui(ui, offer);
            about_ui(ui, &offer.items[offer.selected]);
            clicked
        })
    });
    offer.hovered = shown.response.contains_pointer();
    shown.inner.inner
}

fn list_ui(ui: &mut Ui, offer: &mut Offer) -> Option<usize> {
    const ROWS: f32 = 6.0;
    let mut clicked = None;
    let height = ROWS * size::SLIDER_ROW;
    let moved = std::mem::take(&mut offer.moved);
    let mut area = ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
    if moved {
        let top = (offer.selected as f32 + 1.0) * size::SLIDER_ROW - height;
        let offset = ui.data(|data| data.get_temp::<f32>(ui.id())).unwrap_or(0.0);
        area = area.vertical_scroll_offset(offset.clamp(top.max(0.0), offer.selected as f32 * size::SLIDER_ROW));
    }
    let shown = area.show_rows(ui, size::SLIDER_ROW, offer.items.len(), |ui, rows| {
        for i in rows {
            if row_ui(ui, &offer.items[i], i == offer.selected) {
                clicked = Some(i);
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(ui.id(), shown.state.offset.y));
    clicked
}

fn row_ui(ui: &mut Ui, item: &Completion, selected: bool) -> bool {
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), size::SLIDER_ROW), Sense::click());
    let name = &item.name;
    let fill = match (selected, response.hovered()) {
        (true, _) => palette.accent_soft,
        (_, true) => palette.lifted,
        _ => theme::CLEAR,
    };
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, f32::from(size::RADIUS_SMALL), fill);
    let inner = rect.shrink2(Vec2::new(size::GAP_TIGHT, 0.0));
    let ink = name_ink(name.kind, palette);
    let drawn = painter.text(inner.left_center(), Align2::LEFT_CENTER, &name.name, theme::mono(size::MONO), ink);
    let kind = painter.text(
        inner.right_center(),
        Align2::RIGHT_CENTER,
        name.kind.name(),
        theme::plain(size::SMALL),
        palette.ink_faint,
    );
    // Between the two, as far as there is room.
    let room = Rect::from_x_y_ranges(drawn.right() + size::GAP..=kind.left() - size::GAP, rect.y_range());
    if room.is_positive() {
        let detail = theme::mono(size::SMALL);
        ui.painter_at(room).text(room.left_center(), Align2::LEFT_CENTER, &name.detail, detail, palette.ink_soft);
    }
    let label = format!("{}, {} {}", name.name, name.kind.name(), name.detail);
    response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, selected, label.trim_end()));
    response.clicked()
}

/// Explanation of the selected completion.
fn about_ui(ui: &mut Ui, item: &Completion) {
    let name = &item.name;
    if name.meaning.is_empty() && name.equation.is_empty() {
        return;
    }
    ui.separator();
    ui.style_mut().wrap_mode = Some(TextWrapMode::Wrap);
    if !name.meaning.is_empty() {
        ui.add(Label::new(RichText::new(&name.meaning).font(theme::plain(size::SMALL))).wrap());
    }
    if !name.equation.is_empty() {
        equation_ui(ui, &name.equation);
    }
}
