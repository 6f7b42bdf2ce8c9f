//! The snapshot of a sentence: its tokens with their labels, in which repeated words are numbered, the model's answers,
//! its sinks in numbers, and the comparison with another reading.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::head_measures::{MeasuredToken, key_weights};
use attune_engine::numerics::model::activations::Arithmetic;
use attune_engine::numerics::model::activations::{BlockActivations, HeadActivations};
use attune_engine::numerics::model::beams::BEAMS_MAX;
use attune_engine::numerics::model::generate::{CannotGenerate, NextWordChoice, RowsRead};
use attune_engine::numerics::model::{Activations, AttentionModel, Classes, Pooling, Sequences, Tower};
use attune_engine::numerics::moves::Moves;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::softmax::softmax_forward;
use attune_engine::numerics::vectors::highest;
use attune_engine::numerics::vectors::{Similarity, centroid};
use attune_engine::pretrained::folder::PAIR;

use crate::kernel::values::space::{Neighbours, StaticSpace};
use crate::lesson::schema::{Lesson, Objective};

/// A sentence that has run through the model.
#[derive(Clone, Debug)]
pub struct SentenceSnapshot {
    /// Index into [`Lesson::sentences`], if it is one of them.
    pub index: Option<usize>,
    /// The tokens that the model reads and the stage shows. For a model with a source, they are the target from its
    /// start token on, which the lesson's rule, the model or the learner has made.
    pub tokens: Vec<Token>,
    /// The learner's text, for a model that reads pieces of words.
    pub text: Option<Arc<PieceText>>,
    /// The learner's sentence, if it is the source.
    pub source: Option<Vec<Token>>,
    /// Whether the learner wrote the target, and neither a rule nor the model.
    pub has_own_target: bool,
    /// The words that the model reads, with their positions and segments.
    pub input: Sequences,
    /// The input `X`, and `Q`, `K`, `V`, scores, weights, mix and output of every block.
    pub activations: Activations<f32>,
    /// The model's answers.
    pub answers: Arc<Answers>,
    /// The steps between projections and weights, for each head of each block, beginning with those of the source.
    pub arithmetic: Vec<Arc<Arithmetic<f32>>>,
    /// Contributions of each block, by head and by the token from which they come.
    pub contributions: Vec<Arc<Contributions<f32>>>,
    /// Contributions of each block, in the basis.
    pub moves: Vec<Arc<Moves>>,
    /// Keys that get far more than an equal share of the weights, averaged over all heads, in order.
    pub sinks: Vec<SinkNumbers>,
    /// Static vectors of the tokens in the basis, (T, 3), which are the starts of the moves.
    pub start: Matrix<f32>,
    /// Outputs in the basis, (T, 3), which are the ends of the moves.
    pub end: Matrix<f32>,
    /// The source's words in the basis, (T_s, 3): their static vectors, then the outputs of each of the source's
    /// blocks.
    pub source_points: Vec<Matrix<f32>>,
    /// Outputs with the trained parameters and without interventions, (T, 3), which are shown for comparison while the
    /// learner changes something.
    pub trained_end: Matrix<f32>,
    /// The comparison with the sentence without the learner's changes; `None` if nothing is changed.
    pub unchanged: Option<Pair<UnchangedResult>>,
    /// Neighbours of each token's static vector.
    pub static_neighbours: Vec<Neighbours>,
    /// Neighbours of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

impl SentenceSnapshot {
    /// Returns the learner's sentence as it may have been written.
    pub fn written(&self) -> String {
        let words = || self.chosen().iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
        self.text.as_ref().map_or_else(words, |pieces| pieces.text.clone())
    }

    /// Returns the learner's sentence for another model: with a target of the learner's own only if that model has one
    /// too.
    pub fn written_for(&self, has_target: bool) -> String {
        let written = self.written();
        match written.split_once(PAIR) {
            Some((source, _)) if self.source.is_some() && !has_target => source.trim().to_owned(),
            _ => written,
        }
    }

    /// Returns a word, given by its pieces, as it is written, or `None` for a piece that the tokenizer added.
    pub fn written_word(&self, pieces: &Range<usize>) -> Option<&str> {
        let first = &self.tokens[pieces.start];
        match &self.text {
            Some(text) if first.piece.is_some() => written_word(&self.tokens, pieces, text),
            // Words that the model wrote are not part of the learner's text.
            _ => Some(&first.text),
        }
    }

    /// Returns the tokens that a tower reads. There are none for the source of a model that reads no source.
    pub fn tokens_of(&self, tower: Tower) -> &[Token] {
        match tower {
            Tower::Source => self.source.as_deref().unwrap_or_default(),
            Tower::Sentence => &self.tokens,
        }
    }

    /// Returns the learner's sentence, which is the source if there is one.
    pub fn chosen(&self) -> &[Token] {
        self.source.as_ref().unwrap_or(&self.tokens)
    }
}

/// The result of a sentence with the trained parameters and without interventions.
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
    /// The other reading; the `Arc` stays the same while the reading does.
    pub other: Arc<Other>,
    /// Each position of the sentence on the stage, paired with each position of the same word in the other reading.
    pub words: Vec<PairedWord>,
}

/// A word in both readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedWord {
    /// Position in the sentence on the stage.
    pub first: usize,
    /// Position in the other reading.
    pub second: usize,
    /// Similarity of the word's static vectors in both readings.
    pub before: Likeness,
    /// Similarity of the word's outputs in both readings.
    pub after: Likeness,
}

/// The similarity of two vectors in the true space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    pub cosine: f32,
    /// Euclidean distance, `‖a − b‖`.
    pub distance: f32,
}

impl Likeness {
    const SAME: Self = Self { cosine: 1.0, distance: 0.0 };

    fn of(a: &[f32], b: &[f32]) -> Self {
        Self { cosine: Similarity::Cosine.of(a, b), distance: -Similarity::Euclidean.of(a, b) }
    }
}

impl Pair<UnchangedResult> {
    /// Compares the outputs of a sentence (T, D) with those without the learner's changes.
    pub fn with_unchanged(output: &Matrix<f32>, other: Arc<UnchangedResult>) -> Self {
        let word = |at: usize| PairedWord {
            first: at,
            second: at,
            before: Likeness::SAME,
            after: Likeness::of(output.row(at), other.activations.output.row(at)),
        };
        Self { words: (0..output.rows()).map(word).collect(), other }
    }

    /// Returns `‖y_i − y_i'‖` in the true space: how far the changes move the output of a token.
    ///
    /// # Panics
    /// If there is no such token.
    pub fn moved(&self, token: usize) -> f32 {
        self.words[token].after.distance
    }

    /// Returns the token whose output moves most, or the last of several that move equally far. Returns `None` if there
    /// are no tokens.
    pub fn moved_most(&self) -> Option<usize> {
        (0..self.words.len()).max_by(|a, b| self.moved(*a).total_cmp(&self.moved(*b)))
    }
}

impl Pair<SentenceSnapshot> {
    /// Compares two sentences by all pairs of occurrences of the words that both have. In a recording, a word's first
    /// vectors may differ from place to place.
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

    /// Returns the words, beginning with those that are least similar after attention.
    pub fn least_alike_first(&self) -> Vec<PairedWord> {
        let mut words = self.words.clone();
        words.sort_by(|a, b| a.after.cosine.total_cmp(&b.after.cosine));
        words
    }
}

/// Words that the model generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    pub words: Vec<Token>,
    /// Rows from which each word was predicted.
    pub rows: Vec<RowsRead>,
    pub choice: NextWordChoice,
    /// Whether the weights are still those that the model used.
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    /// Row of the vocabulary; `None` for the start token.
    pub word: Option<usize>,
    /// The part of the learner's text, for a model that reads pieces of words.
    pub piece: Option<TextPiece>,
}

impl Token {
    /// Returns whether the tokenizer added the token.
    pub fn is_added(&self) -> bool {
        self.piece.as_ref().is_some_and(|piece| piece.is_added)
    }

    /// Returns the properties that measures of heads use.
    pub fn measured(&self) -> MeasuredToken {
        MeasuredToken { word: self.word, is_added: self.is_added() }
    }
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    /// Byte range of the text; empty for a piece that the tokenizer added.
    pub bytes: Range<usize>,
    /// Index of the word to which the piece belongs; `None` for a piece that the tokenizer added.
    pub word: Option<usize>,
    /// Index of the piece's sentence in a pair of sentences, as the model's segment input has it.
    pub segment: usize,
    /// Whether the tokenizer added the piece, such as `[CLS]` or `[SEP]`.
    pub is_added: bool,
}

/// A learner's text in the pieces that a model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceText {
    pub text: String,
    pub pieces: Vec<TextPiece>,
}

/// Text of the start token, at which nothing has been written yet.
pub use crate::lesson::schema::START_TOKEN as START;

/// Returns the pieces of each word, in order. A piece that the tokenizer added is a word by itself, and so is a token
/// without a piece.
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

/// Returns a word as it is written in the text, or `None` for a piece that the tokenizer added.
pub fn written_word<'t>(tokens: &[Token], pieces: &Range<usize>, text: &'t PieceText) -> Option<&'t str> {
    let bytes = |at: usize| tokens[at].piece.as_ref().map(|piece| piece.bytes.clone());
    let (first, last) = bytes(pieces.start).zip(bytes(pieces.end - 1))?;
    text.text.get(first.start..last.end).map(str::trim).filter(|word| !word.is_empty())
}

/// Returns the texts of tokens, with subscripts for repeated words: `apple₁ launched … apple₂`.
pub fn token_labels(tokens: &[Token]) -> Vec<String> {
    let texts: Vec<&str> = tokens.iter().map(|t| t.text.as_str()).collect();
    labels(&texts)
}

/// Returns labels for words; a repeated word has the number of its occurrence.
pub fn labels(words: &[&str]) -> Vec<String> {
    (0..words.len()).map(|at| label(words[at], occurrence(words, at))).collect()
}

/// Returns the label of a word, such as `apple`, or `apple₂` for the second of several occurrences.
pub fn label(word: &str, occurrence: Option<usize>) -> String {
    format!("{word}{}", occurrence.map_or_else(String::new, subscript))
}

/// Returns the number of position `i` among the occurrences of its word, from 1, or `None` if there is only one.
pub fn occurrence(tokens: &[&str], i: usize) -> Option<usize> {
    let same = |range: &[&str]| range.iter().filter(|t| **t == tokens[i]).count();
    (same(tokens) > 1).then(|| same(&tokens[..=i]))
}

/// Returns whether a character is a subscript digit.
pub fn is_subscript(c: char) -> bool {
    ('₀'..='₉').contains(&c)
}

/// Formats `n` in subscript digits.
pub fn subscript(n: usize) -> String {
    n.to_string().chars().map(|c| char::from_u32('₀' as u32 + c as u32 - '0' as u32).unwrap_or(c)).collect()
}

/// Greatest number of answers in a list of the most likely ones.
pub const ANSWERS: usize = 5;

/// The model's answers about a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Logits `Z` (R, C), with a row for each token, or a single row if the answer is about the whole sentence.
    pub logits: Matrix<f32>,
    /// The most likely answers of each row, best first.
    pub likeliest: Vec<Vec<RankedAnswer>>,
    /// Classes that the model never writes, whatever their logits are. Their probability is 0.
    pub never: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedAnswer {
    /// Index into [`ModelSnapshot::classes`].
    pub class: usize,
    pub probability: f32,
}

impl Answers {
    /// Returns the probability `softmax(Z)` of one class.
    ///
    /// # Panics
    /// If there is no such row or class.
    pub fn probability(&self, row: usize, class: usize) -> f32 {
        if self.never.contains(&class) {
            return 0.0;
        }
        if let Some(listed) = self.likeliest[row].iter().find(|answer| answer.class == class) {
            return listed.probability;
        }
        let (highest, probability) = self.best(row);
        probability * (self.logits.get(row, class) - highest).exp()
    }

    /// Returns the smallest logit with which a class of a row has at least this probability.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn logit_of(&self, row: usize, probability: f32) -> f32 {
        let (highest, of_highest) = self.best(row);
        highest + (probability / of_highest).ln()
    }

    /// Returns the logit and the probability of the most likely class of a row; both are NaN if no class is listed.
    fn best(&self, row: usize) -> (f32, f32) {
        let best = self.likeliest[row].first();
        best.map_or((f32::NAN, f32::NAN), |best| (self.logits.get(row, best.class), best.probability))
    }
}

/// Computes the answers from the outputs of a sentence.
pub fn answers(model: &AttentionModel<f32>, parameters: &Parameters<f32>, output: &Matrix<f32>) -> Answers {
    let rows = output.rows();
    let read = match model.architecture.pooling {
        Pooling::Every => output.clone(),
        Pooling::Last => Matrix::from_row_major(1, output.cols(), output.row(rows - 1).to_vec()),
        Pooling::Mean => Matrix::from_row_major(1, output.cols(), centroid(output, &(0..rows).collect::<Vec<_>>())),
    };
    let logits = model.logits_of(parameters, &read);
    let never = model.never_written();
    let likeliest = (0..logits.rows()).map(|row| likeliest(logits.row(row), &never)).collect();
    Answers { logits, likeliest, never }
}

/// Returns the probabilities `softmax(Z)` of one row.
pub fn probabilities(logits: &[f32]) -> Vec<f32> {
    let mut probabilities = logits.to_vec();
    softmax_forward(&mut probabilities);
    probabilities
}

/// Returns the most likely classes of one row of logits, best first, without those that are never written.
pub fn likeliest(logits: &[f32], never: &[usize]) -> Vec<RankedAnswer> {
    let mut logits = logits.to_vec();
    never.iter().for_each(|&class| logits[class] = f32::NEG_INFINITY);
    let probabilities = probabilities(&logits);
    let answer = |class| RankedAnswer { class, probability: probabilities[class] };
    highest(&probabilities, ANSWERS).into_iter().map(answer).collect()
}

/// Returns the names of the classes: labels or words.
pub fn class_names(lesson: &Lesson, classes: &Classes, vocabulary: &[String]) -> Vec<String> {
    match classes {
        Classes::Words(candidates) => candidates.words().iter().map(|&word| vocabulary[word].clone()).collect(),
        Classes::Labels(_) if let Some(model) = lesson.static_embedding.recording() => model.classes.to_vec(),
        Classes::Labels(_) => lesson.corpus.topics.iter().map(|topic| topic.name.clone()).collect(),
    }
}

/// Checks that the model can continue sentences.
///
/// # Errors
/// A message for the learner if the model cannot continue sentences.
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

/// Returns the reason why there is no next word, in words.
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
        CannotGenerate::Beams => format!("a search has from 1 to {BEAMS_MAX} beams"),
    }
}

/// A key that gets much of the attention, averaged over all heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinkNumbers {
    /// Position in the sentence.
    pub position: usize,
    /// Mean weight of the key over all heads and the queries that see it.
    pub mean: f32,
    /// Number of heads in which that mean is above the threshold, and number of all heads.
    pub heads: (usize, usize),
    /// Share of the key in all weights.
    pub of_weights: f32,
    /// Share of the key in the lengths of all contributions, or `None` if they were not recorded.
    pub of_added: Option<f32>,
}

/// Returns the sinks among `keys`, in order, for blocks that all attend to these keys.
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
        // The contributions of the keys may not have been recorded.
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
