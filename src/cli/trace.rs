//! `attune trace`: every tensor of a forward pass.

use std::path::Path;

use super::args::Common;
use super::fault::Fault;
use super::{blame, print, progress};
use crate::export;
use crate::kernel::Command;
use crate::kernel::command::SentenceCommand;
use crate::kernel::scene::sentence::Sentence;
use crate::kernel::training::overflow::first_not_finite;

/// Trains the lesson and prints the trace of a sentence.
pub fn trace(path: &Path, sentence: Option<&str>, ids: Option<&[usize]>, common: &Common) -> Result<(), Fault> {
    let lesson = super::read::read(path, common.seed)?;
    // Before training, which may take long.
    let wanted = match (sentence, ids) {
        (Some(text), _) => {
            let read = Sentence::read(text, &lesson, &lesson.vocabulary());
            read.map_err(|issue| Fault::usage(format_args!("--sentence: {issue}")))?;
            Some(SentenceCommand::Set(text.to_owned()))
        }
        (None, Some(ids)) => {
            let read = Sentence::of_ids(ids, &lesson, &lesson.vocabulary());
            read.map_err(|issue| Fault::usage(format_args!("--ids: {issue}")))?;
            Some(SentenceCommand::Ids(ids.to_vec()))
        }
        (None, None) => None,
    };
    let mut kernel = progress::train(lesson, common);
    let mut snapshot = progress::trained(&kernel, path)?;
    if let Some(wanted) = wanted {
        kernel.apply(Command::Sentence(wanted));
        snapshot = kernel.snapshot();
    }
    if let Some(model) = &snapshot.model {
        let sentence = &model.sentence;
        let first = first_not_finite(&model.architecture, &sentence.activations, &sentence.answers.logits);
        if let Some(tensor) = first {
            let words: Vec<&str> = sentence.chosen().iter().map(|token| token.text.as_str()).collect();
            return Err(Fault::Lesson(blame::overflow(path, &snapshot.lesson, &words.join(" "), tensor)));
        }
    }
    print::with(|out| {
        export::trace::write(&snapshot, &mut *out)?;
        writeln!(out)
    })
}
