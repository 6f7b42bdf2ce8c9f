//! The way of a walk through all layers and to the source, and whom it follows by default.

use std::fmt::Write as _;

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Kernel, Snapshot};
use attune_core::lesson::schema::Objective;
use attune_engine::numerics::params::TensorName;
use attune_view::explain::result::{Moment, StageResult};
use attune_view::explain::walk::{Focus, RouteModel, Step, StepModel, WalkModel};
use attune_view::view_model::answers::AnswersModel;
use attune_view::view_model::axes::percent;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::{APPLE, apply, form, formed, kernel, small};
use crate::common::snapshots::assert_kept;

/// Two layers with norms, and a word that the lesson speaks of.
fn two_layers() -> Snapshot {
    let text = r#"Lesson(
        id: "two", title: "Two layers", seed: 5,
        corpus: Sentences(["a b c d", "d c b a", "b d a c"]), static_embedding: SkipGram(dim: 6, epochs: 2),
        model: Attention(layers: 2, heads: 2, objective: MaskedWord, steps: 20, norm: Post),
        sentences: ["a b c a", "d b"],
        cells: [Stage(id: "shown", caption: "c", sentence: 0, words: ["c"], time: 1.0)],
    )"#;
    kernel(text).snapshot()
}

fn route(snapshot: &Snapshot) -> RouteModel {
    RouteModel::of(snapshot).expect("a model")
}

fn shapes() -> Vec<(&'static str, Snapshot)> {
    let forms = ["parameter_free", "given_weights", "label", "next_word", "custom_mask", "reversal", "translation"];
    let forms = forms.into_iter().map(|name| (name, form(name).snapshot()));
    forms.chain([("small", small().snapshot()), ("two layers", two_layers())]).collect()
}

/// `‖m W_O‖`, or `‖m‖` without W_O, worked out here.
fn moved_by(snapshot: &Snapshot, head: usize, query: usize) -> f32 {
    let model = snapshot.model.as_ref().expect("a model");
    let (block, config, own) = model.architecture.head(head);
    let mix = model.sentence.activations.blocks[block].heads[own].mix.row(query);
    let length = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !config.attention.output {
        return length(mix);
    }
    let (weights, width) =
        (model.parameters.values_of(TensorName::OutputWeights.of_block(block)), config.attention.width);
    let first = config.attention.value_columns(own).start;
    let sum = |dim: usize| mix.iter().enumerate().map(|(i, x)| x * weights[(first + i) * width + dim]).sum();
    length(&(0..width).map(sum).collect::<Vec<f32>>())
}

#[test]
fn the_walk_follows_the_word_that_moves_most_and_the_head_that_moves_it_most() {
    for (name, snapshot) in shapes() {
        let (route, model) = (route(&snapshot), snapshot.model.as_ref().expect("a model"));
        let activations = &model.sentence.activations;
        let input = &activations.blocks[model.architecture.source_blocks.len()].input;
        let length = |token: &usize| {
            let parts = input.row(*token).iter().zip(activations.output.row(*token));
            parts.map(|(from, to)| (to - from).powi(2)).sum::<f32>()
        };
        if !snapshot.lesson.cells.iter().any(|cell| format!("{:?}", cell.kind).contains("Stage")) {
            let furthest = (0..model.sentence.tokens.len()).max_by(|a, b| length(a).total_cmp(&length(b)));
            assert_eq!(route.word(&[]), furthest, "{name}");
        }
        for (number, layer) in route.layers.iter().enumerate() {
            for token in 0..model.sentence.tokens.len() {
                let query = route.query(number, token);
                let head = route.head(number, token).expect("a head");
                let most = layer.heads.clone().map(|head| moved_by(&snapshot, head, query)).fold(0.0, f32::max);
                let (found, of) = (moved_by(&snapshot, head, query), format!("{name}, layer {number}, token {token}"));
                assert_close_beside(1.0, of, found, most, Tolerance::SINGLE_PASS);
                assert!(layer.heads.contains(&head));
            }
        }
    }
}

#[test]
fn a_lit_word_comes_first_then_the_one_that_the_lesson_speaks_of() {
    let route = route(&two_layers());
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(route.word(&words(&["b"])), Some(1));
    assert_eq!(route.word(&words(&["zebra", "b"])), Some(1), "what is not in the sentence is passed over");
    assert_eq!(route.word(&[]), Some(2), "c, of which its first stage cell speaks");
    assert!([Some(0), Some(3)].contains(&route.word(&words(&["a"]))), "of two the one that moves more");
}

#[test]
fn a_layer_takes_the_points_where_the_one_before_left_them() {
    for (name, snapshot) in shapes() {
        let (route, model) = (route(&snapshot), snapshot.model.as_ref().expect("a model"));
        let sentence = &model.sentence;
        let last = route.layers.len() - 1;
        for token in 0..sentence.tokens.len() {
            let way = |layer| route.way(token, layer).expect("it is there");
            assert_eq!(
                (way(0).0[..].to_vec(), way(last).1[..].to_vec()),
                (sentence.start.row(token).to_vec(), sentence.end.row(token).to_vec()),
                "{name}"
            );
            (0..last).for_each(|layer| assert_eq!(way(layer).1, way(layer + 1).0, "{name}"));
        }
        let walk = |layer: usize| {
            let head = route.layers[layer].heads.start;
            WalkModel::of(&snapshot, route.focus(0, head, None)).expect("a walk")
        };
        for (index, point) in sentence.source_points.iter().enumerate().skip(1) {
            let words = walk(index - 1).source;
            let of_block = &sentence.activations.blocks[index - 1].output;
            let after = snapshot.space.as_ref().expect("a space").projection.points(of_block);
            assert_eq!(words.len(), sentence.source.as_ref().map_or(0, Vec::len));
            for (row, word) in words.iter().enumerate() {
                assert_eq!(word.from[..], *sentence.source_points[index - 1].row(row), "{name}");
                assert_eq!(
                    (&word.to[..], point.row(row)),
                    (after.row(row), after.row(row)),
                    "{name}: what it hands over"
                );
            }
        }
        if sentence.source.is_some() {
            let words = walk(last).source;
            assert!(words.iter().all(|word| word.from == word.to), "{name}: what is looked at does not move");
            assert!(walk(last).keys.iter().eq(words.iter().map(|word| &word.label)), "{name}: lines lead to them");
            assert!(walk(last - 1).source.is_empty(), "{name}: self-attention looks at its own sentence");
        }
    }
}

#[test]
fn the_walk_ends_with_the_answer_that_the_answers_panel_says() {
    for (name, snapshot) in shapes() {
        let route = route(&snapshot);
        let answers = AnswersModel::of(&snapshot, None).expect("a model");
        for token in 0..snapshot.model.as_ref().expect("a model").sentence.tokens.len() {
            let last = route.layers.len() - 1;
            let head = route.head(last, token).expect("a head");
            let walk = WalkModel::of(&snapshot, route.focus(token, head, None)).expect("a walk");
            let said = answers.said.get(if answers.is_by_token { token } else { 0 });
            let StepModel { said: end, result, .. } = walk.step(Step::Contextual);
            let answer = said.and_then(|said| Some(said.rsplit_once('“')?.1.split_once('”')?.0));
            let result = result.as_deref().expect("each last step has a result");
            assert_eq!(said.is_none(), name == "parameter_free", "{name}: a model that learns nothing gives no answer");
            let is_told = answer.is_none_or(|answer| result.contains(&format!("“{answer}” ")));
            assert!(is_told || said.is_some_and(|said| end.ends_with(&**said)), "{name}: {result} | {end}");
            let internal = ["Label", "NextWord", "MaskedWord", "Sequence"];
            assert!(!internal.iter().any(|word| end.contains(word)), "{name}: {end}");
        }
    }
}

#[test]
fn the_walk_says_how_far_the_word_really_moves() {
    for (name, snapshot) in shapes() {
        let (route, model) = (route(&snapshot), snapshot.model.as_ref().expect("a model"));
        for (number, layer) in route.layers.iter().enumerate() {
            let block = &model.sentence.activations.blocks[number];
            for query in 0..block.input.rows() {
                let token = if layer.is_of_source { 0 } else { query };
                let walk = WalkModel::of(&snapshot, route.focus(token, layer.heads.start, None)).expect("a walk");
                let query = walk.focus.query;
                let parts = block.input.row(query).iter().zip(block.output.row(query));
                let length = parts.map(|(from, to)| (to - from).powi(2)).sum::<f32>().sqrt();
                let said = walk.step(Step::Contextual).told();
                let written = match format!("{length:.3}").as_str() {
                    "0.000" => "stays where it is".to_owned(),
                    length => format!("moves by {length}"),
                };
                assert!(said.contains(&written), "{name}, layer {number}: {said} and not {written}");
            }
        }
    }
}

#[test]
fn each_moment_of_a_stage_has_one_line_of_result_with_the_snapshots_numbers() {
    let mut told = [0, 0];
    for (name, snapshot) in shapes() {
        let (route, model) = (route(&snapshot), snapshot.model.as_ref().expect("a model"));
        let answers = AnswersModel::of(&snapshot, None).expect("a model");
        let result = |moment, word| StageResult::of(&snapshot, (moment, word, true)).map(|result| result.0);
        for word in 0..model.sentence.tokens.len() {
            let end = result(Moment::Contextual, word).expect("each model comes to something");
            assert!(!end.contains('\n') && !end.ends_with('.'), "{name}: {end}");
            let is_hidden = model.sentence.tokens[word].word.is_none();
            let is_asked = is_hidden || !matches!(model.made_of.model.objective, Objective::MaskedWord { .. });
            let answer = answers.row_of(Some(word)).and_then(|row| row.answers.first());
            if let Some(answer) = answer.filter(|_| is_asked && !answers.said.is_empty()) {
                let said = format!("“{}” {}", answer.name, percent(answer.probability));
                assert!(end.ends_with(&said), "{name}: {end}, and not {said}");
                told[0] += 1;
            } else {
                let near = &model.sentence.contextual_neighbours[word].by_cosine[0];
                let is_of_weights = end.contains(" looks at ");
                /// Less is not said to be near.
                const LEAST: f32 = 0.01;
                let is_far = near.cosine < LEAST;
                assert!(is_of_weights || is_far || end.contains(&format!("{:.3}", near.cosine)), "{name}: {end}");
                told[1] += 1;
            }
        }
        for layer in 0..route.layers.len() - 1 {
            let passed = result(Moment::Passed(layer), 0).expect("a word moves");
            let length = model.sentence.moves[layer].lengths[0];
            assert!(passed.contains(&format!("{length:.3}")) || passed.contains("stays"), "{name}: {passed}");
        }
    }
    assert!(told[0] > 0 && told[1] > 0, "{told:?}");
}

#[test]
fn occurrences_that_attention_parts_are_told_of_together_until_one_is_chosen() {
    let snapshot = kernel(APPLE).snapshot();
    let word = route(&snapshot).word(&[]).expect("a word");
    let sentence = &snapshot.model.as_ref().expect("a model").sentence;
    let vocabulary = &snapshot.space.as_ref().expect("a space").vocabulary;
    let near = |at: usize| &vocabulary[sentence.contextual_neighbours[at].by_cosine[0].word];
    let places: Vec<usize> = (0..sentence.tokens.len()).filter(|at| sentence.tokens[*at].text == "apple").collect();
    let [first, second] = places[..] else { panic!("two apples: {places:?}") };
    let of = |is_chosen| StageResult::of(&snapshot, (Moment::Contextual, word, is_chosen)).expect("a result").0;
    let both = format!("“apple₁” is now nearest to “{}”, “apple₂” to “{}”", near(first), near(second));
    assert_eq!(of(false), both);
    assert!(of(true).contains(near(word)) && of(true) != both, "{}", of(true));
}

#[test]
fn an_answer_is_kept_back_until_the_prediction_that_opens_it_is_made() {
    let cells = r#"cells: [Predict(
        id: "guess", ask: "What comes after *a*?", choices: ["b", "c"], answer: "0", explain: "It does.", opens: ["Answers"],
    )], sentences"#;
    let mut kernel = kernel(&formed("train_embedding: true").replace("sentences", cells));
    let told = |kernel: &Kernel| {
        let result = StageResult::of(&kernel.snapshot(), (Moment::Contextual, 3, true)).expect("a result").0;
        let walk = WalkModel::of(&kernel.snapshot(), Focus { query: 3, head: 0, key: None }).expect("a walk");
        assert_eq!(walk.step(Step::Contextual).result.as_deref(), Some(&*result));
        result
    };
    assert_eq!(told(&kernel), "After “a₂”: ?");
    for command in [CellCommand::Choose(0), CellCommand::Reveal] {
        apply(&mut kernel, Command::Notebook(NotebookCommand::Cell("guess".into(), command)));
    }
    assert!(told(&kernel).ends_with('%'), "{}", told(&kernel));
}

#[test]
fn every_shape_of_a_model_is_walked_through_as_kept() {
    let mut text = String::new();
    for (name, snapshot) in shapes() {
        let route = route(&snapshot);
        let word = route.word(&[]).expect("a word");
        for (number, layer) in route.layers.iter().enumerate() {
            let head = route.head(number, word).expect("a head");
            let walk = WalkModel::of(&snapshot, route.focus(word, head, None)).expect("a walk");
            let (query, keys) = (&walk.queries[walk.focus.query], walk.keys.join(" "));
            let _ = writeln!(text, "{name}: {} [{}] {query} among {keys}", layer.title, walk.head);
            for step in &walk.steps {
                let _ = writeln!(text, "    {:12}{}", step.step.name(), step.told());
            }
        }
    }
    assert_kept("tests/view_models/routes.txt", &text);
}
