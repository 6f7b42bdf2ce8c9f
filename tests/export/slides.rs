//! Slides as a file: those of the window's presentation, in its order, with the model beside them.

use attune_core::kernel::{Kernel, Snapshot};
use attune_view::export::{Pictures, live_page};
use attune_view::view_model::slides::{SlideContent, SlidesModel, Stop};
use serde_json::json;

use crate::common::chromium::ask;
use crate::web::{SIZE, TELEPHONE};
use crate::{APPLE_RUN, NOTEBOOK_RUN, text};

fn as_slides(snapshot: &Snapshot) -> String {
    text(|to| {
        live_page::write_slides(snapshot, None, &Pictures::default(), None, to).expect("it is written");
    })
}

#[test]
fn the_slides_are_those_of_the_presentation_in_its_order() {
    for snapshot in [&*APPLE_RUN, &*NOTEBOOK_RUN] {
        let page = as_slides(snapshot);
        let slides = SlidesModel::of(snapshot).0;
        let sections: Vec<&str> = page.split("<section class=\"cell ").skip(1).collect();
        assert_eq!(sections.len(), slides.len(), "each slide is a section");
        let mut walked = Vec::new();
        for (slide, section) in slides.iter().zip(&sections) {
            let (tag, _) = section.split_once('>').expect("a tag");
            let stage = slide.stage.as_ref().map(|stage| format!("data-stage=\"cell-{stage}\""));
            assert!(stage.is_none_or(|stage| tag.contains(&stage)), "{}: {tag}", slide.cell);
            let place = tag.split("data-walk=\"").nth(1).and_then(|rest| rest.split('"').next());
            walked.extend(place.map(|place| place.parse::<usize>().expect("a place")));
            let is_step = matches!(slide.shows, SlideContent::Walk(Stop::Step { .. }));
            assert_eq!(is_step, place.is_some(), "{}: {tag}", slide.cell);
            assert!(
                !is_step || section.contains("<math") || section.contains("data-walk=\"0\""),
                "an equation: {section}"
            );
        }
        assert!(walked.is_sorted() && walked.len() > 1, "the walk runs on: {walked:?}");
    }
}

#[test]
fn an_answer_a_hint_and_a_solution_come_after_their_question() {
    let page = as_slides(&APPLE_RUN);
    let sections: Vec<&str> = page.split("<section class=\"cell ").skip(1).collect();
    let first = sections.iter().position(|section| section.starts_with("of-prediction")).expect("a prediction");
    let [asked, answered] = [sections[first], sections[first + 1]];
    assert!(!asked.contains("the model&#39;s answer") && !asked.contains("the model's answer"), "{asked}");
    assert!(answered.contains("class=\"right\"") && answered.contains("data-answers="), "{answered}");
    let exercise = sections.iter().position(|section| section.starts_with("of-exercise")).expect("an exercise");
    assert!(!sections[exercise].contains("Hint 1") && sections[exercise + 1].contains("Hint 1"));
    let solved = sections.iter().find(|section| section.contains("A solution")).expect("a solution");
    assert!(solved.contains("class=\"code\""), "{solved}");
}

/// The number of the slide, how many are seen, the cell on the stage, and where its time line stands after a while.
const TURNS: &str = r"
    // Without motion, because the browser's clock leaps over frames.
    Object.defineProperty(window.MediaQueryList.prototype, 'matches', { get: () => true });
    const press = async (key) => {
        document.body.dispatchEvent(new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        await new Promise((done) => setTimeout(done, 3000));
        const seen = [...document.querySelectorAll('.slide')].filter((slide) => slide.getClientRects().length > 0);
        const [line, place] = ['time-line', 'slide-place'].map((id) => document.getElementById(id).value);
        return [place, seen.length, window.location.hash, seen[0].dataset.walk === undefined ? null : Number(line) - Number(seen[0].dataset.walk)];
    };
    const answers = [];
    for (const key of ['', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'ArrowRight', 'Home', 'ArrowLeft']) answers.push(await press(key));
    const walk = [...document.querySelectorAll('.slide')].findIndex((slide) => slide.dataset.walk === '5');
    window.location.hash = `#slide=${walk + 1}`;
    answers.push(await press(''));
    return answers;";

#[test]
fn keys_turn_the_slides_and_the_stage_walks_along() {
    let page = as_slides(&APPLE_RUN);
    let slides = SlidesModel::of(&APPLE_RUN).0;
    let count = slides.len();
    let walk = slides.iter().position(|slide| matches!(slide.shows, SlideContent::Walk(_))).expect("a walk") + 5;
    for size in [SIZE, TELEPHONE] {
        let Some(answers) = ask(&[("s.html", &page)], &["s.html".to_owned()], TURNS, size) else { return };
        let turned = answers[0].as_array().unwrap_or_else(|| panic!("{answers:?}"));
        let places = [1, 2, 3, 2, count, count, 1, 1, walk + 1];
        assert_eq!(turned.len(), places.len(), "{answers:?}");
        for (found, place) in turned.iter().zip(places) {
            assert_eq!(found[0], format!("{place} / {count}"), "{answers:?}");
            assert_eq!((&found[1], &found[2]), (&json!(1), &json!(format!("#slide={place}"))), "{answers:?}");
            assert!(found[3].is_null() || found[3] == json!(0.0) || found[3] == json!(0), "{answers:?}");
        }
        assert!(!turned[8][3].is_null(), "a stop of the walk: {answers:?}");
    }
}

#[test]
fn slides_without_a_model_say_so_and_run_nothing() {
    let untrained = Kernel::new(NOTEBOOK_RUN.lesson.clone()).snapshot();
    let page = as_slides(&untrained);
    assert!(page.contains("but not the model") && !page.contains("<script"), "{page:.600}");
}
