//! The names that a cell defines, reads and writes, from which the dependencies between cells follow.

use std::collections::BTreeSet;

use rhai::{AST, ASTNode, EvalAltResult, Expr, Stmt};

use super::fault::Fault;
use super::limits::SOURCE_BYTES_MAX;
use super::syntax;

/// The names that a cell uses at its top level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Variables and functions that the cell defines.
    pub defines: BTreeSet<String>,
    /// Variables and functions from elsewhere, including those that are written to.
    pub reads: BTreeSet<String>,
    /// Variables from elsewhere that are assigned to, as a whole or in part.
    pub writes: BTreeSet<String>,
}

/// Checks the length of a cell's text.
///
/// # Errors
/// If the text has more than [`SOURCE_BYTES_MAX`] bytes.
pub(super) fn check_size(source: &str) -> Result<(), Fault> {
    if source.len() <= SOURCE_BYTES_MAX {
        return Ok(());
    }
    Err(Fault::new(format!("the text of this cell has more than {SOURCE_BYTES_MAX} bytes")).hint("split the cell"))
}

/// Returns the names of a text without running it.
///
/// # Errors
/// An error of Rhai's or of [`check_size`], which [`explain`](super::explain) turns into a message.
pub(super) fn read(source: &str) -> Result<Names, Box<EvalAltResult>> {
    check_size(source)?;
    let mut engine = syntax::parser(syntax::ParserProgress::default());
    // Constants must not be replaced by their values.
    engine.set_optimization_level(rhai::OptimizationLevel::None);
    let ast = engine.compile(source)?;

    let functions: BTreeSet<String> = ast.iter_functions().map(|function| function.name.to_owned()).collect();
    let mut top = ast.clone();
    top.clear_functions();
    let top = UsedNames::in_statements(&top);
    let own = |name: &String| top.has_own(name) || functions.contains(name);
    let mut names = Names {
        reads: top.reads.iter().filter(|name| !own(name) || top.copied.contains(*name)).cloned().collect(),
        writes: top.writes.iter().filter(|name| !own(name)).cloned().collect(),
        defines: top.defines.union(&functions).cloned().collect(),
    };
    for function in ast.iter_functions() {
        let is_it = |name: &str, count| name == function.name && count == function.params.len();
        let body = ast.clone_functions_only_filtered(|_, _, _, name, count| is_it(name, count));
        let body = UsedNames::in_statements(&body);
        // A function sees its own variables and all functions. Other names count as read: a function of another cell is
        // found when this one runs, and a variable from outside is then reported as missing.
        let own =
            |name: &String| body.has_own(name) || functions.contains(name) || function.params.contains(&name.as_str());
        names.reads.extend(body.reads.iter().filter(|name| !own(name)).cloned());
    }
    Ok(names)
}

/// The names in a list of statements.
#[derive(Default)]
struct UsedNames {
    /// Variables that the list itself defines.
    defines: BTreeSet<String>,
    /// Variables that blocks within it define.
    inner: BTreeSet<String>,
    /// Variables of the list that start as copies of variables of the same name from elsewhere: `let x = x;`.
    copied: BTreeSet<String>,
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl UsedNames {
    /// Returns whether a name is defined here or is the constant for a whole axis, so that it does not come from
    /// elsewhere.
    fn has_own(&self, name: &str) -> bool {
        self.defines.contains(name) || self.inner.contains(name) || name == syntax::WHOLE
    }

    fn in_statements(ast: &AST) -> Self {
        let mut found = Self::default();
        // The variable whose first definition the walk is in, if any.
        let mut begins = None;
        ast.walk(&mut |path| {
            match path.last() {
                Some(ASTNode::Stmt(Stmt::Var(definition, ..))) => {
                    let name = definition.0.name.to_string();
                    if path.len() == 1 {
                        begins = found.defines.insert(name.clone()).then_some(name);
                    } else {
                        // A block's variable is visible in the block only.
                        found.inner.insert(name);
                    }
                }
                Some(ASTNode::Stmt(Stmt::For(parts, ..))) => {
                    found.inner.insert(parts.0.name.to_string());
                    found.inner.extend(parts.1.iter().map(|counter| counter.name.to_string()));
                }
                Some(ASTNode::Stmt(Stmt::Assignment(parts))) => {
                    if let Some(name) = root(&parts.1.lhs) {
                        found.writes.insert(name.to_owned());
                    }
                }
                Some(ASTNode::Expr(Expr::Variable(variable, ..))) => {
                    let name = variable.1.to_string();
                    if matches!(path[0], ASTNode::Stmt(Stmt::Var(..))) && begins.as_ref() == Some(&name) {
                        found.copied.insert(name.clone());
                    }
                    found.reads.insert(name);
                }
                Some(ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _))) => {
                    found.reads.insert(call.name.to_string());
                }
                _ => {}
            }
            true
        });
        found
    }
}

/// Returns the variable that an assignment to this place changes: `a` in `a[0].b`. Returns `None` if the place is not
/// in a variable.
fn root(place: &Expr) -> Option<&str> {
    match place {
        Expr::Variable(variable, ..) => Some(&variable.1),
        Expr::Index(parts, ..) | Expr::Dot(parts, ..) => root(&parts.lhs),
        _ => None,
    }
}
