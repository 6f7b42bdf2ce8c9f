//! Measurement of the claims of lessons. Many claims are about the places of words before and after attention, usually
//! in the space of the vectors and not in the picture.

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::evidence::corpus::TextMeasure;
use attune_engine::numerics::model::activations::{HeadActivations, Interventions};
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::model::{Activations, AttentionModel, Pooling, Sequences};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::vectors::{add_scaled, cosine, distance, dot, norm};
use attune_engine::numerics::{Matrix, Scalar};

use crate::kernel::evidence::Evidence;
use crate::kernel::evidence::texts::{Texts, read_texts};
use crate::kernel::kernel::Kernel;
use crate::kernel::objective::{has_one_meaning, network};
use crate::kernel::sentence_pass::interventions::for_any_sentence;
use crate::kernel::sentence_pass::sentence::{Sentence, SentenceFrame, contributions};
use crate::kernel::snapshot::{ModelSnapshot, Snapshot};
use crate::kernel::targets::Targets;
use crate::kernel::training::stop::{ActivationId, first_not_finite};
use crate::kernel::values::sentence::{answers, probabilities};
use crate::kernel::values::space::{StaticSpace, index_of, known_rows, rows_of};
use crate::lesson::issue::printable;
use crate::lesson::recipe::Measured;
use crate::lesson::schema::{Claim, Expect, Fact, Lesson, OverTexts, Probe, Space, StaticEmbedding, TokenPlace};
use crate::lesson::{Recipe, corpus};

/// A claim, and the value that was measured for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimVerdict {
    pub id: String,
    pub says: String,
    pub value: f64,
    /// The reason why nothing was measured, if it is known.
    pub fault: Option<String>,
    pub expect: Expect,
}

impl ClaimVerdict {
    fn of(claim: &Claim, value: f64, fault: Option<String>) -> Self {
        Self { id: claim.id.clone(), says: claim.says.clone(), value, fault, expect: claim.expect }
    }

    /// Returns whether the value meets the expectation. NaN never does.
    pub fn holds(&self) -> bool {
        match self.expect {
            Expect::AtLeast(least) => self.value >= least,
            Expect::AtMost(most) => self.value <= most,
            Expect::Within { value, tolerance } => (self.value - value).abs() <= tolerance,
        }
    }
}

/// Trains a model with each combination of switches that claims name, and verifies the claims about it. The values are
/// NaN if a combination cannot be trained.
pub fn verify_switched(lesson: &Lesson) -> Vec<ClaimVerdict> {
    let combinations: BTreeSet<&BTreeSet<String>> = lesson.claims.iter().map(|claim| &claim.with).collect();
    // Measured only if needed, because most lessons have no such claims, and lessons about a pretrained model have a
    // large vocabulary.
    let measured = LazyCell::new(|| Measured::of(lesson));
    let trained = |with: &BTreeSet<String>| {
        let recipe = Recipe { switches: with.clone(), ..Recipe::default() };
        let lesson = measured.apply(&recipe).ok()?;
        verify(&Kernel::trained(Arc::new(lesson)).snapshot())
    };
    let none = |with: &BTreeSet<String>| {
        let claims = lesson.claims.iter().filter(|claim| claim.with == *with);
        claims.map(|claim| ClaimVerdict::of(claim, f64::NAN, None)).collect()
    };
    let switched = combinations.into_iter().filter(|with| !with.is_empty());
    switched.flat_map(|with| trained(with).unwrap_or_else(|| none(with))).collect()
}

/// Verifies the claims that are made for the lesson's present switches, with the model in the snapshot. Returns `None`
/// until there is a model.
pub fn verify(snapshot: &Snapshot) -> Option<Vec<ClaimVerdict>> {
    verify_within(snapshot, Duration::MAX)
}

/// Verifies the same claims as [`verify`], with at most `time` for measuring texts. Claims over texts that take longer
/// do not hold.
pub fn verify_within(snapshot: &Snapshot, time: Duration) -> Option<Vec<ClaimVerdict>> {
    let measure = Measure { time, ..Measure::of(snapshot)? };
    // A fact in several claims is measured once.
    let mut measured: Vec<(&Fact, f64)> = Vec::new();
    let mut verdicts = Vec::new();
    let lesson = &snapshot.lesson;
    for claim in lesson.claims.iter().filter(|claim| claim.with == lesson.switches.on) {
        let fact = &claim.fact;
        let known = measured.iter().find(|(known, _)| *known == fact).map(|(_, value)| *value);
        let value = known.unwrap_or_else(|| measure.fact(fact));
        if known.is_none() {
            measured.push((fact, value));
        }
        verdicts.push(ClaimVerdict::of(claim, value, measure.fault(fact)));
    }
    Some(verdicts)
}

/// Returns the first of the lesson's sentences whose forward pass overflows, with the first tensor that overflows.
/// Returns `None` if no pass overflows or there is no model.
pub fn first_overflow(snapshot: &Snapshot) -> Option<(&[String], ActivationId)> {
    let measure = Measure::of(snapshot)?;
    let of_sentence = |sentence: &[String]| {
        let run = measure.run(sentence)?;
        let logits = answers(&measure.network, &measure.model.parameters, &run.output).logits;
        first_not_finite(&measure.network.architecture, &Interventions::default(), &run, &logits)
    };
    let sentences = &snapshot.lesson.sentences;
    sentences.iter().find_map(|sentence| Some((&sentence[..], of_sentence(sentence)?)))
}

struct Measure<'a> {
    lesson: &'a Lesson,
    space: &'a Arc<StaticSpace>,
    model: &'a ModelSnapshot,
    network: AttentionModel<f32>,
    /// The learner's interventions that are not about a single sentence.
    interventions: Arc<Interventions<f32>>,
    targets: Option<Targets>,
    places: WordPlaces<'a>,
    /// The arrival of each probe's word, measured once for all claims.
    arrivals: OnceCell<Vec<Arrival>>,
    /// For each head, the share of target words at which it attends most to the source word that belongs there. All are
    /// NaN for a model whose targets follow no rule.
    alignments: OnceCell<Vec<f64>>,
    /// Measures of all heads over the lesson's file of texts, or the reason why there are none.
    texts: OnceCell<Result<Texts, String>>,
    /// The time that measuring the texts may take.
    time: Duration,
}

impl<'a> Measure<'a> {
    fn of(snapshot: &'a Snapshot) -> Option<Self> {
        let (lesson, space, model) = (&*snapshot.lesson, snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let network = network(lesson, space);
        let places = WordPlaces::of(lesson, space);
        let (arrivals, alignments, texts) = Default::default();
        let interventions = Arc::new(for_any_sentence(&model.interventions));
        let targets = Targets::of(lesson, &space.vocabulary, &network, &model.trained);
        Some(Self {
            lesson,
            space,
            model,
            network,
            interventions,
            targets,
            places,
            arrivals,
            alignments,
            texts,
            time: Duration::MAX,
        })
    }

    /// Measures a fact. The result is NaN if a number that it depends on is missing or not finite.
    fn fact(&self, fact: &Fact) -> f64 {
        self.value(fact).filter(|value| value.is_finite()).unwrap_or(f64::NAN)
    }

    fn value(&self, fact: &Fact) -> Option<f64> {
        let of_pair = |a: &[f32], b: &[f32]| f64::from(cosine(a, b));
        Some(match fact {
            Fact::SenseAccuracy(space) => self.over_margins(*space, |margin| f64::from(u8::from(margin > 0.0))),
            Fact::SenseMargin(space) => self.over_margins(*space, |margin| margin),
            Fact::TokenMargin { at, sense } => self.token_margin(*at, sense)?,
            Fact::Arrived => self.over_probes(|arrival| f64::from(u8::from(arrival.has_arrived()))),
            Fact::Drift => self.drift(),
            Fact::TokenCosine { at, to, space } => of_pair(&self.token_vector(*at, *space)?, &self.places.goal(to)?),
            Fact::TokenDistance { at, to, space, drawn } => {
                let (vector, goal) = (self.token_vector(*at, *space)?, self.places.goal(to)?);
                f64::from(if *drawn { self.drawn_distance(&vector, &goal) } else { distance(&vector, &goal) })
            }
            Fact::TokenLength { at, space } => f64::from(norm(&self.token_vector(*at, *space)?)),
            Fact::TokenMove { at } => f64::from(norm(&self.token_move(*at)?)),
            Fact::MoveCosine { at, other } => of_pair(&self.token_move(*at)?, &self.token_move(*other)?),
            Fact::LayerCosine { at, other, layer } => of_pair(&self.state(*at, *layer)?, &self.state(*other, *layer)?),
            Fact::MajorityShare => self.majority_share(),
            Fact::Mixture { word, of, against } => self.mixture(word, of, against)?,
            Fact::Cosine { a, b } => of_pair(&self.places.word(a)?, &self.places.word(b)?),
            Fact::FinalLoss => self.final_loss(),
            Fact::ContributionError => self.contribution_error(),
            Fact::LabelAccuracy { on } => self.label_accuracy(on.as_deref()),
            Fact::Says { sentence, hides, answer, layer } => f64::from(self.says(sentence, *hides, answer, *layer)?),
            Fact::Weight { sentence, head, query, key } => f64::from(self.weight(*sentence, *head, *query, *key)?),
            Fact::Alignment { head } => self.alignments.get_or_init(|| self.alignments())[*head],
            Fact::SequenceAccuracy => self.sequence_accuracy()?,
            Fact::OverTexts { of, layer, head } => self.over_texts(*of, (*layer, *head))?,
        })
    }

    /// Returns the reason why a fact about a file of texts was not measured. For other facts, no reason is known.
    fn fault(&self, fact: &Fact) -> Option<String> {
        let Fact::OverTexts { of, .. } = fact else { return None };
        match self.texts() {
            Err(why) => Some(why.clone()),
            Ok(_) if *of == OverTexts::Measure(TextMeasure::Induction) && !self.fact(fact).is_finite() => {
                Some("no text repeats a token".to_owned())
            }
            Ok(_) => None,
        }
    }

    fn over_texts(&self, of: OverTexts, place: (usize, usize)) -> Option<f64> {
        let heads = &self.texts().as_ref().ok()?.heads;
        let measures = &heads.iter().find(|head| (head.layer, head.head) == place)?.measures;
        match of {
            OverTexts::Measure(measure) => measures.measure(measure),
            OverTexts::Quantile { of, quantile } => {
                let spread = measures.distributions.iter().find(|spread| spread.of == of)?;
                spread.values.get(quantile).copied()
            }
        }
    }

    /// Measures all heads over the lesson's file of texts, once for all claims.
    fn texts(&self) -> &Result<Texts, String> {
        self.texts.get_or_init(|| {
            let file = self.lesson.texts.as_deref().ok_or("no file of texts is named")?;
            let evidence = Evidence {
                lesson: self.lesson,
                model: &self.network,
                parameters: &self.model.parameters,
                space: self.space,
                classes: &self.model.classes,
                targets: self.targets.as_ref(),
            };
            let name = printable(&file.file_name().unwrap_or_default().to_string_lossy());
            let found = read_texts(file).and_then(|text| evidence.texts_within(&text, self.time));
            found.map_err(|why| format!("{name}: {why}"))
        })
    }

    /// Runs the forward pass of a sentence. Returns `None` if the model cannot read the sentence.
    fn run(&self, sentence: &[String]) -> Option<Activations<f32>> {
        let frame = self.frame(sentence)?;
        Some(frame.activations(&self.network, &self.model.parameters, &self.interventions))
    }

    /// Returns the forward pass of one of the lesson's sentences, which is the recorded one for a recording. Returns
    /// `None` if the sentence does not exist or cannot be read.
    fn run_of(&self, sentence: usize) -> Option<Activations<f32>> {
        let Some(model) = self.lesson.static_embedding.recording() else {
            return self.run(self.lesson.sentences.get(sentence)?);
        };
        let text = Sentence::of_recorded(model, sentence, 0).ok()?;
        let frame = SentenceFrame::without_points(text, self.space, None);
        Some(frame.activations(&self.network, &self.model.parameters, &self.interventions))
    }

    /// Prepares a sentence for the forward pass. Returns `None` if the model cannot read it.
    fn frame(&self, sentence: &[String]) -> Option<SentenceFrame> {
        let sentence = match self.lesson.static_embedding {
            StaticEmbedding::Pretrained(_) => {
                Sentence::read(&sentence.join(" "), self.lesson, &self.space.vocabulary).ok()?
            }
            StaticEmbedding::Recording(_) | StaticEmbedding::Word2Vec(_) | StaticEmbedding::Given(_) => {
                Sentence::of_rows(rows_of(sentence, self.places.rows())?)
            }
        };
        Some(SentenceFrame::without_points(sentence, self.space, self.targets.as_ref()))
    }

    /// Returns the logits of the last answer about a sentence, which is about the whole sentence or about its last
    /// word.
    fn logits(&self, sentence: &[String]) -> Option<Vec<f32>> {
        Some(self.network.logits_at_end(&self.model.parameters, &self.run(sentence)?.output))
    }

    /// Returns a token's vector after the given number of layers, or `None` if there is no such token or layer.
    fn state(&self, TokenPlace { sentence, token }: TokenPlace, layer: usize) -> Option<Vec<f32>> {
        let run = self.run_of(sentence)?;
        run.states(&self.network.architecture)
            .nth(layer)
            .filter(|layer| token < layer.rows())
            .map(|layer| layer.row(token).to_vec())
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
            Some(self.model.classes[likeliest(&self.logits(words)?)?] == *label)
        };
        share(sentences.iter().map(is_right))
    }

    fn says(&self, sentence: &[String], hides: Option<usize>, answer: &str, layer: Option<usize>) -> Option<f32> {
        let class = self.model.classes.iter().position(|class| class == answer)?;
        let run = match hides {
            Some(place) => self.run_hidden(sentence, place)?,
            None => self.run(sentence)?,
        };
        let place = hides.unwrap_or(run.output.rows() - 1);
        let (network, parameters) = (&self.network, &self.model.parameters);
        let logits = match (layer, hides) {
            (Some(layer), _) => {
                let state = run.states(&self.network.architecture).nth(layer)?.row(place).to_vec();
                network.lens(parameters, Matrix::from_row_major(1, state.len(), state)).flat().to_vec()
            }
            (None, Some(place)) => answers(network, parameters, &run.output).logits.row(place).to_vec(),
            (None, None) => network.logits_at_end(parameters, &run.output),
        };
        Some(probabilities(&logits)[class])
    }

    /// Runs the forward pass of a sentence with one word hidden from the model. Returns `None` if the model cannot read
    /// the sentence.
    fn run_hidden(&self, sentence: &[String], place: usize) -> Option<Activations<f32>> {
        match self.lesson.static_embedding {
            // The text already contains the mask token in place of the hidden word.
            StaticEmbedding::Pretrained(_) | StaticEmbedding::Recording(_) => self.run(sentence),
            StaticEmbedding::Word2Vec(_) | StaticEmbedding::Given(_) => {
                let words = rows_of(sentence, self.places.rows())?.into_iter().enumerate();
                let mut input = Sequences::default();
                input.push(words.map(|(at, word)| (at != place).then_some(word)), 0);
                Some(Activations::of(&self.network, &self.model.parameters, &input, None, &self.interventions))
            }
        }
    }

    fn weight(&self, sentence: usize, head: usize, query: usize, key: usize) -> Option<f32> {
        let run = self.run_of(sentence)?;
        let weights = &run.heads().nth(head)?.weights;
        (query < weights.rows() && key < weights.cols()).then(|| weights.get(query, key))
    }

    fn alignments(&self) -> Vec<f64> {
        let heads = self.network.architecture.heads();
        let Some(rewriter) = self.targets.as_ref().and_then(Targets::rule) else { return vec![f64::NAN; heads] };
        // For each head, whether it attends most to the right source word, at each target word of all sentences.
        let mut looks = vec![Vec::new(); heads];
        for run in self.lesson.sentences.iter().filter_map(|sentence| self.run(sentence)) {
            for (looks, HeadActivations { weights, .. }) in looks.iter_mut().zip(run.heads()) {
                let source_of = |target| rewriter.order.source_of(target, weights.cols());
                looks.extend((0..weights.rows()).map(|row| Some(likeliest(weights.row(row))? == source_of(row))));
            }
        }
        looks.into_iter().map(|looks| share(looks.into_iter())).collect()
    }

    fn sequence_accuracy(&self) -> Option<f64> {
        let rewriter = self.targets.as_ref()?.rule()?;
        let sources = self.lesson.sentences.iter().filter_map(|sentence| rows_of(sentence, self.places.rows()));
        Some(share(sources.flat_map(|source| {
            // Greedy decoding does not draw, so the state of the generator has no effect.
            let mut generator = stream(self.lesson.seed, Stream::Generation);
            let (parameters, count) = (&self.model.parameters, source.len());
            let written =
                self.network.generate(parameters, &[], Some(&source), count, NextWordChoice::Greedy, &mut generator);
            let target = rewriter.target(&source);
            // The model writes exactly as many words as requested, or none if a number is not finite.
            let right = |t| written.as_ref().ok().map(|written| written[t] == target[t]);
            (0..count).map(right).collect::<Vec<_>>()
        })))
    }

    /// Returns the mean of `score` over the margins of the probes, or NaN if a margin is not finite.
    fn over_margins(&self, space: Space, score: impl Fn(f64) -> f64) -> f64 {
        self.over_probes(|arrival| {
            let margin = match space {
                Space::Static => arrival.before.margin(),
                Space::Contextual => arrival.after.margin(),
            };
            if margin.is_finite() { score(margin) } else { f64::NAN }
        })
    }

    /// Returns the mean of `score` over the arrivals of the probes. Probes that cannot be measured are left out;
    /// without any others, the mean is NaN.
    fn over_probes(&self, score: impl Fn(&Arrival) -> f64) -> f64 {
        let arrival = |probe: &Probe| {
            let at = probe.sentence.iter().position(|word| *word == probe.word)?;
            self.places.arrival(probe, self.run(&probe.sentence)?.output.row(at))
        };
        let arrivals = self.arrivals.get_or_init(|| self.lesson.probes.iter().filter_map(arrival).collect());
        arrivals.iter().map(score).sum::<f64>() / arrivals.len() as f64
    }

    fn drift(&self) -> f64 {
        let drifts = self.lesson.sentences.iter().filter_map(|sentence| Some((sentence, self.run(sentence)?)));
        let drifts: Vec<f32> = drifts
            .flat_map(|(sentence, run)| {
                let of_token = |at: usize| Some(distance(run.output.row(at), &self.places.word(&sentence[at])?));
                self.places.resting(sentence).filter_map(of_token).collect::<Vec<_>>()
            })
            .collect();
        drifts.iter().map(|&drift| f64::from(drift)).sum::<f64>() / drifts.len() as f64
    }

    /// Returns a token's static or contextual vector.
    fn token_vector(&self, at: TokenPlace, space: Space) -> Option<Vec<f32>> {
        let [before, after] = self.token_vectors(at)?;
        Some(match space {
            Space::Static => before,
            Space::Contextual => after,
        })
    }

    /// Returns the static vector of a token, which is zero for a token that is not in the vocabulary, and its
    /// contextual vector.
    fn token_vectors(&self, TokenPlace { sentence, token }: TokenPlace) -> Option<[Vec<f32>; 2]> {
        let frame = self.frame(self.lesson.sentences.get(sentence)?)?;
        let run = frame.activations(&self.network, &self.model.parameters, &self.interventions);
        let nothing = vec![0.0; self.space.vectors.cols()];
        let before = frame.tokens().get(token)?.word.map_or(nothing, |word| self.space.vectors.row(word).into_owned());
        Some([before, run.output.row(token).to_vec()])
    }

    fn token_move(&self, at: TokenPlace) -> Option<Vec<f32>> {
        let [before, mut after] = self.token_vectors(at)?;
        add_scaled(&mut after, -1.0, &before);
        Some(after)
    }

    /// Returns the distance between the points of two vectors in the picture.
    fn drawn_distance(&self, a: &[f32], b: &[f32]) -> f32 {
        let difference: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        norm(&self.space.projection.direction(&difference))
    }

    fn token_margin(&self, at: TokenPlace, sense: &str) -> Option<f64> {
        let after = self.token_vector(at, Space::Contextual)?;
        Some(self.places.place(&after, self.places.group(sense)?).margin())
    }

    fn majority_share(&self) -> f64 {
        let probes = &self.lesson.probes;
        let of_sense = |sense: &str| probes.iter().filter(|probe| probe.sense == sense).count();
        let most = probes.iter().map(|probe| of_sense(&probe.sense)).max().unwrap_or(0);
        most as f64 / probes.len() as f64
    }

    /// Solves the least-squares fit `word ≈ w·a + u·b` by its normal equations, and returns `w / (w + u)`, or `None` if
    /// the word or a group does not exist.
    fn mixture(&self, word: &str, of: &str, against: &str) -> Option<f64> {
        let places = &self.places;
        let (word, a, b) = (places.word(word)?, places.centroid(of)?, places.centroid(against)?);
        let [aa, ab, bb, wa, wb] = [dot(a, a), dot(a, b), dot(b, b), dot(&word, a), dot(&word, b)].map(f64::from);
        let determinant = aa * bb - ab * ab;
        let (w, u) = ((wa * bb - wb * ab) / determinant, (wb * aa - wa * ab) / determinant);
        Some(w / (w + u))
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

/// Returns the index of the first maximum, or `None` if a number is not finite.
fn likeliest(row: &[f32]) -> Option<usize> {
    let first = (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    row.iter().all(|x| x.is_finite()).then_some(first)
}

/// Returns the share of values that are true; it is NaN if there are none or one is unknown.
fn share(all: impl Iterator<Item = Option<bool>>) -> f64 {
    let Some(all) = all.collect::<Option<Vec<bool>>>() else { return f64::NAN };
    all.iter().filter(|is| **is).count() as f64 / all.len() as f64
}

/// Least cosine between a word that has arrived and the centroid of its sense.
pub const ARRIVED_COSINE: f32 = 0.6;
/// Range of the length of a word that has arrived, as multiples of the mean length of static vectors.
pub const ARRIVED_LENGTHS: RangeInclusive<f32> = 0.5..=2.0;

/// Cosines and distances between a vector and the centroids of the groups, with the vector's length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentroidDistances {
    /// Cosine to the centroid of the word's own sense.
    pub own_cosine: f32,
    /// Largest cosine to the centroid of another group; `-∞` if there is no other.
    pub other_cosine: f32,
    /// Euclidean distance to the centroid of the word's own sense.
    pub own_distance: f32,
    /// Smallest Euclidean distance to the centroid of another group; `∞` if there is no other.
    pub other_distance: f32,
    /// Length of the vector, `‖y‖`.
    pub length: f32,
}

impl CentroidDistances {
    /// Returns the cosine to the word's own sense minus the largest cosine to another group.
    pub fn margin(&self) -> f64 {
        f64::from(self.own_cosine - self.other_cosine)
    }
}

/// The place of a word before and after attention, in a sentence that decides the word's sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    pub before: CentroidDistances,
    pub after: CentroidDistances,
    /// Whether another sense of the word is more frequent in the corpus, so that the static vector is near that sense.
    pub is_rarer_sense: bool,
    /// Mean length of the static vectors.
    pub mean_length: f32,
}

impl Arrival {
    /// Returns whether the word is where a word of its sense would be: its own centroid is the nearest, by cosine and
    /// by distance; its cosine is at least [`ARRIVED_COSINE`] and at least that of the static vector; a word in a rarer
    /// sense has come nearer; and its length is within [`ARRIVED_LENGTHS`].
    pub fn has_arrived(&self) -> bool {
        let Self { before, after, .. } = self;
        after.own_cosine > after.other_cosine
            && after.own_cosine >= ARRIVED_COSINE.max(before.own_cosine)
            && after.own_distance < after.other_distance
            && (!self.is_rarer_sense || after.own_distance < before.own_distance)
            && ARRIVED_LENGTHS.contains(&(after.length / self.mean_length))
    }
}

/// The static vectors of a lesson and the centroids of its groups, as reference points.
pub struct WordPlaces<'a> {
    lesson: &'a Lesson,
    space: &'a StaticSpace,
    /// The row of each word of the vocabulary.
    rows: HashMap<&'a str, usize>,
    /// The centroid of each group.
    centroids: Vec<Vec<f32>>,
    mean_length: f32,
}

impl<'a> WordPlaces<'a> {
    pub fn of(lesson: &'a Lesson, space: &'a StaticSpace) -> Self {
        let rows = index_of(&space.vocabulary);
        let centroids = lesson.groups.iter().map(|group| space.vectors.centroid(&known_rows(&group.words, &rows)));
        let centroids = centroids.collect();
        let count = space.vectors.rows();
        let lengths = (0..count).map(|row| norm(&space.vectors.row(row)));
        let mean_length = lengths.sum::<f32>() / count as f32;
        Self { lesson, space, rows, centroids, mean_length }
    }

    /// Returns the row of each word of the vocabulary.
    pub fn rows(&self) -> &HashMap<&'a str, usize> {
        &self.rows
    }

    /// Returns the static vector of a word, or `None` if it is not in the vocabulary.
    pub fn word(&self, word: &str) -> Option<Cow<'a, [f32]>> {
        Some(self.space.vectors.row(*self.rows.get(word)?))
    }

    /// Returns the index of a group, or `None` if the lesson has no such group.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.lesson.groups.iter().position(|group| group.name == name)
    }

    /// Returns the centroid of a group, or `None` if the lesson has no such group.
    pub fn centroid(&self, name: &str) -> Option<&[f32]> {
        Some(&self.centroids[self.group(name)?])
    }

    /// Returns the vector that a goal's name stands for: the centroid of the group of this name, or otherwise the
    /// static vector of the word.
    pub fn goal(&self, name: &str) -> Option<Cow<'_, [f32]>> {
        self.centroid(name).map(Cow::Borrowed).or_else(|| self.word(name))
    }

    /// Measures a vector's cosines and distances to the centroids. `own` is the index of the word's own sense in
    /// [`Lesson::groups`].
    ///
    /// # Panics
    /// If `own` is not the index of a group.
    pub fn place(&self, vector: &[f32], own: usize) -> CentroidDistances {
        let others = || self.centroids.iter().enumerate().filter(|(group, _)| *group != own).map(|(_, other)| other);
        CentroidDistances {
            own_cosine: cosine(vector, &self.centroids[own]),
            other_cosine: others().map(|other| cosine(vector, other)).fold(f32::NEG_INFINITY, f32::max),
            own_distance: distance(vector, &self.centroids[own]),
            other_distance: others().map(|other| distance(vector, other)).fold(f32::INFINITY, f32::min),
            length: norm(vector),
        }
    }

    /// Measures where a probe's word is before attention and at its output. Returns `None` if its sense is not a group
    /// of the lesson, or the word is not in the vocabulary.
    pub fn arrival(&self, probe: &Probe, output: &[f32]) -> Option<Arrival> {
        let own = self.group(&probe.sense)?;
        Some(Arrival {
            before: self.place(&self.word(&probe.word)?, own),
            after: self.place(output, own),
            is_rarer_sense: self.is_rarer_sense(&probe.word, &probe.sense),
            mean_length: self.mean_length,
        })
    }

    fn is_rarer_sense(&self, word: &str, sense: &str) -> bool {
        let Some(known) = self.lesson.corpus.ambiguous.iter().find(|known| known.word == word) else { return false };
        let own = known.shares.iter().find(|(group, _)| group == sense).map_or(0.0, |(_, share)| *share);
        known.shares.iter().any(|(_, share)| *share > own)
    }

    /// Returns the positions of a sentence that no objective moves: no answer is read off their outputs, and their
    /// words have a single sense and no probe.
    pub fn resting(&self, sentence: &[String]) -> impl Iterator<Item = usize> {
        let model = &self.lesson.model;
        let first_read = match model.architecture.pooling {
            _ if model.reads_every_output() => 0,
            Pooling::Last => sentence.len() - 1,
            Pooling::Every | Pooling::Mean => sentence.len(),
        };
        let is_asked = |word: &String| self.lesson.probes.iter().any(|probe| probe.word == *word);
        (0..sentence.len()).filter(move |at| {
            *at < first_read && has_one_meaning(self.lesson, &sentence[*at]) && !is_asked(&sentence[*at])
        })
    }

    /// Returns the mean length of the static vectors.
    pub fn mean_length(&self) -> f32 {
        self.mean_length
    }
}
