//! The lesson file opened in the learner's own editor.

use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use attune_core::lesson::issue::{printable, shown};

/// The time after which an editor that still runs counts as having opened the file. An editor that fails does so at
/// once.
const GRACE: Duration = Duration::from_millis(1500);

const GRACE_OF_DESKTOP: Duration = Duration::from_secs(6);

const LOOK: Duration = Duration::from_millis(50);

/// Programs that open text files on a desktop, each with its arguments.
const DESKTOP: &[&[&str]] = if cfg!(target_os = "macos") {
    &[&["open", "-t"]]
} else if cfg!(windows) {
    &[&["notepad"]]
} else {
    &[&["xdg-open"], &["gio", "open"]]
};

/// A program that may open the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EditorProgram {
    /// The environment variable that names the program; `None` for a program of the desktop.
    of: Option<&'static str>,
    words: Vec<String>,
}

/// Returns the learner's choice in `VISUAL` and `EDITOR`, followed by the desktop's programs.
fn candidates(variable: impl Fn(&str) -> Option<String>) -> Vec<EditorProgram> {
    let chosen = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| {
        let words: Vec<String> = variable(name)?.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(EditorProgram { of: Some(name), words })
    });
    let desktop = DESKTOP.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect());
    chosen.chain(desktop.map(|words| EditorProgram { of: None, words })).collect()
}

/// Opens the file in an editor, and waits a moment to see whether the program fails. Returns a message for the learner.
///
/// # Errors
/// If no editor could be opened; the message names the file, which the learner can then open.
pub fn open(file: &Path) -> Result<String, String> {
    open_with(file, &candidates(|name| std::env::var(name).ok()))
}

fn open_with(file: &Path, candidates: &[EditorProgram]) -> Result<String, String> {
    let shown = shown(file);
    let mut faults = Vec::new();
    for candidate in candidates {
        let name = printable(&candidate.words.join(" "));
        match start(candidate, file) {
            Ok(()) if candidate.of.is_some() => {
                return Ok(format!(
                    "{shown} is open in your editor ({name}). When you save the file, it reloads here."
                ));
            }
            Ok(()) => return Ok(format!("{name} was asked to open {shown}. When you save the file, it reloads here.")),
            Err(why) => faults.push(match candidate.of {
                Some(variable) => format!("{variable}={name}: {why}"),
                None => format!("{name}: {why}"),
            }),
        }
    }
    let faults = faults.join("; ");
    Err(format!(
        "No editor could be opened ({faults}). Open {shown} yourself. When you save the file, it reloads \
        here."
    ))
}

fn start(EditorProgram { of, words }: &EditorProgram, file: &Path) -> Result<(), String> {
    let (program, args) = words.split_first().ok_or("it is empty")?;
    let mut command = Command::new(program);
    command.args(args).arg(file);
    // Only an editor named by a variable may use the terminal in which attune was started.
    if !(of.is_some() && stdin().is_terminal()) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    let mut child = command.spawn().map_err(|why| why.to_string())?;
    let (begun, grace) = (Instant::now(), if of.is_some() { GRACE } else { GRACE_OF_DESKTOP });
    while begun.elapsed() < grace {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("it ended with {status}")),
            Ok(None) => thread::sleep(LOOK),
            Err(why) => return Err(why.to_string()),
        }
    }
    // A started program must be waited for, so that the system can remove it.
    thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(candidate: &EditorProgram) -> String {
        candidate.words.join(" ")
    }

    #[test]
    fn the_learners_choice_comes_before_the_desktops() {
        let set = |name: &str| match name {
            "VISUAL" => Some("code --wait".to_owned()),
            "EDITOR" => Some("  ".to_owned()),
            _ => None,
        };
        let found = candidates(set);
        assert_eq!((words(&found[0]).as_str(), found[0].of), ("code --wait", Some("VISUAL")));
        assert_eq!(found.len(), 1 + DESKTOP.len(), "an empty name is none");
    }

    #[test]
    fn without_an_editor_the_path_is_said_and_why() {
        let none = |name: &str, of| EditorProgram { of, words: vec![name.to_owned()] };
        let all = [none("no-such-editor", Some("VISUAL")), none("no-such-opener", None)];
        let why = open_with(Path::new("/a/my_apple.ron"), &all).expect_err("there is none");
        for part in ["VISUAL=no-such-editor: ", "; no-such-opener: ", "Open /a/my_apple.ron yourself"] {
            assert!(why.contains(part), "{why}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn one_that_fails_gives_way_to_the_next() {
        let all = ["false", "true"].map(|name| EditorProgram { of: Some("EDITOR"), words: vec![name.to_owned()] });
        let told = open_with(Path::new("my_apple.ron"), &all).expect("true is an editor that ends at once");
        assert!(told.contains("my_apple.ron is open in your editor (true)"), "{told}");
        let why = open_with(Path::new("my_apple.ron"), &all[..1]).expect_err("false fails");
        assert!(why.contains("EDITOR=false: it ended with exit status: 1"), "{why}");
        let desktop = [EditorProgram { of: None, words: vec!["true".to_owned()] }];
        let told = open_with(Path::new("my_apple.ron"), &desktop).expect("it ends at once");
        assert!(told.contains("true was asked to open my_apple.ron"), "{told}");
    }
}
