//! The panels' arrangement until the learner moves one: the notebook, the stage, and the others as tabs at their side,
//! in one column, or in two rows of it where the window is high. In a narrow window they share the notebook's column,
//! so that both they and the stage have room.

use attune_view::view_model::saved_view::Layout;
use egui::Vec2;

use crate::app::panels::{PanelId, Region};
use crate::app::theme::size;

/// Layout of the open panels in a window of this room. Of those that share a place, the last of `fronts` is in front.
///
/// The notebook is as wide whatever else is open, so that its text stays where it is when a panel comes or goes.
pub fn arranged(open: &[(PanelId, Region)], fronts: &[PanelId], room: Vec2) -> Layout {
    let of = |regions: &[Region]| -> Vec<PanelId> {
        open.iter().filter(|(_, region)| regions.contains(region)).map(|(panel, _)| *panel).collect()
    };
    let tabs = |panels: Vec<PanelId>| {
        let front = fronts.iter().rev().find_map(|front| panels.iter().position(|panel| panel == front)).unwrap_or(0);
        Layout::Tabs { panels: panels.iter().map(|panel| panel.title().to_owned()).collect(), front }
    };
    let beside = |share: f32, first: Layout, second: Layout| Layout::Split {
        is_beside: true,
        share,
        parts: Box::new((first, second)),
    };
    let notebook = notebook_width(room.x);
    let rest = room.x - notebook;
    if !has_side(room.x) {
        let column = of(&[Region::Left]).into_iter().chain(of(&[Region::UpperRight, Region::LowerRight])).collect();
        return beside(notebook / room.x.max(1.0), tabs(column), tabs(of(&[Region::Middle])));
    }
    let [upper, lower] = [of(&[Region::UpperRight]), of(&[Region::LowerRight])];
    let stage = tabs(of(&[Region::Middle]));
    let side = match (upper.is_empty(), lower.is_empty()) {
        (true, true) => None,
        (false, false) if room.y >= size::SIDE_ROWS_FROM => Some(Layout::Split {
            is_beside: false,
            share: size::SIDE_SPLIT,
            parts: Box::new((tabs(upper), tabs(lower))),
        }),
        _ => Some(tabs(of(&[Region::UpperRight, Region::LowerRight]))),
    };
    let stage_and_side = match side {
        Some(side) => beside(1.0 - side_share(rest), stage, side),
        None => stage,
    };
    beside(notebook / room.x.max(1.0), tabs(of(&[Region::Left])), stage_and_side)
}

/// A window of this width has room for panels at the side of notebook and stage.
pub fn has_side(room: f32) -> bool {
    room >= size::SIDE_FROM
}

/// Width of the notebook in a window of this width.
pub fn notebook_width(room: f32) -> f32 {
    let share = if has_side(room) { size::NOTEBOOK_SHARE } else { size::NOTEBOOK_SHARE_NARROW };
    width(room, share, size::NOTEBOOK)
}

/// Share of the column of panels of what the notebook leaves.
pub fn side_share(rest: f32) -> f32 {
    width(rest, size::SIDE_SHARE, size::SIDE) / rest.max(1.0)
}

/// A share of a width within bounds, and never more than half.
fn width(of: f32, share: f32, (least, most): (f32, f32)) -> f32 {
    (of * share).clamp(least, most).min(of / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: (PanelId, Region) = (PanelId("Notebook"), Region::Left);
    const STAGE: (PanelId, Region) = (PanelId("Stage"), Region::Middle);
    const UPPER: (PanelId, Region) = (PanelId("Upper"), Region::UpperRight);
    const LOWER: (PanelId, Region) = (PanelId("Lower"), Region::LowerRight);

    /// `(is_beside, share, first, second)`
    fn split(layout: &Layout) -> (bool, f32, &Layout, &Layout) {
        let Layout::Split { is_beside, share, parts } = layout else { panic!("no split: {layout:?}") };
        (*is_beside, *share, &parts.0, &parts.1)
    }

    fn tabs(panels: &[&str], front: usize) -> Layout {
        Layout::Tabs { panels: panels.iter().map(|title| (*title).to_owned()).collect(), front }
    }

    #[test]
    fn the_notebook_is_as_wide_whatever_else_is_open() {
        for (x, y) in
            [(800.0, 480.0), (900.0, 600.0), (1049.0, 600.0), (1050.0, 600.0), (1280.0, 720.0), (2048.0, 1152.0)]
        {
            let room = Vec2::new(x, y);
            let (few, all) = (arranged(&[NOTEBOOK, STAGE], &[], room), arranged(&[NOTEBOOK, STAGE, UPPER], &[], room));
            let (share, notebook) = (split(&few).1, split(&few).2);
            assert_eq!((split(&all).1, notebook), (share, &tabs(&["Notebook"], 0)));
            let width = share * x;
            assert!((size::NOTEBOOK.0..=size::NOTEBOOK.1).contains(&width), "{width} of {x}");
            let side = match split(&all) {
                (_, _, Layout::Tabs { panels, .. }, Layout::Tabs { .. }) => {
                    assert!(panels.len() == 2 && x < size::SIDE_FROM, "two columns of {x}");
                    width
                }
                (_, _, left, right) => {
                    let (is_beside, stage, _, side) = split(right);
                    assert!(left == notebook && is_beside && *side == tabs(&["Upper"], 0));
                    (1.0 - stage) * (x - width)
                }
            };
            let stage = x - width - if x < size::SIDE_FROM { 0.0 } else { side };
            assert!(stage >= side - 0.5 && side >= 300.0 && stage >= 380.0, "stage {stage}, side {side} of {x}");
        }
    }

    #[test]
    fn in_a_narrow_window_panels_share_the_notebook_s_column() {
        let open = [NOTEBOOK, STAGE, UPPER, LOWER];
        let column = |fronts: &[PanelId]| split(&arranged(&open, fronts, Vec2::new(900.0, 600.0))).2.clone();
        assert_eq!(column(&[]), tabs(&["Notebook", "Upper", "Lower"], 0), "the text stays in front");
        assert_eq!(column(&[NOTEBOOK.0, LOWER.0]), tabs(&["Notebook", "Upper", "Lower"], 2));
    }

    #[test]
    fn a_low_window_has_one_column_of_tabs_and_a_high_one_two_rows() {
        let open = [NOTEBOOK, STAGE, UPPER, LOWER];
        let side = |y, fronts: &[PanelId]| split(split(&arranged(&open, fronts, Vec2::new(1280.0, y))).3).3.clone();
        assert_eq!(side(720.0, &[]), tabs(&["Upper", "Lower"], 0));
        assert_eq!(side(720.0, &[UPPER.0, LOWER.0]), tabs(&["Upper", "Lower"], 1));
        let high = side(1152.0, &[LOWER.0]);
        let (is_beside, _, upper, lower) = split(&high);
        assert!(!is_beside && *upper == tabs(&["Upper"], 0) && *lower == tabs(&["Lower"], 0));
    }
}
