//! Panics, as values for callers that expect them, and as reports to the user otherwise.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Once, OnceLock};
use std::thread;

/// Exit code after a panic: `EX_SOFTWARE` of sysexits.h.
pub const EXIT_CODE: u8 = 70;

thread_local! {
    /// Whether panics of this thread are returned to the caller of [`quietly`] and not reported.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and returns the message if it panics, for libraries that panic where they could return an error.
///
/// Panics of other threads are reported as before.
///
/// # Errors
/// The first line of the panic's message.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                loud(info);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(was_quiet);
    result.map_err(|panic| message(&*panic).lines().next().unwrap_or_default().to_owned())
}

/// Folder of the learner's saved work, once it is known.
static WORK: OnceLock<PathBuf> = OnceLock::new();

/// Sets the folder of the learner's work, which the report of a panic mentions.
pub fn work_is_kept_in(folder: PathBuf) {
    // Only the first folder counts; the program uses one.
    let _ = WORK.set(folder);
}

/// Runs the whole program. A panic is reported on standard error and ends the program with [`EXIT_CODE`].
pub fn guarded(program: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let work = WORK.get().map(|work| work.display().to_string());
        // If standard error is closed, there is nowhere else to report to.
        let _ = io::stderr().write_all(report(info, work.as_deref()).as_bytes());
    }));
    catch_unwind(AssertUnwindSafe(program)).unwrap_or_else(|_| ExitCode::from(EXIT_CODE))
}

/// Returns the report of a panic: its cause and place, the folder of the learner's work, and what to do next.
fn report(info: &PanicHookInfo<'_>, work: Option<&str>) -> String {
    let thread = thread::current();
    let part = match thread.name() {
        Some("main") => "attune has crashed".to_owned(),
        name => format!("a part of attune, {}, has failed and must stop", name.unwrap_or("without a name")),
    };
    let at = info.location().map_or(String::new(), |at| format!(", at {}:{}:{}", at.file(), at.line(), at.column()));
    let mut report = format!("{part}: {}{at}\n", message(info.payload()));
    if let Some(work) = work {
        let _ = writeln!(report, "Your work is saved in {work}; at most the last two seconds are lost.");
    }
    report + "Please report these lines to those who gave you attune, with the lesson and what you did last.\n"
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown")
}
