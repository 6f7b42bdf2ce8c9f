//! Plots of code cells, the plots of curves in panels, and a small flat picture of a stage. No plot can be moved or
//! zoomed.

use std::sync::Arc;

use attune_view::view_model::output::{LineModel, PlotModel, tell};
use attune_view::view_model::pictures::Sketch;
use egui::epaint::CubicBezierShape;
use egui::{
    Align, Align2, Color32, EventFilter, FontId, Galley, Key, Layout, Modifiers, Painter, Pos2, Rect, Response,
    RichText, Sense, Stroke, Ui, Vec2, WidgetInfo, WidgetType, pos2, vec2,
};
use egui_plot::{GridInput, GridMark, HoverPosition, Line, LineStyle, Plot, PlotPoints, Points};

use crate::theme::{self, Palette, TEXT_CONTRAST, size};
use crate::widgets::arrow::arrow;
use crate::widgets::glow::Glow;
use crate::widgets::heat::width_of;

pub fn plot_ui(ui: &mut Ui, plot: &PlotModel) {
    let palette = Palette::on(ui);
    if plot.lines.iter().any(|line| !line.name.is_empty()) {
        legend_ui(ui, plot, palette);
    }
    ui.scope(|ui| {
        ui.style_mut().text_styles.insert(egui::TextStyle::Body, theme::plain(size::SMALL));
        let [x, y] = &plot.axes;
        axis_name_ui(ui, y, Align::Min);
        lines_ui(ui, plot, palette);
        axis_name_ui(ui, x, Align::Max);
    });
    if let Some(note) = plot.left_out_note() {
        ui.weak(note);
    }
}

fn lines_ui(ui: &mut Ui, plot: &PlotModel, palette: &Palette) {
    let id = ui.id().with("plot");
    // The scroll wheel over a plot must scroll the notebook.
    let shown = Plot::new(id)
        .id(id)
        .height(size::PLOT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .grid_color(palette.line)
        .label_formatter(|at| match at {
            HoverPosition::NearDataPoint { plot_name, position, .. } => Some(tell(plot_name, position.x, position.y)),
            HoverPosition::Elsewhere { .. } => None,
        })
        .show(ui, |ui| {
            for (i, line) in plot.lines.iter().enumerate() {
                line_ui(ui, line, i, palette);
            }
        });
    shown.response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, plot.summary()));
}

/// Writes the name of an axis above or below a plot, at its left or right end: within its frame the name would cover
/// points.
fn axis_name_ui(ui: &mut Ui, name: &str, end: Align) {
    if !name.is_empty() {
        let name = RichText::new(name).font(theme::plain(size::LABEL_AXIS)).color(Palette::on(ui).ink_soft);
        ui.with_layout(Layout::top_down(end), |ui| ui.label(name));
    }
}

/// Writes the names of the axes of a plot of curves, with their units, inside its frame: the vertical axis at its top,
/// the horizontal one at its end.
pub fn name_axes(ui: &Ui, frame: Rect, x: &str, y: &str) {
    let palette = Palette::on(ui);
    let inner = frame.shrink(size::GAP_TIGHT / 2.0);
    for (name, at, align) in [(x, inner.right_bottom(), Align2::RIGHT_BOTTOM), (y, inner.left_top(), Align2::LEFT_TOP)]
    {
        let galley = ui.painter().layout_no_wrap(name.to_owned(), theme::plain(size::LABEL_AXIS), palette.ink_soft);
        let place = align.anchor_size(at, galley.size());
        // Lines of the plot continue behind the name.
        ui.painter().rect_filled(place, size::RADIUS_SMALL, palette.surface.gamma_multiply(NAMES_GROUND));
        ui.painter().galley(place.min, galley, palette.ink_soft);
    }
}

/// The opacity of the background under an axis name.
const NAMES_GROUND: f32 = 0.8;

fn line_ui<'p>(ui: &mut egui_plot::PlotUi<'p>, line: &'p LineModel, i: usize, palette: &Palette) {
    for piece in &line.pieces {
        let points = || PlotPoints::from_iter(piece.iter().copied());
        let color = palette.head(i);
        ui.line(Line::new(&line.name, points()).color(color).width(size::CURVE).style(style(i, palette)));
        if line.marked || piece.len() == 1 {
            ui.points(Points::new(&line.name, points()).color(color).radius(size::CURVE + size::HAIRLINE));
        }
    }
}

/// Returns the line style, which tells lines apart when the hues repeat.
fn style(i: usize, palette: &Palette) -> LineStyle {
    match i / palette.heads.len() % 3 {
        0 => LineStyle::Solid,
        1 => LineStyle::dashed_loose(),
        _ => LineStyle::dotted_loose(),
    }
}

fn legend_ui(ui: &mut Ui, plot: &PlotModel, palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        for (i, line) in plot.lines.iter().enumerate() {
            // A row of known width wraps as a whole.
            let font = theme::plain(size::SMALL);
            let width = size::GAP_WIDE + 2.0 * size::GAP_TIGHT + width_of(ui, &line.name, font.clone());
            let room = vec2(width, ui.spacing().interact_size.y);
            ui.allocate_ui_with_layout(room, Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
                let (rect, _) = ui.allocate_exact_size(Vec2::new(size::GAP_WIDE, size::SMALL), Sense::hover());
                let ends = [rect.left_center(), rect.right_center()];
                let stroke = Stroke::new(size::OUTLINE, palette.head(i));
                match style(i, palette) {
                    LineStyle::Solid => _ = ui.painter().line_segment(ends, stroke),
                    _ => {
                        ui.painter().extend(egui::Shape::dashed_line(&ends, stroke, size::GAP_TIGHT, size::OUTLINE));
                    }
                }
                ui.label(RichText::new(&line.name).font(font));
            });
        }
    });
}

/// Returns an empty plot for the curves of a panel.
pub fn curve_plot<'a>(name: &str, height: f32, palette: &Palette) -> Plot<'a> {
    Plot::new(name)
        .height(height.clamp(size::CURVE_MIN, size::CHART_MAX))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .label_formatter(|_| None)
        .sense(Sense::click_and_drag())
        .grid_color(palette.line)
        .x_grid_spacer(ticks)
        .y_grid_spacer(ticks)
}

/// Returns the place on a curve that the user asks for: at the pointer while it is pressed, or moved from `now` by the
/// arrow keys, up to `last`. With Shift, an arrow moves by `far` places.
pub fn cursor(
    ui: &Ui,
    response: &Response,
    (now, last): (usize, usize),
    far: usize,
    at: impl Fn(f32) -> usize,
) -> Option<usize> {
    let mut wanted = None;
    // The last move may arrive in the frame in which the button is released.
    if response.is_pointer_button_down_on() || response.drag_stopped() || response.clicked() {
        response.request_focus();
        wanted = response.interact_pointer_pos().map(|pointer| at(pointer.x));
    }
    if response.has_focus() {
        let arrows = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let turned = |modifiers, key| ui.input_mut(|input| input.count_and_consume_key(modifiers, key));
        let by = |key| turned(Modifiers::SHIFT, key) * far + turned(Modifiers::NONE, key);
        let (on, back) = (by(Key::ArrowRight), by(Key::ArrowLeft));
        if on != back {
            wanted = Some((now + on).saturating_sub(back).min(last));
        }
    }
    wanted
}

/// Returns grid marks at a few round numbers. egui_plot's default marks are powers of ten, of which an axis may have
/// only one.
fn ticks(input: GridInput) -> Vec<GridMark> {
    let (from, to) = input.bounds;
    let step_size = round_step(to - from);
    if !step_size.is_normal() {
        return Vec::new();
    }
    let (first, last) = ((from / step_size).ceil() as i64, (to / step_size).floor() as i64);
    (first..=last).map(|i| GridMark { value: i as f64 * step_size, step_size }).collect()
}

/// Returns the smallest step of 1, 2 or 5 times a power of ten that divides `length` into a few parts.
fn round_step(length: f64) -> f64 {
    const FEW: f64 = 4.0;
    const BASE: f64 = 10.0;
    const ROUND: [f64; 3] = [1.0, 2.0, 5.0];
    let least = length / FEW;
    let power = BASE.powf(least.log10().floor());
    ROUND.into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(BASE * power)
}

/// Formats a number with enough decimals to tell it from its neighbours at a distance of `digit`.
pub fn tick_text(value: f64, digit: f64) -> String {
    let decimals = (-digit.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}").replace('-', "−")
}

/// Radius of a dot of a sketch, and of an end of an arrow.
const DOT: f32 = 2.0;
const END: f32 = 4.0;

/// Draws the groups with their names, and each highlighted word moved by the share `time`, from 0 to 1.
pub fn sketch_ui(ui: &Ui, sketch: &Sketch, rect: Rect, time: f32) {
    /// The margins: left and right in points, top and bottom as a share of the height.
    const MARGIN: (f32, f32) = (34.0, 0.14);
    const FAINT: f32 = 0.75;
    /// Possible distances between a point and its name; the nearest one with room is used.
    const APART: [f32; 3] = [size::GAP_TIGHT, size::GAP, size::GAP_WIDE];
    /// The least radius of a glow's rim, as a share of the height.
    const LEAST: f32 = 0.09;
    let palette = Palette::on(ui);
    let painter = ui.painter_at(rect);
    let half = (rect.size() / 2.0 - vec2(MARGIN.0, MARGIN.1 * rect.height())).max(Vec2::ZERO);
    let at = |[x, y]: [f32; 2]| rect.center() + vec2(x * half.x, -y * half.y);
    let color = |group: Option<usize>| group.map_or(palette.ink_faint, |group| palette.group(group));
    for (group, ellipse) in sketch.glows(half.into(), LEAST * rect.height()) {
        Glow::around(&ellipse, rect.center()).paint(&painter, palette.group(group));
    }
    for (place, group) in &sketch.dots {
        painter.circle_filled(at(*place), DOT, color(*group).gamma_multiply(FAINT));
    }
    // Names keep clear of each other, of arrows and of all dots. One without room is left out; the names of groups come
    // last, so they are the first to be left out.
    let mut taken = taken_places(sketch, time, at);
    let mut write = |middle: Pos2, sides: [Align2; 4], name: &str, font: FontId, ink| {
        let galley = painter.layout_no_wrap(name.to_owned(), font, ink);
        let all = APART.into_iter().flat_map(|apart| sides.map(|side| (apart, side)));
        let mut places = all.map(|(apart, side)| {
            let away = vec2(side.x().to_sign(), side.y().to_sign()) * -(END + apart);
            side.anchor_size(middle + away, galley.size())
        });
        let is_free = |place: &Rect| rect.contains_rect(*place) && !taken.iter().any(|other| other.intersects(*place));
        if let Some(place) = places.find(is_free) {
            taken.push(place);
            painter.galley(place.min, galley, ink);
        }
    };
    let arrows = sketch.moves.iter().map(|way| (at(way.start), at(way.at(time)), &way.label));
    for (way, (start, end, _)) in sketch.moves.iter().zip(arrows.clone()) {
        let hue = sketch.reached(way).map_or(palette.ink, |group| palette.group(group));
        paint_move(&painter, start, end, hue, palette);
    }
    for (start, end, name) in arrows {
        write(end, sides_of(start, end, rect.center().x), name, theme::strong(size::SMALL), palette.ink);
    }
    for (name, place, group) in &sketch.crowds {
        let sides = [Align2::CENTER_BOTTOM, Align2::CENTER_TOP, Align2::LEFT_CENTER, Align2::RIGHT_CENTER];
        write(at(*place), sides, name, theme::plain(size::SMALL), color(Some(*group)));
    }
}

/// Returns the parts of a sketch that names must not cover: ends of arrows, dots and the arrows themselves.
fn taken_places(sketch: &Sketch, time: f32, at: impl Fn([f32; 2]) -> Pos2) -> Vec<Rect> {
    /// The distance between the places of an arrow that are avoided, in points.
    const STEP: f32 = 4.0;
    let around = |at: Pos2, radius: f32| Rect::from_center_size(at, Vec2::splat(2.0 * radius));
    let ends = sketch.moves.iter().flat_map(|way| [way.start, way.at(time)]).map(|place| around(at(place), END));
    let dots = sketch.dots.iter().map(|(place, _)| around(at(*place), DOT));
    let along = sketch.moves.iter().flat_map(|way| {
        let (start, end) = (at(way.start), at(way.at(time)));
        let steps = ((end - start).length() / STEP) as usize;
        (0..steps).map(move |step| around(start.lerp(end, step as f32 / steps as f32), size::OUTLINE))
    });
    ends.chain(dots).chain(along).collect()
}

/// Draws the move of a word, in the hue of the group that it reaches.
fn paint_move(painter: &Painter, start: Pos2, end: Pos2, hue: Color32, palette: &Palette) {
    arrow(painter, start, end, hue);
    painter.circle_stroke(start, END, Stroke::new(size::HAIRLINE, palette.ink_soft));
    painter.circle_filled(end, END, hue);
}

/// Draws the words of a sentence in a line, as large as fits, and above it the arcs of the words that move, in the hues
/// of the groups that they reach.
pub fn sentence_ui(ui: &Ui, sketch: &Sketch, rect: Rect) {
    /// The largest font size of the words.
    const WORDS: f32 = 40.0;
    /// The largest height of an arc, as a share of the drawing's height.
    const ARCS: f32 = 0.5;
    /// The gap between words, as a share of their font size.
    const GAP: f32 = 0.3;
    /// The height of the arc between neighbours, as a share of the height of the widest arc.
    const LEAST: f32 = 0.34;
    /// The width of an arc of weight 0, and what a weight of 1 adds.
    const WIDTH: (f32, f32) = (0.6, 10.0);
    /// The height of the middle of a curve, as a share of the height of its control points.
    const BULGE: f32 = 0.75;
    let palette = Palette::on(ui);
    let painter = ui.painter_at(rect);
    let hue = |word: usize| sketch.arcs.iter().find(|arc| arc.query == word).and_then(|arc| arc.group);
    let line = |size: f32| -> Vec<Arc<Galley>> {
        let words = sketch.sentence.iter().enumerate();
        let ink =
            |word| hue(word).map_or(palette.ink_soft, |group| palette.legible(palette.group(group), TEXT_CONTRAST));
        words.map(|(at, word)| painter.layout_no_wrap(word.clone(), theme::strong(size), ink(at))).collect()
    };
    let width = |words: &[Arc<Galley>], size: f32| {
        words.iter().map(|word| word.size().x).sum::<f32>() + GAP * size * words.len().saturating_sub(1) as f32
    };
    let size = WORDS * (rect.width() / width(&line(WORDS), WORDS).max(1.0)).min(1.0);
    let words = line(size);
    let top = rect.bottom() - words.first().map_or(0.0, |word| word.size().y);
    let mut left = rect.center().x - width(&words, size) / 2.0;
    let mut middles = Vec::with_capacity(words.len());
    for word in words {
        middles.push(left + word.size().x / 2.0);
        let next = left + word.size().x + GAP * size;
        painter.galley(pos2(left, top), word, palette.ink_soft);
        left = next;
    }
    for arc in &sketch.arcs {
        let (Some(from), Some(to)) = (middles.get(arc.query), middles.get(arc.key)) else { continue };
        let share = ((to - from).abs() / rect.width().max(1.0)).sqrt();
        let up = (top - rect.top()).min(rect.height() * ARCS) * (LEAST + (1.0 - LEAST) * share) / BULGE;
        let points = [pos2(*from, top), pos2(*from, top - up), pos2(*to, top - up), pos2(*to, top)];
        let ink = arc.group.map_or(palette.ink_soft, |group| palette.group(group)).gamma_multiply(arc.weight.sqrt());
        let stroke = Stroke::new(WIDTH.0 + WIDTH.1 * arc.weight, ink);
        painter.add(CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke));
    }
}

/// Returns the sides on which the name of a word is tried, in order. The first is beyond the end of its arrow or, if
/// the arrow is nearly vertical, towards the middle of the picture.
fn sides_of(start: Pos2, end: Pos2, middle: f32) -> [Align2; 4] {
    let is_right = if (end.x - start.x).abs() > END { end.x > start.x } else { end.x < middle };
    let mut sides = [Align2::LEFT_CENTER, Align2::RIGHT_CENTER, Align2::CENTER_TOP, Align2::CENTER_BOTTOM];
    sides[..2].rotate_left(usize::from(!is_right));
    sides[2..].rotate_left(usize::from(end.y <= start.y));
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    use attune_view::view_model::pictures::SketchMove;
    use egui::Shape;

    const CARD: Rect = Rect { min: Pos2::ZERO, max: Pos2::new(300.0, 150.0) };

    /// Returns the positions of the dots, and the rectangles of the names.
    fn drawn(content: impl FnMut(&mut Ui)) -> (Vec<Pos2>, Vec<Rect>) {
        const SCREEN: Rect = Rect { min: Pos2::ZERO, max: Pos2::new(300.0, 400.0) };
        let ctx = egui::Context::default();
        ctx.set_fonts(theme::fonts::definitions());
        let input = egui::RawInput { screen_rect: Some(SCREEN), ..egui::RawInput::default() };
        let mut output = ctx.run_ui(input, content);
        output.textures_delta.clear();
        let shapes = || output.shapes.iter().map(|clipped| &clipped.shape);
        let dots = shapes().filter_map(|shape| if let Shape::Circle(dot) = shape { Some(dot.center) } else { None });
        let names = shapes().filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None });
        (dots.collect(), names.map(|text| text.visual_bounding_rect()).collect())
    }

    #[test]
    fn names_of_a_card_lie_on_no_dot() {
        let around = |[x, y]: [f32; 2], group| {
            (0..9).map(move |i| ([x + 0.06 * (i % 3) as f32, y + 0.09 * (i / 3) as f32], group))
        };
        let step = |label: &str, end| SketchMove { start: [0.0, 0.0], end, label: label.to_owned() };
        let sketch = Sketch {
            dots: around([-0.6, 0.5], Some(0))
                .chain(around([0.5, -0.4], Some(1)))
                .chain(around([0.4, 0.5], None))
                .collect(),
            moves: vec![step("first", [-0.45, 0.4]), step("second", [0.45, 0.55])],
            crowds: vec![("fruit".to_owned(), [-0.55, 0.7], 0), ("company".to_owned(), [0.55, -0.2], 1)],
            ..Sketch::default()
        };
        let (dots, names) = drawn(|ui| sketch_ui(ui, &sketch, CARD, 1.0));
        assert_eq!((dots.len(), names.len()), (31, 4));
        for name in names {
            assert!(!dots.iter().any(|dot| name.contains(*dot)), "{name:?}");
        }
    }

    #[test]
    fn names_of_axes_lie_on_no_point() {
        let point = |at| LineModel { name: String::new(), pieces: vec![vec![at]], marked: true };
        let axes = ["from left to right", "upwards"].map(str::to_owned);
        let plot = PlotModel { lines: vec![point([0.0, 1.0]), point([1.0, 0.0])], left_out: 0, axes };
        let (points, names) = drawn(|ui| plot_ui(ui, &plot));
        assert!(points.len() >= 2 && names.len() > 2, "{points:?} {names:?}");
        for name in names {
            assert!(!points.iter().any(|point| name.contains(*point)), "{name:?} {points:?}");
        }
    }

    #[test]
    fn an_axis_has_a_few_round_ticks() {
        let values = |from: f64, to: f64| {
            let marks = ticks(GridInput { bounds: (from, to), base_step_size: 1.0 });
            marks.into_iter().map(|mark| tick_text(mark.value, mark.step_size)).collect::<Vec<_>>()
        };
        assert_eq!(values(-5.0, 605.0), ["0", "200", "400", "600"]);
        assert_eq!(values(0.0, 0.7), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(values(0.0, 1e5), ["0", "50000", "100000"]);
        assert_eq!(values(0.0, 0.0), Vec::<String>::new());
        assert_eq!(values(f64::NAN, 1.0), Vec::<String>::new());
    }
}
