//! The way through a block: from what goes in to what comes out.

use super::Entry;
use super::teller::{HeadParts, Teller, constant};
use super::worked::{Operand, Term, Worked};
use crate::numerics::attention::HeadMode;
use crate::numerics::block::Norm;
use crate::numerics::params::{TensorId, TensorName};
use crate::numerics::positions::Positions;
use crate::view_model::quoted;

/// Term of a score that distance adds, in LaTeX.
const DISTANCE_BIAS: &str = "\\frac{B_{h,\\,j-i}}{\\tau}";

/// LaTeX, the numbers, and what else is to be said.
pub type Told = (String, Worked, Vec<String>);

fn told(symbols: &str, worked: Worked) -> Option<Told> {
    Some((symbols.to_owned(), worked, Vec::new()))
}

impl Teller<'_> {
    pub fn forward(&self, entry: Entry) -> Option<Told> {
        use Entry::*;
        match entry {
            Input { block, token, dim } => self.input(block, token, dim),
            Normed { block, token, dim } => {
                let row = self.operands(self.width(), |dim| Input { block, token, dim })?;
                let worked = self.norm(row, dim, block, [TensorName::AttentionNormGain, TensorName::AttentionNormBias]);
                told("n_d = \\gamma_d \\, \\frac{x_d - \\mu}{\\sigma} + \\beta_d", worked?)
            }
            Query { head, token, dim } => {
                self.projected(head, token, dim, "q", [TensorName::QueryWeights, TensorName::QueryBias])
            }
            Key { head, token, dim } => {
                self.projected(head, token, dim, "k", [TensorName::KeyWeights, TensorName::KeyBias])
            }
            Value { head, token, dim } => {
                self.projected(head, token, dim, "v", [TensorName::ValueWeights, TensorName::ValueBias])
            }
            Product { head, query, key } => self.product(head, query, key),
            Scale { head } => self.scale(head),
            DistanceBias { head, query, key } => {
                let symbols = format!("b_{{ij}} = {DISTANCE_BIAS}");
                let notes = self.temperature_note(&self.head(head)?).into_iter().collect();
                Some((symbols, Worked::Sum(vec![self.distance_term(head, query, key)?]), notes))
            }
            Score { head, query, key } => self.score(head, query, key),
            Exponential { head, query, key } => self.exponential(head, query, key),
            RowSum { head, query } => {
                let keys = self.head(head)?.activations.scores.cols();
                let terms = self.operands(keys, |key| Exponential { head, query, key })?;
                told("\\sum_l e^{s_{il} - \\max_k s_{ik}}", sum(terms))
            }
            Weight { head, query, key } => self.weight(head, query, key),
            Mix { head, token, dim } => self.mix(head, token, dim),
            Gain { .. } => told("\\text{set by hand}", Worked::Given(Vec::new())),
            Term { head, query, key, dim } => self.term(head, query, key, dim),
            TermLength { head, query, key } => {
                let entries = self.operands(self.width(), |dim| Term { head, query, key, dim })?;
                let worked = Worked::Length(entries.into_iter().map(|entry| vec![entry]).collect());
                told("\\lVert \\alpha_{ij} \\, v_j W_O \\rVert", worked)
            }
            WordLength { block, query, key } => {
                let heads = self.heads_of(block);
                let worked = self.length(|dim| heads.clone().map(|head| Term { head, query, key, dim }).collect());
                told("\\lVert \\sum_h \\alpha_{ij}^h \\, v_j^h W_O^h \\rVert", worked?)
            }
            HeadLength { head, query } => {
                let keys = self.head(head)?.activations.weights.cols();
                let worked = self.length(|dim| (0..keys).map(|key| Term { head, query, key, dim }).collect());
                Some((
                    "\\lVert \\sum_j \\alpha_{ij} \\, v_j W_O \\rVert".to_owned(),
                    worked?,
                    self.head_notes(head, Effect::Sum),
                ))
            }
            BiasLength { block } => {
                let tensor = TensorName::OutputBias.of_block(block);
                self.model.parameters.spec(tensor)?;
                let worked = self.length(|col| vec![Parameter { tensor, row: 0, col }]);
                told("\\lVert b_O \\rVert", worked?)
            }
            MoveLength { block, query } => {
                let bias = TensorName::OutputBias.of_block(block);
                let has_bias = self.model.parameters.spec(bias).is_some();
                let worked = self.length(|dim| {
                    let mut terms = self.terms_of(block, query, dim);
                    terms.extend(has_bias.then_some(Parameter { tensor: bias, row: 0, col: dim }));
                    terms
                });
                told(
                    "\\lVert \\Delta_i \\rVert, \\quad \\Delta_i = \\sum_h \\sum_j \\alpha_{ij}^h v_j^h W_O^h + b_O",
                    worked?,
                )
            }
            Summed { block, token, dim } => self.summed(block, token, dim),
            Output { block, token, dim } => self.output(block, token, dim),
            _ => None,
        }
    }

    fn width(&self) -> usize {
        self.model.architecture.width
    }

    fn heads_of(&self, block: usize) -> std::ops::Range<usize> {
        let first = self.first_head(block);
        first..first + self.config(block).map_or(0, |config| config.attention.heads)
    }

    fn product(&self, head: usize, query: usize, key: usize) -> Option<Told> {
        let width = self.head(head)?.activations.query.cols();
        let pair = |dim| {
            let query = self.operand(Entry::Query { head, token: query, dim })?;
            Some(Term::of([query, self.operand(Entry::Key { head, token: key, dim })?]))
        };
        let terms: Option<Vec<Term>> = (0..width).map(pair).collect();
        told("q_i \\cdot k_j = \\sum_d q_{id} \\, k_{jd}", Worked::Sum(terms?))
    }

    /// What all heads and keys of a block add to one entry.
    fn terms_of(&self, block: usize, query: usize, dim: usize) -> Vec<Entry> {
        let keys = self.sentence.contributions.get(block).map_or(0, |terms| terms.keys());
        let heads = self.heads_of(block);
        heads.flat_map(|head| (0..keys).map(move |key| Entry::Term { head, query, key, dim })).collect()
    }

    fn length(&self, sums: impl Fn(usize) -> Vec<Entry>) -> Option<Worked> {
        let row = |dim| sums(dim).into_iter().map(|entry| self.operand(entry)).collect::<Option<Vec<Operand>>>();
        let rows: Option<Vec<_>> = (0..self.width()).map(row).collect();
        Some(Worked::Length(rows?))
    }

    fn norm(&self, row: Vec<Operand>, dim: usize, block: usize, [gain, bias]: [TensorName; 2]) -> Option<Worked> {
        let own = |name: TensorName| self.operand(Entry::Parameter { tensor: name.of_block(block), row: 0, col: dim });
        Some(Worked::Norm { row, at: dim, gain: own(gain)?, bias: own(bias)? })
    }

    fn input(&self, block: usize, token: usize, dim: usize) -> Option<Told> {
        if !self.is_first(block) {
            let below = self.operand(Entry::Output { block: block - 1, token, dim })?;
            return told("x_i = y_i^{\\text{below}}", sum(vec![below]));
        }
        let mut terms = Vec::new();
        let mut notes = Vec::new();
        match self.word(block, token) {
            Some(word) => terms.push(self.operand(self.static_entry(word, dim))?),
            None => notes.push("No word stands here yet: its static vector is zero.".to_owned()),
        }
        let symbols = match self.model.architecture.positions {
            Positions::None => "x_i = E_{w_i}",
            Positions::Sinusoidal => {
                terms.push(self.operand(Entry::Position { place: token, dim })?);
                "x_i = E_{w_i} + P_i"
            }
            Positions::Learned => {
                let tensor = TensorId::from(TensorName::Positions);
                terms.push(self.operand(Entry::Parameter { tensor, row: token, col: dim })?);
                "x_i = E_{w_i} + P_i"
            }
        };
        Some((symbols.to_owned(), sum(terms), notes))
    }

    /// What a head reads: its own input, behind its norm where it norms first, or the source's last vectors.
    fn read(&self, head: usize, token: usize, dim: usize, of_keys: bool) -> Option<Entry> {
        let parts = self.head(head)?;
        if of_keys && parts.config.attends_to_source() {
            let block = self.model.architecture.source_blocks.len().checked_sub(1)?;
            return Some(Entry::Output { block, token, dim });
        }
        let block = parts.block;
        Some(if parts.config.norm == Norm::Pre {
            Entry::Normed { block, token, dim }
        } else {
            Entry::Input { block, token, dim }
        })
    }

    fn projected(&self, head: usize, token: usize, dim: usize, symbol: &str, [w, b]: [TensorName; 2]) -> Option<Told> {
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
            return told(&format!("{symbol}_i = x_i"), sum(vec![read]));
        }
        let tensor = w.of_block(parts.block);
        let term = |row| {
            let read = self.operand(self.read(head, token, row, of_keys)?)?;
            Some(Term::of([read, self.operand(Entry::Parameter { tensor, row, col })?]))
        };
        let mut terms = (0..self.width()).map(term).collect::<Option<Vec<Term>>>()?;
        let bias = Entry::Parameter { tensor: b.of_block(parts.block), row: 0, col };
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
        told(&format!("{symbol}_{index} = {x} \\, W_{upper}{added}"), Worked::Sum(terms))
    }

    fn temperature(&self, parts: &HeadParts) -> f64 {
        self.model.interventions.temperature_of(parts.config)
    }

    /// Says that the learner set the temperature, if so.
    fn temperature_note(&self, parts: &HeadParts) -> Option<String> {
        let (set, own) = (self.model.interventions.temperature?, parts.config.attention.temperature);
        Some(format!("The temperature was set to {set}; the lesson has {own}."))
    }

    fn scale(&self, head: usize) -> Option<Told> {
        let parts = self.head(head)?;
        let (attention, changed) = (&parts.config.attention, &self.model.interventions);
        let temperature = self.temperature(&parts);
        let is_scaled = changed.scale.unwrap_or(attention.scale);
        let key_width = is_scaled.then(|| parts.activations.query.cols());
        let symbols = if is_scaled { "\\frac{1}{\\tau \\sqrt{d_k}}" } else { "\\frac{1}{\\tau}" };
        let mut notes: Vec<String> = self.temperature_note(&parts).into_iter().collect();
        if let Some(is_on) = changed.scale.filter(|is_on| *is_on != attention.scale) {
            notes.push(format!("Scaling was turned {}.", if is_on { "on" } else { "off" }));
        }
        Some((symbols.to_owned(), Worked::Scale { key_width, temperature }, notes))
    }

    /// `B[h, j − i] · 1/τ`; `None` where distances do not count.
    fn distance_term(&self, head: usize, query: usize, key: usize) -> Option<Term> {
        let parts = self.head(head).filter(|parts| parts.has(query, key))?;
        let col = (parts.config.attention.distances? + key).checked_sub(query + 1)?;
        let tensor = TensorName::DistanceBias.of_block(parts.block);
        let bias = self.operand(Entry::Parameter { tensor, row: parts.own, col })?;
        let temperature = self.temperature(&parts);
        let share = (temperature != 1.0).then(|| constant("1/τ", (1.0 / temperature) as f32));
        Some(Term::of([Some(bias), share].into_iter().flatten()))
    }

    fn score(&self, head: usize, query: usize, key: usize) -> Option<Told> {
        let hidden = self.value(Entry::Score { head, query, key })? == f32::NEG_INFINITY;
        let product = self.operand(Entry::Product { head, query, key })?;
        if hidden {
            let notes = vec![self.hides(head, query, key)];
            return Some(("s_{ij} = -\\infty".to_owned(), Worked::Given(vec![product]), notes));
        }
        let term = Term::of([self.operand(Entry::Scale { head })?, product]);
        let (_, _, notes) = self.scale(head)?;
        let mut symbols = "s_{ij} = \\frac{q_i \\cdot k_j}{\\tau \\sqrt{d_k}}".to_owned();
        let mut terms = vec![term];
        if let Some(distance) = self.distance_term(head, query, key) {
            symbols.push_str(&format!(" + {DISTANCE_BIAS}"));
            terms.push(distance);
        }
        Some((symbols, Worked::Sum(terms), notes))
    }

    fn hides(&self, head: usize, query: usize, key: usize) -> String {
        let whose = if self.model.interventions.mask.is_some() { "your mask" } else { "the mask" };
        let (query, key) = (quoted(&self.query_word(head, query)), quoted(&self.key_word(head, key)));
        format!("{query} does not see {key}: {whose} hides it, so the weight is exactly 0.")
    }

    fn exponential(&self, head: usize, query: usize, key: usize) -> Option<Told> {
        let score = self.operand(Entry::Score { head, query, key })?;
        let scores = self.head(head)?.activations.scores.row(query);
        let largest = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
        let mut largest = self.operand(Entry::Score { head, query, key: largest })?;
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

    fn weight(&self, head: usize, query: usize, key: usize) -> Option<Told> {
        let parts = self.head(head)?;
        let is_hidden = self.value(Entry::Score { head, query, key })? == f32::NEG_INFINITY;
        let mut notes: Vec<String> = Vec::new();
        if is_hidden && !matches!(parts.mode, HeadMode::Frozen(_)) {
            notes.push(self.hides(head, query, key));
        }
        notes.extend(self.head_notes(head, Effect::Weights));
        let worked = match parts.mode {
            HeadMode::Uniform if is_hidden => Worked::Given(Vec::new()),
            HeadMode::Uniform => {
                let scores = parts.activations.scores.row(query);
                Worked::Share(scores.iter().filter(|score| **score > f32::NEG_INFINITY).count())
            }
            HeadMode::Frozen(_) => Worked::Given(Vec::new()),
            HeadMode::Live | HeadMode::Off | HeadMode::Gain(_) => {
                let over = self.operand(Entry::Exponential { head, query, key })?;
                let under = self.operand(Entry::RowSum { head, query })?;
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
            HeadMode::Live | HeadMode::Off | HeadMode::Gain(_) => {
                "\\alpha_{ij} = \\frac{e^{s_{ij} - \\max_k s_{ik}}}{\\sum_l e^{s_{il} - \\max_k s_{ik}}}"
            }
        };
        Some((symbols.to_owned(), worked, notes))
    }

    /// What the learner did to a head, where it counts.
    fn head_notes(&self, head: usize, effect: Effect) -> Vec<String> {
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
            _ => None,
        };
        said.into_iter().collect()
    }

    /// A factor of what a head mixes, where the learner gave it one.
    fn gain(&self, head: usize) -> Option<Operand> {
        let has_gain = matches!(self.head(head)?.mode, HeadMode::Gain(_));
        self.operand(Entry::Gain { head }).filter(|_| has_gain)
    }

    fn mix(&self, head: usize, token: usize, dim: usize) -> Option<Told> {
        let parts = self.head(head)?;
        let symbols = "m_i = \\sum_j \\alpha_{ij} \\, v_j".to_owned();
        let notes = self.head_notes(head, Effect::Sum);
        if *parts.mode == HeadMode::Off {
            return Some((symbols, Worked::Given(Vec::new()), notes));
        }
        let symbols = if matches!(parts.mode, HeadMode::Gain(_)) { symbols.replace('=', "= g") } else { symbols };
        let term = |key| {
            let weight = self.operand(Entry::Weight { head, query: token, key })?;
            let value = self.operand(Entry::Value { head, token: key, dim })?;
            Some(Term::of([weight, value].into_iter().chain(self.gain(head))))
        };
        let terms: Option<Vec<Term>> = (0..parts.activations.weights.cols()).map(term).collect();
        Some((symbols, Worked::Sum(terms?), notes))
    }

    fn term(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Told> {
        let parts = self.head(head)?;
        let notes = self.head_notes(head, Effect::Sum);
        let attention = &parts.config.attention;
        let columns = attention.value_columns(parts.own);
        let weight = self.operand(Entry::Weight { head, query, key })?;
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
            let value = self.operand(Entry::Value { head, token: key, dim: dim - columns.start })?;
            let term = Term::of([weight, value].into_iter().chain(self.gain(head)));
            return Some((symbols, Worked::Sum(vec![term]), notes));
        }
        let tensor = TensorName::OutputWeights.of_block(parts.block);
        let part = |c: usize| {
            let value = self.operand(Entry::Value { head, token: key, dim: c })?;
            let weights = self.operand(Entry::Parameter { tensor, row: columns.start + c, col: dim })?;
            Some(Term::of([weight.clone(), value, weights].into_iter().chain(self.gain(head))))
        };
        let terms: Option<Vec<Term>> = (0..columns.len()).map(part).collect();
        Some((
            "\\alpha_{ij} \\, v_j W_O = \\alpha_{ij} \\sum_c v_{jc} \\, W_{O\\,cd}".to_owned(),
            Worked::Sum(terms?),
            notes,
        ))
    }

    fn summed(&self, block: usize, token: usize, dim: usize) -> Option<Told> {
        let config = self.config(block)?;
        let mut terms = Vec::new();
        if config.residual {
            terms.push(self.operand(Entry::Input { block, token, dim })?);
        }
        for entry in self.terms_of(block, token, dim) {
            terms.push(self.operand(entry)?);
        }
        let bias = Entry::Parameter { tensor: TensorName::OutputBias.of_block(block), row: 0, col: dim };
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

    fn output(&self, block: usize, token: usize, dim: usize) -> Option<Told> {
        let config = self.config(block)?;
        let from = Entry::Summed { block, token, dim };
        match (config.norm, config.feed_forward) {
            (Norm::None | Norm::Pre, None) => told("y_i = a_i", sum(vec![self.operand(from)?])),
            (Norm::Post, None) => {
                let row = self.operands(self.width(), |dim| Entry::Summed { block, token, dim })?;
                let names = [TensorName::AttentionNormGain, TensorName::AttentionNormBias];
                let symbols =
                    "y_i = \\operatorname{Norm}(a_i), \\quad \\gamma_d \\, \\frac{a_d - \\mu}{\\sigma} + \\beta_d";
                let note = "The heads' contributions add up before the norm, not behind it.".to_owned();
                Some((symbols.to_owned(), self.norm(row, dim, block, names)?, vec![note]))
            }
            (norm, Some(hidden)) => {
                let symbols = match norm {
                    Norm::None => "y_i = a_i + \\operatorname{FFN}(a_i)",
                    Norm::Pre => "y_i = a_i + \\operatorname{FFN}(\\operatorname{Norm}(a_i))",
                    Norm::Post => {
                        "b_i = \\operatorname{Norm}(a_i), \\quad y_i = \\operatorname{Norm}(b_i + \\operatorname{FFN}(b_i))"
                    }
                };
                let note = format!(
                    "A feed-forward layer of {hidden} units follows the attention; it works on each word by itself, \
                     and its inner numbers are not kept. The heads' contributions add up before it."
                );
                Some((symbols.to_owned(), Worked::Through(self.operand(from)?), vec![note]))
            }
        }
    }
}

/// What an intervention on a head changes: its weights, or what it adds.
#[derive(Clone, Copy)]
enum Effect {
    Weights,
    Sum,
}

pub fn sum(operands: Vec<Operand>) -> Worked {
    Worked::Sum(operands.into_iter().map(|operand| Term::of([operand])).collect())
}
