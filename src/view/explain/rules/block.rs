//! Rules of a block around its heads: what goes in, the norms, what is added, and what comes out.

use std::ops::Range;

use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::contributions::{BlockPart, HeldNorm};
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity};

use super::super::print::{AND, print};
use super::super::reader::{EntryReader, part_index};
use super::super::rule::{Bound, Expr, Function, Number, Rule, at, vector};
use super::{gain_of, norm};

const ATTENDED: &str = "b_i = \\operatorname{Norm}(a_i)";
/// The norms of a block in a row, as the arrows go through them.
const CHAINS: [&str; 2] = ["L_2(L_1(t))", "L_3(L_2(L_1(t)))"];
/// Divisors of an arrow by layer norms, after one norm and after several.
const DEVIATIONS: [&[&str]; 3] = [&["1/σ"], &["1/σ₁", "1/σ₂"], &["1/σ₁", "1/σ₂", "1/σ₃"]];
/// The same by RMS norms, whose divisor is `ρ`, the root of the mean square.
const ROOT_MEAN_SQUARES: [&[&str]; 3] = [&["1/ρ"], &["1/ρ₁", "1/ρ₂"], &["1/ρ₁", "1/ρ₂", "1/ρ₃"]];

const ATTENTION_NORM: [TensorName; 2] = [TensorName::AttentionNormGain, TensorName::AttentionNormBias];
const ATTENTION_OUTPUT_NORM: [TensorName; 2] =
    [TensorName::AttentionOutputNormGain, TensorName::AttentionOutputNormBias];
const FORWARD_NORM: [TensorName; 2] = [TensorName::ForwardNormGain, TensorName::ForwardNormBias];
const EMBEDDING_NORM: [TensorName; 2] = [TensorName::EmbeddingNormGain, TensorName::EmbeddingNormBias];
const FINAL_NORM: [TensorName; 2] = [TensorName::FinalNormGain, TensorName::FinalNormBias];

/// The norm that makes an entry of a row of others.
pub(super) struct NormBefore {
    /// The entry as the norm of its row, in a formula.
    formula: String,
    /// Letter of the row in formulas.
    letter: char,
    /// The row's first entry.
    row: Entry,
    tensors: [TensorId; 2],
    form: NormForm,
}

impl NormBefore {
    pub(super) fn rule(&self, width: usize, entry: Entry) -> Rule {
        let [_, dim, _] = entry.index;
        let parameter = |place: usize| Entry::parameter(self.tensors[place], 0, dim);
        let row = at(self.row, "_e").printed(format!("{}_e", self.letter));
        let own = at(self.row.along(dim), "").printed(format!("{}_d", self.letter));
        let gain = at(parameter(0), "").printed("\\gamma_d");
        let shift = self.form.shift.then(|| at(parameter(1), "").printed("\\beta_d"));
        let normed = norm(self.form, own, (row, 'e', width), gain, shift);
        Rule::new([&*self.formula, &print(&normed)].join(AND), normed, Bound::default())
    }
}

impl EntryReader<'_> {
    pub fn width(&self) -> usize {
        self.model.architecture.width
    }

    pub fn heads_of(&self, block: usize) -> Range<usize> {
        self.model.architecture.heads_of(block)
    }

    /// The vector that was put in the place of a block's input.
    pub fn patch_of(&self, block: usize, token: usize) -> Option<&Patch<f32>> {
        let patch = self.model.interventions.patch.as_ref();
        patch.filter(|patch| (patch.block, patch.position) == (block, token))
    }

    /// The norm that makes an entry, if one does.
    pub(super) fn norm_before(&self, entry: Entry) -> Option<NormBefore> {
        let (block, [token, ..]) = (entry.owner.number(), entry.index);
        let config = self.config(block)?;
        let of_block = |quantity: Quantity| quantity.of_block(block, [token, 0]);
        let is_of_words = self.is_first(block) && !self.is_of_source(block) && self.patch_of(block, token).is_none();
        let is_post = config.norm == Norm::Post;
        let (letter, row, names, formula) = match entry.quantity {
            Quantity::Final => {
                let row = Quantity::Output.of_block(self.last_block(), [token, 0]);
                ('y', row, FINAL_NORM, "\\operatorname{Norm}(y_i)".to_owned())
            }
            Quantity::Input if self.model.architecture.embedding_norm && is_of_words => {
                let row = Quantity::Embedded.of_model([token, 0]);
                ('e', row, EMBEDDING_NORM, "x_i = \\operatorname{Norm}(e_i)".to_owned())
            }
            Quantity::Normed => {
                let formula = "n_i = \\operatorname{Norm}(x_i)".to_owned();
                ('x', of_block(Quantity::Input), ATTENTION_NORM, formula)
            }
            Quantity::Attended => ('a', of_block(Quantity::Summed), ATTENTION_NORM, ATTENDED.to_owned()),
            Quantity::Output if is_post && config.has_forward_norm() => {
                ('c', of_block(Quantity::Joined), FORWARD_NORM, self.after_heads(block, Quantity::Output)?)
            }
            Quantity::Output if is_post && config.attention_norm => {
                ('a', of_block(Quantity::Summed), ATTENTION_NORM, self.after_heads(block, Quantity::Output)?)
            }
            _ => return None,
        };
        let tensors = names.map(|name| name.of_block(if name.is_of_a_block() { block } else { 0 }));
        let form = if names[0].is_of_a_block() { config.norm_form } else { self.model.architecture.norm_form };
        Some(NormBefore { formula, letter, row, tensors, form })
    }

    /// A wave of the fixed positions.
    pub(super) fn position(&self, place: usize, dim: usize) -> Rule {
        const BASE: f64 = 10_000.0;
        let wave = Number::new("", "", BASE.powf((dim / 2 * 2) as f64 / self.width() as f64));
        let angle = Expr::from(Number::plain(place as f64)) / wave;
        let formula = "P_{t,2i} = \\sin\\frac{t}{10000^{2i/D}}, \\quad P_{t,2i+1} = \\cos\\frac{t}{10000^{2i/D}}";
        let function = if dim.is_multiple_of(2) { Function::Sin } else { Function::Cos };
        Rule::new(formula, angle.apply(function), Bound::default())
    }

    /// The sum that a token begins with: its static vector, what its place adds, and its segment.
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

    /// Returns the entry that a token's place adds to its vector.
    fn position_of(&self, block: usize, token: usize, dim: usize) -> Option<Entry> {
        let architecture = &self.model.architecture;
        match architecture.positions {
            Positions::None => None,
            Positions::Sinusoidal => Some(Quantity::Position.of_model([token, dim])),
            Positions::Learned => {
                let tokens =
                    if self.is_of_source(block) { self.sentence.source.as_deref()? } else { &self.sentence.tokens };
                let words: Vec<Option<usize>> = tokens.iter().map(|token| token.word).collect();
                let places: Vec<usize> = (0..words.len()).collect();
                let row = *architecture.position_rows.rows(&words, &places).get(token)?;
                Some(Entry::parameter(TensorId::from(TensorName::Positions), row, dim))
            }
        }
    }

    fn begins(&self, letter: char, block: usize, token: usize, dim: usize) -> Rule {
        let sum = self.embeddings(block, token, dim);
        let printed = if sum == Expr::Sum(Vec::new()) { "0".to_owned() } else { print(&sum) };
        Rule::new(format!("{letter}_i = {printed}"), sum, Bound::default())
    }

    pub(super) fn embedded(&self, token: usize, dim: usize) -> Rule {
        self.begins('e', self.first_block(), token, dim)
    }

    pub(super) fn input(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        if self.patch_of(block, token).is_some() {
            return Some(Rule::given("x_i = x'_j"));
        }
        if self.is_first(block) {
            return Some(self.begins('x', block, token, dim));
        }
        let below = at(Quantity::Output.of_block(block - 1, [token, dim]), "");
        Some(Rule::new("x_i = y_i^{\\text{below}}", below, Bound::default()))
    }

    /// The sum of what the heads of a block add, before a norm of its own.
    fn added(&self, block: usize) -> Option<Expr> {
        let bias = TensorName::OutputBias.of_block(block);
        let has_bias = self.model.parameters.spec(bias).is_some();
        Some(self.added_by_heads(block, false)?.plus(has_bias.then(|| at(Entry::parameter(bias, 0, 0), "_d"))))
    }

    /// `Δ`, what the attention of a block adds.
    pub fn added_formula(&self, block: usize) -> Option<String> {
        let sum = print(&self.added(block)?);
        let is_normed = self.config(block)?.output_norms;
        let sum = if is_normed { format!("\\operatorname{{Norm}}({sum})") } else { sum };
        Some(format!("\\Delta_i = {sum}"))
    }

    pub(super) fn summed(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        let config = self.config(block)?;
        let input = config.residual.then(|| at(Quantity::Input.of_block(block, [token, dim]), ""));
        let added = if config.output_norms { self.normed_branch(block, token, dim)? } else { self.added(block)? };
        let sum = Expr::Sum(input.into_iter().chain([added]).collect());
        let formula = [self.after_heads(block, Quantity::Summed)?, self.added_formula(block)?];
        Some(Rule::new(formula.join(AND), sum, Bound::default().with('i', token).with('d', dim)))
    }

    /// Builds the normed sum of the heads, of a block that norms it before it is added.
    fn normed_branch(&self, block: usize, token: usize, dim: usize) -> Option<Expr> {
        let branch = self.block(block)?.branch.as_ref()?;
        let row = |letter| vector("\\Delta", "Δ", letter, branch.row(token).to_vec());
        let form = self.config(block)?.norm_form;
        let [gain, shift] = ATTENTION_OUTPUT_NORM.map(|name| at(Entry::parameter(name.of_block(block), 0, dim), ""));
        Some(norm(form, row('d'), (row('e'), 'e', self.width()), gain, form.shift.then_some(shift)))
    }

    fn after_heads(&self, block: usize, quantity: Quantity) -> Option<String> {
        let all = after_heads(self.config(block)?);
        all.into_iter().find(|(of, _)| *of == quantity).map(|(_, formula)| formula)
    }

    /// The sum with what the feed-forward layer adds, of a block that norms after it.
    pub(super) fn joined(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        let attended = at(Quantity::Attended.of_block(block, [token, dim]), "");
        let attended = self.config(block)?.residual.then_some(attended);
        let joined = self.feed_forward(block, token, dim)?.plus(attended);
        Some(Rule::new(self.after_heads(block, Quantity::Joined)?, joined, Bound::default().with('d', dim)))
    }

    pub(super) fn output(&self, block: usize, token: usize, dim: usize) -> Option<Rule> {
        let feeds = self.config(block)?.feed_forward.is_some();
        let part = Quantity::Part.of_block(block, [part_index(BlockPart::FeedForward), token, dim]);
        let part = feeds.then(|| at(part, ""));
        let output = at(Quantity::Summed.of_block(block, [token, dim]), "").plus(part);
        Some(Rule::new(self.after_heads(block, Quantity::Output)?, output, Bound::default()))
    }

    /// `φ(… W_1 + b_1) W_2 + b_2` of one entry; with a norm of its own, its number as it is.
    fn feed_forward(&self, block: usize, query: usize, dim: usize) -> Option<Expr> {
        let at_block = self.block(block)?;
        if self.config(block)?.output_norms {
            let before = if self.config(block)?.residual { at_block.attended().get(query, dim) } else { 0.0 };
            let added = f64::from(at_block.joined().get(query, dim)) - f64::from(before);
            return Some(Number::new("\\operatorname{Norm}(F)", "Norm(F)", added).into());
        }
        let hidden = at_block.hidden.as_ref()?.row(query).to_vec();
        let units = hidden.len();
        let weights = at(Entry::parameter(TensorName::ForwardWeights.of_block(block), 0, 0), "ud");
        let bias = TensorName::ForwardBias.of_block(block);
        let bias = self.model.parameters.spec(bias).map(|_| at(Entry::parameter(bias, 0, 0), "_d"));
        Some((vector("h", "h", 'u', hidden) * weights).sum('u', units).plus(bias))
    }
}

/// Arrows at a block's output: what its norms make of each term of the sum, and the terms that no head adds.
impl EntryReader<'_> {
    /// Norms that the terms of a block's heads go through.
    pub fn norms_after(&self, block: usize) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms().len())
    }

    /// How many of them a part does not go through.
    pub fn norms_before(&self, block: usize, part: BlockPart) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms_before(part))
    }

    /// One entry of what the norms of a block, without the first `skip`, make of a vector, with their deviations held; `own` is
    /// the vector's entry.
    pub(super) fn held(
        &self,
        block: usize,
        [query, dim]: [usize; 2],
        skip: usize,
        own: Expr,
        mut vector: Vec<f32>,
    ) -> Option<Expr> {
        let norms = self.sentence.contributions.get(block)?.norms();
        let factors = |from: usize| {
            let of_norm = |(number, norm): (usize, &HeldNorm<f32>)| {
                let gain = at(Entry::parameter(norm.names[0].of_block(block), 0, dim), "");
                let names = if norm.form.kind == NormKind::Layer { DEVIATIONS } else { ROOT_MEAN_SQUARES };
                let inverse = Number::new("", names[norms.len() - 1][number], norm.inverse_deviation(query).into());
                [gain_of(norm.form, gain), inverse.into()]
            };
            norms.iter().enumerate().skip(from).flat_map(of_norm).collect::<Vec<Expr>>()
        };
        let with = |own: Expr, from: usize| Expr::Product([vec![own], factors(from)].concat());
        let mut terms = vec![with(own, skip)];
        for (number, norm) in norms.iter().enumerate().skip(skip) {
            if norm.form.kind == NormKind::Layer {
                let mean = vector.iter().map(|x| f64::from(*x)).sum::<f64>() / vector.len() as f64;
                terms.push(with(Number::new("", "−mean", -mean).into(), number));
            }
            norm.carry(query, &mut vector);
        }
        Some(Expr::Sum(terms))
    }

    /// The norms of a block as its arrows go through them, without the first `skip`.
    pub(super) fn held_formula(&self, block: usize, skip: usize) -> String {
        let form = self.config(block).map_or(NormForm::LAYER, |config| config.norm_form);
        let number = |latex: &str| Expr::from(Number::new(latex, "", f64::NAN));
        let centred = match form.kind {
            NormKind::Layer => (number("t_d") - number("\\bar{t}")) / number("\\sigma"),
            NormKind::Rms => number("t_d") / number("\\rho"),
        };
        let gain = gain_of(form, at(Entry::parameter(ATTENTION_NORM[0].into(), 0, 0), "").printed("\\gamma_d"));
        let one = print(&(gain * centred));
        match (self.norms_after(block) - skip).checked_sub(2) {
            None => one,
            Some(chain) => format!("{}, \\quad L(t)_d = {one}", CHAINS[chain.min(CHAINS.len() - 1)]),
        }
    }

    /// Entries of a term of a block's output that no head adds, by the letters of the token and the dimension.
    fn part_of_sum(&self, block: usize, part: BlockPart) -> Expr {
        if part == BlockPart::Bias && self.norms_after(block) == 0 {
            return at(Entry::parameter(TensorName::OutputBias.of_block(block), 0, 0), "_d");
        }
        at(Quantity::Part.of_block(block, [part_index(part), 0, 0]), "_id")
    }

    /// A term of a block's output that no head adds.
    pub(super) fn part_rule(&self, block: usize, part: BlockPart, query: usize, dim: usize) -> Option<Rule> {
        let symbols = self.part_symbols(block, part);
        let before = self.norms_before(block, part);
        let formula = if self.norms_after(block) > before {
            format!("{symbols}, \\quad L(t) = {}", self.held_formula(block, before))
        } else {
            symbols
        };
        let bound = Bound::default().with('i', query).with('d', dim);
        Some(Rule::new(formula, self.part_of_output(block, part, [query, dim])?, bound))
    }

    fn part_of_output(&self, block: usize, part: BlockPart, place @ [query, dim]: [usize; 2]) -> Option<Expr> {
        let (activations, contributions) = (self.block(block)?, self.sentence.contributions.get(block)?);
        let parameter = |name: TensorName| at(Entry::parameter(name.of_block(block), 0, dim), "");
        let normed = |name: TensorName, skip: usize| {
            let vector = self.model.parameters.values_of(name.of_block(block)).to_vec();
            self.held(block, place, skip, parameter(name), vector)
        };
        let (norms, skip) = (contributions.norms().len(), contributions.norms_before(part));
        let shift = contributions.norm_of(part).map(|norm| norm.names[1]);
        match part {
            BlockPart::Rescaled => {
                let own = || at(Quantity::Input.of_block(block, place), "");
                let held = self.held(block, place, skip, own(), activations.input.row(query).to_vec())?;
                Some(held + Expr::from(Number::new("", "−1", -1.0)) * own())
            }
            BlockPart::Bias => {
                let has_bias = self.model.parameters.spec(TensorName::OutputBias.of_block(block)).is_some();
                let bias = if has_bias { Some(normed(TensorName::OutputBias, 0)?) } else { None };
                let shift = shift.filter(|name| self.model.parameters.spec(name.of_block(block)).is_some());
                let shift = if let Some(name) = shift { Some(normed(name, 1)?) } else { None };
                Some(Expr::Sum(bias.into_iter().chain(shift).collect()))
            }
            BlockPart::Shift if norms > skip => normed(shift?, skip),
            BlockPart::Shift | BlockPart::LastShift => Some(parameter(shift?)),
            BlockPart::FeedForward if norms > skip => {
                let [joined, attended] =
                    [Quantity::Joined, Quantity::Attended].map(|quantity| at(quantity.of_block(block, place), ""));
                let rows = activations.joined().row(query).iter().zip(activations.attended().row(query));
                let vector = rows.map(|(joined, attended)| joined - attended).collect();
                self.held(block, place, skip, joined - attended, vector)
            }
            BlockPart::FeedForward => {
                let before = at(Quantity::Summed.of_block(block, place), "");
                let less = (!self.config(block)?.residual).then(|| Expr::from(Number::new("", "−1", -1.0)) * before);
                Some(self.feed_forward(block, query, dim)?.plus(less))
            }
            BlockPart::Rest => {
                let [output, summed] =
                    [Quantity::Output, Quantity::Summed].map(|quantity| at(quantity.of_block(block, place), ""));
                Some(output - summed)
            }
        }
    }

    fn part_symbols(&self, block: usize, part: BlockPart) -> String {
        let feeds = self.config(block).map_or_else(String::new, |config| match config.residual {
            true => fed(config),
            false => format!("{} - {}", fed(config), attended_letter(config)),
        });
        let norms = self.norms_after(block);
        match (part, norms) {
            (BlockPart::FeedForward, _) if norms <= self.norms_before(block, part) => feeds,
            (BlockPart::Shift, _) if norms <= self.norms_before(block, part) => "\\beta".to_owned(),
            (BlockPart::Rescaled, _) => "L(x_i) - x_i".to_owned(),
            (BlockPart::Bias, 0) => "b_O".to_owned(),
            (BlockPart::Bias, _) => "L(b_O)".to_owned(),
            (BlockPart::Shift, _) => "L_2(\\beta_1)".to_owned(),
            (BlockPart::FeedForward, _) => format!("L_2({feeds})"),
            (BlockPart::LastShift, _) => "\\beta_2".to_owned(),
            (BlockPart::Rest, _) => "y_i - a_i".to_owned(),
        }
    }

    pub(super) fn part_length(&self, block: usize, part: BlockPart, query: usize) -> Option<Rule> {
        let symbols = self.part_symbols(block, part);
        let formula = match (part, self.norms_after(block)) {
            (BlockPart::Bias, 0) => "\\lVert b_O \\rVert".to_owned(),
            _ => format!("\\lVert t \\rVert, \\quad t = {symbols}"),
        };
        let length = self.part_of_sum(block, part).length('d', self.width());
        Some(Rule::new(formula, length, Bound::default().with('i', query)))
    }

    pub(super) fn move_length(&self, block: usize, query: usize) -> Option<Rule> {
        let parts = self.sentence.contributions.get(block)?.parts();
        let is_normed = self.norms_after(block) > 0;
        let formula = match parts {
            [] | [BlockPart::Bias] if !is_normed => {
                ["\\lVert \\Delta_i \\rVert", &self.added_formula(block)?].join(AND)
            }
            _ => "\\lVert \\Delta_i \\rVert, \\quad \\Delta_i = \\text{all arrows together}".to_owned(),
        };
        let heads = self.added_by_heads(block, is_normed)?;
        let all = parts.iter().fold(heads, |all, part| all + self.part_of_sum(block, *part));
        Some(Rule::new(formula, all.length('d', self.width()), Bound::default().with('i', query)))
    }
}

/// Formulas of a block from the sum with what its heads add to its output, in their order.
pub fn after_heads(config: &BlockConfig) -> Vec<(Quantity, String)> {
    let is_kept = config.residual;
    let sum = if is_kept { "a_i = x_i + \\Delta_i" } else { "a_i = \\Delta_i" };
    let (from, fed) = (attended_letter(config), fed(config));
    let joined = match (is_kept, config.norm) {
        (true, _) => format!("{from} + {fed}"),
        (false, Norm::Post) => fed,
        (false, _) => format!("{fed} = {from} + ({fed} - {from})"),
    };
    let output = match (config.norm, config.feed_forward.is_some()) {
        (Norm::None | Norm::Pre, false) => "a_i",
        (Norm::None | Norm::Pre, true) => joined.as_str(),
        (Norm::Post, false) => "\\operatorname{Norm}(a_i)",
        (Norm::Post, true) => "\\operatorname{Norm}(c_i)",
    };
    let mut formulas = vec![(Quantity::Summed, sum.to_owned())];
    if config.norm == Norm::Post && config.feed_forward.is_some() {
        formulas.push((Quantity::Attended, ATTENDED.to_owned()));
        formulas.push((Quantity::Joined, format!("c_i = {joined}")));
    }
    formulas.push((Quantity::Output, format!("y_i = {output}")));
    formulas
}

/// Names the vector that the feed-forward layer adds to, by its letter in formulas.
fn attended_letter(config: &BlockConfig) -> &'static str {
    if config.norms_attended() { "b_i" } else { "a_i" }
}

/// Writes what the feed-forward layer makes of a vector, behind the norm of its own where it has one.
fn fed(config: &BlockConfig) -> String {
    let read = if config.branches == Branches::Sequential { attended_letter(config) } else { "x_i" };
    let inside = if config.norm == Norm::Pre { format!("\\operatorname{{Norm}}({read})") } else { read.to_owned() };
    let fed = format!("\\operatorname{{FFN}}({inside})");
    if config.output_norms { format!("\\operatorname{{Norm}}({fed})") } else { fed }
}
