//! Bounds of memory: a workspace's and undo's; and a training step allocates nothing.

use std::sync::Arc;

use attune_core::kernel::command::{Reference, SenseCommand, SenseList, SenseSentence};
use attune_core::kernel::model::{HISTORY_BYTES_MAX, HISTORY_STATES_MAX};
use attune_core::kernel::static_embedding::SpaceTrainer;
use attune_core::kernel::training::log::TrainingLog;
use attune_core::kernel::training::run::CHECKPOINT_BYTES_MAX;
use attune_core::kernel::training::trainer::Trainer;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{AttentionConfig, BatchRoom, HeadMode, Mask};
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::cost::{parameters, workspace_entries};
use attune_engine::numerics::model::{
    Activations, Architecture, AttentionModel, Classes, Pooling, Readout, Sequences, StepWorkspace,
};
use attune_engine::numerics::moves::Moves;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::projection::LensProjection;
use attune_engine::numerics::projection::Projection;

use crate::common::commands::{
    REFIT, SHOW_LATEST, auto_run, compare, head, retraining, scrub, sentence, set, step, temperature,
};
use crate::common::lessons::{SMALL, apply, kernel, lesson, small};
use crate::common::numerics::{VOCABULARY, architecture, block_forms, layer};
use crate::common::top::at;
use crate::counting::{allocations, bytes_of};

const ENTRY: usize = size_of::<f32>();

fn model(architecture: Architecture) -> AttentionModel<f32> {
    let embedding = Arc::new(Matrix::zeros(VOCABULARY, architecture.width).into());
    AttentionModel::new(architecture, embedding, Classes::Labels(3))
}

fn workspace_bytes(model: &AttentionModel<f32>, room: BatchRoom) -> usize {
    bytes_of(|| StepWorkspace::new(model, room, BatchRoom::NONE)).1
}

/// The weights are kept for the backward; all else grows with the tokens.
#[test]
fn attention_keeps_at_most_the_weights_and_so_much_a_token() {
    for pooling in [Pooling::Last, Pooling::Mean] {
        for heads in [1, 4] {
            let attention = AttentionConfig { mask: Mask::Causal, ..AttentionConfig::multi_head(16, heads) };
            let mut built = Architecture::of_attention(attention, Positions::None, 4096);
            (built.pooling, built.readout) = (pooling, Readout::Linear);
            let model = model(built);
            let weights = |tokens: usize| heads * tokens * tokens * ENTRY;
            let beside = |tokens| workspace_bytes(&model, BatchRoom::one(tokens)).saturating_sub(weights(tokens));
            let a_token = beside(256) / 256;
            for tokens in [512, 1024, 4096] {
                let found = beside(tokens);
                assert!(
                    found <= tokens * a_token,
                    "{heads} heads of {tokens} tokens: {found} bytes, {a_token} a token"
                );
            }
            // No sentence has weights for the words of another.
            let [one, four] =
                [1, 4].map(|sentences| workspace_bytes(&model, BatchRoom { rows: 256 * sentences, longest: 256 }));
            assert!(four <= 4 * one, "{heads} heads: {four} bytes for four sentences, {one} for one");
        }
    }
}

/// A lesson's limits count the memory that is taken.
#[test]
fn a_workspace_takes_no_more_than_is_counted() {
    for (rows, longest) in [(1, 1), (40, 8), (96, 48), (260, 65), (512, 256)] {
        for form in block_forms(&layer(|_| ())) {
            for pooling in [Pooling::Every, Pooling::Last, Pooling::Mean] {
                let built = architecture(|a| {
                    (a.max_tokens, a.pooling, a.readout) = (longest, pooling, Readout::Linear);
                    a.blocks = vec![form.clone(), form.clone()];
                });
                let entries = workspace_entries(&built, 3, rows, longest) + parameters(&built, VOCABULARY, 3).0;
                let found = workspace_bytes(&model(built.clone()), BatchRoom { rows, longest });
                let counted = entries * ENTRY as f64;
                // A panel of scores for each block, whatever the batch, and what is too small to be counted.
                let limit = 1.05 * counted + f64::from(16 << 10);
                assert!(found as f64 <= limit, "{rows} rows, {longest} the longest: {found} bytes, {counted} counted");
            }
        }
    }
}

/// Contributions are kept a key, not a pair: what is drawn of a sentence takes no more than its forward pass.
#[test]
fn contributions_take_no_more_than_twice_the_activations() {
    const HIDDEN: usize = 1536;
    for (tokens, norm) in [(16, Norm::Pre), (64, Norm::None), (64, Norm::Post), (128, Norm::Post)] {
        let mut built = Architecture::of_attention(AttentionConfig::multi_head(384, 12), Positions::Learned, tokens);
        (built.pooling, built.readout) = (Pooling::Mean, Readout::Linear);
        (built.blocks[0].norm, built.blocks[0].feed_forward) = (norm, Some(HIDDEN));
        let (config, model) = (built.blocks[0].clone(), model(built));
        let words: Vec<usize> = (0..tokens).map(|token| token % VOCABULARY).collect();
        let (parameters, words) = (model.init(5), Sequences::one(&words));
        let (shown, activations) =
            bytes_of(|| Activations::of(&model, &parameters, &words, None, &Interventions::default()));
        let block = &shown.blocks[0];
        let (found, factored) = bytes_of(|| Contributions::of(&config, 0, &parameters, block, &[]));
        let projection = Projection::principal_components(&block.input);
        let (_moves, drawn) = bytes_of(|| Moves::of(&LensProjection::new(&projection, None), block, &found, true));
        let all_pairs = 12 * tokens * tokens * 384 * ENTRY;
        assert!(factored < 2 * activations, "{tokens} tokens: {factored} bytes beside {activations}");
        assert!(factored + drawn < 2 * activations, "{tokens} tokens: {factored} and {drawn} beside {activations}");
        assert!(factored * (tokens / 2) < all_pairs, "{tokens} tokens: {factored} bytes, {all_pairs} for all pairs");
    }
}

/// A lesson of so large a model that bytes bound its history, not states.
fn large() -> Kernel {
    let text = SMALL.replace("dim: 6", "dim: 128").replace("steps: 20", "steps: 400");
    Kernel::embedded(lesson(&text))
}

#[test]
fn undo_remembers_no_more_than_its_bytes() {
    let mut kernel = large();
    let turn = |value| set(TensorName::QueryWeights, 0, 0, value);
    let ((), kept) = bytes_of(|| {
        for i in 0..HISTORY_STATES_MAX / 4 {
            // Beside the state that a step left, its edits, and a state looked at with edits of its own.
            apply(&mut kernel, step(1));
            apply(&mut kernel, turn(i as f32));
            apply(&mut kernel, scrub(i / 2));
            apply(&mut kernel, turn(0.5 + i as f32));
        }
    });
    let limit = HISTORY_BYTES_MAX + CHECKPOINT_BYTES_MAX;
    assert!(kept < limit, "{kept} bytes are kept, of {limit}");
    let mut undone = 0;
    while kernel.snapshot().history.undo.is_some() {
        apply(&mut kernel, Command::Undo);
        undone += 1;
    }
    assert!((1..HISTORY_STATES_MAX).contains(&undone), "{undone} changes can be undone");
}

/// A lesson that trains in no time and shows much.
fn wide() -> Kernel {
    let words = "a seal is happy warm ".repeat(11);
    let text = SMALL
        .replace("dim: 6", "dim: 64")
        .replace("heads: 2", "heads: 8")
        .replace("max_tokens: 12", "max_tokens: 64")
        .replace("steps: 20", "steps: 1")
        .replace("the seal sank while a duck swam", &words);
    kernel(&text)
}

#[test]
fn memory_is_flat_over_thousands_of_changes() {
    // Each more often than the history is long.
    let kept = |rounds: usize| {
        let mut kernel = small();
        bytes_of(|| (0..rounds).for_each(|round| change_everything(&mut kernel, round))).1
    };
    let (few, many) = (kept(60), kept(600));
    assert!(many <= few + few / 8, "{few} bytes after 60 rounds, {many} after 600");
}

/// Changes of every owner of state, seen after each round as a window sees them.
fn change_everything(kernel: &mut Kernel, round: usize) {
    let value = round as f32;
    let text = ["a seal is happy", "warm seal"][round % 2].to_owned();
    let list =
        SenseList { word: "seal".to_owned(), sentences: vec![SenseSentence { text: text.clone(), sense: None }] };
    for command in [
        set(TensorName::QueryWeights, 0, 0, value),
        temperature(0.5 + round as f64 / 100.0),
        sentence(&text),
        head(round % 2, HeadMode::Frozen(None)),
        Command::Senses(SenseCommand::Replace(list)),
        REFIT,
        scrub(round % 20),
        SHOW_LATEST,
        auto_run(round.is_multiple_of(2)),
    ] {
        apply(kernel, command);
    }
    assert!(kernel.snapshot().model.is_some());
}

#[test]
fn what_retraining_leaves_to_undo_has_its_bound_too() {
    let mut kernel = wide();
    let ((), kept) = bytes_of(|| {
        for seed in 0..HISTORY_STATES_MAX as u64 / 2 {
            let recipe = Recipe { seed: Some(100 + seed), ..Recipe::default() };
            apply(&mut kernel, retraining(recipe));
            // What comes between ends the drag: each undoes by itself.
            apply(&mut kernel, compare(Reference::Start));
            assert!(kernel.snapshot().model.is_some());
        }
    });
    assert!(kept < HISTORY_BYTES_MAX + CHECKPOINT_BYTES_MAX, "{kept} bytes are kept");
    let ghost = |kernel: &Kernel| {
        let model = kernel.snapshot().model.expect("a model");
        model.replaced.as_ref().map(|replaced| replaced.sentence.end.clone())
    };
    let before = ghost(&kernel);
    let is_retraining =
        |kernel: &Kernel| kernel.snapshot().history.undo.is_some_and(|label| label.contains("retraining"));
    while !is_retraining(&kernel) {
        apply(&mut kernel, Command::Undo);
    }
    apply(&mut kernel, Command::Undo);
    assert!(ghost(&kernel).is_some() && ghost(&kernel) != before, "the model of before, with its own ghost");
    apply(&mut kernel, Command::Redo);
    assert_eq!(ghost(&kernel), before);
}

/// A lesson of each objective and form.
const LESSONS: [&str; 6] = [
    "lessons/apple.ron",
    "tests/fixtures/forms/label.ron",
    "tests/fixtures/forms/next_word.ron",
    "tests/fixtures/forms/reversal.ron",
    "tests/fixtures/forms/translation.ron",
    "tests/fixtures/forms/custom_mask.ron",
];

#[test]
fn a_training_step_allocates_nothing() {
    for lesson in LESSONS {
        check_allocations(lesson);
    }
    assert!(allocations(|| drop(vec![0u8; 64])) > 0, "the counter counts");
}

fn check_allocations(path: &str) {
    let lesson = Arc::new(attune_core::lesson::read(&at(path)).expect("the lesson is valid"));
    let mut embedding = SpaceTrainer::new(&lesson);
    while !embedding.advance(&lesson) {}
    let (space, _) = embedding.finish(&lesson).expect("finite");
    let trainer = Trainer::new(&lesson, &space, embedding.examples());
    let (mut room, mut state) = (trainer.room(), trainer.start());
    let mut log = TrainingLog::new(state.parameters.specs().len());
    // The first steps fill the matrix product's packing buffers, once per thread.
    for _ in 0..20 {
        log.push(&trainer.step(&mut room, &mut state).expect("finite"));
    }
    let made = allocations(|| {
        for _ in 0..50 {
            log.push(&trainer.step(&mut room, &mut state).expect("finite"));
        }
    });
    assert_eq!(made, 0, "{path}: allocations in 50 training steps");
}
