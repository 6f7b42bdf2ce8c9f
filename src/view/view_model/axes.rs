//! The axes of the picture: what each one is, and how much of what is on the stage they show. The caption of the picture is
//! the one line that must not be wrong ([`StageShares`]).

use std::sync::Arc;

use attune_core::kernel::command::Axis;
use attune_core::kernel::sentence_pass::passes::near;
use attune_core::kernel::snapshot::space::{ChosenAxis, ScaleNorm, TokenShares};
use attune_core::kernel::snapshot::{Neighbours, Snapshot, StaticSpace};
use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::projection::AXES;
use attune_engine::numerics::shares::Shares;

#[derive(Clone, Debug, PartialEq)]
pub struct AxesModel {
    pub rows: Vec<AxisRow>,
    /// Share of the variance that 2D shows, and that all axes show; `None` where nothing varies.
    pub together: Option<[f32; 2]>,
    /// Cautions about the picture: it shows little, or its axes are not at right angles.
    pub warnings: Vec<String>,
    /// Says whose variance the shares divide, and what chose the axes.
    pub about: String,
    /// The lesson's groups, by name.
    pub groups: Vec<String>,
    /// The axes can be fitted to what is on the stage.
    pub can_refit: bool,
    /// They are not those of the lesson's beginning.
    pub is_changed: bool,
    /// The norm that the picture can be seen through.
    pub scale: Option<ScaleChoice>,
}

/// A norm in front of the picture, which the learner can take away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleChoice {
    pub about: &'static str,
    pub is_on: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxisRow {
    pub axis: Axis,
    /// `PC1`, `x₁` or `fruit → company`
    pub name: String,
    /// Share of the variance, in [0, 1].
    pub variance: f32,
    /// As the groups were written, where it was chosen.
    pub chosen: Option<(String, String)>,
    /// The axis is another than the lesson's.
    pub is_changed: bool,
    pub meaning: String,
}

impl AxesModel {
    /// `None` until the static vectors are trained.
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
                meaning: chosen.map_or_else(|| meaning(&name), told),
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

/// How the chosen axes order the vocabulary: the words at both ends of each, by their cosine with it.
#[derive(Clone, Debug)]
pub struct AxisOrders {
    space: Arc<StaticSpace>,
    /// The words least and most along each axis that was chosen, the furthest first.
    pub ends: [Option<[Vec<String>; 2]>; AXES],
}

impl AxisOrders {
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let space = snapshot.space.as_ref()?;
        let known = before.filter(|before| Arc::ptr_eq(&before.space, space));
        Some(known.cloned().unwrap_or_else(|| Self::of(space)))
    }

    fn of(space: &Arc<StaticSpace>) -> Self {
        // Seen through a norm, words lie along an axis otherwise than their vectors do.
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

/// Sentences on whose variance the shares by axis divide, on what chose the axes, and on the norm that the picture is seen
/// through, if there is one.
pub fn about(snapshot: &Snapshot) -> String {
    let Some(space) = snapshot.space.as_deref() else { return String::new() };
    let is_pretrained = snapshot.lesson.static_embedding.is_pretrained();
    let of = if is_pretrained { "the sentence's outputs without the first token" } else { "all words" };
    let fitted_to = match (&space.basis.fitted, is_pretrained) {
        (Some(_), true) => {
            "the points that were on the stage when the axes were refitted, in all layers and without \
            first tokens"
        }
        (Some(_), false) => "the points that were on the stage when the axes were refitted",
        (None, true) => "the states of the model's first sentences in all layers, without their first tokens",
        (None, false) if space.spread.is_some() => "all words of the file",
        (None, false) if space.at_end.is_some() => "the words that the lesson names, as they are after training",
        (None, false) => "the words that the lesson names",
    };
    let is_fitted = space.basis.chosen.iter().any(Option::is_none) && !space.projection.is_identity();
    let fitted =
        if is_fitted { format!(" The axes that were not chosen are fitted to {fitted_to}.") } else { String::new() };
    let is_before_norm = || snapshot.model.as_ref().is_some_and(|model| model.architecture.final_norm);
    let seen = match space.scale() {
        Some(scale) => format!(" {}", seen_through(scale.norm)),
        None if is_before_norm() => format!(" {BEFORE_NORM}"),
        None => String::new(),
    };
    format!("The percentages are shares of the variance of {of}, in {} dimensions.{fitted}{seen}", space.vectors.cols())
}

const BEFORE_NORM: &str = "Outputs are shown before the final norm; neighbours and answers are computed after it.";

/// A sentence on the norm in front of the picture.
pub(crate) fn seen_through(norm: ScaleNorm) -> &'static str {
    match norm {
        ScaleNorm::Last => "Vectors are shown after the final norm, so that all layers have the same scale.",
        ScaleNorm::Embedding => {
            "Words are shown after the embedding norm, so that they have the same scale as the \
            layers."
        }
    }
}

/// Names of the axes.
pub fn names(space: &StaticSpace) -> Vec<String> {
    let own = space.projection.names();
    let name = |(own, chosen): (&str, &Option<ChosenAxis>)| match chosen {
        Some(ChosenAxis { from, to }) => format!("{} → {}", short(&from.text), short(&to.text)),
        None => own.to_owned(),
    };
    own.into_iter().zip(&space.basis.chosen).map(name).collect()
}

/// Short enough to be written at the end of an axis.
pub fn short(text: &str) -> String {
    const MOST: usize = 18;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}

fn told(chosen: &ChosenAxis) -> String {
    let group = |text: &str, count: usize| format!("{text} ({})", counted(count, "word"));
    let ChosenAxis { from, to } = chosen;
    let (from, to) = (group(&from.text, from.words.len()), group(&to.text, to.words.len()));
    format!("From the centre of {from} to that of {to}")
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

/// Below this share the picture may mislead.
pub const LITTLE: f32 = 0.5;

/// Shares of the points of the stage and of their moves that the axes show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageShares {
    /// Shares of the vocabulary, where it is drawn.
    pub words: Option<Shares>,
    /// Shares of the tokens, static and after each layer.
    pub tokens: Arc<TokenShares>,
    /// The same with each word a point.
    of_words: Option<Arc<TokenShares>>,
    /// The layer whose own move the points show; none of points that go straight from static to contextual.
    pub layer: Option<usize>,
}

const MOVES: &str = "moves";

/// The share of a set of vectors that the axes show, with the name of the set.
pub type Shown = (&'static str, f32);

impl StageShares {
    pub fn of(snapshot: &Snapshot) -> Self {
        let is_drawn = !snapshot.lesson.static_embedding.is_pretrained();
        let words = snapshot.space.as_ref().filter(|_| is_drawn).and_then(|space| space.shares());
        let model = snapshot.model.as_ref();
        Self {
            words,
            tokens: model.map(|model| model.shares.clone()).unwrap_or_default(),
            of_words: model.and_then(|model| model.shares_of_words.clone()),
            layer: None,
        }
    }

    /// The shares of a stage whose words are one point each.
    #[must_use]
    pub fn by_words(self) -> Self {
        let tokens = self.of_words.clone().unwrap_or_else(|| self.tokens.clone());
        Self { tokens, ..self }
    }

    /// The set whose shares are given axis by axis: the vocabulary where it is drawn, else the outputs.
    pub fn by_axis(&self) -> Option<(&'static str, Shares)> {
        let outputs = || Some(("outputs", (*self.tokens.states.last()?)?));
        self.words.map(|words| ("words", words)).or_else(outputs)
    }

    /// Shares of the words and tokens where they are at a time from 0 to 1, and of the moves between; `flat_along` is the
    /// axis that a flat picture looks along.
    pub fn shown(&self, time: f32, flat_along: Option<usize>) -> Vec<Shown> {
        let TokenShares { states, moves, whole } = &*self.tokens;
        let last = states.len().saturating_sub(1);
        let (from, to, moved) = match self.layer {
            Some(layer) => (layer, layer + 1, moves.get(layer).copied().flatten()),
            None => (0, last, *whole),
        };
        let state = |stop: usize| Some((name(stop, last), states.get(stop).copied().flatten()?));
        let words = self.words.map(|words| ("words", words));
        // The words are the static vectors.
        let tokens = if time > 0.0 { state(to) } else { state(from).filter(|_| words.is_none() || from > 0) };
        let moves = moved.filter(|_| time > 0.0).map(|moved| (MOVES, moved));
        let all = words.into_iter().chain(tokens).chain(moves);
        all.map(|(name, shares)| (name, shares.seen(flat_along))).collect()
    }
}

/// The name of the tokens' vectors at a stop of their way.
fn name(stop: usize, last: usize) -> &'static str {
    match stop {
        0 => "static vectors",
        _ if stop == last => "outputs",
        _ => "states",
    }
}

/// Caption of the picture: how far it can be trusted, in as many words as there is room for, the longest first.
pub fn captions(shown: &[Shown], is_flat: bool) -> Vec<String> {
    let view = if is_flat { "2D" } else { "3D" };
    // The variance is named once: `34 % of the words' variance, 41 % of the outputs' and 60 % of the moves`.
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

/// `a, b and c`
fn join(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match &parts[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A share in per cent; one that is nearly all, or nearly nothing, is not rounded to it.
pub fn percent(share: f32) -> String {
    const ROUNDING: f32 = 1e-5;
    let rounded = (share * 100.0).round();
    match share {
        _ if rounded == 100.0 && share < 1.0 - ROUNDING => ">99\u{a0}%".to_owned(),
        _ if rounded == 0.0 && share > ROUNDING => "<1\u{a0}%".to_owned(),
        _ => format!("{rounded:.0}\u{a0}%"),
    }
}

/// Lines that say how much the axes show of each set in 2D and in 3D, one line each, for the pointer.
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
