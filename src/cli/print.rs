//! Results on standard output, and the commands for installed programs: `attune licences`, `manual` and `completions`.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};

use attune_core::lesson::issue::printable;
use clap::Command;
use clap_complete::Shell;

use super::CliFault;

/// Prints a line.
///
/// # Errors
/// If standard output cannot be written.
pub fn line(text: impl Display) -> Result<(), CliFault> {
    with(|out| writeln!(out, "{}", of_bounded_lines(&text.to_string())))
}

/// Prints long output piece by piece. A closed pipe is not an error, because the reader has stopped reading on purpose.
///
/// # Errors
/// If standard output cannot be written.
pub fn with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliFault> {
    let mut out = BufWriter::new(io::stdout().lock());
    written(write(&mut out).and_then(|()| out.flush()))
}

/// Prints a warning on standard error. If that is closed, the failure cannot be reported.
pub fn warning(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", of_bounded_lines(&format!("warning: {text}")));
}

/// The longest line of a message, in characters. Longer lines contain an argument that was not written by hand.
const LINE_CHARS_MAX: usize = 5000;
/// The number of characters kept at the end of a longer line, where the message says what is wrong.
const END_CHARS: usize = 1000;

/// Prints help, the version or an error in the arguments. If the text contains control characters or very long lines,
/// it is printed on standard error without colours, with control characters escaped and lines shortened.
///
/// # Errors
/// If the text cannot be written.
pub fn answer(error: &clap::Error) -> Result<(), CliFault> {
    let plain = error.render().to_string();
    let shown = of_bounded_lines(&plain.lines().map(printable).collect::<Vec<_>>().join("\n"));
    if shown == plain.trim_end_matches('\n') {
        return written(error.print());
    }
    // If standard error is closed, the failure cannot be reported.
    let _ = writeln!(io::stderr(), "{shown}");
    Ok(())
}

/// Removes the middle of lines that are too long.
pub fn of_bounded_lines(text: &str) -> String {
    let cut = |line: &str| match line.char_indices().nth(LINE_CHARS_MAX) {
        Some(_) => {
            let head: String = line.chars().take(LINE_CHARS_MAX - END_CHARS).collect();
            let end = line.char_indices().nth_back(END_CHARS - 1).map_or(0, |(at, _)| at);
            format!("{head} … {}", &line[end..])
        }
        None => line.to_owned(),
    };
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}

/// Returns the fault of a failed write, unless the reader has closed the pipe.
fn written(result: io::Result<()>) -> Result<(), CliFault> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliFault::output(format_args!("the results cannot be written to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The two licences of the program, of which the user may choose one.
const OWN: [&str; 2] = [include_str!("../../LICENSE-MIT"), include_str!("../../LICENSE-APACHE")];
const LIBRARIES: &str = include_str!("../../assets/licences.txt");
const FONTS: [(&str, &str); 4] = [
    ("Inter", include_str!("../../assets/fonts/LICENSE-Inter.txt")),
    ("JetBrains Mono", include_str!("../../assets/fonts/LICENSE-JetBrainsMono.txt")),
    ("DejaVu Sans", include_str!("../../assets/fonts/LICENSE-DejaVu.txt")),
    ("KaTeX's fonts", include_str!("../../assets/fonts/LICENSE-KaTeX.txt")),
];

/// Prints the licences of the program, its fonts and its libraries.
///
/// # Errors
/// If standard output cannot be written.
pub fn licences() -> Result<(), CliFault> {
    with(|out| {
        writeln!(out, "attune may be used under either of two licences.\n")?;
        OWN.iter().try_for_each(|text| writeln!(out, "{}\n", text.trim_end()))?;
        FONTS.iter().try_for_each(|(font, text)| writeln!(out, "== {font}\n\n{}\n", text.trim_end()))?;
        write!(out, "== Libraries, each under its own licence\n\n{LIBRARIES}")
    })
}

/// Prints the manual page of the program, followed by the pages of its commands.
///
/// # Errors
/// If standard output cannot be written.
pub fn manual(grammar: Command) -> Result<(), CliFault> {
    let mut page = Vec::new();
    let commands: Vec<Command> = grammar.get_subcommands().cloned().collect();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(grammar).render(&mut page);
    for command in commands {
        let name = format!("attune {}", command.get_name());
        let of_command = clap_mangen::Man::new(command.bin_name(name.clone()).display_name(name));
        let _ = of_command.render_name_section(&mut page);
        let _ = of_command.render_synopsis_section(&mut page);
        let _ = of_command.render_description_section(&mut page);
        let _ = of_command.render_options_section(&mut page);
    }
    with(|out| out.write_all(&page))
}

/// The recorder, which needs nothing but PyTorch, transformers and safetensors.
const RECORDER: &str = include_str!("../../docs/record.py");

/// Prints the recorder.
///
/// # Errors
/// If standard output cannot be written.
pub fn recorder() -> Result<(), CliFault> {
    with(|out| out.write_all(RECORDER.as_bytes()))
}

/// Prints a completion script for a shell.
///
/// # Errors
/// If standard output cannot be written.
pub fn completions(shell: Shell, mut grammar: Command) -> Result<(), CliFault> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar, "attune", &mut script);
    with(|out| out.write_all(&script))
}
