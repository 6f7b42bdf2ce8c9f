//! Every way to grow ends in words with a place, below a gigabyte.

use attune_core::kernel::model::HISTORY_BYTES_MAX;
use attune_core::kernel::{Command, Kernel};

use crate::peak::{Taken, taken};
use crate::{code, fault, plot, run, shown, with_cells, write};

/// Allowed over the state at rest, whatever the cells of a lesson do.
const BYTES_MAX: usize = 1 << 30;

const MEMORY: &str = "this cell takes more than 320 MB of memory; does something grow in a loop?";
const KEPT: &str = "the cells would keep more than 512 MB; keep less, or clear the outputs of other cells";
const TEXT: &str = "a list that takes more than 131072 bytes to write cannot be made into a text; write only parts \
    of the list";
const SHOWN: &str = "this cell shows more than 200 outputs, or 8388608 bytes; show less";

/// A text of 130 kB, and a list that names it 9999 times.
const LONG: &str = r#"let s = ""; s.pad(130000, "x"); "#;
const MANY: &str = r#"let s = ""; s.pad(130000, "x"); let a = []; a.pad(9999, 0); for i in 0..9999 { a[i] = s; } "#;

#[track_caller]
fn is_bounded(taken: &Taken, what: &str) {
    println!("{taken}: {what}");
    assert!(taken.bytes < BYTES_MAX, "{taken}: {what}");
}

#[test]
fn every_way_to_grow_ends_in_words_with_a_place() {
    let thousand = "let v = []; v.pad(9999, zeros(1)); let m = #{}; for i in 0..1000 { m[\"k\" + i] = v; }";
    for (source, words) in [
        // Keys, elements, and lists within maps within lists.
        (
            &format!(
                "{LONG}let l = []; for j in 0..99 {{ let m = #{{}}; for i in 0..999 {{ m[`${{s}}${{i}}`] = 1; }} l.push(1); l[j] = m; }}"
            ),
            MEMORY,
        ),
        (&format!("{LONG}let m = []; m.pad(9999, 0); for i in 0..9999 {{ let t = s; t.pop(); m[i] = t; }} 1"), MEMORY),
        (
            &format!(
                "{LONG}fn f(n, s) {{ let m = #{{}}; for i in 0..999 {{ m[`${{s}}${{i}}`] = 1; }} let a = m; let b = m; f(n + 1, s) }} f(0, s)"
            ),
            MEMORY,
        ),
        (&"let a = []; a.pad(9999, 0); let b = a; for i in 0..9999 { b[i] = a; } 1".to_owned(), MEMORY),
        (&thousand.to_owned(), MEMORY),
        (&"let l = []; l.pad(9999, 0); for i in 0..9999 { l[i] = ones(100, 100); }".to_owned(), MEMORY),
        (
            &"let l = []; l.pad(9999, 0); for i in 0..9999 { let t = ones(1000, 100); t[0, 0] = 2; l[i] = t; }"
                .to_owned(),
            MEMORY,
        ),
        // Lists that say far more than they hold.
        (&format!("{MANY}print(a);"), TEXT),
        (&format!("{MANY}debug(a);"), TEXT),
        (&format!("{MANY}`${{a}}`.len()"), TEXT),
        (&format!("{MANY}(\"\" + a).len()"), TEXT),
        (&format!("{MANY}a.to_string().len()"), TEXT),
        (
            &format!("{MANY}#{{a: 1}}.to_json(); let m = #{{}}; m[`a`] = a; m.to_json().len()"),
            "Length of string too large",
        ),
        (&format!("{MANY}let m = #{{}}; m[`a`] = a; `${{m}}`"), "Length of string too large"),
        (&format!("{LONG}let m = #{{}}; for i in 0..99 {{ m[`${{s}}${{i}}`] = 1; }} `${{m}}`"), TEXT),
        (&format!("{MANY}show(a);"), SHOWN),
        (&format!("{MANY}show(\"a\", a);"), SHOWN),
        (&format!("{MANY}a"), SHOWN),
        (&"for i in 0..150 { show(ones(1000, 100)); }".to_owned(), SHOWN),
        // At most the beginning of what is thrown.
        (&format!("{MANY}throw a"), "[\"xxx"),
    ] {
        let mut kernel = with_cells(&[code(0, source)]);
        let (found, taken) = taken(|| fault(&run(&mut kernel, 0)));
        let (place, said) =
            found.split_once(": ").unwrap_or_else(|| panic!("{source} has no fault with a place: {found:?}"));
        is_bounded(&taken, source);
        assert!(said.starts_with(words), "{source}: {found}");
        assert!(place.starts_with("1:"), "{source}: {found}");
    }
}

/// Names that hold the same text hold it once.
#[test]
fn many_names_of_one_text_are_no_more_than_it() {
    let mut kernel = with_cells(&[code(0, &format!("{MANY}let b = a; let c = b; 1"))]);
    let (found, taken) = taken(|| fault(&run(&mut kernel, 0)));
    assert_eq!(found, "");
    assert!(taken.bytes < 16 << 20, "{taken}");
}

#[test]
fn cells_together_keep_no_more_than_one_of_them_could_say() {
    let keys = |i| format!("{LONG}let m{i} = #{{}}; for i in 0..999 {{ m{i}[`${{s}}${{i}}`] = 1; }} 1");
    let cells: Vec<String> = (0..8).map(|i| code(i, &keys(i))).collect();
    let mut kernel = with_cells(&cells);
    let (faults, of_code) = taken(|| (0..8).map(|i| fault(&run(&mut kernel, i))).collect::<Vec<_>>());
    is_bounded(&of_code, "cells of 130 MB each");
    assert!(faults[..2].iter().all(String::is_empty), "{faults:?}");
    assert!(faults[2..].iter().all(|fault| fault.contains(KEPT)), "{faults:?}");
    // The rest of the notebook lives.
    let last = run(&mut kernel, 7);
    assert!(fault(&last).starts_with("1:"), "{last:?}");
    drop(kernel);

    let cells: Vec<String> =
        (0..40).map(|i| plot(i, &format!("{}; plot(vector([0, 1]), vector([1, 2]))", keys(i)))).collect();
    let (kernel, of_plots) = taken(|| with_cells(&cells));
    is_bounded(&of_plots, "plots that run by themselves");
    assert!(shown(&kernel, 0).fault.is_none());
    assert!(fault(&shown(&kernel, 39)).contains("the cells"), "{}", fault(&shown(&kernel, 39)));
}

/// A cell below shares what it reads with the one above, which may be gone before it.
#[test]
fn what_a_cell_shares_is_its_own_too() {
    let list = &format!("{LONG}let a = []; a.pad(999, 0); for i in 0..999 {{ let t = s; t.pop(); a[i] = t; }} 1");
    let below = (1..9).map(|i| code(i, &format!("let b{i} = a; 1")));
    let mut kernel = with_cells(&[code(0, list)].into_iter().chain(below).collect::<Vec<_>>());
    let (faults, taken) = taken(|| {
        let again = |i| {
            run(&mut kernel, 0);
            fault(&run(&mut kernel, i))
        };
        (1..9).map(again).collect::<Vec<_>>()
    });
    is_bounded(&taken, "eight generations of 100 MB");
    assert!(faults.iter().any(|fault| fault.contains(KEPT)), "{faults:?}");
}

/// The part of a notebook that undo remembers is what was written, and never what a run of it showed.
#[test]
fn undo_keeps_no_outputs() {
    const EDITS: usize = 100;
    const OUTPUTS: usize = 8 << 20;
    let shows = "for i in 0..9 { show(ones(1000, 100)); }";
    let mut kernel = with_cells(&[code(0, shows), code(1, "1")]);
    let write = |kernel: &mut Kernel, id: usize, text: String| {
        write(kernel, id, &text);
        assert_eq!(fault(&run(kernel, id)), "");
    };
    let ((), taken) = taken(|| {
        for i in 0..EDITS {
            write(&mut kernel, 0, format!("{shows} // {i}{}", "x".repeat(60_000)));
            write(&mut kernel, 1, format!("{i}"));
        }
    });
    println!("{taken}: {EDITS} runs of {OUTPUTS} bytes, each of another text");
    // A run beside the one that it replaces, and what both are measured by.
    assert!(taken.bytes < HISTORY_BYTES_MAX + 4 * OUTPUTS, "{taken}");
    let mut undone = 0;
    while kernel.snapshot().history.undo.is_some() {
        kernel.apply(Command::Undo);
        undone += 1;
    }
    assert_eq!(undone, 2 * EDITS, "each was an edit of its own");
}
