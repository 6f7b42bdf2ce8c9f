//! The rule of each quantity, by subject: heads, blocks around them, the readout, and the geometry of the picture.

mod block;
mod geometry;
mod head;
mod readout;

use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::quantity::{Entry, Quantity};

pub use self::block::after_heads;
use super::reader::EntryReader;
use super::rule::{Expr, Fold, Number, Rule};

impl EntryReader<'_> {
    /// The rule by which an entry is computed, as this model has it; `None` of a quantity that is not explained, and where the
    /// model has no such entry.
    pub fn rule_of(&self, entry: Entry) -> Option<Rule> {
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
