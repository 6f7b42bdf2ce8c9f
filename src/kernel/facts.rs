//! Measures what lessons claim.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::answers::{answers, probabilities};
use super::examples::Rewriter;
use super::interventions::for_any_sentence;
use super::sentence::{contributions, sequences};
use super::snapshot::{ModelSnapshot, Snapshot, StaticSpace};
use super::space::{index_of, network, rows_of};
use crate::lesson::corpus;
use crate::lesson::schema::{Claim, Expect, Fact, Lesson, Probe, Space};
use crate::numerics::Scalar;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::generate::Choice;
use crate::numerics::model::{Activations, AttentionModel};
use crate::numerics::rng::{Stream, stream};
use crate::numerics::vectors::{centroid, cosine, dot};

/// A claim with what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub id: String,
    pub says: String,
    pub value: f64,
    pub expect: Expect,
}

impl Verdict {
    /// NaN holds for nothing.
    pub fn holds(&self) -> bool {
        match self.expect {
            Expect::AtLeast(least) => self.value >= least,
            Expect::AtMost(most) => self.value <= most,
            Expect::Within { value, tolerance } => (self.value - value).abs() <= tolerance,
        }
    }
}

/// Every claim of the lesson against the model in the snapshot; `None` until there is one.
pub fn verify(snapshot: &Snapshot) -> Option<Vec<Verdict>> {
    let measure = Measure::of(snapshot)?;
    let verdict = |claim: &Claim| Verdict {
        id: claim.id.clone(),
        says: claim.says.clone(),
        value: measure.fact(&claim.fact),
        expect: claim.expect,
    };
    Some(snapshot.lesson.claims.iter().map(verdict).collect())
}

/// What one probe tells: cosine to the centroid of its own sense and the best of the others.
struct SenseCosines {
    own: f32,
    other: f32,
}

struct Measure<'a> {
    lesson: &'a Lesson,
    space: &'a StaticSpace,
    model: &'a ModelSnapshot,
    network: AttentionModel<f32>,
    /// The learner's, as far as they are not about one sentence.
    interventions: Interventions<f32>,
    rewriter: Option<Rewriter>,
    /// Of each word of the vocabulary.
    rows: HashMap<&'a str, usize>,
    /// Of each group.
    centroids: Vec<Vec<f32>>,
    /// Of each probe, measured once for all claims, in the static and the contextual space.
    senses: [OnceCell<Vec<SenseCosines>>; 2],
    contribution_error: OnceCell<f64>,
}

impl<'a> Measure<'a> {
    fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let (lesson, space, model) = (&*snapshot.lesson, snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        let network = network(lesson, space);
        let rows = index_of(&space.vocabulary);
        let centroids = lesson
            .groups
            .iter()
            .map(|group| {
                let words: Vec<usize> =
                    group.words.iter().filter_map(|word| rows.get(word.as_str()).copied()).collect();
                centroid(&space.vectors, &words)
            })
            .collect();
        let (senses, contribution_error) = Default::default();
        let interventions = for_any_sentence(&model.interventions);
        let rewriter = Rewriter::of(&lesson.model.objective, &space.vocabulary);
        Some(Self {
            lesson,
            space,
            model,
            network,
            interventions,
            rewriter,
            rows,
            centroids,
            senses,
            contribution_error,
        })
    }

    fn fact(&self, fact: &Fact) -> f64 {
        match fact {
            Fact::SenseAccuracy(space) => self.over_probes(*space, |c| if c.own > c.other { 1.0 } else { 0.0 }),
            Fact::SenseMargin(space) => self.over_probes(*space, |c| f64::from(c.own - c.other)),
            Fact::TokenMargin { sentence, token, sense } => self.token_margin(*sentence, *token, sense),
            Fact::MajorityShare => self.majority_share(),
            Fact::Mixture { word, of, against } => self.mixture(word, of, against),
            Fact::Cosine { a, b } => match (self.word(a), self.word(b)) {
                (Some(a), Some(b)) => f64::from(cosine(a, b)),
                _ => f64::NAN,
            },
            Fact::FinalLoss => self.final_loss(),
            Fact::ContributionError => *self.contribution_error.get_or_init(|| self.contribution_error()),
            Fact::LabelAccuracy { on } => self.label_accuracy(on.as_deref()),
            Fact::Says { sentence, answer } => self.says(sentence, answer).map_or(f64::NAN, f64::from),
            Fact::Weight { sentence, head, query, key } => {
                self.weight(*sentence, *head, *query, *key).map_or(f64::NAN, f64::from)
            }
            Fact::Alignment { head } => self.alignment(*head),
            Fact::SequenceAccuracy => self.sequence_accuracy(),
        }
    }

    fn word(&self, word: &str) -> Option<&[f32]> {
        Some(self.space.vectors.row(*self.rows.get(word)?))
    }

    fn group(&self, name: &str) -> Option<usize> {
        self.lesson.groups.iter().position(|group| group.name == name)
    }

    /// The forward pass of a sentence.
    fn run(&self, sentence: &[String]) -> Option<Activations<f32>> {
        let words = rows_of(sentence, &self.rows)?;
        let (input, source) = sequences(&words, self.rewriter.as_ref());
        Some(Activations::of(&self.network, &self.model.parameters, &input, source.as_ref(), &self.interventions))
    }

    /// The logits of what a sentence is read for last: of the whole, or of its last word.
    fn logits(&self, sentence: &[String]) -> Option<Vec<f32>> {
        let logits = answers(&self.network, &self.model.parameters, &self.run(sentence)?.output).logits;
        Some(logits.row(logits.rows() - 1).to_vec())
    }

    fn label_accuracy(&self, on: Option<&[(Vec<String>, String)]>) -> f64 {
        let topics = &self.lesson.corpus.topics;
        let seen = || {
            let all = corpus::sentences(&self.lesson.corpus, &self.lesson.groups, self.lesson.seed);
            let mut known = HashSet::new();
            let sentences = all.into_iter().map(|drawn| (drawn.words, topics[drawn.topic].name.clone()));
            sentences.filter(|sentence| known.insert(sentence.clone())).collect()
        };
        let sentences: Vec<(Vec<String>, String)> = on.map_or_else(seen, <[_]>::to_vec);
        let is_right = |(words, label): &(Vec<String>, String)| {
            self.logits(words).is_some_and(|logits| self.model.classes[likeliest(&logits)] == *label)
        };
        share(sentences.iter().map(is_right))
    }

    fn says(&self, sentence: &[String], answer: &str) -> Option<f32> {
        let class = self.model.classes.iter().position(|class| class == answer)?;
        Some(probabilities(&self.logits(sentence)?)[class])
    }

    fn weight(&self, sentence: usize, head: usize, query: usize, key: usize) -> Option<f32> {
        let run = self.run(self.lesson.sentences.get(sentence)?)?;
        let weights = &run.heads().nth(head)?.weights;
        (query < weights.rows() && key < weights.cols()).then(|| weights.get(query, key))
    }

    fn alignment(&self, head: usize) -> f64 {
        let Some(rewriter) = &self.rewriter else { return f64::NAN };
        let runs = self.lesson.sentences.iter().filter_map(|sentence| self.run(sentence));
        share(runs.flat_map(|run| {
            let weights = run.heads().nth(head).map(|head| head.weights.clone());
            let rows = weights.iter().flat_map(|weights| (0..weights.rows()).map(|row| weights.row(row)));
            let looks = |(target, row): (usize, &[f32])| likeliest(row) == rewriter.order.source_of(target, row.len());
            rows.enumerate().map(looks).collect::<Vec<_>>()
        }))
    }

    fn sequence_accuracy(&self) -> f64 {
        let Some(rewriter) = &self.rewriter else { return f64::NAN };
        let sources = self.lesson.sentences.iter().filter_map(|sentence| rows_of(sentence, &self.rows));
        share(sources.flat_map(|source| {
            // The likeliest word is no draw: the generator is not used.
            let mut generator = stream(self.lesson.seed, Stream::Generation);
            let (parameters, count) = (&self.model.parameters, source.len());
            let written = self.network.generate(parameters, &[], Some(&source), count, Choice::Greedy, &mut generator);
            let target = rewriter.target(&source);
            let written = written.unwrap_or_default();
            (0..count).map(|t| written.get(t) == Some(&target[t])).collect::<Vec<_>>()
        }))
    }

    fn over_probes(&self, space: Space, score: impl Fn(&SenseCosines) -> f64) -> f64 {
        let measure = || self.lesson.probes.iter().filter_map(|probe| self.sense_cosines(probe, space)).collect();
        let senses = self.senses[space as usize].get_or_init(measure);
        senses.iter().map(score).sum::<f64>() / senses.len() as f64
    }

    fn sense_cosines(&self, probe: &Probe, space: Space) -> Option<SenseCosines> {
        let own = self.group(&probe.sense)?;
        let vector = match space {
            Space::Static => self.word(&probe.word)?.to_vec(),
            Space::Contextual => {
                let at = probe.sentence.iter().position(|word| *word == probe.word)?;
                self.run(&probe.sentence)?.output.row(at).to_vec()
            }
        };
        Some(self.cosines(&vector, own))
    }

    fn cosines(&self, vector: &[f32], own: usize) -> SenseCosines {
        let other = (0..self.centroids.len()).filter(|&group| group != own);
        SenseCosines {
            own: cosine(vector, &self.centroids[own]),
            other: other.map(|group| cosine(vector, &self.centroids[group])).fold(f32::NEG_INFINITY, f32::max),
        }
    }

    fn token_margin(&self, sentence: usize, token: usize, sense: &str) -> f64 {
        let run = self.lesson.sentences.get(sentence).and_then(|sentence| self.run(sentence));
        let (Some(run), Some(own)) = (run, self.group(sense)) else { return f64::NAN };
        let cosines = self.cosines(run.output.row(token), own);
        f64::from(cosines.own - cosines.other)
    }

    fn majority_share(&self) -> f64 {
        let probes = &self.lesson.probes;
        let of_sense = |sense: &str| probes.iter().filter(|probe| probe.sense == sense).count();
        let most = probes.iter().map(|probe| of_sense(&probe.sense)).max().unwrap_or(0);
        most as f64 / probes.len() as f64
    }

    /// `w / (w + u)` of the least-squares fit `word ≈ w·a + u·b`, by its normal equations.
    fn mixture(&self, word: &str, of: &str, against: &str) -> f64 {
        let (Some(word), Some(a), Some(b)) = (self.word(word), self.group(of), self.group(against)) else {
            return f64::NAN;
        };
        let (a, b) = (&self.centroids[a][..], &self.centroids[b][..]);
        let [aa, ab, bb, wa, wb] = [dot(a, a), dot(a, b), dot(b, b), dot(word, a), dot(word, b)].map(f64::from);
        let determinant = aa * bb - ab * ab;
        let (w, u) = ((wa * bb - wb * ab) / determinant, (wb * aa - wa * ab) / determinant);
        w / (w + u)
    }

    fn final_loss(&self) -> f64 {
        let log = &self.model.training.log;
        log.mean_loss(log.len() - log.len().div_ceil(10), log.len())
    }

    fn contribution_error(&self) -> f64 {
        let runs = self.lesson.sentences.iter().filter_map(|sentence| self.run(sentence));
        let errors = runs.flat_map(|run| {
            let terms = contributions(&self.network, &self.model.parameters, &run, &self.interventions);
            let blocks = self.network.architecture.numbered_blocks().zip(&run.blocks);
            let error = |((terms, (_, config)), run)| f64::from(Contributions::error(terms, config, run));
            terms.iter().zip(blocks).map(|(terms, (block, run))| error(((terms, block), run))).collect::<Vec<_>>()
        });
        errors.fold(0.0, Scalar::max)
    }
}

/// The first of the largest.
fn likeliest(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

/// Share of what is true; NaN of nothing.
fn share(all: impl Iterator<Item = bool>) -> f64 {
    let (right, count) = all.fold((0, 0), |(right, count), is| (right + usize::from(is), count + 1));
    right as f64 / f64::from(count)
}
