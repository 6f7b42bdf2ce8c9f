//! Notes over the lower edge of the window, so that nothing moves when one comes or goes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Align2, Area, Context, Frame, Order, RichText, Ui, Vec2};

use super::arrangement::{has_side, notebook_width, side_share};
use crate::app::theme::{Palette, size};

/// The place of a note, counted from below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotePlace {
    Notice,
    Opened,
    Export,
    Reset,
}

pub fn note_ui<R>(ctx: &Context, place: NotePlace, content: impl FnOnce(&mut Ui) -> R) -> R {
    const WIDEST: f32 = 620.0;
    const HEIGHT: f32 = 46.0;
    let lift = size::TIMELINE_NARROW + size::GAP + HEIGHT * place as usize as f32;
    note_at(ctx, place, (Align2::CENTER_BOTTOM, Vec2::new(0.0, -lift)), |ui| {
        ui.set_max_width(WIDEST);
        ui.horizontal(|ui| content(ui)).inner
    })
}

/// A note in the lower corner of the panels' column, over them and not over the stage.
pub fn side_note_ui<R>(ctx: &Context, place: NotePlace, content: impl FnOnce(&mut Ui) -> R) -> R {
    let room = ctx.content_rect().width();
    let rest = room - notebook_width(room);
    let (column, at) = if has_side(room) {
        (rest * side_share(rest), (Align2::RIGHT_BOTTOM, Vec2::splat(-size::GAP)))
    } else {
        (room - rest, (Align2::LEFT_BOTTOM, Vec2::new(size::GAP, -size::GAP)))
    };
    let inner = column - 2.0 * size::GAP;
    note_at(ctx, place, at, |ui| {
        ui.set_max_width(inner - ui.style().spacing.menu_margin.sum().x);
        ui.vertical(|ui| content(ui)).inner
    })
}

fn note_at<R>(ctx: &Context, place: NotePlace, at: (Align2, Vec2), content: impl FnOnce(&mut Ui) -> R) -> R {
    let area = Area::new(egui::Id::new(("note", place as usize))).anchor(at.0, at.1).order(Order::Foreground);
    area.show(ctx, |ui| Frame::popup(ui.style()).show(ui, content).inner).inner
}

/// Notice that the last command failed or that a link leads nowhere, shown for as long as it takes to read.
#[derive(Default)]
pub struct NoticeUiState {
    /// The kernel's latest.
    last: Option<Arc<str>>,
    shown: Option<(Arc<str>, Instant)>,
}

impl NoticeUiState {
    /// Shows words of the window's own.
    pub fn say(&mut self, words: &str) {
        self.shown = Some((words.into(), Instant::now()));
    }
}

pub fn notice_ui(ctx: &Context, notice: Option<&Arc<str>>, state: &mut NoticeUiState) {
    const SHOWN: Duration = Duration::from_secs(10);
    // The same words said again are another notice.
    if state.last.as_ref().map(Arc::as_ptr) != notice.map(Arc::as_ptr) {
        state.last = notice.cloned();
        state.shown = notice.map(|notice| (notice.clone(), Instant::now()));
    }
    let Some((words, since)) = &state.shown else { return };
    let age = since.elapsed();
    if age >= SHOWN {
        state.shown = None;
        return;
    }
    ctx.request_repaint_after(SHOWN - age);
    let mut is_dismissed = false;
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    note_ui(ctx, NotePlace::Notice, |ui| {
        ui.add(egui::Label::new(RichText::new(&**words).color(palette.warn)).selectable(true).wrap());
        if ui.button("Dismiss").on_hover_text("Hide this").clicked() {
            is_dismissed = true;
        }
    });
    if is_dismissed {
        state.shown = None;
    }
}
