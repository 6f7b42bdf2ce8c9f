//! Contents of the panels and the stage, as text, without a window.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, TrainingCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::vectors::{Similarity, norm};
use attune_engine::vectors::answers::Measure;
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::meaning::NeighboursModel;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::sentence_arcs::SentenceArcs;
use attune_view::view_model::stage::StageModel;
use attune_view::view_model::tensors::WeightsModel;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use attune_view::view_model::what_if::WhatIfModel;

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::{SMALL, after, kernel as kernel_of, lesson, set_weight, small as kernel};

fn with(commands: &[Command]) -> Snapshot {
    after(commands).snapshot()
}

#[test]
fn before_training_there_is_a_notebook_and_nothing_false() {
    let snapshot = Kernel::open(lesson(SMALL), None).snapshot();
    assert_eq!(StageModel::of(&snapshot), None);
    assert!(AttentionMaps::of(&snapshot).is_none());
    let training = TrainingModel::of(&snapshot);
    assert_eq!((training.stage, training.chance), (TrainingStage::Embedding { done: 0, of: 3 }, None));
    let notebook = NotebookModel::of(&snapshot, None);
    assert_eq!((notebook.title.as_str(), notebook.cells.len()), ("Sinking and swimming", 2));
}

#[test]
fn words_that_stand_twice_are_told_apart() {
    let snapshot = with(&[Command::Sentence(SentenceCommand::Set("the seal swam while the stone sank".to_owned()))]);
    let attention = AttentionMaps::of(&snapshot).expect("a model");
    assert_eq!(*attention.tokens, ["the₁", "seal", "swam", "while", "the₂", "stone", "sank"]);
    let stage = StageModel::of(&snapshot).expect("a space");
    let labels: Vec<String> = stage.tokens.iter().map(|token| token.label()).collect();
    assert_eq!(labels, *attention.tokens);
    let groups: Vec<Option<usize>> = stage.tokens.iter().map(|token| token.group).collect();
    assert_eq!(groups, [None, None, None, None, None, Some(0), None]);
}

#[test]
fn words_are_alone_until_one_looks_at_another() {
    let tokens = kernel().snapshot().model.expect("trained").sentence.tokens.len();
    let is_alone = |sees: fn(usize, usize) -> bool| {
        let mask = Mask::custom(MaskTable::from_fn(tokens, tokens, sees));
        let snapshot = with(&[Command::Interventions(InterventionCommand::SetMask(Some(mask)))]);
        let arcs = SentenceArcs::of(&snapshot).expect("a model");
        let is_alone = AttentionMaps::of(&snapshot).expect("a model").is_each_word_alone();
        assert_eq!(arcs.layers.is_empty(), is_alone);
        is_alone
    };
    assert!(is_alone(|query, key| query == key));
    assert!(!is_alone(|query, key| query == key || (query, key) == (1, 0)));
}

#[test]
fn a_cell_of_attention_is_said_in_words() {
    let snapshot = with(&[]);
    let attention = AttentionMaps::of(&snapshot).expect("a model");
    let said = attention.heads[1].say(0, 2);
    let (weight, length) = (attention.heads[1].cells.weight(0, 2), attention.heads[1].cells.length(0, 2));
    let expected = format!(
        "the (query, row) looks at sank (key, column) with weight {weight:.4} in head 2, which adds a vector of \
         length {length:.4}"
    );
    assert_eq!(said, expected);
    let sentence = &snapshot.model.as_ref().expect("a model").sentence;
    let (value, block) = (sentence.contributions[0].term(&sentence.activations.blocks[0], 1, 0, 2), weight);
    assert_close("α·‖f(x)‖", length, norm(&value), Tolerance::SINGLE);
    assert_ne!(length, block);
}

#[test]
fn the_lines_of_a_stage_cell_lead_from_word_to_word() {
    let snapshot = kernel_of(include_str!("../fixtures/reference.ron")).snapshot();
    let stage = StageModel::of(&snapshot).expect("a space");
    let cell = snapshot.notebook.cells.iter().find(|shown| *shown.cell.id == *"see").expect("a stage cell");
    let lines = stage.lines_of(&cell.cell.kind);
    let words: Vec<[&str; 2]> = lines.iter().map(|ends| ends.map(|word| stage.words[word].text.as_str())).collect();
    assert_eq!(words, [["seal", "otter"], ["seal", "anchor"]]);
    let text = snapshot.notebook.cells.iter().find(|shown| shown.cell.is_text()).expect("a text");
    assert!(stage.lines_of(&text.cell.kind).is_empty());
}

/// `ask` ends elsewhere than at `red`: the way there is minus the gradient, and what a small step along it saves is its
/// length.
#[test]
fn a_goal_of_a_stage_cell_is_where_the_loss_falls_fastest() {
    let snapshot = kernel_of(include_str!("../../lessons/gradient.ron")).snapshot();
    let stage = StageModel::of(&snapshot).expect("a space");
    let cell = snapshot.notebook.cells.iter().find(|shown| *shown.cell.id == *"opening").expect("a stage cell");
    let [goal] = stage.goals_of(&cell.cell.kind, &snapshot)[..] else { panic!("one goal") };
    assert_eq!((goal.token, goal.to), (2, stage.words[stage.words.find("red")[0]].at));
    let end = stage.tokens[goal.token].end;
    let way: [f32; 3] = std::array::from_fn(|axis| goal.to[axis] - end[axis]);
    let loss = |at: [f32; 3]| (0..3).map(|axis| (at[axis] - goal.to[axis]).powi(2)).sum::<f32>() / 2.0;
    const STEP: f32 = 1e-3;
    let saved = loss(end) - loss(std::array::from_fn(|axis| end[axis] + STEP * way[axis]));
    assert_close("the loss", goal.loss, loss(end), Tolerance::SINGLE);
    // What the step saves is that but for the square of the step.
    assert_close("what is saved", saved / STEP, norm(&way).powi(2), Tolerance::of_digits(2));
}

#[test]
fn points_start_static_and_end_contextual() {
    let snapshot = with(&[]);
    let stage = StageModel::of(&snapshot).expect("a space");
    for token in &stage.tokens {
        let at = stage.words.iter().position(|word| word.text == token.text).expect("a word of the vocabulary");
        assert!(stage.is_in_sentence(at));
        let word = &stage.words[at];
        assert_eq!((token.at(0.0), token.at(1.0)), (word.at, token.end));
        assert_eq!(token.trained_end, token.end);
    }
    assert!(stage.words.iter().all(|word| word.at.iter().map(|x| x * x).sum::<f32>().sqrt() <= stage.radius));
    assert_eq!(stage.axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>(), ["PC1", "PC2", "PC3"]);
}

#[test]
fn given_vectors_of_few_dimensions_are_seen_as_they_were_given() {
    let text = r#"Lesson(id: "x", title: "X", seed: 1, corpus: Sentences(["do like", "not like"]),
        static_embedding: Given({"do": [0.5, 0.5], "like": [1, 0], "not": [0, -1]}),
        model: Attention(heads: 1, objective: MaskedWord, steps: 0), sentences: ["do like"])"#;
    let stage = StageModel::of(&kernel_of(text).snapshot()).expect("a space");
    assert_eq!(stage.tokens[0].start, [0.5, 0.5, 0.0]);
    assert_eq!(stage.axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>(), ["x₁", "x₂"]);
}

#[test]
fn heads_say_what_they_are_and_which_takes_part() {
    let heads = |commands: &[Command]| WhatIfModel::of(&with(commands)).expect("a model").heads;
    let all = heads(&[]);
    assert!(
        all.iter()
            .all(|head| head.mode == HeadMode::Live && !head.solo && head.move_lengths().all(|length| length > 0.0))
    );
    let solo = heads(&[Command::Interventions(InterventionCommand::Solo(Some(1)))]);
    assert_eq!((&solo[0].mode, &solo[1].mode, solo[1].solo), (&HeadMode::Off, &HeadMode::Live, true));
    assert!(solo[0].move_lengths().all(|length| length == 0.0));
}

#[test]
fn a_turned_weight_is_counted_beside_its_ghost() {
    let snapshot = with(&[set_weight(TensorName::KeyWeights, 1, 2, 9.0)]);
    let weights = WeightsModel::of(&snapshot).expect("a model");
    let changed: Vec<(String, usize)> = weights.tensors.iter().map(|t| (t.id.to_string(), t.changed)).collect();
    let names = ["P", "W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O", "b_logits"];
    assert_eq!(changed, names.map(|name| (name.to_owned(), usize::from(name == "W_K"))));
    let tensor = weights.tensors.iter().find(|t| t.id == TensorName::KeyWeights.into()).expect("W_K");
    assert_eq!(tensor.value(1, 2), 9.0);
    assert_ne!(tensor.trained_value(1, 2), 9.0);
    assert_eq!(snapshot.history.undo.as_deref(), Some("W_K[1, 2]"));
}

#[test]
fn training_says_where_it_stands() {
    let snapshot = with(&[]);
    let training = TrainingModel::of(&snapshot);
    assert_eq!((training.stage, training.step, training.steps), (TrainingStage::Finished, 20, 20));
    // Four words in two groups, and the ambiguous one.
    assert_eq!(training.chance, Some(5f32.ln()));
    let parameters = snapshot.model.expect("a model").parameters.len();
    assert_eq!(training.honest_label, format!("toy model · {parameters} parameters · 60 sentences · 17 words"));
    let reset = TrainingModel::of(&with(&[Command::Training(TrainingCommand::Reset)]));
    assert_eq!((reset.stage, reset.step, reset.log.len()), (TrainingStage::Paused, 0, 0));
}

#[test]
fn neighbours_are_those_of_the_true_space_before_and_after() {
    let snapshot = with(&[]);
    let model = NeighboursModel::of(&snapshot).expect("a model");
    let space = snapshot.space.as_ref().expect("a space");
    let sentence = &snapshot.model.as_ref().expect("a model").sentence;
    let seal = &model.tokens[1];
    assert_eq!(seal.label, "seal");
    for measure in [Measure::Cosine, Measure::Distance] {
        for (list, vector) in [
            (&seal.before, &*space.vectors.row(sentence.tokens[1].word.expect("a word"))),
            (&seal.after, sentence.activations.output.row(1)),
        ] {
            for near in list.by(measure) {
                let row = space.vocabulary.iter().position(|word| *word == near.word).expect("a word");
                let other = space.vectors.row(row);
                let expected = [Similarity::Cosine, Similarity::Euclidean].map(|measure| measure.of(vector, &other));
                assert_close(&near.word, [near.cosine, -near.distance], expected, Tolerance::SINGLE);
            }
            let values: Vec<f32> = list.by(measure).iter().map(|near| near.value(measure)).collect();
            let sorted = match measure {
                Measure::Cosine => values.is_sorted_by(|a, b| a >= b),
                Measure::Distance => values.is_sorted(),
            };
            assert!(sorted && !values.is_empty(), "{values:?}");
        }
        let is_new = |near: &attune_view::view_model::meaning::NearWord| {
            near.is_new != seal.before.by(measure).iter().any(|before| before.word == near.word)
        };
        assert!(seal.after.by(measure).iter().all(is_new));
    }
    assert!(seal.before.by(Measure::Cosine).iter().all(|near| near.word != "seal"), "no word is its own neighbour");
}
