//! Formulas of rules, in LaTeX.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::norm::NormKind;
use attune_engine::quantity::{Quantity, latex};

use super::rule::{Expr, Fold, Function, Over, Place, Rule};

/// The separator between formulas that are shown together.
pub const AND: &str = ", \\quad ";

/// The letters that index the entries of a vector. A formula leaves them out unless it shows single entries.
const DIMENSIONS: &str = "cdefu";

impl Rule {
    /// Writes the equation of the rule, followed by the definitions of its symbols.
    pub fn formula(&self) -> String {
        let mut formulas = vec![self.equation()];
        define(&self.expression, &mut formulas);
        formulas.join(AND)
    }

    pub fn equation(&self) -> String {
        let sides = [self.symbol.clone(), print_with(self.shown, &self.expression)];
        sides.into_iter().filter(|side| !side.is_empty()).collect::<Vec<_>>().join(" = ")
    }
}

/// Adds the definitions of an expression's symbols, unless they are already in the list.
fn define(expression: &Expr, to: &mut Vec<String>) {
    if let Expr::Named(named) = expression
        && !named.definition.is_empty()
        && !to.contains(&named.definition)
    {
        to.push(named.definition.clone());
    }
    expression.parts().iter().for_each(|part| define(part, to));
}

/// Writes an operator's name with its argument in brackets.
pub fn call(operator: &str, argument: &str) -> String {
    format!("\\operatorname{{{operator}}}({argument})")
}

/// Writes an expression in LaTeX, with whole vectors instead of their entries.
pub fn print(expression: &Expr) -> String {
    print_with("", expression)
}

/// Writes an expression in LaTeX. Letters of dimensions are left out, except for those in `shown`.
pub fn print_with(shown: &str, expression: &Expr) -> String {
    let inner = |of: &Expr| print_with(shown, of);
    match expression {
        Expr::Given(_) => String::new(),
        Expr::Entry(place) => symbol(place, shown),
        Expr::Number(number) => number.latex.clone(),
        Expr::Vector(vector) => entry_of(&vector.latex, vector.letter, shown),
        Expr::Named(named) => match named.letter {
            Some(letter) => entry_of(&named.latex, letter, shown),
            None => named.latex.clone(),
        },
        Expr::Sum(terms) if terms.is_empty() => "0".to_owned(),
        Expr::Sum(terms) => terms.iter().map(inner).collect::<Vec<_>>().join(" + "),
        Expr::Difference(parts) => format!("{} - {}", inner(&parts[0]), inner(&parts[1])),
        Expr::Product(factors) => product(factors, shown),
        Expr::Quotient(parts) if parts[1].is_neutral() => inner(&parts[0]),
        Expr::Quotient(parts) => format!("\\frac{{{}}}{{{}}}", inner(&parts[0]), inner(&parts[1])),
        Expr::Power(parts) => format!("{}^{{{}}}", bracketed(&parts[0], shown), inner(&parts[1])),
        Expr::Apply(function, of) => applied(*function, of, shown),
        Expr::Over(over) => folded(over, shown),
    }
}

/// Writes an entry of a vector if the letter is shown, or else the vector.
fn entry_of(latex: &str, letter: char, shown: &str) -> String {
    if shown.contains(letter) { format!("{latex}_{letter}") } else { latex.to_owned() }
}

/// Returns whether an equation of vectors leaves a letter out.
fn is_hidden(letter: char, shown: &str) -> bool {
    DIMENSIONS.contains(letter) && !shown.contains(letter)
}

fn symbol(place: &Place, shown: &str) -> String {
    let letters: String = place.letters.iter().flatten().filter(|letter| !is_hidden(**letter, shown)).collect();
    let head = if place.head.is_some() { "^h" } else { "" };
    if let Quantity::Parameter(name) = place.first.quantity {
        let name = latex(name);
        let named = match name.split_once('_') {
            Some((letter, below)) if !letters.is_empty() => format!("{letter}_{{{below}\\,{letters}}}"),
            _ => name,
        };
        return named + head;
    }
    let below = match letters.len() {
        0 => String::new(),
        1 => format!("_{letters}"),
        _ => format!("_{{{letters}}}"),
    };
    format!("{}{below}{head}", letter_of(place.first.quantity))
}

/// Returns the symbol of a quantity without its indices.
fn letter_of(quantity: Quantity) -> String {
    let definition = quantity.definition();
    let short = definition.short.unwrap_or(definition.symbol);
    short.split(['[', '(']).next().unwrap_or(short).replace('α', "\\alpha")
}

/// Returns the position of a factor in a product: numerals come first, then symbols without indices, entries,
/// fractions, functions and roots.
fn rank(factor: &Expr) -> usize {
    match factor {
        Expr::Number(number) if number.latex.starts_with(|first: char| first.is_ascii_digit()) => 0,
        Expr::Number(_) => 1,
        Expr::Quotient(_) => 3,
        Expr::Apply(Function::Root, _) => 5,
        Expr::Apply(..) | Expr::Over(_) => 4,
        _ => 2,
    }
}

fn product(factors: &[Expr], shown: &str) -> String {
    let mut factors: Vec<&Expr> = factors.iter().filter(|factor| !factor.is_neutral()).collect();
    factors.sort_by_key(|factor| rank(factor));
    let mut text = String::new();
    for (nth, factor) in factors.iter().enumerate() {
        if let Some(before) = nth.checked_sub(1) {
            let is_number = matches!(factors[before], Expr::Number(_) | Expr::Quotient(_) | Expr::Apply(..));
            let is_gain = matches!(factors[before], Expr::Number(number) if number.entry.is_some());
            text += if is_number && !is_gain { " " } else { " \\, " };
        }
        text += &bracketed(factor, shown);
    }
    if text.is_empty() { "1".to_owned() } else { text }
}

/// Writes a factor, in brackets if it is a sum.
fn bracketed(factor: &Expr, shown: &str) -> String {
    let text = print_with(shown, factor);
    if matches!(factor, Expr::Sum(_) | Expr::Difference(_)) { format!("({text})") } else { text }
}

fn applied(function: Function, of: &Expr, shown: &str) -> String {
    let inner = print_with(shown, of);
    match (function, of) {
        (Function::Exp, _) => format!("e^{{{inner}}}"),
        (Function::Tanh, _) => format!("\\tanh\\left({inner}\\right)"),
        (Function::Sin, _) => format!("\\sin {inner}"),
        (Function::Cos, _) => format!("\\cos {inner}"),
        (Function::Square, _) => format!("({inner})^2"),
        (Function::Activation(Activation::Relu), _) => call("ReLU", &inner),
        (Function::Activation(Activation::Gelu), _) => call("GELU", &inner),
        (Function::Activation(Activation::GeluTanh), _) => {
            format!("\\operatorname{{GELU}}_{{\\text{{tanh}}}}({inner})")
        }
        (Function::Activation(Activation::Silu), _) => call("SiLU", &inner),
        (Function::Root, Expr::Over(over)) if is_hidden(over.letter, shown) => match &*over.of {
            Expr::Apply(Function::Square, of) => format!("\\lVert {} \\rVert", print_with(shown, of)),
            _ => format!("\\sqrt{{{inner}}}"),
        },
        (Function::Root, _) => format!("\\sqrt{{{inner}}}"),
    }
}

fn folded(over: &Over, shown: &str) -> String {
    let body = bracketed(&over.of, shown);
    let letter = over.letter;
    match over.fold {
        Fold::Sum if !is_hidden(letter, shown) => format!("\\sum_{letter} {body}"),
        Fold::Sum => dot(over, shown).unwrap_or(body),
        Fold::Concatenation => format!("\\operatorname{{Concat}}_{letter} {body}"),
        Fold::Largest => format!("\\max_{letter} {body}"),
        Fold::Mean => "\\mu".to_owned(),
        Fold::Deviation(form) if form.kind == NormKind::Layer => "\\sigma".to_owned(),
        Fold::Deviation(_) => "\\rho".to_owned(),
    }
}

/// Writes a sum of products as the dot product of two vectors that `over` indexes, after the other factors; `None` if
/// it is not one of exactly two vectors.
fn dot(over: &Over, shown: &str) -> Option<String> {
    let Expr::Product(factors) = &*over.of else { return None };
    let is_along = |factor: &&Expr| match factor {
        Expr::Entry(place) => {
            let last = place.first.quantity.definition().indices.len().saturating_sub(1);
            place.letters[last] == Some(over.letter)
        }
        Expr::Vector(vector) => vector.letter == over.letter,
        Expr::Named(named) => named.letter == Some(over.letter),
        _ => false,
    };
    let (along, others): (Vec<&Expr>, Vec<&Expr>) = factors.iter().partition(is_along);
    let [a, b] = along[..] else { return None };
    let dot = format!("{} \\cdot {}", print_with(shown, a), print_with(shown, b));
    let others: Vec<Expr> = others.into_iter().cloned().collect();
    Some(if others.is_empty() { dot } else { format!("{} {dot}", product(&others, shown)) })
}
