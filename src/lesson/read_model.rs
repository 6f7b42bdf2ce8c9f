//! Reads the attention model, and checks the budget of all training.

use std::collections::HashSet;

use crate::numerics::attention::{AttentionConfig, Mask};
use crate::numerics::block::{Attends, BlockConfig, Norm};
use crate::numerics::model::cost::{forward_multiplications, workspace_entries};
use crate::numerics::model::{Architecture, Pooling, Readout};
use crate::numerics::optimiser::Method;
use crate::numerics::positions::Positions;

use super::check::{Names, Vocabulary};
use super::decode::{choice, flag, list, number, whole};
use super::issue::{Issues, one_of};
use super::limits::{
    BATCH_MAX, DIM_MAX, GROUPS_MAX, HEADS_MAX, STEPS_MAX, TOKENS_MAX, TRAINING_BYTES_MAX, TRAINING_WORK_MAX,
    VOCABULARY_MAX,
};
use super::read_embedding::ReadEmbedding;
use super::read_language::{Lists, ReadCorpus};
use super::read_training::{LEARNING_RATE, is_learning_rate, read_optimiser, read_stop};
use super::record::Record;
use super::schema::{ModelConfig, Objective, StaticEmbedding};
use super::source::Node;

/// A read model; what is right in it stays known where something else is wrong.
pub(super) struct ReadModel<'s> {
    pub config: Option<ModelConfig>,
    pub max_tokens: Option<usize>,
    pub node: Node<'s>,
}

/// `dim` is the width of the static embedding, which is the model's too.
pub(super) fn read_attention<'s>(
    node: Node<'s>,
    dim: Option<usize>,
    groups: Option<&Lists<'s>>,
    issues: &mut Issues<'s>,
) -> Option<ReadModel<'s>> {
    let mut record = Record::open(node, &["Attention"], issues)?;
    let heads = record.take("heads", |node, issues| whole(1..=HEADS_MAX)(node, issues).map(|n| (n, node)), issues);
    let objective = record.take("objective", |node, issues| read_objective(node, groups, issues), issues);
    let width = |node: Node<'s>, issues: &mut Issues<'s>| whole(1..=DIM_MAX)(node, issues).map(Some);
    let key_width = record.take_or("key_width", None, width, issues);
    let value_width = record.take_or("value_width", None, width, issues);
    let bias = record.take_or("bias", true, flag, issues);
    let scale = record.take_or("scale", true, flag, issues);
    let next_word = objective == Some(Objective::NextWord);
    let causal = record.take_or("causal", next_word, flag, issues);
    let residual = record.take_or("residual", true, flag, issues);
    let positions = record.take_or("positions", Positions::Learned, choice(POSITIONS), issues);
    let max_tokens = record.take_or("max_tokens", 32, whole(2..=TOKENS_MAX), issues);
    let steps = record.take_or("steps", 800, whole(1..=STEPS_MAX), issues);
    let batch = record.take_or("batch", 64, whole(1..=BATCH_MAX), issues);
    let learning_rate = record.take_or("learning_rate", 0.01, number(is_learning_rate, LEARNING_RATE), issues);

    let decay = number(|x| (0.0..=1.0).contains(&x), "a number from 0 to 1");
    let weight_decay = record.take_or("weight_decay", 0.0, decay, issues);
    let optimiser = record.take_or("optimiser", Method::ADAM, read_optimiser, issues);
    let stop = record.take_or("stop", Vec::new(), read_stop, issues);

    if next_word && causal == Some(false) {
        issues
            .at(record.place_of("causal"), "causal: false with the objective NextWord lets each word see the next one")
            .expected("causal: true");
    }
    if let (Some((heads, node)), Some(dim)) = (heads, dim)
        && !dim.is_multiple_of(heads)
        && (key_width == Some(None) || value_width == Some(None))
    {
        let divisors: Vec<String> =
            (1..=HEADS_MAX).filter(|heads| dim.is_multiple_of(*heads)).map(|heads| heads.to_string()).collect();
        let divisors = one_of(&divisors.iter().map(String::as_str).collect::<Vec<_>>());
        issues
            .at(node, format!("heads: {heads} does not divide dim: {dim}"))
            .expected(format!("{divisors}, or key_width and value_width"));
    }
    record.finish(issues);

    let config = || {
        let (heads, _) = heads?;
        let dim = dim?;
        let attention = AttentionConfig {
            width: dim,
            heads,
            key_width: key_width?.unwrap_or(dim / heads),
            value_width: value_width?.unwrap_or(dim / heads),
            projected: true,
            output: true,
            bias: bias?,
            scale: scale?,
            temperature: 1.0,
            mask: if causal? { Mask::Causal } else { Mask::None },
        };
        let block = BlockConfig {
            attention,
            attends: Attends::OwnSentence,
            residual: residual?,
            norm: Norm::None,
            feed_forward: None,
        };
        let architecture = Architecture {
            width: dim,
            max_tokens: max_tokens?,
            positions: positions?,
            train_embedding: false,
            source_blocks: Vec::new(),
            blocks: vec![block],
            pooling: Pooling::Every,
            readout: Readout::Tied,
        };
        Some(ModelConfig {
            architecture,
            objective: objective?,
            steps: steps?,
            batch: batch?,
            learning_rate: learning_rate?,
            weight_decay: weight_decay?,
            optimiser: optimiser?,
            stop: stop?,
        })
    };
    Some(ReadModel { config: config(), max_tokens, node })
}

fn read_objective<'s>(node: Node<'s>, groups: Option<&Lists<'s>>, issues: &mut Issues<'s>) -> Option<Objective> {
    let mut record = Record::open(node, &["MaskedWord", "NextWord"], issues)?;
    let objective = match record.name {
        "MaskedWord" => {
            let rate = record.take_or("rate", 0.15, number(|x| x > 0.0 && x < 1.0, "a number between 0 and 1"), issues);
            let read = |node, issues: &mut Issues<'s>| read_candidates(node, groups, issues);
            let among = record.take_or("among", Vec::new(), read, issues);
            rate.zip(among).map(|(rate, among)| Objective::MaskedWord { rate, among })
        }
        _ => Some(Objective::NextWord),
    };
    record.finish(issues);
    objective
}

/// Different groups, with words enough to choose among.
fn read_candidates<'s>(node: Node<'s>, groups: Option<&Lists<'s>>, issues: &mut Issues<'s>) -> Option<Vec<String>> {
    let names = Names { groups: groups.map(Lists::names), vocabulary: None, max_tokens: None };
    let mut seen = HashSet::new();
    let group = |node: Node<'s>, issues: &mut Issues<'s>| {
        let name = names.group(node, issues)?;
        let fresh = seen.insert(name.clone());
        if !fresh {
            issues.at(node, format!("among: group \"{name}\" stands twice"));
        }
        fresh.then_some(name)
    };
    let among = list(node, GROUPS_MAX, group, issues)?;
    let lists = groups.filter(|groups| groups.are_checked()).map(|groups| &groups.lists);
    let chosen = lists.into_iter().flatten().filter(|group| among.contains(&group.name));
    let count: usize = chosen.map(|group| group.words.len()).sum();
    if lists.is_some() && count == 1 {
        issues.at(node, "among: only one word to choose").expected("groups with at least 2 words in all");
        return None;
    }
    Some(among)
}

const POSITIONS: &[(&str, Positions)] =
    &[("None", Positions::None), ("Sinusoidal", Positions::Sinusoidal), ("Learned", Positions::Learned)];

/// Keeps the product of all sizes, each within its own limit, from running for hours.
pub(super) fn check_budget<'s>(
    corpus: &ReadCorpus<'s>,
    vocabulary: &Vocabulary,
    embedding: &Option<ReadEmbedding<'s>>,
    model: &Option<ReadModel<'s>>,
    issues: &mut Issues<'s>,
) {
    let words = vocabulary.words.len();
    if words > VOCABULARY_MAX {
        issues
            .at(corpus.node, format!("corpus: {words} different words"))
            .expected(format!("at most {VOCABULARY_MAX}"));
        return;
    }
    let longest = corpus.longest;
    if let Some(ReadEmbedding { embedding: StaticEmbedding::Word2Vec(config), node, .. }) = embedding {
        let sentences = config.epochs as f64 * corpus.corpus.sentences as f64;
        let work = sentences * config.multiplications(longest);
        check_work(*node, work, "fewer sentences, epochs or negatives, or a smaller window or dim", issues);
    }
    let Some(ReadModel { config: Some(model), node, .. }) = model else {
        return;
    };
    let step = forward_multiplications(&model.architecture, words, model.batch * longest, longest);
    let work = model.steps as f64 * step;
    check_memory(*node, model, words, longest, issues);
    check_work(*node, work, "fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim", issues);
}

/// Bytes of a number in training.
const NUMBER_BYTES: f64 = 4.0;

fn check_memory<'s>(node: Node<'s>, model: &ModelConfig, words: usize, longest: usize, issues: &mut Issues<'s>) {
    let bytes = NUMBER_BYTES * workspace_entries(&model.architecture, words, model.batch * longest, longest);
    if bytes > TRAINING_BYTES_MAX {
        let [needed, most] = [bytes, TRAINING_BYTES_MAX].map(|bytes| bytes / f64::from(1 << 20));
        issues.at(node, format!("{}: a training step needs {needed:.0} MiB of memory", node.label)).expected(format!(
            "at most {most:.0} MiB: a smaller batch, shorter sentences, fewer words or narrower heads"
        ));
    }
}

fn check_work<'s>(node: Node<'s>, work: f64, remedy: &str, issues: &mut Issues<'s>) {
    if work > TRAINING_WORK_MAX {
        issues
            .at(node, format!("{}: the training needs {work:.1e} multiplications", node.label))
            .expected(format!("at most {TRAINING_WORK_MAX:.0e}: {remedy}"));
    }
}
