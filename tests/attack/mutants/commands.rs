//! Commands to a kernel, one after the other as no learner would give them.

use std::fmt::Write;
use std::iter::repeat_n;
use std::sync::Arc;

use attune_core::fnv::fnv1a;
use attune_core::kernel::command::{
    Axis, AxisCommand, Brush, InterventionCommand, Reference, SenseCommand, SenseList, SenseSentence, SentenceCommand,
    TrainingCommand, WeightCommand,
};
use attune_core::kernel::notebook::document::{CellId, DOCUMENT_CELLS_MAX, OwnKind};
use attune_core::kernel::notebook::kinds::{Answer, Attempts};
use attune_core::kernel::notebook::snapshot::RunSnapshot;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot};
use attune_core::kernel::{Command, Kernel, Saved, Snapshot};
use attune_core::lesson::{self, Lesson, Recipe};
use attune_engine::code::OWN_FAULT;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable};
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::model::generate::Choice;
use attune_engine::numerics::params::{TensorId, TensorName};

use super::{Attack, Dice, HOSTILE, Outcome};

/// Lessons that train in milliseconds, each with another kind of model.
const LESSONS: [&str; 6] = [
    include_str!("../../fixtures/small.ron"),
    include_str!("../../fixtures/notebook.ron"),
    include_str!("../../fixtures/forms/custom_mask.ron"),
    include_str!("../../fixtures/forms/next_word.ron"),
    include_str!("../../fixtures/forms/label.ron"),
    include_str!("../../fixtures/forms/translation.ron"),
];
/// Commands of one kernel.
pub const COMMANDS: usize = 250;
/// Weights beyond which a forward pass may leave the numbers, which the stage says then.
const LARGE: f32 = 1e3;
/// Rows of weights sum to 1 within this.
const ROUNDING: f32 = 1e-3;

const SENTENCES: &[&str] = &[
    "the seal sank",
    "a seal is happy",
    "the the the the the the the the the the the the the",
    "zebra",
    "a",
    "the cold stone sank while a fish swam",
];
const CODE: &[&str] = &[
    "let a = 2; a",
    "W_Q[0, 1] = W_Q[0, 1] + 0.5;",
    "temperature = 0.5;",
    "temperature = 0 - 1;",
    "E @ E",
    "show(A[0]); show(Y)",
    "let much = 3; much * 2",
    "W_V = W_V * 1e30;",
    "let b = a * 2; b",
    "plot(vector([0, 1]), vector([1, 2]))",
    "nearest(E, E[0], 3)",
    "throw \"x\"",
    "visible[0, 0] = 0;",
    "",
];

/// A command, and how many pieces of the work that follows are done before the next; all, if none is said.
#[derive(Clone, Debug)]
pub struct Step {
    command: Command,
    advances: Option<usize>,
    /// Undone at once, to see what it leaves; undone and redone after it; saved and opened after it.
    is_undone: bool,
    travels: bool,
    reopens: bool,
}

/// Commands to one lesson's kernel.
#[derive(Clone)]
pub struct RandomCommands {
    lesson: Arc<Lesson>,
    steps: Vec<Step>,
}

impl Attack for RandomCommands {
    type Part = Step;

    fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let text = LESSONS[usize::try_from(seed).unwrap_or_default() % LESSONS.len()];
        let lesson = Arc::new(lesson::parse("lesson.ron", text).unwrap_or_else(|issues| panic!("{issues:#?}")));
        let mut steps: Vec<Step> = (0..COMMANDS).map(|_| step(&mut dice, &lesson)).collect();
        steps.iter_mut().skip(1).step_by(COMMANDS / 2).for_each(|step| step.reopens = true);
        if let Some(last) = steps.last_mut() {
            last.reopens = true;
        }
        Self { lesson, steps }
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
            if step.reopens {
                kernel.settle();
                reopen(&kernel).map_err(said)?;
            }
        }
        Ok("held")
    }

    fn parts(&mut self) -> &mut Vec<Step> {
        &mut self.steps
    }

    fn told(&self) -> String {
        let mut told = format!("lesson {}\n", self.lesson.id);
        for step in &self.steps {
            writeln!(told, "  {step:?}").expect("a text takes it");
        }
        told
    }
}

fn step(dice: &mut Dice, lesson: &Lesson) -> Step {
    let command = command(dice, lesson);
    let advances = dice.once_in(6).then(|| dice.below(4));
    Step { command, advances, is_undone: dice.once_in(6), travels: dice.once_in(6), reopens: dice.once_in(200) }
}

/// A learner with `seed` for habits, and so many commands, all of which are done.
pub fn after_some(seed: u64, count: usize) -> (Arc<Lesson>, Kernel) {
    let RandomCommands { lesson, steps } = RandomCommands::of(seed);
    let mut kernel = Kernel::trained(lesson.clone());
    for step in steps.into_iter().take(count) {
        kernel.apply(step.command);
        kernel.settle();
    }
    (lesson, kernel)
}

/// Commands that leave the notebook's cells as they are.
pub fn edit(dice: &mut Dice, lesson: &Lesson) -> Option<Command> {
    match dice.below(16) {
        0..4 => Some(Command::Weights(weight(dice, lesson))),
        4..6 => Some(Command::Interventions(intervention(dice))),
        6..8 => Some(Command::Sentence(sentence(dice, lesson))),
        8 => Some(Command::Training(training(dice))),
        9 => Some(Command::Axes(axis(dice, lesson))),
        10 => Some(Command::Undo),
        11 => Some(Command::Redo),
        _ => None,
    }
}

fn command(dice: &mut Dice, lesson: &Lesson) -> Command {
    match dice.below(100) {
        0..18 => Command::Weights(weight(dice, lesson)),
        18..34 => Command::Interventions(intervention(dice)),
        34..48 => Command::Sentence(sentence(dice, lesson)),
        48..58 => Command::Training(training(dice)),
        58..63 => Command::Axes(axis(dice, lesson)),
        63..67 => Command::Senses(senses(dice, lesson)),
        67..86 => Command::Notebook(notebook(dice, lesson)),
        86..88 => Command::Retrain(Box::new(recipe(dice, lesson))),
        88..95 => Command::Undo,
        _ => Command::Redo,
    }
}

fn tensor(dice: &mut Dice) -> TensorId {
    const COMMON: &[TensorName] = &[
        TensorName::QueryWeights,
        TensorName::KeyWeights,
        TensorName::ValueWeights,
        TensorName::OutputWeights,
        TensorName::LogitWeights,
    ];
    let name = if dice.once_in(4) { *dice.pick(TensorName::ALL) } else { *dice.pick(COMMON) };
    TensorId { block: if dice.once_in(10) { dice.place(2) } else { 0 }, name }
}

fn value(dice: &mut Dice) -> f32 {
    dice.number() as f32
}

fn weight(dice: &mut Dice, lesson: &Lesson) -> WeightCommand {
    let width = lesson.static_embedding.dim();
    let (tensor, row, col) = (tensor(dice), dice.place(width), dice.place(width));
    match dice.below(12) {
        0..5 => WeightCommand::Set { tensor, row, col, value: value(dice) },
        5..7 => {
            let entries = (0..dice.below(6)).map(|_| (dice.place(width), dice.place(width))).collect();
            let brush = if dice.once_in(2) { Brush::Set(value(dice)) } else { Brush::Add(value(dice)) };
            WeightCommand::Paint { tensor, entries, brush, stroke: dice.seed() % 3 }
        }
        7 => WeightCommand::Perturb { tensor, scale: value(dice), draw: dice.seed() },
        8 | 9 => WeightCommand::Reset { tensor, row, col },
        10 => WeightCommand::ResetTensor(tensor),
        _ => WeightCommand::ResetAll,
    }
}

fn intervention(dice: &mut Dice) -> InterventionCommand {
    let head = dice.place(3);
    match dice.below(14) {
        0..3 => {
            let mode = match dice.below(7) {
                0 => HeadMode::Live,
                1 => HeadMode::Off,
                2 => HeadMode::Uniform,
                3 => HeadMode::Frozen(dice.once_in(2).then(|| {
                    let (rows, cols) = (dice.below(8), dice.below(8));
                    let weight = if dice.once_in(2) { f32::NAN } else { 1.0 / cols as f32 };
                    Arc::new(Matrix::from_fn(rows, cols, |_, _| weight))
                })),
                4 => HeadMode::Mean,
                _ => HeadMode::Gain(value(dice)),
            };
            InterventionCommand::SetHead { head, mode }
        }
        3 => InterventionCommand::Solo((!dice.once_in(3)).then_some(head)),
        4 | 5 => InterventionCommand::SetTemperature((!dice.once_in(5)).then(|| dice.number())),
        6 => InterventionCommand::SetScale(*dice.pick(&[None, Some(true), Some(false)])),
        7 | 8 => InterventionCommand::ToggleMask { query: dice.place(6), key: dice.place(6) },
        9 => {
            let (queries, keys, hidden) = (dice.below(8), dice.below(8), dice.below(20));
            let table = MaskTable::from_fn(queries, keys, |query, key| query * keys + key != hidden);
            InterventionCommand::SetMask(match dice.below(4) {
                0 => None,
                1 => Some(Mask::None),
                2 => Some(Mask::Causal),
                _ => Some(Mask::custom(table)),
            })
        }
        10 | 11 => {
            let edge = Edge { head, query: dice.place(6), key: dice.place(6) };
            InterventionCommand::SetEdge { edge, is_removed: !dice.once_in(4) }
        }
        12 => {
            let vector = dice.once_in(4).then(|| repeat_n(value(dice), dice.below(9)).collect());
            let patch = Patch { block: dice.place(2), position: dice.place(6), from: dice.place(6), vector };
            InterventionCommand::SetPatch((!dice.once_in(4)).then_some(patch))
        }
        _ => {
            if dice.once_in(2) {
                InterventionCommand::ResetMask
            } else {
                InterventionCommand::Reset
            }
        }
    }
}

fn words(dice: &mut Dice, lesson: &Lesson) -> String {
    match dice.below(8) {
        0 => (*dice.pick(HOSTILE)).to_owned(),
        1 => (*dice.pick(SENTENCES)).to_owned(),
        _ => {
            let vocabulary = lesson.vocabulary();
            let count = 1 + dice.below(7);
            (0..count).map(|_| dice.pick(&vocabulary).clone()).collect::<Vec<_>>().join(" ")
        }
    }
}

fn sentence(dice: &mut Dice, lesson: &Lesson) -> SentenceCommand {
    match dice.below(10) {
        0..3 => SentenceCommand::Select(dice.place(lesson.sentences.len())),
        3 | 4 => SentenceCommand::Set(words(dice, lesson)),
        5 => SentenceCommand::Type(words(dice, lesson)),
        6 | 7 => SentenceCommand::SetSecond((!dice.once_in(3)).then(|| words(dice, lesson))),
        _ => {
            let choice = if dice.once_in(2) { Choice::Greedy } else { Choice::sampled(dice.number()) };
            SentenceCommand::Generate { count: dice.place(5), choice }
        }
    }
}

fn senses(dice: &mut Dice, lesson: &Lesson) -> SenseCommand {
    let sense = |dice: &mut Dice| (!dice.once_in(3)).then(|| *dice.pick(&['A', 'B', 'H', 'z', '\0']));
    match dice.below(10) {
        0..2 => SenseCommand::Show(!dice.once_in(3)),
        2 => SenseCommand::SetWord(if dice.once_in(4) {
            words(dice, lesson)
        } else {
            dice.pick(&lesson.vocabulary()).clone()
        }),
        3..6 => SenseCommand::SetText { index: dice.place(4), text: words(dice, lesson) },
        6 => SenseCommand::SetSense { index: dice.place(4), sense: sense(dice) },
        7 => SenseCommand::Insert(dice.place(4)),
        8 => SenseCommand::Remove(dice.place(4)),
        _ => {
            let count = if dice.once_in(20) { 300 } else { dice.below(25) };
            let sentence = |_| SenseSentence { text: words(dice, lesson), sense: sense(dice) };
            let sentences = (0..count).map(sentence).collect();
            SenseCommand::Replace(SenseList { word: dice.pick(&lesson.vocabulary()).clone(), sentences })
        }
    }
}

fn training(dice: &mut Dice) -> TrainingCommand {
    /// Beyond the last step of every lesson.
    const STEPS: usize = 30;
    match dice.below(12) {
        0 => TrainingCommand::Play,
        1 => TrainingCommand::Pause,
        2 | 3 => TrainingCommand::Step(dice.place(5)),
        4 => TrainingCommand::Reset,
        5..8 => TrainingCommand::Scrub(dice.place(STEPS)),
        8 => TrainingCommand::ShowLatest,
        9 => TrainingCommand::Branch,
        10 => TrainingCommand::SetLearningRate(dice.number()),
        _ => TrainingCommand::Compare(match dice.below(4) {
            0 => None,
            1 => Some(Reference::Trained),
            2 => Some(Reference::Start),
            _ => Some(Reference::Step(dice.place(STEPS))),
        }),
    }
}

fn axis(dice: &mut Dice, lesson: &Lesson) -> AxisCommand {
    let axis = *dice.pick(&Axis::ALL);
    match dice.below(6) {
        0 => AxisCommand::Refit,
        1 => AxisCommand::Reset(axis),
        2 => AxisCommand::ResetAll,
        _ => AxisCommand::Set { axis, from: words(dice, lesson), to: words(dice, lesson) },
    }
}

fn recipe(dice: &mut Dice, lesson: &Lesson) -> Recipe {
    let mut recipe = Recipe::default();
    match dice.below(7) {
        0 => recipe.heads = Some(dice.place(5)),
        // As wide as a test has time for.
        1 => recipe.width = Some(dice.below(16)),
        2 => recipe.model_rate = Some(dice.number()),
        3 => recipe.static_rate = Some(dice.number()),
        4 => recipe.seed = Some(dice.seed()),
        5 => {
            let share = dice.number();
            let word = lesson.corpus.ambiguous.first().map_or("x".to_owned(), |ambiguous| ambiguous.word.clone());
            recipe.shares.insert(word, vec![share, 1.0 - share]);
        }
        _ => {}
    }
    recipe
}

fn notebook(dice: &mut Dice, lesson: &Lesson) -> NotebookCommand {
    match dice.below(40) {
        0 => NotebookCommand::RunAll,
        1 => NotebookCommand::Restart,
        2 => NotebookCommand::Interrupt,
        3 => NotebookCommand::SetAutoRun(dice.once_in(2)),
        4 => NotebookCommand::Reset,
        _ => {
            let of_lesson = !lesson.cells.is_empty() && !dice.once_in(4);
            let id: CellId = if of_lesson {
                dice.pick(&lesson.cells).id.as_str().into()
            } else if dice.once_in(10) {
                (*dice.pick(HOSTILE)).into()
            } else {
                format!("own {}", 1 + dice.below(6)).into()
            };
            NotebookCommand::Cell(id, cell(dice))
        }
    }
}

fn cell(dice: &mut Dice) -> CellCommand {
    let kind = if dice.once_in(3) { OwnKind::Text } else { OwnKind::Code };
    match dice.below(34) {
        0..5 => CellCommand::SetText((*dice.pick(CODE)).into()),
        5 => CellCommand::SetText((*dice.pick(HOSTILE)).into()),
        6 => CellCommand::SetText(format!("let s = {{{{ {} }}}}", dice.pick(CODE)).into()),
        7..12 => CellCommand::Run,
        12 => CellCommand::RunAbove,
        13 => CellCommand::ClearOutputs,
        14..17 => CellCommand::Insert { kind, is_above: dice.once_in(2) },
        17 => CellCommand::Delete,
        18 => CellCommand::Shift(*dice.pick(&[1, -1, 3, -5, isize::MAX, isize::MIN])),
        19 => CellCommand::Split(dice.place(20)),
        20 => CellCommand::MergeBelow,
        21 => CellCommand::SetKind(kind),
        22 => CellCommand::Fold(dice.once_in(2)),
        23 => CellCommand::SetAutoRun(dice.once_in(2)),
        24..27 => CellCommand::Slide(dice.number()),
        27 => CellCommand::Choose(dice.place(3)),
        28 => CellCommand::Reveal,
        29 => CellCommand::Hint,
        30 => CellCommand::Skip,
        31 => CellCommand::Settle { keep_mine: dice.once_in(2) },
        _ => CellCommand::Reset,
    }
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
        check_sentence(&second.sentence, model, is_large).map_err(|why| format!("the second sentence: {why}"))?;
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
            let is_mean_of_shares = is_mean && (0.0..1.0).contains(&sum) && (seen - seen.round()).abs() < ROUNDING;
            let is_share = (sum - 1.0).abs() < ROUNDING || row.iter().all(|x| *x == 0.0) || is_mean_of_shares;
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
        say("second", model.second.as_ref().map(|second| texts(&second.sentence)).unwrap_or_default());
        say("output", format!("{:x}", bits(model.sentence.activations.output.flat())));
        say("ends", format!("{:x}", bits(model.sentence.end.flat())));
        say("points", format!("{:x}", bits(space.points.flat())));
        let second = model.second.as_ref().map(|second| bits(second.sentence.end.flat()));
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
        kernel.apply(Command::Undo);
        kernel.settle();
        let undone = kernel.snapshot();
        check(&undone).map_err(|why| format!("undone {} times: {why}", way.len()))?;
        way.push(undone);
    }
    let far = way.len() - 1;
    for (i, there) in way[..far].iter().enumerate().rev() {
        kernel.apply(Command::Redo);
        kernel.settle();
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
    kernel.apply(Command::Undo);
    kernel.settle();
    let before = kernel.snapshot();
    kernel.apply(command.clone());
    kernel.settle();
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
        kernel.apply(Command::Undo);
        kernel.settle();
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
