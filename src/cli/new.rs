//! `attune new`: a small lesson to start from.

use std::path::Path;

use super::args::Common;
use super::fault::Fault;
use super::print;
use crate::lesson::issue::printable;
use crate::lesson::starter;
use crate::whole_file;

/// Writes the starter lesson; what is there already stays.
pub fn new(path: &Path, common: &Common) -> Result<(), Fault> {
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
    let lesson = starter::of_name(&name);
    whole_file::write(path, lesson.as_bytes()).map_err(|why| Fault::output(format_args!("{shown}: {why}")))?;
    if common.quiet {
        return Ok(());
    }
    print::with(|out| writeln!(out, "{shown}: a lesson to start from\n  attune check {shown}\n  attune {shown}"))
}
