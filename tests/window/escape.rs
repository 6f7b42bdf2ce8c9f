//! Esc, on the stage and on the sentence: one thing at a time, until the keyboard is given back.

use attune::app::actions::{ActionTable, SentenceAction, StageAction};
use attune::app::stage::canvas::stage_id;
use attune::app::stage::sentence::strip_id;
use egui::{Id, Pos2};

use crate::keys::Bench;

fn click_on(bench: &mut Bench, part: Id) {
    let area = bench.ctx.read_response(part).expect("it is shown").rect;
    // Where no word is.
    let at: Pos2 = if part == stage_id() {
        area.left_bottom() + egui::vec2(12.0, -12.0)
    } else {
        area.left_top() + egui::vec2(2.0, area.height() / 2.0)
    };
    bench.click_at(at);
    assert_eq!(bench.focused(), Some(part));
}

fn state(bench: &mut Bench) -> (bool, Option<usize>, bool) {
    bench.rest();
    let has_keyboard = bench.focused().is_some();
    let view = bench.view();
    (view.walk.is_walking(), view.selection.query, has_keyboard)
}

#[test]
fn esc_ends_the_walk_then_clears_the_choice_then_gives_the_keyboard_back() {
    let mut bench = Bench::open("escape-walk");
    for (part, key) in
        [(stage_id(), StageAction::Clear.row().keys[0]), (strip_id(), SentenceAction::LetGo.row().keys[0])]
    {
        for step in [1.0, 3.0, 7.0] {
            click_on(&mut bench, part);
            bench.view().walk.set(step);
            bench.view().selection.choose_query(Some(2));
            assert_eq!(state(&mut bench), (true, Some(2), true));
            bench.press(key);
            assert_eq!(state(&mut bench), (false, Some(2), true), "the walk has ended");
            assert_eq!(bench.view().walk.time(), 1.0);
            bench.press(key);
            assert_eq!(state(&mut bench), (false, None, true), "no word is chosen");
            bench.press(key);
            assert_eq!(state(&mut bench), (false, None, false), "the notebook has the keyboard");
        }
    }
}

#[test]
fn a_word_that_the_walk_chose_by_itself_is_no_step_of_its_own() {
    let mut bench = Bench::open("escape-default");
    for (part, key) in
        [(stage_id(), StageAction::Clear.row().keys[0]), (strip_id(), SentenceAction::LetGo.row().keys[0])]
    {
        click_on(&mut bench, part);
        bench.view().selection.choose_query(None);
        bench.view().walk.set(3.0);
        let (_, chosen, _) = state(&mut bench);
        assert!(chosen.is_some(), "the walk follows a word");
        bench.press(key);
        assert_eq!(state(&mut bench), (false, None, true));
        bench.press(key);
        assert_eq!(state(&mut bench), (false, None, false));
    }
}

#[test]
fn what_is_searched_or_isolated_is_shown_again_before_the_walk_ends() {
    let mut bench = Bench::open("escape-search");
    click_on(&mut bench, stage_id());
    bench.view().walk.set(3.0);
    bench.view().highlight.isolated = true;
    bench.press(StageAction::Clear.row().keys[0]);
    assert!(!bench.view().highlight.isolated && bench.view().walk.is_walking());
}
