//! A still map of the vocabulary by t-SNE (van der Maaten & Hinton 2008), drawn beside the window, by button only.
//!
//! The map never moves and nothing is measured in it: motion is on the stage, in one linear basis.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use attune_core::kernel::snapshot::StaticSpace;
use attune_engine::numerics::vectors::distance;
use attune_view::view_model::pictures::StillModel;
use bhtsne::tSNE;

use crate::app::work::job::Job;

/// Fewer words have no neighbours to be kept together; more would take minutes.
const WORDS: (usize, usize) = (8, 2000);
/// Up to so many words every pair counts; beyond, far ones are taken together.
const EXACT_MAX: usize = 500;
const THETA: f32 = 0.5;
const EPOCHS: usize = 1000;
/// How many neighbours count, about; a third of the words at most.
const PERPLEXITY: f32 = 15.0;
/// How far the words are apart at the beginning, which is the first two axes of the stage: as in the authors' code.
const START: f32 = 1e-4;

/// A map that is being drawn. Its thread ends within seconds, even when nobody waits any more.
pub type Drawing = Job<StillModel>;

impl Drawing {
    /// Begins to draw it. `waker` as in [`Job::run`].
    pub fn start(space: Arc<StaticSpace>, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(EPOCHS, waker, move |count| draw(&space, count.done))
    }
}

/// The same space gives the same map: one thread adds up in one order, and the beginning is no draw.
fn draw(space: &StaticSpace, done: &AtomicUsize) -> Result<StillModel, String> {
    let words = space.vocabulary.len();
    let (least, most) = WORDS;
    if words < least || words > most {
        return Err(format!("a map is drawn of {least} to {most} words, not of {words}"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|why| format!("the operating system gives no thread to draw on: {why}"))?;
    Ok(StillModel::of(space, &pool.install(|| fit(space, done))))
}

/// Two numbers for each word.
fn fit(space: &StaticSpace, done: &AtomicUsize) -> Vec<f32> {
    let rows: Vec<&[f32]> = (0..space.vectors.rows()).map(|row| space.vectors.row(row)).collect();
    let mut map: tSNE<f32, &[f32], 2> = tSNE::new(&rows);
    map.perplexity(PERPLEXITY.min((rows.len() - 1) as f32 / 3.0)).epochs(EPOCHS).initial_embedding(beginning(space));
    map.epoch_callback(|epoch, _| done.store(epoch + 1, Ordering::Relaxed));
    if rows.len() <= EXACT_MAX {
        map.exact(|a, b| distance(a, b));
    } else {
        map.barnes_hut(THETA, |a, b| distance(a, b));
    }
    map.embedding()
}

fn beginning(space: &StaticSpace) -> Vec<f32> {
    let flat = || (0..space.points.rows()).flat_map(|row| space.points.row(row)[..2].to_vec());
    let count = (2 * space.points.rows()).max(1) as f32;
    let size = (flat().map(|x| x * x).sum::<f32>() / count).sqrt().max(f32::MIN_POSITIVE);
    flat().map(|x| x / size * START).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Arc<StaticSpace> {
        let lesson = attune_core::lesson::parse("small.ron", include_str!("../../../tests/fixtures/small.ron"))
            .expect("no issues");
        attune_core::kernel::Kernel::trained(Arc::new(lesson)).snapshot().space.expect("a space")
    }

    #[test]
    fn a_map_is_the_same_each_time_and_lies_in_the_unit_square() {
        let space = space();
        let (first, second) = (draw(&space, &AtomicUsize::new(0)), draw(&space, &AtomicUsize::new(0)));
        assert_eq!(first, second);
        let model = first.expect("a map");
        assert_eq!(model.points.len(), space.vocabulary.len());
        assert!(model.points.iter().flat_map(|point| point.at).all(|x| (-1e-3..=1.001).contains(&x)));
    }

    #[test]
    fn two_crowds_stay_two_crowds() {
        let mut two = StaticSpace::clone(&space());
        let words = two.vocabulary.len();
        let side = |row: usize| if row < words / 2 { 10.0 } else { -10.0 };
        let noise = |row: usize, col: usize| ((row * 7 + col * 13) % 10) as f32 / 10.0;
        two.vectors =
            Arc::new(attune_engine::numerics::Matrix::from_fn(words, 4, |row, col| side(row) + noise(row, col)));
        let model = draw(&two, &AtomicUsize::new(0)).expect("a map");
        let apart = |a: usize, b: usize| distance(&model.points[a].at, &model.points[b].at);
        for row in 0..words {
            let nearest =
                (0..words).filter(|other| *other != row).min_by(|a, b| apart(row, *a).total_cmp(&apart(row, *b)));
            assert_eq!(nearest.map(side), Some(side(row)));
        }
    }
}
