//! The panels, found and used by their labels, without a window or a graphics card.

#[path = "../common/mod.rs"]
mod common;
mod dressed;

mod all_heads;
mod answers;
mod attention;
mod cells;
mod editor;
mod filmstrip;
mod gauge;
mod glossary;
mod hand_in;
mod intervene;
mod live;
mod meaning;
mod notebook;
mod openings;
mod outputs;
mod page;
mod pointer;
mod prose;
mod recordings;
mod ribbons;
mod senses;
mod sentence;
mod sheets;
mod stage_names;
mod stage_view;
mod step;
mod strip;
mod training;
mod two_models;
mod typing;
mod variables;
mod weights;
mod window;
