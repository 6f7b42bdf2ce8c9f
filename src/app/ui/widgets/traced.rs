//! Numbers that open their provenance, alone and within a formula.
//!
//! The rule is the same everywhere: a right-click on a number, a cell, an arrow or a point opens its provenance. So
//! does a click, where it has no other meaning.

use attune_engine::quantity::Entry;
use attune_view::explain::Explanation;
use attune_view::explain::lines::{Line, LinePiece, Lines, Operand, exact};
use egui::{
    Color32, CornerRadius, CursorIcon, Label, Painter, Rect, Response, RichText, Sense, Stroke, Ui, Vec2, WidgetInfo,
    WidgetText, WidgetType,
};

use crate::theme::{self, Palette, size};
use crate::ui_state::Trail;

pub const HINT: &str = "Click to see where the number comes from";
pub const ASK_HINT: &str = "Right-click to see where the number comes from.";

/// The explanation of a number that stands for several pieces and therefore has no single provenance.
pub const OF_PIECES: &str = "Attention to a word of several pieces is the sum over the pieces; attention from such a \
    word is the mean over them.";

/// Shows a number, which opens its provenance when clicked.
pub fn number_ui(ui: &mut Ui, text: impl Into<RichText>, entry: Entry, trail: &mut Trail) -> Response {
    let text: RichText = text.into();
    let name = format!("{}: where it comes from", text.text());
    let label = Label::new(WidgetText::from(text.monospace())).selectable(false).sense(Sense::click());
    let response = ui.add(label).on_hover_cursor(CursorIcon::PointingHand).on_hover_text(HINT);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Link, true, &name));
    if response.hovered() || response.has_focus() {
        underline(ui, &response);
    }
    if response.clicked() || response.secondary_clicked() {
        trail.open(entry);
    }
    response
}

/// Opens the provenance on a right-click.
pub fn ask_on(response: &Response, entry: Entry, trail: &mut Trail) {
    if response.secondary_clicked() {
        trail.open(entry);
    }
}

/// Underlines a hovered or focused widget.
pub fn underline(ui: &Ui, response: &Response) {
    let stroke = egui::Stroke::new(size::HAIRLINE, Palette::on(ui).accent);
    ui.painter().hline(response.rect.x_range(), response.rect.bottom(), stroke);
}

/// The number of terms that are shown until the user asks for all.
const FEW: usize = 6;
const DIGITS: usize = 4;

/// Shows the lines of a formula with its numbers, and returns the entry that was clicked.
pub fn worked_ui(ui: &mut Ui, explanation: &Explanation) -> Option<Entry> {
    let id = ui.id().with(("all", explanation.entry));
    let is_all = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let Lines { lines, more, rest } = explanation.worked.lines(if is_all { usize::MAX } else { FEW });
    let mut clicked = None;
    for line in &lines {
        clicked = line_ui(ui, line).or(clicked);
    }
    if more > 0 || is_all && lines.len() > FEW {
        let words = if is_all { "only the largest".to_owned() } else { format!("… + {more} more") };
        let hint = if is_all { "Shows only the largest terms" } else { "Shows all terms" };
        ui.horizontal(|ui| {
            if ui.link(RichText::new(words).size(size::SMALL)).on_hover_text(hint).clicked() {
                ui.data_mut(|data| data.insert_temp(id, !is_all));
            }
            if let Some(rest) = rest.filter(|_| more > 0) {
                let rest = RichText::new(format!("= {}", rounded(rest))).font(theme::mono(size::SMALL));
                ui.label(rest.color(Palette::on(ui).ink_soft)).on_hover_text("The sum of the smaller terms");
            }
        });
    }
    clicked
}

fn line_ui(ui: &mut Ui, line: &Line) -> Option<Entry> {
    const BAR: f32 = 44.0;
    let palette = Palette::on(ui);
    let mut clicked = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let soft = |text: &str| RichText::new(text).font(theme::mono(size::MONO)).color(palette.ink_soft);
        for piece in line {
            match piece {
                LinePiece::Text(text) if text.is_empty() => {}
                LinePiece::Text(text) => {
                    ui.label(soft(text));
                }
                LinePiece::Number(operand) => clicked = operand_ui(ui, operand).or(clicked),
                LinePiece::Product { value, share } => {
                    ui.label(soft(&format!("= {}", rounded(*value))));
                    let (rect, _) = ui.allocate_exact_size(Vec2::new(BAR, size::BAR), Sense::hover());
                    let fill = if *share < 0.0 { palette.negative } else { palette.positive };
                    bar(ui.painter(), rect, (SIGNED, *share as f32), fill, palette);
                }
            }
        }
    });
    clicked
}

/// Shows an operand's name and number, and returns its entry if it was clicked.
fn operand_ui(ui: &mut Ui, operand: &Operand) -> Option<Entry> {
    let palette = Palette::on(ui);
    ui.label(RichText::new(&operand.label).font(theme::mono(size::SMALL)).color(palette.ink_soft));
    let value = rounded(operand.value.into());
    let Some(entry) = operand.entry else {
        ui.label(RichText::new(value).font(theme::mono(size::MONO)));
        return None;
    };
    let text = RichText::new(value).font(theme::mono(size::MONO)).color(palette.accent);
    let response = ui.add(Label::new(text).selectable(false).sense(Sense::click()));
    let response = response.on_hover_cursor(CursorIcon::PointingHand);
    let name = format!("{} {}", operand.label, exact(operand.value));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Link, true, &name));
    if response.hovered() || response.has_focus() {
        underline(ui, &response);
    }
    let response = response.on_hover_text(format!("{}: where it comes from", exact(operand.value)));
    (response.clicked() || response.secondary_clicked()).then_some(entry)
}

fn rounded(value: f64) -> String {
    if value.is_finite() { format!("{value:.DIGITS$}").replace('-', "−") } else { exact(value as f32) }
}

/// The start of a bar on its track for numbers of both signs: the middle.
pub const SIGNED: f32 = 0.5;
/// The start of a bar for numbers that are not negative: the left end.
pub const UNSIGNED: f32 = 0.0;

/// Draws a bar from `zero` on its track. A positive `share` fills that share of the part to the right; a negative one
/// extends to the left.
pub fn bar(painter: &Painter, rect: Rect, (zero, share): (f32, f32), fill: Color32, palette: &Palette) {
    painter.rect_filled(rect, CornerRadius::ZERO, palette.raised);
    let along = |at: f32| rect.left() + rect.width() * at.clamp(0.0, 1.0);
    let (from, to) = (along(zero), along(zero + share * (1.0 - zero)));
    painter.rect_filled(rect.with_min_x(from.min(to)).with_max_x(from.max(to)), CornerRadius::ZERO, fill);
    if zero > 0.0 {
        painter.vline(from, rect.y_range(), Stroke::new(size::HAIRLINE, palette.ink_faint));
    }
}
