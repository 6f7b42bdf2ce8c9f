//! The panels of the window by the names that a lesson may write, for cells that open them and links that lead to them.

use std::collections::HashSet;

use attune_engine::nearest::nearest;

use super::check::one_of_names;
use super::decode::{list, text};
use super::issue::shorten;
use super::source::Node;

/// A panel of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PanelName {
    Notebook,
    Stage,
    Attention,
    Step,
    Intervene,
    Meaning,
    Weights,
    Train,
    Answers,
    Variables,
    AllHeads,
    Axes,
}

/// Titles that panels had before several became one; of each panel, the one first whose place it takes.
const FORMER: &[(&str, PanelName)] = &[
    ("Arithmetic", PanelName::Step),
    ("Fold", PanelName::Step),
    ("Heads", PanelName::Intervene),
    ("What if", PanelName::Intervene),
    ("Neighbours", PanelName::Meaning),
    ("Compare", PanelName::Meaning),
    ("Training", PanelName::Train),
    ("Retrain", PanelName::Train),
];

impl PanelName {
    /// In the order of the window.
    pub const ALL: [Self; 12] = [
        Self::Notebook,
        Self::Stage,
        Self::Attention,
        Self::Step,
        Self::Intervene,
        Self::Meaning,
        Self::Weights,
        Self::Train,
        Self::Answers,
        Self::Variables,
        Self::AllHeads,
        Self::Axes,
    ];

    /// The title of its tab, and its name in a lesson.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Notebook => "Notebook",
            Self::Stage => "Stage",
            Self::Attention => "Attention",
            Self::Step => "Step",
            Self::Intervene => "Intervene",
            Self::Meaning => "Meaning",
            Self::Weights => "Weights",
            Self::Train => "Train",
            Self::Answers => "Answers",
            Self::Variables => "Variables",
            Self::AllHeads => "All heads",
            Self::Axes => "Axes",
        }
    }

    /// Contents of the panel, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Notebook => "The lesson, cell by cell",
            Self::Stage => "Every word as a point, before attention and after it",
            Self::Attention => "The attention weights of each head, as a map or as lines",
            Self::Step => "The current step of the walk, worked through in numbers or as matrices",
            Self::Intervene => "What each head adds; switch heads off, change the temperature or the mask",
            Self::Meaning => "The words near a word, and the same word in other sentences",
            Self::Weights => "Every weight of the model, to be changed",
            Self::Train => "Training step by step, and sliders that train the lesson again",
            Self::Answers => "What the model answers, and how it goes on writing",
            Self::Variables => "Every tensor and variable with its numbers",
            Self::AllHeads => "Every head of every layer as a small map, sorted by what it looks at",
            Self::Axes => "What the axes of the stage mean, and axes of your own",
        }
    }

    /// The notebook and the stage, which cannot be closed, so that no lesson has to open them.
    pub const fn is_always_open(self) -> bool {
        matches!(self, Self::Notebook | Self::Stage)
    }

    /// The panel with this title, as a lesson or a link writes it.
    pub fn named(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|panel| panel.title() == title)
    }

    /// The titles of the panels that this one has replaced.
    pub fn former_titles(self) -> Vec<&'static str> {
        FORMER.iter().filter(|(_, panel)| *panel == self).map(|(former, _)| *former).collect()
    }

    /// The panel with this title, now or formerly.
    pub fn now_or_formerly(title: &str) -> Option<Self> {
        let former = || FORMER.iter().find(|(former, _)| *former == title).map(|(_, panel)| *panel);
        Self::named(title).or_else(former)
    }

    /// The panel that is most likely meant by a title that none has.
    pub fn nearest(title: &str) -> Option<Self> {
        let titles = Self::ALL.map(Self::title).into_iter().chain(FORMER.iter().map(|(former, _)| *former));
        nearest(title, titles).and_then(Self::now_or_formerly)
    }
}

/// Reads the panels that a lesson or a cell opens.
pub(super) fn read_panels(node: Node<'_>) -> Option<Vec<PanelName>> {
    let mut read = HashSet::new();
    list(node, PanelName::ALL.len(), |node| {
        let panel = read_panel(node)?;
        if !read.insert(panel) {
            return node.field_issue(format!("\"{}\" appears twice", panel.title())).none();
        }
        Some(panel)
    })
}

fn read_panel(node: Node<'_>) -> Option<PanelName> {
    let title = text(node)?;
    let opens: Vec<String> = PanelName::ALL
        .into_iter()
        .filter(|panel| !panel.is_always_open())
        .map(|panel| panel.title().to_owned())
        .collect();
    match PanelName::named(&title) {
        Some(panel) if panel.is_always_open() => {
            node.field_issue(format!("\"{title}\" is always open")).expected(one_of_names(&opens, "")).none()
        }
        Some(panel) => Some(panel),
        None => {
            let meant = PanelName::nearest(&title).filter(|panel| !panel.is_always_open());
            node.field_issue(format!("unknown panel \"{}\"", shorten(&title)))
                .expected(one_of_names(&opens, ""))
                .meant(meant.map(PanelName::title))
                .none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_former_title_leads_to_the_panel_that_has_its_content() {
        for (former, panel) in FORMER {
            assert_eq!(PanelName::named(former), None, "{former} is a title again");
            assert_eq!(PanelName::now_or_formerly(former), Some(*panel));
        }
        for panel in PanelName::ALL {
            assert_eq!(PanelName::now_or_formerly(panel.title()), Some(panel));
        }
        assert_eq!(PanelName::nearest("Weight"), Some(PanelName::Weights));
        assert_eq!(PanelName::nearest("Arithmetics"), Some(PanelName::Step));
        assert_eq!(PanelName::nearest("Kitchen sink"), None);
    }
}
