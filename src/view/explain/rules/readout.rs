//! Rules of the readout, its logits and probabilities, and of learned numbers.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::params::pairs::TRANSFORM_NORM;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::quantity::{Entry, Quantity, latex};

use super::super::print::{call, print, print_with};
use super::super::reader::EntryReader;
use super::super::rule::{Bound, Expr, Fold, Function, Number, Over, Rule, at};
use super::RowStatistics;

/// The number of logits that a worked softmax lists: more than any view shows.
const LOGITS_NAMED: usize = 64;

impl EntryReader<'_> {
    /// Returns the rule of a learned number, with other values of it: before the learner's change, and before training.
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

    /// Builds the rule of a logit. A readout with a layer of its own reads the outputs after that layer.
    pub(super) fn logit(&self, row: usize, class: usize) -> Option<Rule> {
        let architecture = &self.model.architecture;
        let bound = Bound::default().with('i', row).with('t', self.sentence.tokens.len().checked_sub(1)?);
        let weights = self.readout_of(class)?;
        let sum = match (architecture.readout.activation(), architecture.pooling) {
            (Some(activation), _) => match self.transformed(activation, &bound) {
                Some(transformed) => (transformed * weights).sum('d', self.width()),
                None => Expr::Given(Vec::new()).printed(format!("t \\cdot {}", print(&weights))),
            },
            (None, Pooling::Mean) => {
                let tokens = self.sentence.tokens.len();
                (at(self.contextual(0, 0), "td") * weights * share(tokens)).sum('d', self.width()).sum('t', tokens)
            }
            (None, _) => (self.pooled('d') * weights).sum('d', self.width()),
        };
        let scale = architecture.logit_scale.map(|scale| Number::new("c", "scale", scale));
        let sum = match scale {
            Some(scale) => Expr::from(scale) * sum,
            None => sum,
        };
        let bias = Entry::parameter(TensorName::LogitBias.into(), 0, class);
        let sum = sum.plus(architecture.readout_bias.then(|| at(bias, "").printed("b_c")));
        let logit = match architecture.logit_cap {
            None => sum,
            Some(cap) => {
                let cap = || Expr::from(Number::new("c", "", cap));
                cap() * (sum / cap()).apply(Function::Tanh)
            }
        };
        Some(Rule::new("z_c", logit, bound))
    }

    /// Builds an entry of the output from which the logits are computed: the output of each token, the output of the
    /// last token, or the mean over all tokens.
    fn pooled(&self, letter: char) -> Expr {
        let first = self.contextual(0, 0);
        match self.model.architecture.pooling {
            Pooling::Every => at(first, &format!("i{letter}")),
            Pooling::Last => at(first, &format!("t{letter}")).printed_along("y_T", letter),
            Pooling::Mean => {
                let tokens = self.sentence.tokens.len();
                (at(first, &format!("t{letter}")) * share(tokens)).sum('t', tokens)
            }
        }
    }

    /// Builds the output of the readout's own layer; `None` if it takes too long to compute.
    fn transformed(&self, activation: Activation, bound: &Bound) -> Option<Expr> {
        let (width, parameters) = (self.width(), &self.model.parameters);
        let weights = at(Entry::parameter(TensorName::TransformWeights.into(), 0, 0), "ed");
        let bias = TensorId::from(TensorName::TransformBias);
        let bias = parameters.spec(bias).map(|_| at(Entry::parameter(bias, 0, 0), "_d"));
        let hidden = (self.pooled('e') * weights).sum('e', width).plus(bias).apply(Function::Activation(activation));
        let latex = print(&hidden);
        let hidden = self.row(&latex, "h", hidden, ('d', width), bound)?;
        let statistics = RowStatistics::of(self.model.architecture.norm_form, hidden.clone(), 'd', width);
        let normed = statistics.held(self, bound)?.norm_by(hidden, TRANSFORM_NORM, 'd');
        let row = self.row("t", "t", normed, ('d', width), bound)?;
        let definition = format!("t = {}", call("Norm", &latex));
        Some(row.printed_along("t", 'd').with_definition(definition))
    }

    /// Returns the weights with which a class reads the dimensions of the output; `None` if the class has no static
    /// vector.
    fn readout_of(&self, class: usize) -> Option<Expr> {
        let word = match self.model.architecture.readout.is_by_static_vectors() {
            false => None,
            // In a pretrained model, each row is a class, even if two pieces look alike.
            true if self.model.pretrained.is_some() => Some(class),
            true => Some(self.space.row_of(self.model.classes.get(class)?)?),
        };
        Some(match word {
            Some(word) => at(self.static_entry(word, 0), "_d").printed_along("E_c", 'd'),
            None => at(Entry::parameter(TensorName::LogitWeights.into(), 0, class), "d_").printed_along("W_c", 'd'),
        })
    }

    /// Builds the rule of a probability. Only some of the logits are listed, because a model may have as many classes
    /// as words.
    pub(super) fn probability(&self, row: usize, class: usize) -> Option<Rule> {
        let all = &self.sentence.answers.logits;
        let logits = (row < all.rows()).then(|| all.row(row))?;
        let never = &self.sentence.answers.never;
        let written = logits.iter().enumerate().filter(|(class, _)| !never.contains(class));
        let largest = written.map(|(_, logit)| *logit).fold(f32::NEG_INFINITY, f32::max);
        // Formulas leave out the largest logit: it cancels, and is subtracted only to keep the powers small.
        let softmax = |largest: Option<Number>| {
            let power = |first: usize, letter: &str| {
                let logit = at(Quantity::Logit.of_model([row, first]), &format!("_{letter}"));
                let shifted = if let Some(largest) = largest.clone() { logit - largest } else { logit };
                shifted.apply(Function::Exp)
            };
            let of = Box::new(power(0, "b"));
            let total = Over { fold: Fold::Sum, letter: 'b', count: logits.len(), of, named: LOGITS_NAMED };
            // Classes that the model may never write are left out of the sum.
            let total = never.iter().fold(Expr::Over(total), |total, class| total - power(*class, "_"));
            power(0, "c") / total
        };
        let formula = print_with("c", &softmax(None));
        let probability = softmax(Some(Number::new("", "max", largest.into())));
        Some(Rule::new("p_c", probability.printed(formula), Bound::default().with('c', class)))
    }
}

/// Returns the share of each token in the mean over this number of tokens.
fn share(tokens: usize) -> Expr {
    Expr::from(Number::plain(1.0)) / Number::new("T", "", tokens as f64)
}
