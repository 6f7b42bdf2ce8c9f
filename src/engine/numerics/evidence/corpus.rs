//! What each head does over many texts. Names and pairs are those of HeadVis (Luger et al. 2026), as Neuronpedia's pipeline
//! computes them, without its samples: every text counts.
//!
//! | measure | definition |
//! |---|---|
//! | `self_attention_score` | `Σ α_ii / rows` |
//! | `prev_token_score` | `Σ α_i,i−1 / (rows − texts)` |
//! | `pattern_entropy` | `−Σ α ln α / rows` |
//! | `qk_distance`, `qk_distance_variance` | mean and variance of `abs(i − j)` under `α`, over all rows |
//! | `induction_score` | `Σ α_i,j+1` over all earlier `j` with `t_j = t_i`, weights below 0.01 as 0, / queries that have such a `j` |
//! | `max_activation` of a text | the largest weight without the first query and the first key |

use std::collections::HashMap;

use crate::numerics::{Matrix, Scalar};

/// Edges of the bins of distances.
pub const DISTANCE_EDGES: [usize; 14] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const DISTANCE_BINS: usize = DISTANCE_EDGES.len() - 1;
/// Bins of the largest weights of texts, from 0 to 1.
pub const BINS: usize = 50;
/// Intervals of texts by the rank of their largest weight.
pub const INTERVALS: usize = 5;
/// Texts that are shown of the highest interval, and of each other.
const SHOWN_HIGHEST: usize = 10;
const SHOWN_OF_OTHERS: usize = 3;
/// Least weight that counts for induction.
const LEAST_INDUCTION: f64 = 0.01;
/// Words that are listed.
const LISTED: usize = 50;
/// Shares at which distributions are given.
pub const QUANTILES: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

/// The sums of a head over the rows of one text.
#[derive(Clone, Debug, Default, PartialEq)]
struct HeadSums {
    own: f64,
    previous: f64,
    entropy: f64,
    distance: f64,
    square: f64,
    induction: f64,
    first: f64,
    largest: f64,
    distances: [f64; DISTANCE_BINS],
}

/// The measures of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSums {
    tokens: usize,
    /// Queries with an earlier copy.
    repeated: usize,
    heads: Vec<HeadSums>,
    /// For each token its row of the vocabulary, and for each head the weight that it received and the largest weight of
    /// its own row without the first key.
    words: Vec<(Option<usize>, Vec<[f64; 2]>)>,
}

impl TextSums {
    /// Measures the weights (T, T) of all heads on a text.
    pub fn of<'a, S: Scalar + 'a>(words: &[Option<usize>], heads: impl Iterator<Item = &'a Matrix<S>>) -> Self {
        let is_copy = |i: usize, j: usize| words[i].is_some() && words[i] == words[j];
        let pairs: Vec<(usize, usize)> =
            (0..words.len()).flat_map(|i| (0..i).filter(move |j| is_copy(i, *j)).map(move |j| (i, j + 1))).collect();
        let repeated = (0..words.len()).filter(|i| (0..*i).any(|j| is_copy(*i, j))).count();
        let mut found = Self {
            tokens: words.len(),
            repeated,
            heads: Vec::new(),
            words: words.iter().map(|word| (*word, Vec::new())).collect(),
        };
        for weights in heads {
            found.heads.push(HeadSums::of(weights, &pairs));
            for (token, (_, of_heads)) in found.words.iter_mut().enumerate() {
                let received = (0..weights.rows()).map(|query| weights.get(query, token).to_f64()).sum();
                let looked = weights.row(token)[1..].iter().map(|x| x.to_f64()).fold(0.0, f64::max);
                of_heads.push([received, looked]);
            }
        }
        found
    }
}

impl HeadSums {
    fn of<S: Scalar>(weights: &Matrix<S>, induction: &[(usize, usize)]) -> Self {
        let mut sums = Self::default();
        for query in 0..weights.rows() {
            for (key, weight) in weights.row(query).iter().map(|x| x.to_f64()).enumerate().filter(|(_, x)| *x != 0.0) {
                let distance = query.abs_diff(key);
                sums.entropy -= weight * weight.ln();
                sums.distance += weight * distance as f64;
                sums.square += weight * (distance * distance) as f64;
                let bin = DISTANCE_EDGES.partition_point(|edge| *edge <= distance) - 1;
                if let Some(sum) = sums.distances.get_mut(bin) {
                    *sum += weight;
                }
                if query > 0 && key > 0 {
                    sums.largest = sums.largest.max(weight);
                }
            }
            sums.own += weights.get(query, query).to_f64();
            sums.previous += query.checked_sub(1).map_or(0.0, |key| weights.get(query, key).to_f64());
            sums.first += weights.get(query, 0).to_f64();
        }
        let of_pair = |(query, key): &(usize, usize)| weights.get(*query, *key).to_f64();
        sums.induction = induction.iter().map(of_pair).filter(|weight| *weight >= LEAST_INDUCTION).sum();
        sums
    }

    fn add(&mut self, other: &Self) {
        self.own += other.own;
        self.previous += other.previous;
        self.entropy += other.entropy;
        self.distance += other.distance;
        self.square += other.square;
        self.induction += other.induction;
        self.distances.iter_mut().zip(other.distances).for_each(|(sum, other)| *sum += other);
    }
}

/// What is kept of a head on one text, for distributions: the largest weight and attune's own measures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shares {
    largest: f32,
    previous: f32,
    first: f32,
    entropy: f32,
    distance: f32,
}

/// A word with what it received and looked at, by head.
#[derive(Clone, Debug, Default)]
struct WordSums {
    count: usize,
    of_heads: Vec<[f64; 2]>,
}

/// The measures of all texts so far.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    texts: usize,
    tokens: usize,
    repeated: usize,
    heads: Vec<HeadSums>,
    /// Text by text, all heads of each.
    shares: Vec<Shares>,
    words: HashMap<Option<usize>, WordSums>,
}

/// A word of a list, with its row of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedWord {
    pub word: Option<usize>,
    pub weight: f64,
    pub mean: f64,
    pub count: usize,
}

/// A text of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedText {
    pub text: usize,
    /// From 1, the lowest, to [`INTERVALS`].
    pub interval: usize,
    pub largest: f64,
}

/// What is said of a head.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadOverTexts {
    pub own: f64,
    pub previous: f64,
    pub entropy: f64,
    pub distance: f64,
    pub distance_variance: f64,
    /// `None` if no text repeats a token.
    pub induction: Option<f64>,
    pub mean_largest: f64,
    pub histogram: Vec<usize>,
    pub distance_histogram: Vec<f64>,
    pub key_words: Vec<ListedWord>,
    pub query_words: Vec<ListedWord>,
    /// [`QUANTILES`] over texts of the previous token's share, the first token's, the entropy and the distance.
    pub distributions: [(&'static str, Vec<f64>); 4],
    pub texts: Vec<RankedText>,
}

impl Corpus {
    pub fn texts(&self) -> usize {
        self.texts
    }

    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Returns the size in bytes of all that is kept.
    pub fn bytes(&self) -> usize {
        let of_words = self.words.len() * (self.heads.len() * size_of::<[f64; 2]>() + size_of::<WordSums>());
        self.shares.len() * size_of::<Shares>() + of_words
    }

    /// Adds a text.
    pub fn add(&mut self, text: &TextSums) {
        self.texts += 1;
        self.tokens += text.tokens;
        self.repeated += text.repeated;
        self.heads.resize(text.heads.len(), HeadSums::default());
        let rows = text.tokens as f64;
        for (sums, of_text) in self.heads.iter_mut().zip(&text.heads) {
            sums.add(of_text);
            let share = |sum: f64| (sum / rows) as f32;
            self.shares.push(Shares {
                largest: of_text.largest as f32,
                previous: share(of_text.previous),
                first: share(of_text.first),
                entropy: share(of_text.entropy),
                distance: share(of_text.distance),
            });
        }
        for (word, of_heads) in &text.words {
            let sums = self.words.entry(*word).or_default();
            sums.count += 1;
            sums.of_heads.resize(of_heads.len(), [0.0; 2]);
            for (sum, add) in sums.of_heads.iter_mut().zip(of_heads) {
                (sum[0], sum[1]) = (sum[0] + add[0], sum[1] + add[1]);
            }
        }
    }

    /// Computes what is said of a head. `name` returns the text of a word, by which equal ones are ordered.
    ///
    /// # Panics
    /// If there are no texts, or there is no such head.
    pub fn head(&self, head: usize, name: &dyn Fn(Option<usize>) -> String) -> HeadOverTexts {
        let (sums, rows) = (&self.heads[head], self.tokens as f64);
        let shares: Vec<Shares> = self.shares.iter().skip(head).step_by(self.heads.len()).copied().collect();
        let mean = sums.distance / rows;
        let mut histogram = vec![0; BINS];
        for share in &shares {
            histogram[((share.largest * BINS as f32) as usize).min(BINS - 1)] += 1;
        }
        let quantiles = |name, of: fn(&Shares) -> f32| (name, quantiles(shares.iter().map(of)));
        HeadOverTexts {
            own: sums.own / rows,
            previous: sums.previous / (rows - self.texts as f64),
            entropy: sums.entropy / rows,
            distance: mean,
            distance_variance: sums.square / rows - mean * mean,
            induction: (self.repeated > 0).then(|| sums.induction / self.repeated as f64),
            mean_largest: shares.iter().map(|share| f64::from(share.largest)).sum::<f64>() / shares.len() as f64,
            histogram,
            distance_histogram: sums.distances.to_vec(),
            key_words: self.listed(head, 0, |word| word.weight, name),
            query_words: self.listed(head, 1, |word| word.mean, name),
            distributions: [
                quantiles("previous", |share| share.previous),
                quantiles("first", |share| share.first),
                quantiles("entropy", |share| share.entropy),
                quantiles("distance", |share| share.distance),
            ],
            texts: ranked(&shares.iter().map(|share| share.largest).collect::<Vec<_>>()),
        }
    }

    /// Returns the words with the most of a sum of a head, by `size`.
    fn listed(
        &self,
        head: usize,
        which: usize,
        size: fn(&ListedWord) -> f64,
        name: &dyn Fn(Option<usize>) -> String,
    ) -> Vec<ListedWord> {
        let listed = |(&word, sums): (&Option<usize>, &WordSums)| {
            let weight = sums.of_heads[head][which];
            ListedWord { word, weight, mean: weight / sums.count as f64, count: sums.count }
        };
        let mut words: Vec<ListedWord> = self.words.iter().map(listed).collect();
        words.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| name(a.word).cmp(&name(b.word))));
        words.truncate(LISTED);
        words
    }
}

/// Returns the numbers at the shares of [`QUANTILES`], between two in a line.
fn quantiles(numbers: impl Iterator<Item = f32>) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.map(f64::from).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        below + (above - below) * place.fract()
    };
    QUANTILES.into_iter().map(at).collect()
}

/// Returns the texts that are shown of a head, by their largest weights: all of the intervals' samples in order, and of the
/// highest interval the highest first.
fn ranked(largest: &[f32]) -> Vec<RankedText> {
    let mut order: Vec<usize> = (0..largest.len()).collect();
    order.sort_by(|a, b| largest[*a].total_cmp(&largest[*b]).then(a.cmp(b)));
    let interval = |rank: usize| 1 + rank * INTERVALS / order.len();
    let mut shown = Vec::new();
    for number in 1..=INTERVALS {
        let inside: Vec<usize> = (0..order.len()).filter(|rank| interval(*rank) == number).collect();
        let ranks: Vec<usize> = if number == INTERVALS {
            inside.iter().rev().take(SHOWN_HIGHEST).copied().collect()
        } else {
            let at = |x: usize| inside[inside.len() * (2 * x + 1) / (2 * SHOWN_OF_OTHERS)];
            (0..SHOWN_OF_OTHERS.min(inside.len())).map(at).collect()
        };
        let text =
            |rank: usize| RankedText { text: order[rank], interval: number, largest: f64::from(largest[order[rank]]) };
        shown.extend(ranks.into_iter().map(text));
    }
    shown
}
