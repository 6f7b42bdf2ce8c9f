//! A correction to bevy_egui's shader: soft edges of light shapes on a light ground.
//!
//! egui's colours come multiplied by their opacity, in gamma space. The shader makes them linear as
//! they are, so an edge that is half there comes out darker than its shape: white text on white
//! gets a grey outline, and so does every rounded corner of the light theme. Here the colour is
//! divided by its opacity first and multiplied again after.
//!
//! Most pixels are plain: a filled panel, or the stage's picture as it is. They skip the powers that
//! go to gamma space and back, which is most of a frame where the processor draws.

use bevy::prelude::*;
use bevy::shader::{Shader, Source};
use bevy_egui::render::EGUI_SHADER_HANDLE;

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

/// Must come after bevy_egui's plugin. A bevy_egui that writes those lines differently keeps its shader.
pub fn plugin(app: &mut App) {
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    let Some(mut shader) = shaders.get_mut(&EGUI_SHADER_HANDLE) else { return };
    if let Source::Wgsl(text) = &shader.source {
        let corrected = text.replace(TO_GAMMA, TO_GAMMA_WHERE_NEEDED).replace(AS_IT_IS, CORRECTED);
        shader.source = Source::Wgsl(corrected.into());
    }
}
