//! Heads: the contribution of each head to each token, and a small map of every head in every layer, with measures of
//! each.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot, Token};
use attune_core::lesson::schema::{Objective, TargetForm};
use attune_engine::numerics::attention::HeadMode;
pub use attune_engine::numerics::head_measures::HeadMeasure;
use attune_engine::numerics::head_measures::{HeadPatterns, MeasureWords, MeasuredToken, alignment};
use attune_engine::numerics::model::activations::Interventions;

use super::attention::{HeadCells, Reading, Sinks};
use super::labels::{HeadLabels, strongest};

/// A head in the Intervene panel.
#[derive(Clone, Debug)]
pub struct HeadRow {
    /// The index of the head, counted over all blocks.
    pub head: usize,
    /// The index of the head in its layer, which determines its hue.
    pub own: usize,
    /// The title, such as `Head 1`, with the layer if there are several.
    pub title: String,
    pub block: usize,
    pub mode: HeadMode<f32>,
    /// Whether the head is the only one that is on, of several.
    pub solo: bool,
    /// The labels of its keys.
    pub keys: Arc<[String]>,
    /// The number of tokens to which the head contributes: all of them, or none for a head of the source.
    pub tokens: usize,
    cells: HeadCells,
}

impl HeadRow {
    /// Returns all heads of a model.
    pub fn all(model: &ModelSnapshot, labels: &HeadLabels) -> Vec<Self> {
        let modes = &model.interventions.heads;
        let is_on = |mode: &HeadMode<f32>| *mode != HeadMode::Off;
        let is_solo = modes.len() > 1 && modes.iter().filter(|mode| is_on(mode)).count() == 1;
        let [tokens, source]: [Arc<[String]>; 2] =
            [&labels.tokens, &labels.source].map(|words| words.as_slice().into());
        let row = |(head, (cells, mode)): (usize, (HeadCells, &HeadMode<f32>))| {
            let (block, _, own) = model.architecture.head(head);
            Self {
                head,
                own,
                title: labels.title(head),
                block,
                mode: mode.clone(),
                solo: is_solo && is_on(mode),
                keys: if labels.keys_are_source(head) { &source } else { &tokens }.clone(),
                tokens: if labels.is_of_source(head) { 0 } else { labels.tokens.len() },
                cells,
            }
        };
        let cells = HeadCells::all(model, labels, &Sinks::default(), None);
        cells.into_iter().zip(modes).enumerate().map(row).collect()
    }

    /// Returns the factor by which the head's output is multiplied; `None` if its attention weights were replaced.
    pub fn gain(&self) -> Option<f32> {
        self.mode.takes_gain().then(|| self.mode.gain())
    }

    /// Returns `‖Σ_j α_ij (x_j W_V + b_V) W_O‖`, the length of the head's contribution to a token; NaN if a recording
    /// lacks it.
    pub fn move_length(&self, query: usize) -> f32 {
        self.cells.head_length(query)
    }

    /// Returns the lengths of the head's contributions to all tokens.
    pub fn move_lengths(&self) -> impl Iterator<Item = f32> {
        (0..self.tokens).map(|query| self.move_length(query))
    }

    /// Returns the key with the largest weight for a token in this head, and the weight.
    pub fn strongest(&self, query: usize) -> (usize, f32) {
        strongest(self.cells.weights(query))
    }
}

#[derive(Clone, Debug)]
pub struct AllHeadsModel {
    /// The measured heads. The `Arc` is the same as long as the numbers of the sentence are the same.
    pub content: Arc<AllHeads>,
}

/// The heads of one sentence.
#[derive(Debug)]
pub struct AllHeads {
    sentence: Arc<SentenceSnapshot>,
    interventions: Arc<Interventions<f32>>,
    /// Whether all heads have been measured. The heads of a recorded text are measured while it is checked.
    pub is_measured: bool,
    /// The layers, in the order of computation.
    pub layers: Vec<HeadLayer>,
    pub heads: Vec<HeadSummary>,
    pub sinks: Sinks,
    /// Whether the tokens are the patches of a picture.
    is_of_patches: bool,
}

/// The heads of one block.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadLayer {
    /// The title, such as `Layer 2` or `Cross-attention`; empty if there is only one layer.
    pub title: String,
    /// The sign of the layer, which is shown where there is no room for the title.
    pub sign: String,
    /// The indices of the heads, counted over all blocks.
    pub heads: std::ops::Range<usize>,
    /// The shares that a head would have whose queries give equal weights to all keys that they see, in the order of
    /// [`HeadMeasure::ALL`].
    even: Vec<Option<f32>>,
}

/// A head and its measures.
#[derive(Clone, Debug)]
pub struct HeadSummary {
    pub head: usize,
    /// The title, such as `Layer 2, head 1`.
    pub title: String,
    pub layer: usize,
    /// The index of the head within its layer.
    pub own: usize,
    pub enabled: bool,
    /// Whether its queries are words of the source instead of the stage's tokens.
    pub is_of_source: bool,
    pub queries: usize,
    pub keys: usize,
    pub cells: HeadCells,
    is_measured: bool,
    /// The measures, in the order of [`HeadMeasure::ALL`].
    measures: Vec<Option<f32>>,
}

/// A head's map, reduced to a limited number of rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    pub rows: usize,
    pub cols: usize,
    /// The numbers between 0 and 1, row by row; `None` where sinks are hidden or nothing is known.
    pub shares: Vec<Option<f32>>,
}

impl AllHeadsModel {
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let is_same = |content: &&Arc<AllHeads>| {
            Arc::ptr_eq(&content.sentence, &model.sentence)
                && Arc::ptr_eq(&content.interventions, &model.interventions)
                && content.is_measured == is_measured(model)
        };
        let same = before.map(|before| &before.content).filter(is_same);
        Some(Self { content: same.cloned().unwrap_or_else(|| Arc::new(AllHeads::of(model))) })
    }
}

impl AllHeads {
    pub fn of(model: &ModelSnapshot) -> Self {
        let (labels, sentence) = (HeadLabels::of(model), &model.sentence);
        let patterns = Patterns::of(model, &labels);
        let mut layers: Vec<HeadLayer> = Vec::new();
        // A recorded text is measured as a whole, even if only a part of it is shown.
        let checked = model.checked.as_deref();
        let no_measures = || vec![None; HeadMeasure::ALL.len()];
        let single = |found: Vec<Option<f64>>| found.into_iter().map(|found| found.map(|found| found as f32)).collect();
        let has_all =
            |pass: &RecordedPass, of_source: bool| pass.place.tokens(of_source).len() == pass.place.count(of_source);
        let is_whole = model.recorded.as_deref().is_none_or(|pass| has_all(pass, false) && has_all(pass, true));
        let sinks = Sinks::of(model, &labels);
        let cells = HeadCells::all(model, &labels, &sinks, None);
        let heads: Vec<HeadSummary> = sentence
            .activations
            .heads()
            .zip(cells)
            .enumerate()
            .map(|(head, (activations, cells))| {
                let (block, _, own) = model.architecture.head(head);
                let patterns = patterns.of_head(&labels, head);
                if own == 0 {
                    let sign = model.architecture.block_sign(block);
                    let even = || patterns.even(cells.rows(), cells.cols(), |query, key| !cells.is_hidden(query, key));
                    let even = is_whole.then(even).map_or_else(no_measures, single);
                    layers.push(HeadLayer { title: labels.block(head), sign, heads: head..head, even });
                }
                let layer = layers.len() - 1;
                layers[layer].heads.end = head + 1;
                let weights = &activations.weights;
                let measure = |measure| patterns.measure(measure, weights).map(|found| found as f32);
                let measures = match checked {
                    Some(checked) => checked.measures(head).map_or_else(no_measures, <[_]>::to_vec),
                    None => HeadMeasure::ALL.into_iter().map(measure).collect(),
                };
                HeadSummary {
                    head,
                    title: labels.title(head),
                    layer,
                    own,
                    enabled: model.is_enabled(head),
                    is_of_source: labels.is_of_source(head),
                    queries: weights.rows(),
                    keys: weights.cols(),
                    cells,
                    is_measured: checked.is_none_or(|checked| checked.measures(head).is_some()),
                    measures,
                }
            })
            .collect();
        let (sentence, interventions) = (sentence.clone(), model.interventions.clone());
        let is_of_patches = model.recorded.as_deref().is_some_and(|pass| pass.place.grid().is_some());
        Self { sentence, interventions, is_measured: is_measured(model), layers, heads, sinks, is_of_patches }
    }

    /// Returns the largest number of heads in a layer.
    pub fn columns(&self) -> usize {
        self.layers.iter().map(|layer| layer.heads.len()).max().unwrap_or(0)
    }

    /// Returns the indices of all heads in the order of a measure. Heads without it come last, and equal ones stay in
    /// the order of the model.
    pub fn ranked(&self, measure: HeadMeasure, is_largest_first: bool) -> Vec<usize> {
        let mut ranked: Vec<(usize, Option<f32>)> =
            self.heads.iter().map(|head| (head.head, head.measure(measure))).collect();
        ranked.sort_by(|(_, a), (_, b)| match (a, b) {
            (Some(a), Some(b)) if is_largest_first => b.total_cmp(a),
            (Some(a), Some(b)) => a.total_cmp(b),
            _ => a.is_none().cmp(&b.is_none()),
        });
        ranked.into_iter().map(|(head, _)| head).collect()
    }

    /// Returns the measure by which heads are marked and ordered: the chosen one, or else the usual one.
    pub fn chosen_measure(&self, chosen: Option<HeadMeasure>) -> HeadMeasure {
        chosen.unwrap_or_else(|| self.usual_measure())
    }

    /// Returns a measure in words, as it is computed for the tokens of the sentence.
    pub fn words(&self, measure: HeadMeasure) -> MeasureWords {
        if self.is_of_patches { measure.words_of_patches() } else { measure.words() }
    }

    /// Returns the measure that says most about heads of this kind of model: for one with a source, which head aligns;
    /// for the patches of a picture, which have no previous one, how far heads look.
    pub fn usual_measure(&self) -> HeadMeasure {
        let has = |measure: HeadMeasure| self.heads.iter().any(|head| head.measure(measure).is_some());
        if has(HeadMeasure::Aligned) {
            HeadMeasure::Aligned
        } else if self.is_of_patches {
            HeadMeasure::Distance
        } else {
            HeadMeasure::default()
        }
    }

    /// Returns the value that the strongest head would have with equal weights; `None` if the measure does not
    /// count pairs, or if no head has it.
    pub fn even(&self, measure: HeadMeasure) -> Option<f32> {
        let strongest = self.strongest(measure, 1).first().copied()?;
        self.layers[self.heads[strongest].layer].even[measure.place()].filter(|_| measure.counts_pairs())
    }

    /// Returns the indices of at most `count` heads with the largest values of a measure above 0.
    pub fn strongest(&self, measure: HeadMeasure, count: usize) -> Vec<usize> {
        let has_some = |head: &usize| self.heads[*head].measure(measure).is_some_and(|found| found > 0.0);
        self.ranked(measure, true).into_iter().filter(has_some).take(count).collect()
    }

    /// Returns the value of a full bar: 1 for a share, or the largest value of any head.
    pub fn full(&self, measure: HeadMeasure) -> f32 {
        if measure.is_share() {
            return 1.0;
        }
        self.heads.iter().filter_map(|head| head.measure(measure)).fold(0.0, f32::max)
    }

    /// Returns the reduced map of a head, with at most `side` rows and columns. Each cell has the largest number that
    /// it covers, so that a thin diagonal stays visible.
    pub fn thumbnail(&self, head: usize, side: usize, reading: Reading) -> Thumbnail {
        let HeadSummary { queries, keys, ref cells, .. } = self.heads[head];
        let (rows, cols) = (queries.min(side), keys.min(side));
        let mut shares: Vec<Option<f32>> = vec![None; rows * cols];
        let columns: Vec<usize> = (0..keys).map(|key| key * cols / keys).collect();
        for query in 0..queries {
            let row = &mut shares[query * rows / queries * cols..][..cols];
            for (column, shown) in columns.iter().zip(cells.shown_row(reading, query)) {
                let cell = &mut row[*column];
                *cell = match (*cell, shown) {
                    (Some(one), Some(other)) => Some(one.max(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        if reading.is_added {
            let longest = shares.iter().flatten().copied().fold(0.0, f32::max);
            shares.iter_mut().flatten().for_each(|share| *share = if longest > 0.0 { *share / longest } else { 0.0 });
        }
        Thumbnail { rows, cols, shares }
    }

    /// Returns all measures of all heads as tab-separated values for a spreadsheet.
    pub fn tsv(&self) -> String {
        let titles = HeadMeasure::ALL.map(|measure| measure.words().title).join("\t");
        let row = |head: &HeadSummary| {
            let numbers = head.measures.iter().map(|found| found.map_or(String::new(), |found| found.to_string()));
            format!("{}\t{}\n", head.title, numbers.collect::<Vec<_>>().join("\t"))
        };
        format!("head\t{titles}\n{}", self.heads.iter().map(row).collect::<String>())
    }
}

/// Returns the reason why a measure has no number, in words.
pub fn unmeasured(is_measured: bool) -> &'static str {
    if is_measured { "none in this sentence" } else { "not measured yet" }
}

impl HeadSummary {
    /// Returns the part of the map's height that a query takes, as shares of the height; `None` for a head of the
    /// source, and if there is no such query.
    pub fn row_of(&self, query: usize) -> Option<Range<f32>> {
        let share = |row: usize| row as f32 / self.queries as f32;
        (!self.is_of_source && query < self.queries).then(|| share(query)..share(query + 1))
    }

    /// Returns the value of a measure; `None` if it is not measured yet, or if nothing in the sentence can be measured.
    pub fn measure(&self, measure: HeadMeasure) -> Option<f32> {
        self.measures[measure.place()]
    }

    /// Returns a text with the head and a measure: `Layer 2, head 1: previous token 0.41`.
    pub fn say(&self, measure: HeadMeasure) -> String {
        let words = measure.words();
        let none = || format!("({})", unmeasured(self.is_measured));
        let found = self.measure(measure).map_or_else(none, |found| format!("{found:.2}"));
        let off = if self.enabled { "" } else { ", switched off" };
        format!("{}{off}: {} {found}", self.title, words.title)
    }

    /// Returns the measures that have a value as text, one per line.
    pub fn lines(&self) -> Vec<String> {
        let line = |measure: HeadMeasure| {
            let found = self.measure(measure)?;
            Some(format!("{} {found:.4}", measure.words().title))
        };
        HeadMeasure::ALL.into_iter().filter_map(line).collect()
    }
}

/// The patterns to look for in each kind of attention: within the source, within the sentence, and from the sentence to
/// the source.
struct Patterns {
    of_source: HeadPatterns,
    of_sentence: HeadPatterns,
    across: HeadPatterns,
}

impl Patterns {
    fn of(model: &ModelSnapshot, labels: &HeadLabels<'_>) -> Self {
        let sentence = &model.sentence;
        let measured = |tokens: &[Token]| tokens.iter().map(Token::measured).collect::<Vec<_>>();
        let own = measured(&sentence.tokens);
        let source = sentence.source.as_deref().map(measured).unwrap_or_default();
        Self {
            of_source: HeadPatterns::within(&source),
            of_sentence: HeadPatterns::within(&own),
            across: HeadPatterns::between(own.len(), &source).aligned(&aligned(model, labels, &source)),
        }
    }

    fn of_head(&self, labels: &HeadLabels<'_>, head: usize) -> &HeadPatterns {
        match (labels.is_of_source(head), labels.keys_are_source(head)) {
            (true, _) => &self.of_source,
            (false, true) => &self.across,
            (false, false) => &self.of_sentence,
        }
    }
}

/// Returns, for each token, the source word that is aligned with the word written after it: by the rule of the target
/// if there is one, or else by the weights of cross-attention.
fn aligned(model: &ModelSnapshot, labels: &HeadLabels<'_>, source: &[MeasuredToken]) -> Vec<usize> {
    if let Objective::Sequence(TargetForm::ByRule(rule)) = &model.made_of.model.objective {
        return (0..model.sentence.tokens.len()).map(|token| rule.order.source_of(token, source.len())).collect();
    }
    let is_cross = |head: &usize| labels.keys_are_source(*head) && !labels.is_of_source(*head);
    let heads = model.sentence.activations.heads().enumerate().filter(|(head, _)| is_cross(head));
    alignment(heads.map(|(_, head)| &head.weights), source)
}

/// Returns whether all heads have been measured. The heads of a recorded text are measured while it is checked.
fn is_measured(model: &ModelSnapshot) -> bool {
    model.checked.as_ref().is_none_or(|checked| checked.is_done())
}
