//! The window of `attune [LESSON]`: its opening, its systems, the times at which it draws, and its closing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use attune_core::lesson::Lesson;
use attune_core::store::Home;
use attune_engine::panics::quietly;
use attune_view::export::work_file::SharedWork;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::RenderCreation;
use bevy::time::Real;
use bevy::window::{WindowCloseRequested, WindowEvent, WindowResizeConstraints, WindowResolution};
use bevy::winit::{EventLoopProxyWrapper, UpdateMode, WinitSettings};
use bevy_egui::{EguiInput, EguiPreUpdateSet, EguiPrimaryContextPass, free_egui_textures_system};
use egui::{Event, Modifiers};

use super::beside::{self, follow_spaces, put_beside};
use super::course::{self, CoursePage};
use super::jobs::{follow_export, follow_map};
use super::leaving::{title, unsaved};
use super::opening::{self, Opening};
use super::perform::perform;
use super::prompt::show_at_once;
use super::state::{Jobs, Setup, WindowState};
use super::{keyboard, ui};
use crate::app::fault::AppFault;
use crate::app::graphics::{self, Recovery, Rescue};
use crate::app::link::AppSystems;
use crate::app::stage::frame::StageTab;
use crate::app::stage::state::StageState;
use crate::app::systems;
use crate::app::theme::{self, motion, size};
use crate::app::ui_state::{ThemeChoice, ViewState};
use crate::app::work::profile::{self, Profile, WindowSettings};
use crate::app::work::recall::{self, Recall};
use crate::app::work::session::{self, Session};
use crate::app::work::source::{self, LessonIssues};
use crate::app::work::waker::Waker;

/// Options for opening the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowOptions {
    /// The lesson file; `None` for the course.
    pub path: Option<PathBuf>,
    /// A shared file, which is opened instead of a lesson.
    pub shared: Option<SharedWork>,
    /// Another model or another file of vectors, for comparison.
    pub beside: Option<Beside>,
    /// The seed that replaces a lesson's own.
    pub seed: Option<u64>,
    /// The inner size, in pixels; `None` for the last one, or the default.
    pub size: Option<(u32, u32)>,
    /// The theme; `None` for the last one, or the system's.
    pub dark: Option<bool>,
    /// The store of the learner's work; `None` to save nothing.
    pub home: Option<Home>,
}

/// The second model or file of vectors of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Beside {
    Model(Arc<Lesson>),
    /// A file of vectors, to compare with another one.
    Vectors(PathBuf),
}

/// Opens the window and returns when it is closed.
///
/// A lesson with issues opens too: the window shows the issues and reads the file again when it is saved.
///
/// # Errors
/// If there is no display or graphics adapter, or if drawing failed for good.
pub fn run(options: WindowOptions) -> Result<(), AppFault> {
    let setup = Setup { seed: options.seed, home: options.home.clone(), waker: Waker::default(), has_editor: true };
    // The kernel starts first, so that the static vectors train while the window opens.
    let of_copy = options.shared.clone().map(|shared| Opening::of_copy(shared, &setup));
    let opening = of_copy.or_else(|| options.path.as_deref().map(|path| Opening::of(path, &setup)));
    let settings = WindowSettings::kept(options.home.as_ref());
    let renderer = graphics::open()?;
    let size = options.size.or(settings.window_size()).unwrap_or(size::WINDOW);
    let mut app = quietly(|| windowed(&options, size, renderer)).map_err(|why| no_display(&why))?;
    settings.put_back(&mut app.world_mut().resource_mut::<ViewState>(), options.dark.is_some());
    if let Some(proxy) = app.world().get_resource::<EventLoopProxyWrapper>() {
        setup.waker.connect((**proxy).clone());
    }
    app.insert_resource(Profile::new(options.home.as_ref(), &setup.waker)).insert_resource(setup);
    match opening {
        Some(opening) => opening.show(app.world_mut()),
        None => course::show(app.world_mut()),
    }
    match options.beside {
        Some(Beside::Model(lesson)) => put_beside(app.world_mut(), lesson),
        Some(Beside::Vectors(path)) => beside::await_space(app.world_mut(), path),
        None => {}
    }
    // Cloned now, because the event loop takes the app.
    let recovery = app.world().resource::<Recovery>().clone();
    app.run();
    recovery.fault().map_or(Ok(()), Err)
}

/// Returns the error for a display that does not answer. It names the display; winit would panic.
fn no_display(why: &str) -> AppFault {
    let set: Vec<String> = ["WAYLAND_DISPLAY", "DISPLAY"]
        .iter()
        .filter_map(|name| {
            std::env::var(name).ok().filter(|value| !value.is_empty()).map(|value| format!("{name}={value}"))
        })
        .collect();
    AppFault::NoDisplay(match set[..] {
        _ if !why.contains("event loop") => why.to_owned(),
        [] => "neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned(),
        _ => format!("nothing answers at {}", set.join(" or ")),
    })
}

fn windowed(options: &WindowOptions, (width, height): (u32, u32), renderer: RenderCreation) -> App {
    let theme = match options.dark {
        None => ThemeChoice::System,
        Some(true) => ThemeChoice::Dark,
        Some(false) => ThemeChoice::Light,
    };
    let window = Window {
        title: title(options.path.as_deref()),
        resolution: WindowResolution::new(width, height),
        resize_constraints: WindowResizeConstraints {
            min_width: size::WINDOW_MIN.0,
            min_height: size::WINDOW_MIN.1,
            ..default()
        },
        ..default()
    };
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: Some(window), close_when_requested: false, ..default() })
            .set(RenderPlugin { render_creation: renderer, ..default() })
            // Shows warnings of the program and errors of the libraries.
            .set(LogPlugin { level: bevy::log::Level::WARN, filter: "error,attune=warn".to_owned(), ..default() }),
    )
    .add_plugins((systems::plugin, plugin))
    .insert_resource(ViewState::themed(theme).zoomed(size::zoom_for(height)))
    .insert_resource(ClearColor(theme::clear_color(options.dark != Some(false))));
    app
}

fn plugin(app: &mut App) {
    app.add_plugins(add_systems).insert_resource(Rescue(rescue)).add_systems(Startup, spawn_camera).add_systems(
        PreUpdate,
        (keyboard::give_modifiers, drop_idle_events)
            .after(EguiPreUpdateSet::ProcessInput)
            .before(EguiPreUpdateSet::BeginPass),
    );
    app.add_systems(
        Last,
        (
            show_at_once.after(close).before(AppSystems::BuildStage).before(free_egui_textures_system),
            (pace, clear).in_set(AppSystems::Pace),
        ),
    );
}

/// Adds the systems of a window that the rendering of pictures does not need: the learner's work, pages and dialogs.
/// They need neither a display nor a graphics card.
pub fn add_systems(app: &mut App) {
    let is_no_talk = |state: Res<WindowState>| state.presentation.is_none();
    app.init_resource::<Jobs>()
        .init_resource::<LessonIssues>()
        .init_resource::<CoursePage>()
        .init_resource::<WindowState>()
        .init_resource::<Recall>()
        .add_systems(
            Update,
            (
                // A file saved during a presentation is read when it ends.
                source::reload.run_if(is_no_talk).before(systems::receive),
                (opening::show_opening_cell, source::follow_beside, beside::open_awaited, recall::follow)
                    .after(systems::receive)
                    .before(systems::follow_trail),
            )
                .in_set(AppSystems::Receive),
        )
        .add_systems(
            Update,
            (session::show, course::receive, follow_export, follow_map, follow_spaces)
                .chain()
                .in_set(AppSystems::Follow),
        )
        .add_systems(EguiPrimaryContextPass, ui::draw)
        .add_systems(
            Last,
            (session::keep, profile::keep, perform, close)
                .chain()
                .after(AppSystems::Send)
                .before(AppSystems::BuildStage),
        );
}

/// Adds the camera that egui draws on; the camera itself has nothing to draw.
fn spawn_camera(mut commands: Commands) {
    commands.spawn((Camera2d, Msaa::Off));
}

/// Closes the window on request. Pending changes are written first, and the window stays open if they cannot be; on a
/// second request it closes anyway.
pub fn close(world: &mut World) {
    let requested = world.resource_mut::<Messages<WindowCloseRequested>>().drain().count() > 0;
    let session = world.get_resource::<Session>();
    if !requested && !session.is_some_and(|session| session.closes) {
        return;
    }
    let is_asked = session.is_some_and(|session| session.model.closing.is_some());
    let why = if is_asked { None } else { obstacle(world) };
    let Some(mut session) = world.get_resource_mut::<Session>().filter(|_| why.is_some()) else {
        world.write_message(AppExit::Success);
        return;
    };
    session.model.closing = why;
    world.resource_mut::<CoursePage>().close();
}

/// Returns the reason not to close yet: work that would be lost, or an export that is being written. `None` if the
/// window can close.
fn obstacle(world: &mut World) -> Option<String> {
    let unsaved = unsaved(world).map(|why| format!("Your last changes are not saved: {why}."));
    let is_exporting = world.resource::<WindowState>().is_exporting();
    unsaved.or_else(|| is_exporting.then(|| "An export is being written.".to_owned()))
}

/// Saves the work after a drawing error. Returns a sentence about the result; `None` if there is no work.
fn rescue(world: &mut World) -> Option<String> {
    let why = unsaved(world).map(|why| format!("your last changes are not saved: {why}"));
    // An idle window would wait for an event before its next frame.
    world.resource::<Setup>().waker.wake();
    let is_saved = world.get_resource::<Session>().is_some_and(Session::is_saved);
    why.or_else(|| is_saved.then(|| "your work is saved".to_owned()))
}

/// Clears the window in the stage's colour, on which the stage is drawn without another layer below it.
fn clear(tab: Res<StageTab>, mut color: ResMut<ClearColor>) {
    color.0 = theme::clear_color(tab.dark);
}

/// Sets how long winit waits until the next frame. Snapshots wake the window by themselves.
fn pace(
    time: Res<Time<Real>>,
    (view, stage): (Res<ViewState>, Res<StageState>),
    (tab, recovery): (Res<StageTab>, Res<Recovery>),
    mut events: MessageReader<WindowEvent>,
    mut last_input: Local<f32>,
    mut settings: ResMut<WinitSettings>,
) {
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
    let mode = if is_busy {
        UpdateMode::Continuous
    } else {
        UpdateMode::reactive_low_power(Duration::from_secs_f32(motion::LONG_WAIT))
    };
    if settings.focused_mode != mode {
        settings.focused_mode = mode;
        settings.unfocused_mode = mode;
    }
}

/// Drops events that would keep egui awake: bevy_egui sends the state of the modifier keys in every frame, and egui
/// draws another frame after every event.
fn drop_idle_events(mut inputs: Query<&mut EguiInput>, mut last: Local<Modifiers>) {
    for mut input in &mut inputs {
        input.events.retain(|event| match event {
            Event::ModifiersChanged(now) => std::mem::replace(&mut *last, *now) != *now,
            _ => true,
        });
    }
}
