//! Each step of the walk, told from the snapshot.

use std::ops::Range;

use super::{Columns, Focus, NumberRow, Step, StepModel};
use crate::kernel::snapshot::{ModelSnapshot, Neighbours, SentenceSnapshot, StaticSpace};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::attention::HeadMode;
use crate::numerics::block::BlockConfig;
use crate::numerics::contributions::Holds;
use crate::numerics::model::activations::HeadActivations;
use crate::numerics::params::TensorName;
use crate::quantity::{Entry, Quantity};
use crate::view_model::distance::at_distance;
use crate::view_model::heads::strongest;
use crate::view_model::quoted;

/// What the steps are told from.
pub(super) struct Told<'a> {
    space: &'a StaticSpace,
    model: &'a ModelSnapshot,
    sentence: &'a SentenceSnapshot,
    queries: &'a [String],
    keys: &'a [String],
    query: usize,
    pub key: usize,
    head: usize,
    /// The block of the head, and its number within it.
    block: usize,
    own: usize,
}

/// Below this cosine the first of the neighbours is no nearer than chance has it.
const NEAR: f32 = 0.01;
/// Weights that are named in a sentence.
const NAMED: usize = 3;

impl<'a> Told<'a> {
    pub fn of(
        space: &'a StaticSpace,
        model: &'a ModelSnapshot,
        focus: Focus,
        queries: &'a [String],
        keys: &'a [String],
    ) -> Option<Self> {
        let sentence = &*model.sentence;
        let (block, _, own) = model.architecture.head(focus.head);
        let weights = &sentence.activations.blocks.get(block)?.heads.get(own)?.weights;
        if focus.query >= weights.rows() {
            return None;
        }
        let (strongest, _) = strongest(weights.row(focus.query));
        let key = focus.key.filter(|key| *key < keys.len()).unwrap_or(strongest);
        let Focus { query, head, .. } = focus;
        Some(Self { space, model, sentence, queries, keys, query, key, head, block, own })
    }

    pub fn step(&self, step: Step) -> StepModel {
        let (equation, said, rows) = match step {
            Step::Embed => self.embed(),
            Step::Project => self.project(),
            Step::Score => self.score(),
            Step::Scale => self.scale(),
            Step::Softmax => self.softmax(),
            Step::Mix => self.mix(),
            Step::Output => self.output(),
            Step::Contextual => self.contextual(),
        };
        StepModel { step, equation, said, rows }
    }

    fn name(&self) -> &str {
        &self.queries[self.query]
    }

    /// The query, as a sentence names it.
    fn said_query(&self) -> String {
        quoted(self.name())
    }

    fn said_key(&self) -> String {
        quoted(&self.keys[self.key])
    }

    fn head_row(&self, label: String, symbol: &str, values: &[f32], first: Entry) -> NumberRow {
        NumberRow {
            label,
            tensor: format!("{symbol}[{}]", self.head),
            values: values.to_vec(),
            columns: Columns::Entries,
            first,
        }
    }

    fn by_key(&self, label: &str, symbol: &str, values: &[f32], first: Entry) -> NumberRow {
        NumberRow { columns: Columns::Keys, ..self.head_row(label.to_owned(), symbol, values, first) }
    }

    fn query_entry(&self) -> Entry {
        Quantity::Query.of_head(self.head, [self.query, 0])
    }

    fn key_entry(&self) -> Entry {
        Quantity::Key.of_head(self.head, [self.key, 0])
    }

    fn value_entry(&self) -> Entry {
        Quantity::Value.of_head(self.head, [self.key, 0])
    }

    fn product_entry(&self) -> Entry {
        Quantity::Product.of_head(self.head, [self.query, 0])
    }

    fn distance_entry(&self) -> Entry {
        Quantity::DistanceBias.of_head(self.head, [self.query, 0])
    }

    fn score_entry(&self) -> Entry {
        Quantity::Score.of_head(self.head, [self.query, 0])
    }

    fn weight_entry(&self) -> Entry {
        Quantity::Weight.of_head(self.head, [self.query, 0])
    }

    fn embed(&self) -> (String, String, Vec<NumberRow>) {
        let input = self.sentence.activations.blocks[self.block].input.row(self.query);
        let mut rows = vec![row(format!("x({})", self.name()), "X", input, self.input_entry())];
        let is_first = self.block == 0 || self.block == self.model.architecture.source_blocks.len();
        if !is_first {
            let said = format!(
                "{} comes out of the layer below with {} numbers; they go in here.",
                self.said_query(),
                input.len()
            );
            return ("x_i = y_i^{\\text{below}}".to_owned(), said, rows);
        }
        let tokens = if self.is_of_source() { self.sentence.source.as_deref() } else { Some(&*self.sentence.tokens) };
        let word = tokens.and_then(|tokens| tokens.get(self.query)?.word);
        if let Some(word) = word {
            let first = Quantity::Static.of_model([word, 0]);
            rows.insert(
                0,
                row(format!("E[{}]", self.space.vocabulary[word]), "E", self.space.vectors.row(word), first),
            );
        }
        let has_distances = self.config().attention.distances.is_some();
        let has_positions = !has_distances && word.is_some_and(|word| self.space.vectors.row(word) != input);
        let own = "the same wherever it stands";
        if has_positions {
            let said = format!(
                "{} begins as its static vector of {} numbers, {own}; its place in the sentence, the {}, adds numbers of its own.",
                self.said_query(),
                input.len(),
                ordinal(self.query + 1)
            );
            ("x_i = E_{w_i} + P_i".to_owned(), said, rows)
        } else {
            let said = format!("{} begins as its static vector of {} numbers, {own}.", self.said_query(), input.len());
            ("x_i = E_{w_i}".to_owned(), said, rows)
        }
    }

    fn input_entry(&self) -> Entry {
        Quantity::Input.of_block(self.block, [self.query, 0])
    }

    fn is_of_source(&self) -> bool {
        self.block < self.model.architecture.source_blocks.len()
    }

    fn project(&self) -> (String, String, Vec<NumberRow>) {
        let head = self.activations();
        let (name, key) = (self.name(), &self.keys[self.key]);
        let rows = vec![
            self.head_row(format!("q({name})"), "Q", head.query.row(self.query), self.query_entry()),
            self.head_row(format!("k({key})"), "K", head.key.row(self.key), self.key_entry()),
            self.head_row(format!("v({key})"), "V", head.value.row(self.key), self.value_entry()),
        ];
        let (d_k, d_v) = (head.query.cols(), head.value.cols());
        let config = &self.config().attention;
        if !config.projected {
            let said = format!("Nothing is learned here: each word is its own query, key and value of {d_k} numbers.");
            return ("q_i = k_i = v_i = x_i".to_owned(), said, rows);
        }
        let bias = |symbol: &str| if config.bias { format!(" + b_{symbol}") } else { String::new() };
        let equation =
            format!("q_i = x_i W_Q{}, \\quad k_j = z_j W_K{}, \\quad v_j = z_j W_V{}", bias("Q"), bias("K"), bias("V"));
        let equation = if self.config().attends_to_source() { equation } else { equation.replace("z_j", "x_j") };
        let said = format!(
            "{} asks with a query of {d_k} numbers. Each word offers a key of {d_k} to be found by and a value of {d_v} \
             to hand over; here those of {}.",
            self.said_query(),
            self.said_key()
        );
        (equation, said, rows)
    }

    fn score(&self) -> (String, String, Vec<NumberRow>) {
        let (head, arithmetic) = (self.activations(), self.arithmetic());
        let (name, key) = (self.name(), &self.keys[self.key]);
        let products = arithmetic.products.row(self.query);
        let rows = vec![
            self.head_row(format!("q({name})"), "Q", head.query.row(self.query), self.query_entry()),
            self.head_row(format!("k({key})"), "K", head.key.row(self.key), self.key_entry()),
            self.by_key("q · k", "Q Kᵀ", products, self.product_entry()),
        ];
        let (largest, _) = strongest(products);
        let others = if largest == self.key {
            ", the largest.".to_owned()
        } else {
            format!("; the largest is {}, with {}.", number(products[largest]), quoted(&self.keys[largest]))
        };
        let said = format!(
            "The query meets each key: their entries are multiplied in pairs and added. With {} that makes {}{others}",
            self.said_key(),
            number(products[self.key])
        );
        ("s_{ij} = q_i \\cdot k_j = \\sum_d q_{id}\\, k_{jd}".to_owned(), said, rows)
    }

    fn scale(&self) -> (String, String, Vec<NumberRow>) {
        let (head, arithmetic) = (self.activations(), self.arithmetic());
        let scores = head.scores.row(self.query);
        let hidden = scores.iter().filter(|score| **score == f32::NEG_INFINITY).count();
        let mut rows = vec![
            self.by_key("q · k", "Q Kᵀ", arithmetic.products.row(self.query), self.product_entry()),
            self.by_key("score", "S", scores, self.score_entry()),
        ];
        let comes_to = format!(": {} comes to {}", self.said_key(), number(scores[self.key]));
        let distances = arithmetic.distances.as_ref().map(|distances| distances.row(self.query));
        let scaled = if arithmetic.scale == 1.0 {
            "Nothing is scaled here.".to_owned()
        } else {
            format!(
                "Products of {} pairs grow with their number, so each is multiplied by {}{}.",
                head.query.cols(),
                number(arithmetic.scale),
                if distances.is_some() { "" } else { &comes_to }
            )
        };
        let mut added = String::new();
        if let Some(distances) = distances {
            let is_hidden = scores[self.key] == f32::NEG_INFINITY;
            let comes_to = if is_hidden { "" } else { &comes_to };
            added = format!(" {}{comes_to}.", self.said_distance(distances[self.key]));
            let symbol = if self.temperature() == 1.0 { "B" } else { "B/τ" };
            rows.insert(1, self.by_key("distance", symbol, distances, self.distance_entry()));
        }
        let masked = match hidden {
            0 => "No word is hidden.".to_owned(),
            1 => "One word is hidden: its score is −∞.".to_owned(),
            count => format!("{count} words are hidden: their scores are −∞."),
        };
        (self.scale_equation(), format!("{scaled}{added} {masked}"), rows)
    }

    fn temperature(&self) -> f64 {
        self.model.interventions.temperature_of(self.config())
    }

    fn scale_equation(&self) -> String {
        let config = &self.config().attention;
        let scales = self.model.interventions.scale.unwrap_or(config.scale);
        let has_temperature = self.temperature() != 1.0;
        let under = match (scales, has_temperature) {
            (true, false) => "\\sqrt{d_k}",
            (true, true) => "\\tau\\sqrt{d_k}",
            (false, true) => "\\tau",
            (false, false) => "1",
        };
        let distance = match (config.distances, has_temperature) {
            (None, _) => "",
            (Some(_), false) => " + B_{h,\\,j-i}",
            (Some(_), true) => " + \\frac{B_{h,\\,j-i}}{\\tau}",
        };
        format!("s_{{ij}} \\leftarrow \\frac{{s_{{ij}}}}{{{under}}}{distance} + m_{{ij}}")
    }

    /// `Head 2 adds 0.410 for a word 1 place to the left`
    fn said_distance(&self, distance: f32) -> String {
        let adds = if distance < 0.0 { "takes off" } else { "adds" };
        let (head, at) = (self.own + 1, at_distance(self.key as isize - self.query as isize));
        format!("Head {head} {adds} {} for {at}", number(distance.abs()))
    }

    fn softmax(&self) -> (String, String, Vec<NumberRow>) {
        let (head, arithmetic) = (self.activations(), self.arithmetic());
        let weights = head.weights.row(self.query);
        let exponential = Quantity::Exponential.of_head(self.head, [self.query, 0]);
        let rows = vec![
            self.by_key("score", "S", head.scores.row(self.query), self.score_entry()),
            self.by_key("exp(score − max)", "exp", arithmetic.exponentials.row(self.query), exponential),
            self.by_key("weight", "A", weights, self.weight_entry()),
        ];
        let said = match self.model.interventions.heads.get(self.head) {
            Some(HeadMode::Uniform) => {
                "This head is set to look everywhere alike, so its scores do not count.".to_owned()
            }
            Some(HeadMode::Frozen(_)) => "This head's weights are frozen, so its scores do not count.".to_owned(),
            _ if arithmetic.sums[self.query] == 0.0 => {
                format!("{} sees no word, so all weights are 0.", self.said_query())
            }
            _ => format!(
                "Each score less the largest, {}, goes through exp and is divided by the sum, {}: weights that sum to 1, {}.",
                number(arithmetic.largest[self.query]),
                number(arithmetic.sums[self.query]),
                self.strongest(weights)
            ),
        };
        (
            "\\alpha_{ij} = \\frac{e^{s_{ij} - \\max_k s_{ik}}}{\\sum_l e^{s_{il} - \\max_k s_{ik}}}".to_owned(),
            said,
            rows,
        )
    }

    /// `“phone” 0.32, “launched” 0.21, “new” 0.11`
    fn strongest(&self, weights: &[f32]) -> String {
        let named =
            best(weights, NAMED).into_iter().map(|key| format!("{} {:.3}", quoted(&self.keys[key]), weights[key]));
        named.collect::<Vec<_>>().join(", ")
    }

    fn mix(&self) -> (String, String, Vec<NumberRow>) {
        let head = self.activations();
        let weights = head.weights.row(self.query);
        let mix = Quantity::Mix.of_head(self.head, [self.query, 0]);
        let rows = vec![
            self.by_key("weight", "A", weights, self.weight_entry()),
            self.head_row(format!("v({})", self.keys[self.key]), "V", head.value.row(self.key), self.value_entry()),
            self.head_row(format!("mix({})", self.name()), "M", head.mix.row(self.query), mix),
        ];
        let gain = match self.model.interventions.heads.get(self.head) {
            Some(HeadMode::Off) => Some((number(0.0), " This head is off: its mix counts 0 times.".to_owned())),
            Some(HeadMode::Gain(gain)) => {
                Some((number(*gain), format!(" The mix of this head counts {} times.", number(*gain))))
            }
            _ => None,
        };
        let (factor, counted) = gain.map_or_else(Default::default, |(gain, counted)| (format!("{gain} "), counted));
        let said = format!(
            "Every value counts as much as its weight says, {}; their sum is the mix of {} numbers.{counted}",
            self.strongest(weights),
            head.mix.cols()
        );
        (format!("m_i = {factor}\\sum_j \\alpha_{{ij}}\\, v_j"), said, rows)
    }

    fn output(&self) -> (String, String, Vec<NumberRow>) {
        let contributions = &self.sentence.contributions[self.block];
        let lengths: Vec<f32> = contributions.head_lengths.iter().map(|lengths| lengths[self.query]).collect();
        let config = &self.config().attention;
        let length = number(lengths[self.own]);
        let heads = lengths.len();
        let others = if heads == 1 {
            String::new()
        } else {
            format!(" The {heads} heads add up, each with its own rows of W_O.")
        };
        let (equation, said) = if config.output {
            (
                "\\Delta_i = \\sum_h m_i^h W_O^h + b_O".to_owned(),
                format!(
                    "W_O turns the mix back to the width of a word: head {} moves {} by {length}.{others}",
                    self.own + 1,
                    self.said_query()
                ),
            )
        } else {
            (
                "\\Delta_i = \\operatorname{Concat}(m_i^1, \\dots, m_i^H)".to_owned(),
                format!(
                    "The mixes of the heads stand side by side: head {} moves {} by {length}.",
                    self.own + 1,
                    self.said_query()
                ),
            )
        };
        let tensor = TensorName::OutputBias.of_block(self.block);
        let bias = Entry::parameter(tensor, 0, 0);
        let rows = vec![
            NumberRow {
                label: "length".to_owned(),
                tensor: "‖Σ_j α_j v_j W_O‖".to_owned(),
                values: lengths,
                columns: Columns::Heads,
                first: Quantity::HeadLength.of_head(self.head - self.own, [self.query]),
            },
            row("b_O".to_owned(), "b_O", &contributions.bias, bias),
        ];
        (equation, said, rows)
    }

    fn contextual(&self) -> (String, String, Vec<NumberRow>) {
        let block = &self.sentence.activations.blocks[self.block];
        let config = self.config();
        let output = Quantity::Output.of_block(self.block, [self.query, 0]);
        let rows = vec![
            row(format!("x({})", self.name()), "X", block.input.row(self.query), self.input_entry()),
            row(format!("y({})", self.name()), "Y", block.output.row(self.query), output),
        ];
        let after = match self.sentence.contributions[self.block].holds {
            Holds::AtOutput => String::new(),
            Holds::BeforeNorm => " A norm follows, which stretches the sum.".to_owned(),
            Holds::BeforeFeedForward => " A feed-forward layer follows, and adds its own.".to_owned(),
        };
        let equation = match (config.residual, self.sentence.contributions[self.block].holds) {
            (true, Holds::AtOutput) => "y_i = x_i + \\Delta_i",
            (false, Holds::AtOutput) => "y_i = \\Delta_i",
            (true, Holds::BeforeNorm) => "y_i = \\operatorname{Norm}(x_i + \\Delta_i)",
            (false, Holds::BeforeNorm) => "y_i = \\operatorname{Norm}(\\Delta_i)",
            (true, Holds::BeforeFeedForward) => "a_i = x_i + \\Delta_i, \\quad y_i = a_i + \\operatorname{FFN}(a_i)",
            (false, Holds::BeforeFeedForward) => "a_i = \\Delta_i, \\quad y_i = a_i + \\operatorname{FFN}(a_i)",
        };
        let is_last = self.block + 1 == self.sentence.activations.blocks.len();
        let near = |neighbours: Option<&Neighbours>| {
            let first = neighbours?.by_cosine.first()?;
            let is_near = first.cosine >= NEAR;
            Some(if is_near {
                format!("nearest to {} (cosine {:.3})", quoted(&self.space.vocabulary[first.word]), first.cosine)
            } else {
                "near no word".to_owned()
            })
        };
        let before = near(self.sentence.static_neighbours.get(self.query));
        let now = near(self.sentence.contextual_neighbours.get(self.query));
        let nearest = self.sentence.contextual_neighbours.get(self.query).and_then(|near| near.by_cosine.first());
        let own = self.sentence.tokens.get(self.query).and_then(|token| token.word);
        let itself = nearest.filter(|first| Some(first.word) == own && first.cosine >= NEAR);
        let moved = match (before, now, itself) {
            (_, _, Some(itself)) if is_last => {
                format!(
                    "{} stays: nothing is nearer than its own static vector (cosine {:.3}).",
                    self.said_query(),
                    itself.cosine
                )
            }
            (Some(before), Some(now), None) if is_last => {
                format!("{} was {before} and is now {now}.", self.said_query())
            }
            _ if is_last => format!("This is what comes out for {}.", self.said_query()),
            _ if self.feeds_cross_attention() => {
                format!("This is what {} hands to the cross-attention.", self.said_query())
            }
            _ => format!("This is what {} hands to the layer above.", self.said_query()),
        };
        (equation.to_owned(), format!("{moved}{after}"), rows)
    }

    /// Its outputs are the keys and values of a block that looks at the source, or that block's queries.
    fn feeds_cross_attention(&self) -> bool {
        let architecture = &self.model.architecture;
        let mut next = architecture.numbered_blocks().filter(|(number, _)| *number == self.block + 1);
        architecture.source_blocks.len() == self.block + 1 || next.any(|(_, block)| block.attends_to_source())
    }

    fn config(&self) -> &'a BlockConfig {
        self.model.architecture.head(self.head).1
    }

    fn activations(&self) -> &'a HeadActivations<f32> {
        &self.sentence.activations.blocks[self.block].heads[self.own]
    }

    fn arithmetic(&self) -> &'a Arithmetic<f32> {
        &self.sentence.arithmetic[self.head]
    }
}

fn row(label: String, symbol: &str, values: &[f32], first: Entry) -> NumberRow {
    NumberRow { label, tensor: symbol.to_owned(), values: values.to_vec(), columns: Columns::Entries, first }
}

/// Places of the largest, the largest first.
fn best(values: &[f32], count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    places.truncate(count);
    places
}

fn number(x: f32) -> String {
    format!("{x:.3}").replace('-', "−")
}

fn ordinal(n: usize) -> String {
    const TEENS: Range<usize> = 11..14;
    let ending = match n % 10 {
        _ if TEENS.contains(&(n % 100)) => "th",
        1 => "st",
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
