//! When the window draws: continuously while something moves, and not at all while nothing does.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::Real;
use bevy::window::WindowEvent;
use bevy::winit::{UpdateMode, WinitSettings};

use bevy_egui::EguiInput;
use egui::{Event, Modifiers};

use crate::app::render::recovery::Recovery;
use crate::app::stage::frame::StageTab;
use crate::app::stage::scene::StageScene;
use crate::app::theme::motion;
use crate::app::view::ViewState;

/// Sets how winit runs until the next frame. Snapshots wake it by themselves.
pub fn pace(
    time: Res<Time<Real>>,
    (view, stage): (Res<ViewState>, Res<StageScene>),
    (tab, recovery): (Res<StageTab>, Res<Recovery>),
    mut events: MessageReader<WindowEvent>,
    mut last_input: Local<f32>,
    settings: Option<ResMut<WinitSettings>>,
) {
    let Some(mut settings) = settings else { return };
    let now = time.elapsed_secs();
    if events.read().count() > 0 {
        *last_input = now;
    }
    let moves = view.walk.is_gliding()
        || stage.glide.is_some()
        || tab.controls.rig.is_moving()
        || tab.is_settling()
        || recovery.is_under_way();
    let is_busy = moves || now - *last_input < motion::AFTER_INPUT;
    let mode = mode(is_busy);
    if settings.focused_mode != mode {
        settings.focused_mode = mode;
        settings.unfocused_mode = mode;
    }
}

/// Lets egui sleep: bevy_egui tells it the state of the modifier keys in every frame, and egui draws
/// another frame after every event.
pub fn drop_idle_events(mut inputs: Query<&mut EguiInput>, mut last: Local<Modifiers>) {
    for mut input in &mut inputs {
        input.events.retain(|event| match event {
            Event::ModifiersChanged(now) => std::mem::replace(&mut *last, *now) != *now,
            _ => true,
        });
    }
}

fn mode(busy: bool) -> UpdateMode {
    if busy {
        UpdateMode::Continuous
    } else {
        UpdateMode::reactive_low_power(Duration::from_secs_f32(motion::LONG_WAIT))
    }
}
