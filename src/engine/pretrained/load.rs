//! Loading of a model's folder: its config, then the headers of all files, and, if everything fits, each tensor into
//! its final place.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use faer::MatRef;
use sha2::{Digest, Sha256};

use super::config::{CONFIG_BYTES_MAX, Config, architecture, check_bytes, wanted};
use super::contents::without_weights;
use super::names::{OutputRun, TensorLayout};
use super::origins::{FoundTensors, Origin, Origins};
use super::quantised;
use super::refusal::{Refusal, quoted};
use super::safetensors::{Dtype, FileTensor, ShardIndex, TensorReader, TensorSource, bytes_read};
use super::texts::{CONFIG, INDEX, WEIGHTS, plain, text};
use super::writing;
use crate::numerics::model::{Architecture, AttentionModel, Candidates, Classes, Readout, WritingRules};
use crate::numerics::packed::NumberType;
use crate::numerics::params::{Parameters, TensorId, TensorName};
use crate::numerics::table::Table;

/// Largest size of an index of shards in bytes.
const INDEX_BYTES_MAX: u64 = 16 << 20;

/// Largest size of all tensors that the engine does not use: masks, poolers, heads for other tasks.
const UNUSED_BYTES_MAX: u64 = 512 << 20;

/// A model that was read from its files.
#[derive(Clone, Debug)]
pub struct Pretrained {
    pub config: Config,
    pub architecture: Architecture,
    /// `E` (V, D), in the number type of the file.
    pub embedding: Arc<Table<f32>>,
    pub parameters: Arc<Parameters<f32>>,
    /// Origin of each number.
    pub origins: Origins,
    /// Files that were read; those of the weights come first, as [`Origin::file`] counts them.
    pub files: Vec<ModelFile>,
    /// Whether the model's readout is trained. Without a head, a word is likely if the output is similar to its vector.
    pub has_head: bool,
    /// Rules about the words that the model writes.
    pub rules: WritingRules,
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// Path within the folder.
    pub name: String,
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl ModelFile {
    pub(super) fn new(name: &str, content: &[u8]) -> Self {
        let sha256 = HEXLOWER.encode(&Sha256::digest(content));
        Self { name: name.to_owned(), bytes: content.len() as u64, sha256 }
    }
}

impl std::fmt::Display for ModelFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} bytes, SHA-256 {}", self.name, self.bytes, self.sha256)
    }
}

/// The entry of a file that a number comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryOrigin<'a> {
    pub file: &'a str,
    pub tensor: &'a str,
    pub index: Vec<usize>,
}

impl Pretrained {
    /// Returns the model that the engine runs, which chooses among all words of the vocabulary.
    pub fn model(&self) -> AttentionModel<f32> {
        let classes = Classes::Words(Candidates::all(self.embedding.rows()));
        AttentionModel::new(self.architecture.clone(), self.embedding.clone(), classes).with_rules(self.rules.clone())
    }

    /// Returns the origin of an entry of a tensor; `None` if no file has it, as with the zeros of a readout's bias.
    pub fn entry(&self, id: impl Into<TensorId>, row: usize, col: usize) -> Option<EntryOrigin<'_>> {
        let origin = self.origins.of.get(&id.into())?;
        let file = &self.files.get(origin.file)?.name;
        Some(EntryOrigin { file, tensor: &origin.tensor, index: origin.index(row, col) })
    }
}

impl std::fmt::Display for EntryOrigin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "entry {:?} of {} in {}", self.index, quoted(self.tensor), self.file)
    }
}

/// The number of bytes of a model's files that have been read, and the number of all their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadProgress {
    pub done: u64,
    pub all: u64,
}

/// The reason why there is no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadStopped {
    Refused(Box<Refusal>),
    /// The end of the loading at the request of its watcher.
    Cancelled,
}

impl LoadStopped {
    /// Adds the name of a file to a refusal that has none.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        match self {
            Self::Refused(refusal) => refusal.in_file(file).into(),
            Self::Cancelled => self,
        }
    }
}

impl From<Refusal> for LoadStopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl std::fmt::Display for LoadStopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Cancelled => f.write_str("loading was stopped"),
        }
    }
}

/// Reads a model's folder. `watch` is called a few times for every megabyte, and ends the loading by returning `false`.
///
/// # Errors
/// If something in the folder is wrong, or loading was stopped.
pub fn load(folder: &Path, watch: &mut dyn FnMut(LoadProgress) -> bool) -> Result<Pretrained, LoadStopped> {
    let config_text = text(folder, CONFIG, CONFIG_BYTES_MAX)?;
    let config = Config::parse(&config_text).map_err(|refusal| refusal.in_file(CONFIG))?;
    let rules = writing::rules(folder, &config, &config_text)?;
    let (mut sources, index) = open(folder)?;
    let found = found(folder, &config, &sources)?;
    let (readout, has_head) = readout(&config, &found);
    let architecture = architecture(&config, readout);
    let shapes = architecture.shapes(config.vocabulary, config.vocabulary);
    let mut wanted = wanted(&config, &architecture);
    // A model that was saved without its head adds nothing to its logits.
    let has_bias = has_head && (!config.architecture.has_source() || found.has(TensorName::LogitBias));
    wanted.retain(|(id, ..)| has_bias || id.name != TensorName::LogitBias);
    let origins = Origins::find(&found, &wanted, &config).map_err(|refusal| name_file(refusal, &sources))?;
    let parts = parts(&origins);
    // A copy of the table as the readout's own weights. It is not used, but must be equal.
    let twin = found.of(TensorName::LogitWeights.into()).filter(|_| architecture.readout.is_by_static_vectors());
    let twin = twin.map(|(file, twin)| (file, twin.clone()));
    let is_used = |file, name: &str| {
        let is_twin = twin.as_ref().is_some_and(|(_, twin)| twin.name == name);
        parts.contains_key(&(file, name)) || is_twin || found.is_again(name)
    };
    check_unused(&sources, is_used)?;

    // Everything is there and has its right size; only now is memory allocated.
    let number_type =
        |id: TensorId| origins.of.get(&id).map_or(NumberType::Whole, |origin| number_type(&sources, origin));
    let packed_as = |id: TensorId| id.name.multiplies().then(|| number_type(id));
    let table_as = number_type(TensorName::Embedding.into());
    check_bytes(bytes_in_memory(&config, &shapes, table_as, packed_as)).map_err(|refusal| refusal.in_file(CONFIG))?;
    let mut model = Model {
        table: Table::zeros_as(table_as, config.vocabulary, config.width()),
        parameters: Parameters::zeros_with_packed(&shapes, packed_as),
    };
    sources = sources.into_iter().map(Open::hashed_beside).collect();
    let mut progress = LoadProgress { done: 0, all: sources.iter().map(|open| open.bytes).sum() };
    for (file, open) in sources.iter_mut().enumerate() {
        progress.done += open.source.header().length;
        let mut report = |bytes: u64| {
            progress.done += bytes;
            watch(progress)
        };
        while let Some(tensor) = open.source.next().cloned() {
            let parts = parts.get(&(file, &*tensor.name)).map_or(&[][..], Vec::as_slice);
            let went_on = model.read(&mut open.source, &tensor, parts, &mut report);
            if !went_on.map_err(|refusal| refusal.in_file(&open.name))? {
                return Err(LoadStopped::Cancelled);
            }
        }
    }
    let Model { table, parameters } = model;
    let embedding = Arc::new(table);
    if let Some((file, twin)) = twin {
        let (name, start) = (&sources[file].name, sources[file].source.header().length);
        check_twin(folder, name, start, &twin, &embedding).map_err(|refusal| refusal.in_file(name))?;
    }
    let mut files: Vec<ModelFile> = sources.into_iter().map(Open::into_file).collect();
    let texts = std::iter::once((CONFIG, &config_text)).chain(index.iter().map(|text| (INDEX, text)));
    files.extend(texts.map(|(name, text)| ModelFile::new(name, text.as_bytes())));
    let parameters = Arc::new(parameters);
    Ok(Pretrained { config, architecture, embedding, parameters, origins, files, has_head, rules })
}

/// Returns the shape of a folder's model, from its config and the headers of its files, and whether its readout is
/// trained.
///
/// # Errors
/// If something there is wrong.
pub fn shape(folder: &Path, config: &Config) -> Result<(Architecture, bool), Refusal> {
    let (sources, _) = open(folder)?;
    let (readout, has_head) = readout(config, &found(folder, config, &sources)?);
    Ok((architecture(config, readout), has_head))
}

/// Returns the tensors under the names of the config's family, or the refusal of quantised ones.
fn found<'a>(folder: &Path, config: &Config, sources: &'a [Open]) -> Result<FoundTensors<'a>, Refusal> {
    let of_config = || text(folder, CONFIG, CONFIG_BYTES_MAX).ok();
    let refused = quantised::refusal(tensors(sources).map(|(_, tensor)| tensor), of_config);
    let found = refused.map_or_else(|| FoundTensors::new(config, tensors(sources)), Err);
    found.map_err(|refusal| name_file(refusal, sources))
}

/// Returns the tensors of all files, each with the number of its file.
fn tensors(sources: &[Open]) -> impl Iterator<Item = (usize, &FileTensor)> + Clone {
    sources.iter().enumerate().flat_map(|(file, open)| open.source.header().tensors.iter().map(move |it| (file, it)))
}

/// A file of weights whose header was read.
struct Open {
    name: String,
    bytes: u64,
    source: TensorSource<File>,
}

impl Open {
    fn hashed_beside(self) -> Self {
        /// Size from which a file is hashed on its own thread; a smaller one is hashed before a thread has started.
        const LARGE: u64 = 4 << 20;
        if self.bytes < LARGE { self } else { Self { source: self.source.hashed_beside(), ..self } }
    }

    fn into_file(self) -> ModelFile {
        ModelFile { name: self.name, bytes: self.bytes, sha256: self.source.sha256() }
    }
}

/// Opens the files of weights and reads their headers. Also returns the text of the index, if there is one.
fn open(folder: &Path) -> Result<(Vec<Open>, Option<String>), Refusal> {
    if folder.join(WEIGHTS).exists() {
        return Ok((vec![open_one(folder, WEIGHTS)?], None));
    }
    if !folder.join(INDEX).exists() {
        return Err(without_weights(folder));
    }
    let text = text(folder, INDEX, INDEX_BYTES_MAX)?;
    let index = ShardIndex::parse(&text).map_err(|refusal| refusal.in_file(INDEX))?;
    let missing: Vec<String> =
        index.files.iter().filter(|name| !folder.join(name).exists()).map(|it| quoted(it)).collect();
    if !missing.is_empty() {
        let found = format!("no {}, which the index names", missing.join(", "));
        return Err(Refusal::new(found, "all files of the model", "download those too").in_file(INDEX));
    }
    // Each header is checked against the index before the next is read, so together they have no more tensors than the
    // index.
    let open = |name: &String| {
        let open = open_one(folder, name)?;
        let tensors = &open.source.header().tensors;
        match tensors.iter().find(|tensor| index.tensors.get(&tensor.name) != Some(name)) {
            None => Ok(open),
            Some(tensor) => {
                let found = "a tensor that the index assigns to another file";
                Err(Refusal::new(found, "only the tensors that it assigns to this file", SHARDS)
                    .of_tensor(&tensor.name)
                    .in_file(name))
            }
        }
    };
    let files = index.files.iter().map(open).collect::<Result<Vec<Open>, Refusal>>()?;
    Ok((files, Some(text)))
}

const SHARDS: &str = "the files belong to two models: download all of them again";

fn open_one(folder: &Path, name: &str) -> Result<Open, Refusal> {
    let (file, bytes) = plain(folder, name)?;
    let source = TensorSource::open(file, bytes).map_err(|refusal| refusal.in_file(name))?;
    Ok(Open { name: name.to_owned(), bytes, source })
}

/// Returns the readout, and whether the files have it. A model that lacks a part of its readout is a bare one.
fn readout(config: &Config, found: &FoundTensors<'_>) -> (Readout, bool) {
    let readout = config.architecture.readout;
    if config.architecture.has_source() {
        // Configs of these families do not say reliably whether the head is tied; the files do.
        let is_own = found.has(TensorName::LogitWeights);
        return (if is_own { Readout::Linear } else { Readout::Tied }, true);
    }
    let has_own = readout.activation().is_none() || found.has(TensorName::TransformWeights);
    let has_weights = readout.activation().is_none() || config.is_tied() || found.has(TensorName::LogitWeights);
    if has_own && has_weights { (readout, true) } else { (Readout::Tied, false) }
}

/// Returns the size in bytes of all numbers, including the table of words.
fn bytes_in_memory(
    config: &Config,
    shapes: &[(TensorId, usize, usize)],
    table_as: NumberType,
    packed_as: impl Fn(TensorId) -> Option<NumberType>,
) -> u64 {
    let of_number = |kind: NumberType| match kind {
        NumberType::Bf16 | NumberType::F16 => size_of::<u16>(),
        NumberType::Whole => size_of::<f32>(),
    };
    let of_parameter = |id: TensorId| of_number(packed_as(id).unwrap_or_default());
    let parameters: usize = shapes.iter().map(|&(id, rows, cols)| rows * cols * of_parameter(id)).sum();
    (parameters + config.vocabulary * config.width() * of_number(table_as)) as u64
}

/// Returns the type of a tensor's numbers in its file if it is a two-byte type, otherwise the type of the arithmetic.
fn number_type(sources: &[Open], origin: &Origin) -> NumberType {
    let tensors = sources.get(origin.file).map_or(&[][..], |open| &open.source.header().tensors);
    match tensors.iter().find(|tensor| tensor.name == origin.tensor).map(|tensor| tensor.dtype) {
        Some(Dtype::BF16) => NumberType::Bf16,
        Some(Dtype::F16) => NumberType::F16,
        _ => NumberType::Whole,
    }
}

/// Returns, for each tensor of the files by file and name, the engine's tensors that are made of it.
fn parts(origins: &Origins) -> BTreeMap<(usize, &str), Vec<(TensorId, TensorLayout)>> {
    let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, Origin { file, tensor, layout, .. }) in &origins.of {
        parts.entry((*file, &**tensor)).or_default().push((*id, *layout));
    }
    parts
}

/// Refuses files with too many unused bytes. All bytes have to be read, because the SHA-256 is that of a whole file.
fn check_unused(sources: &[Open], is_used: impl Fn(usize, &str) -> bool) -> Result<(), Refusal> {
    let mut unused = 0;
    for (file, open) in sources.iter().enumerate() {
        let others = open.source.header().tensors.iter().filter(|tensor| !is_used(file, &tensor.name));
        for tensor in others {
            unused += tensor.bytes();
            if unused > UNUSED_BYTES_MAX {
                let found = format!("{} MB that no part of the model uses, in this and earlier tensors", unused >> 20);
                let advice = "open the model in transformers and save it again with save_pretrained";
                let refusal = Refusal::new(found, format!("at most {} MB", UNUSED_BYTES_MAX >> 20), advice);
                return Err(refusal.of_tensor(&tensor.name).in_file(&open.name));
            }
        }
    }
    Ok(())
}

/// Adds the name of the file that contains the tensor of a refusal.
fn name_file(refusal: Refusal, sources: &[Open]) -> Refusal {
    let has = |open: &&Open| open.source.header().tensors.iter().any(|it| Some(&it.name) == refusal.tensor.as_ref());
    match sources.iter().find(has) {
        Some(open) => refusal.in_file(&open.name),
        None => refusal,
    }
}

/// A model that is being loaded.
struct Model {
    table: Table<f32>,
    parameters: Parameters<f32>,
}

impl Model {
    /// Reads the next tensor of a file into the parts of the model that are made of it, or skips it if there are none.
    fn read(
        &mut self,
        source: &mut TensorSource<File>,
        tensor: &FileTensor,
        parts: &[(TensorId, TensorLayout)],
        report: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Refusal> {
        if parts.is_empty() {
            return source.skip_next(report);
        }
        let (cols, is_vector) = (tensor.shape.last().copied().unwrap_or(1), tensor.shape.len() == 1);
        let size = bytes_read(tensor.dtype).unwrap_or_default();
        source.read_next(cols, &mut |row, numbers| {
            let rows = MatRef::from_row_major_slice(numbers, numbers.len() / cols, cols);
            parts.iter().for_each(|(id, layout)| self.place(*id, *layout, is_vector, row, rows));
            report((numbers.len() * size) as u64)
        })
    }

    /// Copies rows of a file's tensor, from `row` on, to their place.
    fn place(&mut self, id: TensorId, layout: TensorLayout, is_vector: bool, row: usize, rows: MatRef<'_, f32>) {
        let cols = match id.name {
            TensorName::Embedding => self.table.cols(),
            _ => self.parameters.spec(id).map_or(0, |spec| spec.cols),
        };
        for OutputRun { in_file, in_engine, count } in layout.runs(cols) {
            if is_vector || !layout.is_turned() {
                self.set(id, (row, in_engine), rows.subcols(in_file, count));
                continue;
            }
            let (first, end) = (row.max(in_file), (row + rows.nrows()).min(in_file + count));
            if first < end {
                let part = rows.subrows(first - row, end - first).transpose();
                self.set(id, (0, in_engine + first - in_file), part);
            }
        }
    }

    fn set(&mut self, id: TensorId, at: (usize, usize), part: MatRef<'_, f32>) {
        match id.name {
            TensorName::Embedding => self.table.set_part(at, part),
            _ => self.parameters.set_part(id, at, part),
        }
    }
}

/// Checks that the weights of a readout equal the table of words, number for number.
fn check_twin(folder: &Path, name: &str, start: u64, twin: &FileTensor, table: &Table<f32>) -> Result<(), Refusal> {
    let is_table = twin.shape == [table.rows(), table.cols()] && bytes_read(twin.dtype).is_some();
    let mut is_same = is_table;
    if is_table {
        let (mut file, _) = plain(folder, name)?;
        file.seek(SeekFrom::Start(start + twin.begin)).map_err(|error| Refusal::unreadable(&error))?;
        TensorReader::default().read(&mut file, twin, table.cols(), &mut |row, numbers| {
            let mut rows = (row..).zip(numbers.chunks(table.cols().max(1)));
            is_same = rows.all(|(row, numbers)| *table.row(row) == *numbers);
            is_same
        })?;
    }
    if is_same {
        return Ok(());
    }
    let advice =
        "if the model was trained with separate output weights, write \"tie_word_embeddings\": false in config.json";
    let found = "output weights that differ from the embedding table";
    Err(Refusal::new(found, "the embedding table itself, because config.json ties the two", advice)
        .of_tensor(&twin.name))
}
