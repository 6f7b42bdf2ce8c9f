//! The Compare panel: a word that two sentences share, before attention and after it.

use std::sync::Arc;

use attune_core::kernel::data::token::token_labels;
use attune_core::kernel::scene::second::{Likeness, SharedWord};
use attune_core::kernel::snapshot::{Neighbours, Snapshot, StaticSpace};

use super::models::Model;

/// Marks what is of the second sentence.
pub const SECOND: char = '′';

/// The two sentences side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareModel {
    /// Each shared word with each pair of its occurrences, the least alike after attention first.
    pub pairs: Vec<PairModel>,
    /// Said where they share no word.
    pub none: Option<String>,
}

/// One occurrence in the first sentence, and one in the second.
#[derive(Clone, Debug, PartialEq)]
pub struct PairModel {
    pub word: String,
    /// Positions.
    pub first: usize,
    pub second: usize,
    /// `apple₁` and `apple′`
    pub labels: [String; 2],
    pub before: Likeness,
    pub after: Likeness,
    /// The nearest other words to each output, by cosine.
    pub near: [Vec<NearOutput>; 2],
    /// Says in a sentence how attention changes it.
    pub said: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NearOutput {
    pub word: String,
    /// Index into the lesson's groups.
    pub group: Option<usize>,
    pub cosine: f32,
}

/// Neighbours that are told.
const NEAR: usize = 5;

impl Model for CompareModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl CompareModel {
    /// `None` where nothing is compared.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let (first, second) = (&model.sentence, model.second.as_ref()?);
        let labels = [token_labels(&first.tokens), second_labels(&token_labels(&second.sentence.tokens))];
        let near = [&first.contextual_neighbours, &second.sentence.contextual_neighbours];
        let pairs = furthest_first(&second.shared).into_iter().map(|shared| {
            let places = [shared.first, shared.second];
            let labels: [String; 2] = std::array::from_fn(|i| labels[i][places[i]].clone());
            PairModel {
                word: space.vocabulary[shared.word].clone(),
                first: shared.first,
                second: shared.second,
                said: said(&labels, shared),
                labels,
                before: shared.before,
                after: shared.after,
                near: std::array::from_fn(|i| near_words(space, &near[i][places[i]], shared.word)),
            }
        });
        let pairs: Vec<PairModel> = pairs.collect();
        const NONE: &str = "The two sentences share no word. Write a second one with a word of the first, to see that \
                            word take two ways.";
        Some(Self { none: pairs.is_empty().then(|| NONE.to_owned()), pairs })
    }

    /// The pair that is looked at, see [`choose`].
    pub fn chosen(&self, query: Option<usize>, second: Option<usize>, lit: &[String]) -> Option<&PairModel> {
        let pair = |pair: &PairModel| (pair.first, pair.second, lit.contains(&pair.word));
        choose(self.pairs.iter().map(pair), query, second).map(|index| &self.pairs[index])
    }
}

/// Which of the pairs, by their positions and whether their word is lit, is looked at: that of the chosen query
/// and position in the second sentence, else of the query, else of a word that is lit, else the first.
pub fn choose(
    pairs: impl Iterator<Item = (usize, usize, bool)> + Clone,
    query: Option<usize>,
    second: Option<usize>,
) -> Option<usize> {
    let rank = |(first, other, is_lit): (usize, usize, bool)| {
        let is_query = query == Some(first);
        (is_query && second == Some(other), is_query, is_lit)
    };
    // Of equals the first.
    let ranks = pairs.enumerate().map(|(index, pair)| (rank(pair), std::cmp::Reverse(index)));
    ranks.max().map(|(_, index)| index.0)
}

/// The least alike after attention first.
pub fn furthest_first(shared: &[SharedWord]) -> Vec<&SharedWord> {
    let mut pairs: Vec<&SharedWord> = shared.iter().collect();
    pairs.sort_by(|a, b| a.after.cosine.total_cmp(&b.after.cosine));
    pairs
}

/// Token labels with the mark of the second sentence.
pub fn second_labels(labels: &[String]) -> Vec<String> {
    labels.iter().map(|label| format!("{label}{SECOND}")).collect()
}

fn near_words(space: &StaticSpace, near: &Neighbours, itself: usize) -> Vec<NearOutput> {
    let others = near.by_cosine.iter().filter(|near| near.word != itself).take(NEAR);
    let told = others.map(|near| NearOutput {
        word: space.vocabulary[near.word].clone(),
        group: space.group_of[near.word],
        cosine: near.cosine,
    });
    told.collect()
}

fn said([first, second]: &[String; 2], shared: &SharedWord) -> String {
    let Likeness { cosine, distance } = shared.after;
    if !(cosine.is_finite() && distance.is_finite()) {
        return format!("{first} and {second} are not finite: nothing can be said of them.");
    }
    if distance == 0.0 {
        return format!("{first} and {second} start as one vector, and stay one.");
    }
    format!("{first} and {second} start as one vector; attention takes them apart.")
}
