//! One sentence as two models read it and, if both have an encoder and a decoder, the targets that they write for it.
//!
//! Two models have different bases, so only quantities that do not depend on a basis are compared between them.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::snapshot::sentence::{labels, word_pieces, written_word};
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, Token};
use attune_core::lesson::schema::Objective;
use attune_core::lesson::text::tokenize;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::alignment::CentredGram;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::Tower;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::moves::point;
use attune_engine::numerics::vectors::{centroid, cosine};

use super::pictures::Sketch;
use super::stage::{StageModel, TokenPoint};
use super::{Model, ModelBeside, quoted};

/// The comparison of two models on one sentence, by the words that both read: what each answers, where each attends,
/// and how similar their layers are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwoModels {
    /// The names of the model in the window and of the other one.
    pub names: [String; 2],
    /// The reason why the two cannot be compared on this sentence.
    pub refusal: Option<String>,
    /// Notes on differences between the two models in reading the sentence.
    pub notes: Vec<String>,
    /// The targets; `None` unless both models have one.
    pub targets: Option<[String; 2]>,
    /// The sentence that both read, followed by the targets if these have a word in common.
    pub sides: Vec<SideOfBoth>,
}

/// The common words of the sentence, or of the two targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideOfBoth {
    /// The name of the side; `None` if it is the only one.
    pub title: Option<&'static str>,
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
    /// The most likely answers here, with their probabilities; none for a model without a prediction head, and at a
    /// word of a source.
    pub answers: Vec<(String, f32)>,
    /// The word to which this one attends most, with the mean weight over all heads: another word of its sentence or,
    /// for a word of a target, a word of the source.
    pub looks_at: Option<(String, f64)>,
}

/// The least number of words for a comparison of layers. With fewer words in a wide space, layers are similar by
/// chance.
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
            let sentence = Common::of([first, second].map(Reading::of_sentence));
            sentence.ok_or_else(|| "there is no word of this sentence that both models read".to_owned())
        });
        let sentence = match compared {
            Ok(compared) => compared,
            Err(why) => return Some(Self { names, refusal: Some(super::sentence(&why)), ..Self::default() }),
        };
        let mut notes = sentence.notes(&names);
        let side = |common: &Common<'_>| common.compared(&sentence, [snapshot, beside]);
        let mut sides = vec![side(&sentence)];
        let targets = match [0, 1].map(|which| Reading::of_target(sentence.of[which].model)) {
            [Some(own), Some(other)] => {
                let readings = [own, other];
                let texts = readings.each_ref().map(Reading::text);
                match Common::of(readings) {
                    Some(target) => {
                        notes.extend(target.notes_on_words(&names));
                        sides.push(side(&target));
                        sides.iter_mut().zip(["Source", "Target"]).for_each(|(side, title)| side.title = Some(title));
                    }
                    None => notes.push("The two targets have no word in common.".to_owned()),
                }
                Some(texts)
            }
            [None, None] => None,
            [own, _] => {
                notes.push(one_target(&names, usize::from(own.is_none())));
                None
            }
        };
        Some(Self { names, refusal: None, notes, targets, sides })
    }

    /// Returns the word that is shown on one side, given a token of the first model. At the source, it is the word at
    /// which the target's word looks. By default, it is the last word that is not punctuation.
    pub fn chosen(&self, side: usize, token: Option<usize>) -> Option<&WordOfBoth> {
        let words = &self.sides[side].words;
        let chosen = if self.sides.len() == side + 1 {
            token.and_then(|token| words.iter().find(|word| word.tokens.contains(&token)))
        } else {
            self.chosen(side + 1, token).and_then(|word| {
                let (label, _) = word.of[0].looks_at.as_ref()?;
                words.iter().find(|word| word.label == *label)
            })
        };
        let has_letters = |word: &&WordOfBoth| word.label.contains(char::is_alphanumeric);
        chosen.or_else(|| words.iter().rfind(has_letters)).or(words.last())
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

/// Returns the titles of two models. If they are equal, as for a model beside its own recording, each also says where
/// it is shown.
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
    let sentences = [first, second].map(|model| &model.sentence);
    let have_targets = sentences.iter().all(|sentence| sentence.source.is_some());
    let texts = sentences.map(|sentence| tokenize(&sentence.written_for(have_targets)));
    if texts[0] != texts[1] {
        let why = beside.notice.as_deref().unwrap_or("it reads another sentence");
        return Err(format!("the model beside this one does not read this sentence: {why}"));
    }
    Ok(second)
}

/// Says that only one of the models has a target.
fn one_target(names: &[String; 2], which: usize) -> String {
    format!(
        "{} also writes a target, which is not compared, because {} has none. Compare with another model that has an \
         encoder and a decoder to see both targets.",
        names[which],
        names[1 - which]
    )
}

/// The words of a sentence as a model reads them, with their tokens but without those that the tokenizer added.
type ReadWords = Vec<(String, Range<usize>)>;

/// One of a model's sentences, with the tower that reads it.
struct Reading<'a> {
    model: &'a ModelSnapshot,
    tower: Tower,
    words: ReadWords,
}

impl<'a> Reading<'a> {
    /// Reads the sentence that the learner chose, which is the source if there is one.
    fn of_sentence(model: &'a ModelSnapshot) -> Self {
        let sentence = &model.sentence;
        let tower = if sentence.source.is_some() { Tower::Source } else { Tower::Sentence };
        let tokens = sentence.chosen();
        let word = |at: Range<usize>| {
            let first = &tokens[at.start];
            let written = match &sentence.text {
                Some(text) if first.piece.is_some() => written_word(tokens, &at, text),
                _ => Some(&*first.text),
            };
            Some((written?.to_lowercase(), at))
        };
        Self { model, tower, words: word_pieces(tokens).into_iter().filter_map(word).collect() }
    }

    /// Reads the target of a model; `None` if the model has no source. Pieces are joined up to the next blank, whether
    /// the learner or the model wrote them.
    fn of_target(model: &'a ModelSnapshot) -> Option<Self> {
        model.sentence.source.as_ref()?;
        let tokenizer = model.made_of.static_embedding.pretrained().and_then(|folder| folder.tokenizer.as_ref().ok());
        let written = |token: &Token| match (tokenizer, token.word) {
            // The start token of a lesson is no word.
            (_, None) => None,
            (Some(tokenizer), Some(id)) if tokenizer.is_special(id as u32) => None,
            (Some(tokenizer), Some(id)) => Some(tokenizer.shown_behind_others(id as u32)),
            (None, Some(_)) => Some(format!(" {}", token.text)),
        };
        let mut words = ReadWords::new();
        for (at, token) in model.sentence.tokens.iter().enumerate() {
            let Some(text) = written(token) else { continue };
            match words.last_mut() {
                Some((word, tokens)) if tokens.end == at && !text.starts_with(' ') => {
                    word.push_str(&text.to_lowercase());
                    tokens.end = at + 1;
                }
                _ => words.push((text.trim().to_lowercase(), at..at + 1)),
            }
        }
        Some(Self { model, tower: Tower::Sentence, words })
    }

    fn is_target(&self) -> bool {
        self.tower == Tower::Sentence && self.model.sentence.source.is_some()
    }

    fn text(&self) -> String {
        self.words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the heads whose attention is compared: those of cross-attention for a target, and otherwise those of
    /// self-attention.
    fn heads(&self) -> impl Iterator<Item = &HeadActivations<f32>> {
        let ModelSnapshot { architecture, sentence, .. } = self.model;
        let is_own = move |(block, config): (usize, &BlockConfig)| {
            architecture.tower_of(block) == self.tower && config.attends_to_source() == self.is_target()
        };
        let blocks = architecture.numbered_blocks().zip(&sentence.activations.blocks);
        blocks.filter(move |(numbered, _)| is_own(*numbered)).flat_map(|(_, block)| &block.heads)
    }

    /// Returns the vectors before all layers and after each; a layer of a decoder ends with its cross-attention.
    fn layers(&self) -> impl Iterator<Item = &Matrix<f32>> {
        let ModelSnapshot { architecture, sentence, .. } = self.model;
        let is_end = |stop: usize| {
            !self.is_target() || stop.checked_sub(1).is_none_or(|block| architecture.blocks[block].attends_to_source())
        };
        let stops = sentence.activations.states_of(self.tower, architecture).enumerate();
        stops.filter(move |(stop, _)| is_end(*stop)).map(|(_, state)| state)
    }

    fn answers(&self, at: &Range<usize>) -> Vec<(String, f32)> {
        if !self.model.made_of.static_embedding.guesses_words() || self.tower == Tower::Source {
            return Vec::new();
        }
        let likeliest = &self.model.sentence.answers.likeliest;
        // An answer about the next word is in the row of a word's last piece, any other answer in that of its first
        // piece.
        let is_next = matches!(self.model.made_of.model.objective, Objective::NextWord | Objective::Sequence(_));
        let row = likeliest.get(if is_next { at.end - 1 } else { at.start }).or(likeliest.last());
        let named = row.into_iter().flatten();
        named.map(|answer| (self.model.classes[answer.class].clone(), answer.probability)).collect()
    }

    /// Returns the mean weights over all heads between words: the sum over the pieces of a key, the mean over those of
    /// a query.
    fn attention(&self, queries: &[Range<usize>], keys: &[Range<usize>]) -> Vec<Vec<f64>> {
        let mut sums = vec![vec![0.0; keys.len()]; queries.len()];
        let mut count: f64 = 0.0;
        for head in self.heads() {
            count += 1.0;
            for (query, row) in queries.iter().zip(&mut sums) {
                for (key, sum) in keys.iter().zip(row) {
                    let weights = query.clone().flat_map(|i| &head.weights.row(i)[key.clone()]);
                    *sum += weights.map(|weight| f64::from(*weight)).sum::<f64>() / query.len() as f64;
                }
            }
        }
        sums.iter_mut().flatten().for_each(|sum| *sum /= count.max(1.0));
        sums
    }

    /// Returns the sketch of the moves of some words, each in the middle of its tokens.
    fn picture(&self, snapshot: &Snapshot, words: &[(String, Range<usize>)]) -> Option<Sketch> {
        let sentence = &self.model.sentence;
        let [from, to] = match self.tower {
            Tower::Source => [sentence.source_points.first()?, sentence.source_points.last()?],
            Tower::Sentence => [&sentence.start, &sentence.end],
        };
        let middle =
            |points: &Matrix<f32>, at: &Range<usize>| point(&centroid(points, &at.clone().collect::<Vec<_>>()));
        let moving = |(label, at): &(String, Range<usize>)| {
            TokenPoint::moving(label.clone(), at.start, middle(from, at), middle(to, at))
        };
        let stage = StageModel { tokens: words.iter().map(moving).collect(), ..StageModel::of(snapshot)? };
        Some(Sketch::of_stage(&stage, |_| true))
    }
}

/// A sentence of each model, with the words that are in both, in order.
struct Common<'a> {
    of: [Reading<'a>; 2],
    pairs: Vec<[usize; 2]>,
}

impl<'a> Common<'a> {
    /// Pairs each word of the first sentence with the next equal word of the second; `None` if there is no pair.
    fn of(of: [Reading<'a>; 2]) -> Option<Self> {
        let (mut pairs, mut from) = (Vec::new(), 0);
        for (i, (text, _)) in of[0].words.iter().enumerate() {
            let found = of[1].words[from..].iter().position(|(other, _)| other == text);
            if let Some(found) = found {
                pairs.push([i, from + found]);
                from += found + 1;
            }
        }
        (!pairs.is_empty()).then_some(Self { of, pairs })
    }

    /// Returns the labels of the words, in which repeated words are numbered.
    fn labels(&self) -> Vec<String> {
        let texts: Vec<&str> = self.pairs.iter().map(|pair| self.of[0].words[pair[0]].0.as_str()).collect();
        labels(&texts)
    }

    /// Returns the tokens of the words in one of the models.
    fn places(&self, which: usize) -> Vec<Range<usize>> {
        self.pairs.iter().map(|pair| self.of[which].words[pair[which]].1.clone()).collect()
    }

    /// Compares the words. Those of a target attend to the words of `sentence`, which is then the source.
    fn compared(&self, sentence: &Self, snapshots: [&Snapshot; 2]) -> SideOfBoth {
        let similarity = if self.pairs.len() < WORDS_MIN { Vec::new() } else { self.similarity() };
        let picture = |which: usize| {
            let words: Vec<_> = self.labels().into_iter().zip(self.places(which)).collect();
            self.of[which].picture(snapshots[which], &words).unwrap_or_default()
        };
        SideOfBoth {
            title: None,
            words: self.words(sentence),
            pictures: [0, 1].map(picture),
            said: most_alike(&similarity),
            similarity,
        }
    }

    fn words(&self, sentence: &Self) -> Vec<WordOfBoth> {
        let places = [0, 1].map(|which| self.places(which));
        let attention = [0, 1].map(|which| self.of[which].attention(&places[which], &sentence.places(which)));
        let (labels, of_keys) = (self.labels(), sentence.labels());
        let is_itself = |query: usize, key: usize| query == key && !self.of[0].is_target();
        let word = |(at, label): (usize, String)| WordOfBoth {
            label,
            tokens: places[0][at].clone(),
            of: [0, 1].map(|which| {
                let others = attention[which][at].iter().copied().enumerate().filter(|(key, _)| !is_itself(at, *key));
                WordInModel {
                    answers: self.of[which].answers(&places[which][at]),
                    looks_at: most(others).map(|(key, weight)| (of_keys[key].clone(), weight)),
                }
            }),
            attention: Some(cosine(&attention[0][at], &attention[1][at])).filter(|cosine| cosine.is_finite()),
        };
        labels.into_iter().enumerate().map(word).collect()
    }

    fn similarity(&self) -> Vec<Vec<Option<f64>>> {
        let [first, second]: [Vec<CentredGram>; 2] = [0, 1].map(|which| {
            let layers = self.of[which].layers();
            let places = self.places(which);
            let middle = |layer: &Matrix<f32>| {
                let words = places.iter().flat_map(|at| centroid(layer, &at.clone().collect::<Vec<_>>()));
                Matrix::from_row_major(places.len(), layer.cols(), words.collect())
            };
            layers.map(|layer| CentredGram::of(&middle(layer))).collect()
        });
        first.iter().map(|layer| second.iter().map(|other| layer.alignment(other)).collect()).collect()
    }

    fn notes(&self, names: &[String; 2]) -> Vec<String> {
        let mut notes = Vec::new();
        let pieces = |of: &Reading<'_>| -> Vec<String> {
            of.model.sentence.chosen().iter().map(|token| token.text.clone()).collect()
        };
        if pieces(&self.of[0]) != pieces(&self.of[1]) {
            notes.push(
                "The two models split the sentence differently, so whole words are compared. The vector of a word is the \
                 mean of its pieces' vectors."
                    .to_owned(),
            );
        }
        for (of, name) in self.of.iter().zip(names) {
            if !of.model.made_of.static_embedding.guesses_words() {
                notes.push(format!("{name} has no readout, so it gives no answers."));
            }
        }
        notes.extend(self.notes_on_words(names));
        notes
    }

    /// Says which words are not compared.
    fn notes_on_words(&self, names: &[String; 2]) -> Vec<String> {
        let mut notes = Vec::new();
        let is_target = self.of[0].is_target();
        for which in 0..2 {
            let alone: Vec<String> = self.of[which]
                .words
                .iter()
                .enumerate()
                .filter(|(at, _)| self.pairs.iter().all(|pair| pair[which] != *at))
                .map(|(_, (text, _))| quoted(text))
                .collect();
            let does = if is_target { "has in its target" } else { "reads as whole words" };
            if !alone.is_empty() {
                notes.push(format!("Words that only {} {does} are left out: {}.", names[which], alone.join(", ")));
            }
        }
        if self.pairs.len() < WORDS_MIN {
            let both = if is_target { "are in both targets" } else { "both models read" };
            notes.push(format!("To compare layers, at least {WORDS_MIN} words are needed that {both}."));
        }
        notes
    }
}

fn most(weights: impl Iterator<Item = (usize, f64)>) -> Option<(usize, f64)> {
    let largest =
        weights.filter(|(_, weight)| weight.is_finite()).reduce(|best, one| if one.1 > best.1 { one } else { best });
    largest.filter(|(_, weight)| *weight > 0.0)
}

fn most_alike(similarity: &[Vec<Option<f64>>]) -> Option<String> {
    let layers = |row: usize, col: usize| Some((similarity[row][col]?, row, col));
    let places = (1..similarity.len()).flat_map(|row| (1..similarity[row].len()).map(move |col| (row, col)));
    let best =
        places.filter_map(|(row, col)| layers(row, col)).reduce(|best, one| if one.0 > best.0 { one } else { best });
    let (alike, row, col) = best?;
    Some(format!("The most similar layers are layer {row} of this model and layer {col} of the other: {alike:.2}."))
}
