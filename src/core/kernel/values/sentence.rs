//! One sentence through the model, as viewers see it: its tokens with their labels, where words that occur twice are
//! numbered, the model's answers about them, its sinks in numbers, and the sentence beside another reading of it.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::head_measures::key_weights;
use attune_engine::numerics::model::activations::Arithmetic;
use attune_engine::numerics::model::activations::{BlockActivations, HeadActivations};
use attune_engine::numerics::model::generate::{CannotGenerate, NextWordChoice, RowsRead};
use attune_engine::numerics::model::{Activations, AttentionModel, Classes, Pooling};
use attune_engine::numerics::moves::Moves;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::softmax::softmax_forward;
use attune_engine::numerics::vectors::highest;
use attune_engine::numerics::vectors::{Similarity, centroid};

use crate::kernel::values::space::{Neighbours, StaticSpace};
use crate::lesson::schema::{Lesson, Objective};

/// One sentence through the model.
#[derive(Clone, Debug)]
pub struct SentenceSnapshot {
    /// Index into [`Lesson::sentences`], if it is one of them.
    pub index: Option<usize>,
    /// The tokens that the model reads and the stage shows. With a source they are the target, made by the lesson's
    /// rule: each position knows the words before it, and the first one none.
    pub tokens: Vec<Token>,
    /// The learner's text, of a model that reads pieces of words.
    pub text: Option<Arc<PieceText>>,
    /// The learner's sentence, where it is the source.
    pub source: Option<Vec<Token>>,
    /// `X`, and of every block `Q`, `K`, `V`, scores, weights, mix, output.
    pub activations: Activations<f32>,
    /// The model's answers.
    pub answers: Arc<Answers>,
    /// The steps between projections and weights, for each head of each block, the source's first.
    pub arithmetic: Vec<Arc<Arithmetic<f32>>>,
    /// Contributions of each block, per head and source token.
    pub contributions: Vec<Arc<Contributions<f32>>>,
    /// Contributions in the basis, of each block.
    pub moves: Vec<Arc<Moves>>,
    /// Keys that get far more than an even share of the weights, averaged over all heads, in their order.
    pub sinks: Vec<SinkNumbers>,
    /// Static vectors of the tokens in the basis, (T, 3): where the points start.
    pub start: Matrix<f32>,
    /// Outputs in the basis, (T, 3): where the points end.
    pub end: Matrix<f32>,
    /// The source's words in the basis, (T_s, 3): their static vectors, then the outputs of each of its blocks.
    pub source_points: Vec<Matrix<f32>>,
    /// Outputs with the trained parameters and no intervention, (T, 3): the ghost while weights are turned.
    pub trained_end: Matrix<f32>,
    /// The sentence beside itself without the learner's changes; `None` where nothing is changed.
    pub unchanged: Option<Pair<UnchangedResult>>,
    /// Neighbours of each token's static vector.
    pub static_neighbours: Vec<Neighbours>,
    /// Neighbours of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

impl SentenceSnapshot {
    /// The learner's sentence as they could have written it.
    pub fn written(&self) -> String {
        let words = || self.chosen().iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
        self.text.as_ref().map_or_else(words, |pieces| pieces.text.clone())
    }

    /// A word by its pieces, as it is written; `None` of one that no letter of the text asked for.
    pub fn written_word(&self, pieces: &Range<usize>) -> Option<&str> {
        match &self.text {
            Some(text) => written_word(&self.tokens, pieces, text),
            None => Some(&self.tokens[pieces.start].text),
        }
    }

    /// The learner's sentence, whether it is read or looked at.
    pub fn chosen(&self) -> &[Token] {
        self.source.as_ref().unwrap_or(&self.tokens)
    }
}

/// A sentence with the trained parameters and no intervention.
#[derive(Clone, Debug)]
pub struct UnchangedResult {
    pub activations: Activations<f32>,
    pub answers: Arc<Answers>,
    /// Neighbours of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

/// The sentence on the stage and another reading of its words, in the same space.
#[derive(Clone, Debug)]
pub struct Pair<Other> {
    /// The other reading; the same `Arc` as long as nothing changes it.
    pub other: Arc<Other>,
    /// Each position of the sentence on the stage with each of the same word in the other reading.
    pub words: Vec<PairedWord>,
}

/// A word in both readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedWord {
    /// Position in the sentence on the stage.
    pub first: usize,
    /// Position in the other reading.
    pub second: usize,
    /// Likeness of the word's static vector and itself.
    pub before: Likeness,
    /// Likeness of the word's two outputs.
    pub after: Likeness,
}

/// Two vectors compared in the true space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    pub cosine: f32,
    /// `‖a − b‖`
    pub distance: f32,
}

impl Likeness {
    const SAME: Self = Self { cosine: 1.0, distance: 0.0 };

    fn of(a: &[f32], b: &[f32]) -> Self {
        Self { cosine: Similarity::Cosine.of(a, b), distance: -Similarity::Euclidean.of(a, b) }
    }
}

impl Pair<UnchangedResult> {
    /// The outputs of a sentence (T, D) beside those without the learner's changes.
    pub fn with_unchanged(output: &Matrix<f32>, other: Arc<UnchangedResult>) -> Self {
        let word = |at: usize| PairedWord {
            first: at,
            second: at,
            before: Likeness::SAME,
            after: Likeness::of(output.row(at), other.activations.output.row(at)),
        };
        Self { words: (0..output.rows()).map(word).collect(), other }
    }

    /// `‖y_i − y_i'‖` in the true space: how far the changes move the output of a token.
    ///
    /// # Panics
    /// If there is no such token.
    pub fn moved(&self, token: usize) -> f32 {
        self.words[token].after.distance
    }

    /// The token that moves most; of equals the last.
    pub fn moved_most(&self) -> Option<usize> {
        (0..self.words.len()).max_by(|a, b| self.moved(*a).total_cmp(&self.moved(*b)))
    }
}

impl Pair<SentenceSnapshot> {
    /// Two sentences, by each pair of occurrences of a word that both have.
    /// In a recording, a word's first vectors may differ from place to place.
    pub fn with_second(
        space: &StaticSpace,
        first: &SentenceSnapshot,
        other: Arc<SentenceSnapshot>,
        is_recorded: bool,
    ) -> Self {
        let mut words = Vec::new();
        for (i, token) in first.tokens.iter().enumerate() {
            let Some(word) = token.word else { continue };
            let vector = space.vectors.row(word);
            for j in (0..other.tokens.len()).filter(|&j| other.tokens[j].word == Some(word)) {
                words.push(PairedWord {
                    first: i,
                    second: j,
                    before: match is_recorded {
                        true => Likeness::of(first.activations.input.row(i), other.activations.input.row(j)),
                        false => Likeness::of(&vector, &vector),
                    },
                    after: Likeness::of(first.activations.output.row(i), other.activations.output.row(j)),
                });
            }
        }
        Self { other, words }
    }

    /// The words, the least similar after attention first.
    pub fn least_alike_first(&self) -> Vec<PairedWord> {
        let mut words = self.words.clone();
        words.sort_by(|a, b| a.after.cosine.total_cmp(&b.after.cosine));
        words
    }
}

/// Words that the model wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    pub words: Vec<Token>,
    /// Rows that each was written from.
    pub rows: Vec<RowsRead>,
    pub choice: NextWordChoice,
    /// True while the weights are those that it wrote them with.
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    /// Row of the vocabulary; `None` at the start of a sentence that is yet to be written.
    pub word: Option<usize>,
    /// Its place in the learner's text, of a model that reads pieces of words.
    pub piece: Option<TextPiece>,
}

/// One piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    /// The bytes of the text that it stands for; empty of one that the tokenizer added.
    pub bytes: Range<usize>,
    /// The number of the word that it is a part of; `None` of one that the tokenizer added.
    pub word: Option<usize>,
    /// The sentence of a pair that it belongs to, as the model is told.
    pub segment: usize,
    /// The tokenizer added it: `[CLS]`, `[SEP]`.
    pub is_added: bool,
}

/// A learner's text in the pieces that a model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceText {
    pub text: String,
    pub pieces: Vec<TextPiece>,
}

/// How a sentence stands for the start of one that is yet to be written.
pub use crate::lesson::schema::START_TOKEN as START;

/// The pieces of each word, in their order; a piece that the tokenizer added is a word of its own, and so is a token
/// that no tokenizer made.
pub fn word_pieces(tokens: &[Token]) -> Vec<Range<usize>> {
    let word = |at: usize| tokens[at].piece.as_ref().and_then(|piece| Some((piece.segment, piece.word?)));
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for at in 0..tokens.len() {
        match pieces.last_mut() {
            Some(last) if word(at).is_some() && word(at) == word(last.start) => last.end = at + 1,
            _ => pieces.push(at..at + 1),
        }
    }
    pieces
}

/// A word as it stands in the text; `None` of one that no letter of the text asked for.
pub fn written_word<'t>(tokens: &[Token], pieces: &Range<usize>, text: &'t PieceText) -> Option<&'t str> {
    let bytes = |at: usize| tokens[at].piece.as_ref().map(|piece| piece.bytes.clone());
    let (first, last) = bytes(pieces.start).zip(bytes(pieces.end - 1))?;
    text.text.get(first.start..last.end).map(str::trim).filter(|word| !word.is_empty())
}

/// Token texts, with a subscript where a word stands more than once: `apple₁ launched … apple₂`.
pub fn token_labels(tokens: &[Token]) -> Vec<String> {
    let texts: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
    labels(&texts)
}

/// Words as labels, each word that stands more than once with the number of its occurrence.
pub fn labels(words: &[&str]) -> Vec<String> {
    (0..words.len()).map(|at| label(words[at], occurrence(words, at))).collect()
}

/// `apple` or, of an occurrence by its number, `apple₂`.
pub fn label(word: &str, occurrence: Option<usize>) -> String {
    format!("{word}{}", occurrence.map_or_else(String::new, subscript))
}

/// Which occurrence of its word position `i` is, from 1; `None` if the word stands once.
pub fn occurrence(tokens: &[&str], i: usize) -> Option<usize> {
    let same = |range: &[&str]| range.iter().filter(|t| **t == tokens[i]).count();
    (same(tokens) > 1).then(|| same(&tokens[..=i]))
}

/// `n` in subscript digits.
pub fn subscript(n: usize) -> String {
    n.to_string().chars().map(|c| char::from_u32('₀' as u32 + c as u32 - '0' as u32).unwrap_or(c)).collect()
}

/// How many of the likeliest answers are listed.
pub const ANSWERS: usize = 5;

/// The model's answers about a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// `Z`, a row for each token, or one where the sentence is read as a whole; (R, C)
    pub logits: Matrix<f32>,
    /// The likeliest answers of each row, best first.
    pub likeliest: Vec<Vec<RankedAnswer>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedAnswer {
    /// Index into [`ModelSnapshot::classes`].
    pub class: usize,
    pub probability: f32,
}

impl Answers {
    /// `softmax(Z)` of one class.
    ///
    /// # Panics
    /// If there is no such row or class.
    pub fn probability(&self, row: usize, class: usize) -> f32 {
        if let Some(listed) = self.likeliest[row].iter().find(|answer| answer.class == class) {
            return listed.probability;
        }
        let (highest, probability) = self.best(row);
        probability * (self.logits.get(row, class) - highest).exp()
    }

    /// The logit from which on a class of a row has at least this probability.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn logit_of(&self, row: usize, probability: f32) -> f32 {
        let (highest, of_highest) = self.best(row);
        highest + (probability / of_highest).ln()
    }

    /// Logit and probability of the likeliest class of a row.
    fn best(&self, row: usize) -> (f32, f32) {
        let best = self.likeliest[row].first();
        best.map_or((f32::NAN, f32::NAN), |best| (self.logits.get(row, best.class), best.probability))
    }
}

/// Reads the answers off the outputs of a sentence.
pub fn answers(model: &AttentionModel<f32>, parameters: &Parameters<f32>, output: &Matrix<f32>) -> Answers {
    let rows = output.rows();
    let read = match model.architecture.pooling {
        Pooling::Every => output.clone(),
        Pooling::Last => Matrix::from_row_major(1, output.cols(), output.row(rows - 1).to_vec()),
        Pooling::Mean => Matrix::from_row_major(1, output.cols(), centroid(output, &(0..rows).collect::<Vec<_>>())),
    };
    let logits = model.logits_of(parameters, &read);
    let likeliest = (0..logits.rows()).map(|row| likeliest(logits.row(row))).collect();
    Answers { logits, likeliest }
}

/// `softmax(Z)` of one row.
pub fn probabilities(logits: &[f32]) -> Vec<f32> {
    let mut probabilities = logits.to_vec();
    softmax_forward(&mut probabilities);
    probabilities
}

/// The likeliest classes of one row of logits, best first.
pub fn likeliest(logits: &[f32]) -> Vec<RankedAnswer> {
    let probabilities = probabilities(logits);
    let answer = |class| RankedAnswer { class, probability: probabilities[class] };
    highest(&probabilities, ANSWERS).into_iter().map(answer).collect()
}

/// Names of the classes: labels, or words.
pub fn class_names(lesson: &Lesson, classes: &Classes, vocabulary: &[String]) -> Vec<String> {
    match classes {
        Classes::Words(candidates) => candidates.words().iter().map(|&word| vocabulary[word].clone()).collect(),
        Classes::Labels(_) if let Some(model) = lesson.static_embedding.recording() => model.classes.to_vec(),
        Classes::Labels(_) => lesson.corpus.topics.iter().map(|topic| topic.name.clone()).collect(),
    }
}

/// # Errors
/// In words for the learner, if the model does not go on with sentences.
pub fn check_generates(objective: &Objective) -> Result<(), String> {
    match objective {
        Objective::NextWord | Objective::Sequence(_) => Ok(()),
        Objective::MaskedWord { .. } => {
            Err("the model does not go on writing after a sentence, because it was trained to fill in hidden words"
                .to_owned())
        }
        Objective::Label => {
            Err("the model does not go on writing after a sentence, because it was trained to give one answer to the \
                whole sentence"
                .to_owned())
        }
    }
}

/// Why there is no next word.
pub fn cannot_generate_words(why: CannotGenerate) -> String {
    match why {
        CannotGenerate::NoWords => "there are no words to continue from".to_owned(),
        CannotGenerate::NotWords => "the model names labels, not words".to_owned(),
        CannotGenerate::NotFinite => {
            "the model's answer is not a finite number, because a weight is far too large; reset that weight".to_owned()
        }
        CannotGenerate::Temperature => "a temperature must be above 0".to_owned(),
        CannotGenerate::TopK => "a word must be drawn from at least 1 word".to_owned(),
        CannotGenerate::TopP => "the share that a word is drawn from must be above 0 and at most 1".to_owned(),
    }
}

/// A key that gets much of the attention, averaged over all heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinkNumbers {
    /// Its place in the sentence.
    pub position: usize,
    /// Mean of its weight over all heads and the queries that see it.
    pub mean: f32,
    /// Heads in which that mean alone is above the threshold, and all.
    pub heads: (usize, usize),
    /// Its share of all weights.
    pub of_weights: f32,
    /// Its share of the lengths of all that is added; `None` of a recording that does not tell.
    pub of_added: Option<f32>,
}

/// The sinks among `keys`, in their order, of blocks that all look at these keys.
pub fn sinks(blocks: &[(&BlockActivations<f32>, &Moves)], keys: usize) -> Vec<SinkNumbers> {
    let heads = || blocks.iter().flat_map(|(block, _)| &block.heads);
    let weights = key_weights(heads().map(|head| (&head.weights, &head.scores)), keys);
    let positions: Vec<usize> = (0..keys).filter(|key| weights[*key].is_sink()).collect();
    if positions.is_empty() {
        return Vec::new();
    }
    let rows: usize = heads().map(|head| head.weights.rows()).sum();
    let of_weights = |key: usize| {
        let column = |head: &HeadActivations<f32>| -> f32 {
            (0..head.weights.rows()).map(|query| head.weights.get(query, key)).sum()
        };
        heads().map(column).sum::<f32>() / rows as f32
    };
    let mut added = vec![0.0; keys];
    for (block, moves) in blocks {
        // What each key adds may not have been recorded.
        for (own, head) in block.heads.iter().enumerate().take(moves.heads()) {
            for query in 0..head.weights.rows() {
                added.iter_mut().enumerate().for_each(|(key, sum)| *sum += moves.term_length(own, query, key));
            }
        }
    }
    let all_added: f32 = added.iter().sum();
    let is_told = blocks.iter().all(|(_, moves)| moves.heads() > 0);
    let sink = |position: usize| SinkNumbers {
        position,
        mean: weights[position].mean as f32,
        heads: (weights[position].heads, heads().count()),
        of_weights: of_weights(position),
        of_added: is_told.then(|| if all_added > 0.0 { added[position] / all_added } else { 0.0 }),
    };
    positions.into_iter().map(sink).collect()
}
