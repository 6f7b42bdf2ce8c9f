//! The first steps of a walk: from a word to the weights.

use std::ops::Range;

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::Quantity;

use super::writer::{StepText, Writer, number};
use super::{Columns, NumberRow};
use crate::view_model::head_labels::at_distance;
use crate::view_model::heads::strongest;
use crate::view_model::quoted;

/// Weights that are named in a sentence.
const NAMED: usize = 3;

impl Writer<'_> {
    pub(super) fn embed(&self) -> StepText {
        let mut rows = vec![self.row(format!("x({})", self.name()), Quantity::Input)];
        let (query, width) = (self.said_query(), self.reader.model.architecture.width);
        if !self.reader.is_first(self.block) {
            let said = format!("{query} comes out of the layer below with {width} numbers; they go in here.");
            return ("x_i = y_i^{\\text{below}}".to_owned(), said, rows);
        }
        if let Some(word) = self.reader.word(self.block, self.query) {
            let label = format!("E[{}]", self.reader.space.vocabulary[word]);
            let first = self.reader.static_entry(word, 0);
            let values = (0..width).filter_map(|dim| self.reader.value(first.along(dim))).collect();
            rows.insert(0, NumberRow { label, tensor: "E".to_owned(), values, columns: Columns::Entries, first });
        }
        let begins = format!("{query} begins as its static vector of {width} numbers, the same wherever it stands");
        if self.reader.model.architecture.positions == Positions::None {
            return ("x_i = E_{w_i}".to_owned(), format!("{begins}."), rows);
        }
        let place = ordinal(self.query + 1);
        let said = format!("{begins}; its place in the sentence, the {place}, adds numbers of its own.");
        ("x_i = E_{w_i} + P_i".to_owned(), said, rows)
    }

    pub(super) fn project(&self) -> StepText {
        let head = self.activations();
        let (name, key) = (self.name(), &self.keys[self.key]);
        let rows = vec![
            self.row(format!("q({name})"), Quantity::Query),
            self.row(format!("k({key})"), Quantity::Key),
            self.row(format!("v({key})"), Quantity::Value),
        ];
        let (d_k, d_v) = (head.query.cols(), head.value.cols());
        let config = &self.config().attention;
        if !config.projected {
            let said = format!("Nothing is learned here: each word is its own query, key and value of {d_k} numbers.");
            return ("q_i = k_i = v_i = x_i".to_owned(), said, rows);
        }
        let bias = |symbol: &str| if config.bias { format!(" + b_{symbol}") } else { String::new() };
        let equation =
            format!("q_i = x_i W_Q{}, \\quad k_j = z_j W_K{}, \\quad v_j = z_j W_V{}", bias("Q"), bias("K"), bias("V"));
        let equation = if self.config().attends_to_source() { equation } else { equation.replace("z_j", "x_j") };
        let said = format!(
            "{} asks with a query of {d_k} numbers. Each word offers a key of {d_k} to be found by and a value of {d_v} \
             to hand over; here those of {}.",
            self.said_query(),
            self.said_key()
        );
        (equation, said, rows)
    }

    pub(super) fn score(&self) -> StepText {
        let (name, key) = (self.name(), &self.keys[self.key]);
        let products = self.arithmetic().products.row(self.query);
        let rows = vec![
            self.row(format!("q({name})"), Quantity::Query),
            self.row(format!("k({key})"), Quantity::Key),
            self.row("q · k", Quantity::Product),
        ];
        let (largest, _) = strongest(products.iter().copied());
        let others = if largest == self.key {
            ", the largest.".to_owned()
        } else {
            format!("; the largest is {}, with {}.", number(products[largest]), quoted(&self.keys[largest]))
        };
        let said = format!(
            "The query meets each key: their entries are multiplied in pairs and added. With {} that makes {}{others}",
            self.said_key(),
            number(products[self.key])
        );
        ("s_{ij} = q_i \\cdot k_j = \\sum_d q_{id}\\, k_{jd}".to_owned(), said, rows)
    }

    pub(super) fn scale(&self) -> StepText {
        let (head, arithmetic) = (self.activations(), self.arithmetic());
        let scores = head.scores.row(self.query);
        let hidden = scores.iter().filter(|score| **score == f32::NEG_INFINITY).count();
        let mut rows = vec![self.row("q · k", Quantity::Product), self.row("score", Quantity::Score)];
        let comes_to = format!(": {} comes to {}", self.said_key(), number(scores[self.key]));
        let distances = arithmetic.distances.as_ref().map(|distances| distances.row(self.query));
        let width = head.query.cols();
        let Divisors { has_root, own, temperature } = self.divisors();
        let divisors: Vec<String> = [
            has_root.then(|| format!("√{width}")),
            own.map(|own| format!("{own}, the divisor of this layer")),
            temperature.map(|heat| format!("the temperature, {}", number(heat as f32))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let scaled = if divisors.is_empty() {
            "Nothing is scaled here.".to_owned()
        } else {
            let divide = if has_root { "Wide vectors give large scores, so divide" } else { "Divide" };
            let comes_to = if distances.is_some() { "" } else { &comes_to };
            format!("{divide} by {}{comes_to}.", divisors.join(", and by "))
        };
        let mut added = String::new();
        if let Some(distances) = distances {
            let is_hidden = scores[self.key] == f32::NEG_INFINITY;
            let comes_to = if is_hidden { "" } else { &comes_to };
            added = format!(" {}{comes_to}.", self.said_distance(distances[self.key]));
            let mut row = self.row("distance", Quantity::DistanceBias);
            if temperature.is_some() {
                row.tensor = row.tensor.replace('B', "B/τ");
            }
            rows.insert(1, row);
        }
        let masked = match hidden {
            0 => "No word is hidden.".to_owned(),
            1 => "One word is hidden: its score is −∞.".to_owned(),
            count => format!("{count} words are hidden: their scores are −∞."),
        };
        (self.scale_equation(), format!("{scaled}{added} {masked}"), rows)
    }

    fn divisors(&self) -> Divisors {
        let (config, interventions) = (self.config(), &self.reader.model.interventions);
        let unless_one = |divisor: f64| (divisor != 1.0).then_some(divisor);
        Divisors {
            has_root: interventions.scale.unwrap_or(config.attention.scale),
            own: unless_one(config.attention.score_divisor),
            temperature: unless_one(interventions.temperature_of(config)),
        }
    }

    fn scale_equation(&self) -> String {
        let Divisors { has_root, own, temperature } = self.divisors();
        let symbols = [
            own.map(|own| own.to_string()),
            temperature.map(|_| "\\tau".to_owned()),
            has_root.then(|| "\\sqrt{d_k}".to_owned()),
        ];
        let under: String = symbols.into_iter().flatten().collect();
        let under = if under.is_empty() { "1" } else { &under };
        let distance = match (self.config().attention.distances, temperature.is_some()) {
            (None, _) => "",
            (Some(_), false) => " + B_{h,\\,j-i}",
            (Some(_), true) => " + \\frac{B_{h,\\,j-i}}{\\tau}",
        };
        format!("s_{{ij}} \\leftarrow \\frac{{s_{{ij}}}}{{{under}}}{distance} + m_{{ij}}")
    }

    /// `Head 2 adds 0.410 for a word 1 place to the left`
    fn said_distance(&self, distance: f32) -> String {
        let adds = if distance < 0.0 { "takes off" } else { "adds" };
        let (head, at) = (self.own + 1, at_distance(self.key as isize - self.query as isize));
        format!("Head {head} {adds} {} for {at}", number(distance.abs()))
    }

    pub(super) fn softmax(&self) -> StepText {
        let (weights, arithmetic) = (self.weights(), self.arithmetic());
        let rows = vec![
            self.row("score", Quantity::Score),
            self.row("exp(score − max)", Quantity::Exponential),
            self.row("weight", Quantity::Weight),
        ];
        let said = match self.reader.model.interventions.heads.get(self.head) {
            Some(HeadMode::Uniform) => {
                "This head is set to look everywhere alike, so its scores do not count.".to_owned()
            }
            Some(HeadMode::Mean) => {
                "This head adds the same everywhere: each row of weights is the mean of all rows.".to_owned()
            }
            Some(HeadMode::Frozen(_)) => "This head's weights are frozen, so its scores do not count.".to_owned(),
            _ if arithmetic.sums[self.query] == 0.0 => {
                format!("{} sees no word, so all weights are 0.", self.said_query())
            }
            _ => format!(
                "Subtract the largest score, {}, exponentiate, divide by the total, {}: the weights sum to 1, {}.",
                number(arithmetic.largest[self.query]),
                number(arithmetic.sums[self.query]),
                self.strongest(weights)
            ),
        };
        (
            "\\alpha_{ij} = \\frac{e^{s_{ij} - \\max_k s_{ik}}}{\\sum_l e^{s_{il} - \\max_k s_{ik}}}".to_owned(),
            said,
            rows,
        )
    }

    /// `“phone” 0.32, “launched” 0.21, “new” 0.11`
    pub(super) fn strongest(&self, weights: &[f32]) -> String {
        let named =
            best(weights, NAMED).into_iter().map(|key| format!("{} {:.3}", quoted(&self.keys[key]), weights[key]));
        named.collect::<Vec<_>>().join(", ")
    }
}

/// Divisors of a head's products, without those that are 1.
struct Divisors {
    /// `√d_k` is one of them.
    has_root: bool,
    /// The divisor that the model has for this layer.
    own: Option<f64>,
    temperature: Option<f64>,
}

/// Places of the largest, the largest first.
fn best(values: &[f32], count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    places.truncate(count);
    places
}

fn ordinal(n: usize) -> String {
    const TEENS: Range<usize> = 11..14;
    let ending = match n % 10 {
        _ if TEENS.contains(&(n % 100)) => "th",
        1 => "st",
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
