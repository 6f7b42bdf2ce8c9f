//! Reading of a recording that a lesson names instead of a model, as in `model: Recording("run.safetensors")`. The file
//! is in the lesson's folder, and its texts are the lesson's sentences.

use std::sync::Arc;

use crate::lesson::read::vectors::file_beside;
use crate::lesson::reading::decode::{Node, Record, record};
use crate::lesson::recorded::RecordedModel;
use crate::lesson::schema::Lesson;

const NAME: &str = "Recording";

/// Returns whether a lesson's model is a recording.
pub fn is_recorded(model: Node<'_>) -> bool {
    model.text.starts_with(NAME)
}

/// Reads the lesson of a recording, whose numbers are read later.
pub fn read_recording(node: Node<'_>) -> Option<Lesson> {
    record(node, &[NAME], |record| record.take_item("\"run.safetensors\"", open)).map(Lesson::of_recording)
}

fn open(node: Node<'_>) -> Option<RecordedModel> {
    let path = file_beside(node, "model", "run.safetensors")?;
    match RecordedModel::open(&path) {
        Ok(model) => Some(model),
        Err(refusals) => {
            for refusal in refusals {
                node.issue(format!("model: {refusal}"));
            }
            None
        }
    }
}

/// Takes the sentences, which are the recording's own texts. Returns `None` if the recording cannot be opened, or the
/// lesson names sentences.
pub fn take_texts(record: &mut Record<'_>, model: Option<&Arc<RecordedModel>>) -> Option<Vec<Option<Vec<String>>>> {
    let count = model.map_or(0, |model| model.recording.texts.len());
    let texts = (0..count).map(|text| model.map(|model| vec![model.title(text)])).collect();
    let taken = record.take_or("sentences", texts, |node| {
        node.issue("sentences: a recording holds its own texts, and cannot read others").expected("no sentences").none()
    });
    taken.filter(|_| model.is_some())
}
