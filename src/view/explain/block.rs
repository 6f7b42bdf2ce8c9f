//! The numbers in the formulas of a block around its heads: what goes in, the norms, what is added, and what comes out.

use std::ops::Range;

use attune_engine::numerics::block::Norm;
use attune_engine::numerics::contributions::{HeldNorm, Part};
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity};

use super::names::part_index;
use super::reader::Reader;
use super::worked::{Factor, Operand, Term, Worked, constant, sum};

const ATTENTION_NORM: [TensorName; 2] = [TensorName::AttentionNormGain, TensorName::AttentionNormBias];
const FORWARD_NORM: [TensorName; 2] = [TensorName::ForwardNormGain, TensorName::ForwardNormBias];
const EMBEDDING_NORM: [TensorName; 2] = [TensorName::EmbeddingNormGain, TensorName::EmbeddingNormBias];
const FINAL_NORM: [TensorName; 2] = [TensorName::FinalNormGain, TensorName::FinalNormBias];
/// Divisors of an arrow after one norm, and after several.
const DEVIATIONS: [&[&str]; 3] = [&["1/σ"], &["1/σ₁", "1/σ₂"], &["1/σ₁", "1/σ₂", "1/σ₃"]];

/// The norm that makes an entry of a row of others.
pub struct NormBefore {
    /// Letter of the row in formulas.
    pub letter: &'static str,
    /// The row's first entry.
    row: Entry,
    /// Its gain and its shift.
    tensors: [TensorId; 2],
    pub form: NormForm,
}

impl NormBefore {
    /// `γ_d (x_d − μ) / σ + β_d`, without what its form does not have.
    pub fn formula(&self) -> String {
        let shift = if self.form.shift { " + \\beta_d" } else { "" };
        format!("{}{shift}", norm_formula(self.form, &format!("{}_d", self.letter), "\\mu"))
    }
}

/// `γ_d (x_d − μ) / σ` as a form has it: an RMSNorm takes no mean off, and a gain may count from 1.
pub fn norm_formula(form: NormForm, entry: &str, mean: &str) -> String {
    let gain = if form.gain_from_one { "(1 + \\gamma_d)" } else { "\\gamma_d" };
    match form.kind {
        NormKind::Layer => format!("{gain} \\, \\frac{{{entry} - {mean}}}{{\\sigma}}"),
        NormKind::Rms => format!("{gain} \\, \\frac{{{entry}}}{{\\rho}}"),
    }
}

impl Reader<'_> {
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
    pub fn norm_before(&self, entry: Entry) -> Option<NormBefore> {
        let (block, [token, ..]) = (entry.owner.number(), entry.index);
        let config = self.config(block)?;
        let of_block = |quantity: Quantity| quantity.of_block(block, [token, 0]);
        let is_embedding = || {
            let is_of_words = self.is_first(block) && !self.is_of_source(block);
            self.model.architecture.embedding_norm && is_of_words && self.patch_of(block, token).is_none()
        };
        let (letter, row, names) = match entry.quantity {
            Quantity::Final => ("y", Quantity::Output.of_block(self.last_block(), [token, 0]), FINAL_NORM),
            Quantity::Input if is_embedding() => ("e", Quantity::Embedded.of_model([token, 0]), EMBEDDING_NORM),
            Quantity::Normed => ("x", of_block(Quantity::Input), ATTENTION_NORM),
            Quantity::Attended => ("a", of_block(Quantity::Summed), ATTENTION_NORM),
            Quantity::Output if config.has_forward_norm() && config.norm == Norm::Post => {
                ("c", of_block(Quantity::Joined), FORWARD_NORM)
            }
            Quantity::Output if config.norm == Norm::Post && config.attention_norm => {
                ("a", of_block(Quantity::Summed), ATTENTION_NORM)
            }
            _ => return None,
        };
        let tensors = names.map(|name| name.of_block(if name.is_of_a_block() { block } else { 0 }));
        let form = if names[0].is_of_a_block() { config.norm_form } else { self.model.architecture.norm_form };
        Some(NormBefore { letter, row, tensors, form })
    }

    pub(super) fn normed(&self, norm: &NormBefore, entry: Entry) -> Option<Worked> {
        let [_, at, _] = entry.index;
        let row = self.operands(self.width(), |dim| norm.row.along(dim))?;
        let [gain, shift] = norm.tensors.map(|tensor| self.operand(Entry::parameter(tensor, 0, at)));
        Some(Worked::Norm { row, at, gain: gain?, shift, form: norm.form })
    }

    pub(super) fn input(&self, block: usize, token: usize, dim: usize) -> Option<Worked> {
        if self.patch_of(block, token).is_some() {
            return Some(Worked::Given(Vec::new()));
        }
        Some(match self.is_first(block) {
            true => Worked::Sum(self.embeddings(block, token, dim)?),
            false => sum(vec![self.operand(Quantity::Output.of_block(block - 1, [token, dim]))?]),
        })
    }

    /// The sum that a token begins with: its static vector, what its place adds, and its segment.
    pub(super) fn embeddings(&self, block: usize, token: usize, dim: usize) -> Option<Vec<Term>> {
        let architecture = &self.model.architecture;
        let scale = architecture.embedding_scale.map(|scale| constant("scale", scale as f32));
        let of_word =
            |word| Some(Term::of([self.operand(self.static_entry(word, dim))?].into_iter().chain(scale.clone())));
        let mut terms = self.word(block, token).map(of_word).into_iter().collect::<Option<Vec<Term>>>()?;
        let mut entries: Vec<Entry> = Vec::new();
        entries.extend(match architecture.positions {
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
        });
        if architecture.segments.is_some() {
            let piece = self.sentence.tokens.get(token).and_then(|token| token.piece.as_ref());
            let segment = piece.map_or(0, |piece| piece.segment);
            entries.push(Entry::parameter(TensorName::Segments.into(), segment, dim));
        }
        for entry in entries {
            terms.push(Term::of([self.operand(entry)?]));
        }
        Some(terms)
    }

    pub(super) fn summed(&self, block: usize, token: usize, dim: usize) -> Option<Vec<Operand>> {
        let keys = self.sentence.contributions.get(block)?.keys();
        let input = self.config(block)?.residual.then(|| Quantity::Input.of_block(block, [token, dim]));
        let terms = self.heads_of(block).flat_map(|head| (0..keys).map(move |key| (head, key)));
        if self.config(block)?.output_norms {
            return self.summed_behind_norm(block, token, dim, input);
        }
        let terms = terms.map(|(head, key)| Quantity::Term.of_head(head, [token, key, dim]));
        let bias = self.operand(Entry::parameter(TensorName::OutputBias.of_block(block), 0, dim));
        let entries = input.into_iter().chain(terms).map(|entry| self.operand(entry));
        entries.chain(bias.map(Some)).collect()
    }

    /// The input, and what the attention adds behind its own norm.
    fn summed_behind_norm(&self, block: usize, token: usize, dim: usize, input: Option<Entry>) -> Option<Vec<Operand>> {
        let input = input.map_or(Some(Vec::new()), |input| Some(vec![self.operand(input)?]))?;
        let before: f32 = input.iter().map(|input| input.value).sum();
        let added = self.block(block)?.summed.get(token, dim) - before;
        Some([input, vec![constant("Norm(Δ)", added)]].concat())
    }

    /// The sum with what the feed-forward layer adds, of a block that norms after it.
    pub(super) fn joined(&self, block: usize, token: usize, dim: usize) -> Option<Vec<Term>> {
        let mut terms = self.feed_forward(block, token, dim)?;
        if self.config(block)?.residual {
            terms.push(Term::of([self.operand(Quantity::Attended.of_block(block, [token, dim]))?]));
        }
        Some(terms)
    }

    pub(super) fn output(&self, block: usize, token: usize, dim: usize) -> Option<Vec<Operand>> {
        let feeds = self.config(block)?.feed_forward.is_some();
        let part = feeds.then(|| self.part_entry(block, Part::FeedForward, token, dim));
        let entries = [Quantity::Summed.of_block(block, [token, dim])].into_iter().chain(part);
        entries.map(|entry| self.operand(entry)).collect()
    }

    /// `φ(… W_1 + b_1) W_2 + b_2` of one entry.
    fn feed_forward(&self, block: usize, query: usize, dim: usize) -> Option<Vec<Term>> {
        if self.config(block)?.output_norms {
            let at = self.block(block)?;
            let before = if self.config(block)?.residual { at.attended().get(query, dim) } else { 0.0 };
            return Some(vec![Term::of([constant("Norm(F)", at.joined().get(query, dim) - before)])]);
        }
        let hidden = self.block(block)?.hidden.as_ref()?.row(query);
        let term = |(unit, &hidden): (usize, &f32)| {
            let weight = self.operand(Entry::parameter(TensorName::ForwardWeights.of_block(block), unit, dim))?;
            Some(Term::of([constant(&format!("h[{unit}]"), hidden), weight]))
        };
        let mut terms = hidden.iter().enumerate().map(term).collect::<Option<Vec<Term>>>()?;
        let bias = self.operand(Entry::parameter(TensorName::ForwardBias.of_block(block), 0, dim));
        terms.extend(bias.map(|bias| Term::of([bias])));
        Some(terms)
    }
}

/// Arrows at a block's output: what its norms make of each term of the sum, and the terms that no head adds.
impl Reader<'_> {
    /// Norms that the terms of a block's heads go through.
    pub fn norms_after(&self, block: usize) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms().len())
    }

    /// How many of them a part does not go through.
    pub fn norms_before(&self, block: usize, part: Part) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms_before(part))
    }

    /// One entry of what the norms of a block, without the first `skip`, make of a vector; `own` is the vector's entry.
    fn held(
        &self,
        block: usize,
        [query, dim]: [usize; 2],
        skip: usize,
        own: Factor,
        mut vector: Vec<f32>,
    ) -> Option<Vec<Term>> {
        let norms = self.sentence.contributions.get(block)?.norms();
        let factors = |from: usize| -> Option<Vec<Factor>> {
            let of_norm = |(number, norm): (usize, &HeldNorm<f32>)| {
                let gain = self.operand(Entry::parameter(norm.names[0].of_block(block), 0, dim))?;
                let gain = if norm.form.gain_from_one {
                    Factor::Less(gain, constant("−1", -1.0))
                } else {
                    Factor::One(gain)
                };
                let inverse = constant(DEVIATIONS[norms.len() - 1][number], norm.inverse_deviation(query));
                Some([gain, Factor::One(inverse)])
            };
            let all: Option<Vec<_>> = norms.iter().enumerate().skip(from).map(of_norm).collect();
            Some(all?.into_iter().flatten().collect())
        };
        let with = |factor: Factor, from: usize| Some(Term([vec![factor], factors(from)?].concat()));
        let mut terms = vec![with(own, skip)?];
        for (number, norm) in norms.iter().enumerate().skip(skip) {
            if norm.form.kind == NormKind::Layer {
                let mean = vector.iter().map(|x| f64::from(*x)).sum::<f64>() / vector.len() as f64;
                terms.push(with(Factor::One(constant("−mean", -mean as f32)), number)?);
            }
            norm.carry(query, &mut vector);
        }
        Some(terms)
    }

    /// The arrow that a key adds to a query through a head, at the block's output.
    pub(super) fn arrow(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Worked> {
        let parts = self.head(head)?;
        let term = self.sentence.contributions[parts.block].term(self.block(parts.block)?, parts.own, query, key);
        let entry = Factor::One(self.operand(Quantity::Term.of_head(head, [query, key, dim]))?);
        Some(Worked::Sum(self.held(parts.block, [query, dim], 0, entry, term)?))
    }

    /// Entries of what a key adds to a query through a head, of the sum or, where a norm follows, at the block's output.
    pub(super) fn term_entry(&self, head: usize, index: [usize; 3]) -> Entry {
        let is_normed = self.head(head).is_some_and(|parts| parts.is_normed_after());
        (if is_normed { Quantity::Arrow } else { Quantity::Term }).of_head(head, index)
    }

    /// Entries of a term of a block's output that no head adds.
    pub(super) fn part_entry(&self, block: usize, part: Part, query: usize, dim: usize) -> Entry {
        if part == Part::Bias && self.norms_after(block) == 0 {
            return Entry::parameter(TensorName::OutputBias.of_block(block), 0, dim);
        }
        Quantity::Part.of_block(block, [part_index(part), query, dim])
    }

    /// Entries of all arrows of a query, of one dimension.
    pub(super) fn move_of(&self, block: usize, query: usize, dim: usize) -> Vec<Entry> {
        let Some(contributions) = self.sentence.contributions.get(block) else { return Vec::new() };
        let (heads, keys) = (self.heads_of(block), contributions.keys());
        let terms = heads
            .flat_map(|head| (0..keys).map(move |key| (head, key)))
            .map(|(head, key)| self.term_entry(head, [query, key, dim]));
        terms.chain(contributions.parts().iter().map(|part| self.part_entry(block, *part, query, dim))).collect()
    }

    /// A term of a block's output that no head adds.
    pub(super) fn part_terms(&self, block: usize, index: usize, at: [usize; 2]) -> Option<Vec<Term>> {
        let (part, norms, [query, dim]) = (self.part(block, index)?, self.norms_after(block), at);
        let activations = self.block(block)?;
        let parameter = |name: TensorName| self.operand(Entry::parameter(name.of_block(block), 0, dim));
        let normed = |name: TensorName, skip: usize| {
            let vector = self.model.parameters.values_of(name.of_block(block)).to_vec();
            self.held(block, at, skip, Factor::One(parameter(name)?), vector)
        };
        let alone = |name: TensorName| Some(vec![Term::of([parameter(name)?])]);
        let contributions = self.sentence.contributions.get(block)?;
        let skip = contributions.norms_before(part);
        let shift = contributions.norm_of(part).map(|norm| norm.names[1]);
        match part {
            Part::Rescaled => {
                let own = self.operand(Quantity::Input.of_block(block, at))?;
                let vector = activations.input.row(query).to_vec();
                let mut terms = self.held(block, at, skip, Factor::One(own.clone()), vector)?;
                terms.push(Term::of([constant("−1", -1.0), own]));
                Some(terms)
            }
            Part::Bias if shift.is_some() => {
                Some(vec![Term::of([constant("Norm(b_O)", contributions.part(part, activations, query)[dim])])])
            }
            Part::Bias if norms > 0 => normed(TensorName::OutputBias, 0),
            Part::Bias => alone(TensorName::OutputBias),
            Part::Shift if norms > skip => normed(shift?, skip),
            Part::Shift | Part::LastShift => alone(shift?),
            Part::FeedForward if norms > skip => {
                let [joined, attended] =
                    [Quantity::Joined, Quantity::Attended].map(|quantity| self.operand(quantity.of_block(block, at)));
                let rows = activations.joined().row(query).iter().zip(activations.attended().row(query));
                let vector = rows.map(|(joined, attended)| joined - attended).collect();
                self.held(block, at, skip, Factor::Less(joined?, attended?), vector)
            }
            Part::FeedForward => {
                let mut terms = self.feed_forward(block, query, dim)?;
                if !self.config(block)?.residual {
                    let before = self.operand(Quantity::Summed.of_block(block, at))?;
                    terms.push(Term::of([constant("−1", -1.0), before]));
                }
                Some(terms)
            }
        }
    }
}
