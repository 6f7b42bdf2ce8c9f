//! The memory that the vectors of a file may take: a multiple of the file's size plus a fixed amount. Memory is counted
//! before it is allocated.

use super::source::Source;
use crate::pretrained::refusal::Refusal;

/// Memory that any file may take. Small files need it, because words take more memory than their bytes, and zeros are
/// compressed to almost nothing.
const FREE_BYTES: u64 = 512 << 20;
/// Memory per byte of a plain file: 16-bit numbers become 32 bits wide.
const PLAIN_GROWTH: u64 = 2;
/// Memory per byte of a compressed file: vectors are compressed to a third at best.
const PACKED_GROWTH: u64 = 3;

/// A count of memory with a limit.
#[derive(Debug)]
pub struct Budget {
    taken: u64,
    most: u64,
}

impl Budget {
    /// Returns the budget for the vectors of a file, which depends on its size.
    pub fn of(source: &Source) -> Self {
        let growth = if source.is_packed() { PACKED_GROWTH } else { PLAIN_GROWTH };
        Self { taken: 0, most: FREE_BYTES.saturating_add(source.length().saturating_mul(growth)) }
    }

    /// Returns the bytes counted so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the bytes that are left.
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken)
    }

    /// Counts memory before it is allocated.
    ///
    /// # Errors
    /// If less is left.
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
