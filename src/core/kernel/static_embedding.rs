//! The static vectors: the lesson's corpus as word indices, the training by word2vec, a given table or a model that is
//! read from files, and the basis of all pictures.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::alignment::turn_between;
use attune_engine::numerics::model::cost::forward_multiplications;
use attune_engine::numerics::model::{Architecture, AttentionModel, Tower};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::projection::LensProjection;
use attune_engine::numerics::projection::{AXES, Projection};
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::table::Table;
use attune_engine::numerics::vectors::{add_scaled, centroid};
use attune_engine::numerics::word2vec::Word2Vec;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::load::{LoadStopped, Pretrained, load};

use crate::kernel::objective::{Example, examples, of_texts};
pub use crate::kernel::objective::{Rewriter, network};
use crate::kernel::sentence_pass::axes::Layers;
use crate::kernel::sentence_pass::meaning;
use crate::kernel::sentence_pass::recorded::RecordedVectors;
use crate::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use crate::kernel::targets::{Targets, words_max};
use crate::kernel::training::Training;
use crate::kernel::training::cache::StepCache;
use crate::kernel::training::trainer::Trainer;
use crate::kernel::values::Progress;
use crate::kernel::values::meaning::Meaning;
use crate::kernel::values::space::{
    Basis, ScaleNorm, SharedScale, StaticSpace, index_of, known_rows, rows_of, squares,
};
use crate::lesson::corpus;
use crate::lesson::places::FieldPath;
use crate::lesson::schema::{Lesson, StaticEmbedding};

/// Number of multiplications in one call of [`SpaceTrainer::advance`].
const MULTIPLICATIONS_AT_ONCE: f64 = 4e6;

/// The reason why a valid lesson has nothing to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonFault {
    /// The reason in words for the learner.
    pub words: String,
    /// The field of the lesson that causes the fault.
    pub field: FieldPath,
}

/// Static vectors that are being trained or read.
pub struct SpaceTrainer {
    vocabulary: Arc<[String]>,
    /// Rows of the words of every sentence: those of the training corpus, followed by their targets if the model writes
    /// other words.
    corpus: Vec<Vec<usize>>,
    examples: Arc<[Example]>,
    source: Source,
    /// The lesson's own training, if its model trains the embedding table; the final table is needed for the axes.
    table: Option<Box<(Training, StepCache)>>,
}

enum Source {
    Training {
        word2vec: Box<Word2Vec<f32>>,
        epochs: usize,
        /// Number of sentences in one piece of work, which takes a few milliseconds.
        sentences_at_once: usize,
        diverged: Option<Diverged>,
    },
    /// A given row for each word of the vocabulary.
    Given(Arc<Table<f32>>),
    /// The vectors of a pretrained model, which is read as a whole.
    Pretrained(Loading),
    /// The first hidden states of each token of a recording.
    Recording(RecordedVectors),
}

/// The epoch after which a vector was first found not to be finite, and the row of that word.
#[derive(Clone, Copy)]
struct Diverged {
    epoch: usize,
    row: usize,
}

impl SpaceTrainer {
    /// Draws the corpus with the lesson's seed, and starts to read files if the lesson has any.
    pub fn new(lesson: &Lesson) -> Self {
        // Files are read while the vocabulary is built, which also takes a moment.
        let loading = lesson.static_embedding.pretrained().map(|model| Loading::start(model));
        let vocabulary = lesson.vocabulary();
        let index = index_of(&vocabulary);
        let sentences = corpus::sentences(&lesson.corpus, &lesson.groups, lesson.seed);
        let mut corpus: Vec<_> = sentences.iter().map(|sentence| known_rows(&sentence.words, &index)).collect();
        let topics: Vec<_> = sentences.iter().map(|sentence| sentence.topic).collect();
        let examples = match lesson.static_embedding.pretrained() {
            Some(model) => of_texts(lesson, model).into(),
            None => examples(&lesson.model.objective, &vocabulary, &corpus, &topics).into(),
        };
        if let Some(rewriter) = Rewriter::of(&lesson.model.objective, &vocabulary).filter(Rewriter::replaces_words) {
            let written: Vec<_> = corpus.iter().map(|source| rewriter.target(source)).collect();
            corpus.extend(written);
        }
        let source = match &lesson.static_embedding {
            StaticEmbedding::Word2Vec(config) => {
                let longest = corpus.iter().map(Vec::len).max().unwrap_or(0);
                let at_once = (MULTIPLICATIONS_AT_ONCE / config.multiplications(longest).max(1.0)).ceil();
                let word2vec = Word2Vec::new(config.clone(), vocabulary.len(), &corpus, lesson.seed);
                Source::Training {
                    word2vec: Box::new(word2vec),
                    epochs: config.epochs,
                    sentences_at_once: at_once as usize,
                    diverged: None,
                }
            }
            StaticEmbedding::Pretrained(model) => Source::Pretrained(loading.unwrap_or_else(|| Loading::start(model))),
            StaticEmbedding::Recording(model) => Source::Recording(RecordedVectors::of(model)),
            StaticEmbedding::Given(given) if Arc::ptr_eq(&given.words, &vocabulary) => {
                Source::Given(given.vectors.clone())
            }
            StaticEmbedding::Given(given) => {
                let rows =
                    rows_of(&vocabulary, &index_of(&given.words)).expect("each word has a vector: it was checked");
                Source::Given(Arc::new(given.vectors.gathered(rows.into_iter()).into()))
            }
        };
        Self { vocabulary, corpus, examples, source, table: None }
    }

    /// Returns the examples on which the attention model is trained.
    pub fn examples(&self) -> &Arc<[Example]> {
        &self.examples
    }

    pub fn progress(&self) -> Progress {
        match &self.source {
            Source::Training { word2vec, epochs, .. } => Progress { done: word2vec.epochs_done(), of: *epochs },
            Source::Given(_) | Source::Recording(_) => Progress { done: 0, of: 0 },
            Source::Pretrained(loading) => loading.progress(),
        }
    }

    /// Does a few milliseconds of work. Returns true if no work is left.
    pub fn advance(&mut self, lesson: &Lesson) -> bool {
        match &mut self.table {
            Some(table) => {
                let (training, steps) = &mut **table;
                training.advance(steps);
                !training.is_busy()
            }
            None => self.advance_source() && !self.begin_table(lesson),
        }
    }

    /// Starts the training of the embedding table if the lesson's model trains it. Returns whether it has started.
    fn begin_table(&mut self, lesson: &Lesson) -> bool {
        let trains = lesson.model.architecture.train_embedding && !lesson.static_embedding.is_pretrained();
        // The error is ignored here, because it is reported when the vectors are requested.
        let Some((space, _)) = trains.then(|| self.finish(lesson).ok()).flatten() else { return false };
        let mut training = Training::new(Trainer::new(lesson, &space, &self.examples));
        let is_begun = training.trainer().sentences() > 0 && training.play_to(lesson.model.schedule.steps).is_ok();
        if is_begun {
            self.table = Some(Box::new((training, StepCache::default())));
        }
        is_begun
    }

    /// Trains or reads the vectors for a few milliseconds, and returns true once they are complete.
    fn advance_source(&mut self) -> bool {
        match &mut self.source {
            Source::Training { word2vec, sentences_at_once, diverged, .. } => {
                let before = word2vec.epochs_done();
                word2vec.advance(&self.corpus, *sentences_at_once);
                let epoch = word2vec.epochs_done();
                if epoch > before {
                    let vectors = word2vec.vectors();
                    let row = (0..vectors.rows()).find(|&row| !vectors.row(row).iter().all(|x| x.is_finite()));
                    *diverged = row.map(|row| Diverged { epoch, row });
                }
                word2vec.is_done() || diverged.is_some()
            }
            Source::Given(_) | Source::Recording(_) => true,
            Source::Pretrained(loading) => loading.advance(),
        }
    }

    /// Returns the finished vectors. The mean is subtracted from trained vectors, because the component that all words
    /// share would hide their differences (Mu & Viswanath 2018, arXiv 1702.01417). Given vectors are not changed. Also
    /// returns the first sentence if the axes were measured in it, with the target that the model wrote.
    ///
    /// # Errors
    /// If a vector is not finite, if no vector was trained, if the model cannot be read, or if an axis has no
    /// direction.
    pub fn finish(&self, lesson: &Lesson) -> Result<(StaticSpace, Option<Sentence>), LessonFault> {
        let vectors = match &self.source {
            Source::Training { word2vec, .. } => {
                let vectors = word2vec.vectors();
                self.check_trained(lesson, &vectors)?;
                Arc::new(centred(vectors).into())
            }
            Source::Given(vectors) => vectors.clone(),
            Source::Recording(recorded) => recorded.vectors.clone(),
            Source::Pretrained(_) => match self.pretrained()? {
                Some(model) if lesson.model.schedule.steps == 0 => model.embedding.clone(),
                Some(model) => model.embedding.to_whole(),
                None => return Err(LessonFault { words: "the model has not been read yet".to_owned(), field: &[] }),
            },
        };
        let groups = lesson.groups.iter().enumerate();
        let of: HashMap<&str, usize> =
            groups.flat_map(|(i, group)| group.words.iter().map(move |word| (word.as_str(), i))).collect();
        let group_of = self.vocabulary.iter().map(|word| of.get(word.as_str()).copied()).collect();
        let fault = |words| LessonFault { words, field: &["axes"] };
        let basis = Basis::of_lesson(lesson, &self.vocabulary).map_err(fault)?;
        let pretrained = self.pretrained()?.map(|model| (model.model(), model.parameters.clone()));
        let scale = pretrained.as_ref().and_then(|(model, parameters)| shared_scale(&model.architecture, parameters));
        let spread = match &self.source {
            Source::Recording(recorded) => Some(recorded.spread.clone()),
            _ if lesson.static_embedding.is_whole_file() => Some(Arc::new(Spread::of(&vectors.widened()))),
            _ => None,
        };
        let undecided = Projection::coordinates(vectors.cols());
        let mut space = StaticSpace {
            vocabulary: self.vocabulary.clone(),
            squares: squares(&vectors),
            by_alphabet: OnceLock::new(),
            spread,
            vectors,
            scale,
            own_projection: undecided.clone(),
            projection: undecided,
            points: Matrix::zeros(0, AXES),
            shares: OnceLock::new(),
            own_basis: basis.clone(),
            like: None,
            at_end: self.table.as_ref().map(|table| table_of(&table.0)),
            basis,
            group_of,
        };
        let parts = pretrained.as_ref().map(|(model, parameters)| (model, parameters));
        let Opening { spread, meaning, sentence } = spread_at_opening(lesson, &space, parts, space.basis.raw);
        let is_named = space.basis.chosen.iter().any(Option::is_some);
        let meaning = meaning.filter(|meaning| !is_named && meaning.fits(spread.width()) && spread.width() > AXES);
        space.basis.meaning = meaning.map(Arc::new);
        space.own_basis = space.basis.clone();
        space.projection = space.basis.projection_of(&spread, &space).map_err(fault)?;
        (space.points, space.own_projection) =
            (space.points_in(&space.basis, &space.projection), space.projection.clone());
        Ok((space, sentence))
    }
}

impl SpaceTrainer {
    /// Returns the pretrained model, or `None` if the lesson has none or it has not been read yet.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn pretrained(&self) -> Result<Option<Arc<Pretrained>>, LessonFault> {
        let Source::Pretrained(loading) = &self.source else { return Ok(None) };
        let outcome = loading.outcome.clone().transpose();
        outcome.map_err(|words| LessonFault { words, field: loading.field })
    }

    fn check_trained(&self, lesson: &Lesson, vectors: &Matrix<f32>) -> Result<(), LessonFault> {
        let StaticEmbedding::Word2Vec(config) = &lesson.static_embedding else { return Ok(()) };
        if let Source::Training { diverged: Some(Diverged { epoch, row }), .. } = self.source {
            let (word, rate, negatives) = (&self.vocabulary[row], config.learning_rate, config.negatives);
            let words = format!(
                "the static vectors diverged by epoch {epoch}, first that of {word:?}, because the learning_rate of \
                 {rate} is too large for {negatives} negatives"
            );
            return Err(LessonFault { words, field: &["static_embedding", "learning_rate"] });
        }
        if let Some(share) = config.subsample {
            let untrained = Word2Vec::new(config.clone(), self.vocabulary.len(), &self.corpus, lesson.seed).vectors();
            if *vectors == untrained {
                let words = format!(
                    "the static vectors learned nothing, because a subsample of {share:e} leaves too \
                    few words"
                );
                return Err(LessonFault { words, field: &["static_embedding", "subsample"] });
            }
        }
        Ok(())
    }
}

/// Returns the norm that gives all layers of a pretrained model a common scale, if there is one.
fn shared_scale(of: &Architecture, parameters: &Parameters<f32>) -> Option<SharedScale> {
    let last = of.last_lens(Tower::Sentence, parameters).map(|lens| SharedScale { norm: ScaleNorm::Last, lens });
    let embedding = || of.embedding_lens(parameters).map(|lens| SharedScale { norm: ScaleNorm::Embedding, lens });
    last.or_else(embedding)
}

/// Returns the spread that determines the axes of a lesson's picture. It is the spread of the states in all layers of a
/// pretrained model or of a recording, of all vectors of a whole file, or else of the [`basis_vectors`].
pub fn own_spread(
    lesson: &Lesson,
    space: &StaticSpace,
    pretrained: Option<(&AttentionModel<f32>, &Arc<Parameters<f32>>)>,
    raw: bool,
) -> Spread {
    spread_at_opening(lesson, space, pretrained, raw).spread
}

/// The measurements that are made when a lesson opens.
struct Opening {
    spread: Spread,
    /// The axis that is measured in the first sentence of a pretrained model or of a recording.
    meaning: Option<Meaning>,
    /// The first sentence of a pretrained model, with the target that it wrote.
    sentence: Option<Sentence>,
}

/// Number of multiplications for writing a target above which only the first sentence gets one when a lesson opens. The
/// model would otherwise write all targets before the first picture, although the others only serve to fit the axes.
const WRITING_COST_MAX: f64 = 1e8;

/// Returns the number of multiplications with which a model writes the longest target of a source.
fn writing_cost(model: &AttentionModel<f32>, source: usize) -> f64 {
    let (architecture, words) = (&model.architecture, words_max(model, source));
    words as f64 * forward_multiplications(architecture, model.classes.count(), 1, words)
}

fn spread_at_opening(
    lesson: &Lesson,
    space: &StaticSpace,
    pretrained: Option<(&AttentionModel<f32>, &Arc<Parameters<f32>>)>,
    raw: bool,
) -> Opening {
    let of_layers = pretrained.and_then(|(model, parameters)| {
        let scale = space.scale.as_ref().filter(|_| !raw);
        let targets = Targets::of(lesson, &space.vocabulary, model, parameters);
        let texts = Sentence::all_of_lesson(lesson, &space.vocabulary).enumerate();
        let frame = |(number, mut sentence): (usize, Sentence)| {
            if number > 0
                && sentence.target.is_none()
                && let Some(targets @ Targets::ByModel { .. }) = &targets
                && writing_cost(model, sentence.words.len()) > WRITING_COST_MAX
            {
                sentence.target = Some(Arc::new(targets.begun()));
            }
            SentenceFrame::without_points(sentence, space, targets.as_ref())
        };
        let frames: Vec<SentenceFrame> = texts.map(frame).collect();
        let (spread, meaning) = Layers { model, parameters, scale }.spread_of_frames(lesson, &frames)?;
        Some(Opening { spread, meaning, sentence: frames.into_iter().next().map(|frame| frame.sentence) })
    });
    let of_recording = || {
        let text = lesson.static_embedding.recording().map(|_| Sentence::first(lesson, &space.vocabulary))?;
        meaning::of_recorded(lesson, &SentenceFrame::without_points(text, space, None))
    };
    let of_all =
        || Some(Opening { spread: space.spread.as_deref().cloned()?, meaning: of_recording(), sentence: None });
    let of_words = || {
        let spread = Spread::of(&basis_vectors(lesson, &space.vocabulary, space.choosing()));
        Opening { spread, meaning: None, sentence: None }
    };
    of_layers.or_else(of_all).unwrap_or_else(of_words)
}

/// Returns the model's embedding table as training has left it.
fn table_of(training: &Training) -> Arc<Table<f32>> {
    let embedding = &training.network().embedding;
    let rows = training.model().trained().values_of(TensorName::Embedding);
    Arc::new(Matrix::from_row_major(embedding.rows(), embedding.cols(), rows.to_vec()).into())
}

/// Returns the vectors that determine the axes of the picture.
pub fn basis_vectors(lesson: &Lesson, vocabulary: &[String], vectors: &Table<f32>) -> Matrix<f32> {
    vectors.gathered(basis_rows(lesson, vocabulary).into_iter())
}

/// Returns the space of a lesson that was trained again, with its picture rotated to match that of the lesson itself;
/// see [`matched`].
pub fn turned(space: StaticSpace, like: &Arc<StaticSpace>, lesson: &Lesson) -> StaticSpace {
    let space = StaticSpace { like: Some(like.clone()), ..space };
    let projection = matched(space.projection.clone(), &space.own_basis, &space, lesson);
    let (points, own_projection) =
        (LensProjection::new(&projection, None).points_of(&space.vectors), projection.clone());
    StaticSpace { points, projection, own_projection, shares: OnceLock::new(), ..space }
}

/// Rotates the picture of a space that was trained again, so that it is as close as possible to the picture of the
/// lesson's own space in the same basis. The words that determine the axes also determine the rotation; lengths and
/// angles stay. Chosen axes are not rotated, because they have the same meaning in every space; the others rotate
/// around them.
pub fn matched(projection: Projection, basis: &Basis, space: &StaticSpace, lesson: &Lesson) -> Projection {
    let Some(like) = space.like.as_deref() else { return projection };
    let own = if *basis == like.own_basis {
        Ok(like.own_projection.clone())
    } else {
        basis.projection_of(&own_spread(lesson, like, None, basis.raw), like)
    };
    // If the basis is not defined in the lesson's own space, there is no picture to match.
    let Ok(own) = own else { return projection };
    let chosen = basis_rows(lesson, &space.vocabulary);
    let index = index_of(&like.vocabulary);
    let pairs: Vec<(usize, usize)> =
        chosen.iter().filter_map(|&row| Some((row, *index.get(space.vocabulary[row].as_str())?))).collect();
    let (from, to): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
    let free: Vec<usize> = (0..AXES).filter(|&axis| basis.chosen[axis].is_none()).collect();
    let points = projection.points(&space.choosing().gathered(from.into_iter()));
    let turn = turn_between(&points, &own.points(&like.choosing().gathered(to.into_iter())), &free);
    projection.turned(&Spread::of(&space.choosing().gathered(chosen.into_iter())), &turn)
}

/// Returns the words whose vectors determine the axes of the picture: those that the lesson names in its groups and
/// sentences, so that the axes show the differences between them; or all words, if these are too few to span three
/// axes. For a pretrained model, they are the pieces of the lesson's sentences.
fn basis_rows(lesson: &Lesson, vocabulary: &[String]) -> Vec<usize> {
    if let StaticEmbedding::Pretrained(_) = lesson.static_embedding {
        let texts = Sentence::all_of_lesson(lesson, vocabulary);
        let mut rows: Vec<usize> = texts.flat_map(|sentence| sentence.words).collect();
        if rows.is_empty() {
            rows = Sentence::first(lesson, vocabulary).words;
        }
        rows.sort_unstable();
        rows.dedup();
        return rows;
    }
    let in_groups = lesson.groups.iter().flat_map(|group| &group.words);
    let named: HashSet<&String> = in_groups.chain(lesson.sentences.iter().flatten()).collect();
    let rows: Vec<usize> = (0..vocabulary.len()).filter(|&row| named.contains(&vocabulary[row])).collect();
    if rows.len() <= AXES { (0..vocabulary.len()).collect() } else { rows }
}

fn centred(mut vectors: Matrix<f32>) -> Matrix<f32> {
    let all: Vec<usize> = (0..vectors.rows()).collect();
    let mean = centroid(&vectors, &all);
    for row in all {
        add_scaled(vectors.row_mut(row), -1.0, &mean);
    }
    vectors
}

/// Time for which one call waits for the reading to end.
const LOOK: Duration = Duration::from_millis(10);

/// A pretrained model that is being read on a thread of its own.
struct Loading {
    /// The model, or the reason why there is none; `None` while it is being read.
    outcome: Option<Result<Arc<Pretrained>, String>>,
    news: Receiver<Result<Pretrained, LoadStopped>>,
    shared: Arc<Shared>,
    /// The field of the lesson that is reported if the reading fails.
    field: FieldPath,
}

/// The number of bytes that have been read, the number of all bytes, and whether the reading was cancelled.
#[derive(Default)]
struct Shared {
    done: AtomicU64,
    all: AtomicU64,
    is_over: AtomicBool,
}

impl Loading {
    /// Starts to read a model.
    fn start(model: &ModelFolder) -> Self {
        let (sender, news) = channel();
        let shared = Arc::new(Shared::default());
        if let Some(absent) = &model.absent {
            return Self { outcome: Some(Err(absent.to_string())), news, shared, field: &["model"] };
        }
        let (folder, told) = (model.path.clone(), shared.clone());
        thread::spawn(move || {
            let mut watch = |progress: attune_engine::pretrained::load::LoadProgress| {
                told.done.store(progress.done, Ordering::Relaxed);
                told.all.store(progress.all, Ordering::Relaxed);
                !told.is_over.load(Ordering::Relaxed)
            };
            // If the lesson was closed in the meantime, there is no receiver.
            let _ = sender.send(load(&folder, &mut watch));
        });
        Self { outcome: None, news, shared, field: &[] }
    }

    /// Waits some milliseconds, and returns true once the reading has ended.
    fn advance(&mut self) -> bool {
        if self.outcome.is_none() {
            self.outcome = match self.news.recv_timeout(LOOK) {
                Ok(loaded) => Some(loaded.map(Arc::new).map_err(|stopped| stopped.to_string())),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Err("loading was interrupted".to_owned())),
            };
        }
        self.outcome.is_some()
    }

    /// Returns the progress in megabytes.
    fn progress(&self) -> Progress {
        let megabytes = |bytes: &AtomicU64| (bytes.load(Ordering::Relaxed) >> 20) as usize;
        Progress { done: megabytes(&self.shared.done), of: megabytes(&self.shared.all) }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}
