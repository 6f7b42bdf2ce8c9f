//! The window around the workspace: its systems, pages, dialogs and keys, and what is done when something is asked of it.

pub mod course;
pub mod dialogs;
pub mod file_dialog;
pub mod jobs;
pub mod keyboard;
pub mod opening;
pub mod perform;
pub mod presentation;
pub mod still_map;
pub mod ui;
pub mod window;
