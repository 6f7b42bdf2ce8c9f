//! The language of code cells: Rhai over tensors, in a sandbox.
//!
//! A run depends only on its text, its given variables and its seed. It reads no files, reads the clock only to end
//! itself, and has no effect except its result. Its limits are in [`budget`].
//!
//! ```
//! use attune_engine::code::{Given, Output, Scope, Tensor, Variable, run};
//!
//! let x = Tensor::matrix(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
//! let scope = Scope { given: vec![Given::writable(Variable::tensor("X", x))], ..Scope::default() };
//! let run = run("let S = X @ X.T; sum(softmax(S))[0]", &scope);
//! assert_eq!(run.fault, None);
//! assert_eq!(run.outputs, [Output::Number(1.0)]);
//! assert_eq!(run.defined[0].name, "S");
//! ```

pub mod budget;
/// Support for editors of code cells: colours, keys, the names in scope and their completion.
pub mod editor {
    pub mod editing;
    pub mod highlight;
    pub mod scope;
}
mod changes;
mod explain;
mod fault;
mod forward;
mod functions;
mod index;
mod limits;
mod model;
mod names;
mod scope;
mod syntax;
mod tensor;
mod tree;
mod value;

use std::thread;

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage, BasicMathPackage,
    BasicStringPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{AST, Dynamic, Engine};

pub use crate::code::functions::{Help, REFERENCE, help};
pub use changes::FORWARD;
pub use explain::names;
pub use fault::{Fault, LineColumn};
pub use forward::{NEIGHBOURS, RATE, VECTORS, WRITE};
pub use model::{Charge, CodePass, Forward, OnlyChanges, PassChanges, PassTensors, RunnableModel};
pub use names::Names;
pub use scope::{Functions, Given, Scope};
pub use tensor::{Axis, Labels, Shape, Tensor};
pub use tree::tree;
pub use value::{Output, Plot, PlotLine, Value, Variable, readable};

use self::budget::*;

/// The result of running a cell.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Outputs in order; the value of the last expression comes last.
    pub outputs: Vec<Output>,
    /// Variables that the cell defines at its top level.
    pub defined: Vec<Variable>,
    /// Given variables that have a new value. Empty after a fault, so that no change is incomplete.
    pub written: Vec<Variable>,
    /// Functions that the cell defines.
    pub functions: Functions,
    /// Whether the value of the last expression is `true`.
    pub is_true: bool,
    pub fault: Option<Fault>,
    /// Memory that is taken as long as the result is kept, in bytes.
    pub bytes: usize,
}

/// Runs a cell on a stack that is deep enough, whichever thread calls.
pub fn run(source: &str, scope: &Scope<'_>) -> Run {
    let run = on_deep_stack(|| measured(|| run_here(source, scope)));
    run.unwrap_or_else(|fault| Run { fault: Some(fault), ..Run::default() })
}

/// Message for a panic, which code should not be able to cause.
pub const OWN_FAULT: &str = "attune itself has a fault here; please report it";

/// Evaluates expressions to numbers or words. They share one engine, one scope and one budget, and change nothing.
pub fn values(sources: &[&str], scope: &Scope<'_>) -> Vec<Result<Value, Fault>> {
    on_deep_stack(|| values_here(sources, scope)).unwrap_or_else(|fault| vec![Err(fault); sources.len()])
}

/// Calls `run` on a new thread with a large stack. Returns a fault if the thread cannot start or `run` panics.
fn on_deep_stack<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T, Fault> {
    thread::scope(|threads| {
        let running = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, run).map_err(|error| {
            Fault::new(format!("the operating system could not start a thread for the code: {error}"))
        })?;
        running.join().map_err(|_| Fault::new(OWN_FAULT))
    })
}

fn values_here(sources: &[&str], scope: &Scope<'_>) -> Vec<Result<Value, Fault>> {
    let budget = Budget::new(scope.allowance, scope.stop.clone());
    let progress = syntax::ParserProgress::default();
    let engine = engine(&budget, &progress, scope);
    let fixed = |given: &Given| Given::fixed(given.variable.clone(), "a text can only read values");
    let given: Vec<Given> = scope.given.iter().map(fixed).collect();
    let value = |source: &&str| {
        let fault = |error: Box<rhai::EvalAltResult>| explain::explain(*error, source, scope, budget.ended());
        let ast = compile(&engine, &progress, source).map_err(fault)?;
        let ast = scope.functions.0.merge(&ast);
        let mut variables = variables(&given, &budget)?;
        let answer = engine.eval_ast_with_scope::<Dynamic>(&mut variables, &ast).map_err(fault)?;
        // Tables and pictures are dropped, because a sentence cannot show them.
        budget.take_shown();
        Value::of(&answer)
    };
    sources.iter().map(value).collect()
}

/// Measures the memory that keeping a run's result takes: at least what the run allocated, and at least the size of its
/// variables, because cells that share them may be deleted first.
fn measured(run: impl FnOnce() -> Run) -> Run {
    let before = budget::held();
    let mut run = run();
    let made = usize::try_from(budget::held() - before).unwrap_or_default();
    run.bytes = made.max(value::size_of_values(run.defined.iter().chain(&run.written)));
    run
}

fn run_here(source: &str, scope: &Scope<'_>) -> Run {
    let budget = Budget::new(scope.allowance, scope.stop.clone());
    let progress = syntax::ParserProgress::default();
    let engine = engine(&budget, &progress, scope);
    let mut run = Run::default();
    let fault = |error: Box<rhai::EvalAltResult>| Some(explain::explain(*error, source, scope, budget.ended()));
    let mut variables = match variables(&scope.given, &budget) {
        Ok(variables) => variables,
        // The given variables already exceed the memory.
        Err(fault) => return Run { fault: Some(fault.at(Some(LineColumn::START))), ..run },
    };
    let given = variables.len();
    let ast = match compile(&engine, &progress, source) {
        Ok(ast) => ast,
        Err(error) => return Run { fault: fault(error), ..run },
    };
    run.functions = Functions(ast.clone_functions_only());
    // Only the statements of this cell are run; those of the cells above ran already.
    let answer = engine.eval_ast_with_scope::<Dynamic>(&mut variables, &scope.functions.0.merge(&ast));
    let shown = answer.map_err(|error| {
        if let rhai::EvalAltResult::ErrorRuntime(thrown, _) = &*error
            && thrown.is::<Tensor>()
        {
            // The message gives only the shape of the tensor, so the tensor is shown as well, unless there are too many
            // outputs already.
            let _ = budget.show_value(thrown);
        }
        explain::explain(*error, source, scope, budget.ended())
    });
    let shown = shown.and_then(|value| {
        run.is_true = value.as_bool().unwrap_or_default();
        // The last operation may have exceeded the memory, which was not checked after it.
        let place = ast.statements().last().and_then(|last| explain::place_of(last.position()));
        budget.check().and_then(|()| budget.show_value(&value)).map_err(|fault| fault.at(place))
    });
    run.outputs = budget.take_shown();
    if let Err(fault) = shown {
        return Run { fault: Some(fault), is_true: false, ..run };
    }
    for (i, (name, value, _)) in variables.into_iter().enumerate() {
        let variable = Variable::new(name, value);
        let name = &variable.name;
        if variable.is_too_deep() {
            let message = format!("`{name}` holds lists nested more than {NESTING_MAX} deep");
            let fault = Fault::new(message).hint("use a table or a flat list");
            return Run { fault: Some(fault), defined: Vec::new(), written: Vec::new(), ..run };
        }
        if i >= given {
            // If several variables have the same name, the last one counts.
            run.defined.retain(|before: &Variable| before.name != *name);
            run.defined.push(variable);
        } else if let Some(given) = i.checked_sub(1).and_then(|i| scope.given.get(i)) {
            match &given.fixed {
                _ if value::is_same(&given.variable.value, &variable.value) => {}
                None => run.written.push(variable),
                // Rhai allows new keys in a constant map, and new letters in a constant text.
                Some(why) => {
                    let fault = Some(explain::fixed(name, why));
                    return Run { fault, defined: Vec::new(), written: Vec::new(), ..run };
                }
            }
        }
    }
    run
}

/// Makes the scope of a run: first the constant for a whole axis, then the given variables.
fn variables(given: &[Given], budget: &Budget) -> Result<rhai::Scope<'static>, Fault> {
    let mut scope = rhai::Scope::new();
    scope.push_constant(syntax::WHOLE, index::Whole);
    for Given { variable, fixed } in given {
        let value = Dynamic::clone(&variable.value);
        if fixed.is_some() {
            scope.push_constant_dynamic(variable.name.clone(), value);
        } else {
            scope.push_dynamic(variable.name.clone(), value);
        }
        budget.check()?;
    }
    Ok(scope)
}

fn engine(budget: &Budget, progress: &syntax::ParserProgress, scope: &Scope<'_>) -> Engine {
    // Only packages of Rhai without access to the outside: no modules, files, clock or sleep.
    let mut engine = syntax::parser(progress.clone());
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicFnPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    engine
        .set_max_operations(OPERATIONS_MAX)
        .set_max_call_levels(CALL_LEVELS_MAX)
        .set_max_string_size(STRING_BYTES_MAX)
        .set_max_array_size(ARRAY_ENTRIES_MAX)
        .set_max_map_size(MAP_ENTRIES_MAX)
        .set_max_variables(VARIABLES_MAX);
    functions::register(&mut engine, budget, scope.seed);
    forward::register(&mut engine, budget, scope.model.as_ref());
    let watch = budget.clone();
    engine.on_progress(move |operations| watch.is_over_after(operations).then_some(Dynamic::UNIT));
    engine
}

/// Compiles a cell. Rhai inserts the constant for a whole axis into the bodies of functions, which could not see it
/// otherwise. The variables are not passed as constants, because Rhai would insert them in place of parameters of the
/// same name.
fn compile(engine: &Engine, progress: &syntax::ParserProgress, source: &str) -> Result<AST, Box<rhai::EvalAltResult>> {
    names::check_size(source)?;
    progress.restart();
    let mut constants = rhai::Scope::new();
    constants.push_constant(syntax::WHOLE, index::Whole);
    engine.compile_with_scope(&constants, source).map_err(Into::into)
}
