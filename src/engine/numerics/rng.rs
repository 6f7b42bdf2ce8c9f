//! The only source of randomness: a seeded generator for each purpose, so that drawing more numbers for one purpose
//! does not change those of another.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// xoshiro256++, which is small, fast, and the same on every platform.
pub type Generator = Xoshiro256PlusPlus;

/// The purposes that random numbers are drawn for.
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
    StaticSubsampling,
    Generation,
    CodeCells,
    Perturbation,
}

/// Returns the generator of a seed for one purpose.
pub fn stream(seed: u64, stream: Stream) -> Generator {
    part(seed, stream, 0)
}

/// Returns the generator of one of several threads or calls that draw for the same purpose; number 0 has the generator
/// of [`stream`].
pub fn part(seed: u64, stream: Stream, thread: usize) -> Generator {
    // Odd constants (SplitMix64's increment and one of its multipliers) keep neighbouring seeds, streams and threads
    // apart.
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    const MIXER: u64 = 0xbf58_476d_1ce4_e5b9;
    let stream = (stream as u64 + 1).wrapping_mul(GOLDEN_RATIO);
    Generator::seed_from_u64(seed ^ stream ^ (thread as u64).wrapping_mul(MIXER))
}
