//! The points of the stage, all in the current basis: the words of the vocabulary at rest, and the tokens, which move.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::sentence_pass::meaning::is_telling;
use attune_core::kernel::snapshot::meaning::MeaningEnd;
use attune_core::kernel::snapshot::sentence::{label, occurrence, token_labels};
pub use attune_core::kernel::snapshot::space::reach;
use attune_core::kernel::snapshot::{
    ModelSnapshot, Neighbours, Pair, PairedWord, Replaced, SentenceSnapshot, Snapshot, StaticSpace, Token,
};
use attune_core::lesson::Recipe;
use attune_core::lesson::cells::CellKind;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::moves::point;
use attune_engine::numerics::projection::AXES;

use super::axes::{StageShares, about, is_of_states, names, short};
use super::gauge::GaugeModel;

/// The data that the 3D view draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageModel {
    /// The vocabulary, at its static positions.
    pub words: WordTable,
    /// The rows of the words in the sentences, which mark the static points of the moving ones.
    pub in_sentence: BTreeSet<usize>,
    /// The tokens of the current sentence, which move from static to contextual.
    pub tokens: Vec<TokenPoint>,
    /// The words of the source, in the same space and on the same axes; empty if there is none.
    pub source: Vec<SourceWord>,
    /// Points that are shown beside the sentence, or instead of it, depending on [`SecondKind`].
    pub second: Vec<TokenPoint>,
    pub second_kind: SecondKind,
    /// The words in both sentences, the least similar after attention first.
    pub shared: Vec<PairedWord>,
    /// The names of the lesson's groups, in the order of their colours.
    pub groups: Vec<String>,
    /// The ends of the axis with a meaning, which take the first colours of groups; empty if there is no such axis.
    pub ends: Vec<StageEnd>,
    /// The labels of the axes: three, or as many as the vectors have dimensions.
    pub axes: Vec<AxisLabel>,
    /// The shares of the drawn points' variance that the axes show.
    pub shares: StageShares,
    /// A text on how the axes were chosen, and through which norm the picture is seen.
    pub about: String,
    /// Whether the axes are the vectors' own dimensions, without a projection.
    pub is_whole: bool,
    /// Words and tokens at their points before the lesson was trained again, scaled to the current picture.
    pub ghosts: Vec<GhostPoint>,
    /// Whether each word is one point, in the middle of its pieces.
    pub is_of_words: bool,
    /// Whether words outside of the sentence are shown only on request, because the table of a pretrained model has too
    /// many of them.
    pub hides_table: bool,
    /// Whether the points start at recorded hidden states and not at a table of words.
    pub is_recorded: bool,
    /// The origin of unedited weights: *trained*, *given* or *drawn*.
    pub origin: &'static str,
    /// A warning about reading the picture.
    pub note: Option<String>,
    /// The scale of the picture, fixed for the lesson. For a lesson with its own words, it is the radius that contains
    /// them all.
    pub radius: f32,
}

/// An end of the axis with a meaning, with the points of its word and of the words near it after the layers.
#[derive(Clone, Debug, PartialEq)]
pub struct StageEnd {
    pub name: String,
    pub points: Vec<[f32; 3]>,
}

impl StageEnd {
    fn both(space: &StaticSpace) -> Vec<Self> {
        let of = |end: &MeaningEnd| {
            let vectors: Vec<f32> = end.words.iter().flat_map(|word| word.seen.iter().copied()).collect();
            let vectors = Matrix::from_row_major(end.words.len(), space.vectors.cols(), vectors);
            let points = space.projection.points(&vectors);
            Self { name: short(&end.name), points: (0..points.rows()).map(|row| point(points.row(row))).collect() }
        };
        space.basis.meaning().map_or_else(Vec::new, |meaning| meaning.ends.iter().map(of).collect())
    }
}

/// A word of the source, with its points at the beginning and at the end of a move.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceWord {
    pub label: String,
    pub group: Option<usize>,
    pub from: [f32; 3],
    pub to: [f32; 3],
}

/// Returns the words of the source with their points at two stops; empty if there is no source. After the last stop,
/// the words do not move.
pub fn source_words(space: &StaticSpace, sentence: &SentenceSnapshot, [from, to]: [usize; 2]) -> Vec<SourceWord> {
    let (Some(tokens), Some(last)) = (&sentence.source, sentence.source_points.len().checked_sub(1)) else {
        return Vec::new();
    };
    let at = |stop: usize, row| point(sentence.source_points[stop.min(last)].row(row));
    let word = |(row, (token, label)): (usize, (&Token, String))| SourceWord {
        label,
        group: token.word.and_then(|word| space.group_of[word]),
        from: at(from, row),
        to: at(to, row),
    };
    tokens.iter().zip(token_labels(tokens)).enumerate().map(word).collect()
}

/// The kind of the points that do not belong to the sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SecondKind {
    /// The second sentence of a comparison.
    #[default]
    Sentence,
    /// The occurrences of this word in several sentences, instead of both sentences.
    Senses(String),
    /// Words that move to another space, instead of the sentence.
    Spaces,
}

/// A point that a token should reach. The loss is half the squared distance, and its negative gradient points to the
/// goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    pub token: usize,
    pub to: [f32; 3],
    pub loss: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TokenPoint {
    pub text: String,
    /// The position in the sentence, counted from 0.
    pub position: usize,
    /// The number of the occurrence of a repeated word, counted from 1; `None` for a word that occurs once.
    pub occurrence: Option<usize>,
    pub group: Option<usize>,
    /// The row in the vocabulary; `None` for a point that is not a word of it.
    pub word: Option<usize>,
    /// The static position, at which the word stays marked while the point moves.
    pub static_at: [f32; 3],
    /// The start of the move: the static position, or the one before the shown layer.
    pub start: [f32; 3],
    /// The contextual position with the weights in use.
    pub end: [f32; 3],
    /// The contextual point with the trained weights, which equals `end` until weights are changed.
    pub trained_end: [f32; 3],
    /// The group of the end of the gauge towards which the word has moved, once it is on that end's half; `None` if
    /// there is no such end, or if the end is no group.
    pub reaches: Option<usize>,
    /// Whether the tokenizer added the piece, such as `[CLS]`.
    pub is_added: bool,
    /// The number of pieces that the point stands for.
    pub pieces: usize,
    /// The text of the first piece, if the point stands for a word of several pieces.
    pub first_piece: Option<String>,
    /// Whether this piece has no point, because the first piece of its word stands for the whole word.
    pub is_part: bool,
    /// The nearest other word to the static vector, by cosine, with the cosine.
    pub static_nearest: Option<(String, f32)>,
    /// The nearest other word to the contextual vector, by cosine, with the cosine.
    pub contextual_nearest: Option<(String, f32)>,
}

impl TokenPoint {
    /// Returns the group of the end whose hue the point takes; `None` if the point reaches no end, or has the colour of
    /// its own group.
    pub fn goal(&self) -> Option<usize> {
        self.reaches.filter(|_| self.group.is_none())
    }

    /// Creates a point for a whole word that moves from one point to another and belongs to no vocabulary.
    pub fn moving(text: String, position: usize, start: [f32; 3], end: [f32; 3]) -> Self {
        Self {
            text,
            position,
            occurrence: None,
            group: None,
            word: None,
            static_at: start,
            start,
            end,
            trained_end: end,
            reaches: None,
            is_added: false,
            pieces: 1,
            first_piece: None,
            is_part: false,
            static_nearest: None,
            contextual_nearest: None,
        }
    }

    /// Returns the position at `time` in [0, 1], on the straight line from static to contextual.
    pub fn at(&self, time: f32) -> [f32; 3] {
        // The form `start + time (end − start)` might not give exactly `end` at time 1.
        std::array::from_fn(|axis| (1.0 - time) * self.start[axis] + time * self.end[axis])
    }

    /// Returns the text of the piece, or of its word's first piece.
    pub fn piece_text(&self) -> &str {
        self.first_piece.as_ref().unwrap_or(&self.text)
    }

    /// Returns the label: `apple`, or `apple₂` if the sentence has the word more than once.
    pub fn label(&self) -> String {
        label(&self.text, self.occurrence)
    }
}

/// A point as it was before the lesson was trained again.
#[derive(Clone, Debug, PartialEq)]
pub struct GhostPoint {
    pub text: String,
    pub group: Option<usize>,
    /// The static position.
    pub start: [f32; 3],
    /// The contextual position; the static one for a word that is not in the sentence.
    pub end: [f32; 3],
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxisLabel {
    pub name: String,
    /// For a chosen axis, the words at its negative and at its positive end; `None` for any other axis.
    pub ends: Option<(String, String)>,
}

impl AxisLabel {
    fn all(space: &StaticSpace) -> Vec<Self> {
        let ends = |axis: usize| space.basis.ends(axis).map(|[from, to]| (short(from), short(to)));
        let axes = names(space).into_iter().enumerate().take(space.projection.dimensions());
        axes.map(|(axis, name)| Self { name, ends: ends(axis) }).collect()
    }
}

/// The radius of the picture in standard deviations, for a pretrained model, a recording or a file of vectors.
const DEVIATIONS: f32 = 2.5;

impl StageModel {
    /// Returns the shared word to show, in the order of preference of [`wanted`]; `None` if no word is shared.
    pub fn chosen_pair(&self, query: Option<usize>, second: Option<usize>, lit: &[String]) -> Option<&PairedWord> {
        let wanted = |pair: &&PairedWord| wanted(pair, query, second, lit.contains(&self.tokens[pair.first].text));
        self.shared.iter().rev().max_by_key(wanted)
    }

    /// Returns the lines that a stage cell draws between words, as pairs of their rows; empty for other cells.
    pub fn lines_of(&self, cell: &CellKind) -> Vec<[usize; 2]> {
        let CellKind::Stage { lines, .. } = cell else { return Vec::new() };
        let word = |text: &String| self.words.find(text).first().copied();
        lines.iter().filter_map(|(from, to)| Some([word(from)?, word(to)?])).collect()
    }

    /// Returns the goals that a stage cell sets; empty for other cells. Their loss is computed in the space of all
    /// dimensions.
    pub fn goals_of(&self, cell: &CellKind, snapshot: &Snapshot) -> Vec<Goal> {
        let (CellKind::Stage { goals, .. }, Some(space), Some(model)) = (cell, &snapshot.space, &snapshot.model) else {
            return Vec::new();
        };
        let goal = |(from, to): &(String, String)| {
            let token = self.tokens.iter().find(|token| token.text == *from)?.position;
            let word = *self.words.find(to).first()?;
            let output = model.sentence.activations.output.row(token).iter().enumerate();
            let squares = output.map(|(entry, y)| (y - space.vectors.get(word, entry)).powi(2));
            Some(Goal { token, to: self.words[word].at, loss: squares.sum::<f32>() / 2.0 })
        };
        goals.iter().filter_map(goal).collect()
    }

    /// Returns the index of a token's point; that of the first piece, if the word is a single point.
    pub fn point_of(&self, token: usize) -> Option<usize> {
        self.tokens.get(..=token)?.iter().rposition(|token| !token.is_part)
    }

    /// Returns whether the picture opens in 2D, which it does if exactly two axes are chosen. With one, it can be read
    /// in 3D too, and with three, one of them is visible only in 3D.
    pub fn opens_flat(&self) -> bool {
        self.axes.iter().filter(|axis| axis.ends.is_some()).count() == AXES - 1
    }

    /// Returns whether attention moves a point, with the weights in use or the trained ones; also `true` while there
    /// are no points.
    pub fn has_moves(&self) -> bool {
        let tokens = || self.tokens.iter().chain(&self.second);
        let is_moved = |token: &TokenPoint| [token.end, token.trained_end].iter().any(|at| *at != token.static_at);
        tokens().next().is_none() || tokens().any(is_moved)
    }

    /// Returns whether the points must return to the start: if another sentence is shown, if all changes were reset, or
    /// if all layers are shown after a single one.
    pub fn rests_after(&self, before: &StageModel) -> bool {
        let texts = |model: &StageModel| -> Vec<String> {
            model.tokens.iter().chain(&model.second).map(|token| token.text.clone()).collect()
        };
        texts(self) != texts(before)
            || (before.is_changed() && !self.is_changed())
            || (before.is_of_layer() && !self.is_of_layer())
    }

    /// Returns whether the points show their movement in one layer instead of all.
    pub fn is_of_layer(&self) -> bool {
        self.shares.layer.is_some()
    }

    /// Returns whether a changed weight or an intervention moves a token.
    fn is_changed(&self) -> bool {
        self.tokens.iter().any(|token| token.end != token.trained_end)
    }

    /// Returns the stage with other points instead of the sentence, its source and its second points.
    pub(super) fn showing(self, second: Vec<TokenPoint>, kind: SecondKind, in_sentence: BTreeSet<usize>) -> Self {
        let (tokens, shared, ghosts) = (Vec::new(), Vec::new(), Vec::new());
        Self { second, second_kind: kind, in_sentence, tokens, shared, ghosts, source: Vec::new(), ..self }
    }

    /// Returns the name at a glow with the colour of a group: that of an end of the axis, or else that of the group;
    /// empty if there is neither.
    pub fn glow_name(&self, group: usize) -> &str {
        let of_end = self.ends.get(group).map(|end| &end.name);
        of_end.or(self.groups.get(group)).map_or("", String::as_str)
    }

    /// Returns whether a word of the vocabulary is in one of the sentences.
    #[inline]
    pub fn is_in_sentence(&self, word: usize) -> bool {
        self.in_sentence.contains(&word)
    }

    /// Builds the stage; `None` until the static vectors are trained.
    pub fn of(snapshot: &Snapshot) -> Option<StageModel> {
        Self::after(snapshot, None)
    }

    /// Builds the stage; `None` until the static vectors are trained. The words of `before` are shared if the space is
    /// the same.
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<StageModel> {
        let space = snapshot.space.as_ref()?;
        let sentence = snapshot.model.as_ref().map(|model| &*model.sentence);
        let second = snapshot.model.as_ref().and_then(|model| model.second.as_deref());
        let shown = sentence.into_iter().chain(second.map(|second| &*second.other));
        let in_sentence = shown.flat_map(|sentence| &sentence.tokens).filter_map(|token| token.word).collect();
        let known = before.map(|before| &before.words).filter(|words| words.is_of(space));
        let words = known.cloned().unwrap_or_else(|| WordTable::of(space));
        let is_read = is_of_states(&snapshot.lesson.static_embedding);
        // Layers may move points far away from the words, so the scale is that of the vectors to which the axes were
        // fitted.
        let is_table = is_read || snapshot.lesson.static_embedding.is_whole_file();
        let radius = match is_table {
            // The deviation is 0 if there are no states, or if all are equal.
            true => (DEVIATIONS * space.projection.deviation()).max(f32::MIN_POSITIVE),
            false => space.at_end.as_ref().map_or(words.reach(), |_| space.reach()),
        };
        let mut tokens = sentence.map_or_else(Vec::new, |sentence| token_points(space, sentence));
        if let Some(gauge) = GaugeModel::of(snapshot) {
            // In a real text, function words and added pieces keep their neutral colour.
            let is_telling = |token: &TokenPoint| !is_read || !token.is_added && is_telling(&token.text);
            let told = tokens.iter_mut().zip(&gauge.marks).filter(|(token, _)| is_telling(token));
            told.for_each(|(token, mark)| token.reaches = gauge.reached(mark));
        }
        let ends = StageEnd::both(space);
        let is_without = is_read && ends.is_empty() && space.basis.chosen.iter().all(Option::is_none);
        let has_no_meaning = (is_without && !tokens.is_empty()).then(|| NO_MEANING.to_owned());
        let is_new_space = snapshot.model.as_ref().is_some_and(|model| !model.recipe.has_space_of(&Recipe::default()));
        Some(StageModel {
            words,
            in_sentence,
            tokens,
            source: sentence.map_or_else(Vec::new, |sentence| source_words(space, sentence, [0, usize::MAX])),
            second: second.map_or_else(Vec::new, |second| token_points(space, &second.other)),
            second_kind: SecondKind::Sentence,
            shared: second.map_or_else(Vec::new, Pair::least_alike_first),
            groups: snapshot.lesson.groups.iter().map(|group| group.name.clone()).collect(),
            ends,
            axes: AxisLabel::all(space),
            shares: StageShares::of(snapshot),
            about: about(snapshot),
            is_whole: space.projection.is_identity(),
            is_of_words: false,
            hides_table: is_read,
            is_recorded: snapshot.lesson.static_embedding.recording().is_some(),
            ghosts: ghosts(snapshot, radius),
            origin: snapshot.model.as_ref().map_or("trained", ModelSnapshot::weights_origin),
            note: is_new_space.then(|| format!("Retrained space, {}.", picture_of_retrained(space))).or(has_no_meaning),
            radius,
        })
    }
}

/// The note on a picture without an axis that has a meaning.
const NO_MEANING: &str = "These axes have no meaning of their own.";

/// Describes how the axes of a retrained space are chosen.
pub fn picture_of_retrained(space: &StaticSpace) -> &'static str {
    let projection = &space.projection;
    match (projection.is_turned(), projection.is_chosen()) {
        (true, false) => "turned to match the lesson's picture",
        (true, true) => "along the same chosen axes, with the others turned to match the lesson's picture",
        (false, _) if space.basis.fitted.is_some() => "along the axes that you fitted to it",
        (false, _) => "along the same axes",
    }
}

/// Returns the points of a sentence's tokens.
fn token_points(space: &StaticSpace, sentence: &SentenceSnapshot) -> Vec<TokenPoint> {
    let texts: Vec<&str> = sentence.tokens.iter().map(|t| t.text.as_str()).collect();
    let token_point = |(i, token): (usize, &Token)| TokenPoint {
        occurrence: occurrence(&texts, i),
        group: token.word.and_then(|word| space.group_of[word]),
        word: token.word,
        trained_end: point(sentence.trained_end.row(i)),
        is_added: sentence.tokens[i].is_added(),
        static_nearest: nearest_word(space, &sentence.static_neighbours[i]),
        contextual_nearest: nearest_word(space, &sentence.contextual_neighbours[i]),
        ..TokenPoint::moving(token.text.clone(), i, point(sentence.start.row(i)), point(sentence.end.row(i)))
    };
    sentence.tokens.iter().enumerate().map(token_point).collect()
}

/// Returns the first words of a group, at most as many as are needed to show where the group is; `None` if there are
/// too few.
pub fn crowd_of<T>(words: impl Iterator<Item = T>) -> Option<Vec<T>> {
    const LEAST: usize = 3;
    const MOST: usize = 64;
    let crowd: Vec<T> = words.take(MOST).collect();
    (crowd.len() >= LEAST).then_some(crowd)
}

/// Returns the points, before the lesson was trained again, of the words with a group and of the sentence if it is the
/// same, at the scale of the current picture; empty if there is nothing to compare.
fn ghosts(snapshot: &Snapshot, radius_now: f32) -> Vec<GhostPoint> {
    // With the lesson's own recipe, there is nothing to compare with.
    let Some(model) = snapshot.model.as_ref().filter(|model| !model.recipe.is_default()) else { return Vec::new() };
    // With other axes, the old positions would not be comparable.
    let is_seen = |old: &&Arc<Replaced>| snapshot.space.as_ref().is_some_and(|space| space.basis == old.space.basis);
    let Some(old) = model.replaced.as_ref().filter(is_seen) else { return Vec::new() };
    let scale = radius_now / old.space.reach();
    let at = |points: &Matrix<f32>, row: usize| point(points.row(row)).map(|x| x * scale);
    let grouped = old.space.vocabulary.iter().enumerate().filter_map(|(word, text)| {
        let group = old.space.group_of[word]?;
        let at = at(&old.space.points, word);
        Some(GhostPoint { text: text.clone(), group: Some(group), start: at, end: at })
    });
    let is_same = old.sentence.tokens == model.sentence.tokens;
    let tokens = old.sentence.tokens.iter().enumerate().filter(|_| is_same).map(|(i, token)| GhostPoint {
        text: token.text.clone(),
        group: token.word.and_then(|word| old.space.group_of[word]),
        start: at(&old.sentence.start, i),
        end: at(&old.sentence.end, i),
    });
    grouped.chain(tokens).collect()
}

/// Returns the rank of a pair, for the choice of the one to show; among equal pairs, the first is chosen. The pair of
/// the query and the chosen position in the second sentence ranks highest, then pairs of the query, then pairs with a
/// highlighted word.
pub fn wanted(pair: &PairedWord, query: Option<usize>, second: Option<usize>, is_lit: bool) -> impl Ord + use<> {
    let is_query = query == Some(pair.first);
    (is_query && second == Some(pair.second), is_query, is_lit)
}

/// Returns the nearest word by cosine, and the cosine; `None` if there is no neighbour.
pub(super) fn nearest_word(space: &StaticSpace, neighbours: &Neighbours) -> Option<(String, f32)> {
    neighbours.by_cosine.first().map(|near| (space.vocabulary[near.word].clone(), near.cosine))
}

#[derive(Clone, Debug, PartialEq)]
pub struct WordPoint {
    pub text: String,
    /// The index of the word's group among the lesson's groups, which determines the colour.
    pub group: Option<usize>,
    pub at: [f32; 3],
}

/// The vocabulary at its static positions. Clones share the data.
#[derive(Clone, Debug)]
pub struct WordTable(Arc<Table>);

#[derive(Debug)]
struct Table {
    words: Vec<WordPoint>,
    /// The rows of the words with a group, in the order of the vocabulary.
    grouped: Vec<usize>,
    /// The rows of the words whose point is not finite.
    lost: Vec<usize>,
    /// The distance of the farthest word from the origin.
    reach: f32,
    /// The alphabetical order of the words of a table without a space; a space has the order of its own words.
    by_alphabet: OnceLock<Box<[usize]>>,
    /// The space of the words.
    space: Option<Arc<StaticSpace>>,
}

impl WordTable {
    pub fn of(space: &Arc<StaticSpace>) -> Self {
        let word = |(word, text): (usize, &String)| WordPoint {
            text: text.clone(),
            group: space.group_of[word],
            at: point(space.points.row(word)),
        };
        Self::new(space.vocabulary.iter().enumerate().map(word).collect(), Some(space.clone()))
    }

    fn new(words: Vec<WordPoint>, space: Option<Arc<StaticSpace>>) -> Self {
        let grouped = (0..words.len()).filter(|&word| words[word].group.is_some()).collect();
        let is_lost = |word: &usize| !words[*word].at.iter().all(|x| x.is_finite());
        let lost = (0..words.len()).filter(is_lost).collect();
        let reach = reach(words.iter().map(|word| word.at));
        Self(Arc::new(Table { words, grouped, lost, reach, by_alphabet: OnceLock::new(), space }))
    }

    pub fn is_of(&self, space: &Arc<StaticSpace>) -> bool {
        self.0.space.as_ref().is_some_and(|own| Arc::ptr_eq(own, space))
    }

    /// Returns whether the two tables share their data.
    pub fn is_shared(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the rows of the words with a group, in the order of the vocabulary.
    pub fn grouped(&self) -> &[usize] {
        &self.0.grouped
    }

    /// Returns the rows of the words whose point is not finite.
    pub fn lost(&self) -> &[usize] {
        &self.0.lost
    }

    /// Returns the distance of the farthest word from the origin.
    pub fn reach(&self) -> f32 {
        self.0.reach
    }

    /// Returns the rows of the words with exactly this text.
    pub fn find(&self, text: &str) -> &[usize] {
        let own = || -> &[usize] {
            self.0.by_alphabet.get_or_init(|| {
                let mut words: Box<[usize]> = (0..self.len()).collect();
                words.sort_by(|&a, &b| self[a].text.cmp(&self[b].text));
                words
            })
        };
        let alphabetic = self.0.space.as_ref().map_or_else(own, |space| space.alphabetic());
        let rest = &alphabetic[alphabetic.partition_point(|&word| *self[word].text < *text)..];
        &rest[..rest.partition_point(|&word| self[word].text == text)]
    }
}

impl Deref for WordTable {
    type Target = [WordPoint];

    #[inline]
    fn deref(&self) -> &[WordPoint] {
        &self.0.words
    }
}

impl Default for WordTable {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<WordPoint>> for WordTable {
    fn from(words: Vec<WordPoint>) -> Self {
        Self::new(words, None)
    }
}

impl PartialEq for WordTable {
    /// Compares the content only if the data is not shared.
    fn eq(&self, other: &Self) -> bool {
        self.is_shared(other) || self[..] == other[..]
    }
}
