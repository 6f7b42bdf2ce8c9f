//! The head of a file: which tensors it has, and where each lies. Nothing is believed before it is held against the
//! file's length, and little memory is taken before it is.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::str;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::dtype::Dtype;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal, quoted};

/// Bytes of a header, by the format.
pub const HEADER_BYTES_MAX: u64 = 100_000_000;
/// Tensors of one file; large models have some thousands.
pub const TENSORS_MAX: usize = 65_536;
/// Bytes of a tensor's name, and of any text of the header.
const NAME_BYTES_MAX: usize = 512;
const TEXT_BYTES_MAX: usize = 16 << 20;
/// Dimensions of a tensor.
const RANK_MAX: usize = 8;
/// Objects and lists within one another; the format needs three.
const DEPTH_MAX: usize = 16;
/// Bytes before the header, that say its length.
const LENGTH_BYTES: u64 = 8;

/// The entry of a header that is no tensor: texts about the file.
pub const METADATA: &str = "__metadata__";

/// The place, shape and kind of numbers of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// Bytes behind the header's end.
    pub begin: u64,
    pub end: u64,
}

impl Tensor {
    pub fn bytes(&self) -> u64 {
        self.end - self.begin
    }
}

/// The tensors of a file in the order of their bytes, which follow one another without a gap from the header's end to
/// the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub tensors: Vec<Tensor>,
    /// Bytes before those of the tensors.
    pub length: u64,
}

impl Header {
    /// Reads it from the beginning of a file of so many bytes.
    ///
    /// # Errors
    /// If it is not one, or does not fit the file.
    pub fn read(source: &mut impl Read, length: u64) -> Result<Self, Refusal> {
        let damaged = |found: String, expected: &str| Err(Refusal::new(found, expected, FETCH_AGAIN));
        if length < LENGTH_BYTES {
            return damaged(format!("a file of {length} bytes"), "the 8 bytes that say how long the header is");
        }
        let mut eight = [0; LENGTH_BYTES as usize];
        source.read_exact(&mut eight).map_err(|error| Refusal::unreadable(&error))?;
        let (bytes, rest) = (u64::from_le_bytes(eight), length - LENGTH_BYTES);
        if bytes > HEADER_BYTES_MAX.min(rest) {
            let most = format!("at most {}, of a file of {length}", HEADER_BYTES_MAX.min(rest));
            let advice = "this is not a safetensors file, or it is incomplete: download it again";
            return Err(Refusal::new(format!("a header of {bytes} bytes"), most, advice));
        }
        let mut text = vec![0; usize::try_from(bytes).unwrap_or_default()];
        source.read_exact(&mut text).map_err(|error| Refusal::unreadable(&error))?;
        let mut tensors = parse(&text)?;
        tensors.sort_by(|a, b| (a.begin, a.end, &a.name).cmp(&(b.begin, b.end, &b.name)));
        tile(&tensors, rest - bytes)?;
        refuse_twins(&tensors)?;
        Ok(Self { tensors, length: LENGTH_BYTES + bytes })
    }
}

/// The bytes of tensors follow one another, and fill the file.
fn tile(tensors: &[Tensor], bytes: u64) -> Result<(), Refusal> {
    let mut next = 0;
    for tensor in tensors {
        if tensor.begin != next {
            let how = if tensor.begin < next { "overlaps the tensor before it" } else { "leaves a gap" };
            let found = format!("data that begins at byte {}, which {how}", tensor.begin);
            return Err(
                Refusal::new(found, format!("data that begins at byte {next}"), FETCH_AGAIN).of_tensor(&tensor.name)
            );
        }
        next = tensor.end;
    }
    if next == bytes {
        return Ok(());
    }
    let found = format!("{bytes} bytes behind the header");
    Err(Refusal::new(found, format!("the {next} of its tensors"), FETCH_AGAIN))
}

fn refuse_twins(tensors: &[Tensor]) -> Result<(), Refusal> {
    let mut names: Vec<&str> = tensors.iter().map(|tensor| &*tensor.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Refusal::new("the name twice", "each name once", FETCH_AGAIN).of_tensor(pair[0])),
    }
}

fn parse(text: &[u8]) -> Result<Vec<Tensor>, Refusal> {
    let damaged = |found: String| Refusal::new(found, "a header in JSON", FETCH_AGAIN);
    let text = str::from_utf8(text).map_err(|error| {
        damaged(format!("bytes that are not UTF-8, from byte {} of the header on", error.valid_up_to()))
    })?;
    check_depth_and_texts(text.as_bytes())?;
    let mut found = Found::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let read = found.deserialize(&mut json).and_then(|()| json.end());
    match (found.refusal, read) {
        (Some(refusal), _) => Err(refusal),
        (None, Ok(())) => Ok(found.tensors),
        (None, Err(error)) => {
            let refusal = damaged(error.to_string());
            Err(if found.name.is_empty() { refusal } else { refusal.of_tensor(&found.name) })
        }
    }
}

/// No text and no nesting is larger than a header can need: the JSON reader keeps memory for both.
fn check_depth_and_texts(json: &[u8]) -> Result<(), Refusal> {
    let (mut depth, mut text, mut is_escaped) = (0usize, None, false);
    for (i, &byte) in json.iter().enumerate() {
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
    }
    Ok(())
}

/// The tensors as they are found, and the first fault.
#[derive(Default)]
struct Found {
    tensors: Vec<Tensor>,
    /// The name of the tensor that is read just now.
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
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            self.name.extend(name.chars().take(NAME_BYTES_MAX));
            let written = map.next_value::<Written<'_>>()?;
            let tensor = if self.tensors.len() == TENSORS_MAX {
                let found = format!("more than {TENSORS_MAX} tensors");
                Err(Refusal::new(found, "a model of some thousand", "this is no model that attune reads"))
            } else {
                written.check(&name).map_err(|refusal| refusal.of_tensor(&self.name))
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

/// A text that is copied only if it has escapes in it.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A tensor as a header has it.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    dtype: Cow<'a, str>,
    shape: Shape,
    data_offsets: [u64; 2],
}

impl Written<'_> {
    fn check(self, name: &str) -> Result<Tensor, Refusal> {
        let damaged = |found: String, expected: String| Refusal::new(found, expected, FETCH_AGAIN);
        if name.len() > NAME_BYTES_MAX {
            return Err(damaged(format!("a name of {} bytes", name.len()), format!("at most {NAME_BYTES_MAX}")));
        }
        let dtype = Dtype::of_name(&self.dtype).ok_or_else(|| {
            let known: Vec<&str> = Dtype::ALL.iter().map(|dtype| dtype.name()).collect();
            let advice = "save the model anew, with a dtype of the format";
            Refusal::new(format!("the dtype {}", quoted(&self.dtype)), format!("one of {}", known.join(", ")), advice)
        })?;
        let [begin, end] = self.data_offsets;
        let size = self.shape.0.iter().try_fold(1u64, |size, &n| size.checked_mul(u64::try_from(n).ok()?));
        let bits = size.and_then(|size| size.checked_mul(dtype.bits()));
        let (shape, given) = (&self.shape.0, end.checked_sub(begin));
        match (bits, given) {
            (Some(bits), Some(given)) if bits.is_multiple_of(8) && bits / 8 == given => {
                Ok(Tensor { name: name.to_owned(), dtype, shape: self.shape.0, begin, end })
            }
            (None, _) => Err(damaged(format!("the shape {shape:?}"), "one whose size can be counted".to_owned())),
            (Some(bits), _) => {
                let needed = format!("the {} bytes of the shape {shape:?} in {}", bits.div_ceil(8), dtype.name());
                Err(damaged(format!("its bytes from {begin} to {end}"), needed))
            }
        }
    }
}

/// The sizes of a tensor, not more than make sense.
struct Shape(Vec<usize>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sizes;

        impl<'de> Visitor<'de> for Sizes {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {RANK_MAX} sizes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape, A::Error> {
                let mut sizes = Vec::new();
                while let Some(size) = list.next_element()? {
                    if sizes.len() == RANK_MAX {
                        return Err(A::Error::invalid_length(RANK_MAX + 1, &self));
                    }
                    sizes.push(size);
                }
                Ok(Shape(sizes))
            }
        }

        deserializer.deserialize_seq(Sizes)
    }
}
