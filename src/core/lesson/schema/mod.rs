//! The checked values of a lesson, which the rest of the program uses. [`load`](crate::lesson::load) makes them from
//! RON text and reports every issue, so that the kernel has no invalid values to handle.

pub mod cells;
pub mod limits;
pub mod model;
pub mod panels;
pub mod switches;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use attune_engine::numerics::evidence::corpus::{Distribution, HeadTowers, TextMeasure};
use attune_engine::numerics::table::Table;
use attune_engine::numerics::word2vec::Word2VecConfig;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::vectors::{Column, Vectors};

pub use self::cells::{Bind, Cell, CellKind, Exercise, Feedback, Predict, Slider};
pub use self::model::{ModelConfig, Objective, Order, Rewriting, START_TOKEN, Schedule, StopRule, TargetForm};
use self::panels::PanelName;
use self::switches::Switches;
use crate::lesson::recorded::RecordedModel;

/// A complete and checked lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    pub id: String,
    pub title: String,
    /// The folder of the lesson's file, whose files of vectors code cells can read.
    pub folder: Option<PathBuf>,
    /// The subject in one line.
    pub summary: Option<String>,
    /// The lesson's number in the course; lessons without a number come last.
    pub number: Option<usize>,
    /// Minutes that a learner needs for the lesson.
    pub minutes: Option<usize>,
    /// Ids of the lessons on which this one builds.
    pub builds_on: Vec<String>,
    /// Title of the chapter that begins with this lesson.
    pub chapter: Option<String>,
    /// The seed of every random stream of the lesson.
    pub seed: u64,
    /// Named sets of words, which determine colours on the stage, centroids of senses, and slots in templates.
    pub groups: Vec<Group>,
    /// The first axes of the picture; the others are the principal components of the remaining space.
    pub axes: Vec<AxisEnds>,
    pub corpus: Corpus,
    pub static_embedding: StaticEmbedding,
    pub model: ModelConfig,
    pub switches: Switches,
    /// Sentences that the learner can choose, at least one; the first one is shown at the start.
    pub sentences: Vec<Vec<String>>,
    /// A file of texts, a sentence on each line, over which claims measure heads.
    pub texts: Option<PathBuf>,
    /// Labelled sentences that are not trained on, for claims about senses.
    pub probes: Vec<Probe>,
    /// Panels that are open from the start, in addition to the notebook and the stage.
    pub panels: Vec<PanelName>,
    pub cells: Vec<Cell>,
    pub claims: Vec<Claim>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub name: String,
    pub words: Vec<String>,
}

/// An axis of the picture, from the centre of some words to that of others.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisEnds {
    /// Names of groups and words, as they were written.
    pub from: String,
    pub to: String,
}

/// The training corpus: sentences that are drawn from templates, so that a lesson can describe its language, or
/// sentences that the lesson lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// Number of sentences of the training corpus.
    pub sentences: usize,
    /// Whether sentences are drawn from the templates. If not, the templates have no slots, and each is one sentence.
    pub drawn: bool,
    /// Whether each sentence is a list of different words of the only slot, as long as a template, followed by the same
    /// list again.
    pub repeats: bool,
    /// Word lists that `{name}` in a template draws from; groups can be used as slots too.
    pub slots: Vec<Group>,
    /// Topics. Each sentence draws a topic, all with equal probability, and then one of its templates.
    pub topics: Vec<Topic>,
    /// Words that fill the slots of more than one group.
    pub ambiguous: Vec<Ambiguous>,
    /// The joining of two clauses of different topics in one sentence.
    pub join: Option<Join>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    pub name: String,
    /// Templates of words and `{slot}`s; the article `a` becomes `an` before a vowel.
    pub templates: Vec<String>,
}

/// A word with several senses, which fills a slot in place of the slot's own words.
#[derive(Clone, Debug, PartialEq)]
pub struct Ambiguous {
    pub word: String,
    /// Mean over the senses of the probability, between 0 and 1, that a slot of the sense's group is filled with
    /// `word`.
    pub rate: f64,
    /// Names of groups, each with the share of the word's occurrences that have this sense; shares sum to 1.
    pub shares: Vec<(String, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// Share of sentences with two clauses, in [0, 1].
    pub share: f64,
    pub words: Vec<String>,
}

/// The origin of the static vectors.
#[derive(Clone, Debug, PartialEq)]
pub enum StaticEmbedding {
    /// Vectors that are trained on the corpus.
    Word2Vec(Word2VecConfig),
    /// Vectors that are written in the lesson or read from a file.
    Given(GivenVectors),
    /// The embedding table of a pretrained model, which is the lesson's model as well.
    Pretrained(Arc<ModelFolder>),
    /// The first hidden states of a model that another program recorded. The recording takes the place of the lesson's
    /// model as well.
    Recording(Arc<RecordedModel>),
}

/// A vector for each word that the corpus can contain, and for other words that the lesson shows.
#[derive(Clone, Debug)]
pub struct GivenVectors {
    pub words: Arc<[String]>,
    /// The vectors, a row for each word.
    pub vectors: Arc<Table<f32>>,
    pub source: GivenSource,
}

/// The place from which given vectors were read.
#[derive(Clone, Debug)]
pub enum GivenSource {
    Lesson,
    /// A file, from which the words that the lesson uses are taken.
    File(Arc<Vectors>),
    /// A file that is opened by itself, with all its words and the columns of its metadata other than the words.
    WholeFile(Arc<[Column]>),
    /// The first rows of a file that is opened by itself, while the rest is being read.
    FirstRows,
}

impl GivenVectors {
    /// Returns whether these are all words of a file that is opened by itself, or those read so far.
    pub fn is_whole_file(&self) -> bool {
        matches!(self.source, GivenSource::WholeFile(_) | GivenSource::FirstRows)
    }
}

impl PartialEq for GivenVectors {
    fn eq(&self, other: &Self) -> bool {
        let is_shared = Arc::ptr_eq(&self.words, &other.words) && Arc::ptr_eq(&self.vectors, &other.vectors);
        is_shared || (self.words == other.words && self.vectors == other.vectors)
    }
}

impl StaticEmbedding {
    /// Returns the width of the vectors, `D`.
    pub fn dim(&self) -> usize {
        match self {
            Self::Word2Vec(config) => config.dim,
            Self::Given(given) => given.vectors.cols(),
            Self::Pretrained(model) => model.config.width(),
            Self::Recording(model) => model.architecture.width,
        }
    }

    /// Returns whether these are all vectors of a file that is opened by itself, or all that have been read of it so
    /// far.
    pub fn is_whole_file(&self) -> bool {
        matches!(self, Self::Given(given) if given.is_whole_file())
    }

    /// Returns the file of vectors from which the lesson takes words.
    pub fn file(&self) -> Option<&Arc<Vectors>> {
        match self {
            Self::Given(GivenVectors { source: GivenSource::File(file), .. }) => Some(file),
            _ => None,
        }
    }

    /// Returns whether the rest of a file of vectors is still being read.
    pub fn is_in_part(&self) -> bool {
        matches!(self, Self::Given(GivenVectors { source: GivenSource::FirstRows, .. }))
    }

    /// Returns the pretrained model to which the vectors belong.
    pub fn pretrained(&self) -> Option<&Arc<ModelFolder>> {
        match self {
            Self::Pretrained(model) => Some(model),
            Self::Word2Vec(_) | Self::Given(_) | Self::Recording(_) => None,
        }
    }

    /// Returns the recording that takes the place of a model, if there is one.
    pub fn recording(&self) -> Option<&Arc<RecordedModel>> {
        match self {
            Self::Recording(model) => Some(model),
            Self::Word2Vec(_) | Self::Given(_) | Self::Pretrained(_) => None,
        }
    }

    /// Returns whether the vectors belong to a pretrained model.
    pub fn is_pretrained(&self) -> bool {
        self.pretrained().is_some()
    }

    /// Returns whether the model guesses words; some pretrained models have no head for that.
    pub fn guesses_words(&self) -> bool {
        self.pretrained().is_none_or(|model| model.has_head)
    }

    /// Returns the number of passes over the corpus, which is 0 if the vectors are given.
    pub fn epochs(&self) -> usize {
        match self {
            Self::Word2Vec(config) => config.epochs,
            Self::Given(_) | Self::Pretrained(_) | Self::Recording(_) => 0,
        }
    }
}

/// A sentence, and the sense that a word has in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    pub sentence: Vec<String>,
    pub word: String,
    /// The sense: the name of a group.
    pub sense: String,
}

/// A named numeric fact that `attune check` verifies on the trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub id: String,
    pub says: String,
    /// The switches that are on in the model that the claim is about.
    pub with: BTreeSet<String>,
    pub fact: Fact,
    pub expect: Expect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Static,
    Contextual,
}

/// A quantity that a claim measures.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// Share of probes whose word is nearest, by cosine, to the centroid of its own sense.
    SenseAccuracy(Space),
    /// Share of the most frequent sense among the probes, which is the score of a constant answer.
    MajorityShare,
    /// Mean over the probes of the cosine to the right centroid minus the best cosine to a wrong one.
    SenseMargin(Space),
    /// Cosine of one token's contextual vector to the centroid of `sense`, minus the best cosine to another group.
    TokenMargin { at: TokenPlace, sense: String },
    /// Share of probes whose contextual vector is where a word of its sense would be
    /// ([`Arrival::has_arrived`](crate::kernel::check::claims::Arrival::has_arrived)).
    Arrived,
    /// Mean distance between the contextual and the static vector, over those words of the lesson's sentences that are
    /// to stay in place: they have a single sense and no probe, and no answer is read off their outputs.
    Drift,
    /// Cosine of one token's vector to that of a goal.
    TokenCosine { at: TokenPlace, to: String, space: Space },
    /// Euclidean distance of one token's vector to that of a goal.
    TokenDistance {
        at: TokenPlace,
        to: String,
        space: Space,
        /// Whether the distance between the points of the picture is measured instead.
        drawn: bool,
    },
    /// Length of one token's vector.
    TokenLength { at: TokenPlace, space: Space },
    /// Distance between one token's static and its contextual vector.
    TokenMove { at: TokenPlace },
    /// Cosine between the moves of two tokens, each from its static to its contextual vector.
    MoveCosine { at: TokenPlace, other: TokenPlace },
    /// Place of the static word between two centroids: the share `w / (w + u)` of the least-squares fit `word ≈
    /// w·centroid(of) + u·centroid(against)`.
    Mixture { word: String, of: String, against: String },
    /// Cosine of two static vectors.
    Cosine { a: String, b: String },
    /// Mean loss over the last tenth of the training steps, in nats.
    FinalLoss,
    /// Largest absolute difference, in any block, between the output of attention and the sum of its contributions.
    ContributionError,
    /// Share of sentences whose most likely label is the right one.
    LabelAccuracy {
        /// Sentences with their labels, or `None` for those of the training corpus.
        on: Option<Vec<(Vec<String>, String)>>,
    },
    /// Probability of an answer: a label of the sentence, the word after it, or a hidden word.
    Says {
        sentence: Vec<String>,
        /// Position of the hidden word, from 0; `Some` only for a model of masked words.
        hides: Option<usize>,
        answer: String,
        /// Number of layers after which the answer is read off, as if the model ended there; `None` for all.
        layer: Option<usize>,
    },
    /// Cosine of two tokens' vectors after the given number of layers.
    LayerCosine { at: TokenPlace, other: TokenPlace, layer: usize },
    /// Attention weight of a query for a key.
    Weight {
        /// Index into [`Lesson::sentences`].
        sentence: usize,
        /// Index of the head, from 0, over all blocks.
        head: usize,
        /// Positions of query and key, from 0.
        query: usize,
        key: usize,
    },
    /// Share of target words, over the lesson's sentences, at which a head of cross-attention attends most to the
    /// source position from which the word is made.
    Alignment { head: usize },
    /// Share of target words that the model writes correctly by itself, over the lesson's sentences.
    SequenceAccuracy,
    /// A measure of a head over [`Lesson::texts`].
    OverTexts {
        of: OverTexts,
        /// Layer of the head, and its number there, from 0. In a model with a source, layers are counted over all
        /// blocks, beginning with those of the source.
        layer: usize,
        head: usize,
    },
}

/// A number that is measured for a head over texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverTexts {
    Measure(TextMeasure),
    /// A distribution over texts, at one of the [`QUANTILES`](attune_engine::numerics::evidence::corpus::QUANTILES),
    /// given by its index.
    Quantile {
        of: Distribution,
        quantile: usize,
    },
}

impl OverTexts {
    /// Returns whether the number is defined for a head with these towers.
    pub fn is_of(self, towers: HeadTowers) -> bool {
        match self {
            Self::Measure(measure) => measure.is_of(towers.is_within()),
            Self::Quantile { of, .. } => of.is_of(towers.is_within()),
        }
    }

    /// Returns the name of the number in `attune heads`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measure(measure) => measure.name(),
            Self::Quantile { of, .. } => of.name(),
        }
    }
}

/// A token of one of the lesson's sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenPlace {
    /// Index into [`Lesson::sentences`].
    pub sentence: usize,
    /// Position in the sentence, from 0; for a model with a source, the position in the target.
    pub token: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    AtLeast(f64),
    AtMost(f64),
    Within { value: f64, tolerance: f64 },
}
