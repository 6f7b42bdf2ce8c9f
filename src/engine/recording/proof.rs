//! The proof of a recording: whether its attention weights are what its own queries and keys give.
//!
//! `α_ij = softmax_j(c tanh(s q_i · k_j / c) + b_ij)` over the keys that a query sees, where `s` is the scale, `c` the
//! cap and `b` the bias; a learned sink takes part in the softmax and is dropped. The deviation of a row is half the
//! sum of its absolute differences, which is the share of the row that lies elsewhere. Dropout that was left on shows
//! in no single weight of a row over many keys, but it moves at least `p / 2(1 − p)` of every row.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::about::Precision;
use super::parts::Part;
use super::{Attention, RecordedText, Recording};
use crate::messages::counted;
use crate::numerics::Matrix;
use crate::pretrained::Refusal;
use crate::pretrained::safetensors::{Dtype, FileTensor};

/// Number of weights that are checked at once, in whole rows.
const AT_ONCE: usize = 1 << 18;

/// The largest difference of a row's sum from 1, and of a row from the softmax, that counts as rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    sum: f64,
    row: f64,
}

impl Limits {
    /// Returns the limits for a number type: its rounding, measured on random models with scores up to 40 and texts of
    /// 400 tokens, with a margin.
    fn of(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self { sum: 1e-4, row: 1e-4 },
            Precision::F16 => Self { sum: 2e-3, row: 5e-3 },
            Precision::BF16 => Self { sum: 2e-2, row: 4e-2 },
        }
    }
}

/// The result of the check of one attention.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The smallest and the largest sum of a row that is not 0 throughout.
    pub sums: [f64; 2],
    /// The deviation from the softmax; `None` if queries and keys were not recorded, or small weights were left out.
    pub deviation: Option<Deviation>,
    /// The checks that failed.
    pub faults: Vec<Refusal>,
}

/// The largest differences of recorded weights from the softmax of the queries and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deviation {
    /// The largest difference of a single weight.
    pub largest: f64,
    /// The largest part of a row's weights that is on other keys than in the softmax; the next fields say where.
    pub row: f64,
    pub head: usize,
    pub query: usize,
}

impl Recording {
    /// Checks that the rows of an attention's weights sum to 1 and, if queries and keys were recorded, that they are
    /// the softmax.
    ///
    /// # Errors
    /// If the file cannot be read, or a number of the attention is not finite, or a weight is negative.
    pub fn check(&self, text: &RecordedText, attention: &Attention) -> Result<Findings, Refusal> {
        let weights = attention.weights();
        let reader = Reader { recording: self, attention };
        let sums = reader.sums()?;
        let limits = Limits::of(precision(text, attention));
        let mut faults: Vec<Refusal> = sum_fault(text, attention, sums, limits).into_iter().collect();
        let are_sums_right = faults.is_empty();
        let deviation = if text.about.is_partial { None } else { reader.deviation()? };
        // A row with a NaN cannot be the softmax of anything.
        let is_off = |deviation: &Deviation| deviation.row.is_nan() || deviation.row > limits.row;
        if let Some(deviation) = deviation.filter(is_off) {
            faults.push(row_fault(weights, deviation, limits, are_sums_right));
        }
        Ok(Findings { sums, deviation, faults })
    }
}

impl Recording {
    /// Returns which keys each query of an attention sees (queries, keys): according to the mask, or without one every
    /// pair that has a weight in some head.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn visible(&self, attention: &Attention) -> Result<Vec<bool>, Refusal> {
        Reader { recording: self, attention }.visible()
    }

    /// Computes the smallest and the largest sum of the rows of weights, without rows whose sum is 0; both are 0 if
    /// there are no others.
    ///
    /// # Errors
    /// If the file cannot be read, or a weight is not finite or negative.
    pub fn sums(&self, attention: &Attention) -> Result<[f64; 2], Refusal> {
        Reader { recording: self, attention }.sums()
    }

    /// Computes the scores of some queries of a head (queries, keys), −∞ for keys that are not `visible`; `visible` has
    /// the rows of these queries only. Returns `None` if queries and keys were not recorded.
    ///
    /// # Errors
    /// If the file cannot be read, or a number is not finite.
    pub fn scores_of(
        &self,
        attention: &Attention,
        head: usize,
        queries: Range<usize>,
        visible: &[bool],
    ) -> Result<Option<Matrix<f32>>, Refusal> {
        let reader = Reader { recording: self, attention };
        let mut all = Vec::with_capacity(queries.len() * reader.keys());
        let mut each = |_: usize, _: Range<usize>, scores: &mut [f64], _: &Scoring| {
            all.extend(scores.iter().map(|score| *score as f32));
            Ok(())
        };
        let are_there = reader.each_score_of(head..head + 1, queries.clone(), visible, &mut each)?;
        Ok(are_there.then(|| Matrix::from_row_major(queries.len(), reader.keys(), all)))
    }

    /// Computes the scores of a head (queries, keys), −∞ where a key is not [visible](Self::visible). Returns `None` if
    /// queries and keys were not recorded.
    ///
    /// # Errors
    /// If the file cannot be read, or a number is not finite.
    pub fn scores(&self, attention: &Attention, head: usize, visible: &[bool]) -> Result<Option<Matrix<f32>>, Refusal> {
        let queries = Reader { recording: self, attention }.queries();
        self.scores_of(attention, head, 0..queries, visible)
    }

    /// Reads the factor of a head's products, which is `1/√d` if none was recorded. Returns `None` if no queries were
    /// recorded.
    ///
    /// # Errors
    /// See [`Self::scores`].
    pub fn scale(&self, attention: &Attention, head: usize) -> Result<Option<f64>, Refusal> {
        let Some(query) = attention.part(Part::Queries) else { return Ok(None) };
        Ok(Some(Reader { recording: self, attention }.scoring(head, query.shape[2])?.scale))
    }

    /// Reads the cap of a head's scores; `None` if none was recorded.
    ///
    /// # Errors
    /// See [`Self::scores`].
    pub fn cap(&self, attention: &Attention, head: usize) -> Result<Option<f64>, Refusal> {
        Reader { recording: self, attention }.cap(head)
    }
}

impl Recording {
    /// Returns a fault for each tensor of a text's vectors (hidden states, values, output weights and logits) that has
    /// a number which is not finite.
    pub fn check_vectors(&self, text: &RecordedText) -> Vec<Refusal> {
        let of_heads =
            text.attentions.iter().flat_map(|of| [of.part(Part::Values), of.part(Part::OutputWeight)]).flatten();
        let vectors = text.source_states.values().chain(text.states.values()).chain(of_heads).chain(&text.logits);
        let fault = |tensor: &FileTensor| {
            let count: usize = tensor.shape.iter().product();
            let mut blocks = (0..count).step_by(AT_ONCE).map(|begin| begin..(begin + AT_ONCE).min(count));
            blocks.find_map(|block| self.finite(tensor, block).err())
        };
        vectors.filter_map(fault).collect()
    }

    /// Reads numbers that must be finite; a logit may also be −∞, for a class that is never the answer.
    fn finite(&self, tensor: &FileTensor, range: Range<usize>) -> Result<Vec<f64>, Refusal> {
        let numbers = self.numbers(tensor, range)?;
        let may_hide = tensor.name.ends_with(Part::Logits.name());
        let is_right = |number: &f32| number.is_finite() || may_hide && *number == f32::NEG_INFINITY;
        if let Some(wrong) = numbers.iter().find(|number| !is_right(number)) {
            let advice = "the model overflowed, or the tensor was not filled; record it in 32 bits";
            return Err(Refusal::new(wrong.to_string(), "finite numbers", advice).of_tensor(&tensor.name));
        }
        Ok(numbers.into_iter().map(f64::from).collect())
    }
}

/// Returns the coarsest number type in which the weights may have been computed or stored.
pub fn precision(text: &RecordedText, attention: &Attention) -> Precision {
    let parts = [Part::Attentions, Part::Queries, Part::Keys].into_iter().filter_map(|part| attention.part(part));
    let kinds = parts.map(|tensor| match tensor.dtype {
        Dtype::BF16 => Precision::BF16,
        Dtype::F16 => Precision::F16,
        _ => Precision::F32,
    });
    kinds.chain(text.about.computed).max().unwrap_or(Precision::F32)
}

fn sum_fault(text: &RecordedText, attention: &Attention, sums: [f64; 2], limits: Limits) -> Option<Refusal> {
    let [least, most] = sums;
    let is_above = most > 1.0 + limits.sum;
    let is_below = least < 1.0 - limits.sum && !text.about.is_partial;
    if attention.part(Part::Sinks).is_some() || !(is_above || is_below) {
        return None;
    }
    let advice = "dropout was left on (call model.eval()), these are scores before the softmax, or a learned sink takes a \
                  share (record it as sinks)";
    let expected = format!("sums of 1 or 0, within {}", limits.sum);
    Some(
        Refusal::new(format!("rows that sum to {least:.3} to {most:.3}"), expected, advice)
            .of_tensor(&attention.weights().name),
    )
}

fn row_fault(weights: &FileTensor, deviation: Deviation, limits: Limits, are_sums_right: bool) -> Refusal {
    let Deviation { row, head, query, .. } = deviation;
    let found = format!("{row:.3} of a row elsewhere than softmax(q·k) says (head {}, token {})", head + 1, query + 1);
    let advice = if are_sums_right {
        "look at the mask, the scale, a cap, distances that are added to the scores, the order of heads and layers, and \
         whether queries and keys were taken behind their norms and their rotation"
    } else {
        "the sums are wrong too: look for dropout that was left on, or for a learned sink"
    };
    Refusal::new(found, format!("at most {}", limits.row), advice).of_tensor(&weights.name)
}

/// Type of a function that receives the head, the rows, their scores and how these become weights.
type EachScores<'a> = dyn FnMut(usize, Range<usize>, &mut [f64], &Scoring) -> Result<(), Refusal> + 'a;

/// A reader of the numbers of one attention.
struct Reader<'a> {
    recording: &'a Recording,
    attention: &'a Attention,
}

impl Reader<'_> {
    fn queries(&self) -> usize {
        self.attention.weights().shape[1]
    }

    fn keys(&self) -> usize {
        self.attention.weights().shape[2]
    }

    /// Returns the ranges of rows that are read at once.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        self.blocks_of(0..self.queries())
    }

    fn blocks_of(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let (end, step) = (rows.end, (AT_ONCE / self.keys()).max(1));
        rows.step_by(step).map(move |begin| begin..(begin + step).min(end))
    }

    /// Reads some rows of a head's weights.
    fn weights(&self, head: usize, rows: &Range<usize>) -> Result<Vec<f32>, Refusal> {
        let (first, keys) = (head * self.queries(), self.keys());
        self.recording.numbers(self.attention.weights(), (first + rows.start) * keys..(first + rows.end) * keys)
    }

    /// Computes the smallest and the largest sum of the rows, without rows whose sum is 0.
    fn sums(&self) -> Result<[f64; 2], Refusal> {
        let mut sums = [f64::INFINITY, f64::NEG_INFINITY];
        let tensor = self.attention.weights();
        for head in 0..self.attention.heads {
            for rows in self.blocks() {
                let weights = self.weights(head, &rows)?;
                if let Some(at) = weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
                    let (row, key) = (rows.start + at / self.keys(), at % self.keys());
                    let found = format!("{} at [{head}, {row}, {key}]", weights[at]);
                    let advice = "record the weights behind the softmax, and not the scores before it";
                    return Err(Refusal::new(found, "finite weights of 0 or more", advice).of_tensor(&tensor.name));
                }
                for row in weights.chunks_exact(self.keys()) {
                    let sum: f64 = row.iter().map(|weight| f64::from(*weight)).sum();
                    if sum > 0.0 {
                        sums = [sums[0].min(sum), sums[1].max(sum)];
                    }
                }
            }
        }
        Ok(if sums[0] > sums[1] { [0.0; 2] } else { sums })
    }

    /// Compares the weights with the softmax of the scores. Returns `None` if queries and keys were not recorded.
    fn deviation(&self) -> Result<Option<Deviation>, Refusal> {
        if !self.attention.has_scores() {
            return Ok(None);
        }
        let mut worst = Deviation::default();
        let mut each = |head: usize, rows: Range<usize>, scores: &mut [f64], scoring: &Scoring| {
            let weights = self.weights(head, &rows)?;
            let pairs = scores.chunks_exact_mut(self.keys()).zip(weights.chunks_exact(self.keys()));
            for (query, (scores, weights)) in rows.zip(pairs) {
                scoring.softmax(scores);
                worst.compare(head, query, scores, weights);
            }
            Ok(())
        };
        self.each_score(0..self.attention.heads, &self.visible()?, &mut each)?;
        Ok(Some(worst))
    }

    /// Computes the scores of some heads and calls `each` with one range of rows after the other. Returns `false` if
    /// queries and keys were not recorded.
    fn each_score(&self, heads: Range<usize>, visible: &[bool], each: &mut EachScores<'_>) -> Result<bool, Refusal> {
        self.each_score_of(heads, 0..self.queries(), visible, each)
    }

    /// Computes scores as [`Self::each_score`] does, but of some queries only; `visible` has only the rows of these.
    fn each_score_of(
        &self,
        heads: Range<usize>,
        queries: Range<usize>,
        visible: &[bool],
        each: &mut EachScores<'_>,
    ) -> Result<bool, Refusal> {
        let (Some(query), Some(key)) = (self.attention.part(Part::Queries), self.attention.part(Part::Keys)) else {
            return Ok(false);
        };
        let (keys, width) = (self.keys(), query.shape[2]);
        let group = self.attention.heads / key.shape[0];
        for head in heads {
            let k = self.recording.finite(key, matrix_of(key, head / group))?;
            let k = MatRef::from_row_major_slice(&k, keys, width);
            let scoring = self.scoring(head, width)?;
            for rows in self.blocks_of(queries.clone()) {
                let first = head * self.queries();
                let q = self.recording.finite(query, (first + rows.start) * width..(first + rows.end) * width)?;
                let q = MatRef::from_row_major_slice(&q, rows.len(), width);
                let mut scores = vec![0.0; rows.len() * keys];
                let into = MatMut::from_row_major_slice_mut(&mut scores, rows.len(), keys);
                matmul(into, Accum::Replace, q, k.transpose(), 1.0, Par::Seq);
                let bias = self.bias(head, &rows)?;
                for (at, row) in scores.chunks_exact_mut(keys).enumerate() {
                    let bias = bias.get(at * keys..(at + 1) * keys).unwrap_or_default();
                    scoring.score(row, bias, &visible[(rows.start - queries.start + at) * keys..][..keys]);
                }
                each(head, rows, &mut scores, &scoring)?;
            }
        }
        Ok(true)
    }

    /// Determines the pairs for [`Recording::visible`].
    fn visible(&self) -> Result<Vec<bool>, Refusal> {
        if let Some(mask) = self.attention.part(Part::Mask) {
            return Ok(self.recording.all(mask)?.into_iter().map(|entry| entry > 0.0).collect());
        }
        let mut visible = vec![false; self.queries() * self.keys()];
        for head in 0..self.attention.heads {
            for rows in self.blocks() {
                let weights = self.weights(head, &rows)?;
                let pairs = &mut visible[rows.start * self.keys()..rows.end * self.keys()];
                pairs.iter_mut().zip(&weights).for_each(|(is_visible, weight)| *is_visible |= *weight > 0.0);
            }
        }
        Ok(visible)
    }

    /// Reads the number that a part has for a head, if there is such a part; it may be one number for all heads.
    fn number(&self, part: Part, head: usize) -> Result<Option<f64>, Refusal> {
        let Some(tensor) = self.attention.part(part) else { return Ok(None) };
        let at = if tensor.shape[0] == 1 { 0 } else { head };
        Ok(self.recording.finite(tensor, at..at + 1)?.first().copied())
    }

    fn bias(&self, head: usize, rows: &Range<usize>) -> Result<Vec<f64>, Refusal> {
        let Some(tensor) = self.attention.part(Part::ScoreBias) else { return Ok(Vec::new()) };
        let first = if tensor.shape[0] == 1 { 0 } else { head * self.queries() };
        let bias =
            self.recording.numbers(tensor, (first + rows.start) * self.keys()..(first + rows.end) * self.keys())?;
        // A bias of −∞ hides a key.
        if let Some(wrong) = bias.iter().find(|number| number.is_nan() || **number == f32::INFINITY) {
            let advice = "record what is added to the scores; a key is hidden by −∞";
            return Err(Refusal::new(wrong.to_string(), "finite numbers or −∞", advice).of_tensor(&tensor.name));
        }
        Ok(bias.into_iter().map(f64::from).collect())
    }

    /// Reads the cap of a head's scores, if there is one, and refuses a cap that is not above 0.
    fn cap(&self, head: usize) -> Result<Option<f64>, Refusal> {
        let cap = self.number(Part::ScoreCap, head)?;
        if let (Some(wrong), Some(tensor)) = (cap.filter(|cap| *cap <= 0.0), self.attention.part(Part::ScoreCap)) {
            let advice = "leave the tensor out where scores have no cap";
            return Err(Refusal::new(wrong.to_string(), "a cap above 0", advice).of_tensor(&tensor.name));
        }
        Ok(cap)
    }

    fn scoring(&self, head: usize, width: usize) -> Result<Scoring, Refusal> {
        Ok(Scoring {
            scale: self.number(Part::ScoreScale, head)?.unwrap_or((width as f64).sqrt().recip()),
            cap: self.cap(head)?,
            sink: self.number(Part::Sinks, head)?,
        })
    }
}

/// Returns the range of numbers of one matrix of a tensor with three axes.
fn matrix_of(tensor: &FileTensor, at: usize) -> Range<usize> {
    let size = tensor.shape[1] * tensor.shape[2];
    at * size..(at + 1) * size
}

/// The numbers with which the products of a head become its weights.
struct Scoring {
    scale: f64,
    cap: Option<f64>,
    sink: Option<f64>,
}

impl Scoring {
    /// Converts the products of a row to its scores, −∞ where a key is hidden.
    fn score(&self, row: &mut [f64], bias: &[f64], visible: &[bool]) {
        for (at, score) in row.iter_mut().enumerate() {
            let scaled = *score * self.scale;
            let capped = self.cap.map_or(scaled, |cap| cap * (scaled / cap).tanh());
            let biased = capped + bias.get(at).copied().unwrap_or_default();
            *score = if visible[at] { biased } else { f64::NEG_INFINITY };
        }
    }

    /// Converts the scores of a row to its weights, which are all 0 if it sees no key.
    fn softmax(&self, row: &mut [f64]) {
        let largest = row.iter().copied().chain(self.sink).fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            row.fill(0.0);
            return;
        }
        row.iter_mut().for_each(|score| *score = (*score - largest).exp());
        let total = row.iter().sum::<f64>() + self.sink.map_or(0.0, |sink| (sink - largest).exp());
        row.iter_mut().for_each(|score| *score /= total);
    }
}

impl Deviation {
    fn compare(&mut self, head: usize, query: usize, expected: &[f64], weights: &[f32]) {
        let differences = || expected.iter().zip(weights).map(|(a, b)| (a - f64::from(*b)).abs());
        self.largest = differences().fold(self.largest, f64::max);
        let row = 0.5 * differences().sum::<f64>();
        if row > self.row || row.is_nan() {
            *self = Self { row, head, query, ..*self };
        }
    }
}

/// Returns a line about the result of the check of an attention.
pub fn line(attention: &Attention, findings: &Findings) -> String {
    let [least, most] = findings.sums;
    let sums = format!("rows sum to {least:.3} to {most:.3}");
    let row = match findings.deviation {
        Some(deviation) => format!("at most {:.1e} of a row elsewhere than softmax(q·k) says", deviation.row),
        None if attention.has_scores() => "no proof, because small weights were left out".to_owned(),
        None => "no proof, which needs queries and keys".to_owned(),
    };
    format!("{}: {}, {sums}, {row}", attention.weights().name, counted(attention.heads, "head"))
}
