//! Snapshots as files for other programs.
//!
//! | module | writes or reads |
//! |---|---|
//! | [`page`] | a notebook as a reader sees it, without a format, with its pictures and its links, to the web and within a site |
//! | [`markdown`] | lessons' Markdown as every export reads it, and a page as a Markdown file |
//! | [`ipynb`] | a page as a Jupyter notebook |
//! | [`web_page`] | a page as one HTML file that runs nothing |
//! | [`live_page`] | the same with the model in it |
//! | [`site`] | a whole course of live pages, with a front page |
//! | [`figures`] | tables, rankings and plots, for all of these |
//! | [`sheet_html`], [`sheet_svg`] | panels on a page, and as a vector picture |
//! | [`vectors`] | vectors for the Embedding Projector |
//! | [`trace`] | every tensor of a forward pass as JSON |
//! | [`checkpoint`] | a lesson's model as a folder of the shapes that people share |
//! | [`work_file`] | a learner's work, to hand in or to share, and one opened as a copy; a list of sentences with one word in common |
//! | [`grades`] | the marks of a class |
//! | [`file`](mod@file) | the formats that the window and the command line offer, each with the files beside it, all or nothing |
//!
//! Nothing of a lesson or an output is trusted: it is text, and never markup or a script.

pub mod checkpoint;
pub mod figures;
pub mod file;
pub mod grades;
pub mod ipynb;
pub mod live_page;
pub mod markdown;
pub mod page;
pub mod recording;
pub mod sheet_html;
pub mod sheet_svg;
pub mod site;
pub mod trace;
pub mod vectors;
pub mod web_page;
pub mod work_file;

pub use file::Format;
pub use page::{Pictures, StagePicture};

/// Text as HTML, in attributes too, without control characters.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// The text without control characters.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
