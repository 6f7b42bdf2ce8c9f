//! Lessons about a pretrained model: `model: Pretrained("…")`.

use std::path::PathBuf;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::check::claims::verify;
use attune_core::lesson::{self, Lesson, LessonIssue};
use attune_engine::numerics::vectors::distance;

use crate::common::close::{Tolerance, assert_close, is_close};
use crate::common::folder::Folder;
use crate::opened::with_tokenizer;

/// A file among temporary folders.
fn file() -> PathBuf {
    std::env::temp_dir().join("lesson.ron")
}

/// A folder beside the file, as a lesson names it.
fn beside(folder: &Folder) -> String {
    format!("./{}", folder.0.file_name().expect("a name").display())
}

fn lesson_with(model: &str, rest: &str) -> String {
    format!(
        r#"Lesson(
            id: "writer", title: "A writer", seed: 3, minutes: 20,
            model: Pretrained("{model}"),
            sentences: ["the seal sank", "the apple fell"],
            {rest}
        )"#
    )
}

fn parsed(text: &str) -> Result<Lesson, Vec<LessonIssue>> {
    lesson::parse(&file().display().to_string(), text)
}

#[track_caller]
fn read(text: &str) -> Lesson {
    parsed(text).unwrap_or_else(|issues| panic!("{issues:#?}"))
}

/// The issues, each from its line on.
fn issues(text: &str) -> String {
    let of_file = format!("{}:", file().display());
    let all = parsed(text).expect_err("issues");
    all.iter().map(|issue| issue.to_string().replace(&of_file, "")).collect::<Vec<_>>().join("\n")
}

const PAGES: &str = r#"
    panels: ["Attention"],
    cells: [
        Text(id: "look", md: "The second layer: {{ W_Q_2[0, 0] | 3 }}, [head 2](attune:head/4)."),
        Code(id: "turn", src: "let shape = W_V_3; shape[0, 0]"),
        Slider(id: "weight", caption: "One weight", bind: "W_Q_2[0, 1]"),
    ],
    claims: [
        Claim(id: "moves", says: "words move", fact: TokenMove(sentence: 0, token: 1), expect: AtLeast(0.1)),
        Claim(id: "adds", says: "arrows add up", fact: ContributionError, expect: AtMost(1e-4)),
        Claim(id: "first", says: "the first piece sees itself", fact: Weight(sentence: 0, head: 0, query: 0, key: 0), expect: AtLeast(1)),
        Claim(id: "next", says: "a guess", fact: Says(sentence: "the seal", answer: "the"), expect: AtMost(1)),
        Claim(id: "behind-all", says: "the same", fact: Says(sentence: "the seal", answer: "the", layer: 3), expect: AtMost(1)),
        Claim(id: "behind-one", says: "another", fact: Says(sentence: "the seal", answer: "the", layer: 1), expect: AtMost(1)),
        Claim(id: "at-first", says: "one word at one place", fact: LayerCosine(sentence: 0, token: 0, other_sentence: 1, other_token: 0, layer: 0), expect: AtLeast(0.9999)),
        Claim(id: "at-last", says: "it sees itself alone", fact: LayerCosine(sentence: 0, token: 0, other_sentence: 1, other_token: 0, layer: 3), expect: AtLeast(0.9999)),
        Claim(id: "parted", says: "others do not", fact: LayerCosine(sentence: 0, token: 1, other_sentence: 1, other_token: 1, layer: 3), expect: AtMost(0.999)),
    ],
"#;

#[test]
fn a_lesson_about_a_model_has_pages_and_claims_of_its_own() {
    let folder = with_tokenizer("gpt2-wild");
    let lesson = read(&lesson_with(&beside(&folder), PAGES));
    assert_eq!((lesson.title.as_str(), lesson.minutes, lesson.cells.len()), ("A writer", Some(20), 3));
    assert_eq!(lesson.sentences, [["the seal sank"], ["the apple fell"]]);
    let snapshot = Kernel::embedded(Arc::new(lesson)).snapshot();
    let verdicts = verify(&snapshot).expect("a model");
    assert!(verdicts.iter().all(|verdict| verdict.holds()), "{verdicts:?}");

    let (space, sentence) = (snapshot.space.expect("vectors"), &snapshot.model.expect("a model").sentence);
    let row = sentence.tokens[1].word.expect("a piece");
    let of = |id: &str| verdicts.iter().find(|verdict| verdict.id == id).expect("a claim").value;
    let is_the_answer = |lens: &str| is_close(of(lens), of("next"), Tolerance::SINGLE);
    assert_eq!(is_the_answer("behind-all"), Ok(()), "the lens behind the last layer");
    assert!(is_the_answer("behind-one").is_err(), "the lens behind another layer");
    let moved = distance(&space.vectors.row(row), sentence.activations.output.row(1));
    assert_close("moved", verdicts[0].value, moved, Tolerance::SINGLE_PASS);
}

#[test]
fn a_masked_word_is_asked_for_where_it_is_spelled_out() {
    let claims = r#"claims: [
        Claim(id: "mask", says: "a guess", fact: Says(sentence: "the [MASK] sank", hides: 2, answer: "the"), expect: AtLeast(0)),
    ],"#;
    let folder = with_tokenizer("bert-wild");
    let snapshot = Kernel::embedded(Arc::new(read(&lesson_with(&beside(&folder), claims)))).snapshot();
    let verdicts = verify(&snapshot).expect("a model");
    assert!(verdicts[0].holds() && verdicts[0].value > 0.0, "{verdicts:?}");
}

#[test]
fn a_model_that_is_not_there_is_told_at_its_name_with_the_command_that_fetches_it() {
    let said = issues(&lesson_with("nobody/no-such-model", ""));
    assert!(said.starts_with("3:31: ") || said.contains(":31: "), "{said}");
    assert!(said.contains("nobody/no-such-model is not on this computer"), "{said}");
    assert!(said.contains("hf download nobody/no-such-model"), "{said}");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in ["../gpt2-wild", "./../gpt2-wild", "/etc", "./a/../../b", "https://a.example/b", ""] {
        let said = issues(&lesson_with(name, ""));
        assert!(said.contains("is not the name of a model"), "{name}: {said}");
    }
    let said = issues(&lesson_with("./nothing", ""));
    assert!(said.contains("model: found no config.json"), "{said}");
}

#[test]
fn what_a_model_has_of_its_own_is_no_field() {
    let folder = with_tokenizer("gpt2-wild");
    let said = issues(&lesson_with(&beside(&folder), r#"groups: { "fruit": ["apple"] }, corpus: Sentences(["a b"]),"#));
    assert!(
        said.contains("groups: a lesson about a pretrained model or a recording has no groups; expected no groups"),
        "{said}"
    );
    assert!(said.contains("unknown field \"corpus\" in Lesson"), "{said}");
}

#[test]
fn words_of_claims_are_pieces_and_places_are_those_of_pieces() {
    let claims = r#"claims: [
        Claim(id: "a", says: "far", fact: TokenCosine(sentence: 0, token: 99, to: "zzzzzz"), expect: AtLeast(0)),
    ],"#;
    let folder = with_tokenizer("gpt2-wild");
    let said = issues(&lesson_with(&beside(&folder), claims));
    assert!(said.contains("token: found the number 99; expected a whole number from 0 to "), "{said}");
    assert!(said.contains("word \"zzzzzz\" is not a piece of the model's vocabulary"), "{said}");
    let long = "word ".repeat(80);
    let said = issues(&lesson_with(&beside(&folder), "").replace("the seal sank", &long));
    assert!(said.contains("pieces; expected from 1 to 40"), "{said}");
}
