//! A live page: the static page of [`web_page`], with scripts that run the model in the reader's browser.
//!
//! One file, no server, no network. Without scripts, and on paper, it is the static page. The scripts are those of
//! `page/`, each of one job; the lesson's numbers and words are one JSON text beside them (`Data`). The page's
//! policy lets those scripts alone run, by their hash, and forbids every connection.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::LazyLock;

use attune_core::kernel::Kernel;
use attune_core::kernel::check::reveal;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, StaticSpace};
use attune_core::kernel::static_embedding::Rewriter;
use attune_core::lesson::cells::{Bind, Cell, CellKind, Slider};
use attune_core::lesson::glossary::Glossary;
use attune_core::lesson::limits::{TEMPERATURE_MAX, TEMPERATURE_MIN};
use attune_core::lesson::schema::Order;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::TensorSpec;
use attune_engine::numerics::projection::AXES;
use attune_engine::pretrained::folder::PAIR;
use attune_engine::pretrained::tokenizer::{HIDDEN, WordPieces};
use data_encoding::BASE64;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::page::{Page, PageItem, Pictures};
use super::trace::TraceConfig;
use super::web_page::{self, Additions, CHOSEN_THEME, PageAnswer, PagesAround, section_id};
use crate::explain::reader::EntryReader;
use crate::explain::rule::Expr;
use crate::explain::sentences::templates;
use crate::view_model::answers::{Asked, is_asked, keepers};
use crate::view_model::axes::names;
use crate::view_model::heads::HeadLabels;
use crate::view_model::stage::StageModel;

/// Scripts in the order in which they need each other; the last one begins.
const SCRIPTS: &[&str] = &[
    include_str!("page/engine.js"),
    include_str!("page/pieces.js"),
    include_str!("page/data.js"),
    include_str!("page/state.js"),
    include_str!("page/camera.js"),
    include_str!("page/colors.js"),
    include_str!("page/stage.js"),
    include_str!("page/ribbons.js"),
    include_str!("page/sentence.js"),
    include_str!("page/attention.js"),
    include_str!("page/rules.js"),
    include_str!("page/provenance.js"),
    include_str!("page/weights.js"),
    include_str!("page/code.js"),
    include_str!("page/cells.js"),
    include_str!("page/prose.js"),
    include_str!("page/page.js"),
];
const STYLE: &str = include_str!("page/style.css");
/// The window's fonts, in the page itself.
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
/// The words of a page that has no model in it.
const STILL: &str = "<p class=\"way\">This page contains the lesson's text and the numbers that attune computed, but \
    not the model. To run the model, open the lesson in attune.</p>\n";
/// Elements that the scripts fill; hidden until they run.
const LAB: &str = include_str!("page/lab.html");

/// Writes the page. A lesson whose model or tokenizer no page has ([`data`]) gets the static page. Predictions are answered as
/// in `answered`, which is [`revealed`]; without it the lesson is trained once more for that. Returns whether the page is
/// live.
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

/// Writes the page as one of several.
pub(super) fn write_among(
    snapshot: &Snapshot,
    answered: Option<&Snapshot>,
    pictures: &Pictures,
    around: PagesAround<'_>,
    to: impl Write,
) -> io::Result<bool> {
    let Some(data) = data(snapshot) else {
        let still = Additions { before: STILL, ..Additions::default() };
        return web_page::write_with(snapshot, pictures, around, &still, to).map(|()| false);
    };
    let script = SCRIPTS.concat();
    let own = answered.is_none().then(|| revealed(snapshot, || Kernel::trained(snapshot.lesson.clone()))).flatten();
    let additions = Additions {
        policy: &policy(&script),
        style: &format!("{}{CHOSEN_THEME}{STYLE}", *FONTS),
        before: LAB,
        after: &format!(
            "<script type=\"application/json\" id=\"attune-data\">{}</script>\n<script>{script}</script>\n",
            unmarked(&data)
        ),
        answers: answered.or(own.as_ref()).map_or_else(Vec::new, |answered| answers(snapshot, answered)),
    };
    web_page::write_with(snapshot, pictures, around, &additions, to).map(|()| true)
}

/// The policy of a page that runs this script alone and connects to nothing.
pub(super) fn policy(script: &str) -> String {
    let hash = BASE64.encode(&Sha256::digest(script));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; img-src data:; font-src data:; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'"
    )
}

/// JSON in which nothing begins a tag or ends a script.
pub(super) fn unmarked(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The lesson as it is trained, with every prediction revealed that the page's reader is yet to make; `None` where there
/// is none. The kernel is one of the trained lesson in which nothing was changed.
pub fn revealed(snapshot: &Snapshot, trained: impl FnOnce() -> Kernel) -> Option<Snapshot> {
    let is_asked =
        |cell: &&Cell| snapshot.notebook.cells.iter().any(|shown| *shown.cell.id == *cell.id && is_asked(shown));
    let mut cells = snapshot.lesson.cells.iter().filter(is_asked).peekable();
    cells.peek()?;
    let mut kernel = trained();
    cells.for_each(|cell| reveal(&mut kernel, cell));
    Some(kernel.snapshot())
}

/// The model's answers to the predictions that the page's reader is yet to make.
fn answers<'a>(snapshot: &Snapshot, revealed: &'a Snapshot) -> Vec<PageAnswer<'a>> {
    let is_waiting = |id: &str| snapshot.notebook.cells.iter().any(|shown| *shown.cell.id == *id && is_asked(shown));
    let cells = Page::of(revealed, &[]).cells.into_iter().filter(|cell| is_waiting(cell.id));
    cells.filter_map(|cell| answer(cell.id, cell.items)).collect()
}

/// The answer that a revealed prediction says behind its choices.
fn answer<'a>(cell: &'a str, items: Vec<PageItem<'a>>) -> Option<PageAnswer<'a>> {
    let details = items.into_iter().find_map(|item| match item {
        PageItem::Details { items, .. } => Some(items),
        _ => None,
    })?;
    let mut right = None;
    let mut said = Vec::new();
    for item in details {
        match item {
            PageItem::Choices { right: found, .. } => right = found,
            item => said.push(item),
        }
    }
    Some(PageAnswer { cell, right: right?, said })
}

/// Numbers of the vectors and the parameters together that a page holds: some 16 MB of text.
pub const NUMBERS_MAX: usize = 3_000_000;

#[derive(Serialize)]
struct Data<'a> {
    lesson: &'a str,
    seed: u64,
    config: TraceConfig<'a>,
    /// Whether each block divides scores by √d_k, and its temperature.
    scaled: Vec<bool>,
    temperatures: Vec<f64>,
    /// The smallest and the largest that the program takes.
    temperature_range: (f64, f64),
    vocabulary: &'a [String],
    classes: &'a [String],
    /// How a text is cut into pieces; without it, at its blanks into words.
    pieces: Option<WordPieces>,
    statics: Tensor<'a>,
    /// Trained values, by symbol.
    parameters: Vec<Parameter<'a>>,
    /// Present values of the tensors that the learner has changed.
    changed: Vec<Parameter<'a>>,
    /// The learner's changes of the forward pass.
    changes: &'a Interventions<f32>,
    rewriter: Option<RewriterData>,
    groups: Vec<&'a str>,
    group_of: &'a [Option<usize>],
    heads: Vec<HeadData>,
    /// The rules of a query and a key by quantity, each with its symbol, for each head.
    rules: Vec<BTreeMap<String, (String, Expr)>>,
    /// Words that an answer is about, and those that stand for a hidden one.
    asked: Option<Asked>,
    /// Sections of the predictions before whose answer none is told.
    keepers: Vec<String>,
    hidden: [&'static str; HIDDEN.len()],
    /// The sentences of explanations and results.
    explanations: BTreeMap<&'static str, String>,
    projection: ProjectionData<'a>,
    /// The scale of the picture, and from where to where it reaches, see `app::stage`.
    radius: f32,
    sentences: &'a [Vec<String>],
    /// The sentence on the stage, as words of the vocabulary, and the segment of each in a pair.
    sentence: Vec<usize>,
    segments: Vec<usize>,
    /// Stands between the sentences of a pair.
    pair_mark: &'static str,
    cells: Vec<CellData<'a>>,
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

/// Tensors that are no longer as training left them.
fn changed(model: &ModelSnapshot) -> Vec<Parameter<'_>> {
    let pairs = model.parameters.tensors().zip(model.trained.tensors());
    pairs.filter(|(now, trained)| now.1 != trained.1).map(|(now, _)| Parameter::of(now)).collect()
}

/// Base64 of little-endian 32-bit floats: exact, and half as long as digits.
struct Numbers<'a>(Cow<'a, [f32]>);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|x| x.to_le_bytes()).collect();
        serializer.serialize_str(&BASE64.encode(&bytes))
    }
}

/// The rule that makes a target of a source.
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
    /// `Head 1`, with the layer where there are several.
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
    /// Words from which a chosen axis runs and those to which.
    ends: Vec<Option<(String, String)>>,
    /// Shares of the variance of all words, by axis.
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
        choices: &'a [String],
    },
    /// Done elsewhere than in code.
    Exercise {
        cases: &'a [String],
        check: &'a str,
        value: &'a str,
        expected: &'a str,
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
    /// `None` of a cell with which the scripts have nothing to do.
    fn of(kind: &'a CellKind) -> Option<Self> {
        match kind {
            CellKind::Stage { caption, sentence, words, time, plays, lines, goals } => {
                Some(Self::Stage { caption, sentence: *sentence, words, time: *time, plays: *plays, lines, goals })
            }
            CellKind::Slider(Slider { caption, bind, range, step, start: _ }) => {
                Some(Self::Slider { bind: BindData::of(bind), caption, range: *range, step: *step })
            }
            CellKind::Predict(predict) => Some(Self::Predict { choices: &predict.choices }),
            CellKind::Exercise(exercise) if exercise.start.is_none() => Some(Self::Exercise {
                cases: &exercise.cases,
                check: &exercise.check,
                value: &exercise.value,
                expected: &exercise.expected,
            }),
            CellKind::Exercise(_)
            | CellKind::Text { .. }
            | CellKind::Code { .. }
            | CellKind::Plot { .. }
            | CellKind::Gate { .. } => None,
        }
    }
}

fn cells(snapshot: &Snapshot) -> Vec<CellData<'_>> {
    let cells = snapshot.notebook.cells.iter().map(|shown| &shown.cell);
    cells.filter_map(|cell| Some(CellData { section: section_id(&cell.id), kind: KindData::of(&cell.kind)? })).collect()
}

/// The data of a page; `None` until there is a model, and of one that is too large for a page or has a tokenizer that the
/// scripts lack.
pub fn data(snapshot: &Snapshot) -> Option<String> {
    let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
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
        statics: Tensor::of(&statics),
        parameters: model.trained.tensors().map(Parameter::of).collect(),
        changed: changed(model),
        changes: &model.interventions,
        rewriter: RewriterData::of(snapshot, space),
        groups: snapshot.lesson.groups.iter().map(|group| group.name.as_str()).collect(),
        group_of: &space.group_of,
        heads: (0..architecture.heads()).map(|head| HeadData::of(&labels, architecture, head)).collect(),
        rules: (0..architecture.heads()).map(|head| reader.rules_of_pairs(head)).collect::<Option<_>>()?,
        asked: Asked::of(model),
        keepers: keepers(snapshot).map(|id| section_id(id)).collect(),
        hidden: HIDDEN,
        explanations: templates(),
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
    serde_json::to_string(&data).ok()
}
