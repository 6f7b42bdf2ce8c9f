//! The answers panel: how likely the model holds each answer, row by row, and what it writes when it goes on.

use egui::{
    Align2, Button, CornerRadius, DragValue, Label, Rect, RichText, ScrollArea, Sense, Slider, Ui, WidgetInfo,
    WidgetType, vec2,
};

use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::kernel::command::{Command, SentenceCommand};
use crate::numerics::model::generate::Choice;
use crate::view_model::answers::{AnswerRow, AnswersModel, NamedAnswer, Writing, Written};

use super::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::widgets::controls::hint;
use crate::app::widgets::traced::{ASK_HINT, ask_on, number_ui};
use crate::view_model::sentence;

pub struct AnswersPanel {
    count: usize,
    draws: bool,
    temperature: f64,
}

impl Default for AnswersPanel {
    fn default() -> Self {
        Self { count: 6, draws: false, temperature: 1.0 }
    }
}

impl Panel for AnswersPanel {
    fn id(&self) -> PanelId {
        PanelId::of(PanelName::Answers)
    }

    fn region(&self) -> Region {
        Region::LowerRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        cx.requests.commands.extend(answers_ui(ui, &*cx.models.get::<AnswersModel>()?, self, &mut cx.view));
        Some(())
    }
}

pub fn answers_ui(
    ui: &mut Ui,
    model: &AnswersModel,
    state: &mut AnswersPanel,
    view: &mut PanelView,
) -> Option<Command> {
    let mut command = None;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.add(Label::new(RichText::new(model.question).weak()).wrap());
        let last = model.rows.len().saturating_sub(1);
        let chosen = if model.is_by_token { view.selection.query.unwrap_or(last).min(last) } else { 0 };
        if let Some(said) = model.said.get(chosen) {
            ui.add(Label::new(said).wrap());
        }
        ui.add_space(size::GAP_TIGHT);
        for (index, row) in model.rows.iter().enumerate() {
            row_ui(ui, model, row, index, index == chosen, view);
        }
        if let Some(row) = model.rows.get(chosen) {
            ui.add_space(size::GAP);
            list_ui(ui, model, row, view);
        }
        ui.add_space(size::GAP_WIDE);
        command = writing_ui(ui, &model.writing, state);
    });
    command
}

/// The answers of one row side by side, each as wide as it is likely.
fn row_ui(ui: &mut Ui, model: &AnswersModel, row: &AnswerRow, index: usize, is_chosen: bool, view: &mut PanelView) {
    const NAME: f32 = 86.0;
    let palette = Palette::of(ui.visuals().dark_mode);
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
    let bars = bars.shrink2(vec2(0.0, size::HAIRLINE * 2.0));
    ui.painter().rect_filled(bars, CornerRadius::ZERO, palette.raised);
    let pointer = response.hover_pos();
    let mut from = bars.left();
    let mut under = None;
    for answer in &row.answers {
        let to = from + bars.width() * answer.probability.clamp(0.0, 1.0);
        let part = Rect::from_x_y_ranges(from..=to, bars.y_range());
        part_ui(ui, part, answer, palette);
        if pointer.is_some_and(|pointer| part.contains(pointer)) {
            under = Some(answer);
        }
        from = to;
    }
    if let Some(answer) = under {
        ask_on(&response, answer.entry, view.trail);
    }
    let more = if model.is_by_token { " Click: choose the word." } else { "" };
    response.on_hover_ui_at_pointer(|ui| {
        match under {
            Some(answer) => ui.label(format!("{}: {:.4}", answer.name, answer.probability)),
            None => ui.label(format!("All others together: {:.4}", row.rest())),
        };
        ui.weak(if under.is_some() { format!("{ASK_HINT}{more}") } else { more.trim().to_owned() });
    });
}

/// One answer; its name where there is room.
fn part_ui(ui: &Ui, part: Rect, answer: &NamedAnswer, palette: &Palette) {
    let inner = part.with_max_x((part.right() - size::HAIRLINE).max(part.left()));
    let fill = palette.raised.lerp_to_gamma(palette.word_of(answer.group), size::BAR_FAINT);
    ui.painter().rect_filled(inner, CornerRadius::ZERO, fill);
    let font = theme::plain(size::SMALL);
    let galley = ui.painter().layout_no_wrap(answer.name.clone(), font, palette.ink_on(fill));
    if galley.size().x + size::GAP_TIGHT <= inner.width() {
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), inner);
        ui.painter().galley(at.min, galley, palette.ink_on(fill));
    }
}

/// The likeliest answers of one row, each with its number.
fn list_ui(ui: &mut Ui, model: &AnswersModel, row: &AnswerRow, view: &mut PanelView) {
    let title = if model.is_by_token { format!("At {}", row.label) } else { "All answers".to_owned() };
    ui.label(RichText::new(title).font(theme::strong(size::BODY)));
    for answer in &row.answers {
        ui.horizontal(|ui| {
            number_ui(ui, format!("{:.4}", answer.probability), answer.entry, view.trail);
            ui.label(&answer.name);
        });
    }
    if row.answers.len() == AnswersModel::NAMED && row.rest() > 0.0 {
        ui.horizontal(|ui| {
            ui.monospace(format!("{:.4}", row.rest()));
            ui.weak("all others together");
        });
    }
}

fn writing_ui(ui: &mut Ui, writing: &Writing, state: &mut AnswersPanel) -> Option<Command> {
    ui.label(RichText::new("Writing on").font(theme::strong(size::BODY)));
    let (most, written) = match writing {
        Writing::Cannot(why) => {
            ui.add(Label::new(RichText::new(sentence(why)).weak()).wrap());
            return None;
        }
        Writing::Can { most, written } => (*most, written),
    };
    let mut command = None;
    ui.horizontal_wrapped(|ui| {
        ui.selectable_value(&mut state.draws, false, "likeliest").on_hover_text("Each time the likeliest word");
        ui.selectable_value(&mut state.draws, true, "drawn").on_hover_text("Each word drawn by its probability");
        if state.draws {
            let label = ui.label("τ");
            /// Beyond these all words are alike, or one has all.
            const TEMPERATURE: (f64, f64) = (0.1, 5.0);
            let slider = Slider::new(&mut state.temperature, TEMPERATURE.0..=TEMPERATURE.1).logarithmic(true);
            let slider = ui.add(slider.max_decimals(2)).labelled_by(label.id);
            hint(slider, "Logits are divided by it: low is nearly the likeliest, high is nearly chance");
        }
    });
    ui.horizontal(|ui| {
        let label = ui.label("words");
        let count = ui.add(DragValue::new(&mut state.count).range(1..=most)).labelled_by(label.id);
        hint(count, format!("How many at once, from 1 to {most}: drag, or click and type"));
        let tip = "With the weights in use; temperature, mask and heads as the lesson has them";
        if ui.add(Button::new("Write on")).on_hover_text(tip).clicked() {
            let choice = if state.draws { Choice::sampled(state.temperature) } else { Choice::Greedy };
            command = Some(Command::Sentence(SentenceCommand::Generate { count: state.count, choice }));
        }
    });
    if let Some(written) = written {
        written_ui(ui, written);
    }
    command
}

fn written_ui(ui: &mut Ui, written: &Written) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for word in &written.before {
            ui.label(RichText::new(word).color(palette.ink_soft));
        }
        for word in &written.words {
            ui.label(RichText::new(word).font(theme::strong(size::BODY)).color(palette.accent));
        }
        if written.words.is_empty() {
            ui.weak("Nothing: the sentence is as long as the model reads.");
        }
    });
    ui.add(Label::new(RichText::new(&written.said).weak()).wrap());
}
