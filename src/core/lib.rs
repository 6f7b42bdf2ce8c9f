//! A lesson and its life: text becomes values, commands change what runs, snapshots show it, and work is kept.
//!
//! | module | job | start at |
//! |---|---|---|
//! | [`lesson`] | RON text -> checked values, every issue with its place | [`lesson::schema`] |
//! | [`kernel`] | the running lesson: commands in, snapshots out | [`kernel::command`] |
//! | [`store`] | where the learner's work is kept: values in files | [`store`] |
//! | [`whole_file`], [`fnv`] | files written as a whole or not at all; hashes | |
//! | [`beginning`] | lists of files that are read up to a bound | |
//! | [`pattern`] | regular expressions that a learner writes | |

pub mod beginning;
pub mod fnv;
pub mod kernel;
pub mod lesson;
pub mod pattern;
pub mod store;
pub mod whole_file;
