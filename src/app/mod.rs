//! The window and the rendered picture: the only folder that names Bevy or egui.
//!
//! | folder or file | job |
//! |---|---|
//! | [`ui`](attune_ui) | a crate: what all of these share, from the theme to typeset text |
//! | [`panels`] | a crate: one file or folder per panel; they name egui, never Bevy |
//! | [`stage`] | a crate: the 3D view |
//! | [`workspace`] | the panels in their dock, with the bar on top and the stage in the middle |
//! | [`fault`] | why there is no window or no picture |
//! | [`graphics`] | the graphics device, and what happens when it is lost |
//! | [`systems`] | the systems that a window and a picture share |
//! | [`mod@encode`] | pictures and animations with a colour table, as files |
//! | [`picture`] | pictures without a window |
//! | [`moving`] | animations without a window |
//! | [`work`] | the lesson file, the learner's work on it, exports |
//! | [`shell`] | the window: pages, dialogs and keys, and the functions that perform its actions |
//!
//! Each depends only on those above it, and panels and stage do not depend on each other; the compiler enforces this
//! for the crates. [`workspace::stage_side`] passes the stage to the dock.

pub mod encode;
pub mod fault;
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

pub use self::fault::AppFault;
pub use self::picture::{PictureOptions, Renderer, StageView, capture, draw, figure_app, picture_app, render};
pub use self::shell::window::{Beside, WindowOptions, run};
