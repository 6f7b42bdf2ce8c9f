//! Files of one id: two of them, and one that was moved.

use std::fs;

use attune_core::store::{Home, Key, LoadedFrom, open};

use super::{Scratch, Work};

#[test]
fn two_files_of_one_id_do_not_overwrite_each_other() {
    let scratch = Scratch::new();
    let files = ["a.ron", "b.ron"].map(|name| scratch.0.join(name));
    for (number, file) in files.iter().enumerate() {
        fs::write(file, "").unwrap();
        let mut opened = open::<Work>(&scratch.home(), &Key::of_file("same", file));
        assert_eq!(opened.loaded.value, None);
        opened.store.save(&Work::of(number as u64)).unwrap();
    }
    for (number, file) in files.iter().enumerate() {
        let opened = open::<Work>(&scratch.home(), &Key::of_file("same", file));
        assert_eq!(opened.loaded.value, Some(Work::of(number as u64)));
    }
}

#[test]
fn work_follows_a_file_that_was_moved() {
    let scratch = Scratch::new();
    let (from, to) = (scratch.0.join("from.ron"), scratch.0.join("to.ron"));
    fs::write(&from, "").unwrap();
    let old = Key::of_file("größe 猫", &from);
    open::<Work>(&scratch.home(), &old).store.save(&Work::of(4)).unwrap();
    fs::rename(&from, &to).unwrap();

    let other = open::<Work>(&scratch.home(), &Key::of_file("größe 犬", &to));
    assert_eq!(other.loaded.value, None);
    let new = Key::of_file("größe 猫", &to);
    let mut moved = open::<Work>(&scratch.home(), &new);
    assert_eq!(moved.loaded.value, Some(Work::of(4)));
    assert!(matches!(moved.loaded.used, LoadedFrom::Moved { .. }));
    assert!(moved.loaded.report()[0].starts_with("This continues your work on "));
    moved.store.save(&Work::of(5)).unwrap();
    drop(moved);
    assert_eq!(open::<Work>(&scratch.home(), &new).loaded.value, Some(Work::of(5)));
    assert_eq!(open::<Work>(&scratch.home(), &old).loaded.value, Some(Work::of(4)));
}

#[test]
fn any_id_and_any_path_will_do() {
    let scratch = Scratch::new();
    let long = "long ".repeat(10_000);
    for (number, id) in ["", "..", "nul", "a/b", "x\0y", "🦭\u{301}", &long].into_iter().enumerate() {
        for file in ["a.ron", "no/such/folder/b.ron", ""] {
            let key = Key::of_file(id, file.as_ref());
            open::<Work>(&scratch.home(), &key).store.save(&Work::of(number as u64)).unwrap();
            assert_eq!(open::<Work>(&scratch.home(), &key).loaded.value, Some(Work::of(number as u64)), "{id:.9}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_path_need_not_be_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let scratch = Scratch::new();
    let names: [&[u8]; 2] = [b"\xff.ron", b"\xfe.ron"];
    for (number, name) in names.iter().enumerate() {
        let key = Key::of_file("same", &scratch.0.join(OsStr::from_bytes(name)));
        let mut opened = open::<Work>(&scratch.home(), &key);
        assert_eq!(opened.loaded.value, None);
        opened.store.save(&Work::of(number as u64)).unwrap();
    }
}

#[test]
fn the_platform_has_a_place() {
    if let Some(home) = Home::of_platform() {
        assert!(home.root().is_absolute());
        assert!(home.root().ends_with("attune"));
    }
}
