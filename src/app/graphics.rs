//! The graphics device, and a correction to bevy_egui's shader.
//!
//! The device is asked for once, before any window, so that its absence is an error and not a panic. It may be lost: a driver
//! is updated or ends, a card is taken out. The work is written at once; then drawing begins anew on what device there is,
//! and where that does not help the window closes with words.
//!
//! The shader draws soft edges of light shapes on a light ground. egui's colours come multiplied by their opacity, in gamma
//! space. The shader makes them linear as they are, so an edge that is half there comes out darker than its shape: white text
//! on white gets a grey outline, and so does every rounded corner of the light theme. Here the colour is divided by its
//! opacity first and multiplied again after. Most pixels are plain: a filled panel, or the stage's picture as it is. They
//! skip the powers that go to gamma space and back, which is most of a frame where the processor draws.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use attune_engine::panics::quietly;
use bevy::prelude::*;
use bevy::render::error_handler::{ErrorType, RenderError, RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::SpecializedRenderPipelines;
use bevy::render::renderer::initialize_renderer;
use bevy::render::settings::{Backends, RenderCreation, RenderResources, WgpuSettings};
use bevy::render::{GpuResourceAppExt, RenderApp};
use bevy::shader::{Shader, Source};
use bevy::tasks::block_on;
use bevy_egui::render::systems::{EguiRenderData, EguiTransforms};
use bevy_egui::render::{EGUI_SHADER_HANDLE, EguiPipeline};

use crate::app::fault::AppFault;

/// A device that is lost for the third time ...
const LOSSES_MAX: usize = 3;
/// ... within so long is not asked for again.
const WITHIN: Duration = Duration::from_secs(60);
/// How long a driver may take to come back.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long frames follow one another on a new device, until all is on it.
const DRAWS_FOR: Duration = Duration::from_secs(1);

/// The losses of late, and how they ended.
#[derive(Resource, Clone, Default)]
pub struct Recovery {
    losses: Vec<Instant>,
    phase: GraphicsPhase,
    /// Outlives the app, which the event loop takes.
    fault: Arc<OnceLock<AppFault>>,
}

/// Called when the device is lost: writes the work, and says what became of it, if there is any.
#[derive(Resource)]
pub struct Rescue(pub fn(&mut World) -> Option<String>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GraphicsPhase {
    #[default]
    Whole,
    /// The time since which there is no device.
    Waiting(Instant),
    /// The time since which there is a new one.
    DrawingAnew(Instant),
}

impl Recovery {
    /// Why the window closed, if it closed by itself.
    pub fn fault(&self) -> Option<AppFault> {
        self.fault.get().cloned()
    }

    /// All is not yet on a new device.
    pub fn is_under_way(&self) -> bool {
        match self.phase {
            GraphicsPhase::Whole => false,
            GraphicsPhase::Waiting(_) => true,
            GraphicsPhase::DrawingAnew(since) => since.elapsed() < DRAWS_FOR,
        }
    }

    /// After an error of drawing: whether a device may be asked for.
    fn may_ask(&mut self, is_loss: bool, now: Instant) -> bool {
        if self.fault.get().is_some() {
            return false;
        }
        match self.phase {
            // The same loss: bevy tells it in each frame.
            GraphicsPhase::Waiting(_) => true,
            // What was under way on the lost device fails later than it.
            GraphicsPhase::DrawingAnew(since) if !is_loss && now.duration_since(since) < DRAWS_FOR => true,
            _ if is_loss => {
                self.losses.retain(|loss| now.duration_since(*loss) < WITHIN);
                self.losses.push(now);
                self.phase = GraphicsPhase::Waiting(now);
                self.losses.len() < LOSSES_MAX
            }
            _ => false,
        }
    }

    fn has_found(&mut self, now: Instant) {
        if matches!(self.phase, GraphicsPhase::Waiting(_)) {
            self.phase = GraphicsPhase::DrawingAnew(now);
        }
    }

    fn is_patient(&self, now: Instant) -> bool {
        matches!(self.phase, GraphicsPhase::Waiting(since) if now.duration_since(since) < PATIENCE)
    }
}

/// Adds the correction of the shader, and what begins anew when the device is lost.
pub fn plugin(app: &mut App) {
    correct_shader(app);
    app.init_resource::<Recovery>().insert_resource(Rescue(|_| None)).insert_resource(RenderErrorHandler(handle));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    // bevy_egui makes these once, and would go on with what was of the lost device.
    render_app
        .init_gpu_resource::<EguiPipelines>()
        .init_gpu_resource::<EguiTransforms>()
        .init_gpu_resource::<EguiRenderData>();
}

type EguiPipelines = SpecializedRenderPipelines<EguiPipeline>;

fn handle(error: &RenderError, world: &mut World, _: &mut World) -> RenderErrorPolicy {
    let rescue = world.resource::<Rescue>().0;
    let work = rescue(world);
    let mut recovery = world.resource_mut::<Recovery>();
    let why = if recovery.may_ask(error.ty == ErrorType::DeviceLost, Instant::now()) {
        match open() {
            Ok(renderer) => {
                recovery.has_found(Instant::now());
                return RenderErrorPolicy::Recover(renderer);
            }
            Err(_) if recovery.is_patient(Instant::now()) => return RenderErrorPolicy::StopRendering,
            Err(_) => "the graphics device was lost, and there is no other".to_owned(),
        }
    } else {
        words(error)
    };
    // The first one is told: what follows it is of its making.
    let _ = recovery.fault.set(AppFault::NoPicture { why, work });
    world.write_message(AppExit::error());
    RenderErrorPolicy::StopRendering
}

fn words(error: &RenderError) -> String {
    let kind = match error.ty {
        ErrorType::DeviceLost => "the graphics device was lost repeatedly",
        ErrorType::OutOfMemory => "the graphics device has no memory left",
        ErrorType::Internal | ErrorType::Validation => "the graphics device refused to draw",
    };
    match error.description.lines().next().filter(|line| !line.is_empty()) {
        Some(line) => format!("{kind} ({line})"),
        None => kind.to_owned(),
    }
}

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

const AS_IT_IS: &str = "return vec4<f32>(linear_from_gamma_rgb(color_gamma.rgb), color_gamma.a);";
const TO_GAMMA: &str = "let texture_color_gamma = gamma_from_linear_rgba(texture_color_linear);";
const TO_GAMMA_WHERE_NEEDED: &str = "
    if all(in.color == vec4<f32>(1.0)) && texture_color_linear.a == 1.0 {
        return texture_color_linear;
    }
    var texture_color_gamma = texture_color_linear;
    if any(texture_color_linear.rgb != vec3<f32>(1.0)) {
        texture_color_gamma = gamma_from_linear_rgba(texture_color_linear);
    }
";
const CORRECTED: &str = "
    if color_gamma.a <= 0.0 {
        return vec4<f32>(linear_from_gamma_rgb(color_gamma.rgb), color_gamma.a);
    }
    let straight = min(color_gamma.rgb / color_gamma.a, vec3<f32>(1.0));
    return vec4<f32>(linear_from_gamma_rgb(straight) * color_gamma.a, color_gamma.a);
";

/// Corrects bevy_egui's shader, and must come after its plugin. A bevy_egui that writes those lines differently keeps its shader.
fn correct_shader(app: &mut App) {
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    let Some(mut shader) = shaders.get_mut(&EGUI_SHADER_HANDLE) else { return };
    if let Source::Wgsl(text) = &shader.source {
        let corrected = text.replace(TO_GAMMA, TO_GAMMA_WHERE_NEEDED).replace(AS_IT_IS, CORRECTED);
        shader.source = Source::Wgsl(corrected.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_losses_that_follow_each_other_soon_are_counted() {
        let begin = Instant::now();
        let mut recovery = Recovery::default();
        let mut lose = |after| {
            let may_ask = recovery.may_ask(true, begin + after);
            recovery.has_found(begin + after);
            may_ask
        };
        assert!(lose(Duration::ZERO));
        assert!(lose(WITHIN / 2));
        assert!(!lose(WITHIN * 3 / 4), "the third within a minute");
        assert!(lose(WITHIN * 3), "long after");
    }

    #[test]
    fn a_device_is_waited_for_and_what_fails_with_the_lost_one_is_not_told() {
        let begin = Instant::now();
        let mut recovery = Recovery::default();
        assert!(!recovery.may_ask(false, begin), "an error of its own");
        assert!(recovery.may_ask(true, begin));
        assert!(recovery.is_patient(begin + PATIENCE / 2) && !recovery.is_patient(begin + PATIENCE));
        assert!(recovery.may_ask(true, begin + PATIENCE / 2), "the same loss, told again");
        recovery.has_found(begin + PATIENCE / 2);
        assert!(recovery.may_ask(false, begin + PATIENCE / 2 + DRAWS_FOR / 2));
        assert!(!recovery.may_ask(false, begin + PATIENCE / 2 + DRAWS_FOR * 2));
        assert_eq!(recovery.losses.len(), 1);
    }
}
