//! Folders whose tokenizer has more than the model, less, or cannot be read: the model opens, and what cannot be read
//! is said where it is asked for.

use std::fs;

use attune_engine::pretrained::examine::examine;
use attune_engine::pretrained::folder::{ModelFolder, NoTokenizer};
use attune_engine::pretrained::load;
use attune_engine::pretrained::tokenizer::ModelPiece;
use serde_json::{Value, json};

use crate::common::models::{shape, zeros};
use crate::opened::opened;

/// Rows of the model's table.
const ROWS: usize = 4;
const SHAPE: [usize; 6] = [8, 2, 2, 8, 64, ROWS];

/// A tokenizer of words with ids from 0 on, and pieces around a text.
fn of_words(words: &[&str], around: Value) -> Value {
    let ids = words.iter().zip(0_usize..).map(|(word, id)| ((*word).to_owned(), json!(id)));
    let added = words.iter().zip(0_usize..).filter(|(word, _)| word.starts_with('<'));
    let added: Vec<Value> = added.map(|(word, id)| json!({ "id": id, "content": word })).collect();
    json!({
        "added_tokens": added, "pre_tokenizer": { "type": "WhitespaceSplit" }, "post_processor": around,
        "model": { "type": "WordLevel", "unk_token": "a", "vocab": ids.collect::<serde_json::Map<_, _>>() },
    })
}

#[track_caller]
fn folder_of(tokenizer: &Value) -> (crate::common::folder::Folder, ModelFolder) {
    let folder = zeros(&shape(SHAPE), Some(tokenizer));
    let open = ModelFolder::open(&folder.0).unwrap_or_else(|refusal| panic!("{refusal}"));
    (folder, open)
}

fn ids(pieces: Result<Vec<ModelPiece>, String>) -> Result<Vec<u32>, String> {
    pieces.map(|pieces| pieces.iter().map(|piece| piece.id).collect())
}

/// Tokens are often added to a tokenizer alone: `<pad>` to Llama's, `<image_soft_token>` to Gemma's.
#[test]
fn a_piece_beyond_the_table_is_refused_where_a_sentence_makes_it() {
    let (folder, model) = folder_of(&of_words(&["a", "b", "c", "d", "<image>"], Value::Null));
    assert_eq!(ids(model.pieces("b d a")), Ok(vec![1, 3, 0]));
    let said = model.pieces("b <image> a").expect_err("it has no row");
    assert_eq!(
        said,
        "`<image>` is token 4 of the tokenizer, but the model's embedding table has rows 0 to 3; leave it out"
    );
    let read = load(&folder.0, &mut |_| true).unwrap_or_else(|stopped| panic!("{stopped}"));
    let findings = examine(&model, &read);
    assert!(findings.faults.is_empty(), "{:?}", findings.faults);
    let told = "5 pieces of the tokenizer for 4 rows of the table; 1 piece without a row";
    assert!(findings.good.iter().any(|line| line == told), "{:?}", findings.good);

    let around = json!({ "type": "BertProcessing", "cls": ["a", 0], "sep": ["<end>", 4] });
    let (_, model) = folder_of(&of_words(&["a", "b", "c", "d", "<end>"], around));
    let said = model.pieces("b").expect_err("it is added to every text");
    assert!(said.contains("`<end>` is token 4") && said.contains("adds it to every text"), "{said}");
}

/// A hidden word needs a row as well.
#[test]
fn a_mask_beyond_the_table_hides_nothing() {
    let (_, model) = folder_of(&of_words(&["a", "b", "c", "d", "<mask>"], Value::Null));
    assert_eq!(model.hidden(), None);
    let (_, model) = folder_of(&of_words(&["a", "b", "<mask>"], Value::Null));
    assert_eq!(model.hidden(), Some(("<mask>", 2)));
}

#[test]
fn a_pair_is_put_together_as_the_tokenizer_says() {
    let around = json!({ "type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 1] });
    let (_, model) = folder_of(&of_words(&["<s>", "</s>", "b", "c"], around));
    assert!(model.reads_pairs());
    let pieces = model.pieces("b c ||| c").expect("a pair");
    assert_eq!(ids(Ok(pieces.clone())), Ok(vec![0, 2, 3, 1, 1, 3, 1]));
    let own: Vec<_> = pieces.iter().filter(|piece| piece.word.is_some()).map(|piece| piece.bytes.clone()).collect();
    assert_eq!(own, [0..1, 2..3, 8..9]);
    let said = model.pieces("b ||| c ||| b").expect_err("three sentences");
    assert!(said.contains("3 sentences") && said.contains("a pair has two"), "{said}");

    // The model has one kind of sentence, and the tokenizer two.
    let around = json!({ "type": "BertProcessing", "cls": ["<s>", 0], "sep": ["</s>", 1] });
    let (_, model) = folder_of(&of_words(&["<s>", "</s>", "b", "c"], around));
    let pieces = model.pieces("b ||| c").expect("a pair");
    assert_eq!(ids(Ok(pieces.clone())), Ok(vec![0, 2, 1, 3, 1]));
    assert!(pieces.iter().all(|piece| piece.segment == 0));

    let (_, model) = folder_of(&of_words(&["a", "b", "|||"], Value::Null));
    assert!(!model.reads_pairs());
    let said = model.pieces("a ||| b").expect_err("it has no pairs");
    assert!(said.contains("no form for a pair"), "{said}");
}

/// Files with their texts, and words of the reason why they are no tokenizer.
type Unusable = (&'static [(&'static str, &'static str)], &'static [&'static str]);

/// Files of tokenizers that are not read, with what is said of each.
fn unusable() -> [Unusable; 8] {
    [
        (&[("tokenizer.json", "{")], &["tokenizer.json: ", "line 1"]),
        (
            &[("tokenizer.json", r#"{"model": {"type": "Odd", "vocab": {"a": 0}}}"#)],
            &["`Odd` at `model`", "backend_tokenizer.save"],
        ),
        (&[("tokenizer.model", "x")], &["found tokenizer.model", "backend_tokenizer.save"]),
        (&[("vocab.json", "{}"), ("sentencepiece.bpe.model", "x")], &["found vocab.json and sentencepiece.bpe.model"]),
        (&[("vocab.txt", "a 5\nb 4\n"), ("bpe.codes", "a b 3\n")], &["vocab.txt: ", "`[UNK]`"]),
        (
            &[
                ("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n"),
                ("tokenizer_config.json", r#"{"tokenizer_class": "BertJapaneseTokenizer"}"#),
            ],
            &["`BertJapaneseTokenizer`", "backend_tokenizer.save"],
        ),
        (&[("vocab.json", r#"{"a</w>": 0, "a": 1}"#), ("merges.txt", "")], &["`</w>`", "backend_tokenizer.save"]),
        (&[("vocab.json", r#"{"a": 0}"#), ("merges.txt", "a a\n")], &["merges.txt: ", "`aa`"]),
    ]
}

#[test]
fn a_tokenizer_that_cannot_be_used_leaves_token_ids_and_a_reason() {
    for (files, words) in unusable() {
        let folder = zeros(&shape(SHAPE), None);
        for (name, text) in files {
            fs::write(folder.0.join(name), text).expect("written");
        }
        let model = ModelFolder::open(&folder.0).unwrap_or_else(|refusal| panic!("{files:?}: {refusal}"));
        assert!(matches!(model.tokenizer, Err(NoTokenizer::Unusable(_))), "{files:?}");
        assert_eq!(ids(model.pieces("1 3 2")), Ok(vec![1, 3, 2]));
        let said = model.pieces("a").expect_err("words are not read");
        let read = load(&folder.0, &mut |_| true).unwrap_or_else(|stopped| panic!("{stopped}"));
        let findings = examine(&model, &read);
        assert!(findings.faults.is_empty(), "{:?}", findings.faults);
        let line = findings.good.iter().find(|line| line.starts_with("sentences are token ids: "));
        let lesson = opened(&folder.0);
        let told = [said, line.cloned().unwrap_or_default(), lesson.why_no_sentence().unwrap_or_default()];
        for (told, words) in told.iter().flat_map(|told| words.iter().map(move |words| (told, words))) {
            assert!(told.contains(words), "{files:?}: {told}\nlacks: {words}");
        }
    }
}
