//! `attune trace`: every tensor of a forward pass.

use std::path::Path;

use attune_view::export;

use super::args::{Common, SentenceArgs};
use super::fault::Fault;
use super::what_if::WhatIfArgs;
use super::{blame, print, progress};

/// Trains the lesson and prints the trace of a sentence, as it is with the changes that are asked for.
pub fn trace(path: &Path, sentence: &SentenceArgs, what_if: &WhatIfArgs, common: &Common) -> Result<(), Fault> {
    let lesson = super::read::read(path, common.seed)?;
    let shows = sentence.command(&lesson)?;
    let mut kernel = progress::train(lesson, common);
    progress::trained(&kernel, path)?;
    if let Some(shows) = shows {
        kernel.apply(shows);
    }
    what_if.apply(&mut kernel)?;
    let snapshot = kernel.snapshot();
    if let Some(words) = blame::overflow_of(&snapshot, path) {
        return Err(Fault::Lesson(words));
    }
    print::with(|out| {
        export::trace::write(&snapshot, &mut *out)?;
        writeln!(out)
    })
}
