//! Why the window or the picture could not come about, said so that a person can do something about it.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppFault {
    /// No display server answers.
    NoDisplay(String),
    /// No graphics adapter, not even a software one.
    NoGpu(String),
    /// The window can draw nothing more.
    NoPicture {
        why: String,
        /// State of the work, where there is any.
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
                "no display: {why}\n\
                 help: start attune in a desktop session (DISPLAY or WAYLAND_DISPLAY must be set), or on a display of its own:\n\
                 \x20     xvfb-run -a attune LESSON        (Debian: apt-get install xvfb)\n\
                 help: `attune render LESSON -o picture.png` and `attune check LESSON` need no display"
            ),
            AppFault::NoGpu(why) => write!(
                f,
                "no graphics adapter: {why}\n\
                 help: install a Vulkan driver; without a graphics card the software one does\n\
                 \x20     (Debian: apt-get install mesa-vulkan-drivers)\n\
                 help: `vulkaninfo --summary` lists what is there; VK_DRIVER_FILES and VK_ICD_FILENAMES must not hide it\n\
                 help: `attune check LESSON` needs no graphics"
            ),
            AppFault::NoPicture { why, work } => {
                writeln!(f, "the window closed, as it can draw nothing more: {why}")?;
                work.as_ref().map_or(Ok(()), |work| writeln!(f, "{work}"))?;
                write!(f, "help: start attune again; if this comes back, update the driver of the graphics card")
            }
            AppFault::Output(why) => write!(f, "the picture cannot be written: {why}"),
            AppFault::NothingToDraw(why) => write!(f, "nothing to draw: {why}"),
        }
    }
}

impl std::error::Error for AppFault {}
