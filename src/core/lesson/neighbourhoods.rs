//! The densest neighbourhoods of a space without groups, so that a file of vectors opens with colours and names.

use std::collections::HashSet;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::table::multiply_by_rows;
use attune_engine::numerics::vectors::{centroid, highest, norm};

use super::schema::Group;

/// Number of neighbourhoods: one for each colour that stays apart from the others in a crowd.
const COUNT: usize = 6;
/// Number of neighbours of a word.
const NEIGHBOURS: usize = 6;
/// Number of rows, from the first, that are compared with each other. Most files list words by their frequency.
const ROWS_MAX: usize = 1500;
/// Largest count of numbers that are compared: fewer rows of very wide vectors.
const NUMBERS_MAX: usize = 1 << 22;
/// Least number of words; in a smaller space, every name has room.
const WORDS_MIN: usize = 60;
/// Least width: in a narrower space, words are near each other by chance.
const WIDTH_MIN: usize = 20;
/// Length of a difference to the mean, in relation to the mean, that may come from rounding.
const ROUNDING: f32 = 1e-4;
/// Least density of a neighbourhood. Rows that are drawn from a normal distribution stay below it from about 40 entries
/// on.
const DENSITY_MIN: f32 = 0.45;

/// Returns the densest neighbourhoods, each named by its most central word, which comes first.
///
/// The density of a word is the mean cosine to its nearest words, after the mean of all rows is subtracted, because in
/// some spaces all vectors point in one direction.
pub fn densest(words: &[Box<str>], rows: &Matrix<f32>) -> Vec<Group> {
    let mut known = HashSet::new();
    let mut is_word = |row: &usize| {
        let is_plain = words[*row].chars().all(char::is_alphabetic) && norm(rows.row(*row)).is_finite();
        // A repeated word refers to its first row.
        is_plain && known.insert(&words[*row])
    };
    let compared = rows.rows().min(ROWS_MAX).min(NUMBERS_MAX / rows.cols().max(1));
    let own: Vec<usize> = (0..compared).filter(|row| is_word(row)).collect();
    if own.len() < WORDS_MIN || rows.cols() < WIDTH_MIN {
        return Vec::new();
    }
    let mean = centroid(rows, &own);
    let of_mean = norm(&mean);
    let mut units = Matrix::zeros(own.len(), rows.cols());
    for (at, &row) in own.iter().enumerate() {
        let unit = units.row_mut(at);
        unit.iter_mut().zip(rows.row(row)).zip(&mean).for_each(|((to, x), mean)| *to = x - mean);
        let length = norm(unit);
        // What rounding leaves of a row that is the mean has no direction.
        let scale = if length > ROUNDING * of_mean { length.recip() } else { 0.0 };
        unit.iter_mut().for_each(|x| *x *= scale);
    }
    let mut cosines = multiply_by_rows(&units, &units, &[]);
    (0..own.len()).for_each(|at| cosines.row_mut(at)[at] = f32::NEG_INFINITY);
    let near: Vec<Vec<usize>> = (0..own.len()).map(|at| highest(cosines.row(at), NEIGHBOURS)).collect();
    let density = |at: usize| near[at].iter().map(|other| cosines.get(at, *other)).sum::<f32>() / NEIGHBOURS as f32;
    let densities: Vec<f32> = (0..own.len()).map(density).collect();
    let mut is_taken = vec![false; own.len()];
    let mut found = Vec::new();
    for center in highest(&densities, own.len()) {
        let group: Vec<usize> = std::iter::once(center).chain(near[center].iter().copied()).collect();
        let is_dense = densities[center] >= DENSITY_MIN;
        if !is_dense || found.len() == COUNT {
            break;
        }
        if group.iter().any(|at| is_taken[*at]) {
            continue;
        }
        group.iter().for_each(|at| is_taken[*at] = true);
        let words: Vec<String> = group.iter().map(|at| words[own[*at]].to_string()).collect();
        found.push(Group { name: words[0].clone(), words });
    }
    found
}

#[cfg(test)]
mod tests {
    use attune_engine::numerics::rng::{Stream, stream};
    use rand::RngExt;

    use super::*;

    /// Returns words of two letters, and a vector for each: near a direction of its own for the first `near` words, and
    /// anywhere for the others.
    fn space(near: usize) -> (Vec<Box<str>>, Matrix<f32>) {
        const WIDTH: usize = 40;
        let mut rng = stream(3, Stream::ModelInit);
        let letter = |at: usize| char::from(b'a' + at as u8);
        let words = (0..200).map(|at| format!("{}{}", letter(at / 20), letter(at % 20)).into()).collect();
        let rows = Matrix::from_fn(200, WIDTH, |row, entry| {
            let noise = rng.random_range(-1.0..1.0);
            if row < near { noise * 0.2 + if entry == row % 2 { 3.0 } else { 0.0 } } else { noise }
        });
        (words, rows)
    }

    #[test]
    fn neighbourhoods_are_found_where_there_are_some() {
        let (words, rows) = space(14);
        let mut found = densest(&words, &rows);
        found.sort_by(|a, b| a.words.iter().min().cmp(&b.words.iter().min()));
        let members = |group: &Group| {
            let mut words = group.words.clone();
            words.sort();
            words.concat()
        };
        assert_eq!(found.iter().map(members).collect::<Vec<_>>(), ["aaacaeagaiakam", "abadafahajalan"]);
        assert!(found.iter().all(|group| group.name == group.words[0]));
    }

    /// Adds a vector to all rows, so that they point one way.
    fn shifted(rows: &Matrix<f32>, by: f32) -> Matrix<f32> {
        Matrix::from_fn(rows.rows(), rows.cols(), |row, entry| rows.get(row, entry) + by)
    }

    #[test]
    fn neighbourhoods_are_found_where_all_vectors_point_one_way() {
        let (words, rows) = space(14);
        assert_eq!(densest(&words, &shifted(&rows, 2.0)).len(), 2);
        assert_eq!(densest(&words, &shifted(&space(0).1, 2.0)), []);
        assert_eq!(densest(&words, &Matrix::from_fn(200, 40, |_, _| 1.0)), [], "all are alike");
        assert_eq!(densest(&words, &Matrix::from_fn(200, 1, |row, _| row as f32)), [], "a narrow space");
    }

    #[test]
    fn a_repeated_word_is_no_neighbour_of_itself() {
        let (mut words, rows) = space(14);
        (0..14).for_each(|at| words[at] = words[0].clone());
        assert_eq!(densest(&words, &rows), []);
    }

    #[test]
    fn vectors_without_neighbourhoods_have_no_groups() {
        let (words, rows) = space(0);
        assert_eq!(densest(&words, &rows), []);
    }
}
