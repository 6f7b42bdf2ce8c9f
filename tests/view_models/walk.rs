//! The walk through attention: its numbers lead from one to the next, and its words say them.

use std::sync::Arc;

use attune_core::kernel::command::InterventionCommand;
use attune_core::kernel::{Command, Snapshot};
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};
use attune_engine::numerics::moves::Point;
use attune_engine::numerics::softmax::softmax_forward;
use attune_engine::quantity::Quantity;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::walk::{Columns, Focus, NumberRow, RouteModel, Step, StepModel, WalkModel};
use attune_view::view_model::Model;
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::what_if::WhatIfModel;

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::lessons::{APPLE, formed, forms, kernel, small};

const FIRST: Focus = Focus { query: 0, head: 0, key: None };

/// `The, cat, sat` of CURRICULUM 6: every projection is the identity.
fn scaling() -> Snapshot {
    let text = r#"Lesson(
        id: "scaling", title: "Scaling", seed: 1,
        corpus: Sentences(["the cat sat", "cat sat the"]),
        static_embedding: Given({"the": [1, 0, 1, 0], "cat": [0, 1, 0, 1], "sat": [1, 1, 1, 1]}),
        model: Attention(
            heads: 1, objective: MaskedWord, steps: 0, projections: false, residual: false, positions: None,
        ),
        sentences: ["the cat sat"],
    )"#;
    kernel(text).snapshot()
}

fn values<'a>(walk: &'a WalkModel, step: Step, label: &str) -> &'a [f32] {
    let rows = &walk.step(step).rows;
    let found: Option<&NumberRow> = rows.iter().find(|row| row.label == label);
    &found.unwrap_or_else(|| panic!("no {label} among {rows:#?}")).values
}

/// Each arrow begins where the one before it ends, and the last one ends at the path's end.
#[track_caller]
fn assert_tip_to_tail(path: &PathModel, tolerance: Tolerance) {
    let mut tip = path.from;
    for arrow in &path.arrows {
        assert_eq!(arrow.from, tip);
        tip = arrow.to;
    }
    assert_close_beside(1.0, "the tip", tip, path.to, tolerance);
}

#[test]
fn the_numbers_of_the_curriculum_are_walked_through() {
    let walk = WalkModel::of(&scaling(), FIRST).expect("a walk");
    assert_eq!(values(&walk, Step::Score, "q · k"), [2.0, 0.0, 2.0]);
    assert_eq!(values(&walk, Step::Scale, "score"), [1.0, 0.0, 1.0]);
    let shown = Tolerance::of_digits(5);
    assert_close("weight", values(&walk, Step::Softmax, "weight"), [0.42232, 0.15536, 0.42232], shown);
    assert_close("mix", values(&walk, Step::Mix, "mix(the)"), [0.84464, 0.57768, 0.84464, 0.57768], shown);
}

#[test]
fn each_key_has_its_number_of_the_step_beside_it() {
    let walk = WalkModel::of(&scaling(), FIRST).expect("a walk");
    let beside = |step| (0..3).filter_map(|key| walk.beside(step, key)).collect::<Vec<_>>().join(", ");
    assert_eq!(beside(Step::Embed), "");
    assert_eq!(beside(Step::Project), "q, k v, k v");
    assert_eq!(beside(Step::Score), "2.00, 0.00, 2.00");
    assert_eq!(beside(Step::Scale), "1.00, 0.00, 1.00");
    assert_eq!(beside(Step::Softmax), "0.42, 0.16, 0.42");
    assert_eq!(beside(Step::Mix), "0.42 · v, 0.16 · v, 0.42 · v");
    assert!(beside(Step::Output).is_empty() && beside(Step::Contextual).is_empty());
}

#[test]
fn a_walk_is_within_the_sentence_of_its_queries_and_keys_alone() {
    let walk = WalkModel::of(&scaling(), FIRST).expect("a walk");
    let is_within = |words: [&str; 3]| walk.fits(words.into_iter().map(str::to_owned));
    assert!(is_within(["the", "cat", "sat"]));
    assert!(!is_within(["the", "sat", "cat"]), "as many words, but others");
}

#[test]
fn a_hidden_key_has_a_score_of_minus_infinity() {
    let mut kernel = small();
    let tokens = kernel.snapshot().model.expect("a model").sentence.tokens.len();
    let mask = Mask::custom(MaskTable::from_fn(tokens, tokens, |query, key| (query, key) != (0, 1)));
    kernel.apply(Command::Interventions(InterventionCommand::SetMask(Some(mask))));
    let walk = WalkModel::of(&kernel.snapshot(), FIRST).expect("a walk");
    assert_eq!(walk.beside(Step::Scale, 1).as_deref(), Some("−∞"));
    assert_eq!(walk.beside(Step::Softmax, 1).as_deref(), Some("0.00"));
}

#[test]
fn each_number_leads_to_the_next() {
    for snapshot in [small().snapshot(), kernel(APPLE).snapshot()] {
        let model = snapshot.model.as_ref().expect("a model");
        for (head, (arithmetic, activations)) in
            model.sentence.arithmetic.iter().zip(model.sentence.activations.heads()).enumerate()
        {
            for query in 0..activations.query.rows() {
                let mut scores: Vec<f32> =
                    arithmetic.products.row(query).iter().map(|x| x * arithmetic.scale).collect();
                if let Some(distances) = &arithmetic.distances {
                    scores.iter_mut().zip(distances.row(query)).for_each(|(score, by)| *score += by);
                }
                assert_close("scores", scores, activations.scores.row(query), Tolerance::SINGLE_PASS);
                let weights = arithmetic.exponentials.row(query).iter().map(|x| x / arithmetic.sums[query]);
                let expected = activations.weights.row(query);
                assert_close("weights", weights.collect::<Vec<_>>(), expected, Tolerance::SINGLE);
                let mut softmax = activations.scores.row(query).to_vec();
                softmax_forward(&mut softmax);
                assert_close("softmax", softmax, expected, Tolerance::SINGLE);
            }
            assert!(WalkModel::of(&snapshot, Focus { head, ..FIRST }).is_some());
        }
        assert_eq!(WalkModel::of(&snapshot, Focus { head: 99, ..FIRST }), None);
        assert_eq!(WalkModel::of(&snapshot, Focus { query: 99, ..FIRST }), None);
    }
}

#[test]
fn arrows_lead_tip_to_tail_from_the_point_before_to_the_point_after() {
    let forms = [NORMED, FED, REPLACED].map(|form| kernel(&formed(form)).snapshot());
    for snapshot in [small().snapshot(), scaling(), kernel(APPLE).snapshot()].into_iter().chain(forms) {
        let model = snapshot.model.as_ref().expect("a model");
        let space = snapshot.space.as_ref().expect("a space");
        for (moves, block) in model.sentence.moves.iter().zip(&model.sentence.activations.blocks) {
            for query in 0..moves.queries() {
                let mut tip: Point = moves.start(query);
                for part in &moves.parts {
                    tip.iter_mut().zip(part.arrow(query)).for_each(|(tip, part)| *tip += part);
                }
                for (head, key) in (0..moves.heads()).flat_map(|head| (0..moves.keys()).map(move |key| (head, key))) {
                    let term = moves.term(head, query, key);
                    tip.iter_mut().zip(term).for_each(|(tip, term)| *tip += term);
                }
                let to: Vec<f32> = moves.to.row(query).to_vec();
                let block = space.projection.points(&block.output);
                assert_close_beside(1.0, "the end", &to, block.row(query), Tolerance::SINGLE);
                let scale = space.points.flat().iter().fold(1f32, |most, x| most.max(x.abs()));
                assert_close_beside(scale, "the tip", tip, to, Tolerance::SINGLE_PASS);
            }
        }
    }
}

const NORMED: &str = "norm: Post, layers: 2, bias: false";
const FED: &str = "norm: Post, feed_forward: 5, bias: true";
const REPLACED: &str = "norm: Pre, feed_forward: 5, residual: false, bias: false";

/// Labels of a path without those of the words.
fn parts_of(form: &str) -> Vec<String> {
    let path = PathModel::of(&kernel(&formed(form)).snapshot(), 1, 0, ArrowParts::Word).expect("a path");
    let labels = path.arrows.iter().filter(|arrow| arrow.part.is_some()).map(|arrow| arrow.label.clone());
    assert_tip_to_tail(&path, Tolerance::SINGLE_PASS);
    for name in labels.clone() {
        assert!(path.why.contains(&name) || path.arrows.iter().any(|arrow| arrow.label == name && arrow.length < 0.1));
    }
    labels.collect()
}

#[test]
fn norms_and_feed_forward_parts_are_arrows_of_their_own() {
    assert_eq!(parts_of(NORMED), ["rescaled by the norm", "shift of the norm"]);
    let all =
        ["rescaled by the norms", "b_O", "shift of the first norm", "feed-forward part", "shift of the second norm"];
    assert_eq!(parts_of(FED), all);
    assert_eq!(parts_of(REPLACED), ["feed-forward part"]);
    assert_eq!(parts_of("bias: true"), ["b_O"]);
}

#[test]
fn the_last_step_says_what_norms_and_feed_forward_layers_do() {
    let last = |form: &str| {
        let walk = WalkModel::of(&kernel(&formed(form)).snapshot(), Focus { query: 1, ..FIRST }).expect("a walk");
        let step = walk.step(Step::Contextual);
        (step.equation.clone(), step.said.clone())
    };
    let (equation, said) = last("norm: Post");
    assert_eq!(equation, "a_i = x_i + \\Delta_i, \\quad y_i = \\operatorname{Norm}(a_i)");
    assert!(said.contains("The norm divides every arrow by the same number"), "{said}");
    let (equation, said) = last(FED);
    let expected = "a_i = x_i + \\Delta_i, \\quad b_i = \\operatorname{Norm}(a_i), \\quad \
                    c_i = b_i + \\operatorname{FFN}(b_i), \\quad y_i = \\operatorname{Norm}(c_i)";
    assert_eq!(equation, expected);
    assert!(said.contains("Each norm divides") && said.contains("The feed-forward layer adds an arrow of"), "{said}");
    let (equation, said) = last(REPLACED);
    let fed = "\\operatorname{FFN}(\\operatorname{Norm}(a_i))";
    let expected = format!("a_i = \\Delta_i, \\quad y_i = a_i + ({fed} - a_i)");
    assert_eq!(equation, expected);
    assert!(said.contains("replaces the word's vector"), "{said}");
}

#[test]
fn the_steps_are_said_with_their_numbers() {
    let walk = WalkModel::of(&scaling(), FIRST).expect("a walk");
    let said: Vec<String> = walk.steps.iter().map(StepModel::told).collect();
    assert_eq!(
        said,
        [
            "“the” begins as its static vector of 4 numbers, the same in every sentence.",
            "Nothing is learned here. The query, the key and the value of each word are 4 numbers of its vector.",
            "The query is compared with each key: their entries are multiplied in pairs, and the products are added. q(“the”) · k(“the”) = 2.000, the largest.",
            "Wide vectors give large scores, so divide by √4. No word is hidden. “the” gives “the” the score 1.000.",
            "Subtract the largest score, 1.000, from each score, exponentiate, and divide by the total, 2.368. The weights sum to 1. “the” looks at “the” 0.422, “sat” 0.422, “cat” 0.155.",
            "Multiply each value by its weight, and add up the results. The sum is the mix, a vector of 4 numbers. mix(“the”) = 0.422 v(“the”) + 0.422 v(“sat”) + 0.155 v(“cat”).",
            "The outputs of the heads are concatenated. Head 1 gives “the” a vector of length 1.447.",
            "“the” moves by 0.846. “the” is nearest to “sat”, both before attention (cosine 0.707) and after it (cosine 0.983).",
        ]
    );
}

#[test]
fn a_head_whose_scores_do_not_count_says_so() {
    let mut kernel = small();
    kernel.apply(Command::Interventions(InterventionCommand::SetHead { head: 0, mode: HeadMode::Uniform }));
    let walk = WalkModel::of(&kernel.snapshot(), FIRST).expect("a walk");
    assert!(walk.step(Step::Softmax).said.contains("every visible word the same weight"));
    kernel.apply(Command::Interventions(InterventionCommand::SetHead { head: 0, mode: HeadMode::Frozen(None) }));
    let walk = WalkModel::of(&kernel.snapshot(), FIRST).expect("a walk");
    assert!(walk.step(Step::Softmax).said.contains("frozen"));
}

#[test]
fn every_form_of_a_model_can_be_walked_through() {
    let mut count = 0;
    for (form, kernel) in forms() {
        let snapshot = kernel.snapshot();
        let Some(model) = &snapshot.model else { continue };
        for head in 0..model.architecture.heads() {
            let walk = WalkModel::of(&snapshot, Focus { head, ..FIRST }).expect("a walk");
            for step in &walk.steps {
                assert!(!step.said.is_empty() && !step.equation.is_empty() && !step.rows.is_empty(), "{form}");
                for row in &step.rows {
                    let is_whole = row.columns != Columns::Keys || row.values.len() == walk.keys.len();
                    assert!(is_whole, "{form} {}", row.label);
                }
            }
        }
        count += 1;
    }
    assert!(count >= 7);
}

#[test]
fn a_path_leads_from_where_a_token_was_to_where_it_came_and_says_why() {
    let snapshot = kernel(APPLE).snapshot();
    for by in [ArrowParts::Word, ArrowParts::Head, ArrowParts::Both] {
        let path = PathModel::of(&snapshot, 0, 0, by).expect("a path");
        assert_tip_to_tail(&path, Tolerance::SINGLE_SUMS);
        let terms = path.arrows.iter().filter(|arrow| arrow.part.is_none());
        assert!(terms.map(|arrow| arrow.length).is_sorted_by(|a, b| a >= b), "the longest first");
    }
    let moves = &snapshot.model.as_ref().expect("a model").sentence.moves[0];
    let shares = moves.word_shares.row(0).iter().sum::<f32>() + moves.parts[0].shares[0];
    assert_close("the shares", shares, 1.0, Tolerance::SINGLE_PASS);
    let why = PathModel::of(&snapshot, 0, 0, ArrowParts::Word).expect("a path").why;
    assert!(why.starts_with("“apple₁” moved by ") && why.contains(" %") && why.contains("the other words"), "{why}");
    assert_eq!(PathModel::of(&snapshot, 99, 0, ArrowParts::Word), None);
}

/// A trained `E` moves away from the static vectors; that is no place's doing.
#[test]
fn a_model_without_positions_speaks_of_none() {
    for positions in ["None", "Distances", "Learned"] {
        let text = format!(
            r#"Lesson(
                id: "trained", title: "Trained", seed: 3,
                corpus: Sentences(["a b c d", "d c b a"]), static_embedding: SkipGram(dim: 6, epochs: 2),
                model: Attention(
                    heads: 2, objective: NextWord, steps: 5, train_embedding: true, positions: {positions},
                ),
                sentences: ["a b c a"],
            )"#
        );
        let walk = WalkModel::of(&kernel(&text).snapshot(), FIRST).expect("a walk");
        let embed = walk.step(Step::Embed);
        let has_positions = positions == "Learned";
        assert_eq!(embed.said.contains("position is added to it"), has_positions, "{positions}: {}", embed.said);
        assert_eq!(embed.equation.contains("P_i"), has_positions, "{positions}: {}", embed.equation);
        let [word, input] = [0, 1].map(|row| &embed.rows[row].values);
        assert_eq!(word == input, !has_positions, "{positions}: x is E's row, and nothing added to it");
    }
}

#[test]
fn a_key_pulls_by_its_score_and_then_by_its_weight() {
    let walk = WalkModel::of(&kernel(APPLE).snapshot(), Focus { query: 10, ..FIRST }).expect("a walk");
    let at = |step: Step| step.index() as f32;
    let (mut negative, mut positive) = (0, 0);
    for key in 0..walk.keys.len() {
        for (step, quantity) in [(Step::Score, Quantity::Product), (Step::Scale, Quantity::Score)] {
            let (score, pull) = (walk.by_key(step, quantity)[key], walk.pull(at(step), key));
            assert!(pull.abs() <= 1.0 && (score < 0.0) == (pull < 0.0), "{score} is {pull}");
            *if score < 0.0 { &mut negative } else { &mut positive } += 1;
        }
        assert_eq!(walk.pull(at(Step::Softmax), key), walk.by_key(Step::Softmax, Quantity::Weight)[key]);
        assert_eq!(walk.pull(at(Step::Project), key), 0.0);
    }
    assert!(negative > 0 && positive > 0, "{negative} negative scores and {positive} others");
    let large = |step| (0..walk.keys.len()).filter(|key| walk.is_large(step, *key)).count();
    assert_eq!([Step::Project, Step::Score, Step::Softmax, Step::Output].map(large), [0, 3, 3, 0]);
}

/// Through all heads, and with `b_O`, they are the whole move of a layer without norms.
#[test]
fn what_the_heads_add_makes_of_the_input_the_output() {
    let walk = WalkModel::of(&kernel(APPLE).snapshot(), Focus { head: 1, ..FIRST }).expect("a walk");
    assert_eq!(walk.added.iter().map(|added| added.own).collect::<Vec<_>>(), [1, 0], "the walk's own head first");
    let row = |quantity| {
        let rows = walk.step(Step::Contextual).rows.iter();
        &rows.clone().find(|row| row.first.quantity == quantity).expect("a row").values
    };
    let bias = walk.step(Step::Output).rows.iter().find(|row| row.label == "b_O").map(|row| row.values.clone());
    let sum: Vec<f32> = (0..row(Quantity::Input).len())
        .map(|entry| {
            let added = walk.added.iter().map(|added| added.row.values[entry]).sum::<f32>();
            row(Quantity::Input)[entry] + added + bias.as_ref().map_or(0.0, |bias| bias[entry])
        })
        .collect();
    assert_close("the output", sum, row(Quantity::Output), Tolerance::SINGLE_PASS);
}

#[test]
fn where_a_head_moves_a_word_farther_than_it_goes_the_last_step_says_what_pulls_it_back() {
    let mut seen = [0, 0];
    for form in ["bias: true", "bias: false, layers: 2", FED] {
        let snapshot = kernel(&formed(form)).snapshot();
        let model = snapshot.model.as_ref().expect("a model");
        for (head, query) in (0..model.architecture.heads()).flat_map(|head| (0..4).map(move |query| (head, query))) {
            let walk = WalkModel::of(&snapshot, Focus { query, head, key: None }).expect("a walk");
            let (block, _, own) = model.architecture.head(head);
            let length = model.sentence.contributions[block].head_lengths[own][query];
            let moved = model.sentence.moves[block].lengths[query];
            let said = &walk.step(Step::Contextual).said;
            let words = format!(
                "By itself, head {} would move the word by {length:.3}; head {} pulls the word back.",
                own + 1,
                2 - own
            );
            let is_said = form != FED && length > moved + 0.001;
            assert_eq!(said.contains(&words), is_said, "{form}, head {head} by {length} of {moved}: {said}");
            assert_eq!(said.contains("pulls the word back"), is_said, "{said}");
            seen[usize::from(is_said)] += 1;
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn arrows_are_of_heads_where_there_are_several_and_have_the_hues_of_their_places_in_the_layer() {
    let snapshot = Arc::new(kernel(&formed("layers: 2")).snapshot());
    let path = |head, by| PathModel::make(&snapshot, &(1, head, by), None).expect("a path");
    for head in 0..4 {
        let owns: Vec<usize> = path(head, None).arrows.iter().filter_map(|arrow| arrow.own).collect();
        assert!(owns.len() == 2 && owns.contains(&0) && owns.contains(&1), "{owns:?} in the layer of head {head}");
        assert_eq!((path(head, None).by, path(head, Some(ArrowParts::Word)).by), (ArrowParts::Head, ArrowParts::Word));
        let walk = WalkModel::of(&snapshot, Focus { query: 1, head, key: None }).expect("a walk");
        assert_eq!(walk.own, head % 2);
    }
    let one = Arc::new(scaling());
    assert_eq!(PathModel::make(&one, &(0, 0, None), None).expect("a path").by, ArrowParts::Word);
    assert_eq!(PathModel::make(&one, &(0, 9, None), None), None);
    let attention = AttentionMaps::of(&snapshot).expect("a model");
    assert_eq!(attention.heads.iter().map(|map| map.own).collect::<Vec<_>>(), [0, 1, 0, 1]);
    let what_if = WhatIfModel::of(&snapshot).expect("a model");
    assert_eq!(what_if.heads.iter().map(|head| head.own).collect::<Vec<_>>(), [0, 1, 0, 1]);
}

#[test]
fn the_values_that_a_query_takes_most_of_are_those_with_the_largest_weights() {
    let snapshot = kernel(APPLE).snapshot();
    let walk = WalkModel::of(&snapshot, FIRST).expect("a walk");
    let weights = values(&walk, Step::Softmax, "weight");
    let mut sorted = weights.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(walk.carried.iter().map(|carried| carried.weight).collect::<Vec<_>>(), sorted[..3]);
    let head = &snapshot.model.as_ref().expect("a model").sentence.activations.blocks[0].heads[0];
    for carried in &walk.carried {
        assert_eq!((weights[carried.key], &carried.value.values[..]), (carried.weight, head.value.row(carried.key)));
    }
}

/// Of a word that is there twice the one that moves most is followed, or the occurrence that is asked for.
#[test]
fn a_word_that_is_wanted_twice_is_its_second_occurrence() {
    let route = RouteModel::of(&kernel(&formed("layers: 1")).snapshot()).expect("a model");
    let wanted = |words: &[&str]| route.word(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!([wanted(&["a", "a"]), wanted(&["b", "a"]), wanted(&["c", "c"])], [Some(3), Some(1), Some(2)]);
    assert!([Some(0), Some(3)].contains(&wanted(&["a"])));
}

#[test]
fn the_partners_of_a_step_are_the_other_words_with_its_largest_numbers() {
    let walk = WalkModel::of(&kernel(APPLE).snapshot(), Focus { query: 0, head: 0, key: None }).expect("a walk");
    for (step, quantity) in
        [(Step::Score, Quantity::Product), (Step::Scale, Quantity::Score), (Step::Mix, Quantity::Weight)]
    {
        let numbers = walk.by_key(if step == Step::Mix { Step::Softmax } else { step }, quantity);
        let partners = walk.partners(step);
        assert_eq!(partners.len(), 3, "{step:?}");
        assert!(!partners.contains(&walk.focus.query));
        let least = partners.iter().map(|key| numbers[*key]).fold(f32::INFINITY, f32::min);
        let is_other = |key: &usize| !partners.contains(key) && *key != walk.focus.query;
        assert!((0..numbers.len()).filter(is_other).all(|key| numbers[key] <= least), "{step:?}: {partners:?}");
    }
    assert_eq!(walk.partners(Step::Embed), [0; 0], "no word looks at another yet");
}
