//! The functions that use the model: `forward` runs it on a sentence and returns a value that cells read, `rate`
//! returns the share of sentences that it answers right, and `write` goes on writing; `vectors` and `neighbours` read
//! the static vectors of any words, or the vectors of a file next to the lesson.

use std::sync::Arc;

use rhai::{Array, Dynamic, Engine, INT, ImmutableString, Map};

use super::budget::{Budget, RANKED_MAX};
use super::changes::{self, FORWARD, heads};
use super::fault::Fault;
use super::functions::{Answer, count};
use super::model::{CodePass, Forward, PassChanges, RunnableModel};
use super::tensor::{Axis, Tensor};
use super::value::{Ranking, type_name};
use crate::vectors::answers::{Measure, neighbours};
use crate::vectors::expression::Expression;
use crate::vectors::{Vectors, unknown};

/// Name of the function that rates a model on texts with known answers.
pub const RATE: &str = "rate";
pub const WRITE: &str = "write";
pub const VECTORS: &str = "vectors";
pub const NEIGHBOURS: &str = "neighbours";

/// Registers functions of code cells: for each its parameters, the type of its value, and the value or a fault.
macro_rules! functions {
    ($engine:ident, $access:ident; $($name:ident($($parameter:ident: $kind:ty),*) -> $answer:ty = $found:expr;)*) => {$({
        let $access = $access.clone();
        $engine.register_fn($name, move |$($parameter: $kind),*| -> Answer<$answer> { Ok($found?) });
    })*};
}

/// Registers the functions that run a model and read its vectors, and the properties of the value that `forward`
/// returns.
pub(super) fn register(engine: &mut Engine, budget: &Budget, model: Option<&RunnableModel>) {
    type Text = ImmutableString;
    engine.register_type_with_name::<CodePass>("pass");
    engine.register_fn("to_string", |pass: &mut CodePass| pass.to_string());
    let of = ModelAccess { model: model.cloned(), budget: budget.clone() };
    functions! { engine, of;
        FORWARD(sentence: Text) -> CodePass = of.pass(of.model(FORWARD)?, &sentence, &without(Vec::new()));
        FORWARD(sentence: Text, off: Array) -> CodePass = of.pass(of.model(FORWARD)?, &sentence, &without(heads(&off)?));
        FORWARD(sentence: Text, map: Map) -> CodePass = of.pass(of.model(FORWARD)?, &sentence, &only(&map)?);
        FORWARD(sentence: Text, model: Text) -> CodePass =
            of.pass(&*of.beside(FORWARD, &model)?, &sentence, &without(Vec::new()));
        FORWARD(sentence: Text, off: Array, model: Text) -> CodePass =
            of.pass(&*of.beside(FORWARD, &model)?, &sentence, &without(heads(&off)?));
        FORWARD(sentence: Text, map: Map, model: Text) -> CodePass =
            of.pass(&*of.beside(FORWARD, &model)?, &sentence, &only(&map)?);
        WRITE(sentence: Text, beams: INT) -> Text = of.write(of.model(WRITE)?, &sentence, beams);
        WRITE(sentence: Text, beams: INT, model: Text) -> Text = of.write(&*of.beside(WRITE, &model)?, &sentence, beams);
        RATE(texts: Array) -> f64 = of.rate(of.model(RATE)?, &texts, None);
        RATE(texts: Array, at: INT) -> f64 = of.rate(of.model(RATE)?, &texts, Some(count(RATE, at)?));
        RATE(texts: Array, model: Text) -> f64 = of.rate(&*of.beside(RATE, &model)?, &texts, None);
        VECTORS(list: Array) -> Dynamic = of.paid(of.model(VECTORS)?.vectors(&words(&list)?)?);
        VECTORS(file: Text) -> Dynamic = of.rows(&*of.file(VECTORS, &file)?, None);
        VECTORS(file: Text, list: Array) -> Dynamic = of.rows(&*of.file(VECTORS, &file)?, Some(words(&list)?));
        NEIGHBOURS(expression: Text, n: INT) -> Ranking = of.neighbours(&expression, n);
        NEIGHBOURS(file: Text, expression: Text, n: INT) -> Ranking = of.neighbours_in_file(&file, &expression, n);
    }
    engine.register_indexer_get(move |pass: &mut CodePass, name: Text| -> Answer<Dynamic> {
        Ok(of.paid(pass.tensors.tensor(&name)?)?)
    });
}

/// The model that the functions use, and the budget to which their work is charged.
#[derive(Clone)]
struct ModelAccess {
    model: Option<RunnableModel>,
    budget: Budget,
}

impl ModelAccess {
    fn model(&self, function: &str) -> Result<&dyn Forward, Fault> {
        let model = self.model.as_ref().map(|model| &*model.0);
        model.ok_or_else(|| Fault::new(format!("{function}: there is no model here yet")))
    }

    fn beside(&self, function: &str, name: &str) -> Result<Arc<dyn Forward>, Fault> {
        self.model(function)?.beside(name).map_err(|fault| fault.of(function))
    }

    fn file(&self, function: &str, name: &str) -> Result<Arc<Vectors>, Fault> {
        self.model(function)?.file(name).map_err(|fault| fault.of(function))
    }

    fn paid(&self, tensor: Tensor) -> Result<Dynamic, Fault> {
        self.budget.pay(tensor.cost())?;
        Ok(tensor.into_dynamic())
    }

    fn pass(&self, model: &dyn Forward, sentence: &str, changes: &PassChanges) -> Result<CodePass, Fault> {
        let charge = |multiplications| self.budget.work(multiplications);
        let pass = model.pass(sentence, changes, &charge)?;
        // A pass of a large model takes seconds, so the time is checked here.
        self.budget.check()?;
        Ok(pass)
    }

    fn write(&self, model: &dyn Forward, sentence: &str, beams: INT) -> Result<ImmutableString, Fault> {
        let charge = |multiplications| self.budget.work(multiplications);
        let written = model.write(sentence, count(WRITE, beams)?, &charge)?;
        self.budget.check()?;
        self.budget.pay(written.len())?;
        Ok(written.into())
    }

    /// Returns the share of texts that a model answers right. `at` is the position of the answer in every text; if it
    /// is `None`, [`is_right`] finds the position.
    fn rate(&self, model: &dyn Forward, texts: &Array, at: Option<usize>) -> Result<f64, Fault> {
        if texts.is_empty() {
            return Err(Fault::new(format!("{RATE}: the list has no texts")).hint(TEXTS));
        }
        let mut right = 0;
        for text in texts {
            let parts = text.clone().into_array().unwrap_or_default();
            let parts: Option<Vec<String>> = parts.into_iter().map(|part| part.into_string().ok()).collect();
            let parts = parts.filter(|parts| parts.len() > 1);
            let parts =
                parts.ok_or_else(|| Fault::new(format!("{RATE}: {text} is not a text with its answer")).hint(TEXTS))?;
            let answers = self.pass(model, &parts[0], &without(Vec::new()))?.tensors.tensor("Z")?;
            right += usize::from(is_right(&answers, at, &parts[1], &parts[2..])?);
        }
        Ok(right as f64 / texts.len() as f64)
    }

    fn neighbours(&self, expression: &str, n: INT) -> Result<Ranking, Fault> {
        let n = count(NEIGHBOURS, n)?.min(RANKED_MAX);
        let charge = |multiplications| self.budget.work(multiplications);
        Ok(Ranking(self.model(NEIGHBOURS)?.neighbours(expression, n, &charge)?.into()))
    }

    fn neighbours_in_file(&self, name: &str, expression: &str, n: INT) -> Result<Ranking, Fault> {
        let (file, count) = (self.file(NEIGHBOURS, name)?, count(NEIGHBOURS, n)?.min(RANKED_MAX));
        let expression = Expression::parse(expression, &file);
        let expression = expression.map_err(|why| Fault::new(format!("{NEIGHBOURS}: {why}")))?;
        self.budget.work((file.len() * file.width()) as u64)?;
        let to = expression.direction(&file);
        let found = neighbours(&file, &to, Measure::Cosine, count, &expression.rows());
        let named = found.iter().map(|near| (file.words[near.row].to_string(), f64::from(near.value)));
        Ok(Ranking(named.collect()))
    }

    /// Returns the vectors of a file as the rows of a tensor: the vectors of `words`, or all vectors if there is no
    /// list.
    fn rows(&self, file: &Vectors, words: Option<Vec<String>>) -> Result<Dynamic, Fault> {
        let count = words.as_ref().map_or(file.len(), Vec::len);
        self.budget.pay(count.saturating_mul(file.width())).map_err(|fault| match words {
            None => fault.hint("read the rows of some words, as in vectors(\"glove.txt\", [\"king\", \"queen\"])"),
            Some(_) => fault,
        })?;
        let row =
            |word: &String| file.row_of(word).ok_or_else(|| Fault::new(format!("{VECTORS}: {}", unknown(word, file))));
        let (labels, numbers): (Vec<String>, Vec<f64>) = match words {
            None => {
                let numbers = file.rows.flat().iter().map(|x| f64::from(*x));
                (file.words.iter().map(|word| word.to_string()).collect(), numbers.collect())
            }
            Some(words) => {
                let found: Vec<usize> = words.iter().map(row).collect::<Result<_, _>>()?;
                let numbers = found.into_iter().flat_map(|row| file.rows.row(row)).map(|x| f64::from(*x));
                (words, numbers.collect())
            }
        };
        let axes = vec![Axis::labelled(labels.into()), Axis::plain(file.width())];
        Ok(Tensor::new(axes, numbers).into_dynamic())
    }
}

/// Reads words from a list of texts.
fn words(list: &Array) -> Result<Vec<String>, Fault> {
    let word = |word: &Dynamic| {
        let found = || Fault::new(format!("{VECTORS}: {} is not a word", type_name(word)));
        word.clone().into_string().map_err(|_| found().hint("give a list of words, as in [\"king\", \"queen\"]"))
    };
    list.iter().map(word).collect()
}

fn without(heads: Vec<usize>) -> PassChanges {
    PassChanges::Without(heads)
}

fn only(changes: &Map) -> Result<PassChanges, Fault> {
    Ok(PassChanges::Only(Box::new(changes::read(changes)?)))
}

/// The form of the texts of [`RATE`].
const TEXTS: &str = "write each text with its right answer, and perhaps a wrong one: \
                     rate([[\"the old cat sleeps on the\", \"mat\"], [\"the dog is [MASK]\", \"tired\", \"wide\"]])";

/// Returns whether the right answer is the likeliest; if wrong answers are given, whether it is likelier than each of
/// them. The answer is read at position `at`, or else at the hidden word, or else at the last word. A right answer of
/// several words must have a word for every position, and each must be the likeliest at its position.
fn is_right(answers: &Tensor, at: Option<usize>, right: &str, wrong: &[String]) -> Result<bool, Fault> {
    const HIDDEN: &str = "[MASK]";
    let classes = answers.last_axis();
    let class = |word: &str| classes.find(word).map_err(|fault| fault.of(RATE));
    let rows: Vec<&[f64]> = answers.rows().collect();
    let is_largest = |row: &[f64], class: usize| row.iter().all(|other| *other <= row[class]);
    let words: Vec<&str> = right.split_whitespace().collect();
    if words.len() > 1 && classes.find(right).is_err() {
        let found: Vec<usize> = words.iter().map(|word| class(word)).collect::<Result<_, _>>()?;
        return Ok(found.len() == rows.len() && rows.iter().zip(found).all(|(row, class)| is_largest(row, class)));
    }
    let hidden = answers.axes().first().filter(|_| answers.rank() > 1).and_then(|axis| axis.find(HIDDEN).ok());
    let Some(row) = at.or(hidden).map_or(rows.last(), |row| rows.get(row)) else {
        return Err(Fault::new(format!("{RATE}: the text has only {} words", rows.len())));
    };
    let right = class(right)?;
    let wrong: Vec<usize> = wrong.iter().map(|word| class(word)).collect::<Result<_, _>>()?;
    Ok(if wrong.is_empty() { is_largest(row, right) } else { wrong.iter().all(|other| row[*other] < row[right]) })
}
