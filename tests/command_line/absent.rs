//! Lessons about a model that is not on this computer: they can be read, and what was not checked is said.

use std::fs;

use crate::common::folder::Folder;
use crate::program::{ended, program, ran};

const LESSON: &str = r#"Lesson(
    id: "absent", title: "Absent", seed: 1,
    model: Pretrained("NAME"),
    sentences: ["The dog", "she sat on the bank"],
    cells: [
        Text(id: "look", md: "Read me: {{ W_Q_2[0, 0] | 3 }}, [head 2](attune:head/4)."),
        Code(id: "turn", src: "let shape = W_V_3; shape[0, 0]"),
    ],
    claims: [
        Claim(id: "next", says: "a guess", fact: Says(sentence: "The dog", answer: "was"), expect: AtLeast(0.01)),
        Claim(id: "seen", says: "a look", fact: Weight(sentence: 1, head: 143, query: 2, key: 0), expect: AtLeast(0.5)),
    ],
)"#;

#[test]
fn a_lesson_about_a_well_known_model_is_read_without_it() {
    let folder = Folder::new("absent");
    let file = folder.join("absent.ron");
    let check = |model: &str| {
        fs::write(&file, LESSON.replace("NAME", model)).expect("a lesson");
        ran(program().args(["check", "--quiet"]).arg(&file).env("HF_HUB_CACHE", &folder.0))
    };
    let said = ended(check("openai-community/gpt2"), 0, "");
    for words in
        ["read but not run, 2 cells; claims skipped: next, seen;", "548 MB", "hf download openai-community/gpt2"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A head that the model does not have is found without it.
    ended(check("distilgpt2"), 1, "head: found the number 143; expected a whole number from 0 to 71");
    // Nothing is known of another model's shape.
    ended(check("nobody/no-such-model"), 1, "hf download nobody/no-such-model");
}
