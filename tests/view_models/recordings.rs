//! Every panel on every recorded fixture: it shows what was recorded, or says what it needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_core::kernel::command::{AxisCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson;
use attune_core::lesson::panels::PanelName;
use attune_engine::numerics::model::Tower;
use attune_engine::quantity::{Entry, Quantity, StagePoint};
use attune_view::explain::Explanation;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::reader::EntryReader;
use attune_view::explain::walk::{Focus, RouteModel, StepModel, WalkModel};
use attune_view::export::recording::file;
use attune_view::panels::{PANELS, sheet};
use attune_view::sheet::Chosen;
use attune_view::view_model::ModelBeside;
use attune_view::view_model::Models;
use attune_view::view_model::attention::{AttentionMaps, Reading};
use attune_view::view_model::compare::CompareModel;
use attune_view::view_model::grid::{PatchMap, PatchPicture};
use attune_view::view_model::heads::{AllHeadsModel, HeadMeasure};
use attune_view::view_model::meaning::NeighboursModel;
use attune_view::view_model::needs::{Needs, needs};
use attune_view::view_model::pieces::WordArcs;
use attune_view::view_model::recorded::RecordingModel;
use attune_view::view_model::sentence_arcs::{Direction, SentenceArcs, ShownArcs, WordAt};
use attune_view::view_model::stage::StageModel;
use attune_view::view_model::two_models::TwoModels;
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::folder::Folder;
use crate::common::recorded::recording_of;
use crate::common::top::at;

const FOLDERS: [&str; 10] =
    ["attention-only", "bert", "llama-gqa", "picture", "senses", "sinks", "t5", "vit", "with-proof", "wrong-proof"];

fn folder(name: &str) -> PathBuf {
    at("tests/fixtures/recordings").join(name)
}

fn kernel(name: &str) -> Kernel {
    kernel_of(&folder(name).join("run.safetensors"))
}

fn kernel_of(path: &Path) -> Kernel {
    let lesson = lesson::read(path).expect("a recording");
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
            for map in &models.get::<AttentionMaps>().expect("maps").heads {
                let lengths = Reading { is_added: true, ..Reading::default() };
                let cell = format!("{} {:?}", map.say(0, 0), map.say_shown(0, 0, lengths));
                let lacks = !model.sentence.contributions[map.block].has_terms();
                assert!(!cell.contains("NaN") && cell.contains(Needs::Terms.words()) == lacks, "{name}: {cell}");
            }
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

/// A part of a recording, its shape, and its numbers.
type Tensor = (&'static str, &'static [usize], Vec<f32>);

/// Entries of the metadata, tensors, and a part of the line about them.
type LineCase<'a> = (&'a [(&'a str, &'a str)], Vec<Tensor>, &'a str);

/// The snapshot of a recording of 4 tokens: two heads that look everywhere alike, and more tensors.
fn made(entries: &[(&str, &str)], more: &[Tensor]) -> Snapshot {
    let mut tensors: Vec<Tensor> = vec![("attentions.0", &[2, 4, 4], vec![0.25; 32])];
    tensors.extend_from_slice(more);
    let (_folder, path) = recording_of(4, entries, &tensors);
    kernel_of(&path).snapshot()
}

fn waves(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at as f32).sin()).collect()
}

/// Queries, keys and values of the two heads.
fn scored() -> Vec<Tensor> {
    ["queries.0", "keys.0", "values.0"].map(|name| (name, &[2, 4, 2][..], waves(16))).to_vec()
}

/// Entries of the first tokens in all heads, and where the tokens stand at first.
fn entries(heads: usize, tokens: usize) -> Vec<Entry> {
    use Quantity::{Coordinate, Exponential, Mix, RowSum, Scale, Score, Weight};
    let of_head = |head: usize| {
        let pair = |at: usize| [at / 2, at % 2];
        let pairs = (0..4).flat_map(move |at| [Score, Exponential, Weight, Mix].map(|of| of.of_head(head, pair(at))));
        pairs.chain([RowSum.of_head(head, [1]), Scale.of_head(head, [])])
    };
    let points = (0..tokens).map(|token| Coordinate.of_point(StagePoint::Static(token), 0));
    (0..heads).flat_map(of_head).chain(points).collect()
}

/// Holds every equation that is printed against its number, and returns the quantities that have one.
fn hold(name: &str, snapshot: &Snapshot) -> Vec<Quantity> {
    let reader = EntryReader::of(snapshot).expect("a model");
    let (heads, tokens) = (reader.model.architecture.heads(), reader.sentence.tokens.len());
    let mut computed = Vec::new();
    for entry in entries(heads, tokens) {
        let (Some(rule), Some(value)) = (reader.rule_of(entry), reader.value(entry)) else { continue };
        let Some(found) = reader.evaluated(&rule).filter(|found| found.is_finite()) else { continue };
        // A weight may have been rounded to 8 bits.
        let size = if entry.quantity == Quantity::Weight { 10.0 } else { 1.0 };
        assert_close_beside(size, format!("{name}, {entry:?}"), found, value, Tolerance::SINGLE_NORMS);
        computed.push(entry.quantity);
    }
    computed
}

#[test]
fn every_printed_equation_of_a_recording_is_true() {
    use Quantity::{Coordinate, Exponential, Mix, RowSum, Score};
    for name in FOLDERS {
        hold(name, &kernel(name).snapshot());
    }
    assert!(hold("bert", &kernel("bert").snapshot()).contains(&Coordinate));
    let with = |part: Tensor| made(&[], &[scored(), vec![part]].concat());
    let plain = hold("plain", &made(&[], &scored()));
    assert!([Score, Exponential, RowSum, Mix].iter().all(|of| plain.contains(of)), "{plain:?}");
    // Each differs between heads, so that no rule of the whole layer has it.
    let scaled = hold("scales", &with(("score_scale.0", &[2], vec![1.0, 3.0])));
    assert!(scaled.contains(&Score), "the first head has the layer's scale");
    hold("caps", &with(("score_cap.0", &[2], vec![1.0, 0.3])));
    let sinks = hold("sinks", &with(("sinks.0", &[2], vec![1.0, -1.0])));
    assert!(!sinks.contains(&RowSum) && sinks.contains(&Score), "{sinks:?}");
}

#[test]
fn no_equation_of_a_stretch_leaves_out_the_keys_that_are_not_shown() {
    const TOKENS: usize = 140;
    let each = [1, TOKENS, 2];
    let mut tensors = vec![("attentions.0", &[1, TOKENS, TOKENS][..], vec![1.0 / TOKENS as f32; TOKENS * TOKENS])];
    tensors.extend(["queries.0", "keys.0", "values.0"].map(|name| (name, &each[..], waves(TOKENS * 2))));
    let (_folder, path) = recording_of(TOKENS, &[], &tensors);
    let computed = hold("stretch", &kernel_of(&path).snapshot());
    assert!(computed.contains(&Quantity::Score) && !computed.contains(&Quantity::Mix), "{computed:?}");
}

/// What each step of a walk lacks, through the last head at the first token.
fn lacks(snapshot: &Snapshot, head: usize) -> Vec<Option<Needs>> {
    let walk = WalkModel::of(snapshot, Focus { query: 0, head, key: None }).expect("a walk");
    let check = |step: &StepModel| {
        assert_eq!(step.needs.map(Needs::words), step.needs.map(|_| step.said.as_str()), "{:?}", step.step);
        assert!(step.needs.is_some() || !step.rows.is_empty(), "{:?} has numbers", step.step);
        assert!(step.rows.iter().all(|row| !row.values.is_empty()), "{:?}", step.step);
        step.needs
    };
    walk.steps.iter().map(check).collect()
}

#[test]
fn a_step_shows_what_was_recorded_and_says_what_it_needs() {
    use Needs::{OtherStates, Scores, States, StatesWithin, Terms, Values};
    let tensor = |name| (name, &[2, 4, 2][..], waves(16));
    let pair = || vec![tensor("queries.0"), tensor("keys.0")];
    let one_state = || ("hidden_states.0", &[4, 4][..], waves(16));
    let of = |missing: [Option<Needs>; 8]| missing.to_vec();
    let none = None;
    let two = of([Some(States), none, none, none, none, Some(Values), Some(Terms), Some(States)]);
    assert_eq!(lacks(&made(&[], &pair()), 1), two);
    let three = of([Some(OtherStates), none, none, none, none, none, Some(Terms), Some(OtherStates)]);
    assert_eq!(lacks(&made(&[], &[scored(), vec![one_state()]].concat()), 1), three);
    let bare = [Some(States), Some(Scores), Some(Scores), Some(Scores), none, Some(Values), Some(Terms), Some(States)];
    assert_eq!(lacks(&kernel("attention-only").snapshot(), 0), of(bare));
    assert_eq!(lacks(&kernel("bert").snapshot(), 0), of([none; 8]));
    // A hybrid, whose layer 1 has no attention.
    let states = [0, 1, 2, 3].map(|at| {
        (["hidden_states.0", "hidden_states.1", "hidden_states.2", "hidden_states.3"][at], &[4, 4][..], waves(16))
    });
    let hybrid = made(&[], &[states.to_vec(), vec![("attentions.2", &[2, 4, 4][..], vec![0.25; 32])]].concat());
    let moves = |head: usize| lacks(&hybrid, head).last().copied().flatten();
    assert_eq!([moves(0), moves(2)], [Some(Needs::NextPoint), none]);
    let titles: Vec<String> = RouteModel::of(&hybrid).expect("a route").layers.into_iter().map(|of| of.title).collect();
    assert_eq!(titles, ["layer 1", "layer 3"]);
    // The decoder of T5: its own attention, then the one to the source.
    let t5 = kernel("t5").snapshot();
    let last = |head: usize| lacks(&t5, head).last().copied().flatten();
    assert_eq!([last(0), last(6), last(9)], [none, Some(StatesWithin), Some(StatesWithin)]);
    assert_eq!([lacks(&t5, 6)[0], lacks(&t5, 9)[0]], [none, Some(StatesWithin)]);
}

#[test]
fn a_move_of_which_no_terms_are_known_is_that_of_everything_else() {
    let state = |name, by: f32| (name, &[4, 4][..], waves(16).iter().map(|x| x * by).collect());
    let snapshot = made(&[], &[state("hidden_states.0", 1.0), state("hidden_states.1", 3.0)]);
    let path = PathModel::of(&snapshot, 1, 0, ArrowParts::Head).expect("a path");
    assert_eq!(path.arrows.len(), 1);
    assert!(path.why.contains("Shares of that move: everything else") && path.why.ends_with("100 %."), "{}", path.why);
}

#[test]
fn heads_that_are_not_measured_yet_are_not_called_without_a_measure() {
    let lesson = lesson::read(&folder("bert").join("run.safetensors")).expect("a recording");
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    let words = |snapshot: Snapshot| {
        let models = Models::of(Arc::new(snapshot));
        let heads = models.get::<AllHeadsModel>().expect("heads").content.clone();
        let sheet = format!("{:?}", sheet(PanelName::AllHeads, &models, &Chosen::default()).items);
        [heads.heads[0].say(HeadMeasure::Previous), sheet].join(" ")
    };
    let before = words(kernel.snapshot());
    assert!(before.contains("not measured yet") && !before.contains("none in this sentence"), "{before}");
    kernel.settle();
    let after = words(kernel.snapshot());
    assert!(!after.contains("not measured yet"), "{after}");
}

#[test]
fn the_first_states_of_a_recording_are_not_called_static() {
    let mut kernel = kernel("senses");
    let second = kernel.snapshot().lesson.sentences[1][0].clone();
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(second))));
    kernel.settle();
    let snapshot = Arc::new(kernel.snapshot());
    let models = Models::of(snapshot.clone());
    let compared = models.get::<CompareModel>().expect("a comparison");
    let near = models.get::<NeighboursModel>().expect("neighbours");
    let shares = models.get::<StageModel>().expect("a stage").shares.shown(0.0, None);
    let sheets = PANELS.iter().map(|(panel, _)| format!("{:?}", sheet(*panel, &models, &Chosen::default()).items));
    let axis = Explanation::of(&snapshot, Quantity::Coordinate.of_point(StagePoint::Static(0), 0)).expect("a card");
    let said = compared.pairs.iter().map(|pair| pair.said.clone()).collect::<Vec<_>>();
    assert!(said[0].contains("before the first layer"), "{said:?}");
    let all = format!("{said:?} {:?} {shares:?} {:?} {}", near.ends, axis.sentences, sheets.collect::<String>());
    let at = all.to_lowercase().find("static ").map(|at| &all[at.saturating_sub(80)..(at + 80).min(all.len())]);
    assert_eq!(at, None);
}

#[test]
fn a_recorded_model_is_equal_to_itself_beside_it() {
    let lesson = lesson::read(&at("tests/fixtures/pretrained/bert-wild")).expect("a model");
    let model = Arc::new(Kernel::embedded(Arc::new(lesson)).snapshot());
    let folder = Folder::new("beside-itself");
    let path = folder.join("run.safetensors");
    file::write(&model, &mut std::fs::File::create(&path).expect("a file")).expect("it is written");
    let recorded = kernel_of(&path).snapshot();
    let compared = TwoModels::of(&recorded, &ModelBeside(model)).expect("both are ready");
    assert_eq!((&compared.refusal, compared.sides.len()), (&None, 1), "{:?}", compared.notes);
    assert_eq!(compared.names, ["bert-wild (here)", "bert-wild (beside)"], "both have one title");
    let [side] = &compared.sides[..] else { panic!("one side") };
    for word in &side.words {
        assert_eq!(word.of[0].looks_at.as_ref().map(|of| &of.0), word.of[1].looks_at.as_ref().map(|of| &of.0));
        assert_close_beside(1.0, &word.label, word.attention.expect("a cosine"), 1.0, Tolerance::SINGLE_SUMS);
    }
    for (layer, row) in side.similarity.iter().enumerate() {
        let alike = row[layer].expect("a similarity");
        assert_close_beside(1.0, layer.to_string(), alike, 1.0, Tolerance::SINGLE_SUMS);
    }
}

/// A recording has no text of its source, so its tokens are compared as they are.
#[test]
fn a_recorded_translator_is_equal_to_itself_on_both_sides() {
    let recorded = kernel("t5").snapshot();
    let compared = TwoModels::of(&recorded, &ModelBeside(Arc::new(recorded.clone()))).expect("both are ready");
    assert_eq!((compared.refusal, compared.sides.len()), (None, 2), "{:?}", compared.notes);
    let model = recorded.model.as_ref().expect("a model");
    for (side, tower) in compared.sides.iter().zip([Tower::Source, Tower::Sentence]) {
        assert_eq!(side.words.len(), model.sentence.tokens_of(tower).len(), "{:?}", side.title);
        assert!(side.words.iter().all(|word| word.of[0] == word.of[1]));
        assert!(side.similarity.iter().enumerate().all(|(layer, row)| row[layer].is_none_or(|alike| alike > 0.999)));
    }
}

#[test]
fn the_picture_lies_under_the_grid_of_its_patches() {
    let snapshot = Arc::new(kernel("picture").snapshot());
    let models = Models::of(snapshot.clone());
    let picture = models.get::<PatchPicture>().expect("a picture");
    assert_eq!((picture.width, picture.height, picture.colors.len()), (48, 32, 48 * 32));
    // The disc is blue, and the ground grows red from left to right.
    assert_eq!(
        [picture.colors[0], picture.colors[47], picture.colors[12 * 48 + 30]],
        [[0, 255, 0], [235, 255, 0], [150, 171, 255]]
    );
    let map = PatchMap::of(&snapshot, (8, 1)).expect("a map");
    assert_eq!((map.rows, map.columns, map.query, map.weights.len()), (4, 6, Some(7), 24));
    let sum = map.weights.iter().sum::<f32>() + map.elsewhere;
    assert_close_beside(1.0, "sum", sum, 1.0, Tolerance::SINGLE_NORMS);
    assert!(PatchMap::of(&snapshot, (0, 1)).expect("a map").query.is_none(), "[CLS] is no patch");
    assert!(Models::of(Arc::new(kernel("vit").snapshot())).get::<PatchPicture>().is_none());
}

#[test]
fn tokens_of_a_picture_have_places_in_it_and_no_poles() {
    for (name, rows, columns) in [("picture", 4, 6), ("vit", 5, 5)] {
        let mut kernel = kernel(name);
        kernel.apply(Command::Axes(AxisCommand::Refit));
        let snapshot = kernel.snapshot();
        let arcs = SentenceArcs::of(&snapshot).expect("weights");
        let places = arcs.patches.as_ref().expect("patches");
        assert_eq!(
            (places.rows, places.columns, places.of_tokens.len()),
            (rows, columns, rows * columns + 1),
            "{name}"
        );
        assert_eq!(places.of_tokens[0], None, "{name}: [CLS] is no patch");
        assert_eq!(places.of_tokens[columns + 2], Some([1, 1]), "{name}");
        // The largest weight has the whole share, whatever it is.
        let layer = arcs.layers.len() - 1;
        let word = WordAt::in_sentence(columns + 2);
        let reading = Reading::default();
        let shares = arcs.shares(&ShownArcs { word, direction: Direction::LooksAt, layer, head: None, reading });
        let largest = shares.iter().flatten().map(|(_, share)| *share).fold(0.0, f32::max);
        assert_eq!((shares.len(), largest), (rows * columns + 1, 1.0), "{name}");
        assert!(snapshot.space.as_ref().expect("a space").basis.meaning().is_none(), "{name}: no two words");
        let heads = Models::of(Arc::new(snapshot)).get::<AllHeadsModel>().expect("heads").content.clone();
        assert_eq!(heads.usual_measure(), HeadMeasure::Distance, "{name}");
        assert!(heads.words(HeadMeasure::Distance).meaning.contains("patches"), "{name}");
    }
    assert!(SentenceArcs::of(&kernel("bert").snapshot()).expect("weights").patches.is_none());
}

#[test]
fn the_line_says_what_was_checked() {
    let second = || ("attentions.1", &[2, 4, 4][..], vec![0.25; 32]);
    let even = |name| (name, &[2, 4, 2][..], vec![0.0; 16]);
    let sinks = |name| (name, &[2][..], vec![0.0; 2]);
    let partial: &[(&str, &str)] = &[("rows", "partial")];
    let cases: [LineCase<'_>; 6] = [
        (&[], vec![even("queries.0"), even("keys.0")], "Checked: 1 attention, the softmax of its own"),
        (&[], vec![even("queries.0"), even("keys.0"), second()], "Checked: 1 of 2 attentions as the softmax"),
        (&[], vec![second()], "Checked: all rows sum as they should; a proof needs queries and keys"),
        (&[], vec![sinks("sinks.0")], "with learned sinks, sums are not checked"),
        (&[], vec![second(), sinks("sinks.0")], "Checked: the rows of 1 of 2 attentions sum as they should"),
        (partial, vec![even("queries.0"), even("keys.0")], "sum to 1 at most (small weights were left out)"),
    ];
    for (entries, more, words) in cases {
        let line = RecordingModel::of(&made(entries, &more)).expect("a line").check;
        assert!(line.contains(words), "{line}");
    }
}

#[test]
fn layers_without_attention_do_not_change_the_numbers_of_the_others() {
    let own = |name| (name, &[2, 4, 4][..], vec![0.25; 32]);
    let states = (0..5).map(|layer| format!("hidden_states.{layer}")).collect::<Vec<_>>();
    let states = states.iter().map(|name| (&name[..], &[4, 4][..], waves(16)));
    let (_folder, path) =
        recording_of(4, &[], &[own("attentions.1"), own("attentions.3")].into_iter().chain(states).collect::<Vec<_>>());
    let models = Models::of(Arc::new(kernel_of(&path).snapshot()));
    let heads = models.get::<AllHeadsModel>().expect("heads").content.clone();
    assert_eq!(heads.layers.iter().map(|layer| &*layer.sign).collect::<Vec<_>>(), ["2", "4"]);
    let route = models.get::<RouteModel>().expect("a route");
    assert_eq!(route.layers.iter().map(|layer| &*layer.sign).collect::<Vec<_>>(), ["2", "4"]);
    for panel in [PanelName::AllHeads, PanelName::Attention] {
        let said = format!("{:?}", sheet(panel, &models, &Chosen::default()).items);
        assert!(said.contains("4·2") && !said.contains("1·2"), "{panel:?}: {said}");
    }
    // Each layer of a decoder has two attentions.
    let t5 = Models::of(Arc::new(kernel("t5").snapshot()));
    let layers = &t5.get::<RouteModel>().expect("a route").layers;
    assert_eq!(
        layers.iter().map(|layer| &*layer.sign).collect::<Vec<_>>(),
        ["s1", "s2", "1", "x1", "2", "x2", "3", "x3"]
    );
}

#[test]
fn the_map_says_that_rows_sum_to_1_where_they_do() {
    let hint = |snapshot: Snapshot| {
        let models = Models::of(Arc::new(snapshot));
        format!("{:?}", sheet(PanelName::Attention, &models, &Chosen::default()).items).contains("sums to 1")
    };
    assert!(hint(made(&[], &[])));
    assert!(!hint(made(&[("rows", "partial")], &[])), "small weights were left out");
    assert!(!hint(made(&[], &[("sinks.0", &[2], vec![0.0; 2])])), "a sink takes a share");
}

#[test]
fn logits_alone_open_with_their_answers() {
    let (_folder, path) = recording_of(4, &[], &[("logits", &[4, 3], waves(12))]);
    let snapshot = Arc::new(kernel_of(&path).snapshot());
    let models = Models::of(snapshot.clone());
    for &(panel, _) in PANELS {
        sheet(panel, &models, &Chosen::default());
    }
    assert_eq!(snapshot.model.as_ref().expect("a model").sentence.answers.likeliest.len(), 4);
    assert_eq!(
        [PanelName::Answers, PanelName::Attention].map(|panel| needs(panel, &snapshot)),
        [None, Some(Needs::Attention)]
    );
}

#[test]
fn hidden_states_that_make_no_points_are_not_called_missing() {
    let one = || ("hidden_states.0", &[4, 4][..], waves(16));
    assert_eq!(needs(PanelName::Stage, &made(&[], &[])), Some(Needs::States));
    assert_eq!(needs(PanelName::Stage, &made(&[], &[one()])), Some(Needs::OtherStates));
}

#[test]
fn the_caption_names_the_final_norm_and_the_stage_is_as_large_as_its_states() {
    let far: Vec<f32> = waves(16).iter().map(|x| x * 50.0).collect();
    let states: [Tensor; 2] = [("hidden_states.0", &[4, 4], waves(16)), ("hidden_states.1", &[4, 4], far)];
    let stage = StageModel::of(&made(&[("final_norm", "applied")], &states)).expect("a stage");
    assert!(stage.about.contains("after the model's final norm"), "{}", stage.about);
    assert!(stage.hides_table, "its words stand where tokens first stood");
    let plain = StageModel::of(&made(&[], &states)).expect("a stage");
    assert!(!plain.about.contains("final norm"), "{}", plain.about);
    // The states of all layers, and not those of the first alone, are the picture's unit.
    assert!(plain.radius > 10.0, "{}", plain.radius);
}
