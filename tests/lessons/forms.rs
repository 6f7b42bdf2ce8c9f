//! Every form of a model, as a lesson asks for it: it trains, its claims hold, and all of it is shown.

use std::sync::Arc;

use attune_core::kernel::check::claims::verify;
use attune_core::kernel::command::{SentenceCommand, TrainingCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::stage::StageModel;
use attune_view::view_model::tensors::WeightsModel;
use attune_view::view_model::what_if::WhatIfModel;

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::form as trained;
use crate::common::top::text;

const FORMS: &str = "label next_word encoder decoder parameter_free given_weights reversal translation custom_mask llama \
                     gemma pythia t5 bart mbart marian";

fn with(form: &str, commands: &[Command]) -> Snapshot {
    let mut kernel = trained(form);
    commands.iter().for_each(|command| kernel.apply(command.clone()));
    kernel.snapshot()
}

/// All that is shown of the model, bit for bit.
fn numbers(snapshot: &Snapshot) -> Vec<u32> {
    let model = snapshot.model.as_ref().expect("a model");
    let sentence = &model.sentence;
    let weights = sentence.activations.heads().flat_map(|head| head.weights.flat());
    let tensors = [&sentence.activations.output, &sentence.answers.logits, &sentence.end, &sentence.trained_end];
    let all = model.parameters.flat().iter().chain(weights).chain(tensors.into_iter().flat_map(|x| x.flat()));
    all.map(|x| x.to_bits()).collect()
}

#[test]
fn the_claims_of_every_form_hold() {
    for form in FORMS.split(' ') {
        for verdict in verify(&trained(form).snapshot()).expect("a trained model") {
            assert!(verdict.holds(), "{form}: {verdict:?}");
        }
    }
}

#[test]
fn every_form_is_the_same_bit_for_bit() {
    for form in FORMS.split(' ') {
        let numbers = || numbers(&trained(form).snapshot());
        assert_eq!(numbers(), numbers(), "{form}");
    }
}

#[test]
fn every_view_shows_every_form() {
    for form in FORMS.split(' ') {
        let snapshot = with(form, &[]);
        let attention = AttentionMaps::of(&snapshot).expect("a model");
        for map in &attention.heads {
            let shape = (map.cells.rows(), map.cells.cols());
            assert_eq!(shape, (map.queries.len(), map.keys.len()), "{form}: {}", map.title);
            let (query, key) = (map.queries.len() - 1, map.keys.len() - 1);
            assert!(map.say(query, key).contains(&map.keys[key]));
        }
        let heads = WhatIfModel::of(&snapshot).expect("a model");
        for row in &heads.heads {
            let queries = if attention.heads[row.head].is_of_source { 0 } else { heads.tokens.len() };
            assert_eq!((row.tokens, row.move_lengths().count()), (queries, queries));
            assert!((0..queries).all(|query| row.strongest(query).0 < row.keys.len()));
        }
        let stage = StageModel::of(&snapshot).expect("a space");
        assert_eq!(stage.tokens.len(), attention.tokens.len());
        let weights = WeightsModel::of(&snapshot).expect("a model");
        assert_eq!(weights.tensors.len(), snapshot.model.expect("a model").parameters.specs().len());
    }
}

/// A model that is not trained, of the lesson of a form in which a piece is another.
fn untrained(form: &str, [from, to]: [&str; 2]) -> Snapshot {
    let text = text(format!("tests/fixtures/forms/{form}.ron"));
    assert_eq!(text.matches(from).count(), 1, "{form}: {from}");
    let mut lesson = attune_core::lesson::parse("x.ron", &text.replace(from, to))
        .unwrap_or_else(|issues| panic!("{form}, {to}: {issues:#?}"));
    lesson.model.schedule.steps = 0;
    Kernel::trained(Arc::new(lesson)).snapshot()
}

#[test]
fn every_field_of_two_towers_counts() {
    let fields = [
        ("t5", "source: Source(layers: 1, final_norm: true),", "source: Source(layers: 1),"),
        ("t5", "source: Source(layers: 1, final_norm: true),", "source: Source(final_norm: true),"),
        ("t5", ", shared: true", ""),
        ("t5", "buckets: 4, most: 6, ", ""),
        ("t5", "logit_scale: 0.25,", ""),
        ("bart", "layers: 2, heads: 4", "layers: 2"),
        ("bart", "feed_forward: 20, ", ""),
        ("bart", "positions: true, ", ""),
        ("bart", ", embedding_norm: true)", ")"),
        ("marian", "(halves: true)", ""),
        ("marian", "Source(layers: 2,", "Source("),
    ];
    for (form, from, to) in fields {
        let [own, other] = [from, to].map(|to| numbers(&untrained(form, [from, to])));
        assert!(own != other, "{form}: {from} => {to}");
        assert!(own == numbers(&untrained(form, [from, from])), "{form}: the same is the same");
    }
}

#[test]
fn the_order_of_words_is_learned_from_waves_in_halves_and_not_without_them() {
    let claims_of = |text: String| {
        let lesson = attune_core::lesson::parse("x.ron", &text).unwrap_or_else(|issues| panic!("{issues:#?}"));
        verify(&Kernel::trained(Arc::new(lesson)).snapshot()).expect("a trained model")
    };
    let own = text("tests/fixtures/forms/marian.ron");
    let holds = |text: String| claims_of(text)[0].holds();
    assert!(holds(own.clone()));
    assert!(!holds(own.replace("Sinusoidal(halves: true)", "None")), "without positions nothing tells the order");
}

#[test]
fn the_two_sides_have_depths_and_heads_of_their_own() {
    let bart = ["Layer 1, source", "Layer 2, source", "Self-attention", "Cross-attention"];
    let heads = [4, 4, 2, 2];
    let all =
        bart.iter().zip(heads).flat_map(|(place, heads)| (1..=heads).map(move |head| format!("{place}, head {head}")));
    assert_eq!(titles("bart"), all.collect::<Vec<_>>());
}

fn titles(form: &str) -> Vec<String> {
    AttentionMaps::of(&with(form, &[])).expect("a model").heads.into_iter().map(|map| map.title).collect()
}

#[test]
fn heads_say_where_they_are() {
    assert_eq!(titles("label"), ["Head 1", "Head 2"]);
    let layers = ["Layer 1, head 1", "Layer 1, head 2", "Layer 2, head 1", "Layer 2, head 2"];
    assert_eq!(titles("next_word"), layers);
    assert_eq!(titles("reversal"), ["Source, head 1", "Self-attention, head 1", "Cross-attention, head 1"]);

    let places = |form| {
        let model = WhatIfModel::of(&with(form, &[])).expect("a model");
        model.heads.iter().map(|row| model.place(row.head)).collect::<Vec<_>>()
    };
    assert_eq!(places("parameter_free"), ["Entries 0–2 of each word's vector, which are its query, key and value"]);
    assert_eq!(places("next_word")[3], "Columns 6–11 of W_Q⁽²⁾ and W_K⁽²⁾, 6–11 of W_V⁽²⁾; rows 6–11 of W_O⁽²⁾");
}

#[test]
fn a_source_is_what_cross_attention_looks_at() {
    let snapshot = with("translation", &[Command::Sentence(SentenceCommand::Set("the black cat eats".to_owned()))]);
    let attention = AttentionMaps::of(&snapshot).expect("a model");
    let target = ["[start]", "le", "noir", "chat"];
    let source = ["the", "black", "cat", "eats"];
    assert_eq!(*attention.tokens, target);
    let sides: Vec<_> = attention.heads.iter().map(|map| (&map.queries[..], &map.keys[..])).collect();
    let [target, source] = [target, source].map(|words| words.map(str::to_owned));
    assert_eq!(sides, [(&source[..], &source[..]), (&target, &target), (&target, &source)]);
    assert_eq!(NotebookModel::of(&snapshot, None).sentence, "the black cat eats", "the learner's own");
    let stage = StageModel::of(&snapshot).expect("a space");
    assert_eq!((stage.tokens[0].label(), stage.tokens[0].group), ("[start]".to_owned(), None));
    assert_eq!(stage.tokens[0].static_nearest, None, "nothing is no word's neighbour");
}

/// The likeliest answer of each row that is read, as text.
fn answers(snapshot: &Snapshot) -> Vec<String> {
    let model = snapshot.model.as_ref().expect("a model");
    model.sentence.answers.likeliest.iter().map(|best| model.classes[best[0].class].clone()).collect()
}

#[test]
fn the_model_answers_what_its_lesson_asks() {
    let say =
        |form, sentence: &str| answers(&with(form, &[Command::Sentence(SentenceCommand::Set(sentence.to_owned()))]));
    assert_eq!(say("label", "not like"), ["hate"]);
    assert_eq!(say("label", "not hate"), ["like"]);
    assert_eq!(say("next_word", "one two three"), ["two", "three", "four"]);
    assert_eq!(say("translation", "the dog sleeps"), ["le", "chien", "dort"]);
    let snapshot = with("label", &[]);
    let answers = &snapshot.model.as_ref().expect("a model").sentence.answers.likeliest[0];
    let sum: f32 = answers.iter().map(|answer| answer.probability).sum();
    assert!(answers.len() == 2 && answers[0].probability > answers[1].probability);
    assert_close("all answers", sum, 1.0, Tolerance::SINGLE);
}

fn generate(count: usize, choice: NextWordChoice) -> Command {
    Command::Sentence(SentenceCommand::Generate { count, choice })
}

fn written(snapshot: &Snapshot) -> Option<Vec<String>> {
    let generated = snapshot.model.as_ref()?.generated.as_ref()?;
    Some(generated.words.iter().map(|token| token.text.clone()).collect())
}

#[test]
fn the_model_goes_on_with_a_sentence() {
    let snapshot = with("next_word", &[generate(3, NextWordChoice::Greedy)]);
    assert_eq!(written(&snapshot).expect("words"), ["four", "five", "six"]);
    let sentence = Command::Sentence(SentenceCommand::Set("the black dog eats".to_owned()));
    let translated = with("translation", &[sentence, generate(4, NextWordChoice::Greedy)]);
    assert_eq!(written(&translated).expect("words"), ["le", "noir", "chien", "mange"]);

    let sampled = |temperature| written(&with("next_word", &[generate(20, NextWordChoice::sampled(temperature))]));
    assert_eq!(sampled(5.0), sampled(5.0), "from the lesson's seed");
    assert_ne!(sampled(5.0), sampled(0.01));

    // It stays until the sentence changes, and says when the weights are others.
    let mut kernel = trained("next_word");
    kernel.apply(generate(2, NextWordChoice::Greedy));
    let is_current = |kernel: &Kernel| kernel.snapshot().model.expect("a model").generated.map(|g| g.is_current);
    assert_eq!(is_current(&kernel), Some(true));
    let tensor = attune_engine::numerics::params::TensorName::LogitBias.into();
    kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col: 0, value: 3.0 }));
    assert_eq!(is_current(&kernel), Some(false));
    kernel.apply(Command::Sentence(SentenceCommand::Select(1)));
    assert_eq!(is_current(&kernel), None);
}

#[test]
fn what_cannot_be_written_is_said() {
    let notice = |form, command| with(form, &[command]).notice.as_deref().map(str::to_owned);
    let sampled = |temperature| generate(1, NextWordChoice::sampled(temperature));
    let trained = |to| format!("the model does not go on writing after a sentence, because it was trained to {to}");
    let whole = trained("give one answer to the whole sentence");
    assert_eq!(notice("label", generate(1, NextWordChoice::Greedy)), Some(whole));
    assert_eq!(notice("custom_mask", generate(1, NextWordChoice::Greedy)), Some(trained("fill in hidden words")));
    for count in [0, 65, usize::MAX] {
        let words = format!("from 1 to 64 words can be written at once, not {count}");
        assert_eq!(notice("next_word", generate(count, NextWordChoice::Greedy)), Some(words));
    }
    for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let words = format!("a temperature must be from 0.01 to 100, not {temperature}");
        assert_eq!(notice("next_word", sampled(temperature)), Some(words));
    }
}

#[test]
fn a_word_alone_has_a_label_where_its_vector_is_given() {
    let text = |embedding: &str, objective: &str, alone: &str| {
        format!(
            "Lesson(id: \"x\", title: \"X\", seed: 1,\n\
             corpus: Sentences({{\"yes\": [\"{alone}\", \"do like\"], \"no\": [\"not like\"]}}),\n\
             static_embedding: {embedding}, sentences: [\"like\"],\n\
             model: Attention(heads: 1, objective: {objective}, positions: None, steps: 200, batch: 3))"
        )
    };
    let given = r#"Given({"like": [1, 0], "do": [0, 1], "not": [0, -1]})"#;
    let lesson = attune_core::lesson::parse("x.ron", &text(given, "Label", "like"))
        .unwrap_or_else(|issues| panic!("{issues:#?}"));
    assert_eq!(answers(&Kernel::trained(Arc::new(lesson)).snapshot()), ["yes"]);
    let issues = |text: String| attune_core::lesson::parse("x.ron", &text).expect_err("an issue")[0].to_string();
    for (embedding, objective) in [(given, "NextWord"), ("SkipGram(dim: 4)", "Label")] {
        let said = issues(text(embedding, objective, "like"));
        assert!(said.contains("a sentence with fewer than 2 words"), "{said}");
    }
    let said = issues(text(given, "Label", "!"));
    assert!(said.contains("a sentence without words"), "{said}");
}

#[test]
fn nothing_to_learn_is_nothing_to_train() {
    let snapshot = with("parameter_free", &[Command::Training(TrainingCommand::Play)]);
    assert_eq!(snapshot.notice.as_deref(), Some("the lesson asks for no training, because its steps are 0"));
    let model = snapshot.model.expect("a model");
    let names: Vec<String> = model.parameters.specs().iter().map(|spec| spec.id.to_string()).collect();
    assert_eq!(names, ["b_logits"], "the readout's bias is all there is");
}

#[test]
fn weights_that_stand_in_the_lesson_are_those_it_begins_with() {
    let model = with("given_weights", &[]).model.expect("a model");
    let names: Vec<String> = model.start.specs().iter().map(|spec| spec.id.to_string()).collect();
    assert_eq!(names, ["W_Q", "W_K", "W_V", "b_logits"]);
    let given = [
        [0.3, 0.6, 0.9, 0.1, 0.4, 0.7, 0.2, 0.5, 0.8],
        [0.5, 0.2, 0.1, 0.4, 0.3, 0.6, 0.7, 0.8, 0.9],
        [0.6, 0.1, 0.4, 0.3, 0.5, 0.2, 0.8, 0.7, 0.9],
    ];
    for ((_, values), given) in model.start.tensors().zip(given) {
        assert_eq!(values[..], given[..]);
    }
    assert_eq!(model.parameters, model.start);
}

#[test]
fn tensors_of_later_blocks_are_named_as_the_panel_or_as_code_writes_them() {
    let text = text("tests/fixtures/forms/next_word.ron");
    let read = |names: &[&str]| {
        let row = format!("[[{}]]", ["2"; 12].join(", "));
        let weights: Vec<String> = names.iter().map(|name| format!("\"{name}\": {row}")).collect();
        let field = format!("weights: {{{}}}, layers: 2", weights.join(", "));
        attune_core::lesson::parse("x.ron", &text.replace("layers: 2", &field))
    };
    for name in ["γ_A⁽²⁾", "gamma_A_2"] {
        let lesson = read(&[name]).unwrap_or_else(|issues| panic!("{issues:#?}"));
        let id = attune_engine::numerics::params::TensorName::AttentionNormGain.of_block(1);
        assert_eq!(lesson.model.weights[0].0, id, "{name}");
    }
    let issues = read(&["b_Q_2", "b_Q⁽²⁾"]).expect_err("an issue");
    assert!(issues[0].to_string().contains("b_Q⁽²⁾ appears twice"), "{issues:#?}");
}
