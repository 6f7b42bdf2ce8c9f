//! A still picture of the vocabulary: where a map that bends the space has put each word.

use attune_core::kernel::snapshot::StaticSpace;

#[derive(Clone, Debug, PartialEq)]
pub struct StillModel {
    pub points: Vec<StillPoint>,
    /// How far the picture can be trusted.
    pub about: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StillPoint {
    pub text: String,
    /// Colour of its group, as an index into the lesson's groups.
    pub group: Option<usize>,
    /// In the unit square, its second number downwards; both axes have one scale.
    pub at: [f32; 2],
}

const ABOUT: &str = "t-SNE keeps neighbours together and bends the rest: which words form a cluster means something; the \
                     distances between clusters, their sizes and the directions mean little.";

impl StillModel {
    /// `flat` holds two numbers for each word of the vocabulary.
    pub fn of(space: &StaticSpace, flat: &[f32]) -> Self {
        let places = || flat.chunks_exact(2).map(|at| [at[0], at[1]]);
        let bound = |axis: usize, pick: fn(f32, f32) -> f32, from: f32| places().map(|at| at[axis]).fold(from, pick);
        let least = [0, 1].map(|axis| bound(axis, f32::min, f32::INFINITY));
        let most = [0, 1].map(|axis| bound(axis, f32::max, f32::NEG_INFINITY));
        let side = (most[0] - least[0]).max(most[1] - least[1]).max(f32::MIN_POSITIVE);
        let unit = |at: [f32; 2]| std::array::from_fn(|i| 0.5 + (at[i] - (least[i] + most[i]) / 2.0) / side);
        let words = space.vocabulary.iter().zip(&space.group_of).zip(places());
        let point = |((text, group), at): ((&String, &Option<usize>), _)| StillPoint {
            text: text.clone(),
            group: *group,
            at: unit(at),
        };
        Self { points: words.map(point).collect(), about: ABOUT }
    }
}
