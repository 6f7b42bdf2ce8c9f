//! A page as a Jupyter notebook, nbformat 4.5.
//!
//! The code is Rhai over attune's tensors, as the notebook states. Jupyter has no kernel for it and shows code and
//! outputs as they are. Tables and rankings are included as plain text too.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::mem;

use attune_core::kernel::snapshot::Snapshot;
use data_encoding::BASE64;
use pulldown_cmark::HeadingLevel;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use super::figures::{plot_svg, ranking_plain, table_plain};
use super::markdown::{FileBeside, MarkdownWriter, NOTES, shown};
use super::page::{Code, Image, Page, PageCell, PageItem, Pictures};
use super::web_page::output_html;
use crate::view_model::output::OutputModel;

/// The largest length of a cell's id that the format allows.
const ID_CHARS_MAX: usize = 64;
/// The prefix of the address of a picture attached to its cell.
const ATTACHMENT: &str = "attachment:";

/// Writes the snapshot's notebook.
///
/// # Errors
/// If it cannot be written.
pub fn write(snapshot: &Snapshot, pictures: &Pictures, to: impl Write) -> io::Result<()> {
    let page = Page::of(snapshot, &pictures.panels);
    let words = MarkdownWriter::new(pictures, ATTACHMENT);
    let mut cells = Cells { cells: Vec::new(), ids: BTreeSet::new(), pictures, words };
    if !page.begins_with_title() {
        cells.words.heading(HeadingLevel::H1, page.title);
        cells.words("title", &json!({}));
    }
    page.cells.iter().for_each(|cell| cells.add(cell));
    if let Some(model) = &page.model {
        cells.words.note_line(model);
        cells.words("model", &json!({}));
    }
    cells.notes();
    let metadata = json!({
        "title": page.title,
        "attune": { "lesson": page.lesson, "seed": page.seed, "version": env!("CARGO_PKG_VERSION") },
        "kernelspec": { "name": "attune", "display_name": "attune (Rhai)", "language": "rhai" },
        // The cells are Rhai code, whose keywords are nearly those of Rust, and every highlighter supports Rust.
        "language_info": {
            "name": "rhai", "file_extension": ".rhai", "mimetype": "text/x-rhai",
            "codemirror_mode": "rust", "pygments_lexer": "rust",
        },
    });
    write_cells(&metadata, &cells.cells, to)
}

/// Writes the file of a notebook.
pub(super) fn write_cells(metadata: &Value, cells: &[Value], mut to: impl Write) -> io::Result<()> {
    let notebook = json!({ "cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5 });
    // The formatting is the same as Jupyter's: keys sorted, indented by one space.
    notebook.serialize(&mut Serializer::with_formatter(&mut to, PrettyFormatter::with_indent(b" ")))?;
    writeln!(to)?;
    to.flush()
}

struct Cells<'a> {
    cells: Vec<Value>,
    ids: BTreeSet<String>,
    pictures: &'a Pictures,
    /// The writer of the Markdown cells.
    words: MarkdownWriter<'a>,
}

impl<'a> Cells<'a> {
    /// Adds a cell of the lesson as one or more cells: text in Markdown cells, code in code cells.
    fn add(&mut self, cell: &PageCell<'a>) {
        let about = json!({ "attune": { "cell": cell.id, "kind": cell.kind } });
        self.words.set_cell(cell.id);
        for item in &cell.items {
            match item {
                PageItem::Code(code) => {
                    self.words(cell.id, &about);
                    self.code(cell.id, &about, code);
                }
                item => self.words.item(item),
            }
        }
        self.words(cell.id, &about);
    }

    /// Adds a Markdown cell with the text written so far.
    fn words(&mut self, id: &str, about: &Value) {
        let text = mem::take(&mut self.words.text);
        let beside = mem::take(&mut self.words.beside);
        if !text.trim().is_empty() {
            self.markdown(id, about.clone(), text, beside);
        }
    }

    /// Adds the collected notes at the end, each as a cell with its pictures.
    fn notes(&mut self) {
        let notes = mem::take(&mut self.words.notes);
        if !notes.is_empty() {
            self.words.heading(HeadingLevel::H2, NOTES);
        }
        for note in notes {
            self.words.end_note(note);
            self.words("note", &json!({}));
        }
    }

    fn markdown(&mut self, id: &str, about: Value, text: String, beside: Vec<FileBeside>) {
        let mut cell =
            json!({ "cell_type": "markdown", "id": self.id(id), "metadata": about, "source": lines(text.trim_end()) });
        if !beside.is_empty() {
            let attachment = |FileBeside { name, mime, bytes }| (name, json!({ mime: data(mime, &bytes) }));
            cell["attachments"] = Value::Object(beside.into_iter().map(attachment).collect::<Map<_, _>>());
        }
        self.cells.push(cell);
    }

    fn code(&mut self, id: &str, about: &Value, code: &Code<'_>) {
        let mut about = about.clone();
        if code.is_hidden {
            about["jupyter"] = json!({ "source_hidden": true });
        }
        let note = code.note.map(|note| json!({ "output_type": "stream", "name": "stderr", "text": lines(note) }));
        let fault = code.fault.map(|fault| {
            json!({ "output_type": "error", "ename": "Fault", "evalue": fault.message, "traceback": [fault.to_string()] })
        });
        let outputs = code.outputs.iter().map(|shown| output(shown, self.pictures));
        let cell = json!({
            "cell_type": "code",
            "id": self.id(id),
            "metadata": about,
            "execution_count": code.number,
            "outputs": outputs.chain(fault).chain(note).collect::<Vec<Value>>(),
            "source": lines(code.source),
        });
        self.cells.push(cell);
    }

    /// Returns an id that no other cell has, with only the characters that the format allows.
    fn id(&mut self, id: &str) -> String {
        const NUMBER_CHARS: usize = 8;
        let safe = id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' });
        let safe: String = safe.take(ID_CHARS_MAX - NUMBER_CHARS).collect();
        let numbered = (1..).map(|i| if i == 1 { safe.clone() } else { format!("{safe}-{i}") });
        // There is always a free number.
        let id = numbered.into_iter().find(|id| !id.is_empty() && !self.ids.contains(id)).unwrap_or_default();
        self.ids.insert(id.clone());
        id
    }
}

/// Returns an output in the formats from which Jupyter can choose; plain text is always one of them.
fn output(output: &OutputModel, pictures: &Pictures) -> Value {
    let data = match output {
        OutputModel::Number(number) => json!({ "text/plain": lines(&number.full) }),
        OutputModel::Text(text) => json!({ "text/plain": lines(&shown(text)) }),
        OutputModel::Table(model) => {
            json!({ "text/plain": lines(&table_plain(model)), "text/html": lines(&output_html(output, pictures)) })
        }
        OutputModel::Ranking(model) => {
            let html = output_html(output, pictures);
            json!({ "text/plain": lines(&ranking_plain(model)), "text/html": lines(&html) })
        }
        OutputModel::Image(path) => match pictures.image(path) {
            Ok(Image { bytes, format }) => {
                json!({ "text/plain": lines(path), format.mime(): data(format.mime(), &bytes) })
            }
            Err(why) => json!({ "text/plain": lines(&format!("(picture {path}: {why})")) }),
        },
        OutputModel::Plot(plot) => {
            let note = plot.left_out_note().map_or(String::new(), |note| format!("\n{note}"));
            json!({ "text/plain": lines(&format!("{}{note}", plot.summary())), "image/svg+xml": lines(&plot_svg(plot)) })
        }
    };
    json!({ "output_type": "display_data", "metadata": {}, "data": data })
}

/// Splits a text into lines, as the format stores it.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns a picture as the format stores it: SVG as text, others in Base64.
fn data(mime: &str, bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if mime.ends_with("xml") => json!(lines(text)),
        _ => json!(BASE64.encode(bytes)),
    }
}
