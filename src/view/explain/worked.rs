//! A formula with its numbers in: as data that can be worked out again, and as lines to read.

use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::quantity::{Entry, Quantity};

use super::numbers::Divisors;

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
        sum: Vec<Term>,
        cap: f32,
        added: Option<Term>,
    },
    /// `exp(z) / Σ exp(z)`
    Softmax {
        all: Vec<Operand>,
        at: usize,
    },
}

pub fn sum(operands: Vec<Operand>) -> Worked {
    Worked::Sum(operands.into_iter().map(|operand| Term::of([operand])).collect())
}

/// Pieces of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    Number(Operand),
    /// The product of a line's numbers, with its share of the largest product.
    Product {
        value: f64,
        share: f64,
    },
}

pub type Line = Vec<Piece>;

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
            Self::Softmax { all, at } => all.get(*at)?.entry,
        }
    }

    /// The formula with its numbers in: of its terms the `most` largest, the largest first.
    pub fn lines(&self, most: usize) -> Lines {
        let all = |lines: Vec<Line>| Lines { lines, more: 0, rest: None };
        let listed = |heading: Vec<Line>, row: &[Operand], zero: f64| {
            let size = |i: usize| f64::from(row[i].value) - zero;
            let list = Lines::of(row.len(), most, size, |_, i| vec![number(&row[i])]);
            Lines { lines: [heading, list.lines].concat(), ..list }
        };
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
                lines.lines.push(vec![text("and the sum divided by both lengths")]);
                lines
            }
            Self::Norm { row, at, gain, shift, form } => {
                let (takes, over) = match form.kind {
                    NormKind::Layer => ("− mean) / deviation", "mean and deviation over these"),
                    NormKind::Rms => (") / root of the mean square", "the mean square over these"),
                };
                let from_one = form.gain_from_one.then(|| text("1 +"));
                let mut formula: Line = from_one.into_iter().collect();
                formula.extend([number(gain), text("· ("), number(&row[*at]), text(takes)]);
                formula.extend(shift.iter().flat_map(|shift| [text("+"), number(shift)]));
                listed(vec![formula, vec![text(&format!("{over} {}:", row.len()))]], row, 0.0)
            }
            Self::Bounded { sum, cap, added } => {
                let inner = sum_lines(sum, most);
                let mut lines = vec![vec![text(&format!("{cap} · tanh(z / {cap}) of z ="))]];
                lines.extend(inner.lines.iter().cloned());
                lines.extend(added.iter().flat_map(|added| sum_lines(std::slice::from_ref(added), most).lines));
                Lines { lines, ..inner }
            }
            Self::Softmax { all, at } => {
                let formula = vec![text("exp("), number(&all[*at]), text(") / Σ exp over these:")];
                let lowest = all.iter().map(|z| f64::from(z.value)).fold(f64::INFINITY, f64::min);
                listed(vec![formula], all, lowest)
            }
        }
    }

    /// The lines as text.
    pub fn text(&self, most: usize) -> String {
        let Lines { lines, more, .. } = self.lines(most);
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Number(operand) => format!("{} {}", operand.label, exact(operand.value)),
            Piece::Product { .. } => String::new(),
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

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn number(operand: &Operand) -> Piece {
    Piece::Number(operand.clone())
}

fn plus_sign(place: usize) -> &'static str {
    if place == 0 { "" } else { "+" }
}

fn root_sign(place: usize) -> &'static str {
    if place == 0 { "√ (" } else { "+ (" }
}

/// A line for each product, with the product itself where it has several factors.
fn sum_lines(terms: &[Term], most: usize) -> Lines {
    let values: Vec<f64> = terms.iter().map(Term::value).collect();
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
        let product = Piece::Product { value: values[i], share: values[i] / largest };
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
fn by_size(count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| value(*b).abs().total_cmp(&value(*a).abs()));
    order
}
