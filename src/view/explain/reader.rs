//! Reads entries from a snapshot: the number of each, and what it belongs to.

use attune_core::kernel::snapshot::{ModelSnapshot, Neighbours, SentenceSnapshot, Snapshot, StaticSpace};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::arithmetic::Arithmetic;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::contributions;
use attune_engine::numerics::lens::Lens;
use attune_engine::numerics::model::activations::{BlockActivations, HeadActivations};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::projection::AXES;
use attune_engine::numerics::vectors::Similarity;
use attune_engine::quantity::{Entry, Owner, Quantity, StagePoint};

use crate::view_model::head_labels::HeadLabels;

/// A snapshot and its labels, read entry by entry.
pub struct Reader<'a> {
    pub snapshot: &'a Snapshot,
    pub space: &'a StaticSpace,
    pub model: &'a ModelSnapshot,
    pub sentence: &'a SentenceSnapshot,
    pub labels: HeadLabels<'a>,
}

/// A head and what the snapshot has of it.
pub struct HeadParts<'a> {
    pub block: usize,
    pub own: usize,
    pub config: &'a BlockConfig,
    pub activations: &'a HeadActivations<f32>,
    pub arithmetic: &'a Arithmetic<f32>,
    pub mode: &'a HeadMode<f32>,
}

impl<'a> Reader<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        Some(Self { snapshot, space, model, sentence: &model.sentence, labels: HeadLabels::of(model) })
    }

    /// The number itself, if there is such an entry.
    pub fn value(&self, entry: Entry) -> Option<f32> {
        use Quantity::*;
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        let moves = || self.sentence.moves.get(number);
        Some(match quantity {
            Parameter(name) => {
                let id = name.of_block(number);
                self.model.parameters.entry(id, i, j)?
            }
            Static => {
                let table = &self.space.vectors;
                (i < table.rows() && j < table.cols()).then(|| table.get(i, j))?
            }
            Position | Embedded | Final | Input | Normed | Query | Key | Value | Product | DistanceBias | Score
            | Exponential | Weight | Mix | WordLength | Summed | Attended | Joined | Output | Logit => {
                at(self.matrix(quantity, owner)?, i, j)?
            }
            Scale => self.head(number)?.arithmetic.scale,
            RowSum => *self.head(number)?.arithmetic.sums.get(i)?,
            Gain => self.head(number)?.mode.gain(),
            Term => {
                let parts = self.head(number).filter(|parts| parts.has(i, j))?;
                *self.sentence.contributions[parts.block].term(self.block(parts.block)?, parts.own, i, j).get(k)?
            }
            Arrow => {
                let parts = self.head(number).filter(|parts| parts.has(i, j) && parts.is_normed_after())?;
                *self.sentence.contributions[parts.block].arrow(self.block(parts.block)?, parts.own, i, j).get(k)?
            }
            TermLength => {
                let parts = self.head(number).filter(|parts| parts.has(i, j))?;
                self.sentence.moves.get(parts.block)?.term_length(parts.own, i, j)
            }
            HeadLength => {
                let parts = self.head(number)?;
                *self.sentence.contributions[parts.block].head_lengths.get(parts.own)?.get(i)?
            }
            HeadArrowLength => {
                let parts = self.head(number).filter(HeadParts::is_normed_after)?;
                *self.sentence.contributions[parts.block].head_arrow_lengths.get(parts.own)?.get(i)?
            }
            Part => {
                let (part, block) = (self.part(number, i)?, self.block(number)?);
                let vector = (j < block.input.rows()).then(|| {
                    let contributions = &self.sentence.contributions[number];
                    contributions.part(part, block, j)
                });
                *vector?.get(k)?
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
            Coordinate if i < AXES => match owner.point()? {
                StagePoint::Word(word) => at(&self.space.points, word, i)?,
                StagePoint::Static(token) => at(&self.sentence.start, token, i)?,
                // Words of the sentence rest while its source is worked through.
                StagePoint::After(token, block) if self.is_of_source(block) => at(&self.sentence.start, token, i)?,
                StagePoint::After(token, block) => {
                    let moves = self.sentence.moves.get(block)?;
                    *moves.to.row(token.min(moves.queries().checked_sub(1)?)).get(i)?
                }
                StagePoint::Contextual(token) => at(&self.sentence.end, token, i)?,
            },
            Coordinate | Visible | Temperature => return None,
            Cosine => self.neighbour(owner.point()?, i)?.0,
            Distance => self.neighbour(owner.point()?, i)?.1,
        })
    }

    /// All entries of a quantity that is kept as a matrix.
    pub fn matrix(&self, quantity: Quantity, owner: Owner) -> Option<&'a Matrix<f32>> {
        use Quantity::*;
        let number = owner.number();
        let arithmetic = || self.sentence.arithmetic.get(number);
        match quantity {
            Position => self.model.fixed_positions.as_deref(),
            Product => Some(&arithmetic()?.products),
            DistanceBias => arithmetic()?.distances.as_ref(),
            Exponential => Some(&arithmetic()?.exponentials),
            WordLength => Some(&self.sentence.moves.get(number)?.word_lengths),
            Logit => Some(&self.sentence.answers.logits),
            Embedded | Final | Input | Normed | Query | Key | Value | Score | Weight | Mix | Summed | Attended
            | Joined | Output => quantity.matrix(&self.sentence.activations, owner),
            Parameter(_) | Static | Scale | RowSum | Gain | Term | Arrow | TermLength | HeadLength
            | HeadArrowLength | Part | PartLength | MoveLength | Probability | Visible | Temperature | Coordinate
            | Cosine | Distance => None,
        }
    }

    /// A token behind a block as it is compared with words: behind the norm that the picture is seen through, if it is
    /// one of layers.
    pub fn state(&self, token: usize, block: usize) -> Option<Vec<f32>> {
        let output = &self.block(block)?.output;
        let row =
            (token < output.rows()).then(|| Matrix::from_row_major(1, output.cols(), output.row(token).to_vec()))?;
        let scale = self.space.scale();
        let lens = scale.and_then(|scale| scale.lens_of_layers(&self.model.architecture, &self.model.parameters));
        Some(Lens::see_through(lens.as_ref(), row).row(0).to_vec())
    }

    /// Cosine and distance, of a word that is on one of the two lists.
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

    /// Whether a head adds nothing, whatever its weights.
    pub fn is_off(&self, head: usize) -> bool {
        self.head(head).is_some_and(|parts| parts.mode.gain() == 0.0)
    }

    /// A term of a block's output that no head adds, by its place in the list of all; `None` where the block has none
    /// such.
    pub fn part(&self, block: usize, index: usize) -> Option<contributions::Part> {
        let part = *contributions::Part::ALL.get(index)?;
        self.sentence.contributions.get(block)?.parts().contains(&part).then_some(part)
    }

    /// The first head of a block, counted over all.
    pub fn first_head(&self, block: usize) -> usize {
        self.model.architecture.heads_of(block).start
    }

    pub fn is_of_source(&self, block: usize) -> bool {
        block < self.first_block()
    }

    /// Whether the block's input is made of the static vectors, not of another block's output.
    pub fn is_first(&self, block: usize) -> bool {
        block == 0 || block == self.first_block()
    }

    /// The first block of the sentence itself, whose input code calls `X`.
    pub fn first_block(&self) -> usize {
        self.model.architecture.source_blocks.len()
    }

    pub fn last_block(&self) -> usize {
        self.sentence.activations.blocks.len().saturating_sub(1)
    }

    /// A contextual vector: an output of the last block, behind the last norm where the model ends with one.
    pub fn contextual(&self, token: usize, dim: usize) -> Entry {
        match self.model.architecture.final_norm {
            true => Quantity::Final.of_model([token, dim]),
            false => Quantity::Output.of_block(self.last_block(), [token, dim]),
        }
    }

    /// The vocabulary's row of a token of a block's sentence; `None` where there is none.
    pub fn word(&self, block: usize, token: usize) -> Option<usize> {
        let tokens = if self.is_of_source(block) { self.sentence.source.as_deref()? } else { &self.sentence.tokens };
        tokens.get(token)?.word
    }

    /// `E[word]`, frozen or trained.
    pub fn static_entry(&self, word: usize, dim: usize) -> Entry {
        let tensor = TensorId::from(TensorName::Embedding);
        match self.model.parameters.spec(tensor) {
            Some(_) => Entry::parameter(tensor, word, dim),
            None => Quantity::Static.of_model([word, dim]),
        }
    }
}

impl HeadParts<'_> {
    /// A norm lies between what the head adds and the block's output.
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
