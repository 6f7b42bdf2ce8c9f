//! Text that is no RON, and fields that are no fields.

use super::{check, check_all};

#[test]
fn broken_ron() {
    check_all(
        r#"
        seed: 7, => seed: 7
            a.ron:4:5: cannot be read as RON: found groups:; expected a comma between two values
        title: "One => title: 'One
            a.ron:3:27: cannot be read as RON: found ne; expected text in double quotes; single quotes hold one character
    "#,
    );
    check(
        "    ),\n    static",
        "    \n    static",
        "a.ron:8:19: cannot be read as RON: this ( is not closed; expected a matching )",
    );
    check_all(
        r##"
        tolerance: 0.2)) => tolerance: 0.2)
            a.ron:31:14: cannot be read as RON: this ( is not closed; expected a matching )
        // One => /* One
            a.ron:34:1: cannot be read as RON: the file ends here; expected */ at the end of the comment
        r#"# One word"# => r#"# One word"
            a.ron:26:34: cannot be read as RON: found #; expected a closing double quote
        Two apples => Two \q apples
            a.ron:27:43: cannot be read as RON: found apples",; expected one of the escapes \n, \t, \", \\ or \u{…}; or a raw text r#"…"#
    "##,
    );
    check(
        "Lesson(\n",
        "#![enable(implicit_some)]\nLesson(\n",
        "a.ron:2:1: RON extensions are not supported; expected the file to start with Lesson(",
    );
    check("Lesson(\n", "Leson(\n", r#"a.ron:2:1: unknown name Leson; expected Lesson(…); did you mean "Lesson"?"#);
    check("Lesson(\n", "(\n", "no issues");
    check(
        "Lesson(\n",
        "3 Lesson(\n",
        "a.ron:2:3: cannot be read as RON: found Lesson(; expected the end of the file after the lesson",
    );
}

#[test]
fn fields() {
    check_all(
        r#"
        sentences: [ => sentenses: [
            a.ron:20:5: unknown field "sentenses" in Lesson; expected id, title, summary, number, minutes, builds_on, chapter, seed, groups, static_embedding, model, switches, corpus, axes, sentences, probes, panels, cells or claims; did you mean "sentences"?
        seed: 7 => seed: 7, colour: true
            a.ron:3:60: unknown field "colour" in Lesson; expected id, title, summary, number, minutes, builds_on, chapter, seed, groups, static_embedding, model, switches, corpus, axes, sentences, probes, panels, cells or claims
        seed: 7 => seed: 7, number: 0
            a.ron:3:68: number: found the number 0; expected a whole number from 1 to 999
        seed: 7 => seed: 7, minutes: "ten"
            a.ron:3:69: minutes: found the text "ten"; expected a whole number from 1 to 600
        seed: 7 => seed: 7, summary: ""
            a.ron:3:69: summary: empty; expected one line of 1 to 500 characters
        seed: 7 => seed: 7, seed: 8
            a.ron:3:60: field "seed" appears twice in Lesson
        seed: 7, =>
            a.ron:2:1: missing field "seed" in Lesson
        seed: 7 => seed: -1
            a.ron:3:57: seed: found the number -1; expected a whole number from 0 to 18446744073709551615
        seed: 7 => seed: 7.5
            a.ron:3:57: seed: found the number 7.5; expected a whole number from 0 to 18446744073709551615
        seed: 7 => seed: 99999999999999999999999
            a.ron:3:57: seed: found the number 99999999999999999999999; expected a whole number from 0 to 18446744073709551615
        seed: 7 => seed: "seven"
            a.ron:3:57: seed: found the text "seven"; expected a whole number from 0 to 18446744073709551615
        id: "apple" => id: "../apple"
            a.ron:3:9: id "../apple"; expected 1 to 64 of the characters a-z, 0-9, - and _
        id: "apple" => id: ""
            a.ron:3:9: an empty id; expected 1 to 64 of the characters a-z, 0-9, - and _
        title: "One word, two meanings" => title: " "
            a.ron:3:25: title: empty; expected one line of 1 to 500 characters
    "#,
    );
}
