//! The hard limits of a lesson, and its budget. Crossing one is an issue with a place, never a slow or huge run.
//!
//! The product of all sizes, each within its own limit, must not run for hours or fill the memory. That is so of a
//! lesson's training and its claims, and of a sentence that a pretrained model reads.

use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::cost::{
    NUMBER_BYTES, contribution_cost, forward_cost, forward_multiplications, generation_cost, pairs_of_heads,
    parameters, sentence_bytes, sentence_cost, workspace_entries,
};
use attune_engine::numerics::word2vec::Word2VecConfig;

use super::check::Vocabulary;
use super::corpus::longest;
use super::decode::{At, Node};
use super::read_claims::ClaimContext;
use super::read_model::{ReadModel, ReadObjective};
use super::recipe::RecipeChanges;
use super::schema::{Claim, Corpus, Fact, ModelConfig, Objective, Probe, StaticEmbedding};

/// Bytes of a lesson file; larger ones are refused before they are read.
pub const LESSON_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of the Markdown of one text cell.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Places in a course, and minutes that a lesson takes.
pub const NUMBERS: std::ops::RangeInclusive<usize> = 1..=999;
pub const MINUTES: std::ops::RangeInclusive<usize> = 1..=600;
/// Lessons that one builds on.
pub const BUILDS_ON_MAX: usize = 20;
/// Characters of a title, a summary, a caption or the words of a claim.
pub const LINE_CHARS_MAX: usize = 500;
/// Characters of an id; it becomes part of file names.
pub const ID_CHARS_MAX: usize = 64;
/// Characters of the name of a group, a slot or a topic; messages list all of them.
pub const NAME_CHARS_MAX: usize = 40;
/// Characters of one word: longer ones cannot be drawn as a label.
pub const WORD_CHARS_MAX: usize = 40;

/// How many times a stage cell plays: nobody waits for more.
pub const PLAYS_MAX: usize = 9;
/// Lines of a stage cell.
pub const LINES_MAX: usize = 100;

/// Bytes of one template.
pub const TEMPLATE_BYTES_MAX: usize = 4096;
/// Templates of one topic.
pub const TEMPLATES_MAX: usize = 200;
/// Words with several senses.
pub const AMBIGUOUS_MAX: usize = 16;
/// Groups: each needs a colour that can be told from the others.
pub const GROUPS_MAX: usize = 32;
/// Different words of a corpus.
pub const VOCABULARY_MAX: usize = 20_000;
/// Sentences that are drawn for training.
pub const SENTENCES_MAX: usize = 100_000;
/// Sentences that the learner can choose.
pub const CHOICES_MAX: usize = 200;
pub const PROBES_MAX: usize = 1000;
pub const CELLS_MAX: usize = 1000;
pub const CLAIMS_MAX: usize = 200;
/// Switches of a lesson's model: there is a model for every combination.
pub const SWITCHES_MAX: usize = 7;
/// Combinations of switches that claims are about: `attune check` trains each.
pub const SWITCHED_MODELS_MAX: usize = 8;

/// Things to choose among in a prediction.
pub const CHOICES_OF_PREDICTION: std::ops::RangeInclusive<usize> = 2..=8;
/// Hints, feedback and cases of one exercise.
pub const HINTS_MAX: usize = 10;
pub const FEEDBACK_MAX: usize = 20;
pub const CASES_MAX: usize = 20;

/// Terms of a glossary, and of one of them: other spellings, symbols, words of a spelling, bytes of a symbol
/// and of the meaning.
pub const GLOSSARY_TERMS_MAX: usize = 1000;
pub const SPELLINGS_MAX: usize = 16;
pub const SYMBOLS_MAX: usize = 8;
pub const SPELLING_WORDS_MAX: usize = 8;
pub const SYMBOL_BYTES_MAX: usize = 100;
pub const MEANING_BYTES_MAX: usize = 1000;

/// Width of the embeddings, and of the keys and values of one head.
pub const DIM_MAX: usize = 256;
pub const HEADS_MAX: usize = 16;
pub const LAYERS_MAX: usize = 8;
/// Hidden units of a feed-forward layer.
pub const FEED_FORWARD_MAX: usize = 1024;
/// Scores are divided by a temperature; nearer to 0 or further away they would leave the numbers.
pub const TEMPERATURE_MIN: f64 = 0.01;
pub const TEMPERATURE_MAX: f64 = 100.0;
/// Added to the variance in a norm: below, `f32` would not see it; above, norms would not norm.
pub const NORM_EPSILON_MIN: f64 = 1e-12;
pub const NORM_EPSILON_MAX: f64 = 0.1;
/// Factors and bounds of scores, logits and vectors.
pub const FACTOR_MIN: f64 = 0.001;
pub const FACTOR_MAX: f64 = 1000.0;
/// `θ` of rotary positions.
pub const THETA_MAX: f64 = 1e8;
/// Words that a model writes at once.
pub const GENERATED_MAX: usize = 64;
/// Words of one sentence.
pub const TOKENS_MAX: usize = 64;
/// Texts that a pretrained model is trained on further.
pub const TEXTS_MAX: usize = 10_000;
/// Pieces of one text that a pretrained model reads.
pub const PIECES_MAX: usize = 128;
/// Bytes that one sentence of a pretrained model may take over those of its weights: its layers, heads and pieces, each
/// within its own limit, multiply.
pub const SENTENCE_BYTES_MAX: f64 = 512.0 * 1024.0 * 1024.0;
/// Pairs of heads, queries and keys that are added up for one sentence of a pretrained model: about two seconds.
pub const SENTENCE_PAIRS_MAX: f64 = 1e9;
pub const WINDOW_MAX: usize = 16;
pub const NEGATIVES_MAX: usize = 64;
pub const EPOCHS_MAX: usize = 1000;
pub const STEPS_MAX: usize = 100_000;
/// The most that a squared distance counts beside the cross-entropy: beyond it no answer would be learned.
pub const COST_MAX: f64 = 10.0;
pub const BATCH_MAX: usize = 4096;
pub const LEARNING_RATE_MAX: f64 = 1.0;
pub const STOP_RULES_MAX: usize = 8;

/// Multiplications of the forward passes of a whole training run, and of all that the claims measure.
/// Each limit above is reasonable alone; this one keeps their product from running for hours. A laptop
/// does about 10¹⁰ a second with the backward passes that follow.
pub const TRAINING_WORK_MAX: f64 = 5e10;

/// Bytes that one training step may need: more would not fit beside a window on a small laptop.
pub const TRAINING_BYTES_MAX: f64 = 1024.0 * 1024.0 * 1024.0;

/// Issues that are kept; the others are counted.
pub const ISSUES_MAX: usize = 100;
/// Characters of offending text that an issue quotes.
pub const FOUND_CHARS_MAX: usize = 60;
/// Characters of a source line that an issue shows.
pub const EXCERPT_CHARS_MAX: usize = 100;

pub(super) fn check_budget<'s>(
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

/// The budget of the training of a pretrained model; whether it is within.
pub(super) fn check_training(node: Node<'_>, model: &ModelConfig, words: usize, longest: usize) -> bool {
    let needs = Needs::of(model, words, words, longest);
    needs.check(node, "fewer steps, a smaller batch, shorter texts or a smaller model")
}

/// Checks the memory for the states of a lesson's sentences in all layers of a pretrained model, which choose the axes.
pub(super) fn check_states(node: Node<'_>, architecture: &Architecture, tokens: usize) {
    /// The states, put together, less their mean and in double precision.
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

/// The multiplications that static vectors are trained with.
fn static_work(config: &Word2VecConfig, sentences: usize, longest: usize, rewrites: bool) -> f64 {
    // Where the model writes other words, word2vec reads what it writes too.
    let texts = if rewrites { 2.0 } else { 1.0 };
    texts * config.epochs as f64 * sentences as f64 * config.multiplications(longest)
}

/// Memory and work that the training of a model needs.
struct Needs {
    /// Numbers in memory.
    numbers: f64,
    multiplications: f64,
    /// Multiplications that take as long as all of it.
    cost: f64,
}

impl Needs {
    fn of(model: &ModelConfig, words: usize, classes: usize, longest: usize) -> Self {
        let architecture = &model.architecture;
        let (parameters, tensors) = parameters(architecture, words, classes);
        let entries = workspace_entries(architecture, classes, model.batch * longest, longest);
        let logged = model.steps as f64 * (LOGGED + tensors) as f64;
        let training = |cost: fn(&_, _, _, _) -> f64| {
            let step = cost(architecture, classes, model.batch * longest, longest);
            model.steps as f64 * (step + UPDATE_MULTIPLICATIONS * parameters)
        };
        Self {
            numbers: entries + PARAMETER_COPIES * parameters + logged,
            multiplications: training(forward_multiplications),
            cost: training(forward_cost),
        }
    }

    /// Says what is too much; true where nothing is.
    fn check(&self, node: Node<'_>, remedy: &str) -> bool {
        // A small model does much besides multiplying.
        check_memory(node, self.numbers)
            & (check_work(node, "the training needs", self.multiplications, remedy)
                && check_work(node, "the training takes as long as", self.cost, remedy))
    }
}

/// Whether a changed lesson fits the budget; `longest` as in [`super::corpus::longest`].
pub(super) fn fits_budget(lesson: &RecipeChanges, words: usize, topics: usize, longest: usize) -> bool {
    let RecipeChanges { static_embedding, model, sentences, .. } = lesson;
    let rewrites = matches!(&model.objective, Objective::Sequence(rule) if !rule.words.is_empty());
    let static_work = match static_embedding {
        StaticEmbedding::Word2Vec(config) => static_work(config, *sentences, longest, rewrites),
        StaticEmbedding::Given(_) | StaticEmbedding::Pretrained(_) => 0.0,
    };
    let Needs { numbers, multiplications, cost } = Needs::of(model, words, classes(model, topics, words), longest);
    [static_work, multiplications, cost].iter().all(|work| *work <= TRAINING_WORK_MAX)
        && NUMBER_BYTES * numbers <= TRAINING_BYTES_MAX
}

/// How many answers there are: labels, which are the topics, or words.
fn classes(model: &ModelConfig, topics: usize, words: usize) -> usize {
    if model.objective == Objective::Label { topics } else { words }
}

/// The work of measuring the claims, and of the pass over all sentences that looks for overflows.
pub(super) fn check_claims_work(
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
    // Found once: a lesson may have many claims, and very many sentences.
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

/// Whether one measurement is enough for both facts.
fn is_one_measurement(a: &Fact, b: &Fact) -> bool {
    use Fact::{Alignment, Arrived, SenseAccuracy, SenseMargin};
    let of_senses = |fact: &Fact| matches!(fact, SenseAccuracy(_) | SenseMargin(_) | Arrived);
    a == b || (of_senses(a) && of_senses(b)) || matches!((a, b), (Alignment { .. }, Alignment { .. }))
}

/// Multiplications of the optimiser for one parameter, beside the forward passes.
const UPDATE_MULTIPLICATIONS: f64 = 4.0;
/// A parameter with its gradient and moments, as snapshots, checkpoints and undo hold it at the least.
const PARAMETER_COPIES: f64 = 16.0;
/// Numbers in the log for one step, beside one for each tensor.
const LOGGED: usize = 2;

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// Whether the numbers fit into the memory that training may take.
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

/// Whether the work is within the limit; `needs` says what it is work for.
fn check_work(node: Node<'_>, needs: &str, work: f64, remedy: &str) -> bool {
    let fits = work <= TRAINING_WORK_MAX;
    if !fits {
        node.field_issue(format!("{needs} {work:.1e} multiplications"))
            .expected(format!("at most {TRAINING_WORK_MAX:.0e}: {remedy}"));
    }
    fits
}

/// Pieces that one sentence of a pretrained model may have: those that it reads and the stage shows, as far as memory
/// and time for them are in measure with the model.
pub fn pieces_max(architecture: &Architecture, vocabulary: usize) -> usize {
    let weights = NUMBER_BYTES * parameters(architecture, 0, 0).0;
    let fits = |tokens: usize| {
        sentence_bytes(architecture, vocabulary, tokens) <= SENTENCE_BYTES_MAX + weights
            && pairs_of_heads(architecture, tokens) <= SENTENCE_PAIRS_MAX
    };
    (2..=PIECES_MAX.min(architecture.max_tokens)).rev().find(|&tokens| fits(tokens)).unwrap_or(1)
}

/// Why a sentence of the given number of pieces is not read; `None` where it is.
pub fn too_many_pieces(architecture: &Architecture, vocabulary: usize, count: usize) -> Option<String> {
    let most = pieces_max(architecture, vocabulary);
    let (positions, heads) = (architecture.max_tokens, architecture.heads());
    let why = match most {
        _ if most == positions => "the model reads".to_owned(),
        PIECES_MAX => "the stage shows".to_owned(),
        _ => format!(
            "with {heads} heads in all its layers, one sentence of this model would need too much memory or time; it reads"
        ),
    };
    (count > most).then(|| format!("the text has {count} pieces, but {why} at most {most}"))
}
