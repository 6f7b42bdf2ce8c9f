//! The reasons why the window or the picture cannot be shown.

use std::fmt;

/// The reason why the window or the picture cannot be shown, with what the user can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppFault {
    /// A display server that does not answer.
    NoDisplay(String),
    /// No graphics adapter, not even a software one.
    NoGpu(String),
    /// A window that can no longer draw, because of a fault of the graphics device.
    NoPicture {
        why: String,
        /// A sentence about the work that was saved; `None` if there was none.
        work: Option<String>,
    },
    /// A file that could not be encoded or written.
    Output(String),
    /// A lesson without anything to draw, such as one without static vectors, or without the requested cell.
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
