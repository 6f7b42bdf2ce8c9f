//! The search for the words nearest to given vectors.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::table::{Table, multiply_by_rows};
use attune_engine::numerics::vectors::{Similarity, dot, highest, nearest};

use crate::kernel::values::space::{NEIGHBOURS, Neighbour, Neighbours, StaticSpace};

/// Number of words that are measured exactly to find the nearest ones. The products that select them sum in another
/// order, so their last digits are unreliable.
const MEASURED: usize = 4 * NEIGHBOURS;
/// Size of a vocabulary up to which all words are measured exactly.
const WHOLE: usize = 2000;

/// Returns the words nearest to each row, by cosine and by distance, except for one word.
///
/// # Shapes
/// `vectors` (N, D); `except` N
pub fn near(space: &StaticSpace, vectors: &Matrix<f32>, except: &[Option<usize>]) -> Vec<Neighbours> {
    near_without(space, vectors, &except.iter().map(Option::as_slice).collect::<Vec<_>>())
}

/// Returns the words nearest to each row, by cosine and by distance, except for some words.
///
/// # Shapes
/// `vectors` (N, D); `except` N
pub fn near_without(space: &StaticSpace, vectors: &Matrix<f32>, except: &[&[usize]]) -> Vec<Neighbours> {
    near_among(&space.vectors, &space.squares, vectors, except)
}

fn near_among(words: &Table<f32>, squares: &[f32], vectors: &Matrix<f32>, except: &[&[usize]]) -> Vec<Neighbours> {
    if words.rows() <= WHOLE {
        return (0..vectors.rows()).map(|row| among(words, vectors.row(row), None, except[row])).collect();
    }
    let products = multiply_by_rows(vectors, words, &[]);
    let candidates = |row: usize| {
        let vector = vectors.row(row);
        let square = dot(vector, vector);
        let count = MEASURED + except[row].len();
        let best = |score: fn(f32, f32, f32) -> f32| {
            let pairs = products.row(row).iter().zip(squares);
            highest(&pairs.map(|(product, own)| score(*product, *own, square)).collect::<Vec<_>>(), count)
        };
        [
            best(|product, own, _| if own > 0.0 { product / own.sqrt() } else { 0.0 }),
            best(|product, own, square| 2.0 * product - own - square),
        ]
    };
    (0..vectors.rows()).map(|row| among(words, vectors.row(row), Some(candidates(row)), except[row])).collect()
}

/// Returns the nearest of some words, or of all, by exact measurement.
fn among(words: &Table<f32>, vector: &[f32], some: Option<[Vec<usize>; 2]>, except: &[usize]) -> Neighbours {
    let of = |measure: Similarity, word: usize| measure.of(&words.row(word), vector);
    let by = |similarity: Similarity, some: Option<&Vec<usize>>| {
        let found: Vec<usize> = match some {
            Some(rows) => {
                let few = words.gathered(rows.iter().copied());
                let places: Vec<usize> = (0..rows.len()).filter(|&place| except.contains(&rows[place])).collect();
                let found = nearest(similarity, &few, vector, NEIGHBOURS, &places);
                found.into_iter().map(|(place, _)| rows[place]).collect()
            }
            None => {
                let found = nearest(similarity, &words.widened(), vector, NEIGHBOURS, except);
                found.into_iter().map(|(word, _)| word).collect()
            }
        };
        let neighbour =
            |word| Neighbour { word, cosine: of(Similarity::Cosine, word), distance: -of(Similarity::Euclidean, word) };
        found.into_iter().map(neighbour).collect()
    };
    let [cosine, distance] = some.map_or([None, None], |both| both.map(Some));
    Neighbours {
        by_cosine: by(Similarity::Cosine, cosine.as_ref()),
        by_distance: by(Similarity::Euclidean, distance.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use attune_engine::numerics::rng::{Stream, stream};
    use rand::RngExt;

    use super::*;
    use crate::kernel::values::space::squares;

    #[test]
    fn many_words_at_once_are_the_words_one_by_one() {
        let mut rng = stream(7, Stream::ModelInit);
        let mut random = |rows| Matrix::from_fn(rows, 12, |_, _| rng.random_range(-1.0f32..1.0));
        let (words, vectors) = (Table::from(random(WHOLE + 500)), random(5));
        let except: [&[usize]; 5] = [&[], &[3], &[WHOLE + 1], &[], &[0]];
        let found = near_among(&words, &squares(&words), &vectors, &except);
        for (row, found) in found.iter().enumerate() {
            let one_by_one = among(&words, vectors.row(row), None, except[row]);
            assert_eq!(*found, one_by_one, "row {row}");
        }
    }
}
