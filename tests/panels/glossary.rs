//! Terms in a text and the window of the glossary, by label and without a window.
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use attune::app::actions::focus::Opened;
use attune::app::actions::{Action, WindowAction, keys};
use attune::app::shell::ui::{LessonKeys, lesson_keys};
use attune::app::text::prose::{Prose, prose_ui};
use attune::app::text::term_card::term_card_ui;
use attune::app::workspace::windows::{GlossaryUiState, glossary_window_ui};
use attune_core::lesson::course::{CourseFile, Heading};
use attune_core::lesson::glossary::parse;
use attune_view::view_model::glossary::GlossaryModel;
use egui::accesskit::Role;
use egui::{Key, Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::dressed::dressed;

const SIZE: Vec2 = vec2(900.0, 640.0);
const TERMS: &str = r#"
    Term(name: "query", also: ["queries"], symbols: ["q"], shape: "(T, d_k)", meaning: "What a word looks for.", lesson: "apple"),
    Term(name: "dot product", meaning: "Entry times entry, added up.", lesson: "words"),
"#;

fn model(more: &str) -> Arc<GlossaryModel> {
    let file = |id: &str, number| CourseFile {
        path: PathBuf::from(format!("lessons/{id}.ron")),
        heading: Ok(Heading {
            id: id.to_owned(),
            title: format!("On {id}"),
            summary: None,
            number: Some(number),
            minutes: None,
            builds_on: Vec::new(),
            chapter: None,
            tasks: 0,
            cells: Vec::new(),
        }),
    };
    let glossary = parse("g", &format!("Glossary([{TERMS}{more}])"), None).expect("no issues");
    Arc::new(GlossaryModel::of(glossary, &[file("words", 1), file("apple", 2)], Path::new("lessons/apple.ron")))
}

/// The learner's doings in a harness.
#[derive(Default)]
struct Done {
    asked: Option<usize>,
    action: Option<Action>,
}

/// A text above the glossary, as the notebook and the window have them.
fn bench(markdown: &'static str, glossary: Option<Arc<GlossaryModel>>) -> (Harness<'static>, Rc<RefCell<Done>>) {
    let done = Rc::new(RefCell::new(Done::default()));
    let inner = done.clone();
    let mut prose = Prose::default();
    prose.set_glossary(glossary, term_card_ui);
    let mut state = GlossaryUiState::default();
    let harness = dressed(SIZE, move |ui| {
        Opened { is_glossary_open: state.is_open, ..Opened::default() }.announce(ui.ctx());
        let keys = LessonKeys { has_notebook: true, ..LessonKeys::default() };
        for pressed in lesson_keys(ui.ctx(), &keys) {
            match pressed.action {
                WindowAction::Glossary if state.toggle() => keys::ask(ui.ctx(), keys::glossary_search()),
                WindowAction::CloseGlossary => state.is_open = false,
                _ => {}
            }
        }
        ui.set_max_width(340.0);
        prose_ui(ui, &markdown.into(), &mut prose);
        let mut done = inner.borrow_mut();
        if let Some(term) = prose.take_asked() {
            done.asked = Some(term);
            state.ask(term);
        }
        let action = glossary_window_ui(ui.ctx(), prose.glossary().map(|model| &**model), &mut state);
        done.action = done.action.take().or(action);
    });
    (harness, done)
}

#[test]
fn a_term_shows_its_card_and_opens_its_entry() {
    let (mut harness, done) =
        bench("# A query\n\nA query meets `query` by a *dot\nproduct*: queries.", Some(model("")));
    // Where it is first named it is for the keyboard, too.
    let links: Vec<String> =
        harness.get_all_by_role(Role::Link).filter_map(|node| node.accesskit_node().label()).collect();
    assert_eq!(links, ["query", "dot product"]);
    assert!(harness.query_by_label("First in this lesson").is_none());
    harness.get_by_role_and_label(Role::Link, "query").hover();
    harness.run_steps(8);
    harness.get_by_label("First in this lesson");
    harness.get_by_label("What a word looks for.");
    harness.get_by_label("(T, d_k)");
    harness.get_by_role_and_label(Role::Label, "queries").click();
    harness.run_steps(4);
    assert_eq!(done.borrow().asked, Some(0));
    harness.get_by_label("Search the terms");
    harness.get_by_label("Entry times entry, added up.");
}

#[test]
fn the_keyboard_finds_a_term_and_its_card() {
    let (mut harness, done) = bench("## Roles\n\nOne query and one more query.", Some(model("")));
    harness.key_press(Key::Tab);
    harness.run_steps(3);
    harness.get_by_label("First in this lesson");
    harness.key_press(Key::Enter);
    harness.run_steps(3);
    assert_eq!(done.borrow().asked, Some(0));
}

#[test]
fn a_term_that_no_lesson_introduces_says_so() {
    let more = r#"Term(name: "mix", meaning: "A sum of values."),"#;
    let (mut harness, _) = bench("## Roles\n\nOne mix.", Some(model(more)));
    harness.key_press(Key::Tab);
    harness.run_steps(3);
    harness.get_by_label("Used in several lessons");
}

#[test]
fn a_formula_that_is_a_symbol_opens_its_entry() {
    let (mut harness, done) = bench("$q$", Some(model("")));
    // Formulas stand at the beginning of the line.
    harness.hover_at(egui::pos2(12.0, 18.0));
    harness.run_steps(8);
    harness.get_by_label("First in this lesson");
    harness.drag_at(egui::pos2(12.0, 18.0));
    harness.drop_at(egui::pos2(12.0, 18.0));
    harness.run_steps(3);
    assert_eq!(done.borrow().asked, Some(0));
}

#[test]
fn without_a_glossary_texts_are_as_they_were() {
    let text = "# A query\n\nA query meets a **dot product**: queries $q$.";
    let height = |glossary| {
        let found = Rc::new(RefCell::new(0.0));
        let inner = found.clone();
        let mut prose = Prose::default();
        prose.set_glossary(glossary, term_card_ui);
        dressed(SIZE, move |ui| {
            let narrow = ui.scope(|ui| {
                ui.set_max_width(170.0);
                prose_ui(ui, &text.into(), &mut prose);
            });
            *inner.borrow_mut() = narrow.response.rect.height();
        });
        found.take()
    };
    let plain = height(None);
    assert!(plain > 40.0);
    assert_eq!(height(Some(model(""))), plain, "terms break no line elsewhere");
    let (harness, _) = bench(text, None);
    assert_eq!(harness.query_all_by_role(Role::Link).count(), 0);
}

#[test]
fn a_key_opens_the_glossary_and_another_closes_it() {
    let (mut harness, done) = bench("Words.", Some(model("")));
    harness.key_press(Key::G);
    harness.run_steps(3);
    harness.get_by_label("Search the terms").type_text("entry times");
    harness.run_steps(3);
    harness.get_by_label("Entry times entry, added up.");
    assert!(harness.query_by_label("What a word looks for.").is_none());
    harness.get_by_label("Open 1 · On words, where dot product begins").click();
    harness.run_steps(2);
    assert_eq!(done.borrow().action, Some(Action::open("lessons/words.ron")));
    harness.get_by_label("Search the terms").focus();
    harness.run_steps(2);
    harness.get_by_label("Search the terms").type_text(" and none");
    harness.run_steps(3);
    harness.get_by_label("There is no such term.");
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(harness.query_by_label("Search the terms").is_none());
}

#[test]
fn an_entry_far_below_comes_into_sight() {
    let more: String = (0..300)
        .map(|i| format!(r#"Term(name: "a{i:03}", meaning: "{}", lesson: "words"),"#, "long ".repeat(i % 60 + 1)))
        .collect();
    let (mut harness, _) = bench("## Roles\n\nOne query.", Some(model(&more)));
    harness.key_press(Key::G);
    harness.run_steps(3);
    assert!(harness.query_by_label("What a word looks for.").is_none(), "it stands behind 300 others");
    harness.get_by_role_and_label(Role::Link, "query").click();
    harness.run_steps(12);
    harness.get_by_label("What a word looks for.");
}

#[test]
fn a_folder_without_a_glossary_says_so() {
    let (mut harness, _) = bench("A query.", None);
    harness.key_press(Key::G);
    harness.run_steps(3);
    harness.get_by_label_contains("there is no file glossary.ron");
}
