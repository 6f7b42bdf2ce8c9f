//! Arguments of the command line, and the sentence and the changes to a pass of the model that they ask for: a head, an edge
//! of attention, a vector of another sentence, the temperature.

use std::fmt;
use std::path::PathBuf;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::sentence_pass::sentence::Sentence;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Lesson;
use attune_core::lesson::issue::printable;
use attune_core::store::Home;
use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::Patch;
use attune_view::export::file::Format;
use attune_view::export::vectors::TableRows;
use attune_view::view_model::pictures::{PIXELS_MAX, SIDES, fits};
use clap::builder::PossibleValue;
use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::CliFault;

/// A workspace for learning self-attention: train tiny models or open BERT and GPT-2, watch words move, and change every
/// weight.
///
/// To begin: `attune` opens the course, and `attune new my_lesson.ron` writes a commented lesson to start from. Exit
/// codes: 0 done, 1 the lesson has issues or the output cannot be written, 2 wrong usage, 3 no display or GPU, 70 attune
/// has crashed, 130 Ctrl-C ended `check --watch`.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    #[command(subcommand)]
    pub action: Option<CliCommand>,

    /// The lesson to open, by its file or its name in the course; or the folder or name of a pretrained model. A file that
    /// was shared or handed in, such as apple-shared.attune, opens as a copy. If none is given, the course opens: the
    /// lessons of the folder `lessons`, here or above, or else the built-in lessons.
    pub lesson: Option<PathBuf>,

    #[command(flatten)]
    pub of: OfLesson,

    /// Another lesson or model to compare with on the same sentence, by its file, folder or name; or, of a file of vectors,
    /// another one, turned onto it: see Two models in the panel Meaning.
    #[arg(long, value_name = "LESSON")]
    pub beside: Option<PathBuf>,

    /// The look of the window.
    #[arg(long, value_enum)]
    pub theme: Option<ThemeArg>,

    /// The size of the window, in pixels.
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,

    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, clap::Args)]
pub struct OfLesson {
    /// The lesson of a file that was shared or handed in, if it is neither beside that file nor in the course.
    #[arg(long = "lesson", value_name = "LESSON")]
    pub path: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// The seed of every random draw, instead of the lesson's own.
    #[arg(long, global = true, value_parser = seed, allow_hyphen_values = true)]
    pub seed: Option<u64>,

    /// The folder for the learner's work, instead of the platform's own.
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Print only results and errors.
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// Print no colours.
    #[arg(long = "no-color", global = true, action = ArgAction::SetFalse)]
    pub color: bool,
}

impl Common {
    /// The folder for the learner's work; `None` where the environment names no home.
    pub fn home(&self) -> Option<Home> {
        self.state.clone().map(Home::at).or_else(Home::of_platform)
    }
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Train lessons and verify their claims, without a window.
    Check {
        /// The lessons, by their files or names, such as lessons/*.ron; a glossary among them is checked as a
        /// glossary. Or models, by folder or name: their files with SHA-256, tensors and tokenizer, a self-test, and,
        /// for known models, the published numbers. Or files of word vectors: their size, and what was repaired. If
        /// none is given, the course. A given sentence is also run through each lesson or model.
        lessons: Vec<PathBuf>,
        #[command(flatten)]
        sentence: SentenceArgs,
        #[command(flatten)]
        options: CheckOptions,
    },
    /// Print every tensor of a sentence's forward pass, or words of a file of vectors, as one JSON object.
    ///
    /// src/view/export/trace.md describes its keys and how heads and blocks are counted.
    Trace {
        /// The lesson, by its file or its name in the course, trained first; or a pretrained model, by its folder or name;
        /// or, with --words, a file of vectors.
        lesson: PathBuf,
        #[command(flatten)]
        sentence: SentenceArgs,
        #[command(flatten)]
        what_if: WhatIfArgs,
        /// Words of a file of vectors, or of a model's table, such as king,queen: their vectors, lengths, cosines and
        /// neighbours.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, conflicts_with_all = PASS)]
        words: Option<Vec<String>>,
    },
    /// Write a small, working, commented lesson to start from, or a copy of another lesson.
    New {
        /// The file to write, such as my_lesson.ron; an existing file is left alone.
        lesson: PathBuf,
        /// A lesson to copy, by its file or its name in the course, such as apple.
        #[arg(long, value_name = "LESSON")]
        from: Option<PathBuf>,
    },
    /// Draw a lesson to a file, without a display: a picture (PNG) or an animation (GIF, APNG).
    Render(RenderArgs),
    /// Grade the files that learners handed in, by the lesson's own checks.
    ///
    /// If a submission cannot be read, it is named, the others are graded, and the exit code is 1.
    Grade(GradeArgs),
    /// Print the words nearest to a word or an expression, among the vectors of a file.
    ///
    /// Reads word2vec (binary and text), fastText's .vec, GloVe, the projector's TSV, .npy, .npz and safetensors, each also with
    /// gzip; and the word table of a model's folder.
    Neighbours(NeighboursArgs),
    /// Turn the vectors of one file onto those of another by the words that both have, and print the words that moved most
    /// and least.
    ///
    /// The turn is orthogonal Procrustes over the directions of all shared words. A word's cosine is that of its turned vector
    /// with its vector in the other file.
    Compare(CompareArgs),
    /// Print the licences of the program, its fonts and its libraries.
    Licences,
    /// Print the manual page, for `man -l -` or for a folder of manual pages.
    Manual,
    /// Print the command completions for a shell.
    Completions {
        /// The shell to complete for.
        shell: Shell,
    },
    /// Write a lesson, trained and with the outputs of its cells, as a file for another program.
    ///
    /// ipynb: a Jupyter notebook. html: one page that needs nothing else. web: the same page with the model in
    /// it, for any browser: the stage can be turned, and words, weights and heads can be changed. md: Markdown, with
    /// its pictures in the folder NAME_files beside it. checkpoint: the model as a folder of BERT's or GPT-2's shape, for
    /// the transformers library and for attune itself.
    ///
    /// Vectors: word2vec (binary), word2vec-text (fastText's .vec too), glove, npy, npz, safetensors, and tsv for
    /// projector.tensorflow.org. Beside npy, safetensors and tsv, NAME_metadata.tsv names each row. They come from a lesson
    /// (see --vectors), from a model's table, or from a file of vectors in another format.
    Export(ExportArgs),
}

/// Options about a pass of a model.
const PASS: [&str; 7] = ["sentence", "ids", "head", "without", "second", "patch", "temperature"];

#[derive(Debug, clap::Args)]
pub struct SentenceArgs {
    /// A sentence in place of the first one: words of the lesson's vocabulary, or any text for a model.
    #[arg(long, allow_hyphen_values = true)]
    pub sentence: Option<String>,
    /// The same, as rows of the vocabulary (the token ids of a model), such as 2,45,311.
    #[arg(long, value_delimiter = ',', conflicts_with = "sentence")]
    pub ids: Option<Vec<usize>>,
}

#[derive(Debug, clap::Args)]
pub struct CheckOptions {
    /// Print the measured value of every claim, not only of those that fail.
    #[arg(long, short)]
    pub verbose: bool,
    /// How long the cells, texts and exercises of one lesson may take together, without its training.
    #[arg(long, value_name = "SECONDS", default_value_t = WITHIN, value_parser = clap::value_parser!(u64).range(1..))]
    pub within: u64,
    /// Check a lesson again whenever it is saved, and all lessons when their glossary is, until Ctrl-C (exit code 130).
    #[arg(long, short)]
    pub watch: bool,
}

/// Seconds for the cells of a lesson together, if the user does not say otherwise.
const WITHIN: u64 = 60;

#[derive(Debug, clap::Args)]
pub struct RenderArgs {
    /// The lesson, by its file or its name in the course, trained first; or a pretrained model, by its folder or name; or
    /// a file that was shared, drawn as it was on the screen.
    pub lesson: PathBuf,
    #[command(flatten)]
    pub of: OfLesson,
    /// The file to write: a picture if the name ends in .png; an animation for .gif, .apng, and .png with --play.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The sequence that an animation plays; without this option, split.
    #[arg(long, value_enum)]
    pub play: Option<PlayArg>,
    /// How many seconds an animation plays until it begins again, at most 60; without it, as long as it needs.
    #[arg(long, value_parser = seconds)]
    pub seconds: Option<f32>,
    /// The stage cell to draw; without it, the lesson's first sentence.
    #[arg(long, value_name = "ID", conflicts_with_all = ["sentence", "ids"])]
    pub cell: Option<String>,
    #[command(flatten)]
    pub sentence: SentenceArgs,
    /// From 0, static, to 1, contextual; without it, the cell's own, or 1.
    #[arg(long, value_parser = time, allow_hyphen_values = true)]
    pub time: Option<f32>,
    /// The size of the picture, in pixels; without it, 1280x720, or the size of the stage that was shared.
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,
    /// Of a file of vectors: what colours stand for, a column of its metadata, or rank, the place of the row in the file.
    #[arg(long, value_name = "COLUMN", alias = "color-by")]
    pub colour_by: Option<String>,
    /// Of a file of vectors: what sizes stand for, a column of numbers, or rank.
    #[arg(long, value_name = "COLUMN")]
    pub size_by: Option<String>,
    /// Draw the whole window, not the stage alone: with the panels that the lesson begins with, or those that are open
    /// when a learner comes to the cell.
    #[arg(long)]
    pub workspace: bool,
    /// Leave the background transparent.
    #[arg(long, conflicts_with = "workspace")]
    pub transparent: bool,
    /// The look of the picture.
    #[arg(long, value_enum, default_value = "light")]
    pub theme: ThemeArg,
}

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The lesson, by its file or its name in the course, trained first; or a pretrained model, by its folder or name; or
    /// a file of vectors.
    #[arg(required_unless_present = "course")]
    pub lesson: Option<PathBuf>,
    /// Instead of a lesson: the whole course, as a folder of live pages with a front page; only with --to web.
    #[arg(long, conflicts_with = "lesson")]
    pub course: bool,
    /// The format to write.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: ExportTo,
    /// The file to write, such as apple.html; an existing file is replaced. For a checkpoint or a course, a new folder.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The vectors to write: static, those of all words; contextual, those of each word of each sentence after the last
    /// layer; layers, those before the first layer and after each layer. Without it, word2vec and GloVe get the static
    /// vectors, and the other formats also get both vectors of each word of each sentence.
    #[arg(long, value_enum, value_name = "VECTORS")]
    pub vectors: Option<RowsArg>,
    #[command(flatten)]
    pub sentence: SentenceArgs,
    /// How long the cells may take together; cells that have not run by then are exported without outputs.
    #[arg(long, value_name = "SECONDS", default_value_t = WITHIN, value_parser = clap::value_parser!(u64).range(1..))]
    pub within: u64,
}

#[derive(Debug, clap::Args)]
pub struct NeighboursArgs {
    /// The file of vectors, or a model's folder.
    pub file: PathBuf,
    /// A word, or words with + and - between them: "king - man + woman".
    #[arg(allow_hyphen_values = true)]
    pub expression: String,
    /// How many words to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub count: usize,
    /// Measure by distance instead of cosine.
    #[arg(long)]
    pub distance: bool,
    /// Let the words of the expression be answers too.
    #[arg(long)]
    pub with_words: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The file of vectors that is turned, or a model's folder.
    pub file: PathBuf,
    /// The file, or folder, that it is turned onto; its vectors have the same width.
    pub other: PathBuf,
    /// How many words to print that moved most, and how many that moved least.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub count: usize,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct GradeArgs {
    /// The lesson, by its file or its name in the course.
    pub lesson: PathBuf,
    /// The submissions: files that learners handed in, such as submissions/*.attune.
    #[arg(required = true)]
    pub submissions: Vec<PathBuf>,
    /// tsv: a line for each task of each submission. html: a page that shows which mistakes are common.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "tsv")]
    pub to: GradeFormat,
    /// The file to write, instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GradeFormat {
    Tsv,
    Html,
}

/// A format of `attune export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTo {
    File(Format),
    /// Its model alone, as a folder.
    Checkpoint,
}

impl ValueEnum for ExportTo {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ExportTo; Format::ALL.len() + 1] = {
            let mut all = [ExportTo::Checkpoint; Format::ALL.len() + 1];
            let mut i = 0;
            while i < Format::ALL.len() {
                all[i] = ExportTo::File(Format::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::File(format) => format.key(),
            Self::Checkpoint => "checkpoint",
        }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowsArg {
    Static,
    Contextual,
    Layers,
}

impl From<RowsArg> for TableRows {
    fn from(rows: RowsArg) -> Self {
        match rows {
            RowsArg::Static => Self::Static,
            RowsArg::Contextual => Self::Contextual,
            RowsArg::Layers => Self::Layers,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThemeArg {
    Light,
    Dark,
}

#[cfg(feature = "app")]
impl ThemeArg {
    pub fn is_dark(self) -> bool {
        self == Self::Dark
    }
}

/// The sequence that an animation plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlayArg {
    /// From static to contextual, and back.
    Split,
    /// The steps of attention, for the lesson's word.
    Walk,
    /// Training, from its first step to its last.
    Training,
    /// One turn of the camera around the scene.
    Orbit,
}

/// The longest that an animation plays, in seconds.
const PLAYS_MAX: f32 = 60.0;

fn seconds(text: &str) -> Result<f32, String> {
    let seconds = text.parse().ok().filter(|seconds| (1.0..=PLAYS_MAX).contains(seconds));
    seconds.ok_or_else(|| format!("expected seconds from 1 to {PLAYS_MAX}"))
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || {
        let (least, most, millions) = (SIDES.start(), SIDES.end(), PIXELS_MAX / 1_000_000);
        format!(
            "expected WIDTHxHEIGHT in pixels, each from {least} to {most} and together at most {millions} million, such as \
             1280x720"
        )
    };
    let (width, height) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let side = |text: &str| text.trim().parse().map_err(|_| wrong());
    let size = (side(width)?, side(height)?);
    fits(size).then_some(size).ok_or_else(wrong)
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn time(text: &str) -> Result<f32, String> {
    let time = text.parse().ok().filter(|time| (0.0..=1.0).contains(time));
    time.ok_or_else(|| "expected a number from 0, static, to 1, contextual".to_owned())
}

impl SentenceArgs {
    /// The option that was given.
    pub fn option(&self) -> Option<&'static str> {
        match (&self.sentence, &self.ids) {
            (Some(_), _) => Some("--sentence"),
            (None, Some(_)) => Some("--ids"),
            (None, None) => None,
        }
    }

    /// The command that shows the sentence, if one was given. Asked before training, which may take long.
    ///
    /// # Errors
    /// If the lesson or the model cannot read it.
    pub fn command(&self, lesson: &Lesson) -> Result<Option<Command>, CliFault> {
        let words = || lesson.vocabulary();
        let (read, command) = match (&self.sentence, &self.ids) {
            (Some(text), _) => (Sentence::read(text, lesson, &words()), SentenceCommand::Set(text.clone())),
            (None, Some(ids)) => (Sentence::of_ids(ids, lesson, &words()), SentenceCommand::Ids(ids.clone())),
            (None, None) => return Ok(None),
        };
        let option = self.option().unwrap_or_default();
        read.map_err(|issue| CliFault::usage(format_args!("{option}: {issue}")))?;
        Ok(Some(Command::Sentence(command)))
    }
}

#[derive(Debug, clap::Args)]
pub struct WhatIfArgs {
    /// Change a head, such as 2.3=off for head 3 of layer 2, or several with commas: off, mean, uniform, or a number by
    /// which its output is multiplied. The layers of a source come first.
    #[arg(long, value_name = "LAYER.HEAD=SETTING", value_delimiter = ',', allow_hyphen_values = true, value_parser = head_change)]
    pub head: Vec<(HeadAt, HeadMode<f32>)>,
    /// Remove a head's attention from one token to another, such as 2.3:5-1 from the fifth token to the first, or
    /// several with commas. The rest of the row is rescaled to sum to 1; a row with nothing left is 0.
    #[arg(long, value_name = "LAYER.HEAD:QUERY-KEY", value_delimiter = ',', allow_hyphen_values = true, value_parser = removed_edge)]
    pub without: Vec<(HeadAt, (usize, usize))>,
    /// Patch in a vector of the second sentence, such as 2:5=4: before layer 2, the fifth token gets the vector of the second
    /// sentence's fourth token (activation patching).
    #[arg(long, value_name = "LAYER:TOKEN=FROM", requires = "second", allow_hyphen_values = true, value_parser = patch)]
    pub patch: Option<Patch<f32>>,
    /// The sentence that a patch is taken from.
    #[arg(long, value_name = "SENTENCE", requires = "patch", allow_hyphen_values = true)]
    pub second: Option<String>,
    /// Divide attention scores by this number, instead of the temperature of the lesson or model.
    #[arg(long, allow_hyphen_values = true)]
    pub temperature: Option<f64>,
}

/// A head by its layer and its number there, both from 1: `2.3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadAt {
    layer: usize,
    head: usize,
}

/// A number from 1, as an index.
fn index(text: &str) -> Option<usize> {
    text.trim().parse::<usize>().ok()?.checked_sub(1)
}

fn two(text: &str, between: char) -> Option<(usize, usize)> {
    let (first, second) = text.split_once(between)?;
    Some((index(first)?, index(second)?))
}

/// A head and what stands behind it, such as `2.3=off`.
fn after_head(text: &str, between: char) -> Option<(HeadAt, &str)> {
    let (at, rest) = text.split_once(between)?;
    two(at, '.').map(|(layer, head)| (HeadAt { layer, head }, rest.trim()))
}

fn head_change(text: &str) -> Result<(HeadAt, HeadMode<f32>), String> {
    let read = after_head(text, '=').and_then(|(at, mode)| Some((at, mode.parse().ok()?)));
    read.ok_or_else(|| "expected a layer, a head and a setting, such as 2.3=off or 2.3=0.5".to_owned())
}

/// A head, a query and a key; tokens are counted with those that the tokenizer added.
fn removed_edge(text: &str) -> Result<(HeadAt, (usize, usize)), String> {
    let read = after_head(text, ':').and_then(|(at, edge)| Some((at, two(edge, '-')?)));
    read.ok_or_else(|| "expected a layer, a head and two tokens, such as 2.3:5-1".to_owned())
}

fn patch(text: &str) -> Result<Patch<f32>, String> {
    let read = || {
        let (layer, places) = text.split_once(':')?;
        let (position, from) = two(places, '=')?;
        Some(Patch { block: index(layer)?, position, from, vector: None })
    };
    read().ok_or_else(|| "expected a layer and two tokens, such as 2:5=4".to_owned())
}

impl fmt::Display for HeadAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer.saturating_add(1), self.head.saturating_add(1))
    }
}

impl HeadAt {
    /// The head, counted over all layers.
    fn of(self, model: &ModelSnapshot) -> Result<usize, String> {
        let layers = model.architecture.numbered_blocks().count();
        if self.layer >= layers {
            return Err(format!("there is no layer {}: the model has {layers}", self.layer.saturating_add(1)));
        }
        let heads = model.architecture.heads_of(self.layer);
        let found = heads.clone().nth(self.head);
        found.ok_or_else(|| {
            format!("there is no head {} in layer {}: it has {}", self.head + 1, self.layer + 1, heads.len())
        })
    }
}

impl WhatIfArgs {
    /// Makes the changes to a trained lesson or a model, and gives the pass with them.
    ///
    /// # Errors
    /// If one of them cannot be made; the option is named.
    pub fn apply(&self, kernel: &mut Kernel) -> Result<(), CliFault> {
        let Some(model) = kernel.snapshot().model else { return Ok(()) };
        for (option, command) in self.commands(&model) {
            let refused = |why: &str| CliFault::usage(format_args!("{option}: {}", printable(why)));
            kernel.apply(command.map_err(|why| refused(&why))?);
            if let Some(why) = kernel.notice() {
                return Err(refused(why));
            }
        }
        Ok(())
    }

    /// The changes, each with its option as it was given. A patch is taken from a pass with the same heads and temperature;
    /// removed looks are those of the first sentence alone.
    fn commands(&self, model: &ModelSnapshot) -> Vec<(String, Result<Command, String>)> {
        let interventions = |command: Result<InterventionCommand, String>| command.map(Command::Interventions);
        let heads = self.head.iter().map(|(at, mode)| {
            let set = |head| InterventionCommand::SetHead { head, mode: mode.clone() };
            (format!("--head {at}"), interventions(at.of(model).map(set)))
        });
        let temperature = self.temperature.map(|temperature| {
            let set = InterventionCommand::SetTemperature(Some(temperature));
            ("--temperature".to_owned(), interventions(Ok(set)))
        });
        let edges = self.without.iter().map(|&(at, (query, key))| {
            let remove = |head| InterventionCommand::SetEdge { edge: Edge { head, query, key }, is_removed: true };
            let option = format!("--without {at}:{}-{}", query.saturating_add(1), key.saturating_add(1));
            (option, interventions(at.of(model).map(remove)))
        });
        let second = self.second.clone().map(|second| {
            let set = SentenceCommand::SetSecond(Some(second));
            ("--second".to_owned(), Ok(Command::Sentence(set)))
        });
        let patch = self.patch.clone().map(|patch| {
            let set = InterventionCommand::SetPatch(Some(patch));
            ("--patch".to_owned(), interventions(Ok(set)))
        });
        heads.chain(temperature).chain(edges).chain(second).chain(patch).collect()
    }
}
