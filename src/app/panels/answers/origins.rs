//! The origin of an answer: the terms that its logit is the sum of; and the logit lens: a word for each layer and place, with
//! the answers of every layer at the chosen word.

use std::sync::{Arc, Mutex, PoisonError};

use attune_core::kernel::snapshot::Snapshot;
use attune_view::view_model::answers::AnswerRow;
use attune_view::view_model::answers::{AttributionModel, LensLayer, LensModel, LensWords, Share};
use egui::{Align2, Context, CornerRadius, Label, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

use super::part_ui;
use crate::app::theme::{self, Palette, size};
use crate::app::view::Selection;
use crate::app::widgets::controls::{led_by_arrows, switch_ui};
use crate::app::widgets::heat::Heat;

/// Terms that are listed, by what they are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shares {
    #[default]
    Layers,
    Heads,
    Looks,
}

/// Direct logit attribution. Returns the answer whose terms are asked for.
pub fn attribution_ui(
    ui: &mut Ui,
    model: Result<&AttributionModel, &String>,
    row: &AnswerRow,
    shares: &mut Shares,
) -> Option<usize> {
    let model = match model {
        Ok(model) => model,
        Err(why) => {
            ui.add(Label::new(RichText::new(why).weak()).wrap());
            return None;
        }
    };
    let mut chosen = None;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.add(Label::new(&model.title).wrap());
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
            for answer in &row.answers {
                let is_chosen = answer.class == model.class;
                let tip = "The terms of this answer";
                if ui.selectable_label(is_chosen, &answer.name).on_hover_text(tip).clicked() {
                    chosen = Some(answer.class);
                }
            }
        });
        if let Some(look) = model.looks.first() {
            ui.add(
                Label::new(RichText::new(format!("The largest look: {}.", look.said(&model.answer))).strong()).wrap(),
            );
        }
        ui.add_space(size::GAP_TIGHT);
        let ways = [
            (
                Shares::Layers,
                "by layer",
                "What each layer adds directly; what later layers make of it is counted as theirs",
            ),
            (Shares::Heads, "by head", "What each head of each layer adds directly, the largest first"),
            (
                Shares::Looks,
                "by look",
                "What each head adds directly for each word that it looks at, the largest first",
            ),
        ];
        switch_ui(ui, shares, &ways);
        let listed = match shares {
            Shares::Layers => &model.layers,
            Shares::Heads => &model.heads,
            Shares::Looks => &model.looks,
        };
        shares_ui(ui, model, listed);
    });
    chosen
}

/// The terms, each with a bar to the right where it speaks for the answer and to the left where it speaks against it.
fn shares_ui(ui: &mut Ui, model: &AttributionModel, listed: &[Share]) {
    /// Heads and looks beyond these are added up in one line.
    const LISTED_MAX: usize = 24;
    let longest =
        listed.iter().map(|share| share.value.abs()).filter(|x| x.is_finite()).fold(f32::MIN_POSITIVE, f32::max);
    let (named, others) = listed.split_at(listed.len().min(LISTED_MAX));
    ui.spacing_mut().item_spacing.y = size::HAIRLINE;
    named.iter().for_each(|share| share_ui(ui, share, longest, &model.answer));
    if !others.is_empty() {
        let value = others.iter().map(|share| share.value).sum();
        let label = format!("{} others together", others.len());
        share_ui(ui, &Share { label, value }, longest, &model.answer);
    }
    // Layers are all there is; heads and looks are a part of it.
    let sum: f32 = listed.iter().map(|share| share.value).sum();
    let total = if std::ptr::eq(listed, &model.layers[..]) {
        format!("Together the logit, {:.3}.", model.logit)
    } else {
        format!("Together {sum:+.3} of the logit, {:.3}.", model.logit)
    };
    ui.add_space(size::GAP_TIGHT);
    ui.weak(total);
}

fn share_ui(ui: &mut Ui, share: &Share, longest: f32, answer: &str) {
    const NAME: f32 = 196.0;
    const NUMBER: f32 = 52.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::hover());
    let said = share.said(answer);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    let (name, rest) = rect.split_left_right_at_x(rect.left() + NAME.min(rect.width() / 2.0));
    let (number, bars) = rest.split_left_right_at_x(rest.left() + NUMBER);
    text_ui(ui, name, Align2::LEFT_CENTER, &share.label, palette.ink);
    text_ui(ui, number, Align2::RIGHT_CENTER, &format!("{:+.2}", share.value).replace('-', "−"), palette.ink);
    let bars = bars.shrink2(vec2(size::GAP_TIGHT, size::BAR / 2.0 + size::HAIRLINE));
    let middle = bars.center().x;
    let to = middle + bars.width() / 2.0 * (share.value / longest).clamp(-1.0, 1.0);
    let hue = if share.value < 0.0 { palette.negative } else { palette.positive };
    let bar = Rect::from_x_y_ranges(middle.min(to)..=middle.max(to), bars.y_range());
    ui.painter().rect_filled(bar, CornerRadius::ZERO, hue);
    ui.painter().vline(middle, rect.y_range(), egui::Stroke::new(size::HAIRLINE, palette.axis));
    response.on_hover_text(said);
}

/// The lens of the sentence that was shown last.
#[derive(Default)]
pub struct LensUiState {
    work: Option<LensWork>,
    cursor: (usize, usize),
}

/// The lens at each word, as far as it is known.
type Columns = Vec<Option<Arc<LensModel>>>;

/// Work on a sentence, word by word: at once, or on a thread that ends when nobody waits for it.
struct LensWork {
    of: Arc<Snapshot>,
    columns: Arc<Mutex<Columns>>,
}

impl LensWork {
    fn begin(snapshot: &Arc<Snapshot>, words: &LensWords, chosen: usize, ctx: &Context) -> Self {
        let count = words.labels.len();
        let of = |snapshot: &Snapshot, word| LensModel::of(snapshot, Some(word)).map(Arc::new);
        let known = |word| words.is_quick.then(|| of(snapshot, word)).flatten();
        let columns: Arc<Mutex<Columns>> = Arc::new(Mutex::new((0..count).map(known).collect()));
        let work = Self { of: snapshot.clone(), columns: columns.clone() };
        if words.is_quick {
            return work;
        }
        let (waited_for, snapshot, ctx) = (Arc::downgrade(&columns), snapshot.clone(), ctx.clone());
        std::thread::spawn(move || {
            for word in std::iter::once(chosen).chain((0..count).filter(|word| *word != chosen)) {
                if waited_for.strong_count() == 0 {
                    return;
                }
                let column = of(&snapshot, word);
                let Some(columns) = waited_for.upgrade() else { return };
                // A word is there whole or not at all, whatever panicked beside it.
                columns.lock().unwrap_or_else(PoisonError::into_inner)[word] = column;
                ctx.request_repaint();
            }
        });
        work
    }

    fn columns(&self) -> Columns {
        self.columns.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Draws the lens at every word and at the chosen one. A click on a word chooses it.
pub fn lens_ui(ui: &mut Ui, snapshot: &Arc<Snapshot>, state: &mut LensUiState, selection: &mut Selection) {
    let Some(words) = LensWords::of(snapshot) else {
        let why = "This model gives no answer for each single word, so there is nothing to show layer by layer.";
        ui.add(Label::new(RichText::new(why).weak()).wrap());
        return;
    };
    let chosen = words.chosen(selection.query);
    let work = match state.work.take().filter(|work| LensWords::are_the_same(&work.of, snapshot)) {
        Some(work) => work,
        None => LensWork::begin(snapshot, &words, chosen, ui.ctx()),
    };
    let columns = work.columns();
    state.work = Some(work);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.add(Label::new(RichText::new(progress(&columns)).weak()).wrap());
        table_ui(ui, &words, &columns, chosen, &mut state.cursor, selection);
        ui.add_space(size::GAP);
        let Some(model) = &columns[chosen] else {
            ui.weak("…");
            return;
        };
        ui.add(Label::new(&model.title).wrap());
        ui.add_space(size::GAP_TIGHT);
        ui.spacing_mut().item_spacing.y = size::HAIRLINE;
        model.layers.iter().for_each(|layer| layer_ui(ui, layer));
        ui.add_space(size::GAP);
        ui.add(Label::new(RichText::new(model.note).weak()).wrap());
    });
}

fn progress(columns: &Columns) -> String {
    let (known, all) = (columns.iter().flatten().count(), columns.len());
    if known < all {
        return format!("The likeliest answer after each layer: {known} of {all} words so far …");
    }
    "The likeliest answer after each layer, at each word. The stronger the colour, the likelier.".to_owned()
}

/// A row for each layer, a column for each word.
fn table_ui(
    ui: &mut Ui,
    words: &LensWords,
    columns: &Columns,
    chosen: usize,
    cursor: &mut (usize, usize),
    selection: &mut Selection,
) {
    const CELL: f32 = 66.0;
    const GUTTER: f32 = 22.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rows, cols) = (words.layers + 1, words.labels.len());
    let row = size::TABLE_ROW;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        // The numbers of the layers stay where they are when the words are scrolled.
        let (gutter, _) = ui.allocate_exact_size(vec2(GUTTER, row * (rows + 1) as f32), Sense::hover());
        for layer in 0..rows {
            let place = Rect::from_min_size(gutter.min + vec2(0.0, row * (layer + 1) as f32), vec2(GUTTER, row));
            text_ui(ui, place, Align2::RIGHT_CENTER, &layer.to_string(), palette.ink_soft);
        }
        ScrollArea::horizontal().id_salt("lens").auto_shrink([false, true]).show(ui, |ui| {
            let whole = vec2(CELL * cols as f32, row * (rows + 1) as f32);
            let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
            let heat = Heat { origin: rect.min + vec2(0.0, row), cell: vec2(CELL, row), rows, cols };
            let under = response.hover_pos().and_then(|at| heat.at(at));
            if response.clicked() {
                response.request_focus();
                let place = response.interact_pointer_pos().map(|at| ((at.x - rect.left()) / CELL) as usize);
                *cursor = under.unwrap_or((cursor.0, place.unwrap_or(chosen).min(cols - 1)));
                selection.choose_query(Some(cursor.1));
            }
            *cursor = (cursor.0.min(rows - 1), chosen);
            if response.has_focus() {
                let led = led_by_arrows(ui, &response, *cursor, rows, cols);
                if led.1 != chosen {
                    selection.choose_query(Some(led.1));
                }
                if led != *cursor {
                    ui.scroll_to_rect(heat.cell_rect(led.0, led.1), None);
                }
                *cursor = led;
            }
            let said = |(layer, word): (usize, usize)| {
                let layer = columns[word].as_ref().map(|column| column.layers[layer].said.as_str());
                format!("at {}, {}", words.labels[word], layer.unwrap_or("not computed yet"))
            };
            let name = format!("Logit lens of all words: {}", said(*cursor));
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, &name));
            for (word, label) in words.labels.iter().enumerate() {
                let head = heat.cell_rect(0, word).translate(vec2(0.0, -row));
                let ink = if word == chosen { palette.ink } else { palette.ink_soft };
                text_ui(ui, head, Align2::LEFT_CENTER, label, ink);
                for layer in 0..rows {
                    cell_ui(ui, &heat, (layer, word), columns[word].as_deref(), palette);
                }
            }
            let outline = egui::Stroke::new(size::HAIRLINE, palette.accent);
            ui.painter().rect_stroke(heat.col_rect(chosen), 0.0, outline, egui::StrokeKind::Inside);
            if response.has_focus() {
                let stroke = egui::Stroke::new(size::OUTLINE, palette.ink);
                let cell = heat.cell_rect(cursor.0, cursor.1);
                ui.painter().rect_stroke(cell, 0.0, stroke, egui::StrokeKind::Inside);
            }
            if let Some((layer, word)) = under {
                response.on_hover_ui_at_pointer(|ui| {
                    ui.label(format!("At {}", words.labels[word]));
                    let layer = columns[word].as_ref().map(|column| &column.layers[layer]);
                    layer.into_iter().for_each(|layer| answers_ui(ui, layer));
                    ui.weak("Click: choose the word.");
                });
            }
        });
    });
}

/// The likeliest answer after a layer: the stronger its colour, the likelier.
fn cell_ui(ui: &Ui, heat: &Heat, (layer, word): (usize, usize), column: Option<&LensModel>, palette: &Palette) {
    let first = column.and_then(|column| column.layers[layer].answers.first());
    let share = first.map_or(0.0, |(_, probability)| probability.clamp(0.0, 1.0));
    let fill = palette.raised.lerp_to_gamma(palette.word, share * size::BAR_FAINT);
    heat.paint_cell(ui.painter(), layer, word, fill);
    if let Some((answer, _)) = first {
        text_ui(ui, heat.cell_rect(layer, word), Align2::LEFT_CENTER, answer, palette.ink_on(fill));
    }
}

fn answers_ui(ui: &mut Ui, layer: &LensLayer) {
    ui.label(&layer.label);
    for (answer, probability) in &layer.answers {
        ui.label(format!("{answer}: {probability:.4}"));
    }
}

/// A layer: its name, its likeliest word, and its answers side by side, each as wide as it is likely.
fn layer_ui(ui: &mut Ui, layer: &LensLayer) {
    const NAME: f32 = 112.0;
    const WORD: f32 = 84.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &layer.said));
    let (name, rest) = rect.split_left_right_at_x(rect.left() + NAME.min(rect.width() / 2.0));
    let (word, bars) = rest.split_left_right_at_x(rest.left() + WORD.min(rest.width() / 2.0));
    // That the last one is the answer is said below.
    let label = layer.label.split(',').next().unwrap_or_default();
    text_ui(ui, name, Align2::LEFT_CENTER, label, palette.ink_soft);
    if let Some((first, _)) = layer.answers.first() {
        text_ui(ui, word, Align2::LEFT_CENTER, first, palette.ink);
    }
    let bars = bars.shrink2(vec2(0.0, size::HAIRLINE * 2.0));
    ui.painter().rect_filled(bars, CornerRadius::ZERO, palette.raised);
    let mut from = bars.left();
    for (answer, probability) in &layer.answers {
        let to = from + bars.width() * probability.clamp(0.0, 1.0);
        part_ui(ui, Rect::from_x_y_ranges(from..=to, bars.y_range()), answer, palette.word);
        from = to;
    }
    response.on_hover_ui_at_pointer(|ui| answers_ui(ui, layer));
}

pub fn text_ui(ui: &Ui, rect: Rect, align: Align2, text: &str, ink: egui::Color32) {
    let at = align.pos_in_rect(&rect.shrink2(vec2(size::GAP_TIGHT, 0.0)));
    ui.painter_at(rect).text(at, align, text, theme::plain(size::BODY), ink);
}
