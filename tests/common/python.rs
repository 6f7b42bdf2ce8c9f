//! A Python with torch, transformers and safetensors, for tests that compare with these libraries.

use std::process::Command;

const NEEDED: &str = "import torch, transformers, safetensors";
/// The interpreter with these packages, and what makes a test fail without.
const PYTHON: &str = "ATTUNE_PYTHON";
const REQUIRED: &str = "ATTUNE_REQUIRE_TORCH";

/// A command of the interpreter, without a network; `None`, loudly, where there is no such interpreter.
pub fn with_torch() -> Option<Command> {
    let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".to_owned());
    let has_torch = Command::new(&python).args(["-c", NEEDED]).output().is_ok_and(|output| output.status.success());
    if !has_torch {
        assert!(std::env::var_os(REQUIRED).is_none(), "{python} has no torch, transformers and safetensors");
        eprintln!("SKIPPED: {python} has no torch, transformers and safetensors; name one that has by {PYTHON}");
        return None;
    }
    let mut command = Command::new(python);
    command.env("HF_HUB_OFFLINE", "1");
    Some(command)
}
