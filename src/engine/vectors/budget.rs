//! The memory that the vectors of a file may take: a multiple of the file, and some more. It is counted before it is taken.

use super::source::Source;
use crate::pretrained::refusal::Refusal;

/// The same for small files: words take more memory than their bytes, and zeros are packed into next to nothing.
const FREE_BYTES: u64 = 512 << 20;
/// Numbers of 16 bits become 32 bits wide ...
const PLAIN_GROWTH: u64 = 2;
/// ... and vectors are packed into a third of their bytes at best.
const PACKED_GROWTH: u64 = 3;

/// Memory that is counted against a bound.
#[derive(Debug)]
pub struct Budget {
    taken: u64,
    most: u64,
}

impl Budget {
    /// The budget of a file's vectors.
    pub fn of(source: &Source) -> Self {
        let growth = if source.is_packed() { PACKED_GROWTH } else { PLAIN_GROWTH };
        Self { taken: 0, most: FREE_BYTES.saturating_add(source.length().saturating_mul(growth)) }
    }

    /// Bytes that are counted.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes that may still be taken.
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken)
    }

    /// Counts memory that is taken next.
    ///
    /// # Errors
    /// If it is more than is left.
    pub fn take(&mut self, bytes: u64) -> Result<(), Refusal> {
        if bytes > self.left() {
            let most = self.most >> 20;
            let advice = "keep fewer rows, such as those of the most frequent words, or fewer columns of metadata";
            let found = format!("vectors that need more than {most} MB of memory");
            return Err(Refusal::new(found, format!("at most {most} MB, for a file of this size"), advice));
        }
        self.taken += bytes;
        Ok(())
    }
}
