//! Command lines made by the program's own grammar, with mistakes: each ends soon, in words that no terminal obeys.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, fs, iter, process};

use attune::cli::grammar;
use clap::ArgMatches;

use super::{Attack, Dice, HOSTILE, Outcome, TIME_MAX};

const SMALL: &str = include_str!("../../fixtures/small.ron");
/// Lessons of every form of a model, and one with every kind of cell.
const LESSONS: &[(&str, &[u8])] = &[
    ("small.ron", SMALL.as_bytes()),
    ("next_word.ron", include_bytes!("../../fixtures/forms/next_word.ron")),
    ("label.ron", include_bytes!("../../fixtures/forms/label.ron")),
    ("translation.ron", include_bytes!("../../fixtures/forms/translation.ron")),
    ("custom_mask.ron", include_bytes!("../../fixtures/forms/custom_mask.ron")),
    ("parameter_free.ron", include_bytes!("../../fixtures/forms/parameter_free.ron")),
    ("notebook.ron", include_bytes!("../../fixtures/notebook.ron")),
    ("reference.ron", include_bytes!("../../fixtures/reference.ron")),
];
/// Names in the folder that a program runs in: lessons, what is none, and what cannot be read or written.
const PATHS: &[&str] = &[
    "small.ron",
    "next_word.ron",
    "broken.ron",
    "bytes.ron",
    "empty.ron",
    "large.ron",
    "folder",
    "folder.ron",
    "pipe.ron",
    "itself.ron",
    "dangling.ron",
    "to_folder",
    "locked.ron",
    "locked",
    "locked/x.ron",
    "small.ron/",
    "small.ron/x",
    "./small.ron",
    "missing.ron",
    "folder/new.ron",
    "out.md",
    "out.html",
    "out.json",
    "out",
    "*.ron",
    "~",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/proc/self/mem",
    "/proc/self/fd",
    "/proc/kmsg",
    "/nowhere/x.ron",
    "/",
    ".",
    "-",
];
/// Values that options and arguments take, by their names.
const FITTING: &[(&str, &[&str])] = &[
    ("seed", &["0", "1", "7", "00", "+1", "18446744073709551615"]),
    ("within", &["1", "2", "60", "18446744073709551615"]),
    ("size", &["1x1", "64x48", "1280x720", "1280×720", "8192x8192", "1X8192"]),
    ("time", &["0", "1", "0.5", "-0.0", "1e-30", "1.0"]),
    ("sentence", &["the seal sank", "a seal is happy", "seal", "", "zebra", "-", "the the the the the the the the"]),
    ("ids", &["0", "1,2,3", "0,0,0,0", "7", "1,999999", "18446744073709551615"]),
    ("head", &["1.1=off", "1.1=0.5", "1.1=mean,1.1=uniform", "2.1=off", "0.1=off", "1.1=-1", "1.1=NaN"]),
    ("without", &["1.1:2-1", "1.1:1-1,1.1:2-1", "1.1:9-9", "1.1:0-0", "1.18446744073709551615:1-1"]),
    ("patch", &["1:1=1", "1:18446744073709551615=1", "0:0=0"]),
    ("second", &["the seal sank", "zebra", ""]),
    ("temperature", &["0.5", "1", "0", "NaN", "1e300"]),
    ("cell", &["both", "see", "intro", "near", "none", ""]),
    (
        "output",
        &["out.md", "new.html", "new", "folder/new.ipynb", "out", "new.json", "locked/x", "/dev/full", "./a.tsv"],
    ),
    ("state", &["state", "folder", "locked", "small.ron", "to_folder", "/nowhere", "state/a/b"]),
];
/// Values of options.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "+1",
    "00",
    "1e3",
    "0x10",
    "3.5",
    "-0.0",
    "0.5",
    "1.0000001",
    "NaN",
    "inf",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "999999999999999999999999999999",
    "1x1",
    "0x0",
    "8192x8192",
    "8193x1",
    "1280x720",
    "1280×720",
    "x",
    "1x",
    "1x2x3",
    "light",
    "dark",
    "md",
    "html",
    "ipynb",
    "tsv",
    "pdf",
    "MD",
    "the seal sank",
    "a seal is happy",
    "true",
    "both",
    "",
];
/// Words of other programs, and those that mean something to a shell.
const WORDS: &[&str] = &[
    "--",
    "-",
    "---",
    "--=",
    "=",
    "--help",
    "-h",
    "-hh",
    "--version",
    "-V",
    "-qq",
    "-vq",
    "-qhV",
    "-o",
    "-o=",
    "-",
    "--no-",
    "--no-color=1",
    "--quiet=false",
    "--seed",
    "--seed=",
    "--state=",
    "--verbose",
    "--all",
    "-x",
    "-é",
    "-\u{1b}",
    "help",
    "check",
    "chek",
    "export",
    "@small.ron",
    "$(id)",
    "`id`",
    ";",
    "\\",
    "\r\n",
    "\u{9b}31m",
    "\u{7f}",
    "\u{85}",
    "%s%n",
    "{}",
    "\u{feff}--help",
];
/// Bytes that are not UTF-8.
const NOT_TEXT: &[&[u8]] = &[b"\xff", b"small\xff.ron", b"--\xfe", b"\xc3", b"\xed\xa0\x80", b"--seed=\xff", b"-o\xff"];
/// Nearly as long as the system lets an argument be.
const LONG: usize = 100_000;
/// A message that fits a terminal's memory of lines.
const MESSAGE_MAX: usize = 50_000;
/// A user who may write nothing but the folder.
const NOBODY: u32 = 65_534;

/// Arguments of one run.
#[derive(Clone)]
pub struct MutatedArguments(Vec<OsString>);

impl Attack for MutatedArguments {
    type Part = OsString;

    fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let mut words = valid(&mut dice);
        // What is past the parser is most of the program.
        let mistakes = if dice.once_in(8) { 1 + dice.below(4) } else { 0 };
        for _ in 0..mistakes {
            mistake(&mut dice, &mut words);
        }
        // All lessons of the course are minutes of honest work on a busy machine.
        if of_check(&words).is_some_and(|check| check.get_many::<PathBuf>("lessons").is_none()) {
            words.push("small.ron".into());
        }
        // A watch has no end but the learner's.
        if of_check(&words).is_some_and(|check| check.get_flag("watch")) {
            words.insert(0, "--watch=once".into());
        }
        // No program starts with a zero byte in an argument.
        words.iter_mut().filter(|word| word.as_bytes().contains(&0)).for_each(|word| *word = "nul".into());
        Self(words)
    }

    fn run(&self) -> Outcome {
        let scratch = Scratch::new().map_err(|error| format!("no folder to run in: {error}"))?;
        let Ran { status, out, err } = scratch.run(&self.0)?;
        let (Some(code @ 0..=3), None) = (status.code(), status.signal()) else {
            return Err(format!("it ends with {status}: {}", head(&err)));
        };
        for (stream, bytes) in [("output", &out), ("error", &err)] {
            let said =
                std::str::from_utf8(bytes).map_err(|_| format!("standard {stream} is not UTF-8: {}", head(bytes)))?;
            // A table's columns are apart by tabs.
            let is_laid_out = |c: char| c == '\n' || (c == '\t' && stream == "output");
            let steers = |c: char| (c.is_control() && !is_laid_out(c)) || ('\u{202a}'..='\u{202e}').contains(&c);
            if let Some(c) = said.chars().find(|c| steers(*c)) {
                return Err(format!("standard {stream} has {c:?}: {}", head(bytes)));
            }
        }
        if err.len() > MESSAGE_MAX {
            return Err(format!("a message of {} bytes: {}", err.len(), head(&err)));
        }
        let words = [&out[..], &err].concat();
        if code != 0 && words.iter().filter(|byte| byte.is_ascii_alphabetic()).count() < 10 {
            return Err(format!("it ends with {code} and says only {:?}", head(&words)));
        }
        let unfinished = scratch.unfinished();
        if !unfinished.is_empty() {
            return Err(format!("unfinished files are left: {unfinished:?}"));
        }
        Ok(["done", "faults of a lesson or an output", "wrong usage", "no screen"][code as usize])
    }

    fn parts(&mut self) -> &mut Vec<OsString> {
        &mut self.0
    }

    fn told(&self) -> String {
        self.0.iter().map(|word| format!("  {} bytes: {}\n", word.len(), head(word.as_bytes()))).collect()
    }
}

/// The beginning of what a program says.
fn head(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).escape_debug().to_string()
}

/// A command line that the grammar allows for.
fn valid(dice: &mut Dice) -> Vec<OsString> {
    let all = grammar();
    let commands: Vec<&clap::Command> = all.get_subcommands().collect();
    let command = if dice.once_in(8) { None } else { Some(*dice.pick(&commands)) };
    let mut words: Vec<OsString> = command.map(|command| command.get_name().into()).into_iter().collect();
    let own = command.unwrap_or(&all);
    let shuts_out = |one: &clap::Arg, other: &clap::Arg| {
        own.get_arg_conflicts_with(one).iter().any(|shut_out| shut_out.get_id() == other.get_id())
    };
    let mut chosen: Vec<&clap::Arg> = Vec::new();
    for arg in own.get_arguments() {
        let fits = !chosen.iter().any(|other| shuts_out(arg, other) || shuts_out(other, arg));
        // Most lessons do not have most sentences and heads, and that is wrong usage too.
        let chance = match arg.get_id().as_str() {
            "sentence" | "ids" => 9,
            "head" | "without" | "patch" | "second" | "temperature" => 40,
            _ => 3,
        };
        if arg.is_required_set() || (fits && dice.once_in(chance)) {
            chosen.push(arg);
        }
    }
    let globals = all.get_arguments().filter(|arg| command.is_some() && arg.is_global_set());
    chosen.extend(globals.filter(|_| dice.once_in(3)));
    words.extend(chosen.into_iter().flat_map(|arg| given(dice, arg)));
    words
}

/// The arguments of `check`, if that is the command and nothing is wrong with them.
fn of_check(words: &[OsString]) -> Option<ArgMatches> {
    let words = iter::once(OsString::from("attune")).chain(words.iter().cloned());
    grammar().try_get_matches_from(words).ok()?.subcommand_matches("check").cloned()
}

/// An argument as somebody would give it.
fn given(dice: &mut Dice, arg: &clap::Arg) -> Vec<OsString> {
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), short) if short.is_none() || dice.once_in(2) => format!("--{long}"),
        (_, Some(short)) => format!("-{short}"),
        (_, None) if dice.once_in(4) => return vec![path(dice)],
        (_, None) => return vec![dice.pick(LESSONS).0.into()],
    };
    if !arg.get_action().takes_values() {
        return vec![name.into()];
    }
    let possible = arg.get_possible_values();
    let fitting = FITTING.iter().find(|(name, _)| *name == arg.get_id().as_str()).map(|(_, values)| *values);
    let value: OsString = match (dice.below(48), fitting) {
        (0, _) => hostile(dice),
        (1, _) => path(dice),
        (2, _) => (*dice.pick(VALUES)).into(),
        _ if !possible.is_empty() => dice.pick(&possible).get_name().into(),
        (_, Some(values)) => (*dice.pick(values)).into(),
        _ => (*dice.pick(VALUES)).into(),
    };
    if dice.once_in(3) { vec![joined(&[OsStr::new(&name), OsStr::new("="), &value])] } else { vec![name.into(), value] }
}

fn joined(parts: &[&OsStr]) -> OsString {
    parts.iter().fold(OsString::new(), |mut all, part| {
        all.push(part);
        all
    })
}

fn path(dice: &mut Dice) -> OsString {
    (*dice.pick(PATHS)).into()
}

/// A word that nobody means.
fn hostile(dice: &mut Dice) -> OsString {
    match dice.below(8) {
        0 => OsString::from_vec(dice.pick(NOT_TEXT).to_vec()),
        1 => dice.pick(HOSTILE).repeat(LONG / 40).into(),
        2 => ["a", "é/", "../", "-", "9", " "][dice.below(6)].repeat(LONG / 4).into(),
        3 | 4 => (*dice.pick(WORDS)).into(),
        5 => (*dice.pick(VALUES)).into(),
        _ => (*dice.pick(HOSTILE)).into(),
    }
}

fn mistake(dice: &mut Dice, words: &mut Vec<OsString>) {
    let at = dice.below(words.len());
    let to = dice.below(words.len() + 1);
    let is_word = at < words.len();
    match dice.below(12) {
        0 if is_word => drop(words.remove(at)),
        1 if is_word => words.insert(to, words[at].clone()),
        2 if is_word => {
            let with = to % words.len();
            words.swap(at, with);
        }
        3 | 4 if is_word => words[at] = hostile(dice),
        5 if is_word => words[at] = path(dice),
        6 if is_word => words[at].push(hostile(dice)),
        7 if is_word => {
            // Cut anywhere, within a letter too.
            let mut bytes = words[at].as_bytes().to_vec();
            bytes.truncate(dice.below(bytes.len() + 1));
            words[at] = OsString::from_vec(bytes);
        }
        8 => {
            let other = valid(dice);
            words.splice(to..to, other);
        }
        9 => {
            let word = path(dice);
            let times = *dice.pick(&[1, 2, 30]);
            words.splice(to..to, std::iter::repeat_n(word, times));
        }
        _ => words.insert(to, hostile(dice)),
    }
}

/// A folder with all of [`PATHS`] in it, deep enough that `../..` stays within what is removed.
struct Scratch {
    root: PathBuf,
    here: PathBuf,
}

/// The files that a run left.
struct Ran {
    status: ExitStatus,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let root = env::temp_dir().join(format!("attune-attack-{}-arguments", process::id()));
        let _ = fs::remove_dir_all(&root);
        let here = root.join("a/b/c");
        fs::create_dir_all(&here)?;
        let scratch = Self { root, here };
        let at = |name: &str| scratch.here.join(name);
        for (name, text) in LESSONS {
            fs::write(at(name), text)?;
        }
        for (name, text) in [
            ("broken.ron", &b"Lesson(id: \"\x1b[31m\", cells: [}"[..]),
            ("bytes.ron", b"Lesson(\xff\xfe)"),
            ("empty.ron", b""),
            ("locked.ron", SMALL.as_bytes()),
            ("large.ron", &[b' '; 5 << 20]),
            ("out.md", b"of before"),
        ] {
            fs::write(at(name), text)?;
        }
        for name in ["folder", "folder.ron", "locked"] {
            fs::create_dir(at(name))?;
        }
        for (to, name) in [("itself.ron", "itself.ron"), ("nothing.ron", "dangling.ron"), ("folder", "to_folder")] {
            symlink(to, at(name))?;
        }
        Command::new("mkfifo").arg(at("pipe.ron")).status()?;
        let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        for path in [&scratch.root, &scratch.root.join("a"), &scratch.root.join("a/b"), &scratch.here, &at("folder")] {
            allow(path, 0o777)?;
        }
        allow(&at("locked.ron"), 0o000)?;
        allow(&at("locked"), 0o555)?;
        Ok(scratch)
    }

    fn run(&self, words: &[OsString]) -> Result<Ran, String> {
        let mut command = Command::new(program());
        command.args(words).current_dir(&self.here).stdin(Stdio::null());
        command.env_clear().env("HOME", &self.root).env("XDG_DATA_HOME", self.root.join("a/data"));
        // Neither a display nor a graphics adapter: what draws says so at once.
        command.env("VK_DRIVER_FILES", "/dev/null").env("VK_ICD_FILENAMES", "/dev/null");
        // Permissions do not bind the administrator, who could do harm.
        if fs::metadata(&self.here).is_ok_and(|here| here.uid() == 0) {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("it does not start: {error}"))?;
        let (out, err) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
        let begun = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if begun.elapsed() < TIME_MAX => thread::sleep(Duration::from_millis(2)),
                Ok(None) => {
                    let _ = (child.kill(), child.wait());
                    return Err("it does not end".to_owned());
                }
                Err(error) => return Err(format!("it cannot be waited for: {error}")),
            }
        };
        let read = |bytes: JoinHandle<Vec<u8>>| bytes.join().unwrap_or_default();
        Ok(Ran { status, out: read(out), err: read(err) })
    }

    /// The names of files that are not whole.
    fn unfinished(&self) -> Vec<String> {
        let names = fs::read_dir(&self.here).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".part")).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn all_of(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// The program, where every user may run it.
fn program() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let beside = || env::current_exe().ok()?.parent()?.parent().map(|target| target.join("attune"));
        let built = option_env!("CARGO_BIN_EXE_attune").map(PathBuf::from).or_else(beside);
        let copy = copy();
        let copied = built.ok_or("no program is beside this one".to_owned());
        let copied = copied.and_then(|built| fs::copy(built, &copy).map_err(|error| error.to_string()));
        copied.unwrap_or_else(|why| panic!("build the program first, with cargo build --no-default-features: {why}"));
        copy
    })
}

/// Removes the copy of the program, if there is one.
pub fn clean() {
    let _ = fs::remove_file(copy());
}

fn copy() -> PathBuf {
    env::temp_dir().join(format!("attune-attack-{}-program", process::id()))
}
