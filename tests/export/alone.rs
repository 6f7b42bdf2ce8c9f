//! A single cell of a page for a frame of another page, and the picture above the text on a telephone.

use serde_json::json;

use crate::common::chromium::ask;
use crate::web::{SIZE, TELEPHONE, as_web};
use crate::{APPLE_RUN, NOTEBOOK_RUN};

/// What is seen of a page: the sections, the model, and what is not folded of it; and where its link to the whole page
/// leads.
const SEEN: &str = r"
    const isSeen = (found) => found && found.getClientRects().length > 0;
    const ids = [...document.querySelectorAll('main > section')].filter(isSeen).map(({ id }) => id);
    const whole = document.querySelector('.from a');
    const { top, height } = document.getElementById('lab').getBoundingClientRect();
    return {
        cells: ids.length > 1 ? 'all' : ids[0],
        around: [...document.querySelectorAll('nav, footer, .way')].filter(isSeen).length > 0,
        parts: ['#lab', '#lab-stage', '#time-line', '#panel-attention'].filter((part) => isSeen(document.querySelector(part))),
        whole: whole && whole.getAttribute('href').split('/').pop(),
        opens: whole && whole.target,
        wrong: (document.querySelector('main > .wrong') || {}).textContent || null,
        share: height / window.innerHeight,
        top,
    };";

#[test]
fn one_cell_stands_alone_with_the_stage_if_it_needs_it() {
    let [apple, notebook] = [&*APPLE_RUN, &*NOTEBOOK_RUN].map(as_web);
    let pages = [("apple.html", &*apple), ("notebook.html", &*notebook)];
    let stage = ["#lab", "#lab-stage", "#time-line"];
    // The page, its cell, and what is seen of the model.
    let cases: [(&str, &str, &[&str]); 5] = [
        ("apple.html", "opening", &stage),
        ("apple.html", "blindfold", &stage),
        ("notebook.html", "sharp", &stage),
        ("apple.html", "intro", &[]),
        ("apple.html", "share", &[]),
    ];
    let addresses: Vec<String> = cases.iter().map(|(page, cell, _)| format!("{page}?cell={cell}")).collect();
    let Some(answers) = ask(&pages, &addresses, SEEN, SIZE) else { return };
    for ((page, cell, parts), seen) in cases.iter().zip(&answers) {
        assert_eq!(seen["cells"], format!("cell-{cell}"), "{seen}");
        assert_eq!((&seen["parts"], &seen["around"]), (&json!(parts), &json!(false)), "{cell}");
        assert_eq!((&seen["whole"], &seen["opens"]), (&json!(format!("{page}#cell-{cell}")), &json!("_top")));
    }
}

#[test]
fn a_cell_that_is_not_there_leaves_the_whole_page_and_is_named() {
    let page = as_web(&APPLE_RUN);
    let addresses = ["", "?cell=gone", "?cell=%3Cb%3E"].map(|way| format!("apple.html{way}"));
    let Some(answers) = ask(&[("apple.html", &page)], &addresses, SEEN, SIZE) else { return };
    for (seen, named) in answers.iter().zip([None, Some("“gone”"), Some("“<b>”")]) {
        assert_eq!((&seen["cells"], &seen["whole"]), (&json!("all"), &json!(null)), "{seen}");
        let wrong = seen["wrong"].as_str();
        assert!(
            wrong.is_some() == named.is_some()
                && named.is_none_or(|name| wrong.is_some_and(|wrong| wrong.contains(name)))
        );
    }
}

#[test]
fn on_a_telephone_the_picture_takes_a_third_of_the_height_and_the_contents_are_folded() {
    let [apple, notebook] = [&*APPLE_RUN, &*NOTEBOOK_RUN].map(as_web);
    let addresses = ["apple.html", "notebook.html"].map(str::to_owned);
    let pages = [("apple.html", &*apple), ("notebook.html", &*notebook)];
    let Some(answers) = ask(&pages, &addresses, SEEN, TELEPHONE) else { return };
    for (page, seen) in addresses.iter().zip(&answers) {
        assert_eq!(seen["parts"], json!(["#lab", "#lab-stage"]), "{page}: {seen}");
        assert!(seen["share"].as_f64().is_some_and(|share| share > 0.25 && share < 0.36), "{page}: {seen}");
    }
    assert!(apple.contains("<nav aria-label=\"Outline\"><details><summary>"), "the contents push nothing down");
    let scroll = format!("window.scrollTo(0, 2000); await new Promise((done) => setTimeout(done, 500)); {SEEN}");
    let Some(answers) = ask(&pages, &addresses, &scroll, TELEPHONE) else { return };
    assert!(answers.iter().all(|seen| seen["top"] == 0.0), "it stays in sight: {answers:?}");
}

#[test]
fn what_was_folded_away_is_up_to_date_when_it_is_unfolded() {
    const TITLES: &str = "const fold = document.getElementById('lab-fold');
        const words = [...document.querySelectorAll('#lab-sentence button')];
        const title = () => document.querySelector('#panel-number h3').textContent;
        fold.click();
        const open = words.map((word) => { word.click(); return title(); });
        const folded = words.map((word) => { fold.click(); word.click(); fold.click(); return title(); });
        return { open, folded };";
    let page = as_web(&NOTEBOOK_RUN);
    let address = "notebook.html#tab=number".to_owned();
    let Some(answers) = ask(&[("notebook.html", &page)], &[address], TITLES, TELEPHONE) else { return };
    let [open, folded] = ["open", "folded"].map(|way| answers[0][way].as_array().expect("titles"));
    assert!(open.len() > 1 && open[0] != open[1], "every word has a title of its own: {open:?}");
    assert_eq!(folded, open);
}

#[test]
fn a_page_that_becomes_wide_unfolds_because_it_has_no_button_then() {
    const WIDENED: &str = "const isFolded = () => document.getElementById('lab').classList.contains('folded');
        const before = isFolded();
        window.frameElement.width = 1280;
        window.frameElement.getBoundingClientRect();
        await new Promise((rest) => window.setTimeout(rest, 500));
        return [before, isFolded()];";
    let page = as_web(&NOTEBOOK_RUN);
    let Some(answers) = ask(&[("notebook.html", &page)], &["notebook.html".to_owned()], WIDENED, TELEPHONE) else {
        return;
    };
    assert_eq!(answers, [json!([true, false])]);
}

/// The groups that the stage shows as glows, and the group that each token reaches.
#[test]
fn the_stage_of_a_page_has_glows_and_words_take_the_hue_of_the_group_that_they_reach() {
    const DRAWN: &str = "const { canvas, tokens } = JSON.parse(document.querySelector('#lab-numbers pre').textContent);
        return { glows: canvas.glows, reached: tokens.map((token, i) => [token, canvas.reached[i]]).filter(([, group]) => group !== null) };";
    let page = as_web(&APPLE_RUN);
    let Some(answers) = ask(&[("apple.html", &page)], &["apple.html#numbers".to_owned()], DRAWN, SIZE) else { return };
    let groups: Vec<&str> = APPLE_RUN.lesson.groups.iter().map(|group| group.name.as_str()).collect();
    let place = |name: &str| groups.iter().position(|group| *group == name).expect("a group");
    let reached = json!([["apple₁", place("company")], ["apple₂", place("fruit")]]);
    assert_eq!(answers[0], json!({ "glows": groups, "reached": reached }));
}
