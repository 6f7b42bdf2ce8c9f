//! The window around the workspace: its systems, pages, dialogs and keys, and the functions that perform its actions.

pub mod beside;
pub mod course;
pub mod dialogs;
mod hero;
pub mod jobs;
pub mod keyboard;
pub mod leaving;
pub mod links;
pub mod opening;
pub mod perform;
pub mod presentation;
pub mod prompt;
pub mod state;
pub mod still_map;
pub mod talk;
pub mod ui;
pub mod window;
