//! The answers panel: the probability of each answer, row by row; the words with which the model continues a text, how
//! they are chosen, and the rows from which each was computed; the terms whose sum is an answer's logit; and the logit
//! lens, which shows a word for each layer and place, and the answers of every layer at the chosen word.

use std::sync::{Arc, Mutex, PoisonError};

use attune_core::kernel::command::Command;
use attune_core::kernel::evidence::words::ShownAnswer;
use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::model::beams::BEAMS_MAX;
use attune_ui::actions::WindowAction;
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{PanelView, Selection};
use attune_ui::widgets::controls::{checkbox_ui, hint, led_by_arrows, switch_ui};
use attune_ui::widgets::heat::Heat;
use attune_ui::widgets::traced::{ASK_HINT, ask_on};
use attune_view::panels::answers::{WHICH, row_items, term_items, word_items};
use attune_view::sheet::{Ask, Choice, Chosen, Sheet};
use attune_view::view_model::answers::{
    AnswerRow, AnswersModel, AnswersWriting, AttributionModel, LensLayer, LensModel, LensWords, TermWays, WritingPlan,
    WritingSearch, WrittenText,
};
use attune_view::view_model::saved_view::{AnswersView, SavedView};
use attune_view::view_model::sentence;
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Button, Color32, Context, CornerRadius, DragValue, Label, Pos2, Rect, Response, RichText, ScrollArea,
    Sense, Slider, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

use super::panel::{Panel, PanelContext};
use super::sheet::{SheetContext, SheetUiState, items_ui, sheet_ui};

#[derive(Default)]
pub struct AnswersPanel {
    view: AnswersView,
    /// The index and label of the row that was last scrolled into view; `None` if there was no row.
    in_sight: Option<(usize, String)>,
    writing: WritingUi,
    lens: LensUiState,
    /// The way in which the logit is divided.
    ways: TermWays,
    /// The class whose logit the terms add up to; `None` until the learner chooses one.
    class: Option<usize>,
    /// The state of the parts that are items of the sheet.
    sheet: SheetUiState,
    /// Whether the measures of words are about the answer at the chosen word, and not about a hidden word.
    asks_at_chosen: bool,
}

#[derive(Default)]
struct WritingUi {
    plan: WritingPlan,
    /// The text that was there when more was requested, kept until the new text is scrolled into view.
    before: Option<Option<WrittenText>>,
}

impl Panel for AnswersPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let model = cx.models.get::<AnswersModel>()?;
        if cx.view.asked.button == Some(WindowAction::MeasureWords) {
            self.view = AnswersView::Words;
        }
        switch_ui(
            ui,
            &mut self.view,
            &[
                (AnswersView::Answers, "Answers", "What the model answers, and what it writes next"),
                (AnswersView::Layers, "Layer by layer", "What each layer would answer: the logit lens"),
                (AnswersView::Terms, "Why", "Which parts add up to an answer: direct logit attribution"),
                (AnswersView::Words, "Words", "Which word mattered for an answer: ten measures side by side"),
            ],
        );
        let query = cx.view.selection.query;
        match self.view {
            AnswersView::Answers => {
                let Self { in_sight, writing, sheet, .. } = self;
                let command = answers_ui(ui, &model, in_sight, writing, &mut SheetContext::new(sheet, &mut cx.view));
                cx.requests.commands.extend(command);
            }
            AnswersView::Layers => lens_ui(ui, cx.models.snapshot()?, &mut self.lens, cx.view.selection),
            AnswersView::Terms => {
                let row = model.row_of(query)?;
                // A class of another model, or one that is not among the likeliest answers at the chosen word, is
                // dropped.
                self.class = self.class.filter(|class| row.answers.iter().any(|answer| answer.class == *class));
                let terms = cx.models.of_choice::<Result<AttributionModel, String>>(&(query, self.class))?;
                let drawn = &mut SheetContext::new(&mut self.sheet, &mut cx.view);
                if let Some(class) = attribution_ui(ui, terms.as_ref().as_ref(), row, &mut self.ways, drawn) {
                    self.class = Some(class);
                }
            }
            AnswersView::Words => {
                let at = asked_row_ui(ui, &model, query, &mut self.asks_at_chosen);
                words_ui(ui, &model, cx, &mut self.sheet, (at, self.class))?;
            }
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.answers = self.view;
    }

    fn restore(&mut self, saved: &SavedView) {
        self.view = saved.answers;
    }
}

/// Returns the row whose answer the measures of words are about: the row of a hidden word, unless the learner asks for
/// the chosen word. Shows a switch between the two if they differ.
fn asked_row_ui(ui: &mut Ui, model: &AnswersModel, query: Option<usize>, asks_at_chosen: &mut bool) -> usize {
    let chosen = model.row_number(query);
    let Some(hidden) = model.hidden.filter(|hidden| *hidden != chosen) else { return chosen };
    let label = |row: usize| model.rows.get(row).map_or("", |row| row.label.as_str());
    ui.horizontal(|ui| {
        ui.weak("answer at");
        let [hidden, chosen] = [hidden, chosen].map(label);
        switch_ui(
            ui,
            asks_at_chosen,
            &[(false, hidden, "Which word mattered for the hidden word"), (true, chosen, "… for the chosen word")],
        );
    });
    if *asks_at_chosen { chosen } else { hidden }
}

/// Shows which words mattered for an answer at a row. The answer is the one that the learner has chosen for evidence,
/// or that *Why* explains, or else the likeliest.
fn words_ui(
    ui: &mut Ui,
    model: &AnswersModel,
    cx: &mut PanelContext,
    state: &mut SheetUiState,
    (row, answer): (usize, Option<usize>),
) -> Option<()> {
    let answer = ShownAnswer { at: model.is_by_token.then_some(row), answer };
    let chosen = Chosen { answer, word_measure: cx.view.selection.measure, ..Chosen::default() };
    let sheet = Sheet { title: WHICH, items: word_items(cx.models, &chosen)? };
    let mut drawn = SheetContext::new(state, &mut cx.view);
    sheet_ui(ui, &sheet, &mut drawn);
    for ask in drawn.asks {
        match ask {
            Ask::Command(command) => cx.requests.commands.push(command),
            Ask::Choose(Choice::WordMeasure(measure)) => cx.view.selection.measure = measure,
            Ask::Choose(_) | Ask::OpenHead(_) | Ask::ChooseTexts | Ask::OpenText { .. } => {}
        }
    }
    Some(())
}

fn answers_ui(
    ui: &mut Ui,
    model: &AnswersModel,
    in_sight: &mut Option<(usize, String)>,
    writing: &mut WritingUi,
    cx: &mut SheetContext,
) -> Option<Command> {
    ui.add(Label::new(RichText::new(&model.question).weak()).wrap());
    let chosen = model.row_number(cx.view.selection.query);
    if let Some(said) = model.said.get(chosen) {
        ui.add(Label::new(said).wrap());
    }
    ui.add_space(size::GAP_TIGHT);
    let row = model.rows.get(chosen).map(|row| (chosen, row.label.clone()));
    let is_new = *in_sight != row;
    *in_sight = row;
    let scrolled = ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for (index, row) in model.rows.iter().enumerate() {
            let response = row_ui(ui, model, row, index, index == chosen, cx.view);
            if is_new && index == chosen {
                response.scroll_to_me(None);
            }
        }
        if let Some(row) = model.rows.get(chosen) {
            ui.add_space(size::GAP);
            items_ui(ui, &row_items(row), cx);
        }
        ui.add_space(size::GAP_WIDE);
        writing_ui(ui, &model.writing, writing)
    });
    scrolled.inner
}

/// Draws the answers of one row side by side, with widths in proportion to their probabilities.
fn row_ui(
    ui: &mut Ui,
    model: &AnswersModel,
    row: &AnswerRow,
    index: usize,
    is_chosen: bool,
    view: &mut PanelView,
) -> Response {
    const NAME: f32 = 86.0;
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::click());
    let best = row.answers.first();
    let said = best.map_or_else(String::new, |best| format!(", first {} {:.3}", best.name, best.probability));
    let name = format!("Answers for {}{said}", row.label);
    response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
    if response.clicked() && model.is_by_token {
        view.selection.choose_query(Some(index));
    }
    let lit = is_chosen && model.is_by_token;
    if lit || response.hovered() {
        let fill = if lit { palette.accent_soft } else { palette.lifted };
        ui.painter().rect_filled(rect, CornerRadius::same(size::RADIUS_SMALL), fill);
    }
    let (left, bars) = rect.split_left_right_at_x(rect.left() + NAME.min(rect.width() / 2.0));
    let text = ui.painter_at(left);
    let at = left.left_center() + vec2(size::GAP_TIGHT, 0.0);
    text.text(at, Align2::LEFT_CENTER, &row.label, theme::plain(size::BODY), palette.ink);
    let parts = row.answers.iter().map(|answer| (&answer.name, answer.probability, palette.word_of(answer.group)));
    let under = parts_ui(ui, parts, bars, response.hover_pos()).map(|index| &row.answers[index]);
    if let Some(answer) = under {
        ask_on(&response, answer.entry, view.trail);
    }
    let more = if model.is_by_token { " Click to choose the word." } else { "" };
    response.on_hover_ui_at_pointer(|ui| {
        match under {
            Some(answer) => ui.label(format!("{}: {:.4}", answer.name, answer.probability)),
            None => ui.label(format!("All others together: {:.4}", row.rest())),
        };
        ui.weak(if under.is_some() { format!("{ASK_HINT}{more}") } else { more.trim().to_owned() });
    })
}

/// Draws answers with their probabilities and colours side by side, with widths in proportion to the probabilities.
/// Returns the index of the answer under the pointer.
fn parts_ui<'a>(
    ui: &Ui,
    parts: impl Iterator<Item = (&'a String, f32, Color32)>,
    bars: Rect,
    pointer: Option<Pos2>,
) -> Option<usize> {
    let bars = bars.shrink2(vec2(0.0, size::HAIRLINE * 2.0));
    ui.painter().rect_filled(bars, CornerRadius::ZERO, Palette::on(ui).raised);
    let (mut from, mut under) = (bars.left(), None);
    for (index, (name, probability, hue)) in parts.enumerate() {
        let to = from + bars.width() * probability.clamp(0.0, 1.0);
        let part = Rect::from_x_y_ranges(from..=to, bars.y_range());
        part_ui(ui, part, name, hue);
        if pointer.is_some_and(|pointer| part.contains(pointer)) {
            under = Some(index);
        }
        from = to;
    }
    under
}

/// Draws one answer, with its name if there is room.
fn part_ui(ui: &Ui, part: Rect, name: &str, hue: Color32) {
    let palette = Palette::on(ui);
    let inner = part.with_max_x((part.right() - size::HAIRLINE).max(part.left()));
    let fill = palette.raised.lerp_to_gamma(hue, size::BAR_FAINT);
    ui.painter().rect_filled(inner, CornerRadius::ZERO, fill);
    let font = theme::plain(size::SMALL);
    let galley = ui.painter().layout_no_wrap(name.to_owned(), font, palette.ink_on(fill));
    if galley.size().x + size::GAP_TIGHT <= inner.width() {
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), inner);
        ui.painter().galley(at.min, galley, palette.ink_on(fill));
    }
}

/// Draws the direct logit attribution of an answer. Returns the class of another answer if the learner chose one.
fn attribution_ui(
    ui: &mut Ui,
    model: Result<&AttributionModel, &String>,
    row: &AnswerRow,
    ways: &mut TermWays,
    cx: &mut SheetContext,
) -> Option<usize> {
    let model = match model {
        Ok(model) => model,
        Err(why) => {
            ui.add(Label::new(RichText::new(why).weak()).wrap());
            return None;
        }
    };
    let scrolled = ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.add(Label::new(&model.title).wrap());
        let chosen = attributed_ui(ui, model, row);
        switch_ui(
            ui,
            ways,
            &[
                (
                    TermWays::Layers,
                    "by layer",
                    "What each layer adds directly; effects that pass through later layers are credited to those layers",
                ),
                (TermWays::Heads, "by head", "What each head of each layer adds directly, largest terms first"),
                (
                    TermWays::Looks,
                    "by head and word",
                    "What each head adds directly for each word that it looks at, largest terms first",
                ),
            ],
        );
        items_ui(ui, &term_items(model, *ways), cx);
        chosen
    });
    scrolled.inner
}

/// Draws the answers of the row to choose from; the one that is explained is marked. Returns the class of the answer
/// that was clicked.
fn attributed_ui(ui: &mut Ui, model: &AttributionModel, row: &AnswerRow) -> Option<usize> {
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for answer in &row.answers {
            let is_chosen = answer.class == model.class;
            let tip = "Shows the terms of this answer's logit";
            if ui.selectable_label(is_chosen, &answer.name).on_hover_text(tip).clicked() {
                chosen = Some(answer.class);
            }
        }
    });
    chosen
}

/// The logit lens of the sentence that was shown last, and the cell that has the keyboard focus.
#[derive(Default)]
pub struct LensUiState {
    work: Option<LensWork>,
    cursor: (usize, usize),
}

/// The logit lens at each word; `None` for words that are not computed yet.
type Columns = Vec<Option<Arc<LensModel>>>;

/// The computation of the logit lens of a sentence, word by word: at once if it is quick, or else on a thread that ends
/// when this value is dropped.
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
                // A poisoned lock does no harm, because the lens of a word is written as a whole.
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

/// Draws the logit lens: a table of all words, and the details of the chosen one. A click on a word chooses it.
fn lens_ui(ui: &mut Ui, snapshot: &Arc<Snapshot>, state: &mut LensUiState, selection: &mut Selection) {
    let Some(words) = LensWords::of(snapshot) else {
        let why = "This model does not give an answer for each word, so there is nothing to show layer by layer.";
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
    "The likeliest answer after each layer, at each word. The stronger the colour, the likelier the answer.".to_owned()
}

/// Draws the table, with a row for each layer and a column for each word.
fn table_ui(
    ui: &mut Ui,
    words: &LensWords,
    columns: &Columns,
    chosen: usize,
    cursor: &mut (usize, usize),
    selection: &mut Selection,
) {
    const GUTTER: f32 = 22.0;
    let (rows, row) = (words.layers + 1, size::TABLE_ROW);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        // The numbers of the layers stay where they are when the words are scrolled.
        let (gutter, _) = ui.allocate_exact_size(vec2(GUTTER, row * (rows + 1) as f32), Sense::hover());
        for layer in 0..rows {
            let place = Rect::from_min_size(gutter.min + vec2(0.0, row * (layer + 1) as f32), vec2(GUTTER, row));
            text_ui(ui, place, Align2::RIGHT_CENTER, &layer.to_string(), Palette::on(ui).ink_soft);
        }
        ScrollArea::horizontal().id_salt("lens").auto_shrink([false, true]).show(ui, |ui| {
            cells_ui(ui, words, columns, chosen, cursor, selection);
        });
    });
}

/// Draws the words with their answers after each layer.
fn cells_ui(
    ui: &mut Ui,
    words: &LensWords,
    columns: &Columns,
    chosen: usize,
    cursor: &mut (usize, usize),
    selection: &mut Selection,
) {
    const CELL: f32 = 66.0;
    let (rows, cols, row) = (words.layers + 1, words.labels.len(), size::TABLE_ROW);
    let whole = vec2(CELL * cols as f32, row * (rows + 1) as f32);
    let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
    let heat = Heat { origin: rect.min + vec2(0.0, row), cell: vec2(CELL, row), rows, cols };
    let under = response.hover_pos().and_then(|at| heat.at(at));
    lead_lens(ui, &response, &heat, chosen, cursor, selection);
    let said = |(layer, word): (usize, usize)| {
        let layer = columns[word].as_ref().map(|column| column.layers[layer].said.as_str());
        format!("at {}, {}", words.labels[word], layer.unwrap_or("not computed yet"))
    };
    let name = format!("Logit lens of all words: {}", said(*cursor));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, &name));
    paint_lens(ui, &heat, words, columns, chosen);
    if response.has_focus() {
        let stroke = egui::Stroke::new(size::OUTLINE, Palette::on(ui).ink);
        let cell = heat.cell_rect(cursor.0, cursor.1);
        ui.painter().rect_stroke(cell, 0.0, stroke, egui::StrokeKind::Inside);
    }
    if let Some((layer, word)) = under {
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(format!("At {}", words.labels[word]));
            let layer = columns[word].as_ref().map(|column| &column.layers[layer]);
            layer.into_iter().for_each(|layer| layer_answers_ui(ui, layer));
            ui.weak("Click to choose the word.");
        });
    }
}

/// Moves the cursor by a click or the arrow keys, and chooses its word.
fn lead_lens(
    ui: &Ui,
    response: &Response,
    heat: &Heat,
    chosen: usize,
    cursor: &mut (usize, usize),
    selection: &mut Selection,
) {
    if response.clicked() {
        response.request_focus();
        let under = response.hover_pos().and_then(|at| heat.at(at));
        let at = response.interact_pointer_pos();
        let place = at.map(|at| ((at.x - heat.origin.x) / heat.cell.x) as usize);
        *cursor = under.unwrap_or((cursor.0, place.unwrap_or(chosen).min(heat.cols - 1)));
        selection.choose_query(Some(cursor.1));
    }
    *cursor = (cursor.0.min(heat.rows - 1), chosen);
    if response.has_focus() {
        let led = led_by_arrows(ui, response, *cursor, heat.rows, heat.cols);
        if led.1 != chosen {
            selection.choose_query(Some(led.1));
        }
        if led != *cursor {
            ui.scroll_to_rect(heat.cell_rect(led.0, led.1), None);
        }
        *cursor = led;
    }
}

/// Paints the words, their answers after each layer, and the outline of the chosen word.
fn paint_lens(ui: &Ui, heat: &Heat, words: &LensWords, columns: &Columns, chosen: usize) {
    let palette = Palette::on(ui);
    for (word, label) in words.labels.iter().enumerate() {
        let head = heat.cell_rect(0, word).translate(vec2(0.0, -heat.cell.y));
        let ink = if word == chosen { palette.ink } else { palette.ink_soft };
        text_ui(ui, head, Align2::LEFT_CENTER, label, ink);
        for layer in 0..heat.rows {
            cell_ui(ui, heat, (layer, word), columns[word].as_deref(), palette);
        }
    }
    let outline = egui::Stroke::new(size::HAIRLINE, palette.accent);
    ui.painter().rect_stroke(heat.col_rect(chosen), 0.0, outline, egui::StrokeKind::Inside);
}

/// Draws the likeliest answer after a layer: the stronger its colour, the likelier.
fn cell_ui(ui: &Ui, heat: &Heat, (layer, word): (usize, usize), column: Option<&LensModel>, palette: &Palette) {
    let first = column.and_then(|column| column.layers[layer].answers.first());
    let share = first.map_or(0.0, |(_, probability)| probability.clamp(0.0, 1.0));
    let fill = palette.raised.lerp_to_gamma(palette.word, share * size::BAR_FAINT);
    heat.paint_cell(ui.painter(), layer, word, fill);
    if let Some((answer, _)) = first {
        text_ui(ui, heat.cell_rect(layer, word), Align2::LEFT_CENTER, answer, palette.ink_on(fill));
    }
}

fn layer_answers_ui(ui: &mut Ui, layer: &LensLayer) {
    ui.label(&layer.label);
    for (answer, probability) in &layer.answers {
        ui.label(format!("{answer}: {probability:.4}"));
    }
}

/// Draws a layer: its name, its likeliest word, and its answers side by side, with widths in proportion to their
/// probabilities.
fn layer_ui(ui: &mut Ui, layer: &LensLayer) {
    const NAME: f32 = 112.0;
    const WORD: f32 = 84.0;
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &layer.said));
    let (name, rest) = rect.split_left_right_at_x(rect.left() + NAME.min(rect.width() / 2.0));
    let (word, bars) = rest.split_left_right_at_x(rest.left() + WORD.min(rest.width() / 2.0));
    // The part of the label after the comma is left out, because the note below says that the last layer gives the
    // answer.
    let label = layer.label.split(',').next().unwrap_or_default();
    text_ui(ui, name, Align2::LEFT_CENTER, label, palette.ink_soft);
    if let Some((first, _)) = layer.answers.first() {
        text_ui(ui, word, Align2::LEFT_CENTER, first, palette.ink);
    }
    let parts = layer.answers.iter().map(|(answer, probability)| (answer, *probability, palette.word));
    parts_ui(ui, parts, bars, None);
    response.on_hover_ui_at_pointer(|ui| layer_answers_ui(ui, layer));
}

pub fn text_ui(ui: &Ui, rect: Rect, align: Align2, text: &str, ink: egui::Color32) {
    let at = align.pos_in_rect(&rect.shrink2(vec2(size::GAP_TIGHT, 0.0)));
    ui.painter_at(rect).text(at, align, text, theme::plain(size::BODY), ink);
}

/// The range of the sampling temperature. At its ends, one word has nearly all the probability, or all words have
/// nearly the same.
const TEMPERATURE: (f64, f64) = (0.1, 5.0);
/// The largest number of words for top-k; with more, words are drawn almost as without a limit.
const TOP_K_MAX: usize = 1000;

fn writing_ui(ui: &mut Ui, writing: &AnswersWriting, WritingUi { plan, before }: &mut WritingUi) -> Option<Command> {
    ui.label(RichText::new("Writing").font(theme::strong(size::BODY)));
    let (most, written) = match writing {
        AnswersWriting::Cannot(why) => {
            ui.add(Label::new(RichText::new(sentence(why)).weak()).wrap());
            return None;
        }
        AnswersWriting::Can { most, written } => (*most, written),
    };
    let mut command = None;
    ui.horizontal_wrapped(|ui| {
        for (search, label, tip) in [
            (WritingSearch::Likeliest, "likeliest", "Always the likeliest word"),
            (WritingSearch::Drawn, "drawn", "Draws each word at random, according to its probability"),
            (WritingSearch::Beams, "beams", "Continues several beginnings, and takes the likeliest whole sentence"),
        ] {
            ui.selectable_value(&mut plan.search, search, label).on_hover_text(tip);
        }
    });
    if plan.search == WritingSearch::Beams {
        ui.horizontal(|ui| {
            let label = ui.label("how many");
            let beams = ui.add(DragValue::new(&mut plan.beams).range(1..=BEAMS_MAX)).labelled_by(label.id);
            hint(beams, format!("How many beginnings, from 1 to {BEAMS_MAX}: drag, or click and type"));
        });
    }
    // A slider does not wrap, so it has a row of its own.
    if plan.search == WritingSearch::Drawn {
        ui.horizontal(|ui| {
            let label = ui.label("τ");
            let slider = Slider::new(&mut plan.temperature, TEMPERATURE.0..=TEMPERATURE.1).logarithmic(true);
            let slider = ui.add(slider.max_decimals(2)).labelled_by(label.id);
            hint(
                slider,
                "Sampling temperature, by which the logits are divided. With a low temperature, the likeliest word \
                 is nearly always drawn; with a high one, almost any word can be",
            );
        });
        limits_ui(ui, plan);
    }
    ui.horizontal(|ui| {
        let label = ui.label("words");
        let count = ui.add(DragValue::new(&mut plan.count).range(1..=most)).labelled_by(label.id);
        hint(count, format!("How many words to write at once, from 1 to {most}: drag, or click and type"));
        let tip = "Uses the current weights, but ignores changes to the temperature, the mask and the heads";
        if ui.add(Button::new("Write")).on_hover_text(tip).clicked() {
            command = Some(plan.command());
            *before = Some(written.clone());
        }
    });
    if let Some(written) = written {
        let shown = ui.scope(|ui| written_ui(ui, written)).response.rect;
        if before.take_if(|before| before.as_ref() != Some(written)).is_some() {
            ui.scroll_to_rect(shown, None);
        }
    }
    command
}

/// Draws the limits of sampling: a number of the likeliest words, or a share of the probability.
fn limits_ui(ui: &mut Ui, plan: &mut WritingPlan) {
    ui.horizontal_wrapped(|ui| {
        let tip = "Draws only from this many of the likeliest words";
        let (on, count) = &mut plan.top_k;
        checkbox_ui(ui, on, "top-k").on_hover_text(tip);
        let number = ui.add_enabled(*on, DragValue::new(count).range(1..=TOP_K_MAX));
        number.widget_info(|| WidgetInfo::labeled(WidgetType::DragValue, *on, format!("top-k: {count}")));
        hint(number, format!("How many, from 1 to {TOP_K_MAX}: drag, or click and type"));
        ui.add_space(size::GAP);
        let tip = "Draws only from the fewest words that together have this share of the probability";
        let (on, share) = &mut plan.top_p;
        checkbox_ui(ui, on, "top-p").on_hover_text(tip);
        let number = DragValue::new(share).range(0.01..=1.0).speed(0.01).max_decimals(2);
        let number = ui.add_enabled(*on, number);
        number.widget_info(|| WidgetInfo::labeled(WidgetType::DragValue, *on, format!("top-p: {share}")));
        hint(number, "A share from 0.01 to 1: drag, or click and type");
    });
}

fn written_ui(ui: &mut Ui, written: &WrittenText) {
    let palette = Palette::on(ui);
    let mut text = LayoutJob::default();
    text.append(&written.before, 0.0, TextFormat::simple(theme::plain(size::BODY), palette.ink_soft));
    let format = TextFormat::simple(theme::strong(size::BODY), palette.accent);
    text.append(if written.before.is_empty() { written.text.trim_start() } else { &written.text }, 0.0, format);
    ui.add(Label::new(text).wrap());
    if written.words.is_empty() {
        ui.weak("No word was written, because the sentence is already as long as the model can read.");
    }
    ui.add(Label::new(RichText::new(&written.said).weak()).wrap());
    if !written.rows.is_empty() {
        ui.add_space(size::GAP_TIGHT);
        rows_ui(ui, written);
    }
}

/// Draws a line for each written word, with a cell for each row of the sequence: filled if the row was computed for
/// this word, and outlined if its key and value were kept.
fn rows_ui(ui: &mut Ui, written: &WrittenText) {
    /// The least side of a cell that has room for an outline, in points.
    const OUTLINE_FROM: f32 = 5.0;
    let palette = Palette::on(ui);
    ui.add(Label::new(&written.rows_label).wrap());
    let most = written.rows.iter().map(|rows| rows.kept + rows.computed).max().unwrap_or(1);
    let (first, cell) = columns(most, ui.available_width());
    let room = vec2(cell * (most - first) as f32, cell * written.rows.len() as f32);
    let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, &written.rows_label));
    let painter = ui.painter_at(rect);
    for (line, rows) in written.rows.iter().enumerate() {
        for at in first..rows.kept + rows.computed {
            let corner = pos2(rect.left() + cell * (at - first) as f32, rect.top() + cell * line as f32);
            let inner = Rect::from_min_size(corner, vec2(cell, cell)).shrink(size::HAIRLINE / 2.0);
            if at >= rows.kept {
                painter.rect_filled(inner, 0.0, palette.accent);
            } else {
                painter.rect_filled(inner, 0.0, palette.raised);
                if cell >= OUTLINE_FROM {
                    let stroke = egui::Stroke::new(size::HAIRLINE, palette.ink_faint);
                    painter.rect_stroke(inner, 0.0, stroke, egui::StrokeKind::Inside);
                }
            }
        }
    }
    let under = response.hover_pos().map(|pointer| ((pointer.y - rect.top()) / cell) as usize);
    if let Some((word, rows)) = under.and_then(|at| Some((written.words.get(at)?, written.rows.get(at)?))) {
        let said = format!("{word}: {} computed, {} kept", rows.computed, rows.kept);
        response.on_hover_text_at_pointer(said);
    }
    let left_out = match first {
        0 => String::new(),
        1 => " There is no room for the first row.".to_owned(),
        count => format!(" There is no room for the first {count} rows."),
    };
    let words = format!(
        "Each line is for one new word; filled cells are computed rows, and outlined cells are kept rows.{left_out}"
    );
    ui.add(Label::new(RichText::new(words).size(size::SMALL).weak()).wrap());
}

/// Returns the index of the first cell that is shown, and the side of a cell in points. If the width has no room for
/// `most` cells, the oldest are left out.
fn columns(most: usize, width: f32) -> (usize, f32) {
    /// The least and the largest side of a cell, in points.
    const CELL: (f32, f32) = (3.0, 9.0);
    let room = ((width / CELL.0) as usize).max(1);
    let shown = most.min(room);
    (most - shown, (width / shown.max(1) as f32).floor().clamp(CELL.0, CELL.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_cells_are_in_sight_whatever_the_width() {
        for (most, width) in [(0, 300.0), (7, 300.0), (100, 300.0), (101, 300.0), (400, 300.0), (400, 1.0)] {
            let (first, cell) = columns(most, width);
            assert!(cell >= 3.0 && (most - first) as f32 * cell <= width.max(cell), "{most} cells in {width}");
            assert!(most == 0 || first < most, "the last is there");
            assert!(first == 0 || (most - first + 1) as f32 * 3.0 > width, "as many as there is room for");
        }
    }
}
