//! Text: typeset Markdown with formulas, the code editor, and their letters.

pub mod cards;
pub mod code_text;
pub mod editor;
pub mod images;
pub mod prose;
