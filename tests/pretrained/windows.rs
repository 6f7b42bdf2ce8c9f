//! Masks over layers with windows: a click changes one pair, in every layer, and nothing else.

use std::fs;
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Lesson;
use attune_engine::numerics::attention::{Edge, Mask, MaskBase, MaskTable};
use attune_engine::numerics::model::activations::Interventions;
use attune_view::view_model::what_if::WhatIfModel;

use crate::common::commands::toggle;
use crate::common::folder::Folder;
use crate::common::lessons::{model, of_file};
use crate::common::top::at;

/// Fixtures with windows: of all layers, of some, and of some layers that look ahead too.
const FAMILIES: [&str; 5] = ["mistral-window", "gemma2-wild", "gemma3-wild", "neo-wild", "modernbert-wild"];

/// Who sees whom in each layer: by the scores, of which those of hidden pairs are −∞.
fn seen(model: &ModelSnapshot) -> Vec<Vec<bool>> {
    let blocks = &model.sentence.activations.blocks;
    blocks.iter().map(|block| block.heads[0].scores.flat().iter().map(|score| score.is_finite()).collect()).collect()
}

/// The pairs in which a layer differs.
fn differing(before: &[bool], after: &[bool], tokens: usize) -> Vec<(usize, usize)> {
    let at = |at: usize| (at / tokens, at % tokens);
    (0..before.len()).filter(|&pair| before[pair] != after[pair]).map(at).collect()
}

fn intervene(kernel: &mut Kernel, command: InterventionCommand) {
    kernel.apply(Command::Interventions(command));
}

/// A lesson with a window, and the fixtures, each with more words than any window reaches.
fn kernels(folder: &Folder) -> Vec<(String, Kernel)> {
    let now = Kernel::trained(Arc::new(of_file("lessons/now.ron")));
    let family = |name: &str| {
        let lesson = of_file(format!("tests/fixtures/pretrained/{name}"));
        let mut kernel = Kernel::embedded(Arc::new(lesson));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![5, 17, 5, 40, 9, 21, 33, 7, 8])));
        (name.to_owned(), kernel)
    };
    let own = [("now".to_owned(), now), ("windows first".to_owned(), with_windows_first(folder))];
    own.into_iter().chain(FAMILIES.map(family)).collect()
}

/// A model that looks ahead, with a window in its first layer and none in others: the config of ModernBERT allows it.
fn with_windows_first(folder: &Folder) -> Kernel {
    const OWN: &str = "tests/fixtures/pretrained/modernbert-wild";
    let config = fs::read_to_string(at(OWN).join("config.json")).expect("a config");
    let kinds = config.split_once("\"full_attention\"").expect("the first layer's kind");
    fs::write(folder.file("config.json"), format!("{}\"sliding_attention\"{}", kinds.0, kinds.1)).expect("a config");
    fs::copy(at(OWN).join("model.safetensors"), folder.file("model.safetensors")).expect("weights");
    let mut kernel = Kernel::embedded(Arc::new(of_file(&folder.0)));
    kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![5, 17, 5, 40, 9, 21, 33, 7, 8])));
    kernel
}

#[test]
fn a_click_on_the_mask_changes_one_pair_of_each_layer() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        assert_eq!(kernel.notice(), None, "{name}");
        let tokens = model(&kernel).sentence.tokens.len();
        let mut hidden = 0;
        for (query, key) in (0..tokens).flat_map(|query| (0..tokens).map(move |key| (query, key))) {
            let before = seen(&model(&kernel));
            kernel.apply(toggle(query, key));
            let after = seen(&model(&kernel));
            hidden += before.iter().filter(|layer| !layer[query * tokens + key]).count();
            for (layer, (before, after)) in before.iter().zip(&after).enumerate() {
                // A layer that has what is asked for already stays as it is.
                let changed = differing(before, after, tokens);
                assert!(changed.iter().all(|pair| *pair == (query, key)), "{name}, layer {layer}: {changed:?}");
            }
            let first = differing(&before[0], &after[0], tokens);
            assert_eq!(first, [(query, key)], "{name}");
            // Every second change stays, so that the next click meets a mask.
            if (query + key) % 2 == 0 {
                kernel.apply(toggle(query, key));
                assert_eq!(seen(&model(&kernel)), before, "{name}: the second click takes the first one back");
            }
        }
        assert!(hidden > 0, "{name} hides nothing");
    }
}

/// Masks in place of the layers' own, as the panel and commands set them; the panel's first shows the words of the
/// masks.
fn masks_of_the_learner(tokens: usize) -> [Mask; 5] {
    let causal = |query: usize, key: usize| key <= query;
    let table =
        |sees: fn(usize, usize) -> bool, base| Mask::custom(MaskTable::from_fn(tokens, tokens, sees).over(base));
    [
        Mask::None,
        Mask::Causal,
        table(causal, MaskBase::Causal),
        table(|_, _| true, MaskBase::None),
        table(|query, key| query == key, MaskBase::Hidden),
    ]
}

#[test]
fn a_click_on_a_mask_of_the_learner_changes_one_pair_of_each_layer() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        let tokens = model(&kernel).sentence.tokens.len();
        for mask in masks_of_the_learner(tokens) {
            for (query, key) in (0..tokens).flat_map(|query| (0..tokens).map(move |key| (query, key))) {
                intervene(&mut kernel, InterventionCommand::SetMask(Some(mask.clone())));
                let before = seen(&model(&kernel));
                kernel.apply(toggle(query, key));
                let after = seen(&model(&kernel));
                for (layer, (before, after)) in before.iter().zip(&after).enumerate() {
                    let changed = differing(before, after, tokens);
                    assert!(
                        changed.iter().all(|pair| *pair == (query, key)),
                        "{name}, {mask}, layer {layer}: {changed:?}"
                    );
                }
                assert_eq!(differing(&before[0], &after[0], tokens), [(query, key)], "{name}, {mask}");
                kernel.apply(toggle(query, key));
                assert_eq!(seen(&model(&kernel)), before, "{name}, {mask}: the second click takes the first one back");
            }
        }
    }
}

#[test]
fn causal_and_only_itself_hide_their_pairs_in_every_layer() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        let tokens = model(&kernel).sentence.tokens.len();
        let [_, _, causal, _, itself] = masks_of_the_learner(tokens);
        for mask in [causal, itself] {
            intervene(&mut kernel, InterventionCommand::SetMask(Some(mask.clone())));
            for (layer, seen) in seen(&model(&kernel)).iter().enumerate() {
                let opened = (0..seen.len()).find(|&at| seen[at] && !mask.sees(at / tokens, at % tokens));
                assert_eq!(opened, None, "{name}, {mask}, layer {layer}");
            }
        }
    }
}

/// The pair of the last word and the first, which every window of the tests hides.
fn far(kernel: &Kernel) -> (usize, usize) {
    (model(kernel).sentence.tokens.len() - 1, 0)
}

#[test]
fn an_edge_that_a_window_hides_is_refused() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        let (query, key) = far(&kernel);
        let own = model(&kernel);
        for (layer, seen) in seen(&own).iter().enumerate() {
            let head = own.architecture.heads_of(layer).start;
            let edge = Edge { head, query, key };
            intervene(&mut kernel, InterventionCommand::SetEdge { edge, is_removed: true });
            let is_seen = seen[query * own.sentence.tokens.len() + key];
            let refusal = (!is_seen).then(|| "the mask or the window already hides this word".to_owned());
            assert_eq!(kernel.notice().map(str::to_owned), refusal, "{name}, layer {layer}");
            intervene(&mut kernel, InterventionCommand::Reset);
        }
    }
}

#[test]
fn a_mask_that_is_causal_or_none_leaves_the_windows() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        let tokens = model(&kernel).sentence.tokens.len();
        let architecture = model(&kernel).architecture;
        for mask in [Mask::None, Mask::Causal] {
            intervene(&mut kernel, InterventionCommand::SetMask(Some(mask.clone())));
            for (layer, (seen, block)) in seen(&model(&kernel)).iter().zip(&architecture.blocks).enumerate() {
                let is_right = |at: usize, sees: bool| {
                    let (query, key) = (at / tokens, at % tokens);
                    sees == (mask.sees(query, key) && block.attention.window.sees(query, key))
                };
                let wrong = seen.iter().enumerate().find(|(at, sees)| !is_right(*at, **sees));
                assert_eq!(wrong, None, "{name}, layer {layer}, {mask}");
            }
        }
    }
}

#[test]
fn the_panel_and_the_code_show_what_the_first_layer_sees() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        let tokens = model(&kernel).sentence.tokens.len();
        let nothing = MaskTable::from_fn(tokens, tokens, |query, key| query == key);
        for command in [
            InterventionCommand::ResetMask,
            InterventionCommand::ToggleMask { query: tokens - 1, key: 0 },
            InterventionCommand::SetMask(Some(Mask::Causal)),
            InterventionCommand::SetMask(Some(Mask::custom(nothing))),
        ] {
            intervene(&mut kernel, command.clone());
            let snapshot = kernel.snapshot();
            let panel = WhatIfModel::of(&snapshot).expect("a model").mask.now;
            assert_eq!(panel, seen(&model(&kernel))[0], "{name}, {command:?}");
        }
    }
}

#[test]
fn what_was_changed_in_windows_opens_as_it_was_left() {
    for (name, mut kernel) in kernels(&Folder::new("windows")) {
        let (query, key) = far(&kernel);
        let tokens = model(&kernel).sentence.tokens.len();
        if !seen(&model(&kernel))[0][query * tokens + key] {
            kernel.apply(toggle(query, key));
        }
        let edge = Edge { head: 0, query, key };
        intervene(&mut kernel, InterventionCommand::SetEdge { edge, is_removed: true });
        assert_eq!(kernel.notice(), None, "{name}: it is seen now");
        for hides in [false, true] {
            // The edge is hidden again, and stays removed for the next time that it is seen.
            if hides {
                kernel.apply(toggle(query, key));
            }
            let left: Interventions<f32> = Interventions::clone(&model(&kernel).interventions);
            let saved = Saved::of(&kernel.snapshot());
            let lesson = Arc::new(Lesson::clone(&kernel.snapshot().lesson));
            let mut opened = Kernel::open(lesson, Some(saved));
            opened.settle();
            assert_eq!(*model(&opened).interventions, left, "{name}, {hides}: {:?}", opened.snapshot().report);
        }
    }
}
