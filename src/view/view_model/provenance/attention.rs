//! Formulas of a head: from its projections to what it adds.

use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Quantity};

use super::worked::{Explanation, Operand, Term, Worked, constant, explained, sum};
use crate::view_model::quoted;
use crate::view_model::reader::{HeadParts, Reader};

/// Term of a score that distance adds, in LaTeX.
pub const DISTANCE_BIAS: &str = "\\frac{B_{h,\\,j-i}}{\\tau}";

impl Reader<'_> {
    pub(super) fn product(&self, head: usize, query: usize, key: usize) -> Option<Explanation> {
        let width = self.head(head)?.activations.query.cols();
        let pair = |dim| {
            let query = self.operand(Quantity::Query.of_head(head, [query, dim]))?;
            Some(Term::of([query, self.operand(Quantity::Key.of_head(head, [key, dim]))?]))
        };
        let terms: Option<Vec<Term>> = (0..width).map(pair).collect();
        explained("q_i \\cdot k_j = \\sum_d q_{id} \\, k_{jd}", Worked::Sum(terms?))
    }

    pub(super) fn projected(&self, entry: Entry, symbol: &str, [w, b]: [TensorName; 2]) -> Option<Explanation> {
        let (head, [token, dim, _]) = (entry.owner.number(), entry.index);
        let parts = self.head(head)?;
        let of_keys = symbol != "q";
        let attention = &parts.config.attention;
        let columns = match w {
            TensorName::ValueWeights => attention.value_columns(parts.own),
            _ => attention.key_columns(parts.own),
        };
        let col = columns.start + dim;
        if !attention.projected {
            let read = self.operand(self.read(head, token, col, of_keys)?)?;
            return explained(&format!("{symbol}_i = x_i"), sum(vec![read]));
        }
        let tensor = w.of_block(parts.block);
        let term = |row| {
            let read = self.operand(self.read(head, token, row, of_keys)?)?;
            Some(Term::of([read, self.operand(Entry::parameter(tensor, row, col))?]))
        };
        let mut terms = (0..self.width()).map(term).collect::<Option<Vec<Term>>>()?;
        let bias = Entry::parameter(b.of_block(parts.block), 0, col);
        let bias = self.operand(bias).filter(|_| attention.bias);
        let upper = symbol.to_uppercase();
        let added = if bias.is_some() { format!(" + b_{upper}") } else { String::new() };
        terms.extend(bias.map(|bias| Term::of([bias])));
        let x = match (of_keys && parts.config.attends_to_source(), parts.config.norm == Norm::Pre) {
            (true, _) => "z_j",
            (false, true) => "\\operatorname{Norm}(x_i)",
            (false, false) => "x_i",
        };
        let index = if of_keys { "j" } else { "i" };
        let x = if of_keys { x.replace("_i", "_j") } else { x.to_owned() };
        explained(&format!("{symbol}_{index} = {x} \\, W_{upper}{added}"), Worked::Sum(terms))
    }

    fn temperature(&self, parts: &HeadParts) -> f64 {
        self.model.interventions.temperature_of(parts.config)
    }

    /// Says that the learner set the temperature, if so.
    pub(super) fn temperature_note(&self, parts: &HeadParts) -> Option<String> {
        let (set, own) = (self.model.interventions.temperature?, parts.config.attention.temperature);
        Some(format!("The temperature was set to {set}; the lesson has {own}."))
    }

    pub(super) fn scale(&self, head: usize) -> Option<Explanation> {
        let parts = self.head(head)?;
        let (attention, changed) = (&parts.config.attention, &self.model.interventions);
        let (divisor, temperature) = (attention.score_divisor, self.temperature(&parts));
        let is_scaled = changed.scale.unwrap_or(attention.scale);
        let key_width = is_scaled.then(|| parts.activations.query.cols());
        let root = if is_scaled { " \\sqrt{d_k}" } else { "" };
        let symbols = format!("\\frac{{1}}{{{}\\tau{root}}}", symbol_of(divisor));
        let mut notes: Vec<String> = self.temperature_note(&parts).into_iter().collect();
        if divisor != 1.0 {
            notes.push(format!("In this layer the model divides its scores by {divisor}, at any temperature."));
        }
        if let Some(is_on) = changed.scale.filter(|is_on| *is_on != attention.scale) {
            notes.push(format!("Scaling was turned {}.", if is_on { "on" } else { "off" }));
        }
        Some((symbols, Worked::Scale { key_width, divisor, temperature }, notes))
    }

    /// `B[h, j − i] · 1/τ`; `None` where distances do not count.
    pub(super) fn distance_term(&self, head: usize, query: usize, key: usize) -> Option<Term> {
        let parts = self.head(head).filter(|parts| parts.has(query, key))?;
        let col = (parts.config.attention.distances? + key).checked_sub(query + 1)?;
        let tensor = TensorName::DistanceBias.of_block(parts.block);
        let bias = self.operand(Entry::parameter(tensor, parts.own, col))?;
        let temperature = self.temperature(&parts);
        let share = (temperature != 1.0).then(|| constant("1/τ", (1.0 / temperature) as f32));
        Some(Term::of([Some(bias), share].into_iter().flatten()))
    }

    pub(super) fn score(&self, head: usize, query: usize, key: usize) -> Option<Explanation> {
        let hidden = self.value(Quantity::Score.of_head(head, [query, key]))? == f32::NEG_INFINITY;
        let product = self.operand(Quantity::Product.of_head(head, [query, key]))?;
        if hidden {
            let notes = vec![self.hides(head, query, key)];
            return Some(("s_{ij} = -\\infty".to_owned(), Worked::Given(vec![product]), notes));
        }
        let term = Term::of([self.operand(Quantity::Scale.of_head(head, []))?, product]);
        let (_, _, notes) = self.scale(head)?;
        let divisor = symbol_of(self.head(head)?.config.attention.score_divisor);
        let mut symbols = format!("s_{{ij}} = \\frac{{q_i \\cdot k_j}}{{{divisor}\\tau \\sqrt{{d_k}}}}");
        let mut terms = vec![term];
        if let Some(distance) = self.distance_term(head, query, key) {
            symbols.push_str(&format!(" + {DISTANCE_BIAS}"));
            terms.push(distance);
        }
        Some((symbols, Worked::Sum(terms), notes))
    }

    fn hides(&self, head: usize, query: usize, key: usize) -> String {
        let interventions = &self.model.interventions;
        let is_removed = interventions.edges.contains(&Edge { head, query, key });
        let whose = if interventions.mask.is_some() { "your mask" } else { "the mask" };
        let (query, key) = (quoted(&self.query_word(head, query)), quoted(&self.key_word(head, key)));
        if is_removed {
            return format!(
                "You removed this edge: {query} does not look at {key} in this head, so the weight is exactly 0."
            );
        }
        format!("{query} does not see {key}: {whose} hides it, so the weight is exactly 0.")
    }

    pub(super) fn exponential(&self, head: usize, query: usize, key: usize) -> Option<Explanation> {
        let score = self.operand(Quantity::Score.of_head(head, [query, key]))?;
        let scores = self.head(head)?.activations.scores.row(query);
        let largest = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
        let mut largest = self.operand(Quantity::Score.of_head(head, [query, largest]))?;
        let symbols = "e^{s_{ij} - \\max_k s_{ik}}".to_owned();
        if largest.value == f32::NEG_INFINITY {
            let note = format!("{} sees no word at all.", quoted(&self.query_word(head, query)));
            return Some((symbols, Worked::Given(vec![score]), vec![note]));
        }
        largest.label = format!("max {}", largest.label);
        let is_hidden = score.value == f32::NEG_INFINITY;
        let notes = is_hidden.then(|| self.hides(head, query, key)).into_iter().collect();
        Some((symbols, Worked::Exponential { score, largest }, notes))
    }

    pub(super) fn weight(&self, head: usize, query: usize, key: usize) -> Option<Explanation> {
        let parts = self.head(head)?;
        let is_hidden = self.value(Quantity::Score.of_head(head, [query, key]))? == f32::NEG_INFINITY;
        let mut notes: Vec<String> = Vec::new();
        if is_hidden && !matches!(parts.mode, HeadMode::Frozen(_) | HeadMode::Mean) {
            notes.push(self.hides(head, query, key));
        }
        notes.extend(self.head_notes(head, Effect::Weights));
        let worked = match parts.mode {
            HeadMode::Uniform if is_hidden => Worked::Given(Vec::new()),
            HeadMode::Uniform => {
                let scores = parts.activations.scores.row(query);
                Worked::Share(scores.iter().filter(|score| **score > f32::NEG_INFINITY).count())
            }
            HeadMode::Frozen(_) | HeadMode::Mean => Worked::Given(Vec::new()),
            HeadMode::Live | HeadMode::Off | HeadMode::Gain(_) => {
                let over = self.operand(Quantity::Exponential.of_head(head, [query, key]))?;
                let under = self.operand(Quantity::RowSum.of_head(head, [query]))?;
                if under.value == 0.0 {
                    notes = vec![format!(
                        "{} sees no word at all: all its weights are 0.",
                        quoted(&self.query_word(head, query))
                    )];
                    Worked::Given(vec![over])
                } else {
                    Worked::Quotient { over, under }
                }
            }
        };
        let symbols = match parts.mode {
            HeadMode::Uniform => "\\alpha_{ij} = \\frac{1}{\\text{keys in sight}}",
            HeadMode::Frozen(_) => "\\alpha_{ij} = \\text{as it was when frozen}",
            HeadMode::Mean => "\\alpha_{ij} = \\text{mean over all queries}",
            HeadMode::Live | HeadMode::Off | HeadMode::Gain(_) => {
                "\\alpha_{ij} = \\frac{e^{s_{ij} - \\max_k s_{ik}}}{\\sum_l e^{s_{il} - \\max_k s_{ik}}}"
            }
        };
        Some((symbols.to_owned(), worked, notes))
    }

    /// Says what the learner did to a head, where it counts.
    pub(super) fn head_notes(&self, head: usize, effect: Effect) -> Vec<String> {
        let title = self.labels.title(head);
        let said: Option<String> = match (self.model.interventions.heads.get(head), effect) {
            (Some(HeadMode::Off), Effect::Sum) => Some(format!("{title} is off: it mixes nothing, and adds nothing.")),
            (Some(HeadMode::Gain(gain)), Effect::Sum) => Some(format!("What {title} mixes counts {gain} times.")),
            (Some(HeadMode::Off), Effect::Weights) => Some(format!("{title} is off: its weights are not used.")),
            (Some(HeadMode::Uniform), Effect::Weights) => {
                Some(format!("{title} is set to look everywhere alike: its scores do not count."))
            }
            (Some(HeadMode::Frozen(_)), Effect::Weights) => {
                Some(format!("{title} is frozen: its weights stay as they were, whatever the scores say."))
            }
            (Some(HeadMode::Mean), _) => Some(format!(
                "{title} adds the same everywhere, the mean of its outputs over the sentence: each row is the mean of all rows."
            )),
            _ => None,
        };
        said.into_iter().collect()
    }

    /// A factor of what a head mixes, where the learner gave it one.
    fn gain(&self, head: usize) -> Option<Operand> {
        let has_gain = matches!(self.head(head)?.mode, HeadMode::Gain(_));
        self.operand(Quantity::Gain.of_head(head, [])).filter(|_| has_gain)
    }

    pub(super) fn mix(&self, head: usize, token: usize, dim: usize) -> Option<Explanation> {
        let parts = self.head(head)?;
        let symbols = "m_i = \\sum_j \\alpha_{ij} \\, v_j".to_owned();
        let notes = self.head_notes(head, Effect::Sum);
        if *parts.mode == HeadMode::Off {
            return Some((symbols, Worked::Given(Vec::new()), notes));
        }
        let symbols = if matches!(parts.mode, HeadMode::Gain(_)) { symbols.replace('=', "= g") } else { symbols };
        let term = |key| {
            let weight = self.operand(Quantity::Weight.of_head(head, [token, key]))?;
            let value = self.operand(Quantity::Value.of_head(head, [key, dim]))?;
            Some(Term::of([weight, value].into_iter().chain(self.gain(head))))
        };
        let terms: Option<Vec<Term>> = (0..parts.activations.weights.cols()).map(term).collect();
        Some((symbols, Worked::Sum(terms?), notes))
    }

    pub(super) fn term(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Explanation> {
        let parts = self.head(head)?;
        let notes = self.head_notes(head, Effect::Sum);
        let attention = &parts.config.attention;
        let columns = attention.value_columns(parts.own);
        let weight = self.operand(Quantity::Weight.of_head(head, [query, key]))?;
        if *parts.mode == HeadMode::Off {
            return Some(("\\alpha_{ij} \\, v_j W_O".to_owned(), Worked::Given(Vec::new()), notes));
        }
        if !attention.output {
            let symbols = "\\alpha_{ij} \\, v_j".to_owned();
            if !columns.contains(&dim) {
                let note =
                    format!("This entry belongs to another head: {} adds nothing here.", self.labels.title(head));
                return Some((symbols, Worked::Given(Vec::new()), vec![note]));
            }
            let value = self.operand(Quantity::Value.of_head(head, [key, dim - columns.start]))?;
            let term = Term::of([weight, value].into_iter().chain(self.gain(head)));
            return Some((symbols, Worked::Sum(vec![term]), notes));
        }
        let tensor = TensorName::OutputWeights.of_block(parts.block);
        let part = |c: usize| {
            let value = self.operand(Quantity::Value.of_head(head, [key, c]))?;
            let weights = self.operand(Entry::parameter(tensor, columns.start + c, dim))?;
            Some(Term::of([weight.clone(), value, weights].into_iter().chain(self.gain(head))))
        };
        let terms: Option<Vec<Term>> = (0..columns.len()).map(part).collect();
        Some((
            "\\alpha_{ij} \\, v_j W_O = \\alpha_{ij} \\sum_c v_{jc} \\, W_{O\\,cd}".to_owned(),
            Worked::Sum(terms?),
            notes,
        ))
    }
}

/// A layer's own divisor as a factor of a formula; nothing where it is 1.
fn symbol_of(divisor: f64) -> String {
    if divisor == 1.0 { String::new() } else { format!("{divisor} ") }
}

/// Parts of a head that an intervention changes: its weights, or the sum that it adds.
#[derive(Clone, Copy)]
pub enum Effect {
    Weights,
    Sum,
}
