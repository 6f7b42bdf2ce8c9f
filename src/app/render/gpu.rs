//! The graphics adapter, asked for once, before any window, so that its absence is an error and not a panic.

use attune_engine::panics::quietly;
use bevy::render::renderer::initialize_renderer;
use bevy::render::settings::{Backends, RenderCreation, RenderResources, WgpuSettings};
use bevy::tasks::block_on;

use crate::app::fault::AppFault;

/// The renderer, ready to be handed to Bevy's plugin.
///
/// Vulkan, Metal and DirectX first: looking for OpenGL takes time and writes to the terminal.
pub fn open() -> Result<RenderCreation, AppFault> {
    let chosen = Backends::from_env();
    let tries = chosen.map_or([Backends::PRIMARY, Backends::all()], |backends| [backends, backends]);
    open_with(tries[0]).or_else(|_| open_with(tries[1])).map(RenderCreation::Manual).map_err(no_gpu)
}

fn no_gpu(why: String) -> AppFault {
    AppFault::NoGpu(if why.starts_with("Unable to find a GPU") { "no driver offers one".to_owned() } else { why })
}

fn open_with(backends: Backends) -> Result<RenderResources, String> {
    let settings = WgpuSettings { backends: Some(backends), ..WgpuSettings::default() };
    quietly(|| block_on(initialize_renderer(backends, None, &settings)))
}
