//! The glossary beside the lessons: lessons keep to it, the course is without it, and it says where it is wrong.

use std::fs;
use std::path::Path;

use attune_core::lesson::{course, glossary};

use crate::common::folder::Folder;
use crate::common::lessons::{SMALL, edited, with_cells};
use crate::program::{ended, said};

const GLOSSARY: &str = r#"// Two terms.
Glossary([
    Term(name: "query", also: ["queries"], symbols: ["q"], shape: "(T, d_k)", meaning: "What a word looks for.", lesson: "small"),
    Term(name: "dot product", symbols: ["a \\cdot b"], meaning: "Entry times entry, added up.", lesson: "small"),
])
"#;
/// Each term is bold once; what is bold in a heading is nobody's business.
const GOOD: &str = r##"
    Text(id: "intro", md: "# A **bold** heading\n\nA **dot\nproduct** of *two* things."),
    Predict(id: "p", ask: "What of **Queries**?", choices: ["a", "b"], answer: "0", explain: "As $q$ is, **$q$**."),
"##;

/// A folder of lessons.
struct Course(Folder);

impl Course {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = Folder::new(name);
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a temporary file");
        }
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.file(name)
    }

    /// The words of `attune check` about these files, with the folder's name as `D`.
    fn check(&self, files: &[&str]) -> (Option<i32>, String) {
        let files: Vec<String> = files.iter().map(|name| self.file(name)).collect();
        let args: Vec<&str> = std::iter::once("check").chain(files.iter().map(String::as_str)).collect();
        let (code, said) = said(&args);
        (code, said.replace(&self.0.0.display().to_string(), "D"))
    }
}

/// The small lesson with these cells.
fn lesson(cells: &str) -> String {
    with_cells(SMALL, cells)
}

#[test]
fn the_glossary_of_the_course_is_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/glossary.ron");
    let read = glossary::check(&path).unwrap_or_else(|issues| panic!("{issues:#?}"));
    assert!(read.terms().len() > 90, "{}", read.terms().len());
    let query = read.whole("Queries").expect("a term of the course");
    assert_eq!(read.symbol("q"), [query]);
    let lessons = course::list(&path.with_file_name(""));
    assert!(lessons.iter().all(|file| file.path != path && file.heading.is_ok()), "{lessons:#?}");
}

#[test]
fn lessons_that_keep_to_it_check_and_so_does_it() {
    let course = Course::new("good", &[("a.ron", &lesson(GOOD)), ("glossary.ron", GLOSSARY)]);
    let (code, said) = course.check(&["a.ron", "glossary.ron"]);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "D/a.ron: ok, 2 cells, 1 claim holds with seed 5\nD/glossary.ron: ok, 2 terms\n")
    );
    assert_eq!(glossary::beside(Path::new(&course.file("a.ron"))), Some(course.0.join("glossary.ron")));
    assert_eq!(course::list(&course.0.0).len(), 1, "the course is without it");
}

#[test]
fn what_is_bold_is_a_term_and_terms_are_bold() {
    let cells = r#"
        Text(id: "intro", md: "Press **Space** and **Space**, ask a **querys**, see **$k$**."),
        Exercise(id: "e", ask: "a", check: "x > 1", solution: "let x = 2;", start: "let x = 1;",
            hints: ["A **hint**"], feedback: [Feedback(when: "x == 1", say: "**Said**")]),
    "#;
    let course = Course::new("bold", &[("a.ron", &lesson(cells)), ("glossary.ron", GLOSSARY)]);
    let said = ended(course.check(&["a.ron"]), 1, "");
    let expected =
        "is in bold but not in glossary.ron; expected a term of it (emphasis and names of controls are in *italics*)";
    for (line, part) in [
        format!("D/a.ron:30:40: cell \"intro\": \"Space\" {expected}"),
        format!("D/a.ron:30:71: cell \"intro\": \"querys\" {expected}; did you mean \"query\"?"),
        format!("D/a.ron:30:65: cell \"intro\": \"k\" {expected}"),
        format!("D/a.ron:32:13: cell \"e\": \"hint\" {expected}"),
        format!("D/a.ron:32:80: cell \"e\": \"Said\" {expected}"),
        "D/a.ron:3:9: the term \"query\" of glossary.ron begins in this lesson, but none of its texts has it in bold"
            .to_owned(),
        "D/a.ron:3:9: the term \"dot product\" of glossary.ron begins".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(said.matches(part.as_str()).count(), 1, "{line}: {part}\n{said}");
    }
}

#[test]
fn a_text_names_panels_that_are_open() {
    let cells = |opens: &str| {
        format!(
            r##"Text(id: "intro", md: "Open the *Weights* panel, then *Weights* and the *Stage* panel."{opens}),
            Text(id: "later", md: "In the [*Train*](attune:panel/Train) panel, or the *Train* panel.")"##
        )
    };
    let closed = Course::new("panels", &[("small.ron", &lesson(&cells("")))]);
    let said = ended(closed.check(&["small.ron"]), 1, "");
    assert!(
        said.contains(
            "D/small.ron:29:45: cell \"intro\": its text names the panel Weights, which neither this cell nor an earlier \
             one opens; add opens: [\"Weights\"] to one of them, or write a link: [Weights](attune:panel/Weights)"
        ),
        "{said}"
    );
    assert_eq!(said.matches("names the panel").count(), 1, "{said}");
    let open = Course::new("panels-open", &[("small.ron", &lesson(&cells(", opens: [\"Weights\"]")))]);
    assert_eq!(open.check(&["small.ron"]).0, Some(0));
}

#[test]
fn a_lesson_of_the_course_builds_on_lessons_of_the_course() {
    let built_on = |id: &str| edited(SMALL, &[("seed:", &format!("builds_on: [\"{id}\"],\n    seed:"))]);
    let course = Course::new("builds", &[("small.ron", &built_on("wrods"))]);
    let folder = course.0.join("lessons");
    fs::create_dir_all(&folder).expect("a temporary folder");
    let first = edited(SMALL, &[("\"small\"", "\"words\"")]);
    for (name, text) in [("words.ron", &first), ("small.ron", &built_on("wrods")), ("good.ron", &built_on("words"))] {
        fs::write(folder.join(name), text).expect("a temporary file");
    }
    let said = ended(course.check(&["lessons/small.ron"]), 1, "");
    let issue = "builds_on: no lesson in the same folder has the id \"wrods\"; expected lessons of this course; did you mean \"words\"?";
    assert!(said.contains(issue), "{said}");
    assert_eq!(course.check(&["lessons/good.ron"]).0, Some(0));
    // One that is passed on by itself may build on any.
    assert_eq!(course.check(&["small.ron"]).0, Some(0));
}

#[test]
fn its_own_issues_are_told_once_and_at_their_places() {
    let wrong = edited(GLOSSARY, &[("lesson: \"small\"", "lesson: \"smal\""), ("\"q\"", "\"$q$\"")]);
    let (one, other) = (lesson(GOOD), edited(&lesson(""), &[("id: \"small\"", "id: \"other\"")]));
    let course = Course::new("wrong", &[("a.ron", &one), ("b.ron", &other), ("glossary.ron", &wrong)]);
    let unknown = "lesson: no lesson beside the glossary has the id \"smal\"; expected \"small\" or \"other\"; did you mean \"small\"?";
    for files in [&["a.ron", "b.ron"][..], &["a.ron", "b.ron", "glossary.ron"]] {
        let said = ended(course.check(files), 1, "");
        assert_eq!(said.matches(&format!("D/glossary.ron:3:124: {unknown}")).count(), 1, "{said}");
        assert_eq!(said.matches("D/glossary.ron:3:54: symbols: found the text \"$q$\"").count(), 1, "{said}");
        assert_eq!(said.matches("D/glossary.ron: has issues").count(), files.len() - 2, "{said}");
    }
}

/// By its name alone where it is broken, by its content where it is called otherwise.
#[test]
fn a_glossary_is_known_as_one() {
    let course =
        Course::new("known", &[("terms.ron", GLOSSARY), ("glossary.ron", "Glosary([])"), ("small.ron", &lesson(""))]);
    let (_, said) = course.check(&["terms.ron", "glossary.ron"]);
    assert!(said.contains("D/terms.ron: ok, 2 terms") && said.contains("did you mean \"Glossary\"?"), "{said}");
    let file = course.file("terms.ron");
    for args in [&[file.as_str()][..], &["trace", &file]] {
        let said = ended(self::said(args), 1, "");
        assert!(said.contains("this is a glossary, not a lesson; expected a lesson file"), "{said}");
    }
}

#[test]
fn a_text_names_controls_that_the_window_has() {
    let cells = |name: &str| {
        format!(
            r##"Text(id: "intro", md: "Open the *Weights* panel, choose *{name}* and press *Shift+Enter*. *The Raven* is a \
            poem."),
            Text(id: "later", md: "Press *Reset*, *Play*\nand then *Space*.")"##
        )
    };
    let wrong = Course::new("controls", &[("small.ron", &lesson(&cells("Matrises")))]);
    let said = ended(wrong.check(&["small.ron"]), 1, "");
    assert!(
        said.contains(
            "cell \"intro\": its text names the control *Matrises*, which the window does not have; expected the name of a \
             panel, a button, a menu entry or a key; did you mean *Matrices*?"
        ),
        "{said}"
    );
    assert_eq!(said.matches("names the control").count(), 1, "{said}");
    let right = Course::new("controls-right", &[("small.ron", &lesson(&cells("Matrices")))]);
    let (_, said) = right.check(&["small.ron"]);
    assert_eq!(said.matches("names the control").count(), 0, "{said}");
}
