//! Dependencies of a cell, found without running it.

use attune_engine::code::names;

#[track_caller]
fn assert_names(source: &str, defines: &[&str], reads: &[&str], writes: &[&str]) {
    let found = names(source).expect("names");
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(found.defines, owned(defines), "{source} defines");
    let variables = found.reads.iter().filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    assert_eq!(variables.cloned().collect::<std::collections::BTreeSet<_>>(), owned(reads), "{source} reads");
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
