//! A cell is done within seconds with all its parts, a lesson opens in time, and what is not run says so.

use std::time::Duration;

use attune_core::kernel::check::rehearse;

use crate::peak::taken;
use crate::{SLOW, cell, code, fault, feedback, plot, run, shown, with_cells};

/// Far more than any of this takes, on a machine that does much else.
const GUARD: Duration = Duration::from_secs(60);

#[test]
fn an_exercise_takes_no_longer_than_any_cell() {
    let feedbacks: String = (0..20).map(|_| format!("Feedback(when: r#\"{SLOW}\"#, say: \"x\"), ")).collect();
    let cases = "\"let q = 1;\", ".repeat(10);
    let exercise = format!(
        "Exercise(id: \"c0\", ask: \"x\", start: \"1\", check: r#\"{SLOW}\"#, value: r#\"{SLOW}\"#, expected: r#\"{SLOW}\"#, \
         cases: [{cases}], feedback: [{feedbacks}], hints: [], solution: \"2\"),"
    );
    let mut kernel = with_cells(&[exercise, code(1, "1 + 1")]);
    let (ran, taken) = taken(|| run(&mut kernel, 0));
    println!("{taken}: ten cases of twenty feedbacks");
    assert!(feedback(&ran).ends_with("this cell takes longer than 4 s; does a loop never end?"), "{ran:?}");
    assert!(taken.time < GUARD, "{taken}");
    assert!(run(&mut kernel, 1).fault.is_none());
}

#[test]
fn cells_that_run_by_themselves_take_seconds_together() {
    let mut cells: Vec<String> = (0..8).map(|i| plot(i, SLOW)).collect();
    cells.push(plot(8, "plot(vector([0, 1]), vector([1, 2]))"));
    let (mut kernel, taken) = taken(|| with_cells(&cells));
    println!("{taken}: eight plots that never end");
    assert!(taken.time < GUARD, "{taken}");
    let said = "not run, because the cells that run automatically take more than 7 s together; select the cell and \
        press Shift+Enter to run it";
    let late = fault(&shown(&kernel, 0));
    assert!(
        late.starts_with("1:") && late.ends_with(": this cell takes longer than 4 s; does a loop never end?"),
        "{late}"
    );
    for id in 1..9 {
        assert_eq!(fault(&shown(&kernel, id)), said, "c{id}");
    }
    assert!(run(&mut kernel, 8).fault.is_none(), "the learner asks for it");
}

/// Whatever a text names is written in one operation of the language; the clock is looked at all the same.
#[test]
fn texts_that_are_written_in_a_loop_end_in_time() {
    let parts = "${a}".repeat(4);
    for (what, source) in [
        ("lists", format!("let a = []; a.pad(9999, 1); loop {{ `{parts}`; }}")),
        ("long texts", format!("let a = \"\"; a.pad(32000, \"x\"); loop {{ `{parts}`; }}")),
        ("many parts", format!("let a = 1; loop {{ `{}`; }}", "${a}".repeat(16_000))),
    ] {
        let mut kernel = with_cells(&[code(0, &source)]);
        let (found, taken) = taken(|| fault(&run(&mut kernel, 0)));
        println!("{taken}: {what}");
        assert!(found.contains("takes longer than 4 s") || found.contains("operations"), "{what}: {found}");
        assert!(taken.time < GUARD && taken.bytes < 64 << 20, "{what}: {taken}");
    }
}

#[test]
fn texts_take_seconds_together_and_a_check_ends() {
    let text = |id: usize| {
        let of =
            |i: usize| format!("{{{{ {i} + {SLOW} }}}} ", SLOW = "{ let a = []; a.pad(9999, 0); loop { 1 in a; } }");
        format!("Text(id: \"c{id}\", md: r####\"{}\"####),\n", (0..20).map(of).collect::<String>())
    };
    let cells: Vec<String> = (0..30).map(text).collect();
    let (mut kernel, opened) = taken(|| with_cells(&cells));
    println!("{opened}: thirty texts of twenty expressions that never end");
    assert!(opened.time < GUARD, "{opened}");
    let said = |id| {
        let live =
            cell(&kernel, id).live.and_then(|live| live.values).unwrap_or_else(|| panic!("c{id} is not evaluated"));
        live.faults().next().map(|(_, fault)| fault.to_string()).unwrap_or_default()
    };
    assert!(said(0).contains("takes longer than 1 s"), "{}", said(0));
    assert!(
        said(9).starts_with("not computed, because the numbers in the texts take more than 3 s together"),
        "{}",
        said(9)
    );
    let (problems, checked) = taken(|| rehearse(&mut kernel, Duration::ZERO));
    println!("{checked}: a check without time");
    let words: Vec<&str> = problems.iter().map(|problem| problem.words.as_str()).collect();
    assert_eq!(
        words,
        ["not checked (nor were the 29 cells below), because all cells together took more than 0 s; \
            raise the limit with --within SECONDS"]
    );
}

/// The work after a run takes time too: measuring, comparing and dropping what a cell made of what it was given.
#[test]
fn what_follows_a_run_is_quick() {
    let many = "let v = []; v.pad(9999, zeros(1)); let m = #{}; for i in 0..60 { m[\"k\" + i] = v; }";
    let mut kernel = with_cells(&[code(0, many), code(1, "let n = m; 1"), code(2, "let o = n; 1")]);
    let (ran, taken) = taken(|| [0, 1, 2].map(|id| fault(&run(&mut kernel, id))));
    println!("{taken}: 600,000 tensors, read twice");
    assert!(taken.time < GUARD, "{taken}");
    assert_eq!(ran[..2], ["", ""]);
}
