//! `attune check`: a line a lesson, and every issue.

use std::path::{Path, PathBuf};

use super::args::Common;
use super::fault::Fault;
use super::{print, progress};
use crate::kernel::facts::{Verdict, verify};
use crate::lesson::schema::Expect;

/// Trains each lesson and verifies its claims.
pub fn check(lessons: &[PathBuf], verbose: bool, common: &Common) -> Result<(), Fault> {
    let mut faults = String::new();
    for path in lessons {
        match check_one(path, verbose, common) {
            Ok(line) => print::line(line)?,
            Err(fault) => {
                print::line(format_args!("{}: has issues", path.display()))?;
                faults.push_str(fault.text());
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Fault::Lesson(faults)) }
}

fn check_one(path: &Path, verbose: bool, common: &Common) -> Result<String, Fault> {
    let lesson = super::read(path, common.seed)?;
    let cells = lesson.cells.len();
    let snapshot = progress::trained(&progress::train(lesson, common), path)?;
    let file = path.display();
    let verdicts = verify(&snapshot).unwrap_or_default();
    if verbose {
        verdicts.iter().try_for_each(|verdict| print::line(format_args!("{file}: {}", line(verdict))))?;
    }
    let failed: String = verdicts
        .iter()
        .filter(|verdict| !verdict.holds())
        .map(|verdict| format!("{file}: {}\n", line(verdict)))
        .collect();
    if failed.is_empty() {
        let seed = snapshot.lesson.seed;
        Ok(format!("{file}: ok, {cells} cells, {} claims hold with seed {seed}", verdicts.len()))
    } else {
        Err(Fault::Lesson(failed))
    }
}

fn line(verdict: &Verdict) -> String {
    let Verdict { id, says, value, expect } = verdict;
    let verb = if verdict.holds() { "holds" } else { "does not hold" };
    let expected = match expect {
        Expect::AtLeast(least) => format!("at least {least}"),
        Expect::AtMost(most) => format!("at most {most}"),
        Expect::Within { value, tolerance } => format!("{value} ± {tolerance}"),
    };
    format!("claim {id:?} {verb}: measured {value:.5}, expected {expected} ({says})")
}
