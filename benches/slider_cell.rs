//! Times the way from a slider's movement to the snapshot with the new output of a code cell on 64x64 matrices.
//!
//!     cargo bench --package attune-core --profile dev --bench slider_cell

mod clock;

use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel, Worker};
use clock::{lesson, tell, timed};

const MOVES: usize = 400;
const CELLS: &str = r#"
    Code(id: "make", src: "let M = random(64, 64);"),
    Slider(id: "turn", bind: "s", range: (0.1, 4.0), start: 1.0),
    Code(id: "rows", src: "let A = softmax(M @ M.T * s); A"),
    Code(id: "mix", src: "let Y = A @ M; show(\"mixed\", Y); norm(Y - M)"),
"#;

fn slide(i: usize) -> Command {
    let value = 0.2 + 0.005 * i as f64;
    Command::Notebook(NotebookCommand::Cell("turn".into(), CellCommand::Slide(value)))
}

fn ran() -> Kernel {
    let mut kernel = Kernel::trained(Arc::new(lesson(CELLS)));
    kernel.apply(Command::Notebook(NotebookCommand::RunAll));
    kernel.settle();
    kernel
}

fn runs(snapshot: &attune_core::kernel::Snapshot) -> [Option<u64>; 2] {
    ["rows", "mix"].map(|id| {
        let cell = snapshot.notebook.cells.iter().find(|cell| *cell.cell.id == *id)?;
        let run = cell.run.as_ref()?;
        assert_eq!(run.fault, None);
        run.number
    })
}

/// Returns whether both cells have run again and nothing is waiting.
fn have_followed(snapshot: &attune_core::kernel::Snapshot, before: [Option<u64>; 2]) -> bool {
    runs(snapshot).iter().zip(before).all(|(now, before)| *now > before)
}

fn main() {
    let mut kernel = ran();
    let mut times = Vec::new();
    let mut before = runs(&kernel.snapshot());
    for i in 0..MOVES {
        let snapshot = timed(&mut times, || {
            kernel.apply(slide(i));
            kernel.settle();
            kernel.snapshot()
        });
        assert!(have_followed(&snapshot, before), "the cells follow");
        before = runs(&snapshot);
    }
    tell("two cells on 64x64 matrices, slider to snapshot", times);

    // Measured with the kernel's thread in between, as in the window.
    let worker = Worker::spawn(Arc::new(lesson(CELLS)), || {});
    worker.send(Command::Training(TrainingCommand::Play));
    let wait = |until: &dyn Fn(&attune_core::kernel::Snapshot) -> bool| {
        const LONGEST: Duration = Duration::from_secs(20);
        let begun = Instant::now();
        while !until(&worker.latest()) {
            assert!(begun.elapsed() < LONGEST, "no answer");
            std::thread::yield_now();
        }
    };
    wait(&|snapshot| {
        snapshot.model.as_ref().is_some_and(|model| !model.training.playing && model.training.progress.done > 0)
    });
    worker.send(Command::Notebook(NotebookCommand::RunAll));
    wait(&|snapshot| runs(snapshot).iter().all(Option::is_some));
    let mut times = Vec::new();
    for i in 0..MOVES {
        let before = runs(&worker.latest());
        timed(&mut times, || {
            worker.send(slide(i));
            wait(&|snapshot| have_followed(snapshot, before));
        });
    }
    tell("the same through the kernel's thread", times);
}
