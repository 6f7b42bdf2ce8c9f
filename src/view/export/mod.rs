//! Snapshots as files for other programs.
//!
//! A notebook is first a [`page`]: what each cell says, without a format. [`ipynb`], [`html`] and [`md`] write it, and [`web`]
//! is the page of [`html`] with the model in it. [`prose`] reads its texts; [`markdown`] and [`restate`] make the
//! Markdown of [`ipynb`] and [`md`], [`table`] and [`svg`] make tables and plots. [`pictures`] holds the pictures of a
//! page: those of the stage, handed in by callers that can draw, and those in the lesson's folder. [`tsv`] is for the
//! Embedding Projector, and [`trace`] has every tensor of a forward pass. [`file`](mod@file) writes the formats that
//! the window and the command line both offer, each with the files beside it, all or nothing; [`checkpoint`] writes a
//! lesson's model as a folder of the shapes that people share. A [`work_file`] is a learner's work to hand in or to share,
//! [`shared`] is one opened as a copy, and [`grades`] are the marks of a class.
//!
//! Nothing of a lesson or an output is trusted: it is text, and never markup or a script.

pub mod checkpoint;
pub mod escape;
pub mod file;
pub mod grades;
pub mod html;
pub mod ipynb;
pub mod markdown;
pub mod md;
pub mod page;
pub mod pictures;
pub mod prose;
pub mod restate;
pub mod senses;
pub mod sentence;
pub mod shared;
pub mod svg;
pub mod table;
pub mod trace;
pub mod tsv;
pub mod web;
pub mod work_file;

pub use file::Format;
pub use pictures::{Pictures, StagePicture};
