//! `attune [LESSON]`: the window.

use std::path::{Path, PathBuf};

use super::args::Args;
use super::fault::Fault;
use crate::lesson::{self, glossary::is_glossary_file};

/// Opens the window on a lesson, or on the course. A lesson with issues opens too, and shows them until
/// the file is fixed.
pub fn open(args: &Args) -> Result<(), Fault> {
    // Saving a missing file or a glossary would not bring up a lesson: report the issues instead of waiting.
    let is_other = |path: &&Path| !path.is_file() || is_glossary_file(path);
    if let Some(path) = args.lesson.as_deref().filter(is_other) {
        lesson::read(path).map_err(|issues| Fault::lesson(&issues))?;
    }
    show(args.lesson.clone(), args)
}

#[cfg(not(feature = "app"))]
fn show(_: Option<PathBuf>, _: &Args) -> Result<(), Fault> {
    Err(Fault::screen("this build has no window; build with the default features, or use check, trace or --help"))
}

#[cfg(feature = "app")]
fn show(path: Option<PathBuf>, args: &Args) -> Result<(), Fault> {
    let dark = args.theme.map(super::args::ThemeArg::is_dark);
    let home = args.common.home();
    home.iter().for_each(|home| crate::panics::work_is_kept_in(home.root().to_owned()));
    let options = crate::app::WindowOptions { path, seed: args.common.seed, size: args.size, dark, home };
    crate::app::run(options).map_err(Fault::screen)
}
