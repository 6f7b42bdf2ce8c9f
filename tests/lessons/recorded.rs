//! Lessons about a recording: `model: Recording("run.safetensors")`.

use std::fs;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::check::claims::verify;
use attune_core::kernel::check::rehearse;
use attune_core::lesson::schema::CellKind;
use attune_core::lesson::{Lesson, LessonIssue, parse, read};
use attune_engine::code::budget::TIME_MAX;

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::recorded::{recording, tokens};
use crate::common::top::{at, text};

const LESSON: &str = "tests/fixtures/recordings/lesson.ron";

/// A lesson beside the recordings of the fixtures.
fn beside(lesson: &str) -> Result<Lesson, Vec<LessonIssue>> {
    parse(&at(LESSON).display().to_string(), lesson)
}

fn lesson() -> Lesson {
    beside(&text(LESSON)).unwrap_or_else(|issues| panic!("{issues:#?}"))
}

/// The one issue of the lesson with a change, without its place.
#[track_caller]
fn issue(from: &str, to: &str) -> String {
    let written = text(LESSON);
    assert!(written.contains(from), "{from}");
    let issues = beside(&written.replacen(from, to, 1)).expect_err("an issue");
    assert_eq!(issues.len(), 1, "{issues:#?}");
    issues[0].to_string().rsplit_once("lesson.ron:").expect("its file").1.to_owned()
}

#[test]
fn a_lesson_about_a_recording_has_its_texts_and_claims_about_them() {
    let lesson = lesson();
    assert_eq!((lesson.title.as_str(), lesson.minutes, lesson.cells.len()), ("What a model did", Some(5), 7));
    assert_eq!(lesson.sentences, [["the bank of the river saw the bank."]]);
    let snapshot = Kernel::embedded(Arc::new(lesson)).snapshot();
    let verdicts = verify(&snapshot).expect("a model");
    assert!(verdicts.iter().all(|verdict| verdict.holds()), "{verdicts:?}");
    let weight = snapshot.model.expect("a model").sentence.activations.blocks[0].heads[0].weights.get(2, 9);
    assert_close("the weight", verdicts[0].value, weight, Tolerance::SINGLE_BITS);
}

#[test]
fn the_cells_of_a_lesson_about_a_recording_run_and_its_solution_is_right() {
    let problems = rehearse(&mut Kernel::embedded(Arc::new(lesson())), TIME_MAX);
    assert!(problems.is_empty(), "{:#?}", problems.iter().map(|problem| &problem.words).collect::<Vec<_>>());
}

#[test]
fn a_claim_about_a_recording_is_measured_on_the_text_that_it_names() {
    let claim = |sentence: usize| {
        format!(
            r#"Claim(id: "c{sentence}", says: "A", fact: Weight(sentence: {sentence}, head: 0, query: 2, key: 3), expect: AtLeast(0)),"#
        )
    };
    let claims: String = (0..3).map(claim).collect();
    let written = format!(
        r#"Lesson(id: "a", title: "A", seed: 1, model: Recording("senses/run.safetensors"), claims: [{claims}])"#
    );
    let lesson = beside(&written).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let verdicts = verify(&Kernel::embedded(Arc::new(lesson)).snapshot()).expect("a model");
    let values: Vec<f64> = verdicts.iter().map(|verdict| verdict.value).collect();
    assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{values:?}");
    assert!(values[0] != values[1] && values[1] != values[2], "{values:?}");
}

#[test]
fn what_a_recording_cannot_do_is_an_issue() {
    let path = "bert/run.safetensors";
    for outside in ["../recordings/bert/run.safetensors", "/etc/hostname", ""] {
        assert!(issue(path, outside).contains("is not the name of a file beside the lesson"), "{outside}");
    }
    assert!(issue(path, "none.safetensors").contains("model: found "));
    assert!(issue(path, "hostile/negative.safetensors").contains("model: `attentions.0`: found -0.5"));
    assert!(issue("panels:", "sentences: [\"the bank\"], panels:").contains("a recording holds its own texts"));
    assert!(issue("panels:", "groups: {}, panels:").contains("no groups"));
    assert!(issue("words: [\"bank\"]", "words: [\"money\"]").contains("is not a token of the recording"));
    for bind in ["temperature", "mask", "W_Q[0, 1]"] {
        let said = issue("bind: \"time\"", &format!("bind: \"{bind}\""));
        assert!(said.contains("would change the pass, but a recording holds one pass, not the model"), "{said}");
    }
    let weight = "Weight(sentence: 0, head: 0, query: 2, key: 9)";
    for fact in ["ContributionError", "FinalLoss"] {
        assert!(issue(weight, fact).contains("asks a model, but a recording holds one pass"), "{fact}");
    }
    assert!(issue("head: 0, query: 2", "head: 9, query: 2").contains("0 to 8"));
}

#[test]
fn the_notebook_of_a_recording_has_its_name_and_its_size() {
    let folder = Folder::new("named-recording");
    let (own, source) = (tokens(2), tokens(3));
    let entries = [("tokens", &own[..]), ("source_tokens", &source), ("model", "my_run_2 *of* _today_")];
    let path = recording(&folder, &entries, &[("cross_attentions.0", &[4, 2, 3], 1.0 / 3.0)]);
    let lesson = read(&path).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let CellKind::Text { markdown } = &lesson.cells[0].kind else { panic!("{:?}", lesson.cells[0]) };
    let about = "A recording of 2 tokens and 3 of the source: 1 attention with 4 heads in all.";
    assert_eq!(&**markdown, format!("# my_run_2  of   today \n\n{about}"));
}

#[test]
fn a_claim_about_vectors_needs_hidden_states() {
    let folder = Folder::new("recorded-lesson");
    fs::copy(at("tests/fixtures/recordings/attention-only/run.safetensors"), folder.join("run.safetensors"))
        .expect("a file");
    let lesson = r#"Lesson(id: "a", title: "A", seed: 1, model: Recording("run.safetensors"), claims: [
        Claim(id: "b", says: "B", fact: LayerCosine(sentence: 0, token: 0, other_sentence: 0, other_token: 1, layer: 1), expect: AtMost(1)),
    ])"#;
    let issues = parse(&folder.file("lesson.ron"), lesson).expect_err("an issue");
    assert!(issues[0].to_string().contains("LayerCosine needs hidden states, which were not recorded"), "{issues:#?}");
}

#[test]
fn a_list_has_at_most_the_entries_that_its_refusal_names() {
    const MOST: usize = 1 << 19;
    let (folder, few) = (Folder::new("long-list"), tokens(2));
    for entries in [MOST, MOST + 1] {
        let zeros = format!("[{}0]", "0,".repeat(entries - 1));
        let run = recording(&folder, &[("tokens", &few), ("special", &zeros)], &[("attentions.0", &[1, 2, 2], 0.5)]);
        let said = read(&run).err().map(|issues| issues[0].to_string());
        let is_refused = said.as_ref().is_some_and(|said| said.contains(&format!("more than {MOST} entries")));
        assert_eq!(said.is_some(), entries > MOST, "{said:?}");
        assert_eq!(is_refused, entries > MOST, "{said:?}");
    }
}
