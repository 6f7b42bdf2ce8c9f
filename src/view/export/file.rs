//! Exports as files: the target, further files beside it, and the line that reports them.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::glossary::{self, Glossary};
use attune_core::lesson::issue::shown;
use attune_core::lesson::panels::PanelName;
use attune_core::lesson::recorded::ONE_PASS;
use attune_core::whole_file::{self, Prepared, no_plain_file};
use attune_engine::messages::{counted, counted_as};
use attune_engine::pretrained::refusal::quoted;
use attune_engine::vectors::{self as formats, Format as VectorFormat, Table};

pub use super::fault::ExportFault;
pub use super::format::Format;
use super::markdown::{self, FileBeside};
use super::page::Pictures;
use super::vectors::{self, TableRows};
use super::{ipynb, live_page, pytorch, sheet_svg, web_page};
use crate::panels;

/// Returns the rows of vectors that are exported by default: only the static vectors if the format names rows by single
/// words, otherwise also those in sentences.
pub fn usual_rows(format: VectorFormat) -> TableRows {
    if format.has_words_only() { TableRows::Static } else { TableRows::Both }
}

/// The file to which an export is written; never the lesson itself.
#[derive(Clone, Debug)]
pub struct ExportTarget {
    /// The lesson's file.
    lesson: PathBuf,
    format: Format,
    file: PathBuf,
}

impl ExportTarget {
    /// Checks the target of an export.
    ///
    /// # Errors
    /// If the file cannot be written, as far as this can be known in advance, or if an export would overwrite the
    /// lesson.
    pub fn new(lesson: &Path, format: Format, file: &Path) -> Result<Self, ExportFault> {
        let target = Self { lesson: lesson.to_owned(), format, file: file.to_owned() };
        check_place(lesson, file)?;
        target.beside_vectors().try_for_each(|(file, _)| spare(lesson, &file))?;
        Ok(target)
    }

    /// Writes the snapshot, with these pictures.
    ///
    /// # Errors
    /// See [`Self::write_answered`].
    pub fn write(&self, snapshot: &Snapshot, pictures: &Pictures) -> Result<WrittenFiles, ExportFault> {
        self.write_answered(snapshot, None, pictures)
    }

    /// Writes the snapshot. A live page takes the answers to its predictions from `answered`, as in
    /// [`live_page::write`].
    ///
    /// # Errors
    /// If it cannot be written; an existing file is then unchanged.
    pub fn write_answered(
        &self,
        snapshot: &Snapshot,
        answered: Option<&Snapshot>,
        pictures: &Pictures,
    ) -> Result<WrittenFiles, ExportFault> {
        match self.format {
            Format::Vectors(format) => self.write_vectors(format, snapshot, usual_rows(format)),
            Format::Svg => self.write_picture(snapshot, &pictures.panels),
            Format::Pytorch => self.write_model(snapshot),
            _ => self.write_page(snapshot, answered, pictures),
        }
    }

    /// Writes panels as one picture; if none is named, *Attention*.
    fn write_picture(&self, snapshot: &Snapshot, panels: &[PanelName]) -> Result<WrittenFiles, ExportFault> {
        let panels = if panels.is_empty() { &[PanelName::Attention] } else { panels };
        let sheets = panels::sheets(panels, snapshot);
        self.put([], Box::new(|to| sheet_svg::write(&sheets, to)))?;
        Ok(self.written(What::Panels(panels.to_vec())))
    }

    /// Writes the model as a Jupyter notebook that uses PyTorch.
    fn write_model(&self, snapshot: &Snapshot) -> Result<WrittenFiles, ExportFault> {
        let mut text = Vec::new();
        let contents = pytorch::write(snapshot, &mut text)
            .map_err(|error| ExportFault::Content { lesson: self.lesson.clone(), error })?;
        self.put([], Box::new(|to| to.write_all(&text)))?;
        Ok(self.written(What::Model(contents)))
    }

    /// Writes vectors of a lesson.
    ///
    /// # Errors
    /// See [`Self::write_table`].
    pub fn write_vectors(
        &self,
        to: VectorFormat,
        snapshot: &Snapshot,
        rows: TableRows,
    ) -> Result<WrittenFiles, ExportFault> {
        self.write_made(to, vectors::of(snapshot, rows))
    }

    /// Writes the static vectors of some words of a lesson.
    ///
    /// # Errors
    /// See [`Self::write_table`].
    pub fn write_words(
        &self,
        to: VectorFormat,
        snapshot: &Snapshot,
        words: &[usize],
    ) -> Result<WrittenFiles, ExportFault> {
        self.write_made(to, vectors::of_words(snapshot, words))
    }

    fn write_made(&self, to: VectorFormat, table: io::Result<Table<'_>>) -> Result<WrittenFiles, ExportFault> {
        let table = table.map_err(|error| ExportFault::Content { lesson: self.lesson.clone(), error })?;
        self.write_table(to, &table)
    }

    /// Writes a table of vectors, and the further files that belong to the format.
    ///
    /// # Errors
    /// If it cannot be written, or the format cannot express it; an existing file is then unchanged.
    pub fn write_table(&self, to: VectorFormat, table: &Table<'_>) -> Result<WrittenFiles, ExportFault> {
        let (own, [metadata, _]) = (named(&self.file), [METADATA, CONFIG].map(|ending| self.beside_name(ending)));
        let beside = self.beside_vectors().map(|(file, part)| {
            let write: Writer<'_> = match part {
                Part::Metadata => Box::new(|to| formats::text::write_metadata(table, to)),
                Part::Config => Box::new(|to| formats::projector::write_config(table, &own, &metadata, to)),
            };
            (file, write)
        });
        let beside: Vec<(PathBuf, Writer<'_>)> = beside.collect();
        let files: Vec<PathBuf> = beside.iter().map(|(file, _)| file.clone()).collect();
        self.put(beside, Box::new(|file| formats::write(table, to, file)))?;
        let (count, width) = (table.rows.rows(), table.rows.cols());
        let spellings = to.has_words_only().then(|| table.spellings());
        let joined = spellings.as_ref().map_or(0, |spellings| spellings.joined);
        let distinct = spellings.map_or_else(Vec::new, |spellings| spellings.distinct);
        let distinct = distinct.into_iter().map(|(row, spelling)| [table.words[row].to_string(), spelling]).collect();
        Ok(self.written(What::Vectors { count, width, joined, distinct, beside: files }))
    }

    /// Returns the further files of a vector export.
    fn beside_vectors(&self) -> impl Iterator<Item = (PathBuf, Part)> + '_ {
        let format = if let Format::Vectors(format) = self.format { Some(format) } else { None };
        let metadata =
            format.filter(|format| format.has_words_beside()).map(|_| (self.beside(METADATA), Part::Metadata));
        let config = (format == Some(VectorFormat::Tsv)).then(|| (self.beside(CONFIG), Part::Config));
        metadata.into_iter().chain(config)
    }

    fn write_page(
        &self,
        snapshot: &Snapshot,
        answered: Option<&Snapshot>,
        pictures: &Pictures,
    ) -> Result<WrittenFiles, ExportFault> {
        let glossary = self.glossary();
        let (mut text, mut why_static) = (Vec::new(), None);
        let live = |is_live: bool| {
            why_static = (!is_live).then(|| why_static_of(snapshot));
            Vec::new()
        };
        let written = match self.format {
            Format::Ipynb => ipynb::write(snapshot, pictures, &mut text).map(|()| Vec::new()),
            Format::Html => web_page::write(snapshot, pictures, glossary.as_ref(), &mut text).map(|()| Vec::new()),
            Format::Web => live_page::write(snapshot, answered, pictures, glossary.as_ref(), &mut text).map(live),
            Format::Slides => {
                live_page::write_slides(snapshot, answered, pictures, glossary.as_ref(), &mut text).map(live)
            }
            Format::Md | Format::Pytorch | Format::Svg | Format::Vectors(_) => {
                markdown::write(snapshot, pictures, &self.beside_name(FILES), &mut text)
            }
        };
        let beside: Vec<FileBeside> = written.map_err(|error| fault(&self.file, error))?;
        let folder = self.beside(FILES);
        let is_new = !beside.is_empty() && !folder.exists();
        if !beside.is_empty() {
            fs::create_dir_all(&folder).map_err(|error| fault(&folder, error))?;
        }
        let drawn = beside.iter().map(|picture| {
            let write: Writer<'_> = Box::new(|to| to.write_all(&picture.bytes));
            (folder.join(&picture.name), write)
        });
        if let Err(why) = self.put(drawn, Box::new(|to| to.write_all(&text))) {
            if is_new {
                // Removing the folder fails, as intended, if it is not empty.
                let _ = fs::remove_dir(&folder);
            }
            return Err(why);
        }
        let (cells, stages) = (snapshot.notebook.cells.len(), pictures.stages());
        Ok(self.written(What::Page { cells, stages, beside: (beside.len(), folder), why_static }))
    }

    /// Returns the glossary in the lesson's folder; `None` if there is none or it has issues, which `attune check`
    /// reports.
    fn glossary(&self) -> Option<Glossary> {
        glossary::beside(&self.lesson).and_then(|file| glossary::read(&file).ok())
    }

    fn written(&self, what: What) -> WrittenFiles {
        WrittenFiles { file: self.file.clone(), what }
    }

    /// Puts the further files and then the file itself into place, once all of them are on the disk.
    fn put<'a>(
        &self,
        beside: impl IntoIterator<Item = (PathBuf, Writer<'a>)>,
        own: Writer<'a>,
    ) -> Result<(), ExportFault> {
        let all = beside.into_iter().chain([(self.file.clone(), own)]);
        let prepare = |(file, write): (PathBuf, Writer<'a>)| {
            spare(&self.lesson, &file)?;
            let prepared = Prepared::with(&file, write).map_err(|error| fault(&file, error))?;
            Ok((file, prepared))
        };
        let prepared: Vec<(PathBuf, Prepared)> = all.map(prepare).collect::<Result<_, ExportFault>>()?;
        prepared.into_iter().try_for_each(|(file, prepared)| prepared.put().map_err(|error| fault(&file, error)))
    }

    /// Returns the file's name with another ending instead of its extension.
    fn beside_name(&self, ending: &str) -> String {
        format!("{}{ending}", self.file.file_stem().unwrap_or_default().to_string_lossy())
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.file.with_file_name(self.beside_name(ending))
    }
}

/// A function that writes the bytes of a file.
type Writer<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// A further file of a vector export: the names of the rows, or the configuration of the Embedding Projector.
enum Part {
    Metadata,
    Config,
}

/// Writes a file that is not an export, such as a learner's work. The file is written completely or not at all, and
/// never over the lesson.
///
/// # Errors
/// See [`ExportTarget::write`].
pub fn write(lesson: &Path, file: &Path, bytes: &[u8]) -> Result<(), ExportFault> {
    check_place(lesson, file)?;
    whole_file::write(file, bytes).map_err(|error| fault(file, error))
}

/// Returns an error for a path where no file can be written, and for the lesson's own file.
fn check_place(lesson: &Path, file: &Path) -> Result<(), ExportFault> {
    match obstacle(file) {
        Some(why) => Err(ExportFault::Place { file: file.to_owned(), why }),
        None => spare(lesson, file),
    }
}

/// Returns an error if the file is the lesson's own file.
fn spare(lesson: &Path, file: &Path) -> Result<(), ExportFault> {
    if whole_file::is_same(file, lesson) { Err(ExportFault::Lesson) } else { Ok(()) }
}

/// The ending of the name of a page's folder of pictures.
const FILES: &str = "_files";
/// The ending of the name of the table that has a row about each vector.
const METADATA: &str = "_metadata.tsv";
/// The ending of the name of the configuration with which the Embedding Projector opens the vectors and their metadata
/// together.
const CONFIG: &str = "_config.json";

/// Returns the reason why no file can be written at this path, as far as it can be known in advance; `None` if there is
/// none.
pub fn obstacle(file: &Path) -> Option<&'static str> {
    if let Some(why) = no_plain_file(file) {
        return Some(why);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then_some("there is no such folder")
}

/// The report of what was written, which displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFiles {
    pub file: PathBuf,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Panels(Vec<PanelName>),
    Model(pytorch::Contents),
    Page {
        cells: usize,
        stages: usize,
        /// The number of pictures, and their folder.
        beside: (usize, PathBuf),
        /// The reason why a static page was written if a live one was requested.
        why_static: Option<String>,
    },
    Vectors {
        count: usize,
        width: usize,
        /// The number of words with blanks, which would end a word in the format.
        joined: usize,
        /// The words that were written with another spelling because another word has theirs, each with the new
        /// spelling.
        distinct: Vec<[String; 2]>,
        beside: Vec<PathBuf>,
    },
}

/// Returns the reason why a page cannot have the model.
fn why_static_of(snapshot: &Snapshot) -> String {
    if snapshot.lesson.static_embedding.recording().is_some() {
        return ONE_PASS.to_owned();
    }
    let most = live_page::NUMBERS_MAX / 1_000_000;
    format!(
        "a live page can have a model of at most {most} million numbers and, of all tokenizers, only BERT's lower-case one"
    )
}

/// Reports which words were written with another spelling, because another word already has theirs.
fn write_distinct(f: &mut fmt::Formatter<'_>, distinct: &[[String; 2]]) -> fmt::Result {
    const NAMED: usize = 3;
    if distinct.is_empty() {
        return Ok(());
    }
    let named = distinct.iter().take(NAMED).map(|[word, spelling]| format!("{} as {}", quoted(word), quoted(spelling)));
    let named: Vec<String> = named.collect();
    let more = if distinct.len() > NAMED { ", …" } else { "" };
    let words = counted_as(distinct.len(), "word has", "words have");
    write!(f, "; {words} the spelling of another word and got _ at the end: {}{more}", named.join(", "))
}

impl fmt::Display for WrittenFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = shown(&self.file);
        match &self.what {
            What::Panels(panels) => {
                let titles: Vec<&str> = panels.iter().map(|panel| panel.title()).collect();
                write!(f, "{file}: {}", titles.join(", "))
            }
            What::Model(pytorch::Contents { weights, compared }) => {
                let (weights, compared) = (counted(*weights, "tensor"), counted(*compared, "tensor"));
                write!(f, "{file}: the model with {weights}, and {compared} of the sentence to compare")
            }
            What::Page { cells, stages, beside: (pictures, folder), why_static } => {
                let cells = counted(*cells, "cell");
                write!(f, "{file}: {cells}, with {} of the stage", counted(*stages, "picture"))?;
                if let Some(why) = why_static {
                    write!(f, "; the page does not contain the model, because {why}")?;
                }
                match pictures {
                    0 => Ok(()),
                    pictures => write!(f, "; {} in {}", counted(*pictures, "picture"), shown(folder)),
                }
            }
            What::Vectors { count, width, joined, distinct, beside } => {
                write!(f, "{file}: {} of {}", counted(*count, "vector"), counted(*width, "number"))?;
                if *joined > 0 {
                    let words = counted_as(*joined, "word is", "words are");
                    write!(
                        f,
                        "; {words} written with _ in place of spaces, because a space ends a word in this \
                         format"
                    )?;
                }
                write_distinct(f, distinct)?;
                for (beside, does) in beside.iter().zip(["names each row", "opens both together"]) {
                    write!(f, "; {} {does}", shown(beside))?;
                }
                Ok(())
            }
        }
    }
}

fn fault(file: &Path, error: io::Error) -> ExportFault {
    ExportFault::Write { file: file.to_owned(), error }
}

/// Returns a file's name within its folder.
fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
