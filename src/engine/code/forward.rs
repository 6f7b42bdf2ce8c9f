//! The functions that ask the model: `forward` runs it on a sentence that a cell gives, as a value that cells read;
//! `vectors` and `neighbours` read the static vectors of any words, or those of a file beside the lesson.

use std::fmt;
use std::sync::Arc;

use rhai::{Array, Dynamic, Engine, INT, ImmutableString, NativeCallContext};

use super::budget::{Budget, RANKED_MAX};
use super::fault::Fault;
use super::functions::{Answer, at_call, count};
use super::tensor::{Axis, Tensor};
use super::value::{Ranking, type_name};
use crate::vectors::answers::{Measure, neighbours};
use crate::vectors::expression::Expression;
use crate::vectors::{Vectors, unknown};

/// A model that code runs. What it does is a function of its arguments.
pub trait Forward: Send + Sync {
    /// Runs a sentence without some heads, which are counted from 0 through all layers. `charge` is told the
    /// multiplications before they are done.
    ///
    /// # Errors
    /// In words for the learner, if the model cannot read the sentence or has no such head, or by `charge`.
    fn pass(&self, sentence: &str, off: &[usize], charge: Charge<'_>) -> Result<CodePass, Fault>;

    /// The static vectors of some words, a row for each, named by it.
    ///
    /// # Errors
    /// In words for the learner, if a word has none.
    fn vectors(&self, words: &[String]) -> Result<Tensor, Fault>;

    /// The vectors of a file in the lesson's folder.
    ///
    /// # Errors
    /// In words for the learner, if there is none, it is too large, or it has no vectors.
    fn file(&self, name: &str) -> Result<Arc<Vectors>, Fault>;

    /// The words nearest to an expression such as `king - man + woman`, by cosine and without its own words. `charge` is
    /// told the multiplications before they are done.
    ///
    /// # Errors
    /// In words for the learner, if a word has no vector, or by `charge`.
    fn neighbours(&self, expression: &str, count: usize, charge: Charge<'_>) -> Result<Vec<(String, f64)>, Fault>;
}

/// Takes multiplications from what a run may do, or ends it.
pub type Charge<'a> = &'a dyn Fn(u64) -> Result<(), Fault>;

/// Tensors of one pass.
pub trait PassTensors: Send + Sync {
    /// The tensor with this name in code.
    ///
    /// # Errors
    /// In words for the learner, if there is none.
    fn tensor(&self, name: &str) -> Result<Tensor, Fault>;
}

/// A pass over a sentence: `forward("the cat").A` is its `A`.
#[derive(Clone)]
pub struct CodePass {
    pub sentence: Arc<str>,
    pub tensors: Arc<dyn PassTensors>,
}

impl fmt::Display for CodePass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass of {:?}", self.sentence)
    }
}

/// The model that a scope gives to its code.
#[derive(Clone)]
pub struct RunnableModel(pub Arc<dyn Forward>);

impl fmt::Debug for RunnableModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunnableModel")
    }
}

/// The names of the functions.
pub const FORWARD: &str = "forward";
pub const VECTORS: &str = "vectors";
pub const NEIGHBOURS: &str = "neighbours";

/// Registers the functions, and the reading of what `forward` returns.
pub(super) fn register(engine: &mut Engine, budget: &Budget, model: Option<&RunnableModel>) {
    register_forward(engine, budget, model);
    register_files(engine, budget, model);
    let (paid, of) = (budget.clone(), model.cloned());
    engine.register_fn(VECTORS, move |context: NativeCallContext, list: Array| -> Answer<Dynamic> {
        let read = || {
            let tensor = asked(VECTORS, of.as_ref())?.vectors(&words(&list)?)?;
            paid.pay(tensor.cost())?;
            Ok(Tensor::dynamic(tensor.axes().to_vec(), tensor.entries().to_vec()))
        };
        at_call(read(), &context)
    });
    let (budget, of) = (budget.clone(), model.cloned());
    engine.register_fn(NEIGHBOURS, move |context: NativeCallContext, expression: ImmutableString, n: INT| {
        let found = count(NEIGHBOURS, n).and_then(|n| {
            let charge = |multiplications| budget.work(multiplications);
            asked(NEIGHBOURS, of.as_ref())?.neighbours(&expression, n.min(RANKED_MAX), &charge)
        });
        at_call(found.map(|found| Ranking(found.into())), &context)
    });
}

/// Registers the functions of a file beside the lesson: all rows of a small one, rows of some words, and words near others.
fn register_files(engine: &mut Engine, budget: &Budget, model: Option<&RunnableModel>) {
    let (paid, of) = (budget.clone(), model.cloned());
    engine.register_fn(VECTORS, move |context: NativeCallContext, name: ImmutableString| {
        at_call(file(VECTORS, of.as_ref(), &name).and_then(|file| rows(&file, None, &paid)), &context)
    });
    let (paid, of) = (budget.clone(), model.cloned());
    engine.register_fn(VECTORS, move |context: NativeCallContext, name: ImmutableString, list: Array| {
        let read = || rows(&*file(VECTORS, of.as_ref(), &name)?, Some(words(&list)?), &paid);
        at_call(read(), &context)
    });
    let (budget, of) = (budget.clone(), model.cloned());
    engine.register_fn(
        NEIGHBOURS,
        move |context: NativeCallContext, name: ImmutableString, expression: ImmutableString, n: INT| {
            let find = || {
                let (file, count) = (file(NEIGHBOURS, of.as_ref(), &name)?, count(NEIGHBOURS, n)?.min(RANKED_MAX));
                let expression = Expression::parse(&expression, &file);
                let expression = expression.map_err(|why| Fault::new(format!("{NEIGHBOURS}: {why}")))?;
                budget.work((file.len() * file.width()) as u64)?;
                let to = expression.direction(&file);
                let found = neighbours(&file, &to, Measure::Cosine, count, &expression.rows());
                let named = found.iter().map(|near| (file.words[near.row].to_string(), f64::from(near.value)));
                Ok(Ranking(named.collect::<Vec<_>>().into()))
            };
            at_call(find(), &context)
        },
    );
}

fn file(function: &str, model: Option<&RunnableModel>, name: &str) -> Result<Arc<Vectors>, Fault> {
    asked(function, model)?.file(name).map_err(|fault| fault.of(function))
}

/// Rows of a file as a tensor: those of some words, or all.
fn rows(file: &Vectors, words: Option<Vec<String>>, budget: &Budget) -> Result<Dynamic, Fault> {
    let count = words.as_ref().map_or(file.len(), Vec::len);
    budget.pay(count.saturating_mul(file.width())).map_err(|fault| match words {
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
    Ok(Tensor::dynamic(vec![Axis::labelled(labels.into()), Axis::plain(file.width())], numbers))
}

fn asked<'m>(function: &str, model: Option<&'m RunnableModel>) -> Result<&'m dyn Forward, Fault> {
    model.map(|model| &*model.0).ok_or_else(|| Fault::new(format!("{function}: there is no model here yet")))
}

/// Words from a list of texts.
fn words(list: &Array) -> Result<Vec<String>, Fault> {
    let word = |word: &Dynamic| {
        let found = || Fault::new(format!("{VECTORS}: {} is not a word", type_name(word)));
        word.clone().into_string().map_err(|_| found().hint("give a list of words, as in [\"king\", \"queen\"]"))
    };
    list.iter().map(word).collect()
}

fn register_forward(engine: &mut Engine, budget: &Budget, model: Option<&RunnableModel>) {
    engine.register_type_with_name::<CodePass>("pass");
    engine.register_fn("to_string", |pass: &mut CodePass| pass.to_string());
    let run = {
        let (model, budget) = (model.cloned(), budget.clone());
        move |sentence: &str, off: &[usize]| {
            let pass =
                asked(FORWARD, model.as_ref())?.pass(sentence, off, &|multiplications| budget.work(multiplications))?;
            // A large one takes seconds.
            budget.check().map(|()| pass)
        }
    };
    let whole = run.clone();
    engine.register_fn(FORWARD, move |context: NativeCallContext, sentence: ImmutableString| -> Answer<CodePass> {
        at_call(whole(&sentence, &[]), &context)
    });
    engine.register_fn(
        FORWARD,
        move |context: NativeCallContext, sentence: ImmutableString, off: Array| -> Answer<CodePass> {
            at_call(heads(&off).and_then(|off| run(&sentence, &off)), &context)
        },
    );
    let paid = budget.clone();
    engine.register_indexer_get(
        move |context: NativeCallContext, pass: &mut CodePass, name: ImmutableString| -> Answer<Dynamic> {
            let read = pass.tensors.tensor(&name).and_then(|tensor| paid.pay(tensor.cost()).map(|()| tensor));
            at_call(read.map(|tensor| Tensor::dynamic(tensor.axes().to_vec(), tensor.entries().to_vec())), &context)
        },
    );
}

/// Heads from a list of whole numbers.
fn heads(list: &Array) -> Result<Vec<usize>, Fault> {
    let head = |head: &Dynamic| {
        let number = head.as_int().ok().and_then(|head: INT| usize::try_from(head).ok());
        number.ok_or_else(|| {
            let found = if head.is_int() { head.to_string() } else { type_name(head).to_owned() };
            Fault::new(format!("{FORWARD}: {found} is not a head")).hint("heads count from 0, as in [0, 2]")
        })
    };
    list.iter().map(head).collect()
}
