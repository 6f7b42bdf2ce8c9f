//! Which names a cell defines, reads and writes: what depends on what.

use std::collections::BTreeSet;

use rhai::{ASTNode, Engine, EvalAltResult, Expr, Stmt};

use super::budget::{EXPRESSION_DEPTH_MAX, SOURCE_BYTES_MAX};
use super::fault::Fault;
use super::{Scope, explain, syntax};

/// Names at the top of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Variables and functions that it defines.
    pub defines: BTreeSet<String>,
    /// Variables and functions that come from elsewhere, those written to among them.
    pub reads: BTreeSet<String>,
    /// Variables from elsewhere that are assigned to, in whole or in part.
    pub writes: BTreeSet<String>,
}

/// The names of a text, without running it.
pub fn names(source: &str) -> Result<Names, Fault> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(Fault::new(format!("this cell's text has more than {SOURCE_BYTES_MAX} bytes")).hint("split it"));
    }
    let mut engine = Engine::new_raw();
    engine.set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX).disable_symbol("eval");
    // Constants must stay names.
    engine.set_optimization_level(rhai::OptimizationLevel::None);
    let progress = syntax::Progress::default();
    syntax::extend(&mut engine, progress.clone());
    progress.restart();
    let ast = engine
        .compile(source)
        .map_err(|error| explain::fault(EvalAltResult::from(error), "", &Scope::default(), &Default::default()))?;

    let mut names = Names::default();
    names.defines.extend(ast.iter_functions().map(|function| function.name.to_owned()));
    let parameters: BTreeSet<&str> = ast.iter_functions().flat_map(|function| function.params).collect();
    let mut inner = BTreeSet::new();
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Var(definition, ..))) => {
                let name = definition.0.name.to_string();
                // A variable of a block is nobody else's.
                if path.len() == 1 {
                    names.defines.insert(name)
                } else {
                    inner.insert(name)
                };
            }
            Some(ASTNode::Stmt(Stmt::For(parts, ..))) => {
                inner.insert(parts.0.name.to_string());
                inner.extend(parts.1.iter().map(|counter| counter.name.to_string()));
            }
            Some(ASTNode::Stmt(Stmt::Assignment(parts))) => {
                if let Some(name) = root(&parts.1.lhs) {
                    names.writes.insert(name.to_owned());
                }
            }
            Some(ASTNode::Expr(Expr::Variable(variable, ..))) => {
                names.reads.insert(variable.1.to_string());
            }
            Some(ASTNode::Expr(Expr::FnCall(call, _))) => {
                names.reads.insert(call.name.to_string());
            }
            _ => {}
        }
        true
    });
    let own = |name: &String| {
        names.defines.contains(name)
            || inner.contains(name)
            || parameters.contains(name.as_str())
            || name == syntax::WHOLE
    };
    let from_elsewhere = |all: &BTreeSet<String>| all.iter().filter(|name| !own(name)).cloned().collect();
    Ok(Names {
        reads: from_elsewhere(&names.reads),
        writes: from_elsewhere(&names.writes),
        defines: names.defines.clone(),
    })
}

/// What a place to assign to is a part of.
fn root(place: &Expr) -> Option<&str> {
    match place {
        Expr::Variable(variable, ..) => Some(&variable.1),
        Expr::Index(parts, ..) | Expr::Dot(parts, ..) => root(&parts.lhs),
        _ => None,
    }
}
