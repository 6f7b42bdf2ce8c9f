//! Controls that several panels share.

pub mod card;
pub mod controls;
pub mod copy;
pub mod curve;
pub mod heat;
pub mod mask;
pub mod note;
pub mod plot;
pub mod reading;
pub mod sentence_field;
pub mod sketch;
pub mod slant;
pub mod table;
pub mod tool_window;
pub mod traced;
pub mod worked;
