//! A page as a Markdown file, with its pictures in files beside it.

use std::io::{self, Write};

use super::escape;
use super::markdown::{Beside, Writer};
use super::page::Page;
use super::pictures::Pictures;
use crate::kernel::snapshot::Snapshot;

/// Writes the snapshot's notebook; returns the pictures, which belong into `folder` beside it.
///
/// # Errors
/// If it cannot be written.
pub fn write(snapshot: &Snapshot, pictures: &Pictures, folder: &str, mut to: impl Write) -> io::Result<Vec<Beside>> {
    let page = Page::of(snapshot);
    let prefix = format!("{}/", percent_encoded(folder));
    let mut text = Writer::new(pictures, &prefix);
    if !page.begins_with_title() {
        text.paragraph(&format!("# {}", escape::markdown(page.title)));
    }
    for cell in &page.cells {
        text.set_cell(cell.id);
        text.items(&cell.items);
    }
    if let Some(model) = &page.model {
        text.paragraph(&format!("---\n\n*{model}*"));
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
