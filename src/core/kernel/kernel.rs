//! The kernel: one running lesson. [`Kernel::apply`] is the only way to change it. This file also has the steps by
//! which a kernel reaches a model: opening, restoring, retraining, and the tour.

use std::iter::{self, Peekable};
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use attune_engine::code::Fault;
use attune_engine::numerics::attention::Mask;

use crate::kernel::command::{
    Command, InterventionCommand, SentenceCommand, TextsCommand, TrainingCommand, WeightCommand,
};
use crate::kernel::evidence::Evidence;
use crate::kernel::evidence::over_texts::OverTexts;
use crate::kernel::history::{History, Stroke, Undoable};
use crate::kernel::model::corpus::EmbeddedCorpus;
use crate::kernel::model::live::{Trial, Watch, Watched};
use crate::kernel::model::retraining::Retraining;
use crate::kernel::model::untouched::UntouchedModel;
use crate::kernel::model::{HISTORY_BYTES_MAX, HISTORY_STATES_MAX, LessonModel, ModelOrigin};
use crate::kernel::notebook::document::DocumentCell;
use crate::kernel::notebook::execution::Outcome;
use crate::kernel::notebook::runs::TriedAnswer;
use crate::kernel::notebook::saved::SavedNotebook;
use crate::kernel::notebook::{CellCommand, CellId, LastCommand, Notebook, NotebookCommand, SliderMove};
use crate::kernel::phase::{Goal, Phase, Ready, Task};
use crate::kernel::saved_work::{Resuming, Saved};
use crate::kernel::snapshot::{HistorySnapshot, Snapshot};
use crate::kernel::static_embedding::SpaceTrainer;
use crate::kernel::tour::Tour;
use crate::lesson::cells::{Bind, CellKind};
use crate::lesson::schema::Lesson;

/// A running lesson, which works only when it is advanced. The same commands and advances in the same order lead to the
/// same snapshots, bit for bit, except for the durations of runs if a clock is given, and for the progress of questions
/// that are answered on other threads.
pub struct Kernel {
    lesson: Arc<Lesson>,
    revision: u64,
    work_revision: u64,
    /// The work revision at which the kernel was opened, when its work was equal to the saved work.
    opened_revision: u64,
    notice: Option<Arc<str>>,
    phase: Phase,
    /// The lesson's model without the learner's changes, which answers predictions.
    untouched: UntouchedModel,
    tour: Tour,
    texts: OverTexts,
    /// Saved work that could not be restored, in sentences for the learner.
    report: Arc<[String]>,
    /// Number of sentences that were reported, of which only the first ones are in `report`.
    reported: usize,
    notebook: Notebook,
    watch: Watch,
    history: History<Undoable>,
    /// Whether the last command changed saved work in a way that neither the model nor the notebook reports itself.
    has_changed: bool,
    clock: fn() -> Duration,
}

impl Kernel {
    pub fn new(lesson: Arc<Lesson>) -> Self {
        Self::with(Notebook::new(&lesson), Goal::default(), lesson)
    }

    fn with(notebook: Notebook, goal: Goal, lesson: Arc<Lesson>) -> Self {
        let trainer = Box::new(SpaceTrainer::new(&lesson));
        Self::in_phase(Phase::Embedding { trainer, goal }, notebook, lesson)
    }

    fn in_phase(phase: Phase, notebook: Notebook, lesson: Arc<Lesson>) -> Self {
        Self {
            notebook,
            watch: Watch::default(),
            history: History::new(HISTORY_STATES_MAX, HISTORY_BYTES_MAX),
            has_changed: false,
            clock: || Duration::ZERO,
            lesson,
            revision: 0,
            work_revision: 0,
            opened_revision: 0,
            notice: None,
            phase,
            untouched: UntouchedModel::default(),
            tour: Tour::default(),
            texts: OverTexts::default(),
            report: Arc::from([]),
            reported: 0,
        }
    }

    /// Opens a lesson as it was saved: the notebook is restored at once, and the model trains to where it was. The
    /// saved work is not trusted; the parts that do not fit are left out and reported in the snapshot.
    pub fn open(lesson: Arc<Lesson>, saved: Option<Saved>) -> Self {
        let Some(saved) = saved else { return Self::new(lesson) };
        let (notebook, mut report) = Notebook::reopened(&lesson, &saved.notebook);
        let tour = if saved.is_toured { Tour::Written } else { Tour::default() };
        let texts = OverTexts::kept(saved.texts.clone());
        let saved = (!saved.commands.is_empty()).then(|| Arc::new(saved));
        let seed = saved.as_ref().and_then(|saved| saved.seed);
        if let Some(seed) = seed.filter(|seed| *seed != lesson.seed) {
            report.push(format!(
                "You left this lesson with seed {seed}; it now trains with seed {}, so your changes apply to other \
                 weights.",
                lesson.seed
            ));
        }
        let mut kernel = Self { tour, texts, ..Self::with(notebook, Goal { saved, plays: false }, lesson) };
        kernel.say(report);
        kernel
    }

    /// Returns a second kernel in the present state, on a copy of the lesson. The two share the model, so that nothing
    /// is read or trained again, unless this kernel is still being opened, restored or retrained. The copy's cells have
    /// not run.
    #[must_use]
    pub fn copy(&self, lesson: Arc<Lesson>) -> Self {
        let snapshot = self.snapshot();
        let Phase::Ready(Ready { model, own, task: Task::Nothing }) = &self.phase else {
            return Self::open(lesson, Some(Saved::of(&snapshot)));
        };
        let mut saved = SavedNotebook::of(&snapshot.notebook, &snapshot.lesson);
        saved.cells.iter_mut().for_each(|cell| cell.run = None);
        let (notebook, report) = Notebook::reopened(&lesson, &saved);
        let model = Box::new(model.copy(&lesson));
        let phase = Phase::Ready(Ready { model, own: own.clone(), task: Task::Nothing });
        let tour = if self.tour.is_written() { Tour::Written } else { Tour::default() };
        let untouched = self.untouched.copy(&lesson);
        let texts = OverTexts::kept(snapshot.texts.kept);
        let mut copy = Self { untouched, tour, texts, ..Self::in_phase(phase, notebook, lesson) };
        copy.say(report);
        copy.follow(None);
        copy
    }

    /// Continues the count of the work's changes from a kernel that this one replaces, and marks the work as changed.
    #[must_use]
    pub fn counting_from(self, before: &Kernel) -> Self {
        let revision = before.work_revision + 1;
        Self { work_revision: revision, opened_revision: revision, ..self }
    }

    /// Sets the clock that measures the duration of runs.
    #[must_use]
    pub fn timed(self, clock: fn() -> Duration) -> Self {
        Self { clock, ..self }
    }

    /// Adds sentences to the report. Beyond a readable number, they are only counted.
    fn say(&mut self, words: Vec<String>) {
        const MOST: usize = 40;
        self.reported += words.len();
        if words.is_empty() {
            return;
        }
        let mut report: Vec<String> = self.report.iter().take(MOST).cloned().chain(words).take(MOST).collect();
        if self.reported > MOST {
            report.push(format!("… and {} more.", self.reported - MOST));
        }
        self.report = report.into();
    }

    /// Returns a kernel whose static vectors are trained and whose model is at its initialisation. If this fails, the
    /// kernel has no model.
    pub fn embedded(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::new(lesson);
        while matches!(kernel.phase, Phase::Embedding { .. } | Phase::Opening { .. }) {
            kernel.advance();
        }
        kernel
    }

    /// Returns a kernel whose model is trained to the lesson's last step, or to its first stop rule.
    pub fn trained(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::embedded(lesson);
        kernel.apply(Command::Training(TrainingCommand::Play));
        kernel.settle();
        kernel
    }

    /// Advances until there is no work left.
    pub fn settle(&mut self) {
        while self.is_busy() {
            self.advance();
        }
    }

    /// Returns whether there is work to do without a further command.
    pub fn is_busy(&self) -> bool {
        match &self.phase {
            Phase::Embedding { .. } | Phase::Opening { .. } => true,
            Phase::Ready(Ready { task: Task::Resuming { way, .. }, .. }) => !way.is_paused,
            Phase::Ready(Ready { task: Task::Retraining { .. }, .. }) => true,
            Phase::Ready(Ready { model, .. }) => {
                let is_waiting = self.notebook.is_waiting()
                    || model.has_senses_pending()
                    || model.has_check_pending()
                    || model.has_map_pending()
                    || model.has_question_pending()
                    || self.texts.is_pending();
                model.training.is_busy() || is_waiting || self.tour.is_under_way()
            }
            Phase::Failed { .. } => false,
        }
    }

    /// Returns the flag by which another thread ends the running cell and those that wait.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.notebook.stop_flag()
    }

    /// Returns the number of optimiser steps done, which is 0 without a model.
    pub fn steps_done(&self) -> usize {
        self.phase.model().map_or(0, |model| model.training.steps_done())
    }

    /// Does the next piece of work, such as a few milliseconds of training or one cell.
    pub fn advance(&mut self) {
        self.work(Self::do_next);
    }

    /// Does a piece of work. The work revision increases if the piece began or ended training, retraining, restoring or
    /// a measurement over texts, or wrote the tour; the steps in between do not change what is saved.
    fn work(&mut self, piece: impl FnOnce(&mut Self)) {
        let under_way = |kernel: &Self| {
            let phase = &kernel.phase;
            let is_playing = phase.model().map(|model| model.training.is_playing());
            (
                is_playing,
                phase.saved().is_some(),
                phase.is_retraining(),
                kernel.tour.is_written(),
                kernel.texts.is_running(),
            )
        };
        let before = under_way(self);
        self.revision += 1;
        piece(self);
        self.work_revision += u64::from(under_way(self) != before);
        self.follow(None);
    }

    fn do_next(&mut self) {
        match &mut self.phase {
            Phase::Embedding { trainer, .. } => {
                if trainer.advance(&self.lesson) {
                    self.open_embedded();
                }
            }
            Phase::Opening { .. } => self.advance_opening(),
            Phase::Ready(Ready { task: Task::Resuming { .. }, .. }) => self.resume(),
            Phase::Ready(Ready { task: Task::Retraining { .. }, .. }) => self.advance_retraining(),
            Phase::Ready(Ready { model, own, .. }) => {
                if self.untouched.ready().is_none() && self.notebook.has_question_next() {
                    self.untouched.advance(model, &self.lesson, own);
                } else if self.tour.is_under_way() && !self.notebook.is_waiting() {
                    self.advance_tour();
                } else if let Some(cell) = self.notebook.take_next() {
                    self.run_cell(&cell);
                } else if self.notebook.has_text_to_evaluate() {
                    self.notebook.evaluate_next(model, self.untouched.ready());
                } else if model.has_senses_pending() {
                    model.measure_senses();
                } else if model.has_check_pending() {
                    model.advance_check();
                } else if model.has_map_pending() {
                    model.advance_map();
                } else if let (true, Ok(evidence)) = (self.texts.is_pending(), model.evidence()) {
                    self.texts.advance(evidence);
                } else if model.has_question_pending() && !model.training.is_busy() {
                    model.wait_for_answers();
                } else {
                    model.advance();
                }
            }
            Phase::Failed { .. } => {}
        }
    }

    /// Returns whether training is under way and neither cells nor texts wait, so that training may be paced.
    pub fn is_training(&self) -> bool {
        match &self.phase {
            Phase::Ready(Ready { model, task: Task::Nothing, .. }) => {
                !self.notebook.is_waiting() && !self.texts.is_pending() && model.training.is_training()
            }
            _ => false,
        }
    }

    /// Trains `steps` steps, or as many as are left.
    pub fn train(&mut self, steps: usize) {
        self.work(|kernel| {
            if let Some(model) = kernel.phase.model_mut() {
                model.train(steps);
            }
        });
    }

    /// Tries an answer to an exercise without changing anything. Returns `None` if there is no such exercise or no
    /// model.
    pub fn try_exercise(&self, id: &str, answer: TriedAnswer<'_>) -> Option<Outcome> {
        let model = self.phase.model()?;
        let cell = self.notebook.document().cell(id)?;
        let CellKind::Exercise(exercise) = &*cell.kind else { return None };
        Some(self.notebook.try_answer(exercise, cell, answer, &mut Trial::of(model, self.notebook.live_names())))
    }

    /// Returns the model's answer to a question as it is asked after `resets` resets, without changing anything.
    /// Returns `None` if there is no such question or no model.
    pub fn try_prediction(&self, id: &str, resets: usize) -> Option<Outcome> {
        let model = self.phase.model()?;
        let cell = DocumentCell { resets, ..DocumentCell::clone(self.notebook.document().cell(id)?) };
        let CellKind::Predict(predict) = &*cell.kind else { return None };
        Some(self.notebook.try_prediction(predict, &cell, &model.live_with(&self.notebook.speaks_of(&cell))))
    }

    /// Runs further code of the lesson after one of its cells, which must have run, and returns the fault, if any.
    pub fn fault_after(&self, id: &str, text: &str) -> Option<Fault> {
        let model = self.phase.model()?;
        self.notebook.fault_after(id, text, &Trial::of(model, self.notebook.live_names()))
    }

    fn run_cell(&mut self, cell: &CellId) {
        let Some(model) = self.phase.model_mut() else { return };
        self.notebook.keep_texts_above(cell, model, self.untouched.ready());
        let begun = (self.clock)();
        let names = self.notebook.live_names();
        let mut model = Watched { model, watch: &mut self.watch, names };
        self.notebook.run(cell, &mut model, self.untouched.ready());
        self.notebook.set_elapsed(cell, (self.clock)().saturating_sub(begun));
        self.work_revision += 1;
        self.remember_changes(None);
    }

    /// Informs the notebook of a change; `slid` is passed on to [`Notebook::follow`].
    fn follow(&mut self, slid: Option<&SliderMove>) {
        // While training plays, cells wait for its end, and their results are marked as stale.
        let is_resuming = self.phase.is_resuming();
        let Some(model) = self.phase.model_mut() else { return };
        model.follow_table();
        self.untouched.keep(model);
        if self.watch.is_other_sentence(model) {
            self.notebook.set_live(model.live_names());
        }
        let versions = self.watch.look(model);
        if is_resuming || (model.training.is_busy() && slid.is_none()) {
            self.notebook.see(versions);
        } else {
            self.notebook.follow(versions, slid);
        }
    }

    /// Applies one command. If it is refused, the snapshot's notice gives the reason.
    pub fn apply(&mut self, command: Command) {
        self.apply_all(iter::once(command));
    }

    /// Applies commands one after the other. Consecutive undos and redos are done together, so that only the final
    /// state is computed.
    pub fn apply_all(&mut self, commands: impl Iterator<Item = Command>) {
        let mut commands = commands.peekable();
        while let Some(command) = commands.next() {
            self.apply_next(command, &mut commands);
        }
    }

    fn apply_next(&mut self, command: Command, more: &mut Peekable<impl Iterator<Item = Command>>) {
        self.revision += 1;
        self.notebook.begin(match command {
            _ if command.is_step() => LastCommand::Step,
            Command::Sentence(ref command) => {
                LastCommand::Sentence { is_of_lesson: matches!(command, SentenceCommand::Select(_)) }
            }
            _ => LastCommand::Other,
        });
        self.has_changed = false;
        let slid = self.slid(&command);
        let changes_work = command.changes_work();
        let bound = self.bound(command);
        let stroke = bound.as_ref().ok().and_then(|command| Stroke::of(command, self.phase.model()));
        self.history.begin(stroke.as_ref());
        let result = match bound {
            Err(why) => Err(why),
            Ok(command) if command.is_step() => {
                let more = iter::from_fn(|| more.next_if(Command::is_step));
                self.travel(iter::once(command).chain(more))
            }
            Ok(Command::Notebook(command)) => self.apply_to_notebook(command, stroke.as_ref()),
            Ok(Command::Tour) => {
                self.ask_for_tour();
                Ok(())
            }
            Ok(Command::Texts(command)) => self.apply_to_texts(command),
            Ok(command) => self.apply_to_model(command, stroke.clone()),
        };
        let changes =
            [self.remember_changes(stroke.as_ref()), self.notebook.take_changed(), take(&mut self.has_changed)];
        self.follow(slid.as_ref());
        self.work_revision += u64::from(changes_work && changes.contains(&true));
        self.notice = result.err().map(Arc::from);
    }

    fn slid(&self, command: &Command) -> Option<SliderMove> {
        let Command::Notebook(NotebookCommand::Cell(id, CellCommand::Slide(_))) = command else { return None };
        let is_variable = self.notebook.document().cell(id)?.turned_variable().is_some();
        Some(if is_variable { SliderMove::Variable(id.clone()) } else { SliderMove::Model })
    }

    /// Translates the command of a slider that is bound to the model into the model's command. Other commands stay as
    /// they are.
    fn bound(&self, command: Command) -> Result<Command, String> {
        let Command::Notebook(NotebookCommand::Cell(id, CellCommand::Slide(value))) = &command else {
            return Ok(command);
        };
        let Some(cell) = self.notebook.document().cell(id) else { return Ok(command) };
        let CellKind::Slider(slider) = &*cell.kind else { return Ok(command) };
        let value = value.clamp(slider.range.0, slider.range.1);
        Ok(match slider.bind {
            Bind::Temperature => Command::Interventions(InterventionCommand::SetTemperature(Some(value))),
            Bind::Weight { tensor, row, col } => {
                Command::Weights(WeightCommand::Set { tensor, row, col, value: value as f32 })
            }
            Bind::Mask => Command::Interventions(InterventionCommand::SetMask(Some(if value < 0.5 {
                Mask::None
            } else {
                Mask::Causal
            }))),
            Bind::Time => return Err("the time changes only the view; no model depends on it".to_owned()),
            Bind::Variable(_) => command,
        })
    }

    fn apply_to_notebook(&mut self, command: NotebookCommand, stroke: Option<&Stroke>) -> Result<(), String> {
        if command == NotebookCommand::Reset && self.tour.is_written() {
            self.tour = Tour::Asked;
        }
        if let Some(changed) = self.notebook.apply(command, &self.lesson)? {
            self.remember(changed.label, Undoable::Notebook(changed.before), stroke);
        }
        Ok(())
    }

    fn apply_to_texts(&mut self, command: TextsCommand) -> Result<(), String> {
        let Phase::Ready(Ready { model, task: Task::Nothing, .. }) = &self.phase else {
            return Err("wait until the model is ready".to_owned());
        };
        let evidence = model.evidence()?;
        self.has_changed = matches!(command, TextsCommand::Stop | TextsCommand::Forget);
        self.texts.apply(command, evidence)
    }

    fn apply_to_model(&mut self, command: Command, stroke: Option<Stroke>) -> Result<(), String> {
        match &mut self.phase {
            Phase::Embedding { goal, .. } | Phase::Opening { goal, .. } => match command {
                Command::Training(command @ (TrainingCommand::Play | TrainingCommand::Pause)) => {
                    goal.plays = command == TrainingCommand::Play;
                    Ok(())
                }
                _ if self.lesson.static_embedding.is_pretrained() => {
                    Err("wait until the model has been read".to_owned())
                }
                _ => Err("wait until the static vectors have been trained".to_owned()),
            },
            Phase::Ready(ready) => {
                self.has_changed |= ready.apply(command, &self.lesson, stroke)?;
                Ok(())
            }
            Phase::Failed { .. } => Ok(()),
        }
    }

    /// Adds the model's changes to the history. Returns true if there were any.
    fn remember_changes(&mut self, stroke: Option<&Stroke>) -> bool {
        let changes = self.phase.model_mut().map(LessonModel::take_changes).unwrap_or_default();
        let has_changed = !changes.is_empty();
        for (label, part) in changes {
            self.remember(label, Undoable::Model(part), stroke);
        }
        has_changed
    }

    fn remember(&mut self, label: String, before: Undoable, stroke: Option<&Stroke>) {
        let bytes = before.bytes();
        self.history.push(label, before, bytes, stroke);
    }

    /// Undoes and redoes consecutive steps.
    fn travel(&mut self, steps: impl Iterator<Item = Command>) -> Result<(), String> {
        let Self { history, phase, notebook, .. } = self;
        let mut result = Ok(());
        for step in steps {
            // A retraining in progress counts as the last change, so undo cancels it first.
            let gave_up = phase.give_up_retraining();
            let mut exchange = |state: Undoable| {
                let now = state.exchange(phase.model_mut(), notebook);
                let bytes = now.bytes();
                (now, bytes)
            };
            let (verb, is_done) = match step {
                Command::Redo => ("redo", history.redo(&mut exchange)),
                _ => ("undo", gave_up || history.undo(&mut exchange)),
            };
            self.has_changed |= is_done;
            result = if is_done { Ok(()) } else { Err(format!("there is nothing to {verb}")) };
        }
        result
    }

    /// Returns the reason why the last command was refused, if it was.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Returns the model for questions about it.
    ///
    /// # Errors
    /// A message for the learner if there is no model, or only a recording.
    pub fn evidence(&self) -> Result<Evidence<'_>, String> {
        self.phase.model().ok_or("there is no model yet")?.evidence()
    }

    /// Returns the present state for viewers.
    pub fn snapshot(&self) -> Snapshot {
        let model = self.phase.model();
        let fault = match &self.phase {
            Phase::Failed { fault, .. } => Some(fault.clone()),
            Phase::Embedding { .. } | Phase::Opening { .. } | Phase::Ready(_) => None,
        };
        Snapshot {
            lesson: self.lesson.clone(),
            revision: self.revision,
            work_revision: self.work_revision,
            opened_revision: self.opened_revision,
            space: model.map(|model| model.space.clone()),
            embedding_progress: self.phase.embedding_progress(),
            model: model.map(|model| model.snapshot(&model.origin.lesson)),
            notebook: self.notebook.snapshot(),
            history: HistorySnapshot {
                undo: self.history.undo_label().map(str::to_owned),
                redo: self.history.redo_label().map(str::to_owned),
            },
            retraining: match self.phase.task() {
                Task::Retraining { work, .. } => Some(work.snapshot()),
                Task::Nothing | Task::Resuming { .. } => None,
            },
            awaited: self.phase.saved().cloned(),
            touring: self.tour.progress(),
            is_toured: self.tour.is_written(),
            texts: self.texts.snapshot(model.map(|model| &model.training.network().architecture)),
            report: self.report.clone(),
            notice: fault.as_ref().map(|fault| fault.words.as_str().into()).or_else(|| self.notice.clone()),
            fault,
        }
    }
}

/// The steps by which a kernel reaches a model: opening, restoring, retraining.
impl Kernel {
    /// Continues from the lesson's own static vectors once they are trained.
    fn open_embedded(&mut self) {
        let Phase::Embedding { trainer, goal } = &mut self.phase else { return };
        let goal = take(goal);
        let own = match EmbeddedCorpus::trained(&self.lesson, Arc::default(), trainer, None) {
            Ok(own) => own,
            Err(fault) => {
                self.phase = Phase::Failed { progress: trainer.progress(), fault, saved: goal.saved };
                return;
            }
        };
        let recipe = goal.saved.as_ref().and_then(|saved| saved.recipe().cloned());
        let work = recipe.map(|recipe| Retraining::new(&self.lesson, recipe, std::slice::from_ref(&own), false));
        match work {
            Some(Ok(work)) => self.phase = Phase::Opening { own, work: Box::new(work), goal },
            Some(Err(why)) => self.open_without_recipe(own, goal, &why),
            None => self.open_own(own, goal),
        }
    }

    /// Does the next piece of opening a lesson that was saved with a recipe.
    fn advance_opening(&mut self) {
        let Phase::Opening { own, work, goal } = &mut self.phase else { return };
        match work.advance(&own.space) {
            Ok(None) => {}
            Ok(Some(model)) => {
                let (own, goal) = (own.clone(), take(goal));
                self.begin(model, own, goal);
            }
            Err(fault) => {
                let (own, goal) = (own.clone(), take(goal));
                self.open_without_recipe(own, goal, &fault.words);
            }
        }
    }

    fn open_without_recipe(&mut self, own: EmbeddedCorpus, goal: Goal, why: &str) {
        self.say(vec![format!(
            "The model had been trained with other settings; it now has the lesson's settings: \
            {why}."
        )]);
        self.open_own(own, goal);
    }

    fn open_own(&mut self, own: EmbeddedCorpus, goal: Goal) {
        let origin = ModelOrigin { lesson: self.lesson.clone(), recipe: own.recipe.clone(), replaced: None };
        match LessonModel::new(origin, &own) {
            Ok(model) => self.begin(Box::new(model), own, goal),
            Err(fault) => self.phase = Phase::Failed { progress: own.progress, fault, saved: goal.saved },
        }
    }

    /// Starts with a model, which then trains if requested, or continues from the saved state.
    fn begin(&mut self, mut model: Box<LessonModel>, own: EmbeddedCorpus, goal: Goal) {
        let task = match goal.saved {
            Some(saved) => {
                self.say(saved.compare_files(&model).into_iter().collect());
                Task::Resuming { way: Box::new(Resuming::new(&saved, goal.plays)), saved }
            }
            None => Task::Nothing,
        };
        if goal.plays && matches!(task, Task::Nothing) {
            model.play_at_opening();
        }
        self.phase = Phase::Ready(Ready { model, own, task });
        // The state before any training is restored at once, so that it is shown in the first frame.
        self.resume();
    }

    /// Does the next piece of restoring the saved model.
    fn resume(&mut self) {
        let Phase::Ready(ready) = &mut self.phase else { return };
        let Task::Resuming { saved, way } = &mut ready.task else { return };
        let mut report = Vec::new();
        if way.advance(&mut ready.model, &mut report) {
            let recipe = saved.under_way().cloned();
            ready.task = Task::Nothing;
            if let Some(Err(why)) = recipe.map(|recipe| ready.retrain(&self.lesson, recipe, None)) {
                report.push(format!("The lesson was being trained again, but this could not be continued: {why}."));
            }
        }
        self.say(report);
    }

    /// Does the next piece of a retraining.
    fn advance_retraining(&mut self) {
        let Phase::Ready(ready) = &mut self.phase else { return };
        let Task::Retraining { work, stroke } = &mut ready.task else { return };
        match work.advance(&ready.own.space) {
            Ok(None) => {}
            Ok(Some(new)) => {
                let stroke = stroke.take();
                ready.task = Task::Nothing;
                let words = new.origin.recipe.words(&self.lesson);
                let (old, lost) = ready.replace_model(*new, self.history.continues(stroke.as_ref()));
                if !lost.is_empty() {
                    self.notice = Some(lost.join("; ").into());
                }
                let label = if words.is_empty() {
                    "retraining with the lesson's settings".to_owned()
                } else {
                    format!("retraining: {words}")
                };
                self.remember(label, Undoable::Retrained(Box::new(old)), stroke.as_ref());
            }
            Err(fault) => {
                ready.task = Task::Nothing;
                self.notice = Some(fault.words.into());
            }
        }
    }

    /// Requests a tour. The request has no effect unless the lesson shows a model from a folder and the notebook is
    /// unchanged.
    fn ask_for_tour(&mut self) {
        let is_first = matches!(self.tour, Tour::NotAsked);
        if is_first && self.lesson.is_of_folder() && self.notebook.is_as_given(&self.lesson) {
            self.tour = Tour::Asked;
        }
    }

    /// Returns whether a tour was requested, so that a kernel that replaces this one writes it too.
    pub fn wants_tour(&self) -> bool {
        !matches!(self.tour, Tour::NotAsked)
    }

    /// Does the next piece of the tour.
    fn advance_tour(&mut self) {
        let Some(model) = self.phase.model() else { return };
        let Some(cells) = self.tour.advance(model) else { return };
        let is_untouched = self.notebook.is_as_given(&self.lesson);
        let before = self.notebook.insert_tour(&cells);
        // The first tour was not requested by a learner, so undo does not remove it. If the notebook was changed in the
        // meantime, or restored by undoing its reset, the tour is inserted as an ordinary change, or not at all.
        if let Some(before) = before.filter(|_| !is_untouched) {
            self.remember("tour of the model".to_owned(), Undoable::Notebook(before), None);
        }
    }
}
