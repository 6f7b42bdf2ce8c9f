//! Every panel, cell, menu and dialogue, drawn at every size of the window, down to none.

use std::path::Path;

use attune::app::actions::{Action, ActionTable, NotebookAction, Pressed, WindowAction};
use attune::app::panels::{PanelId, ids};
use attune::app::shell::dialogs::parts;
use attune::app::stage::state::StageState;
use attune::app::ui_state::ViewState;
use attune::app::ui_state::walk::STEPS;
use attune::app::workspace::WorkspaceState;
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_view::view_model::saved_view::{MeaningView, PanelLayout, SavedView};
use egui::{Event, Pos2, Vec2, vec2};

use crate::home;
use crate::keys::{Bench, SIZE};

/// Sizes of the window, in points: as small as none, narrow, flat, and those of screens.
const SIZES: [Vec2; 14] = [
    vec2(1.0, 1.0),
    vec2(3.0, 700.0),
    vec2(1200.0, 3.0),
    vec2(17.0, 17.0),
    vec2(40.0, 500.0),
    vec2(500.0, 40.0),
    vec2(130.0, 90.0),
    vec2(260.0, 200.0),
    vec2(400.0, 300.0),
    vec2(640.0, 360.0),
    vec2(900.0, 600.0),
    vec2(1280.0, 720.0),
    vec2(1920.0, 1080.0),
    vec2(2560.0, 1440.0),
];
/// Shares of the window that a region of the dock has.
const SHARES: [f32; 4] = [0.01, 0.12, 0.4, 0.95];

impl Bench {
    /// Draws two frames at every size, with the pointer in the middle: `what` is named where one of them fails.
    fn draw_at_every_size(&mut self, what: &str) {
        for size in SIZES {
            println!("{what} at {size}");
            self.size = size;
            self.frame(vec![Event::PointerMoved(Pos2::ZERO + size / 2.0)]);
            self.frame(Vec::new());
        }
        self.size = SIZE;
        self.frame(Vec::new());
    }

    /// Closes every dialogue, menu and page.
    pub fn close_all(&mut self) {
        *self.state() = Default::default();
        self.world.resource_mut::<WorkspaceState>().0.checkpoints = None;
        self.ask(Action::Back);
        egui::Popup::close_all(&self.ctx);
        self.view().trail.close();
        self.ctx.memory_mut(|memory| memory.stop_text_input());
        self.frame(Vec::new());
    }

    pub fn lay_out(&mut self, saved: SavedView) {
        self.world.resource_scope(|world, mut view: bevy::prelude::Mut<ViewState>| {
            world.resource_mut::<WorkspaceState>().0.restore(&saved, &mut view);
        });
        self.frame(Vec::new());
    }
}

#[test]
fn the_key_sheet_is_as_wide_as_the_window_allows() {
    let mut bench = Bench::open("sizes-keys");
    bench.state().is_key_sheet_open = true;
    let meanings: Vec<&str> = parts().into_iter().flat_map(|(_, lines)| lines).map(|line| line.meaning).collect();
    for size in [(640.0, 400.0), (900.0, 600.0), (1024.0, 768.0), (1280.0, 720.0), (1920.0, 1080.0), (2560.0, 1440.0)] {
        bench.size = size.into();
        bench.rest();
        let lines: Vec<_> = bench
            .told()
            .filter(|(_, node)| node.label().or(node.value()).is_some_and(|words| meanings.contains(&words)))
            .filter_map(|(_, node)| node.bounds())
            .collect();
        assert!(lines.len() >= meanings.len(), "{size:?}: {} lines of {}", lines.len(), meanings.len());
        for line in lines {
            assert!(line.x0 >= 0.0 && line.x1 <= f64::from(bench.size.x), "{size:?}: {line:?}");
        }
    }
}

/// A panel in each region of the dock: beside, above and below all others.
fn regions(panel: PanelId) -> impl Iterator<Item = PanelLayout> {
    let tabs = |panels: Vec<PanelId>| {
        let panels = panels.into_iter().map(|panel| panel.title().to_owned()).collect();
        PanelLayout::Tabs { panels, front: 0 }
    };
    let places = [(true, true), (true, false), (false, true), (false, false)];
    SHARES.into_iter().flat_map(move |share| {
        places.into_iter().map(move |(is_beside, is_first)| {
            let others = ids().iter().copied().filter(|other| *other != panel).collect();
            let (own, others) = (tabs(vec![panel]), tabs(others));
            let (share, parts) = if is_first { (share, (own, others)) } else { (1.0 - share, (others, own)) };
            PanelLayout::Split { is_beside, share, parts: Box::new(parts) }
        })
    })
}

/// Every panel in every region, in each of its views.
fn draw_panels(bench: &mut Bench) {
    let meanings = [MeaningView::Neighbours, MeaningView::Sentences, MeaningView::Senses, MeaningView::Models];
    for panel in ids() {
        for (which, layout) in regions(*panel).enumerate() {
            bench.lay_out(SavedView {
                layout: Some(layout),
                is_laid_out_by_hand: true,
                step_as_matrices: which % 2 == 1,
                attention_as_lines: which % 2 == 1,
                meaning: Some(meanings[which % meanings.len()]),
                query: Some(1),
                ..SavedView::default()
            });
            bench.draw_at_every_size(&format!("{} in region {which}", panel.title()));
        }
    }
}

#[test]
fn every_panel_of_a_lesson_draws_at_every_size_in_every_region() {
    let mut bench = Bench::open("sizes-lesson");
    bench.send(Command::Sentence(SentenceCommand::SetSecond(Some("the seal sank".to_owned()))));
    draw_panels(&mut bench);
}

#[test]
fn every_panel_of_a_real_model_draws_at_every_size_in_every_region() {
    draw_panels(&mut Bench::of_model("sizes-model"));
}

#[test]
fn every_panel_of_the_main_lesson_opens_at_every_size() {
    let (folder, home) = home("sizes-apple");
    let lesson = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/apple.ron");
    let mut bench = Bench::over(&lesson, (folder, home));
    bench.until("a model", |bench| bench.snapshot().model.is_some());
    for which in 0..ids().len() {
        // A panel opens while a column slides in: each frame has another width.
        for size in SIZES {
            println!("{} opens at {size}", ids()[which].title());
            bench.size = size;
            for _ in 0..2 {
                bench.ask(Action::Row(Pressed { which, ..Pressed::once(WindowAction::TogglePanel) }));
            }
        }
        bench.size = SIZE;
        bench.show_panel(which);
        bench.draw_at_every_size(ids()[which].title());
    }
}

#[test]
fn every_cell_draws_at_every_size() {
    let mut bench = Bench::open("sizes-cells");
    for id in bench.ids() {
        bench.select(&id);
        bench.press(NotebookAction::Run.row().keys[0]);
        bench.draw_at_every_size(&format!("cell {id}"));
    }
}

#[test]
fn every_menu_and_dialogue_draws_at_every_size() {
    let mut bench = Bench::open("sizes-windows");
    let opened = WindowAction::ROWS.iter().map(|(action, _)| *action);
    // What closes or changes something has nothing to draw.
    for action in opened.filter(|action| !matches!(action, WindowAction::ResetLesson)) {
        bench.ask(action);
        bench.draw_at_every_size(&format!("{action:?}"));
        bench.close_all();
    }
}

/// The line is there at each step that comes to something, above the time line, and another one at the next.
#[test]
fn the_stage_tells_the_result_of_what_it_shows_at_every_step_and_size() {
    let mut bench = Bench::open("result");
    for size in [vec2(900.0, 600.0), vec2(1280.0, 720.0), vec2(2560.0, 1440.0)] {
        bench.size = size;
        let mut told = Vec::new();
        for place in 0..STEPS {
            bench.view().walk.set(place as f32);
            bench.rest();
            let walk = bench.view().walk.clone();
            let result = bench.world.resource::<StageState>().result(&walk).map(str::to_owned);
            let Some(result) = result else { continue };
            let at = |name: &str| bench.named().find(|(found, _)| found.starts_with(name)).map(|(_, at)| at);
            let (line, track) = (at(&result).unwrap_or_else(|| panic!("{result:?} at {size}")), at("Walk: "));
            assert!(track.is_some_and(|track| line.y < track.y), "{result:?} at {size}");
            told.push(result);
        }
        told.dedup();
        assert!(told.len() >= STEPS - 1, "{told:?}");
    }
}
