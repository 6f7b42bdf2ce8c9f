//! Snapshots written as files for other programs.
//!
//! | module | writes or reads |
//! |---|---|
//! | [`page`] | a notebook's content independent of the format, with pictures and links to the web and within a site |
//! | [`markdown`] | lessons' Markdown as all exports read it, and a page as a Markdown file |
//! | [`ipynb`] | a page as a Jupyter notebook |
//! | [`web_page`] | a page as one HTML file without scripts |
//! | [`live_page`] | the same with the running model, and the slides of a presentation |
//! | [`site`] | a whole course of live pages, with a front page and the files that they share |
//! | [`figures`] | tables, rankings and plots, for all of these |
//! | [`sheet_html`], [`sheet_svg`] | panels on a page, and as a vector picture |
//! | [`pytorch`] | a model as a Python notebook that builds it in PyTorch and asserts its numbers |
//! | [`vectors`] | a lesson's vectors as a table, for every format of vectors |
//! | [`recording`] | a recording as a trace, and a model's pass as a recording |
//! | [`trace`] | every tensor of a forward pass as JSON |
//! | [`evidence`] | maps, splits of scores, measures of words, and heads over texts, as tables and JSON |
//! | [`checkpoint`] | a lesson's model as a folder in the form of a family of transformers |
//! | [`work_file`] | a learner's work, to hand in, to share or to open as a copy; and lists of sentences with a common
//! word |
//! | [`grades`], [`items`] | the grades of a class, and the figures of each task |
//! | [`format`](mod@format) | the list of formats |
//! | [`file`](mod@file) | the files of an export, which are written all or not at all |
//!
//! Content of a lesson or an output is never trusted: it is written as text, and never as markup or a script.

pub mod checkpoint;
mod decoders;
mod events;
pub mod evidence;
mod fault;
pub mod figures;
pub mod file;
pub mod format;
pub mod grades;
pub mod ipynb;
pub mod items;
mod links;
pub mod live_page;
pub mod markdown;
pub mod page;
mod prose;
pub mod pytorch;
pub mod recording;
mod shared_files;
pub mod sheet_html;
pub mod sheet_svg;
pub mod site;
mod slides;
pub mod trace;
mod translators;
pub mod vectors;
pub mod web_page;
pub mod work_file;

pub use format::Format;
pub use page::{Pictures, StagePicture};

/// Escapes a text for HTML, including attributes, and removes control characters.
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

/// Removes control characters from a text.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
