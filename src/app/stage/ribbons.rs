//! The card of a step, which shows its numbers as ribbons of cells: query, key and value; their products and the sum;
//! the scores of all words before and after scaling; the weights; the weighted values and their sum; the part of each
//! head in the output; and the sum with the input.
//!
//! A cell is filled if its number is positive and hollow if it is negative, and the larger the number, the stronger its
//! colour. The result of a step grows as the walk approaches the step, so that the time line can be dragged in both
//! directions.

use attune_engine::quantity::Quantity;
use attune_ui::theme::{self, Palette, Role, size};
use attune_ui::ui_state::Trail;
use attune_ui::widgets::heat::width_of;
use attune_ui::widgets::traced::ASK_HINT;
use attune_view::explain::walk::{Added, NumberRow, Step, WalkModel};
use attune_view::view_model;
use egui::epaint::TextShape;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, CursorIcon, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType, vec2,
};

/// Largest and least width of a cell. If not all numbers fit, the first ones are shown.
const CELL: (f32, f32) = (42.0, 2.0);
/// Least width of a cell that shows its number.
const NUMBERED: f32 = 36.0;
/// Gap between cells.
const APART: f32 = 1.0;
/// Least size of a stage that has room for the card.
const FROM: Vec2 = vec2(420.0, 250.0);
const MARGIN: f32 = 12.0;
/// Width of the sum beside the ribbons.
const SUM: f32 = 58.0;

/// Greatest number of lines for which bars have their full height.
const FEW: usize = 3;

/// Sizes of a card.
struct Sizes {
    width: f32,
    /// Heights of a ribbon, of bars, and of the words below bars.
    ribbon: f32,
    bars: f32,
    words: f32,
    /// Gap between two lines.
    apart: f32,
    /// Width of the letter and the word beside each ribbon.
    letter: f32,
    /// Height of the sentence at the bottom.
    said: f32,
}

const ROOMY: Sizes = Sizes {
    width: 388.0,
    ribbon: 18.0,
    bars: 36.0,
    words: 44.0,
    apart: 7.0,
    letter: 108.0,
    said: size::SMALL + size::GAP_TIGHT,
};
/// Sizes of a card on a low stage. The card has no sentence at the bottom, because the text under the stage describes
/// the step too.
const SLIGHT: Sizes =
    Sizes { width: 300.0, ribbon: 14.0, bars: 22.0, words: 34.0, apart: 3.0, letter: 92.0, said: 0.0 };
/// Height of the stage below which the card has the small sizes.
const LOW: f32 = 340.0;

/// The card of a step, laid out.
pub struct Ribbons<'a> {
    walk: &'a WalkModel,
    step: Step,
    sizes: &'static Sizes,
    rows: Vec<Line<'a>>,
    said: String,
}

/// A line of the card.
enum Line<'a> {
    /// A vector, and the weight by which its cells are multiplied.
    Vector { row: &'a NumberRow, letter: String, times: f32, hue: Hue },
    /// Vectors end to end, with a division between two of them.
    Joined { rows: &'a [NumberRow], letter: String },
    /// Numbers as bars above and below a line, in proportion to the largest; beside them one number, such as their sum.
    Bars { values: Vec<f32>, letter: String, most: f32, sum: Option<f32> },
    /// The words below bars.
    Words(&'a [String]),
    /// The weights of all keys, side by side.
    Weights { weights: &'a NumberRow, words: &'a [String] },
}

/// The source of a vector's colour.
#[derive(Clone, Copy)]
enum Hue {
    Role,
    /// The index of a head in its layer.
    Head(usize),
    Plain,
}

impl<'a> Ribbons<'a> {
    /// Lays out the card for a stage of this height, or returns `None` if the step has nothing to show.
    pub fn of(walk: &'a WalkModel, step: Step, height: f32) -> Option<Self> {
        let sizes = if height < LOW { &SLIGHT } else { &ROOMY };
        let of = Self { walk, step, sizes, rows: Vec::new(), said: String::new() };
        let (rows, said) = match step {
            Step::Embed => return None,
            Step::Project => {
                let rows = [Quantity::Query, Quantity::Key, Quantity::Value].map(|quantity| of.role(quantity));
                (rows.into_iter().flatten().collect(), "Each cell is a number; hollow cells are negative".to_owned())
            }
            Step::Score => of.products()?,
            Step::Scale => of.scaled()?,
            Step::Softmax => {
                let (weights, words) = (of.row(Quantity::Weight)?, walk.keys.as_slice());
                (vec![Line::Weights { weights, words }], "The weights sum to 1".to_owned())
            }
            Step::Mix => of.mixed(),
            Step::Output => of.through_output()?,
            Step::Contextual => of.folded()?,
        };
        // A recording may lack all numbers of a step.
        (!rows.is_empty()).then_some(Self { rows, said, ..of })
    }

    fn row(&self, quantity: Quantity) -> Option<&'a NumberRow> {
        self.walk.step(self.step).rows.iter().find(|row| row.first.quantity == quantity)
    }

    /// Returns the line of a query, key or value, with its word.
    fn role(&self, quantity: Quantity) -> Option<Line<'a>> {
        let walk = self.walk;
        let (letter, word) = match quantity {
            Quantity::Query => ("q", walk.queries.get(walk.focus.query)?),
            Quantity::Key => ("k", walk.keys.get(walk.key)?),
            _ => ("v", walk.keys.get(walk.key)?),
        };
        Some(Line::vector(self.row(quantity)?, format!("{letter} {word}"), Hue::Role))
    }

    fn products(&self) -> Option<(Vec<Line<'a>>, String)> {
        let (query, key) = (self.row(Quantity::Query)?, self.row(Quantity::Key)?);
        let values: Vec<f32> = query.values.iter().zip(&key.values).map(|(q, k)| q * k).collect();
        let said = format!("{} products, and their sum", values.len());
        let sum = self.row(Quantity::Product)?.values.get(self.walk.key).copied();
        let products = Line::Bars { most: largest(&values), values, letter: "q · k".to_owned(), sum };
        let rows = [Quantity::Query, Quantity::Key].map(|quantity| self.role(quantity));
        Some((rows.into_iter().flatten().chain([products]).collect(), said))
    }

    /// Returns the lines of a query's scores with all words, a bar for each word, before and after scaling.
    fn scaled(&self) -> Option<(Vec<Line<'a>>, String)> {
        let most = largest(&self.row(Quantity::Product)?.values);
        let bars = |quantity, letter: &str| {
            let values = &self.row(quantity)?.values;
            let sum = values.get(self.walk.key).copied();
            Some(Line::Bars { values: values.clone(), letter: letter.to_owned(), most, sum })
        };
        // Without a distance bias, the score is the scaled product itself.
        let scaled = self.row(Quantity::DistanceBias).zip(self.row(Quantity::Score)).map(|(bias, score)| {
            let values: Vec<f32> = score.values.iter().zip(&bias.values).map(|(score, bias)| score - bias).collect();
            Line::Bars { sum: values.get(self.walk.key).copied(), values, letter: "scaled".to_owned(), most }
        });
        let rows = [
            bars(Quantity::Product, "q · k"),
            scaled,
            bars(Quantity::DistanceBias, "+ distance"),
            bars(Quantity::Score, "score"),
        ];
        let word = self.walk.keys.get(self.walk.key)?;
        let words = Line::Words(&self.walk.keys);
        Some((
            rows.into_iter().flatten().chain([words]).collect(),
            format!("One bar for each word; on the right, the number for “{word}”"),
        ))
    }

    fn mixed(&self) -> (Vec<Line<'a>>, String) {
        let walk = self.walk;
        let carried = walk.carried.iter().map(|carried| {
            let word = walk.keys.get(carried.key).map_or("", String::as_str);
            let letter = format!("{:.2} v {word}", carried.weight);
            Line::Vector { row: &carried.value, letter, times: carried.weight, hue: Hue::Role }
        });
        let mix = self.row(Quantity::Mix).map(|row| Line::vector(row, "mix".to_owned(), Hue::Role));
        let said = if walk.carried.len() < walk.keys.len() {
            "The largest terms; the mix is the sum of all terms"
        } else {
            "Their sum is the mix"
        };
        (carried.chain(mix).collect(), said.to_owned())
    }

    /// Returns the heads' mixes, end to end, and the vector that each head adds.
    fn through_output(&self) -> Option<(Vec<Line<'a>>, String)> {
        let rows = &self.walk.mixes[..];
        let (first, added) = (rows.first()?, self.walk.added.first()?.row.values.len());
        let from = rows.iter().map(|row| row.values.len()).sum::<usize>();
        let (line, said) = match rows.len() {
            1 => (
                Line::vector(first, "mix".to_owned(), Hue::Role),
                format!("The {from} numbers of the mix become {added} numbers that are added"),
            ),
            heads => (
                Line::Joined { rows, letter: format!("mix 1 … {heads}") },
                format!("The {heads} mixes, placed end to end, have {from} numbers; each head adds {added} numbers"),
            ),
        };
        Some(([line].into_iter().chain(self.added()).collect(), said))
    }

    /// Returns the lines of the vectors that the heads add.
    fn added(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        self.walk
            .added
            .iter()
            .map(|Added { own, row }| Line::vector(row, format!("+ head {}", own + 1), Hue::Head(*own)))
    }

    /// Returns the lines of the query's input vector, of the vectors that the heads add, and of the output.
    fn folded(&self) -> Option<(Vec<Line<'a>>, String)> {
        let word = self.walk.queries.get(self.walk.focus.query)?;
        let row =
            |quantity, letter: &str| Some(Line::vector(self.row(quantity)?, format!("{letter} {word}"), Hue::Plain));
        let before = row(Quantity::Input, "x").filter(|_| self.walk.has_residual);
        let rows = before.into_iter().chain(self.added()).chain(row(Quantity::Output, "y")).collect();
        let said = match self.walk.has_residual {
            true => "The input, what is added to it, and the output",
            false => "What the heads add, and the output",
        };
        Some((rows, said.to_owned()))
    }

    /// Returns the place of the card: the one at an edge of the picture that covers the fewest points, weighted by
    /// their counts, and that leaves the caption and the bar free.
    pub fn place(&self, room: Rect, points: &[(Pos2, usize)]) -> Option<Rect> {
        /// Heights of the caption and of the bar.
        const CAPTION: f32 = 34.0;
        const BAR: f32 = size::VIEW_BAR + 2.0 * size::GAP;
        /// Distance from a word to the edge of its crowd's glow.
        const GLOW: f32 = 34.0;
        let rows = self.rows.iter().map(|line| self.height(line) + self.sizes.apart).sum::<f32>();
        let size = vec2(self.sizes.width, rows + self.sizes.said + 2.0 * MARGIN);
        let fits = room.width() >= FROM.x && room.height() >= FROM.y;
        let inner =
            Rect::from_min_max(room.min + vec2(size::GAP_WIDE, BAR), room.max - vec2(size::GAP_WIDE, CAPTION) - size);
        let corners = [inner.left_bottom(), inner.right_bottom(), inner.left_top(), inner.right_top()];
        let middles = [inner.right_center(), inner.left_center(), inner.center_bottom()];
        let places = corners.into_iter().chain(middles).map(|corner| Rect::from_min_size(corner, size));
        let counted = |(at, counts): &(Pos2, usize), rect: &Rect| if rect.contains(*at) { *counts } else { 0 };
        let covered = |rect: &Rect| {
            let rect = rect.expand(GLOW);
            points.iter().map(|point| counted(point, &rect)).sum::<usize>()
        };
        places.filter(|_| fits).min_by_key(covered)
    }

    /// Shows the card. `at` is the place of the walk; `about` is the place on the screen of the key whose numbers the
    /// card shows.
    pub fn ui(&self, ui: &mut Ui, at: f32, about: Option<Pos2>, trail: &mut Trail) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let area = ui.available_rect_before_wrap();
        if let Some(about) = about.filter(|about| !area.contains(*about)) {
            let from = area.clamp(about);
            ui.painter().line_segment([from, about], Stroke::new(size::HAIRLINE, palette.ink_faint));
        }
        ui.painter().rect_filled(area, f32::from(size::RADIUS), palette.surface);
        let inner = area.shrink(MARGIN);
        let grown = self.step.share(at);
        let mut top = inner.top();
        for (index, line) in self.rows.iter().enumerate() {
            let height = self.height(line);
            let row = Rect::from_min_size(Pos2::new(inner.left(), top), vec2(inner.width(), height));
            self.line_ui(ui, index, line, row, grown, trail);
            top += height + self.sizes.apart;
        }
        if self.sizes.said > 0.0 {
            let foot = inner.left_bottom() + vec2(0.0, 1.0);
            let said = ui.painter().layout_no_wrap(self.said.clone(), theme::plain(size::SMALL), palette.ink_soft);
            let clip = ui.painter().with_clip_rect(area.shrink2(vec2(MARGIN, 0.0)));
            clip.galley(foot - vec2(0.0, said.size().y), said, palette.ink_soft);
        }
        let response = ui.interact(area, ui.id().with("ribbons"), Sense::hover());
        response.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Other, true, format!("{}: {}", self.step.name(), self.said))
        });
    }

    fn height(&self, line: &Line) -> f32 {
        match line {
            Line::Vector { .. } | Line::Joined { .. } => self.sizes.ribbon,
            Line::Bars { .. } if self.rows.len() > FEW => self.sizes.bars - self.sizes.apart,
            Line::Bars { .. } => self.sizes.bars,
            Line::Words(_) => self.sizes.words,
            Line::Weights { weights, words } => {
                let room = self.sizes.width - 2.0 * MARGIN;
                let is_below = |(weight, word): (&f32, &String)| is_named_below(weight * room, word);
                let has_words = weights.values.iter().zip(*words).any(is_below);
                self.sizes.bars + if has_words { self.sizes.words } else { 0.0 }
            }
        }
    }

    fn line_ui(&self, ui: &Ui, index: usize, line: &Line, row: Rect, grown: f32, trail: &mut Trail) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let (beside, cells) = row.split_left_right_at_x(row.left() + self.sizes.letter);
        match line {
            Line::Vector { row, letter, times, hue } => {
                let hue = hue.of(row.first.quantity, palette);
                letter_ui(ui, beside, letter, hue);
                self.vector_ui(ui, index, cells, row, (1.0 + (times - 1.0) * grown, hue), grown, trail);
            }
            Line::Joined { rows, letter } => {
                letter_ui(ui, beside, letter, palette.value);
                self.joined_ui(ui, index, cells, rows, grown, trail);
            }
            Line::Words(words) => {
                for (cell, word) in self.cells(cells, words.len()).zip(*words) {
                    self.word_ui(ui, cell.center_top(), word);
                }
            }
            Line::Bars { values, letter, most, sum } => {
                letter_ui(ui, beside, letter, palette.ink_soft);
                self.bars_ui(ui, cells, values, *most, grown);
                if let Some(sum) = sum {
                    let ink = palette.ink.gamma_multiply(grown);
                    let sum = view_model::number((*sum).into());
                    ui.painter().text(row.right_center(), Align2::RIGHT_CENTER, sum, theme::strong(size::READING), ink);
                }
            }
            Line::Weights { weights, words } => self.weights_ui(ui, row, weights, words, grown, trail),
        }
    }

    /// Shows the cells of a vector, multiplied by a factor. The result of a step appears cell by cell.
    #[expect(clippy::too_many_arguments, reason = "a vector, its place and its looks")]
    fn vector_ui(
        &self,
        ui: &Ui,
        index: usize,
        area: Rect,
        row: &NumberRow,
        (times, hue): (f32, Color32),
        grown: f32,
        trail: &mut Trail,
    ) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let is_made = match row.first.quantity {
            Quantity::Value => self.step == Step::Project,
            Quantity::Mix => self.step == Step::Mix,
            Quantity::Input => false,
            _ => self.step != Step::Score,
        };
        let seen = if is_made { grown } else { 1.0 };
        let most = largest(&row.values);
        let drawn = self.cells(area, row.values.len()).enumerate();
        for (at, cell) in drawn.take((row.values.len() as f32 * seen).ceil() as usize) {
            let x = row.values[at] * times;
            let ink = paint_cell(ui, cell, x / most, hue, palette);
            if cell.width() + APART >= NUMBERED {
                let (number, font) = (view_model::number(x.into()), theme::mono(size::LABEL_AXIS));
                ui.painter().text(cell.center(), Align2::CENTER_CENTER, number, font, ink);
            }
            self.ask_ui(ui, (index, at), cell, row, at, trail);
        }
    }

    /// Shows vectors end to end, with as many cells of each as fit.
    fn joined_ui(&self, ui: &Ui, index: usize, area: Rect, rows: &[NumberRow], grown: f32, trail: &mut Trail) {
        /// Offset of the cells' ids; more than the rows of any card.
        const ROWS: usize = 100;
        let palette = Palette::of(ui.visuals().dark_mode);
        let cell = self.cells(area, rows.iter().map(|row| row.values.len()).sum()).next();
        let count = rows.len() as f32;
        let longest = rows.iter().map(|row| row.values.len()).max().unwrap_or(0);
        let own = cell.map_or(0.0, |cell| (cell.width() + APART) * longest as f32);
        let width = own.min(area.width() / count - size::GAP_TIGHT);
        for (part, row) in rows.iter().enumerate() {
            let left = area.left() + part as f32 * (width + size::GAP_TIGHT);
            let place = Rect::from_x_y_ranges(left..=left + width, area.y_range());
            self.vector_ui(ui, index + ROWS * (part + 1), place, row, (1.0, palette.value), grown, trail);
            if part > 0 {
                let middle = left - size::GAP_TIGHT / 2.0 - APART / 2.0;
                ui.painter().vline(
                    middle,
                    area.y_range().expand(size::HAIRLINE),
                    Stroke::new(size::HAIRLINE, palette.ink_soft),
                );
            }
        }
    }

    /// Writes a slanted word that ends below its bar and is cut off if it is too long.
    fn word_ui(&self, ui: &Ui, under: Pos2, word: &str) {
        const SLANT: f32 = -std::f32::consts::FRAC_PI_4;
        let ink = Palette::of(ui.visuals().dark_mode).ink_soft;
        let mut job = LayoutJob::simple_singleline(word.to_owned(), theme::plain(size::SMALL), ink);
        job.wrap = TextWrapping::truncate_at_width(self.sizes.words / SLANT.cos() - size::SMALL);
        let galley = ui.painter().layout_job(job);
        let along = Vec2::angled(SLANT);
        let at = under - along * galley.size().x + along.rot90() * -size::HAIRLINE;
        ui.painter().add(TextShape::new(at, galley, ink).with_angle(SLANT));
    }

    /// Draws bars up and down from a line in the middle; a hidden word has none.
    fn bars_ui(&self, ui: &Ui, area: Rect, values: &[f32], most: f32, grown: f32) {
        let (palette, middle) = (Palette::of(ui.visuals().dark_mode), area.center().y);
        for (cell, value) in self.cells(area, values.len()).zip(values).filter(|(_, value)| value.is_finite()) {
            let end = middle - area.height() / 2.0 * (value / most).clamp(-1.0, 1.0) * grown;
            let bar = Rect::from_x_y_ranges(cell.x_range(), middle.min(end)..=middle.max(end));
            ui.painter().rect_filled(bar, 0.0, if *value < 0.0 { palette.negative } else { palette.positive });
        }
        let line = area.with_max_x(area.right() - SUM).x_range();
        ui.painter().hline(line, middle, Stroke::new(size::HAIRLINE, palette.axis));
    }

    /// Draws the weights side by side in one bar, with their words if there is room.
    fn weights_ui(&self, ui: &Ui, row: Rect, weights: &NumberRow, words: &[String], grown: f32, trail: &mut Trail) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let (row, below) = row.split_top_bottom_at_y(row.top() + self.sizes.bars);
        let mut left = row.left();
        for (key, (weight, word)) in weights.values.iter().zip(words).enumerate() {
            let width = row.width() * weight.clamp(0.0, 1.0) * grown;
            let part = Rect::from_min_size(Pos2::new(left, row.top()), vec2((width - APART).max(0.0), row.height()));
            left += width;
            let fill = palette.weight_of_query(*weight);
            ui.painter().rect_filled(part, f32::from(size::RADIUS_SMALL), fill);
            if is_named_below(width, word) {
                self.word_ui(ui, Pos2::new(part.center().x, below.top()), word);
            } else if width_of(ui, word, theme::plain(size::SMALL)) + size::GAP_TIGHT < part.width() {
                let ink = palette.ink_on(fill);
                ui.painter().text(part.center(), Align2::CENTER_CENTER, word, theme::plain(size::SMALL), ink);
            }
            self.ask_ui(ui, (0, key), part, weights, key, trail);
        }
    }

    /// Shows the number of the cell under the pointer; a click opens its provenance.
    fn ask_ui(&self, ui: &Ui, id: (usize, usize), cell: Rect, row: &NumberRow, at: usize, trail: &mut Trail) {
        if !cell.is_positive() || !ui.rect_contains_pointer(cell) {
            return;
        }
        let response = ui.interact(cell, ui.id().with((self.walk.focus.head, id)), Sense::click());
        let said = format!("{}[{at}] = {:.4}", row.label, row.values[at]);
        if response.clicked() || response.secondary_clicked() {
            trail.open(row.entry(at));
        }
        response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(format!("{said}\n{ASK_HINT}"));
    }

    /// Returns the rectangles of a ribbon's cells, from the left.
    fn cells(&self, area: Rect, count: usize) -> impl Iterator<Item = Rect> + use<> {
        let has_sums = matches!(self.step, Step::Score | Step::Scale);
        let room = area.width() - if has_sums { SUM } else { 0.0 };
        let width = (room / count.max(1) as f32).clamp(CELL.1, CELL.0);
        let fitting = ((room / width) as usize).min(count);
        let cell = move |at: usize| Pos2::new(area.left() + at as f32 * width, area.top());
        let height = self.sizes.ribbon;
        (0..fitting).map(move |at| Rect::from_min_size(cell(at), vec2(width - APART, height)))
    }
}

/// Returns whether a part of the bar is too narrow for its word, but wide enough for a slanted word below it.
fn is_named_below(width: f32, word: &str) -> bool {
    /// Width, in points, that is enough for any letter.
    const LETTER: f32 = 7.0;
    width > size::SMALL && width < LETTER * word.chars().count() as f32 + size::GAP
}

impl<'a> Line<'a> {
    fn vector(row: &'a NumberRow, letter: String, hue: Hue) -> Self {
        Self::Vector { row, letter, times: 1.0, hue }
    }
}

impl Hue {
    fn of(self, quantity: Quantity, palette: &Palette) -> Color32 {
        match self {
            Self::Role => Role::of(quantity).map_or(palette.ink_soft, |role| role.hue(palette)),
            Self::Head(own) => palette.head(own),
            Self::Plain => palette.ink_soft,
        }
    }
}

/// Writes the letter of a line and its word, aligned to the right.
fn letter_ui(ui: &Ui, area: Rect, text: &str, ink: Color32) {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), theme::strong(size::LABEL), ink);
    job.wrap = TextWrapping::truncate_at_width(area.width() - size::GAP);
    let galley = ui.painter().layout_job(job);
    let at = area.right_center() - vec2(size::GAP + galley.size().x, galley.size().y / 2.0);
    ui.painter().galley(at, galley, ink);
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(f32::MIN_POSITIVE, |most, x| if x.is_finite() { most.max(x.abs()) } else { most })
}

/// Paints a cell, filled if `x` in [−1, 1] is positive and hollow if it is negative, with a strength that grows with
/// its size. Returns the colour of text in the cell.
fn paint_cell(ui: &Ui, cell: Rect, x: f32, hue: Color32, palette: &Palette) -> Color32 {
    /// Least strength of a cell's colour.
    const FAINT: f32 = 0.12;
    let strength = FAINT + (1.0 - FAINT) * x.abs().min(1.0);
    let ink = palette.surface.lerp_to_gamma(hue, strength);
    if x < 0.0 {
        ui.painter().rect_stroke(cell, 1.0, Stroke::new(size::HAIRLINE, ink), StrokeKind::Inside);
        palette.ink
    } else {
        ui.painter().rect_filled(cell, 1.0, ink);
        palette.ink_on(ink)
    }
}
