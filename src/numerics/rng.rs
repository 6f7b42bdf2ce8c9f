//! The one source of randomness: a seeded generator for each purpose, so that drawing more for
//! one purpose does not move the others.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// xoshiro256++: small, fast, and the same on every platform.
pub type Generator = Xoshiro256PlusPlus;

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Corpus,
    StaticInit,
    StaticOrder,
    StaticWindows,
    StaticNegatives,
    ModelInit,
    Batches,
    Masking,
    Generation,
}

/// The generator of one stream of a seed.
pub fn stream(seed: u64, stream: Stream) -> Generator {
    // SplitMix64's odd constant keeps the streams of neighbouring seeds apart.
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    Generator::seed_from_u64(seed ^ (stream as u64 + 1).wrapping_mul(GOLDEN_RATIO))
}
