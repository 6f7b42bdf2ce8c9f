//! Tables of vectors in safetensors: sentence embeddings as model2vec has them, and the word table of any model's folder.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::source::{Archive, Source, split};
use super::text::{Lines, metadata_beside};
use super::{Builder, Column, Format, Place, Vectors, WIDTH_MAX, Watch};
use crate::numerics::Matrix;
use crate::pretrained::cache::{INDEX, WEIGHTS};
use crate::pretrained::folder::{PIECES, TOKENIZER, text, text_if_there};
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{Refusal, quoted};
use crate::pretrained::safetensors::{self, FileHeader, FileTensor, ShardIndex, TensorReader};
use crate::pretrained::tokenizer::{Tokenizer, TokenizerFiles};

/// Names of word tables, by their ends; the first that is there is read.
const TABLES: [&str; 8] = [
    "embeddings",
    "embedding.weight",
    "word_embeddings.weight",
    "embed_tokens.weight",
    "wte.weight",
    "tok_embeddings.weight",
    "embed_in.weight",
    "shared.weight",
];
const INDEX_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a tokenizer; those of the largest vocabularies have some 35 MB.
const TOKENIZER_BYTES_MAX: u64 = 64 << 20;
const ADVICE: &str = "give a file with one table of vectors, or a model's folder";

/// Whether a file begins as safetensors do: the length of the header, and then JSON.
pub fn is_header(head: &[u8]) -> bool {
    head.get(8) == Some(&b'{') && head.get(5..8) == Some(&[0, 0, 0][..])
}

/// Reads the word table of a model's folder.
///
/// # Errors
/// If the folder has none, or reading was stopped.
pub fn read_folder(folder: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let of = |name: &str, watch: Watch<'_>| read_file(&folder.join(name), &Archive::File(folder.join(name)), watch);
    if folder.join(WEIGHTS).is_file() || !folder.join(INDEX).is_file() {
        return of(WEIGHTS, watch);
    }
    let index = ShardIndex::parse(&text(folder, INDEX, INDEX_BYTES_MAX)?).map_err(|refusal| refusal.in_file(INDEX))?;
    let names = index.tensors.keys().map(String::as_str);
    let name = table_name(names).ok_or_else(|| no_table(index.tensors.keys()).in_file(INDEX))?.to_owned();
    of(&index.tensors[&name], watch)
}

/// Reads the table of vectors of a file, whose bytes are those of the archive.
///
/// # Errors
/// If the file has none, or reading was stopped.
pub fn read_file(path: &Path, archive: &Archive, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let (folder, name) = split(path)?;
    let mut read = || -> Result<Vectors, LoadStopped> {
        let (mut file, length) = archive.open()?;
        let header = FileHeader::read(&mut file, length)?;
        let table = table(&header)?;
        let width = table.shape[1];
        file.seek(SeekFrom::Start(header.length + table.begin)).map_err(|error| Refusal::unreadable(&error))?;
        let source = Source::of(std::io::empty(), length);
        let mut builder = Builder::new(width, &source, watch);
        builder.take(archive.bytes_in_memory(), &source)?;
        // The header was held against the file's length: these rows are there.
        builder.reserve(table.shape[0] as u64)?;
        rows(&mut file, table, &mut builder, &source)?;
        metadata_beside(path, &mut builder, &source)?;
        if !builder.has_metadata() {
            let columns = names(folder, &mut builder, &source)?;
            builder.name_by(columns);
        }
        if !builder.has_metadata() {
            builder
                .note("no metadata, tokenizer.json or vocab.txt beside the file, so rows are named by their numbers");
        }
        builder.finish(Format::Safetensors, &table.dtype.to_string(), &source)
    };
    read().map_err(|stopped| stopped.in_file(name))
}

fn rows(
    file: &mut impl Read,
    table: &FileTensor,
    builder: &mut Builder<'_>,
    source: &Source,
) -> Result<(), LoadStopped> {
    let width = table.shape[1];
    let mut stopped = Ok(());
    TensorReader::default().read(file, table, width, &mut |_, numbers| {
        for row in numbers.chunks_exact(width) {
            builder.room().extend_from_slice(row);
            stopped = builder.push(b"", Place::Row(builder.seen()), source);
            if stopped.is_err() {
                return false;
            }
        }
        true
    })?;
    stopped
}

/// The word table among the tensors: by its name, or the only one of two dimensions.
fn table(header: &FileHeader) -> Result<&FileTensor, Refusal> {
    let tables: Vec<&FileTensor> = header.tensors.iter().filter(|tensor| tensor.shape.len() == 2).collect();
    let named = table_name(tables.iter().map(|tensor| &*tensor.name));
    let table = match (named, &*tables) {
        (Some(name), _) => tables.iter().copied().find(|tensor| tensor.name == name),
        (None, [only]) => Some(*only),
        _ => None,
    };
    let table = table.ok_or_else(|| no_table(header.tensors.iter().map(|tensor| &tensor.name)))?;
    match table.shape[1] {
        1..=WIDTH_MAX => Ok(table),
        width => Err(Refusal::new(format!("rows of {width} numbers"), format!("1 to {WIDTH_MAX}"), ADVICE)
            .of_tensor(&table.name)),
    }
}

fn table_name<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    TABLES.iter().find_map(|end| {
        let is_it = |name: &&str| *name == *end || name.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'));
        names.clone().find(is_it)
    })
}

fn no_table<'a>(names: impl Iterator<Item = &'a String>) -> Refusal {
    const NAMED: usize = 4;
    let names: Vec<String> = names.take(NAMED).map(|name| quoted(name)).collect();
    let found =
        if names.is_empty() { "no tensors".to_owned() } else { format!("the tensors {}, …", names.join(", ")) };
    Refusal::new(found, format!("a table named {}", TABLES.join(", ")), ADVICE)
}

/// The words of the rows as a column: the pieces of the tokenizer beside the file, or the lines of its list.
fn names(folder: &Path, builder: &mut Builder<'_>, source: &Source) -> Result<Vec<Column>, LoadStopped> {
    let column = |entries| vec![Column { name: "label".to_owned(), entries }];
    if let Some(json) = text_if_there(folder, TOKENIZER, TOKENIZER_BYTES_MAX)? {
        let tokenizer = Tokenizer::read(TokenizerFiles::Json(&json))?;
        // Pieces beyond the table name no row.
        let count = tokenizer.len().min(usize::try_from(builder.seen()).unwrap_or(usize::MAX));
        let ids = 0..u32::try_from(count).unwrap_or(u32::MAX);
        // Ids without a piece are named by their number.
        return Ok(column(ids.map(|id| tokenizer.piece(id).map_or_else(|| id.to_string(), str::to_owned)).collect()));
    }
    let list = folder.join(PIECES);
    if !list.exists() {
        return Ok(Vec::new());
    }
    let lines = Lines::read(&list, builder, source).map_err(|stopped| stopped.in_file(PIECES))?;
    Ok(column(lines.text.lines().map(str::to_owned).collect()))
}

/// Writes a table under the name that model2vec gives its own.
pub(super) fn write(rows: &Matrix<f32>, to: &mut dyn Write) -> io::Result<()> {
    let shape = [rows.rows(), rows.cols()];
    safetensors::write(&BTreeMap::from([(TABLES[0].to_owned(), (&shape[..], rows.flat()))]), to)
}
