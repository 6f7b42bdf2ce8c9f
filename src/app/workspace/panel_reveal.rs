//! Panels that appear with the lesson: a panel opens when the learner reaches the cell that uses it, and a notice says
//! so.

use std::sync::Arc;
use std::time::Duration;

use attune_core::lesson::Lesson;
use attune_core::lesson::cells::Cell;
use egui::{Context, RichText};

use super::notices::{NotePlace, passing_ui};
use super::open_panels::OpenPanels;
use crate::app::actions::ReachedCell;
use crate::app::panels::{PanelId, PanelName};
use crate::app::theme::Palette;
use crate::app::widgets::popup::Showing;

/// The state of opening panels as the learner reaches the cells that use them.
#[derive(Default)]
pub struct PanelReveal {
    /// The lesson whose initial panels were opened.
    begun: Option<Arc<Lesson>>,
    /// The notice of new panels, and the time at which it appeared.
    notice: Option<(String, Showing)>,
    /// Whether no more panels appear, as in a picture.
    is_still: bool,
}

impl PanelReveal {
    /// Opens the panels that a lesson has from the start, once.
    pub fn begin(&mut self, panels: &mut OpenPanels, lesson: &Arc<Lesson>) {
        if self.begun.as_ref().is_some_and(|begun| Arc::ptr_eq(begun, lesson)) {
            return;
        }
        self.begun = Some(lesson.clone());
        for panel in &lesson.panels {
            if panels.revealed.insert(*panel) {
                panels.open(PanelId::of(*panel));
            }
        }
        panels.settle();
    }

    /// Opens the panels of a cell that the learner has reached, each only once, so that a closed one stays closed. The
    /// panels of a cell that was used come to the front; those of a prediction open with its answer.
    pub fn reach(&mut self, panels: &mut OpenPanels, lesson: &Lesson, reached: &ReachedCell) {
        if self.is_still {
            return;
        }
        let Some(place) = lesson.cells.iter().position(|cell| *cell.id == *reached.cell) else { return };
        let mut appeared = Vec::new();
        let is_told = |cell: &&Cell| !reached.unanswered.iter().any(|id| **id == *cell.id);
        for cell in lesson.cells[..=place].iter().filter(is_told) {
            for panel in &cell.opens {
                let id = PanelId::of(*panel);
                if !panels.revealed.insert(*panel) || panels.is_open(id) {
                    continue;
                }
                appeared.push(*panel);
                // The panels must not cover the cell itself.
                let is_beside = panels.has_side();
                if is_beside && reached.is_used && cell.id == *reached.cell {
                    panels.show(id);
                } else {
                    panels.open(id);
                }
            }
        }
        if let Some(said) = said(&appeared) {
            self.notice = Some((said, Showing::begin()));
        }
    }

    /// Sets the panels of a picture: those that are open at the start of a lesson or, with `cell`, when the learner has
    /// reached that cell.
    pub fn freeze(&mut self, panels: &mut OpenPanels, lesson: &Arc<Lesson>, cell: Option<&str>) {
        self.begin(panels, lesson);
        if let Some(cell) = cell {
            self.reach(panels, lesson, &ReachedCell { cell: cell.into(), is_used: false, unanswered: Vec::new() });
        }
        (self.notice, self.is_still) = (None, true);
        panels.settle();
    }
}

/// Describes new panels and their purpose.
fn said(appeared: &[PanelName]) -> Option<String> {
    match appeared {
        [] => None,
        [one] => {
            let mut about = one.about().to_owned();
            if let Some(first) = about.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            Some(format!("{} opened: {about}.", one.title()))
        }
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(|panel| panel.title()).collect();
            Some(format!("{} and {} opened.", most.join(", "), last.title()))
        }
    }
}

/// Shows the notice of new panels.
pub(super) fn opened_ui(ctx: &Context, reveal: &mut PanelReveal) {
    const SHOWN: Duration = Duration::from_secs(6);
    let Some((said, showing)) = &mut reveal.notice else { return };
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let words = RichText::new(&*said).color(palette.ink);
    let hint = "Hides this. You can open and close panels in the Lab menu";
    if !passing_ui(ctx, NotePlace::Opened, words, hint, showing, SHOWN) {
        reveal.notice = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ui_state::Highlight;
    use crate::app::workspace::Workspace;
    use attune_core::lesson::parse;
    use attune_view::view_model::features::Feature;
    use attune_view::view_model::saved_view::SavedView;

    const SMALL: &str = include_str!("../../../tests/fixtures/small.ron");

    fn lesson(cells: &str) -> Arc<Lesson> {
        let (head, _) = SMALL.split_once("cells: [").expect("cells");
        let text = format!("{head}panels: [\"Attention\"], cells: [{cells}])");
        Arc::new(parse("small.ron", &text).unwrap_or_else(|issues| panic!("{issues:#?}")))
    }

    fn opens(id: &str, panels: &str) -> String {
        format!("Text(id: \"{id}\", md: \"text\", opens: [{panels}]),")
    }

    fn open(workspace: &Workspace) -> Vec<&'static str> {
        workspace.open_panels.panels().filter(|(_, is_open)| *is_open).map(|(panel, _)| panel.title()).collect()
    }

    fn read(cell: &str) -> ReachedCell {
        ReachedCell { cell: cell.into(), is_used: false, unanswered: Vec::new() }
    }

    #[test]
    fn panels_appear_on_the_way_and_stay_until_they_are_closed() {
        let lesson = lesson(&[opens("a", ""), opens("b", "\"Weights\""), opens("c", "\"Train\", \"Step\"")].concat());
        let mut workspace = Workspace::default();
        assert_eq!(open(&workspace), ["Notebook", "Stage"]);
        workspace.begin(&lesson);
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention"]);
        workspace.reach(&lesson, &read("a"));
        assert!(workspace.reveal.notice.is_none());
        workspace.reach(&lesson, &read("b"));
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights"]);
        let said = workspace.reveal.notice.as_ref().map(|(said, _)| said.as_str());
        assert_eq!(said, Some("Weights opened: every weight of the model, with controls to change it."));
        let attention = PanelId::of(PanelName::Attention);
        assert!(workspace.open_panels.is_in_front(attention), "what appears does not hide what is looked at");
        // A panel that the learner closed does not come back by itself.
        workspace.open_panels.close(PanelId::of(PanelName::Weights));
        workspace.reach(&lesson, &read("b"));
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention"]);
        workspace.reach(&lesson, &ReachedCell { is_used: true, ..read("c") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Step", "Train"]);
        assert!(!workspace.open_panels.is_in_front(attention), "a cell that is used has its panel in front");
        workspace.reach(&lesson, &read("nobody"));
    }

    #[test]
    fn in_a_narrow_window_what_a_used_cell_opens_does_not_hide_the_cell() {
        let lesson = lesson(&opens("a", "\"Weights\""));
        let mut workspace = Workspace::default();
        workspace.open_panels.follow(egui::vec2(900.0, 556.0));
        workspace.begin(&lesson);
        workspace.reach(&lesson, &ReachedCell { is_used: true, ..read("a") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights"]);
        assert!(workspace.open_panels.is_in_front(PanelId::of(PanelName::Notebook)));
        assert!(workspace.open_panels.unseen.contains("Weights"));
    }

    #[test]
    fn a_leap_opens_all_that_lies_on_the_way() {
        let lesson = lesson(&[opens("a", "\"Weights\""), opens("b", "\"Train\""), opens("c", "")].concat());
        let mut workspace = Workspace::default();
        workspace.begin(&lesson);
        workspace.reach(&lesson, &read("c"));
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights", "Train"]);
        let said = workspace.reveal.notice.as_ref().map(|(said, _)| said.as_str());
        assert_eq!(said, Some("Weights and Train opened."));
    }

    #[test]
    fn the_panels_of_a_prediction_come_with_its_answer() {
        let guess = r#"Predict(id: "guess", ask: "?", choices: ["a", "b"], answer: "0", opens: ["Answers"]),"#;
        let lesson = lesson(&[guess, &opens("below", "\"Weights\"")].concat());
        let mut workspace = Workspace::default();
        workspace.begin(&lesson);
        let unanswered = vec!["guess".into()];
        workspace.reach(&lesson, &ReachedCell { unanswered: unanswered.clone(), ..read("guess") });
        workspace.reach(&lesson, &ReachedCell { unanswered, ..read("below") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights"]);
        workspace.reach(&lesson, &ReachedCell { is_used: true, ..read("guess") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights", "Answers"]);
    }

    #[test]
    fn what_has_appeared_is_kept_and_a_reset_closes_it() {
        let lesson = lesson(&opens("a", "\"Weights\""));
        let mut workspace = Workspace::default();
        let mut view = crate::app::ui_state::ViewState::default();
        workspace.begin(&lesson);
        workspace.reach(&lesson, &read("a"));
        workspace.open_panels.close(PanelId::of(PanelName::Attention));
        view.highlight.color_by = Some(Feature::Column("part".to_owned()));
        view.highlight.size_by = Some(Feature::Rank);
        let kept = workspace.saved(&view);
        let written = serde_json::to_string(&kept).expect("JSON");
        let (kept, mut again) = (serde_json::from_str(&written).expect("the same"), Workspace::default());
        view.highlight = Highlight::default();
        again.restore(&kept, &mut view);
        again.begin(&lesson);
        assert_eq!(open(&again), ["Notebook", "Stage", "Weights"]);
        assert_eq!(again.saved(&view), kept);
        again.restore(&SavedView::default(), &mut view);
        again.begin(&lesson);
        assert_eq!(open(&again), ["Notebook", "Stage", "Attention"]);
    }
}
