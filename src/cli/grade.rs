//! `attune grade`: learners' submissions, judged by the lesson's own checks.

use std::io;
use std::path::{Path, PathBuf};

use attune_core::kernel::check::Grader;
use attune_core::lesson::cases::{self, FurtherCases};
use attune_core::lesson::issue::{printable, shorten, shown};
use attune_core::whole_file::is_same;
use attune_engine::messages::counted;
use attune_view::export::grades::{self, Class, GradedWork};
use attune_view::export::work_file::{LessonMark, WorkFile};
use attune_view::export::{file, items};

use super::args::{Common, GradeArgs, GradeFormat};
use super::{CliFault, print};

/// Grades every submission that can be read, and then reports those that cannot.
///
/// # Errors
/// If the lesson has no tasks, a submission or the cases cannot be used, or the output cannot be written.
pub fn grade(request: &GradeArgs, common: &Common) -> Result<(), CliFault> {
    let (lesson, text) = super::lessons::read_with_text(&request.lesson, common.seed)?;
    if !lesson.cells.iter().any(|cell| cell.kind.is_task()) {
        return Err(CliFault::in_file(&request.lesson, "the lesson has no tasks, so there is nothing to grade"));
    }
    // A model's folder has no text; an empty one stands for it.
    let mark = LessonMark::of(&lesson.id, &lesson.title, &text.unwrap_or_default());
    let further = match &request.cases {
        Some(file) => cases::read(file, &lesson).map_err(|issues| CliFault::lesson(&issues))?,
        None => FurtherCases::default(),
    };
    let title = lesson.title.clone();
    if let Some(file) = &request.output {
        spare(file, &request.submissions)?;
    }
    let grader = Grader::new(lesson, &further);
    if let Some(file) = &request.cases {
        are_solved(file, &grader)?;
    }
    let mut class = Class { title: &title, tasks: grader.tasks().collect(), works: Vec::new(), unread: Vec::new() };
    for path in &request.submissions {
        match graded(path, &mark, &grader) {
            Ok(work) => class.works.push(work),
            Err(why) => class.unread.push((shown(path), why)),
        }
    }
    match &request.output {
        None => print::with(|out| write(request, &class, out))?,
        Some(file) => write_file(request, file, &class, common)?,
    }
    let unread = class.unread.iter().map(|(file, why)| format!("{file}: not graded: {}\n", printable(why)));
    if class.unread.is_empty() { Ok(()) } else { Err(CliFault::Lesson(unread.collect())) }
}

/// Writes the grades of a class to a file, and prints the file's name unless the output is quiet.
fn write_file(request: &GradeArgs, file: &Path, class: &Class<'_>, common: &Common) -> Result<(), CliFault> {
    let mut bytes = Vec::new();
    write(request, class, &mut bytes).map_err(CliFault::output)?;
    let shown = shown(file);
    file::write(&request.lesson, file, &bytes).map_err(|why| CliFault::output(format_args!("{why}")))?;
    if common.quiet {
        return Ok(());
    }
    let works = counted(class.works.len(), "submission");
    let tasks = counted(class.tasks.len(), "task");
    print::line(format_args!("{shown}: {works}, with {tasks} each"))
}

/// Refuses cases that the lesson's own solutions do not pass.
fn are_solved(file: &Path, grader: &Grader) -> Result<(), CliFault> {
    let line = |(id, why): (&str, String)| format!("{}: \"{id}\": {why}\n", shown(file));
    match grader.unsolved() {
        unsolved if unsolved.is_empty() => Ok(()),
        unsolved => Err(CliFault::Lesson(unsolved.into_iter().map(line).collect())),
    }
}

/// Refuses to overwrite a submission with the table.
fn spare(file: &Path, works: &[PathBuf]) -> Result<(), CliFault> {
    if !works.iter().any(|work| is_same(file, work)) {
        return Ok(());
    }
    let shown = shown(file);
    Err(CliFault::output(format_args!("{shown} is one of the submissions; choose another name for the output")))
}

fn write(request: &GradeArgs, class: &Class<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    match (request.to, request.items) {
        (GradeFormat::Tsv, false) => grades::write_tsv(class, out),
        (GradeFormat::Tsv, true) => items::write_tsv(class, out),
        (GradeFormat::Json, false) => grades::write_json(class, out),
        (GradeFormat::Json, true) => items::write_json(class, out),
        (GradeFormat::Html, false) => grades::write_html(class, "", out),
        (GradeFormat::Html, true) => grades::write_html(class, &items::html(class), out),
    }
}

fn graded(path: &Path, mark: &LessonMark, grader: &Grader) -> Result<GradedWork, String> {
    let WorkFile { lesson, name, minutes, work, .. } = WorkFile::read(path).map_err(|why| why.to_string())?;
    if lesson.id != mark.id {
        return Err(format!("this is a submission for the lesson {:?}, not for {:?}", shorten(&lesson.id), mark.id));
    }
    Ok(GradedWork {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        name,
        minutes,
        is_of_another_version: lesson.sha256 != mark.sha256,
        grades: grader.grade(&work),
    })
}
