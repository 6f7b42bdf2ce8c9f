//! The model: from words to a loss, and back to the gradient of every parameter.
//!
//! ```text
//! X = E[words] + P[positions]        a hidden word has 0 in place of its row of E; with segments, + E_S[segments]
//! Y = block_n(… block_1(X))          the source, if there is one, goes through its own blocks first
//! y = Y[row], Y[last] or mean(Y)     the output that a target reads
//! z = y W + b                        one logit for each class; or of norm(φ(y W_T + b_T)) instead of y
//! L = 1/N [ Σ_targets (−ln softmax(z)_class + λ_A ‖y − e_class‖²) + λ_K Σ_kept ‖y − e_word‖² ]
//! ```
//!
//! A model may norm `X` and `Y`. In a *tied* readout the columns of `W` are the classes' rows of `E` (Press & Wolf
//! 2017, arXiv 1608.05859); otherwise `W` is learned. `N` is the number of targets. The squared distances pull outputs
//! to a static vector: Wen et al. 2016 (*A Discriminative Feature Learning Approach for Deep Face Recognition*, Eq. 5),
//! with fixed centres. With a linear readout, whose classes have no static vectors, the outputs of targets too are
//! pulled to the static vectors of their own words.

use std::ops::Range;

use super::attention::softmax;
use super::block::{backward, steps};
use super::{
    Matrix, Scalar, activations, activations_backward, affine, affine_backward, held_below, held_below_slope, norm,
    norm_backward, tensor,
};
use crate::numerics::block::BlockConfig;
use crate::numerics::model::{AttentionModel, Batch, Classes, Pooling, Readout, Sequences, Tower};
use crate::numerics::params::{Parameters, TensorId, TensorName};
use crate::numerics::positions::Positions;

/// Returns `E` (V, D), trained with the model or as word2vec trained it.
fn embedding<S: Scalar>(model: &AttentionModel<S>, parameters: &Parameters<S>) -> Matrix<S> {
    tensor(parameters, TensorName::Embedding).unwrap_or_else(|| model.embedding.widened().into_owned())
}

/// Returns the position vector `P[t]`: a row of a learned table, which may be the source's own, or waves (Vaswani et
/// al. 2017, section 3.5): `P[t, 2i] = sin(t / 10000^(2i/D))`, and `P[t, 2i + 1]` the cosine of the same; in halves,
/// the cosine is `P[t, ⌈D/2⌉ + i]`. Zeros without positions.
fn position<S: Scalar>(model: &AttentionModel<S>, parameters: &Parameters<S>, tower: Tower, t: usize) -> Vec<S> {
    const BASE: f64 = 10_000.0;
    let width = model.architecture.width;
    let angle = |i: usize| t as f64 / BASE.powf((2 * i) as f64 / width as f64);
    let pairs = (0..width.div_ceil(2)).map(|i| [angle(i).sin(), angle(i).cos()].map(S::from_f64));
    match model.architecture.positions {
        Positions::None => vec![S::zero(); width],
        Positions::Sinusoidal => pairs.flatten().take(width).collect(),
        Positions::SinusoidalInHalves => {
            let (sines, cosines): (Vec<S>, Vec<S>) = pairs.map(|[sine, cosine]| (sine, cosine)).unzip();
            sines.into_iter().chain(cosines).take(width).collect()
        }
        Positions::Learned => {
            let own = tensor(parameters, TensorName::SourcePositions).filter(|_| tower == Tower::Source);
            let table = own.or_else(|| tensor(parameters, TensorName::Positions));
            table.expect("learned positions").row(t).to_vec()
        }
    }
}

/// Returns the row of `P` of a token; padding words are not counted.
fn position_row<S: Scalar>(
    model: &AttentionModel<S>,
    sequences: &Sequences,
    sentence: &Range<usize>,
    row: usize,
) -> usize {
    let form = model.architecture.position_rows;
    let is_filler = |row: &usize| form.filler.is_some() && sequences.words[*row] == form.filler;
    let fillers = (sentence.start..row).filter(is_filler).count();
    if is_filler(&row) { form.first - 1 } else { form.first + sequences.positions[row] - fillers }
}

/// Returns the factor of the rows of `E`: `√D` in Gemma, otherwise 1.
fn embedding_scale<S: Scalar>(model: &AttentionModel<S>) -> S {
    model.architecture.embedding_scale.map_or(S::one(), S::from_f64)
}

/// Computes the sum of the embeddings of one sentence (T, D).
fn embedded<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    tower: Tower,
    sequences: &Sequences,
    rows: Range<usize>,
) -> Matrix<S> {
    let table = embedding(model, parameters);
    let segments = tensor(parameters, TensorName::Segments);
    let positions: Vec<Vec<S>> = rows
        .clone()
        .map(|row| position(model, parameters, tower, position_row(model, sequences, &rows, row)))
        .collect();
    let scale = embedding_scale(model);
    Matrix::from_fn(rows.len(), model.architecture.width, |t, j| {
        let word = sequences.words[rows.start + t].map_or(S::zero(), |word| scale * table.get(word, j));
        let segment = segments.as_ref().map_or(S::zero(), |table| table.get(sequences.segments[rows.start + t], j));
        word + positions[t][j] + segment
    })
}

/// Computes `norm(x)` with tensors that not every model has; without them returns `x`.
fn normed<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    ids: [TensorId; 2],
    x: &Matrix<S>,
) -> Matrix<S> {
    let form = model.architecture.norm_form;
    if parameters.spec(ids[0]).is_some() { norm(parameters, ids, form, x) } else { x.clone() }
}

/// Computes the gradient of [`normed`].
fn normed_backward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    ids: [TensorId; 2],
    x: &Matrix<S>,
    d_y: &Matrix<S>,
    gradient: &mut Parameters<S>,
) -> Matrix<S> {
    let form = model.architecture.norm_form;
    if parameters.spec(ids[0]).is_some() { norm_backward(parameters, ids, form, x, d_y, gradient) } else { d_y.clone() }
}

const EMBEDDING_NORM: [TensorId; 2] = TensorId::pair([TensorName::EmbeddingNormGain, TensorName::EmbeddingNormBias], 0);
const SOURCE_EMBEDDING_NORM: [TensorId; 2] =
    TensorId::pair([TensorName::SourceEmbeddingNormGain, TensorName::SourceEmbeddingNormBias], 0);
const SOURCE_NORM: [TensorId; 2] = TensorId::pair([TensorName::SourceNormGain, TensorName::SourceNormBias], 0);
const FINAL_NORM: [TensorId; 2] = TensorId::pair([TensorName::FinalNormGain, TensorName::FinalNormBias], 0);
const TRANSFORM: [TensorId; 2] = TensorId::pair([TensorName::TransformWeights, TensorName::TransformBias], 0);
const TRANSFORM_NORM: [TensorId; 2] = TensorId::pair([TensorName::TransformNormGain, TensorName::TransformNormBias], 0);

/// Adds `d_E`, `d_P` and `d_E_S`, if they are learned.
fn embedded_backward<S: Scalar>(
    model: &AttentionModel<S>,
    tower: Tower,
    sequences: &Sequences,
    rows: Range<usize>,
    d_x: &Matrix<S>,
    gradient: &mut Parameters<S>,
) {
    let scale = embedding_scale(model);
    let has_own = gradient.spec(TensorName::SourcePositions).is_some() && tower == Tower::Source;
    let table = if has_own { TensorName::SourcePositions } else { TensorName::Positions };
    for (t, row) in rows.clone().enumerate() {
        let position = position_row(model, sequences, &rows, row);
        for j in 0..d_x.cols() {
            let mut add = |name: TensorName, index: usize, factor: S| {
                if let Some(at) = gradient.index(name, index, j) {
                    gradient.flat_mut()[at] += factor * d_x.get(t, j);
                }
            };
            sequences.words[row].into_iter().for_each(|word| add(TensorName::Embedding, word, scale));
            add(table, position, S::one());
            add(TensorName::Segments, sequences.segments[row], S::one());
        }
    }
}

/// Returns a sentence's vectors before each block of a stack and after the last; `first` is the number of the first
/// block.
fn through<S: Scalar>(
    (blocks, first): (&[BlockConfig], usize),
    parameters: &Parameters<S>,
    x: Matrix<S>,
    source: Option<&Matrix<S>>,
) -> Vec<Matrix<S>> {
    let mut way = vec![x];
    for (i, config) in blocks.iter().enumerate() {
        way.push(steps(config, parameters, first + i, &way[i], source).output);
    }
    way
}

/// Returns `d_X`; the gradient of the source is added to `d_source`.
fn through_backward<S: Scalar>(
    (blocks, first): (&[BlockConfig], usize),
    parameters: &Parameters<S>,
    way: &[Matrix<S>],
    source: Option<&Matrix<S>>,
    d_y: Matrix<S>,
    gradient: &mut Parameters<S>,
    d_source: &mut Matrix<S>,
) -> Matrix<S> {
    let mut d = d_y;
    for (i, config) in blocks.iter().enumerate().rev() {
        let (d_x, d_z) = backward(config, parameters, first + i, &way[i], source, &d, gradient);
        d = d_x;
        for (to, d) in d_source.flat_mut().iter_mut().zip(d_z.iter().flat_map(|d| d.flat())) {
            *to += *d;
        }
    }
    d
}

/// The vectors of a sentence and of its source before and after each block, and the sum of the embeddings of each.
struct LayerVectors<S> {
    source: Vec<Matrix<S>>,
    source_sum: Matrix<S>,
    /// The source's last vectors, normed if there is a norm after its blocks.
    memory: Option<Matrix<S>>,
    input: Vec<Matrix<S>>,
    input_sum: Matrix<S>,
}

/// Computes the vectors of one sentence. The source goes through its blocks first; then the sentence, which may attend
/// to the source's last vectors, normed if there is a norm after its blocks.
fn way<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    sentence: usize,
) -> LayerVectors<S> {
    let architecture = &model.architecture;
    let sources = &architecture.source_blocks;
    let (source_sum, source) = if sources.is_empty() {
        (Matrix::zeros(0, 0), Vec::new())
    } else {
        let sum = embedded(model, parameters, Tower::Source, &batch.source, batch.source.rows.sentence(sentence));
        let x = normed(model, parameters, source_embedding_norm(parameters), &sum);
        (sum, through((sources, 0), parameters, x, None))
    };
    let memory = source.last().map(|z| normed(model, parameters, SOURCE_NORM, z));
    let input_sum = embedded(model, parameters, Tower::Sentence, &batch.input, batch.input.rows.sentence(sentence));
    let x = normed(model, parameters, EMBEDDING_NORM, &input_sum);
    let input = through((&architecture.blocks, sources.len()), parameters, x, memory.as_ref());
    LayerVectors { source, source_sum, memory, input, input_sum }
}

/// Returns the norm after the source's embeddings: its own, or the sentence's.
fn source_embedding_norm<S: Scalar>(parameters: &Parameters<S>) -> [TensorId; 2] {
    let has_own = parameters.spec(SOURCE_EMBEDDING_NORM[0]).is_some();
    if has_own { SOURCE_EMBEDDING_NORM } else { EMBEDDING_NORM }
}

/// Returns `W` (D, C); a tied readout takes its columns from `E`.
fn readout<S: Scalar>(model: &AttentionModel<S>, parameters: &Parameters<S>) -> Matrix<S> {
    match (model.architecture.readout.is_by_static_vectors(), &model.classes) {
        (true, Classes::Words(candidates)) => {
            let (table, words) = (embedding(model, parameters), candidates.words());
            Matrix::from_fn(table.cols(), words.len(), |j, class| table.get(words[class], j))
        }
        _ => tensor(parameters, TensorName::LogitWeights).expect("a linear readout"),
    }
}

/// Returns the vector from which logits are computed. If the readout has its own layer, this is `norm(φ(y W_T + b_T))`,
/// and the values before and after `φ` are returned too.
fn transformed<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    y: &[S],
) -> (Vec<S>, Option<[Matrix<S>; 2]>) {
    let Some(activation) = model.architecture.readout.activation() else { return (y.to_vec(), None) };
    let summed = affine(parameters, TRANSFORM, &Matrix::from_row_major(1, y.len(), y.to_vec()));
    let hidden = activations(activation, &summed);
    (normed(model, parameters, TRANSFORM_NORM, &hidden).flat().to_vec(), Some([summed, hidden]))
}

/// Computes the gradient of [`transformed`].
fn transformed_backward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    y: &[S],
    steps: &Option<[Matrix<S>; 2]>,
    d: Vec<S>,
    gradient: &mut Parameters<S>,
) -> Vec<S> {
    let (Some(activation), Some([summed, hidden])) = (model.architecture.readout.activation(), steps) else {
        return d;
    };
    let row = |x: Vec<S>| Matrix::from_row_major(1, x.len(), x);
    let d = normed_backward(model, parameters, TRANSFORM_NORM, hidden, &row(d), gradient);
    let d = activations_backward(activation, summed, &d);
    affine_backward(parameters, TRANSFORM, &row(y.to_vec()), &d, gradient).flat().to_vec()
}

/// Computes `‖a − b‖²`.
fn squared_distance<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum()
}

/// Returns the rows of a batch that are read for a target, each with its share in their mean.
fn read_by(pooling: Pooling, batch: &Batch, target: usize) -> Vec<(usize, f64)> {
    match pooling {
        Pooling::Every => vec![(target, 1.0)],
        Pooling::Last => vec![(batch.input.rows.sentence(target).end - 1, 1.0)],
        Pooling::Mean => {
            let rows = batch.input.rows.sentence(target);
            let share = 1.0 / rows.len() as f64;
            rows.map(|row| (row, share)).collect()
        }
    }
}

/// Returns the loss and, for each row of the batch, `d_Y`; the gradients of the readout are added.
fn loss_of_outputs<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    outputs: &[Vec<S>],
    gradient: &mut Parameters<S>,
) -> (S, Vec<Vec<S>>) {
    let (pooling, is_tied) = (model.architecture.pooling, model.architecture.readout == Readout::Tied);
    let is_by_static_vectors = model.architecture.readout.is_by_static_vectors();
    let (costs, width) = (model.costs(), model.architecture.width);
    let [arrive, keep] = [costs.arrive, costs.keep].map(S::from_f64);
    let (w, bias) = (readout(model, parameters), parameters.values_of(TensorName::LogitBias).to_vec());
    let count = S::from_f64(batch.targets.len().max(1) as f64);
    let mut total = S::zero();
    let mut d_outputs = vec![vec![S::zero(); width]; outputs.len()];

    for &(target, right) in &batch.targets {
        let rows = read_by(pooling, batch, target);
        let y: Vec<S> =
            (0..width).map(|j| rows.iter().map(|&(row, share)| S::from_f64(share) * outputs[row][j]).sum()).collect();
        let factor = model.architecture.logit_scale.map_or(S::one(), S::from_f64);
        let (t, transform) = transformed(model, parameters, &y);
        let t: Vec<S> = t.into_iter().map(|t| factor * t).collect();
        let logits: Vec<S> = (0..w.cols())
            .map(|c| (0..width).map(|j| t[j] * w.get(j, c)).sum::<S>() + bias.get(c).copied().unwrap_or(S::zero()))
            .collect();
        let held = held_below(model.architecture.logit_cap, &logits);
        let probabilities = softmax(&held);
        total += -probabilities[right].ln();

        // d_z = softmax(z) − onehot(class)
        let d_held = |c: usize| (probabilities[c] - if c == right { S::one() } else { S::zero() }) / count;
        let d_z: Vec<S> =
            (0..w.cols()).map(|c| held_below_slope(model.architecture.logit_cap, held[c]) * d_held(c)).collect();
        let d_t: Vec<S> = (0..width).map(|j| factor * (0..w.cols()).map(|c| d_z[c] * w.get(j, c)).sum::<S>()).collect();
        let mut d_y = transformed_backward(model, parameters, &y, &transform, d_t, gradient);
        for (c, &d) in d_z.iter().enumerate() {
            if let Some(bias) = gradient.values_of_mut(TensorName::LogitBias).get_mut(c) {
                *bias += d;
            }
            for (j, &t) in t.iter().enumerate() {
                // In a tied readout a column of W is a row of E.
                let at = match &model.classes {
                    Classes::Words(words) if is_by_static_vectors => {
                        gradient.index(TensorName::Embedding, words.words()[c], j)
                    }
                    _ => gradient.index(TensorName::LogitWeights, j, c),
                };
                if let Some(at) = at {
                    gradient.flat_mut()[at] += d * t;
                }
            }
        }

        let centre: Option<Vec<S>> = if is_tied {
            Some((0..width).map(|j| w.get(j, right)).collect())
        } else if pooling == Pooling::Mean {
            None
        } else {
            batch.input.words[rows[0].0].map(|word| model.embedding.row(word).into_owned())
        };
        let cost = if is_tied { arrive } else { keep };
        if let Some(centre) = centre {
            total += cost * squared_distance(&y, &centre);
            for (j, d) in d_y.iter_mut().enumerate() {
                *d += S::from_f64(2.0) * cost * (y[j] - centre[j]) / count;
            }
        }
        for (row, share) in rows {
            d_outputs[row].iter_mut().zip(&d_y).for_each(|(to, &d)| *to += S::from_f64(share) * d);
        }
    }

    for &(row, word) in &batch.kept {
        let centre = model.embedding.row(word);
        total += keep * squared_distance(&outputs[row], &centre);
        for (j, d) in d_outputs[row].iter_mut().enumerate() {
            *d += S::from_f64(2.0) * keep * (outputs[row][j] - centre[j]) / count;
        }
    }
    (total / count, d_outputs)
}

/// Returns the mean loss over a batch's targets, in nats; 0 if there are no targets and no kept rows.
///
/// # Panics
/// If the batch does not fit the model.
pub fn loss<S: Scalar>(model: &AttentionModel<S>, parameters: &Parameters<S>, batch: &Batch) -> S {
    loss_and_gradient(model, parameters, batch).0
}

/// Returns the loss and its gradient with respect to every parameter.
///
/// # Panics
/// If the batch does not fit the model.
///
/// ```
/// use std::sync::Arc;
/// use attune_engine::numerics::Matrix;
/// use attune_engine::numerics::attention::AttentionConfig;
/// use attune_engine::numerics::model::{Architecture, AttentionModel, Batch, Candidates, Classes};
/// use attune_engine::numerics::positions::Positions;
/// use attune_engine::numerics::reference::model::loss_and_gradient;
///
/// // Three words at one place: the model cannot tell them apart and is right once in three times.
/// let architecture = Architecture::of_attention(AttentionConfig::parameter_free(2), Positions::None, 3);
/// let words = Candidates::all(3);
/// let mut batch = Batch::default();
/// batch.push_next(&[0, 1, 2], 0, &words);
/// let model = AttentionModel::<f64>::new(architecture, Arc::new(Matrix::zeros(3, 2).into()), Classes::Words(words));
/// let (loss, gradient) = loss_and_gradient(&model, &model.zeros(), &batch);
/// assert!((loss - 3f64.ln()).abs() < 1e-12);
/// // The bias of a word that is asked for has to rise, and that of the first, which never is asked for, has to fall.
/// assert!(gradient.flat()[0] > 0.0 && gradient.flat()[1] < 0.0);
/// ```
pub fn loss_and_gradient<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
) -> (S, Parameters<S>) {
    let architecture = &model.architecture;
    let ways: Vec<LayerVectors<S>> = (0..batch.input.rows.count()).map(|i| way(model, parameters, batch, i)).collect();
    let ends = ways.iter().map(|way| &way.input[architecture.blocks.len()]);
    let ends: Vec<Matrix<S>> = ends.map(|y| normed(model, parameters, FINAL_NORM, y)).collect();
    let outputs: Vec<Vec<S>> = ends.iter().flat_map(|y| (0..y.rows()).map(|t| y.row(t).to_vec())).collect();

    let mut gradient = parameters.zeros_like();
    let (loss, d_outputs) = loss_of_outputs(model, parameters, batch, &outputs, &mut gradient);
    for (i, way) in ways.iter().enumerate() {
        let rows = batch.input.rows.sentence(i);
        let d_y = Matrix::from_fn(rows.len(), architecture.width, |t, j| d_outputs[rows.start + t][j]);
        let end = &way.input[architecture.blocks.len()];
        let d_y = normed_backward(model, parameters, FINAL_NORM, end, &d_y, &mut gradient);
        let source = way.memory.as_ref();
        let mut d_source = source.map_or(Matrix::zeros(0, 0), |z| Matrix::zeros(z.rows(), z.cols()));
        let blocks = (&architecture.blocks[..], architecture.source_blocks.len());
        let d_x = through_backward(blocks, parameters, &way.input, source, d_y, &mut gradient, &mut d_source);
        let d_x = normed_backward(model, parameters, EMBEDDING_NORM, &way.input_sum, &d_x, &mut gradient);
        embedded_backward(model, Tower::Sentence, &batch.input, rows, &d_x, &mut gradient);
        if let Some(z) = way.source.last() {
            let d_source = normed_backward(model, parameters, SOURCE_NORM, z, &d_source, &mut gradient);
            let blocks = (&architecture.source_blocks[..], 0);
            let nothing = &mut Matrix::zeros(0, 0);
            let d_x = through_backward(blocks, parameters, &way.source, None, d_source, &mut gradient, nothing);
            let ids = source_embedding_norm(parameters);
            let d_x = normed_backward(model, parameters, ids, &way.source_sum, &d_x, &mut gradient);
            let rows = batch.source.rows.sentence(i);
            embedded_backward(model, Tower::Source, &batch.source, rows, &d_x, &mut gradient);
        }
    }
    (loss, gradient)
}
