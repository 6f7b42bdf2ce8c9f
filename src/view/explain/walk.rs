//! The walk through attention: one query in one head, in eight steps, each explained by an entry of its result. The
//! route of a walk through a whole model has the layers in their order, the source's first, and the word and head to
//! follow.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::meaning::is_telling;
use attune_core::kernel::snapshot::meaning::Meaning;
use attune_core::kernel::snapshot::sentence::{Token, is_subscript, word_pieces};
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot};
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::links::STEPS;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::moves::{Point, point};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::vectors::{Similarity, add_scaled};
use attune_engine::pretrained::tokenizer::HIDDEN;
use attune_engine::quantity::{Entry, Index, Owner, OwnerKind, Quantity};

use super::lines::by_size;
use super::print::AND;
use super::reader::{EntryReader, HeadParts};
use super::sentences::recorded_numbers;
use crate::view_model::axes::is_of_states;
use crate::view_model::grid::PatchPlaces;
use crate::view_model::labels::{HeadLabels, Side, strongest};
use crate::view_model::needs::{Needs, missing};
use crate::view_model::stage::{SourceWord, source_words};

/// The steps of the walk, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Embed,
    Project,
    Score,
    Scale,
    Softmax,
    Mix,
    Output,
    Contextual,
}

impl Step {
    pub const ALL: [Self; STEPS] = [
        Self::Embed,
        Self::Project,
        Self::Score,
        Self::Scale,
        Self::Softmax,
        Self::Mix,
        Self::Output,
        Self::Contextual,
    ];

    /// Returns whether the step is about a single head, and not about all heads of the layer.
    pub fn is_of_head(self) -> bool {
        !matches!(self, Self::Embed | Self::Contextual)
    }

    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns how much of the step is shown, from 0 to 1. `walk` is the place on the time line, where whole numbers
    /// are the ends of steps.
    pub fn share(self, walk: f32) -> f32 {
        (walk - self.index() as f32 + 1.0).clamp(0.0, 1.0)
    }

    /// Returns the step that is shown at a place on the time line: the one towards which the walk moves.
    pub fn at(walk: f32) -> Self {
        Self::ALL[(walk.max(0.0).ceil() as usize).min(Self::ALL.len() - 1)]
    }

    /// Returns the name of the step on the time line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embed => "embed",
            Self::Project => "Q K V",
            Self::Score => "scores",
            Self::Scale => "scale, mask",
            Self::Softmax => "softmax",
            Self::Mix => "mix",
            Self::Output => "W_O",
            Self::Contextual => "contextual",
        }
    }

    /// Returns a short sign for the operation of the step.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Embed | Self::Contextual => "•",
            Self::Project => "q k v",
            Self::Score => "q · k",
            Self::Scale => "÷ √d",
            Self::Softmax => "Σ = 1",
            Self::Mix => "Σ a v",
            Self::Output => "W",
        }
    }
}

/// The word and the head that are walked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Position of the query in its sentence.
    pub query: usize,
    /// The head, counted over all blocks, the source's first.
    pub head: usize,
    /// The key of the worked product; `None` stands for the key with the largest weight.
    pub key: Option<usize>,
}

/// The meaning of the columns of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    Entries,
    Keys,
    /// Heads of one block.
    Heads,
    /// Numbers that are explained together, by the length of their vector.
    Whole,
}

/// The numbers of a row of a tensor, or of one column of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRow {
    /// The label beside the row, such as `q(apple₁)`.
    pub label: String,
    /// The name of the tensor in code, such as `Q[0]`.
    pub tensor: String,
    pub values: Vec<f32>,
    pub columns: Columns,
    /// The entry of the first number.
    pub first: Entry,
}

impl NumberRow {
    pub fn entry(&self, column: usize) -> Entry {
        match self.columns {
            Columns::Heads => self.first.of_later_head(column),
            Columns::Whole => self.first,
            Columns::Entries | Columns::Keys => self.first.along(column),
        }
    }
}

/// Each key's number before a step and after it, as bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub before: Option<Quantity>,
    pub after: Quantity,
}

/// A value with a large weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    pub key: usize,
    pub weight: f32,
    pub value: NumberRow,
}

/// The vector that a head adds to the query: its mix through `W_O`.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// The number of the head within its layer, which determines its hue.
    pub own: usize,
    /// The vector; each of its cells is explained by the length of the whole.
    pub row: NumberRow,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepModel {
    pub step: Step,
    /// The equation in LaTeX, with the sizes of this model.
    pub equation: String,
    /// The explanation in words, or what a recording would need for the step.
    pub said: String,
    /// The part that a recording lacks for the step.
    pub needs: Option<Needs>,
    /// The result in one line, with its numbers; `None` if the step has none, or if a recording lacks them.
    pub result: Option<String>,
    /// The entry that explains the step, such as the score of the query and the key.
    pub entry: Entry,
    pub bars: Option<Bars>,
    /// The pairs of entries that rotary positions rotate; empty for all steps but that of the scores.
    pub clocks: Vec<Clock>,
    pub rows: Vec<NumberRow>,
}

/// Two entries of a query and of a key that are rotated together, drawn as the hands of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The indices of the two entries.
    pub entries: [usize; 2],
    /// The hands of the query and of the key, after the rotation by their positions.
    pub query: [f32; 2],
    pub key: [f32; 2],
    /// The angle between the two rotations in radians: `ω (j − i)`.
    pub apart: f64,
    /// The part of `q · k` that the pair adds.
    pub product: f32,
}

impl StepModel {
    /// Joins the words of the step and its result.
    pub fn told(&self) -> String {
        let result = self.result.iter().map(|result| format!("{result}."));
        std::iter::once(self.said.clone()).filter(|said| !said.is_empty()).chain(result).collect::<Vec<_>>().join(" ")
    }
}

/// The whole walk through a head.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkModel {
    pub focus: Focus,
    /// The title of the head, such as `Head 1`.
    pub head: String,
    /// The number of the head within its layer, which determines its hue.
    pub own: usize,
    /// The words of the sentence from which the queries come.
    pub queries: Vec<String>,
    pub keys: Vec<String>,
    pub query_side: Side,
    pub key_side: Side,
    /// The words of the source; empty unless the head's keys are among them.
    pub source: Vec<SourceWord>,
    /// The key of the worked product: the chosen one, or else the one with the largest weight.
    pub key: usize,
    /// The values with the largest weights, the largest first.
    pub carried: Vec<Carried>,
    /// The mixes of the layer's heads for the query, as they are concatenated.
    pub mixes: Vec<NumberRow>,
    /// The additions of the layer's heads to the query: the walk's head first, then the longest.
    pub added: Vec<Added>,
    /// Whether the heads' additions are added to the query's vector instead of replacing it.
    pub has_residual: bool,
    pub steps: Vec<StepModel>,
}

/// Returns whether a head is switched off, so that nothing flows through it.
pub fn is_silent(snapshot: &Snapshot, head: usize) -> bool {
    let modes = snapshot.model.as_ref().map(|model| &model.interventions.heads);
    modes.and_then(|modes| modes.get(head)).is_some_and(|mode| mode.gain() == 0.0)
}

impl WalkModel {
    /// Returns the position of the query in the source; `None` if the query is a word of the stage's sentence.
    pub fn source_query(&self) -> Option<usize> {
        (self.query_side == Side::Source).then_some(self.focus.query)
    }

    /// Builds the walk; `None` if there is no model, or no such head or query.
    pub fn of(snapshot: &Snapshot, focus: Focus) -> Option<Self> {
        let reader = EntryReader::of(snapshot)?;
        let parts = reader.head(focus.head)?;
        let weights = &parts.activations.weights;
        if focus.query >= weights.rows() {
            return None;
        }
        let (queries, keys) = (reader.labels.queries(focus.head).to_vec(), reader.labels.keys(focus.head).to_vec());
        let key = focus.key.filter(|key| *key < keys.len());
        let key = key.unwrap_or_else(|| strongest(weights.row(focus.query).iter().copied()).0);
        let is_of_source = reader.is_of_source(parts.block);
        let key_side = Side::of_source(is_of_source || parts.config.attends_to_source());
        let walked = Walked { reader: &reader, parts: &parts, head: focus.head, query: focus.query, key };
        Some(Self {
            focus,
            head: reader.labels.title(focus.head),
            own: parts.own,
            steps: Step::ALL.iter().map(|step| walked.step(*step)).collect(),
            carried: walked.carried(),
            mixes: walked.mixes(),
            added: walked.added(),
            has_residual: parts.config.residual,
            source: if key_side == Side::Source { walked.source() } else { Vec::new() },
            query_side: Side::of_source(is_of_source),
            key_side,
            key,
            queries,
            keys,
        })
    }

    pub fn step(&self, step: Step) -> &StepModel {
        &self.steps[step.index()]
    }

    /// Returns whether the walk's queries and keys, except for those in the source, are the tokens with these labels on
    /// a stage.
    pub fn fits(&self, labels: impl Iterator<Item = String> + Clone) -> bool {
        let fits =
            |side: Side, words: &[String]| side == Side::Source || labels.clone().eq(words.iter().map(String::as_str));
        fits(self.query_side, &self.queries) && fits(self.key_side, &self.keys)
    }

    /// Returns whether a key takes part in a step. In the first step, only the query's own word does. Hidden keys drop
    /// out when the scores are masked, and keys with almost no weight from the softmax to the output of the head, but
    /// the query's own word stays. In the last step, all keys take part.
    pub fn takes_part(&self, step: Step, key: usize) -> bool {
        /// The least weight that draws a line.
        const WEIGHT_MIN: f32 = 0.02;
        let is_query = self.query_side == self.key_side && key == self.focus.query;
        let is_seen = || self.by_key(Step::Scale, Quantity::Score).get(key) != Some(&f32::NEG_INFINITY);
        let weighs = || self.by_key(Step::Softmax, Quantity::Weight).get(key).is_some_and(|x| *x >= WEIGHT_MIN);
        match step {
            Step::Embed => is_query,
            Step::Project | Step::Score | Step::Contextual => true,
            Step::Scale => is_query || is_seen(),
            Step::Softmax | Step::Mix | Step::Output => is_query || weighs(),
        }
    }

    /// Returns how much a key counts at a place on the time line, from −1 to 1: its product and then its score, both
    /// relative to the largest product, and finally its weight. Between two steps, the value is interpolated.
    pub fn pull(&self, at: f32, key: usize) -> f32 {
        let number = |step: Step, quantity| self.by_key(step, quantity).get(key).copied().filter(|x| x.is_finite());
        let products = self.by_key(Step::Score, Quantity::Product);
        let largest = products.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let score = |step, quantity| (number(step, quantity).unwrap_or(0.0) / largest).clamp(-1.0, 1.0);
        let product = score(Step::Score, Quantity::Product) * Step::Score.share(at);
        let scaled = lerp(product, score(Step::Scale, Quantity::Score), Step::Scale.share(at));
        lerp(scaled, number(Step::Softmax, Quantity::Weight).unwrap_or(0.0), Step::Softmax.share(at))
    }

    /// Returns a number for each key by which a step ranks the keys; empty for the first step.
    fn deciding(&self, step: Step) -> &[f32] {
        match step {
            Step::Embed => &[],
            Step::Score => self.by_key(step, Quantity::Product),
            Step::Scale => self.by_key(step, Quantity::Score),
            _ => self.by_key(Step::Softmax, Quantity::Weight),
        }
    }

    /// Returns whether a key has one of the three largest numbers in a step, which are written beside their points.
    pub fn is_large(&self, step: Step, key: usize) -> bool {
        let row = match step {
            Step::Score | Step::Scale | Step::Softmax | Step::Mix => self.deciding(step),
            _ => return false,
        };
        row.get(key).is_some_and(|own| row.iter().filter(|other| *other > own).count() < LARGEST)
    }

    /// Returns the partners of the chosen word in a step: the other words with the largest numbers, at most three, the
    /// largest first. The picture of the step is about the chosen word and these.
    pub fn partners(&self, step: Step) -> Vec<usize> {
        let row = self.deciding(step);
        let is_itself = |key: usize| self.query_side == self.key_side && key == self.focus.query;
        let mut others: Vec<usize> = (0..row.len()).collect();
        others.retain(|key| !is_itself(*key) && row[*key].is_finite() && self.takes_part(step, *key));
        others.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
        others.truncate(LARGEST);
        others
    }

    /// Returns the numbers of all keys in a step's row of a quantity; empty if the step has no such row.
    pub fn by_key(&self, step: Step, quantity: Quantity) -> &[f32] {
        self.step(step).rows.iter().find(|row| row.first.quantity == quantity).map_or(&[], |row| &row.values)
    }

    /// Writes the number that is shown beside a key's point in a step; `None` if the step shows none.
    pub fn beside(&self, step: Step, key: usize) -> Option<String> {
        let number = |quantity| self.by_key(step, quantity).get(key).copied();
        let written = |x: f32| format!("{x:.2}").replace("inf", "∞").replace('-', "−");
        match step {
            Step::Project if key == self.focus.query && self.query_side == self.key_side => Some("q".to_owned()),
            Step::Project => Some("k v".to_owned()),
            Step::Score => number(Quantity::Product).map(written),
            Step::Scale => number(Quantity::Score).map(written),
            Step::Softmax => number(Quantity::Weight).map(written),
            Step::Mix => number(Quantity::Weight).map(|weight| format!("{} · v", written(weight))),
            Step::Embed | Step::Output | Step::Contextual => None,
        }
    }
}

/// The number of keys whose values are shown one by one in a step.
const LARGEST: usize = 3;

/// A query, a key and a head, whose numbers the steps show.
#[derive(Clone, Copy)]
struct Walked<'a> {
    reader: &'a EntryReader<'a>,
    parts: &'a HeadParts<'a>,
    head: usize,
    query: usize,
    key: usize,
}

impl Walked<'_> {
    fn step(&self, step: Step) -> StepModel {
        let (entry, rows) = (self.entry(step), self.rows(step));
        let needs = self.missing(entry);
        if let Some(part) = needs {
            let (said, equation) = (part.words().to_owned(), String::new());
            return StepModel {
                step,
                equation,
                said,
                needs,
                result: None,
                entry,
                bars: None,
                clocks: Vec::new(),
                rows,
            };
        }
        let mut told = self.reader.said(entry);
        if step == Step::Contextual {
            told.happens.extend(self.reader.pulled_back(self.head, self.query));
        }
        let bars = match step {
            Step::Score => Some(Bars { before: None, after: Quantity::Product }),
            Step::Scale => Some(Bars { before: Some(Quantity::Product), after: Quantity::Score }),
            Step::Softmax => Some(Bars { before: Some(Quantity::Score), after: Quantity::Weight }),
            _ => None,
        };
        let clocks = if step == Step::Score { self.clocks() } else { Vec::new() };
        let mut said = told.without_result().collect::<Vec<_>>().join(" ");
        if self.reader.is_of_file(entry) {
            said = recorded_numbers();
        }
        let equation = self.equation(step);
        StepModel { step, equation, said, needs, result: told.result, entry, bars, clocks, rows }
    }

    /// Returns the part of the recording that is missing for an entry; `None` if nothing is missing, or if the model is
    /// not a recording.
    fn missing(&self, entry: Entry) -> Option<Needs> {
        missing(self.reader.model.recorded.as_deref()?, entry.quantity, self.parts.block)
    }

    fn carried(&self) -> Vec<Carried> {
        let weights = self.parts.activations.weights.row(self.query);
        let keys = by_size(weights.len(), |key| weights[key].into());
        let of = |key: usize| {
            let value = Walked { key, ..*self }.row(Quantity::Value);
            Carried { key, weight: weights[key], value }
        };
        let carried = keys.into_iter().filter(|key| weights[*key] > 0.0).take(LARGEST).map(of);
        carried.filter(|carried| !carried.value.values.is_empty()).collect()
    }

    /// Returns the mixes of all heads of the layer; empty if the values were not recorded.
    fn mixes(&self) -> Vec<NumberRow> {
        let mixes = self.reader.heads_of(self.parts.block).map(|head| Walked { head, ..*self }.row(Quantity::Mix));
        mixes.filter(|mix| !mix.values.is_empty()).collect()
    }

    fn added(&self) -> Vec<Added> {
        let contributions = &self.reader.sentence.contributions[self.parts.block];
        let Some(block) = self.reader.block(self.parts.block) else { return Vec::new() };
        let first = self.head - self.parts.own;
        let length = |own: usize| contributions.head_lengths[own][self.query];
        let mut heads: Vec<usize> = (0..contributions.head_lengths.len()).filter(|own| length(*own) > 0.0).collect();
        heads.sort_by(|a, b| {
            (*b == self.parts.own).cmp(&(*a == self.parts.own)).then(length(*b).total_cmp(&length(*a)))
        });
        let of = |own: usize| {
            let mut values = vec![0.0; self.reader.width()];
            for key in 0..contributions.keys() {
                add_scaled(&mut values, 1.0, &contributions.term(block, own, self.query, key));
            }
            let label = self.reader.labels.title(first + own).to_lowercase();
            let first = Quantity::HeadLength.of_head(first + own, [self.query]);
            Added { own, row: NumberRow { tensor: label.clone(), label, values, columns: Columns::Whole, first } }
        };
        heads.into_iter().take(LARGEST).map(of).collect()
    }

    fn clocks(&self) -> Vec<Clock> {
        let Some(rotary) = &self.parts.config.attention.rotary else { return Vec::new() };
        let [query, key] = [self.parts.activations.query.row(self.query), self.parts.activations.key.row(self.key)];
        let places = self.key as f64 - self.query as f64;
        let clock = |(first, frequency): (usize, f64)| {
            let entries = [first, first + rotary.width / 2];
            let [query, key] = [query, key].map(|row| entries.map(|entry| row[entry]));
            Clock { entries, query, key, apart: frequency * places, product: query[0] * key[0] + query[1] * key[1] }
        };
        rotary.frequencies().into_iter().enumerate().map(clock).collect()
    }

    /// Returns the entry that explains a step.
    fn entry(&self, step: Step) -> Entry {
        let (head, query, key) = (self.head, self.query, self.key);
        let activations = self.parts.activations;
        let largest = |row: &[f32]| strongest(row.iter().map(|x| x.abs())).0;
        match step {
            Step::Embed => Quantity::Input.of_block(self.parts.block, [query, 0]),
            Step::Project => Quantity::Query.of_head(head, [query, largest(activations.query.row(query))]),
            Step::Score => Quantity::Product.of_head(head, [query, key]),
            Step::Scale => Quantity::Score.of_head(head, [query, key]),
            Step::Softmax => Quantity::Weight.of_head(head, [query, key]),
            Step::Mix => Quantity::Mix.of_head(head, [query, largest(activations.mix.row(query))]),
            Step::Output => Quantity::HeadLength.of_head(head, [query]),
            Step::Contextual => Quantity::MoveLength.of_block(self.parts.block, [query]),
        }
    }

    fn equation(&self, step: Step) -> String {
        let formula = |entry: Entry| self.reader.rule_of(entry).map_or_else(String::new, |rule| rule.formula());
        match step {
            Step::Project => {
                let of_key = |quantity: Quantity| quantity.of_head(self.head, [self.key, 0]);
                let formulas = [self.entry(step), of_key(Quantity::Key), of_key(Quantity::Value)].map(formula);
                formulas.into_iter().filter(|formula| !formula.is_empty()).collect::<Vec<_>>().join(AND)
            }
            Step::Output => self.reader.added_formula(self.parts.block, self.query).unwrap_or_default(),
            Step::Contextual => self.after_heads(),
            _ => formula(self.entry(step)),
        }
    }

    /// Writes the equations of a block after its heads: from the sum of the input and what the heads add, to the
    /// output.
    fn after_heads(&self) -> String {
        let norms_sums = self.parts.config.norms_attended() && self.parts.config.feed_forward.is_some();
        let quantities = [Quantity::Summed, Quantity::Attended, Quantity::Joined, Quantity::Output];
        let entries = quantities.into_iter().filter(|quantity| norms_sums || *quantity != Quantity::Attended);
        let entries = entries.map(|quantity| quantity.of_block(self.parts.block, [self.query, 0]));
        let rules = entries.filter(|entry| self.reader.value(*entry).is_some());
        rules.filter_map(|entry| Some(self.reader.rule_of(entry)?.equation())).collect::<Vec<_>>().join(AND)
    }

    /// Builds the rows of numbers for a step, without those that a recording lacks.
    fn rows(&self, step: Step) -> Vec<NumberRow> {
        let of = |quantities: &[Quantity]| quantities.iter().map(|quantity| self.row(*quantity)).collect();
        let mut rows: Vec<NumberRow> = match step {
            Step::Embed => self.static_row().into_iter().chain([self.row(Quantity::Input)]).collect(),
            Step::Project => of(&[Quantity::Query, Quantity::Key, Quantity::Value]),
            Step::Score => of(&[Quantity::Query, Quantity::Key, Quantity::Product]),
            Step::Scale if self.parts.arithmetic.distances.is_some() => {
                of(&[Quantity::Product, Quantity::DistanceBias, Quantity::Score])
            }
            Step::Scale => of(&[Quantity::Product, Quantity::Score]),
            Step::Softmax => of(&[Quantity::Score, Quantity::Exponential, Quantity::Weight]),
            Step::Mix => of(&[Quantity::Weight, Quantity::TermLength, Quantity::Value, Quantity::Mix]),
            Step::Output => [Some(self.row(Quantity::HeadLength)), self.bias_row()].into_iter().flatten().collect(),
            Step::Contextual => of(&[Quantity::Input, Quantity::Output]),
        };
        rows.retain(|row| !row.values.is_empty());
        rows
    }

    /// Builds the row of a quantity for the query, or for the key if the quantity belongs to keys.
    fn row(&self, quantity: Quantity) -> NumberRow {
        let (query, key) = (self.reader.query_word(self.head, self.query), self.reader.key_word(self.head, self.key));
        let label = match quantity {
            Quantity::Input => format!("x({query})"),
            Quantity::Query => format!("q({query})"),
            Quantity::Key => format!("k({key})"),
            Quantity::Value => format!("v({key})"),
            Quantity::Product => "q · k".to_owned(),
            Quantity::DistanceBias => "distance".to_owned(),
            Quantity::Score => "score".to_owned(),
            Quantity::Exponential => "exp(score − max)".to_owned(),
            Quantity::Weight => "weight".to_owned(),
            Quantity::TermLength => "adds".to_owned(),
            Quantity::Mix => format!("mix({query})"),
            Quantity::HeadLength => "length".to_owned(),
            _ => format!("y({query})"),
        };
        let definition = quantity.definition();
        let row = if definition.counts(Index::Query) { self.query } else { self.key };
        let (columns, owner, count) = match quantity {
            Quantity::HeadLength => {
                let heads = self.reader.heads_of(self.parts.block);
                (Columns::Heads, Owner::Head(heads.start), heads.len())
            }
            _ if definition.owner == OwnerKind::Block => {
                (Columns::Entries, Owner::Block(self.parts.block), self.reader.width())
            }
            _ if definition.counts(Index::Query) && definition.counts(Index::Key) => {
                (Columns::Keys, Owner::Head(self.head), self.parts.activations.weights.cols())
            }
            _ => {
                let matrix = self.reader.matrix(quantity, Owner::Head(self.head));
                (Columns::Entries, Owner::Head(self.head), matrix.map_or(0, |matrix| matrix.cols()))
            }
        };
        let tensor = match owner {
            Owner::Head(head) if columns != Columns::Heads => format!("{}[{head}]", definition.letter()),
            _ => definition.letter(),
        };
        let mut first = Entry { quantity, owner, index: [0; 3] };
        first.index[0] = row;
        self.numbers(label, tensor, columns, first, count)
    }

    fn numbers(&self, label: String, tensor: String, columns: Columns, first: Entry, count: usize) -> NumberRow {
        let mut row = NumberRow { label, tensor, values: Vec::new(), columns, first };
        row.values = (0..count).filter_map(|column| self.reader.value(row.entry(column))).collect();
        row
    }

    /// Builds the row of the query's static vector; `None` if the block does not read it.
    fn static_row(&self) -> Option<NumberRow> {
        let block = self.parts.block;
        let is_of_table = self.reader.model.recorded.is_none() && self.reader.is_first(block);
        let word = self.reader.word(block, self.query).filter(|_| is_of_table)?;
        let label = format!("E[{}]", self.reader.space.vocabulary[word]);
        let first = self.reader.static_entry(word, 0);
        Some(self.numbers(label, "E".to_owned(), Columns::Entries, first, self.reader.width()))
    }

    /// Builds the row of `b_O`; `None` if the block has none.
    fn bias_row(&self) -> Option<NumberRow> {
        let bias = TensorName::OutputBias.of_block(self.parts.block);
        self.reader.model.parameters.spec(bias)?;
        let name = || "b_O".to_owned();
        Some(self.numbers(name(), name(), Columns::Entries, Entry::parameter(bias, 0, 0), self.reader.width()))
    }

    /// Returns the words of the source with their places before and after the layer.
    fn source(&self) -> Vec<SourceWord> {
        let (reader, block) = (self.reader, self.parts.block);
        source_words(reader.space, reader.sentence, [block, block + 1])
    }
}

fn lerp(from: f32, to: f32, share: f32) -> f32 {
    // The formula `from + share (to − from)` need not round to `to` at the end.
    (1.0 - share) * from + share * to
}

/// A layer of the walk through a model.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkLayer {
    /// The title, such as `layer 2 of 2` or `cross-attention`; empty if the model has a single layer.
    pub title: String,
    /// Its sign where there is no room for the title.
    pub sign: String,
    /// The numbers of the layer's heads, counted over all blocks.
    pub heads: Range<usize>,
    /// Whether its queries are words of the source instead of the stage's tokens.
    pub is_of_source: bool,
    /// Whether its keys are words of the source.
    pub looks_at_source: bool,
    contributions: Arc<Contributions<f32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RouteModel {
    pub layers: Vec<WalkLayer>,
    /// A sentence on the places before all layers.
    pub about_start: &'static str,
    /// A sentence on how to begin the walk.
    pub how_to_begin: &'static str,
    words: Vec<String>,
    /// The places of each token: static, after each layer, contextual.
    stops: Vec<Vec<Point>>,
    /// The points of the second sentence, as in `stops`.
    second_stops: Vec<Vec<Point>>,
    /// The places of each word of the source: static, and after each of its layers.
    source_stops: Vec<Vec<Point>>,
    /// The distance that each token moves through all layers, in the space of all dimensions.
    lengths: Vec<f32>,
    /// The positions of tokens that are whole words, because a piece does not stand for its word.
    whole: Vec<usize>,
    /// Whether scores get a number for the distance, which may change their order.
    adds_distances: bool,
    /// The positions of those whole words that say something by themselves, or only of the repeated ones among them if
    /// there are any; empty unless the vectors are states of a pretrained model or a recording.
    telling: Vec<usize>,
    /// The position of the source word that counts most for each token.
    counted_most: Vec<usize>,
    /// Words that the lesson highlights where it first shows this sentence.
    spoken_of: Vec<String>,
}

impl RouteModel {
    /// Returns the name of a step of this model on the time line.
    pub fn name(&self, step: Step) -> &'static str {
        if step == Step::Scale && self.adds_distances { "scale, distance" } else { step.name() }
    }

    /// Builds the model; `None` until the lesson has a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.space.as_ref().and(snapshot.model.as_ref())?;
        let (labels, sentence) = (HeadLabels::of(model), &model.sentence);
        let architecture = &model.architecture;
        let sources = architecture.source_blocks.len();
        let blocks = sentence.activations.blocks.len();
        let names = labels.blocks();
        // False for a model with a source, and for a hybrid model, in which some layers have no attention.
        let are_in_order = names.iter().enumerate().all(|(block, name)| *name == format!("Layer {}", block + 1));
        let layer = |(block, config): (usize, &BlockConfig)| {
            let heads = architecture.heads_of(block);
            WalkLayer {
                title: title(&names[block], blocks, are_in_order),
                sign: architecture.block_sign(block),
                is_of_source: block < sources,
                looks_at_source: block < sources || config.attends_to_source(),
                contributions: sentence.contributions[block].clone(),
                heads,
            }
        };
        let stops = |sentence: &SentenceSnapshot| {
            let before = |token: usize, block: usize| match block {
                _ if block <= sources => point(sentence.start.row(token)),
                _ if block == blocks => point(sentence.end.row(token)),
                _ => sentence.moves[block].rest(token),
            };
            let of_token = |token| (0..=blocks).map(|block| before(token, block)).collect();
            (0..sentence.tokens.len()).map(of_token).collect()
        };
        let tokens = sentence.tokens.len();
        let about_start = if model.recorded.is_some() {
            "Each token is at the vector that went into the first layer, as it was recorded."
        } else {
            "Each word is at its static vector; positions in the sentence do not count yet."
        };
        let how_to_begin = if PatchPlaces::of(snapshot).is_some() {
            "Click a patch, then press Space to follow it step by step."
        } else {
            "Click a word, then press Space to follow it step by step."
        };
        let mut route = Self {
            about_start,
            how_to_begin,
            layers: architecture.numbered_blocks().map(layer).collect(),
            words: sentence.tokens.iter().map(|token| token.text.clone()).collect(),
            stops: stops(sentence),
            second_stops: model.second.as_ref().map_or_else(Vec::new, |second| stops(&second.other)),
            source_stops: (0..sentence.source.as_ref().map_or(0, Vec::len))
                .map(|word| sentence.source_points.iter().map(|stop| point(stop.row(word))).collect())
                .collect(),
            lengths: lengths(model)?,
            whole: word_pieces(&sentence.tokens)
                .into_iter()
                .filter(|word| word.len() == 1)
                .map(|word| word.start)
                .collect(),
            adds_distances: sentence.arithmetic.iter().any(|head| head.distances.is_some()),
            telling: Vec::new(),
            counted_most: Vec::new(),
            spoken_of: spoken_of(snapshot),
        };
        if is_of_states(&snapshot.lesson.static_embedding) {
            route.telling = route.telling();
        }
        route.counted_most = (0..tokens).map(|token| route.most_looked_at(model, token)).collect();
        Some(route)
    }

    /// Returns the points of a token on the stage before and after a layer; `None` if there is no such token or layer.
    pub fn way(&self, token: usize, layer: usize) -> Option<(Point, Point)> {
        way(&self.stops, token, layer)
    }

    /// Returns the points of a token of the second sentence before and after a layer; `None` if there is no such token
    /// or layer.
    pub fn second_way(&self, token: usize, layer: usize) -> Option<(Point, Point)> {
        way(&self.second_stops, token, layer)
    }

    /// Returns the points of a word of the source before and after a layer. After the source's own layers, the word
    /// does not move. `None` if there is no such word.
    pub fn source_way(&self, word: usize, layer: usize) -> Option<(Point, Point)> {
        let stops = self.source_stops.get(word)?;
        let last = *stops.last()?;
        let at = |stop: usize| stops.get(stop).copied().unwrap_or(last);
        Some((at(layer), at(layer + 1)))
    }

    /// Returns the places of the stage's tokens after a layer.
    pub fn after(&self, layer: usize) -> impl Iterator<Item = Point> {
        self.stops.iter().filter_map(move |stops| stops.get(layer + 1).copied())
    }

    pub fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Returns the layer to which a head belongs; `None` if there is no such head.
    pub fn layer_of(&self, head: usize) -> Option<usize> {
        self.layers.iter().position(|layer| layer.heads.contains(&head))
    }

    /// Returns the position of the word that is followed by default: the first word of `lit` that occurs, or else the
    /// first that the lesson highlights. Among its occurrences, or among all words if none occurs, the one that moves
    /// most is chosen.
    pub fn word(&self, lit: &[String]) -> Option<usize> {
        let words = || self.words.iter().map(String::as_str);
        let spoken_of = || first_of(lit, words(), &self.lengths).or(first_of(&self.spoken_of, words(), &self.lengths));
        let length = |position: usize| self.lengths[position];
        let whole = || furthest(self.whole.iter().copied(), length);
        let telling = || furthest(self.telling.iter().copied(), length);
        spoken_of().or_else(telling).or_else(whole).or_else(|| furthest(0..self.words.len(), length))
    }

    fn telling(&self) -> Vec<usize> {
        let telling: Vec<usize> = self.whole.iter().copied().filter(|at| is_telling(&self.words[*at])).collect();
        let is_repeated = |at: &usize| telling.iter().any(|other| other != at && self.words[*other] == self.words[*at]);
        let repeated: Vec<usize> = telling.iter().copied().filter(is_repeated).collect();
        if repeated.is_empty() { telling } else { repeated }
    }

    /// Returns the head of a layer that moves its query most; `None` if there is no such layer. `token` is the word on
    /// the stage that is followed.
    pub fn head(&self, layer: usize, token: usize) -> Option<usize> {
        let query = self.query(layer, token);
        let WalkLayer { heads, contributions, .. } = self.layers.get(layer)?;
        let lengths = &contributions.head_lengths;
        let length = |head: usize| lengths.get(head - heads.start).and_then(|of| of.get(query)).copied().unwrap_or(0.0);
        furthest(heads.clone(), length)
    }

    /// Returns the query of a layer: the word of the stage that is followed or, in the source, the word that counts
    /// most for it.
    pub fn query(&self, layer: usize, token: usize) -> usize {
        let is_of_source = self.layers.get(layer).is_some_and(|layer| layer.is_of_source);
        if is_of_source { self.counted_most.get(token).copied().unwrap_or(0) } else { token }
    }

    /// Returns the focus of the walk through a head.
    pub fn focus(&self, token: usize, head: usize, key: Option<usize>) -> Focus {
        let layer = self.layer_of(head).unwrap_or(0);
        Focus { query: self.query(layer, token), head, key }
    }

    fn last_cross_attention(&self) -> Option<usize> {
        self.layers.iter().rposition(|layer| layer.looks_at_source && !layer.is_of_source)
    }

    /// Returns the layer in which the steps begin: the first or, if the model reads a source, that of the head `chosen`
    /// or else the last cross-attention.
    pub fn first_layer(&self, chosen: Option<usize>) -> usize {
        let cross = self.last_cross_attention();
        cross.map_or(0, |cross| chosen.and_then(|head| self.layer_of(head)).unwrap_or(cross))
    }

    /// Returns the source word with the largest weight for a token, in the head of the last cross-attention that moves
    /// the token most; 0 if there is no cross-attention.
    fn most_looked_at(&self, model: &ModelSnapshot, token: usize) -> usize {
        let Some(layer) = self.last_cross_attention() else { return 0 };
        let Some(head) = self.head(layer, token) else { return 0 };
        let (block, _, own) = model.architecture.head(head);
        let weights = model.sentence.activations.blocks[block].heads[own].weights.row(token);
        furthest(0..weights.len(), |key| weights[key]).unwrap_or(0)
    }
}

/// Returns the points of a token before and after a layer; `None` if there is no such token or layer.
fn way(stops: &[Vec<Point>], token: usize, layer: usize) -> Option<(Point, Point)> {
    let stops = stops.get(token)?;
    Some((*stops.get(layer)?, *stops.get(layer + 1)?))
}

/// Returns how far each token moves through all layers, in the space of all dimensions; `None` if the sentence has no
/// block.
pub fn lengths(model: &ModelSnapshot) -> Option<Vec<f32>> {
    let activations = &model.sentence.activations;
    let first = &activations.blocks.get(model.architecture.source_blocks.len())?.input;
    let length = |token| distance(first.row(token), activations.output.row(token));
    Some((0..model.sentence.tokens.len()).map(length).collect())
}

/// Returns the distance between two vectors.
pub(super) fn distance(from: &[f32], to: &[f32]) -> f32 {
    -Similarity::Euclidean.of(from, to)
}

/// Returns the position of the first of the `wanted` words that occurs; `None` if none does. Among its occurrences, the
/// one that moves most is chosen, but the second if the word is wanted twice, and so on.
pub fn first_of<'a>(wanted: &[String], words: impl Iterator<Item = &'a str> + Clone, lengths: &[f32]) -> Option<usize> {
    let word = wanted.iter().find(|word| words.clone().any(|other| other == **word))?;
    let mut occurrences = words.enumerate().filter(|(_, other)| other == word).map(|(position, _)| position);
    match wanted.iter().filter(|other| *other == word).count() {
        1 => furthest(occurrences, |position| lengths[position]),
        count => occurrences.clone().nth(count - 1).or(occurrences.next()),
    }
}

/// Returns the item with the largest length, and the first of them if several are equally long; `None` if there are no
/// items.
fn furthest(of: impl Iterator<Item = usize>, length: impl Fn(usize) -> f32) -> Option<usize> {
    of.reduce(|best, one| if length(one) > length(best) { one } else { best })
}

fn title(name: &str, blocks: usize, are_in_order: bool) -> String {
    match (blocks, are_in_order) {
        (1, _) => String::new(),
        (_, true) => format!("{} of {blocks}", name.to_lowercase()),
        (_, false) => name.to_lowercase(),
    }
}

/// Returns the words that the stage of a model's folder or a recording highlights if it has no stage cell: the hidden
/// word first, whose weights are shown, then the words at the ends of the axis that are in the sentence, as texts of
/// their tokens. Of a picture it is the first token.
pub fn telling_words(snapshot: &Snapshot) -> Vec<String> {
    let (Some(space), Some(model)) = (&snapshot.space, &snapshot.model) else { return Vec::new() };
    let sentence = &model.sentence;
    let texts = |tokens: &[Token]| tokens.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    if PatchPlaces::of(snapshot).is_some() {
        return texts(&sentence.tokens[..sentence.tokens.len().min(1)]);
    }
    // The name of an end begins with the label of its word: `bank₁ · river`.
    let of_end = |name: &str| name.split(" · ").next().unwrap_or(name).trim_end_matches(is_subscript).to_lowercase();
    let ends: Vec<String> = space.basis.meaning().into_iter().flat_map(Meaning::names).map(of_end).collect();
    let mut found: Vec<String> = texts(&sentence.tokens);
    found.retain(|text| HIDDEN.contains(&text.as_str()));
    for pieces in word_pieces(&sentence.tokens) {
        let written = sentence.written_word(&pieces).unwrap_or_default();
        if ends.contains(&written.to_lowercase()) {
            found.push(written.to_owned());
            found.extend(texts(&sentence.tokens[pieces]));
        }
    }
    let mut known = HashSet::new();
    found.retain(|word| known.insert(word.clone()));
    found
}

/// Returns the words that the first stage cell of this sentence highlights, or those of the first stage cell with
/// highlights at all.
fn spoken_of(snapshot: &Snapshot) -> Vec<String> {
    let index = snapshot.model.as_ref().and_then(|model| model.sentence.index);
    let cells = || {
        snapshot.lesson.cells.iter().filter_map(|cell| match &cell.kind {
            CellKind::Stage { sentence, words, .. } if !words.is_empty() => Some((*sentence, words)),
            _ => None,
        })
    };
    let first = cells().find(|(sentence, _)| Some(*sentence) == index).or_else(|| cells().next());
    first.map_or_else(Vec::new, |(_, words)| words.clone())
}
