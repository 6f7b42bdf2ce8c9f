//! Files of tensors in the format safetensors: 8 bytes that say how long the header is, the header in JSON
//! ([`header`]), and the tensors' bytes, row-major and one behind the other.
//!
//! A file is read once, from its beginning to its end ([`Source`]): tensor by tensor into the place that each will
//! have, so that nothing larger than a small buffer stands beside the model, and its SHA-256 is of the very bytes that
//! were used.

pub mod dtype;
pub mod header;
pub mod shards;
pub mod write;

pub use dtype::Dtype;
pub use header::{Header, Tensor};

use std::io::Read;
use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::refusal::Refusal;

/// Bytes that are read at once: few enough to stay in the processor's cache on their way.
const CHUNK: usize = 1 << 18;

/// A file that is read from its beginning to its end.
pub struct Source<R> {
    from: R,
    header: Header,
    hash: Hash,
    /// Tensors that are read or passed.
    done: usize,
    reader: Reader,
}

/// Room for a piece of a tensor.
#[derive(Default)]
pub struct Reader {
    bytes: Vec<u8>,
    numbers: Vec<f32>,
}

impl Reader {
    /// Reads a tensor whose bytes come next: `each` gets its numbers piece by piece, always whole rows of so many, and
    /// the number of the first row. It returns `false` to end the reading, which this then returns too.
    ///
    /// # Errors
    /// If the bytes end or cannot be read, the tensor's numbers are of a kind that is not read, or one of them is not
    /// finite.
    pub fn read(
        &mut self,
        from: &mut impl Read,
        tensor: &Tensor,
        cols: usize,
        each: &mut dyn FnMut(usize, &[f32]) -> bool,
    ) -> Result<bool, Refusal> {
        let refused = |refusal: Refusal| refusal.of_tensor(&tensor.name);
        let size = tensor.dtype.bytes_read().ok_or_else(|| refused(not_read(tensor.dtype)))?;
        let row_bytes = (cols * size).max(1) as u64;
        let chunk = (CHUNK as u64 / row_bytes).max(1) * row_bytes;
        let (mut left, mut row) = (tensor.bytes(), 0);
        while left > 0 {
            let count = left.min(chunk);
            self.bytes.resize(usize::try_from(count).unwrap_or_default(), 0);
            from.read_exact(&mut self.bytes).map_err(|error| refused(Refusal::unreadable(&error)))?;
            tensor.dtype.widen(&self.bytes, &mut self.numbers);
            if let Some(at) = first_not_finite(&self.numbers) {
                let index = index_of(row * cols + at, &tensor.shape);
                let found = format!("{} at {index:?}", self.numbers[at]);
                let advice = "the training of this model went wrong, or its numbers do not fit 32 bits";
                return Err(refused(Refusal::new(found, "finite numbers", advice)));
            }
            if !each(row, &self.numbers) {
                return Ok(false);
            }
            left -= count;
            row += usize::try_from(count / row_bytes).unwrap_or_default();
        }
        Ok(true)
    }
}

/// Numbers of a kind that cannot be weights here.
pub fn not_read(dtype: Dtype) -> Refusal {
    let kinds: Vec<&str> = Dtype::READ.iter().map(|dtype| dtype.name()).collect();
    let found = format!("numbers of the kind {}", dtype.name());
    Refusal::new(found, kinds.join(", "), "save the model anew in one of these")
}

/// The SHA-256 of bytes that come piece by piece.
enum Hash {
    Here(Sha256),
    /// Worked out on a thread of its own, while the next bytes are read and put where they belong.
    Beside {
        pieces: SyncSender<Vec<u8>>,
        whole: JoinHandle<Sha256>,
    },
}

impl Hash {
    /// Pieces that wait to be hashed.
    const WAITING_MAX: usize = 4;

    fn beside(self) -> Self {
        let Self::Here(mut hash) = self else { return self };
        let (pieces, incoming) = sync_channel::<Vec<u8>>(Self::WAITING_MAX);
        let whole = thread::spawn(move || {
            incoming.iter().for_each(|piece| hash.update(piece));
            hash
        });
        Self::Beside { pieces, whole }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Here(hash) => hash.update(bytes),
            // The thread ends only once the sender is gone; if it panicked, `finish` says so.
            Self::Beside { pieces, .. } => drop(pieces.send(bytes.to_vec())),
        }
    }

    fn finish(self) -> String {
        let hash = match self {
            Self::Here(hash) => hash,
            Self::Beside { pieces, whole } => {
                drop(pieces);
                whole.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        };
        HEXLOWER.encode(&hash.finalize())
    }
}

/// A reader whose bytes are counted into a hash.
struct Hashed<'a, R> {
    from: &'a mut R,
    hash: &'a mut Hash,
}

impl<R: Read> Read for Hashed<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(into)?;
        self.hash.update(&into[..count]);
        Ok(count)
    }
}

impl<R: Read> Source<R> {
    /// Reads the header of a file of so many bytes.
    ///
    /// # Errors
    /// If it is not one, or does not fit the file.
    pub fn open(mut from: R, length: u64) -> Result<Self, Refusal> {
        let mut hash = Hash::Here(Sha256::new());
        let header = Header::read(&mut Hashed { from: &mut from, hash: &mut hash }, length)?;
        Ok(Self { from, header, hash, done: 0, reader: Reader::default() })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The same with its SHA-256 worked out on a thread of its own: worth it for large files.
    #[must_use]
    pub fn hashed_beside(self) -> Self {
        Self { hash: self.hash.beside(), ..self }
    }

    /// The tensor that comes next in the file.
    pub fn next(&self) -> Option<&Tensor> {
        self.header.tensors.get(self.done)
    }

    /// Reads the next tensor, as [`Reader::read`] does.
    ///
    /// # Errors
    /// As there.
    pub fn read_next(&mut self, cols: usize, each: &mut dyn FnMut(usize, &[f32]) -> bool) -> Result<bool, Refusal> {
        let Some(tensor) = self.header.tensors.get(self.done) else { return Ok(true) };
        self.done += 1;
        let mut from = Hashed { from: &mut self.from, hash: &mut self.hash };
        self.reader.read(&mut from, tensor, cols, each)
    }

    /// Passes the next tensor: its bytes count for the hash only. `each` gets the number of those that
    /// were passed since it was called last, and may end it by `false`.
    ///
    /// # Errors
    /// If the file ends or cannot be read.
    pub fn skip_next(&mut self, each: &mut dyn FnMut(u64) -> bool) -> Result<bool, Refusal> {
        let Some(tensor) = self.header.tensors.get(self.done) else { return Ok(true) };
        self.done += 1;
        let mut left = tensor.bytes();
        while left > 0 {
            let count = left.min(CHUNK as u64);
            let bytes = &mut self.reader.bytes;
            bytes.resize(usize::try_from(count).unwrap_or_default(), 0);
            let mut from = Hashed { from: &mut self.from, hash: &mut self.hash };
            from.read_exact(bytes).map_err(|error| Refusal::unreadable(&error).of_tensor(&tensor.name))?;
            if !each(count) {
                return Ok(false);
            }
            left -= count;
        }
        Ok(true)
    }

    /// The SHA-256 of what was read, in hexadecimal digits: of the whole file behind its last tensor.
    pub fn sha256(self) -> String {
        self.hash.finish()
    }
}

fn first_not_finite(numbers: &[f32]) -> Option<usize> {
    // All at once first, which loops do in vectors: a number is not finite if its exponent is the highest.
    const EXPONENT: u32 = 0x7f80_0000;
    let highest = numbers.iter().fold(0, |highest, number| highest.max(number.to_bits() & EXPONENT));
    if highest < EXPONENT { None } else { numbers.iter().position(|number| !number.is_finite()) }
}

/// The index in each dimension of the `at`th number, row-major.
fn index_of(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&size| {
            let here = at % size.max(1);
            at /= size.max(1);
            here
        })
        .collect();
    index.reverse();
    index
}
