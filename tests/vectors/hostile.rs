//! Damaged and hostile files.

use std::fs;
use std::io::Write;

use attune_engine::vectors::{Format, Place, write};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

use super::formats::npy;
use super::{fixture, opened};
use crate::common::folder::Folder;

/// A file of these bytes, read.
fn of(bytes: &[u8]) -> Result<attune_engine::vectors::Vectors, String> {
    let folder = Folder::new("vectors");
    let path = folder.join("file");
    fs::write(&path, bytes).expect("written");
    opened(&path).map_err(|why| why.to_string())
}

fn binary(header: &str, rows: &[(&[u8], [f32; 3])]) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    for (word, numbers) in rows {
        bytes.extend_from_slice(word);
        bytes.push(b' ');
        numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    }
    bytes
}

#[test]
fn rows_that_are_none_are_left_out_with_their_line() {
    let text =
        b"a 1 2 3\nb 4 5\nc 1 2 3\n. . . 7 8 9\nat name@domain.com 1 1 1\nd nan 1 2\ne 0 0 0\na 3 2 1\n\xff 1 2 3\n";
    let vectors = of(text).expect("most lines are rows");
    let words: Vec<&str> = vectors.words.iter().map(|word| &**word).collect();
    assert_eq!(words, ["a", "c", ". . .", "at name@domain.com", "e", "a", "\u{fffd}"]);
    let report = &vectors.report;
    assert_eq!(report.malformed.places, [Place::Line(2)]);
    assert_eq!(report.not_finite.places, [Place::Line(6)]);
    assert_eq!(report.zeros.places, [Place::Line(7)]);
    assert_eq!(report.duplicates.places, [Place::Line(8)]);
    assert_eq!(report.mended_words.places, [Place::Line(9)]);
    assert_eq!(report.words_with_spaces.count, 2);
    assert_eq!(vectors.row_of("a"), Some(0), "a word means its first row");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).expect("packed");
    packed.finish().expect("packed")
}

#[test]
fn archives_and_tensors_within_gzip_are_those_that_were_packed() {
    let plain = opened(&fixture("plain.npz")).expect("a fixture");
    let mut tensors = Vec::new();
    write(&plain.table(), Format::Safetensors, &mut tensors).expect("written");
    let archive = fs::read(fixture("plain.npz")).expect("a fixture");
    for (bytes, format) in [(archive, Format::Npz), (tensors, Format::Safetensors)] {
        let packed = gzip(&bytes);
        let vectors = of(&packed).expect("unpacked");
        assert_eq!((vectors.format, vectors.rows.flat()), (format, plain.rows.flat()));
        let why = of(&packed[..packed.len() - 9]).expect_err("refused");
        assert!(why.contains("damaged or cut off at unpacked byte"), "{why}");
        // Whatever is damaged, in the packed bytes or before they were packed, is read or refused, and nothing panics.
        for at in (0..packed.len()).step_by(7) {
            let mut mutant = packed.clone();
            mutant[at] ^= 0x55;
            _ = of(&mutant);
        }
        for at in (0..bytes.len()).step_by(11) {
            let mut mutant = bytes.clone();
            mutant[at] = mutant[at].wrapping_add(0x7f);
            _ = of(&gzip(&mutant));
        }
    }
}

/// An archive that unpacks to 128 MB, of which 100 kB are left when it is packed again.
#[test]
fn an_archive_that_is_packed_twice_grows_no_more_than_one_that_is_packed_once() {
    let rows = 16_000_000_usize;
    let why = of(&gzip(&zeros(rows, Compression::fast()))).expect_err("refused");
    assert!(why.contains("made to fill the memory") || why.contains("MB of memory"), "{why}");
}

#[test]
fn headers_that_lie_are_told() {
    let told = |bytes: &[u8], words: &str| {
        let vectors = of(bytes).unwrap_or_else(|why| panic!("{why}"));
        let lines = vectors.report.lines().join("\n");
        assert!(lines.contains(words), "{lines}");
    };
    told(b"9 2\na 1 2\nb 3 4\n", "the number of rows is 9 in the header, but 2 in the file");
    told(b"2 3\na 1 2\nb 3 4\n", "the header says 3 numbers per word, but the lines have 2");
    let rows: [(&[u8], [f32; 3]); 2] = [(b"a", [1.0, 2.0, 3.0]), (b"b", [4.0, 5.0, 6.0])];
    told(&binary("18446744073709551615 3\n", &rows), "the file ends after");
    told(&binary("1 3\n", &rows), "bytes are left from byte");
    let cut = binary("2 3\n", &rows);
    told(&cut[..cut.len() - 1], "the file ends after");
}

#[test]
fn files_without_vectors_are_refused_in_words() {
    let refused: [(&[u8], &str); 6] = [
        (b"", "an empty file"),
        (b"\x80\x04\x95", "pickled"),
        (b"once upon a time\nthere was a word\n", "no line with a word and its numbers"),
        (b"{}", "embeddings"),
        (b"PK\x03\x04nothing", "no directory of a zip"),
        (b"\x93NUMPY\x01\x00\xff\xff", "a header that cannot be read"),
    ];
    for (bytes, words) in refused {
        let why = of(bytes).expect_err("refused");
        assert!(why.contains(words), "{why}");
    }
    let why = opened(&fixture("pickled.npy")).expect_err("refused").to_string();
    assert!(why.contains("pickled Python objects"), "{why}");
    let why = of(&binary("1 4000000000\n", &[(b"a", [1.0; 3])])).expect_err("refused");
    assert!(why.contains("4000000000"), "{why}");
}

/// A promise of 8 TB ends after the rows that are there.
#[test]
fn an_array_is_read_as_far_as_its_file_goes() {
    let numbers = [1.0f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
    let bytes = npy("<f4", false, "1000000000000, 2", &numbers);
    let vectors = of(&bytes).expect("one row is there");
    assert_eq!(vectors.rows.flat(), [1.0, 2.0]);
    assert!(vectors.report.notes[0].contains("ends after 1"), "{:?}", vectors.report.notes);
}

#[test]
fn a_file_that_unpacks_without_end_is_refused() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    (0..500).for_each(|i| writeln!(packed, "word{i} 0.5 1 -2").expect("packed"));
    let ones = b"1 ".repeat(1 << 19);
    (0..100).for_each(|_| packed.write_all(&ones).expect("packed"));
    let why = of(&packed.finish().expect("packed")).expect_err("refused");
    assert!(why.contains("a line or a word of more than") || why.contains("made to fill the memory"), "{why}");
}

/// An archive with an array of zeros, two in a row.
fn zeros(rows: usize, level: Compression) -> Vec<u8> {
    let mut packed = DeflateEncoder::new(Vec::new(), level);
    packed.write_all(&npy("<f4", false, &format!("{rows}, 2"), &[])).expect("packed");
    let zeros = vec![0; 1 << 20];
    (0..(8 * rows) >> 20).for_each(|_| packed.write_all(&zeros).expect("packed"));
    let packed = packed.finish().expect("packed");
    let sizes = [packed.len() as u32, 8 * rows as u32].map(u32::to_le_bytes).concat();
    // An entry `a.npy` that is deflated, and the directory of it alone.
    let about = [&[20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes, &[5, 0, 0, 0]].concat();
    let local = [b"PK\x03\x04", &about[..], b"a.npy", &packed].concat();
    let entry = [b"PK\x01\x02\x14\x00", &about[..], &[0; 14], b"a.npy"].concat();
    let end = [1_u16, 1].map(u16::to_le_bytes).concat();
    let places = [entry.len() as u32, local.len() as u32].map(u32::to_le_bytes).concat();
    [&local[..], &entry, b"PK\x05\x06\0\0\0\0", &end, &places, &[0, 0]].concat()
}

/// Zeros of 256 MB, packed into 300 kB.
#[test]
fn an_archive_that_unpacks_without_end_is_refused() {
    let why = of(&zeros(32_000_000, Compression::fast())).expect_err("refused");
    assert!(why.contains("made to fill the memory") || why.contains("MB of memory"), "{why}");
}

#[test]
fn rows_of_other_lengths_among_many_are_told_with_their_lines() {
    let mut text = String::from("300 4\n");
    for i in 0..300 {
        text += match i {
            120 => "short 1 2\n",
            200 => "long 1 2 3 4 5 x\n",
            201 => "5 words and then numbers 1 2 3 4\n",
            _ => "",
        };
        text += &format!("word{i} 1 2 3 {i}\n");
    }
    text += "cut 1 2";
    let vectors = of(text.as_bytes()).expect("most are rows");
    assert_eq!(vectors.report.malformed.places, [122, 203, 305].map(Place::Line));
    assert_eq!((vectors.len(), vectors.row_of("5 words and then numbers")), (301, Some(201)));
    assert!(vectors.report.notes[0].contains("the number of rows is 300 in the header, but 304 in the file"));
}

#[test]
fn bytes_of_the_binary_form_that_are_no_words_or_numbers_are_told() {
    let rows: [(&[u8], [f32; 3]); 4] =
        [(b"a", [1.0; 3]), (b"caf\xe9", [2.0; 3]), (b"b", [f32::NAN, 1.0, 2.0]), (b"c", [3.0; 3])];
    let vectors = of(&binary("4 3\n", &rows)).expect("most are rows");
    assert_eq!((&*vectors.words[1], vectors.len()), ("caf\u{fffd}", 3));
    let [first, row] = [4, 14];
    assert_eq!(vectors.report.mended_words.places, [Place::Byte(first + row)]);
    assert_eq!(vectors.report.not_finite.places, [Place::Byte(first + 2 * row + 3)]);
}

/// Zeros are text's bytes too: they do not make a word of the header's count.
#[test]
fn a_binary_file_of_zeros_is_one() {
    let rows: [(&[u8], [f32; 3]); 2] = [(b"a", [0.0; 3]), (b"b", [0.0; 3])];
    let vectors = of(&binary("2 3\n", &rows)).expect("two rows");
    assert_eq!((vectors.format, vectors.report.zeros.count), (Format::Word2VecBinary, 2));
}
