//! The last steps of a walk: from the weights to what comes out.

use super::writer::{StepText, Writer, number};
use super::{Columns, NumberRow};
use crate::kernel::snapshot::Neighbours;
use crate::numerics::attention::HeadMode;
use crate::numerics::contributions::Holds;
use crate::numerics::params::TensorName;
use crate::quantity::{Entry, Quantity};
use crate::view_model::answers::said;
use crate::view_model::quoted;

/// Below this cosine the first of the neighbours is no nearer than chance has it.
const NEAR: f32 = 0.01;

impl Writer<'_> {
    pub(super) fn mix(&self) -> StepText {
        let head = self.activations();
        let rows = vec![
            self.row("weight", Quantity::Weight),
            self.row(format!("v({})", self.keys[self.key]), Quantity::Value),
            self.row(format!("mix({})", self.name()), Quantity::Mix),
        ];
        let gain = match self.reader.model.interventions.heads.get(self.head) {
            Some(HeadMode::Off) => Some((number(0.0), " This head is off: its mix counts 0 times.".to_owned())),
            Some(HeadMode::Gain(gain)) => {
                Some((number(*gain), format!(" The mix of this head counts {} times.", number(*gain))))
            }
            _ => None,
        };
        let (factor, counted) = gain.map_or_else(Default::default, |(gain, counted)| (format!("{gain} "), counted));
        let said = format!(
            "Weight each value and add: {}. The sum is the mix, {} numbers.{counted}",
            self.strongest(self.weights()),
            head.mix.cols()
        );
        (format!("m_i = {factor}\\sum_j \\alpha_{{ij}}\\, v_j"), said, rows)
    }

    pub(super) fn output(&self) -> StepText {
        let contributions = &self.reader.sentence.contributions[self.block];
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
                    "W_O projects the mix back to {} numbers: head {} moves {} by {length}.{others}",
                    config.width,
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
        let rows = vec![
            NumberRow {
                label: "length".to_owned(),
                tensor: "‖Σ_j α_j v_j W_O‖".to_owned(),
                values: lengths,
                columns: Columns::Heads,
                first: Quantity::HeadLength.of_head(self.head - self.own, [self.query]),
            },
            NumberRow {
                label: "b_O".to_owned(),
                tensor: "b_O".to_owned(),
                values: contributions.bias.clone(),
                columns: Columns::Entries,
                first: Entry::parameter(TensorName::OutputBias.of_block(self.block), 0, 0),
            },
        ];
        (equation, said, rows)
    }

    pub(super) fn contextual(&self) -> StepText {
        let config = self.config();
        let rows = vec![
            self.row(format!("x({})", self.name()), Quantity::Input),
            self.row(format!("y({})", self.name()), Quantity::Output),
        ];
        let after = match self.reader.sentence.contributions[self.block].holds {
            Holds::AtOutput => String::new(),
            Holds::BeforeNorm => " A norm follows, which stretches the sum.".to_owned(),
            Holds::BeforeFeedForward => " A feed-forward layer follows, and adds its own.".to_owned(),
        };
        let equation = match (config.residual, self.reader.sentence.contributions[self.block].holds) {
            (true, Holds::AtOutput) => "y_i = x_i + \\Delta_i",
            (false, Holds::AtOutput) => "y_i = \\Delta_i",
            (true, Holds::BeforeNorm) => "y_i = \\operatorname{Norm}(x_i + \\Delta_i)",
            (false, Holds::BeforeNorm) => "y_i = \\operatorname{Norm}(\\Delta_i)",
            (true, Holds::BeforeFeedForward) => "a_i = x_i + \\Delta_i, \\quad y_i = a_i + \\operatorname{FFN}(a_i)",
            (false, Holds::BeforeFeedForward) => "a_i = \\Delta_i, \\quad y_i = a_i + \\operatorname{FFN}(a_i)",
        };
        let is_last = self.block + 1 == self.reader.sentence.activations.blocks.len();
        let near = |neighbours: Option<&Neighbours>| {
            let first = neighbours?.by_cosine.first()?;
            let word = quoted(&self.reader.space.vocabulary[first.word]);
            Some((first.cosine >= NEAR).then(|| format!("nearest to {word} (cosine {:.3})", first.cosine)))
        };
        let before = near(self.reader.sentence.static_neighbours.get(self.query));
        let now = near(self.reader.sentence.contextual_neighbours.get(self.query));
        let nearest =
            self.reader.sentence.contextual_neighbours.get(self.query).and_then(|near| near.by_cosine.first());
        let own = self.reader.sentence.tokens.get(self.query).and_then(|token| token.word);
        let itself = nearest.filter(|first| Some(first.word) == own && first.cosine >= NEAR);
        let name = self.said_query();
        let moved = match (before.zip(now), itself) {
            (_, Some(itself)) if is_last => {
                format!("{name} stays: nothing is nearer than its own static vector (cosine {:.3}).", itself.cosine)
            }
            (Some(near), None) if is_last => match near {
                (Some(before), Some(now)) => format!("{name} was {before} and is now {now}."),
                (None, Some(now)) => format!("{name} had no close neighbour; now it is {now}."),
                (Some(before), None) => format!("{name} was {before}; now it has no close neighbour."),
                (None, None) => format!("{name} had no close neighbour, and has none now."),
            },
            _ if is_last => format!("This is what comes out for {name}."),
            _ if self.feeds_cross_attention() => {
                format!("This is what {} hands to the cross-attention.", self.said_query())
            }
            _ => format!("This is what {} hands to the layer above.", self.said_query()),
        };
        let answer = is_last.then(|| said(self.reader.model, self.query)).flatten();
        let answer = answer.map_or_else(String::new, |answer| format!(" {answer}"));
        (equation.to_owned(), format!("{moved}{after}{answer}"), rows)
    }

    /// Its outputs are the keys and values of a block that looks at the source, or that block's queries.
    fn feeds_cross_attention(&self) -> bool {
        let architecture = &self.reader.model.architecture;
        let mut next = architecture.numbered_blocks().filter(|(number, _)| *number == self.block + 1);
        architecture.source_blocks.len() == self.block + 1 || next.any(|(_, block)| block.attends_to_source())
    }
}
