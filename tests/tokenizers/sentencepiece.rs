//! SentencePiece's own files, of Marian and of T5: the ids of random texts, the settings of the normaliser, places, and
//! files that are damaged or not supported.

use std::time::{Duration, Instant};

use attune_engine::pretrained::tokenizer::{OlderFiles, SpecialTokens, Tokenizer, TokenizerFiles};
use serde_json::Value;

use crate::common::snapshots::assert_catalogue;
use crate::places::check_places;
use crate::translators::{bytes, check_cover, ids, marian, marian_of, text};
use crate::{encode, list};

/// Numbers of fields in `sentencepiece_model.proto`: of the model, ...
const PIECES: u64 = 1;
const TRAINER: u64 = 2;
const NORMALIZER: u64 = 3;
/// ... of a piece, ...
const PIECE: u64 = 1;
const SCORE: u64 = 2;
const KIND: u64 = 3;
/// ... of the trainer, ...
const MODEL_TYPE: u64 = 3;
const SUFFIX: u64 = 24;
const BYTE_FALLBACK: u64 = 35;
/// ... and of the normaliser, whose three settings are true unless the file says otherwise.
const CHARSMAP: u64 = 2;
const SETTINGS: [u64; 3] = [3, 4, 5];

const NORMAL: u64 = 1;
const UNKNOWN: u64 = 2;
const CONTROL: u64 = 3;

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7F {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: u64, number: u64) -> Vec<u8> {
    [varint(field << 3), varint(number)].concat()
}

fn part(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn piece(text: impl AsRef<[u8]>, score: f32, kind: u64) -> Vec<u8> {
    let score = [varint(SCORE << 3 | 5), score.to_le_bytes().to_vec()].concat();
    part(PIECES, &[part(PIECE, text.as_ref()), score, number(KIND, kind)].concat())
}

/// A file of these pieces, and of those that every file has, without a table of characters.
fn file(pieces: &[Vec<u8>]) -> Vec<u8> {
    let special = [piece("<unk>", 0.0, UNKNOWN), piece("</s>", 0.0, CONTROL)];
    [special.concat(), pieces.concat(), part(TRAINER, &[]), part(NORMALIZER, &[])].concat()
}

fn letters() -> Vec<Vec<u8>> {
    ["▁", "a", "b", "ab"].iter().zip(1u8..).map(|(text, rank)| piece(text, -f32::from(rank), NORMAL)).collect()
}

/// T5's file: the pieces of its `tokenizer.json`, and Marian's normaliser.
fn spiece() -> Vec<u8> {
    const NAME: &[u8] = b"nmt_nfkc";
    /// Bytes of the normaliser before its name.
    const BEFORE: usize = 6;
    let json: Value = serde_json::from_str(&text("t5-wild", "tokenizer.json")).expect("JSON");
    let mut file = Vec::new();
    for entry in list(&json["model"]["vocab"]) {
        let (written, score) = (crate::text(&entry[0]), entry[1].as_f64().expect("a score"));
        let kind = match written {
            "<pad>" | "</s>" => CONTROL,
            "<unk>" => UNKNOWN,
            _ if written.starts_with("<extra_id_") => continue,
            _ => NORMAL,
        };
        file.extend(piece(written, score as f32, kind));
    }
    let source = bytes("marian-wild", "source.spm");
    let name = source.windows(NAME.len()).position(|part| part == NAME).expect("a normaliser");
    file.extend(part(TRAINER, &[]));
    file.extend(&source[name - BEFORE..]);
    file
}

#[track_caller]
fn t5(spiece: &[u8]) -> Tokenizer {
    let read = Tokenizer::read(TokenizerFiles::T5 { spiece, beside: OlderFiles::default() });
    read.unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn refused(spiece: &[u8]) -> String {
    let read = Tokenizer::read(TokenizerFiles::T5 { spiece, beside: OlderFiles::default() });
    let refusal = read.expect_err("it is refused").to_string();
    assert!(refusal.starts_with("spiece.model: ") && refusal.len() < 1000, "{refusal}");
    refusal
}

fn numbers(value: &Value) -> Vec<u32> {
    list(value).iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

/// `make_spm.py` made the texts and their ids with SentencePiece.
#[test]
fn ids_of_random_texts_are_sentencepieces() {
    let rows: Value = serde_json::from_str(include_str!("spm.json")).expect("JSON");
    let marian = marian();
    let spiece = spiece();
    let without = |setting: &u64| t5(&[spiece.clone(), part(NORMALIZER, &number(*setting, 0))].concat());
    let tables: Vec<Tokenizer> = std::iter::once(t5(&spiece)).chain(SETTINGS.iter().map(without)).collect();
    for row in list(&rows) {
        let written = crate::text(&row[0]);
        let source = encode(&marian, written);
        check_cover(&marian, &source, written);
        assert_eq!(ids(&source), numbers(&row[1]), "{written:?}");
        let target = marian.encode_target(written).unwrap_or_else(|why| panic!("{written:?}: {why}"));
        check_cover(&marian, &target, written);
        assert_eq!(ids(&target), numbers(&row[2]), "{written:?} as a target");
        let back = [SpecialTokens::Kept, SpecialTokens::LeftOut].map(|special| marian.decode(&ids(&source), special));
        assert_eq!(back, [3, 4].map(|at| crate::text(&row[at])), "{written:?}");
        for (number, tokenizer) in tables.iter().enumerate() {
            let encoding = encode(tokenizer, written);
            check_cover(tokenizer, &encoding, written);
            assert_eq!(ids(&encoding), numbers(&row[5 + number]), "{written:?} by table {number}");
        }
    }
}

#[test]
fn t5_reads_its_own_file_as_its_tokenizer_json() {
    let (own, json) = (t5(&spiece()), crate::tokenizer(&text("t5-wild", "tokenizer.json")));
    let cases: Value = serde_json::from_str(&text("t5-wild", "texts.json")).expect("cases");
    for case in list(&cases) {
        let written = crate::text(&case["text"]);
        let found = ids(&encode(&own, written));
        assert_eq!(found, numbers(&case["ids"]), "{written:?}");
        assert_eq!(own.decode(&found, SpecialTokens::LeftOut), crate::text(&case["decoded"]), "{written:?}");
    }
    assert_eq!(own.len(), json.len());
    for id in 0..own.len() as u32 {
        assert_eq!((own.piece(id), own.shown(id)), (json.piece(id), json.shown(id)));
    }
    let last = own.len() as u32 - 1;
    assert_eq!([own.id_of("<extra_id_0>"), own.id_of("<extra_id_99>")], [Some(last), Some(last - 99)]);
}

#[test]
fn t5_has_as_many_extra_ids_as_its_config_says() {
    let spiece = spiece();
    let beside = OlderFiles { config: Some(r#"{"extra_ids": 0}"#), ..OlderFiles::default() };
    let without = Tokenizer::read(TokenizerFiles::T5 { spiece: &spiece, beside }).expect("a tokenizer");
    assert_eq!(without.len() + 100, t5(&spiece).len());
    let beside = OlderFiles { config: Some(r#"{"extra_ids": 4000000000}"#), ..OlderFiles::default() };
    let refusal = Tokenizer::read(TokenizerFiles::T5 { spiece: &spiece, beside }).expect_err("too many").to_string();
    assert!(refusal.starts_with("tokenizer_config.json: "), "{refusal}");
}

#[test]
fn a_piece_has_the_bytes_that_became_it() {
    let marian = marian();
    let cases: [(&str, &[&str]); 6] = [
        ("the  model", &["the", "  model"]),
        // A code, and the blank before the text, which has no bytes.
        (">>fra<<static", &[">>fra<<", "", "static"]),
        // Each piece of a character that became several has the whole.
        ("\u{bd}", &["", "\u{bd}", "\u{bd}", "\u{bd}"]),
        // What is dropped belongs to the piece before it.
        (" a\u{7}\u{7}b", &["a\u{7}\u{7}", "b"]),
        ("the</s>the", &["the", "</s>", "the"]),
        ("\u{4e2d}\u{6587}", &["", "\u{4e2d}\u{6587}"]),
    ];
    for (written, expected) in cases {
        let encoding = encode(&marian, written);
        check_places(&encoding, &[written]);
        let pieces = encoding.pieces.iter().filter(|piece| piece.word.is_some());
        let found: Vec<&str> = pieces.map(|piece| &written[piece.bytes.clone()]).collect();
        assert_eq!(found, expected, "{written:?}");
    }
}

#[test]
fn words_are_cut_at_blanks_and_special_tokens() {
    let written = ">>fra<< the models </s>of it";
    let encoding = encode(&marian(), written);
    let words: Vec<&str> = encoding.words.iter().map(|word| &written[word.bytes.clone()]).collect();
    assert_eq!(words, [">>fra<<", "the", "models", "</s>", "of", "it"]);
}

/// Each is refused, and the message names the file: what is missing at the end is not only bytes.
#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let small = file(&letters());
    let marian = bytes("marian-wild", "source.spm");
    // Pieces, settings, and the beginning of the table of characters; then a part of what follows.
    const HEAD: usize = 3000;
    const STEP: usize = 5000;
    let ends = (0..HEAD).chain((HEAD..marian.len()).step_by(STEP)).chain(marian.len() - 20..marian.len());
    let cuts = (0..small.len()).map(|end| &small[..end]).chain(ends.map(|end| &marian[..end]));
    for cut in cuts {
        refused(cut);
    }
    assert_eq!(ids(&encode(&t5(&small), "ab")).len(), 3);
    let [vocab, target] = [text("marian-wild", "vocab.json"), String::new()];
    let whole = bytes("marian-wild", "source.spm");
    let refusal = marian_of(&whole, &whole[..100], &vocab).expect_err("the target's is cut");
    assert!(refusal.starts_with("target.spm: "), "{refusal}");
    let refusal = marian_of(&whole[..100], &whole, &vocab).expect_err("the source's is cut");
    assert!(refusal.starts_with("source.spm: "), "{refusal}");
    let refusal = marian_of(&whole, &whole, &target).expect_err("no vocabulary");
    assert!(refusal.starts_with("vocab.json: "), "{refusal}");
}

/// The file of a case of the catalogue.
fn case(name: &str) -> Vec<u8> {
    let with = |more: Vec<u8>| file(&[letters(), vec![more]].concat());
    let trained = |content: &[u8]| [file(&letters()), part(TRAINER, content)].concat();
    let mapped = |charsmap: &[u8]| [file(&letters()), part(NORMALIZER, &part(CHARSMAP, charsmap))].concat();
    let tree = |units: &[u32], texts: &[u8]| {
        let units: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        mapped(&[&(units.len() as u32).to_le_bytes()[..], &units, texts].concat())
    };
    const OF_TEXT: u32 = 1 << 31;
    match name {
        "no bytes" => Vec::new(),
        "another kind of file" => b"{\"model\": 1}".to_vec(),
        "a length beyond the file" => [file(&letters()), vec![0x0A, 0xFF, 0xFF, 0x03]].concat(),
        "a length of 2^64 - 1" => [vec![0x0A], varint(u64::MAX), file(&letters())].concat(),
        "a number of 11 bytes" => [vec![0x10], vec![0xFF; 10], vec![0x01], file(&letters())].concat(),
        "a kind of field that there is not" => [vec![0x0F], file(&letters())].concat(),
        "a group that does not end" => [[0x0B].repeat(100_000), file(&letters())].concat(),
        "a piece that is a number" => [number(PIECES, 7), file(&letters())].concat(),
        "a piece that is not UTF-8" => with(piece(b"\xFF\xFE", 0.0, NORMAL)),
        "a score of NaN" => with(piece("c", f32::NAN, NORMAL)),
        "an infinite score" => with(piece("c", f32::NEG_INFINITY, NORMAL)),
        "an empty piece" => with(piece("", 0.0, NORMAL)),
        "a piece of 300 bytes" => with(piece("c".repeat(300), 0.0, NORMAL)),
        "a piece twice" => with(piece("ab", 0.0, NORMAL)),
        "no piece of the type NORMAL" => file(&[]),
        "a million pieces" => file(&vec![part(PIECES, &[]); 1_000_000]),
        "5 MB of pieces" => {
            let texts = (0..25_000).map(|number| piece(format!("{number:0200}"), 0.0, NORMAL));
            file(&texts.collect::<Vec<_>>())
        }
        "33 MiB" => vec![0; 33 << 20],
        "BPE" => trained(&number(MODEL_TYPE, 2)),
        "WORD" => trained(&number(MODEL_TYPE, 3)),
        "CHAR" => trained(&number(MODEL_TYPE, 4)),
        "byte fallback" => trained(&number(BYTE_FALLBACK, 1)),
        "blanks behind words" => trained(&number(SUFFIX, 1)),
        "a piece of the user's" => with(piece("<sep>", 0.0, 4)),
        "a piece that is a byte" => with(piece("<0x41>", 0.0, 6)),
        "no piece for unknown characters" => {
            [piece("</s>", 0.0, CONTROL), letters().concat(), part(NORMALIZER, &[])].concat()
        }
        "a table of 3 bytes" => mapped(&[0, 0, 0]),
        "a tree beyond its table" => mapped(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]),
        "a text beyond its table" => tree(&[0, OF_TEXT | 9], b"x\0"),
        "a text that no zero ends" => tree(&[0, OF_TEXT], b"x"),
        "a text within a character" => tree(&[0, OF_TEXT | 1], "é\0".as_bytes()),
        "texts that are not UTF-8" => tree(&[0], b"\xFF\0"),
        "a table of 5 MB" => mapped(&vec![0; 5 << 20]),
        other => panic!("no case {other}"),
    }
}

#[test]
fn damaged_files_and_unknown_options_are_refused_by_name() {
    assert_catalogue("tests/tokenizers/spm.txt", |_, name| refused(&case(name)));
}

/// Far more than it takes.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn pieces_within_each_other_end_soon() {
    let nested: Vec<Vec<u8>> = (1..=256).map(|length| piece("a".repeat(length), -1.0, NORMAL)).collect();
    let tokenizer = t5(&file(&nested));
    let begun = Instant::now();
    let written = "a".repeat(100_000);
    let encoding = encode(&tokenizer, &written);
    check_cover(&tokenizer, &encoding, &written);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    // 390 of 256 letters, one of 160, the blank before the text, which is no piece, and the end.
    assert_eq!(encoding.pieces.len(), 393);
}

/// The tree has one sequence, `a`, for which a text of 1 MB stands.
#[test]
fn a_table_that_makes_texts_long_beyond_reason_is_not_followed() {
    const ENDS: u32 = 1 << 8;
    const OF_TEXT: u32 = 1 << 31;
    let mut tree = vec![0u32; 256];
    // The root leads to itself; the node of `a` is at its code, and its text at the place of its offset, 1, from there.
    tree[usize::from(b'a')] = 1 << 10 | ENDS | u32::from(b'a');
    tree[usize::from(b'a') ^ 1] = OF_TEXT;
    let units: Vec<u8> = tree.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let charsmap = |text: &str| [&(units.len() as u32).to_le_bytes()[..], &units, text.as_bytes(), b"\0"].concat();
    let tokenizer = |text: &str| {
        let normaliser = part(NORMALIZER, &part(CHARSMAP, &charsmap(text)));
        t5(&[file(&letters()), normaliser].concat())
    };
    let is_b = tokenizer("b");
    assert_eq!(ids(&encode(&is_b, "a")), ids(&encode(&is_b, "b")));
    let said = tokenizer(&"b".repeat(1 << 20)).encode(&"a".repeat(1000)).expect_err("it grows");
    assert!(said.contains("the tokenizer's steps make more than"), "{said}");
}
