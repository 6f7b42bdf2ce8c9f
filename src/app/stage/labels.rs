//! Which labels are drawn and where: the important ones first, none over another.

use std::cmp::Ordering;
use std::collections::HashMap;

use egui::{Pos2, Rect, Vec2};

use crate::app::theme::size;

/// Who gives way to whom; a later one yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    Hovered,
    Selected,
    Token,
    /// A word that the shown cell lights.
    Lit,
    /// A word of the sentence that gives way to those that were chosen.
    QuietToken,
    GroupWord,
    Word,
    Axis,
}

/// A label that wants a place beside its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelRequest {
    pub priority: Priority,
    pub point: Pos2,
    /// Radius of the point's disc.
    pub radius: f32,
    pub size: Vec2,
    /// Nearer labels win among their equals.
    pub depth: f32,
}

/// A disc on the screen, which labels keep clear of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    pub rect: Rect,
    /// A label over a token's disc would be read as its name.
    pub is_token: bool,
}

/// A label's place beside its point: an index into its places, the nearest first.
pub type Slot = usize;

/// A place for each wish that has one. Labels keep clear of each other, of what is `written` already and of the discs,
/// and stay inside `bounds`.
pub fn place(requests: &[LabelRequest], discs: &[Obstacle], written: &[Rect], bounds: Rect) -> Vec<Option<Rect>> {
    let none = vec![None; requests.len()];
    place_again(requests, &none, discs, written, bounds).into_iter().map(|place| Some(place?.0)).collect()
}

/// As [`place`], where labels stood before, in these slots. One that stood keeps its place as long as no other label
/// needs it more; one that comes needs more room than one that stays. So the same names stay while the camera turns.
pub fn place_again(
    requests: &[LabelRequest],
    before: &[Option<Slot>],
    discs: &[Obstacle],
    written: &[Rect],
    bounds: Rect,
) -> Vec<Option<(Rect, Slot)>> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by(|&a, &b| {
        let (first, second) = (&requests[a], &requests[b]);
        let stood = before[b].is_some().cmp(&before[a].is_some());
        let by_depth = || match before[a] {
            // Which of two is nearer may change with every frame.
            Some(_) => a.cmp(&b),
            None => first.depth.total_cmp(&second.depth),
        };
        first.priority.cmp(&second.priority).then(stood).then_with(by_depth)
    });
    let [mut labels, mut obstacles, mut tokens] = [Grid::default(), Grid::default(), Grid::default()];
    written.iter().for_each(|text| labels.take(*text));
    discs.iter().for_each(|disc| obstacles.take(disc.rect));
    discs.iter().filter(|disc| disc.is_token).for_each(|disc| tokens.take(disc.rect));
    let mut places = vec![None; requests.len()];
    for index in order {
        let request = &requests[index];
        let must_stand = request.priority <= Priority::GroupWord;
        let rings = match request.priority.cmp(&Priority::GroupWord) {
            Ordering::Less => &GAPS[..],
            Ordering::Equal => &GAPS[..GAPS.len() - 1],
            Ordering::Greater => &GAPS[..1],
        };
        let slots: Vec<(Slot, Rect)> = rings.iter().flat_map(|gap| candidates(request, *gap)).enumerate().collect();
        let clear = |rect: &Rect| bounds.contains_rect(*rect) && labels.is_free(*rect);
        let kept =
            before[index].and_then(|slot| slots.get(slot)).filter(|(_, rect)| clear(rect) && tokens.is_free(*rect));
        // Names that may be left out come only where there is some room around them.
        let room = if request.priority < Priority::GroupWord { Vec2::ZERO } else { ROOM };
        let find = |allowed: &dyn Fn(&Rect) -> bool| {
            slots
                .iter()
                .find(|(_, rect)| bounds.contains_rect(*rect) && labels.is_free(rect.expand2(room)) && allowed(rect))
        };
        let mut place = kept.or_else(|| find(&|rect| obstacles.is_free(*rect)));
        if must_stand {
            // Rather over the disc of a word than not at all.
            place = place.or_else(|| find(&|rect| tokens.is_free(*rect)));
        }
        if request.priority < Priority::GroupWord {
            // A word of the sentence is named even where its name lies over another's disc.
            place = place.or_else(|| slots.iter().find(|(_, rect)| clear(rect)));
        }
        let mut place = place.map(|(slot, rect)| (*rect, *slot));
        if request.priority == Priority::Hovered {
            place = place.or(Some((moved_inside(slots[0].1, bounds), 0)));
        }
        if let Some((rect, _)) = place {
            labels.take(rect.expand2(MARGIN));
            places[index] = place;
        }
    }
    places
}

/// Gaps between a point and its name: the usual one, and how far one that must stand moves away; a word of the sentence
/// the farthest.
const GAPS: [f32; 4] = [size::LABEL_GAP, 9.0, 18.0, 34.0];
/// Room around a name that comes.
const ROOM: Vec2 = Vec2::new(6.0, 2.0);
/// Room around a label that stands.
const MARGIN: Vec2 = Vec2::new(5.0, 0.0);

/// Right of the point, left of it, above, below, and the four corners.
fn candidates(request: &LabelRequest, gap: f32) -> [Rect; 8] {
    let reach = request.radius + gap;
    let half = request.size / 2.0;
    let (x, y) = (reach + half.x, reach + half.y);
    let corner = (request.radius + gap) / 2.0;
    let (near_x, near_y) = (corner + half.x, corner + half.y);
    [
        Vec2::new(x, 0.0),
        Vec2::new(-x, 0.0),
        Vec2::new(0.0, -y),
        Vec2::new(0.0, y),
        Vec2::new(near_x, -near_y),
        Vec2::new(near_x, near_y),
        Vec2::new(-near_x, -near_y),
        Vec2::new(-near_x, near_y),
    ]
    .map(|offset| Rect::from_center_size(request.point + offset, request.size))
}

pub fn moved_inside(rect: Rect, bounds: Rect) -> Rect {
    let right = (rect.right() - bounds.right()).max(0.0);
    let bottom = (rect.bottom() - bounds.bottom()).max(0.0);
    let moved = rect.translate(Vec2::new(-right, -bottom));
    moved.translate((bounds.min - moved.min).max(Vec2::ZERO))
}

/// Cells with the rectangles that touch them, so that a label looks only at its neighbours.
#[derive(Default)]
struct Grid {
    cells: HashMap<(i32, i32), Vec<Rect>>,
}

/// About one short label.
const CELL: Vec2 = Vec2::new(64.0, 24.0);

impl Grid {
    fn cells_of(rect: Rect) -> impl Iterator<Item = (i32, i32)> {
        let cell = |pos: Pos2| ((pos.x / CELL.x).floor() as i32, (pos.y / CELL.y).floor() as i32);
        let (min, max) = (cell(rect.min), cell(rect.max));
        (min.0..=max.0).flat_map(move |x| (min.1..=max.1).map(move |y| (x, y)))
    }

    fn is_free(&self, rect: Rect) -> bool {
        Self::cells_of(rect).filter_map(|cell| self.cells.get(&cell)).flatten().all(|taken| !taken.intersects(rect))
    }

    fn take(&mut self, rect: Rect) {
        for cell in Self::cells_of(rect) {
            self.cells.entry(cell).or_default().push(rect);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect { min: Pos2::ZERO, max: Pos2::new(400.0, 300.0) };

    fn request(priority: Priority, x: f32, y: f32) -> LabelRequest {
        LabelRequest { priority, point: Pos2::new(x, y), radius: 5.0, size: Vec2::new(50.0, 14.0), depth: 1.0 }
    }

    #[test]
    fn labels_never_overlap() {
        let requests: Vec<LabelRequest> =
            (0..200).map(|i| request(Priority::Word, (i * 37 % 390) as f32, (i * 53 % 290) as f32)).collect();
        let placed: Vec<Rect> = place(&requests, &[], &[], BOUNDS).into_iter().flatten().collect();
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

    #[test]
    fn a_label_keeps_off_a_token_s_disc_before_it_keeps_off_a_word_s() {
        let wished = request(Priority::Token, 200.0, 150.0);
        let everywhere = Rect::from_center_size(wished.point, Vec2::splat(200.0));
        let right = Rect::from_min_size(wished.point + Vec2::new(6.0, -100.0), Vec2::splat(200.0));
        let discs = [Obstacle { rect: everywhere, is_token: false }, Obstacle { rect: right, is_token: true }];
        let placed = place(&[wished], &discs, &[], BOUNDS)[0].expect("a token is always named");
        assert!(!placed.intersects(right), "{placed:?}");
    }

    #[test]
    fn a_label_keeps_off_what_is_written() {
        let written = [Rect::from_min_size(Pos2::new(200.0, 140.0), Vec2::new(190.0, 20.0))];
        let placed = place(&[request(Priority::Token, 200.0, 150.0)], &[], &written, BOUNDS)[0].expect("beside it");
        assert!(!placed.intersects(written[0]), "{placed:?}");
    }

    /// A crowd that turns: names may leave, but none goes and comes back, and few move.
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
            requests.iter().map(|request| Obstacle { rect: disc(request), is_token: false }).collect()
        };
        let turn = |keeps: bool| {
            let mut slots = vec![None; 24];
            let mut changes = 0;
            for step in 0..90 {
                let requests = at(step as f32 * 0.003);
                let before = if keeps { slots.clone() } else { vec![None; 24] };
                let placed = place_again(&requests, &before, &discs(&requests), &[], BOUNDS);
                let now: Vec<Option<Slot>> = placed.iter().map(|place| Some(place.as_ref()?.1)).collect();
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
