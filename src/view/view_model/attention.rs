//! The Attention panel: one heat map per head, rows are queries, columns are keys.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_engine::numerics::attention::Mask;
use attune_engine::quantity::{Entry, Quantity};

use super::head_cells::HeadCells;
use super::head_labels::HeadLabels;
use super::models::Model;
use super::sentence_arcs::Pair;
use super::sinks::{Reading, Sinks};
use super::words::Words;

#[derive(Clone, Debug)]
pub struct AttentionModel {
    /// Words of the sentence on the stage, or its pieces.
    pub tokens: Arc<[String]>,
    pub heads: Vec<HeadMap>,
    /// Why no word looks at another, where the mask is such.
    pub note: Option<&'static str>,
    pub sinks: Sinks,
}

#[derive(Clone, Debug)]
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
    pub queries: Arc<[String]>,
    /// Labels of the columns.
    pub keys: Arc<[String]>,
    /// Its queries are not the stage's tokens.
    pub is_of_source: bool,
    /// Its keys are words of the source.
    pub keys_are_source: bool,
    pub cells: HeadCells,
    /// The tokens that each row and each column is of: one, or the pieces of a word.
    pub query_tokens: Arc<[Range<usize>]>,
    pub key_tokens: Arc<[Range<usize>]>,
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
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        Some(Self::between(snapshot.model.as_ref()?, None))
    }

    /// Between words, of a sentence in which a word has several pieces.
    pub fn by_words(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        Words::of(&model.sentence).map(|words| Self::between(model, Some(&Arc::new(words))))
    }

    fn between(model: &ModelSnapshot, words: Option<&Arc<Words>>) -> Self {
        let labels = HeadLabels::of(model);
        let mut sinks = Sinks::of(model, &labels);
        let cells = HeadCells::all(model, &labels, &sinks, words);
        let own: Arc<[String]> = words.map_or_else(|| labels.tokens.clone(), |words| words.labels()).into();
        let source: Arc<[String]> = labels.source.as_slice().into();
        let single = |labels: &[String]| (0..labels.len()).map(|at| at..at + 1).collect::<Arc<[Range<usize>]>>();
        let own_tokens = words.map_or_else(|| single(&own), |words| words.pieces.as_slice().into());
        let source_tokens = single(&source);
        let map = |(head, cells): (usize, HeadCells)| {
            let (block, _, place) = model.architecture.head(head);
            let (is_of_source, keys_are_source) = (labels.is_of_source(head), labels.keys_are_source(head));
            let of = |is_source: bool| match is_source {
                true => (source.clone(), source_tokens.clone()),
                false => (own.clone(), own_tokens.clone()),
            };
            let ((queries, query_tokens), (keys, key_tokens)) = (of(is_of_source), of(keys_are_source));
            let (title, enabled) = (labels.title(head), model.is_enabled(head));
            HeadMap {
                head,
                own: place,
                title,
                block,
                enabled,
                queries,
                keys,
                is_of_source,
                keys_are_source,
                cells,
                query_tokens,
                key_tokens,
            }
        };
        let heads = cells.into_iter().enumerate().map(map).collect();
        if let Some(words) = words {
            sinks = sinks.of_words(|piece| words.place(piece));
        }
        Self { tokens: own.clone(), heads, note: note(model, labels.tokens.len()), sinks }
    }

    /// Each word looks at itself alone: there are no steps of attention to walk through.
    pub fn is_each_word_alone(&self) -> bool {
        let is_alone = |map: &HeadMap| (0..map.cells.rows()).all(|query| map.cells.weight(query, query) == 1.0);
        self.heads.iter().all(|map| !map.keys_are_source && is_alone(map))
    }

    /// The number that fills a cell of a map: a weight of 1, or the longest that is added.
    pub fn full(&self, map: &HeadMap, reading: Reading) -> f32 {
        if !reading.is_added {
            return 1.0;
        }
        let shown = |(query, key)| map.cells.shown(reading, query, key);
        let pairs = (0..map.queries.len()).flat_map(|query| (0..map.keys.len()).map(move |key| (query, key)));
        pairs.filter_map(shown).fold(f32::MIN_POSITIVE, f32::max)
    }

    /// The numbers of these heads, for a spreadsheet: the words of rows and columns, every digit, one head below another.
    pub fn tsv(&self, heads: &[usize], reading: Reading) -> String {
        let table = |head: &usize| {
            let map = &self.heads[*head];
            let rows = map.queries.iter().enumerate().map(|(row, query)| {
                let shown = (0..map.keys.len()).map(|key| map.cells.shown(reading, row, key));
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
        let is_hidden = reading.hides_sinks && map.cells.is_sink(key);
        match map.cells.shown(reading, query, key) {
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
            map.cells.weight(query, key),
            map.title.to_lowercase(),
            map.cells.length(query, key)
        )
    }
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
