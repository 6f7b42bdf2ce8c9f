//! The window: `attune LESSON`.

use std::path::PathBuf;

use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::RenderCreation;
use bevy::window::{WindowResizeConstraints, WindowResolution};
use bevy::winit::EventLoopProxyWrapper;

use super::fault::AppFault;
use super::source::{LessonIssues, Source, Waker};
use super::theme::{Palette, size};
use super::view_state::{ThemeChoice, ViewState};
use super::{bridge, gpu, ui};

/// How the window opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowOptions {
    /// The lesson file.
    pub path: PathBuf,
    /// Replaces the lesson's seed.
    pub seed: Option<u64>,
    /// Inner size, in pixels.
    pub size: Option<(u32, u32)>,
    /// `None`: what the system prefers.
    pub dark: Option<bool>,
}

/// Opens the window and returns when it is closed.
///
/// A lesson with issues opens too: the window shows them and reads the file again when it is saved.
pub fn run(options: WindowOptions) -> Result<(), AppFault> {
    // The kernel starts first: the static vectors train while the window opens.
    let waker = Waker::default();
    let (source, lesson) = Source::open(options.path.clone(), options.seed, waker.clone());
    let (worker, issues) = match lesson {
        Ok(lesson) => (Some(source.start(lesson)), Vec::new()),
        Err(issues) => (None, issues),
    };
    let renderer = gpu::open()?;
    let mut app = gpu::quietly(|| windowed(&options, renderer)).map_err(|why| no_display(&why))?;
    if let Some(proxy) = app.world().get_resource::<EventLoopProxyWrapper>() {
        waker.connect((**proxy).clone());
    }
    app.world_mut().resource_mut::<ui::Desk>().0.open(&options.path);
    app.insert_resource(source).insert_resource(bridge::Link(worker)).insert_resource(LessonIssues(issues));
    app.run();
    Ok(())
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

fn windowed(options: &WindowOptions, renderer: RenderCreation) -> App {
    let (width, height) = options.size.unwrap_or(size::WINDOW);
    let theme = match options.dark {
        None => ThemeChoice::System,
        Some(true) => ThemeChoice::Dark,
        Some(false) => ThemeChoice::Light,
    };
    let window = Window {
        title: format!(
            "{} · attune",
            options.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
        ),
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
            .set(WindowPlugin { primary_window: Some(window), ..default() })
            .set(RenderPlugin { render_creation: renderer, ..default() })
            .set(quiet_log()),
    )
    .add_plugins(super::plugin)
    .insert_resource(ViewState::themed(theme).zoomed(size::zoom_for(height)))
    .insert_resource(ClearColor(ground(options.dark != Some(false))))
    .add_systems(Startup, spawn_camera);
    app
}

/// Warnings of our own and errors of the libraries.
fn quiet_log() -> LogPlugin {
    LogPlugin { level: bevy::log::Level::WARN, filter: "error,attune=warn".to_owned(), ..default() }
}

pub(super) fn ground(dark: bool) -> Color {
    let ground = Palette::of(dark).ground;
    Srgba::from_u8_array(ground.to_array()).into()
}

/// The camera draws nothing: egui draws on it.
fn spawn_camera(mut commands: Commands) {
    commands.spawn((Camera2d, Msaa::Off));
}
