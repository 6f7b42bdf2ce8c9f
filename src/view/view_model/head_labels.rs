//! Names of a head, of its rows and columns, of the sentence that its queries and keys are of, and of distances between
//! them.

use std::sync::Arc;

use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::params::TensorName;

use crate::view_model::capitalised;

pub struct HeadLabels<'a> {
    architecture: &'a Architecture,
    /// Words of the sentence that is read.
    pub tokens: Vec<String>,
    pub(super) source: Vec<String>,
    /// Names of the blocks.
    blocks: Vec<String>,
}

impl<'a> HeadLabels<'a> {
    pub fn of(model: &'a ModelSnapshot) -> Self {
        let sentence = &model.sentence;
        let source = sentence.source.as_deref().map(token_labels).unwrap_or_default();
        let architecture = &model.architecture;
        let blocks = architecture.numbered_blocks().map(|block| block_name(architecture, block)).collect();
        Self { architecture, tokens: token_labels(&sentence.tokens), source, blocks }
    }

    /// `Head 1`; `Layer 2, head 1`; with a source `Source, head 1`, `Self-attention, head 1` and
    /// `Cross-attention, head 1`, with their layer where there are several.
    pub fn title(&self, head: usize) -> String {
        let (block, _, own) = self.architecture.head(head);
        match &self.blocks[block] {
            block if block.is_empty() => format!("Head {}", own + 1),
            block => format!("{block}, head {}", own + 1),
        }
    }

    /// Name of the head's block: `Layer 2`, `Source`; empty where there is only one.
    pub fn block(&self, head: usize) -> String {
        self.blocks[self.architecture.head(head).0].clone()
    }

    /// Names of all blocks, in the order of their heads.
    pub fn blocks(&self) -> Vec<String> {
        self.blocks.clone()
    }

    /// Its queries are words of the source.
    pub fn is_of_source(&self, head: usize) -> bool {
        self.architecture.has_source() && self.architecture.head(head).0 < self.architecture.source_blocks.len()
    }

    pub fn queries(&self, head: usize) -> &[String] {
        if self.is_of_source(head) { &self.source } else { &self.tokens }
    }

    /// Its keys are words of the source.
    pub fn keys_are_source(&self, head: usize) -> bool {
        let has_source = self.architecture.has_source();
        has_source && (self.is_of_source(head) || self.architecture.head(head).1.attends_to_source())
    }

    /// The first head whose queries are words of the sentence.
    pub fn first_of_sentence(&self) -> usize {
        let heads = self.architecture.heads();
        (0..heads).find(|head| !self.is_of_source(*head)).unwrap_or(heads)
    }

    /// Labels of a head's keys ([`Self::keys`]), shared by all heads that look at the same words.
    pub fn shared_keys(&self) -> impl Fn(usize) -> Arc<[String]> + use<'a> {
        let (tokens, source): (Arc<[String]>, Arc<[String]>) =
            (self.tokens.as_slice().into(), self.source.as_slice().into());
        let first = self.first_of_sentence();
        let (architecture, has_source) = (self.architecture, self.architecture.has_source());
        move |head| {
            let of_source = has_source && (head < first || architecture.head(head).1.attends_to_source());
            if of_source { source.clone() } else { tokens.clone() }
        }
    }

    pub fn keys(&self, head: usize) -> &[String] {
        if self.keys_are_source(head) { &self.source } else { &self.tokens }
    }
}

/// `Layer 2`; with a source its kind too: `Layer 2, cross-attention`; empty where there is only one block.
fn block_name(architecture: &Architecture, (block, config): (usize, &BlockConfig)) -> String {
    let Architecture { source_blocks, blocks, .. } = architecture;
    let (kind, layer, layers) = if source_blocks.is_empty() {
        ("", block, blocks.len())
    } else if block < source_blocks.len() {
        ("source", block, source_blocks.len())
    } else {
        let kind = if config.attends_to_source() { "cross-attention" } else { "self-attention" };
        // Two blocks to a layer.
        (kind, (block - source_blocks.len()) / 2, source_blocks.len())
    };
    let layer = if layers > 1 { format!("layer {}", layer + 1) } else { String::new() };
    let parts: Vec<&str> = [&layer, kind].into_iter().filter(|part| !part.is_empty()).collect();
    capitalised(&parts.join(", "))
}

/// A head's place in the tensors, in words.
pub fn place_of(architecture: &Architecture, head: usize) -> String {
    let (block, config, own) = architecture.head(head);
    let AttentionConfig { projected, output, .. } = config.attention;
    let columns = |range: std::ops::Range<usize>| format!("{}–{}", range.start, range.end.saturating_sub(1));
    let keys = columns(config.attention.key_columns(own));
    let [values, mixes] = [config.attention.value_columns(own), config.attention.mix_columns(own)].map(columns);
    let symbol = |name: TensorName| name.of_block(block);
    let [q, k, v] = [TensorName::QueryWeights, TensorName::KeyWeights, TensorName::ValueWeights].map(symbol);
    let from = if config.attention.group_size > 1 {
        let queries = columns(config.attention.query_columns(own));
        let sharers = config.attention.sharers(own);
        let shared = format!("shared by heads {} to {} of the layer", sharers.start + 1, sharers.end);
        format!("Columns {queries} of {q}; {keys} of {k} and {values} of {v}, {shared}")
    } else if projected {
        format!("Columns {keys} of {q} and {k}, {values} of {v}")
    } else {
        format!("Entries {keys} of each word: its query, key and value")
    };
    let distances = config.attention.distances.map(|_| format!("; row {own} of {}", symbol(TensorName::DistanceBias)));
    let to = output.then(|| format!("; rows {mixes} of {}", symbol(TensorName::OutputWeights)));
    [Some(from), distances, to].into_iter().flatten().collect()
}

/// Distance from a query to a key that a column of `B` is for; below 0 where the key stands to the left.
pub fn distance_of(col: usize, cols: usize) -> isize {
    col as isize - cols as isize / 2
}

/// Names the key at a distance from its query: `a word 1 place to the left`.
pub fn at_distance(distance: isize) -> String {
    let side = if distance < 0 { "left" } else { "right" };
    match distance.unsigned_abs() {
        0 => "the word itself".to_owned(),
        1 => format!("a word 1 place to the {side}"),
        places => format!("a word {places} places to the {side}"),
    }
}

/// The sentence that words belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Source,
    /// The tokens on the stage.
    Sentence,
}

impl Side {
    pub fn of_source(is_source: bool) -> Self {
        if is_source { Self::Source } else { Self::Sentence }
    }
}
