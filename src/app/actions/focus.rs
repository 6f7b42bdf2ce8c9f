//! The keyboard, asked for a widget by its name: the widget takes it when it is next shown, be that in this frame, in
//! the next one, or when the kernel has answered.

use egui::{Context, Id, Popup};

pub fn stage_search() -> Id {
    Id::new("stage search")
}

pub fn glossary_search() -> Id {
    Id::new("glossary search")
}

pub fn function_search() -> Id {
    Id::new("function search")
}

/// The field of a sentence, by the name under which it is shown.
pub fn sentence_field(name: &str) -> Id {
    Id::new(("sentence", name))
}

/// Asks for the keyboard; only the last one that was asked for gets it.
pub fn ask(ctx: &Context, id: Id) {
    ctx.data_mut(|data| data.insert_temp(asked(), id));
}

/// Takes the keyboard if it was asked for, once. A widget calls this where it is shown.
pub fn take(ctx: &Context, id: Id) {
    if ctx.data(|data| data.get_temp::<Id>(asked())) == Some(id) {
        ctx.data_mut(|data| data.remove::<Id>(asked()));
        ctx.memory_mut(|memory| memory.request_focus(id));
    }
}

/// A part of the window has the keyboard, and no menu lies over it.
pub fn is_at(ctx: &Context, part: Id) -> bool {
    !Popup::is_any_open(ctx) && ctx.memory(|memory| memory.focused()) == Some(part)
}

fn asked() -> Id {
    Id::new("keyboard asked for")
}
