//! The panels, found and used by their labels, without a window or a graphics card.

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod arithmetic;
mod attention;
mod cells;
mod editor;
mod fold;
mod glossary;
mod heads;
mod live;
mod neighbours;
mod notebook;
mod outputs;
mod pointer;
mod prose;
mod sentence;
mod stage_view;
mod training;
mod variables;
mod weights;
mod what_if;
mod window;
