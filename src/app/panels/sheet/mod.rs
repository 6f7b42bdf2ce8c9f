//! Panels that are sheets: each item of a sheet is drawn here, once for all panels, with its pointer, keys, copies and
//! names for screen readers.
//!
//! A sheet is made once for each snapshot and each choice of the viewer. The state of its items is kept here: what is
//! open, where the keyboard focus is, and by which column a table is sorted.

mod context;
mod controls;
mod fold;
mod grid;
mod lines;
mod table;
mod textures;
mod tiles;

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::lesson::panels::PanelName;
use attune_engine::quantity::Entry;
use attune_ui::actions::{Action, FilePurpose, Pressed, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{PanelView, Selection, Trail};
use attune_ui::widgets::controls::copy_button;
use attune_ui::widgets::heat::text_width;
use attune_ui::widgets::plot::plot_ui;
use attune_ui::widgets::table::table_ui;
use attune_ui::widgets::traced::{SIGNED, UNSIGNED, bar, number_ui};
use attune_view::panels;
use attune_view::sheet::{Ask, Bars, Choice, Chosen, Control, Grids, Item, Meter, Numbers, Sheet, Tone};
use attune_view::view_model::output::{RankingModel, RankingRow, full};
use attune_view::view_model::saved_view::SavedView;
use egui::{
    Align, Align2, Color32, CornerRadius, Event, Key, Label, Layout, Modifiers, Rect, RichText, ScrollArea, Sense, Ui,
    UiBuilder, WidgetInfo, WidgetType, vec2,
};

pub use self::context::{SheetContext, SheetUiState};
use self::context::{ZOOMS, text_ui, width_in_sight};
pub(crate) use self::controls::form_ui;
use super::patches::patches_ui;
use super::{Panel, PanelContext};

/// A panel that shows a sheet.
pub struct SheetPanel {
    name: PanelName,
    pub chosen: Chosen,
    state: SheetUiState,
}

impl SheetPanel {
    pub fn of(name: PanelName) -> Self {
        Self { name, chosen: Chosen::default(), state: SheetUiState::default() }
    }

    /// Returns the number of textures of small maps that were made so far.
    pub fn textures_made(&self) -> usize {
        self.state.textures.made
    }
}

/// Copies the choices that all panels share from the view.
fn follow(chosen: &mut Chosen, view: &PanelView) {
    chosen.reading = view.selection.reading;
    chosen.pieces = view.highlight.pieces;
    chosen.head = view.selection.shown_head();
    chosen.walked = view.walk.shown_layer().map(|_| view.selection.head);
}

impl Panel for SheetPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        follow(&mut self.chosen, &cx.view);
        match cx.view.asked.button {
            Some(WindowAction::ComputeTables) => self.chosen.over_texts = false,
            Some(WindowAction::MeasureTexts) => self.chosen.over_texts = true,
            _ => {}
        }
        let sheet = panels::made_once(self.name, cx.models, &self.chosen)?;
        if self.name == PanelName::Attention {
            patches_ui(ui, cx.models, &self.chosen, cx.view.selection.query);
        }
        let mut drawn = SheetContext::new(&mut self.state, &mut cx.view);
        sheet_ui(ui, &sheet, &mut drawn);
        let SheetContext { asks, actions, .. } = drawn;
        cx.requests.actions.extend(actions);
        for ask in asks {
            match ask {
                Ask::Command(command) => cx.requests.commands.push(command),
                Ask::Choose(Choice::Head(head)) => cx.view.selection.show_head(head),
                Ask::Choose(choice) => self.chosen.choose(choice),
                Ask::OpenHead(head) => {
                    self.state.cursor = head;
                    cx.view.selection.show_head(Some(head));
                    cx.requests.actions.extend(shown(PanelName::Attention));
                }
                Ask::ChooseTexts => cx.requests.actions.push(Action::ChooseFile(FilePurpose::Texts)),
                Ask::OpenText { text, head } => {
                    cx.requests.commands.push(Command::Sentence(SentenceCommand::Set(text)));
                    cx.view.selection.show_head(Some(head));
                }
            }
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        if self.name == PanelName::Attention {
            saved.attention_as_lines = self.chosen.as_lines;
            saved.attention_zoom = self.state.zoom;
        }
    }

    fn restore(&mut self, saved: &SavedView) {
        if self.name == PanelName::Attention {
            self.chosen.as_lines = saved.attention_as_lines;
            self.state.zoom = saved.attention_zoom.min(ZOOMS.len() - 1);
        }
    }
}

/// Returns the action that brings a panel to the front.
fn shown(panel: PanelName) -> Option<Action> {
    let which = PanelName::ALL.iter().position(|other| *other == panel)?;
    Some(Action::Row(Pressed { which, ..Pressed::once(WindowAction::Panel) }))
}

/// Draws a sheet from top to bottom: the items that stay visible, and below them those that scroll.
pub fn sheet_ui(ui: &mut Ui, sheet: &Sheet, cx: &mut SheetContext) {
    let is_mark = |item: &Item| matches!(item, Item::Scrolls);
    let (fixed, scrolled) = match sheet.items.iter().position(is_mark) {
        Some(mark) => (&sheet.items[..mark], &sheet.items[mark + 1..]),
        None => (&[][..], sheet.items.as_slice()),
    };
    items_ui(ui, fixed, cx);
    copy_by_key(ui, fixed);
    let has_tiles = scrolled.iter().any(|item| matches!(item, Item::Tiles(_)));
    let has_maps = has_tiles || scrolled.iter().any(|item| matches!(item, Item::Grids(grids) if !grids.as_lines));
    if has_words(sheet) {
        clear_selection(ui, cx.view.selection, cx.view.trail);
    }
    let is_dense = !fixed.is_empty() && !has_words(sheet);
    ScrollArea::new([has_maps, true]).auto_shrink([false, false]).show(ui, |ui| {
        if is_dense {
            ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
        }
        if has_tiles {
            ui.set_max_width(width_in_sight(ui));
        }
        items_ui(ui, scrolled, cx);
    });
}

/// Returns whether the sheet shows words of the sentence that can be chosen.
fn has_words(sheet: &Sheet) -> bool {
    let is_of_head = |grids: &Grids| grids.grids.iter().any(|grid| grid.head().is_some());
    sheet.items.iter().any(|item| matches!(item, Item::Grids(grids) if is_of_head(grids)))
}

/// Clears the choice of a word after Esc over the panel, or after a click outside all items.
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

/// Copies the panel's numbers after Ctrl+C or Cmd+C over the panel, unless a text field has the keyboard.
fn copy_by_key(ui: &Ui, items: &[Item]) {
    let is_asked = ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Copy)));
    if !is_asked || ui.ctx().text_edit_focused() || !ui.rect_contains_pointer(ui.max_rect()) {
        return;
    }
    let rows = items.iter().filter_map(|item| if let Item::Controls(row) = item { Some(row) } else { None });
    if let Some(copy) = rows.flatten().find_map(Control::copy) {
        ui.copy_text(copy.numbers.tsv());
    }
}

/// Draws items, one below the other.
pub fn items_ui(ui: &mut Ui, items: &[Item], cx: &mut SheetContext) {
    // Texts that are only tooltips are not drawn, so they take no space.
    let is_drawn = |item: &&Item| !matches!(item, Item::Text(text) if text.tone == Tone::Tooltip);
    for (place, item) in items.iter().filter(is_drawn).enumerate() {
        if place > 0 && matches!(item, Item::Heading(_) | Item::Details { .. }) {
            ui.add_space(size::GAP);
        }
        ui.push_id(place, |ui| item_ui(ui, item, cx));
    }
}

fn item_ui(ui: &mut Ui, item: &Item, cx: &mut SheetContext) {
    let trail = &mut *cx.view.trail;
    match item {
        Item::Heading(title) => _ = ui.add(Label::new(RichText::new(title).font(theme::strong(size::BODY)))),
        Item::Text(text) => text_ui(ui, text),
        Item::Fold(fold) => fold::fold_ui(ui, fold, &mut cx.state.open, trail),
        Item::Grids(grids) if grids.as_lines => lines::lines_ui(ui, &grids.grids, cx.view),
        Item::Grids(grids) => grid::grids_ui(ui, grids, cx),
        Item::Tiles(tiles) => tiles::tiles_ui(ui, tiles, cx),
        Item::Numbers(numbers) => numbers_ui(ui, numbers, trail),
        Item::Table(table) => table::words_table_ui(ui, table, trail),
        Item::Bars(bars) => bars_ui(ui, bars, trail),
        Item::Meter(meter) => meter_ui(ui, meter),
        Item::Plot(plot) => plot_ui(ui, plot),
        Item::Controls(controls) => controls::controls_ui(ui, controls, cx),
        Item::Details { summary, items } => _ = ui.collapsing(*summary, |ui| items_ui(ui, items, cx)),
        Item::Scrolls => {}
    }
}

/// Draws a meter: its letter and its name over a bar, and its number to the right.
fn meter_ui(ui: &mut Ui, Meter { letter, name, shown, share, spoken, hint }: &Meter) {
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, spoken));
    bar_at_foot(ui, rect, 1.0, palette.line);
    bar_at_foot(ui, rect, *share, palette.accent);
    name_and_number_ui(ui, rect, shown, |ui| {
        ui.label(RichText::new(*letter).font(theme::mono(size::MONO)).color(palette.ink_faint));
        ui.add(Label::new(RichText::new(name).font(theme::strong(size::BODY))).truncate());
    });
    response.on_hover_text(hint);
}

/// Paints a bar at the lower edge of a row, which is `share` of the row's width long.
pub fn bar_at_foot(ui: &Ui, row: Rect, share: f32, fill: Color32) {
    const BAR: f32 = 3.0;
    let size = vec2(row.width() * share.clamp(0.0, 1.0), BAR);
    ui.painter().rect_filled(Rect::from_min_size(row.left_bottom() - vec2(0.0, BAR), size), CornerRadius::ZERO, fill);
}

/// Draws a name at the left end of a row, and its number at the right end.
pub fn name_and_number_ui(ui: &mut Ui, row: Rect, number: &str, name: impl FnOnce(&mut Ui)) {
    let inner = UiBuilder::new().max_rect(row).layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(inner, |ui| {
        ui.label(RichText::new(number).font(theme::mono(size::SMALL)).color(Palette::on(ui).ink_soft));
        ui.with_layout(Layout::left_to_right(Align::Center), name);
    });
}

/// Draws a tensor as a table. Asking for a number in it opens the number's provenance.
fn numbers_ui(ui: &mut Ui, numbers: &Numbers, trail: &mut Trail) {
    if let Some(entry) = table_ui(ui, &numbers.table).and_then(|at| numbers.entry(at)) {
        trail.open(entry);
    }
}

/// Draws names with a bar and a number each. A number with an entry opens its provenance.
fn bars_ui(ui: &mut Ui, Bars { caption, ranking, entries }: &Bars, trail: &mut Trail) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(caption).font(theme::strong(size::BODY)));
        copy_button(ui, "the numbers, for a spreadsheet", || ranking.tsv());
    });
    ui.spacing_mut().item_spacing.y = 0.0;
    let words = words_width(ui, ranking);
    for (place, row) in ranking.rows.iter().enumerate() {
        let asked = entries.get(place).map(|entry| (*entry, &mut *trail));
        ranked_ui(ui, row, (words, ranking.has_negative), Palette::on(ui).accent, asked);
    }
}

/// Returns the width of the widest word of a ranking, which is at most half of the available width.
pub fn words_width(ui: &Ui, ranking: &RankingModel) -> f32 {
    let widest = ranking.rows.iter().map(|row| text_width(ui, &row.word)).fold(0.0, f32::max);
    widest.min(ui.available_width() / 2.0)
}

/// Draws a word with its bar and its number. With `asked`, the number opens the provenance of its entry.
pub fn ranked_ui(
    ui: &mut Ui,
    row: &RankingRow,
    (words, has_negative): (f32, bool),
    fill: Color32,
    asked: Option<(Entry, &mut Trail)>,
) {
    const NUMBER: f32 = 56.0;
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::hover());
    let (word, rest) = rect.split_left_right_at_x(rect.left() + words);
    let (bars, number) = rest.split_left_right_at_x(rest.right() - NUMBER);
    let font = theme::plain(size::LABEL);
    ui.painter_at(word).text(word.left_center(), Align2::LEFT_CENTER, &row.word, font, palette.ink);
    let track = bars.shrink2(vec2(size::GAP, (size::TABLE_ROW - size::BAR) / 2.0));
    if let Some(share) = row.share.filter(|_| track.is_positive()) {
        let zero = if has_negative { SIGNED } else { UNSIGNED };
        bar(ui.painter(), track, (zero, share), fill, palette);
    }
    if let Some((entry, trail)) = asked {
        let at = UiBuilder::new().max_rect(number).layout(Layout::right_to_left(Align::Center));
        number_ui(&mut ui.new_child(at), &row.shown, entry, trail);
    } else {
        let font = theme::mono(size::MONO);
        ui.painter().text(number.right_center(), Align2::RIGHT_CENTER, &row.shown, font, palette.ink_soft);
    }
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("{} {}", row.word, row.shown)));
    response.on_hover_ui_at_pointer(|ui| _ = ui.monospace(format!("{} {}", row.word, full(row.number))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_state_that_was_kept_makes_cells_of_no_size() {
        let zoom = |zoom| {
            let mut panel = SheetPanel::of(PanelName::Attention);
            panel.restore(&SavedView { attention_zoom: zoom, ..SavedView::default() });
            panel.state.zoom()
        };
        assert_eq!([zoom(0), zoom(2), zoom(usize::MAX)], [1.0, 2.0, 4.0]);
    }
}
