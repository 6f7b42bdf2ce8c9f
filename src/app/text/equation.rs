//! Equations beside names, such as those of the reference, and the words of a glossary.

use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{Id, Ui};

use super::prose::{Prose, prose_ui};

/// An equation of LaTeX, set as in the text.
pub fn equation_ui(ui: &mut Ui, latex: &str) {
    words_ui(ui, &format!("${latex}$"));
}

/// Markdown with formulas, set as in the text.
pub fn words_ui(ui: &mut Ui, markdown: &str) {
    // Layouts are kept with the context: whoever shows an equation need not carry them.
    type Set = Arc<Mutex<Prose>>;
    let set = ui.data_mut(|data| data.get_temp_mut_or_default::<Set>(Id::new("equations")).clone());
    prose_ui(ui, markdown, &mut set.lock());
}
