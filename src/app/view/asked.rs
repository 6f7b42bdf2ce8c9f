//! Places that a link in a text leads to, until the panel that has them takes them.

use attune_engine::numerics::params::TensorId;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// An entry of a learned tensor, with its row and column: the weights panel shows it.
    pub weight: Option<(TensorId, usize, usize)>,
    /// A cell of the notebook.
    pub cell: Option<String>,
}
