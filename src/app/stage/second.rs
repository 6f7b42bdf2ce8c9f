//! The points beside those of the sentence: the words of a second sentence, as diamonds, with the moves of the compared
//! word in both; or one word in several sentences, in place of both; and the words of the source.

use attune_core::kernel::snapshot::PairedWord;
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{Highlight, PanelView, Selection};
use attune_ui::widgets::heat::width_of;
use attune_view::explain::walk::{Step, WalkModel};
use attune_view::view_model::compare::{SECOND, in_numbers};
use attune_view::view_model::labels::Side;
use attune_view::view_model::stage::{SecondKind, SourceWord, StageModel, TokenPoint};
use bevy::math::{Vec2, Vec3};
use egui::{Align2, Color32, Label, Painter, Pos2, Rect, RichText, Sense, Stroke, Ui, WidgetInfo, WidgetType};

use super::geometry::{DISC, Instance, LEAST_RADIUS, TOKEN_RADIUS, WORD_RADIUS, scaled};
use super::labels::Priority;
use super::names::{Canvas, NameOwner, Named, name_color, paint_square};
use super::pick::{self, Candidate};
use super::projection::ProjectedScene;

/// Kind of a diamond, as in the shader.
const DIAMOND: f32 = 2.0;
/// Radius of a diamond with the area of a disc.
const DIAMOND_RADIUS: f32 = TOKEN_RADIUS * 1.25;
/// Kind of a plain line, as in the shader.
const LINE: f32 = 0.0;
/// Kind of an arrow, as in the shader.
const ARROW: f32 = 1.0;
/// Width of a compared move, in points.
const STRESSED: f32 = 4.5;
/// Width of any other move, in points.
const PLAIN: f32 = 1.4;
/// Width of the line between the ends of the compared moves, in points.
const BETWEEN: f32 = 1.6;
/// Number of strokes of the line between the two ends. Gaps are as long as strokes.
const DASHES: usize = 12;

/// Returns the shared word whose two moves are compared, if there is one.
pub fn chosen<'a>(model: &'a StageModel, selection: &Selection, highlight: &Highlight) -> Option<&'a PairedWord> {
    model.chosen_pair(selection.query, selection.second, &highlight.lit)
}

/// Returns the radius and the kind of the points: diamonds for a second sentence, or else discs.
fn shape(model: &StageModel) -> (f32, f32) {
    if model.second_kind == SecondKind::Sentence { (DIAMOND_RADIUS, DIAMOND) } else { (TOKEN_RADIUS, DISC) }
}

pub fn points(model: &StageModel, palette: &Palette) -> Vec<Instance> {
    let (size, kind) = shape(model);
    let point = |token: &TokenPoint| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color: palette.token(token.group),
        size,
        kind,
    };
    model.second.iter().map(point).map(Instance::clear).filter(Instance::has_place).collect()
}

/// Returns the moves of the second sentence's tokens. If a pair is compared, both of its moves are emphasised, and a
/// dashed line joins their current places.
pub fn lines(model: &StageModel, pair: Option<&PairedWord>, time: f32, palette: &Palette) -> Vec<Instance> {
    let way = |token: &TokenPoint, color: Color32, size: f32| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color,
        size,
        kind: ARROW,
    };
    let is_chosen = |token: &TokenPoint| pair.is_some_and(|pair| pair.second == token.position);
    let others = model.second.iter().filter(|token| !is_chosen(token));
    let mut lines: Vec<Instance> =
        others.map(|token| way(token, palette.dimmed(palette.token(token.group)), PLAIN)).collect();
    if let Some(pair) = pair
        && let (Some(first), Some(second)) = (model.tokens.get(pair.first), model.second.get(pair.second))
    {
        let ink = palette.token(second.group);
        lines.extend([way(first, ink, STRESSED), way(second, ink, STRESSED)]);
        let (from, to) = (scaled(model, first.at(time)), scaled(model, second.at(time)));
        let along = |share: f32| std::array::from_fn(|axis| (1.0 - share) * from[axis] + share * to[axis]);
        let count = (2 * DASHES - 1) as f32;
        lines.extend((0..DASHES).map(|dash| Instance {
            start: along(2.0 * dash as f32 / count),
            end: along((2.0 * dash as f32 + 1.0) / count),
            color: palette.ink_soft,
            size: BETWEEN,
            kind: LINE,
        }));
    }
    lines.into_iter().filter(Instance::has_place).collect()
}

/// A token of the second sentence, with its disc on the screen.
struct Seen<'a> {
    token: &'a TokenPoint,
    at: Pos2,
    radius: f32,
    depth: f32,
}

fn seen<'a>(projected: &ProjectedScene<'a>) -> impl Iterator<Item = Seen<'a>> {
    let ProjectedScene { projection, rect, time, .. } = *projected;
    let model = projected.scene.model;
    model.second.iter().filter_map(move |token| {
        let seen = projection.project(Vec3::from(scaled(model, token.at(time))))?;
        let radius = projection.radius_at(shape(model).0, seen.divisor).max(LEAST_RADIUS);
        Some(Seen { token, at: rect.min + egui::vec2(seen.at.x, seen.at.y), radius, depth: seen.depth })
    })
}

/// Returns the position of the token under the pointer; `None` if none is within reach.
pub fn pick(projected: &ProjectedScene, pointer: Pos2) -> Option<usize> {
    let candidates = seen(projected).map(|seen| Candidate {
        what: seen.token.position,
        at: Vec2::new(seen.at.x, seen.at.y),
        radius: seen.radius,
        depth: seen.depth,
    });
    pick::nearest(Vec2::new(pointer.x, pointer.y), candidates)
}

/// Chooses a token of the second sentence, and the same word of the first sentence if there is one, so that their moves
/// are compared. A point of several sentences or of another file is marked instead, or no longer marked.
pub fn choose(model: &StageModel, position: usize, selection: &mut Selection) {
    if model.second_kind != SecondKind::Sentence {
        selection.sense = (selection.sense != Some(position)).then_some(position);
        return;
    }
    selection.second = Some(position);
    let shared = model.shared.iter().filter(|pair| pair.second == position);
    // If the first sentence has the word several times, the chosen occurrence stays chosen.
    let first = shared.clone().find(|pair| Some(pair.first) == selection.query).or_else(|| shared.clone().next());
    selection.query = first.map_or(selection.query, |pair| Some(pair.first));
}

/// Marks the chosen point, and returns the points of the second sentence with their names.
pub fn paint(canvas: &Canvas, view: &PanelView) -> Vec<Named> {
    let Canvas { painter, ref projected, .. } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let model = projected.scene.model;
    let pair = chosen(model, view.selection, view.highlight);
    let is_at_rest = view.walk.layer_time() == 0.0;
    let named = |seen: Seen| {
        let Seen { token, at, radius, depth } = seen;
        let is_one = model.second_kind != SecondKind::Sentence;
        let is_sense = is_one && view.selection.sense == Some(token.position);
        let is_chosen = is_sense || pair.is_some_and(|pair| pair.second == token.position);
        if is_chosen {
            painter.circle_stroke(at, radius + size::RING_GAP, Stroke::new(size::RING, palette.accent));
        }
        // At rest all points coincide, because no sentence has moved the word yet, so they have one name.
        let is_one_point = || model.second.iter().all(|other| other.start == token.start);
        let (word, label, group) = match &model.second_kind {
            SecondKind::Senses(word) if is_at_rest && is_one_point() => (word.clone(), word.clone(), None),
            SecondKind::Senses(_) | SecondKind::Spaces => (token.text.clone(), token.text.clone(), token.group),
            SecondKind::Sentence => (token.text.clone(), format!("{}{SECOND}", token.label()), token.group),
        };
        let is_one_of_many = is_one && !is_chosen;
        Named {
            owner: NameOwner::Second(token.position),
            at,
            radius,
            depth,
            priority: match (is_chosen, is_one_of_many) {
                (true, _) => Priority::Selected,
                (_, true) => Priority::Lit,
                (false, false) => Priority::Token,
            },
            word,
            label,
            note: None,
            color: name_color(palette.token(group), true, palette),
            is_first: true,
        }
    };
    seen(projected).filter(|seen| rect.contains(seen.at)).map(named).collect()
}

/// The second sentence over the picture, in as many rows as it needs, and below it the compared pair in numbers.
pub struct SecondLine<'a> {
    model: &'a StageModel,
    /// Rectangles of the words, relative to the upper left corner, each with its token.
    words: Vec<(Rect, &'a TokenPoint)>,
    said: String,
    size: egui::Vec2,
}

impl<'a> SecondLine<'a> {
    const FONT: f32 = 16.0;
    const ROW: f32 = 24.0;
    /// Width of the diamond before the words.
    const MARK: f32 = size::LEGEND + size::GAP;

    /// Lays out the second sentence, or returns `None` if no sentence is compared.
    pub fn of(
        ui: &Ui,
        model: &'a StageModel,
        selection: &Selection,
        highlight: &Highlight,
        width: f32,
    ) -> Option<Self> {
        if model.second.is_empty() || model.second_kind != SecondKind::Sentence {
            return None;
        }
        let (left, right) = (size::GAP_WIDE + Self::MARK, width - size::GAP_WIDE);
        let mut at = egui::pos2(left, 0.0);
        let place = |token: &'a TokenPoint| {
            let word = width_of(ui, &Self::label(token), theme::strong(Self::FONT)) + size::GAP;
            if at.x + word > right && at.x > left {
                at = egui::pos2(left, at.y + Self::ROW);
            }
            let rect = Rect::from_min_size(at, egui::vec2(word, Self::ROW));
            at.x += word;
            (rect, token)
        };
        let words: Vec<(Rect, &TokenPoint)> = model.second.iter().map(place).collect();
        let said = said(model, chosen(model, selection, highlight));
        let height = words.last().map_or(0.0, |(rect, _)| rect.bottom()) + Self::ROW;
        Some(Self { model, words, said, size: egui::vec2(width, height) })
    }

    pub fn height(&self) -> f32 {
        self.size.y
    }

    fn label(token: &TokenPoint) -> String {
        format!("{}{SECOND}", token.label())
    }

    /// Shows the words. The word under the pointer is highlighted everywhere; a click compares it with the same word of
    /// the first sentence.
    pub fn ui(&self, ui: &mut Ui, view: &mut PanelView) {
        let palette = Palette::on(ui);
        let area = ui.available_rect_before_wrap();
        paint_mark(ui.painter(), area.min + egui::vec2(size::GAP_WIDE, Self::ROW / 2.0), palette);
        let pair = chosen(self.model, view.selection, view.highlight).map(|pair| pair.second);
        for (rect, token) in &self.words {
            let rect = rect.translate(area.min.to_vec2());
            let response = ui.interact(rect, ui.id().with(("second sentence", token.position)), Sense::click());
            let (label, is_chosen) = (Self::label(token), pair == Some(token.position));
            let name = format!("Second sentence: {label}");
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
            if response.hovered() || view.hover.word() == Some(token.text.as_str()) {
                ui.painter().rect_filled(rect, f32::from(size::RADIUS_SMALL), palette.lifted);
            }
            let font = if is_chosen { theme::strong(Self::FONT) } else { theme::plain(Self::FONT) };
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, label, font, palette.token(token.group));
            if response.hovered() {
                view.hover.point_at(&token.text);
            }
            if response.on_hover_text("Compares the word's path with its path in the first sentence").clicked() {
                choose(self.model, token.position, view.selection);
            }
        }
        let foot = area.with_min_y(area.bottom() - Self::ROW).shrink2(egui::vec2(size::GAP_WIDE, 0.0));
        let label = Label::new(RichText::new(&self.said).size(size::SMALL).color(palette.ink)).truncate();
        ui.put(foot, label);
    }
}

/// Paints a diamond, the mark of the second sentence; `at` is its left corner.
fn paint_mark(painter: &Painter, at: Pos2, palette: &Palette) {
    let radius = size::LEGEND / 2.0;
    let corners = [(radius, 0.0), (0.0, radius), (-radius, 0.0), (0.0, -radius)];
    let corners = corners.map(|(x, y)| at + egui::vec2(radius + x, y)).to_vec();
    painter.add(egui::Shape::convex_polygon(corners, palette.ink_soft, Stroke::NONE));
}

/// Returns the compared pair in numbers, or a note that the sentences share no word.
fn said(model: &StageModel, pair: Option<&PairedWord>) -> String {
    let Some(pair) = pair else { return "The two sentences share no word.".to_owned() };
    let label = |token: Option<&TokenPoint>| token.map_or_else(String::new, TokenPoint::label);
    in_numbers([&label(model.tokens.get(pair.first)), &label(model.second.get(pair.second))], pair)
}

/// Returns the words of the source that the step of the walk is about; in the last step, all of them.
fn about_source(walk: Option<(&WalkModel, Step)>) -> Vec<usize> {
    match walk.filter(|(walk, _)| walk.key_side == Side::Source) {
        Some((walk, Step::Contextual)) => (0..walk.source.len()).collect(),
        Some((walk, step)) => walk.partners(step),
        None => Vec::new(),
    }
}

/// Paints the points of the source's words, and returns them with their names.
pub fn paint_source(canvas: &Canvas) -> Vec<Named> {
    let Canvas { painter, ref projected, .. } = *canvas;
    let walk = projected.scene.walk.filter(|(walk, _)| !walk.source.is_empty());
    let words = walk.map_or(&projected.scene.model.source, |(walk, _)| &walk.source);
    let see = |word: &SourceWord| {
        let place = |axis: usize| word.from[axis] + projected.time * (word.to[axis] - word.from[axis]);
        let seen =
            projected.projection.project(Vec3::from(scaled(projected.scene.model, std::array::from_fn(place))))?;
        let at = projected.rect.min + egui::vec2(seen.at.x, seen.at.y);
        let radius = projected.projection.radius_at(WORD_RADIUS, seen.divisor).max(LEAST_RADIUS);
        projected.rect.contains(at).then_some((at, radius, seen.depth))
    };
    let partners = about_source(walk);
    let named = |(index, word): (usize, &SourceWord)| {
        let (at, radius, depth): (Pos2, f32, f32) = see(word)?;
        let color = projected.palette.token(word.group);
        let is_query = walk.is_some_and(|(walk, _)| walk.source_query() == Some(index));
        let is_about = is_query || walk.is_none_or(|_| partners.contains(&index));
        let color = if is_about { color } else { projected.palette.quiet(color) };
        paint_square(painter, at, radius, color);
        if is_query {
            painter.circle_stroke(at, radius + size::RING_GAP, Stroke::new(size::RING, projected.palette.accent));
        }
        Some(Named {
            owner: NameOwner::Source(index),
            at,
            radius,
            depth,
            priority: if is_query { Priority::Selected } else { Priority::Token },
            word: word.label.clone(),
            label: word.label.clone(),
            note: walk.and_then(|(walk, step)| walk.beside(step, index).filter(|_| walk.is_large(step, index))),
            color: name_color(color, true, projected.palette),
            is_first: true,
        })
    };
    words.iter().enumerate().filter_map(named).collect()
}
