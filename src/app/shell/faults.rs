//! Issues of the lesson file: a page while there is no lesson, a strip while the last good one stays.

use egui::{Frame, Margin, RichText, ScrollArea, Ui};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};

/// Every issue, to be read, copied and mended; the lesson opens as soon as the file is saved without one.
/// True when the course is wanted instead.
pub fn fault_page_ui(ui: &mut Ui, issues: &[String]) -> bool {
    let mut wants_course = false;
    let course = WindowAction::Course.row();
    const MARGIN: i8 = 48;
    let palette = Palette::of(ui.visuals().dark_mode);
    Frame::new().fill(palette.surface).inner_margin(Margin::same(MARGIN)).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        if issues.is_empty() {
            ui.weak("Opening the lesson …");
            return;
        }
        let count = if issues.len() == 1 { "an issue".to_owned() } else { format!("{} issues", issues.len()) };
        ui.label(RichText::new(format!("The lesson has {count}")).font(theme::strong(size::HEADING)));
        ui.horizontal(|ui| {
            ui.weak("Fix the file and save it; it reloads automatically.");
            wants_course = ui.button(course.text).on_hover_text(course.hint_with("Another lesson")).clicked();
        });
        ui.add_space(size::GAP_WIDE);
        issue_list_ui(ui, issues);
    });
    wants_course
}

/// Above the panels, until it is dismissed or the file is saved again.
pub fn fault_strip_ui(ui: &mut Ui, issues: &mut Vec<String>) {
    const MOST: f32 = 150.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let frame =
        Frame::new().fill(palette.raised).inner_margin(Margin::symmetric(size::PANEL_MARGIN, size::RADIUS as i8));
    if issues.is_empty() {
        return;
    }
    egui::Panel::top("issues").frame(frame).show_separator_line(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(
                RichText::new("Your last save has errors; showing the last working version.").color(palette.error),
            );
            if ui.button("Dismiss").on_hover_text("Hide this until the file is saved again").clicked() {
                issues.clear();
            }
        });
        ui.scope(|ui| {
            ui.set_max_height(MOST);
            issue_list_ui(ui, issues);
        });
    });
}

fn issue_list_ui(ui: &mut Ui, issues: &[String]) {
    ScrollArea::vertical().id_salt("issues").auto_shrink([false, true]).show(ui, |ui| {
        for issue in issues {
            let text = RichText::new(issue).monospace();
            ui.add(egui::Label::new(text).selectable(true).wrap());
            ui.add_space(size::GAP);
        }
    });
}
