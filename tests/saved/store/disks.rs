//! Disks that are full, and folders that are read-only.

use std::fs;
use std::sync::Arc;

use attune_core::store::{Home, Lock, ReadError, Saver, Status, open, read};

use super::{Scratch, Work, key};
use crate::common::waiting::wait_until;

/// More than the small disks have, and a state that fits in any.
const LARGE: usize = 500_000;
const SMALL: usize = 10;

/// In a child, whose disk or file size has a limit.
pub fn meet_a_disk_that_is_too_small(home: &Home) {
    let saver = Saver::spawn(open::<Work>(home, &key()).store, || ());
    saver.put(Arc::new(Work::sized(1, SMALL)));
    assert!(matches!(saver.flush(), Status::Saved { .. }));
    saver.put(Arc::new(Work::sized(2, LARGE)));
    let Status::Failed { why } = saver.flush() else { panic!("{:?}", saver.status()) };
    println!("\nFAILED {why}");
    assert_eq!(read::<Work>(home, &key()).value, Some(Work::sized(1, SMALL)), "the last good state stays");
    assert!(saver.checkpoint("before").is_err());
    saver.put(Arc::new(Work::sized(3, SMALL)));
    assert!(matches!(saver.flush(), Status::Saved { .. }), "the failed write left its room");
    drop(saver);
    assert_eq!(open::<Work>(home, &key()).loaded.value, Some(Work::sized(3, SMALL)));

    // A disk that is full from the beginning.
    let filler = home.root().join("filler");
    assert!(fs::write(&filler, vec![0; LARGE]).is_err());
    let opened = open::<Work>(home, &key());
    assert_eq!(opened.loaded.value, Some(Work::sized(3, SMALL)));
    println!("\nOPENED {}", opened.store.lock());
    let saver = Saver::spawn(opened.store, || ());
    saver.put(Arc::new(Work::sized(4, SMALL)));
    println!("\nTHEN {:?}", saver.flush());
    fs::remove_file(&filler).unwrap();
    wait_until("it is saved", || matches!(saver.status(), Status::Saved { .. }));
    drop(saver);
    assert_eq!(open::<Work>(home, &key()).loaded.value, Some(Work::sized(4, SMALL)));
    println!("\nMET");
}

#[cfg(unix)]
fn with_a_limit(script: &str, expected: &[&str]) {
    use std::process::{Command, Stdio};

    let scratch = Scratch::new();
    fs::create_dir_all(scratch.home().root()).unwrap();
    let can = Command::new("sh")
        .args(["-c", script, "true", "true"])
        .env("ATTUNE_STORE_HOME", scratch.home().root())
        .stderr(Stdio::null())
        .status();
    if !can.is_ok_and(|status| status.success()) {
        return super::skip(&format!("this limit cannot be set here: {script}"));
    }
    let output = super::children::command(&["sh", "-c", script, "sh"], "too small", &scratch.home()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success() && text.contains("MET"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for words in expected {
        assert!(text.contains(words), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_costs_nothing_that_was_saved() {
    // A disk of its own in memory, seen by the child alone.
    let mount = r#"mount -t tmpfs -o size=200k none "$ATTUNE_STORE_HOME" && exec "$@""#;
    with_a_limit(
        &format!("exec unshare -rm sh -c '{mount}' sh \"$@\""),
        &["FAILED the disk is full", "OPENED changes cannot be saved yet", "THEN Failed { why: \"the disk is full\" }"],
    );
}

#[cfg(unix)]
#[test]
fn a_limit_on_file_sizes_costs_nothing_that_was_saved() {
    with_a_limit("trap '' XFSZ; ulimit -f 100; exec \"$@\"", &["FAILED the file is too large for the file system"]);
}

/// In a child that is not the administrator, whom permissions do not bind.
pub fn meet_a_folder_that_is_read_only(home: &Home) {
    let opened = open::<Work>(home, &key());
    assert_eq!(opened.loaded.value, Some(Work::of(1)));
    let Lock::Unwritable { why } = opened.store.lock() else { panic!("{}", opened.store.lock()) };
    println!("\nREAD ONLY {why}");
    let saver = Saver::spawn(opened.store, || ());
    saver.put(Arc::new(Work::of(2)));
    assert_eq!(saver.flush(), Status::Failed { why: "permission denied".to_owned() });
    drop(saver);
    assert_eq!(read::<Work>(home, &key()).value, Some(Work::of(1)));

    let elsewhere = super::Key::of_file("locked", "locked.ron".as_ref());
    let unreadable = read::<Work>(home, &elsewhere);
    assert!(unreadable.value.is_none());
    assert_eq!(unreadable.troubles[0].wrong, ReadError::Unreadable("permission denied".to_owned()));
    println!("\nMET");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;
    let scratch = Scratch::new();
    let home = scratch.home();
    let path = scratch.save(1);
    let elsewhere = super::Key::of_file("locked", "locked.ron".as_ref());
    let mut locked = open::<Work>(&home, &elsewhere);
    locked.store.save(&Work::of(1)).unwrap();
    let allow = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(&locked.store.folder().path().join("state.json"), 0o000);
    allow(&path.join("gate"), 0o444);
    allow(&path, 0o555);

    let mut command = super::children::command(&[], "read only", &home);
    if fs::metadata(&path).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    match command.output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            println!("{text}");
            assert!(text.contains("MET"), "{text}{}", String::from_utf8_lossy(&output.stderr));
            assert!(text.contains("cannot be written: permission denied"), "{text}");
        }
        Err(error) => super::skip(&format!("no program can be run as another user here: {error}")),
    }
    allow(&path, 0o755);
}

#[test]
fn a_home_that_cannot_be_made_is_said() {
    let scratch = Scratch::new();
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let mut opened = open::<Work>(&Home::at(file.join("home")), &key());
    assert_eq!((opened.loaded.value, opened.loaded.troubles.len()), (None, 0));
    let Lock::Unwritable { why } = opened.store.lock() else { panic!("{}", opened.store.lock()) };
    assert!(why.ends_with("there is a file where a folder should be"), "{why}");
    assert!(opened.store.save(&Work::of(1)).is_err());

    // Another window can write first, and this one then overwrites nothing that it has not kept.
    fs::remove_file(&file).unwrap();
    open::<Work>(&Home::at(file.join("home")), &key()).store.save(&Work::of(2)).unwrap();
    opened.store.save(&Work::of(3)).unwrap();
    assert_eq!(opened.store.lock(), &Lock::Mine);
    let folder = opened.store.folder();
    assert_eq!(folder.load::<Work>(&folder.checkpoints()[0]), Ok(Work::of(2)));
}
