//! `attune trace`: every tensor of a forward pass.

use std::path::Path;

use super::args::Common;
use super::fault::Fault;
use super::{print, progress};
use crate::export;
use crate::kernel::Command;

/// Trains the lesson and prints the trace of a sentence.
pub fn trace(path: &Path, sentence: Option<&str>, common: &Common) -> Result<(), Fault> {
    let lesson = super::read(path, common.seed)?;
    let mut kernel = progress::train(lesson, common);
    if let Some(sentence) = sentence {
        kernel.apply(Command::SetSentence(sentence.to_owned()));
    }
    let snapshot = kernel.snapshot();
    if let Some(notice) = &snapshot.notice {
        return Err(Fault::usage(format_args!("--sentence: {notice}")));
    }
    let json = export::trace::trace(&snapshot).ok_or_else(|| Fault::usage("the lesson has no model to trace"))?;
    print::line(json)
}
