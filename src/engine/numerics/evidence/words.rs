//! Which word mattered for one answer: ten measures, which need not agree, with a value for each word that the answer's
//! place `p` sees, and the correlations of their ranks.
//!
//! | measure | definition | source |
//! |---|---|---|
//! | `attention_last`, `attention` | mean over heads of `α_pj` in the last block; over all blocks and heads | |
//! | `rollout` | row `p` of `Â_L ⋯ Â_1`, `Â = (mean over heads of A + I) / 2`, rows to sum 1 | Abnar & Zuidema 2020, arXiv 2005.00928 |
//! | `lengths` | mean over blocks and heads of `‖α_pj v_j W_O‖`, after the norm of the sum if there is one | Kobayashi et al. 2020, arXiv 2004.10102 |
//! | `direct` | `Σ_l Σ_h L_final(α_pj v_j W_O) · (w_a − w_b)` | [`attribution`](crate::numerics::model::attribution) |
//! | `value_zeroing` | `C_ij = 1 − cos(block's output at i, the same with v_j = 0)`, rows to sum 1; row `p` of `C^L ⋯ C^1` | Mohebbi et al. 2023, arXiv 2301.12971 |
//! | `gradient_input` | `∂m/∂e_j · e_j` | Simonyan et al. 2013, arXiv 1312.6034 |
//! | `integrated` | [`gradient`](super::gradient) | Sundararajan et al. 2017, arXiv 1703.01365 |
//! | `cut` | `m − m(v_j = 0 in all heads of all blocks)`: nobody can read the word | |
//! | `blank` | `m − m(e_j ← ē)`: the mean row of the table stands there | |

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Watch;
use super::gradient::AnswerOf;
use super::maps::Setting;
use crate::numerics::block::BlockConfig;
use crate::numerics::contributions::{BlockPart, Contributions};
use crate::numerics::model::activations::{BlockActivations, HeadActivations};
use crate::numerics::model::attribution::TermOf;
use crate::numerics::model::onward::Onward;
use crate::numerics::parallel::{available, map};
use crate::numerics::vectors::norm;
use crate::numerics::{Matrix, Scalar};

/// Number of steps of the line of integrated gradients. For a difference of 10, the error is 0.002 with 32 steps and
/// 0.001 with 64.
pub const STEPS: usize = 64;
/// Unit to whose multiples numbers are rounded before they are ranked, so that rounding errors do not decide their
/// order.
const EQUAL: f64 = 1e-9;
/// Least sum by which a row is divided, so that nothing is divided by 0.
const LEAST_SUM: f64 = 1e-300;

/// Declares the measures, each with its name in results and its meaning.
macro_rules! measures {
    ($($measure:ident = $name:literal, $means:literal;)*) => {
        /// A measure of a word's effect on an answer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum WordMeasure { $($measure),* }

        impl WordMeasure {
            pub fn name(self) -> &'static str {
                match self { $(Self::$measure => $name),* }
            }

            /// Returns the meaning of the measure, as a phrase without a full stop.
            pub fn means(self) -> &'static str {
                match self { $(Self::$measure => $means),* }
            }
        }
    };
}

measures! {
    AttentionLast = "attention_last", "The mean weight of the word in the last layer";
    Attention = "attention", "The mean weight of the word in all layers and heads";
    Rollout = "rollout", "Weights multiplied through the layers, half of each row being the word itself";
    Lengths = "lengths", "The mean length of what a head adds from the word";
    Direct = "direct", "What is added from the word straight to the answer";
    ValueZeroing = "value_zeroing", "How far each layer's output turns without the word's value, multiplied through the layers";
    GradientInput = "gradient_input", "The gradient of the answer times the word's static vector";
    Integrated = "integrated", "The mean of that gradient on the line from the mean word to the word, times the way";
    Cut = "cut", "What the answer loses if nobody can read the word";
    Blank = "blank", "What the answer loses if the mean word stands there";
}

impl WordMeasure {
    /// Returns the name of the measure as words.
    pub fn title(self) -> String {
        self.name().replace('_', " ")
    }
}

/// The measures of a sentence's words for one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct WordTable {
    /// `m`, the difference of the two logits.
    pub difference: f64,
    /// `m` of the sentence with all words blank.
    pub nothing: f64,
    /// Values of each measure, one for each word that the answer's position sees. *direct* is missing if a logit is not
    /// a sum of terms.
    pub measures: Vec<(WordMeasure, Vec<f64>)>,
    /// Sum of all terms of the difference that are not part of *direct*.
    pub direct_rest: Option<f64>,
}

/// Returns the number of steps of [`word_table`] for a sentence of `tokens` tokens in a model of `blocks` blocks.
pub fn steps(tokens: usize, blocks: usize) -> usize {
    2 * tokens + blocks + STEPS
}

/// Computes the measures; `None` if the watch ended the work.
pub fn word_table(setting: &Setting<'_>, watch: Watch<'_>) -> Option<WordTable> {
    use WordMeasure::*;
    let Setting { model, parameters, sentence, own, question, .. } = *setting;
    let (tokens, done) = (own.input.rows(), AtomicUsize::new(0));
    let step = |count: usize| watch(done.fetch_add(count, Ordering::Relaxed) + count);
    let contributions = contributions(setting);
    let mut measures = of_weights(setting);
    measures.push((Lengths, lengths(setting, &contributions)));
    let direct = direct(setting, &contributions);
    measures.extend(direct.iter().map(|(values, _)| (Direct, values.clone())));
    measures.push((ValueZeroing, value_zeroing(setting, &step)?));
    let (statics, mean) = (model.statics(parameters, sentence), model.mean_static(parameters));
    let blank = Matrix::from_fn(tokens, mean.len(), |_, j| mean[j]);
    let answer = AnswerOf { model, parameters, sentence, question };
    let gradient = answer.gradients(std::slice::from_ref(&statics)).remove(0);
    measures.push((GradientInput, (0..tokens).map(|word| wide_dot(gradient.row(word), statics.row(word))).collect()));
    let before = done.load(Ordering::Relaxed);
    measures.push((Integrated, answer.integrated(&blank, &statics, STEPS, &|steps| watch(before + steps))?));
    done.store(before + STEPS, Ordering::Relaxed);
    let [cut, blank_words] = of_changed_words(setting, &statics, &mean, &step)?;
    measures.extend([(Cut, cut), (Blank, blank_words)]);
    let seen = if model.is_causal() { question.place + 1 } else { tokens };
    measures.iter_mut().for_each(|(_, values)| values.truncate(seen));
    Some(WordTable {
        difference: setting.ask(&own.output).difference,
        nothing: of_statics(setting, blank),
        measures,
        direct_rest: direct.map(|(_, rest)| rest),
    })
}

fn contributions(setting: &Setting<'_>) -> Vec<Arc<Contributions<f32>>> {
    let blocks = setting.model.architecture.blocks.iter().enumerate().zip(&setting.own.blocks);
    let of = |((number, config), block): ((usize, &BlockConfig), &Arc<BlockActivations<f32>>)| {
        Arc::new(Contributions::of(config, number, setting.parameters, block, &[]))
    };
    blocks.map(of).collect()
}

/// Computes the difference of the two logits in a pass that starts from static vectors (T, D).
fn of_statics(setting: &Setting<'_>, statics: Matrix<f32>) -> f64 {
    let Setting { model, parameters, sentence, .. } = *setting;
    let input = model.input_of(parameters, sentence, statics);
    setting.ask(&Onward::new(model, parameters, sentence).from(0, input)).difference
}

/// Computes *cut* and *blank* of all words; `None` if a step ended the work.
fn of_changed_words(
    setting: &Setting<'_>,
    statics: &Matrix<f32>,
    mean: &[f32],
    step: &(dyn Fn(usize) -> bool + Sync),
) -> Option<[Vec<f64>; 2]> {
    let Setting { model, parameters, sentence, own, .. } = *setting;
    let difference = setting.ask(&own.output).difference;
    let words: Vec<usize> = (0..statics.rows()).collect();
    let each = |change: &(dyn Fn(usize) -> f64 + Sync)| -> Option<Vec<f64>> {
        let found = map(&words, available(), |word| step(1).then(|| difference - change(*word)));
        found.into_iter().collect()
    };
    let cut = |word: usize| {
        let output = Onward::new(model, parameters, sentence).without_value(word, (*own.input).clone());
        setting.ask(&output).difference
    };
    let blank = |word: usize| {
        let mut changed = statics.clone();
        changed.row_mut(word).copy_from_slice(mean);
        of_statics(setting, changed)
    };
    Some([each(&cut)?, each(&blank)?])
}

/// Computes the measures that need only the weights of attention.
fn of_weights(setting: &Setting<'_>) -> Vec<(WordMeasure, Vec<f64>)> {
    let (blocks, place) = (&setting.own.blocks, setting.question.place);
    let grids: Vec<Matrix<f64>> = blocks.iter().map(|block| mean_weights(block.heads.iter())).collect();
    let row = |grid: &Matrix<f64>| grid.row(place).to_vec();
    let rolled = grids.iter().map(|grid| {
        Matrix::from_fn(grid.rows(), grid.cols(), |i, j| (grid.get(i, j) + f64::from(u8::from(i == j))) / 2.0)
    });
    vec![
        (WordMeasure::AttentionLast, grids.last().map(row).unwrap_or_default()),
        (WordMeasure::Attention, mean_of(&grids.iter().map(row).collect::<Vec<_>>())),
        (WordMeasure::Rollout, chained(&rolled.collect::<Vec<_>>(), place)),
    ]
}

/// Computes the mean weights (T, T) of some heads.
fn mean_weights<'a>(heads: impl ExactSizeIterator<Item = &'a HeadActivations<f32>>) -> Matrix<f64> {
    let share = 1.0 / heads.len() as f64;
    let mut sum: Option<Matrix<f64>> = None;
    for head in heads {
        let weights = &head.weights;
        let sum = sum.get_or_insert_with(|| Matrix::zeros(weights.rows(), weights.cols()));
        sum.flat_mut().iter_mut().zip(weights.flat()).for_each(|(sum, weight)| *sum += share * weight.to_f64());
    }
    sum.unwrap_or_else(|| Matrix::zeros(0, 0))
}

/// Computes the mean of rows of the same length.
fn mean_of(rows: &[Vec<f64>]) -> Vec<f64> {
    let entries = rows.first().map_or(0, Vec::len);
    (0..entries).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64).collect()
}

/// Computes row `place` of the product of the grids (T, T) of all blocks, with the last block's grid first. The rows of
/// each grid are scaled to sum to 1.
pub fn chained(grids: &[Matrix<f64>], place: usize) -> Vec<f64> {
    let tokens = grids.first().map_or(0, Matrix::rows);
    let mut row: Vec<f64> = (0..tokens).map(|word| f64::from(u8::from(word == place))).collect();
    for grid in grids.iter().rev() {
        let mut next = vec![0.0; tokens];
        for (word, share) in row.iter().enumerate().filter(|(_, share)| **share != 0.0) {
            let sum = grid.row(word).iter().sum::<f64>().max(LEAST_SUM);
            next.iter_mut().zip(grid.row(word)).for_each(|(to, entry)| *to += share * entry / sum);
        }
        row = next;
    }
    row
}

fn lengths(setting: &Setting<'_>, contributions: &[Arc<Contributions<f32>>]) -> Vec<f64> {
    let place = setting.question.place;
    let mut rows = Vec::new();
    for (block, of) in setting.own.blocks.iter().zip(contributions) {
        let norms = &of.norms()[..of.norms_before(BlockPart::FeedForward)];
        for head in 0..block.heads.len() {
            let length = |key: usize| {
                let mut term = of.term(block, head, place, key);
                norms.iter().for_each(|norm| norm.carry(place, &mut term));
                norm(&term).to_f64()
            };
            rows.push((0..of.keys()).map(length).collect());
        }
    }
    mean_of(&rows)
}

/// Computes what each word adds directly to the difference of the two logits, and the sum of the other terms. Returns
/// `None` if a logit is not a sum of terms.
fn direct(setting: &Setting<'_>, contributions: &[Arc<Contributions<f32>>]) -> Option<(Vec<f64>, f64)> {
    let Setting { model, parameters, own, question, .. } = *setting;
    let (mut words, mut rest) = (vec![0.0; own.input.rows()], 0.0);
    for (class, sign) in [(question.answer, 1.0), (question.against, -1.0)] {
        let terms = model.attribution(parameters, own, contributions, None, (question.place, class)).ok()?;
        for (of, value) in terms {
            match of {
                TermOf::Head { key, .. } => words[key] += sign * value.to_f64(),
                _ => rest += sign * value.to_f64(),
            }
        }
    }
    Some((words, rest))
}

fn value_zeroing(setting: &Setting<'_>, step: &(dyn Fn(usize) -> bool + Sync)) -> Option<Vec<f64>> {
    let Setting { model, parameters, sentence, own, question, .. } = *setting;
    let grids = map(&own.blocks.iter().enumerate().collect::<Vec<_>>(), available(), |&(number, block)| {
        if !step(1) {
            return None;
        }
        let tokens = block.input.rows();
        let whole: Vec<Vec<f64>> = (0..tokens).map(|row| unit(block.output.row(row))).collect();
        let mut grid = Matrix::zeros(tokens, tokens);
        Onward::new(model, parameters, sentence).outputs_without_each_value(number, &block.input, |word, output| {
            for (row, whole) in whole.iter().enumerate() {
                // `1 − cos` as half a squared distance, which does not cancel if the two are close.
                let apart = unit(output.row(row)).iter().zip(whole).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                grid.row_mut(row)[word] = apart / 2.0;
            }
        });
        Some(grid)
    });
    Some(chained(&grids.into_iter().collect::<Option<Vec<_>>>()?, question.place))
}

fn unit(row: &[f32]) -> Vec<f64> {
    let length = row.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
    row.iter().map(|x| x.to_f64() / length).collect()
}

fn wide_dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}

/// Computes Spearman's rank correlation of two measures' absolute values at some words; `None` if a measure is
/// constant.
pub fn spearman(a: &[f64], b: &[f64], words: &[usize]) -> Option<f64> {
    let [a, b] = [a, b].map(|values| ranks(&words.iter().map(|word| values[*word].abs()).collect::<Vec<_>>()));
    let centred = |ranks: &[f64]| {
        let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
        ranks.iter().map(|rank| rank - mean).collect::<Vec<_>>()
    };
    let (a, b) = (centred(&a), centred(&b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size = (dot(&a, &a) * dot(&b, &b)).sqrt();
    (size > 0.0).then(|| dot(&a, &b) / size)
}

/// Returns the rank of each number, from 1 for the smallest; equal ones share the mean of their ranks.
pub fn ranks(numbers: &[f64]) -> Vec<f64> {
    let steps: Vec<f64> = numbers.iter().map(|number| (number / EQUAL).round()).collect();
    let rank = |own: &f64| {
        let less = steps.iter().filter(|step| *step < own).count() as f64;
        let equal = steps.iter().filter(|step| *step == own).count() as f64;
        less + (equal + 1.0) / 2.0
    };
    steps.iter().map(rank).collect()
}
