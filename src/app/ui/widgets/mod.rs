//! Controls that several panels share.

pub mod arrow;
pub mod controls;
pub mod glow;
pub mod heat;
pub mod patches;
pub mod plot;
pub mod popup;
pub mod sentence_field;
pub mod table;
pub mod traced;
