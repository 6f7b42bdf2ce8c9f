//! Yours, expected and the difference: numbers in one small grid, tables one for each case.

use attune_view::view_model::compared::{ComparedContent, ComparedModel, ComparedNumbers, SIDES};
use egui::{CollapsingHeader, Grid, Label, RichText, Ui};

use crate::app::panels::notebook::outputs::{output_ui, table_of_code_ui};
use crate::app::theme::{self, Palette, size};

/// All cases; the first wrong one is open, or the first one.
pub fn compared_ui(ui: &mut Ui, cases: &[ComparedModel], failed: Option<usize>) {
    if cases.is_empty() {
        return;
    }
    let numbers: Option<Vec<(&ComparedModel, &ComparedNumbers)>> = cases
        .iter()
        .map(|case| match &case.content {
            ComparedContent::Numbers(numbers) => Some((case, numbers)),
            _ => None,
        })
        .collect();
    if let Some(numbers) = numbers {
        return grid_ui(ui, &numbers);
    }
    if let [case] = cases {
        return content_ui(ui, case);
    }
    let open = failed.unwrap_or(0);
    for (index, case) in cases.iter().enumerate() {
        let words = RichText::new(format!("{}  {}: {}", mark(case), case.name, case.summary())).size(size::SMALL);
        // Another wrong case is another list: the one that matters is open.
        CollapsingHeader::new(words)
            .id_salt((open, index))
            .default_open(index == open)
            .show_unindented(ui, |ui| content_ui(ui, case));
    }
}

fn mark(case: &ComparedModel) -> &'static str {
    if case.is_right { "✓" } else { "✗" }
}

fn grid_ui(ui: &mut Ui, cases: &[(&ComparedModel, &ComparedNumbers)]) {
    const COLUMN: f32 = 74.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let has_names = cases.len() > 1;
    let columns = (SIDES.len() + usize::from(has_names)) as f32;
    // In large type there is less room: then columns are as narrow as their words.
    let room = (ui.available_width() - (columns - 1.0) * ui.spacing().item_spacing.x) / columns;
    Grid::new(ui.id().with("grid")).min_col_width(COLUMN.min(room)).striped(false).show(ui, |ui| {
        if has_names {
            ui.label("");
        }
        for side in SIDES {
            ui.label(RichText::new(side).size(size::SMALL).color(palette.ink_faint));
        }
        ui.end_row();
        for (case, ComparedNumbers { yours, expected, difference }) in cases {
            if has_names {
                ui.label(RichText::new(&case.name).size(size::SMALL).color(palette.ink_soft));
            }
            for number in [yours, expected, difference] {
                ui.add(
                    Label::new(RichText::new(number).font(theme::mono(size::MONO)).color(palette.ink)).selectable(true),
                );
            }
            ui.end_row();
        }
    });
}

fn content_ui(ui: &mut Ui, case: &ComparedModel) {
    let palette = Palette::of(ui.visuals().dark_mode);
    match &case.content {
        ComparedContent::Numbers(numbers) => grid_ui(ui, &[(case, numbers)]),
        ComparedContent::Tables { table, .. } => table_of_code_ui(ui, table),
        ComparedContent::Apart { yours, expected, .. } => {
            for (side, output) in SIDES.into_iter().zip([yours, expected]) {
                ui.label(RichText::new(side).size(size::SMALL).color(palette.ink_faint));
                ui.push_id(side, |ui| output_ui(ui, output));
            }
        }
    }
}
