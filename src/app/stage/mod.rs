//! The 3D stage: points that move from static to contextual.
//!
//! The egui tab ([`view`]) steers the camera and writes the labels, with the [`bar`] above it and the [`keys`] that
//! do the same; [`frame`] turns model, time and camera into a [`pass::StageFrame`]; the pass draws it into an image
//! that the tab shows.

pub mod arrows;
pub mod bar;
pub mod basis_glide;
pub mod camera;
pub mod frame;
pub mod gauge;
pub mod glide;
pub mod keys;
pub mod labels;
pub mod names;
pub mod pass;
pub mod picking;
pub mod point_index;
pub mod points;
pub mod projected;
pub mod projection;
pub mod scene;
pub mod second;
pub mod sentence;
pub mod source;
pub mod timeline;
pub mod view;
pub mod walk_lines;
pub mod writing;

use bevy::prelude::*;

use super::systems::AppSystems;

pub fn plugin(app: &mut App) {
    app.add_plugins(pass::plugin)
        .add_systems(Last, (frame::resize, frame::build).chain().in_set(AppSystems::BuildStage));
}

/// Adds the systems that need no graphics card.
pub fn add_systems(app: &mut App) {
    app.init_resource::<frame::StageTab>().init_resource::<scene::StageScene>().add_systems(
        Update,
        (scene::follow.in_set(AppSystems::Follow), (scene::glide, frame::advance).chain().in_set(AppSystems::Advance)),
    );
}
