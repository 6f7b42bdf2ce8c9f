//! The last steps of a walk: from the weights to what comes out.

use attune_core::kernel::snapshot::{Neighbour, Neighbours};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Quantity};

use super::route::distance;
use super::writer::{StepText, Writer, number};
use super::{Columns, NumberRow};
use crate::view_model::answers::said;
use crate::view_model::parts::Part;
use crate::view_model::quoted;

/// Below this cosine the first of the neighbours is no nearer than chance has it.
const NEAR: f32 = 0.01;
/// A length that is less is written as none.
const LEAST_LENGTH: f32 = 0.0005;

impl<'a> Writer<'a> {
    pub(super) fn mix(&self) -> StepText {
        let head = self.activations();
        let rows = vec![
            self.row("weight", Quantity::Weight),
            self.added(),
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

    /// How much each key adds, beside its weight: a key of a large weight and a short value adds little.
    fn added(&self) -> NumberRow {
        let moves = &self.reader.sentence.moves[self.block];
        NumberRow {
            label: "adds".to_owned(),
            tensor: "‖α_j v_j W_O‖".to_owned(),
            values: (0..self.keys.len()).map(|key| moves.term_length(self.own, self.query, key)).collect(),
            columns: Columns::Keys,
            first: Quantity::TermLength.of_head(self.head, [self.query, 0]),
        }
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
        let (head, query) = (self.own + 1, self.said_query());
        // Without a residual nothing is added to the word: what the heads bring takes its place.
        let does = if self.config().residual {
            format!("head {head} adds an arrow of length {length} to {query}")
        } else {
            format!("head {head} brings {query} a vector of length {length}")
        };
        let (equation, said) = if config.output {
            let said = format!("W_O projects the mix back to {} numbers: {does}.{others}", config.width);
            ("\\Delta_i = \\sum_h m_i^h W_O^h + b_O".to_owned(), said)
        } else {
            let said = format!("The mixes of the heads stand side by side: {does}.");
            ("\\Delta_i = \\operatorname{Concat}(m_i^1, \\dots, m_i^H)".to_owned(), said)
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
        let (x, a) = if config.residual { ("x_i + \\Delta_i", "a_i + ") } else { ("\\Delta_i", "") };
        let equation = match (config.norm, config.feed_forward) {
            (Norm::Post, None) => format!("y_i = \\operatorname{{Norm}}({x})"),
            (Norm::Post, Some(_)) => format!(
                "a_i = \\operatorname{{Norm}}({x}), \\quad y_i = \\operatorname{{Norm}}({a}\\operatorname{{FFN}}(a_i))"
            ),
            (Norm::Pre, Some(_)) => {
                format!("a_i = {x}, \\quad y_i = {a}\\operatorname{{FFN}}(\\operatorname{{Norm}}(a_i))")
            }
            (Norm::None, Some(_)) => format!("a_i = {x}, \\quad y_i = {a}\\operatorname{{FFN}}(a_i)"),
            (Norm::None | Norm::Pre, None) => format!("y_i = {x}"),
        };
        let is_last = self.block + 1 == self.reader.sentence.activations.blocks.len();
        let name = self.said_query();
        let block = &self.reader.sentence.activations.blocks[self.block];
        let length = distance(block.input.row(self.query), block.output.row(self.query));
        let in_this_layer = if self.reader.sentence.activations.blocks.len() > 1 { " in this layer" } else { "" };
        let moves = match length < LEAST_LENGTH {
            true => format!("{name} stays where it is{in_this_layer}"),
            false => format!("{name} moves by {}{in_this_layer}", number(length)),
        };
        let moved = match self.nearest() {
            Some(nearest) if is_last => format!("{moves}{nearest}"),
            _ if is_last => format!("{moves}."),
            _ if self.feeds_cross_attention() => format!("{moves}, and goes on to the cross-attention."),
            _ => format!("{moves}, and goes on to the layer above."),
        };
        let answer = is_last.then(|| said(self.reader.model, self.query)).flatten();
        let answer = answer.map_or_else(String::new, |answer| format!(" {answer}"));
        (equation, format!("{moved}{}{}{answer}", self.pulled_back(length), self.behind_the_heads()), rows)
    }

    /// A sentence on the other heads where the arrow of this one is longer than the whole move of `moved`.
    fn pulled_back(&self, moved: f32) -> String {
        let config = self.config();
        let is_sum_of_heads = config.residual && config.norm != Norm::Post && config.feed_forward.is_none();
        let length = self.reader.sentence.contributions[self.block].head_lengths[self.own][self.query];
        if !is_sum_of_heads || length <= moved + LEAST_LENGTH {
            return String::new();
        }
        let others = match config.attention.heads {
            1 => "b_O pulls".to_owned(),
            2 => format!("head {} pulls", 2 - self.own),
            _ => "the other heads together pull".to_owned(),
        };
        format!(" Head {} alone would move it by {}; {others} it back.", self.own + 1, number(length))
    }

    /// The layer's effect on the move behind the heads, as a sentence of its own.
    fn behind_the_heads(&self) -> String {
        let length = |part: Part| {
            let parts = &self.reader.sentence.moves[self.block].parts;
            parts.iter().find(|moves| moves.part == part).map(|moves| number(moves.lengths[self.query]))
        };
        let norms = match self.reader.norms_after(self.block) {
            0 => String::new(),
            1 => {
                " The norm rescales every arrow by one factor, the σ of their sum, and then shifts the word.".to_owned()
            }
            _ => " The norms rescale every arrow by one factor, the σ of their sums, and shift the word.".to_owned(),
        };
        let feeds = length(Part::FeedForward).map(|length| {
            let verb = if self.config().residual { "adds an arrow" } else { "takes its place, by an arrow" };
            format!(" The feed-forward layer {verb} of length {length}.")
        });
        format!("{norms}{}", feeds.unwrap_or_default())
    }

    /// The nearest static vectors at the beginning and at the end, as a sentence goes on; `None` for a word that has no
    /// static vector.
    fn nearest(&self) -> Option<String> {
        let sentence = self.reader.sentence;
        let first = |all: Option<&'a Neighbours>| all?.by_cosine.first();
        let before = first(sentence.static_neighbours.get(self.query))?;
        let now = first(sentence.contextual_neighbours.get(self.query))?;
        let own = sentence.tokens.get(self.query).and_then(|token| token.word);
        if Some(now.word) == own && now.cosine >= NEAR {
            return Some(format!("; its own static vector is still the nearest (cosine {:.3}).", now.cosine));
        }
        if before.word == now.word && before.cosine.min(now.cosine) >= NEAR {
            let word = quoted(&self.reader.space.vocabulary[now.word]);
            let (before, now) = (before.cosine, now.cosine);
            return Some(format!(
                ". It is nearest to {word}, before (cosine {before:.3}) and after (cosine {now:.3})."
            ));
        }
        let near = |one: &Neighbour| {
            let word = quoted(&self.reader.space.vocabulary[one.word]);
            (one.cosine >= NEAR).then(|| format!("{word} (cosine {:.3})", one.cosine))
        };
        Some(match (near(before), near(now)) {
            (Some(before), Some(now)) => format!(". It began nearest to {before} and is now nearest to {now}."),
            (None, Some(now)) => format!(". It began with no close neighbour; now it is nearest to {now}."),
            (Some(before), None) => format!(". It began nearest to {before}; now it has no close neighbour."),
            (None, None) => ". It has no close neighbour, before or after.".to_owned(),
        })
    }

    /// Its outputs are the keys and values of a block that looks at the source, or that block's queries.
    fn feeds_cross_attention(&self) -> bool {
        let architecture = &self.reader.model.architecture;
        let mut next = architecture.numbered_blocks().filter(|(number, _)| *number == self.block + 1);
        architecture.source_blocks.len() == self.block + 1 || next.any(|(_, block)| block.attends_to_source())
    }
}
