//! The graphics device, and a correction to bevy_egui's shader.
//!
//! The device is requested once, before any window, so that its absence is an error and not a panic. It may be lost,
//! when a driver is updated or crashes, or a card is removed. The work is then saved at once, and drawing restarts on
//! an available device; if that fails, the window closes with a message.
//!
//! bevy_egui's shader draws the anti-aliased edges of light shapes on a light background too dark. egui's colours are
//! premultiplied by their opacity, in gamma space. The shader converts them to linear as they are, so that a
//! half-covered edge becomes darker than its shape: white text on white gets a grey outline, and so does every rounded
//! corner of the light theme. The corrected shader divides the colour by its opacity first and multiplies it again
//! afterwards. It does so at the corners of each triangle, because powers at each pixel would take more than half of
//! the time of a frame on a software renderer; between two corners of different colours, the colours are thus mixed in
//! linear.

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

/// The number of losses within `WITHIN` after which no device is requested any more.
const LOSSES_MAX: usize = 3;
/// The period in which losses are counted.
const WITHIN: Duration = Duration::from_secs(60);
/// The longest wait for a driver to restart.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time for which frames are drawn without pause on a new device, so that all resources are created on it.
const DRAWS_FOR: Duration = Duration::from_secs(1);

/// The recent losses of the device, and the state of the recovery.
#[derive(Resource, Clone, Default)]
pub struct Recovery {
    losses: Vec<Instant>,
    phase: GraphicsPhase,
    /// The reason why the window closed, once it is known. It is shared, because the event loop consumes the app before
    /// the reason is read.
    fault: Arc<OnceLock<AppFault>>,
}

/// The function that is called after a drawing error: it saves the work, and returns a sentence about the result, or
/// `None` if there is no work.
#[derive(Resource)]
pub struct Rescue(pub fn(&mut World) -> Option<String>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GraphicsPhase {
    #[default]
    Whole,
    /// The wait for a new device, since the time at which the last one was lost.
    Waiting(Instant),
    /// The first frames on a new device, which was found at this time.
    DrawingAnew(Instant),
}

impl Recovery {
    /// Returns the reason why the window closed, if it closed by itself.
    pub fn fault(&self) -> Option<AppFault> {
        self.fault.get().cloned()
    }

    /// Returns whether a new device is still awaited, or its resources are still being created.
    pub fn is_under_way(&self) -> bool {
        match self.phase {
            GraphicsPhase::Whole => false,
            GraphicsPhase::Waiting(_) => true,
            GraphicsPhase::DrawingAnew(since) => since.elapsed() < DRAWS_FOR,
        }
    }

    /// Returns whether a new device may be requested after a drawing error, and counts the error if it is a new loss.
    fn may_ask(&mut self, is_loss: bool, now: Instant) -> bool {
        if self.fault.get().is_some() {
            return false;
        }
        match self.phase {
            // This is the loss that is known already, because bevy reports a loss in every frame.
            GraphicsPhase::Waiting(_) => true,
            // These errors come from work that was still in progress on the lost device.
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

/// Corrects bevy_egui's shader, and registers the error handler and the resources that are recreated when the device is
/// lost. It is added after bevy_egui's plugin, which has the shader.
pub fn plugin(app: &mut App) {
    correct_shader(app);
    app.init_resource::<Recovery>().insert_resource(Rescue(|_| None)).insert_resource(RenderErrorHandler(handle));
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    // bevy_egui creates these only once, and would continue with those of the lost device.
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
    // Only the first failure is reported, because later ones result from it.
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

/// Opens the renderer, for Bevy's plugin.
///
/// Vulkan, Metal and DirectX are tried first, because looking for OpenGL takes time and writes to the terminal.
///
/// # Errors
/// If there is no graphics adapter.
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

/// The lines of bevy_egui's shader that are replaced, and their replacements.
const CORRECTIONS: [(&str, &str); 4] = [
    (
        "@vertex",
        "
        fn linear_from_gamma_premultiplied(color: vec4<f32>) -> vec4<f32> {
            if color.a <= 0.0 {
                return vec4<f32>(linear_from_gamma_rgb(color.rgb), color.a);
            }
            let straight = min(color.rgb / color.a, vec3<f32>(1.0));
            return vec4<f32>(linear_from_gamma_rgb(straight) * color.a, color.a);
        }

        @vertex",
    ),
    ("0.0, 1.0), in.color,", "0.0, 1.0), linear_from_gamma_premultiplied(in.color),"),
    (
        // The divisor is the opacity as if it were a colour, converted to linear and divided by itself. A polynomial is
        // near enough: letters differ by at most 2 of 255, and what is opaque does not differ.
        "let texture_color_gamma = gamma_from_linear_rgba(texture_color_linear);",
        "
        let a = texture_color_linear.a;
        let divisor = max(a * (a * 0.305306011 + 0.682171111) + 0.012522878, 1.0 / 12.92);
        let texture_color = vec4<f32>(min(texture_color_linear.rgb / divisor, vec3<f32>(a)), a);
        return texture_color * in.color;
    }",
    ),
    (
        "    let color_gamma = texture_color_gamma * in.color;

    return vec4<f32>(linear_from_gamma_rgb(color_gamma.rgb), color_gamma.a);
}",
        "",
    ),
];

/// Corrects bevy_egui's shader; called after its plugin is added. A shader of another version, in which one of the
/// lines differs, is left as it is.
fn correct_shader(app: &mut App) {
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    let Some(mut shader) = shaders.get_mut(&EGUI_SHADER_HANDLE) else { return };
    if let Source::Wgsl(text) = &shader.source
        && CORRECTIONS.iter().all(|(line, _)| text.contains(line))
    {
        let corrected = CORRECTIONS.iter().fold(text.to_string(), |text, (line, by)| text.replacen(line, by, 1));
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
