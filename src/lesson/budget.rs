//! The budget of a lesson's training: the product of all sizes, each within its own limit, must not
//! run for hours or fill the memory.

use crate::numerics::model::cost::{contribution_entries, forward_multiplications, parameters, workspace_entries};

use super::check::Vocabulary;
use super::issue::Issues;
use super::limits::{SNAPSHOT_BYTES_MAX, TRAINING_BYTES_MAX, TRAINING_WORK_MAX, VOCABULARY_MAX};
use super::read_embedding::ReadEmbedding;
use super::read_language::ReadCorpus;
use super::read_model::ReadModel;
use super::read_objective::ReadObjective;
use super::schema::{Objective, StaticEmbedding};
use super::source::Node;

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
        let objective = model.as_ref().and_then(|model| model.objective.as_ref());
        // Where the model writes other words, word2vec reads what it writes too.
        let texts = if objective.is_some_and(ReadObjective::replaces_words) { 2.0 } else { 1.0 };
        let sentences = texts * config.epochs as f64 * corpus.corpus.sentences as f64;
        let work = sentences * config.multiplications(longest);
        check_work(*node, work, "fewer sentences, epochs or negatives, or a smaller window or dim", issues);
    }
    let Some(ReadModel { config: Some(model), node, .. }) = model else {
        return;
    };
    let classes = if model.objective == Objective::Label { corpus.corpus.topics.len() } else { words };
    let (parameters, tensors) = parameters(&model.architecture, words, classes);
    let step = forward_multiplications(&model.architecture, classes, model.batch * longest, longest);
    let work = model.steps as f64 * (step + UPDATE_MULTIPLICATIONS * parameters);
    let entries = workspace_entries(&model.architecture, classes, model.batch * longest, longest);
    let logged = model.steps as f64 * (LOGGED + tensors) as f64;
    check_memory(*node, entries + PARAMETER_COPIES * parameters + logged, issues);
    check_snapshot(*node, contribution_entries(&model.architecture), issues);
    check_work(*node, work, "fewer steps, a smaller batch, shorter sentences, fewer words or a smaller dim", issues);
}

/// Bytes of a number in training.
const NUMBER_BYTES: f64 = 4.0;
/// What the optimiser does with a parameter, beside the forward passes.
const UPDATE_MULTIPLICATIONS: f64 = 4.0;
/// A parameter with its gradient and moments, as snapshots, checkpoints and undo hold it at the least.
const PARAMETER_COPIES: f64 = 16.0;
/// What the log has of a step, beside a number for each tensor.
const LOGGED: usize = 2;

fn check_snapshot<'s>(node: Node<'s>, entries: f64, issues: &mut Issues<'s>) {
    let bytes = NUMBER_BYTES * entries;
    if bytes > SNAPSHOT_BYTES_MAX {
        let [needed, most] = [bytes, SNAPSHOT_BYTES_MAX].map(mebibytes);
        issues
            .at(node, format!("{}: what is shown of a sentence needs {needed:.0} MiB of memory", node.label))
            .expected(format!("at most {most:.0} MiB: fewer layers or heads, a smaller max_tokens or dim"));
    }
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

fn check_memory<'s>(node: Node<'s>, numbers: f64, issues: &mut Issues<'s>) {
    let bytes = NUMBER_BYTES * numbers;
    if bytes > TRAINING_BYTES_MAX {
        let [needed, most] = [bytes, TRAINING_BYTES_MAX].map(mebibytes);
        issues.at(node, format!("{}: the training needs {needed:.0} MiB of memory", node.label)).expected(format!(
            "at most {most:.0} MiB: fewer steps, a smaller batch, shorter sentences, fewer words or narrower heads"
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
