//! Helpers of the window's benches: an egui context in the program's style, and its frames.

#![allow(dead_code, reason = "each bench uses its part")]

use attune::app::panels::notebook::{NotebookPanel, notebook_ui};
use attune::app::text::prose::Prose;
use attune::app::theme::{self, fonts};
use attune::app::ui_state::ViewState;
use attune_core::kernel::Command;
use attune_view::view_model::notebook::NotebookModel;
use egui::{Context, Event, Modifiers, MouseWheelUnit, Pos2, RawInput, Rect, TouchPhase, Vec2, pos2, vec2};

/// The size of the notebook in a window of 1280x720.
const SIZE: Vec2 = vec2(410.0, 640.0);
const MIDDLE: Pos2 = pos2(205.0, 400.0);
const FRAME: f64 = 1.0 / 60.0;

/// Returns a context without a display, in the program's style.
pub fn context() -> Context {
    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    theme::apply(&ctx);
    ctx
}

/// Returns the input of a frame; `frames` is the number of earlier frames.
pub fn input(size: Vec2, frames: u64, events: Vec<Event>) -> RawInput {
    RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
        time: Some(frames as f64 * FRAME),
        events,
        ..RawInput::default()
    }
}

/// The notebook's panel in a window without a display.
pub struct Panel {
    ctx: Context,
    state: NotebookPanel,
    prose: Prose,
    view: ViewState,
    frames: u64,
}

impl Panel {
    pub fn new() -> Self {
        let ctx = context();
        Self { ctx, state: NotebookPanel::default(), prose: Prose::default(), view: ViewState::default(), frames: 0 }
    }

    /// Runs one frame, from the input to the triangles.
    pub fn frame(&mut self, model: &NotebookModel, events: Vec<Event>) -> Vec<Command> {
        self.frames += 1;
        let input = input(SIZE, self.frames, events);
        let mut commands = Vec::new();
        let mut output = self.ctx.run_ui(input, |ui| {
            commands.extend(notebook_ui(ui, model, &mut self.state, &mut self.view.for_panels(), &mut self.prose).0);
        });
        output.textures_delta.clear();
        std::hint::black_box(self.ctx.tessellate(output.shapes, output.pixels_per_point));
        commands
    }

    /// Runs frames without events until animations have finished.
    pub fn settle(&mut self, model: &NotebookModel) {
        const FRAMES: usize = 60;
        (0..FRAMES).for_each(|_| _ = self.frame(model, vec![Event::PointerMoved(MIDDLE)]));
    }
}

/// Returns the event of a scroll wheel turned by this number of points.
pub fn wheel(y: f32) -> Vec<Event> {
    let delta = vec2(0.0, y);
    vec![Event::MouseWheel { unit: MouseWheelUnit::Point, delta, phase: TouchPhase::Move, modifiers: Modifiers::NONE }]
}
