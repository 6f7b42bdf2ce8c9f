//! Shared values in written form, for `#[serde(with = "…")]`: an `Arc` is written as what it holds.
//!
//! Serde's own way, its feature `rc`, would be on for every crate of the tree.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// # Errors
/// If the serializer fails.
pub fn serialize<T: ?Sized + Serialize, S: Serializer>(shared: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
    (**shared).serialize(serializer)
}

/// # Errors
/// If the data is not of this type.
pub fn deserialize<'de, T: ?Sized, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<T>, D::Error>
where
    Box<T>: Deserialize<'de>,
{
    Box::deserialize(deserializer).map(Arc::from)
}

/// The same for an optional value.
pub mod maybe {
    use super::{Arc, Deserialize, Deserializer, Serialize, Serializer};

    /// # Errors
    /// If the serializer fails.
    pub fn serialize<T, S>(shared: &Option<Arc<T>>, serializer: S) -> Result<S::Ok, S::Error>
    where
        T: ?Sized + Serialize,
        S: Serializer,
    {
        shared.as_deref().serialize(serializer)
    }

    /// # Errors
    /// If the data is not of this type.
    pub fn deserialize<'de, T: ?Sized, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<T>>, D::Error>
    where
        Box<T>: Deserialize<'de>,
    {
        Option::<Box<T>>::deserialize(deserializer).map(|shared| shared.map(Arc::from))
    }
}
