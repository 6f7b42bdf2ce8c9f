//! The budget of a lesson. Even if each size is within its own limit, all of them together could make a training run
//! for hours or exhaust the memory. The budget covers the training of a lesson, its claims, and the sentences that a
//! pretrained model reads.

use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::cost::{
    NUMBER_BYTES, contribution_cost, forward_cost, forward_multiplications, generation_cost, parameters, sentence_cost,
    workspace_entries,
};
use attune_engine::numerics::word2vec::Word2VecConfig;

use crate::lesson::corpus::longest;
use crate::lesson::read::claims::ClaimContext;
use crate::lesson::read::common::Vocabulary;
use crate::lesson::read::model::{ReadModel, ReadObjective};
use crate::lesson::reading::decode::{At, Node};
use crate::lesson::schema::limits::{SENTENCE_BYTES_MAX, TRAINING_BYTES_MAX, TRAINING_WORK_MAX, VOCABULARY_MAX};
use crate::lesson::schema::model::{ModelConfig, Objective};
use crate::lesson::schema::{Ambiguous, Claim, Corpus, Fact, Probe, StaticEmbedding, TargetForm};

pub fn check_budget<'s>(
    corpus: &At<'s, Corpus>,
    vocabulary: &Vocabulary,
    embedding: &Option<At<'s, StaticEmbedding>>,
    model: &Option<ReadModel<'s>>,
) {
    let words = vocabulary.words.len();
    if words > VOCABULARY_MAX {
        corpus.node.issue(format!("corpus: {words} different words")).expected(format!("at most {VOCABULARY_MAX}"));
        return;
    }
    let longest = longest(&corpus.value);
    if let Some(At { value: StaticEmbedding::Word2Vec(config), node }) = embedding {
        let objective = model.as_ref().and_then(|model| model.objective.as_ref());
        let rewrites = objective.is_some_and(ReadObjective::replaces_words);
        let work = static_work(config, corpus.value.sentences, longest, rewrites);
        let remedy = "fewer sentences, epochs or negatives, or a smaller window or dim";
        check_work(*node, "the training needs", work, remedy);
    }
    let Some(ReadModel { config: Some(model), node, .. }) = model else {
        return;
    };
    let needs = Needs::of(model, words, classes(model, corpus.value.topics.len(), words), longest);
    needs.check(*node, "fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim");
}

/// Checks the budget of the training of a pretrained model. Returns whether it is met.
pub fn check_training(node: Node<'_>, model: &ModelConfig, words: usize, longest: usize) -> bool {
    let needs = Needs::of(model, words, words, longest);
    needs.check(node, "fewer steps, a smaller batch, shorter texts or a smaller model")
}

/// Checks the memory for the states of a lesson's sentences in all layers of a pretrained model, from which the axes
/// are computed.
pub fn check_states(node: Node<'_>, architecture: &Architecture, tokens: usize) {
    /// Copies of each state in memory: the states joined into one matrix, centred, and in double precision.
    const COPIES: f64 = 6.0;
    let states = (architecture.blocks.len() + 2) * architecture.width;
    let bytes = COPIES * NUMBER_BYTES * (states * tokens) as f64;
    let most = SENTENCE_BYTES_MAX + NUMBER_BYTES * parameters(architecture, 0, 0).0;
    if bytes > most {
        let [needed, most] = [bytes, most].map(mebibytes);
        node.field_issue(format!("sentences: {tokens} pieces in all layers need {needed:.0} MiB of memory"))
            .expected(format!("at most {most:.0} MiB: fewer or shorter sentences"));
    }
}

/// Returns the number of multiplications for the training of the static vectors.
fn static_work(config: &Word2VecConfig, sentences: usize, longest: usize, rewrites: bool) -> f64 {
    // If the model writes other words, word2vec is trained on the targets too.
    let texts = if rewrites { 2.0 } else { 1.0 };
    texts * config.epochs as f64 * sentences as f64 * config.multiplications(longest)
}

/// Memory and work for the training of a model.
struct Needs {
    /// Number of values in memory.
    numbers: f64,
    multiplications: f64,
    /// Number of multiplications that would take as long as the whole training.
    cost: f64,
}

impl Needs {
    fn of(model: &ModelConfig, words: usize, classes: usize, longest: usize) -> Self {
        let architecture = &model.architecture;
        let (parameters, tensors) = parameters(architecture, words, classes);
        let entries = workspace_entries(architecture, classes, model.schedule.batch * longest, longest);
        let logged = model.schedule.steps as f64 * (LOGGED + tensors) as f64;
        let training = |cost: fn(&_, _, _, _) -> f64| {
            let step = cost(architecture, classes, model.schedule.batch * longest, longest);
            model.schedule.steps as f64 * (step + UPDATE_MULTIPLICATIONS * parameters)
        };
        Self {
            numbers: entries + PARAMETER_COPIES * parameters + logged,
            multiplications: training(forward_multiplications),
            cost: training(forward_cost),
        }
    }

    /// Reports an issue if a need exceeds the budget. Returns whether all needs are within it.
    fn check(&self, node: Node<'_>, remedy: &str) -> bool {
        // In a small model, much of the time is not spent on multiplications.
        check_memory(node, self.numbers)
            & (check_work(node, "the training needs", self.multiplications, remedy)
                && check_work(node, "the training takes as long as", self.cost, remedy))
    }
}

/// Returns whether a changed lesson fits the budget; `longest` is the number of words of the longest sentence of its
/// corpus.
pub fn fits_budget(lesson: &RecipeChanges, words: usize, topics: usize, longest: usize) -> bool {
    let RecipeChanges { static_embedding, model, sentences, .. } = lesson;
    let rewrites = matches!(&model.objective, Objective::Sequence(TargetForm::ByRule(rule)) if !rule.words.is_empty());
    let static_work = match static_embedding {
        StaticEmbedding::Word2Vec(config) => static_work(config, *sentences, longest, rewrites),
        StaticEmbedding::Given(_) | StaticEmbedding::Pretrained(_) | StaticEmbedding::Recording(_) => 0.0,
    };
    let Needs { numbers, multiplications, cost } = Needs::of(model, words, classes(model, topics, words), longest);
    [static_work, multiplications, cost].iter().all(|work| *work <= TRAINING_WORK_MAX)
        && NUMBER_BYTES * numbers <= TRAINING_BYTES_MAX
}

/// Returns the number of answers: labels, of which there is one for each topic, or words.
fn classes(model: &ModelConfig, topics: usize, words: usize) -> usize {
    if model.objective == Objective::Label { topics } else { words }
}

/// Checks the work of measuring the claims, including the pass over all sentences that looks for overflows.
pub fn check_claims_work(
    node: Node<'_>,
    claims: &[Claim],
    corpus: Option<&Corpus>,
    context: &ClaimContext,
    probes: Option<&[Probe]>,
) {
    let (Some(corpus), Some(words)) = (corpus, context.names.vocabulary.as_ref()) else { return };
    let (Some(model), Some(lengths), Some(probes)) = (context.model, context.lengths, probes) else { return };
    let (architecture, classes) = (&model.architecture, classes(model, corpus.topics.len(), words.words.len()));
    let run = |tokens: usize| sentence_cost(architecture, classes, tokens);
    // The longest sentence is computed once, because a lesson may have many claims and very many sentences.
    let longest = longest(corpus);
    let over_sentences = |cost: &dyn Fn(usize) -> f64| lengths.iter().map(|&tokens| cost(tokens)).sum::<f64>();
    let of_fact = |fact: &Fact| match fact {
        Fact::SenseAccuracy(_) | Fact::SenseMargin(_) | Fact::Arrived => {
            probes.iter().map(|probe| run(probe.sentence.len())).sum()
        }
        Fact::LabelAccuracy { on: None } => corpus.sentences as f64 * run(longest),
        Fact::LabelAccuracy { on: Some(sentences) } => sentences.iter().map(|(words, _)| run(words.len())).sum(),
        Fact::Says { sentence, .. } => run(sentence.len()),
        Fact::Weight { sentence, .. } => run(lengths[*sentence]),
        Fact::TokenMargin { at, .. }
        | Fact::TokenCosine { at, .. }
        | Fact::TokenDistance { at, .. }
        | Fact::TokenLength { at, .. }
        | Fact::TokenMove { at } => run(lengths[at.sentence]),
        Fact::MoveCosine { at, other } | Fact::LayerCosine { at, other, .. } => {
            run(lengths[at.sentence]) + run(lengths[other.sentence])
        }
        Fact::Drift | Fact::Alignment { .. } => over_sentences(&run),
        Fact::ContributionError => over_sentences(&|tokens| run(tokens) + contribution_cost(architecture, tokens)),
        Fact::SequenceAccuracy => over_sentences(&|tokens| generation_cost(architecture, classes, tokens)),
        Fact::MajorityShare | Fact::Mixture { .. } | Fact::Cosine { .. } | Fact::FinalLoss => 0.0,
        // The work is not counted. It takes as long as `attune heads` over the same file, whose size is bounded.
        Fact::OverTexts { .. } => 0.0,
    };
    let mut measured: Vec<&Fact> = Vec::new();
    for Claim { fact, .. } in claims {
        if !measured.iter().any(|known| is_one_measurement(known, fact)) {
            measured.push(fact);
        }
    }
    let work = over_sentences(&run) + measured.into_iter().map(of_fact).sum::<f64>();
    let remedy = "fewer or shorter sentences, fewer claims, or a smaller model";
    check_work(node, "measuring them takes as long as", work, remedy);
}

/// Returns whether one measurement provides both facts.
fn is_one_measurement(a: &Fact, b: &Fact) -> bool {
    use Fact::{Alignment, Arrived, SenseAccuracy, SenseMargin};
    let of_senses = |fact: &Fact| matches!(fact, SenseAccuracy(_) | SenseMargin(_) | Arrived);
    a == b || (of_senses(a) && of_senses(b)) || matches!((a, b), (Alignment { .. }, Alignment { .. }))
}

/// Multiplications of the optimiser for each parameter, in addition to the forward passes.
const UPDATE_MULTIPLICATIONS: f64 = 4.0;
/// Least number of copies of a parameter in memory: with its gradient and moments, in snapshots, checkpoints and the
/// undo history.
const PARAMETER_COPIES: f64 = 16.0;
/// Numbers in the log for each step, in addition to one for each tensor.
const LOGGED: usize = 2;

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// Returns whether the numbers fit into the memory that training may use. Reports an issue if not.
fn check_memory(node: Node<'_>, numbers: f64) -> bool {
    let bytes = NUMBER_BYTES * numbers;
    let fits = bytes <= TRAINING_BYTES_MAX;
    if !fits {
        let [needed, most] = [bytes, TRAINING_BYTES_MAX].map(mebibytes);
        node.field_issue(format!("the training needs {needed:.0} MiB of memory")).expected(format!(
            "at most {most:.0} MiB: fewer steps, a smaller batch, shorter sentences, fewer words or narrower heads"
        ));
    }
    fits
}

/// Returns whether the work is within the limit. Otherwise, reports an issue whose message begins with `needs`.
fn check_work(node: Node<'_>, needs: &str, work: f64, remedy: &str) -> bool {
    let fits = work <= TRAINING_WORK_MAX;
    if !fits {
        node.field_issue(format!("{needs} {work:.1e} multiplications"))
            .expected(format!("at most {TRAINING_WORK_MAX:.0e}: {remedy}"));
    }
    fits
}

/// The parts of a lesson that a recipe changes.
pub struct RecipeChanges {
    pub ambiguous: Vec<Ambiguous>,
    pub sentences: usize,
    pub static_embedding: StaticEmbedding,
    pub model: ModelConfig,
    pub seed: u64,
}
