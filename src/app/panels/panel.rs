//! The trait of a panel, the context that it is given in a frame, and the requests that it may make.

use attune_core::kernel::command::Command;
pub use attune_core::lesson::panels::PanelName;
use attune_ui::actions::Action;
use attune_ui::text::prose::Prose;
use attune_ui::ui_state::PanelView;
use attune_view::view_model::Models;
use attune_view::view_model::saved_view::SavedView;
use egui::{Pos2, Rect, Ui, Vec2};

/// A tab of the dock. It owns what it remembers.
pub trait Panel: Send + Sync {
    /// Draws it. `None` while the models that it needs are not there yet.
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()>;

    /// Returns whether it keeps a margin from the edges of its tab.
    fn has_margin(&self) -> bool {
        true
    }

    /// Writes what is kept of it with the learner's work.
    fn save(&self, _saved: &mut SavedView) {}

    /// Takes back what was kept, which may be anything.
    fn restore(&mut self, _saved: &SavedView) {}
}

/// A panel by its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId(pub &'static str);

impl PanelId {
    pub const fn of(name: PanelName) -> Self {
        PanelId(name.title())
    }

    /// Returns the title of its tab.
    pub fn title(self) -> &'static str {
        self.0
    }
}

/// A part of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    Left,
    Middle,
    UpperRight,
    LowerRight,
}

/// Everything that a panel is given in one frame: models, the view that it may change, a place for its requests.
pub struct PanelContext<'a> {
    pub models: &'a Models,
    pub view: PanelView<'a>,
    pub stage: &'a mut dyn StageUi,
    pub prose: &'a mut Prose,
    /// The kernel has answered all that was asked of it: what the models show is what it has.
    pub is_answered: bool,
    pub requests: &'a mut Requests,
}

/// Requests of the panels in one frame.
#[derive(Default)]
pub struct Requests {
    /// Commands for the kernel.
    pub commands: Vec<Command>,
    /// Commands for the kernel of the questions from earlier lessons.
    pub recall: Vec<Command>,
    /// Actions for the window.
    pub actions: Vec<Action>,
}

/// The stage, as panels use it without knowing it.
pub trait StageUi {
    /// Draws it into its tab.
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView);

    /// Draws the sentence at the upper edge of the free area, for a stage that is drawn without it. Returns the rest of the area.
    fn sentence_ui(&mut self, ui: &mut Ui, _view: &mut PanelView) -> Rect {
        ui.available_rect_before_wrap()
    }

    /// Draws the steps of the walk, under what is walked through.
    fn timeline_ui(&mut self, _ui: &mut Ui, _view: &mut PanelView) {}

    /// Its camera; none where there is no scene.
    fn camera(&mut self) -> Option<&mut dyn SceneCamera> {
        None
    }
}

/// One camera, for the stage and for every small picture of the same scene.
pub trait SceneCamera {
    /// Projects points of the model into `rect`, from the side that the stage sees them from and so near that
    /// a ball of radius `reach` around `middle` fills it; `None` behind the eye.
    fn projection(&self, rect: Rect, middle: [f32; 3], reach: f32) -> Box<dyn Fn([f32; 3]) -> Option<Pos2> + '_>;

    /// Turns it by a drag.
    fn orbit(&mut self, drag: Vec2);

    /// Brings the whole scene back.
    fn home(&mut self);
}
