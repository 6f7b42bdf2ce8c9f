//! Text: typeset Markdown with formulas, the code editor, and colours for both.

pub mod code_text;
pub mod editor;
pub mod images;
pub mod live_card;
pub mod prose;
pub mod term_card;
