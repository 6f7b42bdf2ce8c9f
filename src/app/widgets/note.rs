//! Notes that come and go. The notebook gives up its lowest lines for them, so that a note covers no control and no
//! picture, and nothing moves; where no notebook is shown, a note lies over the lower edge of the window.

use std::time::{Duration, Instant};

use egui::{Align2, Area, Context, Frame, Id, Order, Rect, Response, Ui, Vec2, vec2};

use crate::app::theme::size;

/// Notes of one pass, one above the other.
#[derive(Clone, Copy)]
struct Notes {
    pass: u64,
    /// Height of those that were drawn in this pass, and of all in the last one.
    drawn: f32,
    last: f32,
    /// The place of the notebook, and the pass in which it was there.
    notebook: Option<(Rect, u64)>,
}

impl Notes {
    fn of(ctx: &Context) -> Self {
        let pass = ctx.cumulative_pass_nr();
        let kept = ctx.data(|data| data.get_temp(Self::id()));
        let kept: Self = kept.unwrap_or(Self { pass, drawn: 0.0, last: 0.0, notebook: None });
        if kept.pass == pass { kept } else { Self { pass, drawn: 0.0, last: kept.drawn, ..kept } }
    }

    fn keep(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(Self::id(), self));
    }

    fn id() -> Id {
        Id::new("notes")
    }

    /// The place of the notebook, if it was shown a moment ago.
    fn room(&self) -> Option<Rect> {
        self.notebook.filter(|(_, pass)| pass + 1 >= self.pass).map(|(place, _)| place)
    }
}

/// Leaves room for the notes at the lower edge of the notebook's list; returns the rest of its height.
pub fn leave_room(ui: &Ui, place: Rect) -> f32 {
    let mut notes = Notes::of(ui.ctx());
    notes.notebook = Some((place, notes.pass));
    notes.keep(ui.ctx());
    (place.height() - notes.drawn.max(notes.last)).max(0.0)
}

/// Shows a note. `elsewhere` is its place in the window where no notebook is shown, above `lift` of others.
pub fn note_ui<R>(ctx: &Context, id: Id, lift: f32, content: impl FnOnce(&mut Ui) -> R) -> (R, Response) {
    const WIDEST: f32 = 620.0;
    let mut notes = Notes::of(ctx);
    let area = Area::new(id).order(Order::Foreground);
    let (area, width) = match notes.room() {
        Some(room) => {
            let corner = room.left_bottom() - vec2(0.0, notes.drawn);
            (area.fixed_pos(corner).pivot(Align2::LEFT_BOTTOM).constrain(false), room.width())
        }
        None => (area.anchor(Align2::CENTER_BOTTOM, Vec2::new(0.0, -lift)), WIDEST),
    };
    let shown = area.show(ctx, |ui| {
        let frame = Frame::popup(ui.style());
        let width = width - frame.total_margin().sum().x;
        frame.show(ui, |ui| {
            ui.set_max_width(width);
            ui.horizontal_wrapped(content).inner
        })
    });
    notes.drawn += shown.response.rect.height() + size::GAP_TIGHT;
    if notes.drawn > notes.last {
        // The notebook makes room in the next pass.
        ctx.request_repaint();
    }
    notes.keep(ctx);
    (shown.inner.inner, shown.response)
}

/// How long a note is shown. It stays while the pointer is over it; then it fades, and a click that comes too late for
/// it does nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Showing(Instant);

impl Showing {
    const FADE: Duration = Duration::from_millis(700);

    pub fn begin() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Its opacity after `shown`; `None` when it is over.
    pub fn opacity(&self, ctx: &Context, shown: Duration) -> Option<f32> {
        let left = (shown + Self::FADE).checked_sub(self.elapsed())?;
        let faint = left.as_secs_f32() / Self::FADE.as_secs_f32();
        ctx.request_repaint_after(if faint < 1.0 { Duration::ZERO } else { left - Self::FADE });
        Some(faint.min(1.0))
    }

    /// Begins anew where the pointer is over it.
    pub fn stay(&mut self, note: &Response) {
        if note.contains_pointer() {
            self.0 = Instant::now();
        }
    }
}
