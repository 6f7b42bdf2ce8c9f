//! The 3D stage: points that move from static to contextual.
//!
//! The egui tab ([`canvas`]) controls the camera and writes the labels, with the [`bar`] over it and the keys that do
//! the same; [`frame`] turns model, time and camera into a [`pass::StageFrame`]; the pass draws it into an image that
//! the tab shows.

#![cfg(feature = "app")]

pub mod bar;
pub mod camera;
pub mod canvas;
pub mod chains;
#[cfg(test)]
#[path = "../../../tests/common/close.rs"]
mod close;
pub mod content;
pub mod filmstrip;
pub mod frame;
pub mod gauge;
pub mod geometry;
pub mod labels;
pub mod names;
pub mod pass;
pub mod pick;
pub mod projection;
pub mod ribbons;
pub mod second;
pub mod sentence;
pub mod state;
pub mod timeline;
pub mod view;

use attune_ui::link::AppSystems;
use bevy::prelude::*;

pub fn plugin(app: &mut App) {
    app.add_plugins(pass::plugin)
        .add_systems(Last, (frame::resize, frame::build).chain().in_set(AppSystems::BuildStage));
}

/// Adds the systems that need no graphics card.
pub fn add_systems(app: &mut App) {
    app.init_resource::<frame::StageTab>().init_resource::<state::StageState>().add_systems(
        Update,
        (state::follow.in_set(AppSystems::Follow), (state::glide, frame::advance).chain().in_set(AppSystems::Advance)),
    );
}
