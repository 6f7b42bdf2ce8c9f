//! Formulas of the arrows at a block's output: what its norms make of each term of the sum, and the terms that no head
//! adds.

use attune_engine::numerics::block::Norm;
use attune_engine::numerics::contributions::Part;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Quantity};

use super::worked::{Explanation, Factor, Operand, Term, Worked, constant, explained, sum};
use crate::view_model::parts;
use crate::view_model::reader::Reader;

const HELD: &str = "The norm's σ is that of the whole sum, and is held: so the norm is linear, and each term goes \
                    through it by itself (Kobayashi et al. 2021).";
const NORM_GAINS: [TensorName; 2] = [TensorName::AttentionNormGain, TensorName::ForwardNormGain];
const NORM_SHIFTS: [TensorName; 2] = [TensorName::AttentionNormBias, TensorName::ForwardNormBias];
/// Those of one norm, and of two.
const DEVIATIONS: [&[&str]; 2] = [&["1/σ"], &["1/σ₁", "1/σ₂"]];
const HELD_NORMS: [&str; 2] = [
    "\\gamma_d \\, \\frac{t_d - \\bar{t}}{\\sigma}",
    "L_2(L_1(t)), \\quad L(t)_d = \\gamma_d \\, \\frac{t_d - \\bar{t}}{\\sigma}",
];

impl Reader<'_> {
    /// Norms between what the heads of a block add and its output.
    pub fn norms_after(&self, block: usize) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms().len())
    }

    /// One entry of what the norms of a block, but for so many, make of a vector; `own` is the entry of it.
    fn held(
        &self,
        block: usize,
        [query, dim]: [usize; 2],
        skip: usize,
        own: Factor,
        vector: Vec<f32>,
    ) -> Option<Vec<Term>> {
        let norms = self.sentence.contributions.get(block)?.norms();
        let factors = |from: usize| -> Option<Vec<Factor>> {
            let of_norm = |(number, norm): (usize, &attune_engine::numerics::contributions::HeldNorm<f32>)| {
                let gain = self.operand(Entry::parameter(NORM_GAINS[number].of_block(block), 0, dim))?;
                let inverse = constant(DEVIATIONS[norms.len() - 1][number], norm.inverse_deviation(query));
                Some([Factor::One(gain), Factor::One(inverse)])
            };
            let all: Option<Vec<_>> = norms.iter().enumerate().skip(from).map(of_norm).collect();
            Some(all?.into_iter().flatten().collect())
        };
        let with = |factor: Factor, from: usize| Some(Term([vec![factor], factors(from)?].concat()));
        let mut terms = vec![with(own, skip)?];
        let mut vector = vector;
        for (number, norm) in norms.iter().enumerate().skip(skip) {
            let mean = vector.iter().map(|x| f64::from(*x)).sum::<f64>() / vector.len() as f64;
            terms.push(with(Factor::One(constant("−mean", -mean as f32)), number)?);
            norm.carry(query, &mut vector);
        }
        Some(terms)
    }

    fn held_symbols(&self, block: usize, skip: usize) -> &'static str {
        HELD_NORMS[(self.norms_after(block) - skip).clamp(1, HELD_NORMS.len()) - 1]
    }

    /// The arrow that a key adds to a query through a head, at the block's output.
    pub(super) fn arrow(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Explanation> {
        let block = self.head(head)?.block;
        let own = self.head(head)?.own;
        let term = self.sentence.contributions[block].term(self.block(block)?, own, query, key);
        let entry = Factor::One(self.operand(Quantity::Term.of_head(head, [query, key, dim]))?);
        let terms = self.held(block, [query, dim], 0, entry, term)?;
        let symbols = format!("{}, \\quad t = \\alpha_{{ij}} \\, v_j W_O", self.held_symbols(block, 0));
        Some((symbols, Worked::Sum(terms), vec![HELD.to_owned()]))
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
        Quantity::Part.of_block(block, [parts::index(part), query, dim])
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

    pub(super) fn part_length(&self, block: usize, index: usize, query: usize) -> Option<Explanation> {
        let part = self.part(block, index)?;
        let symbols = if part == Part::Bias && self.norms_after(block) == 0 {
            "\\lVert b_O \\rVert".to_owned()
        } else {
            format!("\\lVert t \\rVert, \\quad t = {}", self.part_symbols(block, part))
        };
        explained(&symbols, self.length(|dim| vec![self.part_entry(block, part, query, dim)])?)
    }

    fn part_symbols(&self, block: usize, part: Part) -> String {
        let norms = self.norms_after(block);
        let feeds = || match self.config(block).is_some_and(|config| config.residual) {
            true => "\\operatorname{FFN}(a_i)",
            false => "\\operatorname{FFN}(a_i) - a_i",
        };
        match (part, norms) {
            (Part::Rescaled, _) => "L(x_i) - x_i".to_owned(),
            (Part::Bias, 0) => "b_O".to_owned(),
            (Part::Bias, _) => "L(b_O)".to_owned(),
            (Part::Shift, 0 | 1) => "\\beta".to_owned(),
            (Part::Shift, _) => "L_2(\\beta_1)".to_owned(),
            (Part::FeedForward, 0) => feeds().to_owned(),
            (Part::FeedForward, _) => format!("L_2({})", feeds()),
            (Part::LastShift, _) => "\\beta_2".to_owned(),
        }
    }

    /// A term of a block's output that no head adds.
    pub(super) fn part_formula(&self, block: usize, index: usize, query: usize, dim: usize) -> Option<Explanation> {
        let (part, norms) = (self.part(block, index)?, self.norms_after(block));
        let (at, activations) = ([query, dim], self.block(block)?);
        let parameter = |name: TensorName| self.operand(Entry::parameter(name.of_block(block), 0, dim));
        let values = |name: TensorName| self.model.parameters.values_of(name.of_block(block)).to_vec();
        let mut notes = Vec::new();
        let terms = match part {
            Part::Rescaled => {
                let own = self.operand(Quantity::Input.of_block(block, at))?;
                let mut terms =
                    self.held(block, at, 0, Factor::One(own.clone()), activations.input.row(query).to_vec())?;
                terms.push(Term::of([constant("−1", -1.0), own]));
                terms
            }
            Part::Bias if norms > 0 => {
                let own = Factor::One(parameter(TensorName::OutputBias)?);
                self.held(block, at, 0, own, values(TensorName::OutputBias))?
            }
            Part::Bias => vec![Term::of([parameter(TensorName::OutputBias)?])],
            Part::Shift if norms > 1 => {
                self.held(block, at, 1, Factor::One(parameter(NORM_SHIFTS[0])?), values(NORM_SHIFTS[0]))?
            }
            Part::Shift => vec![Term::of([parameter(NORM_SHIFTS[0])?])],
            Part::LastShift => vec![Term::of([parameter(NORM_SHIFTS[1])?])],
            Part::FeedForward if norms > 0 => {
                let [joined, attended] =
                    [Quantity::Joined, Quantity::Attended].map(|quantity| self.operand(quantity.of_block(block, at)));
                let rows = activations.joined().row(query).iter().zip(activations.attended().row(query));
                let vector = rows.map(|(joined, attended)| joined - attended).collect();
                notes.push("What the feed-forward layer adds: its output minus its input.".to_owned());
                self.held(block, at, 1, Factor::Less(joined?, attended?), vector)?
            }
            Part::FeedForward => {
                let mut terms = self.feed_forward(block, query, dim)?;
                notes.push(FEED_FORWARD.to_owned());
                if !self.config(block)?.residual {
                    let before = self.operand(Quantity::Summed.of_block(block, at))?;
                    terms.push(Term::of([constant("−1", -1.0), before]));
                    notes.push("Without a residual connection, the layer's output replaces its input.".to_owned());
                }
                terms
            }
        };
        if norms > part.norms_before() {
            notes.push(HELD.to_owned());
        }
        let formula = match part.norms_before() {
            before if norms > before => format!(", \\quad L(t) = {}", self.held_symbols(block, before)),
            _ => String::new(),
        };
        Some((format!("{}{formula}", self.part_symbols(block, part)), Worked::Sum(terms), notes))
    }

    /// `φ(… W_1 + b_1) W_2 + b_2` of one entry.
    fn feed_forward(&self, block: usize, query: usize, dim: usize) -> Option<Vec<Term>> {
        let hidden = self.block(block)?.hidden.as_ref()?.row(query);
        let term = |(unit, &hidden): (usize, &f32)| {
            let weight = self.operand(Entry::parameter(TensorName::ForwardWeights.of_block(block), unit, dim))?;
            Some(Term::of([constant(&format!("h[{unit}]"), hidden), weight]))
        };
        let mut terms = hidden.iter().enumerate().map(term).collect::<Option<Vec<Term>>>()?;
        terms.push(Term::of([self.operand(Entry::parameter(TensorName::ForwardBias.of_block(block), 0, dim))?]));
        Some(terms)
    }

    /// The sum behind its norm, of a block that norms it.
    pub(super) fn attended(&self, block: usize, token: usize, dim: usize) -> Option<Explanation> {
        let row = self.operands(self.width(), |dim| Quantity::Summed.of_block(block, [token, dim]))?;
        let worked = self.norm(row, dim, block, [NORM_GAINS[0], NORM_SHIFTS[0]])?;
        explained(
            "b_i = \\operatorname{Norm}(a_i), \\quad \\gamma_d \\, \\frac{a_d - \\mu}{\\sigma} + \\beta_d",
            worked,
        )
    }

    /// The same with what the feed-forward layer adds.
    pub(super) fn joined(&self, block: usize, token: usize, dim: usize) -> Option<Explanation> {
        let mut terms = self.feed_forward(block, token, dim)?;
        let is_kept = self.config(block)?.residual;
        if is_kept {
            terms.push(Term::of([self.operand(Quantity::Attended.of_block(block, [token, dim]))?]));
        }
        let symbols = if is_kept { "c_i = b_i + \\operatorname{FFN}(b_i)" } else { "c_i = \\operatorname{FFN}(b_i)" };
        Some((symbols.to_owned(), Worked::Sum(terms), vec![FEED_FORWARD.to_owned()]))
    }

    pub(super) fn output(&self, block: usize, token: usize, dim: usize) -> Option<Explanation> {
        let config = self.config(block)?;
        let summed = |dim| Quantity::Summed.of_block(block, [token, dim]);
        let normed = |row: Vec<Operand>, names| self.norm(row, dim, block, names);
        match (config.norm, config.feed_forward) {
            (Norm::None | Norm::Pre, None) => explained("y_i = a_i", sum(vec![self.operand(summed(dim))?])),
            (norm, Some(_)) if norm != Norm::Post => {
                let part = self.operand(self.part_entry(block, Part::FeedForward, token, dim))?;
                let inside = if norm == Norm::Pre { "\\operatorname{Norm}(a_i)" } else { "a_i" };
                let symbols = match config.residual {
                    true => format!("y_i = a_i + \\operatorname{{FFN}}({inside})"),
                    false => {
                        format!("y_i = \\operatorname{{FFN}}({inside}) = a_i + (\\operatorname{{FFN}}({inside}) - a_i)")
                    }
                };
                Some((symbols, sum(vec![self.operand(summed(dim))?, part]), vec![FEED_FORWARD.to_owned()]))
            }
            (_, None) => {
                let worked = normed(self.operands(self.width(), summed)?, [NORM_GAINS[0], NORM_SHIFTS[0]])?;
                let symbols =
                    "y_i = \\operatorname{Norm}(a_i), \\quad \\gamma_d \\, \\frac{a_d - \\mu}{\\sigma} + \\beta_d";
                Some((symbols.to_owned(), worked, vec![ADDS_UP.to_owned()]))
            }
            (_, Some(_)) => {
                let row = self.operands(self.width(), |dim| Quantity::Joined.of_block(block, [token, dim]))?;
                let worked = normed(row, [NORM_GAINS[1], NORM_SHIFTS[1]])?;
                let symbols =
                    "y_i = \\operatorname{Norm}(c_i), \\quad \\gamma_d \\, \\frac{c_d - \\mu}{\\sigma} + \\beta_d";
                Some((symbols.to_owned(), worked, vec![ADDS_UP.to_owned()]))
            }
        }
    }
}

const FEED_FORWARD: &str = "The feed-forward layer works on each word by itself. Here h are its hidden units.";
const ADDS_UP: &str = "With the σ of the whole held, every arrow goes through the norm by itself: the walk's arrows add \
                       up to this very number.";
