//! Commands to a kernel, one after the other as no learner would give them.

use std::fmt::{self, Debug, Formatter};
use std::iter::repeat_n;
use std::sync::Arc;

use attune_core::fnv1a;
use attune_core::kernel::command::Reference;
use attune_core::kernel::notebook::document::{Answer, Attempts, DOCUMENT_CELLS_MAX};
use attune_core::kernel::notebook::snapshot::RunSnapshot;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot};
use attune_core::kernel::{Command, Kernel, Saved, Snapshot};
use attune_core::lesson::Lesson;
use attune_engine::code::OWN_FAULT;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;

use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

use super::generator::commands;
use super::{Attack, Outcome, attack, lines};
use crate::common::close::{Tolerance, is_close, is_close_beside};
use crate::common::lessons::{apply, lesson};
use crate::common::top::at;

/// Lessons that train in milliseconds, each with another kind of model.
const LESSONS: &[&str] = &[
    include_str!("../../fixtures/small.ron"),
    include_str!("../../fixtures/notebook.ron"),
    include_str!("../../fixtures/forms/custom_mask.ron"),
    include_str!("../../fixtures/forms/next_word.ron"),
    include_str!("../../fixtures/forms/label.ron"),
    include_str!("../../fixtures/forms/translation.ron"),
];
/// Recordings with all parts, of two towers, of several texts, and of attention alone.
const RECORDINGS: [&str; 4] = ["bert", "t5", "senses", "attention-only"];
/// The most commands of one kernel.
const COMMANDS: usize = 250;
/// Weights beyond which a forward pass may leave the numbers, which the stage says then.
const LARGE: f32 = 1e3;
/// Of rows of weights, which sum to 1 whatever the weights and scores are.
const ROUNDING: Tolerance = Tolerance::SINGLE_NORMS;

/// A command, and how many pieces of the work that follows are done before the next; all, if none is said.
#[derive(Clone, Debug)]
pub struct Step {
    pub command: Command,
    advances: Option<usize>,
    /// Undone at once, to see what it leaves; undone and redone after it; saved and opened after it.
    is_undone: bool,
    travels: bool,
    reopens: bool,
}

/// Commands to one lesson's kernel.
#[derive(Clone)]
pub struct RandomCommands {
    pub lesson: Arc<Lesson>,
    pub steps: Vec<Step>,
}

fn recording(folder: &str) -> Arc<Lesson> {
    let file = at("tests/fixtures/recordings").join(folder);
    Arc::new(attune_core::lesson::read(&file.join("run.safetensors")).expect("a recording"))
}

#[test]
fn random_commands_leave_a_kernel_whole() {
    attack::<RandomCommands>(40, &["held"]);
}

impl Attack for RandomCommands {
    fn cases() -> impl Strategy<Value = Self> {
        /// The most commands to a recording, which refuses most.
        const TO_RECORDINGS: usize = 60;
        let recordings = RECORDINGS.map(|folder| (1, of(&recording(folder), TO_RECORDINGS)));
        Union::new_weighted([(9, Self::of_at_most(COMMANDS).boxed())].into_iter().chain(recordings).collect())
    }

    fn run(&self) -> Outcome {
        let mut kernel = Kernel::trained(self.lesson.clone());
        let mut revision = kernel.snapshot().revision;
        for (i, step) in self.steps.iter().enumerate() {
            let said = |why: String| format!("command {i}, {:?}: {why}", step.command);
            if step.is_undone {
                undo_of(&mut kernel, &step.command).map_err(said)?;
                revision = kernel.snapshot().revision;
            }
            kernel.apply(step.command.clone());
            match step.advances {
                None => kernel.settle(),
                Some(pieces) => (0..pieces).for_each(|_| kernel.advance()),
            }
            let snapshot = kernel.snapshot();
            check(&snapshot).map_err(said)?;
            if snapshot.revision <= revision {
                return Err(said(format!("revision {} comes after {revision}", snapshot.revision)));
            }
            revision = snapshot.revision;
            if step.travels {
                kernel.settle();
                travel(&mut kernel).map_err(said)?;
            }
            if step.reopens || i % (COMMANDS / 2) == 1 || i + 1 == self.steps.len() {
                kernel.settle();
                reopen(&kernel).map_err(said)?;
            }
        }
        Ok("held")
    }
}

impl RandomCommands {
    pub fn of_at_most(count: usize) -> impl Strategy<Value = Self> {
        let lessons: Vec<_> = LESSONS.iter().map(|text| of(&lesson(text), count)).collect();
        Union::new(lessons)
    }

    /// A learner who has given all of them.
    pub fn done(&self) -> Kernel {
        let mut kernel = Kernel::trained(self.lesson.clone());
        self.steps.iter().for_each(|step| apply(&mut kernel, step.command.clone()));
        kernel
    }
}

impl Debug for RandomCommands {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "lesson {}{}", self.lesson.id, lines(&self.steps))
    }
}

fn of(lesson: &Arc<Lesson>, count: usize) -> BoxedStrategy<RandomCommands> {
    let advances = prop_oneof![5 => Just(None), 1 => (0..4_usize).prop_map(Some)];
    let marks = [weighted(1.0 / 6.0), weighted(1.0 / 6.0), weighted(1.0 / 200.0)];
    let step = (commands(lesson), advances, marks);
    let step = step.prop_map(|(command, advances, [is_undone, travels, reopens])| Step {
        command,
        advances,
        is_undone,
        travels,
        reopens,
    });
    let lesson = lesson.clone();
    vec(step, 1..=count).prop_map(move |steps| RandomCommands { lesson: lesson.clone(), steps }).boxed()
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// All that is seen fits together.
fn check(snapshot: &Snapshot) -> Result<(), String> {
    let model = snapshot.model.as_ref().ok_or("the model is gone")?;
    let space = snapshot.space.as_ref().ok_or("the space is gone")?;
    for said in snapshot.notice.iter() {
        ensure(!said.is_empty() && !said.contains('\u{1b}'), || format!("the notice {said:?}"))?;
    }
    let finite = |values: &[f32]| values.iter().all(|x| x.is_finite());
    for (name, parameters) in [("live", &model.parameters), ("trained", &model.trained), ("start", &model.start)] {
        ensure(parameters.len() == model.start.len(), || format!("{name}: {} parameters", parameters.len()))?;
        ensure(finite(parameters.flat()), || format!("{name} parameters are not finite"))?;
    }
    ensure(finite(space.points.flat()), || "points of words are not finite".to_owned())?;
    ensure(space.points.rows() == space.vocabulary.len(), || format!("{} points of words", space.points.rows()))?;
    check_training(model)?;
    let is_large = model.parameters.flat().iter().any(|x| x.abs() > LARGE);
    check_sentence(&model.sentence, model, is_large).map_err(|why| format!("the sentence: {why}"))?;
    if let Some(second) = &model.second {
        check_sentence(&second.other, model, is_large).map_err(|why| format!("the second sentence: {why}"))?;
    }
    let senses = &model.senses;
    ensure(senses.rows.len() == senses.list.sentences.len(), || format!("{} rows of senses", senses.rows.len()))?;
    if let Some(measured) = &senses.measured {
        let count = measured.occurrences.len();
        let has_all = senses.points.len() == measured.layers.len() && senses.points.iter().all(|of| of.rows() == count);
        ensure(has_all, || format!("{count} occurrences and {} layers of points", senses.points.len()))?;
        let points = senses.points.iter().all(|of| is_large || finite(of.flat()));
        ensure(points, || "points of senses are not finite".to_owned())?;
    }
    if let Some(comparison) = &model.comparison {
        ensure(comparison.difference.len() == model.start.len(), || "the comparison has another shape".to_owned())?;
    }
    check_notebook(snapshot)
}

fn check_training(model: &ModelSnapshot) -> Result<(), String> {
    let training = &model.training;
    let done = training.progress.done;
    ensure(done <= training.progress.of, || format!("{:?}", training.progress))?;
    ensure(training.log.len() == done, || format!("{} rows of the log at step {done}", training.log.len()))?;
    if let Some(look) = training.look {
        ensure(look.step <= look.target && look.target <= done, || format!("{look:?} at step {done}"))?;
    }
    let steps = &training.checkpoints.steps;
    ensure(steps.is_sorted() && steps.last().is_none_or(|last| *last <= done), || format!("{steps:?} at {done}"))?;
    let is_rate = training.learning_rate.is_finite() && training.learning_rate > 0.0;
    ensure(is_rate, || format!("a learning rate of {}", training.learning_rate))
}

fn check_sentence(sentence: &SentenceSnapshot, model: &ModelSnapshot, is_large: bool) -> Result<(), String> {
    let count = sentence.tokens.len();
    ensure(count > 0, || "no tokens".to_owned())?;
    let tables: [(&str, &Matrix<f32>); 5] = [
        ("input", &sentence.activations.input),
        ("output", &sentence.activations.output),
        ("start", &sentence.start),
        ("end", &sentence.end),
        ("trained end", &sentence.trained_end),
    ];
    for (name, table) in tables {
        ensure(table.rows() == count, || format!("{name}: {} rows of {count} tokens", table.rows()))?;
        let is_finite = table.flat().iter().all(|x| x.is_finite());
        ensure(is_finite || is_large, || format!("{name} is not finite, and no weight is large"))?;
    }
    let blocks = model.architecture.numbered_blocks().count();
    let counts = [sentence.activations.blocks.len(), sentence.contributions.len(), sentence.moves.len()];
    ensure(counts == [blocks; 3], || format!("{counts:?} of {blocks} blocks"))?;
    ensure(model.interventions.heads.len() == model.architecture.heads(), || "heads without a mode".to_owned())?;
    for (head, mode) in sentence.activations.heads().zip(&model.interventions.heads) {
        // A row of means is the mean of all rows, and a row whose query sees no key is one of zeros.
        let is_mean = *mode == HeadMode::Mean;
        for row in 0..head.weights.rows() {
            let row = head.weights.row(row);
            let sum: f32 = row.iter().sum();
            let seen = sum * head.weights.rows() as f32;
            let is_mean_of_shares =
                is_mean && (0.0..1.0).contains(&sum) && is_close_beside(1.0, seen, seen.round(), ROUNDING).is_ok();
            let is_share = is_close(sum, 1.0, ROUNDING).is_ok() || row.iter().all(|x| *x == 0.0) || is_mean_of_shares;
            ensure(is_share || is_large, || format!("a row of weights with a sum of {sum}"))?;
        }
    }
    let neighbours = [sentence.static_neighbours.len(), sentence.contextual_neighbours.len()];
    ensure(neighbours == [count; 2], || format!("neighbours of {neighbours:?} of {count} tokens"))
}

fn check_notebook(snapshot: &Snapshot) -> Result<(), String> {
    let notebook = &snapshot.notebook;
    ensure(notebook.cells.len() <= DOCUMENT_CELLS_MAX, || format!("{} cells", notebook.cells.len()))?;
    ensure(notebook.closed_gate.is_none_or(|gate| gate < notebook.cells.len()), || "a gate beyond the end".to_owned())?;
    let mut ids: Vec<_> = notebook.cells.iter().map(|shown| shown.cell.id.clone()).collect();
    ids.sort();
    ensure(ids.windows(2).all(|pair| pair[0] != pair[1]), || format!("ids that stand twice: {ids:?}"))?;
    for shown in &notebook.cells {
        let fault = shown.run.as_ref().and_then(|run| run.fault.as_ref()).or(shown.mistake.as_deref());
        let is_ours = fault.is_some_and(|fault| fault.to_string().contains(OWN_FAULT));
        ensure(!is_ours, || format!("cell {}: {fault:?}", shown.cell.id))?;
    }
    Ok(())
}

fn bits(values: &[f32]) -> u64 {
    fnv1a(&values.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect::<Vec<_>>())
}

/// What came of an exercise, among what a snapshot is [`described`] by: undo leaves it as it is.
const FACTS: &str = "facts";

/// All that undo and a save bring back, by name, to the bit.
fn described(snapshot: &Snapshot) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let mut say = |name, value: String| all.push((name, value));
    if let (Some(model), Some(space)) = (&snapshot.model, &snapshot.space) {
        say("parameters", format!("{:x}", bits(model.parameters.flat())));
        say("trained", format!("{:x}", bits(model.trained.flat())));
        say("interventions", format!("{:?}", model.interventions));
        let texts = |sentence: &SentenceSnapshot| {
            sentence.chosen().iter().map(|token| token.text.clone()).collect::<Vec<_>>().join(" ")
        };
        say("sentence", texts(&model.sentence));
        say("second", model.second.as_ref().map(|second| texts(&second.other)).unwrap_or_default());
        say("output", format!("{:x}", bits(model.sentence.activations.output.flat())));
        say("ends", format!("{:x}", bits(model.sentence.end.flat())));
        say("points", format!("{:x}", bits(space.points.flat())));
        let second = model.second.as_ref().map(|second| bits(second.other.end.flat()));
        say("second ends", format!("{second:x?}"));
        say("senses", format!("{:?} {}", model.senses.list, model.senses.is_on));
        say("neighbours", format!("{:?}", model.sentence.contextual_neighbours));
        say("latest", format!("{:?}", model.training.edited_latest.as_ref().map(|(_, live)| bits(live.flat()))));
        say("stopped", format!("{:?}", model.training.stopped));
        say("recipe", format!("{:?}", model.recipe));
        say("steps", format!("{:?}, {:?}", model.training.progress, model.training.look));
        say("losses", format!("{:x}", bits(&model.training.log.losses().collect::<Vec<_>>())));
        say("learning rate", format!("{}", model.training.learning_rate));
        let changes: Vec<_> = model.training.changes.iter().collect();
        say("changes", format!("{} {:x}", changes.len(), fnv1a(format!("{changes:?}").as_bytes())));
    }
    let notebook = &snapshot.notebook;
    say("auto_run", format!("{}", notebook.auto_run));
    for shown in &notebook.cells {
        let cell = &shown.cell;
        let (answer, facts) = match &cell.answer {
            Answer::Exercise(attempts) => {
                let Attempts { tried, is_passed, .. } = *attempts;
                let but_facts = Attempts { tried: 0, is_passed: false, ..*attempts };
                (Answer::Exercise(but_facts), format!("tried {tried} times, passed: {is_passed}"))
            }
            answer => (answer.clone(), String::new()),
        };
        say(FACTS, format!("{}: {facts}", cell.id));
        let text = fnv1a(cell.text.as_bytes());
        let marks = [cell.is_folded, cell.auto_run, cell.is_own];
        say("cell", format!("{} {text:x} {answer:?} {marks:?}", cell.id));
    }
    all
}

/// Two snapshots show the same.
fn same(before: &Snapshot, after: &Snapshot) -> Result<(), String> {
    same_things(&described(before), &described(after))
}

fn same_things(before: &[(&str, String)], after: &[(&str, String)]) -> Result<(), String> {
    ensure(before.len() == after.len(), || format!("{} things are {}", before.len(), after.len()))?;
    let differing: Vec<String> = before
        .iter()
        .zip(after)
        .filter(|(before, after)| before != after)
        .map(|((name, before), (_, after))| format!("{name}: {before:.300} is {after:.300}"))
        .collect();
    ensure(differing.is_empty(), || differing.join("; "))
}

/// Outputs that runs of code left are there still, where they were not made again.
fn same_outputs(before: &Snapshot, after: &Snapshot) -> Result<(), String> {
    for (before, after) in before.notebook.cells.iter().zip(&after.notebook.cells) {
        let Some(run) = before.run.as_ref().filter(|_| before.cell.is_code()) else { continue };
        let again = after.run.as_ref().ok_or_else(|| format!("the run of {} is gone", before.cell.id))?;
        if again.is_from_before {
            let said = |run: &RunSnapshot| format!("{:?} {:?} {:?}", run.number, run.outputs, run.fault);
            let why = || format!("the run of {}: {:.300} is {:.300}", before.cell.id, said(run), said(again));
            ensure(said(run) == said(again), why)?;
        }
    }
    Ok(())
}

/// Undoes what can be undone, some steps far, and redoes it: every state on the way back is that of the way there, and
/// steps taken at once lead to where each leads by itself.
fn travel(kernel: &mut Kernel) -> Result<(), String> {
    const FAR: usize = 3;
    let is_same = |there: &Snapshot, now: &Snapshot| {
        same(there, now).and_then(|()| ensure(compared(there) == compared(now), || "another comparison".to_owned()))
    };
    let mut way = vec![kernel.snapshot()];
    while way.len() <= FAR && kernel.snapshot().history.undo.is_some() {
        apply(kernel, Command::Undo);
        let undone = kernel.snapshot();
        check(&undone).map_err(|why| format!("undone {} times: {why}", way.len()))?;
        way.push(undone);
    }
    let far = way.len() - 1;
    for (i, there) in way[..far].iter().enumerate().rev() {
        apply(kernel, Command::Redo);
        let back = kernel.snapshot();
        // A cell that runs by itself again, and writes to the model, is a change of its own.
        if back.history != there.history {
            return Ok(());
        }
        is_same(there, &back).map_err(|what| format!("undone {far} times and redone to {i}: {what}"))?;
    }
    for (step, there) in [(Command::Undo, &way[far]), (Command::Redo, &way[0])] {
        kernel.apply_all(repeat_n(step.clone(), far));
        kernel.settle();
        let now = kernel.snapshot();
        if now.history != there.history {
            return Ok(());
        }
        is_same(there, &now).map_err(|what| format!("{step:?}, {far} times at once: {what}"))?;
    }
    Ok(())
}

/// Does a command and undoes it: what it changed is as it was.
fn undo_of(kernel: &mut Kernel, command: &Command) -> Result<(), String> {
    if matches!(command, Command::Undo | Command::Redo) {
        return Ok(());
    }
    kernel.settle();
    // What could be redone until now cannot be after a change that undo knows, and no change goes on one before.
    apply(kernel, Command::Undo);
    let before = kernel.snapshot();
    apply(kernel, command.clone());
    let changed = kernel.snapshot();
    let is_known = if before.history.redo.is_some() {
        changed.history.redo.is_none()
    } else {
        changed.history.undo != before.history.undo
    };
    if !is_known {
        return Ok(());
    }
    // What a cell writes that ran meanwhile is a change of its own.
    let runs = |snapshot: &Snapshot| snapshot.notebook.cells.iter().map(|shown| shown.run.clone()).collect::<Vec<_>>();
    let is_other = |(before, changed): &(Option<Arc<RunSnapshot>>, Option<Arc<RunSnapshot>>)| {
        changed.as_ref().is_some_and(|changed| before.as_ref().is_none_or(|before| !Arc::ptr_eq(before, changed)))
    };
    let ran = runs(&before).into_iter().zip(runs(&changed)).filter(is_other).count();
    let all_but_facts = |snapshot: &Snapshot| {
        let mut all = described(snapshot);
        all.retain(|(name, _)| *name != FACTS);
        all
    };
    let mut result = Ok(());
    for _ in 0..=ran {
        apply(kernel, Command::Undo);
        let undone = kernel.snapshot();
        result = same_things(&all_but_facts(&before), &all_but_facts(&undone));
        // A cell that ran by itself again may have written, which ends what could be redone.
        if result.is_ok() || undone.history.redo.is_none() {
            return Ok(());
        }
    }
    result.map_err(|what| format!("done and undone: {what}"))
}

/// The comparison of the weights, which is not saved.
fn compared(snapshot: &Snapshot) -> Option<(Reference, u64)> {
    let comparison = snapshot.model.as_ref()?.comparison.as_ref()?;
    Some((comparison.with, bits(comparison.difference.flat())))
}

/// Through JSON, and back.
fn reopen(kernel: &Kernel) -> Result<(), String> {
    let before = kernel.snapshot();
    let json = serde_json::to_string(&Saved::of(&before)).map_err(|error| format!("it is not saved: {error}"))?;
    let saved: Saved = serde_json::from_str(&json).map_err(|error| format!("what is saved is not read: {error}"))?;
    let mut opened = Kernel::open(before.lesson.clone(), Some(saved));
    opened.settle();
    let after = opened.snapshot();
    check(&after).map_err(|why| format!("opened again: {why}"))?;
    ensure(after.report.is_empty(), || format!("opened again, it reports {:?}", after.report))?;
    same(&before, &after).and_then(|()| same_outputs(&before, &after)).map_err(|what| format!("opened again: {what}"))
}
