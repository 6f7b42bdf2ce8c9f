//! The kernel: one running lesson. [`Kernel::apply`] is the only way to change it. It trains its lesson again, opens
//! one that was left with a recipe, and writes a tour of its model into the notebook.

mod undo;

use std::iter::{self, Peekable};
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use attune_engine::code::Fault;
use attune_engine::numerics::attention::Mask;

use self::undo::{History, Undoable};
use crate::kernel::command::{Command, InterventionCommand, SentenceCommand, TrainingCommand, WeightCommand};
use crate::kernel::model::live::{Trial, Watch, Watched};
use crate::kernel::model::retraining::{EmbeddedCorpus, RetrainStep, Retraining};
use crate::kernel::model::untouched::UntouchedModel;
use crate::kernel::model::{HISTORY_BYTES_MAX, HISTORY_STATES_MAX, LessonModel, ModelOrigin};
use crate::kernel::notebook::execution::{Outcome, TriedAnswer};
use crate::kernel::notebook::saved::SavedNotebook;
use crate::kernel::notebook::{CellCommand, CellId, EditDrag, LastCommand, Notebook, NotebookCommand, SliderMove};
use crate::kernel::saved_work::{Resuming, Saved};
use crate::kernel::snapshot::{HistorySnapshot, Progress, Snapshot};
use crate::kernel::static_embedding::{LessonFault, SpaceTrainer};
use crate::kernel::tour::Touring;
use crate::lesson::Recipe;
use crate::lesson::cells::{Bind, CellKind};
use crate::lesson::schema::Lesson;

/// One running lesson, without a thread or a clock: the same commands and advances, in the same
/// order, lead to the same snapshots, bit for bit; but for how long a cell ran, where a clock is given.
pub struct Kernel {
    lesson: Arc<Lesson>,
    revision: u64,
    work_revision: u64,
    /// The work revision at which the kernel was opened: the work as it was saved, if it was.
    opened_revision: u64,
    notice: Option<Arc<str>>,
    /// Asked to play before there was anything to train.
    play_when_ready: bool,
    phase: Phase,
    /// The lesson's own static vectors, from which every retraining begins.
    own: Option<EmbeddedCorpus>,
    /// A lesson that was left with a recipe, on its way to the model's initialisation.
    opening: Option<Retraining>,
    /// The lesson's model without the learner's changes: what predictions ask.
    untouched: UntouchedModel,
    retraining: Option<UnderWay>,
    /// Changes of the last retraining, while nothing else happened.
    retrained: Option<Vec<String>>,
    /// Saved work, until the model is where it was.
    awaited: Option<Arc<Saved>>,
    /// Training is on its way there.
    resuming: Option<Resuming>,
    toured: Toured,
    /// Saved work that does not fit.
    report: Arc<[String]>,
    notebook: Notebook,
    watch: Watch,
    history: History<Undoable>,
    /// The drag of the last command in the notebook, while nothing else happened.
    last_drag: Option<EditDrag>,
    /// The last command changed what neither the model nor the notebook has of itself.
    has_changed: bool,
    clock: fn() -> Duration,
}

enum Phase {
    Embedding(Box<SpaceTrainer>),
    Ready(Box<LessonModel>),
    /// There is nothing to train; the reason is the notice of every snapshot.
    Failed {
        progress: Progress,
        fault: LessonFault,
    },
}

impl Kernel {
    pub fn new(lesson: Arc<Lesson>) -> Self {
        let phase = Phase::Embedding(Box::new(SpaceTrainer::new(&lesson)));
        Self::in_phase(phase, Notebook::new(&lesson), lesson)
    }

    fn in_phase(phase: Phase, notebook: Notebook, lesson: Arc<Lesson>) -> Self {
        Self {
            notebook,
            watch: Watch::default(),
            history: History::new(HISTORY_STATES_MAX, HISTORY_BYTES_MAX),
            last_drag: None,
            has_changed: false,
            clock: || Duration::ZERO,
            lesson,
            revision: 0,
            work_revision: 0,
            opened_revision: 0,
            notice: None,
            play_when_ready: false,
            phase,
            own: None,
            opening: None,
            untouched: UntouchedModel::default(),
            retraining: None,
            retrained: None,
            awaited: None,
            resuming: None,
            toured: Toured::default(),
            report: Arc::from([]),
        }
    }

    /// A lesson as it was left: the notebook is back at once, and the model trains to where it was. What
    /// was saved may be anything: what does not fit is left out, and said in the snapshot's report.
    pub fn open(lesson: Arc<Lesson>, saved: Option<Saved>) -> Self {
        let Some(saved) = saved else { return Self::new(lesson) };
        let (notebook, mut report) = Notebook::reopened(&lesson, &saved.notebook);
        let toured = if saved.is_toured { Toured::Written } else { Toured::default() };
        let awaited = (!saved.commands.is_empty()).then(|| Arc::new(saved));
        let seed = awaited.as_ref().and_then(|saved| saved.seed);
        if let Some(seed) = seed.filter(|seed| *seed != lesson.seed) {
            report.push(format!(
                "You left this lesson with seed {seed}; it now trains with seed {}, so your changes apply to other \
                 weights.",
                lesson.seed
            ));
        }
        let mut kernel = Self { notebook, toured, awaited, ..Self::new(lesson) };
        kernel.say(report);
        kernel
    }

    /// A kernel that goes on from here beside this one, on a copy of its lesson. It shares the model, which is neither
    /// read nor trained again, unless this kernel is itself on its way to where it was left. Its cells have yet to run.
    #[must_use]
    pub fn copy(&self, lesson: Arc<Lesson>) -> Self {
        let snapshot = self.snapshot();
        let is_on_its_way = self.resuming.is_some() || self.retraining.is_some();
        let model = match &self.phase {
            Phase::Ready(model) if !is_on_its_way => model,
            _ => return Self::open(lesson, Some(Saved::of(&snapshot))),
        };
        let mut saved = SavedNotebook::of(&snapshot.notebook, &snapshot.lesson);
        saved.cells.iter_mut().for_each(|cell| cell.run = None);
        let (notebook, report) = Notebook::reopened(&lesson, &saved);
        let phase = Phase::Ready(Box::new(model.copy(&lesson)));
        let toured = if self.toured.is_written() { Toured::Written } else { Toured::default() };
        let untouched = self.untouched.copy(&lesson);
        let mut copy = Self { own: self.own.clone(), untouched, toured, ..Self::in_phase(phase, notebook, lesson) };
        copy.say(report);
        copy.follow(None);
        copy
    }

    /// Goes on counting the changes of the work from a kernel that this one takes the place of: the work is another.
    #[must_use]
    pub fn counting_from(self, before: &Kernel) -> Self {
        let revision = before.work_revision + 1;
        Self { work_revision: revision, opened_revision: revision, ..self }
    }

    /// `clock` measures how long cells run.
    #[must_use]
    pub fn timed(self, clock: fn() -> Duration) -> Self {
        Self { clock, ..self }
    }

    /// Adds to the report, as far as anybody would read it.
    fn say(&mut self, words: Vec<String>) {
        const MOST: usize = 40;
        if words.is_empty() || self.report.len() > MOST {
            return;
        }
        let mut report: Vec<String> = self.report.iter().cloned().chain(words).collect();
        if report.len() > MOST {
            let more = report.len() - MOST;
            report.truncate(MOST);
            report.push(format!("… and {more} more."));
        }
        self.report = report.into();
    }

    /// A kernel whose static vectors are trained and whose model is at its initialisation.
    pub fn embedded(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::new(lesson);
        while matches!(kernel.phase, Phase::Embedding(_)) {
            kernel.advance();
        }
        kernel
    }

    /// A kernel that has trained to the lesson's last step.
    pub fn trained(lesson: Arc<Lesson>) -> Self {
        let mut kernel = Self::embedded(lesson);
        kernel.apply(Command::Training(TrainingCommand::Play));
        kernel.settle();
        kernel
    }

    /// Advances until there is nothing more to do.
    pub fn settle(&mut self) {
        while self.is_busy() {
            self.advance();
        }
    }

    /// There is work that starts without a request.
    pub fn is_busy(&self) -> bool {
        match &self.phase {
            Phase::Embedding(_) => true,
            Phase::Ready(model) => match &self.resuming {
                Some(resuming) => !resuming.is_paused,
                None if self.retraining.is_some() => true,
                None => {
                    let is_waiting = self.notebook.is_waiting() || model.has_senses_pending();
                    model.training.is_busy() || is_waiting || self.toured.is_under_way()
                }
            },
            Phase::Failed { .. } => false,
        }
    }

    /// Set from another thread, it ends the cell that runs and those that wait.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.notebook.stop_flag()
    }

    /// Optimiser steps done.
    pub fn steps_done(&self) -> usize {
        match &self.phase {
            Phase::Ready(model) => model.training.steps_done(),
            Phase::Embedding(_) | Phase::Failed { .. } => 0,
        }
    }

    /// Does the next piece of that work: a few milliseconds of training, or one cell.
    pub fn advance(&mut self) {
        self.work(Self::do_next);
    }

    /// Does a piece of work. Where it ends what was under way, there is something to be saved.
    fn work(&mut self, piece: impl FnOnce(&mut Self)) {
        let under_way = |kernel: &Self| {
            let model = match &kernel.phase {
                Phase::Ready(model) => Some(model.training.is_playing()),
                Phase::Embedding(_) | Phase::Failed { .. } => None,
            };
            (model, kernel.awaited.is_some(), kernel.retraining.is_some(), kernel.toured.is_written())
        };
        let before = under_way(self);
        self.revision += 1;
        piece(self);
        self.work_revision += u64::from(under_way(self) != before);
        self.follow(None);
    }

    fn do_next(&mut self) {
        match &mut self.phase {
            Phase::Embedding(trainer) => match self.opening.take() {
                Some(work) => self.open_on(work),
                None if trainer.advance(&self.lesson) => self.embedded_own(),
                None => {}
            },
            Phase::Ready(_) if self.resuming.is_some() => self.resume(),
            Phase::Ready(_) if self.retraining.is_some() => self.retrain_on(),
            Phase::Ready(model) if self.untouched.ready().is_none() && self.notebook.has_question_next() => {
                let own = self.own.clone().unwrap_or_else(|| EmbeddedCorpus::of(model));
                self.untouched.advance(model, &self.lesson, &own);
            }
            Phase::Ready(_) if self.toured.is_under_way() && !self.notebook.is_waiting() => self.tour_on(),
            Phase::Ready(model) => match self.notebook.take_next() {
                Some(cell) => self.run_cell(&cell),
                None if self.notebook.has_text_to_evaluate() => {
                    self.notebook.evaluate_next(model, self.untouched.ready())
                }
                None if model.has_senses_pending() => model.measure_senses(),
                None => model.advance(),
            },
            Phase::Failed { .. } => {}
        }
    }

    /// Nothing but the training of the model is to do, which may then be paced.
    pub fn is_training(&self) -> bool {
        let is_free = self.resuming.is_none() && self.retraining.is_none() && !self.notebook.is_waiting();
        is_free && matches!(&self.phase, Phase::Ready(model) if model.training.is_training())
    }

    /// Trains `steps` steps, or as many as are left.
    pub fn train(&mut self, steps: usize) {
        self.work(|kernel| {
            if let Phase::Ready(model) = &mut kernel.phase {
                model.train(steps);
            }
        });
    }

    /// There is a model now: it plays if it was asked to, or goes on from where it was left.
    fn begin(&mut self) {
        let Phase::Ready(model) = &mut self.phase else { return };
        let Some(saved) = &self.awaited else {
            if self.play_when_ready {
                model.play_at_opening();
            }
            return;
        };
        let report = model.compare_files(saved);
        self.resuming = Some(Resuming::new(saved, self.play_when_ready));
        self.say(report.into_iter().collect());
        // What is seen before training is there at once.
        self.resume();
    }

    /// The next piece of the way back.
    fn resume(&mut self) {
        let (Phase::Ready(model), Some(resuming)) = (&mut self.phase, &mut self.resuming) else { return };
        let mut report = Vec::new();
        if resuming.advance(model, &mut report) {
            self.resuming = None;
            let under_way = self.awaited.take().and_then(|saved| saved.under_way().cloned());
            if let Some(Err(why)) = under_way.map(|recipe| self.retrain(recipe)) {
                report.push(format!("The lesson was being trained again, but this could not be continued: {why}."));
            }
        }
        self.say(report);
    }

    /// Tries an answer to an exercise; nothing changes.
    /// `None` if there is no such exercise, or no model.
    pub fn try_exercise(&self, id: &str, answer: TriedAnswer<'_>) -> Option<Outcome> {
        let Phase::Ready(model) = &self.phase else { return None };
        let cell = self.notebook.document().cell(id)?;
        let CellKind::Exercise(exercise) = &*cell.kind else { return None };
        Some(self.notebook.try_answer(exercise, cell, answer, &mut Trial::of(model, self.notebook.live_names())))
    }

    /// The fault of a lesson's code after one of its cells, which must have run.
    pub fn fault_after(&self, id: &str, text: &str) -> Option<Fault> {
        let Phase::Ready(model) = &self.phase else { return None };
        self.notebook.fault_after(id, text, &Trial::of(model, self.notebook.live_names()))
    }

    fn run_cell(&mut self, cell: &CellId) {
        let Phase::Ready(model) = &mut self.phase else { return };
        self.notebook.keep_texts_above(cell, model, self.untouched.ready());
        let begun = (self.clock)();
        let names = self.notebook.live_names();
        let mut model = Watched { model, watch: &mut self.watch, names };
        self.notebook.run(cell, &mut model, self.untouched.ready());
        self.notebook.set_elapsed(cell, (self.clock)().saturating_sub(begun));
        self.work_revision += 1;
        self.remember_changes();
    }

    /// Tells the notebook of a change; `slid` as in [`Notebook::follow`].
    fn follow(&mut self, slid: Option<&SliderMove>) {
        // While training plays, cells wait for its end; what they show is marked stale.
        if let Phase::Ready(model) = &mut self.phase {
            model.follow_table();
            self.untouched.keep(model);
            if self.watch.is_other_sentence(model) {
                self.notebook.set_live(model.live_names());
            }
            let versions = self.watch.look(model);
            if self.resuming.is_some() || (model.training.is_busy() && slid.is_none()) {
                self.notebook.see(versions);
            } else {
                self.notebook.follow(versions, slid);
            }
        }
    }

    /// Applies one command. What cannot be done is said in the snapshot's notice.
    pub fn apply(&mut self, command: Command) {
        self.apply_all(iter::once(command));
    }

    /// Applies commands one after the other. Undo and redo in a row are one way, of which the end alone costs work.
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
        let last_drag = self.last_drag.take();
        if !matches!(command, Command::Retrain(_)) {
            self.retrained = None;
        }
        let slid = self.slid(&command);
        let changes_work = command.changes_work();
        let result = match self.bound(command) {
            Err(why) => Err(why),
            Ok(command) if command.is_step() => {
                let more = iter::from_fn(|| more.next_if(Command::is_step));
                self.travel(iter::once(command).chain(more))
            }
            Ok(Command::Notebook(command)) => self.apply_to_notebook(command, last_drag),
            Ok(Command::Tour) => {
                self.ask_for_tour();
                Ok(())
            }
            Ok(command) => self.apply_to_model(command),
        };
        let has_changed = [self.remember_changes(), self.notebook.take_changed(), take(&mut self.has_changed)];
        self.follow(slid.as_ref());
        self.work_revision += u64::from(changes_work && has_changed.contains(&true));
        self.notice = result.err().map(Arc::from);
    }

    fn slid(&self, command: &Command) -> Option<SliderMove> {
        let Command::Notebook(NotebookCommand::Cell(id, CellCommand::Slide(_))) = command else { return None };
        let is_variable = self.notebook.document().cell(id)?.turned_variable().is_some();
        Some(if is_variable { SliderMove::Variable(id.clone()) } else { SliderMove::Model })
    }

    /// A slider that is bound to the model gives the model's command.
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

    fn apply_to_notebook(&mut self, command: NotebookCommand, last_drag: Option<EditDrag>) -> Result<(), String> {
        if let Phase::Ready(model) = &mut self.phase {
            model.end_move();
        }
        if command == NotebookCommand::Reset && self.toured.is_written() {
            self.toured = Toured::Asked;
        }
        let Some(changed) = self.notebook.apply(command, &self.lesson)? else { return Ok(()) };
        let goes_on = changed.goes_on_as.is_some() && changed.goes_on_as == last_drag;
        if !goes_on {
            self.remember(changed.label, Undoable::Notebook(changed.before));
        }
        self.last_drag = changed.goes_on_as;
        Ok(())
    }

    fn apply_to_model(&mut self, command: Command) -> Result<(), String> {
        if let Some(resuming) = &mut self.resuming {
            match command {
                Command::Training(TrainingCommand::Play) => {
                    (resuming.is_paused, resuming.plays) = (false, true);
                    return Ok(());
                }
                Command::Training(TrainingCommand::Pause) => {
                    resuming.pause();
                    return Ok(());
                }
                // Nobody waits for what is to be undone.
                Command::Training(TrainingCommand::Reset) => {
                    (self.resuming, self.awaited, self.has_changed) = (None, None, true);
                }
                command if command.concerns_training() => {
                    return Err("wait until training is back where you left it".to_owned());
                }
                _ => {}
            }
        }
        match (&mut self.phase, command) {
            (Phase::Ready(_), Command::Retrain(recipe)) => self.retrain(*recipe),
            // The old model would train on, only to be replaced.
            (Phase::Ready(_), Command::Training(TrainingCommand::Play | TrainingCommand::Step(_)))
                if self.retraining.is_some() =>
            {
                Err("wait until the lesson has been trained again, or cancel that with Pause".to_owned())
            }
            (Phase::Ready(model), command) => {
                if matches!(command, Command::Training(TrainingCommand::Pause | TrainingCommand::Reset)) {
                    self.has_changed |= self.retraining.take().is_some();
                }
                let lesson = model.origin.lesson.clone();
                model.apply(command, &lesson)
            }
            (Phase::Embedding(_), Command::Training(command @ (TrainingCommand::Play | TrainingCommand::Pause))) => {
                self.play_when_ready = command == TrainingCommand::Play;
                Ok(())
            }
            (Phase::Embedding(_), _) => Err(match self.lesson.static_embedding.is_pretrained() {
                true => "wait until the model has been read".to_owned(),
                false => "wait until the static vectors have been trained".to_owned(),
            }),
            (Phase::Failed { .. }, _) => Ok(()),
        }
    }

    /// Why the last command was refused, if it was.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// The present state for viewers.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::empty(self.lesson.clone());
        snapshot.revision = self.revision;
        snapshot.work_revision = self.work_revision;
        snapshot.opened_revision = self.opened_revision;
        snapshot.notice = self.notice.clone();
        snapshot.notebook = self.notebook.snapshot();
        snapshot.awaited = self.awaited.clone();
        (snapshot.touring, snapshot.is_toured) = (self.toured.progress(), self.toured.is_written());
        snapshot.report = self.report.clone();
        snapshot.history = HistorySnapshot {
            undo: self.history.undo_label().map(str::to_owned),
            redo: self.history.redo_label().map(str::to_owned),
        };
        match &self.phase {
            Phase::Embedding(trainer) => {
                let opening = self.opening.as_ref().map(|work| work.snapshot().embedding);
                snapshot.embedding_progress = opening.unwrap_or_else(|| trainer.progress());
            }
            Phase::Ready(model) => {
                snapshot.embedding_progress = model.embedding_progress;
                snapshot.space = Some(model.space.clone());
                snapshot.model = Some(model.snapshot(&model.origin.lesson));
                snapshot.retraining = self.retraining.as_ref().map(|under_way| under_way.work.snapshot());
            }
            Phase::Failed { progress, fault } => {
                snapshot.embedding_progress = *progress;
                snapshot.notice = Some(fault.words.as_str().into());
                snapshot.fault = Some(fault.clone());
            }
        }
        snapshot
    }
}

/// A retraining that somebody waits for.
pub struct UnderWay {
    pub work: Retraining,
    /// Names of its changes.
    changes: Vec<String>,
    /// True where it changes the same as the last one, and undoes together with it.
    goes_on: bool,
}

impl Kernel {
    pub(in crate::kernel) fn retrain(&mut self, recipe: Recipe) -> Result<(), String> {
        let (Phase::Ready(model), Some(own)) = (&mut self.phase, &self.own) else {
            return Err("wait until the static vectors have been trained".to_owned());
        };
        if model.pretrained.is_some() {
            return Err("a model that was read from files cannot be trained here".to_owned());
        }
        let changes = recipe.changes_from(&model.origin.recipe);
        if changes.is_empty() {
            self.has_changed |= self.retraining.take().is_some();
            return Ok(());
        }
        if self.retraining.as_ref().is_some_and(|under_way| *under_way.work.recipe() == recipe) {
            return Ok(());
        }
        let goes_on = !recipe.is_default() && self.retrained.as_ref() == Some(&changes);
        let work = Retraining::new(&self.lesson, recipe, &[own.clone(), EmbeddedCorpus::of(model)], true)?;
        model.training.pause();
        self.retraining = Some(UnderWay { work, changes, goes_on });
        self.has_changed = true;
        Ok(())
    }

    /// The next piece of it.
    pub(in crate::kernel) fn retrain_on(&mut self) {
        let Some(UnderWay { work, changes, goes_on }) = self.retraining.take() else { return };
        let Some(own) = &self.own else { return };
        match work.advance(&own.space) {
            Ok(RetrainStep::On(work)) => self.retraining = Some(UnderWay { work, changes, goes_on }),
            Ok(RetrainStep::Done(model)) => self.replace_model(*model, changes, goes_on),
            Err(LessonFault { words, .. }) => self.notice = Some(words.into()),
        }
    }

    fn replace_model(&mut self, mut new: LessonModel, changes: Vec<String>, goes_on: bool) {
        let Phase::Ready(model) = &mut self.phase else { return };
        // Something else may have happened meanwhile.
        let goes_on = goes_on && self.retrained.as_ref() == Some(&changes);
        let lost = new.take_over(model);
        if !lost.is_empty() {
            self.notice = Some(lost.join("; ").into());
        }
        model.training.pause();
        // While a slider is dragged, the ghosts are those of where the drag began.
        if goes_on {
            new.origin.replaced = model.origin.replaced.take();
            new.cache.replaced = std::mem::take(&mut model.cache.replaced);
        } else {
            new.cache.replaced = Arc::new(model.shown()).into();
            new.origin.replaced = Some(Box::new(model.without_ghost()));
        }
        let words = new.origin.recipe.words(&self.lesson);
        let label = if words.is_empty() {
            "retraining with the lesson's settings".to_owned()
        } else {
            format!("retraining: {words}")
        };
        let old = std::mem::replace(&mut **model, new);
        if !goes_on {
            self.remember(label, Undoable::Retrained(Box::new(old.clone())));
        }
        self.retrained = Some(changes);
    }

    /// The lesson's own static vectors are trained.
    pub(in crate::kernel) fn embedded_own(&mut self) {
        let Phase::Embedding(trainer) = &self.phase else { return };
        let ground = match EmbeddedCorpus::trained(&self.lesson, Arc::default(), trainer, None) {
            Ok(ground) => ground,
            Err(fault) => {
                self.phase = Phase::Failed { progress: trainer.progress(), fault };
                return;
            }
        };
        self.own = Some(ground.clone());
        let recipe = self.awaited.as_ref().and_then(|saved| saved.recipe().cloned());
        match recipe.map(|recipe| Retraining::new(&self.lesson, recipe, &[ground], false)) {
            Some(Ok(work)) => self.opening = Some(work),
            Some(Err(why)) => self.open_without_recipe(&why),
            None => self.open_own(),
        }
    }

    /// The next piece of a lesson that was left with a recipe.
    pub(in crate::kernel) fn open_on(&mut self, work: Retraining) {
        let Some(own) = &self.own else { return };
        match work.advance(&own.space) {
            Ok(RetrainStep::On(work)) => self.opening = Some(work),
            Ok(RetrainStep::Done(model)) => {
                self.phase = Phase::Ready(model);
                self.begin();
            }
            Err(LessonFault { words, .. }) => self.open_without_recipe(&words),
        }
    }

    fn open_without_recipe(&mut self, why: &str) {
        self.say(vec![format!(
            "The model had been trained with other settings; it now has the lesson's settings: \
            {why}."
        )]);
        self.open_own();
    }

    fn open_own(&mut self) {
        let Some(ground) = &self.own else { return };
        let origin = ModelOrigin { lesson: self.lesson.clone(), recipe: ground.recipe.clone(), replaced: None };
        self.phase = match LessonModel::new(origin, ground) {
            Ok(model) => Phase::Ready(Box::new(model)),
            Err(fault) => Phase::Failed { progress: ground.progress, fault },
        };
        self.begin();
    }
}

/// The state of the tour of a model.
#[derive(Default)]
pub enum Toured {
    #[default]
    NotAsked,
    /// The first piece is due as soon as there is a model with nothing else to do.
    Asked,
    Measuring(Box<Touring>),
    Written,
}

impl Toured {
    pub fn is_under_way(&self) -> bool {
        matches!(self, Self::Asked | Self::Measuring(_))
    }

    pub fn is_written(&self) -> bool {
        matches!(self, Self::Written)
    }

    pub fn progress(&self) -> Option<Progress> {
        match self {
            Self::Measuring(touring) => Some(touring.progress()),
            Self::NotAsked | Self::Asked | Self::Written => None,
        }
    }
}

impl Kernel {
    /// A tour is for a model without texts of its own, and for a notebook in which nothing is written yet.
    pub(in crate::kernel) fn ask_for_tour(&mut self) {
        let is_first = matches!(self.toured, Toured::NotAsked);
        if is_first && self.lesson.is_of_folder() && self.notebook.is_as_given(&self.lesson) {
            self.toured = Toured::Asked;
        }
    }

    /// A tour was asked for here, so that a kernel in the place of this one is to have it too.
    pub fn wants_tour(&self) -> bool {
        !matches!(self.toured, Toured::NotAsked)
    }

    /// The next piece of it.
    pub(in crate::kernel) fn tour_on(&mut self) {
        let Phase::Ready(model) = &self.phase else { return };
        let cells = match &mut self.toured {
            Toured::Measuring(touring) => touring.advance(model),
            toured => {
                *toured = Toured::Measuring(Box::new(Touring::new(model)));
                None
            }
        };
        let Some(cells) = cells else { return };
        self.toured = Toured::Written;
        let is_untouched = self.notebook.is_as_given(&self.lesson);
        let before = self.notebook.insert_tour(&cells);
        // Nobody asked for the first one: undo does not take it away. Into a notebook that was changed meanwhile, or is
        // there again after its reset was undone, it comes as a change like any other, or not at all.
        if let Some(before) = before.filter(|_| !is_untouched) {
            self.remember("tour of the model".to_owned(), Undoable::Notebook(before));
        }
    }
}
