//! The snapshot that the window shows, with the models that panels and stage ask of it.

use bevy::prelude::*;

use crate::view_model::models::Models;

/// The latest snapshot and its models; see [`Models::get`].
#[derive(Resource, Default, Deref, DerefMut)]
pub struct Scene(pub Models);
