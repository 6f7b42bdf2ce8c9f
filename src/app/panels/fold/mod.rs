//! The step of the walk as matrices. The matrices of one block separate into heads, each of which has a picture of its
//! own, and join again during the walk.
//!
//! A head's picture shows which words each word attends to in this head, and what the head adds to it. A matrix, or a
//! head's slice of one, is shaded cell by cell in a single mesh.

mod scene;

use attune_engine::numerics::moves::Point;
use attune_ui::theme::{self, MARK_CONTRAST, Palette, TEXT_CONTRAST, size};
use attune_ui::ui_state::{PanelView, Selection, Trail, Walk};
use attune_ui::widgets::arrow::arrow;
use attune_ui::widgets::controls::named;
use attune_ui::widgets::heat::{Heat, width_of};
use attune_ui::widgets::traced::{ASK_HINT, ask_on};
use attune_view::explain::walk::Step;
use attune_view::view_model::fold::{FoldModel, ProjectedRole, Sheet, SheetEntries};
use egui::{
    Align2, Color32, FontId, Id, Label, Painter, Pos2, Rect, Sense, Stroke, StrokeKind, TextStyle, Ui, UiBuilder, Vec2,
    WidgetType, pos2, vec2,
};

use self::scene::{FoldScene, Placed, RoleStage};
use super::panel::SceneCamera;

/// Draws the walk's present step into all of `ui`; `camera` is the camera of the small pictures.
pub fn fold_ui(ui: &mut Ui, model: &FoldModel, view: &mut PanelView, camera: &mut dyn SceneCamera) {
    let area = ui.available_rect_before_wrap();
    let (words, area) = area.split_top_bottom_at_y((area.top() + words_height(ui, model)).min(area.bottom()));
    ui.scope_builder(UiBuilder::new().max_rect(words), |ui| words_ui(ui, model, view.selection, view.walk));
    let walk = view.walk.at();
    let scene = FoldScene {
        area,
        heads: model.heads.len(),
        has_output: model.has_output(),
        is_projected: model.is_projected(),
        has_input: ProjectedRole::ALL.map(|role| model.has_projected(role)),
        words: words_width(ui, model),
    };
    let ui = &mut ui.new_child(UiBuilder::new().max_rect(area));
    let placed = scene.placed(walk);
    let scales = Scales::of(model);
    let query = view.selection.query.filter(|_| !model.is_of_source);
    for one in &placed {
        SheetUi { model, placed: one, scale: scales.of_sheet(one.sheet), query, words_room: scene.words }.paint(ui);
    }
    signs_ui(ui, &scene, walk);
    hover(ui, model, &placed, view.selection, view.trail);
    pictures_ui(ui, model, &scene, view.selection, view.walk, camera);
}

/// Returns the height of the row that chooses a block, if there are several, and of the longest sentence about a step,
/// so that nothing moves from one step to the next.
fn words_height(ui: &Ui, model: &FoldModel) -> f32 {
    let spacing = ui.spacing();
    let blocks = if model.blocks.len() > 1 { spacing.interact_size.y + spacing.item_spacing.y } else { 0.0 };
    let (font, ink) = (TextStyle::Body.resolve(ui.style()), ui.visuals().text_color());
    let height = |step: &Step| {
        let said = model.said(*step);
        ui.painter().layout(said, font.clone(), ink, ui.available_width()).size().y
    };
    blocks + Step::ALL.iter().map(height).fold(0.0, f32::max) + size::GAP
}

/// Returns the width of the words beside a matrix.
fn words_width(ui: &Ui, model: &FoldModel) -> f32 {
    const WIDEST: f32 = 74.0;
    let font = theme::plain(size::SMALL);
    let words = model.words_of(ProjectedRole::Query).chain(model.words_of(ProjectedRole::Key));
    words.map(|(word, _)| width_of(ui, word, font.clone())).fold(0.0, f32::max).min(WIDEST) + size::GAP_TIGHT
}

fn signs_ui(ui: &Ui, scene: &FoldScene, walk: f32) {
    for sign in scene.signs(walk) {
        let ink = Palette::on(ui).ink.gamma_multiply(sign.alpha);
        ui.painter().text(sign.center, egui::Align2::CENTER_CENTER, sign.text, theme::strong(size::READING), ink);
    }
}

fn words_ui(ui: &mut Ui, model: &FoldModel, selection: &mut Selection, walk: &Walk) {
    if model.blocks.len() > 1 {
        ui.horizontal(|ui| {
            for (name, head) in &model.blocks {
                let is_shown = model.heads.iter().any(|shown| shown.head == *head);
                if ui.selectable_label(is_shown, name).on_hover_text("Fold this block").clicked() {
                    selection.choose_head(*head);
                }
            }
        });
    }
    ui.add(Label::new(model.said(walk.step())).wrap());
}

/// The largest entry of each kind of matrix over all heads, by which the colours are scaled, so that a slice keeps its
/// colours when it separates from the others.
struct Scales {
    by_kind: Vec<(std::mem::Discriminant<Sheet>, f32)>,
}

impl Scales {
    fn of(model: &FoldModel) -> Self {
        let largest = |sheet: fn(usize) -> Sheet| {
            let values = (0..model.heads.len()).flat_map(|own| model.entries(sheet(own)).values());
            let finite = values.map(|x| x.abs()).filter(|x| x.is_finite());
            (std::mem::discriminant(&sheet(0)), finite.fold(f32::MIN_POSITIVE, f32::max))
        };
        let kinds: [fn(usize) -> Sheet; 11] = [
            |own| Sheet::RoleWeights(ProjectedRole::Query, own),
            Sheet::Query,
            Sheet::Key,
            Sheet::Value,
            Sheet::Product,
            Sheet::Score,
            Sheet::Mix,
            Sheet::OutputWeights,
            |_| Sheet::Input,
            |_| Sheet::Output,
            // The inputs of all roles share the query's scale, which is that of the input unless it is normed first.
            |_| Sheet::Projected(ProjectedRole::Query),
        ];
        Self { by_kind: kinds.into_iter().map(largest).collect() }
    }

    /// Returns the largest entry of a kind of matrix, or 1 for attention weights, whose colours are not scaled.
    fn of_sheet(&self, sheet: Sheet) -> f32 {
        let kind = std::mem::discriminant(&sheet);
        self.by_kind.iter().find(|(other, _)| *other == kind).map_or(1.0, |(_, scale)| *scale)
    }
}

/// Describes the entry under the pointer; a click chooses its word.
fn hover(ui: &Ui, model: &FoldModel, placed: &[Placed], selection: &mut Selection, trail: &mut Trail) {
    const SOLID: f32 = 0.5;
    for one in placed.iter().filter(|one| one.alpha > SOLID) {
        let id = Id::new("sheet").with(one.sheet);
        let response = ui.interact(one.rect, ui.id().with(id), Sense::click());
        let response = named(response, WidgetType::Button, model.symbol(one.sheet));
        let entries = model.entries(one.sheet);
        let Some((row, col)) = response.hover_pos().and_then(|at| heat(one.rect, entries).at(at)) else {
            continue;
        };
        if response.clicked() && model.is_by_query(one.sheet) && !model.is_of_source {
            selection.choose_query(Some(row));
        }
        ask_on(&response, model.entry(one.sheet, row, col), trail);
        response.on_hover_text_at_pointer(format!("{}\n{ASK_HINT}", model.say(one.sheet, row, col)));
    }
}

fn pictures_ui(
    ui: &mut Ui,
    model: &FoldModel,
    scene: &FoldScene,
    selection: &Selection,
    walk: &Walk,
    camera: &mut dyn SceneCamera,
) {
    let walk = walk.at();
    let joined = scene.joined(walk);
    let query = selection.query.filter(|_| !model.is_of_source);
    for stage in scene.role_stages(walk) {
        // The rows of all heads together are the points.
        let result = stage.role.of_head(0).letter();
        let name = if stage.is_result {
            result
        } else {
            format!("{}, the input of {result},", model.symbol(Sheet::Projected(stage.role)))
        };
        let response = ui.interact(stage.rect, ui.id().with((stage.role, stage.is_result)), Sense::click_and_drag());
        let response = named(response, WidgetType::Button, format!("{name} as points"));
        turn(&response, camera);
        role_ui(ui, model, &stage, query, &*camera);
        let hint = if stage.is_result {
            format!("Each word's row of {name} as a point, along the main axes of these points")
        } else {
            "The words where they are on the stage".to_owned()
        };
        response.on_hover_text(hint);
    }
    for (own, head) in model.heads.iter().enumerate() {
        let (at, shown) = scene.title(own, walk);
        paint_title(ui, model, own, at, shown);
        let (rect, shown) = scene.picture(own, walk);
        // Once the pictures have joined, the first one represents all heads.
        if shown == 0.0 || rect.height() < size::CHIP || (joined >= 1.0 && own > 0) {
            continue;
        }
        let response = ui.interact(rect, ui.id().with(("picture", own)), Sense::click_and_drag());
        let name =
            if joined >= 1.0 { "All heads on the stage".to_owned() } else { format!("{} on the stage", head.title) };
        let response = named(response, WidgetType::Button, name);
        turn(&response, camera);
        PictureUi { model, own, rect, shown, walk, joined, query }.paint(ui, &*camera);
        response.on_hover_text("The view of the stage: drag to turn it, double-click to reset it");
    }
}

/// Paints the name of a head, with opacity `shown`.
fn paint_title(ui: &Ui, model: &FoldModel, own: usize, at: Pos2, shown: f32) {
    let head = &model.heads[own];
    if shown > 0.0 {
        let ink = Palette::on(ui).head(own).gamma_multiply(shown);
        let off = if head.is_on { "" } else { "  · switched off" };
        let font = theme::strong(size::BODY);
        ui.painter().text(at, egui::Align2::LEFT_TOP, format!("{}{off}", head.title), font, ink);
    }
}

fn turn(response: &egui::Response, camera: &mut dyn SceneCamera) {
    if response.dragged() {
        camera.orbit(response.drag_delta());
    }
    if response.double_clicked() {
        camera.home();
    }
}

/// Returns the part of a picture within its margins, in which the scene is drawn.
fn inner(rect: Rect) -> Rect {
    rect.shrink2(vec2(size::GAP_TIGHT, size::GAP_TIGHT))
}

pub struct PictureUi<'a> {
    pub model: &'a FoldModel,
    pub own: usize,
    pub rect: Rect,
    /// Opacity while the picture appears, from 0 to 1.
    pub shown: f32,
    pub walk: f32,
    /// How far the heads have joined, from 0 to 1; their arrows are then tip to tail.
    pub joined: f32,
    pub query: Option<usize>,
}

/// Width of the line of a weight of 0, in points.
const THIN: f32 = 0.8;
/// Width by which a weight of 1 makes a line wider, in points.
const WEIGHT_WIDTH: f32 = 5.0;
/// Radius of a word's point, in points of the screen.
const POINT: f32 = 3.0;
/// Opacity of everything that does not belong to the chosen word.
const FAINT: f32 = 0.3;
/// Least weight for which a line is drawn.
const WEIGHT_MIN: f32 = 0.02;

impl PictureUi<'_> {
    pub fn paint(&self, ui: &Ui, camera: &dyn SceneCamera) {
        let palette = Palette::on(ui);
        let painter = ui.painter_at(self.rect);
        let hue = palette.head(self.own);
        frame(&painter, self.rect, if self.joined > 0.5 { palette.line } else { hue }, self.shown, palette);
        let (middle, reach) = self.ball();
        let see = camera.projection(inner(self.rect), middle, reach);
        let crowd = crowd_dots(&painter, self.model, &see, self.shown, palette);
        let mut lines = self.lines(&painter, &see, hue);
        lines.extend(self.arrows(&painter, &see, palette));
        let mut names = Names { painter: &painter, rect: self.rect, lines, crowd, written: Vec::new(), palette };
        self.points(&mut names, &see);
        names.crowds(self.model, &see, self.shown);
    }

    /// Returns the ball that is fitted into the picture, around the words, their arrows and the middles of the crowds.
    /// A ball looks the same from every side, so that turning does not zoom.
    fn ball(&self) -> (Point, f32) {
        let queries = || 0..self.model.queries.len();
        let places = |query| [self.model.at_rest(query), self.model.from(query), self.model.to(query)];
        let crowds = self.model.crowds.iter().map(|crowd| middle(&crowd.places));
        ball_around(&queries().flat_map(places).chain(crowds).collect::<Vec<Point>>())
    }

    fn strength(&self, query: usize) -> f32 {
        let is_stressed = self.query.is_none_or(|chosen| chosen == query);
        self.shown * if is_stressed { 1.0 } else { FAINT }
    }

    /// Draws lines from the chosen query, or from every one, to its keys, as thick as their weights.
    fn lines(&self, painter: &Painter, see: See, hue: Color32) -> Vec<[Pos2; 2]> {
        let weighed = Step::Softmax.share(self.walk);
        let mut lines = Vec::new();
        if !self.model.looks_at_itself || self.joined >= 1.0 || !self.model.heads[self.own].is_on {
            return lines;
        }
        let queries = 0..self.model.queries.len();
        for query in queries.filter(|query| self.query.is_none_or(|chosen| chosen == *query)) {
            for key in (0..self.model.keys.len()).filter(|key| *key != query) {
                let weight = self.model.weight(self.own, query, key) * weighed;
                let ends = [query, key].map(|word| see(self.model.at_rest(word)));
                let [Some(from), Some(to)] = ends else { continue };
                if weight > WEIGHT_MIN {
                    let ink = hue.gamma_multiply(self.shown * (1.0 - self.joined) * FAINT.max(weight));
                    painter.line_segment([from, to], Stroke::new(THIN + WEIGHT_WIDTH * weight, ink));
                    lines.push([from, to]);
                }
            }
        }
        lines
    }

    /// Draws the contributions of the heads. Separate arrows begin at the word; joined ones begin where the one before
    /// ends.
    fn arrows(&self, painter: &Painter, see: See, palette: &Palette) -> Vec<[Pos2; 2]> {
        let grown = Step::Mix.share(self.walk);
        let mut arrows = Vec::new();
        if grown == 0.0 {
            return arrows;
        }
        // The joined picture shows the arrows of all heads.
        let is_joined = self.joined >= 1.0;
        let heads = if is_joined { 0..self.model.heads.len() } else { self.own..self.own + 1 };
        let arrived = if is_joined { Step::Contextual.share(self.walk) } else { 0.0 };
        for query in 0..self.model.queries.len() {
            let strength = self.strength(query);
            for own in heads.clone() {
                let before = (0..own).map(|other| self.model.arrow(other, query)).fold([0.0; 3], add);
                let from = add(self.model.from(query), before.map(|x| x * self.joined));
                let to = add(from, self.model.arrow(own, query).map(|x| x * grown));
                let hue = palette.head(own).gamma_multiply(strength);
                if let (Some(from), Some(to)) = (see(from), see(to)) {
                    arrow(painter, from, to, hue);
                    arrows.push([from, to]);
                }
            }
            // The remaining parts lead from the end of the heads' arrows to the place of the output.
            let mut from = heads.clone().map(|own| self.model.arrow(own, query)).fold(self.model.from(query), add);
            for (part, by) in self.model.parts(query).filter(|_| arrived > 0.0) {
                let to = add(from, by.map(|x| x * arrived));
                if let (Some(start), Some(end)) = (see(from), see(to)) {
                    arrow(painter, start, end, palette.part(part).gamma_multiply(strength));
                    arrows.push([start, end]);
                }
                from = to;
            }
        }
        arrows
    }

    fn points(&self, names: &mut Names, see: See) {
        let arrived = Step::Contextual.share(self.walk);
        let place = |query: usize| {
            let (from, to) = (self.model.at_rest(query), self.model.to(query));
            std::array::from_fn(|axis| (1.0 - arrived) * from[axis] + arrived * to[axis])
        };
        let dots = self.model.words_of(ProjectedRole::Query).enumerate().filter_map(|(query, (word, group))| {
            let is_chosen = self.query == Some(query);
            Some(Dot { at: see(place(query))?, word, group, is_chosen, strength: self.shown })
        });
        names.dots(dots.collect());
    }
}

/// Projects a point onto the picture; `None` if it is behind the eye.
type See<'a> = &'a dyn Fn(Point) -> Option<Pos2>;

/// Shows the words as points: their inputs on the stage's axes, or their queries, keys or values on axes of their own.
fn role_ui(ui: &Ui, model: &FoldModel, stage: &RoleStage, query: Option<usize>, camera: &dyn SceneCamera) {
    let RoleStage { role, is_result, rect, alpha } = *stage;
    let palette = Palette::on(ui);
    let painter = ui.painter_at(rect);
    let places = if is_result { model.role_points(role).to_vec() } else { model.projected_points(role) };
    if places.is_empty() {
        return;
    }
    frame(&painter, rect, palette.line, alpha, palette);
    let crowds = model.crowds.iter().filter(|_| !is_result).map(|crowd| middle(&crowd.places));
    let (middle, reach) = ball_around(&places.iter().copied().chain(crowds).collect::<Vec<Point>>());
    let see = camera.projection(inner(rect), middle, reach);
    let crowd = if is_result { Vec::new() } else { crowd_dots(&painter, model, &see, alpha, palette) };
    let is_by_query = role == ProjectedRole::Query || model.looks_at_itself;
    let dots = model.words_of(role).zip(&places).enumerate().filter_map(|(row, ((word, group), place))| {
        let is_chosen = is_by_query && query == Some(row);
        Some(Dot { at: see(*place)?, word, group, is_chosen, strength: alpha })
    });
    let mut names = Names { painter: &painter, rect, lines: Vec::new(), crowd, written: Vec::new(), palette };
    names.dots(dots.collect());
    if !is_result {
        names.crowds(model, &see, alpha);
    }
}

fn frame(painter: &Painter, rect: Rect, ink: Color32, shown: f32, palette: &Palette) {
    let radius = f32::from(size::RADIUS_SMALL);
    painter.rect_filled(rect, radius, palette.stage.gamma_multiply(shown));
    let stroke = Stroke::new(size::HAIRLINE, ink.gamma_multiply(shown));
    painter.rect_stroke(rect, radius, stroke, StrokeKind::Inside);
}

/// Draws the words of the groups, small and faint behind those of the sentence. Returns their places.
fn crowd_dots(painter: &Painter, model: &FoldModel, see: See, shown: f32, palette: &Palette) -> Vec<Pos2> {
    const RADIUS: f32 = 1.5;
    let mut dots = Vec::new();
    for crowd in &model.crowds {
        let ink = palette.dimmed(palette.group(crowd.group)).gamma_multiply(shown);
        let first = dots.len();
        dots.extend(crowd.places.iter().filter_map(|place| see(*place)));
        for at in &dots[first..] {
            painter.circle_filled(*at, RADIUS, ink);
        }
    }
    dots
}

/// A word's point in a small stage.
struct Dot<'a> {
    at: Pos2,
    word: &'a str,
    group: Option<usize>,
    is_chosen: bool,
    strength: f32,
}

/// Names in a small stage, which avoid each other, the points and the lines.
struct Names<'a> {
    painter: &'a Painter,
    rect: Rect,
    lines: Vec<[Pos2; 2]>,
    /// Dots that names avoid if they can.
    crowd: Vec<Pos2>,
    written: Vec<Rect>,
    palette: &'a Palette,
}

impl Names<'_> {
    /// Draws all points and then their names, beginning with the chosen one's. Names of words at the same point are
    /// written on different sides of it.
    fn dots(&mut self, mut dots: Vec<Dot>) {
        let Self { painter, palette, .. } = *self;
        for dot in &dots {
            painter.circle_filled(dot.at, POINT, palette.token(dot.group).gamma_multiply(dot.strength));
            if dot.is_chosen {
                let ring = Stroke::new(size::HAIRLINE, palette.accent.gamma_multiply(dot.strength));
                painter.circle_stroke(dot.at, POINT + size::OUTLINE, ring);
            }
        }
        let points = dots.iter().map(|dot| Rect::from_center_size(dot.at, Vec2::splat(2.0 * POINT)));
        self.written.extend(points);
        dots.sort_by_key(|dot| !dot.is_chosen);
        for dot in &dots {
            let ink = word_ink(dot.group, palette).gamma_multiply(dot.strength);
            let font = if dot.is_chosen { theme::strong(size::SMALL) } else { theme::plain(size::SMALL) };
            self.write(dot.word, font, ink, |size| {
                let away = POINT + size::GAP_TIGHT;
                let sides = [
                    (1.0, 0.0),
                    (-1.0, 0.0),
                    (0.0, -1.0),
                    (0.0, 1.0),
                    (1.0, -1.0),
                    (1.0, 1.0),
                    (-1.0, -1.0),
                    (-1.0, 1.0),
                ];
                let half = size / 2.0 + Vec2::splat(away);
                sides.map(|(x, y)| dot.at + Vec2::new(x * half.x, y * (half.y - size::GAP_TIGHT / 2.0))).to_vec()
            });
        }
    }

    /// Writes each crowd's name above or below its middle.
    fn crowds(&mut self, model: &FoldModel, see: See, shown: f32) {
        let palette = self.palette;
        for crowd in &model.crowds {
            let Some(at) = see(middle(&crowd.places)) else { continue };
            let ink = palette.legible(palette.group(crowd.group), MARK_CONTRAST).gamma_multiply(shown);
            self.write(&crowd.name, theme::strong(size::SMALL), ink, |size| {
                let beside = size.y / 2.0 + size::GAP;
                vec![at - Vec2::new(0.0, beside), at + Vec2::new(0.0, beside), at, at - Vec2::new(0.0, 2.0 * beside)]
            });
        }
    }

    /// Writes a name at the first free place, or leaves it out if there is none.
    fn write(&mut self, text: &str, font: FontId, ink: Color32, places: impl FnOnce(Vec2) -> Vec<Pos2>) {
        let galley = self.painter.layout_no_wrap(text.to_owned(), font, ink);
        let places = places(galley.size()).into_iter().map(|center| Rect::from_center_size(center, galley.size()));
        let free = |place: &Rect| {
            self.rect.shrink(size::HAIRLINE).contains_rect(*place)
                && !self.written.iter().any(|other| other.intersects(*place))
                && !self.lines.iter().any(|line| crosses(*line, *place))
        };
        let places: Vec<Rect> = places.filter(free).collect();
        let is_clear = |place: &&Rect| !self.crowd.iter().any(|dot| place.contains(*dot));
        if let Some(place) = places.iter().find(is_clear).or(places.first()).copied() {
            self.painter.galley(place.min, galley, ink);
            self.written.push(place);
        }
    }
}

/// Returns whether a line crosses a rectangle.
fn crosses([from, to]: [Pos2; 2], rect: Rect) -> bool {
    /// Distance between the tested points of the line.
    const EVERY: f32 = 3.0;
    let count = ((to - from).length() / EVERY).ceil().max(1.0);
    (0..=count as usize).any(|step| rect.contains(from.lerp(to, step as f32 / count)))
}

fn middle(places: &[Point]) -> Point {
    let share = 1.0 / places.len().max(1) as f32;
    places.iter().fold([0.0; 3], |sum, place| add(sum, place.map(|x| x * share)))
}

/// Returns a ball around the mean of the places.
fn ball_around(places: &[Point]) -> (Point, f32) {
    let middle = middle(places);
    let away = |place: &Point| (0..3).map(|axis| (place[axis] - middle[axis]).powi(2)).sum::<f32>().sqrt();
    (middle, places.iter().map(away).fold(0.0, f32::max))
}

fn add(a: Point, b: Point) -> Point {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

pub struct SheetUi<'a> {
    pub model: &'a FoldModel,
    pub placed: &'a Placed,
    /// The entry that is shaded fully.
    pub scale: f32,
    pub query: Option<usize>,
    /// Width of the words on the left of a whole matrix.
    pub words_room: f32,
}

/// Least height of a row with a word.
const LINE_MIN: f32 = 11.0;

/// Returns the colour of a word as text.
fn word_ink(group: Option<usize>, palette: &Palette) -> Color32 {
    palette.legible(palette.token(group), TEXT_CONTRAST)
}

fn heat(rect: Rect, entries: SheetEntries) -> Heat {
    let (rows, cols) = (entries.rows, entries.cols);
    let cell = rect.size() / Vec2::new(cols.max(1) as f32, rows.max(1) as f32);
    Heat { origin: rect.min, cell, rows, cols }
}

impl SheetUi<'_> {
    pub fn paint(&self, ui: &Ui) {
        let Placed { sheet, rect, alpha, .. } = *self.placed;
        let palette = Palette::on(ui);
        let entries = self.model.entries(sheet);
        if entries.rows == 0 || entries.cols == 0 || rect.width() < 1.0 || rect.height() < 1.0 {
            return;
        }
        let heat = heat(rect, entries);
        ui.painter().add(heat.mesh(|row, col| self.fill(entries.row(row)[col], palette).gamma_multiply(alpha)));
        self.numbers(ui, &heat, entries, palette);
        if let Some(head) = self.head() {
            // A slice keeps the hue of its head wherever it moves.
            let stroke = Stroke::new(size::HAIRLINE, palette.head(head).gamma_multiply(alpha));
            ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
        if let Some(row) = self.query.filter(|row| *row < heat.rows && self.model.is_by_query(sheet)) {
            let stroke = Stroke::new(size::OUTLINE, palette.accent.gamma_multiply(alpha));
            ui.painter().rect_stroke(heat.row_rect(row), 0.0, stroke, StrokeKind::Inside);
        }
        self.name(ui, entries, palette);
        self.words(ui, &heat, palette);
    }

    /// Returns the head to which a slice belongs, by its index in its layer; `None` for a whole matrix.
    fn head(&self) -> Option<usize> {
        match self.placed.sheet {
            Sheet::Input | Sheet::Projected(_) | Sheet::Output => None,
            Sheet::RoleWeights(_, own)
            | Sheet::Query(own)
            | Sheet::Key(own)
            | Sheet::Value(own)
            | Sheet::Product(own)
            | Sheet::Score(own)
            | Sheet::Weight(own)
            | Sheet::Mix(own)
            | Sheet::OutputWeights(own) => Some(own),
        }
    }

    fn fill(&self, value: f32, palette: &Palette) -> Color32 {
        match (self.placed.sheet, self.head()) {
            (Sheet::Weight(_), Some(head)) => palette.weight(head, value),
            _ if value.is_finite() => palette.diverging(value / self.scale),
            // Masked entries stay empty.
            _ => palette.ground,
        }
    }

    /// Writes the numbers if all of them fit.
    fn numbers(&self, ui: &Ui, heat: &Heat, entries: SheetEntries, palette: &Palette) {
        if heat.cell.y < size::CELL_MIN {
            return;
        }
        let Some(font) = heat.number_font(ui.ctx(), || entries.values().copied()) else { return };
        for row in 0..entries.rows {
            for (col, value) in entries.row(row).iter().enumerate() {
                let ink = palette.ink_on(self.fill(*value, palette)).gamma_multiply(self.placed.alpha);
                heat.paint_number(ui.painter(), row, col, *value, &font, ink);
            }
        }
    }

    /// Writes the symbol above the matrix, with its size if there is room.
    fn name(&self, ui: &Ui, entries: SheetEntries, palette: &Palette) {
        let Placed { sheet, rect, alpha, .. } = *self.placed;
        let heads = self.model.heads.len();
        let (rows, cols) = (entries.rows, entries.cols);
        // The slices of a weight matrix lie side by side or on top of each other, so only the first one has a name:
        // that of the whole matrix.
        let (symbol, rows, cols, room) = match sheet {
            Sheet::OutputWeights(0) => ("W_O".to_owned(), rows * heads, cols, rect.width()),
            Sheet::RoleWeights(role, 0) => {
                (role.weights().symbol().to_owned(), rows, cols * heads, rect.width() * heads as f32)
            }
            Sheet::OutputWeights(_) | Sheet::RoleWeights(..) => return,
            _ => (self.model.symbol(sheet), rows, cols, rect.width()),
        };
        let ink = palette.ink_soft.gamma_multiply(alpha);
        let written = |text: String| ui.painter().layout_no_wrap(text, theme::plain(size::SMALL), ink);
        let full = written(format!("{symbol} ({rows}, {cols})"));
        // The name of the next matrix begins beside this one, so this name must not be wider than its own matrix.
        let galley = if full.size().x + size::GAP_TIGHT <= room { full } else { written(symbol) };
        if galley.size().x <= room {
            let at = pos2(rect.left(), rect.top() - galley.size().y - size::HAIRLINE);
            ui.painter().galley(at, galley, ink);
        }
    }

    /// Writes a word beside each row of a whole matrix, or of its first slice, if the rows are high enough.
    fn words(&self, ui: &Ui, heat: &Heat, palette: &Palette) {
        let sheet = self.placed.sheet;
        let role = match sheet {
            Sheet::Input | Sheet::Query(0) | Sheet::Mix(0) | Sheet::Projected(ProjectedRole::Query) => {
                ProjectedRole::Query
            }
            Sheet::Projected(role) => role,
            Sheet::Key(0) | Sheet::Value(0) => ProjectedRole::Key,
            _ => return,
        };
        // Beside another matrix, there is no room for words.
        let room = self.placed.rect.left() - ui.max_rect().left();
        if room > self.words_room + size::GAP_TIGHT {
            return;
        }
        if heat.cell.y < LINE_MIN || self.placed.words == 0.0 {
            return;
        }
        for (row, (label, group)) in self.model.words_of(role).enumerate().take(heat.rows) {
            let ink = word_ink(group, palette).gamma_multiply(self.placed.words);
            let font = theme::plain(size::SMALL);
            let galley = ui.painter().layout_no_wrap(label.clone(), font.clone(), ink);
            if galley.size().x + size::GAP_TIGHT <= room {
                let at = heat.cell_rect(row, 0).left_center() - Vec2::new(size::GAP_TIGHT, 0.0);
                ui.painter().text(at, Align2::RIGHT_CENTER, label, font, ink);
            }
        }
    }
}
