//! The places of the matrices in each step of the walk, and between two steps.

use attune_ui::theme::size;
use attune_ui::ui_state::walk::ease;
use attune_view::explain::walk::Step;
use attune_view::view_model::fold::{ProjectedRole, Sheet};
use egui::{Pos2, Rect, Vec2, pos2, vec2};

/// A matrix at its place, with its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    pub sheet: Sheet,
    pub rect: Rect,
    pub alpha: f32,
    /// Opacity of the words beside its rows; only whole matrices have room for them.
    pub words: f32,
}

/// The area of the panel, and the properties of the block that determine the layout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoldScene {
    pub area: Rect,
    pub heads: usize,
    pub has_output: bool,
    /// Whether queries, keys and values are products with matrices.
    pub is_projected: bool,
    /// Whether the input of each role is available.
    pub has_input: [bool; ProjectedRole::ALL.len()],
    /// Width of the words on the left of a whole matrix.
    pub words: f32,
}

/// A sign between the matrices of a step, which form an equation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sign {
    pub text: &'static str,
    pub center: Pos2,
    pub alpha: f32,
}

/// A small stage beside the matrices of a role, which shows their input or their result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoleStage {
    pub role: ProjectedRole,
    pub is_result: bool,
    pub rect: Rect,
    pub alpha: f32,
}

/// The parts of a role's row: the input, its matrix and the result.
struct RoleRow {
    input: Rect,
    weights: Rect,
    result: Rect,
    /// Small stages of input and result, if there is room.
    stages: Option<[Rect; 2]>,
}

/// Width of a sign between two matrices.
const SIGN: f32 = 16.0;
/// Least size of a small stage.
const STAGE_MIN: Vec2 = Vec2::new(64.0, 56.0);
/// Share of a row's height that its small stages take up.
const STAGE: f32 = 0.52;
/// Share of a head's cell that its matrices take up, above its picture.
const UPPER: f32 = 0.42;
/// Share of a picture's width that its points take up; the rest is for their names.
const BESIDE_NAMES: f32 = 0.7;
/// Height of the name above a matrix.
const NAME: f32 = 16.0;
/// Share of the area that the whole matrices of the last steps take up, above the joined picture.
const JOINT: f32 = 0.44;

impl FoldScene {
    /// Returns the matrices that are visible at `walk`, which is a whole number at each step.
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

    /// Returns the place of a head's picture, and its opacity from 0 to 1.
    pub fn picture(&self, own: usize, walk: f32) -> (Rect, f32) {
        let shown = Step::Score.share(walk);
        (lerp(self.lower(own), self.joint(), ease(self.joined(walk))), shown)
    }

    /// Returns the signs between the matrices, which fade in and out with their steps.
    pub fn signs(&self, walk: f32) -> Vec<Sign> {
        Step::ALL.into_iter().flat_map(|step| self.signs_at(step, presence(step, walk))).collect()
    }

    fn signs_at(&self, step: Step, alpha: f32) -> Vec<Sign> {
        if alpha <= 0.0 {
            return Vec::new();
        }
        let between = |text: &'static str, left: Rect, right: Rect| {
            let center = pos2((left.right() + right.left()) / 2.0, right.center().y);
            Sign { text, center, alpha }
        };
        let heads = 0..self.heads;
        match step {
            Step::Project if self.is_projected => {
                let rows = ProjectedRole::ALL.into_iter().map(|role| self.role_row(role));
                // Both signs are on the middle line of the input and the result, which may be lower than that of the
                // matrix between them.
                rows.flat_map(|row| {
                    let weights = Rect::from_x_y_ranges(row.weights.x_range(), row.result.y_range());
                    [between("×", row.input, weights), between("=", weights, row.result)]
                })
                .collect()
            }
            Step::Embed | Step::Project => Vec::new(),
            Step::Score | Step::Mix => heads
                .flat_map(|own| {
                    let [left, right, result] = if step == Step::Score { self.looking(own) } else { self.mixing(own) };
                    [between("×", left.1, right.1), between("=", right.1, result.1)]
                })
                .collect(),
            Step::Scale | Step::Softmax => heads
                .map(|own| {
                    let [before, after] = self.turning(own, step);
                    between("→", before.1, after.1)
                })
                .collect(),
            Step::Output if self.has_output => {
                let [left, right] = shares(self.upper_joint(), [1.0, 1.0], SIGN);
                vec![between("×", left, right)]
            }
            Step::Output => Vec::new(),
            Step::Contextual => {
                let [left, right] = self.joint_sides();
                vec![between("→", left, right)]
            }
        }
    }

    /// Returns the small stages of queries, keys and values.
    pub fn role_stages(&self, walk: f32) -> Vec<RoleStage> {
        let alpha = presence(Step::Project, walk);
        if alpha <= 0.0 || !self.is_projected {
            return Vec::new();
        }
        let stages = ProjectedRole::ALL.into_iter().filter_map(|role| Some((role, self.role_row(role).stages?)));
        stages
            .flat_map(|(role, [input, result])| {
                [(false, input), (true, result)].map(|(is_result, rect)| RoleStage { role, is_result, rect, alpha })
            })
            .collect()
    }

    fn role_row(&self, role: ProjectedRole) -> RoleRow {
        let height = self.area.height() / ProjectedRole::ALL.len() as f32;
        let top = self.area.top() + height * role as usize as f32;
        let row = Rect::from_x_y_ranges(self.area.x_range(), top..=top + height - size::GAP);
        let beside_words = row.with_min_x(row.left() + self.words);
        let [input, weights, result] = shares(beside_words, [1.0, 1.0, 1.0], SIGN);
        if !self.is_projected {
            return RoleRow { input, weights, result: named(beside_words), stages: None };
        }
        // The input's small stage also takes up the room for words on the left of the input.
        let high = row.height() * STAGE;
        let small = |part: Rect| part.with_max_y(part.top() + high);
        let stages = [small(input.with_min_x(row.left())), small(result)];
        let has_room = stages.iter().all(|stage| stage.width() >= STAGE_MIN.x && stage.height() >= STAGE_MIN.y);
        let under = |part: Rect| named(if has_room { part.with_min_y(part.top() + high) } else { part });
        RoleRow {
            input: under(input),
            weights: named(weights),
            result: under(result),
            stages: has_room.then_some(stages),
        }
    }

    /// Returns how far the heads have joined, from 0 to 1.
    pub fn joined(&self, walk: f32) -> f32 {
        Step::Output.share(walk)
    }

    /// Returns the place of a head's name and its opacity; it is visible only while the heads are separate.
    pub fn title(&self, own: usize, walk: f32) -> (Pos2, f32) {
        let shown = Step::Score.share(walk) - self.joined(walk);
        (self.cell(own).min, shown.clamp(0.0, 1.0))
    }

    fn at(&self, step: Step) -> Vec<(Sheet, Rect)> {
        let heads = 0..self.heads;
        match step {
            Step::Embed => vec![(Sheet::Input, self.whole(self.area))],
            Step::Project => {
                let sheets = ProjectedRole::ALL.into_iter().flat_map(|role| {
                    let row = self.role_row(role);
                    let of_roles = |own: usize| Sheet::RoleWeights(role, own);
                    let mut sheets = self.wide(row.result, |own| role.of_head(own));
                    if self.is_projected {
                        sheets.extend(self.wide(row.weights, of_roles));
                    }
                    if self.is_projected && self.has_input[role as usize] {
                        sheets.push((Sheet::Projected(role), row.input));
                    }
                    sheets
                });
                sheets.collect()
            }
            Step::Score => heads.flat_map(|own| self.looking(own)).collect(),
            Step::Scale | Step::Softmax => heads.flat_map(|own| self.turning(own, step)).collect(),
            Step::Mix => heads.flat_map(|own| self.mixing(own)).collect(),
            Step::Output => {
                let [left, right] = shares(self.upper_joint(), [1.0, 1.0], SIGN);
                let mut sheets =
                    self.wide(self.whole(if self.has_output { left } else { self.upper_joint() }), Sheet::Mix);
                if self.has_output {
                    let rows = split_down(right.with_min_y(right.top() + NAME), self.heads);
                    sheets.extend(rows.enumerate().map(|(own, row)| (Sheet::OutputWeights(own), row)));
                }
                sheets
            }
            Step::Contextual => {
                let [left, right] = self.joint_sides();
                vec![(Sheet::Input, left), (Sheet::Output, right)]
            }
        }
    }

    /// Returns the place of a whole matrix, leaving room for its name above and its words on the left.
    fn whole(&self, room: Rect) -> Rect {
        named(room.with_min_x(room.left() + self.words.min(room.width() / 2.0)))
    }

    /// Returns the places of `X` and `Y`, leaving room for words on the left of the first.
    fn joint_sides(&self) -> [Rect; 2] {
        shares(self.whole(self.upper_joint()), [1.0, 1.0], SIGN)
    }

    /// Returns the slices of all heads side by side, which form one matrix.
    fn wide(&self, rect: Rect, sheet: impl Fn(usize) -> Sheet) -> Vec<(Sheet, Rect)> {
        let width = rect.width() / self.heads as f32;
        let slice = |own: usize| {
            let left = rect.left() + width * own as f32;
            Rect::from_min_max(pos2(left, rect.top()), pos2(left + width, rect.bottom()))
        };
        (0..self.heads).map(|own| (sheet(own), slice(own))).collect()
    }

    /// Returns the cell of a head, in the arrangement in rows and columns that leaves most room for the points of the
    /// pictures.
    fn cell(&self, own: usize) -> Rect {
        let cells = |across: usize| self.area.size() / vec2(across as f32, self.heads.div_ceil(across) as f32);
        let picture = |across: usize| (cells(across) * vec2(BESIDE_NAMES, 1.0 - UPPER)).min_elem();
        let rooms = (1..=self.heads).map(|across| (across, picture(across)));
        let (across, _) = rooms.fold((1, 0.0), |best, one| if one.1 > best.1 { one } else { best });
        let cell = cells(across);
        let min = self.area.min + cell * vec2((own % across) as f32, (own / across) as f32);
        let gap = if across > 1 { size::GAP } else { 0.0 };
        Rect::from_min_size(min, (cell - vec2(gap, size::GAP)).max(Vec2::splat(1.0)))
    }

    /// Returns the room of a head's matrices, below its name.
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

    /// Returns the places of `Q × K = Q Kᵀ`.
    fn looking(&self, own: usize) -> [(Sheet, Rect); 3] {
        let [left, right, result] = shares(self.upper(own), [1.0, 1.0, 1.0], SIGN);
        [(Sheet::Query(own), left), (Sheet::Key(own), right), (Sheet::Product(own), result)]
    }

    /// Returns the places of the matrices before and after a step: products and scores if they are scaled, or else
    /// scores and weights.
    fn turning(&self, own: usize, step: Step) -> [(Sheet, Rect); 2] {
        let [left, right] = shares(self.upper(own), [1.0, 1.0], SIGN);
        if step == Step::Scale {
            [(Sheet::Product(own), left), (Sheet::Score(own), right)]
        } else {
            [(Sheet::Score(own), left), (Sheet::Weight(own), right)]
        }
    }

    /// Returns the places of `A × V = M`.
    fn mixing(&self, own: usize) -> [(Sheet, Rect); 3] {
        let [left, right, result] = shares(self.upper(own), [1.0, 1.0, 1.0], SIGN);
        [(Sheet::Weight(own), left), (Sheet::Value(own), right), (Sheet::Mix(own), result)]
    }
}

/// Returns the opacity of something that belongs to a single step, which is 0 halfway to the next step.
fn presence(step: Step, walk: f32) -> f32 {
    const FADE: f32 = 2.0;
    (1.0 - FADE * (walk - step.index() as f32).abs()).max(0.0)
}

/// Returns the place of a matrix, leaving room for its name above.
fn named(room: Rect) -> Rect {
    room.with_min_y(room.top() + NAME.min(room.height() / 2.0))
}

/// Returns whether the matrices of all heads form one matrix in a step.
fn is_whole(step: Step) -> bool {
    matches!(step, Step::Embed | Step::Project | Step::Output | Step::Contextual)
}

/// Returns the steps on both sides of `walk`, and how far it is from the first to the second.
fn between(walk: f32) -> (Step, Step, f32) {
    let last = Step::ALL.len() - 1;
    let before = (walk.max(0.0) as usize).min(last);
    (Step::ALL[before], Step::ALL[(before + 1).min(last)], walk.max(0.0) - before as f32)
}

fn lerp(from: Rect, to: Rect, share: f32) -> Rect {
    Rect::from_min_max(from.min.lerp(to.min, share), from.max.lerp(to.max, share))
}

/// Divides a row into parts beside each other, with gaps between them.
fn shares<const N: usize>(row: Rect, shares: [f32; N], gap: f32) -> [Rect; N] {
    let whole: f32 = shares.iter().sum();
    let room = (row.width() - gap * (N - 1) as f32).max(0.0);
    let mut left = row.left();
    shares.map(|share| {
        let width = room * share / whole;
        let part = Rect::from_min_max(pos2(left, row.top()), pos2(left + width, row.bottom()));
        left += width + gap;
        part
    })
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
    use crate::close::{Tolerance, assert_close, assert_close_beside};

    fn scene(heads: usize) -> FoldScene {
        FoldScene {
            area: Rect::from_min_size(pos2(10.0, 20.0), vec2(520.0, 480.0)),
            heads,
            has_output: true,
            is_projected: true,
            has_input: [true; 3],
            words: 60.0,
        }
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
        assert_close_beside(1.0, "a gap", gap(Step::Project.index() as f32), 0.0, Tolerance::SINGLE_NORMS);
        let half = gap(Step::Project.index() as f32 + 0.5);
        assert!(half > 10.0 && half < gap(Step::Score.index() as f32), "{half}");
        let mixes = [0, 1].map(|own| rect(scene(2), Step::Output.index() as f32, Sheet::Mix(own)).expect("joined"));
        assert_close("joined", mixes[1].left(), mixes[0].right(), Tolerance::SINGLE_PASS);
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
                let stages = scene.role_stages(step.index() as f32);
                assert_eq!(stages.len(), if step == Step::Project { 2 * ProjectedRole::ALL.len() } else { 0 });
                for stage in stages {
                    assert!(scene.area.expand(0.1).contains_rect(stage.rect));
                    assert!(!placed.iter().any(|one| one.rect.intersects(stage.rect)), "{stage:?}");
                }
                for sign in scene.signs(step.index() as f32) {
                    assert!(
                        !placed.iter().any(|one| one.rect.contains(sign.center)),
                        "{heads} heads, {step:?}: {sign:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_role_reads_as_an_equation_with_its_matrix_between() {
        for heads in [1, 2, 4] {
            let scene = scene(heads);
            let project = Step::Project.index() as f32;
            for role in ProjectedRole::ALL {
                let first = |sheet| rect(scene, project, sheet).expect("it is there");
                let (input, weights) = (first(Sheet::Projected(role)), first(Sheet::RoleWeights(role, 0)));
                let result = first(role.of_head(0));
                assert!(input.right() < weights.left() && weights.right() < result.left());
                assert!(input.y_range() == result.y_range() && weights.bottom() == result.bottom());
            }
            let signs: Vec<&str> = scene.signs(project).iter().map(|sign| sign.text).collect();
            assert_eq!(signs, ["×", "=", "×", "=", "×", "="]);
        }
    }

    #[test]
    fn four_heads_lie_two_by_two_in_a_narrow_panel() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(230.0, 400.0));
        let scene = FoldScene { area, ..scene(4) };
        let at = |own| scene.picture(own, Step::Mix.index() as f32).0;
        assert!(at(0).right() <= at(1).left() && at(0).bottom() <= at(2).top() && at(1).left() == at(3).left());
        assert!(at(0).width() > 100.0 && at(0).height() > 90.0);
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
