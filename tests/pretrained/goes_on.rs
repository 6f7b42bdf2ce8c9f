//! Words that a model writes on, with keys and values of the words before kept: those of transformers, and of whole
//! passes.

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::lesson::schema::StaticEmbedding;
use attune_engine::numerics::attention::{Mask, Tokens};
use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::model::generate::{NextWordChoice, Sampling, choose};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::folder::ModelFolder;
use attune_view::view_model::answers::{AnswersModel, AnswersWriting};
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::models::{pass, read, with_tokenizer};
use crate::common::numerics::json::{list, parse, sizes};
use crate::opened::{opened, running};
use crate::written::fixture;

const NAMES: [&str; 2] = ["gpt2-default", "gpt2-wild"];

fn oracle(name: &str) -> Value {
    parse(include_str!("oracle/greedy.json"))[name].clone()
}

fn some(words: &[usize]) -> Vec<Option<usize>> {
    words.iter().copied().map(Some).collect()
}

#[test]
fn twenty_words_are_those_of_transformers_and_of_whole_passes() {
    for name in NAMES {
        let (read, oracle) = (read(name), oracle(name));
        let (model, prompt, expected) = (read.model(), sizes(&oracle["prompt"]), sizes(&oracle["goes_on"]));
        let mut rng = stream(1, Stream::Generation);
        let found = model.generate(&read.parameters, &prompt, None, expected.len(), NextWordChoice::Greedy, &mut rng);
        assert_eq!(found.as_deref(), Ok(&expected[..]), "{name}: keys and values kept");
        let mut words = prompt.clone();
        for _ in 0..expected.len() {
            let mut logits = model.logits(&read.parameters, &Sequences::one(&words), None);
            words.push(choose(&mut logits, NextWordChoice::Greedy, &mut rng).expect("a word"));
        }
        assert_eq!(words[prompt.len()..], expected, "{name}: a whole pass for each word");
    }
}

#[test]
fn what_is_written_stands_behind_the_text_as_the_tokenizer_has_it() {
    let folder = with_tokenizer("gpt2-wild");
    let lesson = opened(&folder.0);
    let StaticEmbedding::Pretrained(model) = &lesson.static_embedding else { panic!("a model") };
    let tokenizer = model.tokenizer.as_ref().expect("it was put there");
    let mut kernel = running(&lesson);
    kernel.apply(Command::Sentence(SentenceCommand::Set("the bank of".to_owned())));
    kernel.apply(Command::Sentence(SentenceCommand::Generate { count: 6, choice: NextWordChoice::Greedy }));
    let snapshot = kernel.snapshot();
    let generated = snapshot.model.as_ref().and_then(|model| model.generated.clone()).expect("words");
    let AnswersWriting::Can { written: Some(written), .. } =
        AnswersModel::of(&snapshot, None).expect("answers").writing
    else {
        panic!("nothing is written")
    };
    let expected: String =
        generated.words.iter().map(|word| tokenizer.shown(word.word.expect("an id") as u32)).collect();
    assert_eq!((written.before.as_str(), written.text), ("the bank of", expected));
    // Pieces of BERT's have no blanks of their own.
    let folder = with_tokenizer("bert-wild");
    let model = ModelFolder::open(&folder.0).unwrap_or_else(|refusal| panic!("{refusal}"));
    let tokenizer = model.tokenizer.expect("it was put there");
    let behind = |piece: &str| tokenizer.shown_behind_others(tokenizer.id_of(piece).expect("a piece"));
    assert_eq!([behind("the"), behind("##s")], [" the", "s"]);
}

#[test]
fn kept_rows_stay_bit_for_bit_and_new_ones_are_those_of_the_whole_pass() {
    for name in NAMES {
        let read = read(name);
        let model = read.model();
        let words: Vec<usize> = (0..read.config.positions()).map(|i| i * 37 % read.config.vocabulary).collect();
        let whole = pass(&read, &Sequences::one(&words));
        for begun in [1, 7] {
            let no_source = None::<Tokens<'_, f32>>;
            let (mut kept, output) = model.begin(&read.parameters, &some(&words[..begun]), no_source, words.len());
            let near = |a: &[f32], b: &[f32], what: &str| {
                assert_close_beside(1.0, format!("{name}: {what}"), a, b, Tolerance::LIBRARY);
            };
            near(output.flat(), &whole.output.flat()[..output.flat().len()], "the beginning");
            for (at, &word) in words.iter().enumerate().skip(begun) {
                let bits = |slice: &[f32]| slice.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
                let before: Vec<[Vec<u32>; 2]> =
                    (0..read.config.layers()).map(|block| kept.keys_and_values(block).map(bits)).collect();
                let output = model.one_more(&read.parameters, &mut kept, Some(word));
                near(output.flat(), whole.output.row(at), &format!("word {at}"));
                for (block, before) in before.iter().enumerate() {
                    for (before, after) in before.iter().zip(kept.keys_and_values(block)) {
                        assert_eq!(*before, bits(&after[..before.len()]), "{name}: rows of block {block} change");
                        assert!(after.len() > before.len());
                    }
                }
            }
            assert_eq!(kept.words(), words.len());
            for block in 0..read.config.layers() {
                let heads = &whole.blocks[block].heads;
                let [keys, _] = kept.keys_and_values(block);
                let of_whole: Vec<f32> = (0..words.len())
                    .flat_map(|row| heads.iter().flat_map(move |head| head.key.row(row).to_vec()))
                    .collect();
                near(keys, &of_whole, "keys");
            }
        }
    }
}

#[test]
fn a_sentence_longer_than_the_model_reads_goes_on_from_its_end() {
    let read = read("gpt2-wild");
    let (model, longest) = (read.model(), read.config.positions());
    let prompt: Vec<usize> = (0..longest - 3).map(|i| i * 13 % 600).collect();
    let mut rng = stream(1, Stream::Generation);
    let found = model.generate(&read.parameters, &prompt, None, 8, NextWordChoice::Greedy, &mut rng).expect("words");
    let mut words = prompt;
    for word in found {
        let end = &words[words.len().saturating_sub(longest)..];
        let mut logits = model.logits(&read.parameters, &Sequences::one(end), None);
        assert_eq!(choose(&mut logits, NextWordChoice::Greedy, &mut rng), Ok(word));
        words.push(word);
    }
}

#[test]
#[should_panic(expected = "earlier words change with later ones")]
fn a_model_that_sees_all_words_keeps_nothing() {
    let read = read("bert-wild");
    assert_eq!(read.architecture.blocks[0].attention.mask, Mask::None);
    let _ = read.model().begin(&read.parameters, &some(&[1, 2]), None, 2);
}

#[test]
fn words_are_drawn_among_those_that_transformers_draws_among() {
    for name in NAMES {
        let (read, oracle) = (read(name), oracle(name));
        let logits = read.model().logits(&read.parameters, &Sequences::one(&sizes(&oracle["prompt"])), None);
        for kept in list(&oracle["kept"]) {
            let top_k = kept["top_k"].as_u64().map(|k| k as usize);
            let (temperature, top_p) = (kept["temperature"].as_f64().expect("a number"), kept["top_p"].as_f64());
            let choice = NextWordChoice::Sampled(Sampling { temperature, top_k, top_p });
            let among = sizes(&kept["ids"]);
            let (mut seen, mut rng) = (vec![0; logits.len()], stream(3, Stream::Generation));
            let draws = 4000;
            for _ in 0..draws {
                seen[choose(&mut logits.clone(), choice, &mut rng).expect("a word")] += 1;
            }
            let drawn: Vec<usize> = (0..seen.len()).filter(|id| seen[*id] > 0).collect();
            assert!(drawn.iter().all(|id| among.contains(id)), "{name}: {kept}: {drawn:?}");
            // Each about as often as its share among them says.
            let highest = logits.iter().copied().fold(f32::MIN, f32::max);
            let weight = |id: &usize| (f64::from(logits[*id] - highest) / temperature).exp();
            let all: f64 = among.iter().map(weight).sum();
            let chi: f64 = among
                .iter()
                .map(|id| {
                    let expected = f64::from(draws) * weight(id) / all;
                    (f64::from(seen[*id]) - expected).powi(2) / expected
                })
                .sum();
            let freedom = (among.len() - 1) as f64;
            // Five deviations of χ², whose variance is twice its freedom.
            assert!(
                chi <= freedom + 5.0 * (2.0 * freedom).sqrt() + Tolerance::DOUBLE_SUMS.part(),
                "{name}: {kept}: χ² = {chi} of {freedom}"
            );
        }
    }
}

/// A piece that hides a word can be written where the tokenizer has one: token ids name none.
#[test]
fn a_word_is_hidden_by_a_piece_that_can_be_written() {
    let question = |folder: &std::path::Path| {
        AnswersModel::of(&running(&opened(folder)).snapshot(), None).expect("answers").question
    };
    let [with, without] = [question(&with_tokenizer("bert-wild").join("")), question(&fixture("bert-wild"))];
    assert!(with.contains("write [MASK]") && !without.contains("[MASK]"), "{with} {without}");
}
