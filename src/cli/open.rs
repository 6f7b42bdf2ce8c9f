//! `attune [LESSON]`: the window.

use super::args::Args;
use super::fault::Fault;

#[cfg(not(feature = "app"))]
pub fn open(_: &Args) -> Result<(), Fault> {
    Err(Fault::screen("this build has no window; build with the default features, or use check, trace or --help"))
}

#[cfg(feature = "app")]
pub fn open(args: &Args) -> Result<(), Fault> {
    let path = args.lesson.clone().or_else(first_lesson).ok_or_else(|| {
        Fault::usage("no lesson is given and there is none in the folder `lessons`; try: attune LESSON.ron")
    })?;
    let dark = args.theme.map(super::args::ThemeArg::is_dark);
    let options = crate::app::WindowOptions { path, seed: args.common.seed, size: args.size, dark };
    crate::app::run(options).map_err(Fault::screen)
}

/// The first lesson by name of the folder that the course is in.
#[cfg(feature = "app")]
fn first_lesson() -> Option<std::path::PathBuf> {
    let files = std::fs::read_dir("lessons").ok()?.flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).min()
}
