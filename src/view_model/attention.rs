//! The Attention panel: one heat map per head, rows are queries, columns are keys.

use std::ops::Range;
use std::sync::Arc;

use super::head_labels::HeadLabels;
use super::models::Model;
use super::sentence_arcs::Pair;
use super::sinks::{Reading, Sinks};
use crate::kernel::snapshot::{ModelSnapshot, Snapshot};
use crate::numerics::attention::Mask;
use crate::numerics::model::activations::HeadActivations;
use crate::quantity::{Entry, Quantity};

#[derive(Clone, Debug, PartialEq)]
pub struct AttentionModel {
    /// Words of the sentence on the stage.
    pub tokens: Vec<String>,
    pub heads: Vec<HeadMap>,
    /// Why no word looks at another, where the mask is such.
    pub note: Option<&'static str>,
    pub sinks: Sinks,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadMap {
    /// Counted over all blocks.
    pub head: usize,
    /// Its place in its layer: its hue.
    pub own: usize,
    /// `Head 1`, with the layer where there are several.
    pub title: String,
    /// The place of its block in the model.
    pub block: usize,
    pub enabled: bool,
    /// Labels of the rows: tokens, or words of the source that looks at itself.
    pub queries: Vec<String>,
    /// Labels of the columns.
    pub keys: Vec<String>,
    /// Its queries are not the stage's tokens.
    pub is_of_source: bool,
    /// Its keys are words of the source.
    pub keys_are_source: bool,
    /// `weights[query][key]`; each row sums to 1.
    pub weights: Vec<Vec<f32>>,
    /// How much a key adds to a query, as `lengths[query][key]`: the weight times the length of what it weighs.
    pub lengths: Vec<Vec<f32>>,
    /// The tokens that each row and each column is of: one, or the pieces of a word.
    pub query_tokens: Vec<Range<usize>>,
    pub key_tokens: Vec<Range<usize>>,
}

impl HeadMap {
    /// The row of a token, if it has one.
    pub fn row_of(&self, token: usize) -> Option<usize> {
        self.query_tokens.iter().position(|tokens| tokens.contains(&token))
    }

    pub fn column_of(&self, token: usize) -> Option<usize> {
        self.key_tokens.iter().position(|tokens| tokens.contains(&token))
    }

    /// The query and the key of a cell, by their first pieces.
    pub fn pair(&self, row: usize, column: usize) -> Pair {
        Pair { head: self.head, query: self.query_tokens[row].start, key: self.key_tokens[column].start }
    }

    /// The entry of a cell; `None` of one that is several.
    pub fn entry(&self, row: usize, column: usize) -> Option<Entry> {
        let (query, key) = (&self.query_tokens[row], &self.key_tokens[column]);
        let is_one = query.len() == 1 && key.len() == 1;
        is_one.then(|| Quantity::Weight.of_head(self.head, [query.start, key.start]))
    }
}

impl Model for AttentionModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl AttentionModel {
    pub fn of(snapshot: &Snapshot) -> Option<AttentionModel> {
        let model = snapshot.model.as_ref()?;
        let labels = HeadLabels::of(model);
        let map = |(head, activations): (usize, &HeadActivations<f32>)| {
            let weights = &activations.weights;
            let (block, _, own) = model.architecture.head(head);
            HeadMap {
                head,
                own,
                title: labels.title(head),
                block,
                enabled: model.is_enabled(head),
                queries: labels.queries(head).to_vec(),
                keys: labels.keys(head).to_vec(),
                is_of_source: labels.is_of_source(head),
                keys_are_source: labels.keys_are_source(head),
                weights: (0..weights.rows()).map(|query| weights.row(query).to_vec()).collect(),
                lengths: lengths(model, head, weights.rows(), weights.cols()),
                query_tokens: (0..weights.rows()).map(|row| row..row + 1).collect(),
                key_tokens: (0..weights.cols()).map(|column| column..column + 1).collect(),
            }
        };
        let heads = model.sentence.activations.heads().enumerate().map(map).collect();
        let note = note(model, labels.tokens.len());
        Some(AttentionModel { tokens: labels.tokens, heads, note, sinks: Sinks::of(model) })
    }

    /// Each word looks at itself alone: there are no steps of attention to walk through.
    pub fn is_each_word_alone(&self) -> bool {
        let is_alone = |map: &HeadMap| map.weights.iter().enumerate().all(|(at, row)| row.get(at) == Some(&1.0));
        self.heads.iter().all(|map| !map.keys_are_source && is_alone(map))
    }

    /// The shown entry of a query and a key; `None` of a hidden sink, and where nothing is left of its row.
    pub fn shown(&self, map: &HeadMap, reading: Reading, query: usize, key: usize) -> Option<f32> {
        self.sinks.shown(reading, (map.head, query, key), map.weights[query][key], map.lengths[query][key])
    }

    /// The number that fills a cell of a map: a weight of 1, or the longest that is added.
    pub fn full(&self, map: &HeadMap, reading: Reading) -> f32 {
        if !reading.is_added {
            return 1.0;
        }
        let shown = |(query, key)| self.shown(map, reading, query, key);
        let pairs = (0..map.queries.len()).flat_map(|query| (0..map.keys.len()).map(move |key| (query, key)));
        pairs.filter_map(shown).fold(f32::MIN_POSITIVE, f32::max)
    }

    /// The numbers of these heads, for a spreadsheet: the words of rows and columns, every digit, one head below another.
    pub fn tsv(&self, heads: &[usize], reading: Reading) -> String {
        let table = |head: &usize| {
            let map = &self.heads[*head];
            let rows = map.queries.iter().enumerate().map(|(row, query)| {
                let shown = (0..map.keys.len()).map(|key| self.shown(map, reading, row, key));
                let numbers = shown.map(|number| number.map_or(String::new(), |number| number.to_string()));
                std::iter::once(query.clone()).chain(numbers).collect::<Vec<_>>().join("\t")
            });
            let title = if heads.len() > 1 { format!("{}\n", map.title) } else { String::new() };
            let rows: Vec<String> = rows.collect();
            format!("{title}\t{}\n{}\n", map.keys.join("\t"), rows.join("\n"))
        };
        let said = reading.said().map_or(String::new(), |said| format!("{said}\n"));
        let tables: Vec<String> = heads.iter().map(table).collect();
        said + tables.join("\n").as_str()
    }

    /// The words that a cell shows in place of its weight; `None` where it is the weight.
    pub fn say_shown(&self, head: usize, query: usize, key: usize, reading: Reading) -> Option<String> {
        let map = &self.heads[head];
        let is_hidden = reading.hides_sinks && self.sinks.is_of(head, key);
        match self.shown(map, reading, query, key) {
            None if is_hidden => Some("Hidden as a sink.".to_owned()),
            None => Some("Nothing is left of this row without the sinks.".to_owned()),
            Some(_) if reading.is_added || !reading.hides_sinks => None,
            Some(shown) => Some(format!("Without the sinks, {shown:.4}.")),
        }
    }

    /// The cell in words: `bank (query, row) looks at river (key, column) with weight 0.6120 in head 1, which adds 0.4130`.
    pub fn say(&self, head: usize, query: usize, key: usize) -> String {
        let map = &self.heads[head];
        format!(
            "{} (query, row) looks at {} (key, column) with weight {:.4} in {}, which adds {:.4}",
            map.queries[query],
            map.keys[key],
            map.weights[query][key],
            map.title.to_lowercase(),
            map.lengths[query][key]
        )
    }
}

/// `‖α v W_O‖` of each query and key (Kobayashi et al. 2020, arXiv 2004.10102), at the block's output.
pub fn lengths(model: &ModelSnapshot, head: usize, queries: usize, keys: usize) -> Vec<Vec<f32>> {
    let (block, _, own) = model.architecture.head(head);
    let moves = &model.sentence.moves[block];
    (0..queries).map(|query| (0..keys).map(|key| moves.term_length(own, query, key)).collect()).collect()
}

/// Says that the mask, the lesson's or the learner's, lets each word see itself alone.
fn note(model: &ModelSnapshot, tokens: usize) -> Option<&'static str> {
    const OF_LESSON: &str = "This model has no attention yet. Its mask hides every other word, so each word looks at \
        itself alone, with weight 1, and none moves.";
    const OF_LEARNER: &str = "Your mask hides every other word, so each word looks at itself alone, with weight 1. \
        Intervene has the other masks.";
    let sees_itself_alone = |mask: &Mask| {
        let mut pairs = (0..tokens * tokens).map(|at| (at / tokens, at % tokens));
        tokens > 1 && pairs.all(|(query, key)| mask.sees(query, key) == (query == key))
    };
    let changed = model.interventions.mask.as_ref();
    match changed {
        _ if model.sentence.source.is_some() => None,
        Some(changed) => sees_itself_alone(changed).then_some(OF_LEARNER),
        None => {
            model.architecture.blocks.iter().all(|block| sees_itself_alone(&block.attention.mask)).then_some(OF_LESSON)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_alone_until_one_looks_at_another() {
        let map = |weights: [[f32; 2]; 2]| HeadMap {
            head: 0,
            own: 0,
            title: "Head 1".to_owned(),
            block: 0,
            enabled: true,
            queries: vec!["a".to_owned(), "b".to_owned()],
            keys: vec!["a".to_owned(), "b".to_owned()],
            is_of_source: false,
            keys_are_source: false,
            weights: weights.map(|row| row.to_vec()).to_vec(),
            lengths: vec![vec![0.0; 2]; 2],
            query_tokens: vec![0..1, 1..2],
            key_tokens: vec![0..1, 1..2],
        };
        let model = |maps: &[HeadMap]| AttentionModel {
            tokens: Vec::new(),
            heads: maps.to_vec(),
            note: None,
            sinks: Sinks::default(),
        };
        let (alone, looks) = (map([[1.0, 0.0], [0.0, 1.0]]), map([[1.0, 0.0], [0.5, 0.5]]));
        assert!(model(std::slice::from_ref(&alone)).is_each_word_alone());
        assert!(!model(&[alone, looks]).is_each_word_alone());
    }
}
