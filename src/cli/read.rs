//! Reads a lesson for a command.

use std::path::Path;

use attune_core::lesson::issue::printable;
use attune_core::lesson::{Lesson, load};
use attune_view::export::work_file::is_shared;

use super::fault::Fault;
use super::print;

/// Reads a lesson, with the seed of the command line if there is one.
pub fn read(path: &Path, seed: Option<u64>) -> Result<Lesson, Fault> {
    read_with_text(path, seed).map(|(lesson, _)| lesson)
}

/// Reads the same with its text; a pretrained model has none.
pub fn read_with_text(path: &Path, seed: Option<u64>) -> Result<(Lesson, Option<String>), Fault> {
    if is_shared(path) {
        let file = printable(&path.display().to_string());
        return Err(Fault::Lesson(format!(
            "{file}: this file was shared or handed in and is not a lesson; attune, attune render and attune grade \
             read it\n"
        )));
    }
    let (lesson, text) = load::read_with_text(path).map_err(|issues| Fault::lesson(&issues))?;
    if let Some(why) = lesson.why_no_sentence() {
        let file = printable(&path.display().to_string());
        print::warning(format_args!("{file}: {}; give others with --ids", printable(&why)));
    }
    Ok((Lesson { seed: seed.unwrap_or(lesson.seed), ..lesson }, text))
}
