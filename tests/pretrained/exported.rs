//! Trained lessons written as models' folders: read back they have the same bits, and what no folder holds is refused.
//!
//! transformers' side of it is [`oracle/exported.py`](oracle/exported.py), run by hand.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::{self, Lesson};
use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::load;
use attune_view::export::checkpoint::{Checkpoint, form};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::folder::Folder;
use crate::common::top;
use crate::opened::{opened, running};

fn text(form: &str) -> String {
    top::text(format!("tests/fixtures/forms/{form}.ron"))
}

fn parsed(text: &str) -> Lesson {
    lesson::parse("a.ron", text).unwrap_or_else(|issues| panic!("{issues:#?}"))
}

/// The lesson, trained, and its folder.
fn exported(text: &str) -> (Snapshot, Folder) {
    let lesson = parsed(text);
    let folder = Folder::new("exported");
    let target = Checkpoint::new(&lesson, &folder.0).unwrap_or_else(|fault| panic!("{fault}"));
    let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
    let said = target.write(&snapshot).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(said.starts_with(&folder.0.display().to_string()) && said.lines().count() == 1, "{said}");
    (snapshot, folder)
}

/// Forms that a folder holds: those of the fixtures, and others that are zeros or another table there.
fn forms() -> Vec<(&'static str, String)> {
    let [encoder, decoder] = ["encoder", "decoder"].map(text);
    let with = |text: &str, field: &str| text.replace("max_tokens: 8,", &format!("max_tokens: 8, {field},"));
    vec![
        ("no biases", with(&encoder, "bias: false, positions: Sinusoidal, readout_bias: false")),
        ("every word", encoder.replace(r#", among: ["fruit", "tool"]"#, "").replace("Gelu,", "Relu,")),
        ("encoder", encoder),
        ("weights of its own", with(&decoder, "readout: Linear, scale: false, positions: None")),
        ("decoder", decoder),
    ]
}

#[test]
fn a_folder_is_read_back_with_the_same_bits() {
    for (name, text) in forms() {
        let (snapshot, folder) = exported(&text);
        let (space, model) = (snapshot.space.expect("vectors"), snapshot.model.expect("a model"));
        let read = load(&folder.0, &mut |_| true).unwrap_or_else(|stopped| panic!("{name}: {stopped}"));
        assert!(read.origins.skipped.is_empty(), "{name}: {:?}", read.origins.skipped);
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
        for (spec, values) in model.parameters.tensors() {
            let found = read.parameters.row_major(spec.id);
            match spec.id.name {
                TensorName::Embedding => {
                    assert_eq!(bits(&values), bits(&read.embedding.widened().flat()[..values.len()]))
                }
                TensorName::LogitBias | TensorName::LogitWeights => {
                    let classes = model.classes.iter().map(|class| {
                        space.vocabulary.iter().position(|word| word == class).expect("a word of the vocabulary")
                    });
                    let spec_of = *read.parameters.spec(spec.id).expect("the tensor");
                    for (class, word) in classes.enumerate() {
                        for row in 0..spec.rows {
                            let (a, b) = (values[row * spec.cols + class], found[row * spec_of.cols + word]);
                            assert_eq!(a.to_bits(), b.to_bits(), "{name}: {}[{row}, {class}]", spec.id);
                        }
                    }
                }
                _ => assert_eq!(bits(&values), bits(&found), "{name}: {}", spec.id),
            }
        }
        let words = space.vocabulary.len() * space.vectors.cols();
        if !model.architecture.train_embedding {
            assert_eq!(bits(space.vectors.widened().flat()), bits(&read.embedding.widened().flat()[..words]), "{name}");
        }
        assert!(read.embedding.widened().flat()[words..].iter().all(|&x| x == 0.0), "{name}: added pieces are zeros");
    }
}

#[test]
fn the_folder_opens_and_says_what_the_lesson_says() {
    for (name, text) in forms() {
        let (lesson, folder) = exported(&text);
        let mut kernel = running(&opened(&folder.0));
        for words in &lesson.lesson.sentences {
            let model = lesson.model.as_ref().expect("a model");
            let mut trained = Kernel::trained(lesson.lesson.clone());
            trained.apply(Command::Sentence(SentenceCommand::Set(words.join(" "))));
            kernel.apply(Command::Sentence(SentenceCommand::Set(words.join(" ").to_uppercase() + "!")));
            let snapshot = kernel.snapshot();
            assert!(snapshot.notice.is_none(), "{name}: {:?}", snapshot.notice.map(|notice| notice.to_string()));
            let [own, read] = [&trained.snapshot(), &snapshot].map(|it| it.model.clone().expect("a model").sentence);
            let ids = |of: &[attune_core::kernel::snapshot::Token]| of.iter().map(|it| it.word).collect::<Vec<_>>();
            assert_eq!(ids(&own.tokens), ids(&read.tokens), "{name}");
            // Products by packed weights may sum in another order.
            let [a, b] = [&own, &read].map(|of| of.activations.output.flat());
            assert_close_beside(1.0, format!("{name}: {words:?}"), b, a, Tolerance::SINGLE_PASS);
            let (own, read) = (&own.answers.logits, &read.answers.logits);
            for row in 0..own.rows() {
                for (class, answer) in model.classes.iter().enumerate() {
                    let space = lesson.space.as_ref().expect("vectors");
                    let word = space.vocabulary.iter().position(|word| word == answer).expect("a word");
                    let (a, b) = (own.get(row, class), read.get(row, word));
                    assert_close_beside(1.0, format!("{name}: {answer}"), b, a, Tolerance::LIBRARY);
                }
            }
        }
    }
}

#[test]
fn answers_of_an_encoder_are_those_of_the_lesson_alone() {
    let (lesson, folder) = exported(&text("encoder"));
    let mut kernel = running(&opened(&folder.0));
    kernel.apply(Command::Sentence(SentenceCommand::Set("a ripe [MASK] fell".to_owned())));
    let model = kernel.snapshot().model.expect("a model");
    let answers = &lesson.model.as_ref().expect("a model").classes;
    let logits = model.sentence.answers.logits.row(2);
    let likeliest = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).expect("a word");
    assert!(answers.contains(&model.classes[likeliest]), "{}", model.classes[likeliest]);
    let never = logits.iter().filter(|logit| **logit < -50.0).count();
    assert_eq!(never, logits.len() - answers.len(), "words that are no answers are never guessed");
}

#[test]
fn words_are_found_as_the_lesson_finds_them() {
    let encoder = text("encoder").replace("a ripe {fruit} fell", "we don't eat 2 ripe {fruit}");
    let (lesson, folder) = exported(&encoder);
    let vocabulary = &lesson.space.as_ref().expect("vectors").vocabulary;
    let folder = ModelFolder::open(&folder.0).expect("a folder");
    let unknown = vocabulary.len() as u32;
    for sentence in ["We DON'T eat, 2 ripe pears!", "she (ate) 'a' sweet-pear…", "don''t 'don't' \u{301}we we\u{301} —"]
    {
        let pieces = folder.pieces(sentence).expect("pieces");
        let found: Vec<u32> = pieces.iter().map(|piece| piece.id).collect();
        let ids = lesson::text::tokenize(sentence)
            .into_iter()
            .map(|word| vocabulary.iter().position(|known| *known == word).map_or(unknown, |id| id as u32));
        assert_eq!(found, ids.collect::<Vec<u32>>(), "{sentence}");
    }
}

#[test]
fn forms_that_no_folder_holds_are_refused_by_name() {
    let encoder = |field: &str| text("encoder").replace("max_tokens: 8,", &format!("max_tokens: 8, {field},"));
    let decoder = |field: &str| text("decoder").replace("max_tokens: 8,", &format!("max_tokens: 8, {field},"));
    let both = |text: String, from: &str, to: &str| text.replace(from, to);
    let cases = [
        (encoder("residual: false"), "residual: found false; expected true, as in BERT's shape"),
        (
            encoder("positions: Distances"),
            "positions: found Distances; expected Learned (or Sinusoidal or None), as in BERT's shape",
        ),
        (encoder("temperature: 2"), "temperature: found 2; expected 1, as in BERT's shape"),
        (encoder("scale: false"), "scale: found false; expected true, as in BERT's shape"),
        (
            encoder("key_width: 3"),
            "key_width: found 3; expected the model's width divided by its number of heads (6), as in BERT's shape",
        ),
        (
            encoder("mask: Custom([[true]])"),
            "mask: found Custom; expected None, as in BERT's shape, or Causal, as in GPT-2's",
        ),
        (
            both(encoder("key_width: 6"), "norm: Post", "norm: Pre"),
            "norm: found Pre; expected Post, as in BERT's shape",
        ),
        (
            both(encoder("key_width: 6"), "feed_forward: 24,", ""),
            "feed_forward: found none: the model is attention alone, and no family of transformers is; expected a number of \
             hidden units, as in BERT's shape",
        ),
        (
            both(encoder("key_width: 6"), "embedding_norm: true", "final_norm: true"),
            "embedding_norm: found false; expected true, as in BERT's shape; final_norm: found true; expected false, as in BERT's shape",
        ),
        (
            both(encoder("key_width: 6"), "readout: Transformed", "readout: Tied"),
            "readout: found Tied; expected Transformed, as in BERT's shape",
        ),
        (
            both(decoder("key_width: 6"), "readout_bias: false,", ""),
            "readout_bias: found true; expected false, as in GPT-2's shape",
        ),
        (decoder("readout: Transformed"), "readout: found Transformed; expected Tied or Linear, as in GPT-2's shape"),
        (
            text("label"),
            "objective: found Label; expected MaskedWord, NextWord or Sequence, the objectives of models that are written \
             as folders; feed_forward: found none: the model is attention alone, and no family of transformers is; \
             expected a number of hidden units",
        ),
    ];
    for (text, expected) in cases {
        let lesson = parsed(&text);
        let folder = Folder::new("refused");
        let said = Checkpoint::new(&lesson, &folder.join("model")).expect_err(expected).to_string();
        assert_eq!(said, expected);
        assert!(!folder.join("model").exists(), "nothing is written");
    }
    for form_of in ["reversal", "translation", "parameter_free", "custom_mask", "given_weights", "next_word"] {
        assert!(form(&parsed(&text(form_of))).is_err(), "{form_of}");
    }
}

#[test]
fn a_folder_with_something_in_it_and_what_is_no_folder_stay_as_they_are() {
    let lesson = parsed(&text("decoder"));
    let folder = Folder::new("places");
    fs::create_dir(folder.join("full")).expect("a folder");
    fs::write(folder.join("full/mine.txt"), "mine").expect("a file");
    fs::write(folder.join("file"), "mine").expect("a file");
    let said = |path: &Path| Checkpoint::new(&lesson, path).expect_err("no place").to_string();
    assert!(said(&folder.join("full")).ends_with("the folder is not empty"));
    assert!(said(&folder.join("file")).ends_with("it is not a folder"));
    assert!(said(&folder.join("no/such")).ends_with("there is no such folder"));
    // Something comes into it while the lesson trains.
    let target = Checkpoint::new(&lesson, &folder.join("new")).expect("a place");
    let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
    fs::create_dir(folder.join("new")).expect("a folder");
    fs::write(folder.join("new/mine.txt"), "mine").expect("a file");
    let fault = target.write(&snapshot).expect_err("no place").to_string();
    assert!(fault.ends_with("the folder is not empty"), "{fault}");
    fs::remove_file(folder.join("new/mine.txt")).expect("removed");
    target.write(&snapshot).expect("an empty folder gives way");
    let mut names: Vec<String> = fs::read_dir(&folder.0)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["file", "full", "new"], "nothing unfinished is left");
    assert_eq!(fs::read_to_string(folder.join("full/mine.txt")).expect("a text"), "mine");
}
