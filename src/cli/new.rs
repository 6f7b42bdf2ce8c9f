//! `attune new`: a small lesson to start from, or a copy of another.

use std::path::Path;

use attune_core::lesson::issue::printable;
use attune_core::lesson::starter::{NotNew, write_new};

use super::args::Common;
use super::fault::Fault;
use super::print;

/// Writes the starter lesson, or a copy of the lesson `from`, and says how to go on.
pub fn new(path: &Path, from: Option<&Path>, common: &Common) -> Result<(), Fault> {
    write_new(path, from).map_err(|why| match why {
        NotNew::Name(_) | NotNew::Taken(_) => Fault::usage(why),
        NotNew::From(issue) => Fault::lesson(&[*issue]),
        NotNew::Unwritten(..) => Fault::output(why),
    })?;
    if common.quiet {
        return Ok(());
    }
    let shown = printable(&path.display().to_string());
    print::with(|out| writeln!(out, "{shown}: a lesson to start from\n  attune check {shown}\n  attune {shown}"))
}
