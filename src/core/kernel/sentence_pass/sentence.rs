//! A sentence: read from a learner's text, as words of the lesson's vocabulary or pieces of a pretrained model, and
//! everything about its forward pass that a viewer may see.

use std::collections::HashMap;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::activations::{
    Arithmetic, BlockActivations, HeadActivations, Interventions, distance_scores,
};
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel, Sequences, Tower};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::projection::{Lens, LensProjection};
use attune_engine::pretrained::folder::{ModelFolder, PAIR};
use attune_engine::pretrained::tokenizer as pretrained;
use attune_engine::pretrained::tokenizer::Origin;
use serde::{Deserialize, Serialize};

use crate::kernel::sentence_pass::near::near;
use crate::kernel::sentence_pass::recorded::{RecordedPass, RecordedPlace};
use crate::kernel::targets::{Target, Targets};
use crate::kernel::values::sentence::{PieceText, START, TextPiece, Token};
use crate::kernel::values::space::{Neighbours, StaticSpace, index_of, rows_of};
use crate::lesson::issue::{did_you_mean, shorten};
use crate::lesson::limits::{pieces_max, too_many_pieces};
use crate::lesson::opened::first_ids;
use crate::lesson::recorded::{ONE_PASS, RecordedModel};
use crate::lesson::schema::{Lesson, Objective, StaticEmbedding};
use crate::lesson::text::tokenize;

/// A sentence that can be run: its words are in the vocabulary, and their number is within the limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Index into the lesson's sentences, if it is one of them.
    pub index: Option<usize>,
    /// Rows of the vocabulary.
    pub words: Vec<usize>,
    /// The text from which it was read, for a model that reads pieces of words.
    pub text: Option<Arc<PieceText>>,
    /// The target, if the sentence is a source whose target the model writes or the learner types.
    pub target: Option<Arc<Target>>,
    /// The stretch of a recorded text that this sentence is, if it is one.
    pub recorded: Option<RecordedPlace>,
}

impl Sentence {
    /// Returns the sentence of these rows of the vocabulary.
    pub fn of_rows(words: Vec<usize>) -> Self {
        Self { index: None, words, text: None, target: None, recorded: None }
    }

    /// Returns whether the learner chose the same sentence. A target that the model wrote from the source does not
    /// count.
    pub fn is_same_choice(&self, other: &Self) -> bool {
        self.own_target() == other.own_target()
            && Self { target: None, ..self.clone() } == Self { target: None, ..other.clone() }
    }

    fn own_target(&self) -> Option<&Target> {
        self.target.as_deref().filter(|target| !target.is_written)
    }

    /// Returns the words that the model continues, and the source if sentences are sources. A target that the learner
    /// typed is continued; one that the model wrote is written anew, with the weights in use.
    pub fn begun(&self, is_source: bool) -> (Vec<usize>, Option<&[usize]>) {
        if !is_source {
            return (self.words.clone(), None);
        }
        let own = self.own_target().into_iter().flat_map(|target| target.words.iter().skip(1).flatten());
        (own.copied().collect(), Some(&self.words))
    }

    /// Returns the sequence that the model reads, and the source, if there is one. Words that the model continues with,
    /// by [`SentenceCommand::Generate`](crate::kernel::command::SentenceCommand::Generate), are not part of it.
    fn sequences(&self, target: Option<&Target>) -> (Sequences, Option<Sequences>) {
        let Some(target) = target else {
            return (with_segments(Sequences::one(&self.words), self.text.as_deref()), None);
        };
        let mut input = Sequences::default();
        input.push(target.words.iter().copied(), 0);
        (input, Some(Sequences::one(&self.words)))
    }
}

/// The parts of a snapshot that depend only on the sentence and the space.
#[derive(Clone, Debug)]
pub struct SentenceFrame {
    pub sentence: Sentence,
    pub(super) input: Sequences,
    pub(super) source: Option<Sequences>,
    pub(super) tokens: Vec<Token>,
    pub(super) source_tokens: Option<Vec<Token>>,
    pub(super) start: Matrix<f32>,
    pub(super) source_start: Option<Matrix<f32>>,
    pub(super) static_neighbours: Vec<Neighbours>,
    /// The recorded pass, if the sentence is a text of a recording.
    pub(super) recorded: Option<Arc<RecordedPass>>,
}

impl SentenceFrame {
    pub fn new(sentence: Sentence, space: &StaticSpace, targets: Option<&Targets>) -> Self {
        Self::after(None, sentence, space, targets)
    }

    /// Prepares a sentence as [`Self::new`] does, but reuses parts of `before`: its recorded pass if both are the same
    /// stretch of a recording, or else the neighbours of the words that occur in both. In the second case, `before`
    /// must be of the same space.
    pub fn after(before: Option<&Self>, sentence: Sentence, space: &StaticSpace, targets: Option<&Targets>) -> Self {
        if let Some(place) = &sentence.recorded {
            let pass = before.and_then(Self::recorded).filter(|pass| pass.place == *place).cloned();
            let pass = pass.unwrap_or_else(|| Arc::new(RecordedPass::read(place)));
            return Self::with_recorded_points(sentence, pass, space);
        }
        let frame = Self::without_points(sentence, space, targets);
        let words = &frame.input.words;
        let nothing = space.projection.points(&space.seen(&Matrix::zeros(1, space.vectors.cols())));
        let points = |sequences: &Sequences| {
            Matrix::from_fn(sequences.words.len(), space.points.cols(), |i, axis| {
                sequences.words[i].map_or(nothing.get(0, axis), |word| space.points.get(word, axis))
            })
        };
        let (start, source_start) = (points(&frame.input), frame.source.as_ref().map(points));
        let mut known: HashMap<Option<usize>, Neighbours> = HashMap::new();
        // A token that is no word has no neighbours.
        known.insert(None, Neighbours::default());
        let known_before = before.map(|of| of.input.words.iter().copied().zip(of.static_neighbours.iter().cloned()));
        known.extend(known_before.into_iter().flatten());
        let mut new: Vec<Option<usize>> = words.iter().copied().filter(|word| !known.contains_key(word)).collect();
        new.sort_unstable();
        new.dedup();
        let row = |word: Option<usize>, j: usize| word.map_or(0.0, |word| space.vectors.get(word, j));
        let found = near(space, &Matrix::from_fn(new.len(), space.vectors.cols(), |i, j| row(new[i], j)), &new);
        known.extend(new.into_iter().zip(found));
        let static_neighbours = words.iter().map(|word| known[word].clone()).collect();
        Self { start, source_start, static_neighbours, ..frame }
    }

    /// Prepares a recorded text, whose points start at its first hidden states.
    fn with_recorded_points(sentence: Sentence, pass: Arc<RecordedPass>, space: &StaticSpace) -> Self {
        let sight = LensProjection::new(&space.projection, None);
        let input = &pass.activations.input;
        let words: Vec<Option<usize>> = pass.tokens.iter().map(|token| token.word).collect();
        let static_neighbours =
            if pass.has_states() { near(space, input, &words) } else { vec![Neighbours::default(); words.len()] };
        let source_start = pass.activations.source.as_ref().map(|source| sight.points(&source.input));
        let start = sight.points(input);
        Self { start, source_start, static_neighbours, ..Self::of_recorded(sentence, pass) }
    }

    fn of_recorded(sentence: Sentence, pass: Arc<RecordedPass>) -> Self {
        let sequences = |tokens: &[Token]| {
            let mut sequences = Sequences::default();
            sequences.push(tokens.iter().map(|token| token.word), 0);
            sequences
        };
        Self {
            input: sequences(&pass.tokens),
            source: pass.source.as_deref().map(sequences),
            tokens: pass.tokens.clone(),
            source_tokens: pass.source.clone(),
            start: Matrix::zeros(0, 0),
            source_start: None,
            static_neighbours: Vec::new(),
            recorded: Some(pass),
            sentence,
        }
    }

    /// Returns the recorded pass, if the sentence is a text of a recording.
    pub fn recorded(&self) -> Option<&Arc<RecordedPass>> {
        self.recorded.as_ref()
    }

    /// Prepares a sentence that is not shown, without neighbours, because finding them takes long in a large
    /// vocabulary.
    pub fn without_points(mut sentence: Sentence, space: &StaticSpace, targets: Option<&Targets>) -> Self {
        if let Some(place) = &sentence.recorded {
            let pass = Arc::new(RecordedPass::read(place));
            return Self::of_recorded(sentence, pass);
        }
        let target = sentence.target.clone().or_else(|| Some(Arc::new(targets?.target(&sentence.words))));
        let (input, source) = sentence.sequences(target.as_deref());
        let chosen = sentence.text.as_ref().map(|text| text.pieces.iter().cloned().map(Some).collect::<Vec<_>>());
        let chosen = tokens(source.as_ref().unwrap_or(&input), chosen.as_deref().unwrap_or_default(), space);
        let (of_input, source_tokens) = match &target {
            Some(target) => (tokens(&input, &target.pieces, space), Some(chosen)),
            None => (chosen, None),
        };
        // A target by a rule is not kept, because the rule makes it again.
        sentence.target = target.filter(|_| targets.is_none_or(|targets| targets.rule().is_none()));
        Self {
            tokens: of_input,
            source_tokens,
            input,
            source,
            start: Matrix::zeros(0, 0),
            source_start: None,
            static_neighbours: Vec::new(),
            recorded: None,
            sentence,
        }
    }

    /// Returns the words that the model reads.
    pub fn input(&self) -> &Sequences {
        &self.input
    }

    /// Returns the source to which the model attends, if it has one.
    pub fn source(&self) -> Option<&Sequences> {
        self.source.as_ref()
    }

    /// Returns the tokens that the model reads.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns the tokens that a tower reads.
    pub fn tokens_of(&self, tower: Tower) -> &[Token] {
        match tower {
            Tower::Source => self.source_tokens.as_deref().unwrap_or_default(),
            Tower::Sentence => &self.tokens,
        }
    }

    pub fn source_tokens(&self) -> Option<&[Token]> {
        self.source_tokens.as_deref()
    }

    /// Returns the recorded pass, or else runs the whole forward pass.
    pub fn activations(
        &self,
        model: &AttentionModel<f32>,
        parameters: &Parameters<f32>,
        interventions: &Interventions<f32>,
    ) -> Activations<f32> {
        match &self.recorded {
            Some(pass) => pass.activations.clone(),
            None => Activations::of(model, parameters, &self.input, self.source.as_ref(), interventions),
        }
    }
}

/// Returns the projection of a tower's states onto the picture, with the weights in use.
pub(super) fn sight<'a>(
    tower: Tower,
    space: &'a StaticSpace,
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
) -> LensProjection<'a> {
    LensProjection::new(&space.projection, lens(tower, space, model, parameters))
}

/// Returns the norm that is applied to a tower's states before the projection.
pub(crate) fn lens(
    tower: Tower,
    space: &StaticSpace,
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
) -> Option<Lens> {
    space.scale()?.lens_of_layers(tower, &model.architecture, parameters)
}

/// Returns the output of the last block; the norm after it is applied by the picture, if at all.
pub(super) fn last_state(activations: &Activations<f32>) -> &Matrix<f32> {
    activations.blocks.last().map_or(&activations.output, |block| &block.output)
}

/// Returns the tokens of a sequence, each with its piece of a text if it has one.
fn tokens(sequences: &Sequences, pieces: &[Option<TextPiece>], space: &StaticSpace) -> Vec<Token> {
    let piece = |at: usize| pieces.get(at).cloned().flatten();
    sequences.words.iter().enumerate().map(|(at, &word)| Token { piece: piece(at), ..token(word, space) }).collect()
}

pub fn token(word: Option<usize>, space: &StaticSpace) -> Token {
    Token { text: word.map_or_else(|| START.to_owned(), |word| space.vocabulary[word].clone()), word, piece: None }
}

fn with_segments(input: Sequences, text: Option<&PieceText>) -> Sequences {
    match text {
        Some(text) => input.with_segments(text.pieces.iter().map(|piece| piece.segment).collect()),
        None => input,
    }
}

/// Returns the arithmetic of each head of a block.
pub(super) fn arithmetic_of(
    (b, config): (usize, &BlockConfig),
    parameters: &Parameters<f32>,
    block: &BlockActivations<f32>,
    interventions: &Interventions<f32>,
) -> Vec<Arithmetic<f32>> {
    let scale = interventions.score_scale(config);
    let temperature = interventions.temperature_of(config);
    let layer = &config.attention;
    let mut biases = parameters
        .values_of(TensorName::DistanceBias.of_block(layer.distance_block(b)))
        .chunks_exact(layer.distance_columns().max(1));
    let of_head = |head: &HeadActivations<f32>| {
        let (queries, keys) = (head.query.rows(), head.key.rows());
        let of_row = |(form, bias): (DistanceForm, _)| distance_scores(form, bias, temperature, queries, keys);
        Arithmetic::of(head, scale, layer.distances.zip(biases.next()).map(of_row))
    };
    block.heads.iter().map(of_head).collect()
}

/// Returns the contributions of each block.
pub fn contributions(
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
    activations: &Activations<f32>,
    interventions: &Interventions<f32>,
) -> Vec<Contributions<f32>> {
    let blocks = model.architecture.numbered_blocks().zip(&activations.blocks);
    blocks.map(|(at, block)| contributions_of(at, model, parameters, block, interventions)).collect()
}

pub(super) fn contributions_of(
    (b, config): (usize, &BlockConfig),
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
    block: &BlockActivations<f32>,
    interventions: &Interventions<f32>,
) -> Contributions<f32> {
    let modes = interventions.heads.get(model.architecture.heads_of(b)).unwrap_or(&[]);
    Contributions::of(config, b, parameters, block, modes)
}

/// Greatest length of a text in bytes. A piece has about four bytes, so a longer text has far more pieces than can be
/// shown.
pub const TEXT_BYTES_MAX: usize = 1 << 16;

impl Sentence {
    /// Reads a learner's text, which may be one of the lesson's sentences.
    ///
    /// # Errors
    /// A message for the learner if the text is empty or too long, or for the first unknown word, with the nearest
    /// known one.
    pub fn read(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        if let StaticEmbedding::Pretrained(model) = &lesson.static_embedding {
            let index = lesson.sentences.iter().position(|sentence| sentence.iter().eq([text]));
            return Ok(Self { index, ..read_text(text, model)? });
        }
        if let StaticEmbedding::Recording(model) = &lesson.static_embedding {
            let texts = || 0..model.recording.texts.len();
            let has_pieces_of = |number: &usize| {
                let pieces = RecordedPlace::new(model.clone(), *number, 0).piece_text();
                pieces.is_some_and(|pieces| pieces.text == text)
            };
            let text = texts()
                .find(|number| model.title(*number) == text)
                .or_else(|| texts().find(has_pieces_of))
                .ok_or_else(|| format!("{ONE_PASS}, so only its own texts can be shown"))?;
            return Self::of_recorded(model, text, 0);
        }
        let words = read_words(text, vocabulary, lesson.model.architecture.max_tokens)?;
        let texts = || words.iter().map(|&word| &vocabulary[word]);
        let index = lesson.sentences.iter().position(|sentence| sentence.iter().eq(texts()));
        Ok(Self { index, ..Self::of_rows(words) })
    }

    /// Returns the stretch of a recorded text that begins at the token `first`.
    ///
    /// # Errors
    /// A message for the learner if there is no such text, or it has another form than the first.
    pub fn of_recorded(model: &Arc<RecordedModel>, text: usize, first: usize) -> Result<Self, String> {
        model.check_text(text)?;
        let place = RecordedPlace::new(model.clone(), text, first);
        let (words, whole) = (place.words().to_vec(), place.piece_text());
        Ok(Self { index: Some(text), text: whole.map(Arc::new), recorded: Some(place), ..Self::of_rows(words) })
    }

    /// Reads one of the lesson's sentences.
    ///
    /// # Errors
    /// A message for the learner if there is none with this index, or it cannot be shown.
    pub fn of_lesson(lesson: &Lesson, vocabulary: &[String], index: usize) -> Result<Self, String> {
        let (number, count) = (index.saturating_add(1), lesson.sentences.len());
        let none = || format!("there is no sentence {number}; the lesson has {count}");
        let words = lesson.sentences.get(index).ok_or_else(none)?;
        let sentence = match &lesson.static_embedding {
            StaticEmbedding::Pretrained(_) => Self::read(&words.join(" "), lesson, vocabulary)?,
            StaticEmbedding::Recording(model) => Self::of_recorded(model, index, 0)?,
            _ => {
                let rows = rows_of(words, &index_of(vocabulary));
                Self::of_rows(rows.ok_or_else(|| format!("a word of sentence {number} is not in the vocabulary"))?)
            }
        };
        Ok(Self { index: Some(index), ..sentence })
    }

    /// Reads the lesson's sentences, as far as they can be shown.
    pub fn all_of_lesson(lesson: &Lesson, vocabulary: &[String]) -> impl Iterator<Item = Self> {
        (0..lesson.sentences.len()).filter_map(move |index| Self::of_lesson(lesson, vocabulary, index).ok())
    }

    /// Returns the sentence that is shown first: the lesson's first that can be read, or else some rows of the
    /// vocabulary.
    pub fn first(lesson: &Lesson, vocabulary: &[String]) -> Self {
        let rows = || {
            let most = pieces_max(&lesson.model.architecture, vocabulary.len());
            first_ids(vocabulary.len(), most).collect()
        };
        Self::all_of_lesson(lesson, vocabulary).next().unwrap_or_else(|| Self::of_rows(rows()))
    }

    /// Makes a sentence of rows of the vocabulary.
    ///
    /// # Errors
    /// A message for the learner if there are none or too many, or if one is not a row.
    pub fn of_ids(ids: &[usize], lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        if let Some(id) = ids.iter().find(|id| **id >= vocabulary.len()) {
            return Err(format!("there is no token {id}; the model has tokens from 0 to {}", vocabulary.len() - 1));
        }
        check_count(ids.len(), &lesson.model.architecture, vocabulary.len())?;
        Ok(Self::of_rows(ids.to_vec()))
    }

    /// Makes a source with a target of the learner's own. Ids of a target are read as they are; the start token is put
    /// before a text.
    ///
    /// # Errors
    /// A message for the learner if one of them cannot be read, or the model has no such target.
    pub fn of_pair(
        source: &TextOrIds,
        target: &TextOrIds,
        lesson: &Lesson,
        vocabulary: &[String],
    ) -> Result<Self, PairFault> {
        let model = lesson.static_embedding.pretrained().filter(|model| model.reads_source());
        let model = model.ok_or_else(|| PairFault::Target(no_target(lesson)))?;
        let is_marked = |part: &TextOrIds| matches!(part, TextOrIds::Text(text) if text.contains(PAIR));
        if is_marked(source) {
            return Err(PairFault::Source(format!("there is a target behind {PAIR} already")));
        }
        if is_marked(target) {
            return Err(PairFault::Target(format!(
                "{PAIR} is between a source and its target, and not in one of them"
            )));
        }
        let of_ids = |ids: &[usize]| Self::of_ids(ids, lesson, vocabulary);
        let of_target = |read: Self| Target::of_words(read.words.into_iter().map(Some).collect(), false);
        let (read, target) = match (source, target) {
            (TextOrIds::Text(source), TextOrIds::Text(target)) => {
                let whole = format!("{source} {PAIR} {target}");
                let (source, target) = (&whole[..source.len()], &whole[whole.len() - target.len()..]);
                (read_pieces(&whole, source, model), read_target(&whole, target, model))
            }
            (TextOrIds::Text(source), TextOrIds::Ids(target)) => {
                (read_pieces(source, source, model), of_ids(target).map(of_target))
            }
            (TextOrIds::Ids(source), TextOrIds::Text(target)) => {
                // Without a text of the source, there is no whole text in which the target's pieces could have places.
                let read = read_target(target, target, model);
                (of_ids(source), read.map(|target| Target::of_words(target.words, false)))
            }
            (TextOrIds::Ids(source), TextOrIds::Ids(target)) => (of_ids(source), of_ids(target).map(of_target)),
        };
        let read = read.map_err(PairFault::Source)?;
        Ok(Self { target: Some(Arc::new(target.map_err(PairFault::Target)?)), ..read })
    }
}

/// A part of a learner's sentence: a text, or rows of the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextOrIds {
    Text(String),
    Ids(Vec<usize>),
}

/// The part of a pair that cannot be read, with a message for the learner that says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairFault {
    Source(String),
    Target(String),
}

impl PairFault {
    pub fn words(self) -> String {
        match self {
            Self::Source(why) | Self::Target(why) => why,
        }
    }
}

/// Returns the reason why the model has no target of the learner's own.
fn no_target(lesson: &Lesson) -> String {
    match lesson.model.objective {
        Objective::Sequence(_) => "a rule of the lesson makes the target from the source".to_owned(),
        _ => "the model reads one sentence and has no target; only models with an encoder and a decoder have one"
            .to_owned(),
    }
}

fn check_count(count: usize, architecture: &Architecture, vocabulary: usize) -> Result<(), String> {
    if count == 0 {
        return Err("the sentence has no words".to_owned());
    }
    too_many_pieces(architecture, vocabulary, count).map_or(Ok(()), Err)
}

/// Reads a text with the model's tokenizer, or as token ids if there is none. For a model with a source, the text may
/// contain a target of the learner's own after [`PAIR`].
fn read_text(text: &str, model: &ModelFolder) -> Result<Sentence, String> {
    let (source, target) = model.source_and_target(text)?;
    let read = read_pieces(text, source, model)?;
    let target = target.map(|target| read_target(text, target, model)).transpose();
    let target = target.map_err(|why| format!("the target: {why}"))?.map(Arc::new);
    Ok(Sentence { target, ..read })
}

/// Reads a target, which is a part of a text.
fn read_target(text: &str, target: &str, model: &ModelFolder) -> Result<Target, String> {
    check_bytes(target)?;
    let target = target_of_pieces(text, target, model.target_pieces(target)?, model);
    check_count(target.words.len(), &model.architecture, model.config.vocabulary)?;
    Ok(target)
}

/// Makes a target from the start token and the pieces of a part of a text.
pub fn target_of_pieces(
    text: &str,
    target: &str,
    mut pieces: Vec<pretrained::ModelPiece>,
    model: &ModelFolder,
) -> Target {
    // A list of ids may begin with the start token already.
    let is_start = |piece: &pretrained::ModelPiece| Some(piece.id as usize) == model.rules.start;
    if model.tokenizer.is_err() && pieces.first().is_some_and(is_start) {
        pieces.remove(0);
    }
    let words = std::iter::once(model.rules.start).chain(pieces.iter().map(|piece| Some(piece.id as usize)));
    let words = words.collect();
    let pieces = std::iter::once(None).chain(pieces_of(pieces, text, target).map(Some)).collect();
    Target { words, pieces, is_written: false }
}

fn check_bytes(text: &str) -> Result<(), String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("the text has {} bytes; at most {TEXT_BYTES_MAX} are read", text.len()));
    }
    Ok(())
}

/// Returns the pieces of a part of a text, with their places in the whole text.
fn pieces_of(pieces: Vec<pretrained::ModelPiece>, text: &str, part: &str) -> impl Iterator<Item = TextPiece> {
    let begin = part.as_ptr() as usize - text.as_ptr() as usize;
    pieces.into_iter().map(move |piece| TextPiece {
        bytes: piece.bytes.start + begin..piece.bytes.end + begin,
        word: piece.word,
        segment: piece.segment,
        is_added: piece.origin == Origin::Added,
    })
}

/// Reads a part of a text as a sentence of pieces.
fn read_pieces(text: &str, part: &str, model: &ModelFolder) -> Result<Sentence, String> {
    check_bytes(text)?;
    let pieces = model.pieces(part)?;
    if pieces.iter().all(|piece| piece.origin == Origin::Added) {
        return Err("the sentence has no words".to_owned());
    }
    check_count(pieces.len(), &model.architecture, model.config.vocabulary)?;
    Ok(of_pieces(text, part, pieces))
}

/// Makes a sentence from the pieces of a part of a text.
pub fn of_pieces(text: &str, part: &str, pieces: Vec<pretrained::ModelPiece>) -> Sentence {
    let words = pieces.iter().map(|piece| piece.id as usize).collect();
    let pieces = PieceText { text: text.to_owned(), pieces: pieces_of(pieces, text, part).collect() };
    Sentence { text: Some(Arc::new(pieces)), ..Sentence::of_rows(words) }
}

/// Reads a learner's sentence as rows of the vocabulary.
///
/// # Errors
/// A message for the learner if the text is empty or too long, or for the first unknown word, with the nearest known
/// one.
fn read_words(text: &str, vocabulary: &[String], max_tokens: usize) -> Result<Vec<usize>, String> {
    let rows = index_of(vocabulary);
    // A file of vectors may contain words that tokenization would change.
    let items = text.split_whitespace();
    let words: Vec<String> =
        items.flat_map(|item| if rows.contains_key(item) { vec![item.to_owned()] } else { tokenize(item) }).collect();
    if words.is_empty() {
        return Err("the sentence has no words".to_owned());
    }
    if words.len() > max_tokens {
        return Err(format!("the sentence has {} words, but the model reads at most {max_tokens}", words.len()));
    }
    let row = |word: &String| {
        rows.get(word.as_str()).copied().ok_or_else(|| {
            let hint = did_you_mean(word, vocabulary.iter().map(String::as_str));
            format!("the word {:?} is not in the lesson's vocabulary of {}{hint}", shorten(word), vocabulary.len())
        })
    };
    words.iter().map(row).collect()
}
