//! Drawing on a machine without a session: the libraries below print nothing of their own.

use std::env;

use crate::common::folder::Folder;
use crate::common::top::at;
use crate::program::{program, ran};

/// The variables of a session, one of which the libraries ask for.
const SESSION: [&str; 3] = ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY"];
/// Values of the first of them with which the library finds no folder.
const FOLDERS: [Option<&str>; 3] = [None, Some(""), Some("not/absolute")];
const NO_DEVICE: i32 = 3;

#[test]
fn drawing_without_a_session_prints_nothing_foreign() {
    let folder = Folder::new("no-session");
    let (picture, page) = (folder.file("small.png"), folder.file("small.html"));
    let lesson = at("tests/fixtures/small.ron").display().to_string();
    let drawings: [&[&str]; 2] =
        [&["render", &lesson, "-q", "-o", &picture], &["export", &lesson, "--to", "html", "-q", "-o", &page]];
    for (arguments, runtime_folder) in drawings.iter().flat_map(|drawing| FOLDERS.map(|folder| (drawing, folder))) {
        let mut command = program();
        for name in SESSION {
            command.env_remove(name);
        }
        command.envs(runtime_folder.map(|path| (SESSION[0], path)));
        let (code, said) = ran(command.args(*arguments));
        assert!(!said.contains("XDG_RUNTIME_DIR"), "{said}");
        if code == Some(NO_DEVICE) {
            assert!(env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "{said}");
            eprintln!("skipped: {said}");
            return;
        }
        assert_eq!(code, Some(0), "{arguments:?} with {runtime_folder:?}: {said}");
    }
}
