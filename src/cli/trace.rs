//! `attune trace`: every tensor of a forward pass.

use std::path::Path;

use super::args::Common;
use super::fault::Fault;
use super::{print, progress};
use crate::export;
use crate::kernel::Command;
use crate::kernel::sentence::read_sentence;

/// Trains the lesson and prints the trace of a sentence.
pub fn trace(path: &Path, sentence: Option<&str>, common: &Common) -> Result<(), Fault> {
    let lesson = super::read(path, common.seed)?;
    if let Some(sentence) = sentence {
        // Before training, which may take long.
        read_sentence(sentence, &lesson.vocabulary(), lesson.model.architecture.max_tokens)
            .map_err(|issue| Fault::usage(format_args!("--sentence: {issue}")))?;
    }
    let mut kernel = progress::train(lesson, common);
    let mut snapshot = progress::trained(&kernel, path)?;
    if let Some(sentence) = sentence {
        kernel.apply(Command::SetSentence(sentence.to_owned()));
        snapshot = kernel.snapshot();
    }
    let json = export::trace::trace(&snapshot).ok_or_else(|| Fault::usage("the lesson has no model to trace"))?;
    print::line(json)
}
