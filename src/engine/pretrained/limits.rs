//! The largest sizes of a model that is read.

/// Largest size of a `config.json` in bytes.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Largest size in bytes of all numbers in memory, where the two-byte weights of a file also take two bytes each.
pub const MODEL_BYTES_MAX: u64 = 2 << 30;
pub const LAYERS_MAX: usize = 128;
pub const WIDTH_MAX: usize = 8192;
pub const HEADS_MAX: usize = 256;
pub const HIDDEN_MAX: usize = 4 * WIDTH_MAX;
pub const VOCABULARY_MAX: usize = 1_000_000;
pub const POSITIONS_MAX: usize = 65_536;
pub const TYPES_MAX: usize = 1024;
/// Largest number of buckets of distances.
pub const BUCKETS_MAX: usize = 4096;
