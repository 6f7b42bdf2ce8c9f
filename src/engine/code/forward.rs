//! The functions that use the model: `forward` runs it on a sentence and returns a value that cells read; `vectors` and
//! `neighbours` read the static vectors of any words, or those of a file next to the lesson.

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

/// Names of the functions.
pub const VECTORS: &str = "vectors";
pub const NEIGHBOURS: &str = "neighbours";

/// Registers the functions, and the properties of the value that `forward` returns.
pub(super) fn register(engine: &mut Engine, budget: &Budget, model: Option<&RunnableModel>) {
    engine.register_type_with_name::<CodePass>("pass");
    engine.register_fn("to_string", |pass: &mut CodePass| pass.to_string());
    let access = ModelAccess { model: model.cloned(), budget: budget.clone() };
    let of = access.clone();
    engine.register_fn(FORWARD, move |sentence: ImmutableString| -> Answer<CodePass> {
        Ok(of.pass(&sentence, &without(Vec::new()))?)
    });
    let of = access.clone();
    engine.register_fn(FORWARD, move |sentence: ImmutableString, off: Array| -> Answer<CodePass> {
        Ok(of.pass(&sentence, &without(heads(&off)?))?)
    });
    let of = access.clone();
    engine.register_fn(FORWARD, move |sentence: ImmutableString, only: Map| -> Answer<CodePass> {
        Ok(of.pass(&sentence, &PassChanges::Only(Box::new(changes::read(&only)?)))?)
    });
    let of = access.clone();
    engine.register_indexer_get(move |pass: &mut CodePass, name: ImmutableString| -> Answer<Dynamic> {
        Ok(of.paid(pass.tensors.tensor(&name)?)?)
    });
    let of = access.clone();
    engine.register_fn(VECTORS, move |list: Array| -> Answer<Dynamic> {
        Ok(of.paid(of.model(VECTORS)?.vectors(&words(&list)?)?)?)
    });
    let of = access.clone();
    engine.register_fn(VECTORS, move |name: ImmutableString| -> Answer<Dynamic> {
        Ok(of.rows(&*of.file(VECTORS, &name)?, None)?)
    });
    let of = access.clone();
    engine.register_fn(VECTORS, move |name: ImmutableString, list: Array| -> Answer<Dynamic> {
        Ok(of.rows(&*of.file(VECTORS, &name)?, Some(words(&list)?))?)
    });
    let of = access.clone();
    engine.register_fn(NEIGHBOURS, move |expression: ImmutableString, n: INT| -> Answer<Ranking> {
        Ok(of.neighbours(&expression, n)?)
    });
    let near = move |name: ImmutableString, expression: ImmutableString, n: INT| -> Answer<Ranking> {
        Ok(access.neighbours_in_file(&name, &expression, n)?)
    };
    engine.register_fn(NEIGHBOURS, near);
}

/// The model that the functions use, and the budget to which they are charged.
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

    fn file(&self, function: &str, name: &str) -> Result<Arc<Vectors>, Fault> {
        self.model(function)?.file(name).map_err(|fault| fault.of(function))
    }

    fn paid(&self, tensor: Tensor) -> Result<Dynamic, Fault> {
        self.budget.pay(tensor.cost())?;
        Ok(tensor.into_dynamic())
    }

    fn pass(&self, sentence: &str, changes: &PassChanges) -> Result<CodePass, Fault> {
        let charge = |multiplications| self.budget.work(multiplications);
        let pass = self.model(FORWARD)?.pass(sentence, changes, &charge)?;
        // A pass of a large model takes seconds.
        self.budget.check()?;
        Ok(pass)
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

    /// Returns rows of a file as a tensor: those of some words, or all.
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
