//! Panels as sheets: for each panel, a function that turns the models of a snapshot and the viewer's choices into the
//! items of a sheet.
//!
//! A new panel needs a file here, a line in [`PANELS`], and a name in `core/lesson/schema/panels.rs`; the window, the
//! exports and the tables of the documentation then include it. The notebook and the stage are not sheets, because they
//! are pictures of their own.

mod all_heads;
pub mod answers;
pub mod attention;
mod axes;
mod head_tables;
pub mod intervene;
pub mod meaning;
mod over_texts;
pub mod step;
mod train;
mod variables;
mod weights;

use std::sync::Arc;

use attune_core::kernel::Snapshot;
use attune_core::lesson::panels::PanelName;
use attune_engine::messages::nearest;

use crate::sheet::{Chosen, Item, Sheet};
use crate::view_model::Models;
use crate::view_model::needs::needs;
use crate::view_model::training::waiting_words;

/// A function that returns the items of a panel; `None` if the kernel has not yet made what the panel shows.
pub type MakeItems = fn(&Models, &Chosen) -> Option<Vec<Item>>;

/// The panels that are sheets, in the order of the window.
pub const PANELS: &[(PanelName, MakeItems)] = &[
    (PanelName::Attention, attention::items),
    (PanelName::Step, step::items),
    (PanelName::Intervene, intervene::items),
    (PanelName::Meaning, meaning::items),
    (PanelName::Weights, weights::items),
    (PanelName::Train, train::items),
    (PanelName::Answers, answers::items),
    (PanelName::Variables, variables::items),
    (PanelName::AllHeads, all_heads::items),
    (PanelName::Axes, axes::items),
];

/// Returns the sheet of a panel, with a sentence if it has nothing to show; `None` if the kernel has not yet made what
/// the panel shows.
pub fn made(panel: PanelName, models: &Models, chosen: &Chosen) -> Option<Sheet> {
    let (_, make) = PANELS.iter().find(|(name, _)| *name == panel)?;
    if let Some(needs) = models.snapshot().and_then(|snapshot| needs(panel, snapshot)) {
        return Some(Sheet { title: panel.title(), items: vec![Item::soft(needs.words())] });
    }
    let mut items = make(models, chosen)?;
    if items.is_empty() {
        items.push(Item::soft("This panel has nothing to show for this lesson."));
    }
    Some(Sheet { title: panel.title(), items })
}

/// Returns the sheet of a panel. It is made once for a snapshot and the viewer's choices, and released with the models
/// of the snapshot.
pub fn made_once(panel: PanelName, models: &Models, chosen: &Chosen) -> Option<Arc<Sheet>> {
    models.once(&(panel, chosen.clone()), |_| made(panel, models, chosen))
}

/// Returns the sheet of a panel, with a sentence about what it waits for if it cannot be made yet.
pub fn sheet(panel: PanelName, models: &Models, chosen: &Chosen) -> Sheet {
    let waiting = || Item::soft(models.snapshot().map_or_else(String::new, |snapshot| waiting_words(snapshot)));
    made(panel, models, chosen).unwrap_or_else(|| Sheet { title: panel.title(), items: vec![waiting()] })
}

/// Returns the sheet of each panel as it is before the viewer has chosen anything; a panel that is named twice has one
/// sheet.
pub fn sheets(panels: &[PanelName], snapshot: &Snapshot) -> Vec<Sheet> {
    if panels.is_empty() {
        return Vec::new();
    }
    let models = Models::of(Arc::new(snapshot.clone()));
    let is_first = |(at, panel): &(usize, &PanelName)| !panels[..*at].contains(panel);
    let once = panels.iter().enumerate().filter(is_first);
    once.map(|(_, panel)| sheet(*panel, &models, &Chosen::default())).collect()
}

/// Returns the names on the command line of all panels that are sheets.
pub fn keys() -> Vec<String> {
    PANELS.iter().map(|(panel, _)| key(*panel)).collect()
}

/// Returns the name of a panel on the command line, such as `all-heads`.
pub fn key(panel: PanelName) -> String {
    panel.title().to_lowercase().replace(' ', "-")
}

/// Finds a panel by its name on the command line or by its title.
///
/// # Errors
/// A message if no panel that is a sheet has this name.
pub fn named(name: &str) -> Result<PanelName, String> {
    let keys = keys();
    let asked = name.trim().to_lowercase().replace([' ', '_'], "-");
    if let Some(at) = keys.iter().position(|key| *key == asked) {
        return Ok(PANELS[at].0);
    }
    let all = keys.join(", ");
    if PanelName::ALL.into_iter().any(|panel| key(panel) == asked) {
        return Err(format!("the panel {asked} is a picture of its own, and cannot be written; one of {all} can"));
    }
    let meant = nearest(&asked, keys.iter().map(String::as_str));
    let meant = meant.map_or(".".to_owned(), |meant| format!("; do you mean {meant}?"));
    Err(format!("there is no such panel{meant} The panels are {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_is_found_by_its_key_or_its_title() {
        for (panel, _) in PANELS.iter().copied() {
            assert_eq!(named(&key(panel)), Ok(panel));
            assert_eq!(named(panel.title()), Ok(panel));
        }
    }

    #[test]
    fn a_name_that_no_panel_has_is_answered_with_the_nearest_and_with_all() {
        let said = named("atention").unwrap_err();
        assert!(said.contains("do you mean attention? The panels are attention, step, "), "{said}");
        assert!(named("x").unwrap_err().starts_with("there is no such panel. The panels are attention, "));
        assert!(named("stage").unwrap_err().starts_with("the panel stage is a picture of its own"));
    }
}
