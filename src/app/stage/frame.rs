//! The frame of the stage, built from model, time and camera, and the size of the image that the pass draws into.

use std::mem::discriminant;
use std::sync::Arc;

use attune_core::kernel::snapshot::space::Basis;
use attune_ui::link::LatestModels;
use attune_ui::theme::{Palette, motion};
use attune_ui::ui_state::ViewState;
use attune_ui::ui_state::search::Emphasis;
use attune_view::explain::path::PathModel;
use attune_view::explain::walk::Step;
use attune_view::view_model::saved_view::SavedCamera;
use attune_view::view_model::stage::StageModel;
use bevy::asset::RenderAssetUsages;
use bevy::image::ImageSampler;
use bevy::math::{UVec2, Vec4};
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureUsages};
use bevy_egui::{EguiTextureHandle, EguiUserTextures};
use egui::{Rgba, TextureId};

use super::canvas::StageControls;
use super::geometry::{self, Floor, LEAST_RADIUS, TOKEN_RADIUS};
use super::pass::{COLOR_FORMAT, StageFrame, StageUniform};
use super::second;
use super::sentence::StripState;
use super::state::{StageState, seconds_of_motion};

/// Share of its colour that the farthest point loses to the fog.
const FOG: f32 = 0.5;
/// Depth behind the target at which the fog begins, in extents of the scene; a negative one is in front of the target.
const FOG_FROM: f32 = -0.2;
/// Depth behind the target at which the fog ends, in extents of the scene.
const FOG_TO: f32 = 1.7;
const LARGEST_PICTURE: u32 = 8192;

/// The stage's tab: its camera, the image that the pass draws into, and the inputs of the frame that was built last.
#[derive(Resource, Default)]
pub struct StageTab {
    pub controls: StageControls,
    /// The sentence over the picture.
    pub strip: StripState,
    pub texture: Option<TextureId>,
    pub pixels_per_point: f32,
    pub dark: bool,
    /// The size requested last, in pixels.
    wanted: UVec2,
    /// The seconds since the requested size last changed.
    settled: f32,
    built_from: Option<BuiltFrom>,
    /// The ground below the points.
    floor: Floor,
    /// The model whose points the camera was fitted to.
    pub fitted: Option<Arc<StageModel>>,
    /// The basis of the axes of the model that the camera was fitted to.
    basis: Option<Basis>,
    /// Value of the counter of shown stage cells when the camera last came home for one.
    shows: usize,
    /// A saved camera, which is restored once there are points.
    pub awaited: Option<SavedCamera>,
    /// Whether the lesson has reached the end of its training before.
    pub has_opened: bool,
}

/// Inputs that the instance buffers were made from.
struct BuiltFrom {
    model: Arc<StageModel>,
    emphasis: Arc<Emphasis>,
    old_ghosts: bool,
    dark: bool,
    /// The place of the walk.
    walk: f32,
    /// The arrows of the walk.
    path: Option<Arc<PathModel>>,
    /// The compared pair, by its two positions, and the time of the points; `None` if no pair is compared.
    compared: Option<(usize, usize, f32)>,
}

impl StageTab {
    /// Returns whether the tab's size changed a moment ago: the image is resized only once the divider stands still.
    pub fn is_settling(&self) -> bool {
        self.settled < motion::RESIZE_SETTLES
    }

    /// Forgets the scene and the camera, but keeps the image that the pass draws into.
    pub fn begin_anew(&mut self) {
        let Self { texture, pixels_per_point, dark, wanted, settled, .. } = *self;
        let controls = self.controls.begun_anew();
        *self = Self { controls, texture, pixels_per_point, dark, wanted, settled, ..Self::default() };
    }
}

/// Advances the camera's transition and the resize clock. This runs outside the egui pass, which may run twice in a
/// frame.
pub fn advance(
    time: Res<Time>,
    models: Res<LatestModels>,
    stage: Res<StageState>,
    view: Res<ViewState>,
    mut tab: ResMut<StageTab>,
) {
    if tab.controls.size != Vec2::ZERO {
        let free = tab.controls.free();
        tab.controls.rig.resize(free);
    }
    if let Some(model) =
        stage.points_of_camera().filter(|model| !tab.fitted.as_ref().is_some_and(|known| Arc::ptr_eq(known, model)))
    {
        fit(&mut tab, model, &models);
    }
    take_camera(&mut tab, view.highlight.shows);
    let is_opening = models
        .snapshot()
        .and_then(|snapshot| snapshot.model.as_ref())
        .is_none_or(|model| model.training.stopped.is_none());
    // The camera settles only after the first training, so that further training is watched from a fixed view.
    if !is_opening && !std::mem::replace(&mut tab.has_opened, true) {
        tab.controls.rig.settle();
    }
    tab.controls.rig.advance(seconds_of_motion(&time, &view));
    tab.settled += time.delta_secs();
}

/// Restores a saved camera. When a stage cell is shown, the camera moves to its home pose instead.
fn take_camera(tab: &mut StageTab, shows: usize) {
    if tab.fitted.is_some()
        && let Some(camera) = tab.awaited.take()
    {
        tab.controls.rig.restore(&camera);
    }
    // A stage cell always shows its scene from the pose in which the lesson opens.
    if std::mem::replace(&mut tab.shows, shows) != shows
        && let Some(model) = tab.fitted.clone()
    {
        tab.controls.rig.show(model.opens_flat());
    }
}

/// Fits the camera to other points. The camera takes its opening pose for the first ones, goes home if the axes or the
/// kind of points change, and otherwise moves only if the scene outgrows its view or has come to rest.
fn fit(tab: &mut StageTab, model: &Arc<StageModel>, models: &LatestModels) {
    let before = tab.fitted.replace(model.clone());
    let basis = models.snapshot().and_then(|snapshot| snapshot.space.as_ref()).map(|space| space.basis.clone());
    let has_other_axes = tab.basis != basis;
    tab.basis = basis;
    let rig = &mut tab.controls.rig;
    rig.fit(geometry::extent(model));
    match before {
        None => {
            rig.open(model.opens_flat());
            rig.sway();
        }
        // New axes give the points new places.
        Some(_) if has_other_axes => rig.home(),
        // Other kinds of points replace all points. After another sentence or an undone intervention, no points move by
        // themselves, so the camera may settle.
        Some(before) if discriminant(&before.second_kind) != discriminant(&model.second_kind) => rig.home(),
        Some(before) if model.rests_after(&before) => rig.settle(),
        Some(_) => {}
    }
}

/// Gives the picture the size of its tab.
pub fn resize(
    mut tab: ResMut<StageTab>,
    mut frame: ResMut<StageFrame>,
    mut images: ResMut<Assets<Image>>,
    mut textures: ResMut<EguiUserTextures>,
) {
    let wanted =
        (tab.controls.size * tab.pixels_per_point).round().as_uvec2().clamp(UVec2::ONE, UVec2::splat(LARGEST_PICTURE));
    if wanted != tab.wanted {
        tab.wanted = wanted;
        tab.settled = 0.0;
    }
    let current = frame.target.as_ref().and_then(|target| images.get(target)).map(Image::size);
    if current == Some(wanted) || (current.is_some() && tab.is_settling()) || tab.controls.size == Vec2::ZERO {
        return;
    }
    let picture = picture_of(wanted);
    if let Some(target) = &frame.target {
        // The handle exists, so the asset can be replaced.
        let _ = images.insert(target, picture);
    } else {
        let target = images.add(picture);
        tab.texture = Some(textures.add_image(EguiTextureHandle::Strong(target.clone())));
        frame.target = Some(target);
    }
}

fn picture_of(size: UVec2) -> Image {
    let mut image = Image::new_uninit(
        Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
        TextureDimension::D2,
        COLOR_FORMAT,
        RenderAssetUsages::RENDER_WORLD | RenderAssetUsages::MAIN_WORLD,
    );
    image.texture_descriptor.usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    // Its pixels are those of the tab, so none is mixed with its neighbours, which takes a renderer without a card
    // long.
    image.sampler = ImageSampler::nearest();
    image
}

/// Hands the next frame to the pass; only the parts that have changed are built again.
pub fn build(stage: Res<StageState>, view: Res<ViewState>, mut tab: ResMut<StageTab>, mut frame: ResMut<StageFrame>) {
    let Some(model) = &stage.points else { return };
    let palette = Palette::of(tab.dark);
    let built = tab.built_from.as_ref();
    let emphasis = &stage.emphasis;
    let same = built.is_some_and(|built| {
        Arc::ptr_eq(&built.model, model)
            && Arc::ptr_eq(&built.emphasis, emphasis)
            && (built.old_ghosts, built.dark) == (view.highlight.old_ghosts, tab.dark)
    });
    let same_walk = built.is_some_and(|built| {
        built.path.as_ref().map(Arc::as_ptr) == stage.path.as_ref().map(Arc::as_ptr) && built.walk == view.walk.at()
    });
    if !same {
        let all = geometry::instances(model, emphasis, view.highlight.old_ghosts, palette)
            .into_iter()
            .chain(second::points(model, palette));
        frame.points = Arc::new(geometry::bytes(all));
        frame.under = geometry::count_under(model, emphasis) as u32;
    }
    let floor = if same { tab.floor } else { Floor::of(model) };
    let pair = second::chosen(model, &view.selection, &view.highlight);
    // The line between the two ends of a pair changes with time.
    let compared = pair.map(|pair| (pair.first, pair.second, view.walk.layer_time()));
    let is_same_pair = built.is_some_and(|built| built.compared == compared);
    if !same || !same_walk || !is_same_pair {
        // Only the few lines are written again, not the points, of which there may be many. The arrows are either those
        // of the walk or those of all moves.
        let walked = stage.walked(&view.walk);
        let is_walked = walked.is_some() && Step::Output.share(view.walk.at()) > 0.0;
        let mut lines = geometry::of_space(model, floor, palette);
        lines.extend(geometry::of_words(model, emphasis, palette));
        if !is_walked {
            lines.extend(geometry::of_moves(model, emphasis, palette));
        }
        lines.extend(geometry::of_goals(model, emphasis, view.walk.layer_time(), palette));
        lines.extend(geometry::of_walk(model, walked, emphasis, view.walk.at(), palette));
        lines.extend(second::lines(model, pair, view.walk.layer_time(), palette));
        frame.lines = Arc::new(geometry::bytes(lines));
        let (walk, path) = (view.walk.at(), stage.path.clone());
        let (model, emphasis, old_ghosts) = (model.clone(), emphasis.clone(), view.highlight.old_ghosts);
        tab.built_from = Some(BuiltFrom { model, emphasis, old_ghosts, dark: tab.dark, walk, path, compared });
    }
    tab.floor = floor;
    let uniform = uniform(&tab, view.walk.layer_time(), palette);
    if frame.uniform != uniform {
        frame.uniform = uniform;
    }
}

fn uniform(tab: &StageTab, time: f32, palette: &Palette) -> StageUniform {
    let (view, pixels_per_point) = (tab.controls.view(), tab.pixels_per_point);
    let [red, green, blue, _] = Rgba::from(palette.stage).to_array();
    let pixels = view.size * pixels_per_point;
    let fog = |share: f32| view.distance + share * view.extent;
    StageUniform {
        clip_from_world: view.clip_from_world,
        background: Vec4::new(red, green, blue, tab.floor.height),
        viewport: Vec4::new(pixels.x, pixels.y, view.distance, pixels_per_point),
        range: Vec4::new(time, view.near, fog(FOG_FROM), fog(FOG_TO)),
        sizes: Vec4::new(LEAST_RADIUS, TOKEN_RADIUS, FOG, view.perspective),
        hues: palette.groups.map(|hue| Vec4::from_array(Rgba::from(hue).to_array())),
    }
}
