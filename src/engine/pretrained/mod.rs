//! Model folders from Hugging Face: safetensors, configs and tensor names, translated to an architecture and parameters
//! of the engine in [`numerics`](crate::numerics).
//!
//! Everything here reads files from elsewhere. What does not fit is a [`Refusal`] that says where, what was found, what
//! was expected and what to do, before much memory is allocated. No network connection is opened.

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
