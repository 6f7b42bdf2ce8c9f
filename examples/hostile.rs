//! Makes hostile cells by the language's grammar, with all its ways to grow, and runs each on a trained kernel: none
//! may take [`TIME_MAX`] or [`BYTES_MAX`]. By hand, for it takes hours; a case that does is printed at its smallest.
//!
//!     cargo run --no-default-features --example hostile -- --seed 1 --count 10000

#[path = "../tests/common/peak.rs"]
mod peak;
#[path = "../tests/common/watch.rs"]
mod watch;

use std::iter;
use std::sync::Arc;
use std::time::Duration;

use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::code::OWN_FAULT;
use clap::Parser;
use peak::{Taken, taken};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use watch::watched;

/// Allowed to one cell, with all that follows it.
const TIME_MAX: Duration = Duration::from_secs(5);
/// A case that takes longer will never end.
const HANGS: Duration = TIME_MAX.saturating_mul(20);
/// Allowed over the state at rest.
const BYTES_MAX: usize = 1 << 30;
/// Cells of one case: what one makes the next one reads.
const CELLS: usize = 3;
const LESSON: &str = include_str!("../tests/fixtures/small.ron");

#[derive(Debug, Parser)]
struct Args {
    /// The seed of the first case; the next case has the next seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cells to run.
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Print every case before it runs, for one that ends the process.
    #[arg(long)]
    verbose: bool,
}

fn main() {
    let args = Args::parse();
    let (mut cells, mut faults, mut broken) = (0, 0, 0);
    let mut most = Taken { bytes: 0, time: Duration::ZERO };
    let mut kernel = kernel();
    for seed in (args.seed..).take(args.count.div_ceil(CELLS)) {
        let case = Case::of(seed);
        if args.verbose {
            println!("seed {seed}:\n{case}");
        }
        for ran in watched(HANGS, format!("seed {seed}"), || case.run(&mut kernel)) {
            cells += 1;
            if args.verbose {
                println!("  {}: {}", ran.taken, ran.fault.as_deref().unwrap_or("no fault"));
            }
            faults += usize::from(ran.fault.is_some());
            most.bytes = most.bytes.max(ran.taken.bytes);
            most.time = most.time.max(ran.taken.time);
            if ran.breaks() {
                broken += 1;
                let smallest = case.smallest(&mut kernel);
                println!("seed {seed} takes {}, {:?}; at its smallest:\n{smallest}", ran.taken, ran.fault);
                break;
            }
        }
        if cells % 300 == 0 {
            println!("{cells} cells, {faults} with a fault, {broken} cases broken; at most {most}");
        }
    }
    println!("{cells} cells, {faults} with a fault, {broken} cases broken; at most {most}");
    assert_eq!(broken, 0, "cases that break a bound");
}

/// A trained kernel with cells to write in.
fn kernel() -> Kernel {
    let cells: String = (0..CELLS).map(|i| format!("Code(id: \"c{i}\", src: \"1\"),\n")).collect();
    let text = LESSON.replace("    cells: [\n", &format!("    cells: [\n{cells}"));
    Kernel::trained(Arc::new(attune_core::lesson::parse("small.ron", &text).expect("no issues")))
}

/// The statements of some cells.
#[derive(Clone)]
struct Case(Vec<Vec<String>>);

/// A run of one cell.
struct Ran {
    taken: Taken,
    fault: Option<String>,
}

impl Ran {
    fn breaks(&self) -> bool {
        let is_ours = self.fault.as_ref().is_some_and(|fault| fault.contains(OWN_FAULT));
        is_ours || self.taken.time > TIME_MAX || self.taken.bytes > BYTES_MAX
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, cell)| writeln!(f, "  c{i}: {}", cell.join(" ")))
    }
}

impl Case {
    fn of(seed: u64) -> Self {
        let mut writer = Writer { rng: StdRng::seed_from_u64(seed), depth: 0 };
        let cell = |at| {
            let count = writer.rng.random_range(2..8);
            let first = if at == 0 || writer.rng.random_range(0..2) == 0 { OWN } else { ABOVE };
            let written = (0..count).map(|_| writer.statement());
            iter::once(format!("{first} {PRELUDE}")).chain(written).collect()
        };
        Self((0..CELLS).map(cell).collect())
    }

    /// Runs its cells one after the other, from a notebook that has run nothing.
    fn run(&self, kernel: &mut Kernel) -> Vec<Ran> {
        let apply = |kernel: &mut Kernel, command| {
            kernel.apply(Command::Notebook(command));
            kernel.settle();
        };
        apply(kernel, NotebookCommand::Restart);
        let run = |(i, cell): (usize, &Vec<String>)| {
            let id: Arc<str> = format!("c{i}").into();
            apply(kernel, NotebookCommand::Cell(id.clone(), CellCommand::SetText(cell.join(" ").into())));
            let ((), taken) = taken(|| apply(kernel, NotebookCommand::Cell(id.clone(), CellCommand::Run)));
            let notebook = kernel.snapshot().notebook;
            let run = notebook.cells.iter().find(|found| *found.cell.id == *id).and_then(|found| found.run.as_ref());
            Ran { taken, fault: run.and_then(|run| run.fault.as_ref()).map(ToString::to_string) }
        };
        self.0.iter().enumerate().map(run).collect()
    }

    /// The case without every statement that it breaks a bound without.
    fn smallest(&self, kernel: &mut Kernel) -> Self {
        let mut case = self.clone();
        for cell in 0..case.0.len() {
            for at in (0..case.0[cell].len()).rev() {
                let mut without = case.clone();
                without.0[cell].remove(at);
                if without.run(kernel).iter().any(Ran::breaks) {
                    case = without;
                }
            }
        }
        case
    }
}

/// Writes code at random.
struct Writer {
    rng: StdRng,
    depth: usize,
}

/// Variables: lists, maps, texts, tensors and numbers as it comes.
const NAMES: [&str; 7] = ["a", "b", "m", "n", "s", "t", "x"];
const NUMBERS: [&str; 12] =
    ["0", "1", "2", "3", "10", "99", "999", "9999", "1000000", "-1", "1e308", "9223372036854775807"];
const COUNTS: [&str; 6] = ["3", "20", "99", "300", "999", "9999"];
/// Values for all of them: a name that is not there ends a cell.
const PRELUDE: &str = "let a = []; let b = [0, 1]; let n = #{k: 1, l: []}; let t = ones(10); let x = 1;";
/// A map and a text of the cell's own, or those of the cell above.
const OWN: &str = "let m = #{}; let s = \"x\";";
const ABOVE: &str = "let m = m; let s = s;";
/// Beyond these, code is not nested.
const DEPTH_MAX: usize = 4;

impl Writer {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.rng.random_range(0..from.len())]
    }

    fn name(&mut self) -> &'static str {
        self.pick(&NAMES)
    }

    fn count(&mut self) -> &'static str {
        self.pick(&COUNTS)
    }

    fn block(&mut self) -> String {
        let count = self.rng.random_range(1..4);
        (0..count).map(|_| self.statement()).collect::<Vec<_>>().join(" ")
    }

    fn statement(&mut self) -> String {
        self.depth += 1;
        let kinds = if self.depth > DEPTH_MAX { 20 } else { 28 };
        let kind = self.rng.random_range(0..kinds);
        let (name, count) = (self.name(), self.count());
        let value = self.value();
        let written = match kind {
            0 | 1 => format!("{name} = {value};"),
            2 => format!("{name} = []; {name}.pad({count}, {value});"),
            3 => format!("{name} = \"\"; {name}.pad(130000, \"{}\");", self.pick(&["x", "é", "\\\"", "\\u0001"])),
            4 => format!("{name} = #{{}}; for i in 0..{count} {{ {name}[`k${{i}}`] = {value}; }}"),
            5 => {
                format!("{name} = #{{}}; for i in 0..{count} {{ {name}[`${{{}}}${{i}}`] = {value}; }}", self.name())
            }
            6 => format!("{name} = []; {name}.pad({count}, 0); for i in 0..{count} {{ {name}[i] = {value}; }}"),
            7 => format!("{name}[{}] = {value};", self.pick(&["0", "1", "-1", "\"k\"", "`k${1}`", "2.."])),
            8 => format!("{name}.{} = {value};", self.pick(&["k", "l"])),
            9 => format!("{name} {} {value};", self.pick(&["=", "+=", "-=", "*="])),
            10 => format!("{name}.{}({value});", self.pick(&["push", "append", "mixin", "insert", "remove", "shift"])),
            11 => format!("{name}.{}();", self.pick(&["sort", "reverse", "dedup", "pop", "clear", "to_upper", "trim"])),
            12 => format!("{}({value});", self.pick(&["print", "debug", "show", "throw"])),
            13 => format!("show({name}, {value});"),
            14 => format!(
                "{name} = {value}.{}();",
                self.pick(&["keys", "values", "to_json", "to_chars", "len", "to_string"])
            ),
            15 => format!("{name}.replace(\"x\", {value});"),
            16 => format!("{name} = {name}.map(|e| {value});"),
            17 => format!("{name}.retain(|e| {value} == e);"),
            18 => format!("t = {}; plot(t, t);", self.pick(&["ones(1000)", "ones(100000)", "x"])),
            19 => format!("{name} = {name}.split({});", self.pick(&["\"\"", "\"x\"", "1"])),
            20 | 21 => format!("for i in 0..{count} {{ {} }}", self.block()),
            22 => format!("loop {{ {} }}", self.block()),
            23 => format!("for e in {value} {{ {} }}", self.block()),
            24 => format!("if {value} == {name} {{ {} }} else {{ {} }}", self.block(), self.block()),
            25 => format!("try {{ {} }} catch {{ {} }}", self.block(), self.block()),
            26 if self.depth == 1 => {
                let body = self.block();
                format!(
                    "fn f(i, {name}) {{ {body} if i > 0 {{ f(i - 1, {name}) }} else {{ {name} }} }} {name} = f(40, {value});"
                )
            }
            _ => format!("{{ {} }}", self.block()),
        };
        self.depth -= 1;
        // What fails goes on, or nothing would grow after the first mistake.
        let is_whole = written.starts_with("fn ") || self.rng.random_range(0..10) == 0;
        if is_whole { written } else { format!("try {{ {written} }} catch {{ }}") }
    }

    fn value(&mut self) -> String {
        self.depth += 1;
        let kinds = if self.depth > DEPTH_MAX { 6 } else { 20 };
        let (name, count) = (self.name(), self.count());
        let written = match self.rng.random_range(0..kinds) {
            0..4 => name.to_owned(),
            4 => self.pick(&NUMBERS).to_owned(),
            5 => format!("\"{}\"", self.pick(&["", "x", "apple", "k1"])),
            6 => format!("[{}, {}]", self.value(), self.value()),
            7 => format!("#{{k: {}, l: {}}}", self.value(), self.value()),
            8 => format!("`${{{}}}x${{{}}}`", self.value(), self.value()),
            9 => format!(
                "({} {} {})",
                self.value(),
                self.pick(&["+", "-", "*", "@", "==", "in", "<", "**"]),
                self.value()
            ),
            10 => format!("{name}[{}]", self.value()),
            11 => format!("{}({count}, {count})", self.pick(&["zeros", "ones", "random"])),
            12 => format!("{}({count})", self.pick(&["zeros", "ones", "eye"])),
            13 => format!(
                "{}({})",
                self.pick(&["softmax", "sum", "norm", "vector", "matrix", "argmax", "shape"]),
                self.value()
            ),
            14 => format!("{}.{}", self.pick(&["E", "W_Q", "A", "X", name]), self.pick(&["T", "len", "k"])),
            15 => format!("E[{}, {}]", self.value(), self.value()),
            16 => format!(
                "{name}.{}",
                self.pick(&["values()", "keys()", "to_chars()", "len()", "to_json()", "to_debug()"])
            ),
            17 => format!("nearest(E, E[0], {count})"),
            18 => format!("if {} == 1 {{ {} }} else {{ {} }}", self.value(), self.value(), self.value()),
            _ => format!("{{ let {name} = {}; {name} }}", self.value()),
        };
        self.depth -= 1;
        written
    }
}
