//! A live page: the static page of [`web_page`], with scripts that run the model in the reader's browser.
//!
//! The page is one file, which needs no server and no network. Without scripts, and in print, it looks like the static
//! page. Each script of `page/` has one job; beside the scripts, JSON holds the lesson's words and numbers (`Data`) and
//! the numbers of its model. The page's policy allows only these scripts, by their hash, and forbids every connection.

mod alike;
mod given;
mod numbers;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use attune_core::kernel::Kernel;
use attune_core::kernel::check::reveal;
use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, StaticSpace};
use attune_core::kernel::static_embedding::Rewriter;
use attune_core::lesson::cells::{Bind, Cell, CellKind, Slider};
use attune_core::lesson::glossary::Glossary;
use attune_core::lesson::limits::{TEMPERATURE_MAX, TEMPERATURE_MIN};
use attune_core::lesson::schema::Order;
use attune_engine::code::tree;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::TensorSpec;
use attune_engine::numerics::projection::AXES;
use attune_engine::pretrained::folder::PAIR;
use attune_engine::pretrained::tokenizer::{HIDDEN, WordPieces};
use attune_engine::quantity::Quantity;
use data_encoding::BASE64;
use serde::Serialize;
use serde_json::Value;

use self::alike::{CardData, alike};
use self::numbers::Numbers;
use super::escaped;
use super::links::section_id;
use super::page::{Page, PageItem, Pictures};
use super::shared_files::{Parts, unmarked};
use super::slides;
use super::trace::TraceConfig;
use super::web_page::math::mathml;
use super::web_page::{self, Additions, CHOSEN_THEME, PageAnswer, PagesAround};
use crate::explain::cards;
use crate::explain::reader::EntryReader;
use crate::explain::tellings::Rest;
use crate::explain::walk::Step;
use crate::view_model::answers::{Asked, is_asked, keepers};
use crate::view_model::axes::names;
use crate::view_model::labels::HeadLabels;
use crate::view_model::notebook::shown_choices;
use crate::view_model::stage::StageModel;

/// The scripts of a live page, in the order of their dependencies; the last one starts the page.
const SCRIPTS: &[&str] = &[
    include_str!("page/engine.js"),
    include_str!("page/dom.js"),
    include_str!("page/pieces.js"),
    include_str!("page/data.js"),
    include_str!("page/state.js"),
    include_str!("page/camera.js"),
    include_str!("page/colors.js"),
    include_str!("page/glow.js"),
    include_str!("page/stage.js"),
    include_str!("page/ribbons.js"),
    include_str!("page/sentence.js"),
    include_str!("page/frame.js"),
    include_str!("page/attention.js"),
    include_str!("page/rules.js"),
    include_str!("page/provenance.js"),
    include_str!("page/weights.js"),
    include_str!("page/code.js"),
    include_str!("page/cells.js"),
    include_str!("page/prose.js"),
    include_str!("page/page.js"),
];
/// The scripts of a page that shows given numbers and computes none.
const GIVEN_SCRIPTS: &[&str] = &[
    include_str!("page/engine.js"),
    include_str!("page/dom.js"),
    include_str!("page/data.js"),
    include_str!("page/state.js"),
    include_str!("page/camera.js"),
    include_str!("page/colors.js"),
    include_str!("page/glow.js"),
    include_str!("page/stage.js"),
    include_str!("page/sentence.js"),
    include_str!("page/attention.js"),
    include_str!("page/maps.js"),
    include_str!("page/frame.js"),
    include_str!("page/given.js"),
];
/// The scripts of slides.
const SLIDES_SCRIPTS: &[&str] = &[
    include_str!("page/engine.js"),
    include_str!("page/dom.js"),
    include_str!("page/pieces.js"),
    include_str!("page/data.js"),
    include_str!("page/state.js"),
    include_str!("page/camera.js"),
    include_str!("page/colors.js"),
    include_str!("page/glow.js"),
    include_str!("page/stage.js"),
    include_str!("page/ribbons.js"),
    include_str!("page/sentence.js"),
    include_str!("page/frame.js"),
    include_str!("page/rules.js"),
    include_str!("page/provenance.js"),
    include_str!("page/code.js"),
    include_str!("page/cells.js"),
    include_str!("page/prose.js"),
    include_str!("page/slides.js"),
];
/// Returns scripts without their comments, which are a seventh of their length and would be repeated on every page of a
/// site.
fn without_comments(scripts: &[&str]) -> String {
    let mut is_comment = false;
    let mut code = String::new();
    for line in scripts.iter().flat_map(|script| script.lines()) {
        let text = line.trim();
        is_comment |= text.starts_with("/*");
        if !is_comment && !text.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
        is_comment &= !text.ends_with("*/");
    }
    code
}

const STYLE: &str = include_str!("page/style.css");
/// The window's fonts, embedded in the page.
pub(super) static FONTS: LazyLock<String> = LazyLock::new(|| {
    let fonts: [(u16, &[u8]); 2] = [
        (400, include_bytes!("../../../../assets/fonts/Inter-Regular.otf")),
        (600, include_bytes!("../../../../assets/fonts/Inter-SemiBold.otf")),
    ];
    let face = |(weight, font): (u16, &[u8])| {
        let data = BASE64.encode(font);
        format!("@font-face {{ font-family: Inter; font-weight: {weight}; src: url(data:font/otf;base64,{data}); }}\n")
    };
    fonts.map(face).concat()
});
/// The notice on a page without the model.
const STILL: &str = "<p class=\"way\">This page contains the lesson's text and the numbers that attune computed, but \
    not the model. To run the model, open the lesson in attune.</p>\n";
/// The notice on a page of a recording that has no attention, or whose first attention does not fit.
const STILL_RECORDING: &str = "<p class=\"way\">This page contains the recorded text without its attention, which is \
    not there or has more numbers than a page holds. To see all of it, open the recording in attune.</p>\n";
/// The elements of a live page that the scripts fill; they are hidden until the scripts run.
const LAB: &str = include_str!("page/lab.html");
const GIVEN_LAB: &str = include_str!("page/given.html");
const SLIDES_LAB: &str = include_str!("page/slides.html");
/// The stage and the time line, which each of the three includes.
const STAGE: &str = include_str!("page/stage.html");
/// The words of a live page for the ends of the time line, the way between them, and the points.
const WORDS: [(&str, &str); 6] = [
    ("{things}", "words"),
    ("{before}", "Where each word is before attention"),
    ("{start}", "static"),
    ("{way}", "The way from static to contextual"),
    ("{after}", "Where attention puts each word"),
    ("{end}", "contextual"),
];
const GIVEN_WORDS: [(&str, &str); 6] = [
    ("{things}", "tokens"),
    ("{before}", "Where each token is before the first layer"),
    ("{start}", "first"),
    ("{way}", "The way through the layers"),
    ("{after}", "Where each token is after the last layer"),
    ("{end}", "last"),
];

fn with_stage(lab: &str, words: &[(&str, &str)]) -> String {
    let stage = words.iter().fold(STAGE.to_owned(), |stage, (slot, word)| stage.replace(slot, word));
    lab.replace("{stage}\n", &stage)
}

/// Writes the page, and returns whether it has scripts. If there is no [`data`], the page of a recording or of a model
/// that was opened by itself shows one pass, as far as its numbers fit; any other page is static. The answers to
/// predictions are taken from `answered`, which is the result of [`revealed`]; without it, the lesson is trained once
/// more for them.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    snapshot: &Snapshot,
    answered: Option<&Snapshot>,
    pictures: &Pictures,
    glossary: Option<&Glossary>,
    to: impl Write,
) -> io::Result<bool> {
    write_among(snapshot, answered, pictures, PagesAround::alone(glossary), to)
}

/// Writes the page with the given links and shared files around it, alone or in a site. See [`write`] for the other
/// arguments and the result.
pub(super) fn write_among(
    snapshot: &Snapshot,
    answered: Option<&Snapshot>,
    pictures: &Pictures,
    around: PagesAround<'_>,
    to: impl Write,
) -> io::Result<bool> {
    if let Some(data) = data(snapshot) {
        let own = own_answers(snapshot, answered);
        let answers = answered.or(own.as_ref()).map_or_else(Vec::new, |answered| answers(snapshot, answered));
        let data = data.elements(around.parts);
        write_with_scripts(snapshot, pictures, around, (&with_stage(LAB, &WORDS), SCRIPTS, &data), answers, to)?;
    } else if let Some(given) = is_given(snapshot).then(|| given::data(snapshot)).flatten() {
        let lab = with_stage(GIVEN_LAB, &GIVEN_WORDS);
        let before = format!("<p class=\"way\">{}</p>\n{lab}", escaped(&given.about));
        write_with_scripts(
            snapshot,
            pictures,
            around,
            (&before, GIVEN_SCRIPTS, &data_element(&given.json)),
            Vec::new(),
            to,
        )?;
    } else {
        let is_recorded = snapshot.lesson.static_embedding.recording().is_some();
        let before = if is_recorded { STILL_RECORDING } else { STILL };
        let still = Additions { before, ..Additions::default() };
        web_page::write_with(snapshot, pictures, around, &still, to)?;
        return Ok(false);
    }
    Ok(true)
}

/// Writes the slides of the lesson's presentation, with arguments as in [`write`]. Returns whether the slides contain
/// the model.
///
/// # Errors
/// If they cannot be written.
pub fn write_slides(
    snapshot: &Snapshot,
    answered: Option<&Snapshot>,
    pictures: &Pictures,
    glossary: Option<&Glossary>,
    to: impl Write,
) -> io::Result<bool> {
    let own = own_answers(snapshot, answered);
    let page = slides::page(snapshot, answered.or(own.as_ref()));
    let around = PagesAround::alone(glossary);
    let is_recorded = snapshot.lesson.static_embedding.recording().is_some();
    let Some(data) = data(snapshot) else {
        let still = Additions { before: STILL, styles: &[STYLE], ..Additions::default() };
        web_page::write_page(page, is_recorded, pictures, around, &still, to)?;
        return Ok(false);
    };
    let script = without_comments(SLIDES_SCRIPTS);
    let lab = with_stage(SLIDES_LAB, &WORDS);
    web_page::write_page(
        page,
        is_recorded,
        pictures,
        around,
        &additions(&lab, &script, &data.elements(around.parts), Vec::new()),
        to,
    )?;
    Ok(true)
}

/// Trains the lesson to find the answers to predictions; `None` if answers are given already, or if there is nothing to
/// reveal.
fn own_answers(snapshot: &Snapshot, answered: Option<&Snapshot>) -> Option<Snapshot> {
    answered.is_none().then(|| revealed(snapshot, || Kernel::trained(snapshot.lesson.clone()))).flatten()
}

/// Returns whether the page may show the numbers of a single pass. A recording's page may, and so may that of a model
/// that was opened by itself; a lesson about a model may not, because its cells need other passes.
fn is_given(snapshot: &Snapshot) -> bool {
    snapshot.lesson.is_of_folder() || snapshot.lesson.static_embedding.recording().is_some()
}

/// Writes a page with scripts, their data, and the elements before its text.
fn write_with_scripts(
    snapshot: &Snapshot,
    pictures: &Pictures,
    around: PagesAround<'_>,
    (before, scripts, data): (&str, &[&str], &str),
    answers: Vec<PageAnswer<'_>>,
    to: impl Write,
) -> io::Result<()> {
    let script = without_comments(scripts);
    web_page::write_with(snapshot, pictures, around, &additions(before, &script, data, answers), to)
}

/// Returns the parts that a page with scripts has in addition to its text.
fn additions<'a>(before: &'a str, script: &'a str, data: &'a str, answers: Vec<PageAnswer<'a>>) -> Additions<'a> {
    static STYLES: LazyLock<[&str; 3]> = LazyLock::new(|| [FONTS.as_str(), CHOSEN_THEME, STYLE]);
    Additions { script: Some(script), styles: &*STYLES, before, after: data, answers }
}

/// Returns the element that holds the data of the scripts.
fn data_element(data: &str) -> String {
    format!("<script type=\"application/json\" id=\"attune-data\">{}</script>\n", unmarked(data))
}

/// Returns a snapshot of the trained lesson with every prediction revealed that the page's reader has yet to make;
/// `None` if there is no such prediction. `trained` returns a kernel of the trained lesson without any changes.
pub fn revealed(snapshot: &Snapshot, trained: impl FnOnce() -> Kernel) -> Option<Snapshot> {
    let is_asked =
        |cell: &&Cell| snapshot.notebook.cells.iter().any(|shown| *shown.cell.id == *cell.id && is_asked(shown));
    let mut cells = snapshot.lesson.cells.iter().filter(is_asked).peekable();
    cells.peek()?;
    let mut kernel = trained();
    cells.for_each(|cell| reveal(&mut kernel, cell));
    Some(kernel.snapshot())
}

/// Returns the model's answers to the predictions that the page's reader has yet to make.
fn answers<'a>(snapshot: &Snapshot, revealed: &'a Snapshot) -> Vec<PageAnswer<'a>> {
    let is_waiting = |id: &str| snapshot.notebook.cells.iter().any(|shown| *shown.cell.id == *id && is_asked(shown));
    let cells = Page::of(revealed, &[]).cells.into_iter().filter(|cell| is_waiting(cell.id));
    cells.filter_map(|cell| answer(cell.id, cell.items)).collect()
}

/// Returns the answer that follows the choices of a revealed prediction; `None` if the items do not contain one.
fn answer<'a>(cell: &'a str, items: Vec<PageItem<'a>>) -> Option<PageAnswer<'a>> {
    let details = items.into_iter().find_map(|item| match item {
        PageItem::Details { items, .. } => Some(items),
        _ => None,
    })?;
    let mut right = None;
    let (mut reasons, mut said) = (Vec::new(), Vec::new());
    for item in details {
        match item {
            PageItem::Choices { right: found, .. } => right = found,
            PageItem::Reasons { reasons: found, .. } => reasons = found,
            item => said.push(item),
        }
    }
    Some(PageAnswer { cell, right: right?, reasons, said })
}

/// The largest number of values in a page: of vectors and parameters together, or of a given pass. They take about 13
/// MB of text.
pub const NUMBERS_MAX: usize = 3_000_000;

#[derive(Serialize)]
struct Data<'a> {
    lesson: &'a str,
    seed: u64,
    config: TraceConfig<'a>,
    /// Whether each block divides scores by √d_k.
    scaled: Vec<bool>,
    /// The temperature of each block.
    temperatures: Vec<f64>,
    /// The lowest and the highest temperature that the program accepts.
    temperature_range: (f64, f64),
    vocabulary: &'a [String],
    classes: &'a [String],
    /// The rules that split a text into pieces; `None` if words are separated by blanks.
    pieces: Option<WordPieces>,
    /// The current values of the tensors that the learner has changed.
    changed: Vec<Parameter<'a>>,
    /// The learner's interventions in the forward pass.
    changes: &'a Interventions<f32>,
    rewriter: Option<RewriterData>,
    groups: Vec<&'a str>,
    group_of: &'a [Option<usize>],
    heads: Vec<HeadData>,
    /// The names of the steps of the walk through a layer.
    steps: [&'static str; Step::ALL.len()],
    /// The cards of each head, by quantity, which explain the numbers of a query and a key.
    cards: Vec<BTreeMap<String, CardData>>,
    /// The formulas of all cards, as MathML.
    formulas: Vec<String>,
    /// The quantities that the card of a number shows as a whole, each with the index of its step.
    whole: Vec<(String, usize)>,
    /// The quantities whose results the steps state, each with the index of its step.
    results: Vec<(String, usize)>,
    /// The sentences about a token outside the steps of the walk.
    rest: Rest,
    /// The word that an answer is about; `None` for a model without answers.
    asked: Option<Asked>,
    /// The section ids of the predictions that keep results hidden until they are answered.
    keepers: Vec<String>,
    hidden: [&'static str; HIDDEN.len()],
    projection: ProjectionData<'a>,
    /// The length that the picture takes as its unit, which determines its scale; see [`StageModel::radius`].
    radius: f32,
    sentences: &'a [Vec<String>],
    /// The sentence on the stage, as indices of the vocabulary.
    sentence: Vec<usize>,
    /// The segment of each word, for a pair of sentences.
    segments: Vec<usize>,
    /// The text that separates the sentences of a pair.
    pair_mark: &'static str,
    cells: Vec<CellData<'a>>,
}

/// The data of a page as JSON: its own, and the numbers of the model as training left it, which several pages may
/// share.
pub struct PageData {
    own: String,
    statics: String,
    parameters: String,
}

impl PageData {
    /// Returns the elements from which the scripts read the data.
    fn elements(&self, parts: Parts<'_>) -> String {
        let of_model = [("statics", &self.statics), ("parameters", &self.parameters)];
        of_model.map(|(name, json)| parts.json(name, json)).concat() + data_element(&self.own).as_str()
    }
}

#[derive(Serialize)]
struct Tensor<'a> {
    shape: [usize; 2],
    numbers: Numbers<'a>,
}

impl<'a> Tensor<'a> {
    fn of(matrix: &'a Matrix<f32>) -> Self {
        Self { shape: [matrix.rows(), matrix.cols()], numbers: Numbers(matrix.flat().into()) }
    }
}

#[derive(Serialize)]
struct Parameter<'a> {
    symbol: String,
    /// The name in code cells and sliders.
    code: String,
    purpose: &'static str,
    shape: [usize; 2],
    numbers: Numbers<'a>,
}

impl<'a> Parameter<'a> {
    fn of((spec, values): (&TensorSpec, Cow<'a, [f32]>)) -> Self {
        let TensorSpec { id, rows, cols, .. } = *spec;
        Self {
            symbol: id.to_string(),
            code: id.code_name(),
            purpose: id.name.purpose(),
            shape: [rows, cols],
            numbers: Numbers(values),
        }
    }
}

/// Returns the tensors that differ from the trained ones, with their current values.
fn changed(model: &ModelSnapshot) -> Vec<Parameter<'_>> {
    let pairs = model.parameters.tensors().zip(model.trained.tensors());
    pairs.filter(|(now, trained)| now.1 != trained.1).map(|(now, _)| Parameter::of(now)).collect()
}

/// The rule that turns a source into its target.
#[derive(Serialize)]
struct RewriterData {
    reversed: bool,
    becomes: Vec<usize>,
}

impl RewriterData {
    fn of(snapshot: &Snapshot, space: &StaticSpace) -> Option<Self> {
        let rewriter = Rewriter::of(&snapshot.lesson.model.objective, &space.vocabulary)?;
        let words = 0..space.vocabulary.len();
        let becomes = words.filter_map(|word| rewriter.target(&[word]).first().copied()).collect();
        Some(Self { reversed: rewriter.order == Order::Reversed, becomes })
    }
}

#[derive(Serialize)]
struct HeadData {
    /// `Head 1`, with the layer if there are several.
    title: String,
    block: usize,
}

impl HeadData {
    fn of(labels: &HeadLabels<'_>, architecture: &Architecture, head: usize) -> Self {
        Self { title: labels.title(head), block: architecture.head(head).0 }
    }
}

#[derive(Serialize)]
struct ProjectionData<'a> {
    mean: Numbers<'a>,
    axes: Tensor<'a>,
    names: Vec<String>,
    /// For each axis, the words at its negative and its positive end; `None` for an axis that was not chosen.
    ends: Vec<Option<(String, String)>>,
    /// The share of the variance that each axis shows: of all words if they are drawn, and otherwise of the outputs.
    shares: Vec<f32>,
}

#[derive(Serialize)]
struct CellData<'a> {
    /// The id of the cell's section in the page.
    section: String,
    #[serde(flatten)]
    kind: KindData<'a>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum KindData<'a> {
    Stage {
        caption: &'a str,
        sentence: usize,
        words: &'a [String],
        time: f32,
        plays: usize,
        lines: &'a [(String, String)],
        goals: &'a [(String, String)],
    },
    Slider {
        bind: BindData,
        caption: &'a str,
        range: (f64, f64),
        step: Option<f64>,
    },
    Predict {
        choices: Vec<String>,
    },
    /// An exercise that is solved without code, with the syntax trees of its texts.
    Exercise {
        cases: Vec<Value>,
        check: Value,
        value: Option<Value>,
        expected: Option<Value>,
    },
}

#[derive(Serialize)]
#[serde(tag = "to", rename_all = "lowercase")]
enum BindData {
    Temperature,
    Time,
    Mask,
    Weight { symbol: String, row: usize, col: usize },
    Variable { name: String },
}

impl BindData {
    fn of(bind: &Bind) -> Self {
        match bind {
            Bind::Temperature => Self::Temperature,
            Bind::Time => Self::Time,
            Bind::Mask => Self::Mask,
            Bind::Weight { tensor, row, col } => Self::Weight { symbol: tensor.to_string(), row: *row, col: *col },
            Bind::Variable(name) => Self::Variable { name: name.clone() },
        }
    }
}

impl<'a> KindData<'a> {
    /// Returns the data of a cell, or `None` if the scripts do nothing with it.
    fn of(shown: &'a CellSnapshot) -> Option<Self> {
        match &*shown.cell.kind {
            CellKind::Stage { caption, sentence, words, time, plays, lines, goals } => {
                Some(Self::Stage { caption, sentence: *sentence, words, time: *time, plays: *plays, lines, goals })
            }
            CellKind::Slider(Slider { caption, bind, range, step, start: _ }) => {
                Some(Self::Slider { bind: BindData::of(bind), caption, range: *range, step: *step })
            }
            CellKind::Predict(predict) => {
                let choices = shown_choices(predict, shown).into_iter().map(|(_, words)| words).collect();
                Some(Self::Predict { choices })
            }
            CellKind::Exercise(exercise) if exercise.start.is_none() => Some(Self::Exercise {
                cases: exercise.cases.iter().map(|case| tree(case)).collect(),
                check: tree(&exercise.check),
                value: tree_of(&exercise.value),
                expected: tree_of(&exercise.expected),
            }),
            CellKind::Exercise(_)
            | CellKind::Text { .. }
            | CellKind::Code { .. }
            | CellKind::Plot { .. }
            | CellKind::Gate { .. } => None,
        }
    }
}

/// Returns the syntax tree of a text that an exercise may leave out; `None` if the exercise leaves it out.
fn tree_of(text: &str) -> Option<Value> {
    if text.is_empty() { None } else { Some(tree(text)) }
}

fn cells(snapshot: &Snapshot) -> Vec<CellData<'_>> {
    let shown = snapshot.notebook.cells.iter();
    shown
        .filter_map(|shown| Some(CellData { section: section_id(&shown.cell.id), kind: KindData::of(shown)? }))
        .collect()
}

/// Returns the data of a page as JSON; `None` if there is no model yet, for a recording, if the model is too large for
/// a page, or if the scripts lack its tokenizer.
pub fn data(snapshot: &Snapshot) -> Option<PageData> {
    let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
    if model.recorded.is_some() {
        return None;
    }
    let count = space.vectors.rows() * space.vectors.cols() + model.parameters.flat().len();
    let pieces = match snapshot.lesson.static_embedding.pretrained() {
        Some(model) => {
            Some(model.tokenizer.as_ref().ok()?.word_pieces(model.reads_pairs() && model.config.types() != 1)?)
        }
        None => None,
    };
    if count > NUMBERS_MAX {
        return None;
    }
    let stage = StageModel::of(snapshot)?;
    let (statics, reader) = (space.vectors.widened(), EntryReader::of(snapshot)?);
    let (architecture, labels) = (&model.architecture, HeadLabels::of(model));
    let blocks = || architecture.numbered_blocks().map(|(_, block)| &block.attention);
    let (projection, shares) = (&space.projection, stage.shares.by_axis());
    let mut formulas = Vec::new();
    let cards: Vec<_> =
        (0..architecture.heads()).map(|head| reader.cards(head, &mut formulas)).collect::<Option<_>>()?;
    let by_name = |all: &[(Quantity, Step)]| all.iter().map(|(of, step)| (cards::key(*of), step.index())).collect();
    let words = || model.sentence.chosen().iter().filter(|token| token.word.is_some());
    let data = Data {
        lesson: &snapshot.lesson.id,
        seed: model.made_of.seed,
        config: TraceConfig(snapshot, model),
        scaled: blocks().map(|layer| layer.scale).collect(),
        temperatures: blocks().map(|layer| layer.temperature).collect(),
        temperature_range: (TEMPERATURE_MIN, TEMPERATURE_MAX),
        vocabulary: &space.vocabulary,
        classes: &model.classes,
        pieces,
        changed: changed(model),
        changes: &model.interventions,
        rewriter: RewriterData::of(snapshot, space),
        groups: snapshot.lesson.groups.iter().map(|group| group.name.as_str()).collect(),
        group_of: &space.group_of,
        heads: (0..architecture.heads()).map(|head| HeadData::of(&labels, architecture, head)).collect(),
        steps: Step::ALL.map(Step::name),
        cards: alike(cards.into_iter()).ok()?,
        formulas: formulas.iter().map(|latex| mathml(latex, false)).collect(),
        whole: by_name(&cards::WHOLE),
        results: by_name(&cards::RESULTS),
        rest: Rest::of(model),
        asked: Asked::of(model),
        keepers: keepers(snapshot).map(|id| section_id(id)).collect(),
        hidden: HIDDEN,
        projection: ProjectionData {
            mean: Numbers(projection.mean().into()),
            axes: Tensor {
                shape: [AXES, projection.mean().len()],
                numbers: Numbers([0, 1, 2].map(|axis| projection.axis(axis)).concat().into()),
            },
            names: names(space),
            ends: stage.axes.iter().map(|axis| axis.ends.clone()).collect(),
            shares: (0..stage.axes.len()).map(|axis| shares.map_or(0.0, |(_, shares)| shares.along(axis))).collect(),
        },
        radius: stage.radius,
        sentences: &snapshot.lesson.sentences,
        sentence: words().filter_map(|token| token.word).collect(),
        segments: words().map(|token| token.piece.as_ref().map_or(0, |piece| piece.segment)).collect(),
        pair_mark: PAIR,
        cells: cells(snapshot),
    };
    let parameters: Vec<Parameter<'_>> = model.trained.tensors().map(Parameter::of).collect();
    Some(PageData {
        own: serde_json::to_string(&data).ok()?,
        statics: serde_json::to_string(&Tensor::of(&statics)).ok()?,
        parameters: serde_json::to_string(&parameters).ok()?,
    })
}
