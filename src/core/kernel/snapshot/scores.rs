//! The split of a score of the sentence on the stage, as it is shown: with the learner's changes.

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::evidence::score::{self, ScoreAt, SplitPass, SplitScore};
use attune_engine::numerics::model::AttentionModel;
use attune_engine::numerics::model::activations::Interventions;

use crate::kernel::evidence::with_one_sentence;
use crate::kernel::model::snapshot::ModelSnapshot;
use crate::kernel::objective::network;
use crate::kernel::snapshot::Snapshot;
use crate::lesson::recorded::ONE_PASS;

/// A score of a snapshot's sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownScore {
    /// Number of the head, counted over all blocks.
    pub head: usize,
    pub query: usize,
    pub key: usize,
}

/// The split of a score of the sentence on the stage.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSplit {
    pub split: SplitScore,
    /// Whether the parts of earlier heads can be split further by word. They cannot if the learner has changed the
    /// output of such a head as a whole, because this output is then not a sum over words.
    pub opens_words: bool,
}

/// Returns about how many multiplications it takes to split a score of a head, or 0 if its scores cannot be split.
pub fn split_work(snapshot: &Snapshot, head: usize) -> usize {
    let Some(model) = snapshot.model.as_ref().filter(|model| head < model.architecture.heads()) else { return 0 };
    let block = model.architecture.head(head).0;
    can_split(model, block).map_or(0, |()| score::split_work(&model.architecture, block, model.sentence.tokens.len()))
}

/// Splits a score. Returns `None` until there is a model, and if there is no such head or word.
///
/// # Errors
/// A message for the learner if the score cannot be split.
pub fn split_of(snapshot: &Snapshot, at: ShownScore) -> Option<Result<ShownSplit, String>> {
    let (model, network) = shown_network(snapshot, at.head)?;
    if at.query.max(at.key) >= model.sentence.tokens.len() {
        return None;
    }
    if let Err(why) = can_split(model, model.architecture.head(at.head).0) {
        return Some(Err(why));
    }
    let (block, _, head) = model.architecture.head(at.head);
    let split = pass(model, &network).split(ScoreAt { block, head, query: at.query, key: at.key });
    let is_sum = |mode: &HeadMode<f32>| mode.gain() == 1.0 && !matches!(mode, HeadMode::Mean | HeadMode::Second(_));
    let opens_words = model.interventions.heads.iter().take(at.head - head).all(is_sum);
    let split = split.map(|split| ShownSplit { split, opens_words });
    Some(split.ok_or_else(|| "The query does not see this key, so there is no score".to_owned()))
}

/// Checks that a model can be asked for evidence.
///
/// # Errors
/// A message for the learner if it is a recording or has a source.
pub fn can_ask(model: &ModelSnapshot) -> Result<(), String> {
    if model.recorded.is_some() {
        return Err(ONE_PASS.to_owned());
    }
    with_one_sentence(&model.architecture)
}

/// Checks that the input of a block can be split into the parts that earlier layers added.
fn can_split(model: &ModelSnapshot, block: usize) -> Result<(), String> {
    can_ask(model)?;
    match &model.interventions.patch {
        Some(patch) if patch.block <= block => {
            Err("A vector was copied in before this layer, so what earlier layers added is no longer in it".to_owned())
        }
        _ => Ok(()),
    }
}

/// Returns the model as it runs: with the learner's temperature and scale.
fn shown_network(snapshot: &Snapshot, head: usize) -> Option<(&ModelSnapshot, AttentionModel<f32>)> {
    let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
    if head >= model.architecture.heads() {
        return None;
    }
    let mut network = network(&model.made_of, space);
    let changes: &Interventions<f32> = &model.interventions;
    for block in &mut network.architecture.blocks {
        block.attention.temperature = changes.temperature_of(block);
        block.attention.scale = changes.scale.unwrap_or(block.attention.scale);
    }
    Some((model, network))
}

fn pass<'a>(model: &'a ModelSnapshot, network: &'a AttentionModel<f32>) -> SplitPass<'a> {
    SplitPass {
        model: network,
        parameters: &model.parameters,
        sentence: &model.sentence.input,
        activations: &model.sentence.activations,
    }
}
