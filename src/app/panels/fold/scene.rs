//! Where each matrix lies in each step of the walk, and on the way between two.

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use crate::app::theme::size;
use crate::app::view::walk::ease;
use crate::view_model::fold::Sheet;
use crate::view_model::walk::Step;

/// A sheet at its place, so far faded in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    pub sheet: Sheet,
    pub rect: Rect,
    pub alpha: f32,
    /// How far the words beside its rows are there: whole matrices have room for them.
    pub words: f32,
}

/// The area of the panel and what has to find a place in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldScene {
    pub area: Rect,
    pub heads: usize,
    pub has_output: bool,
}

/// The least width of a head's cell, before the next goes below.
const CELL_WIDTH: f32 = 150.0;
/// Share of a cell that its matrices take, above its picture.
const UPPER: f32 = 0.42;
/// Above a matrix, for its name.
const NAME: f32 = 16.0;
/// Left of a whole matrix, for its words.
const WORDS: f32 = 74.0;
/// Share of the area that the whole matrices of the last steps take, above the joint picture.
const JOINT: f32 = 0.44;

impl FoldScene {
    /// Everything that is seen at `walk`, a whole number at each step.
    pub fn placed(&self, walk: f32) -> Vec<Placed> {
        let (before, after, share) = between(walk);
        let (from, to) = (self.at(before), self.at(after));
        let find = |list: &[(Sheet, Rect)], sheet: Sheet| list.iter().find(|(other, _)| *other == sheet).map(|x| x.1);
        let [left, right] = [before, after].map(|step| f32::from(is_whole(step)));
        let going = from.iter().map(|&(sheet, rect)| match find(&to, sheet) {
            Some(goal) => {
                Placed { sheet, rect: lerp(rect, goal, share), alpha: 1.0, words: egui::lerp(left..=right, share) }
            }
            None => Placed { sheet, rect, alpha: 1.0 - share, words: left * (1.0 - share) },
        });
        let coming = to.iter().filter(|(sheet, _)| find(&from, *sheet).is_none());
        let coming = coming.map(|&(sheet, rect)| Placed { sheet, rect, alpha: share, words: right * share });
        going.chain(coming).filter(|placed| placed.alpha > 0.0).collect()
    }

    /// The picture of a head, and its progress from 0 to 1.
    pub fn picture(&self, own: usize, walk: f32) -> (Rect, f32) {
        let shown = Step::Score.share(walk);
        (lerp(self.lower(own), self.joint(), ease(self.joined(walk))), shown)
    }

    /// How far the heads are on their way together, from 0 to 1.
    pub fn joined(&self, walk: f32) -> f32 {
        Step::Output.share(walk)
    }

    /// Where a head's name stands, and how far it is there: while there are heads.
    pub fn title(&self, own: usize, walk: f32) -> (Pos2, f32) {
        let shown = Step::Score.share(walk) - self.joined(walk);
        (self.cell(own).min, shown.clamp(0.0, 1.0))
    }

    fn at(&self, step: Step) -> Vec<(Sheet, Rect)> {
        let heads = 0..self.heads;
        match step {
            Step::Embed => vec![(Sheet::Input, self.whole(self.area))],
            Step::Project => {
                let rows = split_down(self.area, 3);
                let sheets: [fn(usize) -> Sheet; 3] = [Sheet::Query, Sheet::Key, Sheet::Value];
                sheets.iter().zip(rows).flat_map(|(sheet, row)| self.wide(self.whole(row), *sheet)).collect()
            }
            Step::Score => heads.flat_map(|own| self.looking(own, Sheet::Product(own))).collect(),
            Step::Scale => heads.flat_map(|own| self.looking(own, Sheet::Score(own))).collect(),
            Step::Softmax => heads.flat_map(|own| self.looking(own, Sheet::Weight(own))).collect(),
            Step::Mix => heads.flat_map(|own| self.mixing(own)).collect(),
            Step::Output => {
                let [left, right] = beside(self.upper_joint());
                let mut sheets =
                    self.wide(self.whole(if self.has_output { left } else { self.upper_joint() }), Sheet::Mix);
                if self.has_output {
                    let rows = split_down(right.with_min_y(right.top() + NAME), self.heads);
                    sheets.extend(rows.enumerate().map(|(own, row)| (Sheet::OutputWeights(own), row)));
                }
                sheets
            }
            Step::Contextual => {
                let [left, right] = beside(self.upper_joint());
                vec![(Sheet::Input, self.whole(left)), (Sheet::Output, self.whole(right))]
            }
        }
    }

    /// A whole matrix: room for its name above and for its words on the left.
    fn whole(&self, room: Rect) -> Rect {
        Rect::from_min_max(room.min + vec2(WORDS.min(room.width() / 2.0), NAME.min(room.height() / 2.0)), room.max)
    }

    /// The slices of all heads side by side are one matrix.
    fn wide(&self, rect: Rect, sheet: fn(usize) -> Sheet) -> Vec<(Sheet, Rect)> {
        let width = rect.width() / self.heads as f32;
        let slice = |own: usize| {
            let left = rect.left() + width * own as f32;
            Rect::from_min_max(pos2(left, rect.top()), pos2(left + width, rect.bottom()))
        };
        (0..self.heads).map(|own| (sheet(own), slice(own))).collect()
    }

    /// Heads beside each other as far as there is room, then below.
    fn cell(&self, own: usize) -> Rect {
        let across = ((self.area.width() / CELL_WIDTH) as usize).clamp(1, self.heads);
        let down = self.heads.div_ceil(across);
        // No row is longer than it must be: four heads lie two by two.
        let across = self.heads.div_ceil(down);
        let cell = self.area.size() / vec2(across as f32, down as f32);
        let min = self.area.min + cell * vec2((own % across) as f32, (own / across) as f32);
        let gap = if across > 1 { size::GAP } else { 0.0 };
        Rect::from_min_size(min, (cell - vec2(gap, size::GAP)).max(Vec2::splat(1.0)))
    }

    /// Its matrices, under its name.
    fn upper(&self, own: usize) -> Rect {
        let cell = self.cell(own);
        let top = cell.top() + 2.0 * NAME;
        Rect::from_min_max(pos2(cell.left(), top), pos2(cell.right(), (cell.top() + cell.height() * UPPER).max(top)))
    }

    fn lower(&self, own: usize) -> Rect {
        self.cell(own).with_min_y(self.upper(own).bottom() + size::GAP)
    }

    fn upper_joint(&self) -> Rect {
        self.area.with_max_y(self.area.top() + self.area.height() * JOINT)
    }

    fn joint(&self) -> Rect {
        self.area.with_min_y(self.upper_joint().bottom() + size::GAP)
    }

    /// `Q K V` and what the queries make of the keys.
    fn looking(&self, own: usize, seen: Sheet) -> Vec<(Sheet, Rect)> {
        let places = shares(self.upper(own), [1.0, 1.0, 1.0, 2.0]);
        [Sheet::Query(own), Sheet::Key(own), Sheet::Value(own), seen].into_iter().zip(places).collect()
    }

    /// `A V = M`
    fn mixing(&self, own: usize) -> Vec<(Sheet, Rect)> {
        let places = shares(self.upper(own), [2.0, 1.0, 1.0]);
        [Sheet::Weight(own), Sheet::Value(own), Sheet::Mix(own)].into_iter().zip(places).collect()
    }
}

/// The matrices of all heads are one, or not yet parted.
fn is_whole(step: Step) -> bool {
    matches!(step, Step::Embed | Step::Project | Step::Output | Step::Contextual)
}

/// The steps on both sides of `walk`, and how far it is from the first to the second.
fn between(walk: f32) -> (Step, Step, f32) {
    let last = Step::ALL.len() - 1;
    let before = (walk.max(0.0) as usize).min(last);
    (Step::ALL[before], Step::ALL[(before + 1).min(last)], walk.max(0.0) - before as f32)
}

fn lerp(from: Rect, to: Rect, share: f32) -> Rect {
    Rect::from_min_max(from.min.lerp(to.min, share), from.max.lerp(to.max, share))
}

/// Parts of a row, one beside the other.
fn shares<const N: usize>(row: Rect, shares: [f32; N]) -> [Rect; N] {
    let whole: f32 = shares.iter().sum();
    let room = (row.width() - size::GAP_TIGHT * (N - 1) as f32).max(0.0);
    let mut left = row.left();
    shares.map(|share| {
        let width = room * share / whole;
        let part = Rect::from_min_max(pos2(left, row.top()), pos2(left + width, row.bottom()));
        left += width + size::GAP_TIGHT;
        part
    })
}

fn beside(row: Rect) -> [Rect; 2] {
    shares(row, [1.0, 1.0])
}

fn split_down(area: Rect, parts: usize) -> impl Iterator<Item = Rect> {
    let height = area.height() / parts.max(1) as f32;
    (0..parts).map(move |part| {
        let top = area.top() + height * part as f32;
        Rect::from_min_max(pos2(area.left(), top), pos2(area.right(), top + height))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(heads: usize) -> FoldScene {
        FoldScene { area: Rect::from_min_size(pos2(10.0, 20.0), vec2(520.0, 480.0)), heads, has_output: true }
    }

    fn rect(scene: FoldScene, walk: f32, sheet: Sheet) -> Option<Rect> {
        scene.placed(walk).into_iter().find(|placed| placed.sheet == sheet).map(|placed| placed.rect)
    }

    #[test]
    fn slices_touch_before_the_fold_and_part_in_it() {
        let gap = |walk| {
            let [first, second] = [0, 1].map(|own| rect(scene(2), walk, Sheet::Query(own)).expect("it is there"));
            second.left() - first.right()
        };
        assert!(gap(Step::Project.index() as f32).abs() < 1e-3);
        let half = gap(Step::Project.index() as f32 + 0.5);
        assert!(half > 10.0 && half < gap(Step::Score.index() as f32), "{half}");
        let mixes = [0, 1].map(|own| rect(scene(2), Step::Output.index() as f32, Sheet::Mix(own)).expect("joined"));
        assert!((mixes[1].left() - mixes[0].right()).abs() < 1e-3);
    }

    #[test]
    fn all_lies_within_the_area_and_nothing_over_another() {
        for heads in [1, 2, 3, 4, 8, 12] {
            let scene = scene(heads);
            for step in Step::ALL {
                let placed = scene.placed(step.index() as f32);
                assert!(!placed.is_empty());
                for (index, one) in placed.iter().enumerate() {
                    assert!(scene.area.expand(0.1).contains_rect(one.rect), "{heads} heads, {step:?}: {one:?}");
                    let over =
                        placed[..index].iter().find(|other| other.rect.shrink(0.1).intersects(one.rect.shrink(0.1)));
                    assert_eq!(over, None, "{heads} heads, {step:?}: over {one:?}");
                }
            }
        }
    }

    #[test]
    fn pictures_part_with_the_heads_and_come_together_with_them() {
        let scene = scene(2);
        let at = |own, step: Step| scene.picture(own, step.index() as f32);
        assert_eq!(at(0, Step::Project).1, 0.0);
        assert!(!at(0, Step::Mix).0.intersects(at(1, Step::Mix).0));
        assert_eq!(at(0, Step::Output), at(1, Step::Output));
    }
}
