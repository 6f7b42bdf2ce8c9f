//! Every model, normalizer and pre-tokenizer of the crate `tokenizers`, with the ids and the bytes that the crate
//! itself gives.

use std::collections::BTreeSet;

use attune_engine::panics::quietly;
use serde_json::{Value, json};
use tokenizers::Tokenizer as OfCrate;

use crate::places::check_places;
use crate::tokenizer;

const TEXTS: usize = 200;

/// Parts of texts: usual words, marks, digits, scripts, signs that are seen as one, controls, and pieces that are never
/// cut.
const PARTS: [&str; 44] = [
    "the",
    "The Bank",
    "river's",
    "don't",
    "unbelievable",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\u{a0}",
    "\u{3000}",
    "-",
    "--",
    "well-known",
    "3",
    "2024",
    "3.14",
    "٣٤",
    "½",
    ".",
    "!?",
    "…",
    "¿qué?",
    "café",
    "cafe\u{301}",
    "A\u{30a}",
    "naïve",
    "Straße",
    "İstanbul",
    "中文字",
    "カタカナ",
    "مرحبا",
    "שלום",
    "हिन्दी",
    "👍",
    "👩\u{200d}👩\u{200d}👧",
    "🇩🇪",
    "\u{0}\u{7}",
    "\u{200b}\u{ad}",
    "▁the",
    "[MASK]",
    "<ent>",
    "bank",
];

fn texts() -> BTreeSet<String> {
    let mut seed: usize = 1;
    let mut draw = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let long = ["a".repeat(300), "theriver".repeat(60), "é".repeat(120), "the ".repeat(80)];
    let mut texts: BTreeSet<String> = PARTS.iter().map(|part| (*part).to_owned()).chain(long).collect();
    texts.insert(String::new());
    while texts.len() < TEXTS {
        let count = 2 + draw(5);
        let parts: Vec<&str> = (0..count).map(|_| PARTS[draw(PARTS.len())]).collect();
        texts.insert(parts.join(["", " ", " ", "  "][draw(4)]));
    }
    texts
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABTS0123456789.!?'-é中म▁ ";
const WORDS: [&str; 12] = ["the", "river", "bank", "Bank", "un", "believ", "able", "well", "known", "caf", "don", "20"];

/// A vocabulary in the order of ids.
fn ids(pieces: impl IntoIterator<Item = String>) -> Value {
    let mut all: Vec<String> = Vec::new();
    for piece in pieces {
        if !all.contains(&piece) {
            all.push(piece);
        }
    }
    all.into_iter().enumerate().map(|(id, piece)| (piece, json!(id))).collect::<serde_json::Map<_, _>>().into()
}

/// Byte pairs of the words, each from its first letter on; those of a word are written as `letter` writes the letter at
/// a place, where it is the first, and the last.
fn byte_pairs(fields: Value, own: &[&str], letter: impl Fn(char, bool, bool) -> String, prefix: &str) -> Value {
    let mut pieces: Vec<String> = own.iter().map(|piece| (*piece).to_owned()).collect();
    for sign in LETTERS.chars() {
        pieces.extend(
            [(true, true), (true, false), (false, true), (false, false)].map(|(first, last)| letter(sign, first, last)),
        );
    }
    let mut merges: Vec<[String; 2]> = Vec::new();
    for word in WORDS.iter().flat_map(|word| [(*word).to_owned(), format!("▁{word}"), format!(" {word}")]) {
        let signs: Vec<char> = word.chars().collect();
        let mut left = letter(signs[0], true, signs.len() == 1);
        for (at, sign) in signs.iter().enumerate().skip(1) {
            let right = letter(*sign, false, at + 1 == signs.len());
            let merged = format!("{left}{}", right.strip_prefix(prefix).unwrap_or(&right));
            let pair = [left, right];
            if !merges.contains(&pair) {
                merges.push(pair);
            }
            pieces.push(merged.clone());
            left = merged;
        }
    }
    let mut model = json!({
        "type": "BPE", "dropout": null, "unk_token": "[UNK]", "continuing_subword_prefix": null, "end_of_word_suffix": null,
        "fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": ids(pieces), "merges": merges,
    });
    for (field, value) in fields.as_object().expect("fields") {
        model[field] = value.clone();
    }
    model
}

/// The character of GPT-2's for a byte: those that cannot be seen have their own.
fn of_byte(byte: u8) -> char {
    let unseen = |before: u32| char::from_u32(0x100 + before).expect("a character");
    match byte {
        0..=b' ' => unseen(byte.into()),
        0x7f..=0xa0 => unseen(u32::from(byte) - 0x7f + 33),
        0xad => unseen(67),
        _ => char::from(byte),
    }
}

fn models() -> Vec<(&'static str, Value)> {
    let plain = |sign: char, _: bool, _: bool| sign.to_string();
    let continued = |sign: char, first: bool, _: bool| if first { sign.to_string() } else { format!("##{sign}") };
    let ended = |sign: char, _: bool, last: bool| if last { format!("{sign}</w>") } else { sign.to_string() };
    let bytes: Vec<String> = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")).collect();
    let own: Vec<&str> = ["[UNK]"].into_iter().chain(bytes.iter().map(String::as_str)).collect();
    let all_bytes: Vec<String> = (0..=u8::MAX).map(|byte| of_byte(byte).to_string()).collect();
    let spelled: Vec<&str> = ["[UNK]"].into_iter().chain(all_bytes.iter().map(String::as_str)).collect();
    let by_bytes = |sign: char, _: bool, _: bool| sign.to_string().bytes().map(of_byte).collect::<String>();
    let unk = ["[UNK]"];
    let words = || WORDS.iter().flat_map(|word| [(*word).to_owned(), format!("##{word}"), format!("▁{word}")]);
    let letters = || LETTERS.chars().flat_map(|sign| [sign.to_string(), format!("##{sign}")]);
    let known = || ["[UNK]".to_owned()].into_iter().chain(words()).chain(letters());
    let word_piece = |prefix: &str, most: usize| {
        json!({
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": most, "vocab": ids(known()),
        })
    };
    let scores = |unk_id: Value, byte_fallback: bool| {
        let pieces = known().chain(bytes.iter().cloned()).enumerate();
        let pieces: Vec<(String, f64)> = pieces.map(|(id, piece)| (piece, -1.0 - id as f64 / 64.0)).collect();
        json!({ "type": "Unigram", "unk_id": unk_id, "byte_fallback": byte_fallback, "vocab": pieces })
    };
    vec![
        ("byte pairs", byte_pairs(json!({}), &unk, plain, "")),
        ("byte pairs without unknown", byte_pairs(json!({ "unk_token": null }), &unk, plain, "")),
        ("byte pairs, fused", byte_pairs(json!({ "fuse_unk": true }), &unk, plain, "")),
        ("byte pairs, whole words", byte_pairs(json!({ "ignore_merges": true }), &unk, plain, "")),
        ("byte pairs, bytes", byte_pairs(json!({ "byte_fallback": true }), &own, plain, "")),
        ("byte pairs, GPT-2's", byte_pairs(json!({ "unk_token": null }), &spelled, by_bytes, "")),
        ("byte pairs, prefix", byte_pairs(json!({ "continuing_subword_prefix": "##" }), &unk, continued, "##")),
        ("byte pairs, suffix", byte_pairs(json!({ "end_of_word_suffix": "</w>" }), &unk, ended, "")),
        ("WordPiece", word_piece("##", 100)),
        ("WordPiece, short words", word_piece("", 5)),
        ("WordLevel", json!({ "type": "WordLevel", "unk_token": "[UNK]", "vocab": ids(known()) })),
        ("WordLevel without unknown", json!({ "type": "WordLevel", "unk_token": "none", "vocab": ids(known()) })),
        ("Unigram", scores(json!(0), false)),
        ("Unigram, bytes", scores(json!(0), true)),
        ("Unigram without unknown", scores(Value::Null, false)),
    ]
}

fn normalisers() -> Vec<Value> {
    let plain = |kind: &str| json!({ "type": kind });
    let bert = |clean: bool, chinese: bool, strip: Value, lower: bool| {
        json!({
            "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese, "strip_accents": strip,
            "lowercase": lower,
        })
    };
    let strip = |left: bool, right: bool| json!({ "type": "Strip", "strip_left": left, "strip_right": right });
    let replace = |pattern: Value, content: &str| json!({ "type": "Replace", "pattern": pattern, "content": content });
    let regex = |pattern: &str, content: &str| replace(json!({ "Regex": pattern }), content);
    let text = |pattern: &str, content: &str| replace(json!({ "String": pattern }), content);
    let prepend = json!({ "type": "Prepend", "prepend": "▁" });
    let list = |steps: &[Value]| json!({ "type": "Sequence", "normalizers": steps });
    let kinds = ["Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "StripAccents", "ByteLevel"].map(plain);
    let berts = [
        bert(true, true, Value::Null, true),
        bert(false, false, json!(true), false),
        bert(true, false, json!(false), true),
    ];
    let others = [
        Value::Null,
        strip(true, true),
        strip(true, false),
        strip(false, true),
        prepend.clone(),
        text(" ", "▁"),
        text("e", ""),
        text("", "_"),
        regex(r"\s+", " "),
        regex(r"(?<=\d)(?=\d)", "-"),
        regex(r"[.,!?](?!\d)", " "),
        list(&[plain("NFD"), plain("Lowercase"), plain("StripAccents")]),
        list(&[regex(r"\s+", " "), list(&[strip(true, true), prepend]), text(" ", "▁")]),
        list(&[]),
    ];
    berts.into_iter().chain(kinds).chain(others).collect()
}

const BEHAVIORS: [&str; 5] = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"];

fn splitters() -> Vec<Value> {
    const GPT4: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
    const DIGITS: &str = r"\d{1,3}(?=(?:\d{3})*\b)";
    let plain = |kind: &str| json!({ "type": kind });
    let list = |steps: &[Value]| json!({ "type": "Sequence", "pretokenizers": steps });
    let digits = |each: bool| json!({ "type": "Digits", "individual_digits": each });
    let byte_level = |prefix: bool, regex: bool| json!({ "type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": regex });
    let metaspace = |scheme: &str, split: bool| json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split });
    let split = |pattern: Value, behavior: &str, invert: bool| json!({ "type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert });
    let regex = |pattern: &str| json!({ "Regex": pattern });
    let mut all = vec![Value::Null, list(&[]), digits(true), digits(false)];
    all.extend(["BertPreTokenizer", "UnicodeScripts", "Whitespace", "WhitespaceSplit"].map(plain));
    all.extend([(true, true), (true, false), (false, true), (false, false)].map(|(a, b)| byte_level(a, b)));
    all.extend(
        ["always", "first", "never"].into_iter().flat_map(|scheme| [metaspace(scheme, true), metaspace(scheme, false)]),
    );
    for behavior in BEHAVIORS {
        all.push(json!({ "type": "Punctuation", "behavior": behavior }));
        all.push(split(json!({ "String": " " }), behavior, false));
        all.push(split(regex(r"\w+|[^\w\s]+"), behavior, true));
        all.push(split(regex(GPT4), behavior, false));
    }
    all.extend([
        split(json!({ "String": "" }), "Isolated", false),
        split(regex(""), "Isolated", false),
        split(regex("."), "Isolated", false),
        split(regex(DIGITS), "Isolated", false),
        split(regex(r"\d"), "Contiguous", false),
        split(regex(r"(?<!\p{L})'"), "MergedWithNext", false),
        json!({ "type": "CharDelimiterSplit", "delimiter": "-" }),
        json!({ "type": "FixedLength", "length": 3 }),
        list(&[plain("Whitespace"), digits(true)]),
        list(&[split(regex(GPT4), "Isolated", false), list(&[byte_level(false, false)])]),
        list(&[plain("WhitespaceSplit"), metaspace("always", true)]),
    ]);
    all
}

/// A tokenizer of these parts, with pieces that are never cut.
fn json_of(model: &Value, normaliser: &Value, splitter: &Value) -> Value {
    let count = model["vocab"].as_object().map(serde_json::Map::len).or(model["vocab"].as_array().map(Vec::len));
    let added = |at: usize, content: &str, flags: [bool; 4]| {
        let [single_word, lstrip, rstrip, normalized] = flags;
        json!({
            "id": count.unwrap_or_default() + at, "content": content, "single_word": single_word, "lstrip": lstrip,
            "rstrip": rstrip, "normalized": normalized, "special": !normalized,
        })
    };
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [
            added(0, "[MASK]", [false, true, false, false]),
            added(1, "<ent>", [false, true, true, true]),
            added(2, "Straße", [true, false, false, true]),
        ],
        "normalizer": normaliser, "pre_tokenizer": splitter, "post_processor": null, "decoder": null, "model": model,
    })
}

/// The crate gives the first only of characters that become one; here a piece has all of them.
fn composes(normaliser: &Value) -> bool {
    ["\"NFC\"", "\"NFKC\""].iter().any(|kind| normaliser.to_string().contains(kind))
}

#[track_caller]
fn check(name: &str, json: &Value, texts: &BTreeSet<String>) {
    let theirs: OfCrate = json.to_string().parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    let ours = tokenizer(&json.to_string());
    for text in texts {
        let said = || format!("{name} with {} and {}: {text:?}", json["normalizer"], json["pre_tokenizer"]);
        // The crate's panics are its errors: some normalizers lose count of the characters that they join.
        let expected = quietly(|| theirs.encode_fast(text.as_str(), false).map_err(|error| error.to_string()));
        let (found, expected) = match (ours.encode(text), expected.and_then(|expected| expected)) {
            (Ok(found), Ok(_)) => (found, theirs.encode(text.as_str(), false).expect("it was read")),
            (Err(_), Err(_)) => continue,
            (found, expected) => panic!("{}: {found:?}, not {expected:?}", said()),
        };
        check_places(&found, &[text]);
        let ids: Vec<u32> = found.pieces.iter().map(|piece| piece.id).collect();
        assert_eq!(ids, expected.get_ids(), "{}", said());
        let mut before = 0;
        for (piece, (start, end)) in found.pieces.iter().zip(expected.get_offsets()) {
            let start = text.floor_char_boundary(*start.max(&before));
            let end = text.ceil_char_boundary(*end.max(&start));
            before = start;
            let is_same = piece.bytes.start == start && piece.bytes.end == end;
            let has_more = piece.bytes.start == start && piece.bytes.end > end && composes(&json["normalizer"]);
            assert!(is_same || has_more, "{}: {:?}, not {start}..{end}", said(), piece.bytes);
        }
    }
}

#[test]
fn ids_and_bytes_are_those_of_the_crate() {
    let (texts, normalisers, splitters) = (texts(), normalisers(), splitters());
    assert_eq!(texts.len(), TEXTS);
    for (model, (name, json)) in models().iter().enumerate() {
        // Each step of one kind with another of the other, in another order for each model.
        for (at, normaliser) in normalisers.iter().enumerate() {
            check(name, &json_of(json, normaliser, &splitters[(at + 7 * model) % splitters.len()]), &texts);
        }
        for (at, splitter) in splitters.iter().enumerate() {
            check(name, &json_of(json, &normalisers[(at * 5 + model) % normalisers.len()], splitter), &texts);
        }
    }
}

/// What the crate's texts have no way to say: which part of the text has no piece.
#[test]
fn a_part_without_a_piece_is_named() {
    let models = models();
    let model = |name: &str| &models.iter().find(|(other, _)| *other == name).expect("a model").1;
    let whitespace = json!({ "type": "Whitespace" });
    for (name, text, part) in
        [("WordLevel without unknown", "the zebra", "`zebra`"), ("Unigram without unknown", "thelö", "`ö`")]
    {
        let said = tokenizer(&json_of(model(name), &Value::Null, &whitespace).to_string()).encode(text);
        let said = said.expect_err("it has no piece");
        assert!(said.contains(part) && said.contains("has no piece"), "{said}");
    }
}

/// Dropout is for training: a text is cut the same way each time.
#[test]
fn dropout_is_left_out() {
    let mut json = json_of(&models()[0].1, &Value::Null, &json!({ "type": "Whitespace" }));
    let plain = tokenizer(&json.to_string()).encode("the river bank");
    json["model"]["dropout"] = json!(0.5);
    let dropped = tokenizer(&json.to_string());
    for _ in 0..20 {
        assert_eq!(dropped.encode("the river bank"), plain);
    }
}

/// Searches that would take hours end, and say so.
#[test]
fn a_pattern_that_takes_too_long_is_an_error_of_the_text() {
    let split = |pattern: &str| json!({ "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated" });
    let text = "a".repeat(4000);
    for (pattern, words) in [(r"(a|aa)+\1b", "takes too long"), (r"((a|b|ab)*)(?!d)\1c", "takes too long")] {
        let tokenizer = tokenizer(&json_of(&models()[0].1, &Value::Null, &split(pattern)).to_string());
        assert!(tokenizer.encode("the bank").is_ok());
        let said = tokenizer.encode(&text).expect_err("it takes too long");
        assert!(said.contains(words), "{said}");
    }
    let around = tokenizer(&json_of(&models()[0].1, &Value::Null, &split(r"\s+(?!\S)|\s+")).to_string());
    let said = around.encode(&"the ".repeat(5000)).expect_err("it is too long");
    assert!(said.contains("20000 bytes") && said.contains("at most 8192"), "{said}");
    // A pattern that does not look around reads on and on.
    let plain = tokenizer(&json_of(&models()[0].1, &Value::Null, &split(r"\s+")).to_string());
    assert!(plain.encode(&"the ".repeat(10_000)).is_ok());
}

/// A word of BERT's that is longer than any is an error where the file would have it cut.
#[test]
fn words_are_cut_up_to_a_length() {
    let mut json = json_of(&models()[8].1, &Value::Null, &json!({ "type": "Whitespace" }));
    json["model"]["max_input_chars_per_word"] = json!(1000);
    let tokenizer = tokenizer(&json.to_string());
    let pieces = |count: usize| tokenizer.encode(&"a".repeat(count)).map(|encoding| encoding.pieces.len());
    assert_eq!((pieces(512), pieces(1001)), (Ok(512), Ok(1)));
    assert_eq!(pieces(513), Err("a word has 513 characters; at most 512 are read".to_owned()));
}
