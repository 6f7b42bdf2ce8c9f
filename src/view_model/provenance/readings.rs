//! What is given, and what is read off the vectors: points, neighbours, answers.

use super::forward::{Told, sum};
use super::teller::{Teller, constant};
use super::worked::{Factor, Operand, Term, Worked};
use super::{Entry, Place};
use crate::kernel::snapshot::StaticSpace;
use crate::lesson::schema::StaticEmbedding;
use crate::numerics::model::{Pooling, Readout};
use crate::numerics::params::{TensorId, TensorName};
use crate::view_model::axes;

impl Teller<'_> {
    pub fn reading(&self, entry: Entry) -> Option<Told> {
        use Entry::*;
        match entry {
            Static { .. } => {
                let from = match self.snapshot.lesson.static_embedding {
                    StaticEmbedding::Given(_) => "The lesson gives it",
                    _ => "word2vec trained it on the lesson's corpus",
                };
                let note = format!("{from}; it is the same wherever the word stands.");
                Some(("E".to_owned(), Worked::Given(Vec::new()), vec![note]))
            }
            Position { .. } => {
                let note = "A fixed wave: sine and cosine of the place, slower from entry to entry.".to_owned();
                let symbols =
                    "P_{t,2i} = \\sin\\frac{t}{10000^{2i/D}}, \\quad P_{t,2i+1} = \\cos\\frac{t}{10000^{2i/D}}";
                Some((symbols.to_owned(), Worked::Given(Vec::new()), vec![note]))
            }
            Parameter { tensor, row, col } => self.parameter(tensor, row, col),
            Coordinate { of, axis } => self.coordinate(of, axis),
            Cosine { of, word } => {
                let symbols = "\\cos(a, b) = \\frac{a \\cdot b}{\\lVert a \\rVert \\, \\lVert b \\rVert}";
                Some((symbols.to_owned(), Worked::Cosine(self.pairs(of, word)?), true_space()))
            }
            Distance { of, word } => {
                let symbols = "\\lVert a - b \\rVert = \\sqrt{\\textstyle\\sum_d (a_d - b_d)^2}";
                Some((symbols.to_owned(), Worked::Distance(self.pairs(of, word)?), true_space()))
            }
            Logit { row, class } => self.logit(row, class),
            Probability { row, class } => {
                let classes = self.sentence.answers.logits.cols();
                let all = self.operands(classes, |class| Logit { row, class })?;
                let symbols = "p_c = \\frac{e^{z_c}}{\\sum_b e^{z_b}}";
                Some((symbols.to_owned(), Worked::Softmax { all, at: class }, Vec::new()))
            }
            _ => None,
        }
    }

    fn parameter(&self, tensor: TensorId, row: usize, col: usize) -> Option<Told> {
        let spec = self.model.parameters.spec(tensor)?;
        let at = row * spec.cols + col;
        let value = self.model.parameters.values_of(tensor)[at];
        let trained = self.model.trained.values_of(tensor)[at];
        let start = self.model.start.values_of(tensor)[at];
        let steps = self.model.training.step_shown();
        let mut others = vec![constant("before training", start)];
        if value != trained {
            others.insert(0, constant("as training left it", trained));
        }
        let note = match (value == trained, steps) {
            (false, _) => "It was turned by hand. Training left another number.".to_owned(),
            (true, 0) => "Training has not begun: it is as the seed drew it.".to_owned(),
            (true, steps) => format!("Training turned it to this in {steps} steps."),
        };
        let symbols = tensor.name.symbol().replace('γ', "\\gamma").replace('β', "\\beta").replace("_logits", "_Z");
        Some((symbols, Worked::Given(others), vec![note]))
    }

    /// An entry of the vector behind a point; none for the zero vector.
    fn vector(&self, of: Place, dim: usize) -> Option<Entry> {
        match of {
            Place::Word(word) => Some(Entry::Static { word, dim }),
            // Points begin at the vectors of word2vec, also where the model trains its own.
            Place::Static(token) => {
                let word = self.sentence.tokens.get(token)?.word?;
                Some(Entry::Static { word, dim })
            }
            Place::Contextual(token) => Some(Entry::Output { block: self.last_block(), token, dim }),
        }
    }

    fn vector_operand(&self, of: Place, dim: usize) -> Option<Operand> {
        match self.vector(of, dim) {
            Some(entry) => self.operand(entry),
            None => Some(constant("0", 0.0)),
        }
    }

    fn coordinate(&self, of: Place, axis: usize) -> Option<Told> {
        let projection = &self.space.projection;
        let (mean, direction) = (projection.mean(), projection.axis(axis));
        let term = |dim: usize| {
            let x = self.vector_operand(of, dim)?;
            let less = constant(&format!("mean[{dim}]"), mean[dim]);
            let along = constant(&format!("axis[{dim}]"), direction[dim]);
            let x = if mean[dim] == 0.0 { Factor::One(x) } else { Factor::Less(x, less) };
            Some(Term(vec![x, Factor::One(along)]))
        };
        let terms: Option<Vec<Term>> = (0..mean.len()).map(term).collect();
        let share = 100.0 * projection.explained().get(axis)?;
        let name = axes::names(self.space).into_iter().nth(axis)?;
        let of = if self.space.basis.fitted.is_some() { "the vectors it was fitted to" } else { "the static vectors" };
        let note = format!(
            "The axis {name} is the same for static and contextual places, and holds {share:.0} % of the variance of {of}."
        );
        Some(("p = \\sum_d (x_d - \\bar{x}_d) \\, u_d".to_owned(), Worked::Sum(terms?), vec![note]))
    }

    fn pairs(&self, of: Place, word: usize) -> Option<Vec<(Operand, Operand)>> {
        let StaticSpace { vectors, .. } = self.space;
        let pair = |dim| Some((self.vector_operand(of, dim)?, self.operand(Entry::Static { word, dim })?));
        (0..vectors.cols()).map(pair).collect()
    }

    fn logit(&self, row: usize, class: usize) -> Option<Told> {
        let (architecture, block) = (&self.model.architecture, self.last_block());
        let tokens = self.sentence.tokens.len();
        // Which outputs are read, and what each counts.
        let (read, share, said) = match architecture.pooling {
            Pooling::Every => (row..row + 1, None, "r = y_i"),
            Pooling::Last => (tokens.checked_sub(1)?..tokens, None, "r = y_T"),
            Pooling::Mean => (0..tokens, Some(1.0 / tokens as f32), "r = \\tfrac{1}{T} \\sum_t y_t"),
        };
        let weights = |dim| match architecture.readout {
            Readout::Tied => {
                let name = self.model.classes.get(class)?;
                let word = self.space.vocabulary.iter().position(|word| word == name)?;
                self.operand(self.static_entry(word, dim))
            }
            Readout::Linear => {
                self.operand(Entry::Parameter { tensor: TensorName::LogitWeights.into(), row: dim, col: class })
            }
        };
        let mut terms = Vec::new();
        for token in read {
            for dim in 0..architecture.width {
                let output = self.operand(Entry::Output { block, token, dim })?;
                let share = share.map(|share| constant("1/T", share));
                terms.push(Term::of([Some(output), Some(weights(dim)?), share].into_iter().flatten()));
            }
        }
        let bias = Entry::Parameter { tensor: TensorName::LogitBias.into(), row: 0, col: class };
        let Worked::Sum(bias) = sum(vec![self.operand(bias)?]) else { return None };
        terms.extend(bias);
        let by = if architecture.readout == Readout::Tied { "E_c" } else { "W_c" };
        Some((format!("z_c = r \\cdot {by} + b_c, \\quad {said}"), Worked::Sum(terms), Vec::new()))
    }
}

fn true_space() -> Vec<String> {
    vec!["In the true space of all dimensions, not in the picture.".to_owned()]
}
