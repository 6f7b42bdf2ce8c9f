//! Forms of a format beyond the plain one: kinds of numbers, orders of bytes and columns, packed files, metadata, and
//! the tables of models.

use std::fs;
use std::io::Write as _;

use attune_engine::vectors::{Format, Place, Vectors};
use flate2::Compression;
use flate2::write::GzEncoder;
use half::f16;
use serde_json::json;

use super::{fixture, good, opened};
use crate::common::folder::Folder;

/// An array of NumPy's with such a header.
pub fn npy(kind: &str, is_fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({shape}), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// A file of safetensors with one table of numbers.
pub fn safetensors(name: &str, kind: &str, shape: [usize; 2], bytes: &[u8]) -> Vec<u8> {
    let header = json!({ name: { "dtype": kind, "shape": shape, "data_offsets": [0, bytes.len()] } }).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), bytes].concat()
}

/// A folder's file of these bytes, read.
fn read_in(folder: &Folder, name: &str, bytes: &[u8]) -> Vectors {
    fs::write(folder.join(name), bytes).expect("written");
    opened(&folder.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

const NUMBERS: [f32; 6] = [1.0, -2.0, 0.5, 3.0, 0.25, -4.0];

#[test]
fn arrays_of_each_kind_and_order_have_the_same_numbers() {
    let folder = Folder::new("kinds");
    type Bytes = fn(f32) -> Vec<u8>;
    let kinds: [(&str, Bytes); 6] = [
        ("<f2", |x| f16::from_f32(x).to_le_bytes().to_vec()),
        (">f2", |x| f16::from_f32(x).to_be_bytes().to_vec()),
        ("<f4", |x| x.to_le_bytes().to_vec()),
        (">f4", |x| x.to_be_bytes().to_vec()),
        ("<f8", |x| f64::from(x).to_le_bytes().to_vec()),
        (">f8", |x| f64::from(x).to_be_bytes().to_vec()),
    ];
    for (kind, bytes) in kinds {
        let rows: Vec<u8> = NUMBERS.iter().flat_map(|x| bytes(*x)).collect();
        // (2, 3) column by column.
        let columns: Vec<u8> = [0, 3, 1, 4, 2, 5].iter().flat_map(|at| bytes(NUMBERS[*at])).collect();
        for (is_fortran, bytes) in [(false, rows), (true, columns)] {
            let found = read_in(&folder, "a.npy", &npy(kind, is_fortran, "2, 3", &bytes));
            assert_eq!((found.rows.flat(), &*found.kind), (&NUMBERS[..], kind), "{kind}, Fortran {is_fortran}");
        }
    }
    let refused = |bytes: &[u8], words: &str| {
        fs::write(folder.join("a.npy"), bytes).expect("written");
        let why = opened(&folder.join("a.npy")).expect_err("refused").to_string();
        assert!(why.contains(words), "{why}");
    };
    refused(&npy("<c8", false, "2, 3", &[0; 48]), "numbers of kind `<c8`");
    refused(&npy("<f4", false, "6,", &[0; 24]), "an array of the shape (6)");
    refused(&npy("<f4", false, "1, 2, 3", &[0; 24]), "an array of the shape (1, 2, 3)");
}

#[test]
fn words_of_an_array_are_in_a_file_beside_it() {
    let folder = Folder::new("beside");
    let bytes: Vec<u8> = NUMBERS.iter().flat_map(|x| x.to_le_bytes()).collect();
    let array = npy("<f4", false, "3, 2", &bytes);
    assert_eq!(*read_in(&folder, "a.npy", &array).words[2], *"2");
    fs::write(folder.join("a.txt"), "x\ny\nz\n").expect("written");
    let found = read_in(&folder, "a.npy", &array);
    assert_eq!((&*found.words[2], found.report.lines().len()), ("z", 0));
    fs::write(folder.join("a.txt"), "x\n\nz\n").expect("written");
    let found = read_in(&folder, "a.npy", &array);
    assert_eq!((&*found.words[0], &*found.words[1]), ("x", "1"));
    assert_eq!(found.report.unnamed.places, [Place::Row(1)]);
}

#[test]
fn texts_and_arrays_are_read_from_gzip() {
    let folder = Folder::new("packed");
    for name in ["plain.bin", "plain.vec", "glove.txt", "plain.npy", "turned.npy"] {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&fs::read(fixture(name)).expect("a fixture")).expect("packed");
        let packed = packed.finish().expect("packed");
        let (found, plain) = (read_in(&folder, name, &packed), good(name));
        assert_eq!((found.rows.flat(), &found.words, found.format), (plain.rows.flat(), &plain.words, plain.format));
        fs::write(folder.join(name), &packed[..packed.len() - 20]).expect("written");
        match opened(&folder.join(name)) {
            Ok(cut) => assert!(cut.report.notes.iter().any(|note| note.contains("cut off at unpacked byte")), "{name}"),
            Err(why) => assert!(why.to_string().contains("the end of the file"), "{name}: {why}"),
        }
    }
}

#[test]
fn metadata_names_rows_and_gives_columns() {
    let folder = Folder::new("metadata");
    fs::write(folder.join("metadata.tsv"), "kind\tword\tcount\na\tx y\t3\nb\tz\t1\na\t\t2\n").expect("written");
    let found = read_in(&folder, "vectors.tsv", b"1.0\t2.0\nnan\t1.0\n3.0\t4.0\n");
    assert_eq!(
        (found.format, found.words.iter().map(|word| &**word).collect::<Vec<_>>()),
        (Format::Tsv, vec!["x y", "2"])
    );
    let columns: Vec<(&str, &[String])> =
        found.metadata.iter().map(|column| (&*column.name, &*column.entries)).collect();
    assert_eq!(columns[0], ("kind", &["a".to_owned(), "a".to_owned()][..]), "the row that is left out has no entry");
    assert_eq!(columns[2].1, ["3", "2"]);
    assert_eq!(found.report.not_finite.places, [Place::Line(2)]);
}

#[test]
fn tables_of_safetensors_get_their_words_from_their_folder() {
    let folder = Folder::new("tensors");
    let bytes: Vec<u8> = NUMBERS.iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = safetensors("model.embed_tokens.weight", "F32", [3, 2], &bytes);
    let found = read_in(&folder, "model.safetensors", &file);
    assert_eq!((found.format, found.rows.flat(), &*found.words[1]), (Format::Safetensors, &NUMBERS[..], "1"));
    assert!(found.report.notes[0].contains("rows are named by their number"));
    fs::write(folder.join("vocab.txt"), "[PAD]\nking\nqueen\n").expect("written");
    assert_eq!(*opened(&folder.0).expect("a folder").words[2], *"queen");
    fs::write(folder.join("model_metadata.tsv"), "a\nb\nc\n").expect("written");
    assert_eq!(*opened(&folder.0).expect("a folder").words[2], *"c");
    let halves: Vec<u8> = NUMBERS.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect();
    let found = read_in(&folder, "half.safetensors", &safetensors("embeddings", "F16", [3, 2], &halves));
    assert_eq!((found.rows.flat(), &*found.kind, &*found.words[1]), (&NUMBERS[..], "F16", "king"));
    for (file, words) in [
        (safetensors("embeddings", "F8_E4M3", [3, 2], &[0; 6]), "the kind F8_E4M3"),
        (safetensors("embeddings", "F32", [4, 2], &bytes), "the shape [4, 2]"),
        (file[..file.len() - 1].to_vec(), "found 23 bytes after the header; expected 24, the size of the tensors"),
    ] {
        fs::write(folder.join("bad.safetensors"), file).expect("written");
        let why = opened(&folder.join("bad.safetensors")).expect_err("refused").to_string();
        assert!(why.contains(words), "{why}");
    }
}
