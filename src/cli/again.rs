//! The program begun again with a variable that graphics libraries ask for.
//!
//! Mesa's Vulkan looks for a Wayland display before it lists the graphics devices, also where nothing is to be shown on one.
//! The library that it asks prints `error: XDG_RUNTIME_DIR is invalid or not set in the environment` if the variable is not
//! an absolute path, as on servers and in containers. A process cannot safely set a variable of its own while it runs, so
//! the program replaces itself by one that has it.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The variable with the folder of a session's sockets.
const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";
/// A path in which nobody can place a socket: the library finds no display there, and says nothing.
const NO_FOLDER: &str = "/dev/null";

/// Begins the program again with the variable, unless it is there. Returns if it is, or if the program cannot be begun
/// again: then the foreign line is printed, and the picture is drawn all the same.
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
    // An error has no consequence but that line.
    let _ = command.args(arguments).env(RUNTIME_FOLDER, NO_FOLDER).exec();
}
