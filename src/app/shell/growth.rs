//! The workspace grows with the lesson: a panel appears when the learner reaches the cell that opens it, with a notice.

use std::sync::Arc;
use std::time::Duration;

use attune_core::lesson::Lesson;
use attune_core::lesson::cells::Cell;
use attune_view::view_model::saved_view::SavedView;
use egui::{Context, RichText};

use super::dock::Workspace;
use super::note::{NotePlace, passing_ui};
use super::places::Places;
use crate::app::panels::{PanelId, PanelName, Reached};
use crate::app::theme::Palette;
use crate::app::widgets::note::Showing;

/// How far the workspace has grown with the lesson.
#[derive(Default)]
pub struct Growth {
    /// The lesson whose first panels are open.
    begun: Option<Arc<Lesson>>,
    /// The notice of what has appeared, and when it came.
    notice: Option<(String, Showing)>,
    /// Nothing appears any more: it is a picture.
    is_still: bool,
}

impl Workspace {
    /// Opens the panels that a lesson has from the start, once.
    pub(super) fn begin(&mut self, lesson: &Arc<Lesson>) {
        if self.growth.begun.as_ref().is_some_and(|begun| Arc::ptr_eq(begun, lesson)) {
            return;
        }
        self.growth.begun = Some(lesson.clone());
        for panel in &lesson.panels {
            if self.places.revealed.insert(*panel) {
                self.places.open(PanelId::of(*panel));
            }
        }
        self.places.settle();
    }

    /// Opens what the learner's way to a cell opens: each panel once, so that one that was closed stays closed. Those
    /// of a cell that is used come to the front; those of a prediction come with its answer.
    pub fn reach(&mut self, lesson: &Lesson, reached: &Reached) {
        if self.growth.is_still {
            return;
        }
        let Some(place) = lesson.cells.iter().position(|cell| *cell.id == *reached.cell) else { return };
        let mut appeared = Vec::new();
        let is_told = |cell: &&Cell| !reached.unanswered.iter().any(|id| **id == *cell.id);
        for cell in lesson.cells[..=place].iter().filter(is_told) {
            for panel in &cell.opens {
                let id = PanelId::of(*panel);
                if !self.places.revealed.insert(*panel) || self.places.is_open(id) {
                    continue;
                }
                appeared.push(*panel);
                // Nothing hides the cell itself.
                let is_beside = self.places.has_side();
                if is_beside && reached.is_used && cell.id == *reached.cell {
                    self.places.show(id);
                } else {
                    self.places.open(id);
                }
            }
        }
        if let Some(said) = said(&appeared) {
            self.growth.notice = Some((said, Showing::begin()));
        }
    }

    /// The workspace of a picture: as it is at the start of a lesson, or when the learner has come to a cell.
    pub fn hold_still(&mut self, lesson: &Arc<Lesson>, cell: Option<&str>) {
        self.begin(lesson);
        if let Some(cell) = cell {
            self.reach(lesson, &Reached { cell: cell.into(), is_used: false, unanswered: Vec::new() });
        }
        (self.growth.notice, self.growth.is_still) = (None, true);
        self.places.settle();
    }

    /// Lays the panels as they lay, with those that had appeared; or as at the start of the lesson.
    pub(super) fn restore_places(&mut self, saved: &SavedView) {
        self.growth = Growth::default();
        let known = self.places.known();
        self.places = Places::new(known);
        let named = |titles: &[String]| titles.iter().filter_map(|title| PanelName::named(title)).collect();
        if let Some(layout) = &saved.layout {
            self.places.lay_out(layout, saved.is_laid_out_by_hand || saved.revealed.is_none());
        }
        self.places.revealed = match &saved.revealed {
            Some(revealed) => named(revealed),
            // What lay there before panels could be closed had appeared.
            None if saved.layout.is_some() => PanelName::ALL.into_iter().collect(),
            None => named(&[]),
        };
    }
}

/// Panels that have appeared, and what they are for.
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

/// The notice of what has appeared.
pub(super) fn opened_ui(ctx: &Context, growth: &mut Growth) {
    const SHOWN: Duration = Duration::from_secs(6);
    let Some((said, showing)) = &mut growth.notice else { return };
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let words = RichText::new(&*said).color(palette.ink);
    let hint = "Hide this; the menu Lab opens and closes panels";
    if !passing_ui(ctx, NotePlace::Opened, (words, hint), showing, SHOWN) {
        growth.notice = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_core::lesson::parse;

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
        workspace.places.panels().filter(|(_, is_open)| *is_open).map(|(panel, _)| panel.title()).collect()
    }

    fn read(cell: &str) -> Reached {
        Reached { cell: cell.into(), is_used: false, unanswered: Vec::new() }
    }

    #[test]
    fn panels_appear_on_the_way_and_stay_until_they_are_closed() {
        let lesson = lesson(&[opens("a", ""), opens("b", "\"Weights\""), opens("c", "\"Train\", \"Step\"")].concat());
        let mut workspace = Workspace::default();
        assert_eq!(open(&workspace), ["Notebook", "Stage"]);
        workspace.begin(&lesson);
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention"]);
        workspace.reach(&lesson, &read("a"));
        assert!(workspace.growth.notice.is_none());
        workspace.reach(&lesson, &read("b"));
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights"]);
        let said = workspace.growth.notice.as_ref().map(|(said, _)| said.as_str());
        assert_eq!(said, Some("Weights opened: every weight of the model, to be changed."));
        let attention = PanelId::of(PanelName::Attention);
        assert!(workspace.places.is_in_front(attention), "what appears does not hide what is looked at");
        // A panel that the learner closed does not come back by itself.
        workspace.places.close(PanelId::of(PanelName::Weights));
        workspace.reach(&lesson, &read("b"));
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention"]);
        workspace.reach(&lesson, &Reached { is_used: true, ..read("c") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Step", "Train"]);
        assert!(!workspace.places.is_in_front(attention), "a cell that is used has its panel in front");
        workspace.reach(&lesson, &read("nobody"));
    }

    #[test]
    fn in_a_narrow_window_what_a_used_cell_opens_does_not_hide_the_cell() {
        let lesson = lesson(&opens("a", "\"Weights\""));
        let mut workspace = Workspace::default();
        workspace.places.follow(egui::vec2(900.0, 556.0));
        workspace.begin(&lesson);
        workspace.reach(&lesson, &Reached { is_used: true, ..read("a") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights"]);
        assert!(workspace.places.is_in_front(PanelId::of(PanelName::Notebook)));
        assert!(workspace.places.unseen.contains("Weights"));
    }

    #[test]
    fn a_leap_opens_all_that_lies_on_the_way() {
        let lesson = lesson(&[opens("a", "\"Weights\""), opens("b", "\"Train\""), opens("c", "")].concat());
        let mut workspace = Workspace::default();
        workspace.begin(&lesson);
        workspace.reach(&lesson, &read("c"));
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights", "Train"]);
        let said = workspace.growth.notice.as_ref().map(|(said, _)| said.as_str());
        assert_eq!(said, Some("Weights and Train opened."));
    }

    #[test]
    fn the_panels_of_a_prediction_come_with_its_answer() {
        let guess = r#"Predict(id: "guess", ask: "?", choices: ["a", "b"], answer: "0", opens: ["Answers"]),"#;
        let lesson = lesson(&[guess, &opens("below", "\"Weights\"")].concat());
        let mut workspace = Workspace::default();
        workspace.begin(&lesson);
        let unanswered = vec!["guess".into()];
        workspace.reach(&lesson, &Reached { unanswered: unanswered.clone(), ..read("guess") });
        workspace.reach(&lesson, &Reached { unanswered, ..read("below") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights"]);
        workspace.reach(&lesson, &Reached { is_used: true, ..read("guess") });
        assert_eq!(open(&workspace), ["Notebook", "Stage", "Attention", "Weights", "Answers"]);
    }

    #[test]
    fn what_has_appeared_is_kept_and_a_reset_closes_it() {
        let lesson = lesson(&opens("a", "\"Weights\""));
        let mut workspace = Workspace::default();
        let mut view = crate::app::view::ViewState::default();
        workspace.begin(&lesson);
        workspace.reach(&lesson, &read("a"));
        workspace.places.close(PanelId::of(PanelName::Attention));
        let kept = workspace.saved(&view);
        let mut again = Workspace::default();
        again.restore(&kept, &mut view);
        again.begin(&lesson);
        assert_eq!(open(&again), ["Notebook", "Stage", "Weights"]);
        assert_eq!(again.saved(&view), kept);
        again.restore(&SavedView::default(), &mut view);
        again.begin(&lesson);
        assert_eq!(open(&again), ["Notebook", "Stage", "Attention"]);
    }
}
