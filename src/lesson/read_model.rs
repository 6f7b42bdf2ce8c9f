//! Reads the attention model.

use crate::numerics::attention::Mask;
use crate::numerics::block::{Attends, BlockConfig};
use crate::numerics::model::{Architecture, Pooling, Readout};
use crate::numerics::optimiser::Method;
use crate::numerics::positions::Positions;

use super::decode::{choice, flag, number, whole};
use super::issue::Issues;
use super::limits::{BATCH_MAX, STEPS_MAX, TOKENS_MAX};
use super::read_language::Lists;
use super::read_layers::{Layers, read_layers};
use super::read_objective::{ReadObjective, read_objective};
use super::read_training::{LEARNING_RATE, is_learning_rate, read_optimiser, read_stop};
use super::read_weights::{check_weights, read_weights};
use super::record::Record;
use super::schema::{ModelConfig, Objective};
use super::source::Node;

/// A read model; what is right in it stays known where something else is wrong.
pub(super) struct ReadModel<'s> {
    pub config: Option<ModelConfig>,
    pub objective: Option<ReadObjective<'s>>,
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
    let read = record.take("objective", |node, issues| read_objective(node, groups, issues), issues);
    let objective = read.as_ref().map(|read| &read.objective);
    let layers = read_layers(&mut record, dim, objective, issues);
    let positions = record.take_or("positions", Positions::Learned, choice(POSITIONS), issues);
    let max_tokens = record.take_or("max_tokens", 32, whole(2..=TOKENS_MAX), issues);
    let train_embedding = record.take_or("train_embedding", false, flag, issues);
    let answer = read_answer(&mut record, objective, issues);

    let weights = record.take_or("weights", Vec::new(), read_weights, issues);

    let steps = record.take_or("steps", 800, whole(0..=STEPS_MAX), issues);
    let batch = record.take_or("batch", 64, whole(1..=BATCH_MAX), issues);
    let learning_rate = record.take_or("learning_rate", 0.01, number(is_learning_rate, LEARNING_RATE), issues);
    let decay = number(|x| (0.0..=1.0).contains(&x), "a number from 0 to 1");
    let weight_decay = record.take_or("weight_decay", 0.0, decay, issues);
    let optimiser = record.take_or("optimiser", Method::ADAM, read_optimiser, issues);
    let stop = record.take_or("stop", Vec::new(), read_stop, issues);
    record.finish(issues);

    let config = || {
        let (source_blocks, blocks) = blocks(&layers?, objective?);
        let (readout, pooling) = answer?;
        let architecture = Architecture {
            width: dim?,
            max_tokens: max_tokens?,
            positions: positions?,
            train_embedding: train_embedding?,
            source_blocks,
            blocks,
            pooling,
            readout,
        };
        let weights = check_weights(weights?, &architecture, issues)?;
        Some(ModelConfig {
            architecture,
            objective: objective?.clone(),
            weights,
            steps: steps?,
            batch: batch?,
            learning_rate: learning_rate?,
            weight_decay: weight_decay?,
            optimiser: optimiser?,
            stop: stop?,
        })
    };
    let config = config();
    Some(ReadModel { config, objective: read, max_tokens, node })
}

/// The blocks of the source and of the sentence. With a source a layer is self-attention, then
/// cross-attention and the feed-forward layer, as in Vaswani et al. 2017, section 3.1.
fn blocks(layers: &Layers, objective: &Objective) -> (Vec<BlockConfig>, Vec<BlockConfig>) {
    let Layers { count, block } = layers;
    if !matches!(objective, Objective::Sequence(_)) {
        return (Vec::new(), vec![block.clone(); *count]);
    }
    let mut unmasked = block.clone();
    unmasked.attention.mask = Mask::None;
    let own = BlockConfig { feed_forward: None, ..block.clone() };
    let cross = BlockConfig { attends: Attends::Source, ..unmasked.clone() };
    (vec![unmasked; *count], [own, cross].into_iter().cycle().take(2 * count).collect())
}

/// How the answer is read off the outputs.
fn read_answer<'s>(
    record: &mut Record<'s>,
    objective: Option<&Objective>,
    issues: &mut Issues<'s>,
) -> Option<(Readout, Pooling)> {
    let is_label = objective == Some(&Objective::Label);
    let (readout, pooling) = if is_label { (Readout::Linear, Pooling::Mean) } else { (Readout::Tied, Pooling::Every) };
    let readout = record.take_or("readout", readout, choice(READOUTS), issues);
    let pooling = record.take_or("pool", pooling, choice(POOLINGS), issues);
    let name = objective?.name();
    if is_label && readout == Some(Readout::Tied) {
        issues
            .at(record.place_of("readout"), "readout: Tied is by the static vectors of words, and a label has none")
            .expected("readout: Linear");
    }
    match pooling {
        Some(Pooling::Every) if is_label => {
            issues
                .at(record.place_of("pool"), "pool: Every reads word by word, and Label asks for the whole sentence")
                .expected("pool: Last or pool: Mean");
        }
        Some(Pooling::Last | Pooling::Mean) if !is_label => {
            issues
                .at(record.place_of("pool"), format!("pool: a sentence is read once, and {name} asks for its words"))
                .expected("pool: Every");
        }
        _ => {}
    }
    readout.zip(pooling)
}

const POSITIONS: &[(&str, Positions)] =
    &[("None", Positions::None), ("Sinusoidal", Positions::Sinusoidal), ("Learned", Positions::Learned)];
const READOUTS: &[(&str, Readout)] = &[("Tied", Readout::Tied), ("Linear", Readout::Linear)];
const POOLINGS: &[(&str, Pooling)] = &[("Every", Pooling::Every), ("Last", Pooling::Last), ("Mean", Pooling::Mean)];
