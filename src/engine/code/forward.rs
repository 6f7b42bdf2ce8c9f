//! The function `forward`: a pass of the model over a sentence that a cell gives, as a value that cells read.

use std::fmt;
use std::sync::Arc;

use rhai::{Array, Dynamic, Engine, INT, ImmutableString, NativeCallContext};

use super::budget::Budget;
use super::fault::Fault;
use super::functions::{Answer, at_call};
use super::index;
use super::tensor::Tensor;
use super::value::type_name;

/// A model that code runs. What it does is a function of its arguments.
pub trait Forward: Send + Sync {
    /// Runs a sentence without some heads, which are counted from 0 through all layers. `charge` is told the
    /// multiplications before they are done.
    ///
    /// # Errors
    /// In words for the learner, if the model cannot read the sentence or has no such head, or by `charge`.
    fn pass(&self, sentence: &str, off: &[usize], charge: &dyn Fn(u64) -> Result<(), Fault>) -> Result<Pass, Fault>;
}

/// Tensors of one pass.
pub trait Tensors: Send + Sync {
    /// The tensor with this name in code.
    ///
    /// # Errors
    /// In words for the learner, if there is none.
    fn tensor(&self, name: &str) -> Result<Tensor, Fault>;
}

/// A pass over a sentence: `forward("the cat").A` is its `A`.
#[derive(Clone)]
pub struct Pass {
    pub sentence: Arc<str>,
    pub tensors: Arc<dyn Tensors>,
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass of {:?}", self.sentence)
    }
}

/// The model that a scope gives to its code.
#[derive(Clone)]
pub struct Runs(pub Arc<dyn Forward>);

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runs")
    }
}

/// The name of the function.
pub const FORWARD: &str = "forward";

/// Registers `forward` and the reading of what it returns.
pub(super) fn register(engine: &mut Engine, budget: &Budget, model: Option<&Runs>) {
    engine.register_type_with_name::<Pass>("pass");
    engine.register_fn("to_string", |pass: &mut Pass| pass.to_string());
    let run = {
        let (model, budget) = (model.cloned(), budget.clone());
        move |sentence: &str, off: &[usize]| {
            let model = model.as_ref().ok_or_else(|| Fault::new(format!("{FORWARD}: there is no model here yet")))?;
            let pass = model.0.pass(sentence, off, &|multiplications| budget.work(multiplications))?;
            // A large one takes seconds.
            budget.check().map(|()| pass)
        }
    };
    let whole = run.clone();
    engine.register_fn(FORWARD, move |context: NativeCallContext, sentence: ImmutableString| -> Answer<Pass> {
        at_call(whole(&sentence, &[]), &context)
    });
    engine.register_fn(
        FORWARD,
        move |context: NativeCallContext, sentence: ImmutableString, off: Array| -> Answer<Pass> {
            at_call(heads(&off).and_then(|off| run(&sentence, &off)), &context)
        },
    );
    let paid = budget.clone();
    engine.register_indexer_get(
        move |context: NativeCallContext, pass: &mut Pass, name: ImmutableString| -> Answer<Dynamic> {
            let read = pass.tensors.tensor(&name).and_then(|tensor| paid.pay(tensor.cost()).map(|()| tensor));
            at_call(read.map(|tensor| index::value(tensor.axes().to_vec(), tensor.entries().to_vec())), &context)
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
