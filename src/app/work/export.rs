//! Exports on a thread beside the window, with the stage's pictures in them, and other work with files that takes as
//! long.
//!
//! The pictures of an export are drawn by an app of their own. Bevy without `multi_threaded` keeps its tasks with the
//! thread that an app runs on, and each app has its own device, so the window's app may run at the same time;
//! `tests/window/exporting.rs` tests this.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::issue::shown;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::file::{ExportFault, ExportTarget, Format, obstacle};
use attune_view::export::page::Page;
use attune_view::export::vectors::at_sentence;
use attune_view::export::work_file::WorkFile;
use attune_view::export::{Pictures, StagePicture};

use super::editor;
use super::job::{Count, Job};
use crate::app::fault::AppFault;
use crate::app::moving::{self, MovingOptions, Stagehand};
use crate::app::picture::{PictureOptions, Renderer, render};

/// The size of a stage's picture in a page.
const STAGE_SIZE: (u32, u32) = (736, 414);

/// The pixels per point of a stage's picture, for sharp text on high-density screens. Slides have fewer, and so have
/// live pages, whose own stage is sharp and whose picture is for print: pictures take most of the time and half of the
/// bytes of a site.
const SHARP: f32 = 2.0;
const ON_SLIDES: f32 = 1.5;
const ON_PAPER: f32 = 1.0;

/// The pictures of a page's stage cells.
pub struct Drawn {
    pub pictures: Pictures,
    /// The reason why a picture is missing; `None` if all were drawn.
    pub fault: Option<AppFault>,
}

/// Returns the number of stage cells to draw, which is 0 for a format that is not a page.
pub fn count(snapshot: &Snapshot, format: Format) -> usize {
    if format.is_page() { Page::stages(snapshot).count() } else { 0 }
}

/// Draws the stage cells of the snapshot, and calls `drawn` after each. The renderer may have drawn stage cells of
/// other lessons before, because opening a renderer takes as long as four pictures.
pub fn draw_stages(
    renderer: &mut Renderer,
    snapshot: &Snapshot,
    lesson: &Path,
    format: Format,
    mut drawn: impl FnMut(),
) -> Drawn {
    let mut pictures = Pictures::of_lesson(lesson, "");
    let mut fault = None;
    for (cell, sentence) in Page::stages(snapshot).take(count(snapshot, format)) {
        match draw_stage(renderer, snapshot, cell, sentence, format) {
            Ok(picture) => pictures.add_stage(cell, picture),
            Err(why) => {
                pictures.why_no_stage = in_a_page(&why);
                let is_hopeless = matches!(why, AppFault::NoGpu(_));
                fault = Some(why);
                if is_hopeless {
                    break;
                }
            }
        }
        drawn();
    }
    Drawn { pictures, fault }
}

fn draw_stage(
    renderer: &mut Renderer,
    snapshot: &Snapshot,
    cell: &str,
    sentence: usize,
    format: Format,
) -> Result<StagePicture, AppFault> {
    let zoom = match format {
        Format::Web => ON_PAPER,
        Format::Slides => ON_SLIDES,
        _ => SHARP,
    };
    let pixels = |size: u32| (size as f32 * zoom) as u32;
    let nothing = || AppFault::NothingToDraw("the lesson has no model yet".to_owned());
    let snapshot = Arc::new(at_sentence(snapshot, sentence).ok_or_else(nothing)?);
    let mut paint = |dark| {
        renderer.draw_for_page(&PictureOptions {
            cell: Some(cell.to_owned()),
            time: f32::NAN,
            size: (pixels(STAGE_SIZE.0), pixels(STAGE_SIZE.1)),
            zoom,
            dark,
            ..PictureOptions::of(snapshot.clone())
        })
    };
    Ok(StagePicture { light: paint(false)?, dark: if format.is_dark_too() { Some(paint(true)?) } else { None } })
}

/// Returns the text that replaces a missing picture in a page.
fn in_a_page(why: &AppFault) -> String {
    match why {
        AppFault::NoGpu(_) => "There was no graphics adapter to draw this picture.".to_owned(),
        AppFault::NothingToDraw(why) => format!("This picture was not drawn: {why}."),
        AppFault::NoDisplay(_) | AppFault::NoPicture { .. } | AppFault::Output(_) => {
            "This picture could not be drawn.".to_owned()
        }
    }
}

/// An export or another job with a file. Its result is a line for the learner.
pub type Export = Job<String>;

impl Export {
    /// Starts writing the snapshot; drawing the pictures takes most of the time. `waker` is as in [`Job::run`].
    pub fn start(
        snapshot: Arc<Snapshot>,
        lesson: PathBuf,
        format: Format,
        target: PathBuf,
        waker: impl Fn() + Send + 'static,
    ) -> Self {
        Self::run(count(&snapshot, format), waker, move |drawn| {
            write(&snapshot, &lesson, format, &target, || drawn.one()).map_err(|fault| fault.to_string())
        })
    }

    /// Starts writing the vectors of some words. `waker` is as in [`Job::run`].
    pub fn words(
        snapshot: Arc<Snapshot>,
        lesson: PathBuf,
        words: Vec<usize>,
        format: VectorFormat,
        target: PathBuf,
        waker: impl Fn() + Send + 'static,
    ) -> Self {
        Self::run(0, waker, move |_| {
            let target = ExportTarget::new(&lesson, Format::Vectors(format), &target);
            let written = target.and_then(|target| target.write_words(format, &snapshot, &words));
            written.map(|written| written.to_string()).map_err(|fault| fault.to_string())
        })
    }

    /// Starts drawing one picture and writing it. `waker` is as in [`Job::run`].
    pub fn picture(options: PictureOptions, target: PathBuf, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(0, waker, move |_| {
            let name = shown(&target);
            if let Some(why) = obstacle(&target) {
                return Err(format!("{name}: {why}"));
            }
            let (width, height) = options.size;
            render(&options, &target).map_err(|fault| fault.to_string())?;
            Ok(format!("{name}: {width}×{height} pixels"))
        })
    }

    /// Starts drawing an animation with the given number of frames and writing it. `waker` is as in [`Job::run`].
    pub fn recording(
        options: MovingOptions,
        frames: usize,
        target: PathBuf,
        waker: impl Fn() + Send + 'static,
    ) -> Self {
        Self::run(frames, waker, move |count| {
            let name = shown(&target);
            if let Some(why) = obstacle(&target) {
                return Err(format!("{name}: {why}"));
            }
            let mut hand = Recorded { snapshot: options.picture.snapshot.clone(), count };
            moving::render(&options, &mut hand, &target).map_err(|fault| fault.to_string())?;
            let (width, height) = options.picture.size;
            Ok(format!("{name}: {frames} frames of {width}×{height} pixels"))
        })
    }

    /// Starts the learner's editor on a file, which is not an export but takes as long. `waker` is as in [`Job::run`].
    pub fn editor(file: PathBuf, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(0, waker, move |_| editor::open(&file))
    }

    /// Starts writing a work file. `waker` is as in [`Job::run`].
    pub fn work(work: WorkFile, lesson: PathBuf, target: PathBuf, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(0, waker, move |_| work.write(&lesson, &target))
    }
}

/// The recorded lesson, as it is in the window.
struct Recorded<'a> {
    snapshot: Arc<Snapshot>,
    count: &'a Count<'a>,
}

impl Stagehand for Recorded<'_> {
    fn trained(&mut self, _: f32) -> Arc<Snapshot> {
        self.snapshot.clone()
    }

    fn drawn(&mut self, _: usize, _: usize) {
        self.count.one();
    }
}

/// Writes the export, and returns the message about it.
fn write(
    snapshot: &Snapshot,
    lesson: &Path,
    format: Format,
    target: &Path,
    drawn: impl FnMut(),
) -> Result<String, ExportFault> {
    let target = ExportTarget::new(lesson, format, target)?;
    let Drawn { pictures, fault } = draw_stages(&mut Renderer::default(), snapshot, lesson, format, drawn);
    let written = target.write(snapshot, &pictures)?;
    let told = fault.map(|fault| {
        // The rest of the message is advice for a terminal.
        let why = fault.to_string();
        format!("; stage cells are described in words: {}", why.lines().next().unwrap_or_default())
    });
    Ok(format!("{written}{}", told.unwrap_or_default()))
}
