//! Recordings: what any model did on one or more texts, in one `.safetensors` file.
//!
//! A recording has the tokens of each text in its metadata, and as many tensors as were kept: attention weights, hidden
//! states, queries, keys, values and logits ([`parts`] lists them with their shapes). Nothing is known of the model
//! itself. Numbers stay in the file and are read when they are needed, so that a file of two gigabytes takes little
//! memory.
//!
//! | module | job |
//! |---|---|
//! | [`parts`] | names and shapes of the tensors |
//! | [`about`] | the metadata |
//! | `headvis` | the heads' files of HeadVis, which are read as recordings |
//! | [`proof`] | whether the weights are the softmax of the queries and keys that came with them |

pub mod about;
mod headvis;
pub mod parts;
pub mod proof;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use self::about::{About, Entries, KEY, TOKEN_CHARS_MAX, VERSION, beginning};
use self::parts::{Address, Part, Side, Size, check_shape};
use crate::files;
use crate::messages::counted;
use crate::numerics::Matrix;
use crate::pretrained::Refusal;
use crate::pretrained::safetensors::{Dtype, FileHeader, FileTensor, HEADER_BYTES_MAX, widen};

/// Largest size of a recording in bytes.
pub const FILE_BYTES_MAX: u64 = 2 << 30;

/// A file with what a model computed for some texts.
#[derive(Debug)]
pub struct Recording {
    numbers: Numbers,
    pub texts: Vec<RecordedText>,
    /// Names of the tensors that are not part of a recording.
    pub unused: Vec<String>,
}

/// The numbers of all tensors, one tensor after the other.
#[derive(Debug)]
enum Numbers {
    /// A file in which the numbers begin after `begin` bytes.
    File { file: Mutex<File>, begin: u64 },
    /// The numbers that are not 0, each with its index among all numbers, sorted by index.
    Sparse(Vec<(u64, f32)>),
}

/// The metadata and tensors of one text.
#[derive(Debug, Default)]
pub struct RecordedText {
    pub about: About,
    /// The attentions that were recorded: those of the encoder first, then those of the other layers, by layer.
    pub attentions: Vec<Attention>,
    /// Hidden states of the encoder, by the number of layers before them; the next field has those of the text's own
    /// tower.
    pub source_states: BTreeMap<usize, FileTensor>,
    pub states: BTreeMap<usize, FileTensor>,
    pub logits: Option<FileTensor>,
    pub picture: Option<FileTensor>,
}

/// The recorded attention of one layer.
#[derive(Debug)]
pub struct Attention {
    pub side: Side,
    pub layer: usize,
    pub heads: usize,
    /// The weights, and all other tensors that were recorded for this attention.
    parts: BTreeMap<Part, FileTensor>,
}

impl Attention {
    pub fn part(&self, part: Part) -> Option<&FileTensor> {
        self.parts.get(&part)
    }

    /// Returns the attention weights (H, queries, keys), which every recorded attention has.
    pub fn weights(&self) -> &FileTensor {
        &self.parts[&Part::Attentions]
    }

    /// Returns whether queries and keys were recorded, from which scores can be computed.
    pub fn has_scores(&self) -> bool {
        self.part(Part::Queries).is_some() && self.part(Part::Keys).is_some()
    }

    /// Returns the number of heads of keys and values; `None` if neither was recorded.
    pub fn key_value_heads(&self) -> Option<usize> {
        self.part(Part::Keys).or_else(|| self.part(Part::Values)).map(|tensor| tensor.shape[0])
    }
}

/// Returns whether a file is a recording, complete or damaged: its header says so, or it is a head's file of HeadVis.
pub fn is_recording(path: &Path) -> bool {
    headvis::is_head(path) || header_text(path).is_ok_and(|text| says_recording(&text))
}

/// Returns whether a header contains the entry `"attune": "recording …"`, with any white space in it.
fn says_recording(header: &[u8]) -> bool {
    let key = format!("{KEY:?}");
    let follows = |rest: &[u8]| {
        let value = rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        value.is_some_and(|value| value.starts_with(b"\"recording"))
    };
    let places = header.windows(key.len()).enumerate().filter(|(_, part)| *part == key.as_bytes());
    places.into_iter().any(|(at, _)| follows(&header[at + key.len()..]))
}

/// Reads the text of a file's header, or only its beginning if its stated length is impossible. The text is empty if no
/// JSON object follows the length.
fn header_text(path: &Path) -> io::Result<Vec<u8>> {
    /// Number of bytes that are read of a header with an impossible length.
    const BEGINNING: u64 = 1 << 16;

    let (mut file, length) = files::open(path)?;
    let (mut eight, mut first) = ([0; 8], [0]);
    file.read_exact(&mut eight)?;
    file.read_exact(&mut first)?;
    let mut text = Vec::new();
    // A header begins with a brace. The rest of any other file is not read, because it may be long and may mention
    // recordings.
    if first == *b"{" {
        let bytes = u64::from_le_bytes(eight);
        let is_possible = bytes <= HEADER_BYTES_MAX.min(length);
        file.take(if is_possible { bytes } else { BEGINNING }).read_to_end(&mut text)?;
    }
    Ok(text)
}

impl Recording {
    /// Opens a file and checks its tensors against its tokens. The numbers are not read yet.
    ///
    /// # Errors
    /// All faults, each with the name of its tensor or metadata entry.
    pub fn open(path: &Path) -> Result<Self, Vec<Refusal>> {
        if headvis::is_head(path) {
            return headvis::open(path);
        }
        let one = |refusal: Refusal| vec![refusal];
        let (mut file, length) = files::open(path).map_err(|error| one(Refusal::unreadable(&error)))?;
        if length > FILE_BYTES_MAX {
            let found = format!("a file of {}", counted(length, "byte"));
            return Err(one(Refusal::new(found, format!("at most {FILE_BYTES_MAX}"), "record fewer layers")));
        }
        let header = FileHeader::read(&mut BufReader::new(&mut file), length).map_err(one)?;
        check_version(&header.metadata).map_err(one)?;
        let mut faults = Vec::new();
        let (texts, unused) = sort(&header, &mut faults);
        if faults.is_empty() {
            let numbers = Numbers::File { file: Mutex::new(file), begin: header.length };
            Ok(Self { numbers, texts, unused })
        } else {
            Err(faults)
        }
    }

    /// Reads a range of a tensor's numbers, in row-major order.
    ///
    /// # Errors
    /// If the file ends or cannot be read.
    ///
    /// # Panics
    /// If the tensor has fewer numbers.
    pub fn numbers(&self, tensor: &FileTensor, range: Range<usize>) -> Result<Vec<f32>, Refusal> {
        Ok(match &self.numbers {
            Numbers::File { .. } => widened(tensor.dtype, self.bytes(tensor, range)?),
            Numbers::Sparse(entries) => dense(entries, tensor.begin / bytes_of_one(tensor) as u64, range),
        })
    }

    /// Reads the bytes of some of a tensor's numbers; returns no bytes if the numbers are in no file.
    fn bytes(&self, tensor: &FileTensor, range: Range<usize>) -> Result<Vec<u8>, Refusal> {
        let size = bytes_of_one(tensor);
        assert!(range.end * size <= usize::try_from(tensor.bytes()).unwrap_or(usize::MAX), "numbers of the tensor");
        let Numbers::File { file, begin } = &self.numbers else { return Ok(Vec::new()) };
        let mut bytes = vec![0; range.len() * size];
        let begin = begin + tensor.begin + (range.start * size) as u64;
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(begin)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| Refusal::unreadable(&error).of_tensor(&tensor.name))?;
        Ok(bytes)
    }

    /// Reads all of a tensor's numbers.
    ///
    /// # Errors
    /// See [`Self::numbers`].
    pub fn all(&self, tensor: &FileTensor) -> Result<Vec<f32>, Refusal> {
        self.numbers(tensor, 0..tensor.shape.iter().product())
    }

    /// Reads one matrix of a tensor with three axes, or the whole tensor if it has two and `at` is 0.
    ///
    /// # Errors
    /// See [`Self::numbers`].
    ///
    /// # Panics
    /// If there is no such matrix.
    pub fn matrix(&self, tensor: &FileTensor, at: usize) -> Result<Matrix<f32>, Refusal> {
        let [.., rows, cols] = tensor.shape[..] else { panic!("{} has no rows and columns", tensor.name) };
        let size = rows * cols;
        Ok(Matrix::from_row_major(rows, cols, self.numbers(tensor, at * size..(at + 1) * size)?))
    }

    /// Reads some rows of one matrix of a tensor with three axes; of a tensor with two axes, `at` must be 0.
    ///
    /// # Errors
    /// See [`Self::numbers`].
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn rows(&self, tensor: &FileTensor, at: usize, of: Range<usize>) -> Result<Matrix<f32>, Refusal> {
        let [.., rows, cols] = tensor.shape[..] else { panic!("{} has no rows and columns", tensor.name) };
        let first = at * rows;
        let numbers = self.numbers(tensor, (first + of.start) * cols..(first + of.end) * cols)?;
        Ok(Matrix::from_row_major(of.len(), cols, numbers))
    }

    /// Reads some rows and columns of one matrix, as [`Self::rows`] does. Whole rows are read, but only these numbers
    /// are converted, because the conversion takes longer than the reading.
    ///
    /// # Errors
    /// See [`Self::numbers`].
    ///
    /// # Panics
    /// If there are no such rows and columns.
    pub fn block(
        &self,
        tensor: &FileTensor,
        at: usize,
        of: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Matrix<f32>, Refusal> {
        let [.., rows, cols] = tensor.shape[..] else { panic!("{} has no rows and columns", tensor.name) };
        if columns == (0..cols) || matches!(self.numbers, Numbers::Sparse(_)) {
            return Ok(self.rows(tensor, at, of.clone())?.top_columns(of.len(), &columns));
        }
        let (first, size) = (at * rows, bytes_of_one(tensor));
        let mut bytes = self.bytes(tensor, (first + of.start) * cols..(first + of.end) * cols)?;
        for row in 0..of.len() {
            let of_row = (row * cols + columns.start) * size..(row * cols + columns.end) * size;
            bytes.copy_within(of_row, row * columns.len() * size);
        }
        bytes.truncate(of.len() * columns.len() * size);
        Ok(Matrix::from_row_major(of.len(), columns.len(), widened(tensor.dtype, bytes)))
    }
}

/// Returns the bytes of one number of a tensor.
fn bytes_of_one(tensor: &FileTensor) -> usize {
    tensor.dtype.bitsize() / 8
}

/// Converts the bytes of a recording's numbers.
fn widened(dtype: Dtype, bytes: Vec<u8>) -> Vec<f32> {
    if matches!(dtype, Dtype::BOOL | Dtype::U8) {
        return bytes.into_iter().map(f32::from).collect();
    }
    let mut numbers = Vec::new();
    widen(dtype, &bytes, &mut numbers);
    numbers
}

/// Returns the numbers with the indices `first + range`; those that have no entry are 0.
fn dense(entries: &[(u64, f32)], first: u64, range: Range<usize>) -> Vec<f32> {
    let mut numbers = vec![0.0; range.len()];
    let begin = first + range.start as u64;
    let from = entries.partition_point(|(place, _)| *place < begin);
    let within = |place: u64| usize::try_from(place - begin).ok().filter(|at| *at < range.len());
    for (at, number) in entries[from..].iter().map_while(|(place, number)| Some((within(*place)?, *number))) {
        numbers[at] = number;
    }
    numbers
}

/// Computes the mix of each query, `A V`, in double precision. The sum runs row by row, so that both matrices are read
/// in storage order.
pub fn mixes(weights: &Matrix<f32>, values: &Matrix<f32>) -> Matrix<f32> {
    let mut mixes = Matrix::zeros(weights.rows(), values.cols());
    if values.cols() == 0 {
        return mixes;
    }
    let values = values.cast::<f64>();
    let mut sum = vec![0.0; values.cols()];
    for query in 0..weights.rows() {
        sum.fill(0.0);
        for (key, weight) in weights.row(query).iter().enumerate() {
            let terms = sum.iter_mut().zip(values.row(key));
            terms.for_each(|(sum, value)| *sum += f64::from(*weight) * value);
        }
        mixes.row_mut(query).iter_mut().zip(&sum).for_each(|(to, sum)| *to = *sum as f32);
    }
    mixes
}

fn check_version(metadata: &BTreeMap<String, String>) -> Result<(), Refusal> {
    match metadata.get(KEY) {
        Some(version) if version == VERSION => Ok(()),
        Some(other) => {
            let found = format!("{:?}", beginning(other));
            let advice = "this was made for another version of attune";
            Err(Refusal::new(found, format!("{VERSION:?}"), advice).of_tensor(KEY))
        }
        None => {
            let expected = format!("{KEY}: {VERSION:?} in the metadata");
            Err(Refusal::new("no such entry", expected, "this is not a recording").of_tensor(KEY))
        }
    }
}

/// Assigns the tensors of a file to its texts. Also returns the sorted names of the tensors that are not used.
fn sort(header: &FileHeader, faults: &mut Vec<Refusal>) -> (Vec<RecordedText>, Vec<String>) {
    let (mut found, mut unused) = (BTreeMap::new(), Vec::new());
    for tensor in &header.tensors {
        match Address::parse(&tensor.name) {
            Ok(None) => unused.push(tensor.name.clone()),
            Err(fault) => faults.push(fault),
            Ok(Some(address)) => {
                if found.insert(address, tensor).is_some() {
                    let advice = "give each tensor one name";
                    let fault = Refusal::new("a second tensor for the same part", "each part once", advice);
                    faults.push(fault.of_tensor(&tensor.name));
                }
            }
        }
    }
    let numbers = text_numbers(&found, &header.metadata, faults);
    let texts = numbers.into_iter().map(|text| {
        let own = found.iter().filter(|(address, _)| address.text == text);
        let own: BTreeMap<Address, &FileTensor> = own.map(|(address, tensor)| (*address, *tensor)).collect();
        let about = Entries { all: &header.metadata, text, faults: &mut *faults }.read();
        about.map_or_else(RecordedText::default, |about| of_text(about, &own, &mut unused, faults))
    });
    let texts = texts.collect();
    unused.sort();
    (texts, unused)
}

/// Returns the numbers of the texts of a file. If no name contains the number of a text, there is one text, `None`.
/// Gaps and missing numbers are added to the faults.
fn text_numbers(
    found: &BTreeMap<Address, &FileTensor>,
    metadata: &BTreeMap<String, String>,
    faults: &mut Vec<Refusal>,
) -> Vec<Option<usize>> {
    let count = found.keys().filter_map(|address| address.text).max().map_or(0, |last| last + 1);
    if count == 0 {
        return vec![None];
    }
    if let Some((_, tensor)) = found.iter().find(|(address, _)| address.text.is_none()) {
        let fault = Refusal::new("no number of a text", "0/ before its name, or the number of another text", ALIKE);
        faults.push(fault.of_tensor(&tensor.name));
    }
    for text in 0..count {
        if !found.keys().any(|address| address.text == Some(text)) {
            let expected = format!("tensors of the texts 0 to {}, without a gap", count - 1);
            faults.push(Refusal::new("no tensor", expected, ALIKE).of_tensor(&format!("{text}/")));
        }
    }
    let beyond = metadata.keys().find(|key| {
        key.strip_suffix("/tokens").and_then(|text| text.parse::<usize>().ok()).is_some_and(|text| text >= count)
    });
    if let Some(key) = beyond {
        faults.push(Refusal::new("tokens of a text without tensors", "tensors of each text", ALIKE).of_tensor(key));
    }
    (0..count).map(Some).collect()
}

/// Advice if some of the names lack the number of a text.
const ALIKE: &str = "number the texts 0/, 1/, … in the names of their tensors and of their entries";

/// Collects the tensors of one text. The names of those that are not used are added to `unused`.
fn of_text(
    about: About,
    own: &BTreeMap<Address, &FileTensor>,
    unused: &mut Vec<String>,
    faults: &mut Vec<Refusal>,
) -> RecordedText {
    let mut sorter = Sorter { own, about: &about, faults, used: Vec::new() };
    let attentions = sorter.attentions();
    let (source_states, states) = (sorter.states(Side::Encoder), sorter.own_states());
    let (logits, picture) = (sorter.logits(), sorter.picture());
    let Sorter { used, .. } = sorter;
    let is_left = |(address, tensor): (&Address, &&FileTensor)| (!used.contains(address)).then(|| tensor.name.clone());
    unused.extend(own.iter().filter_map(is_left));
    let is_empty = attentions.is_empty() && states.is_empty() && source_states.is_empty() && logits.is_none();
    if is_empty && faults.is_empty() {
        let expected = "tensors of a recording: attentions.0, hidden_states.0, …";
        let other = unused.first().map_or_else(String::new, |name| format!(", but {}", beginning(name)));
        let found = format!("no tensor that a recording has{other}");
        faults.push(Refusal::new(found, expected, ALIKE_NAMES).of_tensor("attentions.0"));
    }
    RecordedText { about, attentions, source_states, states, logits, picture }
}

/// Advice if no name is one that a recording has.
const ALIKE_NAMES: &str = "save the tensors under these names";

/// The tensors of one text, with those that were already taken.
struct Sorter<'a> {
    own: &'a BTreeMap<Address, &'a FileTensor>,
    about: &'a About,
    faults: &'a mut Vec<Refusal>,
    used: Vec<Address>,
}

/// Name of an axis of the text's tokens, in messages.
const OF_TOKENS: &str = "tokens";
const OF_SOURCE: &str = "source tokens";

impl<'a> Sorter<'a> {
    /// Returns the tensor with this place and marks it as used. Returns `None` if there is none, or if its number type
    /// or shape is wrong, which is added to the faults.
    fn take(&mut self, side: Side, part: Part, layer: Option<usize>, sizes: &[Size]) -> Option<&'a FileTensor> {
        let (address, tensor) =
            self.own.iter().find(|(address, _)| (address.side, address.part, address.layer) == (side, part, layer))?;
        self.used.push(*address);
        match part.check_kind(tensor).and_then(|()| check_shape(tensor, sizes)) {
            Ok(()) => Some(tensor),
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// Returns the numbers of the layers for which a part was recorded.
    fn layers(&self, side: Side, part: Part) -> Vec<usize> {
        let of = self.own.keys().filter(|address| (address.side, address.part) == (side, part));
        of.filter_map(|address| address.layer).collect()
    }

    /// Returns the size of an axis of tokens. Returns `None` if it is an axis of a source and the metadata has no
    /// source, which is added to the faults.
    fn tokens(&mut self, of_source: bool, name: impl FnOnce() -> String) -> Option<Size> {
        if !of_source {
            return Some(Size::Exactly(self.about.tokens.len(), OF_TOKENS));
        }
        if let Some(source) = &self.about.source_tokens {
            return Some(Size::Exactly(source.len(), OF_SOURCE));
        }
        let found = format!("no such entry in the metadata, but the tensor {}", name());
        let expected = "a list of the source's tokens, in JSON";
        let fault = Refusal::new(found, expected, "write the source's tokens beside it");
        self.faults.push(fault.of_tensor("source_tokens"));
        None
    }

    fn attentions(&mut self) -> Vec<Attention> {
        let mut attentions = Vec::new();
        for side in Side::ALL {
            for layer in self.layers(side, Part::Attentions) {
                attentions.extend(self.attention(side, layer));
            }
        }
        // A layer of a decoder has self-attention first, then cross-attention.
        attentions.sort_by_key(|attention: &Attention| match attention.side {
            Side::Encoder => (0, attention.layer, 0),
            Side::Own | Side::Decoder => (1, attention.layer, 0),
            Side::Cross => (1, attention.layer, 1),
        });
        attentions
    }

    fn attention(&mut self, side: Side, layer: usize) -> Option<Attention> {
        let name = || format!("{}{}.{layer}", side.prefix(), Part::Attentions.name());
        let queries = self.tokens(side.queries_are_of_source(), name);
        let keys = self.tokens(side.keys_are_of_source(), name);
        let (queries, keys) = (queries?, keys?);
        let weights = self.take(side, Part::Attentions, Some(layer), &[Size::Heads, queries, keys])?;
        let heads = weights.shape[0];
        let mut parts = BTreeMap::from([(Part::Attentions, weights.clone())]);
        let width = |tensor: Option<&FileTensor>| match tensor {
            Some(tensor) => Size::Exactly(tensor.shape[2], "width of the queries"),
            None => Size::Width,
        };
        let of_heads = Size::Exactly(heads, "heads");
        let each = Size::OneOr(heads, "heads");
        let mut take = |part: Part, sizes: &[Size]| {
            let tensor = self.take(side, part, Some(layer), sizes)?;
            parts.insert(part, tensor.clone());
            Some(tensor)
        };
        let query = take(Part::Queries, &[of_heads, queries, Size::Width]);
        let key = take(Part::Keys, &[Size::Divides(heads), keys, width(query)]);
        let shared = key.map_or(Size::Divides(heads), |key| Size::Exactly(key.shape[0], "heads of the keys"));
        let value = take(Part::Values, &[shared, keys, Size::Width]);
        if let Some(value) = value {
            let rows = Size::Exactly(heads * value.shape[2], "heads times the width of the values");
            take(Part::OutputWeight, &[rows, Size::Width]);
        }
        take(Part::ScoreScale, &[each]);
        take(Part::ScoreCap, &[each]);
        take(Part::ScoreBias, &[each, queries, keys]);
        take(Part::Sinks, &[of_heads]);
        if take(Part::Mask, &[queries, keys]).is_none() {
            // One mask without a layer's number may apply to all layers. For a decoder's self-attention, it may also
            // have the name without a prefix.
            let shared = if side == Side::Decoder { [Side::Decoder, Side::Own] } else { [side, side] };
            let mask = shared.into_iter().find_map(|side| self.take(side, Part::Mask, None, &[queries, keys]));
            parts.extend(mask.map(|mask| (Part::Mask, mask.clone())));
        }
        Some(Attention { side, layer, heads, parts })
    }

    /// Returns the hidden states of a tower, by layer. All must have the width of the first.
    fn states(&mut self, side: Side) -> BTreeMap<usize, FileTensor> {
        let mut states: BTreeMap<usize, FileTensor> = BTreeMap::new();
        let mut width = Size::Width;
        for layer in self.layers(side, Part::HiddenStates) {
            let name = || format!("{}{}.{layer}", side.prefix(), Part::HiddenStates.name());
            let Some(tokens) = self.tokens(side == Side::Encoder, name) else { break };
            if let Some(state) = self.take(side, Part::HiddenStates, Some(layer), &[tokens, width]) {
                width = Size::Exactly(state.shape[1], "the width of the other hidden states");
                states.insert(layer, state.clone());
            }
        }
        states
    }

    /// Returns the hidden states of the text's own tower, or those of the decoder if there are none.
    fn own_states(&mut self) -> BTreeMap<usize, FileTensor> {
        let states = self.states(Side::Own);
        if states.is_empty() { self.states(Side::Decoder) } else { states }
    }

    fn logits(&mut self) -> Option<FileTensor> {
        let rows = Size::OneOr(self.about.tokens.len(), OF_TOKENS);
        let columns = match &self.about.classes {
            Some(classes) => Size::Exactly(classes.len(), "classes"),
            None => Size::Any,
        };
        self.take(Side::Own, Part::Logits, None, &[rows, columns]).cloned()
    }

    fn picture(&mut self) -> Option<FileTensor> {
        self.take(Side::Own, Part::Picture, None, &[Size::Side, Size::Side, Size::Channels]).cloned()
    }
}
