//! Maps of heads as lines: from the queries on the left to the keys on the right, as thick as the weights between them.
//! All heads that look from the same words at the same words are one picture.

use attune_ui::theme::{self, Palette, size, weight_line};
use attune_ui::ui_state::PanelView;
use attune_ui::widgets::heat::text_width;
use attune_ui::widgets::traced::{ASK_HINT, OF_PIECES, ask_on};
use attune_view::sheet::{Grid, Scale};
use attune_view::view_model::attention::HeadMap;
use egui::epaint::CubicBezierShape;
use egui::{Align2, Pos2, Rect, Response, RichText, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, WidgetType};

use super::context::text_ui;
use super::grid::links::{Query, choose, query_row};

/// The least weight for which a line is drawn.
const LEAST: f32 = 0.005;
/// Opacity of lines that are not the chosen query's.
const FAINT: f32 = 0.16;
/// The greatest distance from a line at which the pointer is on it, in points.
const REACH: f32 = 5.0;
/// The number of steps along a curve in which its distance from the pointer is measured.
const SAMPLES: usize = 24;

/// Draws one picture of lines for all heads with the same queries and keys, and one for each map that is not of a head.
pub fn lines_ui(ui: &mut Ui, grids: &[Grid], view: &mut PanelView) {
    let mut pictures: Vec<Vec<(&Grid, &HeadMap)>> = Vec::new();
    for (grid, map) in grids.iter().filter_map(|grid| Some((grid, grid.head()?))) {
        let is_like = |picture: &&mut Vec<(&Grid, &HeadMap)>| {
            let (_, one) = picture[0];
            one.is_of_source == map.is_of_source && one.queries == map.queries && one.keys == map.keys
        };
        match pictures.iter_mut().find(is_like) {
            Some(picture) => picture.push((grid, map)),
            None => pictures.push(vec![(grid, map)]),
        }
    }
    for (index, picture) in pictures.iter().enumerate() {
        ui.push_id(("lines", index), |ui| picture_ui(ui, picture, view));
        ui.add_space(size::GAP_WIDE);
    }
    for (index, grid) in grids.iter().filter(|grid| grid.head().is_none()).enumerate() {
        ui.push_id(("plain", index), |ui| plain_ui(ui, grid));
    }
}

/// Draws the lines of a map that does not belong to the sentence on the stage, so that nothing can be chosen in it.
fn plain_ui(ui: &mut Ui, grid: &Grid) {
    let palette = Palette::on(ui);
    let widest = |labels: &[String]| labels.iter().map(|label| text_width(ui, label)).fold(0.0, f32::max) + size::GAP;
    let (left, right) = (widest(&grid.rows), widest(&grid.cols));
    let rows = grid.rows.len().max(grid.cols.len());
    let whole = Vec2::new((left + right + size::CHART_MIN).max(PLAIN_WIDTH), rows as f32 * PLAIN_STEP);
    let (rect, response) = ui.allocate_exact_size(whole, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, format!("Lines of {}", grid.title)));
    let picture =
        LinesPicture { left: rect.left() + left, right: rect.right() - right, top: rect.top(), step: PLAIN_STEP };
    let ink = match grid.scale {
        Scale::Share { hue, .. } => palette.head(hue),
        Scale::Signed { .. } => palette.ink,
    };
    for (query, key) in (0..grid.rows.len()).flat_map(|query| (0..grid.cols.len()).map(move |key| (query, key))) {
        let weight = grid.value(query, key).map_or(0.0, |shown| grid.share(shown));
        if weight >= LEAST {
            let stroke = Stroke::new(weight_line::width(weight), ink.gamma_multiply(weight_line::opacity(weight)));
            let curve = picture.curve(query, key, 0.0);
            ui.painter().add(CubicBezierShape::from_points_stroke(curve, false, theme::CLEAR, stroke));
        }
    }
    let sides = [
        (&grid.rows, picture.left - size::GAP_TIGHT, Align2::RIGHT_CENTER),
        (&grid.cols, picture.right + size::GAP_TIGHT, Align2::LEFT_CENTER),
    ];
    for (words, x, align) in sides {
        for (row, word) in words.iter().enumerate() {
            ui.painter().text(Pos2::new(x, picture.y(row)), align, word, theme::plain(size::LABEL), palette.ink_soft);
        }
    }
}

/// The height of a row of a picture of lines in which nothing can be chosen, in points.
const PLAIN_STEP: f32 = 15.0;
/// The least width of a picture of lines in which nothing can be chosen, in points.
const PLAIN_WIDTH: f32 = 260.0;

struct LinesPicture {
    left: f32,
    right: f32,
    top: f32,
    step: f32,
}

impl LinesPicture {
    fn y(&self, row: usize) -> f32 {
        self.top + (row as f32 + 0.5) * self.step
    }

    /// Returns the curve from a query to a key. With a different `shift` for each head, no line of a pair hides
    /// another.
    fn curve(&self, query: usize, key: usize, shift: f32) -> [Pos2; 4] {
        let (from, to) = (Pos2::new(self.left, self.y(query) + shift), Pos2::new(self.right, self.y(key) + shift));
        let bend = Vec2::new((self.right - self.left) / 2.0, 0.0);
        [from, from + bend, to - bend, to]
    }
}

fn picture_ui(ui: &mut Ui, maps: &[(&Grid, &HeadMap)], view: &mut PanelView) {
    let palette = Palette::on(ui);
    let Some((_, first)) = maps.first() else { return };
    titles_ui(ui, maps, palette);
    let widest = |labels: &[String]| labels.iter().map(|label| text_width(ui, label)).fold(0.0, f32::max) + size::GAP;
    let (left, right) = (widest(&first.queries), widest(&first.keys));
    let rows = first.queries.len().max(first.keys.len());
    let whole = Vec2::new(ui.available_width().max(left + right + size::CHART_MIN), rows as f32 * size::SLIDER_ROW);
    let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, "Lines from queries to keys"));
    let picture =
        LinesPicture { left: rect.left() + left, right: rect.right() - right, top: rect.top(), step: size::SLIDER_ROW };
    let chosen = query_row(first, view.selection);
    let mut lines = lines(maps, &picture);
    // The heaviest lines are drawn last, over the others, and those of the chosen query over all.
    lines.sort_by(|a, b| (Some(a.query) == chosen).cmp(&(Some(b.query) == chosen)).then(a.weight.total_cmp(&b.weight)));
    let hovered = response.hover_pos().and_then(|pointer| nearest(&lines, pointer, chosen));
    let is_pointed = |line: &WeightLine| view.hover.pair() == Some(line.map.pair(line.query, line.key));
    let painter = ui.painter().with_clip_rect(ui.clip_rect());
    for (index, line) in lines.iter().enumerate() {
        let is_lit = chosen.is_none_or(|query| query == line.query);
        let ink = palette
            .head(line.map.own)
            .gamma_multiply(weight_line::opacity(line.weight) * if is_lit { 1.0 } else { FAINT });
        let ink = if hovered == Some(index) || is_pointed(line) { palette.ink } else { ink };
        let stroke = Stroke::new(weight_line::width(line.weight), ink);
        painter.add(Shape::CubicBezier(CubicBezierShape::from_points_stroke(line.curve, false, theme::CLEAR, stroke)));
    }
    words_ui(ui, first, &picture, (rect, chosen), view);
    if let Some(index) = hovered {
        pair_ui(response, &lines[index], view);
    }
}

/// Handles the line under the pointer: a click makes the walk follow its pair, and a tooltip gives its weight.
fn pair_ui(response: Response, line: &WeightLine, view: &mut PanelView) {
    view.hover.point_at_pair(line.map.pair(line.query, line.key));
    if response.clicked() {
        choose(view.selection, line.map, line.query, line.key);
    }
    let entry = line.map.entry(line.query, line.key);
    if let Some(entry) = entry {
        ask_on(&response, entry, view.trail);
    }
    response.on_hover_ui_at_pointer(|ui| {
        line.grid.pair_card(line.query, line.key).iter().for_each(|text| text_ui(ui, text));
        ui.weak(format!("Click to follow this pair. {}", if entry.is_some() { ASK_HINT } else { OF_PIECES }));
    });
}

fn titles_ui(ui: &mut Ui, maps: &[(&Grid, &HeadMap)], palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP;
        for (grid, map) in maps {
            ui.label(RichText::new(&grid.title).font(theme::strong(size::BODY)).color(palette.head(map.own)));
        }
        ui.weak("queries left, keys right");
    });
}

struct WeightLine<'a> {
    grid: &'a Grid,
    map: &'a HeadMap,
    query: usize,
    key: usize,
    /// The value that the map shows for the pair, as a share from 0 to 1, which sets the width and the opacity.
    weight: f32,
    curve: [Pos2; 4],
}

fn lines<'a>(maps: &[(&'a Grid, &'a HeadMap)], picture: &LinesPicture) -> Vec<WeightLine<'a>> {
    const APART: f32 = 2.5;
    let mut lines = Vec::new();
    // A head that is switched off adds nothing, so it has no lines.
    for (place, (grid, map)) in maps.iter().enumerate().filter(|(_, (_, map))| map.enabled) {
        let shift = APART * (place as f32 - (maps.len() - 1) as f32 / 2.0);
        let pairs = (0..map.queries.len()).flat_map(|query| (0..map.keys.len()).map(move |key| (query, key)));
        for (query, key) in pairs {
            let weight = grid.value(query, key).map_or(0.0, |shown| grid.share(shown));
            if weight >= LEAST {
                lines.push(WeightLine { grid, map, query, key, weight, curve: picture.curve(query, key, shift) });
            }
        }
    }
    lines
}

/// Returns the index of the line that the pointer is on. If a query is chosen, only its lines count.
fn nearest(lines: &[WeightLine], pointer: Pos2, chosen: Option<usize>) -> Option<usize> {
    let distance = |line: &WeightLine| {
        let curve = CubicBezierShape::from_points_stroke(line.curve, false, theme::CLEAR, Stroke::NONE);
        (0..=SAMPLES).map(|i| curve.sample(i as f32 / SAMPLES as f32).distance(pointer)).fold(f32::INFINITY, f32::min)
    };
    let seen = |line: &&WeightLine| chosen.is_none_or(|query| query == line.query);
    let near = lines.iter().enumerate().filter(|(_, line)| seen(line)).map(|(index, line)| (index, distance(line)));
    let near = near.filter(|(_, distance)| *distance <= REACH);
    near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

/// Draws the words at both ends. Each query is a button that chooses it.
fn words_ui(
    ui: &Ui,
    map: &HeadMap,
    picture: &LinesPicture,
    (rect, chosen): (Rect, Option<usize>),
    view: &mut PanelView,
) {
    for row in 0..map.queries.len() {
        let at = Rect::from_min_size(
            Pos2::new(rect.left(), picture.top + row as f32 * picture.step),
            Vec2::new(picture.left - rect.left(), picture.step),
        );
        let response = ui.interact(at, ui.id().with(("query", row)), Sense::click());
        let query = Query { map, row, is_chosen: chosen == Some(row) };
        query.paint(ui, &response, Pos2::new(picture.left - size::GAP_TIGHT, at.center().y), size::LABEL);
        query.react(response, ", lines", "lines", view);
    }
    for (row, key) in map.keys.iter().enumerate() {
        let start = Pos2::new(picture.right + size::GAP_TIGHT, picture.y(row));
        ui.painter().text(start, Align2::LEFT_CENTER, key, theme::plain(size::LABEL), Palette::on(ui).ink_soft);
    }
}
