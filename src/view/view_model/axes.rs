//! The Axes panel: what each axis of the picture is, and how much of the variance it shows.

use std::sync::Arc;

use attune_core::kernel::command::Axis;
use attune_core::kernel::data::space::{ChosenAxis, ScaleNorm};
use attune_core::kernel::snapshot::{Snapshot, StaticSpace};

use super::models::Model;
use super::shares::{LITTLE, StageShares, percent};

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

impl Model for AxesModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
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

fn warnings(space: &StaticSpace, together: Option<f32>) -> Vec<String> {
    let little = together.filter(|together| *together < LITTLE).map(|together| {
        let percent = percent(together);
        format!("The axes show only {percent} of the variance: points that look near may be far.")
    });
    let skewed = (!space.projection.is_orthogonal())
        .then(|| "The chosen axes are not at right angles: distances in the picture are distorted.".to_owned());
    little.into_iter().chain(skewed).collect()
}

/// Sentences on whose variance the shares by axis divide, on what chose the axes, and on the norm that the picture is seen
/// through, if there is one.
pub fn about(snapshot: &Snapshot) -> String {
    let Some(space) = snapshot.space.as_deref() else { return String::new() };
    let is_pretrained = snapshot.lesson.static_embedding.is_pretrained();
    let of = if is_pretrained { "the sentence's outputs without the first token" } else { "all words" };
    let fitted_to = match (&space.basis.fitted, is_pretrained) {
        (Some(_), true) => "the points that were on the stage at the refit, in all layers and without a first token",
        (Some(_), false) => "the points that were on the stage at the refit",
        (None, true) => "the states of the model's first sentences in all layers, without their first tokens",
        (None, false) => "the words that the lesson names",
    };
    let is_fitted = space.basis.chosen.iter().any(Option::is_none) && !space.projection.is_identity();
    let fitted = if is_fitted { format!(" Axes that nobody chose fit {fitted_to}.") } else { String::new() };
    let is_before_norm = || snapshot.model.as_ref().is_some_and(|model| model.architecture.final_norm);
    let seen = match space.scale() {
        Some(scale) => format!(" {}", seen_through(scale.norm)),
        None if is_before_norm() => format!(" {BEFORE_NORM}"),
        None => String::new(),
    };
    format!("Shares of the variance of {of}, in {} dimensions.{fitted}{seen}", space.vectors.cols())
}

const BEFORE_NORM: &str = "Outputs are shown before the final norm; neighbours and answers are read after it.";

/// A sentence on the norm in front of the picture.
pub(crate) fn seen_through(norm: ScaleNorm) -> &'static str {
    match norm {
        ScaleNorm::Last => "Seen through the final norm, so that all layers have one scale.",
        ScaleNorm::Embedding => "Words are seen through the embedding norm, so that they have the scale of the layers.",
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
    let group = |text: &str, count: usize| format!("{text} ({count} {})", if count == 1 { "word" } else { "words" });
    let ChosenAxis { from, to } = chosen;
    let (from, to) = (group(&from.text, from.words.len()), group(&to.text, to.words.len()));
    format!("From the centre of {from} to that of {to}")
}

fn meaning(name: &str) -> String {
    match name.strip_prefix("PC") {
        Some("1") => "The direction in which the vectors differ most".to_owned(),
        Some(_) => "The direction in which they differ most among those that are left".to_owned(),
        None if name.starts_with("axis") => {
            "A mixture of the directions in which the vectors differ most, turned to match the lesson's picture"
                .to_owned()
        }
        None => "An entry of the vectors, as it is".to_owned(),
    }
}
