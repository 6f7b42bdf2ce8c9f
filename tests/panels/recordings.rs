//! Every panel over every recorded fixture: it is drawn, or says what it needs.

use std::sync::Arc;

use attune::app::panels::{Panel, PanelContext, PanelName, Registered, registry, shown_ui};
use attune_core::kernel::Kernel;
use attune_core::lesson::read;
use attune_view::view_model::needs::needs;
use egui::{Ui, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::top::at;
use crate::live::PanelHarness;

const FOLDERS: [&str; 10] =
    ["attention-only", "bert", "llama-gqa", "picture", "senses", "sinks", "t5", "vit", "with-proof", "wrong-proof"];
/// As a panel is in a window of 1280 by 720.
const SIZE: Vec2 = Vec2::new(360.0, 640.0);

/// A panel as the window draws it.
struct Shown(Registered);

impl Panel for Shown {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        shown_ui(&mut *self.0.panel, self.0.id, ui, cx)
    }
}

fn opened(folder: &str) -> Kernel {
    let lesson = read(&at("tests/fixtures/recordings").join(folder).join("run.safetensors")).expect("a recording");
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    kernel.settle();
    kernel
}

#[test]
fn every_panel_of_a_recording_is_drawn_or_says_what_it_needs() {
    for folder in FOLDERS {
        for row in registry() {
            let (kernel, id) = (opened(folder), row.id);
            let name = PanelName::named(id.title()).expect("a panel's title");
            let lacks = needs(name, &kernel.snapshot()).filter(|_| name != PanelName::Stage);
            let mut panel = PanelHarness::new(kernel, SIZE, Shown(row));
            panel.run_steps(2);
            if let Some(needs) = lacks {
                assert!(panel.query_by_label(needs.words()).is_some(), "{folder}, {}", id.title());
            }
        }
    }
}
