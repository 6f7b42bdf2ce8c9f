//! A learner's changes to a forward pass: each shows at once, leaves its ghost, and undoes by itself.

use attune_core::kernel::command::InterventionCommand;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::commands::{RESET, head, heads, select, solo, temperature, toggle};
use crate::common::lessons::{SMALL, edited, lesson, model, notice, small as kernel};

fn weights(model: &ModelSnapshot, head: usize) -> Vec<Vec<f32>> {
    let weights = &model.sentence.activations.blocks[0].heads[head].weights;
    (0..weights.rows()).map(|row| weights.row(row).to_vec()).collect()
}

#[test]
fn every_intervention_moves_the_points_keeps_the_ghost_and_undoes() {
    let commands = [
        (head(0, HeadMode::Off), "head 1 off"),
        (head(1, HeadMode::Uniform), "head 2 uniform"),
        (head(0, HeadMode::Gain(0.5)), "head 1 gain"),
        (temperature(0.1), "temperature 0.1"),
        (Command::Interventions(InterventionCommand::SetScale(Some(false))), "scale off"),
        (toggle(1, 0), "mask"),
        (heads(0..2, HeadMode::Off), "all heads off"),
        (solo(1), "only head 2 on"),
    ];
    for (command, label) in commands {
        let mut kernel = kernel();
        let before = model(&kernel);
        kernel.apply(command);
        let after = model(&kernel);
        assert_ne!(before.sentence.end, after.sentence.end, "{label}");
        assert_eq!(before.sentence.end, after.sentence.trained_end, "{label}: the ghost stays");
        assert_eq!(before.parameters, after.parameters, "{label}: the model is the same");
        assert_eq!(kernel.snapshot().history.undo.as_deref(), Some(label));
        kernel.apply(Command::Undo);
        assert_eq!(model(&kernel).sentence.end, before.sentence.end, "{label}");
        assert_eq!(model(&kernel).interventions, before.interventions);
        kernel.apply(Command::Redo);
        assert_eq!(model(&kernel).sentence.end, after.sentence.end, "{label}");
        kernel.apply(Command::Interventions(InterventionCommand::Reset));
        assert_eq!(model(&kernel).sentence.end, before.sentence.end, "{label}");
    }
}

#[test]
fn a_head_is_named_with_its_layer_where_there_are_several() {
    let mut kernel = Kernel::trained(lesson(&edited(SMALL, &[("heads: 2,", "heads: 2, layers: 2,")])));
    for (command, label) in [
        (head(3, HeadMode::Off), "layer 2, head 2 off"),
        (heads(2..4, HeadMode::Off), "layer 2, all heads off"),
        (heads(1..3, HeadMode::Off), "layer 1, head 2 to layer 2, head 1 off"),
        (solo(1), "only layer 1, head 2 on"),
    ] {
        kernel.apply(command);
        assert_eq!(kernel.snapshot().history.undo.as_deref(), Some(label));
    }
}

#[test]
fn the_gain_of_a_head_multiplies_its_mix_and_its_arrows_and_nothing_else() {
    const GAIN: f32 = 2.5;
    let mut kernel = kernel();
    let before = model(&kernel).sentence;
    kernel.apply(head(0, HeadMode::Gain(GAIN / 2.0)));
    kernel.apply(head(0, HeadMode::Gain(GAIN)));
    let after = model(&kernel);
    let config = after.architecture.blocks[0].clone();
    let sentence = &after.sentence;
    let (block, ghost) = (&sentence.activations.blocks[0], &before.activations.blocks[0]);
    for (own, gain) in [(0, GAIN), (1, 1.0)] {
        assert_eq!(block.heads[own].weights, ghost.heads[own].weights, "where it looks stays");
        let expected: Vec<f32> = ghost.heads[own].mix.flat().iter().map(|then| gain * then).collect();
        assert_close(format!("head {own}"), block.heads[own].mix.flat(), expected, Tolerance::SINGLE_PASS);
        let lengths = |of: &attune_core::kernel::snapshot::SentenceSnapshot| of.contributions[0].head_lengths[own][0];
        assert_close("the length", lengths(sentence), gain * lengths(&before), Tolerance::SINGLE_SUMS);
    }
    let error = sentence.contributions[0].error(&config, block);
    assert_close_beside(1.0, "the arrows add up", error, 0.0, Tolerance::SINGLE_PASS);
    kernel.apply(Command::Undo);
    assert_eq!(model(&kernel).sentence.end, before.end, "successive gains undo as one");
    kernel.apply(head(0, HeadMode::Gain(1.0)));
    assert_eq!(model(&kernel).interventions.heads[0], HeadMode::Live);
    kernel.apply(head(0, HeadMode::Gain(f32::NAN)));
    let notice = kernel.snapshot().notice.expect("it cannot be");
    assert!(notice.contains("a head's gain must be from 0 to 4"), "{notice}");
}

#[test]
fn a_frozen_head_keeps_its_weights_until_another_sentence() {
    let mut kernel = kernel();
    let before = weights(&model(&kernel), 0);
    kernel.apply(head(0, HeadMode::Frozen(None)));
    kernel.apply(RESET);
    let reset = model(&kernel);
    assert_eq!(weights(&reset, 0), before);
    assert_ne!(weights(&reset, 1), before);
    kernel.apply(head(0, HeadMode::Live));
    assert_ne!(weights(&model(&kernel), 0), before, "live again, it looks as the weights say");

    kernel.apply(head(1, HeadMode::Frozen(None)));
    kernel.apply(head(0, HeadMode::Off));
    kernel.apply(toggle(1, 0));
    kernel.apply(select(1));
    let other = model(&kernel).interventions;
    assert_eq!(
        (&other.heads[..], &other.mask),
        (&[HeadMode::Off, HeadMode::Live][..], &None),
        "what is not about the sentence stays"
    );
    kernel.apply(Command::Undo);
    let back = model(&kernel).interventions;
    assert!(matches!(back.heads[1], HeadMode::Frozen(_)) && back.mask.is_some());
}

#[test]
fn a_pair_that_is_masked_weighs_nothing_and_comes_back() {
    let mut kernel = kernel();
    let before = model(&kernel);
    kernel.apply(toggle(1, 0));
    let masked = model(&kernel);
    assert_eq!(weights(&masked, 0)[1][0], 0.0);
    assert_close("the row", weights(&masked, 0)[1].iter().sum::<f32>(), 1.0, Tolerance::SINGLE);
    assert_eq!(weights(&masked, 0)[0], weights(&before, 0)[0], "the other queries see what they saw");
    kernel.apply(toggle(1, 0));
    assert_eq!(model(&kernel).interventions, before.interventions, "the lesson's own mask is no intervention");
    kernel.apply(toggle(1, 0));
    kernel.apply(Command::Interventions(InterventionCommand::ResetMask));
    assert_eq!(model(&kernel).sentence.end, before.sentence.end);
}

#[test]
fn a_drag_of_the_temperature_is_one_undo() {
    let mut kernel = kernel();
    let (before, history) = (model(&kernel), kernel.snapshot().history);
    (1..50).for_each(|i| kernel.apply(temperature(f64::from(i) / 10.0)));
    assert_eq!(model(&kernel).interventions.temperature, Some(4.9));
    kernel.apply(Command::Undo);
    let model = model(&kernel);
    assert_eq!((&model.interventions, kernel.snapshot().history.undo), (&before.interventions, history.undo));
}

#[test]
fn a_mask_takes_the_place_of_the_model_s() {
    let mut kernel = kernel();
    let tokens = model(&kernel).sentence.tokens.len();
    let own = Mask::custom(MaskTable::from_fn(tokens, tokens, |query, key| key <= query));
    for mask in [own, Mask::Causal, Mask::None] {
        kernel.apply(Command::Interventions(InterventionCommand::SetMask(Some(mask.clone()))));
        assert_eq!((notice(&kernel), &model(&kernel).interventions.mask), (None, &Some(mask)));
    }
}
