//! The choice and the places of labels: important labels come first, and none covers another label or another point. A
//! label is either so close to its point that it can only be the name of that point, or connected to it by a hairline.

use attune_ui::theme::size;
use egui::{Pos2, Rect, Vec2};

/// The priority of a label, from the highest to the lowest. Labels with a higher priority are placed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    Hovered,
    Selected,
    Token,
    /// A word that the stage cell on the screen highlights.
    Lit,
    /// A word of the sentence that is not among the chosen words.
    QuietToken,
    GroupWord,
    Word,
    Axis,
}

/// A label to place beside its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelRequest {
    pub priority: Priority,
    pub point: Pos2,
    /// Radius of the point's disc.
    pub radius: f32,
    pub size: Vec2,
    /// Depth of the point; among labels of one priority, the nearer one is placed first.
    pub depth: f32,
}

/// Largest gap, in points, between a point and its name without a hairline.
pub const NEAR: f32 = 12.0;

/// A mark on the screen that labels avoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    pub rect: Rect,
    pub kind: ObstacleKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObstacleKind {
    /// A point that has a name. A label on it, or nearer to it than to the label's own point, would be read as its
    /// name.
    Named,
    /// A part of a line, which would strike through the letters.
    Line,
    /// A point without a name.
    Dot,
}

/// Index of a place around a point, counted from the nearest.
pub type Slot = usize;

/// Place of a label that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    pub rect: Rect,
    pub slot: Slot,
    /// The hairline from the edge of the point's disc to the label.
    pub leader: Option<[Pos2; 2]>,
}

/// Returns a place for each label that fits. Labels avoid each other, the rectangles `written` already and the named
/// points, and stay inside `bounds`.
pub fn place(requests: &[LabelRequest], marks: &[Obstacle], written: &[Rect], bounds: Rect) -> Vec<Option<Placed>> {
    place_again(requests, &vec![None; requests.len()], marks, written, bounds)
}

/// Places labels as [`place`] does, given the slots that they had `before`. A label stays in its slot unless a more
/// important label needs the room or another slot is clearly better, and a new label needs more room than one that
/// stays, so that names do not flicker while the camera turns.
pub fn place_again(
    requests: &[LabelRequest],
    before: &[Option<Slot>],
    marks: &[Obstacle],
    written: &[Rect],
    bounds: Rect,
) -> Vec<Option<Placed>> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by(|&a, &b| {
        let (first, second) = (&requests[a], &requests[b]);
        let stood = before[b].is_some().cmp(&before[a].is_some());
        let by_depth = || match before[a] {
            // The order in depth may change with every frame, so labels that stay are ordered by index.
            Some(_) => a.cmp(&b),
            None => first.depth.total_cmp(&second.depth),
        };
        first.priority.cmp(&second.priority).then(stood).then_with(by_depth)
    });
    let mut room = Room::of(marks, written, bounds);
    let mut places = vec![None; requests.len()];
    for index in order {
        let request = &requests[index];
        let mut placed = room.place(request, before[index]);
        if request.priority == Priority::Hovered {
            // The point under the pointer gets its name even if the picture is too small for it.
            placed = placed.or_else(|| {
                let rect = moved_inside(slot_rect(request, 0), bounds);
                Some(Placed { rect, slot: 0, leader: room.leader(request, rect) })
            });
        }
        if let Some(placed) = placed {
            room.labels.take(placed.rect.expand2(MARGIN));
            places[index] = Some(placed);
        }
    }
    places
}

/// Gaps between a point and its name, from near to far. The priority of a label decides how many of them it may use.
const GAPS: [f32; 6] = [size::LABEL_GAP, 9.0, 18.0, 30.0, 44.0, 60.0];
/// Free room that a new name needs around it, if the name may be left out.
const ROOM: Vec2 = Vec2::new(6.0, 2.0);
/// Free room around a label that is drawn.
const MARGIN: Vec2 = Vec2::new(5.0, 0.0);

/// Directions of a name from its point: the sides, the corners, and the directions between them.
const DIRECTIONS: [(f32, f32); 16] = {
    /// Sine of an eighth and of a sixteenth of a turn, and the cosine of the latter.
    const EIGHTH: f32 = std::f32::consts::FRAC_1_SQRT_2;
    const LOW: f32 = 0.382_683_43;
    const HIGH: f32 = 0.923_879_5;
    [
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, -1.0),
        (0.0, 1.0),
        (EIGHTH, -EIGHTH),
        (EIGHTH, EIGHTH),
        (-EIGHTH, -EIGHTH),
        (-EIGHTH, EIGHTH),
        (HIGH, -LOW),
        (HIGH, LOW),
        (LOW, -HIGH),
        (LOW, HIGH),
        (-LOW, -HIGH),
        (-LOW, HIGH),
        (-HIGH, -LOW),
        (-HIGH, LOW),
    ]
};

/// Returns the rectangle of the label in a slot; its nearest edge or corner is the slot's gap away from the disc.
fn slot_rect(request: &LabelRequest, slot: Slot) -> Rect {
    let (gap, (x, y)) = (GAPS[slot / DIRECTIONS.len()], DIRECTIONS[slot % DIRECTIONS.len()]);
    let side = |along: f32| if along == 0.0 { 0.0 } else { along.signum() };
    let reach = request.radius + gap;
    let half = request.size / 2.0;
    let offset = Vec2::new(x * reach + side(x) * half.x, y * reach + side(y) * half.y);
    Rect::from_center_size(request.point + offset, request.size)
}

/// Cost of a slot for a label. The order of the fields is the order of their weight; the least cost is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    /// Whether another named point is on the hairline from the label to its own point.
    is_crossed: bool,
    is_on_line: bool,
    needs_leader: bool,
    is_on_dot: bool,
}

impl Cost {
    const NONE: Self = Self { is_crossed: false, is_on_line: false, needs_leader: false, is_on_dot: false };

    /// Returns whether another slot is so much better that a label moves there: a dot under the label does not count.
    fn is_clearly_less(self, other: Self) -> bool {
        Self { is_on_dot: false, ..self } < Self { is_on_dot: false, ..other }
    }
}

/// Marks and labels that are on the screen already.
struct Room {
    bounds: Rect,
    labels: Grid,
    /// Rectangles of the marks, by their kinds.
    named: Grid,
    lines: Grid,
    dots: Grid,
}

impl Room {
    fn of(marks: &[Obstacle], written: &[Rect], bounds: Rect) -> Self {
        let grid = |rects: &mut dyn Iterator<Item = Rect>| {
            let mut grid = Grid::over(bounds);
            rects.for_each(|rect| grid.take(rect));
            grid
        };
        let of = |kind| grid(&mut marks.iter().filter(|mark| mark.kind == kind).map(|mark| mark.rect));
        Self {
            bounds,
            labels: grid(&mut written.iter().copied()),
            named: of(ObstacleKind::Named),
            lines: of(ObstacleKind::Line),
            dots: of(ObstacleKind::Dot),
        }
    }

    fn place(&self, request: &LabelRequest, before: Option<Slot>) -> Option<Placed> {
        // Words of the sentence may be far from their points; names that may be left out stay close.
        let gaps = match request.priority {
            Priority::Word | Priority::Axis => 1,
            Priority::GroupWord => 3,
            _ => GAPS.len(),
        };
        let slots = gaps * DIRECTIONS.len();
        // A new name that may be left out needs some free room around it.
        let around = if request.priority < Priority::GroupWord { Vec2::ZERO } else { ROOM };
        let kept = before
            .filter(|slot| *slot < slots)
            .and_then(|slot| Some((self.cost(request, slot_rect(request, slot), Vec2::ZERO)?, slot)));
        let mut best = kept;
        for slot in 0..slots {
            if best.is_some_and(|(cost, _)| !Cost::NONE.is_clearly_less(cost) && (kept.is_some() || cost == Cost::NONE))
            {
                break;
            }
            let Some(cost) = self.cost(request, slot_rect(request, slot), around) else { continue };
            let is_better = |(other, of): (Cost, Slot)| match kept {
                Some((_, slot)) if slot == of => cost.is_clearly_less(other),
                _ => cost < other,
            };
            if best.is_none_or(is_better) {
                best = Some((cost, slot));
            }
        }
        // A name that may only be close to its point is left out rather than drawn over a mark.
        let is_allowed = |(cost, slot): &(Cost, Slot)| {
            gaps > 1 || *cost == Cost::NONE || before == Some(*slot) && !Cost::NONE.is_clearly_less(*cost)
        };
        let (_, slot) = best.filter(is_allowed)?;
        let rect = slot_rect(request, slot);
        Some(Placed { rect, slot, leader: self.leader(request, rect) })
    }

    /// Returns the cost of a place, or `None` if the label may not be there: cut off, or over another label or a named
    /// point. Only hairlines of words of the sentence may cross other points.
    fn cost(&self, request: &LabelRequest, rect: Rect, around: Vec2) -> Option<Cost> {
        let is_free =
            self.bounds.contains_rect(rect) && self.labels.is_free(rect.expand2(around)) && self.named.is_free(rect);
        if !is_free {
            return None;
        }
        let leader = self.leader(request, rect);
        let is_crossed = leader.is_some_and(|leader| self.is_crossed(request, leader));
        (!is_crossed || request.priority < Priority::GroupWord).then(|| Cost {
            is_crossed,
            is_on_line: !self.lines.is_free(rect),
            needs_leader: leader.is_some(),
            is_on_dot: !self.dots.is_free(rect),
        })
    }

    /// Returns the hairline of a label that is far from its own point, or nearer to another named point; `None` if it
    /// needs none.
    fn leader(&self, request: &LabelRequest, rect: Rect) -> Option<[Pos2; 2]> {
        /// Allowance for rounding.
        const SLACK: f32 = 0.5;
        let own = rect.distance_to_pos(request.point);
        let is_nearer = |mark: Rect| !is_own(mark, request) && rect.distance_to_pos(mark.center()) + SLACK < own;
        let is_far = own - request.radius > NEAR + SLACK;
        (is_far || self.named.any(rect.expand(own), is_nearer)).then(|| {
            let end = rect.clamp(request.point);
            [request.point + (end - request.point).normalized() * request.radius, end]
        })
    }

    /// Returns whether another named point is on the hairline.
    fn is_crossed(&self, request: &LabelRequest, [from, to]: [Pos2; 2]) -> bool {
        let is_on_it = |mark: Rect| {
            let along = to - from;
            let share = ((mark.center() - from).dot(along) / along.length_sq().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
            !is_own(mark, request) && mark.expand(size::HAIRLINE).contains(from + along * share)
        };
        self.named.any(Rect::from_two_pos(from, to), is_on_it)
    }
}

/// Returns whether a mark is at the label's own point; names of points in one place share a label.
fn is_own(mark: Rect, request: &LabelRequest) -> bool {
    mark.center().distance(request.point) < SAME_PLACE
}

/// Distance, in points, below which two points look like one.
pub const SAME_PLACE: f32 = 1.5;

pub fn moved_inside(rect: Rect, bounds: Rect) -> Rect {
    let right = (rect.right() - bounds.right()).max(0.0);
    let bottom = (rect.bottom() - bounds.bottom()).max(0.0);
    let moved = rect.translate(Vec2::new(-right, -bottom));
    moved.translate((bounds.min - moved.min).max(Vec2::ZERO))
}

/// Rectangles sorted into the cells that they touch, so that a label is compared only with its neighbours. The cells at
/// the edge also hold the rectangles outside the picture.
struct Grid {
    origin: Pos2,
    columns: usize,
    cells: Vec<Vec<Rect>>,
}

/// Size of a cell, about that of a short label.
const CELL: Vec2 = Vec2::new(64.0, 24.0);

impl Grid {
    fn over(bounds: Rect) -> Self {
        const MOST: usize = 512;
        let count = |length: f32, cell: f32| ((length / cell) as usize + 1).min(MOST);
        let (columns, rows) = (count(bounds.width(), CELL.x), count(bounds.height(), CELL.y));
        Self { origin: bounds.min, columns, cells: vec![Vec::new(); columns * rows] }
    }

    /// Returns the cells that a rectangle touches.
    fn cells_of(&self, rect: Rect) -> impl Iterator<Item = usize> + use<> {
        let rows = self.cells.len() / self.columns;
        let (min, max) = ((rect.min - self.origin) / CELL, (rect.max - self.origin) / CELL);
        // A negative float is converted to cell 0.
        let within = |at: f32, count: usize| (at as usize).min(count - 1);
        let (left, right) = (within(min.x, self.columns), within(max.x, self.columns));
        let columns = self.columns;
        (within(min.y, rows)..=within(max.y, rows)).flat_map(move |y| (left..=right).map(move |x| y * columns + x))
    }

    fn any(&self, rect: Rect, is_it: impl Fn(Rect) -> bool) -> bool {
        self.cells_of(rect).any(|cell| self.cells[cell].iter().any(|taken| is_it(*taken)))
    }

    fn is_free(&self, rect: Rect) -> bool {
        !self.any(rect, |taken| taken.intersects(rect))
    }

    fn take(&mut self, rect: Rect) {
        for cell in self.cells_of(rect) {
            self.cells[cell].push(rect);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect { min: Pos2::ZERO, max: Pos2::new(400.0, 300.0) };

    fn rects(placed: &[Option<Placed>]) -> Vec<Rect> {
        placed.iter().flatten().map(|placed| placed.rect).collect()
    }

    fn request(priority: Priority, x: f32, y: f32) -> LabelRequest {
        LabelRequest { priority, point: Pos2::new(x, y), radius: 5.0, size: Vec2::new(50.0, 14.0), depth: 1.0 }
    }

    #[test]
    fn labels_never_overlap() {
        let requests: Vec<LabelRequest> =
            (0..200).map(|i| request(Priority::Word, (i * 37 % 390) as f32, (i * 53 % 290) as f32)).collect();
        let placed: Vec<Rect> = rects(&place(&requests, &[], &[], BOUNDS));
        assert!(placed.len() > 20);
        for (i, a) in placed.iter().enumerate() {
            assert!(BOUNDS.contains_rect(*a));
            assert!(placed[i + 1..].iter().all(|b| !a.intersects(*b)), "{a:?} is covered");
        }
    }

    #[test]
    fn the_important_one_takes_the_place() {
        let many: Vec<LabelRequest> = std::iter::repeat_n(request(Priority::Word, 100.0, 100.0), 9)
            .chain([request(Priority::Selected, 100.0, 100.0)])
            .collect();
        let places = place(&many, &[], &[], BOUNDS);
        assert!(places[9].is_some());
        assert!(places.iter().filter(|place| place.is_some()).count() < many.len());
    }

    fn mark(rect: Rect, kind: ObstacleKind) -> Obstacle {
        Obstacle { rect, kind }
    }

    #[test]
    fn a_label_keeps_off_a_named_point_before_it_keeps_off_a_dot() {
        let wished = request(Priority::Token, 200.0, 150.0);
        let everywhere = Rect::from_center_size(wished.point, Vec2::splat(200.0));
        let right = Rect::from_min_size(wished.point + Vec2::new(6.0, -100.0), Vec2::splat(200.0));
        let marks = [mark(everywhere, ObstacleKind::Dot), mark(right, ObstacleKind::Named)];
        let placed = place(&[wished], &marks, &[], BOUNDS)[0].expect("a token is named over dots");
        assert!(!placed.rect.intersects(right), "{placed:?}");
        let all = [mark(everywhere, ObstacleKind::Named)];
        assert_eq!(place(&[wished], &all, &[], BOUNDS), [None], "rather not than over a named point");
    }

    /// Checks that, among random points, each name is at its point and nearer to it than to any other, or that a
    /// hairline leads to its point.
    #[test]
    fn a_name_is_at_its_own_point_or_a_hairline_leads_there() {
        let at = |i: usize| (20.0 + (i * 97 % 360) as f32, 20.0 + (i * 61 % 260) as f32);
        let kinds = [Priority::Token, Priority::GroupWord, Priority::Word];
        let requests: Vec<LabelRequest> = (0..60).map(|i| request(kinds[i % 3], at(i).0, at(i).1)).collect();
        let disc = |request: &LabelRequest| Rect::from_center_size(request.point, Vec2::splat(7.0));
        let marks: Vec<Obstacle> = requests.iter().map(|one| mark(disc(one), ObstacleKind::Named)).collect();
        let placed = place(&requests, &marks, &[], BOUNDS);
        let mut led = 0;
        for (request, placed) in requests.iter().zip(&placed).filter_map(|(one, placed)| Some((one, (*placed)?))) {
            let away = |other: &LabelRequest| placed.rect.distance_to_pos(other.point);
            assert!(!marks.iter().any(|mark| mark.rect.intersects(placed.rect)), "{placed:?} covers a point");
            let is_read_as_its = away(request) <= request.radius + NEAR + 1.0
                && requests.iter().all(|other| away(other) + 1.0 >= away(request));
            led += usize::from(placed.leader.is_some());
            assert!(is_read_as_its || placed.leader.is_some(), "{request:?} is named at {placed:?}");
            if let Some([from, to]) = placed.leader {
                assert!((from.distance(request.point) - request.radius).abs() < 0.1);
                assert!(placed.rect.expand(0.1).contains(to));
            }
        }
        assert!(led > 3 && placed.iter().flatten().count() > 30, "{led} hairlines, {placed:?}");
    }

    #[test]
    fn a_name_is_struck_through_by_a_line_only_where_there_is_no_other_place() {
        let wished = request(Priority::Token, 200.0, 150.0);
        let usual = place(&[wished], &[], &[], BOUNDS)[0].expect("room").rect;
        let line = mark(Rect::from_center_size(usual.center(), Vec2::splat(7.0)), ObstacleKind::Line);
        let placed = place(&[wished], &[line], &[], BOUNDS)[0].expect("room").rect;
        assert!(!placed.intersects(line.rect));
        let everywhere = mark(BOUNDS, ObstacleKind::Line);
        assert!(place(&[wished], &[everywhere], &[], BOUNDS)[0].is_some());
    }

    #[test]
    fn a_label_keeps_off_what_is_written() {
        let written = [Rect::from_min_size(Pos2::new(200.0, 140.0), Vec2::new(190.0, 20.0))];
        let placed = place(&[request(Priority::Token, 200.0, 150.0)], &[], &written, BOUNDS)[0].expect("beside it");
        assert!(!placed.rect.intersects(written[0]), "{placed:?}");
    }

    /// Checks that, while a crowd of points turns, names may disappear, but none disappears and comes back, and few
    /// move.
    #[test]
    fn names_stay_while_the_points_move() {
        let at = |angle: f32| -> Vec<LabelRequest> {
            let point = |i: usize| {
                let (turn, reach) = (i as f32 * 2.4 + angle, 20.0 + 4.0 * i as f32);
                let depth = (i as f32 * 1.7 + angle).sin();
                LabelRequest {
                    depth,
                    ..request(Priority::GroupWord, 200.0 + reach * turn.cos(), 150.0 + reach * turn.sin())
                }
            };
            (0..24).map(point).collect()
        };
        let discs = |requests: &[LabelRequest]| -> Vec<Obstacle> {
            let disc = |request: &LabelRequest| Rect::from_center_size(request.point, Vec2::splat(7.0));
            requests.iter().map(|request| mark(disc(request), ObstacleKind::Dot)).collect()
        };
        let turn = |keeps: bool| {
            let mut slots = vec![None; 24];
            let mut changes = 0;
            for step in 0..90 {
                let requests = at(step as f32 * 0.003);
                let before = if keeps { slots.clone() } else { vec![None; 24] };
                let placed = place_again(&requests, &before, &discs(&requests), &[], BOUNDS);
                let now: Vec<Option<Slot>> = placed.iter().map(|place| Some(place.as_ref()?.slot)).collect();
                changes +=
                    if step == 0 { 0 } else { now.iter().zip(&slots).filter(|(now, before)| now != before).count() };
                slots = now;
            }
            changes
        };
        let (kept, free) = (turn(true), turn(false));
        assert!(
            kept * 3 <= free && kept < 40,
            "{kept} changes where names keep their places, {free} where they do not"
        );
    }

    #[test]
    fn the_hovered_one_is_always_named() {
        let places = place(
            &[request(Priority::Hovered, 399.0, 299.0)],
            &[],
            &[],
            Rect { min: Pos2::ZERO, max: Pos2::new(60.0, 20.0) },
        );
        assert!(places[0].is_some());
    }
}
