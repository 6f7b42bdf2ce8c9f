//! Code with its colours.

use std::fmt::Write;

use attune_engine::code::editor::highlight::{Kind, highlight};

use crate::export::escape;

/// A block of code; with colours where it is of the code cells' language.
pub fn block(language: &str, source: &str) -> String {
    let source = source.trim_end();
    let is_own = matches!(language.trim(), "rhai" | "attune");
    format!("<pre class=\"code\"><code>{}</code></pre>", if is_own { spans(source) } else { escape::html(source) })
}

fn spans(source: &str) -> String {
    let mut text = String::new();
    let mut at = 0;
    for span in highlight(source) {
        text.push_str(&escape::html(&source[at..span.range.start]));
        let token = escape::html(&source[span.range.clone()]);
        match class(span.kind) {
            Some(class) => _ = write!(text, "<span class=\"{class}\">{token}</span>"),
            None => text.push_str(&token),
        }
        at = span.range.end;
    }
    text.push_str(&escape::html(&source[at..]));
    text
}

fn class(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Keyword => Some("k"),
        Kind::Number => Some("n"),
        Kind::Text => Some("s"),
        Kind::Comment => Some("c"),
        Kind::Operator => Some("o"),
        Kind::Name | Kind::Bracket | Kind::Unmatched => None,
    }
}
