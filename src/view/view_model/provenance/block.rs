//! Formulas of a block around its heads: what goes in, what they add, and what comes out.

use attune_engine::numerics::block::Norm;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity};

use super::attention::Effect;
use super::worked::{Explanation, Operand, Worked, explained, sum};
use crate::view_model::reader::Reader;
use crate::view_model::what_if::said_patch;

impl Reader<'_> {
    pub(super) fn width(&self) -> usize {
        self.model.architecture.width
    }

    pub(super) fn heads_of(&self, block: usize) -> std::ops::Range<usize> {
        self.model.architecture.heads_of(block)
    }

    pub(super) fn input(&self, block: usize, token: usize, dim: usize) -> Option<Explanation> {
        if let Some(patch) = self.model.interventions.patch.as_ref()
            && (patch.block, patch.position) == (block, token)
        {
            let taken = said_patch(self.model, patch);
            return Some(("x_i = x'_j".to_owned(), Worked::Given(Vec::new()), vec![taken]));
        }
        if !self.is_first(block) {
            let below = self.operand(Quantity::Output.of_block(block - 1, [token, dim]))?;
            return explained("x_i = y_i^{\\text{below}}", sum(vec![below]));
        }
        if self.model.architecture.embedding_norm && !self.is_of_source(block) {
            let row = self.operands(self.width(), |dim| Quantity::Embedded.of_model([token, dim]))?;
            let worked = self.norm(row, dim, 0, [TensorName::EmbeddingNormGain, TensorName::EmbeddingNormBias])?;
            return explained(
                "x_i = \\operatorname{Norm}(e_i), \\quad \\gamma_d \\, \\frac{e_d - \\mu}{\\sigma} + \\beta_d",
                worked,
            );
        }
        self.sum_of_embeddings("x_i", block, token, dim)
    }

    /// The sum that a norm follows.
    pub(super) fn embedded(&self, token: usize, dim: usize) -> Option<Explanation> {
        self.sum_of_embeddings("e_i", self.first_block(), token, dim)
    }

    fn sum_of_embeddings(&self, symbol: &str, block: usize, token: usize, dim: usize) -> Option<Explanation> {
        let mut terms = Vec::new();
        let mut notes = Vec::new();
        match self.word(block, token) {
            Some(word) => terms.push(self.operand(self.static_entry(word, dim))?),
            None => notes.push("No word stands here yet: its static vector is zero.".to_owned()),
        }
        let symbols = match self.model.architecture.positions {
            Positions::None => "E_{w_i}",
            Positions::Sinusoidal => {
                terms.push(self.operand(Quantity::Position.of_model([token, dim]))?);
                "E_{w_i} + P_i"
            }
            Positions::Learned => {
                let tensor = TensorId::from(TensorName::Positions);
                terms.push(self.operand(Entry::parameter(tensor, token, dim))?);
                "E_{w_i} + P_i"
            }
        };
        let mut symbols = format!("{symbol} = {symbols}");
        if self.model.architecture.segments.is_some() {
            let piece = self.sentence.tokens.get(token).and_then(|token| token.piece.as_ref());
            let segment = piece.map_or(0, |piece| piece.segment);
            terms.push(self.operand(Entry::parameter(TensorName::Segments.into(), segment, dim))?);
            symbols.push_str(" + S_i");
        }
        Some((symbols, sum(terms), notes))
    }

    /// Entry that a head reads: of its input, behind its norm where it norms first, or of the source's last vectors.
    pub(super) fn read(&self, head: usize, token: usize, dim: usize, of_keys: bool) -> Option<Entry> {
        let parts = self.head(head)?;
        if of_keys && parts.config.attends_to_source() {
            let block = self.model.architecture.source_blocks.len().checked_sub(1)?;
            return Some(Quantity::Output.of_block(block, [token, dim]));
        }
        let block = parts.block;
        Some(if parts.config.norm == Norm::Pre {
            Quantity::Normed.of_block(block, [token, dim])
        } else {
            Quantity::Input.of_block(block, [token, dim])
        })
    }

    pub(super) fn norm(
        &self,
        row: Vec<Operand>,
        dim: usize,
        block: usize,
        [gain, bias]: [TensorName; 2],
    ) -> Option<Worked> {
        let own = |name: TensorName| self.operand(Entry::parameter(name.of_block(block), 0, dim));
        Some(Worked::Norm { row, at: dim, gain: own(gain)?, bias: own(bias)? })
    }

    /// Terms that all heads and keys of a block add to one entry.
    pub(super) fn terms_of(&self, block: usize, query: usize, dim: usize) -> Vec<Entry> {
        let keys = self.sentence.contributions.get(block).map_or(0, |terms| terms.keys());
        let heads = self.heads_of(block);
        heads.flat_map(|head| (0..keys).map(move |key| Quantity::Term.of_head(head, [query, key, dim]))).collect()
    }

    pub(super) fn length(&self, sums: impl Fn(usize) -> Vec<Entry>) -> Option<Worked> {
        let row = |dim| sums(dim).into_iter().map(|entry| self.operand(entry)).collect::<Option<Vec<Operand>>>();
        let rows: Option<Vec<_>> = (0..self.width()).map(row).collect();
        Some(Worked::Length(rows?))
    }

    pub(super) fn summed(&self, block: usize, token: usize, dim: usize) -> Option<Explanation> {
        let config = self.config(block)?;
        let mut terms = Vec::new();
        if config.residual {
            terms.push(self.operand(Quantity::Input.of_block(block, [token, dim]))?);
        }
        for entry in self.terms_of(block, token, dim) {
            terms.push(self.operand(entry)?);
        }
        let bias = Entry::parameter(TensorName::OutputBias.of_block(block), 0, dim);
        let bias = self.operand(bias);
        let symbols = format!(
            "a_i = {}\\sum_h \\sum_j \\alpha_{{ij}}^h v_j^h W_O^h{}",
            if config.residual { "x_i + " } else { "" },
            if bias.is_some() { " + b_O" } else { "" }
        );
        terms.extend(bias);
        let mut notes = Vec::new();
        if !config.residual {
            notes.push("This layer has no residual: what went in is not added.".to_owned());
        }
        for head in self.heads_of(block) {
            notes.extend(self.head_notes(head, Effect::Sum));
        }
        Some((symbols, sum(terms), notes))
    }
}
