//! Word frequencies, and what training derives from them: the order of rows, noise and subsampling.

use std::cmp::Reverse;

use rand::{Rng, RngExt};

use crate::numerics::rng::Generator;

/// Frequencies of a corpus, and the tables that training derives from them.
#[derive(Clone, Debug)]
pub struct Frequencies {
    /// Word of each row. Frequent words come first, so that rows in use are close together.
    pub order: Vec<usize>,
    /// Row of each word.
    pub row_of: Vec<usize>,
    /// Distribution of the rows drawn as noise.
    pub noise: Noise,
    /// Probability that an occurrence is kept, for each row; `None` if all are kept.
    keep: Option<Vec<f64>>,
}

impl Frequencies {
    /// Counts the words of a corpus.
    ///
    /// # Panics
    /// If the corpus has a word that is not below `vocabulary`.
    pub fn new(vocabulary: usize, corpus: &[Vec<usize>], subsample: Option<f64>) -> Self {
        let mut count_of = vec![0u64; vocabulary];
        corpus.iter().flatten().for_each(|&word| count_of[word] += 1);
        let mut order: Vec<usize> = (0..vocabulary).collect();
        order.sort_by_key(|&word| Reverse(count_of[word]));
        let mut row_of = vec![0; vocabulary];
        order.iter().enumerate().for_each(|(row, &word)| row_of[word] = row);
        let counts: Vec<u64> = order.iter().map(|&word| count_of[word]).collect();
        let total = counts.iter().sum::<u64>() as f64;
        let keep = subsample
            .map(|threshold| counts.iter().map(|&count| keep_probability(count as f64 / total, threshold)).collect());
        Self { noise: Noise::new(&counts), order, row_of, keep }
    }

    /// Writes the rows of a sentence's words to `rows`, without those that subsampling leaves out.
    pub fn rows_of(&self, sentence: &[usize], rng: &mut Generator, rows: &mut Vec<usize>) {
        rows.clear();
        let all = sentence.iter().map(|&word| self.row_of[word]);
        match &self.keep {
            None => rows.extend(all),
            Some(keep) => rows.extend(all.filter(|&row| rng.random::<f64>() < keep[row])),
        }
    }
}

/// Returns `min(1, √(t / f))` for a word with the share `f` of a corpus (Mikolov et al. 2013, arXiv 1310.4546, Eq. 5,
/// which states the probability that it is left out).
fn keep_probability(share: f64, threshold: f64) -> f64 {
    (threshold / share).sqrt().min(1.0)
}

// Noise words, drawn in proportion to `count^0.75` (Mikolov et al. 2013, arXiv 1310.4546, section 2.2).

/// Power of the counts in proportion to which noise is drawn.
const NOISE_POWER: f64 = 0.75;

/// An alias table (Walker 1977; Vose 1991): a column for each word, all equally likely, divided between the word and
/// one other. A draw takes one random number and one look-up, and is as exact as the bits of the number allow. With
/// eight bytes per word the table stays in the cache, unlike a list in which each word is repeated in proportion to its
/// share.
#[derive(Clone, Debug)]
pub struct Noise {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// Number of the column's 2³² parts that belong to the word of the column itself.
    own: u32,
    /// Word to which the other parts belong.
    other: u32,
}

/// Number of parts of a column.
const PARTS: f64 = 4_294_967_296.0; // 2³²

impl Noise {
    /// Makes the table for words with these counts. If all counts are 0, all words are equally likely.
    ///
    /// # Panics
    /// If there are 2³² words or more.
    pub fn new(counts: &[u64]) -> Self {
        assert!(u32::try_from(counts.len()).is_ok(), "noise: {} words", counts.len());
        let powers: Vec<f64> = counts.iter().map(|&count| (count as f64).powf(NOISE_POWER)).collect();
        let total: f64 = powers.iter().sum();
        let mean = if total > 0.0 { total / counts.len() as f64 } else { 1.0 };
        // The share of each word that is not yet assigned, in columns.
        let mut left: Vec<f64> = powers.iter().map(|power| if total > 0.0 { power / mean } else { 1.0 }).collect();
        // A column belongs to its own word unless it is divided below.
        let mut columns: Vec<Column> =
            (0..counts.len() as u32).map(|word| Column { own: u32::MAX, other: word }).collect();
        let (mut rich, mut poor): (Vec<usize>, Vec<usize>) = (0..left.len()).partition(|&word| left[word] >= 1.0);
        while let (Some(word), Some(&giver)) = (poor.pop(), rich.last()) {
            columns[word] = Column { own: (left[word] * PARTS) as u32, other: giver as u32 };
            left[giver] -= 1.0 - left[word];
            if left[giver] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        Self { columns }
    }

    /// Draws a word.
    ///
    /// # Panics
    /// If there are none.
    #[inline(always)]
    pub fn draw(&self, rng: &mut Generator) -> u32 {
        let random = rng.next_u64();
        let word = ((random >> 32) * self.columns.len() as u64) >> 32;
        let column = self.columns[word as usize];
        if (random as u32) < column.own { word as u32 } else { column.other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};
    use crate::numerics::rng::{Stream, stream};

    #[test]
    fn frequent_words_come_first_and_ties_keep_their_order() {
        let frequencies = Frequencies::new(5, &[vec![3, 1, 3], vec![1, 3, 4]], None);
        assert_eq!(frequencies.order, [3, 1, 4, 0, 2]);
        let mut rows = Vec::new();
        frequencies.rows_of(&[4, 3, 2, 1], &mut stream(1, Stream::StaticSubsampling), &mut rows);
        assert_eq!(rows, [2, 0, 4, 1]);
    }

    /// Subsamples 50,000 occurrences of four words; five standard deviations of the binomial are allowed.
    #[test]
    fn subsampling_keeps_the_stated_share() {
        const THRESHOLD: f64 = 0.05;
        let counts = [40_000usize, 8_000, 1_500, 500];
        let total = counts.iter().sum::<usize>() as f64;
        let corpus: Vec<Vec<usize>> = counts.iter().enumerate().map(|(word, &count)| vec![word; count]).collect();
        let frequencies = Frequencies::new(counts.len(), &corpus, Some(THRESHOLD));
        let mut rng = stream(2, Stream::StaticSubsampling);
        let mut rows = Vec::new();
        for (sentence, &count) in corpus.iter().zip(&counts) {
            frequencies.rows_of(sentence, &mut rng, &mut rows);
            // Equation 5, written independently.
            let p = 1.0 - (1.0 - (THRESHOLD / (count as f64 / total)).sqrt()).max(0.0);
            let deviation = (count as f64 * p * (1.0 - p)).sqrt();
            let (mean, kept) = (count as f64 * p, rows.len());
            let expected = mean - 5.0 * deviation..=mean + 5.0 * deviation;
            assert!(expected.contains(&(kept as f64)), "{kept} of {count} are kept, the share should be {p}");
        }
        assert_eq!(rows.len(), counts[3], "rare words are all kept");
    }

    /// Returns the probability of each word according to the table.
    fn shares(noise: &Noise) -> Vec<f64> {
        let mut shares = vec![0.0; noise.columns.len()];
        for (word, column) in noise.columns.iter().enumerate() {
            let own = f64::from(column.own) / PARTS;
            shares[word] += own / noise.columns.len() as f64;
            shares[column.other as usize] += (1.0 - own) / noise.columns.len() as f64;
        }
        shares
    }

    fn expected(counts: &[u64]) -> Vec<f64> {
        let powers: Vec<f64> = counts.iter().map(|&count| (count as f64).powf(NOISE_POWER)).collect();
        let total: f64 = powers.iter().sum();
        powers.iter().map(|power| power / total).collect()
    }

    #[test]
    fn each_word_has_its_share() {
        let zipf: Vec<u64> = (1..=5000u64).map(|rank| 1_000_000 / rank).collect();
        for counts in [&[7][..], &[1, 1], &[0, 5, 0, 1], &[1, 1_000_000_000, 3], &zipf] {
            assert_close(counts.len(), shares(&Noise::new(counts)), expected(counts), Tolerance::DOUBLE_SUMS);
        }
        assert_eq!(shares(&Noise::new(&[0, 0])), [0.5, 0.5], "of words that never occur");
    }

    /// Computes Pearson's χ² of a million draws. Its mean is the number of words less one, its standard deviation the
    /// square root of twice that; five standard deviations are allowed.
    #[test]
    fn draws_follow_the_shares() {
        let counts: Vec<u64> = (1..=200u64).map(|rank| 1 + 10_000 / rank).collect();
        let noise = Noise::new(&counts);
        let mut rng = stream(5, Stream::StaticNegatives);
        const DRAWS: usize = 1_000_000;
        let mut drawn = vec![0.0; counts.len()];
        (0..DRAWS).for_each(|_| drawn[noise.draw(&mut rng) as usize] += 1.0);
        let wanted = expected(&counts).into_iter().map(|share| share * DRAWS as f64);
        let distance: f64 = drawn.iter().zip(wanted).map(|(drawn, wanted)| (drawn - wanted).powi(2) / wanted).sum();
        let freedom = counts.len() as f64 - 1.0;
        let deviations = 5.0 * (2.0 * freedom).sqrt();
        assert!((freedom - deviations..freedom + deviations).contains(&distance), "χ² = {distance}");
    }

    #[test]
    fn words_that_never_occur_are_never_drawn() {
        let noise = Noise::new(&[0, 3, 0, 0, 9]);
        let mut rng = stream(5, Stream::StaticNegatives);
        assert!((0..100_000).all(|_| matches!(noise.draw(&mut rng), 1 | 4)));
    }
}
