//! The program as a shell sees it: what it prints, its exit codes, and that nothing printed steers a terminal.

#[path = "../common/mod.rs"]
mod common;
mod program;

mod absent;
#[cfg(feature = "app")]
mod answers;
mod arguments;
mod claims;
mod commands;
mod course;
mod evidence;
mod export;
mod faults;
mod glossary;
mod grade;
#[cfg(all(target_os = "linux", feature = "app"))]
mod graphics;
mod models;
#[cfg(unix)]
mod obstacles;
#[cfg(feature = "app")]
mod readme;
mod recorder;
mod recordings;
mod shared;
mod translators;
mod vectors;
mod watch;
mod what_if;
