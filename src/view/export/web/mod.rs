//! A live page: the static page of [`html`], with scripts that run the model in the reader's browser.
//!
//! One file, no server, no network. Without scripts, and on paper, it is the static page. The scripts are those of
//! `page/`, each of one job; the lesson's numbers and words are one JSON text beside them ([`data`]). The page's
//! policy lets those scripts alone run, by their hash, and forbids every connection.

mod data;

use std::io::{self, Write};

use attune_core::kernel::check::reveal;
use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::{Kernel, Snapshot};
use attune_core::lesson::cells::{Cell, CellKind};
use attune_core::lesson::glossary::Glossary;
pub use data::NUMBERS_MAX;
use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use super::html::{self, Additions, Answer};
use super::page::{Page, PageItem};
use super::pictures::Pictures;

/// Scripts in the order in which they need each other; the last one begins.
const SCRIPTS: &[&str] = &[
    include_str!("page/engine.js"),
    include_str!("page/data.js"),
    include_str!("page/state.js"),
    include_str!("page/camera.js"),
    include_str!("page/colors.js"),
    include_str!("page/stage.js"),
    include_str!("page/sentence.js"),
    include_str!("page/attention.js"),
    include_str!("page/provenance.js"),
    include_str!("page/weights.js"),
    include_str!("page/code.js"),
    include_str!("page/cells.js"),
    include_str!("page/prose.js"),
    include_str!("page/page.js"),
];
const STYLE: &str = include_str!("page/style.css");
/// Elements that the scripts fill; hidden until they run.
const LAB: &str = include_str!("page/lab.html");

/// Writes the page. A lesson whose model is too large for a page has the static page alone. Predictions are answered as
/// in `answered`, which is [`revealed`]; without it the lesson is trained once more for that. Returns whether the page is
/// live.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    snapshot: &Snapshot,
    answered: Option<&Snapshot>,
    pictures: &Pictures,
    glossary: Option<&Glossary>,
    to: impl Write,
) -> io::Result<bool> {
    let Some(data) = data::data(snapshot) else {
        return html::write(snapshot, pictures, glossary, to).map(|()| false);
    };
    let script = SCRIPTS.concat();
    let hash = BASE64.encode(&Sha256::digest(&script));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{hash}'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; \
         form-action 'none'"
    );
    let own = answered.is_none().then(|| revealed(snapshot, || Kernel::trained(snapshot.lesson.clone()))).flatten();
    let additions = Additions {
        policy: &policy,
        style: STYLE,
        before: LAB,
        after: &format!(
            "<script type=\"application/json\" id=\"attune-data\">{}</script>\n<script>{script}</script>\n",
            unmarked(&data)
        ),
        answers: answered.or(own.as_ref()).map_or_else(Vec::new, |answered| answers(snapshot, answered)),
    };
    html::write_with(snapshot, pictures, glossary, &additions, to).map(|()| true)
}

/// JSON in which nothing begins a tag or ends a script.
fn unmarked(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The lesson as it is trained, with every prediction revealed that the page's reader is yet to make; `None` where there
/// is none. The kernel is one of the trained lesson in which nothing was changed.
pub fn revealed(snapshot: &Snapshot, trained: impl FnOnce() -> Kernel) -> Option<Snapshot> {
    let is_asked =
        |cell: &&Cell| snapshot.notebook.cells.iter().any(|shown| *shown.cell.id == *cell.id && is_asked(shown));
    let mut cells = snapshot.lesson.cells.iter().filter(is_asked).peekable();
    cells.peek()?;
    let mut kernel = trained();
    cells.for_each(|cell| reveal(&mut kernel, cell));
    Some(kernel.snapshot())
}

/// A prediction that is yet to be answered.
fn is_asked(shown: &CellSnapshot) -> bool {
    matches!(*shown.cell.kind, CellKind::Predict(_)) && !shown.cell.is_done()
}

/// The model's answers to the predictions that the page's reader is yet to make.
fn answers<'a>(snapshot: &Snapshot, revealed: &'a Snapshot) -> Vec<Answer<'a>> {
    let is_waiting = |id: &str| snapshot.notebook.cells.iter().any(|shown| *shown.cell.id == *id && is_asked(shown));
    let cells = Page::of(revealed).cells.into_iter().filter(|cell| is_waiting(cell.id));
    cells.filter_map(|cell| answer(cell.id, cell.items)).collect()
}

/// The answer that a revealed prediction says behind its choices.
fn answer<'a>(cell: &'a str, items: Vec<PageItem<'a>>) -> Option<Answer<'a>> {
    let details = items.into_iter().find_map(|item| match item {
        PageItem::Details { items, .. } => Some(items),
        _ => None,
    })?;
    let mut right = None;
    let mut said = Vec::new();
    for item in details {
        match item {
            PageItem::Choices { right: found, .. } => right = found,
            item => said.push(item),
        }
    }
    Some(Answer { cell, right: right?, said })
}
