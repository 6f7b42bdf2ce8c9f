//! Lessons and how they run: text becomes values, commands change the running lesson, snapshots show its state, and
//! work is saved.
//!
//! | module | job | start at |
//! |---|---|---|
//! | [`lesson`] | RON text -> checked values, every issue with its place | [`lesson::schema`] |
//! | [`kernel`] | the running lesson: commands in, snapshots out | [`kernel::command`] |
//! | [`store`] | where the learner's work is kept: values in files | [`store`] |
//! | [`pattern`] | regular expressions that a learner writes: bounded, in linear time | |
//! | [`whole_file`] | files written as a whole or not at all | |

pub mod kernel;
pub mod lesson;
pub mod pattern;
pub mod store;
pub mod whole_file;

/// Returns the 64-bit FNV-1a hash of `bytes`. Unlike `std`'s hash, it is the same in every build and on every platform.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
