//! The bar in a corner of the stage, with the search, the lasso and the camera's views; and the keys of the stage,
//! which act from a click on the stage until something else is clicked.

use attune_core::lesson::issue::shorten;
use attune_ui::actions::{ActionTable, Pressed, Shortcut, StageAction, drop_text, focus, keys, pressed};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::search::{Emphasis, Hit, SearchResult};
use attune_ui::ui_state::{Highlight, PanelView, Selection, Walk};
use attune_ui::widgets::controls::named;
use attune_ui::widgets::heat::width_of;
use attune_view::view_model::features::{Feature, Features};
use attune_view::view_model::stage::StageModel;
use bevy::math::Vec2;
use egui::containers::menu::MenuButton;
use egui::{
    Align, Context, Key, Layout, Margin, Rect, Response, RichText, ScrollArea, TextEdit, Ui, UiBuilder, WidgetInfo,
    WidgetType,
};

use super::camera::CameraRig;
use super::canvas::StageControls;
use super::projection::place;

/// Longest search, in letters.
const TEXT_MAX: usize = 200;
const ORDINALS: [&str; 3] = ["first", "second", "third"];
/// Room for the switches and the count beside the search field.
const BESIDE: f32 = 136.0;
const COUNT: f32 = 62.0;

/// Returns whether the search field is open: while it has the keyboard or some text, or while some points are hidden.
fn is_search_open(ctx: &Context, highlight: &Highlight) -> bool {
    let field = keys::stage_search();
    let has_keyboard = ctx.memory(|memory| memory.focused()) == Some(field) || keys::is_asked(ctx, field);
    has_keyboard || highlight.is_narrowed() || !highlight.search.text.is_empty()
}

/// The place of the bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub rect: Rect,
    /// Whether the bar covers a part of the picture, because the row of the stage's tab has no room for it.
    pub is_over_picture: bool,
}

/// The widths that the bar needs, and the height of the fault of its search text.
pub struct BarWidths {
    /// The width without which a button would be cut off.
    least: f32,
    /// The width with a search field of full size.
    full: f32,
    /// The height of the line with the fault of a search text.
    fault: f32,
}

impl BarWidths {
    pub fn of(ui: &Ui, emphasis: &Emphasis, rig: &CameraRig, highlight: &Highlight) -> Self {
        let signs = if rig.is_flat() { Vec::new() } else { axes().map(|(_, sign)| sign).collect() };
        let names =
            [StageAction::Home, StageAction::Flat, StageAction::Lasso].map(|action| action.row().text.to_owned());
        let is_open = is_search_open(ui.ctx(), highlight);
        let search = (!is_open).then(|| SEARCH.to_owned());
        let features = emphasis.by_feature.features.iter().flat_map(|_| [COLOR, SIZE].map(str::to_owned));
        let names: Vec<String> = names.into_iter().chain(features).collect();
        let padding = 2.0 * ui.spacing().button_padding.x + size::GAP_TIGHT;
        let button = |name: &String| width_of(ui, name, theme::plain(size::BODY)) + padding;
        let views: f32 = signs.iter().chain(&names).chain(&search).map(button).sum::<f32>() + 2.0 * size::GAP_TIGHT;
        let (least, full) =
            if is_open { (BESIDE + size::SEARCH_MIN, BESIDE + COUNT + size::SEARCH) } else { (0.0, 0.0) };
        let fault = if is_open && matches!(emphasis.found, Some(Err(_))) { size::TABLE_ROW } else { 0.0 };
        Self { least: views + least, full: views + full, fault }
    }

    /// Returns the place beside the stage's tab if there is room for all buttons, or else the upper right corner of the
    /// picture's room.
    pub fn place(&self, room: Rect, beside_tab: Option<Rect>) -> Place {
        let beside = beside_tab.filter(|row| row.width() >= self.least + size::GAP);
        let (right_top, width, height) = match beside {
            Some(row) => (row.right_top(), row.width() - size::GAP, row.height()),
            None => {
                (room.right_top() + egui::vec2(-size::GAP, size::GAP), room.width() - 2.0 * size::GAP, size::VIEW_BAR)
            }
        };
        let size = egui::vec2(self.full.min(width), height + self.fault);
        let rect = Rect::from_min_size(right_top - egui::vec2(size.x, 0.0), size);
        Place { rect, is_over_picture: beside.is_none() }
    }
}

/// Label of the button that opens the search field.
const SEARCH: &str = "Search";
/// Names of the menus that only a file of vectors has.
const COLOR: &str = "Colour";
const SIZE: &str = "Size";

/// Shows the bar. Over the picture it has a background, which is nearly opaque while the bar is in use.
pub fn bar_ui(
    ui: &mut Ui,
    model: &StageModel,
    emphasis: &Emphasis,
    rig: &mut CameraRig,
    view: &mut PanelView,
    is_over_picture: bool,
) {
    /// The bar's opacity over the picture: in use, and while it is quiet.
    const HIDES: (f32, f32) = (0.9, 0.45);
    /// Least width in which the menus fit beside the open search field.
    const WIDE: f32 = 640.0;
    let palette = Palette::on(ui);
    let area = ui.available_rect_before_wrap();
    let height = if is_over_picture { size::VIEW_BAR } else { size::TAB_HEIGHT };
    let (row, below) = area.split_top_bottom_at_y(area.top() + height);
    let inner = row.shrink2(egui::vec2(size::GAP_TIGHT, 0.0));
    let is_open = is_search_open(ui.ctx(), view.highlight);
    let is_quiet = !is_open && !ui.rect_contains_pointer(area);
    if is_over_picture {
        let hides = if is_quiet { HIDES.1 } else { HIDES.0 };
        ui.painter().rect_filled(area, f32::from(size::RADIUS), palette.surface.gamma_multiply(hides));
    } else if below.is_positive() {
        ui.painter().rect_filled(below, f32::from(size::RADIUS), palette.surface.gamma_multiply(HIDES.0));
    }
    if is_quiet {
        // The text is faint until the pointer is over the bar.
        ui.visuals_mut().override_text_color = Some(palette.ink_faint);
    }
    ui.scope_builder(UiBuilder::new().max_rect(inner).layout(Layout::right_to_left(Align::Center)), |ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        views_ui(ui, rig);
        let lasso = StageAction::Lasso.row();
        if toggle(ui, view.highlight.draws_lasso, lasso.text, lasso.text).on_hover_text(lasso.hint()).clicked() {
            view.highlight.draws_lasso ^= true;
        }
        // If they do not fit beside the open search field, the menus are left out.
        let features = emphasis.by_feature.features.as_ref();
        if let Some(features) = features.filter(|_| !is_open || inner.width() >= WIDE) {
            features_ui(ui, features, model, view.highlight);
        }
        if is_open {
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| search_ui(ui, model, emphasis, rig, view));
        } else {
            let search = StageAction::Search.row();
            let button = ui.add(egui::Button::new(SEARCH).frame_when_inactive(false));
            if named(button, WidgetType::Button, search.text).on_hover_text(search.hint()).clicked() {
                keys::ask(ui.ctx(), keys::stage_search());
            }
        }
    });
    if let Some(Err(why)) = &emphasis.found {
        fault_ui(ui, below, why, palette);
    }
}

/// Returns each axis of the scene with the name of the key that looks along it.
fn axes() -> impl DoubleEndedIterator<Item = (usize, String)> {
    StageAction::LookAlong
        .row()
        .keys
        .iter()
        .map(Shortcut::text)
        .take(ORDINALS.len())
        .enumerate()
        .collect::<Vec<_>>()
        .into_iter()
}

/// Shows the buttons of the camera's views, from right to left.
fn views_ui(ui: &mut Ui, rig: &mut CameraRig) {
    let [home, flat] = [StageAction::Home, StageAction::Flat].map(StageAction::row);
    // Home is highlighted only after the learner has moved the camera, since only then does it change anything.
    let is_away = rig.is_touched();
    if named(ui.selectable_label(is_away, home.text), WidgetType::Button, home.tooltip)
        .on_hover_text(home.hint())
        .clicked()
    {
        rig.home();
    }
    let is_flat = rig.is_flat();
    if toggle(ui, is_flat, flat.text, flat.text).on_hover_text(flat.hint()).clicked() {
        rig.toggle_flat();
    }
    for (axis, sign) in axes().rev().filter(|_| !is_flat) {
        let hint = format!("Looks along the {} axis; click again to look from the other side ({sign})", ORDINALS[axis]);
        let button = ui.add(egui::Button::new(&sign).frame_when_inactive(false));
        if named(button, WidgetType::Button, format!("Look along {sign}")).on_hover_text(hint).clicked() {
            rig.look_along(axis);
        }
    }
}

/// Shows the menus of the features that colour and size the points of a file, from right to left.
fn features_ui(ui: &mut Ui, features: &Features, model: &StageModel, highlight: &mut Highlight) {
    let plain = if model.groups.is_empty() { "One colour" } else { "Groups" };
    let menu = |name| MenuButton::from_button(egui::Button::new(name).frame_when_inactive(false));
    let (size, _) = menu(SIZE).ui(ui, |ui| choice_ui(ui, "Equal", features.of_numbers(), &mut highlight.size_by));
    size.on_hover_text("What the sizes of the points stand for: the frequency rank, or a column of numbers");
    let (color, _) = menu(COLOR).ui(ui, |ui| choice_ui(ui, plain, features.all(), &mut highlight.color_by));
    color.on_hover_text("What the colours of the points stand for: the frequency rank, or a column of the metadata");
}

/// Shows a menu that chooses one feature or none; `plain` is the name of the choice of none.
fn choice_ui(ui: &mut Ui, plain: &str, features: impl Iterator<Item = Feature>, chosen: &mut Option<Feature>) {
    let mut choice = |ui: &mut Ui, feature: Option<Feature>| {
        let name = match &feature {
            None => plain.to_owned(),
            Some(Feature::Rank) => "Frequency rank".to_owned(),
            Some(Feature::Column(name)) => shorten(name),
        };
        if ui.selectable_label(*chosen == feature, name).clicked() {
            *chosen = feature;
            ui.close();
        }
    };
    let all = std::iter::once(None).chain(features.map(Some));
    ScrollArea::vertical().show(ui, |ui| all.for_each(|feature| choice(ui, feature)));
}

fn search_ui(ui: &mut Ui, model: &StageModel, emphasis: &Emphasis, rig: &mut CameraRig, view: &mut PanelView) {
    let room = ui.available_width() - BESIDE;
    // If there is too little room, the count is left out, because the picture shows what was found.
    let with_count = room - COUNT >= size::SEARCH_MIN;
    let width = (if with_count { room - COUNT } else { room }).clamp(size::SEARCH_MIN, size::SEARCH);
    let field = field_ui(ui, width, view.highlight);
    if field.changed() {
        view.highlight.looked_at = None;
    }
    let lost = |key| field.lost_focus() && ui.input(|input| input.key_pressed(key));
    if lost(Key::Enter) {
        let back = ui.input(|input| input.modifiers.shift);
        look_at_next(model, emphasis, if back { -1 } else { 1 }, rig, view.walk, view.highlight);
        field.request_focus();
    } else if lost(Key::Escape) {
        view.highlight.widen();
        ui.memory_mut(|memory| memory.request_focus(focus::stage_id()));
    }
    pattern_ui(ui, view.highlight);
    let count = emphasis.found.as_ref().map(|found| count(found, view.highlight.looked_at));
    isolate_ui(ui, view.highlight);
    if view.highlight.is_narrowed() {
        let clear = ui.add(egui::Button::new("×").frame_when_inactive(false));
        if named(clear, WidgetType::Button, "Clear").on_hover_text(StageAction::Clear.row().hint()).clicked() {
            view.highlight.widen();
        }
    }
    if let Some(count) = count.filter(|_| with_count) {
        ui.add(egui::Label::new(RichText::new(count).weak()).truncate());
    }
}

/// Shows the switch between plain words and a regular expression.
fn pattern_ui(ui: &mut Ui, highlight: &mut Highlight) {
    let pattern = toggle(ui, highlight.search.is_pattern, ".*", "Regular expression");
    if pattern.on_hover_text("Reads the search text as a regular expression, such as ^b, ing$ or cat|dog").clicked() {
        highlight.search.is_pattern = !highlight.search.is_pattern;
        highlight.looked_at = None;
    }
}

/// Shows the switch that hides all points but those that were found.
fn isolate_ui(ui: &mut Ui, highlight: &mut Highlight) {
    let isolate = StageAction::Isolate.row();
    let hint = if highlight.search.is_blank() {
        isolate.hint_with(
            "Shows only the points in the lasso or, without a lasso, the sentence and the points near its chosen word",
        )
    } else {
        isolate.hint()
    };
    if toggle(ui, highlight.isolated, isolate.text, isolate.text).on_hover_text(hint).clicked() {
        highlight.isolated = !highlight.isolated;
    }
}

fn field_ui(ui: &mut Ui, width: f32, highlight: &mut Highlight) -> Response {
    let search = StageAction::Search.row();
    let field = TextEdit::singleline(&mut highlight.search.text)
        .id(keys::stage_search())
        .hint_text(search.text)
        .char_limit(TEXT_MAX)
        .margin(Margin::symmetric(size::RADIUS as i8, size::RADIUS_SMALL as i8))
        .font(theme::plain(size::BODY))
        .desired_width(width);
    let response = ui.add(field);
    response.widget_info(|| {
        let info = WidgetInfo::text_edit(true, &highlight.search.text, &highlight.search.text, "");
        WidgetInfo { label: Some(search.text.to_owned()), ..info }
    });
    keys::take(ui.ctx(), response.id);
    response.on_hover_text(search.hint())
}

/// Returns the number of matches in words, or the place of the match that the camera is at. The text is empty if the
/// pattern is invalid.
pub fn count(found: &SearchResult, looked_at: Option<usize>) -> String {
    match (found, looked_at) {
        (Err(_), _) => String::new(),
        (Ok(found), _) if found.is_empty() => "none".to_owned(),
        (Ok(found), Some(at)) => format!("{} of {}", at + 1, found.len()),
        (Ok(found), None) => format!("{} found", found.len()),
    }
}

fn fault_ui(ui: &mut Ui, below: Rect, why: &str, palette: &Palette) {
    let inner = below.shrink2(egui::vec2(size::GAP_WIDE - size::GAP_TIGHT, 0.0));
    ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| {
        let said = RichText::new(format!("Not a regular expression: {why}")).color(palette.error).size(size::SMALL);
        ui.add(egui::Label::new(said).truncate()).on_hover_text(why);
    });
}

fn toggle(ui: &mut Ui, is_on: bool, sign: &str, name: &str) -> Response {
    let response = ui.selectable_label(is_on, sign);
    response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_on, name));
    response
}

/// Distance of the drag or scroll that has the same effect as one press of a key, in points.
const ORBIT: f32 = 22.0;
const PAN: f32 = 36.0;
const ZOOM: f32 = 50.0;
/// The directions of the arrow keys, in the order of the table of actions; y points down.
const ARROWS: [Vec2; 4] = [Vec2::NEG_Y, Vec2::Y, Vec2::NEG_X, Vec2::X];

/// Handles the keys of the stage before any panel sees them.
pub fn keys(
    ctx: &Context,
    model: Option<&StageModel>,
    emphasis: &Emphasis,
    controls: &mut StageControls,
    view: &mut PanelView,
) {
    let pressed = pressed(ctx, |action| action == StageAction::Home || model.is_some());
    for pressed in &pressed {
        perform(ctx, pressed, model, emphasis, controls, view);
    }
    if !pressed.is_empty() {
        drop_text(ctx);
    }
}

fn perform(
    ctx: &Context,
    pressed: &Pressed<StageAction>,
    model: Option<&StageModel>,
    emphasis: &Emphasis,
    controls: &mut StageControls,
    view: &mut PanelView,
) {
    let Pressed { action, which, count } = *pressed;
    let (size, times) = (controls.free(), count as f32);
    let zoom = |rig: &mut CameraRig, steps: f32| {
        let size = size.max(Vec2::ONE);
        rig.zoom(steps * ZOOM, Vec2::ZERO, size.x / size.y);
    };
    let step = |view: &mut PanelView, steps: isize| {
        let tokens = model.map_or(&[][..], |model| &model.tokens).iter();
        let places: Vec<usize> = tokens.filter(|token| !token.is_part).map(|token| token.position).collect();
        choose(view.selection, &places, steps);
    };
    match action {
        // The drag is reversed, so that the camera moves in the arrow's direction.
        StageAction::Orbit => controls.rig.orbit(-ARROWS[which] * ORBIT * times),
        StageAction::Pan => controls.rig.pan(-ARROWS[which] * PAN * times, size),
        StageAction::Nearer => zoom(&mut controls.rig, times),
        StageAction::Farther => zoom(&mut controls.rig, -times),
        StageAction::Focus => {
            let found = view.highlight.looked_at.and_then(|at| emphasis.matches().get(at).copied());
            let wanted = controls.hovered.or(view.selection.query.map(Hit::Token)).or(found);
            if let Some(place) = model.zip(wanted).and_then(|(model, hit)| place(model, hit, view.walk.layer_time())) {
                controls.rig.focus(place);
            }
        }
        StageAction::LookAlong => controls.rig.look_along(which),
        StageAction::Flat => controls.rig.toggle_flat(),
        StageAction::Search => keys::ask(ctx, keys::stage_search()),
        StageAction::Lasso => view.highlight.draws_lasso ^= true,
        StageAction::Isolate => view.highlight.isolated = !view.highlight.isolated,
        StageAction::NextQuery => step(view, count as isize),
        StageAction::QueryBefore => step(view, -(count as isize)),
        StageAction::Clear => clear(ctx, view),
        StageAction::Home => controls.rig.home(),
    }
}

/// Undoes one thing with each press of Esc: it shows all points again, or else ends the walk, or else clears the
/// choice, or else gives up the keyboard.
fn clear(ctx: &Context, view: &mut PanelView) {
    if view.highlight.is_narrowed() {
        view.highlight.widen();
    } else if !view.end_walk() && !view.clear_choice() {
        ctx.memory_mut(|memory| memory.surrender_focus(focus::stage_id()));
    }
}

/// Takes the keyboard away from the stage and the sentence in `area` when the pointer is pressed elsewhere, even on
/// something that takes no keyboard.
pub fn leave(ctx: &Context, area: Rect) {
    let pressed = ctx.input(|input| input.pointer.any_pressed().then(|| input.pointer.interact_pos()).flatten());
    if pressed.is_some_and(|at| !area.contains(at)) {
        ctx.memory_mut(|memory| {
            [focus::stage_id(), focus::strip_id()].into_iter().for_each(|part| memory.surrender_focus(part))
        });
    }
}

/// Chooses the word `steps` places further on; after the last word comes the first.
fn choose(selection: &mut Selection, places: &[usize], steps: isize) {
    if places.is_empty() {
        return;
    }
    let chosen = selection.query.and_then(|query| places.iter().position(|place| *place == query));
    let from = chosen.map_or(if steps > 0 { -1 } else { 0 }, |at| at as isize);
    let to = (from + steps).rem_euclid(places.len() as isize) as usize;
    selection.choose_query(Some(places[to]));
}

/// Moves the camera to the next match of the search, or to the previous one.
fn look_at_next(
    model: &StageModel,
    emphasis: &Emphasis,
    steps: isize,
    rig: &mut CameraRig,
    walk: &Walk,
    highlight: &mut Highlight,
) {
    let found = emphasis.matches();
    if found.is_empty() {
        return;
    }
    let from = highlight.looked_at.map_or(if steps > 0 { -1 } else { 0 }, |at| at as isize);
    let at = (from + steps).rem_euclid(found.len() as isize) as usize;
    highlight.looked_at = Some(at);
    if let Some(place) = place(model, found[at], walk.layer_time()) {
        rig.focus(place);
    }
}
