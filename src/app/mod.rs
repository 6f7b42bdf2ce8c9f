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
//! | [`shell`] | the window around them: dock, bars, dialogs, keys, the road to the kernel |
//! | [`work`] | the lesson file, the learner's work on it, exports |
//! | [`render`] | pictures without a window, and the graphics device |
//!
//! Panels and stage never import each other; [`shell::workspace`] hands the stage to the dock.

pub mod actions;
pub mod fault;
pub mod link;
pub mod panels;
pub mod render;
pub mod saved_view;
pub mod scene;
pub mod scene_camera;
pub mod shell;
pub mod stage;
pub mod text;
pub mod theme;
pub mod view;
pub mod widgets;
pub mod work;

pub use fault::AppFault;
pub use render::picture::{PictureOptions, StageView, capture, draw, figure_app, picture_app, render};
pub use shell::window::{WindowOptions, run};

use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass};

/// Phases of a frame, in this order. The egui pass lies between the two schedules.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppSystems {
    /// `Update`: lesson file and snapshot become models.
    Receive,
    /// `Update`: time passes for glides and the camera.
    Advance,
    /// `Last`: what the panels asked for goes to the kernel.
    Send,
    /// `Last`: the stage's next frame.
    BuildStage,
    /// `Last`: how soon the next frame comes.
    Pace,
}

/// Everything that window and picture share.
pub fn plugin(app: &mut App) {
    app.add_plugins((EguiPlugin::default(), render::blending::plugin, stage::plugin, render::recovery::plugin))
        .init_resource::<link::Link>()
        .init_resource::<link::Outbox>()
        .init_resource::<scene::Scene>()
        .init_resource::<stage::scene::StageScene>()
        .init_resource::<work::source::LessonIssues>()
        .init_resource::<view::ViewState>()
        .init_resource::<shell::course::CoursePage>()
        .init_resource::<shell::perform::WindowState>()
        .init_resource::<shell::workspace::WorkspaceState>()
        .configure_sets(Update, (AppSystems::Receive, AppSystems::Advance).chain())
        // What egui draws with for the first time, new letters above all, is sent in the same frame.
        .configure_sets(PostUpdate, EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems))
        .configure_sets(Last, (AppSystems::Send, AppSystems::BuildStage, AppSystems::Pace).chain())
        .add_systems(
            Update,
            (
                (
                    work::source::reload,
                    link::receive,
                    link::follow_trail,
                    stage::scene::follow,
                    work::session::show,
                    shell::course::receive,
                    shell::perform::follow_export,
                    shell::perform::follow_map,
                )
                    .chain()
                    .in_set(AppSystems::Receive),
                (stage::scene::glide, stage::frame::advance).chain().in_set(AppSystems::Advance),
                (shell::workspace::apply_style, shell::keyboard::take_focus),
            ),
        )
        .add_systems(
            PreUpdate,
            (shell::keyboard::give_modifiers, shell::pace::drop_idle_events)
                .after(EguiPreUpdateSet::ProcessInput)
                .before(EguiPreUpdateSet::BeginPass),
        )
        .add_systems(EguiPrimaryContextPass, shell::workspace::workspace)
        .add_systems(
            Last,
            (
                (link::set_pace, link::send).chain().in_set(AppSystems::Send),
                (work::session::keep, work::profile::keep, shell::perform::perform)
                    .chain()
                    .after(AppSystems::Send)
                    .before(AppSystems::BuildStage),
                (stage::frame::resize, stage::frame::build).chain().in_set(AppSystems::BuildStage),
                shell::pace::pace.in_set(AppSystems::Pace),
            ),
        );
}
