//! `attune [LESSON]`: the window.

use std::fs;
use std::path::{Path, PathBuf};

use super::args::Args;
use super::fault::Fault;
use crate::lesson;
#[cfg(feature = "app")]
use crate::store::Home;

/// The folder that the course is in.
const COURSE: &str = "lessons";

/// Opens the window on a lesson. One with issues opens too, and shows them until the file is mended.
pub fn open(args: &Args) -> Result<(), Fault> {
    let path = args.lesson.clone().or_else(first_lesson).ok_or_else(|| {
        Fault::usage(format_args!(
            "no lesson is given and there is none in the folder {COURSE}; try: attune LESSON.ron"
        ))
    })?;
    // What is no file cannot be mended by saving it.
    if !path.is_file() {
        lesson::read(&path).map_err(|issues| Fault::lesson(&issues))?;
    }
    show(path, args)
}

#[cfg(not(feature = "app"))]
fn show(_: PathBuf, _: &Args) -> Result<(), Fault> {
    Err(Fault::screen("this build has no window; build with the default features, or use check, trace or --help"))
}

#[cfg(feature = "app")]
fn show(path: PathBuf, args: &Args) -> Result<(), Fault> {
    let dark = args.theme.map(super::args::ThemeArg::is_dark);
    let home = args.common.state.clone().map(Home::at).or_else(Home::of_platform);
    let options = crate::app::WindowOptions { path, seed: args.common.seed, size: args.size, dark, home };
    crate::app::run(options).map_err(Fault::screen)
}

/// The first lesson of the course by name.
fn first_lesson() -> Option<PathBuf> {
    let files = fs::read_dir(Path::new(COURSE)).ok()?.flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).min()
}
