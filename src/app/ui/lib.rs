//! What every part of the window shares.
//!
//! | folder or file | job |
//! |---|---|
//! | [`theme`] | every colour, size, duration and face |
//! | [`actions`] | every key and menu entry, one row each |
//! | [`ui_state`] | what the viewer has selected, lit, pointed at and preferred |
//! | [`widgets`] | controls that several panels share |
//! | [`text`] | typeset Markdown with formulas, the code editor, a lesson's pictures |
//! | [`link`] | the models of the latest snapshot, the road to the kernel, the phases of a frame |
//!
//! Each names those above it alone; actions, widgets and text name egui, never Bevy.

#![cfg(feature = "app")]

pub mod actions;
pub mod link;
pub mod text;
pub mod theme;
pub mod ui_state;
pub mod widgets;
