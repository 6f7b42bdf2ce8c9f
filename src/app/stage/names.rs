//! Text over the picture: the names of the points of the sentence, a second sentence, a source and the table, which
//! [`labels`] places and where points that look like one share a label; the names of clusters and of chosen axes; the
//! caption and the legend.

use std::collections::HashMap;
use std::sync::Arc;

use attune_core::lesson::issue::shorten;
use attune_engine::messages::counted_as;
use attune_ui::theme::{self, Palette, TEXT_CONTRAST, size};
use attune_ui::ui_state::search::{ByFeature, Hit};
use attune_ui::widgets::glow::Glow;
use attune_ui::widgets::patches::{paint_patch, texture};
use attune_view::explain::path::PathArrow;
use attune_view::explain::walk::Step;
use attune_view::view_model::axes::{captions, lines};
use attune_view::view_model::features::Scale;
use attune_view::view_model::stage::{AxisLabel, Goal, SecondKind, StageModel};
use bevy::math::Vec3;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Painter, Pos2, Rect, Shape, Stroke};

use super::geometry::{DASHES, DOTS, LARGEST_WORD_RADIUS, RoleArrow, axis_end, is_small, roles, sized};
use super::labels::{self, LabelRequest, Obstacle, ObstacleKind, Placed, Priority, SAME_PLACE, Slot};
use super::projection::{ProjectedScene, SceneRef, SeenPoint};

/// The thing that a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameOwner {
    Point(Hit),
    /// A word of the second sentence, by its position.
    Second(usize),
    /// A word of the source, by its position.
    Source(usize),
    /// The ring of a word's static place, by the position of its first token.
    Ring(usize),
    Axis(usize),
    /// An arrow, by its index: among the arrows of the walk's word, of query, key and value, or of the goals.
    Arrow(usize),
}

impl NameOwner {
    /// Returns whether the name is that of a word of a sentence, whose point may coincide with others.
    fn is_of_sentence(self) -> bool {
        matches!(self, Self::Point(Hit::Token(_)) | Self::Second(_) | Self::Source(_))
    }

    fn is_of_table(self) -> bool {
        matches!(self, Self::Point(Hit::Word(_)))
    }
}

/// A point that has a name.
#[derive(Clone, Debug)]
pub struct Named {
    pub owner: NameOwner,
    pub at: Pos2,
    /// The radius of the point's disc, in points.
    pub radius: f32,
    pub depth: f32,
    pub priority: Priority,
    /// The word without the number of its occurrence.
    pub word: String,
    pub label: String,
    /// The number that the walk's step gives this word; `None` if there is none, or it is not one of the largest.
    pub note: Option<String>,
    pub color: Color32,
    /// Whether the picture is about this word; its label is placed before the names of crowds. The pointer does not
    /// change this.
    pub is_first: bool,
}

impl Named {
    /// Returns the square inside the disc as an obstacle.
    fn mark(&self) -> Obstacle {
        let side = self.radius * std::f32::consts::SQRT_2;
        Obstacle { rect: Rect::from_center_size(self.at, egui::Vec2::splat(side)), kind: ObstacleKind::Named }
    }
}

/// Names that share a label, with their text laid out.
struct Label {
    owners: Vec<NameOwner>,
    request: LabelRequest,
    rows: Vec<Arc<Galley>>,
    /// The same names in a single row, without their numbers, for places without room for several rows.
    line: Option<Arc<Galley>>,
    color: Color32,
    is_first: bool,
}

/// A name in the last frame, with its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnName {
    pub point: Pos2,
    pub radius: f32,
    pub placed: Placed,
}

/// Names over the picture in the last frame, with their places.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    names: HashMap<NameOwner, DrawnName>,
    /// The names of crowds, with their groups.
    crowds: Vec<(usize, Rect)>,
    /// Rectangles of all text.
    all: Vec<Rect>,
}

impl Writing {
    /// Returns the rectangle of a point's name; `None` if it was not drawn.
    pub fn name(&self, of: Hit) -> Option<Rect> {
        self.names.get(&NameOwner::Point(of)).map(|name| name.placed.rect)
    }

    pub fn names(&self) -> impl Iterator<Item = (NameOwner, DrawnName)> {
        self.names.iter().map(|(owner, name)| (*owner, *name))
    }

    /// Returns the rectangles of the crowds' names, each with its group.
    pub fn crowds(&self) -> &[(usize, Rect)] {
        &self.crowds
    }

    /// Returns the rectangles of all text.
    pub fn rects(&self) -> &[Rect] {
        &self.all
    }

    pub(super) fn is_written(&self, rect: Rect) -> bool {
        self.all.iter().any(|other| other.intersects(rect))
    }

    pub(super) fn write_crowd(&mut self, group: usize, rect: Rect) {
        self.crowds.push((group, rect));
        self.all.push(rect);
    }
}

/// The viewer's choices that decide which names are drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    pub hovered: Option<Hit>,
    pub query: Option<usize>,
    /// The place of the walk.
    pub walked: f32,
    /// The position of the pointer. While it is inside a crowd, the crowd's words have names.
    pub pointer: Option<Pos2>,
}

/// Paints the names of the points and of `others`, which are words neither of the sentence nor of the table. `written`
/// are the rectangles of text that is there already; `writing` is the text of the last frame, and afterwards of this
/// one.
pub fn paint_names(canvas: &Canvas, shown: Shown, others: Vec<Named>, mut written: Vec<Rect>, writing: &mut Writing) {
    let Canvas { painter, ref projected, crowds } = *canvas;
    paint_axes(canvas, writing, &mut written);
    let (mut points, quiet) = projected.labelled();
    // The point under the pointer always has a name.
    let is_there = |hit| points.iter().any(|point| point.hit == hit);
    points.extend(shown.hovered.filter(|hit| !is_there(*hit)).and_then(|hit| projected.see(hit)));
    let mut named = Vec::new();
    for point in &points {
        let is_hovered = shown.hovered == Some(point.hit);
        let is_selected = shown.query.is_some_and(|query| point.hit == Hit::Token(query));
        if is_hovered || is_selected {
            let color = if is_selected { projected.palette.accent } else { projected.palette.ink };
            painter.circle_stroke(point.at, point.radius + size::RING_GAP, Stroke::new(size::RING, color));
        }
        let priority = match (is_hovered, is_selected) {
            (true, _) => Priority::Hovered,
            (_, true) => Priority::Selected,
            _ => point.priority,
        };
        let ring = if is_hovered || is_selected { size::RING_GAP } else { 0.0 };
        named.push(of_point(projected, &SeenPoint { radius: point.radius + ring, ..*point }, priority));
    }
    let (mut named, unnamed): (Vec<_>, Vec<_>) =
        named.into_iter().partition(|name| !is_quiet(projected, crowds, shown.pointer, name));
    named.extend(others);
    named.extend(arrow_names(projected, shown.walked));
    if projected.scene.patches.is_none() {
        named.extend(projected.left_places().iter().filter_map(|(ring, word)| of_ring(projected, ring, word)));
    }
    leave_place(&mut named);
    let unnamed = unnamed.iter().map(|name| Obstacle { kind: ObstacleKind::Dot, ..name.mark() });
    let dots = quiet.iter().map(|point| Obstacle { rect: point.disc(), kind: ObstacleKind::Dot }).chain(unnamed);
    let lines = projected.lines(shown.walked).into_iter().map(|rect| Obstacle { rect, kind: ObstacleKind::Line });
    let marks: Vec<Obstacle> = named.iter().map(Named::mark).chain(dots).chain(lines).collect();
    let groups = together(named);
    let labels = groups.iter().map(|names| Label::of(canvas, names)).chain(axis_labels(canvas));
    // Names of crowds avoid the words that the picture is about, and all other names avoid the names of crowds.
    let (first, rest): (Vec<_>, Vec<_>) = labels.partition(|label| label.is_first);
    let before = std::mem::take(writing).names;
    writing.all = written;
    paint_labels(canvas, first, &marks, &before, writing);
    paint_crowds(canvas, &marks, writing);
    paint_labels(canvas, rest, &marks, &before, writing);
}

/// Paints the points of patches as pieces of the picture, each in a frame. They lie under all text.
pub fn paint_patches(canvas: &Canvas) {
    /// Half of a piece's side, as a multiple of the point's radius.
    const HALF: f32 = 1.3;
    let Canvas { painter, ref projected, .. } = *canvas;
    let Some((places, Some(picture))) = projected.scene.patches else { return };
    let picture = texture(painter.ctx(), picture);
    let (mut points, _) = projected.labelled();
    // The nearest pieces are painted last.
    points.sort_by(|a, b| b.depth.total_cmp(&a.depth));
    for point in points {
        let Hit::Token(position) = point.hit else { continue };
        let Some(place) = places.of_token(position) else { continue };
        let piece = Rect::from_center_size(point.at, egui::Vec2::splat(2.0 * HALF * point.radius));
        paint_patch(painter, &picture, places, place, piece);
        let frame = Stroke::new(size::HAIRLINE, projected.palette.ink_soft);
        painter.rect_stroke(piece, 0.0, frame, egui::StrokeKind::Outside);
    }
}

/// Finds places for labels and paints them. Labels that were there `before` stay in place if possible, and labels
/// without room for all of their rows are tried again in a single row.
fn paint_labels(
    canvas: &Canvas,
    labels: Vec<Label>,
    marks: &[Obstacle],
    before: &HashMap<NameOwner, DrawnName>,
    writing: &mut Writing,
) {
    let Canvas { painter, ref projected, .. } = *canvas;
    let requests: Vec<LabelRequest> = labels.iter().map(|label| label.request).collect();
    let slot = |label: &Label| before.get(&label.owners[0]).map(|name| name.placed.slot);
    let slots: Vec<Option<Slot>> = labels.iter().map(slot).collect();
    let placed = labels::place_again(&requests, &slots, marks, &writing.all, projected.rect);
    let mut without_room = Vec::new();
    for (placed, label) in placed.into_iter().zip(labels) {
        let Some(placed) = placed else {
            without_room.extend(label.in_one_line());
            continue;
        };
        let LabelRequest { point, radius, .. } = label.request;
        writing.names.extend(label.owners.iter().map(|owner| (*owner, DrawnName { point, radius, placed })));
        writing.all.push(placed.rect);
        label.paint(painter, projected, placed);
    }
    if !without_room.is_empty() {
        paint_labels(canvas, without_room, marks, before, writing);
    }
}

/// Leaves out words of the table that coincide with the same word of a sentence, which has a name already.
fn leave_place(named: &mut Vec<Named>) {
    let of_sentence = |name: &&Named| name.owner.is_of_sentence();
    let places: Vec<(Pos2, String)> =
        named.iter().filter(of_sentence).map(|name| (name.at, name.word.clone())).collect();
    named.retain(|name| {
        let is_there = |(place, word): &(Pos2, String)| place.distance(name.at) < SAME_PLACE && *word == name.word;
        name.owner.is_of_sentence() || !name.owner.is_of_table() || !places.iter().any(is_there)
    });
}

/// Groups names whose points look like one: words of sentences, and words of the table at the place of a word of a
/// sentence.
fn together(mut named: Vec<Named>) -> Vec<Vec<Named>> {
    let mut groups: Vec<Vec<Named>> = Vec::new();
    named.sort_by_key(|name| !name.owner.is_of_sentence());
    for name in named {
        let is_here = |other: &Named| other.owner.is_of_sentence() && other.at.distance(name.at) < SAME_PLACE;
        let joins = name.owner.is_of_sentence() || name.owner.is_of_table();
        let same = groups.iter_mut().find(|group| joins && is_here(&group[0]));
        match same {
            Some(group) => group.push(name),
            None => groups.push(vec![name]),
        }
    }
    groups
}

impl Label {
    fn of(canvas: &Canvas, names: &[Named]) -> Self {
        let projected = &canvas.projected;
        let first = names.iter().min_by_key(|name| name.priority).unwrap_or(&names[0]);
        let priority = first.priority;
        let rows: Vec<Arc<Galley>> = rows(names, priority)
            .into_iter()
            .map(|Row { text, note, font, color }| {
                let mut job = LayoutJob::simple_singleline(text, font, color);
                if let Some(note) = note {
                    let ink = projected.palette.query.lerp_to_gamma(projected.palette.ink, TOWARDS_INK);
                    job.append(&note, size::GAP, TextFormat::simple(theme::mono(size::LABEL), ink));
                }
                canvas.painter.layout_job(job)
            })
            .collect();
        let sizes = rows.iter().map(|row| row.size());
        let size = sizes.fold(egui::Vec2::ZERO, |whole, row| egui::vec2(whole.x.max(row.x), whole.y + row.y));
        let line = (rows.len() > 1)
            .then(|| canvas.painter.layout_no_wrap(in_one_line(names), theme::plain(size::LABEL), first.color));
        Self {
            line,
            owners: names.iter().map(|name| name.owner).collect(),
            request: LabelRequest { priority, point: first.at, radius: first.radius, size, depth: first.depth },
            rows,
            color: first.color,
            is_first: names.iter().any(|name| name.is_first),
        }
    }

    /// Returns the label in a single row, or `None` if it has only one anyway.
    fn in_one_line(mut self) -> Option<Self> {
        let line = self.line.take()?;
        let request = LabelRequest { size: line.size(), ..self.request };
        Some(Self { request, rows: vec![line], ..self })
    }

    fn paint(self, painter: &Painter, projected: &ProjectedScene, Placed { rect, leader, .. }: Placed) {
        const LEADER: f32 = 0.6;
        let palette = projected.palette;
        if let Some(leader) = leader {
            painter.line_segment(leader, Stroke::new(size::HAIRLINE, self.color.gamma_multiply(LEADER)));
        }
        let mut at = rect.min;
        for galley in self.rows {
            let below = galley.size().y;
            paint_haloed(painter, at, galley, self.color, palette.stage);
            at.y += below;
        }
    }
}

/// Joins names in a row, such as `the · cat · sat` or, if there are many, `the · cat · sat · on · a and 3 more`.
fn in_one_line(names: &[Named]) -> String {
    const NAMES: usize = 6;
    let shown = if names.len() > NAMES { NAMES - 1 } else { names.len() };
    let labels: Vec<&str> = names[..shown].iter().map(|name| name.label.as_str()).collect();
    let more = if shown < names.len() { format!(" and {} more", names.len() - shown) } else { String::new() };
    format!("{}{more}", labels.join(" · "))
}

/// A line of a label.
struct Row {
    text: String,
    note: Option<String>,
    font: egui::FontId,
    color: Color32,
}

/// Returns the lines of a label: one line for all occurrences of one word, or else a line for each name of a sentence,
/// up to a limit. Words of the table at the same place are only counted, except for one under the pointer.
fn rows(names: &[Named], priority: Priority) -> Vec<Row> {
    /// Greatest number of lines.
    const LINES: usize = 6;
    /// Greatest number of occurrences in a line.
    const OCCURRENCES: usize = 3;
    let font = if priority <= Priority::Token { theme::strong(size::LABEL_STRONG) } else { theme::plain(size::LABEL) };
    let first = &names[0];
    let row = |text: String, note: Option<String>, color: Color32| Row { text, note, font: font.clone(), color };
    let is_plain = |name: &Named| name.word == first.word && name.note.is_none();
    if names.iter().all(is_plain) {
        let mut labels: Vec<&str> = names.iter().map(|name| name.label.as_str()).collect();
        labels.dedup();
        let text = match &labels[..] {
            [one, .., other] if labels.len() > OCCURRENCES => format!("{one} … {other}"),
            labels => labels.join(" · "),
        };
        return vec![row(text, None, first.color)];
    }
    let is_listed = |name: &&Named| !name.owner.is_of_table() || name.priority <= Priority::Hovered;
    let listed: Vec<&Named> = names.iter().filter(is_listed).collect();
    let shown = if listed.len() > LINES { LINES - 1 } else { listed.len() };
    let lines = listed[..shown].iter();
    let mut rows: Vec<Row> = lines.map(|name| row(name.label.clone(), name.note.clone(), name.color)).collect();
    let more = names.len() - shown;
    if let Some(only) = rows.last_mut().filter(|_| more > 0 && shown == 1 && listed[0].note.is_none()) {
        only.text += &format!(" and {more} more");
    } else if more > 0 {
        rows.push(row(format!("and {more} more"), None, first.color));
    }
    rows
}

fn of_point(projected: &ProjectedScene, point: &SeenPoint, priority: Priority) -> Named {
    let SeenPoint { hit, at, radius, depth, .. } = *point;
    Named {
        owner: NameOwner::Point(hit),
        at,
        radius,
        depth,
        priority,
        word: projected.word(hit).to_owned(),
        label: projected.label(hit),
        note: projected.step_note(hit),
        color: name_color(projected.color(hit), priority <= Priority::Token, projected.palette),
        is_first: point.priority <= Priority::Lit,
    }
}

/// Returns the names of all arrows that have names.
fn arrow_names(projected: &ProjectedScene, walked: f32) -> Vec<Named> {
    [path_names(projected, walked), role_names(projected, walked), goal_names(projected)].concat()
}

/// Returns the names of the arrows of the path, each with its length, once the walk has reached the output.
fn path_names(projected: &ProjectedScene, walked: f32) -> Vec<Named> {
    /// Least length of an arrow with a name, in points.
    const LEAST: f32 = 22.0;
    /// Greatest number of arrows with names.
    const MOST: usize = 5;
    let SceneRef { path, walk, .. } = projected.scene;
    let path = path.filter(|_| Step::Output.share(walked) >= 1.0 && walk.is_some());
    let arrows = path.map_or(&[][..], |path| &path.arrows).iter().enumerate();
    let named = |(index, arrow): (usize, &PathArrow)| {
        let (from, at) = (projected.at(arrow.from)?, projected.at(arrow.to)?);
        let seen = projected.free.contains(at) && from.distance(at) >= LEAST;
        let color = arrow.own.map_or(projected.palette.ink_soft, |own| projected.palette.head(own));
        let label = format!("{}: {:.2}", arrow.label, arrow.length);
        seen.then(|| of_arrow(projected, index, from.lerp(at, 0.5), label, color))
    };
    arrows.filter_map(named).take(MOST).collect()
}

/// Returns the names of the arrows of query, key and value, at their tips.
fn role_names(projected: &ProjectedScene, walked: f32) -> Vec<Named> {
    let SceneRef { model, walk, .. } = projected.scene;
    let all = walk.map_or_else(Vec::new, |(walk, _)| roles(model, walk, walked)).into_iter().enumerate();
    let named = |(index, RoleArrow { row, role, end, scale }): (usize, RoleArrow)| {
        let at = projected.at(end).filter(|at| projected.free.contains(*at))?;
        let scale = if scale < 1.0 { format!(" × {scale:.2}") } else { String::new() };
        Some(of_arrow(projected, index, at, format!("{}{scale}", row.label), role.hue(projected.palette)))
    };
    all.filter_map(named).collect()
}

/// Returns the names of the arrows of the goals, with the loss.
fn goal_names(projected: &ProjectedScene) -> Vec<Named> {
    let SceneRef { model, emphasis, .. } = projected.scene;
    let named = |(index, goal): (usize, &Goal)| {
        let end = model.tokens.get(goal.token)?.end;
        let at = projected.at(std::array::from_fn(|axis| (end[axis] + goal.to[axis]) / 2.0))?;
        let label = format!("−∂L/∂y, L = {:.2}", goal.loss);
        let seen = projected.time >= 1.0 && projected.free.contains(at);
        seen.then(|| Named { is_first: true, ..of_arrow(projected, index, at, label, projected.palette.error) })
    };
    emphasis.goals.iter().enumerate().filter_map(named).collect()
}

fn of_arrow(projected: &ProjectedScene, index: usize, at: Pos2, label: String, color: Color32) -> Named {
    Named {
        owner: NameOwner::Arrow(index),
        at,
        radius: size::OUTLINE,
        depth: 0.0,
        priority: Priority::GroupWord,
        word: label.clone(),
        label,
        note: None,
        color: name_color(color, false, projected.palette),
        is_first: false,
    }
}

/// Returns the name of a ring at a static place that the word itself has left; `None` if the ring belongs to no token.
fn of_ring(projected: &ProjectedScene, ring: &SeenPoint, word: &str) -> Option<Named> {
    let SeenPoint { hit, at, radius, depth, priority, .. } = *ring;
    let Hit::Token(position) = hit else { return None };
    Some(Named {
        owner: NameOwner::Ring(position),
        at,
        radius,
        depth,
        priority,
        word: word.to_owned(),
        label: word.to_owned(),
        note: None,
        color: name_color(projected.color(hit), false, projected.palette),
        is_first: false,
    })
}

/// Returns the names of the axes without named ends, at their positive ends. The names of all words have priority.
fn axis_labels(canvas: &Canvas) -> Vec<Label> {
    let projected = &canvas.projected;
    let label = |(axis, label): (usize, &AxisLabel)| {
        let seen = projected.projection.project(Vec3::from(axis_end(axis))).filter(|_| label.ends.is_none())?;
        let origin = projected.projection.project(Vec3::ZERO);
        let length = origin.map_or(f32::INFINITY, |origin| origin.at.distance(seen.at));
        let point = projected.rect.min + egui::vec2(seen.at.x, seen.at.y);
        let color = projected.palette.ink_faint;
        let galley = canvas.painter.layout_no_wrap(label.name.clone(), theme::mono(size::LABEL_AXIS), color);
        let size = galley.size();
        (length > SHORT && projected.rect.contains(point)).then(|| Label {
            owners: vec![NameOwner::Axis(axis)],
            request: LabelRequest { priority: Priority::Axis, point, radius: 0.0, size, depth: seen.depth },
            rows: vec![galley],
            line: None,
            color,
            is_first: false,
        })
    };
    projected.scene.model.axes.iter().enumerate().filter_map(label).collect()
}

/// Share of the ink in a colour that is used for text.
pub(super) const TOWARDS_INK: f32 = 0.35;

/// Returns the colour of a name: that of its point, adjusted until it is legible.
pub(super) fn name_color(color: Color32, is_strong: bool, palette: &Palette) -> Color32 {
    let color = if is_strong { color.lerp_to_gamma(palette.ink, TOWARDS_INK) } else { color };
    palette.legible(color, TEXT_CONTRAST)
}

/// The surface on which names are written.
pub struct Canvas<'a> {
    pub painter: &'a Painter,
    pub projected: ProjectedScene<'a>,
    /// [`ProjectedScene::crowds`], computed once a frame.
    pub crowds: &'a [(usize, Glow)],
}

/// Returns whether a point has no name: a patch of a picture that is neither chosen nor under the pointer, or a word of
/// a crowd, unless the pointer is inside the crowd or the picture is about the word.
fn is_quiet(projected: &ProjectedScene, crowds: &[(usize, Glow)], pointer: Option<Pos2>, name: &Named) -> bool {
    let SceneRef { model, emphasis, patches, .. } = projected.scene;
    let word = match name.owner {
        NameOwner::Point(Hit::Word(word)) => word,
        // The place of a patch in its picture says little, and many such names would cover the points.
        NameOwner::Point(Hit::Token(token)) => {
            let is_patch = patches.is_some_and(|(places, _)| places.of_token(token).is_some());
            return is_patch && name.priority > Priority::Selected;
        }
        _ => return false,
    };
    let is_about = name.priority < Priority::Lit || name.priority == Priority::Lit && !emphasis.is_of_step();
    let own = crowds.iter().find(|(group, _)| model.words[word].group == Some(*group));
    let own = own.filter(|_| !is_about && !is_small(model));
    own.is_some_and(|(_, glow)| !pointer.is_some_and(|at| glow.holds(at)))
}

/// Names the crowds in spaced capitals at the rims of their glows.
fn paint_crowds(canvas: &Canvas, marks: &[Obstacle], writing: &mut Writing) {
    const TRACKING: f32 = 1.4;
    let Canvas { painter, ref projected, crowds } = *canvas;
    let ProjectedScene { free, palette, .. } = *projected;
    let model = projected.scene.model;
    for (group, glow) in crowds {
        let color = palette.legible(palette.group(*group), TEXT_CONTRAST);
        let format =
            TextFormat { extra_letter_spacing: TRACKING, ..TextFormat::simple(theme::strong(size::CROWD), color) };
        let mut job = LayoutJob::default();
        job.append(&model.glow_name(*group).to_uppercase(), 0.0, format);
        let galley = painter.layout_job(job);
        let Some(place) = crowd_place(glow, galley.size(), free, marks, writing) else { continue };
        writing.write_crowd(*group, place);
        paint_haloed(painter, place.min, galley, color, palette.stage);
    }
}

/// Returns the place of a crowd's name, beside its rim or else nearer to its middle. The place is free of text, and
/// nearer to a word of the crowd than to any other of the named `marks`, so that the name is not read as that of
/// another point.
fn crowd_place(crowd: &Glow, extent: egui::Vec2, free: Rect, marks: &[Obstacle], writing: &Writing) -> Option<Rect> {
    /// Distances from the middle of the crowd, as shares of its radius.
    const REACHES: [f32; 2] = [1.0, 0.6];
    const SIDES: [(f32, f32); 8] =
        [(0.0, -1.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (1.0, -1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let (rim, inside) = (crowd.rim(), free.shrink(size::GAP));
    let at = |reach: f32, (x, y): (f32, f32)| {
        let beside = rim.size() / 2.0 * reach + extent / 2.0 + egui::Vec2::splat(size::GAP_TIGHT);
        let center = rim.center() + egui::vec2(x, y) * beside;
        labels::moved_inside(Rect::from_center_size(center, extent), inside)
    };
    let is_its_name = |place: &Rect| {
        let own = crowd.seen.iter().map(|at| place.distance_to_pos(*at)).fold(f32::INFINITY, f32::min);
        let is_other = |mark: &&Obstacle| {
            let at = mark.rect.center();
            mark.kind == ObstacleKind::Named && crowd.seen.iter().all(|word| word.distance(at) > labels::SAME_PLACE)
        };
        marks.iter().filter(is_other).all(|mark| place.distance_to_pos(mark.rect.center()) > own)
    };
    let is_free = |place: &Rect| free.contains_rect(*place) && !writing.is_written(*place) && is_its_name(place);
    let is_clear = |place: &&Rect| !marks.iter().any(|mark| mark.rect.intersects(**place));
    let places = REACHES.iter().flat_map(|reach| SIDES.map(|side| at(*reach, side)));
    let places: Vec<Rect> = places.filter(is_free).collect();
    // A place over a line or a dot is better than none.
    places.iter().find(is_clear).or(places.first()).copied()
}

/// Names both ends of each chosen axis, with the direction to each. In a low picture, ends are left out if they are
/// groups whose glows were named in the last frame.
fn paint_axes(canvas: &Canvas, before: &Writing, written: &mut Vec<Rect>) {
    const LOW: f32 = 320.0;
    let Canvas { painter, ref projected, .. } = *canvas;
    let ProjectedScene { rect, free, palette, .. } = *projected;
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
        let model = projected.scene.model;
        let is_named = |name: &String| before.crowds.iter().any(|(group, _)| model.glow_name(*group) == name);
        let ends = [(first, -way, from), (last, way, to)];
        for (at, way, name) in ends.into_iter().filter(|(.., name)| free.height() >= LOW || !is_named(name)) {
            let galley = painter.layout_no_wrap(end_text(way, name), theme::strong(size::LABEL), palette.ink_soft);
            // The name stays inside the picture and beside the line.
            let beside = if way.x.abs() > way.y.abs() {
                egui::vec2(0.0, galley.size().y)
            } else {
                egui::vec2(galley.size().x, 0.0)
            };
            let place = Rect::from_center_size(at + beside * BESIDE, galley.size());
            let place = labels::moved_inside(place, free.shrink(size::GAP));
            // The name moves above the caption if they would overlap.
            let below = written.iter().find(|other| other.intersects(place));
            let place = below.map_or(place, |text| place.translate(egui::vec2(0.0, text.top() - place.bottom())));
            if !free.contains_rect(place) || written.iter().any(|other| other.intersects(place)) {
                continue;
            }
            written.push(place);
            paint_haloed(painter, place.min, galley, palette.ink_soft, palette.stage);
        }
    }
}

/// Returns the name of an end of an axis, with an arrow that points to it.
fn end_text(way: egui::Vec2, name: &str) -> String {
    match way.x.abs() > way.y.abs() {
        true if way.x < 0.0 => format!("← {name}"),
        true => format!("{name} →"),
        false if way.y < 0.0 => format!("↑ {name}"),
        false => format!("↓ {name}"),
    }
}

/// Distance of an end's name from its axis, in sizes of the name.
const BESIDE: f32 = 0.75;
/// Length, in points, below which an axis gets no name, because it is seen from its end.
pub(super) const SHORT: f32 = 24.0;

/// Paints text with a rim in the background's colour around its letters, so that dots and lines do not strike through
/// them.
fn paint_haloed(painter: &Painter, at: Pos2, galley: Arc<Galley>, color: Color32, halo: Color32) {
    const AROUND: usize = 8;
    for side in 0..AROUND {
        let offset = size::HALO * egui::Vec2::angled(std::f32::consts::TAU * side as f32 / AROUND as f32);
        painter.galley_with_override_text_color(at + offset, galley.clone(), halo);
    }
    painter.galley(at, galley, color);
}

/// Least width of a legend beside the bar over the picture; in less width, the legend is below the bar.
const LEGEND_MIN: f32 = 160.0;
/// Least size of a picture with a caption.
const CAPTION_MIN: egui::Vec2 = egui::vec2(180.0, 120.0);

/// Paints the caption, whose first line says how far the picture can be trusted, and the legend. Returns the rectangles
/// of the text, beginning with that of this line. Groups that are `named` elsewhere are left out of the legend.
pub fn paint_caption(canvas: &Canvas, old_ghosts: bool, floating: &[Rect], named: &[usize]) -> Vec<Rect> {
    let Canvas { painter, ref projected, .. } = *canvas;
    let ProjectedScene { free, palette, .. } = *projected;
    let model = projected.scene.model;
    let inner = free.shrink(size::GAP_WIDE - size::GAP_TIGHT);
    let mut bottom = inner.left_bottom();
    let mut written = Vec::new();
    let set = |text: String, color: Color32| painter.layout(text, theme::plain(size::SMALL), color, inner.width());
    let mut line = |galley: Arc<Galley>, color: Color32| {
        bottom.y -= galley.size().y;
        written.push(Rect::from_min_size(bottom, galley.size()));
        paint_haloed(painter, bottom, galley, color, palette.stage);
        bottom.y -= size::GAP_TIGHT / 2.0;
    };
    if free.width() < CAPTION_MIN.x || free.height() < CAPTION_MIN.y {
        return written;
    }
    let ink = palette.ink_faint;
    let mut texts = cautions(projected).into_iter().map(|text| set(text, ink)).collect::<Vec<_>>();
    // A second line would cover points.
    let fits = texts.iter().position(|text| text.rows.len() == 1).unwrap_or(texts.len() - 1);
    line(texts.swap_remove(fits), ink);
    if let Some(words) = lost_points(projected.point_index.lost) {
        line(set(words, palette.warn), palette.warn);
    }
    if let Some(note) = &model.note {
        line(set(note.clone(), palette.ink_soft), palette.ink_soft);
    }
    let room = legend_room(inner, floating);
    paint_legend(painter, room, legend(&projected.scene, old_ghosts, named, palette), palette, &mut written);
    written
}

fn lost_points(count: usize) -> Option<String> {
    let one = "point is not shown, because one of its coordinates is not a number";
    let more = "points are not shown, because each has a coordinate that is not a number";
    (count > 0).then(|| counted_as(count, one, more))
}

/// Returns the room of the legend: left of the bar over the picture, or below it.
fn legend_room(inner: Rect, floating: &[Rect]) -> Rect {
    let corner = floating.iter().filter(|rect| rect.y_range().contains(inner.top() + size::LEGEND));
    let right = corner.clone().map(|rect| rect.left() - size::GAP_WIDE).fold(inner.right(), f32::min);
    let bottom = corner.map(|rect| rect.bottom() + size::GAP_TIGHT).fold(inner.top(), f32::max);
    let has_room = right - inner.left() >= LEGEND_MIN;
    if has_room { inner.with_max_x(right) } else { inner.with_min_y(bottom) }
}

/// Returns sentences on how far distances in the picture can be trusted, the longest first.
fn cautions(projected: &ProjectedScene) -> Vec<String> {
    let ProjectedScene { scene: SceneRef { model, .. }, projection, time, .. } = *projected;
    if projection.perspective > 0.0 && model.is_whole {
        return vec!["Nothing is left out, because the vectors have no more dimensions than the stage.".to_owned()];
    }
    let flat_along = projection.flat_along();
    captions(&model.shares.shown(time, flat_along), projection.perspective == 0.0)
}

/// Returns the long form of the caption, for a tooltip.
pub fn caption_about(model: &StageModel) -> String {
    let names: Vec<&str> = model.axes.iter().map(|axis| axis.name.as_str()).collect();
    let mut all = lines(&model.shares, &names);
    all.push(
        "The percentages are shares of the variance; for moves, they are shares of the squared lengths.".to_owned(),
    );
    all.push("Distances in the picture may mislead; every number is computed from the whole vectors.".to_owned());
    all.push(model.about.clone());
    all.join("\n")
}

/// Shape of a mark in the legend.
enum Mark {
    /// No mark, because the words are a title for the marks that follow.
    Title,
    Disc(Color32),
    Square(Color32),
    Ring(Color32),
    /// A ring that consists of the given number of strokes.
    Broken(Color32, usize),
    /// The ramp of colours, from the least number to the greatest.
    Ramp,
    /// The range of sizes, from the least number to the greatest.
    Sizes,
}

impl Mark {
    /// Number of discs of a mark that represents numbers.
    const DISCS: usize = 5;

    fn width(&self) -> f32 {
        match self {
            Self::Title => 0.0,
            Self::Disc(_) | Self::Square(_) | Self::Ring(_) | Self::Broken(..) => size::LEGEND + size::GAP_TIGHT,
            Self::Ramp | Self::Sizes => Self::DISCS as f32 * size::LEGEND + size::GAP_TIGHT,
        }
    }

    /// Paints the mark to the right of `left`.
    fn paint(&self, painter: &Painter, left: Pos2, palette: &Palette) {
        let radius = size::LEGEND / 2.0;
        let center = |disc: usize| left + egui::vec2(radius + disc as f32 * size::LEGEND, 0.0);
        let share = |disc: usize| disc as f32 / (Self::DISCS - 1) as f32;
        match self {
            Self::Title => {}
            Self::Disc(fill) => _ = painter.circle_filled(center(0), radius, *fill),
            Self::Square(fill) => paint_square(painter, center(0), radius, *fill),
            Self::Ring(ink) => _ = painter.circle_stroke(center(0), radius, Stroke::new(size::OUTLINE, *ink)),
            Self::Broken(ink, strokes) => _ = painter.add(broken_ring(center(0), radius, *strokes, *ink)),
            Self::Ramp => (0..Self::DISCS).for_each(|disc| {
                painter.circle_filled(center(disc), radius, palette.ramp(share(disc)));
            }),
            Self::Sizes => (0..Self::DISCS).for_each(|disc| {
                let radius = radius * sized(share(disc), LARGEST_WORD_RADIUS) / LARGEST_WORD_RADIUS;
                painter.circle_filled(center(disc), radius, palette.ink_soft);
            }),
        }
    }
}

/// Returns the marks for the colours and sizes of a feature.
fn of_feature(by: &ByFeature, palette: &Palette) -> Vec<(Mark, String)> {
    let mut legend = Vec::new();
    if let Some(levels) = &by.colors {
        let name = levels.feature.name();
        match &levels.scale {
            Scale::Numbers { .. } => legend.push((Mark::Ramp, format!("{name}: {}", levels.scale.range()))),
            Scale::Values { names, others } => {
                legend.push((Mark::Title, format!("{name}:")));
                let disc = |(value, name): (usize, &String)| (Mark::Disc(palette.group(value)), shorten(name));
                legend.extend(names.iter().enumerate().map(disc));
                legend.extend((*others > 0).then(|| (Mark::Disc(palette.word), format!("other ({others} values)"))));
            }
        }
    }
    if let Some(levels) = &by.sizes {
        legend.push((Mark::Sizes, format!("size: {}, {}", levels.feature.name(), levels.scale.range())));
    }
    legend
}

/// Paints a square with the area of a disc, the mark of the source.
pub fn paint_square(painter: &Painter, at: Pos2, radius: f32, color: Color32) {
    let side = radius * std::f32::consts::PI.sqrt();
    painter.rect_filled(Rect::from_center_size(at, egui::Vec2::splat(side)), 0.0, color);
}

fn broken_ring(center: Pos2, radius: f32, strokes: usize, ink: Color32) -> Shape {
    /// Straight pieces that a stroke consists of.
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

/// Returns the marks of the legend, each with its words.
fn legend(
    SceneRef { model, emphasis, .. }: &SceneRef,
    old_ghosts: bool,
    named: &[usize],
    palette: &Palette,
) -> Vec<(Mark, String)> {
    let has_groups = emphasis.by_feature.colors.is_none();
    let groups = model.groups.iter().enumerate().filter(|(group, _)| has_groups && !named.contains(group));
    let groups = groups.map(|(group, name)| (Mark::Disc(palette.group(group)), name.clone()));
    let features = of_feature(&emphasis.by_feature, palette);
    let ink = palette.ink_soft;
    let mark = |shown: bool, mark, text: &str| shown.then(|| (mark, text.to_owned()));
    let turned = model.tokens.iter().any(|token| token.end != token.trained_end);
    let has_static = !model.tokens.is_empty() || matches!(model.second_kind, SecondKind::Senses(_));
    let start = if model.is_recorded { "place before the first layer" } else { "static place" };
    let others = [
        mark(has_static, Mark::Ring(ink), start),
        mark(!model.source.is_empty(), Mark::Square(ink), "source"),
        mark(turned, Mark::Broken(ink, DASHES), &format!("as {}", model.origin)),
        mark(old_ghosts && !model.ghosts.is_empty(), Mark::Broken(ink, DOTS), "before retraining"),
    ];
    groups.chain(features).chain(others.into_iter().flatten()).collect()
}

fn paint_legend(painter: &Painter, rect: Rect, marks: Vec<(Mark, String)>, palette: &Palette, written: &mut Vec<Rect>) {
    let mut at = rect.left_top();
    for (mark, text) in marks {
        let galley = painter.layout_no_wrap(text, theme::plain(size::LABEL), palette.ink_soft);
        let width = mark.width() + galley.size().x;
        if at.x + width > rect.right() {
            at = egui::pos2(rect.left(), at.y + galley.size().y + size::GAP_TIGHT);
        }
        mark.paint(painter, egui::pos2(at.x, at.y + galley.size().y / 2.0), palette);
        written.push(Rect::from_min_size(at, egui::vec2(width, galley.size().y)));
        let text_at = egui::pos2(at.x + mark.width(), at.y);
        paint_haloed(painter, text_at, galley, palette.ink_soft, palette.stage);
        at.x += width + size::GAP_WIDE;
    }
}
