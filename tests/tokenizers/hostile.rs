//! Tokenizer files and texts made to break it: nothing panics, and all ends soon.

use std::time::{Duration, Instant};

use attune_engine::pretrained::tokenizer::{OlderFiles, Tokenizer, TokenizerFiles};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::places::check_places;
use crate::{BERT, GPT2, changed, encode, tokenizer};

/// Texts that each mutated tokenizer reads.
const TEXTS: [&str; 4] = [
    "the Bank [MASK] by<|endoftext|> the riverbank's 3 cafés",
    "",
    "e\u{301}\u{327}中\u{200d}👍\u{0} [CLS]",
    "  \n the",
];

/// Reads what may be no tokenizer, and lets it read texts.
fn attack(files: TokenizerFiles<'_>) {
    let tokenizer = match Tokenizer::read(files) {
        Ok(tokenizer) => tokenizer,
        Err(refusal) => return assert!(refusal.to_string().len() < 2000),
    };
    for text in TEXTS {
        let encoding = match tokenizer.encode(text) {
            Ok(encoding) => encoding,
            Err(why) => {
                assert!(why.len() < 1000 && !why.chars().any(char::is_control), "{why:?}");
                continue;
            }
        };
        check_places(&encoding, &[text]);
        for piece in &encoding.pieces {
            assert!(tokenizer.piece(piece.id).is_some() && (piece.id as usize) < tokenizer.len());
            tokenizer.shown(piece.id);
        }
        if let Ok(pair) = tokenizer.encode_pair(text, TEXTS[0]) {
            check_places(&pair, &[text, TEXTS[0]]);
        }
    }
}

/// A part of a file, by a draw in each object or list on the way.
fn part<'a>(json: &'a mut Value, draws: &[prop::sample::Index]) -> &'a mut Value {
    let mut at = json;
    for draw in draws {
        let is_leaf = match &*at {
            Value::Array(list) => list.is_empty(),
            Value::Object(object) => object.is_empty(),
            _ => true,
        };
        if is_leaf {
            return at;
        }
        at = match at {
            Value::Array(list) => draw.get_mut(list),
            Value::Object(object) => {
                let chosen = draw.index(object.len());
                object.values_mut().nth(chosen).expect("one of them")
            }
            leaf => leaf,
        };
    }
    at
}

/// Texts that mean something in these files.
const WORDS: [&str; 22] = [
    "",
    "a",
    "##",
    "Sequence",
    "ByteLevel",
    "BPE",
    "WordPiece",
    "WordLevel",
    "Unigram",
    "[UNK]",
    "RobertaProcessing",
    " ",
    "\u{301}",
    "</w>",
    "Split",
    "Replace",
    "Metaspace",
    "FixedLength",
    "(a|aa)+$",
    r"\s+(?!\S)",
    "MergedWithNext",
    "Precompiled",
];

/// Files of all models, with steps of all kinds.
fn bases() -> [&'static str; 5] {
    [
        BERT,
        GPT2,
        include_str!("../fixtures/pretrained/tokenizers/llama2.json"),
        include_str!("../fixtures/pretrained/tokenizers/qwen2.json"),
        include_str!("../fixtures/pretrained/tokenizers/t5.json"),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![0..700i64, any::<i64>()].prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([["a", "b"], "t h", 3])),
        Just(json!({"String": ""})),
        prop::sample::select(&WORDS[..]).prop_map(|word| json!({"Regex": word})),
        prop::sample::select(&WORDS[..]).prop_map(|word| json!({"type": word})),
        Just(
            json!({"type": "Sequence", "normalizers": [], "pretokenizers": [{"type": "ByteLevel"}], "processors": []})
        ),
    ]
}

/// Cases for `cargo test`; more by `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    const CASES: u32 = 200;
    let more = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: more.unwrap_or(CASES), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn values_put_anywhere_in_a_file_break_nothing(
        base in prop::sample::select(bases().to_vec()),
        changes in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 1..6), values()), 1..4),
    ) {
        let mut json: Value = serde_json::from_str(base).expect("JSON");
        for (draws, value) in changes {
            *part(&mut json, &draws) = value;
        }
        attack(TokenizerFiles::Json(&json.to_string()));
    }

    #[test]
    fn bytes_put_anywhere_in_a_file_break_nothing(
        base in prop::sample::select(bases().to_vec()),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, "[\\[\\]{}\",:0-9a-z \n\u{301}]{0,8}"), 1..4),
    ) {
        let mut json = base.to_owned();
        for (at, length, text) in cuts {
            let floor = |at: usize| (0..=at.min(json.len())).rev().find(|at| json.is_char_boundary(*at)).unwrap_or_default();
            let start = floor(at.index(json.len() + 1));
            let end = floor(start + length).max(start);
            json.replace_range(start..end, &text);
        }
        attack(TokenizerFiles::Json(&json));
    }

    #[test]
    fn older_files_of_anything_break_nothing(vocab in "(?s).{0,80}", merges in "[ab #\n\r]{0,40}", config in "[{}\":a-z_]{0,20}") {
        let beside = OlderFiles { config: Some(&config), ..OlderFiles::default() };
        let with_specials = format!("[UNK]\n[CLS]\n[SEP]\n{vocab}");
        attack(TokenizerFiles::WordPiece { vocab: &with_specials, beside: OlderFiles::default() });
        attack(TokenizerFiles::WordPiece { vocab: &vocab, beside });
        let pieces = r##"{"a": 0, "b": 1, "ab": 7, "ba": 3, "aba": 3, "#version": 5}"##;
        attack(TokenizerFiles::BytePair { vocab: pieces, merges: &merges, beside: OlderFiles::default() });
        attack(TokenizerFiles::BytePair { vocab: &vocab, merges: &merges, beside });
    }

    #[test]
    fn any_text_has_places(text in "(?s).{0,40}", second in "\\PC{0,20}") {
        for json in [BERT, GPT2] {
            let tokenizer = tokenizer(json);
            check_places(&encode(&tokenizer, &text), &[&text]);
            if let Ok(pair) = tokenizer.encode_pair(&text, &second) {
                check_places(&pair, &[&text, &second]);
            }
        }
    }
}

/// Far more than it takes; where time grew with the square of the length it would be hours.
const SOON: Duration = Duration::from_secs(20);
const LONG: usize = 100_000;

#[track_caller]
fn ends_soon(tokenizer: &Tokenizer, text: &str) {
    let begun = Instant::now();
    let encoding = encode(tokenizer, text);
    let took = begun.elapsed();
    assert!(took < SOON, "{took:?}");
    let first = encoding.pieces.iter().find(|piece| piece.word.is_some()).expect("a piece");
    let last = encoding.pieces.iter().rfind(|piece| piece.word.is_some()).expect("a piece");
    assert_eq!((first.bytes.start, last.bytes.end), (0, text.len()));
}

#[test]
fn a_word_of_100_000_characters_ends_soon() {
    let (bert, gpt2) = (tokenizer(BERT), tokenizer(GPT2));
    for text in
        ["a".repeat(LONG), "theriver".repeat(LONG / 8), "中".repeat(LONG), " a".repeat(LONG / 2).trim().to_owned()]
    {
        ends_soon(&bert, &text);
        ends_soon(&gpt2, &text);
    }
    ends_soon(&gpt2, &" ".repeat(LONG));
    let longest = tokenizer(&changed(BERT, &[("/model/max_input_chars_per_word", json!(512))]));
    ends_soon(&longest, &"theriver".repeat(LONG / 8));
    ends_soon(&longest, format!("{} ", "theriver".repeat(512 / 8)).repeat(LONG / 512).trim());
    // Marks in the wrong order, all on one letter.
    let marks = format!("a{}a", "\u{301}\u{327}".repeat(LONG / 2));
    ends_soon(&bert, &marks);
}

#[test]
fn pieces_that_almost_match_end_soon() {
    let mut vocab = json!({"[UNK]": 0, "a": 1, "##a": 2});
    vocab[format!("##{}b", "a".repeat(1000))] = json!(3);
    let change = [
        ("/model/vocab", vocab),
        ("/model/max_input_chars_per_word", json!(512)),
        ("/post_processor", Value::Null),
        ("/added_tokens", json!([{"id": 4, "content": format!("{}c", "a".repeat(1000))}])),
    ];
    let tokenizer = tokenizer(&changed(BERT, &change));
    ends_soon(&tokenizer, &"a".repeat(LONG));
    ends_soon(&tokenizer, format!("{} ", "a".repeat(512)).repeat(LONG / 512).trim());
}

#[test]
fn merges_that_double_end_soon() {
    let pieces: Vec<String> = (0..10).map(|power| "a".repeat(1 << power)).collect();
    let vocab: Value = pieces
        .iter()
        .enumerate()
        .map(|(id, piece)| (piece.clone(), json!(id)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let merges: Vec<Value> = pieces[..9].iter().map(|piece| json!([piece, piece])).collect();
    let tokenizer = tokenizer(&changed(GPT2, &[("/model/vocab", vocab), ("/model/merges", merges.into())]));
    ends_soon(&tokenizer, &"a".repeat(LONG));
    let pieces = encode(&tokenizer, &"a".repeat(1 << 9)).pieces;
    assert_eq!(pieces.iter().map(|piece| piece.id).collect::<Vec<_>>(), [9]);
}
