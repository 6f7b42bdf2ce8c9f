//! Commands at random, of every kind that there is: the one generator of all attacks on a kernel.

use std::collections::BTreeSet;
use std::iter::repeat_n;
use std::sync::Arc;
use std::thread;

use attune_core::kernel::Command;
use attune_core::kernel::command::{
    Axis, AxisCommand, Brush, InterventionCommand, Reference, SenseCommand, SenseList, SenseSentence, SentenceCommand,
    TensorEntries, TextsCommand, TrainingCommand, WeightCommand,
};
use attune_core::kernel::evidence::AskedAnswer;
use attune_core::kernel::evidence::words::ShownAnswer;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::sentence_pass::sentence::TextOrIds;
use attune_core::lesson::{Lesson, Recipe};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable, SecondHead};
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::params::{TensorId, TensorName};
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{HOSTILE, STACK, numbers, places};
use crate::common::lessons::{NOTEBOOK, lesson};

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

/// Makes a list of kinds, and what names the kind of a command: the compiler asks for one that is new to the program.
macro_rules! kinds {
    ($($kind:pat),+ $(,)?) => {
        const KINDS: &[&str] = &[$(stringify!($kind)),+];

        fn kind(command: &Command) -> &'static str {
            use AxisCommand as Axes;
            use CellCommand as Cell;
            use InterventionCommand as Change;
            use NotebookCommand as Notebook;
            use SenseCommand as Senses;
            use SentenceCommand as Sentence;
            use TrainingCommand as Training;
            use WeightCommand as Weights;
            match command {
                $($kind => stringify!($kind)),+
            }
        }
    };
}

kinds![
    Command::Training(Training::Play),
    Command::Training(Training::Pause),
    Command::Training(Training::Step(_)),
    Command::Training(Training::TrainTo(_)),
    Command::Training(Training::Reset),
    Command::Training(Training::Scrub(_)),
    Command::Training(Training::ShowLatest),
    Command::Training(Training::Branch),
    Command::Training(Training::SetLearningRate(_)),
    Command::Training(Training::Compare(_)),
    Command::Weights(Weights::Put(_)),
    Command::Weights(Weights::Set { .. }),
    Command::Weights(Weights::Paint { .. }),
    Command::Weights(Weights::Perturb { .. }),
    Command::Weights(Weights::Reset { .. }),
    Command::Weights(Weights::ResetTensor(_)),
    Command::Weights(Weights::ResetAll),
    Command::Interventions(Change::SetHead { .. }),
    Command::Interventions(Change::SetHeads { .. }),
    Command::Interventions(Change::Solo(_)),
    Command::Interventions(Change::SetTemperature(_)),
    Command::Interventions(Change::SetScale(_)),
    Command::Interventions(Change::ToggleMask { .. }),
    Command::Interventions(Change::SetMask(_)),
    Command::Interventions(Change::ResetMask),
    Command::Interventions(Change::SetEdge { .. }),
    Command::Interventions(Change::SetPatch(_)),
    Command::Interventions(Change::Reset),
    Command::Sentence(Sentence::Select(_)),
    Command::Sentence(Sentence::Set(_)),
    Command::Sentence(Sentence::Ids(_)),
    Command::Sentence(Sentence::Pair { .. }),
    Command::Sentence(Sentence::Words(_)),
    Command::Sentence(Sentence::Stretch(_)),
    Command::Sentence(Sentence::Type(_)),
    Command::Sentence(Sentence::SetSecond(_)),
    Command::Sentence(Sentence::Generate { .. }),
    Command::Axes(Axes::Refit),
    Command::Axes(Axes::Fit { .. }),
    Command::Axes(Axes::Set { .. }),
    Command::Axes(Axes::SetRaw(_)),
    Command::Axes(Axes::Reset(_)),
    Command::Axes(Axes::ResetAll),
    Command::Senses(Senses::Show(_)),
    Command::Senses(Senses::SetWord(_)),
    Command::Senses(Senses::SetText { .. }),
    Command::Senses(Senses::SetSense { .. }),
    Command::Senses(Senses::Insert(_)),
    Command::Senses(Senses::Remove(_)),
    Command::Senses(Senses::Replace(_)),
    Command::Notebook(Notebook::RunAll),
    Command::Notebook(Notebook::Restart),
    Command::Notebook(Notebook::Interrupt),
    Command::Notebook(Notebook::SetAutoRun(_)),
    Command::Notebook(Notebook::Reset),
    Command::Notebook(Notebook::Cell(_, Cell::SetText(_))),
    Command::Notebook(Notebook::Cell(_, Cell::Run)),
    Command::Notebook(Notebook::Cell(_, Cell::RunAbove)),
    Command::Notebook(Notebook::Cell(_, Cell::ClearOutputs)),
    Command::Notebook(Notebook::Cell(_, Cell::Insert { .. })),
    Command::Notebook(Notebook::Cell(_, Cell::Delete)),
    Command::Notebook(Notebook::Cell(_, Cell::Shift(_))),
    Command::Notebook(Notebook::Cell(_, Cell::Split(_))),
    Command::Notebook(Notebook::Cell(_, Cell::MergeBelow)),
    Command::Notebook(Notebook::Cell(_, Cell::SetKind(_))),
    Command::Notebook(Notebook::Cell(_, Cell::Fold(_))),
    Command::Notebook(Notebook::Cell(_, Cell::SetAutoRun(_))),
    Command::Notebook(Notebook::Cell(_, Cell::Slide(_))),
    Command::Notebook(Notebook::Cell(_, Cell::Choose(_))),
    Command::Notebook(Notebook::Cell(_, Cell::Reveal)),
    Command::Notebook(Notebook::Cell(_, Cell::Hint)),
    Command::Notebook(Notebook::Cell(_, Cell::Skip)),
    Command::Notebook(Notebook::Cell(_, Cell::Settle { .. })),
    Command::Notebook(Notebook::Cell(_, Cell::Reset)),
    Command::Retrain(_),
    Command::Tour,
    Command::Answers(_),
    Command::Map,
    Command::EndMap,
    Command::Paths(_),
    Command::Texts(TextsCommand::Measure(_)),
    Command::Texts(TextsCommand::Stop),
    Command::Texts(TextsCommand::Open(_)),
    Command::Texts(TextsCommand::Forget),
    Command::Words(_),
    Command::EndWords,
    Command::Tables(_),
    Command::EndTables,
    Command::Undo,
    Command::Redo,
];

/// Draws that each kind has to be among.
const DRAWS: usize = 5000;

#[test]
fn every_kind_of_command_is_drawn() {
    let draw = || {
        let (mut runner, commands) = (TestRunner::deterministic(), commands(&lesson(NOTEBOOK)));
        let mut drawn = || kind(&commands.new_tree(&mut runner).expect("a command").current());
        (0..DRAWS).map(|_| drawn()).collect::<BTreeSet<_>>()
    };
    let drawn = thread::Builder::new().stack_size(STACK).spawn(draw).expect("a thread").join().expect("commands");
    let missing: Vec<_> = KINDS.iter().filter(|kind| !drawn.contains(**kind)).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}

/// Commands that leave the notebook's cells as they are, and none.
pub fn edits(lesson: &Lesson) -> impl Strategy<Value = Option<Command>> + use<> {
    prop_oneof![
        4 => Just(None),
        4 => weights(lesson).prop_map(|command| Some(Command::Weights(command))),
        2 => interventions().prop_map(|command| Some(Command::Interventions(command))),
        2 => sentences(lesson).prop_map(|command| Some(Command::Sentence(command))),
        1 => training().prop_map(|command| Some(Command::Training(command))),
        1 => axes(lesson).prop_map(|command| Some(Command::Axes(command))),
        1 => Just(Some(Command::Undo)),
        1 => Just(Some(Command::Redo)),
    ]
}

pub fn commands(lesson: &Lesson) -> impl Strategy<Value = Command> + use<> {
    prop_oneof![
        18 => weights(lesson).prop_map(Command::Weights),
        16 => interventions().prop_map(Command::Interventions),
        14 => sentences(lesson).prop_map(Command::Sentence),
        10 => training().prop_map(Command::Training),
        5 => axes(lesson).prop_map(Command::Axes),
        4 => senses(lesson).prop_map(Command::Senses),
        19 => notebooks(lesson).prop_map(Command::Notebook),
        2 => recipes(lesson).prop_map(|recipe| Command::Retrain(Box::new(recipe))),
        1 => Just(Command::Tour),
        1 => (option::of(hostile_names()), option::of(hostile_names()))
            .prop_map(|(answer, against)| Command::Answers(AskedAnswer { answer, against, at: None })),
        1 => Just(Command::Map),
        1 => Just(Command::EndMap),
        1 => (0..64_usize).prop_map(Command::Paths),
        1 => prop_oneof![
            Just(TextsCommand::Measure("Cargo.toml".into())),
            Just(TextsCommand::Measure("no such file".into())),
            Just(TextsCommand::Stop),
            (0usize..9).prop_map(TextsCommand::Open),
            Just(TextsCommand::Forget),
        ]
        .prop_map(Command::Texts),
        1 => (option::of(0..6usize), option::of(0..9usize))
            .prop_map(|(at, answer)| Command::Words(ShownAnswer { at, answer })),
        1 => Just(Command::EndWords),
        1 => (0..6usize).prop_map(Command::Tables),
        1 => Just(Command::EndTables),
        7 => Just(Command::Undo),
        5 => Just(Command::Redo),
    ]
}

fn hostile_names() -> impl Strategy<Value = String> {
    prop_oneof![select(HOSTILE), select(&["seal", "the", "ice"][..])].prop_map(str::to_owned)
}

fn tensors() -> impl Strategy<Value = TensorId> + Clone {
    const COMMON: &[TensorName] = &[
        TensorName::QueryWeights,
        TensorName::KeyWeights,
        TensorName::ValueWeights,
        TensorName::OutputWeights,
        TensorName::LogitWeights,
    ];
    let name = prop_oneof![3 => select(COMMON), 1 => select(TensorName::ALL)];
    let block = prop_oneof![9 => Just(0), 1 => places(2)];
    (block, name).prop_map(|(block, name)| TensorId { block, name })
}

fn values() -> impl Strategy<Value = f32> + Clone {
    numbers().prop_map(|number| number as f32)
}

fn weights(lesson: &Lesson) -> impl Strategy<Value = WeightCommand> + use<> {
    let width = lesson.static_embedding.dim();
    let entry = (places(width), places(width));
    let brush = prop_oneof![values().prop_map(Brush::Set), values().prop_map(Brush::Add)];
    prop_oneof![
        5 => (tensors(), entry.clone(), values())
            .prop_map(|(tensor, (row, col), value)| WeightCommand::Set { tensor, row, col, value }),
        2 => (tensors(), vec(entry.clone(), 0..6), brush, 0..3_u64)
            .prop_map(|(tensor, entries, brush, stroke)| WeightCommand::Paint { tensor, entries, brush, stroke }),
        1 => (tensors(), values(), any::<u64>())
            .prop_map(|(tensor, scale, draw)| WeightCommand::Perturb { tensor, scale, draw }),
        2 => (tensors(), entry).prop_map(|(tensor, (row, col))| WeightCommand::Reset { tensor, row, col }),
        1 => (tensors(), places(width), vec(values(), 0..4)).prop_map(move |(tensor, at, values)| {
            let at = Some((0..values.len()).map(|i| at.wrapping_add(i)).collect());
            WeightCommand::Put(TensorEntries { name: tensor.code_name(), rows: width, cols: width, at, values })
        }),
        1 => tensors().prop_map(WeightCommand::ResetTensor),
        1 => Just(WeightCommand::ResetAll),
    ]
}

fn interventions() -> impl Strategy<Value = InterventionCommand> {
    let frozen = (0..8_usize, 0..8_usize, any::<bool>()).prop_map(|(rows, cols, is_broken)| {
        let weight = if is_broken { f32::NAN } else { 1.0 / cols as f32 };
        Arc::new(Matrix::from_fn(rows, cols, |_, _| weight))
    });
    let mode = prop_oneof![
        4 => select(vec![HeadMode::Live, HeadMode::Off, HeadMode::Uniform, HeadMode::Mean]),
        1 => option::of(frozen.clone()).prop_map(HeadMode::Frozen),
        1 => option::of((frozen.clone(), frozen)).prop_map(|head| {
            let head = head.map(|(weights, values)| SecondHead {
                weights: Matrix::clone(&weights),
                values: Matrix::clone(&values),
            });
            HeadMode::Second(head.map(Arc::new))
        }),
        2 => values().prop_map(HeadMode::Gain),
    ];
    let table = (0..8_usize, 0..8_usize, 0..20_usize).prop_map(|(queries, keys, hidden)| {
        Mask::custom(MaskTable::from_fn(queries, keys, |query, key| query * keys + key != hidden))
    });
    let mask = prop_oneof![Just(Mask::None), Just(Mask::Causal), table];
    let vector = (values(), 0..9_usize).prop_map(|(value, width)| repeat_n(value, width).collect());
    let patch = (places(2), places(6), places(6), option::weighted(0.25, vector));
    let patch = patch.prop_map(|(block, position, from, vector)| Patch { block, position, from, vector });
    let heads = (places(3), places(3)).prop_map(|(first, end)| first..end);
    prop_oneof![
        3 => (places(3), mode.clone()).prop_map(|(head, mode)| InterventionCommand::SetHead { head, mode }),
        1 => (heads, mode).prop_map(|(heads, mode)| InterventionCommand::SetHeads { heads, mode }),
        1 => option::weighted(0.7, places(3)).prop_map(InterventionCommand::Solo),
        2 => option::weighted(0.8, numbers()).prop_map(InterventionCommand::SetTemperature),
        1 => option::of(any::<bool>()).prop_map(InterventionCommand::SetScale),
        2 => (places(6), places(6)).prop_map(|(query, key)| InterventionCommand::ToggleMask { query, key }),
        1 => option::weighted(0.75, mask).prop_map(InterventionCommand::SetMask),
        2 => (places(3), places(6), places(6), weighted(0.75)).prop_map(|(head, query, key, is_removed)| {
            InterventionCommand::SetEdge { edge: Edge { head, query, key }, is_removed }
        }),
        1 => option::weighted(0.75, patch).prop_map(InterventionCommand::SetPatch),
        1 => select(vec![InterventionCommand::ResetMask, InterventionCommand::Reset]),
    ]
}

fn words(lesson: &Lesson) -> impl Strategy<Value = String> + Clone + use<> {
    prop_oneof![
        6 => vec(select(lesson.vocabulary().to_vec()), 1..8).prop_map(|words| words.join(" ")),
        1 => select(HOSTILE).prop_map(String::from),
        1 => select(SENTENCES).prop_map(String::from),
    ]
}

fn text_or_ids(lesson: &Lesson) -> impl Strategy<Value = TextOrIds> + use<> {
    prop_oneof![
        words(lesson).prop_map(TextOrIds::Text),
        vec(places(lesson.vocabulary().len()), 0..7).prop_map(TextOrIds::Ids),
    ]
}

fn sentences(lesson: &Lesson) -> impl Strategy<Value = SentenceCommand> + use<> {
    let choice = prop_oneof![Just(NextWordChoice::Greedy), numbers().prop_map(NextWordChoice::sampled)];
    prop_oneof![
        3 => places(lesson.sentences.len()).prop_map(SentenceCommand::Select),
        2 => words(lesson).prop_map(SentenceCommand::Set),
        1 => vec(places(lesson.vocabulary().len()), 0..7).prop_map(SentenceCommand::Ids),
        1 => (text_or_ids(lesson), text_or_ids(lesson)).prop_map(|(source, target)| SentenceCommand::Pair { source, target }),
        1 => words(lesson).prop_map(|text| SentenceCommand::Words(text.split(' ').map(str::to_owned).collect())),
        1 => words(lesson).prop_map(SentenceCommand::Type),
        1 => (0..600usize).prop_map(SentenceCommand::Stretch),
        2 => option::weighted(0.7, words(lesson)).prop_map(SentenceCommand::SetSecond),
        2 => (places(5), choice).prop_map(|(count, choice)| SentenceCommand::Generate { count, choice }),
    ]
}

fn senses(lesson: &Lesson) -> impl Strategy<Value = SenseCommand> + use<> {
    let vocabulary = select(lesson.vocabulary().to_vec());
    let sense = option::weighted(0.7, select(&['A', 'B', 'H', 'z', '\0'][..]));
    let word = prop_oneof![3 => vocabulary.clone(), 1 => words(lesson)];
    let sentence = (words(lesson), sense.clone()).prop_map(|(text, sense)| SenseSentence { text, sense });
    let sentences = prop_oneof![19 => vec(sentence.clone(), 0..25), 1 => vec(sentence, 300)];
    prop_oneof![
        2 => weighted(0.7).prop_map(SenseCommand::Show),
        1 => word.prop_map(SenseCommand::SetWord),
        3 => (places(4), words(lesson)).prop_map(|(index, text)| SenseCommand::SetText { index, text }),
        1 => (places(4), sense).prop_map(|(index, sense)| SenseCommand::SetSense { index, sense }),
        1 => places(4).prop_map(SenseCommand::Insert),
        1 => places(4).prop_map(SenseCommand::Remove),
        1 => (vocabulary, sentences)
            .prop_map(|(word, sentences)| SenseCommand::Replace(SenseList { word, sentences })),
    ]
}

fn training() -> impl Strategy<Value = TrainingCommand> {
    /// Beyond the last step of every lesson.
    const STEPS: usize = 30;
    let reference = prop_oneof![
        2 => select(vec![Reference::Trained, Reference::Start]),
        1 => places(STEPS).prop_map(Reference::Step),
    ];
    prop_oneof![
        5 => select(vec![
            TrainingCommand::Play,
            TrainingCommand::Pause,
            TrainingCommand::Reset,
            TrainingCommand::ShowLatest,
            TrainingCommand::Branch,
        ]),
        2 => places(5).prop_map(TrainingCommand::Step),
        2 => option::weighted(0.7, places(STEPS)).prop_map(TrainingCommand::TrainTo),
        3 => places(STEPS).prop_map(TrainingCommand::Scrub),
        1 => numbers().prop_map(TrainingCommand::SetLearningRate),
        1 => option::weighted(0.75, reference).prop_map(TrainingCommand::Compare),
    ]
}

fn axes(lesson: &Lesson) -> impl Strategy<Value = AxisCommand> + use<> {
    let (axis, width) = (|| select(Axis::ALL.to_vec()), lesson.static_embedding.dim());
    let spread = (vec(numbers(), width), vec(numbers(), width * (width + 1) / 2));
    prop_oneof![
        1 => spread.prop_map(|(mean, covariance)| AxisCommand::Fit { mean, covariance, meaning: None }),
        1 => any::<bool>().prop_map(AxisCommand::SetRaw),
        3 => (axis(), words(lesson), words(lesson)).prop_map(|(axis, from, to)| AxisCommand::Set { axis, from, to }),
        1 => axis().prop_map(AxisCommand::Reset),
        2 => select(vec![AxisCommand::Refit, AxisCommand::ResetAll]),
    ]
}

fn recipes(lesson: &Lesson) -> impl Strategy<Value = Recipe> + use<> {
    let word = lesson.corpus.ambiguous.first().map_or("x".to_owned(), |ambiguous| ambiguous.word.clone());
    prop_oneof![
        Just(Recipe::default()),
        places(5).prop_map(|heads| Recipe { heads: Some(heads), ..Recipe::default() }),
        // As wide as a test has time for.
        (0..16_usize).prop_map(|width| Recipe { width: Some(width), ..Recipe::default() }),
        numbers().prop_map(|rate| Recipe { model_rate: Some(rate), ..Recipe::default() }),
        numbers().prop_map(|rate| Recipe { static_rate: Some(rate), ..Recipe::default() }),
        any::<u64>().prop_map(|seed| Recipe { seed: Some(seed), ..Recipe::default() }),
        numbers().prop_map(move |share| {
            let mut recipe = Recipe::default();
            recipe.shares.insert(word.clone(), vec![share, 1.0 - share]);
            recipe
        }),
    ]
}

fn notebooks(lesson: &Lesson) -> impl Strategy<Value = NotebookCommand> + use<> {
    let own = (1..7_usize).prop_map(|number| format!("own {number}"));
    let other = prop_oneof![9 => own, 1 => select(HOSTILE).prop_map(String::from)];
    let ids: Vec<String> = lesson.cells.iter().map(|cell| cell.id.clone()).collect();
    let id = if ids.is_empty() { other.boxed() } else { prop_oneof![3 => select(ids), 1 => other].boxed() };
    prop_oneof![
        35 => (id, cells()).prop_map(|(id, command)| NotebookCommand::Cell(id.into(), command)),
        4 => select(vec![
            NotebookCommand::RunAll,
            NotebookCommand::Restart,
            NotebookCommand::Interrupt,
            NotebookCommand::Reset,
        ]),
        1 => any::<bool>().prop_map(NotebookCommand::SetAutoRun),
    ]
}

fn cells() -> impl Strategy<Value = CellCommand> {
    let kind = || prop_oneof![2 => Just(OwnKind::Code), 1 => Just(OwnKind::Text)];
    let text = prop_oneof![
        5 => select(CODE).prop_map(String::from),
        1 => select(HOSTILE).prop_map(String::from),
        1 => select(CODE).prop_map(|code| format!("let s = {{{{ {code} }}}}")),
    ];
    let marks = prop_oneof![
        any::<bool>().prop_map(CellCommand::Fold),
        any::<bool>().prop_map(CellCommand::SetAutoRun),
        any::<bool>().prop_map(|keep_mine| CellCommand::Settle { keep_mine }),
    ];
    prop_oneof![
        7 => text.prop_map(|text| CellCommand::SetText(text.into())),
        5 => Just(CellCommand::Run),
        9 => select(vec![
            CellCommand::RunAbove,
            CellCommand::ClearOutputs,
            CellCommand::Delete,
            CellCommand::MergeBelow,
            CellCommand::Reveal,
            CellCommand::Hint,
            CellCommand::Skip,
            CellCommand::Reset,
            CellCommand::Reset,
        ]),
        3 => (kind(), any::<bool>()).prop_map(|(kind, is_above)| CellCommand::Insert { kind, is_above }),
        1 => select(&[1, -1, 3, -5, isize::MAX, isize::MIN][..]).prop_map(CellCommand::Shift),
        1 => places(20).prop_map(CellCommand::Split),
        1 => kind().prop_map(CellCommand::SetKind),
        3 => marks,
        3 => numbers().prop_map(CellCommand::Slide),
        1 => places(3).prop_map(CellCommand::Choose),
    ]
}
