//! One sentence through the model: everything that a viewer may see of it.

use std::cell::RefCell;
use std::sync::Arc;

use crate::kernel::data::answers::{Answers, answers};
use crate::kernel::data::moves::Moves;
use crate::kernel::data::neighbours::NEIGHBOURS_BYTES;
use crate::kernel::data::neighbours::Neighbours;
use crate::kernel::data::sentence::{SentenceSnapshot, Unchanged, UnchangedResult};
use crate::kernel::data::space::StaticSpace;
use crate::kernel::data::token::START;
use crate::kernel::data::token::{PieceText, Token};
use crate::kernel::scene::interventions::are_none;
use crate::kernel::scene::near::near;
use crate::kernel::vectors::examples::Rewriter;
use crate::numerics::Matrix;
use crate::numerics::arithmetic::{Arithmetic, distance_scores};
use crate::numerics::block::BlockConfig;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::{BlockActivations, HeadActivations, Interventions};
use crate::numerics::model::{Activations, AttentionModel, Sequences};
use crate::numerics::params::{Parameters, TensorName};
use crate::numerics::vectors::Similarity;

/// A sentence that can be run: words of the vocabulary, at least one and not too many.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Index into the lesson's sentences, if it is one of them.
    pub index: Option<usize>,
    /// Rows of the vocabulary.
    pub words: Vec<usize>,
    /// The text that it was read from, of a model that reads pieces of words.
    pub text: Option<Arc<PieceText>>,
}

/// The sequence that a model reads of a learner's sentence, and the source that it looks at, if it has one.
///
/// The sentence is the source then, and what is read is its target by the lesson's rule, each word
/// from those before it: as in training, and so that what each position answers can be held against
/// what is right. What the model writes by itself is [`SentenceCommand::Generate`]'s.
fn sequences(words: &[usize], rewriter: Option<&Rewriter>) -> (Sequences, Option<Sequences>) {
    let Some(rewriter) = rewriter else { return (Sequences::one(words), None) };
    let target = rewriter.target(words);
    let before = target.split_last().map_or(&[][..], |(_, before)| before).iter().copied().map(Some);
    let mut input = Sequences::default();
    input.push(std::iter::once(None).chain(before), 0);
    (input, Some(Sequences::one(words)))
}

/// The parts of a snapshot that change with the sentence alone.
#[derive(Clone, Debug)]
pub struct SentenceFrame {
    pub sentence: Sentence,
    input: Sequences,
    source: Option<Sequences>,
    tokens: Vec<Token>,
    source_tokens: Option<Vec<Token>>,
    start: Matrix<f32>,
    source_start: Option<Matrix<f32>>,
    static_neighbours: Vec<Neighbours>,
    unchanged: UnchangedCache,
}

impl SentenceFrame {
    pub fn new(sentence: Sentence, space: &StaticSpace, rewriter: Option<&Rewriter>) -> Self {
        let frame = Self::without_points(sentence, space, rewriter);
        let words = &frame.input.words;
        let nothing = space.projection.points(&Matrix::zeros(1, space.vectors.cols()));
        let points = |sequences: &Sequences| {
            Matrix::from_fn(sequences.words.len(), space.points.cols(), |i, axis| {
                sequences.words[i].map_or(nothing.get(0, axis), |word| space.points.get(word, axis))
            })
        };
        let (start, source_start) = (points(&frame.input), frame.source.as_ref().map(points));
        let row = |word: Option<usize>, j: usize| word.map_or(0.0, |word| space.vectors.get(word, j));
        let vectors = Matrix::from_fn(words.len(), space.vectors.cols(), |i, j| row(words[i], j));
        let mut static_neighbours = near(space, &vectors, words);
        // Nothing is near to no word.
        let starts = words.iter().zip(&mut static_neighbours).filter(|(word, _)| word.is_none());
        starts.for_each(|(_, neighbours)| *neighbours = Neighbours::default());
        Self { start, source_start, static_neighbours, ..frame }
    }

    /// A sentence that is read and not shown: neighbours are much work among many words.
    pub fn without_points(sentence: Sentence, space: &StaticSpace, rewriter: Option<&Rewriter>) -> Self {
        let (input, source) = sequences(&sentence.words, rewriter);
        let of_input = tokens(&input, space);
        let (input, of_input) = in_pieces(input, of_input, sentence.text.as_deref());
        Self {
            tokens: of_input,
            source_tokens: source.as_ref().map(|source| tokens(source, space)),
            input,
            source,
            start: Matrix::zeros(0, 0),
            source_start: None,
            static_neighbours: Vec::new(),
            unchanged: UnchangedCache::default(),
            sentence,
        }
    }

    /// The memory that it takes when frozen.
    pub fn bytes(&self) -> usize {
        let of_a_token = size_of::<Token>() + size_of_val(self.start.row(0)) + NEIGHBOURS_BYTES;
        let tokens = self.tokens.len() + self.source_tokens.as_ref().map_or(0, Vec::len);
        tokens * of_a_token + size_of_val(&self.sentence.words[..])
    }

    /// Drops the cache.
    pub fn freeze(&mut self) {
        self.unchanged = UnchangedCache::default();
    }

    /// Tokens that are read.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub fn source_tokens(&self) -> Option<&[Token]> {
        self.source_tokens.as_deref()
    }

    /// The forward pass.
    pub fn activations(
        &self,
        model: &AttentionModel<f32>,
        parameters: &Parameters<f32>,
        interventions: &Interventions<f32>,
    ) -> Activations<f32> {
        Activations::of(model, parameters, &self.input, self.source.as_ref(), interventions)
    }

    /// The forward pass and its answers.
    pub fn forward(
        &self,
        model: &AttentionModel<f32>,
        parameters: &Parameters<f32>,
        interventions: &Interventions<f32>,
    ) -> (Activations<f32>, Answers) {
        let activations = self.activations(model, parameters, interventions);
        let answers = answers(model, parameters, &activations.output);
        (activations, answers)
    }

    /// The forward pass, its contributions and its points.
    pub fn run(
        &self,
        space: &StaticSpace,
        model: &AttentionModel<f32>,
        live: &Parameters<f32>,
        trained: &Arc<Parameters<f32>>,
        interventions: &Interventions<f32>,
    ) -> SentenceSnapshot {
        let activations = self.activations(model, live, interventions);
        let contributions = contributions(model, live, &activations, interventions);
        let end = space.projection.points(&activations.output);
        // The ghost differs only while weights or interventions do.
        let is_changed = !(std::ptr::eq(live, &**trained) && are_none(interventions));
        let unchanged = is_changed.then(|| self.unchanged.of(trained, || self.unchanged(space, model, trained)));
        let trained_end = unchanged.as_ref().map_or_else(|| end.clone(), |(_, end)| end.clone());
        let unchanged = unchanged.map(|(result, _)| {
            let rows = |i: usize| (activations.output.row(i), result.activations.output.row(i));
            let moved = (0..self.len()).map(rows).map(|(now, before)| -Similarity::Euclidean.of(now, before)).collect();
            Unchanged { result, moved }
        });
        let contextual_neighbours = near(space, &activations.output, &vec![None; self.len()]);
        let blocks = || model.architecture.numbered_blocks().zip(&activations.blocks);
        let arithmetic = blocks().flat_map(|((b, config), block)| arithmetic(config, b, live, block, interventions));
        let moves = blocks().zip(&contributions).map(|(((_, config), block), contributions)| {
            Moves::of(&space.projection, block, contributions, config.residual)
        });
        let (arithmetic, moves) = (arithmetic.collect(), moves.collect());
        let source_blocks = activations.blocks.iter().take(model.architecture.source_blocks.len());
        let after = source_blocks.map(|block| space.projection.points(&block.output));
        let source_points = self.source_start.iter().cloned().chain(after).collect();
        SentenceSnapshot {
            arithmetic,
            moves,
            index: self.sentence.index,
            tokens: self.tokens.clone(),
            text: self.sentence.text.clone(),
            source: self.source_tokens.clone(),
            answers: answers(model, live, &activations.output),
            start: self.start.clone(),
            static_neighbours: self.static_neighbours.clone(),
            activations,
            contributions,
            end,
            source_points,
            trained_end,
            unchanged,
            contextual_neighbours,
        }
    }

    fn unchanged(
        &self,
        space: &StaticSpace,
        model: &AttentionModel<f32>,
        trained: &Parameters<f32>,
    ) -> (Arc<UnchangedResult>, Matrix<f32>) {
        let activations = self.activations(model, trained, &Interventions::default());
        let contextual_neighbours = near(space, &activations.output, &vec![None; self.len()]);
        let end = space.projection.points(&activations.output);
        (Arc::new(UnchangedResult { activations, contextual_neighbours }), end)
    }
}

/// With the points of its outputs.
type Ghost = (Arc<UnchangedResult>, Matrix<f32>);

/// The unchanged result of a sentence: while a slider is dragged it stays, and is not run again.
#[derive(Clone, Debug, Default)]
struct UnchangedCache(RefCell<Option<(Arc<Parameters<f32>>, Ghost)>>);

impl UnchangedCache {
    fn of(&self, trained: &Arc<Parameters<f32>>, make: impl FnOnce() -> Ghost) -> Ghost {
        let mut kept = self.0.borrow_mut();
        match &*kept {
            // Held, so that nothing new can stand at its address.
            Some((of, ghost)) if Arc::ptr_eq(of, trained) => ghost.clone(),
            _ => kept.insert((trained.clone(), make())).1.clone(),
        }
    }
}

fn tokens(sequences: &Sequences, space: &StaticSpace) -> Vec<Token> {
    sequences.words.iter().map(|&word| token(word, space)).collect()
}

pub fn token(word: Option<usize>, space: &StaticSpace) -> Token {
    Token { text: word.map_or_else(|| START.to_owned(), |word| space.vocabulary[word].clone()), word, piece: None }
}

/// The text's part of each token that was cut from it.
fn in_pieces(input: Sequences, mut tokens: Vec<Token>, text: Option<&PieceText>) -> (Sequences, Vec<Token>) {
    let Some(PieceText { pieces, .. }) = text else { return (input, tokens) };
    for (token, piece) in tokens.iter_mut().zip(pieces) {
        token.piece = Some(piece.clone());
    }
    (input.with_segments(pieces.iter().map(|piece| piece.segment).collect()), tokens)
}

/// The arithmetic of a block, one for each head.
fn arithmetic(
    config: &BlockConfig,
    b: usize,
    parameters: &Parameters<f32>,
    block: &BlockActivations<f32>,
    interventions: &Interventions<f32>,
) -> Vec<Arithmetic<f32>> {
    let scale = interventions.score_scale(config);
    let temperature = interventions.temperature_of(config);
    let mut biases = parameters
        .values_of(TensorName::DistanceBias.of_block(b))
        .chunks_exact(config.attention.distance_count().max(1));
    let of_head = |head: &HeadActivations<f32>| {
        let (queries, keys) = (head.query.rows(), head.key.rows());
        let distances = biases.next().map(|bias| distance_scores(bias, temperature, queries, keys));
        Arithmetic::of(head, scale, distances)
    };
    block.heads.iter().map(of_head).collect()
}

/// Contributions, one per block.
pub fn contributions(
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
    activations: &Activations<f32>,
    interventions: &Interventions<f32>,
) -> Vec<Contributions<f32>> {
    let mut modes = &interventions.heads[..];
    let of_block = |((b, config), activations): ((usize, &BlockConfig), &Arc<BlockActivations<f32>>)| {
        let (own, others) = modes.split_at(config.attention.heads.min(modes.len()));
        modes = others;
        Contributions::of(config, b, parameters, activations, own)
    };
    model.architecture.numbered_blocks().zip(&activations.blocks).map(of_block).collect()
}
