//! Words with near meanings. For a token, these are its neighbours before and after attention. For the senses of one
//! word, there are the sentences of a list, the distances of the word's occurrences after each layer, and the layer at
//! which the senses separate.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::near::{near, near_without};
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

use super::axes::ends;
use super::labels::HeadLabels;
use super::pieces::Words;
use super::stage::{SecondKind, StageModel, TokenPoint};
use super::{Model, number};
use crate::explain::reader::EntryReader;

#[derive(Clone, Debug, PartialEq)]
pub struct NeighboursModel {
    /// The names of the two lists, of neighbours before and after the layers.
    pub ends: [&'static str; 2],
    pub tokens: Vec<TokenNeighbours>,
    /// All words with their pieces; empty if every word is a single piece.
    pub words: Vec<CutWord>,
}

/// A word with its pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct CutWord {
    pub label: String,
    /// The position of its first piece, whose neighbours are shown.
    pub first: usize,
    pub pieces: usize,
}

impl CutWord {
    /// Returns a note that the neighbours shown are those of the first piece; `None` for a word of a single piece.
    pub fn note(&self, tokens: &[TokenNeighbours]) -> Option<String> {
        let Self { label, first, pieces } = self;
        let piece = &tokens.get(*first)?.label;
        (*pieces > 1).then(|| {
            format!("“{label}” is cut into {pieces} pieces. These are the words near its first piece, “{piece}”.")
        })
    }
}

/// The neighbours of one token.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenNeighbours {
    pub label: String,
    pub before: NearWords,
    pub after: NearWords,
}

impl TokenNeighbours {
    /// Returns the neighbours in both lists by both measures; words may be repeated.
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
    /// Returns the neighbours by a measure, the nearest first.
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
    /// The word's row in the vocabulary.
    pub row: usize,
    /// The index of the word's group among the lesson's groups.
    pub group: Option<usize>,
    pub cosine: f32,
    pub distance: f32,
    /// Whether the word is missing from the list at the other end of the layers.
    pub is_new: bool,
}

impl NearWord {
    /// Returns a neighbour with its name and its group; `is_new` says whether the list at the other end lacks it.
    pub fn of(space: &StaticSpace, near: &Neighbour, is_new: bool) -> Self {
        let Neighbour { word: row, cosine, distance } = *near;
        Self { word: space.vocabulary[row].clone(), row, group: space.group_of[row], cosine, distance, is_new }
    }

    pub fn value(&self, measure: Measure) -> f32 {
        match measure {
            Measure::Cosine => self.cosine,
            Measure::Distance => self.distance,
        }
    }
}

/// The neighbours of a token after a layer, which are computed on request.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNeighbours {
    /// The title, such as `After layer 2`.
    pub title: String,
    pub words: NearWords,
}

impl LayerNeighbours {
    /// Finds the neighbours of a token after a block, which is counted over all blocks; `None` if there is no such
    /// token or block.
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

/// The words near an expression such as `king - man + woman`, in the whole vocabulary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearExpression {
    pub words: NearWords,
    /// The reason why the expression has no neighbours.
    pub fault: Option<String>,
}

impl Model for NearExpression {
    /// The expression, and whether its own words may be among the results.
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

/// Finds the nearest words by both measures: by cosine to the sum of unit vectors, and by distance to the sum of
/// vectors.
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
    /// Returns the neighbours; `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let sentence = &model.sentence;
        let words = |own: &Neighbours, other: &Neighbours| near_words(space, own, other);
        let pairs = sentence.static_neighbours.iter().zip(&sentence.contextual_neighbours);
        let tokens = token_labels(&sentence.tokens).into_iter().zip(pairs);
        let tokens = tokens.map(|(label, (before, after))| TokenNeighbours {
            label,
            before: words(before, after),
            after: words(after, before),
        });
        Some(Self {
            ends: ends(model.recorded.is_some()),
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
        let is_new = |near: &Neighbour| other.iter().all(|other| other.word != near.word);
        own.iter().map(|near| NearWord::of(space, near, is_new(near))).collect()
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
    /// The reason why no sentence can have the word.
    pub word_fault: Option<String>,
    /// Whether the stage shows the occurrences of the word.
    pub is_on: bool,
    pub rows: Vec<SenseRowModel>,
    /// The scores before the first layer and after each layer; empty until they are measured.
    pub layers: Vec<SenseScores>,
    /// A text on what is missing, or on the progress; `None` when everything is measured.
    pub waits_for: Option<String>,
    /// A sentence on the layer at which the senses are furthest apart.
    pub said: Option<String>,
    /// Sentences of the lesson with a common word, suggested while the list is empty.
    pub suggestion: Option<SenseList>,
    /// Whether the picture leaves dimensions out, so that axes can be fitted to these points.
    pub can_refit: bool,
    /// The letters of the senses that occur in the list, in alphabetical order.
    letters: Vec<char>,
    /// The number of the lesson's groups, whose hues come before those of senses.
    groups: usize,
    occurrences: Vec<OccurrenceModel>,
    /// The shares of the occurrences' variance that the axes show.
    shares: Arc<TokenShares>,
}

/// A sentence of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct SenseRowModel {
    pub text: String,
    pub sense: Option<char>,
    /// A warning, or the reason why the sentence is not measured; `None` if there is nothing to say.
    pub said: Option<String>,
    /// Whether the sentence is not measured although it is not empty.
    pub is_left_out: bool,
}

/// An occurrence of the word in one of the sentences.
#[derive(Clone, Debug, PartialEq)]
struct OccurrenceModel {
    /// The index of the sentence in the list.
    sentence: usize,
    /// The label, such as `3 the bank of`: the number of the sentence and the words around.
    label: String,
    sense: Option<char>,
    /// The points before the first layer and after each layer.
    stops: Vec<Point>,
    /// The sentence of the nearest other occurrence and their cosine, before the first layer and after each layer.
    nearest: Vec<Option<(usize, f64)>>,
}

/// The nearest other occurrence of the word, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestModel {
    pub said: String,
    /// Whether the two occurrences have different senses.
    pub is_of_another: bool,
}

/// A score of the occurrences as a curve over the layers.
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

    /// Returns the definition of the curve.
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

    /// Returns the score of a layer, minus its baseline if `over` is true.
    pub fn of(self, scores: &SenseScores, over: bool) -> Option<f64> {
        let cosine = match self {
            Self::Within => scores.within,
            Self::Between => scores.between,
            Self::All => scores.all,
            // The share of sentences has no baseline.
            Self::Nearest => return scores.nearest,
            Self::Baseline => return scores.baseline.filter(|_| !over),
        };
        if over { cosine.zip(scores.baseline).map(|(cosine, baseline)| cosine - baseline) } else { cosine }
    }
}

impl SensesModel {
    /// Returns the senses; `None` until there is a model.
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

    /// Returns the hue of a sense, as an index after those of the groups; `None` if the list does not have the sense.
    pub fn hue(&self, sense: Option<char>) -> Option<usize> {
        let at = self.letters.iter().position(|letter| Some(*letter) == sense)?;
        Some(self.groups + at)
    }

    /// Returns the sense that a click gives to a sentence. Clicks go in order through the senses of the other
    /// sentences, a new sense, and none.
    pub fn next_sense(&self, row: usize) -> Option<char> {
        let others = || self.rows.iter().enumerate().filter(move |(at, _)| *at != row).filter_map(|(_, row)| row.sense);
        let new = SENSES.clone().find(|letter| !others().any(|other| other == *letter));
        let own = self.rows.get(row)?.sense;
        others().chain(new).filter(|letter| own.is_none_or(|own| *letter > own)).min()
    }

    /// Describes the points on the stage, and says where the senses separate.
    pub fn about(&self) -> String {
        let said = self.said.as_ref().map_or_else(String::new, |said| format!(" {said}"));
        format!("Each point is “{}” in one of {} sentences.{said}", self.word, self.occurrences.len())
    }

    /// Returns the index of the last layer, where 0 stands for the vectors before the first layer.
    pub fn last_layer(&self) -> usize {
        self.layers.len().saturating_sub(1)
    }

    /// Returns the curves that have scores; curves about senses need sentences with senses.
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

    /// Returns the points of a curve: the index of each layer with a score, and the score.
    pub fn points(&self, curve: SenseCurve, over: bool) -> Vec<[f64; 2]> {
        let scores = self.layers.iter().enumerate();
        scores.filter_map(|(layer, scores)| Some([layer as f64, curve.of(scores, over)?])).collect()
    }

    /// Returns the nearest other occurrence after a layer; `None` before the first layer, and if no cosine is known.
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

    /// Returns the index of the sentence to which a point on the stage belongs.
    pub fn sentence_of(&self, point: usize) -> Option<usize> {
        self.occurrences.get(point).map(|of| of.sentence)
    }

    /// Returns whether the stage shows the occurrences.
    pub fn is_shown(&self) -> bool {
        self.is_on && self.occurrences.first().is_some_and(|of| of.stops.len() > 1)
    }
}

/// Returns the indices of sentences that are the only ones of their sense; empty unless there are several senses.
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

/// Describes where the senses are furthest apart; `None` if they cannot be compared.
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

/// Returns `after layer 3`, or `before all layers`.
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

/// Returns a label with the number of a sentence, the word, and the words around it.
fn label(list: &SenseList, sentence: usize) -> String {
    /// The number of words on each side.
    const AROUND: usize = 1;
    let words: Vec<&str> = list.sentences[sentence].text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let wanted = list.word.to_lowercase();
    let at = words.iter().position(|word| bare(word) == wanted).unwrap_or(0);
    let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(words.len()));
    format!("{} {}", sentence + 1, words[from..to].join(" "))
}

/// Returns the word to which a token of the sentence on the stage belongs, as it was written; `None` if no token is
/// given.
pub fn written_at(snapshot: &Snapshot, token: Option<usize>) -> Option<String> {
    let sentence = &snapshot.model.as_ref()?.sentence;
    let pieces =
        word_pieces(&sentence.tokens).into_iter().find(|pieces| token.is_some_and(|at| pieces.contains(&at)))?;
    sentence.written_word(&pieces).map(str::to_owned)
}

/// Suggests a list from the lesson: the probes of its first word, with equally many of each sense as far as possible;
/// or else the sentences that share the longest possible word with the sentence on the stage.
fn suggestion(snapshot: &Snapshot, model: &ModelSnapshot) -> Option<SenseList> {
    of_probes(&snapshot.lesson.probes).or_else(|| {
        let texts: Vec<String> = snapshot.lesson.sentences.iter().map(|words| words.join(" ")).collect();
        let with = |word: &String| -> Vec<&String> {
            texts.iter().filter(|text| tokenize(text).contains(word)).take(MEASURED_MAX).collect()
        };
        let ranked = tokenize(&model.sentence.written()).into_iter();
        let ranked =
            ranked.map(|word| (word.chars().count(), with(&word).len(), word)).filter(|(_, count, _)| *count > 1);
        // Long words are preferred, because a lesson is more likely to be about one of them than about an article.
        let (.., word) = ranked.max_by_key(|(length, count, _)| (*length, *count))?;
        let sentence = |text: &String| SenseSentence { text: text.clone(), sense: None };
        Some(SenseList { sentences: with(&word).into_iter().map(sentence).collect(), word })
    })
}

/// Returns a list for a word: the sentence on the stage, and the lesson's other sentences with that word.
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
    /// Returns the stage with the occurrences of the word instead of the words of one sentence.
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
    /// Returns the points of an occurrence before and after a layer; `None` if there is no such point or layer.
    pub fn way(&self, point: usize, layer: usize) -> Option<(Point, Point)> {
        let stops = &self.occurrences.get(point)?.stops;
        Some((*stops.get(layer)?, *stops.get(layer + 1)?))
    }
}
