//! The figures of each task over a class: how many solved it, which wrong answers they gave, and whether those who
//! solved it also solved the others. Teachers use them to find the questions that are too easy, too hard or unclear.

use std::io::{self, Write};

use attune_core::kernel::check::{AnswerMark, Task};
use serde::Serialize;

use super::escaped;
use super::grades::{Class, GradedWork, field};

/// The figures of one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemFigures<'a> {
    pub task: &'a str,
    /// The number of works with an answer that was judged.
    pub answered: usize,
    pub right: usize,
    /// The share of right answers among those given; `None` if there are none. It is called the difficulty, although a
    /// large share means an easy task.
    pub difficulty: Option<f64>,
    /// The point-biserial correlation between this task and the number of other tasks that are right, over the works
    /// that answered it; `None` if all answers are right, all are wrong, or that number is the same in all works.
    pub discrimination: Option<f64>,
    /// The wrong answers with their shares: each wrong choice of a prediction, or each feedback on an exercise.
    pub wrong: Vec<WrongAnswer<'a>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongAnswer<'a> {
    pub answer: &'a str,
    pub count: usize,
    /// The share among all judged answers to the task.
    pub share: f64,
}

/// Computes the figures of all tasks, in the order of the tasks.
pub fn figures<'a>(class: &'a Class<'_>) -> Vec<ItemFigures<'a>> {
    class.tasks.iter().enumerate().map(|(place, task)| of_task(class, place, task)).collect()
}

fn of_task<'a>(class: &'a Class<'_>, place: usize, task: &'a Task<'_>) -> ItemFigures<'a> {
    let scores: Vec<(bool, usize)> = class.works.iter().filter_map(|work| score(work, place)).collect();
    let (answered, right) = (scores.len(), scores.iter().filter(|(is_right, _)| *is_right).count());
    let share = |count: usize| count as f64 / answered.max(1) as f64;
    let counts = class.mistakes(place);
    let count_of = |said: &str| counts.iter().filter(|mistake| mistake.said == said).map(|mistake| mistake.count).sum();
    let of_choice = |answer: &&'a str| (*answer, count_of(answer));
    let wrong: Vec<(&str, usize)> = match &task.wrong[..] {
        [] => counts.iter().map(|mistake| (mistake.said, mistake.count)).collect(),
        choices => choices.iter().map(of_choice).collect(),
    };
    ItemFigures {
        task: task.id,
        answered,
        right,
        difficulty: (answered > 0).then(|| share(right)),
        discrimination: point_biserial(&scores),
        wrong: wrong.into_iter().map(|(answer, count)| WrongAnswer { answer, count, share: share(count) }).collect(),
    }
}

/// Returns whether a work solved a task, and the number of other tasks that it solved; `None` if its answer was not
/// judged.
fn score(work: &GradedWork, place: usize) -> Option<(bool, usize)> {
    let is_right = match work.grades.get(place)?.mark {
        AnswerMark::Right => true,
        AnswerMark::Wrong(_) | AnswerMark::Failed(_) => false,
        AnswerMark::Open | AnswerMark::OfAnotherVersion | AnswerMark::NotJudged => return None,
    };
    let all = work.grades.iter().filter(|graded| graded.mark == AnswerMark::Right).count();
    Some((is_right, all - usize::from(is_right)))
}

/// Returns the correlation between being right and the score on the other tasks:
/// `(mean of the right − mean of the wrong) / σ · √(p q)`, where `p` and `q` are the shares of right and wrong answers.
/// (The score of *all* tasks would contain the task itself, and correlate with it even if the answers were random.)
fn point_biserial(scores: &[(bool, usize)]) -> Option<f64> {
    let of = |which: bool| scores.iter().filter(move |(is_right, _)| *is_right == which).map(|(_, rest)| *rest as f64);
    let mean = |count: usize, sum: f64| (count > 0).then(|| sum / count as f64);
    let [right, wrong] = [true, false].map(|which| (of(which).count(), of(which).sum::<f64>()));
    let (of_right, of_wrong) = (mean(right.0, right.1)?, mean(wrong.0, wrong.1)?);
    let count = scores.len() as f64;
    let all = (right.1 + wrong.1) / count;
    let variance = scores.iter().map(|(_, rest)| (*rest as f64 - all).powi(2)).sum::<f64>() / count;
    let (p, q) = (right.0 as f64 / count, wrong.0 as f64 / count);
    (variance > 0.0).then(|| (of_right - of_wrong) / variance.sqrt() * (p * q).sqrt())
}

const COLUMNS: [&str; 6] = ["task", "answered", "right", "difficulty", "discrimination", "wrong answers"];

/// Writes a figure with three decimals; empty if there is none.
fn figure(value: Option<f64>) -> String {
    // A correlation such as −0.0004 would otherwise be written as −0.000.
    value.map_or(String::new(), |value| format!("{:.3}", if value.abs() < 0.0005 { 0.0 } else { value }))
}

/// Writes a line for each task.
///
/// # Errors
/// If it cannot be written.
pub fn write_tsv(class: &Class<'_>, mut to: impl Write) -> io::Result<()> {
    writeln!(to, "{}", COLUMNS.join("\t"))?;
    for item in figures(class) {
        let wrong = item.wrong.iter().map(|wrong| format!("{:.3} {}", wrong.share, wrong.answer));
        let fields = [
            item.task.to_owned(),
            item.answered.to_string(),
            item.right.to_string(),
            figure(item.difficulty),
            figure(item.discrimination),
            wrong.collect::<Vec<_>>().join("; "),
        ];
        // A negative discrimination begins with a minus sign, but is a number and not a formula.
        let line = fields.iter().map(|text| if text.parse::<f64>().is_ok() { text.clone() } else { field(text) });
        writeln!(to, "{}", line.collect::<Vec<_>>().join("\t"))?;
    }
    to.flush()
}

/// Writes the figures as a JSON array.
///
/// # Errors
/// If it cannot be written.
pub fn write_json(class: &Class<'_>, mut to: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut to, &figures(class))?;
    writeln!(to)?;
    to.flush()
}

/// Returns a table with the figures of each task, as HTML for the page about the class.
pub fn html(class: &Class<'_>) -> String {
    let heads = ["task", "answered", "right", "difficulty", "discrimination"]
        .map(|head| format!("<th scope=\"col\">{head}</th>"));
    let row = |(place, item): (usize, &ItemFigures<'_>)| {
        let (number, id) = (place + 1, escaped(item.task));
        let [difficulty, discrimination] = [item.difficulty, item.discrimination].map(figure);
        format!(
            "<tr><th scope=\"row\"><a href=\"#task-{number}\">{number} · {id}</a></th><td>{}</td><td>{}</td>\
             <td>{difficulty}</td><td>{discrimination}</td></tr>\n",
            item.answered, item.right
        )
    };
    let rows: String = figures(class).iter().enumerate().map(row).collect();
    format!(
        "<h2>Items</h2>\n<div class=\"scroll\"><table class=\"works\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody>\
         </table></div>\n<p class=\"note\">Difficulty: the share of right answers among those given. Discrimination: the \
         point-biserial correlation with the number of other tasks that are right.</p>\n",
        heads.concat()
    )
}
