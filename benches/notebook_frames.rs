//! Times a frame of a notebook with 1,000 cells, and of one with 10, at rest and while scrolling; also the cost of a
//! snapshot for the window.
//!
//!     cargo bench --profile dev --bench notebook_frames

mod clock;
mod frames;

use std::sync::Arc;

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};
use attune_view::view_model::notebook::NotebookModel;
use clock::{lesson, tell, timed};
use frames::{Panel, wheel};

const FRAMES: usize = 600;
/// The points by which the wheel scrolls in a frame, which gives 40 screens in all.
const POINTS: f32 = 45.0;

/// Returns cells: a slider, and in turn text with formulas, code that defines a name, and code that shows a table.
fn cells(count: usize) -> String {
    let mut cells = "Slider(id: \"turn\", bind: \"s\", range: (0.1, 4.0), start: 1.0),\n".to_owned();
    for i in 1..count {
        cells += &match i % 3 {
            0 => format!(
                "Text(id: \"c{i}\", md: \"## Step {i}\\n\\nThe weight $\\\\alpha_{{{i}}}$ of *one* token. {}\\n\\n$$y_{{{i}}} = \\\\sum_j \\\\alpha_{{{i}j}} v_j$$\"),\n",
                "And some words more. ".repeat(8)
            ),
            1 => format!(
                "Code(id: \"c{i}\", src: \"// step {i}\\nlet v{i} = s * {i}.0;\\nlet w{i} = v{i} + 1.0;\\nw{i}\"),\n"
            ),
            _ => format!("Code(id: \"c{i}\", src: \"softmax(X @ X.T) * {i}.0\"),\n"),
        };
    }
    cells
}

fn ran(count: usize) -> Kernel {
    let mut kernel = Kernel::trained(Arc::new(lesson(&cells(count))));
    kernel.apply(Command::Notebook(NotebookCommand::RunAll));
    kernel.settle();
    kernel
}

fn measure(count: usize) {
    let mut kernel = ran(count);
    let mut model = NotebookModel::of(&kernel.snapshot(), None);
    let mut panel = Panel::new();
    panel.settle(&model);

    let mut still = Vec::new();
    for _ in 0..FRAMES {
        timed(&mut still, || panel.frame(&model, Vec::new()));
    }
    tell(&format!("{count:4} cells, still"), still);

    // The wheel turns back at the end of the notebook.
    let mut scrolled = Vec::new();
    let per_turn = if count > 100 { FRAMES } else { FRAMES / 20 };
    for i in 0..FRAMES {
        let down = if (i / per_turn).is_multiple_of(2) { -POINTS } else { POINTS };
        timed(&mut scrolled, || panel.frame(&model, wheel(down)));
    }
    tell(&format!("{count:4} cells, scrolled for the first time"), scrolled);
    let mut back = Vec::new();
    for i in 0..FRAMES {
        let up = if (i / per_turn).is_multiple_of(2) { POINTS } else { -POINTS };
        timed(&mut back, || panel.frame(&model, wheel(up)));
    }
    tell(&format!("{count:4} cells, scrolled back"), back);

    // The cells that depend on the slider wait for their turn.
    let (mut applied, mut seen, mut drawn) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..FRAMES / 4 {
        let value = 0.5 + 0.01 * i as f64;
        let slide = CellCommand::Slide(value);
        let snapshot = timed(&mut applied, || {
            kernel.apply(Command::Notebook(NotebookCommand::Cell("turn".into(), slide)));
            kernel.snapshot()
        });
        model = timed(&mut seen, || NotebookModel::of(&snapshot, Some(&model)));
        timed(&mut drawn, || panel.frame(&model, Vec::new()));
    }
    tell(&format!("{count:4} cells, a slider turned: command to snapshot"), applied);
    tell(&format!("{count:4} cells, a slider turned: snapshot to model"), seen);
    tell(&format!("{count:4} cells, a slider turned: frame"), drawn);
    kernel.settle();

    let (mut trained, mut seen, mut drawn) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..FRAMES / 4 {
        kernel.apply(Command::Training(TrainingCommand::Step(1)));
        kernel.settle();
        let snapshot = timed(&mut trained, || kernel.snapshot());
        model = timed(&mut seen, || NotebookModel::of(&snapshot, Some(&model)));
        timed(&mut drawn, || panel.frame(&model, Vec::new()));
    }
    tell(&format!("{count:4} cells, after a step of training: snapshot"), trained);
    tell(&format!("{count:4} cells, after a step of training: snapshot to model"), seen);
    tell(&format!("{count:4} cells, after a step of training: frame"), drawn);
}

fn main() {
    measure(10);
    measure(1000);
}
