//! Training with a progress bar on a terminal, and in silence elsewhere.

use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::Common;
use crate::kernel::{Command, Kernel};
use crate::lesson::Lesson;

/// A kernel trained to its last step.
pub fn train(lesson: Lesson, common: &Common) -> Kernel {
    let steps = lesson.model.steps as u64;
    let title = lesson.title.clone();
    let mut kernel = Kernel::new(Arc::new(lesson));
    kernel.apply(Command::Play);
    let bar = ProgressBar::with_draw_target(Some(steps), target(common));
    // The template is a constant; were it wrong, a plain bar is as good.
    let style = ProgressStyle::with_template("{msg} {bar:32} {pos}/{len} steps");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(title);
    while kernel.is_busy() {
        kernel.advance();
        bar.set_position(kernel.steps_done() as u64);
    }
    bar.finish_and_clear();
    kernel
}

/// indicatif draws on terminals only.
fn target(common: &Common) -> ProgressDrawTarget {
    if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}
