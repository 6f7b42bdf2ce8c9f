//! Times the way from a slider's command to a new snapshot, and the piece of training between two checks for commands,
//! on the main lesson.
//!
//!     cargo bench --package attune-core --bench slider

use std::hint::black_box;
use std::sync::Arc;

use attune_core::kernel::command::{TrainingCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::params::TensorName;
use criterion::{Criterion, criterion_group, criterion_main};

fn slider(c: &mut Criterion) {
    let lesson =
        attune_core::lesson::parse("apple.ron", include_str!("../lessons/apple.ron")).expect("the lesson is valid");
    let mut kernel = Kernel::trained(Arc::new(lesson.clone()));
    let mut value = 0.0;
    c.bench_function("slider to snapshot", |b| {
        b.iter(|| {
            value = (value + 0.001) % 1.0;
            kernel.apply(Command::Weights(WeightCommand::Set {
                tensor: TensorName::QueryWeights.into(),
                row: 0,
                col: 1,
                value,
            }));
            black_box(kernel.snapshot())
        });
    });

    let mut long = lesson;
    long.model.schedule.steps = 5_000_000;
    let mut kernel = Kernel::embedded(Arc::new(long));
    kernel.apply(Command::Training(TrainingCommand::Play));
    c.bench_function("piece of training", |b| b.iter(|| kernel.advance()));
}

criterion_group! { name = benches; config = Criterion::default().sample_size(50); targets = slider }
criterion_main!(benches);
