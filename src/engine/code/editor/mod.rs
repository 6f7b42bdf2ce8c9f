//! Support for editors of code cells: colours, keys, the names in scope and their completion.

pub mod editing;
pub mod highlight;
pub mod scope;
