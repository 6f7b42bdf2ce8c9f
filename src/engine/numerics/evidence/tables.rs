//! Tables of what a head compares and writes, from its weights alone, and the composition of heads (Elhage et al. 2021,
//! *A Mathematical Framework for Transformer Circuits*). Rows are vectors, so the paper's matrices are transposed.
//!
//! ```text
//! looks_at[w]   top v of S[w, v] − mean_v S[w, v],   S = scale · (e_w W_Q + b_Q) (e_v W_K + b_K)ᵀ
//! writes[v]     top w of Z[v, w] − mean_w,           Z = (e_v W_V + b_V) W_O ⊙ γ_final Uᵀ      up to σ: an order, no logits
//!               or the cosine of what is written and e_w, both minus the mean word, where the readout is not linear
//! copying       Σλ / Σ|λ| of W_O γ Uᵀ e W_V          1 copies what is read, −1 avoids it; decoders only
//! Q             ‖OV₁ W_Q W_Kᵀ‖ / (‖OV₁‖ ‖W_Q W_Kᵀ‖)   K: W_K W_Qᵀ     V: W_V W_O     OV₁ includes the norms on the way
//! ```
//!
//! `e` is a static vector as the first block's projections read it, without a position. Gains and centring of norms are
//! folded in; `σ` is a factor for each word and drops out. Two unrelated heads have a composition of `1/√D` on average.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use super::Watch;
use super::score::{Side, part_of, side_of};
use crate::numerics::block::{BlockConfig, Norm};
use crate::numerics::model::{AttentionModel, Classes, Sequences};
use crate::numerics::norm::{NormForm, normed};
use crate::numerics::params::pairs::ATTENTION_NORM;
use crate::numerics::params::{Parameters, TensorName};
use crate::numerics::vectors::{add_scaled, dot, highest};
use crate::numerics::{Matrix, Scalar};

/// Largest number of multiplications for the composition of all pairs of heads. In a model that takes more, only pairs
/// with a named head are computed.
pub const COMPOSITION_WORK_MAX: f64 = 3e11;
/// Largest number of multiplications for the copying scores; a model that takes more has none.
pub const COPYING_WORK_MAX: f64 = 3e11;

/// The composition of a head with a later one: of its output with the later head's queries, keys and values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Composition {
    pub first: (usize, usize),
    pub second: (usize, usize),
    pub query: f64,
    pub key: f64,
    pub value: f64,
}

/// The weights of a model without a source. Products of them are computed in double precision.
#[derive(Clone, Copy)]
pub struct HeadTables<'a> {
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
}

/// The weights of a head: `W_Q`, `W_K` and `W_V` (D, d), `W_O` (d_v, D), and `b_V`.
struct Factors {
    query: Matrix<f64>,
    key: Matrix<f64>,
    value: Matrix<f64>,
    value_bias: Vec<f64>,
    output: Matrix<f64>,
}

fn product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut found = Matrix::zeros(a.rows(), b.cols());
    matmul(found.view_mut(), Accum::Replace, a.view(), b.view(), 1.0, Par::Seq);
    found
}

/// Computes `Xᵀ X`.
fn gram(x: &Matrix<f64>) -> Matrix<f64> {
    let mut found = Matrix::zeros(x.cols(), x.cols());
    matmul(found.view_mut(), Accum::Replace, x.view().transpose(), x.view(), 1.0, Par::Seq);
    found
}

fn transposed(x: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(x.cols(), x.rows(), |i, j| x.get(j, i))
}

/// Computes `tr(A Bᵀ)`, the sum of the products of corresponding entries.
fn entries_product(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    dot(a.flat(), b.flat())
}

impl HeadTables<'_> {
    fn config(&self, block: usize) -> &BlockConfig {
        &self.model.architecture.blocks[block]
    }

    fn heads(&self) -> Vec<(usize, usize)> {
        let blocks = self.model.architecture.blocks.iter().enumerate();
        blocks.flat_map(|(block, config)| (0..config.attention.heads).map(move |head| (block, head))).collect()
    }

    fn factors(&self, (block, head): (usize, usize)) -> Factors {
        let layer = &self.config(block).attention;
        let folded = |of_query: bool| {
            let Side { weights, own, norm, .. } = side_of(self.model, self.parameters, (block, head), of_query);
            let gain = |j: usize| norm.as_ref().map_or(1.0, |(form, gain)| form.gain_offset::<f64>() + gain[j]);
            Matrix::from_fn(weights.rows(), own.len(), |i, j| weights.get(i, own.start + j) * gain(own.start + j))
        };
        let (all, columns) = (0..layer.width, layer.value_columns(head));
        let values = layer.projected.then(|| TensorName::ValueWeights.of_block(block));
        let bias = self.parameters.values_of(TensorName::ValueBias.of_block(block));
        let output = layer.output.then(|| TensorName::OutputWeights.of_block(block));
        let own = [all.clone(), columns.clone()];
        Factors {
            query: folded(true),
            key: folded(false),
            value: part_of(self.parameters, values, layer.values_width(), own),
            value_bias: columns.map(|j| bias.get(j).map_or(0.0, |x| x.to_f64())).collect(),
            output: part_of(self.parameters, output, layer.width, [layer.mix_columns(head), all]),
        }
    }

    /// Applies the norm with this gain to rows that a block's attention adds, apart from the division by its `σ`.
    fn through(&self, form: NormForm, gain: TensorName, block: Option<usize>, rows: &mut Matrix<f64>) {
        let id = block.map_or(gain.into(), |block| gain.of_block(block));
        let gain: Vec<f64> = self.parameters.values_of(id).iter().map(|x| x.to_f64()).collect();
        if !gain.is_empty() {
            (0..rows.rows()).for_each(|row| form.carry(&gain, 1.0, rows.row_mut(row)));
        }
    }

    /// Applies the norms between a block's attention and the block's output to rows that the attention adds, apart from
    /// the divisions by `σ`.
    fn out_of(&self, block: usize, rows: &mut Matrix<f64>) {
        if self.config(block).output_norms {
            self.through(self.config(block).norm_form, TensorName::AttentionOutputNormGain, Some(block), rows);
        }
        self.past(block, rows);
    }

    /// Applies the norms after the sums of a block to rows, apart from the divisions by `σ`.
    fn past(&self, block: usize, rows: &mut Matrix<f64>) {
        let config = self.config(block);
        if config.norms_attended() {
            self.through(config.norm_form, TensorName::AttentionNormGain, Some(block), rows);
        }
        if config.norm == Norm::Post && config.feed_forward.is_some() {
            self.through(config.norm_form, TensorName::ForwardNormGain, Some(block), rows);
        }
    }

    /// Returns the number of multiplications of the composition of all pairs of heads.
    pub fn composition_work(&self) -> f64 {
        let layer = &self.config(0).attention;
        let heads = self.model.architecture.heads() as f64;
        let (width, d) = (layer.width as f64, layer.key_width.max(layer.value_width) as f64);
        heads * heads / 2.0 * 3.0 * d * d * (width + 3.0 * d)
    }

    /// Computes the composition of each head with each later one; if `only` is given, of pairs with one of these heads.
    /// The watch is told the number of first heads that are done. Returns `None` if it ended the work.
    pub fn composition(&self, only: Option<&[(usize, usize)]>, watch: Watch<'_>) -> Option<Vec<Composition>> {
        let heads = self.heads();
        let factors: Vec<Factors> = heads.iter().map(|head| self.factors(*head)).collect();
        let reads: Vec<[HeadRead; 3]> = factors.iter().map(Factors::reads).collect();
        let is_asked = |head: &(usize, usize)| only.is_none_or(|only| only.contains(head));
        let mut found = Vec::new();
        for (number, first) in heads.iter().enumerate() {
            let value = gram(&factors[number].value);
            let mut written = factors[number].output.clone();
            self.out_of(first.0, &mut written);
            for block in first.0 + 1..self.model.architecture.blocks.len() {
                let mut read = written.clone();
                if self.config(block).norms_first() {
                    self.through(self.config(block).norm_form, TensorName::AttentionNormGain, Some(block), &mut read);
                }
                let own = entries_product(&value, &gram(&transposed(&read))).sqrt();
                let seconds = heads.iter().zip(&reads).filter(|(second, _)| second.0 == block);
                for (second, reads) in seconds.filter(|(second, _)| is_asked(first) || is_asked(second)) {
                    let [query, key, value] = reads.each_ref().map(|reads| reads.composed(&value, own, &read));
                    found.push(Composition { first: *first, second: *second, query, key, value });
                }
                self.past(block, &mut written);
            }
            if !watch(number + 1) {
                return None;
            }
        }
        Some(found)
    }

    /// Returns some words' static vectors as the first block's projections read them, without positions (words, D).
    fn read(&self, words: &[usize]) -> Matrix<f64> {
        let Self { model, parameters } = *self;
        let mut x = model.statics(parameters, &Sequences::one(words));
        if let Some(segment) = parameters.values_of(TensorName::Segments).get(..x.cols()) {
            (0..x.rows()).for_each(|row| add_scaled(x.row_mut(row), 1.0, segment));
        }
        if let Some(affine) = model.embedding_norm(parameters, crate::numerics::model::Tower::Sentence) {
            x = normed(model.architecture.norm_form, affine, x);
        }
        if self.config(0).norms_first() {
            let affine = ATTENTION_NORM.map(|name| parameters.values_of(name.of_block(0)));
            x = normed(self.config(0).norm_form, affine, x);
        }
        x.cast()
    }

    /// Calls `work` with all words of the vocabulary as the first block reads them, a part at a time.
    fn read_all(&self, mut work: impl FnMut(usize, Matrix<f64>)) {
        /// Number of words that are read at once.
        const AT_ONCE: usize = 1024;
        let words: Vec<usize> = (0..self.model.embedding(self.parameters).rows()).collect();
        words.chunks(AT_ONCE).for_each(|words| work(words[0], self.read(words)));
    }

    /// Returns for each of the given words, as a query, the `count` words that get the head's highest scores as keys,
    /// as rows of the vocabulary, each with its score minus the mean over all words.
    pub fn looks_at(&self, head: (usize, usize), words: &[usize], count: usize) -> Vec<Vec<(usize, f64)>> {
        let scale = self.config(head.0).attention.score_scale();
        let [queries, keys] = [true, false].map(|of_query| side_of(self.model, self.parameters, head, of_query));
        let asked = queries.of_rows(&self.read(words));
        let mut scores: Vec<Vec<f64>> = vec![Vec::new(); words.len()];
        self.read_all(|_, part| {
            let keys = keys.of_rows(&part);
            for (word, scores) in scores.iter_mut().enumerate() {
                scores.extend((0..keys.rows()).map(|key| scale * dot(asked.row(word), keys.row(key))));
            }
        });
        scores.iter().map(|scores| top_above_mean(scores, count)).collect()
    }

    /// Returns whether the readout is linear in what a head writes.
    pub fn has_linear_readout(&self) -> bool {
        let architecture = &self.model.architecture;
        let is_behind = architecture.blocks.iter().any(|block| block.norm == Norm::Post);
        architecture.readout.activation().is_none() && !is_behind
    }

    /// Returns for each of the given words the `count` classes that a head's output raises most, each with its logit,
    /// without the division by `σ`, minus the mean over all classes. If the readout is not linear, returns the words
    /// with the largest cosine instead.
    pub fn writes(&self, head: (usize, usize), words: &[usize], count: usize) -> Vec<Vec<(usize, f64)>> {
        let factors = self.factors(head);
        let written = |part: &Matrix<f64>| {
            let mut value = product(part, &factors.value);
            (0..value.rows()).for_each(|row| add_scaled(value.row_mut(row), 1.0, &factors.value_bias));
            product(&value, &factors.output)
        };
        let mut own = written(&self.read(words));
        if self.has_linear_readout() {
            if self.config(head.0).output_norms {
                self.out_of(head.0, &mut own);
            }
            self.through(self.model.architecture.norm_form, TensorName::FinalNormGain, None, &mut own);
            return (0..own.rows()).map(|row| top_above_mean(&self.logits(own.row(row)), count)).collect();
        }
        self.out_of(head.0, &mut own);
        let rows = self.model.embedding(self.parameters).rows() as f64;
        let (mut mean, mut mean_written) = (vec![0.0; own.cols()], vec![0.0; own.cols()]);
        self.read_all(|_, part| {
            let mut written = written(&part);
            self.out_of(head.0, &mut written);
            for row in 0..part.rows() {
                add_scaled(&mut mean, 1.0 / rows, part.row(row));
                add_scaled(&mut mean_written, 1.0 / rows, written.row(row));
            }
        });
        (0..own.rows()).for_each(|row| add_scaled(own.row_mut(row), -1.0, &mean_written));
        let mut cosines: Vec<Vec<f64>> = vec![Vec::new(); words.len()];
        self.read_all(|_, mut part| {
            for row in 0..part.rows() {
                add_scaled(part.row_mut(row), -1.0, &mean);
                let similar = cosines.iter_mut().enumerate();
                similar.for_each(|(word, to)| to.push(crate::numerics::vectors::cosine(own.row(word), part.row(row))));
            }
        });
        cosines.iter().map(|cosines| top(cosines, count)).collect()
    }

    /// Computes the logits, without the bias, of a vector to which the last norm is already applied.
    fn logits(&self, read: &[f64]) -> Vec<f64> {
        let Self { model, parameters } = *self;
        let factor = model.architecture.logit_scale.unwrap_or(1.0);
        if let (Classes::Words(candidates), true) = (&model.classes, model.architecture.readout.is_by_static_vectors())
        {
            let table = model.embedding(parameters);
            let of = |word: &usize| table.row(*word).iter().zip(read).map(|(x, read)| factor * x.to_f64() * read).sum();
            return candidates.words().iter().map(of).collect();
        }
        let (weights, classes) = (parameters.row_major(TensorName::LogitWeights), model.classes.count());
        let mut logits = vec![0.0; classes];
        for (row, read) in weights.chunks_exact(classes).zip(read) {
            logits.iter_mut().zip(row).for_each(|(logit, x)| *logit += factor * read * x.to_f64());
        }
        logits
    }

    /// Computes the copying score of each head of each block. Returns `None` if the model is not a decoder with a
    /// linear readout of all its words, or is too large.
    pub fn copying(&self) -> Option<Vec<Vec<f64>>> {
        let Self { model, parameters } = *self;
        let (rows, width) = (model.embedding(parameters).rows(), model.architecture.width);
        let is_of_words = model.classes.candidates().is_some_and(|words| words.words().len() == rows);
        let work = rows as f64 * (width * width) as f64;
        if !model.is_causal() || !self.has_linear_readout() || !is_of_words || work > COPYING_WORK_MAX {
            return None;
        }
        // Uᵀ e, (D, D)
        let mut seen = Matrix::zeros(width, width);
        self.read_all(|first, part| {
            let readout =
                Matrix::stacked(width, &(0..part.rows()).map(|row| self.class_row(first + row)).collect::<Vec<_>>());
            matmul(seen.view_mut(), Accum::Add, readout.view().transpose(), part.view(), 1.0, Par::Seq);
        });
        let of_head = |head: (usize, usize)| {
            let Factors { value, mut output, .. } = self.factors(head);
            if self.config(head.0).output_norms {
                self.out_of(head.0, &mut output);
            }
            self.through(model.architecture.norm_form, TensorName::FinalNormGain, None, &mut output);
            let small = product(&product(&output, &seen), &value);
            let eigenvalues = small.view().eigenvalues().unwrap_or_default();
            let sum: f64 = eigenvalues.iter().map(|value| value.re).sum();
            sum / eigenvalues.iter().map(|value| value.re.hypot(value.im)).sum::<f64>()
        };
        let blocks = model.architecture.blocks.iter().enumerate();
        Some(blocks.map(|(block, of)| (0..of.attention.heads).map(|head| of_head((block, head))).collect()).collect())
    }

    fn class_row(&self, class: usize) -> Matrix<f64> {
        let row = self.model.class_vector(self.parameters, class);
        Matrix::from_row_major(1, row.len(), row.into_iter().map(Scalar::to_f64).collect())
    }
}

/// The map that a head applies to the vector that it reads, as `A Bᵀ`.
struct HeadRead {
    a: Matrix<f64>,
    /// `Bᵀ B`
    of_b: Matrix<f64>,
    /// `‖A Bᵀ‖`
    size: f64,
}

impl HeadRead {
    fn of(a: &Matrix<f64>, of_b: Matrix<f64>) -> Self {
        Self { a: a.clone(), size: entries_product(&gram(a), &of_b).sqrt(), of_b }
    }

    /// Computes `‖V R A Bᵀ‖ / (‖V R‖ ‖A Bᵀ‖)` from `VᵀV`, `‖V R‖` and `R`.
    fn composed(&self, of_v: &Matrix<f64>, own: f64, read: &Matrix<f64>) -> f64 {
        let inner = product(read, &self.a);
        let together = entries_product(&product(of_v, &inner), &product(&inner, &self.of_b));
        together.max(0.0).sqrt() / (own * self.size)
    }
}

impl Factors {
    /// Returns the maps that a head applies to the vectors from which its queries, keys and values are computed.
    fn reads(&self) -> [HeadRead; 3] {
        [
            HeadRead::of(&self.query, gram(&self.key)),
            HeadRead::of(&self.key, gram(&self.query)),
            HeadRead::of(&self.value, gram(&transposed(&self.output))),
        ]
    }
}

fn top_above_mean(numbers: &[f64], count: usize) -> Vec<(usize, f64)> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    top(&numbers.iter().map(|x| x - mean).collect::<Vec<_>>(), count)
}

fn top(numbers: &[f64], count: usize) -> Vec<(usize, f64)> {
    highest(numbers, count).into_iter().map(|at| (at, numbers[at])).collect()
}
