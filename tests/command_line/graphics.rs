//! Drawing on a machine without a session: the libraries below print nothing of their own.

use std::env;

use crate::common::folder::Folder;
use crate::common::top::at;
use crate::program::{program, ran};

/// The variables of a session, one of which the libraries ask for.
const SESSION: [&str; 3] = ["XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY"];
const NO_DEVICE: i32 = 3;

#[test]
fn drawing_without_a_session_prints_nothing_foreign() {
    let folder = Folder::new("no-session");
    let picture = folder.file("apple.png");
    let lesson = at("lessons/apple.ron").display().to_string();
    for runtime_folder in [None, Some(""), Some("not/absolute")] {
        let mut command = program();
        for name in SESSION {
            command.env_remove(name);
        }
        command.envs(runtime_folder.map(|path| (SESSION[0], path)));
        let (code, said) = ran(command.args(["render", &lesson, "-q", "-o", &picture]));
        assert!(!said.contains("XDG_RUNTIME_DIR"), "{said}");
        if code == Some(NO_DEVICE) {
            assert!(env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "{said}");
            eprintln!("skipped: {said}");
            return;
        }
        assert_eq!((code, &*said), (Some(0), ""), "{runtime_folder:?}");
    }
}
