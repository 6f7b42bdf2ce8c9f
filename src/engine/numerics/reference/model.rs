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

use super::attention::softmax;
use super::block::{backward, steps};
use super::{
    Block, Matrix, Scalar, activations, activations_backward, affine, affine_backward, held_below, held_below_slope,
    norm, norm_backward, tensor,
};
use crate::numerics::model::{AttentionModel, Batch, Classes, Pooling, Readout, Sequences, Tower};
use crate::numerics::params::pairs::{
    EMBEDDING_NORM, FINAL_NORM, SOURCE_EMBEDDING_NORM, SOURCE_NORM, TRANSFORM, TRANSFORM_NORM,
};
use crate::numerics::params::{Learned, Parameters, TensorId, TensorName};
use crate::numerics::positions::Positions;

/// A model with its parameters.
struct Given<'a, S> {
    model: &'a AttentionModel<S>,
    parameters: &'a Parameters<S>,
}

/// The vectors of a sentence on its way through its tower.
struct TowerVectors<S> {
    /// The sum of the embeddings.
    sum: Matrix<S>,
    /// The vectors before each block and after the last.
    vectors: Vec<Matrix<S>>,
    /// The last vectors, normed if there is a norm after the blocks.
    end: Matrix<S>,
}

fn sequences(batch: &Batch, tower: Tower) -> &Sequences {
    match tower {
        Tower::Source => &batch.source,
        Tower::Sentence => &batch.input,
    }
}

impl<S: Scalar> Given<'_, S> {
    /// Returns `E` (V, D), trained with the model or as word2vec trained it.
    fn embedding(&self) -> Matrix<S> {
        let trained = tensor(self.parameters, TensorName::Embedding);
        trained.unwrap_or_else(|| self.model.embedding.widened().into_owned())
    }

    /// Returns the position vector `P[t]`: a row of a learned table, which may be the source's own, or waves (Vaswani
    /// et al. 2017, section 3.5): `P[t, 2i] = sin(t / 10000^(2i/D))`, and `P[t, 2i + 1]` the cosine of the same; in
    /// halves, the cosine is `P[t, ⌈D/2⌉ + i]`. Zeros without positions.
    fn position(&self, tower: Tower, t: usize) -> Vec<S> {
        const BASE: f64 = 10_000.0;
        let width = self.model.architecture.width;
        let angle = |i: usize| t as f64 / BASE.powf((2 * i) as f64 / width as f64);
        let pairs = (0..width.div_ceil(2)).map(|i| [angle(i).sin(), angle(i).cos()].map(S::from_f64));
        match self.model.architecture.positions {
            Positions::None => vec![S::zero(); width],
            Positions::Sinusoidal => pairs.flatten().take(width).collect(),
            Positions::SinusoidalInHalves => {
                let (sines, cosines): (Vec<S>, Vec<S>) = pairs.map(|[sine, cosine]| (sine, cosine)).unzip();
                sines.into_iter().chain(cosines).take(width).collect()
            }
            Positions::Learned => {
                let table = tensor(self.parameters, self.position_table(tower));
                table.expect("learned positions").row(t).to_vec()
            }
        }
    }

    /// Returns the name of the learned positions of a tower.
    fn position_table(&self, tower: Tower) -> TensorName {
        let has_own = tower == Tower::Source && self.parameters.spec(TensorName::SourcePositions).is_some();
        if has_own { TensorName::SourcePositions } else { TensorName::Positions }
    }

    /// Returns the row of `P` of each token of a sentence; padding words are not counted.
    fn position_rows(&self, sequences: &Sequences, sentence: usize) -> Vec<usize> {
        let (form, rows) = (self.model.architecture.position_rows, sequences.rows.sentence(sentence));
        let is_filler = |row: &usize| form.filler.is_some() && sequences.words[*row] == form.filler;
        let of_row = |row: usize| {
            let fillers = (rows.start..row).filter(is_filler).count();
            if is_filler(&row) { form.first - 1 } else { form.first + sequences.positions[row] - fillers }
        };
        rows.clone().map(of_row).collect()
    }

    /// Returns the factor of the rows of `E`: `√D` in Gemma, otherwise 1.
    fn embedding_scale(&self) -> S {
        self.model.architecture.embedding_scale.map_or(S::one(), S::from_f64)
    }

    /// Computes the sum of the embeddings of one sentence (T, D).
    fn embedded(&self, tower: Tower, sequences: &Sequences, sentence: usize) -> Matrix<S> {
        let (table, scale) = (self.embedding(), self.embedding_scale());
        let segments = tensor(self.parameters, TensorName::Segments);
        let rows = self.position_rows(sequences, sentence);
        let positions: Vec<Vec<S>> = rows.into_iter().map(|row| self.position(tower, row)).collect();
        let start = sequences.rows.sentence(sentence).start;
        Matrix::from_fn(positions.len(), self.model.architecture.width, |t, j| {
            let word = sequences.words[start + t].map_or(S::zero(), |word| scale * table.get(word, j));
            let segment = segments.as_ref().map_or(S::zero(), |table| table.get(sequences.segments[start + t], j));
            word + positions[t][j] + segment
        })
    }

    /// Adds `d_E`, `d_P` and `d_E_S`, if they are learned.
    fn embedded_backward(
        &self,
        tower: Tower,
        sequences: &Sequences,
        sentence: usize,
        d_x: &Matrix<S>,
        gradient: &mut Parameters<S>,
    ) {
        let (scale, table) = (self.embedding_scale(), self.position_table(tower));
        let rows = sequences.rows.sentence(sentence).zip(self.position_rows(sequences, sentence));
        for (t, (row, position)) in rows.enumerate() {
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

    /// Computes `norm(x)` with tensors that not every model has; without them returns `x`.
    fn normed(&self, ids: [TensorId; 2], x: &Matrix<S>) -> Matrix<S> {
        let form = self.model.architecture.norm_form;
        if self.parameters.spec(ids[0]).is_some() { norm(self.parameters, ids, form, x) } else { x.clone() }
    }

    /// Computes the gradient of [`Self::normed`].
    fn normed_backward(
        &self,
        ids: [TensorId; 2],
        x: &Matrix<S>,
        d_y: &Matrix<S>,
        gradient: &mut Parameters<S>,
    ) -> Matrix<S> {
        match self.parameters.spec(ids[0]) {
            Some(_) => norm_backward(self.parameters, ids, self.model.architecture.norm_form, x, d_y, gradient),
            None => d_y.clone(),
        }
    }

    /// Returns the norms before and after the blocks of a tower. The source may have its own before its blocks.
    fn norms(&self, tower: Tower) -> [[TensorId; 2]; 2] {
        let has_own = self.parameters.spec(SOURCE_EMBEDDING_NORM[0]).is_some();
        match tower {
            Tower::Source if has_own => [SOURCE_EMBEDDING_NORM, SOURCE_NORM],
            Tower::Source => [EMBEDDING_NORM, SOURCE_NORM],
            Tower::Sentence => [EMBEDDING_NORM, FINAL_NORM],
        }
    }

    fn blocks(&self, tower: Tower) -> Vec<Block<'_, S>> {
        let architecture = &self.model.architecture;
        let (blocks, first) = match tower {
            Tower::Source => (&architecture.source_blocks, 0),
            Tower::Sentence => (&architecture.blocks, architecture.source_blocks.len()),
        };
        let parameters = self.parameters;
        let block = |(i, config)| Learned { config, parameters, number: first + i };
        blocks.iter().enumerate().map(block).collect()
    }

    /// Computes the vectors of a sentence in a tower, whose blocks may attend to the last vectors of the source.
    fn tower(&self, tower: Tower, batch: &Batch, sentence: usize, source: Option<&Matrix<S>>) -> TowerVectors<S> {
        let [first, last] = self.norms(tower);
        let sum = self.embedded(tower, sequences(batch, tower), sentence);
        let mut vectors = vec![self.normed(first, &sum)];
        for block in self.blocks(tower) {
            vectors.push(steps(block, &vectors[vectors.len() - 1], source).output);
        }
        let end = self.normed(last, &vectors[vectors.len() - 1]);
        TowerVectors { sum, vectors, end }
    }

    /// Adds the gradients of a tower's parameters, and returns that of the source.
    fn tower_backward(
        &self,
        (tower, batch, sentence): (Tower, &Batch, usize),
        way: &TowerVectors<S>,
        source: Option<&Matrix<S>>,
        d_end: &Matrix<S>,
        gradient: &mut Parameters<S>,
    ) -> Matrix<S> {
        let [first, last] = self.norms(tower);
        let mut d_source = source.map_or(Matrix::zeros(0, 0), |z| Matrix::zeros(z.rows(), z.cols()));
        let mut d = self.normed_backward(last, &way.vectors[way.vectors.len() - 1], d_end, gradient);
        for (block, x) in self.blocks(tower).into_iter().zip(&way.vectors).rev() {
            let (d_x, d_z) = backward(block, x, source, &d, gradient);
            d = d_x;
            for (to, d) in d_source.flat_mut().iter_mut().zip(d_z.iter().flat_map(|d| d.flat())) {
                *to += *d;
            }
        }
        let d = self.normed_backward(first, &way.sum, &d, gradient);
        self.embedded_backward(tower, sequences(batch, tower), sentence, &d, gradient);
        d_source
    }

    /// Returns `W` (D, C); a tied readout takes its columns from `E`.
    fn readout(&self) -> Matrix<S> {
        match (self.model.architecture.readout.is_by_static_vectors(), &self.model.classes) {
            (true, Classes::Words(candidates)) => {
                let (table, words) = (self.embedding(), candidates.words());
                Matrix::from_fn(table.cols(), words.len(), |j, class| table.get(words[class], j))
            }
            _ => tensor(self.parameters, TensorName::LogitWeights).expect("a linear readout"),
        }
    }

    /// Returns the vector from which logits are computed. If the readout has its own layer, this is `norm(φ(y W_T +
    /// b_T))`, and the values before and after `φ` are returned too.
    fn transformed(&self, y: &[S]) -> (Vec<S>, Option<[Matrix<S>; 2]>) {
        let Some(activation) = self.model.architecture.readout.activation() else { return (y.to_vec(), None) };
        let summed = affine(self.parameters, TRANSFORM, &Matrix::from_row_major(1, y.len(), y.to_vec()));
        let hidden = activations(activation, &summed);
        (self.normed(TRANSFORM_NORM, &hidden).flat().to_vec(), Some([summed, hidden]))
    }

    /// Computes the gradient of [`Self::transformed`].
    fn transformed_backward(
        &self,
        y: &[S],
        steps: &Option<[Matrix<S>; 2]>,
        d: Vec<S>,
        gradient: &mut Parameters<S>,
    ) -> Vec<S> {
        let (Some(activation), Some([summed, hidden])) = (self.model.architecture.readout.activation(), steps) else {
            return d;
        };
        let row = |x: Vec<S>| Matrix::from_row_major(1, x.len(), x);
        let d = self.normed_backward(TRANSFORM_NORM, hidden, &row(d), gradient);
        let d = activations_backward(activation, summed, &d);
        affine_backward(self.parameters, TRANSFORM, &row(y.to_vec()), &d, gradient).flat().to_vec()
    }

    /// Returns the loss and, for each row of the batch, `d_Y`; the gradients of the readout are added.
    fn loss_of_outputs(&self, batch: &Batch, outputs: &[Vec<S>], gradient: &mut Parameters<S>) -> (S, Vec<Vec<S>>) {
        let Self { model, parameters } = *self;
        let (pooling, is_tied) = (model.architecture.pooling, model.architecture.readout == Readout::Tied);
        let is_by_static_vectors = model.architecture.readout.is_by_static_vectors();
        let (costs, width) = (model.costs(), model.architecture.width);
        let [arrive, keep] = [costs.arrive, costs.keep].map(S::from_f64);
        let (w, bias) = (self.readout(), parameters.values_of(TensorName::LogitBias).to_vec());
        let count = S::from_f64(batch.targets.len().max(1) as f64);
        let mut total = S::zero();
        let mut d_outputs = vec![vec![S::zero(); width]; outputs.len()];

        for &(target, right) in &batch.targets {
            let rows = read_by(pooling, batch, target);
            let y: Vec<S> = (0..width)
                .map(|j| rows.iter().map(|&(row, share)| S::from_f64(share) * outputs[row][j]).sum())
                .collect();
            let factor = model.architecture.logit_scale.map_or(S::one(), S::from_f64);
            let (t, transform) = self.transformed(&y);
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
            let d_t: Vec<S> =
                (0..width).map(|j| factor * (0..w.cols()).map(|c| d_z[c] * w.get(j, c)).sum::<S>()).collect();
            let mut d_y = self.transformed_backward(&y, &transform, d_t, gradient);
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
    let given = Given { model, parameters };
    let count = batch.input.rows.count();
    let has_source = !model.architecture.source_blocks.is_empty();
    let sources: Vec<Option<TowerVectors<S>>> =
        (0..count).map(|i| has_source.then(|| given.tower(Tower::Source, batch, i, None))).collect();
    // The source's last vectors, which the sentence may attend to.
    let memories: Vec<Option<&Matrix<S>>> = sources.iter().map(|way| way.as_ref().map(|way| &way.end)).collect();
    let ways: Vec<TowerVectors<S>> = (0..count).map(|i| given.tower(Tower::Sentence, batch, i, memories[i])).collect();
    let outputs: Vec<Vec<S>> =
        ways.iter().flat_map(|way| (0..way.end.rows()).map(|t| way.end.row(t).to_vec())).collect();

    let mut gradient = parameters.zeros_like();
    let (loss, d_outputs) = given.loss_of_outputs(batch, &outputs, &mut gradient);
    for (i, way) in ways.iter().enumerate() {
        let rows = batch.input.rows.sentence(i);
        let d_y = Matrix::from_fn(rows.len(), model.architecture.width, |t, j| d_outputs[rows.start + t][j]);
        let d_source = given.tower_backward((Tower::Sentence, batch, i), way, memories[i], &d_y, &mut gradient);
        if let Some(source) = &sources[i] {
            given.tower_backward((Tower::Source, batch, i), source, None, &d_source, &mut gradient);
        }
    }
    (loss, gradient)
}
