//! What each layer would answer, and what an answer is the sum of.

use std::collections::BTreeMap;
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::snapshot::answers::{layer_answers, terms_of};
use attune_core::kernel::static_embedding::network;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::{Interventions, Patch};
use attune_engine::numerics::model::attribution::{NoSum, TermOf};
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel, Sequences};
use attune_view::view_model::answers::{AttributionModel, LensModel};

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::lessons::form;
use crate::common::top::at;
use crate::opened::{ALL, opened, running};
use crate::written::fixture;

const IDS: [usize; 6] = [2, 45, 311, 7, 599, 45];

fn shown(name: &str) -> Snapshot {
    let mut kernel = running(&opened(&fixture(name)));
    kernel.apply(Command::Sentence(SentenceCommand::Ids(IDS.to_vec())));
    kernel.snapshot()
}

#[test]
fn a_lens_shows_what_the_model_would_answer_if_it_ended_there() {
    for name in ALL {
        let snapshot = shown(name);
        let (space, model) = (snapshot.space.as_deref().expect("vectors"), snapshot.model.as_ref().expect("a model"));
        let whole = network(&model.made_of, space);
        for token in 0..IDS.len() {
            let layers = layer_answers(&snapshot, token).expect("answers");
            assert_eq!(layers.len(), model.architecture.blocks.len() + 1);
            assert_eq!(layers.last(), Some(&model.sentence.answers.likeliest[token]), "{name}: the answer itself");
            for (count, answers) in layers.iter().enumerate().skip(1) {
                // The same model without the layers behind.
                let blocks = model.architecture.blocks[..count].to_vec();
                let architecture = Architecture { blocks, ..model.architecture.clone() };
                let cut = AttentionModel::new(architecture, whole.embedding.clone(), whole.classes.clone());
                let sentence = Sequences::one(&IDS);
                let pass = Activations::of(&cut, &model.parameters, &sentence, None, &Interventions::default());
                let logits = cut.logits_of(&model.parameters, &pass.output);
                let mut shares: Vec<f64> = logits.row(token).iter().map(|z| f64::from(*z).exp()).collect();
                let sum: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= sum);
                for answer in answers {
                    let (of, share) = (format!("{name}: layer {count}"), shares[answer.class]);
                    assert_close_beside(1.0, of, answer.probability, share, Tolerance::SINGLE_PASS);
                }
                let best = shares.iter().copied().fold(0.0, f64::max);
                assert_close(format!("{name}: layer {count}"), answers[0].probability, best, Tolerance::LIBRARY);
            }
        }
    }
}

#[test]
fn at_the_last_layer_the_lens_is_the_output_bit_for_bit() {
    for name in ALL {
        let snapshot = shown(name);
        let (space, model) = (snapshot.space.as_deref().expect("vectors"), snapshot.model.as_ref().expect("a model"));
        let network = network(&model.made_of, space);
        let last = &model.sentence.activations.blocks.last().expect("a block").output;
        let seen = network.lens(&model.parameters, (**last).clone());
        assert_eq!(seen, model.sentence.answers.logits, "{name}");
    }
}

#[test]
fn the_terms_of_an_answer_add_up_to_its_logit() {
    let decoder = form("decoder").snapshot();
    let plain = form("next_word").snapshot();
    for (name, snapshot) in [
        ("gpt2-wild", shown("gpt2-wild")),
        ("gpt2-default", shown("gpt2-default")),
        ("decoder", decoder),
        ("next_word", plain),
        ("label", form("label").snapshot()),
    ] {
        let model = snapshot.model.as_ref().expect("a model");
        let logits = &model.sentence.answers.logits;
        for token in 0..logits.rows() {
            for class in (0..logits.cols()).step_by(1 + logits.cols() / 7) {
                let terms = terms_of(&snapshot, token, class).expect("a word").expect("a sum");
                let sum: f64 = terms.iter().map(|(_, value)| f64::from(*value)).sum();
                let logit = logits.get(token, class);
                assert_close_beside(logit.abs().max(1.0), name, sum, logit, Tolerance::SINGLE_SUMS);
            }
        }
        let heads = model.architecture.heads() * model.sentence.tokens.len();
        let terms = terms_of(&snapshot, 0, 0).expect("a word").expect("a sum");
        let of_heads = terms.iter().filter(|(of, _)| matches!(of, TermOf::Head { .. })).count();
        assert_eq!(of_heads, heads, "{name}: one for each head and word");
    }
}

/// A training that diverged is no patch.
#[test]
fn vectors_that_are_nan_are_those_of_the_layers_below() {
    let snapshot = shown("gpt2-wild");
    let (space, model) = (snapshot.space.as_deref().expect("vectors"), snapshot.model.as_ref().expect("a model"));
    let mut activations = model.sentence.activations.clone();
    let width = model.architecture.width;
    for block in &mut activations.blocks {
        Arc::make_mut(block).output = Arc::new(Matrix::from_fn(IDS.len(), width, |_, _| f32::NAN));
    }
    for layer in 1..activations.blocks.len() {
        let below = activations.blocks[layer - 1].output.clone();
        Arc::make_mut(&mut activations.blocks[layer]).input = below;
    }
    let terms_of = |patch: Option<&Patch<f32>>| {
        let network = network(&model.made_of, space);
        let contributions = &model.sentence.contributions;
        let terms = network.attribution(&model.parameters, &activations, contributions, patch, (3, 7)).expect("a sum");
        terms.into_iter().map(|(of, _)| of).collect::<Vec<_>>()
    };
    let heads = |terms: &[TermOf]| terms.iter().filter(|of| matches!(of, TermOf::Head { .. })).count();
    let whole = terms_of(None);
    assert!(whole.contains(&TermOf::Input));
    assert_eq!(heads(&whole), model.architecture.heads() * IDS.len());
    let patch = |position| Patch { block: 2, position, from: 0, vector: Some(vec![0.0; width].into()) };
    assert_eq!(terms_of(Some(&patch(2))), whole, "the patch is at another word");
    let patched = terms_of(Some(&patch(3)));
    assert!(patched.contains(&TermOf::Patch { block: 2 }) && !patched.contains(&TermOf::Input));
    assert_eq!(heads(&patched), model.architecture.heads_of(2).len() * IDS.len());
}

#[test]
fn a_head_that_is_off_takes_its_share_with_it() {
    // Of one layer without a norm, where nothing else changes.
    let text = std::fs::read_to_string(at("tests/fixtures/forms/next_word.ron"));
    let replaced = [
        ("layers: 2,", "layers: 1,"),
        ("norm: Pre,", "norm: None,"),
        ("feed_forward: 24,", ""),
        ("head: 2,", "head: 0,"),
    ];
    let text = replaced.iter().fold(text.expect("a lesson"), |text, (from, to)| text.replace(from, to));
    let lesson = attune_core::lesson::parse("a.ron", &text).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let block = &lesson.model.architecture.blocks;
    assert!(
        block.len() == 1
            && block[0].norm == attune_engine::numerics::block::Norm::None
            && block[0].feed_forward.is_none()
    );
    let mut kernel = Kernel::trained(Arc::new(lesson));
    let before = kernel.snapshot();
    let heads = before.model.as_ref().expect("a model").architecture.heads();
    for off in 0..heads {
        let set = |mode| Command::Interventions(InterventionCommand::SetHead { head: off, mode });
        kernel.apply(set(HeadMode::Off));
        let after = kernel.snapshot();
        let logit = |snapshot: &Snapshot, class| {
            snapshot.model.as_ref().expect("a model").sentence.answers.logits.get(1, class)
        };
        for class in 0..before.model.as_ref().expect("a model").classes.len() {
            let mut shares: BTreeMap<usize, f32> = BTreeMap::new();
            for (of, value) in terms_of(&before, 1, class).expect("a word").expect("a sum") {
                if let TermOf::Head { head, .. } = of {
                    *shares.entry(head).or_default() += value;
                }
            }
            let lost = logit(&before, class) - logit(&after, class);
            assert_close_beside(1.0, format!("head {off}"), lost, shares[&off], Tolerance::SINGLE_SUMS);
        }
        kernel.apply(set(HeadMode::Live));
    }
}

#[test]
fn what_is_no_sum_says_why() {
    assert_eq!(terms_of(&shown("bert-wild"), 0, 0), Some(Err(NoSum::Transformed)));
    let said = AttributionModel::of(&shown("bert-wild"), (None, None)).expect("a model").expect_err("no sum");
    assert!(said.starts_with("This model's readout has a nonlinear layer"), "{said}");
    assert_eq!(terms_of(&shown("gpt2-wild"), IDS.len(), 0), None);
    assert!(layer_answers(&shown("gpt2-wild"), IDS.len()).is_none());
    let label = form("label").snapshot();
    assert!(layer_answers(&label, 0).is_none(), "one answer about the whole sentence");
    assert_eq!(terms_of(&form("custom_mask").snapshot(), 0, 0), Some(Err(NoSum::Blocks)));
}

#[test]
fn both_are_read_as_text() {
    let snapshot = form("decoder").snapshot();
    let lens = LensModel::of(&snapshot, None).expect("a lens");
    assert_eq!(lens.title, "What each layer would answer at “three”.");
    let labels: Vec<&str> = lens.layers.iter().map(|layer| layer.label.as_str()).collect();
    assert_eq!(labels, ["before all layers", "layer 1", "layer 2, the answer"]);
    assert!(lens.layers[2].said.starts_with("layer 2, the answer: “four” (probability "), "{}", lens.layers[2].said);
    let answers = &lens.layers[2].answers;
    assert!(answers.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{answers:?}");

    let from = AttributionModel::of(&snapshot, (None, None)).expect("a model").expect("a sum");
    assert_eq!(from.title, "The terms that add up to the logit of “four” at “three” (direct logit attribution).");
    let labels: Vec<&str> = from.layers.iter().map(|share| share.label.as_str()).collect();
    assert_eq!(labels, ["the word and its position", "layer 1", "layer 2", "the readout"]);
    let sum: f32 = from.layers.iter().map(|share| share.value).sum();
    assert_close("the logit", sum, from.logit, Tolerance::SINGLE_SUMS);
    assert_eq!((from.heads.len(), from.looks.len()), (4, 12));
    assert!(from.looks.windows(2).all(|pair| pair[0].value.abs() >= pair[1].value.abs()));
    let said = from.looks[0].said("four");
    assert!(said.starts_with("layer ") && said.contains(" gives “four” "), "{said}");
}
