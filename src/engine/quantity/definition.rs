//! Definition of a quantity: names, indices and meanings.

use crate::numerics::params::TensorName;

/// Owners that a quantity may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    Model,
    Block,
    Head,
    /// A point on the stage.
    Point,
}

/// Things that an index of a quantity counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Words of the vocabulary.
    Word,
    /// Tokens that look.
    Query,
    /// Tokens that are looked at.
    Key,
    /// Entries of a vector.
    Dim,
    /// Places in a sentence, of `P`.
    Place,
    /// Rows and columns of a learned tensor, and rows of the answers.
    Row,
    Col,
    Class,
    /// Axes of the picture.
    Axis,
    /// Terms of a block's output that no head adds.
    Part,
}

/// How a quantity is called and counted.
///
/// Texts name what varies in braces: `{query}`, `{key}`, `{word}` and `{class}` a word, `{dim}` and `{place}` a
/// number, `{head}` the head, `{part}` a term that no head adds.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Symbol of the literature; `{}` is where block and head are named.
    pub symbol: &'static str,
    pub owner: OwnerKind,
    pub indices: &'static [Index],
    /// Name in code cells.
    pub code: Option<&'static str>,
    /// Name in the trace, of a block or a head.
    pub trace: Option<&'static str>,
    /// One entry within a formula; its full name where there is none.
    pub short: Option<&'static str>,
    /// Meaning of the whole tensor.
    pub meaning: &'static str,
    /// Meaning of one entry.
    pub entry: &'static str,
}

impl Definition {
    const fn new(owner: OwnerKind, symbol: &'static str, indices: &'static [Index]) -> Self {
        Self { symbol, owner, indices, code: None, trace: None, short: None, meaning: "", entry: "" }
    }

    pub(super) const fn of_model(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Model, symbol, indices)
    }

    pub(super) const fn of_block(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Block, symbol, indices)
    }

    pub(super) const fn of_head(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Head, symbol, indices)
    }

    pub(super) fn of_parameter(name: TensorName) -> Self {
        let of = if name.is_of_a_block() { Self::of_block } else { Self::of_model };
        let indices = &[Index::Row, Index::Col];
        of(name.symbol(), indices).means(name.purpose()).entry("a learned weight: {weight}")
    }

    pub(super) const fn of_point(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Point, symbol, indices)
    }

    pub(super) const fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    pub(super) const fn trace(self, trace: &'static str) -> Self {
        Self { trace: Some(trace), ..self }
    }

    pub(super) const fn short(self, short: &'static str) -> Self {
        Self { short: Some(short), ..self }
    }

    pub(super) const fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    pub(super) const fn entry(self, entry: &'static str) -> Self {
        Self { entry, ..self }
    }

    /// The symbol without block and head: `Q Kᵀ`.
    pub fn letter(self) -> String {
        self.symbol.replace("{}", "")
    }

    pub fn counts(self, index: Index) -> bool {
        self.indices.contains(&index)
    }
}

/// The symbol of a learned tensor in LaTeX.
pub fn latex(name: TensorName) -> String {
    name.symbol().replace('γ', "\\gamma").replace('β', "\\beta").replace("_logits", "_Z")
}
