//! One word read twice: in two sentences by one model, or in one sentence by two models.
//!
//! Two models have different bases, so only quantities that do not depend on a basis are compared between them.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::snapshot::sentence::{labels, token_labels, word_pieces};
use attune_core::kernel::snapshot::{Likeness, ModelSnapshot, Neighbours, PairedWord, Snapshot, StaticSpace};
use attune_core::lesson::schema::Objective;
use attune_core::lesson::text::tokenize;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::alignment::CentredGram;
use attune_engine::numerics::vectors::{centroid, cosine};

use super::pictures::Sketch;
use super::stage::{StageModel, wanted};
use super::{Model, ModelBeside, number, quoted};

/// The mark of labels of the second sentence.
pub const SECOND: char = '′';

/// The comparison of two sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareModel {
    /// Each shared word with each pair of its occurrences, the least similar after attention first.
    pub pairs: Vec<PairModel>,
    /// A text that says that the sentences share no word.
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
    pub near: [Vec<NearOutput>; 2],
    /// A sentence on how attention changes the word.
    pub said: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NearOutput {
    pub word: String,
    /// The index of its group among the lesson's.
    pub group: Option<usize>,
    pub cosine: f32,
}

/// The number of neighbours in the list.
const NEAR: usize = 5;

impl CompareModel {
    /// Returns the comparison; `None` if there is no second sentence.
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

    /// Returns the pair that is shown, as [`wanted`] ranks them.
    pub fn chosen(&self, query: Option<usize>, second: Option<usize>, lit: &[String]) -> Option<&PairModel> {
        let wanted = |pair: &&PairModel| wanted(&pair.paired, query, second, lit.contains(&pair.word));
        self.pairs.iter().rev().max_by_key(wanted)
    }
}

/// Adds the mark of the second sentence to token labels.
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

fn said([first, second]: &[String; 2], Likeness { cosine, distance }: Likeness) -> String {
    if !(cosine.is_finite() && distance.is_finite()) {
        return format!("The vectors of {first} and {second} are not finite, so they cannot be compared.");
    }
    if distance == 0.0 {
        return format!("{first} and {second} have the same static vector and the same contextual vector.");
    }
    format!("{first} and {second} have the same static vector, but different contextual vectors.")
}

/// Says the same of two recorded texts, in which a word may begin with other vectors.
fn said_recorded([first, second]: &[String; 2], PairedWord { before, after, .. }: &PairedWord) -> String {
    let vectors = |of: &Likeness| if of.distance == 0.0 { "the same vector" } else { "different vectors" };
    let [start, end] = [before, after].map(vectors);
    format!("{first} and {second} have {start} before the first layer, and {end} after the last.")
}

/// Returns the similarity of a pair before and after attention, in numbers. The labels are those in the two sentences.
pub fn in_numbers([first, second]: [&str; 2], PairedWord { before, after, .. }: &PairedWord) -> String {
    format!(
        "{first} and {second}{SECOND}: cosine {} → {}, distance {} → {}",
        number(before.cosine.into()),
        number(after.cosine.into()),
        number(before.distance.into()),
        number(after.distance.into()),
    )
}

/// The comparison of two models on one sentence, by the words that both read: what each answers, where each attends,
/// and how similar their layers are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwoModels {
    /// The names of the model in the window and of the other one.
    pub names: [String; 2],
    /// The reason why the two cannot be compared on this sentence.
    pub refusal: Option<String>,
    /// Notes on the differences in how they read the sentence.
    pub notes: Vec<String>,
    pub words: Vec<WordOfBoth>,
    /// The moves of these words in each model, on its own axes; empty for a model without words.
    pub pictures: [Sketch; 2],
    /// The linear CKA of each layer of the first model with each of the second, starting with the embeddings; empty if
    /// there are too few words.
    pub similarity: Vec<Vec<Option<f64>>>,
    /// A sentence on the most similar layers.
    pub said: Option<String>,
}

/// A word that both models read.
#[derive(Clone, Debug, PartialEq)]
pub struct WordOfBoth {
    pub label: String,
    /// Its tokens in the first model's sentence.
    tokens: Range<usize>,
    pub of: [WordInModel; 2],
    /// The cosine of the two rows of attention, over the words of both models.
    pub attention: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WordInModel {
    /// The most likely answers here, with their probabilities; none for a model without a prediction head.
    pub answers: Vec<(String, f32)>,
    /// The other word that it attends to most, and the mean weight over all heads.
    pub looks_at: Option<(String, f64)>,
}

/// The least number of words. With fewer words in a wide space, layers are similar by chance.
const WORDS_MIN: usize = 4;

impl Model for TwoModels {
    type Choice = ModelBeside;

    fn make(snapshot: &Arc<Snapshot>, beside: &ModelBeside, _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, beside)
    }
}

impl TwoModels {
    /// Returns the comparison; `None` until the first model is ready.
    pub fn of(snapshot: &Snapshot, ModelBeside(beside): &ModelBeside) -> Option<Self> {
        let first = snapshot.model.as_ref()?;
        let names = names([snapshot, beside]);
        let compared = comparable(first, beside).and_then(|second| {
            let models = [first, second];
            let read = models.map(read_words);
            let pairs = pairs(&read);
            match pairs.is_empty() {
                true => Err("there is no word of this sentence that both models read".to_owned()),
                false => Ok((models, read, pairs)),
            }
        });
        let (models, read, pairs) = match compared {
            Ok(compared) => compared,
            Err(why) => return Some(Self { names, refusal: Some(super::sentence(&why)), ..Self::default() }),
        };
        let pictures = std::array::from_fn(|which| {
            let places: Vec<usize> = pairs.iter().map(|pair| read[which][pair[which]].1.start).collect();
            let picture = |stage| Sketch::of_stage(&stage, |token| places.contains(&token.position));
            StageModel::by_words([snapshot, beside][which]).map(picture).unwrap_or_default()
        });
        let similarity = if pairs.len() < WORDS_MIN { Vec::new() } else { similarity(models, &read, &pairs) };
        Some(Self {
            notes: notes(&names, models, &read, &pairs),
            said: most_alike(&similarity),
            refusal: None,
            names,
            words: words_of_both(models, &read, &pairs),
            pictures,
            similarity,
        })
    }

    /// Returns the common word of a token of the first model; by default the last word that is not a full stop.
    pub fn chosen(&self, token: Option<usize>) -> Option<&WordOfBoth> {
        let chosen = token.and_then(|token| self.words.iter().find(|word| word.tokens.contains(&token)));
        let has_letters = |word: &&WordOfBoth| word.label.contains(char::is_alphanumeric);
        chosen.or_else(|| self.words.iter().rfind(has_letters)).or(self.words.last())
    }

    /// An explanation of the pictures.
    pub const WAYS: &str = "A ring shows where a word is before the first layer, a disc where it is after the last. Each \
        picture has its own axes and its own scale, so compare which words come close to each other in each picture, not \
        where they are.";

    /// An explanation of the similarity.
    pub const SIMILARITY: &str = "The numbers are linear CKA (Kornblith et al. 2019), which is 1 if the words are \
        arranged in the same way in both layers, whatever the widths and axes of the layers. If the vectors have \
        many more entries than there are words, CKA is high even by chance, so compare cells within this map, not \
        maps of different sentences.";
}

/// Returns the titles of two models. A model beside its own recording has the same title, so each then says where it is.
fn names(of: [&Snapshot; 2]) -> [String; 2] {
    let [here, beside] = of.map(|of| of.lesson.title.clone());
    if here == beside { [format!("{here} (here)"), format!("{beside} (beside)")] } else { [here, beside] }
}

/// Returns the second model, if it can be compared with the first.
///
/// # Errors
/// If it cannot, described in words.
fn comparable<'a>(first: &ModelSnapshot, beside: &'a Snapshot) -> Result<&'a ModelSnapshot, String> {
    let Some(second) = &beside.model else {
        let waits = || match beside.lesson.static_embedding.is_pretrained() {
            true => format!("{} is being read", beside.lesson.title),
            false => format!("{} is being trained", beside.lesson.title),
        };
        return Err(beside.fault.as_ref().map_or_else(waits, |fault| fault.words.clone()));
    };
    let models = [first, second];
    if models.iter().any(|model| model.architecture.has_source()) {
        return Err("a model that reads one sentence and writes another cannot be compared here".to_owned());
    }
    let texts = models.map(|model| tokenize(&model.sentence.written()));
    if texts[0] != texts[1] {
        let why = beside.notice.as_deref().unwrap_or("it reads another sentence");
        return Err(format!("the model beside this one does not read this sentence: {why}"));
    }
    Ok(second)
}

fn words_of_both(models: [&ModelSnapshot; 2], read: &[ReadWords; 2], pairs: &[[usize; 2]]) -> Vec<WordOfBoth> {
    let attention: [Vec<Vec<f64>>; 2] = std::array::from_fn(|which| {
        let places: Vec<Range<usize>> = pairs.iter().map(|pair| read[which][pair[which]].1.clone()).collect();
        attention(models[which], &places)
    });
    let texts: Vec<&str> = pairs.iter().map(|pair| read[0][pair[0]].0.as_str()).collect();
    let labels = labels(&texts);
    let word = |(at, pair): (usize, &[usize; 2])| WordOfBoth {
        label: labels[at].clone(),
        tokens: read[0][pair[0]].1.clone(),
        of: std::array::from_fn(|which| WordInModel {
            answers: answers(models[which], &read[which][pair[which]].1),
            looks_at: most(&attention[which][at], at).map(|(key, weight)| (labels[key].clone(), weight)),
        }),
        attention: Some(cosine(&attention[0][at], &attention[1][at])).filter(|cosine| cosine.is_finite()),
    };
    pairs.iter().enumerate().map(word).collect()
}

/// The words of a sentence as a model reads them, with their tokens but without those that the tokenizer added.
type ReadWords = Vec<(String, Range<usize>)>;

fn read_words(model: &ModelSnapshot) -> ReadWords {
    let word = |at: Range<usize>| Some((model.sentence.written_word(&at)?.to_lowercase(), at));
    word_pieces(&model.sentence.tokens).into_iter().filter_map(word).collect()
}

/// Returns the words in both sentences, in order: each is paired with the next equal one.
fn pairs(read: &[ReadWords; 2]) -> Vec<[usize; 2]> {
    let (mut pairs, mut from) = (Vec::new(), 0);
    for (i, (text, _)) in read[0].iter().enumerate() {
        let found = read[1][from..].iter().position(|(other, _)| other == text);
        if let Some(found) = found {
            pairs.push([i, from + found]);
            from += found + 1;
        }
    }
    pairs
}

fn answers(model: &ModelSnapshot, at: &Range<usize>) -> Vec<(String, f32)> {
    if !model.made_of.static_embedding.guesses_words() {
        return Vec::new();
    }
    let likeliest = &model.sentence.answers.likeliest;
    // The next word comes after the last piece; other answers stand for the word at its first piece.
    let is_next = model.made_of.model.objective == Objective::NextWord;
    let row = likeliest.get(if is_next { at.end - 1 } else { at.start }).or(likeliest.last());
    let named = row.into_iter().flatten().map(|answer| (model.classes[answer.class].clone(), answer.probability));
    named.collect()
}

/// Returns the mean weights over all heads between words: the sum over the pieces of a key, the mean over those of a
/// query.
fn attention(model: &ModelSnapshot, places: &[Range<usize>]) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; places.len()]; places.len()];
    let mut count: f64 = 0.0;
    for head in model.sentence.activations.heads() {
        count += 1.0;
        for (query, row) in places.iter().zip(&mut sums) {
            for (key, sum) in places.iter().zip(row) {
                let weights = query.clone().flat_map(|i| &head.weights.row(i)[key.clone()]);
                *sum += weights.map(|weight| f64::from(*weight)).sum::<f64>() / query.len() as f64;
            }
        }
    }
    sums.iter_mut().flatten().for_each(|sum| *sum /= count.max(1.0));
    sums
}

fn most(row: &[f64], own: usize) -> Option<(usize, f64)> {
    let others = row.iter().copied().enumerate().filter(|(key, weight)| *key != own && weight.is_finite());
    others.reduce(|best, one| if one.1 > best.1 { one } else { best }).filter(|(_, weight)| *weight > 0.0)
}

fn similarity(models: [&ModelSnapshot; 2], read: &[ReadWords; 2], pairs: &[[usize; 2]]) -> Vec<Vec<Option<f64>>> {
    let [first, second]: [Vec<CentredGram>; 2] = std::array::from_fn(|which| {
        let layers = models[which].sentence.activations.states(&models[which].architecture);
        let middle = |layer: &Matrix<f32>| {
            let word = |pair: &[usize; 2]| {
                let at = read[which][pair[which]].1.clone();
                centroid(layer, &at.collect::<Vec<_>>())
            };
            Matrix::from_row_major(pairs.len(), layer.cols(), pairs.iter().flat_map(word).collect())
        };
        layers.map(|layer| CentredGram::of(&middle(layer))).collect()
    });
    first.iter().map(|layer| second.iter().map(|other| layer.alignment(other)).collect()).collect()
}

fn most_alike(similarity: &[Vec<Option<f64>>]) -> Option<String> {
    let layers = |row: usize, col: usize| Some((similarity[row][col]?, row, col));
    let places = (1..similarity.len()).flat_map(|row| (1..similarity[row].len()).map(move |col| (row, col)));
    let best =
        places.filter_map(|(row, col)| layers(row, col)).reduce(|best, one| if one.0 > best.0 { one } else { best });
    let (alike, row, col) = best?;
    Some(format!("The most similar layers are layer {row} of this model and layer {col} of the other: {alike:.2}."))
}

fn notes(names: &[String; 2], models: [&ModelSnapshot; 2], read: &[ReadWords; 2], pairs: &[[usize; 2]]) -> Vec<String> {
    let mut notes = Vec::new();
    let pieces =
        |which: usize| -> Vec<&str> { models[which].sentence.tokens.iter().map(|token| token.text.as_str()).collect() };
    if pieces(0) != pieces(1) {
        notes.push(
            "The two models split the sentence differently, so whole words are compared. The vector of a word is the \
             mean of its pieces' vectors."
                .to_owned(),
        );
    }
    for which in 0..2 {
        if !models[which].made_of.static_embedding.guesses_words() {
            notes.push(format!("{} has no readout, so it gives no answers.", names[which]));
        }
        let alone: Vec<String> = read[which]
            .iter()
            .enumerate()
            .filter(|(at, _)| pairs.iter().all(|pair| pair[which] != *at))
            .map(|(_, (text, _))| quoted(text))
            .collect();
        if !alone.is_empty() {
            notes.push(format!(
                "Words that only {} reads as whole words are left out: {}.",
                names[which],
                alone.join(", ")
            ));
        }
    }
    if pairs.len() < WORDS_MIN {
        notes.push(format!("To compare layers, at least {WORDS_MIN} words are needed that both models read."));
    }
    notes
}
