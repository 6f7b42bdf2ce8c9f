//! The graphics device may be lost: a driver is updated or ends, a card is taken out. The work is written at
//! once; then drawing begins anew on what device there is, and where that does not help the window closes with
//! words.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::render::error_handler::{ErrorType, RenderError, RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::SpecializedRenderPipelines;
use bevy::render::{GpuResourceAppExt, RenderApp};
use bevy_egui::render::EguiPipeline;
use bevy_egui::render::systems::{EguiRenderData, EguiTransforms};

use super::fault::AppFault;
use super::{gpu, opening};

/// A device that is lost for the third time ...
const LOSSES_MAX: usize = 3;
/// ... within so long is not asked for again.
const WITHIN: Duration = Duration::from_secs(60);
/// How long frames follow one another after a loss, until all is on the new device.
const DRAWS_FOR: Duration = Duration::from_secs(1);

/// The losses of late, and how they ended.
#[derive(Resource, Clone, Default)]
pub struct Recovery {
    losses: Vec<Instant>,
    /// Outlives the app, which the event loop takes.
    fault: Arc<OnceLock<AppFault>>,
}

impl Recovery {
    /// Why the window closed, if it closed by itself.
    pub fn fault(&self) -> Option<AppFault> {
        self.fault.get().cloned()
    }

    /// The new device has not yet drawn all.
    pub fn is_drawing_anew(&self) -> bool {
        self.losses.last().is_some_and(|loss| loss.elapsed() < DRAWS_FOR)
    }

    /// One more; true if another device may be asked for.
    fn lose(&mut self, now: Instant) -> bool {
        self.losses.retain(|loss| now.duration_since(*loss) < WITHIN);
        self.losses.push(now);
        self.losses.len() < LOSSES_MAX
    }
}

pub fn plugin(app: &mut App) {
    app.init_resource::<Recovery>().insert_resource(RenderErrorHandler(handle));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    // bevy_egui makes these once, and would go on with what was of the lost device.
    render_app
        .init_gpu_resource::<EguiPipelines>()
        .init_gpu_resource::<EguiTransforms>()
        .init_gpu_resource::<EguiRenderData>();
}

type EguiPipelines = SpecializedRenderPipelines<EguiPipeline>;

fn handle(error: &RenderError, world: &mut World, _: &mut World) -> RenderErrorPolicy {
    let unsaved = opening::unsaved(world);
    let mut recovery = world.resource_mut::<Recovery>();
    let may_try = recovery.lose(Instant::now()) && error.ty == ErrorType::DeviceLost;
    let renderer = if may_try { gpu::open().map_err(|fault| fault.to_string()) } else { Err(words(error)) };
    match renderer {
        Ok(renderer) => RenderErrorPolicy::Recover(renderer),
        Err(why) => {
            // The first one is told: what follows it is of its making.
            let _ = recovery.fault.set(AppFault::NoPicture { why, unsaved });
            world.write_message(AppExit::error());
            RenderErrorPolicy::StopRendering
        }
    }
}

fn words(error: &RenderError) -> String {
    let kind = match error.ty {
        ErrorType::DeviceLost => "the graphics device was lost, again and again",
        ErrorType::OutOfMemory => "the graphics device has no memory left",
        ErrorType::Internal | ErrorType::Validation => "the graphics device refused to draw",
    };
    match error.description.lines().next().filter(|line| !line.is_empty()) {
        Some(line) => format!("{kind} ({line})"),
        None => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_losses_that_follow_each_other_soon_are_counted() {
        let begin = Instant::now();
        let mut recovery = Recovery::default();
        assert!(recovery.lose(begin));
        assert!(recovery.lose(begin + WITHIN / 2));
        assert!(!recovery.lose(begin + WITHIN * 3 / 4), "the third within a minute");
        assert!(recovery.lose(begin + WITHIN * 3), "long after");
    }
}
