//! Syntax trees of code as JSON. A live page runs them, so that it needs no parser of its own.
//!
//! A node is an array of an operation and its operands. Code that the page cannot run becomes a node `["unread", why]`,
//! which the page refuses when it reaches that node.

use rhai::{AST, ASTFlags, Dynamic, Expr, FnCallExpr, INT, OptimizationLevel, Stmt, StmtBlock};
use serde_json::{Value, json};

use super::index::LARGEST_END;
use super::{names, syntax};

/// Parses a text into a tree; a text that cannot be parsed becomes the node that says why.
pub fn tree(source: &str) -> Value {
    let progress = syntax::ParserProgress::default();
    let mut engine = syntax::parser(progress.clone());
    engine.set_optimization_level(OptimizationLevel::None);
    if let Err(error) = names::check_size(source) {
        return unread(&error.to_string());
    }
    progress.restart();
    match engine.compile(source) {
        Ok(ast) if ast.has_functions() => unread("fn is not read here"),
        Ok(ast) => whole(&ast),
        Err(error) => unread(&error.to_string()),
    }
}

fn unread(why: &str) -> Value {
    json!(["unread", why])
}

fn whole(ast: &AST) -> Value {
    json!(["whole", ast.statements().iter().map(statement).collect::<Vec<_>>()])
}

fn block(block: &StmtBlock) -> Value {
    json!(["block", block.statements().iter().map(statement).collect::<Vec<_>>()])
}

fn statement(of: &Stmt) -> Value {
    match of {
        Stmt::Noop(_) => json!(["nothing"]),
        Stmt::Expr(of) => expression(of),
        Stmt::FnCall(call, _) => called(call),
        Stmt::Block(of) => block(of),
        Stmt::If(parts, _) => {
            let branch = if parts.branch.is_empty() { json!(["nothing"]) } else { block(&parts.branch) };
            json!(["if", expression(&parts.expr), block(&parts.body), branch])
        }
        Stmt::For(parts, _) if parts.1.is_none() => {
            json!(["for", parts.0.name.as_str(), expression(&parts.2.expr), block(&parts.2.body)])
        }
        Stmt::Var(parts, flags, _) if !flags.contains(ASTFlags::CONSTANT) => {
            json!(["let", parts.0.name.as_str(), expression(&parts.1)])
        }
        Stmt::Assignment(parts) => {
            let (place, value) = (expression(&parts.1.lhs), expression(&parts.1.rhs));
            match parts.0.get_op_assignment_info() {
                Some((.., sign @ ("+" | "-" | "*" | "/"))) => json!(["set", place, [sign, place, value]]),
                Some((.., sign)) => unread(&format!("{sign}= is not read here")),
                None => json!(["set", place, value]),
            }
        }
        Stmt::Switch(..) => unread("switch is not read here"),
        Stmt::While(..) | Stmt::Do(..) => unread("of loops, only for is read here"),
        Stmt::TryCatch(..) => unread("try is not read here"),
        Stmt::BreakLoop(..) => unread("break and continue are not read here"),
        Stmt::Return(..) => unread("return and throw are not read here"),
        _ => unread("this statement is not read here"),
    }
}

fn expression(of: &Expr) -> Value {
    match of {
        Expr::BoolConstant(is_true, _) => json!(["value", is_true]),
        Expr::IntegerConstant(LARGEST_END, _) => integer(INT::MAX),
        Expr::IntegerConstant(number, _) => integer(*number),
        // JSON has no infinite numbers.
        Expr::FloatConstant(number, _) if number.is_infinite() => json!(["/", ["value", 1.0], ["value", 0.0]]),
        Expr::FloatConstant(number, _) => json!(["value", **number]),
        Expr::StringConstant(text, _) => json!(["value", text.as_str()]),
        Expr::DynamicConstant(value, _) => constant(value),
        Expr::Unit(_) => json!(["nothing"]),
        Expr::Array(items, _) => json!(["list", items.iter().map(expression).collect::<Vec<_>>()]),
        Expr::Variable(parts, ..) if parts.1 == syntax::WHOLE => json!(["all"]),
        Expr::Variable(parts, ..) => json!(["name", parts.1.as_str()]),
        Expr::Stmt(of) => block(of),
        Expr::FnCall(call, _) => called(call),
        Expr::And(parts, _) => joined("&&", parts),
        Expr::Or(parts, _) => joined("||", parts),
        Expr::Dot(..) | Expr::Index(..) => chain(of),
        Expr::InterpolatedString(..) => unread("texts with code in them are not read here"),
        Expr::CharConstant(..) => unread("single characters are not read here"),
        Expr::Map(..) => unread("maps are not read here"),
        _ => unread("this expression is not read here"),
    }
}

/// Returns the node of a whole number, which is written as a text because JSON's numbers are doubles.
fn integer(number: INT) -> Value {
    json!(["whole number", number.to_string()])
}

fn constant(value: &Dynamic) -> Value {
    match value.as_array_ref() {
        Ok(items) => json!(["list", items.iter().map(constant).collect::<Vec<_>>()]),
        Err(_) if value.is_int() => integer(value.as_int().unwrap_or_default()),
        Err(_) if value.is_float() => json!(["value", value.as_float().unwrap_or_default()]),
        Err(_) if value.is_bool() => json!(["value", value.as_bool().unwrap_or_default()]),
        Err(_) if value.is_string() => json!(["value", value.to_string()]),
        Err(_) => unread("this constant is not read here"),
    }
}

fn joined(sign: &str, parts: &[Expr]) -> Value {
    let mut parts = parts.iter().map(expression);
    let first = parts.next().unwrap_or_else(|| json!(["nothing"]));
    parts.fold(first, |left, right| json!([sign, left, right]))
}

fn called(call: &FnCallExpr) -> Value {
    let arguments: Vec<Value> = call.args.iter().map(expression).collect();
    match (&*call.name, &arguments[..]) {
        ("-", [of]) => json!(["negative", of]),
        ("!", [of]) => json!(["not", of]),
        ("+", [of]) => of.clone(),
        ("..", [from, _]) if is_open(&call.args[1]) => json!(["..", from, null]),
        (sign @ (".." | "==" | "!=" | "<" | ">" | "<=" | ">=" | "+" | "-" | "*" | "/" | "%" | "@"), [a, b]) => {
            json!([sign, a, b])
        }
        (name, _) => json!(["call", name, arguments]),
    }
}

/// Returns whether a range has no end, for which Rhai writes the largest whole number.
fn is_open(end: &Expr) -> bool {
    matches!(end, Expr::IntegerConstant(INT::MAX, _))
}

/// Converts a chain such as `a[i][j].T`, which Rhai stores as its first operand and the rest of the chain.
fn chain(of: &Expr) -> Value {
    let (mut value, mut rest) = (None, of);
    while let Expr::Dot(parts, flags, _) | Expr::Index(parts, flags, _) = rest {
        let is_index = matches!(rest, Expr::Index(..));
        let before = value.take().unwrap_or_else(|| expression(&parts.lhs));
        let goes_on = !flags.contains(ASTFlags::BREAK) && matches!(parts.rhs, Expr::Dot(..) | Expr::Index(..));
        let next = match &parts.rhs {
            Expr::Dot(inner, ..) | Expr::Index(inner, ..) if goes_on => &inner.lhs,
            whole => whole,
        };
        value = Some(if is_index { json!(["index", before, indices(next)]) } else { property(before, next) });
        if !goes_on {
            break;
        }
        rest = &parts.rhs;
    }
    value.unwrap_or_else(|| json!(["nothing"]))
}

fn property(of: Value, name: &Expr) -> Value {
    match name {
        Expr::Property(parts, _) if parts.2 == "T" => json!(["call", "T", [of]]),
        _ => unread("of what follows a point, only .T is read here"),
    }
}

/// Returns the parts of an index that are separated by commas.
fn indices(of: &Expr) -> Vec<Value> {
    match of {
        Expr::FnCall(call, _) if call.name == syntax::PAIR => call.args.iter().flat_map(indices).collect(),
        one => vec![expression(one)],
    }
}
