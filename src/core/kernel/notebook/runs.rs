//! Runs of cells: code with the variables of the cells above it, answers to exercises, and predictions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::budget::{Allowance, KEPT_BYTES_MAX, RUN_BYTES_MAX, TIME_MAX};
use attune_engine::code::{
    Fault, Functions, Given, LineColumn, Names, Output, Run, Scope, Value, Variable, names, run, values,
};

use crate::fnv1a;
use crate::kernel::model::LessonModel;
use crate::kernel::notebook::document::{Behaviour, CellCode, CellId, DocumentCell};
use crate::kernel::notebook::execution::{CellStanding, LiveModel, LiveTensors, NamesInScope, Outcome, is_settled};
use crate::kernel::notebook::live::{Live, live_names};
use crate::kernel::notebook::snapshot::{CellStatus, ComparedCase, Verdict};
use crate::kernel::notebook::{LastCommand, Notebook};
use crate::lesson::cells::{CellKind, Exercise, Predict};
use crate::lesson::live_text::LiveExpression;

/// Greatest time that the cells that run automatically may take together, between two actions of the learner. This and
/// [`TEXTS_TIME_MAX`](crate::kernel::notebook::live_text::TEXTS_TIME_MAX) limit the time of all code when a lesson is
/// opened to 10 s.
const UNASKED_TIME_MAX: Duration = Duration::from_secs(7);

/// The reason why a drawn number cannot be changed.
const DRAWN: &str = "the question draws it";

/// Name of the variable of a case that holds the expected result.
const EXPECTED: &str = "expected";

impl Notebook {
    /// Runs a cell, applies what it wrote to the model, and records the outcome. A prediction runs on `untouched`, the
    /// lesson's own model, because its question is about that model.
    pub fn run(&mut self, id: &CellId, model: &mut dyn LiveModel, untouched: Option<&LessonModel>) {
        let Some(cell) = self.document.cell(id).cloned() else { return };
        let is_unasked = self.unasked.remove(id);
        let left = if is_unasked { UNASKED_TIME_MAX.saturating_sub(self.unasked_time) } else { TIME_MAX };
        let allowance = Allowance::within(TIME_MAX.min(left)).beside(self.make_room(id));
        let behaviour = Behaviour::of(&cell.kind);
        let mut outcome = match behaviour.runs {
            CellCode::Nothing => return,
            _ if left.is_zero() => Outcome::default(),
            CellCode::Code { .. } => self.run_code(&cell, model, allowance),
            CellCode::Exercise(exercise) => self.try_exercise(exercise, &cell, model, allowance),
            CellCode::Predict(predict) => {
                let asked = untouched.map(|untouched| untouched.live_with(&self.speaks_of(&cell)));
                self.answer_prediction(predict, &cell, &asked.unwrap_or_else(|| model.live()), allowance)
            }
        };
        if left < TIME_MAX && allowance.is_late() {
            outcome = Outcome { fault: Some(not_run()), wrote: outcome.wrote, ..Outcome::default() };
        }
        if self.kept_beside(id) + outcome.bytes() > KEPT_BYTES_MAX {
            let fault = Some(Allowance::kept_too_much().at(Some(LineColumn::START)));
            outcome = Outcome { fault, wrote: outcome.wrote, ..Outcome::default() };
        }
        self.record(id, outcome, model.versions());
        if is_unasked {
            self.unasked_time += allowance.spent();
        }
    }

    /// Notes a new command of the learner, which resets the time for automatic runs.
    pub fn begin(&mut self, command: LastCommand) {
        self.last_command = command;
        (self.unasked_time, self.texts_time) = (Duration::ZERO, Duration::ZERO);
    }

    /// Returns the memory of the results of all other cells, in bytes.
    fn kept_beside(&self, id: &str) -> usize {
        self.runs.iter().filter(|(other, _)| ***other != *id).map(|(_, run)| run.bytes).sum()
    }

    /// Drops the variables that a new run of a cell replaces, and returns the memory of the other cells in bytes.
    fn make_room(&mut self, id: &CellId) -> usize {
        if let Some(run) = self.runs.get_mut(id) {
            run.defined.clear();
        }
        if self.kept_beside(id) + RUN_BYTES_MAX > KEPT_BYTES_MAX {
            // Results of deleted cells are kept for an undo only while there is room.
            let there: BTreeSet<&CellId> = self.document.cells.iter().map(|cell| &cell.id).collect();
            self.runs.retain(|id, _| there.contains(id));
        }
        self.kept_beside(id)
    }

    fn run_code(&self, cell: &DocumentCell, model: &mut dyn LiveModel, allowance: Allowance) -> Outcome {
        let names = match self.analyses.get(&cell.id).map(|analysis| &analysis.names) {
            Some(Ok(names)) => names,
            Some(Err(fault)) => return Outcome { fault: Some(Fault::clone(fault)), ..Outcome::default() },
            None => return Outcome::default(),
        };
        let live = model.live();
        let ran = self.run_below(cell, &cell.text, names, &live, allowance);
        wrote(ran, &live, model, &format!("what cell {} wrote", cell.id))
    }

    /// Runs a text with the live tensors and the variables of the cells above `cell`.
    fn run_below(&self, cell: &DocumentCell, text: &str, names: &Names, live: &Live, allowance: Allowance) -> Run {
        run(text, &self.scope(cell, names, &self.names_above(cell), self.tensors(live), allowance))
    }

    /// Returns the tensors of the model on the stage.
    pub(super) fn tensors<'a>(&'a self, live: &'a Live) -> LiveTensors<'a> {
        LiveTensors { live, known: &self.live }
    }

    /// Returns the scope of a text: the live tensors that it names, and the variables of the cells above `cell`.
    /// `others` are the names of [`Self::names_above`].
    pub(super) fn scope<'o>(
        &self,
        cell: &DocumentCell,
        names: &Names,
        others: &'o [String],
        tensors: LiveTensors<'_>,
        allowance: Allowance,
    ) -> Scope<'o> {
        let (variables, functions) = self.above(cell, names);
        let live = tensors.live;
        let mut given = tensors.given(names, &variables);
        given.extend(variables);
        let (seed, stop, model) = (self.seed_of(cell), self.stop.clone(), live.model.clone());
        Scope { given, others, functions, model, seed, stop, allowance }
    }

    /// Runs further code of the lesson after a cell, with the variables of that cell and those above it, and returns
    /// the fault, if any. Whatever the code writes is dropped.
    pub fn fault_after(&self, id: &str, text: &str, model: &dyn LiveModel) -> Option<Fault> {
        if text.is_empty() {
            return None;
        }
        let next = self.document.cells.iter().skip_while(|cell| *cell.id != *id).nth(1);
        let below = next.map_or_else(CellId::default, |next| next.id.clone());
        let below = DocumentCell { id: below, ..DocumentCell::clone(self.document.cell(id)?) };
        let names = match names(text) {
            Ok(names) => names,
            Err(fault) => return Some(fault),
        };
        self.run_below(&below, text, &names, &model.live(), Allowance::default()).fault
    }

    /// Returns those variables of the cells above a cell that `names` has, and all functions of these cells.
    fn above(&self, cell: &DocumentCell, names: &Names) -> (Vec<Given>, Functions) {
        let mut given: Vec<Given> = Vec::new();
        let mut functions = Functions::default();
        let is_named = |name: &str| names.reads.contains(name) || names.writes.contains(name);
        let mut add = |variable: Variable, why: String| {
            given.retain(|given| given.variable.name != variable.name);
            given.push(Given::fixed(variable, why));
        };
        for above in self.document.above(&cell.id) {
            if let Some((name, value)) = above.turned_variable().filter(|(name, _)| is_named(name)) {
                add(Variable::number(name, value), "its slider sets it".to_owned());
            }
            let Some(run) = self.runs.get(&above.id).filter(|_| above.is_code()) else { continue };
            for variable in run.defined.iter().filter(|variable| is_named(&variable.name)) {
                let name = &variable.name;
                let place = run.shown.number.map_or_else(|| above.id.to_string(), |number| format!("[{number}]"));
                let why = format!("it is defined above, in {place}; define your own with `let {name} = {name}`");
                add(variable.clone(), why);
            }
            if !run.functions.is_empty() {
                functions = functions.with(&run.functions);
            }
        }
        (given, functions)
    }

    /// Returns the names of the live tensors, and of the variables and functions that the cells above a cell define.
    pub(super) fn names_above(&self, cell: &DocumentCell) -> Vec<String> {
        let live = self.live.iter().map(|known| known.name.clone());
        let made = self.document.above(&cell.id).flat_map(|above| {
            let turned = above.turned_variable().map(|(name, _)| name.to_owned());
            let run = self.runs.get(&above.id).filter(|_| above.is_code());
            let defined = run.into_iter().flat_map(|run| run.defines().map(str::to_owned));
            turned.into_iter().chain(defined).collect::<Vec<_>>()
        });
        live.chain(made).collect()
    }

    /// Returns the seed of a cell's random numbers, which is the same for every run.
    fn seed_of(&self, cell: &DocumentCell) -> u64 {
        self.seed ^ fnv1a(cell.id.as_bytes())
    }

    /// Tries an answer to an exercise on a model made for trials.
    pub fn try_answer(
        &self,
        exercise: &Exercise,
        cell: &DocumentCell,
        answer: TriedAnswer<'_>,
        model: &mut dyn LiveModel,
    ) -> Outcome {
        let (exercise, text) = match answer {
            TriedAnswer::Start => (exercise.clone(), exercise.start.as_deref().unwrap_or_default()),
            TriedAnswer::Text(text) => (exercise.clone(), text),
            // If the answer is a change made outside the cell, the solution is code that makes it.
            TriedAnswer::Solution => (Exercise { start: Some(String::new()), ..exercise.clone() }, &*exercise.solution),
        };
        let allowance = Allowance::default().beside(self.kept_beside(&cell.id));
        self.try_exercise(&exercise, &DocumentCell { text: text.into(), ..cell.clone() }, model, allowance)
    }

    /// Runs the answer and then the check, in a scope with only the live tensors, for each case. All cases run, because
    /// the learner sees the answer's result beside the expected one for each.
    fn try_exercise(
        &self,
        exercise: &Exercise,
        cell: &DocumentCell,
        model: &mut dyn LiveModel,
        mut allowance: Allowance,
    ) -> Outcome {
        let seed = self.seed_of(cell);
        let cases = if exercise.cases.is_empty() { &[String::new()][..] } else { &exercise.cases[..] };
        let lessons = names_of_the_lesson(exercise);
        let mut outcome = Outcome::default();
        let mut compared: Vec<ComparedCase> = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            // The first wrong case decides the verdict; later ones are only compared.
            let is_judged = outcome.verdict.is_some();
            if is_judged && allowance.is_late() {
                break;
            }
            let case = self.clean(case, self.tensors(&model.live()), &ExerciseScope::default(), seed, allowance);
            let of_case = allowance.less(case.bytes);
            if case.fault.is_some() && !is_judged {
                return Outcome { fault: case.fault, ..outcome };
            }
            let has_expected = case.defined.iter().any(|variable| variable.name == EXPECTED);
            let mut scope = ExerciseScope { case: case.defined, functions: case.functions, ..ExerciseScope::default() };
            let live = model.live();
            let answer = match exercise.start {
                Some(_) => self.clean(&cell.text, self.tensors(&live), &scope, seed, of_case),
                None => Run::default(),
            };
            let of_case = of_case.less(answer.bytes);
            let answer = if number == 0 {
                // A change to the model is made once, in the first case.
                let first = wrote(answer.clone(), &live, model, &format!("what cell {} wrote", cell.id));
                outcome.outputs.clone_from(&first.outputs);
                (outcome.wrote, outcome.measured) = (first.wrote, first.measured);
                Run { fault: first.fault, ..answer }
            } else {
                answer
            };
            if answer.fault.is_some() && is_judged {
                break;
            }
            if answer.fault.is_some() {
                return Outcome { fault: answer.fault, ..outcome };
            }
            scope.add(answer, &lessons);
            let live = model.live();
            let tensors = self.tensors(&live);
            let check = self.clean(&exercise.check, tensors, &scope, seed, of_case);
            let is_right = check.fault.is_none() && check.is_true;
            let Run { outputs: mut value, fault, .. } = self.clean(&exercise.value, tensors, &scope, seed, of_case);
            let expected = if exercise.expected.is_empty() && has_expected { EXPECTED } else { &exercise.expected };
            let expected = self.clean(expected, tensors, &scope, seed, of_case).outputs.pop();
            if let Some(expected) = expected.filter(|_| !exercise.value.is_empty()) {
                let yours = match fault.filter(|_| !is_right) {
                    Some(why) => no_value(Some(why)),
                    None => value.pop().unwrap_or_else(|| no_value(None)),
                };
                allowance = allowance.less(yours.size() + expected.size());
                compared.push(ComparedCase { yours, expected, is_right });
            }
            if is_judged || is_right && number + 1 < cases.len() {
                continue;
            }
            let holds = |when: &str| self.clean(when, tensors, &scope, seed, of_case).is_true;
            let said = exercise.feedback.iter().filter(|_| !is_right).find(|feedback| holds(&feedback.when));
            // If the check itself fails, its fault is the feedback, because the answer then lacks something that the
            // check needs.
            let feedback = said.map(|feedback| feedback.say.to_string()).or(check.fault.map(|fault| fault.to_string()));
            outcome.verdict = Some(Verdict::Exercise {
                is_right,
                value,
                compared: Vec::new(),
                feedback: feedback.map(Arc::from),
                failed_case: (!is_right && !exercise.cases.is_empty()).then_some(number),
            });
        }
        if let Some(Verdict::Exercise { compared: all, .. }) = &mut outcome.verdict {
            *all = compared;
        }
        outcome
    }

    /// Returns the model's answer to a question, with the numbers that are drawn after the cell's resets. A fault in
    /// one of the question's texts is returned as the fault of the answer.
    pub fn try_prediction(&self, predict: &Predict, cell: &DocumentCell, live: &Live) -> Outcome {
        let (known, allowance) = (live_names(live), Allowance::default());
        let tensors = LiveTensors { live, known: &known };
        let drawn = match self.drawn(predict, cell, tensors, allowance) {
            Ok(drawn) => drawn,
            Err(fault) => return Outcome { fault: Some(fault), ..Outcome::default() },
        };
        let outcome = self.answer_drawn(predict, &drawn, tensors, allowance);
        let texts = cell.kind.markdown().flat_map(|text| text.expressions());
        let sources: Vec<&str> = texts.map(|expression| &*expression.source).collect();
        let of_texts = || self.values_in(&sources, &drawn.0, tensors, allowance).into_iter().find_map(Result::err);
        let fault = outcome.fault.clone().or_else(of_texts);
        Outcome { fault, ..outcome }
    }

    fn answer_prediction(&self, predict: &Predict, cell: &DocumentCell, live: &Live, allowance: Allowance) -> Outcome {
        let known = live_names(live);
        let tensors = LiveTensors { live, known: &known };
        match self.drawn(predict, cell, tensors, allowance) {
            Ok(drawn) => self.answer_drawn(predict, &drawn, tensors, allowance),
            Err(fault) => Outcome { fault: Some(fault), ..Outcome::default() },
        }
    }

    /// Returns the model's answer to a question whose numbers are drawn.
    fn answer_drawn(
        &self,
        predict: &Predict,
        (scope, choices): &(ExerciseScope, Vec<String>),
        tensors: LiveTensors<'_>,
        allowance: Allowance,
    ) -> Outcome {
        let answer = self.clean(&predict.answer, tensors, scope, self.seed, allowance);
        let shows = self.clean(&predict.shows, tensors, scope, self.seed, allowance);
        let right = match answer.outputs.last() {
            Some(Output::Number(place)) => Some(*place as usize).filter(|_| place.fract() == 0.0 && *place >= 0.0),
            Some(Output::Text(text)) => choices.iter().position(|choice| *choice == **text),
            _ => None,
        };
        let right = right.filter(|right| *right < predict.choices.len());
        let none =
            || Fault::new("the lesson's answer is not one of its choices").hint(format!("it says: {}", predict.answer));
        let fault = answer.fault.or(shows.fault).or_else(|| right.is_none().then(none));
        let verdict = right.map(|right| Verdict::Prediction { right });
        Outcome { outputs: shows.outputs, fault, verdict, measured: shows.bytes, ..Outcome::default() }
    }

    /// Draws the numbers of a question, and returns them with its choices. They are the same until the cell is reset.
    /// If two choices happen to have the same text, other numbers are drawn.
    fn drawn(
        &self,
        predict: &Predict,
        cell: &DocumentCell,
        tensors: LiveTensors<'_>,
        allowance: Allowance,
    ) -> Result<(ExerciseScope, Vec<String>), Fault> {
        /// Number of draws before the question is taken to be at fault.
        const TRIES: u64 = 8;
        let none = ExerciseScope::default();
        let mut alike = Fault::new("");
        for attempt in 0..TRIES {
            let seed = self.seed_of_draw(cell) ^ attempt;
            let Run { defined, functions, fault, .. } = self.clean(&predict.draws, tensors, &none, seed, allowance);
            if let Some(fault) = fault {
                return Err(fault);
            }
            let scope = ExerciseScope { case: defined, functions, ..ExerciseScope::default() };
            let choices = self.choices(predict, &scope, tensors, allowance)?;
            let place = (1..choices.len()).find(|place| choices[..*place].contains(&choices[*place]));
            match place.filter(|_| predict.is_drawn()) {
                Some(place) => alike = Fault::new(format!("two of its choices are {:?}", choices[place])),
                None => return Ok((scope, choices)),
            }
        }
        Err(alike.hint("draw numbers that differ as they are written"))
    }

    /// Returns the seed of the numbers that a cell draws, which differs after each reset.
    fn seed_of_draw(&self, cell: &DocumentCell) -> u64 {
        let draw = [self.seed_of(cell), cell.resets as u64].map(u64::to_le_bytes).concat();
        fnv1a(&draw)
    }

    /// Returns the order in which the choices of a question with drawn numbers are shown; empty for all other cells.
    pub(super) fn order_of_choices(&self, cell: &DocumentCell) -> Vec<usize> {
        let CellKind::Predict(predict) = &*cell.kind else { return Vec::new() };
        if !predict.is_drawn() {
            return Vec::new();
        }
        let mut order: Vec<usize> = (0..predict.choices.len()).collect();
        let seed = self.seed_of_draw(cell);
        order.sort_by_key(|index| fnv1a(&[seed, *index as u64].map(u64::to_le_bytes).concat()));
        order
    }

    /// Returns the choices of a question with their live numbers.
    fn choices(
        &self,
        predict: &Predict,
        scope: &ExerciseScope,
        tensors: LiveTensors<'_>,
        allowance: Allowance,
    ) -> Result<Vec<String>, Fault> {
        let expressions = || predict.choices.iter().flat_map(|choice| choice.expressions());
        let sources: Vec<&str> = expressions().map(|expression| &*expression.source).collect();
        let values: Result<Vec<Value>, Fault> =
            self.values_in(&sources, scope, tensors, allowance).into_iter().collect();
        let values = values?;
        let value_of = |of: &LiveExpression| {
            let found = expressions().zip(&values).find(|(expression, _)| *expression == of);
            found.map_or(String::new(), |(expression, value)| expression.written(value))
        };
        Ok(predict.choices.iter().map(|choice| choice.with_values(value_of)).collect())
    }

    /// Evaluates expressions with the live tensors and the variables of `scope`.
    fn values_in(
        &self,
        sources: &[&str],
        scope: &ExerciseScope,
        tensors: LiveTensors<'_>,
        allowance: Allowance,
    ) -> Vec<Result<Value, Fault>> {
        if sources.is_empty() {
            return Vec::new();
        }
        let reads = sources.iter().filter_map(|source| names(source).ok()).flat_map(|names| names.reads);
        let names = Names { reads: reads.collect(), ..Names::default() };
        let LiveTensors { live, known } = tensors;
        let mut given = tensors.given(&names, &[]);
        given.extend(scope.case.iter().map(|variable| Given::fixed(variable.clone(), DRAWN)));
        let others: Vec<String> = known.iter().map(|live| live.name.clone()).collect();
        let (functions, model, stop) = (scope.functions.clone(), live.model.clone(), self.stop.clone());
        values(sources, &Scope { given, others: &others, functions, model, seed: self.seed, stop, allowance })
    }

    /// Adds the numbers that a question draws to the scope of its texts.
    pub(super) fn add_drawn(
        &self,
        cell: &DocumentCell,
        tensors: LiveTensors<'_>,
        scope: &mut Scope<'_>,
    ) -> Result<(), Fault> {
        let CellKind::Predict(predict) = &*cell.kind else { return Ok(()) };
        let (drawn, _) = self.drawn(predict, cell, tensors, scope.allowance)?;
        scope.given.extend(drawn.case.into_iter().map(|variable| Given::fixed(variable, DRAWN)));
        scope.functions = drawn.functions.with(&scope.functions);
        Ok(())
    }

    /// Runs code of an exercise or a question with the live tensors and the definitions so far, but without the
    /// variables of the cells above.
    fn clean(
        &self,
        source: &str,
        tensors: LiveTensors<'_>,
        scope: &ExerciseScope,
        seed: u64,
        allowance: Allowance,
    ) -> Run {
        if source.is_empty() {
            return Run::default();
        }
        if allowance.is_late() {
            return Run { fault: Some(allowance.late()), ..Run::default() };
        }
        let names = match names(source) {
            Ok(names) => names,
            Err(fault) => return Run { fault: Some(fault), ..Run::default() },
        };
        // An answer cannot replace a live tensor or a variable of the case by its own.
        let LiveTensors { live, known } = tensors;
        let is_live = |variable: &Variable| known.iter().any(|live| live.name == variable.name);
        let is_case = |variable: &Variable| scope.case.iter().any(|given| given.name == variable.name);
        let own = scope.own.iter().filter(|variable| !is_live(variable) && !is_case(variable));
        let case = scope.case.iter().map(|variable| Given::fixed(variable.clone(), "the exercise defines it"));
        let mut given = tensors.given(&names, &[]);
        given.extend(case.chain(own.map(|variable| Given::writable(variable.clone()))));
        let others: Vec<String> = known.iter().map(|live| live.name.clone()).collect();
        let (functions, model, stop) = (scope.functions.clone(), live.model.clone(), self.stop.clone());
        run(source, &Scope { given, others: &others, functions, model, seed, stop, allowance })
    }
}

/// An answer to an exercise that is tried without changing the notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriedAnswer<'a> {
    Start,
    Solution,
    /// An answer of the learner.
    Text(&'a str),
}

/// Definitions of an exercise so far.
#[derive(Default)]
struct ExerciseScope {
    case: Vec<Variable>,
    /// Variables of the answer.
    own: Vec<Variable>,
    functions: Functions,
}

impl ExerciseScope {
    fn add(&mut self, answer: Run, lessons: &BTreeSet<String>) {
        self.functions = answer.functions.without(lessons).with(&self.functions);
        self.own = answer.defined;
    }
}

/// Returns the names that the lesson's code for an exercise uses and its solution does not define. An answer cannot
/// replace these by its own.
fn names_of_the_lesson(exercise: &Exercise) -> BTreeSet<String> {
    let codes = exercise.codes();
    let mut lessons: BTreeSet<String> =
        codes.filter_map(|code| names(code).ok()).flat_map(|names| names.reads).collect();
    let asked_for = names(&exercise.solution).map(|names| names.defines).unwrap_or_default();
    lessons.retain(|name| !asked_for.contains(name));
    lessons
}

/// Returns an output that says why an answer has no value.
fn no_value(why: Option<Fault>) -> Output {
    let why = match why {
        // The place would refer to the lesson's code, which the learner does not see.
        Some(why) => Fault { place: None, ..why }.to_string(),
        None => "a function returns the value of its last line; a loop or a `let` has no value".to_owned(),
    };
    Output::Text(format!("no value: {why}").into())
}

/// Returns the fault of a cell that would have run automatically but for which no time was left.
fn not_run() -> Fault {
    let seconds = UNASKED_TIME_MAX.as_secs();
    Fault::new(format!("not run, because the cells that run automatically take more than {seconds} s together"))
        .hint("select the cell and press Shift+Enter to run it")
}

/// Applies what a run wrote to the model. If the model refuses it, the outcome has a fault.
pub(super) fn wrote(ran: Run, live: &Live, model: &mut dyn LiveModel, label: &str) -> Outcome {
    let mut outcome = Outcome {
        outputs: ran.outputs,
        fault: ran.fault,
        defined: ran.defined,
        functions: ran.functions,
        measured: ran.bytes,
        ..Outcome::default()
    };
    if !ran.written.is_empty() {
        match model.write(&ran.written, live, label) {
            Ok(()) => outcome.wrote = true,
            Err(why) => outcome.fault = Some(Fault::new(why)),
        }
    }
    outcome
}

impl Notebook {
    /// Returns the status of each cell, in order, given the cells above it.
    pub(super) fn standings(&self) -> Vec<CellStanding<'_>> {
        let mut sight = NamesInScope::new(&self.live, self.versions);
        let mut stale: BTreeSet<&str> = BTreeSet::new();
        let mut all = Vec::with_capacity(self.document.cells.len());
        for cell in &self.document.cells {
            let run = self.runs.get(&cell.id);
            let (status, is_up_to_date) = match (run, self.analyses.get(&cell.id)) {
                (None, _) => (CellStatus::New, false),
                (Some(run), Some(analysis)) if run.shown.text == analysis.text && is_settled(cell, &run.shown) => {
                    (CellStatus::Fresh, true)
                }
                (Some(run), Some(analysis)) => {
                    let is_clean = !cell.is_code();
                    let is_up_to_date = !run.shown.is_from_before
                        && run.shown.text == analysis.text
                        && run.reads.iter().all(|(name, source)| sight.source(name, is_clean) == *source);
                    let mut from = run.reads.iter().filter_map(|(_, source)| source.cell());
                    let is_fresh = is_up_to_date && !from.any(|from| stale.contains(&**from));
                    (if is_fresh { CellStatus::Fresh } else { CellStatus::Stale }, is_up_to_date)
                }
                (Some(_), None) => (CellStatus::Stale, false),
            };
            if status == CellStatus::Stale {
                stale.insert(&cell.id);
            }
            let shadows = sight.pass(cell, run);
            all.push(CellStanding { status, shadows, is_up_to_date });
        }
        all
    }
}
