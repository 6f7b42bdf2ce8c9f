//! The functions of code cells, and what their help says.

use rand::RngExt;
use rhai::{Array, Dynamic, Engine, EvalAltResult, INT, ImmutableString, NativeCallContext};

use super::budget::Budget;
use super::fault::Fault;
use super::index;
use super::tensor::{Axis, Tensor};
use super::value::{Output, Plot, Ranking, number};
use crate::nearest::nearest;
use crate::numerics::rng::{Stream, part};
use crate::numerics::softmax::softmax_forward;
use crate::numerics::vectors::{cosine, norm};

/// One function as the reference shows it.
#[derive(Clone, Copy, Debug)]
pub struct Help {
    pub name: &'static str,
    pub call: &'static str,
    /// The equation, as LaTeX; empty where there is none.
    pub equation: &'static str,
    pub meaning: &'static str,
    /// A cell of its own that runs.
    pub example: &'static str,
}

macro_rules! help {
    ($($name:literal, $call:literal, $equation:literal, $meaning:literal, $example:literal;)*) => {
        &[$(Help { name: $name, call: $call, equation: $equation, meaning: $meaning, example: $example }),*]
    };
}

/// Every function, in the order of the reference.
pub const REFERENCE: &[Help] = help! {
    "matrix", "matrix([[…], […]])", "", "A matrix of rows of numbers.", "matrix([[1, 2], [3, 4]])";
    "vector", "vector([…])", "", "A vector of numbers.", "vector([1, 2, 3])";
    "zeros", "zeros(rows, cols)", "", "A matrix of zeros; of one length a vector.", "zeros(2, 3)";
    "ones", "ones(rows, cols)", "", "A matrix of ones; of one length a vector.", "ones(2, 3)";
    "eye", "eye(n)", r"I_{ij} = [i = j]", "The identity matrix.", "eye(3)";
    "random", "random(rows, cols)", r"x \sim U(-1, 1)", "Random numbers, the same with each run of the cell.", "random(2, 3)";
    "softmax", "softmax(S)", r"p_j = \frac{e^{s_j}}{\sum_k e^{s_k}}", "Each row becomes weights that sum to 1.", "softmax(vector([6, 4]))";
    "mask", "mask(S)", r"s_{ij} = -\infty \text{ for } j > i", "Hides from each row the columns behind its own place, as a causal mask does.", "softmax(mask(zeros(3, 3)))";
    "exp", "exp(X)", r"e^x", "Of each entry.", "exp(vector([0, 1]))";
    "log", "log(X)", r"\ln x", "The natural logarithm of each entry.", "log(vector([1, 2]))";
    "sqrt", "sqrt(X)", r"\sqrt{x}", "Of each entry.", "sqrt(vector([4, 9]))";
    "abs", "abs(X)", r"|x|", "Of each entry.", "abs(vector([-1, 2]))";
    "tanh", "tanh(X)", r"\tanh x", "Of each entry.", "tanh(vector([0, 1]))";
    "relu", "relu(X)", r"\max(0, x)", "Of each entry.", "relu(vector([-1, 2]))";
    "round", "round(X, digits)", "", "Each entry to so many digits.", "round(vector([0.12345]), 2)";
    "sum", "sum(X)", r"\sum_j x_j", "Of each row; of a vector a number.", "sum(vector([1, 2, 3]))";
    "mean", "mean(X)", r"\frac{1}{n} \sum_j x_j", "Of each row; of a vector a number.", "mean(vector([1, 2, 3]))";
    "max", "max(X)", r"\max_j x_j", "Of each row; of a vector a number.", "max(vector([1, 3, 2]))";
    "min", "min(X)", r"\min_j x_j", "Of each row; of a vector a number.", "min(vector([1, 3, 2]))";
    "argmax", "argmax(X)", r"\arg\max_j x_j", "Where each row is largest: the word there, or the place.", "argmax(vector([1, 3, 2]))";
    "norm", "norm(X)", r"\lVert x \rVert = \sqrt{\sum_j x_j^2}", "The length of each row; of a vector a number.", "norm(vector([3, 4]))";
    "dot", "dot(a, b)", r"a \cdot b = \sum_j a_j b_j", "Of two vectors, as a @ b.", "dot(vector([1, 2]), vector([3, 4]))";
    "cosine", "cosine(a, b)", r"\frac{a \cdot b}{\lVert a \rVert \lVert b \rVert}", "How much two vectors point the same way, from -1 to 1.", "cosine(vector([1, 0]), vector([1, 1]))";
    "nearest", "nearest(table, vector, count)", r"\cos(t_i, v)", "The rows of a table most like a vector, by cosine, with their words.", "nearest(eye(3), vector([1, 0.5, 0]), 2)";
    "shape", "shape(X)", "", "How many entries each axis has.", "shape(zeros(2, 3))";
    "show", "show(\"caption\", X)", "", "Shows a value in the middle of a cell.", "show(\"ones\", ones(1, 2));";
    "plot", "plot(x, y)", "", "Draws y over x; each row of a matrix y is a line.", "plot(vector([1, 2, 3]), vector([1, 4, 9]));";
    "help", "help(\"name\")", "", "What a function does.", "help(\"softmax\")";
};

/// The help of a name.
pub fn help(name: &str) -> Result<String, Fault> {
    match REFERENCE.iter().find(|help| help.name == name) {
        Some(Help { call, equation, meaning, example, .. }) => {
            let equation = if equation.is_empty() { String::new() } else { format!("\n${equation}$") };
            Ok(format!("{call}{equation}\n{meaning}\nFor example: {example}"))
        }
        None => {
            let fault = Fault::new(format!("there is no function {name:?}"));
            Err(match nearest(name, REFERENCE.iter().map(|help| help.name)) {
                Some(near) => fault.hint(format!("is it {near:?}?")),
                None => fault.hint("the reference lists them all"),
            })
        }
    }
}

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// A fault of a function, at the place of its call.
fn at_call<T>(result: Result<T, Fault>, context: &NativeCallContext) -> Answer<T> {
    result.map_err(|fault| EvalAltResult::ErrorRuntime(Dynamic::from(fault), context.call_position()).into())
}

/// Registers all of it. Whatever makes a tensor pays for it first.
pub fn register(engine: &mut Engine, budget: &Budget, seed: u64) {
    engine.register_type_with_name::<Tensor>("tensor").register_type_with_name::<index::Whole>("..");
    engine.register_type_with_name::<Ranking>("ranking");
    register_operators(engine, budget);
    register_makers(engine, budget, seed);
    register_entrywise(engine, budget);
    register_rows(engine, budget);
    register_outputs(engine, budget);
}

fn register_operators(engine: &mut Engine, budget: &Budget) {
    type Op = fn(f64, f64) -> f64;
    let operators: [(&str, &str, Op); 6] = [
        ("+", "add", |a, b| a + b),
        ("-", "subtract", |a, b| a - b),
        ("*", "multiply", |a, b| a * b),
        ("/", "divide", |a, b| a / b),
        ("**", "raise", f64::powf),
        ("%", "divide", |a, b| a % b),
    ];
    for (operator, verb, op) in operators {
        let paid = budget.clone();
        engine.register_fn(operator, move |context: NativeCallContext, a: Tensor, b: Tensor| {
            at_call(paid.pay(a.len().max(b.len())).and_then(|()| a.zip(verb, &b, op)), &context)
        });
        macro_rules! with_numbers {
            ($($number:ty),*) => {$(
                let paid = budget.clone();
                engine.register_fn(operator, move |context: NativeCallContext, a: Tensor, b: $number| {
                    at_call(paid.pay(a.len()).map(|()| a.map(|a| op(a, b as f64))), &context)
                });
                let paid = budget.clone();
                engine.register_fn(operator, move |context: NativeCallContext, a: $number, b: Tensor| {
                    at_call(paid.pay(b.len()).map(|()| b.map(|b| op(a as f64, b))), &context)
                });
            )*};
        }
        with_numbers!(f64, INT);
    }
    engine.register_fn("-", |a: Tensor| a.map(|a| -a));
    engine.register_fn("==", |a: Tensor, b: Tensor| a == b).register_fn("!=", |a: Tensor, b: Tensor| a != b);

    for name in ["@", "dot"] {
        let paid = budget.clone();
        engine.register_fn(name, move |context: NativeCallContext, a: Tensor, b: Tensor| {
            let product = paid.work(a.product_work(&b)).and_then(|()| a.product(&b)).and_then(|product| {
                paid.pay(product.len())?;
                Ok(index::value(product.axes().to_vec(), product.entries().to_vec()))
            });
            at_call(product, &context)
        });
    }
    let paid = budget.clone();
    engine.register_get("T", move |context: NativeCallContext, a: &mut Tensor| {
        at_call(paid.pay(a.len()).map(|()| a.transposed()), &context)
    });

    let paid = budget.clone();
    engine.register_indexer_get(move |context: NativeCallContext, tensor: &mut Tensor, at: Dynamic| {
        at_call(paid.pay(1).and_then(|()| index::get(tensor, &at)), &context)
    });
    engine.register_indexer_set(|context: NativeCallContext, tensor: &mut Tensor, at: Dynamic, x: Dynamic| {
        at_call(index::set(tensor, &at, &x), &context)
    });
    // `i, j` in an index: a list that grows.
    engine.register_fn(super::syntax::PAIR, |a: Dynamic, b: Dynamic| -> Dynamic {
        let mut indices = a.clone().try_cast::<Array>().unwrap_or_else(|| vec![a]);
        indices.push(b);
        Dynamic::from(indices)
    });
}

fn count(name: &str, n: INT) -> Result<usize, Fault> {
    usize::try_from(n).map_err(|_| Fault::new(format!("{name}: {n} is no count")).hint("say a number from 0 on"))
}

fn register_makers(engine: &mut Engine, budget: &Budget, seed: u64) {
    for (name, entry) in [("zeros", 0.0), ("ones", 1.0)] {
        let paid = budget.clone();
        engine.register_fn(name, move |context: NativeCallContext, rows: INT, cols: INT| {
            let made = count(name, rows).and_then(|rows| {
                let cols = count(name, cols)?;
                let len = rows.saturating_mul(cols);
                paid.pay(len)?;
                Ok(Tensor::matrix(rows, cols, vec![entry; len]))
            });
            at_call(made, &context)
        });
        let paid = budget.clone();
        engine.register_fn(name, move |context: NativeCallContext, len: INT| {
            let made = count(name, len).and_then(|len| paid.pay(len).map(|()| Tensor::vector(vec![entry; len])));
            at_call(made, &context)
        });
    }
    let paid = budget.clone();
    engine.register_fn("eye", move |context: NativeCallContext, n: INT| {
        let made = count("eye", n).and_then(|n| {
            let len = n.saturating_mul(n);
            paid.pay(len)?;
            Ok(Tensor::matrix(n, n, (0..len).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect()))
        });
        at_call(made, &context)
    });
    let paid = budget.clone();
    engine.register_fn("random", move |context: NativeCallContext, rows: INT, cols: INT| {
        let made = count("random", rows).and_then(|rows| {
            let cols = count("random", cols)?;
            let len = rows.saturating_mul(cols);
            paid.pay(len)?;
            let mut rng = part(seed, Stream::CodeCells, paid.next_draw());
            Ok(Tensor::matrix(rows, cols, (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()))
        });
        at_call(made, &context)
    });
    let paid = budget.clone();
    engine.register_fn("matrix", move |context: NativeCallContext, rows: Array| {
        let made = paid.pay(rows.len()).and_then(|()| {
            let rows: Vec<Vec<f64>> = rows.iter().map(|row| numbers("matrix", row)).collect::<Result<_, _>>()?;
            let cols = rows.first().map_or(0, Vec::len);
            if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != cols) {
                let message = format!("matrix: row {i} has {} numbers, row 0 has {cols}", row.len());
                return Err(Fault::new(message).hint("all rows must be of one length"));
            }
            paid.pay(rows.len() * cols)?;
            Ok(Tensor::matrix(rows.len(), cols, rows.into_iter().flatten().collect()))
        });
        at_call(made, &context)
    });
    let paid = budget.clone();
    engine.register_fn("vector", move |context: NativeCallContext, entries: Array| {
        let made = paid.pay(entries.len()).and_then(|()| numbers("vector", &Dynamic::from(entries)));
        at_call(made.map(Tensor::vector), &context)
    });
}

/// A list of numbers, or a vector.
fn numbers(name: &str, list: &Dynamic) -> Result<Vec<f64>, Fault> {
    if let Some(tensor) = list.read_lock::<Tensor>().filter(|tensor| tensor.rank() == 1) {
        return Ok(tensor.entries().to_vec());
    }
    let Some(list) = list.read_lock::<Array>() else {
        return Err(Fault::new(format!("{name}: a list of numbers is wanted, not {}", list.type_name())));
    };
    let entries = list
        .iter()
        .map(|entry| number(entry).ok_or_else(|| Fault::new(format!("{name}: {} is no number", entry.type_name()))));
    entries.collect()
}

fn register_entrywise(engine: &mut Engine, budget: &Budget) {
    type Entry = fn(f64) -> f64;
    let functions: [(&str, Entry); 6] = [
        ("exp", f64::exp),
        ("log", f64::ln),
        ("sqrt", f64::sqrt),
        ("abs", f64::abs),
        ("tanh", f64::tanh),
        ("relu", |x| if x < 0.0 { 0.0 } else { x }),
    ];
    for (name, f) in functions {
        let paid = budget.clone();
        engine.register_fn(name, move |context: NativeCallContext, x: Tensor| {
            at_call(paid.pay(x.len()).map(|()| x.map(f)), &context)
        });
        engine.register_fn(name, move |x: f64| f(x)).register_fn(name, move |x: INT| f(x as f64));
    }
    let paid = budget.clone();
    engine.register_fn("round", move |context: NativeCallContext, x: Tensor, digits: INT| {
        at_call(paid.pay(x.len()).map(|()| x.map(|x| rounded(x, digits))), &context)
    });
    engine.register_fn("round", rounded);
}

fn rounded(x: f64, digits: INT) -> f64 {
    /// Beyond these a double has no more digits.
    const DIGITS_MAX: INT = 15;
    let scale = 10f64.powi(digits.clamp(-DIGITS_MAX, DIGITS_MAX) as i32);
    (x * scale).round() / scale
}

fn register_rows(engine: &mut Engine, budget: &Budget) {
    type OfRow = fn(&[f64]) -> f64;
    let functions: [(&str, OfRow); 5] = [
        ("sum", |row| row.iter().sum()),
        ("mean", |row| row.iter().sum::<f64>() / row.len() as f64),
        ("max", |row| row.iter().copied().fold(f64::NEG_INFINITY, larger)),
        ("min", |row| -row.iter().map(|x| -x).fold(f64::NEG_INFINITY, larger)),
        ("norm", norm),
    ];
    for (name, f) in functions {
        let paid = budget.clone();
        engine.register_fn(name, move |context: NativeCallContext, x: Tensor| {
            let of_rows = paid.pay(x.len()).map(|()| {
                let answer = x.reduce(f);
                index::value(answer.axes().to_vec(), answer.entries().to_vec())
            });
            at_call(of_rows, &context)
        });
    }
    let paid = budget.clone();
    engine.register_fn("softmax", move |context: NativeCallContext, x: Tensor| {
        let weights = paid.pay(x.len()).map(|()| {
            let mut entries = x.entries().to_vec();
            entries.chunks_mut(x.last_axis().len.max(1)).for_each(softmax_forward);
            x.with(entries)
        });
        at_call(weights, &context)
    });
    let paid = budget.clone();
    engine.register_fn("mask", move |context: NativeCallContext, x: Tensor| {
        let masked = paid.pay(x.len()).map(|()| {
            let (cols, rank) = (x.last_axis().len.max(1), x.rank());
            let rows = if rank > 1 { x.axes()[rank - 2].len.max(1) } else { 1 };
            let hidden = |i: usize| i % cols > i / cols % rows;
            let entries = x.entries().iter().enumerate();
            x.with(entries.map(|(i, &x)| if hidden(i) { f64::NEG_INFINITY } else { x }).collect())
        });
        at_call(masked, &context)
    });
    let paid = budget.clone();
    engine.register_fn("argmax", move |context: NativeCallContext, x: Tensor| {
        at_call(paid.pay(x.len()).and_then(|()| argmax(&x)), &context)
    });
    let paid = budget.clone();
    engine.register_fn("cosine", move |context: NativeCallContext, a: Tensor, b: Tensor| {
        let answer = paid.pay(a.len() + b.len()).and_then(|()| {
            if a.rank() == 1 && b.rank() == 1 && a.len() == b.len() {
                return Ok(cosine(a.entries(), b.entries()));
            }
            let message = format!("cosine: of two vectors of one length, not {} and {}", a.shape(), b.shape());
            Err(Fault::new(message).hint("choose rows, as in cosine(E[\"apple\"], E[\"google\"])"))
        });
        at_call(answer, &context)
    });
    let paid = budget.clone();
    engine.register_fn("nearest", move |context: NativeCallContext, table: Tensor, to: Tensor, n: INT| {
        at_call(paid.pay(table.len()).and_then(|()| rank(&table, &to, n)), &context)
    });
    engine.register_fn("shape", |x: Tensor| -> Array {
        x.axes().iter().map(|axis| Dynamic::from(axis.len as INT)).collect()
    });
}

/// NaN wins: a number that is not one must not be hidden by one that is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Of a vector a word or a place, of a matrix a list of them.
fn argmax(x: &Tensor) -> Result<Dynamic, Fault> {
    let axis = x.last_axis();
    if axis.len == 0 {
        return Err(Fault::new("argmax: there are no entries"));
    }
    let of_row = |row: &[f64]| {
        let place = (0..row.len()).reduce(|best, i| if row[i] > row[best] { i } else { best }).unwrap_or(0);
        match &axis.labels {
            Some(labels) => Dynamic::from(labels[place].clone()),
            None => Dynamic::from(place as INT),
        }
    };
    let mut answers: Array = x.rows().map(of_row).collect();
    Ok(if x.rank() == 1 { answers.swap_remove(0) } else { Dynamic::from(answers) })
}

fn rank(table: &Tensor, to: &Tensor, n: INT) -> Result<Ranking, Fault> {
    let n = count("nearest", n)?;
    if table.rank() != 2 || to.rank() != 1 || table.axes()[1].len != to.len() {
        let message = format!("nearest: rows like {} are sought in {}", to.shape(), table.shape());
        return Err(Fault::new(message).hint("give a matrix, a vector as long as its rows, and how many"));
    }
    let rows = &table.axes()[0];
    let mut all: Vec<(usize, f64)> = table.rows().map(|row| cosine(row, to.entries())).enumerate().collect();
    // A row that is not finite comes last.
    let key = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    all.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)));
    Ok(Ranking(all.into_iter().take(n).map(|(i, similarity)| (rows.name(i), similarity)).collect()))
}

fn register_outputs(engine: &mut Engine, budget: &Budget) {
    let shown = budget.clone();
    engine.register_fn("show", move |context: NativeCallContext, value: Dynamic| {
        at_call(Output::of(&value).map_or(Ok(()), |output| shown.show(output)), &context)
    });
    let shown = budget.clone();
    engine.register_fn("show", move |context: NativeCallContext, caption: ImmutableString, value: Dynamic| {
        let output = match Output::of(&value) {
            Some(Output::Table { tensor, .. }) => Output::Table { caption: caption.as_str().into(), tensor },
            _ => Output::Text(format!("{caption}: {value}").into()),
        };
        at_call(shown.show(output), &context)
    });
    let shown = budget.clone();
    engine.register_fn("plot", move |context: NativeCallContext, x: Tensor, y: Tensor| {
        at_call(plot(&x, &y).and_then(|plot| shown.show(Output::Plot(plot))), &context)
    });
    engine.register_fn("help", |context: NativeCallContext, name: ImmutableString| at_call(help(&name), &context));
    let shown = budget.clone();
    engine.on_print(move |text| _ = shown.show(Output::Text(text.into())));
    let shown = budget.clone();
    engine.on_debug(move |text, _, _| _ = shown.show(Output::Text(text.into())));
}

fn plot(x: &Tensor, y: &Tensor) -> Result<Plot, Fault> {
    if x.rank() != 1 || y.rank() > 2 || y.last_axis().len != x.len() {
        let message = format!("plot: {} over {}", y.shape(), x.shape());
        return Err(Fault::new(message).hint("x must be a vector, y a vector or rows of the same length"));
    }
    let unnamed = Axis::plain(1);
    let names = if y.rank() == 2 { &y.axes()[0] } else { &unnamed };
    let name = |i: usize| if names.labels.is_some() || names.len > 1 { names.name(i) } else { "y".into() };
    let lines = y.rows().enumerate().map(|(i, row)| (name(i), row.into())).collect();
    Ok(Plot { x: x.entries().into(), lines })
}
