//! The lines of a card: a rule with its numbers in, the largest terms first.

use std::mem::take;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::quantity::Entry;

use super::reader::EntryReader;
use super::rule::{Bound, Expr, Fold, Function, Number, Over, Rule};

/// A number within a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Short name, such as `q[3]`.
    pub label: String,
    pub value: f32,
    /// The entry that the number is, which has a card of its own; `None` for a constant.
    pub entry: Option<Entry>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum LinePiece {
    Text(String),
    Number(Operand),
    /// The value of a line with several numbers, and its ratio to the largest line's magnitude.
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
    /// The number of terms or instances that have no line.
    pub more: usize,
    pub rest: Option<f64>,
}

/// A rule with its numbers, ready to be written as lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worked {
    /// The result in double precision; `None` if the number is given, or if one of its operands is missing.
    pub value: Option<f64>,
    /// The entry that contributes most to the result.
    pub leads_to: Option<Entry>,
    /// Lines with other values of a given number, such as its value before training.
    beside: Vec<Line>,
    /// The terms of a sum, the largest first; a rule that is not a sum is a single term.
    terms: Vec<Term>,
    /// The parts of the first fold that the terms show as one number.
    total: Option<Total>,
}

#[derive(Clone, Debug, PartialEq)]
struct Term {
    line: Line,
    value: f64,
    has_several: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Total {
    heading: String,
    lines: Vec<Line>,
    /// The number of instances that have no line.
    more: usize,
}

/// Writes a number with all its digits and a real minus sign.
pub fn exact(value: f32) -> String {
    match value {
        f32::NEG_INFINITY => "−∞".to_owned(),
        f32::INFINITY => "∞".to_owned(),
        value => value.to_string().replace('-', "−"),
    }
}

impl Worked {
    /// Returns the lines of the formula with its numbers: only the `most` largest terms, and as many parts of the
    /// total.
    pub fn lines(&self, most: usize) -> Lines {
        let largest = self.terms.iter().fold(f64::MIN_POSITIVE, |most, term| most.max(term.value.abs()));
        let mut lines = self.beside.clone();
        for (place, Term { line, value, has_several }) in self.terms.iter().take(most).enumerate() {
            let sign = (place > 0).then(|| LinePiece::Text("+".to_owned()));
            let product = LinePiece::Product { value: *value, share: value / largest };
            let product = (*has_several && self.terms.len() > 1).then_some(product);
            lines.push(sign.into_iter().chain(line.iter().cloned()).chain(product).collect());
        }
        let mut more = self.terms.len().saturating_sub(most);
        let mut rest = (more > 0).then(|| self.terms[most..].iter().map(|term| term.value).sum());
        if let Some(total) = &self.total {
            lines.push(vec![LinePiece::Text(total.heading.clone())]);
            lines.extend(total.lines.iter().take(most).cloned());
            more += total.more + total.lines.len().saturating_sub(most);
            rest = None;
        }
        Lines { lines, more, rest }
    }

    /// Writes the lines as text, with the number of omitted terms at the end.
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

impl EntryReader<'_> {
    /// Returns a rule with its numbers. If one of them is missing, the result is empty, and the entry is shown like a
    /// given number.
    pub fn worked(&self, rule: &Rule) -> Worked {
        let Rule { expression, bound, .. } = rule;
        if let Expr::Given(beside) = expression {
            let line = |number: &Number| vec![LinePiece::Number(operand_of(number))];
            return Worked { beside: beside.iter().map(line).collect(), ..Worked::default() };
        }
        let Some(value) = self.evaluated(rule) else { return Worked::default() };
        self.numbers(expression, bound, value).unwrap_or_default()
    }

    fn numbers(&self, expression: &Expr, bound: &Bound, value: f64) -> Option<Worked> {
        let mut terms = Vec::new();
        terms_of(expression, bound, &mut terms);
        let values = terms.iter().map(|(term, bound)| self.evaluate(term, bound));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let mut writer = Writer { reader: self, line: Vec::new(), total: None, is_in_total: false };
        let mut found = Vec::new();
        for place in by_size(terms.len(), |term| values[term]) {
            let (term, bound) = &terms[place];
            writer.write(term, bound)?;
            let has_several = !matches!(term, Expr::Entry(_) | Expr::Number(_) | Expr::Vector(_));
            found.push(Term { line: writer.end_line(), value: values[place], has_several });
        }
        let total = match writer.total.take() {
            Some((over, bound)) => Some(writer.total_of(over, &bound)?),
            None => None,
        };
        let leads_to = self.leads_to(expression, bound);
        Some(Worked { value: Some(value), leads_to, beside: Vec::new(), terms: found, total })
    }

    /// Returns an entry as a number within a formula; `None` if there is no such entry.
    pub fn operand(&self, entry: Entry) -> Option<Operand> {
        Some(Operand { label: self.short(entry), value: self.value(entry)?, entry: Some(entry) })
    }
}

/// Collects the terms of a sum and of the sums within it; terms that are neutral are left out.
fn terms_of<'e>(expression: &'e Expr, bound: &Bound, to: &mut Vec<(&'e Expr, Bound)>) {
    match expression {
        Expr::Sum(terms) => {
            terms.iter().filter(|term| !term.is_neutral()).for_each(|term| terms_of(term, bound, to));
        }
        Expr::Over(over) if matches!(over.fold, Fold::Sum | Fold::Concatenation) => {
            over.instances(bound).for_each(|bound| terms_of(&over.of, &bound, to));
        }
        Expr::Named(named) => terms_of(&named.of, bound, to),
        _ => to.push((expression, *bound)),
    }
}

/// Returns whether a divisor is written with more than one number, and so needs brackets.
fn has_several(divisor: &Expr) -> bool {
    match divisor.unnamed() {
        Expr::Product(factors) => factors.iter().filter(|factor| !factor.is_neutral()).count() > 1,
        Expr::Quotient(parts) => !parts[1].is_neutral(),
        _ => false,
    }
}

fn operand_of(number: &Number) -> Operand {
    Operand { label: number.label.clone(), value: number.value as f32, entry: number.entry }
}

/// A writer of expressions with their numbers.
struct Writer<'a, 'e> {
    reader: &'a EntryReader<'a>,
    line: Line,
    /// The first fold that was written as one number, whose parts are listed below the terms.
    total: Option<(&'e Over, Bound)>,
    /// Whether the parts of a total are being written: sums within them are shortened to their largest terms.
    is_in_total: bool,
}

impl<'e> Writer<'_, 'e> {
    fn text(&mut self, text: &str) {
        if let Some(LinePiece::Text(before)) = self.line.last_mut() {
            before.push_str(text);
        } else {
            self.line.push(LinePiece::Text(text.to_owned()));
        }
    }

    /// Takes the current line. Its texts lose the blanks at their ends, because numbers are set apart from them.
    fn end_line(&mut self) -> Line {
        let mut line = take(&mut self.line);
        for piece in &mut line {
            if let LinePiece::Text(text) = piece {
                *text = text.trim().to_owned();
            }
        }
        line
    }

    fn write(&mut self, expression: &'e Expr, bound: &Bound) -> Option<()> {
        match expression {
            Expr::Given(_) => return None,
            Expr::Entry(place) => self.line.push(LinePiece::Number(self.reader.operand(place.entry(bound)?)?)),
            Expr::Number(number) if number.label.is_empty() => self.text(&exact(number.value as f32)),
            Expr::Number(number) => self.line.push(LinePiece::Number(operand_of(number))),
            Expr::Vector(vector) => {
                let place = bound.get(vector.letter);
                let (label, value) = (format!("{}[{place}]", vector.label), *vector.values.get(place)?);
                self.line.push(LinePiece::Number(Operand { label, value, entry: None }));
            }
            Expr::Named(named) => self.write(&named.of, bound)?,
            Expr::Sum(_) if self.is_in_total => self.largest_terms(expression, bound)?,
            Expr::Over(over) if self.is_in_total && over.fold != Fold::Largest => {
                self.largest_terms(expression, bound)?;
            }
            Expr::Sum(terms) => self.joined(" + ", terms.iter().filter(|term| !term.is_neutral()), bound)?,
            Expr::Difference(parts) => self.joined(" − ", parts.iter(), bound)?,
            Expr::Product(_) if expression.is_neutral() => self.text("1"),
            Expr::Product(factors) => {
                self.joined(" · ", factors.iter().filter(|factor| !factor.is_neutral()), bound)?;
            }
            Expr::Quotient(parts) if parts[1].is_neutral() => self.write(&parts[0], bound)?,
            Expr::Quotient(parts) => {
                self.factor(&parts[0], bound)?;
                self.text(" / ");
                self.bracketed(&parts[1], bound, has_several(&parts[1]))?;
            }
            Expr::Power(parts) => {
                self.factor(&parts[0], bound)?;
                self.text("^");
                self.bracketed(&parts[1], bound, true)?;
            }
            Expr::Apply(function, of) => self.applied(*function, of, bound)?,
            Expr::Over(over) => self.folded(over, expression, bound)?,
        }
        Some(())
    }

    fn joined(&mut self, sign: &str, parts: impl Iterator<Item = &'e Expr>, bound: &Bound) -> Option<()> {
        for (nth, part) in parts.enumerate() {
            if nth > 0 {
                self.text(sign);
            }
            if sign == " + " { self.write(part, bound)? } else { self.factor(part, bound)? }
        }
        Some(())
    }

    /// Writes a factor, in brackets if it is a sum.
    fn factor(&mut self, of: &'e Expr, bound: &Bound) -> Option<()> {
        self.bracketed(of, bound, false)
    }

    fn bracketed(&mut self, of: &'e Expr, bound: &Bound, is_product: bool) -> Option<()> {
        if !is_product && !matches!(of.unnamed(), Expr::Sum(_) | Expr::Difference(_)) {
            return self.write(of, bound);
        }
        self.text("(");
        self.write(of, bound)?;
        self.text(")");
        Some(())
    }

    fn applied(&mut self, function: Function, of: &'e Expr, bound: &Bound) -> Option<()> {
        let (before, after) = match function {
            Function::Exp => ("exp(", ")"),
            Function::Tanh => ("tanh(", ")"),
            Function::Sin => ("sin(", ")"),
            Function::Cos => ("cos(", ")"),
            Function::Square => ("(", ")²"),
            Function::Activation(Activation::Relu) => ("relu(", ")"),
            Function::Activation(Activation::Gelu) => ("gelu(", ")"),
            Function::Activation(Activation::GeluTanh) => ("gelu_tanh(", ")"),
            Function::Activation(Activation::Silu) => ("silu(", ")"),
            Function::Root if matches!(of, Expr::Number(_) | Expr::Over(_)) => ("√", ""),
            Function::Root => ("√(", ")"),
        };
        self.text(before);
        self.write(of, bound)?;
        self.text(after);
        Some(())
    }

    /// Writes the three largest terms of a sum, and the sum of the others.
    fn largest_terms(&mut self, sum: &'e Expr, bound: &Bound) -> Option<()> {
        const NAMED: usize = 3;
        let mut terms = Vec::new();
        terms_of(sum, bound, &mut terms);
        let values = terms.iter().map(|(term, bound)| self.reader.evaluate(term, bound));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let order = by_size(terms.len(), |term| values[term]);
        for (place, (term, bound)) in order.iter().take(NAMED).map(|place| &terms[*place]).enumerate() {
            if place > 0 {
                self.text(" + ");
            }
            self.write(term, bound)?;
        }
        if let Some(others @ [_, ..]) = order.get(NAMED..) {
            self.text(" + ");
            let value = others.iter().map(|place| values[*place]).sum::<f64>() as f32;
            self.line.push(LinePiece::Number(Operand { label: format!("{} more", others.len()), value, entry: None }));
        }
        Some(())
    }

    /// Writes a fold as one number.
    fn folded(&mut self, over: &'e Over, whole: &Expr, bound: &Bound) -> Option<()> {
        let value = self.reader.folded(over, bound)? as f32;
        let operand = match over.fold {
            Fold::Largest => {
                let entry = self.reader.leads_to(whole, bound)?;
                Operand { label: format!("max {}", self.reader.short(entry)), value, entry: Some(entry) }
            }
            fold => Operand { label: sign_of(fold).to_owned(), value, entry: None },
        };
        if over.fold != Fold::Largest && self.total.is_none() {
            self.total = Some((over, *bound));
        }
        self.line.push(LinePiece::Number(operand));
        Some(())
    }

    /// Lists the largest parts of a total, under a heading that names the fold.
    fn total_of(&mut self, over: &'e Over, bound: &Bound) -> Option<Total> {
        let heading = match over.fold {
            Fold::Mean | Fold::Deviation(NormForm { kind: NormKind::Layer, .. }) => {
                format!("with the mean and the standard deviation σ of these {}:", over.count)
            }
            Fold::Deviation(_) => format!("with ρ, the root of the mean square, of these {}:", over.count),
            _ => format!("with Σ, the sum of these {}:", over.count),
        };
        let instances: Vec<Bound> = over.instances(bound).collect();
        let values = instances.iter().map(|bound| self.reader.evaluate(&over.of, bound));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let mut lines = Vec::new();
        self.is_in_total = true;
        for place in by_size(over.count, |at| values[at]).into_iter().take(over.named) {
            self.write(&over.of, &instances[place])?;
            lines.push(self.end_line());
        }
        Some(Total { heading, more: over.count - lines.len(), lines })
    }
}

fn sign_of(fold: Fold) -> &'static str {
    match fold {
        Fold::Sum | Fold::Concatenation => "Σ",
        Fold::Largest => "max",
        Fold::Mean => "mean",
        Fold::Deviation(form) if form.kind == NormKind::Layer => "σ",
        Fold::Deviation(_) => "ρ",
    }
}

/// Returns the indices below `count`, ordered by the magnitude of their values, the largest first.
pub(super) fn by_size(count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| value(*b).abs().total_cmp(&value(*a).abs()));
    order
}
