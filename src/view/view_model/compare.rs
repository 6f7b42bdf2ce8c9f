//! One word read twice by one model, in two sentences.

use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::{Likeness, Neighbours, PairedWord, Snapshot, StaticSpace};

use super::meaning::NearWord;
use super::number;
use super::stage::wanted;

/// The mark of labels of the second sentence.
pub const SECOND: char = '′';

/// The comparison of two sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareModel {
    /// A pair for each occurrence of a shared word in the first sentence with each in the second, the least similar
    /// after attention first.
    pub pairs: Vec<PairModel>,
    /// A sentence that explains that the two sentences share no word; `None` if they do.
    pub none: Option<String>,
}

/// An occurrence in the first sentence, and one in the second.
#[derive(Clone, Debug, PartialEq)]
pub struct PairModel {
    pub word: String,
    pub paired: PairedWord,
    /// The labels, such as `apple₁` and `apple′`.
    pub labels: [String; 2],
    /// The other words nearest to each output, by cosine.
    pub near: [Vec<NearWord>; 2],
    /// A sentence on how attention changes the word.
    pub said: String,
}

/// The number of neighbours in the list.
const NEAR: usize = 5;

impl CompareModel {
    /// Returns the comparison; `None` if there is no model or no second sentence.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let (first, second) = (&model.sentence, model.second.as_ref()?);
        let labels = [token_labels(&first.tokens), second_labels(&token_labels(&second.other.tokens))];
        let near = [&first.contextual_neighbours, &second.other.contextual_neighbours];
        let is_recorded = model.recorded.is_some();
        let pair = |paired: PairedWord| {
            let word = first.tokens[paired.first].word?;
            let at = [paired.first, paired.second];
            let labels: [String; 2] = std::array::from_fn(|i| labels[i][at[i]].clone());
            Some(PairModel {
                word: space.vocabulary[word].clone(),
                paired,
                said: if is_recorded { said_recorded(&labels, &paired) } else { said(&labels, paired.after) },
                labels,
                near: std::array::from_fn(|i| near_words(space, &near[i][at[i]], word)),
            })
        };
        let pairs: Vec<PairModel> = second.least_alike_first().into_iter().filter_map(pair).collect();
        const NONE: &str = "The two sentences share no word. To see how the same word moves in each, write a second \
            sentence with a word of the first.";
        Some(Self { none: pairs.is_empty().then(|| NONE.to_owned()), pairs })
    }

    /// Returns the pair to show, in the order of preference of [`wanted`]; `None` if there is no pair.
    pub fn chosen(&self, query: Option<usize>, second: Option<usize>, lit: &[String]) -> Option<&PairModel> {
        let wanted = |pair: &&PairModel| wanted(&pair.paired, query, second, lit.contains(&pair.word));
        self.pairs.iter().rev().max_by_key(wanted)
    }
}

/// Adds the mark of the second sentence to token labels.
pub fn second_labels(labels: &[String]) -> Vec<String> {
    labels.iter().map(|label| format!("{label}{SECOND}")).collect()
}

fn near_words(space: &StaticSpace, near: &Neighbours, itself: usize) -> Vec<NearWord> {
    let others = near.by_cosine.iter().filter(|near| near.word != itself).take(NEAR);
    others.map(|near| NearWord::of(space, near, false)).collect()
}

fn said([first, second]: &[String; 2], Likeness { cosine, distance }: Likeness) -> String {
    if !(cosine.is_finite() && distance.is_finite()) {
        return format!("The vectors of {first} and {second} are not finite, so they cannot be compared.");
    }
    if distance == 0.0 {
        return format!("{first} and {second} have the same static vector and the same contextual vector.");
    }
    format!("{first} and {second} have the same static vector, but different contextual vectors.")
}

/// Returns a sentence on two occurrences in recorded texts, in which the same word may begin with different vectors.
fn said_recorded([first, second]: &[String; 2], PairedWord { before, after, .. }: &PairedWord) -> String {
    let vectors = |of: &Likeness| if of.distance == 0.0 { "the same vector" } else { "different vectors" };
    let [start, end] = [before, after].map(vectors);
    format!("{first} and {second} have {start} before the first layer, and {end} after the last.")
}

/// Returns the similarity of a pair before and after attention, in numbers. The labels are the words' own, without the
/// mark of the second sentence.
pub fn in_numbers([first, second]: [&str; 2], PairedWord { before, after, .. }: &PairedWord) -> String {
    format!(
        "{first} and {second}{SECOND}: cosine {} → {}, distance {} → {}",
        number(before.cosine.into()),
        number(after.cosine.into()),
        number(before.distance.into()),
        number(after.distance.into()),
    )
}
