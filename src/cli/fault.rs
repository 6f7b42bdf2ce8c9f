//! Faults of a command, in words and as an exit code.

use std::fmt::Display;
use std::process::ExitCode;

/// Exit codes, as `attune --help` states them.
const ISSUES: u8 = 1;
pub const USAGE: u8 = 2;
const SCREEN: u8 = 3;

/// Why the program ends without having done what was asked.
#[derive(Debug)]
pub enum Fault {
    /// A lesson has issues, or its claims do not hold.
    Lesson(String),
    /// Standard output or a file cannot be written to.
    Output(String),
    /// The command line asks for what cannot be.
    Usage(String),
    /// There is no display or no GPU.
    Screen(String),
}

impl Fault {
    /// One issue a paragraph.
    pub fn lesson(issues: &[impl Display]) -> Self {
        Self::Lesson(issues.iter().map(|issue| format!("{issue}\n")).collect())
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
