//! The top folder of the repository, wherever the crate lies that a bench belongs to.

/// Makes paths those of the top folder: Cargo runs a bench in the folder of its crate.
pub fn begin() {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).expect("the top folder");
}
