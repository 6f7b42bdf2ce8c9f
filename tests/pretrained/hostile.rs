//! Files that are wrong, each refused in words that say where and what.

use attune_engine::pretrained::Refusal;
use attune_engine::pretrained::safetensors::{Dtype, READ, ShardIndex, TensorSource, bytes_read};

use crate::common::snapshots::{assert_catalogue, written_out};
use crate::written::{Written, WrittenTensor, file};

/// Reads all of a file: the numbers of each tensor, by name.
fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<f32>)>, Refusal> {
    let mut source = TensorSource::open(bytes, bytes.len() as u64)?;
    let mut all = Vec::new();
    while let Some(tensor) = source.next().cloned() {
        let mut numbers = Vec::new();
        source.read_next(1, &mut |row, some| {
            assert_eq!(row, numbers.len());
            numbers.extend_from_slice(some);
            true
        })?;
        all.push((tensor.name, numbers));
    }
    Ok(all)
}

#[track_caller]
fn refused(bytes: &[u8], words: &[&str]) {
    let said = read(bytes).expect_err("it is refused").to_string();
    for words in words {
        assert!(said.contains(words), "{said}\nlacks: {words}");
    }
    assert!(said.len() < 1200 && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn numbers_of_every_kind_are_read() {
    let tensor = |name: &str, dtype, shape: &[usize], bytes: &[u8]| WrittenTensor {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        bytes: bytes.to_vec(),
    };
    let written = Written {
        tensors: vec![
            WrittenTensor::f32("ü", &[2, 1], &[1.5, -2.0]),
            tensor("empty", "F32", &[3, 0], &[]),
            tensor("half", "F16", &[2], &[0x00, 0x3c, 0x01, 0x00]),
            tensor("brain", "BF16", &[1], &[0x80, 0x3f]),
            tensor("double", "F64", &[], &0.1f64.to_le_bytes()),
        ],
    };
    let found = read(&written.bytes()).expect("it is whole");
    let expected: [(&str, &[f32]); 5] =
        [("ü", &[1.5, -2.0]), ("empty", &[]), ("half", &[1.0, 5.960_464_5e-8]), ("brain", &[1.0]), ("double", &[0.1])];
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((&*found.0, &*found.1), expected);
    }
    assert_eq!(found.len(), 5);
}

#[test]
fn large_tensors_come_in_whole_rows() {
    let numbers: Vec<f32> = (0..300_000).map(|i| i as f32).collect();
    let bytes = Written { tensors: vec![WrittenTensor::f32("x", &[100, 3000], &numbers)] }.bytes();
    let mut source = TensorSource::open(&*bytes, bytes.len() as u64).expect("a file");
    let (mut found, mut pieces) = (Vec::new(), 0);
    let read = source.read_next(3000, &mut |row, some| {
        assert_eq!((row * 3000, some.len() % 3000), (found.len(), 0));
        found.extend_from_slice(some);
        pieces += 1;
        true
    });
    assert_eq!(read, Ok(true));
    assert!(found == numbers && pieces > 1);
    assert_eq!(source.sha256().len(), 64);
    let mut source = TensorSource::open(&*bytes, bytes.len() as u64).expect("a file");
    assert_eq!(source.read_next(3000, &mut |_, _| false), Ok(false), "it can be ended");
}

#[test]
fn the_hash_is_of_the_whole_file() {
    let skipped = WrittenTensor { name: "mask".to_owned(), dtype: "U8", shape: vec![3], bytes: b"abc".to_vec() };
    let bytes = Written { tensors: vec![skipped, WrittenTensor::f32("x", &[1], &[1.0])] }.bytes();
    let mut source = TensorSource::open(&*bytes, bytes.len() as u64).expect("a file");
    assert_eq!(source.skip_next(&mut |_| true), Ok(true));
    assert_eq!(source.read_next(1, &mut |_, _| true), Ok(true));
    let whole = <sha2::Sha256 as sha2::Digest>::digest(&bytes);
    assert_eq!(source.sha256(), data_encoding::HEXLOWER.encode(&whole));
}

#[test]
fn headers_that_do_not_fit_are_refused_by_their_tensor() {
    assert_catalogue("tests/pretrained/headers.txt", |_, case| {
        let (header, zeros) = case.rsplit_once(" + ").expect("a header and a number of bytes");
        let bytes = file(&written_out(header), &vec![0; zeros.parse().expect("a number")]);
        let refusal = read(&bytes).expect_err(case).to_string();
        assert!(refusal.len() < 1200 && !refusal.contains('\u{1b}'), "{refusal}");
        refusal
    });
}

#[test]
fn what_lies_in_any_order_and_in_half_bytes_is_whole() {
    let turned = r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    assert!(read(&file(turned, &[0; 8])).is_ok());
    let fours = file(r#"{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}"#, &[0; 2]);
    assert!(TensorSource::open(&*fours, fours.len() as u64).is_ok());
}

#[test]
fn lengths_are_held_against_the_file() {
    refused(b"", &["a file of 0 bytes", "8 bytes"]);
    refused(b"abc", &["a file of 3 bytes"]);
    refused(&file("{}", b"")[..9], &["a header of 2 bytes", "at most 1"]);
    refused(&u64::MAX.to_le_bytes(), &["a header of 18446744073709551615 bytes", "download it again"]);
    refused(&file("", b""), &["EOF"]);
    let mut invalid = file(r#"{"_____":7}"#, b"");
    invalid[12] = 0xff;
    refused(&invalid, &["not UTF-8, from byte 4"]);
    // A file that shrank since it was measured.
    let bytes = Written { tensors: vec![WrittenTensor::f32("x", &[2], &[1.0, 2.0])] }.bytes();
    let mut source = TensorSource::open(&bytes[..bytes.len() - 1], bytes.len() as u64).expect("the header is whole");
    let said = source.read_next(1, &mut |_, _| true).expect_err("it ends").to_string();
    assert!(said.contains("`x`: found the end"), "{said}");
}

#[test]
fn numbers_that_are_none_are_refused_by_their_place() {
    let mut numbers = vec![0.0; 60];
    (numbers[47], numbers[59]) = (f32::NAN, f32::INFINITY);
    let beyond =
        WrittenTensor { name: "w".to_owned(), dtype: "F64", shape: vec![1], bytes: 1e300f64.to_le_bytes().to_vec() };
    for (tensor, words) in [
        (WrittenTensor::f32("w", &[5, 12], &numbers), &["`w`: found NaN at [3, 11]"][..]),
        (beyond, &["inf at [0]", "do not fit 32 bits"]),
    ] {
        refused(&Written { tensors: vec![tensor] }.bytes(), words);
    }
}

#[test]
fn a_million_tensors_are_refused() {
    let empty = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let entries: Vec<String> = (0..1_000_000).map(|i| format!("\"{i}\":{empty}")).collect();
    refused(&file(&format!("{{{}}}", entries.join(",")), b""), &["more than 65536 tensors"]);
}

#[test]
fn an_index_names_files_beside_it_only() {
    let index = |file: &str| ShardIndex::parse(&format!(r#"{{"metadata":{{}},"weight_map":{{"a.weight":"{file}"}}}}"#));
    assert_eq!(index("model-00001-of-00001.safetensors").expect("an index").files.len(), 1);
    let places = ["../x.safetensors", "/x.safetensors", "a/x.safetensors", "C:x.safetensors", "a\\\\x.safetensors"];
    for place in places.into_iter().chain(["x.bin", ".safetensors", "", "x\\u0000.safetensors", "..safetensors"]) {
        let said = index(place).expect_err(place).to_string();
        assert!(said.starts_with("`a.weight`: found the file `") && said.contains("do not trust"), "{said}");
    }
    for (text, words) in [("{}", "weight_map"), ("[", "EOF"), (r#"{"weight_map":{}}"#, "0 tensors in 0 files")] {
        let said = ShardIndex::parse(text).expect_err(text).to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn kinds_that_are_read_have_a_width() {
    assert_eq!(READ.map(bytes_read), [Some(4), Some(2), Some(2), Some(8)]);
    assert_eq!([Dtype::I64, Dtype::F8_E5M2, Dtype::BOOL, Dtype::C64].map(bytes_read), [None; 4]);
}
