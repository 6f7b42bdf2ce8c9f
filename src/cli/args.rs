//! Arguments of the command line, among them the sentence to run and the interventions in its forward pass: heads,
//! removed edges of attention, a patched vector, the temperature.

use std::path::PathBuf;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::sentence_pass::sentence::{PairFault, Sentence, TextOrIds};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Lesson;
use attune_core::lesson::issue::printable;
use attune_core::lesson::panels::PanelName;
use attune_core::store::Home;
use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::Patch;
use attune_view::export::format::{ExportTo, FORMATS};
use attune_view::export::vectors::TableRows;
use attune_view::panels;
use attune_view::view_model::pictures::{PIXELS_MAX, SIDES, fits};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::CliFault;
use super::evidence_args::{HeadsArgs, MapArgs, ScoreArgs, WordsArgs};
use super::places::{HeadAt, after_head, index, two};

/// A workspace for learning self-attention: train tiny models or open BERT and GPT-2, watch words move, and change
/// every weight.
///
/// To begin, run `attune`, which opens the course; or run `attune new my_lesson.ron`, which writes a commented lesson
/// to start from.
///
/// Exit codes: 0 (done), 1 (the lesson has issues, or the output cannot be written), 2 (the command line is wrong), 3
/// (there is no display or GPU), 70 (attune has crashed), 130 (Ctrl-C ended `check --watch`).
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    #[command(subcommand)]
    pub action: Option<CliCommand>,

    /// The lesson to open, by its file or its name in the course; or a pretrained model, by its folder or name; or a
    /// recording of what another model did; or a file of vectors. A file that was shared or handed in, such as
    /// apple-shared.attune, opens as a copy. If no lesson is given, the course opens: the lessons of the folder
    /// `lessons` in the current folder or in one above it, or else the built-in lessons.
    pub lesson: Option<PathBuf>,

    #[command(flatten)]
    pub of: OfLesson,

    /// Another lesson or model, by its file, folder or name, to compare with the first on the same sentence. The view
    /// "Two models" of the panel "Meaning" shows the comparison. Beside a file of vectors: another file of vectors,
    /// which is rotated onto the first.
    #[arg(long, value_name = "LESSON")]
    pub beside: Option<PathBuf>,

    /// The colours of the window.
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
    /// The lesson of a file that was shared or handed in, if the lesson is neither beside that file nor in the course.
    #[arg(long = "lesson", value_name = "LESSON")]
    pub path: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// The seed of all random draws, instead of the lesson's own seed.
    #[arg(long, global = true, value_parser = seed, allow_hyphen_values = true)]
    pub seed: Option<u64>,

    /// The folder for the learner's work, instead of the usual folder of the platform.
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
    /// Returns the folder for the learner's work; `None` where the environment names no home.
    pub fn home(&self) -> Option<Home> {
        self.state.clone().map(Home::at).or_else(Home::of_platform)
    }
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Train lessons and verify their claims, without a window.
    Check {
        /// The lessons to check, by their files or names, such as lessons/*.ron; if none is given, all lessons of the
        /// course. Glossaries, pretrained models (by their folders or names), recordings and files of word vectors can
        /// be checked too. For a model, attune prints the SHA-256 of its files, checks its tensors and its tokenizer,
        /// runs a self-test and, if the model is a known one, compares its results with the published numbers. For a
        /// file of word vectors, attune prints the size and what was repaired. If a sentence is given, it is also run
        /// through each lesson or model.
        lessons: Vec<PathBuf>,
        #[command(flatten)]
        sentence: SentenceArgs,
        #[command(flatten)]
        options: CheckOptions,
    },
    /// Print all tensors of a sentence's forward pass, or the vectors of words in a file of vectors, as one JSON
    /// object.
    ///
    /// src/view/export/trace.md describes the keys of the object, and how heads and blocks are counted.
    Trace {
        /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its
        /// folder or name; or a recording; or, with --words, a file of vectors.
        lesson: PathBuf,
        #[command(flatten)]
        sentence: SentenceArgs,
        #[command(flatten)]
        what_if: WhatIfArgs,
        /// Words of a file of vectors or of a model's table, such as king,queen. Their vectors, lengths, cosines and
        /// neighbours are printed.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, conflicts_with_all = PASS)]
        words: Option<Vec<String>>,
        #[command(flatten)]
        to: TraceArgs,
        /// The text of a recording, counted from 1; if this option is not given, the first one.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        text: Option<u64>,
    },
    /// Write a small, working, commented lesson to start from, or a copy of another lesson.
    New {
        /// The file to write, such as my_lesson.ron; an existing file is not replaced.
        lesson: PathBuf,
        /// A lesson to copy, by its file or its name in the course, such as apple.
        #[arg(long, value_name = "LESSON")]
        from: Option<PathBuf>,
    },
    /// Draw a lesson as a picture (PNG) or an animation (GIF, APNG), without a display.
    Render(RenderArgs),
    /// Grade the files that learners handed in, with the lesson's own checks.
    ///
    /// If a submission cannot be read, attune names it, grades the others, and exits with code 1.
    Grade(GradeArgs),
    /// Print the words of a file of vectors that are nearest to a word or an expression.
    ///
    /// The file may have one of these formats: word2vec (binary and text), fastText's .vec, GloVe, the Embedding
    /// Projector's TSV, .npy, .npz and safetensors, each of them also compressed with gzip. The word table of a model's
    /// folder can be read too.
    Neighbours(NeighboursArgs),
    /// Rotate the vectors of one file onto those of another, using the words that both files have, and print the words
    /// that moved most and least.
    ///
    /// The rotation is the orthogonal Procrustes solution for the directions of all shared words. The cosine that is
    /// printed for a word is that between its rotated vector and its vector in the other file.
    Compare(CompareArgs),
    /// Find which words and heads carry an answer: exchange one vector or one head at a time with a second sentence, or
    /// switch heads off.
    ///
    /// Values of the second sentence go into the sentence: 0 is as the sentence is, 1 as the second. Exchange the two
    /// sentences for the other direction. docs/evidence.md says how to read the maps.
    Map(MapArgs),
    /// Split one attention score into pairs: what each word, head and layer put into the query, times what each put
    /// into the key.
    Score(ScoreArgs),
    /// Measure which word mattered for an answer, by ten measures that need not agree, and how far they agree.
    Words(WordsArgs),
    /// Measure all heads over a file of texts; or print what a head compares and writes, and which heads compose.
    Heads(HeadsArgs),
    /// Print the licences of the program, its fonts and its libraries.
    Licences,
    /// Print the manual page, for `man -l -` or for a folder of manual pages.
    Manual {
        /// Another page. record: the recorder, a file of Python that writes what a model of PyTorch did as a recording.
        #[arg(value_enum)]
        page: Option<ManualPage>,
    },
    /// Print a script that completes attune's commands in a shell.
    Completions {
        /// The shell to complete for.
        shell: Shell,
    },
    /// Write a lesson, a model, a recording or a file of vectors for another program.
    ///
    /// A lesson is trained first, and its cells run. Vectors come from a lesson or a recording (see --vectors), from a
    /// model's table, or from a file of vectors in another format.
    Export(ExportArgs),
}

/// The names of the options about a forward pass.
const PASS: [&str; 10] =
    ["sentence", "ids", "target", "target_ids", "head", "without", "second", "patch", "temperature", "text"];

/// Pages that `attune manual` prints instead of the manual page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ManualPage {
    Record,
}

/// Forms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceForm {
    Json,
    Safetensors,
}

#[derive(Debug, clap::Args)]
pub struct TraceArgs {
    /// The form of the trace. json: one JSON object on standard output. safetensors: a recording, which attune and
    /// other programs open without the model; it needs --output.
    #[arg(long = "to", value_enum, value_name = "FORM", default_value = "json", conflicts_with = "words")]
    pub form: TraceForm,
    /// The file to write a recording to; an existing file is replaced.
    #[arg(long, short, value_name = "FILE", conflicts_with = "words")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct SentenceArgs {
    /// A sentence to use instead of the lesson's first sentence: words of the lesson's vocabulary, or any text for a
    /// pretrained model. For a model with an encoder and a decoder, such as T5 or Marian, it is the source; a target
    /// may follow behind |||, and otherwise the model writes one.
    #[arg(long, allow_hyphen_values = true)]
    pub sentence: Option<String>,
    /// The sentence to use instead, given as row indices of the vocabulary (a model's token ids), such as 2,45,311.
    #[arg(long, value_delimiter = ',', conflicts_with = "sentence")]
    pub ids: Option<Vec<usize>>,
    /// The target that the decoder reads, for a model with an encoder and a decoder: a text, which is read behind the
    /// model's start token. The source is given by --sentence or --ids.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub target: Option<String>,
    /// The target, given as token ids that begin with the start token.
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with = "target")]
    pub target_ids: Option<Vec<usize>>,
}

#[derive(Debug, clap::Args)]
pub struct CheckOptions {
    /// Print the measured value of every claim, not only of those that fail.
    #[arg(long, short)]
    pub verbose: bool,
    /// How many seconds the cells, texts and exercises of one lesson may take together, not counting its training; and
    /// as many again for claims over a file of texts.
    #[arg(long, value_name = "SECONDS", default_value_t = WITHIN, value_parser = clap::value_parser!(u64).range(1..))]
    pub within: u64,
    /// Check a lesson again whenever it is saved, and all lessons whenever their glossary is saved, until Ctrl-C ends
    /// the command (exit code 130).
    #[arg(long, short)]
    pub watch: bool,
}

/// The default number of seconds for running all cells of a lesson.
const WITHIN: u64 = 60;

#[derive(Debug, clap::Args)]
pub struct RenderArgs {
    /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its folder or
    /// name; or a recording; or a file of vectors; or a file that was shared, which is drawn as it was on the screen.
    pub lesson: PathBuf,
    #[command(flatten)]
    pub of: OfLesson,
    /// The file to write. If its name ends in .png, it is a picture, or with --play an animation; if its name ends in
    /// .gif or .apng, it is an animation.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The sequence that an animation plays; if this option is not given, it plays "split".
    #[arg(long, value_enum)]
    pub play: Option<PlayArg>,
    /// How many seconds an animation plays before it starts again, at most 60; if this option is not given, the length
    /// depends on the sequence.
    #[arg(long, value_parser = seconds)]
    pub seconds: Option<f32>,
    /// The id of the stage cell to draw; if this option is not given, the lesson's first sentence is drawn.
    #[arg(long, value_name = "ID", conflicts_with_all = ["sentence", "ids"])]
    pub cell: Option<String>,
    #[command(flatten)]
    pub sentence: SentenceArgs,
    /// The time to draw, from 0 (static) to 1 (contextual); if this option is not given, the time of the cell, or else
    /// 1.
    #[arg(long, value_parser = time, allow_hyphen_values = true)]
    pub time: Option<f32>,
    /// The size of the picture, in pixels; if this option is not given, 1280x720, or the size of the stage that was
    /// shared.
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,
    /// The subject of the colours of a file of vectors: a column of its metadata, or rank, the place of the row in the
    /// file.
    #[arg(long, value_name = "COLUMN", alias = "color-by")]
    pub colour_by: Option<String>,
    /// The subject of the sizes of the points of a file of vectors: a column of numbers, or rank.
    #[arg(long, value_name = "COLUMN")]
    pub size_by: Option<String>,
    /// Draw the whole window instead of only the stage, with the panels that are open at the start of the lesson or,
    /// with --cell, with those that are open when a learner reaches the cell.
    #[arg(long)]
    pub workspace: bool,
    /// Leave the background transparent.
    #[arg(long, conflicts_with = "workspace")]
    pub transparent: bool,
    /// The colours of the picture.
    #[arg(long, value_enum, default_value = "light")]
    pub theme: ThemeArg,
}

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its folder or
    /// name; or a recording; or a file of vectors.
    #[arg(required_unless_present = "course")]
    pub lesson: Option<PathBuf>,
    /// Write the whole course instead of one lesson, as a folder of live pages with a front page. The format must be
    /// web.
    #[arg(long, conflicts_with = "lesson")]
    pub course: bool,
    /// Recordings, or models by their folders or names, that get pages of their own in the site of the course. Such a
    /// page shows the numbers of one text, without the model.
    #[arg(long, value_name = "RUN", requires = "course", conflicts_with = "lesson", num_args = 1..)]
    pub with: Vec<PathBuf>,
    /// The format to write.
    #[arg(long, value_name = "FORMAT", value_parser = export_formats())]
    pub to: ExportTo,
    /// The file to write, such as apple.html; an existing file is replaced. For a checkpoint or a course, the new
    /// folder to write.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The vectors to write. static: those of all words in the vocabulary; contextual: those of each word of each
    /// sentence after the last layer; layers: those of each word of each sentence before the first layer and after each
    /// layer. If this option is not given, word2vec and GloVe get the static vectors; the other formats get these, and
    /// also the static and the contextual vector of each word of each sentence.
    #[arg(long, value_name = "VECTORS", value_parser = vectors_to_export())]
    pub vectors: Option<TableRows>,
    #[arg(long, value_name = "PANELS", value_delimiter = ',', value_parser = panels::named, help = panels_help())]
    pub panels: Vec<PanelName>,
    #[command(flatten)]
    pub sentence: SentenceArgs,
    /// How many seconds the cells may take together; cells that have not run by then are exported without outputs.
    #[arg(long, value_name = "SECONDS", default_value_t = WITHIN, value_parser = clap::value_parser!(u64).range(1..))]
    pub within: u64,
}

/// Returns a parser that reads a format by its name in the list.
fn export_formats() -> impl TypedValueParser<Value = ExportTo> {
    let values = FORMATS.iter().map(|words| PossibleValue::new(words.key).help(words.about));
    let named = |key: String| FORMATS.iter().find(|words| words.key == key).map(|words| words.to);
    PossibleValuesParser::new(values).try_map(move |key| named(key).ok_or("there is no such format"))
}

/// Describes `--panels` with the names of all panels that can be written.
fn panels_help() -> String {
    format!(
        "Panels of the window to write, such as attention,weights: {}. In svg, the picture shows them one below the other; \
         if none is named, it shows attention. On pages, they stand below the notebook",
        panels::keys().join(", ")
    )
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
    /// Find the nearest words by Euclidean distance instead of by cosine.
    #[arg(long)]
    pub distance: bool,
    /// Print the words of the expression too, if they are among the nearest.
    #[arg(long)]
    pub with_words: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// The file of vectors to rotate, or a model's folder.
    pub file: PathBuf,
    /// The file or folder onto whose vectors the first file is rotated; both need vectors of the same width.
    pub other: PathBuf,
    /// How many words to print of those that moved most, and of those that moved least.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub count: usize,
    /// Print the result as one JSON object.
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
    /// The format of the output. tsv: a table with a line for each task of each submission; html: a page that shows
    /// which mistakes are common; json: the table as one JSON object.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "tsv")]
    pub to: GradeFormat,
    /// Write the figures of each task instead: the share of right answers, the share of each wrong answer, and how well
    /// the task tells those who solve the others from those who do not. The page has them beside the rest.
    #[arg(long)]
    pub items: bool,
    /// Cases that learners do not have: a file with code for exercises of the lesson, Cases({ "exercise": ["let a = …"]
    /// }). Answers must be right in these cases too.
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// The file to write, instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GradeFormat {
    Tsv,
    Html,
    Json,
}

/// The vectors that are exported, by their names.
const ROWS: [(&str, TableRows); 3] =
    [("static", TableRows::Static), ("contextual", TableRows::Contextual), ("layers", TableRows::Layers)];

/// Returns a parser that reads the vectors to export by their name.
fn vectors_to_export() -> impl TypedValueParser<Value = TableRows> {
    let named = |key: String| ROWS.iter().find(|(name, _)| *name == key).map(|(_, rows)| *rows);
    PossibleValuesParser::new(ROWS.map(|(name, _)| name))
        .try_map(move |key| named(key).ok_or("there are no such vectors"))
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
    /// The words move from their static to their contextual points, and back.
    Split,
    /// The steps of attention, for the word that the lesson is about.
    Walk,
    /// The training, from its first step to its last.
    Training,
    /// One turn of the camera around the scene.
    Orbit,
}

/// The longest time that an animation may play, in seconds.
const PLAYS_MAX: f32 = 60.0;

fn seconds(text: &str) -> Result<f32, String> {
    let seconds = text.parse().ok().filter(|seconds| (1.0..=PLAYS_MAX).contains(seconds));
    seconds.ok_or_else(|| format!("expected a number of seconds from 1 to {PLAYS_MAX}"))
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let wrong = || {
        let (least, most, millions) = (SIDES.start(), SIDES.end(), PIXELS_MAX / 1_000_000);
        format!(
            "expected WIDTHxHEIGHT in pixels, such as 1280x720, with {least} to {most} pixels on each side and at most \
             {millions} million pixels in all"
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
    time.ok_or_else(|| "expected a number from 0 (static) to 1 (contextual)".to_owned())
}

impl SentenceArgs {
    /// Returns the name of the option that gives the sentence, if one was used.
    pub fn option(&self) -> Option<&'static str> {
        let given = [
            ("--sentence", self.sentence.is_some()),
            ("--ids", self.ids.is_some()),
            ("--target", self.target.is_some()),
            ("--target-ids", self.target_ids.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Returns the command that shows the sentence, if one was given. Called before training, which may take long.
    ///
    /// # Errors
    /// If the lesson or the model cannot read the sentence.
    pub fn command(&self, lesson: &Lesson) -> Result<Option<Command>, CliFault> {
        let words = || lesson.vocabulary();
        let refused = |option: &str, why: String| Err(CliFault::usage(format_args!("{option}: {}", printable(&why))));
        let of = |text: &Option<String>, ids: &Option<Vec<usize>>| {
            text.clone().map(TextOrIds::Text).or_else(|| ids.clone().map(TextOrIds::Ids))
        };
        let (source, target) = (of(&self.sentence, &self.ids), of(&self.target, &self.target_ids));
        let option = self.option().unwrap_or_default();
        let (read, command) = match (source, target) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                return refused(option, "there is no source; give it with --sentence or --ids".to_owned());
            }
            (Some(TextOrIds::Text(text)), None) => {
                (Sentence::read(&text, lesson, &words()), SentenceCommand::Set(text))
            }
            (Some(TextOrIds::Ids(ids)), None) => (Sentence::of_ids(&ids, lesson, &words()), SentenceCommand::Ids(ids)),
            (Some(source), Some(target)) => {
                let of_target = if self.target.is_some() { "--target" } else { "--target-ids" };
                match Sentence::of_pair(&source, &target, lesson, &words()) {
                    Ok(read) => (Ok(read), SentenceCommand::Pair { source, target }),
                    Err(PairFault::Target(why)) => return refused(of_target, why),
                    Err(PairFault::Source(why)) => (Err(why), SentenceCommand::Pair { source, target }),
                }
            }
        };
        if let Err(why) = read {
            return refused(option, why);
        }
        Ok(Some(Command::Sentence(command)))
    }
}

#[derive(Debug, clap::Args)]
pub struct WhatIfArgs {
    /// Change a head: 2.3=off, for example, sets head 3 of layer 2 to off. The setting is off, mean, uniform, or a
    /// number by which the head's output is multiplied. Separate several changes by commas. If the model has a source,
    /// the layers of the source are counted first.
    #[arg(long, value_name = "LAYER.HEAD=SETTING", value_delimiter = ',', allow_hyphen_values = true, value_parser = head_change)]
    pub head: Vec<(HeadAt, HeadMode<f32>)>,
    /// Remove a head's attention from one token to another: 2.3:5-1, for example, removes the attention of head 3 of
    /// layer 2 from the fifth token to the first. Separate several changes by commas. The rest of the row is rescaled
    /// to sum to 1; if nothing is left in the row, all its weights are 0.
    #[arg(long, value_name = "LAYER.HEAD:QUERY-KEY", value_delimiter = ',', allow_hyphen_values = true, value_parser = removed_edge)]
    pub without: Vec<(HeadAt, (usize, usize))>,
    /// Replace the vector of a token by one of the second sentence (activation patching). With 2:5=4, for example, the
    /// fifth token gets the vector that the second sentence's fourth token has before layer 2.
    #[arg(long, value_name = "LAYER:TOKEN=FROM", requires = "second", allow_hyphen_values = true, value_parser = patch)]
    pub patch: Option<Patch<f32>>,
    /// The second sentence, from which the vector of --patch is taken.
    #[arg(long, value_name = "SENTENCE", requires = "patch", allow_hyphen_values = true)]
    pub second: Option<String>,
    /// Divide attention scores by this number, instead of the temperature of the lesson or model.
    #[arg(long, allow_hyphen_values = true)]
    pub temperature: Option<f64>,
}

fn head_change(text: &str) -> Result<(HeadAt, HeadMode<f32>), String> {
    let read = after_head(text, '=').and_then(|(at, mode)| Some((at, mode.parse().ok()?)));
    read.ok_or_else(|| "expected a layer, a head and a setting, such as 2.3=off or 2.3=0.5".to_owned())
}

/// Reads a head, a query and a key from text such as `2.3:5-1`. Tokens that the tokenizer added are counted too.
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

impl WhatIfArgs {
    /// Returns the first of these options that was given.
    pub fn option(&self) -> Option<&'static str> {
        let given = [
            ("--head", !self.head.is_empty()),
            ("--without", !self.without.is_empty()),
            ("--patch", self.patch.is_some()),
            ("--temperature", self.temperature.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Applies the changes to a trained lesson or a model.
    ///
    /// # Errors
    /// If one of them cannot be applied; the message names its option.
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

    /// Returns the commands, each with its option as it was given. A patch is taken from a pass with the same heads and
    /// temperature; removed edges apply to the first sentence only.
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
