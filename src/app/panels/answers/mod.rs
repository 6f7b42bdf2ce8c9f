//! The answers panel: how likely the model holds each answer, row by row, and what it writes when it goes on; what each
//! layer would answer; and what an answer is the sum of.

mod origins;
mod writing;

use attune_core::kernel::command::Command;
use attune_view::view_model::answers::AttributionModel;
use attune_view::view_model::answers::{AnswerRow, AnswersModel, WritingPlan};
use attune_view::view_model::saved_view::{AnswersView, SavedView};
use egui::{Align2, Color32, CornerRadius, Label, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

use self::origins::{LensUiState, Shares, attribution_ui, lens_ui};
use self::writing::writing_ui;
use super::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::theme::{self, Palette, size};
use crate::app::view::{PanelView, Trail};
use crate::app::widgets::controls::switch_ui;
use crate::app::widgets::traced::{ASK_HINT, ask_on, number_ui};

#[derive(Default)]
pub struct AnswersPanel {
    view: AnswersView,
    plan: WritingPlan,
    lens: LensUiState,
    /// The terms that are listed, and the class whose terms they are, where the learner chose one.
    shares: Shares,
    class: Option<usize>,
}

impl Panel for AnswersPanel {
    fn id(&self) -> PanelId {
        PanelId::of(PanelName::Answers)
    }

    fn region(&self) -> Region {
        Region::LowerRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let model = cx.models.get::<AnswersModel>()?;
        switch_ui(
            ui,
            &mut self.view,
            &[
                (AnswersView::Answers, "Answers", "What the model answers, and how it goes on writing"),
                (AnswersView::Layers, "Layer by layer", "What each layer would answer: the logit lens"),
                (AnswersView::Terms, "Why", "What an answer is the sum of: direct logit attribution"),
            ],
        );
        let query = cx.view.selection.query;
        match self.view {
            AnswersView::Answers => cx.requests.commands.extend(answers_ui(ui, &model, &mut self.plan, &mut cx.view)),
            AnswersView::Layers => lens_ui(ui, cx.models.snapshot()?, &mut self.lens, cx.view.selection),
            AnswersView::Terms => {
                let row = model.row_of(query)?;
                // A class that another word or model does not have among its likeliest is let go of.
                self.class = self.class.filter(|class| row.answers.iter().any(|answer| answer.class == *class));
                let terms = cx.models.of_choice::<Result<AttributionModel, String>>(&(query, self.class))?;
                if let Some(class) = attribution_ui(ui, terms.as_ref().as_ref(), row, &mut self.shares) {
                    self.class = Some(class);
                }
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

fn answers_ui(ui: &mut Ui, model: &AnswersModel, plan: &mut WritingPlan, view: &mut PanelView) -> Option<Command> {
    let mut command = None;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.add(Label::new(RichText::new(&model.question).weak()).wrap());
        let chosen = model.row_number(view.selection.query);
        if let Some(said) = model.said.get(chosen) {
            ui.add(Label::new(said).wrap());
        }
        ui.add_space(size::GAP_TIGHT);
        for (index, row) in model.rows.iter().enumerate() {
            row_ui(ui, model, row, index, index == chosen, view);
        }
        if let Some(row) = model.rows.get(chosen) {
            ui.add_space(size::GAP);
            list_ui(ui, model, row, view.trail);
        }
        ui.add_space(size::GAP_WIDE);
        command = writing_ui(ui, &model.writing, plan);
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
        part_ui(ui, part, &answer.name, palette.word_of(answer.group));
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
fn part_ui(ui: &Ui, part: Rect, name: &str, hue: Color32) {
    let palette = Palette::of(ui.visuals().dark_mode);
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

/// The likeliest answers of one row, each with its number.
fn list_ui(ui: &mut Ui, model: &AnswersModel, row: &AnswerRow, trail: &mut Trail) {
    let title = if model.is_by_token { format!("At {}", row.label) } else { "All answers".to_owned() };
    ui.label(RichText::new(title).font(theme::strong(size::BODY)));
    for answer in &row.answers {
        ui.horizontal(|ui| {
            number_ui(ui, format!("{:.4}", answer.probability), answer.entry, trail);
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
