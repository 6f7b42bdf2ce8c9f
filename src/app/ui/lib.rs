//! The parts that the whole window shares.
//!
//! | folder or file | job |
//! |---|---|
//! | [`theme`] | every colour, size, duration and face |
//! | [`actions`] | every key and menu entry, one row each |
//! | [`ui_state`] | the viewer's choices: selection, highlights, hover, preferences |
//! | [`widgets`] | controls that several panels share |
//! | [`text`] | typeset Markdown with formulas, the code editor, a lesson's pictures |
//! | [`link`] | the models of the latest snapshot, the connection to the kernel, the phases of a frame |
//!
//! Each depends only on those above it; actions, widgets and text use egui but not Bevy.

#![cfg(feature = "app")]

pub mod actions;
#[cfg(test)]
#[path = "../../../tests/common/close.rs"]
mod close;
pub mod link;
pub mod text;
pub mod theme;
pub mod ui_state;
pub mod widgets;
