//! Works of a class, graded by the lesson's own checks.

use std::fs;
use std::path::PathBuf;

use attune_core::kernel::command::InterventionCommand;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel, Saved};
use attune_view::export::work_file::{LessonMark, WorkFile};

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::lessons::{NOTEBOOK, kernel};
use crate::program::{ended, said};

const LESSON: &str = "tests/fixtures/notebook.ron";

fn cell(id: &str, command: CellCommand) -> Command {
    Command::Notebook(NotebookCommand::Cell(id.into(), command))
}

fn answer(id: &str, text: &str) -> Vec<Command> {
    vec![cell(id, CellCommand::SetText(text.into())), cell(id, CellCommand::Run)]
}

fn chosen(place: usize) -> Vec<Command> {
    vec![cell("guess", CellCommand::Choose(place)), cell("guess", CellCommand::Reveal)]
}

/// A class, and the folder that its works are handed in to.
struct Class {
    folder: Folder,
    learner: Kernel,
}

impl Class {
    fn new() -> Self {
        Self { folder: Folder::new("class"), learner: kernel(NOTEBOOK) }
    }

    /// A learner's work, from the lesson as it was trained on.
    fn work(&mut self, name: &str, commands: Vec<Command>) -> WorkFile {
        self.learner.apply(Command::Notebook(NotebookCommand::Reset));
        self.learner.apply(Command::Interventions(InterventionCommand::Reset));
        for command in commands {
            self.learner.apply(command);
            self.learner.settle();
        }
        let lesson = self.learner.snapshot().lesson;
        let mark = LessonMark::of(&lesson.id, &lesson.title, NOTEBOOK);
        let mut work = WorkFile::new(mark, Saved::of(&self.learner.snapshot()));
        work.name = Some(name.to_owned());
        work
    }

    fn hand_in(&self, file: &str, text: &str) -> PathBuf {
        let path = self.folder.join(file);
        fs::write(&path, text).expect("a work");
        path
    }

    fn grade(&self, options: &[&str]) -> (Option<i32>, String) {
        let mut works: Vec<String> = fs::read_dir(&self.folder.0)
            .expect("works")
            .map(|entry| entry.expect("an entry").path().display().to_string())
            .filter(|path| path.ends_with(".attune"))
            .collect();
        works.sort();
        let args: Vec<&str> = ["grade", LESSON].into_iter().chain(works.iter().map(String::as_str)).collect();
        said(&[&args[..], options].concat())
    }
}

#[test]
fn answers_are_judged_by_the_lesson_and_not_by_the_file() {
    let mut class = Class::new();
    let right = [chosen(1), answer("middle", "fn middle(a, b) { (a + b) / 2 }")].concat();
    let right = class.work("Ada", right);
    class.hand_in("ada.attune", &right.text());
    let wrong = [chosen(0), answer("middle", "fn middle(a, b) { a }")].concat();
    let wrong = class.work("Bo", wrong);
    class.hand_in("bo.attune", &wrong.text());
    // A file that says of a wrong answer that it is right.
    let forged = wrong.text().replace("\"is_right\": false", "\"is_right\": true");
    assert_ne!(forged, wrong.text());
    class.hand_in("cy.attune", &forged);
    let untouched = class.work("Di", Vec::new());
    class.hand_in("di.attune", &untouched.text());
    let turned =
        vec![Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))), cell("sharpen", CellCommand::Run)];
    let turned = class.work("Ed", turned);
    class.hand_in("ed.attune", &turned.text());

    let table = ended(class.grade(&[]), 0, "");
    for line in [
        "ada.attune\tAda\t\tthis\tguess\tright\t1\t",
        "ada.attune\tAda\t\tthis\tmiddle\tright\t1\t",
        "ada.attune\tAda\t\tthis\tsharpen\tnot answered\t0\t",
        "bo.attune\tBo\t\tthis\tguess\twrong\t1\tone",
        "bo.attune\tBo\t\tthis\tmiddle\twrong\t1\tThis is the first one.",
        "cy.attune\tBo\t\tthis\tmiddle\twrong\t1\tThis is the first one.",
        "di.attune\tDi\t\tthis\tmiddle\tnot answered\t0\t",
        "ed.attune\tEd\t\tthis\tsharpen\tright\t1\t",
    ] {
        assert!(table.lines().any(|found| found == line), "{line:?} is not in\n{table}");
    }
    assert_eq!(table.lines().count(), 1 + 5 * 3, "{table}");

    let page = class.folder.file("class.html");
    ended(class.grade(&["--to", "html", "-o", &page]), 0, "");
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains("default-src 'none'") && page.contains("<h2>Common mistakes</h2>"), "{page}");
    let task = page.split("<section id=\"task-2\">").nth(1).and_then(|rest| rest.split("</section>").next());
    let task = task.expect("the second task");
    for part in
        ["1 right</span>", "2 wrong</span>", "2 not answered</span>", "<b>2 ×</b><div><p>This is the first one.</p>"]
    {
        assert!(task.contains(part), "{part} is not in\n{task}");
    }
}

/// A class whose figures are computed by hand: of four learners, two are right in each of two tasks, and one also in
/// the third.
fn measured() -> Class {
    let mut class = Class::new();
    let right = "fn middle(a, b) { (a + b) / 2 }";
    let third =
        vec![Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))), cell("sharpen", CellCommand::Run)];
    for (name, guess, middle, third) in [
        ("bo", 1, "fn middle(a, b) { a }", Vec::new()),
        ("cy", 0, right, Vec::new()),
        ("di", 0, "fn middle(a, b) { a }", Vec::new()),
        // The last, because a change of the model would be an attempt of the others too.
        ("zoe", 1, right, third),
    ] {
        let work = class.work(name, [chosen(guess), answer("middle", middle), third].concat());
        class.hand_in(&format!("{name}.attune"), &work.text());
    }
    class
}

#[test]
fn the_figures_of_items_are_those_computed_by_hand() {
    let class = measured();
    // guess: the rest scores are 2, 0 of the right and 1, 0 of the wrong: (1 - 0.5) / sqrt(0.6875) * sqrt(0.25) =
    // 0.3015.
    let table = ended(class.grade(&["--items"]), 0, "");
    let expected = [
        "task\tanswered\tright\tdifficulty\tdiscrimination\twrong answers",
        "guess\t4\t2\t0.500\t0.302\t0.500 one",
        "middle\t4\t2\t0.500\t0.302\t0.500 This is the first one.",
        "sharpen\t1\t1\t1.000\t\t",
    ];
    assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    let items = ended(class.grade(&["--items", "--to", "json"]), 0, "");
    let items: serde_json::Value = serde_json::from_str(&items).expect("JSON");
    let found = items[0]["discrimination"].as_f64().expect("a number");
    assert_close("the discrimination", found, 0.301_511_344_577_764, Tolerance::DOUBLE_SUMS);
    assert_eq!(items[0]["wrong"], serde_json::json!([{ "answer": "one", "count": 2, "share": 0.5 }]));
    assert_eq!((&items[2]["difficulty"], &items[2]["discrimination"]), (&1.0.into(), &serde_json::Value::Null));
    let page = ended(class.grade(&["--items", "--to", "html"]), 0, "");
    assert!(page.contains("1 · guess</a></th><td>4</td><td>2</td><td>0.500</td><td>0.302</td>"), "{page}");
    let works = ended(class.grade(&["--to", "json"]), 0, "");
    let works: serde_json::Value = serde_json::from_str(&works).expect("JSON");
    assert_eq!(
        works["works"][0]["tasks"][0],
        serde_json::json!({ "task": "guess", "mark": "right", "tries": 1, "feedback": "" })
    );
}

#[test]
fn further_cases_find_answers_that_fit_only_the_lessons_own() {
    let mut class = Class::new();
    for (name, text) in [
        ("ada", "fn middle(a, b) { (a + b) / 2 }"),
        ("bo", "fn middle(a, b) { if norm(a) > 1000 { a * 0 } else { (a + b) / 2 } }"),
    ] {
        let work = class.work(name, answer("middle", text));
        class.hand_in(&format!("{name}.attune"), &work.text());
    }
    let cases = class.hand_in(
        "cases.ron",
        r#"Cases({ "middle": ["let a = E[1]; let b = E[2];", "let a = E[0] * 100000; let b = E[1];"] })"#,
    );
    let with = ["--cases", cases.to_str().expect("a path")];
    let own = ended(class.grade(&[]), 0, "");
    assert!(own.contains("bo.attune\tbo\t\tthis\tmiddle\tright\t1\t"), "{own}");
    let table = ended(class.grade(&with), 0, "");
    for line in [
        "ada.attune\tada\t\tthis\tmiddle\tright\t1\t",
        "bo.attune\tbo\t\tthis\tmiddle\twrong\t1\tRight in the lesson's cases, wrong in further case 2.",
    ] {
        assert!(table.lines().any(|found| found == line), "{line:?} is not in\n{table}");
    }
    for (text, why) in [
        (r#"Cases({ "midle": [""] })"#, "cases.ron:1:9: the lesson has no exercise \"midle\""),
        (r#"Cases({ "middle": ["let a = "] })"#, "cases.ron:1:"),
        (r#"Cases({ "middle": ["let c = 1;"] })"#, "\"middle\": its solution"),
        ("Lesson()", "expected Cases(…)"),
    ] {
        class.hand_in("cases.ron", text);
        ended(class.grade(&with), 1, why);
    }
}

#[test]
fn a_lesson_without_tasks_has_nothing_to_grade() {
    let mut class = Class::new();
    let work = class.work("Ada", Vec::new());
    let file = class.hand_in("ada.attune", &work.text()).display().to_string();
    ended(
        said(&["grade", "tests/fixtures/small.ron", &file]),
        1,
        "the lesson has no tasks, so there is nothing to grade",
    );
}

/// The words of a fault may be the learner's; the lesson's feedback alone is Markdown.
#[test]
fn a_learners_fault_is_text_and_no_table_stands_over_a_work() {
    let mut class = Class::new();
    let throws = "fn middle(a, b) { throw \"[Your grades](https://evil.example/) a * b * c\" }";
    for name in ["ada", "bo"] {
        let work = class.work(name, answer("middle", throws));
        class.hand_in(&format!("{name}.attune"), &work.text());
    }
    let page = class.folder.file("class.html");
    ended(class.grade(&["--to", "html", "-o", &page]), 0, "");
    let html = fs::read_to_string(&page).expect("the page");
    assert!(html.contains("[Your grades](https://evil.example/) a * b * c"), "{html}");
    assert!(!html.contains("href=\"https://"), "{html}");

    let over = class.folder.file("ada.attune");
    let before = fs::read(&over).expect("the work");
    ended(class.grade(&["-o", &over]), 1, "is one of the submissions");
    assert_eq!(fs::read(&over).expect("the work"), before);
    ended(class.grade(&["-o", LESSON]), 1, "lesson");
    assert_eq!(fs::read_to_string(LESSON).expect("the lesson"), NOTEBOOK);
}

#[test]
fn works_that_cannot_be_read_are_named_and_the_others_graded() {
    let mut class = Class::new();
    let good = class.work("Ada <script>alert(1)</script> \u{202e}adA", chosen(1));
    let text = good.text();
    class.hand_in("a.attune", &text);
    class.hand_in("cut.attune", &text[..text.len() / 2]);
    class.hand_in("empty.attune", "");
    class.hand_in("future.attune", &text.replace("\"attune\": 2", "\"attune\": 99"));
    class.hand_in("other.attune", &text.replace("\"id\": \"notebook\"", "\"id\": \"another\""));
    class.hand_in("text.attune", "Dear teacher, \u{1b}[31mhere is my work.");
    class.hand_in("deep.attune", &"[".repeat(100_000));
    fs::write(class.folder.join("picture.attune"), b"\x89PNG\r\n").expect("written");
    fs::create_dir(class.folder.join("folder.attune")).expect("a folder");
    let edited = class.work("Lee", chosen(1)).text().replace(&good.lesson.sha256, "0");
    class.hand_in("version.attune", &edited);
    let (code, said) = class.grade(&[]);
    assert_eq!(code, Some(1), "{said}");
    for (file, why) in [
        ("cut", "incomplete"),
        ("empty", "incomplete"),
        ("future", "version 99"),
        ("other", "a submission for the lesson \"another\""),
        ("text", "not a file that attune wrote"),
        ("deep", "not a file that attune wrote"),
        ("picture", "not a file that attune wrote"),
        ("folder", "not a regular file"),
    ] {
        let line = said.lines().find(|line| line.contains(&format!("{file}.attune: not graded"))).unwrap_or_default();
        assert!(line.contains(why), "{file}: {line:?}\n{said}");
    }
    assert!(said.contains("version.attune\tLee\t\tanother\tguess\tright"), "{said}");
    assert!(said.contains("a.attune\t") && !said.contains(['\u{1b}', '\u{202e}']), "{said}");
    let (_, page) = class.grade(&["--to", "html"]);
    assert!(!page.contains("<script>"), "{page}");
    assert!(page.contains("<code>cut.attune</code>: it is incomplete"), "{page}");
}

/// A name may begin with what a table program takes for a formula, or for a text that goes on over tabs and lines.
#[test]
fn a_name_hides_no_other_learner() {
    let mut class = Class::new();
    for (i, name) in ["\"Ada", " =1+1", "＝1", "Zoe"].into_iter().enumerate() {
        let work = class.work(name, Vec::new());
        class.hand_in(&format!("{i}.attune"), &work.text());
    }
    let table = ended(class.grade(&[]), 0, "");
    for (file, name) in [("0", "'\"Ada"), ("1", "'=1+1"), ("2", "'＝1"), ("3", "Zoe")] {
        let line = format!("{file}.attune\t{name}\t\tthis\tmiddle\t");
        assert!(table.lines().any(|found| found.starts_with(&line)), "{line:?} is not in\n{table}");
    }
}

#[test]
fn a_name_without_end_is_refused_in_words() {
    let mut class = Class::new();
    let long = class.work(&"<".repeat(1_000_000), Vec::new());
    class.hand_in("long.attune", &long.text());
    let most = class.work(&"é".repeat(100), Vec::new());
    class.hand_in("most.attune", &most.text());
    let (code, said) = class.grade(&["--to", "html"]);
    assert!(code == Some(1) && said.len() < 200_000, "{code:?}: {} bytes", said.len());
    assert!(
        said.contains("long.attune: not graded: the name in it has 1000000 characters, but a name has at most 100"),
        "{said}"
    );
    assert!(said.contains(&"é".repeat(100)), "{said}");
}

/// An edit that the window would not take for the answer is none: one of another kind, and one that is too long.
#[test]
fn only_code_is_an_answer() {
    let mut class = Class::new();
    let right = class.work("Ada", answer("middle", "fn middle(a, b) { (a + b) / 2 }")).text();
    let text = right.replace("\"kind\": \"Code\"", "\"kind\": \"Text\"");
    assert_ne!(text, right);
    class.hand_in("text.attune", &text);
    class.hand_in("long.attune", &right.replace("(a + b) / 2", &format!("(a + b) / 2{}", " ".repeat(70_000))));
    let table = ended(class.grade(&[]), 0, "");
    assert!(!table.contains("\tmiddle\tright\t"), "{table}");
}

/// What an answer does ends at the sandbox's bounds; the other works are graded.
#[test]
fn answers_that_never_end_are_wrong_and_cost_no_more_than_their_bound() {
    let mut class = Class::new();
    let looping = class.work("Max", answer("middle", "fn middle(a, b) { b }")).text();
    class.hand_in("loop.attune", &looping.replace("fn middle(a, b) { b }", "loop { }"));
    let good = class.work("Ada", answer("middle", "fn middle(a, b) { (a + b) / 2 }"));
    class.hand_in("z.attune", &good.text());
    let said = ended(class.grade(&[]), 0, "z.attune\tAda\t\tthis\tmiddle\tright");
    let line = said.lines().find(|line| line.starts_with("loop.attune\tMax\t\tthis\tmiddle")).unwrap_or_default();
    assert!(line.contains("wrong") && line.contains("does a loop never end?"), "{line}\n{said}");
}
