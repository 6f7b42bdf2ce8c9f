//! Files of word vectors that were damaged, or made to do harm: headers that promise other rows and widths, numbers and
//! words in the wrong place, stretches that repeat, and files that end early, in every format and packed.

use std::fmt::{self, Debug, Formatter};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use attune_engine::vectors::projector::write_config;
use attune_engine::vectors::text::write_metadata;
use attune_engine::vectors::{Format, Vectors, read, write};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::models::refused;
use super::{Attack, Outcome, at_least_a_fifth, attack, flip, lines, shares};
use crate::common::folder::Folder;
use crate::common::top::at;

/// Memory for any of these small files: the window of a source, and the longest stretch that a reader looks ahead.
const BYTES_MAX: usize = 32 << 20;

/// A file to damage.
#[derive(Clone, Copy, Debug)]
enum Original {
    /// As attune writes it, with what belongs beside it.
    Written(Format),
    /// As another program writes it: words with blanks, columns in Fortran's order, deflated entries, gzip.
    Fixture(&'static str),
    /// The projector's config, which names the other files.
    Config,
}

/// A change of a file's bytes, at a share of them.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Flip(f64, u8),
    /// Other bytes in place of as many.
    Replace(f64, &'static [u8]),
    /// Bytes, so many times.
    Insert(f64, &'static [u8], usize),
    /// A stretch once more.
    Repeat(f64, usize),
    /// A stretch less.
    Remove(f64, usize),
    Cut(f64),
}

/// A file of vectors with some changes, to itself or to the table beside it.
struct MutatedVectors {
    original: Original,
    edits: Vec<Edit>,
    is_beside: bool,
}

#[test]
fn mutated_vectors_are_read_or_refused_in_words() {
    let outcomes = attack::<MutatedVectors>(1000, &["read", "mended", "refused"]);
    at_least_a_fifth(outcomes["read"] + outcomes["mended"], &outcomes);
}

impl Attack for MutatedVectors {
    fn cases() -> impl Strategy<Value = Self> {
        let fixtures = ["spaced.bin", "turned.npy", "plain.npz", "glove.txt.gz"].map(Original::Fixture);
        let all = Format::ALL.map(Original::Written).into_iter().chain(fixtures).chain([Original::Config]);
        let original = select(all.collect::<Vec<_>>());
        (original, vec(edits(), 1..5), prop::bool::weighted(0.1)).prop_map(|(original, edits, is_beside)| Self {
            original,
            edits,
            is_beside,
        })
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        self.write(&folder.0).map_err(|error| format!("it cannot be written: {error}"))?;
        match read(&folder.join("a.file"), &mut |_| true) {
            Ok(vectors) => held(&vectors),
            Err(stopped) => refused(&stopped.to_string(), 2000),
        }
    }

    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }
}

/// The promises of vectors that are read.
fn held(vectors: &Vectors) -> Outcome {
    let count = vectors.len();
    let is_whole = vectors.rows.rows() == count && vectors.metadata.iter().all(|column| column.entries.len() == count);
    if !is_whole || !vectors.rows.flat().iter().all(|x| x.is_finite()) {
        return Err("it has rows without words, entries without rows, or numbers that are not finite".to_owned());
    }
    if vectors.words.iter().any(|word| vectors.row_of(word).is_none()) {
        return Err("a word is not found".to_owned());
    }
    Ok(if vectors.report.lines().is_empty() { "read" } else { "mended" })
}

impl Debug for MutatedVectors {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, beside {}{}", self.original, self.is_beside, lines(&self.edits))
    }
}

impl MutatedVectors {
    fn write(&self, folder: &Path) -> io::Result<()> {
        let plain = read(&at("tests/fixtures/vectors/plain.bin"), &mut |_| true)
            .map_err(|why| io::Error::other(why.to_string()))?;
        let table = plain.table();
        let written = |format| {
            let mut bytes = Vec::new();
            write(&table, format, &mut bytes).map(|()| bytes)
        };
        let mut own = match self.original {
            Original::Written(format) => written(format)?,
            Original::Fixture(name) => fs::read(at(format!("tests/fixtures/vectors/{name}")))?,
            Original::Config => {
                fs::write(folder.join("table.tsv"), written(Format::Tsv)?)?;
                let mut config = Vec::new();
                write_config(&table, "table.tsv", "a_metadata.tsv", &mut config)?;
                config
            }
        };
        let mut metadata = Vec::new();
        write_metadata(&table, &mut metadata)?;
        let mutated = if self.is_beside { &mut metadata } else { &mut own };
        self.edits.iter().for_each(|edit| edit.apply(mutated));
        File::create(folder.join("a_metadata.tsv"))?.write_all(&metadata)?;
        File::create(folder.join("a.file"))?.write_all(&own)
    }
}

impl Edit {
    pub(super) fn apply(&self, file: &mut Vec<u8>) {
        let at = |share: f64| (file.len() as f64 * share) as usize;
        match *self {
            Self::Flip(share, bit) => flip(file, share, bit),
            Self::Replace(share, bytes) => {
                let from = at(share);
                file.iter_mut().skip(from).zip(bytes).for_each(|(byte, new)| *byte = *new);
            }
            Self::Insert(share, bytes, times) => {
                let at = at(share);
                file.splice(at..at, bytes.repeat(times));
            }
            Self::Repeat(share, length) => {
                let from = at(share);
                let again = file[from..file.len().min(from + length)].to_vec();
                file.splice(from..from, again);
            }
            Self::Remove(share, length) => {
                let from = at(share);
                file.drain(from..file.len().min(from + length));
            }
            Self::Cut(share) => file.truncate(at(share)),
        }
    }
}

pub(super) fn edits() -> impl Strategy<Value = Edit> {
    const PARTS: &[&[u8]] = &[
        b"9",
        b" ",
        b"\n",
        b"\t",
        b"\0",
        b"-",
        b"e9",
        b".",
        b"nan",
        b"inf",
        b"\xff",
        b"{",
        b"\"",
        b"[",
        b"99999999999999999999",
        b"18446744073709551615 300\n",
        b"word 1 2 3 4 5\n",
        b"\x93NUMPY\x01\0",
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"\x1f\x8b\x08",
        b"(1000000000, 5)",
        b"'<f8'",
        b"'>f2'",
        b"'|O'",
        b"True ",
        b"\xff\xff\xff\x7f",
        b"\0\0\xc0\x7f",
        b"F64",
        b"BF16",
        b"[9, 9]",
    ];
    // Most of what can go wrong is in a header, at the beginning, or in the directory of an archive, at the end.
    let places = prop_oneof![2 => shares(), 2 => 0.0..0.2f64, 1 => 0.8..1.0f64];
    let length = select(&[1_usize, 4, 20, 200][..]);
    prop_oneof![
        3 => (places.clone(), 0..8_u8).prop_map(|(share, bit)| Edit::Flip(share, bit)),
        4 => (places.clone(), select(PARTS)).prop_map(|(share, bytes)| Edit::Replace(share, bytes)),
        3 => (places.clone(), select(PARTS), select(&[1_usize, 1, 1, 3, 1000][..]))
            .prop_map(|(share, bytes, times)| Edit::Insert(share, bytes, times)),
        1 => (places.clone(), length.clone()).prop_map(|(share, length)| Edit::Repeat(share, length)),
        1 => (places.clone(), length).prop_map(|(share, length)| Edit::Remove(share, length)),
        1 => places.prop_map(Edit::Cut),
    ]
}
