//! Every panel on every recorded fixture: it shows what was recorded, or says what it needs.

use std::path::PathBuf;
use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson;
use attune_core::lesson::panels::PanelName;
use attune_engine::quantity::{Entry, Quantity};
use attune_view::explain::Explanation;
use attune_view::explain::walk::{Focus, RouteModel, WalkModel};
use attune_view::panels::{PANELS, sheet};
use attune_view::sheet::Chosen;
use attune_view::view_model::Models;
use attune_view::view_model::heads::{AllHeadsModel, HeadMeasure};
use attune_view::view_model::meaning::NeighboursModel;
use attune_view::view_model::needs::{Needs, needs};
use attune_view::view_model::pieces::WordArcs;
use attune_view::view_model::recorded::RecordingModel;
use attune_view::view_model::sentence_arcs::SentenceArcs;
use attune_view::view_model::stage::StageModel;
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::top::at;

const FOLDERS: [&str; 9] =
    ["attention-only", "bert", "llama-gqa", "senses", "sinks", "t5", "vit", "with-proof", "wrong-proof"];

fn folder(name: &str) -> PathBuf {
    at("tests/fixtures/recordings").join(name)
}

fn kernel(name: &str) -> Kernel {
    let lesson = lesson::read(&folder(name).join("run.safetensors")).expect("a recording");
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    kernel.settle();
    kernel
}

/// The snapshot of each text.
fn snapshots(name: &str) -> Vec<Arc<Snapshot>> {
    let mut kernel = kernel(name);
    let texts = kernel.snapshot().lesson.sentences.len();
    let of = |text| {
        kernel.apply(Command::Sentence(SentenceCommand::Select(text)));
        kernel.settle();
        Arc::new(kernel.snapshot())
    };
    (0..texts).map(of).collect()
}

#[test]
fn every_panel_shows_what_was_recorded_or_says_what_it_needs() {
    for name in FOLDERS {
        for snapshot in snapshots(name) {
            let models = Models::of(snapshot.clone());
            for &(panel, _) in PANELS {
                let text = format!("{:?}", sheet(panel, &models, &Chosen::default()).items);
                assert!(!text.contains("NaN"), "{name}, {panel:?}: {text}");
                if let Some(needs) = needs(panel, &snapshot) {
                    assert!(text.contains(&needs.words().escape_debug().to_string()), "{name}, {panel:?}: {text}");
                }
            }
            assert_eq!(needs(PanelName::Weights, &snapshot), Some(Needs::Model));
            assert_eq!(needs(PanelName::Attention, &snapshot), None);
        }
    }
}

#[test]
fn the_stage_the_arcs_and_the_walk_are_made_of_every_recording() {
    for name in FOLDERS {
        for snapshot in snapshots(name) {
            let models = Models::of(snapshot.clone());
            let model = snapshot.model.as_ref().expect("a model");
            models.get::<StageModel>().expect("a stage");
            models.get::<SentenceArcs>().expect("arcs");
            models.get::<WordArcs>();
            models.get::<NeighboursModel>();
            let route = models.get::<RouteModel>().expect("a route");
            for layer in 0..route.layers.len() {
                for token in 0..model.sentence.tokens.len() {
                    let Some(head) = route.head(layer, token) else { continue };
                    WalkModel::of(&snapshot, Focus { ..route.focus(token, head, None) });
                }
            }
        }
    }
}

#[test]
fn measures_are_those_of_the_second_reader() {
    let named = [
        (HeadMeasure::Previous, "previous"),
        (HeadMeasure::Same, "same"),
        (HeadMeasure::Next, "next"),
        (HeadMeasure::First, "first"),
        (HeadMeasure::Entropy, "entropy"),
        (HeadMeasure::Distance, "distance"),
    ];
    for name in FOLDERS {
        let expected: Value =
            serde_json::from_slice(&std::fs::read(folder(name).join("expected.json")).expect("a file")).expect("JSON");
        let texts = expected.as_array().cloned().unwrap_or_else(|| vec![expected]);
        for (snapshot, expected) in snapshots(name).into_iter().zip(texts) {
            let pass = snapshot.model.as_ref().and_then(|model| model.recorded.clone()).expect("a recording");
            let models = Models::of(snapshot);
            let all = models.get::<AllHeadsModel>().expect("heads");
            let mut head = 0;
            for block in 0..pass.blocks.len() {
                let tensor = pass.tensor(block, attune_engine::recording::parts::Part::Attentions).expect("a name");
                let key = tensor.rsplit('/').next().expect("a name").replace("attentions.", "");
                let layer = &expected["layers"][&key];
                for own in 0..layer["heads"].as_u64().expect("a count") as usize {
                    for (measure, name) in named {
                        let Some(found) = all.content.heads[head].measure(measure) else { continue };
                        let is_grid = measure == HeadMeasure::Distance && layer.get("grid_distance").is_some();
                        let name = if is_grid { "grid_distance" } else { name };
                        let wanted = layer[name][own].as_f64().expect("a number");
                        let (of, size) = (format!("{tensor}, {own}, {name}"), wanted.abs().max(1.0));
                        assert_close_beside(size, of, found, wanted, Tolerance::SINGLE_PASS);
                    }
                    head += 1;
                }
            }
        }
    }
}

#[test]
fn the_line_says_which_attention_does_not_follow_from_its_queries_and_keys() {
    for name in FOLDERS {
        let snapshot = kernel(name).snapshot();
        let model = RecordingModel::of(&snapshot).expect("a line");
        assert_eq!(model.is_wrong, name == "wrong-proof", "{name}: {}", model.check);
        assert_eq!(model.check.contains("attentions.1"), name == "wrong-proof", "{name}: {}", model.check);
        assert_eq!(model.stretch, None);
    }
}

#[test]
fn the_card_of_a_number_ends_at_the_tensor_of_the_file() {
    let snapshot = kernel("bert").snapshot();
    let formula = |entry: Entry| Explanation::of(&snapshot, entry).expect("it is there").symbols;
    assert!(!formula(Quantity::Weight.of_head(4, [1, 2])).contains("attentions"), "the softmax of its scores");
    assert!(formula(Quantity::Query.of_head(0, [1, 2])).contains("queries.0"));
    let without = kernel("attention-only").snapshot();
    assert!(Explanation::of(&without, Quantity::Query.of_head(0, [1, 2])).is_none(), "it was not recorded");
    assert!(Explanation::of(&without, Quantity::Score.of_head(0, [1, 0])).is_none(), "it was not recorded");
    let weight = Explanation::of(&without, Quantity::Weight.of_head(0, [1, 0])).expect("it was recorded");
    assert!(weight.symbols.contains("attentions.0"));
    let wrong = kernel("wrong-proof").snapshot();
    let weight = Explanation::of(&wrong, Quantity::Weight.of_head(4, [1, 2])).expect("it was recorded");
    assert!(weight.symbols.contains("attentions.1"), "it does not follow from its scores: {}", weight.symbols);
}
