//! `attune export`: a lesson as a file for another program.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use super::args::{Common, ExportArgs, Format};
use super::fault::Fault;
use super::render::obstacle;
use super::{print, progress};
use crate::export::page::Page;
use crate::export::{Pictures, html, ipynb, md, tsv};
use crate::kernel::notebook::NotebookCommand;
use crate::kernel::notebook::snapshot::CellStatus;
use crate::kernel::{Command, Kernel, Snapshot};
use crate::lesson::cells::CellKind;
use crate::lesson::issue::printable;

/// Trains the lesson, runs its cells and writes the file.
pub fn export(request: &ExportArgs, common: &Common) -> Result<(), Fault> {
    let target = Target::of(request)?;
    let lesson = super::read(&request.lesson, common.seed)?;
    let mut kernel = progress::train(lesson, common);
    let snapshot = progress::trained(&kernel, &request.lesson)?;
    if request.to == Format::Tsv {
        // The vectors are those that training made, whatever the cells then do to the weights.
        return export_tsv(&snapshot, &target);
    }
    let snapshot = run_from_top(&mut kernel);
    let warnings = Warnings { is_quiet: common.quiet };
    warnings.about_cells(&snapshot);
    let pictures = pictures(&snapshot, request, common, &warnings);
    let mut text = Vec::new();
    let written = match request.to {
        Format::Ipynb => ipynb::write(&snapshot, &pictures, &mut text).map(|()| Vec::new()),
        Format::Html => html::write(&snapshot, &pictures, &mut text).map(|()| Vec::new()),
        Format::Md | Format::Tsv => md::write(&snapshot, &pictures, &target.beside_name("_files"), &mut text),
    };
    let beside = written.map_err(|error| target.fault(&target.file, &error))?;
    let folder = target.beside("_files");
    if !beside.is_empty() {
        fs::create_dir_all(&folder).map_err(|error| target.fault(&folder, &error))?;
    }
    for picture in &beside {
        target.write(&folder.join(&picture.name), &picture.bytes)?;
    }
    target.write(&target.file, &text)?;
    let files = match beside.len() {
        0 => String::new(),
        1 => format!("; 1 picture in {}", name(&folder)),
        count => format!("; {count} pictures in {}", name(&folder)),
    };
    let cells = snapshot.notebook.cells.len();
    print::line(format_args!("{}: {cells} cells, {} of the stage{files}", name(&target.file), pictures.stages()))
}

fn export_tsv(snapshot: &Snapshot, target: &Target) -> Result<(), Fault> {
    let (mut vectors, mut metadata) = (Vec::new(), Vec::new());
    let counts = tsv::write(snapshot, &mut vectors, &mut metadata)
        .map_err(|error| Fault::Lesson(format!("{}: {error}\n", name(&target.lesson))))?;
    let beside = target.beside("_metadata.tsv");
    target.write(&beside, &metadata)?;
    target.write(&target.file, &vectors)?;
    print::line(format_args!(
        "{}: {} vectors of {} numbers: {} words, and {} tokens twice; {} says which is which",
        name(&target.file),
        counts.lines(),
        counts.width,
        counts.words,
        counts.tokens,
        name(&beside)
    ))
}

/// What each cell shows at its place. A cell below may have changed the model since, but whoever reads
/// from the top is not there yet.
fn run_from_top(kernel: &mut Kernel) -> Snapshot {
    kernel.apply(Command::Notebook(NotebookCommand::RunAll));
    kernel.settle();
    let mut snapshot = kernel.snapshot();
    let stale = Arc::make_mut(&mut snapshot.notebook).cells.iter_mut().filter(|cell| cell.status == CellStatus::Stale);
    stale.for_each(|cell| cell.status = CellStatus::Fresh);
    snapshot
}

/// Where the export goes.
struct Target {
    lesson: PathBuf,
    file: PathBuf,
}

impl Target {
    /// # Errors
    /// If nothing can be written there, which is said before training takes its time.
    fn of(request: &ExportArgs) -> Result<Self, Fault> {
        let file = request.output.clone();
        let like = format!("name it like apple.{}", request.to.extension());
        if file.as_os_str() == "-" {
            return Err(Fault::usage(format_args!("--output: an export is a file and not a stream; {like}")));
        }
        if let Some(why) = obstacle(&file) {
            return Err(Fault::output(format_args!("the export cannot be written: {}: {why}", name(&file))));
        }
        let target = Self { lesson: request.lesson.clone(), file };
        let is_lesson = |file: &Path| {
            fs::canonicalize(file).ok().is_some_and(|file| Some(file) == fs::canonicalize(&request.lesson).ok())
        };
        if [target.file.clone(), target.beside("_metadata.tsv")].iter().any(|file| is_lesson(file)) {
            return Err(Fault::usage("--output: that is the lesson itself, which is never written"));
        }
        Ok(target)
    }

    /// The file's name without its ending, and with another.
    fn beside_name(&self, ending: &str) -> String {
        format!("{}{ending}", self.file.file_stem().unwrap_or_default().to_string_lossy())
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.file.with_file_name(self.beside_name(ending))
    }

    /// Through a file beside it, so that a reader never sees half of it.
    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let unfinished = file.with_file_name(format!(
            ".{}.{}.part",
            file.file_name().unwrap_or_default().to_string_lossy(),
            process::id()
        ));
        fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, file)).map_err(|error| {
            // Nothing to clean up when it was never made.
            let _ = fs::remove_file(&unfinished);
            self.fault(file, &error)
        })
    }

    fn fault(&self, file: &Path, error: &io::Error) -> Fault {
        Fault::output(format_args!("{} cannot be written: {error}", name(file)))
    }
}

fn name(path: &Path) -> String {
    printable(&path.display().to_string())
}

struct Warnings {
    is_quiet: bool,
}

impl Warnings {
    fn say(&self, text: impl std::fmt::Display) {
        if !self.is_quiet {
            // A closed standard error leaves nobody to tell.
            let _ = writeln!(io::stderr(), "warning: {text}");
        }
    }

    /// A cell that ends in a fault shows it; whoever exports wants to know.
    fn about_cells(&self, snapshot: &Snapshot) {
        for shown in &snapshot.notebook.cells {
            let is_own = matches!(*shown.cell.kind, CellKind::Code { fails: false, .. } | CellKind::Plot { .. });
            if let Some(fault) = shown.run.as_ref().and_then(|run| run.fault.as_ref()).filter(|_| is_own) {
                self.say(format_args!("cell {:?}: {}", shown.cell.id, printable(&fault.to_string())));
            }
        }
    }
}

/// Twice as large as a page shows it, for sharp letters on dense screens.
#[cfg(feature = "app")]
const STAGE_SIZE: (u32, u32) = (1472, 828);
#[cfg(feature = "app")]
const STAGE_ZOOM: f32 = 2.0;

#[cfg(not(feature = "app"))]
fn pictures(snapshot: &Snapshot, request: &ExportArgs, _: &Common, warnings: &Warnings) -> Pictures {
    let why = "This build of attune draws no pictures of the stage.";
    if Page::stages(snapshot).next().is_some() {
        warnings.say("this build draws no pictures, so stage cells are told in words; build with the default features");
    }
    Pictures::of_lesson(&request.lesson, why)
}

/// The stage cells as they look once every cell has run.
#[cfg(feature = "app")]
fn pictures(snapshot: &Snapshot, request: &ExportArgs, common: &Common, warnings: &Warnings) -> Pictures {
    use crate::export::StagePicture;

    let mut pictures = Pictures::of_lesson(&request.lesson, "There was no graphics adapter to draw it.");
    let bar = progress::pictures(Page::stages(snapshot).count(), common);
    for (cell, sentence) in Page::stages(snapshot) {
        let paint = |dark| paint(snapshot, cell, sentence, dark);
        let both = paint(false).and_then(|light| {
            let dark = if request.to == Format::Html { Some(paint(true)?) } else { None };
            Ok(StagePicture { light, dark })
        });
        match both {
            Ok(picture) => pictures.add_stage(cell, picture),
            Err(why) => {
                warnings.say(format_args!("stage cells are told in words: {why}"));
                break;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    pictures
}

#[cfg(feature = "app")]
fn paint(snapshot: &Snapshot, cell: &str, sentence: usize, dark: bool) -> Result<Vec<u8>, String> {
    use crate::app::PictureOptions;
    use crate::export::sentence::at_sentence;

    let snapshot = at_sentence(snapshot, sentence).ok_or("the lesson has no model")?;
    let options = PictureOptions {
        snapshot: snapshot.into(),
        cell: Some(cell.to_owned()),
        time: f32::NAN,
        size: STAGE_SIZE,
        zoom: STAGE_ZOOM,
        workspace: false,
        dark,
    };
    crate::app::draw(&options).map_err(|fault| fault.to_string())
}
