//! Model folders as people have them: safetensors, configs and names, and out of them an architecture and parameters of
//! the one engine in [`numerics`](crate::numerics).
//!
//! Everything here reads files that somebody else wrote. What does not fit is a [`Refusal`] that says where, what was
//! found, what was expected and what to do, before anything large is allocated; nothing opens a network connection.

pub mod cache;
pub mod config;
mod contents;
pub mod examine;
mod families;
mod fields;
pub mod folder;
pub mod load;
pub mod names;
mod quantised;
pub mod refusal;
pub mod safetensors;
pub mod tokenizer;

pub use config::{Config, Family};
pub use load::{Pretrained, load};
pub use refusal::Refusal;
