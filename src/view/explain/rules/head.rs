//! Rules of a head: queries, keys and values, scores, weights, the mix, and what it adds.

use std::ops::Range;

use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::quantity::{Entry, Quantity};

use super::super::clauses::{Fact, Test};
use super::super::print::{call, print};
use super::super::reader::{EntryReader, HeadParts, memory_of};
use super::super::rule::{Bound, Expr, Fold, Function, Number, Rule, Setting, at, at_head};
use super::RowStatistics;

/// The largest number of products in the rule of a normed query or key; more, as in a large model, would take longer
/// than a frame.
const NORMED_MAX: usize = 1 << 16;

/// One of the three projections of a head.
struct Projection<'a> {
    parts: HeadParts<'a>,
    /// The letter of the vector (`q`, `k` or `v`) and that of its token (`i` or `j`).
    letters: (char, char),
    weights: TensorId,
    bias: Option<TensorId>,
    /// The columns of the weights that belong to the head, and the number of columns of all heads.
    columns: Range<usize>,
    all: usize,
    /// The first entry of the vector that the projection reads, and a symbol for that vector unless the entry's own is
    /// used.
    read: (Entry, Option<String>),
    width: usize,
}

impl Projection<'_> {
    /// Builds a column of `x W + b`. A letter counts further columns from there; `_` stands for none.
    fn column(&self, col: usize, letter: char) -> Expr {
        let (entry, symbol) = &self.read;
        let read = |first: Entry, letter: char| {
            let read = at(first, &format!("{}{letter}", self.letters.1));
            if let Some(symbol) = symbol { read.printed_along(symbol.as_str(), letter) } else { read }
        };
        if !self.parts.config.attention.projected {
            return read(entry.along(col), letter);
        }
        let weight = at(Entry::parameter(self.weights, 0, col), &format!("e{letter}"));
        let bias = self.bias.map(|bias| at(Entry::parameter(bias, 0, col), &format!("_{letter}")));
        (read(*entry, 'e') * weight).sum('e', self.width).plus(bias)
    }

    /// Builds a dimension of the projection, after the norm of queries and keys if there is one; `None` if the norm
    /// takes too long to compute.
    fn normed(&self, dim: usize) -> Option<Expr> {
        let column = self.columns.start + dim;
        let own = self.column(column, '_');
        let Some(own_norm) = self.parts.config.attention.query_key_norm.filter(|_| self.letters.0 != 'v') else {
            return Some(own);
        };
        let name = if self.letters.0 == 'q' { TensorName::QueryNormGain } else { TensorName::KeyNormGain };
        let row = if own_norm.each_head { self.columns.clone() } else { 0..self.all };
        if row.len() * self.width > NORMED_MAX {
            return None;
        }
        let gain = at(Entry::parameter(name.of_block(self.parts.block), 0, column - row.start), "");
        let statistics = RowStatistics::of(own_norm.form, self.column(row.start, 'f'), 'f', row.len());
        Some(statistics.norm(own, gain, None))
    }

    /// Writes the projection of a token, with the norm and the rotation that follow.
    fn latex(&self) -> String {
        let attention = &self.parts.config.attention;
        let is_placed = self.letters.0 != 'v' && attention.projected;
        let projected = print(&self.column(self.columns.start, '_'));
        let is_normed = attention.query_key_norm.is_some() && is_placed;
        let normed = if is_normed { call("Norm", &projected) } else { projected };
        if attention.rotary.is_some() && is_placed { format!("R_{} ({normed})", self.letters.1) } else { normed }
    }
}

impl EntryReader<'_> {
    pub(super) fn projection(&self, entry: Entry) -> Option<Rule> {
        let [token, dim, _] = entry.index;
        let projection = self.projection_of(entry)?;
        let attention = &projection.parts.config.attention;
        let bound = Bound::default().with(projection.letters.1, token);
        let rule = |of: Expr| {
            let (letter, token) = projection.letters;
            Rule::new(format!("{letter}_{token}"), of.printed(projection.latex()), bound)
        };
        if entry.quantity == Quantity::Value && projection.parts.mode.given_values().is_some() {
            return Some(Rule { bound, ..Rule::given("v_j = \\text{as it was in the second sentence}") });
        }
        let is_turned = |dim: usize| attention.rotary.is_some_and(|rotary| dim < rotary.width);
        if projection.letters.0 == 'v' || !is_turned(dim) {
            return Some(rule(projection.normed(dim).unwrap_or(Expr::Given(Vec::new()))));
        }
        let rotary = attention.rotary?;
        let (first, second) = (dim % (rotary.width / 2), dim % (rotary.width / 2) + rotary.width / 2);
        let (sine, cosine) = (token as f64 * rotary.frequencies()[first]).sin_cos();
        let [x, y] = match (projection.normed(first), projection.normed(second)) {
            (Some(x), Some(y)) => [x, y],
            _ => self.turned_back(entry, [first, second], [sine, cosine])?,
        };
        let factors =
            if dim == first { [("cos", cosine), ("−sin", -sine)] } else { [("sin", sine), ("cos", cosine)] };
        let [a, b] = factors.map(|(label, value)| Number::new("", label, value));
        Some(rule(Expr::Sum(vec![x * a, y * b])))
    }

    /// Computes two columns before the rotation from their values after it, for a rule that would take too long
    /// otherwise.
    fn turned_back(&self, entry: Entry, columns: [usize; 2], [sine, cosine]: [f64; 2]) -> Option<[Expr; 2]> {
        let turned = columns.map(|dim| self.value(Entry { index: [entry.index[0], dim, 0], ..entry }));
        let (x, y) = (f64::from(turned[0]?), f64::from(turned[1]?));
        let before = |column: usize, value| Number::new("", format!("[{column}] before its rotation"), value).into();
        Some([before(columns[0], x * cosine + y * sine), before(columns[1], y * cosine - x * sine)])
    }

    fn projection_of(&self, entry: Entry) -> Option<Projection<'_>> {
        use TensorName::*;
        let head = entry.owner.number();
        let parts = self.head(head)?;
        let attention = &parts.config.attention;
        let (letters, [w, b], columns, all) = match entry.quantity {
            Quantity::Query => {
                (('q', 'i'), [QueryWeights, QueryBias], attention.query_columns(parts.own), attention.queries_width())
            }
            Quantity::Key => {
                (('k', 'j'), [KeyWeights, KeyBias], attention.key_columns(parts.own), attention.keys_width())
            }
            _ => (('v', 'j'), [ValueWeights, ValueBias], attention.value_columns(parts.own), attention.values_width()),
        };
        let read = if letters.0 != 'q' && parts.config.attends_to_source() {
            let (memory, block) = memory_of(&self.model.architecture)?;
            (memory.of_block(block, [0, 0]), Some(format!("z_{}", letters.1)))
        } else if parts.config.norms_first() {
            let symbol = call("Norm", &format!("x_{}", letters.1));
            (Quantity::Normed.of_block(parts.block, [0, 0]), Some(symbol))
        } else {
            (Quantity::Input.of_block(parts.block, [0, 0]), None)
        };
        let bias = attention.bias.then_some(b.of_block(parts.block));
        let weights = w.of_block(parts.block);
        Some(Projection { letters, weights, bias, columns, all, read, width: self.width(), parts })
    }

    pub fn product(&self, head: usize, query: usize, key: usize) -> Option<Rule> {
        let width = self.head(head)?.activations.query.cols();
        let (q, k) = (at_head(Quantity::Query, head, "id"), at_head(Quantity::Key, head, "jd"));
        let product = (q * k).sum('d', width);
        Some(Rule::new(print(&product), product, Bound::of_pair(query, key)).by_entry("d"))
    }

    /// Returns the divisors of a head's products, in the order of the forward pass: `√d_k` times the layer's own
    /// divisor, then the temperature. A cap on scores is applied before the division by the temperature.
    pub fn divisors(&self, head: usize) -> Option<[Expr; 2]> {
        let parts = self.head(head)?;
        let (attention, changed) = (&parts.config.attention, &self.model.interventions);
        let root = self.key_width(head)?.apply(Function::Root);
        let own = Some(attention.score_divisor).filter(|own| *own != 1.0).map(|own| Number::plain(own).into());
        let temperature = Number::new("\\tau", "", changed.temperature_of(parts.config)).set_by(Setting::Temperature);
        Some([Expr::Product([root].into_iter().chain(own).collect()), temperature.into()])
    }

    /// Builds the number whose root divides the scores: `d_k`, or 1 if scores are not scaled.
    pub fn key_width(&self, head: usize) -> Option<Expr> {
        let parts = self.head(head)?;
        let is_scaled = self.model.interventions.scale.unwrap_or(parts.config.attention.scale);
        let width = if is_scaled { parts.activations.query.cols() as f64 } else { 1.0 };
        Some(Number::new("d_k", "", width).set_by(Setting::KeyWidth).into())
    }

    fn divisor(&self, head: usize) -> Option<Expr> {
        let [untempered, temperature] = self.divisors(head)?;
        Some(untempered * temperature)
    }

    pub(super) fn scale(&self, head: usize) -> Option<Rule> {
        let scale = Expr::from(Number::plain(1.0)) / self.divisor(head)?;
        Some(Rule::new("", scale, Bound::default()))
    }

    /// Builds the distance bias `B[h, j − i] / τ`, or the one of the distance's bucket; `None` if the layer has no
    /// distance bias.
    fn distance_bias(&self, head: usize, [query, key]: [usize; 2]) -> Option<Expr> {
        let parts = self.head(head)?;
        let attention = &parts.config.attention;
        let tensor = TensorName::DistanceBias.of_block(attention.distance_block(parts.block));
        let form = attention.distances?;
        let bias = match form.buckets {
            Some(_) => at(Entry::parameter(tensor, parts.own, form.column(query, key)), "").printed("B_{h,\\,b(j-i)}"),
            None => {
                let last = form.tokens.checked_sub(1)?;
                at(Entry::parameter(tensor, parts.own, last), "_j").less('i').printed("B_{h,\\,j-i}")
            }
        };
        let [_, temperature] = self.divisors(head)?;
        Some(bias / temperature)
    }

    pub(super) fn distance(&self, head: usize, query: usize, key: usize) -> Option<Rule> {
        let bias = self.distance_bias(head, [query, key])?;
        Some(Rule::new("b_{ij}", bias, Bound::of_pair(query, key)))
    }

    /// Returns whether a key is hidden from a query: whether its score is −∞.
    pub fn is_hidden(&self, head: usize, query: usize, key: usize) -> bool {
        self.value(Quantity::Score.of_head(head, [query, key])) == Some(f32::NEG_INFINITY)
    }

    pub(super) fn score(&self, head: usize, query: usize, key: usize) -> Option<Rule> {
        let score = self.score_with(head, [query, key], self.is_hidden(head, query, key))?;
        Some(Rule { bound: Bound::of_pair(query, key), ..score })
    }

    /// Builds the rule of a score, with a mask term of −∞ if the key is hidden.
    pub fn score_with(&self, head: usize, pair: [usize; 2], is_hidden: bool) -> Option<Rule> {
        let product = at_head(Quantity::Product, head, "ij").printed("q_i \\cdot k_j");
        let [untempered, temperature] = self.divisors(head)?;
        let scaled = match self.head(head)?.config.attention.score_cap {
            None => product / (untempered * temperature),
            Some(cap) => {
                let cap = || Expr::from(Number::new("c", "", cap));
                (cap() / temperature) * (product / (cap() * untempered)).apply(Function::Tanh)
            }
        };
        let distance = self
            .distance_bias(head, pair)
            .map(|bias| at_head(Quantity::DistanceBias, head, "ij").printed(print(&bias)));
        let mask = if is_hidden { f64::NEG_INFINITY } else { 0.0 };
        let mask = Number::new("m_{ij}", "mask", mask).set_by(Setting::Mask);
        let score = scaled.plus(distance) + mask;
        Some(Rule::new("s_{ij}", score, Bound::default()))
    }

    /// Builds `e^(s − max s)` of the query and the key that these letters count.
    fn power(&self, head: usize, query: char, key: char) -> Option<Expr> {
        let keys = self.head(head)?.activations.scores.cols();
        let score = |key: char| at_head(Quantity::Score, head, &format!("{query}{key}"));
        let largest = score('k').over(Fold::Largest, 'k', keys);
        Some((score(key) - largest).apply(Function::Exp))
    }

    /// Builds an entry of the exponentials, which formulas write as a power.
    fn exponential_of(&self, head: usize, query: char, key: char) -> Option<Expr> {
        let printed = print(&self.power(head, query, key)?);
        Some(at_head(Quantity::Exponential, head, &format!("{query}{key}")).printed(printed))
    }

    fn total(&self, head: usize, query: char) -> Option<Expr> {
        let keys = self.head(head)?.activations.scores.cols();
        Some(self.exponential_of(head, query, 'l')?.sum('l', keys))
    }

    pub(super) fn exponential(&self, head: usize, query: usize, key: usize) -> Option<Rule> {
        Some(Rule::new("", self.power(head, 'i', 'j')?, Bound::of_pair(query, key)))
    }

    pub(super) fn row_sum(&self, head: usize, query: usize) -> Option<Rule> {
        Some(Rule::new("", self.total(head, 'i')?, Bound::default().with('i', query)))
    }

    pub(super) fn weight(&self, head: usize, query: usize, key: usize) -> Option<Rule> {
        let bound = Bound::of_pair(query, key);
        let mut rules = self.weight_rules(head, query)?.into_iter();
        let (_, rule) = rules.find(|(when, _)| self.hold(when, head, &bound))?;
        Some(Rule { bound, ..rule })
    }

    /// Builds the rules of a query's weights for all modes of a head. The first rule whose conditions hold applies.
    pub fn weight_rules(&self, head: usize, query: usize) -> Option<[(Vec<Test>, Rule); 8]> {
        let scores = self.head(head)?.activations.scores.row(query);
        let seen = scores.iter().filter(|score| **score > f32::NEG_INFINITY).count();
        let seen = Number::new("\\text{keys in sight}", "", seen as f64).set_by(Setting::Seen);
        let share = Expr::from(Number::plain(1.0)) / seen;
        let when = |facts: &[Fact]| facts.iter().copied().map(Test::from).collect::<Vec<_>>();
        let given = |formula: &str| Rule::given(format!("\\alpha_{{ij}} = {formula}"));
        let computed = |of: Expr| Rule::new("\\alpha_{ij}", of, Bound::default());
        let without_edges = |of: &str| {
            given(&format!(
                "\\frac{{\\alpha'_{{ij}}}}{{\\sum_l \\alpha'_{{il}}}}, \\quad \\alpha' = \\text{{as it was {of}, \
                 without removed edges}}"
            ))
        };
        let [frozen, second] = ["when frozen", "in the second sentence"];
        let whole = |of: &str| given(&format!("\\text{{as it was {of}}}"));
        Some([
            (when(&[Fact::Second, Fact::LacksEdges]), without_edges(second)),
            (when(&[Fact::Second]), whole(second)),
            (when(&[Fact::Frozen, Fact::LacksEdges]), without_edges(frozen)),
            (when(&[Fact::Frozen]), whole(frozen)),
            (when(&[Fact::Mean]), computed(self.mean_weight(head)?)),
            (when(&[Fact::Uniform, Fact::Hidden]), given("0")),
            (when(&[Fact::Uniform]), computed(share)),
            (Vec::new(), computed(self.softmax(head, 'i')?)),
        ])
    }

    /// Builds the mean of a key's weights over all queries.
    fn mean_weight(&self, head: usize) -> Option<Expr> {
        let queries = self.head(head)?.activations.scores.rows();
        let count = Number::new("T", "", queries as f64).set_by(Setting::Queries);
        let share = Expr::from(Number::plain(1.0)) / count;
        Some(share * self.softmax(head, 'q')?.sum('q', queries))
    }

    /// Builds a weight that is the softmax of the scores, for the key `j` and the query to which a letter refers.
    fn softmax(&self, head: usize, query: char) -> Option<Expr> {
        let (over, total) = (self.exponential_of(head, query, 'j')?, self.total(head, query)?);
        Some(over / at_head(Quantity::RowSum, head, &query.to_string()).printed(print(&total)))
    }

    /// Returns the factor by which the learner multiplies a head's mix; 1 if it is unchanged.
    fn gain(&self, head: usize) -> Option<Number> {
        let entry = Quantity::Gain.of_head(head, []);
        let gain = Number::new("g", self.short(entry), self.value(entry)?.into()).set_by(Setting::Gain);
        Some(Number { entry: Some(entry), ..gain })
    }

    pub(super) fn mix(&self, head: usize, query: usize, dim: usize) -> Option<Rule> {
        let keys = self.head(head)?.activations.weights.cols();
        let weight = at_head(Quantity::Weight, head, "ij");
        let term = (weight * at_head(Quantity::Value, head, "jd")).times(self.gain(head));
        let mix = term.sum('j', keys);
        Some(Rule::new("m_i", mix, Bound::default().with('i', query).with('d', dim)))
    }

    /// Returns the column of a head's values that becomes this dimension of the concatenated mixes; `None` if the
    /// dimension belongs to another head.
    pub fn value_column(&self, head: usize, dim: usize) -> Option<usize> {
        let parts = self.head(head)?;
        let columns = parts.config.attention.mix_columns(parts.own);
        columns.contains(&dim).then(|| dim - columns.start)
    }

    /// Builds what a key adds to a query through a head: `α v W_O`, or `α v` if the layer has no output projection.
    fn added_by_key(&self, head: usize) -> Option<Expr> {
        let parts = self.head(head)?;
        let attention = &parts.config.attention;
        let weight = at_head(Quantity::Weight, head, "ij");
        let value = |letters| at_head(Quantity::Value, head, letters);
        if !attention.output {
            return Some(weight * value("jc") * self.gain(head)?);
        }
        let (tensor, columns) = (TensorName::OutputWeights.of_block(parts.block), attention.mix_columns(parts.own));
        let rows = at(Entry::parameter(tensor, columns.start, 0), "cd");
        Some((weight * value("jc") * rows * self.gain(head)?).sum('c', columns.len()))
    }

    pub(super) fn term(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Rule> {
        let term = self.added_by_key(head)?;
        let bound = Bound::of_pair(query, key).with('d', dim);
        if self.head(head)?.config.attention.output {
            return Some(Rule::new(print(&term), term, bound).by_entry("cd"));
        }
        Some(match self.value_column(head, dim) {
            Some(column) => Rule::new("", term, bound.with('c', column)),
            // Each dimension belongs to one head: the others add nothing.
            None => Rule::given(print(&term)),
        })
    }

    /// Builds the rule of what a key adds through a head, after the norms at the block's output.
    pub(super) fn arrow(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Rule> {
        let parts = self.head(head)?;
        let term = self.sentence.contributions[parts.block].term(self.block(parts.block)?, parts.own, query, key);
        let definition = format!("t = {}", print(&self.added_by_key(head)?));
        let entry = at_head(Quantity::Term, head, "ijd").printed_along("t", 'd').with_definition(definition);
        let arrow = self.held(parts.block, query, 0, entry, term)?;
        Some(Rule::new("", arrow, Bound::of_pair(query, key).with('d', dim)))
    }

    /// Builds what a key adds to a query through a head: its term of the sum or, if a norm follows, that term after the
    /// norm.
    fn term_of(&self, head: usize) -> Option<Expr> {
        let printed = print(&self.added_by_key(head)?);
        if self.head(head)?.is_normed_after() {
            return Some(at_head(Quantity::Arrow, head, "ijd").printed(format!("L({printed})")));
        }
        Some(at_head(Quantity::Term, head, "ijd").printed(printed))
    }

    /// Builds what a key adds to a query through each head of a block, counted by the letter `h`: before the block's
    /// norms, or after them.
    fn of_each_head(&self, block: usize, is_normed: bool) -> Option<Expr> {
        let first = self.heads_of(block).start;
        let weight = at_head(Quantity::Weight, first, "ij").of_each_head();
        let value = at_head(Quantity::Value, first, "jc").of_each_head();
        let weights = TensorName::OutputWeights.of_block(block);
        let has_output = self.config(block)?.attention.output;
        let output = has_output.then(|| at(Entry::parameter(weights, 0, 0), "cd").of_each_head());
        let product = print(&(weight * value).times(output));
        let has_gain = self.heads_of(block).any(|head| self.gain(head).is_some_and(|gain| gain.value != 1.0));
        let product = if has_gain { format!("g^h \\, {product}") } else { product };
        let (quantity, printed) =
            if is_normed { (Quantity::Arrow, format!("L({product})")) } else { (Quantity::Term, product) };
        Some(at(quantity.of_head(first, [0, 0, 0]), "ijd").of_each_head().printed(printed))
    }

    /// Builds the sum of the vectors of a block's heads, or their concatenation if the layer has no output projection.
    fn over_heads(&self, of_head: Expr, block: usize, is_normed: bool) -> Option<Expr> {
        let is_sum = is_normed || self.config(block)?.attention.output;
        Some(of_head.over(if is_sum { Fold::Sum } else { Fold::Concatenation }, 'h', self.heads_of(block).len()))
    }

    /// Builds the sum of what all keys add to a query through all heads of a block: before the block's norms, or after
    /// them.
    pub(super) fn added_by_heads(&self, block: usize, is_normed: bool) -> Option<Expr> {
        let keys = self.sentence.contributions.get(block)?.keys();
        self.over_heads(self.of_each_head(block, is_normed)?.sum('j', keys), block, is_normed)
    }

    pub fn term_length(&self, head: usize, query: usize, key: usize) -> Option<Rule> {
        let length = self.term_of(head)?.length('d', self.width());
        Some(Rule::new("", length, Bound::of_pair(query, key)))
    }

    pub(super) fn word_length(&self, block: usize, query: usize, key: usize) -> Option<Rule> {
        let is_normed = self.norms_after(block) > 0;
        let added = self.over_heads(self.of_each_head(block, is_normed)?, block, is_normed)?;
        let length = added.length('d', self.width());
        Some(Rule::new("", length, Bound::of_pair(query, key)))
    }

    pub(super) fn head_length(&self, quantity: Quantity, head: usize, query: usize) -> Option<Rule> {
        let keys = self.head(head)?.activations.weights.cols();
        let term = match quantity {
            Quantity::HeadLength => at_head(Quantity::Term, head, "ijd").printed(print(&self.added_by_key(head)?)),
            _ => self.term_of(head)?,
        };
        let length = term.sum('j', keys).length('d', self.width());
        Some(Rule::new("", length, Bound::default().with('i', query)))
    }
}
