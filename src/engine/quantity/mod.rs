//! The catalogue of quantities: every kind of number between words and answers, declared once.
//!
//! A [`Definition`] has the names of a quantity and the indices of its entries. Code cells, the trace, the panels
//! Variables, Weights and Fold, and provenance all take names from it. An [`Entry`] is one number of a quantity. How
//! entries are computed is explained by `explain` in the view crate.

use crate::numerics::model::Activations;
use crate::numerics::params::{TensorId, TensorName};
use crate::numerics::{Matrix, Scalar};

/// Declares the quantities: the name and definition of each.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident = $definition:expr;)*) => {
        /// A kind of number. The kinds are in the order of the forward pass, after the learned tensors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Quantity {
            /// An entry of a learned tensor.
            Parameter(TensorName),
            $($(#[$doc])* $name,)*
        }

        impl Quantity {
            /// All quantities except the learned tensors.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub fn definition(self) -> Definition {
                use Index::*;
                match self {
                    Self::Parameter(name) => Definition::of_parameter(name),
                    $(Self::$name => $definition,)*
                }
            }
        }
    };
}

quantities! {
    /// `E`, if it is not trained with the model; indexed by the row of the vocabulary.
    Static = Definition::of_model("E", &[Word, Dim]).code("E")
        .means("the static vectors of all words (V, D)")
        .entry("entry {dim} of the static vector of {word}");
    /// `P`, if it is not learned.
    Position = Definition::of_model("P", &[Place, Dim])
        .entry("entry {dim} of the vector of position {place}");
    /// `E + P + E_S` before the first block of a tower, if that sum is normed.
    Embedded = Definition::of_block("E + P", &[Query, Dim]).short("e[{dim}]")
        .entry("entry {dim} of the initial sum for {query}, before the norm");
    /// Input of a block.
    Input = Definition::of_block("X{}", &[Query, Dim]).code("X").trace("input").short("x[{dim}]")
        .means("the vectors of the sentence that attention takes as input (T, D)")
        .entry("entry {dim} of the input for {query}");
    /// Input of a block after its norm, if it is normed before the attention.
    Normed = Definition::of_block("Norm X{}", &[Query, Dim]).short("n[{dim}]")
        .entry("entry {dim} of the vector of {query} after the norm");
    Query = Definition::of_head("Q{}", &[Query, Dim]).code("Q").trace("Q").short("q[{dim}]")
        .means("the queries of all heads (H, T, d_k)")
        .entry("entry {dim} of the query of {query} in {head}");
    Key = Definition::of_head("K{}", &[Key, Dim]).code("K").trace("K").short("k[{dim}]")
        .means("the keys of all heads (H, T, d_k)")
        .entry("entry {dim} of the key of {key} in {head}");
    Value = Definition::of_head("V{}", &[Key, Dim]).code("V").trace("V").short("v[{dim}]")
        .means("the values of all heads (H, T, d_v)")
        .entry("entry {dim} of the value of {key} in {head}");
    /// `q · k`.
    Product = Definition::of_head("Q{} Kᵀ", &[Query, Key]).short("q·k")
        .entry("raw score: the dot product of the query of {query} and the key of {key} in {head}");
    /// Factor of all products of a head.
    Scale = Definition::of_head("scale", &[])
        .entry("the factor that multiplies the raw scores of {head}");
    /// `B[h, j − i] / τ`, added to a score for the distance from query to key.
    DistanceBias = Definition::of_head("B{}", &[Query, Key]).short("b({key})")
        .entry("what {head} adds to the score of {key} for {query}, because the key is {distance}");
    /// Scaled product plus the learned number of the distance; −∞ where masked.
    Score = Definition::of_head("S{}", &[Query, Key]).code("S").trace("scores").short("s({key})")
        .means("the scores of all heads, {scored} (H, T, T)")
        .entry("score of {key} for {query}, {scored}, in {head}");
    /// `exp(s − max s)`.
    Exponential = Definition::of_head("exp", &[Query, Key]).short("exp({key})")
        .entry("exp of the difference between the score of {key} and the row's largest score");
    /// `Σ exp(s − max s)`.
    RowSum = Definition::of_head("Σ exp", &[Query]).short("Σ")
        .entry("the sum by which the row of {query} is divided");
    Weight = Definition::of_head("A{}", &[Query, Key]).code("A").trace("weights").short("α({key})")
        .means("the attention weights of all heads; rows sum to 1 (H, T, T)")
        .entry("attention weight: how much {query} looks at {key} in {head}");
    Mix = Definition::of_head("M{}", &[Query, Dim]).code("M").trace("mix").short("m[{dim}]")
        .means("the mixes of all heads, A V (H, T, d_v)")
        .entry("entry {dim} of the mix of values for {query} in {head}");
    /// Factor that the learner set for a head's mix.
    Gain = Definition::of_head("gain{}", &[])
        .entry("the gain of {head}, by which its mix is multiplied");
    /// `α v W_O`: the contribution of a key to a query through a head.
    Term = Definition::of_head("α V{} W_O", &[Query, Key, Dim]).short("{key} in {head}")
        .entry("entry {dim} of what {key} adds to {query} through {head}");
    /// `L(α v W_O)`: the contribution at the block's output, after its norms.
    Arrow = Definition::of_head("Norm(α V{} W_O)", &[Query, Key, Dim]).short("{key} in {head}, normed")
        .entry("entry {dim} of what {key} adds to {query} through {head}, after the norm");
    /// Length of a key's contribution to a query through a head, at the block's output.
    TermLength = Definition::of_head("‖α V{} W_O‖", &[Query, Key])
        .entry("length of what {key} adds to {query} through {head}");
    /// Length of a key's contribution to a query through all heads of a block, at the block's output.
    WordLength = Definition::of_block("‖Σ_h α V{} W_O‖", &[Query, Key])
        .entry("length of what {key} adds to {query} through all heads");
    /// Length of a head's contribution to a query.
    HeadLength = Definition::of_head("‖M{} W_O‖", &[Query])
        .entry("length of what {head} adds to {query}");
    /// Length of a head's contribution to a query at the block's output, after its norms.
    HeadArrowLength = Definition::of_head("‖Norm(M{} W_O)‖", &[Query])
        .entry("length of what {head} adds to {query}, after the norm");
    /// A term of a block's output that does not come from a head.
    Part = Definition::of_block("part{}", &[Part, Query, Dim]).short("{part}[{dim}]")
        .entry("entry {dim} of the arrow of {query}: {part}");
    /// Length of a term of a block's output that does not come from a head.
    PartLength = Definition::of_block("‖part{}‖", &[Part, Query])
        .entry("length of the arrow of {query}: {part}");
    /// Length of a query's whole move in a block.
    MoveLength = Definition::of_block("‖Δ{}‖", &[Query])
        .entry("how far the layer moves {query}");
    /// `x + Σ α v W_O + b_O`.
    Summed = Definition::of_block("X{} + Δ", &[Query, Dim]).trace("summed").short("a[{dim}]")
        .entry("entry {dim} of the vector of {query} plus what the heads add");
    /// `A`, if the block norms the sum.
    Attended = Definition::of_block("Norm(X{} + Δ)", &[Query, Dim]).short("b[{dim}]")
        .entry("entry {dim} of the vector of {query} after the norm of the sum");
    /// `φ(… W_1 + b_1)` of the feed-forward layer; with a gate, the unit times `φ` of the gate.
    Hidden = Definition::of_block("H{}", &[Query, Dim]).short("h[{dim}]")
        .entry("hidden unit {dim} of the feed-forward layer for {query}");
    /// `A + F(A)`, if the block norms after its feed-forward layer.
    Joined = Definition::of_block("B{} + F", &[Query, Dim]).short("c[{dim}]")
        .entry("entry {dim} of the vector of {query} after the feed-forward layer and before the norm");
    /// Output of a block.
    Output = Definition::of_block("Y{}", &[Query, Dim]).code("Y").trace("output").short("y[{dim}]")
        .means("the contextual vectors (T, D)")
        .entry("entry {dim} of the vector of {query} that goes to the next layer");
    /// Output of the last block of a tower, after the norm that follows it, if there is one.
    Final = Definition::of_block("Norm Y", &[Query, Dim]).short("y[{dim}]")
        .entry("entry {dim} of the vector of {query} after the last norm");
    Logit = Definition::of_model("Z", &[Row, Class]).code("Z").short("z({class})")
        .means("the scores of the model's answers")
        .entry("the logit of {class}, its score before the softmax");
    /// Probability of one of the most likely answers.
    Probability = Definition::of_model("softmax Z", &[Row, Class])
        .entry("the probability that the model gives {class}");
    /// 1 where a query (row) sees a key (column), otherwise 0.
    Visible = Definition::of_model("visible", &[Query, Key]).code("visible")
        .means("1 where the query (the row) sees the key (the column), otherwise 0 (T, T)");
    Temperature = Definition::of_model("τ", &[]).code("temperature")
        .means("the number by which scores are divided");
    /// Coordinate of a point on the stage along an axis.
    Coordinate = Definition::of_point("point", &[Axis])
        .entry("{axis} coordinate of {point}{ when}");
    /// Cosine between the vector of a point and that of a word of the vocabulary.
    Cosine = Definition::of_point("cosine", &[Word])
        .entry("cosine of the angle between {point} {when} and the static vector of {word}");
    /// Distance from the vector of a point to that of a word of the vocabulary.
    Distance = Definition::of_point("distance", &[Word])
        .entry("distance from {point} {when} to the static vector of {word}");
}

impl Quantity {
    /// Returns the quantity's matrix in a forward pass, or `None` if the pass does not store one.
    pub fn matrix<S: Scalar>(self, activations: &Activations<S>, owner: Owner) -> Option<&Matrix<S>> {
        let block = || if let Owner::Block(number) = owner { activations.blocks.get(number) } else { None };
        let head = || if let Owner::Head(number) = owner { activations.heads().nth(number) } else { None };
        match self {
            Self::Embedded => match (owner, &activations.source) {
                (Owner::Block(0), Some(source)) => source.embedded.as_deref(),
                _ => activations.embedded.as_deref(),
            },
            Self::Final => match (owner, &activations.source) {
                (Owner::Block(number), Some(source)) if number + 1 < activations.blocks.len() => Some(&source.memory),
                _ => Some(&activations.output),
            },
            Self::Input => Some(&block()?.input),
            Self::Normed => block()?.normed.as_ref(),
            Self::Summed => Some(&block()?.summed),
            Self::Attended => block()?.attended.as_ref(),
            Self::Hidden => block()?.hidden.as_ref(),
            Self::Joined => block()?.joined.as_ref(),
            Self::Output => Some(&block()?.output),
            Self::Query => Some(&head()?.query),
            Self::Key => Some(&head()?.key),
            Self::Value => Some(&head()?.value),
            Self::Score => Some(&head()?.scores),
            Self::Weight => Some(&head()?.weights),
            Self::Mix => Some(&head()?.mix),
            // All others are learned, given, computed from other quantities, or single numbers.
            _ => None,
        }
    }
}

/// Owners that a quantity may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerKind {
    Model,
    Block,
    Head,
    /// A point on the stage.
    Point,
}

/// The things that an index of a quantity can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Words of the vocabulary.
    Word,
    /// Tokens that attend to others.
    Query,
    /// Tokens that are attended to.
    Key,
    /// Entries of a vector.
    Dim,
    /// Positions in a sentence, the rows of `P`.
    Place,
    /// Rows and columns of a learned tensor, or rows of the answers.
    Row,
    Col,
    Class,
    /// Axes of the picture.
    Axis,
    /// Terms of a block's output that do not come from a head.
    Part,
}

/// The names and indices of a quantity.
///
/// The texts contain placeholders in braces, among them `{query}`, `{key}`, `{word}` and `{class}` for a word, `{dim}`
/// and `{place}` for a number, `{head}` for the head, and `{part}` for a term that does not come from a head.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Symbol of the literature; `{}` is replaced by the block and head.
    pub symbol: &'static str,
    pub owner: OwnerKind,
    pub indices: &'static [Index],
    /// Name in code cells.
    pub code: Option<&'static str>,
    /// Name of the quantity of a block or head in the trace.
    pub trace: Option<&'static str>,
    /// Short form of one entry in a formula; without one, the entry's full name is used.
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

    const fn of_model(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Model, symbol, indices)
    }

    const fn of_block(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Block, symbol, indices)
    }

    const fn of_head(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Head, symbol, indices)
    }

    fn of_parameter(name: TensorName) -> Self {
        let of = if name.is_of_a_block() { Self::of_block } else { Self::of_model };
        let indices = &[Index::Row, Index::Col];
        of(name.symbol(), indices).means(name.purpose()).entry("a learned weight: {weight}")
    }

    const fn of_point(symbol: &'static str, indices: &'static [Index]) -> Self {
        Self::new(OwnerKind::Point, symbol, indices)
    }

    const fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    const fn trace(self, trace: &'static str) -> Self {
        Self { trace: Some(trace), ..self }
    }

    const fn short(self, short: &'static str) -> Self {
        Self { short: Some(short), ..self }
    }

    const fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    const fn entry(self, entry: &'static str) -> Self {
        Self { entry, ..self }
    }

    /// Returns the symbol without the block and head, such as `Q Kᵀ`.
    pub fn letter(self) -> String {
        self.symbol.replace("{}", "")
    }

    pub fn counts(self, index: Index) -> bool {
        self.indices.contains(&index)
    }
}

/// Returns the symbol of a learned tensor in LaTeX.
pub fn latex(name: TensorName) -> String {
    name.symbol().replace('γ', "\\gamma").replace('β', "\\beta").replace("_logits", "_Z")
}

/// Largest number of indices of a quantity.
const INDICES_MAX: usize = 3;

/// One number of a snapshot, identified by its quantity, its owner and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub quantity: Quantity,
    pub owner: Owner,
    /// Indices, as many as the quantity has; the rest are 0.
    pub index: [usize; INDICES_MAX],
}

/// The owner of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    Model,
    /// A block, counted over all blocks, those of the source first.
    Block(usize),
    /// A head, counted over all heads, those of the source first.
    Head(usize),
    Point(StagePoint),
}

/// A vector that is a point on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StagePoint {
    /// A word of the vocabulary.
    Word(usize),
    /// A token of the sentence before all blocks.
    Static(usize),
    /// A token of the sentence after a block that is not the last: the number of the token, then that of the block.
    After(usize, usize),
    /// A token of the sentence after all blocks.
    Contextual(usize),
}

impl Owner {
    /// Returns the number of the block or head; 0 for other owners.
    pub fn number(self) -> usize {
        match self {
            Self::Block(number) | Self::Head(number) => number,
            Self::Model | Self::Point(_) => 0,
        }
    }

    pub fn point(self) -> Option<StagePoint> {
        match self {
            Self::Point(point) => Some(point),
            _ => None,
        }
    }
}

impl Quantity {
    pub fn of_model<const N: usize>(self, index: [usize; N]) -> Entry {
        self.of(Owner::Model, index)
    }

    pub fn of_block<const N: usize>(self, block: usize, index: [usize; N]) -> Entry {
        self.of(Owner::Block(block), index)
    }

    pub fn of_head<const N: usize>(self, head: usize, index: [usize; N]) -> Entry {
        self.of(Owner::Head(head), index)
    }

    pub fn of_point(self, point: StagePoint, index: usize) -> Entry {
        self.of(Owner::Point(point), [index])
    }

    pub fn of<const N: usize>(self, owner: Owner, index: [usize; N]) -> Entry {
        debug_assert_eq!(self.definition().indices.len(), N, "{self:?} has another number of indices");
        let mut all = [0; INDICES_MAX];
        all[..N].copy_from_slice(&index);
        Entry { quantity: self, owner, index: all }
    }
}

impl Entry {
    /// Returns the entry of a learned tensor.
    pub fn parameter(tensor: TensorId, row: usize, col: usize) -> Self {
        Quantity::Parameter(tensor.name).of_block(tensor.block, [row, col])
    }

    /// Returns the learned tensor of the entry; `None` if its quantity is another.
    pub fn tensor(self) -> Option<TensorId> {
        match (self.quantity, self.owner) {
            (Quantity::Parameter(name), Owner::Block(block)) => Some(TensorName::of_block(name, block)),
            _ => None,
        }
    }

    /// Returns the entry that is `steps` further along the last index, such as another key or another entry of a
    /// vector. An entry without indices stays the same.
    #[must_use]
    pub fn along(mut self, steps: usize) -> Self {
        if let Some(last) = self.quantity.definition().indices.len().checked_sub(1) {
            self.index[last] += steps;
        }
        self
    }

    /// Returns the same entry of the head that is `steps` further on; the entry itself if its owner is not a head.
    #[must_use]
    pub fn of_later_head(mut self, steps: usize) -> Self {
        if let Owner::Head(head) = &mut self.owner {
            *head += steps;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_reads_is_explained() {
        for quantity in Quantity::ALL {
            let definition = quantity.definition();
            assert_eq!(definition.code.is_some(), !definition.meaning.is_empty(), "{quantity:?}");
            assert_ne!(definition.symbol, "");
        }
    }

    #[test]
    fn names_in_code_and_trace_stand_once() {
        let names = |name: fn(Definition) -> Option<&'static str>| {
            let mut names: Vec<_> = Quantity::ALL.iter().filter_map(|quantity| name(quantity.definition())).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{names:?}");
        };
        names(|definition| definition.code);
        names(|definition| definition.trace);
    }
}
