//! Cells: what they show, define and hand on.

use std::collections::BTreeSet;

use attune_engine::code::{Given, Output, Scope, names, run};

use super::{cell, fault, last, number, scope, table};

#[test]
fn a_cell_shows_its_last_value_and_what_it_was_told_to() {
    let run = cell("print(`${1 + 1} heads`); show(\"scores\", W); plot(vector([0, 1]), W); 3");
    assert_eq!(run.fault, None);
    let [Output::Text(text), Output::Table { caption, .. }, Output::Plot(plot), Output::Number(3.0)] = &run.outputs[..]
    else {
        panic!("{:?}", run.outputs)
    };
    assert_eq!((&**text, &**caption), ("2 heads", "scores"));
    assert_eq!(plot.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["row 0", "row 1"]);
    assert_eq!(cell("let x = 3;").outputs, []);
}

#[test]
fn a_picture_is_named_and_not_read() {
    assert_eq!(cell("image(\"no/such.png\");").outputs, [Output::Image("no/such.png".into())]);
    assert!(fault("image(\"\")").contains("this is not the path of a file"));
}

#[test]
fn what_was_shown_before_a_fault_stays() {
    let run = cell("show(1); W[0, 0] = 9.0; E @ E");
    assert_eq!(run.outputs, [Output::Number(1.0)]);
    assert!(run.fault.is_some() && run.written.is_empty() && run.defined.is_empty(), "half a change is none");
}

#[test]
fn variables_and_functions_go_on_to_the_cells_below() {
    let first = cell("let a = 2; fn twice(x) { 2 * x } let b = twice(E); let a = 3;");
    assert_eq!(first.fault, None);
    let names: Vec<_> = first.defined.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let mut scope = scope();
    scope.given.extend(first.defined.into_iter().map(Given::writable));
    let below = Scope { functions: first.functions, ..scope.clone() };
    let second = run("twice(a) + b[\"the\", 0]", &below);
    assert_eq!((second.fault, second.outputs), (None, vec![Output::Number(8.0)]));
    let without = run("twice(a)", &scope);
    assert!(without.fault.expect("a fault").message.contains("there is no function `twice`"));
}

#[test]
fn a_number_can_be_written_too() {
    let run = cell("temperature = 0.5;");
    assert_eq!(run.fault, None);
    assert_eq!(run.written[0].as_number(), Some(0.5));
}

/// As in Python; where an operand begins, they are names like any other.
#[test]
fn and_and_or_are_operators_between_operands() {
    let is = |condition: &str| number(&format!("let x = 2; if {condition} {{ 1.0 }} else {{ 0.0 }}")) == 1.0;
    assert!(is("x > 1 and x < 3 or false") && is("x == 0 or (x) == 2") && is("E[0, 0] == E[0, 0] and true"));
    assert!(!is("x > 1 and x > 3") && !is("x == 0 or x == 1"));
    assert_eq!(number("let or = 3.0; or"), 3.0);
}

#[test]
fn lists_calls_and_blocks_keep_their_commas() {
    assert_eq!(number("let l = [1, 2, 3]; l[1] + [4, 5][0]"), 6.0);
    assert_eq!(number("fn f(a, b) { a - b } f(5, W[1, 0])"), 3.0);
    assert_eq!(number("let m = #{a: 1, b: [2, 3]}; m.b[1] + m[\"a\"]"), 4.0);
    assert_eq!(number("W[if true { 1 } else { 0 }, [0, 1][1]]"), 3.0);
    assert_eq!(number("let total = 0.0; for i in 0..2 { for j in 0..2 { total += W[i, j]; } } total"), 6.0);
}

#[test]
fn help_tells_equation_and_example() {
    let Output::Text(text) = last("help(\"softmax\")") else { panic!("no text") };
    assert!(text.contains(r"\frac{e^{s_j}}{\sum_k e^{s_k}}") && text.contains("softmax(vector([6, 4]))"), "{text}");
    assert_eq!(fault("help(\"softmix\")"), "1:1: there is no function \"softmix\"; did you mean \"softmax\"?");
}

#[test]
fn a_parameter_is_what_it_is_called_with_whatever_the_lesson_calls_so() {
    assert_eq!(number("fn first(E) { E[0] } E[0, 0]; first(vector([7, 8]))"), 7.0);
    assert_eq!(number("fn first(W) { W[0] } W[0, 0]; first(vector([7, 8]))"), 7.0);
    assert!(cell("E[0, 0] = 2.0;").fault.is_some(), "what is fixed stays so");
    assert_eq!(table("fn first(M) { M[.., 0] } first(W)").entries(), [0.0, 2.0], "and the whole of an axis is known");
}

#[test]
fn what_is_expected_is_shown_and_what_is_not_says_where() {
    assert_eq!(number("expect(0.25, 0.2501, 0.001)"), 0.25);
    assert_eq!(table("expect(W, [[0, 1], [2, 3]], 0)").entries(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(fault("expect(W, [[0, 1], [2, 4]], 0.5)"), "1:1: expect: entry [1, 1] is 3, but should be 4 within 0.5");
    assert!(fault("expect(0.0 / 0.0, 0.0, 1000.0)").contains("it is NaN"), "NaN is nothing that one expects");
    assert!(fault("expect(W, [1, 2], 1)").contains("the number of values is 4, but should be 2"));
    assert!(fault("expect(W, \"a\", 1)").contains("expected numbers, not"));
    assert!(fault("expect(1, 1, -1)").contains("tolerance"));
}

#[test]
fn a_ranking_reads_as_words_with_their_numbers() {
    let run = cell("show(\"near\", nearest(E, E[\"bank\"], 1)); `${nearest(E, E[\"bank\"], 1)}`");
    assert_eq!(run.fault, None);
    assert_eq!(run.outputs[0], Output::Text("near".into()));
    assert!(matches!(&run.outputs[1], Output::Ranking(words) if words[0].0 == "bank"));
    assert_eq!(run.outputs[2], Output::Text("bank 1.000".into()));
}

/// Dependencies of a cell, found without running it.
#[track_caller]
fn assert_names(source: &str, defines: &[&str], reads: &[&str], writes: &[&str]) {
    let found = names(source).expect("names");
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(found.defines, owned(defines), "{source} defines");
    let variables = found.reads.iter().filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    assert_eq!(variables.cloned().collect::<BTreeSet<_>>(), owned(reads), "{source} reads");
    assert_eq!(found.writes, owned(writes), "{source} writes");
}

#[test]
fn definitions_reads_and_writes() {
    assert_names("let s = E @ E.T; softmax(s)", &["s"], &["E", "softmax"], &[]);
    assert_names("W_Q[0, 1] = 0.7;", &[], &["W_Q"], &["W_Q"]);
    assert_names("W_Q = W_Q * k;", &[], &["W_Q", "k"], &["W_Q"]);
    assert_names("fn f(x) { x + scale } f(E)", &["f"], &["E", "scale"], &[]);
    assert_names("for i in 0..3 { let t = X[i]; print(t); }", &[], &["X", "print"], &[]);
    assert_names("let a = 1; a = 2; a += b;", &["a"], &["b"], &[]);
    assert_names("A[.., 0]", &[], &["A"], &[]);
    assert_names("let W_Q = W_Q; W_Q[0, 0] = 1; let b = 2; let b = b;", &["W_Q", "b"], &["W_Q"], &[]);
    assert_names("fn f(a) { let k = a; k } f(a) + k", &["f"], &["a", "k"], &[]);
    assert_names("E.twice(2)", &[], &["E", "twice"], &[]);
}

#[test]
fn a_text_that_cannot_be_read_says_where() {
    assert_eq!(names("let = 3").unwrap_err().place.expect("a place").line, 1);
}
