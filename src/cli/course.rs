//! The course, and lessons of it by their names.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use attune_core::lesson::course;

use super::args::{Action, Args, Common};
use super::fault::Fault;
use crate::built_in;

/// The folder of the course: `lessons`, here or above; else that of the program itself.
fn folder(common: &Common) -> Result<PathBuf, Fault> {
    course::folder().map_or_else(|| of_program(common), Ok)
}

/// The course of the program, in a folder of the learner's data.
fn of_program(common: &Common) -> Result<PathBuf, Fault> {
    let home = common.home().ok_or_else(|| {
        Fault::usage("attune does not know where to put the course: HOME is not set; name a folder with --state DIR")
    })?;
    built_in::put_into(&home.built_in()).map_err(|why| {
        let folder = home.root().display();
        Fault::output(format_args!(
            "the course cannot be put into {folder}: {why}; give another folder with --state DIR"
        ))
    })
}

/// The files of the course, its glossary among them, in the order of their names.
fn files(common: &Common) -> Result<Vec<PathBuf>, Fault> {
    let folder = folder(common)?;
    let files = course::files(&folder);
    match files.is_empty() {
        true => Err(Fault::usage(format_args!("no lessons in {}", folder.display()))),
        false => Ok(files),
    }
}

/// Puts the files that are meant in the places of the lessons' names among the arguments.
pub fn find_lessons(args: &mut Args) -> Result<(), Fault> {
    let common = &args.common;
    let mut given: Vec<&mut PathBuf> = args.lesson.iter_mut().chain(&mut args.of.path).collect();
    match &mut args.action {
        Some(Action::Check { lessons, .. }) if lessons.is_empty() => *lessons = files(common)?,
        Some(Action::Check { lessons, .. }) => given.extend(lessons),
        Some(Action::Trace { lesson, .. }) => given.push(lesson),
        Some(Action::New { from, .. }) => given.extend(from),
        Some(Action::Render(request)) => given.extend([&mut request.lesson].into_iter().chain(&mut request.of.path)),
        Some(Action::Export(request)) => given.push(&mut request.lesson),
        Some(Action::Grade(request)) => given.push(&mut request.lesson),
        Some(Action::Licences | Action::Manual | Action::Completions { .. }) | None => {}
    }
    given.into_iter().try_for_each(|path| {
        *path = lesson(path, common)?;
        Ok(())
    })
}

/// The file that is meant: one that is there, or a lesson of the course by its name alone, as `apple`.
fn lesson(given: &Path, common: &Common) -> Result<PathBuf, Fault> {
    let Some(name) = name(given).filter(|_| !given.exists()) else { return Ok(given.to_owned()) };
    let file = |folder: PathBuf| course::file(&folder, name);
    match course::folder().map(file).filter(|file| file.is_file()) {
        Some(file) => Ok(file),
        None if built_in::has(name) => of_program(common).map(file),
        None => Ok(given.to_owned()),
    }
}

/// A word that can be a lesson's name: no path, and no ending.
fn name(given: &Path) -> Option<&str> {
    let mut parts = given.components();
    let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else { return None };
    OsStr::to_str(name).filter(|name| !name.contains('.'))
}
