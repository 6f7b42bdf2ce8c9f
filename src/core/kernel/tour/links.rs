//! Links of the tour's cells: to a text on the stage, and to a head in *Attention*.

use std::sync::Arc;

/// Returns a link that opens a head, counted over all layers.
pub fn head_link(name: &str, head: usize) -> String {
    format!("[{name}](attune:attention/{})", head + 1)
}

/// Returns a link that puts a text on the stage.
pub fn sentence_link(text: &Arc<str>) -> String {
    let text = escaped(text);
    format!("[*{text}*](<attune:sentence/{text}>)")
}

/// Escapes a text so that Markdown shows exactly this text.
pub fn escaped(text: &str) -> String {
    let sign = |c: char| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() };
    text.chars().map(sign).collect()
}
