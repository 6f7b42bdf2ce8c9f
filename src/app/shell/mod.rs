//! The window around the panels: its pages, bars, dialogs, keys and dock, and the road between it and the kernel's
//! thread.

pub mod arrangement;
pub mod checkpoints;
pub mod closing;
pub mod course;
pub mod dock;
pub mod exported;
pub mod faults;
pub mod files;
pub mod follow;
pub mod glossary;
pub mod growth;
pub mod hand_in;
pub mod home;
pub mod key_sheet;
pub mod keyboard;
pub mod lab;
pub mod layout;
pub mod menu;
pub mod note;
pub mod opening;
pub mod pace;
pub mod perform;
pub mod picture_choice;
pub mod places;
pub mod presentation;
pub mod presenting;
pub mod provenance;
pub mod saving;
pub mod shortcuts;
pub mod state;
pub mod still_map;
pub mod tabs;
pub mod top_bar;
pub mod window;
pub mod workspace;
