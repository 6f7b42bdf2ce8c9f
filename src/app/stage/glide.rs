//! A value on its way to another one, slow at both ends.

use crate::app::theme::motion;
use crate::app::view::walk::ease;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide<T> {
    from: T,
    pub to: T,
    elapsed: f32,
}

impl<T: Copy + PartialEq> Glide<T> {
    /// Glide between two values; `None` if they are the same.
    pub fn between(from: T, to: T) -> Option<Self> {
        (to != from).then_some(Self { from, to, elapsed: 0.0 })
    }

    /// Time passes for a value that may be on its way; `mix` is what lies between two of them.
    pub fn advance(way: &mut Option<Self>, value: &mut T, seconds: f32, mix: impl FnOnce(T, T, f32) -> T) {
        let Some(glide) = way else { return };
        glide.elapsed += seconds;
        let share = (glide.elapsed / motion::CAMERA).min(1.0);
        if share < 1.0 {
            *value = mix(glide.from, glide.to, ease(share));
        } else {
            *value = glide.to;
            *way = None;
        }
    }
}
