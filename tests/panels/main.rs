//! The panels, found and used by their labels, without a window or a graphics card.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod editor;
mod glossary;
mod notebook;
mod outputs;
mod prose;
mod sentence;
mod stage_view;
mod training;
mod what_if;
mod workspace;
