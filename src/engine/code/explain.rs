//! Explanations of Rhai's errors for the learner.

use rhai::{Dynamic, EvalAltResult, ParseErrorType, Position};

use super::fault::{Fault, LineColumn};
use super::functions::REFERENCE;
use super::limits::OPERATIONS_MAX;
use super::names::{self, Names};
use super::scope::{Given, Scope};
use super::syntax;
use super::tensor::Tensor;
use super::value::words;
use crate::messages::nearest;

/// Returns the names that a text defines, reads and writes, without running it.
///
/// # Errors
/// A message for the learner if the text cannot be compiled.
pub fn names(source: &str) -> Result<Names, Fault> {
    names::read(source).map_err(|error| explain(*error, "", &Scope::default(), None))
}

/// Largest number of bytes of a thrown value that are written, which is more than a message shows.
const THROWN_BYTES_MAX: usize = 4096;

/// Explains an error of Rhai: the problem, its place, and a hint. `ended` is the reason why the run was ended, if it
/// was.
pub fn explain(error: EvalAltResult, source: &str, scope: &Scope<'_>, ended: Option<&Fault>) -> Fault {
    let place = place_of(error.position());
    let fault = match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => explain(*inner, source, scope, ended),
        EvalAltResult::ErrorRuntime(thrown, _) => match thrown.clone().try_cast::<Fault>() {
            Some(fault) => fault,
            None => Fault::new(thrown_words(&thrown)),
        },
        EvalAltResult::ErrorVariableNotFound(name, _) => unknown_variable(&name, source, scope),
        EvalAltResult::ErrorFunctionNotFound(call, _) => unknown_function(&call),
        EvalAltResult::ErrorNonPureMethodCallOnConstant(name, _) if !name.contains('$') => {
            Fault::new(format!("`{name}` cannot change this value: it is a constant"))
                .hint("copy it into a variable of your own with `let`, and change that")
        }
        EvalAltResult::ErrorAssignmentToConstant(name, _)
        | EvalAltResult::ErrorNonPureMethodCallOnConstant(name, _) => constant(&name, source, scope),
        EvalAltResult::ErrorTooManyOperations(_) => {
            Fault::new(format!("this cell takes more than {OPERATIONS_MAX} operations"))
                .hint("does a loop never end? A tensor operation counts as only a few operations")
        }
        EvalAltResult::ErrorTerminated(..) => {
            let why = ended.cloned().unwrap_or_else(|| Fault::new("interrupted"));
            // Rhai does not give a place for some operations.
            return why.at(place).at(Some(LineColumn::START));
        }
        EvalAltResult::ErrorStackOverflow(_) => {
            Fault::new("functions call each other too deeply").hint("does one call itself forever?")
        }
        EvalAltResult::ErrorIndexingType(what, _) if what.starts_with("()") => {
            Fault::new("there is nothing here from which to take an entry")
                .hint("a function returns the value of its last line; a loop or a `let` has no value")
        }
        EvalAltResult::ErrorParsing(kind, _) => parsing(kind, scope),
        other => Fault::new(without_place(&other)),
    };
    fault.at(place)
}

/// Returns the text of a thrown value, which may be of any type.
fn thrown_words(thrown: &Dynamic) -> String {
    match thrown.read_lock::<Tensor>() {
        Some(tensor) => format!("a tensor of the shape {} was thrown", tensor.shape()),
        None => words(thrown, THROWN_BYTES_MAX).0,
    }
}

pub fn place_of(position: Position) -> Option<LineColumn> {
    // A position at the start of a line means its first character.
    Some(LineColumn { line: position.line()?, column: position.position().unwrap_or(1) })
}

/// Returns Rhai's message without the place at its end, which a [`Fault`] has as a field of its own.
fn without_place(error: &EvalAltResult) -> String {
    let mut error = error.to_string();
    if let Some(at) = error.rfind(" (line ") {
        error.truncate(at);
    }
    error
}

fn unknown_variable(name: &str, source: &str, scope: &Scope<'_>) -> Fault {
    let fault = Fault::new(format!("there is no variable `{name}` here"));
    if scope.names().any(|existing| existing == name) {
        return fault.hint(format!("a function sees only its parameters; pass `{name}` to it as a parameter"));
    }
    if names::read(source).is_ok_and(|names| names.defines.contains(name)) {
        return fault.hint("a line sees only the variables defined above it, and a function only its parameters");
    }
    if let Some(first) = name.strip_suffix("_1").filter(|first| scope.names().any(|existing| existing == *first)) {
        return fault.hint(format!("did you mean `{first}`? Tensors of the first layer have no number"));
    }
    // Names of a single letter are all similar to each other.
    let existing = scope.names().filter(|_| name.chars().count() > 1);
    match nearest(name, existing) {
        Some(near) => fault.hint(format!("did you mean `{near}`? Make a new variable with `let {name} = …`")),
        None => fault.hint(format!("make a new variable with `let {name} = …`; a cell sees only the cells above it")),
    }
}

/// Returns the fault of an unknown function. `call` is Rhai's text, such as `softmx (tensor)`.
fn unknown_function(call: &str) -> Fault {
    let (name, arguments) = call.split_once(" (").unwrap_or((call, ""));
    let arguments = arguments.trim_end_matches(')').replace("&str | ImmutableString | String", "text");
    let arguments = arguments.replace("f64", "number").replace("i64", "number");
    match REFERENCE.iter().find(|help| help.name == name) {
        Some(help) => {
            Fault::new(format!("`{name}` cannot take ({arguments})")).hint(format!("call it as {}", help.call))
        }
        None if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
            let fault = Fault::new(format!("there is no function `{name}` that takes ({arguments})"));
            match nearest(name, REFERENCE.iter().map(|help| help.name)) {
                Some(near) => fault.hint(format!("did you mean `{near}`?")),
                None => fault.hint("the reference lists all functions, and help(\"name\") explains one"),
            }
        }
        None => Fault::new(format!("`{name}` does not work on ({arguments})")),
    }
}

/// Returns the fault of writing to a constant. For `Q[0] = …` Rhai names the setter, `index$set$`, and not the
/// variable.
fn constant(name: &str, source: &str, scope: &Scope<'_>) -> Fault {
    let written = names::read(source).map(|names| names.writes).unwrap_or_default();
    let is_meant = |given: &&Given| {
        let variable = &given.variable.name;
        given.fixed.is_some() && (variable == name || name.contains('$') && written.contains(variable))
    };
    match scope.given.iter().find(is_meant) {
        Some(Given { variable, fixed: Some(why) }) => fixed(&variable.name, why),
        _ => Fault::new(format!("`{name}` is a constant and cannot be changed")),
    }
}

/// Returns the fault of writing to a variable that is fixed.
pub fn fixed(name: &str, why: &str) -> Fault {
    Fault::new(format!("`{name}` cannot be changed: {why}"))
}

fn parsing(kind: ParseErrorType, scope: &Scope<'_>) -> Fault {
    match kind {
        ParseErrorType::VariableUndefined(name) => unknown_variable(&name, "", scope),
        ParseErrorType::MissingToken(token, why) if token == ";" => {
            Fault::new(format!("`;` is missing {why}")).hint("end each statement but the last with `;`")
        }
        ParseErrorType::UnexpectedEOF => {
            Fault::new("the code ends too early").hint("is a bracket or the right side of an operator missing?")
        }
        kind => {
            let message = kind.to_string();
            if message == format!("Unexpected '{}'", syntax::PAIR) {
                return Fault::new("a range before a comma needs an end").hint("write 1..3, or .. for all");
            }
            Fault::new(message.replace(syntax::PAIR, ","))
        }
    }
}
