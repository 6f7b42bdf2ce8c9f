//! Noise words, drawn in proportion to `count^0.75` (Mikolov et al. 2013, arXiv 1310.4546, section 2.2).

use rand::Rng;

use crate::numerics::rng::Generator;

/// Noise is drawn from counts to this power.
pub const NOISE_POWER: f64 = 0.75;

/// An alias table (Walker 1977; Vose 1991): a column for each word, all equally likely, divided
/// between the word and one other. A draw is one random number and one look-up, exact to the bits of
/// the number; with eight bytes a word it stays in the cache, which a list of words by share does not.
#[derive(Clone, Debug)]
pub struct Noise {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// The column's own word holds this many of its 2³² parts ...
    own: u32,
    /// ... and this word the others.
    other: u32,
}

/// Parts of a column.
const PARTS: f64 = 4_294_967_296.0; // 2³²

impl Noise {
    /// Makes the table for words with these counts. All words are equally likely where none occurs.
    ///
    /// # Panics
    /// If there are 2³² words or more.
    pub fn new(counts: &[u64]) -> Self {
        assert!(u32::try_from(counts.len()).is_ok(), "noise: {} words", counts.len());
        let powers: Vec<f64> = counts.iter().map(|&count| (count as f64).powf(NOISE_POWER)).collect();
        let total: f64 = powers.iter().sum();
        let mean = if total > 0.0 { total / counts.len() as f64 } else { 1.0 };
        // What each word still has to be given, in columns.
        let mut left: Vec<f64> = powers.iter().map(|power| if total > 0.0 { power / mean } else { 1.0 }).collect();
        // A column is its own word's, unless it is divided below.
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

    /// A word.
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
    use crate::numerics::rng::{Stream, stream};

    /// The probability of each word, read off the table.
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
            for (word, (share, expected)) in shares(&Noise::new(counts)).iter().zip(expected(counts)).enumerate() {
                assert!((share - expected).abs() < 1e-9, "word {word} of {}: {share}, not {expected}", counts.len());
            }
        }
        assert_eq!(shares(&Noise::new(&[0, 0])), [0.5, 0.5], "of words that never occur");
    }

    /// Pearson's χ² of a million draws: its mean is the number of words less one, its deviation the
    /// square root of twice that; five deviations are allowed.
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
        assert!((distance - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "χ² = {distance}");
    }

    #[test]
    fn words_that_never_occur_are_never_drawn() {
        let noise = Noise::new(&[0, 3, 0, 0, 9]);
        let mut rng = stream(5, Stream::StaticNegatives);
        assert!((0..100_000).all(|_| matches!(noise.draw(&mut rng), 1 | 4)));
    }
}
