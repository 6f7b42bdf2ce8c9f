//! The points of the stage, in the one basis of the moment: the words of the vocabulary at rest, and the tokens on their way.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::snapshot::sentence::{label, occurrence};
use attune_core::kernel::snapshot::space::ChosenAxis;
pub use attune_core::kernel::snapshot::space::reach;
use attune_core::kernel::snapshot::{
    ModelSnapshot, Neighbours, Pair, PairedWord, Replaced, SentenceSnapshot, Snapshot, StaticSpace, Token,
};
use attune_core::lesson::Recipe;
use attune_core::lesson::cells::CellKind;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::moves::point;
use attune_engine::numerics::projection::AXES;

use super::axes::{StageShares, about, names, short};
use super::compare::wanted;

/// Everything the 3D view draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageModel {
    /// The vocabulary, at rest at its static positions.
    pub words: WordTable,
    /// Words that are in the sentence: the resting point of each is the ghost of the moving one.
    pub in_sentence: BTreeSet<usize>,
    /// The current sentence, each token on its way from static to contextual.
    pub tokens: Vec<TokenPoint>,
    /// Points beside the sentence, or in place of it: see [`SecondKind`].
    pub second: Vec<TokenPoint>,
    pub second_kind: SecondKind,
    /// Words of both, the least similar after attention first.
    pub shared: Vec<PairedWord>,
    /// Names of the lesson's groups, in the order of their colours.
    pub groups: Vec<String>,
    /// Names of the axes: three, or as many as the vectors have dimensions.
    pub axes: Vec<AxisLabel>,
    /// How much of what is drawn the axes show.
    pub shares: StageShares,
    /// The choice of the axes, and the norm that the picture is seen through.
    pub about: String,
    /// The axes are the vectors' own dimensions: nothing is projected.
    pub is_whole: bool,
    /// Words and tokens at their places before the lesson was trained again, each picture at its own scale.
    pub ghosts: Vec<GhostPoint>,
    /// Each word is one point, in the middle of its pieces.
    pub is_of_words: bool,
    /// Words that are not in the sentence are shown as far as they are asked for: they are the table of a pretrained model.
    pub hides_table: bool,
    /// Where weights that have not been edited come from: *trained*, *given* or *drawn*.
    pub origin: &'static str,
    /// A caution about reading the picture.
    pub note: Option<String>,
    /// The scale of the picture, fixed for the lesson: of one with words of its own, the radius that holds them all.
    pub radius: f32,
}

/// The meaning of the points beside those of the sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SecondKind {
    /// A second sentence, which is compared with the first.
    #[default]
    Sentence,
    /// This word in several sentences, in place of both.
    Senses(String),
    /// Words on their way to another space, in place of the sentence.
    Spaces,
}

/// The place where a token should end. Minus the gradient of the loss, half the squared distance, is the way there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    pub token: usize,
    pub to: [f32; 3],
    pub loss: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TokenPoint {
    pub text: String,
    /// Position in the sentence, from 0. Its colour is the same in every panel.
    pub position: usize,
    /// Distinguishes the occurrences of a word that stands more than once: 1, 2, ...
    pub occurrence: Option<usize>,
    pub group: Option<usize>,
    /// Its row of the vocabulary; none of a point that is no token of a sentence.
    pub word: Option<usize>,
    /// Static position: the ghost.
    pub static_at: [f32; 3],
    /// Beginning of its way: the static position, or that before the layer that is shown.
    pub start: [f32; 3],
    /// Contextual position with the weights in use.
    pub end: [f32; 3],
    /// Contextual position with the trained weights: where `end` was before weights were turned.
    pub trained_end: [f32; 3],
    /// A piece that no letter of the text asked for: `[CLS]`.
    pub is_added: bool,
    /// The pieces that it stands for, and the text of the first of them.
    pub pieces: usize,
    pub first_piece: Option<String>,
    /// A piece for which the first one of its word stands: it has no point.
    pub is_part: bool,
    /// The nearest other word by cosine in the true space, of the static vector and of the output.
    pub static_nearest: Option<(String, f32)>,
    pub contextual_nearest: Option<(String, f32)>,
}

impl TokenPoint {
    /// A whole word on its way from one place to another, of no vocabulary.
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
            is_added: false,
            pieces: 1,
            first_piece: None,
            is_part: false,
            static_nearest: None,
            contextual_nearest: None,
        }
    }

    /// The live position at `time` in [0, 1], on the straight line from static to contextual.
    pub fn at(&self, time: f32) -> [f32; 3] {
        // Not `start + time (end − start)`, which need not round to the end itself.
        std::array::from_fn(|axis| (1.0 - time) * self.start[axis] + time * self.end[axis])
    }

    /// The text of the piece, or of the first one of its word.
    pub fn piece_text(&self) -> &str {
        self.first_piece.as_ref().unwrap_or(&self.text)
    }

    /// `apple` or, where the sentence has more than one, `apple₂`.
    pub fn label(&self) -> String {
        label(&self.text, self.occurrence)
    }
}

/// A point of the picture that was replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct GhostPoint {
    pub text: String,
    pub group: Option<usize>,
    /// Static and contextual; the same of a word that is not in the sentence.
    pub start: [f32; 3],
    pub end: [f32; 3],
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxisLabel {
    pub name: String,
    /// The words from which it runs and those to which, where it was chosen.
    pub ends: Option<(String, String)>,
}

impl AxisLabel {
    fn all(space: &StaticSpace) -> Vec<Self> {
        let ends = |ChosenAxis { from, to }: &ChosenAxis| (short(&from.text), short(&to.text));
        let axes = names(space).into_iter().zip(&space.basis.chosen).take(space.projection.dimensions());
        axes.map(|(name, chosen)| Self { name, ends: chosen.as_ref().map(ends) }).collect()
    }
}

/// Standard deviations in the radius of the picture of a pretrained model, or of a file of vectors.
const DEVIATIONS: f32 = 2.5;

impl StageModel {
    /// The shared word that is looked at, see [`wanted`].
    pub fn chosen_pair(&self, query: Option<usize>, second: Option<usize>, lit: &[String]) -> Option<&PairedWord> {
        let wanted = |pair: &&PairedWord| wanted(pair, query, second, lit.contains(&self.tokens[pair.first].text));
        self.shared.iter().rev().max_by_key(wanted)
    }

    /// The lines that a stage cell draws between words, as indices into these.
    pub fn lines_of(&self, cell: &CellKind) -> Vec<[usize; 2]> {
        let CellKind::Stage { lines, .. } = cell else { return Vec::new() };
        let word = |text: &String| self.words.find(text).first().copied();
        lines.iter().filter_map(|(from, to)| Some([word(from)?, word(to)?])).collect()
    }

    /// The goals that a stage cell sets; the loss is of the true vectors.
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

    /// The point of a token: where words are points, that of its first piece.
    pub fn point_of(&self, token: usize) -> Option<usize> {
        self.tokens.get(..=token)?.iter().rposition(|token| !token.is_part)
    }

    /// Two chosen axes are read best in their plane; one stands in space too, and a third is seen there alone.
    pub fn opens_flat(&self) -> bool {
        self.axes.iter().filter(|axis| axis.ends.is_some()).count() == AXES - 1
    }

    /// Attention moves a point, with the weights in use or with the trained ones. Until there are points, it may.
    pub fn has_moves(&self) -> bool {
        let tokens = || self.tokens.iter().chain(&self.second);
        let is_moved = |token: &TokenPoint| [token.end, token.trained_end].iter().any(|at| *at != token.static_at);
        tokens().next().is_none() || tokens().any(is_moved)
    }

    /// Another sentence is shown than before, what was changed in this one is as trained again, or all layers are shown
    /// after one of them.
    pub fn rests_after(&self, before: &StageModel) -> bool {
        let texts = |model: &StageModel| -> Vec<String> {
            model.tokens.iter().chain(&model.second).map(|token| token.text.clone()).collect()
        };
        texts(self) != texts(before)
            || (before.is_changed() && !self.is_changed())
            || (before.is_of_layer() && !self.is_of_layer())
    }

    /// Whether the points show their way through one layer, and not through all.
    pub fn is_of_layer(&self) -> bool {
        self.shares.layer.is_some()
    }

    /// A weight or an intervention moves a token.
    fn is_changed(&self) -> bool {
        self.tokens.iter().any(|token| token.end != token.trained_end)
    }

    /// The same stage with points of another kind in place of the sentence and of what is beside it.
    pub(super) fn showing(self, second: Vec<TokenPoint>, kind: SecondKind, in_sentence: BTreeSet<usize>) -> Self {
        let (tokens, shared, ghosts) = (Vec::new(), Vec::new(), Vec::new());
        Self { second, second_kind: kind, in_sentence, tokens, shared, ghosts, ..self }
    }

    /// Whether a word of the vocabulary is in the sentence.
    #[inline]
    pub fn is_in_sentence(&self, word: usize) -> bool {
        self.in_sentence.contains(&word)
    }

    /// `None` until the static vectors are trained.
    pub fn of(snapshot: &Snapshot) -> Option<StageModel> {
        Self::after(snapshot, None)
    }

    /// `before`: the last one, whose words are shared while the space is the same.
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<StageModel> {
        let space = snapshot.space.as_ref()?;
        let sentence = snapshot.model.as_ref().map(|model| &*model.sentence);
        let second = snapshot.model.as_ref().and_then(|model| model.second.as_deref());
        let shown = sentence.into_iter().chain(second.map(|second| &*second.other));
        let in_sentence = shown.flat_map(|sentence| &sentence.tokens).filter_map(|token| token.word).collect();
        let known = before.map(|before| &before.words).filter(|words| words.is_of(space));
        let words = known.cloned().unwrap_or_else(|| WordTable::of(space));
        let is_read = snapshot.lesson.static_embedding.is_pretrained();
        // Layers may lead far from the words: then the scale is that of what chose the axes.
        let is_table = is_read || snapshot.lesson.static_embedding.is_whole_file();
        let radius = match is_table {
            true => DEVIATIONS * space.projection.deviation(),
            false => space.at_end.as_ref().map_or(words.reach(), |_| space.reach()),
        };
        let is_new_space = snapshot.model.as_ref().is_some_and(|model| !model.recipe.has_space_of(&Recipe::default()));
        Some(StageModel {
            words,
            in_sentence,
            tokens: sentence.map_or_else(Vec::new, |sentence| token_points(space, sentence)),
            second: second.map_or_else(Vec::new, |second| token_points(space, &second.other)),
            second_kind: SecondKind::Sentence,
            shared: second.map_or_else(Vec::new, Pair::least_alike_first),
            groups: snapshot.lesson.groups.iter().map(|group| group.name.clone()).collect(),
            axes: AxisLabel::all(space),
            shares: StageShares::of(snapshot),
            about: about(snapshot),
            is_whole: space.projection.is_identity(),
            is_of_words: false,
            hides_table: is_read,
            ghosts: ghosts(snapshot, radius),
            origin: snapshot.model.as_ref().map_or("trained", ModelSnapshot::weights_origin),
            note: is_new_space.then(|| format!("Retrained space, {}.", picture_of_retrained(space))),
            radius,
        })
    }
}

/// How the picture of a retrained space is chosen.
pub fn picture_of_retrained(space: &StaticSpace) -> &'static str {
    let projection = &space.projection;
    match (projection.is_turned(), projection.is_chosen()) {
        (true, false) => "turned to match the lesson's picture",
        (true, true) => "along the same chosen axes, with the others turned to match the lesson's picture",
        (false, _) if space.basis.fitted.is_some() => "along the axes that you fitted to it",
        (false, _) => "along the same axes",
    }
}

/// The tokens of a sentence.
fn token_points(space: &StaticSpace, sentence: &SentenceSnapshot) -> Vec<TokenPoint> {
    let texts: Vec<&str> = sentence.tokens.iter().map(|t| t.text.as_str()).collect();
    let token_point = |(i, token): (usize, &Token)| TokenPoint {
        occurrence: occurrence(&texts, i),
        group: token.word.and_then(|word| space.group_of[word]),
        word: token.word,
        trained_end: point(sentence.trained_end.row(i)),
        is_added: sentence.tokens[i].piece.as_ref().is_some_and(|piece| piece.is_added),
        static_nearest: nearest_word(space, &sentence.static_neighbours[i]),
        contextual_nearest: nearest_word(space, &sentence.contextual_neighbours[i]),
        ..TokenPoint::moving(token.text.clone(), i, point(sentence.start.row(i)), point(sentence.end.row(i)))
    };
    sentence.tokens.iter().enumerate().map(token_point).collect()
}

/// As many words of a group as tell where it is; none where they are too few to be a crowd.
pub fn crowd_of<T>(words: impl Iterator<Item = T>) -> Option<Vec<T>> {
    const LEAST: usize = 3;
    const MOST: usize = 64;
    let crowd: Vec<T> = words.take(MOST).collect();
    (crowd.len() >= LEAST).then_some(crowd)
}

/// Ghosts of the words that have a group, and of the sentence where it is the same; at the picture's present scale.
fn ghosts(snapshot: &Snapshot, radius_now: f32) -> Vec<GhostPoint> {
    // Back at the lesson's own recipe nothing was replaced that is still to be compared.
    let Some(model) = snapshot.model.as_ref().filter(|model| !model.recipe.is_default()) else { return Vec::new() };
    // In other axes the old places would be elsewhere.
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

/// The nearest word by cosine, with its cosine.
pub(super) fn nearest_word(space: &StaticSpace, neighbours: &Neighbours) -> Option<(String, f32)> {
    neighbours.by_cosine.first().map(|near| (space.vocabulary[near.word].clone(), near.cosine))
}

#[derive(Clone, Debug, PartialEq)]
pub struct WordPoint {
    pub text: String,
    /// Colour of its group, as an index into the lesson's groups.
    pub group: Option<usize>,
    pub at: [f32; 3],
}

/// The vocabulary at its static positions. A clone shares all of it.
#[derive(Clone, Debug)]
pub struct WordTable(Arc<Table>);

#[derive(Debug)]
struct Table {
    words: Vec<WordPoint>,
    /// Words that have a group, in the order of the vocabulary.
    grouped: Vec<usize>,
    /// Words whose place is not finite.
    lost: Vec<usize>,
    /// How far the farthest word is from the origin.
    reach: f32,
    /// The words by the alphabet, where they are of no space, which has them.
    by_alphabet: OnceLock<Box<[usize]>>,
    /// The space that they are of.
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

    /// One table is a clone of the other.
    pub fn is_shared(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Words that have a group, in the order of the vocabulary.
    pub fn grouped(&self) -> &[usize] {
        &self.0.grouped
    }

    /// Words whose place is not finite.
    pub fn lost(&self) -> &[usize] {
        &self.0.lost
    }

    /// How far the farthest word is from the origin.
    pub fn reach(&self) -> f32 {
        self.0.reach
    }

    /// The words of a text.
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
    /// A table that both share is not looked into.
    fn eq(&self, other: &Self) -> bool {
        self.is_shared(other) || self[..] == other[..]
    }
}
