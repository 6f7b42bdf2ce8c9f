//! The Embedding Projector's config, which names a table of numbers and a table of words: as JSON, or in the text
//! format that TensorBoard and PyTorch write (`.pbtxt`).

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::metadata::metadata;
use super::numbers::Numbers;
use super::source::{Source, split};
use super::{Builder, Format, NOT_VECTORS, SNIFFED_BYTES, Table, Vectors, WIDTH_MAX, Watch, text};
use crate::files::text_without_mark;
use crate::messages::counted;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal, quoted, shape};
use crate::pretrained::texts;

const CONFIG_BYTES_MAX: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Config {
    embeddings: Vec<Embedding>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Embedding {
    #[serde(default)]
    tensor_name: String,
    #[serde(default)]
    tensor_shape: Vec<u64>,
    tensor_path: String,
    metadata_path: Option<String>,
}

/// Writes a config that opens a table and its metadata together. Both files are next to the config.
///
/// # Errors
/// If it cannot be written.
pub fn write_config(table: &Table<'_>, tensor: &str, metadata: &str, to: &mut dyn Write) -> io::Result<()> {
    let embedding = Embedding {
        tensor_name: tensor.to_owned(),
        tensor_shape: vec![table.rows.rows() as u64, table.rows.cols() as u64],
        tensor_path: tensor.to_owned(),
        metadata_path: Some(metadata.to_owned()),
    };
    Ok(serde_json::to_writer_pretty(to, &Config { embeddings: vec![embedding] })?)
}

/// Returns whether a file begins with a JSON object, and not with a row whose word is a brace.
fn is_object(head: &[u8]) -> bool {
    let [b'{', rest @ ..] = head else { return false };
    matches!(rest.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'"' | b'}'))
}

/// Returns whether a file begins like the text format of a config.
fn is_text_config(head: &[u8]) -> bool {
    let is_entry = |name: &[u8]| {
        head.trim_ascii_start()
            .strip_prefix(name)
            .is_some_and(|rest| matches!(rest.trim_ascii_start(), [b'{' | b':', ..]))
    };
    is_entry(b"embeddings") || is_entry(b"model_checkpoint_path")
}

/// Returns whether a file begins like a config.
pub fn is_config(head: &[u8]) -> bool {
    is_object(head) || is_text_config(head)
}

/// Returns whether the beginning of a config names tables; other JSON objects are configs of something else.
pub fn names_tables(head: &[u8]) -> bool {
    let has = |key: &[u8]| head.windows(key.len()).any(|part| part == key);
    is_text_config(head) || is_object(head) && has(b"\"embeddings\"")
}

/// Reads the first table that a config names. Its files must be next to the config or in folders there.
///
/// # Errors
/// If it is not such a config, its files are elsewhere, or they have no vectors.
pub fn read_config(path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let (folder, name) = split(path)?;
    let text = texts::marked_text(folder, name, CONFIG_BYTES_MAX)?;
    let text = text_without_mark(&text);
    let embeddings = if is_object(text.as_bytes()) { of_json(text)? } else { of_text(text)? };
    let count = embeddings.len();
    let Some(Embedding { tensor_path, metadata_path, tensor_shape, .. }) = embeddings.into_iter().next() else {
        return Err(Refusal::new("a config without embeddings", "one at least", NOT_VECTORS).into());
    };
    let table = beside(folder, &tensor_path)?;
    let metadata_path = metadata_path.filter(|path| !path.is_empty()).map(|file| beside(folder, &file)).transpose()?;
    let mut source = Source::open(&table)?;
    let bytes = tensor_path.ends_with(".bytes").then(|| bytes_shape(&tensor_shape, &source)).transpose()?;
    let mut builder = match bytes {
        Some((rows, width)) => binary_rows(&mut source, rows, width, watch)?,
        None => text_rows(&mut source, watch)?,
    };
    if count > 1 {
        builder.note(format!("the config names {}; the first one is read", counted(count, "table")));
    }
    metadata_path.map_or(Ok(()), |table| metadata(&table, &mut builder, &source))?;
    let kind = if bytes.is_some() { "F32" } else { "text" };
    builder.finish(Format::Tsv, kind, &source)
}

fn of_json(text: &str) -> Result<Vec<Embedding>, Refusal> {
    let config: Config = serde_json::from_str(text).map_err(|error| {
        Refusal::bad_json(&error, "vectors, or a projector's config with `embeddings`", NOT_VECTORS)
    })?;
    Ok(config.embeddings)
}

/// Reads the text format: `embeddings { tensor_path: "a.tsv" metadata_path: "b.tsv" }`.
fn of_text(text: &str) -> Result<Vec<Embedding>, Refusal> {
    let mut found = Vec::new();
    for block in text.split("embeddings").skip(1).filter(|block| block.trim_start().starts_with(['{', ':'])) {
        let value = |key: &str| {
            let after = block.split(key).nth(1)?.trim_start().strip_prefix(':')?.trim_start();
            let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            Some(after[1..].split(quote).next()?.to_owned())
        };
        let tensor_path = value("tensor_path").ok_or_else(|| {
            let advice = "save the vectors as TSV or .npy: attune does not read TensorFlow's checkpoints";
            let found = "a table without `tensor_path`, whose numbers are in a checkpoint";
            Refusal::new(found, "the path of a TSV", advice)
        })?;
        found.push(Embedding { tensor_path, metadata_path: value("metadata_path"), ..Embedding::default() });
    }
    Ok(found)
}

/// Returns the path of a file that a config names, which must be in the config's folder or below.
fn beside(folder: &Path, file: &str) -> Result<PathBuf, Refusal> {
    let is_within = Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if file.contains("://") {
        let advice =
            "attune opens no connection: download the file beside the config, and write its name into the config";
        return Err(Refusal::new(format!("the address {}", quoted(file)), "the name of a file", advice));
    }
    if !is_within || file.is_empty() {
        let advice = "put the file beside the config, and write its name into the config";
        return Err(Refusal::new(format!("the path {}", quoted(file)), "the name of a file beside the config", advice));
    }
    Ok(folder.join(file))
}

fn text_rows<'a>(source: &mut Source, watch: Watch<'a>) -> Result<Builder<'a>, LoadStopped> {
    source.pass_mark()?;
    let head = source.peek(SNIFFED_BYTES)?;
    let layout = Layout::nameless(head, head.len() < SNIFFED_BYTES)?;
    let mut builder = Builder::new(layout.width, source, watch);
    layout.notes().for_each(|note| builder.note(note));
    text::rows(source, &layout, 1, &mut builder)?;
    Ok(builder)
}

/// Returns the rows and width of a binary table, after checking them against the length of the file.
fn bytes_shape(sizes: &[u64], source: &Source) -> Result<(u64, usize), Refusal> {
    let size = Numbers::F32.size as u64;
    let found = match *sizes {
        [rows, width] => {
            usize::try_from(width).ok().filter(|width| (1..=WIDTH_MAX).contains(width)).map(|width| (rows, width))
        }
        _ => None,
    };
    let Some((rows, width)) = found else {
        let sizes: Vec<usize> = sizes.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect();
        let found = format!("`tensorShape` {} for a binary table", shape(&sizes));
        return Err(Refusal::new(found, "rows and width", "write \"tensorShape\": [rows, width] into the config"));
    };
    let expected = rows.checked_mul(width as u64).and_then(|count| count.checked_mul(size));
    let length = source.left();
    if length.is_some_and(|length| expected != Some(length)) {
        let found = format!("{} bytes in the binary table", length.unwrap_or_default());
        let expected = format!("{rows} rows of {width} numbers of {size} bytes");
        return Err(Refusal::new(found, expected, FETCH_AGAIN));
    }
    Ok((rows, width))
}

fn binary_rows<'a>(source: &mut Source, rows: u64, width: usize, watch: Watch<'a>) -> Result<Builder<'a>, LoadStopped> {
    let mut builder = Builder::new(width, source, watch);
    builder.read_rows(rows, Numbers::F32, source)?;
    if builder.seen() < rows {
        builder.note(format!("the config says {rows} rows, but the table ends after {}", builder.seen()));
    }
    Ok(builder)
}
