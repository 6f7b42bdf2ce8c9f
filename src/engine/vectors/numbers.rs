//! Number types in files, each read as the nearest `f32`: floating point of 2 to 8 bytes, and integers.

use half::{bf16, f16};

use crate::pretrained::safetensors::{Dtype, each};

/// The number type of an array in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    kind: Kind,
    /// Size of a number in bytes.
    pub size: usize,
    is_big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    /// The upper half of an `f32`.
    Brain,
    Signed,
    Unsigned,
}

impl Numbers {
    /// Returns the type that NumPy writes in this way, such as `<f4`; `None` if it is not a supported type.
    pub fn of_numpy(descr: &str) -> Option<Self> {
        let (order, kind) = descr.split_at_checked(1)?;
        let is_big_endian = match order {
            "<" | "=" | "|" => false,
            ">" => true,
            _ => return None,
        };
        let (kind, size) = match kind {
            "f2" => (Kind::Float, 2),
            "f4" => (Kind::Float, 4),
            "f8" => (Kind::Float, 8),
            // NumPy has no name for bfloat16; the package ml_dtypes saves it as two bytes.
            "V2" => (Kind::Brain, 2),
            "i1" => (Kind::Signed, 1),
            "i2" => (Kind::Signed, 2),
            "i4" => (Kind::Signed, 4),
            "i8" => (Kind::Signed, 8),
            "u1" => (Kind::Unsigned, 1),
            "u2" => (Kind::Unsigned, 2),
            "u4" => (Kind::Unsigned, 4),
            "u8" => (Kind::Unsigned, 8),
            _ => return None,
        };
        Some(Self { kind, size, is_big_endian })
    }

    /// Returns the type of a safetensors tensor; `None` if it is not supported.
    pub fn of_tensor(dtype: Dtype) -> Option<Self> {
        let kind = match dtype {
            Dtype::F16 | Dtype::F32 | Dtype::F64 => Kind::Float,
            Dtype::BF16 => Kind::Brain,
            Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => Kind::Signed,
            Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => Kind::Unsigned,
            _ => return None,
        };
        Some(Self { kind, size: dtype.bitsize() / 8, is_big_endian: false })
    }

    /// Little-endian `f32`.
    pub const F32: Self = Self { kind: Kind::Float, size: 4, is_big_endian: false };

    pub fn are_whole(self) -> bool {
        matches!(self.kind, Kind::Signed | Kind::Unsigned)
    }

    /// Returns a sentence for the report if the type is unusual for vectors.
    pub fn note(self, name: &str) -> Option<String> {
        match self.kind {
            Kind::Float => None,
            Kind::Brain if name.contains('V') => {
                Some(format!("numbers of the kind {name} are read as bfloat16, which NumPy saves so"))
            }
            Kind::Brain => None,
            Kind::Signed | Kind::Unsigned => Some(format!(
                "the numbers are whole ({name}) and are read as they are; if they were made from others by a scale, only \
                 directions and cosines are theirs"
            )),
        }
    }

    /// Appends the numbers, each as the nearest `f32`.
    pub fn widen(self, bytes: &[u8], into: &mut Vec<f32>) {
        match self.size {
            1 => into.extend(bytes.iter().map(|byte| self.of_byte(*byte))),
            2 => into.extend(each(bytes).map(|two| self.of_two(if self.is_big_endian { swapped(two) } else { two }))),
            4 => {
                into.extend(each(bytes).map(|four| self.of_four(if self.is_big_endian { swapped(four) } else { four })))
            }
            _ => into.extend(each(bytes).map(|all| self.of_eight(if self.is_big_endian { swapped(all) } else { all }))),
        }
    }

    /// Returns the integers as indices; `None` for each that is negative, too large or of a floating-point type.
    pub fn indices(self, bytes: &[u8]) -> Vec<Option<usize>> {
        let index = |bytes: &[u8]| {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            let is_negative = self.kind == Kind::Signed && bytes.last().is_some_and(|last| last >> 7 == 1);
            usize::try_from(u64::from_le_bytes(eight)).ok().filter(|_| self.are_whole() && !is_negative)
        };
        bytes.chunks_exact(self.size).map(index).collect()
    }

    fn of_byte(self, byte: u8) -> f32 {
        if self.kind == Kind::Signed { f32::from(byte.cast_signed()) } else { f32::from(byte) }
    }

    fn of_two(self, two: [u8; 2]) -> f32 {
        match self.kind {
            Kind::Float => f16::from_le_bytes(two).to_f32(),
            Kind::Brain => bf16::from_le_bytes(two).to_f32(),
            Kind::Signed => f32::from(i16::from_le_bytes(two)),
            Kind::Unsigned => f32::from(u16::from_le_bytes(two)),
        }
    }

    fn of_four(self, four: [u8; 4]) -> f32 {
        match self.kind {
            Kind::Float | Kind::Brain => f32::from_le_bytes(four),
            Kind::Signed => i32::from_le_bytes(four) as f32,
            Kind::Unsigned => u32::from_le_bytes(four) as f32,
        }
    }

    fn of_eight(self, eight: [u8; 8]) -> f32 {
        match self.kind {
            Kind::Float | Kind::Brain => f64::from_le_bytes(eight) as f32,
            Kind::Signed => i64::from_le_bytes(eight) as f32,
            Kind::Unsigned => u64::from_le_bytes(eight) as f32,
        }
    }
}

fn swapped<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    bytes.reverse();
    bytes
}
