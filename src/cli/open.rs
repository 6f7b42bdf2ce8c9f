//! `attune [LESSON]`: the window.

use std::path::{Path, PathBuf};

use attune_core::lesson::{self, glossary::is_glossary_file};
use attune_view::export::work_file::{Shared, is_shared};

use super::args::{Args, Common, OfLesson};
use super::fault::Fault;
use crate::built_in;

/// Opens the window on a lesson, on a copy of what somebody shared, or on the course. A lesson with issues opens too, and
/// shows them until the file is fixed.
pub fn open(args: &Args) -> Result<(), Fault> {
    let Some(path) = &args.lesson else { return show(None, None, args) };
    if let Some(shared) = shared(path, &args.of, &args.common)? {
        return show(None, Some(shared), args);
    }
    // Saving a missing file or a glossary would not bring up a lesson: report the issues instead of waiting.
    if !path.is_file() || is_glossary_file(path) {
        lesson::read(path).map_err(|issues| Fault::lesson(&issues))?;
    }
    show(Some(path.clone()), None, args)
}

/// A file that was shared or handed in, with its lesson; none where the path is no such file.
pub fn shared(path: &Path, of: &OfLesson, common: &Common) -> Result<Option<Shared>, Fault> {
    if is_shared(path) {
        let of_program = || built_in::put_into(&common.home()?.built_in()).ok();
        let shared = Shared::open(path, of.path.as_deref(), of_program);
        return shared.map(Some).map_err(|why| Fault::Lesson(format!("{why}\n")));
    }
    match of.path {
        None => Ok(None),
        Some(_) => {
            Err(Fault::usage("--lesson is for a file that was shared or handed in, such as apple-shared.attune"))
        }
    }
}

#[cfg(not(feature = "app"))]
fn show(_: Option<PathBuf>, _: Option<Shared>, _: &Args) -> Result<(), Fault> {
    Err(Fault::screen("this build has no window; build with the default features, or use check, trace or --help"))
}

#[cfg(feature = "app")]
fn show(path: Option<PathBuf>, shared: Option<Shared>, args: &Args) -> Result<(), Fault> {
    let dark = args.theme.map(super::args::ThemeArg::is_dark);
    let home = args.common.home();
    home.iter().for_each(|home| attune_engine::panics::work_is_kept_in(home.root().to_owned()));
    let beside = args.beside.as_deref().map(lesson::read).transpose().map_err(|issues| Fault::lesson(&issues))?;
    let beside = beside.map(std::sync::Arc::new);
    let seed = args.common.seed;
    let options = crate::app::WindowOptions { path, shared, beside, seed, size: args.size, dark, home };
    crate::app::run(options).map_err(Fault::screen)
}
