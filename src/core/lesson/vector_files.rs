//! Files of vectors: those from which lessons take words, and the lesson that opens on a file by itself.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::spread::Spread;
use attune_engine::pretrained::cache::{is_named_as_part, static_table};
use attune_engine::pretrained::load::LoadStopped;
use attune_engine::recording::is_recording;
use attune_engine::vectors::metadata::label;
use attune_engine::vectors::{Column, Progress, Vectors, begins_as_vectors, read};

use crate::lesson::neighbourhoods::densest;
use crate::lesson::opened::{file_id, note, plain};
use crate::lesson::pictures::within;
use crate::lesson::reading::file::{head, is_named_as_lesson};
use crate::lesson::schema::cells::Cell;
use crate::lesson::schema::limits::{GROUPS_MAX, TOKENS_MAX};
use crate::lesson::schema::model::{ModelConfig, Objective};
use crate::lesson::schema::panels::PanelName;
use crate::lesson::schema::{GivenSource, GivenVectors, Group, Lesson, StaticEmbedding};

/// Entry in a config of the Embedding Projector that names the file of a table.
const TENSOR_PATH: &[u8] = b"\"tensorPath\"";

/// Files of a model, and the name of the type of a model that is only a table.
const CONFIG_OF_MODEL: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const STATIC_MODEL: &[u8] = b"\"model2vec\"";

/// Returns whether a file, or a folder of model2vec, contains vectors and is no lesson, by its first bytes. The vectors
/// may be damaged.
pub fn is_file_of_vectors(path: &Path) -> bool {
    if path.is_dir() {
        return path.join(WEIGHTS).is_file() && is_static(&path.join(CONFIG_OF_MODEL)) || static_table(path).is_some();
    }
    if is_named_as_lesson(path) || !path.is_file() {
        return false;
    }
    let (head, config) = (head(path), path.with_file_name(CONFIG_OF_MODEL));
    let is_projector = head.windows(TENSOR_PATH.len()).any(|part| part == TENSOR_PATH);
    let is_of_model = is_named_as_part(path) && !is_projector && config.is_file() && !is_static(&config);
    !is_of_model && begins_as_vectors(&head) && !is_recording(path)
}

/// Returns whether the config describes a table alone, as model2vec writes it: words with vectors, and no layers.
fn is_static(config: &Path) -> bool {
    head(config).windows(STATIC_MODEL.len()).any(|part| part == STATIC_MODEL)
}

/// Advice for comparing a file of vectors with something else.
pub const BESIDE_VECTORS: &str = "a file of vectors is compared with another file of vectors; attune export OTHER --to word2vec \
                                  -o OTHER.bin writes the vectors of a lesson or a model as one";

/// Returns the file of vectors, or the folder of a model, in the lesson's folder that a text of the lesson names.
///
/// # Errors
/// A message for the learner if there is no such file.
pub fn in_folder(folder: Option<&Path>, name: &str) -> Result<PathBuf, String> {
    let path = within(folder, name).map_err(|why| format!("there is no file {name:?} beside the lesson: {why}"))?;
    let opens = is_file_of_vectors(&path) || path.join(CONFIG_OF_MODEL).is_file();
    opens.then_some(path).ok_or_else(|| format!("{name:?} is not a file of vectors or a model's folder"))
}

/// Number of bytes that have been read of a file, and the file's length, which is 0 while no file is being read.
static READ: AtomicU64 = AtomicU64::new(0);
static LENGTH: AtomicU64 = AtomicU64::new(0);

/// Returns how much of a large file has been read, and its size, in megabytes, while one is being read.
pub fn progress() -> Option<(u64, u64)> {
    let length = LENGTH.load(Ordering::Relaxed);
    (length > 0).then(|| (READ.load(Ordering::Relaxed) >> 20, length >> 20))
}

/// Reads a file of vectors. [`progress`] returns how much has been read, and `watch` is called with the rows read so
/// far.
///
/// # Errors
/// If it has no vectors or cannot be read.
pub fn read_with_progress(path: &Path, watch: &mut dyn FnMut(&Progress<'_>)) -> Result<Vectors, LoadStopped> {
    let vectors = read(path, &mut |progress| {
        READ.store(progress.bytes, Ordering::Relaxed);
        LENGTH.store(progress.length.max(progress.bytes), Ordering::Relaxed);
        watch(&progress);
        true
    });
    LENGTH.store(0, Ordering::Relaxed);
    vectors
}

/// The path, length and time of change of a file when it was read.
#[derive(PartialEq)]
struct Stamp(PathBuf, u64, Option<SystemTime>);

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let data = fs::metadata(&path).ok()?;
        Some(Self(path, data.len(), data.modified().ok()))
    }
}

/// Files that are in use by lessons.
static KNOWN: Mutex<Known> = Mutex::new(Vec::new());

type Known = Vec<(Stamp, Weak<Vectors>)>;

fn found(known: &Known, stamp: &Stamp) -> Option<Arc<Vectors>> {
    known.iter().find(|(of, _)| of == stamp)?.1.upgrade()
}

/// Opens a file of vectors. A file that a lesson uses and that has not changed is not read again.
///
/// # Errors
/// If it has no vectors or cannot be read.
pub fn open(path: &Path) -> Result<Arc<Vectors>, LoadStopped> {
    let before = Stamp::of(path);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|(_, vectors)| vectors.strong_count() > 0);
    if let Some(vectors) = before.as_ref().and_then(|stamp| found(&known, stamp)) {
        return Ok(vectors);
    }
    let vectors = Arc::new(read_with_progress(path, &mut |_| {})?);
    known.extend(before.map(|stamp| (stamp, Arc::downgrade(&vectors))));
    Ok(vectors)
}

/// Greatest size of a file that a code cell reads, in bytes; greatest number of its numbers; and greatest memory that
/// it needs with its words, in bytes.
const CELL_FILE_BYTES_MAX: u64 = 64 << 20;
const CELL_NUMBERS_MAX: usize = 16 << 20;
const CELL_MEMORY_MAX: u64 = 256 << 20;

/// The file that a cell read last, and those that cells could not read. None of them is read again for the next cell.
static LAST: Mutex<Last> = Mutex::new(Last { vectors: None, refused: Vec::new() });

struct Last {
    vectors: Option<(Stamp, Arc<Vectors>)>,
    /// Files that a cell cannot read, with the reason; finding the reason can take as long as reading.
    refused: Vec<(Stamp, String)>,
}

/// Greatest number of refused files that are remembered.
const REFUSED_MAX: usize = 16;

/// Reads a file of a lesson's folder for a code cell.
///
/// # Errors
/// A message for the learner if there is no such file, it is too large, or it contains no vectors.
pub fn open_for_code(folder: Option<&Path>, name: &str) -> Result<Arc<Vectors>, String> {
    let path = within(folder, name)?;
    let stamp = Stamp::of(&path).ok_or("the file cannot be read")?;
    let lesson_has = KNOWN.try_lock().ok().and_then(|known| found(&known, &stamp));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let was_read = || Some(last.vectors.as_ref().filter(|(of, _)| *of == stamp)?.1.clone());
    if let Some(vectors) = lesson_has.or_else(was_read) {
        return Ok(vectors);
    }
    if let Some((_, why)) = last.refused.iter().find(|(of, _)| *of == stamp) {
        return Err(why.clone());
    }
    match read_for_code(&path, &stamp) {
        Ok(vectors) => {
            let vectors = Arc::new(vectors);
            last.vectors = Some((stamp, vectors.clone()));
            Ok(vectors)
        }
        Err(why) => {
            let beyond = (last.refused.len() + 1).saturating_sub(REFUSED_MAX);
            last.refused.drain(..beyond);
            last.refused.push((stamp, why.clone()));
            Err(why)
        }
    }
}

fn read_for_code(path: &Path, stamp: &Stamp) -> Result<Vectors, String> {
    let too_large = format!(
        "more than {} MB or {} million numbers, or {} MB of memory with its words; a cell can read only smaller files, \
         but a lesson can take words from a larger file with static_embedding: File(\"…\")",
        CELL_FILE_BYTES_MAX >> 20,
        CELL_NUMBERS_MAX >> 20,
        CELL_MEMORY_MAX >> 20
    );
    if stamp.1 > CELL_FILE_BYTES_MAX {
        return Err(too_large);
    }
    let fits =
        |progress: Progress<'_>| progress.numbers.len() <= CELL_NUMBERS_MAX && progress.memory <= CELL_MEMORY_MAX;
    read(path, &mut |progress| fits(progress)).map_err(|stopped| match stopped {
        LoadStopped::Refused(refusal) => refusal.to_string(),
        LoadStopped::Cancelled => too_large,
    })
}

/// Size from which a file's first rows are shown before the rest is read.
const SHOWN_EARLY_BYTES: u64 = 32 << 20;

/// Makes the lesson of a file of vectors, with all its words and an attention layer that has nothing to learn. For a
/// large file, `first` receives a lesson of the first rows while the rest is being read.
///
/// # Errors
/// If the file contains no vectors or cannot be read.
pub fn lesson_of(path: &Path, first: &mut dyn FnMut(Lesson)) -> Result<Lesson, LoadStopped> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().map(Path::to_owned);
    let mut is_shown = false;
    let vectors = read_with_progress(path, &mut |progress| {
        // Rows are named by their numbers, from 0, until the words are read from a second file.
        let has_words = progress.words.first().is_some_and(|word| **word != *"0");
        let is_large = progress.length >= SHOWN_EARLY_BYTES && progress.bytes < progress.length / 2;
        if has_words && is_large && !std::mem::replace(&mut is_shown, true) {
            first(Lesson { folder: folder.clone(), ..of_first(&name, progress) });
        }
    })?;
    Ok(Lesson { folder, ..of_vectors(&name, vectors) })
}

/// Returns the lesson of a file's first rows.
fn of_first(name: &str, progress: &Progress<'_>) -> Lesson {
    let (count, width) = (progress.words.len(), progress.width);
    let about =
        format!("The first {count} vectors of {}; the rest of the file is still being read", counted(width, "number"));
    let cell = note(format!("# {}\n\n{about}.", plain(name)));
    let rows = Matrix::from_row_major(count, width, progress.numbers.to_vec());
    of_space(name, about, cell, (progress.words.to_vec(), rows, GivenSource::FirstRows))
}

fn of_vectors(name: &str, mut vectors: Vectors) -> Lesson {
    let about = about(&vectors);
    let coloured_by = vectors.metadata.iter().find(|column| is_of_groups(column));
    let groups = match coloured_by {
        Some(column) => groups_of(&vectors, column),
        None => densest(&vectors.words, &vectors.rows),
    };
    let cell = note(notes(name, &about, &vectors, coloured_by, groups.len()));
    let label = label(&vectors.metadata).map(|label| label.name.clone());
    vectors.metadata.retain(|column| Some(&column.name) != label.as_ref());
    let source = GivenSource::WholeFile(vectors.metadata.into());
    Lesson { groups, ..of_space(name, about, cell, (vectors.words, vectors.rows, source)) }
}

/// Returns a lesson with all words of a file and one cell.
fn of_space(
    name: &str,
    about: String,
    cell: Cell,
    (words, rows, source): (Vec<Box<str>>, Matrix<f32>, GivenSource),
) -> Lesson {
    let width = rows.cols();
    // A single word stays in place; several words are mixed according to their similarity.
    let attention = AttentionConfig { scale: true, ..AttentionConfig::parameter_free(width) };
    let architecture = Architecture {
        blocks: vec![BlockConfig { residual: false, ..BlockConfig::plain(attention.clone()) }],
        readout_bias: false,
        ..Architecture::of_attention(attention, Positions::None, TOKENS_MAX)
    };
    let objective = Objective::MaskedWord { rate: 0.15, among: Vec::new(), stand_ins: Vec::new() };
    let model = ModelConfig::untrained(architecture, objective);
    let first = first_word(&words).to_owned();
    let words = words.into_iter().map(String::from).collect();
    let vectors = StaticEmbedding::Given(GivenVectors { words, vectors: Arc::new(rows.into()), source });
    Lesson {
        sentences: vec![vec![first]],
        panels: vec![PanelName::Meaning, PanelName::Axes],
        cells: vec![cell],
        ..Lesson::of_file(file_id("vectors", name), name.to_owned(), about, model, vectors)
    }
}

/// Returns whether a column of metadata has few values, each shared by at least two words on average, so that colours
/// can distinguish them.
fn is_of_groups(column: &Column) -> bool {
    let mut values = BTreeSet::new();
    let are_few = column.entries.iter().all(|value| {
        values.insert(value.as_str());
        values.len() <= GROUPS_MAX
    });
    are_few && values.len() > 1 && 2 * values.len() <= column.entries.len()
}

/// Returns whether the groups of a lesson are neighbourhoods that were found in a file of vectors, which names none.
pub fn has_found_groups(lesson: &Lesson) -> bool {
    match &lesson.static_embedding {
        StaticEmbedding::Given(GivenVectors { source: GivenSource::WholeFile(columns), .. }) => {
            !columns.iter().any(is_of_groups)
        }
        _ => false,
    }
}

/// Returns the words of each value of a column, the most frequent value first.
fn groups_of(vectors: &Vectors, column: &Column) -> Vec<Group> {
    let mut words: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (word, value) in vectors.words.iter().zip(&column.entries) {
        words.entry(value).or_default().push(word.to_string());
    }
    let mut groups: Vec<Group> =
        words.into_iter().map(|(name, words)| Group { name: name.to_owned(), words }).collect();
    groups.sort_by_key(|group| Reverse(group.words.len()));
    groups
}

/// Describes the size of a space in words.
fn about(vectors: &Vectors) -> String {
    let (count, width, format) = (vectors.len(), vectors.width(), vectors.format);
    // The numbers of a text format have no type that could be named.
    let kind = if vectors.kind == "text" { String::new() } else { format!(", {}", plain(&vectors.kind)) };
    format!("{} of {} ({format}{kind})", counted(count, "vector"), counted(width, "number"))
}

/// Returns the word that is on the stage at the start. Most files list words by their frequency, after punctuation.
fn first_word(words: &[Box<str>]) -> &str {
    /// Least number of letters of a word with a meaning.
    const LETTERS: usize = 4;
    let is_plain = |word: &&str| word.chars().all(char::is_alphabetic) && word.chars().count() >= LETTERS;
    let words = || words.iter().map(|word| &**word);
    words().find(is_plain).or_else(|| words().next()).unwrap_or_default()
}

fn notes(name: &str, about: &str, vectors: &Vectors, coloured_by: Option<&Column>, groups: usize) -> String {
    let mended = vectors.report.lines();
    let mended: String = match &mended[..] {
        [] => "Every row was read without changes.".to_owned(),
        lines => lines.iter().map(|line| format!("- {}\n", plain(line))).collect(),
    };
    let colours = match coloured_by {
        Some(column) => format!(
            " At first, the colours show the column *{}*; *Colour* in the corner of the stage offers the others.",
            plain(&column.name)
        ),
        None if groups > 0 => format!(
            " The colours show the {} among the first words, each named by its most central word.",
            counted(groups, "densest neighbourhood")
        ),
        None => String::new(),
    };
    let seen = match Spread::sampled(vectors.len(), vectors.width()) {
        sample if sample < vectors.len() => format!("{sample} rows, as the vectors are very wide"),
        _ => "all rows".to_owned(),
    };
    format!(
        "# {}\n\n{about}.\n\n{mended}\n\nThe stage shows all vectors, along the principal components of \
         {seen}.{colours} Type a word above the stage to see where it is; several words are mixed by plain attention, \
         softmax(X Xᵀ / √d) X.\n\n- [Meaning](attune:panel/Meaning) lists the words near a word, and answers \
         questions such as *king - man + woman*\n- *Search words* finds words as you type, also by regular \
         expressions\n- [Axes](attune:panel/Axes) lets you set axes between words that you choose",
        plain(name),
    )
}
