//! Names, files and faults of a class as nobody has them: a table program finds every row, and no formula.

use attune_core::kernel::check::grading::{Graded, Mark};
use attune_view::export::grades::{Class, GradedWork, write_tsv};
use attune_view::export::work_file::NAME_CHARS_MAX;
use proptest::prelude::*;

use super::{Attack, Outcome, drawn};

const PIECES: &[&str] = &[
    "\"",
    "'",
    "=",
    "+",
    "-",
    "@",
    "＝",
    "＋",
    "－",
    "＠",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\u{2028}",
    "\u{a0}",
    "\u{feff}",
    "\u{200b}",
    "\u{202e}",
    "\u{1b}[31m",
    ",",
    ";",
    "|",
    "Ada",
    "1",
    "cmd|' /C calc'!A0",
    "=HYPERLINK(\"//x\")",
    "é\u{301}",
    "<b>",
    "\\",
];
const COLUMNS: usize = 8;

/// A learner: the file, the name and the fault of the only answer.
#[derive(Clone, Debug)]
pub struct Learner([String; 3]);

#[derive(Clone, Debug)]
pub struct Learners(Vec<Learner>);

impl Attack for Learners {
    type Part = Learner;

    fn of(seed: u64) -> Self {
        let text = || prop::collection::vec(prop::sample::select(PIECES), 0..6).prop_map(|pieces| pieces.concat());
        let learner = [text(), text(), text()].prop_map(Learner);
        Self(drawn(seed, prop::collection::vec(learner, 1..8)))
    }

    fn run(&self) -> Outcome {
        let work = |Learner([file, name, fault]): &Learner| GradedWork {
            file: file.clone(),
            name: Some(name.chars().take(NAME_CHARS_MAX).collect()),
            minutes: None,
            is_of_another_version: false,
            grades: vec![Graded { task: "task".to_owned(), mark: Mark::Failed(fault.as_str().into()), tries: 1 }],
        };
        let works = self.0.iter().map(work).collect();
        let mut table = Vec::new();
        let class = Class { title: "class", tasks: vec![("task", "?")], works, unread: Vec::new() };
        write_tsv(&class, &mut table).map_err(|error| error.to_string())?;
        let table = String::from_utf8(table).map_err(|error| error.to_string())?;
        let rows = rows(&table);
        if rows.len() != 1 + self.0.len() || rows.iter().any(|row| row.len() != COLUMNS) {
            return Err(format!("{} rows of {} learners: {table:?}", rows.len(), self.0.len()));
        }
        let is_formula = |field: &&String| field.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
        match rows.iter().flatten().find(is_formula) {
            Some(field) => Err(format!("a formula: {field:?}")),
            None => Ok("every row is there"),
        }
    }

    fn parts(&mut self) -> &mut Vec<Learner> {
        &mut self.0
    }

    fn told(&self) -> String {
        format!("{:#?}", self.0)
    }
}

/// The rows as a reader of such tables finds them: a field that begins with a quotation mark goes on to the next one, over
/// tabs and line ends.
fn rows(table: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    for c in table.chars() {
        match c {
            '"' if is_quoted => is_quoted = false,
            '"' if field.trim_start().is_empty() => is_quoted = true,
            '\t' if !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    rows
}
