//! The window around the workspace: its systems, pages, dialogs and keys, and the functions that perform its actions.

pub mod course;
pub mod dialogs;
pub mod jobs;
pub mod keyboard;
pub mod opening;
pub mod perform;
pub mod presentation;
pub mod ui;
pub mod window;
