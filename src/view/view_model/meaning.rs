//! Near meanings: which words are near a token before attention and after it, and the senses of one word. Of a word's
//! senses: the sentences of a list, how far its occurrences lie apart after each layer, and where the senses part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::passes::{near, near_without};
use attune_core::kernel::sentence_pass::senses::{
    MEASURED_MAX, MeasuredSenses, SENSES, SenseList, SenseNote, SenseRow, SenseSentence, SensesSnapshot,
};
use attune_core::kernel::snapshot::sentence::{token_labels, word_pieces};
use attune_core::kernel::snapshot::space::TokenShares;
use attune_core::kernel::snapshot::{ModelSnapshot, Neighbour, Neighbours, Snapshot, StaticSpace};
use attune_core::lesson::schema::Probe;
use attune_core::lesson::text::tokenize;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::senses::SenseScores;
use attune_engine::numerics::table::TableRef;
use attune_engine::vectors::answers::Measure;
use attune_engine::vectors::expression::Expression;

use super::heads::HeadLabels;
use super::pieces::Words;
use super::stage::{SecondKind, StageModel, TokenPoint};
use super::{Model, number};
use crate::explain::reader::EntryReader;

#[derive(Clone, Debug, PartialEq)]
pub struct NeighboursModel {
    pub tokens: Vec<TokenNeighbours>,
    /// The words of the sentence, where some are cut into pieces.
    pub words: Vec<CutWord>,
}

/// A word by its pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct CutWord {
    pub label: String,
    /// The position of its first piece, whose neighbours are shown.
    pub first: usize,
    pub pieces: usize,
}

impl CutWord {
    /// Says whose neighbours are shown, where the word has several pieces.
    pub fn note(&self, tokens: &[TokenNeighbours]) -> Option<String> {
        let Self { label, first, pieces } = self;
        let piece = &tokens.get(*first)?.label;
        (*pieces > 1).then(|| {
            format!("“{label}” is cut into {pieces} pieces. These are the words near its first piece, “{piece}”.")
        })
    }
}

/// Neighbours of one token.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenNeighbours {
    pub label: String,
    pub before: NearWords,
    pub after: NearWords,
}

impl TokenNeighbours {
    /// All of them, by either measure.
    pub fn words(&self) -> Vec<&str> {
        let lists = [&self.before, &self.after].into_iter().flat_map(|near| [&near.by_cosine, &near.by_distance]);
        lists.flatten().map(|near| near.word.as_str()).collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearWords {
    by_cosine: Vec<NearWord>,
    by_distance: Vec<NearWord>,
}

impl NearWords {
    /// The nearest first.
    pub fn by(&self, measure: Measure) -> &[NearWord] {
        match measure {
            Measure::Cosine => &self.by_cosine,
            Measure::Distance => &self.by_distance,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NearWord {
    pub word: String,
    /// Row of the vocabulary.
    pub row: usize,
    /// Index into the lesson's groups.
    pub group: Option<usize>,
    pub cosine: f32,
    pub distance: f32,
    /// Missing from the other list.
    pub is_new: bool,
}

impl NearWord {
    pub fn value(&self, measure: Measure) -> f32 {
        match measure {
            Measure::Cosine => self.cosine,
            Measure::Distance => self.distance,
        }
    }
}

/// Neighbours of a token behind a layer, measured when they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNeighbours {
    /// `after layer 2`
    pub title: String,
    pub words: NearWords,
}

impl LayerNeighbours {
    /// Neighbours of a token after a layer, by the layer's number over all blocks.
    pub fn of(snapshot: &Snapshot, (token, block): (usize, usize)) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let reader = EntryReader::of(snapshot)?;
        let state = reader.state(token, block)?;
        let found = near(space, &Matrix::from_row_major(1, state.len(), state), &[None]);
        let before = model.sentence.static_neighbours.get(token)?;
        let words = near_words(space, found.first()?, before);
        let title =
            format!("After {}", HeadLabels::of(model).block(model.architecture.heads_of(block).start).to_lowercase());
        Some(Self { title, words })
    }
}

/// Words near an expression of words such as `king - man + woman`, among the whole vocabulary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearExpression {
    pub words: NearWords,
    /// Why there are none.
    pub fault: Option<String>,
}

impl Model for NearExpression {
    /// The expression, and whether its own words count as answers.
    type Choice = (String, bool);

    fn make(snapshot: &Arc<Snapshot>, (text, with_own): &Self::Choice, _: Option<&Self>) -> Option<Self> {
        let space = snapshot.space.as_ref()?;
        let read = Expression::read(text, |word| space.row_of(word), |word| space.unknown(word));
        Some(match read {
            Ok(expression) => Self { words: near_expression(space, &expression, *with_own), fault: None },
            Err(why) => Self { fault: Some(super::sentence(&why)), ..Self::default() },
        })
    }
}

/// By cosine the words near the sum of the directions, by distance those near the sum of the vectors.
fn near_expression(space: &StaticSpace, expression: &Expression, with_own: bool) -> NearWords {
    let rows = expression.rows();
    let except = if with_own { &[][..] } else { &rows[..] };
    let sums = [true, false].map(|of_length_one| expression.summed(TableRef::from(&*space.vectors), of_length_one));
    let sums = Matrix::from_row_major(sums.len(), space.vectors.cols(), sums.concat());
    let mut found = near_without(space, &sums, &[except, except]).into_iter();
    let by_cosine = found.next().unwrap_or_default().by_cosine;
    let by_distance = found.next().unwrap_or_default().by_distance;
    let both = Neighbours { by_cosine, by_distance };
    near_words(space, &both, &both)
}

impl NeighboursModel {
    /// `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, sentence) = (snapshot.space.as_ref()?, &snapshot.model.as_ref()?.sentence);
        let words = |own: &Neighbours, other: &Neighbours| near_words(space, own, other);
        let pairs = sentence.static_neighbours.iter().zip(&sentence.contextual_neighbours);
        let tokens = token_labels(&sentence.tokens).into_iter().zip(pairs);
        let tokens = tokens.map(|(label, (before, after))| TokenNeighbours {
            label,
            before: words(before, after),
            after: words(after, before),
        });
        Some(Self {
            tokens: tokens.collect(),
            words: Words::of(sentence).map_or_else(Vec::new, |words| cut_words(&words)),
        })
    }
}

fn cut_words(words: &Words) -> Vec<CutWord> {
    let word = |(label, pieces): (String, &Range<usize>)| CutWord { label, first: pieces.start, pieces: pieces.len() };
    words.labels().into_iter().zip(&words.pieces).map(word).collect()
}

fn near_words(space: &StaticSpace, own: &Neighbours, other: &Neighbours) -> NearWords {
    let list = |own: &[Neighbour], other: &[Neighbour]| {
        let near = own.iter().map(|neighbour| NearWord {
            row: neighbour.word,
            word: space.vocabulary[neighbour.word].clone(),
            group: space.group_of[neighbour.word],
            cosine: neighbour.cosine,
            distance: neighbour.distance,
            is_new: other.iter().all(|other| other.word != neighbour.word),
        });
        near.collect()
    };
    NearWords {
        by_cosine: list(&own.by_cosine, &other.by_cosine),
        by_distance: list(&own.by_distance, &other.by_distance),
    }
}

type Point = [f32; 3];

#[derive(Clone, Debug, PartialEq)]
pub struct SensesModel {
    pub word: String,
    /// Why no sentence could have the word.
    pub word_fault: Option<String>,
    /// The stage shows the word in its sentences.
    pub is_on: bool,
    pub rows: Vec<SenseRowModel>,
    /// Scores at the static vectors and after each layer; none until they are measured.
    pub layers: Vec<SenseScores>,
    /// The words on what is still missing, or on how far the work is; `None` where all is measured.
    pub waits_for: Option<String>,
    /// Where the senses part, in a sentence.
    pub said: Option<String>,
    /// Sentences of the lesson with one word in common, for a list that is empty.
    pub suggestion: Option<SenseList>,
    /// The picture leaves dimensions out, so that axes can be fitted to these points.
    pub can_refit: bool,
    /// Letters that the list has, in their order.
    letters: Vec<char>,
    /// The lesson's groups, whose hues come before those of senses.
    groups: usize,
    occurrences: Vec<OccurrenceModel>,
    /// How much of the occurrences the axes show.
    shares: Arc<TokenShares>,
}

/// A sentence of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct SenseRowModel {
    pub text: String,
    pub sense: Option<char>,
    /// A caution, or why it is not measured.
    pub said: Option<String>,
    /// Whether it is not measured, though something is written.
    pub is_left_out: bool,
}

/// A sentence in which the word was found.
#[derive(Clone, Debug, PartialEq)]
struct OccurrenceModel {
    /// Index into the rows.
    sentence: usize,
    /// `3 the bank of`
    label: String,
    sense: Option<char>,
    /// Its places: static, and after each layer.
    stops: Vec<Point>,
    /// The nearest other one, at the same: its sentence, and the cosine.
    nearest: Vec<Option<(usize, f64)>>,
}

/// The sentence in which the word is nearest to that of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestModel {
    pub said: String,
    /// The two have different senses.
    pub is_of_another: bool,
}

/// A line over the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenseCurve {
    Within,
    Between,
    All,
    Nearest,
    Baseline,
}

impl SenseCurve {
    pub fn title(self) -> &'static str {
        match self {
            Self::Within => "same sense",
            Self::Between => "different senses",
            Self::All => "all pairs",
            Self::Nearest => "nearest has the same sense",
            Self::Baseline => "any two tokens",
        }
    }

    /// Its definition.
    pub fn about(self) -> &'static str {
        match self {
            Self::Within => "Mean cosine of the word's vectors over the pairs of sentences with the same sense",
            Self::Between => "Mean cosine of the word's vectors over the pairs of sentences with different senses",
            Self::All => "Mean cosine of the word's vectors over all pairs of sentences",
            Self::Nearest => {
                "Of the sentences that have a sense, the share whose nearest other sentence, by cosine, has the same \
                 sense (leave-one-out 1-nearest-neighbour score; Coenen et al. 2019 compare with the mean of each \
                 sense instead). If several sentences are equally near, the share of these with the same sense \
                 counts"
            }
            Self::Baseline => {
                "The layer's anisotropy (after Ethayarajh 2019): the mean cosine over all pairs of different tokens \
                 in the measured sentences, leaving out special tokens and the first token of each sentence"
            }
        }
    }

    /// The score of a layer, `over` its baseline or as it is.
    pub fn of(self, scores: &SenseScores, over: bool) -> Option<f64> {
        let cosine = match self {
            Self::Within => scores.within,
            Self::Between => scores.between,
            Self::All => scores.all,
            // A share of the sentences: the nearest is the nearest over any baseline.
            Self::Nearest => return scores.nearest,
            Self::Baseline => return scores.baseline.filter(|_| !over),
        };
        if over { cosine.zip(scores.baseline).map(|(cosine, baseline)| cosine - baseline) } else { cosine }
    }
}

impl SensesModel {
    /// `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let senses = &*model.senses;
        let measured = senses.measured.as_deref().filter(|_| senses.is_on);
        let layers: Vec<SenseScores> =
            measured.map_or_else(Vec::new, |measured| measured.layers.iter().map(|layer| layer.scores).collect());
        let alone = alone_of_their_sense(senses);
        let mut letters: Vec<char> = senses.list.sentences.iter().filter_map(|sentence| sentence.sense).collect();
        letters.sort_unstable();
        letters.dedup();
        let row = |(index, (sentence, row)): (usize, (&SenseSentence, &SenseRow))| SenseRowModel {
            text: sentence.text.clone(),
            sense: sentence.sense,
            is_left_out: matches!(row, SenseRow::LeftOut(_)),
            said: said_of(row, sentence.sense.filter(|_| alone.contains(&index))),
        };
        let rows = senses.list.sentences.iter().zip(senses.rows.iter());
        Some(Self {
            word: senses.list.word.clone(),
            word_fault: senses.word_fault.as_ref().map(|why| super::sentence(why)),
            is_on: senses.is_on,
            rows: rows.enumerate().map(row).collect(),
            waits_for: waits_for(senses, model.training.playing),
            said: part(&layers),
            suggestion: senses.list.is_empty().then(|| suggestion(snapshot, model)).flatten(),
            occurrences: measured.map_or_else(Vec::new, |measured| occurrences(senses, measured)),
            shares: senses.shares.clone(),
            can_refit: snapshot.space.as_ref().is_some_and(|space| !space.projection.is_identity()),
            groups: snapshot.lesson.groups.len(),
            letters,
            layers,
        })
    }

    /// The hue of a sense, as an index among those of groups.
    pub fn hue(&self, sense: Option<char>) -> Option<usize> {
        let at = self.letters.iter().position(|letter| Some(*letter) == sense)?;
        Some(self.groups + at)
    }

    /// The sense that a click gives a sentence instead of its own: each that the others have, one more, and none.
    pub fn next_sense(&self, row: usize) -> Option<char> {
        let others = || self.rows.iter().enumerate().filter(move |(at, _)| *at != row).filter_map(|(_, row)| row.sense);
        let new = SENSES.clone().find(|letter| !others().any(|other| other == *letter));
        let own = self.rows.get(row)?.sense;
        others().chain(new).filter(|letter| own.is_none_or(|own| *letter > own)).min()
    }

    /// The points of the stage in words, and where the senses part.
    pub fn about(&self) -> String {
        let said = self.said.as_ref().map_or_else(String::new, |said| format!(" {said}"));
        format!("Each point is “{}” in one of {} sentences.{said}", self.word, self.occurrences.len())
    }

    /// The layers that the word passes.
    pub fn last_layer(&self) -> usize {
        self.layers.len().saturating_sub(1)
    }

    /// The lines that there are: of senses, where some are given.
    pub fn curves(&self) -> Vec<SenseCurve> {
        let has = |curve: &SenseCurve| self.layers.iter().any(|scores| curve.of(scores, false).is_some());
        let of_senses = [SenseCurve::Within, SenseCurve::Between, SenseCurve::Nearest];
        let mut curves: Vec<SenseCurve> = of_senses.into_iter().filter(has).collect();
        if curves.is_empty() {
            curves.push(SenseCurve::All);
        }
        curves.push(SenseCurve::Baseline);
        curves.retain(has);
        curves
    }

    /// The points of a line: layers, and the scores that they have.
    pub fn points(&self, curve: SenseCurve, over: bool) -> Vec<[f64; 2]> {
        let scores = self.layers.iter().enumerate();
        scores.filter_map(|(layer, scores)| Some([layer as f64, curve.of(scores, over)?])).collect()
    }

    /// The nearest other sentence after a layer; none where all are at one place.
    pub fn nearest(&self, row: usize, layer: usize) -> Option<NearestModel> {
        let occurrence = self.occurrences.iter().find(|of| of.sentence == row).filter(|_| layer > 0)?;
        let (sentence, cosine) = (*occurrence.nearest.get(layer)?)?;
        let other = self.rows.get(sentence)?;
        let is_of_another = occurrence.sense.is_some() && other.sense.is_some() && occurrence.sense != other.sense;
        let of = other.sense.map_or_else(String::new, |sense| format!(", of sense {sense}"));
        let said =
            format!("{}, it is nearest to sentence {}{of} (cosine {})", after(layer), sentence + 1, number(cosine));
        Some(NearestModel { said: super::sentence(&said), is_of_another })
    }

    /// The sentence of a point of the stage.
    pub fn sentence_of(&self, point: usize) -> Option<usize> {
        self.occurrences.get(point).map(|of| of.sentence)
    }

    /// There is something for the stage to show.
    pub fn is_shown(&self) -> bool {
        self.is_on && self.occurrences.first().is_some_and(|of| of.stops.len() > 1)
    }
}

/// Sentences that are the only one of their sense, while there is another sense.
fn alone_of_their_sense(senses: &SensesSnapshot) -> Vec<usize> {
    let mut of_sense: BTreeMap<char, Vec<usize>> = BTreeMap::new();
    for (index, (sentence, row)) in senses.list.sentences.iter().zip(senses.rows.iter()).enumerate() {
        if let (SenseRow::Found { .. }, Some(sense)) = (row, sentence.sense) {
            of_sense.entry(sense).or_default().push(index);
        }
    }
    let is_told = of_sense.len() > 1;
    of_sense.into_values().filter(|of| is_told && of.len() == 1).flatten().collect()
}

fn said_of(row: &SenseRow, alone_of: Option<char>) -> Option<String> {
    let said = match row {
        SenseRow::Waiting => return None,
        SenseRow::LeftOut(why) => why.clone(),
        SenseRow::Found { note: Some(SenseNote::Alone), .. } => "a single word has no context".to_owned(),
        SenseRow::Found { note: Some(SenseNote::Repeated(count)), .. } => {
            format!("the word occurs {count} times here; only the first is measured")
        }
        SenseRow::Found { note: Some(SenseNote::SeesNothing), .. } => {
            "in this model, the first word of a sentence cannot see the words after it".to_owned()
        }
        SenseRow::Found { note: None, .. } => {
            let sense = alone_of?;
            format!("this is the only sentence of sense {sense}, so its nearest sentence cannot have the same sense")
        }
    };
    Some(super::sentence(&said))
}

fn waits_for(senses: &SensesSnapshot, is_training: bool) -> Option<String> {
    let found = senses.progress.of;
    let said = if senses.list.word.is_empty() {
        "Write the word whose senses you want to see.".to_owned()
    } else if found < 2 {
        format!("Write at least two sentences with “{}”.", senses.list.word)
    } else if !senses.is_on || senses.is_current {
        return None;
    } else if is_training {
        "The weights are changing, so the sentences are measured again when training pauses.".to_owned()
    } else {
        format!("Measuring: {} of {found} sentences …", senses.progress.done)
    };
    Some(said)
}

/// Where the senses part.
fn part(layers: &[SenseScores]) -> Option<String> {
    let apart = |scores: &SenseScores| Some(scores.within? - scores.between?);
    let widest = layers.iter().enumerate().filter_map(|(layer, scores)| Some((layer, apart(scores)?, scores)));
    let (layer, apart, scores) = widest.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    if apart <= 0.0 {
        return Some(
            "In every layer, sentences of the same sense are no more similar than sentences of different senses."
                .to_owned(),
        );
    }
    let (within, between) = (number(scores.within?), number(scores.between?));
    Some(format!(
        "The senses are furthest apart {}: the mean cosine is {within} within a sense and {between} between \
        senses.",
        after(layer)
    ))
}

/// `after layer 3`; `before all layers`.
pub fn after(layer: usize) -> String {
    if layer == 0 { "before all layers".to_owned() } else { format!("after layer {layer}") }
}

fn occurrences(senses: &SensesSnapshot, measured: &MeasuredSenses) -> Vec<OccurrenceModel> {
    let all = &measured.occurrences;
    let occurrence =
        |(at, of): (usize, &attune_core::kernel::sentence_pass::senses::SenseOccurrence)| OccurrenceModel {
            sentence: of.sentence,
            label: label(&measured.list, of.sentence),
            sense: of.sense,
            stops: senses.points.iter().map(|points| std::array::from_fn(|axis| points.get(at, axis))).collect(),
            nearest: measured
                .layers
                .iter()
                .map(|layer| {
                    let others =
                        (0..all.len()).filter(|other| *other != at).map(|other| (other, layer.cosines.get(at, other)));
                    let best = others.reduce(|best, one| if one.1 > best.1 { one } else { best });
                    best.filter(|(_, cosine)| cosine.is_finite()).map(|(other, cosine)| (all[other].sentence, cosine))
                })
                .collect(),
        };
    all.iter().enumerate().map(occurrence).collect()
}

/// The number of a sentence with the words around the one that is looked at.
fn label(list: &SenseList, sentence: usize) -> String {
    /// Words on each side.
    const AROUND: usize = 1;
    let words: Vec<&str> = list.sentences[sentence].text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let wanted = list.word.to_lowercase();
    let at = words.iter().position(|word| bare(word) == wanted).unwrap_or(0);
    let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(words.len()));
    format!("{} {}", sentence + 1, words[from..to].join(" "))
}

/// The word of the sentence on the stage at a token, as it is written.
pub fn written_at(snapshot: &Snapshot, token: Option<usize>) -> Option<String> {
    let sentence = &snapshot.model.as_ref()?.sentence;
    let pieces =
        word_pieces(&sentence.tokens).into_iter().find(|pieces| token.is_some_and(|at| pieces.contains(&at)))?;
    sentence.written_word(&pieces).map(str::to_owned)
}

/// A list of the lesson's own: the probes of its first word, as many of each sense as there is room for; or else the sentences
/// with the longest word that several have in common with the one on the stage.
fn suggestion(snapshot: &Snapshot, model: &ModelSnapshot) -> Option<SenseList> {
    of_probes(&snapshot.lesson.probes).or_else(|| {
        let texts: Vec<String> = snapshot.lesson.sentences.iter().map(|words| words.join(" ")).collect();
        let with = |word: &String| -> Vec<&String> {
            texts.iter().filter(|text| tokenize(text).contains(word)).take(MEASURED_MAX).collect()
        };
        let ranked = tokenize(&model.sentence.written()).into_iter();
        let ranked =
            ranked.map(|word| (word.chars().count(), with(&word).len(), word)).filter(|(_, count, _)| *count > 1);
        // A word that the lesson is about is rather a long one than an article.
        let (.., word) = ranked.max_by_key(|(length, count, _)| (*length, *count))?;
        let sentence = |text: &String| SenseSentence { text: text.clone(), sense: None };
        Some(SenseList { sentences: with(&word).into_iter().map(sentence).collect(), word })
    })
}

/// The sentence on the stage with one of its words, and the lesson's other sentences that have it too.
pub fn list_with(snapshot: &Snapshot, word: &str) -> Option<SenseList> {
    let own = snapshot.model.as_ref()?.sentence.written();
    let wanted = word.to_lowercase();
    let others = snapshot.lesson.sentences.iter().map(|words| words.join(" ")).filter(|text| *text != own);
    let others = others.filter(|text| tokenize(text).contains(&wanted)).take(MEASURED_MAX - 1);
    let sentence = |text: String| SenseSentence { text, sense: None };
    let sentences = std::iter::once(own.clone()).chain(others).map(sentence).collect();
    Some(SenseList { word: word.to_owned(), sentences })
}

fn of_probes(probes: &[Probe]) -> Option<SenseList> {
    let word = &probes.first()?.word;
    let own = || probes.iter().filter(|probe| probe.word == *word);
    let mut names: Vec<&str> = Vec::new();
    own().for_each(|probe| {
        if !names.contains(&probe.sense.as_str()) {
            names.push(&probe.sense);
        }
    });
    let each = MEASURED_MAX / names.len();
    let of_sense = |(sense, name): (char, &&str)| -> Vec<SenseSentence> {
        let own = own().filter(|probe| probe.sense == **name).take(each);
        own.map(|probe| SenseSentence { text: probe.sentence.join(" "), sense: Some(sense) }).collect()
    };
    let sentences = SENSES.zip(&names).flat_map(of_sense).collect();
    Some(SenseList { word: word.clone(), sentences })
}

impl StageModel {
    /// The same stage with the word in its sentences instead of the words of one sentence.
    #[must_use]
    pub fn of_senses(mut self, senses: &SensesModel) -> Self {
        self.groups.extend(senses.letters.iter().map(|letter| format!("sense {letter}")));
        let point = |(position, of): (usize, &OccurrenceModel)| {
            let [start, end] = [of.stops.first(), of.stops.last()].map(|at| at.copied().unwrap_or_default());
            TokenPoint { group: senses.hue(of.sense), ..TokenPoint::moving(of.label.clone(), position, start, end) }
        };
        let points = senses.occurrences.iter().enumerate().map(point).collect();
        let wanted = senses.word.to_lowercase();
        let is_wanted = |word: &usize| self.words[*word].text.to_lowercase() == wanted;
        let in_sentence = (0..self.words.len()).filter(is_wanted).collect();
        self.shares.tokens = senses.shares.clone();
        self.showing(points, SecondKind::Senses(senses.word.clone()), in_sentence)
    }
}

impl SensesModel {
    /// The places of a point of the stage before a layer and after it.
    pub fn way(&self, point: usize, layer: usize) -> Option<(Point, Point)> {
        let stops = &self.occurrences.get(point)?.stops;
        Some((*stops.get(layer)?, *stops.get(layer + 1)?))
    }
}
