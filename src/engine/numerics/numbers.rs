//! The numbers of packed weights and of tables in memory, and the operands of products with them: plain data, which
//! [`Scalar`](super::Scalar) uses in its interface.

/// Number of columns of a panel: two of the widest registers.
pub const PANEL: usize = 32;

/// The type of packed numbers in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberType {
    /// The type of the arithmetic, `f32` or `f64`.
    #[default]
    Whole,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE 754's half precision; a matrix with an infinity or NaN is stored as [`Self::Whole`] instead.
    F16,
}

/// Numbers in the type in which they are stored: the type of the arithmetic, or the bits of two-byte numbers.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<W, H> {
    Whole(W),
    Bf16(H),
    F16(H),
}

impl<W, H> Numbers<W, H> {
    pub fn new(kind: NumberType, whole: impl FnOnce() -> W, half: impl FnOnce() -> H) -> Self {
        match kind {
            NumberType::Whole => Self::Whole(whole()),
            NumberType::Bf16 => Self::Bf16(half()),
            NumberType::F16 => Self::F16(half()),
        }
    }

    #[inline(always)]
    pub fn as_ref(&self) -> Numbers<&W, &H> {
        match self {
            Self::Whole(whole) => Numbers::Whole(whole),
            Self::Bf16(half) => Numbers::Bf16(half),
            Self::F16(half) => Numbers::F16(half),
        }
    }

    #[inline(always)]
    pub fn map<X, Y>(self, whole: impl FnOnce(W) -> X, half: impl FnOnce(H) -> Y) -> Numbers<X, Y> {
        match self {
            Self::Whole(numbers) => Numbers::Whole(whole(numbers)),
            Self::Bf16(numbers) => Numbers::Bf16(half(numbers)),
            Self::F16(numbers) => Numbers::F16(half(numbers)),
        }
    }
}

/// The operands of the product `Y = X W + b` with packed weights, and the rows for its result.
pub struct Product<'a, S> {
    /// Rows of `X`, each `count` long.
    pub x: Vec<&'a [S]>,
    /// Rows of all panels, one panel after the other.
    pub panels: Numbers<&'a [[S; PANEL]], &'a [[u16; PANEL]]>,
    /// Number of rows of each panel.
    pub stride: usize,
    /// First row of a panel that is used; the next field is the number of rows from there.
    pub first: usize,
    pub count: usize,
    /// `b`; empty if there is none.
    pub b: &'a [S],
    /// Rows of `Y`.
    pub y: Vec<&'a mut [S]>,
}

/// A borrowed table, or rows of a model's own parameters.
#[derive(Clone, Copy, Debug)]
pub struct TableRef<'a, S> {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) numbers: Numbers<&'a [S], &'a [u16]>,
}

/// The operands of the product `Z = X Eᵀ + b` with a range of the table's rows, and the places for its result.
pub struct TableProduct<'a, S> {
    pub x: TableRef<'a, S>,
    pub table: TableRef<'a, S>,
    /// `b`; empty if there is none.
    pub b: &'a [S],
    /// First row of the range; the next field is the end of the last one.
    pub first: usize,
    pub end: usize,
    /// The range's columns of each row of `Z`.
    pub z: Vec<&'a mut [S]>,
}
