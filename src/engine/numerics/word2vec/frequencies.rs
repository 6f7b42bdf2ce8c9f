//! How often each word occurs, and what follows from it: row order, noise, subsampling.

use std::cmp::Reverse;

use rand::RngExt;

use crate::numerics::rng::Generator;

use super::noise::Noise;

/// Frequencies of a corpus, and the tables that training makes of them.
#[derive(Clone, Debug)]
pub struct Frequencies {
    /// The word of each row: frequent words first, so that the rows in use lie together.
    pub order: Vec<usize>,
    /// The row of each word.
    pub row_of: Vec<usize>,
    /// Draws rows.
    pub noise: Noise,
    /// The probability that an occurrence is kept, for each row; `None`: all are.
    keep: Option<Vec<f64>>,
}

impl Frequencies {
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

    /// The rows of a sentence's words, without those that subsampling leaves out.
    pub fn rows_of(&self, sentence: &[usize], rng: &mut Generator, rows: &mut Vec<usize>) {
        rows.clear();
        let all = sentence.iter().map(|&word| self.row_of[word]);
        match &self.keep {
            None => rows.extend(all),
            Some(keep) => rows.extend(all.filter(|&row| rng.random::<f64>() < keep[row])),
        }
    }
}

/// `min(1, √(t / f))` for a word that is the share `f` of a corpus (Mikolov et al. 2013, arXiv
/// 1310.4546, Eq. 5, which states the probability to leave it out).
pub fn keep_probability(share: f64, threshold: f64) -> f64 {
    (threshold / share).sqrt().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::rng::{Stream, stream};

    #[test]
    fn frequent_words_come_first_and_ties_keep_their_order() {
        let frequencies = Frequencies::new(5, &[vec![3, 1, 3], vec![1, 3, 4]], None);
        assert_eq!(frequencies.order, [3, 1, 4, 0, 2]);
        let mut rows = Vec::new();
        frequencies.rows_of(&[4, 3, 2, 1], &mut stream(1, Stream::StaticSubsampling), &mut rows);
        assert_eq!(rows, [2, 0, 4, 1]);
    }

    /// 40,000 occurrences of a word; five standard deviations of the binomial are allowed.
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
            // Equation 5, written once more.
            let p = 1.0 - (1.0 - (THRESHOLD / (count as f64 / total)).sqrt()).max(0.0);
            let deviation = (count as f64 * p * (1.0 - p)).sqrt();
            let off = rows.len() as f64 - count as f64 * p;
            assert!(off.abs() <= 5.0 * deviation, "{} of {count} are kept, the share should be {p}", rows.len());
        }
        assert_eq!(rows.len(), counts[3], "rare words are all kept");
    }
}
