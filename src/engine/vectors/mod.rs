//! Files of word vectors: words and rows, recognised by content and not by file name, written in the same formats, and
//! exact answers about them.
//!
//! | module | job |
//! |---|---|
//! | [`text`], [`binary`], [`numpy`], [`tensors`] | one family of formats each, with its reader and writer: word2vec's and GloVe's text and the projector's TSV; word2vec's binary format; `.npy` and `.npz`; safetensors and model folders |
//! | [`fast_text`], [`projector`] | fastText's own binary format; the projector's config, which names a table and its words |
//! | [`metadata`] | the words of rows in a table next to the file |
//! | `layout`, `numbers`, `decimal` | separators and columns of text lines; number types; decimal numbers |
//! | [`source`], `zip` | a window on a file's bytes, decompressed if it is gzip; archives |
//! | `budget` | the memory that vectors may take, in proportion to their file, counted before it is allocated |
//! | [`expression`], [`answers`], [`space`] | `king - man + woman`; neighbours and axes; components, hubs, and the comparison of two spaces |
//!
//! A file may come from anywhere. What can be repaired is read and counted in the [`Report`]; otherwise there is a
//! [`Refusal`]. Memory is allocated for rows that the file can hold, not for all that a header promises.

pub mod answers;
pub mod binary;
mod budget;
mod decimal;
pub mod expression;
pub mod fast_text;
mod layout;
pub mod metadata;
mod numbers;
pub mod numpy;
pub mod projector;
pub mod source;
pub mod space;
pub mod tensors;
pub mod text;
mod zip;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::Path;

use self::budget::Budget;
use self::numbers::Numbers;
use self::source::{Archive, Source};
use crate::files;
use crate::foreign::{self, UNPACK};
use crate::messages::counted;
use crate::numerics::Matrix;
use crate::pretrained::cache::static_table;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{Refusal, quoted};

/// Largest width that is read; large models have some ten thousand numbers.
pub const WIDTH_MAX: usize = 1 << 16;
/// Largest number of rows between two calls of the watcher.
const ROWS_AT_A_TIME: usize = 8192;
/// Memory in bytes after which the watcher is called even before [`ROWS_AT_A_TIME`] rows, because rows can be wide.
const BYTES_AT_A_TIME: u64 = 16 << 20;
/// Memory of a row apart from its numbers and the letters of its word, here and in the window that shows it: the places
/// of the word in lists, the blocks that hold its letters, the entries of indexes, and its point on the stage.
const ROW_BYTES: u64 = 384;
/// Memory of an entry of metadata apart from its letters.
const ENTRY_BYTES: u64 = 40;
/// Largest number of places that a report lists for each kind of irregularity; further ones are only counted.
const PLACES_MAX: usize = 8;

/// The format of a file, as recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Word2VecBinary,
    /// Text with a header that has the number of rows and their width; fastText's `.vec` files are of this format.
    Word2VecText,
    /// Text without a header.
    Glove,
    /// Text with commas or semicolons between the fields.
    Csv,
    /// fastText's own binary format. Only the vectors of words are read, not those of n-grams.
    FastText,
    /// The Embedding Projector's table of numbers.
    Tsv,
    Npy,
    Npz,
    Safetensors,
}

impl Format {
    /// All formats that can be written.
    pub const ALL: [Self; 7] =
        [Self::Word2VecBinary, Self::Word2VecText, Self::Glove, Self::Npy, Self::Npz, Self::Safetensors, Self::Tsv];

    /// Returns whether the words of this format are in a separate table next to the file, which
    /// [`text::write_metadata`] writes.
    pub fn has_words_beside(self) -> bool {
        matches!(self, Self::Npy | Self::Safetensors | Self::Tsv)
    }

    /// Returns whether the format has words but no other columns of metadata. In such a format a space ends a word.
    pub fn has_words_only(self) -> bool {
        matches!(self, Self::Word2VecBinary | Self::Word2VecText | Self::Glove)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Word2VecBinary => "word2vec, binary",
            Self::Word2VecText => "word2vec or fastText, text",
            Self::Glove => "GloVe, text",
            Self::Csv => "CSV, text",
            Self::FastText => "fastText, binary",
            Self::Tsv => "projector, TSV",
            Self::Npy => "NumPy, .npy",
            Self::Npz => "NumPy, .npz",
            Self::Safetensors => "safetensors",
        })
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    Byte(u64),
    /// A row, counted from 0 as in NumPy.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

impl Place {
    /// Returns the place that is `rows` rows further on; `None` for an offset in bytes, unless `rows` is 0.
    fn after(self, rows: u64) -> Option<Self> {
        match self {
            Self::Line(line) => Some(Self::Line(line + rows)),
            Self::Row(row) => Some(Self::Row(row + rows)),
            Self::Byte(_) => (rows == 0).then_some(self),
        }
    }
}

/// The places of rows. Most rows directly follow the previous one, so only the places of the others are stored, each
/// with the number of its row.
#[derive(Debug, Default)]
struct Places(Vec<(usize, Place)>);

impl Places {
    /// Adds the place of a row that comes after all others.
    fn push(&mut self, row: usize, place: Place) {
        if self.of(row) != Some(place) {
            self.0.push((row, place));
        }
    }

    fn of(&self, row: usize) -> Option<Place> {
        let at = self.0.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, place) = self.0[at];
        place.after((row - first) as u64)
    }
}

/// The rows that share a property: their number, and the places of the first ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub count: usize,
    pub places: Vec<Place>,
}

impl Found {
    pub fn add(&mut self, place: Place) {
        self.count += 1;
        if self.places.len() < PLACES_MAX {
            self.places.push(place);
        }
    }
}

/// All irregularities of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows that are kept although an earlier row has the same word; the word then means the first row.
    pub duplicates: Found,
    /// Rows of zeros, which have no direction.
    pub zeros: Found,
    /// Words with bytes that are not UTF-8, each replaced by U+FFFD.
    pub mended_words: Found,
    /// Words with spaces, which other readers would cut.
    pub words_with_spaces: Found,
    /// Rows without a word, named by their number.
    pub unnamed: Found,
    /// Rows left out because of a NaN or an infinity.
    pub not_finite: Found,
    /// Rows left out because they have too few numbers or something else in place of a number.
    pub malformed: Found,
    /// Sentences about the file as a whole, for example that its header promises another number of rows.
    pub notes: Vec<String>,
}

impl Report {
    /// Returns the number of rows that were left out.
    pub fn left_out(&self) -> usize {
        self.not_finite.count + self.malformed.count
    }

    /// Returns a line for each kind of irregularity that occurred.
    pub fn lines(&self) -> Vec<String> {
        let kinds = [
            (&self.malformed, "left out: not a word and its numbers"),
            (&self.not_finite, "left out: NaN or infinite"),
            (&self.mended_words, "repaired: bytes that are not UTF-8, shown as U+FFFD"),
            (&self.words_with_spaces, "with spaces in the word"),
            (&self.unnamed, "without a word, named by number"),
            (&self.duplicates, "with a repeated word, which refers to its first row"),
            (&self.zeros, "of zeros, without a direction"),
        ];
        let line = |(found, words): (&Found, &str)| {
            let places: Vec<String> = found.places.iter().map(Place::to_string).collect();
            let more = if found.count > found.places.len() { ", …" } else { "" };
            (found.count > 0).then(|| format!("{} {words} ({}{more})", counted(found.count, "row"), places.join(", ")))
        };
        kinds.into_iter().filter_map(line).chain(self.notes.iter().cloned()).collect()
    }
}

/// A column of a metadata table, with an entry for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub entries: Vec<String>,
}

/// Words, their vectors and other columns of metadata, from a file or a lesson. All writers take such a table.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    pub words: Cow<'a, [Box<str>]>,
    /// Vectors, (n, d), a row for each word.
    pub rows: Cow<'a, Matrix<f32>>,
    pub metadata: Cow<'a, [Column]>,
}

impl Table<'_> {
    /// Returns the column of the words, which is called `name` unless the metadata has another name for it, and the
    /// other columns.
    fn columns(&self, name: &str) -> (Column, impl Iterator<Item = &Column>) {
        let label = metadata::label(&self.metadata).filter(|label| {
            let mut rows = label.entries.iter().zip(&*self.words);
            rows.all(|(entry, word)| entry.is_empty() || **entry == **word)
        });
        let label = label.map(|label| &*label.name);
        let words = self.words.iter().map(|word| word.to_string()).collect();
        let others = self.metadata.iter().filter(move |column| Some(&*column.name) != label);
        (Column { name: label.unwrap_or(name).to_owned(), entries: words }, others)
    }

    /// Returns the spellings of the words for a format in which a space ends a word. Spaces and control characters
    /// become `_`, as in word2vec's phrases. A row without a word is named by its number. A spelling that another word
    /// already has gets `_` appended, because readers keep only one of equal words.
    pub fn spellings(&self) -> Spellings<'_> {
        let is_plain = |word: &str| !word.is_empty() && !word.contains(ends_word);
        let mut words: Vec<Option<Cow<'_, str>>> = vec![None; self.words.len()];
        let mut taken: HashSet<Cow<'_, str>> = HashSet::new();
        for (spelling, word) in words.iter_mut().zip(&*self.words).filter(|(_, word)| is_plain(word)) {
            if taken.insert(Cow::Borrowed(&**word)) {
                *spelling = Some(Cow::Borrowed(&**word));
            }
        }
        let (mut joined, mut distinct) = (0, Vec::new());
        let mut found = Vec::with_capacity(words.len());
        for (row, (spelling, word)) in words.into_iter().zip(&*self.words).enumerate() {
            if let Some(spelling) = spelling {
                found.push(spelling);
                continue;
            }
            joined += usize::from(word.contains(ends_word));
            let mut spelling = if word.is_empty() { row.to_string() } else { word.replace(ends_word, "_") };
            if taken.contains(&*spelling) {
                while taken.contains(&*spelling) {
                    spelling.push('_');
                }
                distinct.push((row, spelling.clone()));
            }
            taken.insert(Cow::Owned(spelling.clone()));
            found.push(Cow::Owned(spelling));
        }
        Spellings { words: found, joined, distinct }
    }

    /// Returns each spelling with its vector.
    fn spelled<'t>(&'t self, spellings: &'t Spellings<'_>) -> impl Iterator<Item = (&'t str, &'t [f32])> {
        spellings.words.iter().enumerate().map(|(row, word)| (&**word, self.rows.row(row)))
    }
}

/// The words as they are written in a format without spaces in words; no two are equal.
#[derive(Debug)]
pub struct Spellings<'a> {
    pub words: Vec<Cow<'a, str>>,
    /// Number of words in which spaces became `_`.
    pub joined: usize,
    /// Rows whose spelling another word already had, each with its new spelling.
    pub distinct: Vec<(usize, String)>,
}

fn ends_word(c: char) -> bool {
    c == ' ' || c.is_control()
}

/// Writes vectors in a format, without the separate table of words that some formats have.
///
/// # Errors
/// If they cannot be written, a number is not finite, or the format cannot hold them.
pub fn write(table: &Table<'_>, format: Format, to: &mut dyn Write) -> io::Result<()> {
    let is_finite = |row: &usize| table.rows.row(*row).iter().all(|x| x.is_finite());
    if let Some(row) = (0..table.rows.rows()).find(|row| !is_finite(row)) {
        let word = quoted(&table.words[row]);
        return Err(io::Error::other(format!("the vector of {word} has a number that is not finite")));
    }
    match format {
        Format::Word2VecBinary => binary::write(table, to),
        Format::Word2VecText => text::write(table, true, to),
        Format::Glove => text::write(table, false, to),
        Format::Csv | Format::FastText => {
            Err(io::Error::other(format!("attune reads this format ({format}), and does not write it")))
        }
        Format::Tsv => text::write_tsv(table, to),
        Format::Npy => numpy::write_npy(&table.rows, to),
        Format::Npz => numpy::write_npz(table, to),
        Format::Safetensors => tensors::write(&table.rows, to),
    }
}

/// Returns the refusal to compare rows without words: the reason in `note`, or advice on what to do.
pub fn no_words(note: Option<&str>) -> String {
    let advice = note.unwrap_or("write the words into NAME_metadata.tsv beside the file NAME.npy, a word in each line");
    format!("the rows have no words, and their numbers do not say which rows of two files belong together; {advice}")
}

/// Returns whether all words are only the numbers of their rows; some rows may have been left out.
pub fn are_row_numbers<'w>(words: impl ExactSizeIterator<Item = &'w str>) -> bool {
    let (count, mut next) = (words.len(), 0);
    let mut words = words.map(|word| word.parse::<usize>().ok().filter(|row| row.to_string() == *word));
    count > 0
        && words.all(|row| row.is_some_and(|row| row >= std::mem::replace(&mut next, row + 1)))
        && next <= 2 * count
}

/// Words and their vectors.
#[derive(Clone, Debug)]
pub struct Vectors {
    pub words: Vec<Box<str>>,
    /// Vectors, (n, d), a row for each word.
    pub rows: Matrix<f32>,
    pub metadata: Vec<Column>,
    pub format: Format,
    /// Number type in the file, such as `F16`; in memory the numbers are `f32`.
    pub kind: String,
    pub report: Report,
    /// Hash and row of each word, sorted.
    index: Vec<(u64, u32)>,
}

impl Vectors {
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn width(&self) -> usize {
        self.rows.cols()
    }

    /// Returns whether a row has a word, and not only a number in place of one.
    pub fn has_word(&self, row: usize) -> bool {
        self.report.unnamed.count == 0 || !self.words[row].bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Returns the reason why no row can be found in another file by its word; `None` if some row has a word.
    pub fn why_no_words(&self) -> Option<String> {
        if (0..self.len()).any(|row| self.has_word(row)) {
            return None;
        }
        let is_of_words = |note: &&String| note.contains(metadata::ROWS_ARE_NUMBERS) || note.contains("pickle");
        Some(no_words(self.report.notes.iter().find(is_of_words).map(String::as_str)))
    }

    /// Returns a table of the words and vectors for the writers, without copying them.
    pub fn table(&self) -> Table<'_> {
        let (words, rows, metadata) = (Cow::from(&self.words), Cow::Borrowed(&self.rows), Cow::from(&self.metadata));
        Table { words, rows, metadata }
    }

    /// Returns the first row that has this word.
    pub fn row_of(&self, word: &str) -> Option<usize> {
        let hash = hash(word);
        let from = self.index.partition_point(|(other, _)| *other < hash);
        let same = self.index[from..].iter().take_while(|(other, _)| *other == hash);
        same.map(|(_, row)| *row as usize).find(|&row| &*self.words[row] == word)
    }
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The state of reading, which a watcher receives. The watcher may show the rows that have been read so far.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Number of decompressed bytes read so far.
    pub bytes: u64,
    /// Size of the file on disk in bytes.
    pub length: u64,
    pub words: &'a [Box<str>],
    /// Numbers of the rows read so far, one row after the other.
    pub numbers: &'a [f32],
    pub width: usize,
    /// Memory of the vectors so far, in bytes.
    pub memory: u64,
}

/// Type of a watcher, a function that is told of the rows read so far and ends the reading by returning `false`.
pub type Watch<'a> = &'a mut dyn FnMut(Progress<'_>) -> bool;

/// Vectors that are being read.
pub struct Builder<'a> {
    words: Vec<Box<str>>,
    numbers: Vec<f32>,
    /// Place of each row that is kept.
    places: Places,
    budget: Budget,
    /// Memory counted when the watcher was last called.
    watched: u64,
    width: usize,
    pub report: Report,
    metadata: Vec<Column>,
    watch: Watch<'a>,
    /// Number of rows of the file so far, including those left out.
    seen: u64,
    /// Index in the file of each row that is kept; `None` if no row was left out.
    kept: Option<Vec<u64>>,
}

impl<'a> Builder<'a> {
    /// Makes a builder of vectors of the given width that are read from a source.
    pub fn new(width: usize, source: &Source, watch: Watch<'a>) -> Self {
        let (words, numbers, places, report, metadata) = Default::default();
        let budget = Budget::of(source);
        Self { words, numbers, places, budget, watched: 0, width, report, metadata, watch, seen: 0, kept: None }
    }

    /// Counts memory, before it is allocated, for something other than rows.
    ///
    /// # Errors
    /// If it is more than a file of this size may take, or the watcher ends the reading.
    pub fn take(&mut self, bytes: u64, source: &Source) -> Result<(), LoadStopped> {
        self.budget.take(bytes)?;
        if self.budget.taken() - self.watched >= BYTES_AT_A_TIME { self.call_watch(source) } else { Ok(()) }
    }

    /// Counts memory for entries of metadata with the given number of letters in all.
    ///
    /// # Errors
    /// See [`Self::take`].
    pub fn take_entries(&mut self, entries: u64, letters: usize, source: &Source) -> Result<(), LoadStopped> {
        self.take(entries.saturating_mul(ENTRY_BYTES).saturating_add(letters as u64), source)
    }

    fn row_bytes(&self) -> u64 {
        ROW_BYTES + (self.width * size_of::<f32>()) as u64
    }

    /// Adds a sentence about the file as a whole.
    pub fn note(&mut self, note: impl Into<String>) {
        self.report.notes.push(note.into());
    }

    /// Reserves memory for the rows that a header promises, but not for more than the rest of the file can hold if a
    /// row has at least `row_bytes`.
    ///
    /// # Errors
    /// See [`Self::reserve`].
    pub fn reserve_promised(&mut self, rows: u64, row_bytes: usize, source: &Source) -> Result<(), Refusal> {
        source.left().map_or(Ok(()), |left| self.reserve(rows.min(left / row_bytes as u64)))
    }

    /// Adds the next rows of numbers, which have no words: as many as a header promises, or as the source still has.
    ///
    /// # Errors
    /// See [`Self::reserve`] and [`Self::push`].
    fn read_rows(&mut self, rows: u64, numbers: Numbers, source: &mut Source) -> Result<(), LoadStopped> {
        let row_bytes = self.width * numbers.size;
        self.reserve_promised(rows, row_bytes, source)?;
        while self.seen < rows {
            let bytes = source.peek(row_bytes)?;
            if bytes.len() < row_bytes {
                break;
            }
            numbers.widen(bytes, self.room());
            source.pass(row_bytes);
            self.push(b"", Place::Row(self.seen), source)?;
        }
        Ok(())
    }

    /// Reserves memory for the given number of rows, which must be known to exist, up to the limit of the budget.
    ///
    /// # Errors
    /// If this computer does not have enough.
    pub fn reserve(&mut self, rows: u64) -> Result<(), Refusal> {
        let rows = usize::try_from(rows.min(self.budget.left() / self.row_bytes())).unwrap_or_default();
        let numbers = self.numbers.try_reserve_exact(rows * self.width);
        numbers.and_then(|()| self.words.try_reserve_exact(rows)).map_err(|_| {
            let found = format!("{} of {} numbers", counted(rows, "row"), self.width);
            Refusal::new(found, "vectors that fit into the memory of this computer", "keep fewer rows")
        })
    }

    /// Returns the buffer for the numbers of the next row, which [`Self::push`] then keeps or drops.
    pub fn room(&mut self) -> &mut Vec<f32> {
        self.numbers.truncate(self.words.len() * self.width);
        &mut self.numbers
    }

    /// Adds the row whose numbers were written to [`Self::room`].
    ///
    /// # Errors
    /// If the rows take too much memory, or the watcher ends the reading.
    pub fn push(&mut self, word: &[u8], place: Place, source: &Source) -> Result<(), LoadStopped> {
        let from = self.words.len() * self.width;
        let row = &self.numbers[from..];
        self.seen += 1;
        if row.len() != self.width {
            return self.drop_row(place, |report| &mut report.malformed);
        }
        if !row.iter().fold(true, |all, x| all & x.is_finite()) {
            return self.drop_row(place, |report| &mut report.not_finite);
        }
        if row.iter().all(|x| *x == 0.0) {
            self.report.zeros.add(place);
        }
        self.budget.take(self.row_bytes() + word.len() as u64)?;
        let word = self.named(word, place);
        self.places.push(self.words.len(), place);
        self.words.push(word);
        if let Some(kept) = &mut self.kept {
            kept.push(self.seen - 1);
        }
        if self.words.len() == ROWS_AT_A_TIME {
            self.reserve_rest(source)?;
        }
        let is_due = self.words.len().is_multiple_of(ROWS_AT_A_TIME);
        if is_due || self.budget.taken() - self.watched >= BYTES_AT_A_TIME { self.call_watch(source) } else { Ok(()) }
    }

    /// Reserves memory for the rest of a file, on the assumption that its rows are as long as those read so far.
    /// Growing the buffer step by step would need more.
    fn reserve_rest(&mut self, source: &Source) -> Result<(), Refusal> {
        /// Factor that allows for rows of different lengths.
        const ALLOWANCE: f64 = 1.02;
        if source.is_packed() {
            return Ok(());
        }
        let rows = source.length() as f64 / source.passed().max(1) as f64 * self.words.len() as f64 * ALLOWANCE;
        self.reserve((rows as u64).saturating_sub(self.words.len() as u64))
    }

    fn named(&mut self, word: &[u8], place: Place) -> Box<str> {
        if word.is_empty() {
            self.report.unnamed.add(place);
            return (self.seen - 1).to_string().into();
        }
        let text = String::from_utf8_lossy(word);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            self.report.mended_words.add(place);
        }
        if text.contains(' ') {
            self.report.words_with_spaces.add(place);
        }
        text.into()
    }

    /// Counts a row of the file as left out, because it is malformed.
    pub fn leave_out(&mut self, place: Place) -> Result<(), LoadStopped> {
        self.seen += 1;
        self.drop_row(place, |report| &mut report.malformed)
    }

    fn drop_row(&mut self, place: Place, kind: fn(&mut Report) -> &mut Found) -> Result<(), LoadStopped> {
        kind(&mut self.report).add(place);
        let kept = self.words.len() as u64;
        self.kept.get_or_insert_with(|| (0..kept).collect());
        let _ = self.room();
        Ok(())
    }

    fn call_watch(&mut self, source: &Source) -> Result<(), LoadStopped> {
        self.watched = self.budget.taken();
        let numbers = &self.numbers[..self.words.len() * self.width];
        let (bytes, length, words, width) = (source.passed(), source.length(), &*self.words, self.width);
        if (self.watch)(Progress { bytes, length, words, numbers, width, memory: self.watched }) {
            Ok(())
        } else {
            Err(LoadStopped::Cancelled)
        }
    }

    /// Returns the vectors, once every row is pushed.
    ///
    /// # Errors
    /// If there are no rows, or more are left out than kept.
    pub fn finish(mut self, format: Format, kind: &str, source: &Source) -> Result<Vectors, LoadStopped> {
        if let Some(broken) = source.broken() {
            let at = source.passed();
            self.note(format!(
                "the file is damaged or cut off at unpacked byte {at}: {broken}; the rows before it are read"
            ));
        }
        if self.words.is_empty() || self.report.left_out() > self.words.len() {
            let (left, kept) = (self.report.left_out(), self.words.len());
            let why = self.report.lines().first().cloned().unwrap_or_else(|| "nothing".to_owned());
            let found = format!("{}, and {left} that cannot be used: {why}", counted(kept, "row"));
            return Err(Refusal::new(found, format!("rows of {} numbers ({format})", self.width), NOT_VECTORS).into());
        }
        self.call_watch(source)?;
        let mut index: Vec<(u64, u32)> = self.words.iter().zip(0..).map(|(word, row)| (hash(word), row)).collect();
        index.sort_unstable();
        self.report.duplicates = self.duplicates(&index);
        let _ = self.room();
        self.numbers.shrink_to_fit();
        let rows = Matrix::from_row_major(self.words.len(), self.width, self.numbers);
        let (words, report, kind) = (self.words, self.report, kind.to_owned());
        Ok(Vectors { words, rows, metadata: self.metadata, format, kind, report, index })
    }

    /// Returns the rows whose word occurs in an earlier row, according to the index of words.
    fn duplicates(&self, index: &[(u64, u32)]) -> Found {
        let mut first = BTreeSet::new();
        let mut found = Found::default();
        for same in index.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            for (i, (_, row)) in same.iter().enumerate() {
                let word = &self.words[*row as usize];
                if same[..i].iter().any(|(_, other)| &self.words[*other as usize] == word) {
                    found.count += 1;
                    first.insert(*row as usize);
                    if first.len() > PLACES_MAX {
                        first.pop_last();
                    }
                }
            }
        }
        found.places = first.into_iter().filter_map(|row| self.places.of(row)).collect();
        found
    }

    /// Adds columns with an entry for each row of the file. The column of words names the rows, and all columns keep
    /// the entries of the rows that are kept.
    pub fn name_by(&mut self, mut columns: Vec<Column>) {
        for column in &mut columns {
            if let Some(kept) = &self.kept {
                let mut entry = |row: &u64| column.entries.get_mut(usize::try_from(*row).ok()?).map(std::mem::take);
                column.entries = kept.iter().map(|row| entry(row).unwrap_or_default()).collect();
            }
            column.entries.resize(self.words.len(), String::new());
        }
        if let Some(label) = metadata::label(&columns) {
            self.report.unnamed = Found::default();
            for (row, (word, name)) in self.words.iter_mut().zip(&label.entries).enumerate() {
                match &**name {
                    "" => self.places.of(row).into_iter().for_each(|place| self.report.unnamed.add(place)),
                    name => *word = name.into(),
                }
            }
        }
        self.metadata = columns;
    }

    /// Returns whether there are columns of metadata.
    pub fn has_metadata(&self) -> bool {
        !self.metadata.is_empty()
    }

    /// Returns the number of rows of the file so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}

const NOT_VECTORS: &str = "attune reads word2vec, fastText, GloVe, CSV, the projector's TSV and config, .npy, .npz and \
    safetensors, each also in gzip, and a zip of one of them";

/// Reads vectors from a file or a model's folder. `watch` is called as rows are read.
///
/// # Errors
/// If the file has none, cannot be read, or reading was stopped.
pub fn read(path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    if path.is_dir() {
        return tensors::read_folder(&static_table(path).unwrap_or_else(|| path.to_owned()), watch);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    read_file(path, watch).map_err(|stopped| stopped.in_file(&name))
}

fn read_file(path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let mut source = Source::open(path)?;
    let (packed, is_packed) = (source.length(), source.is_packed());
    source.pass_mark()?;
    let head = source.peek(SNIFFED_BYTES)?;
    if head.is_empty() {
        return Err(Refusal::new("an empty file", "vectors", NOT_VECTORS).into());
    }
    check_foreign(head)?;
    let is_zip = head.starts_with(zip::MAGIC);
    if projector::is_config(head) && !is_packed {
        return projector::read_config(path, watch);
    }
    if is_zip || tensors::is_header(head) {
        let archive = Archive::of(path, source, watch)?;
        return match is_zip {
            true => read_zip(path, &archive, is_packed.then_some(packed), watch),
            false => tensors::read_file(path, &archive, watch),
        };
    }
    read_source(source, path, watch)
}

/// Reads a zip archive: NumPy's arrays, or the only file in it.
fn read_zip(path: &Path, archive: &Archive, packed: Option<u64>, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    const NAMED: usize = 6;
    let entries = zip::directory(archive)?;
    let files: Vec<&zip::Entry> = entries.iter().filter(|entry| entry.is_file()).collect();
    if files.is_empty() || files.iter().any(|file| file.name.ends_with(numpy::NPY)) {
        return numpy::read_npz(path, (archive, &entries), packed, watch);
    }
    let [file] = files[..] else {
        let names: Vec<String> = files.iter().take(NAMED).map(|file| quoted(&file.name)).collect();
        let more = if files.len() > NAMED { ", …" } else { "" };
        let found = format!("a zip of {} files: {}{more}", files.len(), names.join(", "));
        return Err(Refusal::new(found, "a zip of one file", UNPACK).into());
    };
    let name = file.name.rsplit('/').next().unwrap_or_default();
    let mut source = zip::open(archive, file, packed)?;
    source.pass_mark()?;
    let head = source.peek(SNIFFED_BYTES)?;
    let is_of_several = head.starts_with(zip::MAGIC) || head.starts_with(source::GZIP) || tensors::is_header(head);
    if is_of_several || projector::is_config(head) {
        let found = format!("a zip with {}", quoted(&file.name));
        let advice = "unpack it, and open what is in it";
        return Err(Refusal::new(found, "a zip of a text, of a binary file or of arrays", advice).into());
    }
    check_foreign(head).map_err(|refusal| refusal.in_file(&file.name))?;
    read_source(source, &path.with_file_name(name), watch)
}

/// Refuses a file that is recognised as a kind that has no vectors.
fn check_foreign(head: &[u8]) -> Result<(), Refusal> {
    match foreign::recognise(head).filter(|kind| !kind.may_have_vectors) {
        Some(kind) => Err(kind.refusal("vectors")),
        None => Ok(()),
    }
}

/// Reads a source in the format that its first bytes show. The words may be in a file next to `path`.
fn read_source(mut source: Source, path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let head = source.peek(SNIFFED_BYTES)?;
    if head.starts_with(numpy::MAGIC) {
        return numpy::read_npy(source, path, watch);
    }
    if foreign::is_fast_text(head) {
        return fast_text::read(source, watch);
    }
    match binary::header(head) {
        Some(header) if !text::is_text(&head[header.bytes..], header) => binary::read(source, header, watch),
        header => text::read(source, header, path, watch),
    }
}

/// Number of bytes at the start of a file from which its format is recognised.
const SNIFFED_BYTES: usize = 1 << 18;

/// Number of bytes that are enough to see whether a file has vectors: a line of names and one of numbers.
pub const HEAD_BYTES: usize = 1 << 16;

/// Returns whether a file with this beginning contains vectors, complete or damaged. It is recognised by its magic
/// number, as a projector's config, or as text in which most lines are rows.
pub fn begins_as_vectors(head: &[u8]) -> bool {
    let text = files::without_mark(head);
    match foreign::recognise(text) {
        Some(kind) => kind.may_have_vectors,
        None => {
            let is_table = tensors::is_header(head) || projector::names_tables(text);
            is_table || binary::header(text).is_some() || layout::has_rows(text, head.len() < HEAD_BYTES)
        }
    }
}

/// Returns the message for an unknown word, with the most similar known words.
pub fn unknown(word: &str, vectors: &Vectors) -> String {
    let near = crate::messages::nearest_few(word, vectors.words.iter().map(|word| &**word), 3);
    let near: Vec<String> = near.into_iter().map(quoted).collect();
    let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
    format!("{} is not among the {} words{hint}", quoted(word), vectors.len())
}
