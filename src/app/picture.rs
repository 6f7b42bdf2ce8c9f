//! Pictures without a display: `attune render LESSON -o picture.png`. A picture shows the whole workspace, or the stage
//! as a figure, with a title above and the sentence below.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::issue::shown;
use attune_core::lesson::schema::CellKind;
use attune_core::whole_file;
use attune_engine::panics::quietly;
use attune_view::explain::walk::WalkModel;
use attune_view::view_model::Models;
use attune_view::view_model::features::Feature;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::pictures::nearest;
use attune_view::view_model::saved_view::SavedView;
use bevy::app::TerminalCtrlCHandlerPlugin;
use bevy::camera::RenderTarget;
use bevy::ecs::resource::Resource;
use bevy::log::LogPlugin;
use bevy::math::Vec2;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::render_resource::TextureFormat;
use bevy::render::settings::RenderCreation;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use bevy_egui::{EguiContexts, EguiGlobalSettings, EguiPrimaryContextPass, PrimaryEguiContext};
use egui::ecolor::{gamma_u8_from_linear_f32, linear_f32_from_gamma_u8};
use egui::{Align, Frame, Layout, Margin, RichText, TextStyle, Ui, UiBuilder};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ImageBuffer, PixelWithColorType, Rgb, RgbImage, Rgba, RgbaImage};

use crate::app::encode::still;
use crate::app::fault::AppFault;
use crate::app::link::LatestModels;
use crate::app::panels::StageUi;
use crate::app::stage::camera::CameraRig;
use crate::app::stage::frame::StageTab;
use crate::app::stage::geometry;
use crate::app::stage::state::StageState;
use crate::app::theme::{self, Palette, size};
use crate::app::ui_state::walk::STEPS;
use crate::app::ui_state::{ThemeChoice, ViewState};
use crate::app::workspace::stage_side::StageSide;
use crate::app::workspace::{WorkspaceState, follow_preferences, root, workspace_ui};
use crate::app::{graphics, systems};

/// The options of a picture.
#[derive(Clone, Debug)]
pub struct PictureOptions {
    pub snapshot: Arc<Snapshot>,
    /// A stage cell, whose words are highlighted, and whose time is used if `time` is not finite.
    pub cell: Option<String>,
    /// The time of the points, from 0 (static) to 1 (contextual).
    pub time: f32,
    /// The size of the picture, in pixels.
    pub size: (u32, u32),
    /// The number of pixels per point, which is larger for high-density screens.
    pub zoom: f32,
    /// Whether to draw the whole window instead of only the stage.
    pub workspace: bool,
    pub dark: bool,
    /// Whether the background is transparent.
    pub transparent: bool,
    /// The features of a file of vectors that set the colours and the sizes of points.
    pub features: [Option<Feature>; 2],
    /// The stage as a viewer sees it, instead of `cell` and `time`.
    pub seen: Option<Arc<StageView>>,
    /// A shared view, instead of `cell` and `time`.
    pub shared: Option<Arc<SavedView>>,
}

/// A viewer's choices, and the position of the camera.
#[derive(Clone, Debug)]
pub struct StageView {
    pub view: ViewState,
    pub rig: CameraRig,
}

impl PictureOptions {
    /// Returns options for the stage alone, at the static places of the words, in the light theme and the default size.
    pub fn of(snapshot: Arc<Snapshot>) -> Self {
        Self {
            snapshot,
            cell: None,
            time: 0.0,
            size: theme::size::WINDOW,
            zoom: 1.0,
            workspace: false,
            dark: false,
            transparent: false,
            features: [None, None],
            seen: None,
            shared: None,
        }
    }

    /// Returns options for a shared stage, in the size that it had, with the caption below.
    pub fn of_shared(snapshot: Arc<Snapshot>, shared: SavedView) -> Self {
        let size = shared.stage.map(|(width, height)| nearest((width, height.saturating_add(CAPTION as u32))));
        let of = Self::of(snapshot);
        Self { size: size.unwrap_or(of.size), shared: Some(Arc::new(shared)), ..of }
    }
}

/// The number of frames until fonts, layout and the stage's image have settled.
const SETTLE_FRAMES: usize = 6;
/// The number of frames until the next picture of the same app is drawn: one each to adapt the stage, to build its
/// frame and to draw it.
const NEXT_FRAMES: usize = 3;
/// The largest number of frames to wait for the picture.
const PATIENCE_FRAMES: usize = 200;

/// Draws the picture and writes it as PNG, completely or not at all.
///
/// # Errors
/// If [`draw`] fails or the file cannot be written.
pub fn render(options: &PictureOptions, out: &Path) -> Result<(), AppFault> {
    write(&draw(options)?, out)
}

/// Draws the picture, and returns it as PNG.
///
/// # Errors
/// If there is no graphics adapter or nothing to draw, or if the picture cannot be encoded.
pub fn draw(options: &PictureOptions) -> Result<Vec<u8>, AppFault> {
    let pixels = Renderer::default().pixels(options)?;
    pixels.encode()
}

/// An app without a window that draws one picture after another. Device, pipelines and fonts are created once for all
/// pictures of one size, because this takes longest.
#[derive(Default)]
pub struct Renderer(Option<Opened>);

struct Opened {
    app: App,
    size: (u32, u32),
    workspace: bool,
}

impl Renderer {
    /// Draws a picture, as PNG.
    ///
    /// # Errors
    /// As for [`draw`].
    pub fn draw(&mut self, options: &PictureOptions) -> Result<Vec<u8>, AppFault> {
        self.pixels(options)?.encode()
    }

    /// Draws a picture as PNG, with a colour table unless it is transparent, because pages hold many pictures.
    ///
    /// # Errors
    /// As for [`draw`].
    pub fn draw_for_page(&mut self, options: &PictureOptions) -> Result<Vec<u8>, AppFault> {
        match self.pixels(options)? {
            Pixels::Opaque(picture) => still(&picture).map_err(AppFault::Output),
            transparent => transparent.encode(),
        }
    }

    fn pixels(&mut self, options: &PictureOptions) -> Result<Pixels, AppFault> {
        let view = view_of(options)?;
        // After a fault, the state of the device is unknown, so the next picture uses a new one.
        let kept = self.0.take().filter(|opened| (opened.size, opened.workspace) == (options.size, options.workspace));
        let mut opened = match kept {
            Some(mut opened) => {
                begin_anew(&mut opened.app);
                prepare(&mut opened.app, options, view);
                settle_again(&mut opened.app);
                opened
            }
            None => {
                let mut app = open(options.size, options.dark, options.workspace)?;
                prepare(&mut app, options, view);
                settle(&mut app);
                Opened { app, size: options.size, workspace: options.workspace }
            }
        };
        let pixels = Pixels::of(&mut opened.app, options.transparent)?;
        self.0 = Some(opened);
        Ok(pixels)
    }
}

/// The pixels of a picture as the graphics adapter returned them.
enum Pixels {
    Opaque(RgbImage),
    /// The same picture on black and on white.
    Transparent([RgbImage; 2]),
}

impl Pixels {
    /// Captures the picture of an app that has settled.
    fn of(app: &mut App, is_transparent: bool) -> Result<Self, AppFault> {
        if !is_transparent {
            return screenshot(app).map(Self::Opaque);
        }
        let [black, white] = theme::BACKGROUNDS.map(|background| {
            app.world_mut().resource_mut::<ViewState>().figure.background = Some(background);
            capture_next(app)
        });
        Ok(Self::Transparent([black?, white?]))
    }

    fn encode(self) -> Result<Vec<u8>, AppFault> {
        match self {
            Self::Opaque(picture) => encode(&picture),
            Self::Transparent([black, white]) => encode(&recover_alpha(&black, &white)),
        }
    }
}

/// Returns an app without a window that shows the lesson and the view of the options.
///
/// # Errors
/// If there is no graphics adapter, or nothing to draw.
pub fn picture_app(options: &PictureOptions) -> Result<App, AppFault> {
    let view = view_of(options)?;
    let mut app = open(options.size, options.dark, options.workspace)?;
    prepare(&mut app, options, view);
    Ok(app)
}

fn view_of(options: &PictureOptions) -> Result<ViewState, AppFault> {
    if options.snapshot.space.is_none() {
        return Err(AppFault::NothingToDraw("the static vectors of the lesson have not been trained".to_owned()));
    }
    let theme = if options.dark { ThemeChoice::Dark } else { ThemeChoice::Light };
    if let Some(seen) = &options.seen {
        return Ok(seen.view.as_figure(theme, options.zoom));
    }
    let mut view = ViewState::themed(theme);
    view.preferences.reduced_motion = true;
    view.figure.is_on = !options.workspace;
    view.preferences.zoom = options.zoom;
    if options.shared.is_some() {
        // The rest of the view is restored with the workspace.
        return Ok(view);
    }
    view.walk.set_time(if options.time.is_finite() { options.time } else { 0.0 });
    [view.highlight.color_by, view.highlight.size_by] = options.features.clone();
    let Some(id) = &options.cell else { return Ok(view) };
    let cell = options.snapshot.lesson.cells.iter().find(|cell| cell.id == *id);
    match cell.map(|cell| &cell.kind) {
        Some(CellKind::Stage { words, time, .. }) => {
            view.highlight.lit.clone_from(words);
            view.highlight.shown_cell = Some(id.clone());
            if !options.time.is_finite() {
                view.walk.set_time(*time);
            }
            Ok(view)
        }
        Some(_) => Err(AppFault::NothingToDraw(format!("cell `{id}` is not a stage cell"))),
        None => Err(AppFault::NothingToDraw(format!("the lesson has no cell `{id}`"))),
    }
}

/// Returns an app without a window that draws only the stage at each update, with the view in its resources.
///
/// # Errors
/// If there is no graphics adapter.
pub fn figure_app(size: (u32, u32), dark: bool) -> Result<App, AppFault> {
    open(size, dark, false)
}

fn open(size: (u32, u32), dark: bool, workspace: bool) -> Result<App, AppFault> {
    let renderer = graphics::open()?;
    quietly(|| headless(size, dark, workspace, renderer)).map_err(AppFault::NoGpu)
}

fn headless((width, height): (u32, u32), dark: bool, workspace: bool, renderer: RenderCreation) -> App {
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .set(RenderPlugin { render_creation: renderer, synchronous_pipeline_compilation: true, ..default() })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<TerminalCtrlCHandlerPlugin>(),
    )
    .add_plugins(systems::plugin)
    .add_systems(EguiPrimaryContextPass, picture_ui)
    .insert_resource(ClearColor(theme::clear_color(dark)))
    .init_resource::<Captured>();
    app.world_mut().resource_mut::<EguiGlobalSettings>().auto_create_primary_context = false;
    if !workspace {
        app.insert_resource(Figure);
    }
    let target = Image::new_target_texture(width.max(1), height.max(1), TextureFormat::Rgba8UnormSrgb, None);
    let world = app.world_mut();
    let target = world.resource_mut::<Assets<Image>>().add(target);
    world.insert_resource(PictureTarget(target.clone()));
    world.spawn((PrimaryEguiContext, Camera2d, Msaa::Off, RenderTarget::Image(target.into())));
    app.finish();
    app.cleanup();
    app
}

/// Forgets the last picture with its scene, camera and workspace.
fn begin_anew(app: &mut App) {
    let world = app.world_mut();
    world.resource_mut::<StageTab>().begin_anew();
    world.insert_resource(WorkspaceState::default());
}

/// Sets the lesson, the view and the camera of the app.
fn prepare(app: &mut App, options: &PictureOptions, mut view: ViewState) {
    let world = app.world_mut();
    world.insert_resource(ClearColor(theme::clear_color(options.dark)));
    let (mut models, mut stage) = (LatestModels::default(), StageState::default());
    if let Some(shared) = &options.shared {
        world.resource_mut::<WorkspaceState>().0.restore(shared, &mut view);
        // A selection that the sentence or the model lacks is dropped when they are shown.
        view.selection.restore(shared, usize::MAX, usize::MAX);
    }
    systems::show(options.snapshot.clone(), &mut models, &mut stage, &mut view);
    let mut tab = world.resource_mut::<StageTab>();
    tab.fitted.clone_from(&stage.points);
    if let Some(seen) = &options.seen {
        tab.controls.rig = seen.rig.clone();
        // The viewer's camera keeps its position.
        tab.has_opened = true;
    } else if let Some(model) = &stage.points {
        let size = Vec2::new(options.size.0 as f32, options.size.1 as f32);
        tab.controls.rig.fit_now(geometry::extent(model), size);
        tab.controls.rig.open(model.opens_flat());
        if let Some(camera) = options.shared.as_ref().and_then(|shared| shared.camera) {
            tab.controls.rig.restore(&camera);
        }
    }
    world.resource_mut::<WorkspaceState>().0.freeze_layout(&options.snapshot.lesson, options.cell.as_deref());
    world.insert_resource(models);
    world.insert_resource(stage);
    world.insert_resource(view);
}

/// Shows another snapshot in an app without a window.
pub(super) fn show(app: &mut App, snapshot: Arc<Snapshot>) {
    let world = app.world_mut();
    world.resource_scope(|world, mut models: Mut<LatestModels>| {
        world.resource_scope(|world, mut stage: Mut<StageState>| {
            let mut view = world.resource_mut::<ViewState>();
            systems::show(snapshot, &mut models, &mut stage, &mut view);
        });
    });
}

#[derive(Resource)]
struct PictureTarget(Handle<Image>);

#[derive(Resource, Default)]
struct Captured(Option<Result<RgbImage, String>>);

/// Captures the picture of an app without a window once it has settled.
///
/// # Errors
/// If the graphics adapter does not return the picture.
pub fn capture(app: &mut App) -> Result<RgbImage, AppFault> {
    settle(app);
    screenshot(app)
}

/// Updates a new app until it has settled.
fn settle(app: &mut App) {
    for _ in 0..SETTLE_FRAMES {
        app.update();
        thread::sleep(Duration::from_secs_f32(theme::motion::RESIZE_SETTLES / 2.0));
    }
}

/// Updates an app that has drawn a picture until it has settled. This is immediate unless the caption changes the
/// height of the stage.
fn settle_again(app: &mut App) {
    set_drawing(app, false);
    for _ in 0..SETTLE_FRAMES {
        (0..NEXT_FRAMES).for_each(|_| app.update());
        if !app.world().resource::<StageTab>().is_settling() {
            return;
        }
        thread::sleep(Duration::from_secs_f32(theme::motion::RESIZE_SETTLES));
    }
}

/// Captures the next picture of an app that has captured one before, so that fonts and layout have settled.
///
/// # Errors
/// If the graphics adapter does not return the picture.
pub fn capture_next(app: &mut App) -> Result<RgbImage, AppFault> {
    set_drawing(app, false);
    (0..NEXT_FRAMES).for_each(|_| app.update());
    screenshot(app)
}

/// Chooses whether updates paint the interface, which takes most of their time without a graphics card, or only lay it
/// out.
fn set_drawing(app: &mut App, is_active: bool) {
    let world = app.world_mut();
    world.query::<&mut Camera>().iter_mut(world).for_each(|mut camera| camera.is_active = is_active);
}

fn screenshot(app: &mut App) -> Result<RgbImage, AppFault> {
    let target = app.world().resource::<PictureTarget>().0.clone();
    app.world_mut().spawn(Screenshot::image(target)).observe(
        |picture: On<ScreenshotCaptured>, mut captured: ResMut<Captured>| {
            captured.0 = Some(opaque(&picture.image).ok_or_else(|| "the picture has another format".to_owned()));
        },
    );
    set_drawing(app, true);
    for _ in 0..PATIENCE_FRAMES {
        app.update();
        // The picture is of the first update; the next ones only bring it from the graphics adapter.
        set_drawing(app, false);
        if let Some(picture) = app.world_mut().resource_mut::<Captured>().0.take() {
            return picture.map_err(|why| fault(&why));
        }
    }
    Err(AppFault::NoGpu("the graphics adapter never returned the picture".to_owned()))
}

/// Returns the colours of a target of [`open`] without an intermediate copy, which might be as large as everything else
/// together.
fn opaque(picture: &Image) -> Option<RgbImage> {
    let (pixels, _) = picture.data.as_ref()?.as_chunks::<4>();
    let mut colours = Vec::with_capacity(3 * pixels.len());
    pixels.iter().for_each(|[red, green, blue, _]| colours.extend([red, green, blue]));
    RgbImage::from_raw(picture.width(), picture.height(), colours)
}

fn encode<P>(picture: &ImageBuffer<P, Vec<u8>>) -> Result<Vec<u8>, AppFault>
where
    P: PixelWithColorType<Subpixel = u8>,
{
    let mut bytes = Vec::new();
    // A page contains several pictures, so reducing them to a third of the size is worth the time.
    let encoder = PngEncoder::new_with_quality(Cursor::new(&mut bytes), CompressionType::Default, FilterType::Adaptive);
    picture.write_with_encoder(encoder).map_err(|why| fault(&why))?;
    Ok(bytes)
}

fn fault(why: &dyn std::fmt::Display) -> AppFault {
    AppFault::Output(why.to_string())
}

/// Writes a picture's file, completely or not at all.
pub(super) fn write(bytes: &[u8], out: &Path) -> Result<(), AppFault> {
    whole_file::write(out, bytes).map_err(|why| AppFault::Output(format!("{}: {why}", shown(out))))
}

/// The least height of the caption, in points; long texts need more.
const CAPTION: f32 = 84.0;

/// A marker resource of apps that draw the stage alone, with a caption.
#[derive(Resource)]
struct Figure;

fn picture_ui(
    mut contexts: EguiContexts,
    (models, on_stage): (Res<LatestModels>, Res<StageState>),
    mut view: ResMut<ViewState>,
    mut tab: ResMut<StageTab>,
    mut workspace: ResMut<WorkspaceState>,
    figure: Option<Res<Figure>>,
) -> Result {
    let ctx = contexts.ctx_mut()?.clone();
    follow_preferences(&ctx, &view, view.preferences.zoom);
    let (mut ui, workspace) = (root(&ctx), &mut workspace.0);
    tab.strip.followed = on_stage.walk.as_deref().and_then(WalkModel::source_query);
    let mut stage = StageSide::of(&ui, &on_stage, &mut tab, &workspace.open_panels, &view);
    let result = on_stage.result(&view.walk);
    if figure.is_some() {
        figure_ui(&mut ui, &models, &mut view, result, &mut stage);
    } else {
        // There is no user whose requests could be performed, so they are dropped.
        workspace_ui(&mut ui, &models, &mut Vec::new(), workspace, &mut view, &mut stage, false);
    }
    Ok(())
}

fn figure_ui(ui: &mut Ui, models: &Models, view: &mut ViewState, result: Option<&str>, stage: &mut dyn StageUi) {
    /// The least height of a picture with a caption.
    const CAPTION_FROM: f32 = 3.0 * CAPTION;
    let whole = ui.max_rect();
    let has_caption = !view.figure.bare && whole.height() >= CAPTION_FROM;
    let words = has_caption.then(|| words(models, view, result)).flatten();
    let height = match &words {
        // Long texts of a lesson are not cut off.
        Some(words) => CAPTION.max(height(ui, words, whole.width() - 2.0 * f32::from(size::PANEL_MARGIN))),
        None if has_caption => CAPTION,
        None => 0.0,
    };
    let (picture, caption) = whole.split_top_bottom_at_y(whole.bottom() - height);
    ui.painter().rect_filled(ui.max_rect(), 0.0, view.figure.background.unwrap_or(Palette::on(ui).stage));
    ui.scope_builder(UiBuilder::new().max_rect(picture), |ui| stage.stage_ui(ui, &mut view.for_panels()));
    let Some(Words { sentence, result, about }) = words else { return };
    ui.scope_builder(UiBuilder::new().max_rect(caption).layout(Layout::top_down(Align::Min)), |ui| {
        Frame::new().inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0)).show(ui, |ui| {
            ui.label(RichText::new(sentence).font(theme::strong(size::READING)));
            ui.label(RichText::new(result).font(theme::plain(size::READING)));
            ui.weak(about);
        });
    });
}

/// The text below a picture, one line each.
struct Words {
    sentence: String,
    /// The result at the time that is shown; empty if there is none.
    result: String,
    /// The subject of the picture.
    about: String,
}

fn words(models: &Models, view: &ViewState, result: Option<&str>) -> Option<Words> {
    let (model, walk) = (models.get::<NotebookModel>()?, &view.walk);
    let step_of_training = view.figure.of_training.then(|| step_of_training(models)).flatten();
    let place = step_of_training.unwrap_or_else(|| match walk.is_walking() {
        true => format!("step {} of {STEPS}: {}", walk.step().index() + 1, walk.step().name()),
        false => format!("time {:.2}", walk.time()),
    });
    Some(Words {
        sentence: model.sentence.clone(),
        result: result.unwrap_or_default().to_owned(),
        about: format!("{} · {place}", caption_of(&model, view).unwrap_or(&model.title)),
    })
}

/// Returns a text about the training step that is shown; `None` if there is no model.
fn step_of_training(models: &Models) -> Option<String> {
    let training = &models.snapshot()?.model.as_ref()?.training;
    Some(format!("training step {} of {}", training.step_shown(), training.progress.done))
}

/// Returns the height of all lines, one below another.
fn height(ui: &Ui, Words { sentence, result, about }: &Words, width: f32) -> f32 {
    let high = |text: &str, font| ui.painter().layout(text.to_owned(), font, ui.visuals().text_color(), width).size().y;
    let about = high(about, TextStyle::Body.resolve(ui.style()));
    let above = high(sentence, theme::strong(size::READING)) + high(result, theme::plain(size::READING));
    above + 2.0 * ui.spacing().item_spacing.y + about + size::GAP
}

fn caption_of<'a>(model: &'a NotebookModel, view: &ViewState) -> Option<&'a str> {
    let shown = view.highlight.shown_cell.as_deref()?;
    model.cells.iter().find(|cell| **cell.id() == *shown).and_then(|cell| match &*cell.cell.kind {
        CellKind::Stage { caption, .. } => Some(caption.as_str()),
        _ => None,
    })
}

/// Computes a picture's alpha channel from two renders, on black and on white.
///
/// In linear light, a pixel of colour `c` and opacity `a` appears as `a c` on black and as `a c + 1 − a` on white. So
/// `a` is one minus the difference, and `c` is the colour on black divided by `a`. The code that draws the picture need
/// not support transparency. Both pictures must have the same size. Colours are not multiplied by their opacity, as in
/// PNG.
fn recover_alpha(black: &RgbImage, white: &RgbImage) -> RgbaImage {
    RgbaImage::from_fn(black.width(), black.height(), |x, y| pixel(*black.get_pixel(x, y), *white.get_pixel(x, y)))
}

fn pixel(black: Rgb<u8>, white: Rgb<u8>) -> Rgba<u8> {
    const ALL: u8 = u8::MAX;
    let Rgb([red, green, blue]) = black;
    if black == white {
        return Rgba([red, green, blue, ALL]);
    }
    let on_black = black.0.map(linear_f32_from_gamma_u8);
    let on_white = white.0.map(linear_f32_from_gamma_u8);
    let difference: f32 = on_white.iter().zip(on_black).map(|(white, black)| white - black).sum();
    let share = (1.0 - difference / on_black.len() as f32).clamp(0.0, 1.0);
    let alpha = (share * f32::from(ALL)).round() as u8;
    if alpha == 0 {
        return Rgba([0; 4]);
    }
    let [red, green, blue] = on_black.map(|channel| gamma_u8_from_linear_f32((channel / share).min(1.0)));
    Rgba([red, green, blue, alpha])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    /// Returns a colour blended with a grey background, as the graphics card does.
    fn on(color: [u8; 3], share: f32, ground: u8) -> Rgb<u8> {
        let ground = linear_f32_from_gamma_u8(ground);
        Rgb(color.map(|c| gamma_u8_from_linear_f32(linear_f32_from_gamma_u8(c) * share + ground * (1.0 - share))))
    }

    #[test]
    fn a_pixel_has_the_colour_and_the_share_that_it_was_drawn_with() {
        for color in [[199, 95, 14], [31, 111, 196], [255, 255, 255], [0, 0, 0]] {
            for share in [0.25, 0.5, 0.9, 1.0] {
                let Rgba([red, green, blue, alpha]) = pixel(on(color, share, 0), on(color, share, 255));
                let name = format!("{color:?} at {share}");
                assert_close(name, f32::from(alpha) / 255.0, share, Tolerance::of_digits(2));
                let off = [red, green, blue].into_iter().zip(color).map(|(a, b)| a.abs_diff(b)).max();
                assert!(off <= Some(3), "{color:?} at {share}: {red} {green} {blue}");
            }
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(pixel(Rgb([0; 3]), Rgb([255; 3])), Rgba([0; 4]));
    }
}
