//! Reading of the layers of a model: those of the sentence, and those of a source, which may have another form.

use attune_engine::numerics::attention::{Mask, Window};
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::model::SourceForm;

use crate::lesson::read::layers::{LayerRun, PositionForm, read_layers};
use crate::lesson::reading::decode::{self, Record, fields, flag};
use crate::lesson::schema::model::Objective;

/// The layers of a model.
pub struct Towers {
    /// Layers of the sentence, which is the target if there is a source.
    pub layers: LayerRun,
    /// Layers of the source; `None` if the objective has no source.
    pub source: Option<LayerRun>,
    /// Positions and norms that the source has of its own.
    pub form: SourceForm,
}

/// Reads the fields of the layers, and the field `source` of a model that reads one.
pub fn read_towers<'s>(record: &mut Record<'s>, dim: Option<usize>, objective: Option<&Objective>) -> Option<Towers> {
    let layers = read_layers(record, dim, objective);
    let node = record.take_optional("source", Some)?;
    let (layers, objective) = (layers?, objective?);
    let has_source = matches!(objective, Objective::Sequence(_));
    let Some(node) = node else {
        let source = has_source.then(|| layers.clone());
        return Some(Towers { layers, source, form: SourceForm::default() });
    };
    if !has_source {
        let message = format!("{} reads one sentence only", objective.name());
        return record.issue("source", message).expected("objective: Sequence(…), or no source").none();
    }
    let (source, form) = decode::record(node, &["Source"], |own| read_source(own, record, dim, objective))?;
    Some(Towers { layers, source: Some(source), form })
}

/// Reads the source's own parts, and its layers, whose fields are the model's where they are left out.
fn read_source<'s>(
    own: &mut Record<'s>,
    model: &Record<'s>,
    dim: Option<usize>,
    objective: &Objective,
) -> Option<(LayerRun, SourceForm)> {
    let form = fields! { own => SourceForm {
        positions: flag, or false;
        embedding_norm: flag, or false;
        final_norm: flag, or false;
    } };
    if own.given("mask").is_some() {
        own.issue("mask", "a source is known from the start, so each of its words sees all of them")
            .expected("no mask, or a window");
    }
    own.complete_from(model);
    read_layers(own, dim, Some(objective)).zip(form)
}

impl Towers {
    /// Reports parts of the source that do not fit the model's positions and embeddings.
    pub fn check_source(&self, record: &Record<'_>, positions: Option<PositionForm>, embedding_norm: Option<bool>) {
        if self.form.positions && positions.is_some_and(|positions| !positions.is_learned()) {
            record
                .issue("source", "positions of its own, but the model's positions are not learned vectors")
                .expected("positions: Learned, or a source without positions");
        }
        if self.form.embedding_norm && embedding_norm == Some(false) {
            record
                .issue("source", "a norm of its own after its embeddings, but the model has none there")
                .expected("embedding_norm: true, or a source without embedding_norm");
        }
    }

    /// Returns the blocks of the source and of the sentence. With a source, a layer of the sentence consists of
    /// self-attention, cross-attention and the feed-forward layer, as in Vaswani et al. 2017, section 3.1.
    pub fn blocks(&self, positions: PositionForm, max_tokens: usize) -> (Vec<BlockConfig>, Vec<BlockConfig>) {
        let mut source = self.source.as_ref().map_or_else(Vec::new, |source| {
            let mut block = source.block.clone();
            block.attention.mask = Mask::None;
            vec![block; source.count]
        });
        let LayerRun { count, block } = &self.layers;
        let mut blocks = if self.source.is_none() {
            vec![block.clone(); *count]
        } else {
            let own = BlockConfig { feed_forward: None, ..block.clone() };
            let mut cross = BlockConfig { attends: Attends::Source, ..block.clone() };
            // The whole source is visible, at whatever distance from the place where it is read.
            (cross.attention.mask, cross.attention.window) = (Mask::None, Window::ALL);
            [own, cross].into_iter().cycle().take(2 * count).collect()
        };
        let first = source.len();
        place(&mut source, 0, positions, max_tokens);
        place(&mut blocks, first, positions, max_tokens);
        (source, blocks)
    }
}

/// Adds the positions that scores depend on to the self-attention of a tower, whose first block has the number `first`.
/// Distances from a word of the target to one of the source are not defined.
fn place(blocks: &mut [BlockConfig], first: usize, positions: PositionForm, max_tokens: usize) {
    let of_sentence = blocks.iter_mut().filter(|block| !block.attends_to_source());
    for (number, block) in of_sentence.enumerate() {
        let layer = &mut block.attention;
        let before = (number > 0).then_some(first);
        layer.distances = positions.distances(max_tokens, layer.mask == Mask::Causal, before);
        layer.rotary = positions.rotary(layer.key_width);
    }
}
