//! The latest forward passes of a sentence, and the words near its vectors.
//!
//! After a change of a weight or a head, only its block and later blocks are computed; earlier ones are shared with a
//! pass that has them already.

use std::cell::{RefCell, RefMut};
use std::sync::{Arc, OnceLock};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel};
use attune_engine::numerics::params::{Layer, Parameters};
use attune_engine::numerics::table::{Table, multiply_by_rows};
use attune_engine::numerics::vectors::highest;
use attune_engine::numerics::vectors::{Similarity, dot, nearest};

use crate::kernel::sentence_pass::sentence::SentenceFrame;
use crate::kernel::values::sentence::{Answers, SentenceSnapshot, UnchangedResult, answers};
use crate::kernel::values::space::{NEIGHBOURS, Neighbour, Neighbours, StaticSpace};

/// Number of passes that are kept: the one that is shown, and the one without the learner's changes.
const KEPT: usize = 2;

/// A forward pass with its parameters and interventions.
#[derive(Debug)]
pub struct KeptPass {
    pub parameters: Arc<Parameters<f32>>,
    pub interventions: Arc<Interventions<f32>>,
    pub activations: Activations<f32>,
    answers: OnceLock<Arc<Answers>>,
    neighbours: OnceLock<Vec<Neighbours>>,
}

impl KeptPass {
    /// Returns the answers, which are computed at the first call.
    pub fn answers(&self, model: &AttentionModel<f32>) -> &Arc<Answers> {
        self.answers.get_or_init(|| Arc::new(answers(model, &self.parameters, &self.activations.output)))
    }

    /// Returns the words near each output, which are computed at the first call.
    pub fn neighbours(&self, space: &StaticSpace) -> &Vec<Neighbours> {
        let output = &self.activations.output;
        self.neighbours.get_or_init(|| near(space, output, &vec![None; output.rows()]))
    }

    /// Returns which parts of the pass would be the same with other parameters and interventions.
    fn agrees(
        &self,
        architecture: &Architecture,
        parameters: &Parameters<f32>,
        interventions: &Interventions<f32>,
    ) -> Agreement {
        let blocks = self.activations.blocks.len();
        let mut agreement = Agreement { blocks, is_whole: true };
        // Every field is named, so that the compiler rejects a new field that is not compared.
        let Interventions { temperature, scale, heads, mask, edges, patch } = &*self.interventions;
        let has_same_scores = (temperature.map(f64::to_bits), scale)
            == (interventions.temperature.map(f64::to_bits), &interventions.scale);
        if !has_same_scores || *mask != interventions.mask {
            agreement.ends_at(0);
        }
        let mode = |of: &[HeadMode<f32>], head: usize| of.get(head).cloned().unwrap_or_default();
        for (b, _) in architecture.numbered_blocks() {
            let is_same = |head: usize| is_same(&mode(heads, head), &mode(&interventions.heads, head));
            if !architecture.heads_of(b).all(is_same) {
                agreement.ends_at(b);
            }
        }
        if let Some(edge) = first_difference(edges, &interventions.edges) {
            // Edges are sorted by their heads, and heads by their blocks.
            agreement.ends_at(architecture.head(edge.head).0);
        }
        if *patch != interventions.patch {
            let patches = patch.iter().chain(&interventions.patch);
            patches.for_each(|patch| agreement.ends_at(patch.block));
        }
        for id in self.parameters.differing(parameters) {
            match id.name.layer() {
                Layer::Input => return Agreement::NONE,
                Layer::Readout => agreement.is_whole = false,
                _ => agreement.ends_at(id.block),
            }
        }
        agreement
    }
}

/// Returns the first edge that only one of two sorted lists contains.
fn first_difference(some: &[Edge], others: &[Edge]) -> Option<Edge> {
    let same = some.iter().zip(others).take_while(|(edge, other)| edge == other).count();
    [some, others].into_iter().filter_map(|edges| edges.get(same)).min().copied()
}

/// Compares modes by their bits, because a gain of −0 differs from a gain of 0.
fn is_same(a: &HeadMode<f32>, b: &HeadMode<f32>) -> bool {
    match (a, b) {
        (HeadMode::Gain(a), HeadMode::Gain(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// The parts that two passes have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Agreement {
    /// Number of equal leading blocks. If it is 0, not even the embeddings need be equal.
    blocks: usize,
    /// Whether everything after the last block is equal too.
    is_whole: bool,
}

impl Agreement {
    const NONE: Self = Self { blocks: 0, is_whole: false };

    fn ends_at(&mut self, block: usize) {
        self.blocks = self.blocks.min(block);
        self.is_whole = false;
    }
}

/// A sentence as it was shown last.
#[derive(Clone, Debug)]
pub struct ShownSentence {
    pub of: Arc<KeptPass>,
    /// The parameters of the sentence's ghost.
    pub trained: Arc<Parameters<f32>>,
    pub sentence: Arc<SentenceSnapshot>,
}

/// The latest passes of one sentence, which are dropped for another sentence.
#[derive(Debug, Default)]
pub struct Passes(RefCell<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The sentence. It is held so that no new sentence can have the same address.
    of: Option<Arc<SentenceFrame>>,
    /// The passes, the latest one last.
    passes: Vec<Arc<KeptPass>>,
    shown: Option<ShownSentence>,
    /// The result without the learner's changes and its parameters, which are held so that no new ones can have the
    /// same address.
    unchanged: Option<(Arc<Parameters<f32>>, Arc<UnchangedResult>)>,
}

impl Passes {
    /// Returns the passes of a sentence.
    fn of(&self, frame: &Arc<SentenceFrame>) -> RefMut<'_, Kept> {
        let mut kept = self.0.borrow_mut();
        if !kept.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, frame)) {
            *kept = Kept { of: Some(frame.clone()), ..Kept::default() };
        }
        kept
    }

    pub fn clear(&self) {
        self.0.take();
    }

    /// Returns a pass, computed from the first block on in which it differs from the kept passes.
    pub fn forward(
        &self,
        frame: &Arc<SentenceFrame>,
        model: &AttentionModel<f32>,
        (parameters, interventions): (&Arc<Parameters<f32>>, &Arc<Interventions<f32>>),
    ) -> Arc<KeptPass> {
        let kept = &mut *self.of(frame);
        let (passes, sentence, source) = (&mut kept.passes, frame.input(), frame.source());
        let agreement = |pass: &Arc<KeptPass>| pass.agrees(&model.architecture, parameters, interventions);
        let nearest = passes.iter().enumerate().map(|(at, pass)| (agreement(pass), at)).max();
        let pass = match nearest {
            Some((Agreement { is_whole: true, .. }, at)) => passes.remove(at),
            nearest => {
                let activations = match nearest {
                    Some((Agreement { blocks, .. }, at)) if blocks > 0 => {
                        let from = &passes[at].activations;
                        from.again(blocks, model, parameters, sentence, source, interventions)
                    }
                    _ => frame.activations(model, parameters, interventions),
                };
                let recorded = frame.recorded();
                Arc::new(KeptPass {
                    parameters: parameters.clone(),
                    interventions: interventions.clone(),
                    activations,
                    answers: recorded.map_or_else(OnceLock::new, |pass| pass.answers.clone().into()),
                    neighbours: match recorded {
                        Some(pass) if !pass.has_states() => vec![Neighbours::default(); pass.tokens.len()].into(),
                        _ => OnceLock::new(),
                    },
                })
            }
        };
        if passes.len() == KEPT {
            passes.remove(0);
        }
        passes.push(pass.clone());
        pass
    }

    pub fn shown(&self) -> Option<ShownSentence> {
        self.0.borrow().shown.clone()
    }

    pub fn show(&self, shown: ShownSentence) {
        self.0.borrow_mut().shown = Some(shown);
    }

    /// Returns the result without the learner's changes, which is computed if there is none for these parameters.
    pub fn unchanged(
        &self,
        frame: &Arc<SentenceFrame>,
        trained: &Arc<Parameters<f32>>,
        make: impl FnOnce() -> Arc<UnchangedResult>,
    ) -> Arc<UnchangedResult> {
        let known = self.of(frame).unchanged.clone();
        match known {
            Some((of, result)) if Arc::ptr_eq(&of, trained) => result,
            _ => {
                let result = make();
                self.of(frame).unchanged = Some((trained.clone(), result.clone()));
                result
            }
        }
    }
}

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
