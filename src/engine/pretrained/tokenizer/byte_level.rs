//! The alphabet of GPT-2's pieces: `bytes_to_unicode` of its `encoder.py`. Each byte has a character that can be seen,
//! most their own; a blank is `Ġ`.

use std::sync::LazyLock;

use super::text_char::TextChar;

/// The first character for bytes that have none of their own.
const REPLACEMENTS: u32 = 0x100;

fn has_own(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

/// The bytes that have no character of their own, in order.
fn replaced() -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|byte| !has_own(*byte))
}

/// A character for each byte.
static ALPHABET: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut alphabet: [char; 256] = std::array::from_fn(|byte| char::from(byte as u8));
    for (byte, replacement) in replaced().zip(REPLACEMENTS..) {
        alphabet[usize::from(byte)] = char::from_u32(replacement).unwrap_or_default();
    }
    alphabet
});

/// The byte that a character of the alphabet stands for.
fn byte(sign: char) -> Option<u8> {
    match u8::try_from(u32::from(sign)) {
        Ok(byte) => has_own(byte).then_some(byte),
        Err(_) => replaced().nth((u32::from(sign) - REPLACEMENTS) as usize),
    }
}

/// Characters spelled by their bytes. Each byte keeps the whole character as its place.
pub fn spelled(signs: &[TextChar]) -> Vec<TextChar> {
    let mut spelled = Vec::with_capacity(signs.len());
    for sign in signs {
        let mut bytes = [0; 4];
        let bytes = sign.value.encode_utf8(&mut bytes).as_bytes();
        spelled.extend(bytes.iter().map(|byte| sign.with(ALPHABET[usize::from(*byte)])));
    }
    spelled
}

/// The bytes of a piece; one that has other characters stands for itself.
pub fn bytes(piece: &str) -> Vec<u8> {
    piece.chars().map(byte).collect::<Option<_>>().unwrap_or_else(|| piece.as_bytes().to_vec())
}
