//! What a lesson and a class say, as it is written into files: formulas whose words reach for markup are mathematics or
//! their own source, and names as nobody has them leave a table whole.

use std::fmt::{self, Debug, Formatter};

use attune_core::kernel::check::{AnswerMark, Graded, Task};
use attune_view::export::escaped;
use attune_view::export::grades::{Class, GradedWork, write_tsv};
use attune_view::export::web_page::math::mathml;
use attune_view::export::work_file::NAME_CHARS_MAX;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Attack, Outcome, at_least_a_fifth, attack, one_of};

/// Commands that take a text, a name, a length or a colour, and others for depth.
const COMMANDS: &str = "\
    operatorname operatorname* text mathrm mathbf mathbb textbf textit texttt mbox tag tag* label ref eqref href url \
    class cssId htmlStyle color textcolor colorbox hspace rule genfrac hat overset underset sqrt frac begin end left \
    right mathop mathbin not char unicode ce def newcommand phantom boxed cancel";
/// Commands that set their arguments, by how many they take.
const SET: &[(&str, usize)] = &[
    ("operatorname", 1),
    ("operatorname*", 1),
    ("text", 1),
    ("mathrm", 1),
    ("mathbf", 1),
    ("mathbb", 1),
    ("sqrt", 1),
    ("hat", 1),
    ("frac", 2),
    ("overset", 2),
    ("underset", 2),
];
/// Parts of mathematics; a dot is a blank.
const ATOMS: &str = "x 1 ab \\alpha· +y =z <y >y \\lt·y \\quad·x (x) a^2 b_i";
/// What stands in braces; a dot is a blank.
const BODIES: &str = "\
    <script> </math> <img/src=x> <iframe/srcdoc=x> <a/href=javascript:x> <style> <textarea> <!-- --> <![CDATA[ <?x \
    </mo> <mi>x</mi> <mtext> &lt; \\&lt; \\&\\#60; \\&\\#45; \\&\\#x3c; &amp; \"onclick=\"x ' url(//evil.example) \
    red;background:red x 1 < > & #1 % ~ ^2 _i · \\· \\\\ \\lt· \\gt· \\quad aligned matrix é\u{301} \u{202e}";

/// A formula: commands with what is in their braces, and what follows them.
struct Formula {
    latex: String,
    is_display: bool,
}

#[test]
fn formulas_stay_mathematics() {
    let outcomes = attack::<Formula>(3000, &["set", "shown as its source"]);
    at_least_a_fifth(outcomes["set"], &outcomes);
}

/// A part as a lesson has it, with a word that reaches for markup in some of its braces.
fn mathematics() -> impl Strategy<Value = String> {
    let argument = prop_oneof![
        4 => vec(one_of(ATOMS), 1..4).prop_map(|atoms| atoms.concat()),
        1 => one_of(BODIES).prop_map(str::to_owned),
    ];
    let written = |((command, count), arguments): ((&str, usize), Vec<String>)| {
        let braced: String = arguments[..count].iter().map(|argument| format!("{{{argument}}}")).collect();
        format!("\\{command}{braced}").replace('·', " ")
    };
    let set = (select(SET), vec(argument, 2)).prop_map(written);
    prop_oneof![3 => set, 1 => one_of(ATOMS).prop_map(|atom| atom.replace('·', " "))]
}

fn part() -> impl Strategy<Value = String> {
    let body = || vec(one_of(BODIES), 0..5).prop_map(|bodies| bodies.concat().replace('·', " "));
    let command = || prop_oneof![45 => one_of(COMMANDS), 1 => Just("")];
    let written = move |(command, body, next, is_braced): (&str, String, String, bool)| {
        let slash = if command.is_empty() { "" } else { "\\" };
        let (open, close) = if is_braced { ("{", "}") } else { ("", " ") };
        format!("{slash}{command}{open}{body}{close}{next}")
    };
    let one = (command(), body(), body(), prop::bool::weighted(0.9)).prop_map(written);
    // A command within another's braces.
    let nested = (command(), one.clone(), body(), Just(true)).prop_map(written);
    prop_oneof![3 => one, 1 => nested]
}

impl Attack for Formula {
    fn cases() -> impl Strategy<Value = Self> {
        // What is set is where markup could get through: half of the formulas are nearly right.
        let parts = prop_oneof![vec(mathematics(), 1..4), vec(part(), 1..4)];
        let formula = (parts, any::<bool>());
        formula.prop_map(|(parts, is_display)| Self { latex: parts.concat(), is_display })
    }

    fn run(&self) -> Outcome {
        let latex = &self.latex;
        let markup = mathml(latex, self.is_display);
        let kind = if self.is_display { "source display" } else { "source" };
        if markup == format!("<code class=\"{kind}\">{}</code>", escaped(latex.trim())) {
            return Ok("shown as its source");
        }
        check(&markup).map(|()| "set").map_err(|why| format!("{why} in {markup}"))
    }
}

impl Debug for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.latex)
    }
}

/// What a browser finds in the markup of a formula: elements of mathematics, no attribute that runs or fetches
/// anything, and no character by its number.
fn check(markup: &str) -> Result<(), String> {
    const ELEMENTS: &str = "math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow \
                            mspace msqrt msub msubsup msup mtable mtd mtext mtr munder munderover b code em i s span u";
    let mut depth = 0_i64;
    for tag in markup.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').ok_or("a tag without an end")?;
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if !ELEMENTS.split_whitespace().any(|known| known == name) {
            return Err(format!("<{tag}>"));
        }
        let outside: String = tag.split('"').step_by(2).collect();
        let within: String = tag.split('"').skip(1).step_by(2).collect();
        let is_bad = ["on", "href", "src", "id", "action"].iter().any(|name| outside.contains(&format!(" {name}")));
        if is_bad || within.contains(['(', '&', '\'', '\\']) || outside.contains(['\'', '`']) {
            return Err(format!("<{tag}>"));
        }
        let mut entities = text.split('&').skip(1);
        let is_known = |rest: &str| ["lt;", "gt;", "amp;", "quot;", "#39;"].iter().any(|known| rest.starts_with(known));
        if !entities.all(is_known) {
            return Err(format!("an entity in {text:?}"));
        }
        depth += if tag.starts_with('/') { -1 } else { i64::from(!tag.ends_with('/')) };
        if depth < 0 {
            return Err("an end without a beginning".to_owned());
        }
    }
    let is_whole = depth == 0 && markup.starts_with("<math") && markup.matches("<math").count() == 1;
    if is_whole { Ok(()) } else { Err("not one formula".to_owned()) }
}

/// Parts of names, of files and of faults.
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
struct Learner([String; 3]);

/// A class.
#[derive(Debug)]
struct Learners(Vec<Learner>);

#[test]
fn every_learner_has_a_row() {
    attack::<Learners>(2000, &["every row is there"]);
}

impl Attack for Learners {
    fn cases() -> impl Strategy<Value = Self> {
        let text = || vec(select(PIECES), 0..6).prop_map(|pieces| pieces.concat());
        vec([text(), text(), text()].prop_map(Learner), 1..8).prop_map(Self)
    }

    fn run(&self) -> Outcome {
        let work = |Learner([file, name, fault]): &Learner| GradedWork {
            file: file.clone(),
            name: Some(name.chars().take(NAME_CHARS_MAX).collect()),
            minutes: None,
            is_of_another_version: false,
            grades: vec![Graded { task: "task".to_owned(), mark: AnswerMark::Failed(fault.as_str().into()), tries: 1 }],
        };
        let works = self.0.iter().map(work).collect();
        let mut table = Vec::new();
        let tasks = vec![Task { id: "task", ask: "?", wrong: Vec::new() }];
        let class = Class { title: "class", tasks, works, unread: Vec::new() };
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
}

/// The rows as a reader of such tables finds them: a field that begins with a quotation mark goes on to the next one,
/// over tabs and line ends.
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
