//! `attune check --watch`: a round for each save, and no half files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::common::folder::Folder;
use crate::common::lessons::{SMALL, edited};
use crate::program::program;

/// A check takes well under a second.
const PATIENCE: Duration = Duration::from_secs(120);

/// Ends the program when the test ends, however it does.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}

#[test]
fn each_save_is_a_round_of_its_own_and_half_a_file_is_none() {
    let folder = Folder::new("watch");
    let [one, two] = ["one.ron", "two.ron"].map(|name| folder.file(name));
    fs::write(&one, edited(SMALL, &[("\"small\"", "\"one\"")])).expect("a lesson");
    fs::write(&two, edited(SMALL, &[("\"small\"", "\"two\"")])).expect("a lesson");
    let mut command = program();
    command.args(["check", "--watch", &one, &two]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().expect("it starts"));
    let out = lines(running.0.stdout.take().expect("a pipe"));
    let faults = lines(running.0.stderr.take().expect("a pipe"));
    let next = |from: &Receiver<String>| from.recv_timeout(PATIENCE).expect("a line");
    assert_eq!(next(&out), "round 1: every file; a file is checked again whenever it is saved, until you press Ctrl-C");
    for file in [&one, &two] {
        assert!(next(&out).starts_with(&format!("{file}: ok, ")));
    }
    // In two writes, of which the first leaves half a file.
    fs::write(&two, &SMALL[..200]).expect("it is saved");
    fs::write(&two, edited(SMALL, &[("steps:", "stepz:")])).expect("it is saved");
    assert_eq!(next(&out), format!("round 2: {two} saved"));
    assert_eq!(next(&out), format!("{two}: has issues"));
    let fault = next(&faults);
    assert!(fault.starts_with(&format!("{two}:")) && fault.contains("stepz"), "{fault}");
    // By another file in its place.
    let beside = folder.file("beside");
    fs::write(&beside, SMALL).expect("it is written");
    fs::rename(&beside, &two).expect("it is put");
    assert_eq!(next(&out), format!("round 3: {two} saved"));
    assert!(next(&out).starts_with(&format!("{two}: ok, ")));
    // The id of a lesson that is not checked in this round.
    fs::write(&two, edited(SMALL, &[("\"small\"", "\"one\"")])).expect("it is saved");
    assert_eq!(next(&out), format!("round 4: {two} saved"));
    assert_eq!(next(&out), format!("{two}: has issues"));
    let fault = next(&faults);
    assert!(fault.contains("id \"one\" is also the id of"), "{fault}");
    assert!(out.recv_timeout(Duration::from_secs(1)).is_err(), "nothing is said while nothing is saved");
    assert!(running.0.try_wait().expect("it is asked").is_none(), "it goes on until it is ended");
}
