//! Sends random keys, clicks, drags and scrolling to the real window for minutes: it must not crash, hang, or use more
//! and more memory. Needs a display, `xdotool` and Linux. The program is the one that `cargo run` builds:
//!
//!     cargo build && xvfb-run -a -s "-screen 0 1280x720x24" \
//!         cargo run --example random_input -- lessons/apple.ron --count 20000

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Parser;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The number of inputs between two checks of the window.
const BATCH: usize = 20;
/// Seconds after which a window that does nothing hangs, on a machine that does nothing else.
const HANGS: f32 = 2.0;
/// The time from the start to the first picture.
const OPENING: Duration = Duration::from_secs(8);
/// The interval between two checks of a thread.
const LOOK: Duration = Duration::from_millis(50);
/// The number of inputs between two lines of progress.
const LINES: usize = 1000;
/// The number of inputs after which the memory has its usual size.
const WARM: usize = 4000;
/// The factor by which the memory may still grow.
const GROWTH_MAX: f64 = 1.5;

const KEYS: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "l",
    "m",
    "n",
    "o",
    "p",
    "r",
    "s",
    "t",
    "u",
    "v",
    "w",
    "x",
    "y",
    "z",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "space",
    "Return",
    "Escape",
    "Tab",
    "Up",
    "Down",
    "Left",
    "Right",
    "Home",
    "End",
    "Prior",
    "Next",
    "Delete",
    "BackSpace",
    "plus",
    "minus",
    "comma",
    "period",
    "slash",
    "question",
    "bracketleft",
    "bracketright",
    "parenleft",
    "F1",
    "F2",
    "F5",
];
const MODIFIERS: &[&str] = &["", "", "", "shift+", "alt+", "ctrl+", "ctrl+shift+", "alt+shift+"];

#[derive(Debug, Parser)]
struct Args {
    /// A lesson or a model's folder, of which a copy is opened.
    path: PathBuf,
    #[arg(long, default_value_t = 20_000)]
    count: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The width and height of the display.
    #[arg(long, default_value = "1280x720")]
    size: String,
    /// The program; by default the one beside this example.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Seconds after which a window without an answer counts as hanging; a busy machine needs more.
    #[arg(long, default_value_t = HANGS)]
    hangs: f32,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let size = args.size.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let size = size.expect("a size, as 1280x720");
    let own = std::env::current_exe().expect("a path");
    let beside = || own.parent().and_then(Path::parent).expect("target/debug/examples").join("attune");
    let program = args.program.clone().unwrap_or_else(beside);
    let scratch = std::env::temp_dir().join(format!("attune-random-input-{}", std::process::id()));
    let opened = copy(&args.path, &scratch);
    let mut dice = StdRng::seed_from_u64(args.seed);
    let mut window = Window::open(&program, &opened, &scratch);
    let patience = Duration::from_secs_f32(args.hangs);
    let (mut sent, mut restarts, mut rested, mut warm) = (0, 0, Duration::ZERO, None);
    let outcome = loop {
        if sent >= args.count {
            break Ok(());
        }
        let inputs: Vec<String> = (0..BATCH).map(|_| random(&mut dice, size)).collect();
        send(&inputs);
        sent += BATCH;
        match window.settle(patience) {
            Ok(took) => rested = rested.max(took),
            // A key may close the window; a crash has another exit code.
            Err(Ended::Closed) => {
                restarts += 1;
                window = Window::open(&program, &opened, &scratch);
            }
            Err(Ended::Broken(why)) => break Err(format!("{why}\nits last inputs:\n{}", inputs.join("\n"))),
        }
        let memory = window.memory();
        if warm.is_none() && sent >= WARM {
            warm = Some(memory);
        }
        if sent % LINES == 0 {
            println!("{sent} inputs, {memory} MB, at most {rested:.1?} without an answer, closed {restarts} times");
        }
    };
    let memory = window.memory();
    drop(window);
    let outcome = outcome.and_then(|()| match warm {
        Some(warm) if memory as f64 > warm as f64 * GROWTH_MAX => Err(format!("it grew from {warm} to {memory} MB")),
        _ => Ok(()),
    });
    match outcome {
        Ok(()) => {
            let _ = fs::remove_dir_all(&scratch);
            println!("{sent} inputs: whole; at most {rested:.1?} without an answer");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("seed {}, after {sent} inputs: {why}\nits files are in {}", args.seed, scratch.display());
            ExitCode::FAILURE
        }
    }
}

/// Copies a lesson or a model's folder, so that the original is not changed.
fn copy(path: &Path, scratch: &Path) -> PathBuf {
    let to = scratch.join(path.file_name().expect("a name"));
    fs::create_dir_all(scratch).expect("a folder");
    let files: Vec<PathBuf> = match fs::read_dir(path) {
        Ok(folder) => folder.map(|entry| entry.expect("an entry").path()).collect(),
        Err(_) => {
            fs::copy(path, &to).expect("a lesson");
            return to;
        }
    };
    fs::create_dir_all(&to).expect("a folder");
    for file in files {
        fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("a model's file");
    }
    to
}

/// Returns a random input, as a line for `xdotool`.
fn random(dice: &mut StdRng, (width, height): (u32, u32)) -> String {
    let mut at = || format!("mousemove {} {}", dice.random_range(0..width), dice.random_range(0..height));
    let (from, to) = (at(), at());
    // Most clicks use the left button; 4 and 5 are the wheel.
    let button = [1, 1, 1, 1, 2, 3, 4, 5][dice.random_range(0..8)];
    match dice.random_range(0..10) {
        0..5 => {
            let modifier = MODIFIERS[dice.random_range(0..MODIFIERS.len())];
            format!("key {modifier}{}", KEYS[dice.random_range(0..KEYS.len())])
        }
        5..8 => format!("{from} click {button}"),
        8 => format!("{from} click --repeat {} --delay 5 {button}", dice.random_range(2..6)),
        _ => format!("{from} mousedown {button} {to} mouseup {button}"),
    }
}

/// Sends inputs to the display, and waits until the last one is sent. The window may not have processed all of them
/// then.
fn send(inputs: &[String]) {
    let spawned = Command::new("xdotool").arg("-").stdin(Stdio::piped()).spawn();
    let mut hand = spawned.expect("xdotool: apt-get install xdotool");
    let written = hand.stdin.take().map(|mut lines| writeln!(lines, "{}", inputs.join("\n")));
    written.expect("it is piped").expect("xdotool reads");
    hand.wait().expect("xdotool ends");
}

enum Ended {
    Closed,
    Broken(String),
}

struct Window {
    child: Child,
    log: PathBuf,
}

impl Window {
    fn open(program: &Path, path: &Path, scratch: &Path) -> Self {
        let log = scratch.join("log.txt");
        let out = fs::File::create(&log).expect("a log");
        let mut command = Command::new(program);
        command.arg(path).arg("--state").arg(scratch.join("state")).current_dir(scratch).env("HOME", scratch);
        let child = command.stdout(Stdio::null()).stderr(out).spawn().expect("the program: cargo build");
        sleep(OPENING);
        // A bare display has no window manager that would give the window the keyboard.
        send(&["search --onlyvisible --name . windowfocus".to_owned()]);
        Self { child, log }
    }

    /// Waits until the window has answered a movement of the pointer: its thread has slept and woken, which no thread
    /// does that computes on and on, or waits for another.
    fn settle(&mut self, patience: Duration) -> Result<Duration, Ended> {
        let (begun, before) = (Instant::now(), self.sleeps());
        loop {
            send(&["mousemove_relative -- 1 0".to_owned()]);
            sleep(LOOK);
            if let Some(status) = self.child.try_wait().expect("a child") {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                return Err(if status.success() {
                    Ended::Closed
                } else {
                    Ended::Broken(format!("it ended with {status}:\n{log}"))
                });
            }
            if self.sleeps() > before {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > patience {
                return Err(Ended::Broken(format!("it has not answered for {patience:?}")));
            }
        }
    }

    fn status(&self, path: &str, field: &str) -> u64 {
        let id = self.child.id();
        let status = fs::read_to_string(path.replace("PID", &id.to_string())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Returns how often the window's thread has slept.
    fn sleeps(&self) -> u64 {
        self.status("/proc/PID/task/PID/status", "voluntary_ctxt_switches:")
    }

    /// Returns the resident memory, in MB.
    fn memory(&self) -> u64 {
        self.status("/proc/PID/status", "VmRSS:") / 1024
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
