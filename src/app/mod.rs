//! The window and the rendered picture: the only folder that names Bevy or egui.
//!
//! | folder | job |
//! |---|---|
//! | [`actions`] | every key and menu entry, one row each |
//! | [`theme`] | every colour, size, duration and face |
//! | [`text`] | typeset Markdown with formulas, the code editor, a lesson's pictures |
//! | [`widgets`] | controls that several panels share |
//! | [`panels`] | one file or folder a panel; they name egui, never Bevy |
//! | [`stage`], [`scene_camera`] | the 3D view, and how panels look through its camera |
//! | [`workspace`] | the panels in their dock, with the bar on top and the stage in the middle |
//! | [`systems`], [`link`] | the order of a frame, and the road to the kernel |
//! | [`opening_cell`] | the picture that a lesson opens with |
//! | [`render`] | pictures without a window, and the graphics device |
//! | [`work`] | the lesson file, the learner's work on it, exports |
//! | [`shell`] | the window: pages, dialogs and keys, and what is done when something is asked of it |
//!
//! Each names those above it alone. Panels and stage never import each other; [`workspace::stage_side`] hands the stage to the dock.

pub mod actions;
pub mod fault;
pub mod link;
pub mod opening_cell;
pub mod panels;
pub mod render;
pub mod scene;
pub mod scene_camera;
pub mod shell;
pub mod stage;
pub mod systems;
pub mod text;
pub mod theme;
pub mod view;
pub mod widgets;
pub mod work;
pub mod workspace;

pub use fault::AppFault;
pub use render::picture::{PictureOptions, StageView, capture, draw, figure_app, picture_app, render};
pub use shell::window::{WindowOptions, run};
