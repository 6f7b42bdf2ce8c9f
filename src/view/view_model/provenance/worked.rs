//! A formula with its numbers in: as data that can be worked out again, and as lines to read.

use attune_engine::quantity::{Entry, Quantity};

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
pub struct Term(pub Vec<Factor>);

impl Term {
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
    Sum(Vec<Term>),
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
    /// `1 / (√d_k c τ)`, without the root where nothing is scaled; `c` is the layer's own divisor.
    Scale {
        key_width: Option<usize>,
        divisor: f64,
        temperature: f64,
    },
    /// `√ Σ_d (Σ …)²`
    Length(Vec<Vec<Operand>>),
    /// `√ Σ (a − b)²`
    Distance(Vec<(Operand, Operand)>),
    /// `a · b / (‖a‖ ‖b‖)`
    Cosine(Vec<(Operand, Operand)>),
    /// `γ (x − mean) / deviation + β` of one entry of a row.
    Norm {
        row: Vec<Operand>,
        at: usize,
        gain: Operand,
        bias: Operand,
    },
    /// `exp(z) / Σ exp(z)`
    Softmax {
        all: Vec<Operand>,
        at: usize,
    },
}

/// The formula in LaTeX, its numbers, and notes beside it.
pub type Explanation = (String, Worked, Vec<String>);

/// A formula without notes.
pub fn explained(symbols: &str, worked: Worked) -> Option<Explanation> {
    Some((symbols.to_owned(), worked, Vec::new()))
}

pub fn sum(operands: Vec<Operand>) -> Worked {
    Worked::Sum(operands.into_iter().map(|operand| Term::of([operand])).collect())
}

/// Pieces of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    Number(Operand),
}

pub type Line = Vec<Piece>;

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
            Self::Given(_) | Self::Share(_) | Self::Scale { .. } => None,
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
            Self::Softmax { all, at } => all.get(*at)?.entry,
        }
    }

    /// The formula with its numbers in, what counts most first: the largest `most`, and how many more there are.
    pub fn lines(&self, most: usize) -> (Vec<Line>, usize) {
        let text = |text: &str| Piece::Text(text.to_owned());
        let number = |operand: &Operand| Piece::Number(operand.clone());
        match self {
            Self::Given(others) => (others.iter().map(|other| vec![number(other)]).collect(), 0),
            Self::Sum(terms) => {
                let order = sorted(terms.len(), |i| terms[i].value());
                let line = |(place, &i): (usize, &usize)| {
                    let mut line = vec![text(if place == 0 { "" } else { "+" })];
                    for (nth, factor) in terms[i].0.iter().enumerate() {
                        if nth > 0 {
                            line.push(text("·"));
                        }
                        match factor {
                            Factor::One(operand) => line.push(number(operand)),
                            Factor::Less(a, b) => {
                                line.extend([text("("), number(a), text("−"), number(b), text(")")]);
                            }
                        }
                    }
                    line
                };
                (order.iter().enumerate().take(most).map(line).collect(), terms.len().saturating_sub(most))
            }
            Self::Exponential { score, largest } => {
                (vec![vec![text("exp("), number(score), text("−"), number(largest), text(")")]], 0)
            }
            Self::Quotient { over, under } => (vec![vec![number(over), text("/"), number(under)]], 0),
            Self::Share(count) => (vec![vec![text(&format!("1 / {count}"))]], 0),
            Self::Scale { key_width, divisor, temperature } => {
                let root = key_width.map(|width| format!("√{width}"));
                let unless_one = |x: &f64| (*x != 1.0).then(|| x.to_string());
                let under: Vec<String> =
                    [root, unless_one(divisor), unless_one(temperature)].into_iter().flatten().collect();
                let under = if under.is_empty() { "1".to_owned() } else { under.join(" · ") };
                (vec![vec![text(&format!("1 / ({under})"))]], 0)
            }
            Self::Length(sums) => {
                let total = |i: usize| sums[i].iter().map(|x| f64::from(x.value)).sum::<f64>();
                let order = sorted(sums.len(), total);
                let line = |(place, &i): (usize, &usize)| {
                    const NAMED: usize = 3;
                    let parts = sorted(sums[i].len(), |part| f64::from(sums[i][part].value));
                    let mut line = vec![text(if place == 0 { "√ (" } else { "+ (" })];
                    for (nth, &part) in parts.iter().take(NAMED).enumerate() {
                        line.extend((nth > 0).then(|| text("+")));
                        line.push(number(&sums[i][part]));
                    }
                    let more = parts.len().saturating_sub(NAMED);
                    let more = if more > 0 { format!("+ {more} more ") } else { String::new() };
                    line.push(text(&format!("{more})²")));
                    line
                };
                (order.iter().enumerate().take(most).map(line).collect(), sums.len().saturating_sub(most))
            }
            Self::Distance(pairs) => {
                let order = sorted(pairs.len(), |i| f64::from(pairs[i].0.value) - f64::from(pairs[i].1.value));
                let line = |(place, &i): (usize, &usize)| {
                    let (a, b) = &pairs[i];
                    let begin = text(if place == 0 { "√ (" } else { "+ (" });
                    vec![begin, number(a), text("−"), number(b), text(")²")]
                };
                (order.iter().enumerate().take(most).map(line).collect(), pairs.len().saturating_sub(most))
            }
            Self::Cosine(pairs) => {
                let order = sorted(pairs.len(), |i| f64::from(pairs[i].0.value) * f64::from(pairs[i].1.value));
                let line = |(place, &i): (usize, &usize)| {
                    let (a, b) = &pairs[i];
                    vec![text(if place == 0 { "" } else { "+" }), number(a), text("·"), number(b)]
                };
                let mut lines: Vec<Line> = order.iter().enumerate().take(most).map(line).collect();
                lines.push(vec![text("and the sum divided by both lengths")]);
                (lines, pairs.len().saturating_sub(most))
            }
            Self::Norm { row, at, gain, bias } => {
                let own = &row[*at];
                let formula = vec![number(gain), text("· ("), number(own), text("− mean) / deviation +"), number(bias)];
                let mut lines = vec![formula, vec![text(&format!("mean and deviation over these {}:", row.len()))]];
                let order = sorted(row.len(), |i| f64::from(row[i].value));
                lines.extend(order.iter().take(most).map(|&i| vec![number(&row[i])]));
                (lines, row.len().saturating_sub(most))
            }
            Self::Softmax { all, at } => {
                let mut lines = vec![vec![text("exp("), number(&all[*at]), text(") / Σ exp over these:")]];
                let mut order: Vec<usize> = (0..all.len()).collect();
                order.sort_by(|a, b| all[*b].value.total_cmp(&all[*a].value));
                lines.extend(order.iter().take(most).map(|&i| vec![number(&all[i])]));
                (lines, all.len().saturating_sub(most))
            }
        }
    }

    /// The lines as text.
    pub fn text(&self, most: usize) -> String {
        let (lines, more) = self.lines(most);
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Number(operand) => format!("{} {}", operand.label, exact(operand.value)),
        };
        let line = |line: &Line| line.iter().map(piece).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let mut lines: Vec<String> = lines.iter().map(line).collect();
        if more > 0 {
            lines.push(format!("… + {more} more"));
        }
        lines.join("\n")
    }
}

/// Places by the size of what stands there, the largest first.
fn sorted(count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| value(*b).abs().total_cmp(&value(*a).abs()));
    order
}
