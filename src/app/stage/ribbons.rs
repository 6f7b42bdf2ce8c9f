//! The band of a step, between the picture and the time line, which shows the numbers of the step as ribbons of cells:
//! query, key and value; their products and the sum; the scores of all words before and after scaling; the weights; the
//! weighted values and their sum; the part of each head in the output; and the sum with the input.
//!
//! The band has one height and one place, so that nothing moves from step to step and no point is covered. A cell is
//! filled if its number is positive and hollow if it is negative, and the larger the number, the stronger its colour.
//! The result of a step grows as the walk approaches the step, so that the time line can be dragged in both directions.
//! The ribbon of another word slides in from that word's place in the sentence.

use attune_engine::quantity::{Entry, Quantity};
use attune_ui::theme::{self, Palette, Role, motion, size};
use attune_ui::ui_state::Trail;
use attune_ui::ui_state::walk::ease;
use attune_ui::widgets::heat::width_of;
use attune_ui::widgets::traced::ASK_HINT;
use attune_view::explain::walk::{Added, NumberRow, Step, WalkModel};
use attune_view::view_model;
use attune_view::view_model::sentence_arcs::WordAt;
use egui::epaint::TextShape;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Color32, CursorIcon, Id, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType, vec2,
};

/// Height of the band.
pub const BAND: f32 = 96.0;
/// Least size of the picture above the band.
const FROM: Vec2 = vec2(360.0, 120.0);
/// Size of a cell. A cell becomes as narrow as [`NARROWEST`] if not all numbers fit; if they still do not fit, the
/// first ones are shown.
const CELL: Vec2 = vec2(12.0, 18.0);
const NARROWEST: f32 = 2.0;
/// Width of a cell that shows its number.
const NUMBERED: f32 = 42.0;
/// Greatest number of cells that show their numbers in any step.
const FEW: usize = 4;
/// Gap between cells.
const APART: f32 = 1.0;
/// Greatest gap between two lines.
const GAP: f32 = 6.0;
const MARGIN: f32 = 6.0;
/// Width of the letter and the word beside each ribbon.
const LETTER: f32 = 108.0;
/// Width of the sum beside the ribbons.
const SUM: f32 = 58.0;
/// Greatest height of bars.
const BARS: f32 = 36.0;
/// Height of the words below bars.
const WORDS: f32 = 30.0;
/// Greatest number of lines that fit into the band.
const LINES: usize = 4;

/// The band of a step, laid out.
pub struct Ribbons<'a> {
    walk: &'a WalkModel,
    step: Step,
    rows: Vec<Line<'a>>,
    said: String,
}

/// A line of the band.
enum Line<'a> {
    /// A vector, and the weight by which its cells are multiplied.
    Vector { row: &'a NumberRow, letter: String, times: f32, hue: Hue, of: Option<WordAt> },
    /// Vectors end to end, with a dividing line between each two of them.
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

/// Returns the place of the band at the lower edge of the picture's room, or `None` if the picture would have too
/// little room above it.
pub fn band(room: Rect) -> Option<Rect> {
    let has_room = room.width() >= FROM.x && room.height() >= FROM.y + BAND;
    has_room.then(|| room.with_min_y(room.bottom() - BAND))
}

impl<'a> Ribbons<'a> {
    /// Lays out the band of a step, or returns `None` if a recording lacks all numbers of the step.
    pub fn of(walk: &'a WalkModel, step: Step) -> Option<Self> {
        let of = Self { walk, step, rows: Vec::new(), said: String::new() };
        let (rows, said) = match step {
            Step::Embed => of.embedded(),
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
        (!rows.is_empty()).then_some(Self { rows, said, ..of })
    }

    /// Returns the lines of the query's vector before the layer, and a sentence about them.
    fn embedded(&self) -> (Vec<Line<'a>>, String) {
        let rows = self.walk.step(Step::Embed).rows.iter();
        let line = |row: &'a NumberRow| Line::vector(row, row.label.clone(), Hue::Plain).of_word(self.query());
        (rows.map(line).collect(), "The vector with which the word comes into the layer".to_owned())
    }

    fn query(&self) -> WordAt {
        WordAt { side: self.walk.query_side, position: self.walk.focus.query }
    }

    fn key(&self, position: usize) -> WordAt {
        WordAt { side: self.walk.key_side, position }
    }

    fn row(&self, quantity: Quantity) -> Option<&'a NumberRow> {
        self.walk.step(self.step).rows.iter().find(|row| row.first.quantity == quantity)
    }

    /// Returns the line of a query, key or value, with its word.
    fn role(&self, quantity: Quantity) -> Option<Line<'a>> {
        let walk = self.walk;
        let (letter, word, at) = match quantity {
            Quantity::Query => ("q", walk.queries.get(walk.focus.query)?, self.query()),
            Quantity::Key => ("k", walk.keys.get(walk.key)?, self.key(walk.key)),
            _ => ("v", walk.keys.get(walk.key)?, self.key(walk.key)),
        };
        Some(Line::vector(self.row(quantity)?, format!("{letter} {word}"), Hue::Role).of_word(at))
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

    /// Returns the lines of a query's scores with all words, a bar for each word, before and after scaling, and a
    /// sentence about them; `None` if a recording lacks the scores.
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
            let of = Some(self.key(carried.key));
            Line::Vector { row: &carried.value, letter, times: carried.weight, hue: Hue::Role, of }
        });
        let mix = self.row(Quantity::Mix).map(|row| Line::vector(row, "mix".to_owned(), Hue::Role));
        let said = if walk.carried.len() < walk.keys.len() {
            "The largest terms; the mix is the sum of all terms"
        } else {
            "Their sum is the mix"
        };
        (carried.chain(mix).collect(), said.to_owned())
    }

    /// Returns the lines of the heads' mixes, end to end, and of the vector that each head adds, and a sentence about
    /// them.
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

    /// Returns the lines of the query's input vector, of the vectors that the heads add, as far as they fit, and of the
    /// output, and a sentence about them.
    fn folded(&self) -> Option<(Vec<Line<'a>>, String)> {
        let word = self.walk.queries.get(self.walk.focus.query)?;
        let row =
            |quantity, letter: &str| Some(Line::vector(self.row(quantity)?, format!("{letter} {word}"), Hue::Plain));
        let before = row(Quantity::Input, "x").filter(|_| self.walk.has_residual);
        let (before, after) = (before.into_iter(), row(Quantity::Output, "y"));
        let heads = LINES - before.len() - after.iter().len();
        let rows = before.chain(self.added().take(heads)).chain(after).collect();
        let said = match self.walk.has_residual {
            true => "The input, what is added to it, and the output",
            false => "What the heads add, and the output",
        };
        Some((rows, said.to_owned()))
    }

    /// Shows the band. `at` is the place of the walk; `over` returns the place of a word in the sentence.
    pub fn ui(&self, ui: &mut Ui, at: f32, over: impl Fn(WordAt) -> Option<f32>, trail: &mut Trail) {
        let palette = Palette::on(ui);
        let area = ui.available_rect_before_wrap();
        ui.set_clip_rect(ui.clip_rect().intersect(area));
        ui.painter().rect_filled(area, 0.0, palette.surface);
        let response = ui.interact(area, ui.id().with("ribbons"), Sense::hover());
        response.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Other, true, format!("{}: {}", self.step.name(), self.said))
        });
        let inner = area.shrink2(vec2(size::GAP_WIDE, MARGIN));
        let grown = self.step.share(at);
        let (heights, gap) = self.heights(inner);
        let mut top = inner.top();
        for (index, (line, height)) in self.rows.iter().zip(heights).enumerate() {
            let place = Rect::from_min_size(Pos2::new(inner.left(), top), vec2(inner.width(), height));
            let from = line.word().and_then(&over).map(|x| Pos2::new(x, top));
            let place =
                place.translate(slid(ui, (self.step.index(), index), line.entry(), place.min, from) - place.min);
            self.line_ui(ui, index, line, place, grown, trail);
            top += height + gap;
        }
    }

    /// Returns the height of each line, and the gap between two.
    fn heights(&self, inner: Rect) -> (Vec<f32>, f32) {
        let fixed = |line: &Line| match line {
            Line::Vector { .. } | Line::Joined { .. } => Some(CELL.y),
            Line::Words(_) => Some(WORDS),
            Line::Bars { .. } => None,
            Line::Weights { weights, words } => {
                let is_below = |(weight, word): (&f32, &String)| is_named_below(weight * inner.width(), word);
                let has_words = weights.values.iter().zip(*words).any(is_below);
                Some(BARS + if has_words { WORDS } else { 0.0 })
            }
        };
        let heights: Vec<Option<f32>> = self.rows.iter().map(fixed).collect();
        let free = inner.height() - heights.iter().flatten().sum::<f32>();
        let bars = heights.iter().filter(|height| height.is_none()).count() as f32;
        let gaps = (heights.len() as f32 - 1.0).max(1.0);
        let gap = if bars > 0.0 { size::HAIRLINE } else { (free / gaps).clamp(0.0, GAP) };
        let bar = ((free - gaps * gap) / bars.max(1.0)).clamp(0.0, BARS);
        (heights.into_iter().map(|height| height.unwrap_or(bar)).collect(), gap)
    }

    fn line_ui(&self, ui: &Ui, index: usize, line: &Line, row: Rect, grown: f32, trail: &mut Trail) {
        let palette = Palette::on(ui);
        let (beside, cells) = row.split_left_right_at_x(row.left() + LETTER);
        match line {
            Line::Vector { row, letter, times, hue, .. } => {
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
                let end = self.bars_ui(ui, cells, values, *most, grown);
                if let Some(sum) = sum {
                    let ink = palette.ink.gamma_multiply(grown);
                    let sum = view_model::number((*sum).into());
                    let at = Pos2::new(end + size::GAP, row.center().y);
                    ui.painter().text(at, Align2::LEFT_CENTER, sum, theme::strong(size::READING), ink);
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
        let palette = Palette::on(ui);
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
        /// Distance between the cells' ids in successive vectors, which is greater than the number of lines in a band.
        const ROWS: usize = 100;
        let palette = Palette::on(ui);
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
        let ink = Palette::on(ui).ink_soft;
        let mut job = LayoutJob::simple_singleline(word.to_owned(), theme::plain(size::SMALL), ink);
        job.wrap = TextWrapping::truncate_at_width(WORDS / SLANT.cos() - size::SMALL);
        let galley = ui.painter().layout_job(job);
        let along = Vec2::angled(SLANT);
        let at = under - along * galley.size().x + along.rot90() * -size::HAIRLINE;
        ui.painter().add(TextShape::new(at, galley, ink).with_angle(SLANT));
    }

    /// Draws bars up and down from a line in the middle; a hidden word has none. Returns where the line ends.
    fn bars_ui(&self, ui: &Ui, area: Rect, values: &[f32], most: f32, grown: f32) -> f32 {
        let (palette, middle) = (Palette::on(ui), area.center().y);
        for (cell, value) in self.cells(area, values.len()).zip(values).filter(|(_, value)| value.is_finite()) {
            let end = middle - area.height() / 2.0 * (value / most).clamp(-1.0, 1.0) * grown;
            let bar = Rect::from_x_y_ranges(cell.x_range(), middle.min(end)..=middle.max(end));
            ui.painter().rect_filled(bar, 0.0, if *value < 0.0 { palette.negative } else { palette.positive });
        }
        let end = self.cells(area, values.len()).last().map_or(area.left(), |cell| cell.right());
        ui.painter().hline(area.left()..=end, middle, Stroke::new(size::HAIRLINE, palette.axis));
        end
    }

    /// Draws the weights side by side in one bar, with their words if there is room.
    fn weights_ui(&self, ui: &Ui, row: Rect, weights: &NumberRow, words: &[String], grown: f32, trail: &mut Trail) {
        let palette = Palette::on(ui);
        let (row, below) = row.split_top_bottom_at_y(row.top() + BARS);
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

    /// Returns the rectangles of those of a ribbon's cells that fit, from the left.
    fn cells(&self, area: Rect, count: usize) -> impl Iterator<Item = Rect> + use<> {
        let has_sums = matches!(self.step, Step::Score | Step::Scale);
        let room = area.width() - if has_sums { SUM } else { 0.0 };
        let widest = if count <= FEW || self.step == Step::Scale { NUMBERED } else { CELL.x };
        let width = (room / count.max(1) as f32).clamp(NARROWEST, widest);
        let fitting = ((room / width) as usize).min(count);
        let cell = move |at: usize| Pos2::new(area.left() + at as f32 * width, area.top());
        (0..fitting).map(move |at| Rect::from_min_size(cell(at), vec2(width - APART, CELL.y)))
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
        Self::Vector { row, letter, times: 1.0, hue, of: None }
    }

    /// Returns the line with its word, from whose place it slides in. Only vectors have a word.
    fn of_word(self, word: WordAt) -> Self {
        match self {
            Self::Vector { row, letter, times, hue, .. } => Self::Vector { row, letter, times, hue, of: Some(word) },
            other => other,
        }
    }

    fn word(&self) -> Option<WordAt> {
        if let Self::Vector { of, .. } = self { *of } else { None }
    }

    /// Returns the first entry of a vector; `None` for any other line.
    fn entry(&self) -> Option<Entry> {
        if let Self::Vector { row, .. } = self { Some(row.first) } else { None }
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

/// The ribbon that a line showed last, and where it began to slide.
#[derive(Clone, Copy)]
struct Sliding {
    of: Entry,
    from: Pos2,
    since: f64,
}

/// Returns the current place of a ribbon, which slides from its word's place, `from`, to `to` when the line begins to
/// show the vector `of`. A ribbon without a word does not slide.
fn slid(ui: &Ui, line: (usize, usize), of: Option<Entry>, to: Pos2, from: Option<Pos2>) -> Pos2 {
    let (Some(of), Some(from)) = (of, from) else { return to };
    let (id, now) = (Id::new(("ribbon", line)), ui.input(|input| input.time));
    let before = ui.data(|data| data.get_temp::<Sliding>(id)).filter(|before| before.of == of);
    let sliding = before.unwrap_or(Sliding { of, from, since: now });
    if before.is_none() {
        ui.data_mut(|data| data.insert_temp(id, sliding));
    }
    let is_still = ui.style().animation_time == 0.0;
    let share = if is_still { 1.0 } else { ((now - sliding.since) as f32 / motion::RIBBON).clamp(0.0, 1.0) };
    if share < 1.0 {
        ui.ctx().request_repaint();
    }
    sliding.from.lerp(to, ease(share))
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
/// the absolute value. Returns the colour of text in the cell.
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
