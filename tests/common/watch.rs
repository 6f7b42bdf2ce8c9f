//! An end for what does not end: nothing but the process can be stopped from outside.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{io, process, thread};

/// The result of some work. Where there is none after `limit`, says on standard error which work it was, and aborts.
pub fn watched<T>(limit: Duration, name: impl Into<String>, work: impl FnOnce() -> T) -> T {
    let (running, ended) = channel::<()>();
    let name = name.into();
    let watch = move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Past the capture of a test, which an abort would lose.
            let _ = writeln!(io::stderr(), "{name} has not ended after {} s: it hangs", limit.as_secs_f64());
            process::abort();
        }
    };
    thread::Builder::new().name("watch".to_owned()).spawn(watch).expect("a thread");
    let result = work();
    drop(running);
    result
}
