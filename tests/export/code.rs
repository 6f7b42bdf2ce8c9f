//! The language of code in a live page: what it reads comes to what the program makes of it, and the rest it refuses in
//! words.

use std::sync::Arc;

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::cells::{Cell, CellKind};
use attune_core::lesson::course;
use attune_core::lesson::live_text::LiveText;
use attune_engine::code::Output;
use serde_json::{Value, json};

use crate::cell;
use crate::common::chromium::ask;
use crate::common::lessons::{kernel, of_file};
use crate::common::top::at;
use crate::web::{SIZE, as_web};

/// Values of every kind where they meet operators and functions that are not made for them, and at their limits.
const HOSTILE: &[&str] = &[
    "X == Y",
    "X == X",
    "X == X + 0",
    "X != X",
    "X == 1",
    "X == \"a\"",
    "A == A",
    "A[0] == A[1]",
    "E == E",
    "W_Q == W_Q",
    "Q == K",
    "X[0] == X[1]",
    "[X[0]] == [X[0]]",
    "vector([1, 2]) == vector([1, 2])",
    "vector([1, 2]) == matrix([[1, 2]])",
    "zeros(2) == zeros(3)",
    "X.T.T == X",
    "softmax(S[0]) == softmax(S[0])",
    "X < Y",
    "X > 1",
    "X <= 1.0",
    "1 < X",
    "\"a\" < \"b\"",
    "\"a\" < 1",
    "true < false",
    "true == true",
    "1 == 1.0",
    "1 == true",
    "\"1\" == 1",
    "[1, 2] == [1.0, 2]",
    "[1] == 1",
    "X % 2",
    "7 % X",
    "7 % 3",
    "-7 % 3",
    "7.5 % 2",
    "7 % 0",
    "7.0 % 0.0",
    "1 / 2",
    "1 / 0",
    "1.0 / 0",
    "1.0 / 0.0",
    "-1.0 / 0.0",
    "0.0 / 0.0",
    "0.0 / 0.0 == 0.0 / 0.0",
    "sqrt(-1.0)",
    "sqrt(-1.0) == sqrt(-1.0)",
    "sqrt(-1.0) != sqrt(-1.0)",
    "sqrt(-1.0) < 1.0",
    "max(sqrt(-1.0), 1.0)",
    "max(1.0, sqrt(-1.0))",
    "min(sqrt(-1.0), 1.0)",
    "max(vector([1.0, 0.0 / 0.0]))",
    "min(vector([0.0 / 0.0, 1.0]))",
    "argmax(vector([1.0, 0.0 / 0.0]))",
    "norm(vector([0.0 / 0.0]))",
    "sum(vector([1.0 / 0.0, 1.0]))",
    "vector([0.0 / 0.0]) == vector([0.0 / 0.0])",
    "softmax(vector([1.0, -1.0 / 0.0]))",
    "softmax(vector([-1.0 / 0.0, -1.0 / 0.0]))",
    "log(0)",
    "log(-1)",
    "exp(1000)",
    "relu(-2)",
    "tanh(1000)",
    "abs(-3)",
    "abs(-3.5)",
    "sqrt(4)",
    "round(2.5)",
    "round(-2.5)",
    "round(1.005, 2)",
    "round(123.0, -1)",
    "round(X, 1)",
    "round(5, 1)",
    "max(1, 2)",
    "max(1, 2.5)",
    "min(2, 2)",
    "max(X)",
    "min(X)",
    "max(X, 1)",
    "sum(X)",
    "sum(5)",
    "sum([1, 2])",
    "mean(X)",
    "mean(zeros(0))",
    "sum(zeros(0))",
    "max(zeros(0))",
    "argmax(zeros(0))",
    "norm(X)",
    "norm(2)",
    "cosine(X[0], X[1])",
    "cosine(X[0], zeros(2))",
    "cosine(X, X)",
    "cosine(X[0] * 0, X[1])",
    "X @ X.T",
    "X @ X",
    "X @ 2",
    "dot(X[0], X[1])",
    "X[0] @ X[1]",
    "X[0] + X",
    "X + X[0]",
    "X + X.T",
    "X + vector([1])",
    "X + \"a\"",
    "X * A[0]",
    "-X",
    "-\"a\"",
    "!X",
    "!1",
    "!true",
    "1 && true",
    "true && 1",
    "false && 1",
    "true || 1",
    "1 || true",
    "true && X",
    "X[0]",
    "X[-1]",
    "X[99]",
    "X[-99]",
    "X[0, 0]",
    "X[0][0]",
    "X[0, 0, 0]",
    "X[1.0]",
    "X[\"nobody\"]",
    "X[true]",
    "X[0..1]",
    "X[0..99]",
    "X[1..0]",
    "X[1..]",
    "X[.., 0]",
    "X[..1]",
    "X[-1..1]",
    "A[0, 1]",
    "A[0]",
    "A[0][1]",
    "[1, 2][0]",
    "[1, 2][5]",
    "[1, 2][-1]",
    "\"abc\"[0]",
    "5[0]",
    "shape(X)",
    "shape(X)[0]",
    "shape(X)[0] / 2",
    "shape(5)",
    "argmax(X)",
    "argmax(A[0])",
    "argmax(X[0])",
    "zeros(-1)",
    "zeros(2.0)",
    "zeros(2, 2)",
    "zeros(99999, 99999)",
    "ones(2)",
    "eye(2)",
    "eye(-1)",
    "eye(2) == matrix([[1, 0], [0, 1]])",
    "matrix([[1], [2, 3]])",
    "matrix([])",
    "vector([])",
    "vector([\"a\"])",
    "vector(1)",
    "vector([true])",
    "1 + true",
    "\"a\" + 1",
    "\"a\" + \"b\"",
    "1 + \"a\"",
    "[1] + [2]",
    "9223372036854775807 + 1",
    "9223372036854775807 * 2",
    "-9223372036854775807 - 2",
    "9223372036854775808",
    "1e400",
    "1_000",
    "0x10",
    "'a'",
    "`a`",
    "`${1}`",
    "\"\\n\" == \"\\u{a}\"",
    "\"a\\\"b\"",
    "if 1 { 2 }",
    "if true { 2 }",
    "if false { 2 }",
    "if X == X { 1 } else { 2 }",
    "let a = 1; if true { let a = 2; } a",
    "let a = 1; if true { a = 2; } a",
    "{ let a = 1; } a",
    "let a = 1; { let a = 2; a }",
    "a",
    "a = 1",
    "let a = 1; a += 2; a",
    "let a = X; a += 1; a",
    "let s = 0; for i in 0..4 { s += i; } s",
    "let s = 0; for i in 0..-1 { s += 1; } s",
    "for i in [1, 2] { i }",
    "for i in 0..2.5 { i }",
    "let s = 0; for i in 0..3 { let s = i; } s",
    "let i = 7; for i in 0..3 { } i",
    "1 2",
    "1; 2",
    "1;",
    "{ 1; 2 }",
    "{ 1; 2; }",
    "return 1",
    "throw 1",
    "fn f(x) { x } f(1)",
    "let f = |x| x; f.call(1)",
    "#{a: 1}.a",
    "switch 1 { 1 => 2 }",
    "while false { }",
    "loop { break; }",
    "try { 1 } catch { 2 }",
    "1 +",
    "(1",
    "1)",
    "}",
    "{",
    "[1, 2",
    "\"a",
    "X.",
    "X.T",
    "5.T",
    "X.t",
    "X.len()",
    "W_Q[0, 0]",
    "W_Q[0, 0] = 1",
    "temperature",
    "temperature / 2",
    "visible[0, 0]",
    "visible",
    "Z",
    "argmax(Z)",
    "b_Q",
    "E[\"seal\"]",
    "E[\"SEAL\"]",
    "M[0, 0, 0]",
    "S[0, 0, 0]",
    "nothing(1)",
    "softmax(2)",
    "max()",
    "max(1, 2, 3)",
    "E[\"__proto__\"]",
    "constructor",
    "toString(1)",
    "hasOwnProperty",
    "X == X.T.T && norm(X - X) == 0.0",
    "1 == 1 == true",
    "0.1 + 0.2 == 0.3",
    "0.1 + 0.2 > 0.3",
    "0.3 >= 0.1 + 0.2",
    "1.0 / 0.0 == 1.0 / 0.0",
    "0.0 == -0.0",
    "2 * 3 + 4 / 2 - 1",
    "2 - 3 - 4",
    "-2 * -3",
    "1 < 2 == true",
    "!(1 == 2)",
];

/// The texts of a lesson that a page might be asked to run.
fn texts(cells: &[Cell]) -> Vec<String> {
    let mut all = Vec::new();
    for cell in cells {
        let markdown = cell.kind.markdown().flat_map(|text| LiveText::read(text).expressions);
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
    return TEXTS.map((text) => {
        try {
            return written(Code.evaluate(text, state));
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

/// Holds what the page makes of some texts to what the program does. Returns how many the page has read.
fn check(name: &str, kernel: Kernel, texts: &[String]) -> Option<usize> {
    let page = as_web(&kernel.snapshot()).replace("script-src ", "script-src 'unsafe-eval' ");
    let question = EVALUATE.replace("TEXTS", &serde_json::to_string(texts).expect("JSON"));
    let answers = ask(&[("code.html", &page)], &["code.html".to_owned()], &question, SIZE)?;
    let answers = answers[0].as_array().unwrap_or_else(|| panic!("{name}: {answers:?}"));
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
        assert!(
            page.is_null() && program != "fault" || is_same(page, &program),
            "{name}: {text}: {page}, but {program}"
        );
        read += 1;
    }
    Some(read)
}

#[test]
fn hostile_code_comes_to_the_same_on_a_page_or_is_refused() {
    let texts: Vec<String> = HOSTILE.iter().map(|&text| text.to_owned()).collect();
    let small = kernel(crate::common::lessons::NOTEBOOK);
    if let Some(read) = check("hostile", small, &texts) {
        assert!(read > 100, "{read} of {}", texts.len());
    }
}

#[test]
fn the_code_of_every_lesson_comes_to_the_same_on_its_page() {
    for file in course::list(&at("lessons")) {
        let lesson = Arc::new(of_file(&file.path));
        let texts = texts(&lesson.cells);
        let kernel = Kernel::trained(lesson);
        if let Some(read) = check(&file.id(), kernel, &texts) {
            println!("{}: {read} of {}", file.id(), texts.len());
        }
    }
}
