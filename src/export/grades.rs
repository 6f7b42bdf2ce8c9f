//! The works of a class, graded: a table for other programs, and a page that shows which misconceptions are common.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::escape;
use super::html;
use crate::kernel::check::grading::{Graded, Mark};

/// A class: the tasks of the lesson, and the works in the order in which they were given.
pub struct Class<'a> {
    pub title: &'a str,
    /// Ids and questions.
    pub tasks: Vec<(&'a str, &'a str)>,
    pub works: Vec<GradedWork>,
    /// Files that are no works, and why.
    pub unread: Vec<(String, String)>,
}

/// A work with its grades, in the order of the tasks.
pub struct GradedWork {
    pub file: String,
    pub name: Option<String>,
    pub minutes: Option<u64>,
    /// Whether it is of another text of the lesson.
    pub is_of_another_version: bool,
    pub grades: Vec<Graded>,
}

impl GradedWork {
    /// The learner's name, else the file's.
    fn called(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.file)
    }
}

/// A mark in a word.
fn word(mark: &Mark) -> &'static str {
    match mark {
        Mark::Open => "open",
        Mark::Right => "right",
        Mark::Wrong(_) => "wrong",
        Mark::OfAnotherVersion => "another version",
        Mark::NotJudged => "not judged",
    }
}

/// The sign of a mark in the table of the page.
fn sign(mark: &Mark) -> &'static str {
    match mark {
        Mark::Open => "·",
        Mark::Right => "✓",
        Mark::Wrong(_) => "✗",
        Mark::OfAnotherVersion => "≠",
        Mark::NotJudged => "?",
    }
}

fn feedback(mark: &Mark) -> &str {
    match mark {
        Mark::Wrong(Some(said)) => said,
        _ => "",
    }
}

const COLUMNS: [&str; 8] = ["file", "name", "minutes", "version", "task", "mark", "tries", "feedback"];

/// Writes a line for each task of each work.
///
/// # Errors
/// If it cannot be written.
pub fn write_tsv(class: &Class<'_>, mut to: impl Write) -> io::Result<()> {
    writeln!(to, "{}", COLUMNS.join("\t"))?;
    for work in &class.works {
        let minutes = work.minutes.map_or(String::new(), |minutes| minutes.to_string());
        let version = if work.is_of_another_version { "another" } else { "this" };
        for Graded { task, mark, tries } in &work.grades {
            let tries = tries.to_string();
            let name = work.name.as_deref().unwrap_or_default();
            let fields = [&work.file, name, &minutes, version, task, word(mark), &tries, feedback(mark)];
            writeln!(to, "{}", fields.map(field).join("\t"))?;
        }
    }
    to.flush()
}

/// A field on one line, which no table program takes for a formula.
fn field(text: &str) -> String {
    let line: String = text.split(|c: char| c.is_control() || c.is_whitespace()).collect::<Vec<_>>().join(" ");
    if line.starts_with(['=', '+', '-', '@']) { format!("'{line}") } else { line }
}

/// Writes a page about the class.
///
/// # Errors
/// If it cannot be written.
pub fn write_html(class: &Class<'_>, mut to: impl Write) -> io::Result<()> {
    let title = escape::html(class.title);
    write!(
        to,
        "{}<main>\n<h1>{title}: the class</h1>\n<p>{} {}, each judged by the lesson's own checks.</p>\n",
        html::head(&format!("{title}: the class"), html::POLICY, GRADES_STYLE),
        class.works.len(),
        if class.works.len() == 1 { "work" } else { "works" },
    )?;
    to.write_all(unread(class).as_bytes())?;
    to.write_all(by_task(class).as_bytes())?;
    to.write_all(by_work(class).as_bytes())?;
    writeln!(to, "</main>\n</body>\n</html>")?;
    to.flush()
}

const GRADES_STYLE: &str = "\
.bar { display: flex; height: .9rem; border-radius: 3px; overflow: hidden; background: var(--raised); margin: .3rem 0 .6rem; }
.bar .right { background: #2b6cb0; } .bar .wrong { background: #d08700; }
main { max-width: 60rem; }
td, th { padding: .2rem .5rem; text-align: left; } td.mark { text-align: center; }
";

fn unread(class: &Class<'_>) -> String {
    if class.unread.is_empty() {
        return String::new();
    }
    let lines = class
        .unread
        .iter()
        .map(|(file, why)| format!("<li><code>{}</code>: {}</li>", escape::html(file), escape::html(why)));
    format!("<h2>Not graded</h2>\n<ul>{}</ul>\n", lines.collect::<String>())
}

/// Each task, how it went, and what wrong answers have in common: the most common first.
fn by_task(class: &Class<'_>) -> String {
    let mut text = String::from("<h2>Tasks</h2>\n");
    for (place, (id, ask)) in class.tasks.iter().enumerate() {
        let marks: Vec<&Mark> = class.works.iter().filter_map(|work| Some(&work.grades.get(place)?.mark)).collect();
        let count = |is: fn(&Mark) -> bool| marks.iter().filter(|mark| is(mark)).count();
        let right = count(|mark| *mark == Mark::Right);
        let wrong = count(|mark| matches!(mark, Mark::Wrong(_)));
        let others = marks.len() - right - wrong;
        let first = ask.lines().find(|line| !line.trim().is_empty()).unwrap_or(id);
        let _ = write!(
            text,
            "<h3>{}</h3>\n<p class=\"line\"><code>{}</code>: {right} right, {wrong} wrong, {others} without a mark</p>\n\
             <div class=\"bar\" role=\"img\" aria-label=\"{right} of {} right\"><span class=\"right\" style=\"flex:{right}\">\
             </span><span class=\"wrong\" style=\"flex:{wrong}\"></span><span style=\"flex:{others}\"></span></div>\n",
            escape::html(first.trim()),
            escape::html(id),
            marks.len(),
        );
        text.push_str(&common(&marks));
    }
    text
}

/// The feedback that wrong answers got, with how many.
fn common(marks: &[&Mark]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for said in marks.iter().map(|mark| feedback(mark)).filter(|said| !said.is_empty()) {
        *counts.entry(said).or_default() += 1;
    }
    if counts.is_empty() {
        return String::new();
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let lines = counts.iter().map(|(said, count)| format!("<li><b>{count}</b> × {}</li>", escape::html(said)));
    format!("<ul>{}</ul>\n", lines.collect::<String>())
}

/// A row for each work, a column for each task.
fn by_work(class: &Class<'_>) -> String {
    let heads = class.tasks.iter().map(|(id, _)| format!("<th scope=\"col\">{}</th>", escape::html(id)));
    let mut text = format!(
        "<h2>Works</h2>\n<div class=\"scroll\"><table>\n<tr><th scope=\"col\">work</th><th scope=\"col\">right</th>{}</tr>\n",
        heads.collect::<String>()
    );
    for work in &class.works {
        let right = work.grades.iter().filter(|graded| graded.mark == Mark::Right).count();
        let version = if work.is_of_another_version { " (another version of the lesson)" } else { "" };
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{}{version}</th><td>{right} of {}</td>",
            escape::html(work.called()),
            work.grades.len()
        );
        for Graded { mark, tries, .. } in &work.grades {
            let tries = if *tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") };
            let (word, sign) = (word(mark), sign(mark));
            let _ = write!(text, "<td class=\"mark\" title=\"{word}, {tries}\" aria-label=\"{word}\">{sign}</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n<p class=\"note\">✓ right, ✗ wrong, · open, ≠ for another version of the task, ? not judged in time.</p>\n");
    text
}
