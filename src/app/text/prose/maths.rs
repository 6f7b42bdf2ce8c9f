//! A formula on the screen: glyphs from egui's atlas, bars on whole pixels, outlines with soft edges.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use egui::epaint::text::{LayoutJob, TextFormat};
use egui::epaint::{Mesh, TextShape};
use egui::{Color32, FontId, Pos2, Rect, Shape, Stroke, Ui, Vec2, pos2, vec2};

use super::formula::{self, Formula, Segment};
use crate::app::theme::{Palette, size};

/// The largest outline that is drawn, in pixels.
const OUTLINE_PIXELS_MAX: f32 = 2_000_000.0;
/// Horizontal places of a glyph within a pixel; egui's atlas keeps as many.
const PLACES: f32 = 4.0;

/// Draws `formula` with the left end of its baseline at `baseline`; `em` is its size in points.
pub fn formula_ui(ui: &Ui, formula: &Formula, baseline: Pos2, em: f32, ink: Color32) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let baseline = snapped(baseline, ui.pixels_per_point());
    let whole = formula.place(baseline, em);
    if !ui.is_rect_visible(whole.expand(em)) {
        return;
    }
    for mark in &formula.marks {
        let color = mark.color.map_or(ink, |rgb| palette.chosen(rgb));
        match &mark.shape {
            formula::Shape::Glyph { at, scale, family, glyph } => {
                let font = FontId::new(em * scale, family.clone());
                glyph_ui(ui, baseline + at.to_vec2() * em, font, *glyph, color);
            }
            formula::Shape::Bar { rect, dashed } => bar_ui(ui, *rect * em, baseline.to_vec2(), *dashed, color),
            formula::Shape::Outline { at, path, filled } => {
                let place = |p: Pos2| baseline + (p.to_vec2() + *at) * em;
                if *filled {
                    ui.painter().add(filled_outline(ui, path, place, color));
                } else {
                    stroke_ui(ui, path, place, color);
                }
            }
        }
    }
}

impl Formula {
    /// Rectangle of the formula with the left end of its baseline at `baseline`.
    pub fn place(&self, baseline: Pos2, em: f32) -> Rect {
        let up = vec2(0.0, self.ascent * em);
        Rect::from_min_size(baseline - up, vec2(self.width, self.ascent + self.descent) * em)
    }
}

/// One glyph with its origin at `at`: whole pixels vertically, quarters horizontally.
fn glyph_ui(ui: &Ui, at: Pos2, font: FontId, glyph: char, color: Color32) {
    let ppp = ui.pixels_per_point();
    let quarters = (at.x * ppp * PLACES).round();
    let pixel = (quarters / PLACES).floor();
    let within = (quarters / PLACES - pixel) / ppp;
    let galley = ui.fonts_mut(|fonts| {
        let format = TextFormat::simple(font, Color32::PLACEHOLDER);
        let mut job = LayoutJob::single_section(glyph.to_string(), format);
        job.sections.iter_mut().for_each(|section| section.leading_space = within);
        job.wrap.max_width = f32::INFINITY;
        fonts.layout_job(job)
    });
    let Some(row) = galley.rows.first() else { return };
    let ascent = row.pos.y + row.glyphs.first().map_or(0.0, |glyph| glyph.pos.y);
    let corner = pos2(pixel / ppp, snapped(at, ppp).y - ascent);
    ui.painter().add(TextShape::new(corner, galley, color));
}

/// A fraction's bar, a root's roof, a frame: at least a pixel, and on pixels.
fn bar_ui(ui: &Ui, rect: Rect, offset: Vec2, dashed: bool, color: Color32) {
    let ppp = ui.pixels_per_point();
    let rect = rect.translate(offset);
    let whole = |length: f32| ((length * ppp).round().max(1.0)) / ppp;
    let on_pixel = |x: f32| (x * ppp).round() / ppp;
    let thin = vec2(whole(rect.width()), whole(rect.height()));
    let middle = rect.center();
    let min = if rect.width() > rect.height() {
        pos2(rect.min.x, on_pixel(middle.y - thin.y / 2.0))
    } else {
        pos2(on_pixel(middle.x - thin.x / 2.0), rect.min.y)
    };
    let rect = Rect::from_min_size(min, thin);
    if dashed {
        let ends = [rect.left_center(), rect.right_center()];
        let (dash, gap) = (3.0 * thin.y, 3.0 * thin.y);
        ui.painter().extend(Shape::dashed_line(&ends, Stroke::new(thin.y, color), dash, gap));
    } else {
        ui.painter().rect_filled(rect, 0.0, color);
    }
}

/// The few outlines that are lines: cancelled terms, circled integrals.
fn stroke_ui(ui: &Ui, path: &[Segment], place: impl Fn(Pos2) -> Pos2, color: Color32) {
    let stroke = Stroke::new(size::HAIRLINE, color);
    let mut line: Vec<Pos2> = Vec::new();
    for segment in path {
        if let (Segment::Move(_), [_, _, ..]) = (segment, &line[..]) {
            ui.painter().add(Shape::line(std::mem::take(&mut line), stroke));
        }
        let from = line.last().copied().unwrap_or_default();
        match *segment {
            Segment::Move(to) => line = vec![place(to)],
            Segment::Line(to) => line.push(place(to)),
            Segment::Quad(a, to) => {
                let points = [from, place(a), place(to)];
                let curve = egui::epaint::QuadraticBezierShape::from_points_stroke(points, false, color, stroke);
                line.extend(curve.flatten(None));
            }
            Segment::Cubic(a, b, to) => {
                let points = [from, place(a), place(b), place(to)];
                let curve = egui::epaint::CubicBezierShape::from_points_stroke(points, false, color, stroke);
                line.extend(curve.flatten(None));
            }
            Segment::Close => line.extend(line.first().copied()),
        }
    }
    if line.len() > 1 {
        ui.painter().add(Shape::line(line, stroke));
    }
}

/// A filled outline as exact coverage of the screen's pixels: each run of equal pixels is one quad.
fn filled_outline(ui: &Ui, path: &[Segment], place: impl Fn(Pos2) -> Pos2, color: Color32) -> Shape {
    let ppp = ui.pixels_per_point();
    let pixels = |p: Pos2| place(p) * ppp;
    let mut bounds = Rect::NOTHING;
    path.iter().flat_map(Segment::points).for_each(|p| bounds.extend_with(pixels(p)));
    // Only what can be seen is drawn, and an outline on a pixel's edge keeps within the grid.
    let bounds = Rect::from_min_max(bounds.min.floor(), bounds.max.ceil()).expand(1.0);
    if !bounds.is_positive() || bounds.area() > OUTLINE_PIXELS_MAX {
        return Shape::Noop;
    }
    let (width, height) = (bounds.width() as usize, bounds.height() as usize);
    let mut raster = Rasterizer::new(width, height);
    draw(&mut raster, path, |p| {
        let p = pixels(p) - bounds.min;
        point(p.x, p.y)
    });
    let transfer = ui.visuals().text_options.color_transfer_function;
    let mut mesh = Mesh::default();
    let mut run = Run { y: 0, start: 0, alpha: 0 };
    let mut end = |run: &Run, x: usize| {
        if run.alpha > 0 {
            let min = bounds.min + vec2(run.start as f32, run.y as f32);
            let size = vec2((x - run.start) as f32, 1.0);
            let opacity = f32::from(run.alpha) / f32::from(u8::MAX);
            mesh.add_colored_rect(Rect::from_min_size(min / ppp, size / ppp), color.gamma_multiply(opacity));
        }
    };
    raster.for_each_pixel(|i, coverage| {
        let (x, y) = (i % width, i / width);
        let alpha = (transfer.alpha_from_coverage(coverage) * f32::from(u8::MAX)).round() as u8;
        if y != run.y {
            end(&run, width);
            run = Run { y, start: 0, alpha };
        } else if alpha != run.alpha {
            end(&run, x);
            run = Run { y, start: x, alpha };
        }
    });
    Shape::mesh(mesh)
}

/// Neighbouring pixels of one opacity.
struct Run {
    y: usize,
    start: usize,
    alpha: u8,
}

fn draw(raster: &mut Rasterizer, path: &[Segment], place: impl Fn(Pos2) -> Point) {
    let (mut first, mut last) = (point(0.0, 0.0), point(0.0, 0.0));
    for segment in path {
        match *segment {
            Segment::Move(to) => {
                raster.draw_line(last, first);
                (first, last) = (place(to), place(to));
            }
            Segment::Line(to) => {
                raster.draw_line(last, place(to));
                last = place(to);
            }
            Segment::Quad(a, to) => {
                raster.draw_quad(last, place(a), place(to));
                last = place(to);
            }
            Segment::Cubic(a, b, to) => {
                raster.draw_cubic(last, place(a), place(b), place(to));
                last = place(to);
            }
            Segment::Close => {
                raster.draw_line(last, first);
                last = first;
            }
        }
    }
    raster.draw_line(last, first);
}

/// Baselines lie on whole pixels, so that letters are as sharp as elsewhere.
pub fn snapped(point: Pos2, pixels_per_point: f32) -> Pos2 {
    Pos2::new(point.x, (point.y * pixels_per_point).round() / pixels_per_point)
}
