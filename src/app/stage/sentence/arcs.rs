//! The arcs between words and the rows of words: how arcs bend, how thick and how opaque they are, and which arc the
//! pointer is on.

use attune_ui::theme::{self, Palette, size, weight_line};
use attune_view::view_model::grid::PatchPlaces;
use attune_view::view_model::labels::Side;
use attune_view::view_model::sentence_arcs::{ArcWord, Pair, WeightArc, WordAt};
use egui::epaint::CubicBezierShape;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2};

/// Least radius of curvature of the widest arc.
const TURN: f32 = weight_line::WIDTH.1 / 2.0;
/// Weight below which an arc has no tip.
const FAINT_BELOW: f32 = 0.05;
/// Distance from an arc at which the pointer is on it.
const REACH: f32 = 5.0;
/// Number of samples of an arc when the distance of the pointer is measured.
const SAMPLES: usize = 24;
/// Gap between the arcs of two heads.
const APART: f32 = 3.0;

/// An arc with its place on the screen.
pub struct PlacedArc {
    pub arc: WeightArc,
    curve: [Pos2; 4],
}

/// Places the arcs whose words have places, the heaviest last, so that it is drawn on top.
pub fn placed(plan: &Plan, origin: Pos2, arcs: &[WeightArc]) -> Vec<PlacedArc> {
    let owns = arcs.iter().map(|arc| arc.own);
    let (least, most) = (owns.clone().min().unwrap_or(0), owns.max().unwrap_or(0));
    let middle = (least + most) as f32 / 2.0;
    let place = |arc: &WeightArc| {
        let curve = curve(plan, arc, APART * (arc.own as f32 - middle))?;
        Some(PlacedArc { arc: *arc, curve: curve.map(|at| origin + at.to_vec2()) })
    };
    let mut placed: Vec<PlacedArc> = arcs.iter().filter_map(place).collect();
    placed.sort_by(|a, b| a.arc.weight.total_cmp(&b.arc.weight));
    placed
}

/// Returns the curve from query to key: above the row of both, or from row to row; `None` if a word has no place. A
/// word that attends to itself has a loop.
fn curve(plan: &Plan, arc: &WeightArc, shift: f32) -> Option<[Pos2; 4]> {
    /// Height of a cubic's control points divided by the height of the curve.
    const TO_CONTROL: f32 = 4.0 / 3.0;
    /// Height of the arc between neighbours, as a share of the full height.
    const LOW: f32 = 0.34;
    /// Half of a loop's width, as a share of its word's width.
    const LOOP: f32 = 0.3;
    /// Height of a loop, as a share of the full height: large enough for a hole within the widest line.
    const LOOP_HEIGHT: f32 = 0.75;
    /// Direction in which an arc between rows begins and ends, between vertical and straight: a wide line could not
    /// bend sharply.
    const LEAN: Vec2 = Vec2::new(0.2, 0.45);
    let (from, to) = (plan.place(arc.from)?, plan.place(arc.to)?);
    let gap = Vec2::new(0.0, size::OUTLINE);
    if from.row != to.row {
        let middle = |word: &PlacedWord, is_upper: bool| {
            let at = if is_upper { word.rect.center_bottom() + gap } else { word.rect.center_top() - gap };
            at + Vec2::new(shift, 0.0)
        };
        let (start, end) = (middle(from, from.row < to.row), middle(to, to.row < from.row));
        let bend = (end - start) * LEAN;
        return Some([start, start + bend, end - bend, end]);
    }
    let most = (plan.rooms[from.row] - 2.0 * gap.y - weight_line::WIDTH.1 / 2.0).max(size::GAP);
    let [start, end] = [from, to].map(|word| word.rect.center_top() - gap + Vec2::new(shift, 0.0));
    if arc.from == arc.to {
        // The radius of curvature at the feet of this curve is 3/4 up² / half, and at its top 3/2 half² / up.
        let up = most * LOOP_HEIGHT * TO_CONTROL;
        let half = (from.rect.width() * LOOP).min(size::GAP_WIDE).min(0.75 * up * up / TURN).max(weight_line::WIDTH.1);
        let (up, half) = (Vec2::new(0.0, up.min(1.5 * half * half / TURN)), Vec2::new(half, 0.0));
        return Some([start - half, start - half - up, start + half - up, start + half]);
    }
    let share = ((end.x - start.x).abs() / plan.size.x.max(1.0)).sqrt();
    let up = Vec2::new(0.0, most * (LOW + (1.0 - LOW) * share) * TO_CONTROL);
    Some([start, start - up, end - up, end])
}

impl PlacedArc {
    /// Draws the arc; `shown` is its opacity while it appears or disappears.
    pub fn paint(&self, painter: &Painter, palette: &Palette, shown: f32, is_pointed: bool) {
        let hue = if is_pointed { palette.ink } else { palette.head(self.arc.own) };
        let ink = hue.gamma_multiply(if is_pointed { shown } else { weight_line::opacity(self.arc.weight) * shown });
        let width = weight_line::width(self.arc.weight);
        painter.add(Shape::CubicBezier(CubicBezierShape::from_points_stroke(
            self.curve,
            false,
            theme::CLEAR,
            Stroke::new(width, ink),
        )));
        if self.arc.weight >= FAINT_BELOW {
            painter.add(self.tip(width, ink));
        }
    }

    /// Returns the tip of the arc, at the word that the query attends to.
    fn tip(&self, width: f32, ink: Color32) -> Shape {
        const HALF: f32 = 2.6;
        let [.., before, end] = self.curve;
        let along = (end - before).normalized();
        let across = along.rot90() * (HALF + width / 2.0);
        let tip = end + along * size::OUTLINE;
        let foot = end - along * (HALF + width / 2.0);
        Shape::convex_polygon(vec![tip, foot + across, foot - across], ink, Stroke::NONE)
    }

    fn distance(&self, pointer: Pos2) -> f32 {
        let curve = CubicBezierShape::from_points_stroke(self.curve, false, theme::CLEAR, Stroke::NONE);
        let at = |i: usize| curve.sample(i as f32 / SAMPLES as f32);
        // Between two samples, the nearest point of the segment counts.
        let to_line = |a: Pos2, b: Pos2| {
            let along = b - a;
            let share = ((pointer - a).dot(along) / along.length_sq().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
            (a + along * share).distance(pointer)
        };
        (0..SAMPLES).map(|i| to_line(at(i), at(i + 1))).fold(f32::INFINITY, f32::min)
    }
}

/// Returns the pair of the arc under the pointer: of the nearest one within reach, and of equally near arcs the
/// heaviest.
pub fn nearest(arcs: &[PlacedArc], pointer: Pos2) -> Option<Pair> {
    let near = arcs.iter().rev().map(|arc| (arc, arc.distance(pointer)));
    let near = near.filter(|(arc, distance)| *distance <= REACH + weight_line::width(arc.arc.weight) / 2.0);
    near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(arc, _)| arc.arc.pair)
}

/// The sizes of the type; the largest that fits is used. A sentence without a source that does not fit into one row at
/// any size has two rows. What does not fit at all scrolls, in the least size.
const ONE_ROW: [f32; 10] = [34.0, 30.0, 27.0, 24.0, 22.0, 20.0, 18.0, 16.5, 15.0, 14.0];
const TWO_ROWS: [f32; 4] = [17.0, 16.0, 15.0, 14.0];
const LEAST: f32 = 14.0;
/// Shares of the type's size: the height of a row, the padding of a word's rectangle, and the gap between two
/// rectangles.
const LEADING: f32 = 1.4;
const PADDING: f32 = 0.22;
const SPACE: f32 = 0.18;

/// The room for a sentence: its width, and the heights of the arcs above the first row and between two rows, and of the
/// numbers below the last row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    pub width: f32,
    pub above: f32,
    pub between: f32,
    pub below: f32,
    /// Largest size of the type.
    pub font: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlacedWord {
    pub at: WordAt,
    pub row: usize,
    pub rect: Rect,
}

/// Places of the words, relative to the top left corner. The plan is wider than its room if the sentence scrolls.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub size: Vec2,
    pub font: f32,
    pub words: Vec<PlacedWord>,
    /// Height of the arcs above each row.
    pub rooms: Vec<f32>,
    /// The width that is seen.
    seen: f32,
    /// The width of each row.
    widths: Vec<f32>,
    /// The distance by which the widest row has scrolled to the left.
    scrolled: f32,
    /// The first patch of a picture, at its upper left corner; `None` for a sentence of words.
    first_patch: Option<Rect>,
}

impl Plan {
    /// Lays out the words; `measure` returns the width of a text in a size of the type.
    pub fn of<'a>(source: &'a [ArcWord], words: &'a [ArcWord], room: Room, measure: impl Fn(&str, f32) -> f32) -> Self {
        // The first piece of a word represents the whole word, so the others have no place.
        let placed = |words: &'a [ArcWord]| -> Vec<(usize, &'a ArcWord)> {
            words.iter().enumerate().filter(|(_, word)| !word.is_part).collect()
        };
        let lines: Vec<(Side, Vec<(usize, &ArcWord)>)> =
            [(Side::Source, placed(source)), (Side::Sentence, placed(words))]
                .into_iter()
                .filter(|(_, words)| !words.is_empty())
                .collect();
        let widths = |words: &[(usize, &ArcWord)], font: f32| -> Vec<f32> {
            words.iter().map(|(_, word)| measure(&word.label, font) + 2.0 * PADDING * font).collect()
        };
        let positions =
            |words: &[(usize, &ArcWord)]| -> Vec<usize> { words.iter().map(|(position, _)| *position).collect() };
        let whole = |words: &[(usize, &ArcWord)], font: f32| row_width(&widths(words, font), font);
        let fits = |font: f32| lines.iter().all(|(_, words)| whole(words, font) <= room.width);
        if let Some(font) = ONE_ROW.into_iter().find(|font| *font <= room.font && fits(*font)) {
            let rows = lines.iter();
            let rows =
                rows.map(|(side, words)| Row { side: *side, positions: positions(words), widths: widths(words, font) });
            return Self::laid(rows.collect(), font, room);
        }
        if let [(side, words)] = &lines[..] {
            for font in TWO_ROWS {
                let all = widths(words, font);
                let longer = |split: &usize| row_width(&all[..*split], font).max(row_width(&all[*split..], font));
                let split = (1..all.len()).min_by(|a, b| longer(a).total_cmp(&longer(b)));
                if let Some(split) = split.filter(|split| longer(split) <= room.width) {
                    let positions = positions(words);
                    let row = |of: std::ops::Range<usize>| Row {
                        side: *side,
                        positions: positions[of.clone()].to_vec(),
                        widths: all[of].to_vec(),
                    };
                    return Self::laid(vec![row(0..split), row(split..all.len())], font, room);
                }
            }
        }
        let rows = lines.iter();
        let rows =
            rows.map(|(side, words)| Row { side: *side, positions: positions(words), widths: widths(words, LEAST) });
        Self::laid(rows.collect(), LEAST, room)
    }

    /// Lays out the patches of a picture as its grid, with the tokens that are no patches in a column at the left.
    /// `height` is the greatest height of the grid.
    pub fn of_patches(
        words: &[ArcWord],
        places: &PatchPlaces,
        width: f32,
        height: f32,
        measure: impl Fn(&str, f32) -> f32,
    ) -> Self {
        /// Least and greatest side of a patch.
        const SIDES: (f32, f32) = (4.0, 30.0);
        let others = words.iter().zip(&places.of_tokens).filter(|(_, place)| place.is_none());
        let column = others.map(|(word, _)| measure(&word.label, LEAST)).fold(0.0, f32::max);
        let column = if column > 0.0 { column + 2.0 * size::GAP } else { 0.0 };
        let (rows, columns) = (places.rows as f32, places.columns as f32);
        let side = (height / rows).min((width - column) / columns).clamp(SIDES.0, SIDES.1);
        let grid = Vec2::new(side * columns, side * rows);
        let left = (width - grid.x - column).max(0.0) / 2.0;
        let first_patch = Rect::from_min_size(Pos2::new(left + column, size::GAP), Vec2::splat(side));
        let mut others = 0.0;
        let line = LEAST * LEADING;
        let placed = words.iter().zip(&places.of_tokens).enumerate().map(|(position, (_, place))| {
            let rect = if let Some(place) = place {
                patch_at(first_patch, *place)
            } else {
                let at = Pos2::new(left, size::GAP + others);
                others += line;
                Rect::from_min_size(at, Vec2::new((column - size::GAP).max(0.0), line))
            };
            PlacedWord { at: WordAt::in_sentence(position), row: 0, rect }
        });
        let words: Vec<PlacedWord> = placed.collect();
        let size = Vec2::new(width.max(left + column + grid.x), 2.0 * size::GAP + grid.y.max(others));
        let widths = vec![column + grid.x];
        let (rooms, first_patch) = (vec![size::GAP], Some(first_patch));
        Self { size, font: LEAST, words, rooms, seen: width, widths, scrolled: 0.0, first_patch }
    }

    /// Returns the rectangle of a patch of a picture.
    ///
    /// # Panics
    /// If the plan is that of words.
    pub fn patch(&self, place: [usize; 2]) -> Rect {
        patch_at(self.first_patch.expect("a plan of patches"), place)
    }

    fn laid(rows: Vec<Row>, font: f32, room: Room) -> Self {
        let widest = rows.iter().map(|row| row_width(&row.widths, font)).fold(room.width, f32::max);
        let height = font * LEADING;
        let mut words = Vec::new();
        let mut rooms = Vec::new();
        let mut y = 0.0;
        for (index, row) in rows.iter().enumerate() {
            let above = if index == 0 { room.above } else { room.between };
            rooms.push(above);
            y += above;
            // Rows that do not fit scroll, so they begin at the left edge; the others are centred.
            let mut x = (room.width - row_width(&row.widths, font)).max(0.0) / 2.0;
            for (position, width) in row.positions.iter().zip(&row.widths) {
                let rect = Rect::from_min_size(Pos2::new(x, y), Vec2::new(*width, height));
                words.push(PlacedWord { at: WordAt { side: row.side, position: *position }, row: index, rect });
                x += width + SPACE * font;
            }
            y += height;
        }
        let widths = rows.iter().map(|row| row_width(&row.widths, font)).collect();
        let size = Vec2::new(widest, y + room.below);
        Self { size, font, words, rooms, seen: room.width, widths, scrolled: 0.0, first_patch: None }
    }

    /// Returns the plan scrolled by a distance, so that source and target are seen together: each row is scrolled by
    /// the same share of what lies out of sight, and a row that fits stays where it is.
    pub fn scrolled(&self, by: f32) -> Self {
        let mut plan = Self { scrolled: by, ..self.clone() };
        for word in &mut plan.words {
            word.rect = word.rect.translate(Vec2::new(self.shift(word.row, by), 0.0));
        }
        plan
    }

    /// Returns the horizontal position of the middle of a word after the widest row is scrolled by `by`; `None` if the
    /// plan does not have the word.
    pub fn middle(&self, at: WordAt, by: f32) -> Option<f32> {
        let word = self.place(at)?;
        Some(word.rect.center().x + self.shift(word.row, by))
    }

    /// Returns how far a row lags behind when the widest one is scrolled by a distance.
    fn shift(&self, row: usize, by: f32) -> f32 {
        by * (1.0 - self.share(row))
    }

    /// Returns how far a row scrolls when the widest one scrolls by 1.
    fn share(&self, row: usize) -> f32 {
        let hidden = self.size.x - self.seen;
        if hidden > 0.0 { ((self.widths[row] - self.seen) / hidden).max(0.0) } else { 1.0 }
    }

    /// Returns the place to which the widest row scrolls if a word of this scrolled plan is to be in the middle.
    pub fn sought(&self, word: &PlacedWord) -> Rect {
        let share = self.share(word.row);
        if share == 0.0 {
            return word.rect;
        }
        let x = word.rect.center().x - self.scrolled * (1.0 - share);
        let middle = (x - self.seen / 2.0) / share + self.seen / 2.0;
        Rect::from_center_size(Pos2::new(middle, word.rect.center().y), word.rect.size())
    }

    pub fn place(&self, at: WordAt) -> Option<&PlacedWord> {
        self.words.iter().find(|word| word.at == at)
    }
}

/// Returns the rectangle of a patch, given that of the first one.
fn patch_at(first: Rect, [row, column]: [usize; 2]) -> Rect {
    first.translate(Vec2::new(column as f32, row as f32) * first.size())
}

struct Row {
    side: Side,
    /// Positions of the row's words.
    positions: Vec<usize>,
    widths: Vec<f32>,
}

fn row_width(widths: &[f32], font: f32) -> f32 {
    widths.iter().sum::<f32>() + SPACE * font * widths.len().saturating_sub(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(from: WordAt, to: WordAt) -> WeightArc {
        let pair = Pair { head: 0, query: from.position, key: to.position };
        WeightArc { pair, own: 0, from, to, weight: 1.0, added: None, is_enabled: true }
    }

    /// Returns the least radius of curvature of a curve.
    fn sharpest(curve: [Pos2; 4]) -> f32 {
        const STEPS: usize = 200;
        let curve = CubicBezierShape::from_points_stroke(curve, false, theme::CLEAR, Stroke::NONE);
        let at: Vec<Pos2> = (0..=STEPS).map(|i| curve.sample(i as f32 / STEPS as f32)).collect();
        let turns = at.windows(3).map(|at| {
            let (before, after) = (at[1] - at[0], at[2] - at[1]);
            let turn = before.angle() - after.angle();
            before.length() / turn.sin().atan2(turn.cos()).abs().max(f32::EPSILON)
        });
        turns.fold(f32::INFINITY, f32::min)
    }

    #[test]
    fn no_arc_turns_more_sharply_than_its_widest_line_can() {
        let [source, words] = ["nine two three four five", "[start] cinq i deux"].map(words);
        for (above, between) in [(46.0, 36.0), (32.0, 28.0)] {
            let room = Room { width: 460.0, above, between, below: 15.0, font: 24.0 };
            let plan = Plan::of(&source, &words, room, |text, font| text.chars().count() as f32 * font * 0.5);
            let from_row_to_row =
                (0..4).flat_map(|query| (0..5).map(move |key| (WordAt::in_sentence(query), WordAt::in_source(key))));
            let loops = (0..4).map(|word| (WordAt::in_sentence(word), WordAt::in_sentence(word)));
            for (from, to) in from_row_to_row.chain(loops) {
                let curve = curve(&plan, &arc(from, to), 0.0).expect("both have a place");
                let radius = sharpest(curve);
                assert!(radius >= 0.95 * TURN, "{from:?} to {to:?} turns by a radius of {radius}");
            }
        }
    }

    fn words(text: &str) -> Vec<ArcWord> {
        let word = |word: &str| ArcWord {
            label: word.to_owned(),
            text: word.to_owned(),
            group: None,
            is_part: false,
            is_added: false,
        };
        text.split_whitespace().map(word).collect()
    }

    fn plan(width: f32, source: &str, sentence: &str) -> Plan {
        let room = Room { width, above: 40.0, between: 30.0, below: 12.0, font: 24.0 };
        Plan::of(&words(source), &words(sentence), room, |text, font| text.chars().count() as f32 * font * 0.5)
    }

    const LONG: &str = "apple launched a new phone while i was eating an apple";

    /// Checks that all rows show the same share of their words, however far they are scrolled, and that a word that is
    /// looked for comes to the middle.
    #[test]
    fn source_and_target_scroll_together() {
        let long = |word: &str, count| (0..count).map(|i| format!("{word}{i}")).collect::<Vec<_>>().join(" ");
        for source in [long("source", 30), "nine two".to_owned(), long("source", 400)] {
            let plan = plan(300.0, &source, &long("target", 120));
            let hidden = plan.size.x - 300.0;
            assert!(hidden > 0.0);
            for part in [0.0, 0.3, 1.0] {
                let scrolled = plan.scrolled(part * hidden);
                for row in 0..2 {
                    let seen = part * hidden..part * hidden + 300.0;
                    let is_seen = |word: &&PlacedWord| word.row == row && seen.contains(&word.rect.center().x);
                    assert!(scrolled.words.iter().any(|word| is_seen(&word)), "{source}, row {row}, {part}");
                }
                for word in &scrolled.words {
                    let middle = plan.middle(word.at, part * hidden).expect("a word");
                    assert!((middle - word.rect.center().x).abs() < 0.1, "{:?}: {middle}", word.at);
                }
                for word in scrolled.words.iter().filter(|word| plan.widths[word.row] > 300.0) {
                    let by = scrolled.sought(word).center().x - 150.0;
                    let there = plan.scrolled(by).place(word.at).expect("a word").rect.center().x - by;
                    assert!((there - 150.0).abs() < 0.1, "{:?}: {there}", word.at);
                }
            }
        }
    }

    #[test]
    fn a_sentence_has_the_largest_type_that_fits_then_two_rows_then_it_scrolls() {
        let seen = |width| {
            let plan = plan(width, "", LONG);
            let rows = plan.words.last().expect("words").row + 1;
            (plan.font, rows, plan.size.x > width)
        };
        assert_eq!(seen(1200.0), (24.0, 1, false));
        assert_eq!(seen(560.0).1, 1);
        let (font, rows, scrolls) = seen(360.0);
        assert!(font >= 14.0 && rows == 2 && !scrolls);
        assert_eq!(seen(120.0), (14.0, 1, true));
    }

    #[test]
    fn patches_lie_in_their_grid_and_other_tokens_beside_it() {
        let measure = |text: &str, font: f32| text.chars().count() as f32 * font * 0.5;
        let words = words("[CLS] 1,1 1,2 1,3 2,1 2,2 2,3");
        let patches = (0..6).map(|patch| Some([patch / 3, patch % 3]));
        let places = PatchPlaces { rows: 2, columns: 3, of_tokens: std::iter::once(None).chain(patches).collect() };
        for (width, height) in [(460.0, 120.0), (90.0, 120.0), (460.0, 10.0)] {
            let plan = Plan::of_patches(&words, &places, width, height, measure);
            let at = |position: usize| plan.words[position].rect;
            assert_eq!((at(1).right_top(), at(1).left_bottom()), (at(2).left_top(), at(4).left_top()), "{width}");
            assert!(at(0).right() < at(1).left(), "{width}: {:?}", at(0));
            let whole = Rect::from_min_size(Pos2::ZERO, plan.size);
            assert!(plan.words.iter().all(|word| whole.contains_rect(word.rect)), "{width}, {height}");
        }
    }

    #[test]
    fn words_lie_beside_each_other_in_their_order_and_within_the_plan() {
        for (width, source) in [(1200.0, ""), (360.0, ""), (500.0, "nine two three"), (90.0, "nine two three")] {
            let plan = plan(width, source, LONG);
            for pair in plan.words.windows(2).filter(|pair| pair[0].row == pair[1].row) {
                assert!(pair[0].rect.right() < pair[1].rect.left(), "{width}: {pair:?}");
            }
            let whole = Rect::from_min_size(Pos2::ZERO, plan.size);
            assert!(plan.words.iter().all(|word| whole.contains_rect(word.rect)), "{width}");
            assert_eq!(plan.rooms[0], 40.0);
            assert_eq!(plan.place(WordAt::in_sentence(10)).map(|word| word.at.position), Some(10));
        }
        assert_eq!(plan(500.0, "nine two", "un deux").words[0].at, WordAt::in_source(0), "the source lies above");
        assert_eq!(plan(500.0, "", "").words, []);
    }
}
