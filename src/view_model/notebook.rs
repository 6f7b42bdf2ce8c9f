//! The notebook: the lesson's cells as they stand.

use crate::kernel::snapshot::Snapshot;
use crate::lesson::schema::CellKind;

#[derive(Clone, Debug, PartialEq)]
pub struct NotebookModel {
    pub title: String,
    pub cells: Vec<CellModel>,
    /// The sentences that can be chosen, as text.
    pub sentences: Vec<String>,
    /// The one on the stage, as text.
    pub sentence: String,
    /// Its index among `sentences`, if it is one of them.
    pub selected: Option<usize>,
    pub notice: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CellModel {
    pub id: String,
    pub kind: CellKind,
}

impl NotebookModel {
    pub fn of(snapshot: &Snapshot) -> NotebookModel {
        let lesson = &snapshot.lesson;
        let current = snapshot.model.as_ref().map(|model| &model.sentence);
        NotebookModel {
            title: lesson.title.clone(),
            cells: lesson.cells.iter().map(|cell| CellModel { id: cell.id.clone(), kind: cell.kind.clone() }).collect(),
            sentences: lesson.sentences.iter().map(|words| words.join(" ")).collect(),
            sentence: current
                .map_or_else(String::new, |s| s.chosen().iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join(" ")),
            selected: current.map_or(Some(0), |s| s.index),
            notice: snapshot.notice.as_ref().map(|text| text.to_string()),
        }
    }
}
