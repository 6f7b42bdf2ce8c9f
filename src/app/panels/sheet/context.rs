//! State of a sheet from frame to frame, what its items may change while they are drawn, and its text.

use attune_ui::actions::Action;
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::PanelView;
use attune_view::sheet::{Ask, Text, Tone};
use egui::{Label, RichText, Ui};

use super::textures::Textures;

/// State of a sheet that lasts from frame to frame.
#[derive(Default)]
pub struct SheetUiState {
    /// The name of the line that is open; `None` if all are closed.
    pub(super) open: Option<String>,
    /// The index in [`ZOOMS`] of the factor by which the cells of maps are enlarged.
    pub(super) zoom: usize,
    /// The index of the head at which the arrow keys are in the grid of all heads.
    pub(super) cursor: usize,
    pub(super) textures: Textures,
}

/// The factors by which the cells of maps can be enlarged.
pub const ZOOMS: [f32; 5] = [1.0, 1.5, 2.0, 3.0, 4.0];

impl SheetUiState {
    pub fn zoom(&self) -> f32 {
        ZOOMS[self.zoom]
    }
}

/// The state that the items of a sheet may change while they are drawn, and their requests.
pub struct SheetContext<'a, 'view> {
    pub state: &'a mut SheetUiState,
    pub view: &'a mut PanelView<'view>,
    pub asks: Vec<Ask>,
    pub actions: Vec<Action>,
}

impl<'a, 'view> SheetContext<'a, 'view> {
    pub fn new(state: &'a mut SheetUiState, view: &'a mut PanelView<'view>) -> Self {
        Self { state, view, asks: Vec::new(), actions: Vec::new() }
    }
}

/// Returns the visible width without a margin, in points; 0 while the panel has just begun to slide in.
pub fn width_in_sight(ui: &Ui) -> f32 {
    (ui.clip_rect().width() - size::GAP).max(0.0)
}

/// Draws a text in its tone, with its hint. A text that is only a tooltip is not drawn.
pub fn text_ui(ui: &mut Ui, Text { words, tone, hint }: &Text) {
    let words = RichText::new(words);
    let words = match tone {
        Tone::Plain => words,
        Tone::Soft => words.weak(),
        Tone::Small => words.font(theme::plain(size::SMALL)).weak(),
        Tone::Warning => words.color(Palette::on(ui).warn),
        Tone::Code => words.monospace(),
        Tone::Tooltip => return,
    };
    let response = ui.add(Label::new(words).wrap().selectable(*tone == Tone::Code));
    if !hint.is_empty() {
        response.on_hover_text(hint);
    }
}
