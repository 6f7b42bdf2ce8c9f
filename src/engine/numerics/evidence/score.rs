//! One attention score as a sum over pairs: what each source put into the query, times what each source put into the
//! key.
//!
//! ```text
//! x = Σ_a a          a: the word, its position, each earlier head's output, each feed-forward layer's output, the biases
//! q_a = R_i N(a W_Q), the last + b_Q          k_c = R_j N(c W_K), the last + b_K          s = scale · Σ_a Σ_c q_a · k_c
//! ```
//!
//! Every norm on the way holds its `σ` and so is linear, `L t = γ ⊙ (t − mean t) / σ`; its shift `β` counts with the
//! biases. A rotation is linear too: each part turns by the place of the query or the key, not of the word that it came
//! from. The score is the one before its bound, the numbers of distances and the mask are applied. (Elhage et al. 2021,
//! *A Mathematical Framework for Transformer Circuits*, has the same sum for two layers without norms.)
//!
//! Only differences within a row matter to softmax, so there is a second table: the same pairs minus their mean over
//! all keys that the query sees. A pair whose key side is the same at every place is 0 there.
//!
//! All sums are in double precision, whatever the pass was computed in.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use crate::numerics::attention::rotary::{TurnDirection, Turns};
use crate::numerics::attention::{AttentionConfig, BatchRows};
use crate::numerics::block::Norm;
use crate::numerics::model::activations::{Activations, HeadActivations, distance_scores};
use crate::numerics::model::{Architecture, AttentionModel, Sequences, Tower};
use crate::numerics::norm::{NormForm, inverse_deviations};
use crate::numerics::params::pairs::{ATTENTION_NORM, ATTENTION_OUTPUT_NORM, FORWARD_NORM};
use crate::numerics::params::{Parameters, TensorId, TensorName};
use crate::numerics::positions::Positions;
use crate::numerics::vectors::{add_scaled, dot};
use crate::numerics::{Matrix, Scalar};

/// A part of the vector that a query or a key is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The static vector of the word.
    Word,
    Position,
    /// The output of a head of an earlier block.
    Head {
        block: usize,
        head: usize,
    },
    /// The output of the feed-forward layer of an earlier block.
    FeedForward {
        block: usize,
    },
    /// Segments, output biases, shifts of norms, and the projection's own bias.
    Bias,
}

/// The place of a weight whose score is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreAt {
    pub block: usize,
    pub head: usize,
    pub query: usize,
    pub key: usize,
}

/// The sum of a source's pairs with all sources of the other side. For a head, it is the part that comes from one word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceValue {
    pub source: Source,
    /// Position of the word that the head read; `None` for a source that is not a head.
    pub word: Option<usize>,
    pub value: f64,
}

/// A score as a sum over pairs of sources.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitScore {
    /// `scale · q · k`
    pub score: f64,
    pub scale: f64,
    pub weight: f64,
    /// Learned number of the distance, which is added to the score; `None` if the layer does not use distances.
    pub added: Option<f64>,
    /// Bound `c` of the score, `c tanh(s / c)`, if there is one.
    pub cap: Option<f64>,
    /// Sources of the query's vector; the next field has those of the key's.
    pub sources: Vec<Source>,
    pub key_sources: Vec<Source>,
    /// Parts of the query and of the key, one for each source, (sources, d_k): their rows add up to `q` and `k`.
    pub query_parts: Matrix<f64>,
    pub key_parts: Matrix<f64>,
    /// Part of the score that comes from each pair, (sources, key sources).
    pub pairs: Matrix<f64>,
    /// The pairs minus their mean over all keys that the query sees.
    pub relative: Matrix<f64>,
    /// Sums of each query source over all key sources, sorted by magnitude, largest first; each head is split into the
    /// words that it read.
    pub query_words: Vec<SourceValue>,
    pub key_words: Vec<SourceValue>,
}

/// Largest count of numbers, over all sources and positions, that are held in memory at once.
const NUMBERS_AT_ONCE: usize = 32 << 20;

/// A norm with its `σ` held at each position, so that it is the map `t ↦ 1/σ · γ ⊙ (t − mean t)`. Only the factor
/// depends on the position: a sum over positions is carried as one vector.
struct Held {
    form: NormForm,
    gain: Vec<f64>,
    shift: Vec<f64>,
    /// `1/σ` of each position.
    factors: Vec<f64>,
}

impl Held {
    fn of<S: Scalar>(form: NormForm, [gain, shift]: [&[S]; 2], whole: &Matrix<S>) -> Self {
        Self { form, gain: wide(gain), shift: wide(shift), factors: inverse_deviations(form, &whole.cast::<f64>()) }
    }

    /// Applies the norm to rows, apart from its factors and its shift.
    fn carry(&self, rows: &mut Matrix<f64>) {
        (0..rows.rows()).for_each(|row| self.form.carry(&self.gain, 1.0, rows.row_mut(row)));
    }

    /// Adds the shift to the biases of some sums. `factors` are those of the norms that follow.
    fn add_shift(&self, bias: &mut Matrix<f64>, sums: &[PlaceSum], factors: &[f64]) {
        if !self.shift.is_empty() {
            add_to_each(bias, sums, factors, &self.shift);
        }
    }

    fn carry_back(&self, place: usize, row: &mut [f64]) {
        self.form.carry_back(&self.gain, self.factors[place], row);
    }
}

/// A step on the way from the static vectors to what a block's projections read.
enum Step {
    Norm(Held),
    /// A block's heads are added, through a norm of their own if there is one.
    Heads {
        block: usize,
        norm: Option<Held>,
    },
    /// A block's feed-forward layer is added.
    Forward {
        block: usize,
    },
    /// What came before is left out, because the layer has no residual connection.
    Drop,
}

/// A weighted sum over positions: each position and its weight.
struct PlaceSum(Vec<(usize, f64)>);

impl PlaceSum {
    /// Computes `Σ_j w_j f_j`.
    fn of_factors(&self, factors: &[f64]) -> f64 {
        self.0.iter().map(|&(place, weight)| weight * factors[place]).sum()
    }

    /// Computes `Σ_j w_j f_j x_j`.
    fn of_rows(&self, factors: &[f64], x: &Matrix<f32>) -> Vec<f64> {
        let mut sum = vec![0.0; x.cols()];
        for &(place, weight) in &self.0 {
            let weight = weight * factors[place];
            sum.iter_mut().zip(x.row(place)).for_each(|(sum, x)| *sum += weight * x.to_f64());
        }
        sum
    }
}

/// A query or key whose score is split, while the gradient of the score goes back through the blocks.
struct End {
    place: usize,
    gradient: Vec<f64>,
    values: Vec<SourceValue>,
}

/// A pass of a sentence whose scores are split.
#[derive(Clone, Copy)]
pub struct SplitPass<'a> {
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
    pub sentence: &'a Sequences,
    pub activations: &'a Activations<f32>,
}

/// The projection of queries or keys, in double precision.
pub(super) struct Side {
    /// Weights of the columns that are projected (D, width), and their bias.
    pub weights: Matrix<f64>,
    bias: Vec<f64>,
    /// The head's own columns within `weights`.
    pub own: Range<usize>,
    /// The form and the gain of the norm of queries or keys, if there is one.
    pub norm: Option<(NormForm, Vec<f64>)>,
}

fn wide<S: Scalar>(row: &[S]) -> Vec<f64> {
    row.iter().map(|x| x.to_f64()).collect()
}

impl SplitPass<'_> {
    /// Splits a score into pairs of sources; `None` if the query does not see the key.
    ///
    /// # Panics
    /// If there is no such head or query.
    pub fn split(&self, at: ScoreAt) -> Option<SplitScore> {
        let ScoreAt { block, head, query, key } = at;
        let layer = &self.model.architecture.blocks[block].attention;
        let of_head = &self.activations.blocks[block].heads[head];
        let seen: Vec<usize> =
            (0..of_head.weights.cols()).filter(|&key| of_head.scores.get(query, key) != f32::NEG_INFINITY).collect();
        if !seen.contains(&key) {
            return None;
        }
        let scale = layer.score_scale();
        let sides = [true, false].map(|of_query| side_of(self.model, self.parameters, (block, head), of_query));
        let turns = Turns::new(layer.rotary.as_ref(), self.activations.input.rows());
        let sources = sources(&self.model.architecture, block);
        let path = self.path(block);
        let [left, right, mean] = self.parts(block, &path, &sides, &turns, (query, key, &seen));
        let table = |right: &Matrix<f64>| {
            let mut pairs = Matrix::zeros(sources.len(), sources.len());
            matmul(pairs.view_mut(), Accum::Replace, left.view(), right.view().transpose(), scale, Par::Seq);
            pairs
        };
        let (pairs, mut relative) = (table(&right), table(&mean));
        relative.flat_mut().iter_mut().zip(pairs.flat()).for_each(|(mean, pair)| *mean = pair - *mean);
        let of_rows = |a: usize| pairs.row(a).iter().sum::<f64>();
        let of_columns = |c: usize| (0..pairs.rows()).map(|a| pairs.get(a, c)).sum::<f64>();
        let end = |side: &Side, place: usize, other: &Matrix<f64>, values: Vec<SourceValue>| {
            let gradient = self.back_to_vector(layer, side, &turns, (block, place), &sum_of_rows(other, scale));
            End { place, gradient, values }
        };
        let mut ends = [
            end(&sides[0], query, &right, without_heads(&sources, of_rows).collect()),
            end(&sides[1], key, &left, without_heads(&sources, of_columns).collect()),
        ];
        self.open_heads(&path, &mut ends);
        let [query_words, key_words] = ends.map(|end| end.values);
        Some(SplitScore {
            score: scale * dot(&wide(of_head.query.row(query)), &wide(of_head.key.row(key))),
            scale,
            weight: of_head.weights.get(query, key).to_f64(),
            added: self.added(at),
            cap: layer.score_cap.map(|cap| cap / layer.temperature),
            query_words,
            key_words,
            query_parts: left,
            key_parts: right,
            key_sources: sources.clone(),
            sources,
            pairs,
            relative,
        })
    }

    /// Computes the parts of the query, of the key, and of the mean over all keys that the query sees, (sources, d_k)
    /// each. Without rotations the mean is one sum over positions; otherwise each key is turned by its own place.
    fn parts(
        &self,
        block: usize,
        path: &[Step],
        [queries, keys]: &[Side; 2],
        turns: &Turns<f64>,
        (query, key, seen): (usize, usize, &[usize]),
    ) -> [Matrix<f64>; 3] {
        let layer = &self.model.architecture.blocks[block].attention;
        let sources = sources(&self.model.architecture, block).len();
        let read = self.read(block);
        let share = 1.0 / seen.len() as f64;
        let mut sums = vec![queries.sum(read, &[query], 1.0), keys.sum(read, &[key], 1.0)];
        match layer.rotary {
            Some(_) => sums.extend(seen.iter().map(|&key| keys.sum(read, &[key], share))),
            None => sums.push(keys.sum(read, seen, share)),
        }
        let mut parts = [(); 3].map(|()| Matrix::zeros(sources, layer.key_width));
        let at_once = (NUMBERS_AT_ONCE / (sources * layer.width)).max(1);
        for (chunk, sums) in sums.chunks(at_once).enumerate() {
            let rows = self.vectors(block, path, sums);
            for (at, sum) in sums.iter().enumerate() {
                let number = (chunk * at_once + at).min(2);
                let side = if number == 0 { queries } else { keys };
                let own = Matrix::stacked(
                    layer.width,
                    rows.iter().map(|of_source| of_source.rows_in(&(at..at + 1))).collect::<Vec<_>>().iter(),
                );
                let mut own = side.of_sources(&own, sum);
                for row in 0..own.rows() {
                    turns.turn(TurnDirection::On, &BatchRows::one(1), sum.0[0].0, layer.key_width, own.row_mut(row));
                }
                add_scaled(parts[number].flat_mut(), 1.0, own.flat());
            }
        }
        parts
    }

    /// Returns what a block's projections read (T, D).
    fn read(&self, block: usize) -> &Matrix<f32> {
        let block = &self.activations.blocks[block];
        block.normed.as_ref().unwrap_or(&block.input)
    }

    /// Returns the learned number that is added to a score for its distance, if the layer uses distances.
    fn added(&self, ScoreAt { block, head, query, key }: ScoreAt) -> Option<f64> {
        let layer = &self.model.architecture.blocks[block].attention;
        let form = layer.distances?;
        let table = self.parameters.values_of(TensorName::DistanceBias.of_block(layer.distance_block(block)));
        let columns = layer.distance_columns();
        let row = &table[head * columns..][..columns];
        Some(distance_scores(form, row, layer.temperature, query + 1, key + 1).get(query, key).to_f64())
    }

    /// Returns the steps on the way to what a block's projections read, in order.
    fn path(&self, block: usize) -> Vec<Step> {
        let Self { model, parameters, activations, .. } = *self;
        let held = |number: usize, names: [TensorName; 2], whole: &Matrix<f32>| {
            let affine = names.map(|name| parameters.values_of(name.of_block(number)));
            Held::of(model.architecture.blocks[number].norm_form, affine, whole)
        };
        let mut path = Vec::new();
        if let (Some(affine), Some(embedded)) =
            (model.embedding_norm(parameters, Tower::Sentence), &activations.embedded)
        {
            path.push(Step::Norm(Held::of(model.architecture.norm_form, affine, embedded)));
        }
        for (number, config) in model.architecture.blocks[..block].iter().enumerate() {
            let of_block = &activations.blocks[number];
            let drop = || (!config.residual).then_some(Step::Drop);
            path.extend(drop());
            let norm = of_block.branch.as_ref().map(|branch| held(number, ATTENTION_OUTPUT_NORM, branch));
            path.push(Step::Heads { block: number, norm });
            path.extend(config.norms_attended().then(|| Step::Norm(held(number, ATTENTION_NORM, &of_block.summed))));
            if config.feed_forward.is_some() {
                path.extend(drop());
                path.push(Step::Forward { block: number });
                let is_normed = config.norm == Norm::Post;
                path.extend(is_normed.then(|| Step::Norm(held(number, FORWARD_NORM, of_block.joined()))));
            }
        }
        if model.architecture.blocks[block].norms_first() {
            path.push(Step::Norm(held(block, ATTENTION_NORM, &activations.blocks[block].input)));
        }
        path
    }

    /// Computes the sources of what a block's projections read, for some sums over positions: a matrix for each source,
    /// with a row for each sum.
    fn vectors(&self, block: usize, path: &[Step], sums: &[PlaceSum]) -> Vec<Matrix<f64>> {
        let Self { model, parameters, sentence, activations } = *self;
        let architecture = &model.architecture;
        let after = factors_after(path, activations.input.rows());
        let statics = model.statics(parameters, sentence);
        let placed = model.placed(parameters, sentence, Matrix::zeros(statics.rows(), statics.cols()));
        let mut bias = gathered(&placed, sums, &after[0]);
        let mut rows = vec![gathered(&statics, sums, &after[0])];
        if architecture.positions != Positions::None {
            let positions = gathered(&self.positions(), sums, &after[0]);
            add_scaled(bias.flat_mut(), -1.0, positions.flat());
            rows.push(positions);
        }
        for (step, after) in path.iter().zip(&after[1..]) {
            match step {
                Step::Norm(norm) => {
                    rows.iter_mut().chain([&mut bias]).for_each(|rows| norm.carry(rows));
                    norm.add_shift(&mut bias, sums, after);
                }
                Step::Heads { block, norm } => {
                    let mut added = self.added_by_heads(*block, norm.as_ref(), sums, after);
                    let own_bias = added.pop().expect("the biases come last");
                    rows.append(&mut added);
                    add_scaled(bias.flat_mut(), 1.0, own_bias.flat());
                }
                Step::Forward { block } => rows.push(self.added_forward(*block, sums, after)),
                Step::Drop => rows.iter_mut().chain([&mut bias]).for_each(|rows| rows.flat_mut().fill(0.0)),
            }
        }
        rows.push(bias);
        debug_assert_eq!(rows.len(), sources(architecture, block).len());
        rows
    }

    /// Returns the rows of `P` of all tokens (T, D).
    fn positions(&self) -> Matrix<f32> {
        let Self { model, parameters, sentence, .. } = *self;
        let (table, width) = (model.positions(parameters, Tower::Sentence), model.architecture.width);
        let rows = sentence.position_rows(model.architecture.position_rows);
        Matrix::from_fn(rows.len(), width, |i, j| table[rows[i] * width + j])
    }

    /// Computes `M_h W_O^h` of each head, and `b_O` with the shift of the heads' own norm, for some sums over
    /// positions. `after` are the factors of the norms that follow.
    fn added_by_heads(&self, number: usize, norm: Option<&Held>, sums: &[PlaceSum], after: &[f64]) -> Vec<Matrix<f64>> {
        let layer = &self.model.architecture.blocks[number].attention;
        let through: Vec<f64> = match norm {
            Some(norm) => after.iter().zip(&norm.factors).map(|(after, own)| after * own).collect(),
            None => after.to_vec(),
        };
        let weights = self.output_weights(number);
        let of_head = |(head, of): (usize, &HeadActivations<f32>)| {
            let columns = layer.mix_columns(head);
            let mut added = Matrix::zeros(sums.len(), layer.width);
            let (mix, own) = (gathered(&of.mix, sums, &through), weights.view().subrows(columns.start, columns.len()));
            matmul(added.view_mut(), Accum::Replace, mix.view(), own, 1.0, Par::Seq);
            added
        };
        let mut rows: Vec<Matrix<f64>> =
            self.activations.blocks[number].heads.iter().enumerate().map(of_head).collect();
        let mut bias = Matrix::zeros(sums.len(), layer.width);
        let own = self.parameters.values_of(TensorName::OutputBias.of_block(number));
        if !own.is_empty() {
            add_to_each(&mut bias, sums, &through, &wide(own));
        }
        rows.push(bias);
        if let Some(norm) = norm {
            rows.iter_mut().for_each(|rows| norm.carry(rows));
            norm.add_shift(rows.last_mut().expect("the biases"), sums, after);
        }
        rows
    }

    /// Computes what a block's feed-forward layer adds, for some sums over positions.
    fn added_forward(&self, number: usize, sums: &[PlaceSum], after: &[f64]) -> Matrix<f64> {
        let block = &self.activations.blocks[number];
        let mut forward = gathered(block.joined(), sums, after);
        if self.model.architecture.blocks[number].residual {
            add_scaled(forward.flat_mut(), -1.0, gathered(block.attended(), sums, after).flat());
        }
        forward
    }

    /// Returns `W_O` (H·d_v, D), or the identity if the layer has none.
    fn output_weights(&self, number: usize) -> Matrix<f64> {
        let layer = &self.model.architecture.blocks[number].attention;
        let weights = layer.output.then(|| TensorName::OutputWeights.of_block(number));
        part_of(self.parameters, weights, layer.width, [0..layer.mixes_width(), 0..layer.width])
    }

    /// Computes the vector `g` (D) whose dot product with the block's input at a position is the score, apart from the
    /// biases. `other` is the query or key on the other side, times the scale.
    fn back_to_vector(
        &self,
        layer: &AttentionConfig,
        side: &Side,
        turns: &Turns<f64>,
        (block, place): (usize, usize),
        other: &[f64],
    ) -> Vec<f64> {
        let mut own = other.to_vec();
        turns.turn(TurnDirection::Back, &BatchRows::one(1), place, layer.key_width, &mut own);
        let mut whole = vec![0.0; side.weights.cols()];
        whole[side.own.clone()].copy_from_slice(&own);
        if let Some(held) = side.held(|| self.read(block).rows_in(&(place..place + 1)).cast()) {
            held.carry_back(0, &mut whole);
        }
        (0..side.weights.rows()).map(|i| dot(side.weights.row(i), &whole)).collect()
    }

    /// Adds the value of each word that each head reads, for both ends: `α_ij v_j W_O · g`, where `g` is the gradient
    /// of the score with respect to what the head's block adds. Sorts the values by magnitude, largest first.
    fn open_heads(&self, path: &[Step], ends: &mut [End; 2]) {
        for step in path.iter().rev() {
            match step {
                Step::Norm(norm) => ends.iter_mut().for_each(|end| norm.carry_back(end.place, &mut end.gradient)),
                Step::Heads { block, norm } => {
                    let weights = self.output_weights(*block);
                    ends.iter_mut().for_each(|end| self.open_block(*block, norm.as_ref(), &weights, end));
                }
                Step::Forward { .. } => {}
                Step::Drop => ends.iter_mut().for_each(|end| end.gradient.fill(0.0)),
            }
        }
        ends.iter_mut().for_each(|end| end.values.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs())));
    }

    fn open_block(&self, block: usize, norm: Option<&Held>, weights: &Matrix<f64>, end: &mut End) {
        let mut gradient = end.gradient.clone();
        if let Some(norm) = norm {
            norm.carry_back(end.place, &mut gradient);
        }
        let layer = &self.model.architecture.blocks[block].attention;
        let seen: Vec<f64> = (0..weights.rows()).map(|row| dot(weights.row(row), &gradient)).collect();
        for (head, of) in self.activations.blocks[block].heads.iter().enumerate() {
            let seen = &seen[layer.mix_columns(head)];
            let source = Source::Head { block, head };
            end.values.extend((0..of.value.rows()).map(|word| {
                let value = of.weights.get(end.place, word).to_f64() * dot(&wide(of.value.row(word)), seen);
                SourceValue { source, word: Some(word), value }
            }));
        }
    }
}

/// Estimates the number of multiplications that splitting one score takes in a sentence of the given number of tokens.
///
/// # Panics
/// If there is no such block.
pub fn split_work(architecture: &Architecture, block: usize, tokens: usize) -> usize {
    let layer = &architecture.blocks[block].attention;
    let sources = sources(architecture, block).len();
    (tokens + 1).saturating_mul(sources).saturating_mul(layer.width).saturating_mul(layer.key_width + sources)
}

/// Returns the sources of a block's input: the word, its position, the heads and the feed-forward layer of each earlier
/// block, and the biases.
fn sources(architecture: &Architecture, block: usize) -> Vec<Source> {
    let mut sources = vec![Source::Word];
    sources.extend((architecture.positions != Positions::None).then_some(Source::Position));
    for (block, config) in architecture.blocks[..block].iter().enumerate() {
        sources.extend((0..config.attention.heads).map(|head| Source::Head { block, head }));
        sources.extend(config.feed_forward.map(|_| Source::FeedForward { block }));
    }
    sources.push(Source::Bias);
    sources
}

/// Returns the values of the sources that are not heads.
fn without_heads(sources: &[Source], value: impl Fn(usize) -> f64) -> impl Iterator<Item = SourceValue> {
    let whole = sources.iter().enumerate().filter(|(_, source)| !matches!(source, Source::Head { .. }));
    whole.map(move |(at, &source)| SourceValue { source, word: None, value: value(at) })
}

/// Returns the projection to a head's queries or keys. A norm over all heads needs the columns of all heads.
pub(super) fn side_of(
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
    (block, head): (usize, usize),
    of_query: bool,
) -> Side {
    use TensorName::*;
    let layer = &model.architecture.blocks[block].attention;
    let (columns, all) = match of_query {
        true => (layer.query_columns(head), layer.queries_width()),
        false => (layer.key_columns(head), layer.keys_width()),
    };
    let [weights, bias, gain] = match of_query {
        true => [QueryWeights, QueryBias, QueryNormGain],
        false => [KeyWeights, KeyBias, KeyNormGain],
    };
    let is_whole = layer.query_key_norm.is_some_and(|norm| !norm.each_head);
    let taken = if is_whole { 0..all } else { columns.clone() };
    let own = columns.start - taken.start..columns.end - taken.start;
    let gain = wide(parameters.values_of(gain.of_block(block)));
    let norm = layer.query_key_norm.map(|norm| (norm.form, gain));
    let bias = parameters.values_of(bias.of_block(block));
    let bias = taken.clone().map(|j| bias.get(j).map_or(0.0, |x| x.to_f64())).collect();
    let weights = layer.projected.then(|| weights.of_block(block));
    Side { weights: part_of(parameters, weights, all, [0..layer.width, taken]), bias, own, norm }
}

/// Returns some rows and columns of a projection with `width` columns, in double precision; those of the identity if
/// the layer has no such weights.
pub(super) fn part_of(
    parameters: &Parameters<f32>,
    weights: Option<TensorId>,
    width: usize,
    [rows, columns]: [Range<usize>; 2],
) -> Matrix<f64> {
    let Some(weights) = weights else {
        return Matrix::from_fn(rows.len(), columns.len(), |i, j| f64::from(rows.start + i == columns.start + j));
    };
    let (values, mut own) = (parameters.row_major(weights), Vec::with_capacity(rows.len() * columns.len()));
    for row in rows.clone() {
        own.extend(values[row * width..][columns.clone()].iter().map(|x| f64::from(*x)));
    }
    Matrix::from_row_major(rows.len(), columns.len(), own)
}

impl Side {
    /// Computes the queries or keys of rows (N, D), before their norm and rotations.
    fn raw(&self, x: &Matrix<f64>) -> Matrix<f64> {
        let mut whole = Matrix::zeros(x.rows(), self.weights.cols());
        matmul(whole.view_mut(), Accum::Replace, x.view(), self.weights.view(), 1.0, Par::Seq);
        (0..whole.rows()).for_each(|row| add_scaled(whole.row_mut(row), 1.0, &self.bias));
        whole
    }

    /// Computes the head's queries or keys of rows (N, D), without rotations.
    pub(super) fn of_rows(&self, x: &Matrix<f64>) -> Matrix<f64> {
        let mut whole = self.raw(x);
        if let Some((form, gain)) = &self.norm {
            let factors = inverse_deviations(*form, &whole);
            factors.iter().enumerate().for_each(|(row, factor)| form.carry(gain, *factor, whole.row_mut(row)));
        }
        whole.top_columns(whole.rows(), &self.own)
    }

    /// Returns the norm of queries or keys, if there is one, with the `σ` of the rows that are projected (N, D).
    fn held(&self, rows: impl FnOnce() -> Matrix<f64>) -> Option<Held> {
        let (form, gain) = self.norm.as_ref()?;
        Some(Held::of(*form, [&gain[..], &[]], &self.raw(&rows())))
    }

    /// Returns the sum over some positions, each with this share, times `1/σ` of the norm of its query or key. `read`
    /// is what the projections read (T, D).
    fn sum(&self, read: &Matrix<f32>, places: &[usize], share: f64) -> PlaceSum {
        let held = self.held(|| Matrix::from_fn(places.len(), read.cols(), |i, j| read.get(places[i], j).to_f64()));
        let factor = |at: usize| held.as_ref().map_or(1.0, |held| held.factors[at]);
        PlaceSum(places.iter().enumerate().map(|(at, &place)| (place, share * factor(at))).collect())
    }

    /// Computes the head's queries or keys of the sources of a sum (sources, D), the biases last, without rotations.
    fn of_sources(&self, x: &Matrix<f64>, sum: &PlaceSum) -> Matrix<f64> {
        let mut whole = Matrix::zeros(x.rows(), self.weights.cols());
        matmul(whole.view_mut(), Accum::Replace, x.view(), self.weights.view(), 1.0, Par::Seq);
        let weight = sum.0.iter().map(|(_, weight)| weight).sum();
        let last = whole.rows() - 1;
        add_scaled(whole.row_mut(last), weight, &self.bias);
        if let Some((form, gain)) = &self.norm {
            (0..whole.rows()).for_each(|row| form.carry(gain, 1.0, whole.row_mut(row)));
        }
        whole.top_columns(whole.rows(), &self.own)
    }
}

/// Returns the product of the factors of the norms that follow, at each position: before the first step, and after each
/// step. A step that drops what came before is passed like the others, because it leaves zeros.
fn factors_after(path: &[Step], places: usize) -> Vec<Vec<f64>> {
    let mut after = vec![vec![1.0; places]];
    for step in path.iter().rev() {
        let mut factors = after.last().expect("the end of the way").clone();
        if let Step::Norm(norm) = step {
            factors.iter_mut().zip(&norm.factors).for_each(|(factor, own)| *factor *= own);
        }
        after.push(factors);
    }
    after.reverse();
    after
}

/// Computes `factor · Σ rows`.
fn sum_of_rows(x: &Matrix<f64>, factor: f64) -> Vec<f64> {
    let mut sum = vec![0.0; x.cols()];
    (0..x.rows()).for_each(|row| add_scaled(&mut sum, factor, x.row(row)));
    sum
}

/// Computes sums of rows over positions, (sums, D).
fn gathered(x: &Matrix<f32>, sums: &[PlaceSum], factors: &[f64]) -> Matrix<f64> {
    let rows: Vec<f64> = sums.iter().flat_map(|sum| sum.of_rows(factors, x)).collect();
    Matrix::from_row_major(sums.len(), x.cols(), rows)
}

/// Adds a vector that is the same at all positions to sums over positions.
fn add_to_each(rows: &mut Matrix<f64>, sums: &[PlaceSum], factors: &[f64], vector: &[f64]) {
    for (row, sum) in sums.iter().enumerate() {
        add_scaled(rows.row_mut(row), sum.of_factors(factors), vector);
    }
}
