//! Panels that are sheets: each item of a sheet is drawn here, once for all panels, with its pointer, keys, copies and names
//! for screen readers.
//!
//! The sheet is made once for a snapshot and what the viewer has chosen. What is open, where the keyboard is and by which
//! column a table is sorted is kept here, by the item.

mod fold;
mod grid;
mod table;

use std::sync::Arc;

use attune_core::kernel::Snapshot;
use attune_core::lesson::panels::PanelName;
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{PanelView, Trail};
use attune_ui::widgets::controls::copy_button;
use attune_ui::widgets::plot::plot_ui;
use attune_ui::widgets::table::table_ui;
use attune_ui::widgets::traced::{SIGNED, UNSIGNED, bar, number_ui};
use attune_view::panels;
use attune_view::sheet::{Bars, Chosen, Item, Numbers, Sheet, Text, Tone};
use egui::{Label, Rect, RichText, ScrollArea, Sense, Ui, Vec2};

use super::{Panel, PanelContext};

/// A panel that shows a sheet.
pub struct SheetPanel {
    name: PanelName,
    state: SheetUiState,
    made: Option<Made>,
}

/// A sheet and what it was made of.
struct Made {
    snapshot: Arc<Snapshot>,
    chosen: Chosen,
    sheet: Arc<Sheet>,
}

/// State of a sheet that lasts from frame to frame.
#[derive(Default)]
pub struct SheetUiState {
    /// The line that is open, by its name.
    open: Option<String>,
}

impl SheetPanel {
    pub fn of(name: PanelName) -> Self {
        Self { name, state: SheetUiState::default(), made: None }
    }

    /// The sheet of the latest snapshot; `None` while the kernel is not that far.
    fn sheet(&mut self, cx: &PanelContext) -> Option<Arc<Sheet>> {
        let (snapshot, chosen) = (cx.models.snapshot()?, chosen(&cx.view));
        let is_same = |made: &Made| Arc::ptr_eq(&made.snapshot, snapshot) && made.chosen == chosen;
        if !self.made.as_ref().is_some_and(is_same) {
            let sheet = Arc::new(panels::made(self.name, cx.models, &chosen)?);
            self.made = Some(Made { snapshot: snapshot.clone(), chosen, sheet });
        }
        self.made.as_ref().map(|made| made.sheet.clone())
    }
}

/// Returns the choices of the viewer that sheets follow.
fn chosen(view: &PanelView) -> Chosen {
    Chosen { reading: view.selection.reading, pieces: view.highlight.pieces, ..Chosen::default() }
}

impl Panel for SheetPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let sheet = self.sheet(cx)?;
        sheet_ui(ui, &sheet, &mut self.state, cx.view.trail);
        Some(())
    }
}

/// Draws a sheet from top to bottom.
pub fn sheet_ui(ui: &mut Ui, sheet: &Sheet, state: &mut SheetUiState, trail: &mut Trail) {
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for (place, item) in sheet.items.iter().enumerate() {
            if place > 0 && matches!(item, Item::Heading(_)) {
                ui.add_space(size::GAP);
            }
            ui.push_id(place, |ui| item_ui(ui, item, state, trail));
        }
    });
}

fn item_ui(ui: &mut Ui, item: &Item, state: &mut SheetUiState, trail: &mut Trail) {
    match item {
        Item::Heading(title) => _ = ui.add(Label::new(RichText::new(title).font(theme::strong(size::BODY)))),
        Item::Text(text) => text_ui(ui, text),
        Item::Fold(fold) => fold::fold_ui(ui, fold, &mut state.open, trail),
        Item::Grids(grids) => grid::grids_ui(ui, grids, trail),
        Item::Tiles(tiles) => grid::tiles_ui(ui, tiles),
        Item::Numbers(numbers) => numbers_ui(ui, numbers, trail),
        Item::Table(table) => table::words_table_ui(ui, table, trail),
        Item::Bars(bars) => bars_ui(ui, bars, trail),
        Item::Plot(plot) => plot_ui(ui, plot),
    }
}

fn text_ui(ui: &mut Ui, Text { words, tone, hint }: &Text) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let words = RichText::new(words);
    let words = match tone {
        Tone::Plain => words,
        Tone::Soft => words.weak(),
        Tone::Warning => words.color(palette.warn),
        Tone::Code => words.monospace(),
    };
    let response = ui.add(Label::new(words).wrap().selectable(*tone == Tone::Code));
    if !hint.is_empty() {
        response.on_hover_text(*hint);
    }
}

/// A tensor as a table, of which a right-click asks where a number comes from.
fn numbers_ui(ui: &mut Ui, numbers: &Numbers, trail: &mut Trail) {
    if let Some(entry) = table_ui(ui, &numbers.table).and_then(|at| numbers.entry(at)) {
        trail.open(entry);
    }
}

/// Names with a bar and a number each.
fn bars_ui(ui: &mut Ui, Bars { caption, ranking, entries }: &Bars, trail: &mut Trail) {
    const NUMBER: f32 = 60.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal(|ui| {
        ui.label(RichText::new(caption).font(theme::strong(size::BODY)));
        copy_button(ui, "the numbers, for a spreadsheet", || ranking.tsv());
    });
    let zero = if ranking.has_negative { SIGNED } else { UNSIGNED };
    for (place, row) in ranking.rows.iter().enumerate() {
        ui.horizontal(|ui| {
            let name = Label::new(&row.word).truncate();
            ui.add_sized(Vec2::new(size::WORD_MAX, size::TABLE_ROW), name).on_hover_text(&row.word);
            let room = Vec2::new((ui.available_width() - NUMBER).clamp(size::CELL_MIN, size::SLIDER), size::TABLE_ROW);
            let (rect, _) = ui.allocate_exact_size(room, Sense::hover());
            let track = Rect::from_center_size(rect.center(), Vec2::new(rect.width(), size::BAR));
            bar(ui.painter(), track, (zero, row.share.unwrap_or(0.0)), palette.accent, palette);
            match entries.get(place) {
                Some(entry) => _ = number_ui(ui, &row.shown, *entry, trail),
                None => _ = ui.monospace(&row.shown),
            }
        });
    }
}
