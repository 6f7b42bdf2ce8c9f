//! The window: `attune [LESSON]`.

use std::path::PathBuf;
use std::sync::Arc;

use attune_core::lesson::Lesson;
use attune_core::store::Home;
use attune_engine::panics::quietly;
use attune_view::export::shared::Shared;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::RenderCreation;
use bevy::window::{WindowResizeConstraints, WindowResolution};
use bevy::winit::EventLoopProxyWrapper;
use bevy_egui::EguiPreUpdateSet;

use super::opening::{Opening, Setup, title};
use super::perform::{Jobs, follow_export, follow_map, perform, put_beside, show_course};
use super::{closing, course, keyboard};
use crate::app::fault::AppFault;
use crate::app::link;
use crate::app::render::gpu;
use crate::app::render::recovery::Recovery;
use crate::app::systems::AppSystems;
use crate::app::theme::{self, size};
use crate::app::view::{ThemeChoice, ViewState};
use crate::app::work::beside;
use crate::app::work::profile::{self, Profile, WindowSettings};
use crate::app::work::waker::Waker;
use crate::app::work::{session, source};

/// How the window opens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowOptions {
    /// The lesson file; none: the course.
    pub path: Option<PathBuf>,
    /// A file that was shared, in the place of a lesson.
    pub shared: Option<Shared>,
    /// Another model beside it.
    pub beside: Option<Arc<Lesson>>,
    /// Replaces a lesson's seed.
    pub seed: Option<u64>,
    /// Inner size, in pixels.
    pub size: Option<(u32, u32)>,
    /// `None`: as it was left, or what the system prefers.
    pub dark: Option<bool>,
    /// The store of the learner's work; `None`: nothing is kept.
    pub home: Option<Home>,
}

/// Opens the window and returns when it is closed.
///
/// A lesson with issues opens too: the window shows them and reads the file again when it is saved.
pub fn run(options: WindowOptions) -> Result<(), AppFault> {
    let setup = Setup { seed: options.seed, home: options.home.clone(), waker: Waker::default(), has_editor: true };
    // The kernel starts first: the static vectors train while the window opens.
    let of_copy = options.shared.clone().map(|shared| Opening::of_copy(shared, &setup));
    let opening = of_copy.or_else(|| options.path.as_deref().map(|path| Opening::of(path, &setup)));
    let settings = WindowSettings::kept(options.home.as_ref());
    let renderer = gpu::open()?;
    let size = options.size.or(settings.window_size()).unwrap_or(size::WINDOW);
    let mut app = quietly(|| windowed(&options, size, renderer)).map_err(|why| no_display(&why))?;
    settings.put_back(&mut app.world_mut().resource_mut::<ViewState>(), options.dark.is_some());
    if let Some(proxy) = app.world().get_resource::<EventLoopProxyWrapper>() {
        setup.waker.connect((**proxy).clone());
    }
    app.insert_resource(Profile::new(options.home.as_ref(), &setup.waker)).insert_resource(setup);
    match opening {
        Some(opening) => opening.show(app.world_mut()),
        None => show_course(app.world_mut()),
    }
    if let Some(lesson) = options.beside {
        put_beside(app.world_mut(), lesson);
    }
    // The event loop takes the app.
    let recovery = app.world().resource::<Recovery>().clone();
    app.run();
    recovery.fault().map_or(Ok(()), Err)
}

/// Winit panics where no display answers; this says which one was asked.
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
            .set(quiet_log()),
    )
    .add_plugins((crate::app::plugin::plugin, plugin))
    .insert_resource(ViewState::themed(theme).zoomed(size::zoom_for(height)))
    .insert_resource(ClearColor(theme::clear_color(options.dark != Some(false))));
    app
}

/// Adds what a window has and a picture has not: keys, the learner's work, pages and dialogs.
fn plugin(app: &mut App) {
    app.init_resource::<Jobs>()
        .add_systems(Startup, spawn_camera)
        .add_systems(
            PreUpdate,
            keyboard::give_modifiers.after(EguiPreUpdateSet::ProcessInput).before(EguiPreUpdateSet::BeginPass),
        )
        .add_systems(
            Update,
            (
                source::reload.in_set(AppSystems::Receive).before(link::receive),
                beside::follow.in_set(AppSystems::Receive).after(link::receive),
                (session::show, course::receive, follow_export, follow_map).chain().in_set(AppSystems::Follow),
                keyboard::take_focus,
            ),
        )
        .add_systems(
            Last,
            (session::keep, profile::keep, perform, closing::close)
                .chain()
                .after(AppSystems::Send)
                .before(AppSystems::BuildStage),
        );
}

/// Warnings of our own and errors of the libraries.
fn quiet_log() -> LogPlugin {
    LogPlugin { level: bevy::log::Level::WARN, filter: "error,attune=warn".to_owned(), ..default() }
}

/// The camera draws nothing: egui draws on it.
fn spawn_camera(mut commands: Commands) {
    commands.spawn((Camera2d, Msaa::Off));
}
