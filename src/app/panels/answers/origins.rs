//! The origin of an answer: the terms that its logit is the sum of.

use attune_view::view_model::answers::AnswerRow;
use attune_view::view_model::attribution::{AttributionModel, Share};
use egui::{Align2, CornerRadius, Label, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

use super::lens::text_ui;
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::switch_ui;

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
