//! A tour of a pretrained model: its texts, the findings from a pass over each text, and the cells that [`write`] makes
//! from the findings.
//!
//! | finding | condition |
//! |---|---|
//! | words that turn | the cosines between the input of the first layer and the output of the last differ by [`TURN_MIN`] between two words |
//! | a head of a kind | its mean weight on the pairs of its kind is at least [`LEAST_WEIGHT`], and [`TIMES_EVEN`] times that of equal weights |
//! | a sink | the mean weight over all heads exceeds the threshold of [`attune_engine::numerics::sinks`] |
//! | separate senses | from some layer on, but not in the embeddings, each of four occurrences is nearest to the other one with its sense, and the mean cosine within senses exceeds that between them by [`PARTED_MIN`], in one text or else in four |
//! | an answer | its probability is at least [`ANSWER_MIN`], and it is a word |
//! | heads that align, and nearness to the source | a model with an encoder and a decoder; see [`translators`] |
//!
//! Each text is one piece of work of the kernel, and its pass is dropped once it is measured. A text with a piece that
//! the tokenizer does not know is left out, because it would only show how the model reads its unknown piece. The cells
//! belong to the learner once they are written.

mod links;
pub mod translators;
pub mod write;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::head_measures::{HeadMeasure, LEAST_WEIGHT, TIMES_EVEN, key_weights};
use attune_engine::numerics::model::activations::{HeadActivations, Interventions};
use attune_engine::numerics::model::cost::forward_multiplications;
use attune_engine::numerics::model::{Activations, Architecture};
use attune_engine::numerics::senses::{SenseScores, cosines};
use attune_engine::numerics::vectors::cosine;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::write::{MASK, UNKNOWN};
use attune_engine::pretrained::tokenizer::{ModelPiece, Origin};

use crate::kernel::model::LessonModel;
use crate::kernel::model::live::KEPT_PRODUCTS_MAX;
use crate::kernel::notebook::document::TourCell;
use crate::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use crate::kernel::tour::translators::Translations;
use crate::kernel::values::Progress;
use crate::kernel::values::sentence::{RankedAnswer, Token, likeliest, word_pieces};
use crate::lesson::limits::pieces_max;
use crate::lesson::schema::{Lesson, Objective, StaticEmbedding};

/// A text, with something that was found in its pass.
#[derive(Clone, Debug)]
pub struct FoundText<T> {
    pub text: Arc<str>,
    pub tokens: Vec<Token>,
    pub found: T,
}

/// All findings of a tour. A section of the tour is left out if its finding is missing.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub turned: Option<FoundText<Turned>>,
    pub sinks: Option<FoundText<Vec<TourSink>>>,
    pub heads: Option<FoundText<FoundHeads>>,
    pub parting: Option<FoundText<Parting>>,
    pub answered: Option<FoundText<LikeliestAnswer>>,
    /// Measures over all texts of a model with an encoder and a decoder.
    pub translations: Translations,
}

/// The state of the tour of a model.
#[derive(Default)]
pub enum Tour {
    #[default]
    NotAsked,
    /// A tour that was requested, and starts as soon as there is a model without other work.
    Asked,
    Measuring(Box<Touring>),
    Written,
}

impl Tour {
    pub fn is_under_way(&self) -> bool {
        matches!(self, Self::Asked | Self::Measuring(_))
    }

    pub fn is_written(&self) -> bool {
        matches!(self, Self::Written)
    }

    pub fn progress(&self) -> Option<Progress> {
        match self {
            Self::Measuring(touring) => Some(touring.progress()),
            Self::NotAsked | Self::Asked | Self::Written => None,
        }
    }

    /// Does the next part of the tour, and returns the cells once all texts are measured.
    pub fn advance(&mut self, model: &LessonModel) -> Option<Vec<TourCell>> {
        let Self::Measuring(touring) = self else {
            *self = Self::Measuring(Box::new(Touring::new(model)));
            return None;
        };
        let cells = touring.advance(model)?;
        *self = Self::Written;
        Some(cells)
    }
}

/// A tour that is being measured.
pub struct Touring {
    texts: Vec<TourText>,
    done: usize,
    findings: Findings,
}

impl Touring {
    pub fn new(model: &LessonModel) -> Self {
        Self { texts: texts_of(&model.origin.lesson), done: 0, findings: Findings::default() }
    }

    /// Returns the number of texts that have been measured, and the number of all texts.
    pub fn progress(&self) -> Progress {
        Progress { done: self.done, of: self.texts.len() }
    }

    /// Measures the model on the next text, or returns the cells of the tour if there is none.
    pub fn advance(&mut self, model: &LessonModel) -> Option<Vec<TourCell>> {
        let Some(text) = self.texts.get(self.done) else { return Some(write::cells(model, &self.findings)) };
        self.done += 1;
        if !self.findings.has(&text.shows) {
            self.findings.take(text, model);
        }
        None
    }
}

impl Findings {
    /// Returns whether this text is not needed any more, because one word with separate senses is enough.
    fn has(&self, shows: &TextPurpose) -> bool {
        matches!(shows, TextPurpose::Senses(..)) && self.parting.is_some()
    }

    fn take(&mut self, of: &TourText, model: &LessonModel) {
        if let TextPurpose::Senses(senses, Told::Apart) = &of.shows {
            self.parting = apart(of, senses, model);
            return;
        }
        if of.shows == TextPurpose::Source {
            if let Some(frame) = frame(&of.text, model) {
                self.translations.take(&of.text, &frame, &forward(&frame, model), model);
            }
            return;
        }
        let Some((tokens, activations)) = pass(&of.text, model) else { return };
        let architecture = &model.training.network().architecture;
        match &of.shows {
            TextPurpose::Words => {
                self.turned = found(of, &tokens, turned(&tokens, &activations));
                let sinks = sinks(&activations);
                self.sinks = found(of, &tokens, Some(sinks).filter(|sinks| !sinks.is_empty()));
            }
            TextPurpose::Heads => {
                let heads = heads(&tokens, &activations, architecture);
                self.heads = found(of, &tokens, Some(heads).filter(|heads| !heads.named.is_empty()));
            }
            TextPurpose::Senses(senses, _) => {
                self.parting = found(of, &tokens, together(senses, &tokens, &activations, architecture));
            }
            TextPurpose::Answer(at) => {
                let answered = at.place(&tokens).and_then(|at| answered(at, &activations, model));
                let before = self.answered.as_ref().map_or(0.0, |before| before.found.probability);
                let better = answered.filter(|answered| answered.probability > before);
                self.answered = found(of, &tokens, better).or_else(|| self.answered.take());
            }
            TextPurpose::Source => {}
        }
    }
}

fn found<T>(of: &TourText, tokens: &[Token], found: Option<T>) -> Option<FoundText<T>> {
    Some(FoundText { text: of.text.clone(), tokens: tokens.to_vec(), found: found? })
}

/// Prepares a text for the model, or returns `None` if the model cannot read it.
fn frame(text: &str, model: &LessonModel) -> Option<SentenceFrame> {
    let sentence = Sentence::read(text, &model.origin.lesson, &model.space.vocabulary).ok()?;
    Some(SentenceFrame::without_points(sentence, &model.space, model.pass.targets().map(|targets| &**targets)))
}

/// Runs a text through the model with the weights of its files, or returns `None` if the model cannot read it.
fn pass(text: &str, model: &LessonModel) -> Option<(Vec<Token>, Activations<f32>)> {
    let frame = frame(text, model)?;
    let activations = forward(&frame, model);
    Some((frame.tokens().to_vec(), activations))
}

fn forward(frame: &SentenceFrame, model: &LessonModel) -> Activations<f32> {
    let (network, parameters) = (model.training.network(), model.training.model().trained());
    frame.activations(network, parameters, &Interventions::default())
}

/// A text, and the property that its pass is measured for.
#[derive(Clone, Debug, PartialEq)]
pub struct TourText {
    pub text: Arc<str>,
    pub shows: TextPurpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPurpose {
    /// Words whose vectors turn on their way through the layers, and sinks.
    Words,
    /// Heads of known kinds, in a text that contains the same words twice.
    Heads,
    /// A word with two alternating senses, in one text that contains it four times, or in four texts that contain it
    /// once.
    Senses(&'static TourSenses, Told),
    Answer(AnswerAt),
    /// A source for which the model writes a target.
    Source,
}

/// The place in a text at which the answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerAt {
    /// The piece that stands for a hidden word, such as `[MASK]`, by its row of the vocabulary.
    Hidden(usize),
    /// The last word, after which the next one is predicted.
    End,
}

impl AnswerAt {
    pub fn place(self, tokens: &[Token]) -> Option<usize> {
        match self {
            Self::Hidden(mask) => tokens.iter().position(|token| token.word == Some(mask)),
            Self::End => tokens.len().checked_sub(1),
        }
    }
}

/// Texts that are repeated for the heads. No word occurs twice in one of them, so that each word has exactly one copy.
const SAID_TWICE: [&str; 2] = ["the dog saw a black bird in that garden.", "she ate one red apple."];

/// A word in four sentences, of which the first and the third have the same sense, so that neither distance nor order
/// separates the senses. The word is never the first, for models that do not see later words.
#[derive(Debug, PartialEq, Eq)]
pub struct TourSenses {
    pub word: &'static str,
    pub sentences: [&'static str; 4],
}

/// How a model reads the sentences of [`TourSenses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Together,
    /// Each sentence alone, for models that were trained on single sentences.
    Apart,
}

const SENSES: [TourSenses; 4] = [
    TourSenses {
        word: "bank",
        sentences: [
            "We sat on the bank of the river.",
            "She put the gold in the bank.",
            "There was a boat near the bank.",
            "He took the gold from the bank.",
        ],
    },
    TourSenses {
        word: "seal",
        sentences: [
            "the hunter followed the seal.",
            "the king broke the seal.",
            "in the sea swam a seal.",
            "on the letter lay the seal.",
        ],
    },
    TourSenses {
        word: "bat",
        sentences: [
            "At night the bat flew out of the cave.",
            "He hit the ball with the bat.",
            "In the dark cave slept a bat.",
            "The player held the bat.",
        ],
    },
    TourSenses {
        word: "spring",
        sentences: [
            "The flowers open in spring.",
            "In the clock a spring broke.",
            "The birds sing in spring.",
            "Under the seat was a spring.",
        ],
    },
];

const HIDDEN: [&str; 4] = [
    "The capital of France is [MASK].",
    "The opposite of hot is [MASK].",
    "the kettle was not hot, it was [MASK].",
    "the dogs that the king saw in the garden [MASK] tired.",
];

const CONTINUED: [&str; 4] = [
    "The capital of France is the city of",
    "One, two, three, four,",
    "Monday, Tuesday, Wednesday,",
    "Once upon a time, there was a little girl. Her",
];

/// Returns all texts for the model of a lesson, in the order of the tour.
pub fn texts_of(lesson: &Lesson) -> Vec<TourText> {
    let StaticEmbedding::Pretrained(model) = &lesson.static_embedding else { return Vec::new() };
    let first = lesson.sentences.first().map(|words| words.join(" "));
    let Some(first) = first else { return Vec::new() };
    let mut texts = Vec::new();
    let mut add = |text: String, shows| texts.push(TourText { text: text.into(), shows });
    if model.reads_source() {
        // The other findings are about words that attend to each other in one sentence, which this model does not read.
        lesson.sentences.iter().for_each(|words| add(words.join(" "), TextPurpose::Source));
        return texts;
    }
    if model.tokenizer.is_err() {
        let twice = twice(&first);
        add(first, TextPurpose::Words);
        if reads(model, &twice) {
            add(twice, TextPurpose::Heads);
        }
        return texts;
    }
    add(first, TextPurpose::Words);
    if let Some(twice) = SAID_TWICE.map(twice).into_iter().find(|text| reads(model, text)) {
        add(twice, TextPurpose::Heads);
    }
    for senses in SENSES.iter().filter(|senses| reads(model, &senses.sentences.join(" "))) {
        add(senses.sentences.join(" "), TextPurpose::Senses(senses, Told::Together));
    }
    for senses in SENSES.iter().filter(|senses| senses.sentences.iter().all(|text| reads(model, text))) {
        add(senses.sentences[0].to_owned(), TextPurpose::Senses(senses, Told::Apart));
    }
    // A model without a head has no answers.
    if model.has_head {
        let (place, texts) = match (&lesson.model.objective, model.hidden()) {
            (Objective::NextWord, _) => (Some(AnswerAt::End), CONTINUED.map(str::to_owned)),
            (_, Some((piece, id))) => {
                (Some(AnswerAt::Hidden(id as usize)), HIDDEN.map(|text| text.replace(MASK, piece)))
            }
            (_, None) => (None, HIDDEN.map(str::to_owned)),
        };
        for text in texts.into_iter().filter(|text| reads(model, text)) {
            place.into_iter().for_each(|at| add(text.clone(), TextPurpose::Answer(at)));
        }
    }
    texts
}

fn twice(text: &str) -> String {
    format!("{text} {text}")
}

/// Returns whether the model reads a text and its tokenizer knows every piece.
fn reads(model: &ModelFolder, text: &str) -> bool {
    let unknown = model.tokenizer.as_ref().ok().and_then(|tokenizer| tokenizer.id_of(UNKNOWN));
    let most = pieces_max(&model.architecture, model.config.vocabulary);
    let is_read = |pieces: Vec<ModelPiece>| {
        let is_known = pieces.iter().all(|piece| Some(piece.id) != unknown);
        is_known && pieces.len() <= most && pieces.iter().any(|piece| piece.origin != Origin::Added)
    };
    model.pieces(text).is_ok_and(is_read)
}

pub const TURN_MIN: f64 = 0.1;
pub const PARTED_MIN: f64 = 0.1;
pub const ANSWER_MIN: f32 = 0.3;
/// Greatest number of heads of one kind that are named, the strongest first.
const NAMED_MAX: usize = 3;

/// The words whose vectors turn most and least on their way through all layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    pub farthest: usize,
    pub least: usize,
}

fn turned(tokens: &[Token], activations: &Activations<f32>) -> Option<Turned> {
    let (first, last) = (&activations.input, &activations.blocks.last()?.output);
    let cosine = |at: usize| {
        let wide = |row: &[f32]| row.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        cosine(&wide(first.row(at)), &wide(last.row(at)))
    };
    // In many models, the first position is far from all others.
    let whole = |pieces: Range<usize>| (pieces.len() == 1 && pieces.start > 0).then_some(pieces.start);
    let words = word_pieces(tokens).into_iter().filter_map(whole).filter(|at| is_word(&tokens[*at]));
    let turns: Vec<(usize, f64)> = words.map(|at| (at, cosine(at))).filter(|(_, cosine)| cosine.is_finite()).collect();
    let by_cosine = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
    let (farthest, least) = (turns.iter().min_by(by_cosine)?, turns.iter().max_by(by_cosine)?);
    (least.1 - farthest.1 >= TURN_MIN).then_some(Turned { farthest: farthest.0, least: least.0 })
}

/// Returns whether a token consists of letters or digits and was not added by the tokenizer.
fn is_word(token: &Token) -> bool {
    !token.is_added() && !token.text.is_empty() && token.text.chars().all(char::is_alphanumeric)
}

/// A line of pairs of queries and keys in an attention map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapLine {
    /// The pairs `(query + i, key + i)` for `i` below `len`.
    Diagonal { query: usize, key: usize, len: usize },
    /// All of these queries with one key.
    Column { queries: Range<usize>, key: usize },
}

impl MapLine {
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        match self {
            Self::Diagonal { query, key, len } => (0..*len).map(|i| (query + i, key + i)).collect(),
            Self::Column { queries, key } => queries.clone().map(|query| (query, *key)).collect(),
        }
    }
}

/// A head whose weights are on the line that is typical of a kind of head.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundHead {
    /// Index of the head, counted over all layers.
    pub head: usize,
    pub block: usize,
    pub own: usize,
    pub kind: HeadMeasure,
    pub line: MapLine,
    /// Mean weight on the line.
    pub mean: f64,
    /// Mean weight if every query weighed all keys that it sees equally.
    pub even: f64,
}

/// The strongest heads of each kind.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundHeads {
    pub named: Vec<FoundHead>,
    /// Number of heads, in all layers, that are of none of the kinds.
    pub others: usize,
}

/// The kinds of heads in the order of the tour.
const KINDS: [HeadMeasure; 4] =
    [HeadMeasure::Previous, HeadMeasure::First, HeadMeasure::Duplicate, HeadMeasure::Induction];

/// Finds the strongest heads of each kind, in a text that contains the same words twice.
fn heads(tokens: &[Token], activations: &Activations<f32>, architecture: &Architecture) -> FoundHeads {
    let of_kind = |kind: HeadMeasure| {
        let line = line(kind, tokens)?;
        let measured = architecture.numbered_blocks().flat_map(|(block, _)| {
            let first = architecture.heads_of(block).start;
            let measure = |(own, found)| {
                let (mean, even) = mean_on(&line, found);
                FoundHead { head: first + own, block, own, kind, line: line.clone(), mean, even }
            };
            activations.blocks[block].heads.iter().enumerate().map(measure).collect::<Vec<_>>()
        });
        let mut measured: Vec<FoundHead> =
            measured.filter(|head| head.mean >= LEAST_WEIGHT && head.mean >= TIMES_EVEN * head.even).collect();
        measured.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Some(measured)
    };
    let kinds: Vec<Vec<FoundHead>> = KINDS.into_iter().filter_map(of_kind).collect();
    let known: HashSet<usize> = kinds.iter().flatten().map(|head| head.head).collect();
    let named = kinds.into_iter().flat_map(|kind| kind.into_iter().take(NAMED_MAX)).collect();
    FoundHeads { named, others: architecture.heads() - known.len() }
}

/// Returns the mean weight on a line, and the mean if every query weighed all keys that it sees equally.
fn mean_on(line: &MapLine, head: &HeadActivations<f32>) -> (f64, f64) {
    let pairs = line.pairs();
    let even =
        |query: usize| 1.0 / head.scores.row(query).iter().filter(|score| **score > f32::NEG_INFINITY).count() as f64;
    let count = pairs.len() as f64;
    let mean = pairs.iter().map(|&(query, key)| f64::from(head.weights.get(query, key))).sum::<f64>() / count;
    (mean, pairs.iter().map(|(query, _)| even(*query)).sum::<f64>() / count)
}

/// Returns the line that is typical of a kind of head, or `None` if the text has none.
fn line(kind: HeadMeasure, tokens: &[Token]) -> Option<MapLine> {
    let count = tokens.len();
    let Twice { first, second, len } = Twice::of(tokens)?;
    match kind {
        HeadMeasure::Previous => Some(MapLine::Diagonal { query: 1, key: 0, len: count - 1 }),
        HeadMeasure::First => Some(MapLine::Column { queries: 1..count, key: 0 }),
        HeadMeasure::Duplicate => Some(MapLine::Diagonal { query: second, key: first, len }),
        HeadMeasure::Induction => Some(MapLine::Diagonal { query: second, key: first + 1, len }),
        _ => None,
    }
}

/// The places of two equal runs of tokens, the second of which follows the first.
struct Twice {
    first: usize,
    second: usize,
    len: usize,
}

impl Twice {
    /// Finds the two runs, or returns `None` if the halves of the text, without pieces that the tokenizer added, differ
    /// in more than their first piece. The first may differ, because a tokenizer may encode the first word of a text in
    /// another way.
    fn of(tokens: &[Token]) -> Option<Self> {
        let is_own = |token: &Token| token.piece.as_ref().is_none_or(|piece| !piece.is_added);
        let begin = tokens.iter().position(is_own)?;
        let own = tokens[begin..].iter().take_while(|token| is_own(token)).count();
        let half = own / 2;
        let is_copy = |i: usize| tokens[begin + i].word == tokens[begin + half + i].word;
        let skipped = usize::from(!is_copy(0));
        let is_twice = own.is_multiple_of(2) && half > 1 + skipped && (1..half).all(is_copy);
        is_twice.then_some(Self { first: begin + skipped, second: begin + half + skipped, len: half - skipped })
    }
}

/// A sink, and the layer in which it gets the greatest weight.
#[derive(Clone, Debug, PartialEq)]
pub struct TourSink {
    pub token: usize,
    pub block: usize,
    /// The queries that see the sink.
    pub queries: Range<usize>,
    /// Mean weight of the sink in that layer, over the heads and these queries.
    pub mean: f64,
}

fn sinks(activations: &Activations<f32>) -> Vec<TourSink> {
    let keys = activations.input.rows();
    let of = |heads: &mut dyn Iterator<Item = &HeadActivations<f32>>| {
        key_weights(heads.map(|head| (&head.weights, &head.scores)), keys)
    };
    let all = of(&mut activations.blocks.iter().flat_map(|block| &block.heads));
    let of_layer: Vec<_> = activations.blocks.iter().map(|block| of(&mut block.heads.iter())).collect();
    let sink = |token: usize| {
        let means = of_layer.iter().map(|weights| weights[token].mean).enumerate();
        let (block, mean) = means.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let scores = &activations.blocks[block].heads.first()?.scores;
        let sees = |query: &usize| scores.get(*query, token) > f32::NEG_INFINITY;
        let first = (0..keys).find(sees)?;
        let queries = first..first + (first..keys).take_while(sees).count();
        // A code expression can only name consecutive queries.
        ((0..keys).filter(sees).count() == queries.len()).then_some(TourSink { token, block, queries, mean })
    };
    (0..keys).filter(|key| all[*key].is_sink()).filter_map(sink).collect()
}

/// An occurrence of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The text, if it is not the one to which the cell refers.
    pub text: Option<&'static str>,
    pub at: usize,
}

/// A word with separate senses, at four occurrences. The first and the third have the same sense, and so have the other
/// two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    pub occurrences: [Occurrence; 4],
    /// Number of layers, at least 1, after which the senses are separate and stay so.
    pub layer: usize,
}

/// Returns the positions of a word that is a single piece.
fn places(word: &str, tokens: &[Token]) -> Vec<usize> {
    let words = word_pieces(tokens).into_iter().filter(|pieces| pieces.len() == 1).map(|pieces| pieces.start);
    words.filter(|at| tokens[*at].text.to_lowercase() == word).collect()
}

/// Finds a word whose senses separate within one text.
fn together(
    senses: &TourSenses,
    tokens: &[Token],
    activations: &Activations<f32>,
    architecture: &Architecture,
) -> Option<Parting> {
    let places: [usize; 4] = places(senses.word, tokens).try_into().ok()?;
    let states: Vec<_> = activations.states(architecture).collect();
    let layer = parts_after(&places.map(|at| Occurring { word: tokens[at].word, at, states: states.clone() }))?;
    Some(Parting { occurrences: places.map(|at| Occurrence { text: None, at }), layer })
}

/// Finds a word whose senses separate in four texts of one sentence each, if a code cell can afford the passes over all
/// four.
fn apart(of: &TourText, senses: &TourSenses, model: &LessonModel) -> Option<FoundText<Parting>> {
    let architecture = &model.training.network().architecture;
    let frames: Vec<SentenceFrame> = senses.sentences.iter().map(|text| frame(text, model)).collect::<Option<_>>()?;
    let cost = |frame: &SentenceFrame| {
        let tokens = frame.tokens().len();
        forward_multiplications(architecture, model.classes.len(), tokens, tokens)
    };
    if frames.iter().any(|frame| cost(frame) > KEPT_PRODUCTS_MAX as f64) {
        return None;
    }
    let passes: Vec<Activations<f32>> = frames.iter().map(|frame| forward(frame, model)).collect();
    let occurring = frames.iter().zip(&passes).filter_map(|(frame, activations)| {
        let tokens = frame.tokens();
        let [at] = places(senses.word, tokens)[..] else { return None };
        Some(Occurring { word: tokens[at].word, at, states: activations.states(architecture).collect() })
    });
    let occurring: [Occurring<'_>; 4] = occurring.collect::<Vec<_>>().try_into().ok()?;
    let layer = parts_after(&occurring)?;
    let occurrence = |i: usize| Occurrence { text: Some(senses.sentences[i]), at: occurring[i].at };
    found(of, frames[0].tokens(), Some(Parting { occurrences: std::array::from_fn(occurrence), layer }))
}

/// An occurrence with the states of its text before the layers and after each.
struct Occurring<'a> {
    /// The row of its token.
    word: Option<usize>,
    at: usize,
    states: Vec<&'a Matrix<f32>>,
}

/// Returns the layer from which on the senses of four occurrences stay separate.
fn parts_after(occurring: &[Occurring<'_>; 4]) -> Option<usize> {
    /// The senses of the occurrences.
    const LETTERS: [Option<char>; 4] = [Some('A'), Some('B'), Some('A'), Some('B')];
    // All occurrences must be the same row of the table, because a tokenizer may encode the first word of a text in
    // another way.
    let is_one = occurring.iter().all(|other| other.word == occurring[0].word);
    let have_parted = |layer: usize| {
        let rows: Vec<&[f32]> = occurring.iter().map(|one| one.states[layer].row(one.at)).collect();
        let rows = Matrix::from_row_major(rows.len(), rows[0].len(), rows.concat());
        let scores = SenseScores::of(&cosines(&rows), &LETTERS, None);
        let apart = scores.within.zip(scores.between).map(|(within, between)| within - between);
        scores.nearest == Some(1.0) && apart.is_some_and(|apart| apart >= PARTED_MIN)
    };
    let parted: Vec<bool> = (0..occurring[0].states.len()).map(have_parted).collect();
    let layer = parted.iter().rposition(|has| !has).map_or(0, |last| last + 1);
    (is_one && (1..parted.len()).contains(&layer)).then_some(layer)
}

/// The most likely answer at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikeliestAnswer {
    pub at: usize,
    /// Index among the classes.
    pub class: usize,
    pub probability: f32,
    /// Number of layers after which this is the most likely answer and stays so, if the model ended there.
    pub layer: usize,
}

fn answered(at: usize, activations: &Activations<f32>, model: &LessonModel) -> Option<LikeliestAnswer> {
    let (network, parameters) = (model.training.network(), model.training.model().trained());
    let states: Vec<&[f32]> = activations.states(&network.architecture).map(|state| state.row(at)).collect();
    let states = Matrix::from_row_major(states.len(), network.architecture.width, states.concat());
    let logits = network.lens(parameters, states);
    let best: Vec<_> =
        (0..logits.rows()).map(|row| likeliest(logits.row(row), &network.never_written()).first().copied()).collect();
    let own = best.last().copied().flatten()?;
    let is_word = model.classes[own.class].chars().all(char::is_alphabetic) && !model.classes[own.class].is_empty();
    let is_it = |answer: &Option<RankedAnswer>| answer.is_some_and(|answer| answer.class == own.class);
    let layer = best.iter().rposition(|answer| !is_it(answer)).map_or(0, |last| last + 1);
    let RankedAnswer { class, probability } = own;
    (is_word && probability >= ANSWER_MIN).then_some(LikeliestAnswer { at, class, probability, layer })
}
