//! Files of vectors that are small on disk, or have little to say, and would take the memory: very many rows of one
//! number, metadata and lists of words that are longer than the vectors, many arrays of words, and very wide vectors.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::lesson::load::parse;
use attune_core::lesson::vector_files::lesson_of;
use attune_engine::vectors::space::{compare, components, shared};
use attune_engine::vectors::{Vectors, read};
use attune_view::view_model::stage::StageModel;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::select;

use super::models::refused;
use super::{Attack, Outcome, attack};
use crate::common::close::{Tolerance, is_close};
use crate::common::folder::Folder;
use crate::common::lessons;
use crate::peak::{alone, taken};
use crate::{fault, run};

/// Promised over the bytes of the file.
const BYTES_MAX: usize = 1 << 30;
/// Rows of a file with things beside it.
const FEW: usize = 3;

/// A way to be large.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// An array of numbers of 16 bits.
    Array,
    /// A line for each row.
    Text,
    /// A table of metadata beside a few rows, with a line of columns and lines without entries.
    Metadata,
    /// A list of words beside a few rows, all of them empty.
    Words,
    /// An archive with arrays of words beside the numbers.
    Archive,
    /// Few rows that are very wide, compared with themselves.
    Wide,
}

/// A large file: so many rows or lines, each with so many numbers or columns.
#[derive(Clone, Copy, Debug)]
struct LargeVectors {
    kind: Kind,
    rows: usize,
    columns: usize,
    is_packed: bool,
}

/// Each kind at its largest.
const EXTREMES: [LargeVectors; 8] = [
    LargeVectors { kind: Kind::Array, rows: 32_000_000, columns: 1, is_packed: true },
    LargeVectors { kind: Kind::Array, rows: 20_000_000, columns: 1, is_packed: false },
    LargeVectors { kind: Kind::Text, rows: 15_000_000, columns: 1, is_packed: true },
    LargeVectors { kind: Kind::Text, rows: 15_000_000, columns: 1, is_packed: false },
    LargeVectors { kind: Kind::Metadata, rows: 5_000_000, columns: 64, is_packed: false },
    LargeVectors { kind: Kind::Words, rows: 200_000_000, columns: 1, is_packed: false },
    LargeVectors { kind: Kind::Archive, rows: 1_000_000, columns: 60, is_packed: true },
    LargeVectors { kind: Kind::Wide, rows: 4, columns: 1 << 16, is_packed: false },
];

#[test]
fn large_vectors_take_no_more_than_a_gigabyte() {
    attack::<LargeVectors>(24, &["read"]);
}

#[test]
fn the_largest_vectors_of_each_kind_take_no_more_than_a_gigabyte() {
    let _alone = alone();
    for case in EXTREMES {
        let (outcome, taken) = case.tried();
        println!("{taken}: {outcome:?} {case:?}");
        outcome.unwrap_or_else(|why| panic!("{case:?}: {why}"));
    }
}

/// The budget of a file's vectors has room for what the window holds beside them: names, indexes, the space and the
/// stage.
#[test]
fn a_row_counts_all_that_the_window_holds_of_it() {
    let case = LargeVectors { kind: Kind::Array, rows: 400_000, columns: 1, is_packed: false };
    let _alone = alone();
    let folder = Folder::new("large");
    let path = folder.join(case.write(&folder.0).expect("it is written"));
    let mut counted = 0;
    let vectors = read(&path, &mut |progress| {
        counted = progress.memory;
        true
    });
    drop(vectors.expect("it is read"));
    let (_window, taken) = taken(|| {
        let lesson = lesson_of(&path, &mut |_| {}).expect("it is read");
        let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
        let stage = StageModel::of(&snapshot).expect("a stage");
        (snapshot, stage)
    });
    assert!(taken.bytes as u64 <= counted, "{taken}, but {} MB are counted", counted >> 20);
}

/// What a cell and a live text may take, and the words in which the cell ends.
#[test]
fn cells_read_large_vectors_within_their_bounds() {
    const CELL_BYTES_MAX: usize = 640 << 20;
    let _alone = alone();
    let large = "more than 64 MB or 16 million numbers, or 256 MB of memory";
    for (case, says) in
        EXTREMES.iter().zip([Some(large), Some(large), Some(large), Some(large), None, None, Some(large), None])
    {
        let folder = Folder::new("large");
        let name = case.write(&folder.0).expect("it is written");
        let code = format!("shape(vectors({name:?}, [\"0\"]))");
        let cells =
            format!("Text(id: \"live\", md: {:?}), Code(id: \"c0\", src: {code:?}),", format!("{{{{ {code} }}}}"));
        let text = lessons::with_cells(lessons::SMALL, &cells);
        let (run, taken) = taken(|| {
            let lesson = parse(&folder.file("lesson.ron"), &text).expect("no issues");
            run(&mut Kernel::trained(Arc::new(lesson)), 0)
        });
        println!("{taken}: {case:?}");
        assert!(taken.bytes < CELL_BYTES_MAX, "{taken}: {case:?}");
        if let Some(says) = says {
            assert!(fault(&run).contains(says), "{case:?}: {:?}", run.fault);
        }
    }
}

/// A lesson that takes its words from a large file.
#[test]
fn lessons_take_words_from_large_vectors_within_a_gigabyte() {
    let _alone = alone();
    for case in EXTREMES {
        let folder = Folder::new("large");
        let name = case.write(&folder.0).expect("it is written");
        let text = lessons::SMALL.replace("SkipGram(dim: 6, epochs: 3)", &format!("File({name:?})"));
        let (read, taken) = taken(|| parse(&folder.file("lesson.ron"), &text));
        println!("{taken}: {case:?}");
        assert!(taken.bytes < BYTES_MAX, "{taken}: {case:?}");
        let issues = read.expect_err("none of its words are in the file");
        assert!(!issues.is_empty() && !issues[0].message.contains(" 1 numbers"), "{issues:?}");
    }
}

impl Attack for LargeVectors {
    fn cases() -> impl Strategy<Value = Self> {
        let rows = select(&[1_usize, 100, 10_000, 300_000, 3_000_000][..]);
        (select(EXTREMES.to_vec()), rows, select(&[1_usize, 2, 10, 64, 1000][..]), any::<bool>()).prop_map(
            |(of, rows, columns, is_packed)| {
                let columns = if matches!(of.kind, Kind::Wide) { of.columns / columns } else { columns };
                // As much as is written in a moment.
                const ENTRIES_MAX: usize = 30_000_000;
                let rows =
                    if matches!(of.kind, Kind::Metadata) { rows } else { rows.min(ENTRIES_MAX / columns).max(1) };
                Self { kind: of.kind, rows, columns, is_packed }
            },
        )
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("large");
        let path = self.write(&folder.0).map_err(|error| format!("it cannot be written: {error}"))?;
        match read(&folder.join(path), &mut |_| true) {
            Ok(vectors) if matches!(self.kind, Kind::Wide) => looked_at(&vectors),
            Ok(_) => Ok("read"),
            Err(stopped) => refused(&stopped.to_string(), 2000),
        }
    }

    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }
}

const ROUNDING: Tolerance = Tolerance::DOUBLE_SUMS;

/// What `compare` and the window work out.
fn looked_at(vectors: &Vectors) -> Outcome {
    let words = vectors.words.iter().map(|word| &**word);
    let shared = shared(words, |word| vectors.row_of(word), |word| vectors.row_of(word));
    let found = components(vectors, 3).ok_or("no components")?;
    if found.shares.iter().any(|share| !(0.0..=1.0 + ROUNDING.part()).contains(share)) {
        return Err(format!("shares of {:?}", found.shares));
    }
    match compare((&vectors.rows).into(), (&vectors.rows).into(), &shared) {
        Ok(compared) if is_close(compared.mean_cosine(), 1.0, ROUNDING).is_ok() => Ok("read"),
        Ok(compared) => Err(format!("a space turned onto itself has the mean cosine {}", compared.mean_cosine())),
        Err(why) => refused(&why, 2000),
    }
}

impl LargeVectors {
    /// Writes the file and what belongs beside it; returns its name.
    fn write(&self, folder: &Path) -> io::Result<&'static str> {
        let Self { kind, rows, columns, is_packed } = *self;
        let file = BufWriter::new(File::create(folder.join("v.file"))?);
        let mut to: Box<dyn Write> =
            if is_packed { Box::new(GzEncoder::new(file, Compression::fast())) } else { Box::new(file) };
        match kind {
            Kind::Array => array(&mut to, rows, columns, rows)?,
            Kind::Text => repeat(&mut to, format!("a{}\n", " 1".repeat(columns)).as_bytes(), rows)?,
            Kind::Metadata => {
                array(&mut to, FEW, 2, FEW)?;
                let mut table = BufWriter::new(File::create(folder.join("v_metadata.tsv"))?);
                writeln!(table, "{}", "\t".repeat(columns - 1))?;
                repeat(&mut table, b"\n", rows)?;
            }
            Kind::Words => {
                to.write_all(&safetensors())?;
                repeat(&mut BufWriter::new(File::create(folder.join("vocab.txt"))?), b"\n", rows)?;
            }
            Kind::Archive => archive(&mut to, rows, columns)?,
            Kind::Wide => {
                for row in 0..rows.min(4) {
                    write!(to, "word{row}")?;
                    (0..columns).try_for_each(|at| write!(to, " {}.5", (at * 7 + row * at) % 5))?;
                    writeln!(to)?;
                }
            }
        }
        to.flush()?;
        Ok("v.file")
    }
}

fn repeat(to: &mut dyn Write, part: &[u8], times: usize) -> io::Result<()> {
    /// Parts that are written at once.
    const AT_ONCE: usize = 4096;
    let many = part.repeat(AT_ONCE);
    (0..times / AT_ONCE).try_for_each(|_| to.write_all(&many))?;
    to.write_all(&part.repeat(times % AT_ONCE))
}

/// An array of ones, after a header that promises some rows.
fn array(to: &mut dyn Write, promised: usize, width: usize, rows: usize) -> io::Result<()> {
    header(to, "<f2", &format!("{promised}, {width}"))?;
    repeat(to, b"\0\x3c", rows * width)
}

fn header(to: &mut dyn Write, kind: &str, shape: &str) -> io::Result<()> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    to.write_all(b"\x93NUMPY\x01\0")?;
    to.write_all(&(header.len() as u16).to_le_bytes())?;
    to.write_all(header.as_bytes())
}

fn safetensors() -> Vec<u8> {
    let header = format!(r#"{{"embeddings":{{"dtype":"F32","shape":[{FEW},1],"data_offsets":[0,{}]}}}}"#, 4 * FEW);
    let numbers = 1_f32.to_le_bytes().repeat(FEW);
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat()
}

/// An archive of a column of numbers and some arrays of words of one letter, each packed.
fn archive(to: &mut dyn Write, rows: usize, arrays: usize) -> io::Result<()> {
    let packed = |write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut plain = Vec::new();
        write(&mut plain)?;
        let mut entry = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
        entry.write_all(&plain)?;
        Ok::<_, io::Error>((entry.finish()?, crc32fast::hash(&plain)))
    };
    let numbers = packed(&|to| array(to, rows, 1, rows))?;
    let words = packed(&|to| header(to, "<U1", &format!("{rows},")).and_then(|()| repeat(to, b"a\0\0\0", rows)))?;
    let (mut directory, mut at, mut count) = (Vec::new(), 0_u32, 0_u16);
    for (name, (entry, checksum)) in
        std::iter::once(("v".to_owned(), &numbers)).chain((0..arrays.min(200)).map(|i| (format!("w{i}"), &words)))
    {
        let name = format!("{name}.npy");
        let size = (entry.len() as u32).to_le_bytes();
        // Version 2.0, deflated, without a time; of its size unpacked, nothing but this is asked.
        let about = [&[20, 0, 0, 0, 8, 0, 0, 0, 0, 0][..], &checksum.to_le_bytes(), &size, &size].concat();
        let about = [&about[..], &(name.len() as u16).to_le_bytes()[..], &[0, 0]].concat();
        to.write_all(&[b"PK\x03\x04", &about[..], name.as_bytes(), entry].concat())?;
        directory.extend([b"PK\x01\x02\x14\x00", &about[..], &[0; 10], &at.to_le_bytes(), name.as_bytes()].concat());
        at += (4 + about.len() + name.len() + entry.len()) as u32;
        count += 1;
    }
    to.write_all(&directory)?;
    let counts = [0, 0, count, count].map(u16::to_le_bytes).concat();
    let places = [directory.len() as u32, at].map(u32::to_le_bytes).concat();
    to.write_all(&[b"PK\x05\x06", &counts[..], &places, &[0, 0]].concat())
}
