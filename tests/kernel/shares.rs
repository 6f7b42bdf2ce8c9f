//! The share of what is drawn that the axes show: in every picture the one that a plain computation gives.

use attune_core::kernel::command::{Axis, SenseCommand};
use attune_core::kernel::sentence_pass::senses::{SenseList, SenseSentence};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::axes::{StageShares, captions, percent};
use attune_view::view_model::stage::StageModel;

use crate::common::close::{Tolerance, assert_close};
use crate::common::commands::{REFIT, axis, beside, head, set};
use crate::common::lessons::{SMALL, form, formed, kernel, lesson, with};
use crate::common::shares::{Rows, centred, check, row, share};

fn after(commands: &[Command]) -> Snapshot {
    let mut kernel = with(commands);
    kernel.settle();
    kernel.snapshot()
}

#[test]
fn shares_are_those_of_what_is_drawn_for_every_kind_of_axes() {
    let skewed = [axis(Axis::X, "mineral", "animal"), axis(Axis::Z, "stone", "seal, duck")];
    let refit = [REFIT];
    let second = [beside("a seal is happy")];
    let turned = [set(TensorName::ValueWeights, 0, 0, 4.0), head(0, HeadMode::Off)];
    check("principal components", &after(&[]));
    check("chosen axes", &after(&skewed));
    check("a refit", &after(&refit));
    check("chosen axes and a refit", &after(&[&skewed[..], &refit].concat()));
    check("a second sentence", &after(&second));
    check("weights turned", &after(&turned));
    check("all of it", &after(&[&second[..], &turned, &skewed, &refit].concat()));
    check("a table that is trained", &kernel(&formed("train_embedding: true, readout: Linear")).snapshot());
}

#[test]
fn vectors_of_few_dimensions_are_shown_whole_in_space() {
    let text = r#"Lesson(
        id: "flat", title: "Flat", seed: 1,
        corpus: Sentences(["a b c", "c a b"]),
        static_embedding: Given({"a": [1, 0, 1], "b": [0, 2, 3], "c": [3, 3, 1]}),
        model: Attention(heads: 1, objective: MaskedWord, steps: 0),
        sentences: ["a b c"],
    )"#;
    let snapshot = Kernel::trained(lesson(text)).snapshot();
    check("the dimensions themselves", &snapshot);
    let shares = StageShares::of(&snapshot);
    let all: Vec<f32> = shares.shown(1.0, None).iter().map(|(_, share)| *share).collect();
    assert_close("everything", &all, vec![1.0; all.len()], Tolerance::SINGLE);
    assert!(shares.shown(1.0, Some(2)).iter().any(|(_, share)| *share < 0.99));
}

#[test]
fn each_layer_has_shares_of_its_own_and_the_layers_of_a_source_move_nothing() {
    let snapshot = form("decoder").snapshot();
    let model = snapshot.model.as_ref().expect("a model");
    let tokens = &model.shares;
    let blocks = model.sentence.activations.blocks.len();
    let sources = model.architecture.source_blocks.len();
    assert_eq!((tokens.states.len(), tokens.moves.len()), (blocks + 1, blocks));
    assert!(tokens.moves[..sources].iter().all(Option::is_none) && tokens.moves[sources..].iter().all(Option::is_some));
    let space = snapshot.space.as_ref().expect("a space");
    let axes = [0, 1, 2].map(|axis| row(space.projection.axis(axis)));
    for (layer, block) in model.sentence.activations.blocks.iter().enumerate().skip(sources) {
        let output: Rows = (0..block.output.rows()).map(|token| row(block.output.row(token))).collect();
        let mut shares = StageShares::of(&snapshot);
        shares.layer = Some(layer);
        for (flat_along, seen) in [(None, &axes[..]), (Some(2), &axes[..2])] {
            let shown = shares.shown(1.0, flat_along);
            let state =
                shown.iter().find(|(name, _)| ["states", "outputs"].contains(name)).expect("the tokens' states");
            assert_eq!(state.0, if layer + 1 == blocks { "outputs" } else { "states" });
            assert_close(format!("layer {layer}"), state.1, share(&centred(&output), seen), Tolerance::SINGLE_SUMS);
        }
    }
}

#[test]
fn the_points_of_senses_have_shares_of_their_own() {
    let sentence = |text: &str| SenseSentence { text: text.to_owned(), sense: None };
    let list = SenseList {
        word: "seal".to_owned(),
        sentences: ["the seal sank", "a seal is happy", "the seal swam"].map(sentence).to_vec(),
    };
    let mut kernel = kernel(SMALL);
    kernel.apply(Command::Senses(SenseCommand::Replace(list)));
    kernel.apply(Command::Senses(SenseCommand::Show(true)));
    kernel.settle();
    let snapshot = kernel.snapshot();
    let senses = &snapshot.model.as_ref().expect("a model").senses;
    assert_eq!(senses.shares.states.len(), senses.points.len());
    assert_eq!(senses.shares.states[0], None, "one word has one static vector");
    assert!(senses.shares.whole.is_some());
}

#[test]
fn the_caption_says_what_is_shown_where_there_is_little_room_too() {
    let shown = vec![("words", 0.22), ("outputs", 0.3), ("moves", 0.998)];
    let all = captions(&shown, true);
    assert_eq!(
        all[0],
        "2D shows 22\u{a0}% of the words' variance, 30\u{a0}% of the outputs' and >99\u{a0}% of the moves, so points \
         that look close may be far apart. The numbers use all dimensions."
    );
    for text in &all {
        assert!(
            text.contains("22\u{a0}%")
                && text.contains("30\u{a0}%")
                && (text.contains("far apart") || text.contains("mislead")),
            "{text}"
        );
    }
    let much = captions(&[("words", 0.9)], false);
    assert_eq!(much[0], "3D shows 90\u{a0}% of the words' variance. The numbers use all dimensions.");
    assert!(all.iter().chain(&much).collect::<Vec<_>>().windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(
        [1.0, 0.9999, 0.996, 0.994, 0.004, 0.0].map(percent).map(|text| text.replace('\u{a0}', " ")),
        ["100 %", ">99 %", ">99 %", "99 %", "<1 %", "0 %"]
    );
}

#[test]
fn the_stage_has_the_shares_of_its_points() {
    let snapshot = after(&[]);
    let stage = StageModel::of(&snapshot).expect("a space");
    assert_eq!(stage.shares, StageShares::of(&snapshot));
    let [word, ..] = &stage.shares.shown(0.0, Some(2))[..] else { panic!("the words are drawn") };
    assert!(word.1 < stage.shares.shown(0.0, None)[0].1, "2D shows less than 3D");
}
