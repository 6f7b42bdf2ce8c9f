//! Models that people have: their files read, every tensor compared with another program's, and hostile files refused.

#[path = "../common/mod.rs"]
mod common;

mod cache;
mod contents;
mod depth;
mod evidence;
mod examined;
mod exported;
mod exported_decoders;
mod exported_lesson;
mod exported_translators;
mod first_sentence;
mod forms;
mod further;
mod goes_on;
mod heads;
mod hostile;
mod interventions;
mod layers;
mod lessons;
mod mistakes;
mod opened;
mod origins;
mod pieces;
mod refused;
mod senses;
mod tour;
mod translators;
mod two_models;
mod values;
mod windows;
mod words_or_ids;
mod wrapped;
mod written;
