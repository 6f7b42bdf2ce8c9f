//! A window over the workspace: a dialogue, or something to look up.

use egui::{Align2, Context, Frame, Id, Margin, Pos2, RichText, Window, vec2};

use crate::app::theme::{self, size};

/// A window with a quiet title, which cannot be folded to it.
pub fn tool_window(title: &'static str) -> Window<'static> {
    let words = RichText::new(title).font(theme::strong(size::BODY));
    let frame = Frame::new().inner_margin(Margin::symmetric(size::PANEL_MARGIN, size::GAP_TIGHT as i8));
    Window::new(words).id(Id::new(Some(title))).title_frame(frame).collapsible(false)
}

/// A window to look something up, of this size until the learner gives it another: at the right edge, where it covers
/// neither the text that led to it nor most of the stage.
pub fn lookup_window(ctx: &Context, title: &'static str, (width, height): (f32, f32)) -> Window<'static> {
    let screen = ctx.content_rect();
    let at: Pos2 = screen.right_top() + vec2(-size::GAP, size::BAR_HEIGHT + size::GAP);
    let height = height.min(screen.height() - size::BAR_HEIGHT - 2.0 * size::GAP).max(0.0);
    tool_window(title).default_size((width, height)).pivot(Align2::RIGHT_TOP).default_pos(at)
}
