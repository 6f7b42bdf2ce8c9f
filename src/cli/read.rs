//! Reads a lesson for a command.

use std::path::Path;

use super::fault::Fault;
use crate::lesson::{self, Lesson};

/// Reads a lesson, with the seed of the command line if there is one.
pub fn read(path: &Path, seed: Option<u64>) -> Result<Lesson, Fault> {
    let mut lesson = lesson::read(path).map_err(|issues| Fault::lesson(&issues))?;
    lesson.seed = seed.unwrap_or(lesson.seed);
    Ok(lesson)
}
