//! A page as a Markdown file, with its pictures in files beside it.

use std::io::{self, Write};
use std::mem;

use attune_core::kernel::snapshot::Snapshot;
use pulldown_cmark::HeadingLevel;

use super::markdown::{Beside, NOTES, Writer};
use super::page::Page;
use super::pictures::Pictures;

/// Writes the snapshot's notebook; returns the pictures, which belong into `folder` beside it.
///
/// # Errors
/// If it cannot be written.
pub fn write(snapshot: &Snapshot, pictures: &Pictures, folder: &str, mut to: impl Write) -> io::Result<Vec<Beside>> {
    let page = Page::of(snapshot);
    let prefix = format!("{}/", percent_encoded(folder));
    let mut text = Writer::new(pictures, &prefix);
    if !page.begins_with_title() {
        text.heading(HeadingLevel::H1, page.title);
    }
    for cell in &page.cells {
        text.set_cell(cell.id);
        text.items(&cell.items);
    }
    if let Some(model) = &page.model {
        text.note_line(model);
    }
    let notes = mem::take(&mut text.notes);
    if !notes.is_empty() {
        text.heading(HeadingLevel::H2, NOTES);
    }
    for note in notes {
        text.end_note(note);
    }
    writeln!(to, "{}", text.text.trim_end())?;
    to.flush()?;
    Ok(text.beside)
}

/// The name of a folder as part of an address.
fn percent_encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let encode = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(encode).collect()
}
