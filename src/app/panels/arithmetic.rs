//! The step of the walk, worked through with its numbers.

use std::ops::Range;

use attune_engine::quantity::Quantity;
use attune_view::view_model::attention::AttentionModel;
use attune_view::view_model::path::{By, PathModel};
use attune_view::view_model::walk::{Bars, Columns, Dot, DotTerm, NumberRow, Step, StepModel, WalkModel};
use egui::{
    Align2, Button, Color32, CornerRadius, Grid, Label, Painter, Pos2, Rect, RichText, ScrollArea, Sense, Stroke,
    StrokeKind, Ui, Vec2, WidgetInfo, WidgetType,
};

use crate::app::actions::{ActionTable, Row, WindowAction};
use crate::app::text::prose::equation_ui;
use crate::app::theme::{self, Palette, size};
use crate::app::view::{PanelView, Walk};
use crate::app::widgets::controls::choose_query_ui;
use crate::app::widgets::heat::Heat;
use crate::app::widgets::traced::{ASK_HINT, HINT, ask_on, number_ui};

const FOLLOW: &str = "Follow this word as the query";

/// The numbers of the step.
pub fn arithmetic_ui(
    ui: &mut Ui,
    model: Option<&WalkModel>,
    path: Option<&PathModel>,
    attention: &AttentionModel,
    view: &mut PanelView,
) {
    let Some(model) = model else {
        ui.weak("Choose a word on the stage or in the sentence, to follow its numbers.");
        choose_query_ui(ui, attention.tokens.iter().enumerate(), FOLLOW, view.selection);
        return;
    };
    choose_query_ui(ui, attention.tokens.iter().enumerate(), FOLLOW, view.selection);
    ui.horizontal_wrapped(|ui| {
        steps_ui(ui, view);
        heads_ui(ui, attention, view);
    });
    ui.add_space(size::GAP_TIGHT);
    let step = model.step(view.walk.step());
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        equation_ui(ui, &step.equation);
        ui.add_space(size::GAP_TIGHT);
        ui.add(Label::new(RichText::new(&step.said).size(size::BODY)).wrap().selectable(true));
        ui.add_space(size::GAP);
        if let Some(bars) = &step.bars {
            bars_ui(ui, model, step, bars, view);
            ui.add_space(size::GAP);
        }
        if let Some(dot) = &step.dot {
            dot_ui(ui, dot, view);
            ui.add_space(size::GAP);
        }
        for rows in step.rows.chunk_by(is_like) {
            strip_ui(ui, model, step, rows, view);
            ui.add_space(size::GAP);
        }
        if let Some(path) = path.filter(|_| step.step >= Step::Output) {
            why_ui(ui, path, view);
        }
    });
}

/// A row times a column: the products that count most, each with its factors and a bar, and what they sum to.
fn dot_ui(ui: &mut Ui, dot: &Dot, view: &mut PanelView) {
    /// Products that have a line of their own.
    const LINES: usize = 6;
    const BAR: f32 = 44.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let number = |x: f32| RichText::new(format!("{x:.3}").replace('-', "−")).font(theme::mono(size::SMALL));
    let largest = dot.terms.first().map_or(0.0, |term| term.product().abs());
    ui.add(Label::new(RichText::new(&dot.title).font(theme::strong(size::BODY))).wrap());
    Grid::new(("dot", &dot.title)).num_columns(DOT_COLUMNS).min_col_width(0.0).spacing([size::GAP, 0.0]).show(
        ui,
        |ui| {
            for (place, term) in dot.terms.iter().take(LINES).enumerate() {
                // What counts most is lit, the others step back.
                let share = if largest > 0.0 { term.product() / largest } else { 0.0 };
                let ink = palette.ink_soft.lerp_to_gamma(palette.ink, share.abs());
                ui.label(RichText::new(&term.name).size(size::SMALL).color(ink));
                ui.push_id(place, |ui| number_ui(ui, number(term.left.1).color(ink), term.left.0, view.trail));
                ui.label(RichText::new("×").color(ink));
                ui.push_id((place, 1), |ui| number_ui(ui, number(term.right.1).color(ink), term.right.0, view.trail));
                ui.label(RichText::new("=").color(ink));
                ui.label(number(term.product()).color(ink));
                let (rect, _) = ui.allocate_exact_size(Vec2::new(BAR, size::BAR), Sense::hover());
                let fill = if share < 0.0 { palette.negative } else { palette.positive };
                bar(ui.painter(), rect, (SIGNED, share), fill, palette);
                ui.end_row();
            }
        },
    );
    let shown: f32 = dot.terms.iter().take(LINES).map(DotTerm::product).sum();
    let others = dot.terms.len().saturating_sub(LINES);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        if others > 0 {
            let bias = dot.bias.map_or(0.0, |(_, bias)| bias);
            let rest = dot.total.1 - shown - bias;
            ui.label(RichText::new(format!("{others} smaller products")).size(size::SMALL).color(palette.ink_soft));
            ui.label(number(rest).color(palette.ink_soft));
        }
        if let Some((entry, bias)) = dot.bias {
            ui.label(RichText::new("bias").size(size::SMALL).color(palette.ink_soft));
            number_ui(ui, number(bias), entry, view.trail);
        }
        ui.label(RichText::new("sum").font(theme::strong(size::SMALL)));
        number_ui(ui, number(dot.total.1).color(palette.ink), dot.total.0, view.trail);
    });
}

/// The name, two factors and the product, the signs between them, and a bar.
const DOT_COLUMNS: usize = 7;

/// Beginnings of bars on their tracks: the middle for numbers that may be negative.
const SIGNED: f32 = 0.5;
const UNSIGNED: f32 = 0.0;

/// A bar from `zero` along its track to a share of what is right of it, or to the left where the share is negative.
fn bar(painter: &Painter, rect: Rect, (zero, share): (f32, f32), fill: Color32, palette: &Palette) {
    painter.rect_filled(rect, CornerRadius::ZERO, palette.raised);
    let along = |at: f32| rect.left() + rect.width() * at.clamp(0.0, 1.0);
    let (from, to) = (along(zero), along(zero + share * (1.0 - zero)));
    painter.rect_filled(rect.with_min_x(from.min(to)).with_max_x(from.max(to)), CornerRadius::ZERO, fill);
    if zero > 0.0 {
        painter.vline(from, rect.y_range(), Stroke::new(size::HAIRLINE, palette.ink_faint));
    }
}

/// Each key's number before the step and after it. A click works a key through.
fn bars_ui(ui: &mut Ui, model: &WalkModel, step: &StepModel, bars: &Bars, view: &mut PanelView) {
    const BAR: f32 = 52.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let row = |quantity: Quantity| step.rows.iter().find(|row| row.first.quantity == quantity);
    let columns: Vec<&NumberRow> = bars.before.into_iter().chain([bars.after]).filter_map(row).collect();
    // Scores share one scale, so that dividing them shows; weights have their own, from 0 to 1.
    let scores = columns.iter().filter(|row| row.first.quantity != Quantity::Weight).flat_map(|row| &row.values);
    let largest = scores.filter(|x| x.is_finite()).fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    Grid::new(("bars", step.step.index())).min_col_width(0.0).spacing([size::GAP, 0.0]).show(ui, |ui| {
        ui.label("");
        for row in &columns {
            ui.label(RichText::new(&row.label).size(size::SMALL).color(palette.ink_soft));
            ui.label("");
        }
        ui.end_row();
        for (key, word) in model.keys.iter().enumerate() {
            let is_chosen = key == model.key;
            let hint = "Work this key through";
            let words = RichText::new(word).size(size::SMALL);
            if ui.selectable_label(is_chosen, words).on_hover_text(hint).clicked() {
                view.selection.key = Some(key);
            }
            let takes_part = model.takes_part(step.step, key);
            for row in &columns {
                let Some(value) = row.values.get(key).copied() else { continue };
                let is_weight = row.first.quantity == Quantity::Weight;
                let share = if is_weight { value } else { value / largest };
                let fill = match (is_weight, share < 0.0) {
                    (true, _) => palette.head(model.own),
                    (false, true) => palette.negative,
                    (false, false) => palette.positive,
                };
                let (rect, _) = ui.allocate_exact_size(Vec2::new(BAR, size::BAR), Sense::hover());
                let length = if value.is_finite() { share } else { 0.0 };
                let zero = if is_weight { UNSIGNED } else { SIGNED };
                let fill = if takes_part { fill } else { palette.dimmed(fill) };
                bar(ui.painter(), rect, (zero, length), fill, palette);
                let text = if value == f32::NEG_INFINITY { "−∞".to_owned() } else { format!("{value:.3}") };
                let ink = if takes_part { palette.ink } else { palette.ink_soft };
                let text = RichText::new(text.replace('-', "−")).font(theme::mono(size::SMALL)).color(ink);
                ui.push_id((key, &row.label), |ui| number_ui(ui, text, row.entry(key), view.trail));
            }
            ui.end_row();
        }
    });
}

/// Explains the move: in a sentence, and arrow by arrow, the longest first.
fn why_ui(ui: &mut Ui, path: &PathModel, view: &mut PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.label(RichText::new("Why did it move?").font(theme::strong(size::BODY)));
    ui.add(Label::new(RichText::new(&path.why).color(palette.ink)).wrap().selectable(true));
    ui.add_space(size::GAP_TIGHT);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(RichText::new("Arrows by").color(palette.ink_soft));
        for (by, words, hint) in [
            (By::Word, "word", "What each word adds, through all heads"),
            (By::Head, "head", "What each head adds, from all words"),
            (By::Both, "both", "What each word adds in each head"),
        ] {
            if ui.selectable_label(path.by == by, words).on_hover_text(hint).clicked() {
                view.selection.by = Some(by);
            }
        }
    });
    for arrow in &path.arrows {
        ui.horizontal(|ui| {
            let of_part = arrow.part.map_or(palette.ink, |part| palette.part(part));
            let ink = arrow.own.map_or(of_part, |own| palette.head(own));
            ui.label(RichText::new(&arrow.label).color(ink));
            let small = |text: String| RichText::new(text).font(theme::mono(size::SMALL)).color(palette.ink_soft);
            if let (Some(weight), Some(head), Some(key)) = (arrow.weight, arrow.head, arrow.key) {
                let entry = Quantity::Weight.of_head(head, [path.query, key]);
                number_ui(ui, small(format!("α {weight:.3}")), entry, view.trail);
            }
            let length = small(format!("length {:.3}", arrow.length));
            match arrow.entry {
                Some(entry) => number_ui(ui, length, entry, view.trail),
                None => ui.label(length).on_hover_text(OF_THE_PICTURE),
            };
        });
    }
}

const OF_THE_PICTURE: &str = "The picture is drawn through the final norm. As the vector grows, that norm shrinks its \
                              earlier part: that is this arrow. Raw vectors (N) have no such arrow.";

/// They can share their columns.
fn is_like(a: &NumberRow, b: &NumberRow) -> bool {
    a.columns == b.columns && a.values.len() == b.values.len()
}

fn heads_ui(ui: &mut Ui, attention: &AttentionModel, view: &mut PanelView) {
    if attention.heads.len() < 2 {
        return;
    }
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
    for map in &attention.heads {
        let words = RichText::new(&map.title).color(palette.head(map.own));
        if ui
            .selectable_label(view.selection.head == map.head, words)
            .on_hover_text("Follow it through this head")
            .clicked()
        {
            view.selection.choose_head(map.head);
        }
    }
}

/// The step, and one on or back; the time line under the stage has them all.
fn steps_ui(ui: &mut Ui, view: &mut PanelView) {
    const NAME: f32 = 92.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (now, is_begun) = (view.walk.step(), !view.walk.is_at_start());
    let mut turn = |ui: &mut Ui, sign: &str, row: &Row, is_enabled: bool, step: fn(&mut Walk)| {
        let button = ui.add_enabled(is_enabled, Button::new(sign));
        button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, is_enabled, row.tooltip));
        if button.on_hover_text(row.hint()).clicked() {
            step(view.walk);
        }
    };
    turn(ui, "←", WindowAction::StepBack.row(), is_begun, Walk::step_back);
    let words = RichText::new(format!("{} {}", now.index() + 1, now.name()));
    let words = words.font(theme::strong(size::BODY)).color(palette.accent);
    ui.add_sized(Vec2::new(NAME, size::SLIDER_ROW), Label::new(words));
    turn(ui, "→", WindowAction::StepOn.row(), true, Walk::step_on);
}

/// Rows that share their columns: keys, or entries by their numbers, in as many lines as they need. Each row is shaded
/// for itself.
fn strip_ui(ui: &mut Ui, model: &WalkModel, step: &StepModel, rows: &[NumberRow], view: &mut PanelView) {
    const CELL: Vec2 = Vec2::new(46.0, 19.0);
    let width = |text: &str| {
        let ink = Palette::of(ui.visuals().dark_mode).ink;
        ui.painter().layout_no_wrap(text.to_owned(), theme::plain(size::SMALL), ink).size().x
    };
    let names = rows.iter().map(|row| width(&row.label)).fold(0.0, f32::max) + size::GAP;
    let is_by_key = rows[0].columns == Columns::Keys;
    let widest = if is_by_key { model.keys.iter().map(|key| width(key)).fold(0.0, f32::max) } else { 0.0 };
    let cell = Vec2::new(CELL.x.max(widest + size::GAP_TIGHT), CELL.y);
    let count = rows[0].values.len();
    let fitting = (((ui.available_width() - names) / cell.x) as usize).max(1);
    // No line is longer than it must be.
    let each = count.div_ceil(count.div_ceil(fitting).max(1)).max(1);
    ui.push_id((step.step.index(), &rows[0].label), |ui| {
        for first in (0..count).step_by(each) {
            let line = Line { model, rows, columns: first..(first + each).min(count), names, cell };
            ui.push_id(first, |ui| line.ui(ui, view));
        }
    });
}

/// The largest of a row's numbers.
fn extent(row: &NumberRow) -> f32 {
    row.values.iter().filter(|x| x.is_finite()).fold(0f32, |most, x| most.max(x.abs()))
}

fn share(value: f32, extent: f32) -> f32 {
    if extent > 0.0 && value.is_finite() { value / extent } else { 0.0 }
}

/// Some of the columns of rows, under their names and beside those of the rows.
struct Line<'a> {
    model: &'a WalkModel,
    rows: &'a [NumberRow],
    columns: Range<usize>,
    /// Room for the names of the rows.
    names: f32,
    cell: Vec2,
}

impl Line<'_> {
    fn ui(&self, ui: &mut Ui, view: &mut PanelView) {
        let Self { model, rows, names, cell, .. } = *self;
        let palette = Palette::of(ui.visuals().dark_mode);
        let is_by_key = rows[0].columns == Columns::Keys;
        let columns = self.columns.len();
        let whole = Vec2::new(names + columns as f32 * cell.x, (rows.len() + 1) as f32 * cell.y);
        let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
        let heat = Heat { origin: rect.min + Vec2::new(names, cell.y), cell, rows: rows.len(), cols: columns };
        let painter = ui.painter();
        if !painter.clip_rect().intersects(rect) {
            return;
        }
        for column in self.columns.clone() {
            let head = heat.cell_rect(0, column - self.columns.start).translate(Vec2::new(0.0, -cell.y));
            let is_chosen = is_by_key && column == model.key;
            let name = match rows[0].columns {
                Columns::Keys => model.keys[column].clone(),
                Columns::Heads => format!("head {}", column + 1),
                Columns::Entries => column.to_string(),
            };
            let ink = if is_chosen { palette.accent } else { palette.ink_faint };
            painter.text(head.center(), Align2::CENTER_CENTER, name, theme::plain(size::SMALL), ink);
        }
        for (index, row) in rows.iter().enumerate() {
            let at = heat.cell_rect(index, 0).left_center() - Vec2::new(names, 0.0);
            painter.text(at, Align2::LEFT_CENTER, &row.label, theme::plain(size::SMALL), palette.ink_soft);
            self.paint_row(painter, row, |column| heat.cell_rect(index, column), palette);
        }
        if is_by_key && self.columns.contains(&model.key) {
            let column = heat.col_rect(model.key - self.columns.start);
            let outline = Stroke::new(size::HAIRLINE, palette.accent);
            painter.rect_stroke(column, CornerRadius::ZERO, outline, StrokeKind::Inside);
        }
        // The name of a column is of its first row.
        let below = |pointer: Pos2| Pos2::new(pointer.x, pointer.y.max(heat.origin.y));
        let hovered = response.hover_pos().and_then(|pointer| heat.at(below(pointer)));
        if let Some((row, column)) = hovered {
            let column = self.columns.start + column;
            if is_by_key && response.clicked() {
                view.selection.key = Some(column);
            }
            let entry = rows[row].entry(column);
            // A click on a key works it through; where a click means nothing else, it asks too.
            if !is_by_key && response.clicked() {
                view.trail.open(entry);
            }
            ask_on(&response, entry, view.trail);
            let said = told(model, &rows[row], column);
            response.on_hover_ui_at_pointer(|ui| {
                ui.monospace(said);
                if is_by_key {
                    ui.weak(format!("Click: work this key through. {ASK_HINT}"));
                } else {
                    ui.weak(HINT);
                }
            });
        }
    }

    fn paint_row(&self, painter: &Painter, row: &NumberRow, at: impl Fn(usize) -> Rect, palette: &Palette) {
        let extent = extent(row);
        for (place, value) in row.values[self.columns.clone()].iter().enumerate() {
            let rect = at(place);
            let fill = palette.diverging(share(*value, extent));
            painter.rect_filled(rect.shrink(size::HAIRLINE / 2.0), CornerRadius::ZERO, fill);
            let words = if *value == f32::NEG_INFINITY { "−∞".to_owned() } else { format!("{value:.3}") };
            let words = words.replace('-', "−");
            painter.text(rect.center(), Align2::CENTER_CENTER, words, theme::mono(size::SMALL), palette.ink_on(fill));
        }
    }
}

/// Which entry of which tensor a number is.
fn told(model: &WalkModel, row: &NumberRow, column: usize) -> String {
    let value = row.values[column];
    let of = match row.columns {
        Columns::Keys => format!(", key {}", model.keys[column]),
        Columns::Heads => format!(", head {}", column + 1),
        Columns::Entries => format!(", entry {column}"),
    };
    format!("{} · {}{of}: {value}", row.tensor, row.label)
}
