//! Where the panels lie until the learner moves one: the notebook, the stage, and the others as tabs at their side, in
//! one column, or in two rows of it where the window is high.

use egui::Vec2;

use crate::app::panels::{PanelId, Region};
use crate::app::saved_view::Layout;
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

/// Width of the notebook in a window of this width.
pub fn notebook_width(room: f32) -> f32 {
    width(room, size::NOTEBOOK_SHARE, size::NOTEBOOK)
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
        for (x, y) in [(800.0, 480.0), (900.0, 600.0), (1280.0, 720.0), (2048.0, 1152.0)] {
            let room = Vec2::new(x, y);
            let (few, all) = (arranged(&[NOTEBOOK, STAGE], &[], room), arranged(&[NOTEBOOK, STAGE, UPPER], &[], room));
            let (share, notebook) = (split(&few).1, split(&few).2);
            assert_eq!((split(&all).1, split(&all).2), (share, notebook));
            assert_eq!(*notebook, tabs(&["Notebook"], 0));
            let width = share * x;
            assert!((size::NOTEBOOK.0..=size::NOTEBOOK.1).contains(&width), "{width} of {x}");
            let (is_beside, stage, _, side) = split(split(&all).3);
            assert!(is_beside && *side == tabs(&["Upper"], 0));
            let (stage, side) = (stage * (x - width), (1.0 - stage) * (x - width));
            assert!(stage >= side - 0.5 && side >= 240.0, "stage {stage}, side {side} of {x}");
        }
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
