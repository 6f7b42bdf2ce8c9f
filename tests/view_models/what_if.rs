//! Interventions beside their unchanged result, and the variables, as plain values.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, TrainingCommand, WeightCommand};
use attune_core::kernel::snapshot::sentence::probabilities;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::answers::AnswerShifts;
use attune_view::view_model::attention::{AttentionMaps, Reading};
use attune_view::view_model::tensors::{VariableKind, VariableValue, VariablesModel};
use attune_view::view_model::what_if::{EffectRow, TokenEffect, WhatIfModel};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::{SMALL, forms, kernel, run_all, set_weight, small};

fn what_if(kernel: &Kernel) -> WhatIfModel {
    WhatIfModel::of(&kernel.snapshot()).expect("a model")
}

fn effects(model: &WhatIfModel) -> Vec<TokenEffect> {
    (0..model.tokens.len()).filter_map(|token| model.effect(token)).collect()
}

/// The row of a token in each head that has one.
fn rows(model: &WhatIfModel, token: usize) -> Vec<EffectRow> {
    let rows: Vec<EffectRow> = (0..model.heads.len()).filter_map(|head| model.row(token, head)).collect();
    assert_eq!(rows.len(), model.own_heads().len());
    rows
}

fn output(snapshot: &Snapshot) -> Vec<Vec<f32>> {
    let output = &snapshot.model.as_ref().expect("a model").sentence.activations.output;
    (0..output.rows()).map(|row| output.row(row).to_vec()).collect()
}

#[test]
fn answers_that_gain_and_lose_are_told() {
    let mut kernel = small();
    let told = |kernel: &Kernel| AnswerShifts::of(&kernel.snapshot(), Some(1)).expect("answers");
    assert!(told(&kernel).said().ends_with(" stay as they are."), "{}", told(&kernel).said());
    let before = kernel.snapshot().model.expect("a model").sentence;
    kernel.apply(Command::Interventions(InterventionCommand::SetHead { head: 0, mode: HeadMode::Mean }));
    kernel.apply(Command::Interventions(InterventionCommand::SetHead { head: 1, mode: HeadMode::Off }));
    let now = kernel.snapshot().model.expect("a model").sentence;
    let shifts = told(&kernel);
    assert!(!shifts.gained.is_empty() && !shifts.lost.is_empty(), "{shifts:?}");
    let [was, is] = [&before, &now].map(|sentence| probabilities(sentence.answers.logits.row(1)));
    let classes = kernel.snapshot().model.expect("a model").classes;
    let of = |name: &str| classes.iter().position(|class| class == name).expect("a class");
    for shift in shifts.gained.iter().chain(&shifts.lost) {
        assert_eq!((shift.before, shift.now), (was[of(&shift.name)], is[of(&shift.name)]), "{}", shift.name);
    }
    let most = |way: f32| (0..was.len()).map(|class| way * (is[class] - was[class])).fold(0.0, f32::max);
    assert_eq!(shifts.gained[0].now - shifts.gained[0].before, most(1.0));
    assert_eq!(shifts.lost[0].before - shifts.lost[0].now, most(-1.0));
    let said = shifts.said();
    assert!(said.contains(&format!("gained: {}", shifts.gained[0].said())) && said.contains("lost: "), "{said}");
}

#[test]
fn the_unchanged_result_stands_beside_the_changed_one() {
    let mut kernel = small();
    let before = kernel.snapshot();
    assert!(before.model.as_ref().expect("a model").sentence.unchanged.is_none(), "nothing is changed");
    let model = what_if(&kernel);
    assert!(model.said.is_empty() && effects(&model).iter().all(|effect| effect.moved == 0.0));
    let commands = [
        (
            Command::Interventions(InterventionCommand::SetTemperature(Some(0.1))),
            "The temperature is 0.1 instead of \
            1.",
        ),
        (Command::Interventions(InterventionCommand::SetScale(Some(false))), "Scores are not divided by √3."),
        (
            Command::Interventions(InterventionCommand::SetHead { head: 1, mode: HeadMode::Uniform }),
            "Head 2 gives every visible word the same weight.",
        ),
        (
            Command::Interventions(InterventionCommand::ToggleMask { query: 1, key: 0 }),
            "One pair is normally seen but now hidden.",
        ),
        (set_weight(TensorName::QueryWeights, 0, 0, 3.0), "One model weight is changed."),
    ];
    for (command, said) in commands {
        kernel.apply(command);
        let model = what_if(&kernel);
        assert!(model.said.iter().any(|sentence| sentence == said), "{said}: {:?}", model.said);
        let after = kernel.snapshot();
        let (was, is) = (output(&before), output(&after));
        let heads = &before.model.as_ref().expect("a model").sentence.activations.blocks[0].heads;
        let now = &after.model.as_ref().expect("a model").sentence.activations.blocks[0].heads;
        for (token, effect) in effects(&model).iter().enumerate() {
            let squares = was[token].iter().zip(&is[token]).map(|(a, b)| f64::from(a - b).powi(2));
            let expected = squares.sum::<f64>().sqrt();
            assert_close_beside(1.0, said, effect.moved, expected, Tolerance::SINGLE);
            for row in rows(&model, token) {
                assert_eq!(row.before, heads[row.head].weights.row(token), "{said}");
                assert_eq!(row.now, now[row.head].weights.row(token), "{said}");
            }
        }
        assert_eq!((effects(&model).len(), model.effect(model.tokens.len())), (model.tokens.len(), None));
    }
    kernel.apply(Command::Interventions(InterventionCommand::Reset));
    kernel.apply(Command::Weights(WeightCommand::ResetAll));
    assert!(kernel.snapshot().model.expect("a model").sentence.unchanged.is_none());
}

#[test]
fn the_unchanged_result_is_not_run_again_while_a_slider_is_dragged() {
    let mut kernel = small();
    let ghost = |kernel: &Kernel| {
        kernel.snapshot().model.expect("a model").sentence.unchanged.as_ref().expect("a change").other.clone()
    };
    kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))));
    let first = ghost(&kernel);
    kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.4))));
    assert!(Arc::ptr_eq(&first, &ghost(&kernel)));
    kernel.apply(Command::Sentence(SentenceCommand::Select(1)));
    let other = ghost(&kernel);
    assert!(!Arc::ptr_eq(&first, &other) && other.activations.output.rows() == 4);
    kernel.apply(Command::Training(TrainingCommand::Reset));
    assert!(!Arc::ptr_eq(&other, &ghost(&kernel)), "the trained weights are others now");
}

#[test]
fn weights_are_copied_with_the_words_of_their_rows_and_columns() {
    let snapshot = small().snapshot();
    let model = AttentionMaps::of(&snapshot).expect("a model");
    let one = model.tsv(&[1], Reading::default());
    let lines: Vec<&str> = one.lines().collect();
    assert_eq!(lines[0], "\tthe\tseal\tsank\twhile\ta\tduck\tswam");
    assert!(lines.len() == 8 && lines[2].starts_with("seal\t"), "{one}");
    let numbers: Vec<f32> = lines[2].split('\t').skip(1).map(|x| x.parse().expect("a number")).collect();
    assert!(model.heads[1].cells.weights(1).eq(numbers), "every digit");
    let all = model.tsv(&[0, 1], Reading::default());
    assert!(all.starts_with("Head 1\n\tthe") && all.contains("\n\nHead 2\n\tthe"), "{all}");
}

#[test]
fn every_tensor_and_every_variable_of_code_is_listed_with_its_numbers() {
    let text = SMALL.replace(
        "Stage(id: \"both\"",
        "Code(id: \"make\", src: \"let s = X @ X.T; let n = 2; let words = [\\\"a\\\", \\\"b\\\"]; fn f(x) { x }\"), Stage(id: \"both\"",
    );
    let mut kernel = kernel(&text);
    let listed = |kernel: &Kernel| VariablesModel::of(&Arc::new(kernel.snapshot())).all().to_vec();
    let before = listed(&kernel);
    let names = |kind| before.iter().filter(|one| one.kind == kind).map(|one| one.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(VariableKind::Forward), ["X", "Q", "K", "V", "S", "A", "M", "Y", "Z", "visible", "temperature"]);
    assert!(names(VariableKind::Weights).contains(&"W_Q") && names(VariableKind::Weights)[0] == "E");
    assert!(names(VariableKind::Code).is_empty());
    let weights = before.iter().find(|one| one.name == "A").expect("A");
    assert_eq!(weights.shape(), "(2, 7, 7)");
    let VariableValue::Table(table) = &weights.value else { panic!("a table") };
    let model = kernel.snapshot().model.expect("a model");
    let entry = model.sentence.activations.blocks[0].heads[1].weights.get(1, 5);
    assert_eq!(table.entry(1, 1, 5), f64::from(entry));
    assert!(table.tell(1, 1, 5).starts_with("A[1, \"seal\", \"duck\"] = "));

    run_all(&mut kernel);
    let after = listed(&kernel);
    let code: Vec<(&str, String)> =
        after.iter().filter(|one| one.kind == VariableKind::Code).map(|one| (one.name.as_str(), one.shape())).collect();
    let expected = [("s", "(7, 7)"), ("n", "number"), ("words", "text")];
    assert_eq!(code, expected.map(|(name, shape)| (name, shape.to_owned())));
    assert!(after.iter().any(|one| one.name == "s" && one.meaning == "made in In[1]"));
}

#[test]
fn every_form_of_a_model_has_its_what_ifs_and_variables() {
    for (_, mut kernel) in forms() {
        kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.3))));
        let model = what_if(&kernel);
        assert_eq!((effects(&model).len(), model.mask.now.len()), (model.tokens.len(), model.tokens.len().pow(2)));
        let rows: Vec<EffectRow> = (0..model.tokens.len()).flat_map(|token| rows(&model, token)).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| row.before.len() == model.heads[row.head].keys.len()));
        assert!(VariablesModel::of(&Arc::new(kernel.snapshot())).all().len() > 10);
    }
}
