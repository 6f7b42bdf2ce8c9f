//! The Attention panel: a heat map for each head, with queries as rows and keys as columns, and the numbers of the
//! maps, with or without the sentence's sinks.
//!
//! Between words, attention to a split word is the sum over its pieces, and attention from a split word is the mean
//! over its pieces (Clark et al. 2019, arXiv 1906.04341, section 4.1). Rows still sum to 1, and words of one piece keep
//! their numbers.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_core::kernel::snapshot::sentence::SinkNumbers;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot};
use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::head_measures::LEAST_WEIGHT;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::vectors::{add_scaled, norm};
use attune_engine::quantity::{Entry, Quantity};
use attune_engine::recording::parts::Part;
use serde::{Deserialize, Serialize};

use super::labels::HeadLabels;
use super::needs::Needs;
use super::words::{Pair, Words};

#[derive(Clone, Debug)]
pub struct AttentionMaps {
    /// The words of the sentence on the stage, or their pieces.
    pub tokens: Arc<[String]>,
    pub heads: Vec<HeadMap>,
    /// The reason why no word attends to another, if the mask does not allow it.
    pub note: Option<&'static str>,
    pub sinks: Sinks,
    /// Whether each row sums to 1. In a recording, a row may lack small weights, the share of a learned sink, or keys
    /// that are not shown.
    pub rows_are_whole: bool,
}

#[derive(Clone, Debug)]
pub struct HeadMap {
    /// The index of the head, counted over all blocks.
    pub head: usize,
    /// The index of the head in its layer, which determines its hue.
    pub own: usize,
    /// The title, such as `Head 1`, with the layer if there are several.
    pub title: String,
    /// The index of the head's block in the model.
    pub block: usize,
    /// The number of the block, which is shown where there is no room for the title.
    pub layer: String,
    pub enabled: bool,
    /// The labels of the rows: words or pieces of the sentence, or of a source that attends to itself.
    pub queries: Arc<[String]>,
    /// The labels of the columns.
    pub keys: Arc<[String]>,
    /// Whether its queries are words of the source instead of the stage's tokens.
    pub is_of_source: bool,
    /// Whether its keys are words of the source.
    pub keys_are_source: bool,
    pub cells: HeadCells,
    /// The tokens of each row: one, or the pieces of a word.
    pub query_tokens: Arc<[Range<usize>]>,
    /// The tokens of each column.
    pub key_tokens: Arc<[Range<usize>]>,
}

impl HeadMap {
    /// Returns the row of a token; `None` if there is no such token.
    pub fn row_of(&self, token: usize) -> Option<usize> {
        self.query_tokens.iter().position(|tokens| tokens.contains(&token))
    }

    pub fn column_of(&self, token: usize) -> Option<usize> {
        self.key_tokens.iter().position(|tokens| tokens.contains(&token))
    }

    /// Returns the query and the key of a cell; a word of several pieces is represented by its first piece.
    pub fn pair(&self, row: usize, column: usize) -> Pair {
        Pair { head: self.head, query: self.query_tokens[row].start, key: self.key_tokens[column].start }
    }

    /// Returns the entry of a cell; `None` if the cell combines several entries.
    pub fn entry(&self, row: usize, column: usize) -> Option<Entry> {
        let (query, key) = (&self.query_tokens[row], &self.key_tokens[column]);
        let is_one = query.len() == 1 && key.len() == 1;
        is_one.then(|| Quantity::Weight.of_head(self.head, [query.start, key.start]))
    }

    /// Returns a sentence on what a cell shows instead of its weight or length, or why it shows nothing; `None` if it
    /// shows that number.
    pub fn say_shown(&self, query: usize, key: usize, reading: Reading) -> Option<String> {
        let is_hidden = reading.hides_sinks && self.cells.is_sink(key);
        match self.cells.shown(reading, query, key) {
            None if reading.is_added && !self.cells.has_lengths() => Some(format!("{}.", Needs::Terms.words())),
            None if is_hidden => Some("Hidden as a sink.".to_owned()),
            None => Some("Nothing is left of this row without the sinks.".to_owned()),
            Some(_) if reading.is_added || !reading.hides_sinks => None,
            Some(shown) => Some(format!("Without the sinks, {shown:.4}.")),
        }
    }

    /// Describes a cell: `bank (query, row) looks at river (key, column) with weight 0.6120 in head 1, which adds a
    /// vector of length 0.4130`.
    pub fn say(&self, query: usize, key: usize) -> String {
        let (row, column, weight) = (&self.queries[query], &self.keys[key], self.cells.weight(query, key));
        let title = self.title.to_lowercase();
        let looks = format!("{row} (query, row) looks at {column} (key, column) with weight {weight:.4} in {title}");
        // A recording may lack the length.
        match self.cells.has_lengths() {
            true => format!("{looks}, which adds a vector of length {:.4}", self.cells.length(query, key)),
            false => looks,
        }
    }
}

impl AttentionMaps {
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        Some(Self::between(snapshot.model.as_ref()?, None))
    }

    /// Returns the maps between whole words; `None` if there is no model, or if every word is a single piece.
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
                layer: model.architecture.block_sign(block),
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
        let rows_are_whole = model.recorded.as_deref().is_none_or(has_whole_rows);
        Self { tokens: own.clone(), heads, note: note(model, labels.tokens.len()), sinks, rows_are_whole }
    }

    /// Returns whether each word attends only to itself, so that there are no steps of attention to walk through.
    pub fn is_each_word_alone(&self) -> bool {
        let is_alone = |map: &HeadMap| (0..map.cells.rows()).all(|query| map.cells.weight(query, query) == 1.0);
        self.heads.iter().all(|map| !map.keys_are_source && is_alone(map))
    }

    /// Returns the number at which a cell has its full colour: a weight of 1, or the largest length in the map.
    pub fn full(&self, map: &HeadMap, reading: Reading) -> f32 {
        if !reading.is_added {
            return 1.0;
        }
        let shown = |(query, key)| map.cells.shown(reading, query, key);
        let pairs = (0..map.queries.len()).flat_map(|query| (0..map.keys.len()).map(move |key| (query, key)));
        pairs.filter_map(shown).fold(f32::MIN_POSITIVE, f32::max)
    }

    /// Returns the numbers of these heads as tab-separated values for a spreadsheet.
    pub fn tsv(&self, heads: &[usize], reading: Reading) -> String {
        tsv(&heads.iter().map(|head| &self.heads[*head]).collect::<Vec<_>>(), reading)
    }
}

/// Returns the numbers of maps as tab-separated values with all digits and with the words of rows and columns, one map
/// below another.
pub fn tsv(maps: &[&HeadMap], reading: Reading) -> String {
    let table = |map: &&HeadMap| {
        let rows = map.queries.iter().enumerate().map(|(row, query)| {
            let shown = (0..map.keys.len()).map(|key| map.cells.shown(reading, row, key));
            let numbers = shown.map(|number| number.map_or(String::new(), |number| number.to_string()));
            std::iter::once(query.clone()).chain(numbers).collect::<Vec<_>>().join("\t")
        });
        let title = if maps.len() > 1 { format!("{}\n", map.title) } else { String::new() };
        let rows: Vec<String> = rows.collect();
        format!("{title}\t{}\n{}\n", map.keys.join("\t"), rows.join("\n"))
    };
    let said = reading.said().map_or(String::new(), |said| format!("{said}\n"));
    let tables: Vec<String> = maps.iter().map(table).collect();
    said + tables.join("\n").as_str()
}

/// Returns a note if a mask of the lesson or of the learner lets each word see only itself; `None` otherwise, and for a
/// model with a source.
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

/// The numbers of one head, by query and key. These are whole words if `words` is set, and pieces otherwise.
#[derive(Clone, Debug)]
pub struct HeadCells {
    sentence: Arc<SentenceSnapshot>,
    block: usize,
    /// The index of the head in its block.
    own: usize,
    /// The words, if words are shown and some have several pieces.
    words: Option<Arc<Words>>,
    /// The keys that are sinks; empty for a head whose keys are in the source.
    sinks: Arc<[usize]>,
    /// For each query, the sum of the weights of all keys but the sinks.
    rests: OnceLock<Vec<f32>>,
    /// The lengths of the contributions between words.
    lengths: OnceLock<Matrix<f32>>,
}

impl HeadCells {
    /// Returns the numbers of all heads, in the order of all blocks.
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

    /// Returns the number of queries.
    pub fn rows(&self) -> usize {
        self.words.as_ref().map_or_else(|| self.activations().weights.rows(), |words| words.pieces.len())
    }

    /// Returns the number of keys.
    pub fn cols(&self) -> usize {
        self.words.as_ref().map_or_else(|| self.activations().weights.cols(), |words| words.pieces.len())
    }

    /// Returns the weight `α` of a query and a key. Between words, it is the sum over the key's pieces, and the mean
    /// over the query's.
    ///
    /// # Panics
    /// If there is no such query or key, as in the following methods.
    pub fn weight(&self, query: usize, key: usize) -> f32 {
        let weights = &self.activations().weights;
        let Some(words) = &self.words else { return weights.get(query, key) };
        let (queries, keys) = (&words.pieces[query], &words.pieces[key]);
        let sum: f32 = queries.clone().flat_map(|query| &weights.row(query)[keys.clone()]).sum();
        if queries.len() == 1 { sum } else { sum / queries.len() as f32 }
    }

    /// Returns the weights of all keys for a query.
    pub fn weights(&self, query: usize) -> impl Iterator<Item = f32> {
        (0..self.cols()).map(move |key| self.weight(query, key))
    }

    /// Returns `‖α v W_O‖` of a query and a key (Kobayashi et al. 2020, arXiv 2004.10102), after the norms at the
    /// block's output; for words, the length of the sum over all pieces. NaN if a recording lacks it.
    pub fn length(&self, query: usize, key: usize) -> f32 {
        match &self.words {
            _ if !self.has_lengths() => f32::NAN,
            None => self.sentence.moves[self.block].term_length(self.own, query, key),
            Some(words) => self.lengths.get_or_init(|| self.lengths_of(words)).get(query, key),
        }
    }

    /// Returns whether the lengths of contributions are known; a recording may lack them.
    pub fn has_lengths(&self) -> bool {
        self.sentence.contributions[self.block].has_terms()
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

    /// Returns `‖Σ_j α_ij v_j W_O‖`, the length of the head's contribution to a piece, even if whole words are shown;
    /// NaN if a recording lacks it.
    pub fn head_length(&self, query: usize) -> f32 {
        let lengths = self.sentence.contributions[self.block].head_lengths.get(self.own);
        lengths.and_then(|lengths| lengths.get(query)).copied().unwrap_or(f32::NAN)
    }

    /// Returns whether a mask hides this key from this query.
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

    /// Returns whether no piece attends to another.
    pub fn is_diagonal(&self) -> bool {
        let weights = &self.activations().weights;
        let row = |query: usize| weights.row(query).iter().enumerate().all(|(key, w)| key == query || *w == 0.0);
        (0..weights.rows()).all(row)
    }

    /// Returns whether this key is a sink, which is left out where sinks are hidden.
    pub fn is_sink(&self, key: usize) -> bool {
        self.sinks.contains(&key)
    }

    /// Returns the number that is shown for a pair: its weight, or the length of its contribution. `None` for a hidden
    /// sink, for a row that is empty without its sinks, and if a recording lacks the length.
    pub fn shown(&self, reading: Reading, query: usize, key: usize) -> Option<f32> {
        if reading.is_added && !self.has_lengths() {
            return None;
        }
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

    /// Returns the numbers that are shown for a query and each key, as [`Self::shown`] does for one key.
    pub fn shown_row(&self, reading: Reading, query: usize) -> Vec<Option<f32>> {
        let is_of_weights = !reading.is_added && (!reading.hides_sinks || self.sinks.is_empty());
        if is_of_weights && self.words.is_none() {
            // A small map needs every row of its head, so the weights are copied without a call for each.
            return self.activations().weights.row(query).iter().copied().map(Some).collect();
        }
        (0..self.cols()).map(|key| self.shown(reading, query, key)).collect()
    }

    fn rest(&self, query: usize) -> f32 {
        self.weights(query).enumerate().filter(|(key, _)| !self.is_sink(*key)).map(|(_, weight)| weight).sum()
    }
}

/// The way in which attention is read: as weights or as contributions, and with or without sinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// Whether the length of a key's contribution, `‖α V W_O‖`, is shown instead of its weight `α`.
    pub is_added: bool,
    /// Whether sinks are left out. The weights of the other keys are then rescaled to sum to 1.
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

    /// Returns a description of the reading, which every view that uses it shows; `None` for plain weights.
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
    /// The index of the sink's piece, or of its word if whole words are shown.
    pub position: usize,
    pub label: String,
    pub numbers: SinkNumbers,
}

impl Sink {
    /// Describes the sink, and whether its vectors contribute much.
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
        // A ratio that is clearly less than 1, beyond rounding.
        const SHORTER: f32 = 0.9;
        let Some(of_added) = of_added else {
            return format!("{head} It gets {} of all weights.", percent(*of_weights));
        };
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

/// Returns whether the weights of a recording are complete: all keys are shown, small weights were not left out, and
/// there are no learned sinks.
fn has_whole_rows(pass: &RecordedPass) -> bool {
    let text = &pass.place.model.recording.texts[pass.place.text];
    let is_shown = |of_source| pass.place.tokens(of_source).len() == pass.place.count(of_source);
    let has_sinks = text.attentions.iter().any(|attention| attention.part(Part::Sinks).is_some());
    is_shown(false) && is_shown(true) && !text.about.is_partial && !has_sinks
}

/// The sinks of a sentence, in the order of their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sinks {
    pub sinks: Vec<Sink>,
}

impl Sinks {
    /// Finds the sinks. A lesson's own small model has none, because its few heads attend where they were trained to.
    pub fn of(model: &ModelSnapshot, labels: &HeadLabels) -> Self {
        let embedding = &model.made_of.static_embedding;
        if !embedding.is_pretrained() && embedding.recording().is_none() {
            return Self::default();
        }
        let sink = |numbers: &SinkNumbers| Sink {
            position: numbers.position,
            label: labels.tokens[numbers.position].clone(),
            numbers: *numbers,
        };
        Self { sinks: model.sentence.sinks.iter().map(sink).collect() }
    }

    /// Replaces the positions of pieces by those of words; `word` returns the index of a piece's word.
    #[must_use]
    pub fn of_words(mut self, word: impl Fn(usize) -> usize) -> Self {
        self.sinks.iter_mut().for_each(|sink| sink.position = word(sink.position));
        self.sinks.dedup_by_key(|sink| sink.position);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }

    /// Returns the sink at this position of the sentence.
    pub fn at(&self, position: usize) -> Option<&Sink> {
        self.sinks.iter().find(|sink| sink.position == position)
    }
}
