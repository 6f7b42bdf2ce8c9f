//! Tables of vectors in safetensors: static embeddings of model2vec, and the word table of any model's folder.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::metadata::{Lines, column_of_list, metadata_beside};
use super::numbers::Numbers;
use super::source::{Archive, Source, split};
use super::{Builder, Column, Format, Place, Vectors, WIDTH_MAX, Watch};
use crate::files::text_without_mark;
use crate::messages::counted;
use crate::numerics::Matrix;
use crate::pretrained::cache::{INDEX, WEIGHTS};
use crate::pretrained::folder::TOKENIZER_BYTES_MAX;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal, quoted};
use crate::pretrained::safetensors::{self, FileHeader, FileTensor, ShardIndex};
use crate::pretrained::texts::{PIECES, TOKENIZER, text, text_if_there};

/// Endings of the names of word tables; the table whose ending comes first is read.
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
const ADVICE: &str = "give a file with one table of vectors, or a model's folder";

/// Returns whether a file begins like safetensors: the length of the header, then JSON.
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

/// Reads the table of vectors of a file. The archive has the file's bytes.
///
/// # Errors
/// If the file has none, or reading was stopped.
pub fn read_file(path: &Path, archive: &Archive, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let (folder, name) = split(path)?;
    let mut read = || -> Result<Vectors, LoadStopped> {
        let (mut file, length) = archive.open()?;
        let header = FileHeader::read(&mut file, length)?;
        let table = table(&header)?;
        let parts = StaticParts::read(&mut file, &header, table)?;
        let numbers = numbers(table)?;
        let source = Source::of(std::io::empty(), length);
        let mut builder = Builder::new(table.shape[1], &source, watch);
        builder.take(archive.bytes_in_memory(), &source)?;
        numbers.note(&table.dtype.to_string()).into_iter().for_each(|note| builder.note(note));
        seek(&mut file, &header, table)?;
        match &parts {
            None => rows(&mut file, table, &mut builder, &source)?,
            Some(parts) => parts.rows(&mut file, table, &mut builder, &source)?,
        }
        metadata_beside(path, &mut builder, &source)?;
        if !builder.has_metadata() {
            names(folder, &mut builder, &source)?;
        }
        if !builder.has_metadata() {
            builder
                .note("no metadata, tokenizer.json or vocab.txt of these rows beside the file, so rows are named by their numbers");
        }
        builder.finish(Format::Safetensors, &table.dtype.to_string(), &source)
    };
    read().map_err(|stopped| stopped.in_file(name))
}

fn numbers(tensor: &FileTensor) -> Result<Numbers, Refusal> {
    Numbers::of_tensor(tensor.dtype).ok_or_else(|| safetensors::not_read(tensor.dtype).of_tensor(&tensor.name))
}

fn seek(file: &mut impl Seek, header: &FileHeader, tensor: &FileTensor) -> Result<(), Refusal> {
    let place = SeekFrom::Start(header.length + tensor.begin);
    file.seek(place).map(|_| ()).map_err(|error| Refusal::unreadable(&error))
}

/// Passes the numbers of the next tensor to `each`, some rows at a time, until it returns `false`.
fn each_part(file: &mut impl Read, tensor: &FileTensor, each: &mut dyn FnMut(&[f32]) -> bool) -> Result<(), Refusal> {
    const AT_ONCE: usize = 1 << 18;
    let numbers = numbers(tensor)?;
    let row_bytes = tensor.shape.get(1).copied().unwrap_or(1).max(1) * numbers.size;
    let (mut left, at_once) = (tensor.bytes(), (AT_ONCE / row_bytes).max(1) * row_bytes);
    let (mut bytes, mut found) = (Vec::new(), Vec::new());
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(at_once).min(at_once);
        bytes.resize(count, 0);
        file.read_exact(&mut bytes).map_err(|error| Refusal::unreadable(&error).of_tensor(&tensor.name))?;
        found.clear();
        numbers.widen(&bytes, &mut found);
        if !each(&found) {
            break;
        }
        left -= count as u64;
    }
    Ok(())
}

/// Reads all numbers of the next tensor.
fn all_numbers(file: &mut impl Read, tensor: &FileTensor) -> Result<Vec<f32>, Refusal> {
    let mut all = Vec::new();
    each_part(file, tensor, &mut |numbers| {
        all.extend_from_slice(numbers);
        true
    })?;
    Ok(all)
}

fn rows(
    file: &mut impl Read,
    table: &FileTensor,
    builder: &mut Builder<'_>,
    source: &Source,
) -> Result<(), LoadStopped> {
    let width = table.shape[1];
    // The header was checked against the file's length, so these rows exist.
    builder.reserve(table.shape[0] as u64)?;
    let mut stopped = Ok(());
    each_part(file, table, &mut |numbers| {
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

/// The tensors that model2vec stores with its table: the row of each token, if tokens share rows, and the weight of
/// each token. The vector of a token is `weights[token] · embeddings[mapping[token]]`.
struct StaticParts {
    mapping: Option<Vec<usize>>,
    weights: Option<Vec<f32>>,
}

impl StaticParts {
    /// Names of model2vec's table. In a file without such a table, tensors with the names of these parts mean something
    /// else.
    const TABLES: [&str; 2] = ["embeddings", "embedding.weight"];
    const MAPPING: &str = "mapping";
    const WEIGHTS: &str = "weights";
    /// Reads the parts, or returns `None` if the file has none.
    fn read(file: &mut (impl Read + Seek), header: &FileHeader, table: &FileTensor) -> Result<Option<Self>, Refusal> {
        let named = |name: &str| {
            let is_part = |tensor: &&FileTensor| tensor.name == name && tensor.shape.len() == 1;
            header.tensors.iter().find(is_part).filter(|_| Self::TABLES.contains(&&*table.name))
        };
        let (mapping, weights) = (named(Self::MAPPING), named(Self::WEIGHTS));
        let tokens = mapping.map_or(table.shape[0], |mapping| mapping.shape[0]);
        let mapping = mapping.map(|tensor| indices(file, header, tensor, table.shape[0])).transpose()?;
        let weights = weights.map(|tensor| weights_of(file, header, tensor, tokens)).transpose()?;
        Ok((mapping.is_some() || weights.is_some()).then_some(Self { mapping, weights }))
    }

    fn rows(
        &self,
        file: &mut impl Read,
        table: &FileTensor,
        builder: &mut Builder<'_>,
        source: &Source,
    ) -> Result<(), LoadStopped> {
        let width = table.shape[1];
        builder.take((table.shape[0] * width * size_of::<f32>()) as u64, source)?;
        let all = all_numbers(file, table)?;
        let count = self.mapping.as_ref().map_or(table.shape[0], Vec::len);
        builder.note(self.note());
        builder.reserve(count as u64)?;
        for token in 0..count {
            let row = self.mapping.as_ref().map_or(token, |mapping| mapping[token]);
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[token]);
            builder.room().extend(all[row * width..][..width].iter().map(|x| x * weight));
            builder.push(b"", Place::Row(token as u64), source)?;
        }
        Ok(())
    }

    fn note(&self) -> String {
        let row = if self.mapping.is_some() { "the row of `embeddings` that `mapping` names" } else { "its row" };
        let weight = if self.weights.is_some() { ", times its weight" } else { "" };
        format!("the vector of each token is {row}{weight}, as in model2vec")
    }
}

/// Reads the row of each token and checks it against the number of rows.
fn indices(
    file: &mut (impl Read + Seek),
    header: &FileHeader,
    tensor: &FileTensor,
    rows: usize,
) -> Result<Vec<usize>, Refusal> {
    let refused = |found: String| {
        let expected = format!("the row of each token, a whole number from 0 to {}", rows.saturating_sub(1));
        Refusal::new(found, expected, FETCH_AGAIN).of_tensor(&tensor.name)
    };
    let numbers = numbers(tensor)?;
    if !numbers.are_whole() {
        return Err(refused(format!("numbers of the kind {}", tensor.dtype)));
    }
    seek(file, header, tensor)?;
    let mut bytes = vec![0; usize::try_from(tensor.bytes()).unwrap_or_default()];
    file.read_exact(&mut bytes).map_err(|error| Refusal::unreadable(&error).of_tensor(&tensor.name))?;
    let found = numbers.indices(&bytes).into_iter().enumerate();
    found
        .map(|(token, row)| {
            row.filter(|row| *row < rows).ok_or_else(|| {
                let row = row.map_or_else(|| "a negative number".to_owned(), |row| row.to_string());
                refused(format!("{row} for token {token}"))
            })
        })
        .collect()
}

/// Reads the weight of each token.
fn weights_of(
    file: &mut (impl Read + Seek),
    header: &FileHeader,
    tensor: &FileTensor,
    tokens: usize,
) -> Result<Vec<f32>, Refusal> {
    if tensor.shape[0] != tokens {
        let expected = format!("{tokens}, one for each token");
        let found = format!("{} weights", tensor.shape[0]);
        return Err(Refusal::new(found, expected, FETCH_AGAIN).of_tensor(&tensor.name));
    }
    seek(file, header, tensor)?;
    all_numbers(file, tensor)
}

/// Returns the word table of a file: a tensor with a usual name, or the only one of two dimensions.
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

/// Names the rows from the pieces of the tokenizer in the folder, or from the lines of its list, if these match the
/// rows.
fn names(folder: &Path, builder: &mut Builder<'_>, source: &Source) -> Result<(), LoadStopped> {
    let rows = usize::try_from(builder.seen()).unwrap_or(usize::MAX);
    let label = |entries| vec![Column { name: "label".to_owned(), entries }];
    if let Some(json) = text_if_there(folder, TOKENIZER, TOKENIZER_BYTES_MAX)? {
        builder.take_entries(rows as u64, json.len(), source)?;
        let pieces = Pieces::parse(&json).map_err(|refusal| refusal.in_file(TOKENIZER))?;
        match pieces.why_not(rows) {
            // Rows whose id has no piece are named by their number.
            None => builder.name_by(label(pieces.names(rows))),
            Some(why) => builder.note(format!("{TOKENIZER} has {why}, so it names no row")),
        }
        return Ok(());
    }
    let list = folder.join(PIECES);
    if !list.exists() {
        return Ok(());
    }
    let lines = Lines::count(&mut Source::open(&list)?, rows as u64)?;
    if lines.count == rows as u64 {
        let column = column_of_list(&list, rows, builder, source)?;
        builder.name_by(vec![column]);
    } else {
        let (count, rows) = (counted(lines.count, "line"), counted(rows, "row"));
        builder.note(format!("{PIECES} has {count} for {rows}, so it names no row"));
    }
    Ok(())
}

/// The vocabulary of a tokenizer of any kind: its pieces and their ids.
#[derive(Deserialize)]
struct Pieces {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    model: PieceModel,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct PieceModel {
    vocab: Vocabulary,
}

/// Pieces with their ids: in the file a map, or a list in order of the ids with a score for each.
struct Vocabulary(Vec<(String, u32)>);

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct MapOrList;
        impl<'de> Visitor<'de> for MapOrList {
            type Value = Vocabulary;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the pieces of a vocabulary")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary, A::Error> {
                let mut pieces = Vec::new();
                while let Some(piece) = map.next_entry()? {
                    pieces.push(piece);
                }
                Ok(Vocabulary(pieces))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vocabulary, A::Error> {
                let mut pieces = Vec::new();
                while let Some((piece, _)) = list.next_element::<(String, f64)>()? {
                    pieces.push((piece, u32::try_from(pieces.len()).unwrap_or(u32::MAX)));
                }
                Ok(Vocabulary(pieces))
            }
        }
        from.deserialize_any(MapOrList)
    }
}

impl Pieces {
    fn parse(json: &str) -> Result<Self, Refusal> {
        serde_json::from_str(text_without_mark(json))
            .map_err(|error| Refusal::bad_json(&error, "a tokenizer with a vocabulary", FETCH_AGAIN))
    }

    /// Returns the reason why the pieces do not match a table of `rows` rows; `None` if they do. A table may be longer,
    /// because its length was rounded up, and pieces that were added to a tokenizer later have no rows.
    fn why_not(&self, rows: usize) -> Option<String> {
        let ids = self.model.vocab.0.iter().map(|(_, id)| *id);
        let is_added = |id: &u32| self.added_tokens.iter().any(|token| token.id == *id);
        let beyond = ids.filter(|id| *id as usize >= rows && !is_added(id)).count();
        let count = self.model.vocab.0.len().max(self.added_tokens.len());
        if beyond > 0 {
            return Some(format!("{beyond} of {} beyond the {}", counted(count, "piece"), counted(rows, "row")));
        }
        // A table more than twice as long belongs to another tokenizer.
        let is_short = 2 * count < rows;
        is_short.then(|| format!("{} for {}", counted(count, "piece"), counted(rows, "row")))
    }

    fn names(self, rows: usize) -> Vec<String> {
        let mut names: Vec<String> = (0..rows).map(|id| id.to_string()).collect();
        let added = self.added_tokens.into_iter().map(|token| (token.content, token.id));
        for (piece, id) in self.model.vocab.0.into_iter().chain(added) {
            if let Some(name) = names.get_mut(id as usize) {
                *name = piece;
            }
        }
        names
    }
}

/// Writes a table under the name that model2vec uses.
pub(super) fn write(rows: &Matrix<f32>, to: &mut dyn Write) -> io::Result<()> {
    let shape = [rows.rows(), rows.cols()];
    safetensors::write(&BTreeMap::from([(TABLES[0].to_owned(), (&shape[..], rows.flat()))]), to)
}
