//! Plain values that snapshots are made of. They name no other module of the kernel.

pub mod answers;
pub mod neighbours;
pub mod pair;
pub mod progress;
pub mod senses;
pub mod sentence;
pub mod shares;
pub mod sinks;
pub mod space;
pub mod tensor_entries;
pub mod token;
pub mod vocabulary;
pub mod word_group;
