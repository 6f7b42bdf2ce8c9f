//! The comparisons that keys and buttons open, in the panel that shows them.

use attune::app::actions::WindowAction;
use attune::app::ui_state::ViewState;
use attune::app::workspace::WorkspaceState;
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use bevy::prelude::Mut;

use crate::keys::Bench;

#[test]
fn a_comparison_opens_what_it_names_in_every_state() {
    let mut bench = Bench::open("comparing");
    let shown = |bench: &mut Bench| {
        bench
            .world
            .resource_scope(|world, view: Mut<ViewState>| world.resource::<WorkspaceState>().0.saved(&view).meaning)
    };
    let second = |bench: &Bench| bench.snapshot().model.as_ref().is_some_and(|model| model.second.is_some());
    // A kept view that was not drawn yet, a panel behind another, and one that shows something else.
    let before: [fn(&mut Bench); 3] = [
        |bench| bench.lay_out(SavedView { meaning: Some(MeaningView::Neighbours), ..SavedView::default() }),
        |bench| bench.show_panel(6),
        |bench| {
            bench.show_panel(5);
            bench.lay_out(SavedView { meaning: Some(MeaningView::Models), ..SavedView::default() });
            bench.rest();
        },
    ];
    for prepare in before {
        for (action, view) in
            [(WindowAction::Compare, MeaningView::Sentences), (WindowAction::Senses, MeaningView::Senses)]
        {
            prepare(&mut bench);
            bench.ask(action);
            bench.until("the comparison", |bench| action == WindowAction::Senses || second(bench));
            bench.rest();
            assert_eq!(shown(&mut bench), Some(view), "{action:?}");
            // It ends while its panel is behind another one.
            bench.show_panel(6);
            bench.ask(action);
            bench.until("the end", |bench| action == WindowAction::Senses || !second(bench));
            bench.rest();
        }
    }
}
