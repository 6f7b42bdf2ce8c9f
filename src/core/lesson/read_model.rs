//! Reads the attention model.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::model::{Architecture, DistanceCosts, Pooling, Readout};
use attune_engine::numerics::positions::Positions;

use super::decode::{choice, flag, number, whole};
use super::limits::{COST_MAX, STEPS_MAX, TOKENS_MAX};
use super::read_language::Lists;
use super::read_layers::{Layers, read_layers};
use super::read_objective::{ReadObjective, read_objective};
use super::read_training::{Schedule, Usual, read_schedule};
use super::read_weights::{check_weights, read_weights};
use super::record::{Record, fields};
use super::schema::{ModelConfig, Objective};
use super::source::Node;

/// A read model; what is right in it stays known where something else is wrong.
pub(super) struct ReadModel<'s> {
    pub config: Option<ModelConfig>,
    pub objective: Option<ReadObjective<'s>>,
    pub max_tokens: Option<usize>,
    /// The readout's place in the file, if it is by the static vectors of the labels.
    pub tied_labels: Option<Node<'s>>,
    pub node: Node<'s>,
}

/// `dim` is the width of the static embedding, which is the model's too.
pub(super) fn read_attention<'s>(
    node: Node<'s>,
    dim: Option<usize>,
    groups: Option<&Lists<'s>>,
) -> Option<ReadModel<'s>> {
    let mut record = Record::open(node, &["Attention"])?;
    let read = record.take("objective", |node| read_objective(node, groups));
    let objective = read.as_ref().map(|read| &read.objective);
    let layers = read_layers(&mut record, dim, objective);
    fields! { record;
        positions: choice(POSITIONS), or Places::Vectors(Positions::Learned);
        max_tokens: whole(2..=TOKENS_MAX), or 32;
        embedding_norm: flag, or false;
        final_norm: flag, or false;
        train_embedding: flag, or false;
        readout_bias: flag, or true;
    }
    let answer = read_answer(&mut record, objective);
    let is_tied_label =
        objective == Some(&Objective::Label) && answer.is_some_and(|(readout, _)| readout.is_by_static_vectors());
    let tied_labels = is_tied_label.then(|| record.place_of("readout"));

    let costs = read_costs(&mut record, objective, answer, train_embedding);
    fields! { record;
        weights: read_weights, or Vec::new();
    }
    let usual = Usual { steps: 800, batch: 64, learning_rate: 0.01 };
    let schedule = read_schedule(&mut record, 0..=STEPS_MAX, &usual);
    record.finish();

    let config = || {
        let distances = (positions? == Places::Distances).then_some(max_tokens?);
        let layers = layers.as_ref()?;
        let (source_blocks, blocks) = blocks(layers, distances, objective?);
        let (readout, pooling) = answer?;
        let readout = match readout {
            Readout::Transformed(_) => Readout::Transformed(layers.block.activation),
            Readout::Tied | Readout::Linear | Readout::TransformedLinear(_) => readout,
        };
        let architecture = Architecture {
            width: dim?,
            max_tokens: max_tokens?,
            positions: positions?.vectors(),
            segments: None,
            embedding_norm: embedding_norm?,
            final_norm: final_norm?,
            norm_epsilon: layers.block.norm_epsilon,
            train_embedding: train_embedding?,
            source_blocks,
            blocks,
            pooling,
            readout,
            readout_bias: readout_bias?,
        };
        let weights = check_weights(weights?, &architecture)?;
        let Schedule { steps, batch, learning_rate, weight_decay, optimiser, stop } = schedule?;
        Some(ModelConfig {
            architecture,
            objective: objective.cloned()?,
            costs: costs?,
            weights,
            steps,
            batch,
            learning_rate,
            weight_decay,
            optimiser,
            stop,
        })
    };
    let config = config();
    Some(ReadModel { config, objective: read, max_tokens, tied_labels, node })
}

/// The blocks of the source and of the sentence. With a source a layer is self-attention, then
/// cross-attention and the feed-forward layer, as in Vaswani et al. 2017, section 3.1.
fn blocks(layers: &Layers, distances: Option<usize>, objective: &Objective) -> (Vec<BlockConfig>, Vec<BlockConfig>) {
    let Layers { count, block } = layers;
    let mut block = block.clone();
    block.attention.distances = distances;
    if !matches!(objective, Objective::Sequence(_)) {
        return (Vec::new(), vec![block.clone(); *count]);
    }
    let mut unmasked = block.clone();
    unmasked.attention.mask = Mask::None;
    let own = BlockConfig { feed_forward: None, ..block.clone() };
    let mut cross = BlockConfig { attends: Attends::Source, ..unmasked.clone() };
    // A word of the target stands at no distance from one of the source.
    cross.attention.distances = None;
    (vec![unmasked; *count], [own, cross].into_iter().cycle().take(2 * count).collect())
}

/// Reads what distances cost, where outputs have places to be at.
fn read_costs(
    record: &mut Record<'_>,
    objective: Option<&Objective>,
    answer: Option<(Readout, Pooling)>,
    train_embedding: Option<bool>,
) -> Option<DistanceCosts> {
    let cost = || number(|x| (0.0..=COST_MAX).contains(&x), COST);
    let costs = fields! { record => DistanceCosts {
        arrive: cost(), or 0.0;
        keep: cost(), or 0.0;
    } }?;
    let (readout, pooling) = answer?;
    let mut good = true;
    let mut wrong = |field, message: &str, expected: &str| {
        record.place_of(field).issue(format!("{field}: {message}")).expected(expected);
        good = false;
    };
    if costs.arrive > 0.0 && train_embedding == Some(true) {
        wrong(
            "arrive",
            "static vectors move when they are trained, so that nothing can arrive at them",
            "train_embedding: false",
        );
    }
    match readout {
        Readout::Linear if costs.arrive > 0.0 => {
            wrong("arrive", "with a Linear readout an answer has no place to arrive at", "readout: Tied");
        }
        Readout::Transformed(_) if costs.arrive > 0.0 => {
            wrong("arrive", "a Transformed readout answers by another vector than the output", "readout: Tied");
        }
        _ => {}
    }
    // A Linear readout is asked for candidates alone; the other words may keep their places.
    let leaves_none =
        objective?.reads_every_output(pooling) && (readout.is_by_static_vectors() || pooling == Pooling::Mean);
    if costs.keep > 0.0 && leaves_none {
        let message = "every output gives an answer, so that none is left to stay at its word";
        wrong("keep", message, "MaskedWord, Label with pool: Last, or readout: Linear");
    }
    good.then_some(costs)
}

/// How the answer is read off the outputs.
fn read_answer(record: &mut Record<'_>, objective: Option<&Objective>) -> Option<(Readout, Pooling)> {
    let is_label = objective == Some(&Objective::Label);
    let (readout, pooling) = if is_label { (Readout::Linear, Pooling::Mean) } else { (Readout::Tied, Pooling::Every) };
    let readout = record.take_or("readout", readout, choice(READOUTS));
    let pooling = record.take_or("pool", pooling, choice(POOLINGS));
    let name = objective?.name();
    match pooling {
        Some(Pooling::Every) if is_label => {
            record
                .place_of("pool")
                .issue("pool: Every reads word by word, but Label asks for the whole sentence")
                .expected("pool: Last or pool: Mean");
        }
        Some(Pooling::Last | Pooling::Mean) if !is_label => {
            record
                .place_of("pool")
                .issue(format!("pool: this reads the sentence once, but {name} asks for each word"))
                .expected("pool: Every");
        }
        _ => {}
    }
    readout.zip(pooling)
}

/// The values that a cost takes, in words.
const COST: &str = "a number from 0 to 10";

/// How the model knows where a word stands.
#[derive(Clone, Copy, PartialEq)]
enum Places {
    /// By what is added to its vector.
    Vectors(Positions),
    /// By what its distance adds to the scores.
    Distances,
}

impl Places {
    fn vectors(self) -> Positions {
        match self {
            Self::Vectors(positions) => positions,
            Self::Distances => Positions::None,
        }
    }
}

const POSITIONS: &[(&str, Places)] = &[
    ("None", Places::Vectors(Positions::None)),
    ("Sinusoidal", Places::Vectors(Positions::Sinusoidal)),
    ("Learned", Places::Vectors(Positions::Learned)),
    ("Distances", Places::Distances),
];
/// That of a transformed readout is the layers' own.
const READOUTS: &[(&str, Readout)] =
    &[("Tied", Readout::Tied), ("Transformed", Readout::Transformed(Activation::Relu)), ("Linear", Readout::Linear)];
const POOLINGS: &[(&str, Pooling)] = &[("Every", Pooling::Every), ("Last", Pooling::Last), ("Mean", Pooling::Mean)];
