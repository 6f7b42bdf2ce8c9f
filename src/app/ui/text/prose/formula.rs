//! LaTeX formulas: laid out as glyphs, bars and outlines in em, and drawn with glyphs from egui's atlas, bars aligned
//! to pixels, and anti-aliased outlines.
//!
//! RaTeX (pure Rust, MIT) parses a formula and lays it out by KaTeX's rules and metrics, offline and without
//! JavaScript. Its own renderers would add a second rasteriser for text. Instead, its display list is drawn with egui's
//! text, so that formulas are as sharp as the text around them.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use attune_engine::panics::quietly;
use egui::epaint::text::{LayoutJob, TextFormat};
use egui::epaint::{Mesh, TextShape};
use egui::{Color32, FontFamily, FontId, Pos2, Rect, Stroke, Ui, Vec2, pos2, vec2};
use ratex_layout::{LayoutOptions, layout, to_display_list, validate_layout};
use ratex_types::color::Color;
use ratex_types::display_item::{DisplayItem, DisplayList};
use ratex_types::math_style::MathStyle;
use ratex_types::path_command::PathCommand;

use crate::theme::{Palette, Role, fonts, size};

/// The largest length of a formula, in bytes.
pub const SOURCE_BYTES_MAX: usize = 2000;
/// The largest width, in em. Nesting and expansion need no limit here, because RaTeX has its own (32 levels, 1000
/// expansions).
const WIDTH_MAX: f32 = 200.0;
/// The largest height, in em.
const HEIGHT_MAX: f32 = 60.0;
/// The largest number of glyphs, bars and outlines.
const MARKS_MAX: usize = 2000;
/// Commands that are refused: with definitions, a short source could expand to a long one, and chemistry loads large
/// tables. No lesson needs them.
const REFUSED: &[&str] = &[
    "\\def",
    "\\gdef",
    "\\edef",
    "\\xdef",
    "\\let",
    "\\futurelet",
    "\\newcommand",
    "\\renewcommand",
    "\\providecommand",
    "\\global",
    "\\long",
    "\\ce",
    "\\pu",
];

/// A formula's source, and its layout or the reason why it has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Maths {
    pub source: String,
    /// The layout, or the reason why the source is not a valid formula.
    pub formula: Result<Formula, String>,
    /// The glossary index of the term whose symbol the formula is; `None` if there is no such term.
    pub term: Option<usize>,
}

/// A layout of placed marks. The origin is the left end of the baseline, y points down, and the unit is one em.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formula {
    pub width: f32,
    pub ascent: f32,
    pub descent: f32,
    pub marks: Vec<FormulaMark>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FormulaMark {
    pub shape: MarkShape,
    /// The colour that the formula chose, as red, green and blue in [0, 1]; `None` for the colour of the role or of the
    /// text.
    pub color: Option<[f32; 3]>,
    /// The role in attention that the letter stands for.
    pub role: Option<Role>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MarkShape {
    Glyph { at: Pos2, scale: f32, family: FontFamily, glyph: char },
    Bar { rect: Rect, dashed: bool },
    Outline { at: Vec2, path: Vec<Segment>, filled: bool },
}

/// A segment of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    Move(Pos2),
    Line(Pos2),
    Quad(Pos2, Pos2),
    Cubic(Pos2, Pos2, Pos2),
    Close,
}

impl Maths {
    pub fn typeset(source: &str, display: bool) -> Maths {
        Maths { source: source.trim().to_owned(), formula: typeset(source.trim(), display), term: None }
    }

    pub fn refused(source: &str, why: String) -> Maths {
        Maths { source: source.trim().to_owned(), formula: Err(why), term: None }
    }
}

fn typeset(source: &str, display: bool) -> Result<Formula, String> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(format!("the formula has {} bytes; at most {SOURCE_BYTES_MAX} are allowed", source.len()));
    }
    if let Some(name) = commands(source).find(|name| REFUSED.contains(name)) {
        return Err(format!("{name} is not allowed in the formulas of a lesson"));
    }
    // A panic in the library must not end the program: the formula's source is shown instead.
    let list =
        quietly(|| lay_out(source, display)).unwrap_or_else(|_| Err("this formula cannot be typeset".to_owned()))?;
    placed(&list)
}

/// Returns the names of the commands, each with its backslash.
fn commands(source: &str) -> impl Iterator<Item = &str> {
    source.match_indices('\\').map(|(at, _)| {
        let name = source[at + 1..].bytes().take_while(u8::is_ascii_alphabetic).count();
        &source[at..=at + name]
    })
}

fn lay_out(source: &str, display: bool) -> Result<DisplayList, String> {
    let ast = ratex_parser::parse(source).map_err(|error| match error.loc {
        Some(at) => format!("{} (at character {})", error.message, characters(source, at.start) + 1),
        None => error.message,
    })?;
    let style = if display { MathStyle::Display } else { MathStyle::Text };
    let boxes = layout(&ast, &LayoutOptions::default().with_style(style));
    let (width, height) = (boxes.width as f32, (boxes.height + boxes.depth) as f32);
    // The condition is written so that it refuses NaN too.
    if !(width <= WIDTH_MAX && height <= HEIGHT_MAX) {
        return Err(format!(
            "the formula is too large; at most {WIDTH_MAX} em in width and {HEIGHT_MAX} em in height \
            are allowed"
        ));
    }
    validate_layout(&boxes)?;
    Ok(to_display_list(&boxes))
}

fn characters(source: &str, bytes: usize) -> usize {
    source.char_indices().take_while(|(at, _)| *at < bytes).count()
}

fn placed(list: &DisplayList) -> Result<Formula, String> {
    if list.items.len() > MARKS_MAX {
        return Err(format!("the formula has {} symbols; at most {MARKS_MAX} are allowed", list.items.len()));
    }
    let baseline = list.height;
    let mut marks: Vec<FormulaMark> = list.items.iter().map(|item| mark(item, baseline)).collect();
    give_roles(&mut marks);
    let formula = Formula { width: list.width as f32, ascent: list.height as f32, descent: list.depth as f32, marks };
    if formula.marks.iter().all(|mark| mark.shape.within_bounds()) {
        Ok(formula)
    } else {
        Err("a part of this formula would be drawn far outside it".to_owned())
    }
}

/// Assigns the letters of queries, keys and values their roles, in formulas that have two of these roles: elsewhere,
/// `v` can be any vector and `k` any number. Lower-case subscripts, such as the `k` of `d_k`, have no role.
fn give_roles(marks: &mut [FormulaMark]) {
    const BELOW: f32 = 0.9;
    let role_of = |mark: &FormulaMark| match &mark.shape {
        MarkShape::Glyph { scale, glyph, .. } if *scale > BELOW || glyph.is_uppercase() => Role::of_letter(*glyph),
        _ => None,
    };
    let roles: Vec<Option<Role>> = marks.iter().map(role_of).collect();
    let first = roles.iter().flatten().next();
    if roles.iter().flatten().any(|role| Some(role) != first) {
        marks.iter_mut().zip(roles).for_each(|(mark, role)| mark.role = role);
    }
}

fn mark(item: &DisplayItem, baseline: f64) -> FormulaMark {
    let at = |x: &f64, y: &f64| pos2(*x as f32, (*y - baseline) as f32);
    let (shape, color) = match item {
        DisplayItem::GlyphPath { x, y, scale, font, char_code, color } => {
            let glyph = char::from_u32(*char_code).unwrap_or(char::REPLACEMENT_CHARACTER);
            let family = fonts::maths_family(font);
            (MarkShape::Glyph { at: at(x, y), scale: *scale as f32, family, glyph }, color)
        }
        DisplayItem::Line { x, y, width, thickness, color, dashed } => {
            let (width, thickness) = (*width as f32, *thickness as f32);
            let left = at(x, y) - vec2(0.0, thickness / 2.0);
            (MarkShape::Bar { rect: Rect::from_min_size(left, vec2(width, thickness)), dashed: *dashed }, color)
        }
        DisplayItem::Rect { x, y, width, height, color } => {
            let size = vec2(*width as f32, *height as f32);
            (MarkShape::Bar { rect: Rect::from_min_size(at(x, y), size), dashed: false }, color)
        }
        DisplayItem::Path { x, y, commands, fill, color } => {
            let path = commands.iter().map(segment).collect();
            (MarkShape::Outline { at: at(x, y).to_vec2(), path, filled: *fill }, color)
        }
    };
    FormulaMark { shape, color: (*color != Color::BLACK).then_some([color.r, color.g, color.b]), role: None }
}

fn segment(command: &PathCommand) -> Segment {
    let at = |x: f64, y: f64| pos2(x as f32, y as f32);
    match *command {
        PathCommand::MoveTo { x, y } => Segment::Move(at(x, y)),
        PathCommand::LineTo { x, y } => Segment::Line(at(x, y)),
        PathCommand::QuadTo { x1, y1, x, y } => Segment::Quad(at(x1, y1), at(x, y)),
        PathCommand::CubicTo { x1, y1, x2, y2, x, y } => Segment::Cubic(at(x1, y1), at(x2, y2), at(x, y)),
        PathCommand::Close => Segment::Close,
    }
}

impl MarkShape {
    /// Returns whether the mark is near the formula. It may be as far away as the largest width and height, and not
    /// only within the formula's box, which kerns and lowered parts may leave slightly.
    fn within_bounds(&self) -> bool {
        let near = |p: Pos2| p.x.abs() <= WIDTH_MAX && p.y.abs() <= HEIGHT_MAX;
        match self {
            MarkShape::Glyph { at, scale, .. } => near(*at) && (0.0..=HEIGHT_MAX).contains(scale),
            MarkShape::Bar { rect, .. } => near(rect.min) && near(rect.max),
            MarkShape::Outline { at, path, .. } => path.iter().flat_map(Segment::points).all(|p| near(p + *at)),
        }
    }
}

impl Segment {
    /// Returns the end point and the control points. The segment lies within the convex hull of these and of the point
    /// at which it starts, which is the end of the segment before it.
    pub fn points(&self) -> impl Iterator<Item = Pos2> {
        let points = match *self {
            Segment::Move(a) | Segment::Line(a) => [Some(a), None, None],
            Segment::Quad(a, b) => [Some(a), Some(b), None],
            Segment::Cubic(a, b, c) => [Some(a), Some(b), Some(c)],
            Segment::Close => [None; 3],
        };
        points.into_iter().flatten()
    }
}

/// The area of the largest outline that is drawn, in pixels.
const OUTLINE_PIXELS_MAX: f32 = 2_000_000.0;
/// The number of horizontal positions of a glyph within a pixel, as in egui's atlas.
const PLACES: f32 = 4.0;

/// Draws `formula` with the left end of its baseline at `baseline`; `em` is its size in points.
pub fn formula_ui(ui: &Ui, formula: &Formula, baseline: Pos2, em: f32, ink: Color32) {
    let palette = Palette::on(ui);
    let baseline = snapped(baseline, ui.pixels_per_point());
    let whole = formula.place(baseline, em);
    if !ui.is_rect_visible(whole.expand(em)) {
        return;
    }
    for mark in &formula.marks {
        let own = mark.role.map_or(ink, |role| role.hue(palette));
        let color = mark.color.map_or(own, |rgb| palette.chosen(rgb));
        match &mark.shape {
            MarkShape::Glyph { at, scale, family, glyph } => {
                let font = FontId::new(em * scale, family.clone());
                glyph_ui(ui, baseline + at.to_vec2() * em, font, *glyph, color);
            }
            MarkShape::Bar { rect, dashed } => bar_ui(ui, *rect * em, baseline.to_vec2(), *dashed, color),
            MarkShape::Outline { at, path, filled } => {
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
    /// Returns the formula's rectangle, with the left end of its baseline at `baseline`.
    pub fn place(&self, baseline: Pos2, em: f32) -> Rect {
        let up = vec2(0.0, self.ascent * em);
        Rect::from_min_size(baseline - up, vec2(self.width, self.ascent + self.descent) * em)
    }
}

/// Draws one glyph with its origin at `at`, rounded to whole pixels vertically and quarters horizontally.
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

/// Draws a bar of a fraction, a root or a frame, aligned to pixels and at least one pixel thick.
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
        ui.painter().extend(egui::Shape::dashed_line(&ends, Stroke::new(thin.y, color), dash, gap));
    } else {
        ui.painter().rect_filled(rect, 0.0, color);
    }
}

/// Draws an unfilled outline as lines, such as the stroke through a cancelled term or the circle of a contour integral.
fn stroke_ui(ui: &Ui, path: &[Segment], place: impl Fn(Pos2) -> Pos2, color: Color32) {
    let stroke = Stroke::new(size::HAIRLINE, color);
    let mut line: Vec<Pos2> = Vec::new();
    for segment in path {
        if let (Segment::Move(_), [_, _, ..]) = (segment, &line[..]) {
            ui.painter().add(egui::Shape::line(std::mem::take(&mut line), stroke));
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
        ui.painter().add(egui::Shape::line(line, stroke));
    }
}

/// Rasterises a filled outline with exact pixel coverage. Each run of equal pixels becomes one quad.
fn filled_outline(ui: &Ui, path: &[Segment], place: impl Fn(Pos2) -> Pos2, color: Color32) -> egui::Shape {
    let ppp = ui.pixels_per_point();
    let pixels = |p: Pos2| place(p) * ppp;
    let mut bounds = Rect::NOTHING;
    path.iter().flat_map(Segment::points).for_each(|p| bounds.extend_with(pixels(p)));
    // The margin keeps an outline on a pixel's edge within the grid.
    let bounds = Rect::from_min_max(bounds.min.floor(), bounds.max.ceil()).expand(1.0);
    if !bounds.is_positive() || bounds.area() > OUTLINE_PIXELS_MAX {
        return egui::Shape::Noop;
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
    egui::Shape::mesh(mesh)
}

/// A row of neighbouring pixels with the same opacity.
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

/// Rounds a baseline to whole pixels, so that letters are as sharp as in other text.
pub fn snapped(point: Pos2, pixels_per_point: f32) -> Pos2 {
    Pos2::new(point.x, (point.y * pixels_per_point).round() / pixels_per_point)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Typical formulas of a course on attention.
    const LESSON: &[&str] = &[
        r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        r"\alpha_{ij} = \frac{\exp(q_i \cdot k_j)}{\sum_{l=1}^{T} \exp(q_i \cdot k_l)}",
        r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \begin{bmatrix} a \\ b \end{bmatrix}",
        r"\begin{aligned} y &= Wx + b \\ &= \mathbf{W}\,\mathbf{x} \end{aligned}",
        r"x \in \mathbb{R}^{T \times D}, \quad \text{where } T = 3",
        r"\nabla_\theta \mathcal{L} \to 0 \Rightarrow \theta \approx \hat\theta",
        r"\Big( \big[ \{ x \} \big] \Big) \xrightarrow{W_O} \overbrace{a+b}^{2}",
        r"\begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}",
        r"\lVert x \rVert_2 = \sqrt[2]{\langle x, x \rangle} \odot \oplus \ldots \cdots \vdots",
    ];

    #[test]
    fn the_formulas_of_attention_are_typeset() {
        for source in LESSON {
            for display in [false, true] {
                let maths = Maths::typeset(source, display);
                let formula = maths.formula.unwrap_or_else(|why| panic!("{source}: {why}"));
                assert!(formula.width > 0.5 && formula.ascent > 0.3 && !formula.marks.is_empty(), "{source}");
            }
        }
    }

    #[test]
    fn display_limits_stand_above_and_inline_ones_beside() {
        let height = |display| {
            let formula = Maths::typeset(r"\sum_{i=1}^{n} x_i", display).formula.unwrap();
            formula.ascent + formula.descent
        };
        assert!(height(true) > 1.5 * height(false));
    }

    #[test]
    fn a_bad_formula_says_what_and_where() {
        let wrong = |source: &str| Maths::typeset(source, false).formula.unwrap_err();
        assert_eq!(wrong(r"a + \foo"), r"Undefined control sequence: \foo (at character 5)");
        assert!(wrong(r"\frac{1").contains("end of input"));
        assert!(wrong("x^{y").contains("Expected '}'"));
        assert!(wrong("é & b").contains("at character 3"));
    }

    #[test]
    fn hostile_formulas_are_refused() {
        let nested = |open: &str, close: &str, n| format!("{}x{}", open.repeat(n), close.repeat(n));
        let hostile = [
            nested("{", "}", 900),
            nested(r"\sqrt{", "}", 200),
            nested("x^{", "}", 400),
            nested(r"\left(", r"\right)", 100),
            nested(r"\begin{matrix}", r"\end{matrix}", 60),
            r"\def\a{\a\a}\a".to_owned(),
            r"\newcommand{\a}{b}\a".to_owned(),
            "x+".repeat(100_000),
            r"\rule{9999em}{9999em}".to_owned(),
            r"\raisebox{9999999999999em}{x}".to_owned(),
            r"\kern-99999em x \kern 99999em".to_owned(),
            r"\genfrac{(}{)}{1e30em}{0}{a}{b}".to_owned(),
            r"\includegraphics{/etc/passwd}".to_owned(),
            r"\htmlData{a=b}{\begin{array}{".to_owned(),
            "\u{0}\u{fffd}\u{202e}\\".to_owned(),
        ];
        for source in hostile {
            let shown: String = source.chars().take(40).collect();
            let maths = Maths::typeset(&source, true);
            assert!(maths.formula.is_err(), "{shown}: {:?}", maths.formula.map(|f| (f.width, f.ascent, f.descent)));
        }
    }

    #[test]
    fn a_colour_of_its_own_is_kept() {
        let formula = Maths::typeset(r"a \color{red} b", false).formula.unwrap();
        assert_eq!(formula.marks[0].color, None);
        assert_eq!(formula.marks[1].color, Some([1.0, 0.0, 0.0]));
    }
}
