//! The numbers of a step as ribbons of cells, one cell for each number: query, key and value; their products and the sum; the
//! weights; the weighted values and what they come to.
//!
//! A cell is filled where its number is positive and hollow where it is negative, the fuller the larger. What a step makes
//! grows while the walk is on its way to it, so that the time line can be dragged both ways, and each step stands still.

use attune_engine::quantity::Quantity;
use attune_view::explain::walk::{NumberRow, Step, WalkModel};
use attune_view::view_model;
use egui::{
    Align2, Color32, CursorIcon, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType, vec2,
};

use crate::app::theme::{self, Palette, Role, size};
use crate::app::ui_state::PanelView;
use crate::app::widgets::heat::width_of;
use crate::app::widgets::traced::ASK_HINT;

/// Largest and least width of a cell; of more numbers than fit, the first are shown.
const CELL: (f32, f32) = (15.0, 3.0);
const RIBBON: f32 = 18.0;
const ROW: f32 = 25.0;
/// Between the cells.
const APART: f32 = 1.0;
/// A stage that is smaller has no room for the card.
const FROM: Vec2 = vec2(420.0, 250.0);
const WIDTH: f32 = 344.0;
const MARGIN: f32 = 12.0;
/// Beside the ribbons: the letter of each, and the sum of the products.
const LETTER: f32 = 56.0;
const SUM: f32 = 58.0;

/// The card of a step, laid out; none of a step that has nothing to show.
pub struct Ribbons<'a> {
    walk: &'a WalkModel,
    step: Step,
    rows: Vec<Line<'a>>,
    said: String,
}

/// A line of the card.
enum Line<'a> {
    /// A vector; with the share that its cells are multiplied by.
    Vector { row: &'a NumberRow, letter: String, times: f32 },
    /// The products of two vectors and their sum.
    Products { query: &'a NumberRow, key: &'a NumberRow, sum: String },
    /// The weights of all keys, side by side.
    Weights { weights: &'a NumberRow, words: &'a [String] },
}

impl<'a> Ribbons<'a> {
    pub fn of(walk: &'a WalkModel, step: Step) -> Option<Self> {
        let row = |quantity| walk.step(step).rows.iter().find(|row| row.first.quantity == quantity);
        let vector =
            |quantity| Some(Line::Vector { row: row(quantity)?, letter: letter(quantity).to_owned(), times: 1.0 });
        let words = || Some((walk.queries.get(walk.focus.query)?, walk.keys.get(walk.key)?));
        let pair = words().map(|(query, key)| format!("{query} · {key}")).unwrap_or_default();
        let number = |quantity| walk.by_key(step, quantity).get(walk.key).copied();
        let (rows, said) = match step {
            Step::Project => {
                let rows = [Quantity::Query, Quantity::Key, Quantity::Value].map(vector);
                (rows.into_iter().flatten().collect(), format!("{pair}: one number a cell; hollow: negative"))
            }
            Step::Score => {
                let (query, key) = (row(Quantity::Query)?, row(Quantity::Key)?);
                let sum = number(Quantity::Product).map(|sum| view_model::number(sum.into())).unwrap_or_default();
                let count = query.values.len();
                let products = Line::Products { query, key, sum };
                let rows = [Quantity::Query, Quantity::Key].map(vector).into_iter().flatten().chain([products]);
                (rows.collect(), format!("{pair}: {count} products, and their sum"))
            }
            Step::Softmax => {
                let weights = row(Quantity::Weight)?;
                let words = walk.keys.as_slice();
                (vec![Line::Weights { weights, words }], "The weights of all words: together 1".to_owned())
            }
            Step::Mix => {
                let carried = walk.carried.iter().map(|carried| Line::Vector {
                    row: &carried.value,
                    letter: format!("{} · v", view_model::number(carried.weight.into())),
                    times: carried.weight,
                });
                let mix = row(Quantity::Mix).map(|row| Line::Vector { row, letter: "Σ a v".to_owned(), times: 1.0 });
                let named = walk.carried.iter().filter_map(|carried| walk.keys.get(carried.key));
                let names: Vec<&str> = named.map(String::as_str).collect();
                (carried.chain(mix).collect(), format!("the largest, of {}; Σ a v adds up all", names.join(", ")))
            }
            _ => return None,
        };
        Some(Self { walk, step, rows, said })
    }

    /// The place at an edge of the room over the picture that covers the least of the points, each of which counts so much;
    /// between the words at the edges.
    pub fn place(&self, room: Rect, points: &[(Pos2, usize)]) -> Option<Rect> {
        /// Heights of the words about the picture, and of the bar.
        const CAPTION: f32 = 34.0;
        const BAR: f32 = size::VIEW_BAR + 2.0 * size::GAP;
        let size = vec2(WIDTH, self.rows.len() as f32 * ROW + size::SMALL + 2.0 * MARGIN + size::GAP_TIGHT);
        let fits = room.width() >= FROM.x && room.height() >= FROM.y;
        let inner =
            Rect::from_min_max(room.min + vec2(size::GAP_WIDE, BAR), room.max - vec2(size::GAP_WIDE, CAPTION) - size);
        let corners = [inner.left_bottom(), inner.right_bottom(), inner.left_top(), inner.right_top()];
        let middles = [inner.right_center(), inner.left_center(), inner.center_bottom()];
        let places = corners.into_iter().chain(middles).map(|corner| Rect::from_min_size(corner, size));
        let counted = |(at, counts): &(Pos2, usize), rect: &Rect| if rect.contains(*at) { *counts } else { 0 };
        let covered = |rect: &Rect| {
            let rect = rect.expand(size::GAP_WIDE);
            points.iter().map(|point| counted(point, &rect)).sum::<usize>()
        };
        places.filter(|_| fits).min_by_key(covered)
    }

    /// `at`: how far the walk is; `about`: the place on the screen of the key that the card is about.
    pub fn ui(&self, ui: &mut Ui, at: f32, about: Option<Pos2>, view: &mut PanelView) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let area = ui.available_rect_before_wrap();
        if let Some(about) = about.filter(|about| !area.contains(*about)) {
            let from = area.clamp(about);
            ui.painter().line_segment([from, about], Stroke::new(size::HAIRLINE, palette.ink_faint));
        }
        ui.painter().rect_filled(area, f32::from(size::RADIUS), palette.surface);
        let inner = area.shrink(MARGIN);
        let grown = self.step.share(at);
        for (index, line) in self.rows.iter().enumerate() {
            let top = inner.top() + index as f32 * ROW;
            let row = Rect::from_min_size(Pos2::new(inner.left(), top), vec2(inner.width(), RIBBON));
            self.line_ui(ui, index, line, row, grown, view);
        }
        let foot = inner.left_bottom() + vec2(0.0, 1.0);
        let said = ui.painter().layout_no_wrap(self.said.clone(), theme::plain(size::SMALL), palette.ink_soft);
        let clip = ui.painter().with_clip_rect(area.shrink2(vec2(MARGIN, 0.0)));
        clip.galley(foot - vec2(0.0, said.size().y), said, palette.ink_soft);
        let response = ui.interact(area, ui.id().with("ribbons"), Sense::hover());
        response.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Other, true, format!("{}: {}", self.step.name(), self.said))
        });
    }

    fn line_ui(&self, ui: &Ui, index: usize, line: &Line, row: Rect, grown: f32, view: &mut PanelView) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let (beside, cells) = row.split_left_right_at_x(row.left() + LETTER);
        match line {
            Line::Vector { row, letter, times } => {
                let hue = Role::of(row.first.quantity).map_or(palette.ink_soft, |role| role.hue(palette));
                let at = beside.right_center() - vec2(size::GAP, 0.0);
                ui.painter().text(at, Align2::RIGHT_CENTER, letter, theme::strong(size::LABEL), hue);
                // A value is multiplied by its weight while the step goes on; a vector of a projection comes cell by cell.
                let is_made = matches!(self.step, Step::Project) || row.first.quantity == Quantity::Mix;
                let seen = if is_made { grown } else { 1.0 };
                let times = 1.0 + (times - 1.0) * grown;
                let most = largest(&row.values);
                let drawn = self.cells(cells, row.values.len()).enumerate();
                for (at, cell) in drawn.take((row.values.len() as f32 * seen).ceil() as usize) {
                    paint_cell(ui, cell, row.values[at] / most * times, hue, palette);
                    self.ask_ui(ui, (index, at), cell, row, at, view);
                }
            }
            Line::Products { query, key, sum } => {
                let products: Vec<f32> = query.values.iter().zip(&key.values).map(|(q, k)| q * k).collect();
                let (most, middle) = (largest(&products), cells.center().y);
                for (cell, product) in self.cells(cells, products.len()).zip(&products) {
                    let height = cells.height() / 2.0 * product / most * grown;
                    let bar = Rect::from_x_y_ranges(
                        cell.x_range(),
                        middle.min(middle - height)..=middle.max(middle - height),
                    );
                    let ink = if *product < 0.0 { palette.negative } else { palette.positive };
                    ui.painter().rect_filled(bar, 0.0, ink);
                }
                ui.painter().hline(
                    cells.with_max_x(cells.right() - SUM).x_range(),
                    middle,
                    Stroke::new(size::HAIRLINE, palette.axis),
                );
                let at = row.right_center();
                let ink = palette.ink.gamma_multiply(grown);
                ui.painter().text(at, Align2::RIGHT_CENTER, sum, theme::strong(size::READING), ink);
            }
            Line::Weights { weights, words } => self.weights_ui(ui, row, weights, words, grown, view),
        }
    }

    /// One bar of all weights, side by side; names where there is room.
    fn weights_ui(&self, ui: &Ui, row: Rect, weights: &NumberRow, words: &[String], grown: f32, view: &mut PanelView) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let mut left = row.left();
        for (key, (weight, word)) in weights.values.iter().zip(words).enumerate() {
            let width = row.width() * weight.clamp(0.0, 1.0) * grown;
            let part = Rect::from_min_size(Pos2::new(left, row.top()), vec2((width - APART).max(0.0), row.height()));
            left += width;
            let fill = palette.weight_of_query(*weight);
            ui.painter().rect_filled(part, f32::from(size::RADIUS_SMALL), fill);
            if width_of(ui, word, theme::plain(size::SMALL)) + size::GAP_TIGHT < part.width() {
                let ink = palette.ink_on(fill);
                ui.painter().text(part.center(), Align2::CENTER_CENTER, word, theme::plain(size::SMALL), ink);
            }
            self.ask_ui(ui, (0, key), part, weights, key, view);
        }
    }

    /// The number of a cell under the pointer; a click asks where it comes from.
    fn ask_ui(&self, ui: &Ui, id: (usize, usize), cell: Rect, row: &NumberRow, at: usize, view: &mut PanelView) {
        if !cell.is_positive() || !ui.rect_contains_pointer(cell) {
            return;
        }
        let response = ui.interact(cell, ui.id().with((self.walk.focus.head, id)), Sense::click());
        let said = format!("{}[{at}] = {:.4}", row.label, row.values[at]);
        if response.clicked() || response.secondary_clicked() {
            view.trail.open(row.entry(at));
        }
        response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(format!("{said}\n{ASK_HINT}"));
    }

    /// The places of a ribbon's cells, from the left.
    fn cells(&self, area: Rect, count: usize) -> impl Iterator<Item = Rect> + use<> {
        let room = area.width() - if self.step == Step::Score { SUM } else { 0.0 };
        let width = (room / count.max(1) as f32).clamp(CELL.1, CELL.0);
        let fitting = ((room / width) as usize).min(count);
        let cell = move |at: usize| Pos2::new(area.left() + at as f32 * width, area.top());
        (0..fitting).map(move |at| Rect::from_min_size(cell(at), vec2(width - APART, RIBBON)))
    }
}

fn letter(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Query => "q",
        Quantity::Key => "k",
        Quantity::Value => "v",
        _ => "",
    }
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(f32::MIN_POSITIVE, |most, x| if x.is_finite() { most.max(x.abs()) } else { most })
}

/// Filled where positive, hollow where negative; the fuller the larger `x`, in [−1, 1].
fn paint_cell(ui: &Ui, cell: Rect, x: f32, hue: Color32, palette: &Palette) {
    /// The least that a cell is seen with.
    const FAINT: f32 = 0.12;
    let strength = FAINT + (1.0 - FAINT) * x.abs().min(1.0);
    let ink = palette.surface.lerp_to_gamma(hue, strength);
    if x < 0.0 {
        ui.painter().rect_stroke(cell, 1.0, Stroke::new(size::HAIRLINE, ink), StrokeKind::Inside);
    } else {
        ui.painter().rect_filled(cell, 1.0, ink);
    }
}
