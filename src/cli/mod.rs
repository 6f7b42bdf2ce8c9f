//! The command line: its commands, and their errors as messages and exit codes.

#[cfg(all(target_os = "linux", feature = "app"))]
mod again;
mod args;
mod check;
mod evidence;
mod evidence_args;
mod export;
mod grade;
mod lessons;
mod places;
mod print;
mod recordings;
mod render;
mod training;
mod vectors;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use attune_core::lesson::issue::shown;
use attune_engine::messages::nearest;
use attune_engine::panics;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};

use self::args::{Args, CliCommand, ManualPage};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    panics::guarded(run)
}

fn run() -> ExitCode {
    let mut args = match parse() {
        Ok(args) => args,
        Err(mut error) => {
            let elsewhere = misplaced_option(&mut error);
            let printed = print::answer(&error);
            if let Some(hint) = elsewhere.or_else(mistyped_command) {
                say(&hint);
            }
            return match printed {
                // Help and version are not errors.
                Ok(()) if !error.use_stderr() => ExitCode::SUCCESS,
                Ok(()) => ExitCode::from(USAGE),
                Err(fault) => ended(&fault),
            };
        }
    };
    let result = match &args.action {
        Some(_) if args.lesson.is_some() => Err(lesson_and_command(&args)),
        _ => lessons::find_lessons(&mut args).and_then(|()| act(&args)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let code = ended(&fault);
            if let Some(hint) = args.lesson.as_ref().and_then(|_| mistyped_command()) {
                say(&hint);
            }
            code
        }
    }
}

/// Runs the command that the arguments name.
fn act(args: &Args) -> Result<(), CliFault> {
    #[cfg(all(target_os = "linux", feature = "app"))]
    if matches!(args.action, None | Some(CliCommand::Render(_) | CliCommand::Export(_))) {
        again::with_runtime_folder();
    }
    match &args.action {
        None => lessons::open(args),
        Some(CliCommand::Check { lessons, sentence, options }) => {
            check::check(lessons, check::How { sentence, options }, &args.common)
        }
        Some(CliCommand::Trace { lesson, words: Some(words), .. }) => vectors::trace(lesson, words, &args.common),
        Some(CliCommand::Trace { lesson, sentence, what_if, words: None, to, text }) => {
            export::trace(lesson, sentence, what_if, (to, *text), &args.common)
        }
        Some(CliCommand::New { lesson, from }) => lessons::new(lesson, from.as_deref(), &args.common),
        Some(CliCommand::Render(request)) => render::render(request, &args.common),
        Some(CliCommand::Export(request)) => export::export(request, &args.common),
        Some(CliCommand::Grade(request)) => grade::grade(request, &args.common),
        Some(CliCommand::Neighbours(request)) => vectors::print_neighbours(request, &args.common),
        Some(CliCommand::Compare(request)) => vectors::print_compared(request, &args.common),
        Some(CliCommand::Map(request)) => evidence::map(request, &args.common),
        Some(CliCommand::Score(request)) => evidence::score(request, &args.common),
        Some(CliCommand::Words(request)) => evidence::words(request, &args.common),
        Some(CliCommand::Heads(request)) => evidence::heads(request, &args.common),
        Some(CliCommand::Licences) => print::licences(),
        Some(CliCommand::Manual { page: None }) => print::manual(grammar()),
        Some(CliCommand::Manual { page: Some(ManualPage::Record) }) => print::recorder(),
        Some(CliCommand::Completions { shell }) => print::completions(*shell, grammar()),
    }
}

/// Returns the grammar of the command line.
pub fn grammar() -> clap::Command {
    Args::command()
}

fn ended(fault: &CliFault) -> ExitCode {
    say(fault.text().trim_end_matches('\n'));
    fault.exit_code()
}

/// Prints lines on standard error. If it is closed, the failure cannot be reported.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", print::of_bounded_lines(text));
}

/// Parses the arguments. Help and errors are in colour unless `--no-color` is among the arguments.
fn parse() -> Result<Args, clap::Error> {
    let no_color = std::env::args_os().any(|arg| arg == "--no-color");
    let color = if no_color { clap::ColorChoice::Never } else { clap::ColorChoice::Auto };
    Args::from_arg_matches(&grammar().color(color).try_get_matches()?)
}

/// Returns a hint for an option that belongs to other commands. It replaces clap's tip, which says how to pass the
/// option as a file name.
fn misplaced_option(error: &mut clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let option = option.clone();
    let name = option.strip_prefix("--")?;
    let has = |command: &clap::Command| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    let command = grammar();
    let window = has(&command).then(|| "of attune LESSON, which opens the window".to_owned());
    let others = command.get_subcommands().filter(|command| has(command));
    let owners: Vec<String> =
        window.into_iter().chain(others.map(|command| format!("of attune {}", command.get_name()))).collect();
    if error.kind() != clap::error::ErrorKind::UnknownArgument || owners.is_empty() {
        return None;
    }
    error.remove(ContextKind::Suggested);
    Some(format!("hint: {option} is an option {}", owners.join(", and ")))
}

/// Returns a hint for a first argument that is not a file and resembles a command.
fn mistyped_command() -> Option<String> {
    let texts = std::env::args_os().skip(1).filter_map(|arg| arg.into_string().ok());
    let first = texts.into_iter().find(|arg| !arg.is_empty() && !arg.starts_with('-'))?;
    let command = grammar();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let meant = nearest(&first, names.iter().copied()).filter(|name| *name != first);
    let meant = meant.filter(|_| !Path::new(&first).exists())?;
    Some(format!("hint: there is no command {first:?}; did you mean {meant:?}?"))
}

/// Returns the error for a lesson before a command: the word is either a lesson to open or a mistyped command.
fn lesson_and_command(args: &Args) -> CliFault {
    let lesson = args.lesson.as_deref().unwrap_or(Path::new("")).display();
    CliFault::usage(format_args!(
        "{lesson:?} comes before a command: give either a lesson to open or a command, but not both; see --help"
    ))
}

/// The exit codes, as `attune --help` states them.
const ISSUES: u8 = 1;
const USAGE: u8 = 2;
const SCREEN: u8 = 3;

/// The reason why a command failed, which determines the exit code.
#[derive(Debug)]
pub enum CliFault {
    /// A lesson has issues, or its claims do not hold.
    Lesson(String),
    /// Standard output or a file cannot be written to.
    Output(String),
    /// The command line asks for something impossible.
    Usage(String),
    /// There is no display or no GPU.
    Screen(String),
}

impl CliFault {
    /// Creates a fault from issues, each in a paragraph of its own.
    pub fn lesson(issues: &[impl Display]) -> Self {
        Self::Lesson(issues.iter().map(|issue| format!("{issue}\n")).collect())
    }

    /// Creates a fault in a file, which is named before the words.
    pub fn in_file(path: &Path, why: impl Display) -> Self {
        Self::Lesson(format!("{}: {why}\n", shown(path)))
    }

    pub fn usage(text: impl Display) -> Self {
        Self::Usage(format!("error: {text}\n"))
    }

    pub fn output(text: impl Display) -> Self {
        Self::Output(format!("error: {text}\n"))
    }

    pub fn screen(text: impl Display) -> Self {
        Self::Screen(format!("error: {text}\n"))
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Lesson(text) | Self::Output(text) | Self::Usage(text) | Self::Screen(text) => text,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Lesson(_) | Self::Output(_) => ExitCode::from(ISSUES),
            Self::Usage(_) => ExitCode::from(USAGE),
            Self::Screen(_) => ExitCode::from(SCREEN),
        }
    }
}
