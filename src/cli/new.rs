//! `attune new`: a small lesson to start from, or a copy of another.

use std::path::Path;

use super::args::Common;
use super::fault::Fault;
use super::print;
use crate::lesson::issue::printable;
use crate::lesson::{self, starter};
use crate::whole_file;

/// Writes the starter lesson, or a copy of the lesson `from`; what is there already stays.
pub fn new(path: &Path, from: Option<&Path>, common: &Common) -> Result<(), Fault> {
    let shown = printable(&path.display().to_string());
    let name = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    if path.extension().is_none_or(|extension| extension != "ron") {
        return Err(Fault::usage(format_args!(
            "{shown:?} cannot be a lesson: its name must end in .ron, such as my_lesson.ron"
        )));
    }
    if path.exists() {
        return Err(Fault::usage(format_args!("{shown:?} already exists: choose another name, or move it away")));
    }
    let lesson = match from {
        None => starter::of_name(&name),
        Some(other) => {
            let text = lesson::load::text(other).map_err(|issue| Fault::lesson(&[*issue]))?;
            starter::copy_of(&text, &name)
        }
    };
    whole_file::write(path, lesson.as_bytes()).map_err(|why| Fault::output(format_args!("{shown}: {why}")))?;
    if common.quiet {
        return Ok(());
    }
    print::with(|out| writeln!(out, "{shown}: a lesson to start from\n  attune check {shown}\n  attune {shown}"))
}
