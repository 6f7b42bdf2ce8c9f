//! The step panel: the computation of the walk's present step, as numbers or as matrices.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::Snapshot;
use attune_core::kernel::snapshot::SentenceSnapshot;
use attune_core::kernel::snapshot::scores::ShownScore;
use attune_engine::quantity::Quantity;
use attune_ui::actions::{ActionRow, ActionTable, WindowAction};
use attune_ui::text::prose::equation_ui;
use attune_ui::theme::{self, Palette, Role, size};
use attune_ui::ui_state::{Selection, Trail, Walk};
use attune_ui::widgets::controls::{choose_query_ui, middle_ui, named, switch_ui, waiting_ui};
use attune_ui::widgets::heat::Heat;
use attune_ui::widgets::traced::{ASK_HINT, HINT, SIGNED, UNSIGNED, ask_on, bar, number_ui, worked_ui};
use attune_view::explain::Explanation;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::sentences::places_turn;
use attune_view::explain::walk::{Bars, Clock, Columns, NumberRow, RouteModel, Step, StepModel, WalkModel};
use attune_view::panels::step::{WHY, of_score, shown_score};
use attune_view::sheet::Item;
use attune_view::view_model::Models;
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::fold::FoldModel;
use attune_view::view_model::needs::Needs;
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::score::ScoreModel;
use attune_view::view_model::{capitalised, number};
use egui::{
    Align2, Button, Context, CornerRadius, FontId, Grid, Label, Painter, Pos2, Rect, Response, RichText, ScrollArea,
    Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType,
};

use super::fold::fold_ui;
use super::panel::{Panel, PanelContext};
use super::sheet::{SheetContext, SheetUiState, items_ui};

/// The form in which the step is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepView {
    #[default]
    Numbers,
    Matrices,
}

#[derive(Default)]
pub struct StepPanel {
    pub view: StepView,
    split: SplitUiState,
}

/// The state of the sheet that splits a score into a sum of pairs.
#[derive(Default)]
struct SplitUiState {
    sheet: SheetUiState,
    work: Option<SplitWork>,
}

/// The computation of a split on a thread, for a score that takes longer than a frame.
struct SplitWork {
    /// The pass and the score that are split.
    of: Arc<SentenceSnapshot>,
    at: ShownScore,
    found: Arc<OnceLock<Option<Result<ScoreModel, String>>>>,
}

impl SplitWork {
    fn begin(snapshot: &Arc<Snapshot>, of: Arc<SentenceSnapshot>, at: ShownScore, ctx: &Context) -> Self {
        let found = Arc::new(OnceLock::new());
        let (result, snapshot, ctx) = (found.clone(), snapshot.clone(), ctx.clone());
        std::thread::spawn(move || {
            _ = result.set(ScoreModel::of(&snapshot, at));
            ctx.request_repaint();
        });
        Self { of, at, found }
    }
}

impl Panel for StepPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let attention = cx.models.get::<AttentionMaps>()?;
        switch_ui(
            ui,
            &mut self.view,
            &[
                (StepView::Numbers, "Numbers", "The step for one word, number by number"),
                (
                    StepView::Matrices,
                    "Matrices",
                    "The same step for all words at once, with the matrices of every head",
                ),
            ],
        );
        match self.view {
            StepView::Numbers => numbers_ui(ui, &attention, cx, &mut self.split),
            StepView::Matrices => {
                let model = cx.models.of_choice::<FoldModel>(&cx.view.selection.head);
                match (model, cx.stage.camera()) {
                    (Some(model), Some(camera)) => fold_ui(ui, &model, &mut cx.view, camera),
                    // The matrices begin with weights, which a recording does not have.
                    _ if is_recorded(cx.models) => middle_ui(ui, |ui| _ = ui.weak(Needs::Model.words())),
                    _ => waiting_ui(ui, cx.models),
                }
            }
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.step_as_matrices = self.view == StepView::Matrices;
    }

    fn restore(&mut self, saved: &SavedView) {
        self.view = if saved.step_as_matrices { StepView::Matrices } else { StepView::Numbers };
    }
}

fn is_recorded(models: &Models) -> bool {
    models.snapshot().and_then(|snapshot| snapshot.model.as_ref()).is_some_and(|model| model.recorded.is_some())
}

/// Shows the numbers of the step for the walk's word.
fn numbers_ui(ui: &mut Ui, attention: &AttentionMaps, cx: &mut PanelContext, split: &mut SplitUiState) {
    const FOLLOW: &str = "Follow this word as the query";
    let selection = &cx.view.selection;
    let focus = cx.models.get::<RouteModel>().and_then(|route| {
        let word = selection.query.or_else(|| route.word(&cx.view.highlight.lit))?;
        Some(route.focus(word, selection.head, selection.key))
    });
    let walk = focus.and_then(|focus| cx.models.of_choice::<WalkModel>(&focus));
    if walk.is_none() {
        ui.weak("Choose a word on the stage or in the sentence to follow its numbers.");
    }
    choose_query_ui(ui, attention.tokens.iter().enumerate(), FOLLOW, cx.view.selection);
    let (Some(walk), Some(focus)) = (walk, focus) else { return };
    ui.horizontal_wrapped(|ui| {
        steps_ui(ui, cx.view.walk);
        heads_ui(ui, attention, cx.view.selection);
    });
    ui.add_space(size::GAP_TIGHT);
    let step = walk.step(cx.view.walk.step());
    // From the output on, a number comes from many arrows, each of which is listed instead.
    let explained = (step.step < Step::Output).then(|| cx.models.of_choice::<Explanation>(&step.entry)).flatten();
    let path = cx.models.of_choice::<PathModel>(&(focus.query, focus.head, cx.view.selection.by));
    let path = path.filter(|_| step.step >= Step::Output && step.needs.is_none());
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        step_ui(ui, &walk, step, explained.as_deref(), cx.view.selection, cx.view.trail);
        path.into_iter().for_each(|path| why_ui(ui, &path, cx.view.selection, cx.view.trail));
        if matches!(step.step, Step::Score | Step::Scale | Step::Softmax) && step.needs.is_none() {
            split_ui(ui, shown_score(&walk), cx, split);
        }
    });
}

/// Shows why the query looks at the key: the score as a sum of pairs.
fn split_ui(ui: &mut Ui, at: ShownScore, cx: &mut PanelContext, state: &mut SplitUiState) {
    let Some((snapshot, model)) = cx.models.snapshot().and_then(|of| Some((of, of.model.as_ref()?))) else { return };
    let quick = ScoreModel::is_quick(snapshot, at.head);
    let items = if quick {
        state.work = None;
        cx.models.of_choice::<Result<ScoreModel, String>>(&at).map(|score| of_score(&score))
    } else {
        let is_of = |work: &SplitWork| work.at == at && Arc::ptr_eq(&work.of, &model.sentence);
        let work = state.work.take().filter(is_of);
        let work = work.unwrap_or_else(|| SplitWork::begin(snapshot, model.sentence.clone(), at, ui.ctx()));
        let found = &state.work.insert(work).found;
        found.get().and_then(|found| found.as_ref().map(of_score))
    };
    let items = items.unwrap_or_else(|| vec![Item::Heading(WHY.to_owned()), Item::soft("The score is being split …")]);
    let mut drawn = SheetContext { state: &mut state.sheet, view: &mut cx.view, asks: Vec::new(), actions: Vec::new() };
    ui.push_id(WHY, |ui| items_ui(ui, &items, &mut drawn));
}

/// Shows the formula of a step, its sentence, and its numbers.
fn step_ui(
    ui: &mut Ui,
    walk: &WalkModel,
    step: &StepModel,
    explained: Option<&Explanation>,
    selection: &mut Selection,
    trail: &mut Trail,
) {
    if !step.equation.is_empty() {
        equation_ui(ui, &step.equation);
        ui.add_space(size::GAP_TIGHT);
    }
    ui.add(Label::new(RichText::new(&step.said).size(size::BODY)).wrap().selectable(true));
    if let Some(result) = &step.result {
        ui.add(Label::new(RichText::new(result).font(theme::strong(size::BODY))).wrap().selectable(true));
    }
    ui.add_space(size::GAP);
    if let Some(bars) = &step.bars {
        bars_ui(ui, walk, step, bars, selection, trail);
        ui.add_space(size::GAP);
    }
    if !step.clocks.is_empty() {
        clocks_ui(ui, &step.clocks);
        ui.add_space(size::GAP);
    }
    if let Some(explanation) = explained {
        entry_ui(ui, explanation, trail);
        ui.add_space(size::GAP);
    }
    for rows in step.rows.chunk_by(is_like) {
        strip_ui(ui, walk, step, rows, selection, trail);
        ui.add_space(size::GAP);
    }
}

/// Shows how one number of the step's result is computed.
fn entry_ui(ui: &mut Ui, explanation: &Explanation, trail: &mut Trail) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.add(Label::new(RichText::new(capitalised(&explanation.meaning)).font(theme::strong(size::BODY))).wrap());
        let value = format!("{:.3}", explanation.value).replace("inf", "∞").replace('-', "−");
        number_ui(ui, RichText::new(value).font(theme::mono(size::SMALL)), explanation.entry, trail);
    });
    if let Some(entry) = worked_ui(ui, explanation) {
        trail.open(entry);
    }
}

/// Shows pairs of entries as clocks, with the hand of the query over that of the key, and the pair's part of the
/// product. The longest hand fills its clock.
fn clocks_ui(ui: &mut Ui, clocks: &[Clock]) {
    const CLOCK: Vec2 = Vec2::new(52.0, 64.0);
    const RADIUS: f32 = 21.0;
    let palette = Palette::on(ui);
    let length = |hand: [f32; 2]| hand[0].hypot(hand[1]);
    let longest =
        clocks.iter().flat_map(|clock| [clock.query, clock.key]).map(length).fold(f32::MIN_POSITIVE, f32::max);
    ui.add(Label::new(RichText::new(places_turn()).size(size::BODY)).wrap().selectable(true));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(size::GAP_TIGHT);
        for clock in clocks {
            let (rect, response) = ui.allocate_exact_size(CLOCK, Sense::hover());
            let painter = ui.painter();
            let centre = Pos2::new(rect.center().x, rect.top() + RADIUS);
            painter.circle_stroke(centre, RADIUS, Stroke::new(size::HAIRLINE, palette.ink_faint));
            // Angles grow counterclockwise, as in mathematics.
            let tip = |[x, y]: [f32; 2]| centre + Vec2::new(x, -y) * (RADIUS / longest);
            painter.line_segment([centre, tip(clock.key)], Stroke::new(HAND, palette.ink_soft));
            painter.line_segment([centre, tip(clock.query)], Stroke::new(HAND, palette.accent));
            let added = number(clock.product.into());
            let below = Pos2::new(rect.center().x, rect.bottom());
            painter.text(below, Align2::CENTER_BOTTOM, &added, theme::mono(size::SMALL), palette.ink);
            let [first, second] = clock.entries;
            let said = format!(
                "Entries {first} and {second} of the query and the key. Because of the words' positions, the two \
                 hands are turned {:.2} radians apart. These entries add {added} to q · k.",
                clock.apart.abs()
            );
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
            response.on_hover_text(said);
        }
    });
}

/// Width of a clock's hands.
const HAND: f32 = 2.0;

/// Shows each key's number before and after the step. A click shows the computation for that key.
fn bars_ui(
    ui: &mut Ui,
    model: &WalkModel,
    step: &StepModel,
    bars: &Bars,
    selection: &mut Selection,
    trail: &mut Trail,
) {
    const BAR: f32 = 52.0;
    let palette = Palette::on(ui);
    let row = |quantity: Quantity| step.rows.iter().find(|row| row.first.quantity == quantity);
    let columns: Vec<&NumberRow> = bars.before.into_iter().chain([bars.after]).filter_map(row).collect();
    // Scores share one scale, so that the effect of dividing them is visible; weights have their own scale, from 0 to
    // 1.
    let scores = columns.iter().filter(|row| row.first.quantity != Quantity::Weight).flat_map(|row| &row.values);
    let largest = scores.filter(|x| x.is_finite()).fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
    Grid::new(("bars", step.step.index())).min_col_width(0.0).spacing([size::GAP, 0.0]).show(ui, |ui| {
        ui.label("");
        for row in &columns {
            ui.label(RichText::new(&row.label).size(size::SMALL).color(palette.ink_soft));
            ui.label("");
        }
        ui.end_row();
        for (key, word) in model.keys.iter().enumerate() {
            let is_chosen = key == model.key;
            let hint = "Works through this key";
            let words = RichText::new(word).size(size::SMALL);
            if ui.selectable_label(is_chosen, words).on_hover_text(hint).clicked() {
                selection.key = Some(key);
            }
            let takes_part = model.takes_part(step.step, key);
            for row in &columns {
                let Some(value) = row.values.get(key).copied() else { continue };
                let is_weight = row.first.quantity == Quantity::Weight;
                let share = if is_weight { value } else { value / largest };
                let fill = match (is_weight, share < 0.0) {
                    (true, _) => palette.query,
                    (false, true) => palette.negative,
                    (false, false) => palette.positive,
                };
                let (rect, _) = ui.allocate_exact_size(Vec2::new(BAR, size::BAR), Sense::hover());
                let length = if value.is_finite() { share } else { 0.0 };
                let zero = if is_weight { UNSIGNED } else { SIGNED };
                let fill = if takes_part { fill } else { palette.dimmed(fill) };
                bar(ui.painter(), rect, (zero, length), fill, palette);
                let text = shown(value, if is_weight { 1.0 } else { largest });
                let ink = if takes_part { palette.ink } else { palette.ink_soft };
                let text = RichText::new(text).font(theme::mono(size::SMALL)).color(ink);
                ui.push_id((key, &row.label), |ui| number_ui(ui, text, row.entry(key), trail));
            }
            ui.end_row();
        }
    });
}

/// Explains the move in a sentence and by its arrows, the longest first.
fn why_ui(ui: &mut Ui, path: &PathModel, selection: &mut Selection, trail: &mut Trail) {
    let palette = Palette::on(ui);
    ui.label(RichText::new("Why did the word move?").font(theme::strong(size::BODY)));
    ui.add(Label::new(RichText::new(&path.why).color(palette.ink)).wrap().selectable(true));
    ui.add_space(size::GAP_TIGHT);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(RichText::new("Arrows by").color(palette.ink_soft));
        for (by, words, hint) in [
            (ArrowParts::Word, "word", "What each word adds, through all heads"),
            (ArrowParts::Head, "head", "What each head adds, from all words"),
            (ArrowParts::Both, "both", "What each word adds in each head"),
        ] {
            if ui.selectable_label(path.by == by, words).on_hover_text(hint).clicked() {
                selection.by = Some(by);
            }
        }
    });
    for arrow in &path.arrows {
        ui.horizontal(|ui| {
            let of_part = arrow.part.map_or(palette.ink, |part| palette.part(part));
            let ink = arrow.own.map_or(of_part, |own| palette.head(own));
            ui.label(RichText::new(&arrow.label).color(ink));
            let small = |text: String| RichText::new(text).font(theme::mono(size::SMALL)).color(palette.ink_soft);
            if let (Some(weight), Some(head), Some(key)) = (arrow.weight, arrow.head, arrow.key) {
                let entry = Quantity::Weight.of_head(head, [path.query, key]);
                number_ui(ui, small(format!("α {weight:.3}")), entry, trail);
            }
            let length = small(format!("length {:.3}", arrow.length));
            match arrow.entry {
                Some(entry) => number_ui(ui, length, entry, trail),
                None => ui.label(length).on_hover_text(OF_THE_PICTURE),
            };
        });
    }
}

const OF_THE_PICTURE: &str = "The picture shows vectors after the final norm. As a vector grows, the norm shrinks \
    its earlier part, and this arrow is the change. Raw vectors (N) have no such arrow.";

/// Returns whether two rows can share their columns.
fn is_like(a: &NumberRow, b: &NumberRow) -> bool {
    a.columns == b.columns && a.values.len() == b.values.len()
}

/// Shows the heads to choose from. If there are many, only those of the chosen head's layer are shown, by their numbers
/// in it.
fn heads_ui(ui: &mut Ui, attention: &AttentionMaps, selection: &mut Selection) {
    /// The most heads that are all named; more would leave no room for the numbers.
    const NAMED_MAX: usize = 4;
    let (count, chosen) = (attention.heads.len(), attention.heads.get(selection.head));
    let Some(chosen) = chosen.filter(|_| count > 1) else { return };
    let palette = Palette::on(ui);
    ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
    let are_numbered = count > NAMED_MAX;
    if are_numbered {
        // A title that was wrapped would have its number beside those of the heads, as if it were one of them.
        ui.add(Label::new(RichText::new(&chosen.title).color(palette.head(chosen.own))).extend());
    }
    for map in attention.heads.iter().filter(|map| !are_numbered || map.block == chosen.block) {
        let words = if are_numbered { (map.own + 1).to_string() } else { map.title.clone() };
        let is_chosen = selection.head == map.head;
        let button = ui.selectable_label(is_chosen, RichText::new(words).color(palette.head(map.own)));
        button.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &map.title));
        if button.on_hover_text("Follow the word through this head").clicked() {
            selection.choose_head(map.head);
        }
    }
}

/// Shows the step with buttons for the previous and the next one; the time line under the stage has all steps.
fn steps_ui(ui: &mut Ui, walk: &mut Walk) {
    const NAME: f32 = 92.0;
    let palette = Palette::on(ui);
    let (now, is_begun) = (walk.step(), !walk.is_at_start());
    let mut turn = |ui: &mut Ui, sign: &str, row: &ActionRow, is_enabled: bool, step: fn(&mut Walk)| {
        let button = ui.add_enabled(is_enabled, Button::new(sign));
        if named(button, WidgetType::Button, row.tooltip).on_hover_text(row.hint()).clicked() {
            step(walk);
        }
    };
    turn(ui, "←", WindowAction::StepBack.row(), is_begun, Walk::step_back);
    let words = RichText::new(format!("{} {}", now.index() + 1, now.name()));
    let words = words.font(theme::strong(size::BODY)).color(palette.accent);
    ui.add_sized(Vec2::new(NAME, size::SLIDER_ROW), Label::new(words));
    turn(ui, "→", WindowAction::StepOn.row(), true, Walk::step_on);
}

/// Shows rows that share their columns, which are keys or numbered entries, in as many lines as needed. Each row is
/// shaded on a scale of its own.
fn strip_ui(
    ui: &mut Ui,
    model: &WalkModel,
    step: &StepModel,
    rows: &[NumberRow],
    selection: &mut Selection,
    trail: &mut Trail,
) {
    const CELL: Vec2 = Vec2::new(46.0, 19.0);
    let width = |text: &str, font: FontId| {
        let ink = Palette::on(ui).ink;
        ui.painter().layout_no_wrap(text.to_owned(), font, ink).size().x
    };
    let name = |text: &String| width(text, theme::plain(size::SMALL));
    let names = rows.iter().map(|row| name(&row.label)).fold(0.0, f32::max) + size::GAP;
    let is_by_key = rows[0].columns == Columns::Keys;
    let widest = if is_by_key { model.keys.iter().map(name).fold(0.0, f32::max) } else { 0.0 };
    // Columns are wide enough for their numbers as well as for their names.
    let numbers = rows.iter().flat_map(|row| row.values.iter().map(|value| shown(*value, extent(row))));
    let digits = numbers.map(|text| text.chars().count()).max().unwrap_or(0) as f32;
    let widest = widest.max(digits * width("0", theme::mono(size::SMALL)));
    let cell = Vec2::new(CELL.x.max(widest + size::GAP), CELL.y);
    let count = rows[0].values.len();
    let fitting = (((ui.available_width() - names) / cell.x) as usize).max(1);
    // Columns are divided evenly between the lines.
    let each = count.div_ceil(count.div_ceil(fitting).max(1)).max(1);
    ui.push_id((step.step.index(), &rows[0].label), |ui| {
        for first in (0..count).step_by(each) {
            let line = Line { model, rows, columns: first..(first + each).min(count), names, cell };
            ui.push_id(first, |ui| line.ui(ui, selection, trail));
        }
    });
}

/// Returns the largest absolute value of a row.
fn extent(row: &NumberRow) -> f32 {
    row.values.iter().filter(|x| x.is_finite()).fold(0f32, |most, x| most.max(x.abs()))
}

/// Formats a number of a row whose largest absolute value is `extent`: larger numbers need fewer decimals to be
/// distinguished.
fn shown(value: f32, extent: f32) -> String {
    let decimals = match extent {
        extent if extent < 10.0 => 3,
        extent if extent < 100.0 => 2,
        _ => 1,
    };
    if value == f32::NEG_INFINITY { "−∞".to_owned() } else { format!("{value:.decimals$}").replace('-', "−") }
}

fn share(value: f32, extent: f32) -> f32 {
    if extent > 0.0 && value.is_finite() { value / extent } else { 0.0 }
}

/// A line of a strip: a range of the columns of its rows, with the names of the rows.
struct Line<'a> {
    model: &'a WalkModel,
    rows: &'a [NumberRow],
    columns: Range<usize>,
    /// Width of the names of the rows.
    names: f32,
    cell: Vec2,
}

impl Line<'_> {
    fn ui(&self, ui: &mut Ui, selection: &mut Selection, trail: &mut Trail) {
        let Self { model, rows, names, cell, .. } = *self;
        let palette = Palette::on(ui);
        let is_by_key = rows[0].columns == Columns::Keys;
        let columns = self.columns.len();
        let whole = Vec2::new(names + columns as f32 * cell.x, (rows.len() + 1) as f32 * cell.y);
        let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
        let heat = Heat { origin: rect.min + Vec2::new(names, cell.y), cell, rows: rows.len(), cols: columns };
        let painter = ui.painter();
        if !painter.clip_rect().intersects(rect) {
            return;
        }
        for column in self.columns.clone() {
            let head = heat.cell_rect(0, column - self.columns.start).translate(Vec2::new(0.0, -cell.y));
            let is_chosen = is_by_key && column == model.key;
            let name = match rows[0].columns {
                Columns::Keys => model.keys[column].clone(),
                Columns::Heads => format!("head {}", column + 1),
                Columns::Entries | Columns::Whole => column.to_string(),
            };
            let ink = if is_chosen { palette.accent } else { palette.ink_faint };
            painter.text(head.center(), Align2::CENTER_CENTER, name, theme::plain(size::SMALL), ink);
        }
        for (index, row) in rows.iter().enumerate() {
            let at = heat.cell_rect(index, 0).left_center() - Vec2::new(names, 0.0);
            let ink = Role::of(row.first.quantity).map_or(palette.ink_soft, |role| role.hue(palette));
            painter.text(at, Align2::LEFT_CENTER, &row.label, theme::plain(size::SMALL), ink);
            self.paint_row(painter, row, |column| heat.cell_rect(index, column), palette);
        }
        if is_by_key && self.columns.contains(&model.key) {
            let column = heat.col_rect(model.key - self.columns.start);
            let outline = Stroke::new(size::HAIRLINE, palette.accent);
            painter.rect_stroke(column, CornerRadius::ZERO, outline, StrokeKind::Inside);
        }
        self.point_ui(response, &heat, selection, trail);
    }

    /// Handles the pointer: a click shows the computation for a key, or opens the provenance of the number.
    fn point_ui(&self, response: Response, heat: &Heat, selection: &mut Selection, trail: &mut Trail) {
        let Self { model, rows, .. } = *self;
        let is_by_key = rows[0].columns == Columns::Keys;
        // The name of a column counts as its first row.
        let below = |pointer: Pos2| Pos2::new(pointer.x, pointer.y.max(heat.origin.y));
        let hovered = response.hover_pos().and_then(|pointer| heat.at(below(pointer)));
        if let Some((row, column)) = hovered {
            let column = self.columns.start + column;
            if is_by_key && response.clicked() {
                selection.key = Some(column);
            }
            let entry = rows[row].entry(column);
            // A click on a key shows its computation; elsewhere a click opens the provenance, as a right click does.
            if !is_by_key && response.clicked() {
                trail.open(entry);
            }
            ask_on(&response, entry, trail);
            let said = told(model, &rows[row], column);
            response.on_hover_ui_at_pointer(|ui| {
                ui.monospace(said);
                if is_by_key {
                    ui.weak(format!("Click to work through this key. {ASK_HINT}"));
                } else {
                    ui.weak(HINT);
                }
            });
        }
    }

    fn paint_row(&self, painter: &Painter, row: &NumberRow, at: impl Fn(usize) -> Rect, palette: &Palette) {
        let extent = extent(row);
        for (place, value) in row.values[self.columns.clone()].iter().enumerate() {
            let rect = at(place);
            let fill = palette.diverging(share(*value, extent));
            painter.rect_filled(rect.shrink(size::HAIRLINE / 2.0), CornerRadius::ZERO, fill);
            let words = shown(*value, extent);
            painter.text(rect.center(), Align2::CENTER_CENTER, words, theme::mono(size::SMALL), palette.ink_on(fill));
        }
    }
}

/// Describes which entry of which tensor a number is.
fn told(model: &WalkModel, row: &NumberRow, column: usize) -> String {
    let value = row.values[column];
    let of = match row.columns {
        Columns::Keys => format!(", key {}", model.keys[column]),
        Columns::Heads => format!(", head {}", column + 1),
        Columns::Entries | Columns::Whole => format!(", entry {column}"),
    };
    format!("{} · {}{of}: {value}", row.tensor, row.label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_numbers_of_a_row_have_fewer_decimals() {
        assert_eq!(shown(-0.5, 9.0), "−0.500");
        assert_eq!(shown(-18.9221, 37.215), "−18.92");
        assert_eq!(shown(0.25, 518.0), "0.2");
        assert_eq!(shown(f32::NEG_INFINITY, 1.0), "−∞");
    }
}
