//! Command lines made by the program's own grammar, with mistakes: each ends soon, in words that no terminal obeys.

use std::ffi::OsString;
use std::fmt::{self, Debug, Formatter};
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
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::Union;

use super::{Attack, HOSTILE, Outcome, TIME_MAX, attack, one_of};
use crate::common::folder::Folder;

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
const PATHS: &str = "\
    small.ron next_word.ron broken.ron bytes.ron empty.ron large.ron folder folder.ron pipe.ron itself.ron \
    dangling.ron to_folder locked.ron locked locked/x.ron small.ron/ small.ron/x ./small.ron missing.ron \
    folder/new.ron out.md out.html out.json out *.ron ~ /dev/null /dev/zero /dev/full /dev/stdin /dev/stdout \
    /dev/tty /proc/self/mem /proc/self/fd /proc/kmsg /nowhere/x.ron / . -";
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
    ("of", &["1.1:2-1", "1.1:1-1", "2.1:1-1", "1.1:9-9"]),
    ("into", &["1.1:q", "2.1:k", "2.1:v", "answer"]),
    ("at", &["1", "2", "3", "9"]),
    ("answer", &["seal", "the", "zebra", ""]),
    ("against", &["sank", "happy", "seal"]),
    ("target", &["the seal", "zebra", ""]),
    ("cell", &["both", "see", "intro", "near", "none", ""]),
    (
        "output",
        &["out.md", "new.html", "new", "folder/new.ipynb", "out", "new.json", "locked/x", "/dev/full", "./a.tsv"],
    ),
    ("state", &["state", "folder", "locked", "small.ron", "to_folder", "/nowhere", "state/a/b"]),
];
/// Values of options.
const VALUES: &str = "\
    0 1 -1 +1 00 1e3 0x10 3.5 -0.0 0.5 1.0000001 NaN inf 18446744073709551615 18446744073709551616 \
    -9223372036854775808 999999999999999999999999999999 1x1 0x0 8192x8192 8193x1 1280x720 1280×720 x 1x 1x2x3 light \
    dark md html ipynb tsv pdf MD true both";
/// Words of other programs, and those that mean something to a shell.
const WORDS: &str = "\
    -- - --- --= = --help -h -hh --version -V -qq -vq -qhV -o -o= - --no- --no-color=1 --quiet=false --seed --seed= \
    --state= --verbose --all -x -é -\u{1b} help check chek export @small.ron $(id) `id` ; \\ \r\n \u{9b}31m \u{7f} \
    \u{85} %s%n {} \u{feff}--help";
/// Bytes that are not UTF-8.
const NOT_TEXT: &[&[u8]] = &[b"\xff", b"small\xff.ron", b"--\xfe", b"\xc3", b"\xed\xa0\x80", b"--seed=\xff", b"-o\xff"];
/// Nearly as long as the system lets an argument be.
const LONG: usize = 100_000;
/// A message that fits a terminal's memory of lines.
const MESSAGE_MAX: usize = 50_000;
/// A user who may write nothing but the folder.
const NOBODY: u32 = 65_534;

/// Arguments of one run.
struct MutatedArguments(Vec<OsString>);

#[test]
fn mutated_command_lines_end_in_words() {
    let outcomes = attack::<MutatedArguments>(400, &["done", "faults of a lesson or an output", "wrong usage"]);
    fs::remove_file(program()).expect("the copy was made");
    let (misused, all) = (outcomes["wrong usage"], outcomes.values().sum::<usize>());
    // Words and heads that the lesson does not have are wrong usage, too.
    assert!(misused * 2 <= all, "{misused} of {all} command lines are wrong");
}

impl Attack for MutatedArguments {
    fn cases() -> impl Strategy<Value = Self> {
        // What is past the parser is most of the program.
        let mistakes = prop_oneof![7 => Just(Vec::new()), 1 => vec(mistakes(), 1..5)];
        (valid(), mistakes).prop_map(|(mut words, mistakes)| {
            mistakes.into_iter().for_each(|mistake| mistake.make(&mut words));
            // All lessons of the course are minutes of honest work on a busy machine.
            if of_command("check", &words).is_some_and(|check| check.get_many::<PathBuf>("lessons").is_none()) {
                words.push("small.ron".into());
            }
            if of_command("export", &words).is_some_and(|export| export.get_flag("course")) {
                words.iter_mut().filter(|word| *word == "--course").for_each(|word| *word = "small.ron".into());
            }
            // A watch has no end but the learner's.
            if of_command("check", &words).is_some_and(|check| check.get_flag("watch")) {
                words.insert(0, "--watch=once".into());
            }
            // No program starts with a zero byte in an argument.
            words.iter_mut().filter(|word| word.as_bytes().contains(&0)).for_each(|word| *word = "nul".into());
            Self(words)
        })
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
}

impl Debug for MutatedArguments {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|word| write!(f, "\n  {} bytes: {}", word.len(), head(word.as_bytes())))
    }
}

/// The beginning of what a program says.
fn head(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).escape_debug().to_string()
}

/// Command lines that the grammar allows for.
fn valid() -> BoxedStrategy<Vec<OsString>> {
    let all = grammar();
    let commands: Vec<_> = all.get_subcommands().map(|command| form(&all, Some(command))).collect();
    prop_oneof![7 => Union::new(commands), 1 => form(&all, None)].boxed()
}

/// Those of one command.
fn form(all: &clap::Command, command: Option<&clap::Command>) -> BoxedStrategy<Vec<OsString>> {
    let own = command.unwrap_or(all);
    let globals = all.get_arguments().filter(|arg| command.is_some() && arg.is_global_set());
    let args: Vec<&clap::Arg> = own.get_arguments().chain(globals).collect();
    // Most lessons do not have most sentences and heads, and that is wrong usage too.
    let share = |arg: &clap::Arg| match arg.get_id().as_str() {
        _ if arg.is_required_set() => 1.0,
        "sentence" | "ids" => 1.0 / 9.0,
        "head" | "without" | "patch" | "second" | "temperature" => 1.0 / 40.0,
        _ => 1.0 / 3.0,
    };
    let given: Vec<_> = args.iter().map(|arg| (prop::bool::weighted(share(arg)), given(arg))).collect();
    let name: Vec<OsString> = command.map(|command| command.get_name().into()).into_iter().collect();
    given
        .prop_map(move |given| {
            let chosen = given.into_iter().filter(|(is_chosen, _)| *is_chosen).flat_map(|(_, words)| words);
            name.iter().cloned().chain(chosen).collect::<Vec<_>>()
        })
        .prop_filter("options that exclude or need each other", |words| parsed(words).is_some())
        .boxed()
}

/// The arguments of a command, if that is the command and nothing is wrong with them.
fn of_command(name: &str, words: &[OsString]) -> Option<ArgMatches> {
    parsed(words)?.subcommand_matches(name).cloned()
}

/// The arguments of a command line that the grammar takes.
fn parsed(words: &[OsString]) -> Option<ArgMatches> {
    let words = iter::once(OsString::from("attune")).chain(words.iter().cloned());
    grammar().try_get_matches_from(words).ok()
}

/// An argument as somebody would give it.
fn given(arg: &clap::Arg) -> BoxedStrategy<Vec<OsString>> {
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = long.into_iter().chain(arg.get_short().map(|short| format!("-{short}"))).collect();
    let possible: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if names.is_empty() && !possible.is_empty() {
        return select(possible).prop_map(|value| vec![value.into()]).boxed();
    }
    if names.is_empty() {
        let lesson = select(LESSONS).prop_map(|(name, _)| name);
        return prop_oneof![3 => lesson, 1 => one_of(PATHS)].prop_map(|path| vec![path.into()]).boxed();
    }
    let names = select(names);
    if !arg.get_action().takes_values() {
        return names.prop_map(|name| vec![name.into()]).boxed();
    }
    let fitting = FITTING.iter().find(|(name, _)| *name == arg.get_id().as_str());
    let fitting = match fitting {
        _ if !possible.is_empty() => select(possible).prop_map(OsString::from).boxed(),
        Some((_, values)) => select(*values).prop_map(OsString::from).boxed(),
        None => one_of(VALUES).prop_map(OsString::from).boxed(),
    };
    let value = prop_oneof![
        45 => fitting,
        1 => one_of(VALUES).prop_map(OsString::from),
        1 => one_of(PATHS).prop_map(OsString::from),
        1 => hostile(),
    ];
    let words = (names, value, prop::bool::weighted(1.0 / 3.0)).prop_map(|(name, value, is_joined)| {
        let mut word = OsString::from(name);
        if !is_joined {
            return vec![word, value];
        }
        word.push("=");
        word.push(value);
        vec![word]
    });
    words.boxed()
}

/// A word that nobody means.
fn hostile() -> impl Strategy<Value = OsString> {
    prop_oneof![
        2 => select(HOSTILE).prop_map(OsString::from),
        2 => one_of(WORDS).prop_map(OsString::from),
        1 => one_of(VALUES).prop_map(OsString::from),
        1 => select(NOT_TEXT).prop_map(|bytes| OsString::from_vec(bytes.to_vec())),
        1 => select(HOSTILE).prop_map(|word| word.repeat(LONG / 40).into()),
        1 => select(&["a", "é/", "../", "-", "9", " "][..]).prop_map(|word| word.repeat(LONG / 4).into()),
    ]
}

/// A mistake, at words that any command line has.
#[derive(Clone, Debug)]
enum Mistake {
    Remove(Index),
    Copy(Index, Index),
    Swap(Index, Index),
    Replace(Index, OsString),
    Append(Index, OsString),
    /// Cut anywhere, within a letter too.
    Cut(Index, Index),
    Insert(Index, Vec<OsString>),
}

fn mistakes() -> impl Strategy<Value = Mistake> {
    let at = any::<Index>;
    let path = || one_of(PATHS).prop_map(OsString::from);
    let more = prop_oneof![
        2 => hostile().prop_map(|word| vec![word]),
        1 => valid(),
        1 => (path(), select(&[1, 2, 30][..])).prop_map(|(word, times)| vec![word; times]),
    ];
    prop_oneof![
        1 => at().prop_map(Mistake::Remove),
        1 => (at(), at()).prop_map(|(from, to)| Mistake::Copy(from, to)),
        1 => (at(), at()).prop_map(|(one, other)| Mistake::Swap(one, other)),
        2 => (at(), hostile()).prop_map(|(at, word)| Mistake::Replace(at, word)),
        1 => (at(), path()).prop_map(|(at, word)| Mistake::Replace(at, word)),
        1 => (at(), hostile()).prop_map(|(at, word)| Mistake::Append(at, word)),
        1 => (at(), at()).prop_map(|(at, end)| Mistake::Cut(at, end)),
        4 => (at(), more).prop_map(|(at, words)| Mistake::Insert(at, words)),
    ]
}

impl Mistake {
    fn make(self, words: &mut Vec<OsString>) {
        let count = words.len();
        if let Self::Insert(at, more) = self {
            let at = at.index(count + 1);
            words.splice(at..at, more);
            return;
        }
        if count == 0 {
            return;
        }
        match self {
            Self::Remove(at) => drop(words.remove(at.index(count))),
            Self::Copy(from, to) => words.insert(to.index(count + 1), from.get(words).clone()),
            Self::Swap(one, other) => words.swap(one.index(count), other.index(count)),
            Self::Replace(at, word) => words[at.index(count)] = word,
            Self::Append(at, word) => words[at.index(count)].push(word),
            Self::Cut(at, end) => {
                let bytes = at.get(words).as_bytes();
                words[at.index(count)] = OsString::from_vec(bytes[..end.index(bytes.len() + 1)].to_vec());
            }
            Self::Insert(..) => {}
        }
    }
}

/// A folder with all of [`PATHS`] in it, deep enough that `../..` stays within what is removed.
struct Scratch {
    root: Folder,
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
        let root = Folder::new("attack");
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
        for path in [&scratch.root.0, &scratch.root.join("a"), &scratch.root.join("a/b"), &scratch.here, &at("folder")]
        {
            allow(path, 0o777)?;
        }
        allow(&at("locked.ron"), 0o000)?;
        allow(&at("locked"), 0o555)?;
        Ok(scratch)
    }

    fn run(&self, words: &[OsString]) -> Result<Ran, String> {
        let mut command = Command::new(program());
        command.args(words).current_dir(&self.here).stdin(Stdio::null());
        command.env_clear().env("HOME", &self.root.0).env("XDG_DATA_HOME", self.root.join("a/data"));
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

fn all_of(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// A copy of the program where every user may run it; the test removes it.
fn program() -> PathBuf {
    static COPIED: OnceLock<()> = OnceLock::new();
    let copy = env::temp_dir().join(format!("attune-attack-{}-program", process::id()));
    COPIED.get_or_init(|| _ = fs::copy(env!("CARGO_BIN_EXE_attune"), &copy).expect("a copy of the program"));
    copy
}
