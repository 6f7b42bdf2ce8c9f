//! Cells written by the language's grammar, with all its ways to grow: each ends within its bounds of memory and time.

use std::fmt::{self, Debug, Formatter};
use std::time::{Duration, Instant};

use attune_engine::code::OWN_FAULT;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use super::{Attack, Outcome, attack, is_long, lines};
use crate::{code, fault, run, with_cells, write};

/// Cells of one case: what one makes the next one reads.
const CELLS: usize = 3;
/// Beyond these, code is not nested.
const DEPTH_MAX: u32 = 4;
/// Allowed to one cell, with all that follows it, where nothing else runs; all cells of a case are bounded everywhere.
const CELL_TIME_MAX: Duration = Duration::from_secs(5);
const CASE_BYTES_MAX: usize = 1 << 30;

/// Variables: lists, maps, texts, tensors and numbers as it comes.
const NAMES: &[&str] = &["a", "b", "m", "n", "s", "t", "x"];
const NUMBERS: &[&str] =
    &["0", "1", "2", "3", "10", "99", "999", "9999", "1000000", "-1", "1e308", "9223372036854775807"];
const COUNTS: &[&str] = &["3", "20", "99", "300", "999", "9999"];
const TEXTS: &[&str] = &[r#""""#, r#""x""#, r#""apple""#, r#""k1""#];
/// Values for all of them: a name that is not there ends a cell.
const PRELUDE: &str = "let a = []; let b = [0, 1]; let n = #{k: 1, l: []}; let t = ones(10); let x = 1;";
/// A map and a text of the cell's own, or those of the cell above.
const OWN: &str = "let m = #{}; let s = \"x\";";
const ABOVE: &str = "let m = m; let s = s;";

/// Templates of the grammar: NAME and COUNT are the same throughout one; in ⟨⟩ stands a value, a block, or one of
/// several.
const VALUES: &[&str] = &[
    "[⟨value⟩, ⟨value⟩]",
    "#{k: ⟨value⟩, l: ⟨value⟩}",
    "`${⟨value⟩}x${⟨value⟩}`",
    "(⟨value⟩ ⟨+|-|*|@|==|in|<|**⟩ ⟨value⟩)",
    "NAME[⟨value⟩]",
    "⟨zeros|ones|random⟩(COUNT, COUNT)",
    "⟨zeros|ones|eye⟩(COUNT)",
    "⟨softmax|sum|norm|vector|matrix|argmax|shape⟩(⟨value⟩)",
    "⟨E|W_Q|A|X|NAME⟩.⟨T|len|k⟩",
    "E[⟨value⟩, ⟨value⟩]",
    "NAME.⟨values|keys|to_chars|len|to_json|to_debug⟩()",
    "nearest(E, E[0], COUNT)",
    "if ⟨value⟩ == 1 { ⟨value⟩ } else { ⟨value⟩ }",
    "{ let NAME = ⟨value⟩; NAME }",
];
const STATEMENTS: &[&str] = &[
    "NAME = ⟨value⟩;",
    "NAME = ⟨value⟩;",
    "NAME = []; NAME.pad(COUNT, ⟨value⟩);",
    "NAME = \"\"; NAME.pad(130000, \"⟨x|é|\\\"|\\u0001⟩\");",
    "NAME = #{}; for i in 0..COUNT { NAME[`k${i}`] = ⟨value⟩; }",
    "NAME = #{}; for i in 0..COUNT { NAME[`${⟨a|b|m|n|s|t|x⟩}${i}`] = ⟨value⟩; }",
    "NAME = []; NAME.pad(COUNT, 0); for i in 0..COUNT { NAME[i] = ⟨value⟩; }",
    "NAME[⟨0|1|-1|\"k\"|`k${1}`|2..⟩] = ⟨value⟩;",
    "NAME.⟨k|l⟩ = ⟨value⟩;",
    "NAME ⟨=|+=|-=|*=⟩ ⟨value⟩;",
    "NAME.⟨push|append|mixin|insert|remove|shift⟩(⟨value⟩);",
    "NAME.⟨sort|reverse|dedup|pop|clear|to_upper|trim⟩();",
    "⟨print|debug|show|throw⟩(⟨value⟩);",
    "show(NAME, ⟨value⟩);",
    "NAME = ⟨value⟩.⟨keys|values|to_json|to_chars|len|to_string⟩();",
    "NAME.replace(\"x\", ⟨value⟩);",
    "NAME = NAME.map(|e| ⟨value⟩);",
    "NAME.retain(|e| ⟨value⟩ == e);",
    "t = ⟨ones(1000)|ones(100000)|x⟩; plot(t, t);",
    "NAME = NAME.split(⟨\"\"|\"x\"|1⟩);",
];
const BLOCKS: &[&str] = &[
    "for i in 0..COUNT { ⟨block⟩ }",
    "for i in 0..COUNT { ⟨block⟩ }",
    "loop { ⟨block⟩ }",
    "for e in ⟨value⟩ { ⟨block⟩ }",
    "if ⟨value⟩ == NAME { ⟨block⟩ } else { ⟨block⟩ }",
    "try { ⟨block⟩ } catch { ⟨block⟩ }",
    "{ ⟨block⟩ }",
];
const FUNCTIONS: &[&str] =
    &["fn f(i, NAME) { ⟨block⟩ if i > 0 { f(i - 1, NAME) } else { NAME } } NAME = f(40, ⟨value⟩);"];

/// The statements of some cells.
struct HostileCells(Vec<Vec<String>>);

#[test]
fn hostile_cells_end_within_their_bounds() {
    attack::<HostileCells>(30, &["with a fault", "without a fault"]);
}

impl Attack for HostileCells {
    fn cases() -> impl Strategy<Value = Self> {
        let statement = prop_oneof![27 => statements(), 1 => filled(FUNCTIONS, &values(), &block(&statements()))];
        let cell = (select(&[OWN, ABOVE][..]), vec(statement, 0..8));
        vec(cell, 1..=CELLS).prop_map(|cells| {
            let begun = |(at, (begin, statements)): (usize, (&str, Vec<String>))| {
                let begin = if at == 0 { OWN } else { begin };
                [vec![format!("{begin} {PRELUDE}")], statements].concat()
            };
            Self(cells.into_iter().enumerate().map(begun).collect())
        })
    }

    fn run(&self) -> Outcome {
        let mut kernel = with_cells(&(0..CELLS).map(|id| code(id, "1")).collect::<Vec<_>>());
        let mut outcome = "without a fault";
        for (id, cell) in self.0.iter().enumerate() {
            write(&mut kernel, id, &cell.join(" "));
            let begun = Instant::now();
            let said = fault(&run(&mut kernel, id));
            if said.contains(OWN_FAULT) {
                return Err(format!("c{id}: {said}"));
            }
            if is_long() && begun.elapsed() > CELL_TIME_MAX {
                return Err(format!("c{id} takes {:?}", begun.elapsed()));
            }
            if !said.is_empty() {
                outcome = "with a fault";
            }
        }
        Ok(outcome)
    }

    fn bytes_max(&self) -> usize {
        CASE_BYTES_MAX
    }
}

impl Debug for HostileCells {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let cells: Vec<String> = self.0.iter().map(|cell| cell.join(" ")).collect();
        write!(f, "{} cells{}", cells.len(), lines(&cells))
    }
}

fn values() -> BoxedStrategy<String> {
    let leaf = prop_oneof![4 => select(NAMES), 1 => select(NUMBERS), 1 => select(TEXTS)].prop_map(String::from);
    leaf.prop_recursive(DEPTH_MAX, 32, 2, |inner| filled(VALUES, &inner, &Just(String::new()).boxed())).boxed()
}

fn statements() -> BoxedStrategy<String> {
    // What fails goes on, or nothing would grow after the first mistake.
    let tried = |statement: BoxedStrategy<String>| {
        (statement, prop::bool::weighted(0.9)).prop_map(|(written, is_tried)| match is_tried {
            true => format!("try {{ {written} }} catch {{ }}"),
            false => written,
        })
    };
    let leaf = tried(filled(STATEMENTS, &values(), &Just(String::new()).boxed()));
    leaf.prop_recursive(DEPTH_MAX, 16, 2, move |inner| tried(filled(BLOCKS, &values(), &block(&inner)))).boxed()
}

fn block(statement: &BoxedStrategy<String>) -> BoxedStrategy<String> {
    vec(statement.clone(), 1..4).prop_map(|statements| statements.join(" ")).boxed()
}

/// One of some templates, with all that is left open in it.
fn filled(
    templates: &'static [&'static str],
    value: &BoxedStrategy<String>,
    block: &BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    let of = |template: &&'static str| {
        let hole = |(i, part): (usize, &'static str)| match part {
            _ if i % 2 == 0 => Just(part.to_owned()).boxed(),
            "value" => value.clone(),
            "block" => block.clone(),
            several => select(several.split('|').collect::<Vec<_>>()).prop_map(String::from).boxed(),
        };
        let parts: Vec<_> = template.split(['⟨', '⟩']).enumerate().map(hole).collect();
        let all = (parts, select(NAMES), select(COUNTS));
        all.prop_map(|(parts, name, count)| parts.concat().replace("NAME", name).replace("COUNT", count))
    };
    Union::new(templates.iter().map(of)).boxed()
}
