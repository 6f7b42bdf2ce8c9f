//! `attune export` and `attune trace`: a lesson, or every tensor of a forward pass, in a form for other programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use attune_core::kernel::evidence::words::ShownAnswer;
use attune_core::kernel::notebook::NotebookCommand;
use attune_core::kernel::notebook::snapshot::{CellSnapshot, CellStatus};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::course::{self, CourseFile, Heading};
use attune_core::lesson::glossary;
use attune_core::lesson::issue::{one_of, printable};
use attune_core::lesson::panels::PanelName;
use attune_core::lesson::recorded::ONE_PASS;
use attune_core::lesson::vector_files::is_file_of_vectors;
use attune_engine::code::budget::Allowance;
use attune_engine::recording::is_recording;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::checkpoint::{Checkpoint, Unfit};
use attune_view::export::file::{ExportFault, ExportTarget, usual_rows};
use attune_view::export::format::{ExportTo, FORMATS};
use attune_view::export::site::{Site, SiteFault};
use attune_view::export::vectors::TableRows;
use attune_view::export::{self, Format, Pictures, live_page};

use super::args::{Common, ExportArgs, SentenceArgs, TraceArgs, TraceForm, WhatIfArgs};
use super::{CliFault, lessons, print, recordings, training, vectors};
#[cfg(feature = "app")]
use crate::app::picture::Renderer;

/// Stands for the renderer in a build that cannot draw.
#[cfg(not(feature = "app"))]
#[derive(Default)]
pub struct Renderer {}

/// Trains the lesson and writes the file. For a page, the cells run first.
///
/// # Errors
/// If the lesson has issues, if the options do not fit the format, or if the file cannot be written.
pub fn export(request: &ExportArgs, common: &Common) -> Result<(), CliFault> {
    let Some(path) = &request.lesson else { return write_course(request, common) };
    let rows = rows(request)?;
    let has_panels = FORMATS.iter().any(|words| words.to == request.to && words.has_panels);
    if !request.panels.is_empty() && !has_panels {
        let keys: Vec<&str> = FORMATS.iter().filter(|words| words.has_panels).map(|words| words.key).collect();
        let with = one_of(&keys);
        return Err(CliFault::usage(format_args!("--panels: this format has no panels; write them with --to {with}")));
    }
    let ExportTo::File(format) = request.to else { return checkpoint(path, request, common) };
    // Checked before training, which takes time.
    if request.output.as_os_str() == "-" {
        let like = format_args!("name it like apple.{}", format.words().extension);
        return Err(CliFault::usage(format_args!("--output: an export is a file, not a stream; {like}")));
    }
    let target = ExportTarget::new(path, format, &request.output).map_err(fault)?;
    if let Some((format, rows)) = rows
        && let Some(table) = vectors::table(path, rows, common)?
    {
        if let Some(option) = request.sentence.option() {
            return Err(CliFault::usage(format_args!("{option}: a table of vectors has no sentences")));
        }
        return print::line(target.write_table(format, &table.table()).map_err(fault)?);
    }
    let train = if format.is_page() { training::train_with_tour } else { training::train };
    let mut kernel = training::with_sentence(path, &request.sentence, train, common)?;
    add_evidence(&mut kernel, request, common);
    let trained = kernel.snapshot();
    let written = match rows {
        // Cells do not run for this format, so the exported vectors are those of the training.
        Some((format, rows)) => target.write_vectors(format, &trained, rows),
        None if !format.is_page() => target.write(&trained, &Pictures::of_panels(&request.panels)),
        None => {
            let PageContent { snapshot, answered, mut pictures } =
                page_content(&mut kernel, trained, (path, &mut Renderer::default()), format, request.within, common);
            pictures.panels.clone_from(&request.panels);
            target.write_answered(&snapshot, answered.as_ref(), &pictures)
        }
    };
    print::line(written.map_err(fault)?)
}

/// Computes the evidence in the panels that a file shows: the map in *Intervene* and the measures of words in
/// *Answers*, if the model has them. Evidence that is not ready within the time for cells is left out, with a warning.
fn add_evidence(kernel: &mut Kernel, request: &ExportArgs, common: &Common) {
    let of_panels =
        [(PanelName::Intervene, Command::Map), (PanelName::Answers, Command::Words(ShownAnswer::default()))];
    for (panel, command) in of_panels {
        if request.panels.contains(&panel) {
            kernel.apply(command);
        }
    }
    if is_late(kernel, Duration::from_secs(request.within)) {
        // The first of two stops a map, and the second removes it.
        [Command::EndMap, Command::EndMap, Command::EndWords].into_iter().for_each(|command| kernel.apply(command));
        kernel.settle();
        Warnings { is_quiet: common.quiet }.say(format_args!(
            "the map or the measures of words are left out, because they took more than {} s; raise the limit with \
             --within SECONDS",
            request.within
        ));
    }
}

/// The content of a page: the snapshots and the pictures from which it is written.
pub struct PageContent {
    pub snapshot: Snapshot,
    /// The snapshot with the answers to predictions, as for [`live_page::write`]; `None` if the format is not live or
    /// there is nothing to reveal.
    pub answered: Option<Snapshot>,
    pub pictures: Pictures,
}

/// Runs the cells of a trained lesson, for at most the given number of seconds, and draws its pictures.
pub fn page_content(
    kernel: &mut Kernel,
    trained: Snapshot,
    (path, renderer): (&Path, &mut Renderer),
    format: Format,
    within: u64,
    common: &Common,
) -> PageContent {
    let warnings = Warnings { is_quiet: common.quiet };
    // The answers come from the trained lesson, even if its cells then change the model.
    let untouched = format.is_live().then(|| kernel.copy(trained.lesson.clone()));
    let mut snapshot = run_from_top(kernel, Duration::from_secs(within), &warnings);
    warnings.about_cells(&snapshot);
    if format.is_live() {
        // Cells may change the model, but a reader of the page starts with the trained one.
        snapshot.model = trained.model;
    }
    let answered = untouched.and_then(|kernel| live_page::revealed(&snapshot, || kernel));
    let pictures = pictures(&snapshot, (path, renderer), format, common, &warnings);
    PageContent { snapshot, answered, pictures }
}

/// Returns the format and the rows of vectors to export, or `None` if the format holds no vectors.
///
/// # Errors
/// If `--vectors` is given for such a format.
fn rows(request: &ExportArgs) -> Result<Option<(VectorFormat, TableRows)>, CliFault> {
    match (request.to, request.vectors) {
        (ExportTo::File(Format::Vectors(format)), given) => {
            Ok(Some((format, given.unwrap_or_else(|| usual_rows(format)))))
        }
        (_, None) => Ok(None),
        (_, Some(_)) => Err(CliFault::usage("--vectors: this format has no table of vectors; see attune help export")),
    }
}

/// Trains the lesson and writes its model as a checkpoint.
fn checkpoint(path: &Path, request: &ExportArgs, common: &Common) -> Result<(), CliFault> {
    if let Some(option) = request.sentence.option() {
        return Err(CliFault::usage(format_args!("{option}: a checkpoint has only the model and no sentences")));
    }
    let lesson = lessons::read(path, common.seed)?;
    let target = Checkpoint::new(&lesson, &request.output).map_err(|why| match why {
        ExportFault::Form(unfit) => {
            let issue =
                |unfit: &Unfit| format!("{}: {}\n", training::place(path, unfit.field), printable(&unfit.to_string()));
            CliFault::Lesson(unfit.iter().map(issue).collect())
        }
        other => fault(other),
    })?;
    let kernel = training::train(lesson, common);
    print::line(target.write(&training::trained(&kernel, path)?).map_err(fault)?)
}

fn fault(fault: ExportFault) -> CliFault {
    match fault {
        ExportFault::Lesson => CliFault::usage(format_args!("--output: {fault}")),
        ExportFault::Content { .. } | ExportFault::Form(_) => CliFault::Lesson(format!("{fault}\n")),
        ExportFault::Place { .. } | ExportFault::Write { .. } => CliFault::output(fault),
    }
}

/// Lets the kernel work, and returns whether it is still busy after `time`.
fn is_late(kernel: &mut Kernel, time: Duration) -> bool {
    let allowance = Allowance::within(time);
    while kernel.is_busy() && !allowance.is_late() {
        kernel.advance();
    }
    kernel.is_busy()
}

/// Runs all cells, and returns a snapshot in which each cell shows its outputs as of its own position: a later cell may
/// have changed the model, but a reader from the top has not reached it. Cells that have not run within `time` have no
/// outputs.
fn run_from_top(kernel: &mut Kernel, time: Duration, warnings: &Warnings) -> Snapshot {
    kernel.apply(Command::Notebook(NotebookCommand::RunAll));
    let is_late = is_late(kernel, time);
    if is_late {
        kernel.apply(Command::Notebook(NotebookCommand::Interrupt));
        kernel.settle();
    }
    let mut snapshot = kernel.snapshot();
    let is_left = |shown: &&CellSnapshot| shown.cell.is_code() && shown.run.is_none();
    let left = snapshot.notebook.cells.iter().filter(is_left).map(|shown| format!("{:?}", shown.cell.id));
    let left: Vec<String> = left.collect();
    if is_late && !left.is_empty() {
        let (seconds, ids) = (time.as_secs(), left.join(", "));
        warnings.say(format_args!(
            "not run: {ids}, because all cells together took more than {seconds} s; raise the limit with --within SECONDS"
        ));
    }
    let stale = Arc::make_mut(&mut snapshot.notebook).cells.iter_mut().filter(|cell| cell.status == CellStatus::Stale);
    stale.for_each(|cell| cell.status = CellStatus::Fresh);
    snapshot
}

struct Warnings {
    is_quiet: bool,
}

impl Warnings {
    fn say(&self, text: impl std::fmt::Display) {
        if !self.is_quiet {
            print::warning(text);
        }
    }

    /// Warns about each cell that ends in an error, unless the lesson expects the error.
    fn about_cells(&self, snapshot: &Snapshot) {
        for shown in &snapshot.notebook.cells {
            let is_own = matches!(*shown.cell.kind, CellKind::Code { fails: false, .. } | CellKind::Plot { .. });
            if let Some(fault) = shown.run.as_ref().and_then(|run| run.fault.as_ref()).filter(|_| is_own) {
                self.say(format_args!("cell {:?}: {}", shown.cell.id, printable(&fault.to_string())));
            }
        }
    }
}

#[cfg(not(feature = "app"))]
fn pictures(
    snapshot: &Snapshot,
    (path, _): (&Path, &mut Renderer),
    _: Format,
    _: &Common,
    warnings: &Warnings,
) -> Pictures {
    let why = "This build of attune cannot draw the stage.";
    if attune_view::export::page::Page::stages(snapshot).next().is_some() {
        warnings.say(
            "this build cannot draw, so stage cells are described in words; to draw them, build with the default features",
        );
    }
    Pictures::of_lesson(path, why)
}

/// Draws the stage cells as they look after every cell has run.
#[cfg(feature = "app")]
fn pictures(
    snapshot: &Snapshot,
    (path, renderer): (&Path, &mut Renderer),
    format: Format,
    common: &Common,
    warnings: &Warnings,
) -> Pictures {
    use crate::app::work::export::{self, Drawn};

    let bar = training::pictures(export::count(snapshot, format), common);
    let Drawn { pictures, fault } = export::draw_stages(renderer, snapshot, path, format, || bar.inc(1));
    bar.finish_and_clear();
    if let Some(fault) = fault {
        warnings.say(format_args!("stage cells are described in words, because they cannot be drawn: {fault}"));
    }
    pictures
}

/// Trains the lesson, makes the changes of the arguments, and prints the trace of a sentence or writes it as a
/// recording.
///
/// `to` is the form of the trace; `text` is the number of a recording's text, counted from 1.
///
/// # Errors
/// If the lesson has issues, if an option does not fit, or if the trace cannot be written.
pub fn trace(
    path: &Path,
    sentence: &SentenceArgs,
    what_if: &WhatIfArgs,
    (to, text): (&TraceArgs, Option<u64>),
    common: &Common,
) -> Result<(), CliFault> {
    let output = recording_output(to)?;
    if is_recording(path) {
        return match sentence.option().or_else(|| what_if.option()).or(output.map(|_| "--to")) {
            Some(option) => Err(CliFault::usage(format_args!("{option}: {ONE_PASS}"))),
            None => recordings::print_trace(path, text),
        };
    }
    if text.is_some() {
        return Err(CliFault::usage("--text: only a recording has several texts"));
    }
    if is_file_of_vectors(path) {
        return Err(CliFault::usage("trace: for a file of vectors, name the words to trace: --words king,queen"));
    }
    let mut kernel = training::with_sentence(path, sentence, training::train, common)?;
    what_if.apply(&mut kernel)?;
    let snapshot = kernel.snapshot();
    if let Some(words) = training::overflow_of(&snapshot, path) {
        return Err(CliFault::Lesson(words));
    }
    if let Some(output) = output {
        return recordings::write(&snapshot, path, output);
    }
    print::with(|out| {
        export::trace::write(&snapshot, &mut *out)?;
        writeln!(out)
    })
}

/// Returns the file of a recording to write; `None` where the trace is printed.
fn recording_output(to: &TraceArgs) -> Result<Option<&Path>, CliFault> {
    match (to.form, &to.output) {
        (TraceForm::Safetensors, Some(output)) => Ok(Some(output)),
        (TraceForm::Safetensors, None) => {
            Err(CliFault::usage("--to safetensors: name the file to write: -o run.safetensors"))
        }
        (TraceForm::Json, Some(_)) => Err(CliFault::usage("--output: JSON is printed; write it with > run.json")),
        (TraceForm::Json, None) => Ok(None),
    }
}

/// Trains every lesson, runs its cells and writes the course as a folder. A lesson whose model is not on this computer
/// is exported as text only.
fn write_course(request: &ExportArgs, common: &Common) -> Result<(), CliFault> {
    if request.to != ExportTo::File(Format::Web) {
        return Err(CliFault::usage("--course: a course is always exported as a site of live pages; use --to web"));
    }
    if let Some(option) = request.sentence.option() {
        return Err(CliFault::usage(format_args!("{option}: each lesson of a course keeps its own sentences")));
    }
    let folder = lessons::folder(common)?;
    let mut files = course::list(&folder);
    files.extend(further_pages(&files, &request.with, common)?);
    let Some(first) = files.first() else {
        return Err(CliFault::usage(format_args!("there are no lessons in {}", folder.display())));
    };
    let glossary = glossary::beside(&first.path).and_then(|file| glossary::read(&file).ok());
    let mut site = Site::new(&request.output, &files, glossary).map_err(site_fault)?;
    let mut renderer = Renderer::default();
    for file in &files {
        let path = &file.path;
        let lesson = lessons::read(path, common.seed)?;
        if let Some(absent) = lesson.absent_model() {
            let pictures = Pictures::of_lesson(path, absent.needs());
            site.add(&Kernel::new(lesson.into()).snapshot(), None, &pictures).map_err(site_fault)?;
            continue;
        }
        let mut kernel = training::train_with_tour(lesson, common);
        training::trained(&kernel, path)?;
        add_evidence(&mut kernel, request, common);
        let trained = kernel.snapshot();
        let PageContent { snapshot, answered, mut pictures } =
            page_content(&mut kernel, trained, (path, &mut renderer), Format::Web, request.within, common);
        pictures.panels.clone_from(&request.panels);
        site.add(&snapshot, answered.as_ref(), &pictures).map_err(site_fault)?;
    }
    print::line(site.write().map_err(site_fault)?)
}

/// Returns the recordings and models that get pages in the site, each under an id of its own.
fn further_pages(files: &[CourseFile], runs: &[PathBuf], common: &Common) -> Result<Vec<CourseFile>, CliFault> {
    const CHAPTER: &str = "Recordings and models";
    let ids = files.iter().filter_map(|file| file.heading.as_ref().ok());
    let mut ids: BTreeSet<String> = ids.map(|heading| heading.id.clone()).collect();
    let mut pages = Vec::new();
    for path in runs {
        let mut heading = Heading::of(&lessons::read(path, common.seed)?);
        let own = heading.id.clone();
        let unused = (1..).map(|number| if number == 1 { own.clone() } else { format!("{own}-{number}") });
        heading.id = unused.into_iter().find(|id| !ids.contains(id)).unwrap_or_default();
        heading.chapter = pages.is_empty().then(|| CHAPTER.to_owned());
        ids.insert(heading.id.clone());
        pages.push(CourseFile { path: path.clone(), heading: Ok(heading) });
    }
    Ok(pages)
}

fn site_fault(fault: SiteFault) -> CliFault {
    match fault {
        SiteFault::Lesson(..) => CliFault::Lesson(format!("{fault}\n")),
        SiteFault::Place(_) | SiteFault::Large | SiteFault::Write(_) => {
            CliFault::output(format_args!("the site cannot be written: {fault}"))
        }
    }
}
