//! Rules: expressions over entries, with letters for their indices and the symbols of papers.
//!
//! A rule is data. Its formula is written by [`super::print`], its numbers by [`super::lines`], and its value is
//! [`EntryReader::evaluate`]. Indices stay letters until they are bound, so that a live page reads the same expressions and
//! binds them to the word, the key and the head that its reader looks at.

use std::ops::{Add, Div, Mul, Sub};

use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::quantity::Entry;
use serde::{Serialize, Serializer};

use super::reader::EntryReader;

/// How a quantity is computed from others.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// In LaTeX, with what it defines.
    pub formula: String,
    pub expression: Expr,
    /// The entry's own indices by their letters.
    pub bound: Bound,
}

impl Rule {
    pub fn new(formula: impl Into<String>, expression: impl Into<Expr>, bound: Bound) -> Self {
        Self { formula: formula.into(), expression: expression.into(), bound }
    }

    /// A number that is not computed from others: learned, kept or set by hand.
    pub fn given(formula: impl Into<String>) -> Self {
        Self::new(formula, Expr::Given(Vec::new()), Bound::default())
    }
}

const LETTERS: usize = 26;

/// Numbers of indices, by their letters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound([usize; LETTERS]);

impl Bound {
    #[must_use]
    pub fn with(mut self, letter: char, number: usize) -> Self {
        self.0[Self::place(letter)] = number;
        self
    }

    pub fn get(&self, letter: char) -> usize {
        self.0[Self::place(letter)]
    }

    fn place(letter: char) -> usize {
        (u32::from(letter).saturating_sub(u32::from('a')) as usize).min(LETTERS - 1)
    }
}

/// Entries of a quantity, by letters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The entry that the letters count from; written as the quantity, the number of its owner, and the indices.
    #[serde(serialize_with = "write_entry")]
    pub first: Entry,
    /// The letter of each index; `None` of one that is fixed.
    pub letters: [Option<char>; 3],
    /// A letter that the last index decreases with: `j − i` of a distance.
    pub minus: Option<char>,
    /// The letter that counts heads, of a sum over them.
    #[serde(skip)]
    pub head: Option<char>,
    /// The symbol in a formula, where it is not the quantity's own: another letter, or the rule of the entry itself.
    #[serde(skip)]
    pub printed: Option<String>,
}

fn write_entry<S: Serializer>(entry: &Entry, serializer: S) -> Result<S::Ok, S::Error> {
    (format!("{:?}", entry.quantity), entry.owner.number(), entry.index).serialize(serializer)
}

/// An entry whose indices increase with letters; `_` is an index that does not.
pub fn at(first: Entry, letters: &str) -> Expr {
    let mut all = [None; 3];
    all.iter_mut().zip(letters.chars()).for_each(|(to, letter)| *to = Some(letter).filter(|letter| *letter != '_'));
    Expr::Entry(Box::new(Place { first, letters: all, minus: None, head: None, printed: None }))
}

impl Place {
    /// The entry; `None` where an index would be negative.
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

/// A setting that a learner changes; a rule keeps it where it changes nothing, and formulas and numbers leave it out there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    Temperature,
    /// `d_k` where its root divides, otherwise 1.
    KeyWidth,
    /// 0 where a query sees a key, −∞ where it does not.
    Mask,
    Gain,
}

impl Setting {
    /// The value with which it changes nothing.
    pub fn neutral(self) -> f64 {
        if self == Self::Mask { 0.0 } else { 1.0 }
    }
}

/// A number that is no entry, or one that a learner sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// In a formula.
    #[serde(skip)]
    pub latex: String,
    /// Beside its value; empty of one that stands alone.
    #[serde(skip)]
    pub label: String,
    pub value: f64,
    #[serde(skip)]
    pub entry: Option<Entry>,
    pub setting: Option<Setting>,
}

impl Number {
    /// A number with a symbol; without a label, its value stands alone.
    pub fn new(latex: impl Into<String>, label: impl Into<String>, value: f64) -> Self {
        Self { latex: latex.into(), label: label.into(), value, entry: None, setting: None }
    }

    /// A number that is its own symbol.
    pub fn plain(value: f64) -> Self {
        Self::new(value.to_string(), "", value)
    }

    #[must_use]
    pub fn set_by(self, setting: Setting) -> Self {
        Self { setting: Some(setting), ..self }
    }
}

/// Entries of a vector that no quantity keeps, by a letter.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    pub latex: String,
    pub label: String,
    pub letter: char,
    pub values: Vec<f32>,
}

pub fn vector(latex: impl Into<String>, label: &str, letter: char, values: Vec<f32>) -> Expr {
    Expr::Vector(Vector { latex: latex.into(), label: label.to_owned(), letter, values })
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
        }
    }
}

/// One number of many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    Sum,
    /// A sum of which all terms but one are 0: each head has entries of its own.
    Concatenation,
    Largest,
    Mean,
    /// The divisor of a norm.
    #[serde(skip)]
    Deviation(NormForm),
}

/// A fold of what an expression is for each number of a letter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Over {
    pub fold: Fold,
    pub letter: char,
    pub count: usize,
    pub of: Box<Expr>,
    /// Most instances that the numbers of the rule name, beneath a total of them.
    #[serde(skip)]
    pub named: usize,
}

impl Over {
    /// The letter bound to each of its numbers.
    pub fn instances(&self, bound: &Bound) -> impl Iterator<Item = Bound> + use<> {
        let (bound, letter) = (*bound, self.letter);
        (0..self.count).map(move |number| bound.with(letter, number))
    }
}

/// In a live page, an object of one field, the name of the variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expr {
    /// Told as it is, beside other values of the same number.
    Given(Vec<Number>),
    Entry(Box<Place>),
    Number(Box<Number>),
    #[serde(skip)]
    Vector(Vector),
    Sum(Vec<Expr>),
    Difference(Box<[Expr; 2]>),
    Product(Vec<Expr>),
    Quotient(Box<[Expr; 2]>),
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

    /// The length of the vector whose entries it is.
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

    /// An entry that a formula writes in other symbols.
    #[must_use]
    pub fn printed(self, latex: impl Into<String>) -> Self {
        self.with_place(|place| place.printed = Some(latex.into()))
    }

    /// An entry whose last index decreases with a letter.
    #[must_use]
    pub fn less(self, letter: char) -> Self {
        self.with_place(|place| place.minus = Some(letter))
    }

    /// An entry of each head, by the letter `h`.
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

    /// A setting that changes nothing.
    pub fn is_neutral(&self) -> bool {
        match self {
            Self::Number(number) => number.setting.is_some_and(|setting| setting.neutral() == number.value),
            Self::Apply(Function::Root, of) => of.is_neutral(),
            Self::Product(factors) => factors.iter().all(Self::is_neutral),
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

impl EntryReader<'_> {
    /// Evaluates an expression in double precision; `None` where a number of it is given, or missing.
    pub fn evaluate(&self, expression: &Expr, bound: &Bound) -> Option<f64> {
        let value = |of: &Expr| self.evaluate(of, bound);
        Some(match expression {
            Expr::Given(_) => return None,
            Expr::Entry(place) => self.value(place.entry(bound)?)?.into(),
            Expr::Number(number) => number.value,
            Expr::Vector(vector) => f64::from(*vector.values.get(bound.get(vector.letter))?),
            Expr::Sum(terms) => terms.iter().map(value).sum::<Option<f64>>()?,
            Expr::Difference(terms) => value(&terms[0])? - value(&terms[1])?,
            Expr::Product(factors) => factors.iter().map(value).product::<Option<f64>>()?,
            Expr::Quotient(parts) => value(&parts[0])? / value(&parts[1])?,
            Expr::Apply(function, of) => function.of(value(of)?),
            Expr::Over(over) => self.folded(over, bound)?,
        })
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

    /// The entry that counts most in an expression.
    pub fn leads_to(&self, expression: &Expr, bound: &Bound) -> Option<Entry> {
        let leads = |of: &Expr| self.leads_to(of, bound);
        match expression {
            Expr::Given(_) | Expr::Vector(_) | Expr::Number(_) => None,
            Expr::Entry(place) => place.entry(bound),
            Expr::Sum(terms) => self.largest(terms.iter().map(|term| (term, *bound))),
            Expr::Difference(parts) | Expr::Quotient(parts) => parts.iter().find_map(leads),
            Expr::Product(factors) => factors.iter().find_map(leads),
            Expr::Apply(_, of) => leads(of),
            Expr::Over(over) if over.fold == Fold::Largest => {
                let value = |bound: &Bound| self.evaluate(&over.of, bound).unwrap_or(f64::NEG_INFINITY);
                let largest = over.instances(bound).max_by(|a, b| value(a).total_cmp(&value(b)))?;
                self.leads_to(&over.of, &largest)
            }
            Expr::Over(over) => self.largest(over.instances(bound).map(|bound| (&*over.of, bound))),
        }
    }

    /// The entry that counts most in the largest of some terms that has one.
    fn largest<'e>(&self, of: impl Iterator<Item = (&'e Expr, Bound)>) -> Option<Entry> {
        let mut terms: Vec<_> =
            of.filter_map(|(of, bound)| Some((self.evaluate(of, &bound)?.abs(), of, bound))).collect();
        terms.sort_by(|a, b| b.0.total_cmp(&a.0));
        terms.iter().find_map(|(_, of, bound)| self.leads_to(of, bound))
    }
}
