//! When the window draws: continuously while something moves, and not at all while nothing does.

use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::time::Real;
use bevy::window::WindowEvent;
use bevy::winit::{UpdateMode, WinitSettings};

use bevy_egui::EguiInput;
use egui::{Event, Modifiers};

use super::bridge::Models;
use super::stage::frame::StageTab;
use super::theme::motion;
use super::view_state::ViewState;

/// A frame that comes so long after the last one was woken by something ...
const REST: Duration = Duration::from_millis(250);
/// ... and is followed by others for so long: new letters reach the screen a frame after they are drawn.
const AFTERWARDS: Duration = Duration::from_millis(60);

/// What is known of the frames before.
#[derive(Default)]
pub struct Rest {
    last: Option<Instant>,
    /// Until then frames follow one that was woken.
    until: Option<Instant>,
    /// The mode was changed in the last frame, and that alone asks for this one.
    is_changed: bool,
}

impl Rest {
    /// Another frame is to come soon.
    fn is_followed(&mut self, now: Instant) -> bool {
        let is_woken = !self.is_changed && self.last.is_none_or(|last| now - last > REST);
        if is_woken {
            self.until = Some(now + AFTERWARDS);
        }
        self.last = Some(now);
        self.until.is_some_and(|until| now < until)
    }
}

/// Sets how winit runs until the next frame. Snapshots wake it by themselves.
pub fn pace(
    time: Res<Time<Real>>,
    (view, tab, models): (Res<ViewState>, Res<StageTab>, Res<Models>),
    mut events: MessageReader<WindowEvent>,
    mut last_input: Local<f32>,
    mut rest: Local<Rest>,
    settings: Option<ResMut<WinitSettings>>,
) {
    let Some(mut settings) = settings else { return };
    let now = time.elapsed_secs();
    if events.read().count() > 0 {
        *last_input = now;
    }
    let moves =
        view.is_gliding() || models.glide.is_some() || tab.rig.is_moving() || tab.is_settling() || view.home_requested;
    let is_busy = moves || now - *last_input < motion::AFTER_INPUT;
    let mode = mode(is_busy || rest.is_followed(Instant::now()));
    rest.is_changed = settings.focused_mode != mode;
    if rest.is_changed {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_was_woken_is_followed_and_then_there_is_rest() {
        let (begin, slow) = (Instant::now(), Duration::from_millis(300));
        let mut rest = Rest::default();
        assert!(rest.is_followed(begin));
        // Even where a frame takes long: the change of the mode brings one more, which is not followed.
        rest.is_changed = true;
        assert!(!rest.is_followed(begin + slow));
        rest.is_changed = true;
        assert!(!rest.is_followed(begin + 2 * slow));
        rest.is_changed = false;
        assert!(rest.is_followed(begin + 20 * slow));
    }
}
