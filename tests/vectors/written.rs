//! Vectors that are written and read back.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;

use attune_engine::numerics::Matrix;
use attune_engine::vectors::projector::write_config;
use attune_engine::vectors::text::write_metadata;
use attune_engine::vectors::{Column, Format, Table, Vectors, write};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::{good, opened};
use crate::common::folder::Folder;

fn table<'a>(words: &[&str], width: usize, numbers: &[f32], metadata: Vec<Column>) -> Table<'a> {
    let rows = Matrix::from_row_major(words.len(), width, numbers.to_vec());
    let words = words.iter().map(|word| (*word).into()).collect();
    Table { words, rows: Cow::Owned(rows), metadata: metadata.into() }
}

fn column(name: &str, entries: &[&str]) -> Column {
    Column { name: name.to_owned(), entries: entries.iter().map(|entry| (*entry).to_owned()).collect() }
}

/// Writes a table and what its format has beside it.
fn put(folder: &Folder, table: &Table<'_>, format: Format) -> PathBuf {
    let path = folder.join("space.file");
    let created = |name: &str| File::create(folder.join(name)).expect("created");
    write(table, format, &mut created("space.file")).expect("written");
    if format.has_words_beside() {
        write_metadata(table, &mut created("space_metadata.tsv")).expect("written");
    }
    path
}

/// The table as each format gives it back.
fn again(table: &Table<'_>, format: Format) -> Vectors {
    let folder = Folder::new("written");
    opened(&put(&folder, table, format)).unwrap_or_else(|why| panic!("{format}: {why}"))
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn each_format_gives_back_words_numbers_and_columns() {
    let plain = good("plain.bin");
    let words: Vec<String> = plain.words.iter().map(|word| word.to_string()).collect();
    let lengths: Vec<String> = words.iter().map(|word| word.len().to_string()).collect();
    let metadata = vec![
        Column { name: "label".to_owned(), entries: words },
        Column { name: "length".to_owned(), entries: lengths },
    ];
    let table = Table { metadata: metadata.clone().into(), ..plain.table() };
    for format in Format::ALL {
        let found = again(&table, format);
        assert_eq!((found.format, &found.words), (format, &plain.words));
        assert_eq!(bits(found.rows.flat()), bits(plain.rows.flat()), "{format}");
        assert!(found.report.lines().is_empty(), "{format}: {:?}", found.report.lines());
        let named = |column: &Column| {
            if format == Format::Npz && column.name == "label" { "words" } else { &column.name }.to_owned()
        };
        let expected = metadata.iter().map(|column| Column { name: named(column), ..column.clone() });
        let expected: Vec<Column> = if format.has_words_only() { Vec::new() } else { expected.collect() };
        assert_eq!(found.metadata, expected, "{format}");
    }
}

#[test]
fn numbers_at_the_ends_of_single_precision_keep_their_bits() {
    let numbers = [f32::MIN_POSITIVE, 1e-45, -0.0, f32::MAX, -f32::MAX, 16_777_217.0, 0.1, 1.0 / 3.0];
    for format in Format::ALL {
        let found = again(&table(&["a", "b"], 4, &numbers, Vec::new()), format);
        assert_eq!(bits(found.rows.flat()), bits(&numbers), "{format}");
    }
}

#[test]
fn numbers_whose_bytes_are_letters_are_read_as_numbers() {
    let numbers = [665.59845, -208.3209];
    let found = again(&table(&["aa"], 2, &numbers, Vec::new()), Format::Word2VecBinary);
    assert_eq!(bits(found.rows.flat()), bits(&numbers));
}

#[test]
fn words_that_a_format_cannot_have_are_joined_and_counted() {
    let odd = table(&["New York", "", "tab\tword", "{"], 2, &[1.0; 8], Vec::new());
    for format in Format::ALL {
        let found: Vec<String> = again(&odd, format).words.iter().map(|word| word.to_string()).collect();
        let expected = match (format, format.has_words_only()) {
            (_, true) => ["New_York", "1", "tab_word", "{"],
            (Format::Npz, _) => ["New York", "1", "tab\tword", "{"],
            _ => ["New York", "1", "tab word", "{"],
        };
        assert_eq!(found, expected, "{format}");
    }
    assert_eq!(odd.spellings().joined, 2);
    // A row whose word is a bracket does not begin a config.
    assert_eq!(*again(&table(&["{", "}"], 2, &[1.0; 4], Vec::new()), Format::Glove).words[0], *"{");
}

/// Readers keep one row of equal words.
#[test]
fn no_two_words_of_a_file_are_spelled_the_same() {
    let words = ["new york", "new_york", "1", "", "new york_", "new york", "king", "king"];
    let same = table(&words, 1, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], Vec::new());
    let spellings = ["new_york_", "new_york", "1", "3", "new_york__", "new_york___", "king", "king_"];
    for format in Format::ALL.into_iter().filter(|format| format.has_words_only()) {
        let found = again(&same, format);
        assert_eq!(found.words.iter().map(|word| &**word).collect::<Vec<_>>(), spellings, "{format}");
        assert_eq!(found.report.duplicates.count, 0, "{format}");
    }
    let distinct: Vec<usize> = same.spellings().distinct.into_iter().map(|(row, _)| row).collect();
    assert_eq!(distinct, [0, 4, 5, 7]);
}

#[test]
fn a_config_opens_the_projector_s_files_together() {
    let folder = Folder::new("config");
    let table = table(&["a", "b"], 2, &[1.0, 2.0, 3.0, 4.0], vec![column("kind", &["x", "y"])]);
    put(&folder, &table, Format::Tsv);
    let config = folder.join("space_config.json");
    let mut file = File::create(&config).expect("created");
    write_config(&table, "space.file", "space_metadata.tsv", &mut file).expect("written");
    let found = opened(&config).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((found.rows.flat(), &*found.words[1]), (&[1.0, 2.0, 3.0, 4.0][..], "b"));
    assert_eq!(found.metadata[1], column("kind", &["x", "y"]));
    let text = fs::read_to_string(&config).expect("read").replace("space_metadata.tsv", "../space_metadata.tsv");
    fs::write(&config, text).expect("written");
    let why = opened(&config).expect_err("elsewhere").to_string();
    assert!(why.contains("the name of a file beside the config"), "{why}");
}

#[test]
fn what_no_format_can_have_is_refused_in_words() {
    for format in Format::ALL {
        let why = write(&table(&["a"], 2, &[1.0, f32::NAN], Vec::new()), format, &mut Vec::new()).expect_err("refused");
        assert!(why.to_string().contains("`a` has a number that is not finite"), "{why}");
    }
    let narrow = table(&["a"], 1, &[1.0], Vec::new());
    assert!(write(&narrow, Format::Tsv, &mut Vec::new()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_table_is_read_as_it_was_written(
        words in btree_set("[a-zäß漢]{1,9}", 1..9),
        width in 2..6_usize,
        numbers in vec(prop_oneof![9 => -1e3f32..1e3, 1 => Just(0.0)], 9 * 6),
    ) {
        let words: BTreeSet<String> = words;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let numbers = &numbers[..words.len() * width];
        for format in Format::ALL {
            let found = again(&table(&words, width, numbers, Vec::new()), format);
            prop_assert_eq!(bits(found.rows.flat()), bits(numbers), "{}", format);
            prop_assert!(found.words.iter().map(|word| &**word).eq(words.iter().copied()), "{}", format);
        }
    }
}
