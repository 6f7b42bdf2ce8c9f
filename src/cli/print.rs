//! Results on standard output.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};

use super::fault::Fault;

/// Prints a line.
pub fn line(text: impl Display) -> Result<(), Fault> {
    with(|out| writeln!(out, "{text}"))
}

/// Prints long output piece by piece. A closed pipe is no fault: the reader has seen enough.
pub fn with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Fault> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Fault::output(format_args!("the results cannot be written to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
