//! The kinds of numbers that safetensors knows, and how those that attune reads become `f32`.

macro_rules! dtypes {
    ($($name:ident = $written:literal, $bits:literal;)*) => {
        /// The kind of a tensor's numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Dtype {
            $($name,)*
        }

        impl Dtype {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name in a header.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $written,)*
                }
            }

            /// Bits of one number.
            pub fn bits(self) -> u64 {
                match self {
                    $(Self::$name => $bits,)*
                }
            }
        }
    };
}

dtypes! {
    Bool = "BOOL", 8;
    F4 = "F4", 4;
    F6E2M3 = "F6_E2M3", 6;
    F6E3M2 = "F6_E3M2", 6;
    U8 = "U8", 8;
    I8 = "I8", 8;
    F8E5M2 = "F8_E5M2", 8;
    F8E4M3 = "F8_E4M3", 8;
    F8E8M0 = "F8_E8M0", 8;
    F8E4M3Fnuz = "F8_E4M3FNUZ", 8;
    F8E5M2Fnuz = "F8_E5M2FNUZ", 8;
    I16 = "I16", 16;
    U16 = "U16", 16;
    F16 = "F16", 16;
    BF16 = "BF16", 16;
    I32 = "I32", 32;
    U32 = "U32", 32;
    F32 = "F32", 32;
    C64 = "C64", 64;
    F64 = "F64", 64;
    I64 = "I64", 64;
    U64 = "U64", 64;
}

impl Dtype {
    /// The kinds that can be weights here.
    pub const READ: &[Self] = &[Self::F32, Self::F16, Self::BF16, Self::F64];

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one number that can be read; `None` for the others.
    pub fn bytes_read(self) -> Option<usize> {
        match self {
            Self::F16 | Self::BF16 => Some(2),
            Self::F32 => Some(4),
            Self::F64 => Some(8),
            _ => None,
        }
    }

    /// The numbers of so many bytes as `f32`, each the nearest; none of a kind that is not read.
    pub fn widen(self, bytes: &[u8], into: &mut Vec<f32>) {
        into.clear();
        match self {
            Self::F32 => into.extend(each(bytes).map(f32::from_le_bytes)),
            Self::F16 => into.extend(each(bytes).map(|two| half(u16::from_le_bytes(two)))),
            Self::BF16 => into.extend(each(bytes).map(|two| f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16))),
            Self::F64 => into.extend(each(bytes).map(|eight| f64::from_le_bytes(eight) as f32)),
            _ => {}
        }
    }
}

fn each<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// A number of IEEE 754's binary16, exactly.
fn half(bits: u16) -> f32 {
    /// From the one exponent's zero to the other's: 127 − 15 places.
    const BIAS: f32 = f32::from_bits((127 + 127 - 15) << 23);
    const INFINITE: u32 = 0x7c00;
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff);
    let magnitude = if rest < INFINITE {
        (f32::from_bits(rest << 13) * BIAS).to_bits() // subnormal ones too: a power of two loses nothing
    } else {
        f32::INFINITY.to_bits() | (rest & !INFINITE) << 13
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_the_number_of_the_standard() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
            let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
            let found = half(bits);
            match exponent {
                31 if fraction != 0.0 => assert!(found.is_nan(), "{bits:#x}"),
                31 => assert_eq!(f64::from(found), sign * f64::INFINITY, "{bits:#x}"),
                0 => assert_eq!(f64::from(found), sign * fraction * 2f64.powi(-24), "{bits:#x}"),
                _ => assert_eq!(f64::from(found), sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15)),
            }
        }
        assert_eq!(half(0x8000).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn names_are_those_of_the_format() {
        for &dtype in Dtype::ALL {
            assert_eq!(Dtype::of_name(dtype.name()), Some(dtype));
        }
        assert_eq!((Dtype::of_name("f32"), Dtype::ALL.len()), (None, 22));
        let mut widened = vec![9.0];
        Dtype::BF16.widen(&[0x80, 0x3f, 0x00, 0xc0], &mut widened);
        assert_eq!(widened, [1.0, -2.0]);
        Dtype::F64.widen(&1.5f64.to_le_bytes(), &mut widened);
        assert_eq!(widened, [1.5]);
    }
}
