//! Reading of entries from a snapshot: the number of each, what it belongs to, and its names, by words, by numbers and
//! by meaning.

use std::cell::RefCell;
use std::collections::HashMap;

use attune_core::kernel::notebook::live::{ColumnDistances, head_label, scored};
use attune_core::kernel::snapshot::sentence::subscript;
use attune_core::kernel::snapshot::{ModelSnapshot, Neighbours, SentenceSnapshot, Snapshot, StaticSpace};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::{Arithmetic, BlockActivations, HeadActivations};
use attune_engine::numerics::params::{TensorId, TensorName, code_suffix, superscript};
use attune_engine::numerics::projection::{AXES, Lens};
use attune_engine::numerics::vectors::Similarity;
use attune_engine::quantity::{Entry, Index, Owner, Quantity, StagePoint};

use crate::view_model::labels::{HeadLabels, at_distance, in_words};
use crate::view_model::{axes, quoted};

/// Returns the quantity and the block of the vectors that cross-attention reads: the outputs of the last block of the
/// source, after its norm where it has one; `None` if there is no source.
pub fn memory_of(architecture: &Architecture) -> Option<(Quantity, usize)> {
    let block = architecture.source_blocks.len().checked_sub(1)?;
    let memory = if architecture.source.final_norm { Quantity::Final } else { Quantity::Output };
    Some((memory, block))
}

/// A reader of the numbers in a snapshot, and of their names.
pub struct EntryReader<'a> {
    pub snapshot: &'a Snapshot,
    pub space: &'a StaticSpace,
    pub model: &'a ModelSnapshot,
    pub sentence: &'a SentenceSnapshot,
    pub labels: HeadLabels<'a>,
    /// Vectors that are computed when one of their entries is asked for, because the other entries usually follow.
    vectors: RefCell<HashMap<Entry, Vec<f32>>>,
}

/// The number of vectors that a reader keeps before it forgets all of them.
const VECTORS_MAX: usize = 4096;

/// A head, with the parts of the snapshot that belong to it.
pub struct HeadParts<'a> {
    pub block: usize,
    pub own: usize,
    pub config: &'a BlockConfig,
    pub activations: &'a HeadActivations<f32>,
    pub arithmetic: &'a Arithmetic<f32>,
    pub mode: &'a HeadMode<f32>,
}

impl<'a> EntryReader<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        Some(Self {
            snapshot,
            space,
            model,
            sentence: &model.sentence,
            labels: HeadLabels::of(model),
            vectors: RefCell::default(),
        })
    }

    /// Creates a reader of the same snapshot with another state of the model, such as other changes by the learner.
    pub(super) fn with_model<'m>(&self, model: &'m ModelSnapshot) -> EntryReader<'m>
    where
        'a: 'm,
    {
        let (sentence, labels) = (&*model.sentence, HeadLabels::of(model));
        EntryReader { snapshot: self.snapshot, space: self.space, model, sentence, labels, vectors: RefCell::default() }
    }

    /// Returns the number of an entry; `None` if there is no such entry, or if a recording lacks it.
    pub fn value(&self, entry: Entry) -> Option<f32> {
        use Quantity::*;
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        if !self.is_known(entry) {
            return None;
        }
        let moves = || self.sentence.moves.get(number);
        if let Some(stored) = self.stored(quantity, owner) {
            return at(stored?, i, j);
        }
        Some(match quantity {
            Parameter(name) => self.model.parameters.entry(name.of_block(number), i, j)?,
            Static => {
                let table = &self.space.vectors;
                (i < table.rows() && j < table.cols()).then(|| table.get(i, j))?
            }
            Scale => self.head(number)?.arithmetic.scale,
            RowSum => *self.head(number)?.arithmetic.sums.get(i)?,
            Gain => self.head(number)?.mode.gain(),
            Term | Arrow | Part => self.of_vector(entry, k)?,
            TermLength => {
                let parts = self.head(number).filter(|parts| parts.has(i, j))?;
                self.sentence.moves.get(parts.block)?.term_length(parts.own, i, j)
            }
            HeadLength | HeadArrowLength => {
                let is_arrow = quantity == HeadArrowLength;
                let parts = self.head(number).filter(|parts| !is_arrow || parts.is_normed_after())?;
                let added = &self.sentence.contributions[parts.block];
                let lengths = if is_arrow { &added.head_arrow_lengths } else { &added.head_lengths };
                *lengths.get(parts.own)?.get(i)?
            }
            PartLength => {
                let part = self.part(number, i)?;
                *moves()?.parts.iter().find(|moves| moves.part == part)?.lengths.get(j)?
            }
            MoveLength => *moves()?.lengths.get(i)?,
            Probability => {
                let best = self.sentence.answers.likeliest.get(i)?;
                best.iter().find(|answer| answer.class == j)?.probability
            }
            Coordinate => match owner.point().filter(|_| i < AXES)? {
                StagePoint::Word(word) => at(&self.space.points, word, i)?,
                StagePoint::Static(token) => at(&self.sentence.start, token, i)?,
                // Words of the sentence do not move while its source is processed.
                StagePoint::After(token, block) if self.is_of_source(block) => at(&self.sentence.start, token, i)?,
                StagePoint::After(token, block) => {
                    let moves = self.sentence.moves.get(block)?;
                    *moves.to.row(token.min(moves.queries().checked_sub(1)?)).get(i)?
                }
                StagePoint::Contextual(token) => at(&self.sentence.end, token, i)?,
            },
            Cosine => self.neighbour(owner.point()?, i)?.0,
            Distance => self.neighbour(owner.point()?, i)?.1,
            // A quantity that is not stored is computed by its rule.
            _ => self.evaluated(&self.rule_of(entry)?)? as f32,
        })
    }

    /// Returns whether a number exists; parts of a recording may be missing.
    pub(super) fn is_known(&self, Entry { quantity, owner, .. }: Entry) -> bool {
        let block = match owner {
            Owner::Head(head) if head < self.model.architecture.heads() => self.model.architecture.head(head).0,
            Owner::Block(block) => block,
            _ => 0,
        };
        self.model.recorded.as_ref().is_none_or(|pass| pass.has(quantity, block))
    }

    /// Returns the entry `dim` of a vector that is computed as a whole, and keeps the vector.
    fn of_vector(&self, entry: Entry, dim: usize) -> Option<f32> {
        let whole = Entry { index: [entry.index[0], entry.index[1], 0], ..entry };
        if let Some(vector) = self.vectors.borrow().get(&whole) {
            return vector.get(dim).copied();
        }
        let vector = self.vector(entry)?;
        let number = vector.get(dim).copied();
        let mut vectors = self.vectors.borrow_mut();
        if vectors.len() >= VECTORS_MAX {
            vectors.clear();
        }
        vectors.insert(whole, vector);
        number
    }

    /// Computes the whole vector of a term, an arrow or a part of a block's output.
    fn vector(&self, entry: Entry) -> Option<Vec<f32>> {
        let Entry { quantity, owner, index: [i, j, _] } = entry;
        let number = owner.number();
        if quantity == Quantity::Part {
            let (part, block) = (self.part(number, i)?, self.block(number).filter(|block| j < block.input.rows())?);
            return Some(self.sentence.contributions[number].part(part, block, j));
        }
        let parts = self.head(number).filter(|parts| parts.has(i, j))?;
        let (contributions, block) = (&self.sentence.contributions[parts.block], self.block(parts.block)?);
        match quantity {
            Quantity::Term => Some(contributions.term(block, parts.own, i, j)),
            _ if parts.is_normed_after() => Some(contributions.arrow(block, parts.own, i, j)),
            _ => None,
        }
    }

    /// Returns the matrix of a quantity, or `None` if the snapshot stores none for it.
    pub fn matrix(&self, quantity: Quantity, owner: Owner) -> Option<&'a Matrix<f32>> {
        self.stored(quantity, owner).flatten()
    }

    /// Returns the matrix of a quantity. The outer `None` means that the quantity is not stored as a matrix, the inner
    /// one that the snapshot lacks it.
    fn stored(&self, quantity: Quantity, owner: Owner) -> Option<Option<&'a Matrix<f32>>> {
        use Quantity::*;
        let number = owner.number();
        let arithmetic = self.sentence.arithmetic.get(number);
        Some(match quantity {
            Position => self.model.fixed_positions.as_deref(),
            Product => arithmetic.map(|arithmetic| &arithmetic.products),
            DistanceBias => arithmetic.and_then(|arithmetic| arithmetic.distances.as_ref()),
            Exponential => arithmetic.map(|arithmetic| &arithmetic.exponentials),
            WordLength => self.sentence.moves.get(number).map(|moves| &moves.word_lengths),
            Logit => Some(&self.sentence.answers.logits),
            Embedded | Final | Input | Normed | Query | Key | Value | Score | Weight | Mix | Summed | Attended
            | Hidden | Joined | Output => quantity.matrix(&self.sentence.activations, owner),
            _ => return None,
        })
    }

    /// Returns the vector of a token after a block as it is compared with words: normed if the picture norms the
    /// vectors between layers.
    pub fn state(&self, token: usize, block: usize) -> Option<Vec<f32>> {
        let output = &self.block(block)?.output;
        let row =
            (token < output.rows()).then(|| Matrix::from_row_major(1, output.cols(), output.row(token).to_vec()))?;
        let scale = self.space.scale();
        let lens = scale.and_then(|scale| {
            let architecture = &self.model.architecture;
            scale.lens_of_layers(architecture.tower_of(block), architecture, &self.model.parameters)
        });
        Some(Lens::see_through(lens.as_ref(), row).row(0).to_vec())
    }

    /// Returns the cosine and the distance between a point and a word, which must be among the point's known neighbours
    /// unless the point lies between layers.
    fn neighbour(&self, of: StagePoint, word: usize) -> Option<(f32, f32)> {
        let Neighbours { by_cosine, by_distance } = match of {
            StagePoint::Word(_) => return None,
            StagePoint::After(token, block) => {
                let (state, word) = (self.state(token, block)?, self.space.vectors.row(word));
                return Some((Similarity::Cosine.of(&word, &state), -Similarity::Euclidean.of(&word, &state)));
            }
            StagePoint::Static(token) => self.sentence.static_neighbours.get(token)?,
            StagePoint::Contextual(token) => self.sentence.contextual_neighbours.get(token)?,
        };
        let found = by_cosine.iter().chain(by_distance).find(|near| near.word == word)?;
        Some((found.cosine, found.distance))
    }

    /// Returns the distances between words that use a column of a distance-bias tensor `B`.
    pub fn distances_of(&self, tensor: TensorId, col: usize, cols: usize) -> ColumnDistances {
        let block = self.model.architecture.numbered_blocks().nth(tensor.block);
        ColumnDistances::of(block.and_then(|(_, block)| block.attention.distances), col, cols)
    }

    pub fn block(&self, block: usize) -> Option<&'a BlockActivations<f32>> {
        self.sentence.activations.blocks.get(block).map(|block| &**block)
    }

    pub fn config(&self, block: usize) -> Option<&'a BlockConfig> {
        self.model.architecture.numbered_blocks().nth(block).map(|(_, config)| config)
    }

    pub fn head(&self, head: usize) -> Option<HeadParts<'a>> {
        let model = self.model;
        if head >= model.architecture.heads() {
            return None;
        }
        let (block, config, own) = model.architecture.head(head);
        Some(HeadParts {
            block,
            own,
            config,
            activations: self.block(block)?.heads.get(own)?,
            arithmetic: self.sentence.arithmetic.get(head)?,
            mode: model.interventions.heads.get(head).unwrap_or(&HeadMode::Live),
        })
    }

    /// Returns whether the learner has turned a head off, so that it adds nothing.
    pub fn is_off(&self, head: usize) -> bool {
        self.head(head).is_some_and(|parts| parts.mode.gain() == 0.0)
    }

    /// Returns whether the learner has removed at least one edge of a query in a head.
    pub fn has_removed_edge(&self, head: usize, query: usize) -> bool {
        self.model.interventions.edges.iter().any(|edge| (edge.head, edge.query) == (head, query))
    }

    /// Returns a term of a block's output that no head adds, given its index in [`BlockPart::ALL`]; `None` if the block
    /// has no such term.
    pub fn part(&self, block: usize, index: usize) -> Option<BlockPart> {
        let part = *BlockPart::ALL.get(index)?;
        self.sentence.contributions.get(block)?.parts().contains(&part).then_some(part)
    }

    /// Returns the number of a block's first head, counted over all blocks.
    pub fn first_head(&self, block: usize) -> usize {
        self.model.architecture.heads_of(block).start
    }

    pub fn is_of_source(&self, block: usize) -> bool {
        block < self.first_block()
    }

    /// Returns whether a block reads the embedded tokens rather than the output of another block.
    pub fn is_first(&self, block: usize) -> bool {
        block == 0 || block == self.first_block()
    }

    /// Returns the first block of the sentence itself, whose input is called `X` in code.
    pub fn first_block(&self) -> usize {
        self.model.architecture.source_blocks.len()
    }

    pub fn last_block(&self) -> usize {
        self.sentence.activations.blocks.len().saturating_sub(1)
    }

    /// Returns an entry of a contextual vector: the output of the last block, after the last norm if the model has one.
    pub fn contextual(&self, token: usize, dim: usize) -> Entry {
        match self.model.architecture.final_norm {
            true => Quantity::Final.of_block(self.last_block(), [token, dim]),
            false => Quantity::Output.of_block(self.last_block(), [token, dim]),
        }
    }

    /// Returns the vocabulary row of a token in the sentence that a block reads; `None` if the token is not in the
    /// vocabulary.
    pub fn word(&self, block: usize, token: usize) -> Option<usize> {
        let tokens = if self.is_of_source(block) { self.sentence.source.as_deref()? } else { &self.sentence.tokens };
        tokens.get(token)?.word
    }

    /// Returns the entry of a static vector: that of the learned embedding, if the model trains it.
    pub fn static_entry(&self, word: usize, dim: usize) -> Entry {
        let tensor = TensorId::from(TensorName::Embedding);
        match self.model.parameters.spec(tensor) {
            Some(_) => Entry::parameter(tensor, word, dim),
            None => Quantity::Static.of_model([word, dim]),
        }
    }
}

impl HeadParts<'_> {
    /// Returns whether a norm is applied to what the head adds before it reaches the block's output.
    pub fn is_normed_after(&self) -> bool {
        self.config.norm == Norm::Post || self.config.output_norms
    }

    pub fn has(&self, query: usize, key: usize) -> bool {
        query < self.activations.weights.rows() && key < self.activations.weights.cols()
    }
}

fn at(matrix: &Matrix<f32>, row: usize, col: usize) -> Option<f32> {
    (row < matrix.rows() && col < matrix.cols()).then(|| matrix.get(row, col))
}

/// An index of an entry as the learner reads it.
enum IndexLabel {
    Word(String),
    Number(String),
}

impl EntryReader<'_> {
    pub fn query_word(&self, head: usize, query: usize) -> String {
        self.labels.queries(head).get(query).cloned().unwrap_or_else(|| query.to_string())
    }

    pub fn key_word(&self, head: usize, key: usize) -> String {
        self.labels.keys(head).get(key).cloned().unwrap_or_else(|| key.to_string())
    }

    fn vocabulary(&self, word: usize) -> &str {
        self.space.vocabulary.get(word).map_or("", String::as_str)
    }

    fn point_word(&self, point: StagePoint) -> String {
        match point {
            StagePoint::Word(word) => self.vocabulary(word).to_owned(),
            StagePoint::Static(token) | StagePoint::After(token, _) | StagePoint::Contextual(token) => {
                self.labels.tokens.get(token).cloned().unwrap_or_else(|| token.to_string())
            }
        }
    }

    /// Returns the head of an entry, or the first head of its block, which has the same queries and keys; the first
    /// head of all if the entry belongs to neither.
    fn head_of(&self, owner: Owner) -> usize {
        match owner {
            Owner::Head(head) => head,
            _ => self.first_head(owner.number()),
        }
    }

    /// Returns the symbol of an entry's quantity, with its block and head: `A₁`.
    pub fn symbol(&self, entry: Entry) -> String {
        let Entry { quantity, owner, .. } = entry;
        if let Some(tensor) = entry.tensor() {
            return tensor.to_string();
        }
        let place = match owner {
            Owner::Block(block) if quantity == Quantity::Output && block == self.last_block() => String::new(),
            Owner::Block(block) => superscript(block),
            Owner::Head(head) => {
                let (block, own) = self.block_of(head);
                format!("{}{}", superscript(block), subscript(own + 1))
            }
            Owner::Model | Owner::Point(_) => String::new(),
        };
        let symbol = match self.part_of(entry) {
            Some(part) => {
                let symbol = part_symbol(part, self.norms_after(owner.number()));
                if quantity == Quantity::PartLength { format!("‖{symbol}‖") } else { symbol.to_owned() }
            }
            None => quantity.definition().symbol.to_owned(),
        };
        symbol.replace("{}", &place)
    }

    /// Returns the term of a block's output that an entry belongs to; `None` if a head adds that term.
    fn part_of(&self, entry: Entry) -> Option<BlockPart> {
        let is_part = entry.quantity.definition().counts(Index::Part);
        self.part(entry.owner.number(), entry.index[0]).filter(|_| is_part)
    }

    fn block_of(&self, head: usize) -> (usize, usize) {
        self.head(head).map_or((0, head), |parts| (parts.block, parts.own))
    }

    fn label(&self, kind: Index, owner: Owner, index: usize) -> IndexLabel {
        match kind {
            Index::Word => IndexLabel::Word(self.vocabulary(index).to_owned()),
            Index::Query => IndexLabel::Word(self.query_word(self.head_of(owner), index)),
            Index::Key => IndexLabel::Word(self.key_word(self.head_of(owner), index)),
            Index::Class => IndexLabel::Word(self.model.classes.get(index).cloned().unwrap_or_default()),
            Index::Axis => IndexLabel::Number(axes::names(self.space).into_iter().nth(index).unwrap_or_default()),
            Index::Part => {
                let part = self.part(owner.number(), index);
                IndexLabel::Number(part.map_or("", |part| part_name(part, self.norms_after(owner.number()))).to_owned())
            }
            Index::Dim | Index::Place | Index::Row | Index::Col => IndexLabel::Number(index.to_string()),
        }
    }

    fn labels_of(&self, entry: Entry) -> Vec<IndexLabel> {
        let Entry { quantity, owner, index } = entry;
        // The symbol names the part.
        let indices = quantity.definition().indices.iter().zip(index).filter(|(kind, _)| **kind != Index::Part);
        let point = owner.point().map(|point| IndexLabel::Word(self.point_word(point)));
        point.into_iter().chain(indices.map(|(kind, index)| self.label(*kind, owner, index))).collect()
    }

    /// Returns labels for the row and the column of a learned tensor; those of some tensors are words.
    fn learned_labels(&self, tensor: TensorId, row: usize, col: usize) -> Vec<IndexLabel> {
        let number = |index: usize| IndexLabel::Number(index.to_string());
        match self.model.parameters.spec(tensor) {
            Some(_) if tensor.name == TensorName::Embedding => {
                vec![IndexLabel::Word(self.vocabulary(row).to_owned()), number(col)]
            }
            Some(spec) if tensor.name == TensorName::DistanceBias => {
                let head = (spec.rows > 1).then(|| IndexLabel::Word(head_label(row)));
                let distance = IndexLabel::Word(self.distances_of(tensor, col, spec.cols).label());
                head.into_iter().chain([distance]).collect()
            }
            Some(spec) if spec.rows == 1 => vec![number(col)],
            _ => vec![number(row), number(col)],
        }
    }

    /// Returns the name of an entry with words as indices, such as `A₁["apple₁", "phone"]`.
    pub fn name(&self, entry: Entry) -> String {
        let [row, col, _] = entry.index;
        let labels = match entry.tensor() {
            Some(tensor) => self.learned_labels(tensor, row, col),
            None => self.labels_of(entry),
        };
        let label = |label: &IndexLabel| match label {
            IndexLabel::Word(word) => format!("{word:?}"),
            IndexLabel::Number(number) => number.clone(),
        };
        let labels = labels.iter().map(label).collect::<Vec<_>>().join(", ");
        let symbol = self.symbol(entry);
        if labels.is_empty() { symbol } else { format!("{symbol}[{labels}]") }
    }

    /// Returns the name of an entry in code cells, with numbers as indices; empty if code cells cannot read the entry.
    pub fn place(&self, entry: Entry) -> String {
        let Entry { quantity, owner, index: [i, j, _] } = entry;
        if let Some(tensor) = entry.tensor() {
            let is_row = self.model.parameters.spec(tensor).is_some_and(|spec| spec.rows == 1);
            let row = if is_row { String::new() } else { format!("{i}, ") };
            return format!("{}[{row}{j}]", tensor.code_name());
        }
        let Some(name) = quantity.definition().code else { return String::new() };
        match owner {
            Owner::Head(head) => {
                let (block, own) = self.block_of(head);
                format!("{name}{}[{own}, {i}, {j}]", code_suffix(block))
            }
            Owner::Block(block) => {
                let read = if quantity == Quantity::Output { self.last_block() } else { self.first_block() };
                if block == read { format!("{name}[{i}, {j}]") } else { String::new() }
            }
            Owner::Model | Owner::Point(_) => format!("{name}[{i}, {j}]"),
        }
    }

    /// Returns the name of an entry within a formula.
    pub fn short(&self, entry: Entry) -> String {
        match entry.quantity.definition().short {
            Some(short) => self.filled(short, entry, str::to_owned),
            None => self.name(entry),
        }
    }

    /// Returns the meaning of a weight: the purpose of its tensor, except that each entry of `B` has a meaning of its
    /// own.
    fn weight_meaning(&self, tensor: TensorId, row: usize, col: usize) -> String {
        match self.model.parameters.spec(tensor) {
            Some(spec) if tensor.name == TensorName::DistanceBias => {
                let head = self.labels.title(self.first_head(tensor.block) + row).to_lowercase();
                let distances = self.distances_of(tensor, col, spec.cols);
                format!("how much {head} favours {}", in_words(distances))
            }
            _ => tensor.name.purpose().to_owned(),
        }
    }

    /// Returns the meaning of an entry in a few words.
    pub fn meaning(&self, entry: Entry) -> String {
        let is_recorded = self.model.recorded.is_some();
        let text = match (entry.quantity, entry.owner) {
            (Quantity::Output, Owner::Block(block)) if block == self.last_block() => {
                "entry {dim} of the contextual vector of {query}"
            }
            (Quantity::Static, _) if is_recorded => "entry {dim} of the vector of {word} before the first layer",
            (Quantity::Cosine, _) if is_recorded => {
                "cosine of the angle between {point} {when} and the vector of {word} before the first layer"
            }
            (Quantity::Distance, _) if is_recorded => {
                "distance from {point} {when} to the vector of {word} before the first layer"
            }
            _ => entry.quantity.definition().entry,
        };
        self.filled(text, entry, quoted)
    }

    /// Fills the placeholders of a text from the catalogue with words and numbers.
    fn filled(&self, text: &str, entry: Entry, word: fn(&str) -> String) -> String {
        let Entry { quantity, owner, index } = entry;
        let mut text = text.to_owned();
        let mut fill = |name: &str, with: &dyn Fn() -> String| {
            if text.contains(name) {
                text = text.replace(name, &with());
            }
        };
        for (kind, index) in quantity.definition().indices.iter().zip(index) {
            let Some(name) = in_braces(*kind) else { continue };
            fill(name, &|| match self.label(*kind, owner, index) {
                _ if *kind == Index::Place => (index + 1).to_string(),
                IndexLabel::Word(label) => word(&label),
                IndexLabel::Number(label) => label,
            });
        }
        let [i, j, _] = index;
        let head = self.head_of(owner);
        fill("{head}", &|| self.labels.title(head).to_lowercase());
        fill("{distance}", &|| at_distance(self.head(head).and_then(|parts| parts.config.attention.distances), i, j));
        fill("{scored}", &|| {
            let has_distances = self.head(head).is_some_and(|parts| parts.config.attention.distances.is_some());
            scored(has_distances).to_owned()
        });
        if let Some(tensor) = entry.tensor() {
            fill("{weight}", &|| self.weight_meaning(tensor, i, j));
        }
        if let Some(point) = owner.point() {
            let when = self.when(point);
            let is_word = matches!(point, StagePoint::Word(_));
            fill("{point}", &|| word(&self.point_word(point)));
            fill("{ when}", &|| if is_word { String::new() } else { format!(" {when}") });
            fill("{when}", &|| when.clone());
        }
        text
    }

    /// Returns words for the time at which a point of the stage exists.
    fn when(&self, point: StagePoint) -> String {
        match point {
            StagePoint::Word(_) | StagePoint::Static(_) => "before attention".to_owned(),
            StagePoint::After(_, block) => {
                format!("after {}", self.labels.block(self.first_head(block)).to_lowercase())
            }
            StagePoint::Contextual(_) => "after attention".to_owned(),
        }
    }
}

/// Returns the placeholder of an index in texts of the catalogue; `None` for an index that no text mentions.
fn in_braces(index: Index) -> Option<&'static str> {
    Some(match index {
        Index::Word => "{word}",
        Index::Query => "{query}",
        Index::Key => "{key}",
        Index::Class => "{class}",
        Index::Dim => "{dim}",
        Index::Axis => "{axis}",
        Index::Place => "{place}",
        Index::Part => "{part}",
        Index::Row | Index::Col => return None,
    })
}

/// Returns the name of a term that no head adds. `norms` is the number of norms between what the heads add and the
/// block's output.
pub fn part_name(part: BlockPart, norms: usize) -> &'static str {
    match part {
        BlockPart::Rescaled if norms > 1 => "rescaled by the norms",
        BlockPart::Rescaled => "rescaled by the norm",
        BlockPart::Bias => "b_O",
        BlockPart::Shift if norms > 1 => "shift of the first norm",
        BlockPart::Shift => "shift of the norm",
        BlockPart::FeedForward => "feed-forward part",
        BlockPart::LastShift => "shift of the second norm",
        BlockPart::Rest => "everything else, norms and biases included",
    }
}

/// Returns the symbol of a term that no head adds, with `{}` in place of its block.
fn part_symbol(part: BlockPart, norms: usize) -> &'static str {
    match part {
        BlockPart::Rescaled => "Norm(X{}) − X{}",
        BlockPart::Bias if norms == 0 => "b_O{}",
        BlockPart::Bias => "Norm(b_O{})",
        BlockPart::Shift if norms > 1 => "Norm(β₁{})",
        BlockPart::Shift => "β{}",
        BlockPart::FeedForward if norms == 0 => "F{}",
        BlockPart::FeedForward => "Norm(F{})",
        BlockPart::LastShift => "β₂{}",
        BlockPart::Rest => "Y{} − X{} − Σ α V W_O",
    }
}

/// Returns the index of a part in [`BlockPart::ALL`], which is also its index in an entry.
pub fn part_index(part: BlockPart) -> usize {
    BlockPart::ALL.iter().position(|other| *other == part).unwrap_or(0)
}
