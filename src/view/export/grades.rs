//! The graded works of a class: a table for other programs, and a page that shows common misconceptions.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use attune_core::kernel::check::{AnswerMark, Graded, Task};
use attune_core::lesson::issue::printable;
use attune_engine::messages::{counted, counted_as};
use serde_json::{Value, json};

use super::page::Links;
use super::shared_files::Parts;
use super::{escaped, web_page};

/// A class: the lesson's tasks, and the learners' works in the order of the submissions.
pub struct Class<'a> {
    pub title: &'a str,
    pub tasks: Vec<Task<'a>>,
    pub works: Vec<GradedWork>,
    /// Files that could not be read, each with the reason.
    pub unread: Vec<(String, String)>,
}

/// A work with its grades, which are in the order of the tasks.
pub struct GradedWork {
    pub file: String,
    pub name: Option<String>,
    pub minutes: Option<u64>,
    /// Whether the work was made with another version of the lesson.
    pub is_of_another_version: bool,
    pub grades: Vec<Graded>,
}

/// The description of a mark, its sign in the page's table, and the CSS class that colours it.
struct Shown {
    word: &'static str,
    sign: &'static str,
    class: &'static str,
}

fn shown(mark: &AnswerMark) -> Shown {
    let (word, sign, class) = match mark {
        AnswerMark::Open => ("not answered", "·", "open"),
        AnswerMark::Right => ("right", "✓", "right"),
        AnswerMark::Wrong(_) | AnswerMark::Failed(_) => ("wrong", "✗", "wrong"),
        AnswerMark::OfAnotherVersion => ("another version", "≠", "other"),
        AnswerMark::NotJudged => ("not graded", "?", "other"),
    };
    Shown { word, sign, class }
}

fn feedback(mark: &AnswerMark) -> &str {
    match mark {
        AnswerMark::Wrong(Some(said)) | AnswerMark::Failed(said) => said,
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
            let word = shown(mark).word;
            let fields = [&work.file, name, &minutes, version, task, word, &tries, feedback(mark)];
            writeln!(to, "{}", fields.map(field).join("\t"))?;
        }
    }
    to.flush()
}

/// Writes the works with their marks as one JSON object.
///
/// # Errors
/// If it cannot be written.
pub fn write_json(class: &Class<'_>, mut to: impl Write) -> io::Result<()> {
    let graded = |Graded { task, mark, tries }: &Graded| json!({ "task": task, "mark": shown(mark).word, "tries": tries, "feedback": feedback(mark) });
    let work = |work: &GradedWork| {
        let tasks: Vec<Value> = work.grades.iter().map(graded).collect();
        let version = if work.is_of_another_version { "another" } else { "this" };
        json!({ "file": work.file, "name": work.name, "minutes": work.minutes, "version": version, "tasks": tasks })
    };
    let works: Vec<Value> = class.works.iter().map(work).collect();
    serde_json::to_writer_pretty(&mut to, &json!({ "lesson": class.title, "works": works }))?;
    writeln!(to)?;
    to.flush()
}

/// Characters with which spreadsheets begin a formula, including their full-width forms, and the quotation mark, which
/// begins a text that may continue over tabs and lines.
const SIGNS: [char; 9] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '"'];

/// Returns a field in one line that no spreadsheet reads as a formula or as several fields, and no terminal as a
/// command. It does not change the writing direction of the text after it.
pub(super) fn field(text: &str) -> String {
    let line: String = text.split(|c: char| c.is_control() || c.is_whitespace()).collect::<Vec<_>>().join(" ");
    let line = printable(line.trim());
    if line.starts_with(SIGNS) { format!("'{line}") } else { line }
}

/// Writes a page about the class; `items` is the table with the figures of each task, or empty.
///
/// # Errors
/// If it cannot be written.
pub fn write_html(class: &Class<'_>, items: &str, mut to: impl Write) -> io::Result<()> {
    let title = escaped(class.title);
    write!(
        to,
        "{}<main>\n<h1>{title}: the class</h1>\n<p>{}, graded by the lesson's own checks.</p>\n",
        web_page::head(&format!("{title}: the class"), Parts(None), None, &[GRADES_STYLE]),
        counted(class.works.len(), "submission"),
    )?;
    to.write_all(unread(class).as_bytes())?;
    to.write_all(common(class).as_bytes())?;
    to.write_all(items.as_bytes())?;
    to.write_all(by_task(class).as_bytes())?;
    to.write_all(by_work(class).as_bytes())?;
    writeln!(to, "</main>\n</body>\n</html>")?;
    to.flush()
}

const GRADES_STYLE: &str = include_str!("grades.css");

fn unread(class: &Class<'_>) -> String {
    if class.unread.is_empty() {
        return String::new();
    }
    let name = |file: &str| Path::new(file).file_name().map_or(file.to_owned(), |name| name.to_string_lossy().into());
    let lines = class
        .unread
        .iter()
        .map(|(file, why)| format!("<li><code>{}</code>: {}</li>", escaped(&name(file)), escaped(why)));
    let files = counted_as(class.unread.len(), "file is", "files are");
    format!("<aside class=\"unread\"><p>{files} not graded:</p><ul>{}</ul></aside>\n", lines.collect::<String>())
}

/// A wrong answer to a task, or the feedback on it, with the number of works that share it.
pub(super) struct Mistake<'a> {
    task: usize,
    pub said: &'a str,
    /// Whether the text is an error message, which may contain the learner's own text.
    is_fault: bool,
    pub count: usize,
}

impl Mistake<'_> {
    /// Returns the mistake as HTML. Feedback is Markdown of the lesson; an error message is plain text.
    fn html(&self) -> String {
        if self.is_fault {
            format!("<p>{}</p>", escaped(self.said))
        } else {
            web_page::markdown(&self.said.into(), Links::NONE)
        }
    }
}

impl Class<'_> {
    fn marks(&self, task: usize) -> impl Iterator<Item = &AnswerMark> {
        self.works.iter().filter_map(move |work| Some(&work.grades.get(task)?.mark))
    }

    /// Lists the mistakes in the answers to a task, the most common first.
    pub(super) fn mistakes(&self, task: usize) -> Vec<Mistake<'_>> {
        let mut counts: BTreeMap<(&str, bool), usize> = BTreeMap::new();
        for mark in self.marks(task).filter(|mark| !feedback(mark).is_empty()) {
            *counts.entry((feedback(mark), matches!(mark, AnswerMark::Failed(_)))).or_default() += 1;
        }
        let counts = counts.into_iter();
        let mut mistakes: Vec<_> =
            counts.map(|((said, is_fault), count)| Mistake { task, said, is_fault, count }).collect();
        mistakes.sort_by_key(|mistake| Reverse(mistake.count));
        mistakes
    }
}

/// Returns a list of the most common mistakes in all tasks, each of which at least two works share; empty if there are
/// none.
fn common(class: &Class<'_>) -> String {
    const SHOWN: usize = 5;
    let mut mistakes: Vec<Mistake<'_>> = (0..class.tasks.len()).flat_map(|task| class.mistakes(task)).collect();
    mistakes.retain(|mistake| mistake.count > 1);
    mistakes.sort_by_key(|mistake| Reverse(mistake.count));
    mistakes.truncate(SHOWN);
    if mistakes.is_empty() {
        return String::new();
    }
    let line = |mistake: &Mistake<'_>| {
        let (number, id) = (mistake.task + 1, escaped(class.tasks[mistake.task].id));
        let (said, count) = (mistake.html(), mistake.count);
        format!("<li><b>{count} ×</b><div>{said}<a href=\"#task-{number}\">{number} · {id}</a></div></li>")
    };
    format!("<h2>Common mistakes</h2>\n<ul class=\"mistakes\">{}</ul>\n", mistakes.iter().map(line).collect::<String>())
}

/// Returns a section for each task, with its results and common mistakes.
fn by_task(class: &Class<'_>) -> String {
    let mut text = String::from("<h2>Tasks</h2>\n");
    for (place, Task { id, ask, .. }) in class.tasks.iter().enumerate() {
        let all = class.marks(place).count();
        let counts = [("right", "right"), ("wrong", "wrong"), ("open", "not answered"), ("other", "not graded")]
            .map(|(of, words)| (class.marks(place).filter(|mark| shown(mark).class == of).count(), of, words));
        let there = || counts.iter().filter(|(count, ..)| *count > 0);
        let (number, right) = (place + 1, counts[0].0);
        let _ = write!(
            text,
            "<section id=\"task-{number}\">\n<h3>{number} · {}</h3>\n<div class=\"ask\">{}</div>\n\
             <div class=\"bar\" role=\"img\" aria-label=\"{right} of {all} right\">{}</div>\n<p class=\"line\">{}</p>\n",
            escaped(id),
            web_page::markdown(&(*ask).into(), Links::NONE),
            there()
                .map(|(count, class, _)| format!("<i class=\"{class}\" style=\"flex:{count}\"></i>"))
                .collect::<String>(),
            there()
                .map(|(count, class, words)| format!("<span><i class=\"{class}\"></i>{count} {words}</span>"))
                .collect::<String>(),
        );
        let mistakes = class.mistakes(place);
        if !mistakes.is_empty() {
            let line =
                |mistake: &Mistake<'_>| format!("<li><b>{} ×</b><div>{}</div></li>", mistake.count, mistake.html());
            let lines: String = mistakes.iter().map(line).collect();
            let _ = writeln!(text, "<ul class=\"mistakes\">{lines}</ul>");
        }
        text.push_str("</section>\n");
    }
    text
}

/// Returns a table with a row for each work and a column for each task.
fn by_work(class: &Class<'_>) -> String {
    let heads = class.tasks.iter().enumerate().map(|(place, Task { id, .. })| {
        let (number, id) = (place + 1, escaped(id));
        format!("<th scope=\"col\"><a href=\"#task-{number}\" title=\"{id}\" aria-label=\"{number}, {id}\">{number}</a></th>")
    });
    let has_minutes = class.works.iter().any(|work| work.minutes.is_some());
    let minutes = if has_minutes { "<th scope=\"col\">min</th>" } else { "" };
    let mut text = format!(
        "<h2>Submissions</h2>\n<div class=\"scroll\"><table class=\"works\">\n<thead><tr><th scope=\"col\">name</th>{}\
         <th scope=\"col\">right</th>{minutes}</tr></thead>\n<tbody>\n",
        heads.collect::<String>()
    );
    class.works.iter().for_each(|work| write_work(&mut text, work, has_minutes));
    text.push_str(
        "</tbody></table></div>\n<p class=\"note\">✓ right, ✗ wrong, · not answered, ≠ not graded because the task \
         has changed, ? not graded because time ran out.</p>\n",
    );
    text
}

fn write_work(text: &mut String, work: &GradedWork, has_minutes: bool) {
    let right = work.grades.iter().filter(|graded| graded.mark == AnswerMark::Right).count();
    let version = if work.is_of_another_version { "<small>another version of the lesson</small>" } else { "" };
    let _ = write!(
        text,
        "<tr><th scope=\"row\">{}{version}</th>",
        escaped(&printable(work.name.as_deref().unwrap_or(&work.file)))
    );
    for Graded { mark, tries, .. } in &work.grades {
        let tries = counted_as(*tries, "try", "tries");
        let Shown { word, sign, class } = shown(mark);
        let _ = write!(
            text,
            "<td class=\"mark {class}\" title=\"{word}, {tries}\" aria-label=\"{word}, {tries}\">{sign}</td>"
        );
    }
    let _ = write!(text, "<td>{right}/{}</td>", work.grades.len());
    if has_minutes {
        let minutes = work.minutes.map_or("–".to_owned(), |minutes| minutes.to_string());
        let _ = write!(text, "<td>{minutes}</td>");
    }
    text.push_str("</tr>\n");
}
