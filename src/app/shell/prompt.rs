//! A second drawing of the panels in each frame with an input, so that the effect of the input is visible in that
//! frame.
//!
//! A frame first updates the stage, then draws the panels, and then performs the actions of the keys and buttons that
//! were pressed in them. Without a second drawing of the panels, the effects would be visible only in the next frame,
//! and the stage's picture of this frame, which takes longer to draw than all the rest, would come first.

use bevy::ecs::schedule::ScheduleLabel;
use bevy::ecs::system::SystemState;
use bevy::input::keyboard::KeyboardInput;
use bevy::input::mouse::MouseButtonInput;
use bevy::prelude::*;
use bevy_egui::free_egui_textures_system;

/// The messages of keys and mouse buttons. Movements of the pointer and the wheel are not included, because they take
/// effect while the panels are drawn.
type Inputs<'w, 's> = (MessageReader<'w, 's, KeyboardInput>, MessageReader<'w, 's, MouseButtonInput>);

/// Draws the panels once more if a key or a mouse button was pressed or released. Runs after the requested actions have
/// been performed and before the stage's next frame is built.
pub fn show_at_once(world: &mut World, inputs: &mut SystemState<Inputs>) {
    let has_input = inputs.get_mut(world).is_ok_and(|(mut keys, mut buttons)| {
        let read = keys.read().count() + buttons.read().count();
        read > 0
    });
    if !has_input {
        return;
    }
    // Textures that the first drawing has freed are removed before the second drawing reports others.
    let _ = world.run_system_cached(free_egui_textures_system);
    for schedule in [First.intern(), PreUpdate.intern(), Update.intern(), PostUpdate.intern()] {
        world.run_schedule(schedule);
    }
}

#[cfg(test)]
mod tests {
    use bevy::input::ButtonState;

    use super::*;

    /// A stand-in for an effect: counts how often it was requested and performed, how much of it the panels show, and
    /// the frames.
    #[derive(Resource, Default)]
    struct Shown {
        done: usize,
        seen: usize,
        frames: usize,
    }

    fn app() -> App {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins)
            .add_message::<KeyboardInput>()
            .add_message::<MouseButtonInput>()
            .init_resource::<Shown>()
            .add_systems(Update, |mut shown: ResMut<Shown>| {
                shown.seen = shown.done;
                shown.frames += 1;
            })
            .add_systems(
                Last,
                (
                    |mut buttons: MessageReader<MouseButtonInput>, mut shown: ResMut<Shown>| {
                        shown.done += buttons.read().count();
                    },
                    show_at_once,
                )
                    .chain(),
            );
        app
    }

    #[test]
    fn what_an_input_asks_for_is_seen_in_its_own_frame() {
        let mut app = app();
        app.update();
        let shown = |app: &App| {
            let Shown { done, seen, frames } = app.world().resource();
            (*done, *seen, *frames)
        };
        assert_eq!(shown(&app), (0, 0, 1), "without an input, the panels are drawn once");
        let (button, state, window) = (MouseButton::Left, ButtonState::Pressed, Entity::PLACEHOLDER);
        app.world_mut().write_message(MouseButtonInput { button, state, window });
        app.update();
        assert_eq!(shown(&app), (1, 1, 3));
        app.update();
        assert_eq!(shown(&app), (1, 1, 4), "it is read once");
    }
}
