//! The names of heads and of their words, as all views of heads write them.

use attune_core::kernel::notebook::live::ColumnDistances;
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::params::TensorName;

use super::wording::capitalised;

/// The names of heads, and of the words that they read.
pub struct HeadLabels<'a> {
    architecture: &'a Architecture,
    /// The words of the sentence.
    pub tokens: Vec<String>,
    pub(super) source: Vec<String>,
    /// The names of the blocks.
    blocks: Vec<String>,
}

impl<'a> HeadLabels<'a> {
    pub fn of(model: &'a ModelSnapshot) -> Self {
        let sentence = &model.sentence;
        let source = sentence.source.as_deref().map(token_labels).unwrap_or_default();
        let architecture = &model.architecture;
        let blocks =
            architecture.numbered_blocks().map(|(block, _)| capitalised(&architecture.block_name(block))).collect();
        Self { architecture, tokens: token_labels(&sentence.tokens), source, blocks }
    }

    /// Returns the name of a head: `Head 1`; `Layer 2, head 1`; with a source `Source, head 1`, `Self-attention, head
    /// 1` and `Cross-attention, head 1`, with the layer if there are several.
    pub fn title(&self, head: usize) -> String {
        capitalised(&self.architecture.head_name(head))
    }

    /// Returns the name of the head's block, such as `Layer 2` or `Source`; empty if there is only one.
    pub fn block(&self, head: usize) -> String {
        self.blocks[self.architecture.head(head).0].clone()
    }

    /// Returns the names of all blocks, in order.
    pub fn blocks(&self) -> Vec<String> {
        self.blocks.clone()
    }

    /// Returns whether the head's queries are words of the source.
    pub fn is_of_source(&self, head: usize) -> bool {
        self.architecture.has_source() && self.architecture.head(head).0 < self.architecture.source_blocks.len()
    }

    pub fn queries(&self, head: usize) -> &[String] {
        if self.is_of_source(head) { &self.source } else { &self.tokens }
    }

    /// Returns whether the head's keys are words of the source.
    pub fn keys_are_source(&self, head: usize) -> bool {
        let has_source = self.architecture.has_source();
        has_source && (self.is_of_source(head) || self.architecture.head(head).1.attends_to_source())
    }

    /// Returns the first head whose queries are words of the sentence.
    pub fn first_of_sentence(&self) -> usize {
        let heads = self.architecture.heads();
        (0..heads).find(|head| !self.is_of_source(*head)).unwrap_or(heads)
    }

    pub fn keys(&self, head: usize) -> &[String] {
        if self.keys_are_source(head) { &self.source } else { &self.tokens }
    }
}

/// Returns the names of a head's tensors and the ranges of its columns and rows in them, in words.
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
        format!("Entries {keys} of each word's vector, which are its query, key and value")
    };
    let table = TensorName::DistanceBias.of_block(config.attention.distance_block(block));
    let distances = config.attention.distances.map(|_| format!("; row {own} of {table}"));
    let to = output.then(|| format!("; rows {mixes} of {}", symbol(TensorName::OutputWeights)));
    [Some(from), distances, to].into_iter().flatten().collect()
}

/// Describes a key by its distance from the query, such as `a word 1 position to the left`. With buckets, the bucket is
/// added.
pub fn at_distance(form: Option<DistanceForm>, query: usize, key: usize) -> String {
    let distance = key as isize - query as isize;
    let bucket = form.filter(|form| form.buckets.is_some()).map(|form| form.column(query, key));
    in_words(ColumnDistances { nearest: distance, furthest: distance, bucket: bucket.map(|bucket| (bucket, false)) })
}

/// Describes the keys whose distances use a column of `B`, such as `a word 8 to 11 positions to the left (bucket 8)`.
pub fn in_words(distances: ColumnDistances) -> String {
    let ColumnDistances { nearest, furthest, bucket } = distances;
    let side = if furthest < 0 { "left" } else { "right" };
    let places = match (nearest.unsigned_abs(), furthest.unsigned_abs()) {
        (0, 0) => "the word itself".to_owned(),
        (1, 1) => format!("a word 1 position to the {side}"),
        (nearest, _) if bucket.is_some_and(|(_, is_last)| is_last) => {
            format!("a word {nearest} or more positions to the {side}")
        }
        (nearest, furthest) if nearest < furthest => {
            format!("a word {nearest} to {furthest} positions to the {side}")
        }
        (places, _) => format!("a word {places} positions to the {side}"),
    };
    bucket.map_or_else(|| places.clone(), |(bucket, _)| format!("{places} (bucket {bucket})"))
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

/// Returns the index of the largest number, and the number. Among equal numbers, the first is taken; without any
/// number, the result is 0 and −∞.
pub(crate) fn strongest(row: impl Iterator<Item = f32>) -> (usize, f32) {
    row.enumerate()
        .fold((0, f32::NEG_INFINITY), |best, (key, weight)| if weight > best.1 { (key, weight) } else { best })
}
