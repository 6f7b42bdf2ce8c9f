//! Rules: expressions over entries, with letters for their indices and the symbols of papers.
//!
//! A rule is data. [`super::print`] writes its formula, [`super::lines`] its numbers, and [`EntryReader::evaluate`]
//! computes its value. Indices stay letters until they are bound, so that a live page reads the same expressions and
//! binds them to the word, the key and the head that its reader looks at.

use std::ops::{Add, Div, Mul, Sub};
use std::slice;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::quantity::{Entry, Owner, Quantity};
use serde::{Serialize, Serializer};

use super::reader::EntryReader;

/// A rule by which an entry of a quantity is computed from other entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The symbol that the rule defines, in LaTeX; empty if entries of the quantity have none.
    pub symbol: String,
    pub expression: Expr,
    /// The numbers that the letters of the entry's own indices stand for.
    pub bound: Bound,
    /// The letters of dimensions that the formula shows; without any, the formula is an equation of vectors.
    pub shown: &'static str,
}

impl Rule {
    pub fn new(symbol: impl Into<String>, expression: impl Into<Expr>, bound: Bound) -> Self {
        Self { symbol: symbol.into(), expression: expression.into(), bound, shown: "" }
    }

    /// Creates the rule of a number that is not computed from others: learned, stored or set by hand.
    pub fn given(symbol: impl Into<String>) -> Self {
        Self::new(symbol, Expr::Given(Vec::new()), Bound::default())
    }

    /// Sets the letters of dimensions that the formula shows.
    #[must_use]
    pub fn by_entry(self, shown: &'static str) -> Self {
        Self { shown, ..self }
    }
}

const LETTERS: usize = 26;

/// The numbers that letters of indices stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound([usize; LETTERS]);

impl Bound {
    #[must_use]
    pub fn with(mut self, letter: char, number: usize) -> Self {
        self.0[Self::place(letter)] = number;
        self
    }

    /// Binds the letters of a query and a key.
    pub fn of_pair(query: usize, key: usize) -> Self {
        Self::default().with('i', query).with('j', key)
    }

    pub fn get(&self, letter: char) -> usize {
        self.0[Self::place(letter)]
    }

    fn place(letter: char) -> usize {
        (u32::from(letter).saturating_sub(u32::from('a')) as usize).min(LETTERS - 1)
    }
}

/// Entries of a quantity, whose indices are letters or fixed numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The entry for which all letters are 0; serialized as the quantity, the number of its owner, and the indices.
    #[serde(serialize_with = "write_entry")]
    pub first: Entry,
    /// The letter that is added to each index; `None` for an index that is fixed.
    pub letters: [Option<char>; 3],
    /// The letter that is subtracted from the last index, as in the distance `j − i`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minus: Option<char>,
    /// The letter that counts heads, in a sum over heads.
    #[serde(skip)]
    pub head: Option<char>,
}

fn write_entry<S: Serializer>(entry: &Entry, serializer: S) -> Result<S::Ok, S::Error> {
    (format!("{:?}", entry.quantity), entry.owner.number(), entry.index).serialize(serializer)
}

/// Creates entries with a letter for each index; `_` stands for an index that is fixed.
pub fn at(first: Entry, letters: &str) -> Expr {
    let mut all = [None; 3];
    all.iter_mut().zip(letters.chars()).for_each(|(to, letter)| *to = Some(letter).filter(|letter| *letter != '_'));
    Expr::Entry(Box::new(Place { first, letters: all, minus: None, head: None }))
}

/// Creates entries of a head, with letters for their indices.
pub fn at_head(quantity: Quantity, head: usize, letters: &str) -> Expr {
    at(Entry { quantity, owner: Owner::Head(head), index: [0; 3] }, letters)
}

impl Place {
    /// Returns the entry of a binding; `None` if an index is negative.
    pub fn entry(&self, bound: &Bound) -> Option<Entry> {
        let mut entry = self.first;
        for (index, letter) in entry.index.iter_mut().zip(self.letters) {
            *index += letter.map_or(0, |letter| bound.get(letter));
        }
        if let Some(letter) = self.minus {
            let last = self.first.quantity.definition().indices.len().checked_sub(1)?;
            entry.index[last] = entry.index[last].checked_sub(bound.get(letter))?;
        }
        Some(self.head.map_or(entry, |letter| entry.of_later_head(bound.get(letter))))
    }
}

/// A number that depends on what a learner can change. The expression of a rule always contains it; formulas and worked
/// numbers leave it out while it is neutral.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    Temperature,
    /// `d_k` if its root divides the scores, otherwise 1.
    KeyWidth,
    /// 0 if a query sees a key, otherwise −∞.
    Mask,
    Gain,
    /// Number of keys that a query sees.
    Seen,
    /// Number of keys that are hidden from a query.
    Unseen,
    /// Number of queries.
    Queries,
}

impl Setting {
    /// Returns the value with which the setting changes nothing; `None` if no value does.
    pub fn neutral(self) -> Option<f64> {
        match self {
            Self::Temperature | Self::KeyWidth | Self::Gain => Some(1.0),
            Self::Mask => Some(0.0),
            Self::Seen | Self::Unseen | Self::Queries => None,
        }
    }
}

/// A number that is not an entry, or that a learner sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// Symbol in a formula.
    #[serde(skip)]
    pub latex: String,
    /// The label beside the value; empty if the value stands alone.
    #[serde(skip)]
    pub label: String,
    pub value: f64,
    #[serde(skip)]
    pub entry: Option<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<Setting>,
}

impl Number {
    /// Creates a number with a symbol and a label. If the label is empty, the value stands alone.
    pub fn new(latex: impl Into<String>, label: impl Into<String>, value: f64) -> Self {
        Self { latex: latex.into(), label: label.into(), value, entry: None, setting: None }
    }

    /// Creates a number that is its own symbol.
    pub fn plain(value: f64) -> Self {
        Self::new(value.to_string(), "", value)
    }

    #[must_use]
    pub fn set_by(self, setting: Setting) -> Self {
        Self { setting: Some(setting), ..self }
    }
}

/// A vector that is not a quantity. A letter indexes its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    pub latex: String,
    pub label: String,
    pub letter: char,
    pub values: Vec<f32>,
    /// The expression by which an entry is computed, if it is known; the way back continues through it.
    pub of: Option<Box<Expr>>,
}

/// Creates a vector whose entries are given.
pub fn vector(latex: impl Into<String>, label: &str, letter: char, values: Vec<f32>) -> Expr {
    let (latex, label) = (latex.into(), label.to_owned());
    Expr::Vector(Vector { latex, label, letter, values, of: None })
}

/// An expression that formulas write with a symbol of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub latex: String,
    /// The letter of the dimension that indexes the entries, if the symbol stands for a vector.
    pub letter: Option<char>,
    /// The equation that defines the symbol, written after the formula; empty if there is none.
    pub definition: String,
    pub of: Expr,
}

fn write_named<S: Serializer>(named: &Named, serializer: S) -> Result<S::Ok, S::Error> {
    named.of.serialize(serializer)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Function {
    Exp,
    Tanh,
    Root,
    Square,
    Sin,
    Cos,
    /// Activation function of hidden units.
    #[serde(skip)]
    Activation(Activation),
}

impl Function {
    fn of(self, x: f64) -> f64 {
        match self {
            Self::Exp => x.exp(),
            Self::Tanh => x.tanh(),
            Self::Root => x.sqrt(),
            Self::Square => x * x,
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Activation(activation) => {
                let mut value = [0.0];
                activation.apply(&[x], &mut value);
                value[0]
            }
        }
    }
}

/// An operation that reduces many numbers to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    Sum,
    /// A sum in which at most one term differs from 0, because each head has dimensions of its own.
    Concatenation,
    Largest,
    Mean,
    /// The divisor of a norm: the standard deviation, or the root of the mean square, with the norm's ε.
    #[serde(skip)]
    Deviation(NormForm),
}

/// A fold of the values of an expression, over all numbers that a letter can stand for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Over {
    pub fold: Fold,
    pub letter: char,
    pub count: usize,
    pub of: Box<Expr>,
    /// The largest number of instances that are listed below the total.
    #[serde(skip)]
    pub named: usize,
}

impl Over {
    /// Returns `bound` with each of the letter's numbers in turn.
    pub fn instances(&self, bound: &Bound) -> impl Iterator<Item = Bound> + use<> {
        let (bound, letter) = (*bound, self.letter);
        (0..self.count).map(move |number| bound.with(letter, number))
    }
}

/// An expression over entries of quantities. In a live page, it is an object with one field, which is named after the
/// variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expr {
    /// A number that is not computed, with other values of it, such as its value before training.
    Given(Vec<Number>),
    Entry(Box<Place>),
    Number(Box<Number>),
    #[serde(skip)]
    Vector(Vector),
    Named(#[serde(serialize_with = "write_named")] Box<Named>),
    Sum(Vec<Expr>),
    Difference(Box<[Expr; 2]>),
    Product(Vec<Expr>),
    Quotient(Box<[Expr; 2]>),
    Power(Box<[Expr; 2]>),
    Apply(Function, Box<Expr>),
    Over(Over),
}

impl Expr {
    pub fn over(self, fold: Fold, letter: char, count: usize) -> Self {
        Self::Over(Over { fold, letter, count, of: Box::new(self), named: usize::MAX })
    }

    pub fn sum(self, letter: char, count: usize) -> Self {
        self.over(Fold::Sum, letter, count)
    }

    #[must_use]
    pub fn apply(self, function: Function) -> Self {
        Self::Apply(function, Box::new(self))
    }

    /// Builds the length of the vector whose entries are the values of the expression, one for each of the `count`
    /// numbers that the letter stands for.
    #[must_use]
    pub fn length(self, letter: char, count: usize) -> Self {
        self.apply(Function::Square).sum(letter, count).apply(Function::Root)
    }

    fn with_place(mut self, change: impl FnOnce(&mut Place)) -> Self {
        if let Self::Entry(place) = &mut self {
            change(place);
        }
        self
    }

    /// Gives the expression a symbol, which formulas write instead of it.
    #[must_use]
    pub fn printed(self, latex: impl Into<String>) -> Self {
        Self::Named(Box::new(Named { latex: latex.into(), letter: None, definition: String::new(), of: self }))
    }

    /// Gives the expression the symbol of a vector, whose entries the letter indexes.
    #[must_use]
    pub fn printed_along(self, latex: impl Into<String>, letter: char) -> Self {
        Self::Named(Box::new(Named { latex: latex.into(), letter: Some(letter), definition: String::new(), of: self }))
    }

    /// Adds the equation that defines the symbol; changes nothing in an expression without a symbol.
    #[must_use]
    pub fn with_definition(mut self, definition: String) -> Self {
        if let Self::Named(named) = &mut self {
            named.definition = definition;
        }
        self
    }

    /// Sets the expression by which the entries of a vector are computed, with the same letter.
    #[must_use]
    pub fn made_of(mut self, of: Self) -> Self {
        if let Self::Vector(vector) = &mut self {
            vector.of = Some(Box::new(of));
        }
        self
    }

    /// Raises the expression to a power.
    #[must_use]
    pub fn power(self, exponent: Self) -> Self {
        Self::Power(Box::new([self, exponent]))
    }

    /// Returns the expressions from which this one is made.
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Given(_) | Self::Entry(_) | Self::Number(_) | Self::Vector(_) => &[],
            Self::Named(named) => slice::from_ref(&named.of),
            Self::Sum(parts) | Self::Product(parts) => parts,
            Self::Difference(parts) | Self::Quotient(parts) | Self::Power(parts) => &parts[..],
            Self::Apply(_, of) => slice::from_ref(of),
            Self::Over(over) => slice::from_ref(&over.of),
        }
    }

    /// Returns the expression itself, without the symbols that were given to it.
    pub fn unnamed(&self) -> &Self {
        if let Self::Named(named) = self { named.of.unnamed() } else { self }
    }

    /// Subtracts a letter from the last index of an entry.
    #[must_use]
    pub fn less(self, letter: char) -> Self {
        self.with_place(|place| place.minus = Some(letter))
    }

    /// Lets the letter `h` count the heads of an entry.
    #[must_use]
    pub fn of_each_head(self) -> Self {
        self.with_place(|place| place.head = Some('h'))
    }

    #[must_use]
    pub fn plus(self, other: Option<impl Into<Self>>) -> Self {
        match other {
            Some(other) => self + other,
            None => self,
        }
    }

    #[must_use]
    pub fn times(self, other: Option<impl Into<Self>>) -> Self {
        match other {
            Some(other) => self * other,
            None => self,
        }
    }

    /// Returns whether the expression changes nothing: a setting with its neutral value, or made only of such settings.
    pub fn is_neutral(&self) -> bool {
        match self {
            Self::Number(number) => number.setting.and_then(Setting::neutral) == Some(number.value),
            Self::Apply(Function::Root, _) | Self::Product(_) | Self::Named(_) => {
                self.parts().iter().all(Self::is_neutral)
            }
            _ => false,
        }
    }
}

impl From<Number> for Expr {
    fn from(number: Number) -> Self {
        Self::Number(Box::new(number))
    }
}

impl<E: Into<Self>> Add<E> for Expr {
    type Output = Self;

    fn add(self, other: E) -> Self {
        let mut terms = if let Self::Sum(terms) = self { terms } else { vec![self] };
        terms.push(other.into());
        Self::Sum(terms)
    }
}

impl<E: Into<Self>> Sub<E> for Expr {
    type Output = Self;

    fn sub(self, other: E) -> Self {
        Self::Difference(Box::new([self, other.into()]))
    }
}

impl<E: Into<Self>> Mul<E> for Expr {
    type Output = Self;

    fn mul(self, other: E) -> Self {
        let mut factors = if let Self::Product(factors) = self { factors } else { vec![self] };
        factors.push(other.into());
        Self::Product(factors)
    }
}

impl<E: Into<Self>> Div<E> for Expr {
    type Output = Self;

    fn div(self, other: E) -> Self {
        Self::Quotient(Box::new([self, other.into()]))
    }
}

/// The largest number of values that are read to compute one row; more, as in a large model, would take longer than a
/// frame.
const ROW_MAX: usize = 1 << 17;

/// Returns approximately how many numbers are read to evaluate an expression once.
fn size_of(of: &Expr) -> usize {
    let count = if let Expr::Over(over) = of { over.count } else { 1 };
    count * of.parts().iter().map(size_of).sum::<usize>().max(1)
}

impl EntryReader<'_> {
    /// Evaluates an expression in double precision; `None` if a number of it is given or missing.
    pub fn evaluate(&self, expression: &Expr, bound: &Bound) -> Option<f64> {
        let value = |of: &Expr| self.evaluate(of, bound);
        Some(match expression {
            Expr::Given(_) => return None,
            Expr::Entry(place) => self.value(place.entry(bound)?)?.into(),
            Expr::Number(number) => number.value,
            Expr::Vector(vector) => f64::from(*vector.values.get(bound.get(vector.letter))?),
            Expr::Named(named) => value(&named.of)?,
            Expr::Sum(terms) => terms.iter().map(value).sum::<Option<f64>>()?,
            Expr::Difference(terms) => value(&terms[0])? - value(&terms[1])?,
            Expr::Product(factors) => factors.iter().map(value).product::<Option<f64>>()?,
            Expr::Quotient(parts) => value(&parts[0])? / value(&parts[1])?,
            Expr::Power(parts) => value(&parts[0])?.powf(value(&parts[1])?),
            Expr::Apply(function, of) => function.of(value(of)?),
            Expr::Over(over) => self.folded(over, bound)?,
        })
    }

    /// Evaluates a rule; `None` if its number is given, if an operand is missing, or if the result is not a number.
    pub fn evaluated(&self, rule: &Rule) -> Option<f64> {
        self.evaluate(&rule.expression, &rule.bound).filter(|value| !value.is_nan())
    }

    /// Evaluates each entry of a row once, for rules that read the row many times; `None` if that would take too long,
    /// or if a number is missing.
    pub(super) fn row(
        &self,
        latex: &str,
        label: &str,
        of: Expr,
        (letter, count): (char, usize),
        bound: &Bound,
    ) -> Option<Expr> {
        if count * size_of(&of) > ROW_MAX {
            return None;
        }
        let value = |number| self.evaluate(&of, &bound.with(letter, number)).map(|value| value as f32);
        let values = (0..count).map(value).collect::<Option<_>>()?;
        let (latex, label) = (latex.to_owned(), label.to_owned());
        Some(Expr::Vector(Vector { latex, label, letter, values, of: Some(Box::new(of)) }))
    }

    pub(super) fn folded(&self, over: &Over, bound: &Bound) -> Option<f64> {
        let values = over.instances(bound).map(|bound| self.evaluate(&over.of, &bound));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Some(match over.fold {
            Fold::Sum | Fold::Concatenation => values.iter().sum(),
            Fold::Largest => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Fold::Mean => mean(&values),
            Fold::Deviation(form) => {
                let middle = if form.kind == NormKind::Layer { mean(&values) } else { 0.0 };
                let squares: Vec<f64> = values.iter().map(|x| (x - middle).powi(2)).collect();
                (mean(&squares) + form.epsilon).sqrt()
            }
        })
    }

    /// Returns the entry that contributes most to an expression; `None` if the expression has no entry.
    pub fn leads_to(&self, expression: &Expr, bound: &Bound) -> Option<Entry> {
        let leads = |of: &Expr| self.leads_to(of, bound);
        match expression {
            Expr::Given(_) | Expr::Number(_) => None,
            Expr::Vector(vector) => vector.of.as_deref().and_then(leads),
            Expr::Entry(place) => place.entry(bound),
            Expr::Sum(terms) => self.largest(terms.iter().map(|term| (term, *bound))),
            Expr::Over(over) if over.fold == Fold::Largest => {
                let value = |bound: &Bound| self.evaluate(&over.of, bound).unwrap_or(f64::NEG_INFINITY);
                let largest = over.instances(bound).max_by(|a, b| value(a).total_cmp(&value(b)))?;
                self.leads_to(&over.of, &largest)
            }
            Expr::Over(over) => self.largest(over.instances(bound).map(|bound| (&*over.of, bound))),
            _ => expression.parts().iter().find_map(leads),
        }
    }

    /// Returns the entry that contributes most to the largest of the terms that have an entry.
    fn largest<'e>(&self, of: impl Iterator<Item = (&'e Expr, Bound)>) -> Option<Entry> {
        let mut terms: Vec<_> =
            of.filter_map(|(of, bound)| Some((self.evaluate(of, &bound)?.abs(), of, bound))).collect();
        terms.sort_by(|a, b| b.0.total_cmp(&a.0));
        terms.iter().find_map(|(_, of, bound)| self.leads_to(of, bound))
    }
}
