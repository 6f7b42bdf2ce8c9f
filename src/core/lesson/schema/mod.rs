//! The checked values of a lesson: what the rest of the program sees. The RON text becomes these
//! in [`load`](crate::lesson::load); nothing here can be wrong in a way that the kernel would have to handle.

pub mod cells;
pub mod limits;
pub mod model;
pub mod panels;
pub mod switches;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use attune_engine::numerics::table::Table;
use attune_engine::numerics::word2vec::Word2VecConfig;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::vectors::{Column, Vectors};

pub use self::cells::{Bind, Cell, CellKind, Exercise, Feedback, Predict, Slider};
pub use self::model::{ModelConfig, Objective, Order, Rewriting, START_TOKEN, StopRule};
use self::panels::PanelName;
use self::switches::Switches;
use crate::lesson::recorded::RecordedModel;

/// One lesson, complete and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    pub id: String,
    pub title: String,
    /// The folder of its file, whose files of vectors code cells read.
    pub folder: Option<PathBuf>,
    /// One line on the subject.
    pub summary: Option<String>,
    /// Its place in the course; lessons without one stand behind the others.
    pub number: Option<usize>,
    /// How long a learner takes for it.
    pub minutes: Option<usize>,
    /// Ids of the lessons that it builds on.
    pub builds_on: Vec<String>,
    /// The chapter of the course that begins with it.
    pub chapter: Option<String>,
    /// The seed of every random stream of the lesson.
    pub seed: u64,
    /// Named sets of words: colours on the stage, centroids for senses, slots in templates.
    pub groups: Vec<Group>,
    /// The first axes of the picture; the others are the principal components of what these leave.
    pub axes: Vec<AxisEnds>,
    pub corpus: Corpus,
    pub static_embedding: StaticEmbedding,
    pub model: ModelConfig,
    pub switches: Switches,
    /// Sentences that the learner can choose; the first one is shown at the start. Never empty.
    pub sentences: Vec<Vec<String>>,
    /// Labelled sentences that training never sees, for claims about senses.
    pub probes: Vec<Probe>,
    /// The panels beside the notebook and the stage that are open from the start.
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
    /// Names of groups, and words, as they were written.
    pub from: String,
    pub to: String,
}

/// Sentences are drawn from templates, so that a lesson can state what its language is like; or they
/// stand in the lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// How many sentences training sees.
    pub sentences: usize,
    /// False where the templates, without slots, are the sentences: each comes once.
    pub drawn: bool,
    /// Each sentence is a list of different words of the one slot, as long as a template, and then the same list again.
    pub repeats: bool,
    /// Word lists that `{name}` in a template draws from; groups are slots too.
    pub slots: Vec<Group>,
    /// Each sentence first draws a topic, all equally likely, then one of its templates.
    pub topics: Vec<Topic>,
    /// Words that stand in the slots of more than one group.
    pub ambiguous: Vec<Ambiguous>,
    /// Two clauses of different topics in one sentence.
    pub join: Option<Join>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    pub name: String,
    /// Words and `{slot}`s; the article `a` becomes `an` before a vowel.
    pub templates: Vec<String>,
}

/// A word with several senses: it takes the place of a slot's own word.
#[derive(Clone, Debug, PartialEq)]
pub struct Ambiguous {
    pub word: String,
    /// Mean probability, over the senses, that a slot of such a group is filled with `word`. In (0, 1).
    pub rate: f64,
    /// Group name and the share of the word's occurrences that have this sense; shares sum to 1.
    pub shares: Vec<(String, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// Share of sentences that have two clauses, in [0, 1].
    pub share: f64,
    pub words: Vec<String>,
}

/// The origin of the static vectors.
#[derive(Clone, Debug, PartialEq)]
pub enum StaticEmbedding {
    /// Trained on the corpus.
    Word2Vec(Word2VecConfig),
    /// Written in the lesson, or read from a file of vectors.
    Given(GivenVectors),
    /// The table of a pretrained model, which is all of the lesson's model too.
    Pretrained(Arc<ModelFolder>),
    /// The first hidden states of what another program recorded, in the place of all of the lesson's model too.
    Recording(Arc<RecordedModel>),
}

/// A vector for each word that the corpus can contain, and for others that the lesson shows.
#[derive(Clone, Debug)]
pub struct GivenVectors {
    pub words: Arc<[String]>,
    /// A row for each word.
    pub vectors: Arc<Table<f32>>,
    pub source: GivenSource,
}

/// The place where given vectors are written.
#[derive(Clone, Debug)]
pub enum GivenSource {
    Lesson,
    /// A file, of which these are the words that the lesson uses.
    File(Arc<Vectors>),
    /// A file that is opened by itself: all of its words, and the columns of its metadata beside that of the words.
    WholeFile(Arc<[Column]>),
    /// The first rows of such a file, while the rest is read.
    FirstRows,
}

impl GivenVectors {
    /// All words of a file that is opened by itself, or as many as are read.
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
    /// `D`
    pub fn dim(&self) -> usize {
        match self {
            Self::Word2Vec(config) => config.dim,
            Self::Given(given) => given.vectors.cols(),
            Self::Pretrained(model) => model.config.width(),
            Self::Recording(model) => model.architecture.width,
        }
    }

    /// All words of a file of vectors, opened by itself, or as many as are read.
    pub fn is_whole_file(&self) -> bool {
        matches!(self, Self::Given(given) if given.is_whole_file())
    }

    /// The file of vectors that the lesson takes words from.
    pub fn file(&self) -> Option<&Arc<Vectors>> {
        match self {
            Self::Given(GivenVectors { source: GivenSource::File(file), .. }) => Some(file),
            _ => None,
        }
    }

    /// The rest of a file of vectors is still being read.
    pub fn is_in_part(&self) -> bool {
        matches!(self, Self::Given(GivenVectors { source: GivenSource::FirstRows, .. }))
    }

    /// The pretrained model that it is read with.
    pub fn pretrained(&self) -> Option<&Arc<ModelFolder>> {
        match self {
            Self::Pretrained(model) => Some(model),
            Self::Word2Vec(_) | Self::Given(_) | Self::Recording(_) => None,
        }
    }

    /// The recording that is looked at in the place of a model.
    pub fn recording(&self) -> Option<&Arc<RecordedModel>> {
        match self {
            Self::Recording(model) => Some(model),
            Self::Word2Vec(_) | Self::Given(_) | Self::Pretrained(_) => None,
        }
    }

    /// Read with a model from its folder.
    pub fn is_pretrained(&self) -> bool {
        self.pretrained().is_some()
    }

    /// Whether the model guesses words: of pretrained ones, some have no head for that.
    pub fn guesses_words(&self) -> bool {
        self.pretrained().is_none_or(|model| model.has_head)
    }

    /// Passes over the corpus; none where the vectors are given.
    pub fn epochs(&self) -> usize {
        match self {
            Self::Word2Vec(config) => config.epochs,
            Self::Given(_) | Self::Pretrained(_) | Self::Recording(_) => 0,
        }
    }
}

/// A sentence with the sense that a word has in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    pub sentence: Vec<String>,
    pub word: String,
    /// A group's name.
    pub sense: String,
}

/// A named numeric fact that `attune check` verifies on the trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub id: String,
    pub says: String,
    /// The switches that are on in the model that it is about.
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
    /// Share of probes whose word lies nearest, by cosine, to the centroid of its own sense.
    SenseAccuracy(Space),
    /// Share of the most frequent sense among the probes: what a constant answer scores.
    MajorityShare,
    /// Mean over the probes of cosine to the right centroid less the best cosine to a wrong one.
    SenseMargin(Space),
    /// Cosine of one token's contextual vector to the centroid of `sense`, less the best to another group.
    TokenMargin { at: TokenPlace, sense: String },
    /// Share of probes whose word ends where a word of its sense would lie
    /// ([`Arrival::has_arrived`](crate::kernel::check::claims::Arrival::has_arrived)).
    Arrived,
    /// Mean distance, over the words of the lesson's sentences that nothing asks to move, between the
    /// contextual and the static vector.
    Drift,
    /// Cosine of one token's vector to a goal.
    TokenCosine { at: TokenPlace, to: String, space: Space },
    /// Euclidean distance of one token's vector to a goal.
    TokenDistance {
        at: TokenPlace,
        to: String,
        space: Space,
        /// Between the points of the picture instead.
        drawn: bool,
    },
    /// Length of one token's vector.
    TokenLength { at: TokenPlace, space: Space },
    /// Distance between one token's static and its contextual vector.
    TokenMove { at: TokenPlace },
    /// Cosine between the moves of two tokens, each from its static to its contextual vector.
    MoveCosine { at: TokenPlace, other: TokenPlace },
    /// The static word's place between two centroids: `w` of the least-squares fit
    /// `word ≈ w·centroid(of) + u·centroid(against)`, as the share `w / (w + u)`.
    Mixture { word: String, of: String, against: String },
    /// Cosine of two static vectors.
    Cosine { a: String, b: String },
    /// Mean loss over the last tenth of the training steps, in nats.
    FinalLoss,
    /// Largest absolute difference, in any block, between what attention adds and the sum of its
    /// contributions.
    ContributionError,
    /// Share of sentences whose likeliest label is theirs.
    LabelAccuracy {
        /// Sentences with their labels; `None`: those that training sees.
        on: Option<Vec<(Vec<String>, String)>>,
    },
    /// Probability of an answer: of a label of the sentence, of the word after it, or of a word that is hidden.
    Says {
        sentence: Vec<String>,
        /// Position of the hidden word, from 0; `Some` with masked words alone.
        hides: Option<usize>,
        answer: String,
        /// Layers after which the model is read as if it ended there; `None`: all of them.
        layer: Option<usize>,
    },
    /// Cosine of two tokens' vectors after the given number of layers.
    LayerCosine { at: TokenPlace, other: TokenPlace, layer: usize },
    /// How much a query attends to a key.
    Weight {
        /// Index into [`Lesson::sentences`].
        sentence: usize,
        /// From 0, over all blocks.
        head: usize,
        /// Positions, from 0.
        query: usize,
        key: usize,
    },
    /// Share of words, over the lesson's sentences, at which a head of cross-attention looks most at
    /// the source position that the word is made of.
    Alignment { head: usize },
    /// Share of target words that the model writes right by itself, over the lesson's sentences.
    SequenceAccuracy,
}

/// One token of the lesson's sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenPlace {
    /// Index into [`Lesson::sentences`].
    pub sentence: usize,
    /// Position in the sentence, from 0; with a source, in the target.
    pub token: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    AtLeast(f64),
    AtMost(f64),
    Within { value: f64, tolerance: f64 },
}
