//! The rule of each quantity, by subject: heads, blocks around them, the readout, and the geometry of the picture.

mod block;
mod geometry;
mod head;
mod readout;

use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_core::lesson::recorded::Towers;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::numerics::params::TensorId;
use attune_engine::quantity::{Entry, Owner, Quantity};
use attune_engine::recording::about::Precision;
use attune_engine::recording::parts::Part as FilePart;
use attune_engine::recording::proof::precision;
use attune_engine::recording::{Attention, RecordedText};

use super::print::print;
use super::reader::EntryReader;
use super::rule::{Bound, Expr, Fold, Number, Rule, at};

impl EntryReader<'_> {
    /// Returns the rule by which this model computes an entry; `None` if its quantity has no rule, or if the model has
    /// no such entry.
    pub fn rule_of(&self, entry: Entry) -> Option<Rule> {
        if let Some(pass) = &self.model.recorded {
            return self.recorded_rule(pass, entry);
        }
        self.computed_rule(entry)
    }

    /// Returns the rule of an entry of a recording: numbers in the file are given, and the others are computed from
    /// them.
    fn recorded_rule(&self, pass: &RecordedPass, entry: Entry) -> Option<Rule> {
        use Quantity::*;
        let part = |part: FilePart| self.recorded_as(pass, entry, part);
        match entry.quantity {
            Query => part(FilePart::Queries),
            Key => part(FilePart::Keys),
            Value => part(FilePart::Values),
            DistanceBias => part(FilePart::ScoreBias),
            Scale => part(FilePart::ScoreScale).or_else(|| self.computed_rule(entry)),
            Score if !self.is_scored_as_in_rule(pass, entry) => Some(Rule::given("s_{ij}")),
            Exponential if !self.is_whole_softmax(pass, entry) => Some(Rule::given("e_{ij}")),
            RowSum if !self.is_whole_softmax(pass, entry) => Some(Rule::given("\\sum_l e_{il}")),
            Weight if !self.follows_from_scores(entry) => part(FilePart::Attentions),
            Mix if !self.shows_all_keys(pass, entry) => Some(Rule::given("m_i")),
            Static | Input | Output | Final => Some(Rule::given("\\text{hidden\\_states}")),
            Logit => Some(Rule::given("\\text{logits}")),
            Term | Arrow | TermLength | WordLength | HeadLength | HeadArrowLength => part(FilePart::OutputWeight),
            _ => self.computed_rule(entry),
        }
    }

    /// Returns whether a recorded weight is the softmax of the recorded queries and keys that are shown.
    pub(super) fn follows_from_scores(&self, entry: Entry) -> bool {
        let Entry { owner, index: [query, key, _], .. } = entry;
        let Some(pass) = &self.model.recorded else { return false };
        let Some((text, attention)) = self.recorded_attention(pass, entry) else { return false };
        let Some(parts) = self.head(owner.number()).filter(|parts| parts.has(query, key)) else { return false };
        let is_scored = self.is_known(Quantity::Score.of_head(owner.number(), [query, key]));
        if !is_scored || !self.is_whole_softmax(pass, entry) {
            return false;
        }
        let softmax = parts.arithmetic.exponentials.get(query, key) / parts.arithmetic.sums[query];
        let weight = parts.activations.weights.get(query, key);
        let rounding = rounding(precision(text, attention));
        (softmax - weight).abs() <= rounding * weight.max(rounding)
    }

    /// Returns whether the softmax of a recorded head is over exactly the keys that are shown, without sinks.
    fn is_whole_softmax(&self, pass: &RecordedPass, entry: Entry) -> bool {
        let attention = self.recorded_attention(pass, entry);
        self.shows_all_keys(pass, entry) && attention.is_some_and(|(_, of)| of.part(FilePart::Sinks).is_none())
    }

    /// Returns whether all keys of a recorded head are shown, and not a stretch of them.
    fn shows_all_keys(&self, pass: &RecordedPass, entry: Entry) -> bool {
        let shown = self.head(entry.owner.number()).map(|parts| parts.activations.weights.cols());
        let all = self.recorded_attention(pass, entry).map(|(_, attention)| attention.weights().shape[2]);
        shown.is_some() && shown == all
    }

    /// Returns whether a recorded head has the scale and the cap that the rule has: those of the first head of the
    /// first text.
    fn is_scored_as_in_rule(&self, pass: &RecordedPass, entry: Entry) -> bool {
        let head = entry.owner.number();
        let (Some(parts), Some((_, attention))) = (self.head(head), self.recorded_attention(pass, entry)) else {
            return false;
        };
        let in_rule = self.scale(head).and_then(|rule| self.evaluate(&rule.expression, &rule.bound));
        let own = f64::from(parts.arithmetic.scale);
        let has_scale = in_rule.is_some_and(|scale| (scale - own).abs() <= f64::from(f32::EPSILON) * own.abs());
        let cap = pass.place.model.recording.cap(attention, parts.own);
        has_scale && cap.is_ok_and(|cap| cap == parts.config.attention.score_cap)
    }

    /// Returns the recorded attention to which the entry of a head belongs, and its text.
    fn recorded_attention<'p>(
        &self,
        pass: &'p RecordedPass,
        entry: Entry,
    ) -> Option<(&'p RecordedText, &'p Attention)> {
        let text = pass.place.model.recording.texts.get(pass.place.text)?;
        let (_, attention) = *Towers::of(text).blocks().get(self.head(entry.owner.number())?.block)?;
        Some((text, attention?))
    }

    /// Returns the rule of a given number, whose symbol is the name of the tensor in the file; `None` if the file has
    /// no such tensor.
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
        if let Some(normed) = self.norm_before(entry) {
            return Some(normed);
        }
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        match quantity {
            Parameter(name) => self.learned(name.of_block(number), i, j),
            Static => Some(Rule::given("E")),
            Position => Some(self.position(i, j)),
            Embedded => Some(self.embedded(number, i, j)),
            Input => Some(self.input(number, i, j)),
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
            Hidden => self.hidden(number, i, j),
            Joined => self.joined(number, i, j),
            Output => self.output(number, i, j),
            Logit => self.logit(i, j),
            Probability => self.probability(i, j),
            Coordinate => self.coordinate(owner.point()?, i),
            Cosine => self.cosine(owner.point()?, i),
            Distance => self.distance_between(owner.point()?, i),
            // Norms are explained by `norm_before`; the others are read only by code cells.
            Normed | Attended | Final | Visible | Temperature => None,
        }
    }
}

/// Returns by how much a weight may differ from the softmax of the recorded scores, relative to the weight, because
/// numbers were rounded.
const fn rounding(of: Precision) -> f32 {
    match of {
        Precision::F32 => 1e-4,
        Precision::F16 => 2e-3,
        Precision::BF16 => 1e-2,
    }
}

/// The numbers that a norm `γ (x − μ) / σ + β` takes from a whole row; an RMSNorm has no mean.
pub(super) struct RowStatistics {
    form: NormForm,
    mean: Option<Expr>,
    deviation: Expr,
}

impl RowStatistics {
    pub(super) fn of(form: NormForm, row: Expr, letter: char, count: usize) -> Self {
        let mean = (form.kind == NormKind::Layer).then(|| row.clone().over(Fold::Mean, letter, count));
        Self { form, mean, deviation: row.over(Fold::Deviation(form), letter, count) }
    }

    /// Evaluates the mean and the deviation once, for a rule that needs many entries of the row; `None` if a number is
    /// missing.
    pub(super) fn held(self, reader: &EntryReader<'_>, bound: &Bound) -> Option<Self> {
        let number = |of: &Expr, label: &str| Some(Number::new(print(of), label, reader.evaluate(of, bound)?).into());
        let mean = if let Some(mean) = &self.mean { Some(number(mean, "mean")?) } else { None };
        Some(Self { deviation: number(&self.deviation, "σ")?, mean, ..self })
    }

    /// Builds an entry of the normed row from the entry before the norm, a gain and a shift.
    pub(super) fn norm(&self, own: Expr, gain: Expr, shift: Option<Expr>) -> Expr {
        let centred = if let Some(mean) = &self.mean { own - mean.clone() } else { own };
        ((centred / self.deviation.clone()) * gain_of(self.form, gain)).plus(shift)
    }

    /// Builds the entry of a normed row that `letter` indexes; inside the mean and the deviation, the same letter runs
    /// over the whole row.
    pub(super) fn norm_row(form: NormForm, row: Expr, (letter, count): (char, usize), names: [TensorId; 2]) -> Expr {
        Self::of(form, row.clone(), letter, count).norm_by(row, names, letter)
    }

    /// Builds an entry of the normed row with the gain and the shift in these tensors, which the letter indexes.
    pub(super) fn norm_by(&self, own: Expr, [gain, shift]: [TensorId; 2], letter: char) -> Expr {
        let parameter = |tensor| at(Entry::parameter(tensor, 0, 0), &format!("_{letter}"));
        self.norm(own, parameter(gain), self.form.shift.then(|| parameter(shift)))
    }
}

/// Builds the factor of a norm's learned gain, which some norms store as the difference from 1.
fn gain_of(form: NormForm, gain: Expr) -> Expr {
    if form.gain_from_one { Expr::from(Number::plain(1.0)) + gain } else { gain }
}
