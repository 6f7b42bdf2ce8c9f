//! The data of a page that shows one pass whose numbers are given: of a recording, or of a model that does not fit into
//! a page. The page computes nothing. It contains the attention of as many blocks as fit, and then, if there is room
//! left, the points on the stage's axes.

use std::fmt::Write as _;

use attune_core::kernel::sentence_pass::recorded::{RecordedPass, RecordedPlace};
use attune_core::kernel::snapshot::sentence::RankedAnswer;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::projection::AXES;
use attune_engine::recording::parts::Part;
use data_encoding::BASE64;
use serde::Serialize;

use super::numbers::Numbers;
use super::{HeadData, NUMBERS_MAX};
use crate::explain::walk::Step;
use crate::export::trace::texts;
use crate::view_model::axes::names;
use crate::view_model::grid::{PatchPicture, grid};
use crate::view_model::labels::HeadLabels;
use crate::view_model::stage::StageModel;

#[derive(Serialize)]
struct GivenData<'a> {
    tokens: Vec<&'a str>,
    source: Option<Vec<&'a str>>,
    /// The number of blocks that process the source.
    source_blocks: usize,
    blocks: Vec<BlockData<'a>>,
    heads: Vec<HeadData>,
    /// The points of the tokens before the first layer and after each layer, as multiples of the picture's radius;
    /// empty if a recording has no states or they do not fit.
    points: Vec<Numbers<'a>>,
    source_points: Option<Numbers<'a>>,
    projection: AxesData,
    /// The names of the steps of the walk through a layer.
    steps: [&'static str; Step::ALL.len()],
    /// The likeliest answers with their probabilities: a list for each token, or a single one for the whole sentence.
    answers: Vec<Vec<(&'a str, f32)>>,
    grid: Option<GridData>,
}

/// The grid of image patches that the tokens represent.
#[derive(Serialize)]
struct GridData {
    rows: usize,
    columns: usize,
    /// The token of each patch, row by row.
    tokens: Vec<usize>,
    picture: Option<PictureData>,
}

#[derive(Serialize)]
struct PictureData {
    width: usize,
    /// The red, green, blue and alpha bytes of the pixels, in Base64; alpha is always opaque.
    pixels: String,
}

#[derive(Serialize)]
struct BlockData<'a> {
    title: String,
    /// The numbers of heads, queries and keys.
    shape: [usize; 3],
    weights: Numbers<'a>,
    /// The hidden pairs of a query and a key, numbered row by row, as the beginning and the end of each run of them.
    hidden: Vec<[usize; 2]>,
    attends_to: &'static str,
    is_of_source: bool,
    /// The vector that each head adds to each query, as multiples of the picture's radius, with shape (heads, queries,
    /// 3); `None` if it is not known.
    arrows: Option<Numbers<'a>>,
    /// Whether the arrows begin at the query's point and not at zero.
    residual: bool,
}

#[derive(Serialize)]
struct AxesData {
    names: Vec<String>,
    ends: Vec<Option<(String, String)>>,
    shares: Vec<f32>,
}

/// The data as JSON, and a description of what was left out, for the reader.
pub(super) struct Given {
    pub json: String,
    pub about: String,
}

/// Returns the data of the snapshot's forward pass; `None` if there is no model, or if not even one block fits.
pub(super) fn data(snapshot: &Snapshot) -> Option<Given> {
    let (model, stage) = (snapshot.model.as_ref()?, StageModel::of(snapshot)?);
    let sentence = &model.sentence;
    let (shown, count) = blocks_that_fit(model);
    let labels = HeadLabels::of(model);
    let points = points(model, stage.radius, shown, NUMBERS_MAX - count);
    let heads = model.architecture.heads();
    let data = GivenData {
        tokens: texts(&sentence.tokens),
        source: sentence.source.as_deref().map(texts),
        source_blocks: model.architecture.source_blocks.len().min(shown),
        blocks: (0..shown).map(|block| block_data(model, block, stage.radius)).collect(),
        heads: (0..heads)
            .map(|head| HeadData::of(&labels, &model.architecture, head))
            .filter(|head| head.block < shown)
            .collect(),
        source_points: sentence
            .source_points
            .first()
            .filter(|_| has_points(model))
            .map(|points| scaled(points, stage.radius)),
        points,
        projection: axes(snapshot, &stage)?,
        steps: Step::ALL.map(Step::name),
        answers: answers(model),
        grid: grid_data(snapshot),
    };
    let about = about(model, shown, data.points.is_empty());
    let has_heads = !data.heads.is_empty();
    serde_json::to_string(&data).ok().filter(|_| has_heads).map(|json| Given { json, about })
}

fn answers(model: &ModelSnapshot) -> Vec<Vec<(&str, f32)>> {
    let answers = model.sentence.answers.likeliest.iter().filter(|_| model.made_of.static_embedding.guesses_words());
    let named = |answer: &RankedAnswer| Some((model.classes.get(answer.class)?.as_str(), answer.probability));
    answers.map(|best| best.iter().filter_map(named).collect()).collect()
}

/// Returns the grid of patches; `None` if the tokens are not patches, or if only some of them are on the page.
fn grid_data(snapshot: &Snapshot) -> Option<GridData> {
    let pass = snapshot.model.as_ref()?.recorded.as_deref()?;
    let ((rows, columns), tokens) = grid(pass).filter(|_| pass.tokens.len() == pass.place.count(false))?;
    let opaque = |[red, green, blue]: &[u8; 3]| [*red, *green, *blue, u8::MAX];
    let picture = PatchPicture::after(snapshot, None).map(|picture| PictureData {
        width: picture.width,
        pixels: BASE64.encode(&picture.colors.iter().flat_map(opaque).collect::<Vec<_>>()),
    });
    Some(GridData { rows, columns, tokens, picture })
}

/// Returns how many blocks fit with their weights and arrows, and how many numbers these have.
fn blocks_that_fit(model: &ModelSnapshot) -> (usize, usize) {
    let sizes = model.sentence.activations.blocks.iter().map(|block| {
        block.heads.iter().map(|head| head.weights.flat().len() + AXES * head.weights.rows()).sum::<usize>()
    });
    let sums = sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= NUMBERS_MAX).enumerate().map(|(block, sum)| (block + 1, sum)).last().unwrap_or((0, 0))
}

fn block_data(model: &ModelSnapshot, block: usize, radius: f32) -> BlockData<'_> {
    let architecture = &model.architecture;
    let heads = &model.sentence.activations.blocks[block].heads;
    let [queries, keys] = heads.first().map_or([0; 2], |head| [head.weights.rows(), head.weights.cols()]);
    let config = architecture.numbered_blocks().nth(block).map(|(_, config)| config);
    let attends_to_source = config.is_some_and(|config| config.attends_to_source());
    let name = architecture.block_name(block);
    BlockData {
        title: if name.is_empty() { "layer 1".to_owned() } else { name },
        shape: [heads.len(), queries, keys],
        weights: Numbers(heads.iter().flat_map(|head| head.weights.flat().iter().copied()).collect()),
        hidden: hidden(model, block),
        attends_to: if attends_to_source { "source" } else { "own sentence" },
        is_of_source: block < architecture.source_blocks.len(),
        arrows: arrows(model, block, radius),
        residual: config.is_none_or(|config| config.residual),
    }
}

/// Returns what each head of a block adds to each query; `None` if there are no points, and for a recording that lacks
/// the output projection.
fn arrows(model: &ModelSnapshot, block: usize, radius: f32) -> Option<Numbers<'static>> {
    let moves = model.sentence.moves.get(block).filter(|moves| moves.heads() > 0 && has_points(model))?;
    let pairs = (0..moves.heads()).flat_map(|head| (0..moves.queries()).map(move |query| (head, query)));
    Some(Numbers(pairs.flat_map(|(head, query)| moves.head(head, query)).map(|x| x / radius).collect()))
}

/// Returns the runs of pairs that are hidden in all heads of a block. A recording that leaves out small weights tells
/// only by its mask which pairs are hidden; without a mask, there are no runs.
fn hidden(model: &ModelSnapshot, block: usize) -> Vec<[usize; 2]> {
    let is_said = |pass: &RecordedPass| {
        let is_partial = pass.place.model.recording.texts[pass.place.text].about.is_partial;
        !is_partial || pass.tensor(block, Part::Mask).is_some()
    };
    let heads = &model.sentence.activations.blocks[block].heads;
    let mut runs: Vec<[usize; 2]> = Vec::new();
    if !model.recorded.as_deref().is_none_or(is_said) {
        return runs;
    }
    let pairs = heads.first().map_or(0, |head| head.weights.flat().len());
    let is_hidden = |at: &usize| heads.iter().all(|head| head.scores.flat().get(*at) == Some(&f32::NEG_INFINITY));
    for at in (0..pairs).filter(is_hidden) {
        match runs.last_mut() {
            Some([_, end]) if *end == at => *end += 1,
            _ => runs.push([at, at + 1]),
        }
    }
    runs
}

/// Returns the points before the first layer and after each of the first `shown` layers; empty if they have more than
/// `room` numbers.
fn points<'a>(model: &'a ModelSnapshot, radius: f32, shown: usize, room: usize) -> Vec<Numbers<'a>> {
    let (sentence, sources) = (&model.sentence, model.architecture.source_blocks.len());
    if model.recorded.as_ref().is_some_and(|recorded| !recorded.has_states()) {
        return Vec::new();
    }
    let own = sources.min(shown)..shown;
    let is_whole = shown == model.architecture.source_blocks.len() + model.architecture.blocks.len();
    let mut stops: Vec<&Matrix<f32>> = vec![&sentence.start];
    stops.extend(sentence.moves[own].iter().map(|moves| &moves.to));
    if is_whole && stops.len() > 1 {
        let last = stops.len() - 1;
        stops[last] = &sentence.end;
    }
    let numbers = stops.iter().map(|stop| stop.rows() * AXES).sum::<usize>();
    if numbers > room || !has_points(model) {
        return Vec::new();
    }
    stops.into_iter().map(|stop| scaled(stop, radius)).collect()
}

/// Returns whether the points are known; a recording may lack hidden states.
fn has_points(model: &ModelSnapshot) -> bool {
    model.recorded.as_ref().is_none_or(|recorded| recorded.has_states())
}

/// Returns points as multiples of the picture's radius.
fn scaled(points: &Matrix<f32>, radius: f32) -> Numbers<'static> {
    Numbers(points.flat().iter().map(|x| x / radius).collect())
}

fn axes(snapshot: &Snapshot, stage: &StageModel) -> Option<AxesData> {
    let shares = stage.shares.by_axis();
    Some(AxesData {
        names: names(snapshot.space.as_deref()?),
        ends: stage.axes.iter().map(|axis| axis.ends.clone()).collect(),
        shares: (0..stage.axes.len()).map(|axis| shares.map_or(0.0, |(_, shares)| shares.along(axis))).collect(),
    })
}

/// Says what the page holds and what was left out.
fn about(model: &ModelSnapshot, shown: usize, has_no_points: bool) -> String {
    let all = model.sentence.activations.blocks.len();
    let of = if shown < all { format!("the first {shown} of {all} attentions") } else { "all heads".to_owned() };
    let mut about =
        format!("This page shows the numbers of one pass and computes nothing: the attention weights of {of}");
    if !has_no_points {
        about.push_str(", and the points of the stage before and after each layer");
    }
    about.push_str(". Queries, keys, values and the model's parameters are not on it.");
    if let Some(recorded) = &model.recorded {
        about.push_str(&part_of_recording(&recorded.place));
    }
    if shown < all {
        let left = counted(all - shown, "attention");
        let most = NUMBERS_MAX / 1_000_000;
        let _ = write!(
            about,
            " The last {left} did not fit and were left out: a page holds at most {most} million numbers."
        );
    }
    about
}

/// Describes which part of a recording is shown; empty if all of it is.
fn part_of_recording(place: &RecordedPlace) -> String {
    let (texts, shown, all) = (place.model.recording.texts.len(), place.tokens(false), place.count(false));
    let mut part = String::new();
    if texts > 1 {
        let _ = write!(part, " It shows text {} of {texts}.", place.text + 1);
    }
    if shown.len() < all {
        let _ = write!(part, " It shows the tokens {} to {} of {all}.", shown.start + 1, shown.end);
    }
    let (source, all) = (place.tokens(true), place.count(true));
    if source.len() < all {
        let _ = write!(part, " Of the source it shows the tokens {} to {} of {all}.", source.start + 1, source.end);
    }
    part
}
