//! The lessons that the command line names: finding them in the course, reading them, opening them in the window
//! (`attune [LESSON]`), and creating new ones (`attune new`).

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use attune_core::lesson::glossary::is_glossary_file;
use attune_core::lesson::issue::{printable, shown};
use attune_core::lesson::starter::{NotNew, write_new};
#[cfg(feature = "app")]
use attune_core::lesson::vector_files::{BESIDE_VECTORS, is_file_of_vectors};
use attune_core::lesson::{self, Lesson, course, load};
use attune_view::export::work_file::{SharedWork, is_shared};

use super::args::{Args, CliCommand, Common, OfLesson};
use super::evidence_args::{HeadsArgs, MapArgs, ScoreArgs, WordsArgs};
use super::{CliFault, print};
use crate::built_in;

/// Returns the folder of the course: `lessons` in the current folder or one above it, or else the folder of the
/// built-in course.
///
/// # Errors
/// If the built-in course cannot be written, or the environment names no home.
pub fn folder(common: &Common) -> Result<PathBuf, CliFault> {
    course::folder().map_or_else(|| of_program(common), Ok)
}

/// Writes the built-in course into the folder of the learner's data, and returns its folder.
fn of_program(common: &Common) -> Result<PathBuf, CliFault> {
    let home = common.home().ok_or_else(|| {
        CliFault::usage("attune cannot store the course, because HOME is not set; name a folder with --state DIR")
    })?;
    built_in::put_into(&home.built_in()).map_err(|why| {
        let folder = home.root().display();
        CliFault::output(format_args!(
            "the course cannot be written to {folder}: {why}; name another folder with --state DIR"
        ))
    })
}

/// Lists the files of the course, including its glossary, in alphabetical order.
fn files(common: &Common) -> Result<Vec<PathBuf>, CliFault> {
    let folder = folder(common)?;
    let files = course::files(&folder);
    match files.is_empty() {
        true => Err(CliFault::usage(format_args!("there are no lessons in {}", folder.display()))),
        false => Ok(files),
    }
}

/// Replaces names of lessons among the arguments by the files that they name.
///
/// # Errors
/// If the built-in course cannot be written, or the course has no lessons.
pub fn find_lessons(args: &mut Args) -> Result<(), CliFault> {
    let common = &args.common;
    let mut given: Vec<&mut PathBuf> = args.lesson.iter_mut().chain(&mut args.of.path).collect();
    match &mut args.action {
        Some(CliCommand::Check { lessons, .. }) if lessons.is_empty() => *lessons = files(common)?,
        Some(CliCommand::Check { lessons, .. }) => given.extend(lessons),
        Some(CliCommand::Trace { lesson, .. }) => given.push(lesson),
        Some(CliCommand::New { from, .. }) => given.extend(from),
        Some(CliCommand::Render(request)) => {
            given.extend([&mut request.lesson].into_iter().chain(&mut request.of.path))
        }
        Some(CliCommand::Export(request)) => given.extend(&mut request.lesson),
        Some(CliCommand::Grade(request)) => given.push(&mut request.lesson),
        Some(CliCommand::Map(MapArgs { lesson, .. }) | CliCommand::Score(ScoreArgs { lesson, .. })) => {
            given.push(lesson)
        }
        Some(CliCommand::Words(WordsArgs { lesson, .. }) | CliCommand::Heads(HeadsArgs { lesson, .. })) => {
            given.push(lesson)
        }
        Some(
            CliCommand::Neighbours(_)
            | CliCommand::Compare(_)
            | CliCommand::Licences
            | CliCommand::Manual { .. }
            | CliCommand::Completions { .. },
        )
        | None => {}
    }
    given.into_iter().try_for_each(|path| {
        *path = lesson(path, common)?;
        Ok(())
    })
}

/// Returns the file that an argument means: an existing file, or a lesson of the course given by its name alone, such
/// as `apple`.
fn lesson(given: &Path, common: &Common) -> Result<PathBuf, CliFault> {
    let Some(name) = name(given).filter(|_| !given.exists()) else { return Ok(given.to_owned()) };
    let file = |folder: PathBuf| course::file(&folder, name);
    match course::folder().map(file).filter(|file| file.is_file()) {
        Some(file) => Ok(file),
        None if built_in::has(name) => of_program(common).map(file),
        None => Ok(given.to_owned()),
    }
}

/// Returns the argument as a lesson's name, if it can be one: a single component without an extension.
fn name(given: &Path) -> Option<&str> {
    let mut parts = given.components();
    let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else { return None };
    OsStr::to_str(name).filter(|name| !name.contains('.'))
}

/// Reads a lesson. The seed, if given, replaces the lesson's own.
///
/// # Errors
/// As for [`read_with_text`].
pub fn read(path: &Path, seed: Option<u64>) -> Result<Lesson, CliFault> {
    read_with_text(path, seed).map(|(lesson, _)| lesson)
}

/// Reads a lesson, and returns its text too; a pretrained model has none.
///
/// # Errors
/// If the lesson has issues, or the file was shared or handed in.
pub fn read_with_text(path: &Path, seed: Option<u64>) -> Result<(Lesson, Option<String>), CliFault> {
    if is_shared(path) {
        return Err(CliFault::in_file(
            path,
            "this file was shared or handed in and is not a lesson; open it with attune, draw it with attune render, \
             or grade it with attune grade",
        ));
    }
    let (lesson, text) = load::read_with_text(path).map_err(|issues| CliFault::lesson(&issues))?;
    if let Some(why) = lesson.why_no_sentence() {
        let file = shown(path);
        print::warning(format_args!("{file}: {}; you can give other ids with --ids", printable(&why)));
    }
    Ok((Lesson { seed: seed.unwrap_or(lesson.seed), ..lesson }, text))
}

/// Opens the window on a lesson, on a copy of a shared lesson, or on the course. A lesson with issues opens too, and
/// shows them until the file is fixed.
///
/// # Errors
/// If the file is missing or is no lesson, or there is no display or graphics adapter.
pub fn open(args: &Args) -> Result<(), CliFault> {
    let Some(path) = &args.lesson else { return show(None, None, args) };
    if let Some(shared) = shared(path, &args.of, &args.common)? {
        return show(None, Some(shared), args);
    }
    // The window waits until a lesson with issues is saved, but saving cannot help a missing file or a glossary.
    if !path.is_file() || is_glossary_file(path) {
        lesson::read(path).map_err(|issues| CliFault::lesson(&issues))?;
    }
    show(Some(path.clone()), None, args)
}

/// Opens a file that was shared or handed in, with its lesson; returns `None` if the path is not such a file.
///
/// # Errors
/// If the file or its lesson cannot be read.
pub fn shared(path: &Path, of: &OfLesson, common: &Common) -> Result<Option<SharedWork>, CliFault> {
    if is_shared(path) {
        let of_program = || built_in::put_into(&common.home()?.built_in()).ok();
        let shared = SharedWork::open(path, of.path.as_deref(), of_program);
        return shared.map(Some).map_err(|why| CliFault::Lesson(format!("{why}\n")));
    }
    match of.path {
        None => Ok(None),
        Some(_) => {
            Err(CliFault::usage("--lesson is for a file that was shared or handed in, such as apple-shared.attune"))
        }
    }
}

#[cfg(not(feature = "app"))]
fn show(_: Option<PathBuf>, _: Option<SharedWork>, _: &Args) -> Result<(), CliFault> {
    Err(CliFault::screen(
        "this build has no window; build attune with the default features, or use a command; see --help",
    ))
}

#[cfg(feature = "app")]
fn show(path: Option<PathBuf>, shared: Option<SharedWork>, args: &Args) -> Result<(), CliFault> {
    let dark = args.theme.map(super::args::ThemeArg::is_dark);
    let home = args.common.home();
    home.iter().for_each(|home| attune_engine::panics::work_is_kept_in(home.root().to_owned()));
    let beside = args.beside.as_deref().map(|other| beside(path.as_deref(), other)).transpose()?;
    let seed = args.common.seed;
    let options = crate::app::WindowOptions { path, shared, beside, seed, size: args.size, dark, home };
    crate::app::run(options).map_err(CliFault::screen)
}

/// Returns the second of two models to compare on a sentence, or of two files of vectors.
#[cfg(feature = "app")]
fn beside(path: Option<&Path>, other: &Path) -> Result<crate::app::Beside, CliFault> {
    let is_vectors = [path.is_some_and(is_file_of_vectors), is_file_of_vectors(other)];
    if is_vectors == [true, true] {
        return Ok(crate::app::Beside::Vectors(other.to_owned()));
    }
    if is_vectors != [false, false] {
        return Err(CliFault::usage(format_args!("--beside: {BESIDE_VECTORS}")));
    }
    let lesson = lesson::read(other).map_err(|issues| CliFault::lesson(&issues))?;
    Ok(crate::app::Beside::Model(std::sync::Arc::new(lesson)))
}

/// Writes the starter lesson, or a copy of the lesson `from`, and prints what to do next.
///
/// # Errors
/// If the file exists or cannot be written, or `from` cannot be read.
pub fn new(path: &Path, from: Option<&Path>, common: &Common) -> Result<(), CliFault> {
    write_new(path, from).map_err(|why| match why {
        NotNew::Name(_) | NotNew::Taken(_) => CliFault::usage(why),
        NotNew::From(issue) => CliFault::lesson(&[*issue]),
        NotNew::Unwritten(..) => CliFault::output(why),
    })?;
    if common.quiet {
        return Ok(());
    }
    let shown = shown(path);
    print::with(|out| writeln!(out, "{shown}: a lesson to start from\n  attune check {shown}\n  attune {shown}"))
}
