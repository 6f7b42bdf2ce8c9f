//! Writing on: how the next words are chosen, the words, and the rows that each of them was written from.

use attune_core::kernel::command::Command;
use attune_view::view_model::answers::{Writing, WritingPlan, Written};
use attune_view::view_model::sentence;
use egui::text::{LayoutJob, TextFormat};
use egui::{Button, DragValue, Label, Rect, RichText, Sense, Slider, Ui, WidgetInfo, WidgetType, pos2, vec2};

use crate::app::theme::{self, Palette, size};
use crate::app::widgets::controls::{checkbox_ui, hint};

/// Beyond these all words are alike, or one has all.
const TEMPERATURE: (f64, f64) = (0.1, 5.0);
/// Beyond this many words drawing among them is drawing among all.
const TOP_K_MAX: usize = 1000;

pub fn writing_ui(ui: &mut Ui, writing: &Writing, plan: &mut WritingPlan) -> Option<Command> {
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
        ui.selectable_value(&mut plan.draws, false, "likeliest").on_hover_text("Each time the likeliest word");
        ui.selectable_value(&mut plan.draws, true, "drawn").on_hover_text("Each word drawn by its probability");
        if plan.draws {
            let label = ui.label("τ");
            let slider = Slider::new(&mut plan.temperature, TEMPERATURE.0..=TEMPERATURE.1).logarithmic(true);
            let slider = ui.add(slider.max_decimals(2)).labelled_by(label.id);
            hint(
                slider,
                "Sampling temperature: logits are divided by it, low is nearly the likeliest, high is nearly chance",
            );
        }
    });
    if plan.draws {
        limits_ui(ui, plan);
    }
    ui.horizontal(|ui| {
        let label = ui.label("words");
        let count = ui.add(DragValue::new(&mut plan.count).range(1..=most)).labelled_by(label.id);
        hint(count, format!("How many at once, from 1 to {most}: drag, or click and type"));
        let tip = "With the weights in use, but without the changes to temperature, mask and heads";
        if ui.add(Button::new("Write on")).on_hover_text(tip).clicked() {
            command = Some(plan.command());
        }
    });
    if let Some(written) = written {
        written_ui(ui, written);
    }
    command
}

/// The words that are drawn among: so many of the likeliest, or a share of the probability.
fn limits_ui(ui: &mut Ui, plan: &mut WritingPlan) {
    ui.horizontal_wrapped(|ui| {
        let tip = "Draws among so many of the likeliest words only";
        let (on, count) = &mut plan.top_k;
        checkbox_ui(ui, on, "top-k").on_hover_text(tip);
        let number = ui.add_enabled(*on, DragValue::new(count).range(1..=TOP_K_MAX));
        number.widget_info(|| WidgetInfo::labeled(WidgetType::DragValue, *on, format!("top-k: {count} words")));
        hint(number, format!("How many, from 1 to {TOP_K_MAX}: drag, or click and type"));
        ui.add_space(size::GAP);
        let tip = "Draws among the fewest likeliest words that have this share of the probability together";
        let (on, share) = &mut plan.top_p;
        checkbox_ui(ui, on, "top-p").on_hover_text(tip);
        let number = DragValue::new(share).range(0.01..=1.0).speed(0.01).max_decimals(2);
        let number = ui.add_enabled(*on, number);
        number.widget_info(|| WidgetInfo::labeled(WidgetType::DragValue, *on, format!("top-p: a share of {share}")));
        hint(number, "A share from 0.01 to 1: drag, or click and type");
    });
}

fn written_ui(ui: &mut Ui, written: &Written) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut text = LayoutJob::default();
    text.append(&written.before, 0.0, TextFormat::simple(theme::plain(size::BODY), palette.ink_soft));
    let format = TextFormat::simple(theme::strong(size::BODY), palette.accent);
    text.append(if written.before.is_empty() { written.text.trim_start() } else { &written.text }, 0.0, format);
    ui.add(Label::new(text).wrap());
    if written.words.is_empty() {
        ui.weak("Nothing: the sentence is as long as the model reads.");
    }
    ui.add(Label::new(RichText::new(&written.said).weak()).wrap());
    if !written.rows.is_empty() {
        ui.add_space(size::GAP_TIGHT);
        rows_ui(ui, written);
    }
}

/// A line for each word that was written, a cell for each row before it: filled where the row was computed for this word, an
/// outline where its key and value were kept.
fn rows_ui(ui: &mut Ui, written: &Written) {
    /// Cells that leave no room for an outline are without one.
    const OUTLINE_FROM: f32 = 5.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.add(Label::new(&written.rows_said).wrap());
    let most = written.rows.iter().map(|rows| rows.kept + rows.computed).max().unwrap_or(1);
    let (first, cell) = columns(most, ui.available_width());
    let room = vec2(cell * (most - first) as f32, cell * written.rows.len() as f32);
    let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, &written.rows_said));
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
    let words = format!("A line for each new word; filled: computed, outlined: kept.{left_out}");
    ui.add(Label::new(RichText::new(words).size(size::SMALL).weak()).wrap());
}

/// The first of so many cells that a width has room for, the last of them being the newest, and the side of a cell.
fn columns(most: usize, width: f32) -> (usize, f32) {
    /// A cell, at least and at most.
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
