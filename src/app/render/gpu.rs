//! The graphics adapter, asked for once, before any window, so that its absence is an error and not a panic.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

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

thread_local! {
    /// Panics of this thread are told as values.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, whose panic becomes its message: for libraries that panic where they could return an error.
///
/// Panics of other threads are said as they were before.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                loud(info);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(was_quiet);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("unknown").lines().next().unwrap_or("unknown").to_owned()
    })
}
