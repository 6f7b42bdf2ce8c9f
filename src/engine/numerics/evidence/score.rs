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
use crate::numerics::block::{BlockConfig, Norm};
use crate::numerics::model::activations::{Activations, distance_scores};
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

/// A norm at one position, with its `σ` held, so that it is linear.
struct Held {
    form: NormForm,
    gain: Vec<f64>,
    shift: Vec<f64>,
    factor: f64,
}

impl Held {
    fn of<S: Scalar>(form: NormForm, [gain, shift]: [&[S]; 2], whole: &[f64]) -> Self {
        let factor = inverse_deviations(form, &Matrix::from_row_major(1, whole.len(), whole.to_vec()))[0];
        Self { form, gain: wide(gain), shift: wide(shift), factor }
    }

    fn carry(&self, row: &mut [f64]) {
        self.form.carry(&self.gain, self.factor, row);
    }

    fn carry_back(&self, row: &mut [f64]) {
        self.form.carry_back(&self.gain, self.factor, row);
    }

    /// Applies the norm to the biases, and adds the shift to them.
    fn carry_bias(&self, row: &mut [f64]) {
        self.carry(row);
        row.iter_mut().zip(&self.shift).for_each(|(x, shift)| *x += shift);
    }
}

/// A pass of a sentence whose scores are split.
#[derive(Clone, Copy)]
pub struct SplitPass<'a, S> {
    pub model: &'a AttentionModel<S>,
    pub parameters: &'a Parameters<S>,
    pub sentence: &'a Sequences,
    pub activations: &'a Activations<S>,
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

impl<S: Scalar> SplitPass<'_, S> {
    /// Splits a score into pairs of sources; `None` if the query does not see the key.
    ///
    /// # Panics
    /// If there is no such head or token.
    pub fn split(&self, at: ScoreAt) -> Option<SplitScore> {
        let ScoreAt { block, head, query, key } = at;
        let config = &self.model.architecture.blocks[block];
        let layer = &config.attention;
        let of_head = &self.activations.blocks[block].heads[head];
        let sees = |key: usize| of_head.scores.get(query, key) != S::NEG_INFINITY;
        if !sees(key) {
            return None;
        }
        let scale = layer.score_scale();
        let [queries, keys] =
            [true, false].map(|of_query| side_of(self.model, self.parameters, (block, head), of_query));
        let turns = Turns::new(layer.rotary.as_ref(), self.activations.input.rows());
        let sources = sources(&self.model.architecture, block);
        let left = self.projected(block, &queries, &turns, &[query]).remove(0);
        let seen: Vec<usize> = (0..of_head.weights.cols()).filter(|key| sees(*key)).collect();
        let [right, mean] = self.keys_and_mean(block, &keys, &turns, (key, &seen));
        let table = |right: &Matrix<f64>| {
            Matrix::from_fn(sources.len(), sources.len(), |a, c| scale * dot(left.row(a), right.row(c)))
        };
        let (pairs, of_mean) = (table(&right), table(&mean));
        let relative = Matrix::from_fn(pairs.rows(), pairs.cols(), |a, c| pairs.get(a, c) - of_mean.get(a, c));
        let of_rows = |a: usize| pairs.row(a).iter().sum::<f64>();
        let of_columns = |c: usize| (0..pairs.rows()).map(|a| pairs.get(a, c)).sum::<f64>();
        let back = |side: &Side, other: &Matrix<f64>, place: usize| {
            self.back_to_vector(layer, side, &turns, (block, place), &sum_of_rows(other, scale))
        };
        Some(SplitScore {
            score: scale * dot(&wide(of_head.query.row(query)), &wide(of_head.key.row(key))),
            scale,
            weight: of_head.weights.get(query, key).to_f64(),
            added: self.added(at),
            cap: layer.score_cap.map(|cap| cap / layer.temperature),
            query_words: self.in_words((block, query), &sources, of_rows, back(&queries, &right, query)),
            key_words: self.in_words((block, key), &sources, of_columns, back(&keys, &left, key)),
            query_parts: left,
            key_parts: right,
            key_sources: sources.clone(),
            sources,
            pairs,
            relative,
        })
    }

    /// Computes the part of a key that comes from each source, and the mean of these parts over all keys that are seen,
    /// (sources, d_k) each.
    fn keys_and_mean(
        &self,
        block: usize,
        keys: &Side,
        turns: &Turns<f64>,
        (key, seen): (usize, &[usize]),
    ) -> [Matrix<f64>; 2] {
        let layer = &self.model.architecture.blocks[block].attention;
        let sources = sources(&self.model.architecture, block).len();
        let [mut own, mut mean] = [(); 2].map(|()| Matrix::zeros(sources, layer.key_width));
        let at_once = (NUMBERS_AT_ONCE / (sources * layer.width)).max(1);
        for places in seen.chunks(at_once) {
            for (place, found) in places.iter().zip(self.projected(block, keys, turns, places)) {
                add_scaled(mean.flat_mut(), 1.0 / seen.len() as f64, found.flat());
                if *place == key {
                    own = found;
                }
            }
        }
        [own, mean]
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

    /// Computes the part that each source has in the queries or keys at some positions, (sources, d_k) for each
    /// position.
    fn projected(&self, block: usize, side: &Side, turns: &Turns<f64>, places: &[usize]) -> Vec<Matrix<f64>> {
        let key_width = self.model.architecture.blocks[block].attention.key_width;
        let rows = self.vectors(block, places);
        let of_place = |(at, &place): (usize, &usize)| {
            let mut whole = Matrix::zeros(rows.len(), side.weights.cols());
            let own = Matrix::stacked(
                side.weights.rows(),
                &rows.iter().map(|row| Matrix::from_row_major(1, row.cols(), row.row(at).to_vec())).collect::<Vec<_>>(),
            );
            matmul(whole.view_mut(), Accum::Replace, own.view(), side.weights.view(), 1.0, Par::Seq);
            let last = whole.rows() - 1;
            add_scaled(whole.row_mut(last), 1.0, &side.bias);
            if let Some(held) = side.held(&sum_of_rows(&whole, 1.0)) {
                (0..whole.rows()).for_each(|row| held.carry(whole.row_mut(row)));
            }
            let mut own = whole.top_columns(whole.rows(), &side.own);
            for row in 0..own.rows() {
                turns.turn(TurnDirection::On, &BatchRows::one(1), place, key_width, own.row_mut(row));
            }
            own
        };
        places.iter().enumerate().map(of_place).collect()
    }

    /// Computes the sources of a block's input at some positions: a matrix for each source, with a row for each
    /// position.
    fn vectors(&self, block: usize, places: &[usize]) -> Vec<Matrix<f64>> {
        let Self { model, parameters, sentence, activations } = *self;
        let architecture = &model.architecture;
        let statics = model.statics(parameters, sentence);
        let nothing = Matrix::zeros(statics.rows(), statics.cols());
        let mut bias = gathered(&model.placed(parameters, sentence, nothing), places);
        let mut rows = vec![gathered(&statics, places)];
        if architecture.positions != Positions::None {
            let positions = self.positions(places);
            add_scaled(bias.flat_mut(), -1.0, positions.flat());
            rows.push(positions);
        }
        if let (Some(affine), Some(embedded)) =
            (model.embedding_norm(parameters, Tower::Sentence), &activations.embedded)
        {
            carry_all(architecture.norm_form, affine, embedded, places, &mut rows, &mut bias);
        }
        for (number, config) in architecture.blocks[..block].iter().enumerate() {
            self.add_block(number, config, places, &mut rows, &mut bias);
        }
        if architecture.blocks[block].norms_first() {
            let (form, affine) = (architecture.blocks[block].norm_form, self.affine(block, ATTENTION_NORM));
            carry_all(form, affine, &activations.blocks[block].input, places, &mut rows, &mut bias);
        }
        rows.push(bias);
        rows
    }

    /// Returns the rows of `P` at some positions.
    fn positions(&self, places: &[usize]) -> Matrix<f64> {
        let Self { model, parameters, sentence, .. } = *self;
        let (table, width) = (model.positions(parameters, Tower::Sentence), model.architecture.width);
        let rows = sentence.position_rows(model.architecture.position_rows);
        Matrix::from_fn(places.len(), width, |i, j| table[rows[places[i]] * width + j].to_f64())
    }

    fn affine(&self, block: usize, names: [TensorName; 2]) -> [&[S]; 2] {
        names.map(|name| self.parameters.values_of(name.of_block(block)))
    }

    /// Adds the sources that a block adds, and applies the block's norms to all sources.
    fn add_block(
        &self,
        number: usize,
        config: &BlockConfig,
        places: &[usize],
        rows: &mut Vec<Matrix<f64>>,
        bias: &mut Matrix<f64>,
    ) {
        let block = &self.activations.blocks[number];
        if !config.residual {
            rows.iter_mut().chain([&mut *bias]).for_each(|row| row.flat_mut().fill(0.0));
        }
        let (mut added, mut own_bias) = self.added_by_heads(number, config, places);
        if let Some(branch) = &block.branch {
            carry_all(
                config.norm_form,
                self.affine(number, ATTENTION_OUTPUT_NORM),
                branch,
                places,
                &mut added,
                &mut own_bias,
            );
        }
        rows.append(&mut added);
        add_scaled(bias.flat_mut(), 1.0, own_bias.flat());
        if config.norms_attended() {
            let affine = self.affine(number, ATTENTION_NORM);
            carry_all(config.norm_form, affine, &block.summed, places, rows, bias);
        }
        if config.feed_forward.is_none() {
            return;
        }
        let mut forward = gathered(block.joined(), places);
        if config.residual {
            add_scaled(forward.flat_mut(), -1.0, gathered(block.attended(), places).flat());
        } else {
            rows.iter_mut().chain([&mut *bias]).for_each(|row| row.flat_mut().fill(0.0));
        }
        rows.push(forward);
        if config.norm == Norm::Post {
            let affine = self.affine(number, FORWARD_NORM);
            carry_all(config.norm_form, affine, block.joined(), places, rows, bias);
        }
    }

    /// Computes `M_h W_O^h` of each head, and `b_O`, at some positions.
    fn added_by_heads(&self, number: usize, config: &BlockConfig, places: &[usize]) -> (Vec<Matrix<f64>>, Matrix<f64>) {
        let layer = &config.attention;
        let block = &self.activations.blocks[number];
        let weights = self.output_weights(number, config);
        let of_head = |head: usize| {
            let mix = gathered(&block.heads[head].mix, places);
            let columns = layer.mix_columns(head);
            let mut added = Matrix::zeros(places.len(), layer.width);
            let own = weights.view().subrows(columns.start, columns.len());
            matmul(added.view_mut(), Accum::Replace, mix.view(), own, 1.0, Par::Seq);
            added
        };
        let bias = self.parameters.values_of(TensorName::OutputBias.of_block(number));
        let bias = Matrix::from_fn(places.len(), layer.width, |_, j| bias.get(j).map_or(0.0, |x| x.to_f64()));
        ((0..layer.heads).map(of_head).collect(), bias)
    }

    /// Returns `W_O` (H·d_v, D), or the identity if the layer has none.
    fn output_weights(&self, number: usize, config: &BlockConfig) -> Matrix<f64> {
        let layer = &config.attention;
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
        let blocks = &self.activations.blocks;
        let read = blocks[block].normed.as_ref().unwrap_or(&blocks[block].input);
        let mut raw = side.bias.clone();
        wide(read.row(place)).iter().enumerate().for_each(|(i, x)| add_scaled(&mut raw, *x, side.weights.row(i)));
        if let Some(held) = side.held(&raw) {
            held.carry_back(&mut whole);
        }
        (0..side.weights.rows()).map(|i| dot(side.weights.row(i), &whole)).collect()
    }

    /// Returns the values of all sources at a position, sorted by magnitude, largest first. Those of heads are split
    /// into words: `gradient`, the gradient of the score with respect to the block's input, is carried back through the
    /// norms.
    fn in_words(
        &self,
        (block, place): (usize, usize),
        sources: &[Source],
        value: impl Fn(usize) -> f64,
        mut gradient: Vec<f64>,
    ) -> Vec<SourceValue> {
        let mut values: Vec<SourceValue> = without_heads(sources, value).collect();
        let blocks = &self.model.architecture.blocks;
        let held = |number: usize, names, whole: &Matrix<S>| {
            Held::of(blocks[number].norm_form, self.affine(number, names), &wide(whole.row(place)))
        };
        if blocks[block].norms_first() {
            held(block, ATTENTION_NORM, &self.activations.blocks[block].input).carry_back(&mut gradient);
        }
        for (number, config) in blocks[..block].iter().enumerate().rev() {
            let of_block = &self.activations.blocks[number];
            if config.feed_forward.is_some() {
                if config.norm == Norm::Post {
                    held(number, FORWARD_NORM, of_block.joined()).carry_back(&mut gradient);
                }
                if !config.residual {
                    gradient.fill(0.0);
                }
            }
            if config.norms_attended() {
                held(number, ATTENTION_NORM, &of_block.summed).carry_back(&mut gradient);
            }
            let mut own = gradient.clone();
            if let Some(branch) = &of_block.branch {
                held(number, ATTENTION_OUTPUT_NORM, branch).carry_back(&mut own);
            }
            self.open_heads((number, config), place, &own, &mut values);
            if !config.residual {
                gradient.fill(0.0);
            }
        }
        values.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        values
    }

    /// Adds the value of each word that each head of a block reads at a position: `α_ij v_j W_O · g`.
    fn open_heads(
        &self,
        (number, config): (usize, &BlockConfig),
        place: usize,
        gradient: &[f64],
        values: &mut Vec<SourceValue>,
    ) {
        let weights = self.output_weights(number, config);
        let seen: Vec<f64> = (0..weights.rows()).map(|row| dot(weights.row(row), gradient)).collect();
        for (head, of) in self.activations.blocks[number].heads.iter().enumerate() {
            let seen = &seen[config.attention.mix_columns(head)];
            let source = Source::Head { block: number, head };
            values.extend((0..of.value.rows()).map(|word| {
                let value = of.weights.get(place, word).to_f64() * dot(&wide(of.value.row(word)), seen);
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
pub(super) fn side_of<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
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
pub(super) fn part_of<S: Scalar>(
    parameters: &Parameters<S>,
    weights: Option<TensorId>,
    width: usize,
    [rows, columns]: [Range<usize>; 2],
) -> Matrix<f64> {
    let values = weights.map(|weights| parameters.row_major(weights));
    let entry = |i: usize, j: usize| match &values {
        Some(values) => values[i * width + j].to_f64(),
        None => f64::from(u8::from(i == j)),
    };
    Matrix::from_fn(rows.len(), columns.len(), |i, j| entry(rows.start + i, columns.start + j))
}

impl Side {
    /// Computes the head's queries or keys of rows (N, D), without rotations.
    pub(super) fn of_rows(&self, x: &Matrix<f64>) -> Matrix<f64> {
        let mut whole = Matrix::zeros(x.rows(), self.weights.cols());
        matmul(whole.view_mut(), Accum::Replace, x.view(), self.weights.view(), 1.0, Par::Seq);
        for row in 0..whole.rows() {
            add_scaled(whole.row_mut(row), 1.0, &self.bias);
            if let Some(held) = self.held(whole.row(row)) {
                held.carry(whole.row_mut(row));
            }
        }
        whole.top_columns(whole.rows(), &self.own)
    }

    /// Returns the norm of queries or keys, if there is one, with the `σ` of a projected row.
    fn held(&self, whole: &[f64]) -> Option<Held> {
        let (form, gain) = self.norm.as_ref()?;
        Some(Held::of(*form, [&gain[..], &[]], whole))
    }
}

/// Computes `factor · Σ rows`.
fn sum_of_rows(x: &Matrix<f64>, factor: f64) -> Vec<f64> {
    let mut sum = vec![0.0; x.cols()];
    (0..x.rows()).for_each(|row| add_scaled(&mut sum, factor, x.row(row)));
    sum
}

/// Returns some rows in double precision.
fn gathered<S: Scalar>(x: &Matrix<S>, places: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(places.len(), x.cols(), |i, j| x.get(places[i], j).to_f64())
}

/// Applies a norm to the sources of some positions, with the `σ` of the whole vectors, and adds its shift to the
/// biases.
fn carry_all<S: Scalar>(
    form: NormForm,
    affine: [&[S]; 2],
    whole: &Matrix<S>,
    places: &[usize],
    rows: &mut [Matrix<f64>],
    bias: &mut Matrix<f64>,
) {
    for (at, &place) in places.iter().enumerate() {
        let held = Held::of(form, affine, &wide(whole.row(place)));
        rows.iter_mut().for_each(|row| held.carry(row.row_mut(at)));
        held.carry_bias(bias.row_mut(at));
    }
}
