//! Files that are cut off, changed, hostile or of another version.

use std::fs;
use std::path::Path;
use std::process::Command;

use attune_core::store::{LoadedFrom, Lock, ReadError, Stored, open, update};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Scratch, Work, key};

/// The text of a file with a right checksum, whatever it holds.
fn file(version: &str, body: &[u8]) -> Vec<u8> {
    let mut rest = format!("{version} {}\n", body.len()).into_bytes();
    rest.extend(body);
    let mut file = format!("attune-state {:08x} ", crc32fast::hash(&rest)).into_bytes();
    file.extend(rest);
    file
}

fn file_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_state_comes_back_as_it_was() {
    let scratch = Scratch::new();
    for number in [1, 2, 3] {
        let folder = scratch.save(number);
        let opened = scratch.open();
        assert_eq!(opened.loaded.value, Some(Work::of(number)));
        assert!(opened.loaded.report().is_empty());
        assert_eq!(opened.store.lock(), &Lock::Mine);
        assert!(folder.join("state.json").exists());
    }
}

#[test]
fn no_truncation_goes_unnoticed() {
    let scratch = Scratch::new();
    let state = scratch.save(1).join("state.json");
    let whole = fs::read(&state).unwrap();
    for length in 0..whole.len() {
        fs::write(&state, &whole[..length]).unwrap();
        let loaded = scratch.read();
        assert_eq!(loaded.value, None);
        let [trouble] = &loaded.troubles[..] else { panic!("{loaded:?}") };
        let ReadError::Truncated { bytes, of } = trouble.wrong else { panic!("{length} bytes: {trouble}") };
        assert_eq!(bytes, length as u64);
        assert!(of.is_none_or(|of| of == whole.len() as u64));
    }
    fs::write(&state, [&whole[..], b"x"].concat()).unwrap();
    assert_eq!(scratch.read().troubles[0].wrong, ReadError::Corrupt);
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let scratch = Scratch::new();
    let state = scratch.save(1).join("state.json");
    let whole = fs::read(&state).unwrap();
    for bit in 0..8 * whole.len() {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&state, &flipped).unwrap();
        let loaded = scratch.read();
        assert_eq!(loaded.value, None, "bit {bit}");
        // A version that is no longer the one that was written is damage, and says nothing of programs.
        let wrong = &loaded.troubles[0].wrong;
        assert!(
            !matches!(wrong, ReadError::Newer { .. } | ReadError::Older { .. } | ReadError::Content(_)),
            "bit {bit}: {wrong}"
        );
    }
}

#[test]
fn the_newest_whole_checkpoint_takes_the_place_of_a_broken_state() {
    let scratch = Scratch::new();
    let mut opened = scratch.open();
    for number in 1..=3 {
        opened.store.save(&Work::of(number)).unwrap();
        opened.store.checkpoint_now(&format!("number {number}")).unwrap();
    }
    opened.store.save(&Work::of(4)).unwrap();
    let folder = opened.store.folder().clone();
    drop(opened);
    let labels: Vec<_> = folder.checkpoints().into_iter().filter_map(|checkpoint| checkpoint.label).collect();
    assert_eq!(labels, ["number 3", "number 2", "number 1"]);

    let newest = folder.checkpoints()[0].clone();
    let path = folder.path();
    fs::write(path.join("state.json"), "attune-state 00000000 3 2\n").unwrap();
    let broken_checkpoint = file_names(&path.join("checkpoints")).pop().unwrap();
    fs::write(path.join("checkpoints").join(&broken_checkpoint), b"\xff\xfe").unwrap();

    let opened = scratch.open();
    assert_eq!(opened.loaded.value, Some(Work::of(2)));
    let report = opened.loaded.report().join("\n");
    println!("{report}");
    assert!(report.contains("state.json is cut off after 26 of 28 bytes; it has been moved to"), "{report}");
    assert!(report.contains("is corrupt: it is not UTF-8"), "{report}");
    assert!(report.contains("the checkpoint saved just now is used instead."), "{report}");
    let LoadedFrom::Checkpoint(used) = &opened.loaded.used else { panic!("{report}") };
    assert_eq!(used.label.as_deref(), Some("number 2"));
    assert_eq!(file_names(&path.join("aside")).len(), 2);
    assert!(opened.store.folder().load::<Work>(&newest).is_err());
    assert_eq!(opened.store.folder().load::<Work>(used), Ok(Work::of(2)));
}

#[test]
fn what_is_moved_aside_and_what_is_kept_is_bounded() {
    let scratch = Scratch::new();
    let path = scratch.save(0);
    for number in 0..30u64 {
        fs::write(path.join("state.json"), format!("broken {number}")).unwrap();
        let mut opened = scratch.open();
        opened.store.save(&Work::of(number)).unwrap();
        let kept = opened.store.checkpoint_now("again").unwrap();
        assert_eq!(opened.store.folder().load::<Work>(&kept), Ok(Work::of(number)));
    }
    assert_eq!(file_names(&path.join("aside")).len(), 10);
    assert!(file_names(&path.join("aside"))[9].starts_with("0000000030-state"));
    assert_eq!(fs::read_to_string(path.join("aside/0000000030-state.json")).unwrap(), "broken 29");
    let checkpoints = scratch.open().store.folder().checkpoints();
    assert_eq!(checkpoints.iter().filter(|checkpoint| checkpoint.label.is_some()).count(), 5);
}

#[test]
fn what_cannot_be_moved_aside_is_not_overwritten() {
    let scratch = Scratch::new();
    let path = scratch.save(1);
    fs::write(path.join("state.json"), "broken").unwrap();
    fs::write(path.join("aside"), "a file in place of the folder").unwrap();
    let mut opened = scratch.open();
    assert!(matches!(opened.store.lock(), Lock::ReadOnly { .. }));
    assert!(opened.store.save(&Work::of(2)).is_err());
    assert!(update(&scratch.home(), &key(), |work: &mut Work| work.number = 3).is_err());
    assert_eq!(fs::read_to_string(path.join("state.json")).unwrap(), "broken");
}

/// A program that came later.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Later {
    amount: u64,
}

impl Stored for Later {
    const VERSION: u32 = 4;

    fn from_older(version: u32, json: &str) -> Option<Later> {
        let work: Work = serde_json::from_str(json).ok()?;
        (version == 3).then_some(Later { amount: work.number })
    }
}

#[test]
fn a_newer_program_reads_older_work() {
    let scratch = Scratch::new();
    scratch.save(7);
    let later = open::<Later>(&scratch.home(), &key());
    assert_eq!(later.loaded.value, Some(Later { amount: 7 }));
    assert!(later.loaded.report().is_empty());
}

#[test]
fn an_older_program_leaves_newer_work_alone() {
    let scratch = Scratch::new();
    let mut later = open::<Later>(&scratch.home(), &key());
    later.store.save(&Later { amount: 9 }).unwrap();
    let state = later.store.folder().path().join("state.json");
    let bytes = fs::read(&state).unwrap();
    drop(later);

    let mut opened = scratch.open();
    let Lock::ReadOnly { why } = opened.store.lock() else { panic!("{}", opened.store.lock()) };
    assert!(why.contains("is from a newer program, in format version 4; this program reads versions up to 3"), "{why}");
    assert_eq!(opened.loaded.value, None);
    assert!(opened.store.save(&Work::of(1)).is_err());
    assert_eq!(fs::read(&state).unwrap(), bytes);
    // The newer program may still open it, while the older one looks on.
    assert_eq!(open::<Later>(&scratch.home(), &key()).store.lock(), &Lock::Mine);
    drop(opened);

    let mut chosen = scratch.take_over();
    assert_eq!(fs::read(chosen.loaded.troubles[0].kept.as_ref().unwrap()).unwrap(), bytes);
    chosen.store.save(&Work::of(2)).unwrap();
    assert_eq!(scratch.read().value, Some(Work::of(2)));
}

#[test]
fn hostile_files_are_refused_in_words() {
    let scratch = Scratch::new();
    let state = scratch.save(1).join("state.json");
    let wrong = || {
        let loaded = scratch.read();
        assert_eq!(loaded.value, None);
        let wrong = loaded.troubles[0].wrong.clone();
        println!("{wrong}");
        wrong
    };
    let meta = r#"{"id":"apple","saved":0}"#;
    let deep = "[".repeat(1_000_000);
    for json in [r#"{"number":1}"#, "[]", "", "{\"number\":1,\"text\":[1]}}", "{\"number\":-1,\"text\":[]}", &deep] {
        fs::write(&state, file("3", format!("{meta}\n{json}\n").as_bytes())).unwrap();
        assert!(matches!(wrong(), ReadError::Content(_)), "{json}");
    }
    fs::write(&state, file("3", b"{}\n{}\n")).unwrap();
    assert!(matches!(wrong(), ReadError::Content(_)));
    fs::write(&state, file("3", format!("{meta}\n\"\u{e9}").replace('\u{e9}', "e").as_bytes())).unwrap();
    assert!(matches!(wrong(), ReadError::Content(_)));
    fs::write(&state, file("3", b"no second line")).unwrap();
    assert_eq!(wrong(), ReadError::Corrupt);
    fs::write(&state, file("3", b"{}\n\xff\xff\n")).unwrap();
    assert_eq!(wrong(), ReadError::NotText);
    fs::write(&state, file("-3", format!("{meta}\n{{}}\n").as_bytes())).unwrap();
    assert_eq!(wrong(), ReadError::Corrupt);
    fs::write(&state, format!("attune-state 00000000 3 {}\n", u64::MAX)).unwrap();
    assert!(matches!(wrong(), ReadError::Truncated { .. }));
    fs::write(&state, "Lesson(id: \"apple\")").unwrap();
    assert_eq!(wrong(), ReadError::NotState);
    fs::File::create(&state).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(wrong(), ReadError::TooLarge { bytes: 1 << 40 });
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    assert!(matches!(wrong(), ReadError::Unreadable(_)));
    // A folder in place of the state goes aside like a file.
    let mut opened = scratch.open();
    opened.store.save(&Work::of(2)).unwrap();
    drop(opened);
    fs::remove_file(&state).unwrap();
    match Command::new("mkfifo").arg(&state).status() {
        Ok(done) if done.success() => assert!(matches!(wrong(), ReadError::Unreadable(_))),
        _ => super::skip("no pipe can be made here"),
    }
}

#[test]
fn a_far_future_or_past_does_not_stop_saving() {
    let scratch = Scratch::new();
    let state = scratch.save(1).join("state.json");
    for saved in ["0", "18446744073709551615"] {
        let body = format!("{{\"id\":\"apple\",\"saved\":{saved}}}\n{{\"number\":1,\"text\":[]}}\n");
        fs::write(&state, file("3", body.as_bytes())).unwrap();
        let mut opened = scratch.open();
        assert!(opened.loaded.value.is_some());
        opened.store.save(&Work::of(2)).unwrap();
        assert!(!opened.store.folder().checkpoints().is_empty());
    }
}

proptest! {
    #[test]
    fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), with_header in any::<bool>()) {
        let scratch = Scratch::new();
        let state = scratch.save(1).join("state.json");
        fs::write(&state, if with_header { file("3", &bytes) } else { bytes }).unwrap();
        prop_assert_eq!(scratch.read().value, None);
    }
}
