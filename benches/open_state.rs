//! A saved state of 10 MB opens in well under 0.5 s, also in a development build:
//! `cargo bench --package attune-core --bench open_state --profile dev`.

use std::hint::black_box;
use std::{env, fs, process};

use attune_core::store::{Home, Key, Stored, open};
use attune_engine::json;
use criterion::{Criterion, criterion_group, criterion_main};
use serde::{Deserialize, Serialize};

const BYTES: usize = 10_000_000;

/// Work with sources and outputs as texts, numbers as lists, and weights as one long array.
#[derive(Serialize, Deserialize)]
struct Work {
    cells: Vec<Cell>,
    #[serde(with = "json::numbers")]
    weights: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
struct Cell {
    source: String,
    rows: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
struct Row(#[serde(with = "json::numbers")] Vec<f64>);

impl Stored for Work {
    const VERSION: u32 = 1;
}

fn cell(i: usize) -> Cell {
    let row = |r: usize| Row((0..32).map(|c| ((i + 31 * r + c) as f64).sin()).collect());
    Cell { source: "let s = E @ E.T;\nsoftmax(s) // \"été\"\n".repeat(20), rows: (0..8).map(row).collect() }
}

fn work() -> Work {
    let size = |work: &Work| serde_json::to_string(work).map_or(0, |json| json.len());
    let weights = (0..500_000).map(|i| (i as f32).cos()).collect();
    let mut work = Work { cells: vec![cell(0)], weights };
    let empty = size(&work);
    work.cells.push(cell(1));
    let count = (BYTES - empty) / (size(&work) - empty) + 1;
    work.cells.extend((2..count).map(cell));
    work
}

fn bench(c: &mut Criterion) {
    let folder = env::temp_dir().join(format!("attune-bench-{}", process::id()));
    let (home, key) = (Home::at(&folder), Key::named("bench"));
    let work = work();
    let mut opened = open::<Work>(&home, &key);
    let bytes = || fs::metadata(folder.join("bench").join("state.json")).map_or(0, |about| about.len());
    let mut group = c.benchmark_group("state");
    group.sample_size(10);
    group.bench_function("save_10_mb", |b| b.iter(|| opened.store.save(&work).map_err(|why| println!("{why}"))));
    println!("{} bytes, {} cells", bytes(), work.cells.len());
    drop(opened);
    group.bench_function("open_10_mb", |b| b.iter(|| black_box(open::<Work>(&home, &key).loaded.value.is_some())));
    group.finish();
    let _ = fs::remove_dir_all(folder);
}

criterion_group!(benches, bench);
criterion_main!(benches);
