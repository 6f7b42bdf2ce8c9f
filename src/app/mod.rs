//! The window and the rendered picture: the only folder that names Bevy or egui.
//!
//! | folder or file | job |
//! |---|---|
//! | [`ui`](attune_ui) | a crate: what all of these share, from the theme to typeset text |
//! | [`panels`] | a crate: one file or folder a panel; they name egui, never Bevy |
//! | [`stage`] | a crate: the 3D view |
//! | [`workspace`] | the panels in their dock, with the bar on top and the stage in the middle |
//! | [`graphics`] | the graphics device, and recovery from its loss |
//! | [`systems`] | the systems that a window and a picture share |
//! | [`picture`] | pictures without a window |
//! | [`moving`] | animations without a window |
//! | [`work`] | the lesson file, the learner's work on it, exports |
//! | [`shell`] | the window: pages, dialogs and keys, and the functions that perform its actions |
//!
//! Each depends only on those above it, and panels and stage do not depend on each other; the compiler enforces this
//! for the crates. [`workspace::stage_side`] passes the stage to the dock.

pub mod graphics;
pub mod moving;
pub mod picture;
pub mod shell;
pub mod systems;
pub mod work;
pub mod workspace;

pub use attune_panels as panels;
pub use attune_stage as stage;
pub use attune_ui::{actions, link, text, theme, ui_state, widgets};

use std::fmt;

pub use self::picture::{PictureOptions, StageView, capture, draw, figure_app, picture_app, render};
pub use self::shell::window::{Beside, WindowOptions, run};

/// The reason why the window or the picture cannot be shown, with what the user can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppFault {
    /// No display server answers.
    NoDisplay(String),
    /// No graphics adapter, not even a software one.
    NoGpu(String),
    /// The window can no longer draw.
    NoPicture {
        why: String,
        /// The state of the work, if there is any.
        work: Option<String>,
    },
    /// A file could not be written.
    Output(String),
    /// The lesson has no static vectors or no such cell, so there is nothing to draw.
    NothingToDraw(String),
}

impl fmt::Display for AppFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AppFault::NoDisplay(why) => write!(
                f,
                "no display: {why}\nhelp: start attune in a desktop session (DISPLAY or WAYLAND_DISPLAY must be \
                 set), or on a virtual display:\n\x20     xvfb-run -a attune LESSON        (Debian: apt-get install \
                 xvfb)\nhelp: `attune render LESSON -o picture.png` and `attune check LESSON` need no display"
            ),
            AppFault::NoGpu(why) => write!(
                f,
                "no graphics adapter: {why}\n\
                 help: install a Vulkan driver; without a graphics card, a software driver is enough\n\
                 \x20     (Debian: apt-get install mesa-vulkan-drivers)\n\
                 help: `vulkaninfo --summary` lists drivers; VK_DRIVER_FILES and VK_ICD_FILENAMES must not hide them\n\
                 help: `attune check LESSON` needs no graphics"
            ),
            AppFault::NoPicture { why, work } => {
                writeln!(f, "the window closed because it can no longer draw: {why}")?;
                work.as_ref().map_or(Ok(()), |work| writeln!(f, "{work}"))?;
                write!(f, "help: start attune again; if this happens again, update the driver of the graphics card")
            }
            AppFault::Output(why) => write!(f, "the picture cannot be written: {why}"),
            AppFault::NothingToDraw(why) => write!(f, "nothing to draw: {why}"),
        }
    }
}

impl std::error::Error for AppFault {}
