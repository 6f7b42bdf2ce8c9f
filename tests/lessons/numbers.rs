//! Numbers in the course's texts are the model's own, in `{{ }}`, and follow every change; `minutes` follow the texts.

use std::collections::BTreeSet;

use attune_core::lesson::cells::CellKind;
use attune_core::lesson::live_text::LessonText;
use attune_core::lesson::{Lesson, course};
use pulldown_cmark::{Event, Tag, TagEnd};

use crate::common::lessons::of_file;
use crate::common::top::at;

/// Decimals that a text may have by hand, lesson by lesson, each with its reason. Others are the model's.
const BY_HAND: &[(&str, &[&str], &str)] = &[
    ("apple", &["0.8"], "the share in the sentences, which the lesson's corpus sets"),
    ("block", &["0.5"], "the bound of a task"),
    ("dot_product", &["1.1503", "1.3771", "1.6487", "1.1735", "1.1855", "6.5351"], "as published, with their slips"),
    ("dot_product", &["0.1761", "0.2107", "0.2522", "0.1796", "0.1814"], "as published, with their slips"),
    ("dot_product", &["0.40505", "0.41471", "0.51435"], "as published, with their slips"),
    ("dot_product", &["0.9"], "the largest entry, which a question names"),
    ("gradient", &["0.1", "0.5"], "the learning rate that a task sets, and a given vector"),
    ("gradient", &["0.2", "0.3"], "scores of a row that a note makes up"),
    ("encoder", &["0.71", "0.55"], "means over further sentences, which no cell runs"),
    ("encoder", &["0.0"], "a number that a cell prints for two equal answers"),
    ("idiom", &["0.7"], "a bound that holds for eight seeds"),
    ("induction", &["1.8"], "the loss at a step of training, where the text says so"),
    ("induction", &["2.3"], "the bound of a prediction"),
    ("it", &["0.1", "0.0", "0.2", "0.3", "0.6", "0.5", "0.4", "0.7", "0.9", "0.8"], "keys and values made by hand"),
    ("it", &["0.05", "0.60", "0.02", "0.03", "0.20", "0.08"], "as published, drawn and not computed"),
    ("it", &["0.70", "1.01", "0.598", "0.518", "0.432"], "as published, drawn and not computed"),
    ("it", &["0.601", "0.519", "0.433", "1.22"], "computed from keys and values made by hand: no tensor of the model"),
    ("order", &["6.28"], "a whole turn in radians"),
    ("qkv", &["0.32", "0.59", "0.86", "0.62", "0.71", "0.88", "0.74", "0.67"], "as published, with their slips"),
    ("scaling", &["1.2669", "0.9999"], "as published, and impossible"),
    ("scaling", &["1.5"], "an entry of a case that the check makes up"),
    ("the_transformer", &["1706.03762", "2207.09238"], "numbers of papers"),
    ("writer", &["0.47", "0.35"], "shares of the command that stands beside them"),
    ("writer", &["6.5"], "a mean over stories, from docs/real-models.md"),
    ("words", &["0.51820", "0.19545"], "a step of word2vec on paper: no tensor of the model"),
];

fn course() -> Vec<Lesson> {
    let files = course::list(&at("lessons"));
    let mut lessons: Vec<Lesson> = files.iter().map(|file| of_file(&file.path)).collect();
    lessons.sort_by_key(|lesson| lesson.number);
    lessons
}

/// What a text says outside of expressions, code, formulas and addresses.
fn prose(text: &LessonText) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for event in text.events() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(words) if !is_code => found.push(words.into_string()),
            _ => {}
        }
    }
    found
}

/// Decimal numbers in the prose of a text.
fn decimals(text: &LessonText) -> Vec<String> {
    let words = prose(text).join("\n");
    let numbers = words.split(|c: char| !c.is_ascii_digit() && c != '.').map(|number| number.trim_matches('.'));
    numbers.filter(|number| number.contains('.')).map(str::to_owned).collect()
}

#[test]
fn numbers_of_the_model_are_live() {
    let mut used = BTreeSet::new();
    let mut typed = Vec::new();
    for lesson in course() {
        for cell in &lesson.cells {
            for number in cell.kind.markdown().flat_map(decimals) {
                let by_hand =
                    |(id, numbers, _): &(&str, &[&str], &str)| *id == lesson.id && numbers.contains(&&*number);
                match BY_HAND.iter().any(by_hand) {
                    true => _ = used.insert((lesson.id.clone(), number)),
                    false => typed.push(format!("{}, cell {:?}: {number}", lesson.id, cell.id)),
                }
            }
        }
    }
    assert!(typed.is_empty(), "typed by hand, and not in {{{{ }}}}:\n{}", typed.join("\n"));
    let all = BY_HAND.iter().flat_map(|(id, numbers, _)| numbers.iter().map(|number| (*id, *number)));
    let idle: Vec<_> = all.filter(|(id, number)| !used.contains(&((*id).to_owned(), (*number).to_owned()))).collect();
    assert!(idle.is_empty(), "exceptions that no text needs: {idle:?}");
}

#[test]
fn decimals_are_found_in_sentences_alone() {
    let markdown = "It is 0.25, or {{ A[0] | .2 }}, `0.1`, $0.2$, [0.3](attune:time/0.5), *0.4*.\n\n    0.6\n";
    assert_eq!(decimals(&markdown.into()), ["0.25", "0.3", "0.4"]);
}

/// Words that a learner reads in a minute, and minutes for a prediction or an exercise, as in TEACHING.md.
const WORDS: usize = 150;
const TASK: usize = 3;

#[test]
fn minutes_are_those_of_the_words_and_the_tasks() {
    let mut wrong = Vec::new();
    for lesson in course() {
        let (mut words, mut tasks) = (0, 0);
        for cell in &lesson.cells {
            let read: Vec<&LessonText> = match &cell.kind {
                CellKind::Exercise(exercise) => vec![&exercise.ask],
                // Of the reasons, a learner reads one sentence.
                CellKind::Predict(predict) => vec![&predict.ask, &predict.explain],
                kind => kind.markdown().collect(),
            };
            words += read.into_iter().flat_map(prose).map(|text| text.split_whitespace().count()).sum::<usize>();
            tasks += usize::from(cell.kind.is_task());
        }
        let measured = (words + WORDS / 2) / WORDS + TASK * tasks;
        let minutes = lesson.minutes.expect("minutes");
        if minutes.abs_diff(measured) > 1 {
            wrong.push(format!("{}: {minutes} minutes; {words} words, {tasks} tasks: {measured}", lesson.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
