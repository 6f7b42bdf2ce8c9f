//! The Attention panel: one heat map per head, rows are queries, columns are keys; the numbers of a head's map, with sinks
//! of the sentence or without them.
//!
//! In attention between words, a word that looks at a split word looks at all of its pieces, and a split word looks as its
//! pieces do in the mean (Clark et al. 2019, arXiv 1906.04341, section 4.1). Rows still sum to 1, and words of one piece keep
//! their numbers.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::snapshot::sentence::SinkNumbers;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot};
use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::head_measures::LEAST_WEIGHT;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::vectors::{add_scaled, norm};
use attune_engine::quantity::{Entry, Quantity};
use serde::{Deserialize, Serialize};

use super::heads::HeadLabels;
use super::pieces::Words;
use super::sentence_arcs::Pair;

#[derive(Clone, Debug)]
pub struct AttentionMaps {
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

impl AttentionMaps {
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

    /// The cell in words: `bank (query, row) looks at river (key, column) with weight 0.6120 in head 1, which adds a vector of length 0.4130`.
    pub fn say(&self, head: usize, query: usize, key: usize) -> String {
        let map = &self.heads[head];
        format!(
            "{} (query, row) looks at {} (key, column) with weight {:.4} in {}, which adds a vector of length {:.4}",
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
    const OF_LESSON: &str = "This model has no attention yet. Its mask hides every other word, so each word looks \
        only at itself, with weight 1, and no word moves.";
    const OF_LEARNER: &str = "Your mask hides every other word, so each word looks only at itself, with weight 1. \
        You can choose another mask in Intervene.";
    let sees_itself_alone = |sees: &dyn Fn(usize, usize) -> bool| {
        let mut pairs = (0..tokens * tokens).map(|at| (at / tokens, at % tokens));
        tokens > 1 && pairs.all(|(query, key)| sees(query, key) == (query == key))
    };
    let changed = model.interventions.mask.as_ref();
    match changed {
        _ if model.sentence.source.is_some() => None,
        Some(_) => {
            let sight = model.interventions.sight_of_first(&model.architecture);
            sees_itself_alone(&|query, key| sight.sees(query, key)).then_some(OF_LEARNER)
        }
        None => {
            let mut layers = model.architecture.blocks.iter().map(|block| &block.attention);
            layers.all(|layer| sees_itself_alone(&|query, key| layer.sees(query, key))).then_some(OF_LESSON)
        }
    }
}

/// Numbers of one head, by the places of queries and keys: words where words are shown, pieces elsewhere.
#[derive(Clone, Debug)]
pub struct HeadCells {
    sentence: Arc<SentenceSnapshot>,
    block: usize,
    /// Its place in the block.
    own: usize,
    /// The words, where some have several pieces and words are shown.
    words: Option<Arc<Words>>,
    /// Keys that are sinks; empty of a head that looks at another sentence.
    sinks: Arc<[usize]>,
    /// By query, the sum of the weights of all but the sinks.
    rests: OnceLock<Vec<f32>>,
    /// Between words, the lengths of what is added.
    lengths: OnceLock<Matrix<f32>>,
}

impl HeadCells {
    /// The cells of all heads, counted over all blocks.
    pub fn all(model: &ModelSnapshot, labels: &HeadLabels, sinks: &Sinks, words: Option<&Arc<Words>>) -> Vec<Self> {
        let none: Arc<[usize]> = Arc::from([]);
        let mut positions: Vec<usize> = sinks.sinks.iter().map(|sink| sink.position).collect();
        if let Some(words) = words {
            positions.iter_mut().for_each(|position| *position = words.place(*position));
            positions.dedup();
        }
        let positions: Arc<[usize]> = positions.into();
        let blocks = model.sentence.activations.blocks.iter().enumerate();
        let heads = blocks.flat_map(|(block, activations)| (0..activations.heads.len()).map(move |own| (block, own)));
        let cells = |(head, (block, own)): (usize, (usize, usize))| Self {
            sentence: model.sentence.clone(),
            block,
            own,
            words: words.cloned(),
            sinks: if labels.keys_are_source(head) { none.clone() } else { positions.clone() },
            rests: OnceLock::new(),
            lengths: OnceLock::new(),
        };
        heads.enumerate().map(cells).collect()
    }

    fn activations(&self) -> &HeadActivations<f32> {
        &self.sentence.activations.blocks[self.block].heads[self.own]
    }

    /// How many queries there are.
    pub fn rows(&self) -> usize {
        self.words.as_ref().map_or_else(|| self.activations().weights.rows(), |words| words.pieces.len())
    }

    /// How many keys there are.
    pub fn cols(&self) -> usize {
        self.words.as_ref().map_or_else(|| self.activations().weights.cols(), |words| words.pieces.len())
    }

    /// `α` of a query and a key; each row sums to 1.
    ///
    /// # Panics
    /// If there is no such query or key, here and below.
    pub fn weight(&self, query: usize, key: usize) -> f32 {
        let weights = &self.activations().weights;
        let Some(words) = &self.words else { return weights.get(query, key) };
        let (queries, keys) = (&words.pieces[query], &words.pieces[key]);
        let sum: f32 = queries.clone().flat_map(|query| &weights.row(query)[keys.clone()]).sum();
        if queries.len() == 1 { sum } else { sum / queries.len() as f32 }
    }

    /// The weights of a query.
    pub fn weights(&self, query: usize) -> impl Iterator<Item = f32> {
        (0..self.cols()).map(move |key| self.weight(query, key))
    }

    /// `‖α v W_O‖` of a query and a key (Kobayashi et al. 2020, arXiv 2004.10102), at the block's output; of words, the length
    /// of what all pieces add together.
    pub fn length(&self, query: usize, key: usize) -> f32 {
        match &self.words {
            None => self.sentence.moves[self.block].term_length(self.own, query, key),
            Some(words) => self.lengths.get_or_init(|| self.lengths_of(words)).get(query, key),
        }
    }

    fn lengths_of(&self, words: &Words) -> Matrix<f32> {
        let Self { block, own, .. } = *self;
        let (contributions, moves) = (&self.sentence.contributions[block], &self.sentence.moves[block]);
        let activations = &self.sentence.activations.blocks[block];
        let carried: Vec<Vec<f32>> =
            (0..contributions.keys()).map(|key| contributions.carried_term(own, key)).collect();
        let mut sum = vec![0.0; activations.output.cols()];
        let mut length = |queries: &Range<usize>, keys: &Range<usize>| {
            if queries.len() == 1 && keys.len() == 1 {
                return moves.term_length(own, queries.start, keys.start);
            }
            sum.fill(0.0);
            for key in keys.clone() {
                let weight =
                    |query| contributions.weight(activations, own, query, key) * contributions.shrinking(query);
                let mean = queries.clone().map(weight).sum::<f32>() / queries.len() as f32;
                add_scaled(&mut sum, mean, &carried[key]);
            }
            norm(&sum)
        };
        let count = words.pieces.len();
        Matrix::from_fn(count, count, |query, key| length(&words.pieces[query], &words.pieces[key]))
    }

    /// `‖Σ_j α_ij v_j W_O‖`: the length of what the head adds to a piece, also where words are shown.
    pub fn head_length(&self, query: usize) -> f32 {
        self.sentence.contributions[self.block].head_lengths[self.own][query]
    }

    /// A mask hides this key from this query.
    pub fn is_hidden(&self, query: usize, key: usize) -> bool {
        let scores = &self.activations().scores;
        let is_hidden = |query, key| scores.get(query, key) == f32::NEG_INFINITY;
        match &self.words {
            None => is_hidden(query, key),
            Some(words) => {
                words.pieces[query].clone().all(|query| words.pieces[key].clone().all(|key| is_hidden(query, key)))
            }
        }
    }

    /// Whether no piece looks at another.
    pub fn is_diagonal(&self) -> bool {
        let weights = &self.activations().weights;
        let row = |query: usize| weights.row(query).iter().enumerate().all(|(key, w)| key == query || *w == 0.0);
        (0..weights.rows()).all(row)
    }

    /// Whether this key is a sink, hidden where they are hidden.
    pub fn is_sink(&self, key: usize) -> bool {
        self.sinks.contains(&key)
    }

    /// The reading of a pair: its weight or the length of what it adds; `None` of a hidden sink, and where nothing is left
    /// of a row without them.
    pub fn shown(&self, reading: Reading, query: usize, key: usize) -> Option<f32> {
        let value = || if reading.is_added { self.length(query, key) } else { self.weight(query, key) };
        if !reading.hides_sinks || self.sinks.is_empty() {
            return Some(value());
        }
        if self.is_sink(key) {
            return None;
        }
        match self.rests.get_or_init(|| (0..self.rows()).map(|query| self.rest(query)).collect())[query] {
            rest if rest <= 0.0 => None,
            rest if !reading.is_added => Some(value() / rest),
            _ => Some(value()),
        }
    }

    fn rest(&self, query: usize) -> f32 {
        self.weights(query).enumerate().filter(|(key, _)| !self.is_sink(*key)).map(|(_, weight)| weight).sum()
    }
}

/// How attention is read: as its weights or as what they add, and with sinks or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// The length of what a key adds, `‖α V W_O‖`, and not its weight `α`.
    pub is_added: bool,
    /// Without the sinks; the weights of the others then sum to 1.
    pub hides_sinks: bool,
}

impl Reading {
    pub fn turn_added(&mut self) {
        self.is_added = !self.is_added;
    }

    /// Hides the sinks, if there are any, or shows them again.
    pub fn turn_sinks(&mut self, has_sinks: bool) {
        self.hides_sinks = !self.hides_sinks && has_sinks;
    }

    /// The view other than the weights as they are, in words: said wherever that is so.
    pub fn said(self) -> Option<&'static str> {
        match (self.is_added, self.hides_sinks) {
            (false, false) => None,
            (true, false) => Some("Shown: the length of what is added, ‖α V W_O‖"),
            (false, true) => Some("Shown: weights without the sinks, each row rescaled to sum to 1"),
            (true, true) => Some("Shown: the length of what is added, ‖α V W_O‖, without the sinks"),
        }
    }
}

/// A word that gets much of the attention, averaged over all heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Sink {
    /// Its place among the pieces; where words are shown, the word's: among the words, or that of its first piece.
    pub position: usize,
    pub label: String,
    pub numbers: SinkNumbers,
}

impl Sink {
    /// A description of the sink, and whether it means much, in words.
    pub fn about(&self) -> String {
        let Self { label, numbers: SinkNumbers { mean, heads: (some, all), of_weights, of_added, .. }, .. } = self;
        let percent = |share: f32| format!("{:.0} %", share * 100.0);
        let head = format!(
            "{label} is a sink: the words that can see it give it {} of their attention on average, and more than {} in \
             {some} of {}.",
            percent(*mean),
            percent(LEAST_WEIGHT as f32),
            counted(*all, "head")
        );
        // Less by more than rounding would say.
        const SHORTER: f32 = 0.9;
        let meaning = if *of_added < SHORTER * of_weights {
            format!(
                " It gets {} of all weights, but makes up only {} of the lengths of all vectors that are added, \
                 because its value vectors are short. The usual explanation is that a head with nothing to look for \
                 still has to spend its weights, which sum to 1, and spends them where they add little.",
                percent(*of_weights),
                percent(*of_added)
            )
        } else {
            format!(
                " Its value vectors are not short here: it gets {} of all weights, and makes up {} of the lengths of \
                 all vectors that are added.",
                percent(*of_weights),
                percent(*of_added)
            )
        };
        head + meaning.as_str()
    }
}

/// The sinks of a sentence, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sinks {
    pub sinks: Vec<Sink>,
}

impl Sinks {
    /// None of a lesson's own small model: its few heads look where the lesson trained them to look.
    pub fn of(model: &ModelSnapshot, labels: &HeadLabels) -> Self {
        if !model.made_of.static_embedding.is_pretrained() {
            return Self::default();
        }
        let sink = |numbers: &SinkNumbers| Sink {
            position: numbers.position,
            label: labels.tokens[numbers.position].clone(),
            numbers: *numbers,
        };
        Self { sinks: model.sentence.sinks.iter().map(sink).collect() }
    }

    /// The same between words of several pieces; `word` is the place of a piece's word.
    #[must_use]
    pub fn of_words(mut self, word: impl Fn(usize) -> usize) -> Self {
        self.sinks.iter_mut().for_each(|sink| sink.position = word(sink.position));
        self.sinks.dedup_by_key(|sink| sink.position);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }

    /// The sink at this place of the sentence.
    pub fn at(&self, position: usize) -> Option<&Sink> {
        self.sinks.iter().find(|sink| sink.position == position)
    }
}
