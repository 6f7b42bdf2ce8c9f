//! Lines on standard output.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use super::fault::Fault;

/// Prints a line. Whoever closed the pipe has read enough.
pub fn line(text: impl Display) -> Result<(), Fault> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Fault::usage(format_args!("cannot print: {error}"))),
        _ => Ok(()),
    }
}
