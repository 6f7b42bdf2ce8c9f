//! Numbers of a page as text, which `data.js` reads: exact, and a fifth shorter than Base64.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::{Serialize, Serializer};

pub(super) struct Numbers<'a>(pub Cow<'a, [f32]>);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(&self.0))
    }
}

/// The number of exponents that have a short code; this number itself is the code of all others.
const FREQUENT: u32 = 7;
/// The bits of a short code, an exponent, and a fraction.
const CODE: u32 = 3;
const EXPONENT: u32 = 8;
const FRACTION: u32 = f32::MANTISSA_DIGITS - 1;
const EXPONENTS: usize = 1 << EXPONENT;

/// Writes numbers bit by bit. Among trained numbers, few exponents are frequent; these take 3 bits each, and any other
/// takes 11 bits.
fn text(numbers: &[f32]) -> String {
    let exponent = |x: &f32| (x.to_bits() >> FRACTION) as usize % EXPONENTS;
    let mut counts = [0; EXPONENTS];
    numbers.iter().for_each(|x| counts[exponent(x)] += 1);
    let mut frequent: Vec<usize> = (0..EXPONENTS).collect();
    frequent.sort_by_key(|exponent| Reverse(counts[*exponent]));
    let mut codes = [FREQUENT; EXPONENTS];
    let mut out = BitText::default();
    out.push(numbers.len() as u32, FRACTION + 1);
    for (code, exponent) in (0..FREQUENT).zip(frequent) {
        codes[exponent] = code;
        out.push(exponent as u32, EXPONENT);
    }
    for x in numbers {
        let exponent = exponent(x);
        out.push(codes[exponent], CODE);
        if codes[exponent] == FREQUENT {
            out.push(exponent as u32, EXPONENT);
        }
        out.push(u32::from(x.is_sign_negative()), 1);
        out.push(x.to_bits() % (1 << FRACTION), FRACTION);
    }
    out.finish()
}

/// The digits, none of which has a meaning in JSON or in markup.
const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%()*+,-./:;=?@[]^_`{";

/// A text of bits, in which five digits are 32 bits.
#[derive(Default)]
struct BitText {
    text: String,
    /// The bits that are not written yet, below older ones.
    held: u64,
    bits: u32,
}

impl BitText {
    fn push(&mut self, value: u32, bits: u32) {
        self.held = (self.held << bits) | u64::from(value);
        self.bits += bits;
        if self.bits >= u32::BITS {
            self.bits -= u32::BITS;
            let word = (self.held >> self.bits) as u32;
            let digit = |place: u32| char::from(DIGITS[(word / 85_u32.pow(place) % 85) as usize]);
            self.text.extend((0..5).rev().map(digit));
        }
    }

    fn finish(mut self) -> String {
        if self.bits > 0 {
            self.push(0, u32::BITS - self.bits);
        }
        self.text
    }
}
