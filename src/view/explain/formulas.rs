//! The formula of each quantity, in LaTeX, as the shown model computes it; and a formula with its numbers in: as data that
//! can be worked out again, and as lines to read.

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity, latex};

use super::numbers::{Divisors, norm_formula};
use super::reader::EntryReader;

/// Joins formulas that belong to each other.
pub const AND: &str = ", \\quad ";

const ATTENDED: &str = "b_i = \\operatorname{Norm}(a_i)";

/// The norms of a block in a row, as the arrows go through them.
const CHAINS: [&str; 2] = ["L_2(L_1(t))", "L_3(L_2(L_1(t)))"];

impl EntryReader<'_> {
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
                HeadMode::Frozen(_) if self.has_removed_edge(number, i) => {
                    "\\alpha_{ij} = \\frac{\\alpha'_{ij}}{\\sum_l \\alpha'_{il}}, \\quad \\alpha' = \\text{as it was when frozen, \
                     without removed edges}"
                }
                HeadMode::Frozen(_) => "\\alpha_{ij} = \\text{as it was when frozen}",
                HeadMode::Mean => "\\alpha_{ij} = \\text{mean over all queries}",
                _ => "\\alpha_{ij} = \\frac{e^{s_{ij} - \\max_k s_{ik}}}{\\sum_l e^{s_{il} - \\max_k s_{ik}}}",
            },
            Mix if self.head(number)?.mode.gain() != 1.0 => "m_i = g \\sum_j \\alpha_{ij} \\, v_j",
            Mix => "m_i = \\sum_j \\alpha_{ij} \\, v_j",
            Gain => "\\text{set by hand}",
            Term => {
                let (gain, added) = (self.gain_symbol(number), self.added_by_key(number)?);
                let has_output = self.head(number)?.config.attention.output;
                let by_entries = format!(" = {gain}\\alpha_{{ij}} \\sum_c v_{{jc}} \\, W_{{O\\,cd}}");
                return Some(if has_output { format!("{added}{by_entries}") } else { added });
            }
            Arrow => {
                let held = self.held_norms(self.head(number)?.block, 0);
                return Some([held, format!("t = {}", self.added_by_key(number)?)].join(AND));
            }
            TermLength => {
                return Some(length(&self.behind_norms(self.added_by_key(number)?, self.head(number)?.block)));
            }
            WordLength => return self.added_by_word(number).map(|added| length(&added)),
            HeadLength => return Some(length(&format!("\\sum_j {}", self.added_by_key(number)?))),
            HeadArrowLength => {
                let arrow = self.behind_norms(self.added_by_key(number)?, self.head(number)?.block);
                return Some(length(&format!("\\sum_j {arrow}")));
            }
            Part => return self.part_formula(number, self.part(number, i)?),
            PartLength => match (self.part(number, i)?, self.norms_after(number)) {
                (BlockPart::Bias, 0) => "\\lVert b_O \\rVert",
                (part, _) => return Some(format!("\\lVert t \\rVert, \\quad t = {}", self.part_symbols(number, part))),
            },
            MoveLength => match self.sentence.contributions.get(number)?.parts() {
                [] | [BlockPart::Bias] if self.norms_after(number) == 0 => {
                    return Some(["\\lVert \\Delta_i \\rVert", &self.added_formula(number)?].join(AND));
                }
                _ => "\\lVert \\Delta_i \\rVert, \\quad \\Delta_i = \\text{all arrows together}",
            },
            Summed => return Some([by_heads()?.1, self.added_formula(number)?].join(AND)),
            Attended => ATTENDED,
            Joined | Output => return Some(by_heads()?.1),
            Logit => return Some(self.logit_formula()),
            Probability => "p_c = \\frac{e^{z_c}}{\\sum_b e^{z_b}}",
            Coordinate if self.lens_of(owner.point()?).is_some() => {
                "p = \\sum_d (\\operatorname{Norm}(x)_d - \\bar{x}_d) \\, u_d"
            }
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
        let (product, divisors) = ("q_i \\cdot k_j", self.divisors(head)?);
        let distance = self.distance_formula(head).map_or_else(String::new, |distance| format!(" + {distance}"));
        let scaled = match self.head(head)?.config.attention.score_cap {
            // The bound holds before the temperature divides.
            Some(_) => {
                let [untempered, temperature] = divisors.at_the_bound();
                let bound = divided("c", &temperature.symbols());
                format!(
                    "{bound} \\tanh\\left({}\\right)",
                    divided(product, format!("c {}", untempered.symbols()).trim())
                )
            }
            None => divided(product, &divisors.symbols()),
        };
        Some(format!("s_{{ij}} = {scaled}{distance} + m_{{ij}}"))
    }

    /// The factor of a head's output in a formula, where the learner gave it one.
    fn gain_symbol(&self, head: usize) -> &'static str {
        let has_gain = self.head(head).is_some_and(|parts| parts.mode.gain() != 1.0);
        if has_gain { "g \\, " } else { "" }
    }

    /// Writes what a key adds to a query through a head.
    fn added_by_key(&self, head: usize) -> Option<String> {
        let output = if self.head(head)?.config.attention.output { " W_O" } else { "" };
        Some(format!("{}\\alpha_{{ij}} \\, v_j{output}", self.gain_symbol(head)))
    }

    /// The same through all heads of a block, of which one is like another in a formula.
    fn added_by_word(&self, block: usize) -> Option<String> {
        let has_output = self.config(block)?.attention.output;
        let of_head =
            format!("{}\\alpha_{{ij}}^h \\, v_j^h{}", self.gains_symbol(block), if has_output { " W_O^h" } else { "" });
        let all = if has_output { "\\sum_h " } else { "\\operatorname{Concat}_h " };
        Some(match self.norms_after(block) {
            0 => format!("{all}{of_head}"),
            _ if has_output => format!("{all}L({of_head})"),
            _ => format!("L({all}{of_head})"),
        })
    }

    /// The gain of each head of a block, where the learner gave one to any.
    fn gains_symbol(&self, block: usize) -> &'static str {
        let has_gain = self.heads_of(block).any(|head| !self.gain_symbol(head).is_empty());
        if has_gain { "g^h " } else { "" }
    }

    fn behind_norms(&self, vector: String, block: usize) -> String {
        if self.norms_after(block) == 0 { vector } else { format!("L({vector})") }
    }

    /// `Δ`, the sum of what the heads of a block add.
    pub fn added_formula(&self, block: usize) -> Option<String> {
        let config = self.config(block)?;
        let sum = match config.attention.output {
            true => format!("\\sum_h \\sum_j {}\\alpha_{{ij}}^h v_j^h W_O^h", self.gains_symbol(block)),
            false => "\\operatorname{Concat}(m_i^1, \\dots, m_i^H)".to_owned(),
        };
        let has_bias = self.model.parameters.spec(TensorName::OutputBias.of_block(block)).is_some();
        let sum = if has_bias { sum + " + b_O" } else { sum };
        let sum = if config.output_norms { format!("\\operatorname{{Norm}}({sum})") } else { sum };
        Some(format!("\\Delta_i = {sum}"))
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
    fn part_formula(&self, block: usize, part: BlockPart) -> Option<String> {
        let symbols = self.part_symbols(block, part);
        let before = self.norms_before(block, part);
        if self.norms_after(block) <= before {
            return Some(symbols);
        }
        Some(format!("{symbols}, \\quad L(t) = {}", self.held_norms(block, before)))
    }

    fn part_symbols(&self, block: usize, part: BlockPart) -> String {
        let feeds = self.config(block).map_or_else(String::new, |config| match config.residual {
            true => fed(config),
            false => format!("{} - {}", fed(config), attended_letter(config)),
        });
        let norms = self.norms_after(block);
        match (part, norms) {
            (BlockPart::FeedForward, _) if norms <= self.norms_before(block, part) => feeds,
            (BlockPart::Shift, _) if norms <= self.norms_before(block, part) => "\\beta".to_owned(),
            (BlockPart::Rescaled, _) => "L(x_i) - x_i".to_owned(),
            (BlockPart::Bias, 0) => "b_O".to_owned(),
            (BlockPart::Bias, _) => "L(b_O)".to_owned(),
            (BlockPart::Shift, _) => "L_2(\\beta_1)".to_owned(),
            (BlockPart::FeedForward, _) => format!("L_2({feeds})"),
            (BlockPart::LastShift, _) => "\\beta_2".to_owned(),
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
    let (from, fed) = (attended_letter(config), fed(config));
    let joined = match (is_kept, config.norm) {
        (true, _) => format!("{from} + {fed}"),
        (false, Norm::Post) => fed,
        (false, _) => format!("{fed} = {from} + ({fed} - {from})"),
    };
    let output = match (config.norm, config.feed_forward.is_some()) {
        (Norm::None | Norm::Pre, false) => "a_i",
        (Norm::None | Norm::Pre, true) => joined.as_str(),
        (Norm::Post, false) => "\\operatorname{Norm}(a_i)",
        (Norm::Post, true) => "\\operatorname{Norm}(c_i)",
    };
    let mut formulas = vec![(Quantity::Summed, sum.to_owned())];
    if config.norm == Norm::Post && config.feed_forward.is_some() {
        formulas.push((Quantity::Attended, ATTENDED.to_owned()));
        formulas.push((Quantity::Joined, format!("c_i = {joined}")));
    }
    formulas.push((Quantity::Output, format!("y_i = {output}")));
    formulas
}

/// Names the vector that the feed-forward layer adds to, by its letter in formulas.
fn attended_letter(config: &BlockConfig) -> &'static str {
    if config.norms_attended() { "b_i" } else { "a_i" }
}

/// Writes what the feed-forward layer makes of a vector, behind the norm of its own where it has one.
fn fed(config: &BlockConfig) -> String {
    let read = if config.branches == Branches::Sequential { attended_letter(config) } else { "x_i" };
    let inside = if config.norm == Norm::Pre { format!("\\operatorname{{Norm}}({read})") } else { read.to_owned() };
    let fed = format!("\\operatorname{{FFN}}({inside})");
    if config.output_norms { format!("\\operatorname{{Norm}}({fed})") } else { fed }
}

fn length(vector: &str) -> String {
    format!("\\lVert {vector} \\rVert")
}

/// A fraction; the number itself where nothing divides it.
fn divided(over: &str, under: &str) -> String {
    if under.is_empty() { over.to_owned() } else { format!("\\frac{{{over}}}{{{under}}}") }
}

/// A number of a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Short, such as `q[3]`.
    pub label: String,
    pub value: f32,
    /// The entry that it is, explained in its turn; `None` for a constant.
    pub entry: Option<Entry>,
}

pub fn constant(label: &str, value: f32) -> Operand {
    Operand { label: label.to_owned(), value, entry: None }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    One(Operand),
    /// The first less the second.
    Less(Operand, Operand),
}

impl Factor {
    pub fn value(&self) -> f64 {
        match self {
            Self::One(operand) => f64::from(operand.value),
            Self::Less(a, b) => f64::from(a.value) - f64::from(b.value),
        }
    }

    fn first(&self) -> &Operand {
        let (Self::One(operand) | Self::Less(operand, _)) = self;
        operand
    }
}

/// A product.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductTerm(pub Vec<Factor>);

impl ProductTerm {
    pub fn of(operands: impl IntoIterator<Item = Operand>) -> Self {
        Self(operands.into_iter().map(Factor::One).collect())
    }

    pub fn value(&self) -> f64 {
        self.0.iter().map(Factor::value).product()
    }
}

/// How a number is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Worked {
    /// Not computed from others: given, trained, kept or set.
    Given(Vec<Operand>),
    Sum(Vec<ProductTerm>),
    /// `exp(score − largest)`
    Exponential {
        score: Operand,
        largest: Operand,
    },
    Quotient {
        over: Operand,
        under: Operand,
    },
    /// One part of so many.
    Share(usize),
    /// `1 / (√d_k c τ)`
    Scale(Divisors),
    /// `√ Σ_d (Σ …)²`
    Length(Vec<Vec<Operand>>),
    /// `√ Σ (a − b)²`
    Distance(Vec<(Operand, Operand)>),
    /// `a · b / (‖a‖ ‖b‖)`
    Cosine(Vec<(Operand, Operand)>),
    /// `γ (x − mean) / deviation + β` of one entry of a row, as the norm's form has it.
    Norm {
        row: Vec<Operand>,
        at: usize,
        gain: Operand,
        shift: Option<Operand>,
        form: NormForm,
    },
    /// `c tanh(z / c)` of a sum `z`, and what is added to it.
    Bounded {
        sum: Vec<ProductTerm>,
        cap: f32,
        added: Option<ProductTerm>,
    },
    /// `exp(z) / Σ exp(z)`
    Softmax {
        own: Operand,
        /// The largest of all, the largest first.
        largest: Vec<Operand>,
        /// The others, and the sum of their `exp(z − max z)`.
        others: usize,
        rest: f64,
    },
}

pub fn sum(operands: Vec<Operand>) -> Worked {
    Worked::Sum(operands.into_iter().map(|operand| ProductTerm::of([operand])).collect())
}

/// Pieces of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum LinePiece {
    Text(String),
    Number(Operand),
    /// The product of a line's numbers, with its share of the largest product.
    Product {
        value: f64,
        share: f64,
    },
}

pub type Line = Vec<LinePiece>;

/// The lines of a formula, the largest terms first.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// The terms that have no line, and their sum where the formula is a sum.
    pub more: usize,
    pub rest: Option<f64>,
}

/// Every digit that it has, with a minus that is one.
pub fn exact(value: f32) -> String {
    match value {
        f32::NEG_INFINITY => "−∞".to_owned(),
        f32::INFINITY => "∞".to_owned(),
        value => value.to_string().replace('-', "−"),
    }
}

impl Worked {
    /// The entry that counts most in it.
    pub fn leads_to(&self) -> Option<Entry> {
        let size = |a: f64, b: f64| a.abs().total_cmp(&b.abs());
        match self {
            Self::Given(_) | Self::Share(_) | Self::Scale(_) => None,
            Self::Sum(terms) => {
                let largest = terms.iter().max_by(|a, b| size(a.value(), b.value()))?;
                // Of a scale and a product, the product.
                let is_factor = |entry: Entry| matches!(entry.quantity, Quantity::Scale | Quantity::Gain);
                let leads = |factor: &&Factor| factor.first().entry.is_some_and(|entry| !is_factor(entry));
                largest.0.iter().find(leads)?.first().entry
            }
            Self::Exponential { score, .. } => score.entry,
            Self::Quotient { over, .. } => over.entry,
            Self::Length(sums) => {
                let all = sums.iter().flatten();
                all.max_by(|a, b| size(a.value.into(), b.value.into()))?.entry
            }
            Self::Distance(pairs) | Self::Cosine(pairs) => {
                let largest = pairs.iter().max_by(|(a, _), (b, _)| size(a.value.into(), b.value.into()))?;
                largest.0.entry
            }
            Self::Norm { row, at, .. } => row.get(*at)?.entry,
            Self::Bounded { sum, .. } => Self::Sum(sum.clone()).leads_to(),
            Self::Softmax { own, .. } => own.entry,
        }
    }

    /// The formula with its numbers in: of its terms the `most` largest, the largest first.
    pub fn lines(&self, most: usize) -> Lines {
        let all = |lines: Vec<Line>| Lines { lines, more: 0, rest: None };
        match self {
            Self::Given(others) => all(others.iter().map(|other| vec![number(other)]).collect()),
            Self::Sum(terms) => sum_lines(terms, most),
            Self::Exponential { score, largest } => {
                all(vec![vec![text("exp("), number(score), text("−"), number(largest), text(")")]])
            }
            Self::Quotient { over, under } => all(vec![vec![number(over), text("/"), number(under)]]),
            Self::Share(count) => all(vec![vec![text(&format!("1 / {count}"))]]),
            Self::Scale(divisors) => all(vec![vec![text(&format!("1 / ({})", divisors.text()))]]),
            Self::Length(sums) => {
                let total = |i: usize| sums[i].iter().map(|x| f64::from(x.value)).sum::<f64>();
                Lines::of(sums.len(), most, total, |place, i| length_line(place, &sums[i]))
            }
            Self::Distance(pairs) => {
                let difference = |i: usize| f64::from(pairs[i].0.value) - f64::from(pairs[i].1.value);
                Lines::of(pairs.len(), most, difference, |place, i| {
                    let (a, b) = &pairs[i];
                    vec![text(root_sign(place)), number(a), text("−"), number(b), text(")²")]
                })
            }
            Self::Cosine(pairs) => {
                let product = |i: usize| f64::from(pairs[i].0.value) * f64::from(pairs[i].1.value);
                let mut lines = Lines::of(pairs.len(), most, product, |place, i| {
                    let (a, b) = &pairs[i];
                    vec![text(plus_sign(place)), number(a), text("·"), number(b)]
                });
                lines.lines.push(vec![text("and then divide the sum by both lengths")]);
                lines
            }
            Self::Norm { row, at, gain, shift, form } => {
                let (takes, over) = match form.kind {
                    NormKind::Layer => ("− mean) / deviation", "with the mean and the standard deviation of these"),
                    NormKind::Rms => (") / root of the mean square", "with the mean square of these"),
                };
                let from_one = form.gain_from_one.then(|| text("1 +"));
                let mut formula: Line = from_one.into_iter().collect();
                formula.extend([number(gain), text("· ("), number(&row[*at]), text(takes)]);
                formula.extend(shift.iter().flat_map(|shift| [text("+"), number(shift)]));
                let list = Lines::of(row.len(), most, |i| f64::from(row[i].value), |_, i| vec![number(&row[i])]);
                let heading = vec![formula, vec![text(&format!("{over} {}:", row.len()))]];
                Lines { lines: [heading, list.lines].concat(), ..list }
            }
            Self::Bounded { sum, cap, added } => {
                let inner = sum_lines(sum, most);
                let mut lines = vec![vec![text(&format!("{cap} · tanh(z / {cap}) of z ="))]];
                lines.extend(inner.lines.iter().cloned());
                lines.extend(added.iter().flat_map(|added| sum_lines(std::slice::from_ref(added), most).lines));
                Lines { lines, ..inner }
            }
            Self::Softmax { own, largest, others, rest: _ } => {
                let mut lines = vec![vec![text("exp("), number(own), text(") / Σ exp over these:")]];
                lines.extend(largest.iter().take(most).map(|z| vec![number(z)]));
                Lines { lines, more: largest.len().saturating_sub(most) + others, rest: None }
            }
        }
    }

    /// The lines as text.
    pub fn text(&self, most: usize) -> String {
        let Lines { lines, more, .. } = self.lines(most);
        let piece = |piece: &LinePiece| match piece {
            LinePiece::Text(text) => text.clone(),
            LinePiece::Number(operand) => format!("{} {}", operand.label, exact(operand.value)),
            LinePiece::Product { .. } => String::new(),
        };
        let line = |line: &Line| line.iter().map(piece).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let mut lines: Vec<String> = lines.iter().map(line).collect();
        if more > 0 {
            lines.push(format!("… + {more} more"));
        }
        lines.join("\n")
    }
}

impl Lines {
    /// Lines of the `most` largest of `count` terms; `line` is told the place of its line.
    fn of(count: usize, most: usize, size: impl Fn(usize) -> f64, line: impl Fn(usize, usize) -> Line) -> Self {
        let order = by_size(count, size);
        let lines = order.iter().take(most).enumerate().map(|(place, &i)| line(place, i)).collect();
        Self { lines, more: count.saturating_sub(most), rest: None }
    }
}

fn text(text: &str) -> LinePiece {
    LinePiece::Text(text.to_owned())
}

fn number(operand: &Operand) -> LinePiece {
    LinePiece::Number(operand.clone())
}

fn plus_sign(place: usize) -> &'static str {
    if place == 0 { "" } else { "+" }
}

fn root_sign(place: usize) -> &'static str {
    if place == 0 { "√ (" } else { "+ (" }
}

/// A line for each product, with the product itself where it has several factors.
fn sum_lines(terms: &[ProductTerm], most: usize) -> Lines {
    let values: Vec<f64> = terms.iter().map(ProductTerm::value).collect();
    let largest = values.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let order = by_size(terms.len(), |i| values[i]);
    let line = |(place, &i): (usize, &usize)| {
        let mut line = vec![text(plus_sign(place))];
        for (nth, factor) in terms[i].0.iter().enumerate() {
            line.extend((nth > 0).then(|| text("·")));
            match factor {
                Factor::One(operand) => line.push(number(operand)),
                Factor::Less(a, b) => line.extend([text("("), number(a), text("−"), number(b), text(")")]),
            }
        }
        let product = LinePiece::Product { value: values[i], share: values[i] / largest };
        line.extend((terms[i].0.len() > 1).then_some(product));
        line
    };
    let lines = order.iter().take(most).enumerate().map(line).collect();
    let rest = order.iter().skip(most).map(|&i| values[i]).sum();
    Lines { lines, more: terms.len().saturating_sub(most), rest: Some(rest) }
}

/// The square of a sum under a root: its largest parts.
fn length_line(place: usize, parts: &[Operand]) -> Line {
    const NAMED: usize = 3;
    let mut line = vec![text(root_sign(place))];
    for (nth, part) in by_size(parts.len(), |i| parts[i].value.into()).into_iter().take(NAMED).enumerate() {
        line.extend((nth > 0).then(|| text("+")));
        line.push(number(&parts[part]));
    }
    let more = parts.len().saturating_sub(NAMED);
    line.push(text(&if more > 0 { format!("+ {more} more )²") } else { ")²".to_owned() }));
    line
}

/// Places by the size of what is there, the largest first.
pub(super) fn by_size(count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| value(*b).abs().total_cmp(&value(*a).abs()));
    order
}
