//! The panels by name, in the order of their keys.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PanelId {
    Notebook,
    Stage,
    Fold,
    Attention,
    Arithmetic,
    Heads,
    Weights,
    Training,
    Retrain,
    Neighbours,
    WhatIf,
    Variables,
    Compare,
    Axes,
    Answers,
}

impl PanelId {
    /// In the order of their keys: Alt+1 … Alt+9, Alt+0; the last have none.
    pub const ALL: [Self; 15] = [
        PanelId::Notebook,
        PanelId::Stage,
        PanelId::Fold,
        PanelId::Attention,
        PanelId::Arithmetic,
        PanelId::Heads,
        PanelId::WhatIf,
        PanelId::Weights,
        PanelId::Neighbours,
        PanelId::Training,
        PanelId::Retrain,
        PanelId::Axes,
        PanelId::Answers,
        PanelId::Variables,
        PanelId::Compare,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            PanelId::Notebook => "Notebook",
            PanelId::Stage => "Stage",
            PanelId::Fold => "Fold",
            PanelId::Attention => "Attention",
            PanelId::Arithmetic => "Arithmetic",
            PanelId::Heads => "Heads",
            PanelId::Weights => "Weights",
            PanelId::Training => "Training",
            PanelId::Retrain => "Retrain",
            PanelId::Neighbours => "Neighbours",
            PanelId::WhatIf => "What if",
            PanelId::Variables => "Variables",
            PanelId::Compare => "Compare",
            PanelId::Axes => "Axes",
            PanelId::Answers => "Answers",
        }
    }
}
