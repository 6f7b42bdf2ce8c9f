//! Contents of the panels and the stage, as values and text, without a window.

#[path = "../common/mod.rs"]
mod common;

mod all_heads;
mod answers;
mod contents;
mod effects;
mod formulas;
mod live_text;
mod provenance;
mod recordings;
mod route;
mod score;
mod sentence_arcs;
mod snapshots;
mod vector_files;
mod walk;
mod what_if;
