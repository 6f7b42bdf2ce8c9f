//! The rule of each quantity, by subject: heads, blocks around them, the readout, and the geometry of the picture.

mod block;
mod geometry;
mod head;
mod readout;

use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::quantity::{Entry, Owner, Quantity};
use attune_engine::recording::parts::Part as FilePart;

pub use self::block::after_heads;
use super::reader::EntryReader;
use super::rule::{Expr, Fold, Number, Rule};

impl EntryReader<'_> {
    /// The rule by which an entry is computed, as this model has it; `None` of a quantity that is not explained, and where the
    /// model has no such entry.
    pub fn rule_of(&self, entry: Entry) -> Option<Rule> {
        if let Some(pass) = &self.model.recorded {
            return self.recorded_rule(pass, entry);
        }
        self.computed_rule(entry)
    }

    /// The rule of a recorded number: what stands in the file is given, and the rest is computed from that.
    fn recorded_rule(&self, pass: &RecordedPass, entry: Entry) -> Option<Rule> {
        use Quantity::*;
        let part = |part: FilePart| self.recorded_as(pass, entry, part);
        match entry.quantity {
            Query => part(FilePart::Queries),
            Key => part(FilePart::Keys),
            Value => part(FilePart::Values),
            DistanceBias => part(FilePart::ScoreBias),
            Scale => part(FilePart::ScoreScale),
            Weight if !self.follows_from_scores(entry) => part(FilePart::Attentions),
            Static | Input | Output | Final => Some(Rule::given("\\text{hidden\\_states}")),
            Logit => Some(Rule::given("\\text{logits}")),
            Term | Arrow | TermLength | WordLength | HeadLength | HeadArrowLength => part(FilePart::OutputWeight),
            _ => self.computed_rule(entry),
        }
    }

    /// Whether a recorded weight is the softmax of the recorded queries and keys.
    pub(super) fn follows_from_scores(&self, entry: Entry) -> bool {
        /// The rounding of the coarsest numbers that a weight is recorded in.
        const ROUNDING: f32 = 1e-2;
        let Entry { owner, index: [query, key, _], .. } = entry;
        let Some(parts) = self.head(owner.number()).filter(|parts| parts.has(query, key)) else { return false };
        if !self.is_known(Quantity::Score.of_head(owner.number(), [query, key])) {
            return false;
        }
        let softmax = parts.arithmetic.exponentials.get(query, key) / parts.arithmetic.sums[query];
        let weight = parts.activations.weights.get(query, key);
        (softmax - weight).abs() <= ROUNDING * weight.max(ROUNDING)
    }

    /// The tensor of the file in which a number of a head stands, or from which it comes.
    fn recorded_as(&self, pass: &RecordedPass, entry: Entry, part: FilePart) -> Option<Rule> {
        let block = match entry.owner {
            Owner::Head(head) => self.head(head)?.block,
            owner => owner.number(),
        };
        let name = pass.tensor(block, part)?;
        Some(Rule::given(format!("\\text{{{}}}", name.replace('_', "\\_"))))
    }

    fn computed_rule(&self, entry: Entry) -> Option<Rule> {
        use Quantity::*;
        if let Some(norm) = self.norm_before(entry) {
            return Some(norm.rule(self.width(), entry));
        }
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        match quantity {
            Parameter(name) => self.learned(name.of_block(number), i, j),
            Static => Some(Rule::given("E")),
            Position => Some(self.position(i, j)),
            Embedded => Some(self.embedded(i, j)),
            Input => self.input(number, i, j),
            Query | Key | Value => self.projection(entry),
            Product => self.product(number, i, j),
            Scale => self.scale(number),
            DistanceBias => self.distance(number, i, j),
            Score => self.score(number, i, j),
            Exponential => self.exponential(number, i, j),
            RowSum => self.row_sum(number, i),
            Weight => self.weight(number, i, j),
            Mix => self.mix(number, i, j),
            Gain => Some(Rule::given("\\text{set by hand}")),
            Term => self.term(number, i, j, k),
            Arrow => self.arrow(number, i, j, k),
            TermLength => self.term_length(number, i, j),
            WordLength => self.word_length(number, i, j),
            HeadLength | HeadArrowLength => self.head_length(quantity, number, i),
            Part => self.part_rule(number, self.part(number, i)?, j, k),
            PartLength => self.part_length(number, self.part(number, i)?, j),
            MoveLength => self.move_length(number, i),
            Summed => self.summed(number, i, j),
            Joined => self.joined(number, i, j),
            Output => self.output(number, i, j),
            Logit => self.logit(i, j),
            Probability => self.probability(i, j),
            Coordinate => self.coordinate(owner.point()?, i),
            Cosine => self.cosine(owner.point()?, i),
            Distance => self.distance_between(owner.point()?, i),
            // Made by a norm, and told above; or read by code alone.
            Normed | Attended | Final | Visible | Temperature => None,
        }
    }
}

/// `γ (x − mean) / σ + β` of one entry of a row, as the norm's form has it: an RMSNorm takes no mean off, and a gain may count
/// from 1.
pub(super) fn norm(
    form: NormForm,
    own: Expr,
    (row, letter, count): (Expr, char, usize),
    gain: Expr,
    shift: Option<Expr>,
) -> Expr {
    let centred = match form.kind {
        NormKind::Layer => own - row.clone().over(Fold::Mean, letter, count),
        NormKind::Rms => own,
    };
    let standardised = centred / row.over(Fold::Deviation(form), letter, count);
    (standardised * gain_of(form, gain)).plus(shift)
}

/// The factor that a norm's learned gain is.
fn gain_of(form: NormForm, gain: Expr) -> Expr {
    if form.gain_from_one { Expr::from(Number::plain(1.0)) + gain } else { gain }
}
