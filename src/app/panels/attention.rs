//! The attention panel: one heat map a head, rows are queries and columns are keys; or lines from the queries on the left to
//! the keys on the right, as thick as the weights between them.

use attune_ui::theme::{self, Palette, size, weight_line};
use attune_ui::ui_state::{Hover, PanelView, Selection, Trail, Walk};
use attune_ui::widgets::controls::{copy_button, paint_sink, reading_ui};
use attune_ui::widgets::heat::{Heat, paint_slanted, paint_upright, reach, text_width};
use attune_ui::widgets::traced::{ASK_HINT, OF_PIECES, ask_on};
use attune_view::view_model::attention::{AttentionMaps, HeadMap, Reading};
use attune_view::view_model::heads::Side;
use attune_view::view_model::needs::Needs;
use attune_view::view_model::pieces::WordAttention;
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::sentence_arcs::WordAt;
use egui::epaint::CubicBezierShape;
use egui::{
    Align, Align2, Button, Key, Label, Layout, Modifiers, Pos2, Rect, Response, RichText, ScrollArea, Sense, Shape,
    Stroke, Ui, Vec2, WidgetInfo, WidgetType,
};

use super::panel::{Panel, PanelContext};

/// How the weights are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttentionView {
    #[default]
    Map,
    Lines,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionPanel {
    pub view: AttentionView,
    /// Multiplies the cells: one of [`ZOOMS`], by its place.
    zoom: usize,
}

impl Default for AttentionPanel {
    fn default() -> Self {
        Self { view: AttentionView::Map, zoom: 0 }
    }
}

impl AttentionPanel {
    fn zoom(&self) -> f32 {
        ZOOMS[self.zoom]
    }
}

const ZOOMS: [f32; 5] = [1.0, 1.5, 2.0, 3.0, 4.0];

impl Panel for AttentionPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let words = cx.models.get::<WordAttention>().filter(|_| !cx.view.highlight.pieces);
        match words {
            Some(words) => attention_ui(ui, &words.0, self, &mut cx.view),
            None => attention_ui(ui, &*cx.models.get::<AttentionMaps>()?, self, &mut cx.view),
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.attention_as_lines = self.view == AttentionView::Lines;
        saved.attention_zoom = self.zoom;
    }

    fn restore(&mut self, saved: &SavedView) {
        self.view = if saved.attention_as_lines { AttentionView::Lines } else { AttentionView::Map };
        self.zoom = saved.attention_zoom.min(ZOOMS.len() - 1);
    }
}

fn attention_ui(ui: &mut Ui, model: &AttentionMaps, state: &mut AttentionPanel, view: &mut PanelView) {
    let shown = shown_heads(model, view.selection, view.walk);
    controls_ui(ui, model, &shown, state, view.selection);
    copy_by_key(ui, model, &shown, view.selection.reading);
    let reading = view.selection.reading;
    let has_lengths = shown.iter().filter_map(|head| model.heads.get(*head)).all(|map| map.cells.has_lengths());
    let said = if reading.is_added && !has_lengths { Some(Needs::Terms.words()) } else { reading.said() };
    if let Some(said) = said {
        ui.add(Label::new(RichText::new(said).color(Palette::of(ui.visuals().dark_mode).warn)).wrap());
    }
    clear_selection(ui, view.selection, view.trail);
    if let Some(note) = model.note {
        ui.add(Label::new(RichText::new(note).color(Palette::of(ui.visuals().dark_mode).ink)).wrap());
    }
    let maps = || shown.iter().filter_map(|head| model.heads.get(*head));
    match state.view {
        AttentionView::Lines => {
            ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| lines_ui(ui, model, maps(), view));
        }
        AttentionView::Map => {
            ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
                maps_ui(ui, model, &maps().collect::<Vec<_>>(), state.zoom(), view);
            });
        }
    }
}

/// The maps, side by side as far as they fit.
fn maps_ui(ui: &mut Ui, model: &AttentionMaps, maps: &[&HeadMap], zoom: f32, view: &mut PanelView) {
    let selected = view.selection.query;
    let beside = if zoom > 1.0 { 1 } else { maps_beside(ui, maps) };
    let rows = maps.len().div_ceil(beside);
    let height = (ui.clip_rect().height() - size::GAP_WIDE * (rows.max(1) - 1) as f32) / rows.max(1) as f32;
    let room = MapRoom { height, zoom };
    let mut lit = Vec::new();
    for (place, row) in maps.chunks(beside).enumerate() {
        if place > 0 {
            ui.add_space(size::GAP_WIDE - ui.spacing().item_spacing.y);
        }
        if beside == 1 {
            // What is larger than the panel scrolls: a column would keep it within.
            lit.extend(
                row.iter().filter_map(|map| ui.push_id(map.head, |ui| head_ui(ui, model, map, room, view)).inner),
            );
        } else {
            ui.columns(beside, |columns| {
                for (ui, map) in columns.iter_mut().zip(row) {
                    let one = ui.push_id(map.head, |ui| head_ui(ui, model, map, room, view));
                    lit.extend(one.inner);
                }
            });
        }
    }
    show_query(ui, selected, view.selection.query, &lit);
}

/// The one head that is shown here and in the sentence; none: all.
fn shown_head(model: &AttentionMaps, selection: &Selection) -> Option<usize> {
    selection.shown_head().filter(|head| *head < model.heads.len())
}

/// Esc over the panel, or a click beside everything: no word is chosen any more.
fn clear_selection(ui: &Ui, selection: &mut Selection, trail: &Trail) {
    if selection.query.is_none() {
        return;
    }
    let ground = ui.interact(ui.available_rect_before_wrap(), ui.id().with("ground"), Sense::CLICK);
    let is_free = !ui.ctx().text_edit_focused() && trail.entry().is_none();
    let is_escaped = || ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if ground.clicked() || is_free && ui.rect_contains_pointer(ui.max_rect()) && is_escaped() {
        selection.choose_query(None);
    }
}

/// The heads that are shown: the one, or all; of the layer that is walked through, where the walk goes through layers.
fn shown_heads(model: &AttentionMaps, selection: &Selection, walk: &Walk) -> Vec<usize> {
    if let Some(head) = shown_head(model, selection) {
        return vec![head];
    }
    let walked = walk.shown_layer().and_then(|_| model.heads.get(selection.head));
    let is_shown = |map: &&HeadMap| walked.is_none_or(|walked| walked.block == map.block);
    model.heads.iter().filter(is_shown).map(|map| map.head).collect()
}

/// Map or lines, which heads, how large, and all of it for a spreadsheet.
fn controls_ui(
    ui: &mut Ui,
    model: &AttentionMaps,
    shown: &[usize],
    state: &mut AttentionPanel,
    selection: &mut Selection,
) {
    /// Below this width the readings are in a menu, with the way to copy, so that the controls stay in one row.
    const NARROW: f32 = 360.0;
    let is_narrow = ui.available_width() < NARROW;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for (choice, words, hint) in [
            (AttentionView::Map, "Map", "Each row is a query and sums to 1; each column is a key"),
            (
                AttentionView::Lines,
                "Lines",
                "Lines from each query on the left to its keys on the right; the thicker \
                the line, the larger the weight",
            ),
        ] {
            if ui.selectable_label(state.view == choice, words).on_hover_text(hint).clicked() {
                state.view = choice;
            }
        }
        if !is_narrow {
            ui.separator();
        }
        let reading = &mut selection.reading;
        if is_narrow {
            let menu = ui.menu_button("As", |ui| {
                reading_ui(ui, &model.sinks, reading);
                copy_ui(ui, model, shown, *reading);
            });
            menu.response.on_hover_text("Weights, or what they add; with or without sinks; copy everything");
        } else {
            reading_ui(ui, &model.sinks, reading);
            ui.separator();
        }
        heads_choice_ui(ui, model, selection);
        if state.view == AttentionView::Map {
            zoom_ui(ui, state);
        }
        if !is_narrow {
            copy_ui(ui, model, shown, selection.reading);
        }
    });
}

/// The buttons for larger and smaller cells.
fn zoom_ui(ui: &mut Ui, state: &mut AttentionPanel) {
    /// Room for both: no line ends between them.
    const PAIR: Vec2 = Vec2::new(2.0 * size::SLIDER_ROW + size::GAP_TIGHT, size::SLIDER_ROW);
    let sizes = [("−", "Smaller cells", state.zoom.checked_sub(1)), ("+", "Larger cells", Some(state.zoom + 1))];
    ui.allocate_ui_with_layout(PAIR, Layout::left_to_right(Align::Center), |ui| {
        for (sign, name, next) in sizes {
            let next = next.filter(|next| *next < ZOOMS.len());
            let button = ui.add_enabled(next.is_some(), Button::new(sign).small());
            button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, next.is_some(), name));
            if button.on_hover_text(format!("{name}; if there is room, each cell shows its number")).clicked() {
                state.zoom = next.unwrap_or(state.zoom);
            }
        }
    });
}

fn copy_ui(ui: &mut Ui, model: &AttentionMaps, shown: &[usize], reading: Reading) {
    let hint = format!("{}, for a spreadsheet (Ctrl+C over the panel)", shown_words(model, shown));
    copy_button(ui, &hint, || model.tsv(shown, reading));
}

fn heads_choice_ui(ui: &mut Ui, model: &AttentionMaps, selection: &mut Selection) {
    /// Maximum number of heads that have a button each; more have a list.
    const BUTTONS: usize = 4;
    if model.heads.len() < 2 {
        return;
    }
    let palette = Palette::of(ui.visuals().dark_mode);
    let only = shown_head(model, selection);
    let short = |map: &HeadMap| match model.heads.len() {
        count if count > BUTTONS => map.title.clone(),
        // As All heads numbers them: the layer and the head.
        _ if model.heads.iter().any(|other| other.block != map.block) => format!("{}·{}", map.block + 1, map.own + 1),
        _ => (map.own + 1).to_string(),
    };
    let mut choice = |ui: &mut Ui, head: Option<usize>, words: RichText, name: &str| {
        let is_chosen = only == head;
        let response = ui.selectable_label(is_chosen, words);
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, name));
        if response.on_hover_text(name).clicked() {
            selection.show_head(head);
        }
    };
    let mut choices = |ui: &mut Ui| {
        choice(ui, None, RichText::new("All"), "Show all heads");
        for map in &model.heads {
            let words = RichText::new(short(map)).color(palette.head(map.own)).strong();
            choice(ui, Some(map.head), words, &format!("Show only {}", map.title.to_lowercase()));
        }
    };
    if model.heads.len() <= BUTTONS {
        choices(ui);
    } else {
        let menu = ui.menu_button("Heads", choices);
        menu.response.on_hover_text("Which heads are shown");
    }
}

fn shown_words(model: &AttentionMaps, shown: &[usize]) -> String {
    match shown {
        [head] if model.heads.len() > 1 => format!("the weights of {}", model.heads[*head].title.to_lowercase()),
        _ if shown.len() < model.heads.len() => "the weights of the layer's heads".to_owned(),
        _ => "the weights of all heads".to_owned(),
    }
}

/// Ctrl or Cmd and C over the panel copies what is shown, unless text is selected or written.
fn copy_by_key(ui: &Ui, model: &AttentionMaps, shown: &[usize], reading: Reading) {
    let is_asked = ui.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::Copy)));
    if is_asked && !ui.ctx().text_edit_focused() && ui.rect_contains_pointer(ui.max_rect()) {
        ui.copy_text(model.tsv(shown, reading));
    }
}

/// How many maps stand beside each other: as many as fit with a number in every cell, or more where only then all are
/// in sight at once.
fn maps_beside(ui: &Ui, maps: &[&HeadMap]) -> usize {
    let most = |of: &dyn Fn(&HeadMap) -> usize| maps.iter().map(|map| of(map)).max().unwrap_or(0) as f32;
    let widest = |of: &dyn Fn(&HeadMap) -> &[String]| {
        let labels = maps.iter().flat_map(|map| of(map));
        labels.map(|label| text_width(ui, label)).fold(0.0, f32::max)
    };
    let [queries, keys] = [widest(&|map| &map.queries), widest(&|map| &map.keys)];
    let [rows, columns] = [most(&|map| map.queries.len()), most(&|map| map.keys.len())];
    let gap = ui.spacing().item_spacing.x;
    let fit = |width: f32| (((ui.available_width() + gap) / (width + gap)) as usize).clamp(1, maps.len().max(1));
    let numbered = fit(queries + size::GAP + columns * size::CELL_WITH_NUMBER + reach(keys).x);
    let upright = keys * UPRIGHT_FONT / size::LABEL + size::GAP;
    let least = TITLE + upright + rows * ROW_LEAST;
    let all_in_sight = |beside: &usize| {
        let under = maps.len().div_ceil(*beside) as f32;
        under * least + (under - 1.0) * size::GAP_WIDE <= ui.clip_rect().height()
    };
    let narrow = fit(queries + size::GAP + columns * size::CELL_MIN);
    (numbered..=narrow).find(all_in_sight).unwrap_or(numbered)
}

/// One head's map. Returns where its lit row lies.
fn head_ui(ui: &mut Ui, model: &AttentionMaps, map: &HeadMap, room: MapRoom, view: &mut PanelView) -> Option<Rect> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let off = if map.enabled { "" } else { "  · switched off" };
    ui.label(RichText::new(format!("{}{off}", map.title)).font(theme::strong(size::BODY)).color(palette.head(map.own)));
    let layout = MapLayout::of(ui, map, room);
    let (rect, _) = ui.allocate_exact_size(layout.size, Sense::hover());
    let heat =
        Heat { origin: rect.min + layout.offset, cell: layout.cell, rows: map.queries.len(), cols: map.keys.len() };
    let lit = query_row(map, view.selection).map(|row| heat.row_rect(row));
    // Many heads are a long way to scroll.
    if model.heads.len() > ALL_DRAWN && !ui.is_rect_visible(rect) {
        return lit;
    }
    let response = ui.interact(heat.rect(), ui.id().with("map"), Sense::click());
    paint(ui, model, map, &heat, view.selection, palette);
    paint_pointed(ui, map, &heat, view.hover, palette);
    queries_ui(ui, map, &heat, rect.left(), view.selection, view.hover);
    let names = keys_ui(ui, model, map, &heat, &layout, palette);
    hover_and_click(&response, model, map, &heat, names.bottom(), view);
    lit
}

/// A query that was selected elsewhere is scrolled into sight, once, unless one of its `rows` is there already. One
/// that was clicked here, between `before` and `after`, stays where the pointer is.
fn show_query(ui: &Ui, before: Option<usize>, after: Option<usize>, rows: &[Rect]) {
    let id = ui.id().with("query in sight");
    let known = ui.data_mut(|data| std::mem::replace(data.get_temp_mut_or_default::<Option<usize>>(id), after));
    let in_sight = || rows.iter().any(|row| ui.clip_rect().y_range().contains(row.center().y));
    if known != before
        && !in_sight()
        && let Some(first) = rows.first()
    {
        ui.scroll_to_rect(*first, None);
    }
}

/// The least height of a row where that shows all maps at once, and elsewhere: its label stays within.
const ROW_LEAST: f32 = 13.0;
const ROW_MIN: f32 = 16.0;
/// Columns that are narrower have upright names of this size: on a slant they would cover each other.
const UPRIGHT_BELOW: f32 = 19.0;
const UPRIGHT_FONT: f32 = 11.5;
/// The most heads that are all drawn; of more, those out of sight are not.
const ALL_DRAWN: usize = 16;
/// Over a map, for its title.
const TITLE: f32 = 25.0;

/// Room that a map has.
#[derive(Clone, Copy)]
struct MapRoom {
    /// Height in which it would be in sight at once, with those under it.
    height: f32,
    zoom: f32,
}

/// Room for the labels and the size of a cell.
struct MapLayout {
    size: Vec2,
    offset: Vec2,
    cell: Vec2,
    /// The names of the columns stand upright.
    is_upright: bool,
}

impl MapLayout {
    fn of(ui: &Ui, map: &HeadMap, MapRoom { height: all_in, zoom }: MapRoom) -> MapLayout {
        let widest = |labels: &[String]| labels.iter().map(|label| text_width(ui, label)).fold(0.0, f32::max);
        let left = widest(&map.queries) + size::GAP;
        let [rows, count] = [&map.queries, &map.keys].map(|labels| labels.len().max(1) as f32);
        let whole = ui.clip_rect().width().min(ui.available_width()) - left;
        // The last key's label leans out to the right.
        let lean = map.keys.last().map_or(0.0, |key| reach(text_width(ui, key)).x);
        let is_upright = (whole - lean) / count * zoom < UPRIGHT_BELOW;
        let (lean, height) = if is_upright {
            (0.0, widest(&map.keys) * UPRIGHT_FONT / size::LABEL + size::GAP)
        } else {
            (lean, reach(widest(&map.keys)).y + size::LABEL)
        };
        let room = whole - lean;
        let wide = ((room / count).clamp(size::CELL_MIN, size::CELL_MAX) * zoom).floor();
        // Rows are lower than wide where that shows all of them, and all maps, at once; else those of this map.
        let low = |whole: f32| ((whole - height - TITLE) / rows).floor();
        let low = match low(all_in) {
            low if low >= ROW_LEAST => low,
            _ => low(ui.clip_rect().height()).max(ROW_MIN),
        };
        let cell = Vec2::new(wide, if zoom > 1.0 { wide } else { low.min(wide) });
        MapLayout {
            size: Vec2::new(left + count * cell.x + lean, height + rows * cell.y),
            offset: Vec2::new(left, height),
            cell,
            is_upright,
        }
    }
}

fn paint(ui: &Ui, model: &AttentionMaps, map: &HeadMap, heat: &Heat, selection: &Selection, palette: &Palette) {
    const OFF: f32 = 0.35;
    let painter = ui.painter();
    let reading = selection.reading;
    let full = model.full(map, reading);
    let pairs = || (0..heat.rows).flat_map(|row| (0..heat.cols).map(move |col| (row, col)));
    let whole = Reading { hides_sinks: false, ..reading };
    let font = heat.number_font(ui.ctx(), || pairs().filter_map(|(row, col)| map.cells.shown(whole, row, col)));
    for (row, col) in pairs() {
        let Some(shown) = map.cells.shown(reading, row, col) else { continue };
        let fill = palette.weight(map.own, shown / full);
        let fill = if map.enabled { fill } else { palette.raised.lerp_to_gamma(fill, OFF) };
        heat.paint_cell(painter, row, col, fill);
        if let Some(font) = &font {
            heat.paint_number(painter, row, col, shown, font, palette.ink_on(fill));
        }
    }
    if let Some(row) = query_row(map, selection) {
        heat.outline(painter, heat.row_rect(row), palette.accent);
    }
}

/// The row of the chosen query. The rows of the source's own heads are no tokens of the stage.
fn query_row(map: &HeadMap, selection: &Selection) -> Option<usize> {
    selection.query.filter(|_| !map.is_of_source).and_then(|query| map.row_of(query))
}

/// The names of the columns, at the upper edge of what is in sight while their map scrolls under it. Returns their
/// rectangle.
fn keys_ui(ui: &Ui, model: &AttentionMaps, map: &HeadMap, heat: &Heat, layout: &MapLayout, palette: &Palette) -> Rect {
    let height = layout.offset.y;
    let own = heat.origin.y - height;
    let last = heat.rect().bottom() - heat.cell.y - height;
    let top = ui.clip_rect().top().min(last).max(own);
    let names =
        Rect::from_min_max(Pos2::new(ui.clip_rect().left(), top), Pos2::new(ui.clip_rect().right(), top + height));
    let painter = ui.painter();
    if top > own {
        painter.rect_filled(names, 0.0, palette.surface);
    }
    for (col, key) in map.keys.iter().enumerate() {
        let font = theme::plain(if layout.is_upright { UPRIGHT_FONT } else { size::LABEL });
        let galley = painter.layout_no_wrap(key.clone(), font, palette.ink_soft);
        let foot = Pos2::new(heat.cell_rect(0, col).center().x, names.bottom() - size::GAP_TIGHT);
        if layout.is_upright {
            paint_upright(painter, foot, galley, palette.ink_soft);
        } else {
            paint_slanted(painter, foot, galley, palette.ink_soft);
        }
        if let Some(sink) = model.sinks.at(col).filter(|_| !map.keys_are_source) {
            paint_sink(painter, Pos2::new(foot.x, names.bottom()), palette);
            let mark = Rect::from_center_size(foot, Vec2::splat(size::GAP_WIDE));
            ui.interact(mark, ui.id().with(("sink", col)), Sense::hover()).on_hover_text(sink.about());
        }
    }
    names
}

/// Target of the pointer, here or elsewhere: a word's row and column, or a pair's cell.
fn paint_pointed(ui: &Ui, map: &HeadMap, heat: &Heat, hover: &Hover, palette: &Palette) {
    let (queries, keys) = sides_of(map);
    let rects = hover.at().into_iter().flat_map(|at| {
        let row = map.row_of(at.position).filter(|_| at.side == queries).map(|row| heat.row_rect(row));
        let col = map.column_of(at.position).filter(|_| at.side == keys).map(|column| heat.col_rect(column));
        row.into_iter().chain(col)
    });
    rects.for_each(|rect| heat.outline(ui.painter(), rect, palette.ink_faint));
    let pair = hover.pair().filter(|pair| pair.head == map.head);
    let cell = pair.and_then(|pair| map.row_of(pair.query).zip(map.column_of(pair.key)));
    if let Some((row, column)) = cell {
        heat.outline(ui.painter(), heat.cell_rect(row, column), palette.ink);
    }
}

/// Sentences of a map's queries and keys.
fn sides_of(map: &HeadMap) -> (Side, Side) {
    (Side::of_source(map.is_of_source), Side::of_source(map.keys_are_source))
}

/// The row labels are buttons: each selects its query.
fn queries_ui(ui: &mut Ui, map: &HeadMap, heat: &Heat, left: f32, selection: &mut Selection, hover: &mut Hover) {
    let palette = Palette::of(ui.visuals().dark_mode);
    for (row, token) in map.queries.iter().enumerate() {
        let cell = heat.cell_rect(row, 0);
        let rect = Rect::from_min_max(Pos2::new(left, cell.top()), Pos2::new(cell.left(), cell.bottom()));
        let response = ui.interact(rect, ui.id().with(("query", row)), Sense::click());
        let name = format!("Query {token} in {}", map.title.to_lowercase());
        let tokens = &map.query_tokens[row];
        let selected = query_row(map, selection) == Some(row);
        response.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::SelectableLabel, true, selected, &name));
        let ink = match (selected, response.hovered()) {
            (true, _) => palette.accent,
            (_, true) => palette.ink,
            _ => palette.ink_soft,
        };
        let font_size = if cell.height() < ROW_MIN { UPRIGHT_FONT } else { size::LABEL };
        let font = if selected { theme::strong(font_size) } else { theme::plain(font_size) };
        let at = Pos2::new(cell.left() - size::GAP, cell.center().y);
        ui.painter().text(at, egui::Align2::RIGHT_CENTER, token, font, ink);
        if response.hovered() {
            hover.point_at_token(WordAt { side: sides_of(map).0, position: tokens.start });
        }
        if response.on_hover_text(format!("Highlight the row of {token}")).clicked() && !map.is_of_source {
            choose_row(selection, tokens.start);
        }
    }
}

/// `below` is where the names of the columns end: a cell behind them is no cell under the pointer.
fn hover_and_click(
    response: &Response,
    model: &AttentionMaps,
    map: &HeadMap,
    heat: &Heat,
    below: f32,
    view: &mut PanelView,
) {
    response.widget_info(|| {
        WidgetInfo::labeled(WidgetType::Other, true, format!("Weights of {}", map.title.to_lowercase()))
    });
    let cell = response.hover_pos().filter(|pointer| pointer.y >= below).and_then(|pointer| heat.at(pointer));
    let Some((query, key)) = cell else { return };
    view.hover.point_at_pair(map.pair(query, key));
    if response.clicked() {
        choose(view.selection, map, query, key);
    }
    let entry = map.entry(query, key);
    if let Some(entry) = entry {
        ask_on(response, entry, view.trail);
    }
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.label(model.say(map.head, query, key));
        let reading = view.selection.reading;
        if let Some(shown) = model.say_shown(map.head, query, key, reading) {
            ui.label(shown);
        }
        let row = (0..heat.cols).filter_map(|key| map.cells.shown(reading, query, key)).sum::<f32>();
        let summed = if reading.is_added { "The lengths in this row sum" } else { "This row sums" };
        ui.weak(format!("{summed} to {row:.4}."));
        if let Some(sink) = model.sinks.at(key).filter(|_| !map.keys_are_source) {
            ui.weak(sink.about());
        }
        ui.weak(format!("Click to follow this pair. {}", if entry.is_some() { ASK_HINT } else { OF_PIECES }));
    });
}

/// The walk follows this pair through this head. The rows of the source are no tokens of the stage.
pub(super) fn choose(selection: &mut Selection, map: &HeadMap, query: usize, key: usize) {
    if !map.is_of_source {
        let pair = map.pair(query, key);
        selection.choose_query(Some(pair.query));
        selection.choose_head(map.head);
        selection.key = Some(pair.key);
    }
}

/// A row that is clicked again stays chosen.
fn choose_row(selection: &mut Selection, row: usize) {
    if selection.chosen_query() != Some(row) {
        selection.choose_query(Some(row));
    }
}

/// Weights below this are no line.
const LEAST: f32 = 0.005;
/// Opacity of lines that are not the chosen query's.
const FAINT: f32 = 0.16;
/// From a line to the pointer that is on it.
const REACH: f32 = 5.0;
/// Points on a curve that are looked at for the pointer.
const SAMPLES: usize = 24;

/// One picture for all heads that look from the same words at the same words.
pub fn lines_ui<'a>(ui: &mut Ui, model: &AttentionMaps, maps: impl Iterator<Item = &'a HeadMap>, view: &mut PanelView) {
    let mut pictures: Vec<Vec<&HeadMap>> = Vec::new();
    for map in maps {
        let is_like = |one: &&mut Vec<&HeadMap>| {
            one[0].is_of_source == map.is_of_source && one[0].queries == map.queries && one[0].keys == map.keys
        };
        match pictures.iter_mut().find(is_like) {
            Some(picture) => picture.push(map),
            None => pictures.push(vec![map]),
        }
    }
    for (index, picture) in pictures.iter().enumerate() {
        ui.push_id(("lines", index), |ui| picture_ui(ui, model, picture, view));
        ui.add_space(size::GAP_WIDE);
    }
}

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

    /// The heads of one pair lie side by side, so that none hides another.
    fn curve(&self, query: usize, key: usize, shift: f32) -> [Pos2; 4] {
        let (from, to) = (Pos2::new(self.left, self.y(query) + shift), Pos2::new(self.right, self.y(key) + shift));
        let bend = Vec2::new((self.right - self.left) / 2.0, 0.0);
        [from, from + bend, to - bend, to]
    }
}

fn picture_ui(ui: &mut Ui, model: &AttentionMaps, maps: &[&HeadMap], view: &mut PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let Some(first) = maps.first() else { return };
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
    let reading = view.selection.reading;
    let mut lines = lines(model, maps, reading, &picture);
    // The heaviest last, over the others; those of the chosen query over all.
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
    words_ui(ui, first, &picture, rect, chosen, view.selection, view.hover);
    if let Some(index) = hovered {
        pair_ui(response, model, &lines[index], view);
    }
}

/// The line under the pointer: a click follows its pair, and a card says its weight.
fn pair_ui(response: Response, model: &AttentionMaps, line: &WeightLine, view: &mut PanelView) {
    let reading = view.selection.reading;
    view.hover.point_at_pair(line.map.pair(line.query, line.key));
    if response.clicked() {
        choose(view.selection, line.map, line.query, line.key);
    }
    let entry = line.map.entry(line.query, line.key);
    if let Some(entry) = entry {
        ask_on(&response, entry, view.trail);
    }
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(model.say(line.map.head, line.query, line.key));
        if let Some(shown) = model.say_shown(line.map.head, line.query, line.key, reading) {
            ui.label(shown);
        }
        ui.weak(format!("Click to follow this pair. {}", if entry.is_some() { ASK_HINT } else { OF_PIECES }));
    });
}

fn titles_ui(ui: &mut Ui, maps: &[&HeadMap], palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP;
        for map in maps {
            let off = if map.enabled { "" } else { " · switched off" };
            let title = egui::RichText::new(format!("{}{off}", map.title)).font(theme::strong(size::BODY));
            ui.label(title.color(palette.head(map.own)));
        }
        ui.weak("queries left, keys right");
    });
}

struct WeightLine<'a> {
    map: &'a HeadMap,
    query: usize,
    key: usize,
    /// Share of what fills a line: its weight, or its length among those that are added.
    weight: f32,
    curve: [Pos2; 4],
}

fn lines<'a>(
    model: &AttentionMaps,
    maps: &[&'a HeadMap],
    reading: Reading,
    picture: &LinesPicture,
) -> Vec<WeightLine<'a>> {
    const APART: f32 = 2.5;
    let mut lines = Vec::new();
    // Nothing flows through a head that is switched off.
    for (place, map) in maps.iter().enumerate().filter(|(_, map)| map.enabled) {
        let shift = APART * (place as f32 - (maps.len() - 1) as f32 / 2.0);
        let full = model.full(map, reading);
        let pairs = (0..map.queries.len()).flat_map(|query| (0..map.keys.len()).map(move |key| (query, key)));
        for (query, key) in pairs {
            let weight = map.cells.shown(reading, query, key).map_or(0.0, |shown| shown / full);
            if weight >= LEAST {
                lines.push(WeightLine { map, query, key, weight, curve: picture.curve(query, key, shift) });
            }
        }
    }
    lines
}

/// The line that the pointer is on; of a chosen query's and another, the chosen one's.
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

/// The words are buttons: a query's selects it.
fn words_ui(
    ui: &mut Ui,
    map: &HeadMap,
    picture: &LinesPicture,
    rect: Rect,
    chosen: Option<usize>,
    selection: &mut Selection,
    hover: &mut Hover,
) {
    let palette = Palette::of(ui.visuals().dark_mode);
    for (row, token) in map.queries.iter().enumerate() {
        let at = Rect::from_min_size(
            Pos2::new(rect.left(), picture.top + row as f32 * picture.step),
            Vec2::new(picture.left - rect.left(), picture.step),
        );
        let response = ui.interact(at, ui.id().with(("query", row)), Sense::click());
        let is_chosen = chosen == Some(row);
        let name = format!("Query {token}, lines");
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
        let ink = match (is_chosen, response.hovered()) {
            (true, _) => palette.accent,
            (_, true) => palette.ink,
            _ => palette.ink_soft,
        };
        let font = if is_chosen { theme::strong(size::LABEL) } else { theme::plain(size::LABEL) };
        let end = Pos2::new(picture.left - size::GAP_TIGHT, at.center().y);
        ui.painter().text(end, Align2::RIGHT_CENTER, token, font, ink);
        if response.hovered() {
            hover.point_at_token(WordAt { side: sides_of(map).0, position: map.query_tokens[row].start });
        }
        if response.on_hover_text(format!("Highlight the lines of {token}")).clicked() && !map.is_of_source {
            choose_row(selection, map.query_tokens[row].start);
        }
    }
    for (row, key) in map.keys.iter().enumerate() {
        let start = Pos2::new(picture.right + size::GAP_TIGHT, picture.y(row));
        ui.painter().text(start, Align2::LEFT_CENTER, key, theme::plain(size::LABEL), palette.ink_soft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_state_that_was_kept_makes_cells_of_no_size() {
        let zoom = |zoom| {
            let mut state = AttentionPanel::default();
            state.restore(&SavedView { attention_zoom: zoom, ..SavedView::default() });
            state.zoom()
        };
        assert_eq!([zoom(0), zoom(2), zoom(usize::MAX)], [1.0, 2.0, 4.0]);
    }
}
