//! Floating parts: cards beside the part that the pointer is over, temporary notes, and windows for dialogs and
//! look-ups.
//!
//! The notebook leaves its lowest lines free for notes, so that a note covers no control and no picture, and nothing
//! moves. Where no notebook is shown, a note is placed over the lower edge of the window.

use std::time::{Duration, Instant};

use egui::{
    Align2, Area, AreaState, Context, CursorIcon, Frame, Id, Margin, Order, Pos2, Rect, RectAlign, Response, RichText,
    Tooltip, Ui, Vec2, Window, pos2, vec2,
};

use crate::theme::{self, size};

/// Shows a tooltip card about `about`, which does not cover `over` if there is room elsewhere.
pub fn card_beside(response: &Response, about: Rect, over: Rect, content: impl FnOnce(&mut Ui)) {
    /// The assumed size of a card that has not been shown before.
    const USUAL: Vec2 = vec2(380.0, 150.0);
    let ctx = &response.ctx;
    ctx.set_cursor_icon(CursorIcon::PointingHand);
    let id = Tooltip::next_tooltip_id(ctx, response.id);
    let known = AreaState::load(ctx, id).and_then(|state| state.size);
    let at = place(known.unwrap_or(USUAL), about, over, ctx.content_rect());
    let mut card = Tooltip::for_enabled(response);
    card.popup = card.popup.anchor(at).gap(0.0).align(RectAlign::BOTTOM_START).align_alternatives(&[]);
    card.show(content);
}

/// Returns the corner of a card of this size: below its subject, beside it, or above it.
fn place(card: Vec2, about: Rect, over: Rect, screen: Rect) -> Pos2 {
    let near = about.expand(size::GAP_TIGHT);
    let inside = |at: Pos2| {
        let most = (screen.max - card).max(screen.min);
        at.clamp(screen.min, most)
    };
    // The card is moved down only as far as needed to keep clear of `over`.
    let below = over.bottom() + size::GAP_TIGHT;
    let beside = (near.center().y - card.y / 2.0).max(if over.top() <= near.top() { below } else { f32::MIN });
    let places = [
        pos2(near.left(), near.bottom()),
        pos2(near.right(), beside),
        pos2(near.left() - card.x, beside),
        pos2(near.left(), below.max(near.bottom())),
        pos2(near.left(), near.top() - card.y),
    ]
    .map(inside);
    let is_off = |at: &Pos2, other: Rect| !Rect::from_min_size(*at, card).intersects(other);
    let off_both = places.iter().find(|at| is_off(at, about) && is_off(at, over));
    *off_both.or_else(|| places.iter().find(|at| is_off(at, about))).unwrap_or(&places[0])
}

/// Keeps lists from covering a place, such as the sentence on the stage while it is typed, in this pass and the next.
pub fn keep_in_sight(ctx: &Context, place: Rect) {
    let pass = ctx.cumulative_pass_nr();
    ctx.data_mut(|data| data.insert_temp(in_sight_id(), (place, pass)));
}

fn in_sight_id() -> Id {
    Id::new("kept in sight")
}

/// Returns the upper left corner and the width of a list for a text field: below the field or, if it would cover the
/// place of [`keep_in_sight`], to the left, to the right or below that place.
pub fn list_place(ctx: &Context, field: Rect, width: f32) -> (Pos2, f32) {
    /// The assumed height of a list, because the real one is known only after it is drawn.
    const HEIGHT: f32 = 150.0;
    /// The least width. In a narrower list, text would be broken into many lines.
    const LEAST: f32 = 280.0;
    let under = pos2(field.left(), field.bottom() + size::GAP_TIGHT);
    let kept: Option<(Rect, u64)> = ctx.data(|data| data.get_temp(in_sight_id()));
    let kept = kept.filter(|(_, pass)| pass + 1 >= ctx.cumulative_pass_nr()).map(|(place, _)| place);
    let usual = Rect::from_min_size(under, vec2(width, HEIGHT));
    let Some(kept) = kept.filter(|kept| kept.intersects(usual)) else { return (under, width) };
    let screen = ctx.content_rect();
    let [left, right] = [kept.left() - screen.left(), screen.right() - kept.right()].map(|room| room - 2.0 * size::GAP);
    if left >= LEAST {
        let width = width.min(left);
        (pos2(kept.left() - size::GAP - width, under.y), width)
    } else if right >= LEAST {
        (pos2(kept.right() + size::GAP, under.y), width.min(right))
    } else {
        (pos2(under.x, kept.bottom() + size::GAP_TIGHT), width)
    }
}

/// The notes of one pass, stacked on top of each other.
#[derive(Clone, Copy)]
struct Notes {
    pass: u64,
    /// The total height of the notes drawn so far in this pass.
    drawn: f32,
    /// The total height of the notes in the last pass.
    last: f32,
    /// The place of the notebook, and the pass in which it was last shown.
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

    /// Returns the place of the notebook, if it was shown in this pass or the last.
    fn room(&self) -> Option<Rect> {
        self.notebook.filter(|(_, pass)| pass + 1 >= self.pass).map(|(place, _)| place)
    }
}

/// Reserves room for the notes at the lower edge of the notebook's list, and returns the remaining height.
pub fn leave_room(ui: &Ui, place: Rect) -> f32 {
    let mut notes = Notes::of(ui.ctx());
    notes.notebook = Some((place, notes.pass));
    notes.keep(ui.ctx());
    (place.height() - notes.drawn.max(notes.last)).max(0.0)
}

/// Shows a note. Where no notebook is shown, it is placed `lift` points above the lower edge of the window.
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

/// The display time of a note. It starts anew while the pointer is over the note. When it has passed, the note fades
/// instead of vanishing at once, so that a click that comes just too late still hits the note and nothing behind it.
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

    /// Returns the opacity, given the time before fading; `None` when the note is gone.
    pub fn opacity(&self, ctx: &Context, shown: Duration) -> Option<f32> {
        let left = (shown + Self::FADE).checked_sub(self.elapsed())?;
        let faint = left.as_secs_f32() / Self::FADE.as_secs_f32();
        ctx.request_repaint_after(if faint < 1.0 { Duration::ZERO } else { left - Self::FADE });
        Some(faint.min(1.0))
    }

    /// Restarts the time while the pointer is over the note.
    pub fn stay(&mut self, note: &Response) {
        if note.contains_pointer() {
            self.0 = Instant::now();
        }
    }
}

/// Returns a window with a small title, which cannot be collapsed.
pub fn tool_window(title: &'static str) -> Window<'static> {
    let words = RichText::new(title).font(theme::strong(size::BODY));
    let frame = Frame::new().inner_margin(Margin::symmetric(size::PANEL_MARGIN, size::GAP_TIGHT as i8));
    Window::new(words).id(Id::new(Some(title))).title_frame(frame).collapsible(false)
}

/// Returns a window for looking something up, with a default size. It is at the right edge, where it covers neither the
/// text that led to it nor most of the stage.
pub fn lookup_window(ctx: &Context, title: &'static str, (width, height): (f32, f32)) -> Window<'static> {
    let screen = ctx.content_rect();
    let at: Pos2 = screen.right_top() + vec2(-size::GAP, size::BAR_HEIGHT + size::GAP);
    let height = height.min(screen.height() - size::BAR_HEIGHT - 2.0 * size::GAP).max(0.0);
    tool_window(title).default_size((width, height)).pivot(Align2::RIGHT_TOP).default_pos(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Rect = Rect { min: Pos2::ZERO, max: Pos2::new(900.0, 600.0) };
    /// The height of the sentence above the stage in a narrow window.
    const STRIP: f32 = 230.0;

    #[test]
    fn a_card_covers_neither_its_word_nor_the_sentence() {
        let over = Rect::everything_above(STRIP);
        for card in [vec2(380.0, 150.0), vec2(420.0, 190.0), vec2(160.0, 60.0)] {
            for x in (350..890).step_by(27) {
                for y in (240..520).step_by(19) {
                    let about = Rect::from_min_size(pos2(x as f32, y as f32), vec2(70.0, 16.0));
                    let at = Rect::from_min_size(place(card, about, over, SCREEN), card);
                    assert!(SCREEN.contains_rect(at), "{at:?} leaves the window");
                    assert!(!at.intersects(about), "{at:?} covers {about:?}");
                    assert!(at.top() >= STRIP, "{at:?} covers the sentence over {about:?}");
                }
            }
        }
    }

    #[test]
    fn a_card_about_a_word_of_the_sentence_stands_under_the_sentence() {
        let strip = Rect::from_min_max(pos2(342.0, 74.0), pos2(900.0, STRIP));
        for (x, y) in [(350.0, 110.0), (860.0, 110.0), (600.0, 180.0)] {
            let about = Rect::from_min_size(pos2(x, y), vec2(60.0, 24.0));
            let at = Rect::from_min_size(place(vec2(300.0, 170.0), about, strip, SCREEN), vec2(300.0, 170.0));
            assert!(SCREEN.contains_rect(at) && !at.intersects(strip), "{at:?}");
        }
    }

    #[test]
    fn where_nothing_fits_the_word_itself_stays_in_sight() {
        let about = Rect::from_min_size(pos2(400.0, 300.0), vec2(60.0, 16.0));
        let card = vec2(850.0, 250.0);
        let at = Rect::from_min_size(place(card, about, Rect::everything_above(290.0), SCREEN), card);
        assert!(!at.intersects(about), "{at:?}");
    }
}
