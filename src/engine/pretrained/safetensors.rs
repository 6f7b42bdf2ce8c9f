//! The safetensors format: 8 bytes with the length of the header, the header in JSON ([`FileHeader`]), and the tensors'
//! bytes, row-major and one after the other.
//!
//! A file is read once, from beginning to end ([`TensorSource`]), each tensor into its final place. So only a small
//! buffer is needed in addition to the model, and the SHA-256 is of exactly the bytes that were used.
//!
//! Number types and header entries are those of the crate `safetensors`. Its reader of a whole header,
//! `SafeTensors::read_metadata`, is not used, because it allocates memory for as many tensors as 100 MB can name, and
//! does not say which one is wrong. Here everything is checked against the file's length before it is used, and little
//! memory is allocated before that.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read, Write};
use std::panic::resume_unwind;
use std::str;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

pub use ::safetensors::Dtype;
use ::safetensors::tensor::TensorInfo;
use data_encoding::HEXLOWER;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::refusal::{FETCH_AGAIN, Refusal, quoted};
use crate::foreign;
use crate::messages::counted;

/// Number of bytes that are read at once, few enough to stay in the processor's cache.
const CHUNK: usize = 1 << 18;

/// A file that is read from beginning to end.
pub struct TensorSource<R> {
    from: R,
    header: FileHeader,
    hash: Hash,
    /// Number of tensors that were read or skipped so far.
    done: usize,
    reader: TensorReader,
}

/// A buffer for a piece of a tensor.
#[derive(Default)]
pub struct TensorReader {
    bytes: Vec<u8>,
    numbers: Vec<f32>,
}

impl TensorReader {
    /// Reads a tensor whose bytes come next. `each` is called with the number of the first row of a piece and the
    /// piece's numbers, which are always whole rows of `cols`. It returns `false` to end the reading; this function
    /// then returns `false` too.
    ///
    /// # Errors
    /// If the bytes end or cannot be read, the number type is not supported, or a number is not finite.
    pub fn read(
        &mut self,
        from: &mut impl Read,
        tensor: &FileTensor,
        cols: usize,
        each: &mut dyn FnMut(usize, &[f32]) -> bool,
    ) -> Result<bool, Refusal> {
        let refused = |refusal: Refusal| refusal.of_tensor(&tensor.name);
        let size = bytes_read(tensor.dtype).ok_or_else(|| refused(not_read(tensor.dtype)))?;
        let row_bytes = (cols * size).max(1) as u64;
        let chunk = (CHUNK as u64 / row_bytes).max(1) * row_bytes;
        let (mut left, mut row) = (tensor.bytes(), 0);
        while left > 0 {
            let count = left.min(chunk);
            self.bytes.resize(usize::try_from(count).unwrap_or_default(), 0);
            from.read_exact(&mut self.bytes).map_err(|error| refused(Refusal::unreadable(&error)))?;
            widen(tensor.dtype, &self.bytes, &mut self.numbers);
            if let Some(at) = first_not_finite(&self.numbers) {
                let index = index_of(row * cols + at, &tensor.shape);
                let found = format!("{} at {index:?}", self.numbers[at]);
                let advice = "the training of this model went wrong, or its numbers do not fit 32 bits";
                return Err(refused(Refusal::new(found, "finite numbers", advice)));
            }
            if !each(row, &self.numbers) {
                return Ok(false);
            }
            left -= count;
            row += usize::try_from(count / row_bytes).unwrap_or_default();
        }
        Ok(true)
    }
}

/// Number types that weights can have.
pub const READ: [Dtype; 4] = [Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::F64];

/// Returns the size in bytes of a number of this type; `None` for types that are not read.
pub fn bytes_read(dtype: Dtype) -> Option<usize> {
    READ.contains(&dtype).then_some(dtype.bitsize() / 8)
}

/// Converts bytes to `f32`, each number to the nearest. `into` is empty afterwards if the type is not read.
pub fn widen(dtype: Dtype, bytes: &[u8], into: &mut Vec<f32>) {
    into.clear();
    match dtype {
        Dtype::F32 => into.extend(each(bytes).map(f32::from_le_bytes)),
        Dtype::F16 => {
            // All at once, because one by one takes several times as long.
            let halves: Vec<f16> = each(bytes).map(f16::from_le_bytes).collect();
            into.resize(halves.len(), 0.0);
            halves.convert_to_f32_slice(into);
        }
        Dtype::BF16 => into.extend(each(bytes).map(|two| bf16::from_le_bytes(two).to_f32())),
        Dtype::F64 => into.extend(each(bytes).map(|eight| f64::from_le_bytes(eight) as f32)),
        _ => {}
    }
}

/// Splits bytes into numbers of `N` bytes each.
pub fn each<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// Returns the refusal of a number type that weights cannot have.
pub fn not_read(dtype: Dtype) -> Refusal {
    let found = format!("numbers of the kind {dtype}");
    Refusal::new(found, READ.map(|dtype| dtype.to_string()).join(", "), "save the model again in one of these")
}

/// The computation of the SHA-256 of bytes that come piece by piece.
enum Hash {
    Here(Sha256),
    /// Computed on another thread, while the next bytes are read and copied to their places.
    Beside {
        pieces: SyncSender<Vec<u8>>,
        /// Buffers of pieces that were hashed, for reuse.
        emptied: Receiver<Vec<u8>>,
        whole: JoinHandle<Sha256>,
    },
}

impl Hash {
    /// Largest number of pieces that wait to be hashed.
    const WAITING_MAX: usize = 4;

    fn beside(self) -> Self {
        let Self::Here(mut hash) = self else { return self };
        let (pieces, incoming) = sync_channel::<Vec<u8>>(Self::WAITING_MAX);
        let (empty, emptied) = channel();
        let whole = thread::spawn(move || {
            incoming.iter().for_each(|piece| {
                hash.update(&piece);
                // The buffers of the last pieces are not reused.
                let _ = empty.send(piece);
            });
            hash
        });
        Self::Beside { pieces, emptied, whole }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Here(hash) => hash.update(bytes),
            // The thread ends only when the sender is dropped; if it panicked, `finish` reports it.
            Self::Beside { pieces, emptied, .. } => {
                let mut piece = emptied.try_recv().unwrap_or_default();
                piece.clear();
                piece.extend_from_slice(bytes);
                drop(pieces.send(piece));
            }
        }
    }

    fn finish(self) -> String {
        let hash = match self {
            Self::Here(hash) => hash,
            Self::Beside { pieces, whole, .. } => {
                drop(pieces);
                whole.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        };
        HEXLOWER.encode(&hash.finalize())
    }
}

/// A reader that hashes the bytes read.
struct Hashed<'a, R> {
    from: &'a mut R,
    hash: &'a mut Hash,
}

impl<R: Read> Read for Hashed<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.hash.update(&into[..count]);
        Ok(count)
    }
}

impl<R: Read> TensorSource<R> {
    /// Reads the header of a file of the given length in bytes.
    ///
    /// # Errors
    /// If it is not a header, or does not fit the file.
    pub fn open(mut from: R, length: u64) -> Result<Self, Refusal> {
        let mut hash = Hash::Here(Sha256::new());
        let header = FileHeader::read(&mut Hashed { from: &mut from, hash: &mut hash }, length)?;
        Ok(Self { from, header, hash, done: 0, reader: TensorReader::default() })
    }

    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Computes the SHA-256 on another thread, which pays off for large files.
    #[must_use]
    pub fn hashed_beside(self) -> Self {
        Self { hash: self.hash.beside(), ..self }
    }

    /// Returns the next tensor in the file.
    pub fn next(&self) -> Option<&FileTensor> {
        self.header.tensors.get(self.done)
    }

    /// Reads the next tensor as [`TensorReader::read`] does.
    ///
    /// # Errors
    /// See [`TensorReader::read`].
    pub fn read_next(&mut self, cols: usize, each: &mut dyn FnMut(usize, &[f32]) -> bool) -> Result<bool, Refusal> {
        let Some(tensor) = self.header.tensors.get(self.done) else { return Ok(true) };
        self.done += 1;
        let mut from = Hashed { from: &mut self.from, hash: &mut self.hash };
        self.reader.read(&mut from, tensor, cols, each)
    }

    /// Skips the next tensor, whose bytes are only hashed. `each` is called with the number of bytes since its last
    /// call, and may end the reading by returning `false`.
    ///
    /// # Errors
    /// If the file ends or cannot be read.
    pub fn skip_next(&mut self, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Refusal> {
        let Some(tensor) = self.header.tensors.get(self.done) else { return Ok(true) };
        self.done += 1;
        let mut left = tensor.bytes();
        while left > 0 {
            let count = left.min(CHUNK as u64);
            let bytes = &mut self.reader.bytes;
            bytes.resize(usize::try_from(count).unwrap_or_default(), 0);
            let mut from = Hashed { from: &mut self.from, hash: &mut self.hash };
            from.read_exact(bytes).map_err(|error| Refusal::unreadable(&error).of_tensor(&tensor.name))?;
            if !each(count) {
                return Ok(false);
            }
            left -= count;
        }
        Ok(true)
    }

    /// Returns the SHA-256 of the bytes read in hexadecimal digits; after the last tensor it is that of the whole file.
    pub fn sha256(self) -> String {
        self.hash.finish()
    }
}

fn first_not_finite(numbers: &[f32]) -> Option<usize> {
    // All at once first, which can be vectorised: a number is not finite if its exponent has all bits set.
    const EXPONENT: u32 = 0x7f80_0000;
    let highest = numbers.iter().fold(0, |highest, number| highest.max(number.to_bits() & EXPONENT));
    if highest < EXPONENT { None } else { numbers.iter().position(|number| !number.is_finite()) }
}

/// Returns the index in each dimension of the number `at`, row-major.
fn index_of(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let here = at % size.max(1);
            at /= size.max(1);
            here
        })
        .collect();
    index.reverse();
    index
}

/// Largest size of a header in bytes, by the format.
pub const HEADER_BYTES_MAX: u64 = 100_000_000;
/// Largest number of tensors of one file; large models have several thousand.
pub const TENSORS_MAX: usize = 65_536;
/// Largest size of a tensor's name, and of any text of the header, in bytes.
const NAME_BYTES_MAX: usize = 512;
const TEXT_BYTES_MAX: usize = 16 << 20;
/// Largest number of dimensions of a tensor, and of numbers in any list of the header.
const RANK_MAX: usize = 8;
const NUMBERS_MAX: usize = 1 << 12;
/// Largest depth of nested objects and lists; the format needs three.
const DEPTH_MAX: usize = 16;
/// Number of bytes before the header, which hold its length.
const LENGTH_BYTES: u64 = 8;

/// Entry of a header that is not a tensor but texts about the file.
const METADATA: &str = "__metadata__";

/// Alignment in bytes of the first tensor, by the format: the part before it is padded to a multiple of this.
const ALIGNMENT: usize = 8;

/// The place, shape and number type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// First byte, counted from the header's end.
    pub begin: u64,
    pub end: u64,
}

impl FileTensor {
    pub fn bytes(&self) -> u64 {
        self.end - self.begin
    }
}

/// The tensors of a file in the order of their bytes, which fill the file from the header's end without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    pub tensors: Vec<FileTensor>,
    /// Number of bytes before the bytes of the tensors.
    pub length: u64,
    /// The texts about the file, by their names.
    pub metadata: BTreeMap<String, String>,
}

impl FileHeader {
    /// Reads the header from the beginning of a file of the given length in bytes.
    ///
    /// # Errors
    /// If it is not a header, or does not fit the file.
    pub fn read(source: &mut impl Read, length: u64) -> Result<Self, Refusal> {
        if length < LENGTH_BYTES {
            let found = format!("a file of {}", counted(length, "byte"));
            return Err(Refusal::new(found, "the 8 bytes that say how long the header is", FETCH_AGAIN));
        }
        let mut eight = [0; LENGTH_BYTES as usize];
        source.read_exact(&mut eight).map_err(|error| Refusal::unreadable(&error))?;
        let (bytes, rest) = (u64::from_le_bytes(eight), length - LENGTH_BYTES);
        if bytes > HEADER_BYTES_MAX.min(rest) {
            let mut head = eight.to_vec();
            // A file of another kind is recognised even if it is shorter.
            let _ = source.take(foreign::HEAD_BYTES as u64 - LENGTH_BYTES).read_to_end(&mut head);
            if let Some(kind) = foreign::recognise(&head) {
                return Err(kind.refusal("a safetensors file"));
            }
            let most = format!("at most {}, in a file of {length} bytes", HEADER_BYTES_MAX.min(rest));
            let advice = "this is not a safetensors file, or it is incomplete: download it again";
            return Err(Refusal::new(format!("a header of {}", counted(bytes, "byte")), most, advice));
        }
        let mut text = vec![0; usize::try_from(bytes).unwrap_or_default()];
        source.read_exact(&mut text).map_err(|error| Refusal::unreadable(&error))?;
        let Found { mut tensors, metadata, .. } = parse(&text)?;
        tensors.sort_by(|a, b| (a.begin, a.end, &a.name).cmp(&(b.begin, b.end, &b.name)));
        tile(&tensors, rest - bytes)?;
        refuse_twins(&tensors)?;
        Ok(Self { tensors, length: LENGTH_BYTES + bytes, metadata })
    }
}

/// Checks that the bytes of the tensors follow each other and fill the file.
fn tile(tensors: &[FileTensor], bytes: u64) -> Result<(), Refusal> {
    let mut next = 0;
    for tensor in tensors {
        if tensor.begin != next {
            let how = if tensor.begin < next { "overlaps the tensor before it" } else { "leaves a gap" };
            let found = format!("data that begins at byte {}, which {how}", tensor.begin);
            let expected = format!("data that begins at byte {next}");
            return Err(Refusal::new(found, expected, FETCH_AGAIN).of_tensor(&tensor.name));
        }
        next = tensor.end;
    }
    if next == bytes {
        return Ok(());
    }
    let found = format!("{} after the header", counted(bytes, "byte"));
    Err(Refusal::new(found, format!("{next}, the size of the tensors"), FETCH_AGAIN))
}

fn refuse_twins(tensors: &[FileTensor]) -> Result<(), Refusal> {
    let mut names: Vec<&str> = tensors.iter().map(|tensor| &*tensor.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Refusal::new("the name twice", "each name once", FETCH_AGAIN).of_tensor(pair[0])),
    }
}

fn parse(text: &[u8]) -> Result<Found, Refusal> {
    let damaged = |found: String| Refusal::new(found, "a header in JSON", FETCH_AGAIN);
    let text = str::from_utf8(text).map_err(|error| {
        damaged(format!("bytes that are not UTF-8, from byte {} of the header on", error.valid_up_to()))
    })?;
    check_sizes(text.as_bytes())?;
    let mut found = Found::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let read = found.deserialize(&mut json).and_then(|()| json.end());
    match (found.refusal.take(), read) {
        (Some(refusal), _) => Err(refusal),
        (None, Ok(())) => Ok(found),
        (None, Err(error)) => {
            let refusal = Refusal::bad_json(&error, "a header in JSON", FETCH_AGAIN);
            Err(if found.name.is_empty() { refusal } else { refusal.of_tensor(&found.name) })
        }
    }
}

/// Checks that no text, list or nesting is larger than a header needs, because the JSON reader allocates memory for
/// each.
fn check_sizes(json: &[u8]) -> Result<(), Refusal> {
    let (mut depth, mut text, mut is_escaped, mut numbers) = (0usize, None, false, 0);
    for (i, &byte) in json.iter().enumerate() {
        numbers = if matches!(byte, b'[' | b'{' | b'"') { 0 } else { numbers + usize::from(byte == b',') };
        match (text, byte) {
            (Some(begin), _) if i - begin > TEXT_BYTES_MAX => {
                let found = format!("a text of more than {TEXT_BYTES_MAX} bytes in the header");
                return Err(Refusal::new(found, "names and short notes", FETCH_AGAIN));
            }
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(_), b'"') => text = None,
            (None, b'"') => text = Some(i),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            let found = format!("lists within lists, {depth} deep, in the header");
            return Err(Refusal::new(found, "tensors with their shapes", FETCH_AGAIN));
        }
        if text.is_none() && numbers > NUMBERS_MAX {
            let found = format!("a list of more than {NUMBERS_MAX} numbers in the header");
            return Err(Refusal::new(found, format!("at most {RANK_MAX} sizes"), FETCH_AGAIN));
        }
    }
    Ok(())
}

/// The contents of a header as they are read, and the first fault.
#[derive(Default)]
struct Found {
    tensors: Vec<FileTensor>,
    metadata: BTreeMap<String, String>,
    /// The name of the tensor that is being read.
    name: String,
    refusal: Option<Refusal>,
}

impl<'de> DeserializeSeed<'de> for &mut Found {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Found {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            self.name.clear();
            if name == METADATA {
                self.metadata = map.next_value::<Metadata>()?.0;
                continue;
            }
            self.name.extend(name.chars().take(NAME_BYTES_MAX));
            let info = map.next_value::<TensorInfo>()?;
            let tensor = if self.tensors.len() == TENSORS_MAX {
                let found = format!("more than {TENSORS_MAX} tensors");
                Err(Refusal::new(found, "a model with a few thousand tensors", "this is not a model that attune reads"))
            } else {
                check(info, &name).map_err(|refusal| refusal.of_tensor(&self.name))
            };
            match tensor {
                Ok(tensor) => self.tensors.push(tensor),
                Err(refusal) => {
                    self.refusal = Some(refusal);
                    return Err(A::Error::custom("refused"));
                }
            }
        }
        self.name.clear();
        Ok(())
    }
}

/// The texts about a file. Values that are not texts are ignored, and so are texts beyond a bound, because no model
/// needs them.
struct Metadata(BTreeMap<String, String>);

/// Largest size in bytes of all texts about a file together; the next constant is their largest number.
const METADATA_BYTES_MAX: usize = 16 << 20;
const METADATA_TEXTS_MAX: usize = 4096;

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
            type Value = Metadata;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
                let (mut texts, mut bytes) = (BTreeMap::new(), 0);
                while let Some(Text(name)) = map.next_key()? {
                    let MaybeText(Some(text)) = map.next_value()? else { continue };
                    bytes += name.len() + text.len();
                    if bytes <= METADATA_BYTES_MAX && texts.len() < METADATA_TEXTS_MAX {
                        texts.insert(name.into_owned(), text);
                    }
                }
                Ok(Metadata(texts))
            }

            fn visit_unit<E: Error>(self) -> Result<Metadata, E> {
                Ok(Metadata(BTreeMap::new()))
            }
        }

        deserializer.deserialize_any(Texts)
    }
}

/// A text, or `None` for any other value.
struct MaybeText(Option<String>);

impl<'de> Deserialize<'de> for MaybeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = MaybeText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_str<E>(self, text: &str) -> Result<MaybeText, E> {
                Ok(MaybeText(Some(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MaybeText, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MaybeText, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// A text that is copied only if it contains escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Checks a tensor's bytes against its shape.
fn check(info: TensorInfo, name: &str) -> Result<FileTensor, Refusal> {
    let damaged = |found: String, expected: String| Refusal::new(found, expected, FETCH_AGAIN);
    if name.len() > NAME_BYTES_MAX {
        return Err(damaged(format!("a name of {} bytes", name.len()), format!("at most {NAME_BYTES_MAX}")));
    }
    let TensorInfo { dtype, shape, data_offsets: (begin, end) } = info;
    if shape.len() > RANK_MAX {
        return Err(damaged(format!("a shape of {} sizes", shape.len()), format!("at most {RANK_MAX} sizes")));
    }
    let size = shape.iter().try_fold(1usize, |size, n| size.checked_mul(*n));
    match (size.and_then(|size| size.checked_mul(dtype.bitsize())), end.checked_sub(begin)) {
        (Some(bits), Some(given)) if bits.is_multiple_of(8) && bits / 8 == given => {
            Ok(FileTensor { name: name.to_owned(), dtype, shape, begin: begin as u64, end: end as u64 })
        }
        (None, _) => Err(damaged(format!("the shape {shape:?}"), "a shape whose size can be counted".to_owned())),
        (Some(bits), _) => {
            let needed = format!("the {} bytes of the shape {shape:?} in {dtype}", bits.div_ceil(8));
            Err(damaged(format!("its bytes from {begin} to {end}"), needed))
        }
    }
}

/// Largest number of files of one model.
pub const SHARDS_MAX: usize = 512;

/// The index of a model that is split into several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardIndex {
    /// Names of the files, each once.
    pub files: Vec<String>,
    /// Name of the file that has each tensor.
    pub tensors: BTreeMap<String, String>,
}

impl ShardIndex {
    /// Reads the text of an index.
    ///
    /// # Errors
    /// If the text is not an index, or names files that are not next to it.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        struct Written {
            weight_map: BTreeMap<String, String>,
        }

        const ADVICE: &str = "download the model's folder again";
        let written: Written = serde_json::from_str(text)
            .map_err(|error| Refusal::bad_json(&error, "an index in JSON, with a `weight_map`", ADVICE))?;
        let tensors = written.weight_map;
        let files: BTreeSet<&String> = tensors.values().collect();
        let is_count_wrong = tensors.is_empty() || tensors.len() > TENSORS_MAX || files.len() > SHARDS_MAX;
        if is_count_wrong {
            let found = format!("{} tensors in {} files", tensors.len(), files.len());
            let expected = format!("1 to {TENSORS_MAX} tensors in at most {SHARDS_MAX} files");
            return Err(Refusal::new(found, expected, ADVICE));
        }
        if let Some((tensor, file)) = tensors.iter().find(|(_, file)| !is_beside(file)) {
            let found = format!("the file {}", quoted(file));
            let advice = "do not trust this folder, because an index has no reason to name files elsewhere";
            let expected = "the name of a .safetensors file beside the index";
            return Err(Refusal::new(found, expected, advice).of_tensor(tensor));
        }
        let files = files.into_iter().cloned().collect();
        Ok(Self { files, tensors })
    }
}

/// Returns whether a name can name a safetensors file in the same folder: without a path or a drive, and not hidden.
fn is_beside(file: &str) -> bool {
    const NAME_BYTES_MAX: usize = 200;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    file.len() <= NAME_BYTES_MAX
        && file.ends_with(".safetensors")
        && !file.starts_with('.')
        && file.chars().all(is_plain)
}

/// Writes a file with these tensors, sorted by name, each given by its shape and its numbers. The crate's own header is
/// not used, so that a model that is written again has the same bytes.
///
/// # Errors
/// If the file cannot be written.
pub fn write<'a>(tensors: &BTreeMap<String, (&'a [usize], &'a [f32])>, to: &mut dyn Write) -> io::Result<()> {
    // This value is what transformers looks for.
    write_with(&BTreeMap::from([("format".to_owned(), "pt".to_owned())]), tensors, to)
}

/// Writes a file as [`write`] does, with other texts about the file, sorted by name.
///
/// # Errors
/// If the file cannot be written.
pub fn write_with<'a>(
    metadata: &BTreeMap<String, String>,
    tensors: &BTreeMap<String, (&'a [usize], &'a [f32])>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut header = Map::from_iter([(METADATA.to_owned(), json!(metadata))]);
    let mut end = 0;
    for (name, (shape, numbers)) in tensors {
        let begin = end;
        end += size_of_val(*numbers);
        let tensor = json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, end] });
        header.insert(name.clone(), tensor);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(&header)?;
    tensors.values().try_for_each(|(_, numbers)| write_numbers(numbers, to))
}

/// Writes numbers as little-endian `f32`.
///
/// # Errors
/// If they cannot be written.
pub fn write_numbers(numbers: &[f32], to: &mut dyn Write) -> io::Result<()> {
    /// Number of numbers that are converted to bytes at once.
    const AT_ONCE: usize = 1 << 14;
    let mut bytes = Vec::with_capacity(size_of::<f32>() * numbers.len().min(AT_ONCE));
    for numbers in numbers.chunks(AT_ONCE) {
        bytes.clear();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        to.write_all(&bytes)?;
    }
    Ok(())
}
