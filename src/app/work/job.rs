//! Work on a thread beside the window: its progress, its end, and how a thread wakes the window; and the largest of it,
//! exports with the stage's pictures in them.
//!
//! Each picture is drawn by an app of its own. Bevy without `multi_threaded` keeps its tasks with the thread that an app runs
//! on, and each app has its own device, so that it does not matter whether the window's runs at the same time:
//! `tests/window/exporting.rs` tests it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use attune_core::kernel::snapshot::{Progress, Snapshot};
use attune_core::lesson::issue::shown;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::file::{ExportFault, ExportTarget, Format, obstacle};
use attune_view::export::page::Page;
use attune_view::export::vectors::at_sentence;
use attune_view::export::work_file::WorkFile;
use attune_view::export::{Pictures, StagePicture};
use bevy::platform::cell::SyncCell;
use bevy::winit::{EventLoopProxy, WinitUserEvent};

use super::source;
use crate::app::AppFault;
use crate::app::moving::{self, MovingOptions, Stagehand};
use crate::app::picture::{PictureOptions, draw, render};

/// Work that is being done. Its thread ends by itself, even if its result is no longer wanted.
pub struct Job<T> {
    /// `None` once the end has been told.
    news: Option<SyncCell<Receiver<Result<T, String>>>>,
    done: Arc<AtomicUsize>,
    of: usize,
}

/// The parts that are done, counted by the work itself.
pub struct Count<'a> {
    /// The window shows with its next frame what is stored there.
    pub done: &'a AtomicUsize,
    wake: &'a dyn Fn(),
}

impl Count<'_> {
    /// Counts one more; the window shows it at once.
    pub fn one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        (self.wake)();
    }
}

impl<T: Send + 'static> Job<T> {
    /// Begins work of the given number of parts. `waker` is called, from another thread, whenever [`Self::poll`] or
    /// [`Self::progress`] has news.
    pub fn run(
        of: usize,
        waker: impl Fn() + Send + 'static,
        work: impl FnOnce(&Count<'_>) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let (sender, news) = channel();
        let done = Arc::new(AtomicUsize::new(0));
        let job = Self { news: Some(SyncCell::new(news)), done: done.clone(), of };
        thread::spawn(move || {
            // Last of all, the window learns that there is an end, even if it is a panic.
            let waker = AtEnd(waker);
            let sender = sender;
            let result = work(&Count { done: &done, wake: &waker.0 });
            // The window may be gone.
            let _ = sender.send(result);
        });
        job
    }

    pub fn progress(&self) -> Progress {
        Progress { done: self.done.load(Ordering::Relaxed), of: self.of }
    }

    /// Once it has ended, and once only: its result, or why there is none.
    pub fn poll(&mut self) -> Option<Result<T, String>> {
        let result = match self.news.as_mut()?.get().try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err("it stopped because of a fault in attune itself".to_owned()),
        };
        self.news = None;
        Some(result)
    }
}

struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Wakes the window from another thread; does nothing until the window exists.
#[derive(Clone, Default)]
pub struct Waker(Arc<OnceLock<EventLoopProxy<WinitUserEvent>>>);

impl Waker {
    pub fn connect(&self, proxy: EventLoopProxy<WinitUserEvent>) {
        // A second window never comes, so the first proxy stays.
        let _ = self.0.set(proxy);
    }

    /// Wakes the window from another thread.
    pub fn hook(&self) -> impl Fn() + Send + Sync + 'static {
        let waker = self.clone();
        move || waker.wake()
    }

    pub fn wake(&self) {
        if let Some(proxy) = self.0.get() {
            // The window is closing and needs no waking.
            let _ = proxy.send_event(WinitUserEvent::WakeUp);
        }
    }
}

/// Size of a stage's picture, as a page shows it.
const STAGE_SIZE: (u32, u32) = (736, 414);
/// Pixels for each of those: for sharp letters on dense screens; and on paper, for which alone a live page has pictures.
const SHARP: f32 = 2.0;
const ON_PAPER: f32 = 1.5;

/// Rendered pictures of a page's stage cells.
pub struct Drawn {
    pub pictures: Pictures,
    /// Why one of them has no picture.
    pub fault: Option<AppFault>,
}

/// Stage cells to be drawn.
pub fn count(snapshot: &Snapshot, format: Format) -> usize {
    if format.is_page() { Page::stages(snapshot).count() } else { 0 }
}

/// Draws the stage cells as the snapshot has them; `drawn` is called after each.
pub fn draw_stages(snapshot: &Snapshot, lesson: &Path, format: Format, mut drawn: impl FnMut()) -> Drawn {
    let mut pictures = Pictures::of_lesson(lesson, "");
    let mut fault = None;
    for (cell, sentence) in Page::stages(snapshot).take(count(snapshot, format)) {
        match draw_stage(snapshot, cell, sentence, format) {
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

fn draw_stage(snapshot: &Snapshot, cell: &str, sentence: usize, format: Format) -> Result<StagePicture, AppFault> {
    let zoom = if format == Format::Web { ON_PAPER } else { SHARP };
    let pixels = |size: u32| (size as f32 * zoom) as u32;
    let nothing = || AppFault::NothingToDraw("the lesson has no model yet".to_owned());
    let snapshot = Arc::new(at_sentence(snapshot, sentence).ok_or_else(nothing)?);
    let paint = |dark| {
        draw(&PictureOptions {
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

/// Text that stands in a page in place of a picture.
fn in_a_page(why: &AppFault) -> String {
    match why {
        AppFault::NoGpu(_) => "There was no graphics adapter to draw this picture.".to_owned(),
        AppFault::NothingToDraw(why) => format!("This picture was not drawn: {why}."),
        AppFault::NoDisplay(_) | AppFault::NoPicture { .. } | AppFault::Output(_) => {
            "This picture could not be drawn.".to_owned()
        }
    }
}

/// An export that is being made, or another thing that is done with a file; its end is a line for the learner.
pub type Export = Job<String>;

impl Export {
    /// Writes the snapshot as it is; the pictures are what takes the time. `waker` as in [`Job::run`].
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

    /// Writes the vectors of some words. `waker` as in [`Job::run`].
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

    /// Draws one picture and writes it. `waker` as in [`Job::run`].
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

    /// Draws a picture that moves, of the given number of frames, and writes it. `waker` as in [`Job::run`].
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

    /// Opens the learner's editor on a file, which is no export but takes as long. `waker` as in [`Job::run`].
    pub fn editor(file: PathBuf, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(0, waker, move |_| source::open(&file))
    }

    /// Writes a work. `waker` as in [`Job::run`].
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

/// Returns the message about the export.
fn write(
    snapshot: &Snapshot,
    lesson: &Path,
    format: Format,
    target: &Path,
    drawn: impl FnMut(),
) -> Result<String, ExportFault> {
    let target = ExportTarget::new(lesson, format, target)?;
    let Drawn { pictures, fault } = draw_stages(snapshot, lesson, format, drawn);
    let written = target.write(snapshot, &pictures)?;
    let told = fault.map(|fault| {
        // What follows is advice for a terminal.
        let why = fault.to_string();
        format!("; stage cells are described in words: {}", why.lines().next().unwrap_or_default())
    });
    Ok(format!("{written}{}", told.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    #[test]
    fn the_end_is_told_once_and_a_panic_is_an_end() {
        let (woken, news) = channel();
        let mut job = Job::run(
            2,
            move || woken.send(()).expect("the test waits"),
            |count| {
                count.one();
                Ok(7)
            },
        );
        while news.recv_timeout(Duration::from_secs(60)) != Err(RecvTimeoutError::Disconnected) {}
        assert_eq!(job.progress(), Progress { done: 1, of: 2 });
        assert_eq!((job.poll(), job.poll()), (Some(Ok(7)), None));

        let (woken, news) = channel();
        let mut job: Job<()> = Job::run(0, move || woken.send(()).expect("the test waits"), |_| panic!("on purpose"));
        while news.recv_timeout(Duration::from_secs(60)) != Err(RecvTimeoutError::Disconnected) {}
        let end = job.poll().expect("an end");
        assert!(end.expect_err("no result").contains("fault in attune"));
    }
}
