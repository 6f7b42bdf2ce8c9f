//! `attune trace`: every tensor of a forward pass.

use std::path::Path;

use super::args::{Common, SentenceArgs};
use super::fault::Fault;
use super::{blame, print, progress};
use crate::export;

/// Trains the lesson and prints the trace of a sentence.
pub fn trace(path: &Path, sentence: &SentenceArgs, common: &Common) -> Result<(), Fault> {
    let lesson = super::read::read(path, common.seed)?;
    let shows = sentence.command(&lesson)?;
    let mut kernel = progress::train(lesson, common);
    let mut snapshot = progress::trained(&kernel, path)?;
    if let Some(shows) = shows {
        kernel.apply(shows);
        snapshot = kernel.snapshot();
    }
    if let Some(words) = blame::overflow_of(&snapshot, path) {
        return Err(Fault::Lesson(words));
    }
    print::with(|out| {
        export::trace::write(&snapshot, &mut *out)?;
        writeln!(out)
    })
}
