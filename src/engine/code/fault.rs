//! Faults of code cells as messages for the learner, including Rhai's errors.

use std::fmt;

use rhai::{Dynamic, EvalAltResult, ParseErrorType, Position};
use serde::{Deserialize, Serialize};

use super::budget::OPERATIONS_MAX;
use super::tensor::Tensor;
use super::value::words;
use super::{Given, Scope, names, syntax};
use crate::code::functions::REFERENCE;
use crate::messages::nearest;

/// Longest message and longest hint, in characters. Both quote names of the code, which may be as long as the code.
const WORDS_CHARS_MAX: usize = 400;

/// A message, a hint that may help, and the place in the text if it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fault {
    pub message: String,
    pub hint: Option<String>,
    pub place: Option<LineColumn>,
}

/// A line and a column of a text, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

impl LineColumn {
    /// The first character of a cell, the place of a fault of the whole cell.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: shortened(message.into()), ..Self::default() }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(shortened(hint.into())), ..self }
    }

    /// Puts the name of a function before the message.
    pub fn of(self, function: &str) -> Self {
        Self { message: shortened(format!("{function}: {}", self.message)), ..self }
    }

    pub fn at(self, place: Option<LineColumn>) -> Self {
        Self { place: self.place.or(place), ..self }
    }
}

fn shortened(mut words: String) -> String {
    if let Some((end, _)) = words.char_indices().nth(WORDS_CHARS_MAX) {
        words.truncate(end);
        words.push('…');
    }
    words
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Box<EvalAltResult> {
    fn from(fault: Fault) -> Self {
        EvalAltResult::ErrorRuntime(Dynamic::from(fault), Position::NONE).into()
    }
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

/// Returns Rhai's message without the place at its end, which we put first.
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
    if names(source).is_ok_and(|names| names.defines.contains(name)) {
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
    let written = names(source).map(|names| names.writes).unwrap_or_default();
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
