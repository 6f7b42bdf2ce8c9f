//! Files of vectors as people have them: forms of other programs, which are read as these programs read them, forms of
//! text, and files that look like others. What cannot be read with certainty is refused, and never read as other
//! numbers.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use attune_engine::vectors::{Format, Vectors, are_row_numbers};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use half::bf16;
use serde_json::{Value, json};

use super::formats::{npy, safetensors};
use super::{fixture, good, opened};
use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;

/// What the programs that wrote the fixtures read from them: see oracle/other_forms.py.
fn expected() -> BTreeMap<String, BTreeMap<String, Vec<f32>>> {
    let text = fs::read_to_string(fixture("other_forms.json")).expect("what other programs read");
    serde_json::from_str(&text).expect("JSON")
}

fn words(vectors: &Vectors) -> Vec<&str> {
    vectors.words.iter().map(|word| &**word).collect()
}

/// A file in a folder, read.
fn put(folder: &Folder, name: &str, bytes: &[u8]) -> Result<Vectors, String> {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, bytes).expect("written");
    opened(&path).map_err(|why| why.to_string())
}

fn of(name: &str, bytes: &[u8]) -> Result<Vectors, String> {
    put(&Folder::new("forms"), name, bytes)
}

#[track_caller]
fn check_refused(name: &str, bytes: &[u8], parts: &[&str]) {
    match of(name, bytes) {
        Ok(vectors) => panic!("{name} is read as {:?} {:?}", words(&vectors), vectors.rows.flat()),
        Err(why) => assert!(parts.iter().all(|part| why.contains(part)), "{name}: {why}"),
    }
}

#[test]
fn words_of_fast_text_and_tokens_of_model2vec_have_the_vectors_of_these_programs() {
    for (name, wanted) in expected() {
        let vectors = good(&name);
        assert_eq!(vectors.len(), wanted.len(), "{name}");
        for (word, wanted) in wanted {
            let row = vectors.row_of(&word).unwrap_or_else(|| panic!("{name}: no {word}"));
            assert_close(format!("{name}: {word}"), vectors.rows.row(row), wanted, Tolerance::SINGLE);
        }
    }
    assert_eq!(good("fasttext.bin").format, Format::FastText);
    let why = opened(&fixture("fasttext.ftz")).expect_err("quantised").to_string();
    assert!(why.contains("quantised") && why.contains(".bin"), "{why}");
}

/// The tensors of a model2vec model of two rows and four tokens, with one of them changed.
fn static_model(name: &str, kind: &str, bytes: &[u8], count: usize) -> Vec<u8> {
    let table = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    let mapping = [0_i32, 1, 1, 0].map(i32::to_le_bytes).concat();
    let weights = [1.0_f32, 2.0, 0.5, 1.0].map(f32::to_le_bytes).concat();
    let mut tensors = BTreeMap::from([
        ("embeddings", ("F32", vec![2, 2], table)),
        ("mapping", ("I32", vec![4], mapping)),
        ("weights", ("F32", vec![4], weights)),
    ]);
    tensors.insert(name, (kind, vec![count], bytes.to_vec()));
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, (kind, shape, bytes)) in tensors {
        let offsets = [data.len(), data.len() + bytes.len()];
        header.insert(name.to_owned(), json!({ "dtype": kind, "shape": shape, "data_offsets": offsets }));
        data.extend(bytes);
    }
    let header = Value::from(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

#[test]
fn a_mapping_of_tokens_that_does_not_fit_is_refused_by_its_name() {
    let wide = [1_i64, 0, 1, 1].map(i64::to_le_bytes).concat();
    let found = of("model.safetensors", &static_model("mapping", "I64", &wide, 4)).expect("four tokens");
    assert_eq!(found.rows.flat(), [3.0, 4.0, 2.0, 4.0, 1.5, 2.0, 3.0, 4.0]);
    let cases: [(&str, &str, Vec<u8>, usize, &str); 6] = [
        ("mapping", "I32", [0_i32, 2, 0, 0].map(i32::to_le_bytes).concat(), 4, "`mapping`: found 2 for token 1"),
        ("mapping", "I32", [0_i32, -1, 0, 0].map(i32::to_le_bytes).concat(), 4, "`mapping`: found a negative number"),
        ("mapping", "U64", [u64::MAX, 0, 0, 0].map(u64::to_le_bytes).concat(), 4, "`mapping`: found 1844"),
        ("mapping", "F32", [0.0_f32; 4].map(f32::to_le_bytes).concat(), 4, "`mapping`: found numbers of the kind F32"),
        ("mapping", "I32", [0_i32; 3].map(i32::to_le_bytes).concat(), 3, "`weights`: found 4 weights"),
        ("weights", "F32", [1.0_f32; 5].map(f32::to_le_bytes).concat(), 5, "`weights`: found 5 weights"),
    ];
    for (name, kind, bytes, count, why) in cases {
        check_refused("model.safetensors", &static_model(name, kind, &bytes, count), &[why]);
    }
}

/// The same two rows in every form of text.
const TEXTS: [(&str, &str, Format); 25] = [
    ("comma.csv", "king,0.5,-1.25,3\nqueen,2.5,0.25,4\n", Format::Csv),
    ("blank after comma", "king, 0.5, -1.25, 3\nqueen, 2.5, 0.25, 4\n", Format::Csv),
    ("comma at the end", "king,0.5,-1.25,3,\nqueen,2.5,0.25,4,\n", Format::Csv),
    ("blank after the word", "king 0.5,-1.25,3.0\nqueen 2.5,0.25,4.0\n", Format::Csv),
    ("tab after the word", "king\t0.5,-1.25,3.0\nqueen\t2.5,0.25,4.0\n", Format::Csv),
    ("R's write.csv", "\"\",\"V1\",\"V2\",\"V3\"\n\"king\",0.5,-1.25,3\n\"queen\",2.5,0.25,4\n", Format::Csv),
    ("pandas with its index", ",0,1,2\nking,0.5,-1.25,3.0\nqueen,2.5,0.25,4.0\n", Format::Csv),
    ("pandas with a column of words", "word,0,1,2\nking,0.5,-1.25,3.0\nqueen,2.5,0.25,4.0\n", Format::Csv),
    ("pandas with both", ",word,0,1,2\n0,king,0.5,-1.25,3.0\n1,queen,2.5,0.25,4.0\n", Format::Csv),
    ("numbers in quotes", "\"king\",\"0.5\",\"-1.25\",\"3\"\n\"queen\",\"2.5\",\"0.25\",\"4\"\n", Format::Csv),
    ("semicolons", "king;0.5;-1.25;3\nqueen;2.5;0.25;4\n", Format::Csv),
    ("semicolons and decimal commas", "king;0,5;-1,25;3\nqueen;2,5;0,25;4\n", Format::Csv),
    ("names, semicolons and commas", "Wort;x;y;z\nking;0,5;-1,25;3\nqueen;2,5;0,25;4\n", Format::Csv),
    ("blanks and decimal commas", "king 0,5 -1,25 3,0\nqueen 2,5 0,25 4,0\n", Format::Glove),
    ("tabs and decimal commas", "king\t0,5\t-1,25\t3\nqueen\t2,5\t0,25\t4\n", Format::Glove),
    ("header and decimal commas", "2 3\nking 0,5 -1,25 3\nqueen 2,5 0,25 4,0E0\n", Format::Word2VecText),
    ("CRLF", "2 3\r\nking 0.5 -1.25 3\r\nqueen 2.5 0.25 4\r\n", Format::Word2VecText),
    ("CSV with CRLF", "king,0.5,-1.25,3\r\nqueen,2.5,0.25,4\r\n", Format::Csv),
    ("a mark before a header", "\u{feff}2 3\nking 0.5 -1.25 3\nqueen 2.5 0.25 4\n", Format::Word2VecText),
    ("a mark before the first word", "\u{feff}king 0.5 -1.25 3\nqueen 2.5 0.25 4\n", Format::Glove),
    ("a mark before CSV", "\u{feff}king,0.5,-1.25,3\nqueen,2.5,0.25,4\n", Format::Csv),
    ("tabs and names", "word\tx0\tx1\tx2\nking\t0.5\t-1.25\t3\nqueen\t2.5\t0.25\t4\n", Format::Glove),
    ("R's write.table", "\"V1\" \"V2\" \"V3\"\nking 0.5 -1.25 3\nqueen 2.5 0.25 4\n", Format::Glove),
    ("tabs and pandas' index", "\t0\t1\t2\nking\t0.5\t-1.25\t3\nqueen\t2.5\t0.25\t4\n", Format::Glove),
    ("deeplearning4j", "2 3 77\nB64:a2luZw== 0.5 -1.25 3\nB64:cXVlZW4= 2.5 0.25 4\n", Format::Word2VecText),
];
const KING_AND_QUEEN: [f32; 6] = [0.5, -1.25, 3.0, 2.5, 0.25, 4.0];

#[test]
fn each_form_of_text_gives_the_same_words_and_numbers() {
    for (name, text, format) in TEXTS {
        let found = of("file", text.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((words(&found), found.rows.flat()), (vec!["king", "queen"], &KING_AND_QUEEN[..]), "{name}");
        assert_eq!((found.format, found.report.left_out()), (format, 0), "{name}");
    }
}

#[test]
fn tables_without_words_keep_all_their_numbers_and_have_no_words() {
    let nameless = [
        ("names of columns", "x0\tx1\tx2\n0.5\t-1.25\t3\n2.5\t0.25\t4\n", 2),
        ("counted columns", "0\t1\t2\n0.5\t-1.25\t3.0\n2.5\t0.25\t4.0\n", 2),
        ("commas", "0.5,-1.25,3\n2.5,0.25,4\n", 2),
        ("tabs and decimal commas", "0,5\t-1,25\t3,0\n2,5\t0,25\t4,0\n", 2),
        ("numbers of rows", "0\t0.5\t-1.25\t3.0\n1\t2.5\t0.25\t4.0\n2\t0.5\t-1.25\t3.0\n", 3),
        ("numbers of rows and commas", "0,0.5,-1.25,3.0\n1,2.5,0.25,4.0\n2,0.5,-1.25,3.0\n", 3),
    ];
    for (name, text, count) in nameless {
        let found = of("file", text.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((found.width(), found.len()), (3, count), "{name}");
        assert_eq!(found.rows.flat()[..6], KING_AND_QUEEN, "{name}");
        assert!(found.why_no_words().is_some() && are_row_numbers(found.words.iter().map(|word| &**word)), "{name}");
    }
}

#[test]
fn odd_words_in_quotes_are_whole() {
    let text = "\"New York, NY\",0.5,1\n\"say \"\"hello\"\"\",0.25,2\nroute 66,0.5,3\na, b,0.5,4\n\",0.5,5\n";
    let found = of("file.csv", text.as_bytes()).expect("rows");
    assert_eq!(words(&found), ["New York, NY", "say \"hello\"", "route 66", "a, b", "\""]);
    assert_eq!(found.rows.flat(), [0.5, 1.0, 0.25, 2.0, 0.5, 3.0, 0.5, 4.0, 0.5, 5.0]);
}

#[test]
fn commas_that_may_mean_two_things_are_refused() {
    for text in ["a 1,5\nb 2,5\nc 0,5\n", "a,0,153,-1,487\nb,0,253,2,5\n", "0,5\n0,75\n"] {
        check_refused("file", text.as_bytes(), &["commas that may be within numbers or between them", "point"]);
    }
    // A header says which.
    let found = of("file", b"3 1\na 1,5\nb 2,5\nc 0,5\n").expect("one number each");
    assert_eq!(found.rows.flat(), [1.5, 2.5, 0.5]);
}

/// Text of any encoding with a header, whose lines are rows or not, is text.
#[test]
fn text_is_never_read_as_binary_numbers() {
    let line = |i: usize| format!("wort{i} -0,9394 0,8428 {i},3446 0,4417\n");
    let commas: String = (0..200).map(line).collect();
    let found = of("a.vec", format!("200 4\n{commas}").as_bytes()).expect("decimal commas");
    assert_eq!((found.len(), found.width(), &found.rows.row(2)[..3]), (200, 4, &[-0.9394, 0.8428, 2.3446][..]));
    assert!(found.report.notes.iter().any(|note| note.contains("decimal commas")), "{:?}", found.report.notes);
    // Latin-1.
    let latin: Vec<u8> = format!("200 4\n{}", commas.replace("wort", "w\u{1}rt")).into_bytes();
    let latin: Vec<u8> = latin.iter().map(|byte| if *byte == 1 { 0xf6 } else { *byte }).collect();
    let found = of("a.vec", &latin).expect("decimal commas");
    assert_eq!((found.len(), found.rows.row(199)[2]), (200, 199.3446));
    let odd = [
        commas.replace(' ', "|"),
        commas.replace(",", ".").replace(' ', ":"),
        commas.replace("0,", "1.000,"),
        (0..200).map(|i| format!("wort{i} [0.1 0.2 0.3 0.4]\n")).collect(),
        "the quick brown fox jumps over the lazy dog\n".repeat(100),
    ];
    for text in odd {
        check_refused("a.vec", format!("200 4\n{text}").as_bytes(), &["no line with a word and its numbers"]);
    }
    // Numbers of eight bytes, and the other order of bytes.
    let eight = |i: usize| [format!("w{i} ").as_bytes(), &[0.25_f64, -3.0].map(f64::to_be_bytes).concat()].concat();
    let turned = |i: usize| [format!("w{i} ").as_bytes(), &[0.3_f32, -3.7].map(f32::to_be_bytes).concat()].concat();
    for row in [eight, turned as fn(usize) -> Vec<u8>] {
        let rows: Vec<u8> = (0..50).flat_map(row).collect();
        check_refused("a.bin", &[b"50 2\n", &rows[..]].concat(), &["neither lines of 2 numbers nor their bytes"]);
    }
}

#[test]
fn files_of_other_kinds_are_named_before_they_are_read() {
    let utf_16: Vec<u8> = "\u{feff}king 0.1 0.2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let kinds: [(&[u8], &str, &str); 7] = [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1238123\n", "Git LFS", "git lfs pull"),
        (b"<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", "web page", "download"),
        (b"GGUF\x03\0\0\0\0\0", "GGUF", "safetensors"),
        (b"\x80\x04\x95\xaf\0", "pickled", "save_word2vec_format"),
        (&utf_16, "UTF-16", "UTF-8"),
        (b"BZh91AY&SY", "bzip2", "unpack"),
        (b"\x89HDF\r\n\x1a\n\0\0", "HDF5", "np.savez"),
    ];
    for (bytes, what, advice) in kinds {
        check_refused("file", bytes, &[what, advice]);
        check_refused("file", &gzip(bytes), &[what, advice]);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).expect("packed");
    packed.finish().expect("packed")
}

/// A zip of files that are deflated; with large numbers in extra fields if it is said that they are.
fn zip(files: &[(&str, &[u8])], is_large: bool) -> Vec<u8> {
    let (mut whole, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).expect("packed");
        let (packed, mut crc) = (packed.finish().expect("packed"), flate2::Crc::new());
        crc.update(bytes);
        let sizes = [packed.len() as u32, if is_large { u32::MAX } else { bytes.len() as u32 }];
        let large = [&[1, 0, 8, 0][..], &(bytes.len() as u64).to_le_bytes()].concat();
        let extra: &[u8] = if is_large { &large } else { &[] };
        let numbers = [crc.sum(), sizes[0], sizes[1]].map(u32::to_le_bytes).concat();
        let lengths = [name.len() as u16, extra.len() as u16].map(u16::to_le_bytes).concat();
        let about = [&[20, 0, 0, 0, 8, 0, 0, 0, 0, 0][..], &numbers, &lengths].concat();
        let at = (whole.len() as u32).to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\0", &about[..], &[0; 10], &at, name.as_bytes(), extra].concat());
        whole.extend([b"PK\x03\x04", &about[..], name.as_bytes(), extra, &packed].concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let places = [directory.len() as u32, whole.len() as u32].map(u32::to_le_bytes).concat();
    [&whole[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &places, &[0, 0]].concat()
}

#[test]
fn a_zip_of_one_file_is_read_and_one_of_several_names_them() {
    for (name, text, format) in TEXTS {
        let packed = zip(&[("dir/", b""), ("dir/glove.txt", text.as_bytes()), ("__MACOSX/._glove.txt", b"x")], true);
        let found = of("glove.zip", &packed).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((found.rows.flat(), found.format), (&KING_AND_QUEEN[..], format), "{name}");
    }
    for name in ["plain.bin", "plain.npy", "fasttext.bin", "glove.txt"] {
        let bytes = fs::read(fixture(name)).expect("a fixture");
        let found = of("a.zip", &zip(&[(name, &bytes)], false)).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(found.rows.flat(), good(name).rows.flat(), "{name}");
    }
    let text = TEXTS[0].1.as_bytes();
    let several = zip(&[("glove.50d.txt", text), ("glove.100d.txt", text)], false);
    check_refused("glove.zip", &several, &["a zip of 2 files: `glove.50d.txt`, `glove.100d.txt`", "unpack it"]);
    check_refused("a.zip", &zip(&[("a.txt.gz", &gzip(text))], false), &["a zip with `a.txt.gz`", "unpack it"]);
    check_refused("a.zip", &zip(&[("model/data.pkl", b"\x80\x02}q\0.")], false), &["PyTorch", "pickle"]);
    // A number that is another after the packing does not pass without a word.
    let plain = b"king 0.5 1\nqueen 2.5 0.25\n";
    let mut damaged = zip(&[("a.txt", plain)], false);
    let directory = damaged.windows(4).position(|four| four == b"PK\x01\x02").expect("a directory");
    damaged[directory + 16] ^= 1;
    let lines = of("a.zip", &damaged).expect("its rows").report.lines();
    assert!(lines.iter().any(|line| line.contains("checksum")), "{lines:?}");
}

const ROWS: &str = "0.5\t1.5\n2.5\t3.5\n4.5\t5.5\n";

/// Metadata beside three rows; the names that they get, and words of the report.
#[test]
fn metadata_names_rows_only_where_each_has_an_entry() {
    let cases: [(&str, [&str; 3], &str); 15] = [
        ("a\nb\nc\n", ["a", "b", "c"], ""),
        ("a\nb\nc", ["a", "b", "c"], ""),
        ("\u{feff}a\r\nb\r\nc\r\n\r\n", ["a", "b", "c"], ""),
        ("unit\na\nb\nc\n", ["a", "b", "c"], "`unit`, is taken for the column's name"),
        ("word\tcount\na\t1\nb\t2\nc\t3\n", ["a", "b", "c"], ""),
        ("count\tword\n1\ta\n2\tb\n3\tc\n", ["a", "b", "c"], ""),
        ("\u{feff}word\tcount\na\t1\nb\t2\nc\t3\n\n\n", ["a", "b", "c"], ""),
        ("a\t1\nb\t2\nc\t3\n", ["a", "b", "c"], "has no line with the names of its columns"),
        ("word\tcount\na\t1\nb\t2\n", ["0", "1", "2"], "has 3 lines for 3 rows"),
        ("a\nb\n", ["0", "1", "2"], "has 2 lines for 3 rows"),
        ("a\nb\nc\nd\ne\n", ["0", "1", "2"], "has 5 lines for 3 rows"),
        ("x\ty\na\t1\nb\t2\nc\t3\nd\t4\n", ["0", "1", "2"], "has 5 lines for 3 rows"),
        ("", ["0", "1", "2"], "has 0 lines for 3 rows"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1\n", ["0", "1", "2"], "Git LFS"),
        ("a\n\nc\n", ["a", "1", "c"], "1 row without a word"),
    ];
    for (table, names, note) in cases {
        let folder = Folder::new("named");
        fs::write(folder.join("metadata.tsv"), table).expect("written");
        let found = put(&folder, "tensors.tsv", ROWS.as_bytes()).unwrap_or_else(|why| panic!("{table:?}: {why}"));
        let report = found.report.lines().join("\n");
        assert_eq!(words(&found), names, "{table:?}: {report}");
        assert!(report.contains(note), "{table:?}: {report}");
        assert_eq!(note.is_empty(), report.is_empty(), "{table:?}: {report}");
    }
}

#[test]
fn a_vocabulary_beside_an_array_is_found_and_a_pickle_is_named() {
    let array = npy("<f4", false, "2, 1", &[1.0_f32, 2.0].map(f32::to_le_bytes).concat());
    for name in ["1900-vocab.txt", "1900-w_metadata.tsv", "1900-w-vocab.txt", "1900-w.txt"] {
        let folder = Folder::new("beside");
        fs::write(folder.join(name), "a\nb\n").expect("written");
        assert_eq!(words(&put(&folder, "1900-w.npy", &array).expect("read")), ["a", "b"], "{name}");
    }
    let folder = Folder::new("pickled");
    fs::write(folder.join("1900-vocab.pkl"), b"\x80\x04]\x94.").expect("written");
    let found = put(&folder, "1900-w.npy", &array).expect("read");
    let why = found.why_no_words().expect("no words");
    assert!(why.contains("`1900-vocab.pkl`, a Python pickle") && why.contains("1900-w_metadata.tsv"), "{why}");
    // A longer list is another file's; the text of the same vectors has no word in each line.
    fs::write(folder.join("1900-w.txt"), "a 1.0\nb 2.0\nc 3.0\nd 4.0\n").expect("written");
    fs::write(folder.join("metadata.tsv"), "a\nb\n").expect("written");
    assert_eq!(words(&put(&folder, "1900-w.npy", &array).expect("read")), ["a", "b"]);
}

#[test]
fn tokenizers_and_lists_name_only_rows_that_are_theirs() {
    let table = safetensors("embeddings", "F32", [3, 1], &[1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat());
    let tokenizer =
        |vocab: Value, added: Value| json!({ "added_tokens": added, "model": { "vocab": vocab } }).to_string();
    let (map, list) = (json!({ "a": 0, "b": 1, "c": 2 }), json!([["a", 0.0], ["b", -1.5], ["c", -2]]));
    let image = json!([{ "id": 3, "content": "<image>" }]);
    let cases: [(&str, String, [&str; 3], &str); 9] = [
        ("tokenizer.json", tokenizer(map.clone(), json!([])), ["a", "b", "c"], ""),
        ("tokenizer.json", tokenizer(list, json!([])), ["a", "b", "c"], ""),
        ("tokenizer.json", tokenizer(map, image.clone()), ["a", "b", "c"], ""),
        ("tokenizer.json", tokenizer(json!({ "a": 0, "b": 1, "c": 2, "<image>": 3 }), image), ["a", "b", "c"], ""),
        ("tokenizer.json", tokenizer(json!({ "a": 0, "b": 1 }), json!([])), ["a", "b", "2"], ""),
        (
            "tokenizer.json",
            tokenizer(json!({ "a": 0, "b": 1, "c": 2, "d": 3 }), json!([])),
            ["0", "1", "2"],
            "1 of 4 pieces",
        ),
        ("vocab.txt", "\u{feff}a\r\nb\r\nc\r\n".to_owned(), ["a", "b", "c"], ""),
        ("vocab.txt", "a\nb\n".to_owned(), ["0", "1", "2"], "2 lines for 3 rows"),
        ("vocab.txt", "[PAD]\na\nb\nc\n".to_owned(), ["0", "1", "2"], "4 lines for 3 rows"),
    ];
    for (name, text, names, note) in cases {
        let folder = Folder::new("pieces");
        fs::write(folder.join(name), &text).expect("written");
        let found = put(&folder, "model.safetensors", &table).unwrap_or_else(|why| panic!("{text}: {why}"));
        let report = found.report.lines().join("\n");
        assert_eq!(words(&found), names, "{text}: {report}");
        assert!(report.contains(note), "{text}: {report}");
    }
}

#[test]
fn configs_of_the_projector_are_read_in_each_form() {
    let table = [1.0_f32, -2.0, 0.5, 4.0].map(f32::to_le_bytes).concat();
    let folder = Folder::new("projector");
    for (name, bytes) in
        [("t.bytes", &table[..]), ("sub/t.tsv", b"x\ty\n1\t-2\n0.5\t4\n"), ("m.tsv", b"word\tn\na\t1\nb\t2\n")]
    {
        let _ = put(&folder, name, bytes);
    }
    let text_form = "embeddings {\n  tensor_name: \"x\"\n  tensor_path: \"sub/t.tsv\"\n  metadata_path: 'm.tsv'\n}\n";
    let json_form = |path: &str, shape: &[u64]| {
        json!({ "embeddings": [{ "tensorPath": path, "tensorShape": shape, "metadataPath": "m.tsv" }] }).to_string()
    };
    let read: [(&str, String); 5] = [
        ("a.json", json_form("t.bytes", &[2, 2])),
        ("config.json", json_form("sub/t.tsv", &[])),
        ("marked.json", format!("\u{feff}{}", json_form("t.bytes", &[2, 2]))),
        ("projector_config.pbtxt", text_form.to_owned()),
        (
            "other.pbtxt",
            format!("model_checkpoint_path: \"x\"\n{}", text_form.replace("embeddings {", "embeddings: {")),
        ),
    ];
    for (name, config) in read {
        let found = put(&folder, name, config.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((words(&found), found.rows.flat()), (vec!["a", "b"], &[1.0, -2.0, 0.5, 4.0][..]), "{name}");
    }
    let refused: [(&str, String, &str); 5] = [
        ("a.json", json_form("https://example.org/t.tsv", &[2, 2]), "the address `https://example.org/t.tsv`"),
        ("a.json", json_form("../t.bytes", &[2, 2]), "the path `../t.bytes`"),
        ("a.json", json_form("t.bytes", &[2, 3]), "16 bytes in the binary table; expected 2 rows of 3 numbers"),
        ("a.json", json_form("t.bytes", &[]), "`tensorShape`"),
        ("a.pbtxt", "embeddings {\n  tensor_name: \"x\"\n}\n".to_owned(), "checkpoint"),
    ];
    for (name, config, why) in refused {
        let found = put(&folder, name, config.as_bytes()).expect_err(name);
        assert!(found.contains(why), "{name}: {found}");
    }
}

#[test]
fn whole_numbers_and_bfloat16_are_read_and_whole_ones_are_told() {
    let kinds: [(&str, &str, Vec<u8>, [f32; 4]); 7] = [
        ("|i1", "I8", vec![1, 0x80, 0x7f, 0xff], [1.0, -128.0, 127.0, -1.0]),
        ("|u1", "U8", vec![1, 0x80, 0x7f, 0xff], [1.0, 128.0, 127.0, 255.0]),
        ("<i2", "I16", [1_i16, -300, 7, 0].map(i16::to_le_bytes).concat(), [1.0, -300.0, 7.0, 0.0]),
        ("<u2", "U16", [1_u16, 65_535, 7, 0].map(u16::to_le_bytes).concat(), [1.0, 65_535.0, 7.0, 0.0]),
        ("<i4", "I32", [1_i32, -70_000, 7, 0].map(i32::to_le_bytes).concat(), [1.0, -70_000.0, 7.0, 0.0]),
        ("<i8", "I64", [1_i64, -70_000, 7, 0].map(i64::to_le_bytes).concat(), [1.0, -70_000.0, 7.0, 0.0]),
        ("<V2", "BF16", [1.0, -2.5, 0.5, 3.0].map(|x| bf16::from_f32(x).to_le_bytes()).concat(), [1.0, -2.5, 0.5, 3.0]),
    ];
    for (numpy, tensor, bytes, wanted) in kinds {
        let files = [npy(numpy, false, "2, 2", &bytes), safetensors("embeddings", tensor, [2, 2], &bytes)];
        for file in files {
            let found = of("file", &file).unwrap_or_else(|why| panic!("{tensor}: {why}"));
            let notes = found.report.notes.join("\n");
            assert_eq!(found.rows.flat(), wanted, "{tensor}");
            assert_eq!(notes.contains("the numbers are whole"), tensor != "BF16", "{tensor}: {notes}");
        }
    }
    let big = [1_i16, -300].map(i16::to_be_bytes).concat();
    assert_eq!(of("a.npy", &npy(">i2", false, "1, 2", &big)).expect("read").rows.flat(), [1.0, -300.0]);
}

/// The files of each form, with what lies beside them.
fn originals() -> Vec<(String, PathBuf, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> =
        TEXTS.iter().map(|(name, text, _)| (format!("{name}.txt"), text.as_bytes().to_vec())).collect();
    for name in ["fasttext.bin", "fasttext_labels.bin", "fasttext.ftz", "m2v_i64/model.safetensors"] {
        all.push((name.replace('/', "_"), fs::read(fixture(name)).expect("a fixture")));
    }
    all.push(("a.zip".to_owned(), zip(&[("a.txt", TEXTS[0].1.as_bytes())], false)));
    all.push(("a.npy".to_owned(), npy("|i1", false, "2, 2", &[1, 2, 3, 4])));
    all.push(("a.pbtxt".to_owned(), b"embeddings { tensor_path: \"comma.csv.txt\" metadata_path: \"m\" }".to_vec()));
    all.into_iter().map(|(name, bytes)| (name.clone(), PathBuf::from(name), bytes)).collect()
}

/// Cut anywhere and with any byte another, each form is read or refused, and nothing panics. Of what is cut, the rows
/// that are read are those of the whole.
#[test]
fn damaged_files_of_each_form_are_read_as_far_as_they_are_sound_or_refused() {
    for (name, file, bytes) in originals() {
        let folder = Folder::new("damaged");
        let whole = put(&folder, "whole", &bytes).ok();
        // Larger files are damaged in fewer places.
        let step = if bytes.len() > 400 { 17 } else { 1 };
        for at in (0..bytes.len()).step_by(step) {
            let mut mutant = bytes.clone();
            mutant[at] ^= 0x11;
            _ = put(&folder, &file.display().to_string(), &mutant);
            let Ok(cut) = put(&folder, &file.display().to_string(), &bytes[..at]) else { continue };
            let Some(whole) = whole.as_ref().filter(|whole| whole.width() == cut.width()) else { continue };
            // The last number of a text may have lost digits, which nobody can know.
            let sound = (cut.len().saturating_sub(1)) * cut.width();
            assert!(cut.len() <= whole.len(), "{name} cut at {at}");
            assert_eq!(cut.rows.flat()[..sound], whole.rows.flat()[..sound], "{name} cut at {at}");
        }
    }
}
