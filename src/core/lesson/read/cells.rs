//! Reading of the cells of a notebook.

use attune_engine::numerics::model::Architecture;

use crate::lesson::links::LinkContext;
use crate::lesson::live_text::LessonText;
use crate::lesson::read::common::{LessonNames, code, line, take_id, unique_ids};
use crate::lesson::read::corpus::sentence_index;
use crate::lesson::read::model::{shape_named, shapes};
use crate::lesson::read::panels::read_panels;
use crate::lesson::read::texts::{TextAt, check_links, live_line, live_markdown};
use crate::lesson::reading::decode::{
    At, Node, Record, complete, fields, finite, flag, list, list_of, parsed, positive, record, share, text, whole,
    wrong,
};
use crate::lesson::reading::issue::{one_of, shorten};
use crate::lesson::reading::tree::{Body, Form};
use crate::lesson::recorded::ONE_PASS;
use crate::lesson::schema::cells::{Bind, CELL_KINDS, Cell, CellKind, Exercise, Feedback, Predict, Slider};
use crate::lesson::schema::limits::{
    CASES_MAX, CELLS_MAX, CHOICES_OF_PREDICTION, FEEDBACK_MAX, HINTS_MAX, LINES_MAX, PLAYS_MAX, TEMPERATURE_MAX,
    TEMPERATURE_MIN, TOKENS_MAX,
};

/// The parts of a lesson to which its cells refer; `None` for a part with issues of its own.
pub struct CellContext<'c> {
    pub names: &'c LessonNames,
    /// Number of words of each of the lesson's sentences.
    pub lengths: Option<&'c [usize]>,
    /// The words that each sentence has on the stage; `None` for a sentence with issues.
    pub sentences: &'c [Option<Vec<String>>],
    pub architecture: Option<&'c Architecture>,
    /// Greatest number of answers of the readout.
    pub answers: Option<usize>,
}

/// References of the cells read so far, which are checked once all cells are read.
#[derive(Default)]
struct Referred<'s> {
    ids: Vec<At<'s, String>>,
    /// Tasks that gates wait for, each with its gate.
    needs: Vec<At<'s, (String, String)>>,
    texts: Vec<TextAt<'s>>,
    /// Index of the sentence that the last Stage cell shows.
    sentence: usize,
}

impl<'s> Referred<'s> {
    /// Reads a Markdown text of a cell, and keeps it for the check of its links.
    fn markdown(&mut self, node: Node<'s>) -> Option<LessonText> {
        let markdown = live_markdown(node)?;
        self.texts.push(TextAt { markdown: markdown.clone(), node, sentence: self.sentence });
        Some(markdown)
    }
}

impl<'c> CellContext<'c> {
    pub fn read_cells(&self, node: Node<'_>) -> Option<Vec<Cell>> {
        let mut referred = Referred::default();
        let cells = list(node, CELLS_MAX, |node| {
            record(node, &CELL_KINDS.map(|kind| kind.name), |record| self.read_kind(record, &mut referred))
        });
        unique_ids(&referred.ids, "cell");
        if let Some(cells) = &cells {
            check_needs(cells, &referred.needs);
        }
        self.check_links(&referred);
        cells
    }

    fn check_links(&self, referred: &Referred<'_>) {
        let cells: Vec<&str> = referred.ids.iter().map(|id| id.value.as_str()).collect();
        let weights = self.architecture.zip(self.answers).map(|(architecture, answers)| {
            if self.names.recording.is_some() {
                return Vec::new();
            }
            let words = self.names.vocabulary.as_ref().map_or(0, |vocabulary| vocabulary.words.len());
            architecture
                .shapes(words, answers)
                .into_iter()
                .map(|(id, rows, cols)| (id.code_name(), rows, cols))
                .collect::<Vec<_>>()
        });
        let words = |words: &'c Vec<String>| words.iter().map(String::as_str).collect::<Vec<&str>>();
        let sentences: Vec<_> = self.sentences.iter().map(|sentence| sentence.as_ref().map(words)).collect();
        let context = LinkContext {
            heads: self.architecture.map(Architecture::heads),
            weights: weights.as_deref(),
            cells: Some(&cells),
            ..LinkContext::default()
        };
        check_links(&referred.texts, &context, |index| sentences.get(index)?.as_deref());
    }

    fn read_kind<'s>(&self, record: &mut Record<'s>, referred: &mut Referred<'s>) -> Option<Cell> {
        let id = take_id(record, &mut referred.ids);
        let kind = match record.name {
            "Text" => fields! { record => CellKind::Text { markdown as "md": |node| referred.markdown(node); } },
            "Code" => fields! { record => CellKind::Code {
                source as "src": code;
                fails: flag, or false;
                asserts: code, or String::new();
            } },
            "Plot" => fields! { record => CellKind::Plot {
                caption: line, or String::new();
                source as "src": code;
            } },
            "Stage" => {
                let stage = self.read_stage(record);
                if let Some(CellKind::Stage { sentence, .. }) = &stage {
                    referred.sentence = *sentence;
                }
                stage
            }
            "Slider" => self.read_slider(record).map(CellKind::Slider),
            "Predict" => read_predict(record, referred).map(CellKind::Predict),
            "Exercise" => read_exercise(record, referred).map(CellKind::Exercise),
            _ => {
                let of = id.clone().unwrap_or_default();
                let need = |node| {
                    let need = text(node)?;
                    referred.needs.push(At { value: (of.clone(), need.clone()), node });
                    Some(need)
                };
                fields! { record => CellKind::Gate {
                    caption: line, or String::new();
                    needs: list_of(CELLS_MAX, need);
                } }
            }
        };
        let opens = record.take_or("opens", Vec::new(), read_panels);
        Some(Cell { id: id?, kind: kind?, opens: opens? })
    }

    fn read_stage(&self, record: &mut Record<'_>) -> Option<CellKind> {
        fields! { record => CellKind::Stage {
            caption: line, or String::new();
            sentence: sentence_index(self.lengths), or 0;
            words: list_of(TOKENS_MAX, |node| self.names.word(node)), or Vec::new();
            time: |node| share(node).map(|time| time as f32), or 0.0;
            plays: whole(0..=PLAYS_MAX), or 0;
            lines: list_of(LINES_MAX, |node| self.read_line(node)), or Vec::new();
            goals: list_of(LINES_MAX, |node| self.read_line(node)), or Vec::new();
        } }
    }

    /// Reads the two words that a line joins.
    fn read_line(&self, node: Node<'_>) -> Option<(String, String)> {
        let Some(ends) = pair(node) else { return wrong(node, "(word, word), such as (\"man\", \"king\")") };
        let ends = ends.map(|node| self.names.word(node));
        let [Some(from), Some(to)] = ends else { return None };
        if from == to {
            return node.field_issue(format!("a line from \"{}\" to itself", shorten(&from))).none();
        }
        Some((from, to))
    }

    fn read_slider(&self, record: &mut Record<'_>) -> Option<Slider> {
        let given = record.given("start");
        fields! { record;
            caption: line, or String::new();
            bind: |node| self.read_bind(node);
            range: |node| read_range(node, bind.as_ref().map_or((f64::MIN, f64::MAX), widest_range)),
                or bind.as_ref().map_or((0.0, 1.0), default_range);
            step: positive, optional;
            start: finite, optional;
        }
        if let (Some(node), Some(Some(start)), Some((least, most))) = (given, start, range)
            && !(least..=most).contains(&start)
        {
            node.issue(format!("start: {start}")).expected(format!("a number from {least} to {most}, its range"));
        }
        complete!(Slider { caption, bind, range, step, start })
    }

    fn read_bind(&self, node: Node<'_>) -> Option<Bind> {
        let written = text(node)?;
        let name = written.trim();
        if self.names.recording.is_some() && (matches!(name, "temperature" | "mask") || name.contains('[')) {
            let problem = format!("bind: {} would change the pass, but {ONE_PASS}", shorten(name));
            return node.issue(problem).expected("time, or the name of a variable").none();
        }
        match name {
            "temperature" => return Some(Bind::Temperature),
            "time" => return Some(Bind::Time),
            "mask" => return Some(Bind::Mask),
            _ => {}
        }
        if let Some((symbol, index)) = name.split_once('[') {
            // If the model has issues of its own, any entry may be valid.
            return read_entry(node, symbol.trim(), index, self.architecture?);
        }
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return wrong(
                node,
                "temperature, time, mask, an entry of a weight such as W_Q[0, 1], or the name of a variable",
            );
        }
        Some(Bind::Variable(name.to_owned()))
    }
}

/// Reads an entry of a weight, such as `W_Q[0, 1]`.
fn read_entry(node: Node<'_>, symbol: &str, index: &str, architecture: &Architecture) -> Option<Bind> {
    let shapes = shapes(architecture);
    let Some((tensor, rows, cols)) = shape_named(&shapes, symbol) else {
        let known: Vec<String> = shapes.iter().map(|(id, ..)| id.code_name()).collect();
        return node
            .issue(format!("bind: the model has no {}", shorten(symbol)))
            .expected(one_of(&known))
            .nearest(symbol, known.iter().map(String::as_str))
            .none();
    };
    let places = index.strip_suffix(']').and_then(|index| index.split_once(','));
    let place = |text: &str, count: usize| text.trim().parse().ok().filter(|place| *place < count);
    match places.and_then(|(row, col)| place(row, rows).zip(place(col, cols))) {
        Some((row, col)) => Some(Bind::Weight { tensor, row, col }),
        None => {
            let expected = format!("{symbol}[row, column], from 0 to {} and from 0 to {}", rows - 1, cols - 1);
            node.issue(format!("bind: {} is not an entry of {symbol}", shorten(node.text))).expected(expected).none()
        }
    }
}

fn default_range(bind: &Bind) -> (f64, f64) {
    match bind {
        Bind::Temperature => (0.1, 4.0),
        Bind::Time | Bind::Mask | Bind::Variable(_) => (0.0, 1.0),
        Bind::Weight { .. } => (-2.0, 2.0),
    }
}

fn widest_range(bind: &Bind) -> (f64, f64) {
    match bind {
        Bind::Temperature => (TEMPERATURE_MIN, TEMPERATURE_MAX),
        Bind::Time | Bind::Mask => (0.0, 1.0),
        Bind::Weight { .. } => (f64::from(f32::MIN), f64::from(f32::MAX)),
        Bind::Variable(_) => (f64::MIN, f64::MAX),
    }
}

/// Returns the two values of `(from, to)`.
fn pair(node: Node<'_>) -> Option<[Node<'_>; 2]> {
    let Form::Record(None, Body::Items(ends)) = node.form() else { return None };
    let [from, to] = &ends[..] else { return None };
    Some([from, to].map(|end| node.inner(end)))
}

fn read_range(node: Node<'_>, (least, most): (f64, f64)) -> Option<(f64, f64)> {
    let range = pair(node).and_then(|[from, to]| parsed(from).zip(parsed(to)));
    range.filter(|&(from, to)| least <= from && from < to && to <= most && (to - from).is_finite()).or_else(|| {
        let within = if most == f64::MAX { String::new() } else { format!(", within {least} and {most}") };
        wrong(node, &format!("(from, to), such as (0.5, 2.0){within}"))
    })
}

fn read_predict<'s>(record: &mut Record<'s>, referred: &mut Referred<'s>) -> Option<Predict> {
    let read_choices = |node| {
        let choices = list(node, *CHOICES_OF_PREDICTION.end(), live_line)?;
        if !CHOICES_OF_PREDICTION.contains(&choices.len()) {
            let (least, most) = CHOICES_OF_PREDICTION.into_inner();
            return node
                .issue(format!("choices: {}", choices.len()))
                .expected(format!("from {least} to {most}"))
                .none();
        }
        Some(choices)
    };
    let given = record.given("reasons");
    fields! { record;
        ask: |node| referred.markdown(node);
        draws: code, or String::new();
        choices: read_choices;
        reasons: list_of(*CHOICES_OF_PREDICTION.end(), |node| referred.markdown(node)), or Vec::new();
        answer: code;
        shows: code, or String::new();
        explain: |node| referred.markdown(node), or LessonText::default();
    }
    if let (Some(node), Some(choices), Some(reasons)) = (given, &choices, &reasons)
        && choices.len() != reasons.len()
    {
        let expected = format!("{}, one for each choice", choices.len());
        return node.issue(format!("reasons: {}", reasons.len())).expected(expected).none();
    }
    complete!(Predict { ask, draws, choices, reasons, answer, shows, explain })
}

fn read_exercise<'s>(record: &mut Record<'s>, referred: &mut Referred<'s>) -> Option<Exercise> {
    let compares = record.given("expected").filter(|_| record.given("value").is_none());
    if let Some(node) = compares {
        node.issue("expected: there is no value to compare it with").expected("value: code for what the answer gives");
    }
    fields! { record => Exercise {
        ask: |node| referred.markdown(node);
        start: code, optional;
        check: code;
        cases: list_of(CASES_MAX, code), or Vec::new();
        value: code, or String::new();
        expected: code, or String::new();
        hints: list_of(HINTS_MAX, |node| referred.markdown(node)), or Vec::new();
        feedback: list_of(FEEDBACK_MAX, |node| read_feedback(node, referred)), or Vec::new();
        solution: code;
    } }
}

fn read_feedback<'s>(node: Node<'s>, referred: &mut Referred<'s>) -> Option<Feedback> {
    record(node, &["Feedback"], |record| {
        fields! { record => Feedback {
            when: code;
            say: |node| referred.markdown(node);
        } }
    })
}

/// Checks that each gate waits only for predictions and exercises above it.
fn check_needs(cells: &[Cell], needs: &[At<'_, (String, String)>]) {
    for At { value: (gate, need), node } in needs {
        let above = cells.iter().take_while(|cell| cell.id != *gate);
        let tasks: Vec<&str> = above.filter(|cell| cell.kind.is_task()).map(|cell| cell.id.as_str()).collect();
        if !tasks.contains(&need.as_str()) {
            node.issue(format!("needs: no prediction or exercise \"{}\" is above", shorten(need)))
                .expected("the id of a prediction or exercise above this gate")
                .nearest(need, tasks);
        }
    }
}
