//! Model folders from Hugging Face: safetensors, configs and tensor names, translated to an architecture and parameters
//! of the engine in [`numerics`](crate::numerics).
//!
//! The files come from elsewhere. If something does not fit, a [`Refusal`] says where, what was found, what was
//! expected and what to do, before much memory is allocated. No network connection is opened.

pub mod cache;
pub mod config;
mod contents;
pub mod examine;
mod families;
mod fields;
pub mod folder;
mod limits;
pub mod load;
mod names;
mod origins;
mod quantised;
pub mod refusal;
pub mod safetensors;
pub(crate) mod texts;
pub mod tokenizer;
mod wrapper;
pub mod writing;

pub use config::{Config, Family};
pub use load::{Pretrained, load};
pub use refusal::Refusal;
