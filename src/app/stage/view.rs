//! The stage's tab: the picture, what the pointer does to it, and what is written over it.

use bevy::math::{Vec2, Vec3};
use egui::{Color32, PointerButton, Pos2, Rect, Response, Sense, TextureId, Ui};

use crate::app::theme::{self, Palette};
use crate::app::view_state::{Pointed, ViewState};
use crate::view_model::path::{PathArrow, PathModel};
use crate::view_model::stage::{StageModel, TokenPoint};
use crate::view_model::walk::Step;

use super::camera::{CameraRig, View};
use super::labels::Priority;
use super::picking::{self, Candidate};
use super::points::{LEAST_RADIUS, TOKEN_RADIUS, WORD_RADIUS, is_small, scaled, shade, token_color};
use super::writing::{Canvas, paint_caption, paint_labels};

/// What can be hovered and picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Index into the model's words.
    Word(usize),
    /// Position in the sentence.
    Token(usize),
}

/// A point of the model where it is seen now.
pub struct SeenPoint<'a> {
    pub hit: Hit,
    pub text: String,
    pub word: &'a str,
    pub color: Color32,
    pub world: Vec3,
    pub at: Pos2,
    pub radius: f32,
    pub depth: f32,
    pub priority: Priority,
}

impl SeenPoint<'_> {
    /// The square inside the disc.
    pub fn disc(&self) -> Rect {
        Rect::from_center_size(self.at, egui::Vec2::splat(self.radius * std::f32::consts::SQRT_2))
    }
}

/// The picture with its labels. Returns its rectangle, in points.
pub fn picture_ui(
    ui: &mut Ui,
    model: Option<&StageModel>,
    path: Option<&PathModel>,
    rig: &mut CameraRig,
    view: &mut ViewState,
    texture: Option<TextureId>,
) -> Rect {
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    let painter = ui.painter_at(rect);
    let (Some(model), Some(texture)) = (model, texture) else {
        painter.rect_filled(rect, 0.0, palette.stage);
        return rect;
    };
    steer(ui, &response, rect, rig);
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, rect, whole, theme::UNTINTED);
    let projection = rig.view(to_glam(rect.size()));
    let points = seen_points(model, &projection, rect, view, palette);
    let hovered = response.hover_pos().filter(|_| !response.dragged()).and_then(|pointer| pick(&points, pointer));
    act(&response, hovered, &points, rig, view);
    if let Some(point) = points.iter().find(|point| Some(point.hit) == hovered) {
        view.point_at(Pointed::Word(point.word.to_owned()));
    }
    // Lit by a panel: the word itself, not the tokens of it.
    let lit = points
        .iter()
        .find(|point| matches!(point.hit, Hit::Word(_)) && view.is_pointed(&Pointed::Word(point.word.to_owned())));
    let lit = hovered.or(lit.map(|point| point.hit));
    let canvas = Canvas { painter: &painter, rect, projection: &projection, palette };
    let written = paint_caption(&canvas, model, view.old_ghosts);
    paint_labels(&canvas, model, &points, lit, view.query, &written);
    if let Some(hit) = hovered {
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        response.on_hover_ui_at_pointer(|ui| tooltip_ui(ui, model, hit, view.time()));
    } else if let Some(pointer) = response.hover_pos()
        && let Some(arrow) = path.filter(|_| view.step() >= Step::Output).and_then(|path| {
            let seen = |at| {
                projection
                    .project(Vec3::from(scaled(model, at)))
                    .map(|seen| rect.min + egui::vec2(seen.at.x, seen.at.y))
            };
            arrow_at(path, pointer, seen)
        })
    {
        response.on_hover_ui_at_pointer(|ui| arrow_ui(ui, arrow));
    }
    rect
}

/// The arrow within reach of the pointer, the nearest.
fn arrow_at(path: &PathModel, pointer: Pos2, seen: impl Fn([f32; 3]) -> Option<Pos2>) -> Option<&PathArrow> {
    const REACH: f32 = 6.0;
    let distance = |arrow: &PathArrow| {
        let (from, to) = (seen(arrow.from)?, seen(arrow.to)?);
        let along = to - from;
        let share = ((pointer - from).dot(along) / along.length_sq().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        Some((from + along * share).distance(pointer))
    };
    let near = path.arrows.iter().filter_map(|arrow| Some((arrow, distance(arrow)?)));
    near.filter(|(_, distance)| *distance <= REACH).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(arrow, _)| arrow)
}

fn arrow_ui(ui: &mut Ui, arrow: &PathArrow) {
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    ui.strong(&arrow.label);
    if let Some(weight) = arrow.weight {
        ui.monospace(format!("weight α  {weight:.4}"));
    }
    ui.monospace(format!("length    {:.4}", arrow.length));
    ui.weak("What it adds to the word, in the true space");
}

fn to_glam(size: egui::Vec2) -> Vec2 {
    Vec2::new(size.x, size.y)
}

/// Orbit, pan and zoom, from the picture's own response: the wheel over another panel is not for the stage.
fn steer(ui: &Ui, response: &Response, rect: Rect, rig: &mut CameraRig) {
    let drag = to_glam(response.drag_delta());
    if drag != Vec2::ZERO {
        if response.dragged_by(PointerButton::Primary) {
            rig.orbit(drag);
        } else {
            rig.pan(drag, to_glam(rect.size()));
        }
    }
    let Some(pointer) = response.hover_pos() else { return };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    // A pinch by a factor is a scroll by its logarithm.
    const PINCH: f32 = 300.0;
    let amount = if pinch == 1.0 { scroll } else { pinch.ln() * PINCH };
    if amount != 0.0 {
        let offset = (pointer - rect.center()) / (rect.size() / 2.0);
        rig.zoom(amount, Vec2::new(offset.x, -offset.y), rect.aspect_ratio());
    }
}

fn seen_points<'a>(
    model: &'a StageModel,
    projection: &View,
    rect: Rect,
    view: &ViewState,
    palette: &Palette,
) -> Vec<SeenPoint<'a>> {
    let see = |world: Vec3, size: f32| {
        projection.project(world).map(|seen| {
            let radius = projection.radius_at(size, seen.depth).max(LEAST_RADIUS);
            (rect.min + egui::vec2(seen.at.x, seen.at.y), radius, seen.depth)
        })
    };
    let few = is_small(model);
    let words = model.words.iter().enumerate().filter(|(_, word)| !word.in_sentence).filter_map(|(index, word)| {
        let priority = if word.group.is_some() { Priority::GroupWord } else { Priority::Word };
        let world = Vec3::from(scaled(model, word.at));
        let (at, radius, depth) = see(world, WORD_RADIUS)?;
        let color = shade(palette, palette.word_of(word.group), &word.text, &view.lit);
        Some(SeenPoint {
            hit: Hit::Word(index),
            text: word.text.clone(),
            word: &word.text,
            color,
            world,
            at,
            radius,
            depth,
            priority,
        })
    });
    let tokens = model.tokens.iter().filter_map(|token| {
        let world = Vec3::from(scaled(model, token.at(view.time())));
        let (at, radius, depth) = see(world, TOKEN_RADIUS)?;
        let color = shade(palette, token_color(model, &token.text, token.group, palette), &token.text, &view.lit);
        let hit = Hit::Token(token.position);
        Some(SeenPoint {
            hit,
            text: token.label(),
            word: &token.text,
            color,
            world,
            at,
            radius,
            depth,
            priority: Priority::Token,
        })
    });
    let mut points: Vec<SeenPoint> = words.chain(tokens).collect();
    // Before the first step all tokens of one word lie on one point: its label says the word once.
    if view.time() == 0.0 {
        let mut seen: Vec<&str> = Vec::new();
        for point in points.iter_mut().filter(|point| matches!(point.hit, Hit::Token(_))) {
            if seen.contains(&point.word) {
                point.text.clear()
            } else {
                point.text = point.word.to_owned()
            }
            seen.push(point.word);
        }
    }
    points.iter_mut().filter(|point| point.priority == Priority::Word && !few).for_each(|point| point.text.clear());
    points
}

fn pick(points: &[SeenPoint], pointer: Pos2) -> Option<Hit> {
    let glam = |pos: Pos2| Vec2::new(pos.x, pos.y);
    let candidates = points.iter().map(|point| Candidate {
        what: point.hit,
        at: glam(point.at),
        radius: point.radius,
        depth: point.depth,
    });
    picking::nearest(glam(pointer), candidates)
}

/// A click selects a token, a click beside every point clears; a double click focuses a point or goes home.
fn act(response: &Response, hovered: Option<Hit>, points: &[SeenPoint], rig: &mut CameraRig, view: &mut ViewState) {
    if response.double_clicked() {
        match points.iter().find(|point| Some(point.hit) == hovered) {
            Some(point) => rig.focus(point.world),
            None => rig.home(),
        }
    } else if response.clicked() {
        match hovered {
            Some(Hit::Token(position)) => view.query = Some(position),
            Some(Hit::Word(_)) => {}
            None => view.query = None,
        }
    }
}

fn tooltip_ui(ui: &mut Ui, model: &StageModel, hit: Hit, time: f32) {
    // Beside an edge of the window the text would break after every word.
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    let place = |at: [f32; 3]| {
        let along: Vec<String> = at.iter().take(model.axes.len()).map(|x| format!("{x:.3}")).collect();
        format!("({})", along.join(", "))
    };
    let group = |group: Option<usize>| group.and_then(|group| model.groups.get(group));
    match hit {
        Hit::Word(index) => {
            let word = &model.words[index];
            ui.strong(&word.text);
            if let Some(group) = group(word.group) {
                ui.weak(format!("group {group}"));
            }
            ui.monospace(place(word.at));
        }
        Hit::Token(position) => {
            let Some(token) = model.tokens.get(position) else { return };
            ui.strong(format!("{}, token {}", token.label(), position + 1));
            if let Some(group) = group(token.group) {
                ui.weak(format!("group {group}"));
            }
            ui.monospace(format!("now        {}", place(token.at(time))));
            ui.monospace(format!("static     {}", place(token.start)));
            ui.monospace(format!("contextual {}", place(token.end)));
            nearest_ui(ui, token);
            ui.weak("Click: light its row of attention. Double-click: look at it.");
        }
    }
}

fn nearest_ui(ui: &mut Ui, token: &TokenPoint) {
    for (space, nearest) in [("static", &token.static_nearest), ("contextual", &token.contextual_nearest)] {
        if let Some((word, cosine)) = nearest {
            ui.label(format!("nearest, {space}: {word} (cosine {cosine:.3})"));
        }
    }
}
