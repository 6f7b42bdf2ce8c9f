//! Snapshots as files for other programs.
//!
//! A notebook is first a [`page`]: what each cell says, without a format. [`ipynb`], [`html`] and
//! [`md`] write it; both of the others' Markdown is made by [`markdown`], and tables and plots by
//! [`table`] and [`svg`]. [`pictures`] are what a page shows beside text: those of the stage, handed in
//! by who can draw, and those that lie in the lesson's folder. [`tsv`] is for the Embedding Projector,
//! and [`trace`] every tensor of a forward pass. [`file`](mod@file) writes what the window and the command line
//! both offer, whole and with what stands beside it.
//!
//! Nothing of a lesson or an output is trusted: it is text, and never markup or a script.

pub mod file;
pub mod html;
pub mod ipynb;
pub mod markdown;
pub mod md;
pub mod page;
pub mod pictures;
pub mod sentence;
pub mod svg;
pub mod table;
pub mod trace;
pub mod tsv;

pub use file::Format;
pub use pictures::{Pictures, StagePicture};
