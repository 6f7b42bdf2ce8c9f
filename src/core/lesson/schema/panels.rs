//! The panels of the window, by their names in lessons and links.

use attune_engine::messages::nearest;

/// Content of a panel that a recording may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The lesson, or whatever was recorded.
    Any,
    /// The vectors between the layers.
    States,
    Attention,
    /// Queries and keys.
    Scores,
    Logits,
    /// The model itself, which no recording has.
    Model,
}

/// Declares the panels in the order of the window, each with the title of its tab (also its name in lessons), its
/// content, and a short description.
macro_rules! panels {
    ($($name:ident = $title:literal, $content:ident, $about:literal;)*) => {
        /// A panel of the window.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum PanelName {
            $($name,)*
        }

        impl PanelName {
            /// All panels, in the order of the window.
            pub const ALL: [Self; [$($title),*].len()] = [$(Self::$name),*];

            /// Returns the title of the tab, which is the name in a lesson.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)*
                }
            }

            pub const fn content(self) -> Content {
                match self {
                    $(Self::$name => Content::$content,)*
                }
            }

            /// Returns the contents of the panel in a few words.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }
        }
    };
}

panels! {
    Notebook = "Notebook", Any, "The lesson, cell by cell";
    Stage = "Stage", States, "Every word as a point, before attention and after it";
    Attention = "Attention", Attention, "The attention weights of each head, as a map or as lines";
    Step = "Step", Scores, "The current step of the walk, worked through in numbers or as matrices";
    Intervene = "Intervene", Model, "What each head adds; switch heads off, change the temperature or the mask";
    Meaning = "Meaning", States, "The words near a word, and the same word in other sentences";
    Weights = "Weights", Model, "Every weight of the model, with controls to change it";
    Train = "Train", Model, "Training step by step, and sliders that retrain the lesson's models";
    Answers = "Answers", Logits, "What the model answers, and what it writes next";
    Variables = "Variables", Any, "Every tensor and variable with its numbers";
    AllHeads = "All heads", Attention, "Every head of every layer as a small map, sorted by what the head looks at";
    Axes = "Axes", States, "What the axes of the stage mean, and axes of your own";
}

/// Titles of panels that were merged into others. If a saved layout has several that were merged into one panel, the
/// panel takes the place of the first of them.
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
    /// Returns whether the panel cannot be closed, so that no lesson has to open it: the notebook and the stage.
    pub const fn is_always_open(self) -> bool {
        matches!(self, Self::Notebook | Self::Stage)
    }

    /// Returns the panel with this title, as a lesson or a link writes it.
    pub fn named(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|panel| panel.title() == title)
    }

    /// Returns the titles of the panels that this one has replaced.
    pub fn former_titles(self) -> Vec<&'static str> {
        FORMER.iter().filter(|(_, panel)| *panel == self).map(|(former, _)| *former).collect()
    }

    /// Returns the panel that has or formerly had this title.
    pub fn now_or_formerly(title: &str) -> Option<Self> {
        let former = || FORMER.iter().find(|(former, _)| *former == title).map(|(_, panel)| *panel);
        Self::named(title).or_else(former)
    }

    /// Returns the panel whose title is most similar to a wrong one, or `None` if no title is similar.
    pub fn nearest(title: &str) -> Option<Self> {
        let titles = Self::ALL.map(Self::title).into_iter().chain(FORMER.iter().map(|(former, _)| *former));
        nearest(title, titles).and_then(Self::now_or_formerly)
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
