//! Decimal numbers of text files, read as `f32` and rounded once.

/// Largest integer up to which every integer is exact in `f32`, 2^24.
const EXACT_MAX: u64 = 1 << 24;
/// Powers of ten that are exact in `f32`. The quotient of two exact numbers is rounded once, to the nearest (Clinger
/// 1990).
const POWERS: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];

/// Returns the nearest `f32` to the number that the bytes spell, or `None` if they are not a number.
pub fn parse(bytes: &[u8]) -> Option<f32> {
    short(bytes).or_else(|| std::str::from_utf8(bytes).ok()?.parse().ok())
}

/// Reads a number of few digits with at most one point, as most files of vectors have them.
fn short(bytes: &[u8]) -> Option<f32> {
    let (is_negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut whole, mut after_point, mut seen) = (0_u64, None, 0_usize);
    for &byte in digits {
        match byte {
            b'0'..=b'9' if seen < DIGITS_MAX => {
                whole = whole * 10 + u64::from(byte - b'0');
                seen += 1;
                after_point = after_point.map(|count: usize| count + 1);
            }
            b'.' if after_point.is_none() => after_point = Some(0),
            _ => return None,
        }
    }
    let power = POWERS.get(after_point.unwrap_or_default()).filter(|_| seen > 0 && whole <= EXACT_MAX)?;
    let number = whole as f32 / power;
    Some(if is_negative { -number } else { number })
}

/// Number of digits up to which the integer cannot overflow.
const DIGITS_MAX: usize = 18;

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::numerics::rng::{Stream, stream};

    #[test]
    fn numbers_are_those_of_the_standard_library_to_the_last_bit() {
        let mut rng = stream(1, Stream::ModelInit);
        for _ in 0..200_000 {
            let (digits, value) = (rng.random_range(0..12_usize), rng.random_range(-30.0f64..30.0));
            let text = format!("{value:.digits$}");
            assert_eq!(parse(text.as_bytes()).map(f32::to_bits), text.parse().ok().map(f32::to_bits), "{text}");
        }
        for text in ["-0", ".5", "5.", "1e-5", "-1.5E+3", "16777217", "16777216", "1e400", "nan", "-inf", "+2"] {
            assert_eq!(parse(text.as_bytes()).map(f32::to_bits), text.parse().ok().map(f32::to_bits), "{text}");
        }
        for text in ["", "-", ".", "1.2.3", "1,5", "king", "--1", "1 ", "0x10"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(&[0xff, b'1']), None);
    }
}
