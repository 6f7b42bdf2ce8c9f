//! Text: typeset Markdown with formulas, the code editor, and colours for both.

pub mod cards;
pub mod code_text;
pub mod editor;
pub mod images;
pub mod prose;
