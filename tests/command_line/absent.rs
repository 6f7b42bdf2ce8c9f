//! Lessons about a model that is not on this computer: they can be read, and what was not checked is said.

use std::fs;

use crate::common::folder::Folder;
use crate::program::program;

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
        let output = program().args(["check", "--quiet"]).arg(&file).env("HF_HUB_CACHE", &folder.0).output();
        let output = output.expect("the program");
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        (output.status.code(), said)
    };
    let (code, said) = check("openai-community/gpt2");
    assert_eq!(code, Some(0), "{said}");
    for words in
        ["read but not run, 2 cells; claims skipped: next, seen;", "548 MB", "hf download openai-community/gpt2"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A head that the model does not have is found without it.
    let (code, said) = check("distilgpt2");
    assert!(
        code == Some(1) && said.contains("head: found the number 143; expected a whole number from 0 to 71"),
        "{said}"
    );
    // Nothing is known of another model's shape.
    let (code, said) = check("nobody/no-such-model");
    assert!(code == Some(1) && said.contains("hf download nobody/no-such-model"), "{said}");
}
