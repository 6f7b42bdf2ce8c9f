//! The language of code in a live page: what it reads comes to what the program makes of it, and the rest it refuses in
//! words.

use std::collections::BTreeMap;

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::cells::{Cell, CellKind};
use attune_core::lesson::course::CourseFile;
use attune_core::lesson::live_text::LessonText;
use attune_engine::code::{Output, tree};
use serde_json::{Value, json};

use crate::common::chromium::ask;
use crate::common::lessons::{NOTEBOOK, kernel};
use crate::common::snapshots::assert_catalogue;
use crate::web::{SIZE, as_web};
use crate::{cell, course};

/// The texts of a lesson that a page might be asked to run.
fn texts(cells: &[Cell]) -> Vec<String> {
    let mut all = Vec::new();
    for cell in cells {
        let markdown = cell.kind.markdown().flat_map(LessonText::expressions);
        all.extend(markdown.map(|expression| expression.source.to_string()));
        match &cell.kind {
            CellKind::Code { source, .. } | CellKind::Plot { source, .. } => all.push(source.clone()),
            CellKind::Predict(predict) => all.extend([predict.answer.clone(), predict.shows.clone()]),
            CellKind::Exercise(exercise) => {
                all.extend([&exercise.check, &exercise.value, &exercise.expected].map(Clone::clone));
                all.extend(exercise.cases.iter().map(|case| format!("{case}; {}", exercise.check)));
            }
            _ => {}
        }
    }
    all.retain(|text| !text.trim().is_empty());
    all.dedup();
    all
}

/// A kernel with a cell of the learner's own above all others, in which texts are run.
struct Bench {
    kernel: Kernel,
    id: String,
}

impl Bench {
    fn of(mut kernel: Kernel) -> Self {
        let first = kernel.snapshot().notebook.cells.first().map(|shown| shown.cell.id.to_string());
        let first = first.expect("a cell");
        cell(&mut kernel, &first, CellCommand::Insert { kind: OwnKind::Code, is_above: true });
        let id = kernel.snapshot().notebook.cells[0].cell.id.to_string();
        Self { kernel, id }
    }

    /// The last value of a text: `null` where it has none, `fault` where it cannot be run.
    fn run(&mut self, text: &str) -> Value {
        let before = self.kernel.snapshot().model.expect("a model").parameters.clone();
        cell(&mut self.kernel, &self.id.clone(), CellCommand::SetText(text.into()));
        cell(&mut self.kernel, &self.id.clone(), CellCommand::Run);
        let snapshot = self.kernel.snapshot();
        let shown = &snapshot.notebook.cells[0];
        let Some(run) = shown.run.clone().filter(|run| *run.text == *text) else { return json!("fault") };
        if run.wrote {
            self.kernel.apply(Command::Undo);
            self.kernel.settle();
            let now = self.kernel.snapshot().model.expect("a model").parameters;
            assert_eq!(now.flat(), before.flat(), "{text}");
        }
        if run.fault.is_some() {
            return json!("fault");
        }
        run.outputs.last().map_or(Value::Null, normal)
    }
}

/// An output as the page's script writes its own.
fn normal(output: &Output) -> Value {
    match output {
        Output::Number(x) => json!({ "number": x }),
        Output::Text(text) => json!({ "text": &**text }),
        Output::Table { tensor, .. } => {
            let shape: Vec<usize> = tensor.axes().iter().map(|axis| axis.len).collect();
            json!({ "shape": shape, "numbers": tensor.entries() })
        }
        other => json!(format!("{other:?}")),
    }
}

/// Runs each text with a model of its own, as the page has it.
const EVALUATE: &str = r"
    const { Code, State, Data } = window.eval('({ Code, State, Data })');
    const state = State.create(Data.read(document.getElementById('attune-data').textContent));
    const written = (x) => {
        if (x === undefined) return null;
        if (typeof x === 'bigint' || typeof x === 'number') return { number: Number(x) };
        if (Code.isTensor(x)) return { shape: x.shape, numbers: Array.from(x.data) };
        return typeof x === 'object' ? { other: true } : { text: String(x) };
    };
    return TREES.map((tree) => {
        try {
            return written(Code.evaluate(tree, state));
        } catch (fault) {
            return { refused: fault.message, kind: fault.constructor.name };
        }
    });
";

fn is_same(page: &Value, program: &Value) -> bool {
    const TOLERANCE: f64 = 1e-4;
    let close = |a: &Value, b: &Value| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * (1.0 + b.abs()),
        (a, b) => a == b,
    };
    match (page, program) {
        (page, program) if page["shape"].is_array() => {
            let (Some(found), Some(truth)) = (page["numbers"].as_array(), program["numbers"].as_array()) else {
                return false;
            };
            page["shape"] == program["shape"] && found.iter().zip(truth).all(|(a, b)| close(a, b))
        }
        (page, program) if page.get("number").is_some() => {
            program.get("number").is_some() && close(&page["number"], &program["number"])
        }
        // A list is written as a text by the program.
        (page, program) if page.get("other").is_some() => program.get("text").is_some(),
        (page, program) => page == program,
    }
}

#[test]
fn another_value_is_not_the_same() {
    let number = |x: f64| json!({ "number": x });
    let row = |numbers: &[f64]| json!({ "shape": [numbers.len()], "numbers": numbers });
    assert!(is_same(&number(0.5), &number(0.500_01)) && is_same(&row(&[0.5, 2.0]), &row(&[0.5, 2.0])));
    for (page, program) in [
        (number(0.5), number(0.501)),
        (number(0.5), json!({ "number": f64::NAN })),
        (number(0.5), row(&[0.5])),
        (row(&[0.5, 2.0]), row(&[0.5, 2.01])),
        (row(&[0.5, 2.0]), row(&[0.5])),
        (json!({ "text": "0.5" }), number(0.5)),
        (json!({ "other": true }), number(0.5)),
        (Value::Null, number(0.5)),
    ] {
        assert!(!is_same(&page, &program), "{page} passes for {program}");
    }
}

/// The text with `()` in place of each call of `show`.
fn without_shows(text: &str) -> String {
    const CALL: &str = "show(";
    let mut left = text;
    let mut all = String::new();
    while let Some(at) = left.find(CALL) {
        let (before, call) = left.split_at(at);
        all += before;
        let is_other_name = before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '_');
        let rest = if is_other_name { None } else { after_call(&call[CALL.len()..]) };
        all += if rest.is_some() { "()" } else { CALL };
        left = rest.unwrap_or(&call[CALL.len()..]);
    }
    all + left
}

/// What follows the bracket that closes a call; `None` where none does.
fn after_call(arguments: &str) -> Option<&str> {
    let (mut depth, mut quote, mut is_escaped) = (1, None, false);
    for (at, sign) in arguments.char_indices() {
        match (quote, sign) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), sign) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(sign),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 {
            return Some(&arguments[at + sign.len_utf8()..]);
        }
    }
    None
}

/// A lesson by its name, and the texts that it is asked.
type Asked = (String, Kernel, Vec<String>);

/// Holds what the pages of lessons make of some texts to what the program does. Returns how many each page has read.
fn check(asked: Vec<Asked>) -> Option<Vec<usize>> {
    let of = |(name, kernel, _): &Asked| {
        let page = as_web(&kernel.snapshot()).replace("script-src ", "script-src 'unsafe-eval' ");
        (format!("{name}.html"), page)
    };
    let pages: Vec<(String, String)> = asked.iter().map(of).collect();
    let addresses: Vec<String> = pages.iter().map(|(address, _)| address.clone()).collect();
    let trees = |texts: &[String]| texts.iter().map(|text| tree(text)).collect::<Vec<Value>>();
    let trees: BTreeMap<&str, Vec<Value>> =
        asked.iter().zip(&addresses).map(|((.., texts), address)| (&**address, trees(texts))).collect();
    let trees = serde_json::to_string(&trees).expect("JSON");
    let question = EVALUATE.replace("TREES", &format!("({trees})[window.location.pathname.split('/').pop()]"));
    let pages: Vec<(&str, &str)> = pages.iter().map(|(address, page)| (&**address, &**page)).collect();
    let answers = ask(&pages, &addresses, &question, SIZE)?;
    assert_eq!(answers.len(), asked.len(), "every page answers");
    Some(asked.into_iter().zip(&answers).map(|(asked, answer)| count_read(asked, answer)).collect())
}

/// Compares what a page has made of the texts of a lesson. Returns how many it has read.
fn count_read((name, kernel, texts): Asked, answers: &Value) -> usize {
    let answers = answers.as_array().unwrap_or_else(|| panic!("{name}: {answers:?}"));
    assert_eq!(answers.len(), texts.len(), "{name}");
    let mut bench = Bench::of(kernel);
    let mut read = 0;
    for (text, page) in texts.iter().zip(answers) {
        if let Some(why) = page.get("refused") {
            assert_eq!(page["kind"], "Error", "{name}: {text}: {why} are no words of the page's own");
            continue;
        }
        // What is only shown is no value, and the page does not compute it.
        let program = match bench.run(text) {
            fault if fault == "fault" => bench.run(&without_shows(text)),
            value => value,
        };
        let is_same = page.is_null() && program != "fault" || is_same(page, &program);
        assert!(is_same, "{name}: {text}: {page}, but {program}");
        read += 1;
    }
    read
}

#[test]
fn hostile_code_comes_to_the_same_on_a_page_or_is_refused() {
    let (mut bench, mut texts) = (Bench::of(kernel(NOTEBOOK)), Vec::new());
    assert_catalogue("tests/export/hostile_code.txt", |_, text| {
        texts.push(text.to_owned());
        bench.run(text).to_string()
    });
    if let Some(read) = check(vec![("hostile".to_owned(), kernel(NOTEBOOK), texts)]) {
        assert!(read[0] > 100, "{read:?}");
    }
}

#[test]
fn the_code_of_every_lesson_comes_to_the_same_on_its_page() {
    let of_lesson = |(file, kernel): (CourseFile, Kernel)| {
        let texts = texts(&kernel.snapshot().lesson.cells);
        (file.id(), kernel, texts)
    };
    let asked: Vec<Asked> = course().into_iter().map(of_lesson).collect();
    let names: Vec<(String, usize)> = asked.iter().map(|(name, _, texts)| (name.clone(), texts.len())).collect();
    for ((name, count), read) in names.into_iter().zip(check(asked).into_iter().flatten()) {
        println!("{name}: {read} of {count}");
    }
}
