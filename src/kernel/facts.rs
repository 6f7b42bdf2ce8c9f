//! Measures what lessons claim.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::sentence::contributions;
use super::snapshot::{ModelSnapshot, Snapshot, StaticSpace};
use super::space::{index_of, network, rows_of};
use crate::lesson::schema::{Claim, Expect, Fact, Lesson, Probe, Space};
use crate::numerics::Scalar;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::{Activations, AttentionModel, Sequences};
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
        Some(Self { lesson, space, model, network, rows, centroids, senses, contribution_error })
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
        let sequences = Sequences::one(&words);
        let interventions = Interventions::heads(&self.model.heads_enabled);
        Some(Activations::of(&self.network, &self.model.parameters, &sequences, None, &interventions))
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
        let interventions = Interventions::heads(&self.model.heads_enabled);
        let runs = self.lesson.sentences.iter().filter_map(|sentence| self.run(sentence));
        let errors = runs.flat_map(|run| {
            let terms = contributions(&self.network, &self.model.parameters, &run, &interventions);
            let blocks = self.network.architecture.numbered_blocks().zip(&run.blocks);
            let error = |((terms, (_, config)), run)| f64::from(Contributions::error(terms, config, run));
            terms.iter().zip(blocks).map(|(terms, (block, run))| error(((terms, block), run))).collect::<Vec<_>>()
        });
        errors.fold(0.0, Scalar::max)
    }
}
