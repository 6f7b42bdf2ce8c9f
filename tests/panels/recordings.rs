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

fn shown(folder: &str, name: PanelName) -> PanelHarness<Shown> {
    let row = registry().into_iter().find(|row| PanelName::named(row.id.title()) == Some(name)).expect("a panel");
    PanelHarness::new(opened(folder), SIZE, Shown(row))
}

#[test]
fn maps_over_the_patches_of_a_layer_fit_beside_each_other() {
    for (folder, heads) in [("picture", 2), ("vit", 3)] {
        let mut panel = shown(folder, PanelName::Attention);
        let before = panel.query_all_by_label_contains("the patches that this one looks at").count();
        assert_eq!(before, 0, "{folder}: no patch is chosen");
        panel.view_mut().selection.choose_query(Some(3));
        panel.run_steps(2);
        let maps: Vec<_> = panel.query_all_by_label_contains("the patches that this one looks at").collect();
        assert_eq!(maps.len(), heads, "{folder}: those of one layer");
        let rects: Vec<_> = maps.iter().map(|map| map.rect()).collect();
        assert!(rects.iter().all(|rect| rect.max.x <= SIZE.x && rect.width() > 100.0), "{folder}: {rects:?}");
        let is_apart = |pair: &[egui::Rect]| !pair[0].intersects(pair[1]);
        assert!(rects.windows(2).all(is_apart), "{folder}: {rects:?}");
    }
}

#[test]
fn of_many_heads_the_step_offers_those_of_the_layer() {
    let mut panel = shown("t5", PanelName::Step);
    panel.view_mut().selection.choose_query(Some(1));
    panel.run_steps(2);
    let heads = |panel: &PanelHarness<Shown>| panel.query_all_by_label_contains("head ").count();
    // The three buttons, and the name of the chosen one.
    assert_eq!(heads(&panel), 4);
    panel.get_by_label("Layer 1, source, head 2").click();
    panel.run_steps(2);
    assert_eq!(panel.view().selection.head, 1);
    panel.view_mut().selection.choose_head(9);
    panel.run_steps(2);
    assert!(panel.query_by_label("Layer 1, source, head 2").is_none(), "another layer's");
    assert_eq!(heads(&panel), 4);
}
