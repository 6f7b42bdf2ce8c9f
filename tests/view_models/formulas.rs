//! The formulas of the cards, read as mathematics: with the model's numbers in the places of the symbols, each comes to
//! the number beside it, whatever is switched on or off in the model and by the learner.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::course;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable};
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Owner, Quantity};
use attune_view::explain::Explanation;
use attune_view::explain::reader::EntryReader;

use crate::common::close::{Tolerance, is_close_beside};
use crate::common::lessons::{edited, forms, kernel, of_file, small};
use crate::common::top::at;
use crate::provenance::{self, FAMILIES, ODD, odd};

/// A part of a formula.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// `\frac`, without the stroke.
    Command(String),
    Letter(char),
    Number(f64),
    Sign(char),
}

fn tokens(latex: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut signs = latex.chars().peekable();
    while let Some(sign) = signs.next() {
        let mut taken = |belongs: fn(&char) -> bool| {
            let mut text = String::new();
            while let Some(next) = signs.next_if(belongs) {
                text.push(next);
            }
            text
        };
        match sign {
            '\\' => match taken(char::is_ascii_alphabetic) {
                // A space, or an escaped sign.
                command if command.is_empty() => _ = signs.next(),
                command if command == "quad" => {}
                command => all.push(Token::Command(command)),
            },
            '0'..='9' => {
                let number = format!("{sign}{}", taken(|next| next.is_ascii_digit() || *next == '.'));
                all.push(Token::Number(number.parse().expect("a number")));
            }
            letter if letter.is_alphabetic() => all.push(Token::Letter(letter)),
            ' ' => {}
            sign => all.push(Token::Sign(sign)),
        }
    }
    all
}

/// A formula as a tree.
#[derive(Clone, Debug)]
enum Tree {
    Number(f64),
    Symbol {
        name: String,
        below: String,
        above: String,
    },
    Sum(Vec<(f64, Tree)>),
    Product(Vec<Tree>),
    Quotient(Box<Tree>, Box<Tree>),
    /// `\sqrt`, `\tanh`, `\exp`, the length, and operators by their names.
    Function(String, Box<Tree>),
    /// `\sum` and `\max` over an index.
    Over {
        what: String,
        index: String,
        of: Box<Tree>,
    },
}

/// Reads a formula; `None` of one that has more in it than is computed here.
struct Parser(Peekable<IntoIter<Token>>);

impl Parser {
    fn read(latex: &str) -> Option<Tree> {
        let mut parser = Self(tokens(latex).into_iter().peekable());
        let tree = parser.sum()?;
        parser.0.next().is_none().then_some(tree)
    }

    fn takes(&mut self, sign: char) -> bool {
        self.0.next_if_eq(&Token::Sign(sign)).is_some()
    }

    fn is_at_command(&mut self, name: &str) -> bool {
        matches!(self.0.peek(), Some(Token::Command(command)) if command == name)
    }

    fn sum(&mut self) -> Option<Tree> {
        let mut terms = vec![(if self.takes('-') { -1.0 } else { 1.0 }, self.product()?)];
        loop {
            if self.takes('+') {
                terms.push((1.0, self.product()?));
            } else if self.takes('-') {
                terms.push((-1.0, self.product()?));
            } else {
                return Some(Tree::Sum(terms));
            }
        }
    }

    fn product(&mut self) -> Option<Tree> {
        let mut factors = Vec::new();
        loop {
            match self.0.peek() {
                Some(Token::Command(command)) if command == "cdot" => _ = self.0.next(),
                Some(Token::Command(command)) if ["right", "rVert"].contains(&&**command) => break,
                Some(Token::Sign('(') | Token::Command(_) | Token::Letter(_) | Token::Number(_)) => {
                    factors.push(self.factor()?);
                }
                _ => break,
            }
        }
        (!factors.is_empty()).then_some(Tree::Product(factors))
    }

    fn group(&mut self) -> Option<Tree> {
        self.takes('{').then_some(())?;
        let inner = self.sum()?;
        self.takes('}').then_some(inner)
    }

    fn bracketed(&mut self) -> Option<Tree> {
        let is_tall = self.is_at_command("left");
        if is_tall {
            self.0.next();
        }
        self.takes('(').then_some(())?;
        let inner = self.sum()?;
        if is_tall {
            self.is_at_command("right").then(|| self.0.next())?;
        }
        self.takes(')').then_some(inner)
    }

    fn factor(&mut self) -> Option<Tree> {
        match self.0.peek()?.clone() {
            Token::Number(number) => {
                self.0.next();
                Some(Tree::Number(number))
            }
            Token::Sign('(') => self.bracketed(),
            Token::Letter(_) => self.symbol(),
            Token::Command(command) => self.command(&command),
            Token::Sign(_) => None,
        }
    }

    fn command(&mut self, command: &str) -> Option<Tree> {
        if ["alpha", "tau", "Delta"].contains(&command) {
            return self.symbol();
        }
        if command == "left" {
            return self.bracketed();
        }
        self.0.next();
        Some(match command {
            "frac" | "tfrac" => Tree::Quotient(self.group()?.into(), self.group()?.into()),
            "sqrt" => Tree::Function("sqrt".to_owned(), self.group()?.into()),
            "textstyle" => self.factor()?,
            "tanh" => Tree::Function("tanh".to_owned(), self.bracketed()?.into()),
            "sum" | "max" => {
                let (index, _) = self.scripts()?;
                Tree::Over { what: command.to_owned(), index, of: self.product()?.into() }
            }
            "lVert" => {
                let inner = self.sum()?;
                self.is_at_command("rVert").then(|| self.0.next())?;
                Tree::Function("length".to_owned(), inner.into())
            }
            _ => return None,
        })
    }

    fn symbol(&mut self) -> Option<Tree> {
        let name = match self.0.next()? {
            Token::Letter(letter) => letter.to_string(),
            Token::Command(command) => command,
            _ => return None,
        };
        if name == "e" && self.0.peek() == Some(&Token::Sign('^')) {
            self.0.next();
            return Some(Tree::Function("exp".to_owned(), self.group()?.into()));
        }
        let (below, above) = self.scripts()?;
        Some(Tree::Symbol { name, below, above })
    }

    /// What stands below and above a symbol, as it is written.
    fn scripts(&mut self) -> Option<(String, String)> {
        let [mut below, mut above] = [String::new(), String::new()];
        loop {
            let script = if self.takes('_') {
                &mut below
            } else if self.takes('^') {
                &mut above
            } else {
                return Some((below, above));
            };
            let mut depth = 0;
            loop {
                match self.0.next()? {
                    Token::Sign('{') => depth += 1,
                    Token::Sign('}') => depth -= 1,
                    Token::Letter(letter) => script.push(letter),
                    Token::Number(number) => script.push_str(&number.to_string()),
                    Token::Sign(sign) => script.push(sign),
                    Token::Command(_) => return None,
                }
                if depth == 0 {
                    break;
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Number {
    Scalar(f64),
    Row(Vec<f64>),
    Matrix(Vec<Vec<f64>>),
}

impl Number {
    fn scalar(&self) -> Option<f64> {
        if let Self::Scalar(x) = self { Some(*x) } else { None }
    }

    fn times(self, other: &Self) -> Option<Self> {
        use Number::{Matrix, Row, Scalar};
        Some(match (self, other) {
            (Scalar(a), Scalar(b)) => Scalar(a * b),
            (Scalar(a), Row(b)) => Row(b.iter().map(|b| a * b).collect()),
            (Row(a), Scalar(b)) => Row(a.iter().map(|a| a * b).collect()),
            (Row(a), Row(b)) if a.len() == b.len() => Scalar(a.iter().zip(b).map(|(a, b)| a * b).sum()),
            (Row(a), Matrix(b)) if a.len() == b.len() => {
                let entry = |col: usize| a.iter().zip(b).map(|(a, row)| a * row[col]).sum();
                Row((0..b[0].len()).map(entry).collect())
            }
            _ => return None,
        })
    }

    fn plus(self, factor: f64, other: &Self) -> Option<Self> {
        use Number::{Row, Scalar};
        Some(match (self, other) {
            (Scalar(a), Scalar(b)) => Scalar(a + factor * b),
            (Row(a), Row(b)) if a.len() == b.len() => Row(a.iter().zip(b).map(|(a, b)| a + factor * b).collect()),
            _ => return None,
        })
    }
}

/// The number that a formula is of, and what its symbols are.
struct Symbols<'a> {
    reader: &'a EntryReader<'a>,
    entry: Entry,
    /// Symbols that the formula itself explains.
    explained: BTreeMap<String, Tree>,
}

/// Indices by their letters.
type Bound = BTreeMap<String, usize>;

impl Symbols<'_> {
    fn value(&self, tree: &Tree, bound: &Bound) -> Option<Number> {
        use Number::Scalar;
        Some(match tree {
            Tree::Number(number) => Scalar(*number),
            Tree::Symbol { name, below, above } => {
                match self.explained.get(name).filter(|_| below.is_empty() || below == "i") {
                    Some(tree) => self.value(tree, bound)?,
                    None => self.symbol(name, below, above, bound)?,
                }
            }
            Tree::Sum(terms) => {
                let mut terms = terms.iter().map(|(sign, term)| Some((*sign, self.value(term, bound)?)));
                let (sign, first) = terms.next()??;
                let first = Scalar(sign).times(&first)?;
                terms.try_fold(first, |sum, term| term.and_then(|(sign, term)| sum.plus(sign, &term)))?
            }
            Tree::Product(factors) => {
                let mut factors = factors.iter().map(|factor| self.value(factor, bound));
                let first = factors.next()??;
                factors.try_fold(first, |product, factor| product.times(&factor?))?
            }
            Tree::Quotient(over, under) => {
                Scalar(self.value(over, bound)?.scalar()? / self.value(under, bound)?.scalar()?)
            }
            Tree::Function(name, of) => match (&**name, self.value(of, bound)?) {
                ("sqrt", Scalar(x)) => Scalar(x.sqrt()),
                ("tanh", Scalar(x)) => Scalar(x.tanh()),
                ("exp", Scalar(x)) => Scalar(x.exp()),
                ("length", Number::Row(x)) => Scalar(x.iter().map(|x| x * x).sum::<f64>().sqrt()),
                _ => return None,
            },
            Tree::Over { what, index, of } => {
                let values = (0..self.count(index)?).map(|at| {
                    let mut bound = bound.clone();
                    bound.insert(index.clone(), at);
                    self.value(of, &bound)
                });
                let values: Vec<Number> = values.collect::<Option<_>>()?;
                let (first, rest) = values.split_first()?;
                match &**what {
                    "sum" => rest.iter().try_fold(first.clone(), |sum, next| sum.plus(1.0, next))?,
                    _ => Scalar(values.iter().filter_map(Number::scalar).fold(f64::NEG_INFINITY, f64::max)),
                }
            }
        })
    }

    fn head(&self) -> Option<usize> {
        if let Owner::Head(head) = self.entry.owner { Some(head) } else { None }
    }

    /// The head that a symbol is of: that of the entry, or the one that `h` counts within the block.
    fn head_of(&self, above: &str, bound: &Bound) -> Option<usize> {
        match (above, self.entry.owner) {
            ("h", Owner::Block(block)) => Some(self.reader.first_head(block) + bound.get("h")?),
            ("", Owner::Head(head)) => Some(head),
            _ => None,
        }
    }

    /// How many there are of what an index counts.
    fn count(&self, index: &str) -> Option<usize> {
        let model = self.reader.model;
        let parts = match self.entry.owner {
            Owner::Head(head) => self.reader.head(head)?,
            Owner::Block(block) => self.reader.head(self.reader.first_head(block))?,
            Owner::Model if index == "b" => return Some(model.classes.len()),
            Owner::Model if index == "t" => return Some(self.reader.sentence.tokens.len()),
            Owner::Model | Owner::Point(_) => return None,
        };
        Some(match index {
            "h" => parts.config.attention.heads,
            "j" | "l" | "k" => parts.activations.weights.cols(),
            "d" => parts.activations.query.cols(),
            "c" => parts.activations.value.cols(),
            _ => return None,
        })
    }

    /// The place that a letter below a symbol names.
    fn place(&self, letter: &str, bound: &Bound) -> Option<usize> {
        let [i, j, k] = self.entry.index;
        if let Some(place) = bound.get(letter) {
            return Some(*place);
        }
        let quantity = self.entry.quantity;
        Some(match letter {
            "i" => i,
            // Keys and values are counted by j; the rest of their entries is a dimension.
            "j" if matches!(quantity, Quantity::Key | Quantity::Value) => i,
            "j" => j,
            "d" if quantity == Quantity::Term => k,
            "d" => j,
            "c" if matches!(quantity, Quantity::Logit | Quantity::Probability) => j,
            "T" => self.reader.sentence.tokens.len().checked_sub(1)?,
            "t" => i,
            _ => return None,
        })
    }

    fn one(&self, entry: Entry) -> Option<f64> {
        self.reader.value(entry).map(f64::from)
    }

    fn row(&self, count: usize, entry: impl Fn(usize) -> Entry) -> Option<Number> {
        (0..count).map(|at| self.one(entry(at))).collect::<Option<_>>().map(Number::Row)
    }

    fn scalar(&self, entry: Entry) -> Option<Number> {
        self.one(entry).map(Number::Scalar)
    }

    fn symbol(&self, name: &str, below: &str, above: &str, bound: &Bound) -> Option<Number> {
        use Number::{Matrix, Scalar};
        let letters: Vec<String> = below.chars().map(String::from).collect();
        let at = |number: usize| self.place(letters.get(number)?, bound);
        let (model, width) = (self.reader.model, self.reader.width());
        let block = self.reader.head(self.head().unwrap_or(0)).map(|parts| parts.block);
        let block = if let Owner::Block(block) = self.entry.owner { block } else { block? };
        let config = self.reader.config(block)?;
        match (name, below) {
            ("c", "") if self.entry.owner == Owner::Model => {
                return model.architecture.logit_cap.or(model.architecture.embedding_scale).map(Scalar);
            }
            ("c", "") if matches!(self.entry.quantity, Quantity::Score) => {
                return config.attention.score_cap.map(Scalar);
            }
            ("c", "") => return model.architecture.embedding_scale.map(Scalar),
            ("T", "") => return Some(Scalar(self.reader.sentence.tokens.len() as f64)),
            ("tau", "") => return Some(Scalar(model.interventions.temperature_of(config))),
            ("d", "k") => return Some(Scalar(self.reader.head(self.head()?)?.activations.query.cols() as f64)),
            _ => {}
        }
        if ["x", "n", "a", "b", "y", "e"].contains(&name) && letters.len() == 1 {
            return self.token(name, at(0)?, block);
        }
        match (name, below) {
            ("E", "c") => {
                let word = self.reader.space.row_of(model.classes.get(at(0)?)?)?;
                return self.row(width, |dim| self.reader.static_entry(word, dim));
            }
            ("W", "c") => {
                return self
                    .row(width, |dim| Entry::parameter(TensorName::LogitWeights.into(), dim, at(0).unwrap_or(0)));
            }
            ("b", "c") => return self.scalar(Entry::parameter(TensorName::LogitBias.into(), 0, at(0)?)),
            ("z", _) if self.entry.owner == Owner::Model => {
                return self.scalar(Quantity::Logit.of_model([self.entry.index[0], self.place(below, bound)?]));
            }
            ("E", "w_i") => {
                let word = self.reader.word(block, self.entry.index[0])?;
                return self.scalar(self.reader.static_entry(word, self.entry.index[1]));
            }
            ("P", "i") if model.architecture.positions == Positions::Sinusoidal => {
                let [token, dim, _] = self.entry.index;
                return self.scalar(Quantity::Position.of_model([token, dim]));
            }
            ("b", "O") => {
                return self.row(width, |dim| Entry::parameter(TensorName::OutputBias.of_block(block), 0, dim));
            }
            _ => {}
        }
        let head = self.head_of(above, bound)?;
        let parts = self.reader.head(head)?;
        let attention = &parts.config.attention;
        let of_pair = |quantity: Quantity| self.scalar(quantity.of_head(head, [at(0)?, at(1)?]));
        let of_token = |quantity: Quantity, width: usize| match letters.len() {
            1 => self.row(width, |dim| quantity.of_head(head, [at(0).unwrap_or(usize::MAX), dim])),
            _ => self.scalar(quantity.of_head(head, [at(0)?, at(1)?])),
        };
        let columns = |name: TensorName, columns: std::ops::Range<usize>| {
            let entry = |row, col| self.one(Entry::parameter(name.of_block(block), row, col));
            let row = |row| columns.clone().map(|col| entry(row, col)).collect::<Option<Vec<f64>>>();
            (0..width).map(row).collect::<Option<_>>().map(Matrix)
        };
        let bias = |name: TensorName, columns: std::ops::Range<usize>| {
            self.row(columns.len(), |dim| Entry::parameter(name.of_block(block), 0, columns.start + dim))
        };
        let (key_width, value_width) = (parts.activations.query.cols(), parts.activations.value.cols());
        match (name, below) {
            ("q", _) => of_token(Quantity::Query, key_width),
            ("k", _) => of_token(Quantity::Key, key_width),
            ("v", _) => of_token(Quantity::Value, value_width),
            ("s", _) => of_pair(Quantity::Score),
            ("alpha", _) => of_pair(Quantity::Weight),
            ("m", "i") => self.row(value_width, |dim| Quantity::Mix.of_head(head, [self.entry.index[0], dim])),
            ("m", _) => {
                let score = self.one(Quantity::Score.of_head(head, [at(0)?, at(1)?]))?;
                Some(Scalar(if score == f64::NEG_INFINITY { score } else { 0.0 }))
            }
            ("g", "") => self.scalar(Quantity::Gain.of_head(head, [])),
            ("B", _) => {
                let [query, key, _] = self.entry.index;
                let col = attention.distances?.column(query, key);
                let block = attention.distance_block(block);
                self.scalar(Entry::parameter(TensorName::DistanceBias.of_block(block), parts.own, col))
            }
            ("W", "O") => {
                let columns = attention.mix_columns(parts.own);
                let entry = |row, dim| self.one(Entry::parameter(TensorName::OutputWeights.of_block(block), row, dim));
                let row = |row| (0..width).map(|dim| entry(row, dim)).collect::<Option<Vec<f64>>>();
                columns.map(row).collect::<Option<_>>().map(Matrix)
            }
            ("W", "Ocd") => {
                let row = attention.mix_columns(parts.own).start + bound.get("c")?;
                self.scalar(Entry::parameter(TensorName::OutputWeights.of_block(block), row, self.place("d", bound)?))
            }
            ("W", "Q") => columns(TensorName::QueryWeights, attention.query_columns(parts.own)),
            ("W", "K") => columns(TensorName::KeyWeights, attention.key_columns(parts.own)),
            ("W", "V") => columns(TensorName::ValueWeights, attention.value_columns(parts.own)),
            ("b", "Q") => bias(TensorName::QueryBias, attention.query_columns(parts.own)),
            ("b", "K") => bias(TensorName::KeyBias, attention.key_columns(parts.own)),
            ("b", "V") => bias(TensorName::ValueBias, attention.value_columns(parts.own)),
            _ => None,
        }
    }

    /// The vector of a token.
    fn token(&self, name: &str, token: usize, block: usize) -> Option<Number> {
        let row = |quantity: Quantity| self.row(self.reader.width(), |dim| quantity.of_block(block, [token, dim]));
        match name {
            "x" => row(Quantity::Input),
            "n" => row(Quantity::Normed),
            "a" => row(Quantity::Summed),
            "b" => row(Quantity::Attended),
            "y" if self.entry.owner == Owner::Model => {
                self.row(self.reader.width(), |dim| self.reader.contextual(token, dim))
            }
            _ => None,
        }
    }
}

/// What a formula comes to; `None` of one that is not computed here.
fn computed(reader: &EntryReader<'_>, entry: Entry, latex: &str) -> Vec<f64> {
    let mut parts = latex.split(", \\quad ");
    let own = parts.next().unwrap_or_default();
    let explained = parts.filter_map(|part| {
        let (name, formula) = part.split_once(" = ")?;
        Some((name.trim_start_matches('\\').trim_end_matches("_i").to_owned(), Parser::read(formula)?))
    });
    let symbols = Symbols { reader, entry, explained: explained.collect() };
    // What is defined below its letter stands for the whole row.
    let dim = entry.index[if entry.quantity == Quantity::Term { 2 } else { 1 }];
    let sides = own.split(" = ").filter_map(Parser::read);
    let values = sides.filter_map(|side| symbols.value(&side, &Bound::new()));
    let values = values.filter_map(|value| match value {
        Number::Scalar(x) => Some(x),
        Number::Row(row) => row.get(dim).copied(),
        Number::Matrix(_) => None,
    });
    values.collect()
}

/// Some entries of every kind that has a formula.
fn entries(snapshot: &Snapshot) -> Vec<Entry> {
    use Quantity::*;
    let model = snapshot.model.as_ref().expect("a model");
    let width = model.architecture.width;
    let mut all = Vec::new();
    for (head, activations) in model.sentence.activations.heads().enumerate() {
        all.push(Scale.of_head(head, []));
        let (queries, keys) = (activations.weights.rows(), activations.weights.cols());
        for query in [0, queries - 1] {
            all.extend([RowSum, HeadLength].map(|quantity| quantity.of_head(head, [query])));
            all.extend([Query, Mix].map(|quantity| quantity.of_head(head, [query, 1])));
            for key in 0..keys.min(4) {
                let of_pair = [Product, DistanceBias, Score, Exponential, Weight, TermLength];
                all.extend(of_pair.map(|quantity| quantity.of_head(head, [query, key])));
                all.extend([Key, Value].map(|quantity| quantity.of_head(head, [key, 1])));
                all.extend([0, width - 1].map(|dim| Term.of_head(head, [query, key, dim])));
            }
        }
    }
    for (block, _) in model.architecture.numbered_blocks() {
        let tokens = model.sentence.activations.blocks[block].input.rows();
        for token in [0, tokens - 1] {
            all.extend([Input, Summed, Output].map(|quantity| quantity.of_block(block, [token, 1])));
            all.extend([WordLength.of_block(block, [token, 0]), MoveLength.of_block(block, [token])]);
        }
    }
    for (row, best) in model.sentence.answers.likeliest.iter().enumerate() {
        let class = best[0].class;
        all.extend([Logit, Probability].map(|quantity| quantity.of_model([row, class])));
    }
    all
}

/// How many formulas of each quantity were computed.
type Counts = BTreeMap<Quantity, usize>;

/// Checks the formulas of a snapshot as mathematics, then its rules and cards.
fn check(name: &str, snapshot: &Snapshot, counts: &mut Counts) {
    assert!(provenance::check(name, snapshot) > 50, "{name}");
    let reader = EntryReader::of(snapshot).expect("a model");
    for entry in entries(snapshot) {
        let Some(value) = reader.value(entry) else { continue };
        let Some(symbols) = reader.rule_of(entry).map(|rule| rule.formula()) else { continue };
        let shown = f64::from(value);
        for found in computed(&reader, entry, &symbols) {
            // Numbers of single precision that a large score makes more of.
            let size = 2.0 * (1.0 + shown.abs());
            let is_close = is_close_beside(size, found, shown, Tolerance::SINGLE_SUMS).is_ok();
            // A row that sees nothing has no softmax.
            let is_none = found.is_nan() && shown == 0.0;
            assert!(is_close || is_none, "{name}: {} is {shown}, but {symbols} is {found}", reader.name(entry));
            *counts.entry(entry.quantity).or_default() += 1;
        }
    }
}

/// A model as it is, and with what a learner may change of it: models take turns with the changes.
fn check_ways(turn: usize, name: &str, kernel: &Kernel, counts: &mut Counts) {
    let change = |change| Command::Interventions(change);
    let heads = kernel.snapshot().model.expect("a model").architecture.heads();
    let mode = |head, mode| change(InterventionCommand::SetHead { head, mode });
    let edge = Edge { head: 0, query: 1, key: 0 };
    let patch = Patch {
        block: kernel.snapshot().model.map_or(0, |model| model.architecture.source_blocks.len()),
        position: 1,
        from: 0,
        vector: None,
    };
    let words = |kernel: &Kernel| {
        let tokens = kernel.snapshot().model.map(|model| model.sentence.tokens.clone()).unwrap_or_default();
        tokens.iter().rev().map(|token| token.text.clone()).collect::<Vec<_>>().join(" ")
    };
    let hidden = Mask::custom(MaskTable::from_fn(7, 7, |query, key| query != 2 && (query, key) != (0, 1)));
    let ways: [&[Command]; 10] = [
        &[],
        &[change(InterventionCommand::SetTemperature(Some(0.4)))],
        &[change(InterventionCommand::SetScale(Some(false))), change(InterventionCommand::SetTemperature(Some(3.0)))],
        &[mode(0, HeadMode::Gain(2.5)), mode(heads - 1, HeadMode::Mean)],
        &[mode(0, HeadMode::Uniform), mode(heads - 1, HeadMode::Off)],
        &[mode(0, HeadMode::Frozen(None)), change(InterventionCommand::SetEdge { edge, is_removed: true })],
        &[
            change(InterventionCommand::SetMask(Some(Mask::Causal))),
            change(InterventionCommand::SetEdge { edge, is_removed: true }),
        ],
        &[change(InterventionCommand::SetMask(Some(hidden)))],
        &[
            Command::Sentence(SentenceCommand::SetSecond(Some(words(kernel)))),
            change(InterventionCommand::SetPatch(Some(patch))),
        ],
        &[Command::Sentence(SentenceCommand::SetSecond(Some(words(kernel)))), mode(heads - 1, HeadMode::Second(None))],
    ];
    const TURNS: usize = 3;
    let its = ways.into_iter().enumerate().filter(|(way, _)| *way == 0 || (way + turn).is_multiple_of(TURNS));
    for (way, commands) in its {
        let mut changed = kernel.copy(kernel.snapshot().lesson);
        commands.iter().for_each(|command| changed.apply(command.clone()));
        changed.settle();
        check(&format!("{name}, changed in way {way}"), &changed.snapshot(), counts);
    }
}

/// The small lesson with a bound of its scores, a temperature, and distances.
fn bounded() -> Vec<(String, Kernel)> {
    let model = |fields: &str| {
        edited(crate::common::lessons::SMALL, &[("model: Attention(", &format!("model: Attention({fields}, "))])
    };
    let fields = [
        "score_cap: 0.5",
        "score_cap: 0.5, temperature: 2.0",
        "score_cap: 0.5, scale: false, temperature: 0.25, positions: Distances",
    ];
    fields.into_iter().map(|fields| (fields.to_owned(), kernel(&model(fields)))).collect()
}

#[test]
fn every_formula_is_true_of_every_model_and_with_every_change() {
    let mut counts = Counts::new();
    let of_family = |family: &'static str| {
        let lesson = of_file(at("tests/fixtures/pretrained").join(family));
        let mut kernel = Kernel::embedded(Arc::new(lesson));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![5, 17, 5, 40])));
        (family.to_owned(), kernel)
    };
    let odd_ones = ODD.into_iter().map(|model| (model.to_owned(), kernel(&odd(model))));
    let own = std::iter::once(("small".to_owned(), small())).chain(bounded()).chain(forms()).chain(odd_ones);
    for (turn, (name, kernel)) in own.chain(FAMILIES.into_iter().map(of_family)).enumerate() {
        check_ways(turn, &name, &kernel, &mut counts);
    }
    use Quantity::*;
    for quantity in [
        Query,
        Key,
        Value,
        Product,
        Scale,
        DistanceBias,
        Score,
        Exponential,
        RowSum,
        Weight,
        Mix,
        Term,
        TermLength,
        HeadLength,
        WordLength,
        Summed,
        Logit,
        Probability,
    ] {
        assert!(counts.get(&quantity).is_some_and(|count| *count > 20), "{quantity:?}: {counts:?}");
    }
}

#[test]
fn every_formula_is_true_in_the_course() {
    let mut counts = Counts::new();
    for (turn, file) in course::list(&at("lessons")).into_iter().enumerate() {
        check_ways(turn, &file.id(), &Kernel::trained(Arc::new(of_file(&file.path))), &mut counts);
    }
    assert!(counts.values().sum::<usize>() > 5000, "{counts:?}");
}

/// Of a bound of 0.5 at a temperature of 2, as it is told.
#[test]
fn a_bound_of_scores_holds_before_the_temperature() {
    let (_, kernel) = &bounded()[1];
    let told = Explanation::of(&kernel.snapshot(), Quantity::Score.of_head(0, [0, 1])).expect("a score");
    let formula = r"s_{ij} = \frac{c}{\tau} \tanh\left(\frac{q_i \cdot k_j}{c \sqrt{d_k}}\right) + m_{ij}";
    assert_eq!(told.symbols, formula);
    let said = told.sentences.join(" ");
    let order = ["divide by √", "between −0.5 and 0.5", "Divide by the temperature, 2."];
    let places: Vec<usize> =
        order.iter().map(|part| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"))).collect();
    assert!(places.is_sorted(), "{said}");
}

/// A card names a few logits of many classes, and still comes to the probability.
#[test]
fn the_softmax_of_many_classes_names_few() {
    let lesson = of_file(at("tests/fixtures/pretrained/bert-default"));
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![5, 17, 5, 40])));
    kernel.settle();
    let snapshot = kernel.snapshot();
    let model = snapshot.model.as_ref().expect("a model");
    let class = model.sentence.answers.likeliest[0][0].class;
    let lines = Explanation::of(&snapshot, Quantity::Probability.of_model([0, class]))
        .expect("a card")
        .worked
        .lines(usize::MAX);
    assert!(
        lines.lines.len() < 100 && lines.more + lines.lines.len() > model.classes.len(),
        "{} lines",
        lines.lines.len()
    );
}
