//! Training with a progress bar on a terminal, and in silence elsewhere.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::Lesson;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::Common;
use super::blame;
use super::fault::Fault;

/// A kernel trained to its last step.
pub fn train(lesson: Lesson, common: &Common) -> Kernel {
    let mut kernel = Kernel::new(Arc::new(lesson));
    kernel.apply(Command::Training(TrainingCommand::Play));
    finished(kernel, common)
}

/// As [`train`], with a tour in the notebook of a model that was opened as a folder.
pub fn train_with_tour(lesson: Lesson, common: &Common) -> Kernel {
    let mut kernel = Kernel::new(Arc::new(lesson));
    kernel.apply(Command::Tour);
    kernel.apply(Command::Training(TrainingCommand::Play));
    finished(kernel, common)
}

/// A kernel as somebody left it; one that had no model yet is trained.
#[cfg(feature = "app")]
pub fn resume(lesson: Lesson, work: attune_core::kernel::Saved, common: &Common) -> Kernel {
    let trains = work.commands.is_empty() && lesson.model.steps > 0;
    let mut kernel = Kernel::open(Arc::new(lesson), Some(work));
    if trains {
        kernel.apply(Command::Training(TrainingCommand::Play));
    }
    finished(kernel, common)
}

/// The kernel once it has nothing more to do.
fn finished(mut kernel: Kernel, common: &Common) -> Kernel {
    let lesson = kernel.snapshot().lesson;
    let steps = lesson.model.steps as u64;
    let bar = ProgressBar::with_draw_target(Some(steps), target(common));
    // The template is a constant; were it wrong, a plain bar is as good.
    let style = ProgressStyle::with_template("{msg} {bar:32} {pos}/{len} steps");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(lesson.title.clone());
    while kernel.is_busy() {
        kernel.advance();
        bar.set_position(kernel.steps_done() as u64);
    }
    bar.finish_and_clear();
    kernel
}

/// The snapshot of a kernel whose training came to its end.
///
/// # Errors
/// If there is no model, or training diverged.
pub fn trained(kernel: &Kernel, path: &Path) -> Result<Snapshot, Fault> {
    let snapshot = kernel.snapshot();
    if let Some(fault) = &snapshot.fault {
        return Err(Fault::Lesson(format!("{}: {}\n", blame::place(path, fault.field), fault.words)));
    }
    match snapshot.model.as_ref().and_then(|model| model.training.diverged()) {
        Some(diverged) => Err(Fault::Lesson(blame::divergence(path, &snapshot.lesson, &diverged))),
        None => Ok(snapshot),
    }
}

/// A bar for stage pictures, which take a second each without a graphics card.
#[cfg(feature = "app")]
pub fn pictures(count: usize, common: &Common) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(count as u64), target(common));
    let style = ProgressStyle::with_template("{msg} {bar:32} {pos}/{len}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message("Drawing");
    bar
}

/// indicatif draws on terminals only.
fn target(common: &Common) -> ProgressDrawTarget {
    if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}
