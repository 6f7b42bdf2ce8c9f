//! The formula of each quantity, in LaTeX, as the shown model computes it.

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::contributions::Part;
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity, latex};

use super::block::norm_formula;
use super::reader::Reader;

/// Joins formulas that belong to each other.
pub const AND: &str = ", \\quad ";

const ATTENDED: &str = "b_i = \\operatorname{Norm}(a_i)";

/// The norms of a block in a row, as the arrows go through them.
const CHAINS: [&str; 2] = ["L_2(L_1(t))", "L_3(L_2(L_1(t)))"];

impl Reader<'_> {
    /// The formula by which an entry is computed; `None` of a quantity that is not explained.
    pub fn formula(&self, entry: Entry) -> Option<String> {
        use Quantity::*;
        let Entry { quantity, owner, index: [i, ..] } = entry;
        let number = owner.number();
        let by_heads = || after_heads(self.config(number)?).into_iter().find(|(of, _)| *of == quantity);
        let formula = match quantity {
            Parameter(name) => return Some(latex(name)),
            Static => "E",
            Position => "P_{t,2i} = \\sin\\frac{t}{10000^{2i/D}}, \\quad P_{t,2i+1} = \\cos\\frac{t}{10000^{2i/D}}",
            Embedded => return Some(format!("e_i = {}", self.embeddings_formula())),
            Input if self.patch_of(number, i).is_some() => "x_i = x'_j",
            Input if !self.is_first(number) => "x_i = y_i^{\\text{below}}",
            Input if self.norm_before(entry).is_some() => "x_i = \\operatorname{Norm}(e_i)",
            Input => return Some(format!("x_i = {}", self.embeddings_formula())),
            Normed => "n_i = \\operatorname{Norm}(x_i)",
            Final => "\\operatorname{Norm}(y_i)",
            Query => return self.projection(number, "q"),
            Key => return self.projection(number, "k"),
            Value => return self.projection(number, "v"),
            Product => "q_i \\cdot k_j = \\sum_d q_{id} \\, k_{jd}",
            Scale => return Some(divided("1", &self.divisors(number)?.symbols())),
            DistanceBias => return Some(format!("b_{{ij}} = {}", self.distance_formula(number)?)),
            Score => return self.score_formula(number),
            Exponential => "e^{s_{ij} - \\max_k s_{ik}}",
            RowSum => "\\sum_l e^{s_{il} - \\max_k s_{ik}}",
            Weight => match self.head(number)?.mode {
                HeadMode::Uniform => "\\alpha_{ij} = \\frac{1}{\\text{keys in sight}}",
                HeadMode::Frozen(_) => "\\alpha_{ij} = \\text{as it was when frozen}",
                HeadMode::Mean => "\\alpha_{ij} = \\text{mean over all queries}",
                _ => "\\alpha_{ij} = \\frac{e^{s_{ij} - \\max_k s_{ik}}}{\\sum_l e^{s_{il} - \\max_k s_{ik}}}",
            },
            Mix if self.head(number)?.mode.gain() != 1.0 => "m_i = g \\sum_j \\alpha_{ij} \\, v_j",
            Mix => "m_i = \\sum_j \\alpha_{ij} \\, v_j",
            Gain => "\\text{set by hand}",
            Term if !self.head(number)?.config.attention.output => "\\alpha_{ij} \\, v_j",
            Term => "\\alpha_{ij} \\, v_j W_O = \\alpha_{ij} \\sum_c v_{jc} \\, W_{O\\,cd}",
            Arrow => {
                let held = self.held_norms(self.head(number)?.block, 0);
                return Some([&*held, "t = \\alpha_{ij} \\, v_j W_O"].join(AND));
            }
            TermLength if self.head(number)?.is_normed_after() => "\\lVert L(\\alpha_{ij} \\, v_j W_O) \\rVert",
            TermLength => "\\lVert \\alpha_{ij} \\, v_j W_O \\rVert",
            WordLength if self.norms_after(number) > 0 => "\\lVert \\sum_h L(\\alpha_{ij}^h \\, v_j^h W_O^h) \\rVert",
            WordLength => "\\lVert \\sum_h \\alpha_{ij}^h \\, v_j^h W_O^h \\rVert",
            HeadLength => "\\lVert \\sum_j \\alpha_{ij} \\, v_j W_O \\rVert",
            HeadArrowLength => "\\lVert \\sum_j L(\\alpha_{ij} \\, v_j W_O) \\rVert",
            Part => return self.part_formula(number, self.part(number, i)?),
            PartLength => match (self.part(number, i)?, self.norms_after(number)) {
                (self::Part::Bias, 0) => "\\lVert b_O \\rVert",
                (part, _) => return Some(format!("\\lVert t \\rVert, \\quad t = {}", self.part_symbols(number, part))),
            },
            MoveLength => match self.sentence.contributions.get(number)?.parts() {
                [] | [self::Part::Bias] if self.norms_after(number) == 0 => {
                    return Some(["\\lVert \\Delta_i \\rVert", &self.added_formula(number)?].join(AND));
                }
                _ => "\\lVert \\Delta_i \\rVert, \\quad \\Delta_i = \\text{all arrows together}",
            },
            Summed => return Some([by_heads()?.1, self.added_formula(number)?].join(AND)),
            Attended => ATTENDED,
            Joined | Output => return Some(by_heads()?.1),
            Logit => return Some(self.logit_formula()),
            Probability => "p_c = \\frac{e^{z_c}}{\\sum_b e^{z_b}}",
            Coordinate => "p = \\sum_d (x_d - \\bar{x}_d) \\, u_d",
            Cosine => "\\cos(a, b) = \\frac{a \\cdot b}{\\lVert a \\rVert \\, \\lVert b \\rVert}",
            Distance => "\\lVert a - b \\rVert = \\sqrt{\\textstyle\\sum_d (a_d - b_d)^2}",
            Visible | Temperature => return None,
        };
        Some(formula.to_owned())
    }

    fn embeddings_formula(&self) -> String {
        let positions = if self.model.architecture.positions == Positions::None { "" } else { " + P_i" };
        let segments = if self.model.architecture.segments.is_some() { " + S_i" } else { "" };
        let scale = if self.model.architecture.embedding_scale.is_some() { "c \\, " } else { "" };
        format!("{scale}E_{{w_i}}{positions}{segments}")
    }

    /// A query, key or value of a head, by its letter.
    fn projection(&self, head: usize, letter: &str) -> Option<String> {
        let config = self.head(head)?.config;
        let index = if letter == "q" { "i" } else { "j" };
        let read = match letter {
            _ if letter != "q" && config.attends_to_source() => format!("z_{index}"),
            _ if config.norms_first() => format!("\\operatorname{{Norm}}(x_{index})"),
            _ => format!("x_{index}"),
        };
        if !config.attention.projected {
            return Some(format!("{letter}_{index} = {read}"));
        }
        let upper = letter.to_uppercase();
        let bias = if config.attention.bias { format!(" + b_{upper}") } else { String::new() };
        let projected = format!("{read} \\, W_{upper}{bias}");
        let is_placed = letter != "v";
        let normed = match config.attention.query_key_norm.filter(|_| is_placed) {
            Some(_) => format!("\\operatorname{{Norm}}({projected})"),
            None => projected,
        };
        match config.attention.rotary.filter(|_| is_placed) {
            Some(_) => Some(format!("{letter}_{index} = R_{index} ({normed})")),
            None => Some(format!("{letter}_{index} = {normed}")),
        }
    }

    /// The term of a score that distance adds; `None` where distances do not count.
    fn distance_formula(&self, head: usize) -> Option<String> {
        self.head(head)?.config.attention.distances?;
        let is_heated = self.divisors(head)?.temperature != 1.0;
        Some(divided("B_{h,\\,j-i}", if is_heated { "\\tau" } else { "" }))
    }

    fn score_formula(&self, head: usize) -> Option<String> {
        let scaled = divided("q_i \\cdot k_j", &self.divisors(head)?.symbols());
        let distance = self.distance_formula(head).map_or_else(String::new, |distance| format!(" + {distance}"));
        let scaled = match self.head(head)?.config.attention.score_cap {
            Some(_) => format!("c \\tanh\\left(\\tfrac{{1}}{{c}} {scaled}\\right)"),
            None => scaled,
        };
        Some(format!("s_{{ij}} = {scaled}{distance} + m_{{ij}}"))
    }

    /// `Δ`, the sum of what the heads of a block add.
    pub fn added_formula(&self, block: usize) -> Option<String> {
        if !self.config(block)?.attention.output {
            return Some("\\Delta_i = \\operatorname{Concat}(m_i^1, \\dots, m_i^H)".to_owned());
        }
        let has_bias = self.model.parameters.spec(TensorName::OutputBias.of_block(block)).is_some();
        let bias = if has_bias { " + b_O" } else { "" };
        let sum = format!("\\sum_h \\sum_j \\alpha_{{ij}}^h v_j^h W_O^h{bias}");
        match self.config(block)?.output_norms {
            true => Some(format!("\\Delta_i = \\operatorname{{Norm}}({sum})")),
            false => Some(format!("\\Delta_i = {sum}")),
        }
    }

    /// The norms of a block as its arrows go through them, without the first `skip`.
    fn held_norms(&self, block: usize, skip: usize) -> String {
        let form = self.config(block).map_or(NormForm::LAYER, |config| config.norm_form);
        let one = norm_formula(form, "t_d", "\\bar{t}");
        match (self.norms_after(block) - skip).checked_sub(2) {
            None => one,
            Some(chain) => format!("{}, \\quad L(t)_d = {one}", CHAINS[chain.min(CHAINS.len() - 1)]),
        }
    }

    /// A term of a block's output that no head adds.
    fn part_formula(&self, block: usize, part: Part) -> Option<String> {
        let symbols = self.part_symbols(block, part);
        let before = self.norms_before(block, part);
        if self.norms_after(block) <= before {
            return Some(symbols);
        }
        Some(format!("{symbols}, \\quad L(t) = {}", self.held_norms(block, before)))
    }

    fn part_symbols(&self, block: usize, part: Part) -> String {
        let feeds = match self.config(block).is_some_and(|config| config.residual) {
            true => "\\operatorname{FFN}(a_i)",
            false => "\\operatorname{FFN}(a_i) - a_i",
        };
        let norms = self.norms_after(block);
        match (part, norms) {
            (Part::FeedForward, _) if norms <= self.norms_before(block, part) => feeds.to_owned(),
            (Part::Shift, _) if norms <= self.norms_before(block, part) => "\\beta".to_owned(),
            (Part::Rescaled, _) => "L(x_i) - x_i".to_owned(),
            (Part::Bias, 0) => "b_O".to_owned(),
            (Part::Bias, _) => "L(b_O)".to_owned(),
            (Part::Shift, _) => "L_2(\\beta_1)".to_owned(),
            (Part::FeedForward, _) => format!("L_2({feeds})"),
            (Part::LastShift, _) => "\\beta_2".to_owned(),
        }
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
}

/// Formulas of a block from the sum with what its heads add to its output, in their order.
pub fn after_heads(config: &BlockConfig) -> Vec<(Quantity, String)> {
    let is_kept = config.residual;
    let sum = if is_kept { "a_i = x_i + \\Delta_i" } else { "a_i = \\Delta_i" };
    let read = if config.branches == Branches::Sequential { "a_i" } else { "x_i" };
    let feeds = |is_normed: bool| {
        let inside = if is_normed { format!("\\operatorname{{Norm}}({read})") } else { read.to_owned() };
        let fed = format!("\\operatorname{{FFN}}({inside})");
        let fed = if config.output_norms { format!("\\operatorname{{Norm}}({fed})") } else { fed };
        if is_kept { format!("a_i + {fed}") } else { format!("{fed} = a_i + ({fed} - a_i)") }
    };
    let joined = if is_kept { "b_i + \\operatorname{FFN}(b_i)" } else { "\\operatorname{FFN}(b_i)" };
    let output = match (config.norm, config.feed_forward.is_some()) {
        (Norm::None | Norm::Pre, false) => "a_i".to_owned(),
        (Norm::None, true) => feeds(false),
        (Norm::Pre, true) => feeds(true),
        (Norm::Post, false) => "\\operatorname{Norm}(a_i)".to_owned(),
        (Norm::Post, true) => "\\operatorname{Norm}(c_i)".to_owned(),
    };
    let mut formulas = vec![(Quantity::Summed, sum.to_owned())];
    if config.norm == Norm::Post && config.feed_forward.is_some() {
        formulas.push((Quantity::Attended, ATTENDED.to_owned()));
        formulas.push((Quantity::Joined, format!("c_i = {joined}")));
    }
    formulas.push((Quantity::Output, format!("y_i = {output}")));
    formulas
}

/// A fraction; the number itself where nothing divides it.
fn divided(over: &str, under: &str) -> String {
    if under.is_empty() { over.to_owned() } else { format!("\\frac{{{over}}}{{{under}}}") }
}
