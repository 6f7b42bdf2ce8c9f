//! Rules of the readout: logits and probabilities; and of what is learned.

use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::quantity::{Entry, Quantity, latex};

use super::super::print::print_with;
use super::super::reader::EntryReader;
use super::super::rule::{Bound, Expr, Fold, Function, Number, Over, Rule, at};

/// Logits that the softmax of one of them names: more than any view lists.
const LOGITS_NAMED: usize = 64;

impl EntryReader<'_> {
    /// A learned number, beside the values that it had before: as training left it, and as it began.
    pub(super) fn learned(&self, tensor: TensorId, row: usize, col: usize) -> Option<Rule> {
        let value = self.model.parameters.entry(tensor, row, col)?;
        let trained = self.model.trained.entry(tensor, row, col)?;
        let start = self.model.start.entry(tensor, row, col)?;
        let (is_read, is_trained) = (self.model.pretrained.is_some(), self.model.weights_origin() == "trained");
        let name = match (is_read, is_trained) {
            (true, _) => "in the file",
            (_, true) => "as training left it",
            (_, false) => "before your change",
        };
        let changed = (value != trained).then(|| Number::new("", name, trained.into()));
        let begun = (is_trained && !is_read).then(|| Number::new("", "before training", start.into()));
        let beside = changed.into_iter().chain(begun).collect();
        Some(Rule::new(latex(tensor.name), Expr::Given(beside), Bound::default()))
    }

    pub(super) fn logit(&self, row: usize, class: usize) -> Option<Rule> {
        let architecture = &self.model.architecture;
        let formula = self.logit_formula();
        if architecture.readout.activation().is_some() {
            return Some(Rule::given(formula));
        }
        let tokens = self.sentence.tokens.len();
        let mut bound = Bound::default();
        let read = self.contextual(0, 0);
        let weights = self.readout_of(class)?;
        let product = |share: Option<Number>| (at(read, "td") * weights.clone()).times(share).sum('d', self.width());
        let sum = match architecture.pooling {
            Pooling::Every => {
                bound = bound.with('t', row);
                product(None)
            }
            Pooling::Last => {
                bound = bound.with('t', tokens.checked_sub(1)?);
                product(None)
            }
            Pooling::Mean => product(Some(Number::new("", "1/T", 1.0 / tokens as f64))).sum('t', tokens),
        };
        let bias = Entry::parameter(TensorName::LogitBias.into(), 0, class);
        let sum = sum.plus(architecture.readout_bias.then(|| at(bias, "")));
        let logit = match architecture.logit_cap {
            None => sum,
            Some(cap) => {
                let cap = || Expr::from(Number::new("c", "", cap));
                cap() * (sum / cap()).apply(Function::Tanh)
            }
        };
        Some(Rule::new(formula, logit, bound))
    }

    /// The weights by which a class reads the dimensions of the outputs.
    fn readout_of(&self, class: usize) -> Option<Expr> {
        let word = match self.model.architecture.readout.is_by_static_vectors() {
            false => None,
            // Pieces of a pretrained model may look alike, but all of them are classes.
            true if self.model.pretrained.is_some() => Some(class),
            true => Some(self.space.row_of(self.model.classes.get(class)?)?),
        };
        Some(match word {
            Some(word) => at(self.static_entry(word, 0), "_d"),
            None => at(Entry::parameter(TensorName::LogitWeights.into(), 0, class), "d_"),
        })
    }

    fn logit_formula(&self) -> String {
        let architecture = &self.model.architecture;
        let read = match architecture.pooling {
            Pooling::Every => "r = y_i",
            Pooling::Last => "r = y_T",
            Pooling::Mean => "r = \\tfrac{1}{T} \\sum_t y_t",
        };
        let by = if architecture.readout.is_by_static_vectors() { "E_c" } else { "W_c" };
        let bias = if architecture.readout_bias { " + b_c" } else { "" };
        if architecture.readout.activation().is_some() {
            let transformed = "t = \\operatorname{Norm}(\\varphi(r W_T + b_T))";
            return format!("z_c = t \\cdot {by}{bias}, \\quad {transformed}, \\quad {read}");
        }
        let logit = format!("r \\cdot {by}{bias}");
        let logit = match architecture.logit_cap {
            Some(_) => format!("c \\tanh\\left(\\tfrac{{1}}{{c}} ({logit})\\right)"),
            None => logit,
        };
        format!("z_c = {logit}, \\quad {read}")
    }

    /// Names the largest logits alone: a model may have as many classes as words.
    pub(super) fn probability(&self, row: usize, class: usize) -> Option<Rule> {
        let all = &self.sentence.answers.logits;
        let logits = (row < all.rows()).then(|| all.row(row))?;
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // Formulas leave out the largest logit, which keeps the powers small and cancels.
        let share = |largest: Option<Number>| {
            let power = |letter: &str| {
                let logit = at(Quantity::Logit.of_model([row, 0]), &format!("_{letter}"));
                let shifted = if let Some(largest) = largest.clone() { logit - largest } else { logit };
                shifted.apply(Function::Exp)
            };
            let of = Box::new(power("b"));
            let total = Over { fold: Fold::Sum, letter: 'b', count: logits.len(), of, named: LOGITS_NAMED };
            power("c") / Expr::Over(total)
        };
        let formula = format!("p_c = {}", print_with("c", &share(None)));
        let share = share(Some(Number::new("", "max", largest.into())));
        Some(Rule::new(formula, share, Bound::default().with('c', class)))
    }
}
