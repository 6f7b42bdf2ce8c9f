//! Words of the vocabulary near the vectors of a sentence, for all of its tokens at once: the products of all pairs are one
//! product of matrices, and tell whom to measure.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::highest::highest;
use attune_engine::numerics::table::multiply_by_rows;
use attune_engine::numerics::vectors::{Similarity, dot, nearest};

use crate::kernel::data::neighbours::{NEIGHBOURS, Neighbour, Neighbours};
use crate::kernel::data::space::StaticSpace;

/// Words that are measured for each that is listed: products of sums in another order differ in their last digits.
const MEASURED: usize = 4 * NEIGHBOURS;
/// A smaller vocabulary is measured whole.
const WHOLE: usize = 2000;

/// The words nearest to each row, by cosine and by distance, without one of them.
///
/// # Shapes
/// `vectors` (N, D); `except` N
pub fn near(space: &StaticSpace, vectors: &Matrix<f32>, except: &[Option<usize>]) -> Vec<Neighbours> {
    let words = space.vectors.rows();
    if words <= WHOLE {
        return (0..vectors.rows()).map(|row| among(space, vectors.row(row), None, except[row])).collect();
    }
    let products = multiply_by_rows(vectors, &*space.vectors, &[]);
    let candidates = |row: usize| {
        let vector = vectors.row(row);
        let square = dot(vector, vector);
        let best = |score: fn(f32, f32, f32) -> f32| {
            let pairs = products.row(row).iter().zip(&*space.squares);
            highest(&pairs.map(|(product, own)| score(*product, *own, square)).collect::<Vec<_>>(), MEASURED)
        };
        [
            best(|product, own, _| if own > 0.0 { product / own.sqrt() } else { 0.0 }),
            best(|product, own, square| 2.0 * product - own - square),
        ]
    };
    (0..vectors.rows()).map(|row| among(space, vectors.row(row), Some(candidates(row)), except[row])).collect()
}

/// The nearest of some words, or of all, as they are measured.
fn among(space: &StaticSpace, vector: &[f32], some: Option<[Vec<usize>; 2]>, except: Option<usize>) -> Neighbours {
    let of = |measure: Similarity, word: usize| measure.of(&space.vectors.row(word), vector);
    let by = |similarity: Similarity, some: Option<&Vec<usize>>| {
        let found: Vec<usize> = match some {
            Some(rows) => {
                let few = space.vectors.gathered(rows.iter().copied());
                let except = rows.iter().position(|row| Some(*row) == except);
                let found = nearest(similarity, &few, vector, NEIGHBOURS, except.as_slice());
                found.into_iter().map(|(place, _)| rows[place]).collect()
            }
            None => {
                let found = nearest(similarity, &space.vectors.widened(), vector, NEIGHBOURS, except.as_slice());
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
    use std::sync::Arc;

    use attune_engine::numerics::rng::{Stream, stream};
    use attune_engine::numerics::table::Table;
    use rand::RngExt;

    use super::*;
    use crate::kernel::Kernel;
    use crate::kernel::data::space::squares;
    use crate::lesson::parse;

    #[test]
    fn many_words_at_once_are_the_words_one_by_one() {
        let lesson = parse("small.ron", include_str!("../../../../tests/fixtures/small.ron")).expect("no issues");
        let mut space = StaticSpace::clone(&Kernel::embedded(Arc::new(lesson)).snapshot().space.expect("a space"));
        let mut rng = stream(7, Stream::ModelInit);
        let mut random = |rows| Matrix::from_fn(rows, 12, |_, _| rng.random_range(-1.0f32..1.0));
        let (words, vectors) = (Table::from(random(WHOLE + 500)), random(5));
        (space.squares, space.vectors) = (squares(&words), Arc::new(words));
        let except = [None, Some(3), Some(WHOLE + 1), None, Some(0)];
        let found = near(&space, &vectors, &except);
        for (row, found) in found.iter().enumerate() {
            let one_by_one = among(&space, vectors.row(row), None, except[row]);
            assert_eq!(*found, one_by_one, "row {row}");
        }
    }
}
