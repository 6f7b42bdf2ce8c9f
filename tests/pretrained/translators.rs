//! Models with an encoder and a decoder in a session: whose target is on the stage, what changes it, and what is saved.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SenseCommand, SenseList, SenseSentence, SentenceCommand};
use attune_core::kernel::sentence_pass::senses::SenseRow;
use attune_core::kernel::sentence_pass::sentence::TextOrIds;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::Tower;
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::answers::{AnswersModel, AnswersWriting, LensModel};
use attune_view::view_model::attention::Reading;
use attune_view::view_model::heads::{AllHeads, HeadMeasure};
use attune_view::view_model::labels::Side;
use attune_view::view_model::sentence_arcs::SentenceArcs;
use attune_view::view_model::sentences::SentencesModel;
use attune_view::view_model::stage::StageModel;
use attune_view::view_model::tensors::WeightsModel;
use attune_view::view_model::what_if::WhatIfModel;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::models::fixture;
use crate::common::resaved::{open, saved};
use crate::common::top::at;
use crate::opened::{opened, running};

const TRANSLATORS: [&str; 5] = ["t5-wild", "t5v11-wild", "marian-wild", "bart-wild", "mbart-wild"];

fn translator(name: &str) -> Kernel {
    running(&opened(&fixture(name)))
}

#[track_caller]
fn apply(kernel: &mut Kernel, command: SentenceCommand) {
    kernel.apply(Command::Sentence(command));
    assert_eq!(kernel.snapshot().notice, None);
}

fn change(kernel: &mut Kernel, command: InterventionCommand) {
    kernel.apply(Command::Interventions(command));
    assert_eq!(kernel.snapshot().notice, None);
}

fn model(kernel: &Kernel) -> ModelSnapshot {
    kernel.snapshot().model.expect("a model")
}

/// Rows of the source and of the target.
fn words(kernel: &Kernel) -> [Vec<usize>; 2] {
    let sentence = model(kernel).sentence;
    [Tower::Source, Tower::Sentence]
        .map(|tower| sentence.tokens_of(tower).iter().filter_map(|token| token.word).collect())
}

/// What the model wrote stays while heads and weights change, so that the same words are compared; *Writing* writes
/// anew.
#[test]
fn a_target_that_the_model_wrote_stays_until_another_source_comes() {
    for name in TRANSLATORS {
        let mut kernel = translator(name);
        apply(&mut kernel, SentenceCommand::Ids(vec![5, 17, 5, 40]));
        let [source, target] = words(&kernel);
        assert_eq!(source, [5, 17, 5, 40]);
        assert!(target.len() > 1 && !model(&kernel).sentence.has_own_target, "{name}: {target:?}");
        change(&mut kernel, InterventionCommand::SetHead { head: 0, mode: HeadMode::Off });
        assert_eq!(words(&kernel), [source.clone(), target.clone()], "{name}");
        let unchanged = model(&kernel).sentence.unchanged.clone().expect("a comparison");
        assert!(unchanged.moved_most().is_some_and(|token| unchanged.moved(token) > 0.0), "{name}");
        // The same source is no other choice, and undo brings back what was written.
        apply(&mut kernel, SentenceCommand::Ids(vec![7]));
        assert_ne!(words(&kernel)[1], target, "{name}");
        kernel.apply(Command::Undo);
        assert_eq!(words(&kernel), [source, target], "{name}");
    }
}

#[test]
fn an_own_target_is_read_goes_on_and_is_saved() {
    let mut kernel = translator("t5v11-wild");
    let lesson = kernel.snapshot().lesson;
    apply(&mut kernel, SentenceCommand::Set("5 6 7 ||| 8 9".to_owned()));
    assert_eq!(words(&kernel), [vec![5, 6, 7], vec![0, 8, 9]]);
    assert!(model(&kernel).sentence.has_own_target);
    assert_eq!(model(&kernel).sentence.written(), "5 6 7 ||| 8 9");
    assert_eq!(words(&open(lesson.clone(), saved(&kernel))), words(&kernel));
    apply(&mut kernel, SentenceCommand::Generate { count: 3, choice: NextWordChoice::Greedy });
    let AnswersWriting::Can { written: Some(written), .. } =
        AnswersModel::of(&kernel.snapshot(), None).expect("answers").writing
    else {
        panic!("it writes");
    };
    assert_eq!(written.before, " 8 9");
    let generated = model(&kernel).generated.clone().expect("words");
    // Behind the target: the first word is the likeliest answer at its end.
    let likeliest = model(&kernel).sentence.answers.likeliest[2][0].class;
    assert_eq!(generated.words[0].word, Some(likeliest));
    // By ids, which no text has.
    let [source, target] = [vec![5, 6], vec![0, 3]].map(TextOrIds::Ids);
    apply(&mut kernel, SentenceCommand::Pair { source, target });
    assert_eq!(words(&open(lesson, saved(&kernel))), [vec![5, 6], vec![0, 3]]);
}

/// The padding token has the largest logit of this model, and is never written.
#[test]
fn what_is_never_written_has_no_probability() {
    let mut kernel = translator("marian-wild");
    apply(&mut kernel, SentenceCommand::Ids(vec![5, 17, 5, 40]));
    let snapshot = kernel.snapshot();
    let answers = &snapshot.model.as_ref().expect("a model").sentence.answers;
    let padding = 266;
    let wins = |row: &usize| answers.logits.row(*row).iter().all(|z| *z <= answers.logits.get(*row, padding));
    let row = (0..answers.logits.rows()).find(wins).expect("a row in which it would win");
    assert_eq!(answers.probability(row, padding), 0.0);
    assert!(answers.likeliest[row].iter().all(|answer| answer.class != padding));
    let model = AnswersModel::of(&snapshot, None).expect("answers");
    assert_eq!(model.rows[row].never.len(), 1);
    assert!(model.rows[row].never_said().is_some_and(|said| said.contains("never written")));
    let lens = LensModel::of(&snapshot, Some(row)).expect("layers");
    assert!(lens.layers[1].label.contains("self-attention") && lens.layers[2].label.contains("cross-attention"));
}

/// BART's tokenizer has a piece that hides words, but its decoder goes on writing.
#[test]
fn a_translator_is_asked_for_the_next_word_of_its_target() {
    for name in TRANSLATORS {
        let asked = AnswersModel::of(&translator(name).snapshot(), None).expect("answers").question;
        assert_eq!(asked, "Which word comes after each word of the sentence that the model writes?", "{name}");
    }
}

#[test]
fn source_and_target_stand_in_one_space() {
    for name in TRANSLATORS {
        let mut kernel = translator(name);
        apply(&mut kernel, SentenceCommand::Ids(vec![5, 17, 5, 40]));
        let snapshot = kernel.snapshot();
        let stage = StageModel::of(&snapshot).expect("a stage");
        assert_eq!(stage.source.len(), 4, "{name}");
        let finite = |point: [f32; 3]| point.iter().all(|x| x.is_finite());
        assert!(stage.source.iter().all(|word| finite(word.from) && finite(word.to) && word.from != word.to), "{name}");
        // Both axes and points are those of one basis: a word of both sides has one static place.
        let shared = stage.tokens.iter().find_map(|token| {
            let word = snapshot.model.as_ref()?.sentence.tokens[token.position].word?;
            let at = [5, 17, 5, 40].iter().position(|other| *other == word)?;
            Some((token.static_at, stage.source[at].from))
        });
        assert!(shared.is_none_or(|(own, of_source)| own == of_source), "{name}: {shared:?}");
        let heads = AllHeads::of(snapshot.model.as_ref().expect("a model"));
        let measured = |head: usize, measure| heads.heads[head].measure(measure);
        let first_cross = heads.layers.iter().find(|layer| layer.title.contains("ross-attention")).expect("a layer");
        assert!(measured(first_cross.heads.start, HeadMeasure::Aligned).is_some_and(|share| share > 0.0), "{name}");
        assert!(measured(first_cross.heads.start, HeadMeasure::Previous).is_none(), "{name}");
        assert!(measured(0, HeadMeasure::Aligned).is_none() && measured(0, HeadMeasure::Monotony).is_none(), "{name}");
    }
}

#[test]
fn a_vector_of_the_source_is_patched_and_told() {
    let mut kernel = translator("t5v11-wild");
    apply(&mut kernel, SentenceCommand::Set("5 6 7 ||| 8 9".to_owned()));
    apply(&mut kernel, SentenceCommand::SetSecond(Some("9 8 4 ||| 8 9".to_owned())));
    let before = model(&kernel).sentence.activations.clone();
    let patch = Patch { block: 1, position: 2, from: 0, vector: None };
    change(&mut kernel, InterventionCommand::SetPatch(Some(patch)));
    let after = model(&kernel).sentence.activations.clone();
    assert!(Arc::ptr_eq(&before.blocks[0], &after.blocks[0]), "the layer before it is the same");
    assert_ne!(before.output, after.output);
    let told = WhatIfModel::of(&kernel.snapshot()).expect("a model");
    assert!(
        told.said[0].contains("Before layer 2, source, the vector of “7” is replaced by that of “9”"),
        "{:?}",
        told.said
    );
    let far = Patch { block: 1, position: 3, from: 0, vector: None };
    kernel.apply(Command::Interventions(InterventionCommand::SetPatch(Some(far))));
    let notice = kernel.snapshot().notice.expect("a refusal");
    assert!(notice.contains("the sentence has 3 tokens, so there is no token 4"), "{notice}");
}

/// T5's distances: one slider moves the scores of all layers of its tower, and of the other none.
#[test]
fn one_table_of_distances_moves_all_layers_of_its_tower() {
    let mut kernel = translator("t5-wild");
    apply(&mut kernel, SentenceCommand::Ids(vec![5, 17, 5, 40]));
    let before = model(&kernel);
    let sources = before.architecture.source_blocks.len();
    let tables = before.parameters.specs().iter().filter(|spec| spec.id.name == TensorName::DistanceBias);
    assert_eq!(tables.map(|spec| spec.id.block).collect::<Vec<_>>(), [0, sources]);
    let weights = WeightsModel::of(&kernel.snapshot()).expect("weights");
    let table = weights.tensors.iter().find(|tensor| tensor.id == TensorName::DistanceBias.of_block(sources));
    let meanings = [0, 11].map(|column| table.and_then(|table| table.entry_meaning(0, column)).expect("a meaning"));
    let shared = "in all layers that have distances here";
    assert_eq!(meanings[0], format!("head 1, the word itself (bucket 0), {shared}"));
    assert!(
        meanings[1].starts_with("head 1, a word ")
            && meanings[1].contains(" or more positions to the left (bucket 11)")
    );
    let scores = |model: &ModelSnapshot, block: usize| model.sentence.activations.blocks[block].heads[0].scores.clone();
    kernel.apply(crate::common::commands::set(TensorName::DistanceBias.of_block(sources), 0, 0, 9.0));
    let after = model(&kernel);
    for (block, config) in before.architecture.numbered_blocks() {
        let is_moved = scores(&before, block) != scores(&after, block);
        // Queries of later layers have moved as well.
        assert_eq!(is_moved, block >= sources, "block {block}, {}", config.attends_to_source());
    }
}

#[test]
fn senses_are_those_of_a_word_of_the_source() {
    let mut kernel = translator("t5-wild");
    let sentence = |text: &str| SenseSentence { text: text.to_owned(), sense: None };
    let sentences = vec![sentence("the lesson has a point"), sentence("one point of the lesson")];
    let list = SenseList { word: "lesson".to_owned(), sentences };
    kernel.apply(Command::Senses(SenseCommand::Replace(list)));
    kernel.apply(Command::Senses(SenseCommand::Show(true)));
    kernel.settle();
    let senses = model(&kernel).senses;
    assert!(senses.rows.iter().all(|row| matches!(row, SenseRow::Found { .. })), "{:?}", senses.rows);
    let measured = senses.measured.clone().expect("a measurement");
    // Static, and after each layer of the encoder.
    assert_eq!(measured.layers.len(), 1 + model(&kernel).architecture.source_blocks.len());
}

/// While a target is typed behind its source, no word is lost, whatever is there so far.
#[test]
fn a_source_and_its_target_are_read_word_by_word() {
    let mut kernel = running(&opened(&at("lessons/translator")));
    apply(&mut kernel, SentenceCommand::Select(1));
    let sentences = SentencesModel::of(&kernel.snapshot(), None).expect("a model");
    assert_eq!(sentences.first_second(), "the sailor feeds the bat today", "the two have the longest word in common");
    let lexicon = sentences.lexicon;
    let whole = "the nurse calls the fox ||| lo kurato la";
    for end in 1..=whole.len() {
        let reading = lexicon.read(&whole[..end]);
        assert_eq!(reading.count, reading.words.len(), "{:?}", &whole[..end]);
    }
    assert_eq!(lexicon.read(whole).count, 8);
}

/// The arcs between source and target, as long as no word is chosen: each word of the target with the word of the
/// source that a head looks at most.
#[test]
fn a_head_of_cross_attention_shows_its_alignment() {
    let kernel = running(&opened(&at("lessons/translator")));
    let snapshot = kernel.snapshot();
    let arcs = SentenceArcs::of(&snapshot).expect("a model");
    let heads = AllHeads::of(snapshot.model.as_ref().expect("a model"));
    let layer = arcs.layers.len() - 1;
    let head = &arcs.layers[layer].heads[0];
    let found = arcs.alignment(layer, Some(head.head), Reading::default());
    assert_eq!(found.len(), arcs.words.len());
    for arc in found.iter() {
        let words = (0..arcs.source.len()).filter(|key| !arcs.source[*key].is_added);
        let row = words.map(|key| head.cells.weight(arc.pair.query, key));
        let largest = row.fold(0.0, f32::max);
        assert_eq!((arc.from.side, arc.to.side, arc.weight), (Side::Sentence, Side::Source, largest));
    }
    assert!(arcs.alignment(layer, None, Reading::default()).is_empty(), "of all heads together there is none");
    let within = arcs.layers.iter().position(|layer| layer.queries == layer.keys).expect("self-attention");
    let head = arcs.layers[within].heads[0].head;
    assert!(arcs.alignment(within, Some(head), Reading::default()).is_empty());
    assert_eq!(heads.usual_measure(), HeadMeasure::Aligned);
    assert_eq!(heads.even(HeadMeasure::Monotony), None, "it counts no pairs");
    let even = heads.even(HeadMeasure::Aligned).expect("a share");
    assert_close_beside(1.0, "aligned", even, 1.0 / arcs.source.len() as f32, Tolerance::SINGLE_SUMS);
}
