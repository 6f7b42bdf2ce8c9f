//! The page of questions leads to the cells that answer them, and recall asks only what can be answered where it is
//! asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::{Cell, CellKind};
use attune_core::lesson::links::TextLink;
use attune_core::lesson::{course, live_text::LessonText};
use attune_engine::code::names;

use crate::common::lessons::{model, of_file};
use crate::common::top::at;

/// Words of which a question has at least one, with its answer and its link, if the link opens this step.
const OF_STEPS: [&[&str]; 8] = [
    &["apple", "position"],
    &["quer", "key", "reads the whole vector"],
    &["score", "dot product", "product", "order", "turned"],
    &["mask", "root", "padding", "padded"],
    &["softmax", "weight", "look", "attend", "distances", "head", "ask"],
    &["mixes"],
    &["sum of the arrows", "weight times its value", "added"],
    &["vector", "measure", "error", "alike", "middle"],
];

fn lessons() -> BTreeMap<String, Arc<Lesson>> {
    course::list(&at("lessons")).iter().map(|file| (file.id(), Arc::new(of_file(&file.path)))).collect()
}

/// The only link of a cell's texts.
fn link(cell: &Cell) -> Option<TextLink> {
    cell.kind.markdown().flat_map(LessonText::links).find_map(|link| TextLink::read(link)?.ok())
}

#[test]
fn each_of_the_fifty_questions_opens_its_cell_at_the_step_that_its_answer_speaks_of() {
    let lessons = lessons();
    let mut heads = BTreeMap::new();
    let mut stepped = 0;
    let questions = &lessons["questions"].cells[1..];
    for cell in questions {
        let Some(TextLink::Place { lesson, cell: to, at }) = link(cell) else { panic!("{} leads to no cell", cell.id) };
        assert!(lessons[&lesson].cells.iter().any(|cell| cell.id == to), "{}: {lesson} has no {to}", cell.id);
        let Some(at) = at else { continue };
        stepped += 1;
        let text = cell.kind.markdown().map(|text| text.to_lowercase()).collect::<String>();
        let words = OF_STEPS[at.step - 1];
        assert!(words.iter().any(|word| text.contains(word)), "{}: step {}, and none of {words:?}", cell.id, at.step);
        if let Some(head) = at.head {
            let of_lesson = heads
                .entry(lesson.clone())
                .or_insert_with(|| model(&Kernel::trained(lessons[&lesson].clone())).architecture.heads());
            assert!((1..=*of_lesson).contains(&head), "{}: {lesson} has {of_lesson} heads", cell.id);
        }
    }
    assert_eq!((questions.len(), stepped), (50, 42));
}

#[test]
fn recall_has_questions_on_each_lesson_that_need_no_model() {
    const OF_MODELS: [&str; 4] = ["forward(", "rate(", "vectors(", "neighbours("];
    let lessons = lessons();
    let mut asked = BTreeMap::new();
    for cell in &lessons["recall"].cells {
        let CellKind::Predict(predict) = &cell.kind else { continue };
        // Live tensors are named by capitals, and biases by a small letter.
        let is_live = |name: &String| name.starts_with(char::is_uppercase) || name.starts_with("b_");
        let live: Vec<String> = names(&predict.draws).expect("code").reads.into_iter().filter(is_live).collect();
        assert!(live.is_empty(), "{}: the numbers of a model: {live:?}", cell.id);
        for code in [&predict.draws, &predict.answer] {
            assert!(!OF_MODELS.iter().any(|name| code.contains(name)), "{}: {code}", cell.id);
        }
        let Some(TextLink::Lesson(lesson)) = link(cell) else { panic!("{} belongs to no lesson", cell.id) };
        *asked.entry(lesson).or_insert(0) += 1;
    }
    let numbered = lessons.values().filter(|lesson| lesson.number.is_some() && lesson.id != "test");
    let without: Vec<&str> = numbered.map(|lesson| &*lesson.id).filter(|id| !asked.contains_key(*id)).collect();
    assert_eq!(without, [""; 0]);
    assert!(asked["words"] >= 2, "the second lesson begins with two questions");
}
