//! The time line under the stage: the steps of the walk through attention, from static to contextual.

use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::walk::{LAST, STEPS};
use attune_ui::ui_state::{PanelView, Selection, Walk};
use attune_ui::widgets::controls::named;
use attune_ui::widgets::heat::width_of;
use attune_view::explain::walk::{RouteModel, Step, WalkModel};
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Button, Color32, EventFilter, Key, Label, Pos2, Rect, Response, ScrollArea, Sense, Slider, Stroke, Ui,
    UiBuilder, Widget, WidgetInfo, WidgetType, pos2, vec2,
};

use super::filmstrip::{self, Filmstrip, FollowedWord};

/// Height of the row with the track.
const TRACK_HEIGHT: f32 = 26.0;
/// Height of a row whose stops are named signs.
const SIGNS_HEIGHT: f32 = 44.0;
/// Height of the line under a filmstrip.
const LINE_HEIGHT: f32 = 18.0;
/// Room on the left and on the right of the track, for the names of its ends.
const ENDS: f32 = 92.0;
/// Room on both sides of a track of signs, where the names of the ends are below their signs.
const SIGN_ENDS: f32 = SIGN.x / 2.0 + size::GAP_WIDE;

/// Returns the height of the row with the track in a time line of this width. If there is room, the stops of a single
/// layer are signs, and several layers have a filmstrip.
fn track_height(width: f32, layers: usize) -> f32 {
    if layers == 1 {
        return if Track::apart_in(width) >= SIGN.x + size::GAP_TIGHT { SIGNS_HEIGHT } else { TRACK_HEIGHT };
    }
    frame_in(width - 2.0 * size::GAP, layers).map_or(TRACK_HEIGHT, |frame| frame.y + LINE_HEIGHT)
}

/// Returns the size of the frames of a filmstrip of this width, if there is one. The line begins at the left edge, and
/// the last frame is centred at its end.
fn frame_in(width: f32, layers: usize) -> Option<egui::Vec2> {
    let steps = Track::behind(layers.max(1) - 1) + STEPS as f32 / 2.0;
    filmstrip::frame((width - HANDLE) / steps * STEPS as f32).filter(|_| layers > 1)
}

/// Returns the height of the time line under a stage of this width. The height is that of the longest text of any step,
/// so that it does not change from step to step.
pub fn height(ui: &Ui, width: f32, route: Option<&RouteModel>, walk: Option<&WalkModel>, about: Option<String>) -> f32 {
    /// Width of the margins and the button beside the text.
    const BESIDE: f32 = 112.0;
    /// Greatest height with a plain track; more would leave no room for the picture.
    const MOST: f32 = 128.0;
    let place = route.and_then(|route| route.layers.last()).map_or(String::new(), |layer| layer.title.clone());
    let steps =
        walk.into_iter().flat_map(|walk| Step::ALL.map(|step| (step_name(route, step), walk.step(step).said.as_str())));
    let all = steps.chain(about.as_deref().map(|about| (Step::Contextual.name(), about)));
    let palette = Palette::on(ui);
    let needed = all.map(|(title, said)| {
        let place = format!("99 % of {place}, step {STEPS} of {STEPS} ");
        let job = job(title, &place, said, width - BESIDE, size::SMALL, palette);
        ui.fonts_mut(|fonts| fonts.layout_job(job).size().y)
    });
    let layers = route.map_or(1, |route| route.layers.len());
    let needed = needed.fold(0.0, f32::max) + track_height(width, layers) + 2.0 * size::GAP_TIGHT + size::HAIRLINE;
    let least = if width < size::TIMELINE_WIDE_FROM { size::TIMELINE_NARROW } else { size::TIMELINE };
    let taller = track_height(width, layers) - TRACK_HEIGHT;
    (least + taller).max(needed.min(MOST + taller))
}

/// Lays out the text of a step in a given width and size of type.
fn job(title: &str, place: &str, said: &str, width: f32, body: f32, palette: &Palette) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    // A space after each part allows a line break there.
    job.append(&format!("{title} "), 0.0, TextFormat::simple(theme::strong(body), palette.accent));
    job.append(place, size::GAP_TIGHT, TextFormat::simple(theme::plain(size::SMALL), palette.ink_soft));
    job.append(said, size::GAP_TIGHT, TextFormat::simple(theme::plain(body), palette.ink));
    job
}

/// Names of both ends of a sentence's moves, each with a description.
pub const WAY: [(&str, &str); 2] = [
    ("static", "Shows each word at its static vector, from the embedding table"),
    (
        "contextual",
        "Shows each token \
        at its contextual vector, after attention",
    ),
];

/// Both ends of the timeline of a recording, which has no embedding table.
pub const RECORDED_WAY: [(&str, &str); 2] = [
    ("input", "Shows each token at the first hidden state that was recorded, the input of a layer"),
    ("output", "Shows each token at the last hidden state that was recorded"),
];

/// Shows the time line. `about` is the text for a word of several pieces, in place of the text about its first piece.
pub fn timeline_ui(
    ui: &mut Ui,
    route: Option<&RouteModel>,
    walk: Option<&WalkModel>,
    about: Option<String>,
    names: [(&str, &str); 2],
    followed: &[FollowedWord],
    view: &mut PanelView,
) {
    if ![WAY, RECORDED_WAY].contains(&names) {
        return way_ui(ui, &about.unwrap_or_default(), names, view.walk);
    }
    let area = ui.available_rect_before_wrap();
    let height = track_height(area.width(), view.walk.layers());
    let area = area.shrink2(vec2(size::GAP, size::GAP_TIGHT));
    let (said, track) = area.split_top_bottom_at_y(area.bottom() - height);
    let has_signs = height == SIGNS_HEIGHT;
    let frame = frame_in(track.width(), view.walk.layers());
    let ends = if has_signs { SIGN_ENDS } else { ENDS };
    let (left, rest) = track.split_left_right_at_x(track.left() + ends);
    let (middle, right) = rest.split_left_right_at_x(rest.right() - ends);
    let middle = match frame {
        Some(frame) => track.with_min_x(track.left() + HANDLE).with_max_x(track.right() - frame.x / 2.0),
        None => middle.shrink2(vec2(size::GAP_WIDE, 0.0)),
    };
    // All parts show the walk as it was at the start of this frame; changes by the pointer or a key appear in the next
    // frame.
    let walk_now = view.walk.clone();
    let heading = Heading::of(route, view.selection, &walk_now, names);
    let track = Track { rect: middle, end: walk_now.end(), layers: walk_now.layers(), frame };
    track_ui(ui, &track, (route, names.map(|name| name.0)), followed, &heading, view.walk);
    for ((place, time), (words, hint)) in [(left, 0.0), (right, 1.0)].into_iter().zip(names) {
        let is_there = walk_now.place() == walk_now.end() * time;
        let sign = track.end_sign(time);
        if end_ui(ui, place, sign, words, is_there).on_hover_text(hint).clicked() {
            go_to_end(view.walk, time);
        }
    }
    ui.scope_builder(UiBuilder::new().max_rect(said), |ui| {
        if said_ui(ui, heading, (route, walk), about.as_deref(), &walk_now) {
            view.walk.step_on();
        }
    });
}

/// Shows the name of an end of the move at `place`. If the track draws the name at `sign`, only makes it clickable
/// there.
fn end_ui(ui: &mut Ui, place: Rect, sign: Option<Rect>, words: &str, is_there: bool) -> Response {
    let Some(sign) = sign else {
        let label = |ui: &mut Ui| ui.horizontal_centered(|ui| ui.selectable_label(is_there, words)).inner;
        return ui.scope_builder(UiBuilder::new().max_rect(place), label).inner;
    };
    let end = ui.interact(sign, ui.id().with(words), Sense::click());
    end.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_there, words));
    end
}

/// Moves the points to static or to contextual.
fn go_to_end(walk: &mut Walk, time: f32) {
    match walk.passed_layers() {
        // The way back leads through the layers too.
        Some(_) if walk.layers() > 1 => walk.pass_to(if time > 0.0 { walk.layers() } else { 0 }),
        _ => walk.glide_to(time),
    }
}

/// Shows a slider between the two places of each point, for moves that have no steps of attention.
fn way_ui(ui: &mut Ui, about: &str, names: [(&str, &str); 2], walk: &mut Walk) {
    let area = ui.available_rect_before_wrap().shrink2(vec2(size::GAP_WIDE, size::GAP));
    ui.scope_builder(UiBuilder::new().max_rect(area), |ui| {
        ui.add(Label::new(about).wrap());
        ui.horizontal(|ui| {
            let before = walk.layer_time();
            let end = |ui: &mut Ui, walk: &mut Walk, (name, file): (&str, &str), at: f32| {
                if ui.selectable_label(before == at, name).on_hover_text(file).clicked() {
                    walk.glide_to(at);
                }
            };
            end(ui, walk, names[0], 0.0);
            let mut time = before;
            let room = ui.available_width() - ENDS;
            ui.spacing_mut().slider_width = room.max(ENDS);
            let slider = ui.add(Slider::new(&mut time, 0.0..=1.0).show_value(false));
            let slider = slider.on_hover_text("Moves each word from its place in one file to its place in the other");
            slider.widget_info(|| WidgetInfo::slider(true, f64::from(time), "Between the two files"));
            end(ui, walk, names[1], 1.0);
            if slider.changed() {
                walk.set_time(time);
            }
        });
    });
}

/// The title of the current step or layer, and its place in the walk.
#[derive(Clone, Debug, PartialEq)]
struct Heading {
    title: String,
    place: String,
    /// Whether the points are moving without a step that would have words of its own.
    is_on_the_way: bool,
}

impl Heading {
    /// Returns the heading of the walk's current place, not of its destination.
    fn of(route: Option<&RouteModel>, selection: &Selection, walk: &Walk, [from, to]: [(&str, &str); 2]) -> Self {
        let share = percent_of_way(walk.step_share());
        let is_between = walk.is_between();
        let passed = walk.passed_layers().filter(|_| !walk.is_walking() && walk.layers() > 1);
        let (title, place) = match passed {
            Some(_) if is_between => (layer_title(route, walk.layer()).to_owned(), format!("{share} of the way")),
            Some(passed) => (passed_said(route, passed as usize), String::new()),
            None if is_between && !walk.is_walking() => {
                ("on the way".to_owned(), format!("{share} from {} to {}", from.0, to.0))
            }
            None => {
                // Points that move straight to contextual pass no layer, so the text is about the layer of the chosen
                // head.
                let of_head = || route.and_then(|route| route.layer_of(selection.head));
                let layer = Some(walk.layer()).filter(|_| walk.is_walking()).or_else(of_head).unwrap_or(0);
                let head = Some(selection.head).filter(|_| walk.is_walking());
                let place = place_said(route, layer, walk.step(), head);
                let place = if is_between { format!("{share} of {place}") } else { place };
                (step_name(route, walk.step()).to_owned(), place)
            }
        };
        Self { title, place, is_on_the_way: is_between && !walk.is_walking() }
    }

    /// Returns the heading for a screen reader.
    fn spoken(&self) -> String {
        let parts = [self.place.as_str(), self.title.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// Formats a share as a percentage, such as `42 %`; a move that has begun and not ended is shown as neither 0 nor 100.
fn percent_of_way(share: f32) -> String {
    const PERCENT: f32 = 100.0;
    format!("{:.0} %", (share * PERCENT).clamp(1.0, PERCENT - 1.0))
}

/// Returns the name of a step in the model on the stage, or its usual name before there is a model.
fn step_name(route: Option<&RouteModel>, step: Step) -> &'static str {
    route.map_or(step.name(), |route| route.name(step))
}

/// Returns the place in the walk, such as `layer 2 of 2, head 1, step 3 of 8`. The head is named if the layer has
/// several and the step is about one of them.
fn place_said(route: Option<&RouteModel>, layer: usize, step: Step, head: Option<usize>) -> String {
    let heads = route.and_then(|route| route.layers.get(layer)).map(|layer| layer.heads.clone());
    let heads = heads.filter(|heads| heads.len() > 1 && step.is_of_head());
    let own = heads.zip(head).filter(|(heads, head)| heads.contains(head)).map(|(heads, head)| head - heads.start + 1);
    let head = own.map_or_else(String::new, |own| format!("head {own}"));
    let parts = [layer_title(route, layer), &head, &format!("step {} of {STEPS}", step.index() + 1)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns the last passed layer, such as `after layer 2 of 6`, or `before layer 1 of 6` for the static places.
fn passed_said(route: Option<&RouteModel>, passed: usize) -> String {
    match passed.checked_sub(1) {
        Some(last) => format!("after {}", layer_title(route, last)),
        None => format!("before {}", layer_title(route, 0)),
    }
}

/// Returns the title of a layer, such as `layer 2 of 6`, or an empty string if there is only one.
fn layer_title(route: Option<&RouteModel>, layer: usize) -> &str {
    route.and_then(|route| route.layers.get(layer)).map_or("", |layer| &layer.title)
}

/// The line of a walk, which maps places of the walk to the screen.
#[derive(Clone, Copy)]
struct Track {
    rect: Rect,
    end: f32,
    layers: usize,
    /// The size of the filmstrip's frames above the line.
    frame: Option<egui::Vec2>,
}

impl Track {
    fn at(&self, place: f32) -> Pos2 {
        let above = self.frame.map_or(0.0, |frame| frame.y);
        let middle = (self.rect.top() + above + self.rect.bottom()) / 2.0;
        pos2(self.rect.left() + self.rect.width() * place / self.end, middle)
    }

    /// Returns the frames of the filmstrip, each centred at the end of its layer.
    fn frames(&self) -> Vec<Rect> {
        let of = |size: egui::Vec2| {
            let middle = move |layer: usize| pos2(self.at(Self::behind(layer)).x, self.rect.top() + size.y / 2.0);
            (0..self.layers).map(move |layer| Rect::from_center_size(middle(layer), size))
        };
        self.frame.into_iter().flat_map(of).collect()
    }

    /// Returns the place of an end's name if the track draws it: below the end's sign, left of the filmstrip, or in the
    /// upper edge of its last frame. Returns `None` if the name is beside the track.
    fn end_sign(&self, time: f32) -> Option<Rect> {
        if self.has_signs() {
            let x = self.at(time * self.end).x;
            return Some(Rect::from_min_size(pos2(x - SIGN.x / 2.0, self.rect.top()), vec2(SIGN.x, SIGNS_HEIGHT)));
        }
        let frames = self.frames();
        let (first, last) = (frames.first()?, frames.last()?);
        Some(match time {
            0.0 => first.with_max_x(first.left()).with_min_x(self.rect.left() - HANDLE),
            _ => last.with_max_y(last.top() + LINE_HEIGHT),
        })
    }

    fn under(&self, x: f32) -> f32 {
        ((x - self.rect.left()) / self.rect.width() * self.end).clamp(0.0, self.end)
    }

    /// Returns the distance between two steps, in points.
    fn apart(&self) -> f32 {
        self.rect.width() / self.end
    }

    /// Returns the distance between two steps of a single layer, in a time line of this width.
    fn apart_in(width: f32) -> f32 {
        (width - 2.0 * (size::GAP + SIGN_ENDS + size::GAP_WIDE)) / LAST
    }

    /// Returns whether each stop is a sign.
    fn has_signs(&self) -> bool {
        self.layers == 1 && self.rect.height() >= SIGNS_HEIGHT
    }

    /// Returns the place of the walk at the end of a layer, which is counted from 0.
    fn behind(layer: usize) -> f32 {
        (layer * STEPS) as f32 + LAST
    }

    /// Returns whether each step of each layer has a stop; otherwise only those of the current layer do.
    fn has_room(&self) -> bool {
        const LEAST: f32 = 9.0;
        self.apart() >= LEAST
    }

    /// Returns half of the distance from layer to layer.
    fn room(&self) -> f32 {
        self.apart() * STEPS as f32 / 2.0
    }

    /// Returns the layer whose frame is under the pointer or, without frames, whose end is; `None` if there is none.
    fn layer_under(&self, pointer: Pos2) -> Option<usize> {
        if self.frame.is_some() {
            return self.frames().iter().position(|frame| frame.contains(pointer));
        }
        let reach = NUMBERED.min(self.room());
        let is_under = |layer: &usize| (self.at(Self::behind(*layer)).x - pointer.x).abs() <= reach;
        (0..self.layers).filter(|_| self.layers > 1).find(is_under)
    }
}

/// Size of a step's sign.
const SIGN: egui::Vec2 = vec2(52.0, 24.0);
/// Radius of the disc with a layer's number.
const NUMBERED: f32 = 8.0;
/// Radius of a stop.
const STOP: f32 = 4.0;
/// Radius of the handle.
const HANDLE: f32 = 7.0;

/// Shows the track: a line with a stop for each layer and, between these, one for each step. The handle can be dragged
/// in both directions. `names` has the names of the two ends of the line.
fn track_ui(
    ui: &mut Ui,
    track: &Track,
    (route, names): (Option<&RouteModel>, [&str; 2]),
    followed: &[FollowedWord],
    heading: &Heading,
    walk: &mut Walk,
) {
    let beyond = track.frame.map_or(HANDLE, |frame| frame.x / 2.0);
    let whole = track.rect.with_min_x(track.rect.left() - HANDLE).with_max_x(track.rect.right() + beyond);
    let response = ui.interact(whole, ui.id().with("walk"), Sense::click_and_drag());
    let said =
        |layer: usize, step: Step| format!("{}: {}", place_said(route, layer, step, None), step_name(route, step));
    let name = format!("Walk: {}", heading.spoken());
    response.widget_info(|| WidgetInfo::slider(true, f64::from(walk.place()), &name));
    paint_track(ui, &response, track, (route, names), followed, walk);
    lead(ui, &response, track, walk);
    if let Some(pointer) = response.hover_pos() {
        let stop = track.under(pointer.x).round() as usize;
        let text = match track.layer_under(pointer) {
            Some(layer) => WindowAction::NextLayer.row().hint_with(&passed_said(route, layer + 1)),
            None => said(stop / STEPS, Step::ALL[stop % STEPS]),
        };
        response.on_hover_text_at_pointer(text);
    }
}

/// Paints the stops, the numbered layers and the place of the walk.
fn paint_track(
    ui: &Ui,
    response: &Response,
    track: &Track,
    (route, names): (Option<&RouteModel>, [&str; 2]),
    followed: &[FollowedWord],
    walk: &Walk,
) {
    if track.has_signs() {
        return paint_signs(ui, response, track, (route, names[0]), walk);
    }
    let palette = Palette::on(ui);
    let painter = ui.painter();
    let place = walk.place();
    painter.line_segment([track.at(0.0), track.at(track.end)], Stroke::new(size::OUTLINE, palette.line));
    painter.line_segment([track.at(0.0), track.at(place)], Stroke::new(size::OUTLINE, palette.accent));
    let has_layers = track.layers > 1;
    let is_end = |stop: usize| has_layers && stop % STEPS == STEPS - 1;
    let is_shown = |stop: usize| track.has_room() || walk.is_walking() && stop / STEPS == walk.layer();
    let radius = STOP.min(track.apart() / 2.0).max(size::OUTLINE);
    for stop in (0..=track.end as usize).filter(|stop| *stop == 0 || is_shown(*stop) && !is_end(*stop)) {
        painter.circle_filled(track.at(stop as f32), radius, palette.stop(place >= stop as f32));
    }
    let ring = if response.has_focus() || response.hovered() { palette.accent } else { palette.ink_soft };
    let is_behind = has_layers && is_end(place as usize) && place.fract() == 0.0;
    match route.zip(track.frame) {
        Some((route, _)) => paint_film(ui, track, (route, names), followed, place, ring),
        None if has_layers => paint_layers(ui, track, route, (is_behind.then_some(place), place), ring),
        None => {}
    }
    let is_behind = is_behind && track.frame.is_none();
    if !is_behind {
        painter.circle(track.at(place), HANDLE, palette.surface, Stroke::new(size::OUTLINE, ring));
    }
}

/// Paints the filmstrip, with the name of the places before all layers on its left. The frame of the last passed layer
/// has a ring.
fn paint_film(
    ui: &Ui,
    track: &Track,
    (route, [start, end]): (&RouteModel, [&str; 2]),
    followed: &[FollowedWord],
    place: f32,
    ring: Color32,
) {
    let palette = Palette::on(ui);
    let passed = (0..track.layers).filter(|layer| place >= Track::behind(*layer)).count();
    let here = passed.checked_sub(1).filter(|last| place == Track::behind(*last)).map(|last| (last, ring));
    Filmstrip::of(route, track.frames()).paint(ui.painter(), palette, (passed, here), followed, end);
    if let Some(at) = track.end_sign(0.0) {
        let ink = if place == 0.0 { palette.ink } else { palette.ink_soft };
        ui.painter().text(at.center(), Align2::CENTER_CENTER, start, theme::plain(size::LABEL_AXIS), ink);
    }
}

/// Paints the layers with their signs. `here` is the place of the walk if it is at the end of a layer.
fn paint_layers(ui: &Ui, track: &Track, route: Option<&RouteModel>, (here, place): (Option<f32>, f32), ring: Color32) {
    let (palette, painter) = (Palette::on(ui), ui.painter());
    for layer in 0..track.layers {
        let (at, is_passed) = (Track::behind(layer), place >= Track::behind(layer));
        let (center, is_here) = (track.at(at), here == Some(at));
        let (fill, ink) =
            if is_passed { (palette.accent, palette.on_accent) } else { (palette.surface, palette.ink_soft) };
        // A layer without room for its number is a dot.
        let radius = NUMBERED.min(track.room() - 1.0).max(STOP);
        painter.circle(center, radius, fill, Stroke::new(size::HAIRLINE, palette.stop(is_passed)));
        if radius >= NUMBERED {
            let own = route.and_then(|route| route.layers.get(layer));
            let sign = own.map_or_else(|| (layer + 1).to_string(), |own| own.sign.clone());
            painter.text(center, Align2::CENTER_CENTER, sign, theme::plain(size::LABEL_AXIS), ink);
        }
        if is_here {
            painter.circle_stroke(center, radius + size::RING_GAP, Stroke::new(size::OUTLINE, ring));
        }
    }
}

/// Paints the steps of a single layer as signs, each with its name below it, and a mark between them at the place of
/// the walk.
fn paint_signs(ui: &Ui, response: &Response, track: &Track, (route, start): (Option<&RouteModel>, &str), walk: &Walk) {
    let palette = Palette::on(ui);
    let painter = ui.painter();
    let place = walk.place();
    let at = |place: f32| pos2(track.at(place).x, track.rect.top() + SIGN.y / 2.0);
    painter.line_segment([at(0.0), at(track.end)], Stroke::new(size::OUTLINE, palette.line));
    painter.line_segment([at(0.0), at(place)], Stroke::new(size::OUTLINE, palette.accent));
    for step in Step::ALL {
        let stop = step.index() as f32;
        let is_here = step == walk.step() && (walk.is_walking() || !walk.is_between());
        let is_reached = place >= stop;
        let rect = Rect::from_center_size(at(stop), SIGN);
        let (fill, ink) = match (is_here, is_reached) {
            (true, _) => (palette.accent, palette.on_accent),
            (false, true) => (palette.accent_soft, palette.ink),
            (false, false) => (palette.raised, palette.ink_soft),
        };
        painter.rect_filled(rect, f32::from(size::RADIUS), fill);
        painter.text(rect.center(), Align2::CENTER_CENTER, step.sign(), theme::plain(size::LABEL), ink);
        let name = pos2(rect.center().x, rect.bottom() + size::GAP_TIGHT / 2.0);
        let ink = if is_here { palette.ink } else { palette.ink_soft };
        let font = theme::plain(size::LABEL_AXIS);
        let words = if step == Step::Embed { start } else { step_name(route, step) };
        // Where two names would touch, the longer one is shortened to its first part: `scale`.
        let has_room = width_of(ui, words, font.clone()) <= track.apart() - size::GAP;
        let words = words.split(',').next().filter(|_| !has_room).unwrap_or(words);
        painter.text(name, Align2::CENTER_TOP, words, font, ink);
    }
    let ring = if response.has_focus() || response.hovered() { palette.accent } else { palette.line };
    if place.fract() != 0.0 || response.has_focus() {
        painter.circle(at(place), HANDLE, palette.surface, Stroke::new(size::OUTLINE, ring));
    }
}

/// Moves the walk by the pointer and the arrow keys.
fn lead(ui: &Ui, response: &Response, track: &Track, walk: &mut Walk) {
    if let Some(pointer) = response.interact_pointer_pos() {
        if response.dragged() {
            walk.set(track.under(pointer.x));
        } else if response.clicked() {
            match track.layer_under(pointer) {
                Some(layer) => walk.pass_to(layer + 1),
                None => walk.walk_to(track.under(pointer.x).round()),
            }
        }
    }
    if response.has_focus() {
        // Without this filter, the arrow keys would move the focus to another control.
        let arrows = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let turned = |key| ui.input_mut(|input| input.count_and_consume_key(egui::Modifiers::NONE, key));
        (0..turned(Key::ArrowRight)).for_each(|_| walk.step_on());
        (0..turned(Key::ArrowLeft)).for_each(|_| walk.step_back());
    }
}

/// Shows the text of the step and the button for the next one; text that does not fit scrolls. Returns true if the next
/// step was requested.
fn said_ui(
    ui: &mut Ui,
    heading: Heading,
    (route, model): (Option<&RouteModel>, Option<&WalkModel>),
    about: Option<&str>,
    walk: &Walk,
) -> bool {
    let palette = Palette::on(ui);
    let is_at_table = !walk.is_walking() && walk.passed_layers() == Some(0.0) && walk.layers() > 1;
    let about = route.filter(|_| is_at_table).map(|route| route.about_start).or(about);
    let said = match (about, model) {
        (Some(about), _) => about,
        _ if heading.is_on_the_way => ON_THE_WAY,
        (None, Some(model)) => &model.step(walk.step()).said,
        (None, None) => route.map_or("", |route| route.how_to_begin),
    };
    // With no-break spaces, a line ends after a comma and not within `step 8 of 8`.
    let place = heading.place.replace(' ', "\u{a0}").replace(",\u{a0}", ", ") + " ";
    let job = |wide: f32, body: f32| job(&heading.title, &place, said, wide, body, palette);
    let next = next_ui(walk);
    ui.horizontal_top(|ui| {
        let is_asked_on = next(ui);
        let room = ui.available_size();
        let fits = |job: &LayoutJob| ui.fonts_mut(|fonts| fonts.layout_job(job.clone()).size().y) <= room.y;
        let plain = job(room.x, size::BODY);
        let job = if fits(&plain) { plain } else { job(room.x - size::GAP, size::SMALL) };
        ScrollArea::vertical().id_salt("said").max_height(room.y).show(ui, |ui| ui.add(Label::new(job).wrap()));
        is_asked_on
    })
    .inner
}

const ON_THE_WAY: &str = "Each point is between the two places.";

/// Returns a function that shows the button of the next step, and returns whether it was clicked. The label is the key
/// and the action.
fn next_ui(walk: &Walk) -> impl FnOnce(&mut Ui) -> bool + use<> {
    let (words, name) = match (walk.is_at_end(), walk.is_gliding()) {
        (true, true) => ("to the end", "Go to the end of the walk"),
        (true, false) => ("begin again", "Begin the walk again"),
        (false, _) => ("next", "Next step of the walk"),
    };
    let [on, back] = [WindowAction::StepOn, WindowAction::StepBack].map(|action| action.row().keys_text());
    move |ui: &mut Ui| {
        let button = Button::new(format!("{on}: {words}")).small().ui(ui);
        named(button, WidgetType::Button, name).on_hover_text(format!("{name} ({on}; back: {back})")).clicked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_frames_of_a_filmstrip_where_there_is_room() {
        let height = |width, layers| track_height(width, layers);
        assert_eq!([height(900.0, 1), height(300.0, 1), height(300.0, 24)], [SIGNS_HEIGHT, TRACK_HEIGHT, TRACK_HEIGHT]);
        for (width, layers, least) in [(570.0, 6, 80.0), (570.0, 2, 120.0), (950.0, 6, 120.0), (950.0, 12, 60.0)] {
            let frame = frame_in(width, layers).expect("there is room");
            assert!(frame.x >= least && frame.y <= 80.0, "{frame:?}");
            let row = Rect::from_min_size(Pos2::ZERO, vec2(width, frame.y + LINE_HEIGHT));
            let rect = row.with_min_x(HANDLE).with_max_x(width - frame.x / 2.0);
            let track = Track { rect, end: Track::behind(layers - 1), layers, frame: Some(frame) };
            let frames = track.frames();
            assert!(frames.windows(2).all(|pair| pair[0].right() < pair[1].left()), "{frames:?}");
            assert!(frames.iter().all(|frame| row.expand(0.01).contains_rect(*frame)), "{frames:?}");
            assert!(track.at(0.0).y - HANDLE >= frames[0].bottom(), "the handle is below the frames");
            assert_eq!(track.layer_under(frames[1].center()), Some(1));
            assert_eq!(track.layer_under(track.at(Track::behind(1))), None, "the line has the steps");
        }
    }
}
