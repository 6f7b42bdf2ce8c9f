//! Files that are wrong, each refused in words that say where and what.

use attune_engine::pretrained::Refusal;
use attune_engine::pretrained::safetensors::{Dtype, READ, ShardIndex, TensorSource, bytes_read};

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

fn entry(dtype: &str, shape: &str, begin: u64, end: u64) -> String {
    format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}"#)
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
fn lengths_are_held_against_the_file() {
    refused(b"", &["a file of 0 bytes", "8 bytes"]);
    refused(b"abc", &["a file of 3 bytes"]);
    refused(&file("{}", b"")[..9], &["a header of 2 bytes", "at most 1"]);
    refused(&u64::MAX.to_le_bytes(), &["a header of 18446744073709551615 bytes", "download it again"]);
    refused(&file("{}", b"x"), &["1 byte after the header", "0, the size of the tensors"]);
    let short = file(&format!(r#"{{"x":{}}}"#, entry("F32", "[2]", 0, 8)), &[0; 7]);
    refused(&short, &["7 bytes after the header", "expected 8, the size of the tensors"]);
    // A file that shrank since it was measured.
    let bytes = Written { tensors: vec![WrittenTensor::f32("x", &[2], &[1.0, 2.0])] }.bytes();
    let mut source = TensorSource::open(&bytes[..bytes.len() - 1], bytes.len() as u64).expect("the header is whole");
    let said = source.read_next(1, &mut |_, _| true).expect_err("it ends").to_string();
    assert!(said.contains("`x`: found the end"), "{said}");
}

#[test]
fn bytes_overlap_nowhere_and_leave_no_gap() {
    let two = |first: (u64, u64), second: (u64, u64)| {
        let entries = [entry("F32", "[1]", first.0, first.1), entry("F32", "[1]", second.0, second.1)];
        file(&format!(r#"{{"a":{},"b":{}}}"#, entries[0], entries[1]), &[0; 8])
    };
    assert!(read(&two((4, 8), (0, 4))).is_ok());
    refused(&two((0, 4), (2, 6)), &["`b`", "begins at byte 2, which overlaps", "begins at byte 4"]);
    refused(&two((0, 4), (0, 4)), &["`b`", "overlaps"]);
    refused(&two((0, 4), (6, 10)), &["`b`", "byte 6, which leaves a gap", "byte 4"]);
    refused(&two((4, 8), (8, 12)), &["`a`", "leaves a gap", "byte 0"]);
    refused(&two((4, 0), (4, 8)), &["`a`", "from 4 to 0", "the 4 bytes of the shape [1] in F32"]);
}

#[test]
fn shapes_have_sizes_that_can_be_counted() {
    let one = |dtype: &str, shape: &str, end: u64| {
        file(&format!(r#"{{"a":{}}}"#, entry(dtype, shape, 0, end)), &vec![0; end.min(64) as usize])
    };
    refused(&one("F32", "[4294967296,4294967296]", 4), &["`a`", "[4294967296, 4294967296]", "can be counted"]);
    refused(&one("F64", "[2305843009213693952,8]", 0), &["can be counted"]);
    refused(&one("F32", "[3]", 8), &["the 12 bytes of the shape [3] in F32"]);
    refused(&one("F4", "[3]", 2), &["the 2 bytes of the shape [3] in F4"]);
    let fours = one("F4", "[4]", 2);
    assert!(TensorSource::open(&*fours, fours.len() as u64).is_ok());
    refused(&one("F32", "[-1]", 4), &["`a`", "-1"]);
    refused(&one("F32", "[1.5]", 4), &["`a`", "1.5"]);
    refused(&one("F32", "[1,1,1,1,1,1,1,1,1]", 4), &["`a`", "at most 8 sizes"]);
    refused(&one("F32", &format!("[{}1]", "1,".repeat(5000)), 4), &["a list of more than 4096 numbers"]);
    refused(&one("F32", "[18446744073709551616]", 4), &["`a`"]);
    refused(&one("Q8", "[4]", 4), &["`a`", "`Q8`, expected one of `BOOL`, `F4`", "line 1 column"]);
    refused(&one("I64", "[1]", 8), &["`a`", "numbers of the kind I64", "F32, F16, BF16, F64"]);
}

#[test]
fn numbers_that_are_none_are_refused_by_their_place() {
    let mut numbers = vec![0.0; 60];
    numbers[47] = f32::NAN;
    numbers[59] = f32::INFINITY;
    refused(
        &Written { tensors: vec![WrittenTensor::f32("w", &[5, 12], &numbers)] }.bytes(),
        &["`w`: found NaN at [3, 11]"],
    );
    let bytes = 1e300f64.to_le_bytes().to_vec();
    let beyond = WrittenTensor { name: "w".to_owned(), dtype: "F64", shape: vec![1], bytes };
    refused(&Written { tensors: vec![beyond] }.bytes(), &["inf at [0]", "do not fit 32 bits"]);
}

#[test]
fn headers_that_are_none_are_refused() {
    let one = entry("F32", "[1]", 0, 4);
    refused(&file("", b""), &["EOF"]);
    refused(&file("[]", b""), &["an object of tensors by name"]);
    refused(&file("{} {}", b""), &["trailing"]);
    refused(&file(&format!(r#"{{"a":{one},"a":{one}}}"#), &[0; 4]), &["`a`"]);
    let (first, second) = (entry("F32", "[0]", 0, 0), entry("F32", "[0]", 0, 0));
    refused(&file(&format!(r#"{{"a":{first},"a":{second}}}"#), b""), &["`a`", "the name twice"]);
    refused(&file(r#"{"a":{"dtype":"F32","shape":[1]}}"#, &[0; 4]), &["`a`", "data_offsets"]);
    refused(&file(r#"{"a":7}"#, b""), &["`a`"]);
    let mut invalid = file(r#"{"_____":7}"#, b"");
    invalid[12] = 0xff;
    refused(&invalid, &["not UTF-8, from byte 4"]);
    refused(&file(&format!(r#"{{"a":{}"#, "[".repeat(1_000_000)), b""), &["lists within lists, 17 deep"]);
    refused(&file(&format!(r#"{{"{}":{one}}}"#, "x".repeat(5000)), &[0; 4]), &["a name of 5000 bytes"]);
    refused(&file(&format!("{{\"a\\u001b[31m\\n\":{}}}", entry("X", "[1]", 0, 4)), &[0; 4]), &["`a\\u{1b}[31m\\n`"]);
}

#[test]
fn a_million_tensors_are_refused() {
    let empty = entry("U8", "[0]", 0, 0);
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
