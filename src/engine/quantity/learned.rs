//! The learned tensors, for readers: definition and LaTeX of each.

use super::{Definition, Index};
use crate::numerics::params::TensorName;

pub(super) fn definition(name: TensorName) -> Definition {
    let indices = &[Index::Row, Index::Col];
    let of = if name.is_of_a_block() { Definition::of_block } else { Definition::of_model };
    of(name.symbol(), indices).means(name.purpose()).entry("a learned weight: {weight}")
}

/// The symbol in LaTeX.
pub fn latex(name: TensorName) -> String {
    name.symbol().replace('γ', "\\gamma").replace('β', "\\beta").replace("_logits", "_Z")
}
