//! Rules of a block around its heads: the input, the norms, the vectors that are added, and the output.

use std::ops::Range;

use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::norm::NormKind;
use attune_engine::numerics::params::pairs::{
    ATTENTION_NORM, ATTENTION_OUTPUT_NORM, FORWARD_NORM, FORWARD_OUTPUT_NORM,
};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity};

use super::super::print::{call, print, print_with};
use super::super::reader::{EntryReader, part_index};
use super::super::rule::{Bound, Expr, Function, Number, Rule, at, vector};
use super::{RowStatistics, gain_of};

/// The numbers of a block's norms, for symbols and for labels; they are left out if the block has a single norm.
const NORM_NUMBERS: [[&str; 2]; 3] = [["_1", "₁"], ["_2", "₂"], ["_3", "₃"]];

/// Creates entries of the tokens of a block. The letter `i` indexes the token, and `letter` the dimension.
fn of_tokens(quantity: Quantity, block: usize, letter: char) -> Expr {
    at(quantity.of_block(block, [0, 0]), &format!("i{letter}"))
}

/// Returns the gain and the shift of a norm; those that belong to a block are the ones of the given block.
fn in_block(names: [TensorName; 2], block: usize) -> [TensorId; 2] {
    names.map(|name| name.of_block(if name.is_of_a_block() { block } else { 0 }))
}

impl EntryReader<'_> {
    pub fn width(&self) -> usize {
        self.model.architecture.width
    }

    pub fn heads_of(&self, block: usize) -> Range<usize> {
        self.model.architecture.heads_of(block)
    }

    /// Returns the patch of a token in a block's input; `None` if it is not patched.
    pub fn patch_of(&self, block: usize, token: usize) -> Option<&Patch<f32>> {
        let patch = self.model.interventions.patch.as_ref();
        patch.filter(|patch| (patch.block, patch.position) == (block, token))
    }

    /// Returns the rule of an entry that is the output of a norm; `None` for any other entry.
    pub(super) fn norm_before(&self, entry: Entry) -> Option<Rule> {
        let (block, [token, dim, _]) = (entry.owner.number(), entry.index);
        let config = self.config(block)?;
        let is_of_words = self.is_first(block) && self.patch_of(block, token).is_none();
        let (architecture, tower) = (&self.model.architecture, self.model.architecture.tower_of(block));
        let is_post = config.norm == Norm::Post;
        let of_block = |quantity: Quantity| quantity.of_block(block, [0, 0]);
        let (symbol, first, names) = match entry.quantity {
            Quantity::Final => ("", of_block(Quantity::Output), architecture.final_norm_of(tower)?),
            Quantity::Input if architecture.embedding_norm && is_of_words => {
                ("x_i", of_block(Quantity::Embedded), architecture.embedding_norm_of(tower)?)
            }
            Quantity::Normed => ("n_i", of_block(Quantity::Input), in_block(ATTENTION_NORM, block)),
            Quantity::Attended => ("b_i", of_block(Quantity::Summed), in_block(ATTENTION_NORM, block)),
            Quantity::Output if is_post && config.has_forward_norm() => {
                ("y_i", of_block(Quantity::Joined), in_block(FORWARD_NORM, block))
            }
            Quantity::Output if is_post && config.attention_norm => {
                ("y_i", of_block(Quantity::Summed), in_block(ATTENTION_NORM, block))
            }
            _ => return None,
        };
        let is_of_block = names[0].name.is_of_a_block();
        let form = if is_of_block { config.norm_form } else { architecture.norm_form };
        let row = at(first, "id");
        let latex = call("Norm", &print(&row));
        let normed = RowStatistics::norm_row(form, row, ('d', self.width()), names);
        let definition = format!("{latex}_d = {}", print_with("d", &normed));
        let normed = normed.printed(latex).with_definition(definition);
        Some(Rule::new(symbol, normed, Bound::default().with('i', token).with('d', dim)))
    }

    /// Returns the rule of an entry of the fixed positions, which is a sine or a cosine.
    pub(super) fn position(&self, place: usize, dim: usize) -> Rule {
        const BASE: f64 = 10_000.0;
        let positions = self.model.architecture.positions;
        let (wave, is_sine) = positions.wave(dim, self.width()).unwrap_or_default();
        let symbol = |latex: &str, value: usize| Expr::from(Number::new(latex, "", value as f64));
        let own = symbol("d", dim);
        // The exponent's numerator: an even number that the sine and the cosine of a pair share.
        let pair = match positions {
            Positions::SinusoidalInHalves if is_sine => own * Number::plain(2.0),
            Positions::SinusoidalInHalves => (own - Number::plain((dim - wave) as f64)) * Number::plain(2.0),
            _ if is_sine => own,
            _ => own - Number::plain(1.0),
        };
        let wave = Expr::from(Number::plain(BASE)).power(pair / symbol("D", self.width()));
        let function = if is_sine { Function::Sin } else { Function::Cos };
        Rule::new("P_{td}", (symbol("t", place) / wave).apply(function), Bound::default())
    }

    /// Builds the sum with which a token begins: its static vector, its position and its segment.
    fn embeddings(&self, block: usize, token: usize, dim: usize) -> Expr {
        let architecture = &self.model.architecture;
        let scale = architecture.embedding_scale.map(|scale| Number::new("c", "scale", scale));
        let of_word = |word| at(self.static_entry(word, dim), "").printed("E_{w_i}").times(scale.clone());
        let mut terms: Vec<Expr> = self.word(block, token).map(of_word).into_iter().collect();
        terms.extend(self.position_of(block, token, dim).map(|entry| at(entry, "").printed("P_i")));
        if architecture.segments.is_some() {
            let piece = self.sentence.tokens.get(token).and_then(|token| token.piece.as_ref());
            let segment = piece.map_or(0, |piece| piece.segment);
            terms.push(at(Entry::parameter(TensorName::Segments.into(), segment, dim), "").printed("S_i"));
        }
        Expr::Sum(terms)
    }

    /// Returns the entry of a token's position; `None` if the model adds no positions.
    fn position_of(&self, block: usize, token: usize, dim: usize) -> Option<Entry> {
        let architecture = &self.model.architecture;
        match architecture.positions {
            Positions::None => None,
            Positions::Sinusoidal | Positions::SinusoidalInHalves => Some(Quantity::Position.of_model([token, dim])),
            Positions::Learned => {
                let tokens =
                    if self.is_of_source(block) { self.sentence.source.as_deref()? } else { &self.sentence.tokens };
                let words: Vec<Option<usize>> = tokens.iter().map(|token| token.word).collect();
                let places: Vec<usize> = (0..words.len()).collect();
                let row = *architecture.position_rows.rows(&words, &places).get(token)?;
                let tensor = architecture.positions_of(architecture.tower_of(block));
                Some(Entry::parameter(TensorId::from(tensor), row, dim))
            }
        }
    }

    pub(super) fn embedded(&self, block: usize, token: usize, dim: usize) -> Rule {
        Rule::new("e_i", self.embeddings(block, token, dim), Bound::default())
    }

    pub(super) fn input(&self, block: usize, token: usize, dim: usize) -> Rule {
        if self.patch_of(block, token).is_some() {
            return Rule::given("x_i = x'_j");
        }
        let input = match block.checked_sub(1).filter(|_| !self.is_first(block)) {
            Some(below) => at(Quantity::Output.of_block(below, [token, dim]), "").printed("y_i^{\\text{below}}"),
            None => self.embeddings(block, token, dim),
        };
        Rule::new("x_i", input, Bound::default())
    }

    /// Builds what the attention of a block adds to token `i`, as an expression of the dimension `d`.
    fn added(&self, block: usize, token: usize) -> Option<Expr> {
        let bias = TensorName::OutputBias.of_block(block);
        let has_bias = self.model.parameters.spec(bias).is_some();
        let sum = self.added_by_heads(block, false)?.plus(has_bias.then(|| at(Entry::parameter(bias, 0, 0), "_d")));
        if !self.config(block)?.output_norms {
            let definition = format!("\\Delta_i = {}", print(&sum));
            return Some(sum.printed("\\Delta_i").with_definition(definition));
        }
        let values = self.block(block)?.branch.as_ref()?.row(token).to_vec();
        let definition = format!("\\Delta_i = {}", call("Norm", &print(&sum)));
        let row = vector("\\Delta", "Δ", 'd', values).made_of(sum);
        let (form, names) = (self.config(block)?.norm_form, in_block(ATTENTION_OUTPUT_NORM, block));
        let normed = RowStatistics::norm_row(form, row, ('d', self.width()), names);
        Some(normed.printed("\\Delta_i").with_definition(definition))
    }

    /// Writes the equation of `Δ`, which the attention of a block adds to a token.
    pub fn added_formula(&self, block: usize, token: usize) -> Option<String> {
        let Expr::Named(added) = self.added(block, token)? else { return None };
        Some(added.definition)
    }

    pub(super) fn summed(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        let input = self.config(block)?.residual.then(|| of_tokens(Quantity::Input, block, 'd'));
        let sum = Expr::Sum(input.into_iter().chain([self.added(block, token)?]).collect());
        Some(Rule::new("a_i", sum, Bound::default().with('i', token).with('d', dim)))
    }

    /// Builds the rule of the sum of a token's vector and the feed-forward layer, in a block that norms after its sums.
    pub(super) fn joined(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        let config = self.config(block)?;
        let attended = config.residual.then(|| of_tokens(attended(config), block, 'd'));
        let terms = attended.into_iter().chain([self.feed_forward(block, token, dim)?]);
        Some(Rule::new("c_i", Expr::Sum(terms.collect()), Bound::default().with('i', token).with('d', dim)))
    }

    /// Builds the rule of the output of a block that has no norm after its sums.
    pub(super) fn output(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        let config = self.config(block)?;
        let summed = of_tokens(Quantity::Summed, block, 'd');
        let bound = Bound::default().with('i', token).with('d', dim);
        if config.feed_forward.is_none() {
            return Some(Rule::new("y_i", summed, bound));
        }
        let part = self.part_of_output(block, BlockPart::FeedForward, [token, dim])?;
        let symbol = if config.residual { print(&part) } else { format!("({})", print(&part)) };
        let entry = Quantity::Part.of_block(block, [part_index(BlockPart::FeedForward), token, dim]);
        Some(Rule::new("y_i", summed + at(entry, "").printed(symbol), bound))
    }
}

/// The feed-forward layer.
impl EntryReader<'_> {
    /// Builds what a block's feed-forward layer adds to one entry, after the layer's own output norm if it has one.
    fn feed_forward(&self, block: usize, token: usize, dim: usize) -> Option<Expr> {
        let config = self.config(block)?;
        let bound = Bound::default().with('i', token).with('d', dim);
        let read = self.fed(block, &bound)?;
        let made = self.hidden_unit(block, &read)?;
        let hidden = at(Quantity::Hidden.of_block(block, [0, 0]), "iu");
        let hidden = hidden.printed("h").with_definition(format!("h = {}", print(&made)));
        let weights = at(Entry::parameter(TensorName::ForwardWeights.of_block(block), 0, 0), "ud");
        let units = config.feed_forward?;
        let added = (hidden * weights).sum('u', units).plus(self.bias(TensorName::ForwardBias, block, 'd'));
        let fed = call("FFN", &print(&read));
        let definition = format!("{fed} = {}", print(&added));
        if !config.output_norms {
            return Some(added.printed(fed).with_definition(definition));
        }
        let row = self.row(&fed, "F", added, ('d', self.width()), &bound);
        let names = in_block(FORWARD_OUTPUT_NORM, block);
        let normed = row.map(|row| RowStatistics::norm_row(config.norm_form, row, ('d', self.width()), names));
        // The row of a large model takes too long to compute.
        let normed = normed.unwrap_or(Expr::Given(Vec::new()));
        Some(normed.printed(call("Norm", &fed)).with_definition(definition))
    }

    /// Builds the vector that a block's feed-forward layer reads; the letter `e` indexes its dimensions.
    fn fed(&self, block: usize, bound: &Bound) -> Option<Expr> {
        let config = self.config(block)?;
        let quantity = if config.branches == Branches::Sequential { attended(config) } else { Quantity::Input };
        let own = of_tokens(quantity, block, 'e');
        let latex = call("Norm", &print(&own));
        match (config.norm, config.branches) {
            (Norm::Pre, Branches::ParallelOneNorm) => {
                Some(of_tokens(Quantity::Normed, block, 'e').printed_along(latex, 'e'))
            }
            (Norm::Pre, _) => {
                let statistics = RowStatistics::of(config.norm_form, own.clone(), 'e', self.width());
                let normed = statistics.held(self, bound)?.norm_by(own, in_block(FORWARD_NORM, block), 'e');
                self.row(&latex, "Norm", normed, ('e', self.width()), bound)
            }
            _ => Some(own),
        }
    }

    pub(super) fn hidden(&self, block: usize, token: usize, unit: usize) -> Option<Rule> {
        let bound = Bound::default().with('i', token).with('u', unit);
        Some(Rule::new("h", self.hidden_unit(block, &self.fed(block, &bound)?)?, bound))
    }

    /// Builds the hidden unit `u` of the feed-forward layer that reads the given vector.
    fn hidden_unit(&self, block: usize, read: &Expr) -> Option<Expr> {
        let config = self.config(block)?;
        let affine = |weights: TensorName, bias: TensorName| {
            let weights = at(Entry::parameter(weights.of_block(block), 0, 0), "eu");
            (read.clone() * weights).sum('e', self.width()).plus(self.bias(bias, block, 'u'))
        };
        let units = affine(TensorName::HiddenWeights, TensorName::HiddenBias);
        let activation = Function::Activation(config.activation);
        if !config.gated {
            return Some(units.apply(activation));
        }
        Some(affine(TensorName::GateWeights, TensorName::GateBias).apply(activation) * units)
    }

    /// Builds an entry of a bias; `None` if the block does not have it.
    fn bias(&self, name: TensorName, block: usize, letter: char) -> Option<Expr> {
        let bias = name.of_block(block);
        self.model.parameters.spec(bias).map(|_| at(Entry::parameter(bias, 0, 0), &format!("_{letter}")))
    }
}

/// Rules of the arrows at a block's output: each term of the sum after the block's norms, and the terms that no head
/// adds.
impl EntryReader<'_> {
    /// Returns the number of norms through which the terms of a block's heads pass; 0 if there is no such block.
    pub fn norms_after(&self, block: usize) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms().len())
    }

    /// Returns how many norms of a block, counted from the first, a part does not pass through.
    pub fn norms_before(&self, block: usize, part: BlockPart) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms_before(part))
    }

    /// Builds the entry `d` of a vector after the norms of a block, without the first `skip`, with their deviations
    /// held constant. `own` is that entry before the norms, and is returned unchanged if no norm is left.
    pub(super) fn held(
        &self,
        block: usize,
        query: usize,
        skip: usize,
        own: Expr,
        mut vector: Vec<f32>,
    ) -> Option<Expr> {
        let norms = self.sentence.contributions.get(block)?.norms();
        if norms.len() <= skip {
            return Some(own);
        }
        let (own, mut held) = (print(&own), own);
        for (norm, [below, label]) in norms.iter().zip(NORM_NUMBERS).skip(skip) {
            let [below, label] = if norms.len() == 1 { ["", ""] } else { [below, label] };
            let [latex, sign] = if norm.form.kind == NormKind::Layer { ["\\sigma", "σ"] } else { ["\\rho", "ρ"] };
            let deviation = 1.0 / f64::from(norm.inverse_deviation(query));
            if norm.form.kind == NormKind::Layer {
                let mean = vector.iter().map(|x| f64::from(*x)).sum::<f64>() / vector.len() as f64;
                held = held - Number::new(format!("\\mu{below}"), format!("mean{label}"), mean);
            }
            let deviation = Number::new(format!("{latex}{below}"), format!("{sign}{label}"), deviation);
            let gain = at(Entry::parameter(norm.names[0].of_block(block), 0, 0), "_d");
            held = (held / deviation) * gain_of(norm.form, gain);
            norm.carry(query, &mut vector);
        }
        let norm = if skip == 0 { "L".to_owned() } else { format!("L_{}", skip + 1) };
        let latex = format!("{norm}({own})");
        let definition = format!("{latex}_d = {}", print_with("d", &held));
        Some(held.printed(latex).with_definition(definition))
    }

    /// Builds the entry `d` of a term that no head adds, in a block's output at the token `i`.
    fn part_of_sum(&self, block: usize, part: BlockPart, query: usize) -> Option<Expr> {
        let of_part = self.part_of_output(block, part, [query, 0])?;
        if part == BlockPart::Bias && self.norms_after(block) == 0 {
            return Some(of_part);
        }
        Some(at(Quantity::Part.of_block(block, [part_index(part), 0, 0]), "_id").printed(print(&of_part)))
    }

    /// Builds the rule of a term of a block's output that no head adds.
    pub(super) fn part_rule(&self, block: usize, part: BlockPart, query: usize, dim: usize) -> Option<Rule> {
        let bound = Bound::default().with('i', query).with('d', dim);
        Some(Rule::new("", self.part_of_output(block, part, [query, dim])?, bound))
    }

    fn part_of_output(&self, block: usize, part: BlockPart, [query, dim]: [usize; 2]) -> Option<Expr> {
        let (activations, contributions) = (self.block(block)?, self.sentence.contributions.get(block)?);
        let normed = |name: TensorName, skip: usize| {
            let (tensor, values) = (name.of_block(block), self.model.parameters.values_of(name.of_block(block)));
            self.held(block, query, skip, at(Entry::parameter(tensor, 0, 0), "_d"), values.to_vec())
        };
        let has = |name: &TensorName| self.model.parameters.spec(name.of_block(block)).is_some();
        let (norms, skip) = (contributions.norms().len(), contributions.norms_before(part));
        let shift = contributions.norm_of(part).map(|norm| norm.names[1]);
        let before = || Some(of_tokens(attended(self.config(block)?), block, 'd'));
        match part {
            BlockPart::Rescaled => {
                let own = || of_tokens(Quantity::Input, block, 'd');
                Some(self.held(block, query, skip, own(), activations.input.row(query).to_vec())? - own())
            }
            BlockPart::Bias => {
                let bias = Some(TensorName::OutputBias).filter(has).map(|name| normed(name, 0));
                let shift = shift.filter(has).map(|name| normed(name, 1));
                Some(Expr::Sum(bias.into_iter().chain(shift).collect::<Option<_>>()?))
            }
            BlockPart::Shift | BlockPart::LastShift => normed(shift?, skip),
            BlockPart::FeedForward if norms > skip => {
                let rows = activations.joined().row(query).iter().zip(activations.attended().row(query));
                let vector = rows.map(|(joined, attended)| joined - attended).collect();
                self.held(block, query, skip, of_tokens(Quantity::Joined, block, 'd') - before()?, vector)
            }
            BlockPart::FeedForward => {
                let added = self.feed_forward(block, query, dim)?;
                Some(if self.config(block)?.residual { added } else { added - before()? })
            }
            BlockPart::Rest => Some(of_tokens(Quantity::Output, block, 'd') - of_tokens(Quantity::Summed, block, 'd')),
        }
    }

    pub(super) fn part_length(&self, block: usize, part: BlockPart, query: usize) -> Option<Rule> {
        let length = self.part_of_sum(block, part, query)?.length('d', self.width());
        Some(Rule::new("", length, Bound::default().with('i', query)))
    }

    pub(super) fn move_length(&self, block: usize, query: usize) -> Option<Rule> {
        let parts = self.sentence.contributions.get(block)?.parts();
        let mut all = self.added_by_heads(block, self.norms_after(block) > 0)?;
        for part in parts {
            all = all + self.part_of_sum(block, *part, query)?;
        }
        let definition = format!("\\Delta_i = {}", print(&all));
        let length = all.printed("\\Delta_i").with_definition(definition).length('d', self.width());
        Some(Rule::new("", length, Bound::default().with('i', query)))
    }
}

/// Returns the quantity to which the output of the feed-forward layer is added.
fn attended(config: &BlockConfig) -> Quantity {
    if config.norms_attended() { Quantity::Attended } else { Quantity::Summed }
}
