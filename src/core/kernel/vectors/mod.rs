//! The static vectors: the lesson's corpus as word indices, word2vec or a given table, and the basis of all pictures.

pub mod examples;
pub mod loading;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::lens::Sight;
use attune_engine::numerics::model::{Architecture, AttentionModel, Candidates, Classes};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::procrustes::turn_between;
use attune_engine::numerics::projection::{AXES, Projection};
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::table::Table;
use attune_engine::numerics::vectors::{add_scaled, centroid};
use attune_engine::numerics::word2vec::Word2Vec;
use attune_engine::pretrained::load::Pretrained;

use crate::kernel::cache::StepCache;
use crate::kernel::data::progress::Progress;
use crate::kernel::data::space::{Basis, ScaleNorm, SharedScale, StaticSpace, squares};
use crate::kernel::data::vocabulary::{index_of, rows_of};
use crate::kernel::scene::layers::Layers;
use crate::kernel::scene::sentence::Sentence;
use crate::kernel::training::Training;
use crate::kernel::training::trainer::Trainer;
use crate::kernel::vectors::examples::{Example, Rewriter, examples, of_texts};
use crate::kernel::vectors::loading::Loading;
use crate::lesson::corpus;
use crate::lesson::corpus::vocabulary as corpus_vocabulary;
use crate::lesson::locate::FieldPath;
use crate::lesson::schema::{Lesson, Objective, StaticEmbedding};

/// Work of one [`SpaceTrainer::advance`].
const MULTIPLICATIONS_AT_ONCE: f64 = 4e6;

/// Why a lesson that reads well has nothing to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonFault {
    /// For the learner.
    pub words: String,
    /// The field that is to blame.
    pub field: FieldPath,
}

/// Static vectors in the making.
pub struct SpaceTrainer {
    vocabulary: Vec<String>,
    /// Word indices of every sentence: those that training sees, then those that they become where
    /// the model writes other words.
    corpus: Vec<Vec<usize>>,
    examples: Arc<[Example]>,
    source: Source,
    /// The lesson's own training of a model that trains the table too, of which the table at the end is wanted.
    table: Option<Box<(Training, StepCache)>>,
}

enum Source {
    Training {
        word2vec: Box<Word2Vec<f32>>,
        epochs: usize,
        /// A few milliseconds of work.
        sentences_at_once: usize,
        diverged: Option<Diverged>,
    },
    /// A row for each word of the vocabulary.
    Given(Matrix<f32>),
    /// With all of its model.
    Pretrained(Loading),
}

/// How many epochs were done when a vector was found not to be finite, and the first such word.
#[derive(Clone, Copy)]
struct Diverged {
    epoch: usize,
    row: usize,
}

impl SpaceTrainer {
    /// Draws the corpus of the lesson's seed.
    pub fn new(lesson: &Lesson) -> Self {
        let vocabulary = lesson.vocabulary();
        let index = index_of(&vocabulary);
        let sentences = corpus::sentences(&lesson.corpus, &lesson.groups, lesson.seed);
        let rows =
            |words: &[String]| words.iter().filter_map(|word| index.get(word.as_str()).copied()).collect::<Vec<_>>();
        let mut corpus: Vec<_> = sentences.iter().map(|sentence| rows(&sentence.words)).collect();
        let topics: Vec<_> = sentences.iter().map(|sentence| sentence.topic).collect();
        let examples = match &lesson.static_embedding {
            StaticEmbedding::Pretrained(model) => of_texts(lesson, model).into(),
            _ => examples(&lesson.model.objective, &vocabulary, &corpus, &topics).into(),
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
            StaticEmbedding::Pretrained(model) => Source::Pretrained(Loading::start(model)),
            StaticEmbedding::Given(given) => {
                let rows =
                    rows_of(&vocabulary, &index_of(&given.words)).expect("each word has a vector: it was checked");
                Source::Given(Matrix::from_fn(rows.len(), given.vectors.cols(), |i, j| given.vectors.get(rows[i], j)))
            }
        };
        Self { vocabulary, corpus, examples, source, table: None }
    }

    /// Examples that the attention model is trained on.
    pub fn examples(&self) -> &Arc<[Example]> {
        &self.examples
    }

    pub fn progress(&self) -> Progress {
        match &self.source {
            Source::Training { word2vec, epochs, .. } => Progress { done: word2vec.epochs_done(), of: *epochs },
            Source::Given(_) => Progress { done: 0, of: 0 },
            Source::Pretrained(loading) => loading.progress(),
        }
    }

    /// A few milliseconds of work; true when it was the last.
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

    /// Begins the training of the table, of a lesson whose model trains it; false where there is none.
    fn begin_table(&mut self, lesson: &Lesson) -> bool {
        let trains = lesson.model.architecture.train_embedding && !lesson.static_embedding.is_pretrained();
        // What is wrong is said when the vectors are asked for.
        let Some(space) = trains.then(|| self.finish(lesson).ok()).flatten() else { return false };
        let mut training = Training::new(Trainer::new(lesson, &space, &self.examples));
        let is_begun = training.trainer().sentences() > 0 && training.play_to(lesson.model.steps).is_ok();
        if is_begun {
            self.table = Some(Box::new((training, StepCache::default())));
        }
        is_begun
    }

    /// The next piece of the vectors before the model.
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
            Source::Given(_) => true,
            Source::Pretrained(loading) => loading.advance(),
        }
    }

    /// The finished vectors. Trained ones are less their mean: what all words share would hide what
    /// tells them apart (Mu & Viswanath 2018, arXiv 1702.01417). Given ones are as they were written.
    ///
    /// # Errors
    /// If a vector is not finite, or none was trained.
    pub fn finish(&self, lesson: &Lesson) -> Result<StaticSpace, LessonFault> {
        let vectors = match &self.source {
            Source::Training { word2vec, .. } => {
                let vectors = word2vec.vectors();
                self.check_trained(lesson, &vectors)?;
                Arc::new(centred(vectors).into())
            }
            Source::Given(vectors) => Arc::new(vectors.clone().into()),
            Source::Pretrained(_) => match self.pretrained()? {
                Some(model) if lesson.model.steps == 0 => model.embedding.clone(),
                Some(model) => model.embedding.to_whole(),
                None => return Err(LessonFault { words: "the model is not read yet".to_owned(), field: &[] }),
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
        let undecided = Projection::coordinates(vectors.cols());
        let mut space = StaticSpace {
            vocabulary: self.vocabulary.clone(),
            squares: squares(&vectors),
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
        let parts = pretrained.as_ref().map(|(model, parameters)| (model, &**parameters));
        let spread = own_spread(lesson, &space, parts, space.basis.raw);
        space.projection = space.basis.projection_of(&spread, &space).map_err(fault)?;
        (space.points, space.own_projection) =
            (space.points_in(&space.basis, &space.projection), space.projection.clone());
        Ok(space)
    }
}

impl SpaceTrainer {
    /// The pretrained model, once it is read; `None` where the lesson trains its own.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn pretrained(&self) -> Result<Option<Arc<Pretrained>>, LessonFault> {
        let Source::Pretrained(loading) = &self.source else { return Ok(None) };
        let outcome = loading.outcome().cloned().transpose();
        outcome.map_err(|words| LessonFault { words, field: loading.field() })
    }

    fn check_trained(&self, lesson: &Lesson, vectors: &Matrix<f32>) -> Result<(), LessonFault> {
        let StaticEmbedding::Word2Vec(config) = &lesson.static_embedding else { return Ok(()) };
        if let Source::Training { diverged: Some(Diverged { epoch, row }), .. } = self.source {
            let (word, rate, negatives) = (&self.vocabulary[row], config.learning_rate, config.negatives);
            let words = format!(
                "the static vectors diverged by epoch {epoch}, first that of {word:?}: the learning_rate of {rate} is \
                 too large for {negatives} negatives"
            );
            return Err(LessonFault { words, field: &["static_embedding", "learning_rate"] });
        }
        if let Some(share) = config.subsample {
            let untrained = Word2Vec::new(config.clone(), self.vocabulary.len(), &self.corpus, lesson.seed).vectors();
            if *vectors == untrained {
                let words = format!("the static vectors learnt nothing: a subsample of {share:e} leaves too few words");
                return Err(LessonFault { words, field: &["static_embedding", "subsample"] });
            }
        }
        Ok(())
    }
}

/// The norm that puts all layers of a pretrained model on one scale, if it has one.
fn shared_scale(of: &Architecture, parameters: &Parameters<f32>) -> Option<SharedScale> {
    let last = of.last_lens(parameters).map(|lens| SharedScale { norm: ScaleNorm::Last, lens });
    let embedding = || of.embedding_lens(parameters).map(|lens| SharedScale { norm: ScaleNorm::Embedding, lens });
    last.or_else(embedding)
}

/// The spread of what chooses the axes of a lesson's picture: the states in all layers of a pretrained model, or else
/// [`basis_vectors`].
pub fn own_spread(
    lesson: &Lesson,
    space: &StaticSpace,
    pretrained: Option<(&AttentionModel<f32>, &Parameters<f32>)>,
    raw: bool,
) -> Spread {
    let of_layers = pretrained.and_then(|(model, parameters)| {
        let scale = space.scale.as_ref().filter(|_| !raw);
        Layers { model, parameters, scale }.spread_of_lesson(lesson, &space.vocabulary)
    });
    of_layers.unwrap_or_else(|| Spread::of(&basis_vectors(lesson, &space.vocabulary, space.choosing())))
}

/// The model's own table of words, as training has left it.
fn table_of(training: &Training) -> Arc<Table<f32>> {
    let embedding = &training.trainer().model.embedding;
    let rows = training.model().trained().values_of(TensorName::Embedding);
    Arc::new(Matrix::from_row_major(embedding.rows(), embedding.cols(), rows.to_vec()).into())
}

/// The vectors that choose the axes of the picture.
pub fn basis_vectors(lesson: &Lesson, vocabulary: &[String], vectors: &Table<f32>) -> Matrix<f32> {
    vectors.gathered(basis_rows(lesson, vocabulary).into_iter())
}

/// The space of a lesson that was trained again, whose picture is turned to match that of the lesson itself; see
/// [`matched`].
pub fn turned(space: StaticSpace, like: &Arc<StaticSpace>, lesson: &Lesson) -> StaticSpace {
    let space = StaticSpace { like: Some(like.clone()), ..space };
    let projection = matched(space.projection.clone(), &space.own_basis, &space, lesson);
    let (points, own_projection) = (Sight::new(&projection, None).points_of(&space.vectors), projection.clone());
    StaticSpace { points, projection, own_projection, shares: OnceLock::new(), ..space }
}

/// A picture of a space that was trained again, turned so that it is as near as it can be to the picture that the same
/// basis makes of the lesson's own space. The words that choose the axes also choose the turn; lengths and angles stay.
/// Chosen axes need no turn, as they mean the same in every space: the others turn around them.
pub fn matched(projection: Projection, basis: &Basis, space: &StaticSpace, lesson: &Lesson) -> Projection {
    let Some(like) = space.like.as_deref() else { return projection };
    let own = if *basis == like.own_basis {
        Ok(like.own_projection.clone())
    } else {
        basis.projection_of(&own_spread(lesson, like, None, basis.raw), like)
    };
    // A basis that makes no picture of the lesson's own space has none to match.
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

/// The words whose vectors choose the axes of the picture: those of the words that the lesson names, in its
/// groups and sentences, so that what tells these apart is what the axes show. All words, where
/// those are too few to span three axes.
fn basis_rows(lesson: &Lesson, vocabulary: &[String]) -> Vec<usize> {
    if let StaticEmbedding::Pretrained(_) = lesson.static_embedding {
        let texts = (0..lesson.sentences.len()).filter_map(|index| Sentence::of_lesson(lesson, vocabulary, index));
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

/// The attention model over a space: everything but its parameters.
pub fn network(lesson: &Lesson, space: &StaticSpace) -> AttentionModel<f32> {
    let classes = match &lesson.model.objective {
        Objective::Label => labels(lesson, &space.vocabulary),
        _ => Classes::Words(candidates(lesson, &space.vocabulary)),
    };
    AttentionModel::new(lesson.model.architecture.clone(), space.vectors.clone(), classes)
        .with_costs(lesson.model.costs)
}

/// The labels, which a tied readout reads as words.
fn labels(lesson: &Lesson, vocabulary: &[String]) -> Classes {
    let topics = &lesson.corpus.topics;
    if !lesson.model.architecture.readout.is_by_static_vectors() {
        return Classes::Labels(topics.len());
    }
    let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
    let words = rows_of(&names, &index_of(vocabulary)).expect("each label is a word: it was checked");
    Classes::Words(Candidates::new(vocabulary.len(), words))
}

/// The words that the lesson's objective chooses among.
fn candidates(lesson: &Lesson, vocabulary: &[String]) -> Candidates {
    let among = match &lesson.model.objective {
        Objective::MaskedWord { among, .. } if !among.is_empty() => among,
        objective @ Objective::Sequence(_) => return written(objective, lesson, vocabulary),
        _ => return with_stand_ins(Candidates::all(vocabulary.len()), lesson, vocabulary),
    };
    let in_groups = lesson.groups.iter().filter(|group| among.contains(&group.name)).flat_map(|group| &group.words);
    let has_sense = |shares: &[(String, f64)]| shares.iter().any(|(group, _)| among.contains(group));
    let ambiguous = lesson.corpus.ambiguous.iter().filter(|a| has_sense(&a.shares)).map(|a| &a.word);
    let named: HashSet<&String> = in_groups.chain(ambiguous).collect();
    let words: Vec<usize> = (0..vocabulary.len()).filter(|&row| named.contains(&vocabulary[row])).collect();
    let candidates =
        if words.is_empty() { Candidates::all(vocabulary.len()) } else { Candidates::new(vocabulary.len(), words) };
    with_stand_ins(candidates, lesson, vocabulary)
}

/// The candidates of masked words, with the words that stand in for hidden ones.
fn with_stand_ins(candidates: Candidates, lesson: &Lesson, vocabulary: &[String]) -> Candidates {
    match &lesson.model.objective {
        Objective::MaskedWord { stand_ins, .. } if !stand_ins.is_empty() => {
            let rows = rows_of(stand_ins, &index_of(vocabulary)).expect("each occurs in the corpus: it was checked");
            candidates.with_stand_ins(rows)
        }
        _ => candidates,
    }
}

/// The words that a sequence objective can write.
fn written(objective: &Objective, lesson: &Lesson, vocabulary: &[String]) -> Candidates {
    let rewriter = Rewriter::of(objective, vocabulary);
    let index = index_of(vocabulary);
    let sources = rows_of(&corpus_vocabulary(&lesson.corpus, &lesson.groups), &index).unwrap_or_default();
    let mut words = rewriter.map_or(sources.clone(), |rewriter| rewriter.target(&sources));
    words.sort_unstable();
    words.dedup();
    Candidates::new(vocabulary.len(), words)
}
