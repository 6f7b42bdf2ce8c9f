//! A card about what the pointer is on, beside it: it covers neither that nor what is to stay in sight.

use egui::{AreaState, CursorIcon, Pos2, Rect, RectAlign, Response, Tooltip, Ui, Vec2, pos2, vec2};

use crate::app::theme::size;

/// Shows a card about `about`, which keeps off `over` where there is room.
pub fn card_beside(response: &Response, about: Rect, over: Rect, content: impl FnOnce(&mut Ui)) {
    /// Until it was shown once.
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

/// Corner of a card of this size: under what it is about, beside it, or above it.
fn place(card: Vec2, about: Rect, over: Rect, screen: Rect) -> Pos2 {
    let near = about.expand(size::GAP_TIGHT);
    let inside = |at: Pos2| {
        let most = (screen.max - card).max(screen.min);
        at.clamp(screen.min, most)
    };
    // As far down as it must to keep off what lies over it.
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

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Rect = Rect { min: Pos2::ZERO, max: Pos2::new(900.0, 600.0) };
    /// The sentence over the stage of a narrow window.
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
