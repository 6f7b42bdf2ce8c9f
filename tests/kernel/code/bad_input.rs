//! Whatever a cell says, it ends, and says in words why it failed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use attune_engine::code::{Given, OWN_FAULT, Output, Scope, budget, names, run};

use crate::common::snapshots::assert_catalogue;
use crate::common::waiting::wait_until;

use super::{cell, fault, number, scope, table};

#[test]
fn mistakes_are_said_in_words() {
    assert_catalogue("tests/kernel/code/faults.txt", |_, source| fault(&source.replace('⏎', "\n")));
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
        // This one and that of the scope; the third is that of the run.
        wait_until("it runs", || Arc::strong_count(&from_outside) > 2);
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
        // Nothing of a huge axis, and products whose sides are small.
        "zeros(0, 9223372036854775807)",
        "zeros(1000000, 0) @ zeros(0, 1000000)",
        "ones(1000000, 1) + ones(1, 1000000)",
        "ones(40000, 1) @ ones(1, 40000)",
        // Copies are made too.
        "let x = ones(1000, 1000); let l = []; loop { x[0, 0] = 1; l.push(x); }",
        "let x = ones(1000, 1000); let l = []; loop { l.push(x[..]); }",
        "let x = ones(1000, 1000); let l = []; loop { l.push(-x); }",
        "let v = ones(1000000); let l = []; for i in 0..2000 { l.push(v); } matrix(l)",
        "let s = \"\"; s.pad(100000, \"a\"); s.replace(\"a\", s);",
        "let s = \"\"; s.pad(100000, \"a\"); s.replace('a', s);",
        "let p = |x| x; for i in 0..64 { p = p.curry([p, p]); }",
        "nearest(ones(5000, 1), ones(1), 5000)",
        "plot(ones(1), ones(1000000, 1))",
    ] {
        let found = cell(source);
        assert!(found.fault.is_some(), "{source} has no fault");
    }
    let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(cell(&deep).fault.is_some() && names(&deep).is_err());
    let long = "1;".repeat(budget::SOURCE_BYTES_MAX);
    assert!(fault(&long).contains("split the cell"));
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
        let (run, _) = (cell(&source), names(&source));
        assert!(run.fault.is_none_or(|fault| fault.message != OWN_FAULT), "{source}");
    }
}

#[test]
fn what_is_empty_is_no_trouble() {
    assert_eq!(number("sum(zeros(0))"), 0.0);
    assert_eq!(number("dot(vector([]), vector([]))"), 0.0);
    assert_eq!(number("max(E[0, 0..0])"), f64::NEG_INFINITY);
    assert!(number("mean(zeros(0))").is_nan());
    assert_eq!(table("zeros(2, 0) @ zeros(0, 3)").entries(), [0.0; 6]);
    assert_eq!(table("sum(E[.., 0..0])").entries(), [0.0; 3]);
    assert_eq!(table("norm(matrix([[], []]))").len(), 2);
    assert_eq!(table("zeros(3, 0) @ vector([])").len(), 3);
}

#[test]
fn what_is_deep_does_not_overflow_the_stack() {
    // As deep as functions within functions within brackets can be, and as deep as lists can grow.
    let calls = format!("fn g(x) {{ x }} fn f(x) {{ {}f(x){} }} f(0)", "g(".repeat(28), ")".repeat(28));
    assert!(fault(&calls).contains("too deeply"), "{}", fault(&calls));
    let lists = "let a = []; for i in 0..2000 { a = [a]; } let b = a; a == b";
    assert!(fault(lists).contains("lists nested more than"), "{}", fault(lists));
    let written = "let a = []; for i in 0..2000 { a = [a]; } W = a;";
    assert!(fault(written).contains("lists nested more than"), "{}", fault(written));
    // Functions that capture variables would be lists without a bound.
    let chain = fault("let q = 1; let p = |x| q; p.call(1)");
    assert!(
        chain.ends_with("a line sees only the variables defined above it, and a function only its parameters"),
        "{chain}"
    );
}

#[test]
fn nothing_is_left_out_in_silence() {
    let run = cell("for i in 0..1000 { print(i); }");
    assert_eq!(run.outputs.len(), budget::OUTPUTS_MAX);
    assert!(run.fault.is_some_and(|fault| fault.message.contains("shows more than 200 outputs")));
}

#[test]
fn messages_are_short() {
    let long = "x".repeat(60_000);
    for source in [&long, &format!("{long}()"), &format!("E[\"{long}\"]"), &format!("throw \"{long}\"")] {
        assert!(fault(source).len() < 2000);
    }
}

#[test]
fn odd_characters_are_only_text() {
    for source in ["\u{feff}1", "\0", "let \u{202e}a = 1;", "let 👩\u{200d}🚀 = 1;", "let e\u{301} = 1;", "\"\\ud800\""]
    {
        assert!(cell(source).fault.is_some(), "{source:?}");
    }
    for word in ["\u{feff}the", "\u{202e}knab", "👨\u{200d}👩\u{200d}👧", "the\u{301}", "\0"] {
        assert!(fault(&format!("E[\"{word}\"]")).contains("not among the words"), "{word:?}");
    }
    // No name of the learner's stands for what the language puts in.
    assert_eq!(cell("let whole_axis = 9; E[.., 0]").outputs, cell("E[.., 0]").outputs);
    assert!(matches!(cell("E[.., 0]").outputs[..], [Output::Table { .. }]));
}

#[test]
fn numbers_at_their_ends_are_right() {
    assert_eq!(number("to_int(9223372036854774784.0) % 1000"), 784.0);
    assert_eq!(number("if to_int(-9223372036854775808.0) == -9223372036854775808 { 1 } else { 0 }"), 1.0);
    for (source, expected) in [
        ("round(1e300, 15)", 1e300),
        ("round(-1e300, 308)", -1e300),
        ("round(1e300, -15)", 1e300),
        ("round(1.0 / 0.0, 2)", f64::INFINITY),
        ("round(9007199254740993.0, 1)", 9007199254740992.0),
        ("round(0.30000000000000004, 15)", 0.3),
        ("round(1.26e-20, 21)", 1.3e-20),
        ("round(-2.5, 0)", -3.0),
        ("round(1250.0, -2)", 1300.0),
        ("round(1250.0, -9223372036854775808)", 0.0),
    ] {
        assert_eq!(number(source), expected, "{source}");
    }
    assert!(number("round(0.0 / 0.0, 2)").is_nan());
    assert_eq!(number("1 << 100") + number("round(1.5, 9223372036854775807)"), 1.5);
}

#[test]
fn what_is_made_above_is_not_changed_in_part_either() {
    let above =
        run("let m = #{a: 1, l: [1, 2]}; let l = [1, #{x: 2}]; let s = \"ab\"; let t = vector([1, 2]);", &scope());
    let why = "it is defined above";
    let scope = || {
        let given = above.defined.iter().cloned().map(|variable| Given::fixed(variable, why)).collect();
        Scope { given, ..Scope::default() }
    };
    for (name, texts) in [
        ("m", &["m.b = 2;", "m[\"b\"] = 2;", "m.a = 2;", "m.l[0] = 2;", "m += #{c: 1};", "m.b = 2; m"][..]),
        ("l", &["l[0] = 2;", "l[1].y = 2;", "l += 1;"]),
        ("s", &["s[0] = 'x';", "s[0..1] = \"x\";", "s += \"x\";"]),
        ("t", &["t[0] = 2;"]),
    ] {
        for text in texts {
            let ran = run(text, &scope());
            let said = ran.fault.unwrap_or_else(|| panic!("{text} has no fault")).message;
            assert_eq!(said, format!("`{name}` cannot be changed: {why}"), "{text}");
        }
        let own = run(&format!("let {name} = {name}; {}", texts[0]), &scope());
        assert_eq!(own.fault, None, "one of the cell's own can be");
    }
    let said = run("l.push(3);", &scope()).fault.expect("a fault").to_string();
    assert_eq!(
        said,
        "1:3: `push` cannot change this value: it is a constant; copy it into a variable of your own with `let`, and change that"
    );
    let read = run("let k = m.keys(); k.push(s); m.a + l[0] + t[0]", &scope());
    assert_eq!((read.fault, read.outputs), (None, vec![Output::Number(3.0)]));
}
