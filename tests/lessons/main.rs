//! Lesson files: every mistake is said at its place, and what a lesson claims holds.

#[path = "../common/mod.rs"]
mod common;

mod arrival;
mod asked;
mod bad_lessons;
mod budgets;
mod drawn;
mod exercises;
mod forms;
mod numbers;
mod other_runs;
mod questions;
mod recorded;
mod reference_lesson;
mod shares;
mod vector_files;
