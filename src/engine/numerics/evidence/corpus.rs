//! Measures of each head over many texts, listed in `measures!`. Their names, and the pairs of query and key that each
//! counts, are those of HeadVis (Luger et al. 2026) as Neuronpedia's pipeline computes them, except that every text
//! counts and not only a sample.
//!
//! In a model with a source, a text is a source with its target. Heads of the encoder and of the decoder's
//! self-attention have the measures of one sentence over their own tokens. Cross-attention looks from the target at the
//! source, where a token has neither itself nor a distance; it has the two measures of alignment instead.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::json;
use crate::numerics::block::BlockConfig;
use crate::numerics::head_measures::monotony;
use crate::numerics::model::{Architecture, Tower};
use crate::numerics::{Matrix, Scalar};

/// Edges of the bins of distances, in tokens; each bin includes its lower edge.
pub const DISTANCE_EDGES: [usize; 14] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const DISTANCE_BINS: usize = DISTANCE_EDGES.len() - 1;
/// Number of bins, from 0 to 1, for the largest weights of texts.
pub const BINS: usize = 50;
/// Number of intervals into which the texts are divided by the rank of their largest weight.
pub const INTERVALS: usize = 5;
/// Number of texts that are shown from the highest interval; from each of the others, [`SHOWN_OF_OTHERS`] are shown.
const SHOWN_HIGHEST: usize = 10;
const SHOWN_OF_OTHERS: usize = 3;
/// Least weight that the induction score counts.
const LEAST_INDUCTION: f64 = 0.01;
/// Largest number of words in a list of words.
const LISTED: usize = 50;
/// Shares of the texts for which the quantiles of a distribution are given.
pub const QUANTILES: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

/// Declares the measures: for each the name in results and claims, the heads that have it, its meaning and its
/// equation.
macro_rules! measures {
    ($($measure:ident = $name:literal, $of:ident, $meaning:literal, $formula:literal;)*) => {
        /// A measure of a head over all texts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TextMeasure { $(#[doc = $meaning] $measure),* }

        impl TextMeasure {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$measure),*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$measure => $name),* }
            }

            /// Returns the meaning of the measure, for readers, and its equation.
            pub const fn words(self) -> [&'static str; 2] {
                match self { $(Self::$measure => [$meaning, $formula]),* }
            }

            /// Returns whether a head has the measure; `is_within` says whether its queries and keys are of one
            /// sentence.
            pub const fn is_of(self, is_within: bool) -> bool {
                match self { $(Self::$measure => HeadsOf::$of.has(is_within)),* }
            }
        }
    };
}

/// The heads that have a measure.
enum HeadsOf {
    All,
    OneSentence,
    TwoSentences,
}

impl HeadsOf {
    const fn has(self, is_within: bool) -> bool {
        match self {
            Self::All => true,
            Self::OneSentence => is_within,
            Self::TwoSentences => !is_within,
        }
    }
}

measures! {
    Own = "self_attention_score", OneSentence, "The share of the weights on the token itself", "Σ α[i, i] / rows";
    Previous = "prev_token_score", OneSentence, "The share of the weights on the token before", "Σ α[i, i−1] / (rows − texts)";
    Entropy = "pattern_entropy", All, "How spread out the weights of a token are, in nats", "−Σ α ln α / rows";
    Distance = "qk_distance", OneSentence, "How many tokens away the head looks, on average", "Σ α |i − j| / rows";
    DistanceVariance = "qk_distance_variance", OneSentence, "How much that distance varies", "Σ α |i − j|² / rows − mean²";
    Induction = "induction_score", OneSentence,
        "The weight behind earlier copies of the same token, of the tokens that have one; weights below 0.01 do not count",
        "Σ α[i, j+1] with j < i, t[j] = t[i], / queries with such a j";
    Aligned = "aligned_score", TwoSentences,
        "The share of the weights on the aligned word of the source: by a lesson's rule, or else the one that all heads of \
         cross-attention together weigh most",
        "Σ α[i, a[i]] / rows";
    Monotony = "monotony", TwoSentences,
        "The share of steps from one word of the target to the next at which the strongest word of the source does not move back",
        "steps with argmax α[i] ≥ argmax α[i−1] / steps";
    MeanLargest = "mean_max_activation", All,
        "The largest weight of a text, without the first query and the first key, on average over texts",
        "1/N Σ max α[i, j], i > 0, j > 0";
}

impl TextMeasure {
    fn place(self) -> usize {
        self as usize
    }
}

/// Declares the measures whose distribution over texts is kept, with their names.
macro_rules! distributions {
    ($($measure:ident = $name:literal, $of:ident;)*) => {
        /// A measure of a head on one text, whose quantiles over the texts are computed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Distribution { $($measure),* }

        impl Distribution {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$measure),*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$measure => $name),* }
            }

            /// Returns whether a head has the distribution; `is_within` says whether its queries and keys are of one
            /// sentence.
            pub const fn is_of(self, is_within: bool) -> bool {
                match self { $(Self::$measure => HeadsOf::$of.has(is_within)),* }
            }
        }
    };
}

distributions! {
    Previous = "previous", OneSentence;
    First = "first", All;
    Entropy = "entropy", All;
    Distance = "distance", OneSentence;
}

/// The towers that a head's queries and keys come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadTowers {
    pub queries: Tower,
    pub keys: Tower,
}

impl HeadTowers {
    /// Returns the towers of all heads, the source's first.
    pub fn all(architecture: &Architecture) -> Vec<Self> {
        let of_block = |(number, config): (usize, &BlockConfig)| {
            let queries = architecture.tower_of(number);
            let keys = if config.attends_to_source() { Tower::Source } else { queries };
            std::iter::repeat_n(Self { queries, keys }, config.attention.heads)
        };
        architecture.numbered_blocks().flat_map(of_block).collect()
    }

    /// Returns whether queries and keys come from the same tower, so that they are the same tokens.
    pub fn is_within(self) -> bool {
        self.queries == self.keys
    }
}

/// A value for the source's tower and one for the sentence's.
#[derive(Clone, Debug, Default, PartialEq)]
struct OfTowers<T> {
    source: T,
    sentence: T,
}

impl<T> OfTowers<T> {
    fn of(&self, tower: Tower) -> &T {
        match tower {
            Tower::Source => &self.source,
            Tower::Sentence => &self.sentence,
        }
    }

    fn of_mut(&mut self, tower: Tower) -> &mut T {
        match tower {
            Tower::Source => &mut self.source,
            Tower::Sentence => &mut self.sentence,
        }
    }
}

impl OfTowers<usize> {
    fn add(&mut self, other: &Self) {
        self.source += other.source;
        self.sentence += other.sentence;
    }
}

/// The tokens of a text, as rows of the vocabulary.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextWords<'t> {
    pub sentence: &'t [Option<usize>],
    /// Tokens of the source; empty if the model has none.
    pub source: &'t [Option<usize>],
    /// Position in the source of the token that is aligned with each token of the sentence; empty without a source.
    pub aligned: &'t [usize],
}

/// Sums over the rows of a head's weights on one text, from which its measures are computed.
#[derive(Clone, Debug, Default, PartialEq)]
struct HeadSums {
    own: f64,
    previous: f64,
    entropy: f64,
    distance: f64,
    square: f64,
    induction: f64,
    first: f64,
    aligned: f64,
    /// Number of steps from query to query at which the strongest key does not move back.
    forward: f64,
    largest: f64,
    distances: [f64; DISTANCE_BINS],
}

/// The sums of all heads on one text, and the sums of its tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSums {
    tokens: OfTowers<usize>,
    /// Number of queries whose word occurs before them.
    repeated: OfTowers<usize>,
    /// Sum over the sentence's rows of the weight that each key of the source would have if all were equal.
    even: f64,
    towers: Vec<HeadTowers>,
    heads: Vec<HeadSums>,
    words: OfTowers<Vec<TextWord>>,
}

/// A token's row of the vocabulary, and for each head the sum of the weights that the token received and the largest
/// weight that it gave, without the first key.
type TextWord = (Option<usize>, Vec<[f64; 2]>);

impl TextSums {
    /// Measures the weights (T, T_k) of all heads on a text.
    pub fn of<'a, S: Scalar + 'a>(
        words: TextWords<'_>,
        heads: impl Iterator<Item = (HeadTowers, &'a Matrix<S>)>,
    ) -> Self {
        let [source, sentence] = [words.source, words.sentence].map(Copies::of);
        let tokens = OfTowers { source: words.source.len(), sentence: words.sentence.len() };
        let unread = |words: &[Option<usize>]| words.iter().map(|word| (*word, Vec::new())).collect();
        let mut found = Self {
            repeated: OfTowers { source: source.repeated, sentence: sentence.repeated },
            even: if tokens.source > 0 { tokens.sentence as f64 / tokens.source as f64 } else { 0.0 },
            tokens,
            towers: Vec::new(),
            heads: Vec::new(),
            words: OfTowers { source: unread(words.source), sentence: unread(words.sentence) },
        };
        let copies = OfTowers { source, sentence };
        for (towers, weights) in heads {
            let sums = match towers.is_within() {
                true => HeadSums::within(weights, &copies.of(towers.queries).pairs),
                false => HeadSums::between(weights, words.aligned),
            };
            found.heads.push(sums);
            found.towers.push(towers);
            found.add_words(towers, weights);
        }
        found
    }

    /// Adds for each token the weight that it received from the head that was added last, and the largest weight of its
    /// own row without the first key.
    fn add_words<S: Scalar>(&mut self, towers: HeadTowers, weights: &Matrix<S>) {
        let OfTowers { source, sentence } = &mut self.words;
        source.iter_mut().chain(sentence).for_each(|(_, of_heads)| of_heads.push([0.0; 2]));
        let last = self.heads.len() - 1;
        for (key, (_, of_heads)) in self.words.of_mut(towers.keys).iter_mut().enumerate() {
            of_heads[last][0] = (0..weights.rows()).map(|query| weights.get(query, key).to_f64()).sum();
        }
        for (query, (_, of_heads)) in self.words.of_mut(towers.queries).iter_mut().enumerate() {
            of_heads[last][1] = weights.row(query)[1..].iter().map(|x| x.to_f64()).fold(0.0, f64::max);
        }
    }
}

/// The pairs of a query and the key after an earlier occurrence of the query's word.
struct Copies {
    pairs: Vec<(usize, usize)>,
    /// Number of queries whose word occurs before them.
    repeated: usize,
}

impl Copies {
    fn of(words: &[Option<usize>]) -> Self {
        let is_copy = |i: usize, j: usize| words[i].is_some() && words[i] == words[j];
        let pairs = (0..words.len()).flat_map(|i| (0..i).filter(move |j| is_copy(i, *j)).map(move |j| (i, j + 1)));
        let repeated = (0..words.len()).filter(|i| (0..*i).any(|j| is_copy(*i, j))).count();
        Self { pairs: pairs.collect(), repeated }
    }
}

impl HeadSums {
    /// Adds up the weights of a head within one sentence.
    fn within<S: Scalar>(weights: &Matrix<S>, induction: &[(usize, usize)]) -> Self {
        let mut sums = Self::of_any(weights);
        for query in 0..weights.rows() {
            for (key, weight) in weights.row(query).iter().map(|x| x.to_f64()).enumerate().filter(|(_, x)| *x != 0.0) {
                let distance = query.abs_diff(key);
                sums.distance += weight * distance as f64;
                sums.square += weight * (distance * distance) as f64;
                let bin = DISTANCE_EDGES.partition_point(|edge| *edge <= distance) - 1;
                if let Some(sum) = sums.distances.get_mut(bin) {
                    *sum += weight;
                }
            }
            sums.own += weights.get(query, query).to_f64();
            sums.previous += query.checked_sub(1).map_or(0.0, |key| weights.get(query, key).to_f64());
        }
        let of_pair = |(query, key): &(usize, usize)| weights.get(*query, *key).to_f64();
        sums.induction = induction.iter().map(of_pair).filter(|weight| *weight >= LEAST_INDUCTION).sum();
        sums
    }

    /// Adds up the weights of a head of cross-attention.
    fn between<S: Scalar>(weights: &Matrix<S>, aligned: &[usize]) -> Self {
        let of_pair = |(query, key): (usize, &usize)| weights.get(query, *key).to_f64();
        let steps = weights.rows().saturating_sub(1) as f64;
        Self {
            aligned: aligned.iter().enumerate().map(of_pair).sum(),
            forward: monotony(weights).map_or(0.0, |share| share * steps),
            ..Self::of_any(weights)
        }
    }

    /// Computes the sums that heads of self-attention and of cross-attention have in common.
    fn of_any<S: Scalar>(weights: &Matrix<S>) -> Self {
        let mut sums = Self::default();
        for query in 0..weights.rows() {
            for (key, weight) in weights.row(query).iter().map(|x| x.to_f64()).enumerate().filter(|(_, x)| *x != 0.0) {
                sums.entropy -= weight * weight.ln();
                if query > 0 && key > 0 {
                    sums.largest = sums.largest.max(weight);
                }
            }
            sums.first += weights.get(query, 0).to_f64();
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        self.own += other.own;
        self.previous += other.previous;
        self.entropy += other.entropy;
        self.distance += other.distance;
        self.square += other.square;
        self.induction += other.induction;
        self.aligned += other.aligned;
        self.forward += other.forward;
        self.distances.iter_mut().zip(other.distances).for_each(|(sum, other)| *sum += other);
    }
}

/// The largest weight of a head on one text, and the values of its [`Distribution`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shares {
    largest: f32,
    of: [f32; Distribution::ALL.len()],
}

/// The number of occurrences of a word, and for each head the sum of the weights that the word received and of the
/// largest weights of its rows.
#[derive(Clone, Debug, Default)]
struct WordSums {
    count: OfTowers<usize>,
    of_heads: Vec<[f64; 2]>,
}

/// The sums over all texts so far.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    texts: usize,
    tokens: OfTowers<usize>,
    repeated: OfTowers<usize>,
    even: f64,
    towers: Vec<HeadTowers>,
    heads: Vec<HeadSums>,
    /// Shares of all heads, text by text.
    shares: Vec<Shares>,
    words: HashMap<Option<usize>, WordSums>,
}

/// A word of a list, as its row of the vocabulary, with the sum and the mean of its weights and the number of its
/// occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedWord {
    pub word: Option<usize>,
    #[serde(with = "json::number")]
    pub weight: f64,
    #[serde(with = "json::number")]
    pub mean: f64,
    pub count: usize,
}

/// A text that is shown for a head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedText {
    pub text: usize,
    /// Number of the interval, from 1, the lowest, to [`INTERVALS`].
    pub interval: usize,
    #[serde(with = "json::number")]
    pub largest: f64,
}

/// The distribution of a measure over texts, at [`QUANTILES`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub of: Distribution,
    #[serde(with = "json::numbers")]
    pub values: Vec<f64>,
}

/// All measures of a head over the texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadOverTexts {
    /// Values of [`TextMeasure::ALL`]; NaN if the head does not have the measure, or no text has a value.
    #[serde(with = "json::numbers")]
    measures: Vec<f64>,
    pub histogram: Vec<usize>,
    /// Sum of the weights in each bin of distances; empty for a head of cross-attention.
    #[serde(with = "json::numbers")]
    pub distance_histogram: Vec<f64>,
    pub key_words: Vec<ListedWord>,
    pub query_words: Vec<ListedWord>,
    /// Quantiles of the distributions that the head has.
    pub distributions: Vec<Spread>,
    pub texts: Vec<RankedText>,
}

impl HeadOverTexts {
    pub fn measure(&self, measure: TextMeasure) -> Option<f64> {
        self.measures.get(measure.place()).copied().filter(|number| !number.is_nan())
    }

    /// Returns whether all lists have the expected lengths, which lists read from a file may not have.
    pub fn is_whole(&self) -> bool {
        let has_size = |spread: &Spread| spread.values.len() == QUANTILES.len();
        self.measures.len() == TextMeasure::ALL.len()
            && self.histogram.len() == BINS
            && [0, DISTANCE_BINS].contains(&self.distance_histogram.len())
            && self.distributions.iter().all(has_size)
    }
}

impl Corpus {
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// Returns the number of tokens of all texts, sources included.
    pub fn tokens(&self) -> usize {
        self.tokens.source + self.tokens.sentence
    }

    /// Returns the mean weight that a word of the source would have if all words of its source had the same; `None`
    /// without sources.
    pub fn even(&self) -> Option<f64> {
        (self.tokens.source > 0).then(|| self.even / self.tokens.sentence as f64)
    }

    /// Estimates the size in bytes of the numbers that are kept for the texts and the words.
    pub fn bytes(&self) -> usize {
        let of_words = self.words.len() * (self.heads.len() * size_of::<[f64; 2]>() + size_of::<WordSums>());
        self.shares.len() * size_of::<Shares>() + of_words
    }

    /// Adds a text.
    pub fn add(&mut self, text: &TextSums) {
        self.texts += 1;
        self.tokens.add(&text.tokens);
        self.repeated.add(&text.repeated);
        self.even += text.even;
        self.towers.clone_from(&text.towers);
        self.heads.resize(text.heads.len(), HeadSums::default());
        for ((sums, of_text), towers) in self.heads.iter_mut().zip(&text.heads).zip(&text.towers) {
            sums.add(of_text);
            let rows = *text.tokens.of(towers.queries) as f64;
            let share = |of: Distribution| {
                let sum = match of {
                    Distribution::Previous => of_text.previous,
                    Distribution::First => of_text.first,
                    Distribution::Entropy => of_text.entropy,
                    Distribution::Distance => of_text.distance,
                };
                (sum / rows) as f32
            };
            self.shares.push(Shares { largest: of_text.largest as f32, of: Distribution::ALL.map(share) });
        }
        for tower in [Tower::Source, Tower::Sentence] {
            for (word, of_heads) in text.words.of(tower) {
                let sums = self.words.entry(*word).or_default();
                *sums.count.of_mut(tower) += 1;
                sums.of_heads.resize(of_heads.len(), [0.0; 2]);
                for (sum, add) in sums.of_heads.iter_mut().zip(of_heads) {
                    (sum[0], sum[1]) = (sum[0] + add[0], sum[1] + add[1]);
                }
            }
        }
    }

    /// Computes the measures of a head. `name` returns the text of a word; words with the same value are sorted by it.
    ///
    /// # Panics
    /// If there are no texts, or there is no such head.
    pub fn head(&self, head: usize, name: &dyn Fn(Option<usize>) -> String) -> HeadOverTexts {
        let (sums, towers) = (&self.heads[head], self.towers[head]);
        let shares: Vec<Shares> = self.shares.iter().skip(head).step_by(self.heads.len()).copied().collect();
        let mut histogram = vec![0; BINS];
        for share in &shares {
            histogram[((share.largest * BINS as f32) as usize).min(BINS - 1)] += 1;
        }
        let is_within = towers.is_within();
        let spread =
            |(at, of): (usize, Distribution)| Spread { of, values: quantiles(shares.iter().map(|share| share.of[at])) };
        let spreads = Distribution::ALL.into_iter().enumerate().filter(|(_, of)| of.is_of(is_within));
        HeadOverTexts {
            measures: TextMeasure::ALL
                .into_iter()
                .map(|measure| match measure.is_of(is_within) {
                    true => self.measure(measure, (sums, towers), &shares).unwrap_or(f64::NAN),
                    false => f64::NAN,
                })
                .collect(),
            histogram,
            distance_histogram: if is_within { sums.distances.to_vec() } else { Vec::new() },
            key_words: self.listed((head, 0), towers.keys, |word| word.weight, name),
            query_words: self.listed((head, 1), towers.queries, |word| word.mean, name),
            distributions: spreads.map(spread).collect(),
            texts: ranked(&shares.iter().map(|share| share.largest).collect::<Vec<_>>()),
        }
    }

    /// Computes a measure of a head from its sums; `None` if no text has a pair that the measure counts.
    fn measure(&self, measure: TextMeasure, (sums, towers): (&HeadSums, HeadTowers), shares: &[Shares]) -> Option<f64> {
        let (rows, texts) = (*self.tokens.of(towers.queries) as f64, self.texts as f64);
        let mean = sums.distance / rows;
        Some(match measure {
            TextMeasure::Own => sums.own / rows,
            TextMeasure::Previous => sums.previous / (rows - texts),
            TextMeasure::Entropy => sums.entropy / rows,
            TextMeasure::Distance => mean,
            TextMeasure::DistanceVariance => sums.square / rows - mean * mean,
            TextMeasure::Induction => {
                let repeated = *self.repeated.of(towers.queries);
                return (repeated > 0).then(|| sums.induction / repeated as f64);
            }
            TextMeasure::Aligned => sums.aligned / rows,
            TextMeasure::Monotony => sums.forward / (rows - texts),
            TextMeasure::MeanLargest => {
                shares.iter().map(|share| f64::from(share.largest)).sum::<f64>() / shares.len() as f64
            }
        })
    }

    /// Returns at most [`LISTED`] words of a tower, sorted by `size` of the words' sums for a head, largest first.
    fn listed(
        &self,
        (head, which): (usize, usize),
        tower: Tower,
        size: fn(&ListedWord) -> f64,
        name: &dyn Fn(Option<usize>) -> String,
    ) -> Vec<ListedWord> {
        let listed = |(&word, sums): (&Option<usize>, &WordSums)| {
            let (weight, count) = (sums.of_heads[head][which], *sums.count.of(tower));
            (count > 0).then(|| ListedWord { word, weight, mean: weight / count as f64, count })
        };
        let mut words: Vec<ListedWord> = self.words.iter().filter_map(listed).collect();
        words.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| name(a.word).cmp(&name(b.word))));
        words.truncate(LISTED);
        words
    }
}

/// Returns the [`QUANTILES`] of the numbers, interpolated linearly between neighbouring ones.
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

/// Returns the texts that are shown for a head: a few of each lower interval, evenly spread by the rank of their
/// largest weight, then the highest of the highest interval, highest first.
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
