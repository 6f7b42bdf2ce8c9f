//! The snapshot that the window shows, with the models that panels and stage ask of it.

use attune_view::view_model::Models;
use bevy::prelude::*;

/// The latest snapshot and its models; see [`Models::get`].
#[derive(Resource, Default, Deref, DerefMut)]
pub struct Scene(pub Models);
