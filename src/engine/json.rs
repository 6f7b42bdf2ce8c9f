//! JSON forms for `#[serde(with = "…")]`: exact numbers ([`number`], [`numbers`]), shared values ([`shared`],
//! [`maybe_shared`]), and lists that are read up to a bound ([`beginning`]).
//!
//! JSON has neither NaN nor infinity, and `serde_json` writes both as `null`. Here they are the strings `"NaN"`,
//! `"inf"` and `"-inf"`. A finite number is a JSON number, in its shortest exact form.
//!
//! ```
//! use attune_engine::json;
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Weights {
//!     #[serde(with = "json::number")]
//!     bias: f32,
//!     #[serde(with = "json::numbers")]
//!     entries: Vec<f64>,
//! }
//!
//! let weights = Weights { bias: f32::NEG_INFINITY, entries: vec![0.1, f64::NAN] };
//! assert_eq!(serde_json::to_string(&weights).unwrap(), r#"{"bias":"-inf","entries":[0.1,"NaN"]}"#);
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number type, `f32` or `f64`.
pub trait Real: Copy {
    /// Prefix of the string that holds a long array.
    #[doc(hidden)]
    const PREFIX: &'static str;
    /// Returns the `f64` whose shortest text is written for this number.
    #[doc(hidden)]
    fn widened(self) -> f64;
    #[doc(hidden)]
    fn narrowed(wide: f64) -> Self;
    #[doc(hidden)]
    fn append_to(self, bytes: &mut Vec<u8>);
    #[doc(hidden)]
    fn all_of(bytes: &[u8]) -> Option<Vec<Self>>;
}

impl Real for f64 {
    const PREFIX: &'static str = "f64:";

    fn widened(self) -> f64 {
        self
    }

    fn narrowed(wide: f64) -> f64 {
        wide
    }

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn all_of(bytes: &[u8]) -> Option<Vec<f64>> {
        let (entries, rest) = bytes.as_chunks();
        rest.is_empty().then(|| entries.iter().map(|entry| f64::from_le_bytes(*entry)).collect())
    }
}

impl Real for f32 {
    const PREFIX: &'static str = "f32:";

    fn widened(self) -> f64 {
        // JSON is read as f64. The shortest text of an f32 is read as an f64 near it, which rounds back to the f32,
        // except for ±7.038531e-26, the only f32 that rounding twice, to f64 and then to f32, does not give back.
        let near: f64 = self.to_string().parse().unwrap_or(f64::NAN);
        if near as f32 == self { near } else { f64::from(self) }
    }

    fn narrowed(wide: f64) -> f32 {
        wide as f32
    }

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn all_of(bytes: &[u8]) -> Option<Vec<f32>> {
        let (entries, rest) = bytes.as_chunks();
        rest.is_empty().then(|| entries.iter().map(|entry| f32::from_le_bytes(*entry)).collect())
    }
}

const NAN: &str = "NaN";
const INFINITE: &str = "inf";
const MINUS_INFINITE: &str = "-inf";

/// A number, alone or in a list.
struct Number<R>(R);

impl<R: Real> Serialize for Number<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wide = self.0.widened();
        if wide.is_finite() {
            serializer.serialize_f64(wide)
        } else {
            serializer.serialize_str(match wide {
                f64::INFINITY => INFINITE,
                f64::NEG_INFINITY => MINUS_INFINITE,
                _ => NAN,
            })
        }
    }
}

impl<'de, R: Real> Deserialize<'de> for Number<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wide;
        impl Visitor<'_> for Wide {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a number, {NAN:?}, {INFINITE:?} or {MINUS_INFINITE:?}")
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
                Ok(number)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
                Ok(number as f64)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
                Ok(number as f64)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
                match text {
                    NAN => Ok(f64::NAN),
                    INFINITE => Ok(f64::INFINITY),
                    MINUS_INFINITE => Ok(f64::NEG_INFINITY),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Wide).map(|wide| Number(R::narrowed(wide)))
    }
}

/// The serialised form of an `f32` or `f64`.
pub mod number {
    use super::{Deserialize, Deserializer, Number, Real, Serialize, Serializer};

    /// Writes a number.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<R: Real, S: Serializer>(number: &R, serializer: S) -> Result<S::Ok, S::Error> {
        Number(*number).serialize(serializer)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// If the data is not a number.
    pub fn deserialize<'de, R: Real, D: Deserializer<'de>>(deserializer: D) -> Result<R, D::Error> {
        Number::deserialize(deserializer).map(|Number(number)| number)
    }
}

/// The form of a `Vec` of `f32` or `f64`, or an `Arc` of them.
///
/// A short one is a list of numbers. A long one is a string, `f32:` or `f64:` followed by the Base64 of its
/// little-endian bytes: less than half as long, many times as fast, and exact even to the bits of a NaN.
pub mod numbers {
    use super::{Deserializer, Error, Many, Number, PhantomData, Real, Serializer};
    use data_encoding::BASE64;

    /// Longest array that is written as a list, which a person can read in the file.
    pub const LISTED_MAX: usize = 64;

    /// Writes numbers.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<R: Real, S: Serializer>(numbers: &[R], serializer: S) -> Result<S::Ok, S::Error> {
        if numbers.len() <= LISTED_MAX {
            return serializer.collect_seq(numbers.iter().map(|number| Number(*number)));
        }
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        numbers.iter().for_each(|number| number.append_to(&mut bytes));
        let mut text = R::PREFIX.to_owned();
        BASE64.encode_append(&bytes, &mut text);
        serializer.serialize_str(&text)
    }

    /// Reads numbers.
    ///
    /// # Errors
    /// If the data is neither form.
    pub fn deserialize<'de, R, L, D>(deserializer: D) -> Result<L, D::Error>
    where
        R: Real,
        L: From<Vec<R>>,
        D: Deserializer<'de>,
    {
        deserializer.deserialize_any(Many(PhantomData)).map(L::from)
    }

    pub(super) fn decode<R: Real, E: Error>(text: &str) -> Result<Vec<R>, E> {
        let bytes = text.strip_prefix(R::PREFIX).and_then(|text| BASE64.decode(text.as_bytes()).ok());
        let numbers = bytes.and_then(|bytes| R::all_of(&bytes));
        numbers.ok_or_else(|| E::custom(format_args!("expected {:?} and numbers in Base64", R::PREFIX)))
    }
}

struct Many<R>(PhantomData<R>);

impl<'de, R: Real> Visitor<'de> for Many<R> {
    type Value = Vec<R>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a list of numbers, or {:?} and their Base64", R::PREFIX)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<R>, A::Error> {
        let mut numbers = Vec::new();
        while let Some(Number(number)) = entries.next_element()? {
            numbers.push(number);
        }
        Ok(numbers)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<R>, E> {
        numbers::decode(text)
    }
}

/// The serialised form of an `Arc`, which is the form of its content. Serde's feature `rc` does the same, but would be
/// enabled for every crate.
pub mod shared {
    use super::{Arc, Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the content.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<T: ?Sized + Serialize, S: Serializer>(shared: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
        (**shared).serialize(serializer)
    }

    /// Reads the content.
    ///
    /// # Errors
    /// If the data is not of this type.
    pub fn deserialize<'de, T: ?Sized, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<T>, D::Error>
    where
        Box<T>: Deserialize<'de>,
    {
        Box::deserialize(deserializer).map(Arc::from)
    }
}

/// The serialised form of an optional `Arc`.
pub mod maybe_shared {
    use super::{Arc, Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the content, if there is one.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<T, S>(shared: &Option<Arc<T>>, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: ?Sized + Serialize,
        S: Serializer,
    {
        shared.as_deref().serialize(serializer)
    }

    /// Reads the content, if there is one.
    ///
    /// # Errors
    /// If the data is not of this type.
    pub fn deserialize<'de, T: ?Sized, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<T>>, D::Error>
    where
        Box<T>: Deserialize<'de>,
    {
        Option::<Box<T>>::deserialize(deserializer).map(|shared| shared.map(Arc::from))
    }
}

/// Reads at most `MOST` items of a list, for `#[serde(deserialize_with = "…")]`, and ignores the rest, which may be
/// anything. A file from elsewhere can have millions of small items, which take more memory than they take space in the
/// file.
///
/// # Errors
/// If the data is not a list, or one of the first items is not of the type.
pub fn beginning<'de, const MOST: usize, D, T>(list: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Beginning<const MOST: usize, T>(PhantomData<T>);

    impl<'de, const MOST: usize, T: Deserialize<'de>> Visitor<'de> for Beginning<MOST, T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while items.len() < MOST {
                match list.next_element()? {
                    Some(item) => items.push(item),
                    None => return Ok(items),
                }
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(items)
        }
    }

    list.deserialize_seq(Beginning::<MOST, T>(PhantomData))
}
