//! Whatever a cell says, it ends, and says in words why it failed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use attune::code::{Scope, budget, names, run};

use super::{cell, fault, scope};

#[test]
fn mistakes_are_said_in_words() {
    for (source, expected) in [
        ("softmx(E)", "1:1: there is no function `softmx` of (tensor); is it `softmax`?"),
        ("softmax(\"E\")", "1:1: `softmax` cannot take (text); it is called as softmax(S)"),
        (
            "temprature + 1",
            "1:1: there is no variable `temprature` here; is it `temperature`? A new one is made by `let temprature = …`",
        ),
        (
            "s = E",
            "1:1: there is no variable `s` here; a new one is made by `let s = …`; a cell sees what stands above it",
        ),
        ("Q = E;", "1:1: `Q` cannot be changed: it follows from X and W_Q"),
        ("Q[0, 0, 0] = 1.0;", "1:2: `Q` cannot be changed: it follows from X and W_Q"),
        ("E[\"bnak\"]", "1:2: \"bnak\" is not among the words of this axis; is it \"bank\"?"),
        ("W[\"bank\"]", "1:2: the entries of this axis have no names, such as \"bank\"; say a number from 0 to 1"),
        ("E[3]", "1:2: there is no entry 3 on an axis of length 3; its entries are 0 to 2"),
        ("E[0, 0, 0]", "1:2: 3 indices for a tensor of the shape (3, 2); give at most 2"),
        ("E[1.., 0]", "1:6: a range before a comma needs its end; say 1..3, or .. for all"),
        ("E[2..9]", "1:2: the range 2..9 does not lie within 0..3"),
        (
            "W[0, 0] = \"x\";",
            "1:2: string cannot be an entry of a tensor; assign a number, or a tensor of the same shape",
        ),
        ("W[0] = vector([1, 2, 3]);", "1:2: a tensor of the shape (3) does not fit into [2]; shapes must be the same"),
        ("matrix([[1, 2], [3]])", "1:1: matrix: row 1 has 1 numbers, row 0 has 2; all rows must be of one length"),
        ("zeros(-1, 2)", "1:1: zeros: -1 is no count; say a number from 0 on"),
    ] {
        assert_eq!(fault(source), expected, "{source}");
    }
}

#[test]
fn what_never_ends_is_ended() {
    assert!(fault("loop { }").contains("operations; does a loop never end?"), "{}", fault("loop { }"));
    assert!(fault("fn f(x) { f(x + 1) } f(0)").contains("too deeply"), "{}", fault("fn f(x) { f(x + 1) } f(0)"));
    let product = "let x = ones(1000, 1000); loop { x = x @ x; }";
    assert!(fault(product).contains("multiplications"), "{}", fault(product));
}

#[test]
fn a_run_can_be_stopped_from_outside() {
    let stop = Arc::new(AtomicBool::new(false));
    let from_outside = stop.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        from_outside.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let slow = "let n = 0; let a = ones(100, 100); loop { n += 1; let b = a + a; }";
    let run = run(slow, &Scope { stop, ..scope() });
    stopper.join().expect("a thread");
    assert_eq!(run.fault.expect("a fault").message, "interrupted");
}

#[test]
fn nothing_grows_without_bounds() {
    for source in [
        "zeros(1000000000, 1)",
        "zeros(100000, 100000)",
        "let l = [1]; loop { l += l; }",
        "let s = \"x\"; loop { s += s; }",
        "loop { show(ones(100, 100)); }",
        "loop { let x = ones(1000, 1000); }",
        "let m = #{}; let i = 0; loop { m[`${i}`] = i; i += 1; }",
        "eye(9223372036854775807)",
        "random(9223372036854775807, 2)",
    ] {
        let found = cell(source);
        assert!(found.fault.is_some(), "{source} has no fault");
    }
    let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(cell(&deep).fault.is_some() && names(&deep).is_err());
    let long = "1;".repeat(budget::SOURCE_BYTES_MAX);
    assert!(fault(&long).contains("split it"));
}

#[test]
fn nothing_of_the_outside_can_be_reached() {
    for source in ["import \"x\" as y;", "eval(\"1\")", "timestamp()", "sleep(1)", "open(\"/etc/passwd\")"] {
        assert!(cell(source).fault.is_some(), "{source} has no fault");
    }
}

#[test]
fn any_text_has_an_end() {
    let pieces = [
        "[", "]", "(", ")", "{", "}", ",", "..", "@", ".T", "W", "\"", "`", "${", "let ", "=", ";", "é", "\0", "1",
        "#{", "?", "fn ", "⸴",
    ];
    let mut state = 1u64;
    for _ in 0..3000 {
        let mut source = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            source += pieces[(state >> 33) as usize % pieces.len()];
        }
        let _ = (cell(&source), names(&source));
    }
}
