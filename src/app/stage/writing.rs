//! Text over the picture: labels, the axes' names, the caption and the legend.

use std::collections::HashMap;
use std::sync::Arc;

use bevy::math::Vec3;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Painter, Pos2, Rect, Shape, Stroke, StrokeKind};

use crate::app::theme::{self, MARK_CONTRAST, Palette, TEXT_CONTRAST, size};
use crate::view_model::search::{Hit, Visibility};
use crate::view_model::shares::{captions, lines};
use crate::view_model::stage::{AxisLabel, StageModel};

use super::arrows::axis_end;
use super::labels::{self, LabelRequest, Obstacle, Priority, Slot};
use super::points::{DASHES, DOTS};
use super::projected::{ProjectedScene, SceneRef, SeenPoint};

/// The surface that names are written on.
pub struct Canvas<'a> {
    pub painter: &'a Painter,
    pub projected: ProjectedScene<'a>,
}

/// A text that waits for a place.
struct Label {
    request: LabelRequest,
    galley: Arc<Galley>,
    color: Color32,
    /// Bars of the walk's step under it, and their hue.
    bars: Vec<f32>,
    /// Its word is what the picture is about; whether the pointer is on it makes no difference.
    is_first: bool,
}

/// Owner of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LabelOwner {
    Point(Hit),
    /// The ring of a word's static place, by the position of its first token.
    Ring(usize),
    Axis(usize),
}

/// Names, each with its slot beside its point.
type Names = HashMap<LabelOwner, (Slot, Rect)>;

/// The names and labels of the last frame, with their places.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    names: Names,
    /// All that is written.
    all: Vec<Rect>,
}

impl Writing {
    /// The name of a point.
    pub fn name(&self, of: Hit) -> Option<Rect> {
        self.names.get(&LabelOwner::Point(of)).map(|(_, rect)| *rect)
    }

    /// All that is written.
    pub fn rects(&self) -> &[Rect] {
        &self.all
    }
}

/// A bar of the walk's step under a word, its length from −1 to 1; `at` is its lower left corner.
pub(super) fn paint_bar(painter: &Painter, at: Pos2, length: f32, hue: Color32, palette: &Palette) {
    const HEIGHT: f32 = size::BAR_BESIDE - size::HAIRLINE;
    let bar = |length: f32| Rect::from_min_size(at - egui::vec2(0.0, HEIGHT), egui::vec2(length, HEIGHT));
    painter.rect_filled(bar(size::BAR_LENGTH).expand(size::HAIRLINE), 0.0, palette.stage);
    painter.rect_stroke(bar(size::BAR_LENGTH), 0.0, Stroke::new(size::HAIRLINE, palette.axis), StrokeKind::Inside);
    let fill = if length < 0.0 { palette.negative } else { hue };
    painter.rect_filled(bar(size::BAR_LENGTH * length.abs().min(1.0)), 0.0, fill);
}

/// `walked` is how far the walk is; `written` is what stands there already, and `writing` what stood in the last frame.
pub fn paint_labels(
    canvas: &Canvas,
    hovered: Option<Hit>,
    query: Option<usize>,
    walked: f32,
    mut written: Vec<Rect>,
    writing: &mut Writing,
) {
    let Canvas { painter, ref projected } = *canvas;
    paint_axes(canvas, &mut written);
    let (mut named, others) = projected.labelled();
    // What is under the pointer has a name, whatever it is.
    let is_there = |hit| named.iter().any(|point| point.hit == hit);
    named.extend(hovered.filter(|hit| !is_there(*hit)).and_then(|hit| projected.see(hit)));
    let mut waiting: Vec<(LabelOwner, Label)> = Vec::new();
    for point in &named {
        let is_hovered = hovered == Some(point.hit);
        let is_selected = query.is_some_and(|query| point.hit == Hit::Token(query));
        if is_hovered || is_selected {
            let color = if is_selected { projected.palette.accent } else { projected.palette.ink };
            painter.circle_stroke(point.at, point.radius + size::RING_GAP, Stroke::new(size::RING, color));
        }
        let priority = match (is_hovered, is_selected) {
            (true, _) => Priority::Hovered,
            (_, true) => Priority::Selected,
            _ => point.priority,
        };
        let owner = LabelOwner::Point(point.hit);
        waiting.extend(point_label(canvas, point, priority, walked).map(|label| (owner, label)));
    }
    let ring = |(ring, word): &(SeenPoint, &str)| {
        let Hit::Token(position) = ring.hit else { return None };
        Some((LabelOwner::Ring(position), ring_label(canvas, ring, word)))
    };
    waiting.extend(projected.left_places().iter().filter_map(ring));
    let axes = projected.scene.model.axes.iter().enumerate();
    waiting.extend(axes.filter_map(|(axis, label)| Some((LabelOwner::Axis(axis), axis_label(canvas, axis, label)?))));
    let obstacle = |point: &SeenPoint| Obstacle { rect: point.disc(), is_token: matches!(point.hit, Hit::Token(_)) };
    let lines = projected.moves().into_iter().map(|rect| Obstacle { rect, is_token: false });
    let discs: Vec<Obstacle> = named.iter().chain(&others).map(obstacle).chain(lines).collect();
    // The crowds' names keep off those of the words that the picture is about, and the others' off theirs.
    let (first, mut rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, label)| label.is_first);
    let before = std::mem::take(&mut writing.names);
    paint_names(canvas, first, &discs, &before, &mut written, &mut writing.names);
    let small = paint_crowds(canvas, &mut written);
    // Of a crowd that is seen from far its own name is enough.
    let is_small = |owner: &LabelOwner| matches!(owner, LabelOwner::Point(hit) if small.contains(hit));
    rest.retain(|(owner, label)| label.request.priority != Priority::GroupWord || !is_small(owner));
    paint_names(canvas, rest, &discs, &before, &mut written, &mut writing.names);
    writing.all = written;
}

/// Finds places for names and paints them; those that stood `before` keep theirs.
fn paint_names(
    canvas: &Canvas,
    waiting: Vec<(LabelOwner, Label)>,
    discs: &[Obstacle],
    before: &Names,
    written: &mut Vec<Rect>,
    names: &mut Names,
) {
    let Canvas { painter, ref projected } = *canvas;
    let requests: Vec<LabelRequest> = waiting.iter().map(|(_, label)| label.request).collect();
    let before: Vec<Option<Slot>> = waiting.iter().map(|(owner, _)| before.get(owner).map(|(slot, _)| *slot)).collect();
    let placed = labels::place_again(&requests, &before, discs, written, projected.rect);
    for (place, (owner, label)) in placed.into_iter().zip(waiting) {
        let Some((place, slot)) = place else { continue };
        names.insert(owner, (slot, place));
        written.push(place);
        paint_haloed(painter, place.min, label.galley, label.color, projected.palette.stage);
        let Some((walk, _)) = projected.scene.walk else { continue };
        let hue = projected.palette.head(walk.focus.head);
        for (nth, bar) in label.bars.iter().enumerate() {
            let below = egui::vec2(0.0, nth as f32 * size::BAR_BESIDE);
            paint_bar(painter, place.left_bottom() - below, *bar, hue, projected.palette);
        }
    }
}

/// Names the crowds, in large quiet letters above each. Returns the words of those that are too small for names of
/// their own.
fn paint_crowds(canvas: &Canvas, written: &mut Vec<Rect>) -> Vec<Hit> {
    /// How far the middle half of a crowd reaches, in points, from where on its words have names.
    const SMALL: f32 = 20.0;
    /// Height of a crowd above its middle, in deviations.
    const ABOVE: f32 = 1.7;
    const TOWARDS_GROUND: f32 = 0.2;
    /// Reach of the widest crowd, in sides of the picture.
    const WIDE: f32 = 0.24;
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let SceneRef { model, emphasis, .. } = projected.scene;
    let mut small = Vec::new();
    let tokens: Vec<Rect> = (0..model.tokens.len())
        .filter(|position| emphasis.token(*position) == Visibility::Lit)
        .filter_map(|position| Some(projected.see(Hit::Token(position))?.disc().expand(size::GAP)))
        .collect();
    if emphasis.is_searched() || emphasis.is_isolated() {
        return small;
    }
    for (group, words) in &projected.point_index.crowds {
        let seen: Vec<Pos2> = words.iter().filter_map(|hit| Some(projected.see(*hit)?.at)).collect();
        if seen.len() < words.len() {
            continue;
        }
        let count = seen.len() as f32;
        let middle = seen.iter().fold(egui::Vec2::ZERO, |sum, at| sum + at.to_vec2()) / count;
        let square = seen.iter().fold(egui::Vec2::ZERO, |sum, at| {
            let away = at.to_vec2() - middle;
            sum + away * away
        });
        let spread = egui::vec2((square.x / count).sqrt(), (square.y / count).sqrt());
        if spread.length() < SMALL {
            small.extend(words.iter().copied());
        }
        // Words all over the picture are no crowd.
        if !rect.contains(middle.to_pos2()) || spread.length() > WIDE * rect.size().min_elem() {
            continue;
        }
        let color = palette.group(*group).lerp_to_gamma(palette.stage, TOWARDS_GROUND);
        let color = palette.legible(color, MARK_CONTRAST);
        let galley = painter.layout_no_wrap(model.groups[*group].clone(), theme::strong(size::CROWD), color);
        let (half, above) = (galley.size() / 2.0, spread.y * ABOVE + size::GAP_WIDE);
        let beside = spread.x * ABOVE + size::GAP_WIDE;
        let sides = [
            egui::vec2(0.0, -above - half.y),
            egui::vec2(0.0, above + half.y),
            egui::vec2(beside + half.x, 0.0),
            egui::vec2(-beside - half.x, 0.0),
        ];
        let inside = rect.shrink(size::GAP);
        let places = sides
            .map(|side| labels::moved_inside(Rect::from_center_size((middle + side).to_pos2(), galley.size()), inside));
        let is_free = |place: &&Rect| !written.iter().any(|other| other.intersects(**place));
        let is_clear = |place: &&Rect| is_free(place) && !tokens.iter().any(|token| token.intersects(**place));
        // Rather over a word of the sentence than over another text, and rather not at all than that.
        let place = places.iter().find(is_clear).or_else(|| places.iter().find(is_free)).copied();
        let Some(place) = place.filter(|place| rect.contains_rect(*place)) else { continue };
        written.push(place);
        paint_haloed(painter, place.min, galley, color, palette.stage);
    }
    small
}

/// Names both ends of each axis that was chosen, with the way to each.
fn paint_axes(canvas: &Canvas, written: &mut Vec<Rect>) {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let axes = projected.scene.model.axes.iter().enumerate();
    for (axis, (from, to)) in axes.filter_map(|(axis, label)| Some((axis, label.ends.as_ref()?))) {
        let end = Vec3::from(axis_end(axis));
        let seen = |at: Vec3| {
            let seen = projected.projection.project(at)?;
            Some(rect.min + egui::vec2(seen.at.x, seen.at.y))
        };
        let (Some(first), Some(last)) = (seen(-end), seen(end)) else { continue };
        let way = last - first;
        if way.length() < SHORT {
            continue;
        }
        for (at, way, name) in [(first, -way, from), (last, way, to)] {
            let text = match way.x.abs() > way.y.abs() {
                true if way.x < 0.0 => format!("← {name}"),
                true => format!("{name} →"),
                false if way.y < 0.0 => format!("↑ {name}"),
                false => format!("↓ {name}"),
            };
            let galley = painter.layout_no_wrap(text, theme::strong(size::LABEL), palette.ink_soft);
            // Beyond the edge of the picture it stands at the edge; beside the line, not on it.
            let beside = if way.x.abs() > way.y.abs() {
                egui::vec2(0.0, galley.size().y)
            } else {
                egui::vec2(galley.size().x, 0.0)
            };
            let place = Rect::from_center_size(at + beside * BESIDE, galley.size());
            let place = labels::moved_inside(place, rect.shrink(size::GAP));
            // Over the caption, not on it.
            let below = written.iter().find(|other| other.intersects(place));
            let place = below.map_or(place, |text| place.translate(egui::vec2(0.0, text.top() - place.bottom())));
            if !rect.contains_rect(place) || written.iter().any(|other| other.intersects(place)) {
                continue;
            }
            written.push(place);
            paint_haloed(painter, place.min, galley, palette.ink_soft, palette.stage);
        }
    }
}

/// Distance of an end's name from its axis, in sizes of the name.
const BESIDE: f32 = 0.75;
/// Length in points below which an axis, seen from its end, gets no name.
const SHORT: f32 = 24.0;

fn point_label(canvas: &Canvas, point: &SeenPoint, priority: Priority, walked: f32) -> Option<Label> {
    let projected = &canvas.projected;
    let plain = || (priority == Priority::Hovered).then(|| projected.word(point.hit).to_owned());
    let text = projected.label(point.hit).or_else(plain)?;
    let strong = priority <= Priority::Token;
    let font = if strong { theme::strong(size::LABEL_STRONG) } else { theme::plain(size::LABEL) };
    let color = label_color(projected.color(point.hit), strong, projected.palette);
    let mut job = LayoutJob::simple_singleline(text, font, color);
    if let (Some(note), Some((walk, _))) = (projected.step_note(point.hit), projected.scene.walk) {
        let ink = projected.palette.head(walk.focus.head).lerp_to_gamma(projected.palette.ink, TOWARDS_INK);
        job.append(&note, size::GAP, TextFormat::simple(theme::mono(size::LABEL), ink));
    }
    let galley = canvas.painter.layout_job(job);
    let bars = projected.step_bars(point.hit, walked);
    let mut room = galley.size();
    if !bars.is_empty() {
        room = egui::vec2(room.x.max(size::BAR_LENGTH), room.y + bars.len() as f32 * size::BAR_BESIDE);
    }
    let request = LabelRequest { priority, point: point.at, radius: point.radius, size: room, depth: point.depth };
    Some(Label { request, galley, color, bars, is_first: point.priority <= Priority::Lit })
}

/// The word whose static place a ring marks, where the word itself has gone elsewhere.
fn ring_label(canvas: &Canvas, ring: &SeenPoint, word: &str) -> Label {
    let projected = &canvas.projected;
    let color = label_color(projected.color(ring.hit), false, projected.palette);
    let galley = canvas.painter.layout_no_wrap(word.to_owned(), theme::plain(size::LABEL), color);
    let SeenPoint { priority, at, radius, depth, .. } = *ring;
    Label {
        request: LabelRequest { priority, point: at, radius, size: galley.size(), depth },
        galley,
        color,
        bars: Vec::new(),
        is_first: false,
    }
}

/// The name of an axis that nobody chose, at its positive end; it gives way to every word.
fn axis_label(canvas: &Canvas, axis: usize, label: &AxisLabel) -> Option<Label> {
    if label.ends.is_some() {
        return None;
    }
    let projected = &canvas.projected;
    let seen = projected.projection.project(Vec3::from(axis_end(axis)))?;
    let length = projected.projection.project(Vec3::ZERO).map_or(f32::INFINITY, |origin| origin.at.distance(seen.at));
    let point = projected.rect.min + egui::vec2(seen.at.x, seen.at.y);
    let color = projected.palette.ink_faint;
    let galley = canvas.painter.layout_no_wrap(label.name.clone(), theme::mono(size::LABEL_AXIS), color);
    let request = LabelRequest { priority: Priority::Axis, point, radius: 0.0, size: galley.size(), depth: seen.depth };
    (length > SHORT && projected.rect.contains(point)).then_some(Label {
        request,
        galley,
        color,
        bars: Vec::new(),
        is_first: false,
    })
}

/// How much of the ink a colour gets that is to be read.
pub(super) const TOWARDS_INK: f32 = 0.35;

/// Color of a name: its point's, as far as it can be read.
fn label_color(color: Color32, strong: bool, palette: &Palette) -> Color32 {
    let color = if strong { color.lerp_to_gamma(palette.ink, TOWARDS_INK) } else { color };
    palette.legible(color, TEXT_CONTRAST)
}

/// Text on a ground of its own, so that dots and lines do not strike through its letters.
pub fn paint_haloed(painter: &Painter, at: Pos2, galley: Arc<Galley>, color: Color32, halo: Color32) {
    const OPACITY: f32 = 0.78;
    let ground = Rect::from_min_size(at, galley.size()).expand2(egui::vec2(size::HALO, -size::HALO));
    painter.rect_filled(ground, f32::from(size::RADIUS_SMALL), halo.gamma_multiply(OPACITY));
    painter.galley(at, galley, color);
}

/// A stage that is smaller has no room for words about it.
const CAPTION_MIN: egui::Vec2 = egui::vec2(180.0, 120.0);

/// Paints how far the picture can be trusted, and the groups' colours. Returns the rectangles of the text, that of the
/// caution first.
pub fn paint_caption(canvas: &Canvas, old_ghosts: bool) -> Vec<Rect> {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let model = projected.scene.model;
    let inner = rect.shrink(size::GAP_WIDE - size::GAP_TIGHT);
    let mut bottom = inner.left_bottom();
    let mut written = Vec::new();
    let set = |text: String, color: Color32| painter.layout(text, theme::plain(size::SMALL), color, inner.width());
    let mut line = |galley: Arc<Galley>, color: Color32| {
        bottom.y -= galley.size().y;
        written.push(Rect::from_min_size(bottom, galley.size()));
        paint_haloed(painter, bottom, galley, color, palette.stage);
        bottom.y -= size::GAP_TIGHT / 2.0;
    };
    if rect.width() < CAPTION_MIN.x || rect.height() < CAPTION_MIN.y {
        return written;
    }
    let ink = palette.ink_faint;
    let mut texts = cautions(projected).into_iter().map(|text| set(text, ink)).collect::<Vec<_>>();
    // A second line would lie over points.
    let fits = texts.iter().position(|text| text.rows.len() == 1).unwrap_or(texts.len() - 1);
    line(texts.swap_remove(fits), ink);
    match projected.point_index.lost {
        0 => {}
        1 => line(set("1 point is not shown: a coordinate of it is no number".to_owned(), palette.warn), palette.warn),
        lost => {
            let words = format!("{lost} points are not shown: a coordinate of each is no number");
            line(set(words, palette.warn), palette.warn);
        }
    }
    if let Some(note) = &model.note {
        line(set(note.clone(), palette.ink_soft), palette.ink_soft);
    }
    paint_legend(painter, inner, model, old_ghosts, palette, &mut written);
    written
}

/// Words on how far distances in the picture can be trusted, the longest first.
fn cautions(projected: &ProjectedScene) -> Vec<String> {
    let ProjectedScene { scene: SceneRef { model, .. }, projection, time, .. } = *projected;
    if projection.perspective > 0.0 && model.is_whole {
        return vec!["All there is: the vectors have no more dimensions than the stage.".to_owned()];
    }
    let flat_along = projection.flat_along();
    captions(&model.shares.shown(time, flat_along), projection.perspective == 0.0)
}

/// The same at more length, for the pointer.
pub fn caption_about(model: &StageModel) -> String {
    let names: Vec<&str> = model.axes.iter().map(|axis| axis.name.as_str()).collect();
    let mut all = lines(&model.shares, &names);
    all.push("Shares of the variance; of moves, shares of their squared lengths.".to_owned());
    all.push("Distances here may mislead; every number is of the whole vectors.".to_owned());
    all.push(model.about.clone());
    all.join("\n")
}

/// Shape of a mark in the legend.
enum Mark {
    Disc(Color32),
    Ring(Color32),
    /// A ring in so many strokes.
    Broken(Color32, usize),
}

fn broken_ring(center: Pos2, radius: f32, strokes: usize, ink: Color32) -> Shape {
    /// Straight pieces of a stroke.
    const CORNERS: usize = 4;
    const DRAWN: f32 = 0.6;
    let arc = std::f32::consts::TAU / strokes as f32;
    let stroke = |index: usize| {
        let angle = |corner: usize| arc * (index as f32 + DRAWN * corner as f32 / CORNERS as f32);
        let points = (0..=CORNERS).map(|corner| center + radius * egui::Vec2::angled(angle(corner))).collect();
        Shape::line(points, Stroke::new(size::OUTLINE, ink))
    };
    Shape::Vec((0..strokes).map(stroke).collect())
}

fn paint_legend(
    painter: &Painter,
    rect: Rect,
    model: &StageModel,
    old_ghosts: bool,
    palette: &Palette,
    written: &mut Vec<Rect>,
) {
    let groups = model.groups.iter().enumerate().map(|(group, name)| (Mark::Disc(palette.group(group)), name.as_str()));
    let ink = palette.ink_soft;
    let ring = |shown: bool, mark, text| shown.then_some((mark, text));
    let turned = model.tokens.iter().any(|token| token.end != token.trained_end);
    let rings = [
        ring(!model.tokens.is_empty() || model.sense_word.is_some(), Mark::Ring(ink), "static place"),
        ring(turned, Mark::Broken(ink, DASHES), "as trained"),
        ring(old_ghosts && !model.ghosts.is_empty(), Mark::Broken(ink, DOTS), "before retraining"),
    ];
    let mut at = rect.left_top();
    for (mark, text) in groups.chain(rings.into_iter().flatten()) {
        let galley = painter.layout_no_wrap(text.to_owned(), theme::plain(size::LABEL), palette.ink_soft);
        let width = size::LEGEND + size::GAP_TIGHT + galley.size().x;
        if at.x + width > rect.right() {
            at = egui::pos2(rect.left(), at.y + galley.size().y + size::GAP_TIGHT);
        }
        let radius = size::LEGEND / 2.0;
        let center = egui::pos2(at.x + radius, at.y + galley.size().y / 2.0);
        match mark {
            Mark::Disc(fill) => painter.circle_filled(center, radius, fill),
            Mark::Ring(ink) => painter.circle_stroke(center, radius, Stroke::new(size::OUTLINE, ink)),
            Mark::Broken(ink, strokes) => painter.add(broken_ring(center, radius, strokes, ink)),
        };
        written.push(Rect::from_min_size(at, egui::vec2(width, galley.size().y)));
        let text_at = egui::pos2(at.x + size::LEGEND + size::GAP_TIGHT, at.y);
        paint_haloed(painter, text_at, galley, palette.ink_soft, palette.stage);
        at.x += width + size::GAP_WIDE;
    }
}
