//! Restarting the program with an environment variable that graphics libraries need.
//!
//! Mesa's Vulkan driver looks for a Wayland display before it lists the graphics devices, even if nothing will be shown
//! on one. The library that it calls prints `error: XDG_RUNTIME_DIR is invalid or not set in the environment` if the
//! variable is not an absolute path, as on servers and in containers. A process cannot safely set its own environment
//! variables while it runs, so the program replaces itself by a new process that has the variable.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The variable that names the folder of a session's sockets.
const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";
/// A path in which no socket can exist, so that libwayland finds no display and prints nothing.
const NO_FOLDER: &str = "/dev/null";

/// Restarts the program with `XDG_RUNTIME_DIR` set to `NO_FOLDER`, unless the variable is already an absolute path.
/// Returns if it is, or if the program cannot be restarted: the picture is then drawn all the same, after an error
/// message of the library.
pub fn with_runtime_folder() {
    let folder = env::var_os(RUNTIME_FOLDER).unwrap_or_default();
    let Ok(program) = env::current_exe() else { return };
    if Path::new(&folder).is_absolute() {
        return;
    }
    let mut arguments = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    // If the program cannot be restarted, the only consequence is the library's error message.
    let _ = command.args(arguments).env(RUNTIME_FOLDER, NO_FOLDER).exec();
}
