//! The Fold panel: one complete block of attention, with its matrices folded into heads and the heads joined again.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::snapshot::sentence::subscript;
use attune_core::kernel::snapshot::{SentenceSnapshot, Snapshot, StaticSpace};
use attune_core::lesson::schema::Group;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::moves::{Moves, Point, point};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::projection::Projection;
use attune_engine::quantity::{Entry, Index, Quantity};

use super::labels::HeadLabels;
use super::stage::crowd_of;
use crate::explain::reader::memory_of;
use crate::explain::walk::Step;

/// The role to which a word's vector is projected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProjectedRole {
    Query,
    Key,
    Value,
}

impl ProjectedRole {
    pub const ALL: [Self; 3] = [Self::Query, Self::Key, Self::Value];

    /// Returns the name of the projection's matrix.
    pub fn weights(self) -> TensorName {
        match self {
            Self::Query => TensorName::QueryWeights,
            Self::Key => TensorName::KeyWeights,
            Self::Value => TensorName::ValueWeights,
        }
    }

    fn matrix(self, head: &HeadActivations<f32>) -> &Matrix<f32> {
        match self {
            Self::Query => &head.query,
            Self::Key => &head.key,
            Self::Value => &head.value,
        }
    }

    /// Returns the role's vectors of all heads as points, along their own principal axes.
    fn points(self, heads: &[HeadActivations<f32>]) -> Vec<Point> {
        let parts: Vec<&Matrix<f32>> = heads.iter().map(|head| self.matrix(head)).collect();
        let (rows, cols) = (parts[0].rows(), parts[0].cols());
        let all = Matrix::from_fn(rows, cols * parts.len(), |row, col| parts[col / cols].row(row)[col % cols]);
        let points = Projection::principal_components(&all).points(&all);
        (0..rows).map(|row| point(points.row(row))).collect()
    }

    /// Returns the sheet of a head's queries, keys or values.
    pub fn of_head(self, own: usize) -> Sheet {
        match self {
            Self::Query => Sheet::Query(own),
            Self::Key => Sheet::Key(own),
            Self::Value => Sheet::Value(own),
        }
    }
}

/// A matrix, or a head's slice of one. Heads are counted within the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sheet {
    /// `X` (T, D)
    Input,
    /// The input of queries, keys or values, (T, D): `X`, after the norm if the block norms first, or the words `Z` of
    /// the source.
    Projected(ProjectedRole),
    /// The head's columns of `W_Q`, `W_K` or `W_V`, (D, d)
    RoleWeights(ProjectedRole, usize),
    /// `Q_h` (T, d_k)
    Query(usize),
    /// `K_h` (T_k, d_k)
    Key(usize),
    /// `V_h` (T_k, d_v)
    Value(usize),
    /// `Q_h K_hᵀ` (T, T_k)
    Product(usize),
    /// `S_h` (T, T_k): the scaled products, with the distance bias; −∞ for hidden keys.
    Score(usize),
    /// `A_h` (T, T_k)
    Weight(usize),
    /// `M_h` (T, d_v)
    Mix(usize),
    /// The head's rows of `W_O`, (d_v, D)
    OutputWeights(usize),
    /// `Y` (T, D)
    Output,
}

impl Sheet {
    /// Returns the quantity that the sheet shows, and the head's index within the block; `None` for a sheet of the
    /// whole block.
    fn quantity(self) -> (Quantity, Option<usize>) {
        match self {
            Self::Input | Self::Projected(_) => (Quantity::Input, None),
            Self::RoleWeights(role, own) => (Quantity::Parameter(role.weights()), Some(own)),
            Self::Query(own) => (Quantity::Query, Some(own)),
            Self::Key(own) => (Quantity::Key, Some(own)),
            Self::Value(own) => (Quantity::Value, Some(own)),
            Self::Product(own) => (Quantity::Product, Some(own)),
            Self::Score(own) => (Quantity::Score, Some(own)),
            Self::Weight(own) => (Quantity::Weight, Some(own)),
            Self::Mix(own) => (Quantity::Mix, Some(own)),
            Self::OutputWeights(own) => (Quantity::Parameter(TensorName::OutputWeights), Some(own)),
            Self::Output => (Quantity::Output, None),
        }
    }

    fn counts(self, index: Index) -> bool {
        self.quantity().0.definition().counts(index)
    }

    /// Returns the symbol of the whole matrix, such as `Q`, of which a head may have a slice.
    pub fn letter(self) -> String {
        self.quantity().0.definition().letter().replace(' ', "")
    }
}

/// The entries of a sheet: a matrix, or some of its rows or columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SheetEntries<'a> {
    pub rows: usize,
    pub cols: usize,
    /// The values, beginning with the first entry. Each row begins `stride` values after the one before it.
    values: &'a [f32],
    stride: usize,
}

impl<'a> SheetEntries<'a> {
    pub fn row(&self, row: usize) -> &'a [f32] {
        &self.values[row * self.stride..][..self.cols]
    }

    /// Returns the values, row by row.
    pub fn values(self) -> impl Iterator<Item = &'a f32> {
        (0..self.rows).flat_map(move |row| self.row(row))
    }
}

impl<'a> From<&'a Matrix<f32>> for SheetEntries<'a> {
    fn from(matrix: &'a Matrix<f32>) -> Self {
        Self { rows: matrix.rows(), cols: matrix.cols(), values: matrix.flat(), stride: matrix.cols() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoldHead {
    /// The index of the head, counted over all blocks.
    pub head: usize,
    /// The title, such as `Head 1`.
    pub title: String,
    pub is_on: bool,
}

/// The words of one group, at their static vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    pub group: usize,
    pub name: String,
    pub places: Vec<Point>,
}

impl Cluster {
    /// Returns the clusters of all groups that have enough words.
    fn all(space: &StaticSpace, groups: &[Group]) -> Vec<Self> {
        let crowd = |(group, named): (usize, &Group)| {
            let members = (0..space.group_of.len()).filter(|word| space.group_of[*word] == Some(group));
            let places = crowd_of(members.map(|word| point(space.points.row(word))))?;
            Some(Self { group, name: named.name.clone(), places })
        };
        groups.iter().enumerate().filter_map(crowd).collect()
    }
}

/// Returns parameters in which at least the weights of a block's sheets are unpacked.
fn of_sheets(parameters: &Arc<Parameters<f32>>, block: usize) -> Arc<Parameters<f32>> {
    if !parameters.is_packed() {
        return parameters.clone();
    }
    let names = ProjectedRole::ALL.map(ProjectedRole::weights).into_iter().chain([TensorName::OutputWeights]);
    let of_block: Vec<_> = names.map(|name| name.of_block(block)).collect();
    Arc::new(parameters.plain(&of_block))
}

#[derive(Clone, Debug)]
pub struct FoldModel {
    sentence: Arc<SentenceSnapshot>,
    /// The parameters, in which at least the weights of the sheets are unpacked.
    parameters: Arc<Parameters<f32>>,
    block: usize,
    /// The names of all blocks, each with the index of its first head.
    pub blocks: Vec<(String, usize)>,
    pub queries: Vec<String>,
    pub keys: Vec<String>,
    pub heads: Vec<FoldHead>,
    /// The index of the group of each query's word.
    query_groups: Vec<Option<usize>>,
    /// The index of the group of each key's word.
    key_groups: Vec<Option<usize>>,
    pub crowds: Vec<Cluster>,
    attention: AttentionConfig,
    /// The quantity and the block of the source's vectors, from which cross-attention computes keys and values; `None`
    /// for self-attention, and if the source has no layers.
    memory: Option<(Quantity, usize)>,
    is_normed_first: bool,
    /// The queries, keys and values of all heads as points, each along their own principal axes.
    role_points: [Vec<Point>; 3],
    has_residual: bool,
    width: usize,
    /// Whether its queries are words of the source instead of the stage's tokens.
    pub is_of_source: bool,
    /// Whether the keys are in the same sentence as the queries.
    pub looks_at_itself: bool,
}

impl FoldModel {
    /// Returns the model for the block of a head; `None` until there is a model, if there is no such head, and for a
    /// recording.
    pub fn of(snapshot: &Snapshot, head: usize) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let architecture = &model.architecture;
        if head >= architecture.heads() {
            return None;
        }
        let labels = HeadLabels::of(model);
        let (block, config, own) = architecture.head(head);
        // A recording has no weights, which the first sheets show.
        if model.recorded.is_some() {
            return None;
        }
        let first = head - own;
        let heads = (first..first + config.attention.heads).map(|head| FoldHead {
            head,
            title: format!("Head {}", head - first + 1),
            is_on: model.is_enabled(head),
        });
        let first_heads = (0..architecture.heads()).filter(|head| architecture.head(*head).2 == 0);
        let (space, sentence) = (snapshot.space.as_ref()?, &model.sentence);
        let source = sentence.source.as_deref().unwrap_or_default();
        let groups = |is_of_source: bool| -> Vec<Option<usize>> {
            let tokens = if is_of_source { source } else { &sentence.tokens[..] };
            tokens.iter().map(|token| space.group_of[token.word?]).collect()
        };
        let activations = &sentence.activations.blocks[block];
        Some(Self {
            sentence: sentence.clone(),
            parameters: of_sheets(&model.parameters, block),
            block,
            blocks: first_heads.map(|head| (labels.block(head), head)).collect(),
            queries: labels.queries(head).to_vec(),
            keys: labels.keys(head).to_vec(),
            heads: heads.collect(),
            query_groups: groups(labels.is_of_source(head)),
            key_groups: groups(labels.keys_are_source(head)),
            crowds: Cluster::all(space, &snapshot.lesson.groups),
            attention: config.attention.clone(),
            memory: memory_of(architecture).filter(|_| config.attends_to_source()),
            is_normed_first: activations.normed.is_some(),
            role_points: ProjectedRole::ALL.map(|role| role.points(&activations.heads)),
            has_residual: config.residual,
            width: config.attention.width,
            is_of_source: labels.is_of_source(head),
            looks_at_itself: !config.attends_to_source(),
        })
    }

    fn head(&self, own: usize) -> &HeadActivations<f32> {
        &self.sentence.activations.blocks[self.block].heads[own]
    }

    pub fn has_output(&self) -> bool {
        self.attention.output
    }

    /// Returns whether queries, keys and values are computed by learned matrices.
    pub fn is_projected(&self) -> bool {
        self.attention.projected
    }

    /// Returns whether the vectors that a role projects are available; those of a source without layers are not.
    pub fn has_projected(&self, role: ProjectedRole) -> bool {
        role == ProjectedRole::Query || self.looks_at_itself || self.memory.is_some()
    }

    /// Returns the group of a query's word.
    pub fn group(&self, query: usize) -> Option<usize> {
        self.query_groups.get(query).copied().flatten()
    }

    /// Returns the words in the rows of a role, each with the index of its group.
    pub fn words_of(&self, role: ProjectedRole) -> impl Iterator<Item = (&String, Option<usize>)> {
        let (words, groups) = match role {
            ProjectedRole::Query => (&self.queries, &self.query_groups),
            ProjectedRole::Key | ProjectedRole::Value => (&self.keys, &self.key_groups),
        };
        words.iter().zip(groups.iter().copied())
    }

    /// Returns the queries, keys or values of all heads as points on their own principal axes.
    pub fn role_points(&self, role: ProjectedRole) -> &[Point] {
        &self.role_points[role as usize]
    }

    /// Returns the vectors that a role projects as points of the stage; empty if they are words of the source that the
    /// queries attend to.
    pub fn projected_points(&self, role: ProjectedRole) -> Vec<Point> {
        let is_here = role == ProjectedRole::Query || self.looks_at_itself;
        (0..if is_here { self.queries.len() } else { 0 }).map(|query| self.at_rest(query)).collect()
    }

    /// Returns the entries of a sheet.
    ///
    /// # Panics
    /// If the block has no such head.
    pub fn entries(&self, sheet: Sheet) -> SheetEntries<'_> {
        match sheet {
            Sheet::OutputWeights(own) => {
                let rows = self.attention.mix_columns(own);
                let values = self.parameters.values_of(TensorName::OutputWeights.of_block(self.block));
                let values = values.get(rows.start * self.width..rows.end * self.width).unwrap_or_default();
                SheetEntries { rows: values.len() / self.width.max(1), cols: self.width, values, stride: self.width }
            }
            Sheet::RoleWeights(role, own) => {
                let (columns, stride) = (self.columns(role, own), self.columns(role, self.heads.len() - 1).end);
                let values = self.parameters.values_of(role.weights().of_block(self.block));
                let rows = values.len() / stride.max(1);
                SheetEntries {
                    rows,
                    cols: columns.len(),
                    values: values.get(columns.start..).unwrap_or_default(),
                    stride,
                }
            }
            Sheet::Product(own) => (&self.sentence.arithmetic[self.heads[own].head].products).into(),
            _ => {
                let Entry { quantity, owner, .. } = self.entry(sheet, 0, 0);
                quantity.matrix(&self.sentence.activations, owner).expect("the forward pass keeps it").into()
            }
        }
    }

    /// Returns a head's columns in the matrix of a role.
    fn columns(&self, role: ProjectedRole, own: usize) -> Range<usize> {
        match role {
            ProjectedRole::Query => self.attention.query_columns(own),
            ProjectedRole::Key => self.attention.key_columns(own),
            ProjectedRole::Value => self.attention.value_columns(own),
        }
    }

    /// Returns a symbol such as `Q₁`, or `Q` if the block has one head.
    pub fn symbol(&self, sheet: Sheet) -> String {
        if let Sheet::Projected(role) = sheet {
            let is_memory = role != ProjectedRole::Query && !self.looks_at_itself;
            let letter = || self.entry(sheet, 0, 0).quantity.definition().letter();
            return if is_memory { "Z".to_owned() } else { letter() };
        }
        let (own, letter) = (sheet.quantity().1, sheet.letter());
        match own.filter(|_| self.heads.len() > 1) {
            Some(own) => format!("{letter}{}", subscript(own + 1)),
            None => letter,
        }
    }

    /// Returns the label of a row or column: a word, or its number.
    fn label(&self, labels: Option<&[String]>, index: usize) -> String {
        labels.and_then(|labels| labels.get(index)).map_or_else(|| index.to_string(), Clone::clone)
    }

    fn row_labels(&self, sheet: Sheet) -> Option<&[String]> {
        match sheet {
            Sheet::Projected(ProjectedRole::Key | ProjectedRole::Value) => Some(&self.keys),
            _ if sheet.counts(Index::Query) => Some(&self.queries),
            _ if sheet.counts(Index::Key) => Some(&self.keys),
            _ => None,
        }
    }

    /// Returns whether the rows of a sheet are words of the sentence that the queries come from.
    pub fn is_by_query(&self, sheet: Sheet) -> bool {
        match sheet {
            Sheet::Projected(role) => role == ProjectedRole::Query || self.looks_at_itself,
            _ => sheet.counts(Index::Query) || (self.looks_at_itself && sheet.counts(Index::Key)),
        }
    }

    /// Returns a text such as `Q₁[apple₁, 3] = 0.1234`.
    pub fn say(&self, sheet: Sheet, row: usize, col: usize) -> String {
        let by_key = sheet.counts(Index::Query) && sheet.counts(Index::Key);
        let col_labels = by_key.then_some(&self.keys[..]);
        let value = self.entries(sheet).row(row)[col];
        let value = if value == f32::NEG_INFINITY { "−∞, masked".to_owned() } else { format!("{value:.4}") };
        format!(
            "{}[{}, {}] = {value}",
            self.symbol(sheet),
            self.label(self.row_labels(sheet), row),
            self.label(col_labels, col)
        )
    }

    /// Returns the entry that explains a number of a sheet.
    pub fn entry(&self, sheet: Sheet, row: usize, col: usize) -> Entry {
        match sheet {
            Sheet::RoleWeights(role, own) => {
                let column = self.columns(role, own).start + col;
                return Entry::parameter(role.weights().of_block(self.block), row, column);
            }
            Sheet::Projected(ProjectedRole::Key | ProjectedRole::Value) if !self.looks_at_itself => {
                let (memory, block) = self.memory.unwrap_or((Quantity::Output, self.block));
                return memory.of_block(block, [row, col]);
            }
            Sheet::Projected(_) if self.is_normed_first => return Quantity::Normed.of_block(self.block, [row, col]),
            _ => {}
        }
        match sheet.quantity() {
            (Quantity::Parameter(name), own) => {
                let first = own.map_or(0, |own| self.attention.mix_columns(own).start);
                Entry::parameter(name.of_block(self.block), first + row, col)
            }
            (quantity, Some(own)) => quantity.of_head(self.heads[own].head, [row, col]),
            (quantity, None) => quantity.of_block(self.block, [row, col]),
        }
    }

    fn moves(&self) -> &Moves {
        &self.sentence.moves[self.block]
    }

    /// Returns the point of a query before the block.
    pub fn at_rest(&self, query: usize) -> Point {
        self.moves().rest(query)
    }

    /// Returns the start of a query's arrows.
    pub fn from(&self, query: usize) -> Point {
        self.moves().start(query)
    }

    /// Returns the end of a query's arrows.
    pub fn to(&self, query: usize) -> Point {
        self.moves().end(query)
    }

    /// Returns `Σ_j α_hij · V_hj W_O^h`, the contribution of a head to a query, as an arrow of the stage.
    pub fn arrow(&self, own: usize, query: usize) -> Point {
        self.moves().head(own, query)
    }

    /// Returns the arrows that come from no head; empty if the only such arrow is the output bias.
    pub fn parts(&self, query: usize) -> impl Iterator<Item = (BlockPart, Point)> {
        let parts = &self.moves().parts;
        let is_shown = parts.iter().any(|moves| moves.part != BlockPart::Bias);
        parts.iter().filter(move |_| is_shown).map(move |moves| (moves.part, moves.arrow(query)))
    }

    pub fn weight(&self, own: usize, query: usize, key: usize) -> f32 {
        self.head(own).weights.get(query, key)
    }

    /// Describes how a step changes the matrices.
    pub fn said(&self, step: Step) -> String {
        let (heads, tokens) = (self.heads.len(), self.queries.len());
        let (key_width, value_width) = (self.head(0).query.cols(), self.head(0).value.cols());
        let width = self.width;
        let each = if heads == 1 { "the one head".to_owned() } else { format!("each of the {heads} heads") };
        let columns = if heads == 1 {
            format!("One head keeps all {key_width} columns.")
        } else {
            format!("Fold: the {} columns of Q and K are split into {heads} slices of {key_width}.", heads * key_width)
        };
        match step {
            Step::Embed => format!("X is {tokens} × {width}: it has a row of {width} numbers for each word."),
            Step::Project if self.is_projected() => {
                "Each word's row of X is multiplied by three matrices. The results are its query, its key and its \
                 value, for all heads at once."
                    .to_owned()
            }
            Step::Project => "Q, K and V are X itself, because nothing is learned here.".to_owned(),
            Step::Score => format!("{columns} In {each}, Q Kᵀ has the dot product of every query with every key."),
            Step::Scale if self.attention.distances.is_some() => format!(
                "The products are scaled, {each} adds a number that depends on the distance from query to key, and \
                 the keys that a query may not see are masked."
            ),
            Step::Scale => "The products are scaled, and the keys that a query may not see are masked.".to_owned(),
            Step::Softmax => "The softmax turns each row into weights that sum to 1. Every head has its own pattern \
                of weights."
                .to_owned(),
            Step::Mix => {
                format!("M = A V is {tokens} × {value_width} in {each}. The arrows show what each head will add.")
            }
            Step::Output if self.has_output() => {
                format!(
                    "Unfold: side by side, the mixes have {} columns again, and W_O combines them.",
                    heads * value_width
                )
            }
            Step::Output => format!("Unfold: side by side, the mixes have {} columns again.", heads * value_width),
            Step::Contextual => {
                let own = if self.has_residual {
                    "each word's row of X and what the heads added"
                } else {
                    "what the heads added"
                };
                let parts = &self.moves().parts;
                let does = |part: BlockPart| parts.iter().any(|moves| moves.part == part);
                let behind = match (does(BlockPart::Shift), does(BlockPart::FeedForward)) {
                    (false, false) => "",
                    (true, false) => ", followed by the norm",
                    (false, true) => ", followed by the feed-forward layer",
                    (true, true) => ", followed by the norms and the feed-forward layer",
                };
                format!("Y is the sum of {own}, drawn tip to tail{behind}.")
            }
        }
    }
}
