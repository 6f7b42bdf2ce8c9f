//! The axes of the picture: what each one is, and how much of the variance on the stage they show. The caption of the
//! picture states this share ([`StageShares`]).

use std::sync::Arc;

use attune_core::kernel::command::Axis;
use attune_core::kernel::sentence_pass::near::near;
use attune_core::kernel::snapshot::space::{ChosenAxis, ScaleNorm, TokenShares};
use attune_core::kernel::snapshot::{Neighbours, Snapshot, StaticSpace};
use attune_core::lesson::schema::StaticEmbedding;
use attune_engine::messages::{counted, cut};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::projection::AXES;
use attune_engine::numerics::shares::Shares;

use super::recorded::behind_final_norm;

#[derive(Clone, Debug, PartialEq)]
pub struct AxesModel {
    pub rows: Vec<AxisRow>,
    /// The shares of the variance that the axes show in 2D and together; `None` if nothing varies.
    pub together: Option<[f32; 2]>,
    /// Warnings about the picture: it shows little of the variance, or its axes are not orthogonal.
    pub warnings: Vec<String>,
    /// A text that says whose variance the shares divide, and how the axes were chosen.
    pub about: String,
    /// The names of the lesson's groups.
    pub groups: Vec<String>,
    /// Whether the axes can be fitted to what is on the stage.
    pub can_refit: bool,
    /// Whether the axes differ from the lesson's initial ones.
    pub is_changed: bool,
    /// The norm through which the picture can be drawn; `None` if there is none.
    pub scale: Option<ScaleChoice>,
}

/// A norm through which the picture is drawn, and which the learner can switch off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleChoice {
    pub about: &'static str,
    pub is_on: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxisRow {
    pub axis: Axis,
    /// The name, such as `PC1`, `x₁` or `fruit → company`.
    pub name: String,
    /// The share of the variance that the axis shows, in [0, 1].
    pub variance: f32,
    /// The two groups between which a chosen axis runs, as they were written.
    pub chosen: Option<(String, String)>,
    /// Whether the axis differs from the lesson's.
    pub is_changed: bool,
    pub meaning: String,
}

impl AxesModel {
    /// Returns the axes; `None` until the static vectors are trained.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let space = snapshot.space.as_deref()?;
        let (projection, width) = (&space.projection, space.vectors.cols());
        let dimensions = projection.dimensions();
        let shown = Axis::ALL.into_iter().take(dimensions);
        let shares = StageShares::of(snapshot).by_axis().map(|(_, shares)| shares);
        let rows = shown.zip(names(space)).map(|(axis, name)| {
            let chosen = space.basis.chosen[axis.index()].as_ref();
            AxisRow {
                axis,
                meaning: match (chosen, space.basis.ends(axis.index())) {
                    (Some(chosen), _) => told(chosen),
                    (None, Some(ends)) => told_of_sentence(ends),
                    (None, None) => meaning(&name),
                },
                name,
                variance: shares.map_or(0.0, |shares| shares.along(axis.index())),
                is_changed: chosen != space.own_basis.chosen[axis.index()].as_ref(),
                chosen: chosen.map(|chosen| (chosen.from.text.clone(), chosen.to.text.clone())),
            }
        });
        let rows: Vec<AxisRow> = rows.collect();
        Some(Self {
            together: shares.map(|shares| [Some(Axis::Z.index()), None].map(|flat_along| shares.seen(flat_along))),
            warnings: warnings(space, shares.map(|shares| shares.seen(None))),
            about: about(snapshot),
            scale: space
                .scale
                .as_ref()
                .map(|scale| ScaleChoice { about: seen_through(scale.norm), is_on: !space.basis.raw }),
            groups: snapshot.lesson.groups.iter().map(|group| group.name.clone()).collect(),
            can_refit: width > dimensions && snapshot.model.is_some(),
            is_changed: space.basis != space.own_basis,
            rows,
        })
    }
}

/// The order of the vocabulary along the chosen axes: the words at both ends of each axis, by their cosine with it.
#[derive(Clone, Debug)]
pub struct AxisOrders {
    space: Arc<StaticSpace>,
    /// The words at the negative and at the positive end of each chosen axis, the farthest first; `None` for other
    /// axes.
    pub ends: [Option<[Vec<String>; 2]>; AXES],
}

impl AxisOrders {
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let space = snapshot.space.as_ref()?;
        let known = before.filter(|before| Arc::ptr_eq(&before.space, space));
        Some(known.cloned().unwrap_or_else(|| Self::of(space)))
    }

    fn of(space: &Arc<StaticSpace>) -> Self {
        // A picture that is drawn through a norm does not show the words in this order.
        let is_plain = space.scale().is_none();
        let is_chosen = |axis: &usize| is_plain && space.basis.chosen[*axis].is_some();
        let chosen: Vec<usize> = (0..AXES).filter(is_chosen).collect();
        let both = chosen.iter().flat_map(|&axis| [-1.0, 1.0].map(|sign| (axis, sign)));
        let directions: Vec<f32> =
            both.flat_map(|(axis, sign)| space.projection.axis(axis).iter().map(move |x| sign * x)).collect();
        let directions = Matrix::from_row_major(2 * chosen.len(), space.vectors.cols(), directions);
        let words = |near: Neighbours| near.by_cosine.iter().map(|near| space.vocabulary[near.word].clone()).collect();
        let mut found = near(space, &directions, &vec![None; directions.rows()]).into_iter().map(words);
        let mut ends: [Option<[Vec<String>; 2]>; AXES] = Default::default();
        for axis in chosen {
            ends[axis] = found.next().zip(found.next()).map(<[_; 2]>::from);
        }
        Self { space: space.clone(), ends }
    }
}

fn warnings(space: &StaticSpace, together: Option<f32>) -> Vec<String> {
    let little = together.filter(|together| *together < LITTLE).map(|together| {
        let percent = percent(together);
        format!("The axes show only {percent} of the variance, so points that look close may be far apart.")
    });
    let skewed = (!space.projection.is_orthogonal())
        .then(|| "The chosen axes are not at right angles, so distances in the picture are distorted.".to_owned());
    little.into_iter().chain(skewed).collect()
}

/// Returns sentences that say whose variance the shares divide, how the axes were chosen and, if there is one, through
/// which norm the picture is seen.
pub fn about(snapshot: &Snapshot) -> String {
    let Some(space) = snapshot.space.as_deref() else { return String::new() };
    let embedding = &snapshot.lesson.static_embedding;
    let is_pretrained = is_of_states(embedding);
    let of = if is_pretrained { "the sentence's outputs without the first token" } else { "all words" };
    let fitted_to = match (&space.basis.fitted, is_pretrained) {
        (Some(_), true) => {
            "the points that were on the stage when the axes were refitted, in all layers and without \
            first tokens"
        }
        (Some(_), false) => "the points that were on the stage when the axes were refitted",
        (None, true) if embedding.recording().is_some() => {
            "the hidden states of the recorded texts in all layers, without their first tokens"
        }
        (None, true) => "the states of the model's first sentences in all layers, without their first tokens",
        (None, false) if space.spread.is_some() => "all words of the file",
        (None, false) if space.at_end.is_some() => "the words that the lesson names, as they are after training",
        (None, false) => "the words that the lesson names",
    };
    let measured = space.basis.meaning().map(|meaning| format!(" {}.", told_of_sentence(meaning.names())));
    let measured = measured.map_or_else(String::new, |told| told.replacen("From", "The first axis runs from", 1));
    let is_fitted = space.basis.chosen.iter().any(Option::is_none) && !space.projection.is_identity();
    let fitted =
        if is_fitted { format!(" The axes that were not chosen are fitted to {fitted_to}.") } else { String::new() };
    let is_before_norm = || snapshot.model.as_ref().is_some_and(|model| model.architecture.final_norm);
    let seen = match space.scale() {
        Some(scale) => format!(" {}", seen_through(scale.norm)),
        None if is_before_norm() => format!(" {BEFORE_NORM}"),
        None => String::new(),
    };
    let place = snapshot.model.as_ref().and_then(|model| model.recorded.as_ref()).map(|pass| &pass.place);
    let last = place.and_then(|place| behind_final_norm(&place.model.recording.texts[place.text]));
    let last = last.map_or_else(String::new, |last| format!(" {last}"));
    format!(
        "The percentages are shares of the variance of {of}, in {} dimensions.{measured}{fitted}{seen}{last}",
        space.vectors.cols()
    )
}

/// Returns whether the axes are fitted to the states of all layers, without a table of words: for a pretrained model
/// and for a recording.
pub(crate) fn is_of_states(embedding: &StaticEmbedding) -> bool {
    embedding.is_pretrained() || embedding.recording().is_some()
}

const BEFORE_NORM: &str = "Outputs are shown before the final norm; neighbours and answers are computed after it.";

/// Returns a sentence about the norm through which the picture is drawn.
pub(crate) fn seen_through(norm: ScaleNorm) -> &'static str {
    match norm {
        ScaleNorm::Last => "Vectors are shown after the final norm, so that all layers have the same scale.",
        ScaleNorm::Embedding => {
            "Words are shown after the embedding norm, so that they have the same scale as the \
            layers."
        }
    }
}

/// Returns the names of the axes.
pub fn names(space: &StaticSpace) -> Vec<String> {
    let own = space.projection.names();
    let name = |(axis, own): (usize, &str)| match space.basis.ends(axis) {
        Some([from, to]) => format!("{} → {}", short(from), short(to)),
        None => own.to_owned(),
    };
    own.into_iter().enumerate().map(name).collect()
}

/// Returns the names of the vectors before and after the layers. A recording has no static vectors: its first vectors
/// are hidden states, which differ between positions.
pub const fn ends(is_recorded: bool) -> [&'static str; 2] {
    if is_recorded { ["before the layers", "after the layers"] } else { ["static", "contextual"] }
}

/// Shortens a text so that it fits at the end of an axis.
pub fn short(text: &str) -> String {
    const MOST: usize = 18;
    cut(text, MOST)
}

fn told(chosen: &ChosenAxis) -> String {
    let group = |text: &str, count: usize| format!("{text} ({})", counted(count, "word"));
    let ChosenAxis { from, to } = chosen;
    let (from, to) = (group(&from.text, from.words.len()), group(&to.text, to.words.len()));
    format!("From the centre of {from} to that of {to}")
}

/// Returns a sentence on how the axis with a meaning was determined.
fn told_of_sentence([from, to]: [&str; 2]) -> String {
    format!(
        "From the point where the layers leave “{from}” to that where they leave “{to}”, in the sentence as it was opened"
    )
}

fn meaning(name: &str) -> String {
    match name.strip_prefix("PC") {
        Some("1") => "The direction in which the vectors differ most".to_owned(),
        Some(_) => "Of the remaining directions, the one in which the vectors differ most".to_owned(),
        None if name.starts_with("axis") => {
            "A mixture of the directions in which the vectors differ most, chosen to match the lesson's picture"
                .to_owned()
        }
        None => "One entry of the vectors, unchanged".to_owned(),
    }
}

/// The share of variance below which the picture may mislead.
pub const LITTLE: f32 = 0.5;

/// The shares of variance that the axes show: of the words, of the tokens and of their moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageShares {
    /// The shares for the vocabulary; `None` if it is not drawn.
    pub words: Option<Shares>,
    /// The shares for the tokens, static and after each layer.
    pub tokens: Arc<TokenShares>,
    /// The shares if each word of several pieces is a single point; `None` if there is no such word.
    of_words: Option<Arc<TokenShares>>,
    /// The layer whose movement the points show; `None` if they move directly from static to contextual.
    pub layer: Option<usize>,
    is_recorded: bool,
}

const MOVES: &str = "moves";

/// The name of a set of vectors, and the share of its variance that the axes show.
pub type Shown = (&'static str, f32);

impl StageShares {
    pub fn of(snapshot: &Snapshot) -> Self {
        let is_drawn = !is_of_states(&snapshot.lesson.static_embedding);
        let words = snapshot.space.as_ref().filter(|_| is_drawn).and_then(|space| space.shares());
        let model = snapshot.model.as_ref();
        Self {
            words,
            tokens: model.map(|model| model.shares.clone()).unwrap_or_default(),
            of_words: model.and_then(|model| model.shares_of_words.clone()),
            layer: None,
            is_recorded: snapshot.lesson.static_embedding.recording().is_some(),
        }
    }

    /// Returns the shares of a stage with one point for each word.
    #[must_use]
    pub fn by_words(self) -> Self {
        let tokens = self.of_words.clone().unwrap_or_else(|| self.tokens.clone());
        Self { tokens, ..self }
    }

    /// Returns the name and the shares of the set that is reported for each axis: the vocabulary if it is drawn, or
    /// else the outputs.
    pub fn by_axis(&self) -> Option<(&'static str, Shares)> {
        let outputs = || Some(("outputs", (*self.tokens.states.last()?)?));
        self.words.map(|words| ("words", words)).or_else(outputs)
    }

    /// Returns the shares for the words, for the tokens at `time` from 0 to 1, and for their moves if they have begun.
    /// `flat_along` is the axis along which a flat picture is seen.
    pub fn shown(&self, time: f32, flat_along: Option<usize>) -> Vec<Shown> {
        let TokenShares { states, moves, whole } = &*self.tokens;
        let last = states.len().saturating_sub(1);
        let (from, to, moved) = match self.layer {
            Some(layer) => (layer, layer + 1, moves.get(layer).copied().flatten()),
            None => (0, last, *whole),
        };
        let name = |stop: usize| match stop {
            0 if self.is_recorded => "first states",
            _ => name(stop, last),
        };
        let state = |stop: usize| Some((name(stop), states.get(stop).copied().flatten()?));
        let words = self.words.map(|words| ("words", words));
        // At the start, the tokens have static vectors, whose share is that of the words.
        let tokens = if time > 0.0 { state(to) } else { state(from).filter(|_| words.is_none() || from > 0) };
        let moves = moved.filter(|_| time > 0.0).map(|moved| (MOVES, moved));
        let all = words.into_iter().chain(tokens).chain(moves);
        all.map(|(name, shares)| (name, shares.seen(flat_along))).collect()
    }
}

/// Returns the name of the tokens' vectors at a stop, which counts the layers before it.
fn name(stop: usize, last: usize) -> &'static str {
    match stop {
        0 => "static vectors",
        _ if stop == last => "outputs",
        _ => "states",
    }
}

/// Returns captions on how far the picture can be trusted, the longest first; the first one that fits is shown.
pub fn captions(shown: &[Shown], is_flat: bool) -> Vec<String> {
    let view = if is_flat { "2D" } else { "3D" };
    // The variance is mentioned only once: `34 % of the words' variance, 41 % of the outputs' and 60 % of the moves`.
    let of = |(at, (name, share)): (usize, &Shown)| match *name {
        MOVES => format!("{} of the {MOVES}", percent(*share)),
        name if at == 0 => format!("{} of the {name}' variance", percent(*share)),
        name => format!("{} of the {name}'", percent(*share)),
    };
    let short_of = |(name, share): &Shown| format!("{name} {}", percent(*share));
    let long = join(shown.iter().enumerate().map(of));
    let short = shown.iter().map(short_of).collect::<Vec<_>>().join(", ");
    if shown.is_empty() {
        return vec![
            format!("{view} is a projection. The numbers use all dimensions."),
            format!("{view} is a projection."),
        ];
    }
    if shown.iter().any(|(_, share)| *share < LITTLE) {
        return vec![
            format!("{view} shows {long}, so points that look close may be far apart. The numbers use all dimensions."),
            format!("{view} shows {long}, so points that look close may be far apart."),
            format!("{view} shows {short}, so points that look close may be far apart."),
            format!("{view}: {short}. Distances may mislead."),
        ];
    }
    vec![
        format!("{view} shows {long}. The numbers use all dimensions."),
        format!("{view} shows {long}."),
        format!("{view} shows: {short}."),
    ]
}

/// Joins parts as `a, b and c`.
fn join(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match &parts[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats a share as a percentage. A share that is nearly all or nearly nothing is not rounded to 100 or 0.
pub fn percent(share: f32) -> String {
    const ROUNDING: f32 = 1e-5;
    let rounded = (share * 100.0).round();
    match share {
        _ if rounded == 100.0 && share < 1.0 - ROUNDING => ">99\u{a0}%".to_owned(),
        _ if rounded == 0.0 && share > ROUNDING => "<1\u{a0}%".to_owned(),
        _ => format!("{rounded:.0}\u{a0}%"),
    }
}

/// Returns lines for the tooltip: how much of each set's variance the axes show in 2D and in 3D.
pub fn lines(shares: &StageShares, names: &[&str]) -> Vec<String> {
    let sets = |flat_along: Option<usize>| shares.shown(1.0, flat_along);
    let flat = AXES - 1;
    let both = sets(Some(flat)).into_iter().zip(sets(None));
    let both =
        both.map(|((name, plane), (_, space))| format!("{name}: {} in 2D, {} in 3D", percent(plane), percent(space)));
    let by_axis = shares.by_axis();
    let along = names.iter().enumerate().filter_map(|(axis, name)| {
        let (of, shares) = by_axis?;
        Some(format!("{name}: {} of the {of}' variance", percent(shares.along(axis))))
    });
    along.chain(both).collect()
}
