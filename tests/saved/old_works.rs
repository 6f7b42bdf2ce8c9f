//! Works that an older program saved open as they were left; see `tests/fixtures/saved/README.md`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::fnv1a;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::CellKind;
use attune_engine::numerics::attention::HeadMode;
use serde_json::Value;

use crate::common::resaved::{open, saved};
use crate::common::top::at;

/// Processors round sums differently; what was learned from them differs by less.
const TOLERANCE: f64 = 1e-3;
/// The same of a number that many steps of training lie before.
const TRAINED_TOLERANCE: f64 = 2e-2;

/// Works that one version of the program saved.
struct Generation {
    folder: &'static str,
    works: usize,
}

const FIRST: Generation = Generation { folder: "tests/fixtures/saved", works: 12 };
const SECOND: Generation = Generation { folder: "tests/fixtures/saved/second", works: 14 };
const GENERATIONS: [Generation; 2] = [FIRST, SECOND];
/// The model that was shipped then, in [`THEN`].
const MODEL: &str = "depth";
/// The lessons that models stand beside.
const THEN: &str = "tests/fixtures/saved/second/lessons";
/// Differences that are told.
const SHOWN: usize = 8;

fn lesson(folder: &str, id: &str) -> Arc<Lesson> {
    if id == MODEL {
        return Arc::new(attune_core::lesson::read(&at(THEN).join(MODEL)).expect("the model"));
    }
    let name = Path::new(folder).join(id).with_extension("ron");
    let text = fs::read_to_string(at(&name)).expect("its lesson");
    let beside = at(THEN).join(id);
    Arc::new(attune_core::lesson::parse(&beside.to_string_lossy(), &text).expect("no issues"))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a fixture")).expect("JSON")
}

impl Generation {
    /// Each work with the lesson as it was then.
    fn works(&self) -> Vec<(Arc<Lesson>, Value)> {
        self.named_works().into_iter().map(|(_, lesson, work)| (lesson, work)).collect()
    }

    /// The same with the names of their files.
    fn named_works(&self) -> Vec<(String, Arc<Lesson>, Value)> {
        let entries = fs::read_dir(at(self.folder)).expect("the fixtures").map(|entry| entry.expect("an entry").path());
        let mut files: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        files.sort();
        let read = |path: &PathBuf| {
            let id = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            (id.to_owned(), lesson(&format!("{}/lessons", self.folder), id), json(path))
        };
        let works: Vec<_> = files.iter().map(read).collect();
        assert_eq!(works.len(), self.works);
        works
    }
}

fn opened(lesson: &Arc<Lesson>, work: &Value) -> Kernel {
    let kept: Saved =
        serde_json::from_value(work["kernel"].clone()).unwrap_or_else(|why| panic!("{}: {why}", lesson.id));
    open(lesson.clone(), kept)
}

fn sums(values: &[f32]) -> String {
    let sum = |of: fn(f64) -> f64| values.iter().map(|&x| of(f64::from(x))).sum::<f64>();
    format!("{} numbers, {:.4} in sum, {:.4} in squares", values.len(), sum(|x| x), sum(|x| x * x))
}

/// All that is back, by lines.
fn described(kernel: &Kernel) -> String {
    let snapshot = kernel.snapshot();
    let (model, space) = (snapshot.model.as_ref().expect("a model"), snapshot.space.as_ref().expect("a space"));
    let mut text = format!("== {}\n", snapshot.lesson.id);
    let mut say = |name: &str, value: String| writeln!(text, "{name}: {value}").expect("a string takes it");
    say("report", format!("{:?}", snapshot.report));
    let texts =
        |tokens: &[attune_core::kernel::snapshot::Token]| tokens.iter().map(|t| t.text.clone()).collect::<Vec<_>>();
    say("sentence", texts(model.sentence.chosen()).join(" "));
    let second = model.second.as_ref().map(|second| texts(second.other.chosen()).join(" "));
    say("second", second.unwrap_or_default());
    say("recipe", model.recipe.words(&snapshot.lesson));
    let training = &model.training;
    let (look, changes) = (training.look.map(|look| look.step), training.changes.iter().count());
    say("training", format!("{:?} of {}, {changes} changes", training.progress.done, training.progress.of));
    say("look", format!("{look:?}"));
    say("learning rate", format!("{:.6}", training.learning_rate));
    say("losses", sums(&training.log.losses().collect::<Vec<_>>()));
    let head = |mode: &HeadMode<f32>| match mode {
        HeadMode::Live => "live".to_owned(),
        HeadMode::Off => "off".to_owned(),
        HeadMode::Uniform => "uniform".to_owned(),
        HeadMode::Frozen(weights) => format!("frozen, {}", sums(weights.as_ref().expect("weights").flat())),
        HeadMode::Mean => "mean".to_owned(),
        HeadMode::Second(_) => "second".to_owned(),
        HeadMode::Gain(gain) => format!("gain {gain}"),
    };
    say("heads", model.interventions.heads.iter().map(head).collect::<Vec<_>>().join("; "));
    say("temperature", format!("{:?}, scale {:?}", model.interventions.temperature, model.interventions.scale));
    say("mask", format!("{}", model.interventions.mask.is_some()));
    say("static vectors", sums(space.vectors.widened().flat()));
    say("points", sums(space.points.flat()));
    say("trained", sums(model.trained.flat()));
    say("in use", sums(model.parameters.flat()));
    say("output", sums(model.sentence.activations.output.flat()));
    say("ends", sums(model.sentence.end.flat()));
    for shown in &snapshot.notebook.cells {
        let (cell, run) = (&shown.cell, shown.run.as_ref());
        let outputs = run.map_or(0, |run| run.outputs.len());
        let marks = [
            (cell.is_own, "own"),
            (cell.is_folded, "folded"),
            (cell.auto_run, "automatic"),
            (cell.is_edited(), "edited"),
            (cell.conflict.is_some(), "in conflict"),
            (cell.is_done(), "done"),
            (run.is_some_and(|run| run.fault.is_some()), "at fault"),
            (run.is_some_and(|run| run.verdict.is_some()), "judged"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
        let code = fnv1a(cell.text.as_bytes());
        say(
            &format!("- {}", cell.id),
            format!("{code:016x}, {:?}, {outputs} outputs; {}", shown.status, marks.join(", ")),
        );
    }
    text
}

/// The same lines, word by word; numbers with a point in them are close.
#[track_caller]
fn assert_close(found: &str, expected: &str) {
    assert_eq!(found.lines().count(), expected.lines().count(), "{found}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert!(are_alike(found, expected), "found    {found}\nexpected {expected}");
    }
}

fn are_alike(found: &str, expected: &str) -> bool {
    let words = |line: &str| line.split([' ', ',', ';']).map(str::to_owned).collect::<Vec<_>>();
    let (found, expected) = (words(found), words(expected));
    let is_same = |at: usize| {
        let (a, b) = (&found[at], &expected[at]);
        match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) if a.contains('.') && b.contains('.') => {
                are_close(x, y) || (x - y).abs() <= TRAINED_TOLERANCE * room_of_sum(&expected, at)
            }
            _ => a == b,
        }
    };
    found.len() == expected.len() && (0..found.len()).all(is_same)
}

/// The most that numbers with these squares can add up to, where the word at this place is their sum; else 0. If each
/// is learned a little differently, that is the scale on which their sum differs: √n ‖x‖ (Cauchy–Schwarz).
fn room_of_sum(words: &[String], at: usize) -> f64 {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    if (word(at + 1), word(at + 2)) != ("in", "sum") {
        return 0.0;
    }
    let before = |name: &str| {
        let place = words.iter().position(|word| word == name).and_then(|place| place.checked_sub(1));
        place.and_then(|place| words[place].parse::<f64>().ok()).unwrap_or(0.0)
    };
    let squares = words.windows(3).find(|words| words[1] == "in" && words[2] == "squares");
    let squares: f64 = squares.and_then(|words| words[0].parse().ok()).unwrap_or(0.0);
    (before("numbers") * squares).sqrt()
}

fn are_close(a: f64, b: f64) -> bool {
    are_within(TOLERANCE, a, b)
}

fn are_within(tolerance: f64, a: f64, b: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// What is learned a little differently passes, and nothing else does.
#[test]
fn another_number_or_word_is_a_difference() {
    let line = "losses: 20 numbers, 3.2500 in sum, 0.7500 in squares";
    assert!(are_alike("losses: 20 numbers, 3.2510 in sum, 0.7501 in squares", line));
    for other in [
        "losses: 20 numbers, 3.4500 in sum, 0.7500 in squares",
        "losses: 20 numbers, 3.2500 in sum, 0.7700 in squares",
        "losses: 21 numbers, 3.2500 in sum, 0.7500 in squares",
        "losses: 20 numbers, NaN in sum, 0.7500 in squares",
        "points: 20 numbers, 3.2500 in sum, 0.7500 in squares",
        "losses: 20 numbers, 3.2500 in sum",
    ] {
        assert!(!are_alike(other, line), "{other}");
    }
    for tolerance in [TOLERANCE, TRAINED_TOLERANCE] {
        assert!(are_within(tolerance, 0.5, 0.5 + tolerance));
        assert!(!are_within(tolerance, 0.5, 0.5 + 3.0 * tolerance) && !are_within(tolerance, 0.5, f64::NAN));
    }
}

#[test]
fn old_works_are_as_they_were() {
    for generation in GENERATIONS {
        let works = generation.works();
        let found: String = works.iter().map(|(lesson, work)| described(&opened(lesson, work)) + "\n").collect();
        let path = at(generation.folder).join("opened.txt");
        if std::env::var_os("UPDATE_OPENED").is_some() {
            fs::write(&path, &found).expect("the fixtures can be written");
        }
        assert_close(&found, &fs::read_to_string(&path).expect("what they were"));
    }
}

/// Every tensor, score, weight and move of the sentence on the stage, as `attune trace` writes them.
#[test]
fn old_works_have_the_numbers_that_they_had() {
    for (name, lesson, work) in SECOND.named_works() {
        let kernel = opened(&lesson, &work);
        assert!(kernel.snapshot().report.is_empty(), "{}: {:?}", lesson.id, kernel.snapshot().report);
        let found = attune_view::export::trace::trace(&kernel.snapshot()).expect("a model");
        let path = at(SECOND.folder).join("traces").join(&name).with_extension("json");
        let mut found = serde_json::from_str(&found).expect("JSON");
        let mut expected = json(&path);
        leave_out_new_tensors(&mut found, &expected);
        let is_trained = !lesson.static_embedding.is_pretrained();
        let tolerance = if is_trained { TRAINED_TOLERANCE } else { TOLERANCE };
        if is_trained {
            [&mut found, &mut expected].into_iter().for_each(leave_out_key_biases);
        }
        let mut all = Vec::new();
        differences(&name, &found, &expected, tolerance, &mut all);
        assert!(all.is_empty(), "{} differences: {:#?}", all.len(), &all[..all.len().min(SHOWN)]);
    }
}

/// Leaves out the tensors that releases name since the expected numbers were written.
fn leave_out_new_tensors(found: &mut Value, expected: &Value) {
    const NEW: [&str; 1] = ["output[source]"];
    let tensors = found["tensors"].as_object_mut().expect("tensors");
    tensors.retain(|name, _| !NEW.contains(&name.as_str()) || !expected["tensors"][name].is_null());
}

/// Leaves out the key bias and the numbers that carry it. It adds the same to every score of a row, which the softmax
/// takes off again: its gradient is 0 but for rounding, and Adam makes steps of that which no two processors share.
fn leave_out_key_biases(trace: &mut Value) {
    let carries = |name: &String| name == "b_K" || name.starts_with("K[") || name.starts_with("scores[");
    for part in ["parameters", "tensors"] {
        trace[part].as_object_mut().expect("tensors by name").retain(|name, _| !carries(name));
    }
}

/// A lesson is reworded, reordered and grows: what a learner has done of it stays done. Where a task is gone or asks
/// something else, the report names it.
#[test]
fn old_works_keep_their_tasks_in_todays_lessons() {
    let mut count = 0;
    let works = GENERATIONS.iter().flat_map(Generation::works);
    for (then, work) in works.filter(|(then, _)| !then.static_embedding.is_pretrained()) {
        let now = lesson("lessons", &then.id);
        let opens = |lesson: &Arc<Lesson>| opened(lesson, &work).snapshot();
        let done = |lesson: &Arc<Lesson>| {
            let cells = opens(lesson).notebook.cells.clone();
            let done = cells.into_iter().filter(|shown| shown.cell.kind.is_task() && shown.cell.is_done());
            done.map(|shown| shown.cell.id.to_string()).collect::<std::collections::BTreeSet<_>>()
        };
        let (before, after) = (done(&then), done(&now));
        let report = opens(&now).report;
        for task in before.difference(&after) {
            let is_told = report.iter().any(|words| words.contains(&format!("“{task}”")));
            assert!(is_told, "{}: {task} was done: {report:?}", then.id);
        }
        count += before.len();
    }
    assert!(count > 0, "the works have tasks that are done");
}

/// Collects the differences of two values, but for the numbers of runs: cells that run by themselves have run again.
fn differences(at: &str, found: &Value, expected: &Value, tolerance: f64, all: &mut Vec<String>) {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).filter(|key| *key != "number") {
                let of = |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or(Value::Null);
                differences(&format!("{at}.{key}"), &of(a), &of(b), tolerance, all);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).for_each(|i| differences(&format!("{at}[{i}]"), &a[i], &b[i], tolerance, all));
        }
        (Value::Number(a), Value::Number(b))
            if are_within(tolerance, a.as_f64().expect("f64"), b.as_f64().expect("f64")) => {}
        (Value::String(a), Value::String(b)) if are_alike(a, b) => {}
        _ if found == expected => {}
        _ => all.push(format!("{at}: found {found:.80}, expected {expected:.80}")),
    }
}

fn cells(kernel: &mut Value) -> Vec<&mut Value> {
    kernel["notebook"]["cells"].as_array_mut().expect("cells").iter_mut().collect()
}

/// Takes what an exercise's answers are compared with out of a cell.
fn take_compared(cell: &mut Value) -> Vec<Value> {
    let exercise = cell.pointer_mut("/run/verdict/Exercise").and_then(Value::as_object_mut);
    let compared = exercise.and_then(|exercise| exercise.remove("compared"));
    compared.and_then(|compared| compared.as_array().cloned()).unwrap_or_default()
}

/// Takes the commands about the mask away; the last one, unless it puts the lesson's own back.
fn take_mask(commands: &mut Vec<Value>) -> Option<Value> {
    let is_reset = |command: &Value| command["Interventions"] == "ResetMask";
    let is_of_mask = |command: &Value| is_reset(command) || command["Interventions"].get("SetMask").is_some();
    let last = commands.iter().rfind(|command| is_of_mask(command)).cloned();
    commands.retain(|command| !is_of_mask(command));
    last.filter(|command| !is_reset(command))
}

#[test]
fn old_works_are_saved_as_they_were() {
    for (lesson, work) in GENERATIONS.iter().flat_map(Generation::works) {
        let then: Saved = serde_json::from_value(work["kernel"].clone()).expect("older work");
        let again = saved(&opened(&lesson, &work));
        let [mut found, mut expected] = [&again, &then].map(|work| serde_json::to_value(work).expect("plain data"));
        if let Some(under_way @ Command::Retrain(_)) = then.commands.last().filter(|_| then.commands.len() > 1) {
            // It is trained again now, as it was asked to be.
            assert_eq!(again.commands.first(), Some(under_way));
            (found["commands"], expected["commands"]) = (Value::Null, Value::Null);
        }
        // Older works lifted the mask around their edges and put it back; today's remove an edge without.
        let [mask, older_mask] =
            [&mut found, &mut expected].map(|work| work["commands"].as_array_mut().and_then(take_mask));
        assert_eq!(mask, older_mask, "{}", lesson.id);
        for (cell, found) in cells(&mut expected).into_iter().zip(cells(&mut found)) {
            // An answer without a value is compared too today: older works have the others alone.
            let older = take_compared(cell);
            let newer = take_compared(found);
            let is_like = |one: &Value, other: &Value| {
                let mut all = Vec::new();
                differences("", other, one, TOLERANCE, &mut all);
                all.is_empty()
            };
            let are_there = older.iter().all(|one| newer.iter().any(|other| is_like(one, other)));
            assert!(are_there, "{}: {older:?} are not all among {newer:?}", lesson.id);
        }
        // Plots run by themselves, over variables that are not there yet.
        for (cell, found) in cells(&mut expected).into_iter().zip(cells(&mut found)) {
            let given = lesson.cells.iter().find(|given| cell["id"] == given.id);
            if given.is_some_and(|given| matches!(given.kind, CellKind::Plot { .. })) {
                (cell["run"], found["run"]) = (Value::Null, Value::Null);
            }
        }
        let mut all = Vec::new();
        differences(&lesson.id, &found, &expected, TOLERANCE, &mut all);
        assert!(all.is_empty(), "{all:#?}");
    }
}
